"""The containers of the memory engine, and what an operator, a crash or the engine itself does to them behind a port's back.

They behave as those of a Docker engine were seen to: ephemeral ports go from 32768 to whoever starts first and are free again at
the end of an execution, and an engine that is killed takes its containers with it unless it has live-restore.
"""

import threading
from collections.abc import Callable, Iterator
from itertools import count

from attrs import evolve

from gordon_core.observation import PortBinding, Protocol, Status
from gordon_shell.errors import EngineError
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.memory.events import MemoryEventStream, Voice
from gordon_shell.ports import TimeSource

FIRST_EPHEMERAL = 32768
KILLED = 137
_PAUSED = {Status.RUNNING: Status.PAUSED}
_UNPAUSED = {Status.PAUSED: Status.RUNNING}


class MemoryContainers:
    """Containers that live in this object, in the time of `time`. Many threads may use one."""

    def __init__(self, time: TimeSource) -> None:
        """Have no containers."""
        self.time = time
        self._lock = threading.RLock()
        self._containers: dict[str, Simulated] = {}
        self._unreachable = ""
        self._voice = Voice()

    def add(self, *containers: Simulated) -> None:
        """Create containers, or put others in the place of those with the same ID."""
        with self._lock:
            for each in containers:
                self._put(each)

    def events(self) -> MemoryEventStream:
        """Begin to listen. Raise EngineError while unreachable."""
        with self._lock:
            if self._unreachable:
                message = f"the memory engine gave no answer: {self._unreachable}; make it reachable again"
                raise EngineError(message)
            self._settle()
            stream = MemoryEventStream(self._lock, self._settle)
            self._voice.streams.append(stream)
        return stream

    def kill(self, container_id: str, exit_code: int = KILLED) -> None:
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
            one = self._containers.pop(container_id, None)
            if one is not None:
                self._voice.compare(one, None, self.time.now())

    def behave(self, container_id: str, behaviour: Behaviour) -> None:
        """Change how it behaves, from now on."""
        self._change(container_id, lambda one: evolve(one, behaviour=behaviour))

    def say(self, container_id: str, *lines: str) -> None:
        """Have it print these lines."""
        said = tuple((self.time.now().wall_s, each) for each in lines)
        self._change(container_id, lambda one: evolve(one, lines=one.lines + said))

    def unreachable(self, reason: str) -> None:
        """Answer nothing any more, for this reason; "" ends that. The containers live on, and events end."""
        with self._lock:
            self._settle()
            self._unreachable = reason
            self._voice.hush()

    def start_again(self, *, live_restore: bool = False) -> None:
        """Be an engine that was killed and started again: without live-restore nothing that ran runs any more."""
        with self._lock:
            clock = self.time.now()
            self._voice.hush()
            for each in self._containers.values():
                ended_meanwhile = each.at(clock) is not each
                if each.is_alive() and (ended_meanwhile or not live_restore):
                    self._containers[each.container_id] = each.ended(clock, KILLED)
            self._unreachable = ""

    def holder(self, host_port: int, protocol: Protocol = Protocol.TCP) -> Simulated | None:
        """Return the container that holds a host port now, whether the engine can be reached or not."""
        with self._lock:
            alive = [each.at(self.time.now()) for each in self._containers.values()]
        return next(
            (each for each in alive for port in each.ports if (port.host_port, port.port.protocol) == (host_port, protocol)), None
        )

    def _change(self, container_id: str, change: Callable[[Simulated], Simulated]) -> None:
        with self._lock:
            self._settle()
            if container_id in self._containers:
                self._put(change(self._containers[container_id]))

    def _put(self, one: Simulated) -> None:
        """Put a container in the place of what it was, and tell whoever listens what happened."""
        before = self._containers.get(one.container_id)
        self._containers[one.container_id] = one
        self._voice.compare(before, one, self.time.now())

    def _settle(self) -> None:
        """Let what was due to end have ended; not while the engine is down, which learns of it later."""
        if self._unreachable:
            return
        clock = self.time.now()
        before = self._containers
        self._containers = {each.container_id: each.at(clock) for each in before.values()}
        if self._voice.streams:
            for each in self._containers.values():
                self._voice.compare(before[each.container_id], each, clock)


def handed_out(one: Simulated, held: set[tuple[Protocol, int]]) -> Iterator[PortBinding]:
    """Yield the bindings of a start: fixed ones as asked for, ephemeral ones from the lowest free port."""
    for port, fixed in one.publishes:
        host = fixed or next(each for each in count(FIRST_EPHEMERAL) if (port.protocol, each) not in held)
        held.add((port.protocol, host))
        yield PortBinding(port, one.host_ip, host)
