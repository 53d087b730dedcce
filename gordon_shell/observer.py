"""Ports in, Snapshot out: everything that one look at the world shows, put together as the core wants it."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from attrs import evolve, frozen

from gordon_core.effects import Result
from gordon_core.folds import saw
from gordon_core.grants import HostPolicy, missing
from gordon_core.observation import Clock, Container, HealthStatus, Route, RouteSeen, RouteUnread, Status, Unread
from gordon_core.policy import DEFAULT_POLICY
from gordon_core.snapshot import Intent, Snapshot, Subject
from gordon_core.tuning import Applied, applied
from gordon_shell.errors import GordonError, RouterError, StoreError
from gordon_shell.glances import Glances, Listing, Look
from gordon_shell.host_policy import resolve
from gordon_shell.parts import Circumstances, Parts
from gordon_shell.ports import Details, Mount, Ports, Routes, Service, Stored
from gordon_shell.recollection import Recollection

_UNNAMED = Unread("ACTIVE names no container")
Policies = Callable[[], HostPolicy | None]


@frozen(eq=False)
class Surroundings:
    """What a pass adds to a look: why an app is locked ("": it is ours; `otherwise` for apps not named), and by service which
    commands are in flight and what was done so far."""

    locked: Mapping[str, str] = {}
    otherwise: str = ""
    in_flight: Mapping[Service, str] = {}
    results: Mapping[Service, tuple[Result, ...]] = {}


_NOTHING_KNOWN = Surroundings()


class Observer:
    """Makes snapshots. With `remember`, what a look adds to memory is kept in the store; without, nothing is written."""

    def __init__(self, ports: Ports, policies: Policies, recollection: Recollection, *, remember: bool) -> None:
        self._store, self._router, self._clock = ports.store, ports.router, ports.clock
        self._policies, self._recollection, self._remember = policies, recollection, remember
        self._glances = Glances(ports.engine)
        self._made: dict[Service, tuple[Parts, Subject]] = {}
        self._policy: HostPolicy | None = None
        self._policy_fault = ""
        self._latest: Routes | None = None

    @property
    def latest_routes(self) -> Routes | None:
        """Return what the last read of the router that succeeded showed, None where there was none."""
        return self._latest

    @property
    def policy_fault(self) -> str:
        """Return why the host policy could not be read at the last look, "" where it could."""
        return self._policy_fault

    def look(self, surroundings: Surroundings | None = None) -> Snapshot:
        """Look at everything: one read of the router, one of the store, one list of the engine. Raise StoreError."""
        around = surroundings if surroundings is not None else Surroundings()
        self._read_policy()
        # Routes before ACTIVE: what is activated and then published between the two reads is not taken for a stray.
        routes = self._routes()
        stored = self._store.read()
        listing, clock = self._glances.rows(), self._clock.now()
        subjects = [self._subject(each, listing, routes, clock, around) for each in stored]
        known = {(each.app, each.service) for each in stored}
        strays = routes.by_service.keys() - known if isinstance(routes, Routes) else set()
        subjects += [stray(each, routes, around) for each in strays]
        self._glances.keep_only({name for each in stored for name in named(each)})
        for gone in self._made.keys() - known:
            del self._made[gone]
        return Snapshot(self._clock.now(), subjects)

    def look_again(self, subject: Subject, may_remember: Callable[[], bool] = lambda: True) -> Subject:
        """Look at one service with evidence: inspect its containers, read ACTIVE and the router anew.

        What the look adds to memory is kept if that may be done when it is over; a look can take long.
        """
        return next(self._again([subject], may_remember))

    def look_at_each(self, subjects: Iterable[Subject]) -> Iterator[Subject]:
        """Look at some services as `look_again` does, under the host policy as it is now, with one read of the router for all."""
        self._read_policy()
        return self._again(subjects)

    def _again(self, subjects: Iterable[Subject], may_remember: Callable[[], bool] = lambda: True) -> Iterator[Subject]:
        found = [(each, self._stored(each)) for each in subjects]
        routes = self._routes()
        for subject, stored in found:
            key = (subject.app, subject.service)
            around = Surroundings({subject.app: subject.locked}, "", {key: subject.in_flight}, {key: subject.results})
            match stored:
                case StoreError():
                    yield silenced(subject, stored)
                case None:
                    yield stray(key, routes, around)
                case Stored():
                    yield self._looked_at(stored, routes, self._clock.now(), around, may_remember)

    def _stored(self, subject: Subject) -> Stored | StoreError | None:
        try:
            return self._store.read_service(subject.app, subject.service)
        except StoreError as error:
            return error

    def look_at(self, app: str, service: str) -> Subject:
        """Look at one service with evidence, under the host policy as it is now, whether the store knows it or not.

        Raise StoreError.
        """
        self._read_policy()
        stored = self._store.read_service(app, service)
        if stored is not None:
            return self._looked_at(stored, self._routes(), self._clock.now(), Surroundings())
        unknown = stray((app, service), self._routes(), Surroundings())
        intents = (each.intent for each in self._store.read() if each.app == app)
        return evolve(unknown, intent=next(intents, Intent.RUNNING))

    def lacking(self, app: str, service: str, mounts: tuple[Mount, ...], devices: tuple[str, ...]) -> tuple[str, ...]:
        """Return what a container of the service with these host paths and devices would lack."""
        if not (mounts or devices):
            return ()
        if self._policy_fault:
            return (self._policy_fault,)
        return missing(self._policy, app, service, resolve(mounts), devices)

    def with_routes(self, subjects: Iterable[Subject]) -> Snapshot:
        """Read the router once more, and put what it says into these subjects."""
        routes = self._routes()
        fresh = (evolve(each, route=_route(routes, (each.app, each.service))) for each in subjects)
        clock = self._clock.now()
        return Snapshot(clock, tuple(self._remembered(each, clock) for each in fresh))

    def _read_policy(self) -> None:
        """Read the host policy anew; one that cannot be read grants nothing to whoever needs a grant, and changes no constant."""
        try:
            self._policy, self._policy_fault = self._policies(), ""
        except GordonError as error:
            self._policy_fault = f"the host policy could not be read: {error}"

    def _routes(self) -> Routes | RouteUnread:
        try:
            routes = self._router.read()
        except RouterError as error:
            return RouteUnread(str(error))
        self._latest = routes
        return routes

    def _looked_at(
        self,
        stored: Stored,
        routes: Routes | RouteUnread,
        clock: Clock,
        around: Surroundings,
        may_remember: Callable[[], bool] = lambda: True,
    ) -> Subject:
        looks = {each: self._glances.inspect(each, None, clock) for each in named(stored)}
        fresh = self._parts(stored, looks, routes, clock, around).subject()
        # Dated when it is over: of a look that takes long, nothing counts as stable before it was seen.
        return self._remembered(fresh, self._clock.now()) if may_remember() else fresh

    def _subject(
        self, stored: Stored, listing: Listing, routes: Routes | RouteUnread, clock: Clock, around: Surroundings
    ) -> Subject:
        key = (stored.app, stored.service)
        looks = {each: self._glances.look(each, listing, clock) for each in named(stored)}
        parts = self._parts(stored, looks, routes, clock, around)
        kept = self._made.get(key)
        if kept is not None and kept[0].same_as(parts):
            seen = self._remembered(kept[1], clock)
        else:
            seen = self._remembered(parts.subject(), self._clock.now())
        self._made[key] = (parts, seen)
        return seen

    def _parts(
        self,
        stored: Stored,
        looks: Mapping[str, Look],
        routes: Routes | RouteUnread,
        clock: Clock,
        around: Surroundings,
    ) -> Parts:
        key = (stored.app, stored.service)
        look = looks[stored.declared.container_id] if stored.declared is not None else _UNNAMED
        circumstances = Circumstances(
            route=_route(routes, key),
            memory=self._recollection.memory(stored, clock.boot_id, ours=not around.locked.get(stored.app, around.otherwise)),
            unproven=self._recollection.unproven(stored),
            locked=around.locked.get(stored.app, around.otherwise),
            in_flight=around.in_flight.get(key, ""),
            results=around.results.get(key, ()),
            ungranted=self._ungranted(stored, look),
            constants=self._constants(stored, look),
            hold=stored.hold.in_force(clock) if stored.hold is not None else None,
        )
        return Parts(stored, look, tuple(looks[each] for each in _others(stored)), circumstances)

    def _remembered(self, subject: Subject, clock: Clock) -> Subject:
        after = saw(subject, clock)
        if self._remember and after is not subject:
            self._recollection.keep(subject, after)
        return after

    def _constants(self, stored: Stored, look: Look) -> Applied:
        declared = stored.declared.policy if stored.declared is not None else DEFAULT_POLICY
        labels = look.labels if isinstance(look, Details) else None
        return applied(self._policy, stored.app, stored.service, declared, labels, stored.tuning)

    def _ungranted(self, stored: Stored, look: Look) -> tuple[str, ...]:
        """Return what a start would lack. Only what is down or unhealthy may be started, so only there the host is asked."""
        if not isinstance(look, Details) or _needs_no_start(look.container):
            return ()
        return self.lacking(stored.app, stored.service, look.mounts, look.devices)


def stray(key: Service, routes: Routes | RouteUnread, around: Surroundings = _NOTHING_KNOWN) -> Subject:
    """Return the subject of a service that only the router knows, or only a pass."""
    app, service = key
    return Subject(
        app,
        service,
        _UNNAMED,
        route=_route(routes, key),
        locked=around.locked.get(app, ""),
        in_flight=around.in_flight.get(key, ""),
        results=around.results.get(key, ()),
    )


def _needs_no_start(container: Container) -> bool:
    return container.status is Status.RUNNING and container.health.status is not HealthStatus.UNHEALTHY


def named(stored: Stored) -> tuple[str, ...]:
    """Return the containers of a service: the declared one, its superseded ones, then the candidates in its journal."""
    declared = (stored.declared.container_id,) if stored.declared is not None else ()
    return declared + _others(stored)


def _others(stored: Stored) -> tuple[str, ...]:
    """Return its superseded containers, then the candidates in its journal."""
    return (*(each.container_id for each in stored.markers), *(each.container_id for each in stored.candidates))


def silenced(subject: Subject, error: StoreError) -> Subject:
    """Return the subject as it is while the store cannot be read: nothing was seen of it, and so nothing is concluded.

    What it clashed with is the planner's word about an earlier look.
    """
    silence = Unread(f"the state store could not be read: {error}")
    return evolve(
        subject,
        seen=silence,
        clash=None,
        superseded=tuple(evolve(each, seen=silence) for each in subject.superseded),
        candidates=tuple(evolve(each, seen=silence) for each in subject.candidates),
    )


def _route(routes: Routes | RouteUnread, key: Service) -> Route:
    return RouteSeen(routes.by_service.get(key, ()), routes.carries) if isinstance(routes, Routes) else routes
