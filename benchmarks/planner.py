"""`plan` over ready subjects, in microseconds of CPU a service: fresh ones (goal 5, at every size) and unchanged ones (goal 0.5).

All are settled, published services: the whole law is walked for each, since their row is the last one. The subjects, and their
snapshot, are built apart; that is printed too. Each figure is the median of 9 runs.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))

from gordon_core.memory import Memory, Verified
from gordon_core.observation import Bind, Binds, Clock, Container, Port, PortBinding, RouteSeen, Status
from gordon_core.planner import plan
from gordon_core.situations import Situation
from gordon_core.snapshot import Declared, Snapshot, Subject

SIZES = (1_000, 10_000, 100_000)
RUNS = 9
FRESH_GOAL_US, UNCHANGED_GOAL_US = 5.0, 0.5
CLOCK = Clock(10_000.0, 1_790_000_000.0, "boot")
LATER = Clock(10_015.0, 1_790_000_015.0, "boot")


def settled(index: int) -> Subject:
    """Return a service that is as desired."""
    container_id, started_at = f"{index:064x}", f"2026-11-30T07:00:00.{index:09d}Z"
    port = 1 + index % 65535

    def binds() -> Binds:
        """Return them as another object each time, as a host does that reads them from four places."""
        return (Bind(Port(80), port),)

    return Subject(
        f"app{index // 10:06d}",
        f"service{index % 10}",
        Container(container_id, Status.RUNNING, started_at, ports=(PortBinding(Port(80), "127.0.0.1", port),)),
        Declared(container_id, 1, ports=(Port(80),), binds=binds()),
        route=RouteSeen(binds()),
        memory=Memory(verified=Verified(started_at, binds(), 1)),
    )


def microseconds(work: Callable[[], object], services: int) -> float:
    """Return what one run takes, for each service."""
    begun = time.process_time()
    work()
    return (time.process_time() - begun) * 1e6 / services


def fresh(snapshot: Snapshot) -> float:
    """Return microseconds a service with nothing known from before."""
    for subject in snapshot.subjects:
        subject.memo.clear()
    return microseconds(lambda: plan(snapshot), len(snapshot.subjects))


def unchanged(snapshot: Snapshot) -> float:
    """Return microseconds a service with everything known from a plan before."""
    return microseconds(lambda: plan(snapshot), len(snapshot.subjects))


def verdict(value_us: float, goal_us: float) -> str:
    """Return a figure with its goal."""
    return f"{value_us:6.2f} us (goal {goal_us}: {'within' if value_us <= goal_us else 'OVER'})"


def main() -> None:
    """Print one line a size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, help="how many services (1000 10000 100000)")
    for size in parser.parse_args().sizes or SIZES:
        begun = time.process_time()
        subjects = [settled(index) for index in range(size)]
        first, later = Snapshot(CLOCK, subjects), Snapshot(LATER, subjects)
        built_us = (time.process_time() - begun) * 1e6 / size
        if {Situation.SETTLED} != {each.situation for each in plan(first).services}:
            sys.exit("planner: the subjects are not settled; put `settled` right")
        fresh_us = median(fresh(first) for _ in range(RUNS))
        unchanged_us = median(unchanged(later) for _ in range(RUNS))
        print(
            f"{size:7,} services: fresh {verdict(fresh_us, FRESH_GOAL_US)}, "
            f"unchanged {verdict(unchanged_us, UNCHANGED_GOAL_US)}; built at {built_us:.0f} us each",
            flush=True,
        )


if __name__ == "__main__":
    main()
