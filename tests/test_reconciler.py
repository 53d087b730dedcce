"""The loop over a simulated host: what one pass does, in which order, and what it leaves alone."""

from collections import Counter

import pytest

from gordon_core.effects import Done, Effect, Fault, Outcome, Publish, Refused, Start
from gordon_core.observation import Bind
from gordon_core.planner import Decision, Plan
from gordon_core.situations import Situation
from gordon_core.snapshot import Declared, Intent, Snapshot, Subject
from gordon_shell.crew import InlineCrew
from gordon_shell.errors import DocumentError, StoreError
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.reconciler import Reconciler
from gordon_shell.report import Report
from gordon_shell.witness import Witnesses
from tests.hosts import HTTP, Host, later, settled, situations

A_LOOK = ["store.read", "router.read", "store.read", "engine.rows"]
"""What a pass reads of a world in which nothing happened; the locks apart."""
STRAY = (Bind(HTTP, 9000),)
AT_ONCE = Behaviour(exits_after_s=0.0)


@pytest.fixture
def host() -> Host:
    return Host()


def reads(host: Host) -> list[str]:
    return [each for each in host.calls.made if not each.startswith("locks.")]


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


class Broken:
    """A witness that raises whatever it hears."""

    def planned(self, plan: Plan, *, is_whole: bool) -> None:
        raise KeyError(len(plan.services), is_whole)

    def stepped(self, decided: Snapshot, decision: Decision, outcome: Outcome, after: Subject) -> None:
        raise KeyError(decided.clock, decision.effect, outcome, after.app)

    def left(self, plan: Plan) -> None:
        raise LookupError(plan.clock)

    def ended(self, report: Report) -> None:
        raise ZeroDivisionError(report)


class Counting:
    """A witness that counts what it hears."""

    def __init__(self) -> None:
        self.heard: Counter[str] = Counter()

    def planned(self, plan: Plan, *, is_whole: bool) -> None:
        self.heard["planned"] += bool(plan.services) and is_whole

    def stepped(self, decided: Snapshot, decision: Decision, outcome: Outcome, after: Subject) -> None:
        del decided, decision, outcome
        self.heard[after.service] += 1

    def left(self, plan: Plan) -> None:
        self.heard["left"] += len(plan.services)

    def ended(self, report: Report) -> None:
        self.heard["ended"] += report.is_whole


def test_a_witness_that_fails_ends_nothing_hides_nothing_from_another_and_is_in_the_report(host: Host) -> None:
    host.service("web")
    other = Counting()
    report = Reconciler(host.ports, lambda: None, crew=InlineCrew(), witness=Witnesses(Broken(), other)).run_pass()
    assert {"shop/web"} == set(host.routes())
    assert [Publish] == [type(each.effect) for each in report.results["shop", "web"]][-1:]
    assert {KeyError, LookupError, ZeroDivisionError} == {type(each) for each in report.faults}
    assert {"planned": 2, "web": len(report.results["shop", "web"]), "left": 1, "ended": 1} == other.heard


def test_a_locked_app_is_skipped_and_not_waited_for() -> None:
    host = Host()
    host.service("web")
    host.service("api", app="zoo")
    lock = host.locks.try_app("shop")
    assert not isinstance(lock, str)
    report = host.reconciler.run_pass()
    assert {"zoo/api"} == set(host.routes())
    assert Situation.LOCKED is situations(report)["shop/web"]
    assert [] == host.calls.of("store.save_memory shop")
    lock.release()
    host.reconciler.run_pass()
    assert {"shop/web", "zoo/api"} == set(host.routes())


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
    host.service("api", app="bad")
    host.service("web")

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


def test_a_probe_of_an_execution_that_ended_is_not_waited_for_and_is_charged() -> None:
    """It dies after half a second; the readiness wait of 30 s is not sat through."""
    host = Host()
    host.engine.add(Simulated("web-1", "web", ((HTTP, 0),), behaviour=Behaviour(exits_after_s=0.5, listens=False)))
    assert Done() == host.store.activate("shop", "web", Declared("web-1", 1, (HTTP,)), 0, None)
    begun_s = host.clock.now().boot_s
    host.reconciler.run_pass()
    assert host.clock.now().boot_s - begun_s < 2.0
    assert (1, None) == (host.memory("web").failures, host.memory("web").attempt)
