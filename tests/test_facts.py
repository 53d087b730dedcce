"""One question each: routes, predecessors, withdrawals, and what the rows put together of them."""

import pytest
from attrs import evolve

from gordon_core import facts
from gordon_core.calm import is_calm
from gordon_core.effects import DONE, Publish, Start, Withdraw
from gordon_core.memory import Verified, Window
from gordon_core.observation import (
    Bind,
    Gone,
    Health,
    HealthStatus,
    Port,
    PortBinding,
    Protocol,
    RouteSeen,
    Status,
    Unread,
)
from gordon_core.planner import decide
from gordon_core.situations import Situation
from gordon_core.snapshot import Clash, Subject
from tests.core_examples import (
    BIND,
    EARLIER,
    GENERATION,
    HTTP,
    LATER,
    NOBODY,
    NOW_S,
    OLD,
    OLD_BIND,
    OLD_ID,
    REFUSED_ROUTER,
    REFUSED_START,
    SILENT,
    STARTED,
    Mutation,
    after,
    ailing,
    attempt_on_record,
    attempted_before,
    dark,
    deaf,
    declaring,
    down,
    gone,
    good,
    having,
    made,
    old_seen,
    probed,
    remembering,
    restarted,
    routed,
    running,
    seen,
    sick,
    strange,
    superseding,
    unpublished,
    with_route,
)

DNS = Port(53, Protocol.UDP)
WITHDRAWN = after(Withdraw("shop", "web"))
PORTLESS = (declaring(ports=(), binds=()), seen(evolve(running(), ports=())), remembering(verified=Verified(STARTED, (), 3)))


def test_published_is_declared_so_and_with_ports() -> None:
    assert (True, False, False, False) == tuple(map(facts.is_published, (good(), good(unpublished), good(*PORTLESS), NOBODY)))


def test_a_router_that_carries_no_udp_is_right_without_it() -> None:
    """Else a service with a UDP port would be published again in every pass."""
    ports = (PortBinding(HTTP, "127.0.0.1", 32768), PortBinding(DNS, "127.0.0.1", 5353))
    binds = (BIND, Bind(DNS, 5353))
    both = good(
        declaring(ports=(HTTP, DNS), binds=binds),
        seen(evolve(running(), ports=ports)),
        remembering(verified=Verified(STARTED, binds, 3)),
    )
    tcp = made(both, with_route(RouteSeen((BIND,), (Protocol.TCP,))))
    assert (False, True) == (facts.is_routed(both), facts.is_routed(tcp))
    assert Situation.SETTLED is decide(tcp, NOW_S).situation
    ready = made(tcp, with_route(RouteSeen((), (Protocol.TCP,))), probed(binds=binds))
    assert Publish(GENERATION, (BIND,)) == decide(ready, NOW_S).effect


def test_what_a_router_carries_nothing_of_needs_no_route() -> None:
    """A route to no bind at all is never published."""
    binds = (Bind(DNS, 5353),)
    subject = good(
        declaring(ports=(DNS,), binds=binds),
        seen(evolve(running(), ports=(PortBinding(DNS, "127.0.0.1", 5353),))),
        remembering(verified=Verified(STARTED, binds, 3)),
        with_route(RouteSeen((), (Protocol.TCP,))),
    )
    assert Situation.SETTLED is decide(subject, NOW_S).situation


def test_routed_is_verified_and_routed_to_exactly_its_binds() -> None:
    assert (True, False, False, False, False) == tuple(
        map(
            facts.is_routed,
            (good(), good(dark), good(deaf), good(routed(BIND, OLD_BIND)), good(restarted)),
        )
    )


@pytest.mark.parametrize(
    ("old", "serving"),
    [
        pytest.param(OLD, True, id="it runs as it was verified"),
        pytest.param(evolve(OLD, seen=Unread(SILENT)), True, id="not read is no contradiction"),
        pytest.param(evolve(OLD, seen=Gone()), False, id="gone"),
        pytest.param(evolve(OLD, verified=None), False, id="never verified"),
        pytest.param(evolve(OLD, seen=running(LATER, 32700, OLD_ID)), False, id="another execution"),
        pytest.param(evolve(OLD, seen=running(EARLIER, 32701, OLD_ID)), False, id="at another port by now"),
        pytest.param(evolve(OLD, seen=strange(Status.PAUSED, EARLIER, OLD_ID)), False, id="paused"),
    ],
)
def test_a_predecessor_serves_as_its_verified_execution(old: object, serving: bool) -> None:  # noqa: FBT001 - a table
    assert serving == facts.still_serves(old)
    subject = good(restarted, routed(OLD_BIND), having(superseded=(old,)))
    assert serving == facts.leads_to_predecessor(subject)
    assert serving == (not facts.leads_astray(subject))


def test_a_route_to_the_predecessor_is_right_until_the_successor_serves() -> None:
    assert not facts.leads_astray(good(down, superseding, routed(OLD_BIND)))
    assert not facts.leads_astray(good(superseding, routed(OLD_BIND)))
    assert facts.leads_astray(good(superseding, routed(OLD_BIND, Bind(HTTP, 1))))
    assert not facts.leads_astray(good(superseding))


def test_a_port_that_the_successor_holds_is_none_of_its_unread_predecessors() -> None:
    """P10: the predecessor died unseen, and the engine handed its port to the successor, which is not verified yet."""
    subject = good(old_seen(Unread(SILENT)), routed(OLD_BIND), seen(running(LATER, 32700)))
    assert (True, Withdraw("shop", "web")) == (facts.leads_astray(subject), decide(subject, NOW_S).effect)
    assert not facts.is_clear(subject)


def test_a_port_on_record_is_none_of_its_unread_predecessors() -> None:
    """P10: it held the port since; else its claim would be released, once it is gone, while a route still names it."""
    recorded = having(declared=evolve(good().declared, binds=(OLD_BIND,)))
    subject = good(gone, recorded, old_seen(Unread(SILENT)), routed(OLD_BIND))
    assert (True, Withdraw("shop", "web")) == (facts.leads_astray(subject), decide(subject, NOW_S).effect)


def test_the_route_to_the_predecessor_of_an_unpublished_service_goes_once_that_serves() -> None:
    """L4: else the predecessor would wait for ever for a publication that never comes."""
    starting = good(unpublished, superseding, routed(OLD_BIND), restarted)
    serving = good(unpublished, superseding, routed(OLD_BIND))
    assert Situation.UNPROBED is decide(starting, NOW_S).situation
    assert Withdraw("shop", "web") == decide(serving, NOW_S).effect


def test_a_route_leads_astray_to_what_does_not_run_as_verified() -> None:
    astray = (
        good(down),
        good(restarted),
        good(gone),
        good(routed(OLD_BIND)),
        good(seen(strange(Status.RESTARTING))),
        good(unpublished),
    )
    assert [True] * 6 == list(map(facts.leads_astray, astray))
    assert [False] * 3 == list(map(facts.leads_astray, (good(), good(dark), good(deaf))))


def test_withdrawn_is_an_empty_read_or_a_withdrawal_read_back() -> None:
    assert (False, True, False, True) == tuple(map(facts.is_withdrawn, (good(), good(dark), good(deaf), good(deaf, WITHDRAWN))))
    assert not facts.is_withdrawn(good(deaf, after(Withdraw("shop", "web"), REFUSED_ROUTER)))
    assert not facts.is_withdrawn(good(deaf, WITHDRAWN, after(Publish(GENERATION, (BIND,)))))
    assert not facts.is_withdrawn(good(WITHDRAWN))
    assert not facts.is_withdrawn(good(dark, having(unproven=True)))


def test_a_container_is_clear_once_nothing_leads_to_it() -> None:
    assert (False, True, False) == tuple(map(facts.is_clear, (good(), good(dark), good(deaf))))
    assert facts.is_clear(good(deaf, unpublished))
    assert facts.is_clear(good(superseding, routed(OLD_BIND)))
    assert not facts.is_clear(good(deaf, unpublished, having(unproven=True)))


def test_it_may_be_routed_until_somebody_could_look() -> None:
    assert (True, False, True) == tuple(map(facts.may_be_routed, (good(), good(dark), good(deaf))))
    assert (False, False) == tuple(map(facts.may_be_routed, (good(deaf, WITHDRAWN), good(deaf, unpublished))))
    assert facts.may_be_routed(good(dark, having(unproven=True)))


def test_it_serves_running_verified_routed_and_not_unhealthy() -> None:
    assert (True, False, False, False) == tuple(
        map(facts.serves, (good(), good(dark), good(ailing), good(having(unproven=True))))
    )
    assert (True, True) == (facts.serves(good(unpublished, dark)), facts.serves(good(*PORTLESS, dark)))
    assert facts.serves(good(seen(running(health=Health(HealthStatus.STARTING)))))


@pytest.mark.parametrize(
    ("status", "stable"), [(each, each in {HealthStatus.NONE, HealthStatus.HEALTHY}) for each in HealthStatus]
)
def test_a_stable_look_is_healthy_or_without_a_health_check(status: HealthStatus, stable: bool) -> None:  # noqa: FBT001
    assert stable == facts.is_stable(good(seen(running(health=Health(status)))))


def test_a_settled_service_is_not_asked_again() -> None:
    assert (True, False, False) == tuple(map(facts.is_settled, (good(), good(dark), good(declaring(binds=())))))
    assert (False, True, False) == tuple(map(facts.needs_a_probe, (good(), good(dark), good(dark, probed()))))


def test_the_budget_is_waited_out_up_to_the_second() -> None:
    cooling = good(down, remembering(failures=3, charged_at_s=NOW_S - 60))
    assert (True, False) == (facts.waits_out_its_budget(cooling, NOW_S - 0.1), facts.waits_out_its_budget(cooling, NOW_S))
    healthy = good(remembering(failures=3, charged_at_s=NOW_S))
    assert not facts.waits_out_its_budget(healthy, NOW_S)


def test_five_stable_minutes_are_over_to_the_second() -> None:
    def proving(**changes: object) -> Subject:
        return good(remembering(failures=1, window=Window(STARTED, 9_700.0, NOW_S)), having(**changes))

    assert (False, True) == (facts.has_been_stable(proving(), NOW_S - 0.1), facts.has_been_stable(proving(), NOW_S))
    assert not facts.has_been_stable(proving(route=RouteSeen()), NOW_S)
    assert not facts.has_been_stable(good(remembering(window=Window(STARTED, 9_700.0, NOW_S))), NOW_S)
    assert not facts.has_been_stable(good(remembering(failures=1)), NOW_S)


def test_clashes_are_told_by_whose_route_it_is_and_by_whether_it_could_go() -> None:
    mine, theirs, stuck = (
        good(dark, having(clash=Clash(32768, "blog/web", mine=is_mine, failed=is_failed)))
        for is_mine, is_failed in ((True, False), (False, False), (False, True))
    )
    assert (False, True, False, False) == tuple(map(facts.names_a_foreign_port, (good(), mine, theirs, stuck)))
    assert (False, False, True, True) == tuple(map(facts.is_contested, (good(), mine, theirs, stuck)))
    assert (False, False, False, True) == tuple(map(facts.is_contested_for_good, (good(), mine, theirs, stuck)))
    assert (False, True) == tuple(map(facts.is_contested_and_exposed, (stuck, made(stuck, routed(BIND)))))


def test_a_gone_container_keeps_its_claims_and_memory_while_it_may_be_routed() -> None:
    assert facts.is_kept_by_an_unread_route(good(gone, deaf))
    assert facts.is_kept_by_an_unread_route(good(gone, deaf, declaring(binds=())))
    assert not facts.is_kept_by_an_unread_route(good(gone, dark))
    assert not facts.is_kept_by_an_unread_route(good(gone, deaf, declaring(binds=()), remembering(verified=None)))


def test_a_refused_start_that_took_effect_after_all_was_not_in_vain() -> None:
    refused = (dark, down, attempt_on_record, after(Start(GENERATION), REFUSED_START))
    assert facts.was_refused_in_vain(good(*refused))
    assert not facts.was_refused_in_vain(good(*refused, seen(strange(Status.EXITED, LATER))))
    assert not facts.was_refused_in_vain(good(*refused, remembering(attempt=None)))


def test_only_what_is_down_or_sick_relapses_lacks_or_spends() -> None:
    ungranted = having(ungranted=("/dev/fuse is not granted",))
    assert (False, True, True) == tuple(map(facts.lacks_a_grant, (good(ungranted), good(ungranted, down), good(ungranted, sick))))
    started = after(Start(GENERATION), DONE)
    assert (False, True) == tuple(map(facts.has_spent_its_pass, (good(started), good(started, down))))
    assert (False, True) == tuple(map(facts.has_relapsed, (good(attempted_before), good(attempted_before, sick))))
    assert (True, False) == tuple(map(facts.is_exposed, (good(sick), good(sick, dark))))
    assert (True, False, False) == tuple(
        map(facts.needs_an_attempt_on_record, (good(down), good(down, attempt_on_record), good()))
    )


def test_a_window_of_another_execution_proves_nothing() -> None:
    """B4."""
    other = remembering(failures=1, window=Window(EARLIER, NOW_S - 900.0, NOW_S))
    same = remembering(failures=1, window=Window(STARTED, NOW_S - 900.0, NOW_S))
    assert (False, True) == (facts.has_been_stable(good(other), NOW_S), facts.has_been_stable(good(same), NOW_S))


@pytest.mark.parametrize(
    "mark",
    [
        pytest.param(WITHDRAWN, id="a result"),
        pytest.param(superseding, id="a superseded container"),
        pytest.param(having(orphans=("55aa55aa55aa00",)), id="an orphan"),
        pytest.param(having(locked="its app is locked by pid 1"), id="a lock"),
        pytest.param(having(in_flight="start it"), id="a command in flight"),
        pytest.param(having(inhibited="by hand"), id="an inhibition"),
        pytest.param(having(ungranted=("/dev/fuse is not granted",)), id="a missing grant"),
        pytest.param(having(unproven=True), id="an unproven withdrawal"),
        pytest.param(having(clash=Clash(32768, "blog/web", mine=False, failed=False)), id="a clash"),
        pytest.param(attempted_before, id="a history"),
    ],
)
def test_any_mark_by_itself_ends_the_calm(mark: Mutation) -> None:
    assert (True, False) == (is_calm(good()), is_calm(good(mark)))


def test_what_does_not_run_holds_no_port_and_what_active_does_not_name_has_none_on_record() -> None:
    asleep = good(old_seen(Unread(SILENT)), seen(evolve(running(LATER, 32700), status=Status.PAUSED)), declaring(binds=()))
    assert {OLD_BIND} == facts.predecessors_binds(asleep)
    assert {OLD_BIND} == facts.predecessors_binds(made(NOBODY, superseding))


def test_a_route_to_a_part_of_its_verified_binds_does_not_lead_astray() -> None:
    """It is published anew, and what it has of traffic is not taken away for that."""
    other = Bind(Port(81), 32769)
    half = good(
        declaring(ports=(HTTP, Port(81)), binds=(BIND, other)),
        seen(evolve(running(), ports=(PortBinding(HTTP, "127.0.0.1", 32768), PortBinding(Port(81), "127.0.0.1", 32769)))),
        remembering(verified=Verified(STARTED, (BIND, other), 3)),
        routed(BIND),
    )
    assert (False, True) == (facts.leads_astray(half), facts.is_unrouted(half))
    assert facts.leads_astray(made(half, restarted))
