"""What a deploy would do, and how it ended, as text to be read aloud. Equal deployments give equal text."""

from collections.abc import Iterator

from gordon_core.deploy_effects import DeployStep, GiveUp
from gordon_core.deploy_planner import DeployDecision
from gordon_core.deploy_sentences import end_in_words, fork_in_words, step_in_words, whom
from gordon_core.deployment import Deployment
from gordon_core.effects import Outcome
from gordon_core.observation import Binds
from gordon_core.sentences import binds_in_words, duration, plural
from gordon_core.stages import Stage
from gordon_core.verdicts import Failure, Verdict, failure
from gordon_shell.counts_text import Mark
from gordon_shell.seen_text import route_in_words, seen_in_words
from gordon_shell.telling import became, joined
from gordon_shell.text import Line, Paint, date, labelled, plain, printed

_CLOSING = {
    Stage.FAILED: "The deploy would fail.",
    Stage.UNALTERED: "There is nothing to do.",
    Stage.DEPLOYED: "1 service would be deployed.",
}
Road = tuple[DeployDecision, ...]


def text(road: Road, *, paint: Paint = plain) -> str:
    """Return the whole road of a deploy as lines: its time, the service, each step and what follows where it fails."""
    first, last = road[0], road[-1]
    closing = _CLOSING.get(last.stage, "1 service would be deployed.") if len(road) > 1 else _CLOSING[Stage.UNALTERED]
    lines: list[Line] = [
        (f"As seen at {date(first.deployment.clock)}:", None),
        ("", None),
        (_head(first.deployment), _mark(road)),
        *_about(first.deployment),
        *_steps(road),
        *_help(last.deployment),
        ("", None),
        (f"{closing} Nothing was done.", None),
    ]
    return "".join(f"{printed(words, sign, paint)}\n" for words, sign in lines)


def _mark(road: Road) -> Mark:
    if road[-1].stage is Stage.FAILED:
        return Mark.HELD
    return Mark.ACTS if road[0].step is not None else Mark.WELL


def _head(deployment: Deployment) -> str:
    subject = deployment.subject
    named = subject.declared.container_id[:12] if subject.declared is not None else "no container"
    looks = [] if subject.declared is None else [seen_in_words(subject.seen, deployment.clock)]
    return f"{subject.name} ({named}): {'; '.join([*looks, route_in_words(subject)])}"


def _about(deployment: Deployment) -> Iterator[Line]:
    yield labelled("image", deployment.wanted.image)
    if deployment.changed:
        yield labelled("new", joined(deployment.changed))


def _steps(road: Road) -> Iterator[Line]:
    yield labelled("why", road[0].stage.value)
    chain = [each for each in road if each.step is not None]
    yield labelled("now", _step(chain[0], fork_in_words(chain[0])) if chain else "nothing")
    yield from (labelled("then", each) for each in _chained(chain[1:]))
    if chain:
        yield labelled("after", end_in_words(road[-1]))


def _chained(decisions: list[DeployDecision]) -> Iterator[str]:
    """Yield what follows, one text for each line: steps about one container that cannot fail by the workload share one."""
    line, about = "", ""
    for each in decisions:
        fork = fork_in_words(each)
        stands_alone = bool(fork) or isinstance(each.step, GiveUp)
        if line and not stands_alone and whom(each) == about:
            line += f"; {_words(each, fork)}"
            continue
        yield from [line] if line else []
        line, about = _step(each, fork), whom(each)
        if stands_alone:
            yield line
            line = ""
    yield from [line] if line else []


def _step(decision: DeployDecision, fork: str) -> str:
    about = whom(decision)
    return f"{about}: {_words(decision, fork)}" if about else _words(decision, fork)


def _words(decision: DeployDecision, fork: str) -> str:
    words = step_in_words(decision.step) if decision.step is not None else "nothing"
    return f"{words} (on fail: {fork})" if fork else words


def _help(deployment: Deployment) -> Iterator[Line]:
    found = failure(deployment)
    if found is not None:
        yield labelled("cause", found.cause)
        yield labelled("help", found.hint)


# --- the deploy itself ---------------------------------------------------------------------------------------------------


def step(name: str, taken: DeployStep, outcome: Outcome) -> str:
    """Return a step that was taken with what became of it: "shop/web: start the candidate: done"."""
    words = step_in_words(taken)
    return f"{name}: {words}" if isinstance(taken, GiveUp) else f"{name}: {words}: {became(outcome)}"


def ending(name: str, verdict: Verdict, routed: Binds | None, took_s: float) -> tuple[str, ...]:
    """Return how a deploy ended: one sentence where it is well, else what, why, what would help, and what serves now.

    `routed` is where the service is routed after it, None where that could not be read.
    """
    if verdict.failure is not None:
        return _failed(name, verdict.failure, verdict, routed)
    named = f"container {verdict.container_id[:12]}, revision {verdict.revision}"
    if verdict.stage is Stage.UNALTERED:
        put_right = f"; {plural(verdict.steps, 'step')} put right what was not" if verdict.steps else ""
        return (f"{name}: nothing to do: image, environment and options are as wanted of {named}{put_right}",)
    if verdict.stage is Stage.INTERRUPTED:
        return (f"{name}: interrupted, when {named}, {_served(routed)}, served already; the next pass of recovery does the rest",)
    return (f"{name}: deployed {named}, {_served(routed)}; {plural(verdict.steps, 'step')} in {duration(took_s)}",)


def deed(image: str, verdict: Verdict, routed: Binds | None, *, is_rollback: bool) -> str:
    """Return how a deploy ended as one sentence for the journal, "" where it changed nothing; `routed` as for `ending`."""
    found, steps = verdict.failure, verdict.steps
    if found is not None:
        reason = f": {found.reason}" if found.reason else ""
        memory = ", out of memory" if found.oom_killed else ""
        code = f" (exit code {found.exit_code}{memory})" if found.exit_code is not None else ""
        what = "rollback" if is_rollback else "deploy"
        return f"the {what} of image {image} failed, since {found.why.value}{reason}{code}; now {_now(found, verdict, routed)}"
    named = f"container {verdict.container_id[:12]} of image {image}, revision {verdict.revision}, {_served(routed)}"
    if verdict.stage is Stage.UNALTERED:
        return f"put right in {plural(steps, 'step')} what was deployed already: {named}" if steps else ""
    rest = "; interrupted then, and the next pass of recovery does the rest" if verdict.stage is Stage.INTERRUPTED else ""
    return f"{'rolled back to' if is_rollback else 'deployed'} {named}{rest}"


def _failed(name: str, found: Failure, verdict: Verdict, routed: Binds | None) -> tuple[str, ...]:
    reason = f": {found.reason}" if found.reason else ""
    lines = [
        (f"{name}: the deploy failed, since {found.why.value}{reason}"),
        _line("likely", found.cause),
        _line("hint", found.hint),
    ]
    if found.container_id:
        lines.append(_line("was", _container(found)))
    if found.lines:
        lines.append(_line("said", f"its last {plural(len(found.lines), 'line')}:"))
        lines += [f"      | {each}" for each in found.lines]
    if found.left:
        lines.append(_line("left", f"container {found.left[:12]} could not be cleared yet; the next pass of recovery does that"))
    lines.append(_line("now", _now(found, verdict, routed)))
    return tuple(lines)


def _container(found: Failure) -> str:
    named = f"container {found.container_name or 'without a name'} ({found.container_id[:12]})"
    code = f", exit code {found.exit_code}" if found.exit_code is not None else ""
    return named + code + (", out of memory" if found.oom_killed else "")


def _now(found: Failure, verdict: Verdict, routed: Binds | None) -> str:
    if not verdict.container_id:
        return "ACTIVE names no container, and nothing serves"
    back = "switched back to " if found.switched_back else ""
    return f"{back}container {verdict.container_id[:12]}, revision {verdict.revision}, {_served(routed)}"


def _served(routed: Binds | None) -> str:
    if routed is None:
        return "and whether it is routed could not be read"
    return f"routed to {binds_in_words(routed)}" if routed else "not routed"


def _line(label: str, words: str) -> str:
    return f"    {label + ':':<7} {words}"
