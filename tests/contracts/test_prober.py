"""What every Prober holds to: one suite for the memory prober, and the real one against containers behind docker-proxy."""

import threading
import time
from collections.abc import Iterator

import pytest

from gordon_core.effects import Done, Fault, Outcome, Refused, Unknown
from gordon_core.observation import Bind, Binds, Port, Protocol
from gordon_shell.prober import SocketProber
from tests.engine_fixtures import NEEDS_ENGINE, Containers
from tests.engine_worlds import HTTP, DockerWorld, MemoryWorld, World, binds_of, in_time

TLS, DNS = Port(443), Port(53, Protocol.UDP)
UNUSED = 28999


@pytest.fixture(params=["memory", pytest.param("docker", marks=NEEDS_ENGINE)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    if request.param == "memory":
        yield MemoryWorld()
        return
    with Containers(request.getfixturevalue("docker_engine_host")) as containers:
        made = DockerWorld(containers, containers.host)
        yield made
        made.close()


def started(world: World, container_id: str) -> Binds:
    return binds_of(world.started(container_id))


def refused_with(outcome: Outcome) -> str:
    assert isinstance(outcome, Refused)
    assert Fault.WORKLOAD is outcome.fault
    return outcome.reason


def test_a_container_that_listens_is_ready(world: World) -> None:
    binds = started(world, world.web({HTTP: 0}))
    assert Done() == world.prober.probe(binds, 10.0, 0, "", lambda: True)


def test_a_container_that_listens_on_nothing_is_not_ready_although_docker_proxy_accepts(world: World) -> None:
    binds = started(world, world.silent({HTTP: 0}))
    expected = f"80/tcp at {binds[0].host_port}: closed within 250 ms: nothing listens in the container"
    assert expected == refused_with(in_time(lambda: world.prober.probe(binds, 0.0, 0, "", lambda: True), Refused))


def test_one_that_listens_late_is_waited_for(world: World) -> None:
    binds = started(world, world.web({HTTP: 0}, listens_after_s=3.0))
    assert isinstance(world.prober.probe(binds, 0.0, 0, "", lambda: True), Refused)
    assert Done() == world.prober.probe(binds, 30.0, 0, "", lambda: True)


def test_a_port_that_nobody_holds_refuses(world: World) -> None:
    assert f"80/tcp at {UNUSED}: connection refused" == refused_with(
        world.prober.probe((Bind(HTTP, UNUSED),), 0.0, 0, "", lambda: True)
    )


def test_every_tcp_port_must_be_ready_and_each_that_is_not_is_named(world: World) -> None:
    ready = started(world, world.web({HTTP: 0}))
    assert Done() == world.prober.probe(ready, 10.0, 0, "", lambda: True)
    outcome = world.prober.probe((*ready, Bind(TLS, UNUSED), Bind(Port(81), UNUSED + 1)), 0.5, 0, "", lambda: True)
    expected = f"443/tcp at {UNUSED}: connection refused; 81/tcp at {UNUSED + 1}: connection refused"
    assert expected == refused_with(outcome)


def test_udp_is_not_probed(world: World) -> None:
    assert Done() == world.prober.probe((Bind(DNS, UNUSED),), 0.0, 0, "", lambda: True)


def test_a_service_without_ports_is_ready(world: World) -> None:
    assert Done() == world.prober.probe((), 0.0, 0, "", lambda: True)


def test_an_http_path_that_answers_is_ready(world: World) -> None:
    binds = started(world, world.web({HTTP: 0}))
    assert Done() == world.prober.probe(binds, 10.0, 80, "/index.html", lambda: True)


def test_an_http_check_of_a_port_without_a_bind_is_not_ready(world: World) -> None:
    binds = started(world, world.web({HTTP: 0}))
    assert Done() == world.prober.probe(binds, 10.0, 0, "", lambda: True)
    assert "GET /: 8080/tcp has no bind" == refused_with(world.prober.probe(binds, 0.0, 8080, "/", lambda: True))


def test_one_that_ended_is_not_ready(world: World) -> None:
    container_id = world.web({HTTP: 0})
    binds = started(world, container_id)
    world.kill(container_id)
    assert "connection refused" in refused_with(world.prober.probe(binds, 0.3, 0, "", lambda: True))


def test_a_dropped_prober_knows_nothing_and_begins_nothing(world: World) -> None:
    binds = started(world, world.web({HTTP: 0}))
    world.prober.drop()
    outcome = world.prober.probe(binds, 10.0, 0, "", lambda: True)
    assert isinstance(outcome, Unknown)
    assert outcome.reason.startswith("dropped")


@NEEDS_ENGINE[0]
@NEEDS_ENGINE[1]
@pytest.mark.parametrize("path", ["", "/"])
def test_a_probe_under_way_ends_within_200_ms_of_a_drop(containers: Containers, path: str) -> None:
    """At its best of five: what it takes beyond that is the machine's, which others use too."""
    world = DockerWorld(containers, containers.host)
    paused = world.web({HTTP: 0})
    binds = started(world, paused)
    world.pause(paused)
    wanted = binds if path else (*binds, Bind(TLS, UNUSED))
    took_s = [_dropped_after_s(wanted, path) for _ in range(5)]
    assert 0.2 > min(took_s), took_s
    world.close()


def _dropped_after_s(binds: Binds, path: str) -> float:
    """Return how many seconds a probe under way took to end after it was dropped."""
    prober, outcomes = SocketProber(), list[Outcome]()
    probing = threading.Thread(target=lambda: outcomes.append(prober.probe(binds, 60.0, 80, path, lambda: True)))
    probing.start()
    time.sleep(0.6)
    before_s = time.monotonic()
    prober.drop()
    probing.join(30.0)
    took_s = time.monotonic() - before_s
    assert [Unknown] == [type(each) for each in outcomes]
    prober.close()
    return took_s


def test_an_execution_that_ended_is_not_waited_for(world: World) -> None:
    asked: list[str] = []

    def still_runs() -> bool:
        asked.append("?")
        return False

    outcome = world.prober.probe((Bind(HTTP, UNUSED),), 600.0, 0, "", still_runs)
    assert f"it ended before it was ready (80/tcp at {UNUSED}: connection refused)" == refused_with(outcome)
    assert ["?"] == asked
