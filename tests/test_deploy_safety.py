"""The law for deploys over a world of faults: what is never done, how every deploy ends, and that the next one succeeds.

The world itself (tests/deploy_world.py) holds every step to the invariants; each test here can fail by that as well.
"""

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gordon_core.blueprint import Blueprint
from gordon_core.deploy_effects import Activate, Delay, DeployStep, GiveUp, Journal, StartCandidate
from gordon_core.deployment import Deployment
from gordon_core.effects import Done, Probe, Publish, Retire, Withdraw
from gordon_core.observation import Container, HealthStatus
from gordon_core.stages import Stage
from gordon_core.verdicts import verdict
from tests.deploy_examples import CANONICAL, FIXED, WANTED, WORKER
from tests.deploy_world import DeployWorld, Event, Fate

BLUEPRINTS = {"overlapping": WANTED, "with a fixed port": FIXED, "without a port": WORKER}
ENDS = {Stage.DEPLOYED, Stage.UNALTERED, Stage.INTERRUPTED, Stage.FAILED}
REFUSALS = [Fate.WORKLOAD, Fate.ENGINE, Fate.STORE, Fate.ROUTER, Fate.CONFLICT, Fate.REGISTRY]
numbers = st.integers(0, 24)
some_fates = st.dictionaries(numbers, st.sampled_from(Fate), max_size=6)
some_events = st.dictionaries(numbers, st.sampled_from(Event), max_size=4)
many = settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def worlds(draw: st.DrawFn) -> DeployWorld:
    """Return worlds before a deploy: mostly with a generation that serves, sometimes with nothing."""
    wanted = draw(st.sampled_from([*BLUEPRINTS.values()]))
    world = DeployWorld(wanted, has_check=draw(st.booleans()))
    if draw(st.integers(0, 5)):
        world.serve(wanted if not draw(st.integers(0, 5)) else evolve(wanted, image="shop:v1"))
    return world


def replacing(wanted: Blueprint, *, has_check: bool = False) -> DeployWorld:
    """Return a world in which another image of a service serves."""
    world = DeployWorld(wanted, has_check=has_check)
    world.serve(evolve(wanted, image="shop:v1"))
    return world


def steps_of(world: DeployWorld) -> list[type[object]]:
    """Return the kinds of steps that were taken."""
    return [type(step) for step, _ in world.taken]


def answered(deployment: Deployment) -> bool:
    """Tell whether the candidate, in its present execution at its present binds, proved to be ready."""
    seen = deployment.own
    assert isinstance(seen, Container)
    if not seen.ports:
        delays = [each for each in deployment.steps if isinstance(each.effect, Delay) and each.outcome == Done()]
        healthy = seen.health.status is HealthStatus.HEALTHY
        return healthy or seen.started_at in {each.effect.started_at for each in delays if isinstance(each.effect, Delay)}
    host_ports = [each.host_port for each in seen.ports]
    probes = [each for each in deployment.results if isinstance(each.effect, Probe) and each.outcome == Done()]
    return any(
        isinstance(each.effect, Probe)
        and each.effect.generation.container_id == seen.container_id
        and each.effect.started_at == seen.started_at
        and [bind.host_port for bind in each.effect.binds] == host_ports
        for each in probes
    )


def judged(deployment: Deployment, step: DeployStep) -> None:
    """Hold a step to what is on record of the deploy."""
    match step:
        case StartCandidate(container_id):
            written = [each.effect.container_id for each in deployment.steps if isinstance(each.effect, Journal)]
            assert container_id in written
        case Activate(_, _, declared) if declared.container_id == deployment.own_id:
            assert answered(deployment), "the candidate is named in ACTIVE, and did not answer"
        case _:
            pass


@pytest.mark.unmeasured
@many
@given(worlds(), some_fates, some_events)
def test_every_deploy_ends_whatever_becomes_of_its_steps(
    world: DeployWorld, fates: dict[int, Fate], events: dict[int, Event]
) -> None:
    decision = world.run(fates, events, judge=judged)
    assert decision.stage in ENDS
    assert (decision.stage is Stage.FAILED) == (verdict(decision).failure is not None)


@pytest.mark.unmeasured
@many
@given(worlds(), some_fates, some_events, st.integers(0, 24))
def test_after_any_interruption_the_next_deploy_succeeds_without_help(
    world: DeployWorld, fates: dict[int, Fate], events: dict[int, Event], killed_after: int
) -> None:
    """C3: and what served before serves in between, unless the new one does."""
    served = bool(world.serving())
    world.run(fates, events, killed_after=killed_after)
    world.heal()
    for _ in range(4):
        world.recover()
        world.boot_s += 1_000.0
    assert served <= bool(world.serving())
    assert world.run().stage in {Stage.DEPLOYED, Stage.UNALTERED}
    world.recover()
    assert world.active is not None
    assert [(world.serving(), CANONICAL)] == [(each.container_id, each.name) for each in world.bodies.values()]
    assert (world.active.container_id, set(), {}) == (world.serving(), world.journal, world.markers)


@pytest.mark.parametrize("wanted", BLUEPRINTS.values(), ids=BLUEPRINTS)
@pytest.mark.parametrize("has_check", [False, True], ids=["unchecked", "checked"])
@pytest.mark.parametrize("event", [None, Event.CANDIDATE_DIES, Event.CANCELLED, Event.LATE], ids=str)
@pytest.mark.parametrize("fate", [Fate.DONE, *REFUSALS], ids=lambda each: each.name)
@pytest.mark.parametrize("number", range(9))
def test_a_deploy_that_fails_leaves_the_former_running_and_routed(
    wanted: Blueprint, number: int, fate: Fate, event: Event | None, *, has_check: bool
) -> None:
    """One trouble, and a kind world otherwise: ACTIVE names the former, and nothing is left of the candidate."""
    world = replacing(wanted, has_check=has_check)
    decision = world.run({number: fate}, {number: event} if event is not None else {}, judge=judged)
    told = verdict(decision)
    if told.failure is None:
        assert "new-1" == told.container_id == world.serving()
        return
    if Retire in steps_of(world):  # it died when the old one had gone: recovery starts it, and the deploy says so
        assert "new-1" == told.container_id
        return
    assert ("old", "old", "old") == (told.container_id, world.serving(), *world.bodies)
    assert set() == world.journal
    assert "" == told.failure.left
    assert (Publish in steps_of(world)) >= told.failure.switched_back


@pytest.mark.parametrize("number", range(12))
@pytest.mark.parametrize("event", [Event.CANDIDATE_DIES, Event.CANCELLED, Event.SICKENS], ids=lambda each: each.name)
def test_a_route_that_never_left_the_former_is_not_withdrawn(event: Event, number: int) -> None:
    world = replacing(WANTED, has_check=True)
    decision = world.run(events={number: event})
    if Publish not in steps_of(world):
        assert decision.stage in {Stage.FAILED, Stage.INTERRUPTED}
        assert Withdraw not in steps_of(world)
        assert "old" == world.serving()


def test_what_dies_while_it_is_watched_is_switched_back_and_told_as_a_failure() -> None:
    world = replacing(WANTED)
    watch = 6
    told = verdict(world.run(events={watch: Event.CANDIDATE_DIES}))
    assert told.failure is not None
    assert told.failure.switched_back
    assert ("old", 3) == (told.container_id, told.revision)
    assert ["Create", "Journal", "StartCandidate", "Probe", "Activate", "Publish", "GiveUp", "Journal"] == [
        each.__name__ for each in steps_of(world)[:8]
    ]


def test_a_router_that_falls_silent_after_the_switch_costs_neither_container() -> None:
    """P2: what may be routed is not stopped, and recovery takes the route from it once the router is heard again."""
    world = replacing(WANTED)
    decision = world.run({5: Fate.UNHEARD}, {6: Event.DEAF})
    failure = verdict(decision).failure
    assert failure is not None
    assert ("new-1", {"new-1"}) == (failure.left, world.journal)
    assert ["old", "new-1"] == [*world.bodies]
    world.heal()
    world.recover()
    assert (["old"], "old", set()) == ([*world.bodies], world.serving(), world.journal)


def test_a_candidate_that_was_never_published_goes_although_the_router_is_silent() -> None:
    """C1."""
    world = replacing(WANTED)
    world.run(events={3: Event.DEAF})
    assert (["old"], set()) == ([*world.bodies], world.journal)


def test_a_silent_router_does_not_undo_what_was_watched() -> None:
    world = replacing(WANTED)
    decision = world.run(events={7: Event.DEAF})
    assert (Stage.DEPLOYED, None) == (decision.stage, verdict(decision).failure)
    world.heal()
    world.recover()
    assert (["new-1"], "new-1") == ([*world.bodies], world.serving())


def test_nobody_goes_back_to_a_container_that_could_not_be_read() -> None:
    """It may have been removed already, as here."""
    world = replacing(FIXED)
    decision = world.run(events={10: Event.MUTE})
    assert (Stage.DEPLOYED, "new-1") == (decision.stage, world.serving())


def test_a_withdrawal_before_the_switch_proves_nothing_after_it() -> None:
    """P3: the router falls silent after the new container was published; nothing is started while that may be routed."""
    world = replacing(FIXED)
    world.run(events={8: Event.DEAF})
    assert world.active is not None
    assert set() == world.journal - {"new-1"}
    world.heal()
    world.recover()
    assert "" != world.serving()


def test_the_first_deploy_of_a_service_that_does_not_come_to_serve_is_a_failure() -> None:
    world = DeployWorld(WANTED)
    decision = world.run({5: Fate.ROUTER})
    failure = verdict(decision).failure
    assert failure is not None
    assert GiveUp in steps_of(world)
    world.recover()
    assert "new-1" == world.serving()
