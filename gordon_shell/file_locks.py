"""Locks as flock on files in a directory beside the state.

The lock is the kernel's: it goes with its holder, however that dies. A lock file is never removed, since a waiter may have it
open; the process ID in it only tells others whom they wait for.
"""

import errno
import fcntl
import hashlib
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from urllib.parse import quote
from weakref import WeakSet

from gordon_shell.errors import BusyError, StoreError

_LONGEST_NAME: Final = 200
_POLL_S: Final = 0.02


class FileLock:
    """A lock of FileLocks. A process that is forked off does not inherit it."""

    def __init__(self, descriptor: int) -> None:
        """Hold a descriptor that has the lock."""
        self._descriptor: int | None = descriptor
        _held.add(self)

    def release(self) -> None:
        """Let it go; a second release does nothing."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            _write_holder(descriptor, "")
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)

    def disown(self) -> None:
        """Forget it without letting it go: it is the parent's."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def __enter__(self) -> Self:
        """Hold it for a block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Let it go."""
        self.release()


class FileLocks:
    """One lock per app, one for `run` and one for notices, in one directory; see Locks."""

    def __init__(self, directory: Path) -> None:
        """Lock in this directory, which is made (mode 0700) when the first lock is taken."""
        self._directory = directory

    @classmethod
    def beside(cls, state: Path) -> Self:
        """Return the locks that belong to the state at this path: STATE.locks/."""
        return cls(state.with_name(f"{state.name}.locks"))

    def try_app(self, app: str) -> FileLock | str:
        """Take the app's lock without waiting, or say who holds it. Raise StoreError."""
        return self._try(_app_file(app))

    def wait_app(self, app: str, wait_s: float) -> FileLock:
        """Wait for the app's lock. Raise BusyError, naming the holder, when that takes longer than `wait_s`; StoreError."""
        return _wait(lambda: self._try(_app_file(app)), f"app {app}", wait_s)

    def try_run(self) -> FileLock | str:
        """Take the lock of the one `run` per state, or say who holds it. Raise StoreError."""
        return self._try("run.lock")

    def try_tell(self) -> FileLock | str:
        """Take the lock of the one that sends notices of this state, or say who holds it. Raise StoreError."""
        return self._try("tell.lock")

    def _try(self, name: str) -> FileLock | str:
        path = self._directory / name
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            return _lock(_open(path))
        except OSError as error:
            message = f"the lock {path} cannot be taken: {error.strerror}; let this user write {self._directory} and its files"
            raise StoreError(message) from error


def _wait(attempt: Callable[[], FileLock | str], name: str, wait_s: float) -> FileLock:
    until_s = time.monotonic() + wait_s
    while True:
        found = attempt()
        if isinstance(found, FileLock):
            return found
        left_s = until_s - time.monotonic()
        if left_s <= 0:
            message = f"{name} is locked by {found}; try again when that is done"
            raise BusyError(message)
        time.sleep(min(_POLL_S, left_s))


def _open(path: Path) -> int:
    """Open a lock file, making it. On a file system that became read-only one that is there still locks. Raise OSError."""
    flags = os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | flags, 0o600)
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
        with suppress(FileNotFoundError):
            return os.open(path, os.O_RDONLY | flags)
        raise


def _lock(descriptor: int) -> FileLock | str:
    """Lock an open file, or close it and return who holds it. Raise OSError."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
        os.close(descriptor)
        return holder or "another process"
    except OSError:
        os.close(descriptor)
        raise
    _write_holder(descriptor, f"pid {os.getpid()}\n")
    return FileLock(descriptor)


def _write_holder(descriptor: int, holder: str) -> None:
    with suppress(OSError):  # a courtesy to those who wait: on a full disk the lock holds without it
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, holder.encode(), 0)


def _app_file(app: str) -> str:
    """Return a file name of its own for every app: slashes and the like escaped, what is too long for a name shortened."""
    escaped = quote(app, safe="", errors="surrogatepass")
    if len(escaped) > _LONGEST_NAME:
        escaped = f"{escaped[:100]}#{hashlib.sha256(escaped.encode()).hexdigest()}"
    return f"app-{escaped}.lock"


def _disown_all() -> None:
    for each in tuple(_held):
        each.disown()


_held: "WeakSet[FileLock]" = WeakSet()
os.register_at_fork(after_in_child=_disown_all)
