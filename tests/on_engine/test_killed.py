"""The program killed with SIGKILL at every single command on a real engine: the next pass converges, starts nothing twice, and
loses neither an update nor a charge; and a timer is as good as `run`. Real processes, a real HAProxy or routes file, and a state
that nobody else has open when they die.
"""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from attrs import evolve, frozen

from gordon_core.effects import Done, Outcome
from gordon_core.observation import Status
from gordon_core.policy import Policy
from gordon_core.snapshot import Intent
from gordon_shell.ports import Stored
from tests.engine_fixtures import NEEDS_ENGINE, Containers
from tests.haproxy import NEEDS_HAPROXY
from tests.on_engine import killed_worlds as worlds
from tests.on_engine.counting import CountingSocket, counted
from tests.on_engine.killed_minute import LADDER_S, Minute, minute_of
from tests.on_engine.killed_processes import LOOK, Processes, commands
from tests.on_engine.killed_worlds import Crew, End, World, end, world
from tests.on_engine.scene import APP, eventually

pytestmark = [*NEEDS_ENGINE, *NEEDS_HAPROXY]
KILLED = -signal.SIGKILL
WITHDRAW, PUBLISH, PROBE = "router.withdraw", "router.publish", "prober.probe"
START, RESTART, STOP, REMOVE = "engine.start", "engine.restart", "engine.stop", "engine.remove"
REMEMBER, PERSIST = "store.save_memory", "store.persist_binds"
RELEASE, DROP = "store.release_claims", "store.drop_marker"
FEW_LOOKS = 3
"""So soon after its wait is over comes a start: the look that finds it so, and those of passes beside a step that takes long."""
UP = {"new": (Status.RUNNING, 1)}


@frozen
class Scenario:
    """A world; the commands of an undisturbed pass over it, but for the writes of memory, of which there are so many at least.

    After so many undisturbed passes it has come to its end, and the last of them exits with `code`.
    """

    make: Callable[[World], None]
    road: tuple[str, ...]
    writes: int
    end: End
    passes: int = 1
    code: int = 0

    def places(self) -> list[str]:
        """Name every place at which a process can be killed."""
        after = [*(f"{each} 1" for each in self.road), *(f"{REMEMBER} {each}" for each in range(1, self.writes + 1))]
        during = [each for each in after if each.startswith("engine.")]
        return [f"after {each}" for each in after] + [f"during {each}" for each in during]


CRASHED = Scenario(worlds.crashed, (WITHDRAW, START, PROBE, PERSIST, PUBLISH), 3, End(UP, has_attempt=True))
SCENARIOS = [
    CRASHED,
    evolve(CRASHED, make=worlds.crashed_again, writes=4, end=End(UP, failures=1, has_attempt=True)),
    evolve(CRASHED, make=worlds.unhealthy, road=(WITHDRAW, RESTART, PROBE, PERSIST, PUBLISH), writes=6),
    Scenario(
        worlds.superseded,
        (START, PROBE, PERSIST, PUBLISH, STOP, REMOVE, RELEASE, DROP),
        writes=3,
        end=End({"old": (None, 0), **UP}, revision=2, has_attempt=True),
    ),
    Scenario(
        worlds.looping,
        (START,),
        writes=2,
        end=End({"new": (Status.EXITED, 3)}, "503", failures=3, has_verified=False),
        passes=4,
        code=1,
    ),
    Scenario(worlds.stopped, (WITHDRAW, STOP), 2, End({"new": (Status.EXITED, 0)}, "503", intent=Intent.STOPPED)),
    Scenario(worlds.gone, (WITHDRAW, PERSIST), 2, End({"new": (None, 0)}, "503", has_verified=False), code=1),
]


@pytest.fixture(scope="module")
def crew(docker_engine_host: str) -> Iterator[Crew]:
    del docker_engine_host  # without it these tests are skipped
    with Crew().running() as made:
        yield made


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.make.__name__)
def test_the_next_once_converges_wherever_it_was_killed(
    scenario: Scenario, crew: Crew, docker_engine_host: str, directory: Path
) -> None:
    def judge(processes: Processes, place: str) -> None:
        with world(docker_engine_host, directory / place.replace(" ", "-"), "web") as host:
            scenario.make(host)
            host.arm()
            assert (KILLED, place) == (host.once(processes, place)[0], place)
            eventually(lambda: is_over(host, scenario, place))
            codes = [host.once(processes)[0] for _ in range(scenario.passes)]
            assert (scenario.end, place) == (end(host), place)
            assert (scenario.code, place) == (codes[-1], place)
            # The stable window grows in every pass; nothing else is left to do.
            assert (set(), place) == (set(host.once(processes)[1]) - {REMEMBER}, place)
            assert (scenario.end, place) == (end(host), place)

    crew.go(judge, *scenario.places())


def is_over(host: World, scenario: Scenario, place: str) -> bool:
    """Tell whether the engine is done with what a killed process asked it for, where asking twice would be doing it twice."""
    match place.split()[:2]:
        case ["during", "engine.restart"]:
            return host.begun("new") == 1
        case ["during", "engine.start"]:
            return scenario.make is not worlds.looping or host.begun("new") == 1
        case ["during", "engine.remove"]:
            return host.status("old") is None
        case _:
            return True


def test_undisturbed_passes_take_these_roads_to_the_same_ends(crew: Crew, docker_engine_host: str, directory: Path) -> None:
    scenarios = {each.make.__name__: each for each in SCENARIOS}

    def judge(processes: Processes, name: str) -> None:
        scenario = scenarios[name]
        with world(docker_engine_host, directory / name, "web") as host:
            scenario.make(host)
            host.arm()
            _, calls = host.once(processes)
            # What ends at once is seen dead, or its end overtakes a probe.
            left_out = {REMEMBER, PROBE} if name == "looping" else {REMEMBER}
            assert (scenario.road, name) == (tuple(each for each in calls if each not in left_out), name)
            assert scenario.writes <= calls.count(REMEMBER), name
            for _ in range(scenario.passes - 1):
                host.once(processes)
            assert (scenario.end, name) == (end(host), name)

    crew.go(judge, *scenarios)


def test_an_update_that_waits_for_the_lock_of_the_killed_one_is_not_lost(
    crew: Crew, docker_engine_host: str, directory: Path
) -> None:
    def judge(processes: Processes, place: str) -> None:
        with world(docker_engine_host, directory / place.replace(" ", "-"), "web") as host:
            worlds.crashed(host)
            host.arm()
            pid = host.start(processes, "once", f"held {place}")
            eventually(lambda: stands(host, place))
            assert f"pid {pid}" == host.ports.locks.try_app(APP)
            with ThreadPoolExecutor(1) as tool:
                deployed = tool.submit(deploy, host)
                os.kill(pid, signal.SIGKILL)
                assert (KILLED, Done()) == (processes.end(), deployed.result(60))
            assert (0, place) == (host.once(processes)[0], place)
            assert (evolve(CRASHED.end, revision=2), 7.0, place) == (end(host), host.named.stop_grace_s, place)

    crew.go(judge, *(each.removeprefix("after ") for each in CRASHED.places() if each.startswith("after")))


def stands(host: World, place: str) -> bool:
    call, number = place.split()
    return commands(host.log).count(call) == int(number)


def deploy(host: World) -> Outcome:
    with host.ports.locks.wait_app(APP, 60):
        return host.ports.store.activate(APP, "web", evolve(host.named, revision=2, stop_grace_s=7.0), 1, None)


def test_killed_and_started_again_in_a_converged_world_it_does_nothing_and_keeps_the_budgets(
    crew: Crew, docker_engine_host: str, directory: Path
) -> None:
    def judge(processes: Processes, place: str) -> None:
        with world(docker_engine_host, directory / place, "calm", "scarred", "loop") as host:
            settle(host)
            before = history(host)
            assert {"calm": 0, "scarred": 1, "loop": 3} == {each.service: each.memory.failures for each in before}
            host.arm()
            with counted(docker_engine_host.removeprefix("unix://"), directory / "counted.sock") as socket:
                for _ in range(3):
                    so_far = len(socket.requests)
                    pid = host.start(processes, "run", DOCKER_HOST=f"unix://{socket.path}")
                    eventually(partial(has_passed, socket, so_far))
                    os.kill(pid, signal.SIGKILL)
                    assert KILLED == processes.end()
            assert [] == [each for each in socket.requests if not each.startswith("GET ")]
            # The stable window of the one that failed grows.
            assert {REMEMBER} == set(commands(host.log))
            assert before == history(host)
            assert dict.fromkeys(host.made, 0) == {each: host.begun(each) for each in host.made}
            assert {each: (200, each) for each in ("calm", "scarred")} == {each: host.ask(each) for each in ("calm", "scarred")}

    crew.go(judge, "converged")


def settle(host: World) -> None:
    """Let one serve that never failed, one that failed once, and let one wait that fails always."""
    host.adopt("calm", host.create("calm", worlds.serves("calm")))
    fails_once = "test -e /begun/again || { touch /begun/again; exit 1; }; "
    host.adopt("scarred", host.create("scarred", fails_once + worlds.serves("scarred")))
    host.adopt("loop", host.create("loop", "exit 3"), policy=Policy(ladder_s=(600.0,)))
    eventually(lambda: not host.passes().results and host.memory("loop").failures == 3)


def history(host: World) -> list[Stored]:
    """Return all that the store holds, but for the stable windows."""
    return [evolve(each, memory=evolve(each.memory, window=None)) for each in host.ports.store.read()]


def has_passed(socket: CountingSocket, so_far: int) -> bool:
    """Tell whether three passes at least began since then."""
    return sum("/containers/json" in each for each in socket.requests[so_far:]) >= 3


# --- a timer is as good as the daemon ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def minute(docker_engine_host: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Minute]:
    with Containers(docker_engine_host) as containers, minute_of(containers, tmp_path_factory.mktemp("minute")) as made:
        yield made


@pytest.fixture(scope="module", autouse=True)
def _first(request: pytest.FixtureRequest) -> None:
    """Begin the minute before the first test of this module, if it is going to be wanted: it goes by while they run."""
    mine = [each for each in request.session.items if each.path == request.path]
    if any("minute" in getattr(each, "fixturenames", ()) for each in mine):
        request.getfixturevalue("minute")


@pytest.mark.parametrize("kind", ["once", "run"])
def test_once_every_second_for_a_minute_charges_as_much_as_run_and_waits_as_long(minute: Minute, kind: str) -> None:
    loop = minute.over()[kind]
    charges_s, starts_s, looks_s = loop.charges_s(), loop.times_s(START), loop.times_s(LOOK)
    assert [6] * 4 == [loop.failures(), len(charges_s), len(starts_s), loop.begun()]
    for rung_s, charge_s, start_s in zip(LADDER_S[:3], charges_s[2:5], starts_s[3:], strict=True):
        due_s = charge_s + rung_s
        assert due_s <= start_s
        assert len([each for each in looks_s if due_s <= each < start_s]) <= FEW_LOOKS, (due_s, start_s, looks_s)
