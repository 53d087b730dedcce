"""A copy of the state in this process's own memory, made without leaving a trace beside the file.

Reading a database in WAL mode is not innocent: SQLite makes its -wal and -shm files if they are missing, also when it is asked
to open for reading only. So how a file is read depends on what lies beside it:

- no -wal, or an empty one that nobody shares: everything is in the file itself, which is read as it is (immutable);
- a -wal and a -shm: somebody has it open, or was killed; SQLite reads both without writing to either (readonly_shm);
- a -wal alone (a copied or restored state): SQLite would make the -shm; a copy of both in a temporary directory is read.

The first and the third take no locks. What they read counts only if the files were the same before and after. One gap remains:
a program that closes the state between our look and SQLite's open lets SQLite make an empty -wal, which the next one takes away.
"""

import shutil
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Final

from gordon_shell.errors import StoreError
from gordon_shell.sqlite_schema import MIGRATIONS, connect, identify, missing, no_state, told

_LOOKS: Final = 10
_PAUSE_S: Final = 0.02
Stamp = tuple[tuple[int, int, int] | None, ...]


def snapshot(path: Path) -> sqlite3.Connection:
    """Return the state as it is now, in memory. Raise StoreError where there is none, or none that can be read."""
    for _ in range(_LOOKS):
        if missing(path):
            raise StoreError(no_state(path))
        try:
            before = stamp(path)
            read, counts = _copy(path, before)
            if counts or stamp(path) == before:
                return read
            read.close()
        except (OSError, sqlite3.Error) as error:
            if stamp(path) == before and not _recovering(error):
                raise StoreError(told(path, "read", error)) from error
        time.sleep(_PAUSE_S)
    message = f"the state at {path} was changing during each of {_LOOKS} looks at it; try again"
    raise StoreError(message)


def _recovering(error: Exception) -> bool:
    """Tell whether somebody is just now putting a -wal of a killed program in order, which only a writer may do."""
    return getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY_RECOVERY


def beside(path: Path, suffix: str) -> Path:
    """Return the path of what SQLite keeps beside a database."""
    return path.with_name(path.name + suffix)


def stamp(path: Path) -> Stamp:
    """Return inode, size and modification time of the file and its -wal, and whether a -shm is there; None: it is missing."""
    found: list[tuple[int, int, int] | None] = []
    for each in (path, beside(path, "-wal")):
        try:
            seen = each.stat()
            found.append((seen.st_ino, seen.st_size, seen.st_mtime_ns))
        except FileNotFoundError:
            found.append(None)
    found.append((0, 0, 0) if beside(path, "-shm").exists() else None)
    return tuple(found)


def _copy(path: Path, lies: Stamp) -> tuple[sqlite3.Connection, bool]:
    """Return a copy, and whether SQLite's own locks guarded it."""
    _, wal, shm = lies
    if wal is not None and shm is not None:
        return _load(path, path, "mode=ro&readonly_shm=1"), True
    if wal is None or wal[1] == 0:
        return _load(path, path, "immutable=1"), False
    with tempfile.TemporaryDirectory(prefix="gordon-") as room:
        shutil.copyfile(path, Path(room) / "state.db")
        shutil.copyfile(beside(path, "-wal"), Path(room) / "state.db-wal")
        return _load(path, Path(room) / "state.db", "mode=rw"), False


def _load(path: Path, source: Path, options: str) -> sqlite3.Connection:
    with closing(connect(source, options)) as connection:
        version = identify(connection, path)
        if version < len(MIGRATIONS):
            message = f"the state at {path} is of the older version {version}; `gordon-shell once` brings it up to date"
            raise StoreError(message)
        copied = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        try:
            connection.backup(copied)
        except sqlite3.Error:
            copied.close()
            raise
        return copied
