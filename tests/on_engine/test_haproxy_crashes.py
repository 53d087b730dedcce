"""Clients behind a real HAProxy, while containers crash and take over each other's ports: no answer is ever another's."""

from functools import partial
from itertools import pairwise
from pathlib import Path

from gordon_core.observation import Bind
from gordon_shell.crew import ThreadCrew
from tests.engine_fixtures import NEEDS_ENGINE, Containers
from tests.haproxy import NEEDS_HAPROXY
from tests.on_engine.conftest import Mortal
from tests.on_engine.scene import HTTP, Scene, eventually, polled, scene

pytestmark = [*NEEDS_ENGINE, *NEEDS_HAPROXY]
CRASHES = 20


def host_port(scene: Scene, service: str) -> int:
    (binding,) = scene.seen(service).ports
    return binding.host_port


def has_left(scene: Scene, service: str, execution: str) -> bool:
    return scene.seen(service).started_at != execution


def serves(scene: Scene, service: str) -> bool:
    """Tell whether a service runs, and is routed to the port that it has, which is on record and verified."""
    seen, stored = scene.seen(service), scene.stored(service)
    if not seen.ports or stored.declared is None or stored.memory.verified is None:
        return False
    binds = (Bind(HTTP, seen.ports[0].host_port),)
    verified = stored.memory.verified.started_at == seen.started_at and stored.memory.verified.binds == binds
    return verified and stored.declared.binds == binds and scene.routed(service) == binds


def test_twenty_crashes_among_few_ports_give_no_client_a_page_of_another_service(
    mortal: Mortal, mortal_containers: Containers, directory: Path
) -> None:
    mortal.restart(ports=5)
    with scene(mortal_containers, directory, "a", "b") as host:
        made = {each: mortal_containers.run_web(each, stop_timeout_s=1) for each in ("a", "b")}
        for service, container_id in made.items():
            host.adopt(service, container_id)
        host.converge()
        ports: dict[str, list[int]] = {each: [host_port(host, each)] for each in made}
        with polled(host, "a", "b") as answers, host.running():
            for crash in range(CRASHES):
                # The engine hands out ports in turn: b, that ends before a does, gets another one, and leaves its own to a.
                for service in ("b", "a") if crash % 3 == 2 else ("a",):
                    ended = host.seen(service).started_at
                    mortal_containers.client.kill(made[service])
                    eventually(partial(has_left, host, service, ended))
                eventually(lambda: serves(host, "a") and serves(host, "b"))
                assert {"a": (200, "a"), "b": (200, "b")} == {each: host.ask(each) for each in made}
                for service, had in ports.items():
                    had.append(host_port(host, service))
        for service, seen in answers.items():
            seen.assert_none_was_wrong()
            assert seen.complete[200, service] > CRASHES
    moves = sum(before != after for before, after in pairwise(ports["a"]))
    assert moves >= CRASHES // 2, ports
    assert set(ports["a"]) & set(ports["b"]), ports


def test_an_engine_restart_that_swaps_two_ports_gives_no_client_a_page_of_the_other_service(
    mortal: Mortal, mortal_containers: Containers, directory: Path
) -> None:
    mortal.restart()
    with scene(mortal_containers, directory, "a", "b") as host:
        made = {each: mortal_containers.run_web(each, stop_timeout_s=1) for each in ("b", "a")}
        for service, container_id in made.items():
            host.adopt(service, container_id)
        host.converge()
        before = {each: host_port(host, each) for each in made}
        with polled(host, "a", "b") as answers:
            mortal.restart()
            host.reconciler(ThreadCrew(1))  # a before b, so that the engine hands out the ports the other way round
            host.converge()
            after = {each: host_port(host, each) for each in made}
            host.assert_converged("a", "b")
        for seen in answers.values():
            seen.assert_none_was_wrong()
    assert {"a": before["b"], "b": before["a"]} == after
