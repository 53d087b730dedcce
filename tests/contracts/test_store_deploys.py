"""What every StateStore promises to deploys: the journal of candidates, and what the latest revisions were made of."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve

from gordon_core.blueprint import Blueprint
from gordon_core.effects import Done, Fault, Generation, Outcome, Refused
from gordon_core.memory import NOTHING, Memory, Verified
from gordon_core.observation import Bind, Port
from gordon_core.snapshot import Declared, Intent
from gordon_shell.errors import StoreError
from gordon_shell.memory.store import MemoryStore
from gordon_shell.ports import Deployed, Journalled, Marker, StateStore, Stored
from gordon_shell.sqlite_store import SqliteStore
from tests.deploys import BLUEPRINT, CANDIDATE, kept, revision

BINDS = (Bind(Port(80), 32768),)
OLD = Declared("old", 1, (Port(80),), BINDS)
NEW = Declared("new", 2)
MARKER = Marker("old", 30.0, BINDS)
FAILED = Memory(failures=1)
ANSWERED = Verified("2026-11-30T06:59:58Z", (), 2)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StateStore]:
    made: StateStore = MemoryStore() if request.param == "memory" else SqliteStore.open(tmp_path / "state.db", create=True)
    yield made
    made.close()


@pytest.fixture
def active(store: StateStore) -> StateStore:
    """Return a store whose ACTIVE names container "old" at revision 1 for shop/web."""
    assert Done() == store.activate("shop", "web", OLD, 0, None)
    return store


def web(declared: Declared | None = None, *candidates: Journalled, markers: tuple[Marker, ...] = ()) -> Stored:
    return Stored("shop", "web", Intent.RUNNING, declared, markers=markers, candidates=candidates)


def deploy(store: StateStore, number: int, *deployed: Deployed) -> Outcome:
    return store.activate("shop", "web", Declared(f"c{number}", number), number - 1, None, deployed)


class TestTheJournal:
    @pytest.mark.parametrize("candidate", [CANDIDATE, Journalled("new", "")])
    def test_a_candidate_comes_back_exactly(self, active: StateStore, candidate: Journalled) -> None:
        assert Done() == active.journal("shop", "web", candidate)
        assert (web(OLD, candidate),) == active.read()
        assert web(OLD, candidate) == active.read_service("shop", "web")

    def test_that_of_a_first_deploy_is_a_service_without_a_container(self, store: StateStore) -> None:
        store.set_intent("shop", Intent.STOPPED)
        assert Done() == store.journal("shop", "web", CANDIDATE)
        assert (evolve(web(None, CANDIDATE), intent=Intent.STOPPED),) == store.read()
        assert Done() == store.drop_candidate("shop", "web", "new")
        assert () == store.read()
        assert store.read_service("shop", "web") is None

    def test_candidates_come_sorted_and_one_written_again_is_replaced(self, active: StateStore) -> None:
        for each in (CANDIDATE, Journalled("b", "x"), Journalled("a", "y"), Journalled("b", "z")):
            assert Done() == active.journal("shop", "web", each)
        assert (web(OLD, Journalled("a", "y"), Journalled("b", "z"), CANDIDATE),) == active.read()

    def test_one_that_is_dropped_leaves_the_others_and_those_of_other_services(self, active: StateStore) -> None:
        for service in ("db", "web"):
            active.journal("shop", service, CANDIDATE)
        active.journal("shop", "web", Journalled("next", "x"))
        assert Done() == active.drop_candidate("shop", "web", "new")
        assert Done() == active.drop_candidate("shop", "web", "never there")
        db = Stored("shop", "db", Intent.RUNNING, candidates=(CANDIDATE,))
        assert (db, web(OLD, Journalled("next", "x"))) == active.read()

    def test_what_is_remembered_of_a_candidate_is_an_orphan_as_long_as_active_does_not_name_it(self, active: StateStore) -> None:
        active.journal("shop", "web", CANDIDATE)
        active.save_memory("shop", "web", "new", FAILED)
        assert (evolve(web(OLD, CANDIDATE), orphans=("new",)),) == active.read()
        active.drop_candidate("shop", "web", "new")
        assert (evolve(web(OLD), orphans=("new",)),) == active.read()

    def test_a_write_changes_its_own_service_alone(self, active: StateStore) -> None:
        for number in range(20):
            active.activate("many", f"s{number:02}", evolve(OLD, container_id=f"old-{number}"), 0, None)
        before = active.read()
        active.journal("many", "s05", CANDIDATE)
        after = active.read()
        assert ["s05"] == [new.service for old, new in zip(before, after, strict=True) if old is not new]


class TestActivation:
    def test_it_ends_the_journal_entry_of_the_container_that_it_names_and_no_other(self, active: StateStore) -> None:
        for service in ("db", "web"):
            active.journal("shop", service, CANDIDATE)
        active.journal("shop", "web", Journalled("next", "x"))
        assert Done() == active.activate("shop", "web", NEW, 1, MARKER)
        db = Stored("shop", "db", Intent.RUNNING, candidates=(CANDIDATE,))
        assert (db, web(NEW, Journalled("next", "x"), markers=(MARKER,))) == active.read()

    def test_it_ends_the_marker_of_the_container_that_it_names_with_its_claims_and_keeps_its_memory(
        self, active: StateStore
    ) -> None:
        active.save_memory("shop", "web", "old", FAILED)
        active.activate("shop", "web", NEW, 1, MARKER)
        active.mark("shop", "web", Marker("older"))
        back = evolve(OLD, revision=3, binds=())
        assert Done() == active.activate("shop", "web", back, 2, Marker("new"))
        assert (evolve(web(back, markers=(Marker("new"), Marker("older"))), memory=FAILED),) == active.read()

    def test_a_marker_for_the_very_container_that_it_names_is_not_kept(self, active: StateStore) -> None:
        again = evolve(OLD, revision=2)
        assert Done() == active.activate("shop", "web", again, 1, MARKER)
        assert (web(again),) == active.read()

    def test_what_was_verified_of_the_container_is_on_record_with_it(self, active: StateStore) -> None:
        assert Done() == active.activate("shop", "web", NEW, 1, MARKER, (revision(2),), verified=ANSWERED)
        expected = evolve(web(NEW, markers=(MARKER,)), memory=Memory(verified=ANSWERED))
        assert (expected, expected) == (*active.read(), active.read_service("shop", "web"))
        assert kept(2) == active.deployed("shop", "web")

    def test_it_takes_the_place_of_what_was_verified_before_and_leaves_the_history(self, active: StateStore) -> None:
        before = Memory(failures=1, charged="s", verified=Verified("s", BINDS, 1), boot_id="boot")
        active.save_memory("shop", "web", "old", before)
        active.activate("shop", "web", NEW, 1, MARKER, verified=ANSWERED)
        back, again = evolve(OLD, revision=3), Verified("s", BINDS, 3)
        assert Done() == active.activate("shop", "web", back, 2, Marker("new"), verified=again)
        expected = evolve(web(back, markers=(Marker("new"),)), memory=evolve(before, verified=again))
        assert (expected,) == active.read()
        assert Done() == active.activate("shop", "web", evolve(NEW, revision=4), 3, Marker("old"))
        assert [Memory(verified=ANSWERED)] == [each.memory for each in active.read()]

    def test_it_is_remembered_of_that_container_of_that_service_alone(self, active: StateStore) -> None:
        for service in ("db", "web"):
            active.save_memory("shop", service, "new", FAILED)
        active.activate("shop", "web", NEW, 1, None, verified=ANSWERED)
        assert [NOTHING, evolve(FAILED, verified=ANSWERED)] == [each.memory for each in active.read()]
        assert Done() == active.activate("shop", "db", Declared("db", 1), 0, None)
        assert [("db", NOTHING, ("new",)), ("web", evolve(FAILED, verified=ANSWERED), ())] == [
            (each.service, each.memory, each.orphans) for each in active.read()
        ]

    @pytest.mark.parametrize(("expected", "proposed"), [(0, 3), (1, 2), (2, 2)])
    def test_one_that_is_refused_changes_nothing(self, active: StateStore, expected: int, proposed: int) -> None:
        active.activate("shop", "web", NEW, 1, MARKER, (revision(2),))
        active.journal("shop", "web", Journalled("old", "x"))
        before = active.read()
        outcome = active.activate(
            "shop", "web", evolve(OLD, revision=proposed), expected, Marker("new"), (revision(3),), verified=ANSWERED
        )
        assert isinstance(outcome, Refused)
        assert Fault.CONFLICT is outcome.fault
        assert (before, kept(2)) == (active.read(), active.deployed("shop", "web"))


class TestWhatWasDeployed:
    def test_it_comes_back_exactly_but_for_the_values_of_variables(self, store: StateStore) -> None:
        assert Done() == deploy(store, 1, revision(1))
        assert kept(1) == store.deployed("shop", "web")

    def test_a_plain_blueprint_comes_back_as_it_is(self, store: StateStore) -> None:
        deploy(store, 1, revision(1, Blueprint("shop:1")))
        assert (revision(1, Blueprint("shop:1")),) == store.deployed("shop", "web")

    def test_there_is_none_of_what_was_adopted_or_is_not_there(self, active: StateStore) -> None:
        assert () == active.deployed("shop", "web")
        assert () == active.deployed("shop", "never there")

    def test_the_former_revision_may_come_with_this_one_the_newest_is_first(self, active: StateStore) -> None:
        assert Done() == active.activate("shop", "web", NEW, 1, MARKER, (revision(2), revision(1)))
        assert kept(2, 1) == active.deployed("shop", "web")

    def test_a_revision_that_is_written_again_is_replaced(self, store: StateStore) -> None:
        deploy(store, 1, revision(1, Blueprint("shop:1")))
        deploy(store, 2, revision(1), revision(2))
        assert kept(2, 1) == store.deployed("shop", "web")

    def test_what_is_activated_without_it_leaves_it_as_it_was(self, store: StateStore) -> None:
        deploy(store, 1, revision(1))
        deploy(store, 2)
        assert kept(1) == store.deployed("shop", "web")

    def test_the_ten_newest_of_each_service_are_kept(self, store: StateStore) -> None:
        store.activate("shop", "db", Declared("db", 1), 0, None, (revision(1),))
        for number in range(1, 13):
            assert Done() == deploy(store, number, revision(number))
        assert kept(*range(12, 2, -1)) == store.deployed("shop", "web")
        assert kept(1) == store.deployed("shop", "db")

    def test_it_is_no_part_of_what_a_pass_reads(self, store: StateStore) -> None:
        deploy(store, 1, revision(1))
        assert (web(Declared("c1", 1)),) == store.read()

    def test_it_goes_with_the_service_and_does_not_come_back_with_a_new_one(self, store: StateStore) -> None:
        store.activate("shop", "db", Declared("db", 1), 0, None, (revision(1),))
        deploy(store, 1, revision(1))
        deploy(store, 2, revision(2))
        assert Done() == store.deactivate(Generation("shop", "web", "c2", 2))
        assert () == store.deployed("shop", "web")
        deploy(store, 1)
        assert () == store.deployed("shop", "web")
        assert kept(1) == store.deployed("shop", "db")

    def test_a_deactivation_that_is_refused_leaves_it(self, store: StateStore) -> None:
        deploy(store, 1, revision(1))
        assert isinstance(store.deactivate(Generation("shop", "web", "c1", 2)), Refused)
        assert kept(1) == store.deployed("shop", "web")

    def test_a_deactivation_leaves_the_journal_and_the_unproven_mark(self, active: StateStore) -> None:
        active.journal("shop", "web", CANDIDATE)
        active.set_unproven("shop", "web", unproven=True)
        assert Done() == active.deactivate(Generation("shop", "web", "old", 1))
        assert (evolve(web(None, CANDIDATE), unproven=True),) == active.read()


def test_a_closed_store_raises(active: StateStore) -> None:
    active.close()
    with pytest.raises(StoreError, match="closed"):
        active.journal("shop", "web", CANDIDATE)
    with pytest.raises(StoreError, match="closed"):
        active.drop_candidate("shop", "web", "new")
    with pytest.raises(StoreError, match="closed"):
        active.deployed("shop", "web")


def test_the_switches_of_the_memory_version_hold_for_deploys_too() -> None:
    store = MemoryStore()
    deploy(store, 1, revision(1))
    store.journal("shop", "web", CANDIDATE)
    before = store.read()
    store.fail_writes("disk full")
    outcomes = (
        store.activate("shop", "web", NEW, 1, None, (revision(2, evolve(BLUEPRINT, image="shop:3")),), verified=ANSWERED),
        store.journal("shop", "web", Journalled("next", "x")),
        store.drop_candidate("shop", "web", "new"),
        store.deactivate(Generation("shop", "web", "c1", 1)),
    )
    assert (Refused("disk full", Fault.STORE),) * 4 == outcomes
    assert (before, kept(1)) == (store.read(), store.deployed("shop", "web"))
    store.fail_reads("disk gone")
    with pytest.raises(StoreError, match="disk gone"):
        store.deployed("shop", "web")
