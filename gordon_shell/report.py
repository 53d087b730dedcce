"""What one pass did and left."""

from attrs import field, frozen

from gordon_core.effects import Result
from gordon_core.planner import Decision, Plan
from gordon_shell.ports import Service


@frozen(eq=False)
class Report:
    """What one pass did and left: its last plan, all results by service, and what went wrong beside them.

    `trouble` are sentences about the store, the policy and hung commands; `faults` are faults of this program, or of a witness.
    `is_whole`: the pass looked at everything; otherwise only at some services, which are those with results, and the others are
    as they were. `took_s` is how long it took, where it looked at everything.
    """

    plan: Plan
    results: dict[Service, tuple[Result, ...]] = field(factory=dict)
    trouble: tuple[str, ...] = ()
    faults: tuple[BaseException, ...] = ()
    is_whole: bool = True
    took_s: float = 0.0

    @property
    def held(self) -> tuple[Decision, ...]:
        """Return what is not as the operator wants it, and stands still."""
        return tuple(each for each in self.plan.decisions if each.is_held)

    @property
    def is_well(self) -> bool:
        """Return whether every service is as desired, or on its way without a failure."""
        return not (self.held or self.trouble or self.faults or not self.plan.is_quiet)
