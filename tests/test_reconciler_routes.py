"""Passes in which routes, ports and generations change hands."""

from collections.abc import Callable

import pytest

from gordon_core.effects import Done, Generation
from gordon_core.observation import Bind
from gordon_core.situations import Situation
from gordon_core.snapshot import Declared, Intent
from gordon_shell.memory.container import Behaviour, Simulated
from tests.hosts import HTTP, Host, later, settled, situations

STRAY = (Bind(HTTP, 9000),)


@pytest.fixture
def host() -> Host:
    return Host()


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
    host.service("api")
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
    for commands in (["engine.stop web-1 10.0"], [], []):
        host.calls.made.clear()
        report = host.reconciler.run_pass()
        assert commands == host.calls.of("engine.start", "engine.stop")
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
