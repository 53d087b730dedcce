"""Services side by side, up to a bound, each with its own deadline: a call that hangs blocks neither a sibling nor the pass."""

from collections import deque
from collections.abc import Callable, Iterable
from math import inf
from threading import Condition, Thread
from time import monotonic
from typing import Protocol

from attrs import define, field

from gordon_core.effects import Result, Unknown
from gordon_core.snapshot import Subject
from gordon_shell.pace import Pace

NOT_BACK = Unknown("it has not come back in time")
"""What is said of a command while it is waited for, and for good where that took too long."""
_TICK_S = 0.25
_MOST_WAITING = 3
"""How many times as many jobs as there are places may wait for their turn to start something."""


def nothing() -> None:
    """Do nothing."""


def never() -> bool:
    """Have nothing to do meanwhile, and wait on."""
    return False


@define(eq=False)
class Job:
    """The work of one pass on one service. Once it is overdue, or told to stop, it takes no further step.

    `doing` says in words what it waits for. `fault` is a fault of ours that ended it, with its traceback. `waits_since_s` is
    since when it has been waiting for its turn to start something, and `waited_s` how long it did before: time that does not
    count. `after` is called when it has ended, by whoever did it in a thread of its own. `last` is the service as it was seen
    last, by a look that began at `looked_s`. `done` is what it did, and how many of that were `told`.
    """

    name: str
    app: str
    deadline_s: float
    work: Callable[["Job"], None]
    doing: str = ""
    started_s: float | None = None
    ended: bool = False
    overdue: bool = False
    stopped: bool = False
    fault: BaseException | None = field(default=None)
    after: Callable[[], None] = nothing
    has_turn: bool = False
    waits_since_s: float | None = None
    waited_s: float = 0.0
    looked_s: float = -inf
    last: Subject | None = None
    done: list[Result] = field(factory=list)
    told: int = 0

    def may_go_on(self) -> bool:
        """Tell whether another step may be taken."""
        return not (self.overdue or self.stopped)

    def is_under_way(self) -> bool:
        """Tell whether it has neither ended nor used up its time."""
        return not (self.ended or self.overdue)

    def tell(self) -> tuple[Result, ...]:
        """Return what it did that was not told yet. A command that is waited for is told when it is back, or not in time."""
        is_under_way = self.is_under_way()  # asked first: what comes back after that is told the next time
        done = tuple(self.done)
        if is_under_way and done and done[-1].outcome is NOT_BACK:
            done = done[:-1]
        news, self.told = done[self.told :], len(done)
        return news

    def run(self) -> None:
        """Do the work; a fault of ours ends this job alone, and is reported."""
        try:
            self.work(self)
        except Exception as fault:  # noqa: BLE001 - the boundary of a thread: what is raised here would be lost
            self.fault = fault


class Crew(Protocol):
    """Does jobs."""

    def go(self, jobs: Iterable[Job], patience_s: float | None, meanwhile: Callable[[], bool] = never) -> None:
        """Do the jobs side by side. Return when each of them has ended or is overdue, or when the patience is over (None:
        never); jobs that were not begun by then are dropped. Jobs of earlier calls that have become overdue are marked so.

        `meanwhile` is called again and again, in the calling thread: soon after `nudge`, and whenever a job has ended. It returns
        whether the patience is over. It may call `go` of another crew, or of this one without any patience.
        """

    def nudge(self) -> None:
        """Have `meanwhile` called soon; any thread may ask for it."""

    def take_turn(self, job: Job) -> None:
        """Let a job wait for its turn to start a workload, if it must; it has it then, unless it may not go on."""

    def end_turn(self, job: Job) -> None:
        """Let another have its turn, if this one has it."""

    def stop(self) -> None:
        """Let no job take another step, and return from `go` soon."""


class InlineCrew:
    """One job after the other in the calling thread: for tests, and for a world that is simulated."""

    def __init__(self) -> None:
        self._stopped = False
        self._job: Job | None = None

    def go(self, jobs: Iterable[Job], patience_s: float | None, meanwhile: Callable[[], bool] = never) -> None:
        """Do the jobs in order."""
        del patience_s
        for job in jobs:
            if not self._stopped:
                self._job, job.started_s = job, 0.0
                job.run()
                job.ended = True
                if meanwhile():
                    return

    def nudge(self) -> None:
        """Do nothing: the caller of `go` is at work."""

    def take_turn(self, job: Job) -> None:
        """Let it have its turn: one after the other is slow enough."""
        job.has_turn = True

    def end_turn(self, job: Job) -> None:
        """Let it be over."""
        job.has_turn = False

    def stop(self) -> None:
        """Do no further job, and no further step of the present one."""
        self._stopped = True
        if self._job is not None:
            self._job.stopped = True


class ThreadCrew:
    """At most `size` jobs at once, each in a daemon thread. A job that is overdue is left behind, and its place is taken.

    Jobs start workloads at a `pace`, which crews may share; one that waits for its turn takes up no place, and no time.
    """

    def __init__(self, size: int, pace: Pace | None = None) -> None:
        self._size = size
        self._pace = pace if pace is not None else Pace()
        self._changed = Condition()
        self._running: list[Job] = []
        self._stopped = False
        self._nudged = False

    def go(self, jobs: Iterable[Job], patience_s: float | None, meanwhile: Callable[[], bool] = never) -> None:
        """See Crew."""
        own = tuple(jobs)
        waiting = deque(own)
        begun_s, most_s = monotonic(), inf if patience_s is None else patience_s
        while not self._stopped:
            with self._changed:
                self._leave_behind()
                while waiting and self._has_place():
                    self._begin(waiting.popleft())
                if not any(each.is_under_way() for each in own) or monotonic() - begun_s >= most_s:
                    return
                if not self._nudged:
                    self._changed.wait(_TICK_S)
                self._nudged = False
            if meanwhile():
                return

    def nudge(self) -> None:
        """See Crew."""
        with self._changed:
            self._nudged = True
            self._changed.notify_all()

    def take_turn(self, job: Job) -> None:
        """See Crew."""

        def waits() -> None:
            job.waits_since_s = monotonic()
            self.nudge()

        has_turn = self._pace.take(job.may_go_on, waits)
        with self._changed:
            if job.waits_since_s is not None:
                job.waited_s += monotonic() - job.waits_since_s
                job.waits_since_s = None
            job.has_turn = has_turn

    def end_turn(self, job: Job) -> None:
        """See Crew."""
        if job.has_turn:
            job.has_turn = False
            self._pace.give_back()

    def stop(self) -> None:
        """See Crew."""
        with self._changed:
            self._stopped = True
            for job in self._running:
                job.stopped = True
            self._changed.notify_all()

    def _has_place(self) -> bool:
        at_work = sum(each.waits_since_s is None for each in self._running)
        return at_work < self._size and len(self._running) - at_work < self._size * _MOST_WAITING

    def _begin(self, job: Job) -> None:
        job.started_s = monotonic()
        self._running.append(job)
        Thread(target=self._do, args=(job,), name=job.name, daemon=True).start()

    def _do(self, job: Job) -> None:
        job.run()
        with self._changed:
            job.ended = True
            if job in self._running:
                self._running.remove(job)
            self._nudged = True
            self._changed.notify_all()
        job.after()

    def _leave_behind(self) -> None:
        now_s = monotonic()
        for job in [each for each in self._running if _time_is_up(each, now_s)]:
            job.overdue = True
            self._running.remove(job)


def _time_is_up(job: Job, now_s: float) -> bool:
    if job.started_s is None or job.waits_since_s is not None:
        return False
    return now_s - job.started_s - job.waited_s > job.deadline_s
