"""`once`, `run` and the library write the journal, beside the state, and nothing that goes wrong with it ends a recovery."""

from contextlib import closing
from pathlib import Path

import pytest

from gordon_core.blueprint import Blueprint, Variable
from gordon_core.effects import Done
from gordon_core.sentences import wall_time
from gordon_shell import cli_common
from gordon_shell.crew import InlineCrew
from gordon_shell.host import Host
from gordon_shell.journal import Record
from gordon_shell.memory.images import SimulatedImage
from gordon_shell.ports import Ports
from gordon_shell.session import World
from gordon_shell.shell_cli import NAME, cli
from gordon_shell.sqlite_journal import SqliteJournal
from gordon_shell.wiring import LiveOptions, live_journal
from tests.journals import contents
from tests.shell_worlds import HTTP, Ending, Said, Shell


def said(shell: Shell, *words: str) -> Said:
    """Run a command that keeps a journal."""
    world = World(
        ports=shell.ports, policies=lambda _options: lambda: None, crew=InlineCrew, is_watched=False, journal=live_journal
    )
    code = cli_common.run(cli, NAME, [*words, "--state", str(shell.path)], obj=world)
    out, err = shell.capture.readouterr()
    return Said(code, out.decode(), err.decode())


def recorded(path: Path) -> list[Record]:
    with closing(SqliteJournal(path, read_only=True)) as journal:
        return list(journal.records())


@pytest.fixture
def adopted(shell: Shell) -> Shell:
    shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    return shell


def test_once_writes_what_it_decided_beside_the_state(adopted: Shell) -> None:
    assert 0 == said(adopted, "once").code
    found = recorded(adopted.path.with_name("history.db"))
    assert found[0].is_whole
    assert ["Probe", "PersistBinds", "RecordVerified", "Publish"] == [
        type(each.step.result.effect).__name__ for each in found if each.step is not None
    ]


def test_a_quiet_once_writes_nothing(adopted: Shell) -> None:
    for _ in range(2):
        said(adopted, "once")
        adopted.clock.advance(400)
    before = len(recorded(adopted.path.with_name("history.db")))
    said(adopted, "once")
    assert before == len(recorded(adopted.path.with_name("history.db")))


def test_commands_that_only_look_or_change_nothing_leave_no_journal(adopted: Shell) -> None:
    for words in (("status",), ("allow", "shop/web"), ("start", "shop"), ("tune", "shop/web")):
        said(adopted, *words)
    assert not adopted.path.with_name("history.db").exists()


def test_what_somebody_did_is_written_beside_the_state(adopted: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_USER", "carol")
    soon = ("--until", "+10m", "--reason", "a look at it")
    for words in (("tune", "shop/web", "unhealthy_threshold=5"), ("hold", "shop", *soon, "--who", "bob"), ("stop", "shop")):
        assert 0 == said(adopted, *words).code
    assert 64 == said(adopted, "stop", "elsewhere").code
    with closing(SqliteJournal(adopted.path.with_name("history.db"), read_only=True)) as journal:
        found = journal.deeds()
    assert [
        ("shop", "web", "carol", "tuned: unhealthy_threshold = 5"),
        ("shop", "", "bob", f"held until {wall_time(adopted.clock.now(), adopted.clock.now().boot_s + 600)}: a look at it"),
        ("shop", "", "carol", "is to be stopped"),
    ] == [(each.app, each.service, each.who, each.words) for each in found]


def test_what_a_command_did_does_not_depend_on_the_journal(adopted: Shell, tmp_path: Path) -> None:
    history, policy = adopted.path.with_name("history.db"), tmp_path / "policy.toml"
    policy.write_text("[journal]\ndays = 0\n")
    assert (0, "") == (*(ended := said(adopted, "stop", "shop", "--policy", str(policy))),)[::2]
    assert not history.exists()
    policy.write_text("[journal]\ndays = 'x'\n[metrics]\nlisten = 7\n")
    history.write_bytes(b"nonsense" * 1000)
    for words, complaint in (
        (("start", "shop", "--policy", str(policy)), f"{policy}: $.journal.days: must be a number, not a string; {policy}: "),
        (("stop", "shop"), f"the journal at {history} cannot be opened: file is not a database; "),
    ):
        ended = said(adopted, *words)
        assert (0, True) == (ended.code, ended.out.startswith("shop is to "))
        assert ended.err.startswith(complaint)
        assert ended.err.endswith("; what was done is done, and is not on record\n")
        assert 1 == ended.err.count("\n")


def test_run_writes_it_too(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    shell = Shell(tmp_path / "state.db", capfdbinary, Ending(1))
    shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    assert 0 == said(shell, "run").code
    assert recorded(shell.path.with_name("history.db"))[0].is_whole


@pytest.mark.parametrize("how", ["option", "environment"])
def test_it_can_be_elsewhere(adopted: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    elsewhere = tmp_path / "else" / "where.db"
    if how == "environment":
        monkeypatch.setenv("GORDON_HISTORY", str(elsewhere))
    assert 0 == said(adopted, "once", *(("--history", str(elsewhere)) if how == "option" else ())).code
    assert recorded(elsewhere)
    assert not adopted.path.with_name("history.db").exists()


@pytest.mark.parametrize(
    ("state", "expected"),
    [("state.db", "history.db"), ("other.db", "other.history.db"), ("odd", "odd.history.db"), ("state", "history.db")],
)
def test_two_states_beside_each_other_have_two(state: str, expected: str) -> None:
    options = LiveOptions(Path("/srv") / state, environment={})
    assert Path("/srv") / expected == options.history_file()
    assert Path("/x") == LiveOptions(Path("/srv") / state, history=Path("/x"), environment={}).history_file()
    assert Path("/y") == LiveOptions(Path("/srv") / state, environment={"GORDON_HISTORY": "/y"}).history_file()


def test_the_host_policy_turns_it_off(adopted: Shell, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text("[journal]\ndays = 0\n")
    assert 0 == said(adopted, "once", "--policy", str(policy)).code
    assert not adopted.path.with_name("history.db").exists()


def test_impossible_settings_are_told_before_anything_is_done(adopted: Shell, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text("[journal]\ndays = 'x'\n")
    for command in ("once", "run"):
        expected = (65, "", f"{policy}: $.journal.days: must be a number, not a string\n")
        assert expected == tuple(said(adopted, command, "--policy", str(policy)))
    assert {} == adopted.router.read().by_service


def test_a_journal_that_is_none_costs_one_sentence_and_no_recovery(adopted: Shell) -> None:
    history = adopted.path.with_name("history.db")
    history.write_bytes(b"nonsense" * 1000)
    ended = said(adopted, "once")
    assert (0, True) == (ended.code, "1 as desired" in ended.out)
    assert (
        f"the journal at {history} cannot be opened: file is not a database; move it away with what lies beside it (-wal, -shm), "
        "and a new one is begun; recovery goes on without it\n"
    ) == ended.err
    assert b"nonsense" * 1000 == history.read_bytes()
    assert ("shop", "web") in adopted.router.read().by_service


class TestTheLibrary:
    def test_the_real_host_has_one_beside_its_state(self, tmp_path: Path) -> None:
        with Host.open(LiveOptions(tmp_path / "state.db", environment={})) as host:
            assert host.journal is not None
            assert not (tmp_path / "history.db").exists()
            host.journal.keep("a", "b")
        assert (tmp_path / "history.db").exists()

    def test_a_pass_is_written_by_the_time_it_returns(self, adopted: Shell, tmp_path: Path) -> None:
        with closing(SqliteJournal(tmp_path / "own.db")) as journal:
            Host(adopted.ports(), crew=InlineCrew(), journal=journal).recover()
            assert 6 == journal.extent().records

    def test_what_goes_wrong_is_told_to_whom_it_may_concern(self, adopted: Shell, tmp_path: Path) -> None:
        (tmp_path / "own.db").write_bytes(b"")
        told: list[str] = []
        journal = SqliteJournal(tmp_path / "own.db")
        assert Host(adopted.ports(), crew=InlineCrew(), journal=journal, complain=told.append).recover().is_well
        assert Host(adopted.ports(), crew=InlineCrew(), journal=journal).recover().is_well
        assert 1 == len(told)


class TestSecrets:
    """No value of an environment variable is in the journal, wherever a container shows it."""

    def test_neither_output_nor_health_nor_a_refused_start_brings_one_in(self, shell: Shell, tmp_path: Path) -> None:
        secret = "correct-horse-battery"  # noqa: S105 - made up
        ports = shell.ports()
        made = _container_with(ports, shell, Variable("PASSWORD", secret))
        shell.adopted(web=made)
        with closing(SqliteJournal(tmp_path / "own.db")) as journal:
            host = Host(ports, crew=InlineCrew(), journal=journal)
            host.recover()
            container_id = next(each.container_id for each in shell.engine.rows())
            shell.engine.say(container_id, f"the password is {secret}", f'{{"password":"{secret}"}}')
            shell.clock.advance(5)
            shell.engine.kill(container_id)
            shell.engine.refuse("start", container_id, f'exec: "{secret}": not found')
            host.recover()
            (dossier,) = journal.dossiers()
            assert ("the password is [PASSWORD]", '{"password":"[PASSWORD]"}') == dossier.lines
            assert "[PASSWORD]" in repr(list(journal.records()))
        assert "[PASSWORD]" in contents(tmp_path / "own.db")
        assert secret not in contents(tmp_path / "own.db")


def _container_with(ports: Ports, shell: Shell, variable: Variable) -> str:
    shell.engine.images.add("shop:1", SimulatedImage("sha256:1"))
    assert Done() == ports.engine.create("web-1", Blueprint("shop:1", environment=(variable,)), {})
    ports.engine.start(next(each.container_id for each in ports.engine.rows()))
    return "web-1"
