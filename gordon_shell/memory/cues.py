"""Faults of the memory engine on cue: which calls are refused, and which hang."""

import threading
from typing import Literal

from attrs import frozen

from gordon_core.effects import Fault, Refused

Call = Literal["start", "stop", "remove", "create", "rename", "pull"]
ANY = ""
"""Whatever a call is for."""


@frozen
class _Cue:
    """A refusal, and how often it still happens; 0: until it is ended."""

    refusal: Refused
    left: int


class Cues:
    """What a test or a demonstration has the engine do wrong. A call is for a container ID, a name or an image."""

    def __init__(self) -> None:
        """Have nothing go wrong."""
        self._lock = threading.Lock()
        self._cues: dict[tuple[Call, str], _Cue] = {}
        self._hangs_s: dict[str, float] = {}

    def refuse(self, call: Call, key: str, reason: str, fault: Fault = Fault.WORKLOAD, times: int = 0) -> None:
        """Refuse this call with these words, so many times or (0) until the reason is ""."""
        with self._lock:
            self._cues.pop((call, key), None)
            if reason:
                self._cues[call, key] = _Cue(Refused(reason, fault), times)

    def hang(self, key: str, for_s: float) -> None:
        """Leave every command for this without effect, and without an answer for so long; 0 ends that."""
        self._hangs_s[key] = for_s

    def refusal(self, call: Call, key: str) -> Refused | None:
        """Return the refusal of this call, and count it."""
        with self._lock:
            at = next((each for each in ((call, key), (call, ANY)) if each in self._cues), None)
            if at is None:
                return None
            cue = self._cues.pop(at)
            if cue.left != 1:
                self._cues[at] = _Cue(cue.refusal, max(0, cue.left - 1))
            return cue.refusal

    def hangs_s(self, key: str) -> float:
        """Return for how long a command for this gets no answer."""
        return self._hangs_s.get(key, 0.0)
