"""What the memory engine says without being asked, to whoever listens."""

from collections import deque
from collections.abc import Callable, Iterator
from threading import Condition, RLock
from typing import Self

from gordon_core.observation import Clock, Health, HealthStatus, Status
from gordon_shell.events import Event, Happened
from gordon_shell.memory.container import Simulated

MOST_KEPT = 256
"""How many events wait for a reader; of one that is slower, the oldest are lost without a word, as a Docker engine loses them."""
_LOOK_EVERY_S = 0.02
_NANOSECONDS = 1_000_000_000
_PAUSES = {Status.PAUSED: Happened.PAUSED, Status.RUNNING: Happened.UNPAUSED}


class MemoryEventStream:
    """The events of one listener. `settle` lets happen what is due by now, under the lock of the engine."""

    def __init__(self, lock: RLock, settle: Callable[[], None]) -> None:
        """Begin with nothing said."""
        self._said = Condition(lock)
        self._settle = settle
        self._kept: deque[Event] = deque(maxlen=MOST_KEPT)
        self.ended = False

    def __iter__(self) -> Self:
        """Return itself."""
        return self

    def __next__(self) -> Event:
        """Wait for the next event. StopIteration: the engine went down, or the stream was closed."""
        with self._said:
            while not self._kept:
                if self.ended:
                    raise StopIteration
                self._settle()
                if not self._kept:
                    self._said.wait(_LOOK_EVERY_S)
            return self._kept.popleft()

    def tell(self, event: Event) -> None:
        """Say something."""
        with self._said:
            self._kept.append(event)
            self._said.notify_all()

    def close(self) -> None:
        """End it."""
        with self._said:
            self.ended = True
            self._kept.clear()
            self._said.notify_all()


class Voice:
    """Says what is otherwise with a container than it was; each change is told as it is seen."""

    def __init__(self) -> None:
        """Have no listeners."""
        self.streams: list[MemoryEventStream] = []
        self._health: dict[str, HealthStatus] = {}

    def compare(self, before: Simulated | None, after: Simulated | None, clock: Clock) -> None:
        """Tell what happened between two values of one container; None: there is none."""
        container_id = (before or after or Simulated("")).container_id
        for each in (*_changes(before, after), *self._turns(container_id, after, clock)):
            event = Event(container_id, each, int(clock.wall_s * _NANOSECONDS))
            self.streams = [stream for stream in self.streams if not stream.ended]
            for stream in self.streams:
                stream.tell(event)

    def hush(self) -> None:
        """End every stream."""
        for each in self.streams:
            each.close()
        self.streams.clear()

    def _turns(self, container_id: str, after: Simulated | None, clock: Clock) -> Iterator[Happened]:
        checked = after is not None and after.status is Status.RUNNING and bool(after.behaviour.checks)
        now = after.health(clock).status if after is not None and checked else Health().status
        before = self._health.get(container_id, HealthStatus.STARTING)
        if not checked:
            self._health.pop(container_id, None)
        elif now is not before:
            self._health[container_id] = now
            yield Happened.HEALTH


def _changes(before: Simulated | None, after: Simulated | None) -> Iterator[Happened]:
    was_alive, is_alive = (each is not None and each.is_alive() for each in (before, after))
    renewed = before is not None and after is not None and before.started_at != after.started_at
    if was_alive and (renewed or not is_alive):
        yield Happened.DIED
    if is_alive and (renewed or not was_alive):
        yield Happened.STARTED
    elif before is not None and after is not None and is_alive and before.status is not after.status:
        yield _PAUSES[after.status]
    if before is not None and after is None:
        yield Happened.DESTROYED
