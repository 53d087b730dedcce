"""A time that has been, as an operator writes it: `2h30m` before now, a time of day, or a time with its zone. Pure."""

import re
from datetime import UTC, datetime, timedelta, tzinfo

from gordon_shell import spans
from gordon_shell.errors import UsageError

_OF_DAY = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?(Z?)")


def past(text: str, option: str, now_s: float, zone: tzinfo | None = None) -> float:
    """Return which time an option names, in seconds since 1970; a time of day is the latest one, in this zone (None: the host's).

    Raise UsageError for anything else.
    """
    found = _past(text, datetime.fromtimestamp(now_s, UTC).astimezone(zone))
    if found is None:
        message = (
            f"{option} must be a duration before now like 2h30m, a time of day like 07:00 (07:00Z for UTC), or a time with its"
            f" zone like 2026-11-30T07:00:00Z; found {text!r}"
        )
        raise UsageError(message)
    return found


def _past(text: str, now: datetime) -> float | None:
    ago_s = spans.seconds(text, "-")
    if ago_s is not None:
        return now.timestamp() - ago_s
    of_day = _OF_DAY.fullmatch(text)
    try:
        found = datetime.fromisoformat(text) if of_day is None else _latest(of_day, now)
    except ValueError:
        return None
    return found.timestamp() if found.tzinfo is not None else None


def _latest(of_day: "re.Match[str]", now: datetime) -> datetime:
    hour, minute, second, utc = of_day.groups()
    here = now.astimezone(UTC) if utc else now
    at = here.replace(hour=int(hour), minute=int(minute), second=int(second or 0), microsecond=0)
    return at if at <= here else at - timedelta(days=1)
