"""What a subject is made of: by comparing that, an unchanged subject is known without being made anew."""

from attrs import evolve, frozen

from gordon_core.effects import Result
from gordon_core.memory import Memory
from gordon_core.observation import Route
from gordon_core.snapshot import Hold, Subject, Superseded
from gordon_core.tuning import Applied
from gordon_shell.glances import Look
from gordon_shell.leftovers import in_the_journal, seen
from gordon_shell.ports import Stored


@frozen
class Circumstances:
    """What a subject is made of besides looks; compared by value."""

    route: Route
    memory: Memory
    unproven: bool
    locked: str
    in_flight: str
    results: tuple[Result, ...]
    ungranted: tuple[str, ...]
    constants: Applied
    hold: Hold | None


@frozen(eq=False)
class Parts:
    """What a subject is made of; the same parts make the same subject again."""

    stored: Stored
    look: Look
    other_looks: tuple[Look, ...]
    circumstances: Circumstances

    def same_as(self, other: "Parts") -> bool:
        """Tell whether nothing happened: the same objects, and equal values where those are made anew."""
        return (
            self.stored is other.stored
            and self.look is other.look
            and len(self.other_looks) == len(other.other_looks)
            and all(mine is theirs for mine, theirs in zip(self.other_looks, other.other_looks, strict=True))
            and self.circumstances == other.circumstances
        )

    def subject(self) -> Subject:
        """Put them together."""
        stored, around = self.stored, self.circumstances
        old_looks, left_looks = self.other_looks[: len(stored.markers)], self.other_looks[len(stored.markers) :]
        declared = stored.declared
        if declared is not None and declared.policy != around.constants.policy:
            declared = evolve(declared, policy=around.constants.policy)
        return Subject(
            app=stored.app,
            service=stored.service,
            seen=seen(self.look),
            declared=declared,
            intent=stored.intent,
            route=around.route,
            memory=around.memory,
            unproven=around.unproven,
            inhibited=stored.inhibited,
            ungranted=around.ungranted,
            locked=around.locked,
            in_flight=around.in_flight,
            results=around.results,
            superseded=tuple(
                Superseded(each.container_id, seen(look), each.stop_grace_s, each.binds, each.verified)
                for each, look in zip(stored.markers, old_looks, strict=True)
            ),
            orphans=stored.orphans,
            candidates=tuple(
                in_the_journal((stored.app, stored.service), each, look)
                for each, look in zip(stored.candidates, left_looks, strict=True)
            ),
            hold=around.hold,
            policy_constants=around.constants.constants,
            policy_faults=around.constants.faults,
        )
