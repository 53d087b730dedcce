"""Many worlds with deploys sailed, and what each invariant has to say of all of them."""

from collections import Counter
from collections.abc import Iterable

from attrs import define, field

from gordon_core.stages import Stage
from properties.deploy_voyage import DeployCourse, DeployVoyage, deploy_course, failure_of

_MOST_TOLD = 70


def minimal(course: DeployCourse, invariant: str, fell: list[int], most_tries: int = 200) -> DeployVoyage:
    """Return the run with as few of its faults as still break the same invariant, already sailed."""
    best, size, tries = tuple(fell), max(1, len(fell) // 2), 0
    while best and size and tries < most_tries:
        fewer = [best[:start] + best[start + size :] for start in range(0, len(best), size)]
        tries += len(fewer)
        found = next((each for each in fewer if _breaks(course, each, invariant)), None)
        best, size = (found, min(size, max(1, len(found) // 2))) if found is not None else (best, size // 2)
    voyage = DeployVoyage(course, frozenset(best))
    failure_of(voyage)
    return voyage


def _breaks(course: DeployCourse, fell: tuple[int, ...], invariant: str) -> bool:
    found = failure_of(DeployVoyage(course, frozenset(fell)))
    return found is not None and found.invariant == invariant


@define(eq=False)
class DeployFleet:
    """What came of many seeds."""

    seeds: int = 0
    judged: Counter[str] = field(factory=Counter)
    stages: Counter[Stage] = field(factory=Counter)
    broken: dict[str, list[int]] = field(factory=dict)

    def sail(self, seeds: Iterable[int]) -> "DeployFleet":
        """Sail these seeds."""
        for seed in seeds:
            voyage = DeployVoyage(deploy_course(seed))
            violated = failure_of(voyage)
            self.seeds += 1
            self.judged.update(voyage.court.judged)
            self.stages.update(voyage.stages)
            if violated is not None:
                self.broken.setdefault(violated.invariant, []).append(seed)
        return self

    def demand(self, invariant: str, at_least: int) -> None:
        """Raise AssertionError, with a minimal story, where an invariant was broken, or judged less often a hundred seeds."""
        seeds = self.broken.get(invariant, [])
        assert not seeds, tell(seeds[0], invariant)
        judged = self.judged[invariant] * 100 / self.seeds
        assert judged >= at_least, f"{invariant} was judged {judged:.1f} times a hundred seeds, which proves too little"


def tell(seed: int, invariant: str) -> str:
    """Return the shortest story in which a seed breaks an invariant."""
    course, whole = deploy_course(seed), DeployVoyage(deploy_course(seed))
    failure_of(whole)
    voyage = minimal(course, invariant, whole.dice.fell)
    return f"\n{voyage.court.found}\nseed {seed}; {course}\n{voyage.world.story.last(_MOST_TOLD)}"
