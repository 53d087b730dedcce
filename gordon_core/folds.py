"""Memory as pure folds: over what was seen, and over what was done. The shell keeps the value; here the next one is made."""

from typing import assert_never

from attrs import evolve

from gordon_core import evidence, facts
from gordon_core.effects import (
    AwaitHealth,
    Cause,
    Done,
    DropCandidate,
    DropHistory,
    DropMarker,
    Effect,
    Forget,
    Outcome,
    PersistBinds,
    Probe,
    Publish,
    RecordAttempt,
    RecordFailure,
    RecordVerified,
    ReleaseBinds,
    ReleaseClaims,
    Remove,
    RemoveCandidate,
    Restart,
    Result,
    Retire,
    Start,
    Stop,
    StopCandidate,
    Withdraw,
)
from gordon_core.memory import NOTHING, Attempt, Memory, Strikes, Verified, Window
from gordon_core.observation import Clock, Container, HealthStatus, RouteSeen
from gordon_core.snapshot import Intent, Subject


def rearmed(memory: Memory, boot_id: str) -> Memory:
    """Return the memory with its waits dropped and its failures kept, under another boot (or the same one, on request)."""
    return evolve(memory, charged_at_s=None, window=None, boot_id=boot_id if memory.has_history() else "")


def recalled(memory: Memory, boot_id: str) -> Memory:
    """Return what a memory that was read from the store means under this boot: times of another boot mean nothing."""
    return memory if memory.boot_id in ("", boot_id) else rearmed(memory, boot_id)


def saw(subject: Subject, clock: Clock) -> Subject:
    """Return the subject after this look: strikes counted, the stable window grown or broken, an unproven mark dropped by proof.

    A subject of a locked app, or of one with a command in flight, is not ours to remember. Where nothing changes, the same object
    comes back.
    """
    if subject.locked or subject.in_flight:
        return subject
    unproven = subject.unproven and not (isinstance(subject.route, RouteSeen) and not subject.route.binds)
    counted = evolve(subject, unproven=unproven) if unproven != subject.unproven else subject
    noted = evolve(counted.memory, strikes=_strikes_after(counted), again=_is_called_for(counted))
    struck = _remember(counted, noted, clock)
    return _remember(struck, evolve(struck.memory, window=_window_after(struck, clock.boot_s)), clock)


def _remember(subject: Subject, memory: Memory, clock: Clock) -> Subject:
    if memory == subject.memory:
        return subject
    return evolve(subject, memory=evolve(memory, boot_id=clock.boot_id) if memory.has_history() else evolve(memory, boot_id=""))


def _strikes_after(subject: Subject) -> Strikes | None:
    """Count at most one strike a look, for the newest failed result of this execution, if it was not counted yet."""
    counted = subject.memory.strikes
    if not isinstance(subject.seen, Container):
        return counted
    start = evidence.started_at(subject)
    if counted is not None and counted.started_at != start:
        counted = None
    if not evidence.runs(subject):
        return counted
    match evidence.health(subject):
        case HealthStatus.NONE | HealthStatus.HEALTHY:
            return None
        case HealthStatus.STARTING | HealthStatus.UNREAD:
            return counted
        case HealthStatus.UNHEALTHY:
            return _struck(subject.seen, counted)
        case _ as never:
            assert_never(never)


def _struck(seen: Container, counted: Strikes | None) -> Strikes | None:
    failures = seen.health.failures()
    if not failures or (counted is not None and counted.result == failures[-1].started_at):
        return counted
    return Strikes(seen.started_at, (counted.count if counted is not None else 0) + 1, failures[-1].started_at)


def _is_called_for(subject: Subject) -> bool:
    """Whoever has an app stopped and started wants what is done in it to run again; once it runs, that is fulfilled."""
    if subject.intent is Intent.RUNNING or subject.declared is None:
        return subject.memory.again and not evidence.runs(subject)
    return subject.memory.again or (subject.declared.policy.exit_0_is_done and evidence.is_down(subject))


def _window_after(subject: Subject, now_s: float) -> Window | None:
    """Grow the window by a stable look at the same execution; begin a new one after a gap; none without history to drop."""
    if not (_earns_a_window(subject) and facts.is_stable(subject)) or subject.declared is None:
        return None
    window, start = subject.memory.window, evidence.started_at(subject)
    unbroken = (
        window is not None
        and window.started_at == start
        and 0 <= now_s - window.looked_s <= subject.declared.policy.longest_gap_s
    )
    return Window(start, window.since_s if window is not None and unbroken else now_s, now_s)


def _earns_a_window(subject: Subject) -> bool:
    """There is a history, and a rule that would drop it; what is inhibited, or to be stopped, would grow one for ever."""
    return subject.memory.has_history() and subject.intent is Intent.RUNNING and not subject.inhibited


def did(subject: Subject, effect: Effect, outcome: Outcome, clock: Clock) -> Subject:
    """Return the subject after an effect with its outcome: the result is added, and what follows from it is remembered.

    What is only written down (an attempt, a charge, a verified execution) holds from here on even where the store refused it:
    a store that cannot be written keeps no workload down.
    """
    done = evolve(subject, results=(*subject.results, Result(effect, outcome)))
    if isinstance(effect, Withdraw):
        return evolve(done, unproven=not isinstance(outcome, Done))
    return _remember(done, _after(done, effect, outcome, clock.boot_s), clock)


def _after(subject: Subject, effect: Effect, outcome: Outcome, now_s: float) -> Memory:  # noqa: PLR0911 - an arm for each
    memory = subject.memory
    match effect:
        case RecordAttempt():
            return evolve(memory, attempt=Attempt(effect.before))
        case Restart():
            return evolve(memory, strikes=_cleared(memory.strikes)) if evidence.is_evidence(outcome) else memory
        case Stop():
            return evolve(memory, attempt=None, window=None, contested_port=effect.contested_port)
        case Start():
            return evolve(memory, contested_port=0)
        case RecordFailure():
            return _charged(memory, effect, now_s)
        case RecordVerified():
            return evolve(memory, verified=Verified(effect.started_at, effect.binds, effect.generation.revision))
        case DropHistory():
            return Memory(charged=memory.charged, verified=memory.verified, again=memory.again)
        case Forget():
            return NOTHING if _is_its_own(subject, effect) else memory
        case (
            Withdraw() | AwaitHealth() | Probe() | PersistBinds() | Publish() | ReleaseBinds()
            | Retire() | Remove() | ReleaseClaims() | DropMarker() | StopCandidate() | RemoveCandidate() | DropCandidate()
        ):  # fmt: skip
            return memory
        case _ as never:
            assert_never(never)


def _cleared(strikes: Strikes | None) -> Strikes | None:
    """Begin at none, and keep the name of the result counted last: where the same execution runs on, it is not counted again."""
    return evolve(strikes, count=0) if strikes is not None else None


def _is_its_own(subject: Subject, effect: Forget) -> bool:
    """Tell its own container from an orphan, whose going leaves the memory of the declared container as it is."""
    return subject.declared is not None and subject.declared.container_id == effect.container_id


def _charged(memory: Memory, charge: RecordFailure, now_s: float) -> Memory:
    """Add one failure, name the execution, consume the pending attempt; what failed its readiness is verified no longer.

    A relapse leaves it verified: while the budget is closed it keeps its traffic until a restart is due.
    """
    contradicted = charge.cause in {Cause.UNREADY, Cause.UNBOUND}
    return evolve(
        memory,
        failures=memory.failures + 1,
        charged=charge.started_at or memory.charged or "",
        charged_at_s=now_s,
        attempt=None,
        window=None,
        verified=None if contradicted else memory.verified,
    )
