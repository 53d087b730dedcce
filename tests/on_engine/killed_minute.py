"""A minute of two crash loops under one policy, each with a state and a routes file of its own: one is looked after by `run`, the
other by `once` every second. It goes by in threads, while other tests run.
"""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event

from attrs import field, frozen

from gordon_core.effects import Done
from gordon_core.policy import Policy
from gordon_core.snapshot import Declared
from gordon_shell.sqlite_store import SqliteStore
from tests.engine_fixtures import Containers
from tests.on_engine.killed_processes import Entry, Processes, entries
from tests.on_engine.scene import APP, HTTP

MINUTE_S = 60.0
CADENCE_S = 1.0
LADDER_S = (2.0, 5.0, 10.0, 90.0)
"""Six starts take it to its top within some 20 s, and the seventh is due long after the minute: slowness changes no count."""


@frozen
class Loop:
    """One container that ends at once, in the care of its own state."""

    directory: Path

    def adopt(self, containers: Containers) -> None:
        self.directory.mkdir()
        script = "echo begun >>/begun/log; exit 3"
        container_id = containers.create(
            *("sh", "-c", script), publishes={"80/tcp": 0}, binds=(f"{self.directory}:/begun",), name=self.directory.name
        )
        store = SqliteStore.open(self.directory / "state.db", create=True)
        with contextlib.closing(store):
            declared = Declared(container_id, 1, ports=(HTTP,), policy=Policy(ladder_s=LADDER_S, readiness_s=0.3))
            assert Done() == store.activate(APP, "loop", declared, 0, None)

    def start(self, processes: Processes, *words: str) -> int:
        state = ("--state", str(self.directory / "state.db"))
        return processes.start(self.directory / "told", *words, *state, log=self.directory / "commands")

    def begun(self) -> int:
        """Return how often the container was begun."""
        return len((self.directory / "log").read_text().splitlines())

    def failures(self) -> int:
        with contextlib.closing(SqliteStore.open(self.directory / "state.db", create=False)) as store:
            stored = store.read_service(APP, "loop")
        assert stored is not None
        return stored.memory.failures

    def times_s(self, call: str) -> list[float]:
        """Return when a call was made, in seconds since boot."""
        return [each.at_s for each in self._entries() if each.call == call]

    def charges_s(self) -> list[float]:
        """Return the times of the charges that were written."""
        return sorted({each.charged_at_s for each in self._entries() if each.charged_at_s is not None})

    def _entries(self) -> list[Entry]:
        return entries(self.directory / "commands")


@frozen(eq=False)
class Minute:
    """Both loops, while the minute goes by."""

    loops: dict[str, Loop]
    ends: list["Future[None]"] = field(factory=list)

    def over(self) -> dict[str, Loop]:
        """Wait until it is over."""
        for each in self.ends:
            each.result(2 * MINUTE_S)
        return self.loops


def _once_every_second(loop: Loop, ended: Event) -> None:
    next_s = time.monotonic()
    until_s = next_s + MINUTE_S
    with Processes() as processes:
        while time.monotonic() < until_s and not ended.is_set():
            loop.start(processes, "once")
            assert processes.end() in {0, 1}
            next_s = max(next_s + CADENCE_S, time.monotonic())
            ended.wait(next_s - time.monotonic())


def _run(loop: Loop, ended: Event) -> None:
    with Processes() as processes:
        pid = loop.start(processes, "run", "--cadence", str(CADENCE_S))
        ended.wait(MINUTE_S)
        os.kill(pid, signal.SIGTERM)
        assert processes.end() == 0


@contextlib.contextmanager
def minute_of(containers: Containers, directory: Path) -> Iterator[Minute]:
    """Begin it; where nobody waits for its end, it is cut short."""
    minute, ended = Minute({each: Loop(directory / each) for each in ("once", "run")}), Event()
    for each in minute.loops.values():
        each.adopt(containers)
    with ThreadPoolExecutor(2) as pool:
        minute.ends.append(pool.submit(_once_every_second, minute.loops["once"], ended))
        minute.ends.append(pool.submit(_run, minute.loops["run"], ended))
        try:
            yield minute
        finally:
            ended.set()
