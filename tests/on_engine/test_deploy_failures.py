"""What a failed deploy says of itself on a real engine: why, the likely cause, the end, the last lines; and never a secret."""

import socket
from collections.abc import Iterator

import pytest
from attrs import define, evolve, field

from gordon_core.blueprint import Blueprint, HealthCheck, Mode, Publication, Readiness, Setting, Variable
from gordon_core.deploy_effects import Create, Pull, Why
from gordon_core.deploy_forecast import forecast_deploy
from gordon_core.deploy_planner import DeployDecision
from gordon_core.effects import Outcome
from gordon_core.stages import Stage
from gordon_core.verdicts import Failure
from gordon_shell import deploy_text
from gordon_shell.deployer import Deployer
from tests.engine_fixtures import IMAGE, NEEDS_ENGINE, Containers
from tests.haproxy import NEEDS_HAPROXY
from tests.on_engine.deploy_scene import HTTP, Shop, shop
from tests.on_engine.scene import eventually
from tests.registry import Registry

pytestmark = [*NEEDS_ENGINE, *NEEDS_HAPROXY]
SECRET = "tr0ub4dor&3"  # noqa: S105 - it is to be found nowhere
GREEDY = ("sh", "-c", "echo with $PASSWORD; a=0123456789abcdef; while :; do a=$a$a; done")
LIMIT = str(16 << 20)
BRIEF = Readiness(deadline_s=1.0, forgiven_s=0.0)


@pytest.fixture(scope="module")
def site(docker_engine_host: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """Serve version 1 for all tests: none of them has it replaced."""
    with shop(docker_engine_host, tmp_path_factory.mktemp("s")) as made:
        made.serve(1)
        yield made


@define
class Told:
    """All that a deploy says while it goes on."""

    site: Shop
    steps: list[str] = field(factory=list)
    texts: list[str] = field(factory=list)

    def __call__(self, decision: DeployDecision, outcome: Outcome | None) -> None:
        self.texts += [repr(decision), repr(outcome), str(self.site.host.ports.engine.rows())]
        if outcome is not None and decision.step is not None:
            self.steps.append(type(decision.step).__name__)
            self.texts.append(deploy_text.step(decision.deployment.subject.name, decision.step, outcome))


def failing(site: Shop, told: Told, *, is_down_at_times: bool = False, **wanted: object) -> Failure:
    """Deploy something that fails with a secret in its environment; what served is left serving, and the secret is nowhere."""
    secret = (Variable("VERSION", "2"), Variable("PASSWORD", SECRET))
    blueprint = evolve(site.wanted(2, environment=secret, readiness=BRIEF, stop_grace_s=1.0), **wanted)  # type: ignore[arg-type]
    serving = site.active()
    with site.polled(is_down_at_times=is_down_at_times):
        told.texts += _forecast(site, blueprint)
        verdict = site.deploy(blueprint, listener=told)
    assert verdict.failure is not None
    assert (Stage.FAILED, serving, {site.name: "running"}) == (verdict.stage, site.active(), site.names())
    site.assert_settled(1)
    told.texts += [repr(verdict), *deploy_text.ending(f"{site.app}/web", verdict, (), 1.0)]
    assert SECRET not in "\n".join(told.texts)
    files = [each for each in site.directory.iterdir() if each.is_file()]
    assert [] == [each.name for each in files if SECRET.encode() in each.read_bytes()]
    return verdict.failure


def _forecast(site: Shop, wanted: Blueprint) -> list[str]:
    look = Deployer(site.host.ports, site.host.policies).look(site.app, "web", wanted)
    return [deploy_text.text(forecast_deploy(look))]


@pytest.fixture
def told(site: Shop) -> Told:
    return Told(site)


def test_a_program_that_is_not_in_the_image(site: Shop, told: Told) -> None:
    failure = failing(site, told, command=("sh", "-c", "echo with $PASSWORD; nosuchprogram"))
    assert (Why.ENDED, 127, False) == (failure.why, failure.exit_code, failure.oom_killed)
    assert ("its command is not in the image", f"{site.name}-new") == (failure.cause, failure.container_name)
    # Two streams: the engine keeps no order between them.
    assert {"with [PASSWORD]", "sh: nosuchprogram: not found"} == set(failure.lines)
    assert 64 == len(failure.container_id)


def test_a_command_that_the_engine_cannot_execute(site: Shop, told: Told) -> None:
    failure = failing(site, told, command=("/nosuchprogram",))
    assert (Why.UNSTARTED, "its command, or a path that it mounts, does not exist") == (failure.why, failure.cause)
    assert "no such file or directory" in failure.reason


def test_one_that_ends_at_once_gives_its_last_twenty_lines(site: Shop, told: Told) -> None:
    script = "for each in $(seq 1 30); do echo line $each; done; exit 3"
    failure = failing(site, told, command=("sh", "-c", script))
    assert (Why.ENDED, 3, "its program ended with an error") == (failure.why, failure.exit_code, failure.cause)
    assert tuple(f"line {each}" for each in range(11, 31)) == failure.lines


def test_one_that_needs_more_memory_than_it_may_have(site: Shop, told: Told) -> None:
    if not _notices_memory(site.containers):
        pytest.skip("this engine kills nothing for its memory: the memory cgroup does not work here")
    readiness = evolve(BRIEF, deadline_s=30.0, forgiven_s=2.0)
    failure = failing(site, told, command=GREEDY, settings=(Setting("Memory", LIMIT),), readiness=readiness)
    assert (Why.ENDED, 137, True) == (failure.why, failure.exit_code, failure.oom_killed)
    assert ("it needs more memory than it may have", ("with [PASSWORD]",)) == (failure.cause, failure.lines)


def _notices_memory(containers: Containers) -> bool:
    client = containers.client
    limited = client.create_host_config(mem_limit=int(LIMIT))
    made = str(client.create_container(IMAGE, list(GREEDY), host_config=limited)["Id"])
    containers.adopt(made)
    client.start(made)
    eventually(lambda: client.inspect_container(made)["State"]["Status"] == "exited", within_s=60)
    return bool(client.inspect_container(made)["State"]["OOMKilled"])


def test_one_that_its_health_check_calls_unhealthy(site: Shop, told: Told) -> None:
    check = HealthCheck(("CMD-SHELL", "echo checked with $PASSWORD; exit 1"), interval_s=0.2, retries=2)
    failure = failing(site, told, health=check)
    assert (Why.UNHEALTHY, "its health check fails", None) == (failure.why, failure.cause, failure.exit_code)


def test_one_that_never_listens(site: Shop, told: Told) -> None:
    failure = failing(site, told, command=("sh", "-c", "echo with $PASSWORD; exec sleep 1000"))
    assert (Why.UNREADY, ("with [PASSWORD]",)) == (failure.why, failure.lines)
    assert failure.cause.startswith("nothing answers at its ports yet")
    assert "0.0.0.0" in failure.hint  # noqa: S104 - words


def test_a_registry_that_refuses_the_connection_is_asked_three_times(site: Shop, told: Told) -> None:
    failure = failing(site, told, image="127.0.0.1:1/shop/web:1")
    assert (3, 0) == (told.steps.count(Pull.__name__), told.steps.count(Create.__name__))
    assert (Why.UNREACHED, "", "the registry is down, or the network is") == (failure.why, failure.container_id, failure.cause)
    assert "connection refused" in failure.reason


def test_an_image_that_its_registry_has_not_is_asked_for_once(site: Shop, told: Told) -> None:
    registry = Registry("shop/web")
    try:
        failure = failing(site, told, image=f"{registry.address}/shop/absent:1")
    finally:
        registry.close()
    assert (1, 0) == (told.steps.count(Pull.__name__), told.steps.count(Create.__name__))
    assert (Why.ABSENT, "its name is wrong, or it needs a login") == (failure.why, failure.cause)


def test_readiness_by_a_health_check_that_there_is_not(site: Shop, told: Told) -> None:
    failure = failing(site, told, readiness=Readiness(mode=Mode.HEALTH))
    assert 0 == told.steps.count(Create.__name__)
    assert (Why.UNCHECKED, "neither the image nor the options have a health check") == (failure.why, failure.cause)
    assert "add a health check or choose another readiness mode" == failure.hint


def test_a_host_port_that_another_program_holds_has_the_old_container_started_again(site: Shop, told: Told) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        taken = Publication(HTTP, holder.getsockname()[1])
        failure = failing(site, told, is_down_at_times=True, ports=(taken,))
    assert (Why.UNSTARTED, "another container or program holds its host port") == (failure.why, failure.cause)
    assert ("Withdraw", "Stop", "StartCandidate") == tuple(each for each in told.steps if each in _DOWNTIME)


_DOWNTIME = ("Withdraw", "Stop", "StartCandidate")
