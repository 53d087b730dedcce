"""What the journal holds as one JSON document, one record a line: what `history --format json` writes and `replay FILE` reads.

    {"document": "gordon-history", "version": 1,
     "dossiers": [{...}, ...],
     "deeds": [{...}, ...],
     "records": [{"number": 7, "pass": 3, "kind": "look", "snapshot": {...}, "plan": {...}}, ...]}

The snapshot and the plan of a record are whole documents of their own kinds. A step says what was done, and what came of it.
"""

import json
from collections.abc import Iterable, Iterator
from typing import cast

from attrs import frozen

from gordon_core.decoding import reader
from gordon_core.document import LARGEST_BYTES, DocumentFaults, read_snapshot, write_snapshot
from gordon_core.readings import plain
from gordon_core.scalars import MisfitError
from gordon_core.shapes import nearest, printable
from gordon_core.snapshot import Snapshot
from gordon_shell.errors import DocumentError
from gordon_shell.inputs import contents
from gordon_shell.journal import Deed, Dossier, Record
from gordon_shell.journal_rows import text_of

NAME = "gordon-history"
VERSION = 1
_PARTS = ("document", "version", "dossiers", "deeds", "records")
_KEYS = ("number", "pass", "kind", "is_whole", "step", "snapshot", "plan")
_HEAD = f'must be an object that begins with "document": "{NAME}", as `gordon-plan history --format json` writes it'


@frozen
class Recorded:
    """What is needed of a record to decide it again: its number, what it was decided upon, and its plan as it was written."""

    number: int
    snapshot: Snapshot
    plan: str


def recorded(record: Record) -> Recorded:
    """Return what of a record of the journal is decided again."""
    return Recorded(record.number, record.snapshot, record.plan)


def document(records: Iterable[Record], dossiers: Iterable[Dossier], deeds: Iterable[Deed]) -> Iterator[str]:
    """Yield the document, piece by piece: a journal may be larger than what fits into memory."""
    yield f'{{"document": "{NAME}", "version": {VERSION},\n"dossiers": ['
    yield from _listed(dossier_fields(each) for each in dossiers)
    yield '],\n"deeds": ['
    yield from _listed(deed_fields(each) for each in deeds)
    yield '],\n"records": ['
    yield from _listed(record_fields(each) for each in records)
    yield "]}\n"


def _listed(items: Iterable[dict[str, object]]) -> Iterator[str]:
    for index, each in enumerate(items):
        yield f"{',' if index else ''}\n{json.dumps(each, ensure_ascii=False, allow_nan=False)}"


def record_fields(record: Record) -> dict[str, object]:
    """Return a record as JSON data."""
    step = record.step
    done = {"app": step.app, "service": step.service, **_fields(step.result)} if step is not None else None
    return {
        "number": record.number,
        "pass": record.pass_number,
        "kind": record.kind.value,
        **({"is_whole": True} if record.is_whole else {}),
        **({"step": done} if done is not None else {}),
        "snapshot": json.loads(write_snapshot(record.snapshot)),
        "plan": json.loads(record.plan),
    }


def dossier_fields(dossier: Dossier) -> dict[str, object]:
    """Return a dossier as JSON data."""
    return _written(dossier, Dossier)


def deed_fields(deed: Deed) -> dict[str, object]:
    """Return a deed as JSON data."""
    return _written(deed, Deed)


def _written(value: object, kind: type) -> dict[str, object]:
    return cast("dict[str, object]", json.loads(text_of(value, kind)))


def _fields(value: object) -> dict[str, object]:
    found = plain(value)
    return {str(key): each for key, each in found.items()} if isinstance(found, dict) else {}


def read_history(name: str) -> tuple[Recorded, ...]:
    """Return the records of such a document; "-" is standard input.

    Raise UsageError where it cannot be read, and DocumentError with every fault of it, one a line.
    """
    data = contents(name)
    if len(data) > LARGEST_BYTES:
        message = f"{name}: $: is larger than 32 MiB, and nothing larger is read; write less with --since, or replay the journal"
        raise DocumentError(message)
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        message = f"{name}: $: is not JSON ({printable(str(error), 200)}); name what `gordon-plan history --format json` wrote"
        raise DocumentError(message) from None
    faults: list[str] = []
    read = tuple(_records(found, faults))
    if faults:
        raise DocumentError("\n".join(f"{name}: {each}" for each in faults))
    return read


def _records(table: object, faults: list[str]) -> Iterator[Recorded]:
    if not isinstance(table, dict) or table.get("document") != NAME:
        faults.append(f"$: {_HEAD}")
    elif table.get("version") != VERSION:
        faults.append(f"$.version: must be {VERSION}; use the program that wrote it")
    elif not isinstance(table.get("records"), list):
        faults.append("$.records: must be a list")
    else:
        faults += (*_strange(table, "$", _PARTS), *_misfits(table, "dossiers", Dossier), *_misfits(table, "deeds", Deed))
        for index, each in enumerate(table["records"]):
            yield from _record(each, f"$.records[{index}]", faults)


def _misfits(table: dict[str, object], part: str, kind: type) -> Iterator[str]:
    """Yield what is wrong with what is told beside the records: nothing is decided of it, and it is read all the same."""
    found = table.get(part, [])
    if not isinstance(found, list):
        yield f"$.{part}: must be a list"
        return
    for index, each in enumerate(found):
        try:
            reader(kind)(each)
        except MisfitError as error:
            yield from map(str, error.under(f"$.{part}[{index}]"))


def _record(table: object, path: str, faults: list[str]) -> Iterator[Recorded]:
    if not isinstance(table, dict):
        faults.append(f"{path}: must be an object")
        return
    faults += _strange(table, path, _KEYS)
    number, snapshot, plan = table.get("number", 0), table.get("snapshot"), table.get("plan")
    if not isinstance(number, int) or not isinstance(plan, dict) or not isinstance(snapshot, dict):
        faults.append(f"{path}: must have a number, a snapshot and a plan")
        return
    try:
        # The plan is what it was, byte for byte, as long as nobody changed the order of its keys.
        yield Recorded(number, read_snapshot(json.dumps(snapshot)), f"{json.dumps(plan, indent=2, ensure_ascii=False)}\n")
    except DocumentFaults as error:
        faults += (f"{path}.snapshot{each.path.removeprefix('$')}: {each.wrong}" for each in error.faults)


def _strange(table: dict[str, object], path: str, known: tuple[str, ...]) -> Iterator[str]:
    for key in table:
        if key not in known:
            near = nearest(key, known)
            yield f"{path}.{printable(key, 60)}: is not known here; {f'did you mean {near}?' if near else 'leave it out'}"
