"""What every Journal promises, seen on the one in memory and on the real one."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from attrs import evolve

from gordon_core.effects import Fault, Refused
from gordon_shell.errors import JournalError
from gordon_shell.journal import Extent, Journal, Record
from gordon_shell.memory.journal import MemoryJournal
from gordon_shell.sqlite_journal import SqliteJournal
from tests.core_examples import having, made
from tests.journals import BLOG, CRASHED, DEPLOYED, FULL, SHOP, STOPPED, WALL_S, at, look, numbered, step


@pytest.fixture(params=["memory", "sqlite"])
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    made: Journal = MemoryJournal() if request.param == "memory" else SqliteJournal(tmp_path / "history.db")
    yield made
    made.close()


def test_an_empty_journal_holds_nothing(journal: Journal) -> None:
    assert [] == list(journal.records())
    assert journal.record(1) is None
    assert () == journal.dossiers()
    assert () == journal.deeds()
    assert "" == journal.kept("notices")
    assert Extent() == evolve(journal.extent(), size_bytes=0)
    assert not journal.has_dossier(FULL.container_id, FULL.started_at)


def test_records_come_back_exactly_and_in_order(journal: Journal) -> None:
    refused = Refused("the proxy's words \0 and \u2028 more", Fault.ROUTER)
    records = [look(SHOP, BLOG, is_whole=True), step(CRASHED, BLOG), step(CRASHED, outcome=refused), look(CRASHED, clock=at(0.1))]
    journal.write(records)
    assert numbered(*records) == list(journal.records())
    assert numbered(*records)[2] == journal.record(3)
    assert journal.record(5) is None


def test_passes_are_counted(journal: Journal) -> None:
    journal.write([look(SHOP)])
    journal.write([])
    journal.write([look(CRASHED), step(CRASHED)])
    assert [(1, 1), (2, 2), (3, 2)] == [(each.number, each.pass_number) for each in journal.records()]


def test_a_pass_may_be_written_in_parts(journal: Journal) -> None:
    journal.write([look(SHOP)], goes_on=True)
    journal.write([step(CRASHED)], goes_on=True)
    journal.write([], [FULL], goes_on=True)
    journal.write([look(CRASHED)])
    journal.write([step(CRASHED)], goes_on=True)
    assert [1, 1, 2, 2] == [each.pass_number for each in journal.records()]


def test_records_are_found_by_app_and_service(journal: Journal) -> None:
    api = made(SHOP, having(service="api"))
    journal.write([look(SHOP), look(BLOG), look(api, BLOG)])
    for words, expected in (
        (("shop",), [1, 3]),
        (("shop", "web"), [1]),
        (("blog", "web"), [2, 3]),
        (("", "api"), [3]),
        (("else",), []),
        ((), [1, 2, 3]),
    ):
        assert expected == [each.number for each in journal.records(*words)]


def test_records_are_found_by_time_both_ends_included(journal: Journal) -> None:
    journal.write([look(SHOP, clock=at(seconds)) for seconds in (0, 10, 20)])
    assert [2, 3] == [each.number for each in journal.records(since_s=WALL_S + 10)]
    assert [1, 2] == [each.number for each in journal.records(until_s=WALL_S + 10)]
    assert [2] == [each.number for each in journal.records("shop", since_s=WALL_S + 10, until_s=WALL_S + 10)]


@pytest.mark.parametrize(("newest", "expected"), [(0, []), (1, [3]), (2, [1, 3]), (9, [1, 3])])
def test_the_newest_few_are_still_oldest_first(journal: Journal, newest: int, expected: list[int]) -> None:
    journal.write([look(SHOP), look(BLOG), look(SHOP, clock=at(1))])
    assert expected == [each.number for each in journal.records("shop", newest=newest)]


def test_many_records_come_back(journal: Journal) -> None:
    records = [look(SHOP, clock=at(seconds)) for seconds in range(200)]
    journal.write(records)
    assert numbered(*records) == list(journal.records())


def test_a_dossier_comes_back_exactly(journal: Journal) -> None:
    bare = evolve(
        FULL, container_id="other", app="blog", end=None, probes=(), lines=(), unread=(), was_restarted=True, clock=at(5)
    )
    journal.write([], [FULL, bare])
    assert (FULL, bare) == journal.dossiers()
    assert (FULL,) == journal.dossiers("shop", "web")
    assert (bare,) == journal.dossiers(since_s=WALL_S + 1)
    assert (FULL,) == journal.dossiers(until_s=WALL_S + 1)
    assert journal.has_dossier("other", FULL.started_at)


def test_of_one_execution_the_first_dossier_stays(journal: Journal) -> None:
    again = evolve(FULL, started_at="2026-11-30T06:30:00Z")
    journal.write([], [FULL, evolve(FULL, lines=("another's",)), again])
    journal.write([], [evolve(FULL, lines=())])
    assert (FULL, again) == journal.dossiers()


def test_deeds_come_back_exactly_and_those_of_an_app_are_of_each_of_its_services(journal: Journal) -> None:
    elsewhere, api = evolve(DEPLOYED, app="blog", clock=at(2)), evolve(DEPLOYED, service="api", clock=at(3))
    journal.write([], [], [DEPLOYED, evolve(STOPPED, clock=at(1))])
    journal.write([look(SHOP)], [FULL], [elsewhere, api])
    every = (DEPLOYED, evolve(STOPPED, clock=at(1)), elsewhere, api)
    for words, expected in (
        ((), every),
        (("shop",), (*every[:2], api)),
        (("shop", "web"), every[:2]),
        (("shop", "db"), every[1:2]),
        (("blog", "web"), (elsewhere,)),
        (("", "api"), (every[1], api)),
        (("else",), ()),
    ):
        assert expected == journal.deeds(*words), words
    assert (elsewhere, api) == journal.deeds(since_s=WALL_S + 2)
    assert every[:3] == journal.deeds(until_s=WALL_S + 2)
    assert (1, 1) == (len(list(journal.records())), len(journal.dossiers()))


@pytest.mark.parametrize(("newest", "expected"), [(0, []), (1, [2]), (2, [1, 2]), (9, [0, 1, 2])])
def test_the_newest_few_deeds_are_still_oldest_first(journal: Journal, newest: int, expected: list[int]) -> None:
    journal.write([], [], [*(evolve(DEPLOYED, clock=at(number)) for number in range(3)), evolve(DEPLOYED, app="blog")])
    assert [at(number) for number in expected] == [each.clock for each in journal.deeds("shop", newest=newest)]


def test_what_is_kept_is_replaced_and_dropped(journal: Journal) -> None:
    journal.keep("notices", "a")
    journal.keep("metrics", "m")
    journal.keep("notices", "b")
    assert ("b", "m") == (journal.kept("notices"), journal.kept("metrics"))
    journal.keep("notices", "")
    journal.keep("notices", "")
    assert ("", "m") == (journal.kept("notices"), journal.kept("metrics"))


def test_the_extent_says_from_when_until_when(journal: Journal) -> None:
    journal.write([look(SHOP, clock=at(1))], [evolve(FULL, clock=at(9))])
    assert Extent(1, 1, WALL_S + 1, WALL_S + 9) == evolve(journal.extent(), size_bytes=0)
    journal.write([look(SHOP, clock=at(20))])
    assert Extent(2, 1, WALL_S + 1, WALL_S + 20) == evolve(journal.extent(), size_bytes=0)
    journal.write([], [], [evolve(DEPLOYED, clock=at(-3)), evolve(DEPLOYED, clock=at(30))])
    assert Extent(2, 1, WALL_S - 3, WALL_S + 30, deeds=2) == evolve(journal.extent(), size_bytes=0)


def test_a_closed_journal_says_so(journal: Journal) -> None:
    journal.close()
    for call in (
        lambda: journal.write([look(SHOP)]),
        lambda: list(journal.records()),
        lambda: journal.keep("a", "b"),
        lambda: journal.kept("a"),
        journal.dossiers,
        journal.deeds,
        journal.extent,
    ):
        with pytest.raises(JournalError, match="is closed"):
            call()


def test_threads_that_write_at_once_lose_nothing(journal: Journal) -> None:
    start = Barrier(4)

    def write(thread: int) -> None:
        start.wait()
        for number in range(10):
            journal.write([look(SHOP, clock=at(thread * 100 + number)), step(CRASHED)])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    passes: dict[int, list[Record]] = {}
    for each in journal.records():
        passes.setdefault(each.pass_number, []).append(each)
    assert [2] * 40 == [len(each) for each in passes.values()]
