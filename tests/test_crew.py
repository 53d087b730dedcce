"""Jobs side by side: the bound, the deadlines, and what hangs."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Barrier, Event, Lock

import pytest

from gordon_shell.crew import Crew, InlineCrew, Job, ThreadCrew

SOON_S = 30.0
"""What anything that should come at once may take on a busy machine; what hangs does so for much longer."""
HANGS_S = 120.0


def job(work: Callable[[Job], object], name: str = "shop/web", deadline_s: float = HANGS_S) -> Job:
    def do(own: Job) -> None:
        work(own)

    return Job(name, "shop", deadline_s, do)


class Meter:
    """Counts how many jobs run at once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._now = 0
        self.most = 0
        self.done = 0

    def work(self, _job: Job) -> None:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(0.02)
        with self._lock:
            self._now -= 1
            self.done += 1


@contextmanager
def hung(deadline_s: float = HANGS_S) -> Iterator[Job]:
    """Give a job that hangs until the block ends."""
    event = Event()
    yield job(lambda _job: event.wait(HANGS_S), "shop/hung", deadline_s)
    event.set()


@contextmanager
def soon() -> Iterator[None]:
    begun_s = time.monotonic()
    yield
    assert time.monotonic() - begun_s < SOON_S


@pytest.fixture(params=["inline", "threads"])
def crew(request: pytest.FixtureRequest) -> Crew:
    return InlineCrew() if request.param == "inline" else ThreadCrew(3)


def test_every_job_is_done(crew: Crew) -> None:
    meter = Meter()
    jobs = [job(meter.work) for _ in range(8)]
    crew.go(jobs, None)
    assert 8 == meter.done
    assert [True] * 8 == [each.ended for each in jobs]


def test_a_fault_ends_its_own_job_alone_and_is_kept(crew: Crew) -> None:
    meter, broken = Meter(), job(lambda _job: 1 // 0)
    crew.go([broken, job(meter.work)], None)
    assert isinstance(broken.fault, ZeroDivisionError)
    assert broken.ended
    assert 1 == meter.done


def test_nothing_is_begun_after_a_stop(crew: Crew) -> None:
    meter, late = Meter(), job(lambda _job: None)
    crew.stop()
    crew.go([job(meter.work), late], None)
    assert 0 == meter.done
    assert late.started_s is None


def test_a_stop_is_told_to_the_job_under_way(crew: Crew) -> None:
    said: list[bool] = []

    def work(own: Job) -> None:
        said.append(own.may_go_on())
        crew.stop()
        said.append(own.may_go_on())

    crew.go([job(work)], None)
    while len(said) < 2:
        time.sleep(0.001)
    assert [True, False] == said


def test_no_more_run_at_once_than_the_bound_allows_and_that_many_do() -> None:
    meter, three = Meter(), Barrier(3)

    def work(own: Job) -> None:
        three.wait(SOON_S)
        meter.work(own)

    ThreadCrew(3).go([job(work) for _ in range(12)], None)
    assert 3 >= meter.most
    assert 12 == meter.done


def test_a_job_that_hangs_blocks_no_sibling_and_is_left_behind_at_its_deadline() -> None:
    meter = Meter()
    with hung(deadline_s=0.3) as stuck, soon():
        ThreadCrew(2).go([stuck, *(job(meter.work) for _ in range(6))], None)
        assert 6 == meter.done
        assert (True, False, False) == (stuck.overdue, stuck.ended, stuck.may_go_on())


def test_the_place_of_an_overdue_job_is_taken() -> None:
    meter = Meter()
    with hung(deadline_s=0.2) as stuck, soon():
        ThreadCrew(1).go([stuck, job(meter.work)], None)
    assert 1 == meter.done


def test_the_time_of_a_job_runs_from_its_own_begin() -> None:
    slow = [job(lambda _job: time.sleep(0.5), deadline_s=2.4) for _ in range(5)]
    ThreadCrew(1).go(slow, None)
    assert [False] * 5 == [each.overdue for each in slow]


def test_patience_ends_a_call_and_the_job_goes_on() -> None:
    meter, crew = Meter(), ThreadCrew(2)
    with hung() as stuck:
        with soon():
            crew.go([stuck, job(meter.work)], 0.2)
        assert (False, False, True) == (stuck.overdue, stuck.ended, stuck.may_go_on())
    with soon():
        while not stuck.ended:
            time.sleep(0.01)


def test_what_was_not_begun_when_the_patience_ended_is_dropped() -> None:
    meter, crew = Meter(), ThreadCrew(1)
    late = job(meter.work)
    with hung() as stuck:
        crew.go([stuck, late], 0.2)
    crew.go([job(lambda _job: None)], None)
    assert late.started_s is None
    assert 0 == meter.done


def test_a_later_call_does_not_wait_for_the_jobs_of_an_earlier_one() -> None:
    meter, crew = Meter(), ThreadCrew(2)
    with hung() as stuck:
        crew.go([stuck], 0.0)
        with soon():
            crew.go([job(meter.work)], None)
        assert 1 == meter.done
        assert not stuck.overdue


def test_a_call_without_jobs_finds_out_what_is_overdue() -> None:
    crew = ThreadCrew(2)
    with hung(deadline_s=0.1) as stuck:
        crew.go([stuck], 0.0)
        time.sleep(0.15)
        crew.go((), 0.0)
        assert stuck.overdue


def test_a_stop_ends_a_call_at_once() -> None:
    crew = ThreadCrew(2)
    with hung() as stuck, soon():
        helper = job(lambda _job: crew.stop())
        crew.go([stuck, helper], None)
    assert not stuck.may_go_on()


# --- meanwhile -----------------------------------------------------------------------------------------------------------------


def test_meanwhile_comes_soon_after_a_nudge_and_after_each_end() -> None:
    crew, times = ThreadCrew(2), [0.0]
    nudged = Event()

    def nudge(_own: Job) -> None:
        time.sleep(0.05)
        times[0] = time.monotonic()
        crew.nudge()
        assert nudged.wait(SOON_S)

    def meanwhile() -> bool:
        if times[0]:
            nudged.set()
        return False

    with soon():
        crew.go([job(nudge)], None, meanwhile)
    assert nudged.is_set()


def test_meanwhile_may_end_the_patience_and_the_jobs_go_on() -> None:
    crew = ThreadCrew(1)
    with hung() as stuck:
        late = job(lambda _own: None)
        with soon():
            crew.go([stuck, late], None, lambda: True)
        assert stuck.is_under_way()
        assert late.started_s is None


def test_jobs_may_be_begun_meanwhile_in_another_crew_and_in_the_same() -> None:
    meter, crew, other = Meter(), ThreadCrew(2), ThreadCrew(1)
    begun: list[Job] = []

    def meanwhile() -> bool:
        if not begun:
            begun.extend([job(meter.work), job(meter.work)])
            crew.go(begun[:1], 0.0)
            other.go(begun[1:], 0.0)
        return all(each.ended for each in begun)

    with hung() as stuck, soon():
        crew.go([stuck], None, meanwhile)
        assert 2 == meter.done


def test_in_order_meanwhile_comes_between_two_jobs() -> None:
    crew, order = InlineCrew(), list[str]()

    def meanwhile() -> bool:
        order.append("meanwhile")
        return len(order) > 3

    crew.go([job(lambda own: order.append(own.name), each) for each in ("a", "b", "c")], None, meanwhile)
    assert ["a", "meanwhile", "b", "meanwhile"] == order


def test_whoever_waits_is_told_when_a_job_has_ended() -> None:
    told = Event()
    one = job(lambda _own: None)
    one.after = lambda: told.set() if one.ended else None
    ThreadCrew(1).go([one], None)
    assert told.wait(SOON_S)
