"""Requests through a real HAProxy while routes come, go and change."""

import contextlib
import csv
import http.client
import threading
import time
from collections.abc import Iterator

import pytest

from gordon_core.effects import Done
from tests.haproxy import NEEDS_HAPROXY, free_port
from tests.web import WEB, World, at, backend, request, running_world

pytestmark = NEEDS_HAPROXY


@pytest.fixture
def world() -> Iterator[World]:
    with running_world() as running:
        yield running


def test_a_running_request_is_counted_and_finishes_after_its_withdrawal(world: World) -> None:
    with backend("old") as old:
        world.router.publish("shop", "web", old.binds)
        answers: list[tuple[int, str]] = []
        client = threading.Thread(target=lambda: answers.append(world.ask("/slow")))
        client.start()
        assert old.arrived.wait(10)
        assert (1, 0) == (world.router.sessions("shop", "web"), world.router.sessions("shop", "cart"))
        assert Done() == world.router.withdraw("shop", "web")
        assert (503, 1) == (world.ask()[0], world.router.sessions("shop", "web"))
        old.release.set()
        client.join(30)
        assert [(200, "old")] == answers
        until = time.monotonic() + 30
        while world.router.sessions("shop", "web") and time.monotonic() < until:
            time.sleep(0.01)
        assert 0 == world.router.sessions("shop", "web")


def test_a_kept_connection_gets_503_after_the_withdrawal(world: World) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", world.frontend, timeout=10)
    with backend("old") as old, contextlib.closing(connection):
        world.router.publish("shop", "web", old.binds)
        assert (200, "old") == request(connection)
        world.router.withdraw("shop", "web")
        assert 503 == request(connection)[0]


def test_a_refused_connection_is_not_tried_again_at_a_port_that_may_be_another_s_by_then(world: World) -> None:
    world.router.publish("shop", "web", at(free_port()))
    assert 503 == world.ask()[0]
    counted = csv.DictReader(world.proxy.say("show stat").removeprefix("# ").splitlines())
    tried = {each["svname"]: (each["econ"], each["wretr"], each["wredis"]) for each in counted if WEB == each["pxname"]}
    assert ("1", "0", "0") == tried["BACKEND"]


def test_no_request_is_stale_or_broken_while_routes_change(world: World) -> None:
    with backend("a") as first, backend("b") as second, load(world) as seen:
        kept = [http.client.HTTPConnection("127.0.0.1", world.frontend, timeout=10) for _ in range(3)]
        for turn in range(100):
            target = (first, second)[turn % 2]
            seen.settled = ""
            assert Done() == world.router.publish("shop", "web", target.binds)
            seen.settled = f"{turn} {target.name}"
            answers = [request(connection) for connection in kept] + [world.ask()]
            assert [(200, target.name)] * 4 == answers
        for connection in kept:
            connection.close()
    assert [] == seen.faults
    assert seen.answered >= 100


class Seen:
    """What clients saw. `settled` names the turn and the only backend that may answer; "" while that changes."""

    def __init__(self) -> None:
        self.settled = ""
        self.faults: list[str] = []
        self.answered = 0
        self.over = threading.Event()


@contextlib.contextmanager
def load(world: World) -> Iterator[Seen]:
    """Send requests all the while, over one kept connection and over fresh ones."""
    seen = Seen()
    clients = [threading.Thread(target=_client, args=(world, seen), kwargs={"keep": keep}) for keep in (True, False)]
    with backend("first") as first:
        assert Done() == world.router.publish("shop", "web", first.binds)
        for client in clients:
            client.start()
        try:
            yield seen
        finally:
            seen.over.set()
            for client in clients:
                client.join(30)


def _client(world: World, seen: Seen, *, keep: bool) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", world.frontend, timeout=10)
    while not seen.over.is_set():
        before = seen.settled
        try:
            status, body = request(connection)
        except (OSError, http.client.HTTPException) as error:
            seen.faults.append(f"broken: {error!r}")
            connection.close()
            continue
        seen.answered += 1
        if status != 200 or (before and before == seen.settled and not before.endswith(f" {body}")):
            seen.faults.append(f"{status} {body!r} while {before!r}")
        if not keep:
            connection.close()
    connection.close()
