"""What is supposed is in the snapshot as if it had been seen so; what cannot be is refused as any document would be."""

from pathlib import Path

import pytest

from gordon_core.document import read_snapshot
from gordon_core.observation import Clock, Gone, HealthStatus, RouteSeen, Status
from gordon_core.planner import plan
from gordon_core.policy import WhenUnhealthy
from gordon_core.snapshot import Snapshot, Subject
from gordon_shell.errors import DocumentError, UsageError
from gordon_shell.what_if import supposed, supposed_of_all
from tests.core_examples import NOBODY, OLD_ID, good, having, host, superseding

EXAMPLES = Path(__file__).parent.parent / "examples"
SAMPLE = read_snapshot((EXAMPLES / "sample.json").read_bytes())
SHOWN = tuple(each.name for each in SAMPLE.subjects)


def changed(*texts: str, snapshot: Snapshot = SAMPLE, shown: tuple[str, ...] = SHOWN) -> dict[str, Subject]:
    return {each.name: each for each in supposed(snapshot, texts, shown, "host.json").subjects}


def test_a_bare_constant_holds_for_all_that_are_shown_and_the_plan_says_that_it_is_supposed() -> None:
    found = changed("unhealthy_threshold=3", shown=("shop/web", "shop/db"))
    thresholds = {name: each.declared.policy.unhealthy_threshold for name, each in found.items() if each.declared is not None}
    assert {"shop/api": 2, "shop/db": 3, "shop/web": 3, "shop/worker": 2} == thresholds
    assert ("unhealthy_threshold = 3, by --what-if",) == tuple(map(str, found["shop/web"].policy_constants))
    assert () == found["shop/api"].policy_constants


@pytest.mark.parametrize(
    ("text", "constant", "value"),
    [
        ("ladder_s=60, 120", "ladder_s", (60.0, 120.0)),
        ("ladder_s=[1.5]", "ladder_s", (1.5,)),
        ("exit_0_is_done=true", "exit_0_is_done", True),
        ("unhealthy=withdraw", "unhealthy", WhenUnhealthy.WITHDRAW),
        ("shop/web:readiness_s=0", "readiness_s", 0.0),
        ("shop/web:declared.policy.free_failures=7", "free_failures", 7),
    ],
)
def test_constants_of_every_kind(text: str, constant: str, value: object) -> None:
    declared = changed(text)["shop/web"].declared
    assert declared is not None
    assert value == getattr(declared.policy, constant)


def test_what_is_not_in_active_has_no_policy() -> None:
    assert NOBODY == changed("free_failures=1", snapshot=host(NOBODY), shown=("shop/web",))["shop/web"]


def test_facts_by_their_path() -> None:
    found = changed(
        "shop/web:seen.status=exited",
        "shop/web:seen.started_at=2026",
        "shop/web:memory.failures=4",
        "shop/api:seen=gone",
        "shop/db:seen.health.status=healthy",
        "shop/db:inhibited=by hand",
        "shop/worker:memory.charged_at_s=none",
        "shop/worker:orphans=a, b",
    )
    web, db, worker = found["shop/web"], found["shop/db"], found["shop/worker"]
    assert (Status.EXITED, "2026") == (getattr(web.seen, "status", None), getattr(web.seen, "started_at", None))
    assert 4 == web.memory.failures
    assert Gone() == found["shop/api"].seen
    assert HealthStatus.HEALTHY == getattr(db.seen, "health", None).status  # type: ignore[union-attr]
    assert ("by hand", None, ("a", "b")) == (db.inhibited, worker.memory.charged_at_s, worker.orphans)


def test_what_stands_on_the_way_as_by_default_is_made() -> None:
    snapshot = host(good(having(route=RouteSeen())))
    binds = '[{"port": "80/tcp", "host_port": 32768}]'
    found = changed(f"shop/web:route.binds={binds}", "shop/web:memory.attempt.before=x", snapshot=snapshot, shown=())["shop/web"]
    assert (good().route, "x") == (found.route, getattr(found.memory.attempt, "before", None))


def test_members_of_lists_by_their_index() -> None:
    found = changed("shop/web:superseded[0].seen=gone", snapshot=host(good(superseding)), shown=())["shop/web"]
    assert [(OLD_ID, Gone())] == [(each.container_id, each.seen) for each in found.superseded]
    again = changed('shop/web:orphans[1]="c"', snapshot=host(good(having(orphans=("a", "b")))), shown=())["shop/web"]
    assert ("a", '"c"') == again.orphans


def test_several_may_be_possible_only_together() -> None:
    found = changed("shop/web:declared.container_id=c2", "shop/web:seen.container_id=c2")["shop/web"]
    assert "c2" == getattr(found.seen, "container_id", None)


def test_another_plan_follows() -> None:
    snapshot = supposed(SAMPLE, ("shop/worker:memory.failures=0",), SHOWN, "x")
    assert "DUE" == {each.subject.name: each.situation.name for each in plan(snapshot).services}["shop/worker"]


def test_of_several_documents_each_is_changed_of_the_apps_alone_that_are_shown() -> None:
    other = host(good(having(app="blog")), good())
    first, second = supposed_of_all((SAMPLE, other), ("free_failures=9",), ("blog",), ("a", "b"))
    assert SAMPLE == first
    assert {"blog/web": 9, "shop/web": 3} == {
        each.name: each.declared.policy.free_failures for each in second.subjects if each.declared is not None
    }


NO_PAIR = "--what-if must be KEY=VALUE, like unhealthy_threshold=3 or shop/web:memory.failures=0; found"
NOT_THERE = "nothing is there in the snapshot; `gordon-plan --record FILE` shows what is"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("unhealthy_treshold=3", "'unhealthy_treshold' is not known; did you mean unhealthy_threshold?"),
        ("shop/web:memori.failures=0", "'memori' is not known; did you mean memory?"),
        ("shop/web:free_failure=0", "'free_failure' is not known; did you mean free_failures?"),
        ("shop/wep:intent=stopped", "there is no service 'shop/wep' here; did you mean shop/web?"),
        ("shop/web:a..b=1", "'a..b' is no path; one is like memory.failures or superseded[0].seen"),
        ("shop/web:superseded[0].seen=gone", NOT_THERE),
        ("shop/web:declared.ports[4]=81/tcp", NOT_THERE),
        ("shop/web:intent.x=1", NOT_THERE),
    ],
)
def test_a_key_that_names_nothing_is_refused_with_what_is_near(text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        changed(text)
    assert f"--what-if {text}: {said}" == str(refused.value)


@pytest.mark.parametrize("text", ["nonsense", "=3", ""])
def test_what_is_no_pair_is_refused_with_examples(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        changed(text)
    assert f"{NO_PAIR} {text!r}" == str(refused.value)


def test_a_service_that_is_like_no_other_is_refused_with_all_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"there is no service 'x' here; name one of: shop/api, shop/db, shop/web, shop/worker$"):
        changed("x:intent=stopped")
    with pytest.raises(
        UsageError, match=r"'x' is not known; known are free_failures, .*; a fact is named with its service, like"
    ):
        changed("x=1")
    with pytest.raises(UsageError, match=r"name one of: none, there is no service$"):
        changed("x:intent=stopped", snapshot=Snapshot(Clock(0.0, 0.0, "b")))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("shop/web:memory.failures=-1", "$.services[2].memory.failures: must be at least 0; found -1"),
        ("shop/web:memory.failures=many", '$.services[2].memory.failures: must be a whole number; found "many"'),
        ("shop/web:memory.failurs=1", '$.services[2].memory.failurs: is not known here; did you mean "failures"?'),
        ("shop/web:seen.status=sleeping", "$.services[2].seen.status: must be one of "),
        ("shop/web:route=unread", "$.services[2].route.reason: is missing, and required"),
        ("shop/web:seen.container_id=c2", "$.services[2].seen: what was seen must be the declared container "),
        ("shop/web:ladder_s=60,-1", "$.services[2].declared.policy.ladder_s[1]: must be above 0; found -1"),
    ],
)
def test_a_value_that_cannot_be_is_refused_in_the_words_of_the_document(text: str, fault: str) -> None:
    with pytest.raises(DocumentError) as refused:
        changed(text)
    assert str(refused.value).startswith(f"host.json: with {text}: {fault}")
    assert 65 == refused.value.exit_code
