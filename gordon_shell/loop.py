"""`once` and `run`: passes, one or for ever, until the program is told to end."""

from collections.abc import Callable

from gordon_core.policy import PASS_CADENCE_S
from gordon_shell.errors import BusyError, StoreError
from gordon_shell.ports import Ports
from gordon_shell.reconciler import Reconciler, Report

Tell = Callable[[Report], None]
Complain = Callable[[str], None]


def run(ports: Ports, reconciler: Reconciler, tell: Tell, complain: Complain, *, cadence_s: float = PASS_CADENCE_S) -> None:
    """Run a pass every `cadence_s` seconds until `reconciler.stop()` is called, from a signal handler say.

    A pass whose jobs take longer does not hold up the next one. Raise BusyError if another `run` uses the same state; a state
    that cannot be read in one pass is complained of, and read again in the next.
    """
    lock = ports.locks.try_run()
    if isinstance(lock, str):
        message = f"{lock} runs already on this state; stop it first, or use `gordon-shell once` beside it"
        raise BusyError(message)
    with lock:
        while not reconciler.stopping:
            begun_s = ports.clock.now().boot_s
            try:
                tell(reconciler.run_pass(patience_s=cadence_s))
            except StoreError as error:
                complain(str(error))
            left_s = cadence_s - (ports.clock.now().boot_s - begun_s)
            if left_s > 0 and not reconciler.stopping:
                ports.clock.sleep(left_s)
