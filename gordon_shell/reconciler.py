"""The loop: look, plan, do, look again, until a plan is quiet; bounded in rounds, in what runs at once, and in time.

A pass first withdraws every wrong route on the host. Then each service that has an effect is worked on by a job of its own: do
the one effect, look at it again with evidence, decide again. Apps whose lock somebody else holds are skipped, never waited for.
"""

from collections.abc import Callable, Iterable
from threading import Event

from attrs import define, evolve, field, frozen

from gordon_core.effects import Effect, Outcome, Result, Unknown, Withdraw
from gordon_core.planner import Decision, Plan, decide, decide_beside, plan
from gordon_core.policy import DEFAULT_POLICY
from gordon_core.sentences import in_words
from gordon_core.snapshot import Snapshot, Subject
from gordon_shell.app_locks import AppLocks
from gordon_shell.board import Board
from gordon_shell.crew import Crew, Job, ThreadCrew
from gordon_shell.executor import Executor
from gordon_shell.observer import Observer, Policies, Surroundings
from gordon_shell.ports import Ports, Service
from gordon_shell.recollection import Recollection

MOST_ROUNDS = 4
CONCURRENCY = 8
_ROUTER_DEADLINE_S = 30.0
_NOT_BACK = Unknown("it has not come back in time")

Listener = Callable[[Subject, Effect, Outcome], None]


@frozen(eq=False)
class Report:
    """What one pass did and left: its last plan, all results by service, and what went wrong beside them.

    `trouble` are sentences about the store, the policy and hung commands; `faults` are faults of this program.
    """

    plan: Plan
    results: dict[Service, tuple[Result, ...]] = field(factory=dict)
    trouble: tuple[str, ...] = ()
    faults: tuple[BaseException, ...] = ()

    @property
    def held(self) -> tuple[Decision, ...]:
        """Return what is not as the operator wants it, and stands still."""
        return tuple(each for each in self.plan.decisions if each.is_held)

    @property
    def is_well(self) -> bool:
        """Return whether every service is as desired, or on its way without a failure."""
        return not (self.held or self.trouble or self.faults or not self.plan.is_quiet)


def _silent(_subject: Subject, _effect: Effect, _outcome: Outcome) -> None:
    """Tell nobody."""


def _without_clash(decision: Decision) -> Subject:
    subject = decision.subject
    return subject if subject.clash is None else evolve(subject, clash=None)


@define
class _Pass:
    """What one pass has done so far; `broken` are services in whose job this program had a fault, and that get no other."""

    patience_s: float | None
    results: dict[Service, tuple[Result, ...]] = field(factory=dict)
    faults: list[BaseException] = field(factory=list)
    broken: set[Service] = field(factory=set)


class Reconciler:
    """Runs passes. Between passes it remembers only which jobs are still under way, and which app locks those need."""

    def __init__(
        self,
        ports: Ports,
        policies: Policies,
        *,
        crew: Crew | None = None,
        rearm: bool = False,
        listener: Listener = _silent,
    ) -> None:
        self._ports, self._listener = ports, listener
        self._crew: Crew = crew if crew is not None else ThreadCrew(CONCURRENCY)
        # Withdrawals do not wait for a place among commands that hang.
        self._withdrawing: Crew = crew if crew is not None else ThreadCrew(CONCURRENCY)
        self._recollection = Recollection(ports.store, rearm=rearm)
        self._observer = Observer(ports, policies, self._recollection, remember=True)
        self._executor = Executor(ports, self._recollection)
        self._jobs: dict[Service, Job] = {}
        self._locks = AppLocks(ports.locks)
        self._stopping = Event()

    @property
    def stopping(self) -> bool:
        """Return whether it was told to stop."""
        return self._stopping.is_set()

    @property
    def under_way(self) -> tuple[tuple[str, str], ...]:
        """Return what is being waited for now: (app/service, the command in words). Any thread may ask."""
        return tuple((job.name, job.doing) for job in tuple(self._jobs.values()) if job.doing and not job.ended)

    def stop(self) -> None:
        """End the pass under way soon: probes are dropped, no job takes another step, a command in flight stays unknown."""
        self._stopping.set()
        self._crew.stop()
        self._withdrawing.stop()
        self._executor.drop()
        self._ports.prober.drop()
        self._ports.clock.wake()

    def run_pass(self, patience_s: float | None = None) -> Report:
        """Look, and do what is called for, until all is quiet. Raise StoreError if the store cannot be read.

        Jobs that are not done within `patience_s` (None: within their own deadlines) go on; the next pass leaves their services
        alone.
        """
        this = _Pass(patience_s)
        for crew in (self._crew, self._withdrawing):
            crew.go((), 0.0)
        self._reap(this)
        try:
            self._locks.take(sorted({each.app for each in self._ports.store.read()}))
            latest = self._plan(this)
            for _round in range(MOST_ROUNDS):
                if latest.is_quiet or self.stopping:
                    break
                jobs = self._round(latest, this)
                if self._stopping.is_set():
                    break
                latest = self._plan(this)
                if any(each.is_under_way() for each in jobs):
                    break
            trouble = (
                *self._recollection.write_held(self._locks.held),
                *self._locks.trouble,
                *self._overdue(),
                *filter(None, (self._observer.policy_fault,)),
            )
        finally:
            self._locks.release_all_but({job.app for job in self._jobs.values() if job.is_under_way()})
        return Report(latest, this.results, trouble, tuple(this.faults))

    # --- one round ---------------------------------------------------------------------------------------------------

    def _plan(self, this: _Pass) -> Plan:
        in_flight = {key: job.doing or "its last command" for key, job in self._jobs.items() if not job.ended}
        around = Surroundings(self._locks.denied, "its app was adopted during this pass", in_flight, dict(this.results))
        snapshot = self._observer.look(around)
        return plan(evolve(snapshot, subjects=[self._lock_stray(each) for each in snapshot.subjects]))

    def _lock_stray(self, subject: Subject) -> Subject:
        """Take the lock of the app of a stray route too, which only the look could name; say so where somebody else has it."""
        if subject.declared is not None or subject.locked or self._locks.try_app(subject.app):
            return subject
        return evolve(subject, locked=self._locks.denied[subject.app])

    def _round(self, now: Plan, this: _Pass) -> Iterable[Job]:
        # Without clashes: the planner finds them anew once the wrong routes are gone.
        subjects = {(each.app, each.service): each for each in map(_without_clash, now.services)}
        snapshot = self._withdraw_first(now, subjects, this)
        board = Board(snapshot)
        calling = {
            (each.subject.app, each.subject.service): each.subject for each in plan(snapshot).decisions if each.effect is not None
        }
        jobs = {
            key: self._job(each, board, this.results)
            for key, each in calling.items()
            if key not in self._jobs and key not in this.broken
        }
        self._jobs |= jobs
        for each in snapshot.subjects:
            this.results[each.app, each.service] = each.results
        self._crew.go(jobs.values(), this.patience_s)
        self._reap(this)
        return tuple(jobs.values())

    def _withdraw_first(self, now: Plan, subjects: dict[Service, Subject], this: _Pass) -> Snapshot:
        """Withdraw every wrong route on the host, side by side, before anything is started; then read the router once."""
        wrong = {(each.subject.app, each.subject.service): each for each in now.services if isinstance(each.effect, Withdraw)}
        jobs = {key: self._withdrawal(each, subjects) for key, each in wrong.items() if key not in this.broken}
        if not jobs:
            return Snapshot(now.clock, subjects.values())
        self._withdrawing.go(jobs.values(), None)
        for key, job in jobs.items():
            self._part(key, job, this)
        return self._observer.with_routes(Snapshot(now.clock, subjects.values()), list(subjects.values()))

    def _withdrawal(self, decision: Decision, subjects: dict[Service, Subject]) -> Job:
        def work(job: Job) -> None:
            subject, effect = decision.subject, decision.effect
            if subject.declared is None:
                # Its app may have been locked, and it may have been deployed, until a moment ago.
                subject = self._observer.look_again(subject, job.may_go_on)
                effect = decide(subject, self._ports.clock.now().boot_s).effect
            if isinstance(effect, Withdraw) and job.may_go_on():
                after = self._do(job, subject, effect)
                if job.may_go_on():
                    subjects[after.app, after.service] = evolve(after, clash=None)

        return Job(decision.subject.name, decision.subject.app, _ROUTER_DEADLINE_S, work)

    def _job(self, subject: Subject, board: Board, results: dict[Service, tuple[Result, ...]]) -> Job:
        declared = subject.declared
        policy = declared.policy if declared is not None else DEFAULT_POLICY
        graces_s = [each.stop_grace_s for each in subject.superseded] + [each.stop_grace_s for each in subject.candidates]
        grace_s = max([declared.stop_grace_s if declared is not None else 0.0, *graces_s])

        def work(job: Job) -> None:
            self._work(job, subject, board, results)

        return Job(subject.name, subject.app, policy.deadline_s(grace_s), work)

    def _work(self, job: Job, subject: Subject, board: Board, results: dict[Service, tuple[Result, ...]]) -> None:
        """Work on one service until nothing more is called for: the core bounds how often each kind of effect can come."""
        while job.may_go_on():
            subject = self._observer.look_again(subject, job.may_go_on)
            board.put(subject)
            effect = self._next_effect(subject, board)
            if effect is None or not job.may_go_on():
                return
            # Said before it is done: what hangs until this job is overdue must not be tried a second time in this pass.
            results[subject.app, subject.service] = (*subject.results, Result(effect, _NOT_BACK))
            subject = self._do(job, subject, effect)
            if job.may_go_on():
                results[subject.app, subject.service] = subject.results

    def _next_effect(self, subject: Subject, board: Board) -> Effect | None:
        """Return what is called for now: of the service first, then of its superseded containers."""
        # The read that came with this subject shows the others' routes too: one that is gone by now contests no port, and one
        # that could not be read before may contest it.
        others = board.others(subject, self._observer.latest_routes)
        now = decide_beside(subject, others, self._ports.clock.now())
        return next(iter(now.effects), None)

    def _do(self, job: Job, subject: Subject, effect: Effect) -> Subject:
        """Carry out one effect. What comes back after the deadline is dropped: the app's lock is gone by then."""
        job.doing = in_words(effect)
        outcome = self._executor.execute(subject, effect)
        job.doing = ""
        if not job.may_go_on():
            return subject
        after = self._executor.absorb(subject, effect, outcome)
        self._listener(after, effect, outcome)
        return after

    # --- jobs of earlier passes, and their locks ---------------------------------------------------------------------------

    def _overdue(self) -> Iterable[str]:
        return [
            f"{job.name}: overdue, still waiting to {job.doing or 'look at it'}"
            for job in self._jobs.values()
            if job.overdue and not job.ended
        ]

    def _reap(self, this: _Pass) -> None:
        """Part with the jobs that have ended, also those of earlier passes."""
        for key, job in tuple(self._jobs.items()):
            if job.ended or job.started_s is None:
                del self._jobs[key]
                self._part(key, job, this)

    def _part(self, key: Service, job: Job, this: _Pass) -> None:
        """Report the fault that ended a job, if one did."""
        if job.fault is not None:
            this.faults.append(job.fault)
            this.broken.add(key)
