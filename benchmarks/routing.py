"""Publish, withdraw and read through a real HAProxy with 100 services, as ratios to a bare command at its runtime socket.

The bare command asks for the servers of one backend, over a connection of its own, as HAProxy wants it: whoever changes a route
and reads it back needs at least three of them. Needs haproxy on the path. They take turns, each turn gives one ratio, and medians
are printed.
"""

import argparse
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))

from gordon_core.effects import Done
from gordon_core.observation import Bind, Port
from gordon_shell.haproxy_config import backend_name, haproxy_config
from gordon_shell.haproxy_router import HaproxyRouter
from tests.haproxy import RunningHaproxy, running_haproxy, short_directory

SERVICES = 100
HTTP = Port(80)
APP = "bench"


def seconds(work: Callable[[], object], right: object) -> float:
    """Return how long it took; end the benchmark if it did not do its work."""
    begun = time.perf_counter()
    outcome = work()
    took = time.perf_counter() - begun
    if outcome != right and right is not None:
        sys.exit(f"routing: {outcome}")
    return took


def turn(proxy: RunningHaproxy, router: HaproxyRouter, index: int) -> dict[str, float]:
    """Return the seconds of each."""
    name = f"service{index % SERVICES}"
    bind = (Bind(HTTP, 20_000 + index),)
    ask = f"show servers state {backend_name(APP, name, 80)}"
    return {
        "a bare command": seconds(lambda: proxy.say(ask), None),
        "publish": seconds(lambda: router.publish(APP, name, bind), Done()),
        "publish elsewhere": seconds(lambda: router.publish(APP, name, (Bind(HTTP, 40_000 + index),)), Done()),
        "withdraw": seconds(lambda: router.withdraw(APP, name), Done()),
        "read all routes": seconds(router.read, None),
    }


def main() -> None:
    """Print the bare command, and the others as ratios to it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=201, help="measured turns (201)")
    turns = max(2, parser.parse_args().turns)
    if shutil.which("haproxy") is None:
        print("not measured: there is no haproxy on the path (Debian: apt-get install haproxy)")
        return
    config = haproxy_config([(APP, f"service{index}", (HTTP,)) for index in range(SERVICES)], "/unused")
    with short_directory() as directory, running_haproxy(config, directory) as proxy:
        router = HaproxyRouter(proxy.socket)
        found = [turn(proxy, router, index) for index in range(turns + 1)][1:]
    for what in found[0]:
        took_ms = 1000 * median(each[what] for each in found)
        ratio = median(each[what] / each["a bare command"] for each in found)
        print(f"{what}: {took_ms:.2f} ms" + (f", {ratio:.1f} times a bare command" if what != "a bare command" else ""))


if __name__ == "__main__":
    main()
