"""What the real prober makes of servers that misbehave, and of faults of its own. Servers are sockets of this process."""

import contextlib
import resource
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gordon_core.effects import Done, Fault, Outcome, Refused, Unknown
from gordon_core.observation import Bind, Port
from gordon_shell.prober import PAUSE_S, SocketProber
from tests.engine_fixtures import NEEDS_ENGINE
from tests.engine_worlds import in_time

Server = Callable[[socket.socket], None]
HTTP = Port(80)


@pytest.fixture
def prober() -> Iterator[SocketProber]:
    made = SocketProber()
    yield made
    made.close()


@contextlib.contextmanager
def serving(serve: Server) -> Iterator[Bind]:
    """Accept at a port of loopback, and give each connection to `serve` in a thread of its own."""
    listener = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def speak(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            serve(connection)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                threads.append(threading.Thread(target=speak, args=(listener.accept()[0],)))
                threads[-1].start()

    accepting = threading.Thread(target=accept)
    accepting.start()
    try:
        yield Bind(HTTP, listener.getsockname()[1])
    finally:
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for each in (accepting, *threads):
            each.join(30.0)


def answering(*chunks: bytes, pause_s: float = 0.0) -> Server:
    def serve(connection: socket.socket) -> None:
        connection.settimeout(20.0)
        asked = b""
        while b"\r\n\r\n" not in asked:
            received = connection.recv(4096)
            if not received:
                return
            asked += received
        for each in chunks:
            connection.sendall(each)
            time.sleep(pause_s)

    return serve


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def close_after(seconds: float) -> Server:
    return lambda _: time.sleep(seconds)


def banner(connection: socket.socket) -> None:
    connection.sendall(b"SSH-2.0-dropbear\r\n")


def keep(connection: socket.socket) -> None:
    connection.settimeout(20.0)
    connection.recv(1)


def not_ready(outcome: Outcome) -> str:
    assert isinstance(outcome, Refused)
    assert Fault.WORKLOAD is outcome.fault
    return outcome.reason


@pytest.mark.parametrize("serve", [keep, banner, close_after(0.5)], ids=["keeps", "banner", "closes after 500 ms"])
def test_a_connection_that_is_kept_or_carries_data_is_ready(prober: SocketProber, serve: Server) -> None:
    with serving(serve) as bind:
        assert Done() == in_time(lambda: prober.probe((bind,), 0.0, 0, "", lambda: True), Done)


@pytest.mark.parametrize("after_s", [0.0, 0.15])
def test_a_connection_closed_within_250_ms_is_not_ready(prober: SocketProber, after_s: float) -> None:
    with serving(close_after(after_s)) as bind:
        expected = f"{bind}: closed within 250 ms: nothing listens in the container"
        assert expected == not_ready(in_time(lambda: prober.probe((bind,), 0.0, 0, "", lambda: True), Refused))


def test_a_connection_reset_within_250_ms_is_not_ready(prober: SocketProber) -> None:
    with serving(reset) as bind:
        expected = f"{bind}: connection reset by peer"
        assert expected == not_ready(in_time(lambda: prober.probe((bind,), 0.0, 0, "", lambda: True), Refused))


@NEEDS_ENGINE[0]
@NEEDS_ENGINE[1]
def test_a_connection_to_oneself_is_nobody_listening(prober: SocketProber) -> None:
    """Linux may give a connection the source port that it is meant for; then it stands, and nobody is there.

    In the private network namespace one port alone is left for sources, so that this happens at once.
    """
    sources = Path("/proc/sys/net/ipv4/ip_local_port_range")
    before = sources.read_text()
    sources.write_text("28997 28997")
    try:
        assert "80/tcp at 28997: connection refused" == not_ready(prober.probe((Bind(HTTP, 28997),), 0.0, 0, "", lambda: True))
    finally:
        sources.write_text(before)


def test_ports_are_kept_side_by_side(prober: SocketProber) -> None:
    with contextlib.ExitStack() as servers:
        binds = tuple(servers.enter_context(serving(keep)) for _ in range(60))  # one after the other they would take 15 s
        before_s = time.monotonic()
        assert Done() == prober.probe(binds, 0.0, 0, "", lambda: True)
        assert 10.0 > time.monotonic() - before_s


@pytest.mark.parametrize("status", [200, 204, 301, 302, 399])
def test_2xx_and_3xx_are_ready_and_redirects_are_not_followed(prober: SocketProber, status: int) -> None:
    with serving(answering(f"HTTP/1.1 {status} Fine\r\nLocation: http://127.0.0.1:1/\r\n\r\n".encode())) as bind:
        assert Done() == prober.probe((bind,), 0.0, 80, "/ready?deep=1", lambda: True)


@pytest.mark.parametrize("status", [199 + 201, 404, 500, 503])
def test_any_other_status_is_not_ready(prober: SocketProber, status: int) -> None:
    with serving(answering(f"HTTP/1.0 {status} No\r\n\r\n".encode())) as bind:
        expected = f"GET /ready at {bind.host_port} answered {status}"
        assert expected == not_ready(prober.probe((bind,), 0.0, 80, "/ready", lambda: True))


def test_an_interim_answer_is_not_the_answer(prober: SocketProber) -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
    with serving(answering(hints, b"HTTP/1.1 5", b"03 No\r\n\r\n", pause_s=0.05)) as bind:
        assert "answered 503" in not_ready(prober.probe((bind,), 0.0, 80, "/", lambda: True))


@pytest.mark.parametrize(
    ("chunks", "words"),
    [
        ((), "was closed without an answer"),
        ((b"HTTP/1.1 20",), "was closed without an answer"),
        ((b"SSH-2.0-dropbear\r\n",), "was answered in something that is not HTTP"),
        ((b"x" * 70000,), "was answered in something that is not HTTP"),
        ((b"HTTP/1.1 999 What\r\n\r\n",), "was answered in something that is not HTTP"),
    ],
)
def test_what_is_no_answer_is_not_ready(prober: SocketProber, chunks: tuple[bytes, ...], words: str) -> None:
    with serving(answering(*chunks)) as bind:
        assert f"GET / at {bind.host_port} {words}" == not_ready(prober.probe((bind,), 0.0, 80, "/", lambda: True))


def test_a_server_that_trickles_cannot_outlast_the_try(prober: SocketProber) -> None:
    with serving(answering(b"HTTP/1.1 ", *[b"2"] * 600, pause_s=0.1)) as bind:
        before_s = time.monotonic()
        assert "no answer in time" in not_ready(prober.probe((bind,), 0.0, 80, "/", lambda: True))
        assert 30.0 > time.monotonic() - before_s


def test_tries_go_on_until_the_wait_is_over(prober: SocketProber) -> None:
    tries: list[float] = []

    def serve(_: socket.socket) -> None:
        tries.append(time.monotonic())

    with serving(serve) as bind:
        before_s = time.monotonic()
        not_ready(in_time(lambda: prober.probe((bind,), 2.0, 0, "", lambda: True), Refused))
        assert 30.0 > time.monotonic() - before_s
    assert 2 <= len(tries) <= 1 + 2.0 / PAUSE_S


def test_a_fault_of_ours_says_nothing_of_the_backend(prober: SocketProber) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with serving(keep) as bind:
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            outcome = prober.probe((bind, Bind(Port(81), 1)), 0.0, 0, "", lambda: True)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert Unknown(f"{bind}: too many open files, on our side") == outcome
