"""A process that runs this program and can be killed after any command, in a world that outlives it.

Run with a line for each process on standard input: DIRECTORY PASSES SECONDS KILL_AFTER. It makes so many passes, so many
simulated seconds apart, with the real store, locks and routes file, and kills itself with SIGKILL right after that command (0:
never; -1: at its end). What became of it ("done" or "killed") is answered on standard output.
"""

import json
import os
import pickle
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

from gordon_core.effects import Done, Generation
from gordon_core.observation import Bind, Gone
from gordon_shell.crew import InlineCrew
from gordon_shell.file_locks import FileLocks
from gordon_shell.memory.clock import EPOCH, MemoryClock
from gordon_shell.memory.engine import MemoryEngine
from gordon_shell.memory.prober import MemoryProber
from gordon_shell.ports import Engine, Ports, Prober, Router, StateStore
from gordon_shell.reconciler import Reconciler
from gordon_shell.routes_file_router import RoutesFileRouter
from gordon_shell.sqlite_store import SqliteStore

_READS = {"rows", "inspect", "read", "read_service", "sessions", "drop", "close", "time"}


class DiskEngine(MemoryEngine):
    """A memory engine that lives on in a file, with its clock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        now, containers, starts = pickle.loads(path.read_bytes()) if path.exists() else (EPOCH, {}, 0)  # noqa: S301 - our own file
        self.clock = MemoryClock(now)
        super().__init__(self.clock)
        self.add(*containers.values())
        self._starts = starts

    @property
    def starts(self) -> int:
        """How many executions there were."""
        return self._starts

    def save(self) -> None:
        """Write it all down, as a whole or not at all."""
        beside = self.path.with_suffix(".new")
        beside.write_bytes(pickle.dumps((self.clock.now(), self._containers, self._starts)))
        beside.replace(self.path)


class World:
    """What outlives a process: an engine, a state, its locks, a routes file, and a log of all commands."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.engine = DiskEngine(directory / "engine")
        self.store = SqliteStore.open(directory / "state.db", create=True)
        self.router = RoutesFileRouter(directory / "routes.json")
        self.locks = FileLocks.beside(directory / "state.db")
        self.log = directory / "commands"

    def ports(self, kill_after: int = 0) -> Ports:
        """Return ports that write every command down before it is made, and kill this process after one of them."""
        doors = Doors(self, kill_after)
        return Ports(
            engine=cast("Engine", Door("engine", self.engine, doors)),
            store=cast("StateStore", Door("store", self.store, doors)),
            router=cast("Router", Door("router", self.router, doors)),
            prober=cast("Prober", Door("prober", MemoryProber(self.engine), doors)),
            clock=self.engine.clock,
            locks=self.locks,
        )

    def reconciler(self, kill_after: int = 0) -> Reconciler:
        return Reconciler(self.ports(kill_after), lambda: None, crew=InlineCrew())

    def close(self) -> None:
        self.engine.save()
        self.store.close()


class Doors:
    """The log of all commands, and the switch that kills this process after one of them."""

    def __init__(self, world: World, kill_after: int) -> None:
        self.world, self.kill_after = world, kill_after
        self.made = 0

    def command(self, words: list[str], deed: Callable[[], object]) -> object:
        truth = self._truth()
        outcome = deed()
        self.world.engine.save()
        entry = {"pid": os.getpid(), "call": words, "done": outcome == Done(), **truth}
        with self.world.log.open("a") as log:
            log.write(json.dumps(entry) + "\n")
        self.made += 1
        if self.made == self.kill_after:
            os.kill(os.getpid(), signal.SIGKILL)
        return outcome

    def _truth(self) -> dict[str, object]:
        """Return how things are right before a command."""
        seen = {each.container_id: self.world.engine.inspect(each.container_id) for each in self.world.engine.rows()}
        return {
            "routes": {"/".join(key): _ports(binds) for key, binds in self.world.router.read().by_service.items()},
            "binds": {
                f"{each.app}/{each.service}": _ports(each.declared.binds) for each in self.world.store.read() if each.declared
            },
            "containers": {
                name: [
                    one.container.status.value,
                    one.container.started_at,
                    sorted(each.host_port for each in one.container.ports),
                ]
                for name, one in seen.items()
                if not isinstance(one, Gone)
            },
        }


class Door:
    """A port, through which every command goes by way of the log."""

    def __init__(self, name: str, port: object, doors: Doors) -> None:
        self._name, self._port, self._doors = name, port, doors

    def __getattr__(self, method: str) -> object:
        whole = getattr(self._port, method)
        if method in _READS:
            return whole

        def call(*args: object, **named: object) -> object:
            words = [f"{self._name}.{method}", *map(_word, args)]
            return self._doors.command(words, lambda: whole(*args, **named))

        return call


def _ports(binds: tuple[Bind, ...]) -> list[int]:
    return sorted(each.host_port for each in binds)


def _word(value: object) -> str:
    match value:
        case tuple():
            return json.dumps(_ports(value))
        case Generation():
            return value.container_id
        case _:
            return str(value)


def _live(directory: Path, passes: int, seconds: float, kill_after: int) -> None:
    world = World(directory)
    reconciler = world.reconciler(kill_after)
    for each in range(passes):
        world.engine.clock.advance(seconds if each else 0.0)
        reconciler.run_pass()
    if kill_after < 0:
        world.engine.save()
        os.kill(os.getpid(), signal.SIGKILL)
    world.close()


def _main() -> None:
    for line in sys.stdin:
        directory, passes, seconds, kill_after = line.split()
        child = os.fork()
        if not child:
            _live(Path(directory), int(passes), float(seconds), int(kill_after))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        words = {0: "done", signal.SIGKILL: "killed"}
        sys.stdout.write(f"{words.get(status, f'failed with {status}')}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _main()
