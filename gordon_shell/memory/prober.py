"""The Prober port in memory: asks a memory engine which container holds the port, and whether that one listens."""

import math
from collections.abc import Callable

from gordon_core.effects import Done, Fault, Outcome, Refused, Unknown
from gordon_core.observation import Bind, Binds, Port, Protocol, Status
from gordon_shell.memory.engine import MemoryEngine

PAUSE_S = 0.15
"""What lies between two tries, as in the real prober."""

_ANSWERS_READY = range(200, 400)


class MemoryProber:
    """Probes the containers of a memory engine, in its time."""

    def __init__(self, engine: MemoryEngine) -> None:
        """Be ready to probe."""
        self._engine = engine
        self._dropped = False

    def probe(self, binds: Binds, wait_s: float, http_port: int, http_path: str, still_runs: Callable[[], bool]) -> Outcome:
        """Try until every TCP bind leads to a container that runs and listens, or `wait_s` is over."""
        reasons: list[str] = []
        for _ in range(1 + math.ceil(max(0.0, wait_s - PAUSE_S) / PAUSE_S)):
            if self._dropped:
                return Unknown("dropped: the program is going down")
            reasons = self._reasons(binds, http_port, http_path)
            if not reasons:
                return Done()
            self._engine.time.sleep(PAUSE_S)
            if wait_s > 0 and not still_runs():
                return Refused(f"it ended before it was ready ({'; '.join(reasons)})", Fault.WORKLOAD)
        return Refused("; ".join(reasons), Fault.WORKLOAD)

    def drop(self) -> None:
        """End every probe under way, and refuse to begin another."""
        self._dropped = True

    def _reasons(self, binds: Binds, http_port: int, http_path: str) -> list[str]:
        unready = [reason for each in binds if (reason := self._reason(each, http_port, http_path))]
        has_bind = any(each.port == Port(http_port) for each in binds) if http_path else True
        return unready if has_bind or unready else [f"GET {http_path}: {http_port}/tcp has no bind"]

    def _reason(self, bind: Bind, http_port: int, http_path: str) -> str:
        """Return why this bind is not ready, or ""."""
        one = self._engine.holder(bind.host_port)
        if bind.port.protocol is Protocol.UDP:
            return ""
        if one is None:
            return f"{bind}: connection refused"
        if one.status is Status.PAUSED:
            return f"{bind}: no answer in time"
        if not one.listens(self._engine.time.now()):
            return f"{bind}: closed within 250 ms: nothing listens in the container"
        if http_path and bind.port.number == http_port and one.behaviour.answers not in _ANSWERS_READY:
            return f"GET {http_path} at {bind.host_port} answered {one.behaviour.answers}"
        return ""
