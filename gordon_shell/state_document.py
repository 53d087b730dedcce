"""The whole state as one JSON document: what `gordon-shell export` prints and `import` takes.

It round-trips ACTIVE, intents, inhibitions, holds, what is tuned, markers, unproven marks, memory and what was deployed exactly.
Memory is evidence of executions, by container ID and start time, so a document that outlived its containers proves nothing and
does no harm. The journal of deploys is left out: it is of candidates that live now.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import Final

from attrs import Attribute, field, frozen
from attrs.validators import in_, instance_of, min_len

from gordon_core.grants import SETS_NOTHING, Overrides
from gordon_core.memory import Memory
from gordon_core.observation import Gone
from gordon_core.snapshot import Declared, Hold, Intent, Superseded
from gordon_shell.codec import build, from_json, parse, plain, to_json
from gordon_shell.ports import Deployed, Marker, Service
from gordon_shell.sqlite_deploys import all_kept, keep
from gordon_shell.sqlite_rows import Row, declared_from_row, declared_to_json, is_nothing

FORMAT: Final = "gordon-state"
VERSION: Final = 1
_ROWS: Final = (
    "SELECT app, service, kind, container_id, revision, value FROM contents WHERE kind != 'candidate' "
    "ORDER BY app, service, kind, container_id"
)
_INSERT_MARKER: Final = "INSERT INTO marker VALUES (?, ?, ?, ?)"
_INSERT_MEMORY: Final = "INSERT INTO memory VALUES (?, ?, ?, ?)"


def _once(what: str, values: Iterable[object]) -> None:
    repeated = [str(value) for value, times in Counter(values).items() if times > 1]
    if repeated:
        message = f"each {what} once; repeated: {', '.join(repeated)}"
        raise ValueError(message)


@frozen
class AppRecord:
    """The operator's wish for one app; apps that are not listed are to run."""

    app: str = field(validator=min_len(1))
    intent: Intent = field(validator=instance_of(Intent))


@frozen
class InhibitionRecord:
    """A container that is never to be started, and why."""

    container_id: str = field(validator=min_len(1))
    reason: str = field(validator=min_len(1))


@frozen
class MemoryRecord:
    """What is remembered of one container."""

    container_id: str = field(validator=min_len(1))
    memory: Memory = field(validator=instance_of(Memory))


@frozen
class ServiceRecord:
    """All that the state holds of one service."""

    app: str = field(validator=min_len(1))
    service: str = field(validator=min_len(1))
    declared: Declared | None = None
    unproven: bool = False
    inhibitions: tuple[InhibitionRecord, ...] = field(default=())
    markers: tuple[Marker, ...] = field(default=())
    memories: tuple[MemoryRecord, ...] = field(default=())
    deployed: tuple[Deployed, ...] = field(default=())
    hold: Hold | None = None
    tuning: Overrides = SETS_NOTHING

    @inhibitions.validator
    def _inhibitions_once(self, _attribute: "Attribute[object]", value: tuple[InhibitionRecord, ...]) -> None:
        _once("inhibited container", (each.container_id for each in value))

    @markers.validator
    def _markers_once(self, _attribute: "Attribute[object]", value: tuple[Marker, ...]) -> None:
        _once("superseded container", (each.container_id for each in value))
        for each in value:  # a marker must be one that a snapshot can carry
            Superseded(each.container_id, Gone(), each.stop_grace_s, each.binds, each.verified)

    @memories.validator
    def _memories_once(self, _attribute: "Attribute[object]", value: tuple[MemoryRecord, ...]) -> None:
        _once("remembered container", (each.container_id for each in value))

    @deployed.validator
    def _deployed_before(self, _attribute: "Attribute[object]", value: tuple[Deployed, ...]) -> None:
        _once("deployed revision", (each.revision for each in value))
        newest = self.declared.revision if self.declared is not None else 0
        impossible = [str(each.revision) for each in value if not 1 <= each.revision <= newest]
        if impossible:
            message = f"each deployed revision must be the declared one or before it; neither: {', '.join(impossible)}"
            raise ValueError(message)


@frozen
class StateRecord:
    """The document: its format and version, then the apps and services of the host."""

    format: str = field(validator=in_((FORMAT,)))
    version: int = field(validator=in_((VERSION,)))
    apps: tuple[AppRecord, ...] = field(default=())
    services: tuple[ServiceRecord, ...] = field(default=())

    @apps.validator
    def _apps_once(self, _attribute: "Attribute[object]", value: tuple[AppRecord, ...]) -> None:
        _once("app", (each.app for each in value))

    @services.validator
    def _services_once(self, _attribute: "Attribute[object]", value: tuple[ServiceRecord, ...]) -> None:
        _once("service", (f"{each.app}/{each.service}" for each in value))
        _refuse_shared(value)


def _refuse_shared(services: tuple[ServiceRecord, ...]) -> None:
    """Raise ValueError where two services name one container, in ACTIVE or as superseded."""
    namers: dict[str, dict[str, None]] = {}
    for each in services:
        declared = [each.declared.container_id] if each.declared is not None else []
        for container_id in (*declared, *(marker.container_id for marker in each.markers)):
            namers.setdefault(container_id, {})[f"{each.app}/{each.service}"] = None
    shared = [f"{container_id} by {' and '.join(names)}" for container_id, names in namers.items() if len(names) > 1]
    if shared:
        message = f"a container is of one service; named are: {', '.join(shared)}"
        raise ValueError(message)


def state_to_text(connection: sqlite3.Connection) -> str:
    """Return the document of everything, in a stable order. Raise DocumentError for rows that mean nothing; sqlite3.Error."""
    intents = connection.execute("SELECT app, intent FROM app ORDER BY app")
    apps = tuple(AppRecord(app, Intent(intent)) for app, intent in intents)
    deployed = all_kept(connection)
    groups = groupby(connection.execute(_ROWS), itemgetter(0, 1))
    services = tuple(_record(key, tuple(rows), deployed.get(key, ())) for key, rows in groups)
    return json.dumps(plain(StateRecord(FORMAT, VERSION, apps, services)), indent=2) + "\n"


def state_from_text(text: str) -> StateRecord:
    """Return the document that a text is. Raise DocumentError, naming every fault with its path."""
    return build(StateRecord, parse(text))


def insert(connection: sqlite3.Connection, state: StateRecord) -> None:
    """Write the document into an empty database, within a transaction of the caller's. Raise sqlite3.Error."""
    connection.executemany("INSERT INTO app VALUES (?, ?)", ((each.app, each.intent.value) for each in state.apps))
    for each in state.services:
        _insert_service(connection, each)


def _record(key: Service, rows: tuple[Row, ...], deployed: tuple[Deployed, ...]) -> ServiceRecord:
    active, hold, tuning = (next((row for row in rows if row[2] == kind), None) for kind in ("active", "hold", "tuning"))
    return ServiceRecord(
        *key,
        declared_from_row(*active[3:]) if active else None,
        any(row[2] == "unproven" for row in rows),
        tuple(InhibitionRecord(row[3], row[5]) for row in rows if row[2] == "inhibition"),
        tuple(from_json(Marker, row[5]) for row in rows if row[2] == "marker"),
        tuple(MemoryRecord(row[3], from_json(Memory, row[5])) for row in rows if row[2] == "memory"),
        deployed,
        from_json(Hold, hold[5]) if hold else None,
        from_json(Overrides, tuning[5]) if tuning else SETS_NOTHING,
    )


def _insert_service(connection: sqlite3.Connection, each: ServiceRecord) -> None:
    key, declared = (each.app, each.service), each.declared
    if declared is not None:
        active = (*key, declared.container_id, declared.revision, declared_to_json(declared))
        connection.execute("INSERT INTO active VALUES (?, ?, ?, ?, ?)", active)
    if each.unproven:
        connection.execute("INSERT INTO unproven VALUES (?, ?)", key)
    if each.hold is not None:
        connection.execute("INSERT INTO hold VALUES (?, ?, ?)", (*key, to_json(each.hold)))
    if each.tuning != SETS_NOTHING:
        connection.execute("INSERT INTO tuning VALUES (?, ?, ?)", (*key, to_json(each.tuning)))
    inhibitions = ((*key, one.container_id, one.reason) for one in each.inhibitions)
    connection.executemany("INSERT INTO inhibition VALUES (?, ?, ?, ?)", inhibitions)
    connection.executemany(_INSERT_MARKER, ((*key, one.container_id, to_json(one)) for one in each.markers))
    keep(connection, *key, each.deployed)
    kept = (one for one in each.memories if not is_nothing(one.memory))
    connection.executemany(_INSERT_MEMORY, ((*key, one.container_id, to_json(one.memory)) for one in kept))
