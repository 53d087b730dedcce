"""The road of a deploy if all goes well, and where it would fail: what a dry run prints."""

from typing import get_args

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings

from gordon_core.blueprint import Image, Publication
from gordon_core.deploy_effects import Activate, DeployEffect, GiveUp, Rename, Why
from gordon_core.deploy_forecast import ASSUMED_ID, assume_deploy, forecast_deploy, why_if_it_fails
from gordon_core.deploy_planner import MOST_STEPS, decide_deploy
from gordon_core.deployment import Deployment
from gordon_core.effects import DONE, DropCandidate, Effect, Remove, RemoveCandidate, StopCandidate
from gordon_core.memory import NOTHING, Memory
from gordon_core.observation import Container, Exit, Gone, Health, HealthStatus, Port, PortBinding, Status, Unread
from gordon_core.stages import Stage
from tests.core_examples import NEW_ID, OLD, OLD_ID, SILENT, WEB_ID, left_behind
from tests.deploy_examples import (
    CANONICAL,
    CHECKED,
    EXEMPLARS,
    FIXED,
    GOOD_DEPLOY,
    NEW_NAME,
    NEXT_NAME,
    STORELESS,
    WANTED,
    WORKER,
    Change,
    but,
    deploying,
    failing,
    first,
    going,
    made,
    own,
    serving,
    until,
    wanting,
)
from tests.strategies import deployments

UP = ["Create", "Journal", "StartCandidate"]
SWITCH = ["Activate", "Publish", "Watch"]
RETIRE = ["Retire", "Remove", "ReleaseClaims", "DropMarker"]


def road(*changes: Change) -> list[str]:
    """Return the names of the steps of a deploy, until it is over."""
    return [type(each.step).__name__ for each in forecast_deploy(deploying(*changes)) if each.step is not None]


def test_the_whole_road() -> None:
    assert [*UP, "Probe", *SWITCH, *RETIRE, "Rename"] == road()
    assert Stage.DEPLOYED is forecast_deploy(GOOD_DEPLOY)[-1].stage


def test_what_is_not_here_is_fetched_and_what_was_left_is_cleared_first() -> None:
    assert ["Pull", "Create"] == road(but(image=Gone()))[:2]
    left = left_behind(evolve(left_behind()(GOOD_DEPLOY.subject).candidates[0].seen, name=NEW_NAME))
    found = road(serving(candidates=left(GOOD_DEPLOY.subject).candidates), but(taken_names=(CANONICAL, NEW_NAME)))
    assert ["StopCandidate", "RemoveCandidate", "DropCandidate", "Create"] == found[:4]


def test_the_name_of_a_leftover_is_free_once_it_is_gone() -> None:
    left = left_behind(Container(NEW_ID, Status.EXITED, "s", name=NEW_NAME))(GOOD_DEPLOY.subject).candidates
    found = deploying(serving(candidates=left), but(taken_names=(CANONICAL, NEW_NAME)), until(Stage.UNCREATED))
    assert (CANONICAL,) == found.taken_names


@pytest.mark.parametrize("look", [Gone(), Unread(SILENT)])
def test_what_bears_no_name_frees_none(look: Gone | Unread) -> None:
    left = left_behind(look)(GOOD_DEPLOY.subject).candidates
    removed = assume_deploy(deploying(serving(candidates=left)), RemoveCandidate("shop", "web", NEW_ID))
    assert (CANONICAL,) == removed.taken_names
    assert (CANONICAL,) == assume_deploy(GOOD_DEPLOY, Remove("shop", "web", "unheard of")).taken_names


def test_the_other_roads() -> None:
    assert [*UP, "Probe", *SWITCH, "Rename"] == road(first)
    assert [*UP, "AwaitHealth", "Probe", *SWITCH] == road(but(image=CHECKED))[:8]
    assert [*UP, "Delay", "Activate"] == road(wanting(WORKER))[:5]
    assert ["Create", "Journal", "Withdraw", "Stop", "StartCandidate", "Probe"] == road(wanting(FIXED))[:6]
    assert [] == road(but(changed=()))
    assert ["GiveUp"] == road(but(unlisted=SILENT))


@pytest.mark.parametrize("stage", Stage, ids=lambda each: each.name)
def test_every_road_ends(stage: Stage) -> None:
    """D4."""
    found = forecast_deploy(EXEMPLARS[stage])
    assert found[-1].is_over
    assert len(found) <= 25


@pytest.mark.unmeasured
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(deployments())
def test_every_forecast_is_finite(deployment: Deployment) -> None:
    """D4."""
    found = forecast_deploy(deployment)
    assert found[-1].is_over
    assert len(found) < MOST_STEPS


def test_it_says_why_it_would_fail_step_by_step() -> None:
    expected = [
        ("Create", Why.UNCREATED),
        ("Journal", Why.STORE),
        ("StartCandidate", Why.UNSTARTED),
        ("Probe", Why.UNREADY),
        ("Activate", Why.STORE),
        ("Publish", Why.UNPUBLISHED),
        ("Watch", Why.DIED),
        *((each, None) for each in [*RETIRE, "Rename"]),
        ("NoneType", None),
    ]
    assert expected == [(type(each.step).__name__, why_if_it_fails(each)) for each in forecast_deploy(GOOD_DEPLOY)]


def test_it_says_why_the_downtime_path_would_fail() -> None:
    found = {type(each.step).__name__: why_if_it_fails(each) for each in forecast_deploy(deploying(wanting(FIXED)))}
    assert (Why.WITHDRAWAL, Why.DETENTION) == (found["Withdraw"], found["Stop"])


def test_what_does_not_come_up_falls_and_is_not_forgiven() -> None:
    assert Why.ENDED is why_if_it_fails(decide_deploy(EXEMPLARS[Stage.FRESH]))
    assert Why.ENDED is why_if_it_fails(decide_deploy(EXEMPLARS[Stage.FALLEN]))
    assert Why.UNHEALTHY is why_if_it_fails(decide_deploy(EXEMPLARS[Stage.STARTING]))
    assert Why.ABSENT is why_if_it_fails(decide_deploy(EXEMPLARS[Stage.UNFETCHED]))


def test_who_gives_up_does_not_fail_once_more() -> None:
    assert Why.CANCELLED is why_if_it_fails(decide_deploy(EXEMPLARS[Stage.CANCELLED]))


# --- what is assumed -----------------------------------------------------------------------------------------------------


def test_a_candidate_is_assumed_to_come_up_as_it_is_wanted() -> None:
    wanted = evolve(FIXED, ports=(*FIXED.ports, Publication(Port(443))))
    started = deploying(wanting(wanted), but(image=CHECKED), until(Stage.STARTING))
    assert isinstance(started.own, Container)
    assert (Status.RUNNING, HealthStatus.STARTING) == (started.own.status, started.own.health.status)
    ports = (PortBinding(Port(80), "127.0.0.1", 8080), PortBinding(Port(443), "127.0.0.1", 0))
    assert (ASSUMED_ID, NEW_NAME, ports) == (started.own_id, started.own.name, started.own.ports)
    healthy = made(started, going)
    assert isinstance(healthy.own, Container)
    assert Health(HealthStatus.HEALTHY) == healthy.own.health


def test_what_runs_again_has_not_ended_and_a_probe_says_nothing_of_its_health() -> None:
    again = made(EXEMPLARS[Stage.FALLEN], own(exit=Exit(1)), going)
    assert isinstance(again.own, Container)
    assert (Status.RUNNING, "assumed", None) == (again.own.status, again.own.started_at, again.own.exit)
    probed = made(EXEMPLARS[Stage.UNPROBED], going)
    assert isinstance(probed.own, Container)
    assert Health() == probed.own.health


@pytest.mark.parametrize("stage", [Stage.UNPROBED, Stage.CLEARING, Stage.FINISHING, Stage.RETIRING], ids=lambda each: each.name)
def test_what_recovery_does_as_well_is_done_and_on_record(stage: Stage) -> None:
    step = decide_deploy(EXEMPLARS[stage]).step
    assert [(step, DONE)] == [(each.effect, each.outcome) for each in made(EXEMPLARS[stage], going).results[-1:]]


@pytest.mark.parametrize("look", [Unread(SILENT), Gone()])
def test_nothing_is_assumed_of_what_could_not_be_seen(look: Unread | Gone) -> None:
    unseen = made(EXEMPLARS[Stage.STARTING], own(look))
    waiting = decide_deploy(EXEMPLARS[Stage.STARTING]).step
    assert waiting is not None
    assert look == assume_deploy(unseen, waiting).own
    assert look == assume_deploy(unseen, StopCandidate("shop", "web", ASSUMED_ID, 10.0)).own
    named = evolve(EXEMPLARS[Stage.UNWATCHED].subject, seen=look)
    rename = decide_deploy(EXEMPLARS[Stage.MISNAMED]).step
    assert rename is not None
    assert look == assume_deploy(evolve(EXEMPLARS[Stage.MISNAMED], subject=named), rename).subject.seen


def test_a_name_that_is_given_is_taken() -> None:
    assert (CANONICAL, NEW_NAME) == made(GOOD_DEPLOY, going).taken_names
    renamed = made(EXEMPLARS[Stage.MISNAMED], going)
    assert ((CANONICAL,), CANONICAL) == (renamed.taken_names, getattr(renamed.subject.seen, "name", ""))


def test_only_one_container_is_renamed() -> None:
    crowded = EXEMPLARS[Stage.CROWDED]
    other = evolve(OLD, container_id=NEW_ID, seen=Container(NEW_ID, Status.EXITED, "s", name="by-hand"))
    after = assume_deploy(evolve(crowded, subject=evolve(crowded.subject, superseded=(OLD, other))), Rename(OLD_ID, "away"))
    assert ["away", "by-hand"] == [getattr(each.seen, "name", "") for each in after.subject.superseded]
    assert crowded.subject.seen == after.subject.seen


def test_a_name_that_was_given_up_is_free() -> None:
    after = assume_deploy(EXEMPLARS[Stage.CROWDED], Rename(OLD_ID, "away"))
    assert ((NEXT_NAME,), "away") == (after.taken_names, getattr(after.subject.superseded[0].seen, "name", ""))
    unnamed = serving(declared=None)(EXEMPLARS[Stage.CROWDED])
    assert (NEXT_NAME,) == assume_deploy(unnamed, Rename(OLD_ID, "away")).taken_names
    gone = evolve(EXEMPLARS[Stage.CROWDED], subject=evolve(after.subject, superseded=()))
    assert (NEW_NAME, NEXT_NAME) == assume_deploy(gone, Rename(OLD_ID, "away")).taken_names


def test_a_look_that_failed_is_waited_out_and_not_made_up() -> None:
    unread = made(EXEMPLARS[Stage.FALLEN], own(Unread(SILENT)))
    found = forecast_deploy(unread)
    assert Unread(SILENT) == found[1].deployment.own
    assert [Stage.FALLEN] * 3 + [Stage.ENDED] == [each.stage for each in found[:4]]


def test_a_candidate_that_failed_goes_step_by_step() -> None:
    clearing = EXEMPLARS[Stage.CLEARING]
    stopped = assume_deploy(clearing, StopCandidate("shop", "web", ASSUMED_ID, 10.0))
    assert isinstance(stopped.own, Container)
    assert (Status.EXITED, ()) == (stopped.own.status, stopped.own.ports)
    removed = assume_deploy(stopped, RemoveCandidate("shop", "web", ASSUMED_ID))
    assert (Gone(), True) == (removed.own, removed.journalled)
    assert False is assume_deploy(removed, DropCandidate("shop", "web", ASSUMED_ID)).journalled


def test_after_it_went_back_active_names_the_former_and_the_journal_the_candidate() -> None:
    back = made(EXEMPLARS[Stage.BACKING_OUT], going)
    assert back.subject.declared is not None
    assert (WEB_ID, 5, ()) == (back.subject.declared.container_id, back.subject.declared.revision, back.subject.superseded)
    assert back.journalled
    unjournalled = made(EXEMPLARS[Stage.DISOWNING], failing(STORELESS), going)
    assert (WEB_ID, False) == (getattr(unjournalled.subject.declared, "container_id", ""), unjournalled.journalled)


def test_what_active_names_anew_stands_in_no_journal_and_what_was_verified_is_all_that_is_remembered_of_it() -> None:
    step = decide_deploy(EXEMPLARS[Stage.READY]).step
    assert isinstance(step, Activate)
    active = made(EXEMPLARS[Stage.READY], going)
    assert (False, Memory(verified=step.verified)) == (active.journalled, active.subject.memory)
    assert NOTHING == assume_deploy(EXEMPLARS[Stage.READY], evolve(step, verified=None)).subject.memory


def test_an_image_is_assumed_to_be_one() -> None:
    assert Image("sha256:assumed") == deploying(but(image=Gone()), going).image


def test_activation_of_what_nobody_knows_shows_nothing() -> None:
    step = decide_deploy(EXEMPLARS[Stage.READY]).step
    assert isinstance(step, Activate)
    stranger = evolve(step, declared=evolve(step.declared, container_id="unheard of"))
    assert Gone() == assume_deploy(EXEMPLARS[Stage.READY], stranger).subject.seen


def test_a_marker_that_is_there_already_is_written_anew() -> None:
    """ACTIVE may name what a marker names as well, after a deploy was interrupted."""
    marked = deploying(serving(superseded=(evolve(OLD, container_id=WEB_ID),)), until(Stage.READY), going)
    assert [(WEB_ID, 10.0)] == [(each.container_id, each.stop_grace_s) for each in marked.subject.superseded]


def test_giving_up_changes_nothing_but_the_record() -> None:
    after = assume_deploy(GOOD_DEPLOY, GiveUp(Why.CANCELLED))
    assert (GOOD_DEPLOY.own, GOOD_DEPLOY.image, 1) == (after.own, after.image, len(after.steps))


def test_the_plain_one_is_wanted_here() -> None:
    assert (WANTED, True) == (GOOD_DEPLOY.wanted, WANTED.overlaps)
    assert set(get_args(DeployEffect)).isdisjoint(get_args(Effect))
