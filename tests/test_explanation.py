"""Every decision explains itself: by the row that held, and by what the facts of the rows above it really read."""

from collections.abc import Iterator

import pytest

from gordon_core import candidates, services, superseded
from gordon_core.explanation import Explanation, RuledOut, explain, in_words
from gordon_core.observation import Gone, Status
from gordon_core.planner import Decision, decide, decide_others, plan
from gordon_core.record import Role
from gordon_core.services import Scope
from gordon_core.situations import Situation
from gordon_core.snapshot import Subject
from tests import core_pool
from tests.core_examples import (
    EXEMPLARS,
    GOOD,
    NOBODY,
    NOW_S,
    decided,
    good,
    left_behind,
    old_seen,
    superseding,
)
from tests.tables import services_table

AXES = (
    core_pool.WANTED, core_pool.LOOKS, core_pool.ROUTES, core_pool.MEMORIES, core_pool.FORBIDDEN, core_pool.DONE_SO_FAR,
)  # fmt: skip
STRIDE, SAMPLES = 7919, 800
"""The stride is prime to the size of the pool, so that every axis is walked through."""


def sampled() -> Iterator[Subject]:
    """Yield subjects from all over the pool."""
    for start, axes in ((GOOD, AXES), (NOBODY, (core_pool.ROUTES, core_pool.FORBIDDEN))):
        for sample in range(SAMPLES if start is GOOD else 48):
            subject, left = start, sample * STRIDE
            for axis in axes:
                left, chosen = divmod(left, len(axis))
                subject = axis[chosen](subject)
            yield subject


def exemplars() -> Iterator[Decision]:
    for snapshot in EXEMPLARS.values():
        yield from plan(snapshot).decisions


def assert_explained(decision: Decision) -> None:
    """Assert that what is traced is what was decided, and that each row that did not hold says which values it read."""
    found = explain(decision, NOW_S)
    assert decision is found.decision
    assert decision.situation in {found.row.situation, Situation.BLOCKED}
    assert found.row.held
    assert not any(each.held for each in found.above)
    assert [] == [each.situation for each in found.above if not each.readings]
    assert all(each.fact for each in (*found.above, found.row))
    asked = [each.number for each in found.above]
    assert sorted([*asked, *(number for each in found.ruled_out for number in each.numbers)]) == list(range(1, found.row.number))


def test_what_is_traced_is_what_is_decided_all_over_the_pool() -> None:
    situations = set()
    for subject in sampled():
        for decision in (decide(subject, NOW_S), *decide_others(subject, NOW_S)):
            assert_explained(decision)
            situations.add(decision.situation)
    assert len(situations) > 50


@pytest.mark.parametrize("situation", EXEMPLARS, ids=lambda each: each.name)
def test_every_situation_explains_itself(situation: Situation) -> None:
    decision = decided(EXEMPLARS[situation], situation)
    assert_explained(decision)


def test_every_row_of_every_law_is_explained_by_some_exemplar() -> None:
    """Whoever adds a row adds its exemplar; nothing else needs to be done for it to explain itself."""
    found = [explain(each, NOW_S) for each in exemplars()]
    for role, law in ((Role.SERVICE, services.ROWS), (Role.SUPERSEDED, superseded.ROWS), (Role.CANDIDATE, candidates.ROWS)):
        held = {each.row.situation for each in found if each.decision.role is role}
        assert set() == {row.situation for row in law} - held


def of(situation: Situation) -> Explanation:
    return explain(decided(EXEMPLARS[situation], situation), NOW_S)


def test_the_row_that_held_says_what_it_read_in_order() -> None:
    row = of(Situation.COOLING).row
    assert "it is down or sick, and its budget is closed until a time not yet reached" == row.fact
    assert ("9, 10", True) == (row.rule, row.held)
    assert [
        ("seen.started_at", "2026-11-30T06:00:00Z"),
        ("seen.status", Status.EXITED),
        ("memory.charged_at_s", NOW_S - 228),
        ("memory.failures", 6),
        ("declared.policy.free_failures", 3),
        ("declared.policy.ladder_s[3]", 480.0),
        ("clock.boot_s", NOW_S),
    ] == [(each.path, each.value) for each in row.readings]


def test_a_row_that_did_not_hold_says_what_settled_that() -> None:
    last = {each.situation: each.readings[-1] for each in of(Situation.SETTLED).above}
    assert ("hold", None) == (last[Situation.SERVING_HELD].path, last[Situation.SERVING_HELD].value)
    assert ("memory.strikes", None) == (last[Situation.PROVING].path, last[Situation.PROVING].value)
    assert "seen.health.status" == last[Situation.SICK].path
    assert "memory.window" == last[Situation.RECOVERED].path
    assert "route.binds" == last[Situation.UNROUTED].path


def test_rows_that_ask_for_something_else_are_summed_up_in_order() -> None:
    found = of(Situation.GONE)
    assert ["for a service that ACTIVE does not name; it is to run"] == [
        each.why for each in found.ruled_out if Situation.ABSENT in each.situations
    ]
    number = 1 + [each.situation for each in services.ROWS].index(Situation.UNREADABLE)
    unread = "for a container that could not be read; it is gone"
    assert RuledOut((number,), (Situation.UNREADABLE,), unread) in found.ruled_out
    (stopped,) = [each for each in found.ruled_out if Situation.SHUT in each.situations]
    assert [each.situation for each in services.ROWS if each.scopes == (Scope.STOPPED,)] == list(stopped.situations)
    assert "for a service that is to be stopped; it is to run" == stopped.why


@pytest.mark.parametrize(
    ("situation", "why"),
    [
        (Situation.SHUT, "for a service that ACTIVE does not name; it is to be stopped"),
        (Situation.SHUT, "for a container that runs, is paused, is restarting or is in an unknown state; it is down"),
        (Situation.DUE, "for a container that is restarting or is being removed; it is down"),
    ],
)
def test_why_a_row_was_not_asked(situation: Situation, why: str) -> None:
    assert why in {each.why for each in of(situation).ruled_out}


def test_a_blocked_service_is_explained_by_the_row_whose_effect_was_tried_in_vain() -> None:
    found = of(Situation.BLOCKED)
    assert (Situation.BLOCKED, Situation.UNROUTED) == (found.decision.situation, found.row.situation)


def test_the_numbers_are_those_of_the_table_in_the_readme() -> None:
    lines = services_table().splitlines()[2:]
    for each in exemplars():
        if each.role is Role.SERVICE:
            row = explain(each, NOW_S).row
            assert lines[row.number - 1].startswith(f"| {row.number} |")
            assert f"| {row.situation.name} |" in lines[row.number - 1]


def test_other_containers_are_read_under_their_own_place() -> None:
    old = explain(decide_others(good(superseding), NOW_S)[0], NOW_S)
    (named,) = [each for each in old.above if each.situation is Situation.RECLAIMED]
    assert ["declared.container_id", "superseded[0].container_id"] == [each.path for each in named.readings]
    candidate = explain(decide_others(good(left_behind()), NOW_S)[0], NOW_S)
    (foreign,) = [each for each in candidate.above if each.situation is Situation.FOREIGN]
    assert ["candidates[0].journalled"] == [each.path for each in foreign.readings]
    gone = explain(decide_others(good(old_seen(Gone())), NOW_S)[0], NOW_S)
    assert "superseded[0].binds" == gone.row.readings[-1].path


def test_what_a_candidate_is_asked_for_of_its_service_is_read_there() -> None:
    candidate = explain(decide_others(good(left_behind()), NOW_S)[0], NOW_S)
    read = {each.situation: [it.path for it in each.readings] for each in candidate.above}
    assert ["superseded", "declared.container_id", "candidates[0].container_id"] == read[Situation.CHOSEN]
    assert ["hold"] == read[Situation.CANDIDATE_ON_HOLD]


@pytest.mark.parametrize(
    ("situation", "asks"),
    [
        (Situation.LOCKED, ""),
        (Situation.ABANDONED, "for a service that ACTIVE does not name"),
        (Situation.UNREADABLE, "for a service that is to run and for a container that could not be read"),
        (Situation.SHUT, "for a service that is to be stopped and for a container that is down or is gone"),
        (Situation.OUTLIVED, ""),
        (Situation.RETIRED, "for a container that is down"),
        (Situation.FOREIGN, ""),
        (Situation.STALE, "for a container that runs, is restarting or is paused"),
    ],
)
def test_a_row_says_for_which_services_and_containers_it_is(situation: Situation, asks: str) -> None:
    assert asks == of(situation).row.asks


def test_only_the_rows_for_services_have_a_rule() -> None:
    found = [explain(each, NOW_S) for each in exemplars()]
    rules = {role: {row.rule for each in found if each.decision.role is role for row in (*each.above, each.row)} for role in Role}
    assert ({""}, {""}) == (rules[Role.SUPERSEDED], rules[Role.CANDIDATE])
    assert "" not in rules[Role.SERVICE]


def test_a_fact_that_says_nothing_has_no_words() -> None:
    assert "" == in_words(lambda: None)


def test_a_fact_in_words_is_a_clause() -> None:
    assert "ACTIVE names it after all" == in_words(
        next(row for row in superseded.ROWS if row.situation is Situation.RECLAIMED).holds
    )
    assert "a withdrawal failed, and no read has shown more" == in_words(
        next(row for row in services.ROWS if row.situation is Situation.UNPROVEN).holds
    )
