"""The Locks in memory: they exclude one another within one process."""

import os
from threading import Condition
from types import TracebackType
from typing import Self

from gordon_shell.errors import BusyError


class MemoryLock:
    """A lock of MemoryLocks."""

    def __init__(self, held: dict[str, str], changed: Condition, name: str) -> None:
        """Hold what MemoryLocks took."""
        self._held = held
        self._changed = changed
        self._name: str | None = name

    def release(self) -> None:
        """Let it go; a second release does nothing."""
        with self._changed:
            if self._name is not None:
                del self._held[self._name]
                self._name = None
                self._changed.notify_all()

    def __enter__(self) -> Self:
        """Hold it for a block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Let it go."""
        self.release()


class MemoryLocks:
    """One lock per app, one for `run` and one for notices. Whoever shares this object excludes one another."""

    def __init__(self) -> None:
        """Begin with nothing held."""
        self._held: dict[str, str] = {}
        self._changed = Condition()

    def try_app(self, app: str) -> MemoryLock | str:
        """Take the app's lock without waiting, or say who holds it."""
        return self._try(f"app {app}")

    def wait_app(self, app: str, wait_s: float) -> MemoryLock:
        """Wait for the app's lock. Raise BusyError, naming the holder, when that takes longer than `wait_s`."""
        name = f"app {app}"
        with self._changed:
            if not self._changed.wait_for(lambda: name not in self._held, wait_s):
                message = f"{name} is locked by {self._held[name]}; try again when that is done"
                raise BusyError(message)
            return self._take(name)

    def try_run(self) -> MemoryLock | str:
        """Take the lock of the one `run`, or say who holds it."""
        return self._try("run")

    def try_tell(self) -> MemoryLock | str:
        """Take the lock of the one that sends notices, or say who holds it."""
        return self._try("tell")

    def _try(self, name: str) -> MemoryLock | str:
        with self._changed:
            return self._held[name] if name in self._held else self._take(name)

    def _take(self, name: str) -> MemoryLock:
        self._held[name] = f"pid {os.getpid()}"
        return MemoryLock(self._held, self._changed, name)
