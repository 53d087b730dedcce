"""`gordon-shell` over a world in memory with a real state file: what a test does to it, and what a command says."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attrs import field, frozen

from gordon_core.observation import Port
from gordon_core.policy import DEFAULT_STOP_GRACE_S
from gordon_shell import cli_common
from gordon_shell.adoption import Adoption
from gordon_shell.crew import InlineCrew
from gordon_shell.file_locks import FileLocks
from gordon_shell.memory.clock import MemoryClock
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.memory.engine import MemoryEngine
from gordon_shell.memory.prober import MemoryProber
from gordon_shell.memory.router import MemoryRouter
from gordon_shell.observer import Policies
from gordon_shell.operations import adopt
from gordon_shell.ports import Ports, Stored
from gordon_shell.session import World
from gordon_shell.shell_cli import NAME, cli
from gordon_shell.sqlite_store import SqliteStore
from gordon_shell.wiring import LiveOptions, opened
from gordon_shell.wishes import Wish

HTTP = Port(80)


class Ending(MemoryClock):
    """Time in which somebody asks this process to end before the last of so many sleeps; something happens before each."""

    def __init__(self, sleeps: int, happens: Callable[[int], None] = lambda _left: None) -> None:
        super().__init__()
        self._left, self._happens = sleeps, happens
        self._told = threading.Event()

    def sleep(self, seconds: float) -> None:
        self._left -= 1
        self._happens(self._left)
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGTERM)
            assert self._told.wait(60), "nobody was told to stop"
        super().sleep(seconds)

    def wake(self) -> None:
        super().wake()
        self._told.set()


@frozen
class Said:
    """What a command ended with, and wrote."""

    code: int
    out: str
    err: str

    def __iter__(self) -> Iterator[object]:
        return iter((self.code, self.out, self.err))


@frozen(eq=False)
class Shell:
    """Runs commands of gordon-shell in this process, on simulated containers and the state at `path`."""

    path: Path
    capture: pytest.CaptureFixture[bytes]
    clock: MemoryClock = field(factory=MemoryClock)
    engine: MemoryEngine = field()
    router: MemoryRouter = field(factory=MemoryRouter)
    made: list[str] = field(factory=list)

    @engine.default
    def _engine(self) -> MemoryEngine:
        return MemoryEngine(self.clock)

    def ports(self, options: LiveOptions | None = None, /, *, create: bool = False, read_only: bool = False) -> Ports:
        path = options.state_file() if options is not None else self.path
        store = opened(path, create=create or options is None, read_only=read_only)
        return Ports(self.engine, store, self.router, MemoryProber(self.engine), self.clock, FileLocks.beside(path))

    def run(self, *words: str, is_watched: bool = False) -> Said:
        world = World(ports=self.ports, policies=_no_policy, crew=InlineCrew, is_watched=is_watched)
        code = cli_common.run(cli, NAME, [*words, "--state", str(self.path)], obj=world)
        out, err = self.capture.readouterr()
        return Said(code, out.decode(), err.decode())

    def before(self, command: str, *words: str, is_watched: bool = False) -> Said:
        """Run a command whose words may hold --, with the state named before them."""
        world = World(ports=self.ports, policies=_no_policy, crew=InlineCrew, is_watched=is_watched)
        code = cli_common.run(cli, NAME, [command, "--state", str(self.path), *words], obj=world)
        out, err = self.capture.readouterr()
        return Said(code, out.decode(), err.decode())

    def container(  # noqa: PLR0913 - what a container is made of, by name
        self,
        name: str,
        *publishes: Port,
        running: bool = True,
        labels: tuple[tuple[str, str], ...] = (),
        behaviour: Behaviour | None = None,
        host_ip: str = "127.0.0.1",
        restart_policy: str = "no",
        stop_grace_s: float = DEFAULT_STOP_GRACE_S,
    ) -> str:
        """Create a container, with an ephemeral host port for each port, and return its ID."""
        self.made.append(name)
        container_id = f"{len(self.made):02x}" * 32
        self.engine.add(
            Simulated(
                container_id,
                name,
                tuple((each, 0) for each in publishes),
                host_ip,
                behaviour or Behaviour(),
                labels,
                restart_policy=restart_policy,
                stop_grace_s=stop_grace_s,
            )
        )
        if running:
            self.engine.start(container_id)
        return container_id

    def adopted(self, app: str = "shop", **containers: str) -> tuple[Adoption, ...]:
        """Adopt containers (service=container) as the library does, without any output."""
        ports = self.ports()
        try:
            return adopt(ports, app, tuple(Wish(service, each) for service, each in containers.items()))
        finally:
            ports.store.close()

    def stored(self, app: str = "shop", service: str = "web") -> Stored | None:
        store = SqliteStore.open(self.path, create=False, read_only=True)
        try:
            return store.read_service(app, service)
        finally:
            store.close()


def _no_policy(_options: LiveOptions) -> Policies:
    return lambda: None


@pytest.fixture
def shell(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Shell:
    """Return a gordon-shell with nothing adopted, and no state yet."""
    return Shell(tmp_path / "state.db", capfdbinary)
