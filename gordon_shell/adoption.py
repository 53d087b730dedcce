"""From containers to what ACTIVE is to declare of them: pure functions over what the engine and the store told.

What an operator said once stays said: a service that was adopted as unpublished, or with an HTTP check, keeps that when it is
adopted again, until it is said otherwise.
"""

from collections.abc import Iterable

from attrs import evolve, frozen

from gordon_core.observation import Container, HealthStatus, Port, PortBinding, Status, reachable
from gordon_core.sentences import duration
from gordon_core.snapshot import Declared, HttpCheck
from gordon_core.tuning import of_labels
from gordon_shell.errors import UsageError
from gordon_shell.http_checks import http_check, tcp_numbers
from gordon_shell.ports import Details, Marker, Stored
from gordon_shell.wishes import Wish

_BOUND = frozenset({Status.RUNNING, Status.PAUSED})
_DOWN = frozenset({Status.CREATED, Status.EXITED, Status.DEAD, Status.STOPPED})


@frozen
class Adoption:
    """What ACTIVE is to declare for a service. `former` is what it declares now; the same object: nothing changed.

    `superseded` is the marker of the container that it replaces. `notes` are clauses that the operator should know.
    """

    app: str
    service: str
    container: Container
    declared: Declared
    former: Declared | None = None
    superseded: Marker | None = None
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return app/service."""
        return f"{self.app}/{self.service}"

    @property
    def is_unchanged(self) -> bool:
        """Return whether ACTIVE says all this already."""
        return self.declared is self.former

    def in_words(self) -> str:
        """Return what is declared, in one sentence."""
        declared, seen = self.declared, self.container
        verb = "unchanged," if self.is_unchanged else "adopted"
        ports = " and ".join(map(str, declared.ports))
        routed = f"publishes {ports}" if declared.published else f"unpublished{f', probed at {ports}' if ports else ''}"
        parts = [f"{verb} container {seen.name or 'without a name'} ({seen.container_id[:12]})", f"revision {declared.revision}"]
        parts.append(routed)
        if declared.http is not None:
            parts.append(f"ready when GET {declared.http.path} at {declared.http.port}/tcp answers")
        if seen.health.status is not HealthStatus.NONE:
            parts.append("with its health check")
        parts.append(f"{duration(declared.stop_grace_s)} to stop in")
        return f"{self.name}: {', '.join(parts)}"


def adoption(app: str, wish: Wish, details: Details, known: tuple[Stored, ...], *, keep_old: bool) -> Adoption:
    """Return what adopting this container means. `known` is all that the store holds.

    Raise UsageError: the container belongs to another service already, is being removed, or cannot be declared as wished.
    """
    seen = details.container
    refuse_claimed(app, wish.service, seen, known)
    if seen.status is Status.REMOVING:
        message = f"container {wish.container} is being removed; adopt the one that takes its place"
        raise UsageError(message)
    stored = next((each for each in known if (each.app, each.service) == (app, wish.service)), None)
    former = stored.declared if stored is not None else None
    declared = _declared(app, wish, details, former)
    replaced = former if former is not None and former.container_id != seen.container_id else None
    marker = None
    if stored is not None and replaced is not None and not keep_old:
        marker = Marker(replaced.container_id, replaced.stop_grace_s, replaced.binds, stored.memory.verified)
    notes = _notes(app, wish.service, details, declared)
    if replaced is not None:
        notes = (_note_of_the_former(replaced, keep_old=keep_old), *notes)
    return Adoption(app, wish.service, seen, declared, former, marker, notes)


def refuse_claimed(app: str, service: str, seen: Container, known: Iterable[Stored]) -> None:
    """Raise UsageError where another service has this container, in ACTIVE or as superseded."""
    for each in known:
        if (each.app, each.service) == (app, service):
            continue
        name = f"{each.app}/{each.service}"
        if each.declared is not None and each.declared.container_id == seen.container_id:
            message = (
                f"container {seen.name} ({seen.container_id[:12]}) is that of {name} already; "
                f"forget that first: gordon-shell forget {name}"
            )
            raise UsageError(message)
        if any(marker.container_id == seen.container_id for marker in each.markers):
            message = (
                f"container {seen.name} ({seen.container_id[:12]}) is superseded and to be removed as one of {name}; "
                "name another container"
            )
            raise UsageError(message)


def _declared(app: str, wish: Wish, details: Details, former: Declared | None) -> Declared:
    ports = _reachable_ports(details)
    is_same = former is not None and former.container_id == details.container.container_id
    before = former if former is not None else Declared(details.container.container_id, 1)
    hidden = former is not None and bool(former.ports) and not former.published
    published = bool(ports) and (wish.published if wish.published is not None else not hidden)
    proposed = evolve(
        before,
        container_id=details.container.container_id,
        ports=ports,
        binds=tuple(each for each in before.binds if is_same and each.port in ports),
        stop_grace_s=wish.grace_s if wish.grace_s is not None else before.stop_grace_s if is_same else details.stop_grace_s,
        published=published,
        http=_http(f"{app}/{wish.service}", wish.http, before.http, ports),
    )
    if former is None:
        return proposed
    return former if proposed == former else evolve(proposed, revision=former.revision + 1)


def _bindings(details: Details) -> tuple[PortBinding, ...]:
    """Return the ports that it has; those that it was created to have, while it is down."""
    return details.container.ports if details.container.status in _BOUND else details.asked_ports


def _reachable_ports(details: Details) -> tuple[Port, ...]:
    """Return its published ports that lead to loopback, in order, each once."""
    bindings = _bindings(details)
    every = dict.fromkeys(each.port for each in bindings)
    return tuple(each for each in every if reachable(bindings, each) is not None)


def _http(name: str, wish: str | None, before: HttpCheck | None, ports: tuple[Port, ...]) -> HttpCheck | None:
    if wish is None:
        return before if before is not None and before.port in tcp_numbers(ports) else None
    return http_check(name, wish, ports) if wish else None


def _note_of_the_former(former: Declared, *, keep_old: bool) -> str:
    short = former.container_id[:12]
    if keep_old:
        return f"its former container {short} is left as it is, and nothing looks after it any more"
    return (
        f"its former container {short} is superseded: once this one was seen to serve, it is stopped within "
        f"{duration(former.stop_grace_s)} and removed"
    )


def _notes(app: str, service: str, details: Details, declared: Declared) -> tuple[str, ...]:
    seen, bindings = details.container, _bindings(details)
    label = seen.name or seen.container_id[:12]
    unreached = [each for each in bindings if each.port not in declared.ports]
    notes = [
        f"{each.port} is bound to {each.host_ip} alone, which recovery cannot reach, and is left out; bind it to 127.0.0.1"
        for each in unreached
    ]
    notes += [
        f"{each.port} is bound to {each.host_ip}, reachable from beyond this host; bind it to 127.0.0.1 to keep others out"
        for each in bindings
        if each.port in declared.ports and not each.host_ip.startswith("127.") and each.host_ip != "::1"
    ]
    if not bindings:
        notes.append("it publishes no port, so it is unpublished: kept alive, and never routed")
    if details.restart_policy not in {"", "no"}:
        notes.append(
            f"Docker restarts it too (restart policy {details.restart_policy}); that is coped with, and "
            f"`docker update --restart no {label}` leaves it to one of the two"
        )
    if seen.exit is not None and seen.exit.code == 0 and of_labels(details.labels)[0].exit_0_is_done:
        notes.append("it ended with exit code 0, and by its label is done with that: it is left alone")
    elif seen.status in _DOWN:
        notes.append(
            f"it is down ({seen.status.value}), and will be started; if it is a job that has ended, "
            f"forget it: gordon-shell forget {app}/{service}"
        )
    return tuple(notes)
