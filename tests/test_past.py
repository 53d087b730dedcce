"""Times that have been, as an operator writes them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from gordon_shell.errors import UsageError
from gordon_shell.past import past

NOW = datetime(2026, 11, 30, 7, 0, 0, tzinfo=UTC)
BERLIN = timezone(timedelta(hours=1))


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("-90m", "2026-11-30T05:30:00Z"),
        ("-2h30min", "2026-11-30T04:30:00Z"),
        ("2h30m", "2026-11-30T04:30:00Z"),
        ("5min10s", "2026-11-30T06:54:50Z"),
        ("-1d", "2026-11-29T07:00:00Z"),
        ("-10", "2026-11-30T06:59:50Z"),
        ("-1.5s", "2026-11-30T06:59:58.500Z"),
        ("07:00Z", "2026-11-30T07:00:00Z"),
        ("07:00:01Z", "2026-11-29T07:00:01Z"),
        ("3:10", "2026-11-30T02:10:00Z"),
        ("08:30", "2026-11-29T07:30:00Z"),
        ("2026-11-30T03:10:00+01:00", "2026-11-30T02:10:00Z"),
    ],
)
def test_a_time_that_has_been(text: str, when: str) -> None:
    assert datetime.fromisoformat(when).timestamp() == past(text, "--since", NOW.timestamp(), BERLIN)


def test_without_a_zone_a_time_of_day_is_the_hosts() -> None:
    local = NOW.astimezone()
    assert local.replace(minute=0).timestamp() == past(f"{local:%H}:00", "--at", NOW.timestamp())


@pytest.mark.parametrize("text", ["", "-", "90", "1h90", "+5m", "-2w", "soon", "24:00", "07:61", "2026-11-30T07:00:00", "-1h "])
def test_what_is_none_is_refused_by_the_name_of_its_option(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--at must be a duration before now like 2h30m, .*; found "):
        past(text, "--at", NOW.timestamp())
