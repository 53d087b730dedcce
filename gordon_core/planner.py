"""From one snapshot to one plan: the first row that holds for each service, then for each of its superseded containers.

Pure and total: equal snapshots, equal plans, and every snapshot that the types allow gets one. Besides the subject, a decision
depends on the time, and on what other services' routes and containers do to its ports; so it is kept with the subject for as
long as it holds, and an unchanged subject costs nothing.
"""

from attrs import evolve, frozen

from gordon_core import candidates, evidence, facts, services, superseded
from gordon_core.effects import CandidateEffect, Done, Effect, Probe, ServiceEffect, SupersededEffect, Withdraw
from gordon_core.observation import Binds, Clock, Container, HostPort, Protocol, RouteSeen, Seen, Status
from gordon_core.record import Role
from gordon_core.services import Scope
from gordon_core.situations import REMEDIES, REMEDIES_IN_THE_DARK, Situation
from gordon_core.snapshot import Candidate, Clash, Snapshot, Subject, Superseded

_FOREVER_S = float("inf")
_NOT_HANDED_OUT = {(0, each) for each in Protocol}
MOST_OF_A_KIND = 2
"""How often one kind of effect may be issued for one container in one pass: the bound that makes every pass end."""


@frozen(eq=False)
class Decision:
    """What holds for one service, or for one other container of it, and the one effect that this calls for.

    `old` is that other container: a superseded one, or the candidate of an interrupted deploy. `until_s` (seconds since boot)
    is when a wait ends.
    """

    subject: Subject
    situation: Situation
    effect: Effect | None = None
    until_s: float | None = None
    old: Superseded | Candidate | None = None

    @property
    def role(self) -> Role:
        """Return what it is about."""
        return _ROLES[type(self.old)]

    @property
    def is_held(self) -> bool:
        """Return whether it stands still although it is not as the operator wants it."""
        return self.situation in REMEDIES or self.is_in_the_dark

    @property
    def is_in_the_dark(self) -> bool:
        """Return whether it is to run, does not serve, and is passed over: no failure, but nobody is served meanwhile."""
        subject = self.subject
        is_passed_over = self.situation in REMEDIES_IN_THE_DARK and services.scope(subject) is Scope.RUNNING
        return is_passed_over and not facts.serves(subject)


_ROLES = {type(None): Role.SERVICE, Superseded: Role.SUPERSEDED, Candidate: Role.CANDIDATE}


@frozen(eq=False)
class Plan:
    """One decision for each service, in order of app and service, and one for each superseded container and candidate."""

    clock: Clock
    services: tuple[Decision, ...]
    superseded: tuple[Decision, ...] = ()

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Return the decisions about services, then those about their other containers."""
        return self.services + self.superseded

    @property
    def due(self) -> tuple[Decision, ...]:
        """Return what calls for an effect: first candidates that nothing may run beside, then in the order of decisions."""
        return tuple(each for each in sorted(self.decisions, key=_must_go_first) if each.effect is not None)

    @property
    def effects(self) -> tuple[Effect, ...]:
        """Return the effects called for, in the order of what is due."""
        return tuple(each.effect for each in self.due if each.effect is not None)

    @property
    def is_quiet(self) -> bool:
        """Return whether nothing is called for."""
        return not self.effects


def _must_go_first(decision: Decision) -> bool:
    return not (isinstance(decision.old, Candidate) and decision.old.exclusive)


@frozen(eq=False)
class _Memo:
    """What was decided of a subject without a clash, and from when until when that stays so."""

    decision: Decision
    old: tuple[Decision, ...]
    from_s: float
    until_s: float
    is_suspect: bool


def decide(subject: Subject, now_s: float) -> Decision:
    """Return the decision for one service: the first row of the law that holds."""
    for row in services.rows(subject):
        if row.holds(subject, now_s):
            effect = row.effect(subject) if row.effect is not None else None
            if effect is not None and _is_exhausted(subject, effect):
                return Decision(subject, Situation.BLOCKED)
            return Decision(subject, row.situation, effect, row.until(subject) if row.until else None)
    message = f"no row of the law holds for {subject!r}"  # pragma: no cover - the last row of each scope always holds
    raise AssertionError(message)  # pragma: no cover


def decide_superseded(old: Superseded, subject: Subject, now_s: float) -> Decision:
    """Return the decision for one superseded container."""
    seen = superseded.look(old)
    row = next(row for row in superseded.ROWS if seen in row.looks and row.holds(old, subject, now_s))
    effect = row.effect(old, subject) if row.effect is not None else None
    if effect is not None and _is_exhausted(subject, effect):
        return Decision(subject, Situation.BLOCKED, old=old)
    return Decision(subject, row.situation, effect, row.until(subject) if row.until else None, old)


def decide_candidate(candidate: Candidate, subject: Subject, now_s: float) -> Decision:
    """Return the decision for one container that a deploy left, or that bears a name of the service."""
    seen = candidates.look(candidate)
    row = next(row for row in candidates.ROWS if seen in row.looks and row.holds(candidate, subject, now_s))
    effect = row.effect(candidate, subject) if row.effect is not None else None
    if effect is not None and _is_exhausted(subject, effect):
        return Decision(subject, Situation.BLOCKED, old=candidate)
    return Decision(subject, row.situation, effect, row.until(subject) if row.until else None, candidate)


def decide_others(subject: Subject, now_s: float) -> tuple[Decision, ...]:
    """Return the decisions for its superseded containers, then for its candidates."""
    return (
        *(decide_superseded(each, subject, now_s) for each in subject.superseded),
        *(decide_candidate(each, subject, now_s) for each in subject.candidates),
    )


def _is_exhausted(subject: Subject, effect: ServiceEffect | SupersededEffect | CandidateEffect) -> bool:
    """Say whether this pass tried it in vain already, or as often as a pass may: what was refused is tried in the next pass."""
    same = [each for each in evidence.results_of(subject, type(effect)) if _container(each.effect) == _container(effect)]
    # A probe is the same only about the same execution at the same binds: a restart in between voids it.
    alike = [each for each in same if each.effect == effect] if isinstance(effect, Probe) else same
    return len(same) >= MOST_OF_A_KIND or any(not isinstance(each.outcome, Done) for each in alike)


def _container(effect: Effect) -> str:
    return getattr(effect, "container_id", "")


def plan(snapshot: Snapshot) -> Plan:
    """Return what holds for every service of the snapshot and, for each, at most one effect."""
    now_s = snapshot.clock.boot_s
    memos = [_memo(each, now_s) for each in snapshot.subjects]
    decisions = [each.decision for each in memos]
    old = [decision for each in memos if each.old for decision in each.old]
    suspects = [each.decision.subject for each in memos if each.is_suspect]
    if suspects:
        for index, clash in _clashes(snapshot, suspects).items():
            decisions[index] = decide(evolve(snapshot.subjects[index], clash=clash), now_s)
    return Plan(snapshot.clock, tuple(decisions), tuple(old))


def decide_beside(subject: Subject, suspects: tuple[Subject, ...], clock: Clock) -> Plan:
    """Return the plan for one service alone, beside those others whose routes name ports that they do not hold."""
    whole = plan(Snapshot(clock, (subject, *suspects)))
    is_mine = [(each.subject.app, each.subject.service) == (subject.app, subject.service) for each in whole.services]
    return Plan(
        clock,
        tuple(each for each, mine in zip(whole.services, is_mine, strict=True) if mine),
        tuple(each for each in whole.superseded if each.subject is subject),
    )


def _memo(subject: Subject, now_s: float) -> _Memo:
    kept = subject.memo[0] if subject.memo else None
    if isinstance(kept, _Memo) and kept.from_s <= now_s < kept.until_s:
        return kept
    decision = decide(subject, now_s)
    memo = _Memo(
        decision,
        decide_others(subject, now_s) if subject.superseded or subject.candidates else (),
        now_s,
        _changes_at_s(decision, now_s),
        # What is settled is routed to its own ports or nowhere.
        decision.situation is not Situation.SETTLED and names_foreign_ports(subject),
    )
    subject.memo[:] = [memo]
    return memo


def _changes_at_s(decision: Decision, now_s: float) -> float:
    """Return when time alone could change the decisions: at the end of a wait, of a stable window, or of a hold."""
    subject = decision.subject
    if decision.situation is Situation.SETTLED:  # without a history there is no wait, and on hold it would not be settled
        return _FOREVER_S
    times = (evidence.retry_at_s(subject), evidence.stable_at_s(subject) or 0.0, evidence.held_until_s(subject) or 0.0)
    return min((each for each in times if each > now_s), default=_FOREVER_S)


def _held_ports(seen: Seen) -> set[HostPort]:
    if not isinstance(seen, Container) or seen.status not in {Status.RUNNING, Status.PAUSED}:
        return set()
    return {each.at for each in seen.ports}


def _in_order(ports: set[HostPort]) -> list[HostPort]:
    return sorted(ports, key=lambda each: (each[0], each[1].value))


def _own_ports(subject: Subject) -> set[HostPort]:
    return _held_ports(subject.seen).union(*(_held_ports(each.seen) for each in subject.superseded))


def names_foreign_ports(subject: Subject) -> bool:
    """Say whether a read shows a route to a port that no container of the service holds, so that another may."""
    route = subject.route
    if not isinstance(route, RouteSeen) or not route.binds:
        return False
    own = _own_ports(subject) | _NOT_HANDED_OUT
    return any(each.at not in own for each in route.binds)


def is_at_odds(subject: Subject, other: Subject, binds: Binds) -> bool:
    """Say whether both were seen to hold one port that these binds, the route of the other, name.

    No two containers can: one of the two looks is out of date.
    """
    own = _own_ports(subject)
    return any(each.at in own for each in binds) and any(each.at in own & _own_ports(other) for each in binds)


def _clashes(snapshot: Snapshot, suspects: list[Subject]) -> dict[int, Clash]:
    """Return, by the position of its subject, each clash of a suspect's route with the port of another service's container."""
    named: dict[HostPort, list[Subject]] = {}
    for each in suspects:
        for port in _in_order({bind.at for bind in facts.routed_binds(each)} - _own_ports(each) - _NOT_HANDED_OUT):
            named.setdefault(port, []).append(each)
    places = {id(each): index for index, each in enumerate(snapshot.subjects)}
    found: dict[int, Clash] = {}
    for index, holder in enumerate(snapshot.subjects):
        # A superseded container that holds the port is no reason to touch its successor.
        held, contested = _own_ports(holder), _held_ports(holder.seen) | _wanted_ports(holder)
        for port in _in_order((held | contested) & named.keys()):
            for owner in (each for each in named[port] if each is not holder):
                in_vain = evidence.failed(owner, Withdraw)
                if port in contested:
                    found.setdefault(index, Clash(port[0], owner.name, mine=False, failed=in_vain))
                if port in held:
                    found[places[id(owner)]] = Clash(port[0], holder.name, mine=True, failed=in_vain)
    return found


def _wanted_ports(subject: Subject) -> set[HostPort]:
    """Return the ports of a service that is down which a start may bring back: those on record, and one that it had to yield."""
    if subject.declared is None or services.scope(subject) is not Scope.RUNNING or not evidence.is_down(subject):
        return set()
    return {each.at for each in subject.declared.binds} | {(subject.memory.contested_port, each) for each in Protocol}
