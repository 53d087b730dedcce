"""Follows the engine's events, in a thread of its own, and drops what they point at into the hints.

Every end of a stream means that something may have been missed, so a look at everything is asked for then, and once more when
there is a new one. Between two tries it waits, longer each time; a stream that lived a while makes it begin anew.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from threading import Event as Flag
from threading import Thread
from time import monotonic

from gordon_shell.errors import EngineError
from gordon_shell.events import Events, EventStream
from gordon_shell.hints import Hints

FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 30.0
LIVED_S = 10.0
"""How long a stream must have lasted to count as one that lived."""
PATIENT_TRIES = 3
"""How many tries in a row may fail before that is told: an engine that restarts takes a moment."""
_BEGIN_S, _END_S = 1.0, 1.0

Complain = Callable[[str], None]


@contextmanager
def following(events: Events, hints: Hints, complain: Complain) -> Iterator[None]:
    """During the block, follow these events."""
    follower = Follower(events, hints, complain)
    follower.start()  # before the first pass, which then finds what happened before
    try:
        yield
    finally:
        follower.stop()


class Waits:
    """How long to wait before the next try: a second, then twice as long each time, and never the same for many programs."""

    def __init__(self, chance: Random | None = None) -> None:
        """Begin with the shortest."""
        self._chance = chance if chance is not None else Random()  # noqa: S311 - no secret depends on it
        self._next_s = FIRST_WAIT_S

    def after(self, lived_s: float) -> float:
        """Return how long to wait after a stream that lasted so long, or a try that came to nothing."""
        wait_s = FIRST_WAIT_S if lived_s >= LIVED_S else self._next_s
        self._next_s = min(2 * wait_s, LONGEST_WAIT_S)
        return wait_s * self._chance.uniform(0.5, 1.0)


class Follower:
    """One reader of events. `waits` says how long to wait after a stream that lasted so many seconds."""

    def __init__(self, events: Events, hints: Hints, complain: Complain, waits: Callable[[float], float] | None = None) -> None:
        """Do nothing yet."""
        self._events, self._hints, self._complain = events, hints, complain
        self._waits = waits if waits is not None else Waits().after
        self._over, self._tried = Flag(), Flag()
        self._stream: EventStream | None = None
        self._thread = Thread(target=self._follow, name="events", daemon=True)
        self._failed, self._fault = 0, ""

    def start(self) -> None:
        """Begin to follow, and return when that was tried, or takes too long."""
        self._thread.start()
        self._tried.wait(_BEGIN_S)

    def stop(self) -> None:
        """Let go of the stream, and return soon; a call that hangs is left behind."""
        self._over.set()
        stream = self._stream
        if stream is not None:
            stream.close()
        self._thread.join(_END_S)

    def _follow(self) -> None:
        begun_s = monotonic()
        while not self._over.is_set() and self._listened():
            self._over.wait(self._waits(monotonic() - begun_s))
            begun_s = monotonic()

    def _listened(self) -> bool:
        try:
            return self._listen()
        except Exception as fault:  # noqa: BLE001 - the boundary of a thread, which must not end unheard
            self._tried.set()
            self._hints.ask_whole()
            said = f"a fault of ours in the events: {type(fault).__name__}: {fault}; please report it"
            if said != self._fault:
                self._fault = said
                self._complain(said)
            return True

    def _listen(self) -> bool:
        """Follow one stream to its end, and return whether there can be another."""
        try:
            self._stream = stream = self._events.events()
        except EngineError as error:
            self._tried.set()
            self._tell(str(error))
            return True
        if stream is None:
            self._tried.set()
            return False
        self._failed = 0
        try:
            self._read(stream)
        except EngineError:
            pass  # an end like another; what is wrong with the engine is found by the look
        finally:
            stream.close()
        self._hints.ask_whole()
        return True

    def _read(self, stream: EventStream) -> None:
        # Only now: what happened before it began is found by the look that comes after that.
        self._hints.ask_whole()
        self._tried.set()
        if self._over.is_set():
            return
        for each in stream:
            self._hints.put(each.container_id)

    def _tell(self, why: str) -> None:
        self._failed += 1
        if self._failed == PATIENT_TRIES:
            self._complain(f"events cannot be followed, so that what happens is found by the next pass: {why}")
