"""From one snapshot to one plan: clashes over ports, exhaustion, decisions that are kept, and order that does not matter."""

from itertools import permutations

import pytest
from attrs import evolve

from gordon_core.effects import (
    DONE,
    Effect,
    Fault,
    Outcome,
    PersistBinds,
    Probe,
    Publish,
    RecordAttempt,
    Refused,
    Restart,
    Start,
    Stop,
    Unknown,
    Withdraw,
)
from gordon_core.memory import Attempt, Verified, Window
from gordon_core.observation import Bind, Clock, Port, PortBinding, Protocol, Status, Unread
from gordon_core.planner import Decision, Plan, decide, decide_beside, is_at_odds, names_foreign_ports, plan
from gordon_core.sentences import record
from gordon_core.situations import Situation
from gordon_core.snapshot import Clash, Snapshot, Subject, Superseded
from tests.core_examples import (
    BIND,
    BLOG_ID,
    CLOCK,
    EARLIER,
    EXEMPLARS,
    GENERATION,
    GOOD,
    HTTP,
    LATER,
    NOBODY,
    NOT_READY,
    NOW_S,
    OLD,
    OLD_BIND,
    OLD_ID,
    REFUSED_ROUTER,
    SILENT,
    STARTED,
    after,
    attempt_on_record,
    blog,
    dark,
    declaring,
    down,
    good,
    having,
    host,
    made,
    probed,
    remembering,
    restarted,
    routed,
    running,
    seen,
    sick,
    stopped,
    strange,
    superseding,
    unpublished,
    unreadable,
    withdrawn_in_vain,
)

unproven = having(unproven=True)
blog_down = seen(strange(Status.EXITED, container_id=BLOG_ID))


def situations(plan_: Plan) -> list[Situation]:
    """Return what holds, service by service."""
    return [each.situation for each in plan_.services]


def at(now_s: float) -> Clock:
    """Return another instant."""
    return evolve(CLOCK, boot_s=now_s)


# --- plans ------------------------------------------------------------------------------------------------------------


def test_a_plan_has_one_decision_for_each_service_in_order_and_one_for_each_superseded_container() -> None:
    found = plan(host(blog(dark), good(superseding)))
    assert ["blog/web", "shop/web"] == [each.subject.name for each in found.services]
    assert [OLD_ID] == [each.old.container_id for each in found.superseded if each.old is not None]
    assert found.services + found.superseded == found.decisions


def test_a_plan_is_quiet_if_nothing_is_called_for() -> None:
    assert (True, ()) == (plan(host(GOOD)).is_quiet, plan(host(GOOD)).effects)
    assert (False, (Withdraw("shop", "web"),)) == (plan(host(good(down))).is_quiet, plan(host(good(down))).effects)
    assert plan(host()).is_quiet


def test_held_is_what_stands_still_and_is_not_as_wanted() -> None:
    assert not decide(GOOD, NOW_S).is_held
    assert decide(good(unreadable), NOW_S).is_held


def test_the_order_of_services_does_not_matter() -> None:
    """D1."""
    subjects = [
        *(evolve(each, app=f"app{index}") for index, each in enumerate((GOOD, good(down), good(unreadable)))),
        good(down),
        blog(),
    ]
    records = {record(plan(host(*each))) for each in permutations(subjects)}
    assert 1 == len(records)


@pytest.mark.parametrize("situation", Situation, ids=lambda each: each.name)
def test_equal_snapshots_get_equal_plans(situation: Situation) -> None:
    """D1; the copies share no kept decision."""
    snapshot = EXEMPLARS[situation]
    copy = Snapshot(snapshot.clock, tuple(evolve(each) for each in snapshot.subjects))
    assert record(plan(snapshot)) == record(plan(copy))


# --- kept decisions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("situation", Situation, ids=lambda each: each.name)
def test_a_kept_decision_is_the_one_that_would_be_made_now(situation: Situation) -> None:
    subjects = EXEMPLARS[situation].subjects
    for now_s in (NOW_S, NOW_S + 1, NOW_S + 252, NOW_S + 251.9, NOW_S - 5, NOW_S + 10_000, NOW_S):
        fresh = plan(Snapshot(at(now_s), tuple(evolve(each) for each in subjects)))
        assert record(fresh) == record(plan(Snapshot(at(now_s), subjects)))


def test_an_unchanged_subject_gets_the_same_decision_object() -> None:
    first, second = (plan(Snapshot(at(now_s), (GOOD,))).services[0] for now_s in (NOW_S, NOW_S + 900))
    assert first is second


def test_a_wait_is_decided_anew_when_it_ends() -> None:
    cooling = good(dark, down, remembering(failures=3, charged_at_s=NOW_S - 30))
    found = [plan(Snapshot(at(now_s), (cooling,))).services[0] for now_s in (NOW_S, NOW_S + 29, NOW_S + 30)]
    assert [(Situation.COOLING, NOW_S + 30), (Situation.COOLING, NOW_S + 30), (Situation.DUE, None)] == [
        (each.situation, each.until_s) for each in found
    ]
    assert found[0] is found[1]


def test_a_window_ends_with_a_look_and_never_with_time_alone() -> None:
    proving, looked_at = (
        good(remembering(failures=1, window=Window(STARTED, NOW_S - 299, looked_s))) for looked_s in (NOW_S, NOW_S + 1)
    )
    assert [[Situation.PROVING], [Situation.PROVING], [Situation.RECOVERED]] == [
        situations(plan(Snapshot(at(now_s), (each,))))
        for now_s, each in ((NOW_S, proving), (NOW_S + 900, proving), (NOW_S + 1, looked_at))
    ]


# --- a pass ends ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", [REFUSED_ROUTER, Unknown(SILENT)])
def test_what_was_tried_in_vain_is_not_tried_again_in_this_pass(outcome: Outcome) -> None:
    tried = good(dark, probed(), after(Publish(GENERATION, (BIND,)), outcome))
    assert (Situation.BLOCKED, None) == (decide(tried, NOW_S).situation, decide(tried, NOW_S).effect)


def test_one_kind_of_effect_comes_twice_a_pass_at_most() -> None:
    """Even where the world contradicts every read-back, a pass ends."""
    once = good(down, after(Withdraw("shop", "web")))
    twice = made(once, after(Withdraw("shop", "web")))
    assert (Withdraw("shop", "web"), None) == (decide(once, NOW_S).effect, decide(twice, NOW_S).effect)
    assert Situation.BLOCKED is decide(twice, NOW_S).situation


def test_an_execution_that_came_after_a_refused_probe_is_probed() -> None:
    """A probe of another execution, or at other binds, proves nothing, and is not held against it."""
    charged = remembering(charged=STARTED, failures=1)
    assert Situation.NOT_READY is decide(good(dark, probed(NOT_READY), charged), NOW_S).situation
    assert Probe(GENERATION, LATER, (BIND,), 30.0) == decide(good(dark, probed(NOT_READY), charged, restarted), NOW_S).effect
    unanswered = good(dark, probed(Unknown("dropped")))
    assert Situation.BLOCKED is decide(unanswered, NOW_S).situation
    thrice = good(dark, probed(), probed(started_at=EARLIER), restarted)
    assert Situation.BLOCKED is decide(thrice, NOW_S).situation


# --- clashes ----------------------------------------------------------------------------------------------------------


def test_a_route_to_a_port_that_another_container_holds_is_withdrawn_even_if_its_app_is_locked() -> None:
    """P10: engines hand freed ports to the next container."""
    for owner in (
        good(down),
        good(down, having(locked="its app is locked by pid 1")),
        made(NOBODY, routed(BIND)),
        good(unreadable),
    ):
        found = plan(host(owner, blog()))
        assert [Situation.CONTENDING, Situation.CLASHING] == situations(found)
        assert (Withdraw("shop", "web"),) == found.effects


def test_a_clash_says_who_holds_the_port_and_who_names_it() -> None:
    holder, owner = plan(host(good(down), blog())).services
    assert Clash(32768, "blog/web", mine=True, failed=False) == owner.subject.clash
    assert Clash(32768, "shop/web", mine=False, failed=False) == holder.subject.clash


def test_a_paused_container_still_holds_its_port() -> None:
    paused = blog(seen(evolve(running(container_id=BLOG_ID), status=Status.PAUSED)))
    assert [Situation.PAUSED, Situation.CLASHING] == situations(plan(host(good(down), paused)))


def test_the_new_holder_of_a_port_is_stopped_where_the_old_route_could_not_be_withdrawn() -> None:
    in_vain = good(down, withdrawn_in_vain, unproven)
    stop = Stop(blog().generation(), 10.0, 32768)
    verified = remembering(verified=Verified(STARTED, (BIND,), 1))
    assert stop == plan(host(in_vain, blog())).services[0].effect
    assert Withdraw("blog", "web") == plan(host(in_vain, blog(routed(BIND), verified))).services[0].effect


def test_what_is_stopped_for_its_port_is_not_charged_and_not_started_on_that_port() -> None:
    in_vain = good(down, withdrawn_in_vain, unproven)
    holder = blog(blog_down, after(Stop(blog().generation(), 10.0)))
    assert Situation.HELD_OFF is plan(host(in_vain, holder)).services[0].situation
    without = made(holder, declaring(binds=()))
    assert RecordAttempt(without.generation(), STARTED) == plan(host(in_vain, without)).services[0].effect


def test_a_start_that_may_bring_a_port_back_waits_until_the_old_route_to_it_is_gone() -> None:
    found = plan(host(good(down), blog(blog_down)))
    assert [Situation.HELD_OFF, Situation.MISROUTED] == situations(found)


def test_the_port_that_a_container_had_to_yield_is_one_that_a_start_may_bring_back() -> None:
    yielded = blog(blog_down, declaring(binds=()), remembering(contested_port=32768))
    assert [Situation.HELD_OFF, Situation.MISROUTED] == situations(plan(host(good(down), yielded)))


def test_a_port_that_a_superseded_container_holds_is_no_reason_to_stop_its_successor() -> None:
    """The successor serves at a port of its own; only the route of the other service is wrong."""
    old = Superseded("01d01d01d01d00", running(EARLIER, 32768, "01d01d01d01d00"))
    serving = blog(
        seen(running(host_port=32900, container_id=BLOG_ID)),
        declaring(binds=(Bind(HTTP, 32900),)),
        routed(Bind(HTTP, 32900)),
        remembering(verified=Verified(STARTED, (Bind(HTTP, 32900),), 1)),
        having(superseded=(old,)),
    )
    in_vain = good(down, withdrawn_in_vain, unproven)
    assert [Situation.SETTLED, Situation.BLOCKED] == situations(plan(host(in_vain, serving)))
    assert [Situation.SETTLED, Situation.CLASHING] == situations(plan(host(good(down), serving)))


def test_a_service_does_not_clash_with_its_own_containers() -> None:
    own = good(superseding, routed(OLD_BIND), restarted)
    assert not names_foreign_ports(own)
    assert [Situation.UNPROBED] == situations(plan(host(own)))
    assert not names_foreign_ports(good(dark))


def test_a_port_that_is_not_handed_out_yet_clashes_with_nothing() -> None:
    """Forecasts, and documents made of them, know of ports that have no number yet."""
    new = Bind(HTTP, 0)
    holder = blog(seen(evolve(running(container_id=BLOG_ID), ports=(PortBinding(HTTP, "127.0.0.1", 0),))))
    assert [Situation.UNPROBED, Situation.MISROUTED] == situations(
        plan(host(good(routed(new), seen(strange(Status.EXITED))), holder))
    )


def test_two_routes_to_one_foreign_port_are_both_withdrawn() -> None:
    second = evolve(good(down), app="wiki")
    found = plan(host(good(down), second, blog()))
    assert [Situation.CONTENDING, Situation.CLASHING, Situation.CLASHING] == situations(found)


def test_a_holder_under_stopped_intent_is_stopped_anyway() -> None:
    assert Stop(blog().generation(), 10.0) == plan(host(good(down), blog(stopped))).services[0].effect
    assert Situation.SHUT is plan(host(good(down), blog(stopped, blog_down))).services[0].situation


def test_one_service_is_decided_beside_those_whose_routes_name_foreign_ports() -> None:
    owner, holder = good(down), blog(having(superseded=(OLD,)))
    alone = decide_beside(holder, (owner,), CLOCK)
    whole = plan(host(owner, holder))
    assert [whole.services[0].situation] == situations(alone)
    assert [Situation.AWAITING] == [each.situation for each in alone.superseded]
    assert [Situation.UNPROBED] == situations(decide_beside(blog(), (), CLOCK))


def test_two_looks_at_one_port_that_a_route_names_are_at_odds() -> None:
    """blog() holds the port of good(): of that other, what was seen is out of date."""
    assert is_at_odds(blog(), good(), (BIND,))
    assert is_at_odds(blog(), good(superseding), (OLD_BIND, BIND))
    assert not is_at_odds(blog(), good(), ())
    assert not is_at_odds(blog(), good(), (OLD_BIND,))
    assert not is_at_odds(blog(), good(down), (BIND,)), "the law knows of that"
    assert not is_at_odds(blog(blog_down), good(), (BIND,))


# --- the bound of a pass ----------------------------------------------------------------------------------------------


def _reply(effect: Effect, outcome: Outcome) -> Outcome:
    return outcome if not isinstance(effect, Probe) else DONE


@pytest.mark.parametrize("outcome", [DONE, REFUSED_ROUTER, Unknown(SILENT), Refused("no", Fault.WORKLOAD)])
@pytest.mark.parametrize("situation", Situation, ids=lambda each: each.name)
def test_a_pass_ends_even_if_no_effect_changes_anything(situation: Situation, outcome: Outcome) -> None:
    """L5: quiet within a bound known in advance."""
    snapshot, rounds = EXEMPLARS[situation], 0
    while not (now := plan(snapshot)).is_quiet:
        rounds += 1
        snapshot = Snapshot(CLOCK, tuple(_tried(each, now, outcome) for each in snapshot.subjects))
        assert rounds <= 30
    assert now.is_quiet


def _tried(subject: Subject, now: Plan, outcome: Outcome) -> Subject:
    for each in now.decisions:
        if each.effect is not None and each.subject.name == subject.name:
            subject = after(each.effect, _reply(each.effect, outcome))(subject)
    return subject


def test_a_container_of_unknown_state_that_active_does_not_name_is_left_alone() -> None:
    assert (Situation.ABSENT, None) == _of(decide(made(NOBODY, seen(running())), NOW_S))
    assert (Situation.ABSENT, None) == _of(decide(made(NOBODY, having(seen=Unread(SILENT))), NOW_S))


def _of(decision: Decision) -> tuple[Situation, Effect | None]:
    return decision.situation, decision.effect


def test_an_attempt_on_record_that_did_not_land_is_used_for_the_next_start() -> None:
    """Its start may land late; then it counts as pending, and its end is charged."""
    kept = good(dark, down, attempt_on_record)
    assert (Situation.DOWN, Start(GENERATION)) == _of(decide(kept, NOW_S))
    late = good(dark, seen(strange(Status.EXITED, LATER)), remembering(attempt=Attempt(STARTED)))
    assert Situation.ENDED is decide(late, NOW_S).situation


def test_recovery_of_what_is_unpublished_never_waits_for_the_router() -> None:
    deaf = having(route=EXEMPLARS[Situation.BLIND].subjects[0].route)
    proxy = good(unpublished, deaf)
    steps = [
        proxy,
        made(proxy, down),
        made(proxy, down, attempt_on_record),
        made(proxy, restarted),
        made(proxy, restarted, probed(DONE, LATER)),
    ]
    assert [
        Situation.SETTLED,
        Situation.DUE,
        Situation.DOWN,
        Situation.UNPROBED,
        Situation.UNREMEMBERED,
    ] == [decide(each, NOW_S).situation for each in steps]


def test_the_way_up_is_withdraw_record_and_only_then_touch() -> None:
    ways = [
        (good(sick), good(dark, sick), good(dark, sick, attempt_on_record)),
        (good(down), good(dark, down), good(dark, down, attempt_on_record)),
    ]
    assert [[Withdraw, RecordAttempt, Restart], [Withdraw, RecordAttempt, Start]] == [
        [type(decide(each, NOW_S).effect) for each in way] for way in ways
    ]


def test_a_service_decided_alone_is_decided_at_the_same_time() -> None:
    assert CLOCK == decide_beside(blog(), (good(down),), CLOCK).clock


def test_the_lowest_of_several_ports_that_clash_is_named_whatever_their_protocols() -> None:
    dns = (Bind(Port(53), 5353), Bind(Port(53, Protocol.UDP), 5353), Bind(HTTP, 32768), Bind(Port(9), 900))
    ports = tuple(PortBinding(each.port, "127.0.0.1", each.host_port) for each in dns)
    holder = blog(seen(evolve(running(container_id=BLOG_ID), ports=ports)))
    clash = plan(host(good(down, routed(*dns)), holder)).services[0].subject.clash
    assert Clash(900, "shop/web", mine=False, failed=False) == clash


def test_only_what_is_down_and_to_run_wants_the_ports_on_its_record() -> None:
    """What runs has the ports that it has, and what is to be stopped wants none."""
    elsewhere = blog(seen(running(host_port=32900, container_id=BLOG_ID)))
    assert [None, None] == [each.subject.clash for each in plan(host(good(down), elsewhere)).services]
    assert [None, None] == [each.subject.clash for each in plan(host(good(down), blog(stopped, blog_down))).services]


def test_what_was_refused_is_not_tried_again_with_other_words() -> None:
    """Only a probe is another one where the execution or its binds are others."""
    full = Refused("the disk is full", Fault.STORE)
    subject = good(dark, declaring(binds=()), probed(), after(PersistBinds(GENERATION, (OLD_BIND,)), full))
    assert (Situation.BLOCKED, None) == _of(decide(subject, NOW_S))


def test_an_unchanged_subject_is_not_decided_again_at_the_same_instant() -> None:
    """R16."""
    snapshot = host(good(down))
    assert plan(snapshot).services[0] is plan(snapshot).services[0]


def test_what_waits_for_nothing_is_decided_once_from_boot_on() -> None:
    waiting_for_nobody = good(dark, down)
    first, second = (plan(Snapshot(at(now_s), (waiting_for_nobody,))).services[0] for now_s in (0.0, 900.0))
    assert (Situation.DUE, True) == (first.situation, first is second)


def test_a_wait_that_is_over_now_is_none() -> None:
    cooled = host(good(dark, down, remembering(failures=3, charged_at_s=NOW_S - 60)))
    first, second = plan(cooled).services[0], plan(cooled).services[0]
    assert (Situation.DUE, True) == (first.situation, first is second)
