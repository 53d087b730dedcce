"""What one program has read and done, as the judges saw it: their own book, never the product's facts."""

from collections.abc import Iterator, Mapping
from enum import Enum

from attrs import define, field, frozen

from gordon_core.effects import Done, Outcome
from gordon_core.memory import Memory
from gordon_core.observation import Bind, Binds, Gone, PortBinding, Protocol, Status
from gordon_core.snapshot import Declared
from gordon_shell.ports import Details, Marker, Routes, Row, Service, Stored

Key = tuple[Service, str]
"""(app, service) and a container ID."""

ASIDE = "?"
"""Who reads for a targeted pass, outside of any job: it looks at some services only, and other jobs may be under way."""

Place = tuple[int, Protocol]
"""A host port, TCP and UDP apart."""

_LOOPBACK = ("127.0.0.1", "0.0.0.0", "::")  # noqa: S104 - compared, never bound
UP = frozenset({Status.RUNNING, Status.PAUSED})
DOWN = frozenset({Status.CREATED, Status.EXITED, Status.DEAD, Status.STOPPED})


class Role(Enum):
    """What the store says of a container."""

    DECLARED = "named by ACTIVE"
    SUPERSEDED = "superseded"


@frozen
class Look:
    """One inspect: what it showed (None: it failed), and when."""

    shown: Details | Gone | None
    serial: int


@frozen
class Asked:
    """One probe: of the execution that was seen with these binds before it, and what it answered."""

    container_id: str
    started_at: str
    binds: frozenset[Bind]
    outcome: Outcome
    serial: int


def binds_of(declared: Declared, ports: tuple[PortBinding, ...]) -> Binds:
    """Return where the declared ports lead on loopback: 127.0.0.1 before the wildcards, then the lowest host port."""
    found = []
    for port in declared.ports:
        here = [
            (_LOOPBACK.index(each.host_ip), each.host_port) for each in ports if each.port == port and each.host_ip in _LOOPBACK
        ]
        if here:
            found.append(Bind(port, min(here)[1]))
    return tuple(found)


def places_of(binds: Binds) -> set[Place]:
    """Return where binds lead."""
    return {(each.host_port, each.port.protocol) for each in binds}


def is_published(declared: Declared) -> bool:
    """Tell whether a service is to be routed."""
    return declared.published and bool(declared.ports)


@define(eq=False)
class Notes:
    """One program's reads and commands. What belongs to one pass is cleared at its beginning.

    `granted` are the devices that the host granted when its policy was read last (None: there was no policy). `called_on` are the
    services of the targeted pass under way, and `began_by` is when the last such pass over a service began, since the last pass.
    """

    name: str
    began: int = 0
    looks: dict[str, Look] = field(factory=dict)
    rows: dict[str, Row] | None = None
    rows_serial: int = 0
    granted: tuple[str, ...] | None = None
    reader: str = ""
    called_on: tuple[Service, ...] = ()
    called_at: int = 0
    began_by: dict[Service, int] = field(factory=dict)
    routes_by: dict[str, Mapping[Service, Binds] | None] = field(factory=dict)
    carries: tuple[Protocol, ...] = (Protocol.TCP, Protocol.UDP)
    stored: dict[Service, Stored] = field(factory=dict)
    probes: list[Asked] = field(factory=list)
    withdrawals: dict[Service, Outcome] = field(factory=dict)
    proven: set[Service] = field(factory=set)
    attempts: dict[str, Outcome | None] = field(factory=dict)
    marks: dict[Service, bool] = field(factory=dict)
    held_marks: set[Service] = field(factory=set)
    unwritten: set[Service] = field(factory=set)
    memories: dict[Key, Memory] = field(factory=dict)
    held: set[Key] = field(factory=set)
    hung: set[str] = field(factory=set)
    commands: list[str] = field(factory=list)

    def begin(self, serial: int) -> None:
        """Begin a pass."""
        self.began, self.rows, self.rows_serial = serial, None, serial
        self.routes_by.clear()
        self.probes.clear()
        self.withdrawals.clear()
        self.proven.clear()
        self.attempts.clear()
        self.commands.clear()
        self.began_by.clear()

    def call_on(self, services: tuple[Service, ...], serial: int) -> None:
        """Take down whom a targeted pass is going to look at."""
        self.called_on, self.called_at = services, serial

    def begin_for(self, services: tuple[Service, ...]) -> None:
        """Begin a targeted pass over these services, which were looked at: it is a pass of its own, for them alone."""
        containers = {each for service in services for each in self.containers(service)}
        self.probes = [each for each in self.probes if each.container_id not in containers]
        for service in services:
            self.began_by[service] = self.called_at
            self.withdrawals.pop(service, None)
            self.proven.discard(service)
        for each in containers:
            self.attempts.pop(each, None)

    def reads_for(self, service: Service) -> bool:
        """Tell whether whoever reads now does so for this service."""
        return self.reader in {"", "/".join(service)} or (self.reader == ASIDE and service in self.called_on)

    @property
    def routes(self) -> Mapping[Service, Binds] | None:
        """Return what the last read of the router showed to whoever asks now (a job, or the pass itself); None: nothing."""
        return self.routes_by[self.reader] if self.reader in self.routes_by else self.routes_by.get("")

    def look(self, container_id: str) -> Details | Gone | None:
        """Return what the last reads of this pass say of a container; None where they say nothing."""
        known = self.looks.get(container_id)
        if known is None or known.serial >= self.rows_serial:
            return known.shown if known is not None else None
        row = self.rows.get(container_id) if self.rows is not None else None
        shown = known.shown
        if row is None or not isinstance(shown, Details):
            return None
        return shown if row.status is shown.container.status and row.ports == shown.container.ports else None

    def seen_in_this_pass(self, service: Service, container_id: str) -> bool:
        """Tell whether the last look is of this pass."""
        began = self.began_by.get(service, self.began)
        return container_id in self.looks and self.looks[container_id].serial > began

    def running(self, container_id: str) -> Details | None:
        """Return the last look, if it showed the container running."""
        shown = self.look(container_id)
        return shown if isinstance(shown, Details) and shown.container.status is Status.RUNNING else None

    def ports_of(self, container_id: str) -> tuple[PortBinding, ...]:
        """Return the ports that the container was last seen to hold."""
        row = self.rows.get(container_id) if self.rows is not None else None
        known = self.looks.get(container_id)
        if row is not None and (known is None or known.serial < self.rows_serial):
            return row.ports if row.status in UP else ()
        shown = known.shown if known is not None else None
        return shown.container.ports if isinstance(shown, Details) and shown.container.status in UP else ()

    def named(self, container_id: str) -> tuple[Service, Role] | None:
        """Return what the last read of the store says of a container."""
        for service, stored in self.stored.items():
            if stored.declared is not None and stored.declared.container_id == container_id:
                return service, Role.DECLARED
        for service, stored in self.stored.items():
            if any(each.container_id == container_id for each in stored.markers):
                return service, Role.SUPERSEDED
        return None

    def marker(self, service: Service, container_id: str) -> Marker | None:
        """Return a retirement marker."""
        return next((each for each in self.stored[service].markers if each.container_id == container_id), None)

    def foreign_ports(self, service: Service) -> set[Place]:
        """Return the places of a service's route that a container of another service was seen to hold."""
        named = places_of((self.routes or {}).get(service, ()))
        return named & {place for other in self.stored if other != service for place in self._held_by(other)}

    def rivals(self, service: Service, container_id: str) -> set[Service]:
        """Return the other services whose routes named, when the router was read last, a place that this container was seen
        to hold."""
        held = self._places(container_id)
        routes = self.routes if self.routes is not None else self.routes_by.get("")
        return {
            other
            for other, binds in (routes or {}).items()
            if other != service and places_of(binds) & held and not places_of(binds) & held <= self._held_by(other)
        }

    def _held_by(self, service: Service) -> set[Place]:
        return {place for name in self.containers(service) for place in self._places(name)}

    def _places(self, container_id: str) -> set[Place]:
        return {(each.host_port, each.port.protocol) for each in self.ports_of(container_id)}

    def containers(self, service: Service) -> Iterator[str]:
        """Yield the containers that the store names for a service."""
        stored = self.stored.get(service)
        if stored is not None:
            if stored.declared is not None:
                yield stored.declared.container_id
            yield from (each.container_id for each in stored.markers)

    def is_unproven(self, service: Service) -> bool:
        """Tell whether a withdrawal of the service is unproven, as far as this program can know."""
        stored = self.stored.get(service)
        return self.marks.get(service, stored is not None and stored.unproven)

    def saw_stored(self, stored: Stored) -> None:
        """Note what a read of the store showed of a service."""
        service = (stored.app, stored.service)
        self.stored[service] = stored
        if not self.marks.get(service, True) and service not in self.held_marks:
            del self.marks[service]
        if stored.declared is not None and (service, stored.declared.container_id) not in self.held:
            self.memories[service, stored.declared.container_id] = stored.memory

    def saw_routes(self, routes: Routes | None) -> set[Service]:
        """Note what a read of the router showed (None: it failed); return the services of which it proved a withdrawal."""
        if not self.reader:
            self.routes_by.clear()
        shown = None if routes is None else dict(routes.by_service)
        readers = ["/".join(each) for each in self.called_on] if self.reader == ASIDE else []
        self.routes_by |= dict.fromkeys([self.reader, *readers], shown)
        if routes is None:
            return set()
        self.carries = routes.carries
        self.proven -= {each for each in routes.by_service if self.reads_for(each)}
        proven = {each for each in (*self.stored, *self.marks) if each not in routes.by_service and self.is_unproven(each)}
        self.marks |= dict.fromkeys(proven, False)
        self.unwritten -= proven
        return proven

    def withdrew(self, service: Service, outcome: Outcome) -> None:
        """Note what became of a withdrawal."""
        self.withdrawals[service] = outcome
        if isinstance(outcome, Done):
            self.marks[service] = False
            self.unwritten.discard(service)
            self.proven.add(service)
            if self.routes is not None:
                self.routes_by[self.reader] = {each: binds for each, binds in self.routes.items() if each != service}
            return
        stored = self.stored.get(service)
        if stored is None or not stored.unproven:
            self.unwritten.add(service)
        self.marks[service] = True
        self.proven.discard(service)
