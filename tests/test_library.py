"""The library face: few public names, documented, typed, imported only when they are wanted; a host, from threads and tasks."""

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest
from attrs import evolve

import gordon_core
import gordon_shell
from gordon_core import (
    Blueprint,
    DeployDecision,
    Notice,
    Outcome,
    Overrides,
    Port,
    Publication,
    Stage,
    Variable,
    WhenUnhealthy,
    Why,
    plan,
)
from gordon_shell import (
    Behaviour,
    BusyError,
    GordonError,
    Host,
    InlineCrew,
    LiveOptions,
    MemoryClock,
    MemoryEngine,
    Notices,
    NoWayBackError,
    Recovery,
    Report,
    Simulated,
    SimulatedImage,
    StoreError,
    UsageError,
    Wish,
    memory_ports,
)

ROOT = Path(__file__).parent.parent
HTTP = Port(80)
CORE = """
Bind Blueprint Candidate Clock Container Decision Declared DeployDecision DeployStep Deployment Done Effect Failure Gone
Health HealthCheck HealthStatus Hold HostPolicy HttpCheck Image Intent Made Memory Mode Mount Notice NoticeKind Outcome
Overrides Plan Policy Port PortBinding Protocol Publication Readiness Refused RouteSeen RouteUnread Setting Situation Snapshot
Stage Status Subject Superseded Unknown Unread Variable Verdict Verified WhenUnhealthy Why decide_deploy forecast_deploy
in_words plan sentence step_in_words why_if_it_fails
"""
SHELL = """
Adoption Behaviour BusyError Deed Deployed Deployer DocumentError Dossier EngineError Forgotten GordonError Host InlineCrew
Journal JournalError LiveOptions Marker MemoryClock MemoryEngine MemoryJournal MemoryLocks MemoryProber MemoryRouter MemoryStore
NoWayBackError Notices Ports Record Recovery Report RouterError Simulated SimulatedImage StoreError Stored UsageError Wish
Witness memory_ports
"""


# --- the names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("package", "names"), [(gordon_core, CORE), (gordon_shell, SHELL)], ids=["core", "shell"])
def test_these_are_the_public_names(package: ModuleType, names: str) -> None:
    """A name that is added here is there to stay, and one that goes is a breach: say so in CHANGELOG.md."""
    assert sorted(names.split()) == sorted(package.__all__)
    assert set() == set(package.__all__) - set(dir(package))


@pytest.mark.parametrize("package", [gordon_core, gordon_shell], ids=["core", "shell"])
def test_each_of_them_says_what_it_is(package: ModuleType) -> None:
    unions = {"DeployStep", "Effect", "Outcome"}
    bare = [each for each in package.__all__ if each not in unions and not (getattr(package, each).__doc__ or "").strip()]
    assert [] == bare
    generated = [each for each in package.__all__ if (getattr(package, each).__doc__ or "").startswith("Method generated")]
    assert [] == generated


@pytest.mark.parametrize("name", [each for each in vars(Host) if not each.startswith("_") and callable(getattr(Host, each))])
def test_each_method_of_a_host_says_what_it_does(name: str) -> None:
    assert (getattr(Host, name).__doc__ or "").strip()


def test_every_other_name_is_refused() -> None:
    with pytest.raises(
        AttributeError, match="module 'gordon_shell' has no attribute 'Hosts'; the public names are in its __all__"
    ):
        _ = gordon_shell.Hosts


def test_importing_the_shell_imports_neither_docker_nor_the_core() -> None:
    script = (
        "import sys, gordon_shell; print(sorted(sys.modules.keys() & {'docker', 'attrs', 'click', 'sqlite3', 'gordon_core'}))"
    )
    ran = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True, cwd=ROOT)
    assert (0, "[]\n", "") == (ran.returncode, ran.stdout, ran.stderr)


def test_a_name_that_the_core_has_not_is_told_in_one_sentence() -> None:
    with pytest.raises(AttributeError, match="module 'gordon_core' has no attribute 'plam'; the public names are in its __all__"):
        _ = gordon_core.plam


def test_a_plan_of_a_document_needs_no_law_for_deploys() -> None:
    script = (
        "import sys, gordon_core.document, gordon_core.forecast, gordon_shell.text; "
        "print([each for each in sys.modules if 'deploy' in each or 'blueprint' in each])"
    )
    ran = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True, cwd=ROOT)
    assert (0, "[]\n", "") == (ran.returncode, ran.stdout, ran.stderr)


def test_importing_the_host_does_not_import_docker() -> None:
    script = "import sys; from gordon_shell import Host, memory_ports; print('docker' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True, cwd=ROOT)
    assert (0, "False\n", "") == (ran.returncode, ran.stdout, ran.stderr)


@pytest.mark.parametrize("package", ["gordon_core", "gordon_shell"])
def test_both_say_that_they_are_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


def test_a_type_checker_sees_the_names(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from gordon_shell import Host\nfrom gordon_core import Plan\nplan: Plan = Host.open().plan()\nplan.nonesuch\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--config-file=", str(program)]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert f'{program}:4: error: "Plan" has no attribute "nonesuch"  [attr-defined]' in ran.stdout
    assert "Found 1 error" in ran.stdout


# --- a host ----------------------------------------------------------------------------------------------------------------


WEB = Blueprint("shop:1", environment=(Variable("MODE", "live"),), ports=(Publication(HTTP),))


def engine(*, slow_s: float = 0.0) -> MemoryEngine:
    """Return an engine with shop:1 and shop:2, which answer after so long."""
    made = MemoryEngine(MemoryClock())
    for each in ("shop:1", "shop:2"):
        made.images.add(each, SimulatedImage(f"sha256:{each}", Behaviour(listens_after_s=slow_s)))
    made.images.add("shop:bad", SimulatedImage("sha256:bad", Behaviour(listens=False)))
    return made


@pytest.fixture
def host() -> Host:
    return Host(memory_ports(engine()), crew=InlineCrew())


def names(host: Host) -> list[str]:
    return sorted(each.name for each in host.ports.engine.rows())


def test_a_deploy_is_planned_done_and_recovered(host: Host) -> None:
    road = host.plan_deploy("shop", "web", WEB)
    assert [] == names(host)
    told: list[tuple[DeployDecision, Outcome | None]] = []
    verdict = host.deploy("shop", "web", WEB, listener=lambda decision, outcome: told.append((decision, outcome)))
    assert (Stage.DEPLOYED, 1, True) == (verdict.stage, verdict.revision, verdict.is_well)
    assert [each.stage for each in road if each.step is not None] == [each.stage for each, outcome in told if outcome is not None]
    assert host.plan().is_quiet
    assert host.recover().is_well
    assert plan(host.snapshot()).services[0].situation is host.plan().services[0].situation


def test_what_is_there_is_evolved_into_what_is_wanted_and_back(host: Host) -> None:
    host.deploy("shop", "web", WEB)
    now = host.present("shop", "web")
    assert now is not None
    assert Stage.UNALTERED is host.deploy("shop", "web", now).stage
    host.deploy("shop", "web", evolve(now, image="shop:2"))
    assert "shop:1" == host.previous("shop", "web").image
    assert 3 == host.rollback("shop", "web").revision
    back = host.present("shop", "web")
    assert back is not None
    assert ("shop:1", WEB.environment) == (back.image, back.environment)
    assert None is host.present("shop", "other")


def test_what_is_wanted_can_be_said_when_nobody_else_can_change_it(host: Host) -> None:
    def wanted() -> Blueprint:
        assert isinstance(host.ports.locks.try_app("shop"), str)
        return WEB

    assert host.deploy("shop", "web", wanted).is_well


def test_a_failed_deploy_is_a_verdict_and_an_impossible_one_an_error(host: Host) -> None:
    host.deploy("shop", "web", WEB)
    verdict = host.deploy("shop", "web", evolve(WEB, image="shop:bad"))
    assert verdict.failure is not None
    assert (Why.UNREADY, 1) == (verdict.failure.why, verdict.revision)
    with pytest.raises(NoWayBackError):
        host.previous("shop", "web")
    with pytest.raises(UsageError):
        host.rollback("shop", "web", 7)
    with host.ports.locks.wait_app("shop", 0), pytest.raises(BusyError):
        host.deploy("shop", "web", WEB, lock_wait_s=0.0)
    assert issubclass(NoWayBackError, GordonError)


def test_the_wishes_of_an_operator_are_methods(host: Host) -> None:
    memory = host.ports.engine
    assert isinstance(memory, MemoryEngine)
    memory.add(Simulated("a" * 64, "web-1", ((HTTP, 0),)), Simulated("b" * 64, "web-0"))
    memory.start("a" * 64)
    (adopted,) = host.adopt("shop", Wish("web", "web-1"))
    assert "a" * 64 == adopted.declared.container_id
    assert "b" * 64 == host.retire("shop", "web", "web-0").container_id
    assert host.recover().is_well
    assert ["web-1"] == names(host)
    host.inhibit("shop", "web", "it lies")
    assert host.is_inhibited("shop", "web")
    host.allow("shop", "web")
    assert not host.is_inhibited("shop", "web")
    assert () == host.retry("shop")
    host.stop("shop")
    host.recover()
    assert not memory.rows()[0].uptime.startswith("Up")
    host.start("shop")
    assert ["web"] == [each.service for each in host.services()]
    (forgotten,) = host.forget("shop", "web")
    assert "a" * 64 == forgotten.container_id
    assert () == host.services()


def test_holds_and_constants_are_methods(host: Host) -> None:
    host.deploy("shop", "web", WEB)
    host.tune("shop", "web", Overrides(free_failures=5, unhealthy=WhenUnhealthy.WITHDRAW))
    host.hold("shop", "web", seconds=600.0, who="ci", reason="migration")
    (subject,) = host.snapshot().subjects
    assert subject.declared is not None
    assert 5 == subject.declared.policy.free_failures
    assert subject.hold is not None
    assert ("ci", "migration") == (subject.hold.who, subject.hold.reason)
    refused = host.deploy("shop", "web", evolve(WEB, image="shop:2"))
    assert refused.failure is not None
    assert Why.ON_HOLD is refused.failure.why
    host.release("shop")
    assert host.deploy("shop", "web", evolve(WEB, image="shop:2")).is_well


def test_the_real_host_is_opened_and_closed(tmp_path: Path) -> None:
    options = LiveOptions(state=tmp_path / "state.db", environment={})
    with pytest.raises(StoreError):
        Host.open(options, create=False)
    with Host.open(options) as host:
        assert () == host.services()
    with pytest.raises(StoreError):
        host.services()


def test_threads_share_a_host(host: Host) -> None:
    """Deploys of two apps go on side by side, and two of one app one after the other."""
    verdicts: list[tuple[str, Stage]] = []

    def deploy(app: str, image: str) -> None:
        verdicts.append((app, host.deploy(app, "web", evolve(WEB, image=image)).stage))

    asked = [("shop", "shop:1"), ("shop", "shop:2"), ("blog", "shop:1")]
    threads = [threading.Thread(target=deploy, args=each) for each in asked]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert [("blog", Stage.DEPLOYED), ("shop", Stage.DEPLOYED), ("shop", Stage.DEPLOYED)] == sorted(verdicts, key=str)
    assert ["gordon-blog-web", "gordon-shop-web"] == names(host)


# --- tasks -----------------------------------------------------------------------------------------------------------------


class _Paused:
    """A listener that holds a deploy at the first step of a kind until it may go on."""

    def __init__(self, kind: str) -> None:
        self.kind, self.reached, self.may_go_on = kind, threading.Event(), threading.Event()

    def __call__(self, decision: DeployDecision, outcome: Outcome | None) -> None:
        if outcome is None and type(decision.step).__name__ == self.kind and not self.reached.is_set():
            self.reached.set()
            assert self.may_go_on.wait(10)


def test_a_task_awaits_a_deploy(host: Host) -> None:
    async def main() -> Stage:
        return (await host.deploy_async("shop", "web", WEB)).stage

    assert Stage.DEPLOYED is asyncio.run(main())


def test_a_fault_of_a_deploy_is_raised_where_it_is_awaited(host: Host) -> None:
    def wanted() -> Blueprint:
        message = "no"
        raise UsageError(message)

    with pytest.raises(UsageError, match="no"):
        asyncio.run(_awaited(host, wanted))


async def _awaited(host: Host, wanted: object) -> None:
    await host.deploy_async("shop", "web", wanted)  # type: ignore[arg-type]  # it is one


@pytest.mark.parametrize("times", [1, 2])
def test_a_task_that_is_cancelled_ends_when_the_candidate_is_gone(host: Host, times: int) -> None:
    host.deploy("shop", "web", WEB)
    paused = _Paused("StartCandidate")

    async def main() -> None:
        task = asyncio.create_task(host.deploy_async("shop", "web", evolve(WEB, image="shop:2"), listener=paused))
        await asyncio.to_thread(paused.reached.wait, 10)
        assert ["gordon-shop-web", "gordon-shop-web-new"] == names(host)
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0.05)
            assert not task.done()
        paused.may_go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert ["gordon-shop-web"] == names(host)
    assert host.recover().is_well
    assert host.deploy("shop", "web", evolve(WEB, image="shop:2")).is_well


def test_one_that_is_cancelled_before_its_thread_began_deploys_nothing(host: Host) -> None:
    async def main() -> None:
        busy = threading.Event()
        asyncio.get_running_loop().set_default_executor(_single())
        other = asyncio.create_task(asyncio.to_thread(busy.wait, 10))
        await asyncio.sleep(0)
        task = asyncio.create_task(host.deploy_async("shop", "web", WEB))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.sleep(0.15)
        busy.set()
        await other
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert () == host.services()


def _single() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1)


# --- recovery all the while ------------------------------------------------------------------------------------------------


def test_recovery_goes_on_until_it_is_told_to_stop_and_answers_what_happens(host: Host) -> None:
    host.deploy("shop", "web", WEB)
    container_id = host.ports.engine.rows()[0].container_id
    assert isinstance(host.ports.engine, MemoryEngine)
    memory = host.ports.engine
    reports: list[Report] = []

    def tell(report: Report) -> None:
        reports.append(report)
        if len(reports) == 1:
            memory.kill(container_id)
        elif report.results.get(("shop", "web")):
            recovery.stop()

    recovery: Recovery = host.recovery(tell)
    recovery.run()
    assert reports[0].is_whole
    assert {"RecordAttempt", "Start", "Publish"} <= {type(each.effect).__name__ for each in reports[-1].results["shop", "web"]}


def test_the_witness_of_a_host_hears_of_recovery_that_goes_on_too(host: Host) -> None:
    host.deploy("shop", "web", WEB)
    container_id = host.ports.engine.rows()[0].container_id
    assert isinstance(host.ports.engine, MemoryEngine)
    host.ports.engine.delete(container_id)
    told: list[Notice] = []

    def tell(_report: Report) -> None:
        recovery.stop()

    recovery: Recovery = evolve(host, witness=Notices(told.append)).recovery(tell)
    recovery.run()
    assert ["gone"] == [each.kind.value for each in told]


def test_recovery_that_was_told_to_stop_before_it_began_does_nothing(host: Host) -> None:
    host.deploy("shop", "web", WEB)
    reports: list[Report] = []
    recovery = host.recovery(reports.append)
    recovery.stop()
    recovery.run()
    assert [] == reports
