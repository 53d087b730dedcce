"""Plans as text to be read aloud. Equal snapshots give equal text: no terminal, locale or environment is asked."""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from gordon_core.effects import Effect
from gordon_core.observation import Clock
from gordon_core.planner import Decision, Plan
from gordon_core.sentences import container_id, policy_notes, remedy, sentence, wall_time
from gordon_core.situations import Situation
from gordon_core.snapshot import Snapshot
from gordon_shell.cli_common import printable
from gordon_shell.counts_text import Mark, counts, counts_of_others, mark
from gordon_shell.road_text import Road, chain_in_words, end_in_words, key, roads, step_in_words, timeline
from gordon_shell.seen_text import exposures, route_in_words, seen_in_words

Paint = Callable[[str, Mark], str]
"""Colours the words that a mark stands before; it may add nothing but colour."""

Line = tuple[str, Mark | None]
"""Words, and the mark that stands before them, if any."""
_BRIEF = {Situation.SETTLED, Situation.SHUT, Situation.DONE}
_INDENT = "    "
_ROADLESS = Road()


def plain(words: str, _mark: Mark) -> str:
    """Colour nothing."""
    return words


def text(snapshot: Snapshot, shown: Plan, *, title: str = "", road: tuple[Plan, ...] = (), paint: Paint = plain) -> str:
    """Return a plan of the snapshot as lines: its time, a paragraph for each service, the forecast if given, and the counts.

    `shown` holds the decisions to print; `title` names the document where there are several.
    """
    followed = roads(snapshot, shown)
    lines = [
        (f"{title}{', as' if title else 'As'} seen at {date(shown.clock)}:", None),
        ("", None),
        *(line for each in shown.services for line in _paragraphs(each, shown, followed)),
        *_forecast(road),
        *([("", None)] if shown.services else []),
        (_last_line(shown, followed), None),
    ]
    return "".join(f"{printed(words, sign, paint)}\n" for words, sign in lines)


def printed(words: str, sign: Mark | None, paint: Paint) -> str:
    """Return one line; what is coloured is its mark and its name, up to the first colon."""
    line = printable(words)
    if sign is None:
        return line
    bare = line.lstrip()
    name, colon, rest = bare.partition(":")
    return line[: len(line) - len(bare)] + paint(f"{sign.value} {name}", sign) + colon + rest


def date(clock: Clock) -> str:
    """Return the time of a look: "2026-11-30 07:00:00Z"."""
    return f"{datetime.fromtimestamp(clock.wall_s, UTC):%Y-%m-%d %H:%M:%SZ}"


def paragraph(decision: Decision, clock: Clock, road: Road) -> Iterator[Line]:
    """Yield the lines about one service, or about one other container of it, as they stand in a plan."""
    yield from _service(decision, clock, road) if decision.old is None else _superseded(decision, clock, road)


def _paragraphs(decision: Decision, shown: Plan, followed: dict[tuple[str, str], Road]) -> Iterator[Line]:
    yield from _service(decision, shown.clock, followed[key(decision)])
    for old in shown.superseded:
        if old.subject.name == decision.subject.name:
            for words, sign in _superseded(old, shown.clock, followed.get(key(old), _ROADLESS)):
                yield _INDENT + words, sign


def _service(decision: Decision, clock: Clock, road: Road) -> Iterator[Line]:
    subject = decision.subject
    named = f"{subject.name} ({container_id(decision)[:12] or 'no container'})"
    looks = [] if subject.declared is None else [seen_in_words(subject.seen, clock)]
    head = f"{named}: {'; '.join([*looks, route_in_words(subject)])}"
    is_brief = decision.situation in _BRIEF
    yield (f"{head}; {sentence(decision, clock)}" if is_brief else head), mark(decision)
    if not is_brief:
        yield from _steps(decision, clock, road)
    yield from (labelled("note", each) for each in (*exposures(subject), *policy_notes(decision)))


def _superseded(decision: Decision, clock: Clock, road: Road) -> Iterator[Line]:
    seen = seen_in_words(decision.old.seen, clock) if decision.old is not None else ""
    yield f"{decision.role.value} {container_id(decision)[:12]}: {seen}", mark(decision)
    yield from _steps(decision, clock, road)


def _steps(decision: Decision, clock: Clock, road: Road) -> Iterator[Line]:
    yield labelled("why", sentence(decision, clock))
    yield labelled("now", step_in_words(decision, clock))
    yield from (labelled("then", each) for each in chain_in_words(decision, road, clock))
    end = end_in_words(road, clock)
    if end:
        yield labelled("after", end)
    help_with = remedy(decision, clock)
    if help_with:
        yield labelled("help", help_with)


def labelled(label: str, words: str) -> Line:
    """Return one line of a paragraph, its label in a column of its own."""
    return f"{_INDENT}{label + ':':<6} {words}", None


def _forecast(plans: tuple[Plan, ...]) -> Iterator[Line]:
    if not plans:
        return
    yield "", None
    yield "If all goes well:", None
    yield from ((f"  {each}", None) for each in timeline(plans))
    last = plans[-1]
    when = wall_time(plans[0].clock, last.clock.boot_s)
    yield f"  at {when}: nothing is left to do or to wait for; {counts('service', _alone(last.services))}", None


def _alone(decisions: Iterable[Decision]) -> Iterator[tuple[Decision, tuple[Effect, ...]]]:
    return ((each, ()) for each in decisions)


def _last_line(shown: Plan, followed: dict[tuple[str, str], Road]) -> str:
    def ahead(decisions: Iterable[Decision]) -> Iterator[tuple[Decision, tuple[Effect, ...]]]:
        for each in decisions:
            steps = followed.get(key(each), _ROADLESS).steps
            yield each, tuple(step.effect for step in steps if step.effect is not None)

    parts = [counts("service", ahead(shown.services)), *counts_of_others(ahead(shown.superseded))]
    line = "; ".join(parts)
    return f"{line[:1].upper()}{line[1:]}. Nothing was done."
