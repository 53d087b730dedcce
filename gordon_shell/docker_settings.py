"""The engine's options for a container that a Blueprint has no field for: which of them were asked for. Pure.

They are carried as they are, so that a memory limit, a dropped capability or a read-only root that an operator once set is in
the next container as well. A container that a deploy made says in a label which ones it asked for; of any other, what differs
from the engine's defaults counts as asked for.
"""

import json
from collections.abc import Iterator

from gordon_core.blueprint import Setting
from gordon_shell.docker_fields import Table, expect, list_at, table_at, text_at, texts_at

ASKED_LABEL = "gordon.settings"
"""The label in which a deploy notes the names of the options that it asked for."""
ALIASES = "Aliases"
"""The option that gives the further names of a container in each of its networks."""
CONFIG_NAMES = ("Domainname", "Hostname", "OpenStdin", "StdinOnce", "StopSignal", "Tty", "Volumes")
"""The options that stand in the engine's Config; all others but the aliases stand in its HostConfig."""
OWNED = frozenset({
    "AutoRemove", "ConsoleSize", "ContainerIDFile", "Devices", "NetworkMode", "PortBindings", "PublishAllPorts", "RestartPolicy",
})  # fmt: skip
"""The options that a Blueprint speaks of in its own fields, or that recovery relies on."""
_MOUNTS = ("Binds", "Mounts")
_TELLING_EMPTY = ("Init", "MemorySwappiness", "MaskedPaths", "ReadonlyPaths")
"""Options whose zero value is a wish of its own: only null is none."""
_PATHS = (
    "/proc/acpi", "/proc/asound", "/proc/bus", "/proc/fs", "/proc/interrupts", "/proc/irq", "/proc/kcore", "/proc/keys",
    "/proc/latency_stats", "/proc/sched_debug", "/proc/scsi", "/proc/sys", "/proc/sysrq-trigger", "/proc/timer_list",
    "/proc/timer_stats", "/sys/devices/system/cpu/", "/sys/devices/virtual/powercap", "/sys/firmware",
)  # fmt: skip
_SHORT_ID = 12


def canonical(value: object) -> str:
    """Return the one JSON text of a value."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def settings(whole: Table, image: Table, info: Table) -> tuple[Setting, ...]:
    """Return the options of an inspected container, given its image's config and what the engine says of itself."""
    labels = table_at(table_at(whole, "Config"), "Labels")
    found = dict(_host_options(table_at(whole, "HostConfig"))) | dict(_config_options(whole, image)) | dict(_aliases(whole))
    if ASKED_LABEL in labels:
        asked = expect(labels[ASKED_LABEL], str, ASKED_LABEL).split(",")
        found = {name: value for name, value in found.items() if name in asked}
    else:
        found = {name: value for name, value in found.items() if not _is_default(name, value, found, info)}
    return tuple(Setting(name, canonical(found[name])) for name in sorted(found))


def plain_binds(host: Table) -> Iterator[tuple[str, str, bool]]:
    """Yield source, target and read-only of those old-style mounts that say no more than that."""
    for each in texts_at(host, "Binds"):
        if _is_plain_bind(each):
            source, target, *mode = each.split(":")
            yield source, target, mode == ["ro"]


def is_plain_mount(entry: Table) -> bool:
    """Tell whether a mount is a host path or a named volume, and says no more than where it is seen and whether read-only."""
    said = {key for key, value in entry.items() if value}
    return entry.get("Type") in ("bind", "volume") and {"Source", "Target"} <= said <= {"Type", "Source", "Target", "ReadOnly"}


def _is_plain_bind(text: str) -> bool:
    source, _, rest = text.partition(":")
    target, _, mode = rest.partition(":")
    return bool(source) and target.startswith("/") and mode in ("", "ro", "rw")


def _host_options(host: Table) -> Iterator[tuple[str, object]]:
    for name, value in host.items():
        if (
            name not in OWNED
            and name not in _MOUNTS
            and (value is not None if name in _TELLING_EMPTY else _says_something(value))
        ):
            yield name, value
    binds = [each for each in texts_at(host, "Binds") if not _is_plain_bind(each)]
    mounts = [each for each in list_at(host, "Mounts") if not is_plain_mount(each)]
    yield from ((name, rest) for name, rest in (("Binds", binds), ("Mounts", mounts)) if rest)


def _config_options(whole: Table, image: Table) -> Iterator[tuple[str, object]]:
    config = table_at(whole, "Config")
    for name in CONFIG_NAMES:
        value = config.get(name)
        match name:
            case "Volumes":
                value = {target: {} for target in table_at(config, name) if target not in table_at(image, name)}
            case "Hostname" | "Domainname" if _names_itself(whole):
                continue
            case _ if value == image.get(name):
                continue
        if _says_something(value):
            yield name, value


def _names_itself(whole: Table) -> bool:
    """Tell whether its host name is one that the engine gave it: its ID, or that of whose network it shares."""
    host = table_at(whole, "HostConfig")
    shared = (text_at(host, "NetworkMode"), text_at(host, "UTSMode"))
    own = text_at(table_at(whole, "Config"), "Hostname") == text_at(whole, "Id")[:_SHORT_ID]
    return own or any(each == "host" or each.startswith("container:") for each in shared)


def _aliases(whole: Table) -> Iterator[tuple[str, object]]:
    networks = table_at(table_at(whole, "NetworkSettings"), "Networks")
    given = {
        text_at(whole, "Id")[:_SHORT_ID],
        text_at(whole, "Name").removeprefix("/"),
        text_at(table_at(whole, "Config"), "Hostname"),
    }
    named = {name: sorted(set(texts_at(table_at(networks, name), ALIASES)) - given) for name in networks}
    found = {name: each for name, each in named.items() if each}
    if found:
        yield ALIASES, found


def _is_default(name: str, value: object, found: Table, info: Table) -> bool:
    if name in ("MaskedPaths", "ReadonlyPaths"):
        paths = expect(value, list, name)
        return bool(paths) and all(str(each).startswith(_PATHS) for each in paths)
    defaults = _defaults(found, info)
    return name in defaults and value == defaults[name]


def _defaults(found: Table, info: Table) -> Table:
    """Return what the engine gives a container for which nothing else was asked, where that is not nothing."""
    memory = found.get("Memory")
    return {
        "CgroupnsMode": "private" if info.get("CgroupVersion") == "2" else "host",
        "IpcMode": "private",
        "Isolation": "default",
        "LogConfig": {"Type": info.get("LoggingDriver") or "json-file", "Config": {}},
        "MemorySwap": 2 * memory if isinstance(memory, int) else 0,
        "MemorySwappiness": -1,
        "Runtime": info.get("DefaultRuntime") or "runc",
        "ShmSize": 64 * 1024 * 1024,
    }


def _says_something(value: object) -> bool:
    return bool(value) and value != [0, 0]
