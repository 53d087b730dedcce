"""The host policy from its TOML file, strictly, and host paths with their symbolic links resolved.

Both are read anew before every start, so that a grant revoked, or a source that vanished, counts at once.
"""

import errno
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import platformdirs
from attrs import define, field

from gordon_core.grants import Grants, HostPolicy, Overrides, PathGrant, ResolvedMount, Scope, Source
from gordon_shell.errors import DocumentError, UsageError
from gordon_shell.ports import Mount

_HOST_FILE = Path("/etc/gordon/policy.toml")
_LARGEST_FILE = 1 << 20
_LONGEST_S = 366 * 86400
_MOST_FAILURES = 1_000_000
_GONE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_RECOVERY = (
    "free_failures", "ladder_s", "stable_window_s", "longest_gap_s", "unhealthy_threshold", "readiness_s", "shortest_deadline_s",
)  # fmt: skip


def standard_places() -> tuple[Path, ...]:
    """Return where the policy is looked for: the host's file, then, unless this is root, the user's own."""
    if os.geteuid() == 0:
        return (_HOST_FILE,)
    return (_HOST_FILE, platformdirs.user_config_path("gordon") / "policy.toml")


def policy_path(option: Path | None, places: tuple[Path, ...] | None = None) -> Path | None:
    """Return the file named by the option, else the first standard one that exists, else None: there is no policy.

    Raise UsageError if the named file does not exist, or if it cannot be told whether a standard one does.
    """
    if option is not None:
        if not _exists(option):
            message = f"{option}: there is no such policy file; name one that exists, or leave --policy away"
            raise UsageError(message)
        return option
    return next((each for each in (standard_places() if places is None else places) if _exists(each)), None)


def read_policy(path: Path) -> HostPolicy:
    """Read a policy file. Granted paths have their symbolic links resolved; durations are seconds.

    Raise UsageError if the file cannot be read, and DocumentError, with one line for every fault, if it says something else than
    a policy.
    """
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
    reader = _Reader(path)
    policy = HostPolicy(reader.scopes(document))
    if reader.faults:
        raise DocumentError("\n".join(reader.faults))
    return policy


def resolve(mounts: tuple[Mount, ...]) -> tuple[ResolvedMount, ...]:
    """Say where each mounted host path leads now, on this host, and whether it still exists."""
    return tuple(_resolved(each) for each in mounts)


def _resolved(mount: Mount) -> ResolvedMount:
    try:
        leads_to = os.path.realpath(mount.source, strict=True)
    except OSError as error:
        state = Source.VANISHED if error.errno in _GONE else Source.UNREAD
        return ResolvedMount(mount.source, os.path.realpath(mount.source), mount.read_only, state)
    return ResolvedMount(mount.source, leads_to, mount.read_only)


def _exists(path: Path) -> bool:
    """Tell whether there is such a file. One that this user may not see is an error: a policy is never taken for absent."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise _unreadable(path, error) from error
    return True


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(content) > _LARGEST_FILE:
        message = f"{path}: larger than 1 MiB; that is no policy"
        raise DocumentError(message)
    return content


def _unreadable(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path}: the policy cannot be read ({error.strerror}); make it a file that this user may read")


def _beneath(place: str, key: str) -> str:
    return f"{place}.{key}" if _BARE_KEY.fullmatch(key) else f'{place}["{key}"]'


_KINDS: Mapping[type, str] = {
    bool: "a boolean", dict: "a table", float: "a number", int: "a whole number", list: "an array", str: "a string",
}  # fmt: skip


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a date or time")


@define
class _Reader:
    """Turns what TOML says into values, and keeps every fault with its place."""

    path: Path
    faults: list[str] = field(factory=list)

    def wrong(self, place: str, what: str) -> None:
        self.faults.append(f"{self.path}: {place}: {what}")

    def scopes(self, document: dict[str, object]) -> list[Scope]:
        top = self.table(document, "$", ("recovery", "grants", "apps"))
        found = [self.scope(top, "$", "", "")]
        for app, value in self.named(top, "$", "apps"):
            place = _beneath("$.apps", app)
            table = self.table(value, place, ("recovery", "grants", "services"))
            found.append(self.scope(table, place, app, ""))
            for service, inner in self.named(table, place, "services"):
                beneath = _beneath(f"{place}.services", service)
                found.append(self.scope(self.table(inner, beneath, ("recovery", "grants")), beneath, app, service))
        return [each for each in found if each != Scope(each.app, each.service)]

    def scope(self, table: Mapping[str, object], place: str, app: str, service: str) -> Scope:
        grants = self.grants(table.get("grants", {}), f"{place}.grants")
        return Scope(app, service, grants, self.recovery(table.get("recovery", {}), f"{place}.recovery"))

    def table(self, value: object, place: str, known: tuple[str, ...]) -> Mapping[str, object]:
        if not isinstance(value, dict):
            self.wrong(place, f"must be a table, not {_kind(value)}")
            return {}
        for key in value:
            if key not in known:
                self.wrong(_beneath(place, key), f"is not known; known here: {', '.join(known)}")
        return value

    def named(self, table: Mapping[str, object], place: str, key: str) -> list[tuple[str, object]]:
        """Return the tables in a table whose keys are names of apps or services."""
        value = table.get(key, {})
        if not isinstance(value, dict):
            self.wrong(f"{place}.{key}", f"must be a table of names, not {_kind(value)}")
            return []
        if "" in value:
            self.wrong(f"{place}.{key}", "has an empty name; name the app or service")
        return [(name, inner) for name, inner in value.items() if name]

    def array(self, value: object, place: str) -> list[tuple[str, object]]:
        if not isinstance(value, list):
            self.wrong(place, f"must be an array, not {_kind(value)}")
            return []
        return [(f"{place}[{position}]", each) for position, each in enumerate(value)]

    def grants(self, value: object, place: str) -> Grants:
        table = self.table(value, place, ("paths", "devices"))
        paths = [self.path_grant(each, at) for at, each in self.array(table.get("paths", []), f"{place}.paths")]
        devices = [self.absolute(each, at) for at, each in self.array(table.get("devices", []), f"{place}.devices")]
        return Grants(tuple(each for each in paths if each), tuple(each for each in devices if each))

    def path_grant(self, value: object, place: str) -> PathGrant | None:
        table = self.table(value, place, ("path", "read_only"))
        if not isinstance(value, dict):
            return None
        read_only = table.get("read_only", True)
        if not isinstance(read_only, bool):
            self.wrong(f"{place}.read_only", f"must be true or false, not {_kind(read_only)}")
        if "path" not in table:
            self.wrong(place, "needs a path")
            return None
        path = self.absolute(table["path"], f"{place}.path")
        return PathGrant(os.path.realpath(path), bool(read_only)) if path else None

    def absolute(self, value: object, place: str) -> str:
        if not isinstance(value, str):
            self.wrong(place, f"must be a string, not {_kind(value)}")
            return ""
        if not value.startswith("/") or {".", ".."} & set(value.split("/")) or "\0" in value:
            self.wrong(place, f"must be an absolute path without . and .. in it, not {value!r}")
            return ""
        return value

    def recovery(self, value: object, place: str) -> Overrides:
        table = self.table(value, place, _RECOVERY)
        return Overrides(
            free_failures=self.count(table, place, "free_failures"),
            ladder_s=self.ladder(table, place),
            stable_window_s=self.duration(table, place, "stable_window_s"),
            longest_gap_s=self.duration(table, place, "longest_gap_s"),
            unhealthy_threshold=self.count(table, place, "unhealthy_threshold"),
            readiness_s=self.duration(table, place, "readiness_s", zero=True),
            shortest_deadline_s=self.duration(table, place, "shortest_deadline_s"),
        )

    def count(self, table: Mapping[str, object], place: str, key: str) -> int | None:
        value = table.get(key, 1)
        if isinstance(value, bool) or not isinstance(value, int):
            self.wrong(f"{place}.{key}", f"must be a whole number, not {_kind(value)}")
        elif not 1 <= value <= _MOST_FAILURES:
            self.wrong(f"{place}.{key}", f"must be from 1 to {_MOST_FAILURES}")
        elif key in table:
            return value
        return None

    def duration(self, table: Mapping[str, object], place: str, key: str, *, zero: bool = False) -> float | None:
        return self.seconds(table[key], f"{place}.{key}", zero=zero) if key in table else None

    def ladder(self, table: Mapping[str, object], place: str) -> tuple[float, ...] | None:
        if "ladder_s" not in table:
            return None
        steps = self.array(table["ladder_s"], f"{place}.ladder_s")
        if table["ladder_s"] == []:
            self.wrong(f"{place}.ladder_s", "must have at least one wait; write [60]")
        read = tuple(step for at, each in steps if (step := self.seconds(each, at)) is not None)
        return read or None

    def seconds(self, value: object, place: str, *, zero: bool = False) -> float | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.wrong(place, f"must be a number of seconds, not {_kind(value)}")
            return None
        if not 0 <= value <= _LONGEST_S or not (value or zero):
            self.wrong(place, f"must be a number of seconds {'from 0' if zero else 'above 0'} to {_LONGEST_S}")
            return None
        return float(value)
