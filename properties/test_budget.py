"""B1 to B7, each a named test: judged in every world of the fleet, and each seen in a world in which nothing else happens."""

from itertools import pairwise

import pytest

from gordon_core.effects import Fault
from gordon_core.memory import Memory
from gordon_core.snapshot import Declared
from properties.boxes import Mood, Nature
from properties.faults import Weather
from properties.fleet import Fleet
from properties.voyage import Course, Voyage, course, failure_of

WEB = ("shop", "web")
LADDER_S = (60.0, 120.0, 240.0, 480.0, 900.0, 900.0, 900.0)


def alone(nature: Nature, seed: int = 5) -> Voyage:
    """Return a still world with one service of that nature, which does not restart itself."""
    voyage = Voyage(Course(seed, weather=Weather(0.0, 0.0), has_second=False, services=()))
    box = voyage.tool.adopt(WEB, voyage.chance, nature)
    box.restarts_itself = False
    return voyage


def memory(voyage: Voyage) -> Memory:
    """Return what is remembered of the service."""
    stored = voyage.world.disk.read_service(*WEB)
    assert stored is not None
    return stored.memory


def starts_at(voyage: Voyage, passes: int, cadence_s: float) -> list[float]:
    """Run passes, and return when the container was started in them."""
    found = []
    for _pass in range(passes):
        before = voyage.world.boxes["web-1"].starts
        voyage.rough_pass()
        found += [voyage.world.at_s] * (voyage.world.boxes["web-1"].starts - before)
        voyage.world.pass_time(cadence_s)
    return found


@pytest.mark.parametrize("lives_s", [0.001, 0.2, 4.0, 40.0, 290.0])
def test_b1_three_at_once_then_the_ladder_for_ever(lives_s: float) -> None:
    """B1 With a workload that dies after every start, however long it lives short of five minutes, and whoever else restarts it:
    recovery starts it at once three times (one a pass), then no sooner than 1, 2, 4, 8, 15, 15, ... minutes after the charge
    before. Here: seen to be exact, up to one cadence."""
    voyage = Voyage(Course(5, weather=Weather(0.0, 0.0), has_second=False, services=()))
    voyage.world.create("web-1", Nature.LOOPER).lives_s = lives_s
    voyage.world.disk.activate(*WEB, Declared("web-1", 1), 0, None)
    found = starts_at(voyage, 1800, 5.0)
    gaps = [later - sooner - lives_s for sooner, later in pairwise(found)][:9]
    assert [True, True] == [each < 10.0 for each in gaps[:2]]
    assert [True] * 7 == [ladder_s - 0.1 <= gap_s <= ladder_s + 10.0 for gap_s, ladder_s in zip(gaps[2:], LADDER_S, strict=True)]


def test_b1_whoever_restarts_it(fleet: Fleet) -> None:
    """B1, in every world."""
    fleet.demand("B1", 200)


def test_b2_no_attempt_before_its_time(fleet: Fleet) -> None:
    """B2 No attempt before the time on record."""
    fleet.demand("B2", 100)


def test_b3_charged_once(fleet: Fleet) -> None:
    """B3 One execution is charged at most once, one probe result is a strike at most once; looking more often never charges
    more."""
    fleet.demand("B3", 1_000)


def test_b3_looking_more_often_charges_no_more() -> None:
    """B3: the same crash, looked at every half second or every half minute."""
    found = []
    for cadence_s in (0.5, 30.0):
        voyage = alone(Nature.UNREADY)
        starts_at(voyage, int(600 / cadence_s), cadence_s)
        found.append(memory(voyage).failures)
    assert found[0] == found[1]


def test_b4_history_goes_after_five_stable_minutes(fleet: Fleet) -> None:
    """B4 History is dropped only after five continuous stable minutes of one execution, by the operator, or when the generation
    goes."""
    fleet.demand("B4", 5)


def test_b4_no_window_across_executions() -> None:
    """B4 and finding R3: the engine restarts the container once a minute, and every look sees it running: nothing is dropped."""
    voyage = alone(Nature.KIND)
    voyage.world.pass_time(20.0)
    voyage.rough_pass()
    voyage.world.die("web-1")
    voyage.rough_pass()
    for _minute in range(30):
        voyage.world.pass_time(55.0)
        voyage.rough_pass()
        voyage.world.pass_time(5.0)
        voyage.world.die("web-1", 1)
        voyage.world.start("web-1")
        voyage.rough_pass()
    assert memory(voyage).has_history()


def test_b5_no_trouble_no_history(fleet: Fleet) -> None:
    """B5 A generation without trouble has no history."""
    fleet.demand("B5", 1_000)


@pytest.mark.parametrize("seed", range(0, 60, 5))
def test_b6_the_wall_clock_changes_nothing(seed: int) -> None:
    """B6 Steps of the wall clock, in either direction, change no decision; waiting never exceeds the ladder's top."""
    told = []
    for hours in (0, 0, 30, -30):
        voyage = Voyage(course(seed, 12))
        voyage.world.wall_off_s += hours * 3600.0
        failure_of(voyage)
        told.append(voyage.world.story.last(100_000))
    assert told[0] == told[1] == told[2] == told[3]


def test_b7_only_its_own_failures_are_charged(fleet: Fleet) -> None:
    """B7 Faults of the daemon, the store or the proxy charge nothing. (That a restart of the daemon ends containers is an end
    like another: it charges a pending attempt and nothing else).
    """
    fleet.demand("B7", 100)


@pytest.mark.parametrize("fault", [Fault.ENGINE, Fault.CONFLICT])
def test_b7_a_refusal_that_is_not_the_workloads_charges_nothing(fault: Fault) -> None:
    """B7: an engine that cannot start anything."""
    voyage = alone(Nature.KIND)
    voyage.world.die("web-1")
    voyage.world.refuses = fault
    for _pass in range(10):
        voyage.rough_pass()
        voyage.world.pass_time(15.0)
    assert 0 == memory(voyage).failures
    voyage.world.refuses = None
    voyage.rough_pass()
    assert voyage.world.boxes["web-1"].is_alive


def test_a_mood_lasts_for_one_execution() -> None:
    """The world itself: what was drawn for one execution is not the next one's."""
    voyage = alone(Nature.FLAKY)
    box = voyage.world.boxes["web-1"]
    moods = set()
    for _start in range(20):
        voyage.world.stop("web-1", 10.0)
        voyage.world.start("web-1")
        moods.add(box.mood)
    assert len(moods) > 3
    assert Mood(answers_after_s=0.0) in moods
