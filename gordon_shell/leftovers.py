"""Containers that deploys left, or that bear a name which deploys give: as the law for candidates wants to see them. Pure."""

from collections.abc import Iterable, Mapping

from attrs import frozen

from gordon_core.deployment import Names, names
from gordon_core.observation import Seen, Status
from gordon_core.policy import DEFAULT_STOP_GRACE_S
from gordon_core.snapshot import Candidate, NamedAs, Subject
from gordon_shell.glances import Look
from gordon_shell.ports import DEPLOY_LABEL, OWNER_LABELS, Details, Journalled, Row, Service


@frozen(order=True)
class Unstarted:
    """A container that a deploy made, and did not come to write down; it never ran, and the next deploy removes it."""

    app: str
    service: str
    container_id: str
    name: str


def unstarted(rows: Iterable[Row], subjects: Iterable[Subject]) -> tuple[Unstarted, ...]:
    """Return what deploys left that were killed between making a container and writing it down: nothing names those."""
    named = {container_id for each in subjects for container_id in _named(each)}
    made = (each for each in rows if each.status is Status.CREATED and DEPLOY_LABEL in each.labels)
    app, service = OWNER_LABELS
    found = (Unstarted(each.labels.get(app, ""), each.labels.get(service, ""), each.container_id, each.name) for each in made)
    return tuple(sorted(each for each in found if each.container_id not in named and _is_in_the_way(each)))


def _is_in_the_way(left: Unstarted) -> bool:
    """Tell whether it bears a name of its service: only those does the next deploy look for."""
    return named_as(names(left.app, left.service), left.name) is not NamedAs.OTHER


def _named(subject: Subject) -> set[str]:
    declared = {subject.declared.container_id} if subject.declared is not None else set()
    return declared | {each.container_id for each in subject.superseded} | {each.container_id for each in subject.candidates}


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
