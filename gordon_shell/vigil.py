"""Waits of a deploy: looks at one container, again and again, that end as soon as somebody wants the deploy to end."""

import time
from collections.abc import Callable, Iterator
from math import ceil
from typing import Final

from gordon_core.effects import DONE, Fault, Outcome, Refused, Unknown
from gordon_core.observation import Container, Gone, Status, Unread
from gordon_shell.errors import EngineError
from gordon_shell.glances import Look
from gordon_shell.ports import Details, Engine, TimeSource

POLL_S: Final = 0.2
_ENDED = frozenset(
    {Status.CREATED, Status.RESTARTING, Status.REMOVING, Status.EXITED, Status.DEAD, Status.STOPPED},
)


class Vigil:
    """Watches containers, about every 0.2 s. What the engine does not say is no evidence."""

    def __init__(self, engine: Engine, clock: TimeSource, cancelled: Callable[[], str]) -> None:
        self._engine, self._clock, self._cancelled = engine, clock, cancelled

    def pause(self, seconds: float) -> None:
        """Let that much time pass, unless the deploy is to end."""
        for _ in self._ticks(seconds):
            pass

    def until_it_runs(self, container_id: str, wait_s: float) -> Outcome:
        """Wait until it runs; refused by the workload, in words, where it does not."""
        refusal = ""
        for look in self._looks(container_id, wait_s):
            if isinstance(look, Gone):
                return Refused("it is gone", Fault.WORKLOAD)
            if isinstance(look, Details):
                if look.container.status is Status.RUNNING:
                    return DONE
                refusal = _end(look.container)
        return self._unsaid() if self._cancelled() or not refusal else Refused(refusal, Fault.WORKLOAD)

    def runs_on(self, container_id: str, started_at: str, wait_s: float) -> Outcome:
        """See this execution run for so long; refused by the workload, in words, where it ended."""
        latest: Look = Unread("")
        for latest in self._looks(container_id, wait_s):
            if isinstance(latest, Gone):
                return Refused("it is gone", Fault.WORKLOAD)
            if isinstance(latest, Details):
                if latest.container.started_at != started_at:
                    return Refused("it ended, and was started again", Fault.WORKLOAD)
                if latest.container.status in _ENDED:
                    return Refused(_end(latest.container), Fault.WORKLOAD)
        runs = isinstance(latest, Details) and latest.container.status is Status.RUNNING
        return DONE if runs and not self._cancelled() else self._unsaid()

    def _unsaid(self) -> Unknown:
        return Unknown(self._cancelled() or "the engine did not say whether it runs")

    def _looks(self, container_id: str, wait_s: float) -> Iterator[Look]:
        """Look now, then again and again until the time is over, and then once more."""
        for _ in self._ticks(wait_s):
            yield self._look(container_id)

    def _look(self, container_id: str) -> Look:
        try:
            return self._engine.inspect(container_id)
        except EngineError as error:
            return Unread(str(error))

    def _ticks(self, wait_s: float) -> Iterator[None]:
        """Come back now, then every 0.2 s until the time is over, and then once more; not after the deploy is to end."""
        begun_s = self._clock.now().boot_s
        for _ in range(1 + ceil(wait_s / POLL_S)):
            yield
            left_s = wait_s - (self._clock.now().boot_s - begun_s)
            if left_s <= 0 or self._cancelled():
                return
            self._sleep(min(POLL_S, left_s))

    def _sleep(self, seconds: float) -> None:
        before_s = self._clock.now().boot_s
        self._clock.sleep(seconds)
        if self._clock.now().boot_s - before_s < seconds / 2:
            time.sleep(seconds)  # somebody woke the clock for good; the engine must not be asked without a pause


def _end(container: Container) -> str:
    end = container.exit
    if end is None:
        return f"it is {container.status.value}"
    return f"it ended with exit code {end.code}{', out of memory' if end.oom_killed else ''}"
