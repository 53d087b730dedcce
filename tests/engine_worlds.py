"""The worlds behind the Engine and Prober ports, simulated and real: what can happen to containers behind a port's back."""

import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

from gordon_core.blueprint import Blueprint, Variable
from gordon_core.effects import Done, Fault, Outcome
from gordon_core.observation import Bind, Binds, Container, Port, PortBinding
from gordon_shell.docker_create import creation
from gordon_shell.docker_endpoint import Endpoint
from gordon_shell.docker_engine import DockerEngine, Timeouts
from gordon_shell.memory.clock import MemoryClock
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.memory.engine import MemoryEngine
from gordon_shell.memory.images import SimulatedImage
from gordon_shell.memory.prober import MemoryProber
from gordon_shell.ports import Details, Engine, Mount, Prober
from gordon_shell.prober import SocketProber
from tests.engine_fixtures import IMAGE, SILENT, Containers, PrivateEngine, web
from tests.registry import Registry

PATIENCE_S = 60.0
HTTP = Port(80)


class World(ABC):
    """Containers, and what happens to them. `publishes` maps a port to a fixed host port, or to 0 for an ephemeral one."""

    engine: Engine
    prober: Prober

    @abstractmethod
    def web(self, publishes: Mapping[Port, int] | None = None, *, listens_after_s: float = 0.0) -> str:
        """Create a container that listens at 80/tcp and whose GET / is answered with 200."""

    @abstractmethod
    def silent(self, publishes: Mapping[Port, int] | None = None) -> str:
        """Create a container that runs and listens on nothing."""

    @abstractmethod
    def ending(self, exit_code: int) -> str:
        """Create a container that ends at once."""

    @abstractmethod
    def checked(self, *, good: bool) -> str:
        """Create a container whose health check always gives this result."""

    @abstractmethod
    def described(self, labels: Mapping[str, str], mount: Mount, device: str, grace_s: int) -> str:
        """Create a container with these, and the restart policy unless-stopped."""

    @abstractmethod
    def pause(self, container_id: str) -> None: ...

    @abstractmethod
    def unpause(self, container_id: str) -> None: ...

    @abstractmethod
    def kill(self, container_id: str) -> None: ...

    @abstractmethod
    def delete(self, container_id: str) -> None: ...

    @abstractmethod
    def let(self, seconds: float) -> None:
        """Let that much time pass."""

    @abstractmethod
    def image(self, own: Blueprint, ports: tuple[Port, ...] = ()) -> str:
        """Make an image with this config, and return its name."""

    @abstractmethod
    def name(self) -> str:
        """Return a name that no container bears."""

    @abstractmethod
    def printing(self, *lines: str, environment: tuple[Variable, ...] = ()) -> Blueprint:
        """Return what makes a container that prints these lines and runs on."""

    @abstractmethod
    def offered(self) -> str:
        """Return the name of an image that its registry serves, and that the engine does not have yet."""

    @abstractmethod
    def withheld(self) -> str:
        """Return the name of an image that its registry does not have."""

    @abstractmethod
    def unreached(self) -> str:
        """Return the name of an image whose registry refuses connections."""

    def created(self, blueprint: Blueprint, labels: Mapping[str, str] | None = None, name: str = "") -> str:
        """Create a container by the port, and return its ID."""
        name = name or self.name()
        assert Done() == self.engine.create(name, blueprint, labels or {})
        return next(each.container_id for each in self.engine.rows() if each.name == name)

    @abstractmethod
    def kill_engine(self) -> None: ...

    @abstractmethod
    def start_engine(self) -> None: ...

    def started(self, container_id: str) -> Container:
        """Start it behind the port's back too far for a test to care, and return it as it runs."""
        assert self.engine.start(container_id) is not None
        return self.container(container_id)

    def container(self, container_id: str) -> Container:
        seen = self.engine.inspect(container_id)
        assert isinstance(seen, Details)
        return seen.container

    def eventually(self, container_id: str, holds: Callable[[Container], bool]) -> Container:
        """Look until the container is as wanted."""
        for _ in range(int(PATIENCE_S / 0.1)):
            seen = self.container(container_id)
            if holds(seen):
                return seen
            self.let(0.1)
        raise AssertionError(seen)


def in_time(probe: Callable[[], Outcome], wanted: type[Outcome]) -> Outcome:
    """Probe until it comes out as wanted, or often enough: 250 ms are short where others use the machine too."""
    outcome = probe()
    for _ in range(20):
        if isinstance(outcome, wanted):
            break
        outcome = probe()
    return outcome


def binds_of(container: Container) -> Binds:
    return tuple(Bind(each.port, each.host_port) for each in container.ports)


class MemoryWorld(World):
    """The memory engine."""

    def __init__(self, *, live_restore: bool = False) -> None:
        self.clock = MemoryClock()
        self.engine: MemoryEngine = MemoryEngine(self.clock)
        self.engine.images.add(IMAGE, SimulatedImage("sha256:0"))
        self.prober = MemoryProber(self.engine)
        self._live_restore = live_restore
        self._made = 0

    def _add(self, behaviour: Behaviour, publishes: Mapping[Port, int] | None = None) -> str:
        self._made += 1
        container_id = f"{self._made:064x}"
        self.engine.add(Simulated(container_id, f"c{self._made}", tuple((publishes or {}).items()), behaviour=behaviour))
        return container_id

    def web(self, publishes: Mapping[Port, int] | None = None, *, listens_after_s: float = 0.0) -> str:
        return self._add(Behaviour(listens_after_s=listens_after_s), publishes)

    def silent(self, publishes: Mapping[Port, int] | None = None) -> str:
        return self._add(Behaviour(listens=False), publishes)

    def ending(self, exit_code: int) -> str:
        return self._add(Behaviour(exits_after_s=0.0, exit_code=exit_code))

    def checked(self, *, good: bool) -> str:
        return self._add(Behaviour(checks=(good,), check_every_s=1.0))

    def described(self, labels: Mapping[str, str], mount: Mount, device: str, grace_s: int) -> str:
        one = Simulated("d" * 64, "described", labels=tuple(labels.items()), mounts=(mount,), devices=(device,),
                        stop_grace_s=grace_s, restart_policy="unless-stopped")  # fmt: skip
        self.engine.add(one)
        return one.container_id

    def image(self, own: Blueprint, ports: tuple[Port, ...] = ()) -> str:
        self._made += 1
        name = f"image-{self._made}:1"
        self.engine.images.add(name, SimulatedImage(f"sha256:{self._made:064x}", own=own, ports=ports))
        return name

    def name(self) -> str:
        self._made += 1
        return f"name-{self._made}"

    def printing(self, *lines: str, environment: tuple[Variable, ...] = ()) -> Blueprint:
        image = self.image(Blueprint("own"))
        self.engine.images.add(image, SimulatedImage("sha256:1", Behaviour(says=lines)))
        return Blueprint(image, environment=environment)

    def offered(self) -> str:
        self.engine.images.serve("registry:5000/offered:1", SimulatedImage("sha256:2"))
        return "registry:5000/offered:1"

    def withheld(self) -> str:
        return "registry:5000/withheld:1"

    def unreached(self) -> str:
        self.engine.refuse("pull", "closed:5000/x", "dial tcp: connect: connection refused", Fault.REGISTRY)
        return "closed:5000/x"

    def pause(self, container_id: str) -> None:
        self.engine.pause(container_id)

    def unpause(self, container_id: str) -> None:
        self.engine.unpause(container_id)

    def kill(self, container_id: str) -> None:
        self.engine.kill(container_id)

    def delete(self, container_id: str) -> None:
        self.engine.delete(container_id)

    def let(self, seconds: float) -> None:
        self.clock.advance(seconds)

    def kill_engine(self) -> None:
        self.engine.unreachable("connection refused")

    def start_engine(self) -> None:
        self.engine.start_again(live_restore=self._live_restore)


class DockerWorld(World):
    """A real engine; `spare` is the one to kill, where a test does that."""

    def __init__(self, containers: Containers, host: str, spare: PrivateEngine | None = None, flags: str = "") -> None:
        self.engine = DockerEngine(Endpoint(host), Timeouts(10.0, 20.0))
        self.prober = SocketProber()
        self._containers = containers
        self._spare = spare
        self._flags = flags
        self._registry: Registry | None = None
        self._named = 0

    def close(self) -> None:
        if self._registry is not None:
            self._registry.close()
        for each in self._containers.client.containers(all=True, filters={"name": self._containers.prefix}):
            self._containers.adopt(each["Id"])
        self.engine.close()
        self.prober.close()

    def web(self, publishes: Mapping[Port, int] | None = None, *, listens_after_s: float = 0.0) -> str:
        shell, flag, script = web()
        return self._containers.create(shell, flag, f"sleep {listens_after_s}; {script}", publishes=_named(publishes))

    def silent(self, publishes: Mapping[Port, int] | None = None) -> str:
        return self._containers.create(*SILENT, publishes=_named(publishes), stop_timeout_s=1)

    def ending(self, exit_code: int) -> str:
        return self._containers.create("sh", "-c", f"exit {exit_code}")

    def checked(self, *, good: bool) -> str:
        # a good one is slow, so that a test can look before its first result
        check, every_s = ("true", 4.0) if good else ("echo not well; false", 0.3)
        return self._containers.create(*SILENT, check=check, check_every_s=every_s)

    def described(self, labels: Mapping[str, str], mount: Mount, device: str, grace_s: int) -> str:
        bind = f"{mount.source}:/mounted:{'ro' if mount.read_only else 'rw'}"
        return self._containers.create(
            labels=labels, binds=(bind,), devices=(device,), stop_timeout_s=grace_s, restart_policy="unless-stopped"
        )

    def image(self, own: Blueprint, ports: tuple[Port, ...] = ()) -> str:
        body = creation(own, {}).body
        given = {
            each: body[each]
            for each in ("Env", "Labels", "Cmd", "Entrypoint", "User", "WorkingDir", "Healthcheck")
            if each in body
        }
        return self._containers.commit({"Cmd": [], **given, "ExposedPorts": {str(each): {} for each in ports}})

    def name(self) -> str:
        self._named += 1
        return f"{self._containers.prefix}-n{self._named}"

    def printing(self, *lines: str, environment: tuple[Variable, ...] = ()) -> Blueprint:
        script = 'for each; do echo "$each"; done; exec sleep 1000'
        return Blueprint(IMAGE, ("sh", "-c", script, "sh", *lines), environment=environment)

    def offered(self) -> str:
        name = f"{self._serve()}/{self._containers.prefix}:1"
        self._containers.forget_image(name)
        return name

    def withheld(self) -> str:
        return f"{self._serve()}/withheld:1"

    def unreached(self) -> str:
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            return f"127.0.0.1:{closed.getsockname()[1]}/x"

    def _serve(self) -> str:
        if self._registry is None:
            self._registry = Registry(self._containers.prefix)
        return self._registry.address

    def pause(self, container_id: str) -> None:
        self._containers.client.pause(container_id)

    def unpause(self, container_id: str) -> None:
        self._containers.client.unpause(container_id)

    def kill(self, container_id: str) -> None:
        self._containers.client.kill(container_id)
        self.eventually(container_id, lambda seen: seen.exit is not None)

    def delete(self, container_id: str) -> None:
        self._containers.client.remove_container(container_id, force=True)

    def let(self, seconds: float) -> None:
        time.sleep(seconds)

    def kill_engine(self) -> None:
        assert self._spare is not None
        self._spare.kill()

    def start_engine(self) -> None:
        assert self._spare is not None
        self._spare.again(self._flags)


def _named(publishes: Mapping[Port, int] | None) -> Mapping[str, int]:
    return {str(port): host for port, host in (publishes or {}).items()}


__all__ = ["HTTP", "DockerWorld", "MemoryWorld", "PortBinding", "World", "binds_of"]
