"""The core imports nothing of the world, and each of its rooms only from those above it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

CORE = Path(__file__).parent.parent / "gordon_core"
PURE = {"attrs", "attrs.validators", "collections", "collections.abc", "datetime", "enum", "functools", "typing"}
ROOMS = (
    "observation",
    "policy",
    "grants",
    "tuning",
    "effects",
    "memory",
    "record",
    "snapshot",
    "evidence",
    "facts",
    "tuned_facts",
    "calm",
    "folds",
    "situations",
    "commands",
    "services",
    "superseded",
    "candidates",
    "planner",
    "sentences",
    "ends",
    "looks",
    "noted",
    "notices",
    "forecast",
    "blueprint",
    "deploy_effects",
    "deployment",
    "stages",
    "deploy_evidence",
    "deploy_facts",
    "deploys",
    "deploy_planner",
    "deploy_forecast",
    "verdicts",
    "deploy_sentences",
    "printing",
    "shapes",
    "scalars",
    "encoding",
    "decoding",
    "document",
    "schema",
    "readings",
    "explanation",
)
"""From the top down; a room may import from any before it."""
ONLY = {"document": {"json"}}


def _imported(tree: ast.Module) -> Iterator[str]:
    """Yield every module that is imported anywhere in a file, in functions too; `from gordon_core import x` is gordon_core.x."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (each.name for each in names)
            case ast.ImportFrom(module="gordon_core", level=0, names=names):
                yield from (f"gordon_core.{each.name}" for each in names)
            case ast.ImportFrom(module=module, level=level):
                yield "." * level + (module or "")
            case ast.Call(func=ast.Name(id="__import__" | "open" | "eval" | "exec" | "input" | "print" as name)):
                yield f"{name}()"
            case _:
                continue


def _forbidden(room: str, text: str) -> set[str]:
    allowed = PURE | ONLY.get(room, set()) | {f"gordon_core.{each}" for each in ROOMS[: ROOMS.index(room)]}
    return set(_imported(ast.parse(text))) - allowed


@pytest.mark.parametrize("path", sorted(CORE.glob("*.py")), ids=lambda path: path.stem)
def test_a_room_of_the_core_imports_only_what_is_pure_and_above_it(path: Path) -> None:
    if path.stem == "__init__":
        rooms = {f"gordon_core.{each}" for each in ROOMS}
        # Names are imported when they are asked for.
        assert set() == set(_imported(ast.parse(path.read_text(encoding="utf-8")))) - rooms - {"importlib", "typing"}
    else:
        assert set() == _forbidden(path.stem, path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("room", "text", "forbidden"),
    [
        ("facts", "import docker", "docker"),
        ("facts", "import os.path", "os.path"),
        ("planner", "def now():\n    from time import time", "time"),
        ("observation", "from gordon_core.effects import Start", "gordon_core.effects"),
        ("observation", "from gordon_core import effects", "gordon_core.effects"),
        ("planner", "from gordon_core.document import read_plan", "gordon_core.document"),
        ("planner", "from gordon_shell.ports import Engine", "gordon_shell.ports"),
        ("planner", "import json", "json"),
        ("encoding", "import json", "json"),
        ("effects", "from . import observation", "."),
        ("effects", "__import__('os')", "__import__()"),
        ("effects", "print(1)", "print()"),
    ],
)
def test_the_guard_itself_finds_what_is_forbidden(room: str, text: str, forbidden: str) -> None:
    assert {forbidden} == _forbidden(room, text)


def test_the_core_has_only_rooms_that_the_list_names() -> None:
    assert set() == {path.stem for path in CORE.glob("*.py")} - {*ROOMS, "__init__"}
