"""Images and containers of the engine's JSON as an Image and a Blueprint: pure, and free of docker-py.

What is wrong with an answer is said by ValueError, whose words hold no value of an environment variable.
"""

from collections.abc import Iterable, Iterator

from attrs import evolve

from gordon_core.blueprint import Blueprint, HealthCheck, Image, Made, Mount, Publication, Variable
from gordon_core.observation import Port, Protocol
from gordon_shell import docker_json
from gordon_shell.blueprints import beyond
from gordon_shell.docker_fields import (
    Table,
    digits,
    expect,
    is_port,
    list_at,
    number_at,
    table_at,
    text_at,
    texts_at,
    value_at,
)
from gordon_shell.docker_settings import is_plain_mount, plain_binds, settings

NANOSECONDS = 1_000_000_000
ALL_OF_A_DEVICE = "rwm"
_PROTOCOLS = {each.value: each for each in Protocol}


def image(answer: object) -> Image:
    """Read one inspected image. Raise ValueError."""
    whole = expect(answer, dict, "the image")
    config = config_of(whole)
    own = _of_config(config)
    return Image(
        image_id=text_at(whole, "Id"),
        has_health_check=own.health is not None and not own.health.is_off,
        labels=tuple(sorted(own.labels)),
        ports=tuple(sorted(_exposed(table_at(config, "ExposedPorts")), key=lambda each: (each.number, each.protocol.value))),
        own=own,
    )


def config_of(answer: object) -> Table:
    """Return the config of an inspected image. Raise ValueError."""
    return table_at(expect(answer, dict, "the image"), "Config")


def made(answer: object, image_config: Table, info: object) -> Made:
    """Read what an inspected container was made from, beyond its image and the engine's defaults. Raise ValueError."""
    whole = expect(answer, dict, "the container")
    host = table_at(whole, "HostConfig")
    details = docker_json.details(whole)
    container = evolve(
        _of_config(table_at(whole, "Config")),
        ports=tuple(_once(Publication(each.port, each.host_port) for each in details.asked_ports)),
        mounts=tuple(_mounts(host)),
        devices=tuple(_device(each) for each in list_at(host, "Devices")),
        networks=_networks(whole),
        settings=settings(whole, image_config, expect(info, dict, "the description of the engine")),
        stop_grace_s=details.stop_grace_s,
    )
    return Made(beyond(container, _of_config(image_config)), text_at(whole, "Image"))


def variables(config: Table) -> tuple[Variable, ...]:
    """Return the environment of a container or an image, each variable once; what only takes one away is none."""
    said = (each.partition("=") for each in texts_at(config, "Env"))
    last = {name: value for name, equals, value in said if equals and name and not name[0].isspace()}
    return tuple(Variable(name, value) for name, value in last.items())


def _of_config(config: Table) -> Blueprint:
    return Blueprint(
        image=text_at(config, "Image") or "an image without a name",
        command=texts_at(config, "Cmd"),
        entrypoint=texts_at(config, "Entrypoint"),
        environment=variables(config),
        labels=tuple(_labels(config)),
        user=text_at(config, "User"),
        working_directory=text_at(config, "WorkingDir"),
        health=_health(config),
    )


def _labels(config: Table) -> Iterator[tuple[str, str]]:
    table = table_at(config, "Labels")
    yield from ((name, text_at(table, name)) for name in table)


def _health(config: Table) -> HealthCheck | None:
    table = table_at(config, "Healthcheck")
    test = texts_at(table, "Test")
    if not test:
        return None
    interval_s, timeout_s, start_s = (
        max(0, number_at(table, each)) / NANOSECONDS for each in ("Interval", "Timeout", "StartPeriod")
    )
    return HealthCheck(test, interval_s, timeout_s, start_s, max(0, number_at(table, "Retries")))


def _exposed(table: Table) -> Iterator[Port]:
    for name in table:
        number, _, protocol = name.partition("/")
        if is_port(digits(number)) and (protocol or "tcp") in _PROTOCOLS:
            yield Port(digits(number), _PROTOCOLS[protocol or "tcp"])


def _once(publications: Iterable[Publication]) -> Iterator[Publication]:
    """Yield one publication of each port: two of one port, at two addresses of the host, are one on loopback."""
    seen: set[Port] = set()
    for each in publications:
        if each.port not in seen:
            seen.add(each.port)
            yield each


def _mounts(host: Table) -> Iterator[Mount]:
    for each in list_at(host, "Mounts"):
        if is_plain_mount(each):
            yield Mount(text_at(each, "Source"), text_at(each, "Target"), read_only=bool(each.get("ReadOnly")))
    for source, target, read_only in plain_binds(host):
        yield Mount(source, target, read_only=read_only)


def _device(entry: Table) -> str:
    """Return a device as Docker's command line has it: the path alone where the container sees all of it at the same path."""
    outside, inside = text_at(entry, "PathOnHost"), text_at(entry, "PathInContainer")
    allowed = text_at(entry, "CgroupPermissions")
    if inside in ("", outside) and allowed in ("", ALL_OF_A_DEVICE):
        return outside
    return f"{outside}:{inside or outside}:{allowed or ALL_OF_A_DEVICE}"


def _networks(whole: Table) -> tuple[str, ...]:
    """Return its networks, the one that it was created in first."""
    first = text_at(table_at(whole, "HostConfig"), "NetworkMode")
    known = table_at(table_at(whole, "NetworkSettings"), "Networks")
    if first in ("", "default"):
        first = "bridge"
    if first not in known and not first.startswith("container:"):
        first = next((name for name in known if _id_of(known, name) == first), "")
    return tuple([first] if first else []) + tuple(sorted(known.keys() - {first}))


def _id_of(networks: Table, name: str) -> str:
    return text_at(expect(value_at(networks, name, {}), dict, name), "NetworkID")
