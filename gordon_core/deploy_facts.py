"""One question each, answered from a deployment: all that a row of the law for deploys may ask."""

from typing import TypeVar

from attrs import evolve

from gordon_core import evidence, facts
from gordon_core.blueprint import Image, Mode
from gordon_core.deploy_effects import (
    Activate,
    AwaitRunning,
    Create,
    Delay,
    DeployEffect,
    GiveUp,
    Journal,
    Pull,
    Rename,
    StartCandidate,
    Unroute,
    Watch,
)
from gordon_core.deployment import PULL_ATTEMPTS, Deployment
from gordon_core.effects import (
    AwaitHealth,
    Done,
    Fault,
    Generation,
    Outcome,
    Probe,
    Publish,
    RecordVerified,
    Refused,
    Result,
    Stop,
    Unknown,
    Withdraw,
)
from gordon_core.observation import (
    Container,
    Gone,
    HealthStatus,
    Protocol,
    RouteSeen,
    RouteUnread,
    SeenAs,
    Status,
    Unread,
    seen_as,
)
from gordon_core.planner import Decision, decide, decide_candidate, decide_superseded
from gordon_core.policy import DEFAULT_POLICY
from gordon_core.snapshot import Candidate, Declared, Intent, NamedAs, Subject, Superseded

E = TypeVar("E", bound=DeployEffect)
MOST_TRIES = 2
"""How often a command that had no answer is given again."""
MOST_FALLS = 3
MOST_WATCHES = 3

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
        NamedAs.TEMPORARY,
        owned=True,
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
    found = (decide_superseded(each, subject) for each in subject.superseded)
    return next((each for each in found if each.effect is not None), None)


def of_the_leftovers(deployment: Deployment) -> Decision | None:
    """Return the first decision with an effect about what other deploys left."""
    subject = deployment.subject
    found = (decide_candidate(each, subject) for each in subject.candidates)
    return next((each for each in found if each.effect is not None), None)


def of_the_candidate(deployment: Deployment) -> Decision | None:
    """Return what is to be done with the candidate of a deploy that failed."""
    if not deployment.own_id or is_activated(deployment):
        return None
    subject = deployment.subject
    if facts.route_is_unread(subject) and not was_published(deployment):
        subject = evolve(subject, route=RouteSeen())
    decision = decide_candidate(own_candidate(deployment), subject)
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


def has_a_way_back(deployment: Deployment) -> bool:
    """ACTIVE names the candidate, and the container before it was seen alive (or, where both must not run at once, kept)."""
    old = predecessor(deployment)
    if not is_activated(deployment) or old is None or not isinstance(old.seen, Container):
        return False
    was_kept = seen_as(old.seen) is SeenAs.DOWN and not deployment.wanted.overlaps
    return old.seen.status is Status.RUNNING or was_kept


def can_back_out(deployment: Deployment) -> bool:
    """It failed with the candidate named in ACTIVE, there is a way back, and going it was not refused."""
    back = tuple(outcome for effect, outcome in taken(deployment, Activate)[1:])
    return has_given_up(deployment) and has_a_way_back(deployment) and not is_in_vain(back)


def must_journal_again(deployment: Deployment) -> bool:
    """It can go back, and the journal does not name the candidate, which then nothing else would."""
    in_vain = is_in_vain(tuple(outcome for _, outcome in taken(deployment, Journal)[1:]))
    return can_back_out(deployment) and not deployment.journalled and not in_vain


def can_vouch(deployment: Deployment) -> bool:
    """It went back to the very execution that was verified before, at the binds at which it was."""
    outgoing = next((effect.superseded for effect, _ in taken(deployment, Activate)), None)
    subject = deployment.subject
    verified, declared = outgoing.verified if outgoing is not None else None, subject.declared
    return (
        has_given_up(deployment)
        and outgoing is not None
        and verified is not None
        and declared is not None
        and declared.container_id == outgoing.container_id
        and evidence.runs(subject)
        and evidence.started_at(subject) == verified.started_at
        and evidence.same_binds(evidence.present_binds(subject), verified.binds)
        and not evidence.is_verified(subject)
        and not evidence.results_of(subject, RecordVerified)
    )


# --- what the rows ask ---------------------------------------------------------------------------------------------------


def must_evict(deployment: Deployment) -> bool:
    """It failed, nothing may run beside its candidate, and that is still to be cleared."""
    return has_given_up(deployment) and not deployment.wanted.overlaps and of_the_candidate(deployment) is not None


def must_restore(deployment: Deployment) -> bool:
    """It failed, and recovery has something to do for what ACTIVE names; what only waits lets the candidate go first."""
    effect = by_recovery(deployment).effect
    may_wait = isinstance(effect, AwaitHealth | Probe) and of_the_candidate(deployment) is not None
    return has_given_up(deployment) and effect is not None and not may_wait


def must_clear(deployment: Deployment) -> bool:
    """It failed, and its candidate is still to be cleared."""
    return has_given_up(deployment) and of_the_candidate(deployment) is not None


def is_cancelled(deployment: Deployment) -> bool:
    """It was cancelled before ACTIVE named the candidate."""
    return bool(deployment.cancelled) and not is_activated(deployment)


def is_overdue(deployment: Deployment) -> bool:
    """Its time is over before ACTIVE named the candidate."""
    return deployment.clock.boot_s - deployment.began_s > deployment.deadline_s and not is_activated(deployment)


def is_unlisted(deployment: Deployment) -> bool:
    """The containers of the host could not be listed, and there is no candidate yet."""
    return bool(deployment.unlisted) and not deployment.own_id


def is_shut(deployment: Deployment) -> bool:
    """The operator wants the app stopped."""
    return deployment.subject.intent is Intent.STOPPED and not is_activated(deployment)


def is_blind(deployment: Deployment) -> bool:
    """It is to be published, and the router could not be read."""
    is_published = deployment.wanted.published and bool(deployment.wanted.ports)
    return is_published and isinstance(deployment.subject.route, RouteUnread) and not is_activated(deployment)


def contested(deployment: Deployment) -> tuple[Outcome, ...]:
    """Return what became of withdrawing the first service whose route names a port of the candidate."""
    first = deployment.clashes[:1]
    return tuple(outcome for effect, outcome in taken(deployment, Unroute) if (effect.app, effect.service) in first)


def is_contested(deployment: Deployment) -> bool:
    """The candidate runs, and the route of another service names a port that it holds."""
    return own_runs(deployment) and bool(deployment.clashes)


def is_contested_in_vain(deployment: Deployment) -> bool:
    """The candidate runs, the route of another service names a port that it holds, and withdrawing that one failed."""
    tried = contested(deployment)
    return is_contested(deployment) and (is_in_vain(tried) or len(tried) >= MOST_TRIES)


def has_died(deployment: Deployment) -> bool:
    """ACTIVE names the candidate, it ended, and there is a way back."""
    return has_a_way_back(deployment) and own_seen_as(deployment) in {SeenAs.DOWN, SeenAs.GONE}


def was_unpublishable(deployment: Deployment) -> bool:
    """ACTIVE names the candidate, and its publication failed."""
    found = evidence.failed(deployment.subject, Publish)
    return is_activated(deployment) and found and not facts.serves(deployment.subject)


def is_unaltered(deployment: Deployment) -> bool:
    """What ACTIVE names runs, is all that is wanted, and serves, or is about to."""
    subject = deployment.subject
    if deployment.own_id or deployment.changed != () or not evidence.runs(subject):
        return False
    return facts.serves(subject) or by_recovery(deployment).effect is not None


def is_current(deployment: Deployment) -> bool:
    """ACTIVE names a container that is as wanted."""
    return is_activated(deployment) or is_unaltered(deployment)


def is_unfinished(deployment: Deployment) -> bool:
    """ACTIVE names a container that is as wanted, and recovery has something to do for it."""
    return is_current(deployment) and by_recovery(deployment).effect is not None


def is_unserved(deployment: Deployment) -> bool:
    """ACTIVE names the candidate, and it does not serve; that nobody could look is no sign of it once it was watched."""
    was_watched = any(isinstance(each, Done) for each in outcomes(deployment, Watch))
    is_silent = isinstance(deployment.own, Unread) or facts.route_is_unread(deployment.subject)
    return is_activated(deployment) and not facts.serves(deployment.subject) and not (was_watched and is_silent)


def is_unwatched(deployment: Deployment) -> bool:
    """ACTIVE names the candidate, it serves, and this execution was not seen through its first moments."""
    is_done = lived_through(deployment, Watch) or len(taken(deployment, Watch)) >= MOST_WATCHES
    return is_activated(deployment) and facts.serves(deployment.subject) and not (deployment.cancelled or is_done)


def lived_through(deployment: Deployment, kind: type[Delay] | type[Watch]) -> bool:
    """This execution was seen to run on for as long as it had to."""
    start = own_started_at(deployment)
    return any(effect.started_at == start and isinstance(outcome, Done) for effect, outcome in taken(deployment, kind))


def was_interrupted(deployment: Deployment) -> bool:
    """ACTIVE names the candidate, and somebody wants this to end."""
    return is_activated(deployment) and bool(deployment.cancelled)


def has_one_to_retire(deployment: Deployment) -> bool:
    """ACTIVE names a container that is as wanted, and a superseded one is to go."""
    return is_current(deployment) and of_the_superseded(deployment) is not None


def has_leftovers(deployment: Deployment) -> bool:
    """Another deploy left a container that is to go."""
    return of_the_leftovers(deployment) is not None


def has_leftovers_beside(deployment: Deployment) -> bool:
    """ACTIVE names a container that is as wanted, and another deploy left one that is to go."""
    return is_current(deployment) and has_leftovers(deployment)


def is_misnamed(deployment: Deployment) -> bool:
    """What ACTIVE names serves under a temporary name, nothing bears the canonical one, and renaming was not refused."""
    seen = deployment.subject.seen
    return (
        is_current(deployment)
        and isinstance(seen, Container)
        and seen.name in deployment.names.temporary
        and not deployment.unlisted
        and deployment.names.canonical not in deployment.taken_names
        and not is_in_vain(outcomes(deployment, Rename))
    )


def is_image_unread(deployment: Deployment) -> bool:
    """The engine did not say whether it has the image."""
    return isinstance(deployment.image, Unread)


def is_imageless(deployment: Deployment) -> bool:
    """The engine has not got the image, and fetching it failed for good, or as often as it may."""
    found = outcomes(deployment, Pull)
    refused = any(isinstance(each, Refused) and each.fault is not Fault.REGISTRY for each in found)
    return isinstance(deployment.image, Gone) and (refused or len(found) >= PULL_ATTEMPTS)


def is_unfetched(deployment: Deployment) -> bool:
    """The engine has not got the image."""
    return isinstance(deployment.image, Gone)


def is_unchecked(deployment: Deployment) -> bool:
    """Readiness by health check is asked for, and there is none."""
    return deployment.wanted.readiness.mode is Mode.HEALTH and not has_check(deployment)


def is_ungranted(deployment: Deployment) -> bool:
    """The host does not grant what it mounts or uses."""
    return bool(deployment.ungranted) and not own_started_at(deployment)


def free_name(deployment: Deployment) -> str:
    """Return the first temporary name that nothing bears, "" where both are taken."""
    return next((each for each in deployment.names.temporary if each not in deployment.taken_names), "")


def gives_way(deployment: Deployment) -> tuple[str, str] | None:
    """Return which container can give up a name of a candidate, and for which other name; None where none can, or did so before.

    A superseded one is known by its ID, and may bear any name until it goes; the one in ACTIVE has the canonical name to take.
    """
    own, subject = deployment.names, deployment.subject
    borne = {each.container_id: each.seen.name for each in subject.superseded if isinstance(each.seen, Container)}
    active = subject.seen if isinstance(subject.seen, Container) and subject.seen.name in own.temporary else None
    in_the_way = {*own.temporary} if active is None else {*own.temporary, own.canonical}
    found = [(each, f"{own.canonical}-{each[:12]}") for each, name in borne.items() if name in in_the_way]
    if active is not None and own.canonical not in deployment.taken_names:
        found.append((active.container_id, own.canonical))
    moved = {effect.container_id for effect, _ in taken(deployment, Rename)}
    return next((each for each in found if each[0] not in moved), None)


def is_crowded(deployment: Deployment) -> bool:
    """There is no candidate, both temporary names are taken, and a container of this service can give one up."""
    return is_nameless(deployment) and gives_way(deployment) is not None


def is_nameless(deployment: Deployment) -> bool:
    """There is no candidate, and both temporary names are taken."""
    return not deployment.own_id and not free_name(deployment)


def is_uncreated_in_vain(deployment: Deployment) -> bool:
    """Creating the candidate was refused, or it cannot be found although it was created."""
    return not deployment.own_id and bool(outcomes(deployment, Create))


def is_uncreated(deployment: Deployment) -> bool:
    """There is no candidate."""
    return not deployment.own_id


def is_unjournalled(deployment: Deployment) -> bool:
    """The candidate is not in the journal."""
    return not deployment.journalled


def is_unjournalled_in_vain(deployment: Deployment) -> bool:
    """The candidate is not in the journal, and writing it down failed."""
    return is_unjournalled(deployment) and is_in_vain(outcomes(deployment, Journal))


def must_yield(deployment: Deployment) -> bool:
    """Both must not run at once, and the candidate was never started."""
    return not deployment.wanted.overlaps and not own_started_at(deployment) and deployment.subject.declared is not None


def is_old_routed(deployment: Deployment) -> bool:
    """Both must not run at once, and the old container is not provably withdrawn."""
    return must_yield(deployment) and not facts.is_clear(deployment.subject)


def is_old_routed_in_vain(deployment: Deployment) -> bool:
    """Both must not run at once, and a withdrawal of the old container failed."""
    return is_old_routed(deployment) and evidence.failed(deployment.subject, Withdraw)


def is_old_up(deployment: Deployment) -> bool:
    """Both must not run at once, and the old container was not seen down."""
    return must_yield(deployment) and deployment.subject.seen_as not in {SeenAs.DOWN, SeenAs.GONE}


def is_old_up_in_vain(deployment: Deployment) -> bool:
    """Both must not run at once, and the old container was told to stop, and still was not seen down."""
    return is_old_up(deployment) and bool(evidence.results_of(deployment.subject, Stop))


def is_unstarted(deployment: Deployment) -> bool:
    """The candidate was never started."""
    return own_seen_as(deployment) is SeenAs.DOWN and not own_started_at(deployment)


def is_unstarted_in_vain(deployment: Deployment) -> bool:
    """The candidate was never started, and starting it failed."""
    found = outcomes(deployment, StartCandidate)
    return is_unstarted(deployment) and (is_in_vain(found) or len(found) >= MOST_TRIES)


def has_ended(deployment: Deployment) -> bool:
    """The candidate does not run, and did not come back in the time that a fall is forgiven, or falls again and again."""
    falls = outcomes(deployment, AwaitRunning)
    is_gone = own_seen_as(deployment) is SeenAs.GONE
    came_back = all(isinstance(each, Done) for each in falls)
    return not own_runs(deployment) and (is_gone or not came_back or len(falls) >= MOST_FALLS)


def has_fallen(deployment: Deployment) -> bool:
    """The candidate does not run."""
    return not own_runs(deployment)


def is_starting(deployment: Deployment) -> bool:
    """Its health check has not said anything, or could not be read."""
    return evidence.health(own_subject(deployment)) in {HealthStatus.STARTING, HealthStatus.UNREAD}


def is_starting_in_vain(deployment: Deployment) -> bool:
    """Its health could not be read, as often as that may be."""
    unread = evidence.health(own_subject(deployment)) is HealthStatus.UNREAD
    return unread and len(evidence.results_of(own_subject(deployment), AwaitHealth)) >= MOST_TRIES


def is_ill(deployment: Deployment) -> bool:
    """Its health check says unhealthy."""
    return facts.is_unhealthy(own_subject(deployment))


def is_unbound(deployment: Deployment) -> bool:
    """A port of the candidate is not bound on loopback."""
    return evidence.is_unbound(own_subject(deployment))


def is_unready(deployment: Deployment) -> bool:
    """This execution of the candidate answered that it is not ready, or could not be asked."""
    subject = own_subject(deployment)
    return evidence.is_unready(subject) or (needs_a_probe(deployment) and len(evidence.results_of(subject, Probe)) >= MOST_FALLS)


def is_fresh(deployment: Deployment) -> bool:
    """Only time can tell whether it is ready, and this execution has not run for so long yet."""
    wanted = deployment.wanted
    is_told = has_check(deployment) or any(each.port.protocol is Protocol.TCP for each in wanted.ports)
    is_asked_for = wanted.readiness.mode is Mode.DELAY
    return (is_asked_for or not is_told) and not lived_through(deployment, Delay)


def needs_a_probe(deployment: Deployment) -> bool:
    """This execution of the candidate has not answered its readiness check at the binds that it has."""
    return not evidence.is_ready(own_subject(deployment))


def is_outrun(deployment: Deployment) -> bool:
    """Naming the candidate in ACTIVE failed."""
    return is_in_vain(outcomes(deployment, Activate))
