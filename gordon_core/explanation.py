"""Why a decision is what it is: the row of the law that held, and those above it that did not, each with what its fact read.

Every law is explained in the same way, from its table: a new row needs no words here. The fact of each row that could hold is
asked once more, of a subject that notes what is read of it, and answers as it did when it was decided.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import assert_never

from attrs import frozen

from gordon_core import candidates, services, superseded
from gordon_core.observation import SeenAs
from gordon_core.planner import Decision
from gordon_core.readings import Notes, Reading, watched, watched_time
from gordon_core.services import Scope
from gordon_core.situations import Situation
from gordon_core.snapshot import Candidate, Subject, Superseded


@frozen
class RowRead:
    """One row that was asked: its number in the table (from 1), its situation and rule, its fact in words, and the answer.

    `asks` says for which services and containers it is ("for a container that is down"), "" where for any. `readings` are the
    values that the fact read, in order; the last one settled it. A row that always holds reads nothing. `rule` is "" in the laws
    for superseded containers and candidates.
    """

    number: int
    situation: Situation
    rule: str
    asks: str
    fact: str
    held: bool
    readings: tuple[Reading, ...] = ()


@frozen
class RuledOut:
    """Rows that were not asked, in order, by number; and for what they ask instead, in words."""

    numbers: tuple[int, ...]
    situations: tuple[Situation, ...]
    why: str


@frozen(eq=False)
class Explanation:
    """A decision, the row that held, the rows above it that were asked and did not hold, and those that could not hold.

    Where the decision is BLOCKED, `row` is the one whose effect was tried in vain already in this pass.
    """

    decision: Decision
    row: RowRead
    above: tuple[RowRead, ...]
    ruled_out: tuple[RuledOut, ...]


@frozen(eq=False)
class _Row:
    """A row of whichever law: what it asks for, the words of its fact, and the fact itself, to be asked of what notes."""

    situation: Situation
    rule: str
    scopes: tuple[Scope, ...]
    looks: tuple[SeenAs, ...]
    fact: str
    holds: Callable[[Notes], bool]


_SCOPES = {
    Scope.ABSENT: ("that ACTIVE does not name", "ACTIVE does not name it"),
    Scope.RUNNING: ("that is to run", "it is to run"),
    Scope.STOPPED: ("that is to be stopped", "it is to be stopped"),
}
_LOOKS = {
    SeenAs.GONE: ("is gone", "it is gone"),
    SeenAs.UNREAD: ("could not be read", "it could not be read"),
    SeenAs.DOWN: ("is down", "it is down"),
    SeenAs.RUNNING: ("runs", "it runs"),
    SeenAs.PAUSED: ("is paused", "it is paused"),
    SeenAs.RESTARTING: ("is restarting", "it is restarting"),
    SeenAs.REMOVING: ("is being removed", "it is being removed"),
    SeenAs.UNKNOWN: ("is in an unknown state", "it is in an unknown state"),
}


def explain(decision: Decision, now_s: float) -> Explanation:
    """Return why this was decided at this time, in seconds since boot."""
    look, rows = _law(decision, now_s)
    wanted = services.scope(decision.subject)
    above: list[RowRead] = []
    ruled_out: list[tuple[int, Situation, str]] = []
    for number, row in enumerate(rows, 1):
        why = _ruled_out(row, wanted, look)
        if why:
            ruled_out.append((number, row.situation, why))
            continue
        notes = Notes()
        held = bool(row.holds(notes))
        read = RowRead(number, row.situation, row.rule, _asks(row), row.fact, held, notes.readings())
        if held:
            return Explanation(decision, read, tuple(above), tuple(_grouped(ruled_out)))
        above.append(read)
    message = f"no row of the law holds for {decision.subject!r}"  # pragma: no cover - the last row of each law always holds
    raise AssertionError(message)  # pragma: no cover


def _law(decision: Decision, now_s: float) -> tuple[SeenAs, Iterator[_Row]]:
    """Return how its container was seen, and the law that it was decided by."""
    subject, old = decision.subject, decision.old
    match old:
        case None:
            return subject.seen_as, (_of_services(row, subject, now_s) for row in services.ROWS)
        case Superseded():
            place = f"superseded[{subject.superseded.index(old)}]"
            return superseded.look(old), (_of_superseded(row, old, place, subject, now_s) for row in superseded.ROWS)
        case Candidate():
            place = f"candidates[{subject.candidates.index(old)}]"
            return candidates.look(old), (_of_candidates(row, old, place, subject, now_s) for row in candidates.ROWS)
        case _ as never:
            assert_never(never)


def _of_services(row: services.Row, subject: Subject, now_s: float) -> _Row:
    def holds(notes: Notes) -> bool:
        return row.holds(watched(subject, "", notes), watched_time(now_s, notes))

    return _Row(row.situation, row.rule, row.scopes, row.looks, in_words(row.holds), holds)


def _of_superseded(row: superseded.Row, old: Superseded, place: str, subject: Subject, now_s: float) -> _Row:
    def holds(notes: Notes) -> bool:
        return row.holds(watched(old, place, notes), watched(subject, "", notes), watched_time(now_s, notes))

    return _Row(row.situation, "", tuple(Scope), row.looks, in_words(row.holds), holds)


def _of_candidates(row: candidates.Row, candidate: Candidate, place: str, subject: Subject, now_s: float) -> _Row:
    def holds(notes: Notes) -> bool:
        return row.holds(watched(candidate, place, notes), watched(subject, "", notes), watched_time(now_s, notes))

    return _Row(row.situation, "", tuple(Scope), row.looks, in_words(row.holds), holds)


def in_words(fact: object) -> str:
    """Return what a fact says, as a clause in one line: "it is down or sick, and no attempt is on record"."""
    words = " ".join((fact.__doc__ or "").split()).removesuffix(".")
    begins_with_a_name = words.partition(" ")[0].isupper() and not words.startswith("A ")
    return words if begins_with_a_name else words[:1].lower() + words[1:]


def _ruled_out(row: _Row, wanted: Scope, look: SeenAs) -> str:
    if wanted not in row.scopes:
        return f"{_wanted(row)}; {_SCOPES[wanted][1]}"
    return f"{_seen(row)}; {_LOOKS[look][1]}" if look not in row.looks else ""


def _asks(row: _Row) -> str:
    wanted = [_wanted(row)] if len(row.scopes) < len(Scope) else []
    return " and ".join([*wanted, *([_seen(row)] if len(row.looks) < len(SeenAs) else [])])


def _wanted(row: _Row) -> str:
    return f"for a service {_or(_SCOPES[each][0] for each in row.scopes)}"


def _seen(row: _Row) -> str:
    return f"for a container that {_or(_LOOKS[each][0] for each in row.looks)}"


def _or(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def _grouped(rows: Iterable[tuple[int, Situation, str]]) -> Iterator[RuledOut]:
    by_why: dict[str, list[tuple[int, Situation]]] = {}
    for number, situation, why in rows:
        by_why.setdefault(why, []).append((number, situation))
    for why, found in by_why.items():
        yield RuledOut(tuple(number for number, _ in found), tuple(situation for _, situation in found), why)
