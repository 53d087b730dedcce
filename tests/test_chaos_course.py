"""The rest of the verdict of `make chaos`: each invariant is found to be broken in a journal that breaks it, and only there."""

import pytest
from attrs import evolve

from gordon_core.document import read_plan, write_plan
from gordon_core.effects import (
    DONE,
    Cause,
    Effect,
    Outcome,
    PersistBinds,
    Publish,
    RecordAttempt,
    RecordFailure,
    ReleaseBinds,
    RemoveCandidate,
    Restart,
    Result,
    Retire,
    Start,
    Stop,
    StopCandidate,
    Unknown,
    Withdraw,
)
from gordon_core.forecast import forecast
from gordon_core.memory import Attempt, Strikes
from gordon_core.observation import Bind, Exit, Health, HealthStatus, RouteUnread, Status
from gordon_core.planner import Plan, plan
from gordon_core.policy import Policy, WhenUnhealthy
from gordon_core.snapshot import Hold, Intent, Snapshot
from gordon_shell.journal import Kind, Record, Step
from tests.chaos.course import Course
from tests.chaos.court import INVARIANTS, Spans, in_words, judged_by_all
from tests.chaos.judge import Deploying
from tests.chaos.liveness import Liveness
from tests.chaos.plans import Plans
from tests.core_examples import (
    BIND,
    BOOT,
    CLOCK,
    DECLARED,
    GENERATION,
    HTTP,
    NEW,
    OLD,
    OLD_BIND,
    Mutation,
    down,
    good,
    having,
    remembering,
    routed,
    running,
    seen,
    strange,
    with_route,
)
from tests.journals import at, look, numbered

OTHER = Bind(HTTP, 41000)
HELD = having(hold=Hold(CLOCK.boot_s + 60, CLOCK.wall_s + 60, BOOT, "alice", "moving"))
UNTIL_DONE = having(declared=evolve(DECLARED, policy=Policy(exit_0_is_done=True)))
SIDELINED = having(declared=evolve(DECLARED, policy=Policy(unhealthy=WhenUnhealthy.WITHDRAW)))
ENDED_WELL = seen(evolve(strange(Status.EXITED), exit=Exit(0)))
OVER = having(superseded=(OLD,))


def did(effect: Effect, *mutations: Mutation, outcome: Outcome = DONE) -> Record:
    """Return the record of a step that was taken of the good subject so changed, whatever the law says."""
    subject = good(*mutations)
    result = Result(effect, outcome)
    after = evolve(subject, results=(*subject.results, result))
    return evolve(look(subject), kind=Kind.STEP, step=Step(subject.app, subject.service, result, after))


def shown(*mutations: Mutation) -> Record:
    return look(good(*mutations))


WITHDRAW = Withdraw("shop", "web")
CASES: tuple[tuple[str, list[Record], list[Record]], ...] = (
    ("B5", [shown(remembering(failures=1, charged="", charged_at_s=9_000.0))], [shown()]),
    ("B5", [shown(remembering(strikes=Strikes("x", 1, "y")))], [shown(seen(running(health=Health(HealthStatus.UNHEALTHY, 1))))]),
    ("C2", [did(Retire("shop", "web", DECLARED.container_id, 1.0))], [did(Retire("shop", "web", OLD.container_id, 1.0), OVER)]),
    (
        "C2",
        [did(StopCandidate("shop", "web", "strange", 1.0))],
        [did(RemoveCandidate("shop", "web", NEW.container_id), having(candidates=(NEW,)))],
    ),
    ("C3", [did(WITHDRAW, OVER, down, routed(OLD_BIND))], [did(WITHDRAW, OVER, down, routed(BIND))]),
    ("F1", [did(Start(GENERATION), down, having(in_flight="its start"))], [did(Start(GENERATION), down)]),
    (
        "F4",
        [did(WITHDRAW, outcome=Unknown("silent")), shown(with_route(RouteUnread("silent")))],
        [did(WITHDRAW, outcome=Unknown("silent")), shown(with_route(RouteUnread("silent")), having(unproven=True))],
    ),
    ("L5", [did(WITHDRAW)] * 65, [did(WITHDRAW)] * 64),
    ("P6", [did(Stop(GENERATION, 1.0))], [did(Stop(GENERATION, 1.0), having(intent=Intent.STOPPED))]),
    ("P8", [shown(routed()), shown()], [shown(routed()), did(Publish(GENERATION, (BIND,)), routed()), shown()]),
    ("P9", [shown(), shown(having(declared=evolve(DECLARED, revision=2)))], [shown(), shown()]),
    ("P9", [shown(), shown(having(declared=evolve(DECLARED, revision=4)))], [shown()] * 2),
    ("P9", [shown(), shown(having(declared=evolve(DECLARED, published=False)))], [shown()] * 2),
    (
        "P9",
        [shown(), shown(having(declared=evolve(DECLARED, binds=(OTHER,))))],
        [shown(), did(PersistBinds(GENERATION, (OTHER,))), shown(having(declared=evolve(DECLARED, binds=(OTHER,))))],
    ),
    (
        "P9",
        [shown(), shown(having(declared=evolve(DECLARED, binds=())))],
        [shown(), did(ReleaseBinds(GENERATION)), shown(having(declared=evolve(DECLARED, binds=())))],
    ),
    ("T1", [did(Start(GENERATION), down, HELD)], [did(WITHDRAW, down, HELD)]),
    ("T2", [did(RecordFailure(GENERATION, "x", Cause.ENDED), UNTIL_DONE, ENDED_WELL)], [did(WITHDRAW, UNTIL_DONE, ENDED_WELL)]),
    ("T2", [did(RecordAttempt(GENERATION, "x"), UNTIL_DONE, ENDED_WELL)], [did(WITHDRAW, UNTIL_DONE, ENDED_WELL)]),
    ("T3", [did(Restart(GENERATION, 1.0), SIDELINED)], [did(WITHDRAW, SIDELINED)]),
)


@pytest.mark.parametrize(
    ("invariant", "wrong", "right"), CASES, ids=[f"{name}-{number}" for number, (name, _, _) in enumerate(CASES)]
)
def test_what_breaks_it_is_found_and_nothing_else_is(invariant: str, wrong: list[Record], right: list[Record]) -> None:
    found = Course().over(numbered(*wrong))
    assert {invariant} == {each.partition(",")[0] for each in found.wrong}, found.wrong
    kept = Course().over(numbered(*right))
    assert ([], True) == (kept.wrong, kept.judged[invariant] > 0)


def test_a_start_that_is_under_way_is_no_second_one_of_what_is_done() -> None:
    """Its attempt is on record before it: between the two it looks as if it were done."""
    pending = remembering(attempt=Attempt(strange(Status.EXITED).started_at))
    assert 0 == Course().over([did(Start(GENERATION), UNTIL_DONE, ENDED_WELL, pending)]).judged["T2"]


def test_what_others_did_meanwhile_excuses_what_the_journal_cannot_know() -> None:
    records = numbered(shown(routed()), shown(having(declared=evolve(DECLARED, revision=4))))
    assert {"P8", "P9"} == {each.partition(",")[0] for each in Course().over(records).wrong}
    for span in ({"blind": ((0.0, 1e9),)}, {"deploys": (Deploying("web", 0.0, 1e9),)}):
        assert [] == Course(**span).over(records).wrong  # type: ignore[arg-type]  # one or the other
    assert [] != Course(deploys=(Deploying("another", 0.0, 1e9),)).over(records).wrong


def test_spans_are_read_as_they_were_written() -> None:
    spans = Spans(((1.0, 2.5),), (Deploying("web", 3.0, 4.0),), ((5.0, 6.0), (7.0, 8.0)))
    assert spans == Spans.read(spans.written())


def test_all_judges_together_miss_no_invariant_by_name() -> None:
    judges = judged_by_all(numbered(did(WITHDRAW), shown()), Spans())
    assert 37 == len(INVARIANTS)
    judged, missing, longest, *wrong = in_words(judges)
    assert judged.startswith("judged: B5 ")
    named = {each.rstrip(",") for each in f"{judged} {missing}".split()}
    assert INVARIANTS <= named
    assert "longest: " == longest
    assert [words for each in judges for words in each.wrong] == wrong


class TestPlans:
    """What is about the planner itself."""

    RECORDS = (look(good(down)), look(good(down, routed(), remembering(failures=4, charged="", charged_at_s=CLOCK.boot_s))))

    def test_an_honest_one_is_well(self) -> None:
        found = Plans().over(self.RECORDS)
        assert ([], {"B6", "D2", "D3", "D4"}) == (found.wrong, set(found.judged))

    def test_a_planner_that_heeds_the_wall_clock_is_found(self) -> None:
        def heeding(snapshot: Snapshot) -> Plan:
            return plan(Snapshot(snapshot.clock, () if snapshot.clock.wall_s > 2 * CLOCK.wall_s - 1.6e9 else snapshot.subjects))

        assert {"B6"} == _names(Plans(planner=heeding).over(self.RECORDS).wrong)

    def test_one_that_decides_otherwise_now_is_found(self) -> None:
        assert {"D2"} == _names(Plans(planner=lambda each: plan(Snapshot(each.clock, (good(),)))).over(self.RECORDS).wrong)

    def test_a_service_without_an_answer_is_found(self) -> None:
        spoiled = evolve(self.RECORDS[0], plan=write_plan(evolve(read_plan(self.RECORDS[0].plan), lines=())))
        assert {"D2", "D3"} == _names(Plans().over([spoiled]).wrong)

    def test_a_wait_that_is_longer_than_the_ladder_is_found(self) -> None:
        said = read_plan(self.RECORDS[1].plan)
        longer = evolve(said, lines=[evolve(each, until_s=CLOCK.boot_s + 901) for each in said.lines])
        assert {"B6", "D2"} == _names(Plans().over([evolve(self.RECORDS[1], plan=write_plan(longer))]).wrong)

    def test_a_forecast_without_an_end_is_found(self) -> None:
        assert {"D4"} == _names(Plans(foreseer=lambda each: forecast(each)[:1]).over(self.RECORDS[:1]).wrong)


def _names(wrong: list[str]) -> set[str]:
    return {each.partition(",")[0] for each in wrong}


LASTING: tuple[tuple[str, Mutation], ...] = (
    ("C1", having(candidates=(NEW,))),
    ("L1", down),
    ("L2", routed()),
    ("L3", having(intent=Intent.STOPPED)),
    ("L4", having(superseded=(OLD,))),
)


@pytest.mark.parametrize(("invariant", "state"), LASTING, ids=[name for name, _ in LASTING])
def test_a_state_that_recovery_must_end_may_last_so_long(invariant: str, state: Mutation) -> None:
    """Also where nothing was recorded since, but of others: what does not change leaves no record."""
    mine, other = good(state), good(having(app="blog"))
    for wrong, last in ((False, 59.0), (True, 61.0)):
        for records in ([look(mine), look(mine, clock=at(last))], [look(mine), look(other, clock=at(last))]):
            judge = Liveness(within_s=60.0).over(numbered(*records))
            assert ({invariant} if wrong else set()) == _names(judge.wrong)
            assert last == judge.longest[invariant]


@pytest.mark.parametrize(("invariant", "state"), LASTING, ids=[name for name, _ in LASTING])
def test_nor_does_it_last_where_it_ended_meanwhile_or_something_was_away(invariant: str, state: Mutation) -> None:
    mine = good(state)
    ended = numbered(look(mine), look(good(), clock=at(40)), look(mine, clock=at(80)))
    assert [] == Liveness().over(ended).wrong
    lasting = numbered(look(mine), look(mine, clock=at(100)))
    span = (CLOCK.boot_s + 10, CLOCK.boot_s + 50)
    assert [] == Liveness(away=(span,)).over(lasting).wrong
    assert [] == Liveness(blind=(span,)).over(lasting).wrong
    assert [] == Liveness(deploys=(Deploying("web", *span),)).over(lasting).wrong
    assert {invariant} == _names(Liveness(deploys=(Deploying("another", *span),)).over(lasting).wrong)


def test_what_is_down_and_gets_an_attempt_or_is_not_due_is_not_late() -> None:
    start = did(Start(GENERATION), down)
    moved = evolve(start, snapshot=evolve(start.snapshot, clock=at(20)))
    assert [] == Liveness().over(numbered(look(good(down)), moved, look(good(down), clock=at(100)))).wrong
    waiting = good(down, remembering(failures=4, charged="", charged_at_s=CLOCK.boot_s + 50))
    assert [] == Liveness().over(numbered(look(waiting), look(waiting, clock=at(100)))).wrong
    done = good(UNTIL_DONE, ENDED_WELL)
    assert [] == Liveness().over(numbered(look(done), look(done, clock=at(100)))).wrong


def test_a_first_step_long_after_its_look_is_found() -> None:
    step = did(WITHDRAW, down)
    for wrong, late_s in ((set(), 29.0), ({"L6"}, 31.0)):
        records = numbered(look(good(down)), evolve(step, snapshot=evolve(step.snapshot, clock=at(late_s))))
        assert wrong == _names(Liveness().over(records).wrong)
