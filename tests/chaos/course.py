"""The verdict over an hour of chaos: what must hold from one record of a service to the next, and of wishes and candidates.

A subject whose command is in flight is shown as it was before that, and says nothing of what is now.
"""

from collections import Counter
from collections.abc import Iterable

from attrs import define, field

from gordon_core.document import read_plan
from gordon_core.effects import (
    Done,
    Effect,
    PersistBinds,
    Publish,
    RecordAttempt,
    RecordFailure,
    ReleaseBinds,
    Remove,
    RemoveCandidate,
    Restart,
    Retire,
    Start,
    Stop,
    StopCandidate,
    Withdraw,
)
from gordon_core.forecast import MOST_STEPS
from gordon_core.observation import Binds, Container, HealthStatus, RouteSeen, SeenAs, Status
from gordon_core.policy import DEFAULT_POLICY, WhenUnhealthy
from gordon_core.snapshot import Declared, Intent, Subject, Superseded
from gordon_shell.journal import Record, Step
from tests.chaos.judge import Judge, is_done

_HANDS_ON = Start | Restart | Stop | Retire | Remove | StopCandidate | RemoveCandidate


@define(eq=False)
class Past:
    """What the records before say of one service."""

    number: int = 0
    at_s: float = 0.0
    declared: Declared | None = None
    route: Binds | None = None
    gains: set[int] = field(factory=set)
    asked: list[Binds] = field(factory=list)
    unproven: bool = False
    charged: set[str] = field(factory=set)
    sick: set[str] = field(factory=set)


@define(eq=False)
class Course(Judge):
    """Judges what follows upon what."""

    pasts: dict[str, Past] = field(factory=dict)
    effects: Counter[tuple[int, str]] = field(factory=Counter)

    def over(self, records: Iterable[Record]) -> "Course":
        """Judge all records, oldest first."""
        for each in records:
            own = each.step
            subjects = {one.name: one for one in each.snapshot.subjects}
            if own is None:
                for line in read_plan(each.plan).lines:
                    self._wishes(each, subjects[f"{line.app}/{line.service}"], line.effect)
            for subject in each.snapshot.subjects:
                if not subject.in_flight and (own is None or (own.app, own.service) == (subject.app, subject.service)):
                    self._next(each, subject)
            if own is not None:
                subject = subjects[f"{own.app}/{own.service}"]
                self._step(each, subject, own.result.effect)
                self._did(each, subject, own)
        return self

    # --- from record to record ---------------------------------------------------------------------------------------

    def _next(self, record: Record, subject: Subject) -> None:
        past, now_s, declared = self.pasts.setdefault(subject.name, Past()), record.clock.boot_s, subject.declared
        is_excused = self.excuses(subject, past.at_s if past.number else now_s, now_s)
        if declared is not None:
            self._active(record, subject, past, is_excused=is_excused)
        if isinstance(subject.route, RouteSeen):
            routed = subject.route.binds
            if past.route is not None:
                gained = {each.host_port for each in routed} - {each.host_port for each in past.route} - past.gains
                self.demand("P8", not gained or is_excused, record, f"{subject.name} is routed to {gained}, and no step did that")
            past.route, past.gains = routed, set()
        if past.unproven and not subject.results:
            known = subject.unproven or isinstance(subject.route, RouteSeen)
            self.demand("F4", known or is_excused, record, f"a withdrawal of {subject.name} is unproven, and not marked")
            past.unproven = False
        if declared is not None:
            self._history(record, subject, past, declared.container_id, is_excused=is_excused)
        past.number, past.at_s, past.declared, past.asked = record.number, now_s, declared or past.declared, []

    def _active(self, record: Record, subject: Subject, past: Past, *, is_excused: bool) -> None:
        """P9: ACTIVE changes by deploys and by what recovery puts on record, and by nothing else."""
        now, before = subject.declared, past.declared
        if now is None or before is None:
            return
        self.demand("P9", now.revision >= before.revision, record, f"revision {now.revision} after {before.revision}")
        if now.revision == before.revision:
            same = (now.container_id, now.ports, now.published) == (before.container_id, before.ports, before.published)
            self.demand("P9", same, record, f"ACTIVE of {subject.name} changed within revision {now.revision}")
            is_asked = now.binds in {before.binds, *past.asked}
            self.demand("P9", is_asked or is_excused, record, f"binds of {subject.name} changed, from {before.binds}")
        else:
            self.demand("P9", is_excused, record, f"{subject.name} has revision {now.revision}, and nobody deployed it")

    def _history(self, record: Record, subject: Subject, past: Past, key: str, *, is_excused: bool) -> None:
        """B5: what never had any trouble has no history."""
        seen, memory = subject.seen, subject.memory
        if is_excused or (isinstance(seen, Container) and (seen.health.streak or seen.health.status is HealthStatus.UNHEALTHY)):
            past.sick.add(key)
        if is_excused:
            past.charged.add(key)
        if key not in past.charged:
            self.demand(
                "B5", not memory.failures, record, f"{subject.name} has {memory.failures} failures, and was never charged"
            )
        if key not in past.sick:
            self.demand("B5", memory.strikes is None, record, f"{subject.name} has {memory.strikes}, and was never sick")

    # --- steps -------------------------------------------------------------------------------------------------------

    def _step(self, record: Record, subject: Subject, effect: Effect) -> None:
        declared, kind = subject.declared, type(effect).__name__
        if isinstance(effect, _HANDS_ON | Publish):
            self.demand("F1", not subject.in_flight, record, f"{kind} while {subject.in_flight} is under way")
        self._wishes(record, subject, effect)
        if isinstance(effect, Stop):
            wanted = subject.intent is Intent.RUNNING and not effect.contested_port
            self.demand("P6", not wanted, record, "stopped, and wanted")
        if isinstance(effect, Remove | RemoveCandidate | StopCandidate | Retire):
            named = declared is not None and effect.container_id == declared.container_id
            self.demand("C2", not named, record, f"{kind} of what ACTIVE names")
        if isinstance(effect, RemoveCandidate | StopCandidate):
            left = [each for each in subject.candidates if each.container_id == effect.container_id]
            self.demand("C2", left, record, f"{kind} of {effect.container_id}, which no deploy left")
            leads = {each.host_port for each in route.binds} if isinstance(route := subject.route, RouteSeen) else set()
            alive = {each.host_port for one in left if isinstance(one.seen, Container) for each in one.seen.ports}
            self.demand("C2", not leads & alive, record, f"{kind} of {effect.container_id}, which is routed at {leads & alive}")
        if isinstance(effect, Withdraw | Retire | Remove):
            self._old_serves(record, subject, effect)

    def _wishes(self, record: Record, subject: Subject, effect: Effect | None) -> None:
        """Demand that what an operator forbids is neither done nor called for."""
        kind, policy = type(effect).__name__, subject.declared.policy if subject.declared is not None else DEFAULT_POLICY
        if subject.hold is not None and subject.hold.in_force(record.clock) is not None:
            self.demand("T1", not isinstance(effect, _HANDS_ON), record, f"{kind} of what is on hold")
        if is_done(subject):
            self.demand("T2", not isinstance(effect, RecordAttempt | Start | RecordFailure), record, f"{kind} of what is done")
        if policy.unhealthy is WhenUnhealthy.WITHDRAW:
            self.demand("T3", not isinstance(effect, Restart), record, "restarted for its health, and only to be withdrawn")

    def _old_serves(self, record: Record, subject: Subject, effect: Effect) -> None:
        """C3: what serves goes on to serve until what ACTIVE names does."""
        if subject.intent is not Intent.RUNNING or not isinstance(subject.route, RouteSeen):
            return
        routed, verified = {each.host_port for each in subject.route.binds}, subject.memory.verified
        started_at = subject.seen.started_at if isinstance(subject.seen, Container) else ""
        successor_serves = subject.seen_as is SeenAs.RUNNING and verified is not None and verified.started_at == started_at
        serving = [each.container_id for each in subject.superseded if routed and routed <= _served_by(each)]
        self.demand("C3", successor_serves or not serving, record, f"{type(effect).__name__}, while {serving} serves")

    def _did(self, record: Record, subject: Subject, step: Step) -> None:
        past, effect, outcome = self.pasts.setdefault(subject.name, Past()), step.result.effect, step.result.outcome
        self.effects[record.pass_number, subject.name] += 1
        many, most = self.effects[record.pass_number, subject.name], MOST_STEPS * (1 + len(subject.superseded))
        self.demand("L5", many <= most, record, f"{many} steps for {subject.name} in one pass")
        key = subject.declared.container_id if subject.declared is not None else ""
        match effect:
            case Publish(binds=binds):
                past.gains |= {each.host_port for each in binds}
            case RecordFailure():
                past.charged.add(key)
            case Withdraw():
                past.unproven = not isinstance(outcome, Done)
            case PersistBinds(binds=binds):
                past.asked.append(binds)
            case ReleaseBinds():
                past.asked.append(())
            case _:
                pass


def _served_by(old: Superseded) -> set[int]:
    """Return the host ports at which a superseded container runs and was verified."""
    seen, verified = old.seen, old.verified
    if verified is None or not isinstance(seen, Container) or seen.status is not Status.RUNNING:
        return set()
    return {each.host_port for each in verified.binds} if seen.started_at == verified.started_at else set()
