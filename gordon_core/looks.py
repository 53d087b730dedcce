"""What of a look is worth writing down: the services of which something else is decided than before, with all that decided it.

Pure: a fold over plans, whose state is what tells the decisions of before from others.
"""

from collections.abc import Mapping

from attrs import evolve, field, frozen

from gordon_core import evidence
from gordon_core.observation import Container, RouteSeen, Seen
from gordon_core.planner import Decision, Plan
from gordon_core.sentences import in_words
from gordon_core.snapshot import Snapshot, Subject

WHOLE_EVERY_S = 86400.0
"""How long after a look that was written down whole the next one is."""


@frozen(eq=False)
class Looked:
    """What was written down so far: by app/service, what tells its decisions from others; and when (seconds since 1970) all were.

    `whole_at_s` None: nothing was.
    """

    marks: Mapping[str, str] = field(factory=dict)
    whole_at_s: float | None = None


@frozen(eq=False)
class News:
    """What is to be written down of a look: these subjects, planned again, give the same decisions as the whole did."""

    snapshot: Snapshot
    is_whole: bool = False


def look(looked: Looked, plan: Plan, *, is_whole: bool) -> tuple[Looked, News | None]:
    """Return the state after a look, and what is new in it. `is_whole`: it was at every service of the host."""
    if is_whole and _is_due(looked, plan):
        whole = Snapshot(plan.clock, [_without_clash(each.subject) for each in plan.services])
        return Looked(_marks(plan), plan.clock.wall_s), News(whole, is_whole=True)
    found = _marks(plan)
    changed = [each for each in plan.services if looked.marks.get(each.subject.name) != found[each.subject.name]]
    after = Looked(found if is_whole else {**looked.marks, **found}, looked.whole_at_s)
    return after, News(extract(plan, *changed)) if changed else None


def extract(plan: Plan, *decisions: Decision) -> Snapshot:
    """Return the least snapshot of which the same is decided again as in this plan of many services.

    It holds the subjects of these decisions, those with whose routes or containers they clash, and so on.
    """
    subjects: dict[str, Subject] = {}
    left = [each.subject for each in decisions]
    by_name = {each.subject.name: each.subject for each in plan.services}
    while left:
        one = left.pop()
        subjects[one.name] = one
        if one.clash is not None and one.clash.other not in subjects:
            left.append(by_name[one.clash.other])
    return Snapshot(plan.clock, [_without_clash(each) for each in subjects.values()])


def _is_due(looked: Looked, plan: Plan) -> bool:
    return looked.whole_at_s is None or abs(plan.clock.wall_s - looked.whole_at_s) >= WHOLE_EVERY_S


def _without_clash(subject: Subject) -> Subject:
    return subject if subject.clash is None else evolve(subject, clash=None)


def _marks(plan: Plan) -> dict[str, str]:
    marks = {each.subject.name: _mark(each) for each in plan.services}
    for each in plan.superseded:
        marks[each.subject.name] += f"\n{_mark(each)}"
    return marks


def _mark(decision: Decision) -> str:
    """Return what tells a decision from others. A sentence would not do: the time that is left is in it."""
    subject = decision.subject
    effect = in_words(decision.effect) if decision.effect is not None else "-"
    seen = _seen(decision.old.seen if decision.old is not None else subject.seen)
    counted = f"{subject.memory.failures} {evidence.strikes(subject)}"
    routed = " ".join(map(str, subject.route.binds)) if isinstance(subject.route, RouteSeen) else "?"
    return f"{decision.situation.name}|{effect}|{decision.until_s}|{seen}|{counted}|{routed}|{decision.is_in_the_dark}"


def _seen(seen: Seen) -> str:
    if not isinstance(seen, Container):
        return type(seen).__name__
    return f"{seen.container_id} {seen.started_at} {seen.status.value} {seen.health.status.value}"
