"""The words for each step of a deploy."""

from typing import get_args

import pytest
from attrs import evolve

from gordon_core.deploy_effects import (
    Activate,
    AwaitRunning,
    Create,
    Delay,
    DeployEffect,
    DeployStep,
    GiveUp,
    Journal,
    Pull,
    Rename,
    StartCandidate,
    Unroute,
    Watch,
    Why,
)
from gordon_core.deploy_planner import decide_deploy
from gordon_core.deploy_sentences import end_in_words, step_in_words
from gordon_core.deployment import Deployment
from gordon_core.effects import DropCandidate, RemoveCandidate, Start, StopCandidate
from gordon_core.memory import Verified
from gordon_core.observation import Health, HealthStatus
from gordon_core.stages import Stage
from tests.core_examples import DECLARED, GENERATION, NEW_ID, OLD, STARTED
from tests.deploy_examples import EXEMPLARS, but, deaf, deploying, first, going, own, until

sick = own(health=Health(HealthStatus.UNHEALTHY))
NEW = evolve(DECLARED, container_id=NEW_ID, revision=4)
WORDS: list[tuple[DeployStep, str]] = [
    (Pull("shop:v2"), "fetch image shop:v2"),
    (Pull("shop:v2", 2.0), "fetch image shop:v2, 2 s from now"),
    (Create("gordon-shop-web-new", 4), "create container gordon-shop-web-new for revision 4"),
    (Journal(NEW_ID, "gordon-shop-web-new"), "write the candidate down in the journal"),
    (StartCandidate(NEW_ID), "start the candidate"),
    (Unroute("blog", "web"), "withdraw blog/web, whose route names a port of the candidate"),
    (AwaitRunning(NEW_ID, 30.0), "wait for it to run again, up to 30 s"),
    (Delay(GENERATION, STARTED, 5.0), "see it run for 5 s"),
    (Watch(GENERATION, STARTED, 2.0), "watch it serve for 2 s"),
    (
        Activate("shop", "web", NEW, DECLARED, OLD),
        "name container c4nd1da7ec4n in ACTIVE as revision 4 with 80/tcp at 32768 and mark 9bd01e55c0aa for retirement",
    ),
    (
        Activate("shop", "web", NEW, DECLARED, OLD, Verified(STARTED, NEW.binds, 4)),
        "name container c4nd1da7ec4n in ACTIVE as revision 4 with 80/tcp at 32768, remember it as verified and \
mark 9bd01e55c0aa for retirement",
    ),
    (
        Activate("shop", "web", NEW, DECLARED, None, Verified(STARTED, NEW.binds, 4)),
        "name container c4nd1da7ec4n in ACTIVE as revision 4 with 80/tcp at 32768 and remember it as verified",
    ),
    (
        Activate("shop", "web", evolve(NEW, ports=(), binds=()), None, None),
        "name container c4nd1da7ec4n in ACTIVE as revision 4",
    ),
    (Rename(NEW_ID, "gordon-shop-web"), "rename it to gordon-shop-web"),
    (GiveUp(Why.NAMELESS), "give up, since every name that it could have is taken"),
    (GiveUp(Why.STORE, NEW_ID, "the disk is full"), "give up, since the state could not be written: the disk is full"),
    (Start(GENERATION), "start it"),
    (StopCandidate("shop", "web", NEW_ID, 20.0), "stop it, with 20 s to stop in"),
    (RemoveCandidate("shop", "web", NEW_ID), "remove it by force, and keep its volumes"),
    (DropCandidate("shop", "web", NEW_ID), "take it out of the journal"),
]


@pytest.mark.parametrize(("step", "words"), WORDS, ids=[type(each).__name__ for each, _ in WORDS])
def test_a_step_reads_aloud(step: DeployStep, words: str) -> None:
    assert words == step_in_words(step)


def test_every_step_that_only_deploys_have_is_said_here() -> None:
    assert set(get_args(DeployEffect)) <= {type(each) for each, _ in WORDS}


@pytest.mark.parametrize(
    ("deployment", "words"),
    [
        (EXEMPLARS[Stage.FAILED], "failed; the old container serves on"),
        (deploying(first, but(cancelled="by hand"), going), "failed; nothing serves, as before"),
        (deploying(deaf, going), "failed; recovery goes on with the old container"),
        (deploying(first, until(Stage.UNWATCHED), sick, going), "failed; recovery goes on with the new container"),
        (EXEMPLARS[Stage.DEPLOYED], "deployed"),
        (EXEMPLARS[Stage.UNALTERED], Stage.UNALTERED.value),
    ],
)
def test_of_a_deploy_that_failed_it_is_said_what_it_leaves(deployment: Deployment, words: str) -> None:
    decision = decide_deploy(deployment)
    assert decision.is_over
    assert words == end_in_words(decision)


def test_the_sentence_of_each_stage_and_reason_is_its_own_and_a_clause() -> None:
    assert len(Stage) == len({each.value for each in Stage})
    assert [] == [
        each.name
        for each in (*Stage, *Why)
        if each.value.endswith(".") or (each.value[:1].isupper() and not each.value.startswith("ACTIVE"))
    ]
