"""The judges of publication (P1 to P10): asked before every single command, they know only what the program has read.

They keep their own book (`notes`, `proofs`) and never ask the planner. Each judgement is counted, so that a test can tell that
its invariant was put to the proof, and how often. F1 to F4 are rules of the spec without a name of their own:

F1 a container whose command is in flight gets no other from this program (nor is its service withdrawn, but for a foreign port);
F2 a service is started or restarted at most once in a pass;
F3 nothing is started or restarted that needs what the host does not grant;
F4 at the end of a pass, a withdrawal that is unproven is on record as that, or the store refused to write it.
"""

from collections.abc import Mapping

from attrs import define, evolve

from gordon_core.effects import Done, Generation, Outcome, Unknown
from gordon_core.memory import Memory
from gordon_core.observation import Binds, Gone, HealthStatus, Status
from gordon_core.policy import WhenUnhealthy
from gordon_core.snapshot import Intent
from gordon_shell.ports import Details, Marker, Service, Stored
from properties.bench import Bench, name_of
from properties.notes import DOWN, Notes, Role, binds_of, is_published, places_of
from properties.tuned import is_done, is_held, policy_of


@define(eq=False)
class Court(Bench):
    """All judges of one world."""

    # --- withdraw and publish ----------------------------------------------------------------------------------------

    def withdraws(self, program: str, service: Service) -> None:
        """It is about to withdraw: something must have been seen that calls for it."""
        notes = self.notes(program)
        wrong = self._keeps_traffic(notes, service)
        self.demand("P7", not wrong, f"it withdraws {name_of(service)}, although {wrong}")
        if not notes.foreign_ports(service):
            self._may_command(notes, service)

    def withdrew(self, program: str, service: Service, outcome: Outcome) -> None:
        """A withdrawal was answered."""
        self.notes(program).withdrew(service, outcome)
        if isinstance(outcome, Done):
            self.unproven.proven([service])
            self._are_proven(program, {service})
        else:
            self.unproven.failed(service, program)

    def unanswered(self, program: str, service: Service) -> None:
        """A withdrawal does not return, or its program is killed in it."""
        self.withdrew(program, service, Unknown("it has not come back"))

    def _keeps_traffic(self, notes: Notes, service: Service) -> str:
        """Return why this traffic must stay, or "" where something contradicts it."""
        stored = notes.stored.get(service)
        if (
            stored is None
            or stored.declared is None
            or service not in self.world.routes
            or stored.intent is Intent.STOPPED
            or stored.inhibited
            or notes.is_unproven(service)
            or notes.foreign_ports(service)
        ):
            return ""
        shown = notes.look(stored.declared.container_id)
        if shown is None:
            return "its container could not be read"
        if isinstance(shown, Gone) or shown.container.status is not Status.RUNNING:
            return ""
        if notes.rivals(service, stored.declared.container_id):
            return ""
        return self._serves_rightly(notes, stored, shown)

    def _serves_rightly(self, notes: Notes, stored: Stored, shown: Details) -> str:
        declared, service = stored.declared, (stored.app, stored.service)
        assert declared is not None
        present, known = binds_of(declared, shown.container.ports), notes.memories.get((service, declared.container_id))
        verified = known.verified if known is not None else None
        if verified is None or (verified.started_at, verified.binds, verified.revision) != (
            shown.container.started_at,
            present,
            declared.revision,
        ):
            return ""
        if self.ledger.is_sick(shown.container) or not is_published(declared):
            return ""
        route = (notes.routes or {}).get(service, ())
        right = set(present)
        for each in stored.markers:
            old = notes.look(each.container_id)
            is_same = old is None or (isinstance(old, Details) and self._is(old, each))
            right |= set(each.verified.binds) if each.verified is not None and is_same else set()
        return "it runs as its verified execution" if set(route) <= right else ""

    def _is(self, shown: Details, marker: Marker) -> bool:
        """Tell whether a superseded container runs as its verified execution, at the ports that it had then."""
        verified, container = marker.verified, shown.container
        if verified is None or container.status is not Status.RUNNING or container.started_at != verified.started_at:
            return False
        return places_of(verified.binds) <= {(each.host_port, each.port.protocol) for each in container.ports}

    def publishes(self, program: str, service: Service, binds: Binds) -> None:
        """It is about to publish: everything that a publication needs must have been seen in this pass."""
        notes, name = self.notes(program), name_of(service)
        self._may_command(notes, service)
        stored = notes.stored.get(service)
        self.demand("P6", stored is not None and stored.declared is not None, f"it publishes {name}, which ACTIVE does not name")
        assert stored is not None
        declared = stored.declared
        assert declared is not None
        self.demand("P6", stored.intent is Intent.RUNNING, f"it publishes {name}, which is to be stopped")
        self.demand("P6", not stored.inhibited, f"it publishes {name}, which is inhibited")
        self._is_proven(notes, service, f"it publishes {name}")
        self.demand("P7", notes.routes is not None, f"it publishes {name}, although the router could not be read")
        shown = notes.running(declared.container_id)
        self.demand("P1", shown is not None, f"it publishes {name}, which was not seen running")
        assert shown is not None
        present = binds_of(declared, shown.container.ports)
        carried = {each for each in present if each.port.protocol in notes.carries}
        self.demand("P1", set(binds) == carried and len(binds) == len(carried), f"it publishes {name} at {binds}, not {carried}")
        self.demand("P1", len(present) == len(declared.ports), f"it publishes {name} without all of its ports")
        self._was_ready(notes, "P1", declared.container_id, present, f"it publishes {name}")
        self.demand("P4", declared.binds == present, f"it publishes {name} at binds that are not on record")
        healthy = shown.container.health.status in {HealthStatus.NONE, HealthStatus.HEALTHY}
        self.demand("P1", healthy, f"it publishes {name}, which is not healthy")
        contested = self._contested_in_vain(notes, service, declared.container_id)
        self.demand("P10", not contested, f"it publishes {name} at a port of a route that could not be withdrawn")

    def _was_ready(self, notes: Notes, invariant: str, container_id: str, present: Binds, what: str) -> None:
        """Demand a readiness answer of the execution seen last at these binds, and a look after it, all in this pass."""
        look = notes.looks[container_id]
        shown = look.shown
        answers = [
            each
            for each in notes.probes
            if isinstance(shown, Details)
            and (each.container_id, each.started_at) == (container_id, shown.container.started_at)
            and each.binds == frozenset(present)
        ]
        self.demand(invariant, answers, f"{what} without a readiness answer of this execution at these binds in this pass")
        self.demand(invariant, isinstance(answers[-1].outcome, Done), f"{what}, which answered that it is not ready")
        self.demand(invariant, answers[-1].serial < look.serial, f"{what} without reading it again after its answer")

    def published(self, before: Mapping[Service, Binds], service: Service) -> None:
        """A publication was answered: no other route may have changed."""
        others = {each: binds for each, binds in self.world.routes.items() if each != service}
        kept = {each: binds for each, binds in before.items() if each != service}
        self.demand("P8", others == kept, f"publishing {name_of(service)} changed another route")

    # --- workloads ---------------------------------------------------------------------------------------------------

    def starts(self, program: str, container_id: str) -> None:
        """It is about to start a container."""
        notes = self.notes(program)
        service, stored = self._attempted(notes, container_id, "start")
        shown = notes.look(container_id)
        self.demand("P7", shown is not None, f"it starts {container_id}, which could not be read")
        down = isinstance(shown, Details) and shown.container.status in DOWN
        self.demand("P6", down, f"it starts {container_id}, which was not seen down")
        self._is_clear(notes, service, container_id, "start")
        self.ledger.attempts(notes, service, container_id, stored)

    def restarts(self, program: str, container_id: str) -> None:
        """It is about to restart a container."""
        notes = self.notes(program)
        service, stored = self._attempted(notes, container_id, "restart")
        shown = notes.running(container_id)
        self.demand("P7", shown is not None, f"it restarts {container_id}, which was not seen running")
        assert shown is not None
        kept = policy_of(stored).unhealthy is WhenUnhealthy.WITHDRAW
        self.demand("T3", not kept, f"it restarts {container_id}, which is only to be withdrawn")
        self.demand("B3", self.ledger.is_sick(shown.container), f"it restarts {container_id}, which was not seen unhealthy twice")
        self._is_clear(notes, service, container_id, "restart")
        self.ledger.attempts(notes, service, container_id, stored)

    def _attempted(self, notes: Notes, container_id: str, verb: str) -> tuple[Service, Stored]:
        named = notes.named(container_id)
        self.demand(
            "P6", named is not None and named[1] is Role.DECLARED, f"{verb} of {container_id}, which ACTIVE does not name"
        )
        assert named is not None
        service, stored = named[0], notes.stored[named[0]]
        self._may_command(notes, service)
        self.demand("P6", stored.intent is Intent.RUNNING, f"{verb} of {container_id}, which is to be stopped")
        self.demand("P6", not stored.inhibited, f"{verb} of {container_id}, which is inhibited")
        self._is_proven(notes, service, f"{verb} of {container_id}")
        self._is_free(notes, service, f"{verb} of {container_id}")
        self._is_granted(notes, container_id, verb)
        self.demand("F2", container_id not in notes.attempts, f"{verb} of {container_id}, a second time in one pass")
        notes.attempts[container_id] = None
        return service, stored

    def _is_granted(self, notes: Notes, container_id: str, verb: str) -> None:
        shown = notes.look(container_id)
        devices = shown.devices if isinstance(shown, Details) else ()
        if devices:
            lacking = [] if notes.granted is None else [each for each in devices if each not in notes.granted]
            self.demand("F3", not lacking, f"{verb} of {container_id}, to which the host does not grant {lacking}")

    def attempted(self, program: str, container_id: str, outcome: Outcome, *, landed: bool) -> None:
        """A start or restart was answered; `landed`: a new execution began."""
        notes = self.notes(program)
        notes.attempts[container_id] = outcome
        self.ledger.attempted(notes, container_id, outcome, landed=landed)

    def _is_proven(self, notes: Notes, service: Service, what: str) -> None:
        """Demand that no withdrawal is unproven, as far as this program can know, and whoever else tried one."""
        declared = notes.stored[service].declared
        published = declared is not None and is_published(declared)
        unproven = notes.is_unproven(service) or self.unproven.holds(service, published=published)
        self.demand("P3", not unproven, f"{what}, of which a withdrawal is unproven")

    def _is_clear(self, notes: Notes, service: Service, container_id: str, verb: str) -> None:
        """Demand the proof that nothing routes to a container before its workload is touched."""
        wrong = self._route_to(notes, service, container_id)
        self.demand("P2", not wrong, f"{verb} of {container_id}, although {wrong}")

    def _route_to(self, notes: Notes, service: Service, container_id: str) -> str:
        stored = notes.stored[service]
        if notes.routes is None:
            unrouted = service in notes.proven or stored.declared is None or not is_published(stored.declared)
            return "" if unrouted else "the router could not be read, and no withdrawal was read back"
        route = notes.routes.get(service, ())
        others = (each for each in notes.containers(service) if each != container_id)
        explained = {port.host_port for each in others if notes.look(each) is not None for port in notes.ports_of(each)}
        unread = {
            bind.host_port
            for each in stored.markers
            if each.container_id != container_id and each.verified is not None and notes.look(each.container_id) is None
            for bind in each.verified.binds
        }
        astray = [each for each in route if each.host_port not in explained | unread]
        return f"its route leads to {astray}" if astray else ""

    def stops(self, program: str, container_id: str) -> None:
        """It is about to stop a container: one to be stopped, one that is superseded, or one at a foreign route's port."""
        notes = self.notes(program)
        service, role = self._owned(notes, container_id, "stop")
        stored = notes.stored[service]
        self._is_free(notes, service, f"stop of {container_id}")
        if role is Role.SUPERSEDED:
            self._is_outlived(notes, service, "stop", container_id)
            self.demand("P2", not notes.is_unproven(service), f"it retires {container_id}, although a withdrawal is unproven")
            self._is_clear(notes, service, container_id, "retirement")
        elif stored.intent is Intent.STOPPED:
            tried = service in notes.withdrawals
            self.demand(
                "P2", tried or not self._route_to(notes, service, container_id), f"it stops {container_id} before its route"
            )
            self.demand("P7", notes.look(container_id) is not None, f"it stops {container_id}, which could not be read")
        else:
            contested = self._contested_in_vain(notes, service, container_id)
            self.demand("P6", contested, f"it stops {container_id}, which is to run")
            self._is_clear(notes, service, container_id, "stop")
            self.ledger.stopped((service, container_id))

    def _contested_in_vain(self, notes: Notes, service: Service, container_id: str) -> bool:
        """Tell whether another service's route names a port of this container, and could not be withdrawn in this pass."""
        rivals = notes.rivals(service, container_id)
        return any(other in notes.withdrawals and not isinstance(notes.withdrawals[other], Done) for other in rivals)

    def removes(self, program: str, container_id: str) -> None:
        """It is about to remove a container: a superseded one that was seen down."""
        notes = self.notes(program)
        service, role = self._owned(notes, container_id, "removal")
        self._is_free(notes, service, f"removal of {container_id}")
        self.demand("P6", role is Role.SUPERSEDED, f"it removes {container_id}, which ACTIVE names")
        shown = notes.look(container_id)
        down = isinstance(shown, Details) and shown.container.status in DOWN
        self.demand("P7", down, f"it removes {container_id}, which was not seen down")
        self._is_outlived(notes, service, "removal", container_id)
        self.demand("P2", not notes.is_unproven(service), f"it removes {container_id}, although a withdrawal is unproven")
        self._is_clear(notes, service, container_id, "removal")

    def _owned(self, notes: Notes, container_id: str, verb: str) -> tuple[Service, Role]:
        named = notes.named(container_id)
        self.demand("P6", named is not None, f"{verb} of {container_id}, which neither ACTIVE nor a marker names")
        assert named is not None
        self._may_command(notes, named[0])
        return named

    def _is_outlived(self, notes: Notes, service: Service, verb: str, container_id: str) -> None:
        """Demand that the successor was seen to serve, where one is wanted."""
        stored = notes.stored[service]
        self.demand("P7", notes.look(container_id) is not None, f"{verb} of {container_id}, which could not be read")
        declared = stored.declared
        if declared is None or stored.intent is Intent.STOPPED:
            return
        ended, memory = notes.look(declared.container_id), notes.memories.get((service, declared.container_id), Memory())
        if isinstance(ended, Details) and not is_published(declared) and is_done(stored, ended.container, memory):
            self.judged["P5"] += 1
            return
        shown, name = notes.running(declared.container_id), f"{verb} of {container_id}, although its successor"
        self.demand(
            "P5", shown is not None and notes.seen_in_this_pass(service, declared.container_id), f"{name} was not seen running"
        )
        assert shown is not None
        self.demand("P5", shown.container.health.status is not HealthStatus.UNHEALTHY, f"{name} is unhealthy")
        present = binds_of(declared, shown.container.ports)
        verified = self.verified.has(declared.container_id, shown.container.started_at, declared.revision, present)
        self.demand("P5", verified or not declared.ports, f"{name} was never verified")
        if is_published(declared):
            route = set((notes.routes or {}).get(service, ()))
            carried = {each for each in present if each.port.protocol in notes.carries}
            self.demand("P5", notes.routes is not None and route == carried, f"{name} is not routed")

    def _is_free(self, notes: Notes, service: Service, what: str) -> None:
        self.demand("T1", not is_held(notes.stored[service], self.world.clock()), f"{what}, whose service is on hold")

    def _may_command(self, notes: Notes, service: Service) -> None:
        self.demand("F1", name_of(service) not in notes.hung, f"a command to {name_of(service)}, whose last one is in flight")

    # --- the store ---------------------------------------------------------------------------------------------------

    def writes(self, program: str, app: str, what: str) -> None:
        """It is about to write what only the holder of the app's lock may write."""
        held = self.world.locks.get(app)
        self.demand("P9", held == program, f"{program} writes {what} of {app}, whose lock is held by {held or 'nobody'}")

    def persists(self, program: str, generation: Generation, binds: Binds) -> None:
        """It is about to put binds on record, or to release them."""
        notes, service = self.notes(program), (generation.app, generation.service)
        self.writes(program, generation.app, "binds")
        shown = notes.look(generation.container_id)
        if not binds:
            self.demand("P10", isinstance(shown, Gone), f"it releases the claims of {generation.container_id}, not seen gone")
            self._unnamed(notes, service, generation.container_id, notes.stored[service])
            return
        stored = notes.stored[service]
        running = notes.running(generation.container_id)
        self.demand("P4", running is not None, f"it persists binds of {generation.container_id}, not seen running")
        assert running is not None
        assert stored.declared is not None
        present = binds_of(stored.declared, running.container.ports)
        self.demand("P4", binds == present, f"it persists {binds} of {generation.container_id}, not {present}")
        self._was_ready(notes, "P4", generation.container_id, present, f"it persists binds of {generation.container_id}")

    def persisted(self, before: Stored | None, generation: Generation, binds: Binds) -> None:
        """Binds were put on record, or not: nothing else of ACTIVE may have changed, and another generation's not at all."""
        after = self.world.disk.read_service(generation.app, generation.service)
        was, now = (each.declared if each is not None else None for each in (before, after))
        mine = was is not None and (was.container_id, was.revision) == (generation.container_id, generation.revision)
        kept = now == was or (mine and was is not None and now == evolve(was, binds=binds))
        self.demand("P9", kept, f"persisting the binds of {generation} changed {was} to {now}")

    def releases(self, program: str, service: Service, container_id: str) -> None:
        """It is about to release the port claims of a marker."""
        notes = self.notes(program)
        self.writes(program, service[0], "markers")
        gone = isinstance(notes.look(container_id), Gone)
        self.demand("P10", gone, f"it releases the claims of {container_id}, which was not seen gone")
        self._unnamed(notes, service, container_id, notes.stored[service])

    def _unnamed(self, notes: Notes, service: Service, container_id: str, stored: Stored) -> None:
        """Demand that no route may name the claims of a container that is gone."""
        wrong = "a withdrawal is unproven" if notes.is_unproven(service) else self._route_to(notes, service, container_id)
        self.demand("P10", not wrong, f"it releases the claims of {container_id}, although {wrong}")
        claims = {each.host_port for marker in stored.markers if marker.container_id == container_id for each in marker.binds}
        own = {each.host_port for other in notes.containers(service) for each in notes.ports_of(other)}
        named = {each.host_port for each in (notes.routes or {}).get(service, ())}
        self.demand("P10", not (claims & named - own), f"it releases {claims} of {container_id}, which its route names")

    def drops_marker(self, program: str, service: Service, container_id: str) -> None:
        """It is about to drop a retirement marker: of a container that is gone, or that ACTIVE names."""
        notes = self.notes(program)
        self.writes(program, service[0], "markers")
        stored = notes.stored[service]
        reclaimed = stored.declared is not None and stored.declared.container_id == container_id
        done = reclaimed or isinstance(notes.look(container_id), Gone)
        self.demand("P5", done, f"it drops the marker of {container_id}, which is neither gone nor named by ACTIVE")

    def saves(self, program: str, key: tuple[Service, str], memory: Memory) -> None:
        """It is about to write what it remembers of a container."""
        self.writes(program, key[0][0], "memory")
        self.ledger.judge(self.notes(program), key, memory)

    def saved(self, program: str, key: tuple[Service, str], memory: Memory, outcome: Outcome) -> None:
        """Such a write was answered."""
        notes = self.notes(program)
        before, notes.memories[key] = notes.memories.get(key, Memory()), memory
        if isinstance(outcome, Done):
            notes.held.discard(key)
        else:
            notes.held.add(key)
            self.ledger.muddles(key)
        self.ledger.saved(notes, key, before, memory)

    def marks(self, program: str, service: Service) -> None:
        """It is about to write that a withdrawal is unproven, or proven."""
        self.notes(program).unwritten.discard(service)

    def marked(self, program: str, service: Service, outcome: Outcome, *, unproven: bool) -> None:
        """Such a write was answered."""
        notes = self.notes(program)
        if isinstance(outcome, Done):
            notes.held_marks.discard(service)
        else:
            notes.held_marks.add(service)
            notes.marks[service] = unproven
