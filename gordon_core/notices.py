"""What an operator is told of, and when: a pure fold over plans, whose state is what was told so far.

Every plan may be folded, also one from the middle of a pass, and the same one again: nothing is told twice. A *loop* begins with
`looping` and ends with exactly one `recovered`, whichever way it ends. Of a service whose app is locked, that has a command in
flight, or that could not be read, nothing is concluded.
"""

from collections.abc import Callable, Mapping

from attrs import evolve

from gordon_core import evidence, facts
from gordon_core.ends import seen_ended
from gordon_core.noted import Look, Noted, Notice, NoticeKind, Told
from gordon_core.observation import Container, SeenAs
from gordon_core.planner import Plan
from gordon_core.sentences import container_id, duration, plural, sentence
from gordon_core.services import Scope, scope
from gordon_core.situations import Situation
from gordon_core.snapshot import Subject

CRASHED_EVERY_S = 3600.0
"""How long after a crash of a service was told the next one of it is."""
TOP_STEP_EVERY_S = 600.0
"""The same for waits at the top of the ladder. The default ladder stays below it, one with shorter steps does not."""
STUCK_AFTER_S = 300.0
"""How long a service that is to run may serve nobody before that is told, where nothing else was."""
_LOGS = "docker logs {id}"


def notice(told: Told, plan: Plan, *, is_whole: bool) -> tuple[Told, tuple[Notice, ...]]:
    """Return what is told so far after a plan, and what is to be told of it, in its order.

    `is_whole`: the plan is of every service of the host, so that one that is not in it is known no more.
    """
    follows_a_boot = told.boot_id not in {"", plan.clock.boot_id}
    before = {(each.app, each.service): _over_a_boot(each) if follows_a_boot else each for each in told.services}
    after, notices = dict(before), list[Notice]()
    for decision in plan.services:
        subject = decision.subject
        key = subject.app, subject.service
        if decision.situation is Situation.SETTLED and key not in before:
            continue
        look = Look(decision, plan.clock)
        noted, new = _looked(before.get(key) or Noted(*key, after_boot=follows_a_boot), look)
        notices += new
        if _is_worth_keeping(noted, look):
            after[key] = noted
        else:
            after.pop(key, None)
    if is_whole:
        notices += _forgotten(after, plan)
    return Told(plan.clock.boot_id, tuple(after[key] for key in sorted(after))), tuple(notices)


def _over_a_boot(noted: Noted) -> Noted:
    return evolve(noted, crashed_at_s=None, top_at_s=None, unserved_since_s=None, after_boot=True)


def _forgotten(after: dict[tuple[str, str], Noted], plan: Plan) -> list[Notice]:
    """Let go of services that are not known any more; a loop of one is over."""
    if not after:
        return []
    known = {(each.subject.app, each.subject.service) for each in plan.services}
    gone = [after.pop(key) for key in sorted(after.keys() - known)]
    words = "its crash loop is over: nothing is known of it any more"
    return [Notice(NoticeKind.RECOVERED, each.app, each.service, "", plan.clock, words) for each in gone if each.looping]


def _is_worth_keeping(noted: Noted, look: Look) -> bool:
    """Tell whether anything can come of it. While it is not as desired, all of it can, and then the limits that still run."""
    if look.decision.situation is not Situation.SETTLED:
        return noted != Noted(noted.app, noted.service)
    return look.is_within(CRASHED_EVERY_S, noted.crashed_at_s) or look.is_within(TOP_STEP_EVERY_S, noted.top_at_s)


def _looked(noted: Noted, look: Look) -> tuple[Noted, list[Notice]]:
    subject = look.subject
    wanted = scope(subject)
    is_unseen = wanted is Scope.RUNNING and subject.seen_as is SeenAs.UNREAD and not subject.inhibited
    if subject.locked or subject.in_flight or is_unseen:
        return noted, []
    notices: list[Notice] = []
    for each in _STEPS[wanted]:
        noted, new = each(noted, look)
        notices += [new] if new is not None else []
    return evolve(noted, after_boot=False), notices


_Step = Callable[[Noted, Look], tuple[Noted, Notice | None]]


# --- crashes and loops ---------------------------------------------------------------------------------------------------


def _crashes(noted: Noted, look: Look) -> tuple[Noted, Notice | None]:
    """Tell the first crash. What recovery, a person or a boot has brought to its end did not crash."""
    subject = look.subject
    execution = _ended_execution(subject)
    failures = subject.memory.failures
    is_news = execution not in {"", noted.execution} or (failures > noted.failures and not facts.serves(subject))
    noted = evolve(noted, execution=execution or noted.execution, failures=failures)
    is_told = noted.looping or _begins_to_loop(noted, look) or look.is_within(CRASHED_EVERY_S, noted.crashed_at_s)
    if not is_news or noted.after_boot or _is_meant(look) or is_told:
        return noted, None
    return evolve(noted, crashed_at_s=look.clock.boot_s), look.notice(NoticeKind.CRASHED, _how(look), _LOGS)


def _ended_execution(subject: Subject) -> str:
    """Return the execution in our care that only a start or a restart replaces, "" where it is none."""
    seen, verified = subject.seen, subject.memory.verified
    if not isinstance(seen, Container):
        return ""
    was_verified = verified is not None and verified.started_at == seen.started_at
    is_ours = was_verified or evidence.has_landed(subject) or evidence.is_charged(subject)
    has_ended = seen_ended(subject) is not None or (evidence.is_sick(subject) and evidence.needs_attempt(subject))
    return f"{seen.container_id} {seen.started_at}" if is_ours and has_ended else ""


def _is_meant(look: Look) -> bool:
    """Somebody wants it so, or its port belongs to another."""
    return bool(look.subject.inhibited) or look.decision.situation is Situation.ON_HOLD or look.subject.memory.contested_port > 0


def _how(look: Look) -> str:
    """Return how it failed, in a clause."""
    subject, seen = look.subject, look.subject.seen
    if evidence.is_sick(subject):
        return f"crashed: unhealthy, {plural(evidence.strikes(subject), 'failed check')} counted"
    if not isinstance(seen, Container) or seen.exit is None or not _ended_execution(subject):
        return f"failed: {sentence(look.decision, look.clock)}"
    memory = ", out of memory" if seen.exit.oom_killed else ""
    error = f'; start error: "{seen.exit.error}"' if seen.exit.error else ""
    return f"crashed: exited ({seen.exit.code}){memory}{error}"


def _begins_to_loop(noted: Noted, look: Look) -> bool:
    declared = look.subject.declared
    failures = look.subject.memory.failures
    is_on_the_ladder = declared is not None and declared.policy.wait_s(failures) > 0
    return is_on_the_ladder and not noted.looping and not facts.serves(look.subject) and not _is_meant(look)


def _loops(noted: Noted, look: Look) -> tuple[Noted, Notice | None]:
    """Tell that it is on the ladder of waits, once for each loop."""
    if not _begins_to_loop(noted, look):
        return noted, None
    failures = look.subject.memory.failures
    words = f"in a crash loop: {sentence(look.decision, look.clock)}"
    return evolve(noted, looping=True, top_failures=failures), look.notice(NoticeKind.LOOPING, words)


def _waits_at_the_top(noted: Noted, look: Look) -> tuple[Noted, Notice | None]:
    """Tell each wait at the top of the ladder."""
    declared, failures = look.subject.declared, look.subject.memory.failures
    if not noted.looping or look.decision.situation is not Situation.COOLING or declared is None:
        return noted, None
    is_at_the_top = failures - declared.policy.free_failures >= len(declared.policy.ladder_s) - 1
    if not is_at_the_top or failures == noted.top_failures:
        return noted, None
    noted = evolve(noted, top_failures=failures)
    if look.is_within(TOP_STEP_EVERY_S, noted.top_at_s):
        return noted, None
    words = f"still in a crash loop, at its longest wait: {sentence(look.decision, look.clock)}"
    return evolve(noted, top_at_s=look.clock.boot_s), look.notice(NoticeKind.TOP_STEP, words)


def _ends_its_loop(noted: Noted, look: Look) -> tuple[Noted, Notice | None]:
    """Tell, once for each loop, that it is over: it serves, and its history is dropped; or it is done."""
    subject = look.subject
    serves_again = facts.serves(subject) and not subject.memory.has_history()
    if not noted.looping or not (serves_again or look.decision.situation is Situation.DONE):
        return noted, None
    return _over(noted, look, "recovered from its crash loop")


def _is_wanted_no_more(noted: Noted, look: Look) -> tuple[Noted, Notice | None]:
    """Keep in mind only which execution ended as the operator wanted; a loop is over once that is so."""
    if look.decision.situation not in {Situation.SHUT, Situation.ABSENT}:
        return noted, None
    subject = look.subject
    seen = subject.seen
    execution = f"{seen.container_id} {seen.started_at}" if isinstance(seen, Container) else ""
    rest = Noted(noted.app, noted.service, execution, crashed_at_s=noted.crashed_at_s, top_at_s=noted.top_at_s)
    return _over(rest, look, "its crash loop is over") if noted.looping else (rest, None)


def _over(noted: Noted, look: Look, words: str) -> tuple[Noted, Notice]:
    words = f"{words}: {sentence(look.decision, look.clock)}"
    return evolve(noted, looping=False), look.notice(NoticeKind.RECOVERED, words, "")


# --- what stands still -----------------------------------------------------------------------------------------------------


def _is_gone(noted: Noted, look: Look) -> tuple[Noted, Notice | None]:
    """Tell once of each container that it is gone."""
    named = container_id(look.decision)
    if look.decision.situation is not Situation.GONE:
        is_back = isinstance(look.subject.seen, Container)
        return (evolve(noted, gone="") if is_back else noted), None
    if noted.gone == named:
        return noted, None
    return evolve(noted, gone=named), look.notice(NoticeKind.GONE, sentence(look.decision, look.clock))


def _is_inhibited(noted: Noted, look: Look) -> tuple[Noted, Notice | None]:
    """Tell once that its container is never to be started."""
    named = container_id(look.decision) if look.subject.inhibited else ""
    if named in {"", noted.inhibited}:
        return evolve(noted, inhibited=named), None
    words = f"inhibited ({look.subject.inhibited}); never started"
    return evolve(noted, inhibited=named), look.notice(NoticeKind.INHIBITED, words)


def _is_stuck(noted: Noted, look: Look) -> tuple[Noted, Notice | None]:
    """Tell once that it has served nobody for long, where nothing else was told that says so."""
    subject = look.subject
    if facts.is_published_blindly(subject):
        return noted, None
    is_known = noted.looping or bool(noted.gone) or _is_meant(look) or look.decision.situation in _AS_WANTED
    if is_known or facts.serves(subject):
        return evolve(noted, unserved_since_s=None, stuck=False), None
    since_s = look.clock.boot_s if noted.unserved_since_s is None else noted.unserved_since_s
    noted = evolve(noted, unserved_since_s=since_s)
    if noted.stuck or look.clock.boot_s - since_s < STUCK_AFTER_S:
        return noted, None
    words = f"serves nobody since {duration(look.clock.boot_s - since_s)}: {sentence(look.decision, look.clock)}"
    return evolve(noted, stuck=True), look.notice(NoticeKind.STUCK, words)


_AS_WANTED = frozenset({Situation.DONE, Situation.DONE_ROUTED, Situation.DONE_REMEMBERED})
_STEPS: Mapping[Scope, tuple[_Step, ...]] = {
    Scope.RUNNING: (_crashes, _loops, _waits_at_the_top, _ends_its_loop, _is_gone, _is_inhibited, _is_stuck),
    Scope.STOPPED: (_is_wanted_no_more,),
    Scope.ABSENT: (_is_wanted_no_more,),
}
