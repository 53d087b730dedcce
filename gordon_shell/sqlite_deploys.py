"""What deploys leave in the tables of the state: candidates, what they verified, and what the latest revisions were made of.

Every function works within a transaction of the caller's, and may raise sqlite3.Error.
"""

import sqlite3
from typing import Final

from attrs import evolve

from gordon_core.memory import NOTHING, Memory, Verified
from gordon_shell.codec import from_json, to_json
from gordon_shell.history import KEPT, without_values
from gordon_shell.ports import Deployed, Service

UPSERT_CANDIDATE: Final = "INSERT OR REPLACE INTO candidate VALUES (?, ?, ?, ?)"
DELETE_CANDIDATE: Final = "DELETE FROM candidate WHERE app = ? AND service = ? AND container_id = ?"
UPSERT_MEMORY: Final = "INSERT OR REPLACE INTO memory VALUES (?, ?, ?, ?)"
_SELECT_MEMORY: Final = "SELECT memory FROM memory WHERE app = ? AND service = ? AND container_id = ?"
_DELETE_MARKER: Final = "DELETE FROM marker WHERE app = ? AND service = ? AND container_id = ?"
_UPSERT: Final = "INSERT OR REPLACE INTO deployed VALUES (?, ?, ?, ?)"
_SELECT: Final = "SELECT deployed FROM deployed WHERE app = ? AND service = ? ORDER BY revision DESC"
_SELECT_ALL: Final = "SELECT app, service, deployed FROM deployed ORDER BY app, service, revision DESC"
_DELETE: Final = "DELETE FROM deployed WHERE app = ? AND service = ?"
_DELETE_OLDER: Final = (
    "DELETE FROM deployed WHERE app = ?1 AND service = ?2 AND revision NOT IN "
    "(SELECT revision FROM deployed WHERE app = ?1 AND service = ?2 ORDER BY revision DESC LIMIT ?3)"
)


def settle(connection: sqlite3.Connection, app: str, service: str, container_id: str, deployed: tuple[Deployed, ...]) -> None:
    """End what was on record of a container before ACTIVE named it, its marker and its journal entry; keep what was deployed."""
    connection.execute(_DELETE_MARKER, (app, service, container_id))
    connection.execute(DELETE_CANDIDATE, (app, service, container_id))
    keep(connection, app, service, deployed)


def verify(connection: sqlite3.Connection, key: tuple[str, str, str], verified: Verified) -> None:
    """Put what was verified of a container (app, service, ID) into what is remembered of it. Raise DocumentError."""
    found = connection.execute(_SELECT_MEMORY, key).fetchone()
    known = from_json(Memory, found[0]) if found is not None else NOTHING
    connection.execute(UPSERT_MEMORY, (*key, to_json(evolve(known, verified=verified))))


def keep(connection: sqlite3.Connection, app: str, service: str, deployed: tuple[Deployed, ...]) -> None:
    """Write down what revisions were made of, without values, and delete those that are too old."""
    rows = ((app, service, each.revision, to_json(without_values(each))) for each in deployed)
    connection.executemany(_UPSERT, rows)
    connection.execute(_DELETE_OLDER, (app, service, KEPT))


def forget(connection: sqlite3.Connection, app: str, service: str) -> None:
    """Delete what the revisions of a service were made of."""
    connection.execute(_DELETE, (app, service))


def kept(connection: sqlite3.Connection, app: str, service: str) -> tuple[Deployed, ...]:
    """Return what the revisions of a service were made of, the newest first. Raise DocumentError."""
    return tuple(from_json(Deployed, text) for (text,) in connection.execute(_SELECT, (app, service)))


def all_kept(connection: sqlite3.Connection) -> dict[Service, tuple[Deployed, ...]]:
    """Return that of every service that has any. Raise DocumentError."""
    found: dict[Service, tuple[Deployed, ...]] = {}
    for app, service, text in connection.execute(_SELECT_ALL):
        found[app, service] = (*found.get((app, service), ()), from_json(Deployed, text))
    return found
