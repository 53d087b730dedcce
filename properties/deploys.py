"""The deploy tool and the operator of the simulated world: they change what is wanted, under the app's lock and never without it.

A deploy goes on for a while beside the passes: it makes a container, starts it, waits for it, activates it together with the
marker of its predecessor, records the execution that it verified, and routes it. It can be killed after each of these.
"""

from collections.abc import Callable, Iterator
from random import Random

from attrs import define, evolve, field

from gordon_core.effects import Generation
from gordon_core.grants import Overrides
from gordon_core.memory import Memory, Verified
from gordon_core.observation import Binds, Port, Protocol
from gordon_core.policy import DEFAULT_POLICY, Policy
from gordon_core.snapshot import Declared, Hold, Intent
from gordon_shell.ports import Marker, Service, Stored
from properties.boxes import Box, Nature
from properties.judges import Court
from properties.notes import binds_of
from properties.tuned import policy_drawn
from properties.world import World

DEVICE = "/dev/kvm"
HTTP, UDP = Port(80), Port(53, Protocol.UDP)
_TOOL, _OPERATOR = "the deploy tool", "the operator"
_DEVICES, _TURNS, _ENDS_WELL = 0.15, 0.2, 0.5
NATURES = (
    Nature.KIND, Nature.KIND, Nature.KIND, Nature.FLAKY, Nature.FLAKY, Nature.LOOPER, Nature.UNREADY, Nature.SLOW,
    Nature.PORTLESS, Nature.REFUSER, Nature.ILL, Nature.FLAPPER,
)  # fmt: skip


@define(eq=False)
class DeployTool:
    """Deploys, and does what an operator does. `killed_often` is how likely a deploy ends before each of its steps.

    `tuned`: services have policies of their own, and some containers end with exit code 0.
    """

    world: World
    court: Court
    killed_often: float = 0.05
    policy: Policy = DEFAULT_POLICY
    tuned: bool = False
    made: dict[str, int] = field(factory=dict)

    # --- making containers -------------------------------------------------------------------------------------------

    def box(self, service: Service, chance: Random, nature: Nature | None = None) -> Box:
        """Make a container for a service."""
        number = self.made[service[1]] = self.made.get(service[1], 0) + 1
        ports = chance.choice([(HTTP,), (HTTP,), (HTTP,), (HTTP, Port(443)), (HTTP, UDP), ()])
        fixed = 8000 + 10 * (sum(map(ord, "".join(service))) % 50) if chance.random() < 0.2 else 0
        publishes = tuple((port, fixed and fixed + index) for index, port in enumerate(ports))
        box = self.world.create(f"{service[1]}-{number}", nature or chance.choice(NATURES), publishes)
        box.has_check = box.nature in {Nature.ILL, Nature.FLAPPER} or chance.random() < 0.3
        box.restarts_itself = chance.random() < 0.2
        box.devices = (DEVICE,) if Random(f"devices of {box.container_id} {self.world.seed}").random() < _DEVICES else ()
        box.host_ip = chance.choice(["127.0.0.1", "127.0.0.1", "0.0.0.0", "::"])  # noqa: S104 - simulated
        box.stops_in_s = chance.choice([0.0, 0.0, 3.0, 30.0])
        box.ends_well = self.tuned and Random(f"end of {box.container_id} {self.world.seed}").random() < _ENDS_WELL
        return box

    def declared(self, box: Box, revision: int, chance: Random) -> Declared:
        """Return what ACTIVE would say of a container."""
        ports = tuple(port for port, _ in box.publishes)
        published = chance.random() < 0.85
        grace_s = chance.choice([0.0, 10.0])
        policy = policy_drawn(box.container_id.partition("-")[0], self.world.seed) if self.tuned else self.policy
        return Declared(box.container_id, revision, ports, (), grace_s, published, policy=policy)

    def adopt(self, service: Service, chance: Random, nature: Nature | None = None) -> Box:
        """Name a container in ACTIVE at once, started and, if that goes well, verified and routed: a settled service."""
        box = self.box(service, chance, nature)
        self.world.start(box.container_id)
        stored = self.world.disk.read_service(*service)
        held = stored.declared.revision if stored is not None and stored.declared is not None else 0
        declared = self.declared(box, held + 1, chance)
        if box.answers(self.world.at_s) and not box.has_check:
            declared = evolve(declared, binds=binds_of(declared, box.ports))
        self.world.disk.activate(*service, declared, held, None)
        if declared.binds or not declared.ports:
            self._record_and_route(service, declared, box)
        return box

    # --- deploys -----------------------------------------------------------------------------------------------------

    def deploy(self, service: Service, chance: Random) -> None:
        """Replace what is deployed, if the app's lock is free, over some time."""
        if service[0] not in self.world.locks:
            self.world.locks[service[0]] = _TOOL
            self.world.tell("a deploy of {} begins", service)
            self._go_on(service[0], self._deploying(service, chance), chance)

    def _go_on(self, app: str, steps: Iterator[float], chance: Random) -> None:
        wait_s = next(steps, None)
        if wait_s is None or chance.random() < self.killed_often:
            self.world.tell("the deploy of {} {}", app, "ends" if wait_s is None else "is killed")
            del self.world.locks[app]
            return
        self.world.later(wait_s, lambda: self._go_on(app, steps, chance))

    def _deploying(self, service: Service, chance: Random) -> Iterator[float]:
        stored = self.world.disk.read_service(*service)
        before = stored.declared if stored is not None else None
        choice = chance.random()
        if before is not None and choice < 0.15:
            yield from self._again(service, before, chance)
        elif stored is not None and before is not None and stored.markers and choice < 0.4:
            yield from self._roll_back(service, stored, before, chance)
        else:
            yield from self._replace(service, before, chance)

    def _again(self, service: Service, before: Declared, chance: Random) -> Iterator[float]:
        """A new revision of the same container, which may be one that is published no more, or from now on."""
        yield chance.choice([0.01, 1.0])
        turned = Random(f"{before.container_id} at {before.revision}").random() < _TURNS
        published = before.published is not turned
        after = evolve(before, revision=before.revision + 1, stop_grace_s=chance.choice([0.0, 10.0]), published=published)
        self.world.disk.activate(*service, after, before.revision, None)
        self.world.tell("{} is at revision {}", service, after.revision)
        yield 0.01
        box = self.world.boxes.get(before.container_id)
        if box is not None and box.answers(self.world.at_s) and not box.has_check and chance.random() < 0.7:
            self._verify(service, after, box)

    def _roll_back(self, service: Service, stored: Stored, before: Declared, chance: Random) -> Iterator[float]:
        """Name the superseded container in ACTIVE again, while its marker is still there."""
        yield chance.choice([0.01, 2.0])
        old = chance.choice(stored.markers)
        box = self.world.boxes.get(old.container_id)
        if box is not None and old.container_id != before.container_id:
            after = self.declared(box, before.revision + 1, chance)
            self.world.disk.activate(*service, after, before.revision, self._marker(service, before))
            self.world.tell("{} is rolled back to {}", service, old.container_id)

    def _replace(self, service: Service, before: Declared | None, chance: Random) -> Iterator[float]:
        box = self.box(service, chance)
        yield 0.01
        self.world.start(box.container_id)
        yield chance.choice([0.1, 2.0, 20.0])
        ready = box.answers(self.world.at_s) and not box.has_check
        if not ready and chance.random() < 0.5:
            self.world.remove(box.container_id, by_force=True)
            return
        held = before.revision if before is not None else 0
        after = self.declared(box, held + 1, chance)
        if ready:
            after = evolve(after, binds=binds_of(after, box.ports))
        marker = self._marker(service, before) if before is not None else None
        self.world.disk.activate(*service, after, held, marker)
        self.world.tell("ACTIVE names {} for {} at revision {}", box.container_id, service, after.revision)
        yield chance.choice([0.001, 0.5])
        if ready and box.answers(self.world.at_s) and binds_of(after, box.ports) == after.binds:
            self._verify(service, after, box)
            yield chance.choice([0.001, 0.5])
            self._route(service, after)

    def activate_only(self, service: Service, chance: Random) -> None:
        """Be a deploy that was killed right after it activated a good successor: what is left to do is recovery's."""
        if service[0] in self.world.locks:
            return
        stored = self.world.disk.read_service(*service)
        before = stored.declared if stored is not None else None
        box = self.box(service, chance, Nature.KIND)
        self.world.start(box.container_id)
        held = before.revision if before is not None else 0
        marker = self._marker(service, before) if before is not None else None
        self.world.disk.activate(*service, self.declared(box, held + 1, chance), held, marker)
        self.world.tell("ACTIVE names {} for {}, and the deploy tool is killed", box.container_id, service)

    def switch(self, service: Service, chance: Random) -> None:
        """Be a deploy that was killed when its good successor was verified and routed, and the old one is still to go."""
        stored = self.world.disk.read_service(*service)
        before = stored.declared if stored is not None else None
        if service[0] in self.world.locks or before is None:
            return
        marker = self._marker(service, before)
        self.adopt(service, chance, Nature.KIND)
        self.world.disk.mark(*service, marker)
        self.world.tell("{} is superseded, and the deploy tool is killed", before.container_id)

    def _marker(self, service: Service, before: Declared) -> Marker:
        stored = self.world.disk.read_service(*service)
        verified = stored.memory.verified if stored is not None else None
        return Marker(before.container_id, before.stop_grace_s, before.binds, verified)

    def _record_and_route(self, service: Service, declared: Declared, box: Box) -> None:
        self._verify(service, declared, box)
        self._route(service, declared)

    def _verify(self, service: Service, declared: Declared, box: Box) -> None:
        """Record the execution that was just verified, as `recorded` of the embedding interface does."""
        if not box.answers(self.world.at_s) or binds_of(declared, box.ports) != declared.binds:
            return
        stored = self.world.disk.read_service(*service)
        memory = stored.memory if stored is not None else Memory()
        verified = Verified(box.started_at, declared.binds, declared.revision)
        self.world.disk.save_memory(*service, box.container_id, evolve(memory, verified=verified))
        self.court.verified.add(box.container_id, box.started_at, declared.revision, declared.binds)
        self.world.tell("{} is recorded as verified: {}", box.container_id, box.started_at)

    def _route(self, service: Service, declared: Declared) -> None:
        carried: Binds = tuple(each for each in declared.binds if each.port.protocol in self.world.carries)
        if declared.published and carried:
            self.world.routes[service] = carried
            self.world.tell("the deploy tool routes {} to {}", service, [each.host_port for each in carried])

    def remove(self, service: Service, chance: Random) -> None:
        """Take a service out of ACTIVE, with or without a marker for its container."""

        def act() -> None:
            stored = self.world.disk.read_service(*service)
            if stored is not None and stored.declared is not None:
                before = stored.declared
                if chance.random() < 0.6:
                    self.world.disk.mark(*service, self._marker(service, before))
                self.world.disk.deactivate(Generation(*service, before.container_id, before.revision))
                self.world.tell("{} leaves ACTIVE", service)

        self._under_lock(service[0], _TOOL, act)

    # --- the operator ------------------------------------------------------------------------------------------------

    def intend(self, app: str, intent: Intent) -> None:
        """Wish that an app runs, or is stopped."""

        def act() -> None:
            self.world.disk.set_intent(app, intent)
            self.world.tell("{} is to be {}", app, intent.value)

        self._under_lock(app, _OPERATOR, act)

    def inhibit(self, service: Service, *, lift: bool) -> None:
        """Inhibit what is deployed, or allow it again."""

        def act() -> None:
            stored = self.world.disk.read_service(*service)
            if stored is not None and stored.declared is not None:
                named = stored.declared.container_id
                if lift:
                    self.world.disk.allow(*service, named)
                else:
                    self.world.disk.inhibit(*service, named, "the operator said so")
                self.world.tell("{} is {}", named, "allowed again" if lift else "inhibited")

        self._under_lock(service[0], _OPERATOR, act)

    def retry(self, service: Service) -> None:
        """Forget the history of a service, as `gordon-shell retry` does."""

        def act() -> None:
            stored = self.world.disk.read_service(*service)
            if stored is not None and stored.declared is not None:
                named = stored.declared.container_id
                kept = Memory(verified=stored.memory.verified, again=self.tuned)
                self.world.disk.save_memory(*service, named, kept)
                self.court.ledger.forgives((service, named))
                self.court.ledger.muddles((service, named))
                self.world.tell("the history of {} is forgotten by the operator", named)

        self._under_lock(service[0], _OPERATOR, act)

    def hold(self, service: Service, seconds: float | None) -> None:
        """Have a service left as it is for so long; None: release it."""

        def act() -> None:
            clock = self.world.clock()
            end = (
                None
                if seconds is None
                else Hold(clock.boot_s + seconds, clock.wall_s + seconds, clock.boot_id, "alice", "a test")
            )
            self.world.disk.set_hold(*service, end)
            self.world.tell("{} is {}", service, "released" if seconds is None else f"held for {seconds:.0f} s")

        self._under_lock(service[0], _OPERATOR, act)

    def tune(self, service: Service, tuning: Overrides) -> None:
        """Set constants of a service by command."""

        def act() -> None:
            self.world.disk.set_tuning(*service, tuning)
            self.world.tell("{} is tuned: {}", service, tuning)

        self._under_lock(service[0], _OPERATOR, act)

    def is_wanted(self, service: Service) -> bool:
        """Tell whether a service is in ACTIVE, to run, and not inhibited."""
        stored = self.world.disk.read_service(*service)
        return stored is not None and stored.declared is not None and stored.intent is Intent.RUNNING and not stored.inhibited

    def _under_lock(self, app: str, holder: str, act: Callable[[], None]) -> None:
        if app not in self.world.locks:
            self.world.locks[app] = holder
            act()
            del self.world.locks[app]
