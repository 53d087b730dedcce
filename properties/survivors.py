"""The score of the mutation tool, and whether each of its survivors is explained in docs/mutants.md.

    python -m properties.survivors        after `mutmut run`; `make mutants` does both

mutmut forks its workers once the core is imported, so that a mutant in what runs at import (the commands that rows name, the
codec) is never alive there; and it leaves the long tests out. Each survivor therefore gets a second look: all tests of the core,
in a Python of its own, in which it lives from the start.
"""

import json
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count, environ
from pathlib import Path

from attrs import frozen

ROOT = Path(__file__).parent.parent
MUTANTS = ROOT / "mutants"
EXPLAINED = ROOT / "docs" / "mutants.md"
LEAST = 0.95
_LONGEST_S = 600.0
_KILLED, _SURVIVED, _UNCHECKED = "killed", "survived", "not tried"


@frozen
class Mutant:
    """One mutant of mutmut's, and what became of it."""

    name: str
    fate: str

    @property
    def module(self) -> str:
        """Return the module that it is of."""
        return self.name.split(".")[1]


def _first_looks() -> Iterator[Mutant]:
    """Yield what mutmut itself found: an exit code of 0 is a survivor, None one that was not tried, all else a failure."""
    for path in sorted((MUTANTS / "gordon_core").glob("*.meta")):
        for name, code in json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"].items():
            yield Mutant(name, _UNCHECKED if code is None else _SURVIVED if code in {0, 33} else _KILLED)


def _fails(mutant: Mutant, tests: tuple[str, ...], *options: str) -> bool:
    """Let a mutant live from the start of a Python of its own, and say whether a test fails there (or never ends)."""
    try:
        done = subprocess.run(  # noqa: S603 - our own tests
            (sys.executable, "-m", "pytest", "-x", "-q", "--timeout=0", "-p", "no:cacheprovider", *options, *tests),
            cwd=MUTANTS,
            env=environ | {"MUTANT_UNDER_TEST": mutant.name},
            capture_output=True,
            timeout=_LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def second_look(mutant: Mutant) -> Mutant:
    """Ask the tests of its own module first, then the short ones, then all of them."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutmut"]
    every, short = tuple(config["pytest_add_cli_args_test_selection"]), tuple(config["pytest_add_cli_args"])
    own = tuple(each for each in every if each in {f"tests/test_{mutant.module}.py", "tests/test_document.py"})
    killed = _fails(mutant, own, *short) or _fails(mutant, every, *short) or _fails(mutant, every)
    return Mutant(mutant.name, _KILLED if killed else _SURVIVED)


def _is_told(mutant: Mutant, told: str) -> bool:
    return f"`{mutant.name.removeprefix('gordon_core.')}`" in told


def main() -> int:
    """Print the figures; fail where the score is too low, or a survivor is not explained."""
    first, told = tuple(_first_looks()), EXPLAINED.read_text(encoding="utf-8")
    survivors = [each for each in first if each.fate == _SURVIVED]
    explained = [each for each in survivors if _is_told(each, told)]
    with ThreadPoolExecutor(cpu_count()) as pool:
        again = (*explained, *pool.map(second_look, [each for each in survivors if each not in explained]))
    mutants = [each for each in first if each.fate != _SURVIVED] + list(again)
    by_module = Counter((each.module, each.fate) for each in mutants)
    for module in sorted({each.module for each in mutants}):
        killed, survived, unchecked = (by_module[module, fate] for fate in (_KILLED, _SURVIVED, _UNCHECKED))
        sys.stdout.write(f"{module:12} {killed:5} killed {survived:4} survived {unchecked:5} not tried\n")
    left = [each for each in again if each.fate == _SURVIVED]
    unexplained = [each.name for each in left if not _is_told(each, told)]
    for name in unexplained:
        sys.stdout.write(f"not explained in docs/mutants.md: {name} (python -m mutmut show {name})\n")
    tried = sum(each.fate != _UNCHECKED for each in mutants)
    score = 1 - len(left) / tried if tried else 0.0
    sys.stdout.write(f"{tried - len(left)} of {tried} mutants are killed: {score:.1%}; {LEAST:.0%} are wanted\n")
    return 1 if unexplained or score < LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
