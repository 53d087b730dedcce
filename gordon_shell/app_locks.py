"""The app locks that a reconciler holds: taken without waiting, and kept for as long as something is under way under them."""

from collections.abc import Collection, Iterable

from gordon_shell.errors import StoreError
from gordon_shell.ports import Lock, Locks


class AppLocks:
    """Takes and releases the locks of apps, and knows why one could not be taken."""

    def __init__(self, locks: Locks) -> None:
        self._locks = locks
        self._held: dict[str, Lock] = {}
        self._denied: dict[str, str] = {}
        self._failed: dict[str, str] = {}

    @property
    def held(self) -> Collection[str]:
        """Return the apps whose locks are held."""
        return tuple(self._held)

    @property
    def denied(self) -> dict[str, str]:
        """Return why an app is skipped, or "" where its lock is held, for every app asked for since the last release."""
        return self._denied | dict.fromkeys(self._held, "")

    @property
    def trouble(self) -> tuple[str, ...]:
        """Return what is wrong with locks that could not be taken although nobody holds them."""
        return tuple(sorted(self._failed.values()))

    def take(self, apps: Iterable[str]) -> None:
        """Take the locks of apps, as far as nobody else holds them."""
        for each in apps:
            self.try_app(each)

    def try_app(self, app: str) -> bool:
        """Take one lock, unless it is held already; return whether it is held now."""
        if app not in self._held:
            try:
                lock = self._locks.try_app(app)
            except StoreError as error:
                self._denied[app] = self._failed[app] = str(error)
                return False
            if isinstance(lock, str):
                self._denied[app] = f"its app is locked by {lock}"
                return False
            self._held[app] = lock
        return True

    def release_all_but(self, needed: Collection[str]) -> None:
        """Let go of every lock that is not needed any more."""
        for app in self._held.keys() - needed:
            self._held.pop(app).release()
        self._denied, self._failed = {}, {}
