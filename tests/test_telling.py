"""What `once` and `run` say, as lines that read aloud."""

from attrs import evolve

from gordon_core.effects import DONE, Fault, Generation, RecordAttempt, Refused, Result, Start, Unknown
from gordon_core.memory import Attempt, Memory, Strikes
from gordon_core.observation import Clock, Container, Exit, Gone, Status
from gordon_core.planner import plan
from gordon_core.snapshot import Declared, Snapshot, Subject, Superseded
from gordon_shell.reconciler import Report
from gordon_shell.telling import LATE_S, Changes, failures, faults, forgotten, joined, step, summary, touches

ID = "a" * 64
CLOCK = Clock(1000.0, 1_767_225_600.0, "boot-1")
START = Start(Generation("shop", "web", ID, 1))
GONE = Subject("shop", "web", Gone(), Declared(ID, 1))
LEFT = Subject("shop", "left", Container("b" * 64, Status.EXITED, "t0"), Declared("b" * 64, 1))
COOLING = Subject(
    "shop", "web", Container(ID, Status.EXITED, "t1", exit=Exit(1)), Declared(ID, 1),
    memory=Memory(failures=3, charged="t1", charged_at_s=990.0, boot_id="boot-1"),
)  # fmt: skip
WELL = Subject("blog", "web", Container("c" * 64, Status.RUNNING, "t1"), None)


def report(*subjects: Subject, clock: Clock = CLOCK, **more: object) -> Report:
    return evolve(Report(plan(Snapshot(clock, subjects))), **more)


def later(seconds: float) -> Clock:
    return evolve(CLOCK, boot_s=CLOCK.boot_s + seconds, wall_s=CLOCK.wall_s + seconds)


def test_a_step_is_told_with_what_became_of_it() -> None:
    assert "shop/web: start it: done" == step(GONE, START, DONE)
    assert "shop/web: start it: refused: no such image" == step(GONE, START, Refused("no such image", Fault.WORKLOAD))
    assert "shop/web: start it: no answer: timed out" == step(GONE, START, Unknown("timed out"))


def test_a_step_that_is_only_written_down_touches_nothing() -> None:
    assert touches(START)
    assert not touches(RecordAttempt(START.generation, "t1"))


def test_what_is_held_is_told_with_its_help() -> None:
    assert ("shop/web: gone; never rebuilt by recovery; to help: gordon-shell adopt shop web=CONTAINER",) == failures(
        report(GONE)
    )


def test_what_was_passed_over_is_no_failure_although_it_does_not_serve() -> None:
    locked = report(evolve(GONE, locked="its app is locked by pid 4711"))
    assert (1, ()) == (len(locked.held), failures(locked))


def test_what_was_not_finished_and_trouble_are_failures() -> None:
    told = failures(report(LEFT, trouble=("the disk is full",)))
    assert (
        "shop/left: not finished in this pass, still to put the attempt on record; the next one goes on",
        "the disk is full",
    ) == told


def test_failures_of_other_apps_are_left_out_and_trouble_of_the_host_is_not() -> None:
    both = report(GONE, WELL, trouble=("the disk is full",))
    assert ("the disk is full",) == failures(both, "blog")
    assert 2 == len(failures(both, "shop"))


def test_a_fault_of_ours_is_one_sentence_with_what_to_do() -> None:
    told = faults(report(faults=(KeyError("x"),)))
    assert ("a fault of ours: KeyError: 'x'; please report it with what `gordon-plan --record FILE` writes",) == told


def test_the_summary_counts_services_and_steps() -> None:
    assert "no services; nothing needed to be done." == summary(report(), 0.1)
    results = {("shop", "web"): (Result(START, DONE), Result(START, DONE))}
    assert "2 services: 1 gone, 1 left alone; 2 steps taken in 2 s." == summary(report(GONE, WELL, results=results), 1.5)
    assert "1 service: 1 left alone; nothing needed to be done." == summary(report(GONE, WELL, results=results), 1.5, "blog")
    old = evolve(GONE, superseded=(Superseded("d" * 64, Gone()),))
    assert "1 service: 1 gone; 1 superseded container: 1 kept; nothing needed to be done." == summary(report(old), 1.5)


def test_what_was_forgotten_is_named() -> None:
    memory = Memory(4, "t0", 900.0, Attempt("t0"), Strikes("t1", 2, "r1"))
    assert "4 failures, an attempt on record and 2 strikes" == forgotten(memory)
    assert "1 failure" == forgotten(Memory(1))
    assert "what was charged last" == forgotten(Memory(charged="t0"))


def test_words_are_joined() -> None:
    assert ["", "a", "a and b", "a, b and c"] == [joined("abc"[:count]) for count in range(4)]


def test_the_first_pass_is_told_in_one_line_and_what_is_not_as_desired() -> None:
    first = Changes().lines(report(GONE, WELL))
    assert "watching 2 services: 1 gone, 1 left alone" == first[0]
    assert ("shop/web: gone; never rebuilt by recovery; to help: gordon-shell adopt shop web=CONTAINER",) == first[1:]


def test_a_pass_in_which_nothing_changed_says_nothing() -> None:
    changes = Changes()
    changes.lines(report(GONE, WELL))
    assert () == changes.lines(report(GONE, WELL, clock=later(15)))


def test_a_wait_is_told_once_although_the_time_that_is_left_changes() -> None:
    changes = Changes()
    assert "waiting out its budget until 00:00:50Z, in 50 s" in changes.lines(report(COOLING))[1]
    assert () == changes.lines(report(COOLING, clock=later(15)))
    longer = evolve(COOLING, memory=evolve(COOLING.memory, failures=4))
    (line,) = changes.lines(report(longer, clock=later(15)))
    assert "after 4 failures; to help: gordon-shell retry shop/web" in line


def test_a_command_that_a_look_comes_upon_is_told_where_it_is_late() -> None:
    """Between an event and the answer to it lies a moment, in which a pass may begin."""
    changes, busy = Changes(), evolve(COOLING, in_flight="start it")
    assert 1 == len(changes.lines(report(busy)))
    assert () == changes.lines(report(busy, clock=later(LATE_S - 1)))
    late = changes.lines(report(busy, clock=later(LATE_S)))
    assert ["shop/web: an earlier command (start it) has not come back yet"] == [each.split(";")[0] for each in late]
    assert () == changes.lines(report(busy, clock=later(LATE_S + 15)))
    assert "waiting out its budget" in changes.lines(report(COOLING, clock=later(LATE_S + 16)))[0]


def test_one_that_came_back_in_time_and_what_it_left_as_it_was_are_not_told() -> None:
    changes = Changes()
    changes.lines(report(COOLING))
    for at_s, command in ((1, "start it"), (20, "start it"), (21, "probe it"), (40, "start it")):
        assert () == changes.lines(report(evolve(COOLING, in_flight=command), clock=later(at_s)))
        assert () == changes.lines(report(COOLING, clock=later(at_s)))


def test_what_became_well_and_what_went_is_told() -> None:
    changes = Changes()
    changes.lines(report(GONE))
    assert ("shop/web: not in ACTIVE; its workload is left alone",) == changes.lines(report(evolve(GONE, declared=None)))
    assert ("shop/web: nothing is known of it any more",) == changes.lines(report())


def test_trouble_is_told_when_it_comes_and_when_it_goes() -> None:
    changes = Changes()
    changes.lines(report())
    assert ("the disk is full",) == changes.lines(report(trouble=("the disk is full",)))
    assert () == changes.lines(report(trouble=("the disk is full",)))
    assert ("what was told of the state, the policy or late commands is well again",) == changes.lines(report())
    assert () == changes.lines(report())
