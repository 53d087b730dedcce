"""The road of a deploy if all goes well, and where a step leads if it fails: the law for deploys over kind assumptions."""

from typing import assert_never

from attrs import evolve

from gordon_core import deploy_facts as facts
from gordon_core.blueprint import Image
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
    Why,
)
from gordon_core.deploy_evidence import has_check, is_activated
from gordon_core.deploy_planner import MOST_STEPS, DeployDecision, decide_deploy, took, with_results
from gordon_core.deployment import Deployment
from gordon_core.effects import (
    AwaitHealth,
    CandidateEffect,
    Done,
    DropCandidate,
    Effect,
    Fault,
    Probe,
    Refused,
    Remove,
    RemoveCandidate,
    StopCandidate,
)
from gordon_core.folds import did, saw
from gordon_core.forecast import assume
from gordon_core.memory import Memory
from gordon_core.observation import Container, Gone, Health, HealthStatus, PortBinding, Seen, Status
from gordon_core.snapshot import Subject

ASSUMED_ID = "(new)"


def forecast_deploy(deployment: Deployment) -> tuple[DeployDecision, ...]:
    """Return the decision now, then every one that follows if all goes well; the last one is over."""
    road = [decide_deploy(deployment)]
    while (step := road[-1].step) is not None and len(road) < MOST_STEPS:
        road.append(decide_deploy(assume_deploy(road[-1].deployment, step)))
    return tuple(road)


def why_if_it_fails(decision: DeployDecision) -> Why | None:
    """Return why the deploy would fail if the workload failed this step, or None where it would go on all the same."""
    end = _giving_up(decision)
    return end.step.why if end is not None and isinstance(end.step, GiveUp) else None


def road_if_it_fails(decision: DeployDecision) -> tuple[DeployDecision, ...]:
    """Return what the law does if the workload fails this step and all goes well after that, from giving up to the end.

    It is empty where the deploy would go on all the same.
    """
    end = _giving_up(decision)
    return forecast_deploy(end.deployment) if end is not None else ()


def _giving_up(decision: DeployDecision) -> DeployDecision | None:
    """Return the decision to give up that a step leads to if it fails: at once, or by way of a fall that is not forgiven."""
    while decision.step is not None and not isinstance(decision.step, GiveUp):
        decision = decide_deploy(_failed(decision.deployment, decision.step))
        if not isinstance(decision.step, AwaitRunning | GiveUp):
            return None
    return decision if decision.step is not None else None


def _failed(deployment: Deployment, step: DeployStep) -> Deployment:
    """Return the deployment as the next look would find it if the workload failed the step, with what is remembered of that."""
    outcome, found = Refused("it failed", Fault.WORKLOAD), _unkindly(deployment, step)
    if not isinstance(step, DeployEffect):
        found = evolve(found, subject=saw(did(found.subject, step, outcome, found.clock), found.clock))
    return took(found, step, outcome)


def _unkindly(deployment: Deployment, step: DeployStep) -> Deployment:
    """Return the deployment as the next look would find it if the workload failed the step."""
    own = deployment.own
    if not isinstance(own, Container):
        return deployment
    match step:
        case Delay() | Watch():
            ended = evolve(own, status=Status.EXITED, ports=())
        case AwaitHealth():
            ended = evolve(own, health=Health(HealthStatus.UNHEALTHY))
        case _:
            return deployment
    seen = ended if is_activated(deployment) else deployment.subject.seen
    return evolve(deployment, own=ended, subject=evolve(deployment.subject, seen=seen))


def assume_deploy(deployment: Deployment, step: DeployStep) -> Deployment:
    """Return the deployment as the next look would find it if the step were done and the world were kind."""
    if isinstance(step, DeployEffect):
        return took(_kindly(deployment, step), step, Done())
    if isinstance(step, Probe | AwaitHealth) and not facts.is_current(deployment):
        own = deployment.own
        healthy = evolve(own, health=Health(HealthStatus.HEALTHY)) if isinstance(own, Container) else own
        return took(evolve(deployment, own=healthy if isinstance(step, AwaitHealth) else own), step, Done())
    if isinstance(step, CandidateEffect) and step.container_id == deployment.own_id:
        return took(_without_candidate(deployment, step), step, Done())
    after = assume(deployment.subject, step, deployment.clock)
    return took(_beside(deployment, after, step), step, Done())


def _beside(deployment: Deployment, after: Subject, step: Effect) -> Deployment:
    """Put in the subject after an effect; a name of a container that is gone by it is free."""
    freed = _names_freed(deployment.subject, step)
    taken = tuple(each for each in deployment.taken_names if each not in freed)
    return with_results(evolve(deployment, taken_names=taken), after)


def _names_freed(subject: Subject, step: Effect) -> set[str]:
    if not isinstance(step, Remove | RemoveCandidate):
        return set()
    seen = {each.container_id: each.seen for each in subject.superseded} | {
        each.container_id: each.seen for each in subject.candidates
    }
    gone = seen.get(step.container_id)
    return {gone.name} if isinstance(gone, Container) else set()


def _without_candidate(deployment: Deployment, step: CandidateEffect) -> Deployment:
    match step:
        case StopCandidate():
            own = deployment.own
            return evolve(deployment, own=evolve(own, status=Status.EXITED, ports=()) if isinstance(own, Container) else own)
        case RemoveCandidate():
            return evolve(deployment, own=Gone())
        case DropCandidate():
            return evolve(deployment, journalled=False)
        case _ as never:
            assert_never(never)


def _kindly(deployment: Deployment, step: DeployEffect) -> Deployment:  # noqa: PLR0911 - an arm for each
    match step:
        case Pull():
            return evolve(deployment, image=Image("sha256:assumed"))
        case Create(name):
            own = Container(ASSUMED_ID, Status.CREATED, name=name)
            return evolve(deployment, own=own, own_id=ASSUMED_ID, taken_names=(*deployment.taken_names, name))
        case Journal():
            return evolve(deployment, journalled=True)
        case StartCandidate() | AwaitRunning():
            return evolve(deployment, own=_started(deployment))
        case Unroute(app, service):
            return evolve(deployment, clashes=tuple(each for each in deployment.clashes if each != (app, service)))
        case Activate():
            return _activated(deployment, step)
        case Rename():
            return _renamed(deployment, step)
        case Delay() | Watch() | GiveUp():
            return deployment
        case _ as never:
            assert_never(never)


def _started(deployment: Deployment) -> Seen | None:
    own = deployment.own
    if not isinstance(own, Container):
        return own
    health = Health(HealthStatus.STARTING) if has_check(deployment) else Health()
    ports = tuple(PortBinding(each.port, "127.0.0.1", each.host_port) for each in deployment.wanted.ports)
    return evolve(own, status=Status.RUNNING, started_at="assumed", health=health, ports=ports, exit=None)


def _activated(deployment: Deployment, step: Activate) -> Deployment:
    """Name what the step names; it may be the candidate, or, on the way back, the container before it."""
    named = step.declared.container_id
    marked = (step.superseded,) if step.superseded is not None else ()
    renewed = {named, *(each.container_id for each in marked)}
    kept = tuple(each for each in deployment.subject.superseded if each.container_id not in renewed)
    known = {each.container_id: each.seen for each in deployment.subject.superseded} | {deployment.own_id: deployment.own}
    now = deployment.subject.declared
    subject = evolve(
        deployment.subject,
        seen=known.get(named) or Gone(),
        declared=evolve(step.declared, policy=now.policy) if now is not None else step.declared,
        memory=Memory(verified=step.verified),
        superseded=(*kept, *marked),
    )
    is_kept = named != deployment.own_id and deployment.journalled
    return with_results(evolve(deployment, journalled=is_kept), subject)


def _renamed(deployment: Deployment, step: Rename) -> Deployment:
    subject, own = deployment.subject, deployment.names
    known = {each.container_id: each.seen for each in subject.superseded}
    if subject.declared is not None:
        known[subject.declared.container_id] = subject.seen
    before = known.get(step.container_id)
    if not isinstance(before, Container):
        return deployment
    after = evolve(before, name=step.name)
    old = tuple(evolve(each, seen=after) if each.container_id == step.container_id else each for each in subject.superseded)
    is_named = subject.declared is not None and subject.declared.container_id == step.container_id
    named = evolve(subject, seen=after if is_named else subject.seen, superseded=old)
    borne = [
        each for each in (*deployment.taken_names, step.name) if each != before.name and each in {own.canonical, *own.temporary}
    ]
    return evolve(deployment, subject=named, taken_names=tuple(borne))
