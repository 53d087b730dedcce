"""The steps that follow a decision if all goes well, in words, and beside each that can fail what follows if it does."""

from attrs import frozen

from gordon_core.forecast import MOST_STEPS, Branch, forecast, if_it_fails
from gordon_core.observation import Clock
from gordon_core.planner import Decision, Plan
from gordon_core.sentences import container_id, in_words, ordinal, sentence, wall_time
from gordon_core.snapshot import Snapshot


@frozen(eq=False)
class Road:
    """The decisions with an effect about one service (or one superseded container), the present one first if it has one.

    They reach until the first wait. `end` is the decision that stands after them, or None where nothing is left to decide about.
    """

    steps: tuple[Decision, ...] = ()
    end: Decision | None = None


def roads(snapshot: Snapshot, plan: Plan) -> dict[tuple[str, str], Road]:
    """Return the road of every decision of the plan, by service name and superseded container ID ("" for the service itself)."""
    old: dict[str, list[Decision]] = {}
    for each in plan.superseded:
        old.setdefault(each.subject.name, []).append(each)
    found = (_roads(snapshot, each, tuple(old.get(each.subject.name, ()))) for each in plan.services)
    return {key(decision): road for some in found for decision, road in some}


def key(decision: Decision) -> tuple[str, str]:
    """Return what a decision is about: the name of its service, and the superseded container's ID or ""."""
    return decision.subject.name, decision.old.container_id if decision.old is not None else ""


def _roads(snapshot: Snapshot, service: Decision, old: tuple[Decision, ...]) -> list[tuple[Decision, Road]]:
    decisions = (service, *old)
    if service.subject.clash is None and all(each.effect is None for each in decisions):
        return [(each, Road()) for each in decisions]
    plans = forecast(around(snapshot, (service,)))
    now = [each for each in plans if each.clock == snapshot.clock]
    return [(each, _road(now, each)) for each in decisions]


def _road(plans: list[Plan], decision: Decision) -> Road:
    found = [each for plan in plans for each in plan.decisions if key(each) == key(decision)]
    last = [each for each in plans[-1].decisions if key(each) == key(decision)]
    return Road(tuple(each for each in found if each.effect is not None), last[0] if last else None)


def around(snapshot: Snapshot, decisions: tuple[Decision, ...]) -> Snapshot:
    """Return the snapshot of these services alone, and of those that they share a port with, whose roads cross theirs."""
    names = {each.subject.name for each in decisions}
    names |= {each.subject.clash.other for each in decisions if each.subject.clash is not None}
    return Snapshot(snapshot.clock, tuple(each for each in snapshot.subjects if each.name in names))


def step_in_words(decision: Decision, clock: Clock) -> str:
    """Return the effect as an imperative, with what follows if the workload fails it: "start it (on fail: ...)"."""
    if decision.effect is None:
        return "nothing"
    branch = if_it_fails(decision, clock)
    return in_words(decision.effect) + (f" (on fail: {_branch(branch, clock)})" if branch is not None else "")


def _branch(branch: Branch, clock: Clock) -> str:
    counted = f"{ordinal(branch.failures)} failure" if branch.charged else "not charged again"
    following = branch.decision
    if following.until_s is not None:
        return f"{counted}, next try {wall_time(clock, following.until_s)}"
    if following.effect is not None:
        return f"{counted}, then {in_words(following.effect)}"
    return f"{counted}, next try in the next pass"


def chain_in_words(decision: Decision, road: Road, clock: Clock) -> tuple[str, ...]:
    """Return what follows a decision, one text for each line: steps that cannot fail by the workload share one."""
    lines: list[str] = []
    is_open = False
    for step in road.steps[1:] if decision.effect is not None else road.steps:
        words = step_in_words(step, clock)
        forks = if_it_fails(step, clock) is not None
        if is_open and not forks:
            lines[-1] += f"; {words}"
        else:
            lines.append(words)
        is_open = not forks
    return tuple(lines)


def end_in_words(road: Road, clock: Clock) -> str:
    """Return why nothing follows the last step, "" where there was none or nothing is left."""
    return sentence(road.end, clock) if road.steps and road.end is not None and road.end.effect is None else ""


def timeline(plans: tuple[Plan, ...]) -> tuple[str, ...]:
    """Return one line for each step of a forecast, with its time: "at 07:04:12Z: shop/web: start it (on fail: ...)"."""
    now = plans[0].clock
    steps = [
        f"at {wall_time(now, plan.clock.boot_s)}: {_who(each)}: {step_in_words(each, plan.clock)}"
        for plan in plans
        for each in plan.decisions
        if each.effect is not None
    ]
    cut = [f"the forecast ends here, after {MOST_STEPS} steps; more would follow"] if len(plans) > MOST_STEPS else []
    return (*steps, *cut)


def _who(decision: Decision) -> str:
    other = f", {decision.role.value} {container_id(decision)[:12]}" if decision.old is not None else ""
    return f"{decision.subject.name}{other}"
