"""The follower: every end of a stream asks for a look at everything, and the next stream comes after a wait."""

import threading
import time
from collections.abc import Callable, Iterator
from random import Random

import pytest

from gordon_shell import follower
from gordon_shell.errors import EngineError
from gordon_shell.events import NO_EVENTS, Event, EventStream, Happened
from gordon_shell.follower import FIRST_WAIT_S, LONGEST_WAIT_S, Follower, Waits, following
from gordon_shell.hints import Hints
from gordon_shell.memory.clock import MemoryClock
from gordon_shell.memory.container import Simulated
from gordon_shell.memory.engine import MemoryEngine

SOON_S = 30.0


def until(holds: Callable[[], bool]) -> None:
    until_s = time.monotonic() + SOON_S
    while not holds():
        assert time.monotonic() < until_s
        time.sleep(0.005)


def event(container_id: str) -> Event:
    return Event(container_id, Happened.DIED, 1)


GONE = EngineError("there is no more")


class Script:
    """Streams that say what they are told to, and end as they are told to."""

    def __init__(self, *streams: tuple[Event | EngineError, ...] | EngineError) -> None:
        self.streams = list(streams)
        self.opened = 0

    def events(self) -> EventStream:
        self.opened += 1
        if not self.streams:
            raise GONE
        first = self.streams.pop(0)
        if isinstance(first, EngineError):
            raise first
        return Told(first)


class Told:
    """One such stream."""

    def __init__(self, told: tuple[Event | EngineError, ...]) -> None:
        self._told = iter(told)
        self.closed = 0

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        each = next(self._told)
        if isinstance(each, EngineError):
            raise each
        return each

    def close(self) -> None:
        self.closed += 1


class Desk:
    """Hints that are written down."""

    def __init__(self) -> None:
        self.wholes = 0
        self.names: list[str] = []
        self.complaints: list[str] = []
        self.hints = Written(self)


class Written(Hints):
    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk

    def put(self, container_id: str) -> None:
        self._desk.names.append(container_id)

    def ask_whole(self) -> None:
        self._desk.wholes += 1


BROKEN = EngineError("it broke")


@pytest.mark.parametrize("end", [(), (BROKEN,)], ids=["clean", "broken"])
def test_each_stream_asks_for_a_look_at_everything_when_it_begins_and_when_it_ends(end: tuple[EngineError, ...]) -> None:
    desk = Desk()
    script = Script((event("a"), event("b"), *end))
    reader = Follower(script, desk.hints, desk.complaints.append)
    reader.start()
    until(lambda: desk.wholes >= 2)
    reader.stop()
    assert (["a", "b"], 2) == (desk.names, desk.wholes)
    assert 2 >= script.opened, "it does not come back at once"


def test_a_fault_of_ours_is_told_once_and_the_next_stream_is_followed() -> None:
    class Broken(Script):
        def events(self) -> EventStream:
            if self.opened < 2:
                self.opened += 1
                raise ZeroDivisionError
            return super().events()

    desk, script = Desk(), Broken((event("a"),))
    reader = Follower(script, desk.hints, desk.complaints.append, lambda _lived_s: 0.01)
    reader.start()
    until(lambda: desk.names == ["a"])
    reader.stop()
    assert ["a fault of ours in the events: ZeroDivisionError: ; please report it"] == desk.complaints
    assert desk.wholes >= 4


def test_waits_double_up_to_half_a_minute_and_begin_anew_after_a_stream_that_lived() -> None:
    waits = Waits(Random(1))  # noqa: S311 - any will do
    drawn = [waits.after(0.0) for _ in range(8)]
    for each, whole in zip(drawn, (1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0), strict=True):
        assert whole / 2 <= each <= whole
    assert (FIRST_WAIT_S, LONGEST_WAIT_S) == (1.0, 30.0)
    assert waits.after(follower.LIVED_S) <= FIRST_WAIT_S
    assert len(set(drawn[5:])) > 1, "they are spread"


def test_an_engine_that_refuses_its_events_is_complained_of_once_it_did_so_three_times() -> None:
    desk = Desk()
    reader = Follower(Script(BROKEN, BROKEN), desk.hints, desk.complaints.append, waits=lambda _lived_s: 0.001)
    reader.start()
    until(lambda: bool(desk.complaints))
    time.sleep(0.05)
    reader.stop()
    expected = "events cannot be followed, so that what happens is found by the next pass: there is no more"
    assert [expected] == desk.complaints


def test_where_there_are_no_events_nothing_is_asked_and_nothing_runs() -> None:
    desk = Desk()
    with following(NO_EVENTS, desk.hints, desk.complaints.append):
        until(lambda: all(each.name != "events" for each in threading.enumerate()))
    assert 0 == desk.wholes


def test_it_listens_before_the_block_begins_and_ends_with_it() -> None:
    engine, hints = MemoryEngine(MemoryClock()), Hints()
    engine.add(Simulated("c", "c"))
    with following(engine, hints, lambda _text: None):
        hints.take_whole()
        engine.start("c")
        until(lambda: "c" in hints.take())
        begun_s = time.monotonic()
    assert time.monotonic() - begun_s < SOON_S
    assert all(each.name != "events" for each in threading.enumerate())


def test_a_call_that_hangs_is_left_behind_at_the_end() -> None:
    held = threading.Event()

    class Hanging:
        def events(self) -> EventStream:
            held.wait(SOON_S)
            return Told(())

    begun_s = time.monotonic()
    with following(Hanging(), Hints(), lambda _text: None):
        pass
    assert time.monotonic() - begun_s < SOON_S / 2
    held.set()


def test_a_reader_is_never_late_however_much_is_said() -> None:
    """What is read is only put down: ten thousand events are no more than the containers that they name."""
    desk = Desk()
    hints = Hints()
    reader = Follower(Script(tuple(event(f"{each % 7}") for each in range(10_000))), hints, desk.complaints.append)
    reader.start()
    until(lambda: hints.wants_whole and len(hints._names) == 7)  # noqa: SLF001 - what is kept is the point
    reader.stop()
