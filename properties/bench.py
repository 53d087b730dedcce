"""What the judges of a world write down: every read of every program, and how often each invariant was put to the proof."""

from collections import Counter
from typing import NoReturn

from attrs import define, field

from gordon_core.effects import Done, Outcome
from gordon_core.memory import Memory
from gordon_core.observation import Binds, Container, Gone
from gordon_shell.ports import Details, Routes, Row, Service, Stored
from properties.ledger import Ledger
from properties.notes import Asked, Look, Notes
from properties.proofs import Unproven, Verifications
from properties.story import Violated
from properties.world import World


def name_of(service: Service) -> str:
    """Return app/service."""
    return "/".join(service)


@define(eq=False)
class Bench:
    """The book of one world: what each program has read. Calls come from the doors, in the order in which it makes them."""

    world: World
    ledger: Ledger = field(init=False)
    judged: Counter[str] = field(factory=Counter)
    verified: Verifications = field(factory=Verifications)
    unproven: Unproven = field(factory=Unproven)
    programs: dict[str, Notes] = field(factory=dict)
    serial: int = 0

    def __attrs_post_init__(self) -> None:
        """Keep the budget's book beside."""
        self.ledger = Ledger(self.world, self.judged)

    def notes(self, program: str) -> Notes:
        """Return the book about one program."""
        return self.programs.setdefault(program, Notes(program))

    def tick(self) -> int:
        """Return the next number of a read or command."""
        self.serial += 1
        return self.serial

    def demand(self, invariant: str, holds: object, wrong: str) -> None:
        """Count a judgement, and end the run where it is a bad one."""
        self.judged[invariant] += 1
        if not holds:
            self.condemn(invariant, wrong)

    def condemn(self, invariant: str, wrong: str) -> NoReturn:
        """End the run."""
        raise Violated(invariant, wrong)

    # --- what was read -----------------------------------------------------------------------------------------------

    def begins(self, program: str) -> None:
        """A pass begins."""
        self.notes(program).begin(self.tick())

    def calls_on(self, program: str, services: tuple[Service, ...]) -> None:
        """A targeted pass is going to look at these services."""
        self.notes(program).call_on(services, self.tick())

    def begins_for(self, program: str, services: tuple[Service, ...]) -> None:
        """They were looked at, as far as they are named here: a pass over them alone begins."""
        begun = tuple(each for each in services if each in self.notes(program).called_on)
        self.judged["targeted"] += len(begun)
        self.notes(program).begin_for(begun)

    def ends(self, program: str, *, is_whole: bool = True) -> None:
        """A pass ends; a targeted one answers for its own services only."""
        notes = self.notes(program)
        lost = ", ".join(sorted(name_of(each) for each in notes.unwritten if is_whole or each in notes.called_on))
        self.demand("F4", not lost, f"a withdrawal of {lost} is unproven, and no mark of that was written")

    def dies(self, program: str) -> None:
        """It was killed: what it held and had not written is lost with it."""
        notes = self.programs.pop(program, None)
        self.unproven.died(program, self.world.disk)
        self.ledger.interrupts()
        if notes is not None:
            for key in notes.held:
                self.ledger.loses(key)

    def listed(self, program: str, rows: tuple[Row, ...] | None) -> None:
        """It read the engine's list (None: that failed)."""
        notes = self.notes(program)
        notes.rows = None if rows is None else {each.container_id: each for each in rows}
        notes.rows_serial = self.tick()
        self.ledger.listed(notes)

    def inspected(self, program: str, container_id: str, shown: Details | Gone | None) -> None:
        """It read a container (None: that failed)."""
        self.notes(program).looks[container_id] = Look(shown, self.tick())
        self.ledger.looked(self.notes(program), container_id)

    def routed(self, program: str, routes: Routes | None) -> None:
        """It read the router (None: that failed)."""
        self.tick()
        if routes is not None:
            self.unproven.read(routes.by_service)
        self._are_proven(program, self.notes(program).saw_routes(routes))
        self.ledger.saw_routes(self.notes(program))

    def read(self, program: str, stored: tuple[Stored, ...]) -> None:
        """It read the whole store."""
        notes = self.notes(program)
        notes.stored.clear()
        for each in stored:
            notes.saw_stored(each)

    def read_one(self, program: str, service: Service, stored: Stored | None) -> None:
        """It read one service."""
        notes = self.notes(program)
        if stored is None:
            notes.stored.pop(service, None)
        else:
            notes.saw_stored(stored)

    def left_behind(self, key: tuple[Service, str], memory: Memory) -> None:
        """A program was killed over such a write: a history that is not on disk any more is dropped all the same."""
        stored = self.world.disk.read_service(*key[0])
        is_named = stored is not None and stored.declared is not None and stored.declared.container_id == key[1]
        if stored is not None and is_named and stored.memory == memory and not memory.has_history():
            self.ledger.forgives(key)

    def probes(self, program: str, binds: Binds) -> Container:
        """It is about to ask for readiness: of that container which it saw with these binds last."""
        wanted = {(each.port, each.host_port) for each in binds}
        looks = [
            (look.serial, look.shown.container)
            for look in self.notes(program).looks.values()
            if isinstance(look.shown, Details) and wanted <= {(each.port, each.host_port) for each in look.shown.container.ports}
        ]
        self.demand("P1", looks, f"it probes {binds}, which no container was seen to have")
        return max(looks, key=lambda each: each[0])[1]

    def probed(self, program: str, asked: Container, binds: Binds, outcome: Outcome) -> None:
        """It was answered."""
        answer = Asked(asked.container_id, asked.started_at, frozenset(binds), outcome, self.tick())
        self.notes(program).probes.append(answer)
        if isinstance(outcome, Done):
            self.verified.add(asked.container_id, asked.started_at, self._revision_of(program, asked.container_id), binds)
        else:
            self.ledger.troubled(asked.container_id)

    def _revision_of(self, program: str, container_id: str) -> int:
        notes = self.notes(program)
        named = notes.named(container_id)
        declared = notes.stored[named[0]].declared if named is not None else None
        return declared.revision if declared is not None and declared.container_id == container_id else 0

    def _are_proven(self, program: str, services: set[Service]) -> None:
        for service in services:
            for name, other in self.programs.items():
                if name != program and service not in other.held_marks:
                    other.marks.pop(service, None)
