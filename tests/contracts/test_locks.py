"""What every Locks promises, seen on the one in memory and on the real one."""

import os
import threading
import time
from pathlib import Path

import pytest

from gordon_shell.errors import BusyError
from gordon_shell.file_locks import FileLocks
from gordon_shell.memory.locks import MemoryLocks
from gordon_shell.ports import Lock, Locks

US = f"pid {os.getpid()}"


@pytest.fixture(params=["memory", "files"])
def locks(request: pytest.FixtureRequest, tmp_path: Path) -> Locks:
    return MemoryLocks() if request.param == "memory" else FileLocks(tmp_path / "locks")


def taken(found: Lock | str) -> Lock:
    assert not isinstance(found, str)
    return found


def test_an_app_is_locked_once_and_its_holder_is_named(locks: Locks) -> None:
    held = taken(locks.try_app("shop"))
    assert US == locks.try_app("shop")
    held.release()
    taken(locks.try_app("shop")).release()


def test_apps_run_and_notices_do_not_exclude_one_another(locks: Locks) -> None:
    apps = [taken(locks.try_app(each)) for each in ("shop", "run", "tell")]
    with taken(locks.try_run()), taken(locks.try_tell()):
        assert (US, US, US) == (locks.try_run(), locks.try_tell(), locks.try_app("run"))
    taken(locks.try_run()).release()
    taken(locks.try_tell()).release()
    for each in apps:
        each.release()


@pytest.mark.parametrize("app", ["a/b", "..", ".", "a b", "\u00fcn\u00ef", "a%2Fb", "a\x00b", "x" * 1000, "A", "app-a.lock"])
def test_odd_names_are_names(locks: Locks, app: str) -> None:
    with taken(locks.try_app(app)), taken(locks.try_app(app + "x")), taken(locks.try_app("a")):
        assert US == locks.try_app(app)


def test_a_second_release_does_not_free_the_next_holder(locks: Locks) -> None:
    first = taken(locks.try_app("shop"))
    first.release()
    second = taken(locks.try_app("shop"))
    first.release()
    assert US == locks.try_app("shop")
    second.release()


def test_an_exception_lets_go(locks: Locks) -> None:
    with pytest.raises(ZeroDivisionError), taken(locks.try_app("shop")):
        raise ZeroDivisionError
    taken(locks.try_app("shop")).release()


def test_waiting_for_a_free_app_does_not_wait(locks: Locks) -> None:
    with locks.wait_app("shop", 0):
        assert US == locks.try_app("shop")


def test_waiting_ends_with_who_holds_it(locks: Locks) -> None:
    with taken(locks.try_app("shop")):
        before_s = time.monotonic()
        with pytest.raises(BusyError, match=f"app shop is locked by {US}"):
            locks.wait_app("shop", 0.1)
        assert 0.1 <= time.monotonic() - before_s < 30


def test_a_waiter_gets_it_when_it_is_let_go(locks: Locks) -> None:
    held = taken(locks.try_app("shop"))
    timer = threading.Timer(0.1, held.release)
    timer.start()
    with locks.wait_app("shop", 30):
        assert US == locks.try_app("shop")
    timer.join()


def test_threads_exclude_one_another(locks: Locks) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work(number: int) -> None:
        for _ in range(5):
            with locks.wait_app("shop", 30):
                inside.append(number)
                most.append(len(inside))
                time.sleep(0.001)
                inside.remove(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert [1] * 20 == most
