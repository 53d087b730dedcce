"""What can be told from a deployment: what it did so far, its candidate as recovery would see it, and the way back."""

from typing import TypeVar

from attrs import evolve

from gordon_core import facts
from gordon_core.blueprint import Image
from gordon_core.deploy_effects import Activate, Delay, DeployEffect, GiveUp, Unroute, Watch
from gordon_core.deployment import Deployment
from gordon_core.effects import (
    Done,
    Generation,
    Outcome,
    Publish,
    Refused,
    Result,
    Unknown,
    Withdraw,
)
from gordon_core.memory import Verified
from gordon_core.observation import (
    Container,
    Gone,
    RouteSeen,
    SeenAs,
    Status,
    seen_as,
)
from gordon_core.planner import Decision, decide, decide_candidate, decide_superseded
from gordon_core.policy import DEFAULT_POLICY
from gordon_core.snapshot import Candidate, Declared, Subject, Superseded

E = TypeVar("E", bound=DeployEffect)
MOST_TRIES = 2
"""How often a command that had no answer is given again."""

# --- what this deploy did so far -----------------------------------------------------------------------------------------


def taken(deployment: Deployment, kind: type[E]) -> tuple[tuple[E, Outcome], ...]:
    """Return the steps of one kind with their outcomes, oldest first."""
    return tuple((each.effect, each.outcome) for each in deployment.steps if isinstance(each.effect, kind))


def outcomes(deployment: Deployment, kind: type[DeployEffect]) -> tuple[Outcome, ...]:
    """Return what became of the steps of one kind, oldest first."""
    return tuple(each.outcome for each in deployment.steps if isinstance(each.effect, kind))


def is_in_vain(found: tuple[Outcome, ...]) -> bool:
    """Refused, or without an answer as often as it may be tried."""
    return any(isinstance(each, Refused) for each in found) or sum(isinstance(each, Unknown) for each in found) >= MOST_TRIES


def words(found: tuple[Outcome, ...]) -> str:
    """Return the words with which the latest of these was refused, or why it had no answer; "" where it was done."""
    latest = found[-1] if found else Done()
    return latest.reason if isinstance(latest, Refused | Unknown) else ""


def about(results: tuple[Result, ...], generation: Generation | None) -> tuple[Result, ...]:
    """Return those results that are about a generation, or about none in particular.

    A withdrawal before the publication of another generation is left out: it proves nothing any more.
    """
    own = [getattr(each.effect, "generation", generation) == generation for each in results]
    foreign = [place for place, each in enumerate(results) if isinstance(each.effect, Publish) and not own[place]]
    since = max(foreign, default=0)
    kept = (own[place] and (place >= since or not isinstance(each.effect, Withdraw)) for place, each in enumerate(results))
    return tuple(each for each, is_kept in zip(results, kept, strict=True) if is_kept)


def lived_through(deployment: Deployment, kind: type[Delay] | type[Watch]) -> bool:
    """This execution was seen to run on for as long as it had to."""
    start = own_started_at(deployment)
    return any(effect.started_at == start and isinstance(outcome, Done) for effect, outcome in taken(deployment, kind))


def contested(deployment: Deployment) -> tuple[Outcome, ...]:
    """Return what became of withdrawing the first service whose route names a port of the candidate."""
    first = deployment.clashes[:1]
    return tuple(outcome for effect, outcome in taken(deployment, Unroute) if (effect.app, effect.service) in first)


def has_given_up(deployment: Deployment) -> bool:
    """It is on record why this deploy failed."""
    return bool(taken(deployment, GiveUp))


# --- the candidate, as recovery would see it -----------------------------------------------------------------------------


def revision(deployment: Deployment) -> int:
    """Return the revision that ACTIVE is to have."""
    declared = deployment.subject.declared
    return (declared.revision if declared is not None else 0) + (0 if is_activated(deployment) else 1)


def declared(deployment: Deployment) -> Declared:
    """Return what ACTIVE is to say of the candidate, without binds."""
    wanted, now = deployment.wanted, deployment.subject.declared
    return Declared(
        deployment.own_id,
        revision(deployment),
        wanted.declared_ports,
        (),
        wanted.stop_grace_s,
        published=wanted.published and bool(wanted.ports),
        http=wanted.readiness.http,
        policy=now.policy if now is not None else DEFAULT_POLICY,
    )


def own_subject(deployment: Deployment) -> Subject:
    """Return the candidate as a service of its own: so the facts and commands of recovery apply to it."""
    named = declared(deployment)
    generation = Generation(deployment.subject.app, deployment.subject.service, named.container_id, named.revision)
    seen = deployment.own if deployment.own is not None else Gone()
    policy = evolve(named.policy, readiness_s=deployment.wanted.readiness.deadline_s)
    return Subject(
        deployment.subject.app,
        deployment.subject.service,
        seen,
        evolve(named, policy=policy),
        route=deployment.subject.route,
        results=about(deployment.results, generation),
    )


def own_candidate(deployment: Deployment) -> Candidate:
    """Return the candidate as what a failed deploy left."""
    seen = deployment.own if deployment.own is not None else Gone()
    known = deployment.journalled or not isinstance(seen, Gone)
    return Candidate(
        deployment.own_id,
        seen,
        journalled=known,
        exclusive=not deployment.wanted.overlaps,
        stop_grace_s=deployment.wanted.stop_grace_s,
    )


def own_seen_as(deployment: Deployment) -> SeenAs:
    """Return how the candidate was seen; GONE where there is none."""
    return seen_as(deployment.own) if deployment.own is not None else SeenAs.GONE


def own_runs(deployment: Deployment) -> bool:
    """The candidate runs, and its execution can be named."""
    return own_seen_as(deployment) is SeenAs.RUNNING


def own_started_at(deployment: Deployment) -> str:
    """Return the start time of the candidate's execution, "" where it never started."""
    return deployment.own.started_at if isinstance(deployment.own, Container) else ""


def has_check(deployment: Deployment) -> bool:
    """The container is to have a health check: its own, or that of its image."""
    health = deployment.wanted.health
    if health is not None:
        return not health.is_off
    return isinstance(deployment.image, Image) and deployment.image.has_health_check


# --- the law of recovery, asked about what this deploy touches -----------------------------------------------------------


def by_recovery(deployment: Deployment) -> Decision:
    """Return what recovery would do now for what ACTIVE names; the candidate of a deploy that failed counts as left behind."""
    subject = deployment.subject
    if has_given_up(deployment) and deployment.own_id and not is_activated(deployment):
        subject = evolve(subject, candidates=(*subject.candidates, own_candidate(deployment)))
    return decide(subject, deployment.clock.boot_s)


def of_the_superseded(deployment: Deployment) -> Decision | None:
    """Return the first decision with an effect about its superseded containers."""
    subject = deployment.subject
    found = (decide_superseded(each, subject, deployment.clock.boot_s) for each in subject.superseded)
    return next((each for each in found if each.effect is not None), None)


def of_the_leftovers(deployment: Deployment) -> Decision | None:
    """Return the first decision with an effect about what other deploys left."""
    subject = deployment.subject
    found = (decide_candidate(each, subject, deployment.clock.boot_s) for each in subject.candidates)
    return next((each for each in found if each.effect is not None), None)


def of_the_candidate(deployment: Deployment) -> Decision | None:
    """Return what is to be done with the candidate of a deploy that failed."""
    if not deployment.own_id or is_activated(deployment):
        return None
    subject = deployment.subject
    if facts.route_is_unread(subject) and not was_published(deployment):
        subject = evolve(subject, route=RouteSeen())
    decision = decide_candidate(own_candidate(deployment), subject, deployment.clock.boot_s)
    return decision if decision.effect is not None else None


def was_published(deployment: Deployment) -> bool:
    """This deploy had its candidate published, or tried to."""
    published = (each.effect for each in deployment.results if isinstance(each.effect, Publish))
    return any(each.generation.container_id == deployment.own_id for each in published)


# --- ACTIVE, and the way back --------------------------------------------------------------------------------------------


def is_activated(deployment: Deployment) -> bool:
    """ACTIVE names the candidate."""
    declared = deployment.subject.declared
    return bool(deployment.own_id) and declared is not None and declared.container_id == deployment.own_id


def former(deployment: Deployment) -> Declared | None:
    """Return what ACTIVE named before this deploy changed it."""
    found = taken(deployment, Activate)
    return found[0][0].former if found else None


def predecessor(deployment: Deployment) -> Superseded | None:
    """Return the container that ACTIVE named before, as seen now; None where there was none, or it is gone."""
    named = former(deployment)
    old = (each for each in deployment.subject.superseded if named is not None and each.container_id == named.container_id)
    return next((each for each in old if not isinstance(each.seen, Gone)), None)


def verified_at(deployment: Deployment, revision: int) -> Verified | None:
    """Return what was verified of the container before, as of another revision of it; None where the former was not verified.

    It need not be compared with what is seen now: what is known of one execution at its binds proves nothing of another.
    """
    named, old = former(deployment), predecessor(deployment)
    verified = old.verified if old is not None else None
    if verified is None or named is None or verified.revision != named.revision:
        return None
    return evolve(verified, revision=revision)


def has_a_way_back(deployment: Deployment) -> bool:
    """ACTIVE names the candidate, and the container before it was seen alive (or, where both must not run at once, kept)."""
    old = predecessor(deployment)
    if not is_activated(deployment) or old is None or not isinstance(old.seen, Container):
        return False
    was_kept = seen_as(old.seen) is SeenAs.DOWN and not deployment.wanted.overlaps
    return old.seen.status is Status.RUNNING or was_kept
