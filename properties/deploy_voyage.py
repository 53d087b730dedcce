"""One run of a world in which deploys go wrong, from its seed; then nothing does any more.

A first generation is deployed in peace. Then deploys and passes meet faults, deaths, kills and hands; safety is judged at every
command. Then faults stop: recovery, or nobody, has a pass, and the next deploy of the same app has to go well without help.
"""

from collections import Counter
from random import Random

from attrs import define, evolve, field, frozen

from gordon_core.blueprint import Blueprint, Publication
from gordon_core.deploy_effects import GiveUp, Why
from gordon_core.deploy_planner import DeployDecision
from gordon_core.deployment import names
from gordon_core.effects import Outcome, RemoveCandidate, StopCandidate
from gordon_core.observation import Port, Status
from gordon_core.snapshot import Intent
from gordon_core.stages import Stage
from gordon_core.verdicts import Verdict
from gordon_shell.deployer import Deployer
from gordon_shell.errors import BusyError, GordonError, StoreError
from gordon_shell.memory.store import MemoryStore
from gordon_shell.ports import Service, StateStore
from gordon_shell.reconciler import Reconciler
from properties.boxes import Mood, Nature
from properties.deploy_court import DeployCourt
from properties.deploy_doors import DeployProgram, SimulatedImage, deploy_ports
from properties.deploy_mischief import LONGEST_HOLD_S, DeployMischiefs
from properties.faults import Dice, Weather
from properties.programs import Killed, SimulatedCrew
from properties.story import Violated
from properties.world import World

SERVICES: tuple[Service, ...] = (("shop", "web"), ("shop", "api"))
CLEANUP_S = 30.0
_OURS = "a fault of ours"
_HTTP = Port(80)
_NATURES = (
    Nature.KIND, Nature.KIND, Nature.KIND, Nature.KIND, Nature.LOOPER, Nature.FLAKY, Nature.UNREADY, Nature.SLOW,
    Nature.PORTLESS, Nature.REFUSER, Nature.ILL, Nature.FLAPPER,
)  # fmt: skip


@frozen
class DeployCourse:
    """What is drawn for a run besides its faults. `fixed` and `downtime` are why two containers must not overlap, if at all.

    `calms`: faults stop as soon as a deploy gives up, so that its clean-up can be timed.
    """

    seed: int
    rounds: int = 4
    weather: Weather = Weather()  # noqa: RUF009 - frozen
    services: tuple[Service, ...] = SERVICES
    fixed: bool = False
    downtime: bool = False
    has_second: bool = True
    renames: bool = True
    calms: bool = False
    published: bool = True
    holds: bool = False


def has_holds(seed: int) -> bool:
    """Tell whether a course has an operator who holds services: one in four, and all else of the others is as without."""
    return Random(f"peace {seed}").random() < 0.25


def deploy_course(seed: int) -> DeployCourse:
    """Draw a course."""
    chance = Random(f"deploys {seed}")
    weather = Weather(chance.choice([0.0, 0.005, 0.02, 0.05]), chance.choice([0.0, 0.005, 0.01, 0.03]))
    kind = chance.choice(["beside", "beside", "beside", "fixed", "downtime"])
    return DeployCourse(
        seed, chance.choice([2, 3, 4]), weather, SERVICES[: chance.choice([1, 1, 2])], kind == "fixed", kind == "downtime",
        chance.random() < 0.5, chance.random() < 0.5, chance.random() < 0.3, chance.random() < 0.95, has_holds(seed),
    )  # fmt: skip


@define(eq=False)
class DeployVoyage:
    """A run under way."""

    course: DeployCourse
    only: frozenset[int] | None = None
    disk: StateStore = field(factory=MemoryStore)
    world: World = field(init=False)
    dice: Dice = field(init=False)
    court: DeployCourt = field(init=False)
    mischiefs: DeployMischiefs = field(init=False)
    chance: Random = field(init=False)
    images: dict[str, SimulatedImage] = field(factory=dict)
    stages: Counter[Stage] = field(factory=Counter)
    born: int = 0
    gave_up_s: float | None = None
    retires: bool = False
    latest: dict[Service, Blueprint] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        """Build the world, with the first generation of every service deployed in peace."""
        course = self.course
        self.chance = Random(f"deploy voyage {course.seed}")
        self.world = World(course.seed, self.disk)
        self.dice = Dice(course.seed, course.weather, self.only, fair=True)
        self.court = DeployCourt(self.world)
        self.mischiefs = DeployMischiefs(self.world, self.court, course.services, course.renames, course.holds)

    # --- programs ------------------------------------------------------------------------------------------------------------

    def program(self, name: str, *, exposed: bool = True) -> DeployProgram:
        """Start a program, with what is on disk."""
        self.born += 1
        choices = self.mischiefs.choices if exposed else ()
        crew = SimulatedCrew(self.world, None)
        named = f"{name} {self.born}"
        return DeployProgram(named, self.world, self.dice, crew, choices, court=self.court, images=self.images)

    def recovery(self, *, exposed: bool = True) -> DeployProgram:
        """Start a program that recovers."""
        program = self.program("recovery", exposed=exposed)
        program.reconciler = Reconciler(deploy_ports(program), lambda: None, crew=program.crew)
        return program

    def one_pass(self, *, exposed: bool = True) -> None:
        """Run a pass. Raise Violated."""
        report = self.recovery(exposed=exposed).run_pass()
        self.raise_found()
        if report is not None and report.faults:
            raise Violated(_OURS, repr(report.faults[0])) from report.faults[0]

    def raise_found(self) -> None:
        """Raise what a judge said where nobody could hear it."""
        if self.court.found is not None:
            raise self.court.found

    def deploy(self, service: Service, wanted: Blueprint, *, exposed: bool = True, deadline_s: float = 900.0) -> Verdict | None:
        """Deploy; None where it could not begin, or was killed. Raise Violated."""
        program = self.program("deploy", exposed=exposed)
        deployer = Deployer(deploy_ports(program), lambda: None, listener=lambda *heard: self._hear(program, *heard))
        self.court.wanted[program.name], self.mischiefs.cancel = wanted, deployer.cancel
        self.gave_up_s, self.retires, was_fair = None, False, self.dice.fair
        self.world.tell("{} of {} to {} begins", program.name, service, wanted.image)
        self.court.begins(program.name)
        self.court.looked_from[program.name] = self.world.happened
        try:
            return self._ended(program, service, deployer.deploy(*service, wanted, lock_wait_s=0.0, deadline_s=deadline_s))
        except Killed:
            program.die()
        except (BusyError, StoreError) as error:
            self.world.tell("{} ends: {}", program.name, error)
        except GordonError as error:
            raise Violated(_OURS, str(error)) from error
        finally:
            self.mischiefs.cancel, self.dice.fair = None, was_fair
            del self.court.wanted[program.name]
        self.raise_found()
        return None

    def _ended(self, program: DeployProgram, service: Service, verdict: Verdict) -> Verdict:
        self.raise_found()
        self.world.tell("{} ends: {} {}", program.name, verdict.stage.name, verdict.failure)
        self.stages[verdict.stage] += 1
        self.court.ends(program.name)
        was_left = verdict.failure is not None and self._was_held(service)
        if verdict.failure is not None and verdict.failure.container_id and self.dice.fair and not was_left:
            self._is_cleared(verdict.failure.container_id)
        return verdict

    def _was_held(self, service: Service) -> bool:
        """Tell whether somebody held a service when its deploy gave up, or does since."""
        assert self.gave_up_s is not None
        stored = self.court.stored(service)
        held_until_s = stored.hold.until_s if stored is not None and stored.hold is not None else 0.0
        return self.gave_up_s - self.world.boot_began_s < held_until_s

    def _is_cleared(self, container_id: str) -> None:
        """C1, where nothing went wrong since the deploy gave up."""
        assert self.gave_up_s is not None
        took_s = self.court.cleared_s.get(container_id, self.world.at_s) - self.gave_up_s
        chosen = any(container_id in self.court.named(each) for each in self.course.services)
        is_there = container_id in self.world.boxes and not chosen
        self.court.demand("C1", not is_there, f"{container_id} failed, and is still there when its deploy ends")
        self.court.demand("C1", took_s <= CLEANUP_S or chosen, f"clearing {container_id} took {took_s:.1f} s")

    def _hear(self, program: DeployProgram, decision: DeployDecision, outcome: Outcome | None) -> None:
        """Tell the judges what a deploy is about to do."""
        step, court = decision.step, self.court
        if outcome is not None:
            court.looked_from[program.name] = self.world.happened
            court.clearing.pop(program.name, None)
            return
        self.stages[decision.stage] += 1
        self.retires = self.retires or decision.stage is Stage.RETIRING
        if isinstance(step, StopCandidate | RemoveCandidate):
            court.clearing[program.name] = step.container_id
        if isinstance(step, GiveUp):
            self.world.tell("{} gives up: {}", program.name, step.why.name)
            court.gave_up.add(program.name)
            self.gave_up_s = self.world.at_s
            if self.course.calms and step.why is not Why.ENGINE and not self.world.engine_down:
                self.dice.fair = True
                program.mischiefs = ()

    # --- everything goes wrong -----------------------------------------------------------------------------------------------

    def wanted(self, service: Service, nature: Nature, number: int) -> Blueprint:
        """Have an image of such containers, and return what a deploy of it wants."""
        course, chance, name = self.course, Random(f"{self.course.seed} {service} {number}"), f"{service[1]}:{number}"
        has_check = nature in {Nature.ILL, Nature.FLAPPER} or chance.random() < 0.3
        here, stops_in_s = chance.random() < 0.8, chance.choice([0.0, 0.0, 3.0, 30.0])
        self.images[name] = SimulatedImage(f"sha256:{name}", nature, has_check, stops_in_s, is_here=here)
        fixed = 8000 + SERVICES.index(service) if course.fixed else 0
        return Blueprint(
            name, ports=(Publication(_HTTP, fixed),), downtime=course.downtime, stop_grace_s=chance.choice([0.0, 10.0]),
            published=course.published,
        )  # fmt: skip

    def begin(self) -> None:
        """Deploy the first generation in peace."""
        for service in self.course.services:
            verdict = self.deploy(service, self.wanted(service, Nature.KIND, 1), exposed=False)
            self.court.demand("C3", verdict is not None and verdict.is_well, f"the first deploy of {service} fails: {verdict}")

    def sail(self) -> None:
        """Go through the whole course. Raise Violated."""
        self.begin()
        self.dice.fair = False
        for number in range(2, 2 + self.course.rounds):
            self.world.pass_time(self.chance.choice([0.1, 5.0, 60.0]))
            if self.course.has_second:
                self.mischiefs.beside = self.recovery(exposed=False)
            if self.course.holds:
                self.be_held(Random(f"holds {self.course.seed} {number}"))
            if self.chance.random() < 0.4:
                self.one_pass()
            self.rough_deploy(self.chance.choice(self.course.services), number)
        self.calm_down()
        self.check()

    def be_held(self, chance: Random) -> None:
        """Let the operator hold services or release them, while no deploy is under way; and let passes come upon what is held."""
        for act in chance.sample((self.mischiefs.hold, self.mischiefs.hold, self.mischiefs.release), 2):
            if chance.random() < 0.5:
                act(chance)
        if chance.random() < 0.5:
            self.one_pass()

    def _serves_well(self, service: Service) -> bool:
        """Tell whether a good container serves, with nothing wrong about it, and is to run."""
        stored = self.court.stored(service)
        return stored is not None and stored.intent is Intent.RUNNING and self.court.lit(service)

    def rough_deploy(self, service: Service, number: int) -> None:
        """Deploy in whatever weather; where nothing happens, what served before it serves after it, or what ACTIVE named."""
        wanted = self.wanted(service, self.chance.choice(_NATURES), number)
        if self.chance.random() < 0.1:
            wanted = self.latest.get(service, wanted)
        if self.chance.random() < 0.05:
            self.disk.set_intent(service[0], self.chance.choice([*Intent]))
        old, stored = self.court.at_the_route(service), self.court.stored(service)
        selected = stored.declared.container_id if stored is not None and stored.declared is not None else ""
        before, happened, fell = self._serves_well(service), self.mischiefs.happened, len(self.dice.fell)
        verdict = self.deploy(service, wanted, deadline_s=self.chance.choice([900.0, 900.0, 5.0]))
        self.latest[service] = wanted
        if before and (happened, fell) == (self.mischiefs.happened, len(self.dice.fell)):
            # What was watched is trusted: once the old one is being retired, there is no way back. And an earlier deploy may have
            # been killed when it had switched, and published nothing yet: restoring what ACTIVE names then switches the route.
            now, is_well = self.court.at_the_route(service), bool(verdict and verdict.is_well)
            serves = self.retires or (now is not None and (is_well or now is old or now.container_id == selected))
            wrong = f"nothing went wrong but the deploy, and {service} is at {now and now.container_id} after it: {verdict}"
            self.court.demand("C3", serves, wrong)

    # --- nothing goes wrong any more -----------------------------------------------------------------------------------------

    def calm_down(self) -> None:
        """Let faults stop, and every workload be well."""
        self.dice.fair, self.mischiefs.beside = True, None
        self.world.tell("faults stop, and every workload is well")
        self.world.pass_time(120.0)
        for app in {app for app, _ in self.course.services}:
            self.disk.set_intent(app, Intent.RUNNING)
        if self.course.holds:
            self.holds_end(Random(f"end of the holds {self.course.seed}"))
        for name, box in list(self.world.boxes.items()):
            box.nature, box.shown, box.frozen_s = Nature.KIND, None, None if box.is_alive else box.frozen_s
            if box.status is Status.PAUSED:
                box.status = Status.RUNNING
            box.mood = evolve(box.mood, answers_after_s=0.0, checks=Mood().checks, dies_after_s=None, flaps=False)
            if box.is_alive and len(box.ports) < len(box.publishes):
                self.world.die(name)
        self.world.pass_time(30.0)

    def holds_end(self, chance: Random) -> None:
        """Let every hold be over: by its time, or because it is released."""
        if chance.random() < 0.5:
            self.world.pass_time(LONGEST_HOLD_S)
            return
        for service in self.course.services:
            self.disk.set_hold(*service, None)

    def check(self) -> None:
        """Judge a pass of recovery, or none; then the next deploy of each service."""
        if self.chance.random() < 0.6:
            self.recovers()
        for service in self.course.services:
            self.deploys_again(service)
        self.one_pass(exposed=False)
        for service in self.course.services:
            self.is_settled(service)

    def recovers(self) -> None:
        """C1 and C3: a pass clears what is in a journal, here of one service after the other; what runs well serves after it."""
        began_s, left = self.world.at_s, self._journalled()
        well = {each: self._selected(each) for each in self.course.services}
        self.recovery(exposed=False).run_pass()
        self.raise_found()
        took_s = max((self.court.cleared_s[each] - began_s for each in left & self.court.cleared_s.keys()), default=0.0)
        still = [each for each in left & self._journalled() if not self._is_routed(each)]
        self.court.demand("C1", not still, f"a pass leaves {still}, which an interrupted deploy left")
        self.court.demand("C1", took_s <= CLEANUP_S * len(well), f"clearing {left} took {took_s:.1f} s")
        for service, is_well in well.items():
            serves = self._serves(service)
            self.court.demand("C3", serves or not is_well, f"what ACTIVE names for {service} runs, and serves not after a pass")

    def _journalled(self) -> set[str]:
        return {each.container_id for stored in self.disk.read() for each in stored.candidates}

    def _is_routed(self, container_id: str) -> bool:
        boxes = (self.court.at_the_route(each) for each in self.course.services)
        return any(each is not None and each.container_id == container_id for each in boxes)

    def _selected(self, service: Service) -> bool:
        """Tell whether what ACTIVE names runs well."""
        stored = self.court.stored(service)
        box = self.world.boxes.get(stored.declared.container_id) if stored is not None and stored.declared is not None else None
        return box is not None and self.court.is_well(box)

    def _serves(self, service: Service) -> bool:
        """Tell whether what ACTIVE names runs, and is routed if it is to be."""
        stored, box = self.court.stored(service), self.court.at_the_route(service)
        if stored is None or stored.declared is None:
            return False
        if not self.course.published:
            return box is None and self._selected(service)
        return box is not None and box.container_id == stored.declared.container_id

    def deploys_again(self, service: Service) -> None:
        """C3: the next deploy goes well without help, whatever was left."""
        verdict = self.deploy(service, self.wanted(service, Nature.KIND, 99), exposed=False)
        self.court.demand("C3", verdict is not None and verdict.is_well, f"the next deploy of {service} fails: {verdict}")
        self.court.demand("C3", self._serves(service), f"the next deploy of {service} went well, and does not serve")

    def is_settled(self, service: Service) -> None:
        """Nothing is left of any deploy: one container, under its name, unless somebody else's bears that."""
        stored, own = self.court.stored(service), names(*service)
        assert stored is not None
        assert stored.declared is not None
        left = [*(each.container_id for each in stored.candidates), *(each.container_id for each in stored.markers)]
        self.court.demand("C1", not left, f"{left} is left of {service}")
        others = [
            each
            for each, tag in self.court.tags.items()
            if each in self.world.boxes and tag.service == service and tag.name in {own.canonical, *own.temporary}
        ]
        self.court.demand("C1", others == [stored.declared.container_id], f"{others} bear names of {service}")
        self.court.demand("C3", self._serves(service), f"{service} does not serve in the end")


def failure_of(voyage: DeployVoyage) -> Violated | None:
    """Sail, and return the violation that ended it, or None."""
    try:
        voyage.sail()
    except Violated as violated:
        return violated
    return None
