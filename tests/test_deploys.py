"""The law for deploys: total, reachable row by row, and each row for what it says."""

from typing import get_args

import pytest
from attrs import evolve
from hypothesis import given, settings

from gordon_core import deploy_evidence, deploy_facts, deploys, evidence, facts
from gordon_core.blueprint import HealthCheck, Mode, Publication, Readiness
from gordon_core.deploy_effects import (
    Activate,
    AwaitRunning,
    Create,
    Delay,
    DeployEffect,
    GiveUp,
    Journal,
    Pull,
    Rename,
    StartCandidate,
    Unroute,
    Watch,
    Why,
)
from gordon_core.deploy_planner import decide_deploy, took
from gordon_core.deployment import Deployment
from gordon_core.effects import (
    DONE,
    AwaitHealth,
    Effect,
    Generation,
    Probe,
    Publish,
    Result,
    Withdraw,
)
from gordon_core.memory import Verified
from gordon_core.observation import Gone, Health, HealthStatus, Port, RouteSeen, RouteUnread, Status, Unread
from gordon_core.policy import Policy
from gordon_core.snapshot import Superseded
from gordon_core.stages import Stage
from tests.core_examples import (
    BIND,
    DEAF,
    GENERATION,
    GOOD,
    HOLD,
    HTTP,
    NEW_ID,
    OLD_ID,
    SILENT,
    STARTED,
    WEB_ID,
    left_behind,
    running,
)
from tests.deploy_examples import (
    BEATEN,
    BROKEN,
    CANONICAL,
    CHECKED,
    EXEMPLARS,
    FIXED,
    GOOD_DEPLOY,
    MUTE,
    NEW_NAME,
    NEXT_NAME,
    REGISTRYLESS,
    STORELESS,
    WANTED,
    WORKER,
    Change,
    but,
    contested,
    course,
    crowded,
    dead,
    deploying,
    failing,
    first,
    going,
    held,
    made,
    old,
    own,
    serving,
    then,
    unread,
    until,
    wanting,
)
from tests.strategies import deployments

OVER = {Stage.FAILED, Stage.INTERRUPTED, Stage.UNALTERED, Stage.DEPLOYED}
GIVEN_UP = {
    Stage.CANCELLED: Why.CANCELLED,
    Stage.OVERDUE: Why.OVERDUE,
    Stage.UNLISTED: Why.ENGINE,
    Stage.SHUT: Why.STOPPED,
    Stage.ON_HOLD: Why.ON_HOLD,
    Stage.BLIND: Why.ROUTER,
    Stage.CONTESTED_IN_VAIN: Why.CONTESTED,
    Stage.DIED: Why.DIED,
    Stage.UNPUBLISHED: Why.UNPUBLISHED,
    Stage.UNSERVED: Why.UNSERVED,
    Stage.IMAGE_UNREAD: Why.ENGINE,
    Stage.IMAGELESS: Why.ABSENT,
    Stage.UNCHECKED: Why.UNCHECKED,
    Stage.UNGRANTED: Why.UNGRANTED,
    Stage.NAMES_UNREAD: Why.ENGINE,
    Stage.NAMELESS: Why.NAMELESS,
    Stage.UNCREATED_IN_VAIN: Why.UNCREATED,
    Stage.UNJOURNALLED_IN_VAIN: Why.STORE,
    Stage.OLD_ROUTED_IN_VAIN: Why.WITHDRAWAL,
    Stage.OLD_UP_IN_VAIN: Why.DETENTION,
    Stage.UNSTARTED_IN_VAIN: Why.UNSTARTED,
    Stage.ENDED: Why.ENDED,
    Stage.STARTING_IN_VAIN: Why.ENGINE,
    Stage.ILL: Why.UNHEALTHY,
    Stage.UNBOUND: Why.UNBOUND,
    Stage.UNREADY: Why.UNREADY,
    Stage.OUTRUN: Why.CONFLICT,
}


def stage(deployment: Deployment) -> Stage:
    """Return the stage that a deployment is in."""
    return decide_deploy(deployment).stage


def reason(deployment: Deployment) -> tuple[Why, str]:
    """Return why a deployment gives up now, and whose words it keeps."""
    step = decide_deploy(deployment).step
    assert isinstance(step, GiveUp)
    return step.why, step.reason


@pytest.mark.parametrize("wanted", Stage, ids=lambda each: each.name)
def test_each_stage_has_an_exemplar_that_is_decided_for_it(wanted: Stage) -> None:
    assert wanted is stage(EXEMPLARS[wanted])


def test_each_stage_stands_in_exactly_one_row_in_the_order_of_their_names() -> None:
    assert [*Stage] == [row.stage for row in deploys.ROWS]


def test_the_last_row_always_holds() -> None:
    assert all(deploys.ROWS[-1].holds(each) for each in EXEMPLARS.values())


def test_a_deploy_ends_where_a_row_calls_for_nothing() -> None:
    assert OVER == {row.stage for row in deploys.ROWS if row.command is None}
    assert OVER == {each for each in Stage if decide_deploy(EXEMPLARS[each]).is_over}


@pytest.mark.parametrize(("given_up", "why"), GIVEN_UP.items(), ids=lambda each: each.name)
def test_where_it_gives_up_it_is_on_record_why(given_up: Stage, why: Why) -> None:
    step = decide_deploy(EXEMPLARS[given_up]).step
    assert isinstance(step, GiveUp)
    assert (why, EXEMPLARS[given_up].own_id) == (step.why, step.container_id)


def test_every_command_says_in_a_sentence_what_it_asks_for() -> None:
    told = {row.stage: row.command.__doc__ or "" for row in deploys.ROWS if row.command is not None}
    assert [] == [each.name for each, words in told.items() if not words.strip().endswith(".")]
    assert "Give up, since it was cancelled." == told[Stage.CANCELLED]


def test_every_kind_of_step_that_only_deploys_have_is_called_for() -> None:
    kinds = {type(decide_deploy(each).step) for each in EXEMPLARS.values()}
    assert set(get_args(DeployEffect)) <= kinds


@pytest.mark.unmeasured
@settings(deadline=None)
@given(deployments())
def test_every_deployment_gets_an_answer(deployment: Deployment) -> None:
    """D3; and equal deployments get equal ones."""
    decision = decide_deploy(deployment)
    again = decide_deploy(evolve(deployment))
    assert (decision.stage, decision.step) == (again.stage, again.step)
    assert decision.step is None or isinstance(decision.step, get_args(Effect) + get_args(DeployEffect))
    assert (decision.step is None) == (decision.stage in OVER) == decision.is_over


# --- the road ------------------------------------------------------------------------------------------------------------


def test_the_candidate_is_created_under_the_first_name_that_nothing_bears() -> None:
    assert Create(NEW_NAME, 4) == decide_deploy(GOOD_DEPLOY).step
    assert Create(NEXT_NAME, 4) == decide_deploy(deploying(but(taken_names=(CANONICAL, NEW_NAME)))).step
    assert Create(NEW_NAME, 1) == decide_deploy(deploying(first)).step


def test_it_is_journalled_by_its_name_before_it_starts() -> None:
    assert Journal("(new)", NEW_NAME) == decide_deploy(EXEMPLARS[Stage.UNJOURNALLED]).step
    unread = made(EXEMPLARS[Stage.UNJOURNALLED], own(Unread(SILENT)))
    assert Journal("(new)", "") == decide_deploy(unread).step
    assert StartCandidate("(new)") == decide_deploy(EXEMPLARS[Stage.UNSTARTED]).step


def test_active_names_it_with_its_binds_and_marks_the_old_one_in_one_step() -> None:
    step = decide_deploy(EXEMPLARS[Stage.READY]).step
    assert isinstance(step, Activate)
    assert GOOD_DEPLOY.subject.declared == step.former
    assert ("(new)", 4, (HTTP,), True) == (
        step.declared.container_id,
        step.declared.revision,
        step.declared.ports,
        step.declared.published,
    )
    assert [HTTP] == [each.port for each in step.declared.binds]
    assert ("shop", "web") == (step.app, step.service)
    assert Superseded(WEB_ID, GOOD_DEPLOY.subject.seen, 10.0, (BIND,), GOOD_DEPLOY.subject.memory.verified) == step.superseded


def test_what_is_gone_is_not_marked_for_retirement_and_neither_is_nothing() -> None:
    gone = deploying(serving(seen=Gone()), until(Stage.READY))
    for each in (gone, deploying(first, until(Stage.READY))):
        step = decide_deploy(each).step
        assert isinstance(step, Activate)
        assert None is step.superseded


def test_a_worker_is_not_published() -> None:
    step = decide_deploy(deploying(wanting(WORKER), until(Stage.READY))).step
    assert isinstance(step, Activate)
    assert not step.declared.published


def test_it_goes_back_to_the_former_under_a_new_revision_with_the_candidate_in_the_journal() -> None:
    step = decide_deploy(EXEMPLARS[Stage.BACKING_OUT]).step
    assert isinstance(step, Activate)
    assert (WEB_ID, 5, "(new)", None) == (
        step.declared.container_id,
        step.declared.revision,
        step.former.container_id if step.former is not None else "",
        step.superseded,
    )
    assert ("shop", "web") == (step.app, step.service)
    assert EXEMPLARS[Stage.BACKING_OUT].journalled


def test_what_the_host_policy_sets_holds_and_is_written_neither_forth_nor_back() -> None:
    on_record, applied = Policy(free_failures=2), Policy(free_failures=9, readiness_s=7.0)
    named = evolve(GOOD_DEPLOY.subject.declared, policy=applied)
    ready = deploying(but(policy_on_record=on_record), serving(declared=named), until(Stage.READY))
    leaving = made(ready, until(Stage.UNWATCHED), dead, until(Stage.BACKING_OUT))
    for each in (ready, leaving):
        step = decide_deploy(each).step
        assert isinstance(step, Activate)
        assert on_record == step.declared.policy
        after = going(each).subject.declared
        assert after is not None
        assert applied == after.policy


def test_active_remembers_the_execution_that_answered_in_the_same_step() -> None:
    for change in (wanting(WANTED), wanting(WORKER), first):
        ready = deploying(change, until(Stage.READY))
        step = decide_deploy(ready).step
        assert isinstance(step, Activate)
        assert Verified("assumed", step.declared.binds, step.declared.revision) == step.verified
        assert evidence.is_verified(going(ready).subject)


def test_going_back_keeps_what_was_verified_under_the_new_revision() -> None:
    step = decide_deploy(EXEMPLARS[Stage.BACKING_OUT]).step
    assert isinstance(step, Activate)
    assert Verified(STARTED, (BIND,), 5) == step.verified
    assert evidence.is_verified(going(EXEMPLARS[Stage.BACKING_OUT]).subject)


def test_where_the_route_never_left_it_nothing_is_withdrawn_or_probed_when_it_went_back() -> None:
    """C3."""
    back = made(EXEMPLARS[Stage.UNPUBLISHED], going, going, going)
    assert WEB_ID == getattr(back.subject.declared, "container_id", "")
    assert facts.serves(back.subject)
    assert ["StopCandidate", "RemoveCandidate", "DropCandidate", "NoneType"] == [
        type(each.step).__name__ for each in course(back, going)
    ]


@pytest.mark.parametrize("verified", [None, Verified(STARTED, (BIND,), 2)], ids=["never", "as of another revision"])
def test_what_was_not_verified_before_is_not_when_it_went_back(verified: Verified | None) -> None:
    unverified = deploying(serving(memory=evolve(GOOD_DEPLOY.subject.memory, verified=verified)), until(Stage.UNWATCHED))
    step = decide_deploy(made(unverified, dead, going, going)).step
    assert isinstance(step, Activate)
    assert (WEB_ID, None) == (step.declared.container_id, step.verified)


def test_where_nothing_was_before_nothing_of_it_was_verified() -> None:
    assert deploy_evidence.verified_at(deploying(first, until(Stage.UNWATCHED)), 2) is None
    assert deploy_evidence.verified_at(made(EXEMPLARS[Stage.BACKING_OUT], serving(superseded=())), 5) is None


@pytest.mark.parametrize(
    "change",
    [old(started_at="2026-11-30T06:59:58Z"), old(ports=running(host_port=40000).ports)],
    ids=["restarted", "at other binds"],
)
def test_what_was_verified_proves_nothing_of_another_execution_or_of_other_binds(change: Change) -> None:
    back = made(EXEMPLARS[Stage.BACKING_OUT], change, going)
    assert not evidence.is_verified(back.subject)
    assert Probe in {type(each.step) for each in course(back, going)}


# --- what must not go on -------------------------------------------------------------------------------------------------


def test_a_deploy_is_overdue_once_it_took_longer_than_it_may() -> None:
    now_s = GOOD_DEPLOY.clock.boot_s
    assert Stage.UNCREATED is stage(deploying(but(deadline_s=60.0, began_s=now_s - 60)))
    assert Stage.OVERDUE is stage(deploying(but(deadline_s=60.0, began_s=now_s - 60.5)))


def test_a_router_that_cannot_be_read_is_in_the_way_only_of_what_is_to_be_published() -> None:
    hidden = evolve(WANTED, published=False)
    assert [Stage.BLIND, Stage.UNCREATED, Stage.UNCREATED] == [
        stage(deploying(wanting(each), serving(route=RouteUnread(DEAF)))) for each in (WANTED, hidden, WORKER)
    ]


# --- the image -----------------------------------------------------------------------------------------------------------


def test_an_image_is_fetched_three_times_each_a_little_later_if_the_registry_is_out_of_reach() -> None:
    fetched = []
    for each in course(deploying(but(image=Gone())), failing(REGISTRYLESS)):
        if not isinstance(each.step, Pull):
            assert (Why.UNREACHED, "connection refused") == reason(each.deployment)
            break
        fetched.append((each.step.image, each.step.after_s))
    assert [("shop:v2", 0.0), ("shop:v2", 1.0), ("shop:v2", 2.0)] == fetched


def test_an_image_that_there_is_not_is_not_fetched_again() -> None:
    assert (Why.ABSENT, "it broke") == reason(deploying(but(image=Gone()), failing()))


def test_strict_readiness_wants_a_health_check_of_the_image_or_of_its_own() -> None:
    strict = evolve(WANTED, readiness=Readiness(Mode.HEALTH))
    assert Stage.UNCREATED is stage(deploying(wanting(strict), but(image=CHECKED)))
    checked, unchecked = (evolve(strict, health=HealthCheck((each,))) for each in ("CMD", "NONE"))
    assert Stage.UNCREATED is stage(deploying(wanting(checked)))
    assert Stage.UNCHECKED is stage(deploying(wanting(unchecked), but(image=CHECKED)))


# --- readiness -----------------------------------------------------------------------------------------------------------


def test_a_brief_fall_out_of_running_is_forgiven() -> None:
    fallen = EXEMPLARS[Stage.FALLEN]
    assert AwaitRunning("(new)", 30.0) == decide_deploy(fallen).step
    assert Stage.UNPROBED is stage(made(fallen, going))


def test_who_falls_again_and_again_is_not_forgiven() -> None:
    deployment = EXEMPLARS[Stage.UNPROBED]
    for _ in range(deploy_facts.MOST_FALLS):
        deployment = made(deployment, dead, going)
    assert Stage.ENDED is stage(made(deployment, dead))


def test_what_is_gone_is_not_waited_for() -> None:
    assert Stage.ENDED is stage(made(EXEMPLARS[Stage.UNPROBED], own(Gone())))


def test_a_candidate_that_was_created_and_vanished_cannot_be_found() -> None:
    assert (Why.UNCREATED, "") == reason(deploying(then(Create(NEW_NAME, 4))))


def test_a_command_without_an_answer_is_given_twice() -> None:
    for each in (Stage.UNJOURNALLED, Stage.UNSTARTED, Stage.READY):
        once = made(EXEMPLARS[each], failing(MUTE))
        assert each is stage(once)
        step = decide_deploy(made(once, failing(MUTE))).step
        assert isinstance(step, GiveUp)
        assert SILENT == step.reason


def test_whoever_starts_nothing_although_it_says_so_is_asked_twice() -> None:
    start = then(StartCandidate("(new)"))
    assert Stage.UNSTARTED is stage(made(EXEMPLARS[Stage.UNSTARTED], start))
    assert (Why.UNSTARTED, "") == reason(made(EXEMPLARS[Stage.UNSTARTED], start, start))


def test_starting_is_waited_for_as_long_as_the_deploy_may_take() -> None:
    hurried = evolve(WANTED, readiness=Readiness(deadline_s=7.0))
    deployment = made(EXEMPLARS[Stage.STARTING], wanting(hurried))
    for _ in range(5):
        step = decide_deploy(deployment).step
        assert isinstance(step, AwaitHealth)
        assert 30.0 == step.wait_s
        deployment = took(deployment, step, MUTE)
    late = evolve(deployment.clock, boot_s=deployment.began_s + 901)
    assert Stage.OVERDUE is stage(evolve(deployment, clock=late))


def test_an_execution_that_could_not_be_asked_three_times_is_not_ready() -> None:
    deployment = EXEMPLARS[Stage.UNPROBED]
    for _ in range(deploy_facts.MOST_FALLS):
        assert Stage.UNPROBED is stage(deployment)
        deployment = made(deployment, failing(MUTE))
    assert (Why.UNREADY, SILENT) == reason(deployment)


def test_a_delay_counts_for_the_execution_that_lived_through_it() -> None:
    fresh = EXEMPLARS[Stage.FRESH]
    assert Delay(Generation("shop", "web", "(new)", 4), "assumed", 5.0) == decide_deploy(fresh).step
    through = made(fresh, going)
    assert Stage.READY is stage(through)
    assert Stage.FRESH is stage(made(through, own(started_at="2026-11-30T06:59:58Z")))
    assert Stage.FRESH is stage(made(fresh, failing()))


def test_delay_can_be_asked_for_beside_what_else_there_is() -> None:
    delayed = evolve(WANTED, readiness=Readiness(Mode.DELAY, delay_s=9.0))
    assert Stage.UNPROBED is stage(made(deploying(wanting(delayed), until(Stage.FRESH)), going))


def test_what_is_said_of_ports_that_are_not_bound_names_them() -> None:
    assert (Why.UNBOUND, "nothing leads to 80/tcp") == reason(EXEMPLARS[Stage.UNBOUND])
    more = evolve(WANTED, ports=(*WANTED.ports, Publication(Port(443))))
    assert (Why.UNBOUND, "nothing leads to 80/tcp and 443/tcp") == reason(made(EXEMPLARS[Stage.UNBOUND], wanting(more)))


def test_words_of_whoever_said_no_are_kept() -> None:
    expected = {
        Stage.CANCELLED: "by hand",
        Stage.UNLISTED: SILENT,
        Stage.ON_HOLD: "held until 07:04:12Z by alice: migration",
        Stage.IMAGE_UNREAD: SILENT,
        Stage.UNGRANTED: "/dev/fuse is not granted",
        Stage.NAMES_UNREAD: SILENT,
        Stage.NAMELESS: f"{NEW_NAME} and {NEXT_NAME}",
        Stage.UNCREATED_IN_VAIN: "it broke",
        Stage.UNJOURNALLED_IN_VAIN: "the disk is full",
        Stage.OLD_ROUTED_IN_VAIN: "it broke",
        Stage.OLD_UP_IN_VAIN: "it broke",
        Stage.CONTESTED_IN_VAIN: "it broke",
        Stage.UNPUBLISHED: "it broke",
        Stage.STARTING_IN_VAIN: SILENT,
        Stage.UNREADY: "it broke",
        Stage.OUTRUN: "ACTIVE names revision 4",
    }
    assert expected == {each: reason(EXEMPLARS[each])[1] for each in expected}


def test_a_state_that_cannot_be_written_is_told_from_somebody_who_was_faster() -> None:
    assert (Why.STORE, "the disk is full") == reason(made(EXEMPLARS[Stage.READY], failing(STORELESS)))
    assert (Why.CONFLICT, BEATEN.reason) == reason(EXEMPLARS[Stage.OUTRUN])


# --- where engines hand a freed port to the candidate --------------------------------------------------------------------


def test_what_still_leads_to_the_candidates_port_is_withdrawn_before_it_is_probed() -> None:
    two = made(EXEMPLARS[Stage.UNPROBED], but(clashes=(("blog", "api"), ("blog", "web"))))
    assert Unroute("blog", "api") == decide_deploy(two).step
    assert Unroute("blog", "web") == decide_deploy(made(two, going)).step
    assert Stage.UNPROBED is stage(made(two, going, going))


def test_it_is_published_nowhere_where_that_fails() -> None:
    """P10: also once ACTIVE names it, when it was given another port meanwhile."""
    there = Unroute("blog", "web")
    for before in (EXEMPLARS[Stage.UNPROBED], EXEMPLARS[Stage.FINISHING], EXEMPLARS[Stage.UNWATCHED]):
        assert there == decide_deploy(made(before, contested)).step
        assert there == decide_deploy(made(before, contested, then(there, MUTE))).step
        for in_vain in ((then(there, BROKEN),), (then(there, MUTE),) * 2, (then(there),) * 2):
            assert Why.CONTESTED is reason(made(before, contested, *in_vain))[0]
        other = then(Unroute("blog", "api"), BROKEN)
        assert there == decide_deploy(made(before, contested, other)).step, "that was another one"


def test_a_candidate_that_does_not_run_holds_no_port() -> None:
    assert Stage.FALLEN is stage(made(EXEMPLARS[Stage.UNPROBED], contested, dead))


# --- where both must not run at once -------------------------------------------------------------------------------------


def test_the_old_one_yields_at_the_last_moment_and_comes_back_after_the_candidate_went() -> None:
    names = [type(each.step).__name__ for each in course(EXEMPLARS[Stage.EVICTING], going) if each.step is not None]
    assert ["StopCandidate", "RemoveCandidate", "DropCandidate", "RecordAttempt", "Start"] == names[:5]
    assert "Publish" == names[-1]


def test_there_is_nothing_to_yield_where_nothing_was() -> None:
    assert Stage.UNSTARTED is stage(deploying(first, wanting(FIXED), going, going))


def test_an_old_one_that_is_down_and_withdrawn_yields_already() -> None:
    down = serving(seen=evolve(running(), status=Status.EXITED, ports=()), route=evolve(GOOD_DEPLOY.subject.route, binds=()))
    assert Stage.UNSTARTED is stage(deploying(down, wanting(FIXED), going, going))


# --- once ACTIVE names it ------------------------------------------------------------------------------------------------


def test_the_watch_is_for_the_execution_that_serves() -> None:
    unwatched = EXEMPLARS[Stage.UNWATCHED]
    assert Watch(Generation("shop", "web", "(new)", 4), "assumed", 2.0) == decide_deploy(unwatched).step
    watched = made(unwatched, going)
    assert Stage.RETIRING is stage(watched)


def test_nobody_is_watched_for_ever() -> None:
    deployment = EXEMPLARS[Stage.UNWATCHED]
    for _ in range(deploy_facts.MOST_WATCHES):
        assert Stage.UNWATCHED is stage(deployment)
        deployment = made(deployment, failing(MUTE))
    assert Stage.RETIRING is stage(deployment)


@pytest.mark.parametrize(
    "change",
    [old(status=Status.EXITED), old(status=Status.PAUSED)],
    ids=["down", "paused"],
)
def test_there_is_no_way_back_to_what_does_not_live(change: object) -> None:
    deployment = made(EXEMPLARS[Stage.DIED], change)  # type: ignore[arg-type]
    assert Stage.FINISHING is stage(deployment)


def test_where_it_was_kept_down_there_is_a_way_back() -> None:
    kept = deploying(wanting(FIXED), until(Stage.UNWATCHED))
    assert Stage.DIED is stage(made(kept, dead))
    gone = evolve(kept.subject.superseded[0], seen=Gone())
    assert Stage.FINISHING is stage(made(kept, serving(superseded=(gone,)), dead))


def test_a_failed_journal_is_no_reason_not_to_go_back() -> None:
    assert Stage.BACKING_OUT is stage(made(EXEMPLARS[Stage.DISOWNING], failing(STORELESS)))


def test_where_going_back_is_refused_recovery_goes_on_with_the_new_one() -> None:
    beaten = made(EXEMPLARS[Stage.BACKING_OUT], failing(BEATEN))
    assert Stage.RESTORING is stage(beaten)


def test_cancelling_comes_too_late_once_it_serves() -> None:
    assert Stage.INTERRUPTED is stage(EXEMPLARS[Stage.INTERRUPTED])
    assert Stage.FINISHING is stage(made(EXEMPLARS[Stage.FINISHING], but(cancelled="by hand")))


def test_a_name_that_is_taken_or_refused_is_no_reason_to_fail() -> None:
    misnamed = EXEMPLARS[Stage.MISNAMED]
    assert Rename("(new)", CANONICAL) == decide_deploy(misnamed).step
    assert Stage.DEPLOYED is stage(made(misnamed, failing()))
    assert Stage.DEPLOYED is stage(evolve(misnamed, taken_names=(CANONICAL, NEW_NAME)))
    assert Stage.DEPLOYED is stage(evolve(misnamed, unlisted=SILENT))
    assert Stage.DEPLOYED is stage(made(misnamed, own(Unread(SILENT))))


def test_a_candidate_goes_before_what_restores_the_old_one_is_waited_for() -> None:
    """C1: what served before may take its readiness deadline to come up again, and the candidate has 30 seconds."""
    failed = made(EXEMPLARS[Stage.CLEARING], serving(seen=running("2026-11-30T06:59:58Z")))
    assert isinstance(deploy_evidence.by_recovery(failed).effect, Withdraw)
    assert Stage.RESTORING is stage(failed)
    withdrawn = going(failed)
    assert isinstance(deploy_evidence.by_recovery(withdrawn).effect, Probe)
    cleared = made(withdrawn, going, going, going)
    assert [Stage.CLEARING, Stage.RESTORING] == [stage(withdrawn), stage(cleared)]


def test_what_served_before_and_was_verified_serves_again_before_the_candidate_goes() -> None:
    failed = made(EXEMPLARS[Stage.CLEARING], serving(route=RouteSeen()))
    assert evidence.is_verified(failed.subject)
    road = [(each.stage, type(each.step)) for each in course(failed, going)]
    assert [(Stage.RESTORING, Probe), (Stage.RESTORING, Publish)] == road[:2]
    assert Stage.CLEARING is road[2][0]


AWAY = f"{CANONICAL}-{OLD_ID[:12]}"
"""The name of a superseded container that gave up its own."""


def test_a_container_of_the_service_gives_up_a_name_before_the_deploy_does() -> None:
    """C3: what interrupted deploys left may bear all three names, and the next one succeeds without help."""
    superseded = deploying(crowded)
    assert Rename(OLD_ID, AWAY) == decide_deploy(superseded).step
    assert Stage.UNCREATED is stage(made(superseded, going))
    in_active = made(superseded, serving(superseded=()))
    assert Rename(WEB_ID, CANONICAL) == decide_deploy(in_active).step
    assert Stage.UNCREATED is stage(made(in_active, going))


def test_the_canonical_name_is_freed_for_what_active_names() -> None:
    (old,) = deploying(crowded).subject.superseded
    canonical = evolve(old, seen=evolve(running(container_id=OLD_ID), name=CANONICAL))
    full = deploying(crowded, serving(superseded=(canonical,)), but(taken_names=(CANONICAL, NEW_NAME, NEXT_NAME)))
    assert [Rename(OLD_ID, AWAY), Rename(WEB_ID, CANONICAL)] == [decide_deploy(each).step for each in (full, made(full, going))]
    assert Stage.NAMELESS is stage(made(full, serving(superseded=())))


def test_a_look_that_failed_does_not_make_its_names_somebody_elses() -> None:
    """Whoever deploys is not told to remove what another look shows to be the service's own."""
    full = deploying(but(taken_names=(CANONICAL, NEW_NAME, NEXT_NAME)))
    left = left_behind(Unread(SILENT))(full.subject).candidates
    for each in (unread, serving(candidates=left), serving(seen=Unread(SILENT))):
        assert (Stage.NAMES_UNREAD, GiveUp(Why.ENGINE, "", SILENT)) == (stage(each(full)), decide_deploy(each(full)).step)
    assert Stage.NAMELESS is stage(made(full, first, but(taken_names=full.taken_names)))
    assert Stage.CROWDED is stage(deploying(crowded, serving(candidates=left)))


def test_each_container_is_asked_once_to_give_up_its_name() -> None:
    assert Rename(WEB_ID, CANONICAL) == decide_deploy(deploying(crowded, failing())).step
    assert Stage.NAMELESS is stage(deploying(crowded, failing(), failing()))


def test_that_nobody_can_look_is_no_sign_against_what_was_watched() -> None:
    watched = EXEMPLARS[Stage.RETIRING]
    assert Stage.DEPLOYED is stage(made(watched, own(Unread(SILENT))))
    assert Stage.MISNAMED is stage(made(watched, serving(route=RouteUnread(DEAF)), but(taken_names=(NEW_NAME,))))
    assert Stage.UNSERVED is stage(made(EXEMPLARS[Stage.UNWATCHED], own(Unread(SILENT))))


def test_a_publication_that_failed_is_a_failure_also_without_a_way_back() -> None:
    published = deploying(first, until(Stage.FINISHING), failing())
    assert (Why.UNPUBLISHED, "it broke") == reason(published)


# --- nothing to do -------------------------------------------------------------------------------------------------------


def test_what_is_as_wanted_and_about_to_serve_is_left_to_recovery() -> None:
    unrouted = deploying(but(changed=()), serving(route=evolve(GOOD_DEPLOY.subject.route, binds=())))
    assert Stage.FINISHING is stage(unrouted)
    paused = evolve(running(), status=Status.PAUSED)
    assert Stage.UNCREATED is stage(deploying(but(changed=()), serving(seen=paused)))
    assert Stage.UNCREATED is stage(deploying(but(changed=()), serving(seen=running(health=Health(HealthStatus.UNHEALTHY)))))


# --- the results that a look is told -------------------------------------------------------------------------------------


def test_results_are_about_a_generation_or_about_none_in_particular() -> None:
    other = Generation("shop", "web", "other", 3)
    withdrawal, published = Result(Withdraw("shop", "web"), DONE), Result(Publish(other, (BIND,)), DONE)
    mine = Result(Publish(GENERATION, (BIND,)), DONE)
    assert (withdrawal, mine) == deploy_evidence.about((withdrawal, mine), GENERATION)
    assert (mine,) == deploy_evidence.about((withdrawal, published, mine), GENERATION)
    assert (withdrawal,) == deploy_evidence.about((published, withdrawal), GENERATION)
    assert (withdrawal,) == deploy_evidence.about((withdrawal, Result(Probe(other, STARTED, (BIND,), 0.0), DONE)), GENERATION)


def test_no_answer_twice_or_one_refusal_is_in_vain() -> None:
    assert [False, False, True, True] == [
        deploy_evidence.is_in_vain(each) for each in ((), (DONE, MUTE), (MUTE, MUTE), (DONE, BROKEN))
    ]
    assert ["", "", SILENT] == [deploy_evidence.words(each) for each in ((), (BROKEN, DONE), (MUTE,))]


def test_a_leftover_that_runs_is_stopped_before_its_name_is_used() -> None:
    decision = decide_deploy(deploying(serving(candidates=left_behind()(GOOD_DEPLOY.subject).candidates)))
    assert (Stage.LEFTOVER, NEW_ID) == (decision.stage, getattr(decision.step, "container_id", ""))


def test_what_of_another_deploy_stays_is_in_nobodys_way() -> None:
    foreign = left_behind(journalled=False, owned=False)(GOOD_DEPLOY.subject).candidates
    assert Stage.UNCREATED is stage(deploying(serving(candidates=foreign)))


@pytest.mark.parametrize(
    ("reached", "called_for", "meanwhile"),
    [
        (EXEMPLARS[Stage.RETIRING], Stage.RETIRING, Stage.DEPLOYED),
        (made(EXEMPLARS[Stage.DEPLOYED], serving(candidates=left_behind()(GOOD).candidates)), Stage.TIDYING, Stage.DEPLOYED),
        (EXEMPLARS[Stage.CLEARING], Stage.CLEARING, Stage.FAILED),
    ],
    ids=("a superseded container", "what another deploy left", "its candidate that failed"),
)
def test_what_is_to_go_is_left_alone_until_a_hold_that_began_meanwhile_is_over(
    reached: Deployment, called_for: Stage, meanwhile: Stage
) -> None:
    on_hold = made(reached, held)
    over = evolve(on_hold, clock=evolve(on_hold.clock, boot_s=HOLD.until_s))
    assert [called_for, meanwhile, called_for] == [stage(each) for each in (reached, on_hold, over)]
