"""The tables of the state, how a database of them is made and recognised, and what an SQLite error means to an operator."""

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from gordon_core.effects import Done, Outcome
from gordon_shell.errors import DocumentError, StoreError

APPLICATION_ID: Final = 0x676F7264  # "gord"
BUSY_TIMEOUT_S: Final = 5.0

MIGRATIONS: Final = (
    """
    CREATE TABLE app (
        app TEXT PRIMARY KEY, intent TEXT NOT NULL CHECK (intent IN ('running', 'stopped'))
    ) WITHOUT ROWID;
    CREATE TABLE active (
        app TEXT, service TEXT, container_id TEXT NOT NULL,
        revision INTEGER NOT NULL CHECK (revision > 0), declared TEXT NOT NULL,
        PRIMARY KEY (app, service)
    ) WITHOUT ROWID;
    CREATE TABLE inhibition (
        app TEXT, service TEXT, container_id TEXT, reason TEXT NOT NULL, PRIMARY KEY (app, service, container_id)
    ) WITHOUT ROWID;
    CREATE TABLE marker (
        app TEXT, service TEXT, container_id TEXT, marker TEXT NOT NULL, PRIMARY KEY (app, service, container_id)
    ) WITHOUT ROWID;
    CREATE TABLE memory (
        app TEXT, service TEXT, container_id TEXT, memory TEXT NOT NULL, PRIMARY KEY (app, service, container_id)
    ) WITHOUT ROWID;
    CREATE TABLE unproven (app TEXT, service TEXT, PRIMARY KEY (app, service)) WITHOUT ROWID;
    CREATE VIEW contents AS
        SELECT app, service, 'active' AS kind, container_id, revision, declared AS value FROM active
        UNION ALL SELECT app, service, 'inhibition', container_id, 0, reason FROM inhibition
        UNION ALL SELECT app, service, 'marker', container_id, 0, marker FROM marker
        UNION ALL SELECT app, service, 'memory', container_id, 0, memory FROM memory
        UNION ALL SELECT app, service, 'unproven', '', 0, '' FROM unproven;
    """,
    # Who names a container is asked before each write that names one.
    """
    CREATE INDEX active_container ON active (container_id);
    CREATE INDEX marker_container ON marker (container_id);
    """,
    # Not in the view: what was deployed, which is large and which no pass looks at.
    """
    CREATE TABLE candidate (
        app TEXT, service TEXT, container_id TEXT, candidate TEXT NOT NULL, PRIMARY KEY (app, service, container_id)
    ) WITHOUT ROWID;
    CREATE TABLE deployed (
        app TEXT NOT NULL, service TEXT NOT NULL, revision INTEGER NOT NULL CHECK (revision > 0), deployed TEXT NOT NULL,
        PRIMARY KEY (app, service, revision)
    );
    DROP VIEW contents;
    CREATE VIEW contents AS
        SELECT app, service, 'active' AS kind, container_id, revision, declared AS value FROM active
        UNION ALL SELECT app, service, 'candidate', container_id, 0, candidate FROM candidate
        UNION ALL SELECT app, service, 'inhibition', container_id, 0, reason FROM inhibition
        UNION ALL SELECT app, service, 'marker', container_id, 0, marker FROM marker
        UNION ALL SELECT app, service, 'memory', container_id, 0, memory FROM memory
        UNION ALL SELECT app, service, 'unproven', '', 0, '' FROM unproven;
    """,
    # Of a service, whichever container it has.
    """
    CREATE TABLE hold (app TEXT, service TEXT, hold TEXT NOT NULL, PRIMARY KEY (app, service)) WITHOUT ROWID;
    CREATE TABLE tuning (app TEXT, service TEXT, tuning TEXT NOT NULL, PRIMARY KEY (app, service)) WITHOUT ROWID;
    DROP VIEW contents;
    CREATE VIEW contents AS
        SELECT app, service, 'active' AS kind, container_id, revision, declared AS value FROM active
        UNION ALL SELECT app, service, 'candidate', container_id, 0, candidate FROM candidate
        UNION ALL SELECT app, service, 'hold', '', 0, hold FROM hold
        UNION ALL SELECT app, service, 'inhibition', container_id, 0, reason FROM inhibition
        UNION ALL SELECT app, service, 'marker', container_id, 0, marker FROM marker
        UNION ALL SELECT app, service, 'memory', container_id, 0, memory FROM memory
        UNION ALL SELECT app, service, 'tuning', '', 0, tuning FROM tuning
        UNION ALL SELECT app, service, 'unproven', '', 0, '' FROM unproven;
    """,
)
"""What brings a database from each version (its index) to the next; the version is SQLite's user_version.

Values are JSON without what is as by default, so a default that changes needs a migration that writes the old one out.
"""

_CANNOT_WRITE = "let this user write it and its directory, or name another state with --state"
_DAMAGED = "move it away, and import an export of it or adopt anew"
_REMEDIES: Final = {
    sqlite3.SQLITE_FULL: "free some space on its disk",
    sqlite3.SQLITE_BUSY: "another program has kept it locked; try again, or end that program",
    sqlite3.SQLITE_LOCKED: "another program has kept it locked; try again, or end that program",
    sqlite3.SQLITE_READONLY: _CANNOT_WRITE,
    sqlite3.SQLITE_CANTOPEN: _CANNOT_WRITE,
    sqlite3.SQLITE_PERM: _CANNOT_WRITE,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
}


def told(path: Path, verb: str, error: Exception) -> str:
    """Return what went wrong as a sentence with its remedy; `verb` is what cannot be done ("written")."""
    words, remedy = str(error), "name what it is to hold differently"
    match error:
        case OSError():
            words, remedy = error.strerror or words, _CANNOT_WRITE
        case DocumentError():
            remedy = _DAMAGED
        case sqlite3.Error():
            remedy = _REMEDIES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "see to its disk and directory")
    return f"the state at {path} cannot be {verb}: {words}; {remedy}"


def no_state(path: Path) -> str:
    """Return the sentence for a state that does not exist."""
    return f"there is no state at {path}, so nothing is touched; `gordon-shell adopt` makes one"


@contextmanager
def transaction(connection: sqlite3.Connection, begin: str) -> Iterator[sqlite3.Connection]:
    """Keep the block within one transaction, which commits at its end and is rolled back by an exception."""
    connection.execute(begin)
    try:
        yield connection
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def connect(path: Path, options: str) -> sqlite3.Connection:
    """Open the database file with these options of an SQLite URI. Raise sqlite3.Error."""
    uri = f"{path.absolute().as_uri()}?{options}"
    return sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)


def missing(path: Path) -> bool:
    """Tell whether there is no file at all. Raise StoreError where that cannot be told."""
    try:
        path.stat()
    except FileNotFoundError:
        return True
    except OSError as error:
        raise StoreError(told(path, "opened", error)) from error
    return False


def identify(connection: sqlite3.Connection, path: Path, migrations: tuple[str, ...] = MIGRATIONS) -> int:
    """Return the version of the database. Raise StoreError for another program's and for a newer one; sqlite3.Error."""
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application_id != APPLICATION_ID:
        message = f"{path} is not a state of gordon-shell; name another file with --state, or move it away"
        raise StoreError(message)
    if version > len(migrations):
        message = (
            f"the state at {path} is of version {version}, and this program knows {len(migrations)}; use a newer gordon-shell"
        )
        raise StoreError(message)
    return int(version)


def upgrade(connection: sqlite3.Connection, path: Path, migrations: tuple[str, ...] = MIGRATIONS) -> None:
    """Bring the database to the newest version, in one transaction; also proves that it can be written.

    Raise StoreError as `identify` does, and sqlite3.Error, with nothing changed.
    """
    connection.execute("PRAGMA synchronous = FULL")
    with transaction(connection, "BEGIN IMMEDIATE"):
        version = identify(connection, path, migrations)
        for step in migrations[version:]:
            run_script(connection, step)
        if version < len(migrations):
            connection.execute(f"PRAGMA user_version = {len(migrations)}")
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        connection.execute("PRAGMA journal_mode = WAL")


def opened(path: Path) -> sqlite3.Connection:
    """Open an existing state for reading and writing, and bring it up to date. Raise StoreError."""
    try:
        connection = connect(path, "mode=rw")
        try:
            upgrade(connection, path)
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise StoreError(told(path, "opened", error)) from error
    return connection


def blank() -> sqlite3.Connection:
    """Return an empty state in this process's own memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    _set_up(connection, Path(":memory:"))
    return connection


def make(path: Path, fill: Callable[[sqlite3.Connection], Outcome]) -> Outcome | None:
    """Make a state that begins with what `fill` writes, whole or, unless that is Done, not at all; return what `fill` did.

    Where somebody else makes one meanwhile, that one stays, and None is returned. Raise StoreError, and what `fill` raises beside
    sqlite3.Error.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".gordon-", dir=path.parent) as room:
            made = Path(room) / "state.db"
            os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
            with closing(connect(made, "mode=rw")) as connection:
                _set_up(connection, made)
                with transaction(connection, "BEGIN IMMEDIATE"):
                    outcome = fill(connection)
            if not isinstance(outcome, Done):
                return outcome
            os.link(made, path)
        sync(path.parent)
    except FileExistsError:
        return None
    except (OSError, sqlite3.Error) as error:
        raise StoreError(told(path, "made", error)) from error
    return outcome


def _set_up(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    upgrade(connection, path)


def run_script(connection: sqlite3.Connection, script: str) -> None:
    """Run statements one by one: `executescript` would commit the transaction that they belong to."""
    statement = ""
    for part in script.split(";")[:-1]:
        statement += f"{part};"
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


def sync(directory: Path) -> None:
    """Have what is in a directory survive a power failure. Raise OSError."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
