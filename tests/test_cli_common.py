"""What the commands share: faults of ours in one sentence, output as bytes, colour, and text that steers no terminal."""

import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import click
import pytest
from attrs import frozen
from click.testing import CliRunner

from gordon_shell import cli_common
from gordon_shell.errors import EngineError

ROOT = Path(__file__).parent.parent
COMMAND = [sys.executable, "-m", "gordon_shell.plan_cli"]
SETTLED = str(ROOT / "examples" / "settled.json")


@frozen
class Ran:
    code: int
    out: str
    err: str


def shell(line: str) -> Ran:
    """Run a line of shell in which `plan` is a command of ours."""
    script = f'plan() {{ "{sys.executable}" -m gordon_shell.plan_cli "$@"; }}\n{line}'
    ran = subprocess.run(["/bin/bash", "-c", script], capture_output=True, check=False, cwd=ROOT, timeout=60)
    return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())


# --- output ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away_is_no_error(unbuffered: str) -> None:
    many = " ".join(f'"{SETTLED}"' for _ in range(400))
    ran = shell(f"export PYTHONUNBUFFERED={unbuffered}; plan {many} | head -n 1; echo ${{PIPESTATUS[0]}}")
    assert Ran(0, f"{SETTLED}, as seen at 2026-11-30 07:00:00Z:\n0\n", "") == ran


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_all_of_a_long_output_reaches_a_slow_reader(unbuffered: str) -> None:
    many = " ".join(f'"{SETTLED}"' for _ in range(400))
    ran = shell(f"export PYTHONUNBUFFERED={unbuffered}; plan {many} | (sleep 0.2; grep -c 'Nothing was done')")
    assert Ran(0, "400\n", "") == ran


@pytest.mark.parametrize(
    ("place", "why"), [(">/dev/full", "No space left on device"), (">&-", "it is closed")], ids=["full", "closed"]
)
def test_output_that_cannot_be_written_is_told(place: str, why: str) -> None:
    said = f"gordon-plan: standard output cannot be written ({why}); write it to another place\n"
    assert Ran(69, "", said) == shell(f'plan "{SETTLED}" {place}')


def test_nobody_needs_to_read_the_errors() -> None:
    assert Ran(64, "", "") == shell("plan nowhere.json 2>&-")
    assert Ran(64, "", "") == shell("plan nowhere.json 2>/dev/full")


def test_colour_is_asked_for_or_left_out() -> None:
    plain = (ROOT / "examples" / "settled.txt").read_text()
    coloured = shell(f'NO_COLOR=1 TERM=dumb plan --color always "{SETTLED}"').out
    assert "\x1b[32m= shop/api (bb033baef889)\x1b[0m: running" in coloured
    assert plain == click.unstyle(coloured)
    assert plain == shell(f'plan "{SETTLED}"').out


@pytest.mark.parametrize(
    ("environment", "shown"),
    [
        ({"TERM": "xterm", "NO_COLOR": ""}, b"\x1b[32m= shop/api (bb033baef889)\x1b[0m: "),
        ({"TERM": "xterm", "NO_COLOR": "1"}, b"\n= shop/api (bb033baef889): "),
        ({"TERM": "dumb", "NO_COLOR": ""}, b"\n= shop/api (bb033baef889): "),
    ],
)
def test_a_terminal_gets_colour_unless_it_is_dumb_or_refuses(environment: Mapping[str, str], shown: bytes) -> None:
    leader, follower = pty.openpty()
    with os.fdopen(leader, "rb", buffering=0) as terminal:
        subprocess.run([*COMMAND, SETTLED], stdout=follower, check=True, cwd=ROOT, env=os.environ | environment, timeout=60)
        os.close(follower)
        assert shown in terminal.read(4096)


# --- faults of ours, and what the commands share -----------------------------------------------------------------------------


def failing(error: BaseException) -> click.Command:
    def callback() -> int:
        raise error

    return click.Command("gordon-x", callback=callback)


def end_of(error: BaseException, **environment: str) -> Ran:
    with CliRunner(env=environment).isolation() as (out, err, _both):
        code = cli_common.run(failing(error), "gordon-x", ())
        return Ran(code, out.getvalue().decode(), err.getvalue().decode())


@pytest.mark.parametrize(
    "error", [KeyError("web"), OSError("no such luck"), RecursionError("deep")], ids=lambda each: type(each).__name__
)
def test_a_fault_of_ours_is_one_sentence_and_a_traceback_only_where_it_is_asked_for(error: Exception) -> None:
    said = (
        f"gordon-x: a fault of ours: {type(error).__name__}: {error}; please report it with what the same command prints"
        " under GORDON_DEBUG=1\n"
    )
    assert Ran(70, "", said) == end_of(error, GORDON_DEBUG="")
    debugged = end_of(error, GORDON_DEBUG="1")
    assert debugged.err.startswith("Traceback (most recent call last):\n")
    assert debugged.err.endswith(said)


def test_an_error_of_the_world_keeps_its_exit_code_and_an_interrupt_is_quiet() -> None:
    assert Ran(69, "", "gordon-x: the engine is away; start it\n") == end_of(EngineError("the engine is away; start it"))
    assert 130 == end_of(KeyboardInterrupt()).code


def test_printable_text_is_one_line_as_it_was() -> None:
    assert "    grün: ok" == cli_common.printable("    grün: ok")
    assert "one two" == cli_common.printable("one \r\n  two")
    assert "\\x07\\u202e" == cli_common.printable("\x07\u202e")
