"""One question each, answered from a deployment: all that a row of the law for deploys may ask."""

from gordon_core import evidence, facts, tuned_facts
from gordon_core.blueprint import Mode
from gordon_core.deploy_effects import (
    Activate,
    AwaitRunning,
    Create,
    Delay,
    Journal,
    Pull,
    Rename,
    StartCandidate,
    Watch,
)
from gordon_core.deploy_evidence import (
    MOST_TRIES,
    by_recovery,
    contested,
    has_a_way_back,
    has_check,
    has_given_up,
    is_activated,
    is_in_vain,
    lived_through,
    of_the_candidate,
    of_the_leftovers,
    of_the_superseded,
    outcomes,
    own_runs,
    own_seen_as,
    own_started_at,
    own_subject,
    taken,
)
from gordon_core.deployment import PULL_ATTEMPTS, Deployment
from gordon_core.effects import (
    AwaitHealth,
    Done,
    Fault,
    Probe,
    Publish,
    Refused,
    Stop,
    Withdraw,
)
from gordon_core.observation import (
    Container,
    Gone,
    HealthStatus,
    Protocol,
    RouteUnread,
    SeenAs,
    Unread,
)
from gordon_core.snapshot import Intent

MOST_FALLS = 3
MOST_WATCHES = 3


def can_back_out(deployment: Deployment) -> bool:
    """It failed with the candidate named in ACTIVE, there is a way back, and going it was not refused."""
    back = tuple(outcome for effect, outcome in taken(deployment, Activate)[1:])
    return has_given_up(deployment) and has_a_way_back(deployment) and not is_in_vain(back)


def must_journal_again(deployment: Deployment) -> bool:
    """It can go back, and the journal does not name the candidate, which then nothing else would."""
    in_vain = is_in_vain(tuple(outcome for _, outcome in taken(deployment, Journal)[1:]))
    return can_back_out(deployment) and not deployment.journalled and not in_vain


def must_evict(deployment: Deployment) -> bool:
    """It failed, nothing may run beside its candidate, and that is still to be cleared."""
    return has_given_up(deployment) and not deployment.wanted.overlaps and of_the_candidate(deployment) is not None


def must_restore(deployment: Deployment) -> bool:
    """It failed, and recovery has something to do for what ACTIVE names; what may take long lets the candidate go first."""
    effect = by_recovery(deployment).effect
    is_long = isinstance(effect, AwaitHealth) or (isinstance(effect, Probe) and not evidence.is_verified(deployment.subject))
    may_wait = is_long and of_the_candidate(deployment) is not None
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


def is_on_hold(deployment: Deployment) -> bool:
    """Somebody wants the service left as it is, until a time not yet reached."""
    return tuned_facts.is_on_hold(deployment.subject, deployment.clock.boot_s) and not is_activated(deployment)


def is_blind(deployment: Deployment) -> bool:
    """It is to be published, and the router could not be read."""
    is_published = deployment.wanted.published and bool(deployment.wanted.ports)
    return is_published and isinstance(deployment.subject.route, RouteUnread) and not is_activated(deployment)


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


def unread_bearer(deployment: Deployment) -> Unread | None:
    """Return why a container of this service could not be read that may bear a name of a candidate; None where all were read."""
    subject = deployment.subject
    looks = [*(each.seen for each in subject.superseded), *(each.seen for each in subject.candidates)]
    looks += [subject.seen] if subject.declared is not None else []
    return next((each for each in looks if isinstance(each, Unread)), None)


def is_nameless_unread(deployment: Deployment) -> bool:
    """There is no candidate, both temporary names are taken, and a container that may bear one could not be read."""
    return is_nameless(deployment) and unread_bearer(deployment) is not None


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
