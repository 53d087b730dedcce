"""The verdict over an hour of chaos, from the journal alone: every step is held against the invariants of P, B and F.

It never asks the planner: what a step may be decided upon is read from the recorded snapshot by rules of its own. The charges and
starts by which a deploy keeps the old container up are not in the journal, so that deploys excuse a count that is another.
"""

from collections.abc import Iterable

from attrs import define, field

from gordon_core.document import read_plan
from gordon_core.effects import (
    Done,
    DropHistory,
    Effect,
    Fault,
    Outcome,
    PersistBinds,
    Probe,
    Publish,
    RecordAttempt,
    RecordFailure,
    RecordVerified,
    Refused,
    Remove,
    Restart,
    Retire,
    Start,
    Withdraw,
)
from gordon_core.observation import Container, HealthStatus, Protocol, RouteSeen, SeenAs
from gordon_core.snapshot import Intent, Subject
from gordon_shell.journal import Kind, Record, Step
from tests.chaos.judge import Judge, Span, is_done

_CLEAN = {HealthStatus.NONE, HealthStatus.HEALTHY}


@define(eq=False)
class Account:
    """What the journal says of the budget of one container: charges since its history was dropped, and when the last came."""

    failures: int = 0
    charged_s: float = 0.0
    seen_s: float = 0.0
    charged: set[str] = field(factory=set)


@define(eq=False)
class Verdict(Judge):
    """Judges each step by itself, and the budget over all of them."""

    accounts: dict[str, Account] = field(factory=dict)

    def over(self, records: Iterable[Record]) -> "Verdict":
        """Judge all records, oldest first."""
        for each in records:
            if each.kind is Kind.STEP and each.step is not None:
                self._step(each, each.step)
        return self

    def _step(self, record: Record, step: Step) -> None:
        subject = next(each for each in record.snapshot.subjects if (each.app, each.service) == (step.app, step.service))
        effect, outcome = step.result.effect, step.result.outcome
        asked = [each.effect for each in read_plan(record.plan).lines if (each.app, each.service) == (step.app, step.service)]
        self.demand("D1", effect in asked, record, f"{effect} was done, and not decided: {asked}")
        self._aimed(record, subject, effect)
        match effect:
            case Publish():
                self._publication(record, subject, effect)
            case Start() | Restart():
                self._attempt(record, subject, effect)
                self._waited(record, subject)
            case RecordAttempt():
                self._on_time(record, subject)
            case PersistBinds() | RecordVerified():
                self.demand("P4", _is_ready(subject), record, f"{type(effect).__name__} without a readiness answer")
            case RecordFailure():
                self._charge(record, subject, effect, outcome)
            case DropHistory():
                self._drop(record, subject, outcome)
            case Retire() | Remove():
                self._retirement(record, subject, effect.container_id)
            case _:
                pass

    def _aimed(self, record: Record, subject: Subject, effect: Effect) -> None:
        generation = getattr(effect, "generation", None)
        if generation is not None:
            self.demand("P6", generation == subject.generation(), record, f"{effect} is not for what ACTIVE names")

    # --- publication -------------------------------------------------------------------------------------------------

    def _publication(self, record: Record, subject: Subject, effect: Publish) -> None:
        seen, declared, route = subject.seen, subject.declared, subject.route
        assert declared is not None
        self.demand("P1", subject.seen_as is SeenAs.RUNNING, record, "published, and not seen running")
        healthy = isinstance(seen, Container) and seen.health.status in _CLEAN
        self.demand("P1", healthy, record, "published, and not healthy")
        carries = route.carries if isinstance(route, RouteSeen) else ()
        present = {each for each in subject.binds if each.port.protocol in carries}
        self.demand("P1", set(effect.binds) == present, record, f"published at {effect.binds}, and not at {present}")
        self.demand("P1", _is_ready(subject), record, "published without a readiness answer of this execution in this pass")
        verified, started_at = subject.memory.verified, seen.started_at if isinstance(seen, Container) else ""
        is_on_record = verified is not None and (verified.started_at, verified.revision) == (started_at, declared.revision)
        self.demand("P1", is_on_record, record, "published before it was verified on record")
        self.demand("P3", _is_proven(subject), record, "published while a withdrawal is unproven")
        self.demand("P4", set(declared.binds) == set(subject.binds), record, "published before its binds were on record")
        self.demand("P6", _is_wanted(subject), record, "published, and not wanted")
        self.demand("P7", isinstance(route, RouteSeen), record, "published, although the router could not be read")
        self.demand(
            "P10", not _rivals(record, subject, effect), record, f"published at a port of {_rivals(record, subject, effect)}"
        )

    def _attempt(self, record: Record, subject: Subject, effect: Start | Restart) -> None:
        right = SeenAs.DOWN if isinstance(effect, Start) else SeenAs.RUNNING
        self.demand("P7", subject.seen_as is right, record, f"{type(effect).__name__} of what was seen {subject.seen_as.value}")
        self.demand("P2", _is_clear(subject), record, f"{type(effect).__name__} of what is routed: {subject.route}")
        self.demand("P3", _is_proven(subject), record, f"{type(effect).__name__} while a withdrawal is unproven")
        self.demand("P6", _is_wanted(subject), record, f"{type(effect).__name__} of what is not wanted")
        again = [each for each in subject.results if isinstance(each.effect, Start | Restart)]
        self.demand("F2", not again, record, f"{type(effect).__name__} a second time in one pass")
        self.demand("F3", not subject.ungranted, record, f"{type(effect).__name__} without {subject.ungranted}")
        self.demand("B1", subject.memory.attempt is not None, record, "started without an attempt on record")
        if isinstance(effect, Restart):
            strikes, policy = subject.memory.strikes, subject.declared.policy if subject.declared is not None else None
            sick = strikes is not None and policy is not None and strikes.count >= policy.unhealthy_threshold
            self.demand("B3", sick, record, f"restarted after {strikes}")

    def _retirement(self, record: Record, subject: Subject, container_id: str) -> None:
        old = next((each for each in subject.superseded if each.container_id == container_id), None)
        self.demand("P6", old is not None, record, f"{container_id} is retired, and has no marker")
        if subject.declared is not None and subject.intent is Intent.RUNNING:
            verified, seen = subject.memory.verified, subject.seen
            serves = verified is not None and isinstance(seen, Container) and verified.started_at == seen.started_at
            self.demand("P5", serves and subject.seen_as is SeenAs.RUNNING, record, "retired before its successor serves")
        route = subject.route
        if old is not None and old.verified is not None and isinstance(route, RouteSeen):
            own = {each.host_port for each in subject.binds}
            leads = {each.host_port for each in route.binds} & {each.host_port for each in old.verified.binds} - own
            self.demand("P2", not leads, record, f"{container_id} is retired, and routed at {leads}")

    # --- the budget --------------------------------------------------------------------------------------------------

    def _on_time(self, record: Record, subject: Subject) -> None:
        memory, policy = subject.memory, subject.declared.policy if subject.declared is not None else None
        if policy is not None and memory.charged_at_s is not None and memory.boot_id == record.clock.boot_id:
            due_s = memory.charged_at_s + policy.wait_s(memory.failures)
            self.demand("B2", record.clock.boot_s >= due_s, record, f"an attempt {due_s - record.clock.boot_s:.1f} s early")

    def _waited(self, record: Record, subject: Subject) -> None:
        """By the charges in the journal, not by what the program remembers."""
        self._on_time(record, subject)
        account, policy = self._account(record, subject), subject.declared.policy if subject.declared is not None else None
        if policy is not None and account.failures:
            due_s = account.charged_s + policy.wait_s(account.failures)
            early = f"start after {account.failures} charges, {due_s - record.clock.boot_s:.1f} s early"
            self.demand("B1", record.clock.boot_s >= due_s, record, early)

    def _account(self, record: Record, subject: Subject) -> Account:
        container_id = subject.declared.container_id if subject.declared is not None else ""
        account, now_s = self.accounts.setdefault(container_id, Account()), record.clock.boot_s
        lost = self.excuses(subject, account.seen_s, now_s)
        if subject.memory.failures != account.failures:
            self.demand("B4", lost, record, f"{subject.memory.failures} failures, and {account.failures} on record")
            account.failures = subject.memory.failures
        account.seen_s = now_s
        return account

    def _charge(self, record: Record, subject: Subject, effect: RecordFailure, outcome: Outcome) -> None:
        account = self._account(record, subject)
        if not isinstance(outcome, Done):
            return
        again = effect.started_at in account.charged
        self.demand("B3", not again, record, f"execution {effect.started_at} is charged twice")
        self.demand("B7", _is_own_fault(subject), record, f"charged, and nothing shows it at fault: {effect.cause.name}")
        account.charged |= {effect.started_at} - {""}
        account.failures, account.charged_s = account.failures + 1, record.clock.boot_s

    def _drop(self, record: Record, subject: Subject, outcome: Outcome) -> None:
        account, window, policy = self._account(record, subject), subject.memory.window, None
        if subject.declared is not None:
            policy = subject.declared.policy
        stable = window is not None and policy is not None and record.clock.boot_s - window.since_s >= policy.stable_window_s
        self.demand(
            "B4", stable or is_done(subject) or subject.intent is Intent.STOPPED, record, f"history is dropped within {window}"
        )
        if isinstance(outcome, Done):
            account.failures = 0


def _is_ready(subject: Subject) -> bool:
    """Tell whether this execution answered, last of all and in this pass, that it is ready at the binds it has."""
    started_at = subject.seen.started_at if isinstance(subject.seen, Container) else ""
    tcp = [each for each in subject.binds if each.port.protocol is Protocol.TCP]
    answers = [
        each.outcome
        for each in subject.results
        if isinstance(each.effect, Probe) and each.effect.started_at == started_at and set(tcp) <= set(each.effect.binds)
    ]
    return not subject.binds or (bool(answers) and isinstance(answers[-1], Done))


def _is_proven(subject: Subject) -> bool:
    tries = [each.outcome for each in subject.results if isinstance(each.effect, Withdraw)]
    return not subject.unproven and (not tries or isinstance(tries[-1], Done) or isinstance(subject.route, RouteSeen))


def _is_wanted(subject: Subject) -> bool:
    return subject.intent is Intent.RUNNING and not subject.inhibited and not subject.locked


def _is_clear(subject: Subject) -> bool:
    """Tell whether nothing leads to the declared container: no route, or one to a superseded container that still serves."""
    if isinstance(subject.route, RouteSeen):
        others = {bind for each in subject.superseded if each.verified is not None for bind in each.verified.binds}
        return set(subject.route.binds) <= others
    tries = [each.outcome for each in subject.results if isinstance(each.effect, Withdraw)]
    is_published = subject.declared is not None and subject.declared.published and bool(subject.declared.ports)
    return not is_published or (bool(tries) and isinstance(tries[-1], Done))


def _rivals(record: Record, subject: Subject, effect: Publish) -> list[str]:
    ports = {(each.host_port, each.port.protocol) for each in effect.binds}
    return [
        other.name
        for other in record.snapshot.subjects
        if other.name != subject.name
        and isinstance(other.route, RouteSeen)
        and ports & {(each.host_port, each.port.protocol) for each in other.route.binds}
    ]


def _is_own_fault(subject: Subject) -> bool:
    """Tell whether it is down, sick, or without a port; or was refused, or not ready, by its own fault."""
    refused = any(
        isinstance(each.outcome, Refused) and each.outcome.fault is Fault.WORKLOAD
        for each in subject.results
        if isinstance(each.effect, Start | Restart | Probe)
    )
    seen, declared = subject.seen, subject.declared
    unbound = declared is not None and len(subject.binds) < len(declared.ports)
    sick = isinstance(seen, Container) and seen.health.status is HealthStatus.UNHEALTHY
    return refused or subject.seen_as is SeenAs.DOWN or sick or (subject.seen_as is SeenAs.RUNNING and unbound)


# --- the workloads' own word -----------------------------------------------------------------------------------------


def unexplained(
    begun: Iterable[tuple[str, float]], records: Iterable[Record], excused: Iterable[Span], late_s: float
) -> list[str]:
    """Return the starts that workloads tell of (container ID or its beginning, seconds since boot) without a step that called for
    them: each step explains one start of its container, within `late_s` seconds. `excused`: spans of which nothing is said.
    """
    steps: dict[str, list[float]] = {}
    for each in records:
        effect = each.step.result.effect if each.step is not None else None
        if isinstance(effect, Start | Restart):
            steps.setdefault(effect.generation.container_id[:12], []).append(each.clock.boot_s)
    spans, found, known = tuple(excused), [], set[str]()
    for container_id, at_s in begun:
        called = steps.get(container_id[:12], [])
        by = next((each for each in called if each - 1.0 <= at_s <= each + late_s), None)
        if by is not None:
            called.remove(by)
        elif container_id in known and not any(begin_s <= at_s <= end_s for begin_s, end_s in spans):
            found.append(f"{container_id} began at {at_s:.1f} s, and no step called for that")
        known.add(container_id)
    return found
