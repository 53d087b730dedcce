"""What a dry run says of a step that fails is what the law does then: in a world where it fails, and followed by hand."""

import re
from collections.abc import Callable, Iterable
from typing import get_args

import pytest
from attrs import evolve

from gordon_core import facts
from gordon_core.blueprint import Blueprint
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
from gordon_core.deploy_forecast import assume_deploy, forecast_deploy, road_if_it_fails
from gordon_core.deploy_planner import DeployDecision, decide_deploy
from gordon_core.deploy_sentences import fork_in_words, road_in_words, whom
from gordon_core.deployment import Deployment
from gordon_core.effects import (
    AwaitHealth,
    Cause,
    DropCandidate,
    DropHistory,
    DropMarker,
    Effect,
    Forget,
    PersistBinds,
    Probe,
    Publish,
    RecordAttempt,
    RecordFailure,
    RecordVerified,
    ReleaseBinds,
    ReleaseClaims,
    Remove,
    RemoveCandidate,
    Restart,
    Retire,
    Start,
    Stop,
    StopCandidate,
    Withdraw,
)
from gordon_core.folds import did, saw
from gordon_core.observation import Container, Health, HealthStatus
from gordon_core.stages import Stage
from tests.core_examples import BIND, DECLARED, GENERATION, LATER, NEW_ID, OLD_ID, STARTED, WEB_ID
from tests.deploy_examples import (
    BROKEN,
    EXEMPLARS,
    FIXED,
    WANTED,
    WORKER,
    Change,
    dead,
    deploying,
    first,
    made,
    own,
    then,
    until,
)
from tests.deploy_world import DeployWorld, Event, Fate

THE_OLD, THE_NEW, THE_ROUTE = "the old container", "the candidate", "the route"
NEW = evolve(GENERATION, container_id=NEW_ID)
VERBS: list[tuple[DeployStep, str]] = [
    (Pull("shop:v2"), "the image is fetched"),
    (Create("gordon-shop-web-new", 4), "the candidate is created"),
    (StartCandidate(NEW_ID), "the candidate is started"),
    (Unroute("blog", "web"), "blog/web is withdrawn"),
    (AwaitRunning(NEW_ID, 30.0), ""),
    (Delay(NEW, LATER, 5.0), ""),
    (Watch(NEW, LATER, 2.0), ""),
    (Activate("shop", "web", DECLARED, None, None), "the old container is named in ACTIVE again"),
    (Activate("shop", "web", evolve(DECLARED, container_id=NEW_ID), None, None), "the candidate is named in ACTIVE"),
    (Rename(NEW_ID, "gordon-shop-web-next"), "the candidate is renamed"),
    (Rename(OLD_ID, "gordon-shop-web-next"), "the old container is renamed"),
    (Withdraw("shop", "web"), "the route is withdrawn"),
    (Start(GENERATION), "the old container is started again"),
    (Restart(GENERATION, 10.0), "the old container is restarted"),
    (Stop(GENERATION, 10.0), "the old container is stopped"),
    (AwaitHealth(GENERATION, STARTED, 30.0), ""),
    (Probe(GENERATION, STARTED, (BIND,), 30.0), "the old container is probed"),
    (Publish(GENERATION, (BIND,)), "the old container is published again"),
    (Publish(NEW, (BIND,)), "the candidate is published"),
    (Retire("shop", "web", OLD_ID, 10.0), "the old container is stopped"),
    (Remove("shop", "web", OLD_ID), "the old container is removed"),
    (StopCandidate("shop", "web", NEW_ID, 10.0), "the candidate is stopped"),
    (RemoveCandidate("shop", "web", NEW_ID), "the candidate is removed"),
    (RemoveCandidate("shop", "web", OLD_ID), "leftover 9bd01e55c0aa is removed"),
    (GiveUp(Why.UNREADY), ""),
    (Journal(NEW_ID, "gordon-shop-web-new"), ""),
    (DropCandidate("shop", "web", NEW_ID), ""),
    (RecordAttempt(GENERATION, STARTED), ""),
    (RecordFailure(GENERATION, STARTED, Cause.UNREADY), ""),
    (RecordVerified(GENERATION, STARTED, (BIND,)), ""),
    (PersistBinds(GENERATION, (BIND,)), ""),
    (ReleaseBinds(GENERATION), ""),
    (DropHistory(GENERATION), ""),
    (Forget("shop", "web", OLD_ID), ""),
    (ReleaseClaims("shop", "web", OLD_ID), ""),
    (DropMarker("shop", "web", OLD_ID), ""),
]
"""What is told of each step, about the old container or the candidate; "": it is a wait, or only written down."""
VERB = {type(step): re.sub(r".* is | again$", "", words) for step, words in VERBS if words}


# --- what was said, and what was done ------------------------------------------------------------------------------------


def said(words: str) -> list[tuple[str, str]]:
    """Return whom and what the words tell of: a pair for each deed."""
    found = [each.partition(" is ") for each in words.split("; ")[1:] if " is " in each]
    return [(who, verb) for who, _, verbs in found for verb in re.split(", | and ", verbs.removesuffix(" again"))]


def done(steps: Iterable[DeployStep | None], own_id: str) -> list[tuple[str, str]]:
    """Return the same for steps that were taken, as far as they are told."""
    return [(_about(step, own_id), VERB[type(step)]) for step in steps if step is not None and type(step) in VERB]


def _about(step: DeployStep, own_id: str) -> str:
    if isinstance(step, Withdraw):
        return THE_ROUTE
    of = step.declared if isinstance(step, Activate) else getattr(step, "generation", step)
    return THE_NEW if getattr(of, "container_id", "") == own_id else THE_OLD


def _end(words: str, deployment: Deployment) -> None:
    """Demand that the words end with what serves."""
    subject = deployment.subject
    latest = words.rsplit("; ", maxsplit=1)[-1]
    assert (subject.declared is None) == (latest == "nothing serves, as before")
    serves = latest.endswith(" serves on") or said(words)[-1:] == [(THE_OLD, "published")]
    assert facts.serves(subject) == (serves and "recovery" not in latest)


# --- in a world ----------------------------------------------------------------------------------------------------------


def world(wanted: Blueprint = WANTED, *, serving: bool = True, has_check: bool = False) -> DeployWorld:
    """Return a world in which something is to be deployed, beside or instead of what serves."""
    there = DeployWorld(wanted, has_check=has_check)
    if serving:
        old = there.bodies[there.serve(evolve(wanted, image="shop:v1"))]
        old.health = HealthStatus.HEALTHY if has_check else HealthStatus.NONE
    return there


WORLDS: dict[str, Callable[[], DeployWorld]] = {
    "beside the old one": world,
    "first": lambda: world(serving=False),
    "instead of the old one": lambda: world(FIXED),
    "first, with a fixed port": lambda: world(FIXED, serving=False),
    "a worker": lambda: world(WORKER),
    "with a health check": lambda: world(has_check=True),
    "with a health check, instead of the old one": lambda: world(FIXED, has_check=True),
}
UNKIND = {Delay: Event.CANDIDATE_DIES, Watch: Event.CANDIDATE_DIES, AwaitHealth: Event.SICKENS}
"""What the next look finds where these fail."""
STEPS = [(name, number) for name, make in WORLDS.items() for number in range(len(forecast_deploy(make().begin())) - 1)]


@pytest.mark.parametrize(("name", "number"), STEPS)
def test_what_is_said_of_a_step_that_fails_is_what_is_done_then(name: str, number: int) -> None:
    decision = forecast_deploy(WORLDS[name]().begin())[number]
    words, event, there = fork_in_words(decision), UNKIND.get(type(decision.step)), WORLDS[name]()
    last = there.run({number: Fate.WORKLOAD}, {number + 1: event} if event is not None else {})
    assert type(decision.step) is type(there.taken[number][0])
    assert (last.stage is Stage.FAILED) == bool(words)
    if words:
        after = [step for step, _ in there.taken[number + 1 :]]
        given_up = next(place for place, each in enumerate(after) if isinstance(each, GiveUp))
        assert [getattr(after[given_up], "why", Why.OVERDUE).value] == words.split("; ")[:1]
        assert done(after[given_up:], last.deployment.own_id) == said(words)
        _end(words, last.deployment)


# --- by the planner ------------------------------------------------------------------------------------------------------

FALLS: dict[type[object], Change] = {
    Delay: dead,
    Watch: dead,
    AwaitHealth: own(health=Health(HealthStatus.UNHEALTHY)),
}


def followed(decision: DeployDecision) -> list[DeployDecision]:
    """Let a step fail, and return what the planner says after that until the end."""
    step, deployment = decision.step, decision.deployment
    assert step is not None
    if type(step) in FALLS and isinstance(deployment.own, Container):
        deployment = FALLS[type(step)](deployment)
    if not isinstance(step, DeployEffect):
        after = saw(did(deployment.subject, step, BROKEN, deployment.clock), deployment.clock)
        deployment = evolve(deployment, subject=after)
    road = [decide_deploy(then(step, BROKEN)(deployment))]
    while isinstance(road[-1].step, AwaitRunning):
        road.append(decide_deploy(then(road[-1].step, BROKEN)(road[-1].deployment)))
    while road[-1].step is not None:
        road.append(decide_deploy(assume_deploy(road[-1].deployment, road[-1].step)))
    return road


@pytest.mark.parametrize("stage", Stage, ids=lambda each: each.name)
def test_of_every_step_of_every_example_is_said_what_the_law_does_when_it_fails(stage: Stage) -> None:
    for decision in forecast_deploy(EXEMPLARS[stage]):
        if decision.step is None or isinstance(decision.step, GiveUp):
            assert "" == fork_in_words(decision)
            continue
        road, words = followed(decision), fork_in_words(decision)
        leads_to = next((each.step for each in road if not isinstance(each.step, AwaitRunning)), None)
        assert isinstance(leads_to, GiveUp) == bool(words)
        if words and isinstance(leads_to, GiveUp):
            assert [leads_to.why.value] == words.split("; ")[:1]
            assert done((each.step for each in road[1:]), road[-1].deployment.own_id) == said(words)
            _end(words, road[-1].deployment)


def test_a_row_that_is_added_is_told_of_and_one_that_goes_is_not() -> None:
    road = road_if_it_fails(decide_deploy(EXEMPLARS[Stage.UNPROBED]))
    assert "it was not ready in time; the candidate is stopped and removed; the old container serves on" == road_in_words(road)
    without = tuple(each for each in road if not isinstance(each.step, StopCandidate))
    assert "it was not ready in time; the candidate is removed; the old container serves on" == road_in_words(without)
    added = (*road[:2], evolve(road[1], step=Rename(WEB_ID, "gordon-shop-web-3")), *road[2:])
    expected = (
        "it was not ready in time; the candidate is stopped; the old container is renamed; the candidate is removed; "
        "the old container serves on"
    )
    assert expected == road_in_words(added)


# --- the words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("step", "words"), VERBS, ids=[type(each).__name__ for each, _ in VERBS])
def test_a_deed_reads_aloud(step: DeployStep, words: str) -> None:
    deployment = made(EXEMPLARS[Stage.CLEARING], lambda each: evolve(each, own_id=NEW_ID))
    told = road_in_words((DeployDecision(deployment, Stage.CLEARING, step), DeployDecision(deployment, Stage.FAILED, None)))
    whys = [step.why.value] if isinstance(step, GiveUp) else []
    ends = [] if words.startswith(THE_OLD) else ["the old container serves on"]
    assert "; ".join([*whys, *([words] if words else []), *ends]) == told


def test_every_step_that_there_is_has_its_word_or_none() -> None:
    assert {*get_args(Effect), *get_args(DeployEffect)} == {type(each) for each, _ in VERBS}


def test_what_active_named_at_last_is_recoverys() -> None:
    published = next(each for each in forecast_deploy(deploying(first)) if isinstance(each.step, Publish))
    assert "it could not be published; recovery goes on with the new container" == fork_in_words(published)


def test_what_makes_way_for_a_name_is_the_old_one() -> None:
    assert [THE_OLD, ""] == [whom(each) for each in forecast_deploy(EXEMPLARS[Stage.CROWDED])][:2]
    assert "" == whom(decide_deploy(deploying(until(Stage.MISNAMED))))


def test_what_yields_is_the_old_one() -> None:
    assert [THE_OLD, THE_OLD] == [whom(decide_deploy(EXEMPLARS[each])) for each in (Stage.OLD_ROUTED, Stage.OLD_UP)]


def test_of_what_active_does_not_name_no_step_is_the_old_ones() -> None:
    nothing = deploying(first)
    assert "" == whom(DeployDecision(nothing, Stage.RESTORING, Withdraw("shop", "web")))
