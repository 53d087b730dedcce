"""What the reference did wrong, and what this core does instead: each finding by its number, in a pure world.

R15, R16, R17 and R20 are about time, calls and sockets too; here stands what the core has to do with the first two.
"""

import pytest
from attrs import evolve

from gordon_core.effects import (
    Fault,
    PersistBinds,
    Probe,
    Publish,
    RecordFailure,
    Refused,
    Restart,
    Start,
    Unknown,
    Withdraw,
)
from gordon_core.memory import Memory
from gordon_core.observation import HealthStatus, Status
from gordon_core.planner import plan
from gordon_core.snapshot import Intent, Snapshot
from tests.pure_world import Body, World

FULL_DISK = Refused("database or disk is full", Fault.STORE)
BUSY = Refused("the proxy still shows the server up", Fault.ROUTER)


def converged(**body: object) -> World:
    """Return a world with one service that is as desired, and nothing done yet."""
    world = World()
    world.deploy("web", Body("c1", **body))
    if world.bodies["c1"].health is not None:
        world.bodies["c1"].health = HealthStatus.HEALTHY
    world.run_pass()
    assert "SETTLED" == world.situation("web")
    world.done.clear()
    world.advance(15)
    return world


def memory(world: World) -> Memory:
    """Return what is remembered of the service."""
    return world.subjects["web"].memory


def crashed(world: World) -> None:
    """Let the container end."""
    world.bodies["c1"].status = Status.EXITED


def test_r1_one_pass_brings_a_container_back_whatever_its_start_time_was() -> None:
    world = converged()
    crashed(world)
    assert [
        "Withdraw", "RecordAttempt", "Start", "Probe", "PersistBinds", "RecordVerified", "Publish",
    ] == world.kinds(world.run_pass())  # fmt: skip
    assert (0, 32769) == (memory(world).failures, world.routes["shop", "web"][0].host_port)


def test_r2_a_container_that_dies_after_every_start_is_started_for_ever() -> None:
    world = World(boot_s=0.0)
    world.deploy("web", Body("c1", lifetime_s=0.0), running=False)
    world.run(4600.0, 10.0)
    assert [0, 10, 20, 80, 200, 440, 920, 1820, 2720, 3620, 4520] == world.times(Start)
    assert world.times(Start) == world.times(RecordFailure)


@pytest.mark.parametrize("lifetime_s", [0.0, 5.0, 45.0, 299.0])
def test_r2_the_ladder_counts_from_the_charge_however_long_it_lives_short_of_five_minutes(lifetime_s: float) -> None:
    world = World(boot_s=0.0)
    world.deploy("web", Body("c1", lifetime_s=lifetime_s), running=False)
    world.run(30_000.0, 10.0)
    charges, starts = world.times(RecordFailure), world.times(Start)
    waits = [start - charge for charge, start in zip(charges[2:20], starts[3:], strict=False)]
    assert [60, 120, 240, 480, *[900] * 14] == waits


def test_r3_the_stable_window_belongs_to_one_execution() -> None:
    world = converged(lifetime_s=60.0, policy=True)
    world.change("web", memory=evolve(memory(world), failures=2, charged="earlier"))
    world.run(world.boot_s + 3600, 10.0)
    assert 2 == memory(world).failures


def test_r4_a_sick_container_is_withdrawn_before_it_is_restarted() -> None:
    world = converged(health=HealthStatus.HEALTHY)
    world.fail_check("web")
    assert [] == world.run_pass()
    world.fail_check("web")
    kinds = world.kinds(world.run_pass())
    assert ["Withdraw", "RecordAttempt", "Restart"] == kinds[:3]
    assert "Publish" == kinds[-1]


def test_r5_a_container_that_could_not_be_read_is_left_as_it_is() -> None:
    world = converged()
    world.silent.add("c1")
    assert [] == world.run_pass()
    assert "UNREADABLE" == world.situation("web")
    world.silent.clear()
    assert [] == world.run_pass()
    assert "SETTLED" == world.situation("web")


def test_r6_what_was_paused_serves_again_when_it_goes_on() -> None:
    world = converged()
    world.bodies["c1"].status = Status.PAUSED
    assert ["Withdraw"] == world.kinds(world.run_pass())
    world.bodies["c1"].status = Status.RUNNING
    assert ["Probe", "Publish"] == world.kinds(world.run_pass())


def test_r7_what_could_not_be_withdrawn_once_serves_again_after_the_proof() -> None:
    world = converged()
    world.bodies["c1"].status = Status.PAUSED
    world.force(Withdraw, BUSY)
    world.run_pass()
    assert (True, "BLOCKED") == (world.subjects["web"].unproven, world.situation("web"))
    world.bodies["c1"].status = Status.RUNNING
    assert ["Withdraw", "Probe", "Publish"] == world.kinds(world.run_pass())


def test_r8_one_service_is_published_and_not_its_whole_app() -> None:
    world = World()
    world.deploy("a", Body("ca"))
    world.deploy("b", Body("cb", ready=False))
    assert {"a"} == {each.generation.service for each in world.run_pass() if isinstance(each, Publish)}
    assert [("shop", "a")] == list(world.routes)


def test_r9_a_stopped_app_is_withdrawn_before_it_is_stopped() -> None:
    world = converged()
    world.change("web", intent=Intent.STOPPED)
    assert ["Withdraw", "Stop"] == world.kinds(world.run_pass())
    assert [] == world.run_pass()


def test_r10_a_second_read_that_fails_changes_nothing() -> None:
    """P7, B7: neither for a service that is as desired, nor in the middle of a verification."""
    world = converged()
    world.silent_from_round = 2
    assert [] == world.run_pass()
    world.routes.clear()
    assert ["Probe"] == world.kinds(world.run_pass())
    assert ("UNREADABLE", 0) == (world.situation("web"), memory(world).failures)
    world.silent_from_round = 99
    assert ["Probe", "Publish"] == world.kinds(world.run_pass())


def test_r11_a_full_disk_is_not_charged_to_the_workload() -> None:
    world = converged()
    crashed(world)
    world.force(PersistBinds, FULL_DISK)
    world.run_pass()
    assert ("BLOCKED", 0, {}) == (world.situation("web"), memory(world).failures, world.routes)
    assert ["Probe", "PersistBinds", "RecordVerified", "Publish"] == world.kinds(world.run_pass())


def test_r12_a_paused_container_is_withdrawn_once() -> None:
    world = converged()
    world.bodies["c1"].status = Status.PAUSED
    assert [Withdraw("shop", "web")] == world.run_pass()
    assert [] == world.run_pass()


def test_r13_looks_at_one_and_the_same_probe_result_are_one_strike() -> None:
    world = converged(health=HealthStatus.HEALTHY)
    world.fail_check("web")
    assert [[], [], []] == [world.run_pass() for _ in range(3)]
    strikes = memory(world).strikes
    assert strikes is not None
    assert (1, "WATCHED") == (strikes.count, world.situation("web"))


def test_r14_a_health_check_without_a_result_is_not_stable() -> None:
    world = converged(health=HealthStatus.HEALTHY)
    world.change("web", memory=evolve(memory(world), failures=1))
    world.bodies["c1"].health = HealthStatus.STARTING
    world.run(world.boot_s + 600, 15.0)
    assert ("UNCONFIRMED", 1, None) == (world.situation("web"), memory(world).failures, memory(world).window)


def test_r15_a_service_whose_command_hangs_does_not_hold_up_another() -> None:
    world = World()
    for name in ("a", "b"):
        world.deploy(name, Body(f"c{name}"), running=False)
    world.change("a", in_flight="start it")
    world.run_pass()
    assert ("IN_FLIGHT", "PROVING") == (world.situation("a"), world.situation("b"))


def test_r16_what_did_not_change_is_not_decided_again() -> None:
    world = World()
    for number in range(30):
        world.deploy(f"s{number}", Body(f"c{number}"))
    world.run_pass()
    snapshot = Snapshot(world.clock, tuple(world.subjects.values()))
    first, second = plan(snapshot), plan(Snapshot(evolve(world.clock, boot_s=world.boot_s + 15), snapshot.subjects))
    assert all(one is other for one, other in zip(first.services, second.services, strict=True))


def test_r18_a_process_that_was_restarted_touches_nothing() -> None:
    """L5: memory is durable and keyed by the execution."""
    world = converged()
    world.subjects = {name: evolve(each) for name, each in world.subjects.items()}
    assert [] == world.run_pass()


def test_r18_budgets_are_kept_over_a_restart_of_the_process() -> None:
    world = World(boot_s=0.0)
    world.deploy("web", Body("c1", lifetime_s=0.0), running=False)
    while world.boot_s < 4600:
        world.subjects = {name: evolve(each) for name, each in world.subjects.items()}
        world.run_pass()
        world.advance(10)
    assert [0, 10, 20, 80, 200, 440, 920, 1820, 2720, 3620, 4520] == world.times(Start)


def test_r19_a_container_that_the_engine_restarts_is_withdrawn() -> None:
    world = converged()
    world.bodies["c1"].status = Status.RESTARTING
    assert [Withdraw("shop", "web")] == world.run_pass()
    assert "TRANSITIONAL" == world.situation("web")


# --- the same faults, put together --------------------------------------------------------------------------------------


def test_no_answer_to_a_start_is_no_failure_and_the_start_is_tried_again() -> None:
    world = converged()
    crashed(world)
    world.force(Start, Unknown("no answer"))
    assert ["Withdraw", "RecordAttempt", "Start"] == world.kinds(world.run_pass())
    assert ("SPENT", 0) == (world.situation("web"), memory(world).failures)
    assert ["Start", "Probe", "PersistBinds", "RecordVerified", "Publish"] == world.kinds(world.run_pass())


def test_an_engine_that_refuses_every_start_for_its_own_fault_charges_nothing() -> None:
    """B7, L1: tried once in every pass."""
    world = converged()
    crashed(world)
    world.force(Start, *[Refused("500: the engine is shutting down", Fault.ENGINE)] * 10)
    for _ in range(10):
        world.run_pass()
    assert (10, 0) == (len(world.times(Start)), memory(world).failures)
    world.run_pass()
    assert "PROVING" == world.situation("web")


def test_a_service_under_a_deaf_router_is_not_touched_until_it_hears_again() -> None:
    """Nothing is published, and nothing that may be routed is touched, unless a withdrawal succeeds."""
    world = converged()
    crashed(world)
    world.deaf = True
    assert ["Withdraw"] == world.kinds(world.run_pass())
    assert ["Withdraw"] == world.kinds(world.run_pass())
    world.deaf = False
    kinds = world.kinds(world.run_pass())
    assert ["Withdraw", "RecordAttempt", "Start"] == kinds[:3]
    assert "Publish" == kinds[-1]


def test_a_slow_workload_is_charged_once_and_served_when_it_is_ready() -> None:
    world = converged()
    world.bodies["c1"].ready = False
    crashed(world)
    world.run_pass()
    assert ("NOT_READY", 1) == (world.situation("web"), memory(world).failures)
    waits = [each.wait_s for each in world.run_pass() if isinstance(each, Probe)]
    assert ([0.0], 1) == (waits, memory(world).failures)
    world.bodies["c1"].ready = True
    assert ["Probe", "PersistBinds", "RecordVerified", "Publish"] == world.kinds(world.run_pass())


def test_history_goes_after_five_stable_minutes_and_not_before() -> None:
    world = converged()
    crashed(world)
    world.run_pass()
    assert memory(world).has_history()
    for _ in range(19):
        world.advance(15)
        assert [] == world.run_pass()
    world.advance(15)
    assert ["DropHistory"] == world.kinds(world.run_pass())
    assert ("SETTLED", "") == (world.situation("web"), memory(world).boot_id)


def test_a_long_and_troubled_life_stays_within_the_invariants() -> None:
    """P1 and P2 are checked by the world itself; a proxy, a health check and a workload fail in turn."""
    world = converged(lifetime_s=400.0, health=HealthStatus.HEALTHY)
    for number in range(400):
        if number % 7 == 3:
            world.force(Withdraw, BUSY)
        if number % 50 < 2 and world.bodies["c1"].status is Status.RUNNING:
            world.fail_check("web")
        world.run_pass()
        world.advance(15)
    world.forced.clear()
    assert world.times(Start)
    assert world.times(Restart)
    assert len(world.times(Start, Restart)) <= len(world.times(Publish)) + 1
