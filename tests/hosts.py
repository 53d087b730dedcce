"""A whole simulated host behind the ports. Every call is written down, and can be held up or followed by something else."""

import threading
from collections.abc import Callable
from typing import cast

from gordon_core.effects import Done, Generation
from gordon_core.grants import HostPolicy
from gordon_core.memory import Memory, Verified
from gordon_core.observation import Bind, Container, Port
from gordon_core.situations import Situation
from gordon_core.snapshot import Declared
from gordon_shell.crew import Crew, InlineCrew
from gordon_shell.memory.clock import MemoryClock
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.memory.engine import MemoryEngine
from gordon_shell.memory.locks import MemoryLocks
from gordon_shell.memory.prober import MemoryProber
from gordon_shell.memory.router import MemoryRouter
from gordon_shell.memory.store import MemoryStore
from gordon_shell.ports import Details, Engine, Locks, Marker, Ports, Prober, Router, StateStore, Stored
from gordon_shell.reconciler import Reconciler, Report

HTTP = Port(80)
HANGS_S = 120.0
"""How long a call that hangs does so, unless it is let go: longer than any test waits."""
SETTLED_S = 150.0
"""After so long no uptime text looks young any more."""

_READS = (
    "store.", "engine.rows", "engine.inspect", "engine.image", "engine.made", "engine.logs", "router.read", "router.sessions",
    "prober.drop", "locks.",
)  # fmt: skip
_Deed = Callable[[], object]


class Calls:
    """What was called, oldest first, as "port.method words"; and what is to happen right before a call."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self._before: list[tuple[str, _Deed]] = []
        self._turn = threading.Lock()

    def note(self, call: str) -> None:
        with self._turn:
            self.made.append(call)
            due = [each for each in self._before if call.startswith(each[0])]
        for _, deed in due:
            deed()

    def before(self, call: str, deed: _Deed) -> None:
        """Do something right before every call that begins so, in the thread that makes it."""
        self._before.append((call, deed))

    def once_before(self, call: str, deed: _Deed) -> None:
        """Do something right before the next call that begins so."""
        done: list[bool] = []

        def only_once() -> None:
            if not done:
                done.append(True)
                deed()

        self.before(call, only_once)

    def hold(self, call: str) -> threading.Event:
        """Let every call that begins so hang until the event is set."""
        event = threading.Event()
        self.before(call, lambda: event.wait(HANGS_S))
        return event

    def clear(self) -> None:
        """Forget what was called, and what is to happen."""
        self.made.clear()
        self._before.clear()

    def of(self, *beginnings: str) -> list[str]:
        return [each for each in self.made if each.startswith(beginnings)]

    def commands(self) -> list[str]:
        """Return what changed the world: all but reads, and writes of the store."""
        return [each for each in self.made if not each.startswith(_READS)]


class Watched:
    """A port, every call of which is written down before it is made."""

    def __init__(self, name: str, port: object, calls: Calls) -> None:
        self._name, self._port, self._calls = name, port, calls

    def __getattr__(self, method: str) -> Callable[..., object]:
        whole = getattr(self._port, method)

        def call(*args: object, **named: object) -> object:
            told = [each for each in (*args, *named.values()) if not callable(each)]
            self._calls.note(" ".join([f"{self._name}.{method}", *map(_word, told)]))
            return whole(*args, **named)

        return call


def _word(value: object) -> str:
    match value:
        case tuple():
            return ",".join(map(str, value)) or "()"
        case Generation():
            return value.container_id
        case Memory():
            return "memory"
        case _:
            return str(value)


def no_policy() -> HostPolicy | None:
    return None


class Host:
    """Memory ports that are watched, with shorthands for what a test wants to see or to do."""

    def __init__(self) -> None:
        self.calls = Calls()
        self.clock = MemoryClock()
        self.engine = MemoryEngine(self.clock)
        self.store = MemoryStore()
        self.router = MemoryRouter()
        self.locks = MemoryLocks()
        self.prober = MemoryProber(self.engine)
        self.ports = Ports(
            engine=cast("Engine", Watched("engine", self.engine, self.calls)),
            store=cast("StateStore", Watched("store", self.store, self.calls)),
            router=cast("Router", Watched("router", self.router, self.calls)),
            prober=cast("Prober", Watched("prober", self.prober, self.calls)),
            clock=self.clock,
            locks=cast("Locks", Watched("locks", self.locks, self.calls)),
        )
        self.reconciler = self.restarted()

    def restarted(self, *, rearm: bool = False, crew: Crew | None = None) -> Reconciler:
        """Return a reconciler that remembers nothing, as after a restart of this program; the host uses it from now on."""
        self.reconciler = Reconciler(self.ports, no_policy, crew=crew or InlineCrew(), rearm=rearm)
        return self.reconciler

    def service(
        self,
        service: str,
        *,
        app: str = "shop",
        port: int = 0,
        behaviour: Behaviour | None = None,
        published: bool = True,
    ) -> str:
        """Declare a service with one container, which was created and not started; return its container ID."""
        container_id = f"{service}-1"
        self.engine.add(Simulated(container_id, service, ((HTTP, port),), behaviour=behaviour or Behaviour()))
        declared = Declared(container_id, 1, (HTTP,), published=published)
        assert Done() == self.store.activate(app, service, declared, 0, None)
        return container_id

    def supersede(self, service: str, *, app: str = "shop", behaviour: Behaviour | None = None) -> str:
        """Declare a successor, which was created and not started, as a deploy does; return its container ID."""
        before = self.declared(service, app=app)
        container_id = f"{service}-{before.revision + 1}"
        self.engine.add(Simulated(container_id, service, ((HTTP, 0),), behaviour=behaviour or Behaviour()))
        verified = self.stored(service, app=app).memory.verified
        marker = Marker(before.container_id, 7.0, before.binds, verified)
        declared = Declared(container_id, before.revision + 1, (HTTP,))
        assert Done() == self.store.activate(app, service, declared, before.revision, marker)
        return container_id

    def settle(self) -> None:
        """Run passes until nothing is called for, and until no container looks young."""
        self.reconciler.run_pass()
        for _ in range(4):
            self.clock.advance(SETTLED_S)
            self.reconciler.run_pass()
        self.calls.clear()

    def stored(self, service: str, *, app: str = "shop") -> Stored:
        found = self.store.read_service(app, service)
        assert found is not None
        return found

    def declared(self, service: str, *, app: str = "shop") -> Declared:
        found = self.stored(service, app=app).declared
        assert found is not None
        return found

    def memory(self, service: str, *, app: str = "shop") -> Memory:
        return self.stored(service, app=app).memory

    def container(self, container_id: str) -> Container:
        found = self.engine.inspect(container_id)
        assert isinstance(found, Details)
        return found.container

    def routes(self) -> dict[str, tuple[int, ...]]:
        """Return the host ports that each service is routed to."""
        return {f"{app}/{name}": tuple(bind.host_port for bind in binds) for (app, name), binds in self.all_routes().items()}

    def all_routes(self) -> dict[tuple[str, str], tuple[Bind, ...]]:
        return dict(MemoryRouter.read(self.router).by_service)

    def verify(self, service: str, container_id: str, *, app: str = "shop") -> Verified:
        """Record the running execution as a deploy that verified it does."""
        container = self.container(container_id)
        binds = tuple(Bind(each.port, each.host_port) for each in container.ports)
        verified = Verified(container.started_at, binds, self.declared(service, app=app).revision)
        assert Done() == self.store.save_memory(app, service, container_id, Memory(verified=verified))
        return verified


def situations(report: Report) -> dict[str, Situation]:
    """Return the last situation of each service."""
    return {each.subject.name: each.situation for each in report.plan.services}


def settled(*services: str, app: str = "shop") -> Host:
    """Return a host whose services are served, with nothing left to do and to remember."""
    host = Host()
    for each in services or ("web",):
        host.service(each, app=app)
    host.settle()
    return host


def later(host: Host, seconds: float = 15.0) -> None:
    """Let the time between two passes go by."""
    host.clock.advance(seconds)
