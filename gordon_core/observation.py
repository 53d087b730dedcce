"""What was seen of one container, its health, its ports and its route.

Every value here is a report about the world at one look. Start and finish times are the engine's own strings:
the core compares them for equality only (an execution is a container ID and a start time) and never subtracts them.
"""

from collections.abc import Iterable
from enum import Enum
from typing import assert_never

from attrs import field, frozen
from attrs.validators import ge, instance_of, le, min_len


class Status(Enum):
    """The engine's word for the state of a container; whatever it does not know is UNKNOWN."""

    CREATED = "created"
    RUNNING = "running"
    PAUSED = "paused"
    RESTARTING = "restarting"
    REMOVING = "removing"
    EXITED = "exited"
    DEAD = "dead"
    STOPPED = "stopped"
    UNKNOWN = "unknown"


class Protocol(Enum):
    """Transport of a port; TCP and UDP are kept apart everywhere."""

    TCP = "tcp"
    UDP = "udp"


class HealthStatus(Enum):
    """What the engine's health check says; NONE where the container has none, UNREAD where it could not be read."""

    NONE = "none"
    STARTING = "starting"
    HEALTHY = "healthy"
    UNHEALTHY = "unhealthy"
    UNREAD = "unread"


_PORT = (instance_of(int), ge(1), le(65535))
TIMED_OUT = "Health check exceeded timeout"


@frozen
class Port:
    """A port that a service declares: 1 to 65535 inside the container."""

    number: int = field(validator=_PORT)
    protocol: Protocol = Protocol.TCP

    def __str__(self) -> str:
        """Print as Docker does: 80/tcp."""
        return f"{self.number}/{self.protocol.value}"


@frozen
class Bind:
    """A declared port and the host port on loopback that leads to it; host port 0 is one not handed out yet (forecasts)."""

    port: Port
    host_port: int = field(validator=(instance_of(int), ge(0), le(65535)))

    @property
    def at(self) -> "HostPort":
        """Return the host port with its protocol."""
        return self.host_port, self.port.protocol

    def __str__(self) -> str:
        """Print as the operator writes it: 80/tcp at 32768."""
        return f"{self.port} at {self.host_port or 'a new port'}"


Binds = tuple[Bind, ...]
HostPort = tuple[int, Protocol]
"""A port of the host; two containers may hold the same number, one for TCP and one for UDP."""


@frozen
class PortBinding:
    """One published port as the engine reports it, with the host address that it is bound to (port 0: forecasts, as in Bind)."""

    port: Port
    host_ip: str
    host_port: int = field(validator=(instance_of(int), ge(0), le(65535)))

    @property
    def at(self) -> HostPort:
        """Return the host port with its protocol."""
        return self.host_port, self.port.protocol


_LOOPBACK = ("127.0.0.1", "0.0.0.0", "::", "")  # noqa: S104 - compared, never bound


def reachable(bindings: Iterable[PortBinding], port: Port) -> Bind | None:
    """Return the bind of a declared port on loopback: 127.0.0.1 before the wildcards, then the lowest host port."""
    found = [
        (_LOOPBACK.index(each.host_ip), each.host_port) for each in bindings if each.port == port and each.host_ip in _LOOPBACK
    ]
    return Bind(port, min(found)[1]) if found else None


@frozen
class ProbeResult:
    """One entry of the engine's health log. `started_at` is an opaque name of the entry; exit code -1 is the engine's own."""

    started_at: str
    exit_code: int
    output: str = ""

    def is_evidence(self) -> bool:
        """Tell a check that ran (or timed out) from an exec that could not be created, which says nothing."""
        return self.exit_code != -1 or self.output.startswith(TIMED_OUT)


@frozen
class Health:
    """Health as the engine reports it; `results` is its log, newest last, of which `streak` entries failed in a row."""

    status: HealthStatus = HealthStatus.NONE
    streak: int = field(default=0, validator=ge(0))
    results: tuple[ProbeResult, ...] = ()

    def failures(self) -> tuple[ProbeResult, ...]:
        """Return the failed results of the present execution, oldest first: the newest `streak` entries that are evidence."""
        newest = self.results[len(self.results) - min(self.streak, len(self.results)) :]
        return tuple(each for each in newest if each.is_evidence())


@frozen
class Exit:
    """How the last execution ended: exit code, the engine's out-of-memory flag, its start error, and its finish time."""

    code: int = 0
    oom_killed: bool = False
    error: str = ""
    finished_at: str = ""


@frozen
class Container:
    """One container as seen. `started_at` is "" where it never started; equality of it names the execution."""

    container_id: str = field(validator=min_len(1))
    status: Status
    started_at: str = ""
    health: Health = Health()
    ports: tuple[PortBinding, ...] = ()
    exit: Exit | None = None
    name: str = ""


@frozen
class Gone:
    """The engine answered that the container does not exist."""


@frozen
class Unread:
    """The container could not be read; nothing is concluded from that."""

    reason: str


Seen = Container | Gone | Unread


class SeenAs(Enum):
    """The finite part of a look: the key by which the tables are narrowed."""

    GONE = "gone"
    UNREAD = "unread"
    DOWN = "down"
    RUNNING = "running"
    PAUSED = "paused"
    RESTARTING = "restarting"
    REMOVING = "removing"
    UNKNOWN = "unknown"


_SEEN_AS = {
    Status.CREATED: SeenAs.DOWN,
    Status.RUNNING: SeenAs.RUNNING,
    Status.PAUSED: SeenAs.PAUSED,
    Status.RESTARTING: SeenAs.RESTARTING,
    Status.REMOVING: SeenAs.REMOVING,
    Status.EXITED: SeenAs.DOWN,
    Status.DEAD: SeenAs.DOWN,
    Status.STOPPED: SeenAs.DOWN,
    Status.UNKNOWN: SeenAs.UNKNOWN,
}


def seen_as(seen: Seen) -> SeenAs:
    """Return which of the eight kinds of look this is. What runs without a start time has no nameable execution: UNKNOWN."""
    match seen:
        case Container(status=Status.RUNNING, started_at=""):
            return SeenAs.UNKNOWN
        case Container():
            return _SEEN_AS[seen.status]
        case Gone():
            return SeenAs.GONE
        case Unread():
            return SeenAs.UNREAD
        case _ as never:
            assert_never(never)


@frozen
class RouteSeen:
    """Where the router sends new requests of a service; no binds: nowhere. `carries` are the protocols that it can route."""

    binds: Binds = ()
    carries: tuple[Protocol, ...] = field(default=(Protocol.TCP, Protocol.UDP), validator=lambda _i, _a, value: _each_once(value))


@frozen
class RouteUnread:
    """The router could not be read: routed or not is unknown."""

    reason: str


Route = RouteSeen | RouteUnread


LATEST_WALL_S = 253402300799
"""The last second of the year 9999."""


@frozen
class Clock:
    """The instant of a snapshot.

    `boot_s` counts seconds since boot, suspend included, and decides; `boot_id` says of which boot. `wall_s` (seconds since
    1970, UTC) is for print alone.
    """

    boot_s: float = field(validator=ge(0))
    wall_s: float = field(validator=(ge(0), le(LATEST_WALL_S)))
    boot_id: str = field(validator=min_len(1))


def _each_once(protocols: tuple[Protocol, ...]) -> None:
    if len(set(protocols)) != len(protocols):
        message = "each protocol once"
        raise ValueError(message)


__all__ = [
    "LATEST_WALL_S", "Bind", "Binds", "Clock", "Container", "Exit", "Gone", "Health", "HealthStatus", "HostPort", "Port",
    "PortBinding", "ProbeResult", "Protocol", "Route", "RouteSeen", "RouteUnread", "Seen", "SeenAs", "Status", "Unread",
    "reachable", "seen_as",
]  # fmt: skip
