"""A short day: the same as `make day`, with five services and one hour."""

import pytest

from properties.day import Day, day
from properties.faults import Fate


@pytest.fixture(scope="module")
def lived() -> Day:
    """Live through one; a violation ends the tests of this module."""
    short = day(5, 2)
    short.live(1)
    return short


def test_an_hour_with_every_kind_of_fault_keeps_the_invariants(lived: Day) -> None:
    """At least five kinds of faults of calls and fifteen of mischief fell, and the main invariants were judged."""
    drawn = lived.voyage.dice.drawn
    assert 240 <= lived.voyage.passes
    assert 3600.0 <= lived.voyage.world.at_s
    assert 5 <= sum(1 for each in Fate.__members__ if drawn[each])
    assert 15 <= sum(1 for each in drawn if each not in Fate.__members__)
    assert [] == [
        each for each in ("P1", "P2", "P3", "P6", "B1", "B3", "L2", "L5", "targeted") if not lived.voyage.court.judged[each]
    ]


def test_who_served_adds_up(lived: Day) -> None:
    """Some were able to serve, and some of those were dark for a while."""
    assert 0 < lived.dark_s < lived.able_s < lived.wanted_s


def test_it_is_summed_up_in_words(lived: Day) -> None:
    """Passes, starts, notices and dark time are in the summary."""
    told = "\n".join(lived.summary())
    assert f"passes: {lived.voyage.passes:,}," in told
    assert f"starts: {lived.tally.effects['Start']:,} and" in told
    assert f"notices: {sum(lived.tally.notices.values()):,} (" in told
    assert "dark though it could have served" in told


def test_what_the_program_holds_is_counted_without_the_world_around_it(lived: Day) -> None:
    """Some dozens of objects a service, not the thousands of the story and the judges."""
    assert 100 < max(lived.held) < 5 * 1000


def test_the_same_seed_is_the_same_day() -> None:
    """Both stories have the same lines."""
    stories = []
    for _ in range(2):
        again = day(3, 4)
        again.live(1)
        stories.append([str(each) for each in again.voyage.world.story.lines])
    assert stories[0] == stories[1]
