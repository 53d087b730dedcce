"""The law for services: total, reachable row by row, and never against the invariants, over the cross product of subjects."""

from collections.abc import Callable
from typing import get_args

import pytest
from attrs import frozen

from gordon_core import candidates, evidence, facts
from gordon_core.effects import (
    DONE,
    CandidateEffect,
    DropHistory,
    Effect,
    Forget,
    Publish,
    RecordAttempt,
    RecordFailure,
    Restart,
    Start,
    Stop,
    SupersededEffect,
    Withdraw,
)
from gordon_core.observation import Container, RouteUnread, SeenAs, Status
from gordon_core.planner import decide, plan
from gordon_core.policy import WhenUnhealthy
from gordon_core.sentences import remedy
from gordon_core.services import NARROWED, ROWS, Row, Scope, rows, scope
from gordon_core.situations import REMEDIES, REMEDIES_IN_THE_DARK, Situation
from gordon_core.snapshot import Intent, Subject
from tests.core_examples import (
    CLOCK,
    EXEMPLARS,
    GENERATION,
    NOBODY,
    NOW_S,
    REFUSED_ROUTER,
    Mutation,
    after,
    dark,
    decided,
    down,
    good,
    having,
    remembering,
    sick,
    stopped,
    unpublished,
    withdrawn_in_vain,
)
from tests.core_pool import pool

OF_CANDIDATES = {row.situation for row in candidates.ROWS}
without_a_container = having(declared=None)
OF_SUPERSEDED = {each for each in Situation if each.name.startswith("OLD_")} | {
    Situation.RECLAIMED,
    Situation.AWAITING,
    Situation.UNCLAIMED,
    Situation.FINISHED,
    Situation.RETIRED,
    Situation.OUTLIVED,
}
WELL_WITHOUT_EFFECT = {
    Situation.LOCKED,
    Situation.IN_FLIGHT,
    Situation.SUPPLANTED,
    Situation.ABSENT,
    Situation.LEAVING,
    Situation.SHUT,
    Situation.ON_HOLD,
    Situation.SERVING_HELD,
    Situation.OLD_ON_HOLD,
    Situation.CANDIDATE_ON_HOLD,
    Situation.DONE,
    Situation.WATCHED,
    Situation.UNCONFIRMED,
    Situation.PROVING,
    Situation.SETTLED,
    Situation.OLD_HELD,
    Situation.AWAITING,
    Situation.OLD_LEAVING,
    Situation.CANDIDATE_HELD,
    Situation.CHOSEN,
    Situation.NEVER_WAS,
    Situation.FOREIGN,
    Situation.CANDIDATE_ROUTED,
    Situation.UNSELECTED,
    Situation.NAMESAKE,
    Situation.CANDIDATE_LEAVING,
}
"""No effect, and nothing that the operator could do: it is as wanted, on its way, or somebody else's."""


def _walked(subject: Subject) -> Row:
    """Return the row that holds by a walk over the whole law."""
    return next(
        row
        for row in ROWS
        if scope(subject) in row.scopes and subject.seen_as in row.looks and row.holds(subject, NOW_S)
    )  # fmt: skip


@pytest.mark.parametrize("situation", Situation, ids=lambda each: each.name)
def test_each_situation_has_an_exemplar_that_is_decided_for_it(situation: Situation) -> None:
    assert situation is decided(EXEMPLARS[situation], situation).situation


@pytest.mark.unmeasured
def test_the_narrowed_law_is_the_law(walk: "Walk") -> None:
    assert [] == walk.differing


@pytest.mark.unmeasured
def test_every_row_is_reached_by_some_subject(walk: "Walk") -> None:
    subjects = [each.subject for snapshot in EXEMPLARS.values() for each in plan(snapshot).services]
    reached = walk.reached | {id(_walked(each)) for each in subjects}
    assert [] == [row.situation.name for row in ROWS if id(row) not in reached]


@pytest.mark.parametrize("look", SeenAs, ids=lambda each: each.name)
@pytest.mark.parametrize("wanted", Scope, ids=lambda each: each.name)
def test_the_last_row_of_every_scope_and_look_always_holds(wanted: Scope, look: SeenAs) -> None:
    always = next(row.holds for row in ROWS if row.situation is Situation.ABSENT)
    assert always is NARROWED[wanted, look][-1].holds


@pytest.mark.parametrize("situation", sorted({row.situation for row in ROWS}, key=lambda each: each.name))
def test_a_situation_calls_for_one_effect_wherever_it_stands(situation: Situation) -> None:
    assert 1 == len({row.effect for row in ROWS if row.situation is situation})


def test_no_row_stands_twice_in_one_scope_and_look() -> None:
    repeated = [
        (key, row.situation.name)
        for key, rows in NARROWED.items()
        for row in rows
        if [each.situation for each in rows].count(row.situation) > 1
    ]
    assert [] == repeated


def test_what_is_held_has_a_remedy_and_no_effect() -> None:
    effectless = {row.situation for row in ROWS if row.effect is None} | {Situation.BLOCKED}
    effectless |= {each for each in OF_SUPERSEDED | OF_CANDIDATES if decided(EXEMPLARS[each], each).effect is None}
    assert set(REMEDIES) == effectless - WELL_WITHOUT_EFFECT
    assert set() == WELL_WITHOUT_EFFECT - effectless
    assert {Situation.LOCKED, Situation.IN_FLIGHT, Situation.SUPPLANTED, Situation.ON_HOLD} == set(REMEDIES_IN_THE_DARK)


# --- over the whole pool -------------------------------------------------------------------------------------------------


def _is_for_another(subject: Subject, effect: Effect) -> bool:
    own = {subject.declared.container_id} if subject.declared is not None else set()
    match effect:
        case Withdraw(app, service):
            return (app, service) != (subject.app, subject.service)
        case Forget(app, service, container_id):
            return (app, service) != (subject.app, subject.service) or container_id not in own | set(subject.orphans)
        case _:
            return effect.generation != subject.generation()


def _starts_under_a_ban(subject: Subject, effect: Effect) -> bool:
    banned = subject.intent is Intent.STOPPED or subject.inhibited or subject.unproven or subject.locked
    return isinstance(effect, Start | Restart | Publish) and bool(banned or subject.declared is None)


def _publishes_unverified(subject: Subject, effect: Effect) -> bool:
    return isinstance(effect, Publish) and not (evidence.runs(subject) and evidence.is_ready(subject))


def _publishes_what_is_not_on_record(subject: Subject, effect: Effect) -> bool:
    return isinstance(effect, Publish) and not evidence.is_on_record(subject)


def _touches_while_routed(subject: Subject, effect: Effect) -> bool:
    if not isinstance(effect, Start | Restart | Stop) or facts.is_clear(subject):
        return False
    return not (isinstance(effect, Stop) and subject.intent is Intent.STOPPED and evidence.results_of(subject, Withdraw))


def _acts_on_silence(subject: Subject, effect: Effect) -> bool:
    quiet = subject.intent is Intent.RUNNING and not (subject.unproven or subject.inhibited or subject.clash)
    return subject.declared is not None and subject.seen_as is SeenAs.UNREAD and quiet and isinstance(effect, get_args(Effect))


def _publishes_blindly(subject: Subject, effect: Effect) -> bool:
    return isinstance(effect, Publish) and isinstance(subject.route, RouteUnread)


def _starts_twice(subject: Subject, effect: Effect) -> bool:
    return isinstance(effect, Start | Restart) and evidence.was_attempted(subject)


def _starts_before_its_time(subject: Subject, effect: Effect) -> bool:
    return isinstance(effect, Start | Restart) and evidence.retry_at_s(subject) > NOW_S


def _touches_what_is_not_of_the_service(_subject: Subject, effect: Effect) -> bool:
    return isinstance(effect, get_args(SupersededEffect) + get_args(CandidateEffect))


def _touches_what_is_held(subject: Subject, effect: Effect) -> bool:
    return isinstance(effect, Start | Restart | Stop) and subject.hold is not None


def _has_ended_for_good(subject: Subject) -> bool:
    seen, declared = subject.seen, subject.declared
    if not isinstance(seen, Container) or declared is None or not declared.policy.exit_0_is_done:
        return False
    attempt = subject.memory.attempt
    started = attempt is not None and attempt.before == seen.started_at
    return seen.status is Status.EXITED and seen.exit is not None and seen.exit.code == 0 and not started


def _goes_on_with_what_is_done(subject: Subject, effect: Effect) -> bool:
    return isinstance(effect, RecordAttempt | Start | RecordFailure) and _has_ended_for_good(subject)


def _restarts_what_is_only_withdrawn(subject: Subject, effect: Effect) -> bool:
    declared = subject.declared
    return isinstance(effect, Restart) and declared is not None and declared.policy.unhealthy is WhenUnhealthy.WITHDRAW


INVARIANTS: dict[str, Callable[[Subject, Effect], bool]] = {
    "an effect is for the exact generation, or for a container that the store names": _is_for_another,
    "P1: published only after readiness in this pass": _publishes_unverified,
    "P2: touched only after a proven withdrawal": _touches_while_routed,
    "P3, P6: no start and no publication under a ban": _starts_under_a_ban,
    "P4: published only after its binds are on record": _publishes_what_is_not_on_record,
    "P7: a failed read changes nothing": _acts_on_silence,
    "router: nothing is published blindly": _publishes_blindly,
    "one pass: one attempt": _starts_twice,
    "B2: no attempt before its time": _starts_before_its_time,
    "a service calls for its own effects only": _touches_what_is_not_of_the_service,
    "T1: what is on hold is not touched": _touches_what_is_held,
    "T2: what is done is neither started nor charged": _goes_on_with_what_is_done,
    "T3: what is only withdrawn is not restarted": _restarts_what_is_only_withdrawn,
}


@frozen
class Walk:
    """What one walk over the pool found: subjects for which the narrowed law differs, rows that held, and broken invariants.

    `dark` are those that are to run, are served by nobody, and of which a plan would say neither that something is done nor that
    somebody could help.
    """

    differing: list[Subject]
    reached: set[int]
    broken: dict[str, list[Subject]]
    dark: list[Subject]


@pytest.fixture(scope="module")
def walk() -> Walk:
    found = Walk([], set(), {each: [] for each in INVARIANTS}, [])
    for subject in pool():
        row = _walked(subject)
        found.reached.add(id(row))
        if row is not next(each for each in rows(subject) if each.holds(subject, NOW_S)):
            found.differing.append(subject)
        decision = decide(subject, NOW_S)
        effect = decision.effect
        is_quiet = effect is None and not decision.is_held and not _has_ended_for_good(subject)
        if is_quiet and scope(subject) is Scope.RUNNING and not _is_served(subject):
            found.dark.append(subject)
        for name, breaks in INVARIANTS.items() if effect is not None else ():
            if breaks(subject, effect):
                found.broken[name].append(subject)
    return found


def _is_served(subject: Subject) -> bool:
    """Tell whether requests reach it; one that is unhealthy below the threshold is watched, and serves."""
    return evidence.is_verified(subject) and (facts.is_routed(subject) or not facts.is_published(subject))


def test_whatever_is_to_run_and_serves_nobody_is_acted_on_or_held(walk: Walk) -> None:
    assert [] == walk.dark


@pytest.mark.parametrize("passed_over", [having(locked="by a deploy"), having(in_flight="stop it")])
def test_what_is_passed_over_is_held_where_it_is_to_run_and_does_not_serve(passed_over: Mutation) -> None:
    def held(*mutations: Mutation) -> tuple[bool, bool]:
        decision = decide(good(passed_over, *mutations), NOW_S)
        return decision.is_held, bool(remedy(decision, CLOCK))

    assert [(False, False)] * 4 == [held(), held(unpublished, dark), held(stopped, down), held(without_a_container)]
    assert [(True, True)] * 4 == [held(down), held(dark), held(unpublished, down), held(sick)]


@pytest.mark.parametrize("invariant", INVARIANTS)
def test_no_subject_gets_an_effect_against_an_invariant(walk: Walk, invariant: str) -> None:
    assert [] == walk.broken[invariant]


def test_a_stop_goes_ahead_under_stopped_intent_although_the_route_could_not_be_withdrawn() -> None:
    """Also where the router says that it withdrew, and then shows the route again: the workload must not run on for that."""
    for outcome in (DONE, REFUSED_ROUTER):
        subject = good(stopped, after(Withdraw("shop", "web"), outcome))
        assert Stop(GENERATION, 10.0) == decide(subject, NOW_S).effect


def test_history_is_dropped_under_stopped_intent_although_the_route_could_not_be_withdrawn() -> None:
    subject = good(stopped, down, withdrawn_in_vain, having(unproven=True), remembering(failures=2))
    assert DropHistory(GENERATION) == decide(subject, NOW_S).effect


def test_an_unpublished_service_is_never_left_routed() -> None:
    decision = decide(good(unpublished), NOW_S)
    assert (Situation.MISROUTED, Withdraw("shop", "web")) == (decision.situation, decision.effect)


def test_the_scope_of_a_service_is_what_is_wanted_of_it() -> None:
    assert (Scope.ABSENT, Scope.RUNNING, Scope.STOPPED) == (scope(NOBODY), scope(good()), scope(good(stopped)))
