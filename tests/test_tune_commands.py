"""`gordon-shell hold`, `release` and `tune`: what they do, and what they say."""

import json

import pytest

from gordon_core.grants import Overrides
from gordon_core.policy import WhenUnhealthy
from gordon_shell.memory.container import Behaviour
from tests.shell_worlds import HTTP, Shell


@pytest.fixture
def web(shell: Shell) -> str:
    """Return the ID of the container of an adopted service shop/web, which serves."""
    container_id = shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    shell.run("once")
    return container_id


def test_a_held_service_is_not_started_until_its_hold_is_over(shell: Shell, web: str) -> None:
    said = shell.run("hold", "shop/web", "--until", "+10m", "--reason", "migration", "--who", "alice")
    assert (0, "") == (said.code, said.err)
    held = "shop/web: held until 00:10:00Z by alice: migration"
    assert f"{held}; to end that: gordon-shell release shop/web\n" == said.out
    shell.engine.kill(web)
    said = shell.run("once")
    assert 0 == said.code
    assert "1 on hold" in said.out
    assert "down" not in said.out
    assert () == shell.router.read().by_service.get(("shop", "web"), ())
    status = shell.run("status").out
    assert "held until 00:10:00Z by alice: migration" in status
    assert "gordon-shell release shop/web" in status
    shell.clock.advance(601.0)
    assert 0 == shell.run("once").code
    assert "running" in shell.run("status").out


def test_a_released_service_is_looked_after_at_once(shell: Shell, web: str) -> None:
    shell.run("hold", "shop", "--until", "+10m", "--reason", "migration", "--who", "alice")
    shell.engine.kill(web)
    shell.run("once")
    said = shell.run("release", "shop")
    assert (
        "shop/web: released (it was held by alice: migration); the next pass looks after it; now: gordon-shell once\n" == said.out
    )
    assert "shop/web: was not held; nothing changed\n" == shell.run("release", "shop/web").out
    shell.run("once")
    assert ("shop", "web") in shell.router.read().by_service


@pytest.mark.usefixtures("web")
def test_who_holds_it_is_who_logged_in(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_USER", "carol")
    assert "by carol: why" in shell.run("hold", "shop/web", "--until", "+1h", "--reason", "why").out
    monkeypatch.delenv("SUDO_USER")
    monkeypatch.setenv("LOGNAME", "dave")
    assert "by dave: why" in shell.run("hold", "shop/web", "--until", "+1h", "--reason", "why").out
    stored = shell.stored()
    assert stored is not None
    assert stored.hold is not None
    assert "dave" == stored.hold.who


@pytest.mark.usefixtures("web")
def test_a_deploy_of_a_held_service_is_refused(shell: Shell) -> None:
    shell.run("hold", "shop/web", "--until", "+10m", "--reason", "migration", "--who", "alice")
    said = shell.run("deploy", "shop", "web", "shop:2")
    assert 1 == said.code
    assert "somebody wants the service left as it is" in said.out + said.err
    assert "by alice: migration" in said.out + said.err


@pytest.mark.usefixtures("web")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("hold", "shop/web", "--until", "soon", "--reason", "x"), "--until must be a duration"),
        (("hold", "shop/api", "--until", "+1h", "--reason", "x"), "app 'shop' has no service 'api'"),
        (("hold", "shop/web", "--until", "+1h"), "Missing option '--reason'"),
        (("release", "lab"), "there is no app 'lab'"),
        (("tune", "shop"), "'shop' names no service; write APP/SERVICE"),
        (("tune", "shop/web", "free_failures"), "'free_failures' sets nothing; write KEY=VALUE"),
        (("tune", "shop/web", "free_failures=0"), "free_failures must be a whole number from 1 to 1000000; nothing was changed"),
        (("tune", "shop/web", "patience=9"), "patience is not known; known are free_failures, "),
        (("tune", "shop/web", "--unset", "patience"), "--unset patience is not known; known are free_failures, "),
        (("tune", "shop/web", "readiness_s=9", "--unset", "readiness_s"), "readiness_s is both set and unset"),
        (("tune", "shop/api"), "app 'shop' has no service 'api'"),
    ],
)
def test_what_cannot_be_done_is_said(shell: Shell, words: tuple[str, ...], expected: str) -> None:
    said = shell.run(*words)
    assert (64, "") == (said.code, said.out)
    assert expected in said.err


def test_constants_are_set_told_and_unset(shell: Shell) -> None:
    shell.container("web-1", HTTP, labels=(("gordon.recovery.readiness_s", "9"), ("gordon.recovery.x", "1")))
    shell.adopted(web="web-1")
    said = shell.run("tune", "shop/web", "free_failures=5", "ladder_s=60,120", "unhealthy=withdraw")
    assert (0, "") == (said.code, said.err)
    assert [
        "shop/web: free_failures = 5, by gordon-shell tune",
        "shop/web: ladder_s = 60, 120, by gordon-shell tune",
        "shop/web: stable_window_s = 300, by default",
        "shop/web: longest_gap_s = 180, by default",
        "shop/web: unhealthy_threshold = 2, by default",
        "shop/web: readiness_s = 9, by label gordon.recovery.readiness_s",
        "shop/web: shortest_deadline_s = 120, by default",
        "shop/web: exit_0_is_done = false, by default",
        "shop/web: unhealthy = withdraw, by gordon-shell tune",
    ] == said.out.splitlines()[:9]
    assert "policy label gordon.recovery.x=1 is not understood" in said.out.splitlines()[9]
    stored = shell.stored()
    assert stored is not None
    assert Overrides(5, (60.0, 120.0), unhealthy=WhenUnhealthy.WITHDRAW) == stored.tuning
    said = shell.run("tune", "shop/web", "--unset", "free_failures", "--unset", "unhealthy", "ladder_s=30")
    assert ["shop/web: free_failures = 3, by default", "shop/web: ladder_s = 30, by gordon-shell tune"] == said.out.splitlines()[
        :2
    ]
    assert said.out == shell.run("tune", "shop/web").out


def test_a_status_is_one_short_line_and_its_document_tells_what_set_a_constant(shell: Shell) -> None:
    """A line of a terminal has no room for what a plan tells in notes; a label that is not understood is in it all the same."""
    shell.container("web-1", HTTP, labels=(("gordon.recovery.x", "1"),))
    shell.adopted(web="web-1")
    shell.run("tune", "shop/web", "free_failures=5")
    said = shell.run("status").out
    assert "free_failures" not in said
    assert "gordon.recovery.x=1 is not understood" in said
    (service,) = json.loads(shell.run("status", "--format", "json").out)["services"]
    assert ["free_failures = 5, by gordon-shell tune"] == service["policy"]


def test_what_is_done_is_left_and_started_again_by_retry_and_by_stop_and_start(shell: Shell) -> None:
    job = shell.container("job-1", behaviour=Behaviour(exits_after_s=1.0, exit_code=0), running=False)
    shell.adopted(job="job-1")
    shell.run("tune", "shop/job", "exit_0_is_done=true")

    def starts() -> int:
        """Run a few passes, and say how often it was started in them."""
        before = shell.engine.inspect(job)
        count = 0
        for _ in range(4):
            said = shell.run("once")
            assert 0 == said.code, said.out
            now = shell.engine.inspect(job)
            count += now.container.started_at != before.container.started_at  # type: ignore[union-attr]  # it is not gone
            before = now
            shell.clock.advance(60.0)
        return count

    assert 1 == starts()
    assert "done: it ended by itself with exit code 0, and is not started again" in shell.run("status").out
    assert 0 == starts()
    assert "what is done is started again by the next pass" in shell.run("retry", "shop/job").out
    assert 1 == starts()
    shell.run("stop", "shop", "--now")
    shell.run("start", "shop")
    assert 1 == starts()
    assert 0 == starts()
