"""`run`: passes until the program is told to end."""

import threading
import time
from itertools import pairwise

import pytest
from attrs import evolve

from gordon_core.policy import PASS_CADENCE_S
from gordon_shell import loop
from gordon_shell.crew import ThreadCrew
from gordon_shell.errors import BusyError
from gordon_shell.events import NO_EVENTS, Event, Events, EventStream, Happened
from gordon_shell.memory.container import Behaviour
from gordon_shell.reconciler import Reconciler, Report
from gordon_shell.system_clock import SystemClock
from tests.hosts import Host

SOON_S = 10.0
"""The promise, and what a busy machine may take; whatever it is that waits or hangs, does so for longer."""


class Desk:
    """Runs a loop over a host, and ends it after so many reports and complaints."""

    def __init__(self, host: Host, most: int) -> None:
        self.host, self.most = host, most
        self.reports: list[Report] = []
        self.complaints: list[str] = []
        self.times: list[float] = []

    def run(self) -> "Desk":
        loop.run(self.host.ports, self.host.reconciler, self.tell, self.complain)
        return self

    def tell(self, report: Report) -> None:
        self.reports.append(report)
        self.count()

    def complain(self, text: str) -> None:
        self.complaints.append(text)
        self.count()

    def count(self) -> None:
        self.times.append(self.host.clock.now().boot_s)
        if len(self.times) == self.most:
            self.host.reconciler.stop()


@pytest.fixture
def host() -> Host:
    host = Host()
    host.service("web")
    return host


def test_a_pass_every_fifteen_seconds(host: Host) -> None:
    desk = Desk(host, 4).run()
    assert 15.0 == PASS_CADENCE_S
    assert [1000.0, 1015.0, 1030.0, 1045.0] == desk.times
    assert 4 == len(desk.reports)


def test_the_time_that_a_pass_takes_is_part_of_the_cadence(host: Host) -> None:
    host.engine.behave("web-1", Behaviour(listens_after_s=6.0))
    desk = Desk(host, 2).run()
    assert 1005.9 < desk.times[0] < 1006.2
    assert pytest.approx(1015.0) == desk.times[1]


def test_a_pass_that_took_longer_is_followed_by_the_next_at_once(host: Host) -> None:
    host.engine.behave("web-1", Behaviour(listens_after_s=20.0))
    desk = Desk(host, 2).run()
    assert desk.times[0] == desk.times[1] > 1015.0


def test_a_second_run_on_the_same_state_says_who_runs_already(host: Host) -> None:
    lock = host.locks.try_run()
    assert not isinstance(lock, str)
    with lock, pytest.raises(BusyError, match=r"pid \d+ runs already on this state; .*gordon-shell once"):
        Desk(host, 1).run()
    assert [] == host.calls.of("engine.")


def test_a_single_pass_beside_it_is_safe(host: Host) -> None:
    """While `run` is at work on the app, `once` skips it; it starts nothing a second time."""
    beside: list[Report] = []
    host.calls.once_before("prober.probe", lambda: beside.append(Reconciler(host.ports, lambda: None).run_pass()))
    Desk(host, 1).run()
    assert ["LOCKED"] == [each.situation.name for each in beside[0].plan.services]
    assert ["engine.start web-1"] == host.calls.of("engine.start")
    assert {"shop/web"} == set(host.routes())


def test_the_lock_of_the_run_is_let_go_at_the_end_also_after_a_fault(host: Host) -> None:
    Desk(host, 1).run()
    assert not isinstance(host.locks.try_run(), str)
    other = Host()
    other.calls.before("router.read", lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        Desk(other, 1).run()
    assert not isinstance(other.locks.try_run(), str)


def test_a_store_that_cannot_be_read_is_complained_of_and_read_again_in_the_next_pass(host: Host) -> None:
    host.store.fail_reads("the state is gone")
    desk = Desk(host, 3)

    def complain(text: str) -> None:
        desk.complain(text)
        if len(desk.complaints) == 2:
            host.store.fail_reads(None)

    loop.run(host.ports, host.reconciler, desk.tell, complain)
    assert ["the state is gone"] * 2 == desk.complaints
    assert [1000.0, 1015.0, 1030.0] == desk.times
    assert {"shop/web"} == set(host.routes())


def test_a_run_that_was_told_to_end_before_it_began_does_nothing(host: Host) -> None:
    host.reconciler.stop()
    Desk(host, 1).run()
    assert [] == host.calls.of("engine.", "router.")


class Live:
    """A run in real time, in a thread of its own."""

    def __init__(self, host: Host, events: Events = NO_EVENTS) -> None:
        self.host = host
        self.clock = SystemClock()
        self.reports: list[Report] = []
        ports = evolve(host.ports, clock=self.clock, events=events)
        self.reconciler = Reconciler(ports, lambda: None, crew=ThreadCrew(2))
        self.thread = threading.Thread(
            target=loop.run, args=(ports, self.reconciler, self.reports.append, lambda _text: None), daemon=True
        )
        self.thread.start()

    def until_called(self, call: str) -> None:
        until_s = time.monotonic() + 60.0
        while not self.host.calls.of(call):
            assert time.monotonic() < until_s
            time.sleep(0.01)

    def stop(self) -> float:
        """Stop it, and return how many seconds it took to end."""
        begun_s = time.monotonic()
        self.reconciler.stop()
        self.thread.join(60.0)
        assert not self.thread.is_alive()
        self.clock.close()
        return time.monotonic() - begun_s


def test_it_ends_soon_between_two_passes(host: Host) -> None:
    live = Live(host)
    live.until_called("router.publish")
    while not live.reports:
        time.sleep(0.01)
    assert live.stop() < SOON_S
    assert not isinstance(host.locks.try_run(), str)


def test_it_ends_soon_while_a_command_hangs(host: Host) -> None:
    go_on = host.calls.hold("engine.start web-1")
    live = Live(host)
    live.until_called("engine.start web-1")
    assert live.stop() < SOON_S
    host.calls.made.clear()
    go_on.set()
    time.sleep(0.1)
    assert [] == host.calls.commands()


def test_it_ends_soon_while_a_health_check_is_waited_for(host: Host) -> None:
    host.engine.behave("web-1", Behaviour(checks=(True,), check_every_s=10_000.0))
    live = Live(host)
    live.until_called("engine.start web-1")
    time.sleep(0.2)
    assert live.stop() < SOON_S
    host.calls.made.clear()
    time.sleep(0.2)
    assert [] == host.calls.of("engine.inspect")[1:]


# --- events --------------------------------------------------------------------------------------------------------------------


def served(live: Live, host: Host) -> None:
    """Wait until the first pass is over."""
    until_s = time.monotonic() + 60.0
    while not (live.reports and host.routes()):
        assert time.monotonic() < until_s
        time.sleep(0.005)


def test_a_death_is_answered_long_before_the_next_pass_is_due(host: Host) -> None:
    live = Live(host, host.engine)
    served(live, host)
    host.calls.made.clear()
    host.engine.kill("web-1")
    begun_s = time.monotonic()
    live.until_called("router.publish")
    assert time.monotonic() - begun_s < PASS_CADENCE_S / 2
    assert ["engine.start web-1"] == host.calls.of("engine.start")
    assert [] == host.calls.of("engine.rows")
    until_s = time.monotonic() + 60.0
    while live.reports[-1].is_whole:
        assert time.monotonic() < until_s
        time.sleep(0.005)
    assert {("shop", "web")} == live.reports[-1].results.keys()
    assert live.stop() < SOON_S


def test_a_stream_that_ends_is_followed_by_a_pass_at_once(host: Host) -> None:
    live = Live(host, host.engine)
    served(live, host)
    before = len(live.reports)
    host.engine.start_again()
    begun_s = time.monotonic()
    while len(live.reports) == before:
        assert time.monotonic() - begun_s < PASS_CADENCE_S / 2
        time.sleep(0.005)
    assert live.stop() < SOON_S


class Breaking:
    """An engine whose every stream ends at once."""

    def __init__(self, host: Host) -> None:
        self.host, self.opened = host, 0

    def events(self) -> EventStream:
        self.opened += 1
        stream = self.host.engine.events()
        stream.close()
        return stream


def test_streams_that_end_all_the_time_make_neither_loop_busy(host: Host) -> None:
    breaking = Breaking(host)
    live = Live(host, breaking)
    served(live, host)
    time.sleep(2.2)
    assert live.stop() < SOON_S
    assert 1 < breaking.opened <= 4
    assert len(live.reports) <= 3


class Flood:
    """Events that never end."""

    def __init__(self) -> None:
        self.said, self.closed = 0, False

    def __iter__(self) -> "Flood":
        return self

    def __next__(self) -> Event:
        if self.closed:
            raise StopIteration
        self.said += 1
        time.sleep(0.0002)
        return Event("web-1" if self.said % 2 else f"foreign-{self.said % 50}", Happened.DIED, self.said)

    def close(self) -> None:
        self.closed = True


class Flooding:
    """An engine that never stops saying the same of containers that are not ours, and of one that is."""

    def events(self) -> EventStream:
        return Flood()


def test_a_flood_of_events_costs_a_look_a_second_and_the_passes_come_as_ever(host: Host) -> None:
    live = Live(host, Flooding())
    served(live, host)
    host.calls.made.clear()
    time.sleep(2.5)
    assert len(host.calls.of("engine.inspect web-1")) <= 4
    assert len(host.calls.of("store.read")) <= 8
    host.engine.kill("web-1")
    live.until_called("engine.start web-1")
    assert live.stop() < SOON_S


def test_the_cadence_is_kept_beside_a_flood() -> None:
    host = Host()
    host.service("web")
    clock = SystemClock()
    ports = evolve(host.ports, clock=clock, events=Flooding())
    reconciler = Reconciler(ports, lambda: None, crew=ThreadCrew(2))
    wholes: list[float] = []

    def tell(report: Report) -> None:
        if report.is_whole:
            wholes.append(time.monotonic())
        if len(wholes) == 5:
            reconciler.stop()

    loop.run(ports, reconciler, tell, lambda _text: None, cadence_s=0.3)
    clock.close()
    assert [True] * 4 == [after - before < 3.0 for before, after in pairwise(wholes)]


def test_without_events_nothing_is_followed_and_a_pass_comes_as_ever(host: Host) -> None:
    desk = Desk(host, 3).run()
    assert [1000.0, 1015.0, 1030.0] == desk.times
