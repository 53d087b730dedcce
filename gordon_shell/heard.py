"""What was heard of a pass, until it is written down."""

from collections.abc import Callable

from attrs import frozen

from gordon_core.effects import Effect, Outcome
from gordon_core.observation import Clock
from gordon_core.planner import Plan
from gordon_core.snapshot import Snapshot, Subject


@frozen(eq=False)
class Looking:
    """A look was taken; it was over at `clock`."""

    plan: Plan
    is_whole: bool
    clock: Clock


@frozen(eq=False)
class Stepping:
    """A step was taken of a service; see Witness."""

    decided: Snapshot
    subject: Subject
    effect: Effect
    outcome: Outcome
    after: Subject


Heard = Looking | Stepping

Take = Callable[[], list[Heard]]
"""Takes what was heard so far of one pass, in its order; nothing once the pass is over, since all else of it comes then."""
