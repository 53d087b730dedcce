"""What a deploy sees: one service with everything that bears its names, the image, and the container that this deploy made."""

from collections.abc import Iterable

from attrs import evolve, frozen

from gordon_core.blueprint import Blueprint, Image, Made, Variable
from gordon_core.deploy_planner import with_results
from gordon_core.deployment import DEPLOY_DEADLINE_S, Deployment, names
from gordon_core.observation import Container, Gone, RouteSeen, Seen, Unread
from gordon_core.snapshot import Candidate, Declared, Subject
from gordon_shell.completion import as_declared, changes, completed
from gordon_shell.errors import EngineError, StoreError
from gordon_shell.glances import Look
from gordon_shell.leftovers import namesake, seen
from gordon_shell.observer import Observer, Policies, silenced
from gordon_shell.ports import DEPLOY_LABEL, Mount, Ports, Row, Service
from gordon_shell.recollection import Recollection

_NOT_ASKED = Unread("it was not asked for yet")


@frozen
class Request:
    """What is to be deployed, and the token by which the container of this one deploy is known."""

    app: str
    service: str
    wanted: Blueprint
    token: str


class DeployObserver:
    """Looks for one deploy. Without `remember` nothing is written."""

    def __init__(
        self, ports: Ports, policies: Policies, recollection: Recollection, request: Request, *, remember: bool = True
    ) -> None:
        self._engine, self._store, self._clock, self._request = ports.engine, ports.store, ports.clock, request
        self._observer = Observer(ports, policies, recollection, remember=remember)
        self._present: Made | None = None

    @property
    def present(self) -> Made | None:
        """Return what the container was made from that ACTIVE named at first, as far as that was read."""
        return self._present

    @property
    def secrets(self) -> tuple[Variable, ...]:
        """Return the variables whose values must not be shown: those wanted, and those of the present container."""
        present = self._present.blueprint.environment if self._present is not None else ()
        return (*self._request.wanted.environment, *present)

    def look(self, deadline_s: float = DEPLOY_DEADLINE_S) -> Deployment:
        """Look for the first time; the time of the deploy runs from here. Raise StoreError, UsageError."""
        request, now_s = self._request, self._clock.now().boot_s
        subject = self._observer.look_at(request.app, request.service)
        stored = self._store.read_service(request.app, request.service)
        named = names(request.app, request.service)
        clock = self._clock.now()
        blank = Deployment(clock, subject, request.wanted, named, _NOT_ASKED, began_s=now_s, deadline_s=deadline_s)
        if stored is not None and stored.declared is not None:
            blank = evolve(blank, policy_on_record=stored.declared.policy)
        return self._filled(blank, subject)

    def look_again(self, deployment: Deployment, cancelled: str) -> Deployment:
        """Look at all that may have changed. Raise UsageError: the image just fetched has a label that says nothing."""
        subject = deployment.subject
        try:
            subject = self._observer.look_at(subject.app, subject.service)
        except StoreError as error:
            return self._filled(evolve(deployment, cancelled=cancelled), silenced(subject, error), is_stale=True)
        return self._filled(evolve(deployment, cancelled=cancelled), subject)

    def _filled(self, deployment: Deployment, subject: Subject, *, is_stale: bool = False) -> Deployment:
        rows, unlisted = self._rows()
        own_id = deployment.own_id or next((each.container_id for each in rows if self._made(each)), "")
        known = _known(subject)
        journal = {each.container_id for each in subject.candidates if each.journalled}
        wanted = deployment.wanted
        filled = evolve(
            deployment,
            own=known.get(own_id) or self._inspect(own_id) if own_id else None,
            own_id=own_id,
            journalled=deployment.journalled if is_stale else own_id in journal,
            taken_names=deployment.taken_names if unlisted else self._taken(rows),
            unlisted=unlisted,
            ungranted=self._observer.lacking(subject.app, subject.service, _host_paths(wanted), _devices(wanted)),
            clock=self._clock.now(),
        )
        filled = evolve(filled, clashes=self._clashes(filled) if isinstance(subject.route, RouteSeen) and not is_stale else ())
        subject = evolve(subject, candidates=self._candidates(subject, rows, known, own_id))
        return with_results(self._compared(filled, subject.declared) if not own_id else filled, subject)

    def _clashes(self, deployment: Deployment) -> tuple[Service, ...]:
        """Return the other services whose routes, as just read, name a port that the candidate holds."""
        own, routes = (self._request.app, self._request.service), self._observer.latest_routes
        held = {each.at for each in deployment.own.ports} if isinstance(deployment.own, Container) else set()
        found = routes.by_service.items() if routes is not None and held else ()
        return tuple(sorted(key for key, binds in found if key != own and any(each.at in held for each in binds)))

    # --- the containers ----------------------------------------------------------------------------------------------------

    def _rows(self) -> tuple[tuple[Row, ...], str]:
        try:
            return self._engine.rows(), ""
        except EngineError as error:
            return (), str(error)

    def _made(self, row: Row) -> bool:
        return row.labels.get(DEPLOY_LABEL) == self._request.token

    def _taken(self, rows: Iterable[Row]) -> tuple[str, ...]:
        own = names(self._request.app, self._request.service)
        borne = {each.name for each in rows}
        return tuple(each for each in (own.canonical, *own.temporary) if each in borne)

    def _candidates(self, subject: Subject, rows: Iterable[Row], known: dict[str, Seen], own_id: str) -> tuple[Candidate, ...]:
        """Return those of the journal, and what else bears a name of the service; not the own one, nor what is chosen."""
        journalled = tuple(each for each in subject.candidates if each.container_id != own_id)
        others = (row for row in rows if self._taken((row,)) and row.container_id not in {own_id, *known})
        service = (subject.app, subject.service)
        return (*journalled, *(namesake(service, each, self._look(each.container_id)) for each in others))

    def _inspect(self, container_id: str) -> Seen:
        return seen(self._look(container_id))

    def _look(self, container_id: str) -> Look:
        try:
            return self._engine.inspect(container_id)
        except EngineError as error:
            return Unread(str(error))

    # --- the image, and what is as wanted already ----------------------------------------------------------------------------

    def _compared(self, deployment: Deployment, declared: Declared | None) -> Deployment:
        image, made = self._image(), self._made_of(declared)
        if not isinstance(image, Image):
            return evolve(deployment, image=image, changed=None)
        wanted = completed(self._request.wanted, image)
        changed = changes(wanted, image, made) if made is not None else None
        return evolve(deployment, image=image, wanted=wanted, changed=changed)

    def _image(self) -> Image | Gone | Unread:
        try:
            return self._engine.image(self._request.wanted.image)
        except EngineError as error:
            return Unread(str(error))

    def _made_of(self, declared: Declared | None) -> Made | None:
        """Read what the container in ACTIVE was made from, once."""
        if self._present is None and declared is not None:
            try:
                made = self._engine.made(declared.container_id)
            except EngineError:
                return None  # silence: then it counts as one that is not as wanted
            self._present = as_declared(made, declared) if isinstance(made, Made) else None
        return self._present


def _known(subject: Subject) -> dict[str, Seen]:
    """Return what this look showed of containers already, so that no two looks at one of them disagree."""
    known: dict[str, Seen] = {each.container_id: each.seen for each in subject.candidates}
    known |= {each.container_id: each.seen for each in subject.superseded}
    if subject.declared is not None:
        known[subject.declared.container_id] = subject.seen
    return known


def _host_paths(wanted: Blueprint) -> tuple[Mount, ...]:
    return tuple(Mount(each.source, each.read_only) for each in wanted.mounts if each.is_host_path)


def _devices(wanted: Blueprint) -> tuple[str, ...]:
    return tuple(each.partition(":")[0] for each in wanted.devices)
