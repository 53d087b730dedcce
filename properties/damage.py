"""How documents are damaged: by their structure, and as bytes. All chance comes from a `Random`, so that any engine can drive it.

The values are those that programs trip over: numbers at the edges of types, texts that no terminal should see, trees too deep.
"""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random

Json = dict[str, object] | list[object] | str | int | float | bool | None
Place = tuple[str | int, ...]

NUMBERS: tuple[float, ...] = (
    0, 1, -1, -0.0, 0.1, 0.5, 3, 65535, 65536, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**400, -(10**400), 10**639,
    5e-324, 1e-9, 1e16, 253402300799.0, 253402300800.0, 1.7976931348623157e308, -1e308, float("inf"), float("-inf"), float("nan"),
)  # fmt: skip
TEXTS = (
    "", " ", "\0", "\n", "\r\n", "\t", "\x1b[31mred\x1b[0m", "\x9b2J", "\u202eevil", "\u2028", "\ufeff", "\U000e0001",
    "\ud800", "\udc80", "e\u0301", "\U0001fae8", "\u017fhop", "\u0130", "80/tcp", "080/tcp", "80/TCP", "\uff18\uff10/tcp",
    "65536/tcp", "{0}", "%s", "{until}", "../../etc", "/", "a" * 5000, "2026-11-30T07:00:00Z", "2026-11-30T24:00:00Z",
    "9999-12-31T23:59:59.999999999Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59", "0002-01-01T00:00:00+23:59",
    "c1", "boot-1", "shop", "web", "running",
)  # fmt: skip
"""Among them times at the edges of the calendar, ports that are none, blanks of the sentences, and what steers a terminal."""


def places(value: object, path: Place = ()) -> Iterator[Place]:
    """Yield the path of everything inside a value, itself first."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*path, key))


def at(value: object, place: Place) -> object:
    """Return what stands at a place."""
    for key in place:
        value = value[key]  # type: ignore[index]  # a place leads through objects and lists
    return value


def put(value: object, place: Place, item: object) -> object:
    """Return the value with something else at a place."""
    if not place:
        return item
    copied = deepcopy(value)
    at(copied, place[:-1])[place[-1]] = item  # type: ignore[index]  # likewise
    return copied


def anything(random: Random) -> object:
    """Return a value of any type."""
    match random.randrange(8):
        case 0:
            return random.choice((None, True, False))
        case 1 | 2 | 3:
            return random.choice(NUMBERS)
        case 4 | 5:
            return random.choice(TEXTS)
        case 6:
            return random.choice(([], {}, [[]], [{}], [None], {"": None}, {"seen": "gone"}))
        case _:
            return deep(random.randrange(1, 40))


def deep(levels: int) -> object:
    """Return lists in lists."""
    value: object = []
    for _ in range(levels):
        value = [value]
    return value


def _dropped(value: object, place: Place, _random: Random) -> object:
    parent = deepcopy(at(value, place[:-1]))
    del parent[place[-1]]  # type: ignore[attr-defined]  # a place leads through objects and lists
    return put(value, place[:-1], parent)


def _renamed(value: object, place: Place, random: Random) -> object:
    parent, key = at(value, place[:-1]), place[-1]
    if not isinstance(parent, dict):
        return _dropped(value, place, random)
    name = random.choice((f"{key}s", str(key)[:-1], str(key).upper(), random.choice(TEXTS)))
    return put(value, place[:-1], {name if each == key else each: item for each, item in parent.items()})


def _doubled(value: object, place: Place, random: Random) -> object:
    parent = at(value, place[:-1])
    if not isinstance(parent, list):
        return _replaced(value, place, random)
    return put(value, place[:-1], [*parent, *([at(value, place)] * random.choice((1, 2, 30)))])


def _replaced(value: object, place: Place, random: Random) -> object:
    return put(value, place, anything(random))


def _retyped(value: object, place: Place, random: Random) -> object:
    item = at(value, place)
    retyped = (str(item), [item], {"0": item}, len(str(item)), not item, None)
    return put(value, place, random.choice(retyped))


def _swapped(value: object, place: Place, random: Random) -> object:
    """Put there what stands somewhere else: most often something of its own type, so that the document can still be read."""
    kin = [each for each in places(value) if type(at(value, each)) is type(at(value, place))]
    other = random.choice(kin if random.random() < 0.8 else list(places(value)))
    return put(value, place, deepcopy(at(value, other)))


def _nudged(value: object, place: Place, random: Random) -> object:
    """Put a value of the same type there."""
    match at(value, place):
        case bool(item):
            return put(value, place, not item)
        case int() | float() as item:
            return put(value, place, random.choice((*(each for each in NUMBERS if type(each) is type(item)), item + 1, -item)))
        case str():
            return put(value, place, random.choice(TEXTS))
        case _:
            return _swapped(value, place, random)


def _strained(value: object, place: Place, random: Random) -> object:
    """Put other numbers of the same type in place of all that are inside there: what fits no sum, say."""
    beneath = [each for each in places(value) if each[: len(place)] == place]
    for each in beneath:
        if type(at(value, each)) in {int, float}:
            value = _nudged(value, each, random)
    return value


_WAYS: tuple[Callable[[object, Place, Random], object], ...] = (
    _dropped, _renamed, _doubled, _replaced, _retyped, _swapped, _nudged, _nudged, _nudged, _strained,
)  # fmt: skip


def crossed(value: object, other: object, random: Random) -> object:
    """Return the document with something of another one in place of what has the same key."""
    found = list(places(other))[1:]
    if not found:
        return value
    place = random.choice(found)
    kin = [each for each in places(value) if each and each[-1] == place[-1]]
    return put(value, random.choice(kin), deepcopy(at(other, place))) if kin else value


def damaged(value: object, random: Random, times: int) -> object:
    """Return the document with so many things in it changed."""
    for _ in range(times):
        inside = list(places(value))[1:]
        if not inside:
            return anything(random)
        value = random.choice(_WAYS)(value, random.choice(inside), random)
    return value


def written(value: object, random: Random) -> bytes:
    """Return the document as JSON, at times with a key that comes twice, in another encoding, or far too deep."""
    text = json.dumps(value, ensure_ascii=random.random() < 0.5)
    match random.randrange(12):
        case 0:
            text = text.replace("{", '{"app": "shop", "app": 1, ', random.choice((1, -1)))
        case 1:
            text = text.replace("[", "[" * 100_000, 1)
        case 2:
            return text.encode("utf-16", "surrogatepass")
        case 3:
            text = "\ufeff" + text
        case 4:
            text = text.replace(": ", ":\v ", 1)
        case _:
            pass
    return text.encode("utf-8", "surrogatepass")


def spoiled(data: bytes, random: Random) -> bytes:
    """Return the bytes cut short, flipped, spliced or with a stretch of them repeated."""
    if not data:
        return bytes(random.randrange(256) for _ in range(random.randrange(8)))
    start = random.randrange(len(data))
    match random.randrange(5):
        case 0:
            return data[:start]
        case 1:
            return data[:start] + bytes([data[start] ^ 1 << random.randrange(8)]) + data[start + 1 :]
        case 2:
            return data[:start] + bytes(random.randrange(256) for _ in range(3)) + data[start:]
        case 3:
            end = min(len(data), start + random.randrange(200))
            return data[:end] + data[start:end] * random.randrange(4) + data[end:]
        case _:
            other = random.randrange(len(data))
            return data[:start] + data[other:]
