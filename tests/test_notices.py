"""Who is told what, and when: each kind of notice, and what holds for every run of looks."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from gordon_core.effects import Cause, RecordFailure, Start, Withdraw
from gordon_core.memory import Memory, Verified
from gordon_core.noted import Notice, NoticeKind, Told
from gordon_core.notices import CRASHED_EVERY_S, STUCK_AFTER_S, TOP_STEP_EVERY_S, notice
from gordon_core.observation import Container, Exit, Health, HealthStatus, RouteUnread, Status
from gordon_core.planner import plan
from gordon_core.policy import Policy
from gordon_core.snapshot import Snapshot, Subject
from gordon_shell.notice_text import Memo, memo_in_json, memo_of_json
from tests.core_examples import (
    BIND,
    BOOT,
    CLOCK,
    EARLIER,
    GENERATION,
    LATER,
    NOBODY,
    NOT_READY,
    NOW_S,
    REFUSED_START,
    STARTED,
    WEB_ID,
    Mutation,
    after,
    attempt_on_record,
    attempted_before,
    dark,
    deaf,
    declaring,
    down,
    ended_well,
    gone,
    good,
    having,
    never_verified,
    on_hold,
    probed,
    remembering,
    restarted,
    seen,
    sick,
    stopped,
    unpublished,
    unreadable,
    until_done,
    withdrawn_when_sick,
)

LADDER = Policy(ladder_s=(60.0, 120.0), free_failures=2)


def exited(code: int = 1, started_at: str = STARTED, *, oom: bool = False, error: str = "") -> Mutation:
    return seen(Container(WEB_ID, Status.EXITED, started_at, exit=Exit(code, oom, error, LATER)))


def failed(failures: int, ago_s: float = 0.0) -> Mutation:
    """Let so many failures be on record, the last one charged so long ago."""
    return lambda subject: evolve(
        subject,
        memory=evolve(subject.memory, boot_id=BOOT, failures=failures, charged=EARLIER, charged_at_s=NOW_S - ago_s),
    )


class Story:
    """Looks at one host, one after the other; `told` is kept as text between them."""

    def __init__(self) -> None:
        self.told = Told()
        self.clock = CLOCK

    def after(self, seconds: float) -> "Story":
        self.clock = evolve(self.clock, boot_s=self.clock.boot_s + seconds, wall_s=self.clock.wall_s + seconds)
        return self

    def reboot(self) -> "Story":
        self.clock = evolve(self.clock, boot_s=20.0, wall_s=self.clock.wall_s + 60.0, boot_id=f"{self.clock.boot_id}-next")
        return self

    def look(self, *subjects: Subject, is_whole: bool = True) -> tuple[Notice, ...]:
        now = plan(Snapshot(self.clock, subjects))
        told, new = notice(self.told, now, is_whole=is_whole)
        again, none = notice(told, now, is_whole=is_whole)
        assert (told, ()) == (again, none)
        self.told = memo_of_json(memo_in_json(Memo(told))).told
        assert told == self.told
        return new

    def kinds(self, *subjects: Subject) -> list[NoticeKind]:
        return [each.kind for each in self.look(*subjects)]


@pytest.fixture
def story() -> Story:
    return Story()


C, L, T, G, I, S, R = (  # noqa: E741 - one letter a kind
    NoticeKind.CRASHED,
    NoticeKind.LOOPING,
    NoticeKind.TOP_STEP,
    NoticeKind.GONE,
    NoticeKind.INHIBITED,
    NoticeKind.STUCK,
    NoticeKind.RECOVERED,
)


def test_of_a_calm_service_nothing_is_told_and_nothing_kept(story: Story) -> None:
    assert () == story.look(good())
    assert Told(BOOT) == story.told


def test_a_calm_service_does_not_hide_those_after_it(story: Story) -> None:
    assert [C] == story.kinds(good(having(app="blog")), good(dark, exited()))


def test_each_service_is_told_of(story: Story) -> None:
    crashed, looping = story.look(good(having(app="blog"), dark, exited()), good(dark, exited(), failed(3)))
    assert ((C, "blog"), (L, "shop")) == ((crashed.kind, crashed.app), (looping.kind, looping.app))


class TestCrashes:
    def test_the_first_crash_is_told_with_its_exit_code_and_its_remedy(self, story: Story) -> None:
        (told,) = story.look(good(dark, exited(3)))
        assert (
            Notice(C, "shop", "web", WEB_ID, CLOCK, "crashed: exited (3)", f"docker logs {WEB_ID[:12]}", "DUE", exit_code=3)
            == told
        )

    @pytest.mark.parametrize(
        ("mutation", "words"),
        [
            (exited(137, oom=True), "crashed: exited (137), out of memory"),
            (exited(127, error="no such file"), 'crashed: exited (127); start error: "no such file"'),
            (sick, "crashed: unhealthy, 2 failed checks counted"),
        ],
    )
    def test_how_it_crashed_is_said(self, story: Story, mutation: Mutation, words: str) -> None:
        (told,) = story.look(good(dark, mutation))
        assert words == told.sentence

    def test_what_was_charged_without_an_end_is_told_as_what_it_is(self, story: Story) -> None:
        refused = after(Start(GENERATION), REFUSED_START)
        charged = after(RecordFailure(GENERATION, "", Cause.REFUSED))
        (told,) = story.look(good(dark, seen(Container(WEB_ID, Status.CREATED, "")), refused, charged, failed(1)))
        assert told.sentence.startswith("failed: down; a start was tried in vain (500: exec: ")
        assert None is told.exit_code
        (told,) = Story().look(good(dark, restarted, probed(NOT_READY, LATER, wait_s=0.0), failed(1)))
        assert told.sentence.startswith("failed: not ready: ")

    def test_an_end_of_which_the_engine_says_no_more_is_told_by_what_follows(self, story: Story) -> None:
        (told,) = story.look(good(dark, down))
        assert (C, "failed: down, and free to start", None) == (told.kind, told.sentence, told.exit_code)

    @pytest.mark.parametrize("mutation", [attempted_before, remembering(failures=1, charged=STARTED, charged_at_s=NOW_S)])
    def test_what_recovery_started_or_charged_crashed_although_it_was_never_verified(
        self, story: Story, mutation: Mutation
    ) -> None:
        (told,) = story.look(good(dark, exited(3), never_verified, mutation))
        assert (C, "crashed: exited (3)") == (told.kind, told.sentence)

    def test_within_the_hour_the_next_ones_are_not_told(self, story: Story) -> None:
        assert [C] == story.kinds(good(dark, exited()))
        assert [] == story.kinds(good())
        assert [] == story.after(CRASHED_EVERY_S - 1).kinds(good(dark, exited(1, LATER), attempted_before))
        assert [] == story.after(2).kinds(good(dark, exited(1, LATER), attempted_before))
        assert [C] == story.kinds(good(dark, exited(1, EARLIER), remembering(verified=Verified(EARLIER, (BIND,), 3))))

    def test_that_the_operator_stopped_it_meanwhile_does_not_end_that_hour(self, story: Story) -> None:
        assert [C] == story.kinds(good(dark, exited()))
        assert [] == story.kinds(good(stopped, dark, exited()))
        assert [] == story.kinds(good(dark, exited(1, LATER), attempted_before))

    def test_the_limit_is_forgotten_when_it_is_over_and_all_is_well(self, story: Story) -> None:
        story.look(good(dark, exited()))
        story.after(CRASHED_EVERY_S - 1).look(good())
        assert [("shop", "web")] == [(each.app, each.service) for each in story.told.services]
        story.after(1).look(good())
        assert Told(BOOT) == story.told

    @pytest.mark.parametrize(
        "mutations",
        [
            (on_hold,),
            (having(inhibited="by hand"), deaf),
            (remembering(contested_port=1),),
            (having(locked="its app is locked by pid 4711"),),
            (having(in_flight="start it"),),
            (remembering(verified=None),),
            (stopped,),
        ],
    )
    def test_what_is_meant_or_not_ours_did_not_crash(self, story: Story, mutations: tuple[Mutation, ...]) -> None:
        assert C not in story.kinds(good(dark, exited(), *mutations))

    def test_what_was_down_on_hold_did_not_crash_when_the_hold_ends(self, story: Story) -> None:
        assert [] == story.kinds(good(dark, exited(), on_hold))
        assert [] == story.kinds(good(dark, exited()))

    def test_what_is_done_did_not_crash(self, story: Story) -> None:
        assert [] == story.kinds(good(dark, ended_well, until_done))

    def test_what_the_operator_stopped_and_wants_started_did_not_crash(self, story: Story) -> None:
        assert [] == story.kinds(good(stopped, dark, exited()))
        assert [] == story.kinds(good(dark, exited()))

    def test_what_a_boot_ended_did_not_crash_and_the_next_end_did(self, story: Story) -> None:
        story.look(good())
        assert [] == story.reboot().kinds(good(dark, exited()))
        again = good(dark, exited(1, LATER), remembering(verified=Verified(LATER, (BIND,), 3)))
        assert [C] == story.after(60).kinds(again)

    def test_that_holds_also_for_one_that_was_told_of_before_the_boot(self, story: Story) -> None:
        assert [C] == story.kinds(good(dark, exited()))
        assert [] == story.kinds(good(restarted))
        assert [] == story.reboot().kinds(good(dark, exited(1, LATER), attempted_before))

    def test_the_hour_of_an_old_boot_is_over(self, story: Story) -> None:
        assert [C] == story.kinds(good(dark, exited()))
        assert [] == story.reboot().after(NOW_S).kinds(good())
        assert [C] == story.kinds(good(dark, exited(1, LATER), attempted_before))

    @pytest.mark.parametrize("first", [unreadable, having(locked="its app is locked by pid 4711")])
    def test_that_holds_also_where_the_first_look_after_a_boot_shows_nothing(self, story: Story, first: Mutation) -> None:
        story.look(good())
        assert [] == story.reboot().kinds(good(dark, first))
        assert [] == story.after(15).kinds(good(dark, exited()))

    def test_failures_of_one_that_serves_are_none_of_today(self, story: Story) -> None:
        assert [] == story.kinds(good(failed(2)))


class TestLoops:
    def test_entering_the_ladder_is_told_once_with_the_next_try(self, story: Story) -> None:
        assert [C] == story.kinds(good(dark, exited()))
        (told,) = story.look(good(dark, exited(1, LATER), failed(3)))
        assert (L, 3, 1, NOW_S + 60) == (told.kind, told.failures, told.exit_code, told.next_try_s)
        assert "in a crash loop: down, waiting out its budget until 07:01:00Z, in 1 min, after 3 failures" == told.sentence
        assert "gordon-shell retry shop/web" == told.remedy
        assert [] == story.after(70).kinds(good(dark, exited(1, LATER), failed(4)))

    def test_a_loop_that_is_met_for_the_first_time_is_told_alone(self, story: Story) -> None:
        assert [L] == story.kinds(good(dark, exited(), failed(5)))

    def test_one_that_serves_is_in_no_loop_whatever_is_on_record(self, story: Story) -> None:
        assert [] == story.kinds(good(failed(5)))
        assert [] == story.kinds(good())

    def test_each_wait_at_the_top_is_told(self, story: Story) -> None:
        short = declaring(policy=LADDER)
        assert [L] == story.kinds(good(short, dark, exited(), failed(2)))
        (told,) = story.after(TOP_STEP_EVERY_S).look(good(short, dark, exited(), failed(3, -TOP_STEP_EVERY_S)))
        assert (T, 3) == (told.kind, told.failures)
        assert told.sentence.startswith("still in a crash loop, at its longest wait: down, waiting out its budget until ")
        assert [] == story.kinds(good(short, dark, exited(), failed(4, -TOP_STEP_EVERY_S)))
        assert [T] == story.after(TOP_STEP_EVERY_S).kinds(good(short, dark, exited(), failed(5, -2 * TOP_STEP_EVERY_S)))

    def test_only_the_longest_step_is_the_top(self, story: Story) -> None:
        assert [L] == story.kinds(good(dark, exited(), failed(3)))
        assert [] == story.kinds(good(dark, exited(), failed(6)))
        assert [T] == story.kinds(good(dark, exited(), failed(7)))

    def test_one_wait_at_the_top_is_told_once_however_long_it_is(self, story: Story) -> None:
        long = declaring(policy=Policy(ladder_s=(60.0, 2 * TOP_STEP_EVERY_S), free_failures=2))
        assert [L] == story.kinds(good(long, dark, exited(), failed(2)))
        assert [T] == story.kinds(good(long, dark, exited(), failed(3)))
        assert [] == story.after(TOP_STEP_EVERY_S).kinds(good(long, dark, exited(), failed(3)))

    def test_what_runs_does_not_wait_at_the_top_whatever_is_on_record(self, story: Story) -> None:
        short = declaring(policy=LADDER)
        assert [L] == story.kinds(good(short, dark, exited(), failed(2)))
        assert [] == story.kinds(good(short, failed(3)))
        assert [T] == story.kinds(good(short, dark, exited(), failed(3)))

    def test_what_waits_for_a_port_is_in_no_loop_whatever_is_on_record(self, story: Story) -> None:
        yielding = remembering(contested_port=80)
        assert [] == story.kinds(good(declaring(policy=LADDER), dark, exited(), failed(3), yielding))

    @pytest.mark.parametrize("mutations", [(), (dark, stopped, exited())])
    def test_that_a_loop_ended_meanwhile_does_not_end_the_ten_minutes(
        self, story: Story, mutations: tuple[Mutation, ...]
    ) -> None:
        short = declaring(policy=LADDER)
        assert [L] == story.kinds(good(short, dark, exited(), failed(2)))
        assert [T] == story.kinds(good(short, dark, exited(), failed(3)))
        assert [R] == story.kinds(good(short, *mutations))
        assert [L] == story.kinds(good(short, dark, exited(), failed(2)))
        assert [] == story.kinds(good(short, dark, exited(), failed(3)))
        assert [T] == story.after(TOP_STEP_EVERY_S).kinds(good(short, dark, exited(), failed(4, -TOP_STEP_EVERY_S)))

    def test_the_ten_minutes_are_forgotten_when_they_are_over_and_all_is_well(self, story: Story) -> None:
        short = declaring(policy=LADDER)
        story.look(good(short, dark, exited(), failed(2)))
        story.look(good(short, dark, exited(), failed(3)))
        story.after(TOP_STEP_EVERY_S - 1).look(good(short))
        assert [("shop", "web")] == [(each.app, each.service) for each in story.told.services]
        story.after(1).look(good(short))
        assert Told(BOOT) == story.told

    def test_the_ten_minutes_of_an_old_boot_are_over(self, story: Story) -> None:
        short = declaring(policy=LADDER)
        assert [L] == story.kinds(good(short, dark, exited(), failed(2)))
        assert [T] == story.kinds(good(short, dark, exited(), failed(3)))
        assert [T] == story.reboot().after(NOW_S).kinds(good(short, dark, exited(), failed(4, -60.0)))

    def test_a_wait_of_a_second_is_one(self, story: Story) -> None:
        assert [L] == story.kinds(good(declaring(policy=Policy(ladder_s=(1.0,))), dark, exited(), failed(3)))

    def test_a_wait_at_the_top_that_is_not_ended_by_time_has_no_next_try(self, story: Story) -> None:
        forever = declaring(policy=Policy(ladder_s=(1e308,)))
        (told,) = story.look(good(forever, dark, exited(), failed(3, -1.7e308)))
        assert (L, None) == (told.kind, told.next_try_s)

    def test_recovered_is_told_once_when_the_history_is_dropped(self, story: Story) -> None:
        story.look(good(dark, exited(), failed(3)))
        assert [] == story.after(100).kinds(good(failed(3)))
        (told,) = story.after(300).look(good())
        assert (R, "", "recovered from its crash loop: as desired") == (told.kind, told.remedy, told.sentence)
        assert [] == story.after(15).kinds(good())
        assert [L] == story.kinds(good(dark, exited(), failed(3)))

    def test_recovered_asks_for_nothing_whatever_else_does(self, story: Story) -> None:
        story.look(good(unpublished, dark, exited(), failed(3)))
        recovered, inhibited = story.look(good(unpublished, dark, having(inhibited="by hand")))
        assert (R, "", "recovered from its crash loop: inhibited (by hand); never started") == (
            recovered.kind,
            recovered.remedy,
            recovered.sentence,
        )
        assert (I, "gordon-shell allow shop/web") == (inhibited.kind, inhibited.remedy)

    def test_what_serves_on_hold_has_recovered(self, story: Story) -> None:
        story.look(good(dark, exited(), failed(3)))
        (told,) = story.look(good(on_hold))
        assert "recovered from its crash loop: serving; held until 07:04:12Z by alice: migration" == told.sentence

    @pytest.mark.parametrize(
        ("mutations", "words"),
        [
            ((dark, stopped, exited()), "its crash loop is over: stopped, as the operator wants"),
            (
                (dark, ended_well, until_done),
                "recovered from its crash loop: done: it ended by itself with exit code 0, and is not started again",
            ),
        ],
    )
    def test_a_loop_is_over_once_it_is_as_wanted(self, story: Story, mutations: tuple[Mutation, ...], words: str) -> None:
        story.look(good(dark, exited(), failed(3)))
        (told,) = story.after(60).look(good(*mutations))
        assert (R, words) == (told.kind, told.sentence)
        assert [] == story.kinds(good(*mutations))

    def test_a_loop_of_what_is_named_no_more_is_over(self, story: Story) -> None:
        story.look(good(dark, exited(), failed(3)))
        (told,) = story.look(NOBODY)
        assert (R, "its crash loop is over: not in ACTIVE; its workload is left alone") == (told.kind, told.sentence)
        assert Told(BOOT) == story.told

    def test_a_loop_of_what_is_not_known_at_all_is_over_when_everything_was_looked_at(self, story: Story) -> None:
        story.look(good(dark, exited(), failed(3)), good(having(app="blog"), dark, exited()))
        assert () == story.look(is_whole=False)
        (told,) = story.look()
        assert (R, "shop/web", "", CLOCK) == (told.kind, f"{told.app}/{told.service}", told.container_id, told.clock)
        assert "its crash loop is over: nothing is known of it any more" == told.sentence
        assert Told(BOOT) == story.told

    def test_what_is_still_being_stopped_is_not_over(self, story: Story) -> None:
        story.look(good(dark, exited(), failed(3)))
        assert [] == story.kinds(good(stopped, failed(3)))

    def test_a_boot_ends_no_loop(self, story: Story) -> None:
        story.look(good(dark, exited(), failed(3)))
        assert [] == story.reboot().kinds(good(dark, exited(), having(memory=Memory(failures=3))))
        assert [R] == story.after(400).kinds(good())


class TestStandstills:
    def test_gone_is_told_once_for_each_container(self, story: Story) -> None:
        lost = (gone, dark, declaring(binds=()), having(memory=Memory()))
        (told,) = story.look(good(*lost))
        assert (G, "gone; never rebuilt by recovery", "gordon-shell adopt shop web=CONTAINER") == (
            told.kind,
            told.sentence,
            told.remedy,
        )
        assert [] == story.after(9000).kinds(good(*lost))
        assert [] == story.kinds(good(unreadable, *lost[1:]))
        assert [] == story.kinds(good(*lost))
        story.look(good())
        assert [G] == story.kinds(good(*lost))

    def test_gone_is_told_again_after_it_was_back_though_not_yet_well(self, story: Story) -> None:
        lost = (gone, dark, declaring(binds=()), having(memory=Memory()))
        assert [G] == story.kinds(good(*lost))
        assert [] == story.kinds(good(dark, restarted))
        assert [G] == story.kinds(good(*lost))

    def test_gone_is_not_told_again_after_it_was_inhibited(self, story: Story) -> None:
        lost = (gone, dark, declaring(binds=()), having(memory=Memory()))
        assert [G] == story.kinds(good(*lost))
        assert [I] == story.kinds(good(*lost, having(inhibited="by hand")))
        assert [] == story.kinds(good(*lost))

    def test_inhibited_is_told_again_after_it_was_allowed_though_not_yet_well(self, story: Story) -> None:
        inhibited = having(inhibited="its volume is being moved")
        assert [I] == story.kinds(good(dark, exited(), inhibited))
        assert [] == story.kinds(good(dark, exited()))
        assert [I] == story.kinds(good(dark, exited(), inhibited))

    def test_inhibited_is_told_once_and_again_after_it_was_allowed(self, story: Story) -> None:
        inhibited = having(inhibited="its volume is being moved")
        (told,) = story.look(good(inhibited))
        assert (I, "inhibited (its volume is being moved); never started") == (told.kind, told.sentence)
        assert [] == story.kinds(good(dark, exited(), inhibited))
        assert [] == story.kinds(good())
        assert [I] == story.kinds(good(dark, unreadable, inhibited))

    @pytest.mark.parametrize(
        "mutations",
        [
            (seen(Container(WEB_ID, Status.PAUSED, STARTED)),),
            (sick, withdrawn_when_sick),
            (restarted, probed(NOT_READY, LATER, wait_s=0.0), remembering(charged=LATER, verified=None)),
            (seen(Container(WEB_ID, Status.CREATED, "")), having(ungranted=("/srv/data is not granted",))),
        ],
    )
    def test_what_serves_nobody_for_five_minutes_is_told_once(self, story: Story, mutations: tuple[Mutation, ...]) -> None:
        waiting = good(dark, *mutations)
        assert [] == story.kinds(waiting)
        assert [] == story.after(STUCK_AFTER_S - 1).kinds(waiting)
        (told,) = story.after(1).look(waiting)
        assert S is told.kind
        assert told.sentence.startswith("serves nobody since 5 min: ")
        assert [] == story.after(9000).kinds(waiting)
        story.look(good())
        assert [] == story.kinds(waiting)
        assert [S] == story.after(STUCK_AFTER_S).kinds(waiting)

    def test_stuck_is_told_again_after_it_served_though_not_yet_well(self, story: Story) -> None:
        paused = good(dark, seen(Container(WEB_ID, Status.PAUSED, STARTED)), failed(1))
        assert [] == story.kinds(good(failed(1)))
        for _ in range(2):
            assert [] == story.kinds(paused)
            assert [S] == story.after(STUCK_AFTER_S).kinds(paused)
            assert [] == story.kinds(good(failed(1)))

    def test_before_a_boot_nobody_waited(self, story: Story) -> None:
        paused = good(dark, seen(Container(WEB_ID, Status.PAUSED, STARTED)))
        assert [] == story.kinds(paused)
        assert [] == story.reboot().after(NOW_S + STUCK_AFTER_S).kinds(paused)
        assert [S] == story.after(STUCK_AFTER_S).kinds(paused)

    @pytest.mark.parametrize("mutation", [unreadable, deaf])
    def test_while_engine_or_router_say_nothing_no_service_is_stuck(self, story: Story, mutation: Mutation) -> None:
        assert [] == story.kinds(good(mutation))
        assert [] == story.after(STUCK_AFTER_S).kinds(good(mutation))
        assert isinstance(good(deaf).route, RouteUnread)

    @pytest.mark.parametrize(
        "mutations", [(on_hold, exited()), (exited(), failed(3)), (ended_well, until_done), (stopped, exited())]
    )
    def test_what_is_known_or_meant_is_not_stuck(self, story: Story, mutations: tuple[Mutation, ...]) -> None:
        story.look(good(dark, *mutations))
        assert S not in story.after(STUCK_AFTER_S).kinds(good(dark, *mutations))

    def test_a_first_start_that_takes_its_time_is_told_nothing_of(self, story: Story) -> None:
        starting = seen(Container(WEB_ID, Status.RUNNING, LATER, Health(HealthStatus.STARTING)))
        assert [] == story.kinds(good(dark, starting))
        assert [] == story.after(200).kinds(good())
        assert Told(BOOT) == story.told


# --- every run of looks --------------------------------------------------------------------------------------------------

_SCENES: tuple[tuple[Mutation, ...], ...] = (
    (), (dark, exited()), (dark, exited(1, LATER)), (dark, ended_well, until_done), (dark, restarted), (sick,),
    (dark, stopped, down),
    (dark, gone, declaring(binds=()), having(memory=Memory())), (dark, seen(Container(WEB_ID, Status.PAUSED, STARTED))),
    *((dark, exited(1, LATER), declaring(policy=LADDER), failed(each, -1e6)) for each in range(7)),
)  # fmt: skip
_MORE = (
    unreadable, deaf, stopped, on_hold, having(inhibited="by hand"), having(locked="its app is locked by pid 4711"),
    having(in_flight="start it"), attempted_before, attempt_on_record, withdrawn_when_sick, probed(NOT_READY, LATER), failed(3),
    after(Withdraw("shop", "web")), having(memory=Memory()),
)  # fmt: skip
_services = st.one_of(
    st.sampled_from(_SCENES).map(lambda scene: good(*scene)),
    st.tuples(st.sampled_from(_SCENES), st.lists(st.sampled_from(_MORE), max_size=2)).map(lambda both: good(*both[0], *both[1])),
    st.just(NOBODY),
)
_hosts = st.tuples(_services, _services | st.none(), st.sampled_from([0.0, 15.0, 120.0, 400.0, 4000.0]), st.integers(0, 20))
_Looks = list[tuple[Subject, Subject | None, float, int]]


def _run(looks: _Looks) -> Iterator[tuple[int, Notice]]:
    """Yield each notice with the number of times that its service had been unknown before."""
    story, eras = Story(), Counter[str]()
    for web, other, passed_s, chance in looks:
        story = story.reboot() if chance == 0 else story.after(passed_s)
        is_whole = chance % 2 == 0
        subjects = (web,) if other is None else (web, evolve(other, app="blog"))
        eras["blog"] += is_whole and other is None
        yield from ((eras[each.app], each) for each in story.look(*subjects, is_whole=is_whole))


@given(st.lists(_hosts, min_size=2, max_size=15))
@settings(max_examples=100, deadline=None)
def test_every_loop_has_one_recovered_and_nothing_is_told_too_often(looks: _Looks) -> None:
    """That nothing is told twice of one look, and that what was told survives as text, `look` asserts of each."""
    by_service: dict[str, list[tuple[int, Notice]]] = defaultdict(list)
    for era, each in _run(looks):
        by_service[each.app].append((era, each))
        assert each.kind is not NoticeKind.TEST
        assert each.sentence
    for notices in by_service.values():
        loop = [each.kind for _, each in notices if each.kind in {L, R}]
        assert [L, R] * (len(loop) // 2) + [L] * (len(loop) % 2) == loop
        _check_limits([each for each in notices if each[1].kind is C], CRASHED_EVERY_S)
        _check_limits([each for each in notices if each[1].kind is T], TOP_STEP_EVERY_S)
        is_looping = False
        for _, each in notices:
            is_looping = each.kind is L or (is_looping and each.kind is not R)
            assert is_looping or each.kind is not T
            assert not (is_looping and each.kind in {C, S})


def _check_limits(notices: list[tuple[int, Notice]], limit_s: float) -> None:
    for (era, first), (later, then) in pairwise(notices):
        is_anew = era != later or first.clock.boot_id != then.clock.boot_id
        assert is_anew or then.clock.boot_s - first.clock.boot_s >= limit_s


def test_every_kind_can_come_of_some_look() -> None:
    """A guard of the property above: its looks are not too tame."""
    found: Counter[NoticeKind] = Counter()

    @given(st.lists(_hosts, min_size=2, max_size=15))
    @settings(max_examples=60, deadline=None, database=None, derandomize=True)
    def gather(looks: _Looks) -> None:
        found.update(each.kind for _, each in _run(looks))

    gather()
    assert set(NoticeKind) - {NoticeKind.TEST} == set(found)
