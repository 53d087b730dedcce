"""The law for candidates: containers that interrupted deploys left, of the same make as that for services.

Recovery asks it about what stands in the journal of deploys; a deploy asks it, before a name is used again, about every
container that bears one of the service's names. Whatever may be serving stays: what ACTIVE or a marker names, what is routed,
and, unless the journal knows better, what runs while the container in ACTIVE does not. What bears a name, and no label that says
whose it is, is reported and left alone.
"""

from collections.abc import Callable

from attrs import frozen

from gordon_core import evidence, facts, tuned_facts
from gordon_core.effects import CandidateEffect, DropCandidate, RemoveCandidate, StopCandidate
from gordon_core.observation import Container, SeenAs, Status, seen_as
from gordon_core.policy import CLEANUP_DEADLINE_S
from gordon_core.situations import Situation
from gordon_core.snapshot import Candidate, NamedAs, Subject

LONGEST_GRACE_S = CLEANUP_DEADLINE_S * 2 / 3
"""What a candidate has to stop in at most, so that its stop and its removal are over within the clean-up deadline."""

Fact = Callable[[Candidate, Subject, float], bool]
Command = Callable[[Candidate, Subject], CandidateEffect]


@frozen
class Row:
    """One line of the law for candidates. `until` is when a wait ends, in seconds since boot."""

    situation: Situation
    looks: tuple[SeenAs, ...]
    holds: Fact
    effect: Command | None = None
    until: Callable[[Subject], float | None] | None = None


def _if(question: Callable[[Candidate, Subject], bool]) -> Fact:
    """Turn a fact that does not ask for the time into one that is given it."""

    def holds(candidate: Candidate, subject: Subject, _now_s: float) -> bool:
        return question(candidate, subject)

    holds.__doc__ = question.__doc__
    return holds


def _always(_candidate: Candidate, _subject: Subject) -> bool:
    """Otherwise."""
    return True


def _is_held(_candidate: Candidate, subject: Subject) -> bool:
    """Its app is locked, a command is in flight, or ACTIVE changed during this pass."""
    return bool(subject.locked or subject.in_flight) or evidence.was_supplanted(subject)


def _is_chosen(candidate: Candidate, subject: Subject) -> bool:
    """ACTIVE or a retirement marker names it."""
    named = {each.container_id for each in subject.superseded}
    if subject.declared is not None:
        named.add(subject.declared.container_id)
    return candidate.container_id in named


def _is_chosen_and_journalled(candidate: Candidate, subject: Subject) -> bool:
    """ACTIVE or a retirement marker names it, and it stands in the journal still."""
    return _is_chosen(candidate, subject) and candidate.journalled


def _is_journalled(candidate: Candidate, _subject: Subject) -> bool:
    """It stands in the journal."""
    return candidate.journalled


def _is_foreign(candidate: Candidate, _subject: Subject) -> bool:
    """Neither the journal nor a label says that a deploy of this service made it."""
    return not (candidate.journalled or candidate.owned)


def _may_be_routed(candidate: Candidate, subject: Subject) -> bool:
    """A route leads to a port that it holds; or nobody could look, and it may have been published before it was left."""
    if facts.route_is_unread(subject):
        was_never = candidate.journalled and not facts.is_published(subject)
        return not (was_never or facts.withdrawal_was_seen(subject))
    held = {each.at for each in candidate.seen.ports} if isinstance(candidate.seen, Container) else set()
    return any(each.at in held for each in facts.routed_binds(subject))


def _is_all_there_is(candidate: Candidate, subject: Subject) -> bool:
    """The journal does not know it, and ACTIVE names nothing that was seen running or restarting: it may be what serves."""
    selected = subject.seen
    is_alive = isinstance(selected, Container) and selected.status in {Status.RUNNING, Status.RESTARTING}
    return not (candidate.journalled or (subject.declared is not None and is_alive))


def _bears_the_canonical_name(candidate: Candidate, _subject: Subject) -> bool:
    """The journal does not know it, and it bears the canonical name."""
    return candidate.named is NamedAs.CANONICAL and not candidate.journalled


def _is_on_hold(_candidate: Candidate, subject: Subject, now_s: float) -> bool:
    """Somebody wants the service left as it is, until a time not yet reached."""
    return tuned_facts.is_on_hold(subject, now_s)


def _was_not_told_to_stop(candidate: Candidate, subject: Subject) -> bool:
    """No stop was tried in this pass."""
    tried = (each.effect for each in evidence.results_of(subject, StopCandidate))
    return not any(isinstance(each, StopCandidate) and each.container_id == candidate.container_id for each in tried)


def _stop(candidate: Candidate, subject: Subject) -> StopCandidate:
    """Stop it, with its grace, and no longer than a clean-up may take."""
    return StopCandidate(subject.app, subject.service, candidate.container_id, min(candidate.stop_grace_s, LONGEST_GRACE_S))


def _remove(candidate: Candidate, subject: Subject) -> RemoveCandidate:
    """Remove it, by force, and keep its volumes."""
    return RemoveCandidate(subject.app, subject.service, candidate.container_id)


def _drop(candidate: Candidate, subject: Subject) -> DropCandidate:
    """Take it out of the journal."""
    return DropCandidate(subject.app, subject.service, candidate.container_id)


_ANY = tuple(SeenAs)
_RUNNING = (SeenAs.RUNNING, SeenAs.RESTARTING)
_ALIVE = (SeenAs.RUNNING, SeenAs.RESTARTING, SeenAs.PAUSED)
_S = Situation

_OTHERWISE = _if(_always)

ROWS: tuple[Row, ...] = (
    Row(_S.CANDIDATE_HELD, _ANY, _if(_is_held)),
    Row(_S.PROMOTED, _ANY, _if(_is_chosen_and_journalled), _drop),
    Row(_S.CHOSEN, _ANY, _if(_is_chosen)),
    Row(_S.CANDIDATE_UNREAD, (SeenAs.UNREAD, SeenAs.UNKNOWN), _OTHERWISE),
    Row(_S.CANDIDATE_GONE, (SeenAs.GONE,), _if(_is_journalled), _drop),
    Row(_S.NEVER_WAS, (SeenAs.GONE,), _OTHERWISE),
    Row(_S.FOREIGN, _ANY, _if(_is_foreign)),
    Row(_S.CANDIDATE_ROUTED, _ALIVE, _if(_may_be_routed)),
    Row(_S.UNSELECTED, _RUNNING, _if(_is_all_there_is)),
    Row(_S.NAMESAKE, _RUNNING, _if(_bears_the_canonical_name)),
    Row(_S.CANDIDATE_ON_HOLD, (*_ALIVE, SeenAs.DOWN), _is_on_hold, until=evidence.held_until_s),
    Row(_S.STALE, _ALIVE, _if(_was_not_told_to_stop), _stop),
    Row(_S.STUBBORN, _ALIVE, _OTHERWISE, _remove),
    Row(_S.LEFT_DOWN, (SeenAs.DOWN,), _OTHERWISE, _remove),
    Row(_S.CANDIDATE_LEAVING, _ANY, _OTHERWISE),
)


def look(candidate: Candidate) -> SeenAs:
    """Return how a candidate was seen; what runs counts as running, also without a start time."""
    seen = candidate.seen
    return SeenAs.RUNNING if isinstance(seen, Container) and seen.status is Status.RUNNING else seen_as(seen)
