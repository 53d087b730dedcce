"""`gordon-shell deploy` and `gordon-shell rollback` on memory ports: what they do, what they say, and what they never show."""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gordon_core.deployment import DEPLOY_DEADLINE_S
from gordon_core.verdicts import Verdict
from gordon_shell import deploy_cli, deployer, detached
from gordon_shell.memory.clock import MemoryClock
from gordon_shell.memory.container import Behaviour
from gordon_shell.memory.router import MemoryRouter
from gordon_shell.operations import LOCK_WAIT_S
from tests.deploy_shell import Deploys, prepared
from tests.deploys import SECRET
from tests.shell_worlds import HTTP, Shell

FIRST = "shop/web: deployed container c00000000001, revision 1, routed to 80/tcp at 32768; 8 steps in 1 s\n"


def test_the_first_deploy_makes_the_state_and_the_service(deploys: Deploys) -> None:
    assert (0, FIRST, "") == tuple(deploys.deploy("shop:1", "-e", "MODE=live"))
    assert ["gordon-shop-web"] == deploys.names()
    assert {"MODE": "live"} == deploys.environment()


def test_a_deploy_replaces_the_container_and_keeps_what_is_not_named(deploys: Deploys) -> None:
    deploys.deploy("shop:1", "-e", "MODE=live", "-e", f"PASSWORD={SECRET}", "--memory", "64m", "--", "serve", "--all")
    said = deploys.deploy("shop:2", "-e", "MODE=test")
    assert (0, "") == (said.code, said.err)
    assert said.out.startswith("shop/web: deployed container c00000000002, revision 2, routed to 80/tcp at 32769; ")
    assert ("sha256:shop:2", 2) == deploys.serving()
    assert {"MODE": "test", "PASSWORD": SECRET} == deploys.environment()
    assert ["gordon-shop-web"] == deploys.names()


def test_the_same_again_is_nothing_to_do(deploys: Deploys) -> None:
    deploys.deploy("shop:1", "-e", "MODE=live")
    expected = "shop/web: nothing to do: image, environment and options are as wanted of container c00000000001, revision 1\n"
    assert (0, expected, "") == tuple(deploys.deploy("shop:1"))


def test_what_recovery_has_to_put_right_of_the_same_is_counted(deploys: Deploys) -> None:
    deploys.deploy("shop:1")
    deploys.shell.router.forget()
    said = deploys.deploy("shop:1")
    assert said.out.endswith("revision 1; 2 steps put right what was not\n")


def test_fresh_begins_with_the_image_alone(deploys: Deploys) -> None:
    deploys.deploy("shop:1", "-e", "MODE=live")
    assert 0 == deploys.deploy("shop:1", "--fresh").code
    assert {} == deploys.environment()


def test_what_is_adopted_is_replaced_by_what_it_was_made_of(deploys: Deploys) -> None:
    deploys.shell.container("web-1", HTTP, stop_grace_s=3.0)
    deploys.shell.adopted(web="web-1")
    deploys.shell.run("once")
    assert 0 == deploys.deploy("shop:1").code
    assert ["gordon-shop-web"] == deploys.names()
    stored = deploys.shell.stored()
    assert stored is not None
    assert stored.declared is not None
    assert ((HTTP,), 3.0, True) == (stored.declared.ports, stored.declared.stop_grace_s, stored.declared.published)


def test_the_next_pass_finds_nothing_to_do(deploys: Deploys) -> None:
    deploys.deploy("shop:1")
    deploys.deploy("shop:2")
    assert "1 service: 1 as desired; nothing needed to be done.\n" == deploys.shell.run("once").out


def test_steps_are_told_on_a_terminal_as_they_are_taken(deploys: Deploys) -> None:
    said = deploys.deploy("shop:1", watched=True)
    assert FIRST == said.out
    lines = said.err.splitlines()
    assert "shop/web: create container gordon-shop-web-new for revision 1: done" == lines[0]
    assert "shop/web: rename it to gordon-shop-web: done" == lines[-1]
    assert 8 == len(lines)


def test_a_worker_is_told_ready_by_time(deploys: Deploys) -> None:
    said = deploys.deploy("work:1", service="worker")
    assert (0, "") == (said.code, said.err)
    assert ", not routed; " in said.out


# --- failures ----------------------------------------------------------------------------------------------------------


def test_a_failure_tells_what_why_what_would_help_and_what_serves(deploys: Deploys) -> None:
    deploys.deploy("shop:1")
    said = deploys.deploy("shop:dies", "--forgive", "0")
    expected = """\
shop/web: the deploy failed, since its container ended before it was ready
    likely: its program ended with an error
    hint:   its last lines say more
    was:    container gordon-shop-web-new (c00000000002), exit code 3
    said:   its last 2 lines:
      | starting
      | no database
    now:    container c00000000001, revision 1, routed to 80/tcp at 32768
"""
    assert (1, expected, "") == tuple(said)
    assert ["gordon-shop-web"] == deploys.names()


def test_one_that_never_answers_leaves_the_old_one_serving(deploys: Deploys) -> None:
    deploys.deploy("shop:1")
    said = deploys.deploy("shop:silent", "--ready-timeout", "1")
    assert 1 == said.code
    assert "since it was not ready in time: 80/tcp at 32769: closed within 250 ms" in said.out
    assert ("sha256:shop:1", 1) == deploys.serving()


def test_a_failure_of_the_first_deploy_leaves_nothing(deploys: Deploys) -> None:
    said = deploys.deploy("shop:silent", "--ready-timeout", "1")
    assert (1, "    now:    ACTIVE names no container, and nothing serves") == (said.code, said.out.splitlines()[-1])
    assert [] == deploys.names()


def test_after_a_failed_downtime_the_old_one_is_started_again_and_published(deploys: Deploys) -> None:
    deploys.deploy("shop:1")
    said = deploys.deploy("shop:silent", "--downtime", "--ready-timeout", "1")
    assert (1, "    now:    container c00000000001, revision 1, routed to 80/tcp at 32768") == (
        said.code,
        said.out.splitlines()[-1],
    )
    assert "1 service: 1 serving; nothing needed to be done.\n" == deploys.shell.run("once").out


def test_one_that_dies_right_after_it_was_published_is_switched_back_and_never_gone_back_to(deploys: Deploys) -> None:
    deploys.deploy("shop:2")
    deploys.deploy("shop:1")
    deploys.image("shop:short", Behaviour(exits_after_s=1.0, exit_code=137))
    said = deploys.deploy("shop:short")
    assert 1 == said.code
    assert said.out.startswith("shop/web: the deploy failed, since it ended right after it was published")
    assert "    now:    switched back to container c00000000002, revision 4, routed to 80/tcp at 32769\n" in said.out
    assert ["gordon-shop-web"] == deploys.names()
    assert 0 == deploys.rollback().code
    assert ("sha256:shop:2", 5) == deploys.serving()


def test_strict_health_without_a_health_check_is_refused_with_a_hint(deploys: Deploys) -> None:
    said = deploys.deploy("shop:1", "--ready", "health")
    assert 1 == said.code
    assert "    hint:   add a health check or choose another readiness mode\n" in said.out


def test_the_last_twenty_lines_are_shown_without_secrets(deploys: Deploys) -> None:
    lines = tuple(f"{number}: connecting with {SECRET}" for number in range(30))
    deploys.image("shop:talks", Behaviour(listens=False, says=lines))
    said = deploys.deploy("shop:talks", "-e", f"PASSWORD={SECRET}", "--ready-timeout", "1", watched=True)
    assert [f"      | {number}: connecting with [PASSWORD]" for number in range(10, 30)] == said.out.splitlines()[5:25]
    assert SECRET not in said.out + said.err


def test_where_the_router_cannot_be_read_after_it_that_is_said(deploys: Deploys) -> None:
    deploys.deploy("shop:1")
    deploys.shell.router.fail_reads = "gone"
    said = deploys.deploy("shop:2")
    assert (1, "    now:    container c00000000001, revision 1, and whether it is routed could not be read") == (
        said.code,
        said.out.splitlines()[-1],
    )


def test_an_engine_that_is_away_is_an_error_of_its_own(deploys: Deploys) -> None:
    deploys.deploy("shop:1")
    deploys.shell.engine.unreachable("down")
    code, out, err = deploys.deploy("shop:2")
    assert (69, "") == (code, out)
    assert "gordon-shell: the memory engine gave no answer: down" in str(err)


def test_an_app_that_stays_locked_is_busy(deploys: Deploys) -> None:
    deploys.deploy("shop:1")
    ports = deploys.shell.ports()
    with ports.locks.wait_app("shop", 0):
        said = deploys.deploy("shop:2", "--lock-wait", "0")
    ports.store.close()
    assert (75, "") == (said.code, said.out)
    assert f"locked by pid {os.getpid()}" in said.err


# --- what is wrong with a command ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("shop:1", "-p", "http"), 64, "'http' is no port; write it as PORT"),
        (("shop:1", "-e", f"={SECRET}"), 64, "what stands before = after --env is no name"),
        (("shop:1", "-e", "NO_SUCH_THING"), 64, "has no NO_SUCH_THING; set it first"),
        (("shop:1", f"PASSWORD={SECRET}"), 64, "There are words after IMAGE; put -- before the command of the container"),
        ((f"PASSWORD={SECRET}",), 64, "put -e before each NAME=VALUE"),
        (("shop:1", "--unset-env", f"PASSWORD={SECRET}"), 64, "--unset-env takes the name of a variable alone"),
        (("shop:1", "--env-file", "/nonesuch"), 64, "/nonesuch: it cannot be read (No such file or directory); name another"),
        (("shop:1", "--timeout", "nan"), 64, "'nan' is not a number of seconds"),
        (("shop:1", "--ready", "soon"), 64, "'soon' is not one of"),
        (("shop:1", f"--evn=PASSWORD={SECRET}"), 64, "No such option"),
        ((), 64, "Missing argument 'IMAGE'"),
    ],
)
def test_a_wrong_command_is_told_in_one_sentence_without_a_value(
    deploys: Deploys, words: tuple[str, ...], code: int, why: str
) -> None:
    said = deploys.deploy(*words)
    assert (code, "") == (said.code, said.out)
    assert why in " ".join(said.err.split())
    assert SECRET not in said.err
    assert "Traceback" not in said.err


def test_a_word_too_many_for_rollback_is_not_shown(deploys: Deploys) -> None:
    said = deploys.rollback(f"PASSWORD={SECRET}")
    assert 64 == said.code
    assert "There is a word too many, with = in it; put -e before each NAME=VALUE." in said.err
    assert SECRET not in said.err


def test_other_wrong_usage_is_told_as_click_does(deploys: Deploys) -> None:
    said = deploys.rollback("more")
    assert (64, True) == (said.code, "unexpected extra argument (more)" in said.err)


@pytest.mark.parametrize(
    ("content", "why"), [(b"A=1\nsecret line\n", "line 2: this is no NAME=VALUE"), (b"\xff", "it is not UTF-8")]
)
def test_a_bad_file_of_variables_is_told_by_its_line(deploys: Deploys, tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "secrets.env"
    path.write_bytes(content)
    said = deploys.deploy("shop:1", "--env-file", str(path))
    assert said.code == (65 if b"\n" in content else 64)
    assert said.err.startswith(str(path) if b"\n" in content else f"gordon-shell: {path}")
    assert why in said.err
    assert "secret line" not in said.err


def test_variables_come_from_files_the_environment_and_the_command_line(
    deploys: Deploys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.env").write_text("A=file\nB=file\nC\n")
    monkeypatch.setenv("C", "mine")
    monkeypatch.setenv("D", SECRET)
    said = deploys.deploy("shop:1", "--env-file", str(tmp_path / "a.env"), "-e", "B=word", "-e", "D")
    assert (0, {"A": "file", "B": "word", "C": "mine", "D": SECRET}) == (said.code, deploys.environment())


def test_a_container_that_is_gone_is_made_again_from_its_record_with_values_that_are_given(deploys: Deploys) -> None:
    deploys.deploy("shop:1", "-e", f"PASSWORD={SECRET}", "--grace", "3")
    deploys.shell.engine.delete(deploys.shell.engine.rows()[0].container_id)
    said = deploys.deploy("shop:2")
    assert (64, "") == (said.code, said.out)
    assert "had PASSWORD, which the present container has not, and values are never stored; give it: --env PASSWORD" in said.err
    assert 0 == deploys.deploy("shop:2", "-e", "PASSWORD=new").code
    assert {"PASSWORD": "new"} == deploys.environment()


def test_of_an_adopted_container_that_is_gone_nothing_is_known(deploys: Deploys) -> None:
    container = deploys.shell.container("web-1", HTTP)
    deploys.shell.adopted(web="web-1")
    deploys.shell.engine.delete(container)
    said = deploys.deploy("shop:1")
    assert (64, True) == (said.code, "nothing on record says what it was made of; say all of it, with --fresh" in said.err)
    assert 0 == deploys.deploy("shop:1", "--fresh").code


def test_the_defaults_are_those_of_the_library() -> None:
    assert (DEPLOY_DEADLINE_S, LOCK_WAIT_S) == (deploy_cli.DEADLINE_S, deploy_cli.LOCK_WAIT_S)


# --- the dry run ---------------------------------------------------------------------------------------------------------


def test_a_dry_run_prints_the_road_and_does_nothing(deploys: Deploys) -> None:
    deploys.deploy("shop:1", "-e", f"PASSWORD={SECRET}")
    before = deploys.shell.engine.rows()
    said = deploys.deploy("shop:2", "-e", "PASSWORD=another secret", "--dry-run")
    expected = """\
As seen at 2026-01-01 00:00:02Z:

> shop/web (c00000000001): running for 3 s; routed to 80/tcp at 32768
    image: shop:2
    new:   image and environment PASSWORD
    why:   there is no candidate yet
    now:   create container gordon-shop-web-new for revision 2 \
(on fail: its container could not be created; the old container serves on)
    then:  write the candidate down in the journal \
(on fail: the state could not be written; the candidate is removed; the old container serves on)
    then:  start the candidate \
(on fail: its container could not be started; the candidate is removed; the old container serves on)
    then:  probe 80/tcp at a new port for up to 30 s \
(on fail: it was not ready in time; the candidate is stopped and removed; the old container serves on)
    then:  name container (new) in ACTIVE as revision 2 with 80/tcp at a new port, remember it as verified and \
mark c00000000001 for retirement \
(on fail: the state could not be written; the candidate is stopped and removed; the old container serves on)
    then:  publish 80/tcp at a new port (on fail: it could not be published; the old container is named in ACTIVE again; \
the candidate is stopped and removed; the old container serves on)
    then:  watch it serve for 2 s (on fail: it ended right after it was published; the old container is named in ACTIVE again; \
the route is withdrawn; the old container is probed and published again; the candidate is removed; the old container serves on)
    then:  the old container: retire it: stop, with 10 s to stop in; remove it, and keep its volumes; release its port claims; \
drop its marker
    then:  rename it to gordon-shop-web
    after: deployed

1 service would be deployed. Nothing was done.
"""
    assert (0, expected, "") == tuple(said)
    assert before == deploys.shell.engine.rows()
    assert expected == deploys.deploy("shop:2", "-e", "PASSWORD=another secret", "--dry-run").out


def test_a_dry_run_before_there_is_a_state_makes_none(deploys: Deploys) -> None:
    said = deploys.deploy("shop:1", "--dry-run")
    assert (0, "") == (said.code, said.err)
    assert "> shop/web (no container): not routed\n" in said.out
    assert "(on fail: it was not ready in time; the candidate is stopped and removed; nothing serves, as before)" in said.out
    assert not deploys.shell.path.exists()


def test_a_dry_run_of_the_same_says_so(deploys: Deploys) -> None:
    deploys.deploy("shop:1")
    said = deploys.deploy("shop:1", "--dry-run")
    assert 0 == said.code
    assert "= shop/web (c00000000001)" in said.out
    assert said.out.endswith("    now:   nothing\n\nThere is nothing to do. Nothing was done.\n")


def test_a_dry_run_of_a_downtime_says_who_is_started_again(deploys: Deploys) -> None:
    deploys.deploy("shop:1")
    out = deploys.deploy("shop:2", "--downtime", "--dry-run").out
    assert "    then:  the old container: withdraw its route (on fail: " in out
    assert "    then:  the old container: stop it, with 10 s to stop in (on fail: " in out
    assert "must not run at once; the candidate is removed; the old container is probed and published again)\n" in out
    back = "the candidate is stopped and removed; the old container is started, probed and published again"
    assert f"(on fail: it was not ready in time; {back})\n" in out


def test_a_dry_run_of_what_would_fail_says_why_and_what_would_help(deploys: Deploys) -> None:
    said = deploys.deploy("shop:1", "--ready", "health", "--dry-run")
    assert 1 == said.code
    assert "! shop/web (no container): not routed\n" in said.out
    assert "    help:  add a health check or choose another readiness mode\n" in said.out
    assert said.out.endswith("\nThe deploy would fail. Nothing was done.\n")


def test_colour_adds_nothing_but_colour(deploys: Deploys) -> None:
    plain = deploys.deploy("shop:1", "--dry-run").out
    coloured = deploys.deploy("shop:1", "--dry-run", "--color", "always").out
    assert plain == coloured.replace("\x1b[33m", "").replace("\x1b[0m", "")
    assert "\x1b[33m> shop/web (no container)\x1b[0m:" in coloured


# --- the way back --------------------------------------------------------------------------------------------------------


def test_a_rollback_deploys_what_was_before_and_then_the_other_again(deploys: Deploys) -> None:
    deploys.deploy("shop:1", "-e", "MODE=one", "--grace", "3")
    deploys.deploy("shop:2", "-e", "MODE=two", "--grace", "4", "-e", "MORE=1")
    said = deploys.rollback()
    assert (0, "") == (said.code, said.err)
    assert ("sha256:shop:1", 3) == deploys.serving()
    assert {"MODE": "two"} == deploys.environment()
    assert 64 == deploys.rollback().code
    assert 0 == deploys.rollback("-e", "MORE=2").code
    assert ("sha256:shop:2", 4) == deploys.serving()
    assert {"MODE": "two", "MORE": "2"} == deploys.environment()


def test_a_rollback_to_a_revision_and_its_dry_run(deploys: Deploys) -> None:
    for image in ("shop:1", "shop:2", "shop:1"):
        deploys.deploy(image, "-e", f"MODE={image}")
    dry = deploys.rollback("--to", "1", "--dry-run")
    assert (0, True) == (dry.code, "    image: shop:1\n" in dry.out)
    assert 0 == deploys.rollback("--to", "2").code
    assert ("sha256:shop:2", 4) == deploys.serving()


def test_a_name_that_means_another_image_by_now_is_not_followed(deploys: Deploys) -> None:
    deploys.deploy("shop:1")
    deploys.deploy("shop:2")
    first = deploys.shell.engine.images.find("shop:1")
    assert first is not None
    deploys.shell.engine.images.add("kept:1", first)
    deploys.image("shop:1", Behaviour(exits_after_s=0.0))
    other = deploys.shell.engine.images.find("shop:2")
    assert other is not None
    deploys.shell.engine.images.add("shop:1", other)
    assert 0 == deploys.rollback().code
    assert ("sha256:shop:1", 3) == deploys.serving()


def test_without_its_image_there_is_no_way_back(deploys: Deploys) -> None:
    deploys.deploy("shop:1")
    deploys.deploy("shop:2")
    deploys.shell.engine.images.drop("shop:1")
    said = deploys.rollback()
    assert (1, "") == (said.code, said.out)
    assert (
        "the image of revision 1 of shop/web (shop:1, sha256:shop:1) is not there any more; fetch or build it again" in said.err
    )


def test_without_anything_before_there_is_no_way_back(deploys: Deploys) -> None:
    deploys.deploy("shop:1")
    assert (1, True) == (deploys.rollback().code, "nothing is on record" in deploys.rollback().err)


def test_without_a_service_there_is_nothing_to_go_back_from(deploys: Deploys) -> None:
    deploys.deploy("work:1", service="worker")
    said = deploys.rollback()
    assert (64, True) == (said.code, "ACTIVE names no container for shop/web, so there is nothing to go back from" in said.err)


# --- signals -------------------------------------------------------------------------------------------------------------


def _once_it_waits(number: signal.Signals) -> threading.Thread:
    """Send a signal to this process once the thread of the deploy is there: from then on its caller catches it."""

    def send() -> None:
        until_s = time.monotonic() + 30.0
        while not any(each.name == "deploy shop/web" for each in threading.enumerate()) and time.monotonic() < until_s:
            time.sleep(0.01)
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=send)
    thread.start()
    return thread


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_it_waits_for_another_deploy_changes_nothing(deploys: Deploys, number: signal.Signals) -> None:
    deploys.deploy("shop:1")
    ports = deploys.shell.ports()
    with ports.locks.wait_app("shop", 0):
        sender = _once_it_waits(number)
        said = deploys.deploy("shop:2")
        sender.join()
    ports.store.close()
    assert (130, "") == (said.code, said.out)
    assert said.err.startswith("interrupted: the deploy of shop/web was cancelled")
    assert said.err.endswith("; nothing was changed\n")
    assert ("sha256:shop:1", 1) == deploys.serving()


@pytest.fixture
def cancelled(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Return what is set once a deploy was cancelled."""
    event = threading.Event()

    def outlive(work: Callable[[], Verdict], cancel: Callable[[str], None], name: str) -> Verdict:
        def cancel_and_tell(reason: str) -> None:
            cancel(reason)
            event.set()

        return detached.outlive(work, cancel_and_tell, name)

    monkeypatch.setattr(deployer, "outlive", outlive)
    return event


class _Signalling(MemoryClock):
    """Time in which somebody sends SIGTERM to this process in the first sleep after something holds, and the deploy is told."""

    def __init__(self, holds: Callable[[], bool], told: threading.Event) -> None:
        super().__init__()
        self._holds, self._told = holds, told

    def sleep(self, seconds: float) -> None:
        if not self._told.is_set() and self._holds():
            os.kill(os.getpid(), signal.SIGTERM)
            assert self._told.wait(60.0)
        super().sleep(seconds)


def test_a_signal_before_the_switch_cancels_it_and_what_it_made_is_gone(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], cancelled: threading.Event
) -> None:
    interrupted = prepared(Shell(tmp_path / "state.db", capfdbinary, _Signalling(lambda: True, cancelled)))
    said = interrupted.deploy("work:1")
    assert (130, "") == (said.code, said.err)
    assert said.out.startswith("shop/web: the deploy failed, since it was cancelled: its caller was sent SIGTERM\n")
    assert [] == interrupted.names()
    assert 0 == interrupted.deploy("work:1").code


def test_a_signal_after_the_switch_leaves_it_serving(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], cancelled: threading.Event
) -> None:
    router = MemoryRouter()
    clock = _Signalling(lambda: bool(router.read().by_service), cancelled)
    interrupted = prepared(Shell(tmp_path / "state.db", capfdbinary, clock, router=router))
    said = interrupted.deploy("shop:1")
    expected = (
        "shop/web: interrupted, when container c00000000001, revision 1, routed to 80/tcp at 32768, served already; "
        "the next pass of recovery does the rest\n"
    )
    assert (130, expected, "") == tuple(said)
    assert 0 == interrupted.shell.run("once").code
