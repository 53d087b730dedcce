"""`run` on a real engine: what happens is answered when it happens, although the next pass is far away."""

import time
from pathlib import Path

import pytest
from attrs import evolve

from gordon_core.effects import Start
from gordon_core.policy import Policy, WhenUnhealthy
from gordon_core.situations import Situation
from gordon_shell.reconciler import Report
from tests.engine_fixtures import NEEDS_ENGINE, Containers, web
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
ONE_CHARGE = Policy(free_failures=1, ladder_s=(FAR_S,), unhealthy_threshold=1)
"""A policy under which one charge is the end of what recovery tries in any test, and one failed check is enough: the engine tells
when the health changes, and not of the second check that fails."""
WELL = "/tmp/well"  # noqa: S108 - inside the container


def served(host: Scene, containers: Containers, *services: str) -> dict[str, str]:
    made = {each: containers.run_web(each, stop_timeout_s=1) for each in services}
    for service, container_id in made.items():
        host.adopt(service, container_id)
    host.converge()
    return made


def situations(report: Report) -> dict[str, Situation]:
    return {each.subject.name: each.situation for each in report.plan.services}


def kinds_since(host: Scene, before: int, name: str) -> list[str]:
    return [type(each.effect).__name__ for each in host.journal.entries[before:] if each.name == name]


def checked(containers: Containers, page: str) -> str:
    """Run a web server that is healthy after its start, and then for as long as the file WELL is in its container."""
    command = f"touch {WELL} && {web(page)[-1]}"
    return containers.run(
        "sh", "-c", command, publishes={"80/tcp": 0}, check=f"test -e {WELL}", check_every_s=0.5, stop_timeout_s=1
    )


def does(containers: Containers, container_id: str, *command: str) -> None:
    made = containers.client.exec_create(container_id, list(command))
    containers.client.exec_start(made["Id"])


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


def test_one_that_is_unpaused_and_one_that_somebody_starts_are_routed_long_before_the_next_pass(
    containers: Containers, directory: Path
) -> None:
    with scene(containers, directory, "asleep", "ended") as host:
        asleep = served(host, containers, "asleep")["asleep"]
        ended = containers.create("sh", "-c", f"mkdir /ran && exit 1; {web('ended')[-1]}", publishes={"80/tcp": 0})
        host.adopt("ended", ended, policy=ONE_CHARGE)
        containers.client.pause(asleep)
        resting = {"shop/asleep": Situation.PAUSED, "shop/ended": Situation.COOLING}
        eventually(lambda: resting == situations(host.passes()), within_s=SOON_S)
        before = len(host.journal.entries)
        with host.running(FAR_S) as reports:
            eventually(lambda: reports, within_s=SOON_S)
            assert resting == situations(reports[0])
            containers.client.unpause(asleep)
            containers.client.start(ended)
            eventually(lambda: "Publish" in kinds_since(host, before, "shop/asleep"), within_s=SOON_S)
            eventually(lambda: "Publish" in kinds_since(host, before, "shop/ended"), within_s=SOON_S)
        assert 1 == sum(each.is_whole for each in reports)
        assert ["Probe", "Publish"] == kinds_since(host, before, "shop/asleep")
        assert ["Probe", "PersistBinds", "RecordVerified", "Publish"] == kinds_since(host, before, "shop/ended")
        assert [(200, "asleep"), (200, "ended")] == [host.ask("asleep"), host.ask("ended")]


def test_one_that_turns_unhealthy_and_one_that_turns_healthy_are_answered_long_before_the_next_pass(
    containers: Containers, directory: Path
) -> None:
    policies = {"left": evolve(ONE_CHARGE, unhealthy=WhenUnhealthy.WITHDRAW), "renewed": ONE_CHARGE}
    with scene(containers, directory, *policies) as host:
        made = {each: checked(containers, each) for each in policies}
        for service, policy in policies.items():
            host.adopt(service, made[service], policy=policy)
        host.converge()
        before = len(host.journal.entries)
        with host.running(FAR_S) as reports:
            eventually(lambda: reports, within_s=SOON_S)
            for container_id in made.values():
                does(containers, container_id, "rm", WELL)
            eventually(lambda: Situation.SIDELINED is situations(reports[-1])["shop/left"], within_s=SOON_S)
            assert () == host.routed("left")
            eventually(lambda: "Publish" in kinds_since(host, before, "shop/renewed"), within_s=SOON_S)
            does(containers, made["left"], "touch", WELL)
            does(containers, made["renewed"], "rm", WELL)
            eventually(lambda: "Publish" in kinds_since(host, before, "shop/left"), within_s=SOON_S)
            eventually(lambda: "RecordFailure" in kinds_since(host, before, "shop/renewed"), within_s=SOON_S)
        assert 1 == sum(each.is_whole for each in reports)
        assert ["Withdraw", "Probe", "Publish"] == kinds_since(host, before, "shop/left")
        restarted = ["Withdraw", "RecordAttempt", "Restart", "AwaitHealth", "Probe", "PersistBinds", "RecordVerified", "Publish"]
        assert [*restarted, "RecordFailure"] == kinds_since(host, before, "shop/renewed")
        assert 1 == host.memory("renewed").failures
        assert (200, "left") == host.ask("left")


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
