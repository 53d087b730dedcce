"""One run of a world from its seed: fair beginnings, then everything goes wrong, then nothing does any more.

While it goes wrong, safety is judged at every command. Then faults stop, and liveness is judged: what must hold at the end of the
first pass without faults, what must hold within fifteen minutes, and that a converged world is left alone.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import gettempdir

from attrs import define, evolve, field, frozen

from gordon_core.document import write_snapshot
from gordon_core.effects import (
    AwaitHealth,
    Cause,
    Effect,
    Outcome,
    PersistBinds,
    Probe,
    Publish,
    RecordAttempt,
    RecordVerified,
    ReleaseBinds,
    ReleaseClaims,
    Remove,
    Restart,
    Retire,
    Start,
)
from gordon_core.planner import decide, decide_superseded, plan
from gordon_core.policy import DEFAULT_POLICY, Policy
from gordon_core.snapshot import Intent, Snapshot, Subject
from gordon_shell.memory.store import MemoryStore
from gordon_shell.observer import Observer
from gordon_shell.ports import Ports, Service, StateStore
from gordon_shell.recollection import Recollection
from gordon_shell.reconciler import Reconciler, Report
from gordon_shell.witness import SILENT, Witness, Witnesses
from properties.calm import Calm
from properties.deploys import DeployTool
from properties.doors import ClockDoor, EngineDoor, LocksDoor, ProberDoor, RouterDoor
from properties.faults import Dice, Weather
from properties.granting import PolicyDoor
from properties.judges import Court
from properties.mischief import THEMES, Mischiefs
from properties.programs import Killed, Program, SimulatedCrew
from properties.rumours import JudgedWitness, Rumours
from properties.store_door import StoreDoor
from properties.story import Violated
from properties.tuned import is_tuned
from properties.world import World

SERVICES: tuple[Service, ...] = (("shop", "web"), ("shop", "api"), ("shop", "db"), ("blog", "blog"))
_MOST_TOLD = 60
_LOOK_EVERY = 2
_REBOOTS = 0.015
_SHUTS_AT_ALL, _SHUTS = 0.04, 0.2
_MILD = Weather()
_OURS = "a fault of ours"
_CALLS_FOR: dict[object, str] = {
    Cause.ENDED: "ENDED",
    Cause.RELAPSED: "RELAPSED",
    Cause.REFUSED: "REFUSED",
    Cause.UNREADY: "UNREADY",
    Cause.UNBOUND: "UNBOUND",
    AwaitHealth: "STARTING",
    Probe: "UNPROBED",
    PersistBinds: "UNSAVED",
    RecordVerified: "UNREMEMBERED",
    Publish: "UNROUTED",
    RecordAttempt: "DUE",
    Start: "DOWN",
    Restart: "SICK",
    ReleaseBinds: "UNRELEASED",
    Retire: "OUTLIVED",
    Remove: "RETIRED",
    ReleaseClaims: "UNCLAIMED",
}
"""Which situation calls for an effect, where only one does."""
_CADENCES_S = (0.5, 5.0, 15.0, 15.0, 15.0, 60.0, 120.0, 200.0)


@frozen
class Course:
    """What is drawn for a run besides its faults."""

    seed: int
    passes: int = 24
    weather: Weather = _MILD
    weaves: bool = False
    has_second: bool = True
    services: tuple[Service, ...] = SERVICES
    theme: int = 0
    policy: Policy = DEFAULT_POLICY
    tuned: bool = False
    hints: bool = False
    shuts: bool = False


def course(seed: int, passes: int = 24) -> Course:
    """Draw a course: mild or wild, with services side by side or one after the other, with a second program or without."""
    chance = Random(f"course {seed}")
    weather = Weather(chance.choice([0.0, 0.005, 0.02, 0.05, 0.1]), chance.choice([0.003, 0.01, 0.02, 0.04]))
    services = SERVICES[: chance.choice([1, 2, 3, 4, 4])]
    weaves, has_second = chance.random() < 0.25, chance.random() < 0.4
    shuts = Random(f"shut {seed}").random() < _SHUTS_AT_ALL
    theme = chance.randrange(THEMES + 1)
    return Course(seed, passes, weather, weaves, has_second, services, theme, tuned=is_tuned(seed), shuts=shuts)


def hinted(seed: int, passes: int = 24) -> Course:
    """Draw a course in which the program hears of events as well, and makes targeted passes."""
    return evolve(course(seed, passes), hints=True)


@define(eq=False)
class Voyage:
    """A run under way."""

    course: Course
    only: frozenset[int] | None = None
    disk: StateStore = field(factory=MemoryStore)
    witness: Witness = SILENT
    world: World = field(init=False)
    dice: Dice = field(init=False)
    court: Court = field(init=False)
    tool: DeployTool = field(init=False)
    mischiefs: Mischiefs = field(init=False)
    chance: Random = field(init=False)
    rumours: Rumours = field(init=False)
    program: Program = field(init=False)
    passes: int = 0
    born: int = 0
    situations: Counter[str] = field(factory=Counter)

    def __attrs_post_init__(self) -> None:
        """Build the world, with every service adopted."""
        seed = self.course.seed
        self.chance = Random(f"voyage {seed}")
        self.world = World(seed, self.disk)
        self.dice = Dice(seed, self.course.weather, self.only)
        self.court = Court(self.world)
        self.tool = DeployTool(self.world, self.court, policy=self.course.policy, tuned=self.course.tuned)
        self.rumours = Rumours(self.world, quiet=not self.course.hints)
        self.mischiefs = Mischiefs(self.world, self.tool, self.course.services, self.course.theme, power_cut=self.power_cut)
        for service in self.course.services:
            self.tool.adopt(service, Random(f"{seed} {service}"))
        self.world.pass_time(20.0)
        self.program = self.give_birth()

    def give_birth(self, *, rearm: bool = False) -> Program:
        """Start the product anew, with what is on disk."""
        self.born += 1
        program = self._program(f"recovery {self.born}", self.mischiefs)
        self._wire(program, rearm=rearm)
        if self.course.hints:
            self.rumours.carry_to(program)
        if self.course.has_second and (self.mischiefs.beside is None or not self.mischiefs.beside.alive):
            self.mischiefs.beside = self._program(f"once {self.born}", None)
            self._wire(self.mischiefs.beside, rearm=False)
        return program

    def _program(self, name: str, mischiefs: Mischiefs | None) -> Program:
        crew = SimulatedCrew(self.world, Random(f"{self.course.seed} {name}") if self.course.weaves else None)
        return Program(name, self.world, self.dice, self.court, crew, mischiefs.choices if mischiefs is not None else ())

    def _wire(self, program: Program, *, rearm: bool) -> None:
        def listener(subject: Subject, effect: Effect, outcome: Outcome) -> None:
            """Count the situation that each effect leads to; what was done is seen at the doors."""
            del outcome
            now_s = self.world.boot_s
            self.situations[_CALLS_FOR.get(getattr(effect, "cause", type(effect)), "")] += 1
            self.situations[decide(subject, now_s).situation.name] += 1
            self.situations.update(decide_superseded(each, subject, now_s).situation.name for each in subject.superseded)

        program.reconciler = Reconciler(
            ports_of(program),
            PolicyDoor(program).read,
            crew=program.crew,
            rearm=rearm,
            listener=listener,
            witness=Witnesses(self.witness, JudgedWitness(program)),
        )

    # --- everything goes wrong ---------------------------------------------------------------------------------------

    def sail(self) -> None:
        """Go through the whole course. Raise Violated."""
        for _pass in range(self.course.passes):
            self.rest(self.chance.choice(_CADENCES_S))
            if self.chance.random() < _REBOOTS:
                self.reboot()
            self.rough_pass(self.chance.choice([None, None, 15.0]))
        self.calm_down()
        Calm(self).check()

    def rest(self, seconds: float) -> None:
        """Let time pass between two passes, with targeted passes over what is heard of meanwhile."""
        pieces = self.rumours.chance.choice((1, 2, 5)) if not self.rumours.quiet else 1
        for _piece in range(pieces):
            self.world.pass_time(seconds / pieces)
            self._answer()
        if self.course.tuned and not self.dice.fair:
            # During a pass the app's lock, for which an operator waits, is the program's.
            self.mischiefs.tunes(Random(f"{self.course.seed} {self.passes}"))
        self._shut(Random(f"shut {self.course.seed} {self.passes}"))
        if not self.program.alive:
            self.program = self.give_birth(rearm=False)

    def _shut(self, chance: Random) -> None:
        """Let an app be stopped in the dark, now and then, in those few courses that have this."""
        if self.course.shuts and not self.dice.fair and chance.random() < _SHUTS:
            self.mischiefs.stopped_in_the_dark(chance)

    def _answer(self) -> None:
        """Let the program look at what it was pointed at."""
        self.rumours.invent()
        if self.rumours.quiet or not self.program.alive:
            return
        report = self.program.answer()
        if report is not None and report.faults:
            raise Violated(_OURS, repr(report.faults[0])) from report.faults[0]

    def rough_pass(self, patience_s: float | None = None) -> Report | None:
        """Run one pass in whatever weather."""
        self.passes += 1
        if self.passes % _LOOK_EVERY == 0 and not self.dice.fair:
            self.situations.update(each.situation.name for each in plan(look_at(self)).decisions)
        report = self.program.run_pass(patience_s)
        if report is not None:
            self.situations.update(each.situation.name for each in report.plan.decisions)
            if report.faults:
                raise Violated(_OURS, repr(report.faults[0])) from report.faults[0]
        return report

    def reboot(self) -> None:
        """The host goes down and comes up again: another boot, nothing runs, the proxy is empty."""
        self.program.die()
        self._lose_power()
        self.rest(1.0)

    def _lose_power(self) -> None:
        if self.mischiefs.beside is not None and self.mischiefs.beside.alive:
            self.mischiefs.beside.die()
        self.world.reboot()
        self.court.ledger.waives()

    def power_cut(self) -> None:
        """Reboot in the middle of a pass, if there is one. Raise Killed."""
        if self.program.busy:
            self._lose_power()
            raise Killed

    def calm_down(self) -> None:
        """Let faults stop: what hangs returns, deploys end, the engine and the proxy answer."""
        self.dice.fair = self.rumours.quiet = True
        self.mischiefs.beside = None
        self.tool.killed_often = 0.0
        self.world.tell("faults stop")
        for service in self.course.services:
            if self.chance.random() < 0.3:
                self.tool.activate_only(service, self.chance)
            if self.chance.random() < 0.1:
                self.tool.inhibit(service, lift=False)
        for app in sorted({app for app, _ in self.course.services}):
            if self.chance.random() < 0.2:
                self.tool.intend(app, Intent.STOPPED)
        if self.chance.random() < 0.8:
            self.world.granted, self.world.policy_is_broken = None, False
        self.world.pass_time(700.0)
        for box in self.world.boxes.values():
            box.shown, box.frozen_s = None, box.frozen_s if not box.is_alive else None
        if not self.program.alive:
            self.program = self.give_birth()


def ports_of(program: Program) -> Ports:
    """Return the doors of a program."""
    return Ports(
        EngineDoor(program), StoreDoor(program), RouterDoor(program), ProberDoor(program), ClockDoor(program), LocksDoor(program)
    )


def failure_of(voyage: Voyage, sail: Callable[[Voyage], None] = Voyage.sail) -> Violated | None:
    """Sail, and return the violation that ended it, or None."""
    try:
        sail(voyage)
    except Violated as violated:
        return violated
    return None


def minimal(course_: Course, invariant: str, fell: list[int], most_tries: int = 250) -> Voyage:
    """Return the run with as few of its faults as still break the same invariant."""
    best, tries, size = tuple(fell), 0, max(1, len(fell) // 2)
    while size >= 1 and tries < most_tries:
        shorter = None
        for start in range(0, len(best), size):
            tries += 1
            fewer = best[:start] + best[start + size :]
            found = failure_of(Voyage(course_, frozenset(fewer)))
            if found is not None and found.invariant == invariant:
                shorter = fewer
                break
        best, size = (shorter, min(size, max(1, len(shorter) // 2))) if shorter is not None else (best, size // 2)
    voyage = Voyage(course_, frozenset(best))
    failure_of(voyage)
    return voyage


def explain(voyage: Voyage, violated: Violated) -> str:
    """Return what a failing run prints: the invariant, the seed, the story, and where its last snapshot is."""
    path = write_last(voyage, violated.invariant)
    return (
        f"\n{violated.invariant} does not hold: {violated.wrong}\n"
        f"seed {voyage.course.seed}, {voyage.passes} passes; {voyage.course}\n"
        f"{voyage.world.story.last(_MOST_TOLD)}\n"
        f"The host as it is then: gordon-plan {path}"
    )


def look_at(voyage: Voyage) -> Snapshot:
    """Return the world as it is now, seen by a witness for whom nothing fails."""
    was_fair, voyage.dice.fair = voyage.dice.fair, True
    witness = Program("witness", voyage.world, voyage.dice, voyage.court, SimulatedCrew(voyage.world, None))
    ports = ports_of(witness)
    snapshot = Observer(ports, PolicyDoor(witness).read, Recollection(ports.store), remember=False).look()
    voyage.dice.fair = was_fair
    return snapshot


def write_last(voyage: Voyage, invariant: str) -> Path:
    """Write the world as it is now as a snapshot document."""
    snapshot = look_at(voyage)
    path = Path(gettempdir()) / f"gordon-{invariant.replace(' ', '-')}-{voyage.course.seed}.json"
    path.write_text(write_snapshot(snapshot), encoding="utf-8")
    return path


def sail(seed: int, passes: int = 24) -> Voyage:
    """Sail one seed. Raise AssertionError with its minimal story where an invariant does not hold."""
    drawn = course(seed, passes)
    voyage = Voyage(drawn)
    violated = failure_of(voyage)
    if violated is None:
        return voyage
    shortest = minimal(drawn, violated.invariant, voyage.dice.fell)
    again = failure_of(Voyage(drawn, shortest.only))
    raise AssertionError(explain(shortest, again or violated))


__all__ = ["Course", "Voyage", "course", "failure_of", "hinted", "sail"]
