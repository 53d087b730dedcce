"""What happens in the simulated world beside the calls of the product: deaths, outages, hands at the proxy, clocks, deploys."""

from collections.abc import Callable, Iterator
from functools import partial
from random import Random

from attrs import define, field

from gordon_core.observation import Bind, HealthStatus, Status
from gordon_core.snapshot import Intent
from gordon_shell.ports import Service
from properties.boxes import Box, Nature
from properties.deploys import DEVICE, HTTP, DeployTool
from properties.faults import Mischief
from properties.programs import Program
from properties.tuned import tuning_drawn
from properties.world import FIRST_EPHEMERAL, Proxy, World

THEMES = 9
_HOUR_S = 3600.0


def _give_up_removing(box: Box) -> None:
    if box.status is Status.REMOVING:
        box.status = Status.DEAD


@define(eq=False)
class Mischiefs:
    """Everything that can happen, as one list to draw from. `beside` is a second program that may run a pass at any moment.

    `power_cut` takes the host down, and with it the program in whose call it happens (None: there is no such).
    `theme` (0: none, up to THEMES) says of which kind more happens.
    """

    world: World
    tool: DeployTool
    services: tuple[Service, ...]
    theme: int = 0
    beside: Program | None = None
    power_cut: Callable[[], None] | None = None
    strangers: int = 0
    choices: tuple[Mischief, ...] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Put what happens more often in more than once."""
        deaths: tuple[Mischief, ...] = (
            self.kill, self.kill, self.kill, self.pause, self.unpause, self.unpause, self.delete, self.removing,
            self.restart_by_hand, self.stranger, self.finish,
        )  # fmt: skip
        engine: tuple[Mischief, ...] = (self.engine_restarts, self.engine_is_away, self.health_lies, self.health_freezes)
        proxy: tuple[Mischief, ...] = (
            self.proxy_forgets, self.proxy_by_hand, self.proxy_by_hand, self.port_is_taken, self.ports_move,
            self.proxy_is_out_of_order, self.proxy_is_botched, self.replaced_in_the_dark,
        )  # fmt: skip
        clocks: tuple[Mischief, ...] = (self.step_wall, self.suspend, self.power_fails)
        deploys: tuple[Mischief, ...] = (self.deploy, self.deploy, self.deploy, self.remove)
        operator: tuple[Mischief, ...] = (self.intend, self.intend, self.inhibit, self.allow, self.retry, self.grants_change)
        every = (*deaths, *engine, *proxy, *clocks, *deploys, *operator, self.second, self.second)
        themes = (
            deaths,
            engine * 3,
            proxy * 3,
            clocks * 3,
            deploys * 4,
            operator * 3,
            deploys * 2 + proxy * 2,
            deaths + proxy * 2,
            (self.proxy_is_out_of_order, self.proxy_is_botched, self.replaced_in_the_dark, self.kill) * 3 + deploys + operator,
        )
        self.choices = (*every, *(themes[self.theme - 1] * 3 if self.theme else ()))

    def _any(self, chance: Random, *statuses: Status) -> Iterator[Box]:
        """Yield one container of these statuses, if there is any."""
        found = [each for each in self.world.boxes.values() if each.status in statuses]
        if found:
            yield chance.choice(found)

    def kill(self, chance: Random) -> None:
        """A container dies."""
        for box in self._any(chance, Status.RUNNING):
            self.world.die(box.container_id, chance.choice([0, 1, 137]))

    def pause(self, chance: Random) -> None:
        """Somebody pauses a container."""
        for box in self._any(chance, Status.RUNNING):
            box.status = Status.PAUSED
            self.world.say(box.container_id)
            self.world.tell("{} is paused", box.container_id)

    def unpause(self, chance: Random) -> None:
        """Somebody unpauses a container."""
        for box in self._any(chance, Status.PAUSED):
            box.status = Status.RUNNING
            self.world.say(box.container_id)
            self.world.tell("{} is unpaused", box.container_id)

    def delete(self, chance: Random) -> None:
        """Somebody removes a container by force, now and then."""
        for box in self._any(chance, Status.RUNNING, Status.EXITED):
            if chance.random() < 0.3:
                self.world.remove(box.container_id, by_force=True)

    def removing(self, chance: Random) -> None:
        """A removal of a container gets stuck for a while, and fails."""
        for box in self._any(chance, Status.EXITED):
            box.status = Status.REMOVING
            self.world.tell("{} is being removed", box.container_id)
            self.world.later(chance.choice([1.0, 30.0]), partial(_give_up_removing, box))

    def restart_by_hand(self, chance: Random) -> None:
        """Somebody restarts a container, or starts one."""
        for box in self._any(chance, Status.RUNNING, Status.EXITED, Status.CREATED):
            self.world.tell("somebody restarts {}", box.container_id)
            if box.is_alive:
                box.end(self.world.at_s, 0)
            self.world.start(box.container_id)

    def engine_restarts(self, chance: Random) -> None:
        """The engine is killed and started again at once."""
        self.world.engine_returns(live_restore=chance.random() < 0.5)

    def engine_is_away(self, chance: Random) -> None:
        """The engine is down for a while."""
        if not self.world.engine_down:
            self.world.engine_down = "killed"
            self.world.tell("the engine is down")
            live_restore = chance.random() < 0.5
            self.world.later(chance.choice([0.5, 10.0, 100.0]), lambda: self.world.engine_returns(live_restore=live_restore))

    def proxy_forgets(self, chance: Random) -> None:
        """The proxy is killed and started again, and has forgotten its routes."""
        del chance
        self.world.routes.clear()
        self.world.tell("the proxy forgets its routes")

    def proxy_by_hand(self, chance: Random) -> None:
        """Somebody changes a route: to another container, to nobody, or of a service that nobody knows."""
        service = chance.choice((*self.services, ("ghost", "web")))
        ports = [port.host_port for box in self.world.boxes.values() for port in box.ports] or [FIRST_EPHEMERAL]
        self.world.routes[service] = (Bind(HTTP, chance.choice((*ports, FIRST_EPHEMERAL + 9))),)
        self.world.tell("somebody routes {} to {}", service, self.world.routes[service][0].host_port)

    def port_is_taken(self, chance: Random) -> None:
        """A container dies, and the next one that starts gets its port, while its route is still there."""
        for box in self._any(chance, Status.RUNNING):
            self.world.die(box.container_id)
            others = [each for each in self.world.boxes.values() if not each.is_alive and each is not box]
            if others:
                self.world.tell("somebody starts another container at once")
                self.world.start(chance.choice(others).container_id)

    def ports_move(self, chance: Random) -> None:
        """The network of a running container is taken off and put back: it has other ports."""
        for box in self._any(chance, Status.RUNNING):
            self.world.moves_ports(box)

    def proxy_is_out_of_order(self, chance: Random) -> None:
        """The proxy takes no commands for a while, and may be unreadable as well."""
        out_of_order = chance.choice((Proxy.REFUSING, Proxy.MUTE, Proxy.BLIND, Proxy.CRASHING, Proxy.CRASHING))
        self.world.proxy_is(out_of_order, chance.choice([0.5, 10.0, 40.0, 100.0, 200.0]))

    def proxy_is_botched(self, chance: Random) -> None:
        """Somebody routes a service elsewhere, and the proxy will crash over the next change; its container may die as well."""
        self.proxy_by_hand(chance)
        self.world.proxy_is(Proxy.CRASHING, chance.choice([10.0, 40.0, 100.0]))
        for box in self._any(chance, Status.RUNNING):
            if chance.random() < 0.7:
                self.world.die(box.container_id)

    def replaced_in_the_dark(self, chance: Random) -> None:
        """What is deployed is inhibited while the proxy takes no commands, and replaced before that is over."""
        service = chance.choice(self.services)
        self.tool.inhibit(service, lift=False)
        self.world.proxy_is(Proxy.REFUSING, chance.choice([10.0, 40.0, 100.0]))
        self.world.later(chance.choice([5.0, 20.0, 40.0]), lambda: self.tool.activate_only(service, chance))

    def stopped_in_the_dark(self, chance: Random) -> None:
        """An app is stopped right after a switch, before the old container went, while the proxy takes no commands."""
        service = chance.choice(self.services)
        self.tool.switch(service, chance)
        self.world.proxy_is(Proxy.REFUSING, chance.choice([10.0, 40.0, 100.0]))
        self.tool.intend(service[0], Intent.STOPPED)
        self.world.later(chance.choice([30.0, 120.0]), lambda: self.tool.intend(service[0], Intent.RUNNING))

    def power_fails(self, chance: Random) -> None:
        """The host goes down in the middle of a pass, now and then, and comes up again."""
        if self.power_cut is not None and chance.random() < 0.2:
            self.power_cut()

    def grants_change(self, chance: Random) -> None:
        """The host policy is written anew: it grants a device, or nothing; or it is removed, or broken."""
        self.world.policy_is_broken = chance.random() < 0.2
        self.world.granted = chance.choice([None, (), (DEVICE,)])
        self.world.tell("the host policy grants {}", "?" if self.world.policy_is_broken else self.world.granted)

    def step_wall(self, chance: Random) -> None:
        """The wall clock is set, by hours."""
        hours = chance.choice([-30, -5, -1, 1, 5, 30])
        self.world.wall_off_s += hours * _HOUR_S
        self.world.tell("the wall clock is set by {} hours", hours)

    def suspend(self, chance: Random) -> None:
        """The host is suspended, for minutes or hours."""
        seconds = chance.choice([120.0, 400.0, 3 * _HOUR_S])
        self.world.tell("the host is suspended for {} s", seconds)
        self.world.pass_time(seconds)

    def health_lies(self, chance: Random) -> None:
        """The engine has no result of a health check, or cannot say."""
        for box in self._any(chance, Status.RUNNING):
            if box.has_check:
                box.shown = chance.choice([HealthStatus.STARTING, HealthStatus.UNREAD, HealthStatus.UNHEALTHY])
                self.world.say(box.container_id)
                self.world.tell("the engine says {} of {}", box.shown.value, box.container_id)

    def health_freezes(self, chance: Random) -> None:
        """The health checks of a container are stuck at their last result."""
        for box in self._any(chance, Status.RUNNING):
            box.frozen_s = None if box.frozen_s is not None else self.world.at_s

    def deploy(self, chance: Random) -> None:
        """A deploy begins."""
        self.tool.deploy(chance.choice(self.services), Random(chance.random()))

    def finish(self, chance: Random) -> None:
        """A workload that was ill becomes a kind one: what was waited for can serve at last."""
        for box in self._any(chance, Status.RUNNING, Status.EXITED, Status.CREATED):
            box.nature = Nature.KIND
            self.world.tell("{} is a kind one from now on", box.container_id)

    def remove(self, chance: Random) -> None:
        """A service leaves ACTIVE, now and then."""
        if chance.random() < 0.3:
            self.tool.remove(chance.choice(self.services), chance)

    def intend(self, chance: Random) -> None:
        """The operator stops or starts an app."""
        self.tool.intend(chance.choice(self.services)[0], chance.choice([Intent.RUNNING, Intent.RUNNING, Intent.STOPPED]))

    def inhibit(self, chance: Random) -> None:
        """The operator inhibits a generation, now and then."""
        if chance.random() < 0.3:
            self.tool.inhibit(chance.choice(self.services), lift=False)

    def allow(self, chance: Random) -> None:
        """The operator allows it again."""
        self.tool.inhibit(chance.choice(self.services), lift=True)

    def retry(self, chance: Random) -> None:
        """The operator forgets a history."""
        self.tool.retry(chance.choice(self.services))

    def tunes(self, chance: Random) -> None:
        """The operator does something of that of which only some courses have anything, now and then."""
        for act in chance.sample((self.hold, self.hold, self.hold, self.release, self.tune, self.retry, self.intend), 2):
            if chance.random() < 0.3:
                act(chance)

    def hold(self, chance: Random) -> None:
        """The operator wants a service left as it is for a while."""
        self.tool.hold(chance.choice(self.services), chance.choice([5.0, 60.0, 300.0, 900.0]))

    def release(self, chance: Random) -> None:
        """The operator ends a hold."""
        self.tool.hold(chance.choice(self.services), None)

    def tune(self, chance: Random) -> None:
        """The operator sets constants of a service, or no more."""
        self.tool.tune(chance.choice(self.services), tuning_drawn(chance))

    def stranger(self, chance: Random) -> None:
        """A container that nobody told the product of takes the next free port."""
        self.strangers += 1
        box = self.world.create(f"stranger-{self.strangers}", chance.choice([Nature.KIND, Nature.LOOPER]), ((HTTP, 0),))
        self.world.start(box.container_id)

    def second(self, chance: Random) -> None:
        """A second program runs a pass, in the middle of a call of the first."""
        del chance
        if self.beside is not None and self.beside.alive and not self.beside.busy:
            self.beside.run_pass()
