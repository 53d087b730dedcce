"""A real Docker engine for tests: the private one that `tests/private_engine` starts, never the host's.

Containers are named with a prefix that no other test process has, and are removed at the end.
"""

import contextlib
import os
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Self

import pytest
from docker import APIClient
from docker.errors import NotFound

REASON = "no private engine (tests/private_engine start DIR)"
SCRIPT = Path(__file__).with_name("private_engine")
IMAGE = "busybox:test"
WEB = ("httpd", "-f", "-p", "80", "-h", "/www")
SILENT = ("sleep", "1000")
NANOSECONDS = 1_000_000_000


def answers() -> bool:
    """Tell whether the engine of DOCKER_HOST answers, and this process is in its network namespace."""
    host, netns = os.environ.get("DOCKER_HOST", ""), Path(os.environ.get("GORDON_TEST_NETNS", "/nonesuch"))
    if not host.startswith("unix://") or not netns.exists():
        return False
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(5)
        if connection.connect_ex(host.removeprefix("unix://")):
            return False
    return netns.stat().st_ino == Path("/proc/self/ns/net").stat().st_ino


NEEDS_ENGINE = [pytest.mark.engine, pytest.mark.skipif(not answers(), reason=REASON)]


@pytest.fixture(scope="session")
def docker_engine_host() -> str:
    """Return the DOCKER_HOST of the private engine, or skip. Its containers' ports are reachable from this process."""
    if not answers():
        pytest.skip(REASON)
    return os.environ["DOCKER_HOST"]


@pytest.fixture
def containers(docker_engine_host: str) -> Iterator["Containers"]:
    """Return a maker of containers in the private engine; they are removed after the test."""
    with Containers(docker_engine_host) as made:
        yield made


class Containers:
    """Makes containers from the image busybox:test in one engine, and removes them at the end of the block."""

    def __init__(self, host: str) -> None:
        self.client = APIClient(base_url=host, version="1.41", timeout=60)
        self.host = host
        self.prefix = f"gordon-{uuid.uuid4().hex[:8]}"
        self._made: list[str] = []
        self._images: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._made:
            with contextlib.suppress(NotFound):
                self.client.remove_container(each, force=True, v=True)
        for each in self._images:
            with contextlib.suppress(NotFound):
                self.client.remove_image(each, force=True)
        self.client.close()

    def create(  # noqa: PLR0913 - what Docker can be told, by name
        self,
        *command: str,
        publishes: Mapping[str, int] | None = None,
        labels: Mapping[str, str] | None = None,
        check: str = "",
        check_every_s: float = 1.0,
        check_retries: int = 1,
        stop_timeout_s: int | None = None,
        binds: tuple[str, ...] = (),
        devices: tuple[str, ...] = (),
        restart_policy: str = "no",
        name: str = "",
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """Create a container and return its ID. `publishes` maps "80/tcp" to a host port at 127.0.0.1, 0 for an ephemeral one."""
        published = {port: ("127.0.0.1", host) if host else ("127.0.0.1",) for port, host in (publishes or {}).items()}
        health = {
            "test": ["CMD-SHELL", check],
            "interval": int(check_every_s * NANOSECONDS),
            "timeout": 5 * NANOSECONDS,
            "retries": check_retries,
        }
        made = self.client.create_container(
            IMAGE,
            list(command or SILENT),
            name=f"{self.prefix}-{name or len(self._made)}",
            ports=[tuple(each.split("/")) for each in published],
            labels=dict(labels or {}),
            environment=dict(environment or {}),
            healthcheck=health if check else None,
            host_config=self.client.create_host_config(
                port_bindings=published,
                binds=list(binds),
                devices=list(devices),
                restart_policy={"Name": restart_policy},
            ),
            stop_timeout=stop_timeout_s,
        )
        container_id = str(made["Id"])
        self._made.append(container_id)
        return container_id

    def adopt(self, container_id: str) -> None:
        """Have one that somebody else created removed as well."""
        self._made.append(container_id)

    def commit(self, own: Mapping[str, object]) -> str:
        """Make an image with this config (as the engine has it), remove it at the end, and return its name."""
        base = str(self.client.create_container(IMAGE, list(SILENT))["Id"])
        name = f"{self.prefix}-{len(self._images)}"
        self.client.commit(base, name, "1", conf=dict(own))
        self.client.remove_container(base, force=True)
        self._images.append(f"{name}:1")
        return f"{name}:1"

    def forget_image(self, name: str) -> None:
        """Have an image that somebody else made removed at the end."""
        self._images.append(name)

    def run(self, *command: str, **wishes: object) -> str:
        """Create a container as `create` does, start it, and return its ID."""
        container_id = self.create(*command, **wishes)  # type: ignore[arg-type]
        self.client.start(container_id)
        return container_id

    def run_web(self, body: str = "hello", **wishes: object) -> str:
        """Run an HTTP server at 80/tcp, published at an ephemeral port, that answers every GET of / with `body`."""
        return self.run(*web(body), **{"publishes": {"80/tcp": 0}, **wishes})


def web(body: str = "hello") -> tuple[str, ...]:
    """Return the command of an HTTP server at port 80 whose page is `body`."""
    return ("sh", "-c", f"mkdir -p /www && printf %s '{body}' >/www/index.html && exec {' '.join(WEB)}")


class PrivateEngine:
    """One engine of `tests/private_engine`, to be killed and started again."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.host = f"unix://{directory}/docker.sock"

    def kill(self) -> None:
        """End the daemon with SIGKILL."""
        self._do("kill")

    def again(self, flags: str = "") -> None:
        """Start the daemon again; "--live-restore" among the flags keeps its containers over the next kill."""
        self._do("again", flags)

    def start(self, flags: str = "") -> None:
        """Start it with everything that it needs."""
        self._do("start", flags)

    def stop(self) -> None:
        """Stop it and all that it left."""
        self._do("stop")

    def _do(self, verb: str, flags: str = "") -> None:
        command = [str(SCRIPT), verb, str(self.directory)]
        done = subprocess.run(
            command, env={**os.environ, "PRIVATE_ENGINE_FLAGS": flags}, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL, check=False, timeout=120,
        )  # fmt: skip
        if done.returncode:
            pytest.fail(f"{' '.join(command)}: {done.stderr.decode()}")


@contextlib.contextmanager
def spare_engine(flags: str = "") -> Iterator[PrivateEngine]:
    """Run a second private engine, in a namespace of its own: its containers' ports are not reachable from here."""
    # a short path, for its sockets
    with tempfile.TemporaryDirectory(prefix="g-", dir="/tmp") as directory:
        engine = PrivateEngine(Path(directory))
        try:
            engine.start(flags)
            yield engine
        finally:
            engine.stop()
