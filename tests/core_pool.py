"""A pool of subjects: the cross product of what can be wanted, seen, routed, remembered, forbidden and done of the good one."""

from collections.abc import Iterator

from attrs import evolve

from gordon_core.effects import AwaitHealth, Fault, Refused, Restart, Start, Unknown, Withdraw
from gordon_core.memory import Memory
from gordon_core.observation import Gone, Health, HealthStatus, RouteSeen, RouteUnread, Status
from gordon_core.policy import Policy, WhenUnhealthy
from gordon_core.snapshot import Clash, Subject
from tests.core_examples import (
    BIND,
    DEAF,
    GENERATION,
    GOOD,
    LATER,
    LOST_ID,
    NOBODY,
    NOT_READY,
    NOW_S,
    OLD_BIND,
    REFUSED_ROUTER,
    REFUSED_START,
    STARTED,
    Mutation,
    after,
    attempt_on_record,
    attempted_before,
    declaring,
    ended_well,
    having,
    old_seen,
    on_hold,
    probed,
    remembering,
    running,
    seen,
    sick_seen,
    stopped,
    strange,
    struck_out,
    superseding,
    unpublished,
    unreadable,
    without_claims,
)


def _as_is(subject: Subject) -> Subject:
    return subject


def _stopped_without_claims(subject: Subject) -> Subject:
    return without_claims(stopped(subject))


_FOREIGN_START = Refused("500: the engine is shutting down", Fault.ENGINE)

_TUNED = declaring(policy=Policy(exit_0_is_done=True, unhealthy=WhenUnhealthy.WITHDRAW))
WANTED: tuple[Mutation, ...] = (_as_is, stopped, unpublished, _stopped_without_claims, _TUNED)
LOOKS: tuple[Mutation, ...] = (
    _as_is,
    sick_seen,
    unreadable,
    without_claims,
    seen(Gone()),
    seen(running(LATER)),
    seen(running("")),
    seen(running(LATER, health=Health(HealthStatus.STARTING))),
    seen(running(health=Health(HealthStatus.UNREAD))),
    seen(evolve(running(LATER), ports=())),
    ended_well,
    *(seen(strange(each)) for each in (Status.EXITED, Status.PAUSED, Status.RESTARTING, Status.REMOVING)),
)
ROUTES: tuple[Mutation, ...] = tuple(
    having(route=each) for each in (RouteSeen(), RouteSeen((BIND,)), RouteSeen((OLD_BIND,)), RouteUnread(DEAF))
)
MEMORIES: tuple[Mutation, ...] = (
    _as_is,
    having(memory=Memory()),
    attempted_before,
    attempt_on_record,
    struck_out,
    remembering(failures=4, charged=STARTED, charged_at_s=NOW_S - 10),
    remembering(failures=1, charged=LATER, charged_at_s=NOW_S - 10),
)
FORBIDDEN: tuple[Mutation, ...] = (
    _as_is,
    having(unproven=True),
    having(inhibited="by hand"),
    having(ungranted=("/dev/fuse is not granted",)),
    having(clash=Clash(32768, "blog/web", mine=True, failed=False)),
    having(clash=Clash(32768, "blog/web", mine=False, failed=False)),
    having(clash=Clash(32768, "blog/web", mine=False, failed=True)),
    having(locked="its app is locked by pid 4711"),
    having(orphans=(LOST_ID,)),
    on_hold,
    superseding,
    old_seen(strange(Status.EXITED)),
)
DONE_SO_FAR: tuple[Mutation, ...] = (
    _as_is,
    after(Withdraw("shop", "web")),
    after(Withdraw("shop", "web"), REFUSED_ROUTER),
    probed(),
    probed(started_at=LATER),
    probed(NOT_READY, LATER),
    after(Start(GENERATION), REFUSED_START),
    after(Start(GENERATION), _FOREIGN_START),
    after(Restart(GENERATION, 10.0), Unknown("no answer")),
    after(AwaitHealth(GENERATION, LATER, 30.0), Unknown("its health check still says starting")),
)


def _products(subject: Subject, axes: tuple[tuple[Mutation, ...], ...]) -> Iterator[Subject]:
    if not axes:
        yield subject
        return
    for mutation in axes[0]:
        yield from _products(mutation(subject), axes[1:])


def pool() -> Iterator[Subject]:
    """Yield every combination, for a service that ACTIVE names, and then for one that it does not."""
    yield from _products(GOOD, (WANTED, LOOKS, ROUTES, MEMORIES, FORBIDDEN, DONE_SO_FAR))
    yield from _products(NOBODY, (ROUTES, FORBIDDEN, DONE_SO_FAR[:3]))
