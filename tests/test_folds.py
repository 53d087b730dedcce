"""Memory as pure folds: what a look and what an outcome add to it, and what they leave alone."""

from collections.abc import Callable

import pytest
from attrs import evolve

from gordon_core import evidence
from gordon_core.effects import (
    DONE,
    AwaitHealth,
    Cause,
    DropHistory,
    DropMarker,
    Effect,
    Fault,
    Forget,
    Outcome,
    PersistBinds,
    Probe,
    Publish,
    RecordAttempt,
    RecordFailure,
    RecordVerified,
    Refused,
    ReleaseBinds,
    ReleaseClaims,
    Remove,
    Restart,
    Result,
    Retire,
    Start,
    Stop,
    Unknown,
    Withdraw,
)
from gordon_core.folds import did, rearmed, recalled, saw
from gordon_core.memory import NOTHING, Attempt, Memory, Strikes, Verified, Window
from gordon_core.observation import Clock, Health, HealthStatus, ProbeResult, Status
from gordon_core.planner import decide
from gordon_core.policy import Policy
from gordon_core.situations import Situation
from gordon_core.snapshot import Subject
from tests.core_examples import (
    BIND,
    BOOT,
    CLOCK,
    GENERATION,
    GOOD,
    LATER,
    LOST_ID,
    MEMORY,
    NOBODY,
    NOW_S,
    OLD_ID,
    REFUSED_ROUTER,
    REFUSED_START,
    SILENT,
    STARTED,
    WEB_ID,
    ailing,
    attempted_before,
    dark,
    deaf,
    declaring,
    gone,
    good,
    having,
    made,
    remembering,
    restarted,
    running,
    seen,
    sick,
    stopped,
    strange,
    struck_once,
    struck_out,
    unhealthy,
    unreadable,
    without_memory,
)

HEALTHY = Health(HealthStatus.HEALTHY)
TIMED_OUT = ProbeResult("06:59", -1, "Health check exceeded timeout (1s)")
FULL_DISK = Refused("database or disk is full", Fault.STORE)


def at(boot_s: float) -> Clock:
    """Return an instant of the same boot."""
    return evolve(CLOCK, boot_s=boot_s)


def count_of(subject: Subject) -> int:
    """Return how many strikes are remembered after a look at it."""
    strikes = saw(subject, CLOCK).memory.strikes
    return strikes.count if strikes is not None else 0


# --- what a look adds ------------------------------------------------------------------------------------------------------


def test_a_look_at_what_did_not_change_hands_the_same_subject_back() -> None:
    """B5 and L5: a generation without trouble gets no history, and costs nothing."""
    for subject in (GOOD, good(dark), good(gone), good(unreadable), NOBODY):
        assert subject is saw(subject, CLOCK)


@pytest.mark.parametrize("foreign", [having(locked="its app is locked by pid 1"), having(in_flight="start it")])
def test_a_look_at_what_is_not_ours_is_not_remembered(foreign: Callable[[Subject], Subject]) -> None:
    subject = good(ailing, having(unproven=True), dark, foreign)
    assert subject is saw(subject, CLOCK)


def test_a_new_failed_result_of_this_execution_is_a_strike() -> None:
    once = saw(good(ailing), CLOCK)
    assert Strikes(STARTED, 1, "06:58") == once.memory.strikes
    assert BOOT == once.memory.boot_id
    twice = saw(evolve(once, seen=unhealthy(STARTED, "06:58", "06:59")), CLOCK)
    assert Strikes(STARTED, 2, "06:59") == twice.memory.strikes


def test_one_and_the_same_result_is_a_strike_once_however_often_it_is_seen() -> None:
    """R13 and B3."""
    once = saw(good(ailing), CLOCK)
    assert once is saw(once, CLOCK)


def test_a_look_counts_one_strike_at_most() -> None:
    assert 1 == count_of(good(seen(unhealthy(STARTED, "06:57", "06:58", "06:59"))))


@pytest.mark.parametrize(
    ("health", "expected"),
    [
        pytest.param(Health(HealthStatus.UNHEALTHY), 1, id="unhealthy without a result"),
        pytest.param(Health(HealthStatus.UNHEALTHY, 0, (ProbeResult("06:59", 1),)), 1, id="results of an earlier execution"),
        pytest.param(Health(HealthStatus.UNHEALTHY, 1, (ProbeResult("06:59", -1, "no exec"),)), 1, id="no exec was created"),
        pytest.param(Health(HealthStatus.UNHEALTHY, 1, (TIMED_OUT,)), 2, id="a check that timed out"),
        pytest.param(Health(HealthStatus.STARTING), 1, id="starting"),
        pytest.param(Health(HealthStatus.UNREAD), 1, id="not read"),
        pytest.param(Health(HealthStatus.HEALTHY), 0, id="healthy clears"),
        pytest.param(Health(HealthStatus.NONE), 0, id="no health check any more"),
    ],
)  # fmt: skip
def test_what_is_a_strike_and_what_clears_them(health: Health, expected: int) -> None:
    assert expected == count_of(good(struck_once, seen(running(health=health))))


@pytest.mark.parametrize("look", [Status.PAUSED, Status.RESTARTING, Status.EXITED], ids=lambda each: each.value)
def test_strikes_are_frozen_while_it_does_not_run(look: Status) -> None:
    subject = good(struck_once, seen(evolve(strange(look), health=Health(HealthStatus.UNHEALTHY, 9, (ProbeResult("x", 1),)))))
    assert subject is saw(subject, CLOCK)


def test_strikes_are_kept_over_a_look_that_saw_no_container() -> None:
    assert (2, 2) == (count_of(good(struck_out, unreadable)), count_of(good(struck_out, gone)))


def test_strikes_start_at_none_with_each_execution() -> None:
    assert 0 == count_of(good(struck_out, restarted))
    assert 1 == count_of(good(struck_out, seen(unhealthy(LATER, "06:59"))))


def test_the_last_strike_taken_away_leaves_no_trace() -> None:
    cleared = saw(good(struck_once, seen(running(health=HEALTHY))), CLOCK)
    assert MEMORY == cleared.memory


def test_an_unproven_withdrawal_is_proven_by_a_read_that_shows_no_route_alone() -> None:
    unproven = having(unproven=True)
    assert (False, True, True) == tuple(saw(good(each, unproven), CLOCK).unproven for each in (dark, deaf, lambda each: each))


def test_a_window_grows_over_stable_looks_at_one_execution() -> None:
    begun = saw(good(remembering(failures=1)), at(1_000.0))
    assert Window(STARTED, 1_000.0, 1_000.0) == begun.memory.window
    grown = saw(saw(begun, at(1_180.0)), at(1_300.0))
    assert Window(STARTED, 1_000.0, 1_300.0) == grown.memory.window


@pytest.mark.parametrize(
    ("mutation", "now_s", "expected"),
    [
        pytest.param(lambda each: each, 1_181.0, Window(STARTED, 1_181.0, 1_181.0), id="a gap"),
        pytest.param(lambda each: each, 999.0, Window(STARTED, 999.0, 999.0), id="a clock that went back"),
        pytest.param(declaring(policy=Policy(longest_gap_s=200.0)), 1_181.0, Window(STARTED, 1_000.0, 1_181.0), id="a wider gap"),
        pytest.param(restarted, 1_010.0, None, id="another execution"),
        pytest.param(dark, 1_010.0, None, id="not routed"),
        pytest.param(deaf, 1_010.0, None, id="router not read"),
        pytest.param(seen(strange(Status.PAUSED)), 1_010.0, None, id="paused"),
        pytest.param(unreadable, 1_010.0, None, id="not read"),
        pytest.param(ailing, 1_010.0, None, id="unhealthy"),
        pytest.param(seen(running(health=Health(HealthStatus.STARTING))), 1_010.0, None, id="starting"),
        pytest.param(having(declared=None), 1_010.0, None, id="not in ACTIVE"),
        pytest.param(stopped, 1_010.0, None, id="to be stopped"),
        pytest.param(having(inhibited="eats data"), 1_010.0, None, id="inhibited"),
    ],
)
def test_what_breaks_a_window(mutation: Callable[[Subject], Subject], now_s: float, expected: Window | None) -> None:
    begun = saw(good(remembering(failures=1)), at(1_000.0))
    assert expected == saw(made(begun, mutation), at(now_s)).memory.window


# --- what an outcome adds ----------------------------------------------------------------------------------------------------


def after_(subject: Subject, effect: Effect, outcome: Outcome = DONE) -> Memory:
    """Return what is remembered after this."""
    return did(subject, effect, outcome, CLOCK).memory


CHARGE = RecordFailure(GENERATION, STARTED, Cause.ENDED)


def test_every_outcome_is_a_result_of_the_pass() -> None:
    subject = did(did(GOOD, Start(GENERATION), REFUSED_START, CLOCK), CHARGE, DONE, CLOCK)
    assert (Result(Start(GENERATION), REFUSED_START), Result(CHARGE, DONE)) == subject.results


@pytest.mark.parametrize(("outcome", "unproven"), [(DONE, False), (REFUSED_ROUTER, True), (Unknown(SILENT), True)])
def test_a_withdrawal_is_unproven_until_it_was_read_back(outcome: Outcome, unproven: bool) -> None:  # noqa: FBT001 - a table
    assert unproven == did(good(having(unproven=not unproven)), Withdraw("shop", "web"), outcome, CLOCK).unproven


@pytest.mark.parametrize("outcome", [DONE, FULL_DISK])
def test_what_is_only_written_down_holds_although_the_store_refused_it(outcome: Outcome) -> None:
    """A store that cannot be written keeps no workload down."""
    assert Attempt(STARTED) == after_(GOOD, RecordAttempt(GENERATION, STARTED), outcome).attempt
    assert 1 == after_(GOOD, CHARGE, outcome).failures
    verified = after_(good(without_memory), RecordVerified(GENERATION, LATER, (BIND,)), outcome)
    assert Memory(verified=Verified(LATER, (BIND,), 3)) == verified


def test_a_charge_counts_names_its_execution_and_consumes_the_attempt() -> None:
    charged = after_(good(attempted_before, remembering(failures=2, window=Window(STARTED, 1.0, 2.0))), CHARGE)
    assert evolve(MEMORY, failures=3, charged=STARTED, charged_at_s=NOW_S, boot_id=BOOT) == charged


@pytest.mark.parametrize(
    ("cause", "kept"),
    [
        (Cause.ENDED, True),
        (Cause.RELAPSED, True),
        (Cause.REFUSED, True),
        (Cause.UNBOUND, False),
        (Cause.UNREADY, False),
    ],
)
def test_what_failed_its_readiness_is_verified_no_longer(cause: Cause, kept: bool) -> None:  # noqa: FBT001 - a table
    assert kept == (after_(GOOD, RecordFailure(GENERATION, STARTED, cause)).verified is not None)


def test_a_refused_start_leaves_the_execution_charged_before_it_charged() -> None:
    """B3: what was charged once is not charged again for a start that was refused in between."""
    refused = RecordFailure(GENERATION, "", Cause.REFUSED)
    assert (STARTED, "") == (after_(good(remembering(charged=STARTED)), refused).charged, after_(GOOD, refused).charged)


@pytest.mark.parametrize(
    ("outcome", "cleared"),
    [
        (DONE, True),
        (REFUSED_START, True),
        (Refused("500: the engine is shutting down", Fault.ENGINE), False),
        (Unknown(SILENT), False),
    ],
)
def test_a_restart_that_was_answered_clears_the_strikes(outcome: Outcome, cleared: bool) -> None:  # noqa: FBT001 - a table
    expected = Strikes(STARTED, 0, "06:59") if cleared else Strikes(STARTED, 2, "06:59")
    assert expected == after_(good(struck_out), Restart(GENERATION, 10.0), outcome).strikes
    assert None is after_(GOOD, Restart(GENERATION, 10.0), outcome).strikes


def test_a_result_counted_before_a_restart_that_changed_nothing_is_not_counted_again() -> None:
    """B3."""
    sick_still = did(good(sick), Restart(GENERATION, 10.0), REFUSED_START, CLOCK)
    assert (0, 0) == (count_of(sick_still), count_of(saw(sick_still, CLOCK)))
    assert 1 == count_of(evolve(sick_still, seen=unhealthy(STARTED, "06:59", "07:00")))
    assert 0 == count_of(made(sick_still, restarted))


def test_our_own_stop_is_no_end_to_be_charged() -> None:
    stopped = after_(good(attempted_before, remembering(window=Window(STARTED, 1.0, 2.0))), Stop(GENERATION, 10.0), Unknown("?"))
    assert MEMORY == stopped


def test_a_port_that_it_had_to_yield_is_remembered_until_it_is_started_again() -> None:
    yielded = did(GOOD, Stop(GENERATION, 10.0, 32768), DONE, CLOCK)
    assert 32768 == yielded.memory.contested_port
    assert 0 == did(yielded, Start(GENERATION), Unknown("?"), CLOCK).memory.contested_port


def test_history_dropped_leaves_the_verified_execution() -> None:
    assert MEMORY == after_(good(attempted_before, struck_once, remembering(failures=9)), DropHistory(GENERATION))


def test_history_dropped_leaves_the_name_of_the_execution_charged_last() -> None:
    """B3: that execution runs on, and would else be charged a second time (found by the exhaustive check)."""
    dropped = did(good(remembering(failures=1, charged=STARTED)), DropHistory(GENERATION), DONE, CLOCK)
    assert STARTED == dropped.memory.charged
    assert (True, False) == (evidence.is_remembered(dropped.memory), dropped.memory.has_history())


def test_forgetting_its_own_container_leaves_nothing() -> None:
    assert NOTHING == after_(GOOD, Forget("shop", "web", WEB_ID))


def test_forgetting_an_orphan_leaves_the_memory_of_the_declared_container() -> None:
    """Else a healthy service would lose its verification, and its route, to the tidying up after an earlier container."""
    subject = good(having(orphans=(LOST_ID,)))
    after_it = did(subject, Forget("shop", "web", LOST_ID), DONE, CLOCK)
    assert MEMORY == after_it.memory
    assert Situation.SETTLED is decide(evolve(after_it, orphans=()), NOW_S).situation
    assert NOTHING == after_(made(NOBODY, having(orphans=(LOST_ID,))), Forget("shop", "web", LOST_ID))


@pytest.mark.parametrize(
    "effect",
    [
        Withdraw("shop", "web"),
        Start(GENERATION),
        AwaitHealth(GENERATION, STARTED, 30.0),
        Probe(GENERATION, STARTED, (BIND,), 30.0),
        PersistBinds(GENERATION, (BIND,)),
        Publish(GENERATION, (BIND,)),
        ReleaseBinds(GENERATION),
        Retire("shop", "web", OLD_ID, 10.0),
        Remove("shop", "web", OLD_ID),
        ReleaseClaims("shop", "web", OLD_ID),
        DropMarker("shop", "web", OLD_ID),
    ],
    ids=lambda each: type(each).__name__,
)
def test_other_effects_change_nothing_that_is_remembered(effect: Effect) -> None:
    assert MEMORY == after_(GOOD, effect)


# --- another boot ------------------------------------------------------------------------------------------------------------


TROUBLED = Memory(
    5, STARTED, 900.0, Attempt(STARTED), Strikes(STARTED, 1, "x"), Window(STARTED, 1.0, 2.0), MEMORY.verified, "boot-0"
)


def test_times_of_another_boot_mean_nothing_and_failures_are_kept() -> None:
    assert evolve(TROUBLED, charged_at_s=None, window=None, boot_id=BOOT) == recalled(TROUBLED, BOOT)
    assert TROUBLED is recalled(TROUBLED, "boot-0")
    assert MEMORY is recalled(MEMORY, BOOT)


def test_rearming_drops_waits_on_request() -> None:
    assert evolve(TROUBLED, charged_at_s=None, window=None) == rearmed(TROUBLED, "boot-0")


def test_rearming_makes_no_memory_out_of_nothing() -> None:
    """An empty memory is never stored."""
    assert (NOTHING, MEMORY) == (rearmed(NOTHING, BOOT), rearmed(MEMORY, BOOT))
