"""Snapshots and plans as documents: JSON in UTF-8, strict, versioned, and read back to exactly the values that were written.

The form of a document, whose parts are described by the shipped JSON Schemas:

    {"document": "gordon-snapshot", "version": 1, "clock": {...}, "services": [...]}
    {"document": "gordon-plan", "version": 1, "clock": {...}, "lines": [...]}

Keys come in the order of the fields, indented by two, with a newline at the end. A field equal to its default is not written,
and need not be there to be read. A port is "80/tcp"; a bind {"port": "80/tcp", "host_port": 32768}; what was seen, a route, an
effect and an outcome say which one they are in their first key ({"seen": "gone"}). The clock's `wall` is an RFC 3339 time in UTC
with as many digits of a second as make it exact. Seconds may be read without a decimal point, and are written with one.

All faults of a document are named at once. One that is no document of the right kind and version is told that alone.
"""

import json
from collections import Counter
from typing import NoReturn, cast

from gordon_core.decoding import MOST_FAULTS, reader
from gordon_core.encoding import writer
from gordon_core.record import PlanRecord
from gordon_core.scalars import MisfitError
from gordon_core.shapes import PLAN, SNAPSHOT, VERSION, DocumentFault, Huge, Repeating, shown
from gordon_core.snapshot import Snapshot

LARGEST_BYTES = 32 * 1024 * 1024
MOST_PRINTED = 100
_MOST_DIGITS = 640
_TOO_LARGE = "is larger than 32 MiB, and nothing larger is read; check that it is the right file"
_BOM = b"\xef\xbb\xbf"


class DocumentFaults(ValueError):  # noqa: N818 - it carries faults, one or many
    """A document that cannot be read, with everything that is wrong with it."""

    def __init__(self, faults: tuple[DocumentFault, ...]) -> None:
        """Keep the faults, of which there is one at least."""
        super().__init__(faults)
        self.faults = faults

    def __str__(self) -> str:
        """Print one line per fault; beyond a hundred, how many more there are."""
        lines = [str(each) for each in self.faults[:MOST_PRINTED]]
        more = len(self.faults) - MOST_PRINTED
        if more > 0:
            lines.append(f"and {'at least ' if len(self.faults) >= MOST_FAULTS else ''}{more} more")
        return "\n".join(lines)


def write_snapshot(snapshot: Snapshot) -> str:
    """Return the snapshot as a document. Raise ValueError where a number is infinite or a text holds half a surrogate pair."""
    return _write(snapshot, Snapshot)


def read_snapshot(text: str | bytes) -> Snapshot:
    """Return what a snapshot document says. Raise DocumentFaults."""
    return cast("Snapshot", _read(text, SNAPSHOT, Snapshot))


def write_plan(record: PlanRecord) -> str:
    """Return the plan as a document. Raise ValueError where a number is infinite or a text holds half a surrogate pair."""
    return _write(record, PlanRecord)


def read_plan(text: str | bytes) -> PlanRecord:
    """Return what a plan document says. Raise DocumentFaults."""
    return cast("PlanRecord", _read(text, PLAN, PlanRecord))


def _write(value: object, kind: type) -> str:
    text = json.dumps(writer(kind)(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    text.encode()
    return text


def _read(text: str | bytes, name: str, kind: type) -> object:
    table = _parse(_decoded(text))
    _demand(table, name)
    try:
        return reader(kind)(table)
    except MisfitError as error:
        raise DocumentFaults(tuple(error.under("$"))) from None


def _refuse(wrong: str, path: str = "$") -> NoReturn:
    raise DocumentFaults((DocumentFault(path, wrong),)) from None


def _decoded(text: str | bytes) -> str:
    """Return the text of a document that is small enough, UTF-8, and not empty."""
    if len(text) > LARGEST_BYTES:
        _refuse(_TOO_LARGE)
    try:
        raw = text.encode() if isinstance(text, str) else text
        decoded = raw.decode()
    except UnicodeEncodeError:
        _refuse("must be Unicode text, without half a surrogate pair")
    except UnicodeDecodeError as error:
        _refuse(f"is not UTF-8 at byte {error.start + 1}; save it as UTF-8, or check that it is the right file")
    if len(raw) > LARGEST_BYTES:
        _refuse(_TOO_LARGE)
    if raw.startswith(_BOM):
        _refuse("begins with a byte order mark; save it as UTF-8 without one")
    if b"\0" in raw:
        _refuse(f"holds a NUL byte at {_place(decoded, decoded.index(chr(0)))}; check that it is the right file")
    if not decoded.strip():
        _refuse("is empty; a document is a JSON object")
    return decoded


def _place(text: str, index: int) -> str:
    return f"line {text.count(chr(10), 0, index) + 1}, column {index - text.rfind(chr(10), 0, index)}"


def _parse(text: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_int=_whole)
    except json.JSONDecodeError as error:
        _refuse(f"is not JSON at line {error.lineno}, column {error.colno}; the parser says: {error.msg}")
    except RecursionError:
        _refuse("is nested too deeply; no part of a document is more than a dozen levels deep")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) == len(pairs):
        return table
    repeating = Repeating(table)
    repeating.repeated = tuple(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
    return repeating


def _whole(digits: str) -> int | Huge:
    return int(digits) if len(digits) <= _MOST_DIGITS else Huge(len(digits.removeprefix("-")))


def _demand(table: object, name: str) -> None:
    """Refuse what is no document of this name and of a version that this program reads; its other faults would mislead."""
    if not isinstance(table, dict):
        _refuse(f'must be an object that begins with "document": "{name}"; found {shown(table)}')
    if "document" not in table:
        _refuse(f'is missing; it must be "{name}"', "$.document")
    if table["document"] != name:
        _refuse(f'must be "{name}"; found {shown(table["document"])}', "$.document")
    if "version" not in table:
        _refuse(f"is missing; it must be {VERSION}", "$.version")
    version = table["version"]
    if not isinstance(version, int) or isinstance(version, bool) or version < VERSION:
        _refuse(f"must be {VERSION}; found {shown(version)}", "$.version")
    if version > VERSION:
        _refuse(f"version {version} is newer than this program's {VERSION}; update it", "$.version")


__all__ = [
    "LARGEST_BYTES", "MOST_PRINTED", "DocumentFault", "DocumentFaults",
    "read_plan", "read_snapshot", "write_plan", "write_snapshot",
]  # fmt: skip
