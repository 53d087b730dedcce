"""A pass in which nothing happened, over 100 containers: engine calls, and time as a ratio to one bare list call (goal 1.5),
without a journal and with one.

Needs a private engine (tests/private_engine start DIR; run this by tests/private_engine exec DIR). The pass is the real one: the
list, the SQLite state, the routes file, the plan. Bare call and pass take turns, so that a busy machine slows both; each turn
gives one ratio, and the median is printed. It first waits two minutes, since the list tells too little of younger containers.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))

from docker import APIClient

from gordon_core.effects import Done
from gordon_core.snapshot import Declared
from gordon_shell.ports import Ports
from gordon_shell.reconciler import Reconciler
from gordon_shell.recorder import recording
from gordon_shell.wiring import LiveOptions, live_journal, live_policies, live_ports
from gordon_shell.witness import SILENT, Witness
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


def warm(ports: Ports, options: LiveOptions, witness: Witness = SILENT) -> Reconciler:
    """Run passes until all is quiet."""
    reconciler = Reconciler(ports, live_policies(options), witness=witness)
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


def measure(client: APIClient, plain: Reconciler, recorded: Reconciler, turns: int) -> Iterator[tuple[float, float, float]]:
    """Yield the seconds of a bare list call, of a pass, and of one with a journal, for each turn."""
    for index in range(turns):
        bare_s = seconds(lambda: client.containers(all=True))
        took_s = {each: seconds(each.run_pass) for each in ((plain, recorded) if index % 2 else (recorded, plain))}
        yield bare_s, took_s[plain], took_s[recorded]


def main() -> None:
    """Print all figures."""
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
        with recording(live_journal(options), ports, sys.exit) as witness:
            plain, recorded = warm(ports, options), warm(ports, options, witness)
            found = list(measure(containers.client, plain, recorded, turns))
        close(ports)
        made_calls = calls(host, options, directory)
    ratio, recorded_ratio = median(took / bare for bare, took, _ in found), median(took / bare for bare, _, took in found)
    bare_ms, pass_ms, recorded_ms = (1000 * median(each) for each in zip(*found, strict=True))
    verdict = "within" if ratio <= GOAL else "OVER"
    print(f"a steady pass over 100 containers: {len(made_calls)} engine call(s)")
    print(f"bare list {bare_ms:.1f} ms, pass {pass_ms:.1f} ms, {ratio:.2f} times (goal {GOAL}: {verdict})")
    print(f"with the journal on {recorded_ms:.1f} ms, {recorded_ratio:.2f} times")


if __name__ == "__main__":
    main()
