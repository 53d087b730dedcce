"""Containers that deploys left, or that bear a name which deploys give: as the law for candidates wants to see them. Pure."""

from collections.abc import Mapping

from gordon_core.deployment import Names, names
from gordon_core.observation import Seen
from gordon_core.policy import DEFAULT_STOP_GRACE_S
from gordon_core.snapshot import Candidate, NamedAs
from gordon_shell.glances import Look
from gordon_shell.ports import OWNER_LABELS, Details, Journalled, Row, Service


def in_the_journal(service: Service, entry: Journalled, look: Look) -> Candidate:
    """Return a candidate that a deploy of this service wrote down."""
    name = look.container.name if isinstance(look, Details) and look.container.name else entry.name
    return Candidate(
        entry.container_id,
        seen(look),
        named_as(names(*service), name),
        owned=isinstance(look, Details) and is_owned(service, look.labels),
        journalled=True,
        exclusive=entry.exclusive,
        stop_grace_s=entry.stop_grace_s,
    )


def namesake(service: Service, row: Row, look: Look) -> Candidate:
    """Return a container that bears a name of this service, and stands in no journal."""
    return Candidate(
        row.container_id,
        seen(look),
        named_as(names(*service), row.name),
        owned=is_owned(service, row.labels),
        journalled=False,
        stop_grace_s=look.stop_grace_s if isinstance(look, Details) else DEFAULT_STOP_GRACE_S,
    )


def seen(look: Look) -> Seen:
    """Return what the core is told of a look."""
    return look.container if isinstance(look, Details) else look


def is_owned(service: Service, labels: Mapping[str, str]) -> bool:
    """Tell whether labels say that a deploy of this very service made it."""
    return tuple(labels.get(each) for each in OWNER_LABELS) == service


def named_as(own: Names, name: str) -> NamedAs:
    """Return which of the names that deploys give this is."""
    if name == own.canonical:
        return NamedAs.CANONICAL
    return NamedAs.TEMPORARY if name in own.temporary else NamedAs.OTHER
