"""Values as JSON and back, strictly, for the columns of the state store and for its export.

Written for frozen attrs classes whose fields are str, int, float, bool, enums, tuples of one kind or of a fixed length, other
such classes, or any of these or None. Reading refuses unknown and missing keys, wrong types and what a validator refuses, and
names *every* fault with its path; a fault reads "$.services[0].declared.revision: expected a whole number, found text".
"""

import json
import sys
from collections import Counter
from collections.abc import Callable
from enum import Enum
from types import NoneType, UnionType
from typing import Final, TypeVar, get_args, get_origin

import attrs

from gordon_shell.errors import DocumentError

T = TypeVar("T")
_Read = Callable[[object, str, list[str]], object]
"""(value, path, faults) to what it means; appends to the faults what is wrong with it, and then returns nothing of use."""

_NAMES: Final[dict[type, tuple[str, ...]]] = {}
_READERS: Final[dict[object, _Read]] = {}
_LARGEST: Final = sys.float_info.max
_WORDS: Final = {dict: "an object", list: "a list", str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def plain(value: object) -> object:
    """Return the value in terms of dict, list, str, int, float, bool and None."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    if attrs.has(type(value)):
        return {name: plain(getattr(value, name)) for name in _names(type(value))}
    return value


def to_json(value: object, *, without: tuple[str, ...] = ()) -> str:
    """Return an attrs value as one line of JSON, without these fields and without what is as by default (see MIGRATIONS)."""
    kind: type = type(value)
    pairs = ((each, getattr(value, each.name)) for each in attrs.fields(kind) if each.name not in without)
    return json.dumps({each.name: plain(found) for each, found in pairs if found != each.default}, separators=(",", ":"))


def from_json(kind: type[T], text: str) -> T:
    """Return the value that `to_json` wrote. Raise DocumentError, naming every fault."""
    return build(kind, parse(text, own=True))


def parse(text: str, *, own: bool = False) -> object:
    """Return JSON text as plain values. Raise DocumentError where it is not JSON, nests too deeply, or repeats a key.

    What is our own is read twice as fast, without a look for repeated keys.
    """
    try:
        value: object = json.loads(text) if own else json.loads(text, object_pairs_hook=_each_key_once)
    except RecursionError as error:
        message = "$: nested too deeply"
        raise DocumentError(message) from error
    except ValueError as error:
        message = f"$: not JSON: {error}"
        raise DocumentError(message) from error
    return value


def build(kind: type[T], value: object) -> T:
    """Return the plain value as a value of this kind. Raise DocumentError, naming every fault."""
    faults: list[str] = []
    built = _reader(kind)(value, "$", faults)
    if faults or not isinstance(built, kind):
        raise DocumentError("; ".join(faults))
    return built


def _each_key_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counted = Counter(key for key, _ in pairs)
        message = f"the key {next(key for key, times in counted.items() if times > 1)!r} is there twice"
        raise ValueError(message)
    return found


def _names(kind: type) -> tuple[str, ...]:
    if kind not in _NAMES:
        _NAMES[kind] = tuple(each.name for each in attrs.fields(kind))
    return _NAMES[kind]


def _reader(kind: object) -> _Read:
    """Return what reads a value of this kind, made once."""
    if kind not in _READERS:
        _READERS[kind] = _make_reader(kind)
    return _READERS[kind]


def _make_reader(kind: object) -> _Read:
    if get_origin(kind) is tuple:
        *kinds, last = get_args(kind)
        return _tuple_reader(_reader(kinds[0])) if last is ... else _fixed_reader(tuple(map(_reader, (*kinds, last))))
    if isinstance(kind, UnionType):
        (some,) = (each for each in get_args(kind) if each is not NoneType)
        return _optional_reader(_reader(some))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _enum_reader(kind)
    if isinstance(kind, type) and attrs.has(kind):
        return _object_reader(kind)
    if kind is float:
        return _read_float
    return _scalar_reader(kind)


def _scalar_reader(kind: object) -> _Read:
    def read(value: object, path: str, faults: list[str]) -> object:
        if type(value) is not kind:
            faults.append(f"{path}: expected {_WORDS[kind]}, found {_found(value)}")  # type: ignore[index]  # a scalar by now
        return value

    return read


def _read_float(value: object, path: str, faults: list[str]) -> object:
    if type(value) is not int and type(value) is not float:
        faults.append(f"{path}: expected a number, found {_found(value)}")
    elif abs(value) <= _LARGEST:
        return float(value)
    else:
        faults.append(f"{path}: expected a finite number of at most {_LARGEST:.1e}")
    return None


def _optional_reader(some: _Read) -> _Read:
    return lambda value, path, faults: None if value is None else some(value, path, faults)


def _enum_reader(kind: type[Enum]) -> _Read:
    members: dict[object, Enum] = {each.value: each for each in kind}

    def read(value: object, path: str, faults: list[str]) -> object:
        found = members.get(value) if isinstance(value, str) else None
        if found is None:
            faults.append(f"{path}: expected one of {', '.join(map(str, members))}, found {_found(value)}")
        return found

    return read


def _tuple_reader(one: _Read) -> _Read:
    def read(value: object, path: str, faults: list[str]) -> object:
        if isinstance(value, list):
            return tuple([one(each, f"{path}[{index}]", faults) for index, each in enumerate(value)])
        faults.append(f"{path}: expected a list, found {_found(value)}")
        return None

    return read


def _fixed_reader(readers: tuple[_Read, ...]) -> _Read:
    def read(value: object, path: str, faults: list[str]) -> object:
        if isinstance(value, list) and len(value) == len(readers):
            return tuple([one(value[index], f"{path}[{index}]", faults) for index, one in enumerate(readers)])
        found = f"one of {len(value)}" if isinstance(value, list) else _found(value)
        faults.append(f"{path}: expected a list of {len(readers)}, found {found}")
        return None

    return read


def _object_reader(kind: type) -> _Read:
    fields = attrs.fields(kind)
    readers = {each.name: _reader(each.type) for each in fields}
    required = {each.name for each in fields if each.default is attrs.NOTHING}

    def read(value: object, path: str, faults: list[str]) -> object:
        if not isinstance(value, dict):
            faults.append(f"{path}: expected an object, found {_found(value)}")
            return None
        before = len(faults)
        known = {}
        for key, each in value.items():
            if key in readers:
                known[key] = readers[key](each, f"{path}.{key}", faults)
            else:
                faults.append(f"{path}.{key}: unknown key")
        if not required <= known.keys():
            faults.extend(f"{path}.{name}: missing" for name in sorted(required - known.keys()))
        return _construct(kind, known, path, faults) if len(faults) == before else None

    return read


def _construct(kind: type, known: dict[str, object], path: str, faults: list[str]) -> object:
    try:
        built: object = kind(**known)
    except (ValueError, TypeError):
        faults.extend(_refusals(kind, known, path))
        return None
    return built


def _refusals(kind: type, known: dict[str, object], path: str) -> list[str]:
    """Ask every validator, where attrs stops at the first that refuses."""
    unchecked: object = object.__new__(kind)
    fields = attrs.fields(kind)
    for each in fields:
        object.__setattr__(unchecked, each.name, known.get(each.name, each.default))
    found = []
    for each in fields:
        try:
            if each.validator is not None:
                each.validator(unchecked, each, getattr(unchecked, each.name))
        except (ValueError, TypeError) as error:
            found.append(f"{path}.{each.name}: {error.args[0]}")
    return found


def _found(value: object) -> str:
    if value is None:
        return "null"
    return repr(value) if isinstance(value, str) and len(value) < 40 else _WORDS[type(value)]  # noqa: PLR2004 - a line's worth
