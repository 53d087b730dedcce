"""What there is to say of a state file before anybody works with it. It only reads, and leaves no trace beside the file."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from gordon_shell.errors import StoreError
from gordon_shell.findings import Finding, error, failure, fine, warning
from gordon_shell.sqlite_schema import MIGRATIONS, missing
from gordon_shell.sqlite_snapshot import snapshot

PLACE = "state"
LEAST_FREE_BYTES = 64 * 1024 * 1024
_OTHERS = 0o077
_WAL = b"\x02\x02"
_WAL_AT = 18
"""Where a database file says in which journal mode it is written and read."""


def examine(path: Path, least_free_bytes: int = LEAST_FREE_BYTES) -> Iterator[Finding]:
    """Yield what there is to say of the state at this path."""
    try:
        if missing(path):
            yield warning(PLACE, f"there is no state at {path}", "gordon-shell adopt APP SERVICE=CONTAINER makes one")
            return
        yield from _of_content(path)
        yield from _of_file(path)
        yield from _of_disk(path, least_free_bytes)
    except StoreError as wrong:
        yield failure(PLACE, wrong)
    except OSError as wrong:
        yield error(PLACE, f"{path} cannot be looked at ({wrong.strerror})", "let this user read it and its directory")


def _of_content(path: Path) -> Iterator[Finding]:
    with closing(snapshot(path)) as copy:
        try:
            (answer,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.Error as wrong:
            answer = str(wrong)
    if answer == "ok":
        yield fine(PLACE, f"{path} is whole, of version {len(MIGRATIONS)}")
    else:
        yield error(PLACE, f"{path} is damaged: {answer}", "move it away, and import an export of it or adopt anew")


def _of_file(path: Path) -> Iterator[Finding]:
    with path.open("rb") as file:
        file.seek(_WAL_AT)
        mode = file.read(len(_WAL))
    if mode != _WAL:
        yield warning(
            PLACE, f"{path} is not in WAL mode, so that a reader may hold up a writer", "gordon-shell once puts it into WAL mode"
        )
    for each in (path, path.parent):
        if not os.access(each, os.W_OK):
            yield error(PLACE, f"{each} may not be written by this user", "run this as its owner, or make it writable")
    if path.stat().st_mode & _OTHERS:
        yield warning(PLACE, f"{path} is open to other users than its owner", f"chmod 600 {path}")


def _of_disk(path: Path, least_free_bytes: int) -> Iterator[Finding]:
    disk = os.statvfs(path)
    free = disk.f_bavail * disk.f_frsize
    if free < least_free_bytes:
        yield warning(PLACE, f"only {free // (1024 * 1024)} MiB are free where {path} is", "free some space on its disk")
