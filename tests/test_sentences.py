"""The words that sentences are made of: blanks, durations, times, effects, and plans on paper."""

import time
from collections.abc import Iterator

import pytest
from attrs import evolve

from gordon_core.effects import (
    AwaitHealth,
    Cause,
    DropHistory,
    DropMarker,
    Effect,
    Forget,
    PersistBinds,
    Probe,
    Publish,
    RecordAttempt,
    RecordFailure,
    RecordVerified,
    ReleaseBinds,
    ReleaseClaims,
    Remove,
    Restart,
    Retire,
    Start,
    Stop,
    Unknown,
    Withdraw,
)
from gordon_core.memory import Window
from gordon_core.observation import Bind, Clock, Port, Status
from gordon_core.planner import Decision, decide, decide_superseded, plan
from gordon_core.policy import Constant, Policy
from gordon_core.record import Line, PlanRecord, Role
from gordon_core.sentences import (
    binds_in_words,
    container_id,
    duration,
    hold_in_words,
    in_words,
    line,
    ordinal,
    plural,
    policy_notes,
    record,
    remedy,
    sentence,
    wall_time,
)
from gordon_core.situations import Situation
from gordon_core.snapshot import Subject
from tests.core_examples import (
    BIND,
    CLOCK,
    EXEMPLARS,
    GENERATION,
    GOOD,
    HOLD,
    HTTP,
    NOBODY,
    NOW_S,
    OLD_ID,
    REFUSED_START,
    SILENT,
    STARTED,
    WEB_ID,
    after,
    attempt_on_record,
    attempted_before,
    dark,
    declaring,
    down,
    good,
    having,
    host,
    made,
    probed,
    remembering,
    restarted,
    seen,
    sick,
    strange,
    superseding,
    unhealthy,
)


def said(subject: Subject, situation: Situation | None = None) -> str:
    """Return the sentence about a service."""
    decision = decide(subject, NOW_S)
    assert situation in {None, decision.situation}
    return sentence(decision, CLOCK)


# --- what else the blanks can say -----------------------------------------------------------------------------------


def test_a_missing_port_is_and_missing_ports_are() -> None:
    subject = good(dark, restarted, declaring(ports=(HTTP, Port(443), Port(8080))))
    assert "running, but 443/tcp and 8080/tcp are not bound on loopback, not yet charged" == said(subject)


def test_a_spent_pass_tells_what_was_tried() -> None:
    refused = good(dark, down, after(Start(GENERATION), REFUSED_START), remembering(failures=1, charged=""))
    assert (
        'down; a start was tried in vain (500: exec: "serve": executable file not found) in this pass already,'
        " trying again in the next"
    ) == said(refused, Situation.SPENT)
    silent = good(dark, sick, attempt_on_record, after(Restart(GENERATION, 10.0), Unknown(SILENT)))
    assert (
        "unhealthy; a restart was tried in vain (the engine did not answer within 10 s) in this pass already,"
        " trying again in the next"
    ) == said(silent, Situation.SPENT)
    in_vain = good(dark, sick, after(Restart(GENERATION, 10.0)))
    assert "unhealthy; it was restarted in this pass already, trying again in the next" == said(in_vain)


def test_unhealthy_without_a_result_is_no_strike() -> None:
    ill = good(dark, seen(unhealthy(STARTED)))
    assert "running, but unhealthy (no strike counted yet); not published before it is healthy" == said(ill)


def test_a_sick_service_waits_and_is_due_as_unhealthy() -> None:
    cooling = good(sick, remembering(failures=3, charged_at_s=NOW_S))
    assert "unhealthy, waiting out its budget until 07:01:00Z, in 1 min, after 3 failures" == said(cooling)
    assert "unhealthy, and free to restart" == said(good(dark, sick), Situation.DUE)


def test_one_failure_is_one_failure_and_none_is_the_latest_start() -> None:
    window = Window(STARTED, NOW_S - 48, NOW_S)
    assert "serving again; 1 failure forgotten at 07:04:12Z, in 4 min 12 s, if it stays stable" == said(
        good(remembering(failures=1, window=window))
    )
    started = good(attempted_before, remembering(window=window))
    assert "serving again; its latest start forgotten at 07:04:12Z, in 4 min 12 s, if it stays stable" == said(started)
    over = good(attempted_before, remembering(window=evolve(window, since_s=1.0)))
    assert "five stable minutes; its latest start can be forgotten" == said(over, Situation.RECOVERED)


def test_a_window_that_nobody_began_yet_ends_now() -> None:
    assert "serving again; 1 failure forgotten at 07:00:00Z, in 0 s, if it stays stable" == said(good(remembering(failures=1)))


def test_a_blocked_service_says_what_had_no_answer_or_was_enough() -> None:
    unanswered = good(dark, probed(), after(Publish(GENERATION, (BIND,)), Unknown("timed out")))
    assert "no answer to 'publish 80/tcp at 32768': timed out; trying again in the next pass" == said(unanswered)
    enough = good(down, after(Withdraw("shop", "web")), after(Withdraw("shop", "web")))
    assert "as much was done as one pass allows; trying again in the next pass" == said(enough)


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (good(superseding, having(in_flight="start it")), "superseded; an earlier command (start it) has not come back yet"),
        (good(superseding, probed(), declaring(revision=4)), "superseded; ACTIVE changed during this pass"),
    ],
)
def test_a_superseded_container_says_why_it_is_held(subject: Subject, expected: str) -> None:
    assert expected == sentence(decide_superseded(subject.superseded[0], subject, NOW_S), CLOCK)


def test_a_state_that_the_engine_has_no_word_for_is_unknown() -> None:
    assert "unknown; left alone, and not counted as stable" == said(good(dark, seen(strange(Status.UNKNOWN))))


def test_every_blank_can_be_filled_for_every_decision() -> None:
    """A sentence that a future situation makes of these words never fails where there is nothing to say."""
    blanks = "{status}{reason}{until}{wait}{strikes}{missing}{unread}{port}{other}{answer}{refusal}{ungranted}{hold}{id}"
    for snapshot in EXEMPLARS.values():
        for each in plan(snapshot).decisions:
            assert sentence(_saying(each, blanks), CLOCK)


def _saying(decision: Decision, words: str) -> Decision:
    return evolve(decision, situation=_Words(words))


class _Words:
    """Stands in for a situation of a later day."""

    def __init__(self, value: str) -> None:
        self.value = value


# --- the words themselves ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "0 s"),
        (-5, "0 s"),
        (0.2, "1 s"),
        (59, "59 s"),
        (59.2, "1 min"),
        (252, "4 min 12 s"),
        (900, "15 min"),
        (3600, "1 h"),
        (3605, "1 h"),
        (3660, "1 h 1 min"),
        (10800, "3 h"),
        (86399, "23 h 59 min"),
        (90000, "1 d 1 h"),
        (1e300, "2932896 d 23 h"),
        (float("inf"), "2932896 d 23 h"),
    ],
)
def test_durations_are_told_in_two_units_at_most(seconds: float, expected: str) -> None:
    assert expected == duration(seconds)


@pytest.mark.parametrize(
    ("boot_s", "expected"),
    [
        (10_000.0, "07:00:00Z"),
        (10_252.0, "07:04:12Z"),
        (10_252.9, "07:04:12Z"),
        (9_999.0, "06:59:59Z"),
        (10_000.0 + 17 * 3600, "2026-12-01 00:00:00Z"),
        (-1e300, "1970-01-01 00:00:00Z"),
        (float("inf"), "9999-12-31 23:59:59Z"),
    ],
)
def test_times_are_utc_with_their_date_on_another_day(boot_s: float, expected: str) -> None:
    assert expected == wall_time(CLOCK, boot_s)


def test_a_step_of_the_wall_clock_moves_only_what_is_printed() -> None:
    """B6."""
    cooling = decide(good(dark, down, remembering(failures=3, charged_at_s=NOW_S)), NOW_S)
    stepped = Clock(CLOCK.boot_s, CLOCK.wall_s - 3600, CLOCK.boot_id)
    assert "down, waiting out its budget until 06:01:00Z, in 1 min, after 3 failures" == sentence(cooling, stepped)


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (0, "no"), (1, "first"), (3, "third"), (10, "tenth"), (11, "11th"), (12, "12th"), (13, "13th"), (21, "21st"),
        (22, "22nd"), (23, "23rd"), (24, "24th"), (101, "101st"), (111, "111th"), (112, "112th"), (113, "113th"),
    ],
)  # fmt: skip
def test_ordinals(count: int, expected: str) -> None:
    assert expected == ordinal(count)


def test_plurals_and_binds() -> None:
    assert ("1 failure", "0 failures", "2 failures") == tuple(plural(each, "failure") for each in (1, 0, 2))
    assert ("no port", "80/tcp at 32768") == (binds_in_words(()), binds_in_words((BIND,)))
    assert "80/tcp at 32768 and 443/tcp at a new port" == binds_in_words((BIND, Bind(Port(443), 0)))


@pytest.mark.parametrize(
    ("effect", "expected"),
    [
        (Withdraw("shop", "web"), "withdraw its route"),
        (RecordAttempt(GENERATION, STARTED), "put the attempt on record"),
        (Start(GENERATION), "start it"),
        (Restart(GENERATION, 10.0), "restart it, with 10 s to stop in"),
        (Stop(GENERATION, 90.0), "stop it, with 1 min 30 s to stop in"),
        (AwaitHealth(GENERATION, STARTED, 30.0), "wait for its health check, up to 30 s"),
        (Probe(GENERATION, STARTED, (BIND,), 30.0), "probe 80/tcp at 32768 for up to 30 s"),
        (Probe(GENERATION, STARTED, (BIND,), 0.0, 80, "/up"), "probe 80/tcp at 32768 and GET /up once"),
        (RecordFailure(GENERATION, STARTED, Cause.ENDED), "charge it one failure"),
        (PersistBinds(GENERATION, (BIND,)), "put 80/tcp at 32768 on record"),
        (RecordVerified(GENERATION, STARTED, (BIND,)), "remember it as verified"),
        (Publish(GENERATION, (BIND,)), "publish 80/tcp at 32768"),
        (DropHistory(GENERATION), "drop its history"),
        (ReleaseBinds(GENERATION), "release its port claims"),
        (Forget("shop", "web", WEB_ID), "forget container 3f2a9c1b7d4e"),
        (Retire("shop", "web", OLD_ID, 20.0), "retire it: stop, with 20 s to stop in"),
        (Remove("shop", "web", OLD_ID), "remove it, and keep its volumes"),
        (ReleaseClaims("shop", "web", OLD_ID), "release its port claims"),
        (DropMarker("shop", "web", OLD_ID), "drop its marker"),
    ],
    ids=lambda each: type(each).__name__ if not isinstance(each, str) else "",
)
def test_each_effect_is_an_imperative(effect: Effect, expected: str) -> None:
    assert expected == in_words(effect)


# --- plans on paper -----------------------------------------------------------------------------------------------------


def test_a_plan_is_written_down_with_a_line_for_each_decision() -> None:
    snapshot = host(good(superseding, dark, down, remembering(failures=3, charged=STARTED, charged_at_s=NOW_S)), made(_BLOG))
    assert PlanRecord(
        CLOCK,
        (
            Line("blog", "api", Role.SERVICE, "", "ABSENT", "not in ACTIVE; its workload is left alone"),
            Line(
                "shop", "web", Role.SERVICE, WEB_ID, "COOLING",
                "down, waiting out its budget until 07:01:00Z, in 1 min, after 3 failures", None, NOW_S + 60,
            ),
            Line("shop", "web", Role.SUPERSEDED, OLD_ID, "AWAITING", "superseded; kept until its successor was seen to serve"),
        ),
    ) == record(plan(snapshot))  # fmt: skip


_BLOG = evolve(NOBODY, app="blog", service="api")


def test_a_wait_without_an_end_is_written_down_without_one() -> None:
    """No document can hold an infinite number; who waits for the sum of two huge ones waits for ever."""
    endless = remembering(failures=3, charged=STARTED, charged_at_s=1.7e308)
    decision = decide(good(dark, down, endless, declaring(policy=Policy(ladder_s=(1.7e308,)))), NOW_S)
    written = line(decision, CLOCK)
    assert (float("inf"), "COOLING", None) == (decision.until_s, written.situation, written.until_s)


def test_a_line_carries_the_one_effect() -> None:
    expected = Line("shop", "web", Role.SERVICE, WEB_ID, "DOWN", "down, its attempt on record", Start(GENERATION))
    assert expected == line(decide(good(dark, down, attempt_on_record), NOW_S), CLOCK)


def test_a_line_carries_what_is_tuned() -> None:
    tuned = evolve(GOOD, policy_constants=(Constant("free_failures", "2", "HOST"),))
    assert ("free_failures = 2, by HOST",) == line(decide(tuned, NOW_S), CLOCK).policy


def test_nobody_needs_to_do_anything_about_what_is_well() -> None:
    assert ("", WEB_ID) == (remedy(decide(GOOD, NOW_S), CLOCK), container_id(decide(GOOD, NOW_S)))


@pytest.fixture
def on_another_day(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let this run where it is the next day already."""
    with monkeypatch.context() as here:
        here.setenv("TZ", "UTC-20")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("on_another_day")
def test_times_are_utc_wherever_this_runs() -> None:
    assert "07:00:00Z" == wall_time(CLOCK, 10_000.0)


def test_a_hold_says_until_when_whose_it_is_and_why() -> None:
    assert ("until 07:04:12Z by alice: migration", "") == (hold_in_words(HOLD, CLOCK), hold_in_words(None, CLOCK))


def test_what_one_origin_sets_is_one_clause_and_what_is_not_understood_follows() -> None:
    constants = (
        Constant("free_failures", "2", "HOST"),
        Constant("ladder_s", "5, 10", "HOST"),
        Constant("readiness_s", "9", "LABEL"),
    )
    tuned = evolve(GOOD, policy_constants=constants, policy_faults=("policy label x is not understood",))
    assert (
        "free_failures = 2; ladder_s = 5, 10, by HOST",
        "readiness_s = 9, by LABEL",
        "policy label x is not understood",
    ) == policy_notes(decide(tuned, NOW_S))
    assert () == policy_notes(decide(GOOD, NOW_S))
    old = made(tuned, superseding)
    assert () == policy_notes(decide_superseded(old.superseded[0], old, NOW_S))
