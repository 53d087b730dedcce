"""What a fact read of a subject, in words: "memory.failures = 2", "memory.charged_at_s = 9772 (06:56:12Z)"."""

from enum import Enum

from attrs import has

from gordon_core.observation import Bind, Clock, Port
from gordon_core.readings import Reading
from gordon_core.sentences import wall_time
from gordon_core.shapes import HEADS

_TIMES = {"boot_s", "charged_at_s", "since_s", "looked_s", "until_s"}
_IDS = "container_id"
_LONGEST = 80


def reading_in_words(reading: Reading, clock: Clock) -> str:
    """Return one value that was read, with its path; what is not there, and what is empty, is nothing."""
    words = value_in_words(reading.value)
    last = reading.path.rpartition(".")[2]
    if last in _TIMES and isinstance(reading.value, int | float):
        words = f"{words} ({wall_time(clock, float(reading.value))})"
    if last == _IDS:
        words = words[:12]
    return f"{reading.path} = {words if len(words) <= _LONGEST else f'{words[:_LONGEST]}...'}"


def value_in_words(value: object) -> str:  # noqa: PLR0911 - one arm for each kind of value is the point
    """Return a value that was read; of a whole of which only was asked whether it is there, that it is."""
    match value:
        case None | "" | ():
            return "nothing"
        case bool():
            return "true" if value else "false"
        case Enum():
            return str(value.value)
        case float() if value.is_integer():
            return str(int(value))
        case Port() | Bind():
            return str(value)
        case tuple():
            return ", ".join(map(value_in_words, value))
        case _ if type(value) in HEADS:
            return str(next(iter(HEADS[type(value)].values())))
        case _:
            return "there" if has(type(value)) else str(value)
