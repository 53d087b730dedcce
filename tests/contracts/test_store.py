"""What every StateStore promises, seen on the one in memory and on the real one."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from attrs import evolve

from gordon_core.effects import Done, Fault, Generation, Outcome, Refused
from gordon_core.grants import SETS_NOTHING, Overrides
from gordon_core.memory import NOTHING, Attempt, Memory, Strikes, Verified, Window
from gordon_core.observation import Bind, Port, Protocol
from gordon_core.policy import Policy, WhenUnhealthy
from gordon_core.snapshot import Declared, Hold, HttpCheck, Intent
from gordon_shell.errors import StoreError
from gordon_shell.memory.store import MemoryStore
from gordon_shell.ports import Marker, StateStore, Stored
from gordon_shell.sqlite_store import SqliteStore

HTTP = Port(80)
DNS = Port(53, Protocol.UDP)
BINDS = (Bind(HTTP, 32768), Bind(DNS, 32769))
DECLARED = Declared("old", 1, (HTTP, DNS), BINDS)
RICH = Declared(
    "c1",
    7,
    (HTTP, DNS),
    BINDS,
    stop_grace_s=2.5,
    published=False,
    http=HttpCheck(80, "/up?deep=1"),
    policy=Policy(2, (0.5, 1.0), 9.0, 8.0, 3, 4.0, 130.0, exit_0_is_done=True, unhealthy=WhenUnhealthy.WITHDRAW),
)
VERIFIED = Verified("2026-01-01T00:00:00.5Z", BINDS, 1)
HISTORY = Memory(
    failures=4,
    charged="2026-01-01T00:00:00.4Z",
    charged_at_s=17.25,
    attempt=Attempt("0001-01-01T00:00:00Z"),
    strikes=Strikes("2026-01-01T00:00:00.5Z", 1, "2026-01-01T00:00:09Z"),
    window=Window("2026-01-01T00:00:00.5Z", 20.0, 35.5),
    verified=VERIFIED,
    boot_id="boot",
    contested_port=32768,
    again=True,
)
HOLD = Hold(9_000.25, 1796022000.5, "boot", "alice", "migration")
TUNING = Overrides(5, (0.5, 1.0), exit_0_is_done=False, unhealthy=WhenUnhealthy.WITHDRAW)
FAILED = Memory(failures=1, charged="", boot_id="boot")
MARKER = Marker("old", 30.0, BINDS, VERIFIED)


def declared_as(container_id: str) -> Declared:
    """Return the same for another container: no two services have one."""
    return evolve(DECLARED, container_id=container_id)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StateStore]:
    made: StateStore = MemoryStore() if request.param == "memory" else SqliteStore.open(tmp_path / "state.db", create=True)
    yield made
    made.close()


@pytest.fixture
def active(store: StateStore) -> StateStore:
    """Return a store whose ACTIVE names container "old" at revision 1 for shop/web."""
    assert Done() == store.activate("shop", "web", DECLARED, 0, None)
    return store


def conflict(outcome: Outcome) -> bool:
    return isinstance(outcome, Refused) and outcome.fault is Fault.CONFLICT and "shop/web" in outcome.reason


def test_an_empty_store_holds_nothing(store: StateStore) -> None:
    assert () == store.read()
    assert store.read_service("shop", "web") is None


@pytest.mark.parametrize("declared", [DECLARED, RICH, Declared("c", 1)])
def test_active_comes_back_exactly(store: StateStore, declared: Declared) -> None:
    assert Done() == store.activate("shop", "web", declared, 0, None)
    assert (Stored("shop", "web", Intent.RUNNING, declared),) == store.read()


def test_services_come_sorted_by_app_and_service(store: StateStore) -> None:
    for app, service in (("b", "x"), ("a", "z"), ("a", "a"), ("a!", "b")):
        store.activate(app, service, declared_as(f"{app}-{service}"), 0, None)
    assert [("a", "a"), ("a", "z"), ("a!", "b"), ("b", "x")] == [(each.app, each.service) for each in store.read()]


@pytest.mark.parametrize("name", ["with/slash", 'it\'s "quoted"; DROP TABLE active', "\u00fcn\u00ef", "a\x00b", "x" * 500])
def test_odd_names_are_names(store: StateStore, name: str) -> None:
    store.activate(name, name, DECLARED, 0, None)
    store.set_intent(name, Intent.STOPPED)
    assert Stored(name, name, Intent.STOPPED, DECLARED) == store.read_service(name, name)


class TestTheCompareAndSet:
    def test_activation_of_a_service_that_is_there_needs_its_revision(self, active: StateStore) -> None:
        assert conflict(active.activate("shop", "web", evolve(DECLARED, revision=2), 0, None))
        assert (Stored("shop", "web", Intent.RUNNING, DECLARED),) == active.read()

    def test_activation_of_a_service_that_is_not_there_needs_0(self, store: StateStore) -> None:
        assert conflict(store.activate("shop", "web", evolve(DECLARED, revision=2), 1, None))
        assert () == store.read()

    @pytest.mark.parametrize("revision", [1, 2])
    def test_the_revision_must_grow(self, store: StateStore, revision: int) -> None:
        store.activate("shop", "web", evolve(DECLARED, revision=2), 0, None)
        assert conflict(store.activate("shop", "web", evolve(DECLARED, revision=revision), 2, MARKER))
        assert (Stored("shop", "web", Intent.RUNNING, evolve(DECLARED, revision=2)),) == store.read()

    @pytest.mark.parametrize("generation", [Generation("shop", "web", "new", 1), Generation("shop", "web", "old", 2)])
    def test_binds_and_deactivation_need_the_exact_generation(self, active: StateStore, generation: Generation) -> None:
        assert conflict(active.persist_binds(generation, ()))
        assert conflict(active.deactivate(generation))
        assert (Stored("shop", "web", Intent.RUNNING, DECLARED),) == active.read()

    def test_nothing_can_be_written_for_a_service_that_is_not_there(self, store: StateStore) -> None:
        assert conflict(store.persist_binds(Generation("shop", "web", "old", 1), BINDS))
        assert conflict(store.deactivate(Generation("shop", "web", "old", 1)))

    def test_of_threads_with_one_revision_one_wins(self, active: StateStore) -> None:
        def deploy(number: int) -> Outcome:
            return active.activate("shop", "web", Declared(f"c{number}", 2), 1, None)

        with ThreadPoolExecutor(8) as pool:
            outcomes = list(pool.map(deploy, range(8)))
        won = outcomes.index(Done())
        assert 7 == sum(conflict(each) for each in outcomes)
        assert (Stored("shop", "web", Intent.RUNNING, Declared(f"c{won}", 2)),) == active.read()


class TestWhoNamesAContainer:
    """A container is one service's: two that named it would start, stop and remove it against each other."""

    @pytest.mark.parametrize("service", [("shop", "api"), ("blog", "web")])
    def test_what_active_names_is_activated_for_no_other_service(self, active: StateStore, service: tuple[str, str]) -> None:
        outcome = active.activate(*service, DECLARED, 0, None)
        name = "/".join(service)
        reason = (
            f"container old is one of shop/web already, and cannot be one of {name} as well; "
            "forget that first: gordon-shell forget shop/web"
        )
        assert Refused(reason, Fault.CONFLICT) == outcome
        assert (Stored("shop", "web", Intent.RUNNING, DECLARED),) == active.read()

    def test_what_is_superseded_is_activated_for_its_own_service_alone(self, active: StateStore) -> None:
        active.activate("shop", "web", Declared("new", 2), 1, MARKER)
        before = active.read()
        assert conflict(active.activate("blog", "web", DECLARED, 0, None))
        assert before == active.read()
        assert Done() == active.activate("shop", "web", evolve(DECLARED, revision=3), 2, None)

    def test_nothing_is_marked_as_superseded_that_another_service_names(self, active: StateStore) -> None:
        active.mark("shop", "web", Marker("older"))
        before = active.read()
        assert conflict(active.mark("blog", "web", Marker("old")))
        assert conflict(active.mark("blog", "web", Marker("older")))
        assert conflict(active.activate("blog", "web", Declared("new", 1), 0, Marker("old")))
        assert before == active.read()
        assert Done() == active.mark("shop", "web", Marker("old"))

    def test_what_was_forgotten_is_free(self, active: StateStore) -> None:
        active.mark("shop", "web", Marker("older"))
        active.drop_marker("shop", "web", "older")
        active.deactivate(Generation("shop", "web", "old", 1))
        assert [Done()] * 2 == [active.activate("blog", each, Declared(each, 1), 0, None) for each in ("old", "older")]

    def test_of_threads_that_name_it_for_different_apps_one_wins(self, store: StateStore) -> None:
        at_once = Barrier(8)

        def adopt(number: int) -> Outcome:
            at_once.wait(20)
            return store.activate(f"app{number}", "web", DECLARED, 0, None)

        with ThreadPoolExecutor(8) as pool:
            outcomes = list(pool.map(adopt, range(8)))
        won = outcomes.index(Done())
        assert 7 == sum(isinstance(each, Refused) and each.fault is Fault.CONFLICT for each in outcomes)
        assert (Stored(f"app{won}", "web", Intent.RUNNING, DECLARED),) == store.read()


class TestBinds:
    def test_persisting_replaces_the_binds_and_nothing_else(self, store: StateStore) -> None:
        store.activate("shop", "web", RICH, 0, None)
        binds = (Bind(HTTP, 40000),)
        assert Done() == store.persist_binds(Generation("shop", "web", "c1", 7), binds)
        assert (Stored("shop", "web", Intent.RUNNING, evolve(RICH, binds=binds)),) == store.read()

    def test_no_binds_release_the_claims(self, active: StateStore) -> None:
        assert Done() == active.persist_binds(Generation("shop", "web", "old", 1), ())
        assert (Stored("shop", "web", Intent.RUNNING, evolve(DECLARED, binds=())),) == active.read()


class TestActivation:
    def test_a_successor_comes_together_with_the_marker_of_the_superseded(self, active: StateStore) -> None:
        new = Declared("new", 2, (HTTP,))
        assert Done() == active.activate("shop", "web", new, 1, MARKER)
        assert (Stored("shop", "web", Intent.RUNNING, new, markers=(MARKER,)),) == active.read()

    def test_a_new_revision_of_one_container_keeps_its_memory(self, active: StateStore) -> None:
        active.save_memory("shop", "web", "old", HISTORY)
        active.activate("shop", "web", evolve(DECLARED, revision=2), 1, None)
        assert (Stored("shop", "web", Intent.RUNNING, evolve(DECLARED, revision=2), memory=HISTORY),) == active.read()

    def test_the_memory_of_a_marked_container_is_kept_and_is_no_orphan(self, active: StateStore) -> None:
        active.save_memory("shop", "web", "old", HISTORY)
        active.activate("shop", "web", Declared("new", 2), 1, MARKER)
        assert (Stored("shop", "web", Intent.RUNNING, Declared("new", 2), markers=(MARKER,)),) == active.read()
        active.activate("shop", "web", evolve(DECLARED, revision=3), 2, None)
        back = Stored("shop", "web", Intent.RUNNING, evolve(DECLARED, revision=3), memory=HISTORY)
        assert (back,) == active.read()

    def test_the_memory_of_an_unmarked_container_becomes_an_orphan(self, active: StateStore) -> None:
        active.save_memory("shop", "web", "old", HISTORY)
        active.activate("shop", "web", Declared("new", 2), 1, None)
        assert (Stored("shop", "web", Intent.RUNNING, Declared("new", 2), orphans=("old",)),) == active.read()

    def test_deactivation_keeps_the_unproven_mark_and_orphans_the_memory(self, active: StateStore) -> None:
        active.save_memory("shop", "web", "old", HISTORY)
        active.set_unproven("shop", "web", unproven=True)
        assert Done() == active.deactivate(Generation("shop", "web", "old", 1))
        assert (Stored("shop", "web", Intent.RUNNING, unproven=True, orphans=("old",)),) == active.read()

    def test_a_service_taken_out_of_active_leaves_nothing(self, active: StateStore) -> None:
        assert Done() == active.deactivate(Generation("shop", "web", "old", 1))
        assert () == active.read()
        assert Done() == active.activate("shop", "web", DECLARED, 0, None)


class TestMemory:
    @pytest.mark.parametrize("memory", [HISTORY, FAILED, Memory(verified=VERIFIED), Memory(window=Window("s", 0.1, 0.2))])
    def test_it_comes_back_exactly(self, active: StateStore, memory: Memory) -> None:
        assert Done() == active.save_memory("shop", "web", "old", memory)
        assert (Stored("shop", "web", Intent.RUNNING, DECLARED, memory=memory),) == active.read()

    @pytest.mark.parametrize("empty", [NOTHING, Memory(boot_id="boot")])
    def test_an_empty_one_is_not_kept(self, active: StateStore, empty: Memory) -> None:
        active.save_memory("shop", "web", "old", HISTORY)
        active.save_memory("shop", "web", "other", FAILED)
        assert Done() == active.save_memory("shop", "web", "old", empty)
        assert Done() == active.save_memory("shop", "web", "other", empty)
        assert (Stored("shop", "web", Intent.RUNNING, DECLARED),) == active.read()

    def test_orphans_alone_are_returned_until_they_are_forgotten(self, store: StateStore) -> None:
        store.save_memory("shop", "web", "b", FAILED)
        store.save_memory("shop", "web", "a", FAILED)
        assert (Stored("shop", "web", Intent.RUNNING, orphans=("a", "b")),) == store.read()
        store.save_memory("shop", "web", "a", NOTHING)
        store.save_memory("shop", "web", "b", NOTHING)
        assert () == store.read()


class TestMarkers:
    def test_a_marker_alone_is_returned(self, store: StateStore) -> None:
        assert Done() == store.mark("shop", "web", MARKER)
        assert (Stored("shop", "web", Intent.RUNNING, markers=(MARKER,)),) == store.read()

    def test_marking_again_replaces(self, store: StateStore) -> None:
        store.mark("shop", "web", MARKER)
        store.mark("shop", "web", Marker("a", 1.0))
        store.mark("shop", "web", evolve(MARKER, stop_grace_s=1.5))
        expected = (Marker("a", 1.0), evolve(MARKER, stop_grace_s=1.5))
        assert (Stored("shop", "web", Intent.RUNNING, markers=expected),) == store.read()

    def test_releasing_claims_keeps_the_rest_of_the_marker(self, store: StateStore) -> None:
        store.mark("shop", "web", MARKER)
        assert Done() == store.release_claims("shop", "web", "old")
        assert (Stored("shop", "web", Intent.RUNNING, markers=(evolve(MARKER, binds=()),)),) == store.read()

    def test_dropping_one_drops_what_is_remembered_of_its_container(self, store: StateStore) -> None:
        store.mark("shop", "web", MARKER)
        store.save_memory("shop", "web", "old", HISTORY)
        assert Done() == store.drop_marker("shop", "web", "old")
        assert () == store.read()

    def test_dropping_one_keeps_the_memory_of_what_active_names(self, active: StateStore) -> None:
        active.mark("shop", "web", MARKER)
        active.save_memory("shop", "web", "old", HISTORY)
        assert Done() == active.drop_marker("shop", "web", "old")
        assert (Stored("shop", "web", Intent.RUNNING, DECLARED, memory=HISTORY),) == active.read()

    def test_what_is_not_there_is_released_and_dropped_already(self, store: StateStore) -> None:
        assert Done() == store.release_claims("shop", "web", "old")
        assert Done() == store.drop_marker("shop", "web", "old")
        assert () == store.read()


class TestWishes:
    def test_an_unproven_mark_alone_is_returned_until_it_is_dropped(self, store: StateStore) -> None:
        assert Done() == store.set_unproven("shop", "web", unproven=True)
        assert Done() == store.set_unproven("shop", "web", unproven=True)
        assert (Stored("shop", "web", Intent.RUNNING, unproven=True),) == store.read()
        assert Done() == store.set_unproven("shop", "web", unproven=False)
        assert () == store.read()

    def test_intent_is_of_the_app_and_waits_for_its_services(self, store: StateStore) -> None:
        assert Done() == store.set_intent("shop", Intent.STOPPED)
        assert () == store.read()
        for app in ("shop", "other"):
            for service in ("web", "db"):
                store.activate(app, service, declared_as(f"{app}-{service}"), 0, None)
        assert [Intent.RUNNING] * 2 + [Intent.STOPPED] * 2 == [each.intent for each in store.read()]
        assert Done() == store.set_intent("shop", Intent.RUNNING)
        assert [Intent.RUNNING] * 4 == [each.intent for each in store.read()]

    def test_an_inhibition_is_of_one_exact_container(self, active: StateStore) -> None:
        assert Done() == active.inhibit("shop", "web", "other", "not this")
        assert (Stored("shop", "web", Intent.RUNNING, DECLARED),) == active.read()
        assert Done() == active.inhibit("shop", "web", "old", "eats data")
        assert (Stored("shop", "web", Intent.RUNNING, DECLARED, "eats data"),) == active.read()
        active.activate("shop", "web", Declared("new", 2), 1, None)
        assert (Stored("shop", "web", Intent.RUNNING, Declared("new", 2)),) == active.read()
        active.activate("shop", "web", evolve(DECLARED, revision=3), 2, None)
        assert Done() == active.allow("shop", "web", "old")
        assert Done() == active.allow("shop", "web", "never inhibited")
        assert (Stored("shop", "web", Intent.RUNNING, evolve(DECLARED, revision=3)),) == active.read()

    def test_an_inhibition_without_a_reason_inhibits_all_the_same(self, active: StateStore) -> None:
        active.inhibit("shop", "web", "old", "")
        assert (Stored("shop", "web", Intent.RUNNING, DECLARED, "no reason given"),) == active.read()

    def test_an_inhibition_alone_is_nothing_to_look_at(self, store: StateStore) -> None:
        store.inhibit("shop", "web", "old", "eats data")
        assert () == store.read()
        assert store.read_service("shop", "web") is None


class TestReading:
    def test_what_did_not_change_is_the_same_object(self, active: StateStore) -> None:
        for number in range(20):
            active.activate("many", f"s{number:02}", declared_as(f"c{number:02}"), 0, None)
        before = active.read()
        assert active.read() is before
        active.save_memory("many", "s05", "c05", FAILED)
        active.set_unproven("many", "s06", unproven=False)
        after = active.read()
        assert ["s05"] == [new.service for old, new in zip(before, after, strict=True) if old is not new]

    def test_a_new_intent_changes_the_services_of_its_app_alone(self, active: StateStore) -> None:
        active.activate("other", "web", declared_as("other"), 0, None)
        other, shop = active.read()
        active.set_intent("shop", Intent.STOPPED)
        assert (other, evolve(shop, intent=Intent.STOPPED)) == active.read()
        assert active.read()[0] is other

    def test_services_that_come_and_go_leave_the_others_alone(self, active: StateStore) -> None:
        for number in range(20):
            active.activate("many", f"s{number:02}", declared_as(f"c{number:02}"), 0, None)
        before = active.read()
        active.activate("many", "s05a", declared_as("c05a"), 0, None)
        active.deactivate(Generation("many", "s07", "c07", 1))
        after = {each.service: each for each in active.read()}
        assert ["s07"] == [each.service for each in before if after.get(each.service) is not each]
        assert sorted(after) == [each.service for each in active.read()]
        assert "s05a" in after

    def test_one_service_is_read_as_it_is_now(self, active: StateStore) -> None:
        active.read()
        active.save_memory("shop", "web", "old", FAILED)
        assert Stored("shop", "web", Intent.RUNNING, DECLARED, memory=FAILED) == active.read_service("shop", "web")

    def test_threads_may_write_and_read_side_by_side(self, store: StateStore) -> None:
        def work(number: int) -> int:
            store.activate("shop", f"s{number}", declared_as(f"c{number}"), 0, None)
            for failures in range(1, 11):
                assert Done() == store.save_memory("shop", f"s{number}", f"c{number}", Memory(failures=failures))
            return len(store.read())

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(8)))
        assert [10] * 8 == [each.memory.failures for each in store.read()]


def test_a_closed_store_raises_for_reads_and_writes(active: StateStore) -> None:
    active.close()
    active.close()
    with pytest.raises(StoreError, match="closed"):
        active.read()
    with pytest.raises(StoreError, match="closed"):
        active.read_service("shop", "web")
    with pytest.raises(StoreError, match="closed"):
        active.set_intent("shop", Intent.STOPPED)
    with pytest.raises(StoreError, match="closed"):
        active.deactivate(Generation("shop", "web", "old", 1))


class TestTheSwitchesOfTheMemoryVersion:
    def test_failing_writes_change_nothing_and_are_the_stores_fault(self) -> None:
        store = MemoryStore()
        store.activate("shop", "web", DECLARED, 0, None)
        store.save_memory("shop", "web", "old", FAILED)
        before = store.read()
        store.fail_writes("disk full")
        generation = Generation("shop", "web", "old", 1)
        outcomes = (
            store.activate("shop", "web", evolve(DECLARED, revision=2), 1, MARKER),
            store.deactivate(generation),
            store.persist_binds(generation, ()),
            store.save_memory("shop", "web", "old", NOTHING),
            store.set_unproven("shop", "web", unproven=True),
            store.set_intent("shop", Intent.STOPPED),
            store.inhibit("shop", "web", "old", "why"),
            store.allow("shop", "web", "old"),
            store.mark("shop", "web", MARKER),
            store.release_claims("shop", "web", "old"),
            store.drop_marker("shop", "web", "old"),
        )
        assert (Refused("disk full", Fault.STORE),) * 11 == outcomes
        assert before == store.read()
        store.fail_writes(None)
        assert Done() == store.deactivate(generation)

    def test_failing_reads_raise_and_lose_nothing(self) -> None:
        store = MemoryStore()
        store.activate("shop", "web", DECLARED, 0, None)
        store.fail_reads("disk gone")
        with pytest.raises(StoreError, match="disk gone"):
            store.read()
        with pytest.raises(StoreError, match="disk gone"):
            store.read_service("shop", "web")
        store.fail_reads(None)
        assert 1 == len(store.read())


def test_a_hold_comes_back_exactly_is_replaced_and_ends(active: StateStore) -> None:
    assert Done() == active.set_hold("shop", "web", HOLD)
    assert [HOLD] == [each.hold for each in active.read()]
    later = evolve(HOLD, until_s=9_999.0, who="bob")
    assert Done() == active.set_hold("shop", "web", later)
    assert [later] == [each.hold for each in active.read()]
    assert Done() == active.set_hold("shop", "web", None)
    assert [None] == [each.hold for each in active.read()]
    assert Done() == active.set_hold("shop", "web", None)


def test_what_is_tuned_comes_back_exactly_and_what_sets_nothing_is_deleted(active: StateStore) -> None:
    assert Done() == active.set_tuning("shop", "web", TUNING)
    assert [TUNING] == [each.tuning for each in active.read()]
    found = active.read_service("shop", "web")
    assert found is not None
    assert TUNING == found.tuning
    assert Done() == active.set_tuning("shop", "web", SETS_NOTHING)
    assert [SETS_NOTHING] == [each.tuning for each in active.read()]


def test_a_hold_and_a_tuning_are_of_the_service_whichever_container_it_has(active: StateStore) -> None:
    active.set_hold("shop", "web", HOLD)
    active.set_tuning("shop", "web", TUNING)
    assert Done() == active.activate("shop", "web", evolve(DECLARED, container_id="new", revision=2), 1, None)
    assert [(HOLD, TUNING)] == [(each.hold, each.tuning) for each in active.read()]


def test_a_hold_or_a_tuning_alone_is_nothing_to_look_at(store: StateStore) -> None:
    store.set_hold("shop", "web", HOLD)
    store.set_tuning("shop", "web", TUNING)
    assert ((), None) == (store.read(), store.read_service("shop", "web"))
    store.activate("shop", "web", DECLARED, 0, None)
    assert [(HOLD, TUNING)] == [(each.hold, each.tuning) for each in store.read()]
