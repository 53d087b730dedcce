"""Five of the six ports as one program sees them: each call can fail, be judged, and meet whatever happens beside it.

The sixth is in `store_door`.
"""

from collections.abc import Callable
from types import TracebackType
from typing import Self

from gordon_core.effects import DONE, Fault, Outcome, Refused, Unknown
from gordon_core.observation import Binds, Clock, Gone, Protocol
from gordon_shell.errors import BusyError, EngineError, RouterError, StoreError
from gordon_shell.ports import Details, Routes, Row
from properties.faults import COMMANDS, PROBES, READS, ROUTER_READS, Fate
from properties.programs import Hung, Killed, Program
from properties.story import words_of
from properties.world import Proxy

_PROBE_EVERY_S = 1.0
_ENGINE_SILENT, _PROXY_SILENT = "the engine did not answer", "the proxy did not answer"
_NO_LOCKS = "the lock directory cannot be read"


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
        if self._world.proxy is Proxy.BLIND or self._program.read_fails(ROUTER_READS, "the router"):
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

        outcome = self._command(f"publish {app}/{service} at {words_of(binds)}", act)
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
            outcome = self._command(f"withdraw {app}/{service}", act)
        except (Hung, Killed):
            self._court.unanswered(self._program.name, (app, service))
            raise
        self._court.withdrew(self._program.name, (app, service), outcome)
        return outcome

    def _command(self, what: str, act: Callable[[], Outcome]) -> Outcome:
        match self._world.proxy:
            case Proxy.WELL:
                return self._program.perform(what, act, COMMANDS, Fault.ROUTER)
            case Proxy.MUTE:
                return self._program.perform(what, lambda: Unknown("the proxy does not answer"), COMMANDS, Fault.ROUTER)
            case Proxy.CRASHING:
                return self._program.perform(what, self._world.proxy_crashes, COMMANDS, Fault.ROUTER)
            case Proxy.REFUSING | Proxy.BLIND:
                refused = Refused("the proxy is out of order", Fault.ROUTER)
                return self._program.perform(what, lambda: refused, COMMANDS, Fault.ROUTER)

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
        what, asked = f"probe {words_of(binds)}", self._program.court.probes(self._program.name, binds)
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
                return Refused(f"nothing answers at {words_of(tuple(silent))}", Fault.WORKLOAD)
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

    def rest(self, seconds: float) -> None:
        """Let time pass."""
        self.sleep(seconds)

    def nudge(self) -> None:
        """Do nothing: who rests is asked again and again."""

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

    def try_tell(self) -> _Held | str:
        """Let every program tell: nobody listens."""
        return _Held(self._program, "tell")
