"""The Journal in memory: same promises, but for what a disk gives, and nothing in it ages. Its faults are a switch."""

from collections.abc import Iterable, Iterator
from threading import RLock

from attrs import evolve

from gordon_shell.errors import JournalError
from gordon_shell.journal import FOREVER_S, Deed, Dossier, Extent, Record


class MemoryJournal:
    """Records, dossiers and deeds of a process. Thread-safe. `fail` plays a disk that is full or gone."""

    def __init__(self) -> None:
        """Begin empty."""
        self._gate = RLock()
        self._fault = ""
        self._is_closed = False
        self._passes = 0
        self._records: list[Record] = []
        self._dossiers: dict[tuple[str, str], Dossier] = {}
        self._deeds: list[Deed] = []
        self._kept: dict[str, str] = {}

    def fail(self, reason: str) -> None:
        """Raise JournalError with this text from every call; "" ends that."""
        self._fault = reason

    def write(
        self, records: Iterable[Record], dossiers: Iterable[Dossier] = (), deeds: Iterable[Deed] = (), *, goes_on: bool = False
    ) -> None:
        """Write what one pass decided, or was done; see Journal."""
        new = tuple(records)
        with self._gate:
            self._check()
            self._passes += bool(new) and not (goes_on and self._passes)
            for each in new:
                self._records.append(evolve(each, number=len(self._records) + 1, pass_number=self._passes))
            for one in dossiers:
                self._dossiers.setdefault((one.container_id, one.started_at), one)
            self._deeds += deeds

    def records(
        self, app: str = "", service: str = "", since_s: float = 0.0, until_s: float = FOREVER_S, *, newest: int | None = None
    ) -> Iterator[Record]:
        """Return records, oldest first; see Journal."""
        with self._gate:
            self._check()
            found = [each for each in self._records if since_s <= each.clock.wall_s <= until_s and _holds(each, app, service)]
        return iter(found if newest is None else found[len(found) - min(newest, len(found)) :])

    def record(self, number: int) -> Record | None:
        """Return one record; see Journal."""
        with self._gate:
            self._check()
            return self._records[number - 1] if 0 < number <= len(self._records) else None

    def dossiers(self, app: str = "", service: str = "", since_s: float = 0.0, until_s: float = FOREVER_S) -> tuple[Dossier, ...]:
        """Return how executions ended, oldest first; see Journal."""
        with self._gate:
            self._check()
            found = (each for each in self._dossiers.values() if since_s <= each.clock.wall_s <= until_s)
            return tuple(each for each in found if app in {"", each.app} and service in {"", each.service})

    def deeds(
        self, app: str = "", service: str = "", since_s: float = 0.0, until_s: float = FOREVER_S, *, newest: int | None = None
    ) -> tuple[Deed, ...]:
        """Return what was done, oldest first; see Journal."""
        with self._gate:
            self._check()
            within = [each for each in self._deeds if since_s <= each.clock.wall_s <= until_s]
        found = tuple(each for each in within if app in {"", each.app} and (service in {"", each.service} or not each.service))
        return found if newest is None else found[len(found) - min(newest, len(found)) :]

    def has_dossier(self, container_id: str, started_at: str) -> bool:
        """Tell whether the end of this execution is on record."""
        with self._gate:
            self._check()
            return (container_id, started_at) in self._dossiers

    def keep(self, key: str, text: str) -> None:
        """Keep a small text; see Journal."""
        with self._gate:
            self._check()
            self._kept[key] = text

    def kept(self, key: str) -> str:
        """Return what is kept under this key, "" where nothing is."""
        with self._gate:
            self._check()
            return self._kept.get(key, "")

    def extent(self) -> Extent:
        """Return what it holds; it takes no bytes of a disk."""
        with self._gate:
            self._check()
            clocks = [
                *(each.clock for each in self._records),
                *(each.clock for each in self._dossiers.values()),
                *(each.clock for each in self._deeds),
            ]
            times = [each.wall_s for each in clocks]
            first_s, last_s = min(times, default=0.0), max(times, default=0.0)
            return Extent(len(self._records), len(self._dossiers), first_s, last_s, deeds=len(self._deeds))

    def close(self) -> None:
        """Let go; every later call raises JournalError."""
        with self._gate:
            self._is_closed = True

    def _check(self) -> None:
        if self._is_closed:
            message = "the journal in memory is closed; make another"
            raise JournalError(message)
        if self._fault:
            raise JournalError(self._fault)


def _holds(record: Record, app: str, service: str) -> bool:
    return any(app in {"", each.app} and service in {"", each.service} for each in record.snapshot.subjects)
