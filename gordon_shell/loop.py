"""`run`: passes for ever, until the program is told to end; and at once a pass over whatever the engine's events point at."""

from collections.abc import Callable
from math import inf

from gordon_core.policy import PASS_CADENCE_S
from gordon_shell.errors import BusyError, StoreError
from gordon_shell.follower import following
from gordon_shell.ports import Ports
from gordon_shell.reconciler import Reconciler, Report

WHOLE_SPACING_S = 2.0
"""How long after the begin of one pass over everything the next may come, where it is asked for: a lost stream, a clash."""

Tell = Callable[[Report], None]
Complain = Callable[[str], None]


def run(ports: Ports, reconciler: Reconciler, tell: Tell, complain: Complain, *, cadence_s: float = PASS_CADENCE_S) -> None:
    """Run a pass every `cadence_s` seconds until `reconciler.stop()` is called, from a signal handler say; and between those,
    targeted passes over what events point at, which are told as well where something came of them.

    A pass whose jobs take longer does not hold up the next one. Raise BusyError if another `run` uses the same state; a state
    that cannot be read in one pass is complained of, and read again in the next.
    """
    lock = ports.locks.try_run()
    if isinstance(lock, str):
        message = f"{lock} runs already on this state; stop it first, or use `gordon-shell once` beside it"
        raise BusyError(message)
    with lock, following(ports.events, reconciler.hints, complain):
        begun_s = -inf
        while not reconciler.stopping:
            now_s = ports.clock.now().boot_s
            if now_s >= begun_s + _spacing_s(reconciler, cadence_s):
                begun_s = now_s
                _run_pass(reconciler, tell, complain, cadence_s)
            else:
                report = reconciler.answer()
                if report is not None:
                    tell(report)
            if not reconciler.stopping:
                left_s = begun_s + _spacing_s(reconciler, cadence_s) - ports.clock.now().boot_s
                if left_s > 0:
                    ports.clock.rest(min(left_s, reconciler.answers_in_s))


def _spacing_s(reconciler: Reconciler, cadence_s: float) -> float:
    return min(cadence_s, WHOLE_SPACING_S) if reconciler.hints.wants_whole else cadence_s


def _run_pass(reconciler: Reconciler, tell: Tell, complain: Complain, cadence_s: float) -> None:
    try:
        tell(reconciler.run_pass(patience_s=cadence_s))
    except StoreError as error:
        complain(str(error))
