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
        stop()
        if not over.wait(PATIENCE_S):
            os._exit(exit_code)

    def heed(_number: int, _frame: FrameType | None) -> None:
        if asked.is_set():
            os._exit(exit_code)
        asked.set()
        # In a thread of its own: what `stop` locks may be held by the very code that the signal interrupted.
        Thread(target=end, name="ending", daemon=True).start()

    before = {each: signal.signal(each, heed) for each in SIGNALS}
    try:
        yield asked
    finally:
        over.set()
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def heeded() -> Iterator[Event]:
    """During the block, a signal sets the event that is returned, and does nothing else: what goes on comes to its end first."""
    asked = Event()

    def heed(_number: int, _frame: FrameType | None) -> None:
        asked.set()

    before = {each: signal.signal(each, heed) for each in SIGNALS}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
