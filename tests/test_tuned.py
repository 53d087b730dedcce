"""What an operator tunes, decided: holds, workloads that are done, and those that are only withdrawn while unhealthy."""

import pytest
from attrs import evolve

from gordon_core.effects import (
    DONE,
    DropHistory,
    Effect,
    Fault,
    Probe,
    Publish,
    RecordAttempt,
    RecordFailure,
    Refused,
    Restart,
    Retire,
    Start,
    Stop,
    StopCandidate,
    Withdraw,
)
from gordon_core.folds import did, saw
from gordon_core.forecast import forecast
from gordon_core.memory import Memory, Window
from gordon_core.observation import Clock, Container, Exit, Health, HealthStatus, Status
from gordon_core.planner import decide, plan
from gordon_core.policy import Policy, WhenUnhealthy
from gordon_core.situations import Situation
from gordon_core.snapshot import Clash, Hold, Snapshot, Subject
from tests.core_examples import (
    BOOT,
    CLOCK,
    GENERATION,
    HOLD,
    LATER,
    NOW_S,
    REFUSED_START,
    STARTED,
    WEB_ID,
    after,
    attempt_on_record,
    attempted_before,
    dark,
    deaf,
    declaring,
    down,
    ended_well,
    good,
    having,
    host,
    left_behind,
    made,
    on_hold,
    probed,
    remembering,
    restarted,
    running,
    seen,
    sick,
    stopped,
    strange,
    superseding,
    unpublished,
    until_done,
    withdrawn_when_sick,
)

OVER_S = HOLD.until_s


def decided(subject: Subject, now_s: float = NOW_S) -> tuple[Situation, type[Effect] | None]:
    decision = decide(subject, now_s)
    return decision.situation, type(decision.effect) if decision.effect is not None else None


# --- holds ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "subject",
    [
        good(dark, down, on_hold),
        good(dark, down, attempt_on_record, on_hold),
        good(dark, down, attempted_before, on_hold),
        good(sick, on_hold),
        good(dark, sick, attempt_on_record, on_hold),
        good(stopped, dark, on_hold),
        good(dark, on_hold, having(clash=Clash(32768, "blog/web", mine=False, failed=True))),
    ],
)
def test_what_is_held_is_neither_started_nor_restarted_nor_stopped_nor_charged_until_its_end(subject: Subject) -> None:
    decision = decide(subject, NOW_S)
    assert (Situation.ON_HOLD, None, OVER_S) == (decision.situation, decision.effect, decision.until_s)
    assert Situation.ON_HOLD is not decide(subject, OVER_S).situation
    assert decide(subject, OVER_S).effect is not None


def test_what_is_held_is_withdrawn_where_its_route_is_wrong() -> None:
    assert (Situation.MISROUTED, Withdraw) == decided(good(down, on_hold))
    assert (Situation.REVIVED_ROUTED, Withdraw) == decided(good(stopped, on_hold))
    contested = having(clash=Clash(32768, "blog/web", mine=False, failed=True))
    assert (Situation.CONTESTED_ROUTED, Withdraw) == decided(good(on_hold, contested))


def test_what_is_held_and_runs_is_verified_and_published() -> None:
    assert (Situation.UNPROBED, Probe) == decided(good(dark, restarted, on_hold))
    assert (Situation.UNROUTED, Publish) == decided(good(dark, probed(), on_hold))
    assert (Situation.SERVING_HELD, None) == decided(good(on_hold))
    assert (Situation.SETTLED, None) == decided(good(on_hold), OVER_S)


def test_a_held_service_that_does_not_serve_is_held_in_the_dark_and_one_that_is_stopped_is_not() -> None:
    assert decide(good(dark, down, on_hold), NOW_S).is_in_the_dark
    assert not decide(good(on_hold), NOW_S).is_held
    assert not decide(good(stopped, dark, on_hold), NOW_S).is_held


def test_neither_a_superseded_container_nor_a_candidate_of_what_is_held_is_touched() -> None:
    subject = good(superseding, left_behind(), on_hold)
    held = [(each.situation, each.effect, each.until_s) for each in plan(host(subject)).superseded]
    assert [(Situation.OLD_ON_HOLD, None, OVER_S), (Situation.CANDIDATE_ON_HOLD, None, OVER_S)] == held
    over = plan(Snapshot(evolve(CLOCK, boot_s=OVER_S), (evolve(subject, hold=HOLD),)))
    assert [Retire, StopCandidate] == [type(each.effect) for each in over.superseded]


def test_the_plan_of_an_unchanged_subject_changes_when_its_hold_is_over() -> None:
    subject = good(dark, down, superseding, on_hold)
    before = plan(Snapshot(CLOCK, (subject,)))
    later = plan(Snapshot(evolve(CLOCK, boot_s=OVER_S), (subject,)))
    assert [Situation.ON_HOLD] == [each.situation for each in before.services]
    assert [Situation.DUE] == [each.situation for each in later.services]


def test_a_window_ripens_while_it_is_held() -> None:
    window = Window(STARTED, NOW_S - 300, NOW_S)
    assert (Situation.RECOVERED, DropHistory) == decided(good(on_hold, remembering(failures=2, window=window)))
    young = good(on_hold, remembering(failures=2, window=evolve(window, since_s=NOW_S - 290)))
    first = plan(Snapshot(CLOCK, (young,)))
    assert [Situation.SERVING_HELD] == [each.situation for each in first.services]


def test_the_forecast_waits_for_the_end_of_a_hold() -> None:
    for subject in (good(dark, down, on_hold), good(superseding, on_hold)):
        plans = forecast(host(subject))
        assert OVER_S in [each.clock.boot_s for each in plans]
        assert {Situation.SETTLED} == {each.situation for each in plans[-1].services}
        assert () == plans[-1].superseded


def test_within_its_boot_a_hold_ends_by_the_time_since_boot_whatever_the_wall_clock_says() -> None:
    hold = Hold(100.0, 5000.0, BOOT, "alice", "why")
    assert hold is hold.in_force(Clock(99.0, 9000.0, BOOT))
    assert None is hold.in_force(Clock(100.0, 0.0, BOOT))


def test_in_another_boot_it_ends_by_the_wall_clock() -> None:
    hold = Hold(100.0, 5000.0, BOOT, "alice", "why")
    assert evolve(hold, until_s=310.0, boot_id="boot-2") == hold.in_force(Clock(10.0, 4700.0, "boot-2"))
    assert evolve(hold, until_s=10.5, boot_id="boot-2") == hold.in_force(Clock(10.0, 4999.5, "boot-2"))
    assert None is hold.in_force(Clock(10.0, 5000.0, "boot-2"))


@pytest.mark.parametrize("wrong", [{"who": ""}, {"reason": ""}, {"boot_id": ""}, {"until_s": -1.0}, {"until_wall_s": -1.0}])
def test_a_hold_without_a_name_a_reason_or_a_time_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        evolve(HOLD, **wrong)


# --- done ----------------------------------------------------------------------------------------------------------------


def test_what_ended_well_is_done_and_left_alone() -> None:
    assert (Situation.DONE, None) == decided(good(dark, ended_well, until_done))
    assert not decide(good(dark, ended_well, until_done), NOW_S).is_held
    assert (Situation.DUE, RecordAttempt) == decided(good(dark, ended_well))


def test_what_is_done_is_withdrawn() -> None:
    assert (Situation.MISROUTED, Withdraw) == decided(good(ended_well, until_done))
    assert (Situation.DONE_ROUTED, Withdraw) == decided(good(deaf, ended_well, until_done))
    assert (Situation.DONE, None) == decided(good(deaf, unpublished, ended_well, until_done))


def test_what_is_done_is_charged_nothing_and_its_history_goes() -> None:
    for memory in (attempted_before, remembering(failures=4, charged_at_s=NOW_S)):
        assert (Situation.DONE_REMEMBERED, DropHistory) == decided(good(dark, ended_well, until_done, memory))
    unready = good(dark, ended_well, until_done, probed(Refused("it ended", Fault.WORKLOAD)))
    assert (Situation.DONE, None) == decided(unready)


def test_what_is_done_lets_go_of_what_nothing_names() -> None:
    assert Situation.ORPHANED is decided(good(dark, ended_well, until_done, having(orphans=("lost",))))[0]


@pytest.mark.parametrize(
    "end",
    [
        Exit(1, finished_at=LATER),
        Exit(0, error="exec failed", finished_at=LATER),
        None,
    ],
)
def test_another_end_is_none(end: Exit | None) -> None:
    failed = seen(Container(WEB_ID, Status.EXITED, STARTED, exit=end))
    assert (Situation.DUE, RecordAttempt) == decided(good(dark, failed, until_done))


def test_what_was_created_and_never_started_is_not_done() -> None:
    created = seen(Container(WEB_ID, Status.CREATED, exit=Exit(0)))
    assert (Situation.DUE, RecordAttempt) == decided(good(dark, created, until_done))


def test_what_recovery_is_about_to_start_is_not_done_and_a_refused_start_is_charged() -> None:
    begun = good(dark, ended_well, until_done, attempt_on_record)
    assert (Situation.DOWN, Start) == decided(begun)
    assert (Situation.REFUSED, RecordFailure) == decided(made(begun, after(Start(GENERATION), REFUSED_START)))


def test_what_was_stopped_for_a_port_is_not_done() -> None:
    assert (Situation.DUE, RecordAttempt) == decided(good(dark, ended_well, until_done, remembering(contested_port=32768)))


def test_what_is_wanted_again_is_started_and_runs_only_once_more() -> None:
    again = good(dark, ended_well, until_done, remembering(again=True))
    assert (Situation.DUE, RecordAttempt) == decided(again)
    assert again is saw(again, CLOCK)
    up = saw(evolve(again, seen=running(LATER)), CLOCK)
    assert not up.memory.again


def test_a_stop_of_the_app_makes_what_is_done_run_again_after_it() -> None:
    shut = saw(good(stopped, dark, ended_well, until_done), CLOCK)
    assert shut.memory.again
    assert not saw(good(stopped, dark, ended_well), CLOCK).memory.again
    assert not saw(good(stopped, dark, until_done), CLOCK).memory.again


def test_a_wish_for_another_run_outlives_the_history_and_goes_with_the_container() -> None:
    again = good(dark, ended_well, until_done, remembering(again=True, failures=2))
    assert did(again, DropHistory(GENERATION), DONE, CLOCK).memory.again
    assert Memory() == saw(good(having(declared=None, memory=Memory(again=True), seen=running())), CLOCK).memory


def test_a_superseded_container_goes_once_its_unpublished_successor_is_done() -> None:
    def old(*more: object) -> Situation:
        return plan(host(good(dark, superseding, ended_well, until_done, *more))).superseded[0].situation

    assert Situation.OUTLIVED is old(unpublished)
    assert Situation.AWAITING is old()


# --- only withdrawn --------------------------------------------------------------------------------------------------------


def test_what_is_only_withdrawn_is_withdrawn_at_the_threshold_and_left_running() -> None:
    assert (Situation.SIDELINED_ROUTED, Withdraw) == decided(good(sick, withdrawn_when_sick))
    assert (Situation.SIDELINED, None) == decided(good(dark, sick, withdrawn_when_sick))
    assert (Situation.SIDELINED, None) == decided(good(dark, deaf, unpublished, sick, withdrawn_when_sick))
    assert decide(good(dark, sick, withdrawn_when_sick), NOW_S).is_held


def test_below_the_threshold_it_keeps_its_traffic() -> None:
    struck = remembering(strikes=None)
    assert Situation.WATCHED is decided(good(sick, struck, withdrawn_when_sick))[0]


def test_it_comes_back_after_a_probe_once_it_is_healthy() -> None:
    well = seen(running(health=Health(HealthStatus.HEALTHY)))
    assert (Situation.UNPROBED, Probe) == decided(good(dark, well, withdrawn_when_sick))
    assert (Situation.UNROUTED, Publish) == decided(good(dark, well, withdrawn_when_sick, probed()))


def test_a_relapse_is_charged_all_the_same_and_an_end_is_an_end() -> None:
    assert (Situation.RELAPSED, RecordFailure) == decided(good(dark, sick, withdrawn_when_sick, attempted_before))
    assert (Situation.DUE, RecordAttempt) == decided(good(dark, down, withdrawn_when_sick))


def test_what_it_is_held_or_stopped_for_wins() -> None:
    assert (Situation.SIDELINED_ROUTED, Withdraw) == decided(good(sick, withdrawn_when_sick, on_hold))
    assert (Situation.SIDELINED, None) == decided(good(dark, sick, withdrawn_when_sick, on_hold))
    assert (Situation.REVIVED, Stop) == decided(good(stopped, dark, sick, withdrawn_when_sick))
    both = declaring(policy=Policy(unhealthy=WhenUnhealthy.RESTART))
    assert (Situation.SICK, Restart) == decided(good(dark, sick, attempt_on_record, both))
    assert Situation.TRANSITIONAL is decided(good(dark, seen(strange(Status.RESTARTING)), on_hold))[0]
