"""What happened to a service as a table: the same as its timeline, with what executions said last. Pure."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from gordon_core.sentences import plural
from gordon_shell.counts_text import Mark
from gordon_shell.course import Course, Row
from gordon_shell.journal import Dossier
from gordon_shell.markup import NONE, Markup, joined, line, tag, text
from gordon_shell.page_shapes import MARKS

_MOST_LINES: Final = 20
_LONGEST_LINE: Final = 400
_LINE_END: Final = Markup("\n")


def when(time_s: float) -> Markup:
    """Return a time of day with its date, UTC."""
    moment = datetime.fromtimestamp(time_s, UTC)
    return tag("time", text(f"{moment:%Y-%m-%d %H:%M:%SZ}"), datetime=f"{moment:%Y-%m-%dT%H:%M:%SZ}")


def badge(mark: Mark, words: str) -> Markup:
    """Return a sign with what it means beside it."""
    return tag("span", text(f"{mark.value} {words}"), class_=f"mark {MARKS[mark]}")


def table(caption: Markup, heads: tuple[str, ...], rows: Iterator[Markup], key: str = "") -> Markup:
    """Return a table; its roles are said, since a narrow page shows each row as a card."""
    head = tag("tr", *(tag("th", text(each), scope="col", role="columnheader") for each in heads), role="row")
    return tag(
        "table",
        line("caption", caption),
        tag("thead", head, role="rowgroup"),
        tag("tbody", *rows, role="rowgroup"),
        role="table",
        id=key or None,
    )


def row(*cells: tuple[str, Markup], key: str = "") -> Markup:
    """Return a row of cells under these heads, the first of which names it."""
    (_, first), *others = cells
    return tag(
        "tr",
        line("th", first, scope="row", role="rowheader"),
        *(line("td", content, role="cell", data_label=head if content else None) for head, content in others),
        id=key or None,
        role="row",
    )


def rows(course: Course, name: str, key: str) -> Markup:
    """Return what happened, oldest first; what is left out is said above."""
    if not course.rows:
        return tag(
            "p", text("Nothing is on record of it in this time but how it was at its beginning."), id=f"{key}-rows", class_="soft"
        )
    told = f"{plural(len(course.rows), 'thing')} on record of {name}, oldest first."
    caption = [text(told)]
    if course.left_out:
        were = f" {plural(course.left_out, 'earlier one')} left out, the latest of them at "
        caption += [text(were), when(course.left_out_s), text(f"; gordon-plan history {name} tells all.")]
    if course.drawn_as_one:
        caption.append(
            text(f" {course.drawn_as_one} of those drawn are too near to each other to be drawn alone; here each has a row.")
        )
    heads = ("Time (UTC)", "Situation", "Why", "Done or seen", "Outcome")
    return table(joined(caption), heads, (_row(each, key) for each in course.rows), f"{key}-rows")


def _row(each: Row, key: str) -> Markup:
    place = f"{each.mark.value} {each.situation}" if each.mark is not None else ""
    mark = tag("span", text(place), class_=f"i {MARKS[each.mark]}") if place else NONE
    other = f"{each.other}: " if each.other else ""
    outcome = text(each.outcome)
    if each.dossier is not None:
        outcome = joined([outcome, _dossier(each.dossier)])
    return row(
        ("Time (UTC)", when(each.at_s)),
        ("Situation", mark),
        ("Why", text(f"{other}{each.why}")),
        ("Done or seen", text(each.done)),
        ("Outcome", outcome),
        key=f"{key}-r{each.number}",
    )


def _dossier(dossier: Dossier) -> Markup:
    parts = [tag("p", text(each)) for each in _facts(dossier)]
    said = [each for each in dossier.lines if each.strip()]
    shown = said[-_MOST_LINES:]
    if shown:
        of = f", of {len(dossier.lines)} on record" if len(shown) < len(said) else ""
        parts.append(tag("p", text(f"Its last {plural(len(shown), 'line')}{of}:")))
        parts.append(tag("pre", joined(map(_cut, shown), _LINE_END)))
    return tag("details", tag("summary", text("how it ended" if not shown else "its last words")), *parts)


def _facts(dossier: Dossier) -> Iterator[str]:
    end = dossier.end
    if end is not None:
        told = [
            f"Exit code {end.code}",
            "out of memory" if end.oom_killed else "",
            f"start error: {end.error}" if end.error else "",
        ]
        yield f"{'; '.join(each for each in told if each)}."
    yield from (f"{each[:1].upper()}{each[1:]}." for each in dossier.unread)
    failed = [each for each in dossier.probes if each.exit_code]
    if failed:
        yield f"Its last failed health check ended with {failed[-1].exit_code}: {failed[-1].output.strip() or 'it said nothing'}"


def _cut(words: str) -> Markup:
    left = len(words) - _LONGEST_LINE
    return text(words if left <= 0 else f"{words[:_LONGEST_LINE]}... ({plural(left, 'more character')})")
