"""Services side by side, up to a bound, each with its own deadline: a call that hangs blocks neither a sibling nor the pass."""

from collections import deque
from collections.abc import Callable, Iterable
from math import inf
from threading import Condition, Thread
from time import monotonic
from typing import Protocol

from attrs import define, field

_TICK_S = 0.25


@define(eq=False)
class Job:
    """The work of one pass on one service. Once it is overdue, or told to stop, it takes no further step.

    `doing` says in words what it waits for. `fault` is a fault of ours that ended it, with its traceback.
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

    def may_go_on(self) -> bool:
        """Tell whether another step may be taken."""
        return not (self.overdue or self.stopped)

    def is_under_way(self) -> bool:
        """Tell whether it has neither ended nor used up its time."""
        return not (self.ended or self.overdue)

    def run(self) -> None:
        """Do the work; a fault of ours ends this job alone, and is reported."""
        try:
            self.work(self)
        except Exception as fault:  # noqa: BLE001 - the boundary of a thread: what is raised here would be lost
            self.fault = fault


class Crew(Protocol):
    """Does jobs."""

    def go(self, jobs: Iterable[Job], patience_s: float | None) -> None:
        """Do the jobs side by side. Return when each of them has ended or is overdue, or when the patience is over (None:
        never); jobs that were not begun by then are dropped. Jobs of earlier calls that have become overdue are marked so."""

    def stop(self) -> None:
        """Let no job take another step, and return from `go` soon."""


class InlineCrew:
    """One job after the other in the calling thread: for tests, and for a world that is simulated."""

    def __init__(self) -> None:
        self._stopped = False
        self._job: Job | None = None

    def go(self, jobs: Iterable[Job], patience_s: float | None) -> None:
        """Do the jobs in order."""
        del patience_s
        for job in jobs:
            if not self._stopped:
                self._job, job.started_s = job, 0.0
                job.run()
                job.ended = True

    def stop(self) -> None:
        """Do no further job, and no further step of the present one."""
        self._stopped = True
        if self._job is not None:
            self._job.stopped = True


class ThreadCrew:
    """At most `size` jobs at once, each in a daemon thread. A job that is overdue is left behind, and its place is taken."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._changed = Condition()
        self._running: list[Job] = []
        self._stopped = False

    def go(self, jobs: Iterable[Job], patience_s: float | None) -> None:
        """See Crew."""
        own = tuple(jobs)
        waiting = deque(own)
        begun_s, most_s = monotonic(), inf if patience_s is None else patience_s
        with self._changed:
            while not self._stopped:
                self._leave_behind()
                while waiting and len(self._running) < self._size:
                    self._begin(waiting.popleft())
                if not any(each.is_under_way() for each in own) or monotonic() - begun_s >= most_s:
                    return
                self._changed.wait(_TICK_S)

    def stop(self) -> None:
        """See Crew."""
        with self._changed:
            self._stopped = True
            for job in self._running:
                job.stopped = True
            self._changed.notify_all()

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
            self._changed.notify_all()

    def _leave_behind(self) -> None:
        now_s = monotonic()
        for job in [each for each in self._running if each.started_s is not None and now_s - each.started_s > each.deadline_s]:
            job.overdue = True
            self._running.remove(job)
