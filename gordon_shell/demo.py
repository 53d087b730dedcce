"""`make demo`: a crash loop, the real planner, a real SQLite state and a real routes file; ENGINE=docker: a real container, too.

Each pass prints its plan before it is done, and then what was done; passes in which nothing changes are counted. Without an
engine the containers and the time are simulated, so that forty minutes take a second.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

from gordon_core.effects import Done, Effect, Outcome
from gordon_core.observation import Port
from gordon_core.planner import Plan, plan
from gordon_core.policy import Policy
from gordon_core.sentences import duration, in_words
from gordon_core.snapshot import Declared, Subject
from gordon_shell.crew import InlineCrew
from gordon_shell.errors import EngineError, GordonError
from gordon_shell.file_locks import FileLocks
from gordon_shell.memory.clock import MemoryClock
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.memory.engine import MemoryEngine
from gordon_shell.memory.prober import MemoryProber
from gordon_shell.observer import Observer
from gordon_shell.ports import Ports
from gordon_shell.recollection import Recollection
from gordon_shell.reconciler import Reconciler
from gordon_shell.routes_file_router import RoutesFileRouter
from gordon_shell.sqlite_store import SqliteStore
from gordon_shell.text import text

APP = "shop"
_WEB, _API = "5a3f" * 16, "c01d" * 16
_FAST = Policy(ladder_s=(4.0, 8.0, 15.0), stable_window_s=30.0, readiness_s=5.0)


@frozen(eq=False)
class Stage:
    """What a demonstration runs on: the ports, how often a pass comes, how long it all takes, and what happens meanwhile."""

    ports: Ports
    cadence_s: float
    length_s: float
    events: tuple[tuple[float, str, Callable[[], None]], ...] = ()


def _say(words: str = "") -> None:
    sys.stdout.write(f"{words}\n")


def _ports(directory: Path, ports_of: Callable[[SqliteStore], Ports]) -> Ports:
    return ports_of(SqliteStore.open(directory / "state.db", create=True))


@contextmanager
def simulated(directory: Path) -> Iterator[Stage]:
    """Two simulated services: `web` ends three seconds after every start, until somebody mends it; `api` is killed once."""
    clock = MemoryClock()
    engine = MemoryEngine(clock)
    engine.add(
        Simulated(_WEB, "web", ((Port(80), 0),), behaviour=Behaviour(exits_after_s=3.0)),
        Simulated(_API, "api", ((Port(8080), 0),)),
    )
    ports = _ports(
        directory,
        lambda store: Ports(
            engine,
            store,
            RoutesFileRouter(directory / "routes.json"),
            MemoryProber(engine),
            clock,
            FileLocks.beside(directory / "state.db"),
        ),
    )
    ports.store.activate(APP, "web", Declared(_WEB, 1, (Port(80),)), 0, None)
    ports.store.activate(APP, "api", Declared(_API, 1, (Port(8080),)), 0, None)
    yield Stage(
        ports,
        15.0,
        45 * 60.0,
        (
            (5 * 60.0, "somebody kills api", lambda: engine.kill(_API)),
            (20 * 60.0, "somebody mends web", lambda: engine.behave(_WEB, Behaviour())),
        ),
    )
    ports.store.close()


@contextmanager
def on_docker(directory: Path) -> Iterator[Stage]:
    """One real container that ends two seconds after every start, with a ladder of seconds; it is removed at the end."""
    from docker import APIClient  # noqa: PLC0415 - only this demonstration makes containers
    from docker.errors import DockerException  # noqa: PLC0415 - likewise
    from docker.utils import kwargs_from_env  # noqa: PLC0415 - likewise

    from gordon_shell.wiring import LiveOptions, live_ports  # noqa: PLC0415 - likewise

    image = os.environ.get("IMAGE", "busybox")
    try:
        client = APIClient(timeout=30, **kwargs_from_env())
        created = client.create_container(image, ["sh", "-c", "sleep 2; exit 1"], labels={"gordon.demo": "yes"})
    except DockerException as error:
        message = f"no container could be made from {image}: {error}; start an engine that has it, or name another: IMAGE=NAME"
        raise EngineError(message) from error
    ports = live_ports(LiveOptions(state=directory / "state.db"), create=True)
    ports.store.activate(APP, "worker", Declared(created["Id"], 1, published=False, stop_grace_s=1.0, policy=_FAST), 0, None)
    try:
        yield Stage(ports, 1.0, 45.0)
    finally:
        ports.store.close()
        client.remove_container(created["Id"], force=True)
        client.close()


def show(stage: Stage) -> None:
    """Run passes for as long as the stage says, and print each that does something, or in which something changed."""
    done: list[tuple[Effect, Outcome, Subject]] = []
    reconciler = Reconciler(
        stage.ports,
        _no_policy,
        crew=InlineCrew(),
        listener=lambda subject, effect, outcome: done.append((effect, outcome, subject)),
    )
    onlooker = Observer(stage.ports, _no_policy, Recollection(stage.ports.store), remember=False)
    begun_s, events = stage.ports.clock.now().boot_s, list(stage.events)
    before: tuple[str, ...] = ()
    quiet = 0
    while (passed_s := stage.ports.clock.now().boot_s - begun_s) < stage.length_s:
        if events and passed_s >= events[0][0]:
            _say(f"\n*** after {duration(passed_s)}, {events[0][1]} ***")
            events.pop(0)[2]()
        snapshot = onlooker.look()
        before_it = plan(snapshot)
        reconciler.run_pass()
        now = _situations(before_it)
        if done or now != before:
            _say(f"\n--- {duration(passed_s)}{f', after {quiet} quiet passes' if quiet else ''} ---")
            _say(text(snapshot, before_it).replace("Nothing was done.", "So far nothing was done."))
            for effect, outcome, subject in done:
                _say(f"  done: {subject.name}: {in_words(effect)}{'' if isinstance(outcome, Done) else f' ({outcome.reason})'}")
            quiet = 0
        else:
            quiet += 1
        before = now
        done.clear()
        stage.ports.clock.sleep(stage.cadence_s)


def _no_policy() -> None:
    """Return no host policy: what containers were created with is granted."""


def _situations(shown: Plan) -> tuple[str, ...]:
    return tuple(each.situation.name for each in shown.decisions)


def main() -> int:
    """Run the demonstration that ENGINE asks for; return the exit code."""
    wanted = os.environ.get("ENGINE", "")
    if wanted not in {"", "memory", "docker"}:
        sys.stderr.write(f"make demo: ENGINE={wanted} is unknown; leave it away, or say ENGINE=docker\n")
        return 64
    with tempfile.TemporaryDirectory(prefix="gordon-demo-") as directory:
        try:
            with (on_docker if wanted == "docker" else simulated)(Path(directory)) as stage:
                show(stage)
                _say("\nThe routes file at the end:")
                routes = Path(directory) / "routes.json"
                _say(routes.read_text(encoding="utf-8").rstrip() if routes.exists() else "  (nothing was ever routed)")
        except GordonError as error:
            sys.stderr.write(f"make demo: {error}\n")
            return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
