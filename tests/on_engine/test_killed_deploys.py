"""A deploying process that is killed at every single command, or sent a signal: what serves goes on serving, the next pass leaves
nothing of it, and the next deploy goes well; also where the deploy had failed, and was on its way back. Real processes, a real
engine, and a HAProxy that is asked all the while.
"""

import itertools
import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from operator import itemgetter
from pathlib import Path

import pytest

from tests.engine_fixtures import NEEDS_ENGINE
from tests.haproxy import NEEDS_HAPROXY
from tests.on_engine.deploy_scene import Shop, shop
from tests.on_engine.killed_processes import Processes
from tests.on_engine.killed_sites import ACTIVATE, CREATE, JOURNAL, PROBE, ROADS, START, WITHDRAW, Road, Site
from tests.on_engine.scene import eventually

pytestmark = [*NEEDS_ENGINE, *NEEDS_HAPROXY]
KILLED, INTERRUPTED = -signal.SIGKILL, 130
AT_ONCE = 3
CLEANED_UP_S = 30.0
_host_ports = itertools.count(18700)


@pytest.fixture(scope="module")
def crew(docker_engine_host: str) -> Iterator[list[Processes]]:
    del docker_engine_host  # without it these tests are skipped
    with ExitStack() as stack:
        yield [stack.enter_context(Processes()) for _ in range(AT_ONCE)]


def at_once(work: Callable[[int], None]) -> None:
    """Let each of the crew do its share of some work."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(work, range(AT_ONCE)))


def host_port(*, overlaps: bool) -> int:
    """Return a host port of its own for what must not run twice, 0 for what may."""
    return 0 if overlaps else next(_host_ports)


def test_undisturbed_processes_take_these_roads(crew: list[Processes], docker_engine_host: str, directory: Path) -> None:
    def take_share(number: int) -> None:
        for name, road in list(ROADS.items())[number::AT_ONCE]:
            with shop(docker_engine_host, directory / name, host_port=host_port(overlaps=road.overlaps)) as made:
                take(Site(made, crew[number]), road, name)

    at_once(take_share)


def take(site: Site, road: Road, name: str) -> None:
    """Let a process take it to its end, after which nothing is left to do."""
    made = site.shop
    made.serve(1)
    with site.lit(wanted=road.is_lit):
        assert (road.code, name) == (site.deploy(2, *road.words, death=road.death), name), site.words
    assert (road.commands, name) == (tuple(site.commands), name)
    made.assert_settled(1 if road.code else 2)


@pytest.mark.parametrize("overlaps", [True, False], ids=["beside", "downtime"])
def test_killed_anywhere_it_leaves_what_serves_and_the_next_deploy_goes_well(
    *, overlaps: bool, crew: list[Processes], docker_engine_host: str, directory: Path
) -> None:
    roads = {name: road for name, road in ROADS.items() if road.overlaps == overlaps}
    places = [(name, place) for name, road in roads.items() for place in road.places()]

    def judge_share(number: int) -> None:
        with shop(docker_engine_host, directory / str(number), host_port=host_port(overlaps=overlaps)) as made:
            made.serve(1)
            site = Site(made, crew[number])
            for name, share in itertools.groupby(places[number::AT_ONCE], key=itemgetter(0)):
                with site.lit(wanted=roads[name].is_lit):
                    for _, place in share:
                        judge(site, roads[name], place, f"{name}: {place}")

    at_once(judge_share)


def judge(site: Site, road: Road, place: str, here: str) -> None:
    """Kill the next deploy at this place, let a pass put that right, and deploy once more."""
    made = site.shop
    version = made.switches.published
    assert (KILLED, here) == (site.deploy(version + 1, *road.words, at=place, death=road.death), here), site.words
    eventually(partial(is_over, made, place))
    was_lit = made.ask()[0] == 200
    with site.lit(wanted=was_lit and not road.is_lit):
        assert (0, here) == (site.once(), here), site.words
    assert not was_lit or WITHDRAW not in site.commands, (here, site.commands)
    serving = version + road.made(ACTIVATE, place) % 2
    assert (200, made.page(serving), here) == (*made.ask(), here)
    made.switches.published = serving
    # Before it is in the journal nobody but a deploy knows that it is one; it never ran.
    is_unknown = road.made(CREATE, place) and not road.made(JOURNAL, place)
    left = [each.status.value for each in made.rows() if each.container_id != made.active()]
    assert (["created"] if is_unknown else [], here) == (left, here)
    assert ((), (), here) == (made.stored().candidates, made.stored().markers, here)
    made.serve(version + 2)
    made.assert_settled(version + 2)


def is_over(made: Shop, place: str) -> bool:
    """Tell whether the engine is done with the removal that a killed process asked it for."""
    return not place.startswith("during engine.remove") or ("removing" not in made.names().values() and len(made.names()) == 1)


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
            for each in (CREATE, JOURNAL, START):
                code = site.deploy(2, "--grace", "1", "--", *STUBBORN, at=f"{number.name} {each} 1")
                assert (INTERRUPTED, each, site.commands[-1]) == (code, each, "store.drop_candidate") or each == CREATE
                assert_nothing_is_left(site, 1)
        assert (3, True) == (site.words.count(f"was sent {number.name}"), "cancelled" in site.words), site.words
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
            eventually(lambda: PROBE in site.commands, within_s=60)
            os.kill(pid, number)
            sent_s = time.monotonic()
            code = site.processes.end()
            took_s = time.monotonic() - sent_s
        assert INTERRUPTED == code, site.words
        assert took_s < CLEANED_UP_S
        assert_nothing_is_left(site, 1)


def assert_nothing_is_left(site: Site, version: int) -> None:
    made = site.shop
    assert ({made.name: "running"}, ()) == (made.names(), made.stored().candidates), site.words
    assert (200, made.page(version)) == made.ask()
