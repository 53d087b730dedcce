"""The Engine port in memory: simulated containers and images, with the faults of an engine on cue.

It answers as a Docker engine was seen to: a refused start leaves its error on the container, a name is borne once, and what is
down is removed without force.
"""

from collections.abc import Mapping

from attrs import evolve

from gordon_core.blueprint import Blueprint, Image, Made
from gordon_core.effects import Done, Fault, Outcome, Refused, Unknown
from gordon_core.observation import Gone, HealthStatus, PortBinding, Status
from gordon_shell.errors import EngineError
from gordon_shell.memory.container import Simulated
from gordon_shell.memory.containers import FIRST_EPHEMERAL, MemoryContainers, handed_out
from gordon_shell.memory.cues import Call, Cues
from gordon_shell.memory.images import MemoryImages, made_of
from gordon_shell.memory.uptime import status_text
from gordon_shell.ports import About, Details, Row, TimeSource
from gordon_shell.redaction import hidden, redacted

API_VERSION = "1.40"
_REFUSED = 128


class MemoryEngine(MemoryContainers):
    """An engine whose containers live in this object, in the time of `time`. Many threads may use one.

    `images` are those that it has, and those of its registries.
    """

    def __init__(self, time: TimeSource) -> None:
        """Have no containers and no images."""
        super().__init__(time)
        self.images = MemoryImages()
        self._cues = Cues()
        self._starts = 0
        self._creations = 0

    def rows(self) -> tuple[Row, ...]:
        """List every container. Raise EngineError while unreachable."""
        return tuple(self._row(each) for each in self._read())

    def inspect(self, container_id: str) -> Details | Gone:
        """Read one container. Raise EngineError while unreachable."""
        one = self._find(container_id)
        if one is None:
            return Gone()
        seen = one.seen(self.time.now())
        asked = tuple(PortBinding(port, one.host_ip, host) for port, host in one.publishes)
        return Details(seen, one.mounts, one.devices, one.stop_grace_s, dict(one.labels), one.restart_policy, asked)

    def start(self, container_id: str) -> Outcome:
        """Start it. One that runs already is Done."""
        one = self._admit(container_id)
        return self._start(container_id) if isinstance(one, Simulated) else one

    def restart(self, container_id: str, grace_s: float) -> Outcome:
        """Stop it within its grace, and start it."""
        stopped = self.stop(container_id, grace_s)
        return self.start(container_id) if stopped == Done() else stopped

    def stop(self, container_id: str, grace_s: float) -> Outcome:
        """Stop it within its grace, a paused one too. One that is down already is Done."""
        one = self._admit(container_id)
        if not isinstance(one, Simulated):
            return one
        refusal = self._cues.refusal("stop", container_id)
        if refusal is not None:
            return refusal
        if one.is_alive():
            self.time.sleep(min(one.behaviour.stops_in_s, grace_s))
            self._change(container_id, lambda each: each.stopped(self.time.now(), grace_s) if each.is_alive() else each)
        return Done()

    def remove(self, container_id: str, *, force: bool = False) -> Outcome:
        """Remove a container that is down, or by force one that runs. One that is gone already is Done."""
        one = self._admit(container_id)
        match one:
            case Simulated():
                return self._cues.refusal("remove", container_id) or self._remove(container_id, force=force)
            case Refused():
                return Done()  # the only refusal at the door: there is no such container
            case _:
                return one

    def image(self, reference: str) -> Image | Gone:
        """Read an image by name or ID. Raise EngineError while unreachable."""
        self._read()
        image = self.images.find(reference)
        return Gone() if image is None else image.seen()

    def pull(self, reference: str) -> Outcome:
        """Fetch an image from where it is served."""
        return self._barred("pull", reference) or self.images.pull(reference)

    def create(self, name: str, blueprint: Blueprint, labels: Mapping[str, str]) -> Outcome:
        """Create a container. CONFLICT: the name is taken."""
        return hidden(self._barred("create", name) or self._create(name, blueprint, labels), blueprint.environment)

    def rename(self, container_id: str, name: str) -> Outcome:
        """Give a container another name. One that bears it already is Done."""
        one = self._admit(container_id)
        if not isinstance(one, Simulated):
            return one
        return self._cues.refusal("rename", container_id) or self._rename(one, name)

    def logs(self, container_id: str, lines: int, until_s: float | None = None) -> tuple[str, ...]:
        """Return its last lines of output, without the values of its environment. Raise EngineError."""
        one = self._find(container_id)
        if one is None:
            message = f"the memory engine has no container {container_id[:12]}; list those that there are"
            raise EngineError(message)
        environment = made_of(one).blueprint.environment
        said = [line for at_s, line in one.lines if until_s is None or at_s < until_s]
        return tuple(redacted(each, environment) for each in said[-lines:]) if lines > 0 else ()

    def made(self, container_id: str) -> Made | Gone:
        """Read what a container was made from. Raise EngineError while unreachable."""
        one = self._find(container_id)
        return Gone() if one is None else made_of(one)

    def about(self) -> About:
        """Say that it is in memory, and what its clock shows. Raise EngineError while unreachable."""
        self._read()
        return About("in memory", API_VERSION, self.time.now().wall_s)

    def refuse(self, call: Call, key: str, reason: str, fault: Fault = Fault.WORKLOAD, times: int = 0) -> None:
        """Refuse a call for a container ID, a name (create) or an image (pull), "" for any of them; see `Cues`."""
        self._cues.refuse(call, key, reason, fault, times)

    def refuse_start(self, container_id: str, reason: str, fault: Fault = Fault.WORKLOAD) -> None:
        """Refuse every start of it with these words; "" ends that."""
        self._cues.refuse("start", container_id, reason, fault)

    def hang(self, key: str, for_s: float) -> None:
        """Leave every command for a container ID, a name (create) or an image (pull) without effect, and without an answer for
        so long; 0 ends that."""
        self._cues.hang(key, for_s)

    def _read(self) -> list[Simulated]:
        with self._lock:
            if self._unreachable:
                message = f"the memory engine gave no answer: {self._unreachable}; make it reachable again"
                raise EngineError(message)
            self._settle()
            return list(self._containers.values())

    def _find(self, container_id: str) -> Simulated | None:
        return next((each for each in self._read() if each.container_id == container_id), None)

    def _row(self, one: Simulated) -> Row:
        clock = self.time.now()
        health = one.health(clock).status if one.status is Status.RUNNING else HealthStatus.UNREAD
        since_s = clock.boot_s - (one.started_s if one.is_alive() else one.ended_s)
        text = status_text(one.status, since_s, one.exit.code, health)
        return Row(one.container_id, one.name, one.status, text, health, one.ports, dict(one.labels))

    def _admit(self, container_id: str) -> Simulated | Outcome:
        """Return the container that a command is for, or what becomes of the command at the door."""
        silence = self._silence(container_id)
        if silence is not None:
            return silence
        with self._lock:
            self._settle()
            return self._containers.get(container_id) or Refused(f"No such container: {container_id}", Fault.CONFLICT)

    def _barred(self, call: Call, key: str) -> Outcome | None:
        """Return what becomes of a command at the door, None if it is let in."""
        return self._silence(key) or self._cues.refusal(call, key)

    def _silence(self, key: str) -> Unknown | None:
        if self._unreachable:
            return Unknown(f"the memory engine did not answer: {self._unreachable}")
        hangs_s = self._cues.hangs_s(key)
        if not hangs_s:
            return None
        self.time.sleep(hangs_s)
        return Unknown("the memory engine did not answer: no answer in time")

    def _start(self, container_id: str) -> Outcome:
        with self._lock:
            match self._containers.get(container_id):
                case None:
                    return Refused(f"No such container: {container_id}", Fault.CONFLICT)
                case Simulated(status=Status.RUNNING):
                    return Done()
                case Simulated(status=Status.PAUSED):
                    return Refused("cannot start a paused container, try unpause instead", Fault.CONFLICT)
                case one:
                    return self._run(one)

    def _run(self, one: Simulated) -> Outcome:
        held = {(port.port.protocol, port.host_port) for each in self._containers.values() for port in each.ports}
        taken = next((host for port, host in one.publishes if (port.protocol, host) in held), 0)
        refusal = self._cues.refusal("start", one.container_id)
        if taken:
            refusal = Refused(f"Bind for {one.host_ip}:{taken} failed: port is already allocated", Fault.WORKLOAD)
        if refusal is not None:
            words = redacted(refusal.reason, made_of(one).blueprint.environment)
            self._containers[one.container_id] = evolve(one, exit=evolve(one.exit, code=_REFUSED, error=words))
            return evolve(refusal, reason=words)
        self._starts += 1
        ports = tuple(sorted(handed_out(one, held), key=lambda each: (each.port.number, each.port.protocol.value)))
        self._put(one.started(self.time.now(), ports, self._starts))
        return Done()

    def _remove(self, container_id: str, *, force: bool) -> Outcome:
        with self._lock:
            one = self._containers.get(container_id)
            if one is not None and one.is_alive() and not force:
                return Refused(f"You cannot remove a running container {container_id}", Fault.CONFLICT)
            self.delete(container_id)
        return Done()

    def _create(self, name: str, blueprint: Blueprint, labels: Mapping[str, str]) -> Outcome:
        with self._lock:
            self._settle()
            image = self.images.find(blueprint.image)
            if image is None:
                return Refused(f"No such image: {blueprint.image}", Fault.WORKLOAD)
            if self._bearer(name):
                return self._taken(name)
            self._creations += 1
            container_id = f"c{self._creations:011x}".ljust(64, "0")
            self.add(image.container(container_id, name, blueprint, tuple(labels.items())))
        return Done()

    def _rename(self, one: Simulated, name: str) -> Outcome:
        with self._lock:
            if self._bearer(name) not in ("", one.container_id):
                return self._taken(name)
            self._change(one.container_id, lambda each: evolve(each, name=name))
        return Done()

    def _bearer(self, name: str) -> str:
        return next((each.container_id for each in self._containers.values() if each.name == name), "")

    def _taken(self, name: str) -> Refused:
        words = f'Conflict. The container name "/{name}" is already in use by container "{self._bearer(name)}"'
        return Refused(words, Fault.CONFLICT)


__all__ = ["FIRST_EPHEMERAL", "MemoryEngine"]
