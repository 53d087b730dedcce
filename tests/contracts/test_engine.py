"""What every Engine holds to: one suite for the memory engine and a real Docker engine."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import pytest

from gordon_core.blueprint import Blueprint
from gordon_core.effects import Done, Fault, Refused, Unknown
from gordon_core.observation import Container, Gone, HealthStatus, Port, Protocol, Status
from gordon_shell.errors import EngineError
from gordon_shell.ports import Details, Mount, Row
from tests.engine_fixtures import IMAGE, NEEDS_ENGINE, Containers, spare_engine
from tests.engine_worlds import HTTP, DockerWorld, MemoryWorld, World

ABSENT = "f" * 64
DNS = Port(53, Protocol.UDP)
DOCKER = pytest.param("docker", marks=NEEDS_ENGINE)


@pytest.fixture(params=["memory", DOCKER])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    if request.param == "memory":
        yield MemoryWorld()
        return
    with Containers(request.getfixturevalue("docker_engine_host")) as containers:
        made = DockerWorld(containers, containers.host)
        yield made
        made.close()


@pytest.fixture(params=["memory", "memory --live-restore", DOCKER, pytest.param("docker --live-restore", marks=NEEDS_ENGINE)])
def mortal(request: pytest.FixtureRequest) -> Iterator[tuple[World, bool]]:
    """Return a world whose engine may be killed, and whether its containers outlive that."""
    kind, _, flags = request.param.partition(" ")
    if kind == "memory":
        yield MemoryWorld(live_restore=bool(flags)), bool(flags)
        return
    with spare_engine(flags) as spare, Containers(spare.host) as containers:
        made = DockerWorld(containers, spare.host, spare, flags)
        yield made, bool(flags)
        made.close()


def row(world: World, container_id: str) -> Row:
    return next(each for each in world.engine.rows() if each.container_id == container_id)


def runs(seen: Container) -> bool:
    return seen.status is Status.RUNNING


def is_down(seen: Container) -> bool:
    return seen.status is Status.EXITED


def test_a_container_that_never_started_has_no_times_no_ports_and_no_end(world: World) -> None:
    created = world.web({HTTP: 0})
    seen = world.container(created)
    assert Container(created, Status.CREATED, name=seen.name) == seen
    assert (Status.CREATED, (), HealthStatus.UNREAD) == (
        row(world, created).status,
        row(world, created).ports,
        row(world, created).health,
    )


def test_a_started_container_runs_at_its_ports_tcp_and_udp_apart_and_its_row_says_the_same(world: World) -> None:
    started = world.web({HTTP: 0, DNS: 0})
    assert Done() == world.engine.start(started)
    seen = world.container(started)
    assert (Status.RUNNING, None) == (seen.status, seen.exit)
    assert "" != seen.started_at
    assert [(DNS, "127.0.0.1"), (HTTP, "127.0.0.1")] == [(each.port, each.host_ip) for each in seen.ports]
    listed = row(world, started)
    assert (seen.status, seen.ports, seen.name) == (listed.status, listed.ports, listed.name)
    assert listed.uptime.startswith("Up ")
    assert HealthStatus.NONE is listed.health


def test_starting_one_that_runs_is_done_and_changes_nothing(world: World) -> None:
    before = world.started(world.silent())
    assert Done() == world.engine.start(before.container_id)
    assert before == world.container(before.container_id)


def test_one_that_ended_shows_its_exit_code_and_finish_time_and_no_ports(world: World) -> None:
    ended = world.ending(3)
    world.engine.start(ended)
    seen = world.eventually(ended, is_down)
    assert seen.exit is not None
    assert (3, False, "", ()) == (seen.exit.code, seen.exit.oom_killed, seen.exit.error, seen.ports)
    # Not compared with the start: an engine may note the end of what ends at once before it notes the start.
    assert [True] * 2 == [datetime.fromisoformat(each).year > 1 for each in (seen.started_at, seen.exit.finished_at)]
    assert row(world, ended).uptime.startswith("Exited (3) ")


def test_one_that_was_killed_shows_137(world: World) -> None:
    started = world.started(world.silent())
    world.kill(started.container_id)
    seen = world.container(started.container_id)
    assert (Status.EXITED, started.started_at) == (seen.status, seen.started_at)
    assert seen.exit is not None
    assert 137 == seen.exit.code


def test_a_restart_and_a_start_after_an_end_are_other_executions(world: World) -> None:
    first = world.started(world.silent({HTTP: 0}))
    assert Done() == world.engine.restart(first.container_id, 0.5)
    second = world.container(first.container_id)
    world.kill(first.container_id)
    third = world.started(first.container_id)
    assert [Status.RUNNING] * 3 == [each.status for each in (first, second, third)]
    assert 3 == len({each.started_at for each in (first, second, third)})


def test_a_stop_is_done_on_one_that_runs_and_on_one_that_is_down(world: World) -> None:
    started = world.started(world.silent()).container_id
    assert Done() == world.engine.stop(started, 0.0)
    assert is_down(world.container(started))
    assert Done() == world.engine.stop(started, 0.0)


def test_a_paused_one_hides_its_health_refuses_to_start_and_can_be_stopped(world: World) -> None:
    started = world.started(world.silent()).container_id
    world.pause(started)
    seen, listed = world.container(started), row(world, started)
    assert (Status.PAUSED, Status.PAUSED, HealthStatus.UNREAD) == (seen.status, listed.status, listed.health)
    assert listed.uptime.endswith("(Paused)")
    refused = world.engine.start(started)
    assert isinstance(refused, Refused)
    assert Fault.CONFLICT is refused.fault
    assert "paused" in refused.reason
    assert Done() == world.engine.stop(started, 0.0)
    assert is_down(world.container(started))


def test_an_unpaused_one_is_the_same_execution(world: World) -> None:
    before = world.started(world.silent({HTTP: 0}))
    world.pause(before.container_id)
    world.unpause(before.container_id)
    assert before == world.container(before.container_id)


def test_a_refused_start_keeps_the_words_of_the_engine_and_is_the_fault_of_the_workload(world: World) -> None:
    holder = world.started(world.silent({HTTP: 28080}))
    loser = world.silent({HTTP: 28080})
    refused = world.engine.start(loser)
    assert isinstance(refused, Refused)
    assert Fault.WORKLOAD is refused.fault
    assert "Bind for 127.0.0.1:28080 failed: port is already allocated" in refused.reason
    seen = world.container(loser)
    assert (Status.CREATED, "") == (seen.status, seen.started_at)
    assert seen.exit is not None
    assert "port is already allocated" in seen.exit.error
    assert "" == seen.exit.finished_at
    world.kill(holder.container_id)
    assert Done() == world.engine.start(loser)
    assert world.container(loser).exit is None


def test_what_is_gone_is_gone_its_commands_are_a_conflict_and_its_removal_is_done(world: World) -> None:
    removed = world.started(world.silent()).container_id
    world.delete(removed)
    for container_id in (removed, ABSENT):
        assert Gone() == world.engine.inspect(container_id)
        refusals = [
            world.engine.start(container_id),
            world.engine.restart(container_id, 0.0),
            world.engine.stop(container_id, 0.0),
        ]
        assert [Fault.CONFLICT] * 3 == [each.fault for each in refusals if isinstance(each, Refused)]
        assert all("No such container" in each.reason for each in refusals if isinstance(each, Refused))
        assert Done() == world.engine.remove(container_id)
    assert not {removed, ABSENT} & {each.container_id for each in world.engine.rows()}


def test_only_one_that_is_down_is_removed(world: World) -> None:
    started = world.started(world.silent()).container_id
    refused = world.engine.remove(started)
    assert isinstance(refused, Refused)
    assert Fault.CONFLICT is refused.fault
    assert runs(world.container(started))
    world.engine.stop(started, 0.0)
    assert Done() == world.engine.remove(started)
    assert Gone() == world.engine.inspect(started)


def test_failed_health_results_have_names_of_their_own_and_the_streak_counts_them(world: World) -> None:
    started = world.checked(good=False)
    world.engine.start(started)
    seen = world.eventually(started, lambda each: each.health.streak >= 2)
    assert HealthStatus.UNHEALTHY is seen.health.status
    failures = seen.health.failures()
    assert seen.health.streak == len(failures)
    assert len(failures) == len({each.started_at for each in failures})
    assert {1} == {each.exit_code for each in failures}
    assert {"not well"} == {each.output.strip() for each in failures}
    assert HealthStatus.UNHEALTHY is row(world, started).health


def test_health_is_starting_until_there_is_a_result_then_healthy_and_anew_with_each_execution(world: World) -> None:
    started = world.checked(good=True)
    assert runs(world.started(started))
    world.eventually(started, lambda each: each.health.status is HealthStatus.HEALTHY)
    assert HealthStatus.HEALTHY is row(world, started).health
    world.engine.restart(started, 0.0)
    assert (HealthStatus.STARTING, 0) == (world.container(started).health.status, world.container(started).health.streak)
    assert HealthStatus.STARTING is row(world, started).health


def test_details_tell_labels_mounts_devices_grace_and_restart_policy(world: World) -> None:
    mount = Mount("/usr", read_only=True)
    container_id = world.described({"app": "shop", "tier": ""}, mount, "/dev/null", 42)
    seen = world.engine.inspect(container_id)
    expected = ({"app": "shop", "tier": ""}, (mount,), ("/dev/null",), 42.0, "unless-stopped")
    assert isinstance(seen, Details)
    assert expected == (seen.labels, seen.mounts, seen.devices, seen.stop_grace_s, seen.restart_policy)
    assert {"app": "shop", "tier": ""} == row(world, container_id).labels


def test_many_threads_may_use_one_engine(world: World) -> None:
    made = [world.silent() for _ in range(4)]
    with ThreadPoolExecutor(16) as pool:
        starts = list(pool.map(world.engine.start, made))
        looks = list(pool.map(world.container, made * 16))
        lists = list(pool.map(lambda _: len(world.engine.rows()), range(16)))
    assert [Done()] * 4 == starts
    assert made * 16 == [each.container_id for each in looks]
    assert 1 == len(set(lists))


def test_a_killed_engine_is_silence_and_then_shows_what_became_of_its_containers(mortal: tuple[World, bool]) -> None:
    world, outlives = mortal
    before = world.started(world.silent())
    world.kill_engine()
    reads = (
        world.engine.rows,
        lambda: world.engine.inspect(before.container_id),
        lambda: world.engine.image(IMAGE),
        lambda: world.engine.made(before.container_id),
        lambda: world.engine.logs(before.container_id, 1),
    )
    for read in reads:
        with pytest.raises(EngineError):
            read()
    commands = (
        world.engine.start(before.container_id),
        world.engine.stop(before.container_id, 0.0),
        world.engine.restart(before.container_id, 0.0),
        world.engine.remove(before.container_id, force=True),
        world.engine.rename(before.container_id, "other"),
        world.engine.create("other", Blueprint(IMAGE), {}),
        world.engine.pull(IMAGE),
    )
    assert [Unknown] * 7 == [type(each) for each in commands]
    world.start_engine()
    after = world.container(before.container_id)
    assert before.started_at == after.started_at
    assert (Status.RUNNING if outlives else Status.EXITED) is after.status
    assert (None if outlives else 137) == (after.exit and after.exit.code)


def test_it_says_which_engine_it_is_and_what_time_its_clock_shows(world: World) -> None:
    about = world.engine.about()
    assert about.version
    assert (1, 40) <= tuple(map(int, about.api_version.split(".")))
    here_s = world.clock.now().wall_s if isinstance(world, MemoryWorld) else time.time()
    assert here_s == pytest.approx(about.wall_s, abs=5.0)
