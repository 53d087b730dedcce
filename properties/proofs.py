"""What nobody may take for proven: withdrawals without a proof, whoever tried them, and what was verified, of which revision.

The judges' own record, beside every mark and memory of the product: it outlives each program, and no lost mark empties it.
"""

from collections.abc import Iterable, Mapping

from attrs import define, field, frozen

from gordon_core.observation import Bind, Binds
from gordon_shell.ports import Service, StateStore

_LOST = ""


@define(eq=False)
class Unproven:
    """The services of which a withdrawal failed, was not answered or hangs, and that no read has shown without a route since.

    A program that is killed before its mark is on disk takes what it knew with it. Then a published service is held to it until a
    read shows more, a route or none; the recovery of what is unpublished never waits for the router.
    """

    by: dict[Service, str] = field(factory=dict)

    def failed(self, service: Service, program: str) -> None:
        """A withdrawal by this program came to nothing that is known."""
        self.by[service] = program

    def proven(self, services: Iterable[Service]) -> None:
        """A withdrawal was read back, or a read shows no route."""
        for each in services:
            self.by.pop(each, None)

    def read(self, routes: Mapping[Service, Binds]) -> None:
        """The router was read."""
        self.proven([each for each, by in self.by.items() if by == _LOST or each not in routes])

    def died(self, program: str, disk: StateStore) -> None:
        """A program was killed; what it knew is known from here on as far as it is on disk."""
        for service, by in self.by.items():
            stored = disk.read_service(*service) if by == program else None
            if by == program and not (stored is not None and stored.unproven):
                self.by[service] = _LOST

    def holds(self, service: Service, *, published: bool) -> bool:
        """Tell whether nothing may be published, started or restarted."""
        return service in self.by and (published or self.by[service] != _LOST)


@frozen
class _Check:
    revision: int
    binds: frozenset[Bind]


@define(eq=False)
class Verifications:
    """Which executions answered their readiness, at which binds, and which revision ACTIVE named then."""

    checks: dict[tuple[str, str], set[_Check]] = field(factory=dict)

    def add(self, container_id: str, started_at: str, revision: int, binds: Iterable[Bind]) -> None:
        """It answered."""
        self.checks.setdefault((container_id, started_at), set()).add(_Check(revision, frozenset(binds)))

    def has(self, container_id: str, started_at: str, revision: int, binds: Binds) -> bool:
        """Tell whether it answered as this revision, at exactly these binds."""
        return _Check(revision, frozenset(binds)) in self.checks.get((container_id, started_at), set())

    def has_bind(self, container_id: str, started_at: str, bind: Bind) -> bool:
        """Tell whether it answered at this bind, as any revision."""
        return any(bind in each.binds for each in self.checks.get((container_id, started_at), set()))
