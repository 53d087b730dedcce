"""What people report about deploys (rows 21 to 24 of the corpus), done to a real engine while clients ask all the while."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest
from attrs import evolve, frozen

from gordon_core.blueprint import HealthCheck
from gordon_core.deploy_effects import Why
from gordon_core.effects import DONE, Outcome
from gordon_core.observation import HealthStatus, Status
from gordon_core.stages import Stage
from gordon_core.verdicts import Verdict
from gordon_shell.deployer import Deployer
from gordon_shell.host import Host
from gordon_shell.ports import OWNER_LABELS, Engine
from tests.engine_fixtures import NEEDS_ENGINE
from tests.haproxy import NEEDS_HAPROXY
from tests.on_engine.counting import CountingSocket, counted
from tests.on_engine.deploy_scene import UNWATCHED, Shop, shop
from tests.on_engine.scene import eventually

pytestmark = [*NEEDS_ENGINE, *NEEDS_HAPROXY]
WELL = HealthCheck(("CMD-SHELL", "true"), interval_s=0.5)
ILL = HealthCheck(("CMD-SHELL", "echo no disk left; exit 1"), interval_s=0.2, retries=1)
FIXED_PORT = 18690
_ABOUT_ONE = re.compile(r"(?:POST|DELETE) /v[\d.]+/containers/(?!create)([^/?]+)")


@pytest.fixture
def site(docker_engine_host: str, directory: Path) -> Iterator[Shop]:
    with shop(docker_engine_host, directory) as made:
        yield made


def test_21_an_unhealthy_new_container_goes_and_the_healthy_old_one_is_left_untouched(site: Shop) -> None:
    """Report 21: https://github.com/moby/moby/issues/37972."""
    old = site.serve(1, health=WELL)
    before = site.seen(old)
    route = site.host.ports.router.read()
    with site.polled() as (kept, _):
        verdict = site.deploy(site.wanted(2, health=ILL))
        asked = kept.answers
        eventually(lambda: kept.answers > asked or bool(kept.wrong))
    failure = verdict.failure
    assert failure is not None
    assert (Stage.FAILED, Why.UNHEALTHY, "") == (verdict.stage, failure.why, failure.left)
    after = site.seen(old)
    assert before is not None
    assert after is not None
    assert (before.started_at, Status.RUNNING, HealthStatus.HEALTHY) == (after.started_at, after.status, after.health.status)
    assert ({site.name: "running"}, old, route) == (site.names(), site.active(), site.host.ports.router.read())
    site.assert_settled(1)


def test_22_what_an_interrupted_recreate_left_is_told_from_what_serves_by_its_id(
    site: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Report 22: https://github.com/docker/compose/issues/1573."""
    serving = site.serve(1)
    site.containers.client.rename(serving, f"3f2a1c_{site.name}")
    left = _owned(site, site.name)
    with site.polled(), counted_host(site, monkeypatch) as (host, socket):
        assert host.recover().is_well
        assert {f"3f2a1c_{site.name}": "running", site.name: "created"} == site.names()
        failed = Deployer(host.ports, host.policies, limits=UNWATCHED).deploy(site.app, "web", site.wanted(2, health=ILL))
        assert Stage.FAILED is failed.stage
        assert {f"3f2a1c_{site.name}": "running"} == site.names()
        evolve(site, host=host).serve(3)
    assert {site.name: "running"} == site.names()
    told = [found[1] for each in socket.requests if (found := _ABOUT_ONE.match(each))]
    assert {left, serving} < set(told)
    assert [] == [each for each in told if not re.fullmatch(r"[0-9a-f]{64}", each)]
    site.assert_settled(3)


def test_23_stale_candidates_that_run_are_stopped_and_removed_before_their_names_are_used_again(
    site: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Report 23: https://github.com/basecamp/kamal/pull/450."""
    site.serve(1)
    stale = [_owned(site, f"{site.name}-{each}") for each in ("new", "next")]
    for each in stale:
        site.containers.client.start(each)
    with site.polled(), counted_host(site, monkeypatch) as (host, socket):
        evolve(site, host=host).serve(2)
    orders = [each.split("?")[0] for each in socket.requests if not each.startswith("GET")]
    created = orders.index("POST /v1.40/containers/create")
    for each in stale:
        stopped = orders.index(f"POST /v1.40/containers/{each}/stop")
        assert stopped < orders.index(f"DELETE /v1.40/containers/{each}") < created
    site.assert_settled(2)


@contextmanager
def counted_host(site: Shop, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Host, CountingSocket]]:
    """Give what another process would have, with each of its requests to the engine noted."""
    with counted(site.containers.host.removeprefix("unix://"), site.directory / "counted.sock") as socket:
        with monkeypatch.context() as patch:
            patch.setenv("DOCKER_HOST", f"unix://{socket.path}")
            host = site.other()
        with host:
            yield host, socket


@frozen
class _Misread:
    """An engine of which one container's stop is misread as done, although nothing was stopped."""

    engine: Engine
    container_id: str

    def __getattr__(self, method: str) -> object:
        return getattr(self.engine, method)

    def stop(self, container_id: str, grace_s: float) -> Outcome:
        return DONE if container_id == self.container_id else self.engine.stop(container_id, grace_s)


def _deploy_misreading(site: Shop, old: str, version: int) -> Verdict:
    ports = evolve(site.host.ports, engine=cast("Engine", _Misread(site.host.ports.engine, old)))
    site.switches.begun = version
    return Deployer(ports, site.host.policies, limits=UNWATCHED).deploy(site.app, "web", site.wanted(version))


def test_24_the_old_container_is_removed_only_once_it_was_seen_stopped(site: Shop) -> None:
    """Report 24: https://github.com/coollabsio/coolify/issues/5730."""
    old = site.serve(1)
    with site.polled():
        verdict = _deploy_misreading(site, old, 2)
        assert (Stage.DEPLOYED, [old]) == (verdict.stage, [each.container_id for each in site.stored().markers])
        site.switches.published = 2
        seen = site.seen(old)
        assert (True, Status.RUNNING) == (seen is not None, seen and seen.status)
        # Seen to run, it is stopped, and removed after that.
        site.host.recover()
        assert None is site.seen(old)
    assert (200, site.page(2)) == site.ask()
    site.serve(3)
    site.assert_settled(3)


def test_24_where_both_must_not_run_at_once_a_stop_that_was_misread_starts_nothing(
    docker_engine_host: str, directory: Path
) -> None:
    with shop(docker_engine_host, directory, host_port=FIXED_PORT) as site:
        old = site.serve(1)
        with site.polled(is_down_at_times=True):
            verdict = _deploy_misreading(site, old, 2)
        assert verdict.failure is not None
        assert (Stage.FAILED, Why.DETENTION) == (verdict.stage, verdict.failure.why)
        assert ({site.name: "running"}, old) == (site.names(), site.active())
        site.assert_settled(1)


def _owned(site: Shop, name: str) -> str:
    """Create a container as an interrupted deploy leaves it: with the labels of an owner, and in no journal."""
    labels = dict(zip(OWNER_LABELS, (site.app, "web"), strict=True))
    made = site.containers.client.create_container(site.images[0], name=name, labels=labels, environment={"VERSION": "0"})
    site.containers.adopt(str(made["Id"]))
    return str(made["Id"])
