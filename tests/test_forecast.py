"""The whole road if all goes well, as situations one after the other; and what follows where a step fails."""

import pytest
from attrs import evolve

from gordon_core.effects import (
    AwaitHealth,
    DropMarker,
    Effect,
    Forget,
    Probe,
    Publish,
    RecordFailure,
    ReleaseBinds,
    ReleaseClaims,
    Remove,
    Restart,
    Retire,
    Start,
    Stop,
    Withdraw,
)
from gordon_core.forecast import MOST_STEPS, assume, forecast, if_it_fails
from gordon_core.memory import Memory, Window
from gordon_core.observation import (
    LATEST_WALL_S,
    Bind,
    Clock,
    Exit,
    Gone,
    Health,
    HealthStatus,
    Protocol,
    RouteSeen,
    Status,
    Unread,
)
from gordon_core.planner import Plan, decide
from gordon_core.policy import PASS_CADENCE_S, Policy
from gordon_core.situations import Situation
from gordon_core.snapshot import Snapshot, Subject, Superseded
from tests.core_examples import (
    BIND,
    CLOCK,
    EARLIER,
    EXEMPLARS,
    GENERATION,
    HTTP,
    LATER,
    NOBODY,
    NOW_S,
    OLD_ID,
    STARTED,
    WEB_ID,
    attempt_on_record,
    attempted_before,
    blog,
    dark,
    deaf,
    declaring,
    down,
    good,
    having,
    host,
    made,
    probed,
    remembering,
    restarted,
    running,
    seen,
    sick,
    stopped,
    strange,
    superseding,
    unhealthy,
    unreadable,
    withdrawn_in_vain,
)

S = Situation
UP = [S.UNPROBED, S.UNREMEMBERED, S.UNROUTED]
BACK = [S.PROVING, S.RECOVERED, S.SETTLED]


def road(*mutations: object) -> list[Situation]:
    """Return what holds for the good service with mutations, plan by plan."""
    return [each.services[0].situation for each in forecast(host(good(*mutations)))]


def seconds(plans: tuple[Plan, ...]) -> list[float]:
    """Return when each plan would be made, in seconds from now."""
    return [each.clock.boot_s - NOW_S for each in plans]


@pytest.mark.parametrize("situation", Situation, ids=lambda each: each.name)
def test_every_road_ends_quietly_and_short(situation: Situation) -> None:
    """D4."""
    plans = forecast(EXEMPLARS[situation])
    assert plans[-1].is_quiet
    assert len(plans) <= 25


def test_what_is_down_comes_all_the_way_back() -> None:
    found = forecast(host(good(down)))
    assert [S.MISROUTED, S.DUE, S.DOWN, *UP, *BACK] == [each.services[0].situation for each in found]
    assert [0.0] * 7 + [300.0] * 2 == seconds(found)


def test_a_wait_is_waited_out_to_the_second() -> None:
    found = forecast(host(good(dark, down, remembering(failures=3, charged=STARTED, charged_at_s=NOW_S - 18))))
    assert [S.COOLING, S.DUE, S.DOWN, *UP, *BACK] == [each.services[0].situation for each in found]
    assert [0.0, *[42.0] * 6, *[342.0] * 2] == seconds(found)
    assert found[1].clock.wall_s == CLOCK.wall_s + 42


def test_the_roads_of_common_troubles() -> None:
    assert [S.EXPOSED, S.DUE, S.SICK, *UP, *BACK] == road(sick)
    assert [S.RELAPSED, S.EXPOSED, S.DUE, S.SICK, *UP, *BACK] == road(sick, attempted_before)
    assert [S.UNPROVEN, S.UNPROBED, S.UNROUTED, S.SETTLED] == road(having(unproven=True))
    assert [S.UNSAVED, S.UNREMEMBERED, S.UNROUTED, S.SETTLED] == road(
        dark, restarted, probed(started_at=LATER), declaring(binds=())
    )
    assert [S.REVIVED_ROUTED, S.REVIVED, S.SHUT] == road(stopped)
    assert [S.MISROUTED, S.UNRELEASED, S.UNFORGOTTEN, S.GONE] == road(seen(Gone()))
    assert [S.GONE_UNPROVEN, S.UNRELEASED, S.UNFORGOTTEN, S.GONE] == road(seen(Gone()), deaf)
    assert [S.STARTING, *UP, S.SETTLED] == road(dark, seen(running(LATER, health=Health(HealthStatus.STARTING))))
    assert [S.UNREADABLE] == road(unreadable)


def test_what_waits_for_the_next_pass_is_forecast_into_it() -> None:
    found = forecast(EXEMPLARS[S.NOT_READY])
    assert [S.NOT_READY, *UP, *BACK] == [each.services[0].situation for each in found]
    assert [0.0, *[PASS_CADENCE_S] * 4, *[PASS_CADENCE_S + 300] * 2] == seconds(found)
    assert [S.SHUT_ROUTED, S.REVIVED_ROUTED, S.SHUT] == road(stopped, down, withdrawn_in_vain, having(unproven=True))


def test_a_bind_that_is_not_handed_out_yet_has_no_number() -> None:
    effects = [
        each.effects[0] for each in forecast(host(good(dark, down, attempt_on_record, declaring(binds=())))) if each.effects
    ]
    assert Publish(GENERATION, (Bind(HTTP, 0),)) in effects


def test_a_superseded_container_goes_once_its_successor_serves() -> None:
    found = forecast(host(good(superseding, dark)))
    assert [S.AWAITING, S.AWAITING, S.OUTLIVED, S.RETIRED, S.UNCLAIMED, S.FINISHED] == [
        old.situation for each in found for old in each.superseded
    ]
    kinds = [type(effect) for each in found for effect in each.effects]
    assert [Probe, Publish, Retire, Remove, DropMarker] == [kind for kind in kinds if kind.__name__ != "ReleaseClaims"]


def test_services_that_clash_are_forecast_together() -> None:
    found = forecast(host(good(down), blog()))
    assert [S.CONTENDING, *UP, S.SETTLED] == [each.services[0].situation for each in found][:5]
    assert found[-1].is_quiet


def test_a_wait_whose_end_no_sum_reaches_ends_all_the_same() -> None:
    """The end of a wait is taken over, never added up: else rounding could make one wait out of very many."""
    clock = Clock(1e9 / 3, CLOCK.wall_s, CLOCK.boot_id)
    policy = declaring(policy=Policy(free_failures=1, ladder_s=(0.1,)))
    cooling = good(dark, down, policy, remembering(failures=1, charged_at_s=clock.boot_s))
    assert [S.COOLING, S.DUE] == [each.services[0].situation for each in forecast(Snapshot(clock, (cooling,)))][:2]


@pytest.mark.parametrize("now_s", [NOW_S + 3600, 1e308])
def test_no_road_leads_back_in_time(now_s: float) -> None:
    """A stable window that nobody has looked at for an hour is over already: the next pass looks, and no earlier one."""
    window = Window(STARTED, NOW_S - 48, NOW_S)
    road = forecast(Snapshot(evolve(CLOCK, boot_s=now_s, wall_s=1.0), (good(remembering(failures=2, window=window)),)))
    assert ["PROVING", "RECOVERED", "SETTLED"] == [each.services[0].situation.name for each in road]
    assert [now_s, now_s + PASS_CADENCE_S, now_s + PASS_CADENCE_S] == [each.clock.boot_s for each in road]


def test_a_wait_without_an_end_is_not_waited_for() -> None:
    policy = declaring(policy=Policy(free_failures=1, ladder_s=(1e308,)))
    assert [S.COOLING] == road(dark, down, policy, remembering(failures=1, charged_at_s=1e308))


def test_time_is_printed_no_later_than_it_can_be() -> None:
    clock = Clock(NOW_S, float(LATEST_WALL_S), CLOCK.boot_id)
    cooling = good(dark, down, remembering(failures=3, charged_at_s=NOW_S))
    assert float(LATEST_WALL_S) == forecast(Snapshot(clock, (cooling,)))[-1].clock.wall_s


def test_a_road_that_goes_on_for_very_long_is_cut() -> None:
    lost = tuple(f"lost{number}" for number in range(MOST_STEPS + 10))
    plans = forecast(host(good(having(orphans=lost))))
    assert (MOST_STEPS + 1, False) == (len(plans), plans[-1].is_quiet)


# --- what an effect is assumed to do -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subject", "effect", "expected"),
    [
        (good(deaf), Withdraw("shop", "web"), RouteSeen()),
        (good(deaf), Publish(GENERATION, (BIND,)), good(deaf).route),
        (good(dark), Publish(GENERATION, (BIND,)), RouteSeen((BIND,))),
    ],
)
def test_what_is_assumed_of_a_route(subject: Subject, effect: Effect, expected: object) -> None:
    assert expected == assume(subject, effect, CLOCK).route


@pytest.mark.parametrize("subject", [good(unreadable), good(seen(Gone())), made(NOBODY, seen(running()))])
@pytest.mark.parametrize("effect", [Start(GENERATION), Restart(GENERATION, 10.0)])
def test_what_is_not_there_is_not_assumed_to_start(subject: Subject, effect: Effect) -> None:
    assert subject.seen == assume(subject, effect, CLOCK).seen


@pytest.mark.parametrize("effect", [Stop(GENERATION, 10.0), AwaitHealth(GENERATION, STARTED, 30.0)])
def test_what_was_not_read_is_assumed_to_stay_so(effect: Effect) -> None:
    assert good(unreadable).seen == assume(good(unreadable), effect, CLOCK).seen


def test_a_start_is_assumed_to_be_a_new_execution_and_healthy() -> None:
    started = assume(good(seen(unhealthy(STARTED, "1"))), Start(GENERATION), CLOCK).seen
    assert (Status.RUNNING, f"assumed after {STARTED}", HealthStatus.HEALTHY) == (
        started.status, started.started_at, started.health.status,
    )  # fmt: skip


def test_claims_of_what_active_does_not_name_are_none() -> None:
    assert None is assume(NOBODY, ReleaseBinds(GENERATION), CLOCK).declared


def test_an_orphan_is_assumed_to_be_forgotten_and_its_own_container_not_an_orphan() -> None:
    subject = good(having(orphans=("a", "b")))
    assert ("b",) == assume(subject, Forget("shop", "web", "a"), CLOCK).orphans
    assert Memory() == assume(subject, Forget("shop", "web", WEB_ID), CLOCK).memory


def test_only_the_superseded_container_named_changes() -> None:
    other = Superseded("0ther", Unread("?"))
    subject = good(having(superseded=(*good(superseding).superseded, other)))
    retired = assume(subject, Retire("shop", "web", OLD_ID, 1.0), CLOCK)
    assert [strange(Status.EXITED, EARLIER, OLD_ID), Unread("?")] == [each.seen for each in retired.superseded]
    assert [other] == list(assume(subject, DropMarker("shop", "web", OLD_ID), CLOCK).superseded)
    assert other == assume(subject, Retire("shop", "web", "0ther", 1.0), CLOCK).superseded[1]


# --- what follows where a step fails -------------------------------------------------------------------------------------


def test_a_start_that_fails_is_charged_and_tried_again_in_the_next_pass() -> None:
    branch = if_it_fails(decide(good(dark, down, attempt_on_record), NOW_S), CLOCK)
    assert branch is not None
    assert (1, True, S.SPENT) == (branch.failures, branch.charged, branch.decision.situation)


def test_the_third_failure_opens_the_ladder() -> None:
    twice = remembering(failures=2, charged=EARLIER, charged_at_s=NOW_S - 10)
    branch = if_it_fails(decide(good(dark, down, attempt_on_record, twice), NOW_S), CLOCK)
    assert branch is not None
    assert (3, True, S.COOLING, NOW_S + 60) == (
        branch.failures, branch.charged, branch.decision.situation, branch.decision.until_s,
    )  # fmt: skip


def test_a_probe_that_fails_is_charged_once_for_an_execution() -> None:
    first = if_it_fails(decide(good(dark, restarted), NOW_S), CLOCK)
    charged = remembering(failures=1, charged=LATER, charged_at_s=NOW_S)
    again = if_it_fails(decide(good(dark, restarted, charged), NOW_S), CLOCK)
    assert first is not None
    assert again is not None
    assert [(1, True, S.NOT_READY), (1, False, S.NOT_READY)] == [
        (each.failures, each.charged, each.decision.situation) for each in (first, again)
    ]


def test_a_probe_that_fails_where_an_attempt_was_pending_consumes_it() -> None:
    branch = if_it_fails(decide(good(dark, restarted, remembering(attempt=evolve(_ATTEMPT, before=STARTED))), NOW_S), CLOCK)
    assert branch is not None
    assert None is branch.decision.subject.memory.attempt


_ATTEMPT = good(attempt_on_record).memory.attempt


@pytest.mark.parametrize("mutations", [(), (down,), (dark, down), (dark, restarted, probed(started_at=LATER))])
def test_a_step_that_the_workload_cannot_fail_has_no_other_road(mutations: tuple[object, ...]) -> None:
    assert None is if_it_fails(decide(good(*mutations), NOW_S), CLOCK)


def test_the_other_road_goes_on_until_the_workload_can_fail_again() -> None:
    failed = if_it_fails(decide(good(dark, sick, attempt_on_record), NOW_S), CLOCK)
    assert failed is not None
    assert (S.ILL, 1) == (failed.decision.situation, failed.failures)
    charges = [each.effect for each in failed.decision.subject.results if isinstance(each.effect, RecordFailure)]
    assert ["it failed"] == [each.reason for each in charges]


def test_a_withdrawal_changes_nothing_of_what_the_router_carries() -> None:
    tcp = having(route=RouteSeen((BIND,), (Protocol.TCP,)))
    assert RouteSeen((), (Protocol.TCP,)) == assume(good(tcp), Withdraw("shop", "web"), CLOCK).route


def test_what_has_no_health_check_has_none_after_a_start_and_no_exit() -> None:
    ended = evolve(strange(Status.EXITED), exit=Exit(137))
    begun = assume(good(dark, seen(ended)), Start(GENERATION), CLOCK).seen
    assert (Health(), None) == (begun.health, begun.exit)
    checked = evolve(ended, health=Health(HealthStatus.UNHEALTHY))
    assert Health(HealthStatus.HEALTHY) == assume(good(dark, seen(checked)), Start(GENERATION), CLOCK).seen.health


def test_released_claims_are_none() -> None:
    assert () == assume(good(superseding), ReleaseClaims("shop", "web", OLD_ID), CLOCK).superseded[0].binds


def test_a_wait_that_is_over_is_looked_at_in_the_next_pass() -> None:
    window = Window(STARTED, NOW_S - 300.0, NOW_S - 10.0)
    plans = forecast(host(good(remembering(failures=1, window=window))))
    assert [0.0, PASS_CADENCE_S] == seconds(plans)[:2]
