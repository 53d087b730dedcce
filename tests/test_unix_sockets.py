"""Where as many wait at a Unix socket as it lets, whoever connects waits in line, within its time: to HAProxy, to an engine."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from gordon_shell.docker_endpoint import Endpoint
from gordon_shell.docker_engine import DockerEngine, Timeouts
from gordon_shell.errors import EngineError, RouterError
from gordon_shell.haproxy_socket import RuntimeSocket
from gordon_shell.unix_sockets import connected
from tests.haproxy import short_directory

Ask = Callable[[str, float], object]


def _ask_haproxy(path: str, timeout_s: float) -> object:
    return RuntimeSocket(path, timeout_s).ask("show info")


def _ask_engine(path: str, timeout_s: float) -> object:
    with contextlib.closing(DockerEngine(Endpoint(f"unix://{path}"), Timeouts(timeout_s, timeout_s))) as engine:
        return engine.rows()


ASKERS: dict[str, tuple[Ask, bytes, object, str]] = {
    "HAProxy": (_ask_haproxy, b"well\n\n", "well\n", r"did not answer at .* within 0\.2 s"),
    "engine": (_ask_engine, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", (), "gave no answer to .*: no answer in time"),
}


@contextlib.contextmanager
def crowded() -> Iterator[tuple[socket.socket, str]]:
    """Listen at a path, with as many waiting already as may."""
    with short_directory() as directory, socket.socket(socket.AF_UNIX) as listener, contextlib.ExitStack() as line:
        listener.bind(str(directory / "s"))
        listener.listen(0)
        listener.settimeout(20)
        with contextlib.suppress(BlockingIOError):
            while True:
                waiting = line.enter_context(socket.socket(socket.AF_UNIX))
                waiting.settimeout(0)
                waiting.connect(str(directory / "s"))
        yield listener, str(directory / "s")


def _answer(listener: socket.socket, answer: bytes) -> None:
    """Answer the first that asks anything; those that only wait are let go."""
    while True:
        with listener.accept()[0] as connection:
            connection.settimeout(0.05)
            with contextlib.suppress(TimeoutError):
                if connection.recv(1000):
                    return connection.sendall(answer)


@pytest.mark.parametrize("name", ASKERS)
def test_whoever_asks_where_many_wait_waits_in_line(name: str) -> None:
    """After an engine restart all routes go at once; one refused for that led to another's container (chaos, seed 62)."""
    ask, answer, expected, _ = ASKERS[name]
    with crowded() as (listener, path):
        later = threading.Timer(0.2, _answer, (listener, answer))
        later.start()
        assert expected == ask(path, 20.0)
        later.join(20)


@pytest.mark.parametrize("name", ASKERS)
def test_a_line_that_does_not_move_is_no_answer_in_time(name: str) -> None:
    ask, _, _, words = ASKERS[name]
    with crowded() as (_listener, path):
        begun_s = time.monotonic()
        with pytest.raises((RouterError, EngineError), match=words):
            ask(path, 0.2)
        assert 0.2 <= time.monotonic() - begun_s < 20.0


def test_what_cannot_be_connected_leaves_nothing_open() -> None:
    """An open socket that is collected is a warning, and so an error."""
    with pytest.raises(FileNotFoundError):
        connected("/nonesuch/s", None)
    with crowded() as (_listener, path), pytest.raises(TimeoutError):
        connected(path, 0.0)
