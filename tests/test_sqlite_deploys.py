"""What only a state on disk has to stand of deploys: older versions, half a transaction, secrets, other processes."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gordon_core.effects import Done, Fault, Generation, Refused
from gordon_core.memory import Memory, Verified
from gordon_core.snapshot import Declared, Intent
from gordon_shell.codec import to_json
from gordon_shell.errors import StoreError
from gordon_shell.ports import Journalled, Marker, Stored
from gordon_shell.sqlite_rows import declared_to_json
from gordon_shell.sqlite_schema import APPLICATION_ID, MIGRATIONS, connect, identify, upgrade
from gordon_shell.sqlite_store import SqliteStore
from tests.deploys import BLUEPRINT, CANDIDATE, SECRET, kept, revision
from tests.states import BINDS, DECLARED, VERIFIED, contents

MARKER = Marker("older", 30.0, BINDS, VERIFIED)
HISTORY = Memory(failures=2, verified=VERIFIED, boot_id="boot")
WHOLE = Stored("shop", "web", Intent.STOPPED, DECLARED, "eats data", HISTORY, unproven=True, markers=(MARKER,), orphans=("gone",))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


def version_1(path: Path) -> None:
    """Make a state as the first version of this program left it, with some of all there was."""
    web = ("shop", "web")
    rows = (
        ("app", ("shop", "stopped")),
        ("active", (*web, "old", 1, declared_to_json(DECLARED))),
        ("inhibition", (*web, "old", "eats data")),
        ("inhibition", ("shop", "never", "seen", "nor this")),
        ("marker", (*web, "older", to_json(MARKER))),
        ("memory", (*web, "old", to_json(HISTORY))),
        ("memory", (*web, "gone", to_json(Memory(failures=1)))),
        ("unproven", web),
    )
    path.touch()
    with closing(connect(path, "mode=rw")) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        upgrade(connection, path, MIGRATIONS[:1])
        for table, row in rows:
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608 - tables by name
        assert (1,) == connection.execute("PRAGMA user_version").fetchone()


class TestAStateOfVersion1:
    def test_it_is_brought_up_to_date_with_nothing_lost(self, path: Path) -> None:
        version_1(path)
        with closing(SqliteStore.open(path, create=False)) as store:
            assert (WHOLE,) == store.read()
            services = json.loads(store.export_state())["services"]
            assert [("never", "nor this"), ("web", "eats data")] == [
                (service["service"], each["reason"]) for service in services for each in service["inhibitions"]
            ]
            assert Done() == store.journal("shop", "web", CANDIDATE)
            assert Done() == store.activate("shop", "web", Declared("c2", 2), 1, None, (revision(2),))
            assert kept(2) == store.deployed("shop", "web")
        with closing(connect(path, "mode=rw")) as connection:
            assert len(MIGRATIONS) == identify(connection, path)

    def test_it_is_exported_as_it_was(self, path: Path, tmp_path: Path) -> None:
        version_1(path)
        with closing(SqliteStore.open(path, create=False)) as store:
            text = store.export_state()
        with closing(SqliteStore.open(tmp_path / "other.db", create=True)) as other:
            other.import_state(text)
            assert (WHOLE,) == other.read()

    def test_a_reader_leaves_it_as_it_is_and_says_who_does_not(self, path: Path) -> None:
        version_1(path)
        before = contents(path.parent)
        with pytest.raises(StoreError, match="is of the older version 1; `gordon-shell once` brings it up to date"):
            SqliteStore.open(path, create=False, read_only=True)
        assert before == contents(path.parent)

    def test_a_program_of_version_1_leaves_a_newer_one_alone(self, path: Path) -> None:
        with closing(SqliteStore.open(path, create=True)) as store:
            assert Done() == store.set_intent("shop", Intent.RUNNING)
        before = contents(path.parent)
        with closing(connect(path, "mode=rw")) as connection, pytest.raises(StoreError, match="and this program knows 1; use a"):
            upgrade(connection, path, MIGRATIONS[:1])
        assert before["state.db"][0] == path.read_bytes()

    def test_a_migration_that_fails_in_its_midst_changes_nothing(self, path: Path) -> None:
        version_1(path)
        with closing(connect(path, "mode=rw")) as connection:
            connection.execute("CREATE TABLE deployed (theirs)")
            before = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
        with pytest.raises(StoreError, match="cannot be opened: table deployed already exists"):
            SqliteStore.open(path, create=False)
        with closing(connect(path, "mode=rw")) as connection:
            assert (1,) == connection.execute("PRAGMA user_version").fetchone()
            assert before == connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
            connection.execute("DROP TABLE deployed")
        with closing(SqliteStore.open(path, create=False)) as store:
            assert (WHOLE,) == store.read()


class TestOneTransaction:
    @pytest.mark.parametrize(
        "statement",
        [
            "INSERT ON active",
            "INSERT ON marker",
            "DELETE ON marker",
            "DELETE ON candidate",
            "INSERT ON deployed",
            "DELETE ON deployed",
            "INSERT ON memory",
        ],
    )
    def test_an_activation_is_whole_or_not_at_all(self, path: Path, statement: str) -> None:
        with closing(SqliteStore.open(path, create=True)) as store:
            for number in range(1, 11):
                store.activate("shop", "web", Declared(f"c{number}", number), number - 1, None, (revision(number),))
            store.mark("shop", "web", Marker("c11", 1.0, BINDS))
            store.journal("shop", "web", Journalled("c11", "gordon-shop-web-new"))
            store.save_memory("shop", "web", "c11", Memory(failures=1))
            before = store.read(), store.deployed("shop", "web")
            with closing(connect(path, "mode=rw")) as other:
                other.execute(f"CREATE TRIGGER fails BEFORE {statement} BEGIN SELECT RAISE(ABORT, 'no luck'); END")
            arguments = ("shop", "web", Declared("c11", 11), 10, Marker("c10"), (revision(11), revision(10)))
            verified = Verified("s", (), 11)
            outcome = store.activate(*arguments, verified=verified)
            assert isinstance(outcome, Refused)
            assert (Fault.STORE, True) == (outcome.fault, "no luck" in outcome.reason)
            assert before == (store.read(), store.deployed("shop", "web"))
            with closing(connect(path, "mode=rw")) as other:
                other.execute("DROP TRIGGER fails")
            assert Done() == store.activate(*arguments, verified=verified)
            memory = Memory(failures=1, verified=verified)
            expected = Stored("shop", "web", Intent.RUNNING, Declared("c11", 11), memory=memory, markers=(Marker("c10"),))
            assert (expected,) == store.read()
            assert kept(*range(11, 1, -1)) == store.deployed("shop", "web")

    def test_a_service_goes_with_what_was_deployed_or_not_at_all(self, path: Path) -> None:
        with closing(SqliteStore.open(path, create=True)) as store:
            store.activate("shop", "web", Declared("c1", 1), 0, None, (revision(1),))
            with closing(connect(path, "mode=rw")) as other:
                other.execute("CREATE TRIGGER fails BEFORE DELETE ON deployed BEGIN SELECT RAISE(ABORT, 'no luck'); END")
            assert isinstance(store.deactivate(Generation("shop", "web", "c1", 1)), Refused)
            assert [Declared("c1", 1)] == [each.declared for each in store.read()]

    def test_a_revision_that_cannot_be_kept_refuses_all_of_it(self, path: Path) -> None:
        with closing(SqliteStore.open(path, create=True)) as store:
            for number in (2**70, 0):
                outcome = store.activate("shop", "web", Declared("c1", 1), 0, None, (revision(number),))
                assert isinstance(outcome, Refused)
                assert (Fault.STORE, False) == (outcome.fault, SECRET in outcome.reason)
            assert () == store.read()


class TestWhatWasVerified:
    def test_a_memory_that_means_nothing_refuses_all_of_it(self, path: Path) -> None:
        with closing(SqliteStore.open(path, create=True)) as store:
            store.activate("shop", "web", DECLARED, 0, None)
            store.save_memory("shop", "db", "c2", Memory(failures=1))
            with closing(sqlite3.connect(path)) as other, other:
                other.execute("UPDATE memory SET memory = '[]', service = 'web'")
            outcome = store.activate("shop", "web", Declared("c2", 2), 1, None, verified=Verified("s", (), 2))
            assert isinstance(outcome, Refused)
            assert (Fault.STORE, True) == (outcome.fault, "cannot be written" in outcome.reason)
            assert [DECLARED] == [each.declared for each in store.read()]


class TestSecrets:
    def test_no_value_of_a_variable_is_ever_on_disk(self, path: Path, tmp_path: Path) -> None:
        document = tmp_path / "document.json"
        with closing(SqliteStore.open(path, create=True)) as store:
            for number in range(1, 13):
                store.activate("shop", "web", Declared(f"c{number}", number), number - 1, None, (revision(number),))
            document.write_text(store.export_state())
            found = {
                each.name: (b"PASSWORD" in each.read_bytes(), SECRET.encode() in each.read_bytes()) for each in files(tmp_path)
            }
            assert {"document.json", "state.db", "state.db-shm", "state.db-wal"} == found.keys()
            assert ((True, False), (True, False)) == (found["document.json"], found["state.db-wal"])
        assert b"PASSWORD" in path.read_bytes()
        assert [] == [each.name for each in files(tmp_path) if SECRET.encode() in each.read_bytes()]

    def test_one_in_a_document_is_not_taken_over(self, path: Path, tmp_path: Path) -> None:
        with closing(SqliteStore.open(tmp_path / "one.db", create=True)) as one:
            one.activate("shop", "web", Declared("c1", 1), 0, None, (revision(1),))
            told = one.export_state().replace('"value": ""', f'"value": "{SECRET}"')
        assert SECRET in told
        with closing(SqliteStore.open(path, create=True)) as store:
            store.import_state(told)
            assert kept(1) == store.deployed("shop", "web")
            assert [] == [each.name for each in files(tmp_path) if SECRET.encode() in each.read_bytes()]

    def test_what_is_printed_of_a_revision_has_none(self) -> None:
        assert SECRET not in f"{revision(1)!r} {BLUEPRINT!r}"


def files(directory: Path) -> list[Path]:
    return [each for each in directory.iterdir() if each.is_file()]


def test_another_process_sees_the_journal_and_what_was_deployed(path: Path) -> None:
    with closing(SqliteStore.open(path, create=True)) as store:
        store.activate("shop", "web", DECLARED, 0, None)
        store.read()
        child = os.fork()
        if child == 0:
            with closing(SqliteStore.open(path, create=False)) as other:
                other.journal("shop", "web", CANDIDATE)
                other.activate("shop", "web", Declared("c2", 2), 1, None, (revision(2),))
            os._exit(0)
        assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert [(CANDIDATE,)] == [each.candidates for each in store.read()]
        assert kept(2) == store.deployed("shop", "web")
        with closing(SqliteStore.open(path, create=False, read_only=True)) as reader:
            assert (store.read(), kept(2)) == (reader.read(), reader.deployed("shop", "web"))
            refused = Refused(f"the state at {path} is open for reading only; open it for writing", Fault.STORE)
            assert (refused,) * 2 == (reader.journal("shop", "web", CANDIDATE), reader.drop_candidate("shop", "web", "new"))


@pytest.mark.parametrize("text", ["{", "[]", '{"name":"x"}', '{"container_id":"new","name":"x","luck":1}'])
def test_a_journal_entry_that_means_nothing_is_said(path: Path, text: str) -> None:
    with closing(SqliteStore.open(path, create=True)) as store:
        store.journal("shop", "web", CANDIDATE)
        with closing(sqlite3.connect(path)) as other, other:
            other.execute("UPDATE candidate SET candidate = ?", (text,))
        with pytest.raises(
            StoreError, match=r"a row that means nothing, candidate of shop/web container new .*; move the state away"
        ):
            store.read()


def test_a_revision_that_means_nothing_is_said_and_costs_no_pass(path: Path) -> None:
    with closing(SqliteStore.open(path, create=True)) as store:
        store.activate("shop", "web", Declared("c1", 1), 0, None, (revision(1),))
        with closing(sqlite3.connect(path)) as other, other:
            other.execute("UPDATE deployed SET deployed = '{}'")
        with pytest.raises(StoreError, match=r"cannot be read: \$\.blueprint: missing; .*; move it away"):
            store.deployed("shop", "web")
        assert [Declared("c1", 1)] == [each.declared for each in store.read()]
