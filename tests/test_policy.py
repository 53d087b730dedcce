"""The constants of recovery, and the ladder of waits."""

import pytest

from gordon_core.policy import DEFAULT_POLICY, Policy


def test_the_third_charge_opens_the_ladder_and_its_top_is_never_exceeded() -> None:
    assert [0, 0, 0, 60, 120, 240, 480, 900, 900] == [DEFAULT_POLICY.wait_s(each) for each in range(9)]
    assert 900 == DEFAULT_POLICY.wait_s(10_000)


def test_a_ladder_of_ones_own_begins_where_one_says() -> None:
    impatient = Policy(free_failures=1, ladder_s=(5.0, 7.0))
    assert [0, 5, 7, 7] == [impatient.wait_s(each) for each in range(4)]


@pytest.mark.parametrize(("grace_s", "readiness_s", "expected"), [(10, 30, 120), (60, 30, 120), (100, 30, 160), (0, 300, 330)])
def test_a_deadline_leaves_time_for_the_grace_and_for_readiness(grace_s: float, readiness_s: float, expected: float) -> None:
    assert expected == Policy(readiness_s=readiness_s).deadline_s(grace_s)


@pytest.mark.parametrize(
    "wrong",
    [
        {"free_failures": 0},
        {"ladder_s": ()},
        {"ladder_s": (60.0, 0.0)},
        {"stable_window_s": 0},
        {"longest_gap_s": -1},
        {"unhealthy_threshold": 0},
        {"readiness_s": -1},
        {"shortest_deadline_s": 0},
    ],
    ids=str,
)
def test_what_is_no_policy_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Policy(**wrong)
