"""Until when something is held: what an operator writes, as a time that outlives a boot."""

from datetime import timedelta, timezone

import pytest

from gordon_core.observation import Clock
from gordon_core.snapshot import Hold
from gordon_shell.errors import UsageError
from gordon_shell.holds import LONGEST_S, held_for, seconds_until

HERE = timezone(timedelta(hours=2))
CLOCK = Clock(10_000.0, 1796022000.0, "boot-1")
"""It is 2026-11-30 07:00:00Z, and 09:00 here."""
MINUTE_S, HOUR_S, DAY_S = 60.0, 3600.0, 86400.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("+90", 90.0),
        ("+90s", 90.0),
        ("+1.5h", 1.5 * HOUR_S),
        ("+90m", 90 * MINUTE_S),
        ("+5min", 5 * MINUTE_S),
        ("+2h30m", 2.5 * HOUR_S),
        ("+1d2h", 26 * HOUR_S),
        ("2h30m", 2.5 * HOUR_S),
        ("1d5min", DAY_S + 5 * MINUTE_S),
        ("09:30", 30 * MINUTE_S),
        ("9:30", 30 * MINUTE_S),
        ("09:00", DAY_S),
        ("08:59:30", DAY_S - 30.0),
        ("07:30Z", 30 * MINUTE_S),
        ("2026-11-30T07:30:00Z", 30 * MINUTE_S),
        ("2026-11-30T09:30:00+02:00", 30 * MINUTE_S),
        ("2026-11-30T06:30:00Z", -30 * MINUTE_S),
    ],
)
def test_a_time_is_read(text: str, expected: float) -> None:
    assert expected == seconds_until(text, CLOCK, HERE)


@pytest.mark.parametrize(
    "text", ["", "+", "+soon", "+90x", "90", "1h90", "-90m", "25:00", "09:60", "9", "2026-11-30T07:30:00", "tomorrow", "+-5"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"--until must be a duration like 90m .* or a time with its zone like 2026-.*; found "):
        seconds_until(text, CLOCK, HERE)


def test_a_hold_ends_at_one_time_on_both_clocks() -> None:
    assert Hold(10_090.0, 1796022090.0, "boot-1", "alice", "migration") == held_for(CLOCK, 90.0, " alice ", "migration\n")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0, "0 s ago"), (-90.0, "1 min 30 s ago"), (LONGEST_S + 1.0, "later"), (float("nan"), "later")],
)
def test_a_hold_in_the_past_or_for_more_than_a_year_is_refused(seconds: float, words: str) -> None:
    with pytest.raises(UsageError, match=f"a hold must end within a year from now, and that is .*{words}"):
        held_for(CLOCK, seconds, "alice", "migration")


def test_a_hold_beyond_the_year_9999_is_refused() -> None:
    with pytest.raises(UsageError, match="a hold must end within a year"):
        held_for(Clock(1.0, 253402300799.0, "boot-1"), 1.0, "alice", "migration")


@pytest.mark.parametrize(("who", "reason"), [(" ", "migration"), ("alice", "")])
def test_a_hold_of_nobody_or_for_no_reason_is_refused(who: str, reason: str) -> None:
    with pytest.raises(UsageError, match="a hold needs a name and a reason"):
        held_for(CLOCK, 90.0, who, reason)
