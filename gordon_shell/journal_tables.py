"""Records in the tables of the journal: a pass goes in as a whole, its subjects once each; records come out by number."""

import json
import sqlite3
from typing import Final

from gordon_core.effects import Result
from gordon_core.observation import Clock
from gordon_core.snapshot import Snapshot, Subject
from gordon_shell.errors import DocumentError
from gordon_shell.journal import Kind, Record, Step
from gordon_shell.journal_rows import Packed, PackedRecord, unpacked, unpacked_text, value_of

_COLUMNS: Final = "number, pass, kind, is_whole, boot_s, wall_s, boot_id, subjects, plan, app, service, result, after FROM record"
_Row = tuple[int, int, str, int, float, float, str, str, bytes, str, str, str, int | None]


def insert_pass(connection: sqlite3.Connection, records: list[PackedRecord], number: int = 0) -> int:
    """Put in what one pass decided, within a transaction of the caller's, and return its number. Raise sqlite3.Error.

    `number`: of a pass that was begun to be put in, 0 for a new one; one that is not here (any more) is a new one, too.
    """
    if connection.execute("SELECT 1 FROM pass WHERE number = ?", (number,)).fetchone() is None:
        begun = connection.execute("INSERT INTO pass (wall_s) VALUES (?)", (records[0].record.clock.wall_s,))
        number = begun.lastrowid or 0
    for each in records:
        _insert(connection, each, number)
    return number


def _insert(connection: sqlite3.Connection, packed: PackedRecord, pass_number: int) -> None:
    record, step, clock = packed.record, packed.record.step, packed.record.clock
    row = (
        *(pass_number, record.kind.value, record.is_whole, clock.boot_s, clock.wall_s, clock.boot_id),
        *(packed.plan, step.app if step else "", step.service if step else "", packed.result),
    )
    inserted = connection.execute(
        "INSERT INTO record (pass, kind, is_whole, boot_s, wall_s, boot_id, subjects, plan, app, service, result) "
        "VALUES (?, ?, ?, ?, ?, ?, '', ?, ?, ?, ?)",
        row,
    )
    number = inserted.lastrowid or 0
    ids = [_put_subject(connection, each, number) for each in packed.subjects]
    after = _put_subject(connection, packed.after, number) if packed.after is not None else None
    connection.execute("UPDATE record SET subjects = ?, after = ? WHERE number = ?", (json.dumps(ids), after, number))
    mentions = [(each.app, each.service, number) for each in record.snapshot.subjects]
    connection.executemany("INSERT OR IGNORE INTO mention VALUES (?, ?, ?)", mentions)


def read_records(connection: sqlite3.Connection, numbers: list[int], held: dict[int, Subject]) -> list[Record]:
    """Return those records that there are; `held` are subjects that were read already, by their ID.

    Raise DocumentError and ValueError for what means nothing; sqlite3.Error.
    """
    marks = ", ".join("?" * len(numbers))
    rows = connection.execute(f"SELECT {_COLUMNS} WHERE number IN ({marks}) ORDER BY number", numbers)
    return [_record(connection, row, held) for row in rows.fetchall()]


def _put_subject(connection: sqlite3.Connection, packed: Packed, number: int) -> int:
    (found,) = connection.execute(
        "INSERT INTO subject (digest, content, newest) VALUES (?, ?, ?) "
        "ON CONFLICT (digest) DO UPDATE SET newest = excluded.newest RETURNING id",
        (packed.digest, packed.content, number),
    ).fetchone()
    return int(found)


def _record(connection: sqlite3.Connection, row: _Row, held: dict[int, Subject]) -> Record:
    number, pass_number, kind, is_whole, boot_s, wall_s, boot_id, subjects, plan, app, service, result, after = row
    found = [_subject(connection, each, held) for each in json.loads(subjects)]
    step = Step(app, service, value_of(result, Result), _subject(connection, after, held)) if after is not None else None
    snapshot = Snapshot(Clock(boot_s, wall_s, boot_id), found)
    return Record(Kind(kind), snapshot, unpacked_text(plan), step, bool(is_whole), number, pass_number)


def _subject(connection: sqlite3.Connection, subject_id: int, held: dict[int, Subject]) -> Subject:
    if subject_id not in held:
        found = connection.execute("SELECT content FROM subject WHERE id = ?", (subject_id,)).fetchone()
        if found is None:
            message = f"subject {subject_id} is missing"
            raise DocumentError(message)
        held[subject_id] = unpacked(found[0], Subject)
    return held[subject_id]
