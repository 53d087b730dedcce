"""Tells systemd that recovery works: ready after the first complete pass, alive after every one, and what it sees.

So a unit with WatchdogSec= ends a process whose passes hang; one that merely lives is not alive.
"""

import socket
from collections.abc import Callable, Mapping
from typing import Final

from gordon_core.sentences import duration
from gordon_shell.counts_text import counts
from gordon_shell.report import Report
from gordon_shell.witness import Silent

_LONGEST_S: Final = 1.0
"""How long systemd may take to take a message; then it is dropped, and the next pass sends another."""


class Systemd(Silent):
    """Speaks the protocol of sd_notify(3), and says nothing where nobody asked for it."""

    def __init__(self, environment: Mapping[str, str], complain: Callable[[str], None]) -> None:
        """Speak to the socket that the environment names."""
        self._address, self._complain = environment.get("NOTIFY_SOCKET", ""), complain
        self._watchdog_s = _seconds(environment.get("WATCHDOG_USEC", ""))
        self._is_ready = self._is_stopping = self._is_told = False

    def check(self, cadence_s: float) -> None:
        """Complain of a watchdog that a pass could not keep content."""
        if self._address and 0 < self._watchdog_s <= 2 * cadence_s:
            self._complain(
                f"systemd's watchdog ({duration(self._watchdog_s)}) leaves no time for passes every {duration(cadence_s)}; "
                "set WatchdogSec= to five minutes"
            )

    def ended(self, report: Report) -> None:
        """Say that a pass over everything is complete; see Witness."""
        if not report.is_whole or self._is_stopping:
            return
        status = counts("service", ((each, ()) for each in report.plan.services))
        ready = () if self._is_ready else ("READY=1",)
        self._is_ready = True
        self._say(*ready, "WATCHDOG=1", f"STATUS={status}")

    def stopping(self) -> None:
        """Say that it was asked to end, and does so."""
        self._is_stopping = True
        self._say("STOPPING=1")

    def _say(self, *assignments: str) -> None:
        if not self._address:
            return
        # A leading @ stands for the zero byte of an abstract socket.
        address = f"\0{self._address[1:]}" if self._address.startswith("@") else self._address
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sending:
                sending.settimeout(_LONGEST_S)
                sending.connect(address)
                sending.sendall("\n".join(assignments).encode())
        except OSError as error:
            if not self._is_told:
                self._is_told = True
                self._complain(f"systemd cannot be told at {self._address} ({error.strerror or error}); recovery goes on")


def _seconds(microseconds: str) -> float:
    return int(microseconds) / 1e6 if microseconds.isascii() and microseconds.isdigit() else 0.0
