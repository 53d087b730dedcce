"""The engine's JSON as values of the core: pure, and free of docker-py.

A field that is missing or null has its zero value, as in the engine's own program; one of the wrong type raises ValueError,
since then this is not the answer of a Docker engine.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from gordon_core.observation import (
    Container,
    Exit,
    Health,
    HealthStatus,
    Port,
    PortBinding,
    ProbeResult,
    Protocol,
    Status,
)
from gordon_core.policy import DEFAULT_STOP_GRACE_S
from gordon_shell.docker_fields import Table, digits, expect, is_port, list_at, number_at, table_at, tables, text_at, value_at
from gordon_shell.ports import About, Details, Mount, Row

NEVER = "0001-01-01T00:00:00Z"
"""The engine's zero time: of a container that never started, or never ended."""

ENDLESS_GRACE_S = 3600.0
"""What "wait for ever" (a stop timeout below zero) is taken as: every call has an end."""

_STATUSES = {each.value: each for each in Status}
_PROTOCOLS = {each.value: each for each in Protocol}
_HEALTHS = {
    "": HealthStatus.STARTING,  # the monitor is not set up yet: no result
    "none": HealthStatus.NONE,
    "starting": HealthStatus.STARTING,
    "healthy": HealthStatus.HEALTHY,
    "unhealthy": HealthStatus.UNHEALTHY,
}
_SUFFIXES = {
    "(health: starting)": HealthStatus.STARTING,
    "(healthy)": HealthStatus.HEALTHY,
    "(unhealthy)": HealthStatus.UNHEALTHY,
}
_ALIVE = frozenset({Status.RUNNING, Status.PAUSED})


def rows(answer: object) -> tuple[Row, ...]:
    """Read the list of containers, in the engine's order. Raise ValueError."""
    return tuple(_row(each) for each in tables(answer, "the list"))


def details(answer: object) -> Details:
    """Read one inspected container. Raise ValueError."""
    whole = expect(answer, dict, "the container")
    config, host = table_at(whole, "Config"), table_at(whole, "HostConfig")
    grace_s = config.get("StopTimeout")
    return Details(
        container=_container(whole),
        mounts=tuple(_mounts(list_at(whole, "Mounts"))),
        devices=tuple(text_at(each, "PathOnHost") for each in list_at(host, "Devices")),
        stop_grace_s=DEFAULT_STOP_GRACE_S if grace_s is None else _grace_s(number_at(config, "StopTimeout")),
        labels=_labels(config),
        restart_policy=text_at(table_at(host, "RestartPolicy"), "Name"),
        asked_ports=_sorted(_asked_ports(table_at(host, "PortBindings"), table_at(config, "ExposedPorts"), host)),
    )


def about(version: object, info: object) -> About:
    """Read what an engine says of itself. Raise ValueError."""
    told, more = expect(version, dict, "the version"), expect(info, dict, "the description of the engine")
    wall_s = datetime.fromisoformat(text_at(more, "SystemTime")).timestamp()
    return About(text_at(told, "Version"), text_at(told, "ApiVersion"), wall_s)


def health_in(text: str, status: Status) -> HealthStatus:
    """Read the health out of a row's status text: UNREAD unless the container runs and the text is one that can be read."""
    if status is not Status.RUNNING or not text.startswith("Up "):
        return HealthStatus.UNREAD
    start = text.find("(")
    return HealthStatus.NONE if start < 0 else _SUFFIXES.get(text[start:].strip(), HealthStatus.UNREAD)


def _row(one: Table) -> Row:
    status, text = _status(text_at(one, "State")), text_at(one, "Status")
    return Row(
        container_id=text_at(one, "Id"),
        name=_name(one),
        status=status,
        uptime=text,
        health=health_in(text, status),
        ports=_sorted(_listed_ports(list_at(one, "Ports"))),
        labels=_labels(one),
    )


def _name(one: Table) -> str:
    names = expect(value_at(one, "Names", []), list, "Names")
    own = [str(each).removeprefix("/") for each in names]
    return next((each for each in own if "/" not in each), "")  # a name with a slash is a link from another container


def _container(whole: Table) -> Container:
    state = table_at(whole, "State")
    status = _status(text_at(state, "Status"))
    return Container(
        container_id=text_at(whole, "Id"),
        status=status,
        started_at=_time(state, "StartedAt"),
        health=_health(state),
        ports=_sorted(_bound_ports(table_at(table_at(whole, "NetworkSettings"), "Ports"))),
        exit=None if status in _ALIVE else _exit(state),
        name=text_at(whole, "Name").removeprefix("/"),
    )


def _exit(state: Table) -> Exit | None:
    seen = Exit(number_at(state, "ExitCode"), bool(state.get("OOMKilled")), text_at(state, "Error"), _time(state, "FinishedAt"))
    return None if seen == Exit() else seen


def _health(state: Table) -> Health:
    health = state.get("Health")
    if health is None:
        return Health()
    table = table_at(state, "Health")
    streak = max(0, number_at(table, "FailingStreak"))
    status = _HEALTHS.get(text_at(table, "Status"), HealthStatus.UNREAD)
    if status is HealthStatus.UNHEALTHY and streak == 0:
        status = HealthStatus.STARTING  # the engine's stand-in for "no result of this execution yet"
    return Health(status, streak, tuple(_result(each) for each in list_at(table, "Log")))


def _result(entry: Table) -> ProbeResult:
    return ProbeResult(text_at(entry, "Start"), number_at(entry, "ExitCode"), text_at(entry, "Output"))


def _listed_ports(entries: Iterable[Table]) -> Iterable[PortBinding]:
    for each in entries:
        yield from _binding(
            number_at(each, "PrivatePort"), text_at(each, "Type"), text_at(each, "IP"), number_at(each, "PublicPort")
        )


def _bound_ports(bound: Table) -> Iterable[PortBinding]:
    for name in bound:
        number, _, protocol = name.partition("/")
        for each in list_at(bound, name):
            yield from _binding(digits(number), protocol, text_at(each, "HostIp"), digits(text_at(each, "HostPort")))


def _asked_ports(wanted: Table, exposed: Table, host: Table) -> Iterable[PortBinding]:
    """Yield what `docker run -p` and `-P` asked for; a range of host ports counts as ephemeral."""
    for name in wanted:
        for each in list_at(wanted, name):
            yield from _asked(name, text_at(each, "HostIp"), digits(text_at(each, "HostPort")))
    if host.get("PublishAllPorts"):
        for name in exposed.keys() - wanted.keys():
            yield from _asked(name, "", 0)


def _asked(name: str, host_ip: str, host_port: int) -> Iterable[PortBinding]:
    number, _, protocol = name.partition("/")
    if is_port(digits(number)) and protocol in _PROTOCOLS:
        address = host_ip or "0.0.0.0"  # noqa: S104 - read, not bound
        yield PortBinding(Port(digits(number), _PROTOCOLS[protocol]), address, host_port if is_port(host_port) else 0)


def _binding(number: int, protocol: str, host_ip: str, host_port: int) -> Iterable[PortBinding]:
    """Yield the binding, or nothing for what is not published, and for protocols other than TCP and UDP."""
    if is_port(number) and is_port(host_port) and protocol in _PROTOCOLS:
        yield PortBinding(Port(number, _PROTOCOLS[protocol]), host_ip or "0.0.0.0", host_port)  # noqa: S104 - read, not bound


def _sorted(bindings: Iterable[PortBinding]) -> tuple[PortBinding, ...]:
    return tuple(
        sorted(set(bindings), key=lambda each: (each.port.number, each.port.protocol.value, each.host_ip, each.host_port))
    )


def _mounts(entries: Iterable[Table]) -> Iterable[Mount]:
    for each in entries:
        if each.get("Type") == "bind":
            yield Mount(text_at(each, "Source"), read_only=not each.get("RW"))


def _grace_s(stop_timeout: int) -> float:
    return ENDLESS_GRACE_S if stop_timeout < 0 else float(stop_timeout)


def _status(word: str) -> Status:
    return _STATUSES.get(word, Status.UNKNOWN)


def _time(state: Table, key: str) -> str:
    text = text_at(state, key)
    return "" if text == NEVER else text


def _labels(table: Table) -> Mapping[str, str]:
    return {key: str(value) for key, value in table_at(table, "Labels").items()}
