"""How a state is made, recognised and brought up to date."""

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from gordon_shell.errors import StoreError
from gordon_shell.sqlite_schema import MIGRATIONS, connect, opened, upgrade
from gordon_shell.sqlite_store import SqliteStore
from tests.states import COUNT_UP, contents, filled


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gordon" / "state.db"


class TestOpening:
    def test_without_create_a_missing_state_is_said_and_not_made(self, path: Path) -> None:
        for read_only in (False, True):
            with pytest.raises(StoreError) as caught:
                SqliteStore.open(path, create=False, read_only=read_only)
            assert f"there is no state at {path}, so nothing is touched; `gordon-shell adopt` makes one" == str(caught.value)
        assert 69 == caught.value.exit_code
        assert not path.parent.exists()

    def test_what_is_made_is_readable_by_its_owner_only(self, path: Path) -> None:
        before = os.umask(0)
        try:
            store = filled(path)
        finally:
            os.umask(before)
        assert 0o700 == stat.S_IMODE(path.parent.stat().st_mode)
        modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
        assert {"state.db": 0o600, "state.db-shm": 0o600, "state.db-wal": 0o600} == modes
        store.close()

    def test_it_is_wal_and_full_and_says_whose_it_is(self, path: Path) -> None:
        filled(path).close()
        with closing(opened(path)) as connection:
            asked = ("journal_mode", "synchronous", "application_id", "user_version")
            found = [connection.execute(f"PRAGMA {each}").fetchone()[0] for each in asked]
        assert ["wal", 2, 0x676F7264, len(MIGRATIONS)] == found

    def test_closed_and_opened_again_it_holds_the_same(self, path: Path) -> None:
        store = filled(path)
        expected = store.read()
        store.close()
        with closing(SqliteStore.open(path, create=False)) as again:
            assert expected == again.read()

    @pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n" * 500], ids=["empty", "a script"])
    def test_what_is_not_a_state_is_left_alone(self, path: Path, content: bytes) -> None:
        path.parent.mkdir()
        path.write_bytes(content)
        for read_only in (False, True):
            with pytest.raises(StoreError, match=r"move it away"):
                SqliteStore.open(path, create=True, read_only=read_only)
        assert content == path.read_bytes()

    def test_a_database_of_another_program_is_left_alone(self, path: Path) -> None:
        path.parent.mkdir()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE theirs (x)")
        before = contents(path.parent)
        for read_only in (False, True):
            with pytest.raises(StoreError, match="is not a state of gordon-shell; name another file with --state"):
                SqliteStore.open(path, create=True, read_only=read_only)
        assert before == contents(path.parent)

    def test_a_newer_version_is_left_alone(self, path: Path) -> None:
        filled(path).close()
        with closing(connect(path, "mode=rw")) as connection:
            connection.execute("PRAGMA user_version = 99")
        for read_only in (False, True):
            with pytest.raises(StoreError, match=f"is of version 99, and this program knows {len(MIGRATIONS)}; use a newer"):
                SqliteStore.open(path, create=True, read_only=read_only)
        with closing(connect(path, "mode=rw")) as connection:
            assert (99,) == connection.execute("PRAGMA user_version").fetchone()
            assert (1,) == connection.execute("SELECT count(*) FROM memory").fetchone()

    def test_a_directory_in_its_place_is_said(self, path: Path) -> None:
        path.mkdir(parents=True)
        for read_only in (False, True):
            with pytest.raises(StoreError, match=f"the state at {path} cannot be"):
                SqliteStore.open(path, create=True, read_only=read_only)

    def test_processes_that_make_it_at_once_share_one(self, path: Path) -> None:
        command = [sys.executable, "-c", COUNT_UP, str(path), "1"]
        makers = [subprocess.Popen(command) for _ in range(4)]
        assert [0] * 4 == [each.wait() for each in makers]
        with closing(SqliteStore.open(path, create=False)) as store:
            assert [4] == [each.declared.revision for each in store.read() if each.declared is not None]
        assert [] == [each.name for each in path.parent.iterdir() if each.name.startswith(".gordon-")]


class TestMigrations:
    def test_an_older_version_is_brought_up_to_date_with_its_contents(self, path: Path) -> None:
        filled(path).close()
        newer = (*MIGRATIONS, "ALTER TABLE memory ADD COLUMN note TEXT DEFAULT 'x;y'; CREATE TABLE more (a);")
        with closing(connect(path, "mode=rw")) as connection:
            upgrade(connection, path, newer)
            assert (len(newer),) == connection.execute("PRAGMA user_version").fetchone()
            assert [("old", "x;y")] == connection.execute("SELECT container_id, note FROM memory").fetchall()

    def test_one_that_fails_changes_nothing(self, path: Path) -> None:
        filled(path).close()
        with closing(connect(path, "mode=rw")) as connection:
            with pytest.raises(sqlite3.OperationalError, match="no such table"):
                upgrade(connection, path, (*MIGRATIONS, "CREATE TABLE more (a); DROP TABLE missing;"))
            assert (len(MIGRATIONS),) == connection.execute("PRAGMA user_version").fetchone()
            assert [] == connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'more'").fetchall()

    def test_a_reader_does_not_migrate(self, path: Path) -> None:
        filled(path).close()
        with closing(connect(path, "mode=rw")) as connection:
            connection.execute("PRAGMA user_version = 0")
        before = contents(path.parent)
        with pytest.raises(StoreError, match="older version 0"):
            SqliteStore.open(path, create=False, read_only=True)
        assert before == contents(path.parent)
