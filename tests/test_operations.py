"""What an operator may change: under the app lock alone, all or nothing, and refused with what would be right."""

from collections.abc import Callable, Iterator

import pytest
from attrs import evolve

from gordon_core.effects import Done, Generation, Outcome
from gordon_core.grants import Overrides
from gordon_core.memory import Attempt, Memory, Strikes, Verified
from gordon_core.observation import Bind
from gordon_core.snapshot import Declared, Hold, Intent
from gordon_shell import operations
from gordon_shell.errors import BusyError, EngineError, RouterError, StoreError, UsageError
from gordon_shell.memory.locks import MemoryLocks
from gordon_shell.memory.store import MemoryStore
from gordon_shell.ports import Marker, Ports, Routes, Stored
from gordon_shell.wishes import Wish
from tests.deploys import CANDIDATE, revision
from tests.shell_worlds import HTTP, Shell

BINDS = (Bind(HTTP, 32768),)
VERIFIED = Verified("t1", BINDS, 1)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def ports(shell: Shell, store: MemoryStore) -> Iterator[Ports]:
    real = shell.ports()
    yield evolve(real, store=store, locks=MemoryLocks())
    real.store.close()


@pytest.fixture
def web(shell: Shell, ports: Ports) -> str:
    """Return the ID of an adopted container shop/web."""
    container_id = shell.container("web-1", HTTP)
    operations.adopt(ports, "shop", (Wish("web", "web-1"),))
    return container_id


def stored(ports: Ports, service: str = "web") -> Stored:
    found = ports.store.read_service("shop", service)
    assert found is not None
    return found


def test_all_of_an_adoption_is_checked_before_any_of_it_is_written(shell: Shell, ports: Ports) -> None:
    shell.container("web-1", HTTP)
    with pytest.raises(UsageError, match="there is no container 'db-1'"):
        operations.adopt(ports, "shop", (Wish("web", "web-1"), Wish("db", "db-1")))
    assert () == ports.store.read()


def test_a_container_named_for_two_services_is_refused(shell: Shell, ports: Ports) -> None:
    shell.container("web-1", HTTP)
    with pytest.raises(UsageError, match="container web-1 is named for shop/a and for shop/b; a container is one service"):
        operations.adopt(ports, "shop", (Wish("a", "web-1"), Wish("b", "web-1")))
    assert () == ports.store.read()


class Overtaken(MemoryStore):
    """A store into which somebody else writes right before the first write of this one that names a container."""

    def __init__(self, first: Callable[[MemoryStore], object]) -> None:
        super().__init__()
        self._first: Callable[[MemoryStore], object] | None = first

    def _overtake(self) -> None:
        first, self._first = self._first, None
        if first is not None:
            first(self)

    def activate(self, app: str, service: str, declared: Declared, expected_revision: int, superseded: Marker | None) -> Outcome:
        self._overtake()
        return super().activate(app, service, declared, expected_revision, superseded)

    def mark(self, app: str, service: str, marker: Marker) -> Outcome:
        self._overtake()
        return super().mark(app, service, marker)


def test_a_container_that_another_app_takes_while_it_is_adopted_is_refused_as_if_it_had_been_before(
    shell: Shell, ports: Ports
) -> None:
    web = shell.container("web-1", HTTP)
    overtaken = evolve(ports, store=Overtaken(lambda store: store.activate("blog", "web", Declared(web, 1), 0, None)))
    with pytest.raises(UsageError, match=r"container web-1 .* is that of blog/web already; forget that first"):
        operations.adopt(overtaken, "shop", (Wish("web", "web-1"),))
    assert [("blog", web)] == [(each.app, each.declared.container_id) for each in overtaken.store.read() if each.declared]


def test_a_service_that_is_deployed_while_it_is_adopted_is_a_conflict_and_stays(shell: Shell, ports: Ports) -> None:
    shell.container("web-1", HTTP)
    overtaken = evolve(ports, store=Overtaken(lambda store: store.activate("shop", "web", Declared("web-9", 1), 0, None)))
    with pytest.raises(BusyError, match="ACTIVE has shop/web at revision 1, not 0"):
        operations.adopt(overtaken, "shop", (Wish("web", "web-1"),))
    assert Declared("web-9", 1) == stored(overtaken).declared


def test_a_container_that_another_app_takes_while_it_is_to_be_retired_is_left_to_that(shell: Shell, ports: Ports) -> None:
    old, web = shell.container("old-1"), shell.container("web-1", HTTP)
    store = Overtaken(lambda store: store.activate("blog", "web", Declared(old, 1), 0, None))
    MemoryStore.activate(store, "shop", "web", Declared(web, 1), 0, None)
    with pytest.raises(UsageError, match="container old-1 is the one that ACTIVE names for blog/web"):
        operations.retire(evolve(ports, store=store), "shop", "web", old)
    assert [()] * 2 == [each.markers for each in store.read()]


def test_the_successor_and_the_marker_of_the_former_container_are_written_together(shell: Shell, ports: Ports, web: str) -> None:
    ports.store.persist_binds(Generation("shop", "web", web, 1), BINDS)
    ports.store.save_memory("shop", "web", web, Memory(failures=1, verified=VERIFIED))
    second = shell.container("web-2", HTTP)
    operations.adopt(ports, "shop", (Wish("web", "web-2"),))
    now = stored(ports)
    assert Declared(second, 2, (HTTP,)) == now.declared
    assert (Marker(web, 10.0, BINDS, VERIFIED),) == now.markers


def test_an_unchanged_adoption_writes_nothing(ports: Ports, store: MemoryStore, web: str) -> None:
    before = store.read()
    store.fail_writes("the disk is full")
    assert [True] == [each.is_unchanged for each in operations.adopt(ports, "shop", (Wish("web", web),))]
    assert before == store.read()


def test_the_intent_is_that_of_the_whole_app(shell: Shell, ports: Ports, web: str) -> None:
    del web
    shell.container("db-1")
    operations.adopt(ports, "shop", (Wish("db", "db-1"),))
    before = operations.set_intent(ports, "shop", Intent.STOPPED)
    assert [Intent.RUNNING] * 2 == [each.intent for each in before]
    assert [Intent.STOPPED] * 2 == [each.intent for each in ports.store.read()]
    operations.set_intent(ports, "shop", Intent.RUNNING)
    assert [Intent.RUNNING] * 2 == [each.intent for each in ports.store.read()]


def test_an_inhibition_is_set_and_dropped(ports: Ports, web: str) -> None:
    del web
    operations.inhibit(ports, "shop", "web", "corrupts its data")
    assert stored(ports).inhibited == "corrupts its data"
    assert operations.allow(ports, "shop", "web").inhibited == "corrupts its data"
    assert stored(ports).inhibited == ""
    assert operations.allow(ports, "shop", "web").inhibited == ""


def test_a_retry_forgets_the_history_and_keeps_what_was_verified(ports: Ports, web: str) -> None:
    memory = Memory(4, "t0", 900.0, Attempt("t0"), Strikes("t1", 1, "r1"), verified=VERIFIED, boot_id="boot-1")
    ports.store.save_memory("shop", "web", web, memory)
    assert [memory] == [each for _, each in operations.retry(ports, "shop")]
    assert Memory(verified=VERIFIED, again=True) == stored(ports).memory
    assert () == operations.retry(ports, "shop", "web")


def test_a_hold_is_put_on_every_service_of_an_app_or_on_one_and_ended_likewise(shell: Shell, ports: Ports, web: str) -> None:
    del web
    shell.container("db-1")
    operations.adopt(ports, "shop", (Wish("db", "db-1"),))
    wish = Hold(9_000.0, 1e9, "boot-1", "alice", "migration")
    assert [None, None] == [each.hold for each in operations.hold(ports, "shop", "", wish)]
    assert [wish, wish] == [stored(ports, each).hold for each in ("web", "db")]
    assert [wish] == [each.hold for each in operations.release(ports, "shop", "db")]
    assert [wish, None] == [stored(ports, each).hold for each in ("web", "db")]
    assert [None, wish] == [each.hold for each in operations.release(ports, "shop")]
    with pytest.raises(UsageError, match="app 'shop' has no service 'api'"):
        operations.hold(ports, "shop", "api", wish)


def test_what_is_tuned_is_changed_under_the_lock(ports: Ports, web: str) -> None:
    del web
    operations.tune(ports, "shop", "web", lambda _before: Overrides(free_failures=5))
    before = operations.tune(ports, "shop", "web", lambda before: evolve(before, readiness_s=9.0))
    assert Overrides(free_failures=5) == before.tuning
    assert Overrides(free_failures=5, readiness_s=9.0) == stored(ports).tuning


def test_forgetting_forgets_holds_and_what_is_tuned(ports: Ports, web: str) -> None:
    operations.hold(ports, "shop", "web", Hold(9_000.0, 1e9, "boot-1", "alice", "migration"))
    operations.tune(ports, "shop", "web", lambda _before: Overrides(free_failures=5))
    operations.forget(ports, "shop")
    operations.adopt(ports, "shop", (Wish("web", web),))
    assert (None, Overrides()) == (stored(ports).hold, stored(ports).tuning)


def test_a_retired_container_gets_a_marker_with_its_own_grace_or_the_one_given(shell: Shell, ports: Ports, web: str) -> None:
    del web
    old = shell.container("web-0", stop_grace_s=77.0)
    assert Marker(old, 77.0) == operations.retire(ports, "shop", "web", "web-0")
    assert (Marker(old, 77.0),) == stored(ports).markers
    assert Marker(old, 5.0) == operations.retire(ports, "shop", "web", "web-0", 5.0)
    assert (Marker(old, 5.0),) == stored(ports).markers


def test_retiring_keeps_the_claims_and_the_verified_execution_that_a_marker_has(shell: Shell, ports: Ports, web: str) -> None:
    shell.container("web-2", HTTP)
    ports.store.save_memory("shop", "web", web, Memory(verified=VERIFIED))
    operations.adopt(ports, "shop", (Wish("web", "web-2"),))
    assert Marker(web, 3.0, (), VERIFIED) == operations.retire(ports, "shop", "web", "web-1", 3.0)


def test_the_container_in_care_and_that_of_another_service_are_not_retired(shell: Shell, ports: Ports, web: str) -> None:
    del web
    shell.container("db-1")
    operations.adopt(ports, "shop", (Wish("db", "db-1"),))
    for each in ("web-1", "db-1"):
        with pytest.raises(UsageError, match=f"container {each} is the one that ACTIVE names for shop/"):
            operations.retire(ports, "shop", "web", each)
    shell.container("db-0")
    operations.retire(ports, "shop", "db", "db-0")
    with pytest.raises(UsageError, match="container db-0 is to be retired as one of shop/db already"):
        operations.retire(ports, "shop", "web", "db-0")


def test_forgetting_withdraws_and_leaves_nothing_but_the_containers(shell: Shell, ports: Ports, web: str) -> None:
    shell.container("web-2", HTTP)
    second = operations.adopt(ports, "shop", (Wish("web", "web-2"),))[0].declared.container_id
    shell.router.route_by_hand("shop", "web", BINDS)
    shell.router.running["shop", "web"] = 2
    ports.store.save_memory("shop", "web", second, Memory(failures=1))
    ports.store.save_memory("shop", "web", "f" * 64, Memory(failures=1))
    ports.store.set_unproven("shop", "web", unproven=True)
    ports.store.inhibit("shop", "web", second, "why")
    ports.store.set_intent("shop", Intent.STOPPED)
    (found,) = operations.forget(ports, "shop")
    assert operations.Forgotten("shop", "web", second, (web,), 2) == found
    assert ((), {}) == (ports.store.read(), shell.router.read().by_service)
    assert {"web-1", "web-2"} == {each.name for each in shell.engine.rows()}
    again = operations.adopt(ports, "shop", (Wish("web", "web-2"),))
    assert (1, Intent.RUNNING, "") == (again[0].declared.revision, stored(ports).intent, stored(ports).inhibited)


def test_forgetting_leaves_candidates_in_the_journal_and_nothing_of_what_was_deployed(ports: Ports, web: str) -> None:
    ports.store.activate("shop", "web", Declared(web, 2), 1, None, (revision(2),))
    ports.store.journal("shop", "web", CANDIDATE)
    ports.store.journal("shop", "first", CANDIDATE)
    ports.store.save_memory("shop", "web", CANDIDATE.container_id, Memory(failures=1))
    operations.forget(ports, "shop")
    journalled = [Stored("shop", each, Intent.RUNNING, candidates=(CANDIDATE,)) for each in ("first", "web")]
    assert journalled == [*ports.store.read()]
    assert () == ports.store.deployed("shop", "web")


def test_forgetting_one_service_keeps_its_siblings_and_the_intent(shell: Shell, ports: Ports, web: str) -> None:
    del web
    shell.container("db-1")
    operations.adopt(ports, "shop", (Wish("db", "db-1"),))
    operations.set_intent(ports, "shop", Intent.STOPPED)
    operations.forget(ports, "shop", "db")
    assert [("web", Intent.STOPPED)] == [(each.service, each.intent) for each in ports.store.read()]


@pytest.mark.parametrize("breaks", ["withdraw", "read", "republished"])
def test_without_a_proof_nothing_is_forgotten(shell: Shell, ports: Ports, store: MemoryStore, web: str, breaks: str) -> None:
    del web
    shell.router.route_by_hand("shop", "web", BINDS)
    before = store.read()
    router = shell.router
    if breaks == "withdraw":
        router.fail_withdraw = "the proxy said no"
    elif breaks == "read":
        router.fail_reads = "the proxy does not answer"
    else:
        ports = evolve(ports, router=_Stubborn())
    with pytest.raises(RouterError, match="the withdrawal of shop/web is not proven, so nothing was forgotten: "):
        operations.forget(ports, "shop")
    marked = tuple(evolve(each, unproven=breaks == "withdraw") for each in before)
    assert marked == store.read()


class _Stubborn:
    """A router that says it withdrew, and reads otherwise."""

    def read(self) -> Routes:
        return Routes({("shop", "web"): BINDS})

    def withdraw(self, app: str, service: str) -> Done:
        del app, service
        return Done()


def test_a_failed_withdrawal_that_a_read_shows_to_be_gone_is_proof(shell: Shell, ports: Ports, web: str) -> None:
    del web
    shell.router.fail_withdraw = "it was not there"
    operations.forget(ports, "shop")
    assert () == ports.store.read()


def test_what_is_not_there_is_refused_with_what_there_is(ports: Ports, web: str) -> None:
    del web
    with pytest.raises(UsageError, match="there is no app 'shep'; adopted: shop"):
        operations.set_intent(ports, "shep", Intent.STOPPED)
    with pytest.raises(UsageError, match="app 'shop' has no service 'db'; it has: web"):
        operations.inhibit(ports, "shop", "db", "")


def test_with_nothing_adopted_the_remedy_is_to_adopt(ports: Ports) -> None:
    with pytest.raises(UsageError, match="there is no app 'shop'; nothing was adopted yet: gordon-shell adopt"):
        operations.retry(ports, "shop")


def test_what_active_does_not_name_can_be_neither_inhibited_nor_superseded(ports: Ports) -> None:
    ports.store.save_memory("shop", "web", "f" * 64, Memory(failures=1))
    for refused in (lambda: operations.inhibit(ports, "shop", "web", ""), lambda: operations.retire(ports, "shop", "web", "x")):
        with pytest.raises(UsageError, match="ACTIVE names no container for shop/web; adopt one"):
            refused()


def test_a_store_that_cannot_be_written_says_so(ports: Ports, store: MemoryStore, web: str) -> None:
    del web
    store.fail_writes("the disk is full; free some space")
    with pytest.raises(StoreError, match="the disk is full; free some space"):
        operations.set_intent(ports, "shop", Intent.STOPPED)


def test_an_engine_out_of_reach_adopts_nothing(shell: Shell, ports: Ports) -> None:
    shell.engine.unreachable("connection refused")
    with pytest.raises(EngineError, match="connection refused"):
        operations.adopt(ports, "shop", (Wish("web", "web-1"),))


def test_every_operation_waits_for_the_lock_of_its_app_and_names_the_holder(ports: Ports, web: str) -> None:
    held = evolve(ports, locks=_Held())
    for each in (
        lambda: operations.adopt(held, "shop", (Wish("web", web),)),
        lambda: operations.set_intent(held, "shop", Intent.STOPPED),
        lambda: operations.inhibit(held, "shop", "web", ""),
        lambda: operations.allow(held, "shop", "web"),
        lambda: operations.retry(held, "shop"),
        lambda: operations.retire(held, "shop", "web", "web-1"),
        lambda: operations.forget(held, "shop"),
    ):
        with pytest.raises(BusyError, match=r"shop after 30\.0"):
            each()


class _Held:
    """Locks that somebody else holds for ever."""

    def wait_app(self, app: str, wait_s: float) -> None:
        message = f"{app} after {wait_s}"
        raise BusyError(message)
