"""Images of the memory engine, and the registries that it fetches them from."""

import threading

from attrs import evolve, frozen

from gordon_core.blueprint import Blueprint, Image, Made, Publication
from gordon_core.blueprint import Mount as BlueprintMount
from gordon_core.effects import Done, Fault, Outcome, Refused
from gordon_core.observation import Port
from gordon_shell.blueprints import beyond, merged
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.ports import Mount

LOOPBACK = "127.0.0.1"
NOTHING = Blueprint("scratch")
STEADY = Behaviour()
READY_MADE = "ready-made"
"""The image, by name and ID, of a container that was put into the engine without one."""
_HEALTHY = (True,)


@frozen
class SimulatedImage:
    """An image, and how the containers made from it behave.

    `own` is what it brings into them: environment, command, labels, user, working directory and health check. Where that or the
    blueprint has a health check, the behaviour's `checks` are its results (always good where it names none); else there is none.
    """

    image_id: str
    behaviour: Behaviour = STEADY
    own: Blueprint = NOTHING
    ports: tuple[Port, ...] = ()

    def seen(self) -> Image:
        """Return what an inspect shows."""
        check = self.own.health
        ports = tuple(sorted(self.ports, key=lambda each: (each.number, each.protocol.value)))
        return Image(self.image_id, check is not None and not check.is_off, tuple(sorted(self.own.labels)), ports, self.own)

    def container(self, container_id: str, name: str, blueprint: Blueprint, labels: tuple[tuple[str, str], ...]) -> Simulated:
        """Return a container of it, created and not started."""
        whole = merged(blueprint, self.own)
        checked = whole.health is not None and not whole.health.is_off
        return Simulated(
            container_id,
            name,
            tuple((each.port, each.host_port) for each in blueprint.ports),
            LOOPBACK,
            evolve(self.behaviour, checks=(self.behaviour.checks or _HEALTHY) if checked else ()),
            tuple((dict(whole.labels) | dict(labels)).items()),
            tuple(Mount(each.source, each.read_only) for each in blueprint.mounts if each.is_host_path),
            tuple(each.partition(":")[0] for each in blueprint.devices),
            blueprint.stop_grace_s,
            made=Made(beyond(whole, self.own), self.image_id),
        )


class MemoryImages:
    """The images that an engine has, by name and ID, and those that it could fetch. A name without a tag means `latest`."""

    def __init__(self) -> None:
        """Have none."""
        self._lock = threading.Lock()
        self._here: dict[str, SimulatedImage] = {}
        self._there: dict[str, SimulatedImage] = {}

    def add(self, reference: str, image: SimulatedImage) -> None:
        """Have an image under a name, also in place of another."""
        with self._lock:
            self._here[_tagged(reference)] = image

    def serve(self, reference: str, image: SimulatedImage) -> None:
        """Have a registry serve an image under a name."""
        with self._lock:
            self._there[_tagged(reference)] = image

    def drop(self, reference: str) -> None:
        """Have no image under this name any more."""
        with self._lock:
            self._here.pop(_tagged(reference), None)

    def find(self, reference: str) -> SimulatedImage | None:
        """Return the image of a name or an ID."""
        with self._lock:
            by_id = (each for each in self._here.values() if each.image_id == reference)
            return self._here.get(_tagged(reference)) or next(by_id, None)

    def pull(self, reference: str) -> Outcome:
        """Fetch an image."""
        with self._lock:
            image = self._there.get(_tagged(reference))
            if image is None:
                return Refused(f"manifest for {_tagged(reference)} not found: manifest unknown", Fault.WORKLOAD)
            self._here[_tagged(reference)] = image
        return Done()


def made_of(one: Simulated) -> Made:
    """Return what a container was made from; for one that was put into the engine ready-made, what can be seen of it."""
    if one.made is not None:
        return one.made
    whole = Blueprint(
        READY_MADE,
        labels=one.labels,
        ports=tuple(Publication(port, host_port) for port, host_port in one.publishes),
        mounts=tuple(BlueprintMount(each.source, each.source, each.read_only) for each in one.mounts),
        devices=one.devices,
        stop_grace_s=one.stop_grace_s,
    )
    return Made(beyond(whole, NOTHING), READY_MADE)


def _tagged(reference: str) -> str:
    last = reference.rpartition("/")[2]
    return reference if ":" in last or "@" in last else f"{reference}:latest"
