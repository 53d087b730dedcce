"""What a deploy wants of a container, as a value; and in which respects two blueprints differ.

Values of environment variables are secrets: they take part in comparisons, and are never printed, stored or put in a label.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import Enum

from attrs import Attribute, field, frozen
from attrs.validators import ge, instance_of, le, matches_re, min_len

from gordon_core.observation import Port, Protocol
from gordon_core.policy import DEFAULT_STOP_GRACE_S
from gordon_core.snapshot import HttpCheck

_NAMED = matches_re(r"(?s)[^=\0\s][^=\0]*")
_ABSOLUTE = matches_re(r"/[^\0]*")


@frozen
class Variable:
    """One environment variable. Its value is a secret, and stays out of every text."""

    name: str = field(validator=_NAMED)
    value: str = field(repr=False)

    @value.validator
    def _without_nul(self, _attribute: "Attribute[str]", value: str) -> None:
        if "\0" in value:  # never shown: matches_re would show it
            message = f"the value of {self.name} has a NUL in it, which no environment can hold"
            raise ValueError(message)


@frozen
class Publication:
    """A port of the container and the host port on loopback that it is to have; 0: whichever the engine hands out."""

    port: Port
    host_port: int = field(default=0, validator=(instance_of(int), ge(0), le(65535)))

    def __str__(self) -> str:
        """Print as the operator writes it: 80/tcp, or 80/tcp at 8080."""
        return f"{self.port} at {self.host_port}" if self.host_port else str(self.port)


@frozen
class Mount:
    """A host path or a named volume, and where the container sees it.

    `exclusive`: two containers must never use it at once (a database's files), so one has to be down before the next starts.
    """

    source: str = field(validator=min_len(1))
    target: str = field(validator=_ABSOLUTE)
    read_only: bool = False
    exclusive: bool = False

    @property
    def is_host_path(self) -> bool:
        """Tell a path of the host from the name of a volume."""
        return self.source.startswith("/")


@frozen
class HealthCheck:
    """A health check that the engine runs: `test` as Docker has it ("CMD", ... or "CMD-SHELL", line), durations in seconds.

    0 leaves a duration, or the number of retries, to the engine.
    """

    test: tuple[str, ...] = field(validator=min_len(1))
    interval_s: float = field(default=0.0, validator=ge(0))
    timeout_s: float = field(default=0.0, validator=ge(0))
    start_period_s: float = field(default=0.0, validator=ge(0))
    retries: int = field(default=0, validator=ge(0))

    @property
    def is_off(self) -> bool:
        """Tell whether this switches off the health check of the image."""
        return self.test == ("NONE",)


class Mode(Enum):
    """What a container must have to be told ready by; whatever else it has of these counts as well."""

    AUTO = "auto"
    HEALTH = "health"
    HTTP = "http"
    TCP = "tcp"
    DELAY = "delay"


@frozen
class Readiness:
    """When a container counts as ready.

    Healthy, where it has a health check; the HTTP path and every TCP port answer within `deadline_s`; and, where it has none of
    these or the mode is DELAY, it runs for `delay_s`. A fall out of running is forgiven if it runs again within `forgiven_s`.
    """

    mode: Mode = Mode.AUTO
    http: HttpCheck | None = None
    deadline_s: float = field(default=30.0, validator=ge(0))
    delay_s: float = field(default=5.0, validator=ge(0))
    forgiven_s: float = field(default=30.0, validator=ge(0))


@frozen
class Setting:
    """One of the engine's options for a host ("Memory", "CapAdd", ...), carried as its JSON text, and never interpreted."""

    name: str = field(validator=min_len(1))
    value: str


@frozen
class Blueprint:
    """All that a container is made of. What is empty is as the image has it.

    `downtime` declares that two of it must not run at once, also where nothing here shows it.
    """

    image: str = field(validator=min_len(1))
    command: tuple[str, ...] = ()
    entrypoint: tuple[str, ...] = ()
    environment: tuple[Variable, ...] = field(default=())
    labels: tuple[tuple[str, str], ...] = ()
    ports: tuple[Publication, ...] = field(default=())
    mounts: tuple[Mount, ...] = field(default=())
    devices: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    user: str = ""
    working_directory: str = ""
    health: HealthCheck | None = None
    settings: tuple[Setting, ...] = ()
    stop_grace_s: float = field(default=DEFAULT_STOP_GRACE_S, validator=(ge(0), le(86400)))
    published: bool = True
    downtime: bool = False
    readiness: Readiness = field(default=Readiness())

    @environment.validator
    def _variables_once(self, _attribute: "Attribute[tuple[Variable, ...]]", value: tuple[Variable, ...]) -> None:
        _refuse_repeats("environment variable", (each.name for each in value))

    @ports.validator
    def _ports_once(self, _attribute: "Attribute[tuple[Publication, ...]]", value: tuple[Publication, ...]) -> None:
        _refuse_repeats("port", (each.port for each in value))
        _refuse_repeats("host port", ((each.host_port, each.port.protocol.value) for each in value if each.host_port))

    @mounts.validator
    def _targets_once(self, _attribute: "Attribute[tuple[Mount, ...]]", value: tuple[Mount, ...]) -> None:
        _refuse_repeats("mounted place", (each.target for each in value))

    @readiness.validator
    def _answerable(self, _attribute: "Attribute[Readiness]", value: Readiness) -> None:
        tcp = [each.port.number for each in self.ports if each.port.protocol is Protocol.TCP]
        if value.http is not None and value.http.port not in tcp:
            message = f"the HTTP path must be at one of its TCP ports; {value.http.port}/tcp is none of them"
            raise ValueError(message)
        if value.mode is Mode.HTTP and value.http is None:
            message = "readiness by HTTP needs an HTTP path; name one, or choose another readiness mode"
            raise ValueError(message)
        if value.mode is Mode.TCP and not tcp:
            message = "readiness by TCP needs a TCP port; declare one, or choose another readiness mode"
            raise ValueError(message)

    @property
    def overlaps(self) -> bool:
        """Tell whether an old and a new container of it may run side by side."""
        return not (self.downtime or any(each.host_port for each in self.ports) or any(each.exclusive for each in self.mounts))

    @property
    def declared_ports(self) -> tuple[Port, ...]:
        """Return its ports, in order."""
        return tuple(each.port for each in self.ports)


@frozen
class Image:
    """An image as the engine has it: its ID, whether it brings a health check, its labels, and the ports that it exposes.

    `own` is what it brings into a container: environment, command, labels, user, working directory and health check.
    """

    image_id: str = field(validator=min_len(1))
    has_health_check: bool = False
    labels: tuple[tuple[str, str], ...] = ()
    ports: tuple[Port, ...] = ()
    own: Blueprint = field(factory=lambda: Blueprint("scratch"), repr=False)


@frozen
class Made:
    """A container that exists: what it was made from, as far as that is not its image's, and of which image."""

    blueprint: Blueprint
    image_id: str


def differences(wanted: Blueprint, image_id: str, present: Made) -> tuple[str, ...]:
    """Return in which respects a container differs from what is wanted, by name and without a value: none if it may stay.

    How long to wait, and what only says how one container follows the other, make no other container.
    """
    made = present.blueprint
    found = ["image"] if image_id != present.image_id else []
    found += _changed("environment", _by_name(wanted), _by_name(made))
    found += _changed("label", dict(wanted.labels), dict(made.labels))
    found += _changed("port", _ports(wanted), _ports(made))
    found += _changed("mount", _mounts(wanted), _mounts(made))
    found += _changed("setting", _settings(wanted), _settings(made))
    found += ["HTTP path"] if wanted.readiness.http != made.readiness.http else []
    found += [name.replace("_", " ") for name in _WHOLE if getattr(wanted, name) != getattr(made, name)]
    found += [name for name in ("devices", "networks") if set(getattr(wanted, name)) != set(getattr(made, name))]
    return tuple(found)


_WHOLE = ("command", "entrypoint", "user", "working_directory", "health", "stop_grace_s", "published")


def _by_name(blueprint: Blueprint) -> dict[str, str]:
    return {each.name: each.value for each in blueprint.environment}


def _ports(blueprint: Blueprint) -> dict[str, int]:
    return {str(each.port): each.host_port for each in blueprint.ports}


def _settings(blueprint: Blueprint) -> dict[str, str]:
    return {each.name: each.value for each in blueprint.settings}


def _mounts(blueprint: Blueprint) -> dict[str, tuple[str, bool]]:
    return {each.target: (each.source, each.read_only) for each in blueprint.mounts}


def _changed(kind: str, wanted: Mapping[str, object], made: Mapping[str, object]) -> list[str]:
    names = sorted(wanted.keys() | made.keys())
    return [f"{kind} {each}" for each in names if (each in wanted, wanted.get(each)) != (each in made, made.get(each))]


def _refuse_repeats(what: str, values: Iterable[object]) -> None:
    repeated = [str(value) for value, times in Counter(values).items() if times > 1]
    if repeated:
        message = f"each {what} once; repeated: {', '.join(repeated)}"
        raise ValueError(message)
