"""What the memory engine simulates in deploys: images with behaviour, registries, and faults on cue."""

import pytest
from hypothesis import given

from gordon_core.blueprint import Blueprint, HealthCheck, Made, Publication, Variable
from gordon_core.effects import Done, Fault, Refused, Unknown
from gordon_core.observation import Gone, HealthStatus, Port, Status
from gordon_shell.blueprints import beyond, merged
from gordon_shell.memory.clock import MemoryClock
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.memory.engine import MemoryEngine
from gordon_shell.memory.images import READY_MADE, SimulatedImage
from gordon_shell.memory.prober import MemoryProber
from gordon_shell.ports import Details, Mount
from tests.engine_worlds import binds_of
from tests.test_blueprints import OWN, WANTED

HTTP = Port(80)
PLAIN = Blueprint("shop:1", ports=(Publication(HTTP),))
CHECKED = Blueprint("own", health=HealthCheck(("CMD", "true")))


@pytest.fixture
def clock() -> MemoryClock:
    return MemoryClock()


@pytest.fixture
def engine(clock: MemoryClock) -> MemoryEngine:
    return MemoryEngine(clock)


def started(engine: MemoryEngine, image: SimulatedImage, blueprint: Blueprint = PLAIN) -> str:
    engine.images.add(blueprint.image, image)
    assert Done() == engine.create("n", blueprint, {})
    container_id = engine.rows()[-1].container_id
    assert Done() == engine.start(container_id)
    return container_id


def seen(engine: MemoryEngine, container_id: str) -> Details:
    found = engine.inspect(container_id)
    assert isinstance(found, Details)
    return found


def test_a_container_behaves_as_its_image_says(engine: MemoryEngine, clock: MemoryClock) -> None:
    container_id = started(engine, SimulatedImage("sha256:1", Behaviour(exits_after_s=3.0, exit_code=7, listens=False)))
    binds = binds_of(seen(engine, container_id).container)
    assert isinstance(MemoryProber(engine).probe(binds, 0.0, 0, "", lambda: True), Refused)
    clock.advance(3.0)
    container = seen(engine, container_id).container
    assert (Status.EXITED, 7) == (container.status, container.exit and container.exit.code)


def test_it_becomes_healthy_after_a_while_where_it_has_a_health_check(engine: MemoryEngine, clock: MemoryClock) -> None:
    container_id = started(
        engine, SimulatedImage("sha256:1", Behaviour(checks=(False, True), check_every_s=2.0, check_retries=3), CHECKED)
    )
    looks = []
    for _ in range(3):
        looks.append(seen(engine, container_id).container.health.status)
        clock.advance(2.0)
    assert [HealthStatus.STARTING, HealthStatus.STARTING, HealthStatus.HEALTHY] == looks


def test_without_a_health_check_the_results_of_one_are_not_shown(engine: MemoryEngine) -> None:
    image = SimulatedImage("sha256:1", Behaviour(checks=(False,)))
    assert HealthStatus.NONE is seen(engine, started(engine, image)).container.health.status


def test_a_registry_refuses_so_many_times_and_then_serves(engine: MemoryEngine) -> None:
    engine.images.serve("shop", SimulatedImage("sha256:1"))
    engine.refuse("pull", "", "connection refused", Fault.REGISTRY, times=2)
    refused = Refused("connection refused", Fault.REGISTRY)
    assert [refused, refused, Done()] == [engine.pull("shop") for _ in range(3)]
    assert Gone() != engine.image("shop:latest")
    engine.images.drop("shop")
    assert Gone() == engine.image("shop")


@pytest.mark.parametrize("call", ["create", "rename", "remove", "stop", "start"])
def test_every_command_can_be_refused_once(engine: MemoryEngine, call: str) -> None:
    container_id = started(engine, SimulatedImage("sha256:1"))
    engine.stop(container_id, 0.0)
    commands = {
        "create": ("m", lambda: engine.create("m", PLAIN, {})),
        "rename": (container_id, lambda: engine.rename(container_id, "m")),
        "remove": (container_id, lambda: engine.remove(container_id)),
        "stop": (container_id, lambda: engine.stop(container_id, 0.0)),
        "start": (container_id, lambda: engine.start(container_id)),
    }
    key, command = commands[call]
    engine.refuse(call, key, "no", Fault.ENGINE, times=1)  # type: ignore[arg-type]
    assert [Refused("no", Fault.ENGINE), Done()] == [command(), command()]


def test_a_refusal_is_ended_by_no_reason(engine: MemoryEngine) -> None:
    engine.images.add("shop:1", SimulatedImage("sha256:1"))
    engine.refuse("create", "n", "no")
    assert [Refused("no", Fault.WORKLOAD)] * 3 == [engine.create("n", PLAIN, {}) for _ in range(3)]
    engine.refuse("create", "n", "")
    assert Done() == engine.create("n", PLAIN, {})


def test_a_call_that_hangs_has_no_effect(engine: MemoryEngine, clock: MemoryClock) -> None:
    engine.images.serve("shop:1", SimulatedImage("sha256:1"))
    engine.hang("shop:1", 600.0)
    engine.hang("n", 30.0)
    before_s = clock.now().boot_s
    assert [Unknown, Unknown] == [type(engine.pull("shop:1")), type(engine.create("n", PLAIN, {}))]
    assert (630.0, Gone(), ()) == (clock.now().boot_s - before_s, engine.image("shop:1"), engine.rows())


def test_a_refusal_on_cue_does_not_show_a_value(engine: MemoryEngine) -> None:
    engine.refuse("create", "n", "bad hunter2")
    expected = Refused("bad [TOKEN]", Fault.WORKLOAD)
    assert expected == engine.create("n", Blueprint("i", environment=(Variable("TOKEN", "hunter2"),)), {})


def test_each_start_prints_again_and_so_can_anything(engine: MemoryEngine) -> None:
    container_id = started(engine, SimulatedImage("sha256:1", Behaviour(says=("up",))))
    engine.say(container_id, "working", "still working")
    engine.restart(container_id, 0.0)
    assert ("up", "working", "still working", "up") == engine.logs(container_id, 20)


def test_one_that_was_put_in_ready_made_tells_what_can_be_seen(engine: MemoryEngine) -> None:
    engine.add(
        Simulated(
            "a", "n", ((HTTP, 8080),), labels=(("gordon.app", "shop"), ("tier", "one")), mounts=(Mount("/m", read_only=True),)
        )
    )
    found = engine.made("a")
    assert isinstance(found, Made)
    assert (READY_MADE, (Publication(HTTP, 8080),), (("tier", "one"),)) == (
        found.image_id,
        found.blueprint.ports,
        found.blueprint.labels,
    )
    assert [("/m", True)] == [(each.source, each.read_only) for each in found.blueprint.mounts]


@given(WANTED, OWN)
def test_it_tells_what_it_was_made_from(wanted: Blueprint, own: Blueprint) -> None:
    engine = MemoryEngine(MemoryClock())
    engine.images.add(wanted.image, SimulatedImage("sha256:1", own=own))
    assert Done() == engine.create("n", wanted, {"gordon.app": "shop"})
    assert Made(beyond(merged(wanted, own), own), "sha256:1") == engine.made(engine.rows()[0].container_id)
