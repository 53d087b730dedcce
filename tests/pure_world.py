"""A world of model containers, routes and memory, deterministic and without a port: for tests of the core alone.

It executes the effects of each plan on the models, feeds the outcomes back through the folds, and plans again until all is quiet.
Nothing moves the clock but the test.
"""

from math import inf

from attrs import define, evolve, field

from gordon_core.effects import (
    DONE,
    AwaitHealth,
    DropMarker,
    Effect,
    Fault,
    Forget,
    Outcome,
    PersistBinds,
    Probe,
    Publish,
    Refused,
    ReleaseBinds,
    ReleaseClaims,
    Remove,
    Restart,
    Retire,
    Start,
    Stop,
    Unknown,
    Withdraw,
)
from gordon_core.folds import did, saw
from gordon_core.observation import (
    Binds,
    Clock,
    Container,
    Gone,
    Health,
    HealthStatus,
    Port,
    PortBinding,
    ProbeResult,
    Route,
    RouteSeen,
    RouteUnread,
    Seen,
    Status,
    Unread,
)
from gordon_core.planner import Plan, plan
from gordon_core.snapshot import Declared, Snapshot, Subject

HTTP = Port(80)
MOST_ROUNDS = 40


@define
class Body:
    """A container of the model. It lives `lifetime_s` after each start; `policy` is the engine's, which starts it anew at once.

    `host_port` None: a new one is handed out by each start. `health` None: it has no health check.
    """

    container_id: str
    lifetime_s: float = inf
    host_port: int | None = None
    binds_ports: bool = True
    ready: bool = True
    policy: bool = False
    refuses: str = ""
    status: Status = Status.CREATED
    started_at: str = ""
    bound: int = 0
    ends_at_s: float = inf
    health: HealthStatus | None = None
    results: list[str] = field(factory=list)
    streak: int = 0

    def look(self) -> Container:
        """Return it as the engine shows it."""
        ports = (PortBinding(HTTP, "127.0.0.1", self.bound),) if self.binds_ports and self.is_up else ()
        log = tuple(ProbeResult(each, 1) for each in self.results)
        health = Health(self.health, self.streak, log) if self.health is not None else Health()
        return Container(self.container_id, self.status, self.started_at, health, ports)

    @property
    def is_up(self) -> bool:
        """Return whether it runs, or is frozen while it does."""
        return self.status in {Status.RUNNING, Status.PAUSED}


@define
class World:
    """Everything that a pass looks at, and a record of everything that was done: (boot time, effect, outcome)."""

    boot_s: float = 1_000.0
    wall_s: float = 1796022000.0
    bodies: dict[str, Body] = field(factory=dict)
    subjects: dict[str, Subject] = field(factory=dict)
    routes: dict[tuple[str, str], Binds] = field(factory=dict)
    silent: set[str] = field(factory=set)
    silent_from_round: float = inf
    deaf: bool = False
    forced: dict[type[Effect], list[Outcome]] = field(factory=dict)
    done: list[tuple[float, Effect, Outcome]] = field(factory=list)
    plans: list[Plan] = field(factory=list)
    _ports: int = 32767
    _starts: int = 0

    # --- for tests -------------------------------------------------------------------------------------------------------

    def deploy(self, service: str, body: Body, *, running: bool = True, **declared: object) -> Subject:
        """Declare a service of app `shop`, with its container running or down, verified by nobody."""
        self.bodies[body.container_id] = body
        if running:
            self.start(body)
        ports = declared.pop("ports", (HTTP,))
        subject = Subject("shop", service, body.look(), Declared(body.container_id, 1, ports, **declared))
        self.subjects[service] = subject
        return subject

    def change(self, service: str, **changes: object) -> None:
        """Change what is kept of a service."""
        self.subjects[service] = evolve(self.subjects[service], **changes)

    def force(self, kind: type[Effect], *outcomes: Outcome) -> None:
        """Let the next effects of a kind have these outcomes, and not take place."""
        self.forced.setdefault(kind, []).extend(outcomes)

    def advance(self, seconds: float) -> None:
        """Let time pass on both clocks."""
        self.boot_s += seconds
        self.wall_s += seconds

    def run(self, until_s: float, cadence_s: float) -> None:
        """Make passes at a cadence, the first one now, up to and with a time since boot."""
        while self.boot_s <= until_s:
            self.run_pass()
            self.advance(cadence_s)

    def run_pass(self) -> list[Effect]:
        """Look, plan and do until all is quiet; return what was called for in this pass, in order."""
        first = len(self.done)
        self.subjects = {name: evolve(each, results=()) for name, each in self.subjects.items()}
        for number in range(1, MOST_ROUNDS + 1):
            now = self._plan(number)
            if now.is_quiet:
                return [effect for _, effect, _ in self.done[first:]]
            for decision in now.decisions:
                if decision.effect is not None:
                    self._do(decision.subject.service, decision.effect)
        message = f"not quiet after {MOST_ROUNDS} rounds: {self.plans[-1].effects}"
        raise AssertionError(message)

    def times(self, *kinds: type[Effect]) -> list[float]:
        """Return when effects of these kinds were called for, in seconds since boot."""
        return [time for time, effect, _ in self.done if isinstance(effect, kinds)]

    def kinds(self, effects: list[Effect]) -> list[str]:
        """Return the names of effects."""
        return [type(each).__name__ for each in effects]

    def start(self, body: Body) -> None:
        """Start a container: a new execution, at its port or at a new one."""
        self._starts += 1
        if body.host_port is None:
            self._ports += 1
        body.bound = body.host_port if body.host_port is not None else self._ports
        body.started_at = f"2026-11-30T07:00:00.{self._starts:09}Z"
        body.status, body.streak, body.ends_at_s = Status.RUNNING, 0, self.boot_s + body.lifetime_s

    def fail_check(self, *services: str) -> None:
        """Let the health checks of services fail once more."""
        for each in services:
            body = self.bodies[self.declared(each).container_id]
            body.health, body.streak = HealthStatus.UNHEALTHY, body.streak + 1
            body.results.append(f"result {len(body.results) + 1}")

    def declared(self, service: str) -> Declared:
        """Return what ACTIVE says of a service."""
        declared = self.subjects[service].declared
        assert declared is not None
        return declared

    def situation(self, service: str) -> str:
        """Return what held for a service at the end of the latest pass."""
        return next(each.situation.name for each in self.plans[-1].services if each.subject.service == service)

    @property
    def clock(self) -> Clock:
        """Return now."""
        return Clock(self.boot_s, self.wall_s, "boot-1")

    # --- the world -------------------------------------------------------------------------------------------------------

    def _plan(self, number: int) -> Plan:
        for body in self.bodies.values():
            if body.status is Status.RUNNING and self.boot_s >= body.ends_at_s:
                body.status = Status.EXITED
                if body.policy:
                    self.start(body)
        self.subjects = {name: self._looked(each, number) for name, each in self.subjects.items()}
        now = plan(Snapshot(self.clock, tuple(self.subjects.values())))
        self.plans.append(now)
        return now

    def _looked(self, subject: Subject, number: int) -> Subject:
        declared = subject.declared
        looked = evolve(
            subject,
            seen=self._seen(declared.container_id, number) if declared is not None else subject.seen,
            route=self._route(subject),
            superseded=tuple(evolve(each, seen=self._seen(each.container_id, number)) for each in subject.superseded),
        )
        return saw(looked, self.clock)

    def _seen(self, container_id: str, number: int) -> Seen:
        if container_id in self.silent or number >= self.silent_from_round:
            return Unread("no answer")
        body = self.bodies.get(container_id)
        return body.look() if body is not None else Gone()

    def _route(self, subject: Subject) -> Route:
        return RouteUnread("no answer") if self.deaf else RouteSeen(self.routes.get((subject.app, subject.service), ()))

    def _do(self, service: str, effect: Effect) -> None:
        waiting = self.forced.get(type(effect), [])
        outcome = waiting.pop(0) if waiting else self._execute(service, effect)
        self.done.append((self.boot_s, effect, outcome))
        self.subjects[service] = did(self.subjects[service], effect, outcome, self.clock)

    def _execute(self, service: str, effect: Effect) -> Outcome:  # noqa: C901 - an arm for each kind of effect
        self._check(effect)
        match effect:
            case Start() | Restart():
                return self._bring_up(self.bodies[effect.generation.container_id])
            case Stop():
                self.bodies[effect.generation.container_id].status = Status.EXITED
            case Retire():
                self.bodies[effect.container_id].status = Status.EXITED
            case Remove():
                del self.bodies[effect.container_id]
            case Withdraw() if self.deaf:
                return Unknown("no answer")
            case Withdraw():
                self.routes.pop((effect.app, effect.service), None)
            case Publish():
                self.routes[effect.generation.app, effect.generation.service] = effect.binds
            case Probe() | AwaitHealth():
                return self._ask(self.bodies[effect.generation.container_id], effect)
            case PersistBinds() | ReleaseBinds():
                binds = effect.binds if isinstance(effect, PersistBinds) else ()
                self.change(service, declared=evolve(self.declared(service), binds=binds))
            case Forget():
                self.change(
                    service, orphans=tuple(each for each in self.subjects[service].orphans if each != effect.container_id)
                )
            case DropMarker() | ReleaseClaims():
                self._unmark(service, effect)
            case _:
                return DONE  # the fold remembers what is only written down
        return DONE

    def _check(self, effect: Effect) -> None:
        """Hold every test to P1 and P2, as the world really is."""
        if isinstance(effect, Start | Restart):
            assert not self._leads_to(effect.generation.container_id), f"{effect} while it is routed"
        if isinstance(effect, Publish):
            body = self.bodies[effect.generation.container_id]
            assert body.ready, f"{effect} although it is not ready"
            assert (Status.RUNNING, [body.bound]) == (body.status, [each.host_port for each in effect.binds])

    def _leads_to(self, container_id: str) -> bool:
        body = self.bodies[container_id]
        return body.is_up and any(body.bound == each.host_port for binds in self.routes.values() for each in binds)

    def _unmark(self, service: str, effect: DropMarker | ReleaseClaims) -> None:
        old = self.subjects[service].superseded
        if isinstance(effect, DropMarker):
            old = tuple(each for each in old if each.container_id != effect.container_id)
        else:
            old = tuple(evolve(each, binds=()) if each.container_id == effect.container_id else each for each in old)
        self.change(service, superseded=old)

    def _bring_up(self, body: Body) -> Outcome:
        if body.refuses:
            return Refused(body.refuses, Fault.WORKLOAD)
        self.start(body)
        if body.health is not None:
            body.health = HealthStatus.STARTING
        return DONE

    def _ask(self, body: Body, effect: Probe | AwaitHealth) -> Outcome:
        if isinstance(effect, AwaitHealth):
            if body.ready:
                body.health = HealthStatus.HEALTHY
            return DONE if body.ready else Unknown("its health check still says starting")
        return DONE if body.ready else Refused("the connection was closed at once", Fault.WORKLOAD)
