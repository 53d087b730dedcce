"""Liveness (L1 to L5), judged once faults have stopped; and what a pass without faults must leave of P1 and P10."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, evolve, field

from gordon_core.observation import HealthStatus, Status
from gordon_core.policy import WhenUnhealthy
from gordon_core.snapshot import Declared, Intent
from gordon_shell.ports import Details
from properties.boxes import Box, Mood, Nature
from properties.notes import DOWN, binds_of, is_published
from properties.tuned import is_done, may_be_held, policy_of

if TYPE_CHECKING:
    from gordon_core.observation import Bind
    from gordon_shell.ports import Service, Stored
    from properties.voyage import Voyage

CADENCE_S = 60.0
_TOP_S = 900.0
_MOST_COMMANDS, _MOST_TO_ONE = 60, 8


@define(eq=False)
class Calm:
    """The quiet end of a voyage."""

    voyage: Voyage
    attempts: dict[str, int] = field(factory=dict)
    down_since_s: dict[str, float] = field(factory=dict)

    def check(self) -> None:
        """Judge the first pass, then fifteen minutes, then a world in which every workload is well. Raise Violated."""
        self.one_pass(is_first=True)
        for _pass in range(int(_TOP_S / CADENCE_S) + 3):
            self.voyage.world.pass_time(CADENCE_S)
            self.one_pass()
        self.heal()
        for _pass in range(int((_TOP_S + 660.0) / CADENCE_S)):
            self.voyage.world.pass_time(CADENCE_S)
            self.one_pass()
        self.is_left_alone()

    def _demand(self, invariant: str, holds: object, wrong: str) -> None:
        self.voyage.court.demand(invariant, holds, wrong)

    def one_pass(self, *, is_first: bool = False) -> None:
        """Run a pass without faults, and judge what it leaves."""
        world, before = self.voyage.world, self._serving()
        happened, starts = world.happened, {each.container_id: each.starts for each in world.boxes.values()}
        self._note_down()
        marked = {(each.app, each.service) for each in world.disk.read() if each.markers}
        most = max(_MOST_COMMANDS, _MOST_TO_ONE * sum(1 + len(each.markers) for each in world.disk.read()))
        report = self.voyage.rough_pass()
        assert report is not None
        commands = self.voyage.court.notes(self.voyage.program.name).commands
        self._demand("L5", len(commands) <= most, f"one pass needs {len(commands)} commands: {commands}")
        self._demand("L5", report.plan.is_quiet, f"the pass does not reach quiet: {report.plan.effects}")
        self._are_attempted(starts)
        for service, box in before.items():
            if box.status is Status.RUNNING and box.starts == starts.get(box.container_id):
                self._is_routed(service, box)
        self._are_stopped()
        self._are_sidelined()
        self._are_retired(marked)
        if happened == world.happened:
            self._routes_are_right()
        del is_first

    # --- what there is -----------------------------------------------------------------------------------------------

    def _wanted(self) -> list[tuple[Service, Stored, Declared]]:
        return [
            ((each.app, each.service), each, each.declared)
            for each in self.voyage.world.disk.read()
            if each.declared is not None and each.intent is Intent.RUNNING and not each.inhibited
        ]

    def _serving(self) -> dict[Service, Box]:
        """Return the running, ready, healthy containers of wanted services."""
        world = self.voyage.world
        found = {}
        for service, _, declared in self._wanted():
            box = world.boxes.get(declared.container_id)
            if box is not None and self._is_well(box, declared):
                found[service] = box
        return found

    def _is_well(self, box: Box, declared: Declared) -> bool:
        now_s = self.voyage.world.at_s
        healthy = box.health(now_s).status in {HealthStatus.NONE, HealthStatus.HEALTHY}
        return box.answers(now_s) and healthy and len(binds_of(declared, box.ports)) == len(declared.ports)

    # --- L1 to L4 ----------------------------------------------------------------------------------------------------

    def _note_down(self) -> None:
        for _, _, declared in self._wanted():
            box = self.voyage.world.boxes.get(declared.container_id)
            if box is None or box.status not in DOWN or self._lacks_a_grant(box) or self._is_let_alone(declared, box):
                self.down_since_s.pop(declared.container_id, None)
            else:
                self.down_since_s.setdefault(declared.container_id, self.voyage.world.at_s)

    def _is_let_alone(self, declared: Declared, box: Box) -> bool:
        """Tell whether somebody holds it, or it is done."""
        clock = self.voyage.world.clock()
        found = (each for each in self.voyage.world.disk.read() if each.declared == declared)
        return any(may_be_held(each, clock) or is_done(each, box.details(0.0).container, each.memory) for each in found)

    def _lacks_a_grant(self, box: Box) -> bool:
        granted = () if self.voyage.world.policy_is_broken else self.voyage.world.granted
        return granted is not None and not set(box.devices) <= set(granted)

    def _are_attempted(self, starts: dict[str, int]) -> None:
        """L1: whatever is down is attempted again, never later than fifteen minutes and one cadence."""
        attempts = self.voyage.court.notes(self.voyage.program.name).attempts
        for name in list(self.down_since_s):
            if name in attempts or name not in starts:
                del self.down_since_s[name]
                continue
            waited_s = self.voyage.world.at_s - self.down_since_s[name]
            late = waited_s > _TOP_S + 2 * CADENCE_S
            self._demand("L1", not late, f"{name} has been down for {waited_s:.0f} s without an attempt")

    def _is_routed(self, service: Service, box: Box) -> None:
        """L2: a running, ready, published service is routed at the end of the pass."""
        stored = self.voyage.world.disk.read_service(*service)
        assert stored is not None
        assert stored.declared is not None
        if not is_published(stored.declared) or not self._is_well(box, stored.declared):
            return
        carried = {each for each in binds_of(stored.declared, box.ports) if each.port.protocol in self.voyage.world.carries}
        route = set(self.voyage.world.routes.get(service, ()))
        self._demand("L2", route == carried, f"{box.container_id} runs and is ready, and is routed to {route}, not {carried}")

    def _are_stopped(self) -> None:
        """L3: a stopped app is stopped and withdrawn."""
        for stored in self.voyage.world.disk.read():
            if stored.declared is None or stored.intent is Intent.RUNNING or may_be_held(stored, self.voyage.world.clock()):
                continue
            box = self.voyage.world.boxes.get(stored.declared.container_id)
            alive = box is not None and (box.is_alive or box.status is Status.RESTARTING)
            self._demand("L3", not alive, f"{stored.declared.container_id} is to be stopped, and runs")
            routed = (stored.app, stored.service) in self.voyage.world.routes
            self._demand("L3", not routed, f"{stored.app}/{stored.service} is to be stopped, and is routed")

    def _are_sidelined(self) -> None:
        """T3: what is unhealthy at the threshold, and only to be withdrawn for that, is not routed."""
        for service, stored, declared in self._wanted():
            strikes, look = stored.memory.strikes, self.voyage.court.notes(self.voyage.program.name).look(declared.container_id)
            if not isinstance(look, Details) or policy_of(stored).unhealthy is WhenUnhealthy.RESTART:
                continue
            sick = look.container.status is Status.RUNNING and look.container.health.status is HealthStatus.UNHEALTHY
            if sick and strikes is not None and strikes.started_at == look.container.started_at and strikes.count >= 2:
                routed = {each.host_port for each in self.voyage.world.routes.get(service, ())}
                own = {each.host_port for each in look.container.ports}
                self._demand("T3", not routed & own, f"{declared.container_id} is unhealthy, and routed still")

    def _are_retired(self, marked: set[Service]) -> None:
        """L4: a superseded container is gone once its successor serves."""
        serving = self._serving()
        for stored in self.voyage.world.disk.read():
            service, declared = (stored.app, stored.service), stored.declared
            if (
                declared is None
                or service not in serving
                or service not in marked
                or may_be_held(stored, self.voyage.world.clock())
            ):
                continue
            box = serving[service]
            routed = {each.host_port for each in self.voyage.world.routes.get(service, ())}
            own = {each.host_port for each in box.ports}
            present = binds_of(declared, box.ports)
            verified = self.voyage.court.verified.has(box.container_id, box.started_at, declared.revision, present)
            if verified and (not is_published(declared) or (routed and routed <= own)):
                left = [each.container_id for each in stored.markers]
                self._demand("L4", not left, f"{box.container_id} serves, and {left} is not gone")

    # --- P1 and P10 after a pass without faults --------------------------------------------------------------------------

    def _routes_are_right(self) -> None:
        world = self.voyage.world
        for service, binds in world.routes.items():
            stored = world.disk.read_service(*service)
            named = [] if stored is None else [each.container_id for each in stored.markers]
            if stored is not None and stored.declared is not None:
                named.append(stored.declared.container_id)
            for bind in binds:
                box = world.holder(bind.host_port, bind.port.protocol)
                held = box is not None and box.container_id in named
                self._demand("P10", box is None or held, f"{service} is routed to {bind}, which {box and box.container_id} holds")
                well = box is not None and self._is_verified(box, bind, stored)
                self._demand("P1", well, f"{service} is routed to {bind}, where no verified execution runs")

    def _is_verified(self, box: Box, bind: Bind, stored: Stored | None) -> bool:
        """Tell whether its execution answered there: what ACTIVE names as this revision, at all of the binds that it has."""
        declared = stored.declared if stored is not None else None
        if declared is None or declared.container_id != box.container_id:
            return self.voyage.court.verified.has_bind(box.container_id, box.started_at, bind)
        present = binds_of(declared, box.ports)
        return self.voyage.court.verified.has(box.container_id, box.started_at, declared.revision, present)

    # --- L5 ----------------------------------------------------------------------------------------------------------

    def heal(self) -> None:
        """Let every workload be a kind one from now on."""
        self.voyage.world.tell("every workload is well, and granted what it needs, from now on")
        self.voyage.world.granted, self.voyage.world.policy_is_broken = None, False
        for box in list(self.voyage.world.boxes.values()):
            box.nature = Nature.KIND
            if box.is_alive and len(box.ports) == len(box.publishes):
                box.status = Status.RUNNING
                box.mood = evolve(box.mood, answers_after_s=0.0, checks=Mood().checks, dies_after_s=None, flaps=False)
            elif box.is_alive:
                self.voyage.world.die(box.container_id)

    def is_left_alone(self) -> None:
        """Demand that a converged world gets no command, also right after this program was killed and started again."""
        waits = [declared.container_id for _, _, declared in self._wanted() if self._is_kept_down(declared)]
        if waits:
            return
        for _, _, declared in self._wanted():
            box = self.voyage.world.boxes.get(declared.container_id)
            up = box is None or box.status is Status.RUNNING or self._is_let_alone(declared, box)
            self._demand("L1", up, f"{declared.container_id} is well, and does not run after twenty minutes")
        for born in (False, False, True, False):
            if born:
                self.voyage.program.die()
                self.voyage.program = self.voyage.give_birth()
            self.voyage.world.pass_time(CADENCE_S)
            self.voyage.rough_pass()
            commands = self._commands_to_the_wanted()
            self._demand("L5", not commands, f"a converged world gets {commands}")

    def _commands_to_the_wanted(self) -> list[str]:
        """Return the commands of the last pass, but for what is remembered of inhibited containers, which prove nothing."""
        inhibited = {
            each.declared.container_id for each in self.voyage.world.disk.read() if each.declared is not None and each.inhibited
        }
        commands = self.voyage.court.notes(self.voyage.program.name).commands
        return [each for each in commands if not any(each.startswith(f"remember of {name}:") for name in inhibited)]

    def _is_kept_down(self, declared: Declared) -> bool:
        """Tell whether it cannot start: another container holds a port that it must have."""
        box = self.voyage.world.boxes.get(declared.container_id)
        if box is None or box.is_alive:
            return False
        holders = (self.voyage.world.holder(fixed, port.protocol) for port, fixed in box.publishes if fixed)
        return any(each is not None and each is not box for each in holders)
