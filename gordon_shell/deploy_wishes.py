"""What an operator asks of a deploy, as it is written: options, and the blueprint that they and what is there make. Pure.

What is not given is as before. Every error is one sentence with the remedy, and none shows the value of a variable.
"""

import re
from pathlib import Path

from attrs import evolve, frozen

from gordon_core.blueprint import Blueprint, HealthCheck, Mode, Mount, Publication, Readiness, Setting, Variable
from gordon_core.observation import Port, Protocol
from gordon_shell import variables, wishes
from gordon_shell.errors import UsageError
from gordon_shell.http_checks import http_check
from gordon_shell.ports import HTTP_LABEL

NONE = "none"
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]*")
_PORT = re.compile(r"(?:([0-9]{1,5}):)?([0-9]{1,5})(?:/(tcp|udp))?")
_SIZE = re.compile(r"([0-9]{1,15})([bkmg]?)b?", re.IGNORECASE)
_UNITS = {"": 1, "b": 1, "k": 1024, "m": 1024**2, "g": 1024**3}
_MEMORY = "Memory"
_DEVICE = re.compile(r"/[^:]+(?::/[^:]+(?::[rwm]{1,3})?)?")


@frozen
class Asked:
    """The options of a deploy, as they were written; None or (): not given."""

    env: tuple[str, ...] = ()
    env_file: tuple[Path, ...] = ()
    unset_env: tuple[str, ...] = ()
    port: tuple[str, ...] = ()
    mount: tuple[str, ...] = ()
    network: tuple[str, ...] = ()
    device: tuple[str, ...] = ()
    label: tuple[str, ...] = ()
    user: str | None = None
    memory: str | None = None
    health_cmd: str | None = None
    health_interval_s: float | None = None
    health_timeout_s: float | None = None
    health_start_period_s: float | None = None
    health_retries: int | None = None
    no_health: bool = False
    ready: str | None = None
    http: str | None = None
    ready_timeout_s: float | None = None
    delay_s: float | None = None
    forgive_s: float | None = None
    grace_s: float | None = None
    published: bool | None = None
    downtime: bool | None = None


def check_names(app: str, service: str, image: str = "image") -> None:
    """Raise UsageError for a name that an app, a service or an image cannot have."""
    if any("=" in each for each in (app, service, image)):
        message = "a word with = stands where APP, SERVICE or IMAGE should; put -e before each NAME=VALUE"
        raise UsageError(message)
    wishes.check_name("an app", app)
    wishes.check_name("a service", service)
    if not _IMAGE.fullmatch(image):
        message = f"{image!r} is no name of an image; write it as docker does, such as registry.example/shop:2"
        raise UsageError(message)


def blueprint(
    image: str, command: tuple[str, ...], asked: Asked, given: tuple[Variable, ...], base: Blueprint | None
) -> Blueprint:
    """Return what is wanted: `base` (None: the image alone), with what was asked for and the variables that were given.

    Raise UsageError.
    """
    before = evolve(base, image=image) if base is not None else Blueprint(image)
    ports = _ports(asked.port) if asked.port else before.ports
    readiness = _readiness(asked, before.readiness, ports)
    try:
        return evolve(
            before,
            command=command or before.command,
            environment=variables.without(variables.united(before.environment, given), asked.unset_env),
            labels=_with_http(_labels(asked.label) if asked.label else before.labels, asked, ports),
            ports=ports,
            mounts=tuple(map(_mount, _all_of(asked.mount))) if asked.mount else before.mounts,
            devices=tuple(map(_device, _all_of(asked.device))) if asked.device else before.devices,
            networks=_all_of(asked.network, "default") if asked.network else before.networks,
            user=before.user if asked.user is None else asked.user,
            health=_health(asked, before.health),
            settings=_with_memory(before.settings, asked.memory) if asked.memory is not None else before.settings,
            stop_grace_s=before.stop_grace_s if asked.grace_s is None else asked.grace_s,
            published=before.published if asked.published is None else asked.published,
            downtime=before.downtime if asked.downtime is None else asked.downtime,
            readiness=readiness,
        )
    except ValueError as error:
        raise UsageError(str(error.args[0])) from None


def _all_of(words: tuple[str, ...], none: str = NONE) -> tuple[str, ...]:
    """Return the words, none of them where the one word says so."""
    return () if words == (none,) else words


def _ports(words: tuple[str, ...]) -> tuple[Publication, ...]:
    return tuple(map(_port, _all_of(words)))


def _port(word: str) -> Publication:
    found = _PORT.fullmatch(word)
    try:
        if found is not None:
            return Publication(Port(int(found[2]), Protocol(found[3] or "tcp")), int(found[1] or 0))
    except ValueError:
        found = None
    message = f"{word!r} is no port; write it as PORT, PORT/udp or HOSTPORT:PORT, each from 1 to 65535, such as 8080 or 53:53/udp"
    raise UsageError(message)


def _mount(word: str) -> Mount:
    source, _, rest = word.partition(":")
    target, _, more = rest.partition(":")
    flags = {each for each in re.split("[:,]", more) if each not in ("", "rw")}
    if not source or not target.startswith("/") or flags - {"ro", "exclusive"}:
        message = (
            f"{word!r} is no mount; write it as SOURCE:TARGET, a host path or a volume and where the container sees it, "
            "with :ro or :exclusive behind it, such as /srv/shop:/data:ro"
        )
        raise UsageError(message)
    return Mount(source, target, read_only="ro" in flags, exclusive="exclusive" in flags)


def _device(word: str) -> str:
    if not _DEVICE.fullmatch(word):
        message = f"{word!r} is no device; write its path, such as /dev/fuse, or PATH:PATH:rwm"
        raise UsageError(message)
    return word


def _labels(words: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    pairs = [each.partition("=")[::2] for each in _all_of(words)]
    for name, _value in pairs:
        if not name or name.startswith("gordon."):
            message = f"{name!r} cannot be the name of a label here; choose another that does not begin with gordon."
            raise UsageError(message)
    return tuple(sorted(dict(pairs).items()))


def _with_http(labels: tuple[tuple[str, str], ...], asked: Asked, ports: tuple[Publication, ...]) -> tuple[tuple[str, str], ...]:
    return (*labels, (HTTP_LABEL, str(asked.http))) if _waits_for_the_image(asked, ports) else labels


def _with_memory(settings: tuple[Setting, ...], word: str) -> tuple[Setting, ...]:
    others = tuple(each for each in settings if each.name not in (_MEMORY, "MemorySwap"))
    if word == NONE:
        return others
    found = _SIZE.fullmatch(word)
    if found is None or not int(found[1]):
        message = f"{word!r} is no size of memory; write a number with k, m or g, such as 512m, or none"
        raise UsageError(message)
    limit = Setting(_MEMORY, str(int(found[1]) * _UNITS[found[2].lower()]))
    return tuple(sorted((*others, limit), key=lambda each: each.name))


def _health(asked: Asked, before: HealthCheck | None) -> HealthCheck | None:
    details = {
        "interval_s": asked.health_interval_s,
        "timeout_s": asked.health_timeout_s,
        "start_period_s": asked.health_start_period_s,
        "retries": asked.health_retries,
    }
    given = {name: value for name, value in details.items() if value is not None}
    if asked.no_health:
        if given or asked.health_cmd is not None:
            message = "--no-health and another option for the health check contradict each other; leave one of them out"
            raise UsageError(message)
        return HealthCheck(("NONE",))
    check = before if asked.health_cmd is None else _check(asked.health_cmd, before)
    if not given:
        return check
    if check is None or check.is_off:
        message = "there is no health check beyond the image's to change; name it with --health-cmd as well"
        raise UsageError(message)
    return HealthCheck(
        check.test,
        float(given.get("interval_s", check.interval_s)),
        float(given.get("timeout_s", check.timeout_s)),
        float(given.get("start_period_s", check.start_period_s)),
        int(given.get("retries", check.retries)),
    )


def _check(line: str, before: HealthCheck | None) -> HealthCheck:
    if not line.strip():
        message = "--health-cmd is empty; write a command, or --no-health"
        raise UsageError(message)
    test = ("CMD-SHELL", line)
    return HealthCheck(test) if before is None or before.is_off else evolve(before, test=test)


def _waits_for_the_image(asked: Asked, ports: tuple[Publication, ...]) -> bool:
    """Tell whether the ports are those of the image, which is not known yet: then the HTTP path is noted in a label."""
    return not ports and not asked.port and asked.http not in (None, NONE, "")


def _readiness(asked: Asked, before: Readiness, ports: tuple[Publication, ...]) -> Readiness:
    declared = tuple(each.port for each in ports)
    http = before.http if before.http is not None and Port(before.http.port) in declared else None
    if asked.http is not None and not _waits_for_the_image(asked, ports):
        http = None if asked.http in (NONE, "") else http_check("the container", asked.http, declared)
    return Readiness(
        before.mode if asked.ready is None else Mode(asked.ready),
        http,
        before.deadline_s if asked.ready_timeout_s is None else asked.ready_timeout_s,
        before.delay_s if asked.delay_s is None else asked.delay_s,
        before.forgiven_s if asked.forgive_s is None else asked.forgive_s,
    )
