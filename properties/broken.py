"""What breaks the core by hand, and sails with it until the fault is found; `mutants` and `deploy_mutants` list the faults.

    python -m properties.broken WORLD CORE INVARIANT SEED     what the program of a mutant is; `tried` starts it

A mutant is a patch of the source of `gordon_core`. It is applied to a copy, and a Python of its own sails seeds with that. A
patch whose text is not found exactly once is an error: whoever changes the core changes its mutants. Which invariant a seed
breaks first is a matter of luck, so that seeds are sailed until one breaks the expected one; the others are told as well.
MUTANT_SEEDS says how many are sailed after the one that is known (1,000; 0 asks whether those that are known still show them).
"""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from os import environ
from pathlib import Path
from shutil import copytree, ignore_patterns
from tempfile import TemporaryDirectory
from time import monotonic
from typing import ClassVar

from attrs import field, frozen

import gordon_core
from properties import deploy_voyage, voyage
from properties.story import Violated

ROOT = Path(__file__).parent.parent
MOST_SEEDS = int(environ.get("MUTANT_SEEDS", "1000"))
Patch = tuple[str, str, str]
"""A module, its text, and what stands in the place of that."""
_LONGEST_S = 1200.0


@frozen
class Mutant:
    """One way to break the core. `also` is broken with it; `seed` is one that showed it, and is tried first."""

    world: ClassVar[str] = "recovery"
    """The simulated world in which it must be found."""
    listed: ClassVar[str] = "mutants"
    """The module here that lists it."""

    name: str
    invariant: str
    module: str
    old: str
    new: str = ""
    also: tuple[Patch, ...] = field(default=(), kw_only=True)
    seed: int = field(default=0, kw_only=True)

    def broken(self, core: Path) -> dict[str, str]:
        """Return the text of each of its modules, broken. Raise LookupError where a patch does not apply exactly once."""
        texts: dict[str, str] = {}
        for module, old, new in ((self.module, self.old, self.new), *self.also):
            text = texts.get(module) or (core / module).read_text(encoding="utf-8")
            if text.count(old) != 1:
                message = (
                    f"the mutant {self.name!r} must apply once, and its text is {text.count(old)} times in"
                    f" gordon_core/{module}; write it anew in properties/{self.listed}.py, for the core as it is"
                )
                raise LookupError(message)
            texts[module] = text.replace(old, new)
        return texts


@frozen
class DeployMutant(Mutant):
    """One way to break the laws for deploys and for candidates."""

    world: ClassVar[str] = "deploys"
    listed: ClassVar[str] = "deploy_mutants"


@frozen
class Verdict:
    """By what a mutant was found: the words of the failure, and how often each other invariant broke before."""

    mutant: Mutant
    found: str
    told: str
    took_s: float

    @property
    def is_found(self) -> bool:
        """Return whether it was found by the invariant that names it."""
        return self.found.startswith(f"{self.mutant.invariant}: ")


def tried(mutant: Mutant) -> Verdict:
    """Break a copy of the core, and sail with it in another Python. Raise LookupError where the patch does not apply."""
    began_s = monotonic()
    with TemporaryDirectory(prefix="gordon-mutant-") as place:
        core = Path(place) / "gordon_core"
        copytree(ROOT / "gordon_core", core, ignore=ignore_patterns("__pycache__"))
        for module, text in mutant.broken(core).items():
            (core / module).write_text(text, encoding="utf-8")
        found, told = _sailed_with(core, mutant)
    return Verdict(mutant, found, told, monotonic() - began_s)


def _sailed_with(core: Path, mutant: Mutant) -> tuple[str, str]:
    """Return what a Python of its own finds with this core, and what else it tells."""
    options = ("-P", "-W", "ignore", "-m", "properties.broken")
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            (sys.executable, *options, mutant.world, str(core), mutant.invariant, str(mutant.seed)),
            cwd=ROOT,
            env=environ | {"PYTHONPATH": f"{core.parent}:{ROOT}"},
            capture_output=True,
            text=True,
            timeout=_LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "nothing", f"it was still sailing after {_LONGEST_S:.0f} s"
    found, _, told = done.stdout.strip().partition("\n")
    return found, told or done.stderr[-500:]


def _recovery(seed: int) -> Violated | None:
    return voyage.failure_of(voyage.Voyage(voyage.course(seed)))


def _deploys(seed: int) -> Violated | None:
    return deploy_voyage.failure_of(deploy_voyage.DeployVoyage(deploy_voyage.deploy_course(seed)))


_WORLDS: dict[str, Callable[[int], Violated | None]] = {Mutant.world: _recovery, DeployMutant.world: _deploys}


def _failures(world: str, first: int) -> Iterator[tuple[int, str, str]]:
    """Yield what each seed breaks: the invariant and its words, or a crash."""
    for seed in (first, *range(MOST_SEEDS)):
        try:
            violated = _WORLDS[world](seed)
        except Exception as crash:  # noqa: BLE001 - whatever a broken core does is told
            yield seed, "a crash", repr(crash)
        else:
            if violated is not None:
                yield seed, violated.invariant, str(violated)


def main(world: str, core: str, invariant: str, first: str) -> None:
    """Sail with the core that is imported until the invariant breaks; print its words first, then what else broke."""
    assert Path(gordon_core.__file__).parent == Path(core), f"{gordon_core.__file__} was imported, and not {core}"
    others: Counter[str] = Counter()
    found = "nothing"
    for seed, broken, words in _failures(world, int(first)):
        if broken == invariant:
            found = f"{words} (seed {seed})"
            break
        others[broken] += 1
    sys.stdout.write(f"{found}\n{', '.join(f'{each} {times}' for each, times in others.most_common())}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
