"""What the host grants to workloads, and the recovery constants that it sets: the host policy as a value.

Paths are absolute, with symbolic links resolved by the shell; they are compared by their components. What a broader scope
grants, every narrower one has too; of recovery constants the narrowest scope that sets one decides it.
"""

from collections import Counter
from collections.abc import Iterable
from enum import Enum
from typing import TypeVar

from attrs import Attribute, field, frozen
from attrs.validators import matches_re

from gordon_core.policy import DEFAULT_POLICY, Policy, WhenUnhealthy

T = TypeVar("T")
_ABSOLUTE = matches_re(r"(?s)/.*")


class Source(Enum):
    """What became of a mounted host path since the container was created; UNREAD: this user may not look."""

    FOUND = "found"
    VANISHED = "vanished"
    UNREAD = "unread"


@frozen
class ResolvedMount:
    """A host path that a container mounts: as it was asked for, and where that leads, symbolic links resolved."""

    asked: str = field(validator=_ABSOLUTE)
    leads_to: str = field(validator=_ABSOLUTE)
    read_only: bool
    source: Source = Source.FOUND

    def __str__(self) -> str:
        """Print as the operator would grant it: /srv/data (read-write), which leads to /mnt/data."""
        access = "read-only" if self.read_only else "read-write"
        detour = "" if self.asked == self.leads_to else f", which leads to {self.leads_to},"
        return f"{self.asked} ({access}){detour}"


@frozen(order=True)
class PathGrant:
    """A host path, symbolic links resolved, that may be mounted, and everything beneath it."""

    path: str = field(validator=_ABSOLUTE)
    read_only: bool = True

    def covers(self, path: str) -> bool:
        """Tell whether this is the path, or one of the directories above it."""
        own = _components(self.path)
        return _components(path)[: len(own)] == own


@frozen
class Grants:
    """Host paths and host devices that may be used. A device is granted by the exact name that the container uses."""

    paths: tuple[PathGrant, ...] = ()
    devices: tuple[str, ...] = ()


def _first(chosen: T | None, otherwise: T) -> T:
    return otherwise if chosen is None else chosen


@frozen
class Overrides:
    """Recovery constants that a scope sets; None leaves one to the next broader scope. Units and limits are those of Policy."""

    free_failures: int | None = None
    ladder_s: tuple[float, ...] | None = None
    stable_window_s: float | None = None
    longest_gap_s: float | None = None
    unhealthy_threshold: int | None = None
    readiness_s: float | None = None
    shortest_deadline_s: float | None = None
    exit_0_is_done: bool | None = None
    unhealthy: WhenUnhealthy | None = None

    def __attrs_post_init__(self) -> None:
        """Refuse what Policy refuses, with its ValueError."""
        self.over(DEFAULT_POLICY)

    def over(self, policy: Policy) -> Policy:
        """Return the policy with the constants that are set here in place of its own."""
        return Policy(
            free_failures=_first(self.free_failures, policy.free_failures),
            ladder_s=_first(self.ladder_s, policy.ladder_s),
            stable_window_s=_first(self.stable_window_s, policy.stable_window_s),
            longest_gap_s=_first(self.longest_gap_s, policy.longest_gap_s),
            unhealthy_threshold=_first(self.unhealthy_threshold, policy.unhealthy_threshold),
            readiness_s=_first(self.readiness_s, policy.readiness_s),
            shortest_deadline_s=_first(self.shortest_deadline_s, policy.shortest_deadline_s),
            exit_0_is_done=_first(self.exit_0_is_done, policy.exit_0_is_done),
            unhealthy=_first(self.unhealthy, policy.unhealthy),
        )


SETS_NOTHING = Overrides()


@frozen
class Scope:
    """What the policy says of the host (no app), of an app (no service), or of one service."""

    app: str = ""
    service: str = field(default="")
    grants: Grants = Grants()
    recovery: Overrides = SETS_NOTHING

    @service.validator
    def _service_of_an_app(self, _attribute: "Attribute[str]", value: str) -> None:
        if value and not self.app:
            message = f"service {value} needs its app"
            raise ValueError(message)

    @property
    def place(self) -> str:
        """Return where the policy file says it: "" for the host, apps.shop, or apps.shop.services.web."""
        if not self.app:
            return ""
        return f"apps.{self.app}.services.{self.service}" if self.service else f"apps.{self.app}"

    def holds_for(self, app: str, service: str) -> bool:
        """Tell whether it speaks of this service, alone or among others."""
        return self.app in {"", app} and self.service in {"", service}


def _broadest_first(scopes: Iterable[Scope]) -> tuple[Scope, ...]:
    return tuple(sorted(scopes, key=lambda each: (each.app, each.service)))


@frozen
class HostPolicy:
    """The policy of the host. The order in which scopes are given does not matter; each is given once."""

    scopes: tuple[Scope, ...] = field(default=(), converter=_broadest_first)

    @scopes.validator
    def _scopes_once(self, _attribute: "Attribute[tuple[Scope, ...]]", value: tuple[Scope, ...]) -> None:
        repeated = [scope for scope, times in Counter((each.app, each.service) for each in value).items() if times > 1]
        if repeated:
            message = f"each scope once; repeated: {', '.join('/'.join(each) for each in repeated)}"
            raise ValueError(message)

    def scopes_of(self, app: str, service: str) -> tuple[Scope, ...]:
        """Return what speaks of this service: the host's, its app's, its own, as far as they exist."""
        return tuple(each for each in self.scopes if each.holds_for(app, service))


def missing(
    policy: HostPolicy | None, app: str, service: str, mounts: tuple[ResolvedMount, ...], devices: tuple[str, ...]
) -> tuple[str, ...]:
    """Return one clause for each thing that a start of the container would lack; none: it may be started.

    Without a policy, what the container was created with is granted; a source that vanished fails all the same.
    """
    vanished = tuple(f"{each.asked} does not exist any more" for each in mounts if each.source is Source.VANISHED)
    if policy is None:
        return vanished
    scopes = policy.scopes_of(app, service)
    paths = [grant for scope in scopes for grant in scope.grants.paths]
    granted = {device for scope in scopes for device in scope.grants.devices}
    refused = (_refusal(each, paths) for each in mounts)
    return (
        *vanished,
        *(clause for clause in refused if clause),
        *(f"{device} is not granted" for device in devices if device not in granted),
    )


def _refusal(mount: ResolvedMount, grants: list[PathGrant]) -> str:
    covering = [each for each in grants if each.covers(mount.leads_to)]
    if mount.source is Source.UNREAD:
        return f"{mount.asked} cannot be read by this user, so that what it leads to is not known"
    if not covering:
        return f"{mount} is not granted"
    if not mount.read_only and all(each.read_only for each in covering):
        return f"{mount} is granted read-only"
    return ""


def _components(path: str) -> list[str]:
    return [each for each in path.split("/") if each]
