"""Two copies of one simulated world, told apart by nothing but who recovers in it: the product, or the naive model.

Everything that happens is drawn beforehand and by the clock, never by the count of calls, since the two make different ones:
calls take no time of their own, events are due at a time, and a fault strikes a kind of call for as long as its spell lasts.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from random import Random

from attrs import define, field, frozen

from gordon_core.effects import Fault, Outcome, Refused, Unknown
from gordon_core.observation import Bind
from gordon_core.policy import Policy
from gordon_shell.crew import Job, never
from gordon_shell.errors import StoreError
from gordon_shell.ports import Marker, Service
from gordon_shell.reconciler import Reconciler, Report
from properties.boxes import Box, Nature
from properties.deploys import DeployTool
from properties.faults import COMMANDS, Dice, Fate, Weather
from properties.judges import Court
from properties.mischief import Mischiefs
from properties.naive import Naive
from properties.programs import Killed, Program, SimulatedCrew
from properties.voyage import SERVICES, ports_of
from properties.world import World

_GAPS_S = (5.0, 15.0, 15.0, 15.0, 60.0, 120.0, 200.0)
_LANDS_AFTER_S = 20.0
_EVENTS = (
    "kill", "kill", "kill", "kill", "pause", "unpause", "unpause", "delete", "removing", "restart_by_hand", "engine_restarts",
    "engine_is_away", "proxy_forgets", "proxy_by_hand", "proxy_by_hand", "step_wall", "suspend", "health_lies", "health_freezes",
    "deploy", "deploy", "deploy", "deploy", "remove", "intend", "intend", "inhibit", "allow", "retry", "stranger", "finish",
)  # fmt: skip
_TUNINGS = ("hold", "hold", "release", "tune", "retry", "intend")
_READS = ("the router", "the engine's list", "the state store", "web-1", "api-1", "shop/web in")
_TOUCHES = ("start", "restart", "stop", "withdraw", "publish", "persist", "remove")
_FATES = tuple(each for each in COMMANDS if each is not Fate.HANGS)
_WRITES = ("remember", "mark", "release", "drop")


@frozen
class Spell:
    """A time in which every call of one kind has the same fate. `what` is how the words for the call begin."""

    from_s: float
    until_s: float
    what: str
    fate: Fate


@frozen
class Happening:
    """Something that happens beside the calls: a method of `Mischiefs`, and the seed of its details."""

    at_s: float
    name: str
    seed: int


@frozen
class Scenario:
    """All that is drawn. `passes` are the times at which passes begin, if the one before is over."""

    seed: int
    services: tuple[Service, ...]
    passes: tuple[float, ...]
    happenings: tuple[Happening, ...] = ()
    spells: tuple[Spell, ...] = ()
    tuned: bool = False


def scenario(seed: int, *, events: bool, faults: bool, tuned: bool = False) -> Scenario:
    """Draw a scenario: calm, with events, or with faults as well; `tuned`: with holds, and policies of services."""
    chance = Random(f"scenario {seed}")
    services = SERVICES[: chance.choice([1, 1, 2, 3, 4])]
    passes, at_s = [], 20.0
    for _pass in range(chance.choice([6, 12, 24])):
        at_s += chance.choice(_GAPS_S)
        passes.append(at_s)
    known = _EVENTS + _TUNINGS * 5 if tuned else _EVENTS
    happenings = [
        Happening(chance.uniform(20.0, at_s), chance.choice(known), chance.randrange(10**6))
        for _ in range(events * chance.choice([1, 4, 10]))
    ]
    spells = [_spell(chance, at_s) for _ in range(faults * chance.choice([1, 2, 5, 9]))]
    return Scenario(seed, services, tuple(passes), _in_time(happenings), tuple(spells), tuned)


def _in_time(happenings: list[Happening]) -> tuple[Happening, ...]:
    return tuple(sorted(happenings, key=lambda each: each.at_s))


def _spell(chance: Random, end_s: float) -> Spell:
    what, fates = chance.choice(
        [
            *((each, (Fate.FAILS,)) for each in _READS),
            *((each, (Fate.FAILS, Fate.DONE_UNANSWERED)) for each in _WRITES),
            *((each, _FATES) for each in _TOUCHES * 2),
            ("probe", (Fate.UNANSWERED,)),
        ]
    )
    from_s = chance.uniform(20.0, end_s)
    return Spell(from_s, from_s + chance.choice([1.0, 20.0, 100.0, 400.0]), what, chance.choice(fates))


@define(eq=False)
class Steady(Program):
    """A program whose calls take no time of their own, and whose faults are those of the spells that the clock is in."""

    spells: Sequence[Spell] = ()
    model: Naive | None = None

    def step(self, *, alone: bool = False) -> None:
        """Take no time; say only who reads."""
        if not alone:
            self.crew.pause()
        job = self.crew.job
        self.court.notes(self.name).reader = job.name if job is not None else ""

    def _fate(self, what: str) -> Fate:
        if self.dice.fair:
            return Fate.WELL
        now_s = self.world.at_s
        return next(
            (each.fate for each in self.spells if each.from_s <= now_s < each.until_s and what.startswith(each.what)), Fate.WELL
        )

    def read_fails(self, fates: Sequence[Fate], what: str) -> bool:
        """Fail while a spell says so."""
        del fates
        return self._fate(what) is not Fate.WELL

    def perform(
        self,
        what: str,
        act: Callable[[], Outcome],
        fates: Sequence[Fate],
        fault: Fault,
        half: Callable[[], Outcome] | None = None,
    ) -> Outcome:
        """Do a command as the spell of the moment wants it."""
        del fates
        fate = self._fate(what)
        self.court.notes(self.name).commands.append(what)
        self.world.tell("{}: {}: {}", self.name, what, fate.value)
        match fate:
            case Fate.WELL:
                return act()
            case Fate.FAILS:
                return Refused("500: something is wrong inside", fault)
            case Fate.FAILS_HALF:
                (half or act)()
                return Refused("500: something went wrong half way", fault)
            case Fate.DONE_UNANSWERED:
                act()
            case Fate.KILLED_BEFORE:
                raise Killed
            case Fate.KILLED_AFTER:
                act()
                raise Killed
            case Fate.LATE:
                self.world.later(_LANDS_AFTER_S, lambda: self.world.tell("late: {}: {}", what, act()))
            case _:
                pass
        return Unknown("no answer in time")

    def run_pass(self, patience_s: float | None = None) -> Report | None:
        """Run one pass of whoever recovers here."""
        if self.model is None:
            return Program.run_pass(self, patience_s)
        self.world.tell("{} begins a pass", self.name)
        self.court.begins(self.name)
        try:
            self.model.run_pass()
        except Killed:
            self.die()
        except StoreError as error:
            self.world.tell("{} gives up its pass: {}", self.name, error)
        else:
            self.court.ends(self.name)
        return None


class OrderlyCrew(SimulatedCrew):
    """Does jobs one after the other, by name: what waits for one of them makes the others late, in both twins alike."""

    def go(self, jobs: Iterable[Job], patience_s: float | None, meanwhile: Callable[[], bool] = never) -> None:
        """See Crew."""
        SimulatedCrew.go(self, sorted(jobs, key=lambda each: each.name), patience_s, meanwhile)


@define(eq=False)
class SwiftTool(DeployTool):
    """Deploys containers that stop at once: what a stop takes would make the order of services matter."""

    def box(self, service: Service, chance: Random, nature: Nature | None = None) -> Box:
        """Make a container for a service."""
        box = DeployTool.box(self, service, chance, nature)
        box.stops_in_s = 0.0
        return box


@define(eq=False)
class Twin:
    """One copy."""

    scenario: Scenario
    naive: bool
    policy: Policy = Policy()
    world: World = field(init=False)
    court: Court = field(init=False)
    dice: Dice = field(init=False)
    mischiefs: Mischiefs = field(init=False)
    program: Steady = field(init=False)
    born: int = 0

    def __attrs_post_init__(self) -> None:
        """Build the world, with every service adopted, and let everything be due at its time."""
        seed = self.scenario.seed
        self.world = World(seed)
        self.court, self.dice = Court(self.world), Dice(seed, Weather())
        tool = SwiftTool(self.world, self.court, policy=self.policy, tuned=self.scenario.tuned)
        self.mischiefs = Mischiefs(self.world, tool, self.scenario.services)
        for service in self.scenario.services:
            tool.adopt(service, Random(f"{seed} {service}"))
        for each in self.scenario.happenings:
            self.world.later(each.at_s, partial(self._happen, each))
        self.world.pass_time(20.0)
        self.program = self._give_birth()

    def _happen(self, happening: Happening) -> None:
        act: Callable[[Random], None] = getattr(self.mischiefs, happening.name)
        self.world.tell("-- {}", happening.name)
        act(Random(happening.seed))

    def _give_birth(self) -> Steady:
        self.born += 1
        name = f"{'naive' if self.naive else 'recovery'} {self.born}"
        program = Steady(name, self.world, self.dice, self.court, OrderlyCrew(self.world, None), spells=self.scenario.spells)
        if self.naive:
            program.model = Naive(ports_of(program))
        else:
            program.reconciler = Reconciler(ports_of(program), lambda: None, crew=program.crew)
        return program

    def one_pass(self, at_s: float) -> None:
        """Run the pass that is due at a time."""
        self.world.pass_time(max(0.0, at_s - self.world.at_s))
        if not self.program.alive:
            self.program = self._give_birth()
        report = self.program.run_pass()
        if report is not None and report.faults:
            raise report.faults[0]

    def faults_stop(self) -> None:
        """Let nothing go wrong any more but what the workloads do."""
        self.dice.fair = True
        self.mischiefs.tool.killed_often = 0.0
        self.world.pass_time(700.0)
        for box in self.world.boxes.values():
            box.shown, box.frozen_s = None, box.frozen_s if not box.is_alive else None

    def heal(self) -> None:
        """Let every workload be a kind one from its next start on."""
        for box in self.world.boxes.values():
            box.nature, box.has_check = Nature.KIND, False

    # --- what is compared ----------------------------------------------------------------------------------------------

    def starts(self) -> list[tuple[float, str]]:
        """Return when which container was started, by whomever."""
        return [
            (round(each.at_s, 3), str(each.args[0]))
            for each in self.world.story.lines
            if each.text.startswith("{} begins to run")
        ]

    def state(self) -> dict[str, object]:
        """Return the state that both must agree on, by name, so that a difference reads well."""
        state: dict[str, object] = {}
        for name, box in sorted(self.world.boxes.items()):
            state[f"container {name}"] = (box.status, box.starts)
        for service, binds in sorted(self.world.routes.items()):
            state[f"route {service}"] = _set(binds)
        for stored in self.world.disk.read():
            key, memory, declared = f"{stored.app}/{stored.service}", stored.memory, stored.declared
            state[f"active {key}"] = (
                (declared.container_id, declared.revision, _set(declared.binds)) if declared is not None else None
            )
            state[f"budget {key}"] = (memory.failures, memory.charged, memory.charged_at_s, memory.attempt)
            state[f"strikes {key}"] = memory.strikes
            state[f"verified {key}"] = memory.verified
            state[f"contested {key}"] = memory.contested_port
            state[f"unproven {key}"] = stored.unproven
            state[f"marks {key}"] = (tuple(map(_claims, stored.markers)), stored.orphans, stored.inhibited, stored.intent)
        return state


def _set(binds: tuple[Bind, ...]) -> tuple[str, ...]:
    return tuple(sorted(map(str, binds)))


def _claims(marker: Marker) -> tuple[str, tuple[str, ...]]:
    return marker.container_id, _set(marker.binds)


def differences(one: Twin, other: Twin) -> list[str]:
    """Return in words where two states differ."""
    mine, theirs = one.state(), other.state()
    return [
        f"{key}: {mine.get(key)} / {theirs.get(key)}"
        for key in sorted(mine.keys() | theirs.keys())
        if mine.get(key) != theirs.get(key)
    ]
