"""The program killed with SIGKILL after each single command: the next run converges, starts nothing twice, and loses nothing."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from gordon_core.effects import Done
from gordon_core.memory import Memory
from gordon_core.observation import Port
from gordon_core.snapshot import Declared, Intent
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.ports import Marker, Stored
from tests.crash_child import World

ROOT = Path(__file__).parent.parent
HTTP = Port(80)
Entry = dict[str, object]


class Processes:
    """Makes processes of this program, one after the other."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.crash_child"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, directory: Path, passes: int = 1, seconds: float = 0.0, kill_after: int = 0) -> str:
        """Return "done" or "killed"."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(f"{directory} {passes} {seconds} {kill_after}\n")
        self._server.stdin.flush()
        return self._server.stdout.readline().strip()

    def close(self) -> None:
        self._server.communicate(timeout=60)
        assert 0 == self._server.returncode


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    made = Processes()
    yield made
    made.close()


# --- the worlds in which it is killed --------------------------------------------------------------------------------------


def add(world: World, container_id: str, behaviour: Behaviour | None = None) -> None:
    world.engine.add(Simulated(container_id, container_id, ((HTTP, 0),), behaviour=behaviour or Behaviour()))


def declare(world: World, behaviour: Behaviour | None = None) -> None:
    add(world, "web-1", behaviour)
    assert Done() == world.store.activate("shop", "web", Declared("web-1", 1, (HTTP,)), 0, None)


def deploy(world: World) -> None:
    """Do what a deploy tool does: under the lock of the app, a compare-and-set."""
    lock = world.locks.try_app("shop")
    assert not isinstance(lock, str), "the death of the holder frees the lock"
    with lock:
        (stored,) = world.store.read()
        assert stored.declared is not None
        add(world, "web-2")
        marker = Marker("web-1", 5.0, stored.declared.binds, stored.memory.verified)
        revision = stored.declared.revision
        assert Done() == world.store.activate("shop", "web", Declared("web-2", revision + 1, (HTTP,)), revision, marker)


def new(world: World) -> None:
    declare(world)


def crashed(world: World) -> None:
    """Let it serve, with an attempt pending, and end; another container has taken its port since."""
    declare(world)
    world.reconciler().run_pass()
    world.engine.kill("web-1")
    add(world, "foreign")
    assert Done() == world.engine.start("foreign")


def unready(world: World) -> None:
    declare(world)
    world.reconciler().run_pass()
    world.engine.kill("web-1")
    world.engine.behave("web-1", Behaviour(listens=False))


def unhealthy(world: World) -> None:
    """Let it have one strike, and get the second one at the next look."""
    declare(world, Behaviour(checks=(True,) * 20 + (False,), check_every_s=5.0))
    world.reconciler().run_pass()
    world.engine.clock.advance(110.0)
    world.reconciler().run_pass()
    world.engine.clock.advance(10.0)


def superseded(world: World) -> None:
    declare(world)
    world.reconciler().run_pass()
    deploy(world)


def stopped(world: World) -> None:
    declare(world)
    world.reconciler().run_pass()
    assert Done() == world.store.set_intent("shop", Intent.STOPPED)


def gone(world: World) -> None:
    declare(world)
    world.reconciler().run_pass()
    world.engine.delete("web-1")


def settled(world: World) -> None:
    """Let it serve for so long that nothing is left to remember but the execution."""
    declare(world)
    reconciler = world.reconciler()
    reconciler.run_pass()
    for _ in range(4):
        world.engine.clock.advance(150.0)
        reconciler.run_pass()


Scenario = Callable[[World], None]
SCENARIOS: list[tuple[Scenario, int]] = [
    (new, 6),
    (crashed, 8),
    (unready, 6),
    (unhealthy, 6),
    (superseded, 9),
    (stopped, 4),
    (gone, 3),
]
"""Each with the fewest commands that the way out of it takes, so that no test passes because nothing was done."""
each_scenario = pytest.mark.parametrize(("scenario", "fewest"), SCENARIOS, ids=[each.__name__ for each, _ in SCENARIOS])


def made(directory: Path, scenario: Scenario) -> Path:
    directory.mkdir()
    world = World(directory)
    scenario(world)
    world.close()
    world.log.unlink(missing_ok=True)
    world.log.touch()
    return directory


# --- what is judged -------------------------------------------------------------------------------------------------------


def entries(directory: Path) -> list[Entry]:
    return [json.loads(line) for line in (directory / "commands").read_text().splitlines()]


def calls(directory: Path) -> list[str]:
    return [" ".join(map(str, each["call"])) for each in entries(directory)]  # type: ignore[call-overload]


def judge(log: list[Entry]) -> None:
    """Hold every command to P1, P2 and P4, as things were right before it."""
    ready: dict[tuple[object, str], object] = {}
    for each in log:
        call, pid = each["call"], each["pid"]
        routes, containers, on_record = each["routes"], each["containers"], each["binds"]
        assert isinstance(call, list)
        assert isinstance(routes, dict)
        assert isinstance(containers, dict)
        assert isinstance(on_record, dict)
        match call:
            case ["engine.start" | "engine.restart" | "engine.stop" | "engine.remove", name, *_]:
                routed = set(routes.get("shop/web", ()))
                others = {port for other, (_, _, ports) in containers.items() if other != name for port in ports}
                assert routed <= others, f"P2: {call} while routed to {routed}"
                assert not routed & set(containers[name][2]), f"P2: {call} while routed to it"
            case ["prober.probe", binds, *_]:
                ready[pid, binds] = _holder(containers, json.loads(binds)) if each["done"] else None
            case ["router.publish", _, _, binds]:
                execution = _holder(containers, json.loads(binds))
                assert execution is not None, f"P1: {call} to nothing that runs"
                assert execution == ready.get((pid, binds)), f"P1: {call} without an answer of that execution in that pass"
                assert json.loads(binds) == on_record["shop/web"], f"P4: {call} before it was on record"
            case _:
                pass


def _holder(containers: dict[str, list[object]], ports: list[int]) -> object:
    """Return the execution that holds these ports."""
    return next(((name, one[1]) for name, one in containers.items() if one[0] == "running" and one[2] == ports), None)


def outcome(directory: Path) -> tuple[object, ...]:
    """Return what has become of a world, but for the names of executions and the numbers of ports."""
    world = World(directory)
    routes = world.router.read().by_service
    leads_to = [world.engine.holder(bind.host_port) for binds in routes.values() for bind in binds]
    result = (
        {each.container_id: each.status for each in world.engine.rows()},
        world.engine.starts,
        [each.container_id for each in leads_to if each is not None],
        [_in_short(each) for each in world.store.read()],
    )
    world.close()
    return result


def _in_short(stored: Stored) -> tuple[object, ...]:
    memory, declared = stored.memory, stored.declared
    return (
        stored.service,
        declared and (declared.container_id, declared.revision, len(declared.binds)),
        (memory.failures, memory.attempt is not None, memory.strikes and memory.strikes.count, memory.verified is not None),
        [each.container_id for each in stored.markers],
        stored.unproven,
        stored.orphans,
    )


def killed_everywhere(processes: Processes, tmp_path: Path, scenario: Scenario) -> Iterator[Path]:
    """Yield the world after a kill right after the first command, after the second, and so on."""
    template = made(tmp_path / "template", scenario)
    for number in count(1):
        directory = tmp_path / str(number)
        shutil.copytree(template, directory)
        end = processes.run(directory, kill_after=number)
        if end == "done":
            return
        assert "killed" == end
        yield directory


@each_scenario
def test_the_next_run_converges_to_the_same_end(processes: Processes, tmp_path: Path, scenario: Scenario, fewest: int) -> None:
    whole = made(tmp_path / "whole", scenario)
    assert "done" == processes.run(whole, passes=2)
    judge(entries(whole))
    expected, kills = outcome(whole), 0
    for directory in killed_everywhere(processes, tmp_path, scenario):
        kills += 1
        assert "done" == processes.run(directory, passes=2)
        judge(entries(directory))
        assert expected == outcome(directory), calls(directory)
        way = len(entries(directory))
        assert "done" == processes.run(directory)
        # What is not ready is asked once in every pass; nothing else is left to do.
        assert [] == [each for each in calls(directory)[way:] if not each.startswith("prober.probe")]
    assert kills >= fewest


@each_scenario
def test_a_program_that_is_killed_over_and_over_still_gets_there(
    processes: Processes, tmp_path: Path, scenario: Scenario, fewest: int
) -> None:
    """Each process gets one command further than the one before; what a process cannot hand on, it does again."""
    directory, whole = made(tmp_path / "world", scenario), made(tmp_path / "whole", scenario)
    assert "done" == processes.run(whole, passes=2)
    kills = next(each for each in range(60) if "done" == processes.run(directory, kill_after=each + 1))
    assert 0 < kills <= fewest
    assert "done" == processes.run(directory)
    judge(entries(directory))
    assert outcome(whole) == outcome(directory), calls(directory)


@pytest.mark.parametrize("scenario", [new, crashed, unhealthy], ids=lambda each: each.__name__)
def test_no_update_of_a_deploy_after_the_kill_is_lost(processes: Processes, tmp_path: Path, scenario: Scenario) -> None:
    for directory in killed_everywhere(processes, tmp_path, scenario):
        world = World(directory)
        deploy(world)
        world.close()
        assert "done" == processes.run(directory, passes=2)
        judge(entries(directory))
        world = World(directory)
        (stored,) = world.store.read()
        assert stored.declared is not None
        assert ("web-2", 2, ()) == (stored.declared.container_id, stored.declared.revision, stored.markers)
        (binds,) = world.router.read().by_service.values()
        (holder,) = {world.engine.holder(each.host_port) for each in binds}
        assert holder is not None
        assert "web-2" == holder.container_id
        assert "web-1" not in {each.container_id for each in world.engine.rows()}
        world.close()


# --- a converged world ------------------------------------------------------------------------------------------------------


def test_killed_and_started_again_in_a_converged_world_it_does_nothing(processes: Processes, tmp_path: Path) -> None:
    directory = made(tmp_path / "world", settled)
    for _ in range(3):
        assert "killed" == processes.run(directory, passes=2, seconds=15.0, kill_after=-1)
    assert [] == calls(directory)


def test_budgets_are_kept_over_a_kill(processes: Processes, tmp_path: Path) -> None:
    directory = made(tmp_path / "world", looping)
    assert "killed" == processes.run(directory, passes=4, seconds=1.0, kill_after=-1)
    before = memory(directory)
    assert 3 == before.failures
    (directory / "commands").write_text("")
    for _ in range(3):
        assert "killed" == processes.run(directory, passes=2, seconds=5.0, kill_after=-1)
    assert [] == calls(directory)
    assert before == memory(directory)


# --- a timer is as good as the daemon ---------------------------------------------------------------------------------------


def looping(world: World) -> None:
    declare(world, Behaviour(exits_after_s=0.5))


def memory(directory: Path) -> Memory:
    world = World(directory)
    (stored,) = world.store.read()
    world.close()
    return stored.memory


def pass_time(directory: Path, seconds: float) -> float:
    """Let time pass in a world; return what time it is then."""
    world = World(directory)
    world.engine.clock.advance(seconds)
    now_s = world.engine.clock.now().boot_s
    world.close()
    return now_s


def test_once_every_second_for_a_minute_charges_as_much_as_run_and_waits_as_long(processes: Processes, tmp_path: Path) -> None:
    once, run = made(tmp_path / "once", looping), made(tmp_path / "run", looping)
    for _ in range(60):
        assert "done" == processes.run(once)
        pass_time(once, 1.0)
    assert "done" == processes.run(run, passes=5, seconds=15.0)
    assert (3, 3) == (memory(once).failures, memory(run).failures)
    starts = [each for each in calls(once) if each.startswith("engine.start")]
    assert starts == [each for each in calls(run) if each.startswith("engine.start")]
    assert 3 == len(starts)
    for directory in (once, run):
        charged_at_s = memory(directory).charged_at_s
        assert charged_at_s is not None
        pass_time(directory, charged_at_s + 59.0 - pass_time(directory, 0.0))
        processes.run(directory)
        assert 3 == len([each for each in calls(directory) if each.startswith("engine.start")])
        pass_time(directory, 1.0)
        processes.run(directory)
        assert 4 == len([each for each in calls(directory) if each.startswith("engine.start")])
