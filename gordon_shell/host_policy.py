"""The host policy from its TOML file, strictly, and host paths with their symbolic links resolved.

Both are read anew before every start, so that a grant revoked, or a source that vanished, counts at once.
"""

import errno
import os
from collections.abc import Mapping
from pathlib import Path

import platformdirs
from attrs import define

from gordon_core.grants import Grants, HostPolicy, Overrides, PathGrant, ResolvedMount, Scope, Source
from gordon_core.policy import WhenUnhealthy
from gordon_core.tuning import CONSTANTS, MOST_FAILURES
from gordon_shell.errors import DocumentError, UsageError
from gordon_shell.ports import Mount
from gordon_shell.toml_reader import TomlReader, beneath, kind, read_toml, unreadable

_HOST_FILE = Path("/etc/gordon/policy.toml")
SETTINGS = ("journal", "notices", "metrics")
"""Tables in the same file that are no policy, and that `host_settings` reads."""
_GONE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}


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
    document = read_toml(path)
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
        raise unreadable(path, error) from error
    return True


@define
class _Reader(TomlReader):
    """Turns what TOML says into a policy, and keeps every fault with its place."""

    def scopes(self, document: dict[str, object]) -> list[Scope]:
        top = self.table(document, "$", ("recovery", "grants", "apps", *SETTINGS))
        found = [self.scope(top, "$", "", "")]
        for app, value in self.named(top, "$", "apps"):
            place = beneath("$.apps", app)
            table = self.table(value, place, ("recovery", "grants", "services"))
            found.append(self.scope(table, place, app, ""))
            for service, inner in self.named(table, place, "services"):
                inside = beneath(f"{place}.services", service)
                found.append(self.scope(self.table(inner, inside, ("recovery", "grants")), inside, app, service))
        return [each for each in found if each != Scope(each.app, each.service)]

    def scope(self, table: Mapping[str, object], place: str, app: str, service: str) -> Scope:
        grants = self.grants(table.get("grants", {}), f"{place}.grants")
        return Scope(app, service, grants, self.recovery(table.get("recovery", {}), f"{place}.recovery"))

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
            self.wrong(f"{place}.read_only", f"must be true or false, not {kind(read_only)}")
        if "path" not in table:
            self.wrong(place, "needs a path")
            return None
        path = self.absolute(table["path"], f"{place}.path")
        return PathGrant(os.path.realpath(path), bool(read_only)) if path else None

    def absolute(self, value: object, place: str) -> str:
        if not isinstance(value, str):
            self.wrong(place, f"must be a string, not {kind(value)}")
            return ""
        if not value.startswith("/") or {".", ".."} & set(value.split("/")) or "\0" in value:
            self.wrong(place, f"must be an absolute path without . and .. in it, not {value!r}")
            return ""
        return value

    def recovery(self, value: object, place: str) -> Overrides:
        table = self.table(value, place, CONSTANTS)
        return Overrides(
            free_failures=self.count(table, place, "free_failures"),
            ladder_s=self.ladder(table, place),
            stable_window_s=self.duration(table, place, "stable_window_s"),
            longest_gap_s=self.duration(table, place, "longest_gap_s"),
            unhealthy_threshold=self.count(table, place, "unhealthy_threshold"),
            readiness_s=self.duration(table, place, "readiness_s", zero=True),
            shortest_deadline_s=self.duration(table, place, "shortest_deadline_s"),
            exit_0_is_done=self.flag(table, place, "exit_0_is_done"),
            unhealthy=self.when_unhealthy(table, place),
        )

    def flag(self, table: Mapping[str, object], place: str, key: str) -> bool | None:
        value = table.get(key)
        if value is None or isinstance(value, bool):
            return value
        self.wrong(f"{place}.{key}", f"must be true or false, not {kind(value)}")
        return None

    def when_unhealthy(self, table: Mapping[str, object], place: str) -> WhenUnhealthy | None:
        known: dict[object, WhenUnhealthy] = {each.value: each for each in WhenUnhealthy}
        value = table.get("unhealthy")
        if isinstance(value, str) and value in known:
            return known[value]
        if value is not None:
            found = repr(value) if isinstance(value, str) else kind(value)
            self.wrong(f"{place}.unhealthy", f"must be {' or '.join(map(repr, known))}, not {found}")
        return None

    def count(self, table: Mapping[str, object], place: str, key: str) -> int | None:
        value = table.get(key, 1)
        if isinstance(value, bool) or not isinstance(value, int):
            self.wrong(f"{place}.{key}", f"must be a whole number, not {kind(value)}")
        elif not 1 <= value <= MOST_FAILURES:
            self.wrong(f"{place}.{key}", f"must be from 1 to {MOST_FAILURES}")
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
