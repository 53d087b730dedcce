"""The engine's JSON as values of the core: pure, and free of docker-py.

A field that is missing or null has its zero value, as in the engine's own program; one of the wrong type raises ValueError,
since then this is not the answer of a Docker engine.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

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
from gordon_shell.ports import Details, Mount, Row

Table = Mapping[str, object]
T = TypeVar("T")

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
    return tuple(_row(each) for each in _tables(answer, "the list"))


def details(answer: object) -> Details:
    """Read one inspected container. Raise ValueError."""
    whole = _expect(answer, dict, "the container")
    config, host = _table(whole, "Config"), _table(whole, "HostConfig")
    grace_s = config.get("StopTimeout")
    return Details(
        container=_container(whole),
        mounts=tuple(_mounts(_list(whole, "Mounts"))),
        devices=tuple(_text(each, "PathOnHost") for each in _list(host, "Devices")),
        stop_grace_s=DEFAULT_STOP_GRACE_S if grace_s is None else _grace_s(_number(config, "StopTimeout")),
        labels=_labels(config),
        restart_policy=_text(_table(host, "RestartPolicy"), "Name"),
        asked_ports=_sorted(_asked_ports(_table(host, "PortBindings"), _table(config, "ExposedPorts"), host)),
    )


def health_in(text: str, status: Status) -> HealthStatus:
    """Read the health out of a row's status text: UNREAD unless the container runs and the text is one that can be read."""
    if status is not Status.RUNNING or not text.startswith("Up "):
        return HealthStatus.UNREAD
    start = text.find("(")
    return HealthStatus.NONE if start < 0 else _SUFFIXES.get(text[start:].strip(), HealthStatus.UNREAD)


def _row(one: Table) -> Row:
    status, text = _status(_text(one, "State")), _text(one, "Status")
    return Row(
        container_id=_text(one, "Id"),
        name=_name(one),
        status=status,
        uptime=text,
        health=health_in(text, status),
        ports=_sorted(_listed_ports(_list(one, "Ports"))),
        labels=_labels(one),
    )


def _name(one: Table) -> str:
    names = _expect(_value(one, "Names", []), list, "Names")
    own = [str(each).removeprefix("/") for each in names]
    return next((each for each in own if "/" not in each), "")  # a name with a slash is a link from another container


def _container(whole: Table) -> Container:
    state = _table(whole, "State")
    status = _status(_text(state, "Status"))
    return Container(
        container_id=_text(whole, "Id"),
        status=status,
        started_at=_time(state, "StartedAt"),
        health=_health(state),
        ports=_sorted(_bound_ports(_table(_table(whole, "NetworkSettings"), "Ports"))),
        exit=None if status in _ALIVE else _exit(state),
        name=_text(whole, "Name").removeprefix("/"),
    )


def _exit(state: Table) -> Exit | None:
    seen = Exit(_number(state, "ExitCode"), bool(state.get("OOMKilled")), _text(state, "Error"), _time(state, "FinishedAt"))
    return None if seen == Exit() else seen


def _health(state: Table) -> Health:
    health = state.get("Health")
    if health is None:
        return Health()
    table = _table(state, "Health")
    streak = max(0, _number(table, "FailingStreak"))
    status = _HEALTHS.get(_text(table, "Status"), HealthStatus.UNREAD)
    if status is HealthStatus.UNHEALTHY and streak == 0:
        status = HealthStatus.STARTING  # the engine's stand-in for "no result of this execution yet"
    return Health(status, streak, tuple(_result(each) for each in _list(table, "Log")))


def _result(entry: Table) -> ProbeResult:
    return ProbeResult(_text(entry, "Start"), _number(entry, "ExitCode"), _text(entry, "Output"))


def _listed_ports(entries: Iterable[Table]) -> Iterable[PortBinding]:
    for each in entries:
        yield from _binding(_number(each, "PrivatePort"), _text(each, "Type"), _text(each, "IP"), _number(each, "PublicPort"))


def _bound_ports(bound: Table) -> Iterable[PortBinding]:
    for name in bound:
        number, _, protocol = name.partition("/")
        for each in _list(bound, name):
            yield from _binding(_digits(number), protocol, _text(each, "HostIp"), _digits(_text(each, "HostPort")))


def _asked_ports(wanted: Table, exposed: Table, host: Table) -> Iterable[PortBinding]:
    """Yield what `docker run -p` and `-P` asked for; a range of host ports counts as ephemeral."""
    for name in wanted:
        for each in _list(wanted, name):
            yield from _asked(name, _text(each, "HostIp"), _digits(_text(each, "HostPort")))
    if host.get("PublishAllPorts"):
        for name in exposed.keys() - wanted.keys():
            yield from _asked(name, "", 0)


def _asked(name: str, host_ip: str, host_port: int) -> Iterable[PortBinding]:
    number, _, protocol = name.partition("/")
    if _is_port(_digits(number)) and protocol in _PROTOCOLS:
        address = host_ip or "0.0.0.0"  # noqa: S104 - read, not bound
        yield PortBinding(Port(_digits(number), _PROTOCOLS[protocol]), address, host_port if _is_port(host_port) else 0)


def _binding(number: int, protocol: str, host_ip: str, host_port: int) -> Iterable[PortBinding]:
    """Yield the binding, or nothing for what is not published, and for protocols other than TCP and UDP."""
    if _is_port(number) and _is_port(host_port) and protocol in _PROTOCOLS:
        yield PortBinding(Port(number, _PROTOCOLS[protocol]), host_ip or "0.0.0.0", host_port)  # noqa: S104 - read, not bound


def _sorted(bindings: Iterable[PortBinding]) -> tuple[PortBinding, ...]:
    return tuple(
        sorted(set(bindings), key=lambda each: (each.port.number, each.port.protocol.value, each.host_ip, each.host_port))
    )


def _mounts(entries: Iterable[Table]) -> Iterable[Mount]:
    for each in entries:
        if each.get("Type") == "bind":
            yield Mount(_text(each, "Source"), read_only=not each.get("RW"))


def _grace_s(stop_timeout: int) -> float:
    return ENDLESS_GRACE_S if stop_timeout < 0 else float(stop_timeout)


def _status(word: str) -> Status:
    return _STATUSES.get(word, Status.UNKNOWN)


def _time(state: Table, key: str) -> str:
    text = _text(state, key)
    return "" if text == NEVER else text


def _digits(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0


def _is_port(number: int) -> bool:
    return 1 <= number <= 65535  # noqa: PLR2004 - the range of a port


def _labels(table: Table) -> Mapping[str, str]:
    return {key: str(value) for key, value in _table(table, "Labels").items()}


def _expect(value: object, kind: type[T], what: str) -> T:
    if isinstance(value, kind):
        return value
    message = f"{what} is a {type(value).__name__}, not a {kind.__name__}"
    raise ValueError(message)


def _tables(value: object, what: str) -> Sequence[Table]:
    return [_expect(each, dict, f"an entry of {what}") for each in _expect(value, list, what)]


def _list(table: Table, key: str) -> Sequence[Table]:
    return _tables(_value(table, key, []), key)


def _table(table: Table, key: str) -> Table:
    return _expect(_value(table, key, {}), dict, key)


def _text(table: Table, key: str) -> str:
    return _expect(_value(table, key, ""), str, key)


def _number(table: Table, key: str) -> int:
    return _expect(_value(table, key, 0), int, key)


def _value(table: Table, key: str, zero: object) -> object:
    value = table.get(key)
    return zero if value is None else value
