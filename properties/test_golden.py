"""D2: a plan replayed from a recorded snapshot is the recorded plan, byte for byte, on any machine and Python version.

After a change of the law or of the words: `python -m properties.replay --write`, and read the diff.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import pytest

from gordon_core.situations import Situation
from properties.replay import EXAMPLES, GOLDEN, ROOT, digests

NEEDED = ("attr", "attrs", "click")
"""The import packages of attrs and click; all are pure, so that those of one Python serve every other."""
PYTHONS = (11, 12, 13, 14, 15)
SURROUNDINGS: Mapping[str, tuple[tuple[str, ...], Mapping[str, str]]] = {
    "hash seed 0": ((), {"PYTHONHASHSEED": "0"}),
    "hash seed 1": ((), {"PYTHONHASHSEED": "1"}),
    "any hash seed": ((), {"PYTHONHASHSEED": "random"}),
    "optimised": (("-OO",), {"PYTHONHASHSEED": "2"}),
    "far east, Turkish": ((), {"TZ": "Pacific/Kiritimati", "LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "tr"}),
    "far west, C": ((), {"TZ": "XYZ+11:59", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    "ASCII streams": ((), {"PYTHONIOENCODING": "ascii", "PYTHONINTMAXSTRDIGITS": "640"}),
    "terminal": ((), {"TERM": "xterm-256color", "FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "COLUMNS": "40"}),
}


def recorded() -> dict[str, str]:
    """Return the digests of the golden files, as they lie in the repository."""
    files = [*EXAMPLES.glob("*.json"), *EXAMPLES.glob("*.txt"), *GOLDEN.iterdir()]
    return {each.relative_to(ROOT).as_posix(): sha256(each.read_bytes()).hexdigest() for each in files}


def differing(found: Mapping[str, str]) -> list[str]:
    """Name the golden files that something else came of, that nothing came of, or that are missing."""
    wanted = recorded()
    return sorted(each for each in found.keys() | wanted.keys() if found.get(each) != wanted.get(each))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory from which the dependencies of the core can be imported, and nothing else."""
    directory = tmp_path_factory.mktemp("library")
    for name in NEEDED:
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        origin = Path(spec.origin)
        found = origin.parent if origin.name == "__init__.py" else origin
        (directory / found.name).symlink_to(found)
    return directory


def replayed_by(
    python: str, library: Path, options: tuple[str, ...] = (), environment: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the digests of a replay by another process, which can import the library and this repository alone."""
    surroundings = {"PYTHONPATH": str(library), "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})}
    command = [python, "-S", "-W", "error", *options, "-m", "properties.replay"]
    done = subprocess.run(command, cwd=ROOT, env=surroundings, capture_output=True, timeout=60, check=False)  # noqa: S603 - our own
    assert (0, b"") == (done.returncode, done.stderr)
    return {path: digest for digest, path in (line.split("  ") for line in done.stdout.decode("ascii").splitlines())}


def pythons(minor: int) -> list[str]:
    """Return every Python 3.`minor` of this machine, by what it calls itself: those on the path, and those of pyenv."""
    name = f"python3.{minor}"
    places = [Path(each) for each in os.environ.get("PATH", "").split(os.pathsep) if each]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    files = [*(each / name for each in places if each.name != "shims"), *sorted(pyenv.glob(f"3.{minor}[.-]*/bin/{name}"))]
    return sorted({str(each.resolve()) for each in files if os.access(each, os.X_OK) and _is(each, minor)})


def _is(python: Path, minor: int) -> bool:
    asked = [str(python), "-I", "-S", "-c", "import sys; print(*sys.version_info[:2])"]
    answer = subprocess.run(asked, capture_output=True, check=False)  # noqa: S603 - what is on the path is run
    return answer.stdout == f"3 {minor}\n".encode()


def test_every_golden_snapshot_replays_to_its_golden_plans() -> None:
    """Here and now; on a difference of words: the golden files are made anew by `python -m properties.replay --write`."""
    assert [] == differing(digests())


def test_the_golden_plans_have_every_situation() -> None:
    """And the file of the situations has a plan for each."""
    texts = [each.read_text(encoding="utf-8") for each in GOLDEN.glob("*.plan.json")]
    shown = {name for each in texts for name in re.findall(r'"situation": "(\w+)"', each)}
    assert {each.name for each in Situation} == shown
    assert len(Situation) <= len(json.loads((GOLDEN / "situations.plan.json").read_bytes()))


@pytest.mark.parametrize("surroundings", SURROUNDINGS)
def test_no_surroundings_change_a_plan(surroundings: str, library: Path) -> None:
    """Neither hashes, nor the time zone, the locale, the terminal, nor Python's own switches."""
    options, environment = SURROUNDINGS[surroundings]
    assert [] == differing(replayed_by(sys.executable, library, options, environment))


def test_every_python_makes_the_same_plans(library: Path) -> None:
    """Every one that this machine has, beside the one that runs this."""
    found = [sys.executable, *(each for minor in PYTHONS for each in pythons(minor))]
    assert {} == {each: wrong for each in found if (wrong := differing(replayed_by(each, library)))}


def test_a_plan_that_differs_is_named() -> None:
    """The comparison itself: one byte, one file too many and one too few are seen."""
    found = recorded()
    path = "examples/down.txt"
    assert [path] == differing({**found, path: sha256(b"other").hexdigest()})
    assert ["new.txt"] == differing({**found, "new.txt": ""})
    assert [path] == differing({each: digest for each, digest in found.items() if each != path})
