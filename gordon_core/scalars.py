"""The simple values of a document, read strictly: texts, numbers, flags, choices, ports and times. None is coerced to another."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from enum import Enum
from typing import NoReturn

from gordon_core.observation import Port, Protocol
from gordon_core.shapes import DocumentFault, choices, shown

Read = Callable[[object], object]
"""Returns the value that was meant by JSON data. Raises MisfitError."""

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - the Z is demanded and written by hand; an aware time would say +00:00
_SECONDS = "2026-11-30T07:00:00"
_NEVER = float("inf")


class MisfitError(Exception):
    """What was read does not fit its type. The paths of the faults, of which there is one at least, start at what was read."""

    def __init__(self, faults: Iterable[DocumentFault]) -> None:
        """Keep the faults."""
        super().__init__()
        self.faults = tuple(faults)

    def under(self, path: str) -> Iterator[DocumentFault]:
        """Return the faults as seen from further out."""
        return (DocumentFault(path + each.path, each.wrong) for each in self.faults)


def refuse(right: str, value: object, path: str = "") -> NoReturn:
    """Say what would be right, and what was found."""
    raise MisfitError((DocumentFault(path, f"{right}; found {shown(value)}"),)) from None


def read_text(value: object) -> str:
    """Return a text that UTF-8 can hold. Raise MisfitError."""
    if not isinstance(value, str):
        refuse("must be a text", value)
    try:
        value.encode()
    except UnicodeEncodeError:
        refuse("must be Unicode text, without half a surrogate pair", value)
    return value


def read_whole(value: object) -> int:
    """Return a whole number; true and 1.0 are none. Raise MisfitError."""
    if not isinstance(value, int) or isinstance(value, bool):
        refuse("must be a whole number", value)
    return value


def read_number(value: object) -> float:
    """Return a finite number as a float. Raise MisfitError."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        refuse("must be a number", value)
    try:
        number = float(value)
    except OverflowError:
        number = _NEVER
    if not -_NEVER < number < _NEVER:
        refuse("must be a finite number", value)
    return number


def read_flag(value: object) -> bool:
    """Return true or false. Raise MisfitError."""
    if not isinstance(value, bool):
        refuse("must be true or false", value)
    return value


def read_port(value: object) -> Port:
    """Return a port, written as it prints. Raise MisfitError."""
    number, _, protocol = value.partition("/") if isinstance(value, str) else ("", "", "")
    try:
        port = Port(int(number[:5]), Protocol(protocol))
    except ValueError:
        port = None
    if port is None or str(port) != value:
        refuse('must be a port like "80/tcp", from 1 to 65535 and tcp or udp', value)
    return port


def read_moment(value: object) -> float:
    """Return the seconds since 1970 of an RFC 3339 time in UTC. Raise MisfitError."""
    text = value if isinstance(value, str) else ""
    date, dot, fraction = text.removesuffix("Z").partition(".")
    try:
        moment = datetime.fromisoformat(date[: len(_SECONDS)]).replace(tzinfo=None)
        exact = float(f"{(moment - _EPOCH) // timedelta(seconds=1)}{dot}{fraction}")
    except ValueError:
        moment, exact = _EPOCH, 0.0
    if f"{moment.isoformat()}{dot}{fraction}Z" != text or bool(dot) != bool(fraction) or fraction.strip("0123456789"):
        refuse(f'must be a time in UTC like "{_SECONDS}Z"', value)
    return exact


def write_moment(value: float) -> str:
    """Return the time with the fewest digits that `read_moment` makes the same number of."""
    digits = next(text for places in range(1100) if float(text := f"{value:.{places}f}") == value)
    whole, dot, fraction = digits.partition(".")
    return f"{(_EPOCH + timedelta(seconds=int(whole))).isoformat()}{dot}{fraction}Z"


def choice_reader(kind: type[Enum]) -> Read:
    """Return what reads the members of an enum by their values."""
    by_value = {each.value: each for each in kind}

    def read(value: object) -> Enum:
        if not isinstance(value, str) or value not in by_value:
            refuse(choices(by_value), value)
        return by_value[value]

    return read
