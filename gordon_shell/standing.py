"""What a reconciler knows between its looks: each service as it was seen last, whose each container is, and what is under way."""

from collections.abc import Iterable, Iterator, Mapping
from math import inf

from attrs import define, evolve, field

from gordon_core.planner import Decision, Plan
from gordon_core.snapshot import Snapshot, Subject
from gordon_shell.board import Board
from gordon_shell.crew import Job
from gordon_shell.observer import named
from gordon_shell.ports import Service, Stored
from gordon_shell.worker import Results


def key_of(subject: Subject) -> Service:
    """Return (app, service)."""
    return subject.app, subject.service


def without_clash(decision: Decision) -> Subject:
    """Return a subject as it is before the planner finds out what it clashes with."""
    subject = decision.subject
    return subject if subject.clash is None else evolve(subject, clash=None)


@define
class Pass:
    """What one pass has done so far; `broken` are services in whose job this program had a fault, and that get no other.

    `results` are those that the next decision upon a service knows of: none where it was looked at anew. `done` are all that
    are to be told. `news` are services that something came of, where jobs are not waited for.
    """

    patience_s: float | None = None
    results: Results = field(factory=dict)
    faults: list[BaseException] = field(factory=list)
    broken: set[Service] = field(factory=set)
    done: Results = field(factory=dict)
    news: set[Service] = field(factory=set)

    def hear(self, key: Service, job: Job) -> None:
        """Take down what a job did since it was last asked."""
        news = job.tell()
        if news:
            self.done[key] = (*self.done.get(key, ()), *news)

    def tell(self, keys: Iterable[Service]) -> Results:
        """Part with what was done to these services."""
        return {key: self.done.pop(key, ()) for key in keys}


@define(eq=False)
class Standing:
    """How all services stand, for one thread. `looked_s` is when the last look at everything began."""

    latest: Plan
    looked_s: float = -inf
    owners: Mapping[str, Service] = field(factory=dict)
    _stored: tuple[Stored, ...] = ()
    _subjects: dict[Service, Subject] | None = None
    _board: Board | None = None

    def look(self, now: Plan, looked_s: float) -> None:
        """Take down a look at everything."""
        self.latest, self.looked_s = now, looked_s
        self._subjects, self._board = None, None

    def own(self, stored: tuple[Stored, ...]) -> None:
        """Take down whose each container is."""
        if stored is not self._stored:
            self._stored = stored
            self.owners = {name: (each.app, each.service) for each in stored for name in named(each)}

    def subjects(self) -> dict[Service, Subject]:
        """Return each service as it was seen last by a pass that was done with it; what is put in there stays until the next
        look at everything."""
        if self._subjects is None:  # made when it is first wanted: most looks at everything are followed by another one
            self._subjects = {key_of(each.subject): without_clash(each) for each in self.latest.services}
        return self._subjects

    def board(self, snapshot: Snapshot | None = None) -> Board:
        """Return a board with each service as it was seen last, also by jobs under way; begin a new one with a snapshot."""
        if snapshot is not None:
            self._board = Board(snapshot)
        elif self._board is None:
            self._board = Board(Snapshot(self.latest.clock, self.subjects().values()))
        return self._board


@define(eq=False)
class UnderWay:
    """The jobs that are under way, by service; those of earlier passes too."""

    jobs: dict[Service, Job] = field(factory=dict)

    def busy(self) -> set[Service]:
        """Return the services with a job that has not ended, or waits for its place."""
        return {key for key, job in self.jobs.items() if not job.ended}

    def apps(self) -> set[str]:
        """Return the apps whose locks are needed."""
        return {job.app for job in self.jobs.values() if job.is_under_way()}

    def in_words(self) -> dict[Service, str]:
        """Return the command that each busy service waits for."""
        return {key: job.doing or "its last command" for key, job in self.jobs.items() if not job.ended}

    def overdue(self) -> tuple[str, ...]:
        """Return a sentence for each job that has used up its time, and has not come back."""
        return tuple(
            f"{job.name}: overdue, still waiting to {job.doing or 'look at it'}"
            for job in self.jobs.values()
            if job.overdue and not job.ended
        )

    def ended(self) -> Iterator[tuple[Service, Job]]:
        """Part with the jobs that have ended."""
        for key, job in tuple(self.jobs.items()):
            if job.ended:
                del self.jobs[key]
                yield key, job

    def dropped(self, jobs: Mapping[Service, Job]) -> tuple[Service, ...]:
        """Part with those of these jobs that were not begun when the patience with them was over; return whose they were."""
        dropped = tuple(key for key, job in jobs.items() if job.started_s is None)
        for key in dropped:
            del self.jobs[key]
        return dropped
