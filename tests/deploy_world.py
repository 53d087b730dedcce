"""A world of model containers in which deploys run, are killed, and are recovered from; deterministic and without a port.

A test says what becomes of which step: by default each is done. The world itself holds every step to the invariants, as things
really are, whatever the deploy was shown.
"""

from collections.abc import Callable
from enum import Enum

from attrs import define, evolve, field

from gordon_core import evidence
from gordon_core.blueprint import Blueprint
from gordon_core.deploy_effects import (
    Activate,
    AwaitRunning,
    Create,
    Delay,
    DeployEffect,
    DeployStep,
    GiveUp,
    Journal,
    Pull,
    Rename,
    StartCandidate,
    Unroute,
    Watch,
)
from gordon_core.deploy_planner import MOST_STEPS, DeployDecision, decide_deploy, took, with_results
from gordon_core.deployment import Deployment, Dossier, names
from gordon_core.effects import (
    DONE,
    AwaitHealth,
    DropCandidate,
    DropMarker,
    Effect,
    Fault,
    Outcome,
    PersistBinds,
    Probe,
    Publish,
    Refused,
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
    Unknown,
    Withdraw,
)
from gordon_core.folds import did, saw
from gordon_core.memory import NOTHING, Memory, Verified
from gordon_core.observation import (
    Bind,
    Binds,
    Clock,
    Container,
    Gone,
    Health,
    HealthStatus,
    PortBinding,
    ProbeResult,
    RouteSeen,
    RouteUnread,
    Seen,
    Status,
    Unread,
)
from gordon_core.planner import plan
from gordon_core.snapshot import Candidate, Declared, Intent, NamedAs, Snapshot, Subject, Superseded
from tests.deploy_examples import CANONICAL, CHECKED, IMAGE

NAMES = names("shop", "web")
SILENT = "no answer"
UP = {Status.RUNNING, Status.PAUSED}


class Fate(Enum):
    """What becomes of a step."""

    DONE = "done"
    WORKLOAD = "the workload refuses"
    ENGINE = "the engine refuses"
    STORE = "the store refuses"
    ROUTER = "the router refuses"
    CONFLICT = "somebody else was faster"
    REGISTRY = "the registry is out of reach"
    LOST = "no answer, and it was not done"
    UNHEARD = "no answer, although it was done"


class Event(Enum):
    """What happens right before a look."""

    CANDIDATE_DIES = "the candidate dies"
    OLD_DIES = "the old container dies"
    SICKENS = "the candidate is unhealthy from now on"
    DEAF = "the router cannot be read from now on"
    HEARS = "the router can be read again"
    MUTE = "no container can be read from now on"
    SPEAKS = "containers can be read again"
    UNLISTED = "containers cannot be listed from now on"
    CANCELLED = "somebody cancels the deploy"
    LATE = "half an hour goes by"
    SHUT = "the operator wants the app stopped"


@define
class Body:
    """A container of the model."""

    container_id: str
    name: str
    made_by: str
    blueprint: Blueprint
    status: Status = Status.CREATED
    started_at: str = ""
    bound: int = 0
    health: HealthStatus = HealthStatus.NONE

    def look(self, now_s: float) -> Container:
        """Return it as the engine shows it; while it is unhealthy, its check fails anew before every look."""
        ports = tuple(PortBinding(each.port, "127.0.0.1", self.bound) for each in self.blueprint.ports if self.status in UP)
        failed = (ProbeResult(f"check at {now_s}", 1),) if self.health is HealthStatus.UNHEALTHY else ()
        health = Health(self.health, len(failed), failed)
        return Container(self.container_id, self.status, self.started_at, health, ports, name=self.name)

    def binds(self) -> Binds:
        """Return where it answers."""
        return tuple(Bind(each.port, self.bound) for each in self.blueprint.ports if self.status in UP)


@define
class DeployWorld:
    """One service, with all that is kept of it and all containers of the host; `taken` are the steps of its deploys."""

    wanted: Blueprint
    has_check: bool = False
    boot_s: float = 10_000.0
    bodies: dict[str, Body] = field(factory=dict)
    active: Declared | None = None
    intent: Intent = Intent.RUNNING
    markers: dict[str, Superseded] = field(factory=dict)
    journal: set[str] = field(factory=set)
    route: Binds = ()
    memories: dict[str, Memory] = field(factory=dict)
    unproven: bool = False
    signs: set[Event] = field(factory=set)
    taken: list[tuple[DeployStep, Outcome]] = field(factory=list)
    deploys: int = 0
    _starts: int = 0
    _ports: int = 32767

    # --- for tests -------------------------------------------------------------------------------------------------------

    def serve(self, blueprint: Blueprint) -> str:
        """Let a generation serve, as an earlier deploy left it; return its container ID."""
        body = Body("old", CANONICAL, "deploy-0", blueprint)
        self.bodies["old"] = body
        self._start(body)
        self.active = Declared("old", 1, blueprint.declared_ports, body.binds(), published=bool(blueprint.ports))
        self.route = body.binds()
        subject = self._subject(())
        self.memories["old"] = evolve(NOTHING, verified=_verified(subject))
        return "old"

    def begin(self) -> Deployment:
        """Begin a deploy, and return it as looked at first."""
        self.deploys += 1
        began = Deployment(self.clock, self._subject(()), self.wanted, NAMES, IMAGE, began_s=self.boot_s)
        return self.look(began)

    def run(
        self,
        fates: dict[int, Fate] | None = None,
        events: dict[int, Event] | None = None,
        killed_after: int = MOST_STEPS,
        judge: Callable[[Deployment, DeployStep], None] | None = None,
    ) -> DeployDecision:
        """Deploy, with these fates of its steps and events before its looks, by number; return the last decision.

        It is killed after so many steps, if it has not ended before.
        """
        deployment = self.begin()
        for number in range(MOST_STEPS + 1):
            self._happen((events or {}).get(number))
            deployment = self.look(deployment)
            decision = decide_deploy(deployment)
            if decision.step is None or number >= killed_after:
                return decision
            if judge is not None:
                judge(deployment, decision.step)
            deployment = self._take(deployment, decision.step, (fates or {}).get(number, Fate.DONE))
        message = f"it did not end within {MOST_STEPS} steps: {[type(step).__name__ for step, _ in self.taken[-8:]]}"
        raise AssertionError(message)

    def recover(self) -> list[str]:
        """Make a pass of recovery in which all goes well; return what was called for."""
        subject, called = self._subject((), of_deploys=False), []
        for _ in range(60):
            subject = self._subject(subject.results, of_deploys=False)
            effects = plan(Snapshot(self.clock, (subject,))).effects
            if not effects:
                return called
            for effect in effects:
                called.append(type(effect).__name__)
                self.boot_s += 0.5
                outcome = self._outcome(effect, Fate.DONE)
                subject = self._remember(subject, effect, outcome)
        message = f"recovery was not quiet: {called[-8:]}"
        raise AssertionError(message)

    def heal(self) -> None:
        """Let everything be readable again, and nobody want the deploy to end."""
        self.signs.clear()
        self.intent = Intent.RUNNING

    def serving(self) -> str:
        """Return the ID of the container that serves: it runs, and is routed, or ACTIVE names it and wants no route; else ""."""
        up = [each for each in self.bodies.values() if each.status is Status.RUNNING]
        if self.active is not None and not self.active.published:
            return next((each.container_id for each in up if each.container_id == self.active.container_id), "")
        return next((each.container_id for each in up if self.route and set(self.route) == set(each.binds())), "")

    @property
    def clock(self) -> Clock:
        """Return now."""
        return Clock(self.boot_s, 1796022000.0 + self.boot_s, "boot-1")

    @property
    def own_id(self) -> str:
        """Return the container that the present deploy made, "" for none."""
        made_by = f"deploy-{self.deploys}"
        return next((each.container_id for each in self.bodies.values() if each.made_by == made_by), "")

    # --- looks -----------------------------------------------------------------------------------------------------------

    def look(self, deployment: Deployment) -> Deployment:
        """Return the deployment as it is seen now."""
        own_id = deployment.own_id or ("" if Event.UNLISTED in self.signs else self.own_id)
        named = self.bodies.get(self.active.container_id) if self.active is not None else None
        looked = evolve(
            deployment,
            clock=self.clock,
            image=CHECKED if self.has_check else IMAGE,
            changed=(None if named is None else () if named.blueprint == self.wanted else ("image",)),
            own=self._seen(own_id) if own_id else None,
            own_id=own_id,
            journalled=own_id in self.journal,
            taken_names=() if Event.UNLISTED in self.signs else tuple(each.name for each in self.bodies.values()),
            unlisted=SILENT if Event.UNLISTED in self.signs else "",
            cancelled="by hand" if Event.CANCELLED in self.signs else "",
        )
        return with_results(looked, self._subject((), own_id))

    def _subject(self, results: tuple[Result, ...], own_id: str = "", *, of_deploys: bool = True) -> Subject:
        active = self.active
        subject = Subject(
            "shop",
            "web",
            self._seen(active.container_id) if active is not None else Unread("ACTIVE names no container"),
            active,
            intent=self.intent,
            route=RouteUnread(SILENT) if Event.DEAF in self.signs else RouteSeen(self.route),
            memory=self.memories.get(active.container_id, NOTHING) if active is not None else NOTHING,
            unproven=self.unproven,
            superseded=tuple(evolve(each, seen=self._seen(each.container_id)) for each in self.markers.values()),
            candidates=tuple(self._candidate(each) for each in self._left(own_id, of_deploys=of_deploys)),
            results=results,
        )
        looked = saw(subject, self.clock)
        self._keep(looked)
        return looked

    def _left(self, own_id: str, *, of_deploys: bool) -> list[str]:
        named = [each.container_id for each in self.bodies.values() if of_deploys and Event.UNLISTED not in self.signs]
        known = {*self.markers, self.active.container_id if self.active is not None else ""}
        return sorted(({*named} - known | self.journal) - {own_id})

    def _candidate(self, container_id: str) -> Candidate:
        body = self.bodies.get(container_id)
        return Candidate(
            container_id,
            self._seen(container_id),
            NamedAs.CANONICAL if body is not None and body.name == CANONICAL else NamedAs.TEMPORARY,
            owned=True,
            journalled=container_id in self.journal,
            exclusive=not self.wanted.overlaps,
        )

    def _seen(self, container_id: str) -> Seen:
        if Event.MUTE in self.signs:
            return Unread(SILENT)
        body = self.bodies.get(container_id)
        return body.look(self.boot_s) if body is not None else Gone()

    def _keep(self, subject: Subject) -> None:
        if subject.declared is not None:
            self.memories[subject.declared.container_id] = subject.memory
        self.unproven = subject.unproven

    def _remember(self, subject: Subject, effect: Effect, outcome: Outcome) -> Subject:
        after = did(subject, effect, outcome, self.clock)
        self._keep(after)
        return after

    # --- what happens ----------------------------------------------------------------------------------------------------

    def _happen(self, event: Event | None) -> None:
        match event:
            case None:
                return
            case Event.CANDIDATE_DIES:
                self._end(self.bodies.get(self.own_id))
            case Event.OLD_DIES:
                self._end(self.bodies.get("old"))
            case Event.SICKENS if self.own_id and self.has_check:
                self.bodies[self.own_id].health = HealthStatus.UNHEALTHY
            case Event.HEARS:
                self.signs.discard(Event.DEAF)
            case Event.SPEAKS:
                self.signs.discard(Event.MUTE)
            case Event.LATE:
                self.boot_s += 1_800.0
            case Event.SHUT:
                self.intent = Intent.STOPPED
            case _:
                self.signs.add(event)

    def _end(self, body: Body | None) -> None:
        if body is not None and body.status in UP:
            body.status = Status.EXITED

    def _start(self, body: Body) -> None:
        self._starts += 1
        self._ports += 1
        fixed = [each.host_port for each in body.blueprint.ports if each.host_port]
        body.status, body.started_at = Status.RUNNING, f"start {self._starts}"
        body.bound = fixed[0] if fixed else self._ports
        body.health = HealthStatus.STARTING if self.has_check else HealthStatus.NONE
        self._judge_overlap()

    # --- steps -----------------------------------------------------------------------------------------------------------

    def _take(self, deployment: Deployment, step: DeployStep, fate: Fate) -> Deployment:
        outcome = self._outcome(step, fate)
        self.boot_s += 0.5
        self.taken.append((step, outcome))
        if isinstance(step, GiveUp):
            deployment = evolve(deployment, dossier=Dossier(deployment.own))
        if not isinstance(step, DeployEffect):
            self._remember(deployment.subject, step, outcome)
        return took(deployment, step, outcome)

    def _outcome(self, step: DeployStep, fate: Fate) -> Outcome:
        self._judge(step)
        if fate in _FAULTS and not isinstance(step, GiveUp):
            return Refused(fate.value, _FAULTS[fate])
        if fate is Fate.LOST and not isinstance(step, GiveUp):
            return Unknown(SILENT)
        outcome = self._deploy_step(step) if isinstance(step, DeployEffect) else self._recovery_step(step)
        return Unknown(SILENT) if fate is Fate.UNHEARD and outcome == DONE else outcome

    def _deploy_step(self, step: DeployEffect) -> Outcome:
        match step:
            case Create(name):
                container_id = f"new-{self.deploys}"
                self.bodies[container_id] = Body(container_id, name, f"deploy-{self.deploys}", self.wanted)
            case Journal(container_id):
                self.journal.add(container_id)
            case StartCandidate(container_id):
                self._start(self.bodies[container_id])
            case Activate():
                return self._activate(step)
            case Rename(container_id, name):
                self.bodies[container_id].name = name
            case AwaitRunning(container_id):
                return self._answer(container_id, self._started(container_id))
            case Delay(generation, started_at) | Watch(generation, started_at):
                return self._answer(generation.container_id, started_at)
            case Pull() | Unroute() | GiveUp():
                pass
        return DONE

    def _activate(self, step: Activate) -> Outcome:
        held = self.active.revision if self.active is not None else 0
        expected = step.former.revision if step.former is not None else 0
        if held != expected:
            return Refused("another revision is there", Fault.CONFLICT)
        assert step.declared.revision == held + 1
        self.active = step.declared
        self.journal.discard(step.declared.container_id)
        if step.superseded is not None:
            self.markers[step.superseded.container_id] = step.superseded
        self.markers.pop(step.declared.container_id, None)
        if step.verified is not None:
            known = self.memories.get(step.declared.container_id, NOTHING)
            self.memories[step.declared.container_id] = evolve(known, verified=step.verified)
        return DONE

    def _recovery_step(self, step: Effect) -> Outcome:  # noqa: C901, PLR0912 - an arm for each kind of effect
        match step:
            case Withdraw() if Event.DEAF in self.signs:
                return Unknown(SILENT)
            case Withdraw():
                self.route = ()
            case Publish():
                self.route = step.binds
            case Start() | Restart():
                self._start(self.bodies[step.generation.container_id])
            case Stop():
                self._end(self.bodies.get(step.generation.container_id))
            case Retire() | StopCandidate():
                self._end(self.bodies.get(step.container_id))
            case Remove() | RemoveCandidate():
                self.bodies.pop(step.container_id, None)
            case Probe() | AwaitHealth():
                return self._asked(step)
            case PersistBinds() | ReleaseBinds():
                assert self.active is not None
                self.active = evolve(self.active, binds=step.binds if isinstance(step, PersistBinds) else ())
            case DropMarker():
                self.markers.pop(step.container_id, None)
            case ReleaseClaims():
                self.markers[step.container_id] = evolve(self.markers[step.container_id], binds=())
            case DropCandidate():
                self.journal.discard(step.container_id)
            case _:
                pass  # the fold remembers what is only written down
        return DONE

    def _asked(self, step: Probe | AwaitHealth) -> Outcome:
        body = self.bodies.get(step.generation.container_id)
        if body is not None and isinstance(step, AwaitHealth) and body.health is HealthStatus.STARTING:
            body.health = HealthStatus.HEALTHY
        return self._answer(step.generation.container_id, step.started_at)

    def _started(self, container_id: str) -> str:
        body = self.bodies.get(container_id)
        return body.started_at if body is not None else ""

    def _answer(self, container_id: str, started_at: str) -> Outcome:
        body = self.bodies.get(container_id)
        runs_on = body is not None and body.status is Status.RUNNING and body.started_at == started_at
        return DONE if runs_on else Refused("it ended", Fault.WORKLOAD)

    # --- what must never be ----------------------------------------------------------------------------------------------

    def _judge(self, step: DeployStep) -> None:
        match step:
            case StartCandidate(container_id):
                assert container_id in self.journal, "a candidate starts that the journal does not know"
            case StopCandidate() | RemoveCandidate():
                self._judge_removal(step.container_id)
            case Retire() | Remove():
                self._judge_removal(step.container_id)
            case Stop() if self.intent is Intent.RUNNING:
                assert not self.wanted.overlaps, "the old container is stopped although both may run at once"
                assert not self._is_routed(step.generation.container_id), "it is stopped while it is routed"
            case Start() | Restart():
                assert not self._is_routed(step.generation.container_id), "it is started while it is routed"
            case Publish():
                body = self.bodies[step.generation.container_id]
                assert self.active is not None
                assert self.active.container_id == body.container_id, "what is published is not in ACTIVE"
            case _:
                pass

    def _judge_removal(self, container_id: str) -> None:
        """C2."""
        assert self.active is None or container_id != self.active.container_id, "what ACTIVE names is removed"
        assert not self._is_routed(container_id), "what is routed is removed"

    def _is_routed(self, container_id: str) -> bool:
        body = self.bodies.get(container_id)
        return body is not None and body.status in UP and any(each in body.binds() for each in self.route)

    def _judge_overlap(self) -> None:
        running = [each.container_id for each in self.bodies.values() if each.status in UP and not each.blueprint.overlaps]
        assert len(running) <= 1, f"{' and '.join(running)} run at once"


_FAULTS = {
    Fate.WORKLOAD: Fault.WORKLOAD,
    Fate.ENGINE: Fault.ENGINE,
    Fate.STORE: Fault.STORE,
    Fate.ROUTER: Fault.ROUTER,
    Fate.CONFLICT: Fault.CONFLICT,
    Fate.REGISTRY: Fault.REGISTRY,
}


def _verified(subject: Subject) -> Verified:
    return Verified(evidence.started_at(subject), evidence.present_binds(subject), 1)
