"""Targeted passes: hints say where to look, and what is done there is the same as in any pass."""

import threading
import time
from collections.abc import Callable

import pytest

from gordon_core.effects import Done, RecordFailure, Withdraw
from gordon_core.observation import Bind
from gordon_core.situations import Situation
from gordon_core.snapshot import Declared
from gordon_shell.crew import ThreadCrew
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.reconciler import MOST_TARGETED
from gordon_shell.report import Report
from tests.hosts import HTTP, Host, later, settled, situations


@pytest.fixture
def host() -> Host:
    return settled("web", "api")


def answered(host: Host, *container_ids: str) -> Report | None:
    for each in container_ids:
        host.reconciler.hints.put(each)
    return host.reconciler.answer()


def until(holds: Callable[[], bool]) -> None:
    until_s = time.monotonic() + 60.0
    while not holds():
        assert time.monotonic() < until_s
        time.sleep(0.005)


def test_without_hints_there_is_nothing_to_do(host: Host) -> None:
    assert host.reconciler.answer() is None
    assert [] == host.calls.made


def test_a_death_is_answered_for_the_one_service_in_the_order_of_the_law(host: Host) -> None:
    host.engine.kill("web-1")
    report = answered(host, "web-1")
    assert ["router.withdraw shop web", "engine.start web-1", "prober.probe", "router.publish shop web"] == [
        " ".join(each.split()[:3]) if "probe" not in each else each.split()[0] for each in host.calls.commands()
    ]
    order = host.calls.of("router.withdraw", "store.save_memory", "engine.start")
    assert order.index("router.withdraw shop web") < order.index("store.save_memory shop web web-1 memory")
    assert "engine.start" not in " ".join(order[: order.index("router.withdraw shop web")])
    assert [] == host.calls.of("engine.inspect api-1", "engine.rows")
    assert {"shop/web", "shop/api"} == set(host.routes())
    assert report is not None
    assert not report.is_whole
    assert {("shop", "web")} == report.results.keys()
    assert {"shop/web": Situation.PROVING, "shop/api": Situation.SETTLED} == situations(report)


def test_the_attempt_is_on_record_before_the_start(host: Host) -> None:
    seen: list[bool] = []
    host.calls.before("engine.start web-1", lambda: seen.append(host.memory("web").attempt is not None))
    host.engine.kill("web-1")
    answered(host, "web-1")
    assert [True] == seen


def test_a_hint_is_never_the_truth(host: Host) -> None:
    report = answered(host, "web-1")
    assert report is not None
    assert Situation.SETTLED is situations(report)["shop/web"]
    assert [] == host.calls.commands()
    assert 1 == len(host.calls.of("engine.inspect web-1"))


def test_containers_of_others_cost_one_read_of_the_state_in_a_second(host: Host) -> None:
    for each in range(50):
        assert answered(host, f"foreign-{each}") is None
    assert ["store.read"] == host.calls.made
    later(host, 1.0)
    answered(host, "foreign-1")
    assert ["store.read"] * 2 == host.calls.made


def test_what_was_deployed_since_the_last_pass_is_known_by_its_hint(host: Host) -> None:
    host.engine.add(Simulated("zoo-1", "zoo", ((HTTP, 0),)))
    assert Done() == host.store.activate("zoo", "web", Declared("zoo-1", 1, (HTTP,)), 0, None)
    answered(host, "zoo-1")
    assert "zoo/web" in host.routes()


def test_one_service_gets_one_targeted_pass_a_second_and_the_others_do_not_wait(host: Host) -> None:
    host.engine.behave("web-1", Behaviour(exits_after_s=0.0))
    host.engine.kill("web-1")
    answered(host, "web-1")
    assert 1 == len(host.calls.of("engine.start web-1"))
    host.engine.kill("api-1")
    answered(host, "web-1", "api-1")
    assert 1 == len(host.calls.of("engine.start web-1"))
    assert 1 == len(host.calls.of("engine.start api-1"))
    assert 0.0 < host.reconciler.answers_in_s <= 1.0
    later(host, 1.0)
    host.reconciler.answer()
    assert 2 == len(host.calls.of("engine.start web-1"))


def test_a_crash_loop_spends_its_free_starts_and_then_waits_as_ever(host: Host) -> None:
    host.engine.behave("web-1", Behaviour(exits_after_s=0.0))
    host.engine.kill("web-1")
    for _ in range(20):
        report = answered(host, "web-1")
        later(host, 1.0)
    assert report is not None
    assert Situation.COOLING is situations(report)["shop/web"]
    assert 3 == len(host.calls.of("engine.start web-1"))
    assert [] == host.calls.of("engine.inspect api-1")


def test_a_crash_that_is_only_charged_is_told_with_the_wait_that_follows(host: Host) -> None:
    """The look of the targeted pass is fresh enough to charge upon, so that its job looks no more: that look still counts."""
    host.engine.behave("web-1", Behaviour(exits_after_s=0.5))
    host.engine.kill("web-1")
    told = []
    for _ in range(4):
        told.append(answered(host, "web-1"))
        later(host, 1.0)
    last = told[-1]
    assert last is not None
    assert [Withdraw, RecordFailure] == [type(each.effect) for each in last.results["shop", "web"]]
    assert Situation.COOLING is situations(last)["shop/web"]


def test_an_app_that_is_locked_is_left_alone_and_looked_at_when_it_is_free(host: Host) -> None:
    lock = host.locks.try_app("shop")
    assert not isinstance(lock, str)
    host.engine.kill("web-1")
    assert answered(host, "web-1") is None
    assert [] == host.calls.of("engine.", "router.")
    lock.release()
    assert host.reconciler.answer() is None
    later(host, 1.0)
    host.reconciler.answer()
    assert 1 == len(host.calls.of("engine.start web-1"))


def test_no_lock_is_kept_when_it_is_over(host: Host) -> None:
    host.engine.kill("web-1")
    answered(host, "web-1")
    assert not isinstance(host.locks.try_app("shop"), str)


def test_an_engine_that_says_nothing_is_left_to_a_look_at_everything(host: Host) -> None:
    host.engine.kill("web-1")
    host.engine.unreachable("it is away")
    answered(host, "api-1", "web-1")
    assert host.reconciler.hints.wants_whole
    assert [] == host.calls.commands()
    assert 1 == len(host.calls.of("engine.inspect"))


def test_a_route_of_another_service_at_its_port_calls_for_a_look_at_everything(host: Host) -> None:
    host.router.route_by_hand("left", "over", (Bind(HTTP, 32768),))
    host.engine.kill("web-1")
    host.engine.kill("api-1")
    answered(host, "web-1", "api-1")
    assert host.reconciler.hints.wants_whole
    host.reconciler.run_pass()
    assert not host.reconciler.hints.wants_whole
    assert {"shop/web", "shop/api"} == set(host.routes())


def test_what_gets_the_port_of_one_that_died_unseen_is_not_published_beside_its_route(host: Host) -> None:
    """The engine hands freed ports to the next that starts, here to web; that api has died is not known yet."""
    host.engine.kill("web-1")
    host.engine.kill("api-1")
    taken = host.routes()["shop/api"]
    host.engine.add(Simulated("thief", "thief", ((HTTP, host.routes()["shop/web"][0]),)))
    host.engine.start("thief")
    answered(host, "web-1")
    assert taken == tuple(each.host_port for each in host.container("web-1").ports)
    assert {"shop/api": taken} == host.routes()
    assert host.reconciler.hints.wants_whole
    host.reconciler.run_pass()
    assert {"shop/web", "shop/api"} == set(host.routes())
    assert taken == host.routes()["shop/web"]


def test_more_services_than_one_targeted_pass_goes_over_come_in_the_next_at_once() -> None:
    names = [f"s{each:02}" for each in range(MOST_TARGETED + 3)]
    host = settled(*names)
    for each in names:
        host.engine.kill(f"{each}-1")
    answered(host, *(f"{each}-1" for each in names))
    assert MOST_TARGETED == len(host.calls.of("engine.start"))
    host.reconciler.answer()
    assert len(names) == len(host.calls.of("engine.start"))


def test_a_fault_of_ours_is_told_and_its_service_is_left_to_the_next_look_at_everything(host: Host) -> None:
    host.calls.before("engine.start web-1", lambda: 1 // 0)
    host.engine.kill("web-1")
    report = answered(host, "web-1")
    assert report is not None
    assert [ZeroDivisionError] == [type(each) for each in report.faults]
    later(host, 5.0)
    assert answered(host, "web-1") is None
    assert 1 == len(host.calls.of("engine.start web-1"))


def test_a_state_that_cannot_be_read_changes_nothing(host: Host) -> None:
    host.engine.kill("web-1")
    host.store.fail_reads("the state is gone")
    answered(host, "web-1", "foreign")
    assert host.reconciler.hints.wants_whole
    assert [] == host.calls.commands()


# --- beside what is under way ------------------------------------------------------------------------------------------------


def test_a_hint_is_answered_while_a_pass_waits_for_a_slow_service(host: Host) -> None:
    host.restarted(crew=ThreadCrew(4))
    host.service("slow", app="zoo")

    def crash() -> None:
        host.engine.kill("web-1")
        host.reconciler.hints.put("web-1")

    host.calls.once_before("engine.start slow-1", crash)
    go_on = host.calls.hold("engine.start slow-1")
    begun_s = time.monotonic()
    host.calls.before("router.publish shop web", go_on.set)
    host.reconciler.run_pass(60.0)
    assert time.monotonic() - begun_s < 50.0
    assert ["engine.start web-1"] == host.calls.of("engine.start web-1")
    assert {"shop/web", "shop/api", "zoo/slow"} == set(host.routes())


def test_a_hint_at_a_service_with_a_job_under_way_is_answered_when_that_has_ended(host: Host) -> None:
    host.restarted(crew=ThreadCrew(4))
    host.reconciler.run_pass()
    host.calls.clear()
    host.engine.kill("web-1")
    go_on = host.calls.hold("router.publish shop web")
    answered(host, "web-1")
    until(lambda: bool(host.calls.of("router.publish shop web")))
    host.engine.kill("web-1")
    later(host, 5.0)
    assert answered(host, "web-1") is None
    assert 1 == len(host.calls.of("engine.start web-1"))
    go_on.set()
    until(lambda: host.reconciler.answer() is not None or len(host.calls.of("engine.start web-1")) > 1)
    until(lambda: len(host.calls.of("engine.start web-1")) == 2)


def test_the_events_of_what_a_job_did_itself_call_for_no_further_look(host: Host) -> None:
    host.restarted(crew=ThreadCrew(4))
    host.reconciler.run_pass()
    host.engine.kill("web-1")
    go_on = host.calls.hold("prober.probe")
    answered(host, "web-1")
    until(lambda: bool(host.calls.of("prober.probe")))
    assert answered(host, "web-1") is None
    later(host, 5.0)
    go_on.set()
    reports: list[Report | None] = []
    until(lambda: reports.append(host.reconciler.answer()) or reports[-1] is not None)
    host.calls.clear()
    later(host, 5.0)
    assert host.reconciler.answer() is None
    assert [] == host.calls.made


def test_a_hint_that_asks_for_a_look_at_everything_ends_the_waiting_of_a_pass(host: Host) -> None:
    host.restarted(crew=ThreadCrew(4))
    host.service("slow", app="zoo")
    host.calls.once_before("engine.start slow-1", host.reconciler.hints.ask_whole)
    go_on = host.calls.hold("engine.start slow-1")
    begun_s = time.monotonic()
    report = host.reconciler.run_pass(60.0)
    assert time.monotonic() - begun_s < 50.0
    assert Situation.IN_FLIGHT is situations(report)["zoo/slow"]
    go_on.set()


def test_a_service_whose_job_waits_for_its_place_gets_no_other(host: Host) -> None:
    host.restarted(crew=ThreadCrew(1))
    for each in ("web-1", "api-1"):
        host.engine.kill(each)
    host.calls.once_before("engine.start api-1", lambda: host.reconciler.hints.put("web-1"))
    host.calls.before("engine.start api-1", lambda: time.sleep(0.6))
    host.reconciler.run_pass(60.0)
    assert ["engine.start api-1", "engine.start web-1"] == host.calls.of("engine.start")
    assert {"shop/web", "shop/api"} == set(host.routes())


def test_what_an_earlier_pass_tried_in_vain_was_not_tried_in_a_targeted_one(host: Host) -> None:
    """A route of another service at its port, which could not be withdrawn, costs a container its life in that pass alone."""
    host.service("db", published=False)
    host.router.route_by_hand("left", "over", (Bind(HTTP, 32767),))
    host.router.fail_withdraw = "it is out of order"
    host.reconciler.run_pass()
    held = host.container("db-1").ports[0].host_port
    host.router.route_by_hand("left", "over", (Bind(HTTP, held),))
    host.calls.clear()
    answered(host, "db-1")
    assert [] == host.calls.of("engine.stop")
    assert host.reconciler.hints.wants_whole
    host.reconciler.run_pass()
    assert ["engine.stop db-1 10.0"] == host.calls.of("engine.stop")


# --- what is told of what was done -----------------------------------------------------------------------------------------


def told(report: Report | None, service: str = "web") -> list[str]:
    assert report is not None
    return [type(each.effect).__name__ for each in report.results["shop", service]]


def held_at_its_publication(host: Host) -> threading.Event:
    """Have a death answered by a job that hangs in its last step, for five seconds by now; return what lets it go on."""
    host.restarted(crew=ThreadCrew(4))
    host.reconciler.run_pass()
    host.engine.kill("web-1")
    go_on = host.calls.hold("router.publish shop web")
    answered(host, "web-1")
    until(lambda: bool(host.calls.of("router.publish shop web")))
    later(host, 5.0)
    return go_on


def test_what_a_pass_did_is_told_though_an_event_of_it_is_answered_in_the_same_pass(host: Host) -> None:
    """The event of a start may come when its job has ended; the look it calls for is a pass of its own, with no results yet."""
    host.engine.kill("web-1")
    host.calls.before("router.publish shop web", lambda: host.reconciler.hints.put("web-1"))
    report = host.reconciler.run_pass()
    assert 1 == len(host.calls.of("router.publish shop web"))
    assert ["Withdraw", "RecordAttempt", "Start", "Probe", "RecordVerified", "Publish"] == told(report)


def test_what_one_job_did_is_told_though_the_next_look_at_its_service_follows_at_once(host: Host) -> None:
    go_on = held_at_its_publication(host)
    assert answered(host, "web-1") is None
    go_on.set()
    until(lambda: host.reconciler.answers_in_s == 0.0)
    assert ["Withdraw", "RecordAttempt", "Start", "Probe", "RecordVerified", "Publish"] == told(host.reconciler.answer())


def test_what_a_job_of_a_targeted_pass_did_is_told_though_a_look_at_everything_overtakes_it(host: Host) -> None:
    go_on = held_at_its_publication(host)
    assert ["Withdraw", "RecordAttempt", "Start", "Probe", "RecordVerified"] == told(host.reconciler.run_pass(0.0))
    go_on.set()
    reports: list[Report | None] = []
    until(lambda: reports.append(host.reconciler.answer()) or reports[-1] is not None)
    assert ["Publish"] == told(reports[-1])


def test_a_withdrawal_after_which_nothing_can_be_done_yet_is_told(host: Host) -> None:
    host.engine.behave("web-1", Behaviour(exits_after_s=0.0))
    for _ in range(20):
        host.engine.kill("web-1")
        answered(host, "web-1")
        later(host, 1.0)
    host.router.route_by_hand("shop", "web", (Bind(HTTP, 32768),))
    assert ["Withdraw"] == told(answered(host, "web-1"))
