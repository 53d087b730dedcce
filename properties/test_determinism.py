"""D1 to D4, each a named test. That plans are the same byte for byte on every machine (D2) is shown on golden documents too."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from gordon_core.document import read_snapshot, write_plan, write_snapshot
from gordon_core.forecast import MOST_STEPS, forecast
from gordon_core.planner import plan
from gordon_core.sentences import record
from gordon_core.situations import Situation
from gordon_core.snapshot import Snapshot
from properties.reachable import any_snapshots, situations_drawn


@given(any_snapshots(), st.integers(0, 1000))
def test_d1_the_planner_is_a_function(snapshot: Snapshot, order: int) -> None:
    """D1 The planner is a function: equal snapshots, equal plans; the order of services in a snapshot does not matter."""
    shuffled = Random(order).sample(snapshot.subjects, len(snapshot.subjects))
    again = Snapshot(read_snapshot(write_snapshot(snapshot)).clock, shuffled)
    assert write_plan(record(plan(snapshot))) == write_plan(record(plan(again)))


@given(any_snapshots())
def test_d2_a_recorded_snapshot_gives_the_recorded_plan(snapshot: Snapshot) -> None:
    """D2 A plan replayed from a recorded snapshot is the recorded plan, byte for byte, on any machine and Python version."""
    assert write_plan(record(plan(snapshot))) == write_plan(record(plan(read_snapshot(write_snapshot(snapshot)))))


def test_d3_every_situation_is_reached() -> None:
    """D3 Every situation has a reachable example; every snapshot that the types allow gets an answer."""
    assert set() == set(Situation) - situations_drawn(10_000).keys()


@given(any_snapshots())
def test_d3_every_snapshot_gets_an_answer(snapshot: Snapshot) -> None:
    """D3, of any snapshot: one decision for each service, and one for each superseded container and candidate."""
    found = plan(snapshot)
    assert [each.name for each in snapshot.subjects] == [each.subject.name for each in found.services]
    assert sum(len(each.superseded) + len(each.candidates) for each in snapshot.subjects) == len(found.superseded)


@given(any_snapshots())
def test_d4_the_forecast_is_finite(snapshot: Snapshot) -> None:
    """D4 The forecast of every snapshot is finite."""
    found = forecast(snapshot)
    assert 1 <= len(found) <= MOST_STEPS
    assert found[-1].is_quiet
