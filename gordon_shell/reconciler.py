"""The loop: look, plan, do, look again, until a plan is quiet; bounded in rounds, in what runs at once, and in time.

A pass first withdraws every wrong route on the host. Then each service that has an effect is worked on by a job of its own: do
the one effect, look at it again with evidence, decide again. Apps whose lock somebody else holds are skipped, never waited for.
"""

from collections.abc import Callable, Iterable
from threading import Event

from attrs import evolve

from gordon_core.effects import Effect, Outcome, Withdraw
from gordon_core.observation import SeenAs
from gordon_core.planner import Decision, Plan, decide, plan
from gordon_core.snapshot import Snapshot, Subject
from gordon_shell.app_locks import AppLocks
from gordon_shell.board import Board
from gordon_shell.crew import Crew, Job, ThreadCrew
from gordon_shell.errors import StoreError
from gordon_shell.hints import Agenda, Hints
from gordon_shell.observer import Observer, Policies, Surroundings
from gordon_shell.pace import Pace
from gordon_shell.ports import Ports, Service, Stored
from gordon_shell.recollection import Recollection
from gordon_shell.report import Report
from gordon_shell.standing import Pass, Standing, UnderWay, key_of, without_clash
from gordon_shell.witness import SILENT, Guarded, Silent, Witness, Witnesses
from gordon_shell.worker import Task, Worker

MOST_ROUNDS = 4
SIDE_BY_SIDE = 16
"""How many services are worked on at once; how many of them are started at once is the pace's word."""
MOST_TARGETED = 16
"""Over how many services one targeted pass goes; the others come in the next, at once."""

Listener = Callable[[Subject, Effect, Outcome], None]


class _Listening(Silent):
    """Tells a listener of each step."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def stepped(self, decided: Snapshot, decision: Decision, outcome: Outcome, after: Subject) -> None:
        del decided
        if decision.effect is not None:
            self._listener(after, decision.effect, outcome)


class Reconciler:
    """Runs passes: over everything, and between those over single services that `hints` point at.

    Between passes it remembers which jobs are still under way, which app locks those need, and what was seen of each service.
    """

    def __init__(  # noqa: PLR0913 - what it is made from, by name
        self,
        ports: Ports,
        policies: Policies,
        *,
        crew: Crew | None = None,
        rearm: bool = False,
        listener: Listener | None = None,
        witness: Witness = SILENT,
    ) -> None:
        self._ports = ports
        self._witness = Guarded(Witnesses(_Listening(listener), witness) if listener is not None else witness)
        pace = Pace()
        # Withdrawals do not wait for a place among commands that hang, nor does what happens now for what happened before.
        self._crew, self._withdrawing, self._answering = (crew or ThreadCrew(SIDE_BY_SIDE, pace) for _ in range(3))
        self._recollection = Recollection(ports.store, rearm=rearm)
        self._observer = Observer(ports, policies, self._recollection, remember=True)
        self._worker = Worker(ports, self._observer, self._recollection, self._witness)
        self._under_way = UnderWay()
        self._locks = AppLocks(ports.locks)
        self._stopping = Event()
        self.hints = Hints(self._nudge)
        self._agenda = Agenda()
        self._standing = Standing(Plan(ports.clock.now(), ()))
        self._trouble: tuple[str, ...] = ()
        self._between = Pass()

    @property
    def stopping(self) -> bool:
        """Return whether it was told to stop."""
        return self._stopping.is_set()

    @property
    def under_way(self) -> tuple[tuple[str, str], ...]:
        """Return what is being waited for now: (app/service, the command in words). Any thread may ask."""
        return tuple((job.name, job.doing) for job in tuple(self._under_way.jobs.values()) if job.doing and not job.ended)

    @property
    def answers_in_s(self) -> float:
        """Return when, as far as is known now, `answer` has something to do."""
        return self._agenda.due_in_s(self._ports.clock.now().boot_s, self._under_way.busy())

    def stop(self) -> None:
        """End the pass under way soon: probes are dropped, no job takes another step, a command in flight stays unknown."""
        self._stopping.set()
        for crew in (self._crew, self._withdrawing, self._answering):
            crew.stop()
        self._worker.drop()
        self._ports.prober.drop()
        self._ports.clock.wake()

    def _nudge(self) -> None:
        """There are hints: whoever waits for jobs, or for the next pass, is to look at them."""
        self._crew.nudge()
        self._ports.clock.nudge()

    def run_pass(self, patience_s: float | None = None) -> Report:
        """Look, and do what is called for, until all is quiet. Raise StoreError if the store cannot be read.

        Jobs that are not done within `patience_s` (None: within their own deadlines) go on; the next pass leaves their services
        alone. Meanwhile hints are answered.
        """
        this, begun_s = Pass(patience_s, done=self._between.done), self._ports.clock.now().boot_s
        self._mark_overdue()
        self._reap(this)
        self.hints.take_whole()
        self._agenda.clear(begun_s, self._under_way.busy())
        try:
            stored = self._ports.store.read()
            self._own(stored)
            self._locks.take(sorted({each.app for each in stored}))
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
            self._trouble = self._troubles()
            for key, job in self._under_way.jobs.items():
                this.hear(key, job)
        finally:
            self._locks.release_all_but(self._under_way.apps())
        self._between = Pass(broken=this.broken)
        took_s = self._ports.clock.now().boot_s - begun_s
        return self._ended(
            Report(latest, this.tell({*this.results, *this.done}), self._trouble, tuple(this.faults), took_s=took_s)
        )

    def _ended(self, report: Report) -> Report:
        """Let the witness hear of the end, and put what it raised until now into the report."""
        self._witness.ended(report)
        found = self._witness.faults()
        return evolve(report, faults=(*report.faults, *found)) if found else report

    def _troubles(self) -> tuple[str, ...]:
        return (
            *self._recollection.write_held(self._locks.held),
            *self._locks.trouble,
            *self._under_way.overdue(),
            *filter(None, (self._observer.policy_fault,)),
        )

    # --- targeted passes -----------------------------------------------------------------------------------------------------

    def answer(self) -> Report | None:
        """Look at the services that hints point at, and begin what is called for; nothing is waited for but withdrawals.

        Return the whole plan as it is known now, with the results of the services that something came of since the last time;
        None where nothing did.
        """
        this = self._between
        self._mark_overdue()
        try:
            self._answer(this)
            told = self._troubles()
        finally:
            self._locks.release_all_but(self._under_way.apps())
        if not (this.news or this.faults or self._witness.has_faults):
            return None
        self._trouble = tuple(dict.fromkeys((*self._trouble, *told)))
        now = plan(Snapshot(self._ports.clock.now(), self._standing.subjects().values()))
        report = Report(now, this.tell(this.news), self._trouble, tuple(this.faults), is_whole=False)
        this.news.clear()
        this.faults.clear()
        return self._ended(report)

    def _answer(self, this: Pass) -> bool:
        """Make a targeted pass: a look at some services with evidence, withdrawals, then jobs, beside the others as seen last.

        Return whether a look at everything is to follow.
        """
        self._reap(this)
        keys = self._called_on(this)
        if not keys:
            return self.hints.wants_whole
        ours = [key for key in keys if self._locks.try_app(key[0])]
        board = self._standing.board()
        looked_s = self._ports.clock.now().boot_s
        subjects = self._look_at(ours, board) if ours else {}
        seen_s = self._ports.clock.now().boot_s
        self._agenda.again(key for key in keys if key not in subjects)
        if not subjects:
            return self.hints.wants_whole
        this.results |= dict.fromkeys(subjects, ())
        subjects, looked_at = self._withdrawn(subjects, board, this), frozenset(subjects)
        calling = {key: each for key, each in subjects.items() if self._worker.next(each, board, looked_at) is not None}
        for key in subjects.keys() - calling.keys():
            self._settle(key, subjects[key], this)
        tasks = {key: Task(each, board, this.results, looked_s, seen_s, looked_at, self.hints) for key, each in calling.items()}
        jobs = {key: self._worker.job(self._answering, task) for key, task in tasks.items()}
        self._under_way.jobs |= jobs
        self._answering.go(jobs.values(), 0.0)
        self._agenda.again(self._under_way.dropped(jobs))
        self._reap(this)
        return self.hints.wants_whole

    def _called_on(self, this: Pass) -> tuple[Service, ...]:
        """Return the services that are to be looked at now; they are off the agenda."""
        now_s = self._ports.clock.now().boot_s
        self._agenda.add(self.hints.take(), self._standing.owners, now_s)
        if self._agenda.is_to_meet(now_s):
            self._meet(now_s)
        keys = self._agenda.due(now_s, self._under_way.busy() | this.broken)
        if len(keys) > MOST_TARGETED:
            self._nudge()
        self._agenda.begin(keys[:MOST_TARGETED], now_s)
        return keys[:MOST_TARGETED]

    def _meet(self, now_s: float) -> None:
        """Look in the state whose the unknown containers are by now. One that cannot be read is told by the next pass."""
        try:
            self._own(self._ports.store.read())
        except StoreError:
            self.hints.ask_whole()
        self._agenda.meet(self._standing.owners, now_s)

    def _look_at(self, keys: Iterable[Service], board: Board) -> dict[Service, Subject]:
        """Look at some services. Where nothing can be seen of one, nothing more is tried: the engine hangs, or the store does.

        What contradicts what was seen of others is left to a look at everything.
        """
        known = [evolve(board.get(*key), locked="", in_flight="", results=(), clash=None) for key in keys]
        found = {}
        for each in self._observer.look_at_each(known):
            board.put(each)
            if each.seen_as is SeenAs.UNREAD and each.declared is not None:
                self.hints.ask_whole()
                break
            found[key_of(each)] = each
        odd = [key for key, each in found.items() if board.is_at_odds(each, self._observer.latest_routes)]
        for key in odd:
            del found[key]
            self.hints.ask_whole()
        return found

    def _withdrawn(self, subjects: dict[Service, Subject], board: Board, this: Pass) -> dict[Service, Subject]:
        """Withdraw the wrong routes of these services. Where one clashes with another service, a look at everything follows."""
        now = self._beside(subjects, board)
        self._witness.planned(now, is_whole=False)
        if any(each.subject.clash is not None for each in now.services):
            self.hints.ask_whole()
        after = self._withdraw_first(now, dict(subjects), this)
        for each in after.subjects:
            board.put(each)
        return {key_of(each): each for each in after.subjects}

    def _beside(self, subjects: dict[Service, Subject], board: Board) -> Plan:
        """Plan these services, beside the others that have to do with them, as those were seen last."""
        clock, routes = self._ports.clock.now(), self._observer.latest_routes
        others = {key_of(other): other for each in subjects.values() for other in board.others(each, routes, subjects)}
        return plan(Snapshot(clock, (others | subjects).values()))

    def _settle(self, key: Service, subject: Subject, this: Pass) -> None:
        """Take down what a service is like now that nothing is done to it any more, and have it heard."""
        self._standing.subjects()[key] = subject
        this.news.add(key)
        self._witness.left(self._beside({key: subject}, self._standing.board()))

    def _own(self, stored: tuple[Stored, ...]) -> None:
        """Take down whose each container is."""
        self._standing.own(stored)
        self.hints.ours = self._standing.owners

    def _mark_overdue(self) -> None:
        for crew in (self._crew, self._withdrawing, self._answering):
            crew.go((), 0.0)

    # --- one round ---------------------------------------------------------------------------------------------------

    def _plan(self, this: Pass) -> Plan:
        in_flight, looked_s = self._under_way.in_words(), self._ports.clock.now().boot_s
        around = Surroundings(self._locks.denied, "its app was adopted during this pass", in_flight, dict(this.results))
        snapshot = self._observer.look(around)
        now = plan(evolve(snapshot, subjects=[self._lock_stray(each) for each in snapshot.subjects]))
        self._standing.look(now, looked_s)
        self._witness.planned(now, is_whole=True)
        return now

    def _lock_stray(self, subject: Subject) -> Subject:
        """Take the lock of the app of a stray route too, which only the look could name; say so where somebody else has it."""
        if subject.declared is not None or subject.locked or self._locks.try_app(subject.app):
            return subject
        return evolve(subject, locked=self._locks.denied[subject.app])

    def _round(self, now: Plan, this: Pass) -> Iterable[Job]:
        # Without clashes: the planner finds them anew once the wrong routes are gone.
        subjects = {key_of(each): each for each in map(without_clash, now.services)}
        snapshot = self._withdraw_first(now, subjects, this)
        board = self._standing.board(snapshot)
        calling = {key_of(each.subject): each.subject for each in plan(snapshot).decisions if each.effect is not None}
        jobs = {
            key: self._worker.job(self._crew, Task(each, board, this.results))
            for key, each in calling.items()
            if key not in self._under_way.jobs and key not in this.broken
        }
        self._under_way.jobs |= jobs
        for each in snapshot.subjects:
            this.results[key_of(each)] = each.results
        self._crew.go(jobs.values(), this.patience_s, lambda: self._answer(this))
        self._under_way.dropped(jobs)
        self._reap(this)
        return tuple(jobs.values())

    def _withdraw_first(self, now: Plan, subjects: dict[Service, Subject], this: Pass) -> Snapshot:
        """Withdraw every wrong route of a plan, side by side, before anything is started; then read the router once."""
        wrong = {key_of(each.subject): each for each in now.services if isinstance(each.effect, Withdraw)}
        called = wrong.keys() & subjects.keys() - this.broken
        jobs = {key: self._worker.withdrawal(wrong[key], now, subjects) for key in sorted(called)}
        if not jobs:
            return Snapshot(now.clock, subjects.values())
        self._withdrawing.go(jobs.values(), None)
        for key, job in jobs.items():
            self._part(key, job, this)
        return self._observer.with_routes(list(subjects.values()))

    # --- jobs that have ended, also those of earlier passes -------------------------------------------------------------

    def _reap(self, this: Pass) -> None:
        for key, job in self._under_way.ended():
            self._part(key, job, this)
            if key in this.done:
                this.news.add(key)
            if job.last is not None and not decide(job.last, self._ports.clock.now().boot_s).is_held:
                # What stands still until the next pass gets that at once, if something happened to it meanwhile.
                self._agenda.answered(key, job.looked_s)
            if job.last is not None and job.looked_s >= self._standing.looked_s:
                self._standing.board().put(job.last)
                self._settle(key, job.last, this)

    def _part(self, key: Service, job: Job, this: Pass) -> None:
        """Report what a job did that has ended, and the fault that ended it, if one did."""
        this.hear(key, job)
        if job.fault is not None:
            this.faults.append(job.fault)
            this.broken.add(key)


__all__ = ["MOST_ROUNDS", "SIDE_BY_SIDE", "Listener", "Reconciler", "Report"]
