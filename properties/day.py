"""A day in fast time: 200 services for 24 hours with every fault of the simulated world, judged at every command.

python -m properties.day                            a day (`make day`)
python -m properties.day --services 5 --hours 1     a short one

It is one voyage: the real reconciler with targeted passes, a second program beside it, deploys, an operator, reboots, and all
judges. A pass comes every 15 seconds of rest; what passes and suspends take comes on top. Then faults stop, and liveness is
judged.
"""

import argparse
import gc
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import process_time
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

from attrs import define, field

from gordon_core.effects import Done, Outcome, RecordFailure, Restart, Start
from gordon_core.noted import Notice
from gordon_core.planner import Decision
from gordon_core.policy import PASS_CADENCE_S
from gordon_core.snapshot import Intent, Snapshot, Subject
from gordon_shell.memory.journal import MemoryJournal
from gordon_shell.notices import Notices
from gordon_shell.ports import Service, Stored
from gordon_shell.witness import Silent, Witnesses
from properties.calm import Calm
from properties.faults import Fate, Weather
from properties.notes import binds_of, is_published
from properties.story import Violated
from properties.voyage import Course, Voyage, explain

PASSES_AN_HOUR = int(3600 / PASS_CADENCE_S)
WEATHER = Weather(faults=0.001, mischief=0.0007)
"""Per call: with 200 services, a fault and a mischief every other pass."""
_APP = 10
_REPAIRS, _REBOOTS = 0.2, 0.0005
_STORY = 2000
_NO_PART = (type, ModuleType, FunctionType, MethodType, BuiltinFunctionType)


@define(eq=False)
class Tally(Silent):
    """Counts what was carried out, and what was told."""

    effects: Counter[str] = field(factory=Counter)
    notices: Counter[str] = field(factory=Counter)

    def stepped(self, decided: Snapshot, decision: Decision, outcome: Outcome, after: Subject) -> None:
        """Count one effect that was done."""
        del decided, after
        if isinstance(outcome, Done):
            self.effects[type(decision.effect).__name__] += 1

    def told(self, notice: Notice) -> None:
        """Count one notice."""
        self.notices[notice.kind.value] += 1


@define(eq=False)
class Day:
    """One day. Times are in service-seconds: wanted, of those able to serve, and of those dark all the same."""

    voyage: Voyage
    tally: Tally
    wanted_s: float = 0.0
    able_s: float = 0.0
    dark_s: float = 0.0
    held: list[int] = field(factory=list)
    megabytes: list[float] = field(factory=list)

    def live(self, hours: int) -> None:
        """Live through it, hour by hour. Raise Violated."""
        for _hour in range(hours):
            for _pass in range(PASSES_AN_HOUR):
                self._pass()
            self._tidy()
        self.voyage.calm_down()
        Calm(self.voyage).check()

    def _pass(self) -> None:
        voyage, begun_s = self.voyage, self.voyage.world.at_s
        voyage.rest(PASS_CADENCE_S)
        if voyage.chance.random() < _REBOOTS:
            voyage.reboot()
        voyage.rough_pass(PASS_CADENCE_S)
        if voyage.chance.random() < _REPAIRS:
            self._repair(voyage.chance.choice(voyage.course.services))
        self._look(voyage.world.at_s - begun_s)

    def _repair(self, service: Service) -> None:
        """The operator puts right what recovery never does: what is gone, inhibited, stopped, or not in ACTIVE."""
        voyage, stored = self.voyage, self.voyage.world.disk.read_service(*service)
        declared = stored.declared if stored is not None else None
        if declared is None or declared.container_id not in voyage.world.boxes:
            voyage.tool.deploy(service, Random(voyage.chance.random()))
        elif stored is not None and stored.intent is Intent.STOPPED:
            voyage.tool.intend(service[0], Intent.RUNNING)
        elif stored is not None and stored.inhibited:
            voyage.tool.inhibit(service, lift=True)

    def _tidy(self) -> None:
        """Let nobody's containers go, once an hour, and what was told long ago; then see what the program holds."""
        world = self.voyage.world
        for name in [name for name in world.boxes if name.startswith("stranger-")]:
            world.remove(name, by_force=True)
        del world.story.lines[:-_STORY]
        self.held.append(parts_of(self.voyage.program.reconciler, self.voyage))
        self.megabytes.append(resident_mb())

    def _look(self, seconds: float) -> None:
        """Add up who could serve, and who did."""
        for each in self.voyage.world.disk.read():
            able = self._is_able(each)
            if able is not None:
                self.wanted_s += seconds
                self.able_s += seconds * able
                self.dark_s += seconds * (able and not self._is_routed(each))

    def _is_able(self, stored: Stored) -> bool | None:
        """Tell whether it runs, answers, and is healthy; None where it is not to be served."""
        declared, world = stored.declared, self.voyage.world
        if declared is None or not is_published(declared) or stored.intent is Intent.STOPPED or stored.inhibited:
            return None
        box = world.boxes.get(declared.container_id)
        return box is not None and box.answers(world.at_s) and len(binds_of(declared, box.ports)) == len(declared.ports)

    def _is_routed(self, stored: Stored) -> bool:
        assert stored.declared is not None
        box = self.voyage.world.boxes[stored.declared.container_id]
        carried = {each for each in binds_of(stored.declared, box.ports) if each.port.protocol in self.voyage.world.carries}
        return set(self.voyage.world.routes.get((stored.app, stored.service), ())) == carried

    def summary(self) -> Iterator[str]:
        """Yield what became of it, in plain words."""
        voyage, effects, drawn = self.voyage, self.tally.effects, self.voyage.dice.drawn
        fates = {name: drawn[name] for name in Fate.__members__ if drawn[name]}
        mischiefs = {name: times for name, times in drawn.most_common() if name not in Fate.__members__}
        yield f"{len(voyage.course.services)} services, {voyage.world.at_s / 3600:.1f} simulated hours, seed {voyage.course.seed}"
        yield f"passes: {voyage.passes:,}, and {voyage.court.judged['targeted']:,} services looked at in targeted ones"
        yield f"programs: {voyage.born:,} (each killed but the last); reboots: {voyage.world.boot - 1:,}"
        yield f"faults of calls: {sum(fates.values()):,} ({_words(fates)})"
        yield f"what happened beside them: {sum(mischiefs.values()):,} ({_words(mischiefs)})"
        starts = f"{effects[Start.__name__]:,} and {effects[Restart.__name__]:,} restarts"
        yield f"starts: {starts}; charges: {effects[RecordFailure.__name__]:,}; publications: {effects['Publish']:,}"
        yield f"notices: {sum(self.tally.notices.values()):,} ({_words(self.tally.notices)})"
        served, down, dark = (
            100 * each / self.wanted_s for each in (self.able_s - self.dark_s, self.wanted_s - self.able_s, self.dark_s)
        )
        yield f"of {self.wanted_s / 3600:,.0f} service-hours: served {served:.1f} %, down, ill or slow {down:.1f} %,"
        yield f"    and dark though it could have served {dark:.2f} %"
        yield "    (ill by its check, not looked at yet, held or locked, no proxy)"
        judged = {name: times for name, times in sorted(voyage.court.judged.items()) if name != "targeted"}
        yield f"judged: {sum(judged.values()):,} times ({_words(judged)})"
        first, last = self.held[0], self.held[-1]
        yield (
            f"held by the program: {first:,} objects after the first hour, {max(self.held):,} at most, {last:,} at the end;"
            f" the process, with world and judges: {self.megabytes[0]:.0f} MB, then {self.megabytes[-1]:.0f} MB"
        )


def day(services: int, seed: int) -> Day:
    """Return a day that is about to begin."""
    named = tuple((f"app{index // _APP}", f"service{index}") for index in range(services))
    tally = Tally()
    notices = Notices(tally.told, MemoryJournal())
    # Fewer calls, as many faults an hour: a short day with few services is to have some as well.
    scale = max(1.0, 100 / services)
    weather = Weather(WEATHER.faults * scale, WEATHER.mischief * scale)
    course = Course(seed, 0, weather, has_second=True, services=named, tuned=True, hints=True)
    return Day(Voyage(course, witness=Witnesses(tally, notices)), tally)


def parts_of(whole: object, voyage: Voyage) -> int:
    """Return of how many objects the program consists, without the world around it and the code."""
    outside = {
        id(each) for each in (voyage, voyage.world, voyage.court, voyage.dice, voyage.program, voyage.rumours, voyage.witness)
    }
    seen, waiting = {id(whole)}, [whole]
    while waiting:
        for each in gc.get_referents(waiting.pop()):
            if id(each) not in seen and id(each) not in outside and not isinstance(each, _NO_PART):
                seen.add(id(each))
                waiting.append(each)
    return len(seen)


def resident_mb() -> float:
    """Return the resident memory of this process."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))


def _words(counted: dict[str, int]) -> str:
    return ", ".join(
        f"{name.lower().replace('_', ' ') if name.islower() or '_' in name else name} {times:,}"
        for name, times in counted.items()
    )


def main() -> int:
    """Live one day, and print what became of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--services", type=int, default=200, help="how many (200)")
    parser.add_argument("--hours", type=int, default=24, help="how long (24)")
    parser.add_argument("--seed", type=int, default=1, help="which day (1)")
    options = parser.parse_args()
    lived, begun_s = day(options.services, options.seed), process_time()
    try:
        lived.live(options.hours)
    except Violated as violated:
        sys.stdout.write(f"{explain(lived.voyage, violated)}\n")
        return 1
    for line in lived.summary():
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"{process_time() - begun_s:.0f} s of one core; no violation\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
