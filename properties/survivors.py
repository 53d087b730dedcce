"""The score of the mutation tool, and whether each of its survivors is explained in docs/mutants.md.

    python -m properties.survivors        after `mutmut run`; `make mutants` does both

mutmut forks its workers once the core is imported, so that a mutant in what runs at import (the commands that rows name, the
codec) is never alive there; it leaves the long tests out; and a worker that ran out of time proves nothing on a busy machine.
Each mutant that no test killed therefore gets a second look: all tests of the core, in a Python of its own, in which it lives
from the start, with a limit for each test.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count, environ
from pathlib import Path
from time import monotonic

from attrs import frozen

ROOT = Path(__file__).parent.parent
MUTANTS = ROOT / "mutants"
EXPLAINED = ROOT / "docs" / "mutants.md"
LEAST = 0.95
_LONGEST_S = 1800.0
_LONGEST_TEST_S = 300
_QUICK = {"tests/test_document.py", "tests/test_public_names.py"}
"""What finds most of the mutants that live at import only."""
_FAILED, _BROKE = 1, 3  # exit codes of pytest
_KILLED, _SURVIVED, _UNTRIED = "killed", "survived", "not tried"


@frozen
class Mutant:
    """One mutant of mutmut's, and what became of it. Its name is that in docs/mutants.md: without the package."""

    name: str
    fate: str

    @property
    def module(self) -> str:
        """Return the module that it is of."""
        module, _, rest = self.name.partition(".")
        return module if rest else "__init__"


@frozen
class Look:
    """Tests, and options of pytest, for a second look."""

    tests: tuple[str, ...]
    options: tuple[str, ...]

    def fails(self, name: str) -> bool:
        """Let a mutant live from the start of a Python of its own, "" for none; say whether a test fails, or never ends."""
        try:
            done = subprocess.run(  # noqa: S603 - our own tests
                (sys.executable, "-m", "pytest", "-x", "-q", *self.options, *self.tests),
                cwd=MUTANTS,
                env=environ | {"MUTANT_UNDER_TEST": f"gordon_core.{name}" if name else ""},
                capture_output=True,
                timeout=_LONGEST_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0


def _looks(module: str) -> tuple[Look, ...]:
    """Return the short tests of a module, all short tests, and all tests, as the configuration of mutmut names them."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutmut"]
    every, short = tuple(config["pytest_add_cli_args_test_selection"]), tuple(config["pytest_add_cli_args"])
    own = tuple(each for each in every if each in {f"tests/test_{module}.py", *_QUICK})
    long = (*(each for each in short if not each.startswith("--deselect")), f"--timeout={_LONGEST_TEST_S}")
    return Look(own, short), Look(every, short), Look(every, long)


def _first_looks() -> Iterator[Mutant]:
    """Yield what mutmut itself found; whatever is no failure of a test is a survivor so far, also a worker that never ended."""
    for path in sorted((MUTANTS / "gordon_core").glob("*.meta")):
        for name, code in json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"].items():
            fate = _UNTRIED if code is None else _KILLED if code in {_FAILED, _BROKE} else _SURVIVED
            yield Mutant(name.removeprefix("gordon_core."), fate)


def second_look(mutant: Mutant) -> Mutant:
    """Ask the tests of its own module first, then the short ones, then all of them."""
    began_s = monotonic()
    killed = any(each.fails(mutant.name) for each in _looks(mutant.module))
    again = Mutant(mutant.name, _KILLED if killed else _SURVIVED)
    sys.stdout.write(f"second look: {again.name} {again.fate} ({monotonic() - began_s:.0f} s)\n")
    sys.stdout.flush()
    return again


def _print_modules(mutants: list[Mutant]) -> None:
    by_module = Counter((each.module, each.fate) for each in mutants)
    for module in sorted({each.module for each in mutants}):
        killed, survived, untried = (by_module[module, fate] for fate in (_KILLED, _SURVIVED, _UNTRIED))
        sys.stdout.write(f"{module:16} {killed:5} killed {survived:4} survived {untried:5} not tried\n")


def main() -> int:
    """Print the figures; fail where the score is too low, a survivor is not explained, or a mutant was not tried."""
    first = tuple(_first_looks())
    told = set(re.findall(r"`(\w+\.\S+__mutmut_\d+)`", EXPLAINED.read_text(encoding="utf-8")))
    survivors = [each for each in first if each.fate == _SURVIVED]
    with ThreadPoolExecutor(cpu_count()) as pool:
        is_broken = pool.submit(_looks("")[-1].fails, "")
        again = list(pool.map(second_look, [each for each in survivors if each.name not in told]))
        if is_broken.result():
            sys.stdout.write("the tests fail where no mutant lives, so that nothing is known; make test says why\n")
            return 1
    again += [each for each in survivors if each.name in told]
    mutants = [each for each in first if each.fate != _SURVIVED] + again
    _print_modules(mutants)
    left = {each.name for each in again if each.fate == _SURVIVED}
    for name in sorted(left - told):
        sys.stdout.write(f"not explained in docs/mutants.md: {name} (python -m mutmut show gordon_core.{name})\n")
    for name in sorted(told - left):
        sys.stdout.write(f"explained in docs/mutants.md, and no survivor: {name}\n")
    tried = sum(each.fate != _UNTRIED for each in mutants)
    score = 1 - len(left) / tried if tried else 0.0
    sys.stdout.write(f"{tried - len(left)} of {tried} mutants are killed: {score:.1%}; {LEAST:.0%} are wanted\n")
    return 1 if left != told or score < LEAST or tried < len(mutants) else 0


if __name__ == "__main__":
    sys.exit(main())
