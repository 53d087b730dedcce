"""Fixtures of the tests on a real engine: an engine of their own to kill, and this thread inside its network namespace."""

import contextlib
import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine_fixtures import Containers, PrivateEngine, spare_engine
from tests.haproxy import short_directory
from tests.on_engine.hundred import Hundred
from tests.on_engine.hundred import hundred as start_hundred

_CLONE_NEWNET = 0x40000000
_PORT_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


@pytest.fixture
def directory() -> Iterator[Path]:
    with short_directory() as made:
        yield made


@pytest.fixture(scope="session")
def spare(docker_engine_host: str) -> Iterator["Mortal"]:
    """Start one engine to be killed, for all tests that do that."""
    del docker_engine_host  # without it these tests are skipped
    with spare_engine() as engine:
        yield Mortal(engine)


@pytest.fixture
def mortal(spare: "Mortal", monkeypatch: pytest.MonkeyPatch) -> Iterator["Mortal"]:
    """Go into the network namespace of an engine that may be killed, where DOCKER_HOST names it, until the test is over."""
    monkeypatch.setenv("DOCKER_HOST", spare.engine.host)
    with inside(spare.netns):
        yield spare


@pytest.fixture
def mortal_containers(mortal: "Mortal") -> Iterator[Containers]:
    with Containers(mortal.engine.host) as made:
        yield made


@pytest.fixture(scope="session")
def hundred(docker_engine_host: str) -> Iterator[Hundred]:
    """Return a hundred running containers."""
    with Containers(docker_engine_host) as made:
        yield start_hundred(made)


@pytest.fixture(scope="session", autouse=True)
def _first(request: pytest.FixtureRequest) -> None:
    """Start the hundred before the first test, if any of them is going to want them: they must grow old."""
    if any(map(_wants_hundred, request.session.items)):
        request.getfixturevalue("hundred")


class Mortal:
    """An engine that may be killed."""

    def __init__(self, engine: PrivateEngine) -> None:
        self.engine = engine
        self.netns = _netns(engine)

    def restart(self, flags: str = "", *, ports: int = 0) -> None:
        """Kill the daemon and start it again, to hand out only so many ephemeral ports where `ports` is not 0."""
        self.engine.kill()
        before = _PORT_RANGE.read_text()
        if ports:
            # the daemon reads it once, at its start; everybody else goes on with the full range
            _PORT_RANGE.write_text(f"32768 {32768 + ports - 1}")
        try:
            self.engine.again(flags)
        finally:
            _PORT_RANGE.write_text(before)


def _netns(engine: PrivateEngine) -> Path:
    pid = int((engine.directory / "dockerd.pid").read_text())
    inode = Path(f"/proc/{pid}/ns/net").stat().st_ino
    return next(each for each in Path("/run/netns").iterdir() if each.stat().st_ino == inode)


@contextlib.contextmanager
def inside(netns: Path) -> Iterator[None]:
    """Move this thread, with the threads and processes that it starts, into a network namespace."""
    with Path("/proc/thread-self/ns/net").open("rb") as home, netns.open("rb") as away:
        _enter(away.fileno())
        try:
            yield
        finally:
            _enter(home.fileno())


def _enter(descriptor: int) -> None:
    # os.setns is new in Python 3.12
    if ctypes.CDLL(None, use_errno=True).setns(descriptor, _CLONE_NEWNET):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let those that want the hundred wait for nobody: they come last."""
    items.sort(key=_wants_hundred)


def _wants_hundred(item: pytest.Item) -> bool:
    return "hundred" in getattr(item, "fixturenames", ())
