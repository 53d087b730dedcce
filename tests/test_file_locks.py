"""What only locks on disk have to stand: other processes and their death, forks, odd names, a place that cannot be written."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gordon_shell.errors import BusyError, StoreError
from gordon_shell.file_locks import FileLock, FileLocks

HOLD = """
import sys, time
from pathlib import Path
from gordon_shell.file_locks import FileLocks
held = FileLocks(Path(sys.argv[1])).try_app("shop"), FileLocks(Path(sys.argv[1])).try_run()
print("held", flush=True)
time.sleep(600)
"""
ASK = """
import sys
from pathlib import Path
from gordon_shell.file_locks import FileLocks
print(FileLocks(Path(sys.argv[1])).try_app("shop"))
"""


def held(found: FileLock | str) -> FileLock:
    assert isinstance(found, FileLock)
    return found


def test_another_process_holds_it_until_it_is_killed(tmp_path: Path) -> None:
    locks = FileLocks(tmp_path)
    with subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert "held\n" == holder.stdout.readline()
        assert f"pid {holder.pid}" == locks.try_app("shop")
        assert f"pid {holder.pid}" == locks.try_run()
        with pytest.raises(BusyError, match=f"app shop is locked by pid {holder.pid}") as caught:
            locks.wait_app("shop", 0.05)
        assert 75 == caught.value.exit_code
        holder.send_signal(signal.SIGKILL)
    with locks.wait_app("shop", 60), held(locks.try_run()):
        assert f"pid {os.getpid()}" == locks.try_app("shop")


def test_another_process_is_told_that_we_hold_it(tmp_path: Path) -> None:
    with held(FileLocks(tmp_path).try_app("shop")):
        told = subprocess.run([sys.executable, "-c", ASK, tmp_path], check=True, capture_output=True, text=True).stdout
    assert f"pid {os.getpid()}\n" == told


def test_two_objects_of_one_process_exclude_one_another(tmp_path: Path) -> None:
    with held(FileLocks(tmp_path).try_app("shop")):
        assert f"pid {os.getpid()}" == FileLocks(tmp_path).try_app("shop")
    held(FileLocks(tmp_path).try_app("shop")).release()


def test_a_child_process_does_not_keep_it(tmp_path: Path) -> None:
    lock = held(FileLocks(tmp_path).try_app("shop"))
    with subprocess.Popen(["sleep", "600"], close_fds=False) as child:
        lock.release()
        held(FileLocks(tmp_path).try_app("shop")).release()
        child.kill()


@pytest.mark.parametrize("parent_releases", [True, False])
def test_a_forked_process_neither_keeps_nor_frees_it(tmp_path: Path, *, parent_releases: bool) -> None:
    lock = held(FileLocks(tmp_path).try_app("shop"))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        lock.release()
        os.write(writing, b".")
        signal.pause()
    try:
        os.read(reading, 1)
        assert f"pid {os.getpid()}" == FileLocks(tmp_path).try_app("shop")
        if parent_releases:
            lock.release()
        else:
            lock.disown()
        held(FileLocks(tmp_path).try_app("shop")).release()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)
        os.close(writing)


def test_they_live_beside_the_state_readable_by_their_owner_only(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        held(FileLocks.beside(tmp_path / "state.db").try_app("a/b")).release()
    finally:
        os.umask(before)
    place = tmp_path / "state.db.locks"
    assert 0o700 == stat.S_IMODE(place.stat().st_mode)
    assert {"app-a%2Fb.lock": 0o600} == {each.name: stat.S_IMODE(each.stat().st_mode) for each in place.iterdir()}


def test_names_never_leave_the_directory_nor_meet(tmp_path: Path) -> None:
    place = tmp_path / "locks"
    locks = FileLocks(place)
    names = ["../../x", "/etc/passwd", "run", "\ud800", "x" * 300, "x" * 301, "x/" * 200, ""]
    found = [held(locks.try_app(each)) for each in names]
    assert len(names) == len(list(place.iterdir()))
    assert [place] == list(tmp_path.iterdir())
    for each in found:
        each.release()


def test_a_holder_that_could_not_write_its_name_holds_all_the_same(tmp_path: Path) -> None:
    with held(FileLocks(tmp_path).try_run()):
        (tmp_path / "run.lock").write_text("")
        assert "another process" == FileLocks(tmp_path).try_run()


def test_a_place_that_cannot_be_a_directory_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    locks = FileLocks(tmp_path / "file")
    with pytest.raises(StoreError, match=f"the lock {tmp_path}/file/run.lock cannot be taken: .*; let this user write"):
        locks.try_run()
    with pytest.raises(StoreError, match="cannot be taken"):
        locks.wait_app("shop", 5)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a tmpfs, for which one must be root")
def test_lock_files_on_a_file_system_that_became_read_only_still_lock(tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", place], check=True)
    try:
        FileLocks(place / "locks").wait_app("shop", 1).release()
        subprocess.run(["mount", "-o", "remount,ro", place], check=True)
        held = FileLocks(place / "locks").try_app("shop")
        assert isinstance(held, FileLock)
        with held:
            assert FileLocks(place / "locks").try_app("shop") == "another process"
        with pytest.raises(StoreError, match="Read-only file system"):
            FileLocks(place / "locks").try_app("never locked before")
    finally:
        subprocess.run(["umount", place], check=True)
