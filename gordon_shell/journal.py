"""The journal: what was decided, upon what, and what came of it; how executions ended; and what people and deploys did.

A port with two makes: SQLite, memory.

A record holds a snapshot and the plan that was made of it, as text: whoever plans that snapshot again gets the same bytes.

- A *look* is what a look at the whole host showed of those services of which something else was decided than in the look recorded
  last, with those that these decisions looked at. At the beginning of a process, and once a day, a look holds all services.
- A *step* is one effect of one service: what it was decided upon, its outcome, and the service with that in it.

Whatever cannot be read or written raises JournalError, which ends no recovery.
"""

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Protocol

from attrs import frozen

from gordon_core.effects import Result
from gordon_core.observation import Clock, Exit, ProbeResult
from gordon_core.snapshot import Snapshot, Subject

FOREVER_S = float("inf")


class Kind(Enum):
    """What a record is of."""

    LOOK = "look"
    STEP = "step"


@frozen
class Step:
    """What was done of a decision: the service, the effect with its outcome, and the service with the result in it."""

    app: str
    service: str
    result: Result
    after: Subject


@frozen
class Record:
    """One thing that was decided.

    `plan` is `write_plan(record(plan(snapshot)))`; the clock is that of the snapshot. `number` counts the records of a journal,
    `pass_number` its passes, also those of other processes; both are 0 until it is written. `step` is None in a look.
    `is_whole`: a look that holds all services.
    """

    kind: Kind
    snapshot: Snapshot
    plan: str
    step: Step | None = None
    is_whole: bool = False
    number: int = 0
    pass_number: int = 0

    @property
    def clock(self) -> Clock:
        """Return when it was decided."""
        return self.snapshot.clock


@frozen
class Dossier:
    """How one execution (container ID and start time) ended, as far as that could be read.

    `clock` is when it was seen to have ended, or was restarted for being sick (`was_restarted`). `end` is None where the engine
    did not say, `probes` are the last results of its health check, `lines` its last lines of output, oldest first; values of
    environment variables are replaced by their names. `unread` says in sentences what could not be read.
    """

    app: str
    service: str
    container_id: str
    started_at: str
    clock: Clock
    was_restarted: bool = False
    end: Exit | None = None
    probes: tuple[ProbeResult, ...] = ()
    lines: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


@frozen
class Deed:
    """What somebody did, by a command or the library, as against what recovery decided: to whom, when it was done, who, and what.

    `service` "": to all of the app. `words` are one sentence; no value of an environment variable is in it.
    """

    app: str
    service: str
    clock: Clock
    who: str
    words: str


@frozen
class Extent:
    """What a journal holds: how many of each kind, from when until when (seconds since 1970), in how many bytes."""

    records: int = 0
    dossiers: int = 0
    first_s: float = 0.0
    last_s: float = 0.0
    size_bytes: int = 0
    deeds: int = 0


class Journal(Protocol):
    """Keeps records, dossiers and deeds for as long as it is told to. Thread-safe; several processes may use one at once.

    `app` and `service` "": of any; times are wall clock, seconds since 1970, both ends included.
    """

    def write(
        self, records: Iterable[Record], dossiers: Iterable[Dossier] = (), deeds: Iterable[Deed] = (), *, goes_on: bool = False
    ) -> None:
        """Write what one pass decided, or was done, all of it or nothing; of an execution that has a dossier, no other is kept.

        `goes_on`: the records are of the pass that was written of last, by this object.
        Raise UnprunedError where it was written, and only what is too old or too much could not be let go of.
        """

    def records(
        self, app: str = "", service: str = "", since_s: float = 0.0, until_s: float = FOREVER_S, *, newest: int | None = None
    ) -> Iterator[Record]:
        """Return the records that hold this app, or service, oldest first; with `newest`, only so many of the latest."""

    def record(self, number: int) -> Record | None:
        """Return one record, None where there is none of this number (any more)."""

    def dossiers(self, app: str = "", service: str = "", since_s: float = 0.0, until_s: float = FOREVER_S) -> tuple[Dossier, ...]:
        """Return how executions ended, oldest first."""

    def deeds(
        self, app: str = "", service: str = "", since_s: float = 0.0, until_s: float = FOREVER_S, *, newest: int | None = None
    ) -> tuple[Deed, ...]:
        """Return what was done to this app, or service (to all of its app, too), oldest first; `newest`: only so many of them."""

    def has_dossier(self, container_id: str, started_at: str) -> bool:
        """Tell whether the end of this execution is on record."""

    def keep(self, key: str, text: str) -> None:
        """Keep a small text of some listener under this key, in place of the one before; "" drops it. It does not age."""

    def kept(self, key: str) -> str:
        """Return what is kept under this key, "" where nothing is."""

    def extent(self) -> Extent:
        """Return what it holds."""

    def close(self) -> None:
        """Let go of the file; every later call raises JournalError."""
