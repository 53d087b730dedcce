"""The TimeSource port over the system's clocks. Linux: boot time includes suspend, and every boot has an ID."""

import contextlib
import math
import os
import select
import time
from pathlib import Path
from threading import Lock

from gordon_core.observation import Clock

BOOT_ID_FILE = Path("/proc/sys/kernel/random/boot_id")


class SystemClock:
    """The real time. Its sleeps are ended by a file descriptor, so `wake` may be called from a signal handler."""

    def __init__(self, boot_id_file: Path = BOOT_ID_FILE) -> None:
        """Read which boot this is."""
        self._boot_id = _boot_id(boot_id_file)
        self._woken = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._nudged = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._closing = Lock()
        self._closed = False

    def now(self) -> Clock:
        """Return the present instant."""
        return Clock(time.clock_gettime(time.CLOCK_BOOTTIME), time.time(), self._boot_id)

    def sleep(self, seconds: float) -> None:
        """Let that much time pass; `wake` ends it early."""
        poll = select.poll()
        poll.register(self._woken, select.POLLIN)
        poll.poll(math.ceil(max(0.0, seconds) * 1000))

    def rest(self, seconds: float) -> None:
        """Let that much time pass; `wake` and `nudge` end it early."""
        poll = select.poll()
        poll.register(self._woken, select.POLLIN)
        poll.register(self._nudged, select.POLLIN)
        poll.poll(math.ceil(max(0.0, seconds) * 1000))
        with contextlib.suppress(BlockingIOError):  # nobody nudged
            os.eventfd_read(self._nudged)

    def nudge(self) -> None:
        """End the rest that is under way, or else the next one. Once it is closed: do nothing."""
        with self._closing:  # a job that was left behind may come back late, and its descriptor be another file by then
            if not self._closed:
                os.eventfd_write(self._nudged, 1)

    def wake(self) -> None:
        """End every sleep and every rest, now and from now on."""
        os.eventfd_write(self._woken, 1)

    def close(self) -> None:
        """Let go of the file descriptors; nothing may sleep or rest after that."""
        with self._closing:
            self._closed = True
        os.close(self._woken)
        os.close(self._nudged)


def _boot_id(file: Path) -> str:
    """Return the kernel's name of this boot. Where it is hidden: the minute of the boot, which a step of the wall clock changes.

    A boot ID that changes ends waits early; one that stayed the same over a reboot would make them too long.
    """
    try:
        return file.read_text(encoding="ascii").strip() or _minute_of_boot()
    except (OSError, UnicodeDecodeError):
        return _minute_of_boot()


def _minute_of_boot() -> str:
    return f"booted-{round((time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)) / 60)}"
