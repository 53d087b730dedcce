"""Work that outlives its caller, and calls that can be left behind.

A deploy has to clean up whatever its caller is hit by. So it is done in a thread of its own, which the interpreter waits for
before it exits; the caller only waits, and passes on what it is hit by as a wish to end.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType
from typing import Final, Generic, TypeVar

T = TypeVar("T")

TICK_S: Final = 0.05
_BEGIN_S: Final = 1.0
"""What a thread may take to begin."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Task(Generic[T]):
    """Something to be done in a thread, and what came of it.

    It is never joined: a join that an exception of another thread hits takes a thread that runs for one that has ended.
    """

    def __init__(self, work: Callable[[], T], name: str, *, daemon: bool) -> None:
        self._work = work
        self.began, self.over = threading.Event(), threading.Event()
        self._results: list[T] = []
        self._fault: BaseException | None = None
        self.thread = threading.Thread(target=self._run, name=name, daemon=daemon)

    def result(self) -> T:
        """Return or raise what came of it, once its thread has ended."""
        if self._fault is not None:
            raise self._fault
        return self._results[0]

    def _run(self) -> None:
        self.began.set()
        try:
            self._results.append(self._work())
        except BaseException as fault:  # noqa: BLE001 - the boundary of a thread: it goes on in the one that waits
            self._fault = fault
        finally:
            self.over.set()


def outlive(work: Callable[[], T], cancel: Callable[[str], None], name: str) -> T:
    """Do the work in a thread of its own, and return or raise what comes of it.

    Whatever the caller is hit by meanwhile is told to `cancel` in words, and goes on once the work is over: an exception is
    raised then; SIGINT and SIGTERM, which are caught where this is the main thread, are delivered again as they would have been.
    Further ones shorten nothing.
    """
    task = _Task(work, name, daemon=False)
    with _caught() as signals:
        try:
            task.thread.start()
            _wait(task.over, signals, cancel)
        except BaseException as hit:
            words = f"its caller was ended by {type(hit).__name__}"
            _wait_in_any_case(task, lambda: cancel(words))
            raise
    return task.result()


def left_after(work: Callable[[], T], limit_s: float, is_over: Callable[[], bool] = lambda: False) -> T | None:
    """Return or raise what comes of a call, or None if it is left behind: when that much time has passed, or when it is over."""
    task = _Task(work, "left behind", daemon=True)
    end_s = monotonic() + limit_s
    task.thread.start()
    while not task.over.is_set():
        left_s = end_s - monotonic()
        if left_s <= 0 or is_over():
            return None
        task.over.wait(min(TICK_S, left_s))
    return task.result()


def _wait(over: threading.Event, signals: list[int], cancel: Callable[[str], None]) -> None:
    """Wait in short spells, so that an exception that somebody raises in this thread gets through."""
    while not over.wait(TICK_S):
        if signals:
            cancel(f"its caller was sent {signal.Signals(signals[0]).name}")


def _wait_in_any_case(task: _Task[T], cancel: Callable[[], None]) -> None:
    """Wait until a task is over; one that has not begun by now never does."""
    begins_s = monotonic() + _BEGIN_S
    while not task.over.is_set() and (task.began.is_set() or monotonic() < begins_s):
        try:
            cancel()
            task.over.wait(TICK_S)
        except BaseException:  # noqa: BLE001, S112 - a second one shortens nothing; the first one goes on
            continue


@contextmanager
def _caught() -> Iterator[list[int]]:
    """During the block, in the main thread, put the signals that arrive in a list; after it, deliver them again."""
    numbers: list[int] = []

    def heed(number: int, _frame: FrameType | None) -> None:
        numbers.append(number)

    handlers = {each: signal.getsignal(each) for each in _SIGNALS} if _is_main() else {}
    # What is ignored stays so, and what was not set from Python could not be put back.
    caught = {each: handler for each, handler in handlers.items() if handler not in {signal.SIG_IGN, None}}
    try:
        for each in caught:
            signal.signal(each, heed)
        yield numbers
    finally:
        for each, handler in caught.items():
            signal.signal(each, handler)
        _deliver(list(dict.fromkeys(numbers)))


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def _deliver(numbers: list[int]) -> None:
    """Deliver signals to ourselves, also the later ones where an earlier one raises."""
    if numbers:
        try:
            signal.raise_signal(numbers[0])
        finally:
            _deliver(numbers[1:])
