"""Laws for deploys broken by hand, to test the proof of C1 to C3: each must fail in the simulated world, by a named invariant.

    python -m properties.deploy_mutants                    break the law in every way, and say by what each was found
    python -m properties.deploy_mutants "never cleared"    break it in this way alone

As in `mutants`: a patch of the source, applied to a copy of the core, with which a Python of its own sails seeds.
"""

import subprocess
import sys
from collections.abc import Iterator
from os import environ
from pathlib import Path
from shutil import copytree, ignore_patterns
from tempfile import TemporaryDirectory
from time import monotonic

from attrs import field, frozen

import gordon_core
from properties.deploy_voyage import DeployVoyage, deploy_course, failure_of

ROOT = Path(__file__).parent.parent
MOST_SEEDS = 400
_LONGEST_S = 240.0


@frozen
class DeployMutant:
    """One way to break the law. `seed` is one that showed it, and is tried first."""

    name: str
    invariant: str
    module: str
    old: str
    new: str = ""
    seed: int = field(default=0, kw_only=True)

    def broken(self, core: Path) -> str:
        """Return the text of its module, broken. Raise LookupError where the patch does not apply exactly once."""
        text = (core / self.module).read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            message = (
                f"the mutant {self.name!r} must apply once, and its text is {text.count(self.old)} times in"
                f" gordon_core/{self.module}; write it anew in properties/deploy_mutants.py, for the core as it is"
            )
            raise LookupError(message)
        return text.replace(self.old, self.new)


_DEPLOYS, _FACTS, _CANDIDATES = "deploys.py", "deploy_facts.py", "candidates.py"
_RESTORING = "    Row(_S.RESTORING, facts.must_restore, _recover),\n"
_CLEARING = "    Row(_S.CLEARING, facts.must_clear, _clear),\n"
_OLD_ROUTED = "    Row(_S.OLD_ROUTED, facts.is_old_routed, _withdraw),\n"

MUTANTS = (
    DeployMutant("named in ACTIVE before it is ready", "P4", _DEPLOYS, "    Row(_S.UNPROBED, facts.needs_a_probe, _probe),\n"),
    DeployMutant(
        "started before it is journalled", "C1", _DEPLOYS, "    Row(_S.UNJOURNALLED, facts.is_unjournalled, _journal),\n",
    ),
    DeployMutant("never cleared", "C1", _DEPLOYS, _CLEARING),
    DeployMutant(
        "backed out without the journal", "C1", _DEPLOYS, "    Row(_S.DISOWNING, facts.must_journal_again, _journal),\n",
    ),
    DeployMutant(
        "what is routed is cleared", "C2", _CANDIDATES, "    Row(_S.CANDIDATE_ROUTED, _ALIVE, _may_be_routed),\n",
        seed=126,
    ),
    DeployMutant(
        "all that runs is cleared", "C2", _CANDIDATES,
        "    Row(_S.UNSELECTED, _RUNNING, _is_all_there_is),\n    Row(_S.NAMESAKE, _RUNNING, _bears_the_canonical_name),\n",
        seed=1752,
    ),
    DeployMutant(
        "what somebody else made is cleared", "C2", _CANDIDATES, "    Row(_S.FOREIGN, _ANY, _is_foreign),\n", seed=61,
    ),
    DeployMutant(
        "the old one stopped although both may run", "P6", _FACTS,
        "    return must_yield(deployment) and deployment.subject.seen_as not in",
        "    return not own_started_at(deployment) and deployment.subject.declared is not None"
        " and deployment.subject.seen_as not in",
    ),
    DeployMutant(
        "the old one withdrawn although both may run", "P7", _FACTS,
        "    return must_yield(deployment) and not facts.is_clear(deployment.subject)\n",
        "    return not own_started_at(deployment) and deployment.subject.declared is not None"
        " and not facts.is_clear(deployment.subject)\n",
    ),
    DeployMutant("the old one stopped while routed", "P2", _DEPLOYS, _OLD_ROUTED),
    DeployMutant("both run at once", "F5", _DEPLOYS, "    Row(_S.OLD_UP, facts.is_old_up, _stop),\n"),
    DeployMutant("never restored", "C3", _DEPLOYS, _RESTORING),
    DeployMutant("no way back", "C3", _DEPLOYS, "    Row(_S.BACKING_OUT, facts.can_back_out, _go_back),\n", seed=373),
    DeployMutant("the old one not marked", "P5", _DEPLOYS, "old is None or isinstance(", "old is None or not isinstance("),
    DeployMutant("no name given up", "C3", _DEPLOYS, "    Row(_S.CROWDED, facts.is_crowded, _make_way),\n", seed=96),
    DeployMutant(
        "leftovers left", "C3", _DEPLOYS, "    Row(_S.LEFTOVER, facts.has_leftovers, _clear_leftovers),\n",
    ),
)  # fmt: skip


@frozen
class Found:
    """By what a mutant was found: the words of the failure, and what else is to be told."""

    mutant: DeployMutant
    words: str
    told: str
    took_s: float


def tried(mutant: DeployMutant) -> Found:
    """Break a copy of the core, and sail with it in another Python. Raise LookupError where the patch does not apply."""
    began_s = monotonic()
    with TemporaryDirectory(prefix="gordon-mutant-") as place:
        core = Path(place) / "gordon_core"
        copytree(ROOT / "gordon_core", core, ignore=ignore_patterns("__pycache__"))
        (core / mutant.module).write_text(mutant.broken(core), encoding="utf-8")
        done = subprocess.run(  # noqa: S603 - our own program
            (sys.executable, "-P", "-W", "ignore", "-m", __spec__.name, "--sail", str(core), mutant.invariant, str(mutant.seed)),
            cwd=ROOT,
            env=environ | {"PYTHONPATH": f"{place}:{ROOT}"},
            capture_output=True,
            text=True,
            timeout=_LONGEST_S,
            check=False,
        )
    words, _, told = done.stdout.strip().partition("\n")
    return Found(mutant, words, told or done.stderr[-500:], monotonic() - began_s)


def _failures(first: int) -> Iterator[tuple[int, str, str]]:
    """Yield what each seed breaks: the invariant and its words, or a crash."""
    for seed in (first, *range(MOST_SEEDS)):
        try:
            violated = failure_of(DeployVoyage(deploy_course(seed)))
        except Exception as crash:  # noqa: BLE001 - whatever a broken law does is told
            yield seed, "a crash", repr(crash)
        else:
            if violated is not None:
                yield seed, violated.invariant, str(violated)


def sail(core: Path, invariant: str, first: int) -> None:
    """Sail with the core that is imported until the invariant breaks; print its words first, then what else broke."""
    assert Path(gordon_core.__file__).parent == core, f"{gordon_core.__file__} was imported, and not {core}"
    found, others = "nothing", []
    for seed, broken, words in _failures(first):
        if broken == invariant:
            found = f"{words} (seed {seed})"
            break
        others.append(broken)
    sys.stdout.write(f"{found}\n{' '.join(others)}\n")


def main() -> int:
    """Try the mutants that are named, or all; return how many were not found by their invariant."""
    if sys.argv[1:2] == ["--sail"]:
        sail(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
        return 0
    missed = 0
    for mutant in [each for each in MUTANTS if each.name in sys.argv[1:] or not sys.argv[1:]]:
        found = tried(mutant)
        missed += not found.words.startswith(f"{mutant.invariant}:")
        words = f"{found.words[:110]} ...{found.words[-12:]}  [{found.told[-100:]}]"
        sys.stdout.write(f"{mutant.name:44} {mutant.invariant:4} {found.took_s:5.1f} s  {words}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{missed} not found by the invariant that names them\n")
    return missed


if __name__ == "__main__":
    sys.exit(main())
