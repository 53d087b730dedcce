"""How a state is made, recognised and brought up to date."""

import json
import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from gordon_core.effects import Done, Fault, Generation, Outcome, Refused
from gordon_core.snapshot import Declared
from gordon_shell.errors import DocumentError, StoreError
from gordon_shell.sqlite_schema import APPLICATION_ID, MIGRATIONS, connect, make, opened, upgrade
from gordon_shell.sqlite_store import SELECT_NAMER, SqliteStore
from tests.states import COUNT_UP, contents, filled

IMPOSSIBLE = {
    "format": "gordon-state",
    "version": 1,
    "services": [{"app": "shop", "service": "\ud800", "unproven": True}],
}


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
            with pytest.raises(StoreError, match=rf"is of version 99, and this program knows {len(MIGRATIONS)}; use a newer"):
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


class TestMaking:
    """With `create` a state is made by its first write, and not before: a command that fails before that leaves nothing."""

    def test_opened_and_read_it_is_empty_and_not_there(self, path: Path) -> None:
        with closing(SqliteStore.open(path, create=True)) as store:
            assert ((), None) == (store.read(), store.read_service("shop", "web"))
            assert [] == json.loads(store.export_state())["services"]
        assert not path.parent.exists()

    def test_a_first_write_that_is_refused_makes_none(self, path: Path) -> None:
        with closing(SqliteStore.open(path, create=True)) as store:
            assert isinstance(store.activate("shop", "web", Declared("c", 2), 1, None), Refused)
            assert isinstance(store.activate("shop", "web", Declared("c", 2**70), 0, None), Refused)
            assert isinstance(store.deactivate(Generation("shop", "web", "c", 1)), Refused)
            with pytest.raises(DocumentError, match="cannot be kept"):
                store.import_state(json.dumps(IMPOSSIBLE))
            assert [] == list(path.parent.iterdir())
            assert Done() == store.activate("shop", "web", Declared("c", 1), 0, None)
            assert ["web"] == [each.service for each in store.read()]

    def test_the_first_write_makes_it_with_what_it_writes(self, path: Path) -> None:
        with closing(SqliteStore.open(path, create=True)) as store:
            assert Done() == store.activate("shop", "web", Declared("c", 1), 0, None)
            with closing(SqliteStore.open(path, create=False, read_only=True)) as reader:
                assert ["web"] == [each.service for each in reader.read()]
            assert Done() == store.activate("shop", "db", Declared("d", 1), 0, None)
            assert ["db", "web"] == [each.service for each in store.read()]

    def test_where_another_made_it_meanwhile_that_one_is_read_and_written(self, path: Path) -> None:
        with closing(SqliteStore.open(path, create=True)) as one, closing(SqliteStore.open(path, create=True)) as two:
            assert () == one.read()
            assert Done() == two.activate("shop", "web", Declared("c", 1), 0, None)
            assert isinstance(one.activate("shop", "web", Declared("d", 1), 0, None), Refused)
            assert two.read() == one.read()
            assert one.read() is one.read()

    def test_one_that_another_makes_in_the_very_moment_of_the_first_write_stays(self, path: Path) -> None:
        path.parent.mkdir()

        def too_late(connection: sqlite3.Connection) -> Outcome:
            filled(path).close()
            connection.execute("INSERT INTO unproven VALUES ('blog', 'web')")
            return Done()

        assert make(path, too_late) is None
        with closing(SqliteStore.open(path, create=False)) as store:
            assert ["shop"] == [each.app for each in store.read()]
        assert [] == [each.name for each in path.parent.iterdir() if each.name.startswith(".gordon-")]

    def test_what_came_there_and_is_no_state_refuses_the_write(self, path: Path) -> None:
        with closing(SqliteStore.open(path, create=True)) as store:
            path.parent.mkdir()
            path.write_bytes(b"#!/bin/sh\n" * 500)
            outcome = store.set_unproven("shop", "web", unproven=True)
        assert isinstance(outcome, Refused)
        assert Fault.STORE is outcome.fault
        assert "move it away" in outcome.reason


class TestMigrations:
    def test_an_older_version_is_brought_up_to_date_with_its_contents(self, path: Path) -> None:
        filled(path).close()
        newer = (*MIGRATIONS, "ALTER TABLE memory ADD COLUMN note TEXT DEFAULT 'x;y'; CREATE TABLE more (a);")
        with closing(connect(path, "mode=rw")) as connection:
            upgrade(connection, path, newer)
            assert (len(newer),) == connection.execute("PRAGMA user_version").fetchone()
            assert [("old", "x;y")] == connection.execute("SELECT container_id, note FROM memory").fetchall()

    def test_each_version_is_brought_up_to_date_and_holds_the_same(self, path: Path) -> None:
        """Also one in which two services name one container, which no write makes any more."""
        for version in range(1, len(MIGRATIONS)):
            older = path.with_name(f"{version}.db")
            older.parent.mkdir(exist_ok=True)
            with closing(sqlite3.connect(older, isolation_level=None)) as connection:
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                upgrade(connection, older, MIGRATIONS[:version])
                for app in ("blog", "shop"):
                    connection.execute("INSERT INTO active VALUES (?, 'web', 'old', 1, '{}')", (app,))
            with closing(SqliteStore.open(older, create=False)) as store:
                assert [Declared("old", 1)] * 2 == [each.declared for each in store.read()]
                assert Done() == store.deactivate(Generation("blog", "web", "old", 1))
            with closing(SqliteStore.open(older, create=False, read_only=True)) as store:
                assert ["shop"] == [each.app for each in store.read()]

    def test_who_names_a_container_is_looked_up_and_not_searched_for(self, path: Path) -> None:
        """On a host of 100,000 services each activation asks it."""
        filled(path).close()
        with closing(opened(path)) as connection:
            told = connection.execute(f"EXPLAIN QUERY PLAN {SELECT_NAMER}", ("old", "shop", "web"))
            steps = [row[3] for row in told if "active" in row[3] or "marker" in row[3]]
        assert [True] * 2 == [each.startswith("SEARCH ") for each in steps], steps

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
        with pytest.raises(StoreError, match="older version 0; `gordon-shell once` brings it up to date"):
            SqliteStore.open(path, create=False, read_only=True)
        assert before == contents(path.parent)
