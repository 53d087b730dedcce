"""What every judge over a journal keeps, and what none of them can hold against the program."""

from collections import Counter

from attrs import define, field, frozen

from gordon_core.observation import Container, SeenAs
from gordon_core.snapshot import Subject
from gordon_shell.journal import Record

Span = tuple[float, float]


@frozen
class Deploying:
    """A span, in seconds since boot, in which a service was deployed, replaced or told something by an operator."""

    service: str
    begin_s: float
    end_s: float


@define(eq=False, kw_only=True)
class Judge:
    """How often each invariant was judged, and every sentence about one that does not hold.

    `blind` are spans, in seconds since boot, of which the last records may be lost, since the program was killed in them;
    `deploys` are those in which others than recovery worked on a service, of which the journal has deeds and no steps.
    """

    blind: tuple[Span, ...] = ()
    deploys: tuple[Deploying, ...] = ()
    judged: Counter[str] = field(factory=Counter)
    wrong: list[str] = field(factory=list)

    def demand(self, invariant: str, holds: object, record: Record, wrong: str) -> None:
        """Judge once."""
        self.judged[invariant] += 1
        if not holds:
            self.wrong.append(f"{invariant}, record {record.number}: {wrong}")

    def excuses(self, subject: Subject, since_s: float, until_s: float) -> bool:
        """Tell whether something of this service may be missing in the journal between these times."""
        own = ((each.begin_s, each.end_s) for each in self.deploys if each.service == subject.service)
        return any(begin_s <= until_s and since_s <= end_s for begin_s, end_s in (*self.blind, *own))


def is_done(subject: Subject) -> bool:
    """Tell whether it ended with exit code 0, is done by that, and nobody wants it again."""
    declared, seen, memory = subject.declared, subject.seen, subject.memory
    if declared is None or not declared.policy.exit_0_is_done or not isinstance(seen, Container) or seen.exit is None:
        return False
    is_starting = memory.attempt is not None and memory.attempt.before == seen.started_at
    return (
        subject.seen_as is SeenAs.DOWN
        and bool(seen.started_at)
        and seen.exit.code == 0
        and not (memory.again or memory.contested_port or is_starting)
    )
