"""The facts of a deploy: how its candidate is told to the law of recovery, what was published, and who can give up a name."""

import pytest
from attrs import evolve

from gordon_core import deploy_evidence, deploy_facts
from gordon_core.blueprint import Readiness
from gordon_core.deploy_effects import Unroute
from gordon_core.deployment import Deployment
from gordon_core.effects import DONE, Generation, Publish, StopCandidate
from gordon_core.observation import Bind, Gone, RouteSeen, SeenAs, Unread
from gordon_core.policy import DEFAULT_POLICY
from gordon_core.situations import Situation
from gordon_core.snapshot import Candidate, Declared, HttpCheck, NamedAs, Subject
from gordon_core.stages import Stage
from tests.core_examples import BIND, DECLARED, GENERATION, HTTP, LATER, NEW_ID, OLD_ID, SILENT, WEB_ID, running
from tests.deploy_examples import (
    BROKEN,
    CANONICAL,
    EXEMPLARS,
    FIXED,
    GOOD_DEPLOY,
    NEW_NAME,
    NEXT_NAME,
    WANTED,
    but,
    crowded,
    deaf,
    deploying,
    first,
    made,
    own,
    serving,
    then,
    wanting,
)

CHOOSY = evolve(WANTED, stop_grace_s=3.0, readiness=Readiness(http=HttpCheck(80), deadline_s=7.0))
POLICY = evolve(DEFAULT_POLICY, readiness_s=60.0, longest_gap_s=90.0)
NEW = running(LATER, 32800, NEW_ID)
CAME_UP = deploying(
    wanting(CHOOSY), but(own_id=NEW_ID, own=NEW, journalled=True), serving(declared=evolve(DECLARED, policy=POLICY))
)
"""A candidate, wanted in another way than the old container, whose service has a policy of its own."""

# --- the candidate, as recovery would see it -----------------------------------------------------------------------------


def test_what_active_is_to_say_of_the_candidate_is_what_is_wanted_under_the_policy_that_is() -> None:
    expected = Declared(NEW_ID, 4, (HTTP,), (), 3.0, published=True, http=HttpCheck(80), policy=POLICY)
    assert expected == deploy_evidence.declared(CAME_UP)
    assert DEFAULT_POLICY == deploy_evidence.declared(made(CAME_UP, first)).policy


def test_the_candidate_is_a_service_of_its_own_which_has_as_long_as_the_deploy_says() -> None:
    named = evolve(deploy_evidence.declared(CAME_UP), policy=evolve(POLICY, readiness_s=7.0))
    assert Subject("shop", "web", NEW, named, route=RouteSeen((BIND,))) == deploy_evidence.own_subject(CAME_UP)
    assert Gone() == deploy_evidence.own_subject(evolve(CAME_UP, own=None)).seen


def test_where_there_is_no_candidate_it_counts_as_gone() -> None:
    assert SeenAs.GONE is deploy_evidence.own_seen_as(GOOD_DEPLOY)
    assert SeenAs.RUNNING is deploy_evidence.own_seen_as(CAME_UP)


def test_a_candidate_that_failed_is_told_as_what_it_is() -> None:
    expected = Candidate(NEW_ID, NEW, NamedAs.TEMPORARY, owned=True, journalled=True, exclusive=False, stop_grace_s=3.0)
    assert expected == deploy_evidence.own_candidate(CAME_UP)
    assert deploy_evidence.own_candidate(evolve(CAME_UP, wanted=FIXED)).exclusive
    for unseen, known in ((None, False), (Gone(), False), (Unread(SILENT), True)):
        told = deploy_evidence.own_candidate(evolve(CAME_UP, own=unseen, journalled=False))
        assert (unseen or Gone(), known) == (told.seen, told.journalled)


# --- what is to be done with it ------------------------------------------------------------------------------------------

CLEARING = EXEMPLARS[Stage.CLEARING]
OWN = Generation("shop", "web", CLEARING.own_id, 4)


def is_stopped(deployment: Deployment) -> bool:
    """Return whether the candidate of a deploy that failed is told to stop."""
    decision = deploy_evidence.of_the_candidate(deployment)
    return decision is not None and isinstance(decision.effect, StopCandidate)


@pytest.mark.parametrize(
    ("deployment", "expected"),
    [
        pytest.param(CLEARING, True, id="nothing leads to it"),
        pytest.param(made(CLEARING, deaf), True, id="nobody can look, and it was never published"),
        pytest.param(made(CLEARING, then(Publish(OWN, (BIND,)), DONE), deaf), False, id="nobody can look, and it was published"),
        pytest.param(made(CLEARING, then(Publish(GENERATION, (BIND,)), DONE), deaf), True, id="that was another one"),
        pytest.param(made(CLEARING, own(NEW), serving(route=RouteSeen((Bind(HTTP, 32800),)))), False, id="a route leads to it"),
    ],
)
def test_a_candidate_that_may_be_routed_is_kept(deployment: Deployment, expected: bool) -> None:  # noqa: FBT001 - a column
    """P2; what this deploy never published cannot be routed, also where nobody can look."""
    assert expected == is_stopped(deployment)


def test_of_what_was_never_published_the_router_is_taken_to_show_nothing() -> None:
    decision = deploy_evidence.of_the_candidate(made(CLEARING, deaf))
    assert decision is not None
    assert RouteSeen() == decision.subject.route


def test_recovery_starts_nothing_beside_what_a_failed_deploy_left_where_both_must_not_run() -> None:
    evicting = EXEMPLARS[Stage.EVICTING]
    assert (Situation.EXCLUDED, None) == (
        deploy_evidence.by_recovery(evicting).situation,
        deploy_evidence.by_recovery(evicting).effect,
    )
    assert Situation.DUE is deploy_evidence.by_recovery(made(evicting, own(Gone()))).situation


def test_nothing_is_to_be_done_with_what_is_not_there_or_serves() -> None:
    assert [None, None] == [deploy_evidence.of_the_candidate(each) for each in (GOOD_DEPLOY, EXEMPLARS[Stage.UNWATCHED])]


def test_what_became_of_withdrawing_another_service_is_about_that_service() -> None:
    both = but(clashes=(("blog", "web"), ("forum", "web")))
    refused = made(EXEMPLARS[Stage.CONTESTED], both, then(Unroute("forum", "web"), BROKEN))
    assert [(), (BROKEN,)] == [
        deploy_evidence.contested(each) for each in (refused, made(refused, but(clashes=(("forum", "web"),))))
    ]


# --- names ---------------------------------------------------------------------------------------------------------------


def test_where_both_temporary_names_are_taken_none_is_free() -> None:
    assert ["", NEXT_NAME] == [
        deploy_facts.free_name(deploying(but(taken_names=each))) for each in ((NEW_NAME, NEXT_NAME), (NEW_NAME,))
    ]


@pytest.mark.parametrize(
    "seen", [evolve(running(), name="by-hand"), Gone(), Unread(SILENT)], ids=["another name", "gone", "unread"]
)
def test_the_canonical_name_is_freed_for_nobody_else(seen: object) -> None:
    (old,) = deploying(crowded).subject.superseded
    canonical = evolve(old, seen=evolve(running(container_id=OLD_ID), name=CANONICAL))
    assert None is deploy_facts.gives_way(deploying(crowded, serving(superseded=(canonical,), seen=seen), but(taken_names=())))


def test_what_active_names_gives_up_a_temporary_name_for_the_canonical_one() -> None:
    alone = deploying(crowded, serving(superseded=()))
    assert (WEB_ID, CANONICAL) == deploy_facts.gives_way(alone)
    assert None is deploy_facts.gives_way(made(alone, but(taken_names=(CANONICAL, NEW_NAME, NEXT_NAME))))
