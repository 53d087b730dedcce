"""The verdict over an hour of chaos: what is about the planner itself, for which alone it is asked again.

Whether it decides every recorded snapshot in the same way, has one answer for each service, foresees an end, and decides the same
ten years earlier or later.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from attrs import define, evolve

from gordon_core.document import read_plan, write_plan
from gordon_core.forecast import MOST_STEPS, forecast
from gordon_core.planner import Plan, plan
from gordon_core.record import PlanRecord, Role
from gordon_core.sentences import record as written
from gordon_core.situations import Situation
from gordon_core.snapshot import Snapshot
from gordon_shell.journal import Kind, Record
from tests.chaos.judge import Judge

_TEN_YEARS_S = 10 * 365 * 86400.0


@define(eq=False)
class Plans(Judge):
    """Judges D2 to D4 and B6."""

    planner: Callable[[Snapshot], Plan] = plan
    foreseer: Callable[[Snapshot], tuple[Plan, ...]] = forecast

    def over(self, records: Iterable[Record]) -> "Plans":
        """Judge all records."""
        for each in records:
            self._again(each)
            self._whole(each, read_plan(each.plan))
        return self

    def _again(self, record: Record) -> None:
        snapshot, clock = record.snapshot, record.clock
        now = written(self.planner(snapshot))
        self.demand("D2", write_plan(now) == record.plan, record, "it is decided otherwise now")
        for years_s in (-_TEN_YEARS_S, _TEN_YEARS_S):
            # Subjects made anew: a decision is kept with its subject.
            subjects = [evolve(each) for each in snapshot.subjects]
            then = written(self.planner(Snapshot(evolve(clock, wall_s=clock.wall_s + years_s), subjects)))
            self.demand("B6", _decided(then) == _decided(now), record, "the wall clock changes what is decided")
        if record.kind is Kind.LOOK:
            most = MOST_STEPS * sum(1 + len(each.superseded) + len(each.candidates) for each in snapshot.subjects)
            road = self.foreseer(snapshot)
            self.demand("D4", road[-1].is_quiet and len(road) <= most, record, "its forecast comes to no end")

    def _whole(self, record: Record, recorded: PlanRecord) -> None:
        subjects = {each.name: each for each in record.snapshot.subjects}
        lines = Counter((f"{each.app}/{each.service}", each.role, each.container_id) for each in recorded.lines)
        is_answered = lines == Counter(_asked(record.snapshot))
        self.demand("D3", is_answered, record, f"not one answer for each container, but {dict(lines)}")
        for each in recorded.lines:
            declared = subjects[f"{each.app}/{each.service}"].declared
            if each.situation == Situation.COOLING.name and each.until_s is not None and declared is not None:
                left_s = each.until_s - record.clock.boot_s
                self.demand("B6", left_s <= max(declared.policy.ladder_s), record, f"a wait of {left_s:.0f} s")


def _asked(snapshot: Snapshot) -> Iterator[tuple[str, Role, str]]:
    """Yield what a plan must have one line for: each service, and each other container of one."""
    for each in snapshot.subjects:
        yield each.name, Role.SERVICE, each.declared.container_id if each.declared is not None else ""
        yield from ((each.name, Role.SUPERSEDED, old.container_id) for old in each.superseded)
        yield from ((each.name, Role.CANDIDATE, new.container_id) for new in each.candidates)


def _decided(record: PlanRecord) -> list[tuple[object, ...]]:
    """Return what is decided, without what is said of it: the time of day is in that."""
    return [
        (each.app, each.service, each.role, each.container_id, each.situation, each.effect, each.until_s) for each in record.lines
    ]
