"""One question each, answered from a subject (and the time, where it matters): all that a row of the law may ask.

Each is phrased as a clause; the table in the README prints it.
"""

from gordon_core.effects import (
    Done,
    Publish,
    Withdraw,
)
from gordon_core.evidence import (
    has_landed,
    health,
    is_charged,
    is_on_record,
    is_ready,
    is_remembered,
    is_sick,
    is_unbound,
    is_unready,
    is_verified,
    needs_attempt,
    present_binds,
    results_of,
    retry_at_s,
    runs,
    same_binds,
    stable_at_s,
    was_attempted,
    was_awaited,
    was_refused,
)
from gordon_core.observation import (
    Bind,
    Binds,
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
from gordon_core.snapshot import Subject, Superseded

# --- the route -----------------------------------------------------------------------------------------------------------


def is_published(subject: Subject) -> bool:
    """It is to be routed: declared so, and with ports."""
    return subject.declared is not None and subject.declared.published and bool(subject.declared.ports)


def carried(binds: Binds, protocols: tuple[Protocol, ...]) -> Binds:
    """Return those binds that the router can route."""
    return tuple(each for each in binds if each.port.protocol in protocols)


def routed_binds(subject: Subject) -> Binds:
    """Return where a read shows it routed; nowhere, where there was no read."""
    return subject.route.binds if isinstance(subject.route, RouteSeen) else ()


def route_is_unread(subject: Subject) -> bool:
    """The router could not be read."""
    return isinstance(subject.route, RouteUnread)


def is_routed(subject: Subject) -> bool:
    """It runs as the verified execution, and new requests reach exactly its binds."""
    return (
        is_verified(subject)
        and isinstance(subject.route, RouteSeen)
        and same_binds(subject.route.binds, carried(present_binds(subject), subject.route.carries))
    )


def still_serves(superseded: Superseded) -> bool:
    """The superseded container runs as its verified execution, at its binds, as far as can be told.

    What was not read is no contradiction.
    """
    verified, seen = superseded.verified, superseded.seen
    if verified is None or isinstance(seen, Gone):
        return False
    if isinstance(seen, Unread):
        return True
    held = {(each.port, each.host_port) for each in seen.ports}
    return (
        seen.status is Status.RUNNING
        and seen.started_at == verified.started_at
        and held >= {(each.port, each.host_port) for each in verified.binds}
    )


def predecessors_binds(subject: Subject) -> set[Bind]:
    """Return where superseded containers of its own were verified and still serve.

    A port that it holds itself, or has on record since it held it, is none of theirs any more.
    """
    held = {each.at for each in subject.seen.ports} if isinstance(subject.seen, Container) and runs(subject) else set()
    held |= {each.at for each in subject.declared.binds} if subject.declared is not None else set()
    return {
        bind
        for each in subject.superseded
        if each.verified is not None and still_serves(each)
        for bind in each.verified.binds
        if bind.at not in held
    }


def leads_to_predecessor(subject: Subject) -> bool:
    """It is routed, and only to binds at which superseded containers of its own were verified and still serve."""
    routed = routed_binds(subject)
    return bool(routed) and set(routed) <= predecessors_binds(subject)


def leads_astray(subject: Subject) -> bool:
    """A read shows a route to something else than its verified, running execution (or, until it serves, its predecessor's)."""
    if not routed_binds(subject) or (is_published(subject) and is_routed(subject)):
        return False
    routed = set(routed_binds(subject))
    # What is unpublished is never routed itself.
    right = set(present_binds(subject)) if is_verified(subject) and is_published(subject) else set()
    return not routed <= (right if serves(subject) else right | predecessors_binds(subject))


def withdrawal_was_seen(subject: Subject) -> bool:
    """A withdrawal was read back in this pass, and nothing was published since."""
    latest = results_of(subject, Withdraw, Publish)
    return bool(latest) and isinstance(latest[-1].effect, Withdraw) and isinstance(latest[-1].outcome, Done)


def is_withdrawn(subject: Subject) -> bool:
    """Provably no new request reaches any backend of the service."""
    if subject.unproven:
        return False
    if isinstance(subject.route, RouteSeen):
        return not subject.route.binds
    return withdrawal_was_seen(subject)


def is_clear(subject: Subject) -> bool:
    """The declared container can be touched: nothing routes to it, or it is not published and nothing was seen to."""
    if subject.unproven:
        return False
    if route_is_unread(subject) and not is_published(subject):
        return True
    return is_withdrawn(subject) or leads_to_predecessor(subject)


def serves(subject: Subject) -> bool:
    """It does its work: runs, verified, routed unless unpublished, and not unhealthy."""
    return (
        is_verified(subject)
        and (not is_published(subject) or is_routed(subject))
        and health(subject) is not HealthStatus.UNHEALTHY
        and not subject.unproven
    )


def is_stable(subject: Subject) -> bool:
    """This look counts towards five stable minutes."""
    return serves(subject) and health(subject) in {HealthStatus.NONE, HealthStatus.HEALTHY}


def may_be_routed(subject: Subject) -> bool:
    """A read shows a route, or a withdrawal is unproven, or nobody could look at one that is to be published."""
    if route_is_unread(subject) and withdrawal_was_seen(subject):
        return False
    return bool(routed_binds(subject)) or subject.unproven or (route_is_unread(subject) and is_published(subject))


def is_settled(subject: Subject) -> bool:
    """Nothing is left to verify: the verified execution at the binds on record, routed unless unpublished."""
    return is_verified(subject) and is_on_record(subject) and (not is_published(subject) or is_routed(subject))


def is_locked(subject: Subject) -> bool:
    """Its app is locked by somebody else."""
    return bool(subject.locked)


def is_in_flight(subject: Subject) -> bool:
    """A command to it, of an earlier pass, has not come back."""
    return bool(subject.in_flight)


def has_orphans(subject: Subject) -> bool:
    """A container is remembered that nothing names any more."""
    return bool(subject.orphans)


def has_claims(subject: Subject) -> bool:
    """It has binds on record."""
    return subject.declared is not None and bool(subject.declared.binds)


def has_memory(subject: Subject) -> bool:
    """Something of its container is remembered."""
    return is_remembered(subject.memory)


def has_history(subject: Subject) -> bool:
    """There is trouble on record."""
    return subject.memory.has_history()


# --- clashes over a port -------------------------------------------------------------------------------------------------


def names_a_foreign_port(subject: Subject) -> bool:
    """Its route names a port that another service's container holds."""
    return subject.clash is not None and subject.clash.mine


def is_contested(subject: Subject) -> bool:
    """A port of its container is named by the route of another service."""
    return subject.clash is not None and not subject.clash.mine


def is_contested_for_good(subject: Subject) -> bool:
    """A port of its container (or on its record) is named by a route of another service that could not be withdrawn."""
    return subject.clash is not None and not subject.clash.mine and subject.clash.failed


def is_contested_and_exposed(subject: Subject) -> bool:
    """Contested for good, and its own route is not provably gone."""
    return is_contested_for_good(subject) and not is_clear(subject)


# --- what the rows ask, put together ---------------------------------------------------------------------------------------


def awaits_withdrawal(subject: Subject) -> bool:
    """It may be routed, and no withdrawal was tried in this pass."""
    return may_be_routed(subject) and not results_of(subject, Withdraw)


def is_inhibited(subject: Subject) -> bool:
    """Its generation is inhibited."""
    return bool(subject.inhibited)


def is_inhibited_and_exposed(subject: Subject) -> bool:
    """Its generation is inhibited, and a route to it is not provably gone."""
    return is_inhibited(subject) and not is_clear(subject)


def is_unproven(subject: Subject) -> bool:
    """A withdrawal failed, and no read has shown more."""
    return subject.unproven


def is_kept_by_an_unread_route(subject: Subject) -> bool:
    """It has claims or memory left to drop, and the route is not provably gone."""
    return not is_clear(subject) and (has_claims(subject) or has_memory(subject))


def is_newly_unready(subject: Subject) -> bool:
    """This execution answered that it is not ready, and was not charged."""
    return is_unready(subject) and not is_charged(subject)


def has_relapsed(subject: Subject) -> bool:
    """It is unhealthy at the threshold with an attempt pending."""
    return is_sick(subject) and has_landed(subject)


def was_refused_in_vain(subject: Subject) -> bool:
    """The engine refused its start, which did not take effect, and that was not charged."""
    return was_refused(subject) and subject.memory.attempt is not None and not has_landed(subject)


def waits_out_its_budget(subject: Subject, now_s: float) -> bool:
    """It is down or sick, and its budget is closed until a time not yet reached."""
    return needs_attempt(subject) and retry_at_s(subject) > now_s


def lacks_a_grant(subject: Subject) -> bool:
    """It is down or sick, and the host does not grant what it mounts or uses."""
    return needs_attempt(subject) and bool(subject.ungranted)


def has_spent_its_pass(subject: Subject) -> bool:
    """It is down or sick, and a start or restart was tried in this pass."""
    return needs_attempt(subject) and was_attempted(subject)


def is_excluded(subject: Subject) -> bool:
    """It is down or sick, and a candidate that nothing may run beside was not seen down."""
    return needs_attempt(subject) and any(
        each.exclusive and seen_as(each.seen) not in {SeenAs.DOWN, SeenAs.GONE} for each in subject.candidates
    )


def is_exposed(subject: Subject) -> bool:
    """It is down or sick, and a route to it is not provably gone."""
    return needs_attempt(subject) and not is_clear(subject)


def needs_an_attempt_on_record(subject: Subject) -> bool:
    """It is down or sick, and no attempt is on record."""
    return needs_attempt(subject) and subject.memory.attempt is None


def is_newly_unbound(subject: Subject) -> bool:
    """A declared port is not bound on loopback, its health check is past starting, and this execution was not charged."""
    return is_unbound(subject) and not is_charged(subject) and health(subject) is not HealthStatus.STARTING


def is_published_blindly(subject: Subject) -> bool:
    """It is to be published, and the router could not be read."""
    return is_published(subject) and route_is_unread(subject)


def is_starting(subject: Subject) -> bool:
    """It is not settled, and its health check has not said anything yet."""
    return health(subject) is HealthStatus.STARTING and not is_settled(subject)


def is_starting_unawaited(subject: Subject) -> bool:
    """It is not settled, its health check has not said anything yet, and was not waited for in this pass."""
    return is_starting(subject) and not was_awaited(subject)


def is_unhealthy(subject: Subject) -> bool:
    """Its health check says unhealthy."""
    return health(subject) is HealthStatus.UNHEALTHY


def is_ill(subject: Subject) -> bool:
    """It is not settled, and its health check says unhealthy."""
    return is_unhealthy(subject) and not is_settled(subject)


def is_of_unread_health(subject: Subject) -> bool:
    """It is not settled, and its health could not be read."""
    return health(subject) is HealthStatus.UNREAD and not is_settled(subject)


def needs_a_probe(subject: Subject) -> bool:
    """It is not settled, and this execution did not answer its readiness in this pass at the binds that it has."""
    return not is_settled(subject) and not is_ready(subject)


def is_off_the_record(subject: Subject) -> bool:
    """The binds that it has are not on record."""
    return not is_on_record(subject)


def is_unverified(subject: Subject) -> bool:
    """It does not run as the verified execution at the verified binds."""
    return not is_verified(subject)


def is_unrouted(subject: Subject) -> bool:
    """It is to be published, and is not routed to exactly its binds."""
    return is_published(subject) and not is_routed(subject)


def is_unstable(subject: Subject) -> bool:
    """This look does not count towards five stable minutes."""
    return not is_stable(subject)


def has_been_stable(subject: Subject, now_s: float) -> bool:
    """It has a history, and five continuous stable minutes of one execution are over."""
    window, stable_at = subject.memory.window, stable_at_s(subject)
    if window is None or stable_at is None:
        return False
    # Time that nobody looked at (a suspend between the look and this question) proves nothing.
    return has_history(subject) and is_stable(subject) and stable_at <= min(now_s, window.looked_s)
