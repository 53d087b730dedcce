"""`gordon-shell status --watch`: looks again and again, and shows it: in place on a terminal, else one after the other."""

import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Final, Protocol

from gordon_core.planner import Plan
from gordon_shell import status
from gordon_shell.cli_common import complain, is_coloured, printable, write
from gordon_shell.errors import GordonError
from gordon_shell.plan_cli import painter
from gordon_shell.ports import TimeSource
from gordon_shell.status_table import Size, table
from gordon_shell.text import Paint, date, plain

Look = Callable[[], tuple[Plan, status.Sessions]]
"""Looks once. Raises GordonError."""
_SLICE_S: Final = 0.2
"""How soon another size of the terminal is seen."""
_ENTER: Final = "\x1b[?1049h\x1b[?25l\x1b[?7l"
_LEAVE: Final = "\x1b[?7h\x1b[?25h\x1b[?1049l"


class Screen(Protocol):
    """Where it is shown."""

    def show(self, plan: Plan, sessions: status.Sessions) -> bool:
        """Show how it is now; return whether anybody still looks."""

    def trouble(self, why: str) -> None:
        """Say why there is nothing new to show."""

    def wait(self, seconds: float) -> bool:
        """Wait until it is to be looked at again; return whether anybody still looks."""


def watch(look: Look, screen: Screen, every_s: float) -> None:
    """Look and show until nobody looks any more. Raise GordonError from the first look; later ones are told."""
    goes_on = screen.show(*look())
    while goes_on and screen.wait(every_s):
        try:
            found = look()
        except GordonError as error:
            screen.trouble(str(error))
        else:
            goes_on = screen.show(*found)


@contextmanager
def on_screen(form: str, clock: TimeSource, environment: Mapping[str, str]) -> Iterator[Screen]:
    """Have a screen for a block: the terminal, if there is one to see it and a keyboard, and what is shown is text."""
    if form == "json":
        yield Lines(clock)
    elif _is_terminal(environment):
        with _terminal(painter() if is_coloured("auto", environment) else plain) as screen, _interrupted():
            yield screen
    else:
        yield Paper(clock)


class Paper:
    """Shows one after the other, each with its time, as `status` does once."""

    def __init__(self, clock: TimeSource) -> None:
        """Wait by this clock."""
        self._clock = clock
        self._is_first = True

    def show(self, plan: Plan, sessions: status.Sessions) -> bool:
        """Print it."""
        between = "" if self._is_first else "\n"
        self._is_first = False
        lines = (f"As seen at {date(plan.clock)}:", *status.lines(plan, sessions))
        return write(between + "".join(f"{printable(each)}\n" for each in lines))

    def trouble(self, why: str) -> None:
        """Complain."""
        complain(f"gordon-shell: {why}; trying again")

    def wait(self, seconds: float) -> bool:
        """Wait."""
        self._clock.sleep(seconds)
        return True


class Lines(Paper):
    """Prints one document a line."""

    def show(self, plan: Plan, sessions: status.Sessions) -> bool:
        """Print it."""
        return write(status.document(plan, sessions, in_one_line=True))


class Terminal:
    """Shows it in place, in columns; `q` ends that."""

    def __init__(self, paint: Paint) -> None:
        """Colour so."""
        self._paint = paint
        self._plan: Plan | None = None
        self._trouble = ""
        self._size = Size(0, 0)

    def show(self, plan: Plan, sessions: status.Sessions) -> bool:
        """Draw it."""
        del sessions  # in the lines of `status`
        self._plan, self._trouble = plan, ""
        return self._draw()

    def trouble(self, why: str) -> None:
        """Draw what was seen last, and why it is not seen now."""
        self._trouble = printable(f"{why}; trying again")
        self._draw()

    def wait(self, seconds: float) -> bool:
        """Wait; meanwhile heed the keyboard, and the size of the window."""
        left_s = seconds
        while left_s > 0:
            if _size() != self._size:
                self._draw()
            ready, _, _ = select.select([sys.stdin], [], [], min(_SLICE_S, left_s))
            if ready and os.read(sys.stdin.fileno(), 64).lower() in _ENDS:
                return False
            left_s -= _SLICE_S
        return True

    def _draw(self) -> bool:
        self._size = _size()
        lines = table(self._plan, self._size, self._paint) if self._plan is not None else ()
        if self._trouble:
            lines = (self._trouble[: self._size.columns], *lines[1:])
        return write("\x1b[H" + "\n".join(f"{each}\x1b[K" for each in lines) + "\x1b[J")


_ENDS: Final = frozenset({b"q", b"", b"\x04"})
"""What is read where this is to end: the key, or that there is no keyboard any more."""


def _is_terminal(environment: Mapping[str, str]) -> bool:
    streams = (sys.stdin, sys.stdout)
    return all(each is not None and each.isatty() for each in streams) and environment.get("TERM", "dumb") != "dumb"


def _size() -> Size:
    found = os.get_terminal_size(sys.stdout.fileno())
    return Size(found.columns or 80, found.lines or 24)


@contextmanager
def _terminal(paint: Paint) -> Iterator[Terminal]:
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    try:
        tty.setcbreak(keyboard)
        write(_ENTER)
        yield Terminal(paint)
    finally:
        write(_LEAVE)
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)


@contextmanager
def _interrupted() -> Iterator[None]:
    """Let SIGTERM end a block as Ctrl-C does: the terminal is put back as it was."""

    def heed(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, heed)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
