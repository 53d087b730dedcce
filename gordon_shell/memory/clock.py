"""The TimeSource port in memory: time stands still until somebody sleeps or advances it."""

import threading

from attrs import evolve

from gordon_core.observation import Clock

EPOCH = Clock(boot_s=1000.0, wall_s=1_767_225_600.0, boot_id="boot-1")
"""2026-01-01 00:00:00 UTC, 1,000 seconds after the first boot."""


class MemoryClock:
    """Simulated time; a sleep passes at once. It may be shared by threads: each sleep advances it for all."""

    def __init__(self, start: Clock = EPOCH) -> None:
        """Stand at `start`."""
        self._lock = threading.RLock()
        self._now = start
        self._woken = False
        self._nudged = False

    def now(self) -> Clock:
        """Return the present instant."""
        return self._now

    def sleep(self, seconds: float) -> None:
        """Let that much time pass at once; none after `wake`."""
        if not self._woken:
            self.advance(seconds)

    def rest(self, seconds: float) -> None:
        """Let that much time pass at once; none after `nudge`, or `wake`."""
        nudged, self._nudged = self._nudged, False
        if not nudged:
            self.sleep(seconds)

    def nudge(self) -> None:
        """End the next rest."""
        self._nudged = True

    def wake(self) -> None:
        """End every sleep and every rest from now on."""
        self._woken = True

    def advance(self, seconds: float) -> None:
        """Let that much time pass on both clocks."""
        with self._lock:
            passed = max(0.0, seconds)
            self._now = evolve(self._now, boot_s=self._now.boot_s + passed, wall_s=self._now.wall_s + passed)

    def step_wall(self, seconds: float) -> None:
        """Set the wall clock forward or back, as an operator or NTP does; boot time does not notice."""
        with self._lock:
            self._now = evolve(self._now, wall_s=self._now.wall_s + seconds)

    def reboot(self, boot_id: str, boot_s: float = 1.0) -> None:
        """Begin another boot, `boot_s` seconds old."""
        with self._lock:
            self._now = evolve(self._now, boot_s=boot_s, boot_id=boot_id)
