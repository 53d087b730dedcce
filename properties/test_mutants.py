"""The proof is tested: cores broken by hand fail, by the invariant that names what is wrong with them."""

from pathlib import Path

import pytest

import gordon_core
from properties import deploy_mutants
from properties.broken import Mutant, tried
from properties.mutants import BUDGET, LIVENESS, MUTANTS, PUBLICATION, TUNED

CORE = Path(gordon_core.__file__).parent


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda each: each.name)
def test_a_broken_core_fails_by_the_invariant_that_names_its_fault(mutant: Mutant) -> None:
    """In the simulated world, within a bounded number of seeds."""
    verdict = tried(mutant)
    assert verdict.is_found, f"{verdict.found}; {verdict.told}"


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda each: each.name)
def test_every_mutant_is_one_of_the_core_as_it_is(mutant: Mutant) -> None:
    """Its text is in the core, exactly once, and what it makes of it is Python."""
    for module, broken in mutant.broken(CORE).items():
        compile(broken, module, "exec")
        assert (CORE / module).read_text(encoding="utf-8") != broken


def test_there_are_more_than_twenty_against_all_parts_of_the_proof() -> None:
    """P8 is kept by the router, B6 and the determinism of the planner have suites of their own, and L6 is the crew's."""
    assert len({each.name for each in MUTANTS}) == len(MUTANTS) >= 20
    assert {each.invariant for each in PUBLICATION} == {"P1", "P2", "P3", "P4", "P5", "P6", "P7", "P9", "P10"}
    assert {each.invariant for each in BUDGET} == {"B1", "B2", "B3", "B4", "B5", "B7", "F1", "F2", "F3"}
    assert {each.invariant for each in LIVENESS} == {"L1", "L2", "L3", "L4", "L5"}
    assert {each.invariant for each in TUNED} == {"T1", "T2", "T3", "L1"}
    assert {"C1", "C2", "C3", "T1"} <= {each.invariant for each in deploy_mutants.MUTANTS}


def test_a_mutant_of_another_core_is_refused() -> None:
    """A patch that no longer fits is never tried."""
    stale = Mutant("of last year", "P1", "facts.py", "def is_this_at_all(", "")
    with pytest.raises(LookupError, match=r"'of last year' must apply once, and its text is 0 times in gordon_core/facts\.py"):
        tried(stale)
