"""The loop over a simulated host: what one pass does, in which order, and what it leaves alone."""

import threading
import time
from collections.abc import Callable, Iterable

import pytest
from attrs import evolve

from gordon_core.effects import Done, Effect, Fault, Generation, Outcome, Refused, Start, Unknown
from gordon_core.memory import Memory
from gordon_core.observation import Bind
from gordon_core.situations import Situation
from gordon_core.snapshot import Declared, Intent, Subject
from gordon_shell.crew import Job, ThreadCrew
from gordon_shell.errors import DocumentError, StoreError
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.reconciler import Reconciler
from tests.hosts import HTTP, Host, situations

A_LOOK = ["store.read", "router.read", "store.read", "engine.rows"]
"""What a pass reads of a world in which nothing happened; the locks apart."""
STRAY = (Bind(HTTP, 9000),)
AT_ONCE = Behaviour(exits_after_s=0.0)


@pytest.fixture
def host() -> Host:
    return Host()


def settled(*services: str, app: str = "shop") -> Host:
    host = Host()
    for each in services or ("web",):
        host.service(each, app=app)
    host.settle()
    return host


def reads(host: Host) -> list[str]:
    return [each for each in host.calls.made if not each.startswith("locks.")]


def later(host: Host, seconds: float = 15.0) -> None:
    host.clock.advance(seconds)


# --- nothing to do -----------------------------------------------------------------------------------------------------


def test_a_pass_over_a_converged_world_is_one_list_and_one_read_of_the_router() -> None:
    host = settled("web", "api", "worker")
    later(host)
    report = host.reconciler.run_pass()
    assert A_LOOK == reads(host)
    assert report.is_well
    assert {Situation.SETTLED} == set(situations(report).values())


def test_so_is_one_over_a_stopped_app() -> None:
    host = settled("web", "api")
    host.store.set_intent("shop", Intent.STOPPED)
    host.settle()
    later(host)
    report = host.reconciler.run_pass()
    assert A_LOOK == reads(host)
    assert {Situation.SHUT} == set(situations(report).values())


def test_a_restart_of_the_program_in_a_converged_world_has_no_effect() -> None:
    host = settled("web", "api")
    assert host.restarted().run_pass().is_well
    assert [] == host.calls.commands()
    assert [] == host.calls.of("store.save_memory", "store.persist_binds", "store.set_unproven")


def test_without_anything_declared_nothing_is_touched(host: Host) -> None:
    host.engine.add(Simulated("foreign", "foreign"))
    assert host.reconciler.run_pass().is_well
    assert [] == host.calls.commands()


# --- the way up --------------------------------------------------------------------------------------------------------


def test_a_container_that_is_down_is_served_by_the_end_of_the_pass(host: Host) -> None:
    host.service("web")
    report = host.reconciler.run_pass()
    assert [
        "engine.start web-1",
        "prober.probe 80/tcp at 32768 30.0 0 ",
        "router.publish shop web 80/tcp at 32768",
    ] == host.calls.commands()
    assert {"shop/web": (32768,)} == host.routes()
    assert (Bind(HTTP, 32768),) == host.declared("web").binds
    assert report.plan.is_quiet


def test_every_wrong_route_on_the_host_is_withdrawn_before_the_first_start(host: Host) -> None:
    host.service("aaa")
    for each in ("web", "api"):
        host.service(each, app="zoo")
        host.router.route_by_hand("zoo", each, STRAY)
    host.router.route_by_hand("left", "over", STRAY)
    host.reconciler.run_pass()
    firsts = host.calls.of("router.withdraw", "engine.start")[:4]
    assert ["router.withdraw left over", "router.withdraw zoo api", "router.withdraw zoo web"] == sorted(firsts[:3])
    assert firsts[3].startswith("engine.start")


def test_a_service_that_crashes_is_charged_and_started_at_most_once_a_pass(host: Host) -> None:
    host.service("web", behaviour=AT_ONCE)
    for passes in range(1, 4):
        host.reconciler.run_pass()
        assert passes == len(host.calls.of("engine.start"))
        later(host)
    assert 3 == host.memory("web").failures
    report = host.reconciler.run_pass()
    assert {"shop/web": Situation.COOLING} == situations(report)
    assert 3 == len(host.calls.of("engine.start"))
    assert not report.is_well


def test_rearm_drops_the_waits_of_an_earlier_process_and_keeps_the_failures(host: Host) -> None:
    host.service("web", behaviour=AT_ONCE)
    for _ in range(3):
        host.reconciler.run_pass()
    host.calls.clear()
    host.restarted().run_pass()
    assert [] == host.calls.of("engine.start")
    host.restarted(rearm=True).run_pass()
    assert 1 == len(host.calls.of("engine.start"))
    assert 4 == host.memory("web").failures


def test_all_effects_are_told_to_the_listener_with_their_outcomes(host: Host) -> None:
    told: list[tuple[str, type[Effect], Outcome]] = []

    def listen(subject: Subject, effect: Effect, outcome: Outcome) -> None:
        told.append((subject.name, type(effect), outcome))

    host.service("web")
    host.engine.refuse_start("web-1", "no such device")
    report = Reconciler(host.ports, lambda: None, listener=listen).run_pass()
    assert ("shop/web", Start, Refused("no such device", Fault.WORKLOAD)) in told
    assert [each.effect for each in report.results["shop", "web"]] == [
        each.effect for each in report.results["shop", "web"] if type(each.effect) in {kind for _, kind, _ in told}
    ]
    assert len(told) == len(report.results["shop", "web"])


# --- trouble of one is not trouble of another ----------------------------------------------------------------------------


def test_failures_are_collected_and_hide_no_other_service(host: Host) -> None:
    for each in ("aaa", "bbb", "web"):
        host.service(each)
    host.engine.refuse_start("aaa-1", "no such device")
    host.engine.delete("bbb-1")
    report = host.reconciler.run_pass()
    assert {"shop/aaa": Situation.SPENT, "shop/bbb": Situation.GONE} == {
        each.subject.name: each.situation for each in report.held
    }
    assert {"shop/web"} == set(host.routes())
    assert not report.is_well


def test_a_fault_of_ours_in_one_service_is_reported_and_hides_no_other(host: Host) -> None:
    for each in ("aaa", "web"):
        host.service(each)
    host.calls.before("engine.start aaa-1", lambda: 1 // 0)
    report = host.reconciler.run_pass()
    assert [ZeroDivisionError] == [type(each) for each in report.faults]
    assert {"shop/web"} == set(host.routes())
    assert not report.is_well


def test_a_locked_app_is_skipped_and_not_waited_for() -> None:
    host = Host()
    host.service("web")
    host.service("web", app="zoo")
    lock = host.locks.try_app("shop")
    assert not isinstance(lock, str)
    report = host.reconciler.run_pass()
    assert {"zoo/web"} == set(host.routes())
    assert Situation.LOCKED is situations(report)["shop/web"]
    assert [] == host.calls.of("store.save_memory shop")
    lock.release()
    host.reconciler.run_pass()
    assert {"shop/web", "zoo/web"} == set(host.routes())


def test_every_lock_is_let_go_after_a_pass_also_when_it_fails() -> None:
    host = settled()
    host.reconciler.run_pass()
    assert not isinstance(host.locks.try_app("shop"), str)
    host = settled()
    host.calls.before("engine.rows", lambda: host.store.fail_reads("gone"))
    host.engine.kill("web-1")
    with pytest.raises(StoreError, match="gone"):
        host.reconciler.run_pass()
    assert not isinstance(host.locks.try_app("shop"), str)


def test_a_lock_that_cannot_be_taken_at_all_skips_its_app_alone_and_is_told() -> None:
    host = Host()
    for each in ("bad", "shop"):
        host.service("web", app=each)

    def fail() -> None:
        message = "the lock app-bad.lock cannot be taken: Permission denied"
        raise StoreError(message)

    host.calls.before("locks.try_app bad", fail)
    report = host.reconciler.run_pass()
    assert ("the lock app-bad.lock cannot be taken: Permission denied",) == report.trouble
    assert {"shop/web"} == set(host.routes())
    assert not isinstance(host.locks.try_app("shop"), str)


def test_a_damaged_policy_is_told() -> None:
    def damaged() -> None:
        message = "policy.toml: not TOML"
        raise DocumentError(message)

    report = Reconciler(Host().ports, damaged).run_pass()
    assert ("the host policy could not be read: policy.toml: not TOML",) == report.trouble
    assert not report.is_well


# --- silence, and refusals of others -------------------------------------------------------------------------------------


def test_an_engine_that_says_nothing_changes_nothing() -> None:
    host = settled("web", "api")
    host.engine.unreachable("it hangs")
    report = host.reconciler.run_pass()
    assert [] == host.calls.commands()
    assert {Situation.UNREADABLE} == set(situations(report).values())


def test_a_router_that_cannot_be_read_leaves_all_that_is_published_alone_and_starts_what_is_not() -> None:
    host = settled("web")
    host.service("worker", published=False)
    host.engine.kill("web-1")
    host.router.fail_reads = host.router.fail_withdraw = "no socket"
    report = host.reconciler.run_pass()
    assert ["engine.start worker-1"] == host.calls.of("engine.start", "engine.stop", "engine.restart")
    assert [] == host.calls.of("router.publish")
    assert 0 == host.memory("web").failures
    assert not report.is_well
    host.router.fail_reads = host.router.fail_withdraw = ""
    host.reconciler.run_pass()
    assert {"shop/web": (32769,)} == host.routes()


def test_a_withdrawal_that_fails_is_unproven_and_nothing_is_started_before_it_is_proven() -> None:
    host = settled("web")
    host.engine.kill("web-1")
    host.router.fail_withdraw = "no socket"
    for _ in range(2):
        report = host.reconciler.run_pass()
        assert [] == host.calls.of("engine.start", "router.publish")
        assert host.stored("web").unproven
        assert {"shop/web": Situation.BLOCKED} == situations(report)
    host.router.fail_withdraw = ""
    host.restarted().run_pass()
    assert {"shop/web": (32768,)} == host.routes()
    assert not host.stored("web").unproven


def test_a_store_that_cannot_be_written_keeps_nothing_down_and_is_told() -> None:
    host = settled("web")
    host.engine.kill("web-1")
    host.store.fail_writes("the disk is full")
    report = host.reconciler.run_pass()
    assert ("the disk is full",) == report.trouble
    assert {"shop/web": (32768,)} == host.routes()
    assert not report.is_well
    later(host)
    report = host.reconciler.run_pass()
    assert 1 == len(host.calls.of("engine.start"))
    host.store.fail_writes(None)
    assert () == host.reconciler.run_pass().trouble
    verified = host.memory("web").verified
    assert verified is not None
    assert host.container("web-1").started_at == verified.started_at


def test_a_store_that_cannot_be_written_does_not_lift_the_budget(host: Host) -> None:
    host.service("web", behaviour=AT_ONCE)
    host.store.fail_writes("the disk is full")
    for _ in range(6):
        host.reconciler.run_pass()
    assert 3 == len(host.calls.of("engine.start"))
    host.store.fail_writes(None)
    host.reconciler.run_pass()
    assert 3 == host.memory("web").failures


def test_only_binds_that_active_must_learn_wait_for_the_disk(host: Host) -> None:
    host.service("web")
    host.store.fail_writes("the disk is full")
    host.reconciler.run_pass()
    assert [] == host.calls.of("router.publish")
    host.store.fail_writes(None)
    host.reconciler.run_pass()
    assert {"shop/web": (32768,)} == host.routes()
    assert 1 == len(host.calls.of("engine.start"))


def test_what_is_held_is_not_written_while_somebody_else_has_the_lock() -> None:
    host = settled("web")
    host.engine.kill("web-1")
    host.store.fail_writes("the disk is full")
    host.reconciler.run_pass()
    host.store.fail_writes(None)
    before = host.memory("web")
    lock = host.locks.try_app("shop")
    assert not isinstance(lock, str)
    assert () == host.reconciler.run_pass().trouble
    assert before == host.memory("web")
    lock.release()
    host.reconciler.run_pass()
    assert before != host.memory("web")


# --- ports that go to another container -----------------------------------------------------------------------------------


def swapped() -> Host:
    """Let an engine that ended everything hand the port of web to other, which started first; both are routed as before."""
    host = settled("web", "other")
    assert {"shop/other": (32768,), "shop/web": (32769,)} == host.routes()
    for each in ("web-1", "other-1"):
        host.engine.kill(each)
    host.engine.start("web-1")
    host.calls.clear()
    assert 32768 == host.container("web-1").ports[0].host_port
    return host


def test_a_route_that_names_the_port_of_another_is_withdrawn_before_anything_is_started() -> None:
    host = swapped()
    host.reconciler.run_pass()
    assert {"router.withdraw shop web", "router.withdraw shop other"} == set(host.calls.of("router.withdraw"))
    assert host.calls.commands()[2] == "engine.start other-1"
    assert {"shop/web": (32768,), "shop/other": (32769,)} == host.routes()


def test_so_is_one_of_a_locked_app_and_nothing_else_is_done_to_it() -> None:
    host = settled("web", app="zoo")
    host.service("web")
    host.engine.kill("web-1")
    host.engine.add(Simulated("web-1", "web", ((HTTP, 0),)), Simulated("mine", "mine", ((HTTP, 0),)))
    assert Done() == host.store.activate("mine", "mine", Declared("mine", 1, (HTTP,)), 0, None)
    host.engine.start("mine")
    assert 32768 == host.container("mine").ports[0].host_port
    locked = host.locks.try_app("zoo")
    assert not isinstance(locked, str)
    host.reconciler.run_pass()
    assert ["router.withdraw zoo web"] == host.calls.of("router.withdraw zoo")
    assert "zoo/web" not in host.routes()
    assert (32768,) == host.routes()["mine/mine"]
    assert [] == host.calls.of("store.save_memory zoo")


def failing_withdrawal_of(host: Host, service: str) -> Callable[[], None]:
    """Let the withdrawal of one service fail, and no other; return what ends that."""

    def toggle(reason: str) -> Callable[[], object]:
        return lambda: setattr(host.router, "fail_withdraw", reason)

    for each in ("web", "other"):
        host.calls.before(f"router.withdraw shop {each}", toggle("no socket" if each == service else ""))
    return host.calls.clear


def test_where_that_withdrawal_fails_the_holder_is_not_published_is_stopped_and_is_not_charged() -> None:
    host = swapped()
    failing_withdrawal_of(host, "other")
    for _ in range(2):
        host.calls.made.clear()
        report = host.reconciler.run_pass()
        assert "engine.stop web-1 10.0" == host.calls.of("engine.start", "engine.stop")[-1]
        assert [] == host.calls.of("router.publish")
        assert 0 == host.memory("web").failures
        assert not report.is_well
        assert {"shop/web", "shop/other"} == {each.subject.name for each in report.held}
        later(host)


def test_and_it_is_served_again_once_the_withdrawal_is_proven() -> None:
    host = swapped()
    over = failing_withdrawal_of(host, "other")
    host.reconciler.run_pass()
    over()
    host.router.fail_withdraw = ""
    host.reconciler.run_pass()
    assert {"shop/web", "shop/other"} == set(host.routes())
    assert 2 == len({*host.routes().values()})
    assert host.reconciler.run_pass().plan.is_quiet


def test_a_stray_route_is_withdrawn_under_the_lock_of_its_app(host: Host) -> None:
    host.router.route_by_hand("left", "over", STRAY)
    lock = host.locks.try_app("left")
    assert not isinstance(lock, str)
    host.reconciler.run_pass()
    assert {"left/over": (9000,)} == host.routes()
    lock.release()
    host.reconciler.run_pass()
    assert {} == host.routes()
    assert not isinstance(host.locks.try_app("left"), str)


def test_a_stray_route_that_cannot_be_withdrawn_is_told_as_that(host: Host) -> None:
    host.router.route_by_hand("left", "over", STRAY)
    host.router.fail_withdraw = "no socket"
    report = host.reconciler.run_pass()
    assert {"left/over": Situation.BLOCKED} == situations(report)
    assert not report.is_well
    host.router.fail_withdraw = ""
    assert host.reconciler.run_pass().is_well
    assert {} == host.routes()
    assert [] == list(host.store.read())


def test_a_route_that_was_deployed_in_the_meantime_is_no_stray(host: Host) -> None:
    """It is activated and published between the look and the withdrawal."""
    host.router.route_by_hand("new", "web", (Bind(HTTP, 32768),))

    def deploy() -> None:
        host.service("web", app="new")
        host.engine.start("web-1")
        host.verify("web", "web-1", app="new")

    host.calls.once_before("locks.try_app new", deploy)
    host.reconciler.run_pass()
    assert [] == host.calls.of("router.withdraw")


def test_what_left_active_is_forgotten_once(host: Host) -> None:
    host.service("web")
    host.settle()
    host.router.forget()
    host.store.deactivate(Generation("shop", "web", "web-1", 1))
    host.calls.clear()
    host.reconciler.run_pass()
    assert 1 == len(host.calls.of("store.save_memory"))
    assert [] == list(host.store.read())


# --- deploys --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["engine.start", "prober.probe", "store.persist_binds", "store.save_memory shop web web-1"])
def test_what_is_deployed_during_a_pass_is_left_alone_until_the_next(host: Host, call: str) -> None:
    """Somebody who holds no lock changes ACTIVE; the compare-and-set and the second look notice."""
    host.service("web")
    host.calls.once_before(call, lambda: host.supersede("web"))
    host.reconciler.run_pass()
    assert [] == host.calls.of("router.publish", "engine.start web-2")
    assert "web-2" == host.declared("web").container_id
    assert () == host.declared("web").binds
    host.reconciler.run_pass()
    assert 1 == len(host.calls.of("router.publish"))
    assert {"shop/web": (host.container("web-2").ports[0].host_port,)} == host.routes()


def test_a_superseded_container_is_retired_only_after_its_successor_serves() -> None:
    host = settled("web")
    host.supersede("web")
    host.reconciler.run_pass()
    assert [
        "engine.start web-2",
        "prober.probe 80/tcp at 32769 30.0 0 ",
        "router.publish shop web 80/tcp at 32769",
        "engine.stop web-1 7.0",
        "engine.remove web-1",
    ] == host.calls.commands()
    assert {"shop/web": (32769,)} == host.routes()
    assert () == host.stored("web").markers
    assert host.reconciler.run_pass().is_well


def test_a_successor_that_does_not_serve_never_costs_the_working_generation() -> None:
    host = settled("web")
    host.supersede("web", behaviour=Behaviour(listens=False))
    for _ in range(3):
        host.reconciler.run_pass()
        assert {"shop/web": (32768,)} == host.routes()
        later(host)
    assert [] == host.calls.of("engine.stop", "engine.remove", "router.withdraw")
    assert "running" == host.container("web-1").status.value
    assert 1 == host.memory("web").failures


def test_the_last_marker_of_a_service_that_left_active_is_dropped_once() -> None:
    host = settled("web")
    host.supersede("web")
    host.store.deactivate(Generation("shop", "web", "web-2", 2))
    host.reconciler.run_pass()
    assert ["engine.stop web-1 7.0", "engine.remove web-1"] == host.calls.of("engine.stop", "engine.remove")
    assert 1 == len(host.calls.of("store.drop_marker"))
    assert {} == host.routes()
    assert [] == list(host.store.read())


def test_a_stopped_app_is_withdrawn_and_stopped_and_a_failed_withdrawal_does_not_keep_it_running() -> None:
    host = settled("web")
    host.store.set_intent("shop", Intent.STOPPED)
    host.router.fail_withdraw = "no socket"
    report = host.reconciler.run_pass()
    assert ["router.withdraw shop web", "engine.stop web-1 10.0"] == host.calls.commands()
    assert not report.is_well


# --- what takes long ------------------------------------------------------------------------------------------------------


SHORT = 0.3


class Hurried(ThreadCrew):
    """Gives no job more time than a test can wait for."""

    def go(self, jobs: Iterable[Job], patience_s: float | None) -> None:
        given = tuple(jobs)
        for each in given:
            each.deadline_s = SHORT
        super().go(given, patience_s)


@pytest.fixture
def threaded(host: Host) -> Host:
    host.restarted(crew=ThreadCrew(4))
    return host


@pytest.fixture
def hurried(host: Host) -> Host:
    host.restarted(crew=Hurried(4))
    return host


def passes_until(host: Host, holds: Callable[[], bool], patience_s: float = 0.1) -> None:
    """Run passes until something holds."""
    until_s = time.monotonic() + 10.0
    while not holds():
        assert time.monotonic() < until_s
        host.reconciler.run_pass(patience_s)


def is_locked(host: Host, app: str) -> bool:
    lock = host.locks.try_app(app)
    if isinstance(lock, str):
        return True
    lock.release()
    return False


def test_a_hanging_service_blocks_no_other_and_its_app_stays_locked_until_it_ends(threaded: Host) -> None:
    host = threaded
    host.service("web")
    host.service("web", app="zoo")
    go_on = host.calls.hold("engine.start web-1")
    host.engine.add(Simulated("zoo-1", "zoo", ((HTTP, 0),)))
    assert Done() == host.store.activate("zoo", "web", Declared("zoo-1", 2, (HTTP,)), 1, None)
    report = host.reconciler.run_pass(0.3)
    assert {"zoo/web": (32768,)} == host.routes()
    assert Situation.IN_FLIGHT is situations(report)["shop/web"]
    assert (True, False) == (is_locked(host, "shop"), is_locked(host, "zoo"))
    assert (("shop/web", "start it"),) == host.reconciler.under_way
    report = host.reconciler.run_pass(0.1)
    assert Situation.IN_FLIGHT is situations(report)["shop/web"]
    assert 1 == len(host.calls.of("engine.start web-1"))
    go_on.set()
    passes_until(host, lambda: "shop/web" in host.routes())
    assert 1 == len(host.calls.of("engine.start web-1"))
    passes_until(host, lambda: not is_locked(host, "shop"))


def test_the_next_pass_withdraws_wrong_routes_while_a_job_hangs(threaded: Host) -> None:
    host = threaded
    host.service("web")
    go_on = host.calls.hold("engine.start web-1")
    host.reconciler.run_pass(0.1)
    host.router.route_by_hand("left", "over", STRAY)
    begun_s = time.monotonic()
    host.reconciler.run_pass(0.1)
    assert time.monotonic() - begun_s < 3.0
    assert {} == host.routes()
    go_on.set()
    passes_until(host, lambda: "shop/web" in host.routes())


def test_other_services_get_all_their_rounds_while_one_hangs(threaded: Host) -> None:
    host = threaded
    host.service("web")
    host.service("api", app="zoo")
    go_on = host.calls.hold("engine.start web-1")
    host.reconciler.run_pass(0.3)
    host.engine.kill("api-1")
    report = host.reconciler.run_pass(0.3)
    assert Situation.PROVING is situations(report)["zoo/api"]
    go_on.set()


def test_an_overdue_job_is_told_loses_the_lock_and_writes_nothing_late(hurried: Host) -> None:
    host = hurried
    host.service("web")
    go_on = host.calls.hold("engine.start web-1")
    report = host.reconciler.run_pass()
    assert ("shop/web: overdue, still waiting to start it",) == report.trouble
    lock = host.locks.try_app("shop")
    assert not isinstance(lock, str)
    before = host.memory("web")
    host.calls.made.clear()
    go_on.set()
    while host.reconciler.under_way:
        time.sleep(0.01)
    time.sleep(0.05)
    host.reconciler.run_pass()
    assert before == host.memory("web")
    assert [] == host.calls.of("router.publish", "store.save_memory", "store.persist_binds")
    lock.release()
    host.reconciler.run_pass()
    assert {"shop/web": (32768,)} == host.routes()


def test_a_job_becomes_overdue_also_while_all_else_is_quiet(hurried: Host) -> None:
    host = hurried
    host.service("web")
    go_on = host.calls.hold("engine.start web-1")
    host.reconciler.run_pass(0.0)
    time.sleep(SHORT + 0.05)
    report = host.reconciler.run_pass(0.1)
    assert ("shop/web: overdue, still waiting to start it",) == report.trouble
    assert not is_locked(host, "shop")
    go_on.set()


def test_a_look_that_comes_back_after_the_deadline_is_followed_by_no_command(hurried: Host) -> None:
    host = hurried
    host.service("web")
    event = threading.Event()
    host.calls.before("engine.inspect web-1", lambda: threading.current_thread().name == "shop/web" and event.wait(20))
    report = host.reconciler.run_pass()
    assert ("shop/web: overdue, still waiting to look at it",) == report.trouble
    host.calls.made.clear()
    event.set()
    time.sleep(0.1)
    assert [] == host.calls.commands()
    assert [] == host.calls.of("store.save_memory")


def test_a_fault_of_a_job_that_outlived_its_pass_is_told_in_the_next(threaded: Host) -> None:
    host = threaded
    host.service("web")
    event = threading.Event()

    def fail_late() -> None:
        event.wait(20)
        raise ZeroDivisionError

    host.calls.before("engine.start web-1", fail_late)
    assert () == host.reconciler.run_pass(0.1).faults
    event.set()
    faults: list[BaseException] = []
    until_s = time.monotonic() + 10.0
    while not faults and time.monotonic() < until_s:
        faults += host.reconciler.run_pass(0.0).faults
    assert ZeroDivisionError is type(faults[0])


def test_a_job_that_was_not_begun_in_time_is_begun_in_the_next_pass(host: Host) -> None:
    host.restarted(crew=ThreadCrew(1))
    for each in ("aaa", "web"):
        host.service(each)
    go_on = host.calls.hold("engine.start aaa-1")
    host.reconciler.run_pass(0.1)
    assert [] == host.calls.of("engine.start web-1")
    go_on.set()
    passes_until(host, lambda: {"shop/aaa", "shop/web"} == set(host.routes()))


def test_a_command_without_an_answer_is_never_charged() -> None:
    host = settled("web")
    host.engine.kill("web-1")
    host.engine.hang("web-1", 5.0)
    report = host.reconciler.run_pass()
    assert any(isinstance(each.outcome, Unknown) for each in report.results["shop", "web"])
    assert Memory(verified=host.memory("web").verified) == evolve(host.memory("web"), attempt=None, boot_id="")
    host.engine.hang("web-1", 0.0)
    host.reconciler.run_pass()
    assert {"shop/web": (32768,)} == host.routes()
    assert 0 == host.memory("web").failures


# --- the end ---------------------------------------------------------------------------------------------------------------


def test_a_stop_ends_a_pass_after_the_command_under_way(host: Host) -> None:
    host.service("web")
    host.calls.once_before("engine.start web-1", host.reconciler.stop)
    host.reconciler.run_pass()
    assert ["engine.start web-1"] == host.calls.commands()
    assert host.reconciler.stopping
    host.reconciler.run_pass()
    assert ["engine.start web-1"] == host.calls.commands()


def test_a_stop_ends_a_pass_that_hangs(threaded: Host) -> None:
    host = threaded
    host.service("web")
    go_on = host.calls.hold("engine.start web-1")
    threading.Timer(0.2, host.reconciler.stop).start()
    begun_s = time.monotonic()
    host.reconciler.run_pass()
    assert time.monotonic() - begun_s < 1.2
    go_on.set()
