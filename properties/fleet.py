"""Many worlds sailed, and what each invariant has to say of all of them."""

from collections import Counter
from collections.abc import Iterable

from attrs import define, field

from properties.voyage import Voyage, course, explain, failure_of, minimal


@define(eq=False)
class Fleet:
    """What came of many seeds: how often each invariant was judged, and the story of its first violation, if any."""

    seeds: int = 0
    passes: int = 0
    judged: Counter[str] = field(factory=Counter)
    situations: Counter[str] = field(factory=Counter)
    broken: dict[str, list[int]] = field(factory=dict)

    def sail(self, seeds: Iterable[int]) -> "Fleet":
        """Sail these seeds."""
        for seed in seeds:
            voyage = Voyage(course(seed))
            violated = failure_of(voyage)
            self.seeds += 1
            self.passes += voyage.passes
            self.judged.update(voyage.court.judged)
            self.situations.update(voyage.situations)
            if violated is not None:
                self.broken.setdefault(violated.invariant, []).append(seed)
        return self

    def demand(self, invariant: str, at_least: int = 1) -> None:
        """Raise AssertionError with a minimal story if an invariant was broken, or was not judged so often a hundred seeds."""
        seeds = self.broken.get(invariant, [])
        if seeds:
            drawn = course(seeds[0])
            voyage = Voyage(drawn)
            violated = failure_of(voyage)
            shortest = minimal(drawn, invariant, voyage.dice.fell)
            again = failure_of(Voyage(drawn, shortest.only)) or violated
            assert again is not None, f"{invariant} was broken by seed {seeds[0]}, and was not when told again"
            message = f"{explain(shortest, again)}\n({len(seeds)} of {self.seeds} seeds: {seeds[:20]})"
            raise AssertionError(message)
        judged = self.judged[invariant] * 100 / self.seeds
        assert judged >= at_least, f"{invariant} was judged {judged:.1f} times a hundred seeds, which proves too little"
