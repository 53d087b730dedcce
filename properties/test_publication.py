"""P1 to P10, each a named test. Safety is judged on commands, in every world of the fleet; then on plans of any snapshot."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given

from gordon_core.effects import (
    DropMarker,
    Effect,
    PersistBinds,
    Publish,
    RecordVerified,
    ReleaseBinds,
    ReleaseClaims,
    Remove,
    Restart,
    Retire,
    Start,
    Stop,
    Withdraw,
)
from gordon_core.observation import Container, Gone, Port, RouteSeen, RouteUnread, Status, Unread
from gordon_core.planner import plan
from gordon_core.snapshot import Declared, Intent, Snapshot, Subject
from gordon_shell.sqlite_store import SqliteStore
from properties.boxes import Nature
from properties.faults import ROUTER_READS, Dice, Fate, Weather
from properties.fleet import Fleet
from properties.reachable import any_snapshots, settled
from properties.voyage import Voyage, course, failure_of


class Blind(Dice):
    """Lets every read but those of the store and the engine fail."""

    def fate(self, fates: Sequence[Fate]) -> Fate:
        """Draw no fault but that one."""
        return Fate.FAILS if fates is ROUTER_READS else Fate.WELL


def calls(snapshot: Snapshot) -> list[tuple[Subject, Effect]]:
    """Return each effect that a plan calls for, with its subject."""
    return [(each.subject, each.effect) for each in plan(snapshot).decisions if each.effect is not None]


def test_p1_publication_follows_readiness(fleet: Fleet) -> None:
    """P1 Every publication follows, in the same pass, a readiness answer of that execution at those binds, and a later read
    that shows it running with them. After a pass without faults nothing is routed but verified executions that run (or a
    superseded one whose successor is not yet published)."""
    fleet.demand("P1", 2_000)


@given(any_snapshots())
def test_p1_nothing_is_published_but_what_runs_and_is_remembered_as_verified(snapshot: Snapshot) -> None:
    """P1, of any snapshot."""
    for subject, effect in calls(snapshot):
        if isinstance(effect, Publish):
            assert isinstance(subject.seen, Container)
            assert subject.memory.verified is not None
            assert (Status.RUNNING, subject.seen.started_at) == (subject.seen.status, subject.memory.verified.started_at)
            assert set(effect.binds) <= set(subject.memory.verified.binds)


def test_p2_withdrawal_comes_first(fleet: Fleet) -> None:
    """P2 A start, restart, stop or retirement of a container happens only after a proven withdrawal of what routes to it
    (under stopped intent the stop goes ahead although the withdrawal failed, and the failure is reported)."""
    fleet.demand("P2", 300)


@given(any_snapshots())
def test_p2_what_is_touched_under_running_intent_is_not_its_own_route(snapshot: Snapshot) -> None:
    """P2, of any snapshot: no start, restart or stop while a read shows the route to it, or the withdrawal is unproven."""
    for subject, effect in calls(snapshot):
        if subject.intent is Intent.RUNNING and isinstance(effect, Start | Restart | Stop):
            assert not subject.unproven
            if isinstance(subject.route, RouteSeen) and isinstance(subject.seen, Container) and not subject.superseded:
                assert () == subject.route.binds


def test_p3_unproven_withdrawals_block(fleet: Fleet) -> None:
    """P3 After an unproven withdrawal nothing of that service is published, started or restarted before a proof: a withdrawal
    read back, or a read that shows no route."""
    fleet.demand("P3", 500)


@given(any_snapshots())
def test_p3_an_unproven_mark_leaves_nothing_but_a_withdrawal(snapshot: Snapshot) -> None:
    """P3, of any snapshot."""
    assert [] == [
        effect
        for subject, effect in calls(snapshot)
        if subject.unproven and isinstance(effect, Publish | Start | Restart | Retire)
    ]


def test_p4_binds_are_on_record_first(fleet: Fleet) -> None:
    """P4 Binds are persisted only after readiness and re-reading, and published only after they are persisted."""
    fleet.demand("P4", 300)


@given(any_snapshots())
def test_p4_what_is_published_is_on_record(snapshot: Snapshot) -> None:
    """P4, of any snapshot: binds of a running container only, and published ones are those on record."""
    for subject, effect in calls(snapshot):
        assert not isinstance(effect, PersistBinds) or isinstance(subject.seen, Container)
        if isinstance(effect, Publish):
            assert subject.declared is not None
            assert set(effect.binds) <= set(subject.declared.binds)


def test_p5_the_predecessor_outlives_a_successor_that_does_not_serve(fleet: Fleet) -> None:
    """P5 Under running intent a superseded container whose service ACTIVE still has is retired only if its successor was seen,
    in the same pass, as the running, verified, routed execution."""
    fleet.demand("P5", 100)


@given(any_snapshots())
def test_p5_nothing_superseded_is_touched_before_the_successor_runs(snapshot: Snapshot) -> None:
    """P5, of any snapshot."""
    for subject, effect in calls(snapshot):
        wanted = subject.declared is not None and subject.intent is Intent.RUNNING
        if wanted and isinstance(effect, Retire | Remove | ReleaseClaims):
            assert isinstance(subject.seen, Container)
            assert subject.memory.verified is not None
            assert (Status.RUNNING, subject.seen.started_at) == (subject.seen.status, subject.memory.verified.started_at)


def test_p6_only_what_is_wanted_is_started(fleet: Fleet) -> None:
    """P6 Nothing is started or published under stopped intent, for an inhibited generation, or for an ID not in ACTIVE."""
    fleet.demand("P6", 1_000)


@given(any_snapshots())
def test_p6_no_plan_starts_or_publishes_what_is_not_wanted(snapshot: Snapshot) -> None:
    """P6, of any snapshot."""
    for subject, effect in calls(snapshot):
        if isinstance(effect, Start | Restart | Publish):
            assert (Intent.RUNNING, "") == (subject.intent, subject.inhibited)
            assert subject.generation() == effect.generation


def test_p7_silence_changes_nothing(fleet: Fleet) -> None:
    """P7 A read that failed changes neither workload nor traffic."""
    fleet.demand("P7", 300)


@given(any_snapshots())
def test_p7_what_could_not_be_read_is_left_alone(snapshot: Snapshot) -> None:
    """P7, of any snapshot: no command to a container that could not be read, no publication that no read of the router bears."""
    for subject, effect in calls(snapshot):
        if isinstance(subject.seen, Unread):
            assert not isinstance(effect, Start | Restart | Stop | Publish | PersistBinds | ReleaseBinds | RecordVerified)
        assert not (isinstance(subject.route, RouteUnread) and isinstance(effect, Publish))
        for old in subject.superseded:
            named = isinstance(effect, Retire | Remove) and effect.container_id == old.container_id
            assert not (named and isinstance(old.seen, Unread))


def test_p8_publishing_one_routes_no_other(fleet: Fleet) -> None:
    """P8 Publishing one service never routes another."""
    fleet.demand("P8", 100)


@given(any_snapshots())
def test_p8_an_effect_names_its_own_service(snapshot: Snapshot) -> None:
    """P8, of any snapshot."""
    for subject, effect in calls(snapshot):
        named = getattr(effect, "generation", effect)
        assert (subject.app, subject.service) == (getattr(named, "app", ""), getattr(named, "service", ""))


def test_p9_active_is_written_under_the_lock(fleet: Fleet) -> None:
    """P9 ACTIVE is written only by compare-and-set under the app lock; no update of a concurrent deploy is ever lost."""
    fleet.demand("P9", 2_000)


def test_p9_a_locked_app_is_not_touched() -> None:
    """P9, while somebody else holds every lock: no command at all, whatever is wrong."""
    voyage = settled(3)
    for box in list(voyage.world.boxes.values()):
        voyage.world.die(box.container_id)
    voyage.world.locks.update(dict.fromkeys(("shop", "blog"), "the deploy tool"))
    voyage.rough_pass()
    assert [] == voyage.court.notes(voyage.program.name).commands


def test_p10_ports_have_one_owner(fleet: Fleet) -> None:
    """P10 No port claim is released while a route may name it; no route names a port that another container holds at the end of
    a pass."""
    fleet.demand("P10", 2_000)


def test_p10_a_route_to_a_port_of_another_goes_even_if_its_app_is_locked() -> None:
    """P10, where the app of the route is locked, and the new holder of the port belongs to another."""
    voyage = settled(3)
    for service in (("shop", "old"), ("blog", "new")):
        name = service[1]
        voyage.world.create(name, Nature.KIND, ((Port(80), 0),))
        voyage.world.start(name)
        voyage.world.disk.activate(*service, Declared(name, 1, (Port(80),)), 0, None)
    voyage.rough_pass()
    voyage.world.routes["shop", "old"] = voyage.world.routes["blog", "new"]
    voyage.world.locks["shop"] = "the deploy tool"
    voyage.rough_pass()
    assert ("shop", "old") not in voyage.world.routes
    assert ("blog", "new") in voyage.world.routes


def test_p10_claims_of_what_is_gone_wait_for_a_proof() -> None:
    """P10, where the container is gone, and the router cannot be read: the route is withdrawn first."""
    voyage = settled(3)
    voyage.world.create("c", Nature.KIND, ((Port(80), 0),))
    voyage.world.start("c")
    voyage.world.disk.activate("shop", "c", Declared("c", 1, (Port(80),)), 0, None)
    voyage.rough_pass()
    voyage.world.remove("c", by_force=True)
    voyage.program.dice = Blind(3, Weather(0.0, 0.0))
    voyage.rough_pass()
    assert ["withdraw shop/c", "persist nothing"] == [each[:15] for each in voyage.court.notes("recovery 1").commands][:2]


@given(any_snapshots())
def test_p10_claims_are_kept_while_a_route_may_name_them(snapshot: Snapshot) -> None:
    """P10, of any snapshot: claims go only of what is gone, and only without an own route or an unproven withdrawal."""
    for subject, effect in calls(snapshot):
        if isinstance(effect, ReleaseBinds):
            assert isinstance(subject.seen, Gone)
            assert not subject.unproven
            assert not (isinstance(subject.route, RouteSeen) and subject.route.binds)
            withdrawn = any(isinstance(each.effect, Withdraw) for each in subject.results)
            published = subject.declared is not None and subject.declared.published and subject.declared.ports
            assert isinstance(subject.route, RouteSeen) or withdrawn or not published


@given(any_snapshots())
def test_markers_go_last(snapshot: Snapshot) -> None:
    """P5 and P10, of any snapshot: a marker is dropped only when its container is gone and has no claims, or ACTIVE names it."""
    for subject, effect in calls(snapshot):
        if isinstance(effect, DropMarker):
            old = next(each for each in subject.superseded if each.container_id == effect.container_id)
            reclaimed = subject.declared is not None and subject.declared.container_id == old.container_id
            assert reclaimed or (isinstance(old.seen, Gone) and not old.binds)


def test_a_container_with_a_command_in_flight_gets_no_other(fleet: Fleet) -> None:
    """F1 A container whose command is still in flight gets no other command from this process."""
    fleet.demand("F1", 300)


def test_one_attempt_a_pass(fleet: Fleet) -> None:
    """F2 A service is started or restarted at most once in a pass."""
    fleet.demand("F2", 200)


def test_what_lacks_a_grant_is_not_started(fleet: Fleet) -> None:
    """F3 Nothing is started or restarted that needs what the host does not grant, as its policy was read last."""
    fleet.demand("F3", 30)


def test_an_unproven_withdrawal_is_on_record(fleet: Fleet) -> None:
    """F4 At the end of a pass a withdrawal that is unproven is on record as that, or the store refused to write it."""
    fleet.demand("F4", 1_000)


def test_no_fault_of_ours(fleet: Fleet) -> None:
    """Nothing that the world does makes the product raise what it should not."""
    assert {} == {name: seeds for name, seeds in fleet.broken.items() if name == "a fault of ours"}


def test_worlds_are_told_again_alike() -> None:
    """A seed tells the same story twice, so that a failure can be looked at."""
    first, second = (settled(11, Nature.FLAKY) for _ in range(2))
    for voyage in (first, second):
        chance = Random(7)
        for _ in range(12):
            chance.choice(voyage.mischiefs.choices)(chance)
            voyage.rough_pass()
    assert first.world.story.last(10_000) == second.world.story.last(10_000)


@pytest.mark.parametrize("seed", range(400, 404))
def test_the_same_holds_on_a_real_disk(seed: int, tmp_path: Path) -> None:
    """All judges, with SQLite in the place of the store in memory: what was written is what the next program finds."""
    store = SqliteStore.open(tmp_path / "state.db", create=True)
    assert failure_of(Voyage(course(seed, 10), disk=store)) is None
