"""The state in an SQLite file: WAL, synchronous FULL, every write one immediate transaction.

What a call answered with Done survives a SIGKILL and a power failure. One connection, behind a lock, serves all threads of a
process; other processes may use the same file at the same time.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Final, Self

from attrs import evolve

from gordon_core.effects import Done, Fault, Generation, Outcome, Refused
from gordon_core.grants import SETS_NOTHING, Overrides
from gordon_core.memory import Memory, Verified
from gordon_core.observation import Binds
from gordon_core.snapshot import Declared, Hold, Intent
from gordon_shell.codec import from_json, to_json
from gordon_shell.errors import DocumentError, StoreError, UsageError
from gordon_shell.generations import refuse_activation, refuse_named, refuse_outdated
from gordon_shell.ports import Deployed, Journalled, Marker, Stored
from gordon_shell.sqlite_deploys import DELETE_CANDIDATE, UPSERT_CANDIDATE, UPSERT_MEMORY, forget, kept, settle, verify
from gordon_shell.sqlite_rows import Rows, declared_from_row, declared_to_json, is_nothing
from gordon_shell.sqlite_schema import blank, make, missing, no_state, opened, told, transaction
from gordon_shell.sqlite_snapshot import snapshot
from gordon_shell.state_document import insert, state_from_text, state_to_text

_UNWRITABLE: Final = (sqlite3.Error, UnicodeEncodeError, OverflowError)
_UPSERT_ACTIVE: Final = "INSERT OR REPLACE INTO active VALUES (?, ?, ?, ?, ?)"
_UPSERT_MARKER: Final = "INSERT OR REPLACE INTO marker VALUES (?, ?, ?, ?)"
_DELETE_ACTIVE: Final = "DELETE FROM active WHERE app = ? AND service = ? AND container_id = ? AND revision = ?"
_SELECT_ACTIVE: Final = "SELECT declared FROM active WHERE app = ? AND service = ? AND container_id = ? AND revision = ?"
_UPDATE_ACTIVE: Final = "UPDATE active SET declared = ? WHERE app = ? AND service = ? AND container_id = ? AND revision = ?"
SELECT_NAMER: Final = (
    "SELECT app, service FROM active WHERE container_id = ?1 AND (app, service) != (?2, ?3) "
    "UNION ALL SELECT app, service FROM marker WHERE container_id = ?1 AND (app, service) != (?2, ?3) LIMIT 1"
)
_DELETE_UNNAMED: Final = (
    "DELETE FROM memory WHERE app = ? AND service = ? AND container_id = ? "
    "AND NOT EXISTS (SELECT 1 FROM active AS a WHERE a.app = memory.app AND a.service = memory.service "
    "AND a.container_id = memory.container_id)"
)


class SqliteStore:
    """The StateStore of one file; see `open`."""

    def __init__(self, path: Path, connection: sqlite3.Connection, *, read_only: bool, unmade: bool = False) -> None:
        """Hold a connection that `open` made; `unmade`: to an empty state in memory, for as long as there is no file."""
        self._path = path
        self._connection: sqlite3.Connection | None = connection
        self._read_only = read_only
        self._unmade = unmade
        self._gate = RLock()
        self._rows = Rows()

    @classmethod
    def open(cls, path: Path, *, create: bool, read_only: bool = False) -> Self:
        """Open the state at this path. With `create` there may be none: it is empty then, and made by the first write.

        With `read_only` nothing is created or changed, not even beside the file: each read takes a copy into memory, and writes
        are refused. Raise StoreError: no such state, not a state, damaged, of a newer version, or not to be read or written.
        """
        if read_only:
            return cls(path, snapshot(path), read_only=True)
        if not missing(path):
            return cls(path, opened(path), read_only=False)
        if not create:
            raise StoreError(no_state(path))
        return cls(path, blank(), read_only=False, unmade=True)

    def read(self) -> tuple[Stored, ...]:
        """Return everything, sorted; see StateStore."""
        with self._reading() as connection:
            return self._rows.read(connection)

    def read_service(self, app: str, service: str) -> Stored | None:
        """Return one service as it is now; see StateStore."""
        with self._reading() as connection:
            return self._rows.read_service(connection, app, service)

    def activate(  # noqa: PLR0913, PLR0917 - all that has to be of one transaction
        self,
        app: str,
        service: str,
        declared: Declared,
        expected_revision: int,
        superseded: Marker | None,
        deployed: tuple[Deployed, ...] = (),
        *,
        verified: Verified | None = None,
    ) -> Outcome:
        """Name a container in ACTIVE, in one transaction with the marker of the one before and all the rest; see StateStore."""

        def work(connection: sqlite3.Connection) -> Outcome:
            found = connection.execute("SELECT revision FROM active WHERE app = ? AND service = ?", (app, service)).fetchone()
            held = found[0] if found else 0
            refusal = refuse_activation(app, service, held=held, expected=expected_revision, proposed=declared.revision)
            named = (declared.container_id, *([superseded.container_id] if superseded is not None else []))
            refusal = refusal or _refuse_named(connection, app, service, *named)
            if refusal is not None:
                return refusal
            row = (app, service, declared.container_id, declared.revision, declared_to_json(declared))
            connection.execute(_UPSERT_ACTIVE, row)
            if superseded is not None:
                connection.execute(_UPSERT_MARKER, (app, service, superseded.container_id, to_json(superseded)))
            settle(connection, app, service, declared.container_id, deployed)
            if verified is not None:
                verify(connection, (app, service, declared.container_id), verified)
            return Done()

        return self._write(app, service, work)

    def journal(self, app: str, service: str, candidate: Journalled) -> Outcome:
        """Write a candidate down; see StateStore."""
        return self._run(app, service, UPSERT_CANDIDATE, (app, service, candidate.container_id, to_json(candidate)))

    def drop_candidate(self, app: str, service: str, container_id: str) -> Outcome:
        """Take a candidate out of the journal; see StateStore."""
        return self._run(app, service, DELETE_CANDIDATE, (app, service, container_id))

    def deployed(self, app: str, service: str) -> tuple[Deployed, ...]:
        """Return what the latest revisions were made of; see StateStore."""
        with self._reading() as connection:
            return kept(connection, app, service)

    def deactivate(self, generation: Generation) -> Outcome:
        """Take a service out of ACTIVE; see StateStore."""

        def work(connection: sqlite3.Connection) -> Outcome:
            if not connection.execute(_DELETE_ACTIVE, _key(generation)).rowcount:
                return refuse_outdated(generation)
            forget(connection, generation.app, generation.service)
            return Done()

        return self._write(generation.app, generation.service, work)

    def persist_binds(self, generation: Generation, binds: Binds) -> Outcome:
        """Put the binds on record; see StateStore."""

        def work(connection: sqlite3.Connection) -> Outcome:
            found = connection.execute(_SELECT_ACTIVE, _key(generation)).fetchone()
            if found is None:
                return refuse_outdated(generation)
            declared = evolve(declared_from_row(generation.container_id, generation.revision, found[0]), binds=binds)
            connection.execute(_UPDATE_ACTIVE, (declared_to_json(declared), *_key(generation)))
            return Done()

        return self._write(generation.app, generation.service, work)

    def save_memory(self, app: str, service: str, container_id: str, memory: Memory) -> Outcome:
        """Replace what is remembered of one container; see StateStore."""
        key = (app, service, container_id)
        if is_nothing(memory):
            return self._run(app, service, "DELETE FROM memory WHERE app = ? AND service = ? AND container_id = ?", key)
        return self._run(app, service, UPSERT_MEMORY, (*key, to_json(memory)))

    def set_unproven(self, app: str, service: str, *, unproven: bool) -> Outcome:
        """Set or drop the mark that a withdrawal is unproven; see StateStore."""
        if unproven:
            return self._run(app, service, "INSERT OR REPLACE INTO unproven VALUES (?, ?)", (app, service))
        return self._run(app, service, "DELETE FROM unproven WHERE app = ? AND service = ?", (app, service))

    def set_intent(self, app: str, intent: Intent) -> Outcome:
        """Record the operator's wish for an app; see StateStore."""
        with self._gate:
            self._rows.touch_all()
            return self._run(app, "", "INSERT OR REPLACE INTO app VALUES (?, ?)", (app, intent.value))

    def inhibit(self, app: str, service: str, container_id: str, reason: str) -> Outcome:
        """Never start this exact container; see StateStore."""
        row = (app, service, container_id, reason or "no reason given")
        return self._run(app, service, "INSERT OR REPLACE INTO inhibition VALUES (?, ?, ?, ?)", row)

    def allow(self, app: str, service: str, container_id: str) -> Outcome:
        """Drop the inhibition; see StateStore."""
        key = (app, service, container_id)
        return self._run(app, service, "DELETE FROM inhibition WHERE app = ? AND service = ? AND container_id = ?", key)

    def set_hold(self, app: str, service: str, hold: Hold | None) -> Outcome:
        """Record a hold, or its end; see StateStore."""
        if hold is None:
            return self._run(app, service, "DELETE FROM hold WHERE app = ? AND service = ?", (app, service))
        return self._run(app, service, "INSERT OR REPLACE INTO hold VALUES (?, ?, ?)", (app, service, to_json(hold)))

    def set_tuning(self, app: str, service: str, tuning: Overrides) -> Outcome:
        """Replace what is tuned; see StateStore."""
        if tuning == SETS_NOTHING:
            return self._run(app, service, "DELETE FROM tuning WHERE app = ? AND service = ?", (app, service))
        return self._run(app, service, "INSERT OR REPLACE INTO tuning VALUES (?, ?, ?)", (app, service, to_json(tuning)))

    def mark(self, app: str, service: str, marker: Marker) -> Outcome:
        """Add or replace the retirement marker of a superseded container; see StateStore."""

        def work(connection: sqlite3.Connection) -> Outcome:
            refusal = _refuse_named(connection, app, service, marker.container_id)
            if refusal is not None:
                return refusal
            connection.execute(_UPSERT_MARKER, (app, service, marker.container_id, to_json(marker)))
            return Done()

        return self._write(app, service, work)

    def release_claims(self, app: str, service: str, container_id: str) -> Outcome:
        """Take the binds off a marker; see StateStore."""
        key = (app, service, container_id)

        def work(connection: sqlite3.Connection) -> Outcome:
            select = "SELECT marker FROM marker WHERE app = ? AND service = ? AND container_id = ?"
            found = connection.execute(select, key).fetchone()
            if found is not None:
                released = evolve(from_json(Marker, found[0]), binds=())
                connection.execute(_UPSERT_MARKER, (*key, to_json(released)))
            return Done()

        return self._write(app, service, work)

    def drop_marker(self, app: str, service: str, container_id: str) -> Outcome:
        """Drop a retirement marker with the memory of its container; see StateStore."""
        key = (app, service, container_id)

        def work(connection: sqlite3.Connection) -> Outcome:
            connection.execute("DELETE FROM marker WHERE app = ? AND service = ? AND container_id = ?", key)
            connection.execute(_DELETE_UNNAMED, key)
            return Done()

        return self._write(app, service, work)

    def export_state(self) -> str:
        """Return everything as one JSON document, the same bytes for the same state. Raise StoreError."""
        with self._reading() as connection:
            return state_to_text(connection)

    def import_state(self, text: str) -> None:
        """Write such a document into a state that is empty: all of it or nothing.

        Raise DocumentError, naming every fault; UsageError where the state is not empty; StoreError.
        """
        state = state_from_text(text)

        def work(connection: sqlite3.Connection) -> Outcome:
            _refuse_contents(connection, self._path)
            insert(connection, state)
            return Done()

        with self._gate:
            self._check_open()
            if self._read_only:
                raise StoreError(self._only_reading())
            self._rows.touch_all()
            try:
                self._transact(work)
            except sqlite3.Error as error:
                raise StoreError(told(self._path, "written", error)) from error
            except (UnicodeEncodeError, OverflowError) as error:
                message = f"$: cannot be kept: {error}"
                raise DocumentError(message) from error

    def close(self) -> None:
        """Let go of the file; every later call raises StoreError. A second close does nothing."""
        with self._gate:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def _check_open(self) -> sqlite3.Connection:
        if self._connection is None:
            message = f"the state at {self._path} is closed; open it again"
            raise StoreError(message)
        return self._connection

    def _present(self) -> sqlite3.Connection:
        """Return the connection, to the file as soon as there is one."""
        connection = self._check_open()
        if self._unmade and not missing(self._path):
            self._connection, self._unmade = opened(self._path), False
            connection.close()
            self._rows.touch_all()
        return self._check_open()

    def _transact(self, work: Callable[[sqlite3.Connection], Outcome]) -> Outcome:
        """Do this in one transaction; where there is no state yet, it is made with just that in it."""
        if self._unmade and missing(self._path):
            outcome = make(self._path, work)
            if outcome is not None:
                return outcome
        with transaction(self._present(), "BEGIN IMMEDIATE") as connection:
            return work(connection)

    def _only_reading(self) -> str:
        return f"the state at {self._path} is open for reading only; open it for writing"

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._gate:
            connection = self._present()
            if self._read_only:
                connection.close()
                self._connection = connection = snapshot(self._path)
                self._rows.touch_all()
            try:
                with transaction(connection, "BEGIN"):
                    yield connection
            except (sqlite3.Error, DocumentError) as error:
                raise StoreError(told(self._path, "read", error)) from error

    def _run(self, app: str, service: str, statement: str, values: tuple[str, ...]) -> Outcome:
        def work(connection: sqlite3.Connection) -> Outcome:
            connection.execute(statement, values)
            return Done()

        return self._write(app, service, work)

    def _write(self, app: str, service: str, work: Callable[[sqlite3.Connection], Outcome]) -> Outcome:
        with self._gate:
            self._check_open()
            if self._read_only:
                return Refused(self._only_reading(), Fault.STORE)
            self._rows.touch(app, service)
            try:
                return self._transact(work)
            except StoreError as error:
                return Refused(str(error), Fault.STORE)
            except (*_UNWRITABLE, DocumentError) as error:
                return Refused(told(self._path, "written", error), Fault.STORE)


def _refuse_contents(connection: sqlite3.Connection, path: Path) -> None:
    (count,) = connection.execute("SELECT (SELECT count(*) FROM contents) + (SELECT count(*) FROM app)").fetchone()
    if count:
        message = f"the state at {path} is not empty; import into a new one, named with --state"
        raise UsageError(message)


def _refuse_named(connection: sqlite3.Connection, app: str, service: str, *container_ids: str) -> Refused | None:
    for each in container_ids:
        namer = connection.execute(SELECT_NAMER, (each, app, service)).fetchone()
        if namer is not None:
            return refuse_named(app, service, each, namer)
    return None


def _key(generation: Generation) -> tuple[str, str, str, int]:
    return generation.app, generation.service, generation.container_id, generation.revision
