"""The tables of the journal, how its file is made, opened and read, and what an SQLite error means to an operator."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from gordon_shell.errors import JournalError
from gordon_shell.sqlite_schema import connect, run_script, sync, transaction
from gordon_shell.sqlite_snapshot import Stamp, beside, stamp

APPLICATION_ID: Final = 0x676F7268  # "gorh"
MOST_WAL_BYTES: Final = 4_000_000
BUSY_TIMEOUT_S: Final = 2

MIGRATIONS: Final = (
    # `newest` is the last record that refers to a subject: once that is gone, so may the subject be.
    """
    CREATE TABLE pass (number INTEGER PRIMARY KEY AUTOINCREMENT, wall_s REAL NOT NULL);
    CREATE TABLE subject (
        id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, content BLOB NOT NULL, newest INTEGER NOT NULL
    );
    CREATE INDEX subject_newest ON subject (newest);
    CREATE TABLE record (
        number INTEGER PRIMARY KEY AUTOINCREMENT, pass INTEGER NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('look', 'step')),
        is_whole INTEGER NOT NULL, boot_s REAL NOT NULL, wall_s REAL NOT NULL, boot_id TEXT NOT NULL,
        subjects TEXT NOT NULL, plan BLOB NOT NULL, app TEXT NOT NULL, service TEXT NOT NULL, result TEXT NOT NULL, after INTEGER
    );
    CREATE INDEX record_wall ON record (wall_s);
    CREATE TABLE mention (
        app TEXT NOT NULL, service TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (app, service, number)
    ) WITHOUT ROWID;
    CREATE INDEX mention_number ON mention (number);
    CREATE TABLE dossier (
        container_id TEXT NOT NULL, started_at TEXT NOT NULL, app TEXT NOT NULL, service TEXT NOT NULL, wall_s REAL NOT NULL,
        content BLOB NOT NULL, UNIQUE (container_id, started_at)
    );
    CREATE INDEX dossier_wall ON dossier (wall_s);
    CREATE TABLE deed (app TEXT NOT NULL, service TEXT NOT NULL, wall_s REAL NOT NULL, content BLOB NOT NULL);
    CREATE INDEX deed_wall ON deed (wall_s);
    CREATE TABLE kept (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    """,
)
"""What brings a journal from each version (its index) to the next; the version is SQLite's user_version.

Contents are zlib-compressed JSON in the form of documents, without what is as by default.
"""

_CANNOT_WRITE = "let this user write it and its directory, or name another journal with --history"
_DAMAGED = "move it away with what lies beside it (-wal, -shm), and a new one is begun"
_BUSY = "another program has kept it locked; end that program"
_REMEDIES: Final = {
    sqlite3.SQLITE_FULL: "free some space on its disk, or give it less in [journal] of the host policy",
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_READONLY: _CANNOT_WRITE,
    sqlite3.SQLITE_CANTOPEN: _CANNOT_WRITE,
    sqlite3.SQLITE_PERM: _CANNOT_WRITE,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
}


def told(path: Path, verb: str, error: Exception) -> str:
    """Return what went wrong as a sentence with its remedy; `verb` is what cannot be done ("written")."""
    words, remedy = str(error), _DAMAGED
    match error:
        case OSError():
            words, remedy = error.strerror or words, _CANNOT_WRITE
        case sqlite3.Error():
            remedy = _REMEDIES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "see to its disk and directory")
    return f"the journal at {path} cannot be {verb}: {words}; {remedy}"


def no_journal(path: Path) -> str:
    """Return the sentence for a journal that does not exist."""
    return f"there is no journal at {path}; `gordon-shell run` and `once` write one, or name another with --history"


def identity(path: Path) -> tuple[int, int]:
    """Return which file this is, (0, 0) where there is none: one that was moved away is not written any more. Raise OSError."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (found.st_dev, found.st_ino)


def opened(path: Path, migrations: tuple[str, ...] = MIGRATIONS) -> sqlite3.Connection:
    """Open a journal for writing; it is made where there is none, readable by its owner only. Raise JournalError."""
    try:
        if identity(path) == (0, 0):
            _make(path, migrations)
        connection = connect(path, "mode=rw")
        connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_S * 1000}").fetchall()
        try:
            _upgrade(connection, path, migrations)
        except BaseException:
            connection.close()
            raise
    except (OSError, sqlite3.Error) as error:
        raise JournalError(told(path, "opened", error)) from error
    return connection


@contextmanager
def looked_into(path: Path, lies: Stamp) -> Iterator[sqlite3.Connection]:
    """Open a journal for reading only, without a trace beside the file; see `sqlite_snapshot`, which says how.

    What was read counts if `is_guarded(lies)`, or the stamp is the same afterwards. Raise JournalError; sqlite3.Error; OSError.
    """
    _, wal, _ = lies
    if is_guarded(lies) or wal is None or wal[1] == 0:
        options = "mode=ro&readonly_shm=1" if is_guarded(lies) else "immutable=1"
        with closing(connect(path, options)) as connection:
            yield _known(connection, path)
        return
    with tempfile.TemporaryDirectory(prefix="gordon-") as room:
        copy = Path(room) / "history.db"
        shutil.copyfile(path, copy)
        shutil.copyfile(beside(path, "-wal"), beside(copy, "-wal"))
        with closing(connect(copy, "mode=rw")) as connection:
            yield _known(connection, path)


def is_guarded(lies: Stamp) -> bool:
    """Tell whether SQLite's own locks guard what is read: somebody has it open, or was killed."""
    _, wal, shm = lies
    return wal is not None and shm is not None


def _known(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    """Return the connection of a journal whose version is this program's. Raise JournalError."""
    version = _identify(connection, path, MIGRATIONS)
    if version < len(MIGRATIONS):
        message = f"the journal at {path} is of the older version {version}; `gordon-shell once` brings it up to date"
        raise JournalError(message)
    return connection


def _identify(connection: sqlite3.Connection, path: Path, migrations: tuple[str, ...]) -> int:
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application_id != APPLICATION_ID:
        message = f"{path} is not a journal of gordon-shell; name another file with --history, or move it away"
        raise JournalError(message)
    if version > len(migrations):
        message = (
            f"the journal at {path} is of version {version}, and this program knows {len(migrations)}; "
            "use a newer gordon-shell, or name another journal with --history"
        )
        raise JournalError(message)
    return int(version)


def _upgrade(connection: sqlite3.Connection, path: Path, migrations: tuple[str, ...]) -> None:
    """Bring it to the newest version in one transaction; also proves that it can be written."""
    connection.execute("PRAGMA synchronous = NORMAL")
    with transaction(connection, "BEGIN IMMEDIATE"):
        version = _identify(connection, path, migrations)
        for step in migrations[version:]:
            run_script(connection, step)
        if version < len(migrations):
            connection.execute(f"PRAGMA user_version = {len(migrations)}")
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA journal_size_limit = {MOST_WAL_BYTES}").fetchall()


def _make(path: Path, migrations: tuple[str, ...]) -> None:
    """Make an empty journal, whole; where somebody else makes one meanwhile, that one stays."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".gordon-", dir=path.parent) as room:
        made = Path(room) / "history.db"
        os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
        with closing(connect(made, "mode=rw")) as connection:
            # Before anything is in it: only then its file can shrink page by page.
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            _upgrade(connection, path, migrations)
        try:
            os.link(made, path)
        except FileExistsError:
            return
    sync(path.parent)


__all__ = [
    "APPLICATION_ID", "MIGRATIONS", "identity", "is_guarded", "looked_into", "no_journal", "opened", "stamp", "told",
]  # fmt: skip
