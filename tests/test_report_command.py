"""`gordon-plan report`: from a document and a journal to a file, whole or not at all, that its owner alone can read."""

import stat
from pathlib import Path

import pytest

from gordon_core.document import write_snapshot
from gordon_shell.sqlite_journal import SqliteJournal
from tests.fake_daemon import fake_daemon
from tests.journals import FULL, SHOP, at, look
from tests.pages import GOLDEN, passed
from tests.test_explain_cli import engine_with_one_that_is_gone, state
from tests.test_page import Read
from tests.test_plan_cli import Ran, file, imported, run

__all__ = ["state"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Return the night in a real journal, and the document of its end."""
    directory = tmp_path_factory.mktemp("night")
    journal = SqliteJournal(directory / "history.db")
    snapshot = passed(journal)
    journal.close()
    (directory / "host.json").write_text(write_snapshot(snapshot), encoding="utf-8")
    return str(directory / "host.json"), str(directory / "history.db")


def arguments(recorded: tuple[str, str], *more: str) -> tuple[str, ...]:
    document, history = recorded
    return ("report", *more, "--document", document, "--history", history)


def test_a_file_and_standard_output_get_the_same_page(recorded: tuple[str, str], tmp_path: Path) -> None:
    page = tmp_path / "night.html"
    page.write_text("an older one")
    assert Ran(0, "", "") == run(*arguments(recorded, "shop/web", "-o", str(page)))
    assert GOLDEN.read_text() == page.read_text() == run(*arguments(recorded, "shop/web", "-o", "-")).out
    assert 0o600 == stat.S_IMODE(page.stat().st_mode)
    assert ["night.html"] == [each.name for each in tmp_path.iterdir()]


def test_what_cannot_be_written_leaves_nothing_behind(recorded: tuple[str, str], tmp_path: Path) -> None:
    for name, why in ((f"{tmp_path}/none/x.html", "No such file or directory"), (str(tmp_path), "it is no regular file")):
        ran = run(*arguments(recorded, "-o", name))
        said = f"gordon-plan report: {name}: the report cannot be written ({why}); name another file after --output\n"
        assert Ran(64, "", said.replace("gordon-plan report: ", "gordon-plan: ")) == ran
    assert [] == list(tmp_path.iterdir())


def test_a_later_beginning_is_another_page(recorded: tuple[str, str]) -> None:
    late = run(*arguments(recorded, "shop/web", "-o", "-", "--since", "-5m")).out
    assert "Timeline of shop/web, 07:41:00Z to 07:46:00Z" in late
    assert "Nothing is on record of it in this time but how it was at its beginning." in late
    assert ">as desired</text>" in late
    assert [] == Read(late).wrong
    ran = run(*arguments(recorded, "-o", "-", "--since", "yesterday"))
    assert 64 == ran.code
    assert "--since must be a duration before now" in ran.err


def test_what_there_is_not_is_named_with_the_nearest(recorded: tuple[str, str]) -> None:
    ran = run(*arguments(recorded, "shop/webb", "-o", "-"))
    said = "gordon-plan: there is no app or service 'shop/webb', neither now nor on record; did you mean shop/web?\n"
    assert Ran(64, "", said) == ran


def test_a_service_that_is_on_record_alone_is_told_of(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "j.db")
    journal.write([look(SHOP)], [FULL])
    journal.close()
    ran = run("report", "shop", "-o", "-", "--document", file("done.json"), "--history", str(tmp_path / "j.db"))
    assert (0, "") == (ran.code, ran.err)
    assert "shop/web" in ran.out


def test_without_a_journal_the_page_is_written_all_the_same(tmp_path: Path) -> None:
    ran = run("report", "-o", "-", "--document", file("sample.json"), "--history", str(tmp_path / "none.db"))
    assert (0, "") == (ran.code, ran.err)
    assert f"Its history is not read: there is no journal at {tmp_path}/none.db" in ran.out
    assert 4 == ran.out.count('<h2 id="s')
    assert [] == Read(ran.out).wrong


def test_the_live_host(state: Path, tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "history.db")
    journal.write([look(SHOP, clock=at(0))])
    journal.close()
    page = tmp_path / "live.html"
    with fake_daemon(engine_with_one_that_is_gone) as daemon:
        ran = run("report", "-o", str(page), "--state", str(state), "--since", "2026-11-30T06:00:00Z", DOCKER_HOST=daemon.host)
    assert Ran(0, "", "") == ran
    assert "<code>gordon-shell adopt shop web=CONTAINER</code>" in page.read_text()


def test_an_engine_out_of_reach_is_told_after_the_page(state: Path, tmp_path: Path) -> None:
    page = tmp_path / "live.html"
    ran = run("report", "-o", str(page), "--state", str(state), DOCKER_HOST=f"unix://{tmp_path}/none.sock")
    assert 69 == ran.code
    assert ran.err.startswith("gordon-plan: no container could be read: ")
    assert "UNREADABLE" in page.read_text() or "it could not be read" in page.read_text()


def test_it_says_what_is_missing_or_makes_no_sense() -> None:
    assert "Missing option '-o' / '--output'." in run("report").err
    ran = run("report", "-o", "-", "--document", "x", "--routes", "y")
    assert "--routes is for the live host, and a document was named; leave one of them out." in ran.err


def test_neither_help_nor_a_plan_imports_it() -> None:
    rooms = {"page_verbs", "page", "page_style", "tracing", "markup"}
    for given in (("--help",), (file("down.json"),), ("report", "--help")):
        assert set() == {each for each in imported(*given) if each.rpartition(".")[2] in rooms}
