"""How fast workloads are started: a burst, then so many a second, and so many at once."""

import threading
import time

from gordon_shell.crew import Job, ThreadCrew
from gordon_shell.pace import A_SECOND, AT_ONCE, BURST, Pace

SOON_S = 30.0


def always() -> bool:
    return True


def nothing() -> None:
    pass


class Meter:
    """Notes when turns come, and how many are out at once."""

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self.times: list[float] = []
        self.out = self.most = 0
        self.mutex = threading.Lock()

    def turn(self, held_s: float = 0.0) -> None:
        assert self.pace.take(always, nothing)
        with self.mutex:
            self.times.append(time.monotonic())
            self.out += 1
            self.most = max(self.most, self.out)
        time.sleep(held_s)
        with self.mutex:
            self.out -= 1
        self.pace.give_back()

    def turns(self, many: int, held_s: float = 0.0) -> list[float]:
        """Take so many side by side, and return when each came after the first."""
        threads = [threading.Thread(target=self.turn, args=(held_s,)) for _ in range(many)]
        for each in threads:
            each.start()
        for each in threads:
            each.join(SOON_S)
        return [each - min(self.times) for each in sorted(self.times)]


def test_the_numbers_are_those_of_the_documentation() -> None:
    assert (8, 8, 4.0) == (AT_ONCE, BURST, A_SECOND)


def test_a_burst_comes_without_a_wait_and_the_others_so_many_a_second() -> None:
    times = Meter(Pace(at_once=100, burst=3, a_second=10.0)).turns(6)
    assert [True, True, True] == [0.1 * late - 0.02 <= times[2 + late] for late in (1, 2, 3)]


def test_no_more_are_out_at_once_than_may_be() -> None:
    meter = Meter(Pace(at_once=2, burst=100, a_second=100.0))
    meter.turns(8, held_s=0.02)
    assert 2 == meter.most


def test_a_single_one_never_waits() -> None:
    told: list[bool] = []
    pace = Pace()
    for _ in range(BURST):
        assert pace.take(always, lambda: told.append(True))
        pace.give_back()
    assert [] == told


def test_who_may_not_go_on_gets_no_turn_and_takes_none_away() -> None:
    pace = Pace(at_once=1)
    assert not pace.take(lambda: False, nothing)
    assert pace.take(always, nothing)


def test_who_waits_is_told_so_once() -> None:
    told: list[bool] = []
    pace = Pace(at_once=1)
    assert pace.take(always, nothing)
    may_wait = iter([True, True, False])
    assert not pace.take(lambda: next(may_wait), lambda: told.append(True))
    assert [True] == told


# --- in a crew ---------------------------------------------------------------------------------------------------------------


def test_a_job_that_waits_for_its_turn_takes_up_neither_a_place_nor_its_time() -> None:
    crew = ThreadCrew(1, Pace(at_once=1, burst=1, a_second=0.001))
    first, done = threading.Event(), threading.Event()

    def hold(own: Job) -> None:
        crew.take_turn(own)
        first.set()
        assert done.wait(SOON_S)
        crew.end_turn(own)

    def wait(own: Job) -> None:
        crew.take_turn(own)

    holder, waiter = Job("shop/a", "shop", 60.0, hold), Job("shop/b", "shop", 0.05, wait)
    other = Job("shop/c", "shop", 60.0, lambda _own: done.set())
    crew.go([holder], 0.0)
    assert first.wait(SOON_S)
    crew.end_turn(holder)
    done.set()
    while not holder.ended:
        time.sleep(0.001)
    done.clear()
    crew.go([waiter], 0.0)
    while waiter.waits_since_s is None:
        time.sleep(0.001)
    time.sleep(0.1)
    crew.go([other], SOON_S)
    assert other.ended
    assert not waiter.overdue
    crew.stop()
    until_s = time.monotonic() + SOON_S
    while not waiter.ended:
        assert time.monotonic() < until_s
        time.sleep(0.01)
    assert not waiter.has_turn
    assert waiter.waited_s >= 0.1
