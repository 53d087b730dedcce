"""The whole road, if all goes well: `plan` folded over an optimistic `assume`; and what follows where a step fails.

A forecast is finite: every step of it changes something that no later step changes back, waits end at known times, and a bound
that no plan of the law reaches stands behind that.
"""

from typing import assert_never

from attrs import evolve, frozen

from gordon_core.effects import (
    AwaitHealth,
    CandidateEffect,
    Done,
    DropCandidate,
    DropHistory,
    DropMarker,
    Effect,
    Fault,
    Forget,
    PersistBinds,
    Probe,
    Publish,
    RecordAttempt,
    RecordFailure,
    RecordVerified,
    Refused,
    ReleaseBinds,
    ReleaseClaims,
    Remove,
    RemoveCandidate,
    Restart,
    Retire,
    Start,
    Stop,
    StopCandidate,
    Withdraw,
)
from gordon_core.folds import did, saw
from gordon_core.observation import (
    LATEST_WALL_S,
    Bind,
    Clock,
    Container,
    Gone,
    Health,
    HealthStatus,
    Port,
    PortBinding,
    RouteSeen,
    Status,
    Unread,
)
from gordon_core.planner import Decision, Plan, decide, plan
from gordon_core.policy import PASS_CADENCE_S
from gordon_core.situations import Situation
from gordon_core.snapshot import Candidate, Snapshot, Subject, Superseded

MOST_STEPS = 64
"""No service takes so many steps by the law, and no superseded container; it bounds a forecast whatever the snapshot."""


def assume(subject: Subject, effect: Effect, clock: Clock) -> Subject:
    """Return the subject as the next look would find it if the effect were done and the world were kind."""
    return saw(did(_kindly(subject, effect), effect, Done(), clock), clock)


def _kindly(subject: Subject, effect: Effect) -> Subject:  # noqa: C901, PLR0911 - one arm for each kind of effect is the point
    match effect:
        case Withdraw():
            return evolve(subject, route=RouteSeen((), subject.route.carries if isinstance(subject.route, RouteSeen) else _ALL))
        case Start() | Restart():
            return evolve(subject, seen=_started(subject))
        case Stop():
            return evolve(subject, seen=_stopped(subject.seen))
        case AwaitHealth():
            return evolve(subject, seen=_healthy(subject.seen))
        case PersistBinds():
            return _declare(subject, effect.binds)
        case ReleaseBinds():
            return _declare(subject, ())
        case Publish():
            return evolve(
                subject,
                route=evolve(subject.route, binds=effect.binds) if isinstance(subject.route, RouteSeen) else subject.route,
            )
        case Forget():
            return evolve(subject, orphans=tuple(each for each in subject.orphans if each != effect.container_id))
        case Retire() | Remove() | ReleaseClaims() | DropMarker():
            old = (_retired(each, effect) if each.container_id == effect.container_id else each for each in subject.superseded)
            return evolve(subject, superseded=tuple(each for each in old if each is not None))
        case StopCandidate() | RemoveCandidate() | DropCandidate():
            left = (_cleared(each, effect) if each.container_id == effect.container_id else each for each in subject.candidates)
            return evolve(subject, candidates=tuple(each for each in left if each is not None))
        case RecordAttempt() | Probe() | RecordFailure() | RecordVerified() | DropHistory():
            return subject
        case _ as never:
            assert_never(never)


_ALL = RouteSeen().carries
_ASSUMED = "assumed"
_NEVER_S = float("inf")
_UNTIL_THE_NEXT_PASS = {
    Situation.BLOCKED, Situation.NOT_READY, Situation.SHUT_ROUTED, Situation.SPENT, Situation.STARTING_YET, Situation.SUPPLANTED,
}  # fmt: skip


def _declare(subject: Subject, binds: tuple[Bind, ...]) -> Subject:
    declared = subject.declared
    return evolve(subject, declared=evolve(declared, binds=binds)) if declared is not None else subject


def _started(subject: Subject) -> Container | Gone | Unread:
    """Assume a new execution, healthy, with every declared port bound: at its bind on record, or at one not handed out yet."""
    seen, declared = subject.seen, subject.declared
    if not isinstance(seen, Container) or declared is None:
        return seen
    on_record = {each.port: each.host_port for each in declared.binds}

    def binding(port: Port) -> PortBinding:
        return PortBinding(port, "127.0.0.1", on_record.get(port, 0))

    health = seen.health if seen.health.status is HealthStatus.NONE else Health(HealthStatus.HEALTHY)
    return evolve(
        seen,
        status=Status.RUNNING,
        started_at=f"{_ASSUMED} after {seen.started_at}",
        health=health,
        ports=tuple(binding(each) for each in declared.ports),
        exit=None,
    )


def _stopped(seen: Container | Gone | Unread) -> Container | Gone | Unread:
    return evolve(seen, status=Status.EXITED, ports=()) if isinstance(seen, Container) else seen


def _healthy(seen: Container | Gone | Unread) -> Container | Gone | Unread:
    return evolve(seen, health=Health(HealthStatus.HEALTHY)) if isinstance(seen, Container) else seen


def _retired(old: Superseded, effect: Retire | Remove | ReleaseClaims | DropMarker) -> Superseded | None:
    match effect:
        case Retire():
            return evolve(old, seen=_stopped(old.seen))
        case Remove():
            return evolve(old, seen=Gone())
        case ReleaseClaims():
            return evolve(old, binds=())
        case DropMarker():
            return None
        case _ as never:
            assert_never(never)


def _cleared(candidate: Candidate, effect: CandidateEffect) -> Candidate | None:
    match effect:
        case StopCandidate():
            return evolve(candidate, seen=_stopped(candidate.seen))
        case RemoveCandidate():
            return evolve(candidate, seen=Gone())
        case DropCandidate():
            return evolve(candidate, journalled=False) if not isinstance(candidate.seen, Gone) else None
        case _ as never:
            assert_never(never)


def forecast(snapshot: Snapshot) -> tuple[Plan, ...]:
    """Return the plan now, then every plan that would follow if all went well, until nothing is left to do or to wait for.

    A plan with a later clock is what would be decided then: waits are waited out. The last plan is quiet.
    """
    plans = [plan(snapshot)]
    containers = sum(1 + len(each.superseded) + len(each.candidates) for each in snapshot.subjects)
    for _step in range(MOST_STEPS * containers):
        following = _following(snapshot, plans[-1])
        if following is None:
            break
        snapshot = following
        plans.append(plan(snapshot))
    return tuple(plans)


def _following(snapshot: Snapshot, now: Plan) -> Snapshot | None:
    """Return the next snapshot: after this plan's effects, else in the next pass, else at the end of the next wait."""
    if not now.is_quiet:
        return evolve(snapshot, subjects=_after_effects(snapshot, now))
    clock = snapshot.clock
    ends = [each.until_s for each in now.decisions if each.until_s is not None and each.until_s < _NEVER_S]
    times = [each for each in ends if each > clock.boot_s]
    # A wait can be over already: that of a stable window which nobody has looked at since. The next pass looks.
    if len(times) < len(ends) or any(each.situation in _UNTIL_THE_NEXT_PASS for each in now.decisions):
        times.append(clock.boot_s + PASS_CADENCE_S)
    if not times:
        return None
    # Exactly the end of the wait: a sum could fall short of it by a rounding, and be waited for again.
    later = evolve(clock, boot_s=min(times), wall_s=min(clock.wall_s + min(times) - clock.boot_s, float(LATEST_WALL_S)))
    return Snapshot(later, tuple(_looked(evolve(each, results=()), later) for each in snapshot.subjects))


def _after_effects(snapshot: Snapshot, now: Plan) -> tuple[Subject, ...]:
    subjects = {each.name: each for each in snapshot.subjects}
    for decision in now.decisions:
        if decision.effect is not None:
            subjects[decision.subject.name] = assume(subjects[decision.subject.name], decision.effect, snapshot.clock)
    return tuple(subjects.values())


def _looked(subject: Subject, clock: Clock) -> Subject:
    """Assume that it was looked at all the while, so that no gap breaks its stable window."""
    window = subject.memory.window
    if window is not None:
        subject = evolve(subject, memory=evolve(subject.memory, window=evolve(window, looked_s=clock.boot_s)))
    return saw(subject, clock)


@frozen(eq=False)
class Branch:
    """What follows where a step fails: the decision after it, and the failures counted by then."""

    decision: Decision
    failures: int
    charged: bool


def if_it_fails(decision: Decision, clock: Clock) -> Branch | None:
    """Return what would follow if the workload failed this step, or None for a step that cannot fail by the workload.

    The failed step is charged where the law charges it; what else the same pass still does is assumed to go well.
    """
    effect = decision.effect
    if not isinstance(effect, Start | Restart | Probe):
        return None
    before = decision.subject.memory.failures
    subject = saw(did(decision.subject, effect, Refused("it failed", Fault.WORKLOAD), clock), clock)
    following = decide(subject, clock.boot_s)
    # It ends: one pass calls for no kind of effect more than twice.
    while following.effect is not None and not isinstance(following.effect, Start | Restart | Probe):
        subject = assume(subject, following.effect, clock)
        following = decide(subject, clock.boot_s)
    return Branch(following, subject.memory.failures, subject.memory.failures > before)
