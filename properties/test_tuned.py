"""T1 to T3, each a named test: judged in every world of the fleet that is tuned, and each seen in a world of its own."""

from gordon_core.grants import Overrides
from gordon_core.observation import Status
from gordon_core.policy import WhenUnhealthy
from gordon_core.snapshot import Declared, Intent
from properties.boxes import Mood, Nature
from properties.deploys import HTTP
from properties.faults import Weather
from properties.fleet import Fleet
from properties.voyage import Course, Voyage

WEB = ("shop", "web")


def alone(*, has_check: bool = False) -> Voyage:
    """Return a still world with one service that is to be routed, and is well."""
    voyage = Voyage(Course(5, weather=Weather(0.0, 0.0), has_second=False, services=()))
    voyage.world.create("web-1", Nature.KIND, ((HTTP, 0),)).has_check = has_check
    voyage.world.start("web-1")
    voyage.world.disk.activate(*WEB, Declared("web-1", 1, (HTTP,)), 0, None)
    voyage.rough_pass()
    return voyage


def after(voyage: Voyage, seconds: float) -> tuple[Status, int, bool]:
    """Let time pass, run a pass, and return the status of the container, how often it was started, and whether it is routed."""
    voyage.world.pass_time(seconds)
    voyage.rough_pass()
    box = voyage.world.boxes["web-1"]
    return box.status, box.starts, WEB in voyage.world.routes


def test_t1_what_is_on_hold_is_left_as_it_is(fleet: Fleet) -> None:
    """T1 While somebody holds a service, none of its containers is started, restarted, stopped or removed."""
    fleet.demand("T1", 100)


def test_t1_until_the_end_of_the_hold_and_whatever_is_wanted() -> None:
    """T1: neither started nor stopped; what is down is withdrawn at once, and started when the hold is over."""
    voyage = alone()
    assert (Status.RUNNING, 1, True) == after(voyage, 15.0)
    voyage.tool.hold(WEB, 300.0)
    voyage.tool.intend("shop", Intent.STOPPED)
    assert (Status.RUNNING, 1, False) == after(voyage, 15.0)
    voyage.tool.intend("shop", Intent.RUNNING)
    assert (Status.RUNNING, 1, True) == after(voyage, 15.0)
    voyage.world.die("web-1")
    assert (Status.EXITED, 1, False) == after(voyage, 200.0)
    assert (Status.RUNNING, 2, True) == after(voyage, 100.0)


def test_t2_what_is_done_is_left_alone(fleet: Fleet) -> None:
    """T2 What is done is neither started again nor charged."""
    fleet.demand("T2", 100)


def test_t2_until_it_is_wanted_again() -> None:
    """T2: withdrawn, and left; started once more after the operator said so, or stopped and started its app."""
    voyage = alone()
    voyage.tool.tuned = True  # its operator's `retry` wants it to run again
    voyage.tool.tune(WEB, Overrides(exit_0_is_done=True))
    voyage.world.die("web-1", 0)
    assert (Status.EXITED, 1, False) == after(voyage, 15.0)
    assert (Status.EXITED, 1, False) == after(voyage, 900.0)
    voyage.tool.retry(WEB)
    assert (Status.RUNNING, 2, True) == after(voyage, 15.0)
    voyage.world.die("web-1", 0)
    assert (Status.EXITED, 2, False) == after(voyage, 15.0)
    voyage.tool.intend("shop", Intent.STOPPED)
    after(voyage, 15.0)
    voyage.tool.intend("shop", Intent.RUNNING)
    assert (Status.RUNNING, 3, True) == after(voyage, 15.0)
    voyage.world.die("web-1", 1)
    assert (Status.RUNNING, 4, True) == after(voyage, 15.0)


def test_t3_what_is_only_withdrawn_runs_on(fleet: Fleet) -> None:
    """T3 What is only to be withdrawn while unhealthy is not restarted for that, nor routed after a pass without faults."""
    fleet.demand("T3", 3)


def test_t3_and_comes_back_when_it_is_healthy() -> None:
    """T3: withdrawn at the threshold, left running, and published again after a probe."""
    voyage = alone(has_check=True)
    voyage.tool.tune(WEB, Overrides(unhealthy=WhenUnhealthy.WITHDRAW))
    box = voyage.world.boxes["web-1"]
    assert (Status.RUNNING, 1, True) == after(voyage, 30.0)
    box.mood = Mood(checks=(False,))
    for _ in range(4):
        after(voyage, 30.0)
    assert (Status.RUNNING, 1, False) == after(voyage, 30.0)
    box.mood = Mood()
    after(voyage, 30.0)
    assert (Status.RUNNING, 1, True) == after(voyage, 30.0)
