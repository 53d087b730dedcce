"""Where every service is, in columns that fit a terminal: a line for each, and none of them wider than it is. Pure."""

import unicodedata
from typing import Final

from attrs import frozen

from gordon_core.observation import Clock
from gordon_core.planner import Decision, Plan
from gordon_core.sentences import in_words, remedy, sentence
from gordon_shell.cli_common import printable
from gordon_shell.counts_text import Mark, counts, mark
from gordon_shell.seen_text import route_in_words, seen_in_words
from gordon_shell.telling import what
from gordon_shell.text import Paint, date

_HEADS: Final = ("SERVICE", "SEEN", "ROUTE", "WHY")
_GAP: Final = 2
_ROUTED_FROM, _SEEN_FROM = 90, 56
"""The least widths at which there are columns for the route, and for what was seen."""
_FIRST: Final = (Mark.HELD, Mark.ACTS, Mark.WAITS, Mark.WELL)
_AROUND: Final = 2
"""Lines that are no services: what is shown, and the heads."""


@frozen
class Size:
    """How many columns and lines a terminal has."""

    columns: int
    lines: int


def table(plan: Plan, size: Size, paint: Paint) -> tuple[str, ...]:
    """Return the lines: as many as there is room for, and then first of all what needs a person."""
    found = counts("service", ((each, ()) for each in plan.services))
    title = _cut(f"{found[:1].upper()}{found[1:]}. As seen at {date(plan.clock)}; q ends this.", size.columns)
    room = max(size.lines - _AROUND, 1)
    shown = list(plan.decisions)
    if len(shown) > room:
        shown = sorted(shown, key=lambda each: _FIRST.index(mark(each)))[: max(room - 1, 1)]
    rows = [_cells(each, plan.clock) for each in shown]
    widths = _widths(rows, size.columns)
    left = len(plan.decisions) - len(shown)
    more = [_cut(f"  and {left} more, for which this window is too low; name an APP", size.columns)] if left else []
    told = (_painted(each, _row(cells, widths), paint) for each, cells in zip(shown, rows, strict=True))
    return (title, f"  {_row(_HEADS, widths)}".rstrip(), *told, *more)[: size.lines]


def _cells(decision: Decision, clock: Clock) -> tuple[str, ...]:
    subject, old = decision.subject, decision.old
    is_declared = old is not None or subject.declared is not None
    seen = seen_in_words(old.seen if old is not None else subject.seen, clock) if is_declared else ""
    following = f"; next: {in_words(decision.effect)}" if decision.effect is not None else ""
    help_with = remedy(decision, clock)
    why = f"{sentence(decision, clock)}{following}{f'; to help: {help_with}' if help_with else ''}"
    return tuple(printable(each) for each in (what(decision), seen, route_in_words(subject) if old is None else "", why))


def _widths(rows: list[tuple[str, ...]], columns: int) -> tuple[int, ...]:
    """Return how wide each column is, 0 for none; the last one has what is left."""
    shares = (columns // 4, columns // 4 if columns >= _SEEN_FROM else 0, columns // 5 if columns >= _ROUTED_FROM else 0)
    cells = [[_width(each[index]) for each in (_HEADS, *rows)] for index in range(len(shares))]
    widths = [min(share, max(found)) for share, found in zip(shares, cells, strict=True)]
    taken = 2 + sum(each + _GAP for each in widths if each)
    return (*widths, max(columns - taken, 1))


def _row(cells: tuple[str, ...], widths: tuple[int, ...]) -> str:
    return (" " * _GAP).join(_padded(_cut(cell, width), width) for cell, width in zip(cells, widths, strict=True) if width)


def _painted(decision: Decision, row: str, paint: Paint) -> str:
    sign = mark(decision)
    name, gap, rest = row.partition(" " * _GAP)
    return f"{paint(f'{sign.value} {name}', sign)}{gap}{rest}".rstrip()


def _padded(words: str, width: int) -> str:
    return words + " " * (width - _width(words))


def _cut(words: str, width: int) -> str:
    """Return words that are no wider than this; where something is left out, they end in dots."""
    if _width(words) <= width:
        return words
    kept = ""
    for each in words:
        if _width(kept + each) >= width:
            break
        kept += each
    return f"{kept.rstrip()}…"


def _width(words: str) -> int:
    return len(words) if words.isascii() else sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in words)
