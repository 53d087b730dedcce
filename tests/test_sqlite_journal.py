"""The journal's file: whose it is, what may happen to it, other processes and SIGKILL, and that it does not grow."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve

from gordon_core.snapshot import Snapshot
from gordon_shell.errors import JournalError, UnprunedError
from gordon_shell.host_settings import DAY_S, JournalSettings
from gordon_shell.journal import Record
from gordon_shell.journal_pruning import MOST_STEPS, STEP
from gordon_shell.journal_schema import APPLICATION_ID, MIGRATIONS, opened
from gordon_shell.sqlite_journal import SqliteJournal
from gordon_shell.sqlite_schema import connect
from tests.core_examples import CLOCK, having, made
from tests.journals import BLOG, CRASHED, DEPLOYED, FULL, SHOP, WALL_S, at, look, numbered, step
from tests.states import contents, tmpfs

WRITER = """
import sys
from pathlib import Path
from gordon_shell.sqlite_journal import SqliteJournal
from tests.journals import CRASHED, SHOP, at, look, step
journal, number = SqliteJournal(Path(sys.argv[1])), 0
while number != int(sys.argv[2]):
    number += 1
    journal.write([look(SHOP, clock=at(number)), step(CRASHED, clock=at(number)), look(CRASHED, clock=at(number))])
    print(number, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gordon" / "history.db"


@pytest.fixture
def journal(path: Path) -> Iterator[SqliteJournal]:
    made = SqliteJournal(path)
    yield made
    made.close()


def filled(path: Path) -> list[Record]:
    """Make a journal with a pass in it, and return that."""
    records = [look(SHOP, BLOG, is_whole=True), step(CRASHED)]
    with closing(SqliteJournal(path)) as journal:
        journal.write(records, [FULL])
    return numbered(*records)


def read(path: Path) -> list[Record]:
    with closing(SqliteJournal(path, read_only=True)) as journal:
        return list(journal.records())


class TestTheFile:
    def test_it_is_made_when_it_is_needed_and_readable_by_its_owner_only(self, path: Path) -> None:
        before = os.umask(0)
        try:
            with closing(SqliteJournal(path)) as journal:
                assert not path.parent.exists()
                journal.write([look(SHOP)])
                modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
        finally:
            os.umask(before)
        assert 0o700 == stat.S_IMODE(path.parent.stat().st_mode)
        assert {"history.db": 0o600, "history.db-shm": 0o600, "history.db-wal": 0o600} == modes

    def test_it_is_wal_and_normal_and_says_whose_it_is(self, path: Path) -> None:
        filled(path)
        with closing(opened(path)) as connection:
            asked = ("journal_mode", "synchronous", "auto_vacuum", "application_id", "user_version")
            found = [connection.execute(f"PRAGMA {each}").fetchone()[0] for each in asked]
        assert ["wal", 1, 2, APPLICATION_ID, len(MIGRATIONS)] == found

    def test_subjects_are_there_once(self, journal: SqliteJournal, path: Path) -> None:
        journal.write([look(SHOP, BLOG, clock=at(number)) for number in range(20)])
        journal.write([look(evolve(SHOP), BLOG, clock=at(30))])
        with closing(connect(path, "mode=ro")) as connection:
            assert (2,) == connection.execute("SELECT count(*) FROM subject").fetchone()

    def test_a_file_that_was_moved_away_is_made_anew(self, journal: SqliteJournal, path: Path) -> None:
        journal.write([look(SHOP)])
        for each in tuple(path.parent.iterdir()):
            each.rename(path.parent / f"old-{each.name}")
        journal.write([look(CRASHED)], goes_on=True)
        journal.write([look(SHOP)])
        assert [(CRASHED, 1), (SHOP, 2)] == [(each.snapshot.subjects[0], each.pass_number) for each in read(path)]
        assert [SHOP] == [each.snapshot.subjects[0] for each in read(path.parent / "old-history.db")]

    def test_an_older_version_is_brought_up_to_date_with_all_that_it_holds(self, path: Path) -> None:
        expected = filled(path)
        newer = (*MIGRATIONS, "CREATE TABLE later (x);")
        with closing(opened(path, newer)) as connection:
            assert (len(newer),) == connection.execute("PRAGMA user_version").fetchone()
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        assert expected == read(path)


class TestReadingOnly:
    def test_a_closed_journal_is_read_without_a_trace(self, path: Path) -> None:
        expected = filled(path)
        before = contents(path.parent)
        assert expected == read(path)
        assert before == contents(path.parent)

    def test_an_open_journal_is_read_without_a_trace_and_as_it_is_now(self, journal: SqliteJournal, path: Path) -> None:
        reader = SqliteJournal(path, read_only=True)
        for number in range(3):
            journal.write([look(SHOP, clock=at(number))])
            before = contents(path.parent)
            assert number + 1 == len(list(reader.records()))
            assert before == contents(path.parent)

    @pytest.mark.parametrize("with_shm", [True, False])
    def test_the_journal_of_a_killed_program_is_read_without_a_trace(self, path: Path, *, with_shm: bool) -> None:
        child = os.fork()
        if child == 0:
            SqliteJournal(path).write([look(SHOP)])
            os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
        if not with_shm:
            (path.parent / "history.db-shm").unlink()
        before = contents(path.parent)
        assert numbered(look(SHOP)) == read(path)
        assert before == contents(path.parent)

    def test_writes_are_refused(self, path: Path) -> None:
        filled(path)
        reader = SqliteJournal(path, read_only=True)
        calls: tuple[Callable[[], None], ...] = (lambda: reader.write([look(SHOP)]), lambda: reader.keep("a", "b"))
        for call in calls:
            with pytest.raises(JournalError, match=f"the journal at {path} is open for reading only; open it for writing"):
                call()

    def test_where_there_is_none_that_is_said(self, path: Path) -> None:
        reader = SqliteJournal(path, read_only=True)
        for call in (lambda: list(reader.records()), reader.dossiers, lambda: reader.kept("a"), reader.extent):
            with pytest.raises(JournalError, match=f"there is no journal at {path}; `gordon-shell run` and `once` write one"):
                call()
        assert not path.parent.exists()

    def test_beside_a_writer_it_always_sees_whole_passes(self, path: Path) -> None:
        filled(path)
        with subprocess.Popen([sys.executable, "-c", WRITER, str(path), "40"], stdout=subprocess.PIPE) as writer:
            reader = SqliteJournal(path, read_only=True)
            looks = 0
            while writer.poll() is None:
                found = [each.pass_number for each in reader.records()][2:]
                assert found == [number for number in range(2, 2 + len(found) // 3) for _ in range(3)]
                looks += 1
        assert (0, True) == (writer.returncode, looks > 0)
        assert 122 == len(read(path))

    def test_beside_a_writer_that_lets_go_of_the_oldest_nothing_looks_damaged(self, path: Path) -> None:
        over = threading.Event()

        def fill() -> None:
            with closing(SqliteJournal(path, JournalSettings(megabytes=1))) as journal:
                number = 0
                while not over.is_set():
                    locked = os.urandom(2000).hex()
                    journal.write([look(made(SHOP, having(locked=locked)), clock=at(number)) for _ in range(60)])
                    number += 1

        writes = threading.Thread(target=fill)
        writes.start()
        try:
            until_s, found = time.monotonic() + 1.5, 0
            while time.monotonic() < until_s or not found:
                found += len(read(path)) if path.exists() else 0
        finally:
            over.set()
            writes.join(60)
        assert found > 0


class TestDamage:
    def test_a_damaged_journal_is_said_and_left_alone(self, path: Path) -> None:
        with closing(SqliteJournal(path)) as journal:
            journal.write([look(made(SHOP, having(service=f"s{number}"))) for number in range(100)])
        whole = path.read_bytes()
        damaged = whole[:4096] + b"\xff" * (len(whole) - 4096)
        path.write_bytes(damaged)
        sentence = r"malformed; move it away with what lies beside it \(-wal, -shm\), and a new one is begun"
        for read_only in (False, True):
            with closing(SqliteJournal(path, read_only=read_only)) as found, pytest.raises(JournalError, match=sentence):
                list(found.records())
        with closing(SqliteJournal(path)) as found, pytest.raises(JournalError, match=sentence):
            found.write([look(SHOP)])
        assert damaged == path.read_bytes()

    @pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n" * 500], ids=["empty", "a script"])
    def test_what_is_not_a_journal_is_left_alone(self, path: Path, content: bytes) -> None:
        path.parent.mkdir()
        path.write_bytes(content)
        for read_only in (False, True):
            with pytest.raises(JournalError, match=r"move it away"):
                list(SqliteJournal(path, read_only=read_only).records())
        assert content == path.read_bytes()

    def test_a_database_of_another_program_is_left_alone(self, path: Path) -> None:
        path.parent.mkdir()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE theirs (x)")
        before = contents(path.parent)
        for read_only in (False, True):
            with pytest.raises(JournalError, match="is not a journal of gordon-shell; name another file with --history"):
                SqliteJournal(path, read_only=read_only).kept("a")
        assert before == contents(path.parent)

    def test_a_newer_version_is_left_alone(self, path: Path) -> None:
        filled(path)
        with closing(connect(path, "mode=rw")) as connection:
            connection.execute("PRAGMA user_version = 99")
        for read_only in (False, True):
            with pytest.raises(JournalError, match=rf"is of version 99, and this program knows {len(MIGRATIONS)}; use a newer"):
                SqliteJournal(path, read_only=read_only).kept("a")
        with closing(connect(path, "mode=rw")) as connection:
            assert (99,) == connection.execute("PRAGMA user_version").fetchone()
            assert (2,) == connection.execute("SELECT count(*) FROM record").fetchone()

    def test_an_older_version_is_not_read_but_by_a_writer(self, path: Path) -> None:
        expected = filled(path)
        with closing(connect(path, "mode=rw")) as connection:
            connection.execute("PRAGMA user_version = 0")
        with pytest.raises(JournalError, match="is of the older version 0; `gordon-shell once` brings it up to date"):
            read(path)
        with closing(connect(path, "mode=rw")) as connection:
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        assert expected == read(path)

    @pytest.mark.parametrize("column", ["x'00'", "x'789c6360000000020001'", "x'789cab56ca2a2ecb07000645020c'"])
    def test_a_row_that_means_nothing_is_said(self, path: Path, column: str) -> None:
        filled(path)
        with closing(connect(path, "mode=rw")) as connection:
            connection.execute(f"UPDATE subject SET content = {column}")  # noqa: S608 - our own words
        with pytest.raises(JournalError, match=r"cannot be read: a (text|row) in it .*; move it away"):
            read(path)

    def test_a_subject_that_is_missing_is_said(self, path: Path) -> None:
        filled(path)
        with closing(connect(path, "mode=rw")) as connection:
            connection.execute("DELETE FROM subject")
        with pytest.raises(JournalError, match="subject 1 is missing; move it away"):
            read(path)

    def test_what_no_document_can_say_is_refused_and_the_rest_of_the_journal_stays(self, path: Path) -> None:
        expected = filled(path)
        strange = evolve(look(SHOP), snapshot=Snapshot(CLOCK, (made(SHOP, having(locked="\ud800")),)))
        with closing(SqliteJournal(path)) as journal, pytest.raises(JournalError, match="cannot be put in the journal"):
            journal.write([look(SHOP), strange])
        assert expected == read(path)

    def test_a_directory_in_its_place_is_said(self, path: Path) -> None:
        path.mkdir(parents=True)
        for read_only in (False, True):
            with pytest.raises(JournalError, match=f"the journal at {path} cannot be"):
                SqliteJournal(path, read_only=read_only).kept("a")


class TestPlaces:
    def test_a_full_disk_is_said_and_what_was_written_stays(self, tmp_path: Path) -> None:
        with tmpfs(tmp_path / "small") as place, closing(SqliteJournal(place / "history.db")) as journal:
            written, refusal = 0, ""
            while not refusal:
                refusal = _refusal(journal, look(made(SHOP, having(locked=os.urandom(4000).hex())), clock=at(written)))
                written += not refusal
            assert "database or disk is full; free some space on its disk, or give it less" in refusal
            assert written > 10
            assert written == len(list(journal.records()))
            subprocess.run(["mount", "-o", "remount,size=8m", place], check=True)
            journal.write([look(SHOP)])
            assert written + 1 == journal.extent().records

    def test_a_place_that_cannot_be_written_is_said(self, tmp_path: Path) -> None:
        with tmpfs(tmp_path / "small") as place:
            expected = filled(place / "history.db")
            subprocess.run(["mount", "-o", "remount,ro", place], check=True)
            remedy = "let this user write it and its directory, or name another journal with --history"
            for name in ("history.db", "other.db"):
                with pytest.raises(JournalError, match=f"cannot be opened: .*; {remedy}"):
                    SqliteJournal(place / name).write([look(SHOP)])
            assert expected == read(place / "history.db")

    def test_a_lock_that_another_program_keeps_is_said(self, journal: SqliteJournal, path: Path) -> None:
        journal.write([look(SHOP)])
        with closing(connect(path, "mode=rw")) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(JournalError, match="database is locked; another program has kept it locked"):
                journal.write([look(CRASHED)])
            other.execute("ROLLBACK")
        journal.write([look(CRASHED)])
        assert 2 == len(read(path))

    def test_a_close_does_not_wait_for_a_call_that_hangs_which_lets_go_of_the_file_when_it_is_back(self, path: Path) -> None:
        journal = SqliteJournal(path)
        journal.write([look(SHOP)])
        with closing(connect(path, "mode=rw")) as other:
            other.execute("BEGIN IMMEDIATE")
            begun = threading.Event()
            hangs = threading.Thread(target=lambda: (begun.set(), journal.write([look(BLOG)])))
            hangs.start()
            assert begun.wait(60)
            time.sleep(0.2)
            journal.close()
            assert hangs.is_alive()
            other.execute("ROLLBACK")
        hangs.join(60)
        assert ["history.db"] == [each.name for each in path.parent.iterdir()]
        assert 2 == len(read(path))

    def test_what_was_written_and_only_could_not_be_pruned_says_so(self, path: Path) -> None:
        with closing(SqliteJournal(path, JournalSettings(days=1))) as journal:
            journal.write([look(SHOP)])
            _forbid_to_delete(path)
            with pytest.raises(UnprunedError, match="cannot be pruned: not today; see to its disk"):
                journal.write([look(SHOP, clock=at(2 * DAY_S))])
            assert [CLOCK, at(2 * DAY_S)] == [each.clock for each in journal.records()]


class TestOtherProcesses:
    def test_no_pass_of_two_writing_processes_is_lost(self, path: Path) -> None:
        command = [sys.executable, "-c", WRITER, str(path), "15"]
        writers = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
        assert [0] * 2 == [each.wait() for each in writers]
        passes = [each.pass_number for each in read(path)]
        assert [number for number in range(1, 31) for _ in range(3)] == passes
        assert [] == [each.name for each in path.parent.iterdir() if each.name.startswith(".gordon-")]

    def test_a_sigkill_in_the_middle_of_a_write_leaves_whole_passes(self, path: Path) -> None:
        acknowledged = 0
        for round_ in range(4):
            before = len(read(path)) // 3 if path.exists() else 0
            with subprocess.Popen([sys.executable, "-u", "-c", WRITER, str(path), "-1"], stdout=subprocess.PIPE) as writer:
                assert writer.stdout is not None
                acknowledged = before + int(writer.stdout.readline())
                time.sleep(0.02 + 0.003 * round_)
                writer.kill()
                acknowledged = max([acknowledged, *(before + int(each) for each in writer.stdout.read().split())])
            found = read(path)
            assert len(found) in {3 * acknowledged, 3 * acknowledged + 3}
            assert numbered(*(evolve(each, number=0, pass_number=each.pass_number) for each in found))[-1].number == len(found)
            assert [number for number in range(1, len(found) // 3 + 1) for _ in range(3)] == [each.pass_number for each in found]
        assert acknowledged >= 4


class TestRetention:
    def test_what_is_older_than_so_many_days_goes_with_all_that_belongs_to_it(self, path: Path) -> None:
        with closing(SqliteJournal(path, JournalSettings(days=2))) as journal:
            journal.write([look(BLOG)], [FULL], [DEPLOYED])
            journal.keep("notices", "stays")
            later = at(DAY_S)
            ended, done = evolve(FULL, container_id="x", clock=later), evolve(DEPLOYED, clock=later)
            journal.write([look(SHOP, clock=later)], [ended], [done])
            assert 2 == journal.extent().records
            journal.write([look(SHOP, clock=at(2.5 * DAY_S))])
            assert [at(DAY_S), at(2.5 * DAY_S)] == [each.clock for each in journal.records()]
            assert ["x"] == [each.container_id for each in journal.dossiers()]
            assert [later] == [each.clock for each in journal.deeds()]
            assert [] == list(journal.records("blog"))
            assert "stays" == journal.kept("notices")
        with closing(connect(path, "mode=ro")) as connection:
            counts = [connection.execute(f"SELECT count(*) FROM {each}").fetchone()[0] for each in ("subject", "mention", "pass")]  # noqa: S608 - of tables
        assert [1, 2, 2] == counts

    def test_a_subject_that_a_newer_record_shows_stays(self, path: Path) -> None:
        with closing(SqliteJournal(path, JournalSettings(days=1))) as journal:
            journal.write([look(SHOP, BLOG)])
            journal.write([look(SHOP, clock=at(2 * DAY_S))])
            (record,) = journal.records()
            assert (SHOP,) == record.snapshot.subjects

    def test_numbers_go_on_where_all_went(self, path: Path) -> None:
        with closing(SqliteJournal(path, JournalSettings(days=1))) as journal:
            journal.write([look(SHOP), look(SHOP)])
            journal.write([look(SHOP, clock=at(3 * DAY_S))])
            journal.write([look(SHOP, clock=at(6 * DAY_S))])
            assert [(4, 3)] == [(each.number, each.pass_number) for each in journal.records()]
            assert journal.record(1) is None

    def test_what_is_too_much_goes_the_oldest_first_and_the_file_shrinks(self, path: Path) -> None:
        def subjects(first: int) -> list[Record]:
            return [look(made(SHOP, having(locked=os.urandom(2000).hex())), clock=at(first + number)) for number in range(100)]

        with closing(SqliteJournal(path, JournalSettings(megabytes=3))) as journal:
            for first in range(0, 1000, 100):
                journal.write(subjects(first))
            newest = list(journal.records(newest=1))
        assert at(999) == newest[0].clock
        large = path.stat().st_size
        assert 1_500_000 < large < 3_500_000
        with closing(SqliteJournal(path, JournalSettings(megabytes=1))) as journal:
            journal.write([look(SHOP, clock=at(2000))])
            assert at(2000) == next(journal.records(newest=1)).clock
        assert path.stat().st_size < 1_100_000

    def test_dossiers_go_where_nothing_else_is_left(self, path: Path) -> None:
        big = tuple(os.urandom(1000).hex() for _ in range(50))
        with closing(SqliteJournal(path, JournalSettings(megabytes=1))) as journal:
            for number in range(60):
                journal.write([], [evolve(FULL, started_at=str(number), lines=big, clock=at(number))])
            kept = journal.dossiers()
        assert [str(number) for number in range(60 - len(kept), 60)] == [each.started_at for each in kept]
        assert 10 < len(kept) < 40
        assert path.stat().st_size < 1_300_000

    def test_deeds_age_and_take_room_where_nothing_else_is_on_record(self, path: Path) -> None:
        with closing(SqliteJournal(path, JournalSettings(days=1, megabytes=1))) as journal:
            journal.write([], [], [DEPLOYED, evolve(DEPLOYED, clock=at(2 * DAY_S))])
            assert [at(2 * DAY_S)] == [each.clock for each in journal.deeds()]
            for number in range(60):
                journal.write([], [], [evolve(DEPLOYED, words=os.urandom(50_000).hex(), clock=at(2 * DAY_S + number))])
            kept = [each.clock for each in journal.deeds()]
        assert [at(2 * DAY_S + number) for number in range(60 - len(kept), 60)] == kept
        assert 5 < len(kept) < 40

    def test_one_call_lets_go_of_so_much_and_no_more(self, path: Path) -> None:
        many = STEP * (MOST_STEPS + 1)
        with closing(SqliteJournal(path, JournalSettings(days=1))) as journal:
            journal.write([look(SHOP)] * many)
            journal.write([look(SHOP, clock=at(3 * DAY_S))])
            assert STEP + 1 == journal.extent().records
            journal.write([look(SHOP, clock=at(3 * DAY_S))])
            assert 2 == journal.extent().records

    def test_a_clock_that_the_network_has_not_set_yet_costs_nothing_of_the_past(self, path: Path) -> None:
        with closing(SqliteJournal(path, JournalSettings(days=1))) as journal:
            journal.write([look(SHOP)], [FULL])
            booted = evolve(CLOCK, boot_s=20.0, wall_s=WALL_S + 9000 * DAY_S)
            journal.write([look(SHOP, clock=booted)])
            assert [CLOCK, booted] == [each.clock for each in journal.records()]
            assert (FULL,) == journal.dossiers()

    def test_a_wall_clock_that_was_set_back_loses_nothing(self, path: Path) -> None:
        with closing(SqliteJournal(path, JournalSettings(days=1))) as journal:
            journal.write([look(SHOP)])
            journal.write([look(SHOP, clock=evolve(CLOCK, wall_s=WALL_S - 10 * DAY_S))])
            assert [WALL_S, WALL_S - 10 * DAY_S] == [each.clock.wall_s for each in journal.records()]


def _forbid_to_delete(path: Path) -> None:
    with closing(connect(path, "mode=rw")) as other:
        other.execute("CREATE TRIGGER no BEFORE DELETE ON record BEGIN SELECT RAISE(ABORT, 'not today'); END")


def _refusal(journal: SqliteJournal, record: Record) -> str:
    try:
        journal.write([record])
    except JournalError as error:
        return str(error)
    return ""
