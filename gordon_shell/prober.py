"""The Prober port over loopback TCP. One try connects to every port at once, then asks for the HTTP path.

The shape of a try is fixed (see `conversations`); how long to go on with tries is the caller's word.
"""

import math
import os
import select
import time
from collections.abc import Callable
from typing import assert_never

from gordon_core.effects import Done, Fault, Outcome, Refused, Unknown
from gordon_core.observation import Binds, Protocol
from gordon_shell.conversations import DROPPED, Inconclusive, NotReady, Ready, Verdict, get, keep, side_by_side

SHORTEST_TRY_S = 2.0
"""What a try may take, however little remains of the wait."""

PAUSE_S = 0.15
"""What lies between two tries."""

ASK_S = 1.0
"""How long the answer that it still runs is good for."""


class SocketProber:
    """Probes backends at 127.0.0.1. Many threads may use one, and `drop` may be called from a signal handler."""

    def __init__(self) -> None:
        """Be ready to probe."""
        self._dropped = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)

    def probe(self, binds: Binds, wait_s: float, http_port: int, http_path: str, still_runs: Callable[[], bool]) -> Outcome:
        """Try until every TCP bind keeps a connection and the HTTP path, if not "", answers 2xx or 3xx, or `wait_s` is over.

        An execution that does not run any more is not waited for.
        """
        tcp = tuple(each for each in binds if each.port.protocol is Protocol.TCP)
        end_s = time.monotonic() + wait_s
        ask_s = 0.0
        while True:
            verdict = self._try(tcp, max(end_s, time.monotonic() + SHORTEST_TRY_S), http_port, http_path)
            if verdict in {Ready.READY, DROPPED} or time.monotonic() + PAUSE_S >= end_s:
                return _outcome(verdict)
            if self._is_dropped(PAUSE_S):
                return _outcome(DROPPED)
            if time.monotonic() >= ask_s:
                if not still_runs():
                    return _outcome(ended(verdict))
                ask_s = time.monotonic() + ASK_S

    def drop(self) -> None:
        """End every probe under way, now, and refuse to begin another."""
        os.eventfd_write(self._dropped, 1)

    def close(self) -> None:
        """Let go of the file descriptor; nothing may probe after that."""
        os.close(self._dropped)

    def _is_dropped(self, wait_s: float) -> bool:
        poll = select.poll()
        poll.register(self._dropped, select.POLLIN)
        return bool(poll.poll(math.ceil(wait_s * 1000)))

    def _try(self, tcp: Binds, until_s: float, http_port: int, http_path: str) -> Verdict:
        if self._is_dropped(0):
            return DROPPED
        verdict = side_by_side([keep(each, until_s) for each in tcp], self._dropped)
        if verdict is not Ready.READY or not http_path:
            return verdict
        asked = [get(each, http_path, until_s) for each in tcp if each.port.number == http_port]
        return side_by_side(asked, self._dropped) if asked else NotReady(f"GET {http_path}: {http_port}/tcp has no bind")


def ended(verdict: Verdict) -> NotReady:
    """Return the verdict on an execution that ended between two tries, with what was seen last."""
    return NotReady(
        f"it ended before it was ready ({verdict.reason})" if isinstance(verdict, NotReady) else "it ended before it was ready"
    )


def _outcome(verdict: Verdict) -> Outcome:
    match verdict:
        case Ready():
            return Done()
        case NotReady(reason):
            return Refused(reason, Fault.WORKLOAD)
        case Inconclusive(reason):
            return Unknown(reason)
        case _ as never:
            assert_never(never)
