"""The worlds in which processes of this program are killed: each a scene of its own, that is judged by its end."""

import contextlib
import http.client
import itertools
import queue
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from attrs import frozen

from gordon_core.effects import Done
from gordon_core.memory import Memory
from gordon_core.observation import Bind, Container, Status
from gordon_core.policy import Policy
from gordon_core.snapshot import Declared, Intent
from gordon_shell.haproxy_config import backend_name, haproxy_config
from gordon_shell.ports import Details, Marker
from tests.engine_fixtures import WEB, Containers
from tests.haproxy import RunningHaproxy, running_haproxy
from tests.on_engine.killed_processes import Processes, commands
from tests.on_engine.scene import APP, HTTP, PATIENT, Scene, close, eventually

AT_ONCE = 3
_FALL_ILL = "cut -d' ' -f22 /proc/1/stat >/tmp/ill"
_CHECK = '! grep -qsx "$(cut -d" " -f22 /proc/1/stat)" /tmp/ill'
"""It is an execution that falls ill: the next one is well from its first check on, however soon that comes."""
_CHECK_EVERY_S = 0.4
_frontends = itertools.count(18100)


def serves(page: str) -> str:
    """Return a script that serves a page, and ends as soon as it is asked to."""
    return f"mkdir -p /www; printf {page} >/www/index.html; trap 'exit 0' TERM; {' '.join(WEB)} & wait"


class World(Scene):
    """A scene in which other processes act. Its containers note in a file of this host how often they were begun."""

    def __init__(self, containers: Containers, proxy: RunningHaproxy, directory: Path, fronts: dict[str, int]) -> None:
        super().__init__(containers, proxy, directory / "state.db", tuple(fronts))
        self.directory, self._fronts = directory, fronts
        self.log = directory / "commands"
        self.made: dict[str, str] = {}
        self._begun: dict[str, int] = {}

    def connection(self, service: str) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self._fronts[service], timeout=10)

    def create(self, name: str, script: str, **wishes: object) -> str:
        (self.directory / name).mkdir()
        place = f"{self.directory / name}:/begun"
        command, published = ("sh", "-c", f"echo begun >>/begun/log; {script}"), {"80/tcp": 0}
        self.made[name] = self.containers.create(*command, name=name, publishes=published, binds=(place,), **wishes)  # type: ignore[arg-type]
        return self.made[name]

    def served(self, name: str, **wishes: object) -> str:
        """Create, adopt as "web", and converge."""
        container_id = self.create(name, serves(name), **wishes)
        self.adopt("web", container_id)
        self.converge()
        return container_id

    def begun(self, name: str) -> int:
        """Return how often a container was begun since `arm`."""
        log = self.directory / name / "log"
        return (len(log.read_text().splitlines()) if log.exists() else 0) - self._begun.get(name, 0)

    def arm(self) -> None:
        """Count from here."""
        self._begun = {each: self.begun(each) for each in self.made}

    def settle(self) -> None:
        """Remember what five stable minutes leave."""
        assert Done() == self.ports.store.save_memory(
            APP, "web", self.named.container_id, Memory(verified=self.memory("web").verified)
        )

    def crash(self, name: str) -> None:
        self.containers.client.kill(self.made[name])
        eventually(lambda: self.status(name) is Status.EXITED)

    def status(self, name: str) -> Status | None:
        """Return how a container is, None where there is none."""
        found = self.ports.engine.inspect(self.made[name])
        return found.container.status if isinstance(found, Details) else None

    @property
    def named(self) -> Declared:
        declared = self.stored("web").declared
        assert declared is not None
        return declared

    def start(self, processes: Processes, command: str, kill: str = "", **environment: str) -> int:
        """Begin a process of this program, which ends at this place; return its ID."""
        words = (command, "--state", str(self.state), "--haproxy", self.proxy.socket)
        cadence = ("--cadence", "0.2") if command == "run" else ()
        return processes.start(self.directory / "told", *words, *cadence, log=self.log, kill=kill, **environment)

    def once(self, processes: Processes, kill: str = "") -> tuple[int, list[str]]:
        """Run `once` in a process of its own while nobody else has the state open; return its exit code and its commands."""
        before = len(commands(self.log))
        close(self.ports)
        try:
            self.start(processes, "once", kill)
            code = processes.end()
        finally:
            self.ports, self._reconciler = self._open(), None
        return code, commands(self.log)[before:]


@contextlib.contextmanager
def world(docker_engine_host: str, directory: Path, *services: str) -> Iterator[World]:
    """Give a world with a HAProxy of its own in a directory that is made for it."""
    directory.mkdir()
    fronts = {each: next(_frontends) for each in services}
    config = "".join(
        f"frontend {each}\n    bind 127.0.0.1:{port}\n    default_backend {backend_name(APP, each, 80)}\n"
        for each, port in fronts.items()
    )
    config += haproxy_config([(APP, each, (HTTP,)) for each in services], "/unused")
    with (
        Containers(docker_engine_host) as containers,
        running_haproxy(config, directory) as proxy,
        World(containers, proxy, directory, fronts) as made,
    ):
        yield made


# --- the worlds in which it is killed ---------------------------------------------------------------------------------------


@frozen
class End:
    """What has become of a world: by container how it is and how often it was begun, and what the store holds.

    `page` is what HAProxy answers; `binds_are_right`: binds on record, verified binds and route are those that the engine shows.
    """

    containers: Mapping[str, tuple[Status | None, int]]
    page: str = "new"
    named: str = "new"
    revision: int = 1
    failures: int = 0
    has_attempt: bool = False
    has_verified: bool = True
    binds_are_right: bool = True
    markers: tuple[str, ...] = ()
    intent: Intent = Intent.RUNNING


def end(host: World) -> End:
    stored, named = host.stored("web"), host.named
    found = host.ports.engine.inspect(named.container_id)
    seen = found.container if isinstance(found, Details) else None
    memory, names = stored.memory, {container_id: name for name, container_id in host.made.items()}
    status, page = host.ask("web")
    assert (False, (), None) == (stored.unproven, stored.orphans, memory.strikes and memory.strikes.count)
    return End(
        {name: (host.status(name), host.begun(name)) for name in host.made},
        page if status == 200 else str(status),
        names[named.container_id],
        named.revision,
        memory.failures,
        memory.attempt is not None,
        memory.verified is not None,
        binds_are_right(host, named, memory, seen),
        tuple(names[each.container_id] for each in stored.markers),
        stored.intent,
    )


def binds_are_right(host: World, named: Declared, memory: Memory, seen: Container | None) -> bool:
    binds = tuple(Bind(each.port, each.host_port) for each in seen.ports) if seen is not None else ()
    verified = memory.verified if seen is not None and seen.status is Status.RUNNING else None
    if verified is None or seen is None:
        return () == host.routed("web")
    of_it = (verified.started_at, verified.binds, verified.revision) == (seen.started_at, binds, named.revision)
    return of_it and binds == named.binds == host.routed("web")


def crashed(host: World) -> None:
    host.served("new")
    host.settle()
    host.crash("new")


def crashed_again(host: World) -> None:
    """Let it have an attempt pending, which its end then costs a charge."""
    host.served("new")
    host.crash("new")


def looping(host: World) -> None:
    host.adopt("web", host.create("new", "exit 3"), policy=Policy(ladder_s=(600.0,)))


def unhealthy(host: World) -> None:
    """Let it have one strike, and a second result for the next look to find."""
    host.served("new", check=_CHECK, check_every_s=_CHECK_EVERY_S)
    host.settle()
    made = host.containers.client.exec_create(host.made["new"], ["sh", "-c", _FALL_ILL])
    host.containers.client.exec_start(made["Id"])

    def has_one_strike() -> bool:
        host.passes()
        return host.memory("web").strikes is not None

    def has_two_results() -> bool:
        strikes, failures = host.memory("web").strikes, host.seen("web").health.failures()
        return strikes is not None and strikes.result != failures[-1].started_at

    eventually(has_one_strike)
    eventually(has_two_results)


def superseded(host: World) -> None:
    old = host.served("old")
    before = host.stored("web")
    marker = Marker(old, 2.0, host.named.binds, before.memory.verified)
    successor = Declared(host.create("new", serves("new")), 2, ports=(HTTP,), stop_grace_s=2.0, policy=PATIENT)
    assert Done() == host.ports.store.activate(APP, "web", successor, 1, marker)


def stopped(host: World) -> None:
    host.served("new")
    assert Done() == host.ports.store.set_intent(APP, Intent.STOPPED)


def gone(host: World) -> None:
    host.containers.client.remove_container(host.served("new"), force=True)


class Crew:
    """Does something for many places, a few at once, each with processes of its own."""

    def __init__(self) -> None:
        self._free: queue.SimpleQueue[Processes] = queue.SimpleQueue()

    def go(self, work: Callable[[Processes, str], None], *at: str) -> None:
        def taken(place: str) -> None:
            processes = self._free.get()
            try:
                work(processes, place)
            finally:
                self._free.put(processes)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(taken, at))

    @contextlib.contextmanager
    def running(self) -> Iterator["Crew"]:
        with contextlib.ExitStack() as stack:
            for _ in range(AT_ONCE):
                self._free.put(stack.enter_context(Processes()))
            yield self
