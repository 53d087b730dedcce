"""The law for superseded containers: total, reachable row by row, and never at the cost of what still serves."""

import pytest
from attrs import evolve

from gordon_core import superseded
from gordon_core.effects import DropMarker, Fault, Refused, ReleaseClaims, Remove, Retire, Withdraw
from gordon_core.observation import Gone, SeenAs, Status
from gordon_core.planner import decide_superseded, plan
from gordon_core.situations import Situation
from gordon_core.snapshot import Subject, Superseded
from tests.core_examples import (
    EARLIER,
    EXEMPLARS,
    NOBODY,
    NOW_S,
    OLD,
    OLD_BIND,
    OLD_ID,
    Mutation,
    after,
    ailing,
    dark,
    deaf,
    gone,
    good,
    having,
    host,
    made,
    old_seen,
    restarted,
    routed,
    running,
    sick,
    stopped,
    strange,
    superseding,
    unpublished,
    unreadable,
)


def _decided(subject: Subject) -> tuple[Situation, object]:
    decision = decide_superseded(subject.superseded[0], subject, NOW_S)
    return decision.situation, decision.effect


@pytest.mark.parametrize("look", SeenAs, ids=lambda each: each.name)
def test_the_last_row_of_every_look_always_holds(look: SeenAs) -> None:
    rows = [row for row in superseded.ROWS if look in row.looks]
    assert Situation.OUTLIVED is rows[-1].situation
    assert superseded.ROWS[2].holds is rows[-1].holds


@pytest.mark.parametrize("row", superseded.ROWS, ids=lambda each: each.situation.name)
def test_every_row_is_reached_by_its_exemplar(row: superseded.Row) -> None:
    decisions = plan(EXEMPLARS[row.situation]).superseded
    assert [row.situation] == [each.situation for each in decisions]


def test_every_situation_of_a_superseded_container_stands_in_one_row() -> None:
    assert len(superseded.ROWS) == len({each.situation for each in superseded.ROWS})


def test_it_goes_step_by_step_once_its_successor_serves() -> None:
    steps = [
        _decided(each)
        for each in (
            good(superseding),
            good(old_seen(strange(Status.EXITED, EARLIER, OLD_ID))),
            good(old_seen(Gone())),
            good(old_seen(Gone(), binds=())),
        )
    ]
    assert [
        (Situation.OUTLIVED, Retire("shop", "web", OLD_ID, 20.0)),
        (Situation.RETIRED, Remove("shop", "web", OLD_ID)),
        (Situation.UNCLAIMED, ReleaseClaims("shop", "web", OLD_ID)),
        (Situation.FINISHED, DropMarker("shop", "web", OLD_ID)),
    ] == steps


@pytest.mark.parametrize(
    "mutation",
    [
        pytest.param(dark, id="not routed"),
        pytest.param(routed(OLD_BIND), id="not published yet"),
        pytest.param(deaf, id="router not read"),
        pytest.param(restarted, id="not verified"),
        pytest.param(unreadable, id="not read"),
        pytest.param(gone, id="gone"),
        pytest.param(ailing, id="unhealthy"),
        pytest.param(sick, id="sick"),
        pytest.param(having(unproven=True), id="a withdrawal is unproven"),
    ],
)
def test_a_successor_that_does_not_serve_never_costs_the_working_generation(mutation: Mutation) -> None:
    """P5."""
    assert (Situation.AWAITING, None) == _decided(good(superseding, mutation))


@pytest.mark.parametrize("look", [Status.RUNNING, Status.PAUSED, Status.RESTARTING, Status.UNKNOWN], ids=lambda each: each.value)
def test_whatever_lives_is_stopped(look: Status) -> None:
    assert Retire("shop", "web", OLD_ID, 20.0) == _decided(good(old_seen(strange(look, EARLIER, OLD_ID))))[1]


def test_it_goes_without_a_successor_where_none_is_wanted() -> None:
    retire = Retire("shop", "web", OLD_ID, 20.0)
    assert retire == _decided(good(stopped, dark, superseding))[1]
    assert retire == _decided(made(NOBODY, superseding))[1]
    assert retire == _decided(good(unpublished, dark, superseding))[1]


@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(made(NOBODY, superseding, routed(OLD_BIND)), id="routed, not in ACTIVE"),
        pytest.param(made(NOBODY, superseding, deaf), id="router not read"),
        pytest.param(
            made(NOBODY, old_seen(running(EARLIER, 32700, OLD_ID), binds=()), deaf), id="not read, known by its verified binds"
        ),
        pytest.param(good(stopped, superseding, routed(OLD_BIND)), id="routed, stopped"),
        pytest.param(good(stopped, superseding, dark, having(unproven=True)), id="unproven"),
        pytest.param(good(unpublished, superseding, routed(OLD_BIND)), id="unpublished successor, not withdrawn yet"),
        pytest.param(good(unpublished, superseding, deaf), id="unpublished successor, router not read"),
    ],
)
def test_it_is_kept_until_the_route_to_it_is_proven_gone(subject: Subject) -> None:
    """P2."""
    assert (Situation.OLD_ROUTED, None) == _decided(subject)


def test_a_withdrawal_that_was_read_back_is_proof_while_the_router_cannot_be_read() -> None:
    subject = good(stopped, superseding, deaf, after(Withdraw("shop", "web")))
    assert (Situation.OUTLIVED, Retire("shop", "web", OLD_ID, 20.0)) == _decided(subject)


def test_what_has_neither_claims_nor_a_verified_execution_was_never_routed() -> None:
    old = Superseded(OLD_ID, running(EARLIER, 32700, OLD_ID))
    assert Situation.OUTLIVED is _decided(made(NOBODY, having(superseded=(old,)), deaf))[0]


@pytest.mark.parametrize(
    "mutation",
    [
        having(locked="its app is locked by pid 1"),
        having(in_flight="start it"),
        after(Retire("shop", "web", OLD_ID, 20.0), Refused("409: it is being removed", Fault.ENGINE)),
    ],
)
def test_nothing_is_done_to_it_for_now(mutation: Mutation) -> None:
    assert None is _decided(good(superseding, mutation))[1]


def test_whatever_fails_leaves_the_marker_and_the_other_superseded_containers_alone() -> None:
    other = evolve(OLD, container_id="0ther0ther0the")
    subject = good(having(superseded=(OLD, other)), after(Retire("shop", "web", OLD_ID, 20.0), Refused("no", Fault.ENGINE)))
    assert [(Situation.BLOCKED, None), (Situation.OUTLIVED, Retire("shop", "web", "0ther0ther0the", 20.0))] == [
        (each.situation, each.effect) for each in plan(host(subject)).superseded
    ]


def test_a_container_that_active_names_after_all_is_kept() -> None:
    subject = good(having(superseded=(evolve(OLD, container_id="3f2a9c1b7d4e00"),)), dark)
    assert (Situation.RECLAIMED, DropMarker("shop", "web", "3f2a9c1b7d4e00")) == _decided(subject)


def test_what_was_refused_is_said_of_the_container_that_it_was_refused_of() -> None:
    subject = good(superseding, after(Retire("shop", "web", OLD_ID, 20.0), Refused("no", Fault.ENGINE)))
    decision = decide_superseded(subject.superseded[0], subject, NOW_S)
    assert (subject, Situation.BLOCKED, subject.superseded[0]) == (decision.subject, decision.situation, decision.old)


def test_while_the_router_cannot_be_read_each_sign_of_a_route_counts_by_itself() -> None:
    """P2: its successor is to be routed, or it has claims, or it was verified at binds."""
    bare = having(superseded=(Superseded(OLD_ID, running(EARLIER, 32700, OLD_ID)),))
    claiming = having(superseded=(Superseded(OLD_ID, running(EARLIER, 32700, OLD_ID), binds=(OLD_BIND,)),))
    assert Situation.OLD_ROUTED is _decided(good(stopped, deaf, bare))[0]
    assert Situation.OLD_ROUTED is _decided(good(stopped, unpublished, deaf, claiming))[0]
    assert Situation.OUTLIVED is _decided(good(stopped, unpublished, deaf, bare))[0]
