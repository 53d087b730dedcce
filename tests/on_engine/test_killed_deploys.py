"""A deploying process that is killed at every single command, or sent a signal: what serves goes on serving, the next pass leaves
nothing of it, and the next deploy goes well. Real processes, a real engine, and a HAProxy that is asked all the while.
"""

import itertools
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from attrs import frozen

from tests.engine_fixtures import NEEDS_ENGINE
from tests.haproxy import NEEDS_HAPROXY
from tests.on_engine.deploy_scene import Shop, shop
from tests.on_engine.killed_deploys import Processes, commands
from tests.on_engine.scene import eventually

pytestmark = [*NEEDS_ENGINE, *NEEDS_HAPROXY]
KILLED, INTERRUPTED = -signal.SIGKILL, 130
AT_ONCE = 3
CLEANED_UP_S = 30.0
CREATE, JOURNAL, ACTIVATE = "engine.create", "store.journal", "store.activate"
BEGINNING = (CREATE, JOURNAL)
SLOW = {"engine.start", "engine.stop", "engine.remove"}
_host_ports = itertools.count(18700)


@frozen
class Road:
    """A way to deploy: its commands, each of which it makes once, and whether the old container serves on meanwhile."""

    commands: tuple[str, ...]
    overlaps: bool

    def places(self) -> list[str]:
        """Name every place to kill a process at: before and after each command, and while the engine is at a slow one."""
        during = [f"during {each} 1" for each in self.commands if each in SLOW]
        return [f"{when} {each} 1" for each in self.commands for when in ("before", "after")] + during

    def has_made(self, command: str, place: str) -> bool:
        """Tell whether a process that was killed at this place has made a command, unless it was at it."""
        when, here, _ = place.split()
        return 2 * self.commands.index(here) + (when == "after") > 2 * self.commands.index(command)


VERIFYING = ("engine.start", "prober.probe", ACTIVATE, "store.save_memory", "router.publish")
ENDING = ("engine.remove", "store.release_claims", "store.drop_marker", "engine.rename")
ROADS = {
    "beside": Road((*BEGINNING, *VERIFYING, "engine.stop", *ENDING), overlaps=True),
    "downtime": Road((*BEGINNING, "router.withdraw", "engine.stop", *VERIFYING, *ENDING), overlaps=False),
}


class Site:
    """A shop, and processes that work on it."""

    def __init__(self, shop: Shop, processes: Processes) -> None:
        self.shop, self.processes = shop, processes
        self.log, self.told = shop.directory / "commands", shop.directory / "told"

    def begin(self, command: str, *words: str, at: str = "") -> int:
        options = ("--state", str(self.shop.directory / "state.db"), "--haproxy", self.shop.proxy.socket)
        self.log.unlink(missing_ok=True)
        return self.processes.start(self.told, command, *options, *words, log=self.log, kill=at)

    def deploy(self, version: int, *words: str, at: str = "") -> int:
        """Deploy a version in a process of its own, and return its exit code."""
        self.shop.switches.begun = version
        self.begin("deploy", "-e", f"VERSION={version}", self.shop.app, "web", self.shop.image(version), *words, at=at)
        return self.processes.end()

    def once(self) -> int:
        self.begin("once")
        return self.processes.end()

    def words(self) -> str:
        return self.told.read_text()


@pytest.fixture(scope="module")
def crew(docker_engine_host: str) -> Iterator[list[Processes]]:
    del docker_engine_host  # without it these tests are skipped
    with ExitStack() as stack:
        yield [stack.enter_context(Processes()) for _ in range(AT_ONCE)]


@pytest.mark.parametrize("name", list(ROADS))
def test_a_process_takes_this_road(name: str, crew: list[Processes], docker_engine_host: str, directory: Path) -> None:
    road = ROADS[name]
    with shop(docker_engine_host, directory, host_port=0 if road.overlaps else next(_host_ports)) as made:
        site = Site(made, crew[0])
        made.serve(1)
        assert 0 == site.deploy(2), site.words()
        assert road.commands == tuple(commands(site.log))
        made.assert_settled(2)


@pytest.mark.parametrize("name", list(ROADS))
def test_killed_anywhere_it_leaves_what_serves_and_the_next_deploy_goes_well(
    name: str, crew: list[Processes], docker_engine_host: str, directory: Path
) -> None:
    road = ROADS[name]

    def judge_share(number: int) -> None:
        host_port = 0 if road.overlaps else next(_host_ports)
        with shop(docker_engine_host, directory / str(number), host_port=host_port) as made:
            made.serve(1)
            with made.polled(is_down_at_times=not road.overlaps):
                for place in road.places()[number::AT_ONCE]:
                    judge(Site(made, crew[number]), road, place)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(judge_share, range(AT_ONCE)))


def judge(site: Site, road: Road, place: str) -> None:
    """Kill the next deploy at this place, let a pass put that right, and deploy once more."""
    made = site.shop
    version = made.switches.published
    assert (KILLED, place) == (site.deploy(version + 1, at=place), place), site.words()
    eventually(lambda: is_over(made, place), within_s=60)
    assert (0, place) == (site.once(), place), site.words()
    serving = version + road.has_made(ACTIVATE, place)
    assert (200, made.page(serving), place) == (*made.ask(), place)
    made.switches.published = serving
    # Before it is in the journal nobody but a deploy knows that it is one; it never ran.
    is_unknown = road.has_made(CREATE, place) and not road.has_made(JOURNAL, place)
    left = [each.status.value for each in made.rows() if each.container_id != made.active()]
    assert (["created"] if is_unknown else [], place) == (left, place)
    assert ((), (), place) == (made.stored().candidates, made.stored().markers, place)
    made.serve(version + 2)
    made.assert_settled(version + 2)


def is_over(made: Shop, place: str) -> bool:
    """Tell whether the engine is done with the removal that a killed process asked it for."""
    return place != "during engine.remove 1" or ("removing" not in made.names().values() and len(made.names()) == 1)


# --- signals ----------------------------------------------------------------------------------------------------------------

STUBBORN = ("sh", "-c", "trap '' TERM; while :; do sleep 1; done")
"""Never listens, and does not end when it is asked to."""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda each: each.name)
def test_a_signal_at_any_moment_has_the_candidate_gone_before_the_process_ends(
    number: signal.Signals, crew: list[Processes], docker_engine_host: str, directory: Path
) -> None:
    with shop(docker_engine_host, directory) as made:
        site = Site(made, crew[0])
        made.serve(1)
        with made.polled():
            for each in (CREATE, JOURNAL, "engine.start"):
                code = site.deploy(2, "--grace", "1", "--", *STUBBORN, at=f"{number.name} {each} 1")
                assert (INTERRUPTED, each, commands(site.log)[-1]) == (code, each, "store.drop_candidate") or each == CREATE
                assert_nothing_is_left(site, 1)
        assert (3, True) == (site.words().count(f"was sent {number.name}"), "cancelled" in site.words()), site.words()
        made.serve(3)
        made.assert_settled(3)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda each: each.name)
def test_a_signal_while_it_waits_for_readiness_ends_it_within_thirty_seconds(
    number: signal.Signals, crew: list[Processes], docker_engine_host: str, directory: Path
) -> None:
    with shop(docker_engine_host, directory) as made:
        site = Site(made, crew[0])
        made.serve(1)
        with made.polled():
            made.switches.begun = 2
            words = ("--grace", "4", "--ready-timeout", "600", made.app, "web", made.image(2), "--", *STUBBORN)
            pid = site.begin("deploy", *words)
            eventually(lambda: "prober.probe" in commands(site.log), within_s=60)
            os.kill(pid, number)
            sent_s = time.monotonic()
            code = site.processes.end()
            took_s = time.monotonic() - sent_s
        assert INTERRUPTED == code, site.words()
        assert took_s < CLEANED_UP_S
        assert_nothing_is_left(site, 1)


def assert_nothing_is_left(site: Site, version: int) -> None:
    made = site.shop
    assert ({made.name: "running"}, ()) == (made.names(), made.stored().candidates), site.words()
    assert (200, made.page(version)) == made.ask()
