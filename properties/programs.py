"""One running copy of the product in a world: the real Reconciler, behind doors at which faults fall and judges sit.

`SimulatedCrew` does its jobs side by side in simulated time: which job makes the next call is drawn by lot, so that every
interleaving of calls can happen. Exactly one thread runs at any time.
"""

from collections.abc import Callable, Iterable, Sequence
from random import Random
from threading import Condition, Thread, current_thread

from attrs import define, field

from gordon_core.effects import Fault, Outcome, Refused, Unknown
from gordon_shell.crew import Job, never
from gordon_shell.errors import StoreError
from gordon_shell.reconciler import Reconciler, Report
from properties.faults import Dice, Fate, Mischief
from properties.judges import Court
from properties.notes import ASIDE
from properties.story import Violated
from properties.world import World

_PIECES = 4


class Killed(BaseException):
    """This program was killed."""


class Hung(BaseException):
    """A call does not return in time."""


@define(eq=False)
class _Turn:
    """One job under way, and whether it may make its next call."""

    job: Job
    thread: Thread | None = None
    ended: bool = False
    raised: BaseException | None = None


class SimulatedCrew:
    """Does jobs in simulated time: in order, or (`chance`) interleaved at their port calls. Nothing waits for a turn.

    `is_aside`: the caller of `go` is busy with something else than its jobs.
    """

    def __init__(self, world: World, chance: Random | None) -> None:
        """Begin with no jobs."""
        self.world, self._chance = world, chance
        self._now = Condition()
        self._turns: list[_Turn] = []
        self._active: _Turn | None = None
        self._overdue: list[tuple[float, Job]] = []
        self._dying: BaseException | None = None
        self._alone: Job | None = None
        self._weaves = False
        self.is_aside = False

    def go(self, jobs: Iterable[Job], patience_s: float | None, meanwhile: Callable[[], bool] = never) -> None:
        """See Crew."""
        turns = [_Turn(each) for each in jobs]
        self._expire()
        if self._weaves and patience_s == 0.0:
            self._join_in(turns)
            return
        if self._chance is None or len(turns) < 2 or self._weaves:
            self._queue(turns, meanwhile)
        else:
            self._weave(turns, self._chance, meanwhile)
        hung = [turn.job for turn in turns if isinstance(turn.raised, Hung)]
        for job in hung:
            self._overdue.append((self.world.at_s + job.deadline_s, job))
        if hung:
            longest_s = max(job.deadline_s for job in hung)
            self._wait(longest_s + 1.0 if patience_s is None else min(longest_s + 1.0, patience_s), meanwhile)
            self._expire()

    def _queue(self, turns: list[_Turn], meanwhile: Callable[[], bool]) -> None:
        for turn in turns:
            before, self._alone = self._alone, turn.job
            turn.job.started_s = self.world.at_s
            self._do(turn)
            self._alone = before
            self._raise(turn)
            if self._aside(meanwhile):
                return

    def _wait(self, seconds: float, meanwhile: Callable[[], bool]) -> None:
        """Let the time of a hung job pass, in a few pieces."""
        for _ in range(_PIECES):
            self.world.pass_time(seconds / _PIECES)
            if self._aside(meanwhile):
                return

    def _aside(self, meanwhile: Callable[[], bool]) -> bool:
        before, self.is_aside = self.is_aside, True
        job, self._alone = self._alone, None
        try:
            return meanwhile()
        finally:
            self.is_aside, self._alone = before, job

    def _expire(self) -> None:
        for due_s, job in self._overdue:
            job.overdue = job.overdue or self.world.at_s >= due_s
        self._overdue = [each for each in self._overdue if not each[1].overdue]

    def nudge(self) -> None:
        """Do nothing: `meanwhile` is called after each job, or call."""

    def take_turn(self, job: Job) -> None:
        """Let it have its turn at once."""
        job.has_turn = True

    def end_turn(self, job: Job) -> None:
        """Let it be over."""
        job.has_turn = False

    def stop(self) -> None:
        """See Crew; a simulated program is killed, never told to stop."""

    def _do(self, turn: _Turn) -> None:
        try:
            turn.job.run()
            turn.job.ended = True
        except (Killed, Hung, Violated) as raised:
            turn.raised = raised

    def _raise(self, turn: _Turn) -> None:
        if turn.raised is not None and not isinstance(turn.raised, Hung):
            raise turn.raised

    # --- side by side ------------------------------------------------------------------------------------------------

    def _weave(self, turns: list[_Turn], chance: Random, meanwhile: Callable[[], bool]) -> None:
        self._dying, self._turns, self._weaves = None, [], True
        self._join_in(turns)
        try:
            while waiting := [each for each in self._turns if not each.ended]:
                self._aside(meanwhile)
                waiting = [each for each in self._turns if not each.ended]
                self._give(chance.choice(waiting))
                if self._is_dying():
                    break
        except (Killed, Violated) as raised:
            self._dying = raised
        for turn in self._turns:
            if not turn.ended:
                self._give(turn)
        for turn in self._turns:
            assert turn.thread is not None
            turn.thread.join()
        self._turns, self._weaves = [], False
        self._raise_dying()

    def _join_in(self, turns: list[_Turn]) -> None:
        """Let jobs be begun beside those that are."""
        for turn in turns:
            turn.job.started_s = self.world.at_s
            self._turns.append(turn)
            turn.thread = Thread(target=self._work, args=(turn,), daemon=True)
            turn.thread.start()

    def _raise_dying(self) -> None:
        if self._dying is not None:
            raise self._dying

    def _is_dying(self) -> bool:
        return self._dying is not None

    def _give(self, turn: _Turn) -> None:
        with self._now:
            self._active = turn
            self._now.notify_all()
            self._now.wait_for(lambda: self._active is None)

    def _work(self, turn: _Turn) -> None:
        with self._now:
            self._now.wait_for(lambda: self._active is turn)
        if self._dying is None:
            self._do(turn)
        if self._dying is None and turn.raised is not None and not isinstance(turn.raised, Hung):
            self._dying = turn.raised
        with self._now:
            turn.ended, self._active = True, None
            self._now.notify_all()

    def pause(self) -> None:
        """Let another job make its next call, perhaps; called at each door."""
        turn = next((each for each in self._turns if each.thread is current_thread()), None)
        if turn is None:
            return
        with self._now:
            self._active = None
            self._now.notify_all()
            self._now.wait_for(lambda: self._active is turn)
        if self._dying is not None:
            raise Killed

    @property
    def job(self) -> Job | None:
        """Return the job that makes the present call, or None outside of jobs."""
        return next((each.job for each in self._turns if each.thread is current_thread()), self._alone)


@define(eq=False)
class Program:
    """A process that runs passes. `mischiefs` is what may happen beside each of its calls."""

    name: str
    world: World
    dice: Dice
    court: Court
    crew: SimulatedCrew
    mischiefs: Sequence[Mischief] = ()
    alive: bool = True
    reconciler: Reconciler | None = None
    busy: bool = False
    chance: Random = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Let the seed say how long its calls take."""
        self.chance = Random(f"{self.world.seed} {self.name}")

    def run_pass(self, patience_s: float | None = None) -> Report | None:
        """Run one pass; None where it could not be run to its end. Being killed ends the program."""
        assert self.reconciler is not None
        self.world.tell("{} begins a pass", self.name)
        self.court.begins(self.name)
        self.busy = True
        try:
            report = self.reconciler.run_pass(patience_s)
        except Killed:
            self.die()
            return None
        except StoreError as error:
            self.world.tell("{} gives up its pass: {}", self.name, error)
            return None
        finally:
            self.busy = False
        self.court.ends(self.name)
        return report

    def answer(self) -> Report | None:
        """Run a targeted pass over what hints point at, if anything is due. Being killed ends the program."""
        assert self.reconciler is not None
        self.busy = self.crew.is_aside = True
        try:
            report = self.reconciler.answer()
        except Killed:
            self.die()
            return None
        finally:
            self.busy = self.crew.is_aside = False
        self.court.ends(self.name, is_whole=False)
        return report

    def die(self) -> None:
        """Be gone: locks are free, what was only in this process is lost."""
        self.world.tell("{} is killed", self.name)
        self.alive = False
        self.court.dies(self.name)
        for app in [app for app, holder in self.world.locks.items() if holder == self.name]:
            del self.world.locks[app]

    def step(self, *, alone: bool = False) -> None:
        """Make way before a call: time passes, another job may run (unless the caller holds a lock of the process), and things
        may happen."""
        if not alone:
            self.crew.pause()
        self.world.pass_time(self.chance.choice((0.001, 0.003, 0.02)))
        if self.mischiefs:
            self.dice.mischief(self.mischiefs)
        job = self.crew.job
        self.court.notes(self.name).reader = job.name if job is not None else ASIDE if self.crew.is_aside else ""

    def read_fails(self, fates: Sequence[Fate], what: str) -> bool:
        """Draw whether a read fails."""
        fate = self.dice.fate(fates)
        if fate is Fate.KILLED_BEFORE:
            raise Killed
        if fate is not Fate.WELL:
            self.world.tell("{} cannot read {}", self.name, what)
        return fate is not Fate.WELL

    def perform(
        self,
        what: str,
        act: Callable[[], Outcome],
        fates: Sequence[Fate],
        fault: Fault,
        half: Callable[[], Outcome] | None = None,
    ) -> Outcome:
        """Do a command as its fate wants it. Raise Killed or Hung."""
        fate = self.dice.fate(fates)
        self.court.notes(self.name).commands.append(what)
        if fate is Fate.WELL:
            outcome = act()
            self.world.tell("{}: {}: {}", self.name, what, outcome)
            return outcome
        self.world.tell("{}: {}: {}", self.name, what, fate.value)
        match fate:
            case Fate.FAILS:
                return Refused("500: something is wrong inside", fault)
            case Fate.FAILS_HALF:
                (half or act)()
                return Refused("500: something went wrong half way", fault)
            case Fate.UNANSWERED:
                self.world.pass_time(5.0)
                return Unknown("no answer in time")
            case Fate.DONE_UNANSWERED:
                act()
                return Unknown("no answer in time")
            case Fate.KILLED_BEFORE:
                raise Killed
            case Fate.KILLED_AFTER:
                act()
                raise Killed
            case _:
                return self._late(what, act, fate, fault)

    def _late(self, what: str, act: Callable[[], Outcome], fate: Fate, fault: Fault) -> Outcome:
        job = self.crew.job

        def land() -> None:
            self.world.tell("late: {}: {}", what, act())

        if fate is Fate.LATE or job is None:
            self.world.later(self.chance.choice([0.01, 1.0, 20.0, 70.0]), land)
            self.world.pass_time(5.0)
            return Unknown("no answer in time")
        self._hang(job, land, is_in_flight=fault is Fault.ENGINE)
        raise Hung

    def _hang(self, job: Job, land: Callable[[], None], *, is_in_flight: bool) -> None:
        notes, takes_effect = self.court.notes(self.name), self.chance.random() < 0.6
        if is_in_flight:
            notes.hung.add(job.name)

        def returns() -> None:
            if takes_effect:
                land()
            notes.hung.discard(job.name)
            job.ended = True

        self.world.later(job.deadline_s + self.chance.choice([2.0, 60.0, 400.0]), returns)
