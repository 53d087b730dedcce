"""Plain JSON data as values of the core, strictly: one reader for each type, made when it is first needed.

Reading coerces nothing but a whole number where any number will do, and names every fault of what it reads at once, each with its
path. Readers are plain closures, chosen by a `match`: a library for this, or code generated per class, would cost a command more
start-up than it could ever win back.
"""

from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
from typing import get_args, get_origin

from attrs import NOTHING, has

from gordon_core.observation import Port
from gordon_core.scalars import (
    MisfitError,
    Read,
    choice_reader,
    read_flag,
    read_moment,
    read_number,
    read_port,
    read_text,
    read_whole,
    refuse,
)
from gordon_core.shapes import (
    HEADS,
    DocumentFault,
    Moment,
    Repeating,
    Slot,
    choices,
    is_union,
    members,
    nearest,
    phrase,
    pieces,
    printable,
    quoted,
    shown,
    slots,
    step,
    tag,
)

MOST_FAULTS = 1000
"""Where a list or an object has so many faults, the rest of it is not looked at."""
LONGEST_WORDS = 300

_READERS: Mapping[object, Read] = {
    str: read_text,
    int: read_whole,
    float: read_number,
    bool: read_flag,
    Moment: read_moment,
    Port: read_port,
}


@cache
def reader(kind: object) -> Read:
    """Return what reads a value of this type. Raise TypeError for a type that no document holds."""
    match kind:
        case _ if kind in _READERS:
            return _READERS[kind]
        case _ if get_origin(kind) is tuple:
            return _list_reader(kind)
        case _ if is_union(kind):
            return _union_reader(kind)
        case type() if issubclass(kind, Enum):
            return choice_reader(kind)
        case type() if has(kind):
            return _class_reader(kind)
        case _:
            message = f"a document cannot hold {kind}"
            raise TypeError(message)


def _list_reader(kind: object) -> Read:
    read_member = reader(get_args(kind)[0])

    def read(value: object) -> tuple[object, ...]:
        if not isinstance(value, list):
            refuse("must be a list", value)
        items: list[object] = []
        faults: list[DocumentFault] = []
        for index, item in enumerate(value):
            try:
                items.append(read_member(item))
            except MisfitError as error:
                faults += error.under(f"[{index}]")
            if len(faults) >= MOST_FAULTS:
                break
        if faults:
            raise MisfitError(faults)
        return tuple(items)

    return read


def _union_reader(kind: object) -> Read:
    every = members(kind)
    read_some = _tagged_reader(every) if len(every) > 1 else reader(every[0])
    nullable = len(get_args(kind)) > len(every)

    def read(value: object) -> object:
        return None if value is None and nullable else read_some(value)

    return read


def _tagged_reader(every: tuple[type, ...]) -> Read:
    key = tag(every[0])
    by_name = {HEADS[each][key]: each for each in every}

    def read(value: object) -> object:
        table = _table(value)
        if key not in table:
            raise MisfitError((DocumentFault(step(key), f"is missing; it {choices(by_name)}"),))
        name = table[key]
        if not isinstance(name, str) or name not in by_name:
            refuse(choices(by_name), name, step(key))
        return reader(by_name[name])(table)

    return read


def _table(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        refuse("must be an object", value)
    return value


def _class_reader(kind: type) -> Read:
    readers: tuple[tuple[Slot, Read], ...] = tuple((each, reader(each.kind)) for each in slots(kind))
    keys = (*HEADS.get(kind, ()), *(each.key for each in slots(kind)))

    def read(value: object) -> object:
        table = _table(value)
        known, faults = _read_slots(readers, table)
        faults += _strange(table, keys)
        try:
            built = None if faults else kind(**known)
        except ValueError:
            built = None
        if built is None:
            refused = zip(_impossible(kind, table, known), range(MOST_FAULTS), strict=False)
            raise MisfitError((*faults, *(each for each, _ in refused)))
        return built

    return read


def _read_slots(
    readers: tuple[tuple[Slot, Read], ...], table: Mapping[str, object]
) -> tuple[dict[str, object], list[DocumentFault]]:
    known: dict[str, object] = {}
    faults: list[DocumentFault] = []
    for slot, read in readers:
        if slot.key in table:
            try:
                known[slot.name] = read(table[slot.key])
            except MisfitError as error:
                faults += error.under(step(slot.key))
        elif slot.default is NOTHING:
            faults.append(DocumentFault(step(slot.key), "is missing, and required"))
    return known, faults


def _strange(table: Mapping[str, object], keys: tuple[str, ...]) -> Iterator[DocumentFault]:
    repeated = table.repeated if isinstance(table, Repeating) else ()
    yield from (DocumentFault(step(each), "comes more than once; keep one") for each in repeated[:MOST_FAULTS])
    unknown = [each for each in table if each not in keys]
    for each in unknown[:MOST_FAULTS]:
        near = nearest(each, keys)
        yield DocumentFault(step(each), f"is not known here; {f'did you mean {quoted(near)}?' if near else 'leave it out'}")


def _impossible(kind: type, table: Mapping[str, object], known: Mapping[str, object]) -> Iterator[DocumentFault]:
    """Ask every validator of what could be read, where attrs would stop at the first no."""
    bare: object = object.__new__(kind)
    for slot in slots(kind):
        if slot.key not in table or slot.name in known:
            object.__setattr__(bare, slot.name, known.get(slot.name, slot.default))
    for slot in slots(kind):
        if slot.name in known and slot.attribute.validator is not None:
            yield from _refusals(bare, slot, known[slot.name])


def _refusals(bare: object, slot: Slot, value: object) -> Iterator[DocumentFault]:
    for path, piece, item in pieces(slot.attribute.validator, value):
        where = f"{step(slot.key)}{path}"
        try:
            piece(bare, slot.attribute, item)
        except ValueError as error:
            right = phrase(piece)
            yield DocumentFault(where, f"{right}; found {shown(item)}" if right else printable(str(error), LONGEST_WORDS))
        except AttributeError:
            continue  # it compares with a field that is itself at fault, and named for that
