"""examples/deploy_tool.py as a user runs it: a process of its own, on hosts in memory here, on a real engine elsewhere."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import gordon_core
import gordon_shell
from tests.deploys import SECRET

ROOT = Path(__file__).parent.parent
TOOL = ROOT / "examples" / "deploy_tool.py"
FILE = ROOT / "examples" / "shop.toml"


def tool(*words: str | Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    clean = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    return subprocess.run(
        [sys.executable, TOOL, *words],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**clean, **environment},
        timeout=60,
    )


def test_it_is_short_and_stands_on_the_public_names_alone() -> None:
    text = TOOL.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    imports = [each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.ImportFrom)]
    used = {each.module: {name.name for name in each.names} for each in imports if (each.module or "").startswith("gordon")}
    assert {"gordon_core", "gordon_shell"} == used.keys()
    assert set() == used["gordon_core"] - set(gordon_core.__all__)
    assert set() == used["gordon_shell"] - set(gordon_shell.__all__)


def test_it_is_well_typed() -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--config-file=", str(TOOL)]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert (0, "Success: no issues found in 1 source file\n") == (ran.returncode, ran.stdout)


def test_a_rehearsal_deploys_everything_that_the_file_names() -> None:
    ran = tool("--rehearse", FILE, DATABASE_URL=SECRET)
    assert (0, "") == (ran.returncode, ran.stderr)
    lines = ran.stdout.splitlines()
    assert "shop/web: create container gordon-shop-web-new for revision 1" == lines[0]
    assert "shop/web: deployed; c00000000001 serves as revision 1" in lines
    assert "shop/worker: deployed; c00000000002 serves as revision 1" == lines[-1]
    assert SECRET not in ran.stdout


def test_a_dry_run_prints_every_step_and_what_follows_where_it_fails() -> None:
    ran = tool("--rehearse", "--dry-run", FILE, "worker", DATABASE_URL=SECRET)
    assert (0, "") == (ran.returncode, ran.stderr)
    assert "shop/worker: see it run for 5 s (on fail: its container ended before it was ready)" in ran.stdout.splitlines()
    assert "shop/web" not in ran.stdout


@pytest.mark.parametrize(
    ("content", "code", "why"),
    [
        ("app = 1", 65, "'services' is missing; write it as in examples/shop.toml"),
        ("app =", 65, "Invalid value"),
        ('app = "shop"\n[services.web]\nimage = "a"\nlisten = 1', 65, "web: unknown key listen; there are command, "),
        ('app = "shop"\n[services.web]\nimage = "a"\nports = [0]', 65, "'number' must be >= 1: 0; write it as in"),
        (
            'app = "shop"\n[services.web]\nimage = "a"\nenvironment = ["NO_SUCH"]',
            64,
            "the environment has no NO_SUCH, which web needs",
        ),
    ],
)
def test_what_is_wrong_with_the_file_is_told_in_one_sentence(tmp_path: Path, content: str, code: int, why: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(content)
    ran = tool("--rehearse", path)
    assert (code, "") == (ran.returncode, ran.stdout)
    assert ran.stderr.startswith("deploy_tool.py: ")
    assert why in ran.stderr
    assert 1 == len(ran.stderr.splitlines())


def test_a_file_that_is_not_there_is_wrong_usage() -> None:
    ran = tool("/nonesuch.toml")
    assert (64, "deploy_tool.py: /nonesuch.toml: it cannot be read (No such file or directory); name another file\n") == (
        ran.returncode,
        ran.stderr,
    )


def test_an_engine_that_is_away_is_an_exit_code_of_its_own(tmp_path: Path) -> None:
    ran = tool(
        FILE, DATABASE_URL=SECRET, DOCKER_HOST=f"unix://{tmp_path}/none.sock", GORDON_STATE=str(tmp_path / "state.db")
    )  # fmt: skip
    assert ran.returncode in {1, 69}
    assert "Traceback" not in ran.stderr
    assert SECRET not in ran.stdout + ran.stderr
