"""A process that deploys on memory ports, and whose candidate takes a second to be stopped: to be sent signals.

It says "probing" when its candidate is being probed (for as long as nobody ends that), and then what it does to clean up. Its
argument says how: "main" or "thread", which calls it; "ignored", in the main thread, with SIGTERM ignored; "heeded", in the main
thread, with a handler of its own for SIGTERM.
"""

import signal
import sys
import threading
import time

from gordon_core.blueprint import Blueprint
from gordon_core.deploy_planner import DeployDecision
from gordon_core.effects import Outcome, RemoveCandidate
from tests.deploy_sites import Site

STOP_S = 1.0
PROBE_S = 30.0


def say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def slowly(words: str, seconds: float) -> None:
    say(words)
    time.sleep(seconds)


def tell(decision: DeployDecision, outcome: Outcome | None) -> None:
    if isinstance(decision.step, RemoveCandidate) and outcome is not None:
        say(f"removed {outcome}")


def main(how: str) -> None:
    site = Site()
    site.serving("shop:1")
    site.calls.before("prober.probe", lambda: slowly("probing", PROBE_S if how != "ignored" else STOP_S))
    site.calls.before("engine.stop", lambda: slowly("stopping", STOP_S))

    def deploy() -> None:
        verdict = site.deployer(tell).deploy("shop", "web", Blueprint("shop:2"))
        say(f"{verdict.stage.name} {verdict.failure.reason if verdict.failure is not None else ''}")

    if how == "ignored":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if how == "heeded":
        signal.signal(signal.SIGTERM, lambda number, _frame: say(f"heeded {number}"))
    if how == "thread":
        threading.Thread(target=deploy).start()
        time.sleep(PROBE_S)
    else:
        deploy()


if __name__ == "__main__":
    main(*sys.argv[1:])
