"""Everything that there is to tell of one service: why it is where it is, what follows, and how it came here."""

from collections.abc import Callable
from typing import Final

from attrs import frozen

from gordon_core.explanation import Explanation, explain
from gordon_core.forecast import forecast
from gordon_core.planner import Plan, plan
from gordon_core.shapes import nearest
from gordon_core.snapshot import Snapshot
from gordon_shell.errors import GordonError, UsageError
from gordon_shell.journal import Deed, Dossier, Journal, Record
from gordon_shell.road_text import Road, around, key, roads

MOST_RECORDS: Final = 40
"""How many of the latest records are told of; `history` tells all."""
MOST_DEEDS: Final = 5
"""How many of the latest deeds are, however long ago: what was changed, and by whom, is what is asked first."""
ReadPast = Callable[[str, str], "Past"]
"""Reads what a journal holds of a service, named by app and service; raises GordonError."""


@frozen(eq=False)
class Past:
    """The latest of what the journal holds of a service; `unread` says why nothing was read, "" where that is all there is."""

    records: tuple[Record, ...] = ()
    dossiers: tuple[Dossier, ...] = ()
    deeds: tuple[Deed, ...] = ()
    unread: str = ""


@frozen(eq=False)
class Told:
    """One service: each of its decisions explained, the service's own first, with its road; the forecast; and its past."""

    plan: Plan
    explanations: tuple[Explanation, ...]
    roads: tuple[Road, ...]
    forecast: tuple[Plan, ...]
    past: Past


def told(snapshot: Snapshot, target: str, read_past: ReadPast) -> tuple[Told, ...]:
    """Return all of an app, or of one service of it. Raise UsageError where there is none of this name."""
    whole = plan(snapshot)
    return tuple(_told(snapshot, whole, name, read_past) for name in _named(snapshot, target))


def _named(snapshot: Snapshot, target: str) -> tuple[str, ...]:
    known = [each.name for each in snapshot.subjects]
    found = tuple(each.name for each in snapshot.subjects if target in {each.app, each.name})
    if not found:
        every = (*dict.fromkeys(each.app for each in snapshot.subjects), *known)
        near = nearest(target, every)
        right = f"did you mean {near}?" if near else f"name one of: {', '.join(known)}" if known else "nor is there any other"
        message = f"there is no app or service {target!r}; {right}"
        raise UsageError(message)
    return found


def _told(snapshot: Snapshot, whole: Plan, name: str, read_past: ReadPast) -> Told:
    mine = Plan(
        whole.clock,
        tuple(each for each in whole.services if each.subject.name == name),
        tuple(each for each in whole.superseded if each.subject.name == name),
    )
    followed = roads(snapshot, mine)
    return Told(
        mine,
        tuple(explain(each, snapshot.clock.boot_s) for each in mine.decisions),
        tuple(followed.get(key(each), Road()) for each in mine.decisions),
        forecast(around(snapshot, mine.services)),
        _past(name, read_past),
    )


def _past(name: str, read_past: ReadPast) -> Past:
    app, _, service = name.partition("/")
    try:
        return read_past(app, service)
    except GordonError as error:
        return Past(unread=str(error))


def past_of(journal: Journal, app: str, service: str) -> Past:
    """Return the latest records of a service, how its executions ended since the first of them, and what was done to it last.

    Raise JournalError.
    """
    records = tuple(journal.records(app, service, newest=MOST_RECORDS))
    since_s = records[0].clock.wall_s if len(records) == MOST_RECORDS else 0.0
    return Past(records, journal.dossiers(app, service, since_s), journal.deeds(app, service, newest=MOST_DEEDS))
