"""What every Engine holds to in the calls of deploys: images, creation, names, output, and what a container was made from."""

from collections.abc import Iterator
from datetime import datetime

import pytest
from attrs import evolve

from gordon_core.blueprint import Blueprint, HealthCheck, Image, Made, Mount, Publication, Setting, Variable
from gordon_core.effects import Done, Fault, Outcome, Refused
from gordon_core.observation import Gone, HealthStatus, Port, Protocol, Status
from gordon_shell.completion import changes
from gordon_shell.errors import EngineError
from gordon_shell.ports import DEPLOY_LABEL, OWNER_LABELS, Details
from tests.engine_fixtures import IMAGE, NEEDS_ENGINE, SILENT, Containers
from tests.engine_worlds import HTTP, DockerWorld, MemoryWorld, World

ABSENT = "f" * 64
DNS = Port(53, Protocol.UDP)
SECRET = Variable("TOKEN", "hunter2 & 'more'")
PLAIN = Blueprint(IMAGE, SILENT, stop_grace_s=1.0)
OWN = Blueprint(
    "own",
    command=("sleep", "500"),
    environment=(Variable("LANG", "C"), Variable("TIER", "one")),
    labels=(("maker", "tests"), ("tier", "one")),
    user="1000",
    working_directory="/etc",
    health=HealthCheck(("CMD", "true"), 30.0, 7.0, 0.0, 4),
)
SETTINGS = {
    "CapAdd": '["NET_ADMIN"]',
    "CapDrop": '["ALL"]',
    "DnsOptions": '["ndots:1"]',
    "ExtraHosts": '["a:192.0.2.1"]',
    "Hostname": '"shop"',
    "Init": "true",
    "LogConfig": '{"Config":{"max-size":"1m"},"Type":"json-file"}',
    "Memory": "67108864",
    "Mounts": '[{"Target":"/w","Type":"tmpfs"}]',
    "OomScoreAdj": "100",
    "PidsLimit": "50",
    "ReadonlyRootfs": "true",
    "SecurityOpt": '["no-new-privileges"]',
    "ShmSize": "1048576",
    "StopSignal": '"SIGINT"',
    "Sysctls": '{"net.core.somaxconn":"100"}',
    "Tmpfs": '{"/t":"size=1m"}',
    "Tty": "true",
    "Ulimits": '[{"Hard":200,"Name":"nofile","Soft":100}]',
    "Volumes": '{"/anonymous":{}}',
}
RICH = {
    "a command": PLAIN,
    "an entry point": Blueprint(IMAGE, ("1000",), ("sleep",)),
    "environment": evolve(PLAIN, environment=(SECRET, Variable("EMPTY", ""), Variable("LINES", "one\ntwo=2"))),
    "labels": evolve(PLAIN, labels=(("a", ""), ("b", "two words"))),
    "ports": evolve(PLAIN, ports=(Publication(DNS), Publication(HTTP, 28090), Publication(Port(443)))),
    "mounts": evolve(
        PLAIN,
        mounts=(Mount("/usr", "/u", read_only=True), Mount("/etc", "/t"), Mount("gordon-test", "/v", read_only=True)),
    ),
    "devices": evolve(PLAIN, devices=("/dev/null", "/dev/zero:/dev/nought:r")),
    "networks": evolve(PLAIN, networks=("host",)),
    "no network": evolve(PLAIN, networks=("none",)),
    "user and place": evolve(PLAIN, user="1:2", working_directory="/usr"),
    "a health check": evolve(PLAIN, health=HealthCheck(("CMD-SHELL", "true || false"), 1.5, 0.25, 2.0, 3)),
    "a short health check": evolve(PLAIN, health=HealthCheck(("CMD", "true"))),
    "no health check": evolve(PLAIN, health=HealthCheck(("NONE",))),
    "a long grace": evolve(PLAIN, stop_grace_s=600.0),
    "settings": evolve(PLAIN, settings=tuple(Setting(*each) for each in SETTINGS.items())),
}


@pytest.fixture(params=["memory", pytest.param("docker", marks=NEEDS_ENGINE)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    if request.param == "memory":
        yield MemoryWorld()
        return
    with Containers(request.getfixturevalue("docker_engine_host")) as containers:
        made = DockerWorld(containers, containers.host)
        yield made
        made.close()


def fault(outcome: Outcome) -> Fault:
    assert isinstance(outcome, Refused), outcome
    return outcome.fault


def details(world: World, container_id: str) -> Details:
    seen = world.engine.inspect(container_id)
    assert isinstance(seen, Details)
    return seen


def made(world: World, container_id: str) -> Made:
    found = world.engine.made(container_id)
    assert isinstance(found, Made)
    return found


def image(world: World, reference: str) -> Image:
    found = world.engine.image(reference)
    assert isinstance(found, Image)
    return found


@pytest.mark.parametrize("reference", ["nonesuch", "nonesuch:1", "127.0.0.1:1/a/b:c", f"sha256:{ABSENT}"])
def test_an_image_that_the_engine_does_not_have_is_gone(world: World, reference: str) -> None:
    assert Gone() == world.engine.image(reference)


def test_an_image_tells_its_health_check_its_labels_and_its_ports_in_order(world: World) -> None:
    seen = image(world, world.image(OWN, (Port(8080), HTTP, DNS)))
    assert (True, (DNS, HTTP, Port(8080))) == (seen.has_health_check, seen.ports)
    assert {("maker", "tests"), ("tier", "one")} <= set(seen.labels)
    assert seen == image(world, seen.image_id)


@pytest.mark.parametrize("check", [None, HealthCheck(("NONE",))])
def test_an_image_without_a_health_check_has_none(world: World, check: HealthCheck | None) -> None:
    assert not image(world, world.image(evolve(OWN, health=check))).has_health_check


def test_a_created_container_is_down_bears_its_name_and_labels_and_is_never_restarted_by_docker(world: World) -> None:
    name, labels = world.name(), {"gordon.app": "shop", "gordon.service": "web"}
    blueprint = evolve(
        PLAIN,
        labels=(("tier", "one"), ("gordon.app", "overruled")),
        ports=(Publication(HTTP),),
        devices=("/dev/null",),
        mounts=(Mount("/usr", "/u", read_only=True),),
    )
    seen = details(world, world.created(blueprint, labels, name))
    assert (Status.CREATED, name, "no") == (seen.container.status, seen.container.name, seen.restart_policy)
    assert {"tier": "one", **labels}.items() <= seen.labels.items()
    assert [("/usr", True)] == [(each.source, each.read_only) for each in seen.mounts]
    assert (("/dev/null",), 1.0) == (seen.devices, seen.stop_grace_s)
    assert [(HTTP, "127.0.0.1", 0)] == [(each.port, each.host_ip, each.host_port) for each in seen.asked_ports]


def test_its_ports_are_bound_on_loopback_fixed_ones_where_asked_for(world: World) -> None:
    created = world.created(evolve(PLAIN, ports=(Publication(HTTP, 28091), Publication(DNS))))
    seen = world.started(created)
    assert Status.RUNNING is seen.status
    assert [(DNS, "127.0.0.1"), (HTTP, "127.0.0.1")] == [(each.port, each.host_ip) for each in seen.ports]
    assert 28091 == seen.ports[1].host_port


def test_the_same_fixed_host_port_may_be_asked_for_twice_and_is_refused_at_the_start(world: World) -> None:
    blueprint = evolve(PLAIN, ports=(Publication(HTTP, 28092),))
    first, second = world.created(blueprint), world.created(blueprint)
    assert Done() == world.engine.start(first)
    assert Fault.WORKLOAD is fault(world.engine.start(second))


def test_the_health_check_of_the_blueprint_or_of_the_image_is_run(world: World) -> None:
    checked = world.image(evolve(OWN, health=HealthCheck(("CMD", "true"), 1.0), user="", command=SILENT))
    expected = {
        Blueprint(checked): HealthStatus.STARTING,
        Blueprint(checked, health=HealthCheck(("NONE",))): HealthStatus.NONE,
        evolve(PLAIN, health=HealthCheck(("CMD", "true"), 60.0)): HealthStatus.STARTING,
        PLAIN: HealthStatus.NONE,
    }
    for blueprint, status in expected.items():
        assert status is world.started(world.created(blueprint)).health.status


def test_a_taken_name_is_a_conflict_and_nothing_is_made(world: World) -> None:
    name = world.name()
    first = world.created(PLAIN, name=name)
    before = len(world.engine.rows())
    refused = world.engine.create(name, PLAIN, {})
    assert Fault.CONFLICT is fault(refused)
    assert f'The container name "/{name}" is already in use by container "{first}"' in str(refused)
    assert before == len(world.engine.rows())


def test_nothing_is_made_from_an_image_that_is_not_there(world: World) -> None:
    name = world.name()
    refused = world.engine.create(name, Blueprint("nonesuch:1"), {})
    assert Fault.WORKLOAD is fault(refused)
    assert "No such image: nonesuch:1" in str(refused)
    assert name not in {each.name for each in world.engine.rows()}


def test_a_renamed_container_bears_the_new_name_and_its_old_one_is_free(world: World) -> None:
    old, new = world.name(), world.name()
    container_id = world.created(PLAIN, name=old)
    assert Done() == world.engine.rename(container_id, new)
    assert new == world.container(container_id).name
    assert container_id != world.created(PLAIN, name=old)


def test_the_name_of_one_that_runs_can_be_changed_too(world: World) -> None:
    before = world.started(world.created(PLAIN))
    new = world.name()
    assert Done() == world.engine.rename(before.container_id, new)
    assert evolve(before, name=new) == world.container(before.container_id)


def test_a_taken_name_is_not_given_and_the_own_one_is_done(world: World) -> None:
    mine, other = world.name(), world.name()
    container_id = world.created(PLAIN, name=mine)
    world.created(PLAIN, name=other)
    refused = world.engine.rename(container_id, other)
    assert Fault.CONFLICT is fault(refused)
    assert "is already in use by container" in str(refused)
    assert Done() == world.engine.rename(container_id, mine)
    assert mine == world.container(container_id).name


def test_what_is_gone_has_no_name_no_output_and_was_made_from_nothing(world: World) -> None:
    assert Fault.CONFLICT is fault(world.engine.rename(ABSENT, world.name()))
    assert Gone() == world.engine.made(ABSENT)
    with pytest.raises(EngineError, match=ABSENT[:12]):
        world.engine.logs(ABSENT, 20)


def test_one_that_runs_is_removed_by_force_and_so_is_one_that_is_gone(world: World) -> None:
    started = world.started(world.created(PLAIN)).container_id
    assert Fault.CONFLICT is fault(world.engine.remove(started))
    assert [Done(), Done()] == [world.engine.remove(started, force=True) for _ in range(2)]
    assert Gone() == world.engine.inspect(started)


def printed(world: World, container_id: str, lines: int, last: str) -> tuple[str, ...]:
    """Return its output as soon as its last line is there."""
    for _ in range(200):
        found = world.engine.logs(container_id, lines)
        if found[-1:] == (last,):
            return found
        world.let(0.05)
    raise AssertionError(world.engine.logs(container_id, 1000))


def test_the_last_lines_of_output_are_told_in_order(world: World) -> None:
    said = tuple(f"line {each}" for each in range(30))
    container_id = world.created(world.printing(*said))
    assert () == world.engine.logs(container_id, 20)
    world.engine.start(container_id)
    assert said[-20:] == printed(world, container_id, 20, said[-1])
    assert said[-1:] == world.engine.logs(container_id, 1)
    assert () == world.engine.logs(container_id, 0)
    assert said == world.engine.logs(container_id, 1000)


def test_the_last_lines_before_a_time_are_those_of_the_execution_before(world: World) -> None:
    container_id = world.created(world.printing("begun", "end"))
    world.engine.start(container_id)
    printed(world, container_id, 20, "end")
    world.engine.stop(container_id, 0.0)
    ended = world.eventually(container_id, lambda one: one.exit is not None).exit
    assert ended is not None
    until_s = datetime.fromisoformat(f"{ended.finished_at[:26].rstrip('Z')}+00:00").timestamp() + 0.1
    world.let(0.3)
    world.engine.start(container_id)
    for _ in range(200):
        if len(world.engine.logs(container_id, 20)) == 4:
            break
        world.let(0.05)
    assert ("begun", "end", "begun", "end") == world.engine.logs(container_id, 20)
    assert ("begun", "end") == world.engine.logs(container_id, 20, until_s)
    assert ("end",) == world.engine.logs(container_id, 1, until_s)


def test_output_shows_names_in_place_of_the_values_of_its_environment(world: World) -> None:
    container_id = world.created(world.printing(f"token is {SECRET.value}", "end", environment=(SECRET,)))
    world.engine.start(container_id)
    assert ("token is [TOKEN]", "end") == printed(world, container_id, 20, "end")


@pytest.mark.parametrize("what", RICH)
def test_a_container_tells_what_it_was_made_from(world: World, what: str) -> None:
    labels = {**dict.fromkeys(OWNER_LABELS, "shop"), DEPLOY_LABEL: "d1"}
    container_id = world.created(RICH[what], labels)
    assert Made(RICH[what], image(world, IMAGE).image_id) == made(world, container_id)


def test_it_tells_the_same_while_it_runs_and_when_it_ended(world: World) -> None:
    blueprint = evolve(
        RICH["settings"], environment=(SECRET,), ports=(Publication(HTTP),), settings=(Setting("Memory", "67108864"),)
    )
    container_id = world.created(blueprint)
    world.started(container_id)
    assert blueprint == made(world, container_id).blueprint
    world.engine.stop(container_id, 0.0)
    assert blueprint == made(world, container_id).blueprint


OVERRIDING = {
    "nothing": Blueprint("own"),
    "environment": Blueprint("own", environment=(Variable("TIER", "two"), Variable("MORE", "1"))),
    "labels": Blueprint("own", labels=(("more", "1"), ("tier", "two"))),
    "a command": Blueprint("own", ("sleep", "7")),
    "an entry point": Blueprint("own", ("7",), ("sleep",)),
    "user and place": Blueprint("own", user="0", working_directory="/"),
    "a health check": Blueprint("own", health=HealthCheck(("CMD", "false"), 5.0)),
    "no health check": Blueprint("own", health=HealthCheck(("NONE",))),
}


@pytest.mark.parametrize("what", OVERRIDING)
def test_what_is_as_its_image_has_it_is_left_out(world: World, what: str) -> None:
    reference = world.image(OWN)
    blueprint = evolve(OVERRIDING[what], image=reference)
    container_id = world.created(blueprint)
    assert Made(blueprint, image(world, reference).image_id) == made(world, container_id)


@pytest.mark.parametrize("part", ["environment", "labels", "command", "entrypoint", "user", "working_directory", "health"])
def test_what_is_asked_for_as_the_image_has_it_is_as_wanted(world: World, part: str) -> None:
    reference = world.image(OWN)
    wanted = evolve(Blueprint(reference), **{part: getattr(OWN, part)})
    if part == "entrypoint":
        wanted = evolve(wanted, command=OWN.command)
    container_id = world.created(wanted)
    assert () == changes(wanted, image(world, reference), made(world, container_id))


def test_a_pull_brings_an_image_that_was_absent(world: World) -> None:
    reference = world.offered()
    assert Gone() == world.engine.image(reference)
    assert Done() == world.engine.pull(reference)
    assert Gone() != world.engine.image(reference)
    assert Done() == world.engine.pull(reference)


def test_an_image_that_its_registry_does_not_have_is_the_fault_of_the_workload(world: World) -> None:
    refused = world.engine.pull(world.withheld())
    assert Fault.WORKLOAD is fault(refused)
    assert "manifest unknown" in str(refused)


def test_a_registry_that_refuses_connections_is_told_apart(world: World) -> None:
    refused = world.engine.pull(world.unreached())
    assert Fault.REGISTRY is fault(refused)
    assert "connection refused" in str(refused)


def test_no_reason_shows_the_value_of_a_variable(world: World) -> None:
    name = world.name()
    world.created(PLAIN, name=name)
    secret = Variable("NAME", name)
    assert name not in str(world.engine.create(name, evolve(PLAIN, environment=(secret,)), {}))
