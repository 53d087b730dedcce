"""A state that is only read: without a trace, whoever has it open, and whatever a killed program left."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from gordon_core.effects import Fault, Refused
from gordon_core.snapshot import Declared, Intent
from gordon_shell.errors import StoreError
from gordon_shell.sqlite_store import SqliteStore
from tests.states import COUNT_UP, DECLARED, contents, filled

STEP_BY_STEP = """
import sys
from pathlib import Path
from gordon_core.snapshot import Declared
from gordon_shell.sqlite_store import SqliteStore
store = SqliteStore.open(Path(sys.argv[1]), create=False)
sys.stdin.readline()
store.activate("shop", "db", Declared("d", 1), 0, None)
print("db", flush=True)
sys.stdin.readline()
store.set_unproven("shop", "web", unproven=True)
print("unproven", flush=True)
sys.stdin.readline()
"""


def step_on(writer: "subprocess.Popen[str]") -> None:
    assert writer.stdin is not None
    assert writer.stdout is not None
    writer.stdin.write("\n")
    writer.stdin.flush()
    writer.stdout.readline()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gordon" / "state.db"


class TestReadingOnly:
    def test_a_closed_state_is_read_without_a_trace(self, path: Path) -> None:
        filled(path).close()
        before = contents(path.parent)
        with closing(SqliteStore.open(path, create=False, read_only=True)) as reader:
            assert [DECLARED] == [each.declared for each in reader.read()]
        assert before == contents(path.parent)

    def test_an_open_state_is_read_without_a_trace_and_as_it_is_now(self, path: Path) -> None:
        filled(path).close()
        command = [sys.executable, "-c", STEP_BY_STEP, str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
            step_on(writer)
            before = contents(path.parent)
            assert ["state.db", "state.db-shm", "state.db-wal"] == list(before)
            with closing(SqliteStore.open(path, create=False, read_only=True)) as reader:
                db, web = reader.read()
                assert before == contents(path.parent)
                assert ("db", DECLARED) == (db.service, web.declared)
                step_on(writer)
                again = reader.read()
                assert again[0] is db
                assert again[1].unproven
                assert again[1] == reader.read_service("shop", "web")

    @pytest.mark.parametrize("with_shm", [True, False])
    def test_the_state_of_a_killed_program_is_read_without_a_trace(self, path: Path, *, with_shm: bool) -> None:
        child = os.fork()
        if child == 0:
            filled(path)
            os.kill(os.getpid(), signal.SIGKILL)
        assert -signal.SIGKILL == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert path.with_name("state.db-wal").stat().st_size > 0
        if not with_shm:
            path.with_name("state.db-shm").unlink()
        before = contents(path.parent)
        with closing(SqliteStore.open(path, create=False, read_only=True)) as reader:
            assert [DECLARED] == [each.declared for each in reader.read()]
        assert before == contents(path.parent)

    def test_every_write_is_refused(self, path: Path) -> None:
        filled(path).close()
        with closing(SqliteStore.open(path, create=False, read_only=True)) as reader:
            outcome = reader.set_intent("shop", Intent.STOPPED)
            assert Refused(f"the state at {path} is open for reading only; open it for writing", Fault.STORE) == outcome
            with pytest.raises(StoreError, match="for reading only"):
                reader.import_state('{"format":"gordon-state","version":1}')
            assert [Intent.RUNNING] == [each.intent for each in reader.read()]

    def test_a_state_that_goes_away_is_said(self, path: Path) -> None:
        filled(path).close()
        with closing(SqliteStore.open(path, create=False, read_only=True)) as reader:
            path.unlink()
            with pytest.raises(StoreError, match="there is no state at"):
                reader.read()

    def test_beside_writers_that_come_and_go_it_always_sees_a_whole_state(self, path: Path) -> None:
        with closing(SqliteStore.open(path, create=True)) as store:
            store.activate("shop", "web", Declared("c", 1), 0, None)
        script = COUNT_UP.replace("while", "import itertools\nwhile").replace(
            "    done +=", "    store.close(); store = SqliteStore.open(Path(sys.argv[1]), create=False)\n    done +="
        )
        with subprocess.Popen([sys.executable, "-c", script, str(path), "150"]) as writer:
            seen = [0]
            while writer.poll() is None:
                with closing(SqliteStore.open(path, create=False, read_only=True)) as reader:
                    seen.extend(each.declared.revision for each in reader.read() if each.declared is not None)
        assert 0 == writer.returncode
        assert sorted(seen) == seen
        assert len(set(seen)) > 1
