"""Two deploys of one app at once, a deploy during a pass, and a pass during a deploy: one after the other, on a real engine."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from attrs import define, evolve, field

from gordon_core.deploy_effects import DeployStep, Watch
from gordon_core.deploy_planner import DeployDecision
from gordon_core.effects import Effect, Outcome, Probe
from gordon_core.snapshot import Subject
from gordon_shell.deployer import Deployer
from gordon_shell.host import Host
from gordon_shell.ports import Lock, Locks
from gordon_shell.reconciler import Reconciler
from tests.engine_fixtures import NEEDS_ENGINE
from tests.haproxy import NEEDS_HAPROXY
from tests.on_engine.deploy_scene import UNWATCHED, Shop, shop
from tests.on_engine.scene import eventually

if TYPE_CHECKING:
    from gordon_core.verdicts import Verdict

pytestmark = [*NEEDS_ENGINE, *NEEDS_HAPROXY]
PATIENCE_S = 120.0


@pytest.fixture
def site(docker_engine_host: str, directory: Path) -> Iterator[Shop]:
    with shop(docker_engine_host, directory) as made:
        made.serve(1)
        yield made


@define
class Knocks:
    """Locks, and how often somebody wanted to wait for one: the second time, since the first was in vain."""

    locks: Locks
    count: int = 0

    def try_app(self, app: str) -> Lock | str:
        return self.locks.try_app(app)

    def wait_app(self, app: str, wait_s: float) -> Lock:
        self.count += 1
        return self.locks.wait_app(app, wait_s)

    def try_run(self) -> Lock | str:
        return self.locks.try_run()

    def try_tell(self) -> Lock | str:
        return self.locks.try_tell()


@define
class Holder:
    """Notes every step that anybody takes, and holds whoever takes one of a kind until it is let go."""

    steps: list[tuple[str, str]] = field(factory=list)
    reached: threading.Event = field(factory=threading.Event)
    released: threading.Event = field(factory=threading.Event)
    holds: tuple[type[DeployStep], ...] = ()

    def note(self, who: str, step: DeployStep) -> None:
        self.steps.append((who, type(step).__name__))
        if isinstance(step, self.holds):
            self.reached.set()
            assert self.released.wait(PATIENCE_S)

    def who(self) -> list[str]:
        """Return who took the steps, each once for as long as nobody else took one."""
        names = [name for name, _ in self.steps]
        return [name for place, name in enumerate(names) if names[place - 1 : place] != [name]]


@contextmanager
def other(site: Shop) -> Iterator[tuple[Host, Knocks]]:
    """Give what another process would have, and how often it waited for a lock."""
    with site.other() as opened:
        knocks = Knocks(opened.ports.locks)
        yield evolve(opened, ports=evolve(opened.ports, locks=knocks)), knocks


def begin(pool: ThreadPoolExecutor, host: Host, site: Shop, version: int, holder: Holder) -> "Future[Verdict]":
    def listen(decision: DeployDecision, outcome: Outcome | None) -> None:
        if outcome is None and decision.step is not None:
            holder.note(f"deploy {version}", decision.step)

    site.switches.begun = max(site.switches.begun, version)
    deployer = Deployer(host.ports, host.policies, limits=UNWATCHED, listener=listen)
    return pool.submit(deployer.deploy, site.app, "web", site.wanted(version), lock_wait_s=PATIENCE_S)


def test_two_deploys_of_one_app_are_done_one_after_the_other(site: Shop) -> None:
    holder = Holder(holds=(Probe,))
    with site.polled(), site.other() as one, other(site) as (two, knocks), ThreadPoolExecutor() as pool:
        first = begin(pool, one, site, 2, holder)
        assert holder.reached.wait(PATIENCE_S)
        second = begin(pool, two, site, 3, holder)
        try:
            eventually(lambda: knocks.count > 1)
            assert ["deploy 2"] == holder.who()
        finally:
            holder.released.set()
        verdicts = [first.result(PATIENCE_S), second.result(PATIENCE_S)]
    assert [(None, 2), (None, 3)] == [(each.failure, each.revision) for each in verdicts]
    assert ["deploy 2", "deploy 3"] == holder.who()
    assert verdicts[1].container_id == site.active()
    site.assert_settled(3)


@pytest.mark.parametrize("step", [Probe, Watch])
def test_a_pass_during_a_deploy_skips_the_app_and_changes_nothing(site: Shop, step: type[DeployStep]) -> None:
    holder = Holder(holds=(step,))
    with site.polled(), site.other() as one, site.other() as two, ThreadPoolExecutor() as pool:
        deploy = begin(pool, one, site, 2, holder)
        try:
            assert holder.reached.wait(PATIENCE_S)
            before = (site.rows(), site.stored(), two.ports.router.read())
            report = two.recover()
            assert ({}, {None}) == (report.results, {each.effect for each in report.plan.decisions})
            assert "locked" in report.plan.decisions[0].subject.locked
            # The uptime that the engine tells goes on.
            assert [each.status for each in before[0]] == [each.status for each in site.rows()]
            assert before[1:] == (site.stored(), two.ports.router.read())
        finally:
            holder.released.set()
        assert deploy.result(PATIENCE_S).is_well
    site.assert_settled(2)


def test_a_deploy_during_a_pass_waits_for_it(site: Shop) -> None:
    holder = Holder(holds=(Probe,))

    def listen(_subject: Subject, effect: Effect, _outcome: Outcome) -> None:
        holder.note("pass", effect)

    site.containers.client.kill(site.active())
    eventually(lambda: set(site.names().values()) == {"exited"})
    with site.polled(is_down_at_times=True), site.other() as one, other(site) as (two, knocks), ThreadPoolExecutor() as pool:
        passing = pool.submit(Reconciler(one.ports, one.policies, listener=listen).run_pass)
        assert holder.reached.wait(PATIENCE_S)
        deploy = begin(pool, two, site, 2, holder)
        try:
            eventually(lambda: knocks.count > 1)
            assert ["pass"] == holder.who()
        finally:
            holder.released.set()
        assert passing.result(PATIENCE_S).is_well
        assert deploy.result(PATIENCE_S).is_well
    assert ["pass", "deploy 2"] == holder.who()
    assert ("pass", "Publish") in holder.steps
    site.assert_settled(2)
