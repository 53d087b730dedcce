"""Faults of the product that these worlds found, each as the shortest story that shows it."""

from collections.abc import Sequence

import pytest
from attrs import define, evolve

from gordon_core.effects import Start, Unknown
from gordon_core.memory import Memory, Verified
from gordon_core.observation import (
    Bind,
    Clock,
    Container,
    Gone,
    Health,
    HealthStatus,
    Port,
    PortBinding,
    Protocol,
    RouteSeen,
    Status,
    Unread,
)
from gordon_core.planner import decide, plan
from gordon_core.situations import Situation
from gordon_core.snapshot import Declared, Intent, Snapshot, Subject, Superseded
from gordon_shell.memory.store import MemoryStore
from gordon_shell.ports import Marker, Service
from gordon_shell.recollection import Recollection
from properties.boxes import Nature
from properties.deploys import HTTP
from properties.faults import COMMANDS, ROUTER_READS, Dice, Fate, Mischief, Weather
from properties.twins import Scenario, Spell, Twin
from properties.voyage import Course, Voyage, look_at
from properties.world import World

WEB = ("shop", "web")


class HangsOnce(Dice):
    """Lets the first command to the engine or the router hang."""

    hung = False

    def fate(self, fates: Sequence[Fate]) -> Fate:
        """Draw no fault but that one."""
        if fates is not COMMANDS or self.hung:
            return Fate.WELL
        self.hung = True
        return Fate.HANGS


@define(eq=False)
class WithdrawsInVain(Dice):
    """Lets the first withdrawal fail; once the router was read after that, the proxy forgets its routes."""

    world: World | None = None
    failed: bool = False
    was_read: bool = False

    def fate(self, fates: Sequence[Fate]) -> Fate:
        """Draw no fault but that one."""
        if fates is COMMANDS and not self.failed:
            self.failed = True
            return Fate.FAILS
        self.was_read = self.was_read or (self.failed and fates is ROUTER_READS)
        return Fate.WELL

    def mischief(self, choices: Sequence[Mischief]) -> None:
        """Forget."""
        del choices
        if self.was_read and self.world is not None:
            self.world.routes.clear()


class HangsAndIsGone(HangsOnce):
    """And lets every other command fail, and every read of the router, from then on."""

    def fate(self, fates: Sequence[Fate]) -> Fate:
        """Draw no fault but these."""
        return Fate.FAILS if self.hung and fates in (ROUTER_READS, COMMANDS) else super().fate(fates)


class BlindAtFirst(Dice):
    """Lets so many reads of the router fail, and then none."""

    left = 0

    def fate(self, fates: Sequence[Fate]) -> Fate:
        """Draw no fault but that one."""
        if fates is not ROUTER_READS or self.left == 0:
            return Fate.WELL
        self.left -= 1
        return Fate.FAILS


def still(seed: int = 1) -> Voyage:
    """Return a world with nothing in it, where nothing goes wrong by itself."""
    return Voyage(Course(seed, weather=Weather(0.0, 0.0), has_second=False, services=()))


def test_time_that_nobody_looked_at_drops_no_history() -> None:
    """Seed 244: the host was suspended between a look and the decision about it, and one stable look counted as five minutes."""
    voyage = still()
    voyage.tool.adopt(WEB, voyage.chance, Nature.KIND)
    voyage.world.pass_time(20.0)
    voyage.rough_pass()
    voyage.world.die("web-1")
    voyage.rough_pass()
    voyage.world.pass_time(20.0)
    voyage.rough_pass()
    subject = look_at(voyage).subjects[0]
    assert subject.memory.window is not None
    assert Situation.PROVING is decide(subject, voyage.world.boot_s + 10_000.0).situation


def test_a_start_that_hangs_is_on_record_in_its_own_pass() -> None:
    """Seed 450: what came back too late was forgotten within its pass, so that a second start could follow in the same pass."""
    voyage = still()
    box = voyage.tool.box(WEB, voyage.chance, Nature.KIND)
    voyage.world.disk.activate(*WEB, voyage.tool.declared(box, 1, voyage.chance), 0, None)
    voyage.program.dice = HangsOnce(1, Weather(0.0, 0.0))
    report = voyage.rough_pass()
    assert report is not None
    last = report.results[WEB][-1]
    assert isinstance(last.effect, Start)
    assert isinstance(last.outcome, Unknown)


def test_what_was_forgotten_is_not_written_again() -> None:
    """Seed 2113: a charge that the store had refused was held, and written after its container was gone and forgotten."""
    store = MemoryStore()
    store.activate(*WEB, Declared("web-1", 1), 0, None)
    recollection = Recollection(store)
    before = Subject(*WEB, Gone(), Declared("web-1", 1))
    store.fail_writes("the disk is full")
    recollection.keep(before, evolve(before, memory=Memory(failures=1)))
    store.fail_writes(None)
    recollection.forget(*WEB, "web-1")
    assert () == recollection.write_held({"shop"})
    stored = store.read_service(*WEB)
    assert stored is not None
    assert Memory() == stored.memory


def test_a_route_that_is_gone_by_now_contests_no_port() -> None:
    """Seed 5051: a serving container was stopped for another's route that its own look had shown to be gone."""
    voyage = two_that_serve()
    voyage.world.routes["blog", "blog"] = voyage.world.routes[WEB]
    voyage.program.dice = WithdrawsInVain(1, Weather(0.0, 0.0), world=voyage.world)
    voyage.rough_pass()
    assert voyage.program.dice.failed
    assert [] == [each for each in voyage.court.notes(voyage.program.name).commands if each.startswith("stop")]


def two_that_serve() -> Voyage:
    """Return a still world with two services that are verified and routed."""
    voyage = still()
    for service in (WEB, ("blog", "blog")):
        voyage.world.create(service[1], Nature.KIND, ((Port(80), 0),))
        voyage.world.start(service[1])
        voyage.world.disk.activate(*service, Declared(service[1], 1, (Port(80),)), 0, None)
    voyage.rough_pass()
    return voyage


@pytest.mark.parametrize("service", [("blog", "blog"), ("ghost", "web")])
def test_a_route_that_could_not_be_read_before_contests_a_port(service: Service) -> None:
    """Seed 4990: the router was silent at first; a service was then published at a port that another's wrong route names, since
    what was not on the board when the round began was never looked for there."""
    voyage = two_that_serve()
    voyage.world.routes[service] = voyage.world.routes[WEB]
    voyage.world.die("web")
    voyage.program.dice = blind = BlindAtFirst(1, Weather(0.0, 0.0))
    blind.left = 2
    voyage.rough_pass()
    commands = [each.split(" at ")[0] for each in voyage.court.notes(voyage.program.name).commands]
    assert 32768 == voyage.world.boxes["web"].ports[0].host_port
    assert commands.index(f"withdraw {'/'.join(service)}") < commands.index("start web") < commands.index("publish shop/web")


def test_a_withdrawal_that_hangs_is_unproven() -> None:
    """Seed 10316: one that never came back left no mark, so that what is not published was started beside the route to it."""
    voyage = still()
    box = voyage.tool.box(WEB, voyage.chance, Nature.KIND)
    voyage.world.disk.activate(*WEB, Declared(box.container_id, 1, (HTTP,), published=False), 0, None)
    voyage.world.routes[WEB] = (_WEB_BIND,)
    voyage.program.dice = HangsAndIsGone(1, Weather(0.0, 0.0))
    voyage.rough_pass()
    stored = voyage.world.disk.read_service(*WEB)
    assert stored is not None
    assert stored.unproven
    assert ["withdraw shop/web"] * 2 == [each for each in voyage.court.notes(voyage.program.name).commands if "mark" not in each]
    voyage.program.dice = Dice(1, Weather(0.0, 0.0))
    voyage.rough_pass()
    assert 1 == box.starts


def test_a_predecessor_at_other_ports_by_now_is_no_longer_served_at_its_old_ones() -> None:
    """Seed 22269: its network was taken off and put back; its route was kept, to a port at which nobody was, for the successor
    that did not serve yet."""
    voyage = still()
    for container_id, nature in (("web-1", Nature.KIND), ("web-2", Nature.UNREADY)):
        voyage.world.create(container_id, nature, ((HTTP, 0),))
        voyage.world.start(container_id)
    voyage.world.disk.activate(*WEB, Declared("web-1", 1, (HTTP,)), 0, None)
    voyage.rough_pass()
    stored = voyage.world.disk.read_service(*WEB)
    assert stored is not None
    assert stored.declared is not None
    marker = Marker("web-1", 0.0, stored.declared.binds, stored.memory.verified)
    voyage.world.disk.activate(*WEB, Declared("web-2", 2, (HTTP,)), 1, marker)
    voyage.rough_pass()
    assert WEB in voyage.world.routes
    voyage.world.moves_ports(voyage.world.boxes["web-1"])
    voyage.rough_pass()
    assert WEB not in voyage.world.routes


# --- found by the differential test ------------------------------------------------------------------------------------------

_CLOCK = Clock(5000.0, 1_767_225_600.0, "boot-1")
_DNS = Port(53, Protocol.UDP)
_WEB_BIND = Bind(HTTP, 32768)
_BOTH = (PortBinding(HTTP, "127.0.0.1", 32769), PortBinding(_DNS, "127.0.0.1", 32768))


def _running(container_id: str, *ports: PortBinding, health: HealthStatus = HealthStatus.NONE) -> Container:
    return Container(container_id, Status.RUNNING, "s1", Health(health), ports)


def test_a_port_held_for_udp_does_not_cost_the_working_predecessor_its_tcp_route() -> None:
    """Differential, seed 258: the successor held the UDP port of the same number, and the old generation was withdrawn for it."""
    old = Superseded("web-1", _running("web-1", PortBinding(HTTP, "127.0.0.1", 32768)), verified=Verified("s1", (_WEB_BIND,), 1))
    new = Subject(
        *WEB,
        _running(
            "web-2", PortBinding(HTTP, "127.0.0.1", 32769), PortBinding(_DNS, "127.0.0.1", 32768), health=HealthStatus.STARTING
        ),
        Declared("web-2", 2, (HTTP, _DNS)),
        route=RouteSeen((_WEB_BIND,)),
        superseded=(old,),
    )
    assert Situation.STARTING is decide(new, _CLOCK.boot_s).situation


def test_a_port_held_for_udp_contradicts_no_tcp_route() -> None:
    """Differential, seed 593: TCP and UDP were one in the search for clashes; silence about a container cost its traffic."""
    web = Subject(
        *WEB,
        Unread("no answer"),
        Declared("web-1", 1, (HTTP,), (_WEB_BIND,)),
        route=RouteSeen((_WEB_BIND,)),
        memory=Memory(verified=Verified("s1", (_WEB_BIND,), 1)),
    )
    dns = Subject("shop", "dns", _running("dns-1", PortBinding(_DNS, "127.0.0.1", 32768)), Declared("dns-1", 1, (_DNS,)))
    decisions = plan(Snapshot(_CLOCK, (web, dns))).services
    assert [Situation.UNPROBED, Situation.UNREADABLE] == [each.situation for each in decisions]


def test_missing_ports_are_not_charged_while_the_health_check_is_starting() -> None:
    """Differential, events 98: rule 11 charges nothing while the health check says starting."""
    portless = Subject(*WEB, _running("web-1", health=HealthStatus.STARTING), Declared("web-1", 1, (HTTP,)))
    assert Situation.PORTLESS is decide(portless, _CLOCK.boot_s).situation
    settled = evolve(portless, seen=_running("web-1", health=HealthStatus.HEALTHY))
    assert Situation.UNBOUND is decide(settled, _CLOCK.boot_s).situation


def _twin(spells: tuple[Spell, ...] = ()) -> Twin:
    return Twin(Scenario(1, (), (), (), spells), naive=False)


def test_the_new_holder_of_a_port_is_served_in_the_round_that_withdrew_the_old_route() -> None:
    """Differential, events 464: it waited for a whole round of the others' jobs, although the route was gone by then."""
    twin = _twin()
    for name, container_id in (("web", "web-1"), ("api", "api-1")):
        twin.world.create(container_id, Nature.KIND, ((HTTP, 0),))
        twin.world.disk.activate("shop", name, Declared(container_id, 1, (HTTP,)), 0, None)
    twin.world.start("api-1")
    twin.world.routes[WEB] = (_WEB_BIND,)
    twin.one_pass(30.0)
    commands = [each.split(" at ")[0] for each in twin.court.notes(twin.program.name).commands]
    assert 32768 == twin.world.boxes["api-1"].ports[0].host_port
    assert commands.index("publish shop/api") < commands.index("start web-1")


def test_nothing_is_done_to_superseded_containers_of_a_service_that_could_not_be_read_again() -> None:
    """Differential, faults 197: they were acted on as they had been seen before, each command twice."""
    twin = _twin((Spell(0.0, 1e9, "shop/web in", Fate.FAILS),))
    for container_id in ("web-1", "web-2"):
        twin.world.create(container_id, Nature.KIND)
    twin.world.disk.activate(*WEB, Declared("web-1", 1), 0, None)
    twin.world.disk.activate(*WEB, Declared("web-2", 2), 1, Marker("web-1"))
    twin.world.disk.set_intent("shop", Intent.STOPPED)
    twin.one_pass(30.0)
    assert [] == twin.court.notes(twin.program.name).commands
