"""What only a state on disk has to stand: other processes, SIGKILL, damage, a full or read-only disk."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from gordon_core.effects import Done, Fault, Generation, Refused
from gordon_core.snapshot import Declared, Intent
from gordon_shell.errors import StoreError
from gordon_shell.sqlite_schema import connect
from gordon_shell.sqlite_store import SqliteStore
from tests.states import COUNT_UP, DECLARED, filled, tmpfs

# one process that imports once, and forks a writer for each line that it is sent
WRITERS = """
import os, sys
from pathlib import Path
from gordon_core.memory import Memory
from gordon_shell.sqlite_store import SqliteStore
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        store, start = SqliteStore.open(Path(sys.argv[1]), create=True), int(line)
        os.write(1, f"pid {os.getpid()}\\n".encode())
        for number in range(start, start + 1_000_000):
            store.save_memory("shop", f"s{number % 7}", "c", Memory(failures=number))
            os.write(1, f"{number}\\n".encode())
    os.waitpid(child, 0)
    os.write(1, b"dead\\n")
"""


ADOPT = """
import sys
from pathlib import Path
from gordon_core.snapshot import Declared
from gordon_shell.sqlite_store import SqliteStore
store = SqliteStore.open(Path(sys.argv[1]), create=False)
print("ready", flush=True)
sys.stdin.readline()
outcome = store.activate(sys.argv[3], sys.argv[2], Declared(sys.argv[2], 1), 0, None)
print(type(outcome).__name__, *([outcome.fault.value] if hasattr(outcome, "fault") else []))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gordon" / "state.db"


def each_failures(store: SqliteStore) -> list[int]:
    """Return the failures of every orphan, which the documents show and `read` does not."""
    document = json.loads(store.export_state())
    return [each["memory"]["failures"] for service in document["services"] for each in service["memories"]]


class TestDamage:
    def test_a_damaged_page_is_said_and_kept(self, path: Path) -> None:
        store = SqliteStore.open(path, create=True)
        for number in range(200):
            store.activate("shop", f"s{number}", Declared(f"c{number}", 1), 0, None)
        store.close()
        whole = path.read_bytes()
        damaged = whole[:4096] + b"\xff" * (len(whole) - 4096)
        path.write_bytes(damaged)
        sentence = "malformed; move it away, and import an export of it or adopt anew"
        with closing(SqliteStore.open(path, create=False)) as found, pytest.raises(StoreError, match=sentence):
            found.read()
        assert damaged == path.read_bytes()

    def test_a_write_into_a_damaged_page_is_refused(self, path: Path) -> None:
        filled(path).close()
        whole = path.read_bytes()
        path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
        with closing(SqliteStore.open(path, create=False)) as store:
            outcome = store.set_unproven("shop", "web", unproven=True)
        assert isinstance(outcome, Refused)
        assert outcome.fault is Fault.STORE
        assert "malformed" in outcome.reason

    @pytest.mark.parametrize("text", ["{", '{"failures":-1}', '{"failures":true}', '{"luck":1}', "[]", "[" * 100_000])
    def test_a_row_that_means_nothing_is_named(self, path: Path, text: str) -> None:
        store = filled(path)
        before = store.read()
        with closing(connect(path, "mode=rw")) as connection:
            connection.execute("UPDATE memory SET memory = ?", (text,))
        with pytest.raises(StoreError, match=r"means nothing, memory of shop/web container old \(\$"):
            store.read()
        store.save_memory("shop", "web", "old", before[0].memory)
        assert before == store.read()
        store.close()

    def test_what_cannot_be_text_or_a_number_there_is_refused(self, path: Path) -> None:
        store = SqliteStore.open(path, create=True)
        for outcome in (
            store.inhibit("shop", "web", "c", "\ud800"),
            store.activate("shop", "web", Declared("c", 2**70), 0, None),
        ):
            assert isinstance(outcome, Refused)
            assert outcome.fault is Fault.STORE
        assert () == store.read()
        store.close()


class TestOtherProcesses:
    def test_a_store_sees_what_another_writes_and_hands_out_the_rest_unchanged(self, path: Path) -> None:
        with closing(filled(path)) as one, closing(SqliteStore.open(path, create=False)) as two:
            one.activate("shop", "db", Declared("db", 1), 0, None)
            db, web = one.read()
            two.set_unproven("shop", "web", unproven=True)
            again = one.read()
            assert again[0] is db
            assert again[1] == two.read()[1]
            assert web != again[1]
            assert one.read() is again

    def test_a_compare_and_set_is_against_what_another_wrote(self, path: Path) -> None:
        with closing(filled(path)) as one, closing(SqliteStore.open(path, create=False)) as two:
            one.read()
            two.activate("shop", "web", Declared("new", 2), 1, None)
            outcome = one.persist_binds(Generation("shop", "web", "old", 1), ())
            assert isinstance(outcome, Refused)
            assert outcome.fault is Fault.CONFLICT
            assert two.read() == one.read()

    def test_of_two_processes_that_name_one_container_for_two_apps_one_wins(self, path: Path) -> None:
        """Each under the lock of its own app, which keeps neither from the other's."""
        filled(path).close()
        for number in range(4):
            command = [sys.executable, "-c", ADOPT, str(path), f"c{number}"]
            both = [subprocess.Popen([*command, app], stdin=subprocess.PIPE, stdout=subprocess.PIPE) for app in ("a", "b")]
            for each in both:
                assert each.stdout is not None
                assert b"ready\n" == each.stdout.readline()
            for each in both:
                assert each.stdin is not None
                each.stdin.write(b"\n")
                each.stdin.flush()
            said = [each.communicate()[0].decode().split() for each in both]
            assert [["Done"], ["Refused", "conflict"]] == sorted(said)
        with closing(SqliteStore.open(path, create=False)) as store:
            assert [*(f"c{number}" for number in range(4)), "old"] == sorted(
                each.declared.container_id for each in store.read() if each.declared is not None
            )

    def test_no_update_of_four_writing_processes_is_lost(self, path: Path) -> None:
        command = [sys.executable, "-c", COUNT_UP, str(path), "50"]
        writers = [subprocess.Popen(command) for _ in range(4)]
        assert [0] * 4 == [each.wait() for each in writers]
        with closing(SqliteStore.open(path, create=False)) as store:
            assert [200] == [each.declared.revision for each in store.read() if each.declared is not None]

    def test_a_writer_that_keeps_it_locked_is_refused_not_waited_for_ever(self, path: Path) -> None:
        with closing(filled(path)) as store, closing(connect(path, "mode=rw")) as other:
            other.execute("BEGIN IMMEDIATE")
            before_s = time.monotonic()
            outcome = store.set_unproven("shop", "web", unproven=True)
            assert 4 <= time.monotonic() - before_s < 60
            assert isinstance(outcome, Refused)
            assert "database is locked; another program" in outcome.reason
            assert not store.read()[0].unproven
            other.execute("ROLLBACK")
            assert Done() == store.set_unproven("shop", "web", unproven=True)

    def test_no_acknowledged_commit_is_lost_to_30_sigkills(self, path: Path) -> None:
        acknowledged = 0
        command = [sys.executable, "-u", "-c", WRITERS, str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
            assert parent.stdin is not None
            assert parent.stdout is not None
            for round_ in range(30):
                parent.stdin.write(f"{acknowledged + 1}\n")
                parent.stdin.flush()
                child = int(parent.stdout.readline().removeprefix("pid "))
                acknowledged = int(parent.stdout.readline())
                time.sleep(0.01 + 0.001 * round_)
                os.kill(child, signal.SIGKILL)
                for line in iter(parent.stdout.readline, "dead\n"):
                    acknowledged = int(line)
                with closing(SqliteStore.open(path, create=False)) as store:
                    newest = max(each_failures(store))
                assert newest in {acknowledged, acknowledged + 1}
                acknowledged = newest
            parent.stdin.close()
        assert acknowledged >= 30


class TestAFullDisk:
    def test_writes_are_refused_with_sqlites_words_and_nothing_is_lost(self, tmp_path: Path) -> None:
        with tmpfs(tmp_path / "small") as place, closing(filled(place / "state.db")) as store:
            written = 0
            outcome = store.set_intent("app", Intent.STOPPED)
            while outcome == Done():
                outcome = store.inhibit("shop", f"s{written}", "c", "x" * 8000)
                written += outcome == Done()
            assert isinstance(outcome, Refused)
            assert outcome.fault is Fault.STORE
            assert "cannot be written: database or disk is full; free some space on its disk" in outcome.reason
            (service,) = store.read()
            assert DECLARED == service.declared
            with closing(SqliteStore.open(place / "state.db", create=False, read_only=True)) as reader:
                assert (service,) == reader.read()
            subprocess.run(["mount", "-o", "remount,size=8m", place], check=True)
            assert Done() == store.set_unproven("shop", "web", unproven=True)
            document = json.loads(store.export_state())
            assert written == len([each for each in document["services"] if each["inhibitions"]])

    def test_a_state_cannot_be_made_on_one_and_leaves_no_litter(self, tmp_path: Path) -> None:
        with tmpfs(tmp_path / "small") as place:
            (place / "filler").write_bytes(b"x" * 1_040_000)
            with closing(SqliteStore.open(place / "state.db", create=True)) as store:
                outcome = store.activate("shop", "web", DECLARED, 0, None)
            assert isinstance(outcome, Refused)
            assert Fault.STORE is outcome.fault
            assert outcome.reason.startswith(f"the state at {place}/state.db cannot be made: ")
            assert ["filler"] == [each.name for each in place.iterdir()]


class TestAReadOnlyPlace:
    def test_it_is_said_and_can_still_be_read(self, tmp_path: Path) -> None:
        with tmpfs(tmp_path / "small") as place:
            filled(place / "state.db").close()
            subprocess.run(["mount", "-o", "remount,ro", place], check=True)
            with pytest.raises(StoreError, match=r"cannot be opened: .*; let this user write it and its directory"):
                SqliteStore.open(place / "state.db", create=False)
            with closing(SqliteStore.open(place / "other.db", create=True)) as store:
                outcome = store.activate("shop", "web", DECLARED, 0, None)
            assert isinstance(outcome, Refused)
            assert "cannot be made: Read-only file system; let this user write" in outcome.reason
            with closing(SqliteStore.open(place / "state.db", create=False, read_only=True)) as reader:
                assert [DECLARED] == [each.declared for each in reader.read()]

    def test_permission_denied_is_said(self, tmp_path: Path) -> None:
        if os.geteuid() != 0:
            pytest.skip("becoming another user needs root")
        place = tmp_path / "mine"
        filled(place / "state.db").close()
        child = os.fork()
        if child == 0:
            os.seteuid(65534)
            codes = [_refusal(place / "state.db", read_only=read_only) for read_only in (False, True)]
            os._exit(0 if all("Permission denied; let this user" in each for each in codes) else 1)
        assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _refusal(path: Path, *, read_only: bool) -> str:
    try:
        SqliteStore.open(path, create=True, read_only=read_only)
    except StoreError as error:
        return str(error)
    return ""
