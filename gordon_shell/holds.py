"""Until when something is left as it is: what `--until` says, as a hold that outlives a boot. Pure."""

import re
from datetime import UTC, datetime, timedelta, tzinfo

from gordon_core.observation import LATEST_WALL_S, Clock
from gordon_core.sentences import duration
from gordon_core.snapshot import Hold
from gordon_shell import spans
from gordon_shell.errors import UsageError

LONGEST_S = 366 * 86400.0
_OF_DAY = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?Z?")


def held_for(clock: Clock, seconds: float, who: str, reason: str) -> Hold:
    """Return a hold from now on. Raise UsageError: in the past, for more than a year, or without a name or a reason."""
    if not 0 < seconds <= LONGEST_S or clock.wall_s + seconds > LATEST_WALL_S:
        where = f"{duration(-seconds)} ago" if seconds <= 0 else "later"
        message = f"a hold must end within a year from now, and that is {where}; name another time"
        raise UsageError(message)
    if not (who.strip() and reason.strip()):
        message = "a hold needs a name and a reason, for whoever reads the plan; give --reason TEXT and --who NAME"
        raise UsageError(message)
    return Hold(clock.boot_s + seconds, clock.wall_s + seconds, clock.boot_id, who.strip(), reason.strip())


def seconds_until(text: str, clock: Clock, zone: tzinfo | None = None) -> float:
    """Return how far from now the end is that a text names; a time of day is the next one, in this zone (None: the host's).

    Raise UsageError for anything but a duration, a time of day, or a time with its zone.
    """
    length_s = spans.seconds(text, "+")
    if length_s is not None:
        return length_s
    now = datetime.fromtimestamp(clock.wall_s, UTC)
    end = _next(text, now.astimezone(zone)) if _OF_DAY.fullmatch(text) else _moment(text)
    if end is None:
        message = (
            f"--until must be a duration like 90m or 2h30m, a time of day like 07:00 (07:00Z for UTC), or a time with its zone"
            f" like 2026-11-30T07:00:00Z; found {text!r}"
        )
        raise UsageError(message)
    return end.timestamp() - clock.wall_s


def _next(text: str, now: datetime) -> datetime | None:
    """Return the next time of day of this kind; in the zone of `now` unless it says Z."""
    here = now.astimezone(UTC) if text.endswith("Z") else now
    hour, minute, *rest = (int(each) for each in text.removesuffix("Z").split(":"))
    try:
        at = here.replace(hour=hour, minute=minute, second=rest[0] if rest else 0, microsecond=0)
    except ValueError:
        return None
    return at if at > here else at + timedelta(days=1)


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
