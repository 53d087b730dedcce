"""A HAProxy that is reloaded, as after each new service: the process that takes over knows no route, and is told them again."""

from pathlib import Path

import pytest

from gordon_core.effects import Publish, Restart, Start, Withdraw
from tests.engine_fixtures import NEEDS_ENGINE, Containers
from tests.haproxy import NEEDS_HAPROXY
from tests.on_engine.scene import Scene, polled, scene

pytestmark = [*NEEDS_ENGINE, *NEEDS_HAPROXY]
HOWS = pytest.mark.parametrize("master", [False, True], ids=["another process with -sf", "SIGUSR2 to the master"])
KEEPS_STATE = """
global
    server-state-file {file}
defaults
    mode http
    timeout connect 2s
    timeout client 30s
    timeout server 30s
    load-server-state-from-file global
"""


def served(host: Scene, containers: Containers, *services: str) -> dict[str, str]:
    made = {each: containers.run_web(each, stop_timeout_s=1) for each in services}
    for service, container_id in made.items():
        host.adopt(service, container_id)
    host.converge()
    return made


@HOWS
def test_one_that_forgot_its_routes_is_told_them_again_and_costs_no_container_its_life(
    containers: Containers, directory: Path, *, master: bool
) -> None:
    with scene(containers, directory, "a", "b", master=master) as host:
        made = served(host, containers, "a", "b")
        before, seen = len(host.journal.entries), {each: host.seen(each) for each in made}
        with polled(host, "a", "b") as answers:
            host.proxy.reload()
            assert {"a": (), "b": ()} == {each: host.routed(each) for each in made}
            assert [503, 503] == [host.ask(each)[0] for each in made]
            host.passes()
            assert {each: (200, each) for each in made} == {each: host.ask(each) for each in made}
            host.assert_converged("a", "b")
        for answer in answers.values():
            answer.assert_none_was_wrong()
        kinds = {type(each.effect) for each in host.journal.entries[before:]}
        assert (True, set()) == (Publish in kinds, kinds & {Start, Restart, Withdraw})
        assert seen == {each: host.seen(each) for each in made}


@HOWS
def test_one_whose_administrator_keeps_the_state_of_servers_brings_no_route_of_another_day_back(
    containers: Containers, directory: Path, *, master: bool
) -> None:
    """The file is older than the last recovery, in which two containers came back at each other's ports."""
    saved = directory / "servers"
    with scene(containers, directory, "a", "b", master=master, settings=KEEPS_STATE.format(file=saved)) as host:
        made = served(host, containers, "a", "b")
        saved.write_text(host.proxy.say("show servers state") + "\n")
        of_that_day = {each: host.routed(each) for each in made}
        for each in made.values():
            containers.client.kill(each)
        for each in reversed(made):
            containers.client.start(made[each])
        host.converge()
        assert of_that_day != {each: host.routed(each) for each in made}
        with polled(host, "a", "b") as answers:
            host.proxy.reload()
            assert {"a": (), "b": ()} == {each: host.routed(each) for each in made}
            host.passes()
            host.assert_converged("a", "b")
        for seen in answers.values():
            seen.assert_none_was_wrong()
