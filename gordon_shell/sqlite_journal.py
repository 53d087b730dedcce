"""The journal in an SQLite file of its own beside the state: WAL, synchronous NORMAL, every pass one immediate transaction.

What was written survives a SIGKILL; a power failure may cost the last passes, and nothing else. The file is opened, and made,
by the first call that needs it, and opened again where somebody moved it away. Several processes may write one.
"""

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from math import inf
from pathlib import Path
from threading import RLock
from typing import Final, TypeVar

from gordon_core.snapshot import Subject
from gordon_shell.errors import DocumentError, JournalError, UnprunedError
from gordon_shell.host_settings import DAY_S, JournalSettings
from gordon_shell.journal import FOREVER_S, Deed, Dossier, Extent, Record
from gordon_shell.journal_pruning import live_bytes, prune
from gordon_shell.journal_rows import Packed, packed, packed_record, unpacked
from gordon_shell.journal_schema import identity, is_guarded, looked_into, no_journal, opened, stamp, told
from gordon_shell.journal_tables import insert_pass, read_records
from gordon_shell.sqlite_schema import transaction

_LOOKS: Final = 10
_PAUSE_S: Final = 0.02
_CHUNK: Final = 64
_MOST_HELD: Final = 4096
CLOCK_SET_S: Final = 3600.0
"""How long after a boot nothing goes for its age: until the network has set it, a host's clock may be years ahead."""
_CLOSING_S: Final = 0.5
_UNWRITABLE: Final = (sqlite3.Error, ValueError, OverflowError, OSError)
T = TypeVar("T")


class SqliteJournal:
    """The Journal of one file. With `read_only` nothing is created or changed, not even beside the file."""

    def __init__(self, path: Path, settings: JournalSettings | None = None, *, read_only: bool = False) -> None:
        """Keep as much as the settings say."""
        self._path = path
        self._settings = settings if settings is not None else JournalSettings()
        self._read_only = read_only
        self._gate = RLock()
        self._connection: sqlite3.Connection | None = None
        self._identity = (0, 0)
        self._is_closed = False
        self._pass_number = 0

    # --- writing -----------------------------------------------------------------------------------------------------------

    def write(
        self, records: Iterable[Record], dossiers: Iterable[Dossier] = (), deeds: Iterable[Deed] = (), *, goes_on: bool = False
    ) -> None:
        """Write what one pass decided, or was done, and let go of what is too old or too much; see Journal."""
        try:
            known: dict[int, tuple[Subject, Packed]] = {}
            new = [packed_record(each, known) for each in records]
            ends = [(each, packed(each, Dossier)) for each in dossiers]
            done = [(each, packed(each, Deed)) for each in deeds]
        except ValueError as error:
            what = "what was decided, or done, cannot be put in the journal"
            message = f"{what} at {self._path}: {error}; see where such a text comes from"
            raise JournalError(message) from error

        def work(connection: sqlite3.Connection) -> None:
            if new:
                self._pass_number = insert_pass(connection, new, self._pass_number if goes_on else 0)
            for each, content in ends:
                row = (each.container_id, each.started_at, each.app, each.service, each.clock.wall_s, content.content)
                connection.execute("INSERT OR IGNORE INTO dossier VALUES (?, ?, ?, ?, ?, ?)", row)
            rows = ((each.app, each.service, each.clock.wall_s, content.content) for each, content in done)
            connection.executemany("INSERT INTO deed VALUES (?, ?, ?, ?)", rows)

        self._write(work)
        clocks = [each.record.clock for each in new] + [each.clock for each, _ in ends] + [each.clock for each, _ in done]
        self._prune(max((each.wall_s for each in clocks if each.boot_s >= CLOCK_SET_S), default=-inf))

    def keep(self, key: str, text: str) -> None:
        """Keep a small text; see Journal."""
        if text:
            self._write(lambda connection: _run(connection, "INSERT OR REPLACE INTO kept VALUES (?, ?)", key, text))
        elif self.kept(key):
            self._write(lambda connection: _run(connection, "DELETE FROM kept WHERE key = ?", key))

    def close(self) -> None:
        """Let go of the file; every later call raises JournalError. One that hangs in it lets go of it when it is back."""
        self._is_closed = True
        if self._gate.acquire(timeout=_CLOSING_S):
            self._let_go()
            self._gate.release()

    # --- reading -----------------------------------------------------------------------------------------------------------

    def records(
        self, app: str = "", service: str = "", since_s: float = 0.0, until_s: float = FOREVER_S, *, newest: int | None = None
    ) -> Iterator[Record]:
        """Return records, oldest first; see Journal."""
        mentioned = " AND ".join(each for each, wanted in (("app = ?", app), ("service = ?", service)) if wanted)
        within = f" AND number IN (SELECT number FROM mention WHERE {mentioned})" if mentioned else ""  # noqa: S608 - our own words
        order = "ORDER BY number" if newest is None else "ORDER BY number DESC LIMIT ?"
        values = (since_s, until_s, *filter(None, (app, service)), *(() if newest is None else (max(0, newest),)))
        select = f"SELECT number FROM record WHERE wall_s BETWEEN ? AND ?{within} {order}"  # noqa: S608 - likewise
        numbers = sorted(self._read(lambda connection: [number for (number,) in connection.execute(select, values)]))
        return self._each(numbers)

    def record(self, number: int) -> Record | None:
        """Return one record; see Journal."""
        return next(self._each([number]), None)

    def dossiers(self, app: str = "", service: str = "", since_s: float = 0.0, until_s: float = FOREVER_S) -> tuple[Dossier, ...]:
        """Return how executions ended, oldest first; see Journal."""
        select = (
            "SELECT content FROM dossier WHERE wall_s BETWEEN ? AND ? AND ? IN ('', app) AND ? IN ('', service) ORDER BY rowid"
        )
        rows = self._read(lambda connection: connection.execute(select, (since_s, until_s, app, service)).fetchall())
        with self._meaning():
            return tuple(unpacked(content, Dossier) for (content,) in rows)

    def deeds(
        self, app: str = "", service: str = "", since_s: float = 0.0, until_s: float = FOREVER_S, *, newest: int | None = None
    ) -> tuple[Deed, ...]:
        """Return what was done, oldest first; see Journal."""
        select = (
            "SELECT content FROM deed WHERE wall_s BETWEEN ? AND ? AND ? IN ('', app) AND (service = '' OR ? IN ('', service)) "
            "ORDER BY rowid DESC LIMIT ?"
        )
        values = (since_s, until_s, app, service, -1 if newest is None else max(0, newest))
        rows = self._read(lambda connection: connection.execute(select, values).fetchall())
        with self._meaning():
            return tuple(unpacked(content, Deed) for (content,) in reversed(rows))

    def has_dossier(self, container_id: str, started_at: str) -> bool:
        """Tell whether the end of this execution is on record."""
        select = "SELECT 1 FROM dossier WHERE container_id = ? AND started_at = ?"
        return self._read(lambda connection: connection.execute(select, (container_id, started_at)).fetchone()) is not None

    def kept(self, key: str) -> str:
        """Return what is kept under this key, "" where nothing is."""
        found = self._read(lambda connection: connection.execute("SELECT value FROM kept WHERE key = ?", (key,)).fetchone())
        return str(found[0]) if found is not None else ""

    def extent(self) -> Extent:
        """Return what it holds."""
        select = (
            "SELECT (SELECT count(*) FROM record), (SELECT count(*) FROM dossier), (SELECT count(*) FROM deed), "
            "min(first), max(last) FROM "
            "(SELECT min(wall_s) AS first, max(wall_s) AS last FROM record UNION ALL "
            "SELECT min(wall_s), max(wall_s) FROM dossier UNION ALL SELECT min(wall_s), max(wall_s) FROM deed)"
        )

        def work(connection: sqlite3.Connection) -> Extent:
            records, dossiers, deeds, first_s, last_s = connection.execute(select).fetchone()
            return Extent(records, dossiers, first_s or 0.0, last_s or 0.0, live_bytes(connection), deeds)

        return self._read(work)

    # --- the file ----------------------------------------------------------------------------------------------------------

    def _check_open(self) -> None:
        if self._is_closed:
            message = f"the journal at {self._path} is closed; open it again"
            raise JournalError(message)

    def _present(self) -> sqlite3.Connection:
        """Return the connection to the file that has this name now. Raise JournalError; OSError."""
        self._check_open()
        if self._connection is not None and identity(self._path) != self._identity:
            self._let_go()
        if self._connection is None:
            self._connection = opened(self._path)
            self._identity = identity(self._path)
        return self._connection

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):  # a file that is damaged, or a disk that is full, also when it is closed
                connection.close()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Have the file to oneself for a block; where it was closed meanwhile, it is let go of after that."""
        with self._gate:
            try:
                yield
            finally:
                if self._is_closed:
                    self._let_go()

    def _write(self, work: Callable[[sqlite3.Connection], None]) -> None:
        with self._turn():
            self._check_open()
            if self._read_only:
                message = f"the journal at {self._path} is open for reading only; open it for writing"
                raise JournalError(message)
            try:
                with transaction(self._present(), "BEGIN IMMEDIATE") as connection:
                    work(connection)
            except _UNWRITABLE as error:
                self._let_go()
                raise JournalError(told(self._path, "written", error)) from error

    def _prune(self, newest_s: float) -> None:
        settings = self._settings
        with self._turn():
            if self._is_closed:
                return
            try:
                prune(self._present(), newest_s - settings.days * DAY_S, settings.megabytes * 1_000_000)
            except (*_UNWRITABLE, JournalError) as error:
                self._let_go()
                words = str(error) if isinstance(error, JournalError) else told(self._path, "pruned", error)
                raise UnprunedError(words) from error

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._read_only:
            return self._look(work)
        with self._turn():
            try:
                with transaction(self._present(), "BEGIN") as connection:
                    return work(connection)
            except (sqlite3.Error, OSError) as error:
                self._let_go()
                raise JournalError(told(self._path, "read", error)) from error

    def _look(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Read without a trace; what was read while the file changed unguarded does not count."""
        self._check_open()
        for _ in range(_LOOKS):
            before = stamp(self._path)
            if before[0] is None:
                raise JournalError(no_journal(self._path))
            try:
                # In one transaction: what somebody lets go of meanwhile is still there for whoever began before that.
                with looked_into(self._path, before) as connection, transaction(connection, "BEGIN"):
                    found = work(connection)
                if is_guarded(before) or stamp(self._path) == before:
                    return found
            except (sqlite3.Error, OSError) as error:
                recovers = getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY_RECOVERY
                if stamp(self._path) == before and not recovers:
                    raise JournalError(told(self._path, "read", error)) from error
            except JournalError:
                if is_guarded(before) or stamp(self._path) == before:
                    raise
            time.sleep(_PAUSE_S)
        message = f"the journal at {self._path} was changing during each of {_LOOKS} looks at it; try again"
        raise JournalError(message)

    def _each(self, numbers: list[int]) -> Iterator[Record]:
        held: dict[int, Subject] = {}
        for start in range(0, len(numbers), _CHUNK):
            chunk = numbers[start : start + _CHUNK]
            yield from self._read(partial(self._records, numbers=chunk, held=held))

    def _records(self, connection: sqlite3.Connection, numbers: list[int], held: dict[int, Subject]) -> list[Record]:
        if len(held) > _MOST_HELD:
            held.clear()
        with self._meaning():
            return read_records(connection, numbers, held)

    @contextmanager
    def _meaning(self) -> Iterator[None]:
        try:
            yield
        except (DocumentError, ValueError) as error:
            raise JournalError(told(self._path, "read", error)) from error


def _run(connection: sqlite3.Connection, statement: str, *values: str) -> None:
    connection.execute(statement, values)
