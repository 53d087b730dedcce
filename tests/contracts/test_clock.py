"""What every TimeSource holds to: one suite for the memory clock and the system's."""

import signal
import threading
import time
from collections.abc import Iterator

import pytest

from gordon_shell.memory.clock import MemoryClock
from gordon_shell.ports import TimeSource
from gordon_shell.system_clock import SystemClock

SOON_S = 60.0
"""What comes at once on an idle machine; a sleep that is not ended takes ten times as long."""


@pytest.fixture(params=["memory", "system"])
def clock(request: pytest.FixtureRequest) -> Iterator[TimeSource]:
    if request.param == "memory":
        yield MemoryClock()
        return
    made = SystemClock()
    yield made
    made.close()


def test_a_sleep_lets_at_least_its_time_pass(clock: TimeSource) -> None:
    before = clock.now()
    clock.sleep(0.05)
    after = clock.now()
    assert after.boot_s - before.boot_s >= 0.0499
    assert before.boot_id == after.boot_id


def test_simulated_wall_time_goes_with_it() -> None:
    """That of the system may be stepped at any moment, and is promised nothing."""
    clock = MemoryClock()
    before_s = clock.now().wall_s
    clock.sleep(7.0)
    assert before_s + 7.0 == clock.now().wall_s


def test_a_sleep_of_nothing_or_less_returns(clock: TimeSource) -> None:
    before_s = clock.now().boot_s
    clock.sleep(0.0)
    clock.sleep(-600.0)
    assert SOON_S > clock.now().boot_s - before_s >= 0.0


def test_no_sleep_lasts_after_a_wake(clock: TimeSource) -> None:
    clock.wake()
    before_s = clock.now().boot_s
    clock.sleep(600.0)
    clock.sleep(600.0)
    assert SOON_S > clock.now().boot_s - before_s


def test_boot_time_goes_on_by_itself_in_no_simulation() -> None:
    clock = MemoryClock()
    before = clock.now()
    time.sleep(0.01)
    assert before == clock.now()


def test_a_wake_ends_a_sleep_under_way_in_every_thread() -> None:
    clock = SystemClock()
    sleepers = [threading.Thread(target=clock.sleep, args=(600.0,)) for _ in range(3)]
    for each in sleepers:
        each.start()
    clock.wake()
    for each in sleepers:
        each.join(SOON_S)
    assert [False] * 3 == [each.is_alive() for each in sleepers]
    clock.close()


def test_a_signal_handler_may_wake_the_thread_that_it_interrupts() -> None:
    clock = SystemClock()
    before = signal.signal(signal.SIGALRM, lambda *_: clock.wake())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        start_s = time.monotonic()
        clock.sleep(600.0)
    finally:
        signal.signal(signal.SIGALRM, before)
        clock.close()
    assert SOON_S > time.monotonic() - start_s


def test_a_step_of_the_wall_clock_leaves_boot_time_alone_and_a_reboot_has_another_name() -> None:
    clock = MemoryClock()
    before = clock.now()
    clock.step_wall(-3600.0)
    stepped = clock.now()
    assert (before.boot_s, before.wall_s - 3600.0, before.boot_id) == (stepped.boot_s, stepped.wall_s, stepped.boot_id)
    clock.reboot("boot-2")
    assert (1.0, "boot-2") == (clock.now().boot_s, clock.now().boot_id)


def test_a_rest_lets_its_time_pass_as_a_sleep_does(clock: TimeSource) -> None:
    before_s = clock.now().boot_s
    clock.rest(0.05)
    assert clock.now().boot_s - before_s >= 0.0499


def test_a_nudge_ends_the_next_rest_and_only_that(clock: TimeSource) -> None:
    clock.nudge()
    clock.nudge()
    before_s = clock.now().boot_s
    clock.rest(600.0)
    assert SOON_S > clock.now().boot_s - before_s
    before_s = clock.now().boot_s
    clock.rest(0.05)
    assert clock.now().boot_s - before_s >= 0.0499


def test_a_nudge_ends_no_sleep_and_a_wake_ends_every_rest(clock: TimeSource) -> None:
    clock.nudge()
    before_s = clock.now().boot_s
    clock.sleep(0.05)
    assert clock.now().boot_s - before_s >= 0.0499
    clock.wake()
    clock.rest(0.0)
    before_s = clock.now().boot_s
    clock.rest(600.0)
    assert SOON_S > clock.now().boot_s - before_s


def test_a_nudge_ends_a_rest_under_way_and_comes_to_nothing_once_the_clock_is_closed() -> None:
    clock = SystemClock()
    sleeper = threading.Thread(target=clock.rest, args=(600.0,))
    sleeper.start()
    clock.nudge()
    sleeper.join(SOON_S)
    assert not sleeper.is_alive()
    clock.close()
    clock.nudge()
