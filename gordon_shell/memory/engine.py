"""The Engine port in memory: simulated containers, and what an operator, a crash or the engine itself does to them.

It behaves as a Docker engine was seen to: ephemeral ports go from 32768 to whoever starts first and are free again at the end
of an execution, an engine that is killed takes its containers with it unless it has live-restore, and a refused start leaves
its error on the container.
"""

import threading
from collections.abc import Callable, Iterator
from itertools import count

from attrs import evolve

from gordon_core.effects import Done, Fault, Outcome, Refused, Unknown
from gordon_core.observation import Gone, HealthStatus, PortBinding, Protocol, Status
from gordon_shell.errors import EngineError
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.memory.uptime import status_text
from gordon_shell.ports import Details, Row, TimeSource

FIRST_EPHEMERAL = 32768
_KILLED = 137
_REFUSED = 128
_PAUSED = {Status.RUNNING: Status.PAUSED}
_UNPAUSED = {Status.PAUSED: Status.RUNNING}
_NO_REFUSAL = Refused("", Fault.WORKLOAD)


class MemoryEngine:
    """Containers that live in this object, in the time of `time`. Many threads may use one."""

    def __init__(self, time: TimeSource) -> None:
        """Have no containers."""
        self.time = time
        self._lock = threading.RLock()
        self._containers: dict[str, Simulated] = {}
        self._refusals: dict[str, Refused] = {}
        self._hangs_s: dict[str, float] = {}
        self._unreachable = ""
        self._starts = 0

    def add(self, *containers: Simulated) -> None:
        """Create containers, or put others in the place of those with the same ID."""
        with self._lock:
            self._containers |= {each.container_id: each for each in containers}

    def rows(self) -> tuple[Row, ...]:
        """List every container. Raise EngineError while unreachable."""
        return tuple(self._row(each) for each in self._read())

    def inspect(self, container_id: str) -> Details | Gone:
        """Read one container. Raise EngineError while unreachable."""
        one = next((each for each in self._read() if each.container_id == container_id), None)
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
        if one.is_alive():
            self.time.sleep(min(one.behaviour.stops_in_s, grace_s))
            self._change(container_id, lambda each: each.stopped(self.time.now(), grace_s) if each.is_alive() else each)
        return Done()

    def remove(self, container_id: str) -> Outcome:
        """Remove a container that is down. One that is gone already is Done."""
        one = self._admit(container_id)
        match one:
            case Simulated() if one.is_alive():
                return Refused(f"You cannot remove a running container {container_id}", Fault.CONFLICT)
            case Simulated():
                self.delete(container_id)
                return Done()
            case Refused():
                return Done()  # the only refusal at the door: there is no such container
            case _:
                return one

    def kill(self, container_id: str, exit_code: int = _KILLED) -> None:
        """End its execution behind the back of whoever started it."""
        self._change(container_id, lambda one: one.ended(self.time.now(), exit_code) if one.is_alive() else one)

    def pause(self, container_id: str) -> None:
        """Freeze it, if it runs."""
        self._change(container_id, lambda one: evolve(one, status=_PAUSED.get(one.status, one.status)))

    def unpause(self, container_id: str) -> None:
        """Let it go on, if it is paused."""
        self._change(container_id, lambda one: evolve(one, status=_UNPAUSED.get(one.status, one.status)))

    def set_status(self, container_id: str, status: Status) -> None:
        """Show any status: REMOVING, RESTARTING, DEAD."""
        self._change(container_id, lambda one: evolve(one, status=status))

    def delete(self, container_id: str) -> None:
        """Remove it, whether it runs or not."""
        with self._lock:
            self._containers.pop(container_id, None)

    def behave(self, container_id: str, behaviour: Behaviour) -> None:
        """Change how it behaves, from now on."""
        self._change(container_id, lambda one: evolve(one, behaviour=behaviour))

    def refuse_start(self, container_id: str, reason: str, fault: Fault = Fault.WORKLOAD) -> None:
        """Refuse every start of it with these words; "" ends that."""
        self._refusals[container_id] = Refused(reason, fault)

    def hang(self, container_id: str, for_s: float) -> None:
        """Leave every command for it without effect, and without an answer for so long; 0 ends that."""
        self._hangs_s[container_id] = for_s

    def unreachable(self, reason: str) -> None:
        """Answer nothing any more, for this reason; "" ends that. The containers live on."""
        with self._lock:
            self._settle()
            self._unreachable = reason

    def start_again(self, *, live_restore: bool = False) -> None:
        """Be an engine that was killed and started again: without live-restore nothing that ran runs any more."""
        with self._lock:
            clock = self.time.now()
            for each in self._containers.values():
                ended_meanwhile = each.at(clock) is not each
                if each.is_alive() and (ended_meanwhile or not live_restore):
                    self._containers[each.container_id] = each.ended(clock, _KILLED)
            self._unreachable = ""

    def holder(self, host_port: int, protocol: Protocol = Protocol.TCP) -> Simulated | None:
        """Return the container that holds a host port now, whether the engine can be reached or not."""
        with self._lock:
            alive = [each.at(self.time.now()) for each in self._containers.values()]
        return next(
            (each for each in alive for port in each.ports if (port.host_port, port.port.protocol) == (host_port, protocol)), None
        )

    def _read(self) -> list[Simulated]:
        with self._lock:
            if self._unreachable:
                message = f"the memory engine gave no answer: {self._unreachable}; make it reachable again"
                raise EngineError(message)
            self._settle()
            return list(self._containers.values())

    def _row(self, one: Simulated) -> Row:
        clock = self.time.now()
        health = one.health(clock).status if one.status is Status.RUNNING else HealthStatus.UNREAD
        since_s = clock.boot_s - (one.started_s if one.is_alive() else one.ended_s)
        text = status_text(one.status, since_s, one.exit.code, health)
        return Row(one.container_id, one.name, one.status, text, health, one.ports, dict(one.labels))

    def _admit(self, container_id: str) -> Simulated | Outcome:
        """Return the container that a command is for, or what becomes of the command at the door."""
        with self._lock:
            self._settle()
            one = self._containers.get(container_id)
            if self._unreachable:
                return Unknown(f"the memory engine did not answer: {self._unreachable}")
            if one is None:
                return Refused(f"No such container: {container_id}", Fault.CONFLICT)
            hangs_s = self._hangs_s.get(container_id, 0.0)
        if hangs_s:
            self.time.sleep(hangs_s)
            return Unknown("the memory engine did not answer: no answer in time")
        return one

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
        refusal = self._refusals.get(one.container_id, _NO_REFUSAL)
        taken = next((host for port, host in one.publishes if (port.protocol, host) in held), 0)
        if taken:
            refusal = Refused(f"Bind for {one.host_ip}:{taken} failed: port is already allocated", Fault.WORKLOAD)
        if refusal.reason:
            self._containers[one.container_id] = evolve(one, exit=evolve(one.exit, code=_REFUSED, error=refusal.reason))
            return refusal
        self._starts += 1
        ports = tuple(sorted(_handed_out(one, held), key=lambda each: (each.port.number, each.port.protocol.value)))
        self._containers[one.container_id] = one.started(self.time.now(), ports, self._starts)
        return Done()

    def _change(self, container_id: str, change: Callable[[Simulated], Simulated]) -> None:
        with self._lock:
            self._settle()
            if container_id in self._containers:
                self._containers[container_id] = change(self._containers[container_id])

    def _settle(self) -> None:
        """Let what was due to end have ended; not while the engine is down, which learns of it later."""
        if not self._unreachable:
            clock = self.time.now()
            self._containers = {each.container_id: each.at(clock) for each in self._containers.values()}


def _handed_out(one: Simulated, held: set[tuple[Protocol, int]]) -> Iterator[PortBinding]:
    """Yield the bindings of a start: fixed ones as asked for, ephemeral ones from the lowest free port."""
    for port, fixed in one.publishes:
        host = fixed or next(each for each in count(FIRST_EPHEMERAL) if (port.protocol, each) not in held)
        held.add((port.protocol, host))
        yield PortBinding(port, one.host_ip, host)
