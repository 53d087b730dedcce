"""A settled host, spoiled value by value: what a look could show, what could be remembered, and what this pass could have met."""

from collections.abc import Callable
from random import Random

from attrs import evolve

from gordon_core.effects import (
    AwaitHealth,
    Effect,
    Fault,
    Generation,
    Outcome,
    Probe,
    RecordAttempt,
    Refused,
    Result,
    Start,
    StopCandidate,
    Unknown,
    Withdraw,
)
from gordon_core.memory import Attempt, Memory, Strikes, Window
from gordon_core.observation import (
    Bind,
    Clock,
    Container,
    Exit,
    Gone,
    Health,
    HealthStatus,
    PortBinding,
    ProbeResult,
    Route,
    RouteSeen,
    RouteUnread,
    Seen,
    Status,
    Unread,
)
from gordon_core.policy import DEFAULT_POLICY, Policy, WhenUnhealthy
from gordon_core.snapshot import Candidate, Hold, Intent, NamedAs, Snapshot, Subject, Superseded

Spoil = Callable[[Subject, Random, Clock], Subject]
_REFUSED = Refused("no", Fault.WORKLOAD)


def _seen(subject: Subject, chance: Random, _clock: Clock) -> Subject:
    """Show something else of the container."""
    seen = subject.seen
    if not isinstance(seen, Container):
        return subject
    status = chance.choice(tuple(Status))
    up = status in {Status.RUNNING, Status.PAUSED}
    other = evolve(seen, status=status, ports=seen.ports if up else (), started_at=chance.choice([seen.started_at, "s99", ""]))
    looks: list[Seen] = [other, other, other, Gone(), Unread("no answer")]
    return evolve(subject, seen=chance.choice(looks))


def _health(subject: Subject, chance: Random, _clock: Clock) -> Subject:
    """Let it have a health check that says something."""
    seen = subject.seen
    if not isinstance(seen, Container):
        return subject
    status = chance.choice(tuple(HealthStatus))
    failed = (ProbeResult("r1", 1), ProbeResult("r2", 1)) if status is HealthStatus.UNHEALTHY else ()
    strikes = Strikes(seen.started_at, 2, "r2") if failed and chance.random() < 0.5 else None
    attempt = Attempt("before") if failed and chance.random() < 0.2 else subject.memory.attempt
    memory = evolve(subject.memory, strikes=strikes, attempt=attempt)
    if status is HealthStatus.STARTING:
        memory = Memory()  # an execution that has not said anything yet is seldom a verified one
    return evolve(subject, seen=evolve(seen, health=Health(status, len(failed), failed)), memory=memory)


def _ports(subject: Subject, chance: Random, _clock: Clock) -> Subject:
    """Let its ports be elsewhere, or missing."""
    seen = subject.seen
    if not isinstance(seen, Container):
        return subject
    moved = tuple(PortBinding(each.port, each.host_ip, 32800 + index) for index, each in enumerate(seen.ports))
    return evolve(subject, seen=evolve(seen, ports=chance.choice([(), moved])))


def _route(subject: Subject, chance: Random, _clock: Clock) -> Subject:
    """Let its route be gone, elsewhere or unread."""
    declared = subject.declared
    ports = declared.ports if declared is not None else ()
    elsewhere = tuple(Bind(each, chance.choice([32768, 32769, 8400])) for each in ports[:1])
    routes: list[Route] = [RouteSeen(), RouteSeen(elsewhere), RouteUnread("no answer")]
    return evolve(subject, route=chance.choice(routes))


def _start(subject: Subject) -> str:
    return subject.seen.started_at if isinstance(subject.seen, Container) else ""


def _wish(subject: Subject, chance: Random, _clock: Clock) -> Subject:
    """Let something else be wanted of it, or its app be in use."""
    unnamed = evolve(subject, declared=None, seen=Unread("ACTIVE names no container"))
    choices = [
        evolve(subject, intent=Intent.STOPPED),
        evolve(subject, intent=Intent.STOPPED),
        evolve(subject, inhibited="by hand"),
        evolve(subject, unproven=True),
        evolve(subject, locked="by a deploy"),
        evolve(subject, in_flight="start it"),
        evolve(subject, ungranted=("/srv is not granted",)),
        evolve(subject, orphans=("old-0",)),
        unnamed,
        evolve(unnamed, orphans=("old-0",), route=RouteSeen()),
    ]
    return chance.choice(choices)


def _tuned(subject: Subject, chance: Random, clock: Clock) -> Subject:
    """Let somebody hold it, or let it have another policy; it may have ended well, or be sick."""
    choices = [
        lambda: evolve(
            subject, hold=Hold(clock.boot_s + chance.choice([-5.0, 5.0, 500.0]), clock.wall_s, clock.boot_id, "al", "why")
        ),
        lambda: _ended(subject, evolve(DEFAULT_POLICY, exit_0_is_done=True), chance),
        lambda: _sick(subject, evolve(DEFAULT_POLICY, unhealthy=WhenUnhealthy.WITHDRAW)),
    ]
    return chance.choice(choices)()


def _ended(subject: Subject, policy: Policy, chance: Random) -> Subject:
    seen, declared, start = subject.seen, subject.declared, _start(subject)
    if not isinstance(seen, Container) or declared is None:
        return subject
    memories = (subject.memory, evolve(subject.memory, attempt=Attempt("before")), evolve(subject.memory, again=True))
    ended = Container(seen.container_id, Status.EXITED, start or "s1", exit=Exit(finished_at="then"))
    return evolve(subject, seen=ended, declared=evolve(declared, policy=policy), memory=chance.choice(memories))


def _sick(subject: Subject, policy: Policy) -> Subject:
    seen, declared = subject.seen, subject.declared
    if not isinstance(seen, Container) or declared is None:
        return subject
    failed = Health(HealthStatus.UNHEALTHY, 2, (ProbeResult("r1", 1), ProbeResult("r2", 1)))
    memory = evolve(subject.memory, strikes=Strikes(seen.started_at, 2, "r2"))
    return evolve(subject, seen=evolve(seen, health=failed), declared=evolve(declared, policy=policy), memory=memory)


def _memory(subject: Subject, chance: Random, clock: Clock) -> Subject:
    """Let there be trouble on record."""
    start, kept, now_s = _start(subject), subject.memory, clock.boot_s
    choices = [
        evolve(kept, failures=1),
        evolve(kept, failures=4, charged=start, charged_at_s=now_s - 10.0),
        evolve(kept, attempt=Attempt(start)),
        evolve(kept, attempt=Attempt("before")),
        evolve(kept, failures=2, window=Window(start, now_s - 400.0, now_s - 1.0)),
        evolve(kept, failures=2, window=Window(start, now_s - 60.0, now_s - 1.0)),
        Memory(),
    ]
    return evolve(subject, memory=evolve(chance.choice(choices), boot_id=clock.boot_id))


def _results(subject: Subject, chance: Random, _clock: Clock) -> Subject:
    """Let this pass have met something already."""
    generation = subject.generation()
    if generation is None:
        return subject
    start = _start(subject)
    binds = subject.memory.verified.binds if subject.memory.verified is not None else ()
    other = Generation(generation.app, generation.service, "other", 9)
    met: list[tuple[Effect, Outcome]] = [
        (Withdraw(subject.app, subject.service), Refused("no", Fault.ROUTER)),
        (Withdraw(subject.app, subject.service), Unknown("no answer")),
        (Start(generation), _REFUSED),
        (Start(generation), Refused("no", Fault.ENGINE)),
        (Probe(generation, start, binds, 30.0), _REFUSED),
        (AwaitHealth(generation, start, 30.0), Unknown("it still says starting")),
        (RecordAttempt(other, ""), Unknown("no answer")),
    ]
    return evolve(subject, results=(*subject.results, Result(*chance.choice(met))))


def _superseded(subject: Subject, chance: Random, _clock: Clock) -> Subject:
    """Let it have a predecessor, or be its own."""
    own = subject.declared.container_id if subject.declared is not None and chance.random() < 0.15 else "old-1"
    if any(each.container_id == own for each in subject.superseded):
        return subject
    statuses = (Status.RUNNING, Status.EXITED, Status.REMOVING)
    looks: list[Seen] = [*(Container(own, each, "s50") for each in statuses), Gone(), Gone(), Unread("no answer")]
    seen = chance.choice(looks)
    binds = subject.declared.binds if subject.declared is not None and chance.random() < 0.5 else ()
    return evolve(subject, superseded=(*subject.superseded, Superseded(own, seen, binds=binds)))


def _left(subject: Subject, chance: Random, _clock: Clock) -> Subject:
    """Let deploys have left a candidate, and perhaps have tried to stop it; it may be what ACTIVE names."""
    own = subject.declared.container_id if subject.declared is not None and chance.random() < 0.15 else "left-1"
    if any(each.container_id == own for each in subject.candidates):
        return subject
    routed = subject.route.binds if isinstance(subject.route, RouteSeen) and chance.random() < 0.3 else ()
    ports = tuple(PortBinding(each.port, "127.0.0.1", each.host_port) for each in routed)
    statuses = (Status.RUNNING, Status.RUNNING, Status.RUNNING, Status.EXITED, Status.REMOVING, Status.PAUSED)
    looks: list[Seen] = [*(Container(own, each, "s60", ports=ports) for each in statuses), Gone(), Unread("no answer")]
    flags = [chance.random() < 0.6 for _ in range(3)]
    candidate = Candidate(own, chance.choice(looks), chance.choice(tuple(NamedAs)), *flags)
    stop = Result(StopCandidate(subject.app, subject.service, own, 10.0), Unknown("no answer"))
    results = (*subject.results, stop) if chance.random() < 0.3 else subject.results
    return evolve(subject, candidates=(*subject.candidates, candidate), results=results)


SPOILS: tuple[Spoil, ...] = (
    _seen, _health, _ports, _superseded, _route, _route, _wish, _wish, _memory, _memory, _results, _results, _seen, _left, _left,
    _left, _tuned, _tuned, _tuned,
)  # fmt: skip


def spoil(snapshot: Snapshot, chance: Random, times: int) -> Snapshot:
    """Return the snapshot with so many values of it spoiled; half of them all in the same service."""
    subjects = list(snapshot.subjects)
    if not subjects:
        return snapshot
    focus = chance.randrange(len(subjects))
    for _time in range(times):
        index = focus if chance.random() < 0.7 else chance.randrange(len(subjects))
        subjects[index] = chance.choice(SPOILS)(subjects[index], chance, snapshot.clock)
    return evolve(snapshot, subjects=tuple(subjects))
