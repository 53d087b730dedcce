"""A deploy cleans up whatever its caller is hit by, whatever hangs, and is over before the process is."""

import ctypes
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from gordon_core.blueprint import Blueprint
from gordon_core.deploy_effects import Why
from gordon_core.deploy_planner import DeployDecision
from gordon_core.effects import Fault, Outcome, Refused, RemoveCandidate, StopCandidate, Unknown
from gordon_core.stages import Stage
from gordon_shell.deploy_executor import DEFAULT_LIMITS, Limits
from gordon_shell.detached import left_after, outlive
from gordon_shell.errors import BusyError
from gordon_shell.memory.container import Behaviour
from tests.deploy_sites import CHECK, CHECKED, Site, exclusive

ROOT = Path(__file__).parent.parent
BRIEF = Limits(cleanup_s=0.6, removal_s=0.3, dossier_s=0.2)
AT_ONCE = Behaviour(exits_after_s=0.0)
SILENT = Behaviour(listens=False)


@pytest.fixture
def site() -> Site:
    found = Site()
    found.serving("shop:1")
    return found


def is_clean(site: Site) -> bool:
    """Tell whether the old generation serves, and nothing is left of the new one."""
    return (site.active(), site.names(), site.candidates(), set(site.routes())) == (
        "shop:1", {"gordon-shop-web": "running"}, (), {"shop/web"},
    )  # fmt: skip


# --- what hangs ----------------------------------------------------------------------------------------------------------


def test_the_limits_are_those_of_the_issue() -> None:
    assert (30.0, 8.0, 5.0) == (DEFAULT_LIMITS.cleanup_s, DEFAULT_LIMITS.removal_s, DEFAULT_LIMITS.dossier_s)


def told_by(site: Site, limits: Limits = BRIEF) -> list[tuple[str, Outcome]]:
    """Deploy what never listens, and return what came of its clean-up."""
    told: list[tuple[str, Outcome]] = []

    def tell(decision: DeployDecision, outcome: Outcome | None) -> None:
        if isinstance(decision.step, StopCandidate | RemoveCandidate) and outcome is not None:
            told.append((type(decision.step).__name__, outcome))

    site.image("shop:2", SILENT)
    verdict = site.deployer(tell, limits).deploy("shop", "web", Blueprint("shop:2"))
    assert verdict.failure is not None
    assert Why.UNREADY is verdict.failure.why
    return told


def test_a_stop_that_hangs_does_not_keep_the_removal_from_its_time(site: Site) -> None:
    held = site.calls.hold("engine.stop")
    begun_s = time.monotonic()
    told = told_by(site)
    held.set()
    assert ["StopCandidate", "RemoveCandidate"] == [each for each, _ in told]
    assert isinstance(told[0][1], Unknown)
    assert 0.3 <= time.monotonic() - begun_s < 5.0
    assert is_clean(site)


@pytest.mark.parametrize("outcome", [Refused("no", Fault.ENGINE), Unknown("no answer")])
def test_a_stop_that_fails_does_not_keep_the_removal_from_being_tried(site: Site, outcome: Outcome) -> None:
    site.faults.plan("engine.stop", outcome)
    assert [outcome, outcome] != [each for _, each in told_by(site)]
    assert is_clean(site)


def test_a_clean_up_that_hangs_as_a_whole_comes_to_an_end_and_is_left_to_recovery(site: Site) -> None:
    held = [site.calls.hold("engine.stop"), site.calls.hold("engine.remove")]
    begun_s = time.monotonic()
    assert [Unknown, Unknown] == [type(each) for _, each in told_by(site)]
    assert time.monotonic() - begun_s < 5.0
    assert ("gordon-shop-web-new",) == site.candidates()
    site.calls.clear()
    for each in held:
        each.set()
    site.restarted().run_pass()
    assert is_clean(site)


def test_what_was_left_is_told(site: Site) -> None:
    site.faults.plan("engine.remove", Refused("no", Fault.ENGINE), times=9)
    site.image("shop:2", SILENT)
    verdict = site.deploy("shop:2")
    assert verdict.failure is not None
    assert verdict.failure.container_id == verdict.failure.left != ""


def test_lines_that_do_not_come_are_not_waited_for(site: Site) -> None:
    held = site.calls.hold("engine.logs")
    begun_s = time.monotonic()
    told_by(site)
    held.set()
    assert time.monotonic() - begun_s < 5.0
    assert is_clean(site)


# --- cancelled -------------------------------------------------------------------------------------------------------------

STEPS = [each for each in Stage if each.name in {
    "UNCREATED", "UNJOURNALLED", "UNSTARTED", "STARTING", "UNPROBED", "READY", "OLD_ROUTED", "OLD_UP", "UNFETCHED",
}]  # fmt: skip


@pytest.mark.parametrize("is_before", [True, False])
@pytest.mark.parametrize("stage", STEPS)
def test_a_deploy_that_is_cancelled_at_a_step_cleans_up(stage: Stage, *, is_before: bool) -> None:
    site = Site()
    wanted = exclusive("shop:1") if stage in {Stage.OLD_ROUTED, Stage.OLD_UP} else Blueprint("shop:1")
    site.serving(wanted=wanted)
    site.image("shop:2", CHECKED)
    image = site.engine.images.find("shop:2")
    assert image is not None
    if stage is Stage.UNFETCHED:
        site.engine.images.drop("shop:2")
        site.engine.images.serve("shop:2", image)

    def tell(decision: DeployDecision, outcome: Outcome | None) -> None:
        if decision.stage is stage and (outcome is None) is is_before:
            deployer.cancel("the operator")

    deployer = site.deployer(tell)
    new = Blueprint("shop:2", ports=wanted.ports, health=CHECK)
    verdict = deployer.deploy("shop", "web", new)
    if stage is Stage.READY:  # too late: it is named in ACTIVE
        assert (Stage.INTERRUPTED, None, "shop:2") == (verdict.stage, verdict.failure, site.active())
        site.restarted().run_pass()
    else:
        assert verdict.failure is not None
        assert (Why.CANCELLED, "the operator") == (verdict.failure.why, verdict.failure.reason)
        assert is_clean(site)
    site.check()
    assert [] == site.troubles
    assert site.deploy(Blueprint("shop:3", ports=wanted.ports)).is_well
    assert site.is_settled()


@pytest.mark.parametrize("call", ["prober.probe", "engine.pull"])
def test_a_wait_ends_at_once_when_the_deploy_is_cancelled(site: Site, call: str) -> None:
    held = site.calls.hold(call)
    deployer = site.deployer()
    site.calls.before(call, lambda: deployer.cancel("enough"))
    site.calls.made.clear()
    threading.Timer(0.1, lambda: deployer.cancel("enough")).start()
    begun_s = time.monotonic()
    verdict = deployer.deploy("shop", "web", Blueprint("shop:2" if call == "prober.probe" else "far:1"))
    held.set()
    assert verdict.failure is not None
    assert (Why.CANCELLED, "enough") == (verdict.failure.why, verdict.failure.reason)
    assert time.monotonic() - begun_s < 5.0
    assert is_clean(site)


def test_the_wait_for_a_lock_ends_when_the_deploy_is_cancelled(site: Site) -> None:
    with site.locks.wait_app("shop", 1.0):
        deployer = site.deployer()
        threading.Timer(0.1, lambda: deployer.cancel("enough")).start()
        with pytest.raises(BusyError, match=r"shop/web was cancelled \(enough\) while it waited: app shop is locked"):
            deployer.deploy("shop", "web", Blueprint("shop:2"), lock_wait_s=20.0)
    assert is_clean(site)


def test_a_cancel_during_the_clean_up_does_not_shorten_it(site: Site) -> None:
    deployer = site.deployer()
    site.image("shop:2", SILENT)
    site.calls.before("engine.stop", lambda: deployer.cancel("enough"))
    verdict = deployer.deploy("shop", "web", Blueprint("shop:2"))
    assert verdict.failure is not None
    assert Why.UNREADY is verdict.failure.why
    assert is_clean(site)


# --- what the caller is hit by -----------------------------------------------------------------------------------------------


class Hit(Exception):  # noqa: N818 - it is what hits a caller, and no error of anybody
    pass


def raise_in(thread: threading.Thread, kind: type[BaseException]) -> None:
    """Raise an exception in another thread, as some tools do to end what they run."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(kind))


def test_an_exception_raised_in_the_caller_goes_on_once_all_is_cleaned_up(site: Site) -> None:
    held = site.calls.hold("prober.probe")
    seen: list[tuple[str, bool]] = []

    def call() -> None:
        try:
            site.deploy("shop:2")
        except Hit:
            seen.append(("hit", is_clean(site)))

    caller = threading.Thread(target=call)
    caller.start()
    _until(lambda: bool(site.calls.of("prober.probe")))
    raise_in(caller, Hit)
    site.calls.before("engine.stop", lambda: raise_in(caller, Hit))
    caller.join(20)
    held.set()
    assert [("hit", True)] == seen


def test_a_caller_that_was_hit_before_the_work_began_has_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that cannot be started is an error, not a wait for ever."""
    monkeypatch.setattr(threading.Thread, "start", _refuse)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        outlive(lambda: 1, lambda _words: None, "work")


def _refuse(_thread: threading.Thread) -> None:
    message = "can't start new thread"
    raise RuntimeError(message)


def test_what_work_raises_is_raised_to_its_caller() -> None:
    def work() -> None:
        raise Hit

    with pytest.raises(Hit):
        outlive(work, lambda _words: None, "work")
    with pytest.raises(Hit):
        left_after(work, 5.0)


@contextmanager
def child(how: str) -> Iterator["subprocess.Popen[str]"]:
    """Run the deploy of another process until its candidate is probed."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.deploy_child", how], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert "probing\n" == process.stdout.readline()
            yield process
        finally:
            with suppress(ProcessLookupError):
                process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_process_that_is_ended_by_a_signal_cleans_up_before_it_exits(number: signal.Signals) -> None:
    with child("main") as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert "stopping\nremoved Done()\n" == out
    assert -number == process.returncode
    assert (number is signal.SIGINT) is ("KeyboardInterrupt" in err)


def test_a_second_signal_does_not_shorten_the_clean_up() -> None:
    with child("main") as process:
        process.send_signal(signal.SIGTERM)
        assert process.stdout is not None
        assert "stopping\n" == process.stdout.readline()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM):
            process.send_signal(number)
            time.sleep(0.1)
        out, _ = process.communicate(timeout=20)
    assert "removed Done()\n" == out
    assert -signal.SIGTERM == process.returncode


def test_a_signal_that_is_ignored_stays_so() -> None:
    with child("ignored") as process:
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=20)
    assert out.endswith("DEPLOYED \n")
    assert 0 == process.returncode


def test_a_handler_of_the_caller_is_called_after_the_clean_up() -> None:
    with child("heeded") as process:
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=20)
    assert "stopping\nremoved Done()\nheeded 15\nFAILED its caller was sent SIGTERM\n" == out
    assert 0 == process.returncode


def test_a_process_whose_main_thread_is_ended_waits_for_the_deploy_of_another_thread() -> None:
    """It is not told, since the signal is the main thread's: it goes on to its end, which is here that it is killed."""
    with child("thread") as process:
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1.0)


def _until(holds: Callable[[], bool]) -> None:
    end_s = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end_s
        time.sleep(0.01)
