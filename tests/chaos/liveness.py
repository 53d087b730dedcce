"""Liveness over an hour of chaos: for how long each service was in a state that recovery must bring it out of.

A state that lasts leaves one record, so every clock runs on to the next record of the service, or to the end of the journal. A
clock begins anew after each span in which the engine, the proxy or the program was away, or others worked on the service.
"""

from collections.abc import Iterable, Iterator

from attrs import define, field

from gordon_core.effects import Restart, Start
from gordon_core.observation import Container, HealthStatus, RouteSeen, SeenAs
from gordon_core.snapshot import Declared, Intent, Subject
from gordon_shell.journal import Kind, Record
from tests.chaos.judge import Judge, Span


@define(eq=False)
class Clock:
    """Since when a service is in a state, the record that showed it first, and the service as it was seen last."""

    since_s: float
    number: int
    subject: Subject


@define(eq=False, kw_only=True)
class Liveness(Judge):
    """Judges L1 to L4, L6 and C1. `away` are spans in which the engine or the proxy was.

    `within_s` is how long any of it may last: two passes, with all that a pass waits for. `longest` says how long it did.
    """

    away: tuple[Span, ...] = ()
    within_s: float = 60.0
    clocks: dict[tuple[str, str], Clock] = field(factory=dict)
    longest: dict[str, float] = field(factory=dict)
    looked: dict[tuple[int, str], float] = field(factory=dict)

    def over(self, records: Iterable[Record]) -> "Liveness":
        """Judge all records, oldest first, and what stands at their end."""
        last: Record | None = None
        for record in records:
            last = record if last is None or record.clock.boot_s >= last.clock.boot_s else last
            for subject in record.snapshot.subjects:
                self._see(record, subject)
            if record.step is not None:
                name = f"{record.step.app}/{record.step.service}"
                self._begin(record, name)
                if isinstance(record.step.result.effect, Start | Restart):
                    self.clocks.pop(("L1", name), None)
        for (invariant, _), clock in self.clocks.items():
            if last is not None:
                self._judge(last, invariant, clock)
        return self

    def _see(self, record: Record, subject: Subject) -> None:
        if record.kind is Kind.LOOK:
            self.looked[record.pass_number, subject.name] = record.clock.boot_s
        if subject.in_flight:
            return
        for invariant, is_so in _states(subject, record.clock.boot_s):
            key = (invariant, subject.name)
            if key in self.clocks:
                self.clocks[key].subject = subject
                self._judge(record, invariant, self.clocks[key])
            if not is_so:
                self.clocks.pop(key, None)
            else:
                self.clocks.setdefault(key, Clock(record.clock.boot_s, record.number, subject))

    def _judge(self, record: Record, invariant: str, clock: Clock) -> None:
        now_s, subject = record.clock.boot_s, clock.subject
        own = ((each.begin_s, each.end_s) for each in self.deploys if each.service == subject.service)
        spans = (*self.away, *self.blind, *own)
        since_s = max([clock.since_s, *(end_s for begin_s, end_s in spans if begin_s <= now_s and end_s >= clock.since_s)])
        self._measure(record, invariant, now_s - since_s, self.within_s, f"{subject.name} {_WORDS[invariant]}")

    def _begin(self, record: Record, name: str) -> None:
        """L6: the first step for a service comes soon after the look that called for it, whatever others do."""
        looked_s = self.looked.pop((record.pass_number, name), None)
        if looked_s is not None:
            waited_s = record.clock.boot_s - looked_s
            self._measure(record, "L6", waited_s, self.within_s / 2, f"{name} was looked at, and nothing done for it")

    def _measure(self, record: Record, invariant: str, lasted_s: float, most_s: float, words: str) -> None:
        self.longest[invariant] = max(self.longest.get(invariant, 0.0), lasted_s)
        self.demand(invariant, lasted_s <= most_s, record, f"{words}, for {lasted_s:.0f} s")


_WORDS = {
    "L1": "is down and due, and nothing starts it",
    "L2": "serves, and is not routed",
    "L3": "is to be stopped, and runs or is routed",
    "L4": "serves, and what it supersedes is still there",
    "C1": "has a candidate that nobody deploys",
}


def _states(subject: Subject, now_s: float) -> Iterator[tuple[str, bool]]:
    """Yield, for each invariant, whether its state holds."""
    declared, route = subject.declared, subject.route
    if declared is None:
        return
    is_free = not (subject.locked or subject.inhibited or subject.hold or subject.ungranted)
    is_wanted, is_published = is_free and subject.intent is Intent.RUNNING, declared.published and bool(declared.ports)
    yield "L1", is_wanted and subject.seen_as is SeenAs.DOWN and _is_due(subject, declared, now_s)
    yield "C1", is_free and bool(subject.candidates)
    if isinstance(route, RouteSeen):
        due = {each for each in subject.binds if each.port.protocol in route.carries} if is_published else set()
        serves = is_wanted and _is_well(subject, declared)
        yield "L2", serves and set(route.binds) != due
        yield "L3", is_free and subject.intent is Intent.STOPPED and (subject.seen_as is SeenAs.RUNNING or bool(route.binds))
        yield "L4", serves and set(route.binds) == due and bool(subject.superseded)


def _is_due(subject: Subject, declared: Declared, now_s: float) -> bool:
    """Tell whether the time on record has come, of what is not done."""
    memory, seen = subject.memory, subject.seen
    is_done = declared.policy.exit_0_is_done and isinstance(seen, Container) and seen.exit is not None and seen.exit.code == 0
    waits = memory.charged_at_s is not None and now_s < memory.charged_at_s + declared.policy.wait_s(memory.failures)
    return not (is_done or waits or memory.contested_port)


def _is_well(subject: Subject, declared: Declared) -> bool:
    """Tell whether this execution runs, is healthy, and was verified at the binds that it has."""
    seen, verified = subject.seen, subject.memory.verified
    if not isinstance(seen, Container) or verified is None or subject.seen_as is not SeenAs.RUNNING:
        return False
    is_this = (verified.started_at, verified.revision) == (seen.started_at, declared.revision)
    is_healthy = seen.health.status in {HealthStatus.NONE, HealthStatus.HEALTHY}
    return is_this and is_healthy and set(verified.binds) == set(subject.binds)
