"""How a deploy ended, in words, and whom its steps are about."""

from attrs import evolve

from gordon_core.deploy_effects import GiveUp, StartCandidate, Why
from gordon_core.effects import DONE, Fault, Refused
from gordon_core.observation import Bind, Port
from gordon_core.stages import Stage
from gordon_core.verdicts import Failure, Verdict
from gordon_shell.deploy_text import ending, step

BINDS = (Bind(Port(80), 32768),)
FAILURE = Failure(Why.DIED, "it ended with exit code 137, out of memory", "it needs more memory", "raise its limit", "n" * 64)
FAILED = Verdict(Stage.FAILED, "o" * 64, 4, 9, FAILURE)


def test_a_step_is_told_with_what_became_of_it() -> None:
    assert "shop/web: start the candidate: done" == step("shop/web", StartCandidate("new"), DONE)
    assert "shop/web: start the candidate: refused: no" == step("shop/web", StartCandidate("new"), Refused("no", Fault.ENGINE))


def test_giving_up_is_told_without_a_result_of_its_own() -> None:
    assert "shop/web: give up, since it was cancelled: enough" == step("shop/web", GiveUp(Why.CANCELLED, "", "enough"), DONE)


def test_what_was_switched_back_and_killed_for_its_memory() -> None:
    verdict = evolve(
        FAILED, failure=evolve(FAILURE, container_name="gordon-shop-web-new", exit_code=137, oom_killed=True, switched_back=True)
    )
    expected = (
        "shop/web: the deploy failed, since it ended right after it was published: it ended with exit code 137, out of memory",
        "    likely: it needs more memory",
        "    hint:   raise its limit",
        "    was:    container gordon-shop-web-new (nnnnnnnnnnnn), exit code 137, out of memory",
        "    now:    switched back to container oooooooooooo, revision 4, routed to 80/tcp at 32768",
    )
    assert expected == ending("shop/web", verdict, BINDS, 3.0)


def test_what_could_not_be_cleared_is_named() -> None:
    verdict = evolve(FAILED, failure=evolve(FAILURE, left="n" * 64))
    lines = ending("shop/web", verdict, (), 3.0)
    assert "    was:    container without a name (nnnnnnnnnnnn)" == lines[3]
    assert "    left:   container nnnnnnnnnnnn could not be cleared yet; the next pass of recovery does that" == lines[4]
    assert lines[5].endswith(", not routed")


def test_what_went_well_is_one_sentence() -> None:
    verdict = Verdict(Stage.DEPLOYED, "n" * 64, 5, 13)
    expected = "shop/web: deployed container nnnnnnnnnnnn, revision 5, routed to 80/tcp at 32768; 13 steps in 1 min 5 s"
    assert (expected,) == ending("shop/web", verdict, BINDS, 65.0)
