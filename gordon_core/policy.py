"""The constants of recovery as data, every one overridable per service, and the ladder of waits."""

from enum import Enum

from attrs import field, frozen
from attrs.validators import deep_iterable, ge, gt, min_len


class WhenUnhealthy(Enum):
    """What recovery does with a container that is unhealthy at the threshold; withdrawn, it is left running."""

    RESTART = "restart"
    WITHDRAW = "withdraw"


@frozen
class Policy:
    """How patient recovery is. Durations are seconds.

    The defaults are those of spec/recovery.md: the third charge opens the ladder of 1, 2, 4, 8 and then 15 minutes. With
    `exit_0_is_done` a container that ended by itself with exit code 0 is done, and is not started again.
    """

    free_failures: int = field(default=3, validator=ge(1))
    ladder_s: tuple[float, ...] = field(default=(60.0, 120.0, 240.0, 480.0, 900.0), validator=(min_len(1), deep_iterable(gt(0))))
    stable_window_s: float = field(default=300.0, validator=gt(0))
    longest_gap_s: float = field(default=180.0, validator=gt(0))
    unhealthy_threshold: int = field(default=2, validator=ge(1))
    readiness_s: float = field(default=30.0, validator=ge(0))
    shortest_deadline_s: float = field(default=120.0, validator=gt(0))
    exit_0_is_done: bool = False
    unhealthy: WhenUnhealthy = WhenUnhealthy.RESTART

    def wait_s(self, failures: int) -> float:
        """Return how long after its latest charge a generation with so many failures waits; 0 while attempts are free."""
        step = failures - self.free_failures
        if step < 0:
            return 0.0
        return self.ladder_s[min(step, len(self.ladder_s) - 1)]

    def deadline_s(self, stop_grace_s: float) -> float:
        """Return what one service may take in one pass: the larger of two minutes and grace + readiness + 30 s."""
        return max(self.shortest_deadline_s, stop_grace_s + self.readiness_s + 30.0)


@frozen
class Constant:
    """One constant of a service that is not left to its default: its name, its value, and what set it, for print."""

    name: str
    value: str
    origin: str

    def __str__(self) -> str:
        """Print as one clause: "free_failures = 5, by label gordon.recovery.free_failures"."""
        return f"{self.name} = {self.value}, by {self.origin}"


DEFAULT_POLICY = Policy()
DEFAULT_STOP_GRACE_S = 10.0
PASS_CADENCE_S = 15.0
TIMER_CADENCE_S = 120.0
CLEANUP_DEADLINE_S = 30.0
FULL_LOOK_S = 300.0
