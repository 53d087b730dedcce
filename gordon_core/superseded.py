"""The law for superseded containers (retirement-pending), of the same make as that for services; it is asked after them.

A superseded container is kept for as long as its successor was not seen, in this very look, to serve; then it is stopped with its
recorded grace, removed once it was seen stopped, its port claims are released, and its marker goes last.
"""

from collections.abc import Callable

from attrs import frozen

from gordon_core import evidence, facts, tuned_facts
from gordon_core.effects import DropMarker, ReleaseClaims, Remove, Retire, SupersededEffect
from gordon_core.observation import SeenAs, seen_as
from gordon_core.situations import Situation
from gordon_core.snapshot import Intent, Subject, Superseded

Fact = Callable[[Superseded, Subject, float], bool]
Command = Callable[[Superseded, Subject], SupersededEffect]


@frozen
class Row:
    """One line of the law for superseded containers. `until` is when a wait ends, in seconds since boot."""

    situation: Situation
    looks: tuple[SeenAs, ...]
    holds: Fact
    effect: Command | None = None
    until: Callable[[Subject], float | None] | None = None


def _if(question: Callable[[Superseded, Subject], bool]) -> Fact:
    """Turn a fact that does not ask for the time into one that is given it."""

    def holds(old: Superseded, subject: Subject, _now_s: float) -> bool:
        return question(old, subject)

    holds.__doc__ = question.__doc__
    return holds


def _always(_old: Superseded, _subject: Subject) -> bool:
    """Otherwise."""
    return True


def _is_held(_old: Superseded, subject: Subject) -> bool:
    """Its app is locked, a command is in flight, or ACTIVE changed during this pass."""
    return bool(subject.locked or subject.in_flight) or evidence.was_supplanted(subject)


def _is_named_by_active(old: Superseded, subject: Subject) -> bool:
    """ACTIVE names it after all."""
    return subject.declared is not None and subject.declared.container_id == old.container_id


def _is_needed(_old: Superseded, subject: Subject) -> bool:
    """The app is to run, ACTIVE still has the service, and the successor was not seen to serve, nor is done unpublished."""
    return subject.declared is not None and subject.intent is Intent.RUNNING and not tuned_facts.has_taken_over(subject)


def _is_on_hold(_old: Superseded, subject: Subject, now_s: float) -> bool:
    """Somebody wants the service left as it is, until a time not yet reached."""
    return tuned_facts.is_on_hold(subject, now_s)


def _may_be_routed(old: Superseded, subject: Subject) -> bool:
    """Nothing proves that no route leads to it: unproven, unread, or a route that the successor does not explain."""
    if subject.unproven:
        return True
    if facts.route_is_unread(subject):
        was_routed = facts.is_published(subject) or bool(old.binds) or (old.verified is not None and bool(old.verified.binds))
        return was_routed and not facts.withdrawal_was_seen(subject)
    return bool(facts.routed_binds(subject)) and not facts.is_routed(subject)


def _has_claims(old: Superseded, _subject: Subject) -> bool:
    """There are binds on its marker."""
    return bool(old.binds)


def _drop_marker(old: Superseded, subject: Subject) -> DropMarker:
    """Drop its marker."""
    return DropMarker(subject.app, subject.service, old.container_id)


def _release_claims(old: Superseded, subject: Subject) -> ReleaseClaims:
    """Take the binds off its marker."""
    return ReleaseClaims(subject.app, subject.service, old.container_id)


def _remove(old: Superseded, subject: Subject) -> Remove:
    """Remove it, and keep its volumes."""
    return Remove(subject.app, subject.service, old.container_id)


def _retire(old: Superseded, subject: Subject) -> Retire:
    """Stop it, with its recorded grace."""
    return Retire(subject.app, subject.service, old.container_id, old.stop_grace_s)


_ANY = tuple(SeenAs)
_GONE = (SeenAs.GONE,)
_S = Situation

_OTHERWISE = _if(_always)

ROWS: tuple[Row, ...] = (
    Row(_S.OLD_HELD, _ANY, _if(_is_held)),
    Row(_S.RECLAIMED, _ANY, _if(_is_named_by_active), _drop_marker),
    Row(_S.OLD_UNREAD, (SeenAs.UNREAD,), _OTHERWISE),
    Row(_S.AWAITING, _ANY, _if(_is_needed)),
    Row(_S.OLD_ROUTED, _ANY, _if(_may_be_routed)),
    Row(_S.UNCLAIMED, _GONE, _if(_has_claims), _release_claims),
    Row(_S.FINISHED, _GONE, _OTHERWISE, _drop_marker),
    Row(_S.OLD_ON_HOLD, _ANY, _is_on_hold, until=evidence.held_until_s),
    Row(_S.RETIRED, (SeenAs.DOWN,), _OTHERWISE, _remove),
    Row(_S.OLD_LEAVING, (SeenAs.REMOVING,), _OTHERWISE),
    Row(_S.OUTLIVED, _ANY, _OTHERWISE, _retire),
)


def look(old: Superseded) -> SeenAs:
    """Return how a superseded container was seen; one that runs without a start time is retired like any other that lives."""
    return seen_as(old.seen)
