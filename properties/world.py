"""A host that is simulated: its time, its containers and ports, its proxy, what is on its disk, and who holds which lock.

Nothing here decides anything, and nothing here is random but what a seed says. Mischief is in `faults`, the ports that the
product sees are in `doors`, and what must never happen is in `judges`.
"""

from collections.abc import Callable, Iterator
from enum import Enum
from heapq import heappop, heappush
from itertools import count
from random import Random

from attrs import define, field

from gordon_core.effects import Done, Fault, Outcome, Refused
from gordon_core.observation import Binds, Clock, Port, PortBinding, Protocol, Status
from gordon_shell.memory.store import MemoryStore
from gordon_shell.ports import Service, StateStore
from properties.boxes import Box, Nature
from properties.story import Story

FIRST_EPHEMERAL = 32768
_WALL_BEGAN_S = 1_767_225_600.0
_KILLED, _TERMINATED = 137, 143
_DONE = Done()


def no_such(container_id: str) -> Refused:
    """Return what the engine says of a container that it does not have."""
    return Refused(f"No such container: {container_id}", Fault.CONFLICT)


class Proxy(Enum):
    """In which way the proxy is out of order, for a while."""

    WELL = "it answers"
    REFUSING = "it refuses every change"
    MUTE = "it answers to no change, and makes none"
    CRASHING = "it crashes over the next change"
    BLIND = "it refuses every change, and cannot be read"


@define(eq=False)
class World:
    """One host. `at_s` counts from its beginning; boot and wall time are derived from it.

    `engine_down` is why the engine does not answer ("": it does); `refuses` is by whose fault it starts nothing at all;
    `proxy` is in which way the proxy is out of order. `granted` are the devices that the host grants (None: no policy says).
    """

    seed: int
    disk: StateStore = field(factory=MemoryStore)
    carries: tuple[Protocol, ...] = (Protocol.TCP, Protocol.UDP)
    at_s: float = 0.0
    boot_began_s: float = -5000.0
    boot: int = 1
    wall_off_s: float = _WALL_BEGAN_S
    boxes: dict[str, Box] = field(factory=dict)
    routes: dict[Service, Binds] = field(factory=dict)
    locks: dict[str, str] = field(factory=dict)
    engine_down: str = ""
    refuses: Fault | None = None
    proxy: Proxy = Proxy.WELL
    granted: tuple[str, ...] | None = None
    policy_is_broken: bool = False
    happened: int = 0
    story: Story = field(factory=Story)
    listeners: list[Callable[[str], None]] = field(factory=list)
    chance: Random = field(init=False)
    _events: list[tuple[float, int, Callable[[], None]]] = field(factory=list)
    _serial: Iterator[int] = field(factory=count)
    _starts: Iterator[int] = field(factory=lambda: count(1))

    def __attrs_post_init__(self) -> None:
        """Let the seed say what the natures of containers draw."""
        self.chance = Random(f"world {self.seed}")

    # --- time --------------------------------------------------------------------------------------------------------

    @property
    def boot_s(self) -> float:
        """Return the seconds since boot, suspend included."""
        return self.at_s - self.boot_began_s

    def clock(self) -> Clock:
        """Return the present instant."""
        return Clock(self.boot_s, max(0.0, self.at_s + self.wall_off_s), f"boot-{self.boot}")

    def pass_time(self, seconds: float) -> None:
        """Let time pass, with all that is due in it."""
        until_s = self.at_s + seconds
        while self._events and self._events[0][0] <= until_s:
            due_s, _, event = heappop(self._events)
            self.at_s = max(self.at_s, due_s)
            event()
        self.at_s = max(self.at_s, until_s)

    def later(self, seconds: float, event: Callable[[], None]) -> None:
        """Let something happen after so long."""
        heappush(self._events, (self.at_s + seconds, next(self._serial), event))

    def say(self, container_id: str) -> None:
        """Let the engine say that something happened to a container, to whoever listens."""
        for each in () if self.engine_down else self.listeners:
            each(container_id)

    def tell(self, text: str, *args: object) -> None:
        """Add a line to the story."""
        self.story.tell(self.at_s, text, *args)

    # --- containers --------------------------------------------------------------------------------------------------

    def create(self, container_id: str, nature: Nature, publishes: tuple[tuple[Port, int], ...] = ()) -> Box:
        """Create a container, and do not start it."""
        box = Box(container_id, nature, publishes, Random(f"{self.seed} {container_id}"))
        self.boxes[container_id] = box
        return box

    def start(self, container_id: str) -> Outcome:
        """Do what `docker start` does."""
        box = self.boxes.get(container_id)
        if box is None or box.removed:
            return no_such(container_id)
        match box.status:
            case Status.RUNNING:
                return _DONE
            case Status.PAUSED:
                return Refused("cannot start a paused container, try unpause instead", Fault.CONFLICT)
            case Status.REMOVING:
                return Refused("container is marked for removal and cannot be started", Fault.CONFLICT)
            case _:
                return self._start(box)

    def _start(self, box: Box) -> Outcome:
        if self.refuses is not None:
            return Refused("the engine is out of order", self.refuses)
        if box.nature is Nature.REFUSER:
            return Refused("OCI runtime create failed: exec: not found", Fault.WORKLOAD)
        box.set_mood()
        held = {(each.host_port, each.port.protocol) for other in self.boxes.values() for each in other.ports}
        taken = next((host for port, host in box.publishes if (host, port.protocol) in held), 0)
        if taken:
            return Refused(f"Bind for 127.0.0.1:{taken} failed: port is already allocated", Fault.WORKLOAD)
        ports = tuple(_handed_out(box, held)) if box.mood.binds_ports else ()
        box.begin(f"s{next(self._starts)}", self.at_s, ports)
        self.say(box.container_id)
        self.tell("{} begins to run as {} at {}", box.container_id, box.started_at, [each.host_port for each in ports])
        if box.mood.dies_after_s is not None:
            self._end_later(box, box.mood.dies_after_s)
        return _DONE

    def _end_later(self, box: Box, seconds: float) -> None:
        execution = box.execution

        def end() -> None:
            if box.execution == execution and box.status is Status.RUNNING:
                self.die(box.container_id, 0 if box.ends_well else 1)

        self.later(seconds, end)

    def die(self, container_id: str, code: int = _KILLED) -> None:
        """End an execution behind the back of whoever started it; the engine's restart policy may bring another."""
        box = self.boxes[container_id]
        if not box.is_alive:
            return
        self.happened += 1
        box.end(self.at_s, code)
        self.say(container_id)
        self.tell("{} dies ({}) with code {}", container_id, box.started_at, code)
        if box.restarts_itself and not self.engine_down:
            box.status = Status.RESTARTING
            execution = box.execution

            def restart() -> None:
                if box.execution == execution and box.status is Status.RESTARTING:
                    box.status = Status.EXITED
                    self.tell("the engine's restart policy starts {}", container_id)
                    self._start(box)

            self.later(box.chance.choice([0.1, 1.0, 10.0, 60.0]), restart)

    def stop(self, container_id: str, grace_s: float) -> Outcome:
        """Do what `docker stop` does; the restart policy rests after it."""
        box = self.boxes.get(container_id)
        if box is None or box.removed:
            return no_such(container_id)
        if box.status is Status.RESTARTING:
            box.status, box.execution = Status.EXITED, box.execution + 1
        if box.is_alive:
            self.pass_time(min(box.stops_in_s, grace_s))
        if box.is_alive:
            terminated = 0 if box.ends_well else _TERMINATED
            box.end(self.at_s, terminated if box.stops_in_s <= grace_s else _KILLED)
            self.say(container_id)
            self.tell("{} is stopped", container_id)
        return _DONE

    def remove(self, container_id: str, *, by_force: bool = False) -> Outcome:
        """Do what `docker rm` does, or `docker rm -f`."""
        box = self.boxes.get(container_id)
        if box is None or box.removed:
            return _DONE
        if box.is_alive and not by_force:
            return Refused(f"You cannot remove a running container {container_id}", Fault.CONFLICT)
        if box.is_alive:
            box.end(self.at_s, _KILLED)
        box.removed, box.execution = True, box.execution + 1
        del self.boxes[container_id]
        self.say(container_id)
        self.tell("{} is removed", container_id)
        return _DONE

    def moves_ports(self, box: Box) -> None:
        """Be a network that is taken off a running container and put back: other host ports, and the same execution."""
        box.former |= {(each.host_port, each.port.protocol) for each in box.ports}
        held = box.former | {(each.host_port, each.port.protocol) for other in self.boxes.values() for each in other.ports}
        if box.ports and not any(fixed for _, fixed in box.publishes):
            box.ports = tuple(_handed_out(box, held))
            self.tell("{} is at {} from now on", box.container_id, [each.host_port for each in box.ports])

    def proxy_is(self, proxy: Proxy, seconds: float) -> None:
        """Let the proxy be out of order for so long."""
        self.proxy = proxy
        self.tell("the proxy is out of order: {}", proxy.value)
        self.later(seconds, self._proxy_is_well)

    def proxy_crashes(self) -> Outcome:
        """Let the proxy crash over a change, which is not made; until it is well again, it cannot be read either."""
        if self.proxy is Proxy.CRASHING:
            self.proxy = Proxy.BLIND
        return Refused("the proxy hung up", Fault.ROUTER)

    def _proxy_is_well(self) -> None:
        self.proxy = Proxy.WELL
        self.tell("the proxy is well again")

    def holder(self, host_port: int, protocol: Protocol = Protocol.TCP) -> Box | None:
        """Return the container that holds a host port."""
        return next((each for each in self.boxes.values() if each.holds(host_port, protocol)), None)

    def engine_returns(self, *, live_restore: bool) -> None:
        """Let the engine be back; without live-restore nothing that ran runs any more, and ports are handed out anew."""
        self.engine_down = ""
        self.tell("the engine is back, {} live-restore", "with" if live_restore else "without")
        ended = [each for each in self.boxes.values() if each.is_alive or each.status is Status.RESTARTING]
        for box in [] if live_restore else ended:
            self.happened += 1
            if box.is_alive:
                box.end(self.at_s, _KILLED)
            box.status = Status.EXITED
        for box in [] if live_restore else box_order(ended, self.chance):
            if box.restarts_itself:
                self._start(box)

    def reboot(self) -> None:
        """Be another boot of the host: nothing runs, nothing is routed, no lock is held, and what was under way is lost."""
        self.boot += 1
        self.boot_began_s = self.at_s - 1.0
        self._events.clear()
        self.locks.clear()
        self.routes.clear()
        self.proxy = Proxy.WELL
        self.tell("the host reboots")
        for box in self.boxes.values():
            box.status = Status.DEAD if box.status is Status.REMOVING else box.status
        self.engine_returns(live_restore=False)


def box_order(boxes: list[Box], chance: Random) -> list[Box]:
    """Return the boxes in any order."""
    return chance.sample(boxes, len(boxes))


def _handed_out(box: Box, held: set[tuple[int, Protocol]]) -> Iterator[PortBinding]:
    """Yield the bindings of a start: fixed ones as asked for, ephemeral ones from the lowest free port."""
    for port, fixed in box.publishes:
        host = fixed or next(each for each in count(FIRST_EPHEMERAL) if (each, port.protocol) not in held)
        held.add((host, port.protocol))
        yield PortBinding(port, box.host_ip, host)
