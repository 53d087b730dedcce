"""Fields of the engine's JSON, by name and type: pure, and free of docker-py.

A field that is missing or null has its zero value, as in the engine's own program; one of the wrong type raises ValueError,
since then this is not the answer of a Docker engine. What it says names the field and its type, and never the value.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

Table = Mapping[str, object]
T = TypeVar("T")


def expect(value: object, kind: type[T], what: str) -> T:
    """Return the value, if it is of that kind. Raise ValueError."""
    if isinstance(value, kind):
        return value
    message = f"{what} is a {type(value).__name__}, not a {kind.__name__}"
    raise ValueError(message)


def tables(value: object, what: str) -> Sequence[Table]:
    """Return a list of tables. Raise ValueError."""
    return [expect(each, dict, f"an entry of {what}") for each in expect(value, list, what)]


def list_at(table: Table, key: str) -> Sequence[Table]:
    """Return the list of tables at a key. Raise ValueError."""
    return tables(value_at(table, key, []), key)


def texts_at(table: Table, key: str) -> tuple[str, ...]:
    """Return the list of texts at a key. Raise ValueError."""
    return tuple(expect(each, str, f"an entry of {key}") for each in expect(value_at(table, key, []), list, key))


def table_at(table: Table, key: str) -> Table:
    """Return the table at a key. Raise ValueError."""
    return expect(value_at(table, key, {}), dict, key)


def text_at(table: Table, key: str) -> str:
    """Return the text at a key. Raise ValueError."""
    return expect(value_at(table, key, ""), str, key)


def number_at(table: Table, key: str) -> int:
    """Return the whole number at a key. Raise ValueError."""
    return expect(value_at(table, key, 0), int, key)


def value_at(table: Table, key: str, zero: object) -> object:
    """Return what is at a key, or the zero value where that is missing or null."""
    value = table.get(key)
    return zero if value is None else value


def digits(text: str) -> int:
    """Return the number that a text is, or 0."""
    return int(text) if text.isascii() and text.isdigit() else 0


def is_port(number: int) -> bool:
    """Tell whether a number can be that of a port."""
    return 1 <= number <= 65535  # noqa: PLR2004 - the range of a port
