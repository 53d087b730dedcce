"""What happens beside the calls of a deploy: deaths, an engine that is away, an operator's hands, a pass, a cancel."""

from collections.abc import Callable, Iterator
from functools import wraps
from random import Random
from typing import Concatenate, ParamSpec

from attrs import define, evolve, field

from gordon_core.deployment import names
from gordon_core.observation import HealthStatus, Status
from gordon_core.snapshot import Hold
from gordon_shell.ports import OWNER_LABELS, Service
from properties.boxes import Box
from properties.deploy_court import DeployCourt, Tag
from properties.deploy_doors import DeployProgram, SimulatedImage, bearer, create_box
from properties.faults import Mischief
from properties.tuned import is_held
from properties.world import World

P = ParamSpec("P")
LONGEST_HOLD_S = 900.0
_HOUR_S = 3600.0


def _counted(
    happening: Callable[Concatenate["DeployMischiefs", P], None],
) -> Callable[Concatenate["DeployMischiefs", P], None]:
    """Let what happens excuse a command that is based on an earlier look."""

    @wraps(happening)
    def counted(self: "DeployMischiefs", *args: P.args, **kwargs: P.kwargs) -> None:
        self.world.happened += 1
        self.happened += 1
        happening(self, *args, **kwargs)

    return counted


@define(eq=False)
class DeployMischiefs:
    """Everything that can happen, as one list to draw from. `renames`: the operator gives containers other names; else others'
    containers bear a name of a service. `holds`: the operator holds services, and releases them. `beside` may run a pass at any
    moment; `cancel` ends the deploy under way."""

    world: World
    court: DeployCourt
    services: tuple[Service, ...]
    renames: bool
    holds: bool = False
    beside: DeployProgram | None = None
    cancel: Callable[[str], None] | None = None
    happened: int = 0
    choices: tuple[Mischief, ...] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Put what happens more often in more than once."""
        self.choices = (
            self.kill, self.kill, self.kill_newest, self.kill_newest, self.delete, self.stop_by_hand, self.pause, self.unpause,
            self.unpause, self.engine_restarts, self.engine_is_away, self.proxy_forgets, self.step_wall, self.health_lies,
            self.be_cancelled, self.be_cancelled, self.second, self.second, self.leave_one,
            self.rename if self.renames else self.take_a_name,
        )  # fmt: skip
        if self.holds:
            self.choices = (*self.choices, self.hold, self.hold, self.hold, self.release)

    def _any(self, chance: Random, *statuses: Status) -> Iterator[Box]:
        """Yield one container of a deploy with one of these statuses, if there is any."""
        found = [each for name, each in self.world.boxes.items() if each.status in statuses and name in self.court.tags]
        if found:
            yield chance.choice(found)

    @_counted
    def kill(self, chance: Random) -> None:
        """A container dies."""
        for box in self._any(chance, Status.RUNNING):
            self.world.die(box.container_id, chance.choice([0, 1, 137]))

    @_counted
    def kill_newest(self, chance: Random) -> None:
        """The container that was made last dies."""
        del chance
        newest = list(self.world.boxes)[-1:]
        for each in newest:
            self.world.die(each, 1)

    @_counted
    def delete(self, chance: Random) -> None:
        """Somebody removes a container by force, now and then."""
        for box in self._any(chance, Status.RUNNING, Status.EXITED, Status.CREATED):
            if chance.random() < 0.5:
                self.world.tell("docker rm -f {}", box.container_id)
                self.world.remove(box.container_id, by_force=True)

    @_counted
    def stop_by_hand(self, chance: Random) -> None:
        """Somebody stops a container."""
        for box in self._any(chance, Status.RUNNING):
            self.world.tell("docker stop {}", box.container_id)
            box.end(self.world.at_s, 143)

    @_counted
    def pause(self, chance: Random) -> None:
        """Somebody pauses a container, for a while."""
        for box in self._any(chance, Status.RUNNING):
            box.status = Status.PAUSED
            self.world.tell("docker pause {}", box.container_id)

    @_counted
    def unpause(self, chance: Random) -> None:
        """Somebody unpauses a container."""
        for box in self._any(chance, Status.PAUSED):
            box.status = Status.RUNNING
            self.world.tell("docker unpause {}", box.container_id)

    @_counted
    def engine_restarts(self, chance: Random) -> None:
        """The engine is killed and started again at once."""
        self.world.engine_returns(live_restore=chance.random() < 0.5)

    @_counted
    def engine_is_away(self, chance: Random) -> None:
        """The engine is down for a while."""
        if not self.world.engine_down:
            self.world.engine_down = "killed"
            self.world.tell("the engine is down")
            self.world.later(chance.choice([0.5, 10.0, 60.0]), lambda: self._is_back(live_restore=chance.random() < 0.5))

    @_counted
    def _is_back(self, *, live_restore: bool) -> None:
        self.world.engine_returns(live_restore=live_restore)

    @_counted
    def proxy_forgets(self, chance: Random) -> None:
        """The proxy is killed and started again, and has forgotten its routes."""
        del chance
        self.world.routes.clear()
        self.world.tell("the proxy forgets its routes")

    @_counted
    def step_wall(self, chance: Random) -> None:
        """The wall clock is set, by hours."""
        self.world.wall_off_s += chance.choice([-30, -1, 1, 30]) * _HOUR_S
        self.world.tell("the wall clock is set")

    @_counted
    def health_lies(self, chance: Random) -> None:
        """The engine has no result of a health check, or a bad one."""
        for box in self._any(chance, Status.RUNNING):
            if box.has_check:
                box.shown = chance.choice([HealthStatus.STARTING, HealthStatus.UNREAD, HealthStatus.UNHEALTHY, None])
                self.world.tell("the engine says {} of {}", box.shown, box.container_id)

    @_counted
    def rename(self, chance: Random) -> None:
        """Somebody gives a container another name that is free: one of the service's, or any."""
        for box in self._any(chance, *Status):
            tag = self.court.tags[box.container_id]
            own = names(*(tag.service or self.services[0]))
            name = chance.choice([own.canonical, *own.temporary, f"mine-{box.container_id}"])
            if not bearer(self.world, self.court.tags, name):
                self.court.tags[box.container_id] = evolve(tag, name=name)
                self.world.tell("docker rename {} {}", box.container_id, name)

    @_counted
    def take_a_name(self, chance: Random) -> None:
        """Somebody's own container bears the first of a service's temporary names, or the canonical one."""
        own = names(*chance.choice(self.services))
        self._leave(chance.choice([own.canonical, own.temporary[0]]), {}, starts=chance.random() < 0.5)

    @_counted
    def leave_one(self, chance: Random) -> None:
        """An earlier deploy was killed before it could write its container down."""
        service = chance.choice(self.services)
        labels = dict(zip(OWNER_LABELS, service, strict=True))
        starts = self.renames and chance.random() < 0.5
        self._leave(names(*service).temporary[0 if starts else chance.randrange(2)], labels, starts=starts)

    def _leave(self, name: str, labels: dict[str, str], *, starts: bool) -> None:
        if bearer(self.world, self.court.tags, name):
            return
        like = next(each.blueprint for each in self.court.tags.values() if each.service in self.services)
        blueprint = evolve(like, ports=tuple(evolve(each, host_port=0) for each in like.ports))
        left = create_box(self.world, self.court.tags, Tag(name, labels, blueprint, ""), SimulatedImage("left"))
        self.world.tell("{} is there, named {}, {}", left, name, "of a deploy" if labels else "of somebody else")
        if starts:
            self.world.start(left)

    @_counted
    def hold(self, chance: Random) -> None:
        """Somebody wants a service left as it is; `gordon-shell hold` waits for the lock, who writes to the store need not."""
        service, seconds = chance.choice(self.services), chance.choice([5.0, 60.0, 300.0, LONGEST_HOLD_S])
        stored, clock = self.court.stored(service), self.world.clock()
        if stored is not None:
            if not is_held(stored, clock):
                self.court.held_at[service] = self.world.happened
            end = Hold(clock.boot_s + seconds, clock.wall_s + seconds, clock.boot_id, "alice", "a test")
            self.world.disk.set_hold(*service, end)
            self.world.tell("{} is held for {} s", service, seconds)

    @_counted
    def release(self, chance: Random) -> None:
        """The hold of a service ends early."""
        service = chance.choice(self.services)
        if self.court.stored(service) is not None:
            self.world.disk.set_hold(*service, None)
            self.world.tell("{} is released", service)

    def be_cancelled(self, chance: Random) -> None:
        """Somebody wants the deploy under way to end."""
        del chance
        if self.cancel is not None:
            self.world.tell("the deploy is cancelled")
            self.cancel("the operator")

    def second(self, chance: Random) -> None:
        """Another program runs a pass, in the middle of a call."""
        del chance
        if self.beside is not None and self.beside.alive and not self.beside.busy:
            self.beside.run_pass()
