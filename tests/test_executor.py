"""One effect, one port call; and what came of it in memory, written once."""

from typing import get_args

import pytest
from attrs import evolve

from gordon_core.effects import (
    AwaitHealth,
    Cause,
    Done,
    DropCandidate,
    DropHistory,
    DropMarker,
    Effect,
    Fault,
    Forget,
    Generation,
    PersistBinds,
    Probe,
    Publish,
    RecordAttempt,
    RecordFailure,
    RecordVerified,
    Refused,
    ReleaseBinds,
    ReleaseClaims,
    Remove,
    RemoveCandidate,
    Restart,
    Retire,
    Start,
    Stop,
    StopCandidate,
    Unknown,
    Withdraw,
)
from gordon_core.memory import Attempt, Memory
from gordon_core.observation import Bind
from gordon_core.snapshot import Subject
from gordon_shell.executor import Executor
from gordon_shell.memory.container import Behaviour
from gordon_shell.ports import Marker
from gordon_shell.recollection import Recollection
from tests.hosts import HTTP, Host

WEB = Generation("shop", "web", "web-1", 1)
BINDS = (Bind(HTTP, 32768),)
OLD = ("shop", "web", "web-0")
CALLS: list[tuple[Effect, str]] = [
    (Withdraw("shop", "web"), "router.withdraw shop web"),
    (RecordAttempt(WEB, "t"), "store.save_memory shop web web-1 memory"),
    (Start(WEB), "engine.start web-1"),
    (Restart(WEB, 2.0), "engine.restart web-1 2.0"),
    (Stop(WEB, 3.0), "engine.stop web-1 3.0"),
    (AwaitHealth(WEB, "t", 5.0), "engine.inspect web-1"),
    (Probe(WEB, "t", BINDS, 0.0, 80, "/up"), "prober.probe 80/tcp at 32768 0.0 80 /up"),
    (RecordFailure(WEB, "t", Cause.ENDED), "store.save_memory shop web web-1 memory"),
    (PersistBinds(WEB, BINDS), "store.persist_binds web-1 80/tcp at 32768"),
    (RecordVerified(WEB, "t", BINDS), "store.save_memory shop web web-1 memory"),
    (Publish(WEB, BINDS), "router.publish shop web 80/tcp at 32768"),
    (DropHistory(WEB), "store.save_memory shop web web-1 memory"),
    (ReleaseBinds(WEB), "store.persist_binds web-1 ()"),
    (Forget(*OLD), "store.save_memory shop web web-0 memory"),
    (Retire(*OLD, 7.0), "engine.stop web-0 7.0"),
    (Remove(*OLD), "engine.remove web-0"),
    (ReleaseClaims(*OLD), "store.release_claims shop web web-0"),
    (DropMarker(*OLD), "store.drop_marker shop web web-0"),
    (StopCandidate(*OLD, 9.0), "engine.stop web-0 9.0"),
    (RemoveCandidate(*OLD), "engine.remove web-0 True"),
    (DropCandidate(*OLD), "store.drop_candidate shop web web-0"),
]


class Desk:
    """An executor at a host with one service that ran into trouble before."""

    def __init__(self) -> None:
        self.host = Host()
        self.host.service("web")
        self.host.store.mark("shop", "web", Marker("web-0"))
        self.memory = Memory(failures=1, attempt=Attempt("s"), boot_id="boot-1")
        self.host.store.save_memory("shop", "web", "web-1", self.memory)
        self.recollection = Recollection(self.host.ports.store)
        self.executor = Executor(self.host.ports, self.recollection)
        self.subject = Subject("shop", "web", self.host.container("web-1"), self.host.declared("web"), memory=self.memory)
        self.host.calls.clear()

    def do(self, effect: Effect) -> Subject:
        return self.executor.absorb(self.subject, effect, self.executor.execute(self.subject, effect))


def test_every_kind_of_effect_is_tried_here() -> None:
    assert set(get_args(Effect)) == {type(effect) for effect, _ in CALLS}


@pytest.mark.parametrize(("effect", "call"), CALLS, ids=[type(effect).__name__ for effect, _ in CALLS])
def test_an_effect_is_one_call_of_one_port(effect: Effect, call: str) -> None:
    desk = Desk()
    desk.executor.execute(desk.subject, effect)
    assert [call] == desk.host.calls.made


@pytest.mark.parametrize("effect", [RecordAttempt(WEB, "t"), RecordFailure(WEB, "t", Cause.ENDED), DropHistory(WEB)])
def test_what_is_only_written_down_is_written_once(effect: Effect) -> None:
    desk = Desk()
    after = desk.do(effect)
    assert ["store.save_memory shop web web-1 memory"] == desk.host.calls.made
    assert after.memory == desk.host.memory("web")
    assert desk.memory != after.memory


def test_the_outcome_is_what_the_port_answered() -> None:
    desk = Desk()
    desk.host.engine.refuse_start("web-1", "no such device")
    assert Refused("no such device", Fault.WORKLOAD) == desk.executor.execute(desk.subject, Start(WEB))
    desk.host.engine.unreachable("it hangs")
    assert isinstance(desk.executor.execute(desk.subject, Stop(WEB, 1.0)), Unknown)
    desk.host.router.fail_withdraw = "no socket"
    assert Refused("no socket", Fault.ROUTER) == desk.executor.execute(desk.subject, Withdraw("shop", "web"))


def test_what_follows_from_an_outcome_is_kept() -> None:
    desk = Desk()
    desk.host.router.fail_withdraw = "no socket"
    assert desk.do(Withdraw("shop", "web")).unproven
    assert desk.host.stored("web").unproven
    assert desk.do(Stop(WEB, 1.0)).memory.attempt is None
    assert desk.host.memory("web").attempt is None


def test_what_the_store_refuses_holds_in_this_process() -> None:
    desk = Desk()
    desk.host.store.fail_writes("the disk is full")
    after = desk.do(RecordAttempt(WEB, "t"))
    assert Attempt("t") == after.memory.attempt
    assert Refused("the disk is full", Fault.STORE) == after.results[-1].outcome
    assert after.memory == desk.recollection.memory(desk.host.stored("web"), "boot-1")
    assert desk.memory == desk.host.memory("web")


def test_to_forget_an_earlier_container_leaves_the_memory_of_the_present_one() -> None:
    desk = Desk()
    desk.host.store.save_memory("shop", "web", "web-00", Memory(failures=7))
    desk.do(Forget("shop", "web", "web-00"))
    assert desk.memory == desk.host.memory("web")
    assert () == desk.host.stored("web").orphans


class Waiting(Desk):
    """A desk with a running service whose health check says something after ten seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.host.engine.behave("web-1", Behaviour(checks=(True,), check_every_s=10.0))
        self.host.engine.start("web-1")
        self.effect = AwaitHealth(WEB, self.host.container("web-1").started_at, 30.0)
        self.host.calls.clear()


def test_a_health_check_is_waited_for_until_it_says_something() -> None:
    desk = Waiting()
    assert Done() == desk.executor.execute(desk.subject, desk.effect)
    assert 1010.0 == desk.host.clock.now().boot_s
    assert {"engine.inspect web-1"} == set(desk.host.calls.made)


def test_the_wait_for_a_health_check_has_an_end() -> None:
    desk = Waiting()
    assert Unknown("its health check still says starting") == desk.executor.execute(desk.subject, evolve(desk.effect, wait_s=9.0))
    assert 1009.0 == desk.host.clock.now().boot_s


def test_the_wait_for_a_health_check_ends_with_the_execution_and_with_the_container() -> None:
    desk = Waiting()
    desk.host.calls.once_before("engine.inspect", lambda: desk.host.engine.restart("web-1", 1.0))
    assert Done() == desk.executor.execute(desk.subject, desk.effect)
    desk = Waiting()
    desk.host.engine.delete("web-1")
    assert Done() == desk.executor.execute(desk.subject, desk.effect)
    assert 1000.0 == desk.host.clock.now().boot_s


def test_silence_ends_the_wait_for_a_health_check_and_is_no_answer() -> None:
    desk = Waiting()
    desk.host.engine.unreachable("it hangs")
    assert isinstance(desk.executor.execute(desk.subject, desk.effect), Unknown)


def test_the_wait_for_a_health_check_is_dropped_when_the_program_goes_down() -> None:
    """After `wake` no sleep lets time pass; whoever waits for time would wait for ever."""
    desk = Waiting()
    desk.host.clock.wake()
    desk.host.calls.once_before("engine.inspect", desk.executor.drop)
    assert Unknown("dropped: the program is going down") == desk.executor.execute(desk.subject, desk.effect)
