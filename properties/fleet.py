"""Many worlds sailed, and what each invariant has to say of all of them.

python -m properties.fleet 50000 3000     sail the worlds 50000 to 52999, and print how far that went
"""

import sys
from collections import Counter
from collections.abc import Iterable
from time import perf_counter

from attrs import define, field

from properties.voyage import Course, Voyage, course, explain, failure_of, hinted, minimal


def drawn(seed: int) -> Course:
    """Draw the course of a seed: every other one hears of events, and makes targeted passes."""
    return hinted(seed) if seed % 2 else course(seed)


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
            voyage = Voyage(drawn(seed))
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
            first = drawn(seeds[0])
            voyage = Voyage(first)
            violated = failure_of(voyage)
            shortest = minimal(first, invariant, voyage.dice.fell)
            again = failure_of(Voyage(first, shortest.only)) or violated
            assert again is not None, f"{invariant} was broken by seed {seeds[0]}, and was not when told again"
            message = f"{explain(shortest, again)}\n({len(seeds)} of {self.seeds} seeds: {seeds[:20]})"
            raise AssertionError(message)
        judged = self.judged[invariant] * 100 / self.seeds
        assert judged >= at_least, f"{invariant} was judged {judged:.1f} times a hundred seeds, which proves too little"


def main(first: int, many: int) -> int:
    """Sail so many worlds, print how far that went, and return how many invariants were broken."""
    began_s = perf_counter()
    fleet = Fleet().sail(range(first, first + many))
    took_s = perf_counter() - began_s
    sys.stdout.write(f"{fleet.seeds:,} worlds, {fleet.passes:,} passes, {took_s:.0f} s: {fleet.passes / took_s:.0f} a second\n")
    sys.stdout.write(f"judged: {', '.join(f'{name} {times:,}' for name, times in sorted(fleet.judged.items()))}\n")
    for name, seeds in fleet.broken.items():
        sys.stdout.write(f"{name} was broken by the seeds {seeds}\n")
    return len(fleet.broken)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
