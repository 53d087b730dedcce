"""Values of the core as plain JSON data: one writer for each type, made when it is first needed.

Writing leaves out fields equal to their default; `decoding` reads what is written here.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from typing import cast, get_args, get_origin

from attrs import has

from gordon_core.observation import Port
from gordon_core.scalars import write_moment
from gordon_core.shapes import HEADS, Moment, Slot, is_union, members, slots

Write = Callable[[object], object]
"""Returns JSON data for a value of the core."""


def _as_it_is(value: object) -> object:
    return value


def _choice(value: object) -> object:
    return cast("Enum", value).value


_WRITERS = cast(
    "Mapping[object, Write]",  # each is given values of its own type alone
    {str: _as_it_is, int: _as_it_is, float: float, bool: _as_it_is, Moment: write_moment, Port: str},
)


@cache
def writer(kind: object) -> Write:
    """Return what writes a value of this type. Raise TypeError for a type that no document holds."""
    match kind:
        case _ if kind in _WRITERS:
            return _WRITERS[kind]
        case _ if get_origin(kind) is tuple:
            return _list_writer(kind)
        case _ if is_union(kind):
            return _union_writer(kind)
        case type() if issubclass(kind, Enum):
            return _choice
        case type() if has(kind):
            return _class_writer(kind)
        case _:
            message = f"a document cannot hold {kind}"
            raise TypeError(message)


def _class_writer(kind: type) -> Write:
    writers: tuple[tuple[Slot, Write], ...] = tuple((each, writer(each.kind)) for each in slots(kind))
    head = HEADS.get(kind, {})

    def write(value: object) -> dict[str, object]:
        said = ((slot, write_slot, getattr(value, slot.name)) for slot, write_slot in writers)
        return {**head, **{slot.key: write_slot(item) for slot, write_slot, item in said if item != slot.default}}

    return write


def _list_writer(kind: object) -> Write:
    write_member = writer(get_args(kind)[0])
    return lambda value: [write_member(each) for each in cast("tuple[object, ...]", value)]


def _union_writer(kind: object) -> Write:
    every = members(kind)
    write_some = _member_writer(every) if len(every) > 1 else writer(every[0])
    return lambda value: None if value is None else write_some(value)


def _member_writer(every: tuple[type, ...]) -> Write:
    writers = {each: writer(each) for each in every}
    return lambda value: writers[type(value)](value)
