"""Passes in which something takes long, hangs, or is told to end."""

import threading
import time
from collections.abc import Callable, Iterable

import pytest
from attrs import evolve

from gordon_core.effects import Done, Outcome, Start, Unknown
from gordon_core.memory import Memory
from gordon_core.observation import Bind
from gordon_core.situations import Situation
from gordon_core.snapshot import Declared, Intent
from gordon_shell.crew import Job, ThreadCrew, never
from gordon_shell.memory.container import Simulated
from gordon_shell.reconciler import Report
from tests.hosts import HANGS_S, HTTP, Host, settled, situations

STRAY = (Bind(HTTP, 9000),)


@pytest.fixture
def host() -> Host:
    return Host()


LATE_START = Unknown("it has not come back in time")
SHORT = 1.0
"""Long enough for what does not hang."""


class Hurried(ThreadCrew):
    """Gives no job more time than a test can wait for."""

    def go(self, jobs: Iterable[Job], patience_s: float | None, meanwhile: Callable[[], bool] = never) -> None:
        given = tuple(jobs)
        for each in given:
            each.deadline_s = SHORT
        super().go(given, patience_s, meanwhile)


@pytest.fixture
def threaded(host: Host) -> Host:
    host.restarted(crew=ThreadCrew(4))
    return host


@pytest.fixture
def hurried(host: Host) -> Host:
    host.restarted(crew=Hurried(4))
    return host


def starts_of(report: Report) -> list[Outcome]:
    """Return how the starts ended that a report tells of."""
    return [each.outcome for each in report.results.get(("shop", "web"), ()) if isinstance(each.effect, Start)]


def passes_until(host: Host, holds: Callable[[], bool], patience_s: float = 0.1) -> None:
    """Run passes until something holds."""
    until_s = time.monotonic() + 60.0
    while not holds():
        assert time.monotonic() < until_s
        host.reconciler.run_pass(patience_s)


def until_no_job_runs() -> None:
    """Wait until the threads of all jobs have ended, those that were left behind too."""
    until_s = time.monotonic() + 60.0
    while any("/" in each.name for each in threading.enumerate()):
        assert time.monotonic() < until_s
        time.sleep(0.01)


def is_locked(host: Host, app: str) -> bool:
    lock = host.locks.try_app(app)
    if isinstance(lock, str):
        return True
    lock.release()
    return False


def test_a_hanging_service_blocks_no_other_and_its_app_stays_locked_until_it_ends(threaded: Host) -> None:
    host = threaded
    host.service("web")
    go_on = host.calls.hold("engine.start web-1")
    host.engine.add(Simulated("zoo-1", "zoo", ((HTTP, 0),)))
    assert Done() == host.store.activate("zoo", "web", Declared("zoo-1", 1, (HTTP,)), 0, None)
    passes_until(host, lambda: "zoo/web" in host.routes() and bool(host.calls.of("engine.start web-1")))
    report = host.reconciler.run_pass(0.1)
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
    passes_until(host, lambda: bool(host.calls.of("engine.start web-1")))
    host.router.route_by_hand("left", "over", STRAY)
    host.reconciler.run_pass(0.1)
    assert not go_on.is_set()
    assert {} == host.routes()
    go_on.set()
    passes_until(host, lambda: "shop/web" in host.routes())


def test_other_services_get_all_their_rounds_while_one_hangs(threaded: Host) -> None:
    host = threaded
    host.service("web")
    host.service("api", app="zoo")
    go_on = host.calls.hold("engine.start web-1")
    passes_until(host, lambda: "zoo/api" in host.routes())
    host.engine.kill("api-1")
    report = host.reconciler.run_pass(5.0)
    assert Situation.PROVING is situations(report)["zoo/api"]
    go_on.set()


def test_an_overdue_job_is_told_loses_the_lock_and_writes_nothing_late(hurried: Host) -> None:
    host = hurried
    host.service("web")
    go_on = host.calls.hold("engine.start web-1")
    report = host.reconciler.run_pass()
    assert ("shop/web: overdue, still waiting to start it",) == report.trouble
    assert [LATE_START] == starts_of(report)
    lock = host.locks.try_app("shop")
    assert not isinstance(lock, str)
    before = host.memory("web")
    host.calls.made.clear()
    go_on.set()
    until_no_job_runs()
    assert [] == starts_of(host.reconciler.run_pass())
    assert before == host.memory("web")
    assert [] == host.calls.of("router.publish", "store.save_memory", "store.persist_binds")
    lock.release()
    host.reconciler.run_pass()
    assert {"shop/web": (32768,)} == host.routes()


def test_what_an_overdue_command_comes_back_with_is_not_remembered(hurried: Host) -> None:
    """A stop that is done drops the pending attempt; nobody may write that once the lock of the app is gone."""
    host = hurried
    host.service("web")
    host.reconciler.run_pass()
    assert host.memory("web").attempt is not None
    host.store.set_intent("shop", Intent.STOPPED)
    go_on = host.calls.hold("engine.stop web-1")
    report = host.reconciler.run_pass()
    assert ("shop/web: overdue, still waiting to stop it, with 10 s to stop in",) == report.trouble
    go_on.set()
    until_no_job_runs()
    assert "exited" == host.container("web-1").status.value
    assert host.memory("web").attempt is not None
    host.reconciler.run_pass()
    assert host.memory("web").attempt is None


def test_a_wrong_route_of_a_service_in_flight_is_withdrawn_and_nothing_else_is_done_to_it(threaded: Host) -> None:
    host = threaded
    host.service("other")
    host.reconciler.run_pass()
    host.service("web", app="zoo")
    go_on = host.calls.hold("engine.start web-1")
    passes_until(host, lambda: bool(host.calls.of("engine.start web-1")))
    # Whoever it is publishes it again and again, at a port that other holds.
    host.calls.before("router.read", lambda: host.router.route_by_hand("zoo", "web", (Bind(HTTP, 32768),)))
    for _ in range(2):
        host.reconciler.run_pass(0.1)
        assert (("zoo/web", "start it"),) == host.reconciler.under_way
    assert len(host.calls.of("router.withdraw zoo web")) > 1
    assert ["engine.start web-1"] == host.calls.of("engine.start web-1")
    go_on.set()


def test_a_job_becomes_overdue_also_while_all_else_is_quiet(hurried: Host) -> None:
    host = hurried
    host.service("web")
    go_on = host.calls.hold("engine.start web-1")
    reports = [host.reconciler.run_pass(0.0)]
    until_s = time.monotonic() + 60.0
    while not reports[-1].trouble and time.monotonic() < until_s:
        reports.append(host.reconciler.run_pass(0.1))
    assert ("shop/web: overdue, still waiting to start it",) == reports[-1].trouble
    assert [LATE_START] == [outcome for each in reports for outcome in starts_of(each)]
    assert not is_locked(host, "shop")
    go_on.set()


def test_a_look_that_comes_back_after_the_deadline_is_followed_by_no_command(hurried: Host) -> None:
    host = hurried
    host.service("web")
    event = threading.Event()
    host.calls.before("engine.inspect web-1", lambda: threading.current_thread().name == "shop/web" and event.wait(HANGS_S))
    report = host.reconciler.run_pass()
    assert ("shop/web: overdue, still waiting to look at it",) == report.trouble
    host.calls.made.clear()
    event.set()
    until_no_job_runs()
    assert [] == host.calls.commands()
    assert [] == host.calls.of("store.save_memory")


def test_a_fault_of_a_job_that_outlived_its_pass_is_told_in_the_next(threaded: Host) -> None:
    host = threaded
    host.service("web")
    event = threading.Event()

    def fail_late() -> None:
        event.wait(HANGS_S)
        raise ZeroDivisionError

    host.calls.before("engine.start web-1", fail_late)
    assert () == host.reconciler.run_pass(0.1).faults
    event.set()
    faults: list[BaseException] = []
    until_s = time.monotonic() + 60.0
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
    host.reconciler.run_pass()
    assert [("shop/web", "start it")] == [*host.reconciler.under_way]
    go_on.set()
