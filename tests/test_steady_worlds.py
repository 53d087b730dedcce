"""Worlds in which nothing changes any more, held ones too: a pass over one writes nothing to the store."""

from collections.abc import Callable
from functools import partial

import pytest
from attrs import evolve

from gordon_core.effects import Done
from gordon_core.folds import saw
from gordon_core.grants import HostPolicy
from gordon_core.memory import Memory
from gordon_core.observation import Bind, Status
from gordon_core.planner import decide
from gordon_core.situations import Situation
from gordon_core.snapshot import Declared, Intent
from gordon_shell.crew import InlineCrew
from gordon_shell.holds import held_for
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.ports import Mount
from gordon_shell.reconciler import Reconciler
from tests.core_examples import CLOCK, NOW_S
from tests.core_pool import pool
from tests.hosts import HTTP, Host, later, settled, situations

AT_FIRST, FROM_THEN_ON = 6, 4
"""How many passes a world is given to come to rest, and how many are looked at after that."""
TROUBLE = Memory(failures=1)
ONE_BAD_RESULT = Behaviour(checks=(False,), check_every_s=1_000.0)
NO_RESULT = Behaviour(checks=(True,), check_every_s=1_000_000.0)
World = Callable[[], Host]


def with_history(host: Host) -> Host:
    """Let there be a failure on record of an execution that was verified and runs on."""
    memory = host.memory("web")
    assert Done() == host.store.save_memory("shop", "web", "web-1", evolve(TROUBLE, verified=memory.verified))
    return host


def inhibited(host: Host) -> Host:
    host.store.inhibit("shop", "web", "web-1", "its volume is being moved")
    return host


def stopping(host: Host) -> Host:
    host.store.set_intent("shop", Intent.STOPPED)
    return host


def on_hold(host: Host) -> Host:
    assert Done() == host.store.set_hold("shop", "web", held_for(host.clock.now(), 3_600.0, "alice", "migration"))
    return host


def unpublished() -> Host:
    host = Host()
    host.service("web", published=False)
    host.settle()
    return host


def after(do: Callable[[Host], object], host: Host) -> Host:
    do(host)
    return host


def unsettled(behaviour: Behaviour) -> Host:
    host = Host()
    host.service("web", behaviour=behaviour)
    host.engine.start("web-1")
    return host


def with_one_bad_result(host: Host) -> Host:
    host.clock.advance(ONE_BAD_RESULT.check_every_s)
    return host


def deaf(host: Host) -> Host:
    host.router.fail_reads = host.router.fail_withdraw = "no socket"
    return host


def stubborn(host: Host) -> Host:
    """Let the router refuse what changes a route."""
    host.router.fail_publish = host.router.fail_withdraw = "permission denied"
    return host


def without_its_port() -> Host:
    host = Host()
    host.engine.add(Simulated("web-1", "web"))
    assert Done() == host.store.activate("shop", "web", Declared("web-1", 1, (HTTP,)), 0, None)
    return host


def without_a_grant() -> Host:
    host = Host()
    host.engine.add(Simulated("web-1", "web", ((HTTP, 0),), mounts=(Mount("/srv", read_only=False),)))
    assert Done() == host.store.activate("shop", "web", Declared("web-1", 1, (HTTP,)), 0, None)
    host.reconciler = Reconciler(host.ports, HostPolicy, crew=InlineCrew())
    return host


def crashing(host: Host) -> Host:
    """Let it have failed so often that its next try is far off."""
    declared = host.declared("web")
    assert Done() == host.store.save_memory("shop", "web", declared.container_id, Memory(failures=10))
    return host


def contested() -> Host:
    """Let the port of web be named by a route of a service that left, and that cannot be withdrawn."""
    host = settled()
    host.router.route_by_hand("zoo", "web", (Bind(HTTP, 32768),))
    for service, refusal in (("zoo", "permission denied"), ("shop", "")):
        host.calls.before(f"router.withdraw {service}", partial(setattr, host.router, "fail_withdraw", refusal))
    return host


def succeeded_by(behaviour: Behaviour) -> Host:
    host = settled()
    host.supersede("web", behaviour=behaviour)
    return host


WORLDS: dict[str, tuple[Situation, World]] = {
    "inhibited, unpublished and running": (Situation.INHIBITED, lambda: inhibited(with_history(unpublished()))),
    "inhibited and running": (Situation.INHIBITED, lambda: inhibited(with_history(settled()))),
    "inhibited, router not read": (Situation.INHIBITED, lambda: deaf(inhibited(with_history(unpublished())))),
    "inhibited and routed": (Situation.BLOCKED, lambda: stubborn(inhibited(with_history(settled())))),
    "inhibited and down": (
        Situation.INHIBITED, lambda: after(lambda host: host.engine.kill("web-1"), inhibited(with_history(settled()))),
    ),
    "unreadable": (
        Situation.UNREADABLE, lambda: after(lambda host: host.engine.unreachable("silent"), with_history(unpublished())),
    ),
    "gone": (Situation.GONE, lambda: after(lambda host: host.engine.delete("web-1"), with_history(settled()))),
    "restarting": (
        Situation.TRANSITIONAL,
        lambda: after(lambda host: host.engine.set_status("web-1", Status.RESTARTING), with_history(settled())),
    ),
    "being removed": (
        Situation.TRANSITIONAL,
        lambda: after(lambda host: host.engine.set_status("web-1", Status.REMOVING), with_history(settled())),
    ),
    "paused": (Situation.PAUSED, lambda: after(lambda host: host.engine.pause("web-1"), with_history(settled()))),
    "of unknown status": (
        Situation.UNSAFE, lambda: after(lambda host: host.engine.set_status("web-1", Status.UNKNOWN), with_history(settled())),
    ),
    "in a crash loop": (Situation.COOLING, lambda: crashing(unsettled(Behaviour(exits_after_s=0.0)))),
    "on hold and serving": (Situation.SERVING_HELD, lambda: on_hold(settled())),
    "on hold and down": (
        Situation.ON_HOLD, lambda: after(lambda host: host.engine.kill("web-1"), on_hold(with_history(settled()))),
    ),
    "without a grant": (Situation.UNGRANTED, without_a_grant),
    "without its port": (Situation.PORTLESS, without_its_port),
    "not ready": (Situation.NOT_READY, lambda: unsettled(Behaviour(listens=False))),
    "without a result of its health check": (Situation.STARTING_YET, lambda: unsettled(NO_RESULT)),
    "ill": (Situation.ILL, lambda: with_one_bad_result(unsettled(ONE_BAD_RESULT))),
    "serving, with one bad result": (
        Situation.WATCHED,
        lambda: with_one_bad_result(after(lambda host: host.engine.behave("web-1", ONE_BAD_RESULT), with_history(settled()))),
    ),
    "blind": (Situation.BLIND, lambda: deaf(with_history(settled()))),
    "not published": (
        Situation.BLOCKED, lambda: stubborn(after(lambda host: host.router.forget(), with_history(settled()))),
    ),
    "not withdrawn": (
        Situation.BLOCKED, lambda: stubborn(after(lambda host: host.engine.kill("web-1"), with_history(settled()))),
    ),
    "contested": (Situation.HELD_OFF, contested),
    "stopped": (Situation.SHUT, lambda: stopping(with_history(settled()))),
    "stopped, not read": (
        Situation.SHUT_UNREAD,
        lambda: stopping(after(lambda host: host.engine.unreachable("silent"), with_history(unpublished()))),
    ),
    "stopped, and routed": (Situation.SHUT_ROUTED, lambda: stopping(stubborn(with_history(settled())))),
    "not to be stopped": (
        Situation.BLOCKED, lambda: stopping(after(lambda host: host.engine.hang("web-1", 1.0), with_history(unpublished()))),
    ),
    "with a successor that is not ready": (Situation.NOT_READY, lambda: succeeded_by(Behaviour(listens=False))),
    "with a successor that crashes": (Situation.COOLING, lambda: crashing(succeeded_by(Behaviour(exits_after_s=0.0)))),
}  # fmt: skip


@pytest.mark.parametrize(("situation", "world"), WORLDS.values(), ids=WORLDS)
def test_a_pass_over_a_world_in_which_nothing_changed_writes_nothing(situation: Situation, world: World) -> None:
    host = world()
    for _ in range(AT_FIRST):
        host.reconciler.run_pass()
        later(host)
    host.calls.made.clear()
    for _ in range(FROM_THEN_ON):
        assert situation is situations(host.reconciler.run_pass())["shop/web"]
        later(host)
    reads = ("store.read", "store.read_service")
    assert [] == [each for each in host.calls.of("store.") if each.split()[0] not in reads]


@pytest.mark.unmeasured
def test_another_look_at_what_has_not_changed_adds_nothing_to_memory_but_to_a_window_that_can_end() -> None:
    """Whatever is on its way, or proves itself, on hold too, may grow its window; of all else the second look is as the first."""
    grown = set()
    for each in pool():
        if each.results or each.clash is not None:
            continue
        once = saw(each, CLOCK)
        again = saw(once, evolve(CLOCK, boot_s=NOW_S + 15))
        if again is not once:
            assert evolve(once.memory, window=None) == evolve(again.memory, window=None)
            decision = decide(again, NOW_S + 15)
            grown.add((decision.situation, decision.effect is None))
    proves_itself = {(Situation.PROVING, True), (Situation.SERVING_HELD, True)}
    assert {*proves_itself, (Situation.UNPROBED, False), (Situation.MISROUTED, False)} == grown
