"""Values of the core as plain JSON data and back, strictly: the hooks to which cattrs dispatches by type.

Writing leaves out fields equal to their default. Reading coerces nothing but a whole number where any number will do, and names
every fault of what it reads at once, each with its path. The hooks are plain closures: code generated per class would cost a
command more start-up than it could ever win back.
"""

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache
from typing import get_args, get_origin

from attrs import NOTHING, has
from cattrs import BaseConverter

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
    write_moment,
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

Write = Callable[[object], object]


def _list_reader(kind: object, made: BaseConverter) -> Read:
    member = get_args(kind)[0]
    read_member: Read = made.get_structure_hook(member)

    def read(value: object, _kind: object) -> tuple[object, ...]:
        if not isinstance(value, list):
            refuse("must be a list", value)
        items: list[object] = []
        faults: list[DocumentFault] = []
        for index, item in enumerate(value):
            try:
                items.append(read_member(item, member))
            except MisfitError as error:
                faults += error.under(f"[{index}]")
            if len(faults) >= MOST_FAULTS:
                break
        if faults:
            raise MisfitError(faults)
        return tuple(items)

    return read


def _union_reader(kind: object, made: BaseConverter) -> Read:
    every = members(kind)
    read_some = _tagged_reader(every, made) if len(every) > 1 else made.get_structure_hook(every[0])
    nullable = len(get_args(kind)) > len(every)

    def read(value: object, _kind: object) -> object:
        return None if value is None and nullable else read_some(value, every[0])

    return read


def _tagged_reader(every: tuple[type, ...], made: BaseConverter) -> Read:
    key = tag(every[0])
    by_name = {HEADS[each][key]: each for each in every}

    def read(value: object, _kind: object) -> object:
        table = _table(value)
        if key not in table:
            raise MisfitError((DocumentFault(step(key), f"is missing; it {choices(by_name)}"),))
        name = table[key]
        if not isinstance(name, str) or name not in by_name:
            refuse(choices(by_name), name, step(key))
        return made.structure(table, by_name[name])

    return read


def _table(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        refuse("must be an object", value)
    return value


def _class_reader(kind: type, made: BaseConverter) -> Read:
    readers: tuple[tuple[Slot, Read], ...] = tuple((each, made.get_structure_hook(each.kind)) for each in slots(kind))
    keys = (*HEADS.get(kind, ()), *(each.key for each in slots(kind)))

    def read(value: object, _kind: object) -> object:
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
                known[slot.name] = read(table[slot.key], slot.kind)
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


def _class_writer(kind: type, made: BaseConverter) -> Write:
    writers: tuple[tuple[Slot, Write], ...] = tuple((each, made.get_unstructure_hook(each.kind)) for each in slots(kind))
    head = HEADS.get(kind, {})

    def write(value: object) -> dict[str, object]:
        said = ((slot, write_slot, getattr(value, slot.name)) for slot, write_slot in writers)
        return {**head, **{slot.key: write_slot(item) for slot, write_slot, item in said if item != slot.default}}

    return write


def _list_writer(kind: object, made: BaseConverter) -> Callable[[tuple[object, ...]], list[object]]:
    write_member: Write = made.get_unstructure_hook(get_args(kind)[0])
    return lambda value: [write_member(each) for each in value]


def _union_writer(kind: object, made: BaseConverter) -> Write:
    every = members(kind)
    write_one: Write = made.get_unstructure_hook(every[0]) if len(every) == 1 else made.unstructure
    return lambda value: None if value is None else write_one(value)


def _is_list(kind: object) -> bool:
    return get_origin(kind) is tuple


def _is_choice(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


def _is_moment(kind: object) -> bool:
    return kind is Moment


@cache
def converter() -> BaseConverter:
    """Return the one converter; it is made when it is first needed, and so is each hook."""
    made = BaseConverter()
    made.register_structure_hook_factory(has, lambda kind: _class_reader(kind, made))
    made.register_structure_hook_factory(is_union, lambda kind: _union_reader(kind, made))
    made.register_structure_hook_factory(_is_list, lambda kind: _list_reader(kind, made))
    made.register_structure_hook_factory(_is_choice, choice_reader)
    made.register_structure_hook_func(_is_moment, read_moment)
    made.register_structure_hook(str, read_text)
    made.register_structure_hook(int, read_whole)
    made.register_structure_hook(float, read_number)
    made.register_structure_hook(bool, read_flag)
    made.register_structure_hook(Port, read_port)
    made.register_unstructure_hook_factory(has, lambda kind: _class_writer(kind, made))
    made.register_unstructure_hook_factory(is_union, lambda kind: _union_writer(kind, made))
    made.register_unstructure_hook_factory(_is_list, lambda kind: _list_writer(kind, made))
    made.register_unstructure_hook_func(_is_moment, write_moment)
    made.register_unstructure_hook(float, float)
    made.register_unstructure_hook(Port, str)
    return made
