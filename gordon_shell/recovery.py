"""Recovery that goes on until it is told to stop, for programs that embed it: what `gordon-shell run` does."""

from collections.abc import Callable
from threading import Lock

from attrs import define, field

from gordon_core.policy import PASS_CADENCE_S
from gordon_shell import loop
from gordon_shell.crew import Crew
from gordon_shell.journal import Journal
from gordon_shell.observer import Policies
from gordon_shell.ports import Ports
from gordon_shell.reconciler import Reconciler
from gordon_shell.recorder import recording
from gordon_shell.report import Report
from gordon_shell.witness import Witness, Witnesses


@define(eq=False)
class Recovery:
    """One such; `Host.recovery` makes it. `tell` hears of each pass, and of what is done between two, in the thread of `run`."""

    ports: Ports
    policies: Policies
    crew: Crew | None
    journal: Journal | None
    witness: Witness
    tell: Callable[[Report], None]
    complain: Callable[[str], None]
    _reconciler: Reconciler | None = None
    _stopped: bool = False
    _mutex: Lock = field(factory=Lock, repr=False)

    def run(self, *, cadence_s: float = PASS_CADENCE_S) -> None:
        """Run a pass every `cadence_s` seconds, and at once one over whatever the engine's events point at, until `stop`.

        Raise BusyError where somebody does so already on this state.
        """
        with recording(self.journal, self.ports, self.complain) as recorder:
            witness = Witnesses(recorder, self.witness)
            reconciler = Reconciler(self.ports, self.policies, crew=self.crew, witness=witness)
            with self._mutex:
                self._reconciler = reconciler
                if self._stopped:
                    return
            loop.run(self.ports, reconciler, self.tell, self.complain, cadence_s=cadence_s)

    def stop(self) -> None:
        """End it soon, for good: probes are dropped, and no step more is taken. Its host can be closed after that, and no more.

        Any thread may call it, and a signal handler through a thread of its own.
        """
        with self._mutex:
            self._stopped = True
            reconciler = self._reconciler
        if reconciler is not None:
            reconciler.stop()
