"""A pass in which nothing happened, over 100 containers: engine calls, and time as a ratio to one bare list call (goal 1.5).

Needs a private engine (tests/private_engine start DIR; run this by tests/private_engine exec DIR). The pass is the real one: the
list, the SQLite state, the routes file, the plan. Bare call and pass take turns, so that a busy machine slows both; each turn
gives one ratio, and the median is printed. It first waits two minutes, since the list tells too little of younger containers.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))

from docker import APIClient

from gordon_core.effects import Done
from gordon_core.snapshot import Declared
from gordon_shell.ports import Ports
from gordon_shell.reconciler import Reconciler
from gordon_shell.wiring import LiveOptions, live_policies, live_ports
from tests.engine_fixtures import Containers, answers
from tests.on_engine.counting import counted
from tests.on_engine.hundred import Hundred, hundred
from tests.on_engine.scene import HTTP, close

GOAL = 1.5
WARM_UP = 3


def adopt(ports: Ports, made: Hundred) -> None:
    """Name all containers in ACTIVE."""
    for index, each in enumerate((*made.plain, *made.web)):
        is_web = each in made.web
        declared = Declared(each, 1, ports=(HTTP,) if is_web else (), published=is_web)
        outcome = ports.store.activate("bench", f"service{index}", declared, 0, None)
        if outcome != Done():
            sys.exit(f"steady_pass: {outcome}")


def warm(ports: Ports, options: LiveOptions) -> Reconciler:
    """Run passes until all is quiet."""
    reconciler = Reconciler(ports, live_policies(options))
    for _ in range(WARM_UP):
        report = reconciler.run_pass()
    if not report.is_well:
        sys.exit("steady_pass: not all services came to be served; see that nothing else uses this engine")
    return reconciler


def calls(host: str, options: LiveOptions, directory: Path) -> list[str]:
    """Return the requests that one steady pass makes, as counted on the wire."""
    with counted(host.removeprefix("unix://"), directory / "counted.sock") as socket:
        os.environ["DOCKER_HOST"] = f"unix://{socket.path}"
        ports = live_ports(options)
        try:
            reconciler = warm(ports, options)
            socket.requests.clear()
            reconciler.run_pass()
            return list(socket.requests)
        finally:
            os.environ["DOCKER_HOST"] = host
            close(ports)


def seconds(work: Callable[[], object]) -> float:
    """Return how long one call took."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def measure(client: APIClient, reconciler: Reconciler, turns: int) -> tuple[float, float, float]:
    """Return the medians: seconds of a bare list call, seconds of a pass, and the ratio within a turn."""
    found = [(seconds(lambda: client.containers(all=True)), seconds(reconciler.run_pass)) for _ in range(turns)]
    return median(bare for bare, _ in found), median(took for _, took in found), median(took / bare for bare, took in found)


def main() -> None:
    """Print both figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=101, help="measured turns (101)")
    turns = max(1, parser.parse_args().turns)
    if not answers():
        print("not measured: no private engine (tests/private_engine start DIR)")
        return
    host = os.environ["DOCKER_HOST"]
    with Containers(host) as containers, tempfile.TemporaryDirectory(prefix="gordon-", dir="/tmp") as name:
        directory = Path(name)
        made, options = hundred(containers), LiveOptions(state=directory / "state.db", environment={})
        print("waiting two minutes ...", flush=True)
        made.wait_until_old()
        ports = live_ports(options, create=True)
        adopt(ports, made)
        bare_s, pass_s, ratio = measure(containers.client, warm(ports, options), turns)
        close(ports)
        made_calls = calls(host, options, directory)
    verdict = "within" if ratio <= GOAL else "OVER"
    print(f"a steady pass over 100 containers: {len(made_calls)} engine call(s)")
    print(f"bare list {1000 * bare_s:.1f} ms, pass {1000 * pass_s:.1f} ms, {ratio:.2f} times (goal {GOAL}: {verdict})")


if __name__ == "__main__":
    main()
