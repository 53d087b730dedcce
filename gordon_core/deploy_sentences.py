"""What a deploy does and why it failed, in words."""

from typing import assert_never

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
from gordon_core.sentences import binds_in_words, duration, in_words


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
    parts = [f"name container {declared.container_id[:12]} in ACTIVE as revision {declared.revision}"]
    if declared.ports:
        parts.append(f"with {binds_in_words(declared.binds)}")
    if step.superseded is not None:
        parts.append(f"and mark {step.superseded.container_id[:12]} for retirement")
    return " ".join(parts)
