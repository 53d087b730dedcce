"""The status text of the engine's list ("Up 3 hours (healthy)"), as the engine itself words it."""

from attrs import frozen

from gordon_core.observation import HealthStatus, Status

_HEALTH = {
    HealthStatus.NONE: "",
    HealthStatus.STARTING: " (health: starting)",
    HealthStatus.HEALTHY: " (healthy)",
    HealthStatus.UNHEALTHY: " (unhealthy)",
    HealthStatus.UNREAD: "",
}


@frozen
class _Span:
    """Durations below `below_s`, once `add_s` is added, are counted in units of `unit_s`."""

    below_s: float
    unit_s: float
    add_s: float
    words: str


_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0
_HALF = _HOUR / 2  # from an hour on, hours are rounded before anything is cut off
_SPANS = (
    _Span(1, 1, 0, "Less than a second"),
    _Span(2, 1, 0, "1 second"),
    _Span(_MINUTE, 1, 0, "{} seconds"),
    _Span(2 * _MINUTE, _MINUTE, 0, "About a minute"),
    _Span(_HOUR, _MINUTE, 0, "{} minutes"),
    _Span(2 * _HOUR, _HOUR, _HALF, "About an hour"),
    _Span(2 * _DAY, _HOUR, _HALF, "{} hours"),
    _Span(14 * _DAY, _DAY, _HALF, "{} days"),
    _Span(60 * _DAY, 7 * _DAY, _HALF, "{} weeks"),
    _Span(730 * _DAY, 30 * _DAY, _HALF, "{} months"),
    _Span(float("inf"), 365 * _DAY, 0, "{} years"),
)


def human(seconds: float) -> str:
    """Word a duration as Docker does."""
    span = next(each for each in _SPANS if seconds + each.add_s < each.below_s)
    return span.words.format(int((seconds + span.add_s) / span.unit_s))


def status_text(status: Status, since_s: float, exit_code: int, health: HealthStatus) -> str:
    """Word the status of a container; `since_s` is how long ago it started, or ended."""
    match status:
        case Status.RUNNING:
            return f"Up {human(since_s)}{_HEALTH[health]}"
        case Status.PAUSED:
            return f"Up {human(since_s)} (Paused)"
        case Status.EXITED:
            return f"Exited ({exit_code}) {human(since_s)} ago"
        case _:
            return str(status.value).capitalize()
