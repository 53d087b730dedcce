"""Effects from a subject: what each carries where it is not said by the row that calls for it."""

import pytest

from gordon_core import commands
from gordon_core.effects import Cause, Forget, Probe, Publish, RecordFailure, Restart, Start, Stop, Unknown
from gordon_core.snapshot import Clash, HttpCheck
from tests.core_examples import (
    BIND,
    GENERATION,
    LOST_ID,
    NOT_READY,
    REFUSED_START,
    SILENT,
    STARTED,
    WEB_ID,
    after,
    deaf,
    declaring,
    good,
    having,
    probed,
    remembering,
)


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


@pytest.mark.parametrize(
    ("cause", "started_at", "words"),
    [
        (Cause.ENDED, STARTED, ""),
        (Cause.RELAPSED, STARTED, ""),
        (Cause.UNBOUND, STARTED, ""),
        (Cause.UNREADY, STARTED, NOT_READY.reason),
        (Cause.REFUSED, "", REFUSED_START.reason),
    ],
)
def test_a_charge_names_the_execution_and_quotes_who_said_no(cause: Cause, started_at: str, words: str) -> None:
    """A start that was refused has no execution, and a charge for what was only seen quotes nobody."""
    subject = good(probed(NOT_READY), after(Start(GENERATION), REFUSED_START), after(Restart(GENERATION, 10.0), Unknown(SILENT)))
    assert RecordFailure(GENERATION, started_at, cause, words) == commands.charge(cause)(subject)


def test_a_charge_quotes_what_was_said_last_and_nothing_where_nobody_answered() -> None:
    twice = good(probed(Unknown(SILENT)), after(Restart(GENERATION, 10.0), REFUSED_START))
    assert "" == commands.charge(Cause.UNREADY)(twice).reason
    assert REFUSED_START.reason == commands.charge(Cause.REFUSED)(twice).reason


def test_a_probe_asks_as_declared_and_waits_for_the_first_answer_alone() -> None:
    http = good(declaring(http=HttpCheck(80, "/ready")))
    assert Probe(GENERATION, STARTED, (BIND,), 30.0, 80, "/ready") == commands.probe(http)
    assert Probe(GENERATION, STARTED, (BIND,), 30.0) == commands.probe(good())
    assert Probe(GENERATION, STARTED, (BIND,), 0.0) == commands.probe(good(remembering(failures=1, charged=STARTED)))
