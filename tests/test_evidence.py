"""What can be told from a subject about its container, this pass's results and its memory."""

import pytest
from attrs import evolve

from gordon_core import evidence
from gordon_core.effects import AwaitHealth, Done, Fault, Outcome, Probe, Publish, Refused, Restart, Start, Unknown, Withdraw
from gordon_core.memory import Attempt, Memory, Strikes, Verified, Window
from gordon_core.observation import (
    Bind,
    Gone,
    Health,
    HealthStatus,
    Port,
    PortBinding,
    ProbeResult,
    Protocol,
    Seen,
    SeenAs,
    Status,
    Unread,
    reachable,
    seen_as,
)
from gordon_core.policy import Policy
from tests.core_examples import (
    BIND,
    EARLIER,
    GENERATION,
    HTTP,
    LATER,
    NOBODY,
    NOT_READY,
    SILENT,
    STARTED,
    after,
    attempt_on_record,
    attempted_before,
    dark,
    declaring,
    down,
    ended_well,
    gone,
    good,
    made,
    never_verified,
    probed,
    remembering,
    restarted,
    running,
    seen,
    sick,
    strange,
    struck_once,
    unhealthy,
    unreadable,
    until_done,
)

HTTPS = Port(443)
DNS = Port(53, Protocol.UDP)
ANYWHERE = "0.0.0.0"  # noqa: S104 - seen, never bound


# --- looks ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("look", "expected"),
    [
        (Gone(), SeenAs.GONE),
        (Unread(SILENT), SeenAs.UNREAD),
        (running(), SeenAs.RUNNING),
        (running(""), SeenAs.UNKNOWN),
        (strange(Status.CREATED, ""), SeenAs.DOWN),
        (strange(Status.EXITED), SeenAs.DOWN),
        (strange(Status.DEAD), SeenAs.DOWN),
        (strange(Status.STOPPED), SeenAs.DOWN),
        (strange(Status.PAUSED), SeenAs.PAUSED),
        (strange(Status.RESTARTING), SeenAs.RESTARTING),
        (strange(Status.REMOVING), SeenAs.REMOVING),
        (strange(Status.UNKNOWN), SeenAs.UNKNOWN),
    ],
)
def test_a_look_is_one_of_eight_kinds(look: Seen, expected: SeenAs) -> None:
    assert expected is seen_as(look)
    assert expected is good(seen(look)).seen_as


def test_an_execution_is_named_by_its_start_time_alone() -> None:
    assert (STARTED, "", "") == tuple(map(evidence.started_at, (good(), good(gone), good(unreadable))))


def test_health_that_nobody_saw_is_unread() -> None:
    assert (HealthStatus.NONE, HealthStatus.UNREAD) == (evidence.health(good()), evidence.health(good(unreadable)))


def test_down_and_running_are_told_apart() -> None:
    assert (False, True) == (evidence.is_down(good()), evidence.is_down(good(down)))
    assert (True, False) == (evidence.runs(good()), evidence.runs(good(down)))


# --- ports ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bindings", "expected"),
    [
        ((), None),
        ((("127.0.0.1", 32768),), 32768),
        (((ANYWHERE, 32768),), 32768),
        ((("::", 32768),), 32768),
        ((("", 32768),), 32768),
        ((("192.0.2.7", 32768),), None),
        (((ANYWHERE, 32768), ("127.0.0.1", 32769)), 32769),
        ((("::", 32768), (ANYWHERE, 32769)), 32769),
        ((("127.0.0.1", 32770), ("127.0.0.1", 32769)), 32769),
    ],
)
def test_a_port_is_reached_on_loopback_first_and_then_at_a_wildcard(
    bindings: tuple[tuple[str, int], ...], expected: int | None
) -> None:
    found = reachable([PortBinding(HTTP, *each) for each in bindings], HTTP)
    assert expected == (found.host_port if found is not None else None)


def test_a_udp_port_is_not_the_tcp_port_of_that_number() -> None:
    assert None is reachable([PortBinding(DNS, "127.0.0.1", 53)], Port(53))


def test_present_binds_follow_the_declared_order_and_leave_out_what_is_missing() -> None:
    ports = (PortBinding(DNS, "127.0.0.1", 5353), PortBinding(HTTP, "127.0.0.1", 32768))
    subject = good(declaring(ports=(HTTP, HTTPS, DNS)), seen(evolve(running(), ports=ports)))
    assert (BIND, Bind(DNS, 5353)) == evidence.present_binds(subject)
    assert (HTTPS,) == evidence.missing_ports(subject)
    assert evidence.is_unbound(subject)


def test_nothing_is_bound_where_nothing_is_declared_or_seen() -> None:
    unnamed = made(NOBODY, seen(running()))
    assert ((), (), ()) == (evidence.present_binds(unnamed), evidence.missing_ports(unnamed), evidence.exposed_bindings(unnamed))
    assert ((), ()) == (evidence.present_binds(good(gone)), evidence.exposed_bindings(good(gone)))


def test_bindings_beyond_loopback_are_counted_and_told() -> None:
    bindings = tuple(
        PortBinding(port, ip, 32768)
        for port, ip in ((HTTP, ANYWHERE), (HTTP, "::"), (HTTP, "127.0.0.1"), (HTTP, "::1"), (HTTPS, ANYWHERE))
    )
    subject = good(seen(evolve(running(), ports=bindings)))
    assert (BIND,) == evidence.present_binds(subject)
    assert bindings[:2] == evidence.exposed_bindings(subject)


# --- results of this pass --------------------------------------------------------------------------------------------------


def test_results_are_found_by_their_kind_in_their_order() -> None:
    subject = good(after(Withdraw("shop", "web")), after(Start(GENERATION)), after(Withdraw("shop", "web"), Unknown("?")))
    assert [Done(), Unknown("?")] == [each.outcome for each in evidence.results_of(subject, Withdraw)]
    assert (True, False) == (evidence.failed(subject, Withdraw), evidence.failed(subject, Start))


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [(Done(), True), (Unknown("?"), False), *((Refused("no", each), each is Fault.WORKLOAD) for each in Fault)],
)
def test_only_an_answer_about_the_workload_is_evidence(outcome: Outcome, expected: bool) -> None:  # noqa: FBT001 - a table
    assert expected == evidence.is_evidence(outcome)


def test_an_attempt_of_this_pass_is_a_start_or_a_restart() -> None:
    assert (False, True, True) == tuple(
        evidence.was_attempted(each)
        for each in (good(probed()), good(after(Start(GENERATION))), good(after(Restart(GENERATION, 10.0), Unknown("?"))))
    )


@pytest.mark.parametrize("fault", Fault)
def test_only_the_workloads_own_fault_is_a_refused_start(fault: Fault) -> None:
    """B7: the engine's, the store's or a deploy's fault is none of the workload's."""
    subject = good(after(Start(GENERATION), Refused("no", fault)))
    assert (fault is Fault.WORKLOAD) == evidence.was_refused(subject)


def test_the_health_check_was_awaited_once_it_was_awaited_in_vain() -> None:
    awaited = good(after(AwaitHealth(GENERATION, STARTED, 30.0), Unknown("?")))
    assert (False, True) == (evidence.was_awaited(good()), evidence.was_awaited(awaited))


@pytest.mark.parametrize(
    ("subject", "ready"),
    [
        pytest.param(good(), False, id="not asked"),
        pytest.param(good(probed()), True, id="asked"),
        pytest.param(good(probed(started_at=EARLIER)), False, id="asked of another execution"),
        pytest.param(good(probed(binds=(Bind(HTTP, 1),))), False, id="asked at other binds"),
        pytest.param(good(probed(Unknown("dropped"))), False, id="no answer"),
        pytest.param(good(probed(), probed(NOT_READY)), False, id="taken back"),
        pytest.param(good(probed(NOT_READY), probed()), True, id="ready in the end"),
        pytest.param(good(declaring(ports=(), binds=())), True, id="nothing to ask"),
    ],
)
def test_readiness_is_of_this_execution_at_the_binds_that_it_still_has(subject: object, ready: bool) -> None:  # noqa: FBT001
    assert ready == evidence.is_ready(subject)


@pytest.mark.parametrize(
    ("subject", "unready"),
    [
        pytest.param(good(), False, id="not asked"),
        pytest.param(good(probed(NOT_READY)), True, id="it said no"),
        pytest.param(good(probed(Unknown("dropped"))), False, id="no answer is no no"),
        pytest.param(good(probed(Refused("no socket left", Fault.ENGINE))), False, id="the fault of another is no no"),
        pytest.param(good(probed(NOT_READY), restarted), False, id="another execution said no"),
        pytest.param(good(probed(NOT_READY), down), True, id="it said no, and ended"),
    ],
)
def test_unready_is_what_this_execution_said_itself(subject: object, unready: bool) -> None:  # noqa: FBT001
    assert unready == evidence.is_unready(subject)


def test_a_generation_is_supplanted_once_active_names_another_than_the_pass_began_with() -> None:
    assert not evidence.was_supplanted(good(probed(), after(Withdraw("shop", "web"))))
    assert evidence.was_supplanted(good(probed(), declaring(revision=4)))
    assert evidence.was_supplanted(made(NOBODY, after(Publish(GENERATION, (BIND,)))))


# --- memory ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subject", "verified"),
    [
        pytest.param(good(), True, id="as remembered"),
        pytest.param(good(never_verified), False, id="nothing remembered"),
        pytest.param(good(restarted), False, id="another execution"),
        pytest.param(good(down), False, id="it does not run"),
        pytest.param(good(declaring(revision=4)), False, id="a new revision drops the verification"),
        pytest.param(good(seen(running(host_port=32769))), False, id="other binds"),
        pytest.param(made(NOBODY, seen(running()), remembering(verified=Verified(STARTED, (), 1))), False, id="not in ACTIVE"),
    ],
)
def test_verified_is_the_execution_of_this_revision_at_its_binds(subject: object, verified: bool) -> None:  # noqa: FBT001
    assert verified == evidence.is_verified(subject)


def test_the_order_in_which_a_deploy_tool_writes_binds_down_does_not_matter() -> None:
    """Else a healthy service would be withdrawn after each of its deploys."""
    ports = (PortBinding(HTTP, "127.0.0.1", 32768), PortBinding(HTTPS, "127.0.0.1", 32769))
    binds = (BIND, Bind(HTTPS, 32769))
    subject = good(
        declaring(ports=(HTTPS, HTTP), binds=binds),
        seen(evolve(running(), ports=ports)),
        remembering(verified=Verified(STARTED, binds, 3)),
    )
    assert (True, True) == (evidence.is_verified(subject), evidence.is_on_record(subject))
    assert not evidence.same_binds((BIND,), binds)


def test_binds_are_on_record_if_active_names_exactly_them() -> None:
    assert (True, False, False) == tuple(
        map(evidence.is_on_record, (good(), good(declaring(binds=())), made(NOBODY, seen(running()))))
    )


def test_an_attempt_has_landed_once_the_start_time_is_another() -> None:
    assert (False, False, True) == tuple(map(evidence.has_landed, (good(), good(attempt_on_record), good(attempted_before))))
    first = good(seen(strange(Status.CREATED, "")), remembering(attempt=Attempt("")))
    assert not evidence.has_landed(first)


def test_the_execution_charged_last_is_known() -> None:
    assert (False, True, False) == tuple(
        map(evidence.is_charged, (good(), good(remembering(charged=STARTED)), good(remembering(charged=LATER))))
    )


@pytest.mark.parametrize(
    ("failures", "expected"), [(1, 9_000), (2, 9_000), (3, 9_060), (4, 9_120), (5, 9_240), (6, 9_480), (7, 9_900), (50, 9_900)]
)
def test_the_budget_opens_a_ladder_step_after_the_charge(failures: int, expected: float) -> None:
    assert expected == evidence.retry_at_s(good(remembering(failures=failures, charged_at_s=9_000.0)))


def test_the_budget_is_open_without_a_charge_and_for_what_active_does_not_name() -> None:
    assert 0.0 == evidence.retry_at_s(good(remembering(failures=9)))
    assert 0.0 == evidence.retry_at_s(made(NOBODY, remembering(failures=9, charged_at_s=9_000.0)))


def test_the_ladder_of_one_service_is_its_own() -> None:
    patient = declaring(policy=Policy(free_failures=1, ladder_s=(5.0,)))
    assert 9_005.0 == evidence.retry_at_s(good(patient, remembering(failures=1, charged_at_s=9_000.0)))


def test_strikes_count_for_the_execution_seen_alone() -> None:
    assert (0, 1, 0) == tuple(map(evidence.strikes, (good(), good(struck_once), good(struck_once, restarted))))


def test_sick_is_running_and_unhealthy_at_the_threshold() -> None:
    nearly = good(seen(unhealthy(STARTED, "06:58")), struck_once)
    frozen = good(sick, seen(strange(Status.PAUSED)))
    stricter = good(seen(unhealthy(STARTED, "06:58")), struck_once, declaring(policy=Policy(unhealthy_threshold=1)))
    recovered = good(sick, seen(running(health=Health(HealthStatus.HEALTHY))))
    unnamed = made(NOBODY, seen(unhealthy(STARTED, "1", "2")), remembering(strikes=Strikes(STARTED, 2, "2")))
    assert (True, False, False, True, False, False) == tuple(
        map(evidence.is_sick, (good(sick), nearly, frozen, stricter, recovered, unnamed))
    )


def test_only_down_or_sick_needs_an_attempt() -> None:
    assert (False, True, True, False) == tuple(map(evidence.needs_attempt, (good(), good(down), good(sick), good(gone))))


def test_the_stable_window_is_of_the_execution_seen() -> None:
    window = remembering(window=Window(STARTED, 9_900.0, 10_000.0))
    assert (10_200.0, None, None) == tuple(map(evidence.stable_at_s, (good(window), good(window, restarted), good())))


def test_something_is_remembered_with_a_history_or_a_verified_execution() -> None:
    assert (False, True, True) == tuple(
        map(evidence.is_remembered, (Memory(), Memory(failures=1), Memory(verified=Verified(STARTED, (), 1))))
    )


# --- health results --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (ProbeResult("a", 1, "connection refused"), True),
        (ProbeResult("a", -1, "Health check exceeded timeout (1s)"), True),
        (ProbeResult("a", -1, "OCI runtime exec failed"), False),
    ],
)
def test_a_timeout_is_a_result_and_an_exec_that_was_not_created_is_none(result: ProbeResult, expected: bool) -> None:  # noqa: FBT001
    assert expected == result.is_evidence()


def test_only_the_newest_results_of_the_streak_are_of_this_execution() -> None:
    results = tuple(ProbeResult(each, 1) for each in "abc")
    assert [(), ("c",), ("b", "c"), ("a", "b", "c"), ("a", "b", "c")] == [
        tuple(each.started_at for each in Health(HealthStatus.UNHEALTHY, streak, results).failures())
        for streak in (0, 1, 2, 3, 9)
    ]


def test_a_probe_of_an_earlier_pass_is_no_evidence() -> None:
    fresh = good(dark)
    assert () == evidence.answers(fresh)
    assert (Probe(GENERATION, STARTED, (BIND,), 30.0),) == tuple(each.effect for each in evidence.answers(good(probed())))


def test_the_lowest_port_that_it_had_to_yield_is_remembered_like_any_other() -> None:
    assert (False, True) == (evidence.is_remembered(Memory()), evidence.is_remembered(Memory(contested_port=1)))


def test_what_was_stopped_for_the_lowest_port_that_there_is_did_not_end_by_itself() -> None:
    done = good(ended_well, until_done)
    assert (True, False) == (evidence.is_done(done), evidence.is_done(made(done, remembering(contested_port=1))))
