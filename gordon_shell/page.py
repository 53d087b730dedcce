"""A page about services: how each is now, and how it came there, as one HTML file that needs nothing else. Pure.

It runs no script and fetches nothing, and its policy forbids both. Equal snapshots and journals give equal bytes.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from attrs import frozen

from gordon_core.planner import Decision, Plan
from gordon_core.sentences import container_id, policy_notes, remedy, sentence
from gordon_shell.counts_text import Mark, counts, in_short, mark
from gordon_shell.course import Course, thinned
from gordon_shell.markup import NONE, Markup, joined, line, tag, text
from gordon_shell.memory_text import memory_in_words
from gordon_shell.page_rows import badge, row, rows, table, when
from gordon_shell.page_shapes import legend, patterns
from gordon_shell.page_style import POLICY, STYLE
from gordon_shell.page_timeline import figure
from gordon_shell.road_text import Road, chain_in_words, end_in_words, key, step_in_words
from gordon_shell.seen_text import exposures, route_in_words, seen_in_words
from gordon_shell.telling import what

_FIRST: Final = (Mark.HELD, Mark.ACTS, Mark.WAITS, Mark.WELL)
_ABOUT_GAPS: Final = (
    "Where nothing is drawn in a lane, nothing is on record. What was seen lasts until something else was seen, or done: a time"
    " in which this program did not run looks like one in which nothing changed."
)


@frozen(eq=False)
class Told:
    """One service, by its name: its course, and what is decided of it now, its own first; nothing where it is not known."""

    name: str
    course: Course
    decisions: tuple[Decision, ...] = ()


@frozen(eq=False)
class Page:
    """What a page tells: whose it is ("" for all of the host), the plan that is now, roads by `road_text.key`, the services.

    `unread` says why there is no past, "" where there is one.
    """

    target: str
    plan: Plan
    roads: dict[tuple[str, str], Road]
    services: Sequence[Told]
    since_s: float
    unread: str = ""


def page(shown: Page) -> str:
    """Return the page."""
    title = f"{shown.target or 'All services'}: how it is, and how it came there"
    keyed = [(f"s{number}", each) for number, each in enumerate(shown.services, 1)]
    head = tag(
        "head",
        line("meta", charset="utf-8"),
        line("meta", http_equiv="Content-Security-Policy", content=POLICY),
        line("meta", name="viewport", content="width=device-width, initial-scale=1"),
        line("meta", name="color-scheme", content="light dark"),
        line("meta", name="referrer", content="no-referrer"),
        line("title", text(title)),
        # The policy names the hash of this text, so it stands as it is.
        line("style", Markup(STYLE)),
    )
    body = tag(
        "body",
        line("a", text("Skip to the services"), href="#services", class_="skip"),
        patterns(),
        _header(shown),
        tag("main", _now(shown, keyed), _reading(), tag("div", *(_service(shown, *each) for each in keyed), id="services")),
        _footer(),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}"


def _header(shown: Page) -> Markup:
    found = counts("service", ((each, ()) for each in shown.plan.services))
    since = [text("; on record from "), when(shown.since_s)] if not shown.unread else []
    parts = [
        line("h1", text(shown.target or "All services")),
        line("p", text("As seen at "), when(shown.plan.clock.wall_s), *since, class_="soft"),
        line("p", text(f"{found[:1].upper()}{found[1:]}.")),
    ]
    if shown.unread:
        parts.append(line("p", text(f"Its history is not read: {shown.unread}")))
    return tag("header", *parts)


# --- now -------------------------------------------------------------------------------------------------------------------


def _now(shown: Page, keyed: Sequence[tuple[str, Told]]) -> Markup:
    in_order = sorted(keyed, key=lambda each: _rank(each[1]))
    caption = text("What needs a person comes first. Times are UTC.")
    heads = ("Service", "State", "Seen", "Why", "Next")
    listed = (row(*_summary(shown, name, each)) for name, each in in_order)
    return tag("section", line("h2", text("Now"), id="now"), table(caption, heads, listed), aria_labelledby="now")


def _rank(told: Told) -> int:
    return _FIRST.index(mark(told.decisions[0])) if told.decisions else len(_FIRST)


def _summary(shown: Page, name: str, told: Told) -> tuple[tuple[str, Markup], ...]:
    link = tag("a", text(told.name), href=f"#{name}")
    if not told.decisions:
        return (("Service", link), ("State", NONE), ("Seen", NONE), ("Why", text("not known here any more")), ("Next", NONE))
    decision = told.decisions[0]
    clock = shown.plan.clock
    step = step_in_words(decision, clock) if decision.effect is not None else ""
    help_with = remedy(decision, clock)
    following = [text(step)] if step else []
    following += [joined([text("to help: "), tag("code", text(help_with))])] if help_with else []
    return (
        ("Service", link),
        ("State", badge(mark(decision), in_short(decision))),
        ("Seen", text(_looks(decision, shown))),
        ("Why", text(sentence(decision, clock))),
        ("Next", joined(following, text("; "))),
    )


def _looks(decision: Decision, shown: Page) -> str:
    subject = decision.subject
    if decision.old is not None:
        return seen_in_words(decision.old.seen, shown.plan.clock)
    looks = [seen_in_words(subject.seen, shown.plan.clock)] if subject.declared is not None else []
    return "; ".join([*looks, route_in_words(subject)])


def _reading() -> Markup:
    return tag(
        "section",
        line("h2", text("How to read the timelines"), id="reading"),
        legend(),
        line("p", text(_ABOUT_GAPS), class_="soft"),
        aria_labelledby="reading",
    )


def _footer() -> Markup:
    words = "Written by gordon-plan report from the journal of this host. It fetches nothing, and may be kept, sent and printed."
    return tag("footer", line("p", text(words)))


# --- one service -------------------------------------------------------------------------------------------------------------


def _service(shown: Page, name: str, told: Told) -> Markup:
    course = thinned(told.course)
    marks = [text(" "), badge(mark(told.decisions[0]), in_short(told.decisions[0]))] if told.decisions else []
    parts = [line("h2", text(told.name), *marks, id=name)]
    for decision in told.decisions:
        parts += _decision(decision, shown)
    if not told.decisions:
        parts.append(line("p", text("Nothing names it any more; what follows is what is on record of it.")))
    if not shown.unread:
        skip = line("a", text(f"Skip the timeline of {told.name}"), href=f"#{name}-rows", class_="skip")
        parts += [line("h3", text("Timeline")), skip, figure(course, told.name, name)]
        parts += [line("h3", text("What happened")), rows(course, told.name, name)]
    return tag("section", *parts, aria_labelledby=name)


def _decision(decision: Decision, shown: Page) -> Iterator[Markup]:
    clock = shown.plan.clock
    if decision.old is not None:
        yield line("h3", text(what(decision).partition(", ")[2]), text(" "), badge(mark(decision), in_short(decision)))
    whose = f" ({container_id(decision)[:12]})" if container_id(decision) and decision.old is None else ""
    yield line("p", text(f"{_looks(decision, shown)}{whose}: {sentence(decision, clock)}."))
    listed = tuple(_following(decision, shown.roads.get(key(decision), Road()), shown))
    if listed:
        yield tag("ul", *listed, class_="plain")


def _following(decision: Decision, road: Road, shown: Page) -> Iterator[Markup]:
    clock = shown.plan.clock
    if decision.effect is not None:
        steps = (step_in_words(decision, clock), *chain_in_words(decision, road, clock))
        yield line("li", text(f"Next: {'; then '.join(steps)}"))
        end = end_in_words(road, clock)
        if end:
            yield line("li", text(f"After that: {end}"))
    help_with = remedy(decision, clock)
    if help_with:
        yield line("li", text("To help: "), tag("code", text(help_with)))
    if decision.old is None:
        told = (*exposures(decision.subject), *policy_notes(decision), *memory_in_words(decision.subject, clock))
        yield from (line("li", text(each), class_="soft") for each in told)
