"""How a program ends that was asked to, by SIGTERM or SIGINT: soon, and in any case."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from types import FrameType

PATIENCE_S = 8.0
"""After this the process ends, whatever it waits for: what is in flight is unknown to the next run, which reads."""

SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def ended_by_signals(stop: Callable[[], None], exit_code: int) -> Iterator[Event]:
    """During the block, a signal sets the event that is returned and calls `stop`; where that takes too long, or a second signal
    comes, the process ends at once with `exit_code`."""
    asked, over = Event(), Event()

    def end() -> None:
        if not over.wait(PATIENCE_S):
            os._exit(exit_code)

    def heed() -> None:
        if asked.is_set():
            os._exit(exit_code)
        asked.set()
        # Each in a thread of its own: what `stop` waits for may be what hangs.
        for each in (end, stop):
            Thread(target=each, name="ending", daemon=True).start()

    with _listening(heed):
        try:
            yield asked
        finally:
            over.set()


@contextmanager
def heeded() -> Iterator[list[int]]:
    """During the block, a signal is put into the list that is returned, and does nothing else: what goes on comes to its end.

    It is there as soon as the main thread goes on: no thread that listens could say so in time.
    """
    numbers: list[int] = []

    def heed(number: int, _frame: FrameType | None) -> None:
        numbers.append(number)

    with _handling(heed):
        yield numbers


@contextmanager
def _listening(heed: Callable[[], None]) -> Iterator[None]:
    """During the block, call this for each signal, in a thread of its own.

    Python runs a handler in the main thread, once that executes Python again: a signal that comes in the moment before it begins
    to wait, or that the kernel gives to another thread, ends no wait. What C writes into a pipe is read at once.
    """
    reading, writing = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(writing, False)

    def listen() -> None:
        while number := os.read(reading, 1):
            if number[0] in SIGNALS:
                heed()

    thread = Thread(target=listen, name="signals", daemon=True)
    thread.start()
    try:
        with _handling(_leave_it):
            previous = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
            try:
                yield
            finally:
                signal.set_wakeup_fd(previous)
    finally:
        os.close(writing)
        thread.join()
        os.close(reading)


@contextmanager
def _handling(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """During the block, have the main thread call this for each signal."""
    before = {each: signal.signal(each, handler) for each in SIGNALS}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _leave_it(_number: int, _frame: FrameType | None) -> None:
    """Leave it to the thread that listens."""
