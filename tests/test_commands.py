"""Effects from a subject: what each carries where it is not said by the row that calls for it."""

from gordon_core import commands
from gordon_core.effects import Forget, Publish, Stop
from gordon_core.snapshot import Clash
from tests.core_examples import BIND, GENERATION, LOST_ID, WEB_ID, deaf, good, having


def test_a_port_is_yielded_for_the_clash_over_it_alone() -> None:
    clash = Clash(32768, "blog/web", mine=False, failed=True)
    assert Stop(GENERATION, 10.0, 32768) == commands.yield_port(good(having(clash=clash)))
    assert Stop(GENERATION, 10.0, 0) == commands.yield_port(good())


def test_nothing_is_routed_by_a_router_of_which_nobody_knows_what_it_carries() -> None:
    assert Publish(GENERATION, (BIND,)) == commands.publish(good())
    assert Publish(GENERATION, ()) == commands.publish(good(deaf))


def test_its_own_container_is_forgotten_before_the_orphans_and_of_those_the_first() -> None:
    subject = good(having(orphans=(LOST_ID, "66aa66aa66aa00")))
    assert Forget("shop", "web", WEB_ID) == commands.forget(subject)
    assert Forget("shop", "web", LOST_ID) == commands.forget_orphan(subject)
