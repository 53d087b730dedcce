"""How the types of the core look in a document: the keys of each class, the tags of each union, the words for what is wrong.

An object of a document holds the fields of one class, in their order. Fields that do not take part in equality are derived, and
no part of a document. A member of a union says which one it is in its first key.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import NewType, cast, get_args

from attrs import Attribute, AttrsInstance, asdict, fields, frozen, has

from gordon_core.effects import Done, Effect, Refused, Unknown
from gordon_core.observation import Clock, Container, Gone, RouteSeen, RouteUnread, Unread
from gordon_core.printing import escaped
from gordon_core.record import PlanRecord
from gordon_core.snapshot import Hold, Snapshot

SNAPSHOT = "gordon-snapshot"
PLAN = "gordon-plan"
VERSION = 1

Moment = NewType("Moment", float)
"""Seconds since 1970, in a document an RFC 3339 time in UTC with as many digits as make it exact."""

Validate = Callable[[object, object, object], object]
"""A validator, called with the instance, the attribute and the value."""

_PRINTED = 60
_COMPARED = {">=": "minimum", ">": "exclusiveMinimum", "<=": "maximum", "<": "exclusiveMaximum"}


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).removeprefix("_")


HEADS: Mapping[type, Mapping[str, str | int]] = {
    Snapshot: {"document": SNAPSHOT, "version": VERSION},
    PlanRecord: {"document": PLAN, "version": VERSION},
    Container: {"seen": "container"},
    Gone: {"seen": "gone"},
    Unread: {"seen": "unread"},
    RouteSeen: {"route": "seen"},
    RouteUnread: {"route": "unread"},
    **{each: {"effect": _snake(each.__name__)} for each in get_args(Effect)},
    **{each: {"outcome": _snake(each.__name__)} for each in (Done, Refused, Unknown)},
}
"""What an object says first, before its fields: which document it is, or which member of its union."""

_KEYS: Mapping[tuple[type, str], str] = {
    (Snapshot, "subjects"): "services", (Clock, "wall_s"): "wall", (Hold, "until_wall_s"): "until_wall",
}  # fmt: skip
_KINDS: Mapping[tuple[type, str], object] = {(Clock, "wall_s"): Moment, (Hold, "until_wall_s"): Moment}
_UNION = type(int | str)


@frozen
class DocumentFault:
    """One thing wrong with a document: where (`$.services[3].declared.ports[0]`), and what, with what would be right."""

    path: str
    wrong: str

    def __str__(self) -> str:
        """Print as one line."""
        return f"{self.path}: {self.wrong}"


class Repeating(dict[str, object]):
    """An object of a document in which some keys came more than once; `repeated` names them, each once."""

    repeated: tuple[str, ...] = ()


@frozen
class Huge:
    """Stands for a whole number with too many digits to be read."""

    digits: int


@frozen
class Slot:
    """One field of a class as a key of its object. `default` is attrs' NOTHING where the key is required."""

    name: str
    key: str
    kind: object
    default: object
    attribute: "Attribute[object]"


@cache
def slots(of: type) -> tuple[Slot, ...]:
    """Return what a document says of such a value, in order."""
    return tuple(
        Slot(each.name, _KEYS.get((of, each.name), each.name), _KINDS.get((of, each.name), each.type), each.default, each)
        for each in fields(of)
        if each.eq
    )


def is_union(kind: object) -> bool:
    """Tell whether this is a union, or a value that may be null."""
    return isinstance(kind, _UNION)


def members(kind: object) -> tuple[type, ...]:
    """Return the members of a union, without None."""
    return tuple(each for each in get_args(kind) if each is not type(None))


def tag(member: type) -> str:
    """Return the key in which a member of a union says which one it is."""
    return next(iter(HEADS[member]))


def parts(validator: object) -> Mapping[str, object]:
    """Return what an attrs validator was made of, by name; nothing for a function."""
    return asdict(cast("AttrsInstance", validator), recurse=False) if has(type(validator)) else {}


def pieces(validator: object, value: object, path: str = "") -> Iterator[tuple[str, Validate, object]]:
    """Take a validator apart into single ones, each with the path and the value that it looks at."""
    match parts(validator), value:
        case {"_validators": tuple(every)}, _:
            for each in every:
                yield from pieces(each, value, path)
        case {"member_validator": member}, tuple(items):
            for index, item in enumerate(items):
                yield from pieces(member, item, f"{path}[{index}]")
        case _:
            yield path, cast("Validate", validator), value


def limits(validator: object, kind: object) -> dict[str, object]:
    """Return the limits that a validator sets to such a value, in the words of JSON Schema; those it cannot say are left out."""
    match parts(validator):
        case {"_validators": tuple(every)}:
            return {key: value for each in every for key, value in limits(each, kind).items()}
        case {"member_validator": member}:
            return {"items": limits(member, None)}
        case {"compare_op": str(comparison), "bound": bound}:
            return {_COMPARED[comparison]: bound}
        case {"min_length": least}:
            return {"minLength" if kind is str else "minItems": least}
        case {"pattern": object(pattern=pattern)}:
            return {"pattern": f"^{pattern}$"}
        case _:
            return {}


def phrase(piece: object) -> str:
    """Return what a single validator demands, in words; "" where only the validator itself can tell."""
    match limits(piece, None):
        case {"minimum": bound}:
            return f"must be at least {bound}"
        case {"exclusiveMinimum": bound}:
            return f"must be above {bound}"
        case {"maximum": bound}:
            return f"must be at most {bound}"
        case {"minItems": 1}:
            return "must not be empty"
        case {"pattern": pattern}:
            return f"must match {pattern}"
        case _:
            return ""


def printable(text: str, most: int) -> str:
    """Return a text fit for one line of a terminal: of `most` characters, with escapes for what does not print."""
    short = text if len(text) <= most else f"{text[:most]}..."
    return escaped(short)


def quoted(text: str) -> str:
    """Return a text of a document as it is shown in a fault: in quotes, printable, cut short."""
    return f'"{printable(text, _PRINTED)}"'


def shown(value: object) -> str:
    """Return a value of a document as it is shown in a fault."""
    match value:
        case None | True | False:
            return {None: "null", True: "true", False: "false"}[value]
        case str():
            return quoted(value)
        case Huge():
            return f"a number of {value.digits} digits"
        case int() | float():
            return printable(str(value), _PRINTED)
        case dict():
            return "an object"
        case _:
            return "a list"


def step(key: str) -> str:
    """Return the step of a path that leads to a key."""
    return f".{key}" if key.isascii() and key.isidentifier() and len(key) <= _PRINTED else f"[{quoted(key)}]"


def choices(values: Iterable[object]) -> str:
    """Return the phrase for a value that must be one of these texts."""
    every = [quoted(str(value)) for value in values]
    return f"must be one of {', '.join(every)}" if len(every) > 1 else f"must be {every[0]}"


def nearest(word: str, words: Iterable[str]) -> str | None:
    """Return the word that somebody who wrote `word` most likely meant: at most two letters off, and not half of it."""
    near = [(distance, each) for each in words if (distance := _distance(word, each)) <= min(2, len(each) // 2)]
    return min(near)[1] if near else None


def _distance(left: str, right: str) -> int:
    if abs(len(left) - len(right)) > 2:  # noqa: PLR2004 - nearer than that it cannot be, and long keys cost no time
        return len(left) + len(right)
    row = list(range(len(right) + 1))
    for above, one in enumerate(left, 1):
        row = _next_row(row, above, one, right)
    return row[-1]


def _next_row(row: list[int], above: int, one: str, right: str) -> list[int]:
    following = [above]
    for index, other in enumerate(right):
        following.append(min(row[index + 1] + 1, following[index] + 1, row[index] + (one != other)))
    return following
