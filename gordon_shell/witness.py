"""Who is told what passes decide and do: the journal, notices, metrics, logs. Listening changes nothing of what is done."""

from typing import Protocol

from gordon_core.effects import Outcome
from gordon_core.planner import Decision, Plan
from gordon_core.snapshot import Snapshot, Subject
from gordon_shell.report import Report


class Witness(Protocol):
    """Is told of each pass, in the thread that does it: what takes long belongs elsewhere. It must not raise."""

    def planned(self, plan: Plan, *, is_whole: bool) -> None:
        """Hear of a look, before anything that it calls for is done; one or more in each pass. `is_whole`: at every service."""

    def stepped(self, decided: Snapshot, decision: Decision, outcome: Outcome, after: Subject) -> None:
        """Hear of one effect that was carried out, from the thread of its job; side by side with others, and after a pass, too.

        `decided` is the service with those that the decision looked at, `decision` one of `plan(decided)`, with an effect;
        `after` is the service with the result in it. What came back after its deadline is not told.
        """

    def ended(self, report: Report) -> None:
        """Hear that a pass is over, or that something came of targeted ones (`is_whole` is False): its plan is then of all
        services, as they are known."""


class Silent:
    """A witness of nothing."""

    def planned(self, plan: Plan, *, is_whole: bool) -> None:
        """Say nothing."""

    def stepped(self, decided: Snapshot, decision: Decision, outcome: Outcome, after: Subject) -> None:
        """Say nothing."""

    def ended(self, report: Report) -> None:
        """Say nothing."""


class Witnesses:
    """Several as one, told in this order."""

    def __init__(self, *each: Witness) -> None:
        """Tell these."""
        self._each = each

    def planned(self, plan: Plan, *, is_whole: bool) -> None:
        """Tell all of them."""
        for one in self._each:
            one.planned(plan, is_whole=is_whole)

    def stepped(self, decided: Snapshot, decision: Decision, outcome: Outcome, after: Subject) -> None:
        """Tell all of them."""
        for one in self._each:
            one.stepped(decided, decision, outcome, after)

    def ended(self, report: Report) -> None:
        """Tell all of them."""
        for one in self._each:
            one.ended(report)


SILENT: Witness = Silent()
