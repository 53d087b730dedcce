"""The waits of a deploy: what they see, what they conclude, and that they end."""

import time
from collections.abc import Callable

import pytest

from gordon_core.effects import Done, Fault, Refused, Unknown
from gordon_core.observation import Status
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.vigil import POLL_S, Vigil
from tests.hosts import HTTP, Host

WEB = "web-1"


class Post:
    """A vigil over one container that runs."""

    def __init__(self, behaviour: Behaviour | None = None) -> None:
        self.host = Host()
        self.host.engine.add(Simulated(WEB, "web", ((HTTP, 0),), behaviour=behaviour or Behaviour()))
        self.host.engine.start(WEB)
        self.started_at = self.host.container(WEB).started_at
        self.cancelled = ""
        self.vigil = Vigil(self.host.ports.engine, self.host.clock, lambda: self.cancelled)
        self.begun_s = self.host.clock.now().boot_s

    def passed_s(self) -> float:
        return round(self.host.clock.now().boot_s - self.begun_s, 3)

    def later(self, looks: int, deed: Callable[[], object]) -> None:
        """Do something right before the look of that number."""
        seen: list[bool] = []

        def count() -> None:
            seen.append(True)
            if len(seen) == looks:
                deed()

        self.host.calls.before("engine.inspect", count)


@pytest.fixture
def post() -> Post:
    return Post()


def test_an_execution_that_runs_on_is_seen_to_the_end_and_once_more(post: Post) -> None:
    assert Done() == post.vigil.runs_on(WEB, post.started_at, 2.0)
    assert 2.0 == post.passed_s()
    assert 11 == len(post.host.calls.of("engine.inspect"))


def test_no_time_is_one_look(post: Post) -> None:
    assert Done() == post.vigil.runs_on(WEB, post.started_at, 0.0)
    assert (0.0, 1) == (post.passed_s(), len(post.host.calls.made))


def test_an_execution_that_ends_is_seen_within_a_spell() -> None:
    post = Post(Behaviour(exits_after_s=0.5, exit_code=4))
    assert Refused("it ended with exit code 4", Fault.WORKLOAD) == post.vigil.runs_on(WEB, post.started_at, 2.0)
    assert 0.5 <= post.passed_s() <= 0.5 + POLL_S


def test_another_execution_is_the_end_of_this_one(post: Post) -> None:
    post.later(3, lambda: post.host.engine.restart(WEB, 1.0))
    assert Refused("it ended, and was started again", Fault.WORKLOAD) == post.vigil.runs_on(WEB, post.started_at, 2.0)


def test_what_is_gone_has_ended_and_does_not_come_back(post: Post) -> None:
    post.host.engine.delete(WEB)
    assert Refused("it is gone", Fault.WORKLOAD) == post.vigil.runs_on(WEB, post.started_at, 2.0)
    assert Refused("it is gone", Fault.WORKLOAD) == post.vigil.until_it_runs(WEB, 2.0)
    assert 0.0 == post.passed_s()


def test_silence_in_between_is_no_evidence_and_at_the_end_no_answer(post: Post) -> None:
    post.later(3, lambda: post.host.engine.unreachable("it hangs"))
    post.later(5, lambda: post.host.engine.unreachable(""))
    assert Done() == post.vigil.runs_on(WEB, post.started_at, 2.0)
    post.host.engine.unreachable("it hangs")
    assert Unknown("the engine did not say whether it runs") == post.vigil.runs_on(WEB, post.started_at, 2.0)
    assert Unknown("the engine did not say whether it runs") == post.vigil.until_it_runs(WEB, 2.0)


def test_a_paused_container_has_not_ended_and_does_not_run(post: Post) -> None:
    post.host.engine.pause(WEB)
    assert isinstance(post.vigil.runs_on(WEB, post.started_at, 1.0), Unknown)


def test_one_that_fell_is_waited_for_until_it_runs_again(post: Post) -> None:
    post.host.engine.set_status(WEB, Status.RESTARTING)
    post.later(6, lambda: post.host.engine.set_status(WEB, Status.RUNNING))
    assert Done() == post.vigil.until_it_runs(WEB, 30.0)
    assert 1.0 == post.passed_s()


def test_one_that_does_not_run_again_is_told_with_its_end(post: Post) -> None:
    post.host.engine.kill(WEB, 137)
    assert Refused("it ended with exit code 137", Fault.WORKLOAD) == post.vigil.until_it_runs(WEB, 30.0)
    assert 30.0 == post.passed_s()


def test_every_wait_ends_when_the_deploy_is_to_end(post: Post) -> None:
    def cancel() -> None:
        post.cancelled = "enough"

    post.later(3, cancel)
    assert Unknown("enough") == post.vigil.runs_on(WEB, post.started_at, 30.0)
    assert 0.4 == post.passed_s()
    post.host.engine.kill(WEB)
    assert Unknown("enough") == post.vigil.until_it_runs(WEB, 30.0)
    post.vigil.pause(30.0)
    assert 0.4 == post.passed_s()


def test_a_pause_passes(post: Post) -> None:
    post.vigil.pause(1.5)
    assert 1.5 == post.passed_s()


def test_a_clock_that_was_woken_for_good_makes_no_wait_endless_nor_busy(post: Post) -> None:
    post.host.clock.wake()
    begun_s = time.monotonic()
    assert Done() == post.vigil.runs_on(WEB, post.started_at, 0.4)
    assert time.monotonic() - begun_s >= 0.4
    assert 3 == len(post.host.calls.made)
