"""What is written for people is true: generated parts are those of the code, links lead somewhere, and code in it runs."""

import ast
import importlib
import re
from pathlib import Path

import pytest

from gordon_core.document import read_snapshot
from tests.tables import README, with_tables

ROOT = README.parent
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    (page, code) for page in PAGES for code in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
]


def test_the_tables_and_the_sample_of_the_readme_are_those_of_the_code() -> None:
    """`python -m tests.tables` writes them."""
    readme = README.read_text(encoding="utf-8")
    assert with_tables(readme) == readme


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    assert [] == [each for each in links if not (page.parent / each).exists()]


@pytest.mark.parametrize(("page", "code"), BLOCKS, ids=lambda each: each.name if isinstance(each, Path) else "")
def test_every_name_that_code_imports_is_there(page: Path, code: str) -> None:
    del page
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            module = importlib.import_module(node.module)
            assert [] == [each.name for each in node.names if not hasattr(module, each.name)]


RUNS = [code for _, code in BLOCKS if ("MemoryEngine" in code or "explain(" in code) and "..." not in code]


@pytest.mark.parametrize("code", RUNS)
def test_code_on_the_memory_ports_runs(code: str) -> None:
    exec(compile(code, "<documentation>", "exec"), {})  # noqa: S102 - it is our own documentation


def test_the_memory_ports_are_shown_at_least_once() -> None:
    assert any("MemoryEngine" in code for _, code in BLOCKS)


def test_the_document_that_is_shown_is_one() -> None:
    shown = re.findall(r"```json\n(.*?)```", (ROOT / "docs" / "documents.md").read_text(encoding="utf-8"), re.DOTALL)
    assert ["shop/web"] == [each.name for document in shown for each in read_snapshot(document).subjects]


def test_every_command_that_is_shown_exists() -> None:
    words = " ".join(page.read_text(encoding="utf-8") for page in PAGES)
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set() == set(re.findall(r"`?\bmake ([a-z]+)\b(?=[`\s]+(?:#|\n|and|sets|after|;|`))", words)) - targets
    commands = set(re.findall(r"gordon-shell ([a-z-]+)", words)) - {"run", "once"}
    from gordon_shell.shell_cli import cli  # noqa: PLC0415 - the commands that there are

    assert set() == commands - set(cli.commands)
