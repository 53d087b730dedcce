"""Rows of the corpus, and findings of the reference, that are about the loop and not about one decision; each is named."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

from gordon_core.effects import Refused
from gordon_core.observation import Bind
from gordon_shell.crew import ThreadCrew
from gordon_shell.pace import AT_ONCE, Pace
from gordon_shell.prober import SocketProber
from gordon_shell.reconciler import SIDE_BY_SIDE
from tests.engine_worlds import in_time
from tests.hosts import HTTP, settled

STARTS = "engine.start"


def test_r15_a_service_that_hangs_does_not_keep_its_siblings_from_being_looked_at() -> None:
    """Its siblings are brought back in the same pass, whatever their order."""
    host = settled("a", "b", "c")
    host.restarted(crew=ThreadCrew(SIDE_BY_SIDE))
    for each in ("a-1", "b-1", "c-1"):
        host.engine.kill(each)
    hanging = host.calls.hold("engine.start a-1")
    host.reconciler.run_pass(patience_s=3.0)
    assert {"shop/b", "shop/c"} == set(host.routes())
    hanging.set()


def test_r17_a_hundred_healthy_services_are_one_list_call() -> None:
    host = settled(*(f"s{number:02}" for number in range(100)))
    host.reconciler.run_pass()
    assert ["engine.rows"] == host.calls.of("engine")


@contextmanager
def accepting_and_closing() -> Iterator[Bind]:
    """Behave as docker-proxy does where nothing listens in the container: accept, then close."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def serve() -> None:
            while True:
                try:
                    server.accept()[0].close()
                except OSError:
                    return

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield Bind(HTTP, server.getsockname()[1])
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(30)


def test_r20_a_connection_that_does_not_stay_is_not_ready() -> None:
    prober = SocketProber()
    with accepting_and_closing() as bind:
        outcome = in_time(lambda: prober.probe((bind,), 0.0, 0, "", lambda: True), Refused)
    prober.close()
    assert isinstance(outcome, Refused)
    assert "nothing listens in the container" in outcome.reason


def test_31_after_a_boot_no_more_start_at_once_than_the_concurrency_bound_allows() -> None:
    """moby/moby issue 20713, and issue 30503: 40 containers are down at once; their starts are spread."""
    host = settled(*(f"s{number:02}" for number in range(40)))
    host.restarted(crew=ThreadCrew(SIDE_BY_SIDE, Pace(a_second=100.0)))
    for number in range(40):
        host.engine.kill(f"s{number:02}-1")
    turn, under_way, most = threading.Lock(), [0], [0]

    def start() -> None:
        with turn:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        time.sleep(0.02)
        with turn:
            under_way[0] -= 1

    host.calls.before(STARTS, start)
    host.reconciler.run_pass()
    assert 40 == len(host.calls.of(STARTS)) == len(host.routes())
    assert 1 < most[0] <= AT_ONCE < SIDE_BY_SIDE
