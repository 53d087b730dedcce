"""The witness that has passes written down in the journal: it hears, and a thread of its own writes, so that no pass waits."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from operator import is_
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Final, Protocol

from gordon_core.effects import Outcome
from gordon_core.observation import Clock
from gordon_core.planner import Decision, Plan
from gordon_core.snapshot import Snapshot, Subject
from gordon_shell.heard import Heard, Looking, Stepping, Take
from gordon_shell.journal import Journal
from gordon_shell.ports import Ports
from gordon_shell.report import Report
from gordon_shell.witness import SILENT, Witness

if TYPE_CHECKING:
    from gordon_shell.scribe import Scribe

PATIENCE_S: Final = 5.0
"""How long the end of a program waits for what is still to be written, unless it is in a hurry."""
EARLY_S: Final = 1.0
"""How often what was heard of a pass under way is written: a SIGKILL costs no more than that."""
MOST_WAITING: Final = 200
"""How many passes may wait to be written; what comes on top of that is not recorded."""
_BEHIND = "the journal is behind, and the last passes are not recorded; see to its disk"

Complain = Callable[[str], None]
Patience = Callable[[], float]
"""How long may be waited at the end, as it stands then."""


def _patience() -> float:
    return PATIENCE_S


@contextmanager
def recording(journal: Journal | None, ports: Ports, complain: Complain, patience: Patience = _patience) -> Iterator[Witness]:
    """Have the passes of a block written down, by a thread; with no journal, nothing. What goes wrong is told so."""
    if journal is None:
        yield SILENT
        return
    from gordon_shell.scribe import Scribe  # noqa: PLC0415 - not on the way to commands that record nothing

    recorder = Recorder(Writing(Scribe(journal, ports.engine, complain), complain, patience), ports.clock.now)
    try:
        yield recorder
    finally:
        recorder.close()


class Writer(Protocol):
    """Writes what was heard of passes: a Scribe at once, and Writing later."""

    def begun(self, take: Take) -> None:
        """Know that something was heard of a pass, of which this takes what there is so far."""

    def write(self, heard: list[Heard]) -> None:
        """Write, or have written, what was heard of one pass and not taken: it is over."""

    def end(self) -> None:
        """Have all of it written, and end."""


class Recorder:
    """Hears of passes. A look of which every decision is the very same object as before costs next to nothing."""

    def __init__(self, writer: Writer, now: Callable[[], Clock]) -> None:
        """Have it written so; `now` tells the time."""
        self._writer, self._now = writer, now
        self._gate = Lock()
        self._heard: list[Heard] = []
        self._pass = 0
        self._is_begun = False
        self._latest: tuple[Decision, ...] = ()

    def planned(self, plan: Plan, *, is_whole: bool) -> None:
        """Hear of a look; see Witness."""
        if len(plan.services) == len(self._latest) and all(map(is_, plan.services, self._latest)):
            return
        if is_whole:
            self._latest = plan.services
        self._hear(Looking(plan, is_whole, self._now()))

    def stepped(self, decided: Snapshot, decision: Decision, outcome: Outcome, after: Subject) -> None:
        """Hear of a step; see Witness."""
        if decision.effect is not None:
            self._hear(Stepping(decided, decision.subject, decision.effect, outcome, after))

    def left(self, plan: Plan) -> None:
        """Hear how a service was left; see Witness."""
        self._hear(Looking(plan, is_whole=False, clock=self._now()))

    def ended(self, report: Report) -> None:
        """Have what was heard of the pass written."""
        del report
        self._over()

    def close(self) -> None:
        """Have written what was heard since, and end the writer."""
        self._over()
        self._writer.end()

    def _hear(self, heard: Heard) -> None:
        with self._gate:
            self._heard.append(heard)
            is_first, self._is_begun, number = not self._is_begun, True, self._pass
        if is_first:
            self._writer.begun(partial(self._so_far, number))

    def _so_far(self, number: int) -> list[Heard]:
        """Return what was heard of the pass of this number and not taken yet."""
        with self._gate:
            if number != self._pass:
                return []
            heard, self._heard = self._heard, []
            return heard

    def _over(self) -> None:
        if self._is_begun:
            with self._gate:
                heard, self._heard = self._heard, []
                self._pass, self._is_begun = self._pass + 1, False
            self._writer.write(heard)


class Writing:
    """Has a scribe write in a thread of its own, which begins when there is something to write."""

    def __init__(self, scribe: "Scribe", complain: Complain, patience: Patience = _patience) -> None:
        """Let this one write."""
        self._scribe, self._complain, self._patience = scribe, complain, patience
        self._waiting: SimpleQueue[list[Heard] | Take | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._is_behind = False

    def begun(self, take: Take) -> None:
        """Have what is heard of this pass written while it is under way."""
        self._put(take)

    def write(self, heard: list[Heard]) -> None:
        """Have this written soon."""
        self._put(heard)

    def _put(self, what: list[Heard] | Take) -> None:
        if self._waiting.qsize() >= MOST_WAITING:
            if not self._is_behind:
                self._complain(_BEHIND)
            self._is_behind = True
            return
        self._is_behind = False
        self._waiting.put(what)
        if self._thread is None:
            self._thread = Thread(target=self._work, name="journal", daemon=True)
            self._thread.start()

    def end(self) -> None:
        """Wait for what is still to be written, for as long as there is patience."""
        if self._thread is None:
            return
        patience_s = self._patience()
        self._waiting.put(None)
        self._thread.join(patience_s)
        if self._thread.is_alive():
            self._complain(f"the journal does not have the last passes: they could not be written within {patience_s:.2g} s")

    def _work(self) -> None:
        take: Take | None = None
        while True:
            try:
                what = self._waiting.get(timeout=EARLY_S if take is not None else None)
            except Empty:
                if take is not None and (heard := take()):
                    self._guarded(partial(self._scribe.write, heard, is_over=False))
                continue
            match what:
                case None:
                    break
                case list():
                    take = None
                    self._guarded(partial(self._scribe.write, what))
                case _:
                    take = what
        self._guarded(self._scribe.end)

    def _guarded(self, do: Callable[[], None]) -> None:
        try:
            do()
        except Exception as fault:  # noqa: BLE001 - the boundary of a thread: what is raised here would be lost
            self._complain(f"a fault of ours in the journal: {type(fault).__name__}: {fault}; please report it")
