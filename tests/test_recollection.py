"""Memory between the store and the core: held where the store cannot be written, and lost nowhere."""

import threading

from attrs import evolve

from gordon_core.effects import Done, Fault, Outcome, Refused
from gordon_core.memory import NOTHING, Attempt, Memory, Verified
from gordon_core.observation import Unread
from gordon_core.snapshot import Declared, Intent, Subject
from gordon_shell.memory.store import MemoryStore
from gordon_shell.ports import Marker, Stored
from gordon_shell.recollection import Recollection

BOOT = "boot-1"
FULL = "the disk is full"
CHARGED = Memory(failures=3, charged="t", charged_at_s=500.0, boot_id=BOOT)
SUBJECT = Subject("shop", "web", Unread("not looked"), Declared("web-1", 1))


def full(store: MemoryStore) -> MemoryStore:
    store.fail_writes(FULL)
    return store


def filled(memory: Memory = NOTHING, *, app: str = "shop") -> MemoryStore:
    store = MemoryStore()
    store.activate(app, "web", Declared("web-1", 1), 0, None)
    store.save_memory(app, "web", "web-1", memory)
    return store


def stored(store: MemoryStore, app: str = "shop") -> Stored:
    found = store.read_service(app, "web")
    assert found is not None
    return found


def remembering(memory: Memory) -> Subject:
    return evolve(SUBJECT, memory=memory)


def test_what_the_store_holds_is_remembered() -> None:
    store = filled(CHARGED)
    assert CHARGED == Recollection(store).memory(stored(store), BOOT)


def test_another_boot_drops_the_waits_and_keeps_the_failures() -> None:
    store = filled(CHARGED)
    after = Recollection(store).memory(stored(store), "boot-2")
    assert (3, None, "boot-2") == (after.failures, after.charged_at_s, after.boot_id)


def test_what_changed_is_written_at_once() -> None:
    store = filled()
    assert Done() == Recollection(store).keep(SUBJECT, remembering(CHARGED))
    assert CHARGED == stored(store).memory


def test_what_did_not_change_is_not_written() -> None:
    store = full(filled(CHARGED))
    assert Done() == Recollection(store).keep(remembering(CHARGED), remembering(CHARGED))


def test_a_service_without_a_container_has_no_memory_to_write() -> None:
    store = full(filled())
    gone = Subject("shop", "web", Unread("ACTIVE names no container"))
    assert Done() == Recollection(store).keep(gone, evolve(gone, memory=CHARGED))
    left = Stored("shop", "web", Intent.RUNNING, None, orphans=("web-1",))
    assert NOTHING == Recollection(store).memory(left, BOOT)


def test_what_the_store_refuses_is_held_said_and_written_later() -> None:
    store = full(filled())
    recollection = Recollection(store)
    assert Refused(FULL, Fault.STORE) == recollection.keep(SUBJECT, remembering(CHARGED))
    assert NOTHING == stored(store).memory
    assert CHARGED == recollection.memory(stored(store), BOOT)
    assert (FULL,) == recollection.write_held({"shop"})
    assert CHARGED == recollection.memory(stored(store), BOOT)
    store.fail_writes(None)
    assert () == recollection.write_held({"shop"})
    assert CHARGED == stored(store).memory


def test_what_was_written_in_the_end_is_held_no_longer() -> None:
    store = full(filled())
    recollection = Recollection(store)
    recollection.keep(SUBJECT, remembering(CHARGED))
    store.fail_writes(None)
    recollection.write_held({"shop"})
    store.save_memory("shop", "web", "web-1", NOTHING)
    assert NOTHING == recollection.memory(stored(store), BOOT)


def test_a_later_value_takes_the_place_of_the_one_that_is_held() -> None:
    store = full(filled())
    recollection = Recollection(store)
    recollection.keep(SUBJECT, remembering(CHARGED))
    store.fail_writes(None)
    later = evolve(CHARGED, failures=4)
    assert Done() == recollection.keep(remembering(CHARGED), remembering(later))
    assert () == recollection.write_held({"shop"})
    assert later == stored(store).memory


def test_what_is_held_of_an_app_that_somebody_else_locked_waits() -> None:
    store = full(filled())
    recollection = Recollection(store)
    recollection.keep(SUBJECT, evolve(remembering(CHARGED), unproven=True))
    store.fail_writes(None)
    assert () == recollection.write_held({"another app"})
    assert (NOTHING, False) == (stored(store).memory, stored(store).unproven)
    recollection.write_held({"shop"})
    assert (CHARGED, True) == (stored(store).memory, stored(store).unproven)


def test_an_unproven_withdrawal_is_written_or_held() -> None:
    store = filled()
    recollection = Recollection(store)
    assert Done() == recollection.keep(SUBJECT, evolve(SUBJECT, unproven=True))
    assert stored(store).unproven
    store.fail_writes(FULL)
    assert Refused(FULL, Fault.STORE) == recollection.keep(evolve(SUBJECT, unproven=True), SUBJECT)
    assert stored(store).unproven
    assert not recollection.unproven(stored(store))
    store.fail_writes(None)
    recollection.write_held({"shop"})
    assert not stored(store).unproven


def test_a_withdrawal_under_way_is_in_doubt_and_one_that_is_settled_is_not() -> None:
    store = filled()
    recollection = Recollection(store)
    recollection.doubt("shop", "web")
    assert recollection.unproven(stored(store))
    assert not stored(store).unproven
    assert Done() == recollection.settle(SUBJECT, SUBJECT)
    assert not recollection.unproven(stored(store))
    assert () == recollection.write_held({"shop"})
    assert not stored(store).unproven


def test_a_withdrawal_that_does_not_come_back_is_unproven_until_something_is_known_of_it() -> None:
    store = filled()
    recollection = Recollection(store)
    recollection.doubt("shop", "web")
    assert () == recollection.write_held({"another app"})
    assert not stored(store).unproven
    assert () == recollection.write_held({"shop"})
    assert stored(store).unproven
    recollection.doubt("shop", "web")
    assert Done() == recollection.keep(evolve(SUBJECT, unproven=True), SUBJECT)
    assert (False, False) == (stored(store).unproven, recollection.unproven(stored(store)))


def test_a_second_withdrawal_that_fails_leaves_the_doubt_about_the_first_on_record() -> None:
    store = filled()
    recollection, doubtful = Recollection(store), evolve(SUBJECT, unproven=True)
    recollection.doubt("shop", "web")
    recollection.doubt("shop", "web")
    assert Done() == recollection.settle(doubtful, doubtful)
    assert recollection.unproven(stored(store))
    assert () == recollection.write_held({"shop"})
    assert stored(store).unproven


def test_a_refusal_is_told_although_the_other_write_went_well() -> None:
    class HalfFull(MemoryStore):
        def set_unproven(self, app: str, service: str, *, unproven: bool) -> Outcome:
            del app, service, unproven
            return Refused(FULL, Fault.STORE)

    store = HalfFull()
    store.activate("shop", "web", Declared("web-1", 1), 0, None)
    outcome = Recollection(store).keep(SUBJECT, evolve(remembering(CHARGED), unproven=True))
    assert Refused(FULL, Fault.STORE) == outcome
    assert CHARGED == stored(store).memory


def test_what_was_verified_is_learnt_by_what_is_held_and_by_nothing_else() -> None:
    """A deploy has the store write it together with ACTIVE; what was refused before still waits to be written."""
    store, again = filled(Memory(verified=Verified("s", (), 1))), Verified("s", (), 2)
    recollection = Recollection(store)
    recollection.learn("shop", "web", "web-1", again)
    assert Verified("s", (), 1) == recollection.memory(stored(store), BOOT).verified
    full(store)
    recollection.keep(SUBJECT, remembering(CHARGED))
    recollection.learn("shop", "web", "web-1", again)
    assert evolve(CHARGED, verified=again) == recollection.memory(stored(store), BOOT)
    store.fail_writes(None)
    recollection.write_held({"shop"})
    assert evolve(CHARGED, verified=again) == stored(store).memory


def test_an_older_value_is_never_written_over_a_newer_one() -> None:
    """Between the moment that a held value is taken up and its write, a job may have written a newer one."""
    begun, go_on = threading.Event(), threading.Event()

    class Slow(MemoryStore):
        slow = False

        def save_memory(self, app: str, service: str, container_id: str, memory: Memory) -> Outcome:
            if self.slow and memory == CHARGED:
                begun.set()
                go_on.wait(30)
            return super().save_memory(app, service, container_id, memory)

    store = Slow()
    store.activate("shop", "web", Declared("web-1", 1), 0, None)
    store.fail_writes(FULL)
    recollection = Recollection(store)
    recollection.keep(SUBJECT, remembering(CHARGED))
    store.fail_writes(None)
    store.slow = True
    newer = evolve(CHARGED, failures=4)
    first = threading.Thread(target=recollection.write_held, args=({"shop"},))
    second = threading.Thread(target=recollection.keep, args=(remembering(CHARGED), remembering(newer)))
    first.start()
    assert begun.wait(30)
    second.start()
    second.join(0.1)
    go_on.set()
    first.join(30)
    second.join(30)
    assert newer == stored(store).memory


def test_rearm_drops_waits_and_keeps_failures_attempts_and_what_was_verified() -> None:
    verified = Verified("t", (), 1)
    before = evolve(CHARGED, attempt=Attempt("t"), verified=verified)
    store = filled(before)
    recollection = Recollection(store, rearm=True)
    after = recollection.memory(stored(store), BOOT)
    assert evolve(before, charged_at_s=None) == after
    assert () == recollection.write_held({"shop"})
    assert after == stored(store).memory


def test_rearm_happens_once() -> None:
    store = filled(CHARGED)
    recollection = Recollection(store, rearm=True)
    recollection.memory(stored(store), BOOT)
    recollection.write_held({"shop"})
    store.save_memory("shop", "web", "web-1", CHARGED)
    assert CHARGED == recollection.memory(stored(store), BOOT)


def test_rearm_waits_for_an_app_that_somebody_else_locked_and_loses_nothing_that_is_recorded_meanwhile() -> None:
    store = filled(CHARGED)
    recollection = Recollection(store, rearm=True)
    recollection.memory(stored(store), BOOT, ours=False)
    recollection.write_held(set())
    recorded = evolve(CHARGED, verified=Verified("t2", (), 1))
    store.save_memory("shop", "web", "web-1", recorded)
    assert evolve(recorded, charged_at_s=None) == recollection.memory(stored(store), BOOT)


def test_containers_are_told_apart() -> None:
    store = full(filled())
    recollection = Recollection(store)
    recollection.keep(SUBJECT, remembering(CHARGED))
    store.fail_writes(None)
    store.activate("shop", "web", Declared("web-2", 2), 1, Marker("web-1"))
    assert NOTHING == recollection.memory(stored(store), BOOT)
