"""What of a look is written down: what is decided otherwise than before, with all that decided it."""

import pytest
from attrs import evolve

from gordon_core.looks import WHOLE_EVERY_S, Looked, extract, look
from gordon_core.memory import Memory, Verified, Window
from gordon_core.observation import Bind, Clock, RouteSeen, Status
from gordon_core.planner import Plan, plan
from gordon_core.situations import Situation
from gordon_core.snapshot import Declared, Snapshot, Subject, Superseded
from tests.core_examples import (
    BIND,
    CLOCK,
    EARLIER,
    GOOD,
    HTTP,
    LATER,
    LOST_ID,
    NOBODY,
    OLD_ID,
    STARTED,
    dark,
    deaf,
    down,
    gone,
    good,
    having,
    host,
    made,
    remembering,
    restarted,
    routed,
    running,
    seen,
    strange,
    struck_once,
    superseding,
    unhealthy,
    unreadable,
)


def at(seconds: float) -> Clock:
    return evolve(CLOCK, boot_s=CLOCK.boot_s + seconds, wall_s=CLOCK.wall_s + seconds)


def later(seconds: float, *subjects: Subject) -> Plan:
    return plan(Snapshot(at(seconds), subjects))


_BINDS = (Bind(HTTP, 33000),)
API = Subject(
    "shop",
    "api",
    running(host_port=33000, container_id="a91"),
    Declared("a91", 3, (HTTP,), _BINDS),
    route=RouteSeen(_BINDS),
    memory=Memory(verified=Verified(STARTED, _BINDS, 3)),
)
locked = having(locked="its app is locked by pid 4711")
CHARGED = good(down, dark, remembering(failures=4, charged=STARTED, charged_at_s=CLOCK.boot_s))


def blog() -> Subject:
    """Return a service that runs, unpublished, at the port to which the good one is routed."""
    return Subject("blog", "web", running(container_id="b106"), Declared("b106", 1, (HTTP,), published=False))


class TestLook:
    def test_the_first_look_at_everything_is_written_down_whole(self) -> None:
        now = plan(host(GOOD, API))
        looked, news = look(Looked(), now, is_whole=True)
        assert news is not None
        assert news.is_whole
        assert host(GOOD, API) == news.snapshot
        assert (["shop/api", "shop/web"], CLOCK.wall_s) == (sorted(looked.marks), looked.whole_at_s)

    def test_where_the_same_is_decided_nothing_is_new(self) -> None:
        looked, _ = look(Looked(), plan(host(GOOD, Subject("blog", "web", NOBODY.seen))), is_whole=True)
        again, news = look(looked, later(15, GOOD, Subject("blog", "web", NOBODY.seen)), is_whole=True)
        assert news is None
        assert looked.marks == again.marks

    def test_a_wait_that_goes_on_is_nothing_new(self) -> None:
        """Its sentence says how much time is left, and so is another one each time."""
        looked, _ = look(Looked(), plan(host(CHARGED)), is_whole=True)
        now = later(15, evolve(CHARGED))
        assert Situation.COOLING is now.services[0].situation
        assert look(looked, now, is_whole=True)[1] is None

    def test_a_window_that_goes_on_is_nothing_new(self) -> None:
        def recovering(looked_s: float) -> Subject:
            return good(remembering(failures=1, window=Window(STARTED, CLOCK.boot_s, CLOCK.boot_s + looked_s)))

        looked, _ = look(Looked(), plan(host(recovering(0))), is_whole=True)
        assert look(looked, later(15, recovering(15)), is_whole=True)[1] is None

    def test_only_what_is_decided_otherwise_is_written_down(self) -> None:
        looked, _ = look(Looked(), plan(host(GOOD, API)), is_whole=True)
        after, news = look(looked, later(15, good(down), API), is_whole=True)
        assert news is not None
        assert not news.is_whole
        assert Snapshot(at(15), (good(down),)) == news.snapshot
        assert look(after, later(30, good(down), API), is_whole=True)[1] is None

    def test_what_tells_two_looks_apart_is_more_than_the_situation(self) -> None:
        for one, other in (
            (GOOD, evolve(GOOD, declared=None, seen=NOBODY.seen)),
            (good(unhealthy_once), good(unhealthy_once, struck_once)),
            (CHARGED, evolve(CHARGED, memory=evolve(CHARGED.memory, failures=5))),
            (good(down), good(seen(strange(Status.EXITED, LATER)))),
            (good(down, routed()), good(down, routed(BIND))),
            (good(), good(superseding)),
        ):
            looked, _ = look(Looked(), plan(host(one)), is_whole=True)
            news = look(looked, plan(host(other)), is_whole=True)[1]
            assert news is not None
            assert host(other) == news.snapshot

    @pytest.mark.parametrize(
        ("one", "other", "situation"),
        [
            (good(dark, restarted), good(dark, seen(running(LATER, 32800))), Situation.UNPROBED),
            (good(down), good(down, routed(Bind(HTTP, 32800))), Situation.MISROUTED),
            (good(locked, dark), good(locked, deaf), Situation.LOCKED),
            (good(locked, unreadable), good(locked, gone), Situation.LOCKED),
        ],
        ids=("effect", "route", "silence of the router", "silence of the engine"),
    )
    def test_in_one_situation_too_looks_are_told_apart(self, one: Subject, other: Subject, situation: Situation) -> None:
        before, now = plan(host(one)), plan(host(other))
        assert [situation, situation] == [each.services[0].situation for each in (before, now)]
        looked, _ = look(Looked(), before, is_whole=True)
        assert look(looked, now, is_whole=True)[1] is not None

    @pytest.mark.parametrize("which", [0, 1])
    def test_each_other_container_of_a_service_tells_looks_apart(self, which: int) -> None:
        exited = tuple(Superseded(each, strange(Status.EXITED, EARLIER, each)) for each in (OLD_ID, LOST_ID))
        dead = evolve(exited[which], seen=strange(Status.DEAD, EARLIER, exited[which].container_id))
        before, now = (
            plan(host(good(having(superseded=each))))
            for each in (exited, tuple(dead if each is exited[which] else each for each in exited))
        )
        assert [[Situation.RETIRED] * 2] * 2 == [[each.situation for each in it.superseded] for it in (before, now)]
        looked, _ = look(Looked(), before, is_whole=True)
        assert look(looked, now, is_whole=True)[1] is not None

    def test_a_service_with_other_containers_tells_looks_apart_itself(self) -> None:
        before, now = (plan(host(good(locked, superseding, each))) for each in (unreadable, gone))
        looked, _ = look(Looked(), before, is_whole=True)
        assert look(looked, now, is_whole=True)[1] is not None

    def test_a_look_at_some_says_nothing_of_the_others(self) -> None:
        looked, _ = look(Looked(), plan(host(GOOD, API)), is_whole=True)
        after, news = look(looked, later(15, good(down)), is_whole=False)
        assert news is not None
        assert looked.marks["shop/api"] == after.marks["shop/api"]
        assert look(after, later(30, good(down), API), is_whole=True)[1] is None

    def test_a_look_at_some_is_never_a_whole_one(self) -> None:
        looked, news = look(Looked(), plan(host(GOOD)), is_whole=False)
        assert news is not None
        assert (False, None) == (news.is_whole, looked.whole_at_s)

    def test_what_is_gone_is_forgotten_and_new_when_it_is_back(self) -> None:
        looked, _ = look(Looked(), plan(host(GOOD, API)), is_whole=True)
        without, news = look(looked, later(15, GOOD), is_whole=True)
        assert news is None
        news = look(without, later(30, GOOD, API), is_whole=True)[1]
        assert news is not None
        assert Snapshot(at(30), (API,)) == news.snapshot

    def test_once_a_day_all_is_written_down(self) -> None:
        looked, _ = look(Looked(), plan(host(GOOD, API)), is_whole=True)
        assert look(looked, later(WHOLE_EVERY_S - 1, GOOD, API), is_whole=True)[1] is None
        for seconds in (WHOLE_EVERY_S, -WHOLE_EVERY_S):  # a wall clock that was set back would put it off
            clock = evolve(CLOCK, wall_s=CLOCK.wall_s + seconds)
            after, news = look(looked, plan(Snapshot(clock, (GOOD, API))), is_whole=True)
            assert news is not None
            assert (True, clock.wall_s) == (news.is_whole, after.whole_at_s)

    def test_a_clash_is_not_in_what_is_written_down(self) -> None:
        """It is derived, and was another one in the plan of the day before."""
        for _, news in (look(Looked(), plan(host(good(down), blog())), is_whole=each) for each in (True, False)):
            assert news is not None
            assert [None, None] == [each.clash for each in news.snapshot.subjects]

    def test_what_clashes_with_nothing_is_handed_on_with_what_was_decided_of_it(self) -> None:
        _, news = look(Looked(), plan(host(GOOD)), is_whole=True)
        assert news is not None
        assert GOOD is news.snapshot.subjects[0]


class TestExtract:
    def test_a_decision_alone_needs_its_subject_alone(self) -> None:
        now = plan(host(good(down), API))
        assert host(good(down)) == extract(now, now.services[1])

    def test_with_a_clash_it_needs_both(self) -> None:
        now = plan(host(good(down), blog(), API))
        holder, _, owner = now.services
        assert host(good(down), blog()) == extract(now, owner) == extract(now, holder)

    def test_with_a_row_of_clashes_it_needs_them_all(self) -> None:
        """Two name a port that a third one holds: one looks to it, and it looks to the other."""
        first, second = good(down), good(down, having(app="a"))
        now = plan(host(first, second, blog(), API))
        found = extract(now, now.services[-1])
        assert ["a/web", "blog/web", "shop/web"] == [each.name for each in found.subjects]
        assert [each.effect for each in now.services if each.subject.name != "shop/api"] == [
            each.effect for each in plan(found).services
        ]

    def test_several_decisions_are_taken_together(self) -> None:
        now = plan(host(GOOD, API, made(NOBODY, having(app="x"))))
        assert host(GOOD, API) == extract(now, *now.services[:2])
        assert Snapshot(CLOCK) == extract(now)


def unhealthy_once(subject: Subject) -> Subject:
    return evolve(subject, seen=unhealthy(STARTED, "06:58"))
