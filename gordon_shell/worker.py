"""The work on one service: do the one effect that is called for, look at it again with evidence, decide again.

Each piece of work is a job, which a crew does beside others. Nothing is decided here: what is called for is the core's word.
"""

from math import inf

from attrs import evolve, field, frozen

from gordon_core.effects import Effect, RecordAttempt, RecordFailure, Restart, Result, Start, Withdraw
from gordon_core.looks import extract
from gordon_core.planner import Decision, Plan, decide, decide_beside
from gordon_core.policy import DEFAULT_POLICY
from gordon_core.sentences import in_words
from gordon_core.snapshot import Snapshot, Subject
from gordon_shell.board import Board
from gordon_shell.crew import NOT_BACK, Crew, Job
from gordon_shell.executor import Executor
from gordon_shell.hints import Hints
from gordon_shell.observer import Observer
from gordon_shell.ports import Ports, Service
from gordon_shell.recollection import Recollection
from gordon_shell.witness import Witness

Results = dict[Service, tuple[Result, ...]]

_ROUTER_DEADLINE_S = 30.0
_TURN = "be started in its turn"
_STARTING = (RecordAttempt, Start, Restart)
"""What waits for a turn: the attempt too, so that nothing but the call lies between its record and the start."""
_WRITING = (RecordAttempt, RecordFailure)
"""What changes only what is remembered, before something is done to the workload: a look a moment before it still counts."""
FRESH_S = 0.05
"""How old a look may be for that. A disk may take longer; then it is looked at again."""


@frozen(eq=False)
class Due:
    """A decision that calls for an effect, and the snapshot of which `plan` makes it."""

    decision: Decision
    effect: Effect
    decided: Snapshot


@frozen(eq=False)
class Task:
    """What a job is about: a service, beside which others, and where its results go.

    `looked_s` and `seen_s` are when a look at it with evidence began and was over, if there was one in this pass. `looked_at` are
    the services that a targeted pass looked at (None: all); where that is not enough, more looks are asked for by `hints`.
    """

    subject: Subject
    board: Board
    results: Results
    looked_s: float = -inf
    seen_s: float = -inf
    looked_at: frozenset[Service] | None = None
    hints: Hints = field(factory=Hints)


class Worker:
    """Makes the jobs of a reconciler."""

    def __init__(self, ports: Ports, observer: Observer, recollection: Recollection, witness: Witness) -> None:
        self._ports, self._observer, self._witness = ports, observer, witness
        self._executor = Executor(ports, recollection)

    def drop(self) -> None:
        """End every wait under way, and begin no other: the program is going down."""
        self._executor.drop()

    def withdrawal(self, planned: Decision, now: Plan, subjects: dict[Service, Subject]) -> Job:
        """Return the job to withdraw a wrong route; the subject is replaced by what it is after that."""

        def work(job: Job) -> None:
            decision, decided = planned, extract(now, planned)
            if planned.subject.declared is None:
                # Its app may have been locked, and it may have been deployed, until a moment ago.
                subject = self._observer.look_again(planned.subject, job.may_go_on)
                decided = Snapshot(self._ports.clock.now(), (subject,))
                decision = decide(subject, decided.clock.boot_s)
            if isinstance(decision.effect, Withdraw) and job.may_go_on():
                after = self._do(job, decision.subject, Due(decision, decision.effect, decided))
                if job.may_go_on():
                    subjects[after.app, after.service] = evolve(after, clash=None)

        return Job(planned.subject.name, planned.subject.app, _ROUTER_DEADLINE_S, work)

    def job(self, crew: Crew, task: Task) -> Job:
        """Return the job to work on one service until nothing more is called for."""
        subject = task.subject
        declared = subject.declared
        policy = declared.policy if declared is not None else DEFAULT_POLICY
        graces_s = [each.stop_grace_s for each in subject.superseded] + [each.stop_grace_s for each in subject.candidates]
        grace_s = max([declared.stop_grace_s if declared is not None else 0.0, *graces_s])

        def work(job: Job) -> None:
            try:
                self._work(crew, job, task)
            finally:
                crew.end_turn(job)

        deadline_s = policy.deadline_s(grace_s)
        return Job(subject.name, subject.app, deadline_s, work, after=self._ports.clock.nudge, looked_s=task.looked_s)

    def next(self, subject: Subject, board: Board, looked_at: frozenset[Service] | None = None) -> Due | None:
        """Return what is called for now: of the service first, then of its superseded containers."""
        # The read that came with this subject shows the others' routes too: one that is gone by now contests no port, and one
        # that could not be read before may contest it.
        others = board.others(subject, self._observer.latest_routes, looked_at)
        decided = Snapshot(self._ports.clock.now(), (subject, *others))
        now = decide_beside(subject, others, decided.clock)
        return next((Due(each, each.effect, decided) for each in now.due if each.effect is not None), None)

    def _work(self, crew: Crew, job: Job, task: Task) -> None:
        """Work on one service until nothing more is called for: the core bounds how often each kind of effect can come."""
        subject, results, seen_s = task.subject, task.results, task.seen_s
        while job.may_go_on():
            if self._now_s() - seen_s >= FRESH_S:
                job.looked_s = self._now_s()
                subject = self._observer.look_again(subject, job.may_go_on)
                seen_s = self._now_s()
            task.board.put(subject)
            job.last = subject
            due = None if self._is_at_odds(subject, task) else self.next(subject, task.board, task.looked_at)
            if due is None:
                return
            if self._waited(crew, job, due.effect):
                continue
            if not job.may_go_on():
                return
            # Said before it is done: what hangs until this job is overdue must not be tried a second time in this pass.
            results[subject.app, subject.service] = (*subject.results, Result(due.effect, NOT_BACK))
            subject = self._do(job, subject, due)
            if not isinstance(due.effect, _WRITING):
                seen_s = -inf
                crew.end_turn(job)
            if job.may_go_on():
                results[subject.app, subject.service] = subject.results

    def _now_s(self) -> float:
        return self._ports.clock.now().boot_s

    def _is_at_odds(self, subject: Subject, task: Task) -> bool:
        """Tell whether the others have to be looked at before anything more is done to this one, and ask for that."""
        if task.looked_at is None or not task.board.is_at_odds(subject, self._observer.latest_routes):
            return False
        task.hints.ask_whole()
        return True

    def _waited(self, crew: Crew, job: Job, effect: Effect) -> bool:
        """Let a job wait for its turn to start something; return whether it had to, and so must look again."""
        if job.has_turn or not isinstance(effect, _STARTING):
            return False
        before_s = job.waited_s
        job.doing = _TURN
        crew.take_turn(job)
        job.doing = ""
        return job.waited_s != before_s

    def _do(self, job: Job, subject: Subject, due: Due) -> Subject:
        """Carry out one effect. What comes back after the deadline is dropped: the app's lock is gone by then."""
        effect = due.effect
        job.doing = in_words(effect)
        job.done.append(Result(effect, NOT_BACK))
        outcome = self._executor.execute(subject, effect)
        job.doing = ""
        if not job.may_go_on():
            return subject
        job.done[-1] = Result(effect, outcome)
        after = self._executor.absorb(subject, effect, outcome)
        self._witness.stepped(due.decided, due.decision, outcome, after)
        return after
