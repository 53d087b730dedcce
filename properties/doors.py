"""The six ports as one program sees them: each call can fail, be judged, and meet whatever happens beside it."""

from collections.abc import Callable
from types import TracebackType
from typing import Self

from gordon_core.effects import DONE, Fault, Generation, Outcome, Refused, Unknown
from gordon_core.memory import Memory
from gordon_core.observation import Binds, Clock, Gone, Protocol
from gordon_core.snapshot import Declared, Intent
from gordon_shell.errors import BusyError, EngineError, RouterError, StoreError
from gordon_shell.ports import Details, Marker, Routes, Row, Stored
from properties.faults import COMMANDS, PROBES, READS, ROUTER_READS, WRITES, Fate
from properties.programs import Hung, Program

_PROBE_EVERY_S = 1.0
_ENGINE_SILENT, _PROXY_SILENT = "the engine did not answer", "the proxy did not answer"
_NO_LOCKS, _NO_STORE = "the lock directory cannot be read", "the state store cannot be read"


class EngineDoor:
    """The Engine port."""

    def __init__(self, program: Program) -> None:
        """Lead to the containers of the program's world."""
        self._program, self._world, self._court = program, program.world, program.court

    def _reads(self, what: str) -> bool:
        self._program.step()
        return not (self._world.engine_down or self._program.read_fails(READS, what))

    def rows(self) -> tuple[Row, ...]:
        """List every container. Raise EngineError."""
        if not self._reads("the engine's list"):
            self._court.listed(self._program.name, None)
            raise EngineError(_ENGINE_SILENT)
        rows = tuple(each.row(self._world.at_s) for each in self._world.boxes.values())
        self._court.listed(self._program.name, rows)
        return rows

    def inspect(self, container_id: str) -> Details | Gone:
        """Read one container. Raise EngineError."""
        if not self._reads(container_id):
            self._court.inspected(self._program.name, container_id, None)
            raise EngineError(_ENGINE_SILENT)
        box = self._world.boxes.get(container_id)
        shown = box.details(self._world.at_s) if box is not None else Gone()
        self._court.inspected(self._program.name, container_id, shown)
        return shown

    def start(self, container_id: str) -> Outcome:
        """Start it."""
        self._program.step()
        self._court.starts(self._program.name, container_id)
        return self._attempt("start", container_id, lambda: self._world.start(container_id))

    def restart(self, container_id: str, grace_s: float) -> Outcome:
        """Stop it within its grace, and start it."""
        self._program.step()
        self._court.restarts(self._program.name, container_id)

        def half() -> Outcome:
            return self._world.stop(container_id, grace_s)

        def act() -> Outcome:
            stopped = half()
            return self._world.start(container_id) if stopped == DONE else stopped

        return self._attempt("restart", container_id, act, half)

    def _attempt(
        self, verb: str, container_id: str, act: Callable[[], Outcome], half: Callable[[], Outcome] | None = None
    ) -> Outcome:
        before, landed = self._starts_of(container_id), False
        try:
            outcome = self._command(f"{verb} {container_id}", act, half)
        finally:
            landed = self._starts_of(container_id) > before
            if landed:
                self._court.attempted(self._program.name, container_id, Unknown(""), landed=True)
        self._court.attempted(self._program.name, container_id, outcome, landed=False)
        return outcome

    def _starts_of(self, container_id: str) -> int:
        box = self._world.boxes.get(container_id)
        return box.starts if box is not None else 0

    def stop(self, container_id: str, grace_s: float) -> Outcome:
        """Stop it within its grace."""
        self._program.step()
        self._court.stops(self._program.name, container_id)
        return self._command(f"stop {container_id}", lambda: self._world.stop(container_id, grace_s))

    def remove(self, container_id: str) -> Outcome:
        """Remove a container that is down."""
        self._program.step()
        self._court.removes(self._program.name, container_id)
        return self._command(f"remove {container_id}", lambda: self._world.remove(container_id))

    def _command(self, what: str, act: Callable[[], Outcome], half: Callable[[], Outcome] | None = None) -> Outcome:
        if self._world.engine_down:
            return Unknown("the engine did not answer")
        return self._program.perform(what, act, COMMANDS, Fault.ENGINE, half)


class RouterDoor:
    """The Router port."""

    def __init__(self, program: Program) -> None:
        """Lead to the proxy of the program's world."""
        self._program, self._world, self._court = program, program.world, program.court

    def read(self) -> Routes:
        """Return all routes. Raise RouterError."""
        self._program.step()
        if self._program.read_fails(ROUTER_READS, "the router"):
            self._court.routed(self._program.name, None)
            raise RouterError(_PROXY_SILENT)
        routes = Routes({service: binds for service, binds in self._world.routes.items() if binds}, self._world.carries)
        self._court.routed(self._program.name, routes)
        return routes

    def publish(self, app: str, service: str, binds: Binds) -> Outcome:
        """Route exactly these binds."""
        self._program.step()
        self._court.publishes(self._program.name, (app, service), binds)
        before = dict(self._world.routes)

        def act() -> Outcome:
            self._world.routes[app, service] = tuple(each for each in binds if each.port.protocol in self._world.carries)
            return DONE

        outcome = self._program.perform(f"publish {app}/{service} at {_words(binds)}", act, COMMANDS, Fault.ROUTER)
        if outcome == DONE:
            self._court.published(before, (app, service))
        return outcome

    def withdraw(self, app: str, service: str) -> Outcome:
        """Take every route of the service away."""
        self._program.step()
        self._court.withdraws(self._program.name, (app, service))

        def act() -> Outcome:
            self._world.routes.pop((app, service), None)
            return DONE

        try:
            outcome = self._program.perform(f"withdraw {app}/{service}", act, COMMANDS, Fault.ROUTER)
        except Hung:
            self._court.hung(self._program.name, (app, service))
            raise
        self._court.withdrew(self._program.name, (app, service), outcome)
        return outcome

    def sessions(self, app: str, service: str) -> int:
        """Return 0: sessions are not simulated."""
        del app, service
        return 0


class ProberDoor:
    """The Prober port."""

    def __init__(self, program: Program) -> None:
        """Lead to whatever listens in the program's world."""
        self._program, self._world = program, program.world

    def probe(self, binds: Binds, wait_s: float, http_port: int, http_path: str, still_runs: Callable[[], bool]) -> Outcome:
        """Try until every TCP bind leads to a container that answers, or the wait is over."""
        del http_port, http_path
        self._program.step()
        what, asked = f"probe {_words(binds)}", self._program.court.probes(self._program.name, binds)
        outcome = self._program.perform(what, lambda: self._ask(binds, wait_s, still_runs), PROBES, Fault.WORKLOAD)
        self._program.court.probed(self._program.name, asked, binds, outcome)
        return outcome

    def _ask(self, binds: Binds, wait_s: float, still_runs: Callable[[], bool]) -> Outcome:
        end_s = self._world.at_s + wait_s
        while True:
            silent = [each for each in binds if each.port.protocol is Protocol.TCP and not self._answers(each.host_port)]
            if not silent:
                return DONE
            if self._world.at_s >= end_s or not still_runs():
                return Refused(f"nothing answers at {_words(tuple(silent))}", Fault.WORKLOAD)
            self._world.pass_time(min(_PROBE_EVERY_S, end_s - self._world.at_s))
            self._program.step()

    def _answers(self, host_port: int) -> bool:
        box = self._world.holder(host_port)
        return box is not None and box.answers(self._world.at_s)

    def drop(self) -> None:
        """Do nothing: a simulated program is killed, never told to stop."""


class ClockDoor:
    """The TimeSource port."""

    def __init__(self, program: Program) -> None:
        """Show the time of the program's world."""
        self._program = program

    def now(self) -> Clock:
        """Return the present instant."""
        return self._program.world.clock()

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self._program.step()
        self._program.world.pass_time(seconds)

    def wake(self) -> None:
        """Do nothing: a simulated program is killed, never told to stop."""


class _Held:
    """A lock of an app, held by a program."""

    def __init__(self, program: Program, app: str) -> None:
        self._program, self._app = program, app

    def release(self) -> None:
        """Let it go, if it is still held."""
        if self._program.world.locks.get(self._app) == self._program.name:
            del self._program.world.locks[self._app]

    def __enter__(self) -> Self:
        """Hold it for a block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Let it go."""
        self.release()


class LocksDoor:
    """The Locks port."""

    def __init__(self, program: Program) -> None:
        """Share the locks of the program's world."""
        self._program = program

    def try_app(self, app: str) -> _Held | str:
        """Take the app's lock, or say who holds it. Raise StoreError."""
        self._program.step()
        if self._program.read_fails((Fate.FAILS, Fate.KILLED_BEFORE), f"the lock of {app}"):
            raise StoreError(_NO_LOCKS)
        holder = self._program.world.locks.setdefault(app, self._program.name)
        return _Held(self._program, app) if holder == self._program.name else holder

    def wait_app(self, app: str, wait_s: float) -> _Held:
        """Take the lock as try_app does: simulated programs do not wait. Raise BusyError."""
        del wait_s
        lock = self.try_app(app)
        if isinstance(lock, str):
            raise BusyError(lock)
        return lock

    def try_run(self) -> _Held | str:
        """Let every program run: that a second one is refused is told elsewhere."""
        return _Held(self._program, "run")


class StoreDoor:
    """The StateStore port: the world's disk, of which every call can fail."""

    def __init__(self, program: Program) -> None:
        """Lead to the disk of the program's world."""
        self._program, self._disk, self._court = program, program.world.disk, program.court

    def read(self) -> tuple[Stored, ...]:
        """Return everything. Raise StoreError."""
        self._reads("the state store")
        stored = self._disk.read()
        self._court.read(self._program.name, stored)
        return stored

    def read_service(self, app: str, service: str) -> Stored | None:
        """Return one service. Raise StoreError."""
        self._reads(f"{app}/{service} in the state store")
        stored = self._disk.read_service(app, service)
        self._court.read_one(self._program.name, (app, service), stored)
        return stored

    def _reads(self, what: str) -> None:
        self._program.step()
        if self._program.read_fails(READS, what):
            raise StoreError(_NO_STORE)

    def _writes(self, what: str, act: Callable[[], Outcome]) -> Outcome:
        return self._program.perform(what, act, WRITES, Fault.STORE)

    def persist_binds(self, generation: Generation, binds: Binds) -> Outcome:
        """Put the binds on record."""
        self._program.step()
        self._court.persists(self._program.name, generation, binds)
        before = self._disk.read_service(generation.app, generation.service)
        outcome = self._writes(f"persist {_words(binds)} of {generation}", lambda: self._disk.persist_binds(generation, binds))
        self._court.persisted(before, generation, binds)
        return outcome

    def save_memory(self, app: str, service: str, container_id: str, memory: Memory) -> Outcome:
        """Replace what is remembered of one container."""
        self._program.step(alone=True)
        key = ((app, service), container_id)
        self._court.saves(self._program.name, key, memory)
        outcome = self._writes(
            f"remember of {container_id}: {_brief(memory)}", lambda: self._disk.save_memory(app, service, container_id, memory)
        )
        self._court.saved(self._program.name, key, memory, outcome)
        return outcome

    def set_unproven(self, app: str, service: str, *, unproven: bool) -> Outcome:
        """Set or drop the mark that a withdrawal is unproven."""
        self._program.step(alone=True)
        self._court.marks(self._program.name, (app, service))
        word = "unproven" if unproven else "proven"
        outcome = self._writes(f"mark {app}/{service} {word}", lambda: self._disk.set_unproven(app, service, unproven=unproven))
        self._court.marked(self._program.name, (app, service), outcome, unproven=unproven)
        return outcome

    def release_claims(self, app: str, service: str, container_id: str) -> Outcome:
        """Take the binds off a marker."""
        self._program.step()
        self._court.releases(self._program.name, (app, service), container_id)
        return self._writes(
            f"release the claims of {container_id}", lambda: self._disk.release_claims(app, service, container_id)
        )

    def drop_marker(self, app: str, service: str, container_id: str) -> Outcome:
        """Drop a retirement marker."""
        self._program.step()
        self._court.drops_marker(self._program.name, (app, service), container_id)
        return self._writes(f"drop the marker of {container_id}", lambda: self._disk.drop_marker(app, service, container_id))

    # What follows is the deploy tool's, and never recovery's.

    def activate(self, app: str, service: str, declared: Declared, expected_revision: int, superseded: Marker | None) -> Outcome:
        """Condemn it: recovery never changes what is deployed."""
        del declared, expected_revision, superseded
        self._court.condemn("P9", f"recovery activates {app}/{service}")

    def deactivate(self, generation: Generation) -> Outcome:
        """Condemn it."""
        self._court.condemn("P9", f"recovery deactivates {generation}")

    def set_intent(self, app: str, intent: Intent) -> Outcome:
        """Condemn it."""
        self._court.condemn("P6", f"recovery sets the intent of {app} to {intent}")

    def inhibit(self, app: str, service: str, container_id: str, reason: str) -> Outcome:
        """Condemn it."""
        del app, service, reason
        self._court.condemn("P6", f"recovery inhibits {container_id}")

    def allow(self, app: str, service: str, container_id: str) -> Outcome:
        """Condemn it."""
        del app, service
        self._court.condemn("P6", f"recovery allows {container_id}")

    def mark(self, app: str, service: str, marker: Marker) -> Outcome:
        """Condemn it."""
        del app, service
        self._court.condemn("P5", f"recovery marks {marker.container_id} as superseded")

    def close(self) -> None:
        """Keep the disk: other programs use it."""


def _brief(memory: Memory) -> str:
    """Say what is remembered in few words."""
    parts = [f"{memory.failures} failures"] if memory.failures else []
    if memory.charged is not None:
        parts.append(f"charged {memory.charged or 'a refusal'} at {memory.charged_at_s or 0.0:.2f}")
    if memory.attempt is not None:
        parts.append(f"an attempt after {memory.attempt.before or 'none'}")
    if memory.strikes is not None:
        parts.append(f"{memory.strikes.count} strikes to {memory.strikes.result}")
    if memory.window is not None:
        parts.append(f"stable {memory.window.looked_s - memory.window.since_s:.1f} s as {memory.window.started_at}")
    if memory.verified is not None:
        parts.append(f"verified {memory.verified.started_at} of revision {memory.verified.revision}")
    return ", ".join(parts) or "nothing"


def _words(binds: Binds) -> str:
    return ", ".join(str(each) for each in binds) or "nothing"
