"""The course of one service over a time: what is drawn of it in lanes, and what is told of it in rows. Pure values."""

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum

from attrs import evolve, frozen

from gordon_core.sentences import plural
from gordon_shell.counts_text import Mark
from gordon_shell.journal import Dossier

_PIECES = 200
"""What is shorter than this part of the time is drawn as one with others of its kind that are as near."""


class Lane(Enum):
    """Where something that lasts is drawn; the value is what stands above."""

    SITUATION = "Situation"
    EXECUTION = "Executions"
    HEALTH = "Health check"
    ROUTE = "Route"
    WAIT = "Waits"


class Sign(Enum):
    """What of a moment is drawn: its plural, for many of them drawn as one."""

    FAILED_END = "executions that failed"
    END = "executions that ended"
    DEED = "deeds"
    ATTEMPT = "starts"
    CHARGE = "charges"
    STRIKE = "strikes"


class Form(Enum):
    """How something is drawn, so that it can be told apart without its colour."""

    SOLID = "solid"
    HATCHED = "hatched"
    DOTTED = "dotted"
    HOLLOW = "hollow"
    THIN = "thin"
    DENSE = "dense"


@frozen
class Span:
    """Something that lasts, from when until when (seconds since 1970): why, in words and in a word; `row` tells of it, 0: none.

    `mark` None: neither good nor bad. `count` of them are drawn as one.
    """

    lane: Lane
    form: Form
    mark: Mark | None
    from_s: float
    until_s: float
    words: str
    short: str
    row: int = 0
    count: int = 1


@frozen
class Point:
    """Something of a moment: what, and why in words; `short` is written beside it."""

    sign: Sign
    at_s: float
    words: str
    short: str = ""
    row: int = 0
    count: int = 1


@frozen
class Row:
    """One thing that happened, by its number: where the service was, and why; what was done or seen, and what came of it.

    `other` names another container of the service, if it is about one.
    """

    number: int
    at_s: float
    situation: str = ""
    mark: Mark | None = None
    why: str = ""
    done: str = ""
    outcome: str = ""
    other: str = ""
    dossier: Dossier | None = None


@frozen(eq=False)
class Course:
    """One service from `since_s` until `until_s`. `left_out` rows were more than are told, the latest of them at `left_out_s`."""

    since_s: float
    until_s: float
    spans: tuple[Span, ...] = ()
    points: tuple[Point, ...] = ()
    rows: tuple[Row, ...] = ()
    left_out: int = 0
    left_out_s: float = 0.0

    @property
    def drawn_as_one(self) -> int:
        """Return how many things are not drawn alone."""
        counts = [*(each.count for each in self.spans), *(each.count for each in self.points)]
        return sum(each for each in counts if each > 1)


def thinned(course: Course) -> Course:
    """Return what can be told apart: what is short and near to others of its lane, or sign, is one with them, and says so."""
    piece_s = max(course.until_s - course.since_s, 1.0) / _PIECES
    spans = [each for lane in Lane for each in _spans([one for one in course.spans if one.lane is lane], piece_s)]
    points = [each for sign in Sign for each in _points([one for one in course.points if one.sign is sign], piece_s)]
    return evolve(course, spans=tuple(spans), points=tuple(points))


def _spans(spans: list[Span], piece_s: float) -> Iterator[Span]:
    group: list[Span] = []
    for each in sorted(spans, key=lambda one: one.from_s):
        is_short = each.until_s - each.from_s < piece_s
        if group and not (is_short and each.until_s - group[0].from_s < piece_s):
            yield _one_span(group)
            group = []
        if is_short:
            group.append(each)
        else:
            yield each
    if group:
        yield _one_span(group)


def _one_span(group: list[Span]) -> Span:
    first = group[0]
    if len(group) == 1:
        return first
    counted = Counter(each.short for each in group)
    said = ", ".join(f"{short} {_times(count)}" for short, count in counted.items())
    worst = max(group, key=lambda each: _GRAVITY[each.mark])
    until_s = max(each.until_s for each in group)
    return Span(first.lane, Form.DENSE, worst.mark, first.from_s, until_s, said, "", first.row, len(group))


_GRAVITY = {None: 0, Mark.WELL: 1, Mark.WAITS: 2, Mark.ACTS: 3, Mark.HELD: 4}


def _points(points: list[Point], piece_s: float) -> Iterator[Point]:
    group: list[Point] = []
    for each in sorted(points, key=lambda one: one.at_s):
        # A sign takes more room than a short span.
        if group and each.at_s - group[0].at_s >= 2 * piece_s:
            yield _one_point(group)
            group = []
        group.append(each)
    if group:
        yield _one_point(group)


def _one_point(group: list[Point]) -> Point:
    first, last = group[0], group[-1]
    if len(group) == 1:
        return first
    return evolve(last, at_s=first.at_s, words=f"{len(group)} {first.sign.value}; the last: {last.words}", count=len(group))


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, plural(count, "time"))


def within(rows: Iterable[Row], most: int) -> tuple[tuple[Row, ...], int, float]:
    """Return the latest rows, how many others there were, and when the latest of those was."""
    found = tuple(rows)
    if len(found) <= most:
        return found, 0, 0.0
    return found[-most:], len(found) - most, found[-most - 1].at_s
