"""What a deploy does, whom that is about, and what follows a step that fails, in words."""

from typing import assert_never

from gordon_core import deploy_evidence as own
from gordon_core import deploy_facts, facts
from gordon_core.deploy_effects import (
    Activate,
    AwaitRunning,
    Create,
    Delay,
    DeployEffect,
    DeployStep,
    GiveUp,
    Journal,
    Pull,
    Rename,
    StartCandidate,
    Unroute,
    Watch,
)
from gordon_core.deploy_forecast import road_if_it_fails
from gordon_core.deploy_planner import DeployDecision
from gordon_core.deployment import Deployment
from gordon_core.effects import (
    AwaitHealth,
    CandidateEffect,
    DropCandidate,
    DropHistory,
    DropMarker,
    Forget,
    PersistBinds,
    Probe,
    Publish,
    RecordAttempt,
    RecordFailure,
    RecordVerified,
    ReleaseBinds,
    ReleaseClaims,
    Remove,
    RemoveCandidate,
    Restart,
    Retire,
    Start,
    Stop,
    StopCandidate,
    SupersededEffect,
    Withdraw,
)
from gordon_core.sentences import binds_in_words, duration, in_words
from gordon_core.stages import Stage

_OLD = "the old container"


def step_in_words(step: DeployStep) -> str:  # noqa: C901, PLR0911, PLR0912 - one arm for each kind of step is the point
    """Return a step of a deploy as an imperative: "create container gordon-shop-web-new"."""
    if not isinstance(step, DeployEffect):
        return in_words(step)
    match step:
        case Pull(image, after_s):
            return f"fetch image {image}{f', {duration(after_s)} from now' if after_s else ''}"
        case Create(name, revision):
            return f"create container {name} for revision {revision}"
        case Journal():
            return "write the candidate down in the journal"
        case StartCandidate():
            return "start the candidate"
        case Unroute(app, service):
            return f"withdraw {app}/{service}, whose route names a port of the candidate"
        case AwaitRunning(_, wait_s):
            return f"wait for it to run again, up to {duration(wait_s)}"
        case Delay(_, _, wait_s):
            return f"see it run for {duration(wait_s)}"
        case Watch(_, _, wait_s):
            return f"watch it serve for {duration(wait_s)}"
        case Activate():
            return _activation(step)
        case Rename(_, name):
            return f"rename it to {name}"
        case GiveUp(why, _, reason):
            return f"give up, since {why.value}{f': {reason}' if reason else ''}"
        case _ as never:
            assert_never(never)


def _activation(step: Activate) -> str:
    declared = step.declared
    binds = f" with {binds_in_words(declared.binds)}" if declared.ports else ""
    parts = [f"name container {declared.container_id[:12]} in ACTIVE as revision {declared.revision}{binds}"]
    if step.verified is not None:
        parts.append("remember it as verified")
    if step.superseded is not None:
        parts.append(f"mark {step.superseded.container_id[:12]} for retirement")
    return _joined(parts)


def end_in_words(decision: DeployDecision) -> str:
    """Return how a deploy ends; of one that failed, also what it leaves: "failed; the old container serves on"."""
    rest = _rest(decision.deployment, "") if decision.stage is Stage.FAILED else ()
    return "; ".join([decision.stage.value, *rest])


# --- whom it is about ----------------------------------------------------------------------------------------------------


def whom(decision: DeployDecision) -> str:
    """Return whom the step is about: "the old container", "leftover 9bd01e55c0aa", "" for what is deployed."""
    deployment, step = decision.deployment, decision.step
    if isinstance(step, CandidateEffect):
        return f"leftover {step.container_id[:12]}" if step.container_id != deployment.own_id else ""
    if isinstance(step, SupersededEffect):
        return _OLD
    if deploy_facts.is_current(deployment) or (isinstance(step, DeployEffect | None) and not isinstance(step, Rename)):
        return ""
    about = step if isinstance(step, Rename) else getattr(step, "generation", deployment.subject.generation())
    return _OLD if about is not None and about.container_id != deployment.own_id else ""


# --- what follows a step that fails --------------------------------------------------------------------------------------


def fork_in_words(decision: DeployDecision) -> str:
    """Return why a deploy gives up if this step fails, what the law then does, and what serves after that; "" if it goes on.

    "it was not ready in time; the candidate is stopped and removed; the old container serves on"
    """
    road = () if isinstance(decision.step, GiveUp) else road_if_it_fails(decision)
    return road_in_words(road) if road else ""


def road_in_words(road: tuple[DeployDecision, ...]) -> str:
    """Return the decisions of a deploy that fails in words; waits, and what is only written down, go without saying."""
    whys = [each.step.why.value for each in road if isinstance(each.step, GiveUp)]
    deeds = _deeds(road)
    clauses = [f"{who} is {_joined(verbs)}{_again(who, verbs)}" for who, verbs in deeds]
    return "; ".join([*whys, *clauses, *_rest(road[-1].deployment, deeds[-1][0] if deeds else "")])


def _deeds(road: tuple[DeployDecision, ...]) -> list[tuple[str, list[str]]]:
    """Return whom each deed is about, with what is done to it in a row."""
    deeds: list[tuple[str, list[str]]] = []
    for each in road:
        verb = _participle(each.step) if each.step is not None else ""
        if verb and deeds and deeds[-1][0] == _who(each):
            deeds[-1][1].append(verb)
        elif verb:
            deeds.append((_who(each), [verb]))
    return deeds


def _who(decision: DeployDecision) -> str:
    match decision.step:
        case Withdraw():
            return "the route"
        case Unroute(app, service):
            return f"{app}/{service}"
        case Pull():
            return "the image"
        case Activate(declared=declared):
            return "the candidate" if declared.container_id == decision.deployment.own_id else _OLD
        case _:
            return whom(decision) or "the candidate"


def _participle(step: DeployStep) -> str:  # noqa: C901, PLR0911, PLR0912 - one arm for each kind of step is the point
    match step:
        case Pull():
            return "fetched"
        case Create():
            return "created"
        case Start() | StartCandidate():
            return "started"
        case Restart():
            return "restarted"
        case Stop() | Retire() | StopCandidate():
            return "stopped"
        case Remove() | RemoveCandidate():
            return "removed"
        case Probe():
            return "probed"
        case Publish():
            return "published"
        case Withdraw() | Unroute():
            return "withdrawn"
        case Activate():
            return "named in ACTIVE"
        case Rename():
            return "renamed"
        case (
            AwaitHealth() | AwaitRunning() | Delay() | Watch() | GiveUp() | Journal() | DropCandidate() | RecordAttempt()
            | RecordFailure() | RecordVerified() | PersistBinds() | ReleaseBinds() | DropHistory() | Forget() | ReleaseClaims()
            | DropMarker()
        ):  # fmt: skip
            return ""
        case _ as never:
            assert_never(never)


def _joined(verbs: list[str]) -> str:
    return " and ".join(each for each in (", ".join(verbs[:-1]), verbs[-1]) if each)


def _again(who: str, verbs: list[str]) -> str:
    return " again" if who == _OLD and verbs[-1] in {"started", "published", "named in ACTIVE"} else ""


def _rest(deployment: Deployment, latest: str) -> tuple[str, ...]:
    """Return what serves at the end, unless that was said last."""
    subject = deployment.subject
    if subject.declared is None:
        return ("nothing serves, as before",)
    who = "the new container" if own.is_activated(deployment) else _OLD
    if not facts.serves(subject):
        return (f"recovery goes on with {who}",)
    return (f"{who} serves on",) if who != latest else ()
