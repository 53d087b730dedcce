"""Processes of gordon-shell for tests on a real engine, forked from one that has everything imported, that can be killed at any
single command to a port with SIGKILL.

Variables of their environment say so, which only the ports of this module know. GORDON_TEST_LOG names the file in which every
command (and every list of all containers) is written down before it is made. GORDON_TEST_KILL says where the process ends, "" for
nowhere: "before engine.start 1" (the first of these calls is not made), "after engine.start 1" (its result is not noted), "during
engine.start 1" (while the engine is at it), "held engine.start 1" (it stands still right before the call, to be killed from
outside). "SIGTERM engine.start 1" sends it this signal after the call, and lets it go on. GORDON_TEST_DEATH names a call and a
container, "router.publish 1 gordon-shop-web-new": after that call, and before all else, the container is killed.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self, cast

from attrs import frozen

from gordon_core.effects import Done
from gordon_core.memory import Memory
from gordon_shell import cli_common
from gordon_shell.ports import Engine, Ports, Prober, Router, StateStore
from gordon_shell.session import World
from gordon_shell.shell_cli import NAME, cli
from gordon_shell.wiring import LiveOptions, live_ports

ROOT = Path(__file__).parent.parent.parent
LOG, KILL, DEATH = "GORDON_TEST_LOG", "GORDON_TEST_KILL", "GORDON_TEST_DEATH"
LOOK = "engine.rows"
_READS = {"inspect", "image", "made", "logs", "read", "read_service", "deployed", "sessions", "drop", "close"}
_UNDER_WAY_S = 0.03


@frozen
class Entry:
    """One command (or list of all containers) that was made: in seconds since boot, with what it writes of a memory."""

    at_s: float
    call: str
    failures: int | None = None
    charged_at_s: float | None = None


def entries(log: Path) -> list[Entry]:
    """Return what was written down, oldest first."""
    return [Entry(**json.loads(line)) for line in log.read_text().splitlines()] if log.exists() else []


def commands(log: Path) -> list[str]:
    """Return the commands that were written down, oldest first."""
    return [each.call for each in entries(log) if each.call != LOOK]


class Processes:
    """Makes processes of gordon-shell, one after the other."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.on_engine.killed_processes"],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._pid = 0

    def start(self, told: Path, *words: str, log: Path, kill: str = "", death: str = "", **environment: str) -> int:
        """Begin one, which appends what it prints to `told`; return its process ID."""
        self._clear()
        assert self._server.stdin is not None
        told_environment = {LOG: str(log), KILL: kill, DEATH: death, **environment}
        self._server.stdin.write(json.dumps({"told": str(told), "words": words, "environment": told_environment}) + "\n")
        self._server.stdin.flush()
        self._pid = self._answer()
        return self._pid

    def end(self) -> int:
        """Wait for its end; return its exit code, or minus the signal that killed it."""
        code, self._pid = self._answer(), 0
        return code

    def _clear(self) -> None:
        """End one that a test which failed has left."""
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            self.end()

    def _answer(self) -> int:
        assert self._server.stdout is not None
        return int(self._server.stdout.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._clear()
        self._server.communicate(timeout=30)


# --- inside these processes -------------------------------------------------------------------------------------------------


class _Doors:
    """The log of all commands, and the switch that kills this process at one of them."""

    def __init__(self, engine: Engine, environment: Mapping[str, str]) -> None:
        self._engine = engine
        self._log = Path(environment[LOG])
        self._how, _, self._place = environment[KILL].partition(" ")
        self._death, _, self._mortal = environment[DEATH].rpartition(" ")
        self._made: Counter[str] = Counter()
        self._turn = threading.Lock()

    def note(self, call: str, *args: object) -> str:
        """Write a call down, and return which of its kind it is."""
        memory = next((each for each in args if isinstance(each, Memory)), None)
        history = {"failures": memory.failures, "charged_at_s": memory.charged_at_s} if memory is not None else {}
        entry = {"at_s": time.clock_gettime(time.CLOCK_BOOTTIME), "call": call, **history}
        with self._turn:
            self._made[call] += 1
            with self._log.open("a") as log:
                log.write(json.dumps(entry) + "\n")
            return f"{call} {self._made[call]}"

    def command(self, call: str, args: tuple[object, ...], deed: Callable[[], object]) -> object:
        """Make a call, unless it is the one that this process does not outlive."""
        here = self.note(call, *args)
        how = self._how if here == self._place else ""
        if how == "before":
            _die()
        if how == "held":
            _wait_for_death()
        if how == "during":
            threading.Timer(_UNDER_WAY_S, _die).start()
        outcome = deed()
        if here == self._death:
            self._kill_container()
        if how == "during":
            _wait_for_death()
        if how == "after":
            _die()
        if how in signal.Signals.__members__:
            os.kill(os.getpid(), signal.Signals[how])
        return outcome

    def _kill_container(self) -> None:
        (container_id,) = (each.container_id for each in self._engine.rows() if each.name == self._mortal)
        outcome = self._engine.stop(container_id, 0.0)
        assert isinstance(outcome, Done), outcome


class _Door:
    """A port, through which every command goes by way of the log."""

    def __init__(self, name: str, port: object, doors: _Doors) -> None:
        self._name, self._port, self._doors = name, port, doors

    def __getattr__(self, method: str) -> object:
        whole, name = getattr(self._port, method), f"{self._name}.{method}"
        if method in _READS:
            return whole

        def call(*args: object, **named: object) -> object:
            if name == LOOK:
                self._doors.note(name)
                return whole(*args, **named)
            return self._doors.command(name, args, lambda: whole(*args, **named))

        return call


def _opened(options: LiveOptions, /, *, create: bool = False, read_only: bool = False) -> Ports:
    """Open the real ports, behind doors."""
    ports = live_ports(options, create=create, read_only=read_only)
    doors = _Doors(ports.engine, os.environ)
    return Ports(
        engine=cast("Engine", _Door("engine", ports.engine, doors)),
        store=cast("StateStore", _Door("store", ports.store, doors)),
        router=cast("Router", _Door("router", ports.router, doors)),
        prober=cast("Prober", _Door("prober", ports.prober, doors)),
        clock=ports.clock,
        locks=ports.locks,
    )


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _wait_for_death() -> None:
    threading.Event().wait()


def _live(told: str, words: list[str], environment: dict[str, str]) -> int:
    output = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for each in (1, 2):
        os.dup2(output, each)
    os.environ.update(environment)
    return cli_common.run(cli, NAME, words, obj=World(ports=_opened, is_watched=False))


def _answer(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def _main() -> None:
    # What a command wants later is imported now.
    from gordon_shell import deploy_verbs, verbs  # noqa: F401, PLC0415

    for line in sys.stdin:
        child = os.fork()
        if not child:
            try:
                os._exit(_live(**json.loads(line)))
            finally:
                os._exit(70)
        _answer(child)
        _answer(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    _main()
