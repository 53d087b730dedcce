"""What can go wrong with a call, and how often; drawn from a seed, one draw an opportunity, so that a run can be told again
with fewer faults."""

from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum
from random import Random

from attrs import define, field, frozen

Mischief = Callable[[Random], None]


class Fate(Enum):
    """What becomes of one call."""

    WELL = "it does what it should"
    FAILS = "it fails without effect"
    FAILS_HALF = "it fails half way"
    UNANSWERED = "no answer, and no effect"
    DONE_UNANSWERED = "no answer, but it took effect"
    LATE = "no answer, and it takes effect later"
    HANGS = "it never returns in time"
    KILLED_BEFORE = "this program is killed just before it"
    KILLED_AFTER = "this program is killed just after it"


READS = (Fate.FAILS, Fate.FAILS, Fate.FAILS, Fate.KILLED_BEFORE)
ROUTER_READS = (*READS, Fate.FAILS)
WRITES = (Fate.FAILS, Fate.FAILS, Fate.DONE_UNANSWERED, Fate.KILLED_BEFORE, Fate.KILLED_AFTER)
COMMANDS = (
    Fate.FAILS, Fate.FAILS_HALF, Fate.UNANSWERED, Fate.DONE_UNANSWERED, Fate.LATE, Fate.HANGS, Fate.KILLED_BEFORE,
    Fate.KILLED_AFTER,
)  # fmt: skip
PROBES = (Fate.UNANSWERED, Fate.KILLED_BEFORE, Fate.KILLED_AFTER)


@frozen
class Weather:
    """How bad a world is: how often a call has a fault, and how often something happens beside it; per call."""

    faults: float = 0.03
    mischief: float = 0.02


@define(eq=False)
class Dice:
    """Draws faults. `only` keeps a run to those of its faults that are numbered there (None: all). `drawn`: how many, by kind."""

    seed: int
    weather: Weather
    only: frozenset[int] | None = None
    fair: bool = False
    thrown: int = 0
    fell: list[int] = field(factory=list)
    drawn: Counter[str] = field(factory=Counter)
    chance: Random = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Begin the row of draws that belongs to the seed."""
        self.chance = Random(f"dice {self.seed}")

    def fate(self, fates: Sequence[Fate]) -> Fate:
        """Draw what becomes of a call that can go wrong in these ways."""
        chance = self._falls(self.weather.faults)
        fate = chance.choice(fates) if chance is not None else Fate.WELL
        if fate is not Fate.WELL:
            self.drawn[fate.name] += 1
        return fate

    def mischief(self, choices: Sequence[Mischief]) -> None:
        """Let one of these happen, once in a while."""
        chance = self._falls(self.weather.mischief)
        if chance is not None and choices:
            mischief = chance.choice(choices)
            self.drawn[mischief.__name__] += 1
            mischief(chance)

    def _falls(self, often: float) -> Random | None:
        """Return the source of the details of a fault, or None for the many times when there is none."""
        if self.fair:
            return None
        self.thrown += 1
        if self.chance.random() >= often or (self.only is not None and self.thrown not in self.only):
            return None
        self.fell.append(self.thrown)
        return Random(f"{self.seed} {self.thrown}")
