"""What people and deploys did is on record: who, to whom and what, once it is done; and it costs nothing where it cannot be."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext

import pytest
from attrs import evolve

from gordon_core.blueprint import Blueprint, Publication, Variable
from gordon_core.grants import SETS_NOTHING, Overrides
from gordon_core.snapshot import Hold, Intent
from gordon_core.stages import Stage
from gordon_core.tuning import changed
from gordon_core.verdicts import Verdict
from gordon_shell.crew import InlineCrew
from gordon_shell.deeds import Deeds, Operator, login
from gordon_shell.deploy_text import deed
from gordon_shell.deployer import Deployer
from gordon_shell.errors import BusyError, StoreError, UnprunedError, UsageError
from gordon_shell.host import Host
from gordon_shell.journal import Deed, Dossier, Record
from gordon_shell.memory.clock import MemoryClock
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.memory.engine import MemoryEngine
from gordon_shell.memory.images import SimulatedImage
from gordon_shell.memory.journal import MemoryJournal
from gordon_shell.memory.ports import memory_ports
from gordon_shell.memory.router import MemoryRouter
from gordon_shell.wishes import Wish
from tests.core_examples import CLOCK
from tests.deploy_sites import Site
from tests.hosts import HTTP, no_policy

OLD, NEW = "a" * 64, "b" * 64
SECRET = "correct-horse-battery"  # noqa: S105 - it is to be found nowhere
PORTS = (Publication(HTTP),)
ADOPTED = ("web", "adopted container web-1 (aaaaaaaaaaaa), revision 1, publishes 80/tcp, 10 s to stop in")


class World:
    """A host in memory with a journal, whose operator is alice; its service shop/web is container web-1."""

    def __init__(self) -> None:
        self.clock = MemoryClock(CLOCK)
        self.engine = MemoryEngine(self.clock)
        self.journal = MemoryJournal()
        self.complaints: list[str] = []
        for image, behaviour in (("shop:1", Behaviour()), ("shop:2", Behaviour()), ("shop:dies", _dying(3))):
            self.engine.images.add(image, SimulatedImage(f"sha256:{image}", behaviour))
        ports = memory_ports(self.engine)
        self.host = Host(ports, crew=InlineCrew(), journal=self.journal, complain=self.complaints.append, who="alice")
        for container_id, name in ((OLD, "web-1"), (NEW, "web-2")):
            self.engine.add(Simulated(container_id, name, ((HTTP, 0),)))
            self.engine.start(container_id)
        self.host.adopt("shop", Wish("web", "web-1"))

    def news(self) -> list[tuple[str, str]]:
        """Return services with what was done to them since the adoption; all of it by alice, and of app shop."""
        found = self.journal.deeds()
        assert {("shop", "alice")} == {(each.app, each.who) for each in found}
        assert ADOPTED == (found[0].service, found[0].words)
        return [(each.service, each.words) for each in found[1:]]

    def deploy(self, image: str, **variables: str) -> Verdict:
        environment = tuple(Variable(*each) for each in variables.items())
        return self.host.deploy("shop", "web", Blueprint(image, ports=PORTS, environment=environment))


def _dying(code: int) -> Behaviour:
    return Behaviour(exits_after_s=0.0, exit_code=code, says=("no database",))


@pytest.fixture
def world() -> World:
    return World()


# --- wishes ----------------------------------------------------------------------------------------------------------------


def test_an_adoption_says_what_became_of_the_former_container(world: World) -> None:
    world.host.adopt("shop", Wish("web", "web-2"))
    ((service, words),) = world.news()
    assert "web" == service
    assert words == (
        "adopted container web-2 (bbbbbbbbbbbb), revision 2, publishes 80/tcp, 10 s to stop in; its former container "
        "aaaaaaaaaaaa is superseded: once this one was seen to serve, it is stopped within 10 s and removed"
    )


def test_a_stop_and_a_start_are_of_the_app(world: World) -> None:
    world.host.stop("shop")
    world.clock.advance(60)
    world.host.start("shop")
    assert [CLOCK, CLOCK, world.clock.now()] == [each.clock for each in world.journal.deeds()]
    assert [("", "is to be stopped"), ("", "is to run")] == world.news()


def test_an_inhibition_and_its_end(world: World) -> None:
    world.host.inhibit("shop", "web", "corrupts its data")
    world.host.allow("shop", "web")
    world.host.inhibit("shop", "web")
    assert [
        ("web", "inhibited container aaaaaaaaaaaa: corrupts its data"),
        ("web", "allowed again (it was inhibited: corrupts its data)"),
        ("web", "inhibited container aaaaaaaaaaaa"),
    ] == world.news()


def test_a_retry_says_what_was_forgotten(world: World) -> None:
    world.engine.refuse("start", OLD, "no such file")
    world.engine.kill(OLD)
    world.host.recover()
    world.host.retry("shop", "web")
    world.host.retry("shop")
    nothing = "retried: no failure was on record, and what is done is started again"
    assert [("web", "retried: forgot 1 failure"), ("", nothing)] == world.news()


def test_a_hold_is_of_whom_it_names(world: World) -> None:
    world.host.hold("shop", "web", seconds=600, who="bob", reason="looking at the orders table")
    world.host.release("shop", "web")
    held, released = world.journal.deeds()[1:]
    assert ("bob", "held until 07:10:00Z: looking at the orders table") == (held.who, held.words)
    assert ("alice", "released (it was held by bob: looking at the orders table)") == (released.who, released.words)
    world.host.hold("shop", seconds=600, who="bob", reason="all of it")
    assert ("shop", "") == (world.journal.deeds()[-1].app, world.journal.deeds()[-1].service)


def test_a_constant_is_told_with_its_value_or_that_it_is_set_no_more(world: World) -> None:
    world.host.tune("shop", "web", Overrides(unhealthy_threshold=5, ladder_s=(60.0, 90.0)))
    world.host.tune("shop", "web", Overrides(unhealthy_threshold=5, exit_0_is_done=True))
    assert [
        ("web", "tuned: ladder_s = 60, 90 and unhealthy_threshold = 5"),
        ("web", "tuned: ladder_s not set any more and exit_0_is_done = true"),
    ] == world.news()


def test_a_container_that_is_to_be_retired_and_a_service_that_is_forgotten(world: World) -> None:
    world.host.retire("shop", "web", "web-2", 20)
    world.host.forget("shop")
    assert [
        ("web", "marked container bbbbbbbbbbbb as superseded, with 20 s to stop in"),
        ("web", "withdrawn and forgotten; left alone: aaaaaaaaaaaa and bbbbbbbbbbbb"),
    ] == world.news()


def test_what_changes_nothing_is_not_on_record(world: World) -> None:
    host = world.host
    host.adopt("shop", Wish("web", "web-1"))
    host.start("shop")
    host.allow("shop", "web")
    host.release("shop")
    host.tune("shop", "web", SETS_NOTHING)
    assert [] == world.news()


REFUSED: tuple[Callable[[Operator], object], ...] = (
    lambda operator: operator.adopt("shop", (Wish("web", "nobody"),)),
    lambda operator: operator.set_intent("nothing", Intent.STOPPED),
    lambda operator: operator.inhibit("shop", "nothing", ""),
    lambda operator: operator.allow("shop", "nothing"),
    lambda operator: operator.retry("nothing"),
    lambda operator: operator.hold("shop", "nothing", Hold(20_000.0, CLOCK.wall_s, "boot-1", "bob", "why")),
    lambda operator: operator.release("nothing"),
    lambda operator: operator.tune("shop", "nothing", lambda before: changed(before, {"free_failures": 1})),
    lambda operator: operator.retire("shop", "web", "web-1"),
    lambda operator: operator.forget("shop", "nothing"),
)


@pytest.mark.parametrize("call", REFUSED)
def test_what_was_refused_is_not_on_record(world: World, call: Callable[[Operator], object]) -> None:
    with pytest.raises(UsageError):
        call(world.host._operator())  # noqa: SLF001 - each of its methods, also where the host has no such name
    assert [] == world.news()


# --- deploys ---------------------------------------------------------------------------------------------------------------


def test_a_deploy_says_what_serves_and_where(world: World) -> None:
    verdict = world.deploy("shop:1")
    named = f"container {verdict.container_id[:12]} of image shop:1, revision 2, routed to 80/tcp at 32770"
    assert [("web", f"deployed {named}")] == world.news()


def test_a_deploy_that_failed_says_why_and_what_serves_now(world: World) -> None:
    serves = world.deploy("shop:1").container_id[:12]
    world.deploy("shop:dies")
    why = "its container ended before it was ready (exit code 3)"
    now = f"container {serves}, revision 2, routed to 80/tcp at 32770"
    assert ("web", f"the deploy of image shop:dies failed, since {why}; now {now}") == world.news()[-1]


def test_a_rollback_says_so(world: World) -> None:
    world.deploy("shop:1")
    world.deploy("shop:2")
    verdict = world.host.rollback("shop", "web")
    named = f"container {verdict.container_id[:12]} of image shop:1, revision 4, routed to 80/tcp at 32770"
    assert ("web", f"rolled back to {named}") == world.news()[-1]


def test_a_rollback_that_failed_says_so(world: World) -> None:
    world.deploy("shop:1")
    world.deploy("shop:2")
    world.engine.images.add("shop:1", SimulatedImage("sha256:shop:1", _dying(1)))
    assert not world.host.rollback("shop", "web").is_well
    assert world.news()[-1][1].startswith("the rollback of image shop:1 failed, since its container ended before it was ready")


def test_what_was_deployed_already_is_on_record_only_where_something_was_put_right(world: World) -> None:
    serves = world.deploy("shop:1").container_id[:12]
    world.deploy("shop:1")
    assert 1 == len(world.news())
    router = world.host.ports.router
    assert isinstance(router, MemoryRouter)
    router.forget()
    world.deploy("shop:1")
    named = f"container {serves} of image shop:1, revision 2, routed to 80/tcp at 32770"
    assert ("web", f"put right in 2 steps what was deployed already: {named}") == world.news()[-1]


def test_no_value_of_a_variable_is_in_it(world: World) -> None:
    world.engine.refuse("create", "gordon-shop-web-new", f'invalid "{SECRET}"')
    assert not world.deploy("shop:1", PASSWORD=SECRET).is_well
    words = world.news()[-1][1]
    assert ("[PASSWORD]" in words, SECRET in words) == (True, False)


def test_one_that_was_interrupted_once_it_served_says_so() -> None:
    site, journal = Site(), MemoryJournal()

    def listen(_decision: object, _outcome: object) -> None:
        if site.active() == "shop:2":
            deployer.cancel("told to")

    deployer = Deployer(site.ports, no_policy, listener=listen, deeds=_deeds(site, journal))
    site.serving("shop:1")
    deployer.deploy("shop", "web", Blueprint("shop:2"))
    (found,) = journal.deeds()
    assert found.words.startswith("deployed container ")
    assert found.words.endswith("; interrupted then, and the next pass of recovery does the rest")


def test_one_that_was_cancelled_before_that_failed() -> None:
    site, journal = Site(), MemoryJournal()
    deployer = Deployer(site.ports, no_policy, listener=lambda *_heard: deployer.cancel("told to"), deeds=_deeds(site, journal))
    assert not deployer.deploy("shop", "web", Blueprint("shop:1")).is_well
    (found,) = journal.deeds()
    assert found.words.startswith("the deploy of image shop:1 failed, since it was cancelled")
    assert found.words.endswith("; now ACTIVE names no container, and nothing serves")


def test_one_whose_listener_failed_is_on_record_too() -> None:
    site, journal = Site(), MemoryJournal()

    def listen(_decision: object, _outcome: object) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        Deployer(site.ports, no_policy, listener=listen, deeds=_deeds(site, journal)).deploy("shop", "web", Blueprint("shop:1"))
    assert 1 == len(journal.deeds())


def test_one_that_broke_off_is_on_record_with_its_reason() -> None:
    site, journal = Site(), MemoryJournal()
    site.faults.plan("store.read_service", StoreError(f"the disk of {SECRET}"), times=9)
    wanted = Blueprint("shop:1", environment=(Variable("PASSWORD", SECRET),))
    with pytest.raises(StoreError):
        Deployer(site.ports, no_policy, deeds=_deeds(site, journal)).deploy("shop", "web", wanted)
    (found,) = journal.deeds()
    assert "the deploy of image shop:1 broke off: the disk of [PASSWORD]" == found.words


def test_one_that_waited_in_vain_changed_nothing(world: World) -> None:
    with world.host.ports.locks.wait_app("shop", 1), pytest.raises(BusyError):
        world.host.deploy("shop", "web", Blueprint("shop:1"), lock_wait_s=0.0)
    assert [] == world.news()


def test_where_the_route_cannot_be_read_that_is_said() -> None:
    verdict = Verdict(Stage.DEPLOYED, "c" * 64, 2, 8)
    words = "deployed container cccccccccccc of image shop:1, revision 2, and whether it is routed could not be read"
    assert words == deed("shop:1", verdict, None, is_rollback=False)


# --- the journal -----------------------------------------------------------------------------------------------------------


def _deeds(site: Site, journal: MemoryJournal) -> Deeds:
    return Deeds(lambda: nullcontext(journal), site.clock.now, "alice", _refuse)


def _refuse(complaint: str) -> None:
    raise AssertionError(complaint)


def test_a_journal_that_cannot_be_written_is_one_complaint_and_no_more(world: World) -> None:
    world.journal.fail("the journal is full; make room\nor not")
    assert world.deploy("shop:1").is_well
    world.host.stop("shop")
    assert ["the journal is full; make room; or not; what was done is done, and is not on record"] * 2 == world.complaints
    assert {Intent.STOPPED} == {each.intent for each in world.host.services()}


def test_without_a_journal_nothing_is_complained_of(world: World) -> None:
    bare = evolve(world.host, journal=None)
    assert bare.deploy("shop", "web", Blueprint("shop:1")).is_well
    bare.stop("shop")
    assert ([], []) == (world.complaints, world.news())


class Unpruned(MemoryJournal):
    """A journal that takes what it gets, and lets go of nothing."""

    def write(self, records: Iterable[Record], dossiers: Iterable[Dossier] = (), deeds: Iterable[Deed] = ()) -> None:
        super().write(records, dossiers, deeds)
        message = "the journal cannot be pruned; see to its disk"
        raise UnprunedError(message)


def test_a_journal_that_cannot_be_pruned_has_it_all_the_same(world: World) -> None:
    journal = Unpruned()
    evolve(world.host, journal=journal).stop("shop")
    assert ["the journal cannot be pruned; see to its disk"] == world.complaints
    assert 1 == len(journal.deeds())


def test_who_it_was_is_known_beyond_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_USER", "carol")
    assert ("carol", "carol") == (login(), Host(memory_ports(MemoryEngine(MemoryClock()))).who)
