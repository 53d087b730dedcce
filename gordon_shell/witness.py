"""Who is told what passes decide and do: the journal, notices, metrics, logs. Listening changes nothing of what is done."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Final, Protocol

from gordon_core.effects import Outcome
from gordon_core.planner import Decision, Plan
from gordon_core.snapshot import Snapshot, Subject
from gordon_shell.report import Report

MOST_FAULTS: Final = 100
"""How many faults of a witness are kept until a report takes them."""


class Witness(Protocol):
    """Is told of each pass, in the thread that does it: what takes long belongs elsewhere. What it raises is in a report's
    `faults`, and ends nothing."""

    def planned(self, plan: Plan, *, is_whole: bool) -> None:
        """Hear of a look, before anything that it calls for is done; one or more in each pass. `is_whole`: at every service."""

    def stepped(self, decided: Snapshot, decision: Decision, outcome: Outcome, after: Subject) -> None:
        """Hear of one effect that was carried out, from the thread of its job; side by side with others, and after a pass, too.

        `decided` is the service with those that the decision looked at, `decision` one of `plan(decided)`, with an effect;
        `after` is the service with the result in it. What came back after its deadline is not told.
        """

    def left(self, plan: Plan) -> None:
        """Hear how a service was left, beside others that have to do with it, when its job has ended or nothing was called for.

        The next look may come late: at the end of a pass in which another service takes long, or a cadence later.
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

    def left(self, plan: Plan) -> None:
        """Say nothing."""

    def ended(self, report: Report) -> None:
        """Say nothing."""


class Witnesses:
    """Several as one, told in this order, each of them whatever another raises, which is raised at the end."""

    def __init__(self, *each: Witness) -> None:
        """Tell these."""
        self._each = each

    def planned(self, plan: Plan, *, is_whole: bool) -> None:
        """Tell all of them."""
        self._tell(lambda one: one.planned(plan, is_whole=is_whole))

    def stepped(self, decided: Snapshot, decision: Decision, outcome: Outcome, after: Subject) -> None:
        """Tell all of them."""
        self._tell(lambda one: one.stepped(decided, decision, outcome, after))

    def left(self, plan: Plan) -> None:
        """Tell all of them."""
        self._tell(lambda one: one.left(plan))

    def ended(self, report: Report) -> None:
        """Tell all of them."""
        self._tell(lambda one: one.ended(report))

    def _tell(self, tell: Callable[[Witness], None]) -> None:
        with ExitStack() as stack:
            for one in reversed(self._each):
                stack.callback(tell, one)


class Guarded:
    """Tells another, and keeps what that raises, which ends neither a pass nor the work on a service."""

    def __init__(self, other: Witness) -> None:
        """Tell this one."""
        self._other = other
        self._faults: deque[Exception] = deque(maxlen=MOST_FAULTS)

    def planned(self, plan: Plan, *, is_whole: bool) -> None:
        """Tell it."""
        with self._kept():
            self._other.planned(plan, is_whole=is_whole)

    def stepped(self, decided: Snapshot, decision: Decision, outcome: Outcome, after: Subject) -> None:
        """Tell it."""
        with self._kept():
            self._other.stepped(decided, decision, outcome, after)

    def left(self, plan: Plan) -> None:
        """Tell it."""
        with self._kept():
            self._other.left(plan)

    def ended(self, report: Report) -> None:
        """Tell it."""
        with self._kept():
            self._other.ended(report)

    @property
    def has_faults(self) -> bool:
        """Tell whether anything was raised since somebody asked."""
        return bool(self._faults)

    def faults(self) -> tuple[Exception, ...]:
        """Return what was raised since somebody asked."""
        found = tuple(self._faults)
        for _ in found:
            self._faults.popleft()
        return found

    @contextmanager
    def _kept(self) -> Iterator[None]:
        try:
            yield
        except Exception as fault:  # noqa: BLE001 - whatever a listener does, recovery goes on; it is in the report
            self._faults.append(fault)


SILENT: Witness = Silent()
