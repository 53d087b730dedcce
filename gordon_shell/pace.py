"""How fast workloads are started: so many at once, a burst, and then so many a second. Nothing else waits for it.

After a boot, or an engine that took its containers with it, everything is down at the same time. Started in one go, each would be
slow, and some would not be ready in time for no fault of their own. One that crashed alone is started at once.
"""

from collections.abc import Callable
from threading import Condition
from time import monotonic

AT_ONCE = 8
"""How many start or restart commands may be under way."""
BURST = 8
"""How many starts may follow one another without a wait, after a while without any."""
A_SECOND = 4.0
"""How many starts in a second there are after that."""
_TICK_S = 0.25


class Pace:
    """Hands out turns to start something. Whoever gets one gives it back when the command has come back."""

    def __init__(self, at_once: int = AT_ONCE, burst: int = BURST, a_second: float = A_SECOND) -> None:
        """Begin with the whole burst to hand out."""
        self._at_once, self._burst, self._a_second = at_once, burst, a_second
        self._changed = Condition()
        self._out = 0
        self._left, self._counted_s = float(burst), monotonic()

    def take(self, may_wait: Callable[[], bool], waits: Callable[[], None]) -> bool:
        """Wait for a turn, and return whether there is one: none once nobody `may_wait` any more.

        `waits` is called before the first wait, if there is any.
        """
        told = False
        with self._changed:
            while may_wait():
                wait_s = self._wait_s()
                if not wait_s:
                    self._out += 1
                    self._left -= 1
                    return True
                if not told:
                    waits()
                    told = True
                self._changed.wait(min(wait_s, _TICK_S))
        return False

    def give_back(self) -> None:
        """Give a turn back."""
        with self._changed:
            self._out -= 1
            self._changed.notify_all()

    def _wait_s(self) -> float:
        now_s = monotonic()
        self._left = min(float(self._burst), self._left + (now_s - self._counted_s) * self._a_second)
        self._counted_s = now_s
        if self._out >= self._at_once:
            return _TICK_S
        return 0.0 if self._left >= 1 else (1 - self._left) / self._a_second
