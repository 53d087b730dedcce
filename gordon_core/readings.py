"""What a question really read: a value that notes whatever is asked of it, and is otherwise like the value itself.

The facts of the law are handed such a value in place of a subject, and answer as ever; so every row explains itself. Its class is
that of the value, for `isinstance`, `match` and equality; its members are watched in turn; numbers, texts and enums are given out
bare, and noted. Methods run on what is watched; a derived field counts as a reading of all that it is derived from.
"""

from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from typing import Protocol, Self, SupportsIndex, TypeVar, cast, get_args, runtime_checkable

from attrs import Attribute, fields, frozen, has

from gordon_core.observation import Port
from gordon_core.shapes import HEADS, slots

T = TypeVar("T")
NOW = "clock.boot_s"
"""The path of the time."""


@frozen
class Reading:
    """One value that was read, with its path in a document, like `memory.failures` or `results[0].outcome`."""

    path: str
    value: object


class Notes:
    """What was read, in order."""

    def __init__(self) -> None:
        """Begin with nothing read."""
        self._notes: list[Reading] = []

    def note(self, path: str, value: object) -> None:
        """Note that this value was read there."""
        self._notes.append(Reading(path, value))

    def readings(self) -> tuple[Reading, ...]:
        """Return each value where it was read last: the last one is the one that settled the question.

        A whole of which parts were read is left out. That something is there settles less than that the thing read right before
        it is not there.
        """
        latest: dict[str, Reading] = {}
        for each in self._notes:
            latest.pop(each.path, None)
            latest[each.path] = each
        found = list(latest.values())
        kept = [each for each in found[:-1] if not any(_is_part(other.path, each.path) for other in found)] + found[-1:]
        if len(kept) > 1 and kept[-2].value is None and has(type(kept[-1].value)):
            kept[-2:] = kept[-1], kept[-2]
        return tuple(kept)


def _is_part(path: str, whole: str) -> bool:
    return path.startswith((f"{whole}.", f"{whole}["))


def watched(value: T, path: str, notes: Notes) -> T:
    """Return the value in such a way that all that is read of it is noted, its own path being this one ("" for none)."""
    return cast("T", _watched(value, path, notes))


def _watched(value: object, path: str, notes: Notes) -> object:
    if isinstance(value, tuple):
        return _Items(value, path, notes)
    return _Watched(value, path, notes) if _has_parts(value) else value


def _has_parts(value: object) -> bool:
    """Tell what is an object of a document from what is a single value there, as a port is ("80/tcp")."""
    return has(type(value)) and not isinstance(value, Port)


def bare(value: object) -> object:
    """Return what is watched as it is; it counts as read as a whole."""
    return value.bare() if isinstance(value, _Watched | _Items) else value


def plain(value: object) -> object:
    """Return a value of the core as JSON data in the form of documents, with everything in it that is not as by default."""
    match value:
        case Enum():
            return value.value
        case Port():
            return str(value)
        case tuple():
            return [plain(each) for each in value]
        case _ if has(type(value)):
            kind: type = type(value)
            said = ((each.key, getattr(value, each.name), each.default) for each in slots(kind))
            return {**HEADS.get(kind, {}), **{key: plain(item) for key, item, default in said if item != default}}
        case _:
            return value


@frozen(eq=False)
class _Field:
    """How a field of a class is read: its step in a path, whether it can be absent, and what it is derived by, if it is."""

    step: str
    is_optional: bool
    derive: Callable[[object], object] | None


@cache
def _fields(kind: type) -> dict[str, _Field]:
    keys = {each.name: each.key for each in slots(kind)}
    return {
        each.name: _Field(keys.get(each.name, each.name), type(None) in get_args(each.type), _derivation(each))
        for each in fields(kind)
    }


def _derivation(attribute: "Attribute[object]") -> Callable[[object], object] | None:
    default = attribute.default
    if not attribute.init and isinstance(default, _Factory) and default.takes_self:
        return default.factory
    return None


@runtime_checkable
class _Factory(Protocol):
    """What attrs makes a default from."""

    factory: Callable[[object], object]
    takes_self: bool


class _Descriptor(Protocol):
    """A method or a property of a class."""

    def __get__(self, instance: object, owner: type | None = None) -> object:
        """Bind it to an instance."""


class _Watched:
    """A value of attrs that is watched."""

    __slots__ = ("_notes", "_path", "_value")

    def __init__(self, value: object, path: str, notes: Notes) -> None:
        self._value, self._path, self._notes = value, path, notes

    def __getattr__(self, name: str) -> object:
        kind: type = type(self._value)
        found = _fields(kind).get(name)
        if found is None:
            asked: _Descriptor = getattr(kind, name)
            return asked.__get__(self)
        value: object = getattr(self._value, name)
        if found.derive is not None:
            found.derive(self)  # what it is derived from is noted; the value is the one that there is
            return value
        path = f"{self._path}.{found.step}".removeprefix(".")
        if found.is_optional or not (isinstance(value, tuple) or _has_parts(value)):
            self._notes.note(path, value)
        return _watched(value, path, self._notes)

    @property  # type: ignore[misc]  # a class that is asked for, and never set
    def __class__(self) -> type:
        kind = type(self._value)
        if kind in HEADS:
            self._notes.note(self._path, self._value)
        return kind

    def bare(self) -> object:
        self._notes.note(self._path, self._value)
        return self._value

    def __eq__(self, other: object) -> bool:
        return self.bare() == bare(other)

    def __hash__(self) -> int:
        return hash(self.bare())


class _Items(tuple[object, ...]):  # noqa: SLOT001 - what is of variable size can have no slots of its own
    """A tuple that is watched, with watched members."""

    _values: tuple[object, ...]
    _path: str
    _notes: Notes

    def __new__(cls, values: tuple[object, ...], path: str, notes: Notes) -> "Self":
        made = super().__new__(cls, (_watched(each, f"{path}[{index}]", notes) for index, each in enumerate(values)))
        made._values, made._path, made._notes = values, path, notes
        return made

    def bare(self) -> tuple[object, ...]:
        self._notes.note(self._path, self._values)
        return self._values

    def __len__(self) -> int:
        return len(self.bare())

    def __iter__(self) -> Iterator[object]:
        self.bare()
        return super().__iter__()

    def __getitem__(self, index: SupportsIndex | slice) -> object:  # type: ignore[override]  # one for both
        if isinstance(index, slice):
            self.bare()
        elif not _has_parts(self._values[index]):
            self._notes.note(f"{self._path}[{range(len(self._values))[index]}]", self._values[index])
        return super().__getitem__(index)

    def __contains__(self, item: object) -> bool:
        return bare(item) in self.bare()

    def __eq__(self, other: object) -> bool:
        return self.bare() == bare(other)

    def __ne__(self, other: object) -> bool:
        return self.bare() != bare(other)

    def __hash__(self) -> int:
        return hash(self.bare())


class _Now(float):
    """The time, watched."""

    _notes: Notes

    def __new__(cls, now_s: float, notes: Notes) -> "Self":
        made = super().__new__(cls, now_s)
        made._notes = notes
        return made

    def bare(self) -> float:
        self._notes.note(NOW, float(self))
        return float(self)

    def __lt__(self, other: float) -> bool:
        return self.bare() < other

    def __le__(self, other: float) -> bool:
        return self.bare() <= other

    def __gt__(self, other: float) -> bool:
        return self.bare() > other

    def __ge__(self, other: float) -> bool:
        return self.bare() >= other

    def __sub__(self, other: float) -> float:
        return self.bare() - other


def watched_time(now_s: float, notes: Notes) -> float:
    """Return the time in such a way that it is noted where it is compared, or subtracted from."""
    return _Now(now_s, notes)


__all__ = ["NOW", "Notes", "Reading", "bare", "plain", "watched", "watched_time"]
