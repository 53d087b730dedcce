"""What a program hears of the events of its world: lost, late, twice, out of order, of strangers, or nothing for a while."""

from collections.abc import Iterable
from random import Random

from attrs import define, field

from gordon_core.planner import Plan
from gordon_shell.hints import Agenda
from gordon_shell.ports import Service
from gordon_shell.witness import Silent
from properties.programs import Program
from properties.world import World

_LATE_S = (0.0, 0.01, 0.5, 3.0, 40.0)
_FOREIGN = "somebody-else's"


class JudgedAgenda(Agenda):
    """An agenda that tells the judges whom a targeted pass is going to look at."""

    program: Program

    def begin(self, services: Iterable[Service], now_s: float) -> None:
        """Take services off: they are being looked at."""
        begun = tuple(services)
        super().begin(begun, now_s)
        if begun:
            self.program.world.tell("{} looks at {}", self.program.name, begun)
            self.program.court.calls_on(self.program.name, begun)


class JudgedWitness(Silent):
    """Tells the judges which services a targeted pass has looked at."""

    def __init__(self, program: Program) -> None:
        """Be there for this program."""
        self._program = program

    def planned(self, plan: Plan, *, is_whole: bool) -> None:
        """Tell them."""
        if not is_whole:
            looked_at = tuple((each.subject.app, each.subject.service) for each in plan.services)
            self._program.court.begins_for(self._program.name, looked_at)


@define(eq=False)
class Rumours:
    """Carries events to one program after the other. `quiet`: not any more, or not yet."""

    world: World
    quiet: bool = False
    program: Program | None = None
    chance: Random = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Listen to the world."""
        self.chance = Random(f"rumours {self.world.seed}")
        self.world.listeners.append(self.hear)

    def carry_to(self, program: Program) -> None:
        """Carry what happens from now on to this program."""
        self.program = program
        assert program.reconciler is not None
        agenda = JudgedAgenda()
        agenda.program = program
        program.reconciler._agenda = agenda  # noqa: SLF001 - the judges must know of what is nobody else's business
        program.reconciler.hints.ask_whole()

    def hear(self, container_id: str) -> None:
        """Something happened to a container: that is told at once, late, more than once, or never."""
        if self.quiet:
            return
        if self.chance.random() < 0.1:
            self.invent()
        for _ in range(self.chance.choice((0, 1, 1, 1, 1, 2))):
            late_s = self.chance.choice(_LATE_S)
            if late_s:
                self.world.later(late_s, lambda: self._put(container_id))
            else:
                self._put(container_id)

    def invent(self) -> None:
        """Something is heard that did not happen: of any container, of a stranger's; or the stream was lost."""
        names = (*self.world.boxes, _FOREIGN)
        if not self.quiet and self.chance.random() < 0.3:
            self._put(self.chance.choice(names))
        if not self.quiet and self.program is not None and self.chance.random() < 0.02:
            assert self.program.reconciler is not None
            self.program.reconciler.hints.ask_whole()

    def _put(self, container_id: str) -> None:
        program = self.program
        if program is not None and program.alive and program.reconciler is not None:
            program.reconciler.hints.put(container_id)
