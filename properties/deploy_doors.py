"""The doors of programs that deploy, or recover what a deploy left: those of recovery, with all that only deploys ask for."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from attrs import define, evolve, field, frozen

from gordon_core.blueprint import Blueprint, Image, Made
from gordon_core.effects import DONE, Done, Fault, Outcome, Refused
from gordon_core.memory import Verified
from gordon_core.observation import Binds, Gone, Port, PortBinding
from gordon_core.snapshot import Declared
from gordon_shell.blueprints import DEPLOY_PREFIX
from gordon_shell.errors import EngineError
from gordon_shell.ports import Deployed, Details, Journalled, Marker, Ports, Row, Stored
from properties.boxes import Nature
from properties.deploy_court import DeployCourt, Tag
from properties.doors import ClockDoor, EngineDoor, LocksDoor, ProberDoor, RouterDoor
from properties.faults import Fate
from properties.programs import Killed, Program
from properties.story import Violated
from properties.voyage import StoreDoor
from properties.world import World, no_such

_SILENT = "the engine did not answer"


@frozen
class SimulatedImage:
    """An image: how its containers are, and what it exposes. `is_here`: it need not be fetched."""

    image_id: str
    nature: Nature = Nature.KIND
    has_check: bool = False
    stops_in_s: float = 0.0
    ports: tuple[Port, ...] = (Port(80),)
    is_here: bool = True


@define(eq=False)
class DeployProgram(Program):
    """A process that deploys, or runs passes; once it is dead, or a judge has spoken, no call of it does anything."""

    court: DeployCourt = field(kw_only=True)
    images: dict[str, SimulatedImage] = field(factory=dict, kw_only=True)

    def step(self, *, alone: bool = False) -> None:
        """Make way before a call. Raise Killed or Violated."""
        self.is_over()
        super().step(alone=alone)
        self.is_over()

    def is_over(self) -> None:
        """Raise Killed or Violated where no call may do anything any more."""
        if self.court.found is not None:
            raise self.court.found
        if not self.alive:
            raise Killed

    def _late(self, what: str, act: Callable[[], Outcome], fate: Fate, fault: Fault) -> Outcome:
        def late() -> Outcome:
            self.world.happened += 1
            return act()

        return super()._late(what, late, fate, fault)

    @contextmanager
    def keeping_the_light(self, what: str) -> Iterator[None]:
        """Judge that what serves before a command serves after it, also where this program is killed over it."""
        before, happened = self.court.guarded(self.name), self.world.happened
        try:
            yield
        except Violated:
            raise
        except BaseException:
            self.court.stay_lit(before, happened, what)
            raise
        self.court.stay_lit(before, happened, what)


class DeployEngine(EngineDoor):
    """The Engine port, with names, labels and images."""

    def __init__(self, program: DeployProgram) -> None:
        """Lead to the containers and images of the program's world."""
        super().__init__(program)
        self._deploys, self._tags = program, program.court.tags

    # --- reads ---------------------------------------------------------------------------------------------------------------

    def rows(self) -> tuple[Row, ...]:
        """List every container; of that a deploy takes names and labels alone. Raise EngineError."""
        if self._deploys.name not in self._deploys.court.wanted:
            return tuple(map(self._row, super().rows()))
        self._read("the engine's list")
        return tuple(self._row(each.row(self._world.at_s)) for each in self._world.boxes.values())

    def _row(self, row: Row) -> Row:
        tag = self._tags.get(row.container_id)
        return row if tag is None else evolve(row, name=tag.name, labels=tag.labels)

    def _read(self, what: str) -> None:
        if not self._reads(what):
            raise EngineError(_SILENT)

    def inspect(self, container_id: str) -> Details | Gone:
        """Read one container. Raise EngineError."""
        shown, tag = super().inspect(container_id), self._tags.get(container_id)
        if isinstance(shown, Gone) or tag is None:
            return shown
        asked = tuple(PortBinding(each.port, "127.0.0.1", each.host_port) for each in tag.blueprint.ports)
        container = evolve(shown.container, name=tag.name)
        grace_s = tag.blueprint.stop_grace_s
        return evolve(shown, container=container, labels=tag.labels, stop_grace_s=grace_s, asked_ports=asked)

    def image(self, reference: str) -> Image | Gone:
        """Read an image. Raise EngineError."""
        self._read(reference)
        found = self._deploys.images.get(reference)
        return Image(found.image_id, found.has_check, (), found.ports) if found is not None and found.is_here else Gone()

    def made(self, container_id: str) -> Made | Gone:
        """Read what a container was made from. Raise EngineError."""
        self._read(f"what {container_id} was made from")
        tag = self._tags.get(container_id)
        if tag is None or container_id not in self._world.boxes:
            return Gone()
        labels = tuple(each for each in tag.blueprint.labels if not each[0].startswith(DEPLOY_PREFIX))
        return Made(evolve(tag.blueprint, labels=labels), tag.image_id)

    def logs(self, container_id: str, lines: int, until_s: float | None = None) -> tuple[str, ...]:
        """Return its last lines. Raise EngineError."""
        del until_s
        self._read(f"the output of {container_id}")
        return ("a line",)[:lines]

    # --- commands ------------------------------------------------------------------------------------------------------------

    def pull(self, reference: str) -> Outcome:
        """Fetch an image."""
        self._program.step()

        def act() -> Outcome:
            images = self._deploys.images
            if reference not in images:
                return Refused("manifest unknown", Fault.WORKLOAD)
            images[reference] = evolve(images[reference], is_here=True)
            return DONE

        return self._command(f"pull {reference}", act)

    def create(self, name: str, blueprint: Blueprint, labels: Mapping[str, str]) -> Outcome:
        """Create a container. CONFLICT: the name is taken."""
        self._program.step()
        return self._command(f"create {name}", lambda: self._create(name, blueprint, {**labels, "by": self._program.name}))

    def _create(self, name: str, blueprint: Blueprint, labels: dict[str, str]) -> Outcome:
        if bearer(self._world, self._tags, name):
            return Refused(f"The container name {name} is already in use", Fault.CONFLICT)
        create_box(self._world, self._tags, Tag(name, labels, blueprint, ""), self._deploys.images[blueprint.image])
        return DONE

    def rename(self, container_id: str, name: str) -> Outcome:
        """Give a container another name. CONFLICT: the name is taken."""
        self._program.step()

        def act() -> Outcome:
            if container_id not in self._world.boxes:
                return no_such(container_id)
            if bearer(self._world, self._tags, name) not in {"", container_id}:
                return Refused(f"The container name {name} is already in use", Fault.CONFLICT)
            self._tags[container_id] = evolve(self._tags[container_id], name=name)
            return DONE

        return self._command(f"rename {container_id} to {name}", act)

    def start(self, container_id: str) -> Outcome:
        """Start it: what ACTIVE names, or a candidate."""
        court, name = self._deploys.court, self._deploys.name
        with self._deploys.keeping_the_light(f"start {container_id}"):
            if court.notes(name).named(container_id) is not None:
                return super().start(container_id)
            self._program.step()
            court.starts_candidate(name, container_id)
            return self._command(f"start {container_id}", lambda: self._world.start(container_id))

    def restart(self, container_id: str, grace_s: float) -> Outcome:
        """Stop it within its grace, and start it."""
        with self._deploys.keeping_the_light(f"restart {container_id}"):
            return super().restart(container_id, grace_s)

    def stop(self, container_id: str, grace_s: float) -> Outcome:
        """Stop it within its grace."""
        with self._deploys.keeping_the_light(f"stop {container_id}"):
            return super().stop(container_id, grace_s)

    def remove(self, container_id: str, *, force: bool = False) -> Outcome:
        """Remove a container that is down; by force, one that a deploy left."""
        with self._deploys.keeping_the_light(f"remove {container_id}"):
            if not force:
                return super().remove(container_id)
            self._program.step()
            self._deploys.court.clears(self._program.name, container_id)
            return self._command(f"remove {container_id} by force", lambda: self._clear(container_id))

    def _clear(self, container_id: str) -> Outcome:
        self._deploys.court.cleared_s.setdefault(container_id, self._world.at_s)
        return self._world.remove(container_id, by_force=True)


class DeployRouter(RouterDoor):
    """The Router port."""

    def __init__(self, program: DeployProgram) -> None:
        """Lead to the proxy of the program's world."""
        super().__init__(program)
        self._deploys = program

    def publish(self, app: str, service: str, binds: Binds) -> Outcome:
        """Route exactly these binds."""
        with self._deploys.keeping_the_light(f"publish {app}/{service}"):
            outcome = super().publish(app, service, binds)
            box = self._deploys.court.at_the_route((app, service))
            if isinstance(outcome, Done) and box is not None:
                self._deploys.court.published_as[app, service] = (box.container_id, box.started_at)
            return outcome

    def withdraw(self, app: str, service: str) -> Outcome:
        """Take every route of the service away."""
        with self._deploys.keeping_the_light(f"withdraw {app}/{service}"):
            return super().withdraw(app, service)


class DeployStore(StoreDoor):
    """The StateStore port, with what only a deploy tool may do."""

    def __init__(self, program: DeployProgram) -> None:
        """Lead to the disk of the program's world."""
        super().__init__(program)
        self._deploys = program

    def read(self) -> tuple[Stored, ...]:
        """Return everything. Raise StoreError."""
        stored = super().read()
        self._looks()
        return stored

    def read_service(self, app: str, service: str) -> Stored | None:
        """Return one service. Raise StoreError."""
        stored = super().read_service(app, service)
        self._looks()
        return stored

    def _looks(self) -> None:
        self._deploys.court.seen[self._deploys.name] = self._deploys.world.happened

    def deployed(self, app: str, service: str) -> tuple[Deployed, ...]:
        """Return what the latest revisions were made of. Raise StoreError."""
        self._reads(f"the revisions of {app}/{service}")
        return self._deploys.world.disk.deployed(app, service)

    def activate(  # noqa: PLR0913, PLR0917 - as in the port
        self,
        app: str,
        service: str,
        declared: Declared,
        expected_revision: int,
        superseded: Marker | None,
        deployed: tuple[Deployed, ...] = (),
        *,
        verified: Verified | None = None,
    ) -> Outcome:
        """Name a container in ACTIVE."""
        self._deploys.step()
        self._deploys.court.activates(self._deploys.name, (app, service), declared, expected_revision, superseded, verified)

        def act() -> Outcome:
            return self._deploys.world.disk.activate(
                app, service, declared, expected_revision, superseded, deployed, verified=verified
            )

        with self._deploys.keeping_the_light(f"activate {declared.container_id}"):
            return self._writes(f"activate {declared.container_id} as revision {declared.revision}", act)

    def journal(self, app: str, service: str, candidate: Journalled) -> Outcome:
        """Write a candidate down."""
        self._deploys.step()
        self._deploys.court.writes(self._deploys.name, app, "the journal")
        self._deploys.court.journals(self._deploys.name, (app, service), candidate.container_id)
        what = f"journal {candidate.container_id}"
        return self._writes(what, lambda: self._deploys.world.disk.journal(app, service, candidate))

    def drop_candidate(self, app: str, service: str, container_id: str) -> Outcome:
        """Take a candidate out of the journal: one that ACTIVE names, or that is gone."""
        self._deploys.step()
        court = self._deploys.court
        court.writes(self._deploys.name, app, "the journal")
        shown = court.notes(self._deploys.name).look(container_id)
        done = isinstance(shown, Gone) or container_id in court.named((app, service))
        court.demand("C1", done, f"it takes {container_id} out of the journal, which is neither gone nor named by ACTIVE")
        what = f"drop {container_id} from the journal"
        return self._writes(what, lambda: self._deploys.world.disk.drop_candidate(app, service, container_id))


def bearer(world: World, tags: Mapping[str, Tag], name: str) -> str:
    """Return which container bears a name, "" for none."""
    return next((each for each in world.boxes if each in tags and tags[each].name == name), "")


def create_box(world: World, tags: dict[str, Tag], tag: Tag, image: SimulatedImage) -> str:
    """Put a container into the world, created and not started; return its ID."""
    container_id = f"c{len(tags) + 1}"
    tags[container_id] = evolve(tag, image_id=image.image_id)
    box = world.create(container_id, image.nature, tuple((each.port, each.host_port) for each in tag.blueprint.ports))
    box.has_check = image.has_check
    box.stops_in_s = image.stops_in_s
    return container_id


def deploy_ports(program: DeployProgram) -> Ports:
    """Return the doors of a program."""
    return Ports(
        DeployEngine(program), DeployStore(program), DeployRouter(program), ProberDoor(program), ClockDoor(program),
        LocksDoor(program),
    )  # fmt: skip
