"""What the journal lets go of: the oldest first, in short transactions, so that nobody waits long for its lock."""

import sqlite3
from typing import Final

from gordon_shell.sqlite_schema import transaction

STEP: Final = 200
"""How many records go in one transaction at most; for their size, no more than a tenth of those that there are."""
MOST_STEPS: Final = 16
"""How many transactions one call makes: more than is written between two calls, so that what is too much does go."""
_PAGES: Final = 2000


def live_bytes(connection: sqlite3.Connection) -> int:
    """Return how many bytes of the file are in use."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    return int((pages - free) * size)


def prune(connection: sqlite3.Connection, since_s: float, most_bytes: int) -> None:
    """Let go of what is older than this (seconds since 1970), and of the oldest while there is more than so much.

    The file shrinks by what became free. Raise sqlite3.Error.
    """
    for _ in range(MOST_STEPS):
        is_too_much = live_bytes(connection) > most_bytes
        if not is_too_much and not _is_old(connection, since_s):
            break
        with transaction(connection, "BEGIN IMMEDIATE"):
            _prune_records(connection, since_s, is_too_much=is_too_much)
            for each in ("dossier", "deed"):
                _prune_others(connection, each, since_s, is_too_much=is_too_much)
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    if free:
        # As a script: its steps give no rows, and one that is executed stops after the first, with one page.
        connection.executescript(f"PRAGMA incremental_vacuum({_PAGES});")


def _is_old(connection: sqlite3.Connection, since_s: float) -> bool:
    oldest = connection.execute("SELECT wall_s FROM record ORDER BY number LIMIT 1").fetchone()
    ended = connection.execute("SELECT wall_s FROM dossier ORDER BY rowid LIMIT 1").fetchone()
    done = connection.execute("SELECT wall_s FROM deed ORDER BY rowid LIMIT 1").fetchone()
    return any(each is not None and each[0] < since_s for each in (oldest, ended, done))


def _prune_records(connection: sqlite3.Connection, since_s: float, *, is_too_much: bool) -> None:
    most = _tenth(connection, "SELECT min(number), max(number) FROM record") if is_too_much else STEP
    rows = connection.execute("SELECT number, wall_s FROM record ORDER BY number LIMIT ?", (most,)).fetchall()
    last = 0
    for number, wall_s in rows:
        if not is_too_much and wall_s >= since_s:
            break
        last = number
    connection.execute("DELETE FROM mention WHERE number <= ?", (last,))
    connection.execute("DELETE FROM record WHERE number <= ?", (last,))
    connection.execute("DELETE FROM subject WHERE newest <= ?", (last,))
    connection.execute("DELETE FROM pass WHERE number < (SELECT coalesce(min(pass), 0) FROM record)")


def _prune_others(connection: sqlite3.Connection, table: str, since_s: float, *, is_too_much: bool) -> None:
    """Dossiers, or deeds, that are as old as the records that go with them; where no record is left, the oldest."""
    oldest = connection.execute("SELECT wall_s FROM record ORDER BY number LIMIT 1").fetchone()
    most = STEP
    if is_too_much:
        since_s = max(since_s, oldest[0] if oldest is not None else float("inf"))
        most = _tenth(connection, f"SELECT min(rowid), max(rowid) FROM {table}")  # noqa: S608 - of our own words
    old = f"SELECT rowid FROM (SELECT rowid, wall_s FROM {table} ORDER BY rowid LIMIT ?) WHERE wall_s < ?"  # noqa: S608 - likewise
    connection.execute(f"DELETE FROM {table} WHERE rowid IN ({old})", (most, since_s))  # noqa: S608 - likewise


def _tenth(connection: sqlite3.Connection, ends: str) -> int:
    first, last = connection.execute(ends).fetchone()
    return 0 if first is None else min(STEP, (last - first) // 10 + 1)
