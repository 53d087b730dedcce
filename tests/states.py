"""States on disk for tests, and a place of one MiB."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gordon_core.effects import Done
from gordon_core.memory import Memory, Verified
from gordon_core.observation import Bind, Port
from gordon_core.snapshot import Declared
from gordon_shell.sqlite_store import SqliteStore

BINDS = (Bind(Port(80), 32768),)
DECLARED = Declared("old", 1, (Port(80),), BINDS)
VERIFIED = Verified("2026-01-01T00:00:00.5Z", BINDS, 1)

COUNT_UP = """
import sys
from pathlib import Path
from gordon_core.snapshot import Declared
from gordon_shell.sqlite_store import SqliteStore
store, done = SqliteStore.open(Path(sys.argv[1]), create=True), 0
while done < int(sys.argv[2]):
    found = store.read_service("shop", "web")
    revision = found.declared.revision if found else 0
    outcome = store.activate("shop", "web", Declared("c", revision + 1), revision, None)
    done += type(outcome).__name__ == "Done"
    assert type(outcome).__name__ == "Done" or outcome.fault.value == "conflict", outcome
"""


def filled(path: Path) -> SqliteStore:
    store = SqliteStore.open(path, create=True)
    assert Done() == store.activate("shop", "web", DECLARED, 0, None)
    assert Done() == store.save_memory("shop", "web", "old", Memory(failures=2, verified=VERIFIED, boot_id="boot"))
    return store


def contents(directory: Path) -> dict[str, tuple[bytes, int]]:
    return {each.name: (each.read_bytes(), each.stat().st_mtime_ns) for each in sorted(directory.iterdir()) if each.is_file()}


@contextmanager
def tmpfs(place: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("mounting a tmpfs needs root")
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], check=False, capture_output=True).returncode:
        pytest.skip("this host does not let us mount a tmpfs")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)
