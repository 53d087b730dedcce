"""The law for deploys: an ordered table of stages, of the same make as that for services. First row that holds wins.

A deploy decides only what is its own: the candidate, until ACTIVE names it, and the way back. All else is asked of the other
tables: recovery's law publishes and restores, that for superseded containers retires the old one, that for candidates clears what
is left. So a deploy that is killed between any two steps leaves nothing that the next pass does not finish.
"""

from collections.abc import Callable

from attrs import evolve, frozen

from gordon_core import commands, evidence
from gordon_core import deploy_evidence as own
from gordon_core import deploy_facts as facts
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
from gordon_core.deployment import Deployment
from gordon_core.effects import Fault, Generation, Outcome, Publish, Refused, ServiceEffect, Stop, Withdraw
from gordon_core.memory import Verified
from gordon_core.observation import Container, Gone, Unread
from gordon_core.planner import Decision
from gordon_core.sentences import hold_in_words
from gordon_core.snapshot import Declared, Superseded
from gordon_core.stages import Stage

_HEALTH_LOOK_S = 30.0
Fact = Callable[[Deployment], bool]
Command = Callable[[Deployment], DeployStep]


@frozen
class Row:
    """One line of the law for deploys. Without a command it is where a deploy ends."""

    stage: Stage
    holds: Fact
    command: Command | None = None


def _always(_deployment: Deployment) -> bool:
    """Otherwise."""
    return True


def _give_up(why: Why, reason: Callable[[Deployment], str] = lambda _deployment: "") -> Command:
    """Return the command that puts on record why a deploy failed."""

    def gives_up(deployment: Deployment) -> GiveUp:
        return GiveUp(why, deployment.own_id, reason(deployment))

    gives_up.__doc__ = f"Give up, since {why.value}."
    return gives_up


def _called_for(decision: Decision | None) -> DeployStep:
    assert decision is not None  # noqa: S101 - a row with this command holds only where another law calls for an effect
    assert decision.effect is not None  # noqa: S101
    return decision.effect


def _recover(deployment: Deployment) -> DeployStep:
    """Do what recovery would."""
    return _called_for(own.by_recovery(deployment))


def _retire(deployment: Deployment) -> DeployStep:
    """Retire the superseded container."""
    return _called_for(own.of_the_superseded(deployment))


def _clear_leftovers(deployment: Deployment) -> DeployStep:
    """Clear what another deploy left."""
    return _called_for(own.of_the_leftovers(deployment))


def _clear(deployment: Deployment) -> DeployStep:
    """Clear the candidate."""
    return _called_for(own.of_the_candidate(deployment))


# --- the candidate -------------------------------------------------------------------------------------------------------


def _pull(deployment: Deployment) -> Pull:
    """Fetch the image; after a refusal a little later, each time twice as long."""
    tried = len(own.outcomes(deployment, Pull))
    return Pull(deployment.wanted.image, float(2 ** (tried - 1)) if tried else 0.0)


def _create(deployment: Deployment) -> Create:
    """Create the candidate under the first temporary name that is free."""
    return Create(facts.free_name(deployment), own.revision(deployment))


def _make_way(deployment: Deployment) -> Rename:
    """Give a container that bears one of them another name."""
    renamed = facts.gives_way(deployment)
    assert renamed is not None  # noqa: S101 - a row with this command holds only where one can give way
    return Rename(*renamed)


def _journal(deployment: Deployment) -> Journal:
    """Write the candidate down."""
    name = deployment.own.name if isinstance(deployment.own, Container) else ""
    return Journal(deployment.own_id, name)


def _withdraw(deployment: Deployment) -> Withdraw:
    """Take the route of the old container away."""
    return commands.withdraw(deployment.subject)


def _stop(deployment: Deployment) -> Stop:
    """Stop the old container, with its grace, and keep it."""
    return commands.stop(deployment.subject)


def _start(deployment: Deployment) -> StartCandidate:
    """Start the candidate."""
    return StartCandidate(deployment.own_id)


def _unroute(deployment: Deployment) -> Unroute:
    """Withdraw that service."""
    return Unroute(*deployment.clashes[0])


def _await_running(deployment: Deployment) -> AwaitRunning:
    """Look until it runs again."""
    return AwaitRunning(deployment.own_id, deployment.wanted.readiness.forgiven_s)


def _await_health(deployment: Deployment) -> DeployStep:
    """Wait for its health check; while that says starting, only the deploy's own time runs."""
    return evolve(commands.await_health(own.own_subject(deployment)), wait_s=_HEALTH_LOOK_S)


def _probe(deployment: Deployment) -> DeployStep:
    """Ask it for readiness."""
    return commands.probe(own.own_subject(deployment))


def _see_it_through(deployment: Deployment) -> Delay:
    """See it through the delay after which it counts as ready."""
    return Delay(_generation(deployment), own.own_started_at(deployment), deployment.wanted.readiness.delay_s)


def _watch_it_serve(deployment: Deployment) -> Watch:
    """See it through its first moments."""
    return Watch(_generation(deployment), own.own_started_at(deployment), deployment.watch_s)


def _generation(deployment: Deployment) -> Generation:
    subject = deployment.subject
    return Generation(subject.app, subject.service, deployment.own_id, own.revision(deployment))


# --- ACTIVE --------------------------------------------------------------------------------------------------------------


def _activate(deployment: Deployment) -> Activate:
    """Name the candidate in ACTIVE, with its binds and as verified, and mark the old container to be retired: one transaction."""
    subject = deployment.subject
    binds, on_record = evidence.present_binds(own.own_subject(deployment)), deployment.policy_on_record
    named = evolve(own.declared(deployment), binds=binds, policy=on_record)
    verified = Verified(own.own_started_at(deployment), named.binds, named.revision)
    return Activate(subject.app, subject.service, named, subject.declared, _outgoing(deployment), verified)


def _outgoing(deployment: Deployment) -> Superseded | None:
    subject, old = deployment.subject, deployment.subject.declared
    if old is None or isinstance(subject.seen, Gone):
        return None
    return Superseded(old.container_id, subject.seen, old.stop_grace_s, old.binds, subject.memory.verified)


def _go_back(deployment: Deployment) -> Activate:
    """Name the old container in ACTIVE again, with what was verified of it; the journal names the candidate."""
    subject, now, before = deployment.subject, _named(deployment.subject.declared), _named(own.former(deployment))
    again = evolve(before, revision=now.revision + 1, policy=deployment.policy_on_record)
    return Activate(subject.app, subject.service, again, now, None, own.verified_at(deployment, again.revision))


def _named(declared: Declared | None) -> Declared:
    assert declared is not None  # noqa: S101 - there is a way back only from what ACTIVE names to what it named
    return declared


def _rename(deployment: Deployment) -> Rename:
    """Give it its canonical name."""
    return Rename(_named(deployment.subject.declared).container_id, deployment.names.canonical)


# --- the words of whoever said no ----------------------------------------------------------------------------------------


def _said(outcomes: Callable[[Deployment], tuple[Outcome, ...]]) -> Callable[[Deployment], str]:
    def said(deployment: Deployment) -> str:
        return own.words(outcomes(deployment))

    return said


def _of(kind: type[DeployEffect]) -> Callable[[Deployment], str]:
    return _said(lambda deployment: own.outcomes(deployment, kind))


def _of_recovery(kind: type[ServiceEffect]) -> Callable[[Deployment], str]:
    return _said(lambda deployment: tuple(each.outcome for each in evidence.results_of(deployment.subject, kind)))


def _of_the_candidate(deployment: Deployment) -> str:
    return own.words(tuple(each.outcome for each in own.own_subject(deployment).results))


def _of_the_image(deployment: Deployment) -> str:
    return deployment.image.reason if isinstance(deployment.image, Unread) else ""


def _of_the_hold(deployment: Deployment) -> str:
    return f"held {hold_in_words(deployment.subject.hold, deployment.clock)}"


def _of_its_bearers(deployment: Deployment) -> str:
    unread = facts.unread_bearer(deployment)
    return unread.reason if unread is not None else ""


def _of_its_ports(deployment: Deployment) -> str:
    return f"nothing leads to {' and '.join(map(str, evidence.missing_ports(own.own_subject(deployment))))}"


def _of_the_pull(deployment: Deployment) -> GiveUp:
    """Give up, and tell apart whether the registry is out of reach, or has no such image."""
    found = own.outcomes(deployment, Pull)
    refused = any(isinstance(each, Refused) and each.fault is not Fault.REGISTRY for each in found)
    return GiveUp(Why.ABSENT if refused else Why.UNREACHED, "", own.words(found))


def _of_activation(deployment: Deployment) -> GiveUp:
    """Give up, and tell apart whether somebody else was faster, or the state cannot be written."""
    found = own.outcomes(deployment, Activate)
    beaten = any(isinstance(each, Refused) and each.fault is Fault.CONFLICT for each in found)
    return GiveUp(Why.CONFLICT if beaten else Why.STORE, deployment.own_id, own.words(found))


_S = Stage

ROWS: tuple[Row, ...] = (
    # It has failed: what served before serves again, and the candidate goes.
    Row(_S.DISOWNING, facts.must_journal_again, _journal),
    Row(_S.BACKING_OUT, facts.can_back_out, _go_back),
    Row(_S.EVICTING, facts.must_evict, _clear),
    Row(_S.RESTORING, facts.must_restore, _recover),
    Row(_S.CLEARING, facts.must_clear, _clear),
    Row(_S.FAILED, own.has_given_up),
    # What must not go on.
    Row(_S.CANCELLED, facts.is_cancelled, _give_up(Why.CANCELLED, lambda deployment: deployment.cancelled)),
    Row(_S.OVERDUE, facts.is_overdue, _give_up(Why.OVERDUE)),
    Row(_S.UNLISTED, facts.is_unlisted, _give_up(Why.ENGINE, lambda deployment: deployment.unlisted)),
    Row(_S.SHUT, facts.is_shut, _give_up(Why.STOPPED)),
    Row(_S.ON_HOLD, facts.is_on_hold, _give_up(Why.ON_HOLD, _of_the_hold)),
    Row(_S.BLIND, facts.is_blind, _give_up(Why.ROUTER)),
    # Engines hand freed ports to the next container: what still leads there is withdrawn before anything is served from them.
    Row(_S.CONTESTED_IN_VAIN, facts.is_contested_in_vain, _give_up(Why.CONTESTED, _said(own.contested))),
    Row(_S.CONTESTED, facts.is_contested, _unroute),
    # ACTIVE names what is wanted: recovery's law makes it serve, and the old container goes.
    Row(_S.DIED, facts.has_died, _give_up(Why.DIED)),
    Row(_S.UNPUBLISHED, facts.was_unpublishable, _give_up(Why.UNPUBLISHED, _of_recovery(Publish))),
    Row(_S.FINISHING, facts.is_unfinished, _recover),
    Row(_S.UNSERVED, facts.is_unserved, _give_up(Why.UNSERVED)),
    Row(_S.UNWATCHED, facts.is_unwatched, _watch_it_serve),
    Row(_S.INTERRUPTED, facts.was_interrupted),
    Row(_S.RETIRING, facts.has_one_to_retire, _retire),
    Row(_S.TIDYING, facts.has_leftovers_beside, _clear_leftovers),
    Row(_S.MISNAMED, facts.is_misnamed, _rename),
    Row(_S.UNALTERED, facts.is_unaltered),
    Row(_S.DEPLOYED, own.is_activated),
    # There is no candidate yet.
    Row(_S.LEFTOVER, facts.has_leftovers, _clear_leftovers),
    Row(_S.IMAGE_UNREAD, facts.is_image_unread, _give_up(Why.ENGINE, _of_the_image)),
    Row(_S.IMAGELESS, facts.is_imageless, _of_the_pull),
    Row(_S.UNFETCHED, facts.is_unfetched, _pull),
    Row(_S.UNCHECKED, facts.is_unchecked, _give_up(Why.UNCHECKED)),
    Row(_S.UNGRANTED, facts.is_ungranted, _give_up(Why.UNGRANTED, lambda deployment: "; ".join(deployment.ungranted))),
    Row(_S.CROWDED, facts.is_crowded, _make_way),
    Row(_S.NAMES_UNREAD, facts.is_nameless_unread, _give_up(Why.ENGINE, _of_its_bearers)),
    Row(_S.NAMELESS, facts.is_nameless, _give_up(Why.NAMELESS, lambda deployment: " and ".join(deployment.names.temporary))),
    Row(_S.UNCREATED_IN_VAIN, facts.is_uncreated_in_vain, _give_up(Why.UNCREATED, _of(Create))),
    Row(_S.UNCREATED, facts.is_uncreated, _create),
    Row(_S.UNJOURNALLED_IN_VAIN, facts.is_unjournalled_in_vain, _give_up(Why.STORE, _of(Journal))),
    Row(_S.UNJOURNALLED, facts.is_unjournalled, _journal),
    # Where both must not run at once, the old container yields at the last moment, and is kept.
    Row(_S.OLD_ROUTED_IN_VAIN, facts.is_old_routed_in_vain, _give_up(Why.WITHDRAWAL, _of_recovery(Withdraw))),
    Row(_S.OLD_ROUTED, facts.is_old_routed, _withdraw),
    Row(_S.OLD_UP_IN_VAIN, facts.is_old_up_in_vain, _give_up(Why.DETENTION, _of_recovery(Stop))),
    Row(_S.OLD_UP, facts.is_old_up, _stop),
    # The candidate comes up.
    Row(_S.UNSTARTED_IN_VAIN, facts.is_unstarted_in_vain, _give_up(Why.UNSTARTED, _of(StartCandidate))),
    Row(_S.UNSTARTED, facts.is_unstarted, _start),
    Row(_S.ENDED, facts.has_ended, _give_up(Why.ENDED)),
    Row(_S.FALLEN, facts.has_fallen, _await_running),
    Row(_S.STARTING_IN_VAIN, facts.is_starting_in_vain, _give_up(Why.ENGINE, _of_the_candidate)),
    Row(_S.STARTING, facts.is_starting, _await_health),
    Row(_S.ILL, facts.is_ill, _give_up(Why.UNHEALTHY)),
    Row(_S.UNBOUND, facts.is_unbound, _give_up(Why.UNBOUND, _of_its_ports)),
    Row(_S.UNREADY, facts.is_unready, _give_up(Why.UNREADY, _of_the_candidate)),
    Row(_S.FRESH, facts.is_fresh, _see_it_through),
    Row(_S.UNPROBED, facts.needs_a_probe, _probe),
    Row(_S.OUTRUN, facts.is_outrun, _of_activation),
    Row(_S.READY, _always, _activate),
)
