"""The law for candidates: the truth table of interrupted deploys, row by row, and what is better than the reference."""

import pytest
from attrs import evolve
from hypothesis import given, settings

from gordon_core import candidates, facts
from gordon_core.effects import DropCandidate, Fault, Refused, RemoveCandidate, Start, StopCandidate, Unknown, Withdraw
from gordon_core.forecast import assume, forecast
from gordon_core.observation import Bind, Container, Gone, SeenAs, Status, Unread
from gordon_core.planner import decide, decide_candidate, plan
from gordon_core.record import Role
from gordon_core.situations import Situation
from gordon_core.snapshot import Candidate, Intent, NamedAs, Snapshot, Subject
from tests.core_examples import (
    BIND,
    EXEMPLARS,
    GENERATION,
    HTTP,
    LATER,
    NEW_ID,
    NOBODY,
    NOW_S,
    OLD_ID,
    REFUSED_ROUTER,
    SILENT,
    WEB_ID,
    Mutation,
    after,
    attempt_on_record,
    dark,
    deaf,
    down,
    gone,
    good,
    having,
    host,
    left_behind,
    made,
    new_down,
    routed,
    running,
    seen,
    sick,
    stopped,
    strange,
    superseding,
    unjournalled,
    unpublished,
    unreadable,
)
from tests.strategies import subjects

STOP = StopCandidate("shop", "web", NEW_ID, 10.0)
REMOVE = RemoveCandidate("shop", "web", NEW_ID)
DROP = DropCandidate("shop", "web", NEW_ID)
NO_ANSWER = Unknown(SILENT)
selected_is_down = down
"""ACTIVE names a container, and it was not seen alive: it does not count as selected."""


def decided(subject: Subject) -> tuple[Situation, object]:
    """Return what holds for the candidate of a subject, and the effect."""
    decision = decide_candidate(subject.candidates[0], subject, NOW_S)
    return decision.situation, decision.effect


def effect_of(*mutations: Mutation) -> object:
    """Return what is done about the candidate of the good subject with mutations."""
    return decided(good(*mutations))[1]


def found(named: NamedAs, status: Status) -> Mutation:
    """Let a container of an earlier deploy, which no journal knows, bear one of the names."""
    look = running(LATER, 32800, NEW_ID) if status is Status.RUNNING else strange(status, LATER, NEW_ID)
    return left_behind(look, named=named, journalled=False)


NAMED = [NamedAs.CANONICAL, NamedAs.TEMPORARY]
ALIVE = [Status.RUNNING, Status.RESTARTING]
NOT_ALIVE = [Status.CREATED, Status.EXITED, Status.DEAD, Status.STOPPED]


# --- the truth table -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("is_selected", "named", "statuses", "expected"),
    [
        pytest.param(False, NAMED, ALIVE, None, id="not selected, any name, alive: keep"),
        pytest.param(False, NAMED, NOT_ALIVE, REMOVE, id="not selected, any name, not alive: remove"),
        pytest.param(False, NAMED, [Status.PAUSED], STOP, id="not selected, any name, paused: stop, remove"),
        pytest.param(True, [NamedAs.CANONICAL], ALIVE, None, id="selected, canonical, alive: keep"),
        pytest.param(True, [NamedAs.TEMPORARY], ALIVE, STOP, id="selected, temporary, alive: stop, remove"),
        pytest.param(True, NAMED, NOT_ALIVE, REMOVE, id="selected, any name, not alive: remove"),
        pytest.param(True, NAMED, [Status.PAUSED], STOP, id="selected, any name, paused: stop, remove"),
    ],
)
def test_the_truth_table(is_selected: bool, named: list[NamedAs], statuses: list[Status], expected: object) -> None:  # noqa: FBT001 - a column
    """What is down needs no stop, since it is removed by force."""
    selected = having() if is_selected else selected_is_down
    outcomes = [effect_of(selected, found(name, status), dark) for name in named for status in statuses]
    assert [expected] * len(outcomes) == outcomes


@pytest.mark.parametrize("status", Status, ids=lambda each: each.value)
@pytest.mark.parametrize("selected", [having(), selected_is_down], ids=["selected", "not selected"])
def test_a_container_with_another_name_is_never_touched(status: Status, selected: Mutation) -> None:
    """Neither journal nor label speaks of it."""
    other = left_behind(strange(status, LATER, NEW_ID), named=NamedAs.OTHER, owned=False, journalled=False)
    assert None is effect_of(selected, other)


@pytest.mark.parametrize(
    "selected", [unreadable, gone, down, seen(strange(Status.PAUSED))], ids=["unread", "gone", "down", "paused"]
)
def test_who_is_not_seen_alive_is_not_selected(selected: Mutation) -> None:
    """A dead record never costs the one container that serves."""
    assert (Situation.UNSELECTED, None) == decided(good(selected, unjournalled, dark))


def test_without_a_record_nothing_is_selected() -> None:
    assert (Situation.UNSELECTED, None) == decided(made(NOBODY, unjournalled))


def test_what_is_routed_is_never_a_leftover_whatever_its_name() -> None:
    """C2."""
    there = routed(Bind(HTTP, 32800))
    for each in (unjournalled, left_behind(), left_behind(evolve(running(LATER, 32800, NEW_ID), status=Status.PAUSED))):
        assert (Situation.CANDIDATE_ROUTED, None) == decided(good(each, there))
    assert STOP == effect_of(unjournalled, routed(BIND))


def test_what_active_or_a_marker_names_is_never_a_leftover() -> None:
    """C2."""
    chosen = left_behind(running(), container_id=WEB_ID, journalled=False)
    assert (Situation.CHOSEN, None) == decided(good(chosen))
    superseded = left_behind(container_id=OLD_ID, journalled=True)
    assert (Situation.PROMOTED, DropCandidate("shop", "web", OLD_ID)) == decided(good(superseding, superseded))


def test_an_unlabelled_container_that_merely_bears_the_name_is_reported() -> None:
    foreign = left_behind(owned=False, journalled=False)
    assert [(Situation.FOREIGN, None)] * 2 == [decided(good(foreign)), decided(good(selected_is_down, foreign))]
    assert STOP == effect_of(left_behind(owned=False)), "the journal knows it"


# --- what the journal knows ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("selected", [having(), down, gone, unreadable], ids=["serves", "down", "gone", "unread"])
def test_what_stands_in_the_journal_was_never_what_serves(selected: Mutation) -> None:
    assert STOP == effect_of(selected, left_behind(named=NamedAs.CANONICAL), dark)


def test_it_goes_step_by_step() -> None:
    steps = [each.superseded[0].effect for each in forecast(host(good(left_behind()))) if each.superseded]
    assert [STOP, REMOVE, DROP, None] == steps if len(steps) == 4 else [STOP, REMOVE, DROP] == steps


def test_a_stop_that_failed_does_not_keep_the_removal_from_being_tried() -> None:
    for outcome in (NO_ANSWER, Refused("no", Fault.ENGINE)):
        assert (Situation.STUBBORN, REMOVE) == decided(good(left_behind(), after(STOP, outcome)))
    other = StopCandidate("shop", "web", OLD_ID, 10.0)
    assert STOP == effect_of(left_behind(), after(other, NO_ANSWER)), "that was another one"


def test_a_removal_that_failed_is_tried_in_the_next_pass_and_stops_no_other() -> None:
    first, second = left_behind(new_down)(good()).candidates[0], Candidate(OLD_ID, strange(Status.EXITED, LATER, OLD_ID))
    subject = good(having(candidates=(first, second)), after(REMOVE, Refused("it is busy", Fault.ENGINE)))
    decisions = plan(host(subject)).superseded
    assert [("shop/web", first), ("shop/web", second)] == [(each.subject.name, each.old) for each in decisions]
    assert [(Situation.BLOCKED, None), (Situation.LEFT_DOWN, RemoveCandidate("shop", "web", OLD_ID))] == [
        (each.situation, each.effect) for each in decisions
    ]


@pytest.mark.parametrize(("grace_s", "expected"), [(5.0, 5.0), (20.0, 20.0), (300.0, 20.0)])
def test_a_stop_and_a_removal_share_thirty_seconds(grace_s: float, expected: float) -> None:
    """C1."""
    assert evolve(STOP, grace_s=expected) == effect_of(left_behind(stop_grace_s=grace_s))


# --- silence -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("look", [Unread(SILENT), strange(Status.UNKNOWN, LATER, NEW_ID)], ids=["unread", "unknown"])
def test_what_could_not_be_read_is_kept(look: Container | Unread) -> None:
    assert (Situation.CANDIDATE_UNREAD, None) == decided(good(left_behind(look)))


def test_what_runs_without_a_start_time_runs() -> None:
    assert STOP == effect_of(left_behind(running("", 32800, NEW_ID)))
    assert SeenAs.RUNNING is candidates.look(Candidate(NEW_ID, running("", 32800, NEW_ID)))


def test_while_the_router_cannot_be_read_whatever_may_have_been_published_is_kept() -> None:
    """P2: also what the journal names, since a deploy that went back wrote it down again after it was published."""
    for each in (unjournalled, left_behind()):
        assert (Situation.CANDIDATE_ROUTED, None) == decided(good(each, deaf))
        assert STOP == effect_of(each, deaf, after(Withdraw("shop", "web")))
        assert None is effect_of(each, deaf, after(Withdraw("shop", "web"), REFUSED_ROUTER))
    assert STOP == effect_of(left_behind(), deaf, unpublished)
    assert REMOVE == effect_of(left_behind(new_down), deaf), "what is down serves nobody"


@pytest.mark.parametrize(
    "mutation", [having(locked="its app is locked by pid 1"), having(in_flight="start it")], ids=["locked", "in flight"]
)
def test_nothing_is_done_to_it_for_now(mutation: Mutation) -> None:
    assert (Situation.CANDIDATE_HELD, None) == decided(good(left_behind(), mutation))


def test_it_goes_also_where_the_app_is_to_be_stopped() -> None:
    assert STOP == effect_of(stopped, left_behind())


# --- where nothing may run beside it -------------------------------------------------------------------------------------


def test_nothing_is_started_beside_a_candidate_that_may_run() -> None:
    for look in (running(LATER, 32800, NEW_ID), Unread(SILENT), strange(Status.PAUSED, LATER, NEW_ID)):
        subject = good(dark, down, attempt_on_record, left_behind(look, exclusive=True))
        assert (Situation.EXCLUDED, None) == (decide(subject, NOW_S).situation, decide(subject, NOW_S).effect)
    assert Situation.EXCLUDED is decide(good(dark, sick, left_behind(exclusive=True)), NOW_S).situation


@pytest.mark.parametrize(
    "mutation",
    [left_behind(), left_behind(new_down, exclusive=True), left_behind(Gone(), exclusive=True)],
    ids=["both may run", "it is down", "it is gone"],
)
def test_it_is_started_once_nothing_keeps_it_from_running(mutation: Mutation) -> None:
    assert Start(GENERATION) == decide(good(dark, down, attempt_on_record, mutation), NOW_S).effect


def test_what_is_served_is_not_held_up_by_it() -> None:
    assert not facts.is_excluded(good(left_behind(exclusive=True)))


def test_what_nothing_may_run_beside_goes_first() -> None:
    subject = good(dark, left_behind(exclusive=True))
    assert isinstance(plan(host(subject)).effects[0], StopCandidate)
    assert not isinstance(plan(host(good(dark, left_behind()))).effects[0], StopCandidate)
    road = [each.services[0].situation for each in forecast(host(good(dark, down, left_behind(exclusive=True))))]
    assert [Situation.EXCLUDED, Situation.DUE, Situation.DOWN] == road[:3]


# --- the table -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", candidates.ROWS, ids=lambda each: each.situation.name)
def test_every_row_is_reached_by_its_exemplar(row: candidates.Row) -> None:
    decisions = [each for each in plan(EXEMPLARS[row.situation]).superseded if each.role is Role.CANDIDATE]
    assert [row.situation] == [each.situation for each in decisions]


def test_every_situation_of_a_candidate_stands_in_one_row() -> None:
    assert len(candidates.ROWS) == len({each.situation for each in candidates.ROWS})


@pytest.mark.parametrize("look", SeenAs, ids=lambda each: each.name)
def test_the_last_row_of_every_look_always_holds(look: SeenAs) -> None:
    always = candidates.ROWS[-1].holds
    assert Situation.CANDIDATE_LEAVING is candidates.ROWS[-1].situation
    assert any(row.holds is always for row in candidates.ROWS if look in row.looks)


@pytest.mark.parametrize("row", candidates.ROWS, ids=lambda each: each.situation.name)
@pytest.mark.parametrize("look", [Gone(), Unread(SILENT)], ids=["gone", "unread"])
def test_every_question_has_an_answer_also_where_there_is_no_container(row: candidates.Row, look: Gone | Unread) -> None:
    subject = good(left_behind(look))
    assert row.holds(subject.candidates[0], subject, NOW_S) in {True, False}


@pytest.mark.unmeasured
@settings(deadline=None)
@given(subjects())
def test_no_candidate_gets_an_effect_against_an_invariant(subject: Subject) -> None:
    """C2, and silence is no evidence, over whatever the types allow."""
    named = {each.container_id for each in subject.superseded}
    named |= {subject.declared.container_id} if subject.declared is not None else set()
    at = {each.at for each in facts.routed_binds(subject)}
    for candidate in subject.candidates:
        decision = decide_candidate(candidate, subject, NOW_S)
        assert Role.CANDIDATE is decision.role
        if isinstance(decision.effect, StopCandidate | RemoveCandidate):
            assert candidate.container_id == decision.effect.container_id
            assert candidate.container_id not in named
            assert isinstance(candidate.seen, Container)
            assert candidate.owned or candidate.journalled
            is_up = candidate.seen.status in {Status.RUNNING, Status.RESTARTING, Status.PAUSED}
            assert not (is_up and at & {each.at for each in candidate.seen.ports})
            assert not subject.locked


@pytest.mark.unmeasured
@settings(deadline=None)
@given(subjects())
def test_a_forecast_with_candidates_is_finite(subject: Subject) -> None:
    """D4."""
    assert forecast(Snapshot(EXEMPLARS[Situation.STALE].clock, (subject,)))[-1].is_quiet


def test_a_journal_entry_of_what_is_kept_is_all_that_a_forecast_takes_away() -> None:
    subject = good(left_behind(running(), container_id=WEB_ID))
    last = forecast(host(subject))[-1]
    assert [(Situation.CHOSEN, False)] == [(each.situation, getattr(each.old, "journalled", None)) for each in last.superseded]
    assert Intent.RUNNING is last.services[0].subject.intent


def test_a_forecast_clears_one_at_a_time() -> None:
    first, second = left_behind(new_down)(good()).candidates[0], Candidate(OLD_ID, strange(Status.EXITED, LATER, OLD_ID))
    after_it = assume(good(having(candidates=(first, second))), REMOVE, host(good()).clock)
    assert [Gone(), second.seen] == [each.seen for each in after_it.candidates]


def test_what_is_gone_and_out_of_the_journal_is_forgotten() -> None:
    assert () == forecast(host(good(left_behind(Gone()))))[-1].superseded


def test_a_candidate_stands_once() -> None:
    with pytest.raises(ValueError, match="each candidate once; repeated: c4nd1da7ec4n00"):
        good(having(candidates=good(left_behind()).candidates * 2))
