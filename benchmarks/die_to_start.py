"""From a death to the start that answers it, on a real engine: how long after the engine's own delay the start call arrives.

Needs a private engine (tests/private_engine start DIR; run this by tests/private_engine exec DIR). `gordon-shell run` is a
process of its own, with an SQLite state and a published service, behind a socket that notes when its start call arrives. A pass
comes every two minutes only: what answers is the event.

The engine says `die` while it still tidies up after the container, and lets nobody look at it, or start it, until that is done.
So two bare connections give the engine's own delay: one notes when `die` comes, and the other asks at once to look at the
container; the engine's answer is when it can be started at the earliest. What comes after that is ours (goal: 10 ms), with what
the socket in between adds to it.
"""

import argparse
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median, quantiles

sys.path.insert(0, str(Path(__file__).parent.parent))

from attrs import define, field, frozen

from gordon_core.effects import Done
from gordon_core.policy import Policy
from gordon_core.snapshot import Declared
from gordon_shell.wiring import LiveOptions, live_ports
from tests.engine_fixtures import Containers, answers
from tests.on_engine.counting import CountingSocket, counted
from tests.on_engine.scene import HTTP, close

GOAL_MS = 10.0
SPACING_S = 1.5
PATIENCE_S = 60.0
CADENCE_S = 120


@frozen
class Crash:
    """One crash, in seconds: from `die` until the engine lets anybody look, and from `die` until the start call arrived."""

    free_s: float
    start_s: float


@define(eq=False)
class Ear:
    """Hears of the deaths of one container, and asks at once to look at it: notes when each `die` came, and each answer."""

    path: str
    container_id: str
    heard_s: list[float] = field(factory=list)
    free_s: list[float] = field(factory=list)

    def listen(self, connection: socket.socket) -> None:
        """Read until the connection is shut down; nothing is parsed, so that nothing is late."""
        with contextlib.suppress(OSError):
            while chunk := connection.recv(1 << 16):
                if b'"Action":"die"' in chunk:
                    self.heard_s.append(time.perf_counter())
                    self._look()

    def _look(self) -> None:
        with asking(self.path, f"/containers/{self.container_id}/json") as connection:
            connection.recv(1)
            self.free_s.append(time.perf_counter())


@contextlib.contextmanager
def asking(path: str, target: str) -> Iterator[socket.socket]:
    """Ask the engine for something over a bare socket, and leave the answer to the block."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(f"GET /v1.40{target} HTTP/1.1\r\nHost: docker\r\n\r\n".encode())
        yield connection


@contextlib.contextmanager
def listening(host: str, container_id: str) -> Iterator[Ear]:
    """Listen to the engine itself."""
    ear = Ear(host.removeprefix("unix://"), container_id)
    filters = f'{{"event":["die"],"container":["{container_id}"]}}'.replace('"', "%22")
    with asking(ear.path, f"/events?filters={filters}") as connection:
        thread = threading.Thread(target=ear.listen, args=(connection,))
        thread.start()
        try:
            yield ear
        finally:
            connection.shutdown(socket.SHUT_RDWR)
            thread.join()


@contextlib.contextmanager
def running(directory: Path, engine: Path) -> Iterator[None]:
    """Let `gordon-shell run` go on."""
    program = Path(sys.executable).with_name("gordon-shell")
    command = [program, "run", "--cadence", str(CADENCE_S), "--state", directory / "state.db"]
    with (directory / "run.log").open("wb") as log:
        process = subprocess.Popen(command, env={**os.environ, "DOCKER_HOST": f"unix://{engine}"}, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def until(holds: Callable[[], object], what: str) -> None:
    """Wait until something holds, or end the program."""
    end_s = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > end_s:
            sys.exit(f"die_to_start: {what} did not come within {PATIENCE_S:.0f} s")
        time.sleep(0.01)


def crash(containers: Containers, ear: Ear, engine: CountingSocket) -> Crash:
    """Kill it once, and return what followed."""
    deaths, starts = len(ear.free_s), len(engine.noted_s)
    containers.client.kill(ear.container_id)
    until(lambda: len(engine.noted_s) > starts and len(ear.free_s) > deaths, "a start")
    return Crash(ear.free_s[deaths] - ear.heard_s[deaths], engine.noted_s[starts] - ear.heard_s[deaths])


def measure(containers: Containers, host: str, directory: Path, crashes: int) -> list[Crash]:
    """Return that many crashes, after one that warms up."""
    container_id = containers.run_web(stop_timeout_s=1)
    ports = live_ports(LiveOptions(state=directory / "state.db", environment={}), create=True)
    declared = Declared(container_id, 1, ports=(HTTP,), policy=Policy(free_failures=1_000_000))
    if ports.store.activate("bench", "web", declared, 0, None) != Done():
        sys.exit("die_to_start: the state cannot be written")
    found = []
    with (
        counted(host.removeprefix("unix://"), directory / "engine.sock", "/start") as engine,
        listening(host, container_id) as ear,
        running(directory, engine.path),
    ):
        for _ in range(crashes + 1):
            until(lambda: ports.router.read().by_service, "a route")
            time.sleep(SPACING_S)
            found.append(crash(containers, ear, engine))
    close(ports)
    return found[1:]


def in_words(seconds: list[float]) -> str:
    """Return the median, and what nine of ten take."""
    return f"p50 {1000 * median(seconds):.1f} ms, p90 {1000 * quantiles(seconds, n=10)[-1]:.1f} ms"


def main() -> None:
    """Print what is the engine's, and what is ours."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crashes", type=int, default=30, help="measured crashes (30)")
    crashes = max(2, parser.parse_args().crashes)
    if not answers():
        print("not measured: no private engine (tests/private_engine start DIR)")
        return
    host = os.environ["DOCKER_HOST"]
    with Containers(host) as containers, tempfile.TemporaryDirectory(prefix="gordon-", dir="/tmp") as name:
        found = measure(containers, host, Path(name), crashes)
    ours = [each.start_s - each.free_s for each in found]
    verdict = "within" if 1000 * median(ours) <= GOAL_MS else "OVER"
    print(f"{crashes} crashes of a published service, from `die` to the start call: {in_words([each.start_s for each in found])}")
    print(f"of which the engine lets nobody look at the container for {in_words([each.free_s for each in found])}")
    print(f"so above the engine's own delay: {in_words(ours)} (goal for p50 {GOAL_MS:.0f} ms: {verdict})")


if __name__ == "__main__":
    main()
