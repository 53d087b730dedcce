"""What was seen of a container, and where it is routed, in words: "exited (1) 4 s ago", "running for 3 h, healthy"."""

from datetime import datetime
from typing import assert_never

from gordon_core import evidence, facts
from gordon_core.observation import (
    Clock,
    Container,
    Exit,
    Gone,
    Health,
    HealthStatus,
    PortBinding,
    RouteSeen,
    RouteUnread,
    Seen,
    Status,
    Unread,
)
from gordon_core.sentences import binds_in_words, duration, plural
from gordon_core.snapshot import Subject

_KILLED = 137
_STATES = {
    Status.CREATED: "created, never started",
    Status.RUNNING: "running",
    Status.PAUSED: "paused",
    Status.RESTARTING: "restarting",
    Status.REMOVING: "being removed",
    Status.EXITED: "exited",
    Status.DEAD: "dead",
    Status.STOPPED: "stopped",
    Status.UNKNOWN: "in a state that the engine has no known word for",
}
_HEALTH = {
    HealthStatus.NONE: "",
    HealthStatus.STARTING: "health check starting",
    HealthStatus.HEALTHY: "healthy",
    HealthStatus.UNHEALTHY: "unhealthy",
    HealthStatus.UNREAD: "health not read",
}


def seen_in_words(seen: Seen, clock: Clock) -> str:
    """Return what was seen; ages are told on the wall clock, are never negative, and are left out where they are unknown."""
    match seen:
        case Container(status=Status.RUNNING):
            return _comma(_running(seen, clock), _health(seen.health))
        case Container(status=Status.PAUSED):
            return _comma(_STATES[seen.status], _health(seen.health))
        case Container(status=Status.CREATED):
            return _STATES[seen.status] + (_error(seen.exit) if seen.exit is not None else "")
        case Container():
            return _STATES[seen.status] + (_end(seen.exit, clock) if seen.exit is not None else "")
        case Gone():
            return "gone"
        case Unread():
            return "not read"
        case _ as never:
            assert_never(never)


def _comma(*parts: str) -> str:
    return ", ".join(each for each in parts if each)


def _running(seen: Container, clock: Clock) -> str:
    age_s = _age_s(seen.started_at, clock)
    if age_s is None:
        return "running"
    return f"running for {duration(age_s)}" if age_s > 0 else "running since just now"


def _health(health: Health) -> str:
    is_counted = health.status is HealthStatus.UNHEALTHY and health.streak > 0
    return _HEALTH[health.status] + (f" ({plural(health.streak, 'failed check')} in a row)" if is_counted else "")


def _end(end: Exit, clock: Clock) -> str:
    return f" ({end.code}){_ago(end.finished_at, clock)}{_diagnosis(end)}{_error(end)}"


def _diagnosis(end: Exit) -> str:
    if end.oom_killed:
        return ", out of memory"
    # Nobody knows who sent the signal: the kernel's memory killer, when it acts in a child, leaves the engine's flag unset.
    return ": killed, cause unknown, perhaps memory" if end.code == _KILLED else ""


def _error(end: Exit) -> str:
    return f'; start error: "{end.error}"' if end.error else ""


def _ago(time: str, clock: Clock) -> str:
    age_s = _age_s(time, clock)
    if age_s is None:
        return ""
    return f" {duration(age_s)} ago" if age_s > 0 else " just now"


def _age_s(time: str, clock: Clock) -> float | None:
    moment_s = engine_time_s(time)
    return clock.wall_s - moment_s if moment_s is not None else None


def engine_time_s(time: str) -> float | None:
    """Return a time of the engine's in seconds since 1970, or None where it is none; its year 1 means never."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo is not None and moment.year > 1 else None


def route_in_words(subject: Subject) -> str:
    """Return where new requests of a service go."""
    match subject.route:
        case RouteSeen(()):
            unpublished = subject.declared is not None and not facts.is_published(subject)
            return "unpublished" if unpublished else "not routed"
        case RouteSeen(binds):
            predecessor = " of the superseded container" if facts.leads_to_predecessor(subject) else ""
            return f"routed to {binds_in_words(binds)}{predecessor}"
        case RouteUnread():
            return "router not read"
        case _ as never:
            assert_never(never)


def exposures(subject: Subject) -> tuple[str, ...]:
    """Return one clause for each binding that others than this host can reach."""
    return tuple(
        f"{each.port} is bound at {_address(each)}, which is reachable from beyond this host"
        for each in evidence.exposed_bindings(subject)
    )


def _address(binding: PortBinding) -> str:
    host = f"[{binding.host_ip}]" if ":" in binding.host_ip else binding.host_ip or "every address"
    return f"{host}:{binding.host_port or 'a new port'}" if binding.host_ip else f"{host}, port {binding.host_port}"
