"""How deploys end, and why they fail: what, the likely cause, a hint, and what the candidate could still tell."""

import pytest
from attrs import evolve

from gordon_core.deploy_effects import GiveUp, Why
from gordon_core.deploy_planner import decide_deploy
from gordon_core.deployment import Deployment, Dossier
from gordon_core.effects import DONE
from gordon_core.observation import Container, Exit, Gone, Status, Unread
from gordon_core.stages import Stage
from gordon_core.verdicts import CAUSES, Failure, failure, verdict
from tests.core_examples import SILENT, WEB_ID
from tests.deploy_examples import (
    EXEMPLARS,
    FIXED,
    GOOD_DEPLOY,
    NEW_NAME,
    STORELESS,
    Change,
    but,
    course,
    dead,
    deploying,
    failing,
    going,
    made,
    then,
    until,
    wanting,
)


def failed(why: Why, reason: str = "", end: Exit | None = None) -> Failure:
    """Return the failure of the good deploy that gave up for this."""
    seen = Container("(new)", Status.EXITED, "s", exit=end, name=NEW_NAME)
    found = failure(deploying(then(GiveUp(why, "(new)", reason)), but(dossier=Dossier(seen, ("line 1", "line 2")))))
    assert found is not None
    return found


def ended(deployment: Deployment, *changes: Change) -> Deployment:
    """Return the deployment after changes, and after all that is left to do went well."""
    *_, last = course(made(deployment, *changes), going)
    return last.deployment


@pytest.mark.parametrize("why", Why, ids=lambda each: each.name)
def test_every_reason_has_a_likely_cause_and_a_hint(why: Why) -> None:
    found = failed(why)
    assert found.cause
    assert found.hint


@pytest.mark.parametrize("row", range(len(CAUSES)))
def test_every_row_of_causes_is_reached(row: int) -> None:
    ends = [Exit(code) for code in (0, 1, 126, 127, 137, 143)] + [Exit(1, oom_killed=True), None]
    reasons = (
        "",
        "Bind failed: port is already allocated",
        "exec: not there: executable file not found in $PATH",
        "/srv/data does not exist any more",
    )
    told = {
        (each.cause, each.hint)
        for why in CAUSES[row].whys
        for end in ends
        for reason in reasons
        for each in [failed(why, reason, end)]
    }
    assert (CAUSES[row].cause, CAUSES[row].hint) in told


@pytest.mark.parametrize(
    ("why", "reason", "end", "hint"),
    [
        (Why.ENDED, "", Exit(137, oom_killed=True), "raise its memory limit"),
        (Why.ENDED, "", Exit(137), "see who did, and deploy again"),
        (Why.ENDED, "", Exit(127), "check the command, and the PATH of the image"),
        (Why.ENDED, "", Exit(126), "check its permissions, and the architecture of the image"),
        (Why.ENDED, "", Exit(0), "have it run in the foreground; a job that ends is no service"),
        (Why.DIED, "", Exit(1), "its last lines say more"),
        (Why.UNCHECKED, "", None, "add a health check or choose another readiness mode"),
        (Why.UNSTARTED, "Port Is Already Allocated", None, "choose another host port, or end what holds it"),
        (Why.UNCREATED, "no such file or directory", None, "check the command and the mounts"),
        (Why.UNGRANTED, "/dev/fuse is not granted", None, "grant it in the host policy, or deploy without it"),
        (Why.UNGRANTED, "/srv/data does not exist any more", None, "create the path, or deploy without the mount"),
        (Why.UNSTARTED, "strange", None, "the engine's words say what"),
    ],
)
def test_the_hint_is_about_what_lies_behind_it(why: Why, reason: str, end: Exit | None, hint: str) -> None:
    assert hint == failed(why, reason, end).hint


def test_a_failure_tells_what_the_candidate_could_still_tell() -> None:
    assert Failure(
        Why.ENDED,
        "it fell",
        "it needs more memory than it may have",
        "raise its memory limit",
        "(new)",
        NEW_NAME,
        137,
        oom_killed=True,
        lines=("line 1", "line 2"),
    ) == failed(Why.ENDED, "it fell", Exit(137, oom_killed=True))


@pytest.mark.parametrize("seen", [None, Gone(), Unread(SILENT)])
def test_what_could_not_be_seen_any_more_is_not_told(seen: Gone | Unread | None) -> None:
    found = failure(deploying(then(GiveUp(Why.ENDED)), but(dossier=Dossier(seen))))
    assert found is not None
    assert ("", "", None, False) == (found.container_id, found.container_name, found.exit_code, found.oom_killed)


def test_what_is_deployed_or_unaltered_is_well() -> None:
    deployed, unaltered = (verdict(decide_deploy(EXEMPLARS[each])) for each in (Stage.DEPLOYED, Stage.UNALTERED))
    assert (Stage.DEPLOYED, "(new)", 4, True) == (deployed.stage, deployed.container_id, deployed.revision, deployed.is_well)
    assert (Stage.UNALTERED, WEB_ID, 3, 0, True) == (
        unaltered.stage,
        unaltered.container_id,
        unaltered.revision,
        unaltered.steps,
        unaltered.is_well,
    )
    assert 0 < deployed.steps


def test_what_never_was_has_neither_container_nor_revision() -> None:
    nothing = deploying(but(subject=evolve(GOOD_DEPLOY.subject, declared=None)), then(GiveUp(Why.STOPPED)))
    told = verdict(decide_deploy(nothing))
    assert ("", 0, False) == (told.container_id, told.revision, told.is_well)


def test_whether_it_was_published_already_is_told() -> None:
    before = failure(ended(deploying(until(Stage.FINISHING)), dead))
    after = failure(ended(EXEMPLARS[Stage.DIED]))
    assert before is not None
    assert after is not None
    assert [False, True] == [before.switched_back, after.switched_back]


def test_a_publication_that_was_refused_was_none() -> None:
    found = failure(ended(EXEMPLARS[Stage.UNPUBLISHED]))
    assert found is not None
    assert not found.switched_back


def test_what_is_published_again_after_it_went_back_is_the_former() -> None:
    found = failure(ended(deploying(wanting(FIXED), until(Stage.FINISHING), failing())))
    assert found is not None
    assert (Why.UNPUBLISHED, False) == (found.why, found.switched_back)


def test_what_could_not_be_cleared_is_named() -> None:
    clearing = EXEMPLARS[Stage.CLEARING]
    stuck = made(clearing, failing(STORELESS), failing(STORELESS))
    left, cleared = failure(stuck), failure(ended(clearing))
    assert left is not None
    assert cleared is not None
    assert ["(new)", ""] == [left.left, cleared.left]


def test_only_the_first_reason_counts() -> None:
    twice = deploying(then(GiveUp(Why.STOPPED), DONE), then(GiveUp(Why.OVERDUE), DONE))
    found = failure(twice)
    assert found is not None
    assert Why.STOPPED is found.why


def test_what_did_not_fail_has_no_failure() -> None:
    assert None is failure(GOOD_DEPLOY)
