"""What the journal's columns say: subjects, results and dossiers as compressed JSON in the form of documents."""

import hashlib
import json
import zlib
from typing import TypeVar, cast

from attrs import frozen

from gordon_core.decoding import reader
from gordon_core.encoding import writer
from gordon_core.scalars import MisfitError
from gordon_core.snapshot import Subject
from gordon_shell.errors import DocumentError
from gordon_shell.journal import Record

_LEVEL = 6
_DIGEST_BYTES = 16
T = TypeVar("T")


@frozen(eq=False)
class Packed:
    """A value as it is kept; its digest is that of what it says."""

    digest: bytes
    content: bytes


@frozen(eq=False)
class PackedRecord:
    """A record as it is kept, made before any lock is taken: its subjects in the order of the snapshot."""

    record: Record
    subjects: tuple[Packed, ...]
    plan: bytes
    result: str = ""
    after: Packed | None = None


def packed(value: object, kind: type) -> Packed:
    """Return an attrs value of the core, or of the journal, as it is kept. Raise ValueError for what no document can say."""
    content = text_of(value, kind).encode()
    return Packed(hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest(), zlib.compress(content, _LEVEL))


def text_of(value: object, kind: type) -> str:
    """Return a value as JSON in one line, in the form of documents."""
    return json.dumps(writer(kind)(value), separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def packed_text(text: str) -> bytes:
    """Return a text as it is kept."""
    return zlib.compress(text.encode(), _LEVEL)


def unpacked_text(content: bytes) -> str:
    """Return a text that was kept. Raise DocumentError."""
    try:
        return zlib.decompress(content).decode()
    except (zlib.error, ValueError) as error:
        message = f"a text in it is damaged: {error}"
        raise DocumentError(message) from error


def unpacked(content: bytes, kind: type[T]) -> T:
    """Return a value that was kept. Raise DocumentError."""
    return value_of(unpacked_text(content), kind)


def value_of(text: str, kind: type[T]) -> T:
    """Return the value that `text_of` wrote. Raise DocumentError."""
    plain_kind: type = kind
    try:
        return cast("T", reader(plain_kind)(json.loads(text)))
    except ValueError as error:
        message = f"a row in it means nothing: {error}"
        raise DocumentError(message) from error
    except MisfitError as error:
        message = f"a row in it means nothing: {'; '.join(map(str, error.under('$')))}"
        raise DocumentError(message) from error


def packed_record(record: Record, known: dict[int, tuple[Subject, Packed]]) -> PackedRecord:
    """Return a record as it is kept; `known` are the subjects packed before for the same pass, by identity."""
    step = record.step
    return PackedRecord(
        record,
        tuple(_packed_subject(each, known) for each in record.snapshot.subjects),
        packed_text(record.plan),
        text_of(step.result, type(step.result)) if step is not None else "",
        _packed_subject(step.after, known) if step is not None else None,
    )


def _packed_subject(subject: Subject, known: dict[int, tuple[Subject, Packed]]) -> Packed:
    found = known.get(id(subject))
    if found is None:
        found = known[id(subject)] = (subject, packed(subject, Subject))
    return found[1]
