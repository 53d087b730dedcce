"""What an engine says without being asked, as Protocols: hints of what happened to containers, and never what is so."""

from collections.abc import Iterator
from enum import Enum
from typing import Protocol as Interface

from attrs import frozen


class Happened(Enum):
    """What an engine says of a container without being asked; the value is its own word."""

    DIED = "die"
    STARTED = "start"
    HEALTH = "health_status"
    PAUSED = "pause"
    UNPAUSED = "unpause"
    DESTROYED = "destroy"


@frozen
class Event:
    """A hint to look at a container, and never what is so: events get lost, come late, and come again.

    `at_ns` is when it happened, in nanoseconds of the engine's own wall clock.
    """

    container_id: str
    happened: Happened
    at_ns: int


class EventStream(Interface):
    """Events as they come, oldest first, for as long as it lasts. One thread reads it, any may close it."""

    def __iter__(self) -> Iterator[Event]:
        """Return itself."""

    def __next__(self) -> Event:
        """Wait for the next event. StopIteration: the engine ended it, it was closed, or nothing came for too long.

        Raise EngineError where it broke.
        """

    def close(self) -> None:
        """Let go of it, and end the wait of whoever reads it."""


class Events(Interface):
    """The window beside the six doors: what an engine says without being asked."""

    def events(self) -> EventStream | None:
        """Begin to listen to what happens to containers from now on; None: there is nothing to listen to. Raise EngineError."""


@frozen
class NoEvents:
    """An engine that says nothing without being asked: what happens is found by the next pass."""

    def events(self) -> None:
        """Return None."""


NO_EVENTS: Events = NoEvents()
