"""What the engine is asked for to create a container of a Blueprint, as its JSON: pure, and free of docker-py."""

import json
import math
from collections.abc import Mapping

from attrs import field, frozen

from gordon_core.blueprint import Blueprint, HealthCheck, Mount
from gordon_shell.docker_fields import Table, expect, list_at, texts_at
from gordon_shell.docker_made import ALL_OF_A_DEVICE, NANOSECONDS
from gordon_shell.docker_settings import ALIASES, ASKED_LABEL, CONFIG_NAMES, OWNED

LOOPBACK = "127.0.0.1"


@frozen
class Creation:
    """The body of the request, and the networks that the container is connected to after it, each with its further names."""

    body: dict[str, object] = field(repr=False)  # it holds the values of variables
    further: tuple[tuple[str, tuple[str, ...]], ...] = ()


def creation(blueprint: Blueprint, labels: Mapping[str, str]) -> Creation:
    """Return what to ask for. Raise ValueError, in words for the operator, for a setting that cannot be carried."""
    asked = _asked(blueprint)
    aliases = expect(asked.pop(ALIASES, {}), dict, f"the setting {ALIASES}")
    config = {name: asked.pop(name) for name in CONFIG_NAMES if name in asked}
    first = blueprint.networks[:1]
    body: dict[str, object] = {
        **config,
        "Image": blueprint.image,
        "Env": [f"{each.name}={each.value}" for each in blueprint.environment],
        "Labels": {**dict(blueprint.labels), ASKED_LABEL: ",".join(each.name for each in blueprint.settings), **labels},
        "ExposedPorts": {str(each.port): {} for each in blueprint.ports},
        "StopTimeout": math.ceil(blueprint.stop_grace_s),
        **_given(blueprint),
        "HostConfig": _host(blueprint, asked),
        "NetworkingConfig": {"EndpointsConfig": {name: {"Aliases": list(texts_at(aliases, name))} for name in first}},
    }
    return Creation(body, tuple((name, texts_at(aliases, name)) for name in blueprint.networks[1:]))


def _asked(blueprint: Blueprint) -> dict[str, object]:
    return {each.name: _value(each.name, each.value) for each in blueprint.settings}


def _value(name: str, text: str) -> object:
    if name in OWNED:
        message = f"the setting {name} is not one that a deploy can carry; leave it out"
        raise ValueError(message)
    try:
        return json.loads(text)
    except ValueError as error:
        message = f"the setting {name} is no JSON ({error}); write it as the engine has it"
        raise ValueError(message) from error


def _given(blueprint: Blueprint) -> dict[str, object]:
    """Return what is not as the image has it; the engine fills in the rest."""
    given = {
        "Cmd": list(blueprint.command),
        "Entrypoint": list(blueprint.entrypoint),
        "User": blueprint.user,
        "WorkingDir": blueprint.working_directory,
        "Healthcheck": None if blueprint.health is None else _health(blueprint.health),
    }
    return {name: value for name, value in given.items() if value}


def _health(check: HealthCheck) -> Table:
    return {
        "Test": list(check.test),
        "Interval": round(check.interval_s * NANOSECONDS),
        "Timeout": round(check.timeout_s * NANOSECONDS),
        "StartPeriod": round(check.start_period_s * NANOSECONDS),
        "Retries": check.retries,
    }


def _host(blueprint: Blueprint, asked: Table) -> Table:
    return {
        **asked,
        "PortBindings": {
            str(each.port): [{"HostIp": LOOPBACK, "HostPort": str(each.host_port or "")}] for each in blueprint.ports
        },
        "Mounts": [*(_mount(each) for each in blueprint.mounts), *list_at(asked, "Mounts")],
        "Devices": [_device(each) for each in blueprint.devices],
        "NetworkMode": next(iter(blueprint.networks), "default"),
        "RestartPolicy": {"Name": "no"},
        "AutoRemove": False,
    }


def _mount(mount: Mount) -> Table:
    kind = "bind" if mount.is_host_path else "volume"
    return {"Type": kind, "Source": mount.source, "Target": mount.target, "ReadOnly": mount.read_only}


def _device(text: str) -> Table:
    outside, _, rest = text.partition(":")
    inside, _, allowed = rest.partition(":")
    return {
        "PathOnHost": outside,
        "PathInContainer": inside or outside,
        "CgroupPermissions": allowed or ALL_OF_A_DEVICE,
    }
