"""From rows to Stored values, at a cost that depends on what changed: a host of 100,000 services has cheap passes."""

import sqlite3
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import Final, TypeVar

from attrs import evolve, frozen

from gordon_core.grants import SETS_NOTHING, Overrides
from gordon_core.memory import NOTHING, Memory
from gordon_core.snapshot import Declared, Hold, Intent
from gordon_shell.codec import build, from_json, parse, to_json
from gordon_shell.errors import DocumentError, StoreError
from gordon_shell.ports import Journalled, Marker, Service, Stored

_ALL: Final = "SELECT app, service, kind, container_id, revision, value FROM contents ORDER BY app, service, kind, container_id"
_ONE: Final = (
    "SELECT app, service, kind, container_id, revision, value FROM contents WHERE app = ? AND service = ? "
    "ORDER BY kind, container_id"
)
_INTENTS: Final = "SELECT app, intent FROM app"
_INTENT: Final = "SELECT intent FROM app WHERE app = ?"

_WISHES: Final = frozenset({"inhibition", "hold", "tuning"})

T = TypeVar("T")
Row = tuple[str, str, str, str, int, str]
"""(app, service, kind, container ID, revision or 0, value) of the view `contents`"""


@frozen
class _Held:
    """What one service was read as: rows that are equal again mean the same object."""

    intent: str
    rows: tuple[Row, ...]
    stored: Stored | None


def declared_to_json(declared: Declared) -> str:
    """Return all of it but container ID and revision, which have columns of their own."""
    return to_json(declared, without=("container_id", "revision"))


def declared_from_row(container_id: str, revision: int, text: str) -> Declared:
    """Return what `declared_to_json` wrote. Raise DocumentError."""
    fields = parse(text, own=True)
    own = {"container_id": container_id, "revision": revision}
    return build(Declared, fields | own if isinstance(fields, dict) else fields)


class Rows:
    """The services as they were read last, and which of them this process wrote since. Not thread-safe."""

    def __init__(self) -> None:
        """Begin with nothing read."""
        self._held: dict[Service, _Held] = {}
        self._all: tuple[Stored, ...] = ()
        self._version: object = None
        self._touched: set[Service] = set()

    def touch(self, app: str, service: str) -> None:
        """Say that this connection may have changed a service, which SQLite's own change counter does not show."""
        self._touched.add((app, service))

    def touch_all(self) -> None:
        """Say that anything may have changed."""
        self._version = None

    def read(self, connection: sqlite3.Connection) -> tuple[Stored, ...]:
        """Return everything, within a transaction of the caller's. Raise StoreError for rows that mean nothing; sqlite3.Error."""
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if version != self._version or len(self._touched) * 8 > len(self._held):
            self._held = self._read_all(connection)
        elif self._touched:
            self._held = self._read_touched(connection)
        else:
            return self._all
        self._all = tuple(held.stored for held in self._held.values() if held.stored is not None)
        self._version = version
        self._touched.clear()
        return self._all

    def read_service(self, connection: sqlite3.Connection, app: str, service: str) -> Stored | None:
        """Return one service as it is now, within a transaction of the caller's. Raise as `read` does."""
        return self._read_one(connection, (app, service)).stored

    def _read_all(self, connection: sqlite3.Connection) -> dict[Service, _Held]:
        intents: dict[str, str] = dict(connection.execute(_INTENTS))
        groups = groupby(connection.execute(_ALL), itemgetter(0, 1))
        return {key: self._hold(key, intents.get(key[0], Intent.RUNNING.value), tuple(rows)) for key, rows in groups}

    def _read_touched(self, connection: sqlite3.Connection) -> dict[Service, _Held]:
        found = {key: self._read_one(connection, key) for key in self._touched}
        if all(held.rows and key in self._held for key, held in found.items()):
            self._held.update(found)
            return self._held
        merged = {key: held for key, held in (self._held | found).items() if held.rows}
        return dict(sorted(merged.items(), key=itemgetter(0)))

    def _read_one(self, connection: sqlite3.Connection, key: Service) -> _Held:
        intent = connection.execute(_INTENT, key[:1]).fetchone()
        rows = tuple(connection.execute(_ONE, key))
        return self._hold(key, intent[0] if intent else Intent.RUNNING.value, rows)

    def _hold(self, key: Service, intent: str, rows: tuple[Row, ...]) -> _Held:
        held = self._held.get(key)
        if held is not None and held.rows == rows and held.intent == intent:
            return held
        return _Held(intent, rows, _stored(key, Intent(intent), rows))


def _stored(key: Service, intent: Intent, rows: Iterable[Row]) -> Stored | None:
    """Return what the rows of one service mean; an inhibition, a hold or a tuning alone is nothing that a pass could look at."""
    kinds: dict[str, dict[str, Row]] = {}
    for row in rows:
        kinds.setdefault(row[2], {})[row[3]] = row
    if kinds.keys() <= _WISHES:
        return None
    active = next(iter(kinds.get("active", {}).values()), None)
    container_id = active[3] if active else ""
    inhibition = kinds.get("inhibition", {}).get(container_id)
    markers, memories = kinds.get("marker", {}), kinds.get("memory", {})
    memory, hold, tuning = memories.get(container_id), kinds.get("hold", {}).get(""), kinds.get("tuning", {}).get("")
    return Stored(
        *key,
        intent,
        declared=_declared(active) if active else None,
        inhibited=inhibition[5] if inhibition else "",
        memory=_decoded(Memory, memory) if memory else NOTHING,
        unproven="unproven" in kinds,
        markers=tuple(_decoded(Marker, row) for row in markers.values()),
        orphans=tuple(each for each in memories if each != container_id and each not in markers),
        candidates=tuple(_decoded(Journalled, row) for row in kinds.get("candidate", {}).values()),
        hold=_decoded(Hold, hold) if hold else None,
        tuning=_decoded(Overrides, tuning) if tuning else SETS_NOTHING,
    )


def _declared(row: Row) -> Declared:
    try:
        return declared_from_row(row[3], row[4], row[5])
    except DocumentError as error:
        raise _meaningless(row, error) from error


def _decoded(kind: type[T], row: Row) -> T:
    try:
        return from_json(kind, row[5])
    except DocumentError as error:
        raise _meaningless(row, error) from error


def _meaningless(row: Row, error: DocumentError) -> StoreError:
    message = (
        f"the state holds a row that means nothing, {row[2]} of {row[0]}/{row[1]} container {row[3]} ({error}); "
        "move the state away, and import an export of it or adopt anew"
    )
    return StoreError(message)


def is_nothing(memory: Memory) -> bool:
    """Tell whether there is nothing to remember, whatever boot that is of."""
    return evolve(memory, boot_id="") == NOTHING
