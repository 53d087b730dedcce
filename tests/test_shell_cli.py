"""The commands of `gordon-shell`, as an operator types them: help, completion, wrong usage, and what is out of reach."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import click
import pytest

from gordon_core.observation import Status
from gordon_shell.errors import UsageError
from gordon_shell.file_locks import FileLocks
from gordon_shell.haproxy_router import HaproxyRouter
from gordon_shell.routes_file_router import RoutesFileRouter
from gordon_shell.shell_cli import cli
from gordon_shell.wiring import LiveOptions, router
from tests.shell_worlds import HTTP, Shell
from tests.states import filled

ROOT = Path(__file__).parent.parent
PROGRAM = (sys.executable, "-m", "gordon_shell.shell_cli")
COMMANDS = (
    "adopt", "deploy", "rollback", "once", "run", "status", "stop", "start", "inhibit", "allow", "retry", "hold", "release",
    "tune", "retire", "forget", "doctor", "test-notices", "haproxy-config", "export", "import",
)  # fmt: skip
WITH_A_STATE = {
    "rollback": ["shop", "web"], "once": [], "run": [], "status": [], "stop": ["shop"], "start": ["shop"],
    "inhibit": ["shop/web"], "allow": ["shop/web"],
    "hold": ["shop", "--until", "+1h", "--reason", "x"], "release": ["shop"], "tune": ["shop/web"],
    "retry": ["shop"], "retire": ["shop/web", "x"], "forget": ["shop"], "haproxy-config": [], "export": [],
}  # fmt: skip


def program(*words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*PROGRAM, *words], check=False, capture_output=True, text=True, cwd=ROOT, env={**os.environ, **environment}, timeout=60
    )


# --- help, completion, usage -------------------------------------------------------------------------------------------


def test_these_are_the_commands_in_the_order_in_which_they_are_met() -> None:
    assert list(COMMANDS) == cli.list_commands(click.Context(cli))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command_has_an_example_of_it(shell: Shell, command: str) -> None:
    cli.main([command, "--help"], standalone_mode=False)
    out = shell.capture.readouterr().out.decode()
    assert "Example" in out
    assert f"  gordon-shell {command}" in out


@pytest.mark.parametrize("words", [["--help"], *([each, "--help"] for each in COMMANDS)])
def test_help_imports_neither_docker_nor_attrs_nor_the_core(words: list[str]) -> None:
    script = (
        "import sys\nfrom gordon_shell.shell_cli import cli\n"
        f"cli.main({words!r}, standalone_mode=False)\n"
        "heavy = {'docker', 'attr', 'attrs', 'gordon_core', 'sqlite3', 'requests'}\n"
        "print('loaded:', sorted(sys.modules.keys() & heavy))"
    )
    ran = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True, cwd=ROOT)
    assert (0, "loaded: []") == (ran.returncode, ran.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("line", "words"),
    [("gordon-shell ro", ["plain,rollback"]),
     ("gordon-shell deploy shop web shop:2 --ready", ["plain,--ready", "plain,--ready-timeout"]),
     ("gordon-shell deploy shop web shop:2 --ready h", ["plain,health", "plain,http"])],
)  # fmt: skip
def test_shell_completion_completes_deploys(line: str, words: list[str]) -> None:
    script = "import sys; from gordon_shell import shell_cli; sys.argv[0] = 'gordon-shell'; shell_cli.main()"
    asked = {"_GORDON_SHELL_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    ran = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True, cwd=ROOT, env={**os.environ, **asked}
    )
    assert words == [each.partition("\n")[0] for each in ran.stdout.split("\n") if each]


def test_shell_completion_completes_commands_and_options() -> None:
    script = "import sys; from gordon_shell import cli_common, shell_cli; sys.argv[0] = 'gordon-shell'; shell_cli.main()"
    ran = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True, cwd=ROOT,
        env={**os.environ, "_GORDON_SHELL_COMPLETE": "bash_complete", "COMP_WORDS": "gordon-shell re", "COMP_CWORD": "1"},
    )  # fmt: skip
    assert ["plain,retry", "plain,release", "plain,retire"] == ran.stdout.split()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["adopt"], "Name an app and what to adopt"),
        (["adopt", "shop"], "Name an app and what to adopt"),
        (["adopt", "shop", "web"], "'web' is not SERVICE=CONTAINER"),
        (["adopt", "a/b", "web=x"], "'a/b' cannot be the name of an app"),
        (["adopt", "shop", "a/b=web-1"], "'a/b' cannot be the name of a service"),
        (["adopt", "shop", "web=x", "--compose", "y"], "--compose PROJECT names the containers already"),
        (["adopt", "shop", "web=x", "--app", "y"], "--app and --except are for --compose PROJECT"),
        (["adopt", "shop", "web=x", "--except", "y"], "--app and --except are for --compose PROJECT"),
        (["adopt", "shop", "web=nobody"], "there is no container 'nobody'"),
        (["inhibit", "shop"], "'shop' names no service; write APP/SERVICE"),
        (["allow", "/web"], "'/web' names no service"),
        (["run", "--cadence", "0"], "0.0 is not in the range"),
        (["run", "--cadence", "nan"], "'nan' is not a number of seconds"),
        (["retire", "shop/web", "x", "--grace", "nan"], "'nan' is not a number of seconds"),
        (["stop", "shep"], "there is no app 'shep'; adopted: shop"),
        (["retry", "shop/db"], "app 'shop' has no service 'db'; it has: web"),
        (["frobnicate"], "No such command 'frobnicate'"),
        (["status", "--haproxy", "x", "--routes", "y"], "leave --haproxy or --routes out"),
        (["haproxy-config", "--haproxy", "x", "--routes", "y"], "leave --haproxy or --routes out"),
        (["import", "/nonesuch/state.json"], "/nonesuch/state.json: cannot be read"),
        (["export", "--output", "/nonesuch/state.json"], "/nonesuch/state.json: the export cannot be written"),
    ],
)
def test_wrong_usage_is_64_and_one_sentence(shell: Shell, words: list[str], why: str) -> None:
    shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    code, out, err = shell.run(*words) if "--routes" not in words else _in_a_program(shell, words)
    assert (64, "") == (code, out)
    assert why in str(err)
    assert "Traceback" not in str(err)


def _in_a_program(shell: Shell, words: list[str]) -> tuple[int, str, str]:
    """Run it with the real ports: which router it is, is decided there."""
    ran = program(*words, "--state", str(shell.path))
    return ran.returncode, ran.stdout, ran.stderr


@pytest.mark.parametrize("command", WITH_A_STATE)
def test_without_a_state_every_command_but_adopt_is_69_with_the_remedy_and_makes_none(shell: Shell, command: str) -> None:
    said = shell.run(command, *WITH_A_STATE[command])
    remedy = f"gordon-shell: there is no state at {shell.path}, so nothing is touched; `gordon-shell adopt` makes one\n"
    assert (69, "", remedy) == tuple(said)
    assert [] == list(shell.path.parent.iterdir())


NO_ADOPTION = {
    "a name that is not there": ["shop", "web=nobody"],
    "one of two that is not there": ["shop", "web=web-1", "db=nobody"],
    "an impossible name": ["shop", "a/b=web-1"],
    "one container for two services": ["shop", "web=web-1", "db=web-1"],
    "an HTTP check at a port that it does not publish": ["shop", "web=web-1", "--http", "web=81/"],
    "no service of that name": ["shop", "web=web-1", "--grace", "db=5"],
    "no such project of Docker Compose": ["--compose", "shop"],
}


def files(shell: Shell) -> list[str]:
    """Return what lies beside the state, but for the locks, which a command may have taken before it failed."""
    return [each.name for each in shell.path.parent.iterdir() if each.name != "state.db.locks"]


@pytest.mark.parametrize("words", NO_ADOPTION.values(), ids=NO_ADOPTION)
def test_an_adoption_that_fails_makes_no_state(shell: Shell, words: list[str]) -> None:
    shell.container("web-1", HTTP)
    assert (64, "") == tuple(shell.run("adopt", *words))[:2]
    assert [] == files(shell)
    assert 69 == shell.run("once").code


@pytest.mark.parametrize("words", [["adopt", "shop", "web=web-1"], ["adopt", "--compose", "shop"]])
def test_an_adoption_with_the_engine_out_of_reach_makes_no_state(shell: Shell, words: list[str]) -> None:
    shell.engine.unreachable("connection refused")
    code, out, err = shell.run(*words)
    assert (69, "") == (code, out)
    assert "connection refused" in str(err)
    assert [] == list(shell.path.parent.iterdir())
    assert f"there is no state at {shell.path}" in shell.run("status").err


def test_an_adoption_of_what_vanishes_meanwhile_makes_no_state(shell: Shell) -> None:
    web = shell.container("web-1", HTTP)
    shell.engine.set_status(web, Status.REMOVING)
    assert (64, "") == tuple(shell.run("adopt", "shop", "web=web-1"))[:2]
    assert [] == files(shell)


def test_an_adoption_and_an_import_that_get_no_lock_make_no_state(shell: Shell, tmp_path: Path) -> None:
    shell.container("web-1", HTTP)
    document = tmp_path / "state.json"
    document.write_text('{"format": "gordon-state", "version": 1, "apps": [{"app": "shop", "intent": "stopped"}]}')
    shell.path.with_name("state.db.locks").write_text("in the way of the directory of locks")
    codes = [shell.run(*words).code for words in (["adopt", "shop", "web=web-1"], ["import", str(document)])]
    assert ([69, 69], ["state.json"]) == (codes, files(shell))


SURROGATE = '{"app": "a", "service": "\\ud800", "unproven": true}'


@pytest.mark.parametrize("text", ["{", f'{{"format": "gordon-state", "version": 1, "services": [{SURROGATE}]}}'])
def test_an_import_of_a_bad_document_makes_no_state(shell: Shell, tmp_path: Path, text: str) -> None:
    document = tmp_path / "state.json"
    document.write_text(text)
    assert (65, "") == tuple(shell.run("import", str(document)))[:2]
    assert 64 == shell.run("import", "/nonesuch/state.json").code
    assert ["state.json"] == files(shell)


# --- where things are, and what is out of reach ------------------------------------------------------------------------


def test_the_environment_says_where_things_are_and_options_outweigh_it() -> None:
    environment = {
        "GORDON_STATE": "/s/state.db", "GORDON_POLICY": "/p.toml", "GORDON_HAPROXY": "/h.sock", "GORDON_ROUTES": "/r.json",
    }  # fmt: skip
    told = LiveOptions(environment=environment)
    assert (Path("/s/state.db"), Path("/p.toml"), Path("/r.json")) == (told.state_file(), told.policy_file(), told.routes_file())
    assert isinstance(router(told), HaproxyRouter)
    by_hand = LiveOptions(Path("/x/x.db"), Path("/x.toml"), routes=Path("/x.json"), environment=environment)
    assert (Path("/x/x.db"), Path("/x.toml"), Path("/x.json")) == (
        by_hand.state_file(), by_hand.policy_file(), by_hand.routes_file(),
    )  # fmt: skip
    assert isinstance(router(by_hand), RoutesFileRouter)
    nothing = LiveOptions(Path("/x/x.db"), environment={"GORDON_ROUTES": "", "GORDON_POLICY": ""})
    assert (None, Path("/x/routes.json")) == (nothing.policy_file(), nothing.routes_file())
    with pytest.raises(UsageError, match="both a HAProxy and a routes file are named"):
        router(LiveOptions(haproxy=Path("/h"), routes=Path("/r")))


def test_a_damaged_policy_is_65(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text("x = 1\n")
    state = tmp_path / "state.db"
    filled(state).close()
    ran = program("once", "--state", str(state), "--policy", str(policy))
    assert (65, "") == (ran.returncode, ran.stdout)
    assert ran.stderr.startswith(f"{policy}: $.x: is not known")


def test_a_second_run_is_75_and_names_the_holder(shell: Shell) -> None:
    shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    lock = FileLocks.beside(shell.path).try_run()
    assert not isinstance(lock, str)
    with lock:
        code, out, err = shell.run("run")
    assert (75, "") == (code, out)
    assert f"gordon-shell: pid {os.getpid()} runs already on this state; stop it first" in str(err)


def test_steps_are_told_on_a_terminal() -> None:
    """What `is_watched` means in the real world: standard error is a terminal."""
    script = "from gordon_shell.session import World; import sys; print(World().is_watched)"
    parent, child = pty.openpty()
    watched = subprocess.run(
        [sys.executable, "-c", script], check=False, stdout=subprocess.PIPE, stderr=child, text=True, cwd=ROOT
    )
    unwatched = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True, cwd=ROOT)
    os.close(parent)
    os.close(child)
    assert ("True\n", "False\n") == (watched.stdout, unwatched.stdout)


def test_json_of_an_export_is_a_state_document(shell: Shell) -> None:
    shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    assert ("gordon-state", 1) == tuple(json.loads(shell.run("export").out)[key] for key in ("format", "version"))
