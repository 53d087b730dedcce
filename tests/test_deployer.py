"""Deploys on memory ports: what they do, what they say, and what they leave."""

import threading
import time
from collections.abc import Iterator

import pytest
from attrs import evolve

from gordon_core.blueprint import Blueprint, Mode, Mount, Publication, Readiness, Variable
from gordon_core.deploy_effects import Watch, Why
from gordon_core.deploy_forecast import forecast_deploy
from gordon_core.deploy_planner import DeployDecision
from gordon_core.effects import Fault, Outcome, Refused, Unknown
from gordon_core.grants import HostPolicy, Overrides, Scope
from gordon_core.memory import Memory
from gordon_core.observation import Bind, Gone, Port
from gordon_core.policy import DEFAULT_POLICY
from gordon_core.snapshot import HttpCheck, Intent
from gordon_core.stages import Stage
from gordon_shell.deploy_executor import DEFAULT_LIMITS, Limits
from gordon_shell.deployer import Deployer
from gordon_shell.errors import BusyError, EngineError, StoreError, UsageError
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.memory.images import SimulatedImage
from gordon_shell.ports import HTTP_LABEL, OWNER_LABELS, Details
from tests.deploy_sites import CHECK, CHECKED, Site, done, exclusive
from tests.hosts import HTTP, no_policy, settled

SECRET = "hunter22"  # noqa: S105 - it is to be found nowhere


@pytest.fixture
def site() -> Site:
    return Site()


# --- what is done --------------------------------------------------------------------------------------------------------


def test_a_first_deploy_serves_under_the_canonical_name(site: Site) -> None:
    verdict = site.deploy("shop:1")
    assert (Stage.DEPLOYED, 1, None) == (verdict.stage, verdict.revision, verdict.failure)
    assert {"gordon-shop-web": "running"} == site.names()
    assert {"shop/web": (32768,)} == site.routes()
    assert site.is_settled()


@pytest.mark.parametrize(("limits", "watch_s"), [(DEFAULT_LIMITS, 2.0), (Limits(watch_s=0.5), 0.5)])
def test_it_is_watched_for_as_long_as_its_limits_say(site: Site, limits: Limits, watch_s: float) -> None:
    steps: list[object] = []
    deployer = site.deployer(lambda decision, _outcome: steps.append(decision.step), limits)
    assert deployer.deploy("shop", "web", Blueprint("shop:1")).is_well
    assert {watch_s} == {each.wait_s for each in steps if isinstance(each, Watch)}


def test_a_deploy_replaces_what_serves_and_is_verified(site: Site) -> None:
    site.serving("shop:1")
    site.watch()
    verdict = site.deploy("shop:2")
    assert [] == site.troubles
    assert (Stage.DEPLOYED, 2) == (verdict.stage, verdict.revision)
    assert ({"gordon-shop-web": "running"}, "shop:2") == (site.names(), site.active())
    assert site.is_settled()
    assert {} == {key: each for key, each in site.reconciler.run_pass().results.items() if each}


def test_what_is_as_wanted_is_left_alone(site: Site) -> None:
    site.serving("shop:1")
    verdict = site.deploy("shop:1")
    assert (Stage.UNALTERED, 1, 0) == (verdict.stage, verdict.revision, verdict.steps)
    assert [] == site.calls.commands()


def test_two_deploys_of_the_same_image_with_other_variables_are_two(site: Site) -> None:
    site.serving("shop:1")
    wanted = Blueprint("shop:1", environment=(Variable("MODE", "live"),))
    assert 2 == site.deploy(wanted).revision
    assert Stage.UNALTERED is site.deploy(wanted).stage


def test_it_is_made_with_the_labels_of_its_owner_and_its_revision(site: Site) -> None:
    found = site.engine.inspect(site.serving("shop:1"))
    assert isinstance(found, Details)
    assert ("shop", "web", "1") == (*(found.labels[each] for each in OWNER_LABELS), found.labels["gordon.revision"])


def test_it_is_in_the_journal_before_it_starts(site: Site) -> None:
    site.calls.once_before("engine.start", lambda: found.extend(site.candidates()))
    found: list[str] = []
    site.deploy("shop:1")
    assert ["gordon-shop-web-new"] == found
    assert () == site.candidates()


def test_a_health_check_is_waited_for(site: Site) -> None:
    site.serving("shop:1")
    site.image("shop:2", CHECKED)
    site.watch()
    assert site.deploy(Blueprint("shop:2", health=CHECK)).is_well
    assert [] == site.troubles
    assert Stage.UNALTERED is site.deploy(Blueprint("shop:2", health=CHECK)).stage


def test_a_worker_is_seen_through_its_delay_and_never_routed() -> None:
    site = Site(ports=())
    begun_s = site.clock.now().boot_s
    assert site.deploy("shop:1").is_well
    assert 7.0 <= site.clock.now().boot_s - begun_s < 8.0
    assert ({}, {"gordon-shop-web": "running"}) == (site.routes(), site.names())
    assert Stage.UNALTERED is site.deploy("shop:1").stage
    assert site.deploy("shop:2").is_well


def test_an_image_that_is_not_here_is_fetched(site: Site) -> None:
    site.engine.images.serve("far:1", SimulatedImage("sha256:far", ports=(HTTP,)))
    assert site.deploy("far:1").is_well


def test_a_registry_out_of_reach_is_asked_three_times(site: Site) -> None:
    site.engine.refuse("pull", "far:1", "connection refused", Fault.REGISTRY)
    verdict = site.deploy("far:1")
    assert verdict.failure is not None
    assert (Why.UNREACHED, "connection refused") == (verdict.failure.why, verdict.failure.reason)
    assert 3 == len(site.calls.of("engine.pull"))
    assert {} == site.names()


def test_where_two_must_not_run_at_once_the_old_one_goes_first(site: Site) -> None:
    site.serving(wanted=exclusive("shop:1"))
    site.watch(may_be_down=True)
    verdict = site.deploy(exclusive("shop:2"))
    assert [] == site.troubles
    assert (Stage.DEPLOYED, {"shop/web": (8080,)}) == (verdict.stage, site.routes())
    assert ["router.withdraw", "engine.stop", "engine.start"] == [
        each.split()[0] for each in site.calls.of("router.withdraw", "engine.stop", "engine.start")
    ][:3]
    assert site.is_settled()


def test_an_exclusive_volume_costs_a_downtime_too(site: Site) -> None:
    files = Mount("files", "/files", exclusive=True)
    site.serving(wanted=Blueprint("shop:1", mounts=(files,)))
    assert site.deploy(Blueprint("shop:2", mounts=(files,))).is_well
    calls = [each.split()[0] for each in site.calls.commands()]
    assert calls.index("engine.stop") < calls.index("engine.start")


def test_an_adopted_service_is_replaced_and_what_it_was_is_on_record() -> None:
    host = settled("web")
    site = Site()
    site.engine, site.store, site.router, site.clock = host.engine, host.store, host.router, host.clock
    for each in "12":
        host.engine.images.add(f"shop:{each}", SimulatedImage(f"sha256:shop:{each}", ports=(HTTP,)))
    verdict = Deployer(host.ports, no_policy).deploy("shop", "web", Blueprint("shop:2"))
    assert (Stage.DEPLOYED, 2) == (verdict.stage, verdict.revision)
    assert [2, 1] == [each.revision for each in host.store.deployed("shop", "web")]
    assert {"gordon-shop-web": "running"} == {each.name: each.status.value for each in host.engine.rows()}


def test_leftovers_are_cleared_before_their_names_are_used_again(site: Site) -> None:
    site.serving("shop:1")
    labels = tuple(zip(OWNER_LABELS, ("shop", "web"), strict=True))
    site.engine.add(Simulated("left", "gordon-shop-web-new", labels=labels))
    site.engine.start("left")
    assert site.deploy("shop:2").is_well
    assert ["engine.stop left 10.0", "engine.remove left True"] == site.calls.commands()[:2]
    assert site.is_settled()


def test_what_merely_bears_a_name_is_left_alone(site: Site) -> None:
    site.serving("shop:1")
    site.engine.add(Simulated("foreign", "gordon-shop-web-new"))
    site.engine.start("foreign")
    assert site.deploy("shop:2").is_well
    assert "running" == site.names()["gordon-shop-web-new"]
    site.engine.add(Simulated("foreign too", "gordon-shop-web-next"))
    verdict = site.deploy("shop:3")
    assert verdict.failure is not None
    assert Why.NAMELESS is verdict.failure.why


# --- what is completed ---------------------------------------------------------------------------------------------------


def test_ports_and_an_http_check_come_from_the_image_where_none_are_named(site: Site) -> None:
    own = Blueprint("scratch", labels=((HTTP_LABEL, "/up"),))
    site.engine.images.add("shop:5", SimulatedImage("sha256:5", own=own, ports=(Port(8000),)))
    assert site.deploy("shop:5").is_well
    assert ((Port(8000),), HttpCheck(8000, "/up")) == (site.declared("web").ports, site.declared("web").http)
    assert Stage.UNALTERED is site.deploy("shop:5").stage


def test_its_own_label_comes_before_that_of_its_image(site: Site) -> None:
    own = Blueprint("scratch", labels=((HTTP_LABEL, "/up"),))
    site.engine.images.add("shop:5", SimulatedImage("sha256:5", own=own, ports=(HTTP,)))
    assert site.deploy(Blueprint("shop:5", labels=((HTTP_LABEL, "80/mine"),))).is_well
    assert HttpCheck(80, "/mine") == site.declared("web").http
    assert Stage.UNALTERED is site.deploy(Blueprint("shop:5", labels=((HTTP_LABEL, "80/mine"),))).stage


def test_a_label_that_is_no_http_check_is_an_error_before_anything_is_done(site: Site) -> None:
    with pytest.raises(UsageError, match=r"'up' is no HTTP check for the container, in its label gordon\.http,"):
        site.deploy(Blueprint("shop:1", labels=((HTTP_LABEL, "up"),)))
    assert [] == site.calls.commands()


def test_that_of_an_image_that_must_be_fetched_is_found_wrong_once_it_is_here_and_what_serves_is_not_touched(site: Site) -> None:
    old = site.serving("shop:1")
    own = Blueprint("scratch", labels=((HTTP_LABEL, "up"),))
    site.engine.images.serve("far:1", SimulatedImage("sha256:far", own=own, ports=(HTTP,)))
    with pytest.raises(UsageError, match=r"'up' is no HTTP check for image far:1, in its label gordon\.http,"):
        site.deploy("far:1")
    assert ["engine.pull far:1"] == site.calls.commands()
    assert (old, {"shop/web": (32768,)}) == (site.declared("web").container_id, site.routes())


def test_options_that_equal_what_the_image_has_change_nothing(site: Site) -> None:
    own = Blueprint("scratch", ("serve",), environment=(Variable("TIER", "one"),), labels=(("maker", "tests"),))
    site.engine.images.add("shop:6", SimulatedImage("sha256:6", own=own, ports=(HTTP,)))
    wanted = evolve(own, image="shop:6")
    assert [Stage.DEPLOYED, Stage.UNALTERED] == [site.deploy(wanted).stage for _ in range(2)]


def test_what_the_host_policy_sets_is_not_made_a_part_of_active(site: Site) -> None:
    site.serving("shop:1")
    policy = HostPolicy((Scope(recovery=Overrides(free_failures=9)),))
    assert Deployer(site.ports, lambda: policy).deploy("shop", "web", Blueprint("shop:2")).is_well
    assert DEFAULT_POLICY == site.declared("web").policy
    on_record = evolve(DEFAULT_POLICY, free_failures=2)
    found = site.declared("web")
    done(lambda: site.store.activate("shop", "web", evolve(found, revision=3, policy=on_record), 2, None))
    site.image("shop:4", Behaviour(exits_after_s=1.0, exit_code=1))
    assert Deployer(site.ports, lambda: policy).deploy("shop", "web", Blueprint("shop:3")).is_well
    assert (4, on_record) == (site.declared("web").revision, site.declared("web").policy)
    back = Deployer(site.ports, lambda: policy).deploy("shop", "web", Blueprint("shop:4"))
    assert (6, False) == (back.revision, back.is_well)
    assert on_record == site.declared("web").policy


def test_what_the_host_does_not_grant_is_not_created(site: Site) -> None:
    wanted = Blueprint("shop:1", mounts=(Mount("/", "/host"),))
    verdict = Deployer(site.ports, HostPolicy).deploy("shop", "web", wanted)
    assert verdict.failure is not None
    assert Why.UNGRANTED is verdict.failure.why
    assert [] == site.calls.of("engine.create")
    assert Deployer(site.ports, no_policy).deploy("shop", "web", wanted).is_well


def test_a_new_service_of_an_app_that_is_to_be_stopped_is_not_started(site: Site) -> None:
    site.serving("shop:1")
    site.store.set_intent("shop", Intent.STOPPED)
    verdict = site.deployer().deploy("shop", "new", Blueprint("shop:1"))
    assert verdict.failure is not None
    assert Why.STOPPED is verdict.failure.why


# --- failures ------------------------------------------------------------------------------------------------------------


def failing() -> Iterator[tuple[str, Behaviour, Blueprint, Why]]:
    yield "ends", Behaviour(exits_after_s=0.0, exit_code=3), Blueprint("shop:2"), Why.ENDED
    yield "never listens", Behaviour(listens=False), Blueprint("shop:2"), Why.UNREADY
    yield "ends in its probe", Behaviour(listens=False, exits_after_s=5.0), Blueprint("shop:2"), Why.ENDED
    yield "unhealthy", Behaviour(checks=(False,)), Blueprint("shop:2", health=CHECK), Why.UNHEALTHY
    yield (
        "answers 500",
        Behaviour(answers=500),
        Blueprint("shop:2", ports=(Publication(HTTP),), readiness=Readiness(http=HttpCheck(80, "/up"))),
        Why.UNREADY,
    )
    yield "unchecked", Behaviour(), Blueprint("shop:2", readiness=Readiness(Mode.HEALTH)), Why.UNCHECKED
    yield "no image", Behaviour(), Blueprint("none:1"), Why.ABSENT


@pytest.mark.parametrize(("behaviour", "wanted", "why"), [each[1:] for each in failing()], ids=[each[0] for each in failing()])
def test_a_deploy_that_fails_leaves_the_old_generation_serving(
    site: Site, behaviour: Behaviour, wanted: Blueprint, why: Why
) -> None:
    old = site.serving("shop:1")
    routes = site.routes()
    site.image("shop:2", behaviour)
    site.watch()
    verdict = site.deploy(wanted)
    assert [] == site.troubles
    assert verdict.failure is not None
    assert (why, "") == (verdict.failure.why, verdict.failure.left)
    assert verdict.failure.cause
    assert verdict.failure.hint
    assert (old, routes, {"gordon-shop-web": "running"}) == (verdict.container_id, site.routes(), site.names())
    assert () == site.candidates()
    assert site.deploy("shop:3").is_well
    assert site.is_settled()


def test_one_that_dies_after_it_was_published_is_switched_back_and_that_is_a_failure(site: Site) -> None:
    site.serving("shop:1")
    site.image("shop:2", Behaviour(exits_after_s=1.0, exit_code=1))
    verdict = site.deploy("shop:2")
    assert verdict.failure is not None
    assert (Why.DIED, True, 1) == (verdict.failure.why, verdict.failure.switched_back, verdict.failure.exit_code)
    assert ("shop:1", 3) == (site.active(), verdict.revision)
    assert site.is_settled()
    assert [3, 2, 1] == [each.revision for each in site.store.deployed("shop", "web")]


def test_a_failure_tells_what_the_container_said_without_a_secret(site: Site) -> None:
    site.serving("shop:1")
    site.image("shop:2", Behaviour(exits_after_s=0.0, exit_code=3))
    lines = [f"line {each}: password {SECRET}" for each in range(30)]
    site.calls.once_before("engine.start", lambda: site.engine.say(own(site), *lines))
    verdict = site.deploy(Blueprint("shop:2", environment=(Variable("PASSWORD", SECRET),)))
    assert verdict.failure is not None
    assert (3, "gordon-shop-web-new") == (verdict.failure.exit_code, verdict.failure.container_name)
    assert tuple(f"line {each}: password [PASSWORD]" for each in range(10, 30)) == verdict.failure.lines


def own(site: Site) -> str:
    return next(each.container_id for each in site.engine.rows() if each.name == "gordon-shop-web-new")


def test_no_value_of_the_environment_leaves_in_the_words_of_others(site: Site) -> None:
    told: list[str] = []

    def tell(decision: DeployDecision, outcome: Outcome | None) -> None:
        told.append(f"{decision.step} {outcome}")

    site.serving(wanted=Blueprint("shop:1", environment=(Variable("OLD", "0ldsecret"),)))
    site.faults.plan("engine.start", Refused(f"cannot use {SECRET} and 0ldsecret", Fault.WORKLOAD))
    wanted = Blueprint("shop:2", environment=(Variable("PASSWORD", SECRET),))
    verdict = site.deployer(tell).deploy("shop", "web", wanted)
    assert verdict.failure is not None
    assert "cannot use [PASSWORD] and [OLD]" == verdict.failure.reason
    assert [] == [each for each in told if SECRET in each or "0ldsecret" in each]


def test_lines_that_cannot_be_read_are_no_failure_of_the_deploy(site: Site) -> None:
    site.serving("shop:1")
    site.image("shop:2", Behaviour(exits_after_s=0.0, says=("a line",)))
    site.faults.plan("engine.logs", EngineError("no"))
    verdict = site.deploy("shop:2")
    assert verdict.failure is not None
    assert (Why.ENDED, (), 0) == (verdict.failure.why, verdict.failure.lines, site.faults.planned[0].left)


STEPS = (
    "engine.create", "store.journal", "engine.start", "prober.probe", "store.activate", "router.publish", "engine.rename",
    "engine.remove", "store.drop_marker",
)  # fmt: skip
OUTCOMES = {
    "refused": (Refused("no", Fault.WORKLOAD), False),
    "engine": (Refused("no", Fault.ENGINE), False),
    "lost": (Unknown("no answer"), False),
    "late": (Unknown("no answer"), True),
}


@pytest.mark.parametrize("times", [1, 9])
@pytest.mark.parametrize("kind", OUTCOMES)
@pytest.mark.parametrize("call", STEPS)
@pytest.mark.parametrize("is_exclusive", [False, True], ids=["beside", "downtime"])
def test_whichever_step_fails_in_whichever_way_one_generation_serves(
    call: str, kind: str, times: int, *, is_exclusive: bool
) -> None:
    """And a pass, with a second one for what waits, leaves nothing behind; and the next deploy goes well."""
    site = Site()
    wanted = exclusive if is_exclusive else Blueprint
    site.serving(wanted=wanted("shop:1"))
    site.watch(may_be_down=is_exclusive)
    outcome, took_effect = OUTCOMES[kind]
    site.faults.plan(call, outcome, times=times, took_effect=took_effect)
    verdict = site.deploy(wanted("shop:2"))
    site.faults.planned.clear()
    assert [] == site.troubles
    assert ("shop:2" if verdict.is_well else "shop:1") == site.active()
    site.restarted().run_pass()
    assert {"shop/web"} == set(site.routes())
    site.check()
    assert [] == site.troubles
    assert site.deploy(wanted("shop:3")).is_well
    assert ("shop:3", True) == (site.active(), site.is_settled())


def test_what_still_leads_to_the_port_that_it_was_given_is_withdrawn_first(site: Site) -> None:
    """Engines hand freed ports to the next container; the app of the other one may be locked."""
    site.serving("shop:1")
    site.router.route_by_hand("blog", "web", (Bind(HTTP, 32769),))
    site.calls.once_before("prober.probe", lambda: seen.update(site.routes()))
    seen: dict[str, tuple[int, ...]] = {}
    with site.ports.locks.wait_app("blog", 0.0):
        assert site.deploy("shop:2").is_well
    assert ({"shop/web": (32768,)}, {"shop/web": (32769,)}) == (seen, site.routes())


def test_where_that_fails_it_is_published_nowhere_and_goes(site: Site) -> None:
    site.serving("shop:1")
    site.router.route_by_hand("blog", "web", (Bind(HTTP, 32769),))
    site.router.fail_withdraw = "the socket is gone"
    failure = site.deploy("shop:2").failure
    assert failure is not None
    assert (Why.CONTESTED, "the socket is gone", True) == (failure.why, failure.reason, "proxy" in failure.hint)
    assert {"blog/web": (32769,), "shop/web": (32768,)} == site.routes()
    assert ({"gordon-shop-web": "running"}, "shop:1", ()) == (site.names(), site.active(), site.candidates())


def test_a_store_that_cannot_be_read_is_an_error_before_anything_is_done(site: Site) -> None:
    site.store.fail_reads("the disk is gone")
    with pytest.raises(StoreError):
        site.deploy("shop:1")
    assert [] == site.calls.commands()


def test_a_store_that_falls_silent_in_between_is_no_evidence(site: Site) -> None:
    site.serving("shop:1")
    site.calls.once_before("engine.start", lambda: site.store.fail_reads("the disk is gone"))
    verdict = site.deploy("shop:2")
    site.store.fail_reads(None)
    assert verdict.failure is not None
    assert ("shop:1", {"shop/web": (32768,)}) == (site.active(), site.routes())
    site.restarted().run_pass()
    assert site.deploy("shop:3").is_well


def test_what_the_store_refuses_to_remember_hides_not_what_it_took_as_verified(site: Site) -> None:
    """C3: the old container has a history, which cannot be written while the deploy comes back to it."""
    old = site.serving("shop:1")
    verified = site.memory("web").verified
    site.store.save_memory("shop", "web", old, Memory(failures=1, charged="s", verified=verified))
    site.faults.plan("store.save_memory", Refused("the disk is full", Fault.STORE), times=99)
    site.faults.plan("router.publish", Refused("no", Fault.ROUTER))
    site.watch()
    failure = site.deploy("shop:2").failure
    assert failure is not None
    assert (Why.UNPUBLISHED, "shop:1", []) == (failure.why, site.active(), site.troubles)
    assert site.faults.planned[0].left < 98
    assert ([], {"gordon-shop-web": "running"}) == (site.calls.of("router.withdraw"), site.names())
    assert verified is not None
    assert (1, evolve(verified, revision=3)) == (site.memory("web").failures, site.memory("web").verified)


def test_a_listener_that_fails_ends_the_deploy_cleanly_and_its_fault_is_raised(site: Site) -> None:
    site.serving("shop:1")

    def tell(decision: DeployDecision, _outcome: Outcome | None) -> None:
        if decision.stage is Stage.UNSTARTED:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        site.deployer(tell).deploy("shop", "web", Blueprint("shop:2"))
    assert ({"gordon-shop-web": "running"}, ()) == (site.names(), site.candidates())


# --- dry runs, and others ------------------------------------------------------------------------------------------------


def test_a_look_only_reads_and_its_forecast_is_what_is_done(site: Site) -> None:
    site.serving("shop:1")
    deployer = site.deployer()
    road = forecast_deploy(deployer.look("shop", "web", Blueprint("shop:2")))
    assert [] == [each for each in site.calls.made if not each.startswith(("store.read", "router.read", "engine."))]
    assert [] == site.calls.commands()
    told: list[Stage] = []

    def tell(decision: DeployDecision, outcome: Outcome | None) -> None:
        if outcome is None:
            told.append(decision.stage)

    verdict = site.deployer(tell).deploy("shop", "web", Blueprint("shop:2"))
    assert [each.stage for each in road] == [*told, verdict.stage]


def test_a_pass_leaves_an_app_alone_that_is_being_deployed(site: Site) -> None:
    site.serving("shop:1")
    held = site.calls.hold("prober.probe")
    deploying = threading.Thread(target=site.deploy, args=("shop:2",))
    deploying.start()
    while not site.calls.of("prober.probe"):
        time.sleep(0.01)
    before = len(site.calls.commands())
    report = site.restarted().run_pass()
    assert "locked" in report.plan.services[0].subject.locked
    assert before == len(site.calls.commands())
    held.set()
    deploying.join(20)
    assert ("shop:2", True) == (site.active(), site.is_settled())


def test_deploys_of_one_app_are_done_one_after_the_other(site: Site) -> None:
    site.serving("shop:1")
    others = [threading.Thread(target=site.deploy, args=(each,)) for each in ("shop:2", "shop:3", "shop:4")]
    for each in others:
        each.start()
    for each in others:
        each.join(30)
    assert (4, True) == (site.declared("web").revision, site.is_settled())
    assert [4, 3, 2, 1] == [each.revision for each in site.store.deployed("shop", "web")]


def test_a_deploy_waits_for_the_lock_of_its_app_and_no_longer_than_it_may(site: Site) -> None:
    site.serving("shop:1")
    lock = site.locks.try_app("shop")
    assert not isinstance(lock, str)
    with pytest.raises(BusyError, match="app shop is locked by pid"):
        site.deployer().deploy("shop", "web", Blueprint("shop:2"), lock_wait_s=0.05)
    threading.Timer(0.3, lock.release).start()
    assert site.deploy("shop:2").is_well


def test_the_time_of_a_deploy_ends_it(site: Site) -> None:
    site.serving("shop:1")
    site.image("shop:2", evolve(CHECKED, check_every_s=1e6))
    wanted = Blueprint("shop:2", health=CHECK)
    verdict = site.deployer().deploy("shop", "web", wanted, deadline_s=60.0)
    assert verdict.failure is not None
    assert Why.OVERDUE is verdict.failure.why
    assert {"gordon-shop-web": "running"} == site.names()


def test_what_is_gone_is_deployed_anew(site: Site) -> None:
    old = site.serving("shop:1")
    site.engine.delete(old)
    assert site.deploy("shop:1").is_well
    assert Gone() == site.engine.inspect(old)
    assert site.is_settled()
