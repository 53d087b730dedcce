"""What every EventStream holds to: one suite for the memory engine and a real Docker engine."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import cast

import pytest

from gordon_shell.errors import EngineError
from gordon_shell.events import Event, Events, EventStream, Happened
from tests.engine_fixtures import NEEDS_ENGINE, Containers, spare_engine
from tests.engine_worlds import PATIENCE_S, DockerWorld, MemoryWorld, World

DOCKER = pytest.param("docker", marks=NEEDS_ENGINE)


class Ear:
    """Reads a stream in a thread of its own."""

    def __init__(self, world: World) -> None:
        self.world, self.stream = world, listen(world)
        self.heard: list[Event] = []
        self.broken: list[EngineError] = []
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        try:
            self.heard.extend(self.stream)
        except EngineError as error:
            self.broken.append(error)

    def of(self, container_id: str) -> list[Happened]:
        return [each.happened for each in tuple(self.heard) if each.container_id == container_id]

    def until(self, holds: Callable[[], bool]) -> None:
        """Let time pass until something holds."""
        until_s = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < until_s, self.heard
            self.world.let(0.05)

    def close(self) -> None:
        self.stream.close()
        self.thread.join(PATIENCE_S)
        assert not self.thread.is_alive()


def listen(world: World) -> EventStream:
    stream = cast("Events", world.engine).events()
    assert stream is not None
    return stream


@pytest.fixture(params=["memory", DOCKER])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    if request.param == "memory":
        yield MemoryWorld()
        return
    with Containers(request.getfixturevalue("docker_engine_host")) as containers:
        made = DockerWorld(containers, containers.host)
        yield made
        made.close()


@pytest.fixture
def ear(world: World) -> Iterator[Ear]:
    made = Ear(world)
    yield made
    made.close()


def test_a_life_is_told_in_order_and_with_its_times(world: World, ear: Ear) -> None:
    """Docker tells a pause twice now and then: its daemon and its containerd both do."""
    one = world.started(world.silent()).container_id
    world.pause(one)
    world.unpause(one)
    world.kill(one)
    world.delete(one)
    ear.until(lambda: Happened.DESTROYED in ear.of(one))
    expected = [Happened.STARTED, Happened.PAUSED, Happened.UNPAUSED, Happened.DIED, Happened.DESTROYED]
    assert expected == list(dict.fromkeys(ear.of(one)))
    times = [each.at_ns for each in ear.heard if each.container_id == one]
    assert sorted(times) == times
    assert times[0] > 0


def test_an_end_by_itself_and_a_restart_are_told(world: World, ear: Ear) -> None:
    ended, restarted = world.ending(3), world.started(world.silent()).container_id
    world.engine.start(ended)
    world.engine.restart(restarted, 0.0)
    ear.until(lambda: len(ear.of(ended)) + len(ear.of(restarted)) >= 5)
    assert [Happened.STARTED, Happened.DIED] == ear.of(ended)
    assert [Happened.STARTED, Happened.DIED, Happened.STARTED] == ear.of(restarted)


def test_a_turn_of_health_is_told_and_the_checks_themselves_are_not(world: World, ear: Ear) -> None:
    one = world.started(world.checked(good=False)).container_id
    ear.until(lambda: Happened.HEALTH in ear.of(one))
    world.let(1.0)
    assert [Happened.STARTED, Happened.HEALTH] == ear.of(one)


def test_what_happened_before_is_not_told_and_each_listener_hears_all_that_comes_after(world: World, ear: Ear) -> None:
    before = world.started(world.silent()).container_id
    second = Ear(world)
    world.kill(before)
    for each in (ear, second):
        each.until(lambda each=each: Happened.DIED in each.of(before))
    second.close()
    assert [Happened.DIED] == second.of(before)


def test_it_may_be_closed_by_anybody_at_any_time_and_more_than_once(world: World) -> None:
    ear = Ear(world)
    ear.close()
    ear.stream.close()
    assert [] == ear.broken
    assert [] == list(ear.stream)


@pytest.fixture(params=["memory", DOCKER])
def mortal(request: pytest.FixtureRequest) -> Iterator[World]:
    if request.param == "memory":
        yield MemoryWorld()
        return
    with spare_engine() as spare, Containers(spare.host) as containers:
        made = DockerWorld(containers, spare.host, spare)
        yield made
        made.close()


def test_it_ends_with_its_engine_and_there_is_another_once_that_is_back(mortal: World) -> None:
    ear = Ear(mortal)
    mortal.kill_engine()
    ear.thread.join(PATIENCE_S)
    assert not ear.thread.is_alive()
    with pytest.raises(EngineError):
        listen(mortal)
    mortal.start_engine()
    again = Ear(mortal)
    one = mortal.started(mortal.silent()).container_id
    again.until(lambda: Happened.STARTED in again.of(one))
    for each in (ear, again):
        each.close()
