"""`run` on a real engine: what happens is answered when it happens, although the next pass is far away."""

import time
from pathlib import Path

import pytest

from gordon_core.effects import Start
from tests.engine_fixtures import NEEDS_ENGINE, Containers
from tests.haproxy import NEEDS_HAPROXY
from tests.on_engine.conftest import Mortal
from tests.on_engine.scene import Scene, eventually, polled, scene, starts

pytestmark = [*NEEDS_ENGINE, *NEEDS_HAPROXY]

FAR_S = 600.0
"""The cadence: no pass but the first, and those that are asked for, comes in any test."""
SOON_S = 60.0
"""What an answer may take on a busy machine; on an idle one it comes within a second."""
ENDS_S = 10.0
MANY = tuple(f"s{each}" for each in range(10))


def served(host: Scene, containers: Containers, *services: str) -> dict[str, str]:
    made = {each: containers.run_web(each, stop_timeout_s=1) for each in services}
    for service, container_id in made.items():
        host.adopt(service, container_id)
    host.converge()
    return made


def test_a_kill_a_pause_and_a_removal_are_answered_long_before_the_next_pass(containers: Containers, directory: Path) -> None:
    with scene(containers, directory, "web", "api", "old", "calm") as host:
        made = served(host, containers, "web", "api", "old", "calm")
        before = len(host.journal.entries)
        with host.running(FAR_S) as reports, polled(host, "calm") as answers:
            eventually(lambda: reports, within_s=SOON_S)
            containers.client.kill(made["web"])
            eventually(lambda: len(host.journal.entries) > before and () != host.routed("web"), within_s=SOON_S)
            eventually(lambda: host.journal.kinds("shop/web").count("Publish") == 2, within_s=SOON_S)
            containers.client.pause(made["api"])
            eventually(lambda: () == host.routed("api"), within_s=SOON_S)
            containers.client.unpause(made["api"])
            eventually(lambda: () != host.routed("api"), within_s=SOON_S)
            containers.client.remove_container(made["old"], force=True)
            eventually(lambda: () == host.routed("old"), within_s=SOON_S)
            begun_s = time.monotonic()
        assert time.monotonic() - begun_s < ENDS_S
        assert 1 == sum(each.is_whole for each in reports)
        kinds = [type(each.effect).__name__ for each in host.journal.entries[before:] if each.name == "shop/web"]
        assert ["Withdraw", "RecordAttempt", "Start", "Probe", "PersistBinds", "RecordVerified", "Publish"] == kinds
        assert [] == [each for each in host.journal.entries[before:] if each.name == "shop/calm"]
        answers["calm"].assert_undisturbed()


@pytest.mark.parametrize("flags", ["", "--live-restore"], ids=["without live-restore", "with live-restore"])
def test_an_engine_that_was_killed_finds_each_of_ten_started_once_or_left_running(
    flags: str, mortal: Mortal, mortal_containers: Containers, directory: Path
) -> None:
    mortal.restart(flags)
    with scene(mortal_containers, directory, *MANY) as host:
        served(host, mortal_containers, *MANY)
        executions = {each: host.seen(each).started_at for each in MANY}
        before = len(host.journal.entries)
        with host.running(FAR_S) as reports:
            eventually(lambda: reports, within_s=SOON_S)
            mortal.engine.kill()
            mortal.engine.again(flags)
            back = len(reports)
            eventually(lambda: any(each.is_whole for each in reports[back:]) and reports[-1].is_well, within_s=SOON_S)
            eventually(lambda: all(host.routed(each) for each in MANY), within_s=SOON_S)
        assert dict.fromkeys(MANY, (200,)) == {each: host.ask(each)[:1] for each in MANY}
        assert dict.fromkeys(MANY, 0) == {each: host.memory(each).failures for each in MANY}
        started = [each.name for each in host.journal.entries[before:] if isinstance(each.effect, Start)]
        if flags:
            assert [] == started
            assert executions == {each: host.seen(each).started_at for each in MANY}
        else:
            assert [f"shop/{each}" for each in MANY] == sorted(started)


def test_one_that_ends_again_and_again_costs_the_others_nothing(containers: Containers, directory: Path) -> None:
    with scene(containers, directory, "flap", "web", "calm") as host:
        made = served(host, containers, "web", "calm")
        flap = containers.create("sh", "-c", "sleep 0.1; exit 1", publishes={"80/tcp": 0})
        host.adopt("flap", flap)
        before, begun_s = len(host.journal.entries), time.time()
        with host.running(FAR_S) as reports, polled(host, "calm") as answers:
            eventually(lambda: len(starts(containers, flap, begun_s)) >= 3, within_s=SOON_S)
            first = len(reports)
            containers.client.kill(made["web"])
            eventually(lambda: host.journal.kinds("shop/web").count("Publish") == 2, within_s=SOON_S)
            assert first
        times_s = starts(containers, flap, begun_s)
        assert len(times_s) <= time.time() - begun_s + 2, times_s
        assert [] == [each for each in host.journal.entries[before:] if each.name == "shop/calm"]
        answers["calm"].assert_undisturbed()
