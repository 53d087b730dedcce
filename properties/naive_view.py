"""What the naive model knows of one service, and the questions that it asks of that; values only, and nothing that decides."""

from collections.abc import Iterable

from attrs import define, evolve

from gordon_core.effects import Generation
from gordon_core.memory import Memory
from gordon_core.observation import Bind, Binds, Container, Gone, HealthStatus, Status, Unread, reachable
from gordon_core.policy import Policy, WhenUnhealthy
from gordon_core.snapshot import Declared
from gordon_shell.ports import Marker, Routes, Service, Stored

DOWN = frozenset({Status.CREATED, Status.EXITED, Status.DEAD, Status.STOPPED})
Seen = Container | Gone | Unread


@define(eq=False)
class View:
    """What is known of one service. `routes` is None where the router could not be read; `fresh`: nothing happened since."""

    app: str
    service: str
    stored: Stored
    seen: Seen
    olds: dict[str, Seen]
    routes: Routes | None
    memory: Memory
    unproven: bool
    fresh: bool

    @property
    def key(self) -> Service:
        """Return (app, service)."""
        return self.app, self.service

    @property
    def declared(self) -> Declared:
        """Return what ACTIVE says, where it says something."""
        assert self.stored.declared is not None
        return self.stored.declared

    @property
    def generation(self) -> Generation:
        """Return what ACTIVE names."""
        return Generation(self.app, self.service, self.declared.container_id, self.declared.revision)

    @property
    def published(self) -> bool:
        """Tell whether the service is to be routed."""
        return self.declared.published and bool(self.declared.ports)

    @property
    def route(self) -> frozenset[Bind]:
        """Return where the router was seen to send requests."""
        return frozenset(self.routes.by_service.get(self.key, ())) if self.routes is not None else frozenset()

    @property
    def started_at(self) -> str:
        """Return the execution, "" where there is none."""
        return self.seen.started_at if isinstance(self.seen, Container) else ""

    @property
    def runs(self) -> bool:
        """Tell whether it runs, as an execution that has a name."""
        return isinstance(self.seen, Container) and self.seen.status is Status.RUNNING and bool(self.seen.started_at)

    @property
    def is_down(self) -> bool:
        """Tell whether it is down."""
        return isinstance(self.seen, Container) and self.seen.status in DOWN

    @property
    def health(self) -> HealthStatus:
        """Return what its health check says."""
        return self.seen.health.status if isinstance(self.seen, Container) else HealthStatus.UNREAD

    @property
    def binds(self) -> Binds:
        """Return where its declared ports lead now."""
        if not isinstance(self.seen, Container):
            return ()
        return tuple(bind for port in self.declared.ports if (bind := reachable(self.seen.ports, port)) is not None)

    @property
    def is_verified(self) -> bool:
        """Tell whether this is the verified execution at its verified binds."""
        known = self.memory.verified
        return (
            known is not None
            and self.runs
            and known.started_at == self.started_at
            and known.revision == self.declared.revision
            and set(known.binds) == set(self.binds)
            and len(self.binds) == len(self.declared.ports)
        )

    def carried(self, binds: Iterable[Bind]) -> frozenset[Bind]:
        """Return those binds that the router can carry."""
        carries = self.routes.carries if self.routes is not None else ()
        return frozenset(each for each in binds if each.port.protocol in carries)

    @property
    def is_routed(self) -> bool:
        """Tell whether requests go to the verified binds of the container."""
        return self.is_verified and bool(self.route) and self.route == self.carried(self.binds)

    @property
    def leads_here(self) -> bool:
        """Tell whether requests go to verified binds of the container, though perhaps not to all of them."""
        return self.is_verified and self.route <= self.carried(self.binds)

    def leads_to(self, marker: Marker) -> bool:
        """Tell whether requests go to verified binds of a superseded container."""
        return marker.verified is not None and self.route <= self.carried(marker.verified.binds)

    def route_is_wrong(self) -> bool:
        """Tell whether a read contradicts the route. What could not be read contradicts nothing."""
        if not self.route or (self.published and self.leads_here):
            return False
        if isinstance(self.seen, Unread):
            return False
        return not self.old_serves()

    def old_serves(self) -> bool:
        """Tell whether requests go to the verified execution of a superseded container, as far as can be read."""
        for marker in self.stored.markers:
            if not self.leads_to(marker) or marker.verified is None:
                continue
            old = self.olds[marker.container_id]
            if isinstance(old, Unread):
                return True
            if isinstance(old, Container) and old.status is Status.RUNNING and old.started_at == marker.verified.started_at:
                return True
        return False

    @property
    def policy(self) -> Policy:
        """Return the policy of the service, with the two constants that an operator tunes here."""
        own, tuned = self.declared.policy, self.stored.tuning
        done = own.exit_0_is_done if tuned.exit_0_is_done is None else tuned.exit_0_is_done
        return evolve(own, exit_0_is_done=done, unhealthy=own.unhealthy if tuned.unhealthy is None else tuned.unhealthy)

    @property
    def is_done(self) -> bool:
        """Tell whether it ended by itself with exit code 0, where that is its end, and nobody wants more of it."""
        if not self.policy.exit_0_is_done or not isinstance(self.seen, Container) or not self.is_down or self.seen.exit is None:
            return False
        wanted = self.memory.again or self.memory.contested_port or (self.memory.attempt is not None and not self.is_pending)
        return bool(self.started_at) and self.seen.exit.code == 0 and not wanted

    @property
    def is_only_withdrawn(self) -> bool:
        """Tell whether nothing restarts it while it is unhealthy."""
        return self.policy.unhealthy is WhenUnhealthy.WITHDRAW

    @property
    def is_pending(self) -> bool:
        """Tell whether an attempt is pending: recorded, and another start time is seen than before it."""
        return self.memory.attempt is not None and self.memory.attempt.before != self.started_at

    @property
    def is_stable(self) -> bool:
        """Tell whether this look is a stable one."""
        settled = self.is_verified and (self.is_routed if self.published else True)
        return settled and self.health in {HealthStatus.NONE, HealthStatus.HEALTHY}
