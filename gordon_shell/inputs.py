"""Snapshot documents from files and from standard input, with everything that is wrong with any of them told at once."""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from gordon_core.document import LARGEST_BYTES, DocumentFaults, read_snapshot
from gordon_core.snapshot import Snapshot
from gordon_shell.errors import DocumentError, GordonError, UsageError

STDIN = "-"
_SERVICE = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
"""What an operator may have meant as APP/SERVICE."""


def read_snapshots(names: Sequence[str]) -> tuple[Snapshot, ...]:
    """Return the snapshots of these documents, in order; "-" is standard input.

    Raise UsageError where one cannot be read, else DocumentError where one is no snapshot; either names every fault of every
    document, one a line, as `FILE: $.path: what is wrong`.
    """
    if names.count(STDIN) > 1:
        message = 'standard input ("-") can be read only once; name it once'
        raise UsageError(message)
    snapshots: list[Snapshot] = []
    errors: list[GordonError] = []
    for name in names:
        try:
            snapshots.append(_snapshot(name))
        except (UsageError, DocumentError) as error:
            errors.append(error)
    if errors:
        raise _worst(errors)
    return tuple(snapshots)


def _worst(errors: list[GordonError]) -> GordonError:
    lines = "\n".join(map(str, errors))
    # Either prints as it stands: each of its lines begins with the file that it is about.
    worst = DocumentError(lines)
    worst.exit_code = min(each.exit_code for each in errors)
    return worst


def _snapshot(name: str) -> Snapshot:
    try:
        return read_snapshot(contents(name))
    except DocumentFaults as faults:
        raise DocumentError("\n".join(f"{name}: {line}" for line in str(faults).split("\n"))) from None


def contents(name: str) -> bytes:
    """Return what is in the file, "-" being standard input: no more than tells that it is too large. Raise UsageError."""
    try:
        if name != STDIN:
            with Path(name).open("rb") as file:
                return _read(file)
        if sys.stdin is None:
            message = f"{name}: cannot be read (standard input is closed); pipe a document into it, or name a file"
            raise UsageError(message)
        return _read(sys.stdin.buffer)
    except OSError as error:
        is_service = isinstance(error, FileNotFoundError) and _SERVICE.fullmatch(name) and not name.endswith(".json")
        right = f"; of a service tells: gordon-plan explain {name}" if is_service else ""
        message = f"{name}: cannot be read ({error.strerror}); name a snapshot document{right}"
        raise UsageError(message) from None


def _read(file: BinaryIO) -> bytes:
    return b"".join(_blocks(file))


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    left = LARGEST_BYTES + 1
    while left > 0 and (block := file.read(min(left, 1 << 20))):
        left -= len(block)
        yield block
