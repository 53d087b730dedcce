"""D2, of what the journal holds: every record of a run in which everything goes wrong replays to the same bytes.

The runs are recorded as a real process records them, into a real file, and read back; what was decided is kept beside, in memory.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from attrs import define, field
from hypothesis import given

from gordon_core.document import read_plan, write_plan
from gordon_core.effects import Effect, Outcome, Result
from gordon_core.looks import Looked, extract, look
from gordon_core.observation import Clock
from gordon_core.planner import Decision, Plan, plan
from gordon_core.sentences import line, record
from gordon_core.snapshot import Snapshot, Subject
from gordon_shell.journal import Kind, Record
from gordon_shell.recorder import Recorder
from gordon_shell.report import Report
from gordon_shell.scribe import Scribe
from gordon_shell.sqlite_journal import SqliteJournal
from gordon_shell.witness import Witness, Witnesses
from properties.conftest import PROFILE
from properties.reachable import any_snapshots
from properties.voyage import Voyage, course, failure_of

MANY = {"dev": 20, "ci": 40, "nightly": 400}[PROFILE]
_SAID = ("a line",)


class _Output:
    """Says a line, whatever happens in the world."""

    def logs(self, container_id: str, lines: int, until_s: float | None = None) -> tuple[str, ...]:
        del container_id, until_s
        return _SAID[:lines]


@define
class _Memory:
    """A witness that keeps what was decided as it was, with what came of it, and each plan."""

    steps: list[tuple[Snapshot, Decision, Outcome, Subject]] = field(factory=list)
    plans: list[Plan] = field(factory=list)

    def planned(self, plan: Plan, *, is_whole: bool) -> None:
        del is_whole
        self.plans.append(plan)

    def stepped(self, decided: Snapshot, decision: Decision, outcome: Outcome, after: Subject) -> None:
        self.steps.append((decided, decision, outcome, after))

    def left(self, plan: Plan) -> None:
        self.plans.append(plan)

    def ended(self, report: Report) -> None:
        del report


class _Time:
    """The clock of the world, once there is one."""

    voyage: Voyage

    def now(self) -> Clock:
        return self.voyage.world.clock()


def recorded(seed: int, path: Path) -> tuple[_Memory, list[Record]]:
    """Sail a seed, and return what was decided, and what is on record of it."""
    memory, complaints, time = _Memory(), list[str](), _Time()
    with closing(SqliteJournal(path)) as journal:
        recorder = Recorder(Scribe(journal, _Output(), complaints.append), time.now)
        witness: Witness = Witnesses(memory, recorder)
        time.voyage = Voyage(course(seed), witness=witness)
        assert failure_of(time.voyage) is None
        recorder.close()
        assert [] == complaints
        return memory, list(journal.records())


def replayed(snapshot: Snapshot) -> str:
    """Return the plan of a snapshot, as it is recorded."""
    return write_plan(record(plan(snapshot)))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[_Memory, list[Record]]]:
    """Return the runs of this module, each sailed once."""
    room = tmp_path_factory.mktemp("runs")
    return [recorded(seed, room / f"{seed}.db") for seed in range(MANY)]


def _steps(run: tuple[_Memory, list[Record]]) -> Iterator[tuple[tuple[Snapshot, Decision, Outcome, Subject], Record]]:
    memory, records = run
    return zip(memory.steps, [each for each in records if each.kind is Kind.STEP], strict=True)


def test_d2_every_record_replays_to_the_same_bytes(runs: list[tuple[_Memory, list[Record]]]) -> None:
    """D2 What is read back from the journal is planned to exactly the text that was recorded."""
    for _, records in runs:
        for each in records:
            assert each.plan == replayed(each.snapshot)


def test_d2_a_step_on_record_is_what_was_decided(runs: list[tuple[_Memory, list[Record]]]) -> None:
    """Snapshot, effect, outcome and what came of it are read back equal; the plan on record calls for that effect."""
    for run in runs:
        for (decided, decision, outcome, after), found in _steps(run):
            assert decision.effect is not None
            assert found.step is not None
            assert (decided, Result(decision.effect, outcome)) == (found.snapshot, found.step.result)
            assert (after, after.name) == (found.step.after, f"{found.step.app}/{found.step.service}")
            called_for = [each for each in plan(found.snapshot).decisions if each.effect == decision.effect]
            assert [line(decision, decided.clock)] == [line(each, decided.clock) for each in called_for]


def test_d2_the_decisions_on_record_are_those_of_the_looks(runs: list[tuple[_Memory, list[Record]]]) -> None:
    """Of a look only what is new is recorded, and that is decided as it was among all."""
    for memory, records in runs:
        clocks = {each.clock: each for each in memory.plans}
        looks = [each for each in records if each.kind is Kind.LOOK]
        assert looks
        assert looks[0].is_whole
        for each in looks:
            whole = clocks[each.clock]
            expected = [line(one, whole.clock) for one in whole.decisions if one.subject in each.snapshot.subjects]
            assert expected == list(read_plan(each.plan).lines)


def test_d2_whoever_follows_the_record_knows_what_was_decided_last(runs: list[tuple[_Memory, list[Record]]]) -> None:
    """The newest look in which a service is, with what was decided of it, is as good as the last look at all of them."""
    for memory, records in runs:
        latest: dict[str, tuple[str, Effect | None]] = {}
        for each in records:
            if each.kind is Kind.LOOK:
                latest |= {one.subject.name: _decided(one) for one in plan(each.snapshot).services}
        last = {each.subject.name: _decided(each) for each in memory.plans[-1].services}
        assert last == {name: latest[name] for name in last}


def _decided(decision: Decision) -> tuple[str, Effect | None]:
    return decision.situation.name, decision.effect


@given(any_snapshots())
def test_an_extract_is_decided_as_the_whole(snapshot: Snapshot) -> None:
    """For each service alone, whatever clashes with whatever."""
    now = plan(snapshot)
    for each in now.services:
        found = extract(now, each)
        again = plan(found)
        names = {one.name for one in found.subjects}
        expected = [line(one, now.clock) for one in now.decisions if one.subject.name in names]
        assert expected == [line(one, now.clock) for one in again.decisions]
        assert all(one.clash is None for one in found.subjects)


@given(any_snapshots())
def test_the_same_look_twice_is_news_once(snapshot: Snapshot) -> None:
    """Also if every object is made anew."""
    looked, news = look(Looked(), plan(snapshot), is_whole=True)
    again = Snapshot(snapshot.clock, snapshot.subjects)
    assert news is not None
    assert snapshot == news.snapshot
    assert look(looked, plan(again), is_whole=True)[1] is None
