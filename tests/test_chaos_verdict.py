"""The verdict of `make chaos` over a journal: nothing against an honest one, and each invariant against one that was spoiled.

The journal is recorded in a simulated host that has a crash loop, a sick container, a successor, and five stable minutes.
"""

from collections.abc import Callable

import pytest
from attrs import evolve

from gordon_core.effects import (
    Done,
    DropHistory,
    Effect,
    Generation,
    PersistBinds,
    Publish,
    RecordFailure,
    Restart,
    Result,
    Retire,
    Start,
    Withdraw,
)
from gordon_core.memory import NOTHING, Window
from gordon_core.observation import Bind, Container, PortBinding, RouteSeen, RouteUnread, Status
from gordon_core.snapshot import Declared, Subject
from gordon_shell.crew import InlineCrew
from gordon_shell.journal import Record
from gordon_shell.memory.container import Behaviour
from gordon_shell.memory.journal import MemoryJournal
from gordon_shell.reconciler import Reconciler
from gordon_shell.recorder import Recorder
from gordon_shell.scribe import Scribe
from tests.chaos.course import Course
from tests.chaos.growth import SHORTEST_S, Sample, growth
from tests.chaos.judge import Deploying
from tests.chaos.liveness import Liveness
from tests.chaos.plans import Plans
from tests.chaos.verdict import Verdict, unexplained
from tests.hosts import HTTP, Host, no_policy

Spoil = Callable[[Record], Record]
SUPERSEDED = Deploying("web", 2490.0, 2520.0)


@pytest.fixture(scope="module")
def records() -> list[Record]:
    """Return what was recorded of an eventful hour."""
    host, journal, complaints = Host(), MemoryJournal(), list[str]()
    recorder = Recorder(Scribe(journal, host.engine, complaints.append), host.clock.now)
    reconciler = Reconciler(host.ports, no_policy, crew=InlineCrew(), witness=recorder)
    web = host.service("web")
    host.service("loop", behaviour=Behaviour(exits_after_s=1.0))
    ill = host.service("ill", behaviour=Behaviour(checks=(True,)))
    for each in range(240):
        match each:
            case 20:
                host.engine.kill(web)
            case 40:
                host.engine.behave(ill, Behaviour(checks=(False,), check_every_s=5.0))
            case 60:
                host.engine.behave(ill, Behaviour(checks=(True,)))
            case 100:
                host.supersede("web")
        host.clock.advance(15.0)
        reconciler.run_pass()
    recorder.close()
    assert [] == complaints
    return list(journal.records())


def test_an_honest_journal_keeps_every_invariant_and_each_is_judged(records: list[Record]) -> None:
    verdict = Verdict().over(records)
    assert [] == verdict.wrong
    everything = {"B1", "B2", "B3", "B4", "B7", "D1", "F2", "F3", "P1", "P2", "P3", "P4", "P5", "P6", "P7", "P10"}
    assert everything == set(verdict.judged)


def test_nor_is_there_anything_against_its_course_its_plans_and_how_long_things_take(records: list[Record]) -> None:
    course, plans = Course(deploys=(SUPERSEDED,)).over(records), Plans().over(records)
    liveness = Liveness().over(records)
    assert ([], [], []) == (course.wrong, plans.wrong, liveness.wrong)
    assert {"B5", "C2", "C3", "F1", "L5", "P8", "P9"} == set(course.judged)
    assert {"B6", "D2", "D3", "D4"} == set(plans.judged)
    assert {"L1", "L2", "L4", "L6"} == set(liveness.judged)


def test_history_that_no_charge_on_record_explains_is_found(records: list[Record]) -> None:
    """But for the spans of which records may be lost, and those in which that very service was deployed."""
    charges = [each for each in records if not _is(each, RecordFailure)]
    wrong = Verdict().over(charges).wrong
    assert {"B4"} == {each.partition(",")[0] for each in wrong}
    assert [] == Verdict(blind=((0.0, 1e9),)).over(charges).wrong
    names = {each.step.service for each in records if each.step is not None}
    assert [] == Verdict(deploys=tuple(Deploying(each, 0.0, 1e9) for each in names)).over(charges).wrong
    assert wrong == Verdict(deploys=(Deploying("another", 0.0, 1e9),)).over(charges).wrong


def _is(record: Record, *kinds: type[Effect]) -> bool:
    return record.step is not None and isinstance(record.step.result.effect, kinds)


def _subject(change: Callable[[Subject], Subject]) -> Spoil:
    """Return what changes the subject of a step."""

    def spoil(record: Record) -> Record:
        assert record.step is not None
        own = (record.step.app, record.step.service)
        subjects = [change(each) if (each.app, each.service) == own else each for each in record.snapshot.subjects]
        return evolve(record, snapshot=evolve(record.snapshot, subjects=subjects))

    return spoil


def _declared(subject: Subject) -> Declared:
    assert subject.declared is not None
    return subject.declared


def _rival(record: Record) -> Record:
    """Add another service whose route names the same port."""
    assert record.step is not None
    effect = record.step.result.effect
    assert isinstance(effect, Publish)
    other = Subject("shop", "other", record.snapshot.subjects[0].seen, route=RouteSeen(effect.binds))
    return evolve(record, snapshot=evolve(record.snapshot, subjects=[*record.snapshot.subjects, other]))


def _other_effect(record: Record) -> Record:
    assert record.step is not None
    other = Result(Withdraw(record.step.app, record.step.service), Done())
    return evolve(record, step=evolve(record.step, result=other))


def _too_early(record: Record) -> Record:
    return evolve(record, snapshot=evolve(record.snapshot, clock=evolve(record.clock, boot_s=1.0)))


def _fresh_window(record: Record) -> Record:
    return _subject(
        lambda each: evolve(each, memory=evolve(each.memory, window=Window("now", record.clock.boot_s, record.clock.boot_s)))
    )(record)


def _generation(subject: Subject) -> Generation:
    found = subject.generation()
    assert found is not None
    return found


def _up(subject: Subject) -> Container:
    declared = _declared(subject)
    ports = tuple(PortBinding(port, "127.0.0.1", 40000 + index) for index, port in enumerate(declared.ports))
    return Container(declared.container_id, Status.RUNNING, "now", ports=ports)


SPOILS: tuple[tuple[str, type[Effect], Spoil], ...] = (
    ("D1", Start, _other_effect),
    ("P1", Publish, _subject(lambda each: evolve(each, results=()))),
    ("P1", Publish, _subject(lambda each: evolve(each, memory=NOTHING))),
    ("P2", Start, _subject(lambda each: evolve(each, route=RouteSeen((Bind(HTTP, 40000),))))),
    ("P2", Start, _subject(lambda each: evolve(each, route=RouteUnread("silent")))),
    ("P3", Start, _subject(lambda each: evolve(each, unproven=True))),
    ("P4", Publish, _subject(lambda each: evolve(each, declared=evolve(_declared(each), binds=())))),
    ("P4", PersistBinds, _subject(lambda each: evolve(each, results=()))),
    ("P5", Retire, _subject(lambda each: evolve(each, memory=NOTHING))),
    ("P6", Start, _subject(lambda each: evolve(each, inhibited="by hand"))),
    ("P6", Publish, _subject(lambda each: evolve(each, declared=evolve(_declared(each), revision=9)))),
    ("P7", Publish, _subject(lambda each: evolve(each, route=RouteUnread("silent")))),
    ("P7", Restart, _subject(lambda each: evolve(each, seen=evolve(each.seen, started_at="")))),
    ("P10", Publish, _rival),
    ("B1", Start, _subject(lambda each: evolve(each, memory=evolve(each.memory, attempt=None)))),
    ("B2", Start, _too_early),
    ("B3", Restart, _subject(lambda each: evolve(each, memory=evolve(each.memory, strikes=None)))),
    ("B4", DropHistory, _fresh_window),
    ("B7", RecordFailure, _subject(lambda each: evolve(each, results=(), seen=_up(each)))),
    ("F2", Start, _subject(lambda each: evolve(each, results=(Result(Start(_generation(each)), Done()),)))),
    ("F3", Start, _subject(lambda each: evolve(each, ungranted=("/dev/kvm",)))),
)


@pytest.mark.parametrize(("invariant", "kind", "spoil"), SPOILS, ids=[f"{name}-{kind.__name__}" for name, kind, _ in SPOILS])
def test_a_spoiled_step_is_found(records: list[Record], invariant: str, kind: type[Effect], spoil: Spoil) -> None:
    """Every step of that kind is spoiled by itself, in an otherwise honest journal; the last of them must be found."""
    number = [each.number for each in records if _is(each, kind)][-1]
    wrong = Verdict().over([spoil(each) if each.number == number else each for each in records]).wrong
    assert invariant in {each.partition(",")[0] for each in wrong}, wrong


def test_a_start_within_its_wait_is_found_by_the_charges_alone(records: list[Record]) -> None:
    """B1 also where the program remembers nothing of them."""
    number = [each.number for each in records if _is(each, Start)][-1]
    early = next(each for each in records if each.number == number)
    charge = [each for each in records if each.number < number and _is(each, RecordFailure)][-1]
    moved = evolve(early, snapshot=evolve(early.snapshot, clock=evolve(charge.clock, boot_s=charge.clock.boot_s + 1)))
    wrong = Verdict().over([moved if each.number == number else each for each in records]).wrong
    assert {"B1", "B2"} == {each.partition(",")[0] for each in wrong}


def test_a_charge_that_is_recorded_twice_is_found(records: list[Record]) -> None:
    charge = next(each for each in records if _is(each, RecordFailure))
    wrong = Verdict(blind=((0.0, 1e9),)).over([charge, charge]).wrong
    assert ["B3"] == [each.partition(",")[0] for each in wrong]


def test_a_start_that_no_step_called_for_is_found_and_each_step_explains_one(records: list[Record]) -> None:
    starts = [each for each in records if _is(each, Start) and each.step is not None and each.step.service == "loop"]
    begun = [("loop-1", 1.0), *(("loop-1", each.clock.boot_s + 0.5) for each in starts)]
    assert [] == unexplained(begun, records, (), 60.0)
    once_more = [*begun, ("loop-1", starts[-1].clock.boot_s + 0.7)]
    assert 1 == len(unexplained(once_more, records, (), 60.0))
    assert [] == unexplained(once_more, records, ((starts[-1].clock.boot_s, starts[-1].clock.boot_s + 1),), 60.0)


def test_growth_is_that_of_the_longest_life_after_its_warm_up() -> None:
    short = [Sample(float(at), 500.0, 9, 9) for at in range(10)]
    steady = [Sample(2.0 * at, 10.0 + min(at, 100), 20, 3) for at in range(int(SHORTEST_S))]
    found = growth({1: short, 2: steady}, 0.3)
    assert found is not None
    assert (110.0, 110.0, 0.0) == (found.before.megabytes, found.after.megabytes, round(found.megabytes_an_hour, 6))
    leaking = [Sample(2.0 * at, 0.01 * at, 20 + at, 3) for at in range(int(SHORTEST_S))]
    grown = growth({2: leaking}, 0.3)
    assert grown is not None
    assert 18.0 == round(grown.megabytes_an_hour, 6)
    assert grown.before.files < grown.after.files
    assert growth({1: short}, 0.3) is None
