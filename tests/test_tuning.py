"""Constants as they are written in labels and commands, and which setting wins."""

import pytest
from attrs import asdict, evolve, fields
from hypothesis import given

from gordon_core.grants import SETS_NOTHING, HostPolicy, Overrides, Scope
from gordon_core.policy import DEFAULT_POLICY, Constant, Policy, WhenUnhealthy
from gordon_core.tuning import (
    CONSTANTS,
    LABEL_PREFIX,
    Applied,
    NotUnderstoodError,
    applied,
    changed,
    in_words,
    of_labels,
    read_constant,
)
from tests.strategies import policies

LABEL_OF = {each: f"{LABEL_PREFIX}{each}" for each in CONSTANTS}


def test_every_constant_of_the_policy_can_be_written() -> None:
    assert tuple(each.name for each in fields(Policy)) == CONSTANTS


@pytest.mark.parametrize(
    ("constant", "text", "expected"),
    [
        ("free_failures", " 5 ", 5),
        ("ladder_s", "60,120, 300", (60.0, 120.0, 300.0)),
        ("ladder_s", "0.5", (0.5,)),
        ("stable_window_s", "300", 300.0),
        ("longest_gap_s", "31622400", 31622400.0),
        ("unhealthy_threshold", "1000000", 1_000_000),
        ("readiness_s", "0", 0.0),
        ("shortest_deadline_s", "1e2", 100.0),
        ("exit_0_is_done", "true", True),
        ("exit_0_is_done", "false", False),
        ("unhealthy", "withdraw", WhenUnhealthy.WITHDRAW),
        ("unhealthy", "restart", WhenUnhealthy.RESTART),
    ],
)
def test_a_constant_is_read(constant: str, text: str, expected: object) -> None:
    assert (expected, type(expected)) == (read_constant(constant, text), type(read_constant(constant, text)))


@pytest.mark.parametrize(
    ("constant", "text", "words"),
    [
        ("free_failure", "5", r"is not known; known are free_failures, ladder_s, .*, exit_0_is_done, unhealthy"),
        ("free_failures", "0", "must be a whole number from 1 to 1000000"),
        ("free_failures", "1000001", "must be a whole number from 1 to 1000000"),
        ("free_failures", "9" * 5000, "must be a whole number from 1 to 1000000"),
        ("free_failures", "²", "must be a whole number from 1 to 1000000"),
        ("free_failures", "5.0", "must be a whole number from 1 to 1000000"),
        ("ladder_s", "", "must be waits in seconds with commas between them, like 60,120,300"),
        ("ladder_s", "60,0", "must be waits in seconds with commas between them, like 60,120,300"),
        ("stable_window_s", "0", "must be a number of seconds above 0 to 31622400"),
        ("stable_window_s", "nan", "must be a number of seconds above 0 to 31622400"),
        ("stable_window_s", "inf", "must be a number of seconds above 0 to 31622400"),
        ("readiness_s", "-1", "must be a number of seconds from 0 to 31622400"),
        ("readiness_s", "soon", "must be a number of seconds from 0 to 31622400"),
        ("exit_0_is_done", "yes", "must be true or false"),
        ("unhealthy", "stop", "must be restart or withdraw"),
    ],
)
def test_what_is_no_value_is_refused_in_words(constant: str, text: str, words: str) -> None:
    with pytest.raises(NotUnderstoodError, match=f"^{words}$"):
        read_constant(constant, text)


@given(policies())
def test_what_is_printed_is_read_again(policy: Policy) -> None:
    for constant, value in asdict(policy).items():
        values = value if isinstance(value, tuple) else (value,)
        if all(isinstance(each, bool | WhenUnhealthy) or 1e-3 < each <= 1_000_000 for each in values):
            assert value == read_constant(constant, in_words(value))


def test_labels_set_what_they_say_and_what_is_not_understood_is_left_out() -> None:
    labels = {
        "gordon.recovery.free_failures": "5",
        "gordon.recovery.ladder_s": "60,120",
        "gordon.recovery.unhealthy": "stop",
        "gordon.recovery.patience": "much",
        "gordon.app": "shop",
        "org.example": "gordon.recovery.readiness_s",
    }
    assert (
        Overrides(free_failures=5, ladder_s=(60.0, 120.0)),
        (
            "policy label gordon.recovery.patience=much is not understood: there is no such constant; it is left out",
            "policy label gordon.recovery.unhealthy=stop is not understood: it must be restart or withdraw; it is left out",
        ),
    ) == of_labels(labels)
    assert (SETS_NOTHING, ()) == of_labels({"gordon.app": "shop"})


def test_a_change_sets_and_unsets() -> None:
    before = Overrides(free_failures=5, readiness_s=1.0)
    assert Overrides(free_failures=7, unhealthy=WhenUnhealthy.WITHDRAW) == changed(
        before, {"free_failures": 7, "readiness_s": None, "unhealthy": WhenUnhealthy.WITHDRAW}
    )


# --- which setting wins --------------------------------------------------------------------------------------------------


def scope(app: str = "", service: str = "", **recovery: float) -> Scope:
    return Scope(app, service, recovery=Overrides(**recovery))


def test_nothing_that_sets_a_constant_leaves_the_defaults_and_tells_nothing() -> None:
    assert Applied(DEFAULT_POLICY) == applied(None, "shop", "web")
    assert Applied(DEFAULT_POLICY) == applied(HostPolicy((Scope(),)), "shop", "web", labels={"gordon.app": "shop"})


def test_each_source_outweighs_those_before_it_and_each_constant_tells_which_it_was() -> None:
    declared = Policy(free_failures=2, longest_gap_s=9.0)
    labels = {LABEL_OF["free_failures"]: "3", LABEL_OF["readiness_s"]: "3"}
    policy = HostPolicy(
        (
            scope("shop", "web", readiness_s=6.0),
            scope(free_failures=4, readiness_s=4.0, stable_window_s=4.0, shortest_deadline_s=4.0),
            scope("shop", readiness_s=5.0, stable_window_s=5.0, shortest_deadline_s=5.0),
            scope("lab", free_failures=9),
        )
    )
    tuned = Overrides(shortest_deadline_s=7.0)
    found = applied(policy, "shop", "web", declared, labels, tuned)
    assert Policy(4, stable_window_s=5.0, longest_gap_s=9.0, readiness_s=6.0, shortest_deadline_s=7.0) == found.policy
    assert (
        Constant("free_failures", "4", "[recovery] of the host policy"),
        Constant("stable_window_s", "5", "[apps.shop.recovery] of the host policy"),
        Constant("longest_gap_s", "9", "what was declared for it"),
        Constant("readiness_s", "6", "[apps.shop.services.web.recovery] of the host policy"),
        Constant("shortest_deadline_s", "7", "gordon-shell tune"),
    ) == found.constants
    assert "readiness_s = 6, by [apps.shop.services.web.recovery] of the host policy" == str(found.constants[3])


def test_a_label_outweighs_what_was_declared_and_nothing_else() -> None:
    labels = {LABEL_OF["free_failures"]: "3", LABEL_OF["exit_0_is_done"]: "true"}
    found = applied(None, "shop", "web", Policy(free_failures=2), labels)
    assert (
        Applied(
            Policy(free_failures=3, exit_0_is_done=True),
            (
                Constant("free_failures", "3", "label gordon.recovery.free_failures"),
                Constant("exit_0_is_done", "true", "label gordon.recovery.exit_0_is_done"),
            ),
        )
        == found
    )


def test_a_constant_that_is_set_to_its_default_is_told_all_the_same() -> None:
    found = applied(None, "shop", "web", labels={LABEL_OF["free_failures"]: "3"})
    assert (Constant("free_failures", "3", "label gordon.recovery.free_failures"),) == found.constants


def test_a_bad_label_is_told_and_the_constant_is_that_of_the_next_broader_source() -> None:
    found = applied(None, "shop", "web", evolve(DEFAULT_POLICY, readiness_s=5.0), {LABEL_OF["readiness_s"]: "soon"})
    assert 5.0 == found.policy.readiness_s
    (fault,) = found.faults
    assert fault.startswith("policy label gordon.recovery.readiness_s=soon is not understood: it must be a number of seconds")


def test_what_was_declared_is_told_where_nothing_else_sets_a_constant() -> None:
    found = applied(None, "shop", "web", Policy(free_failures=2))
    assert Applied(Policy(free_failures=2), (Constant("free_failures", "2", "what was declared for it"),)) == found


def test_bad_labels_are_told_although_they_set_nothing() -> None:
    found = applied(None, "shop", "web", labels={LABEL_OF["readiness_s"]: "soon"})
    assert (DEFAULT_POLICY, (), 1) == (found.policy, found.constants, len(found.faults))
