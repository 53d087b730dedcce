"""A snapshot planned at a later time: `--now`."""

from datetime import UTC, datetime
from math import isfinite

from attrs import evolve

from gordon_core.sentences import duration
from gordon_core.snapshot import Snapshot
from gordon_shell.errors import UsageError

_LATEST_S = 253402300799.0


def moment(text: str) -> float | datetime:
    """Return what --now says: seconds to add ("+90"), or a time (RFC 3339). Raise UsageError."""
    try:
        if text.startswith("+"):
            seconds = float(text)
            if isfinite(seconds):
                return seconds
        else:
            time = datetime.fromisoformat(text)
            if time.tzinfo is not None:
                return time
    except ValueError:
        pass  # said below, as for what is none for another reason
    message = f"--now must be a time with its zone like 2026-11-30T07:00:00Z, or seconds to add like +90; found {text!r}"
    raise UsageError(message)


def later(snapshot: Snapshot, when: float | datetime, name: str) -> Snapshot:
    """Return the snapshot with its clock, of which both hands move alike, put forward. Raise UsageError for a time before it."""
    clock = snapshot.clock
    ahead_s = when if isinstance(when, float) else when.timestamp() - clock.wall_s
    if ahead_s < 0:
        own = f"{datetime.fromtimestamp(clock.wall_s, UTC):%Y-%m-%dT%H:%M:%SZ}"
        message = (
            f"{name}: --now lies {duration(-ahead_s)} before this snapshot, and a plan is never made for the past;"
            f" give a time from {own} on, or +SECONDS"
        )
        raise UsageError(message)
    if clock.wall_s + ahead_s > _LATEST_S:
        message = f"{name}: --now leads beyond the year 9999; give an earlier time"
        raise UsageError(message)
    return evolve(snapshot, clock=evolve(clock, boot_s=clock.boot_s + ahead_s, wall_s=clock.wall_s + ahead_s))
