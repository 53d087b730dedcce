"""TOML files strictly: the file as a document, and a reader of its values that keeps every fault with its place."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from attrs import define, field

from gordon_shell.errors import DocumentError, UsageError

LONGEST_S = 366 * 86400
_LARGEST_FILE = 1 << 20
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def read_toml(path: Path) -> dict[str, object]:
    """Return what the file says. Raise UsageError if it cannot be read, and DocumentError if it is no TOML."""
    content = _content(path)
    try:
        document: dict[str, object] = tomllib.loads(content.decode())
    except UnicodeDecodeError as error:
        message = f"{path}: not UTF-8 at byte {error.start}; write it as a UTF-8 text"
        raise DocumentError(message) from error
    except RecursionError as error:
        message = f"{path}: nested too deeply; a policy needs at most six levels"
        raise DocumentError(message) from error
    except ValueError as error:
        message = f"{path}: not TOML: {error}"
        raise DocumentError(message) from error
    return document


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(content) > _LARGEST_FILE:
        message = f"{path}: larger than 1 MiB; that is no policy"
        raise DocumentError(message)
    return content


def unreadable(path: Path, error: OSError) -> UsageError:
    """Return what to say of a policy file that cannot be read."""
    return UsageError(f"{path}: the policy cannot be read ({error.strerror}); make it a file that this user may read")


def beneath(place: str, key: str) -> str:
    """Return the place of a key in a table."""
    return f"{place}.{key}" if _BARE_KEY.fullmatch(key) else f'{place}["{key}"]'


_KINDS: Mapping[type, str] = {
    bool: "a boolean", dict: "a table", float: "a number", int: "a whole number", list: "an array", str: "a string",
}  # fmt: skip


def kind(value: object) -> str:
    """Return what TOML calls such a value."""
    return _KINDS.get(type(value), "a date or time")


@define
class TomlReader:
    """Turns what TOML says into values, and keeps every fault with its place."""

    path: Path
    faults: list[str] = field(factory=list)

    def wrong(self, place: str, what: str) -> None:
        """Keep a fault."""
        self.faults.append(f"{self.path}: {place}: {what}")

    def table(self, value: object, place: str, known: tuple[str, ...]) -> Mapping[str, object]:
        """Return a table of which these keys are known."""
        if not isinstance(value, dict):
            self.wrong(place, f"must be a table, not {kind(value)}")
            return {}
        for key in value:
            if key not in known:
                self.wrong(beneath(place, key), f"is not known; known here: {', '.join(known)}")
        return value

    def named(self, table: Mapping[str, object], place: str, key: str) -> list[tuple[str, object]]:
        """Return the tables in a table whose keys are names of apps or services."""
        value = table.get(key, {})
        if not isinstance(value, dict):
            self.wrong(f"{place}.{key}", f"must be a table of names, not {kind(value)}")
            return []
        if "" in value:
            self.wrong(f"{place}.{key}", "has an empty name; name the app or service")
        return [(name, inner) for name, inner in value.items() if name]

    def array(self, value: object, place: str) -> list[tuple[str, object]]:
        """Return the values of an array, each with its place."""
        if not isinstance(value, list):
            self.wrong(place, f"must be an array, not {kind(value)}")
            return []
        return [(f"{place}[{position}]", each) for position, each in enumerate(value)]

    def seconds(self, value: object, place: str, *, zero: bool = False) -> float | None:
        """Return a duration above 0, or from 0, to a year."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.wrong(place, f"must be a number of seconds, not {kind(value)}")
            return None
        if not 0 <= value <= LONGEST_S or not (value or zero):
            self.wrong(place, f"must be a number of seconds {'from 0' if zero else 'above 0'} to {LONGEST_S}")
            return None
        return float(value)
