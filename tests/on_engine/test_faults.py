"""Faults of everything around a workload: each ends converged, with nothing dark and nothing charged to the workload."""

import contextlib
import itertools
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gordon_core.effects import Restart, Start, Withdraw
from gordon_core.situations import Situation
from tests.engine_fixtures import NEEDS_ENGINE, Containers
from tests.haproxy import NEEDS_HAPROXY, free_port
from tests.on_engine.conftest import Mortal
from tests.on_engine.scene import Scene, polled, scene, told

pytestmark = [*NEEDS_ENGINE, *NEEDS_HAPROXY]


def served(host: Scene, containers: Containers, *services: str, **ports: int) -> dict[str, str]:
    """Run and adopt a container for each service, at a fixed port where `ports` has one, and converge."""
    made = {each: containers.run_web(each, publishes={"80/tcp": ports.get(each, 0)}, stop_timeout_s=1) for each in services}
    for service, container_id in made.items():
        host.adopt(service, container_id)
    host.converge()
    return made


def situation(host: Scene, service: str) -> Situation:
    decisions = {each.subject.service: each.situation for each in host.passes().plan.services}
    return decisions[service]


def test_a_paused_container_is_withdrawn_and_left_alone_and_serves_again_when_it_is_unpaused(
    containers: Containers, directory: Path
) -> None:
    with scene(containers, directory, "web", "calm") as host:
        made = served(host, containers, "web", "calm")
        before, execution = len(host.journal.entries), host.seen("web").started_at
        with polled(host, "calm") as answers:
            containers.client.pause(made["web"])
            assert [Situation.PAUSED] * 2 == [situation(host, "web"), situation(host, "web")]
            assert ["Withdraw"] == host.journal.kinds()[before:]
            assert 503 == host.ask("web")[0]
            containers.client.unpause(made["web"])
            host.assert_converged("web", "calm")
        answers["calm"].assert_undisturbed()
        assert execution == host.seen("web").started_at
        assert [] == [each for each in host.journal.entries[before:] if isinstance(each.effect, Start | Restart)]


def test_a_removed_container_is_withdrawn_and_reported_and_a_new_one_can_take_its_place(
    containers: Containers, directory: Path
) -> None:
    with scene(containers, directory, "web", "calm") as host:
        made = served(host, containers, "web", "calm")
        before = len(host.journal.entries)
        with polled(host, "calm", "web") as answers:
            containers.client.remove_container(made["web"], force=True)
            report = host.passes()
            assert [Situation.GONE] == [each.situation for each in report.held], told(report)
            assert ["Withdraw", "ReleaseBinds", "Forget"] == host.journal.kinds()[before:]
            declared = host.stored("web").declared
            assert declared is not None
            assert ((), False) == (declared.binds, host.memory("web").has_history())
            host.adopt("web", containers.run_web("web"), revision=2)
            host.assert_converged("web", "calm")
        answers["calm"].assert_undisturbed()
        answers["web"].assert_none_was_wrong()


def test_without_live_restore_a_killed_engine_is_silence_and_then_all_are_started_again(
    mortal: Mortal, mortal_containers: Containers, directory: Path
) -> None:
    mortal.restart()
    with scene(mortal_containers, directory, "a", "b") as host:
        served(host, mortal_containers, "a", "b")
        before = len(host.journal.entries)
        executions = {each: host.seen(each).started_at for each in ("a", "b")}
        with polled(host, "a", "b") as answers:
            mortal.engine.kill()
            assert [Situation.UNREADABLE] * 2 == [each.situation for each in host.passes().plan.services]
            assert [] == host.journal.kinds()[before:]
            mortal.engine.again()
            host.assert_converged("a", "b")
        for each in answers.values():
            each.assert_none_was_wrong()
        assert {"shop/a", "shop/b"} == {each.name for each in host.journal.of(Start)}
        assert 2 == len(host.journal.of(Start))
        assert {} == {each: started for each, started in executions.items() if started == host.seen(each).started_at}


def test_with_live_restore_a_killed_engine_is_silence_and_then_nothing_is_to_be_done(
    mortal: Mortal, mortal_containers: Containers, directory: Path
) -> None:
    mortal.restart("--live-restore")
    with scene(mortal_containers, directory, "a", "b") as host:
        served(host, mortal_containers, "a", "b")
        before, seen = len(host.journal.entries), {each: host.seen(each) for each in ("a", "b")}
        with polled(host, "a", "b") as answers:
            mortal.engine.kill()
            assert [Situation.UNREADABLE] * 2 == [each.situation for each in host.passes().plan.services]
            mortal.engine.again("--live-restore")
            host.assert_converged("a", "b")
        for each in answers.values():
            each.assert_none_was_wrong()
        assert [] == host.journal.kinds()[before:]
        assert seen == {each: host.seen(each) for each in ("a", "b")}


def test_one_that_died_while_a_live_restoring_engine_was_down_is_started_again(
    mortal: Mortal, mortal_containers: Containers, directory: Path
) -> None:
    mortal.restart("--live-restore")
    with scene(mortal_containers, directory, "a", "b") as host:
        made = served(host, mortal_containers, "a", "b")
        pid = mortal_containers.client.inspect_container(made["a"])["State"]["Pid"]
        before = len(host.journal.entries)
        with polled(host, "a", "b") as answers:
            mortal.engine.kill()
            subprocess.run(["kill", "-9", str(pid)], check=True)
            mortal.engine.again("--live-restore")
            host.assert_converged("a", "b")
        for each in answers.values():
            each.assert_none_was_wrong()
        assert ["shop/a"] == [each.name for each in host.journal.entries[before:] if isinstance(each.effect, Start)]
        assert {"shop/a"} == {each.name for each in host.journal.entries[before:]}


def test_a_killed_proxy_costs_no_container_its_life_and_is_told_its_routes_again(containers: Containers, directory: Path) -> None:
    with scene(containers, directory, "a", "b") as host:
        made = served(host, containers, "a", "b")
        before, seen = len(host.journal.entries), {each: host.seen(each) for each in made}
        with polled(host, "a", "b") as answers:
            host.proxy.kill()
            containers.client.kill(made["b"])
            report = host.passes()
            assert not report.is_well
            assert [] == [each for each in host.journal.entries[before:] if isinstance(each.effect, Start | Restart)]
            host.proxy.start()
            assert 503 == host.ask("a")[0]
            host.assert_converged("a", "b")
        for each in answers.values():
            each.assert_none_was_wrong()
        assert seen["a"] == host.seen("a")
        assert [] == [
            each for each in host.journal.entries[before:] if isinstance(each.effect, Withdraw) and each.name == "shop/a"
        ]


def test_a_full_disk_keeps_no_workload_down_and_only_new_binds_wait_for_it(containers: Containers, directory: Path) -> None:
    with (
        tmpfs(directory / "full") as full,
        scene(containers, directory, "calm", "fixed", "moving", state=full / "state.db") as host,
    ):
        made = served(host, containers, "calm", "fixed", "moving", fixed=free_port())
        with polled(host, "calm") as answers:
            with filled(full):
                for each in ("fixed", "moving"):
                    containers.client.kill(made[each])
                reports = [host.passes() for _ in range(3)]
                assert [True] * 3 == [any("disk is full" in each for each in report.trouble) for report in reports]
                assert (200, "fixed") == host.ask("fixed"), told(reports[-1])
                assert "running" == host.seen("moving").status.value
                assert {"shop/moving"} == {each.subject.name for each in reports[-1].held}, told(reports[-1])
                assert 503 == host.ask("moving")[0]
            host.assert_converged("calm", "fixed", "moving")
        answers["calm"].assert_undisturbed()
        assert 2 == len(host.journal.of(Start))


@contextlib.contextmanager
def tmpfs(place: Path) -> Iterator[Path]:
    """Mount 1 MiB of memory at a new directory."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "gordon-test", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@contextlib.contextmanager
def filled(place: Path) -> Iterator[None]:
    """Leave no byte free for the time of a block."""
    ballast = place / "ballast"
    with ballast.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
        file.writelines(itertools.repeat(b"x" * 4096))
    try:
        yield
    finally:
        ballast.unlink()
