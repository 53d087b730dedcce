"""One good subject, named deviations from it, and one reachable snapshot for each situation.

The good one is a published web service that is as desired: it runs as its verified execution, routed to its one bind.
"""

from collections.abc import Callable

from attrs import evolve

from gordon_core.effects import (
    DONE,
    AwaitHealth,
    Cause,
    Effect,
    Fault,
    Generation,
    Outcome,
    Probe,
    Publish,
    RecordAttempt,
    RecordFailure,
    Refused,
    Result,
    Start,
    StopCandidate,
    Unknown,
    Withdraw,
)
from gordon_core.memory import Attempt, Memory, Strikes, Verified, Window
from gordon_core.observation import (
    Bind,
    Binds,
    Clock,
    Container,
    Exit,
    Gone,
    Health,
    HealthStatus,
    Port,
    PortBinding,
    ProbeResult,
    Route,
    RouteSeen,
    RouteUnread,
    Seen,
    Status,
    Unread,
)
from gordon_core.planner import Decision, plan
from gordon_core.policy import Policy, WhenUnhealthy
from gordon_core.situations import Situation
from gordon_core.snapshot import Candidate, Declared, Hold, Intent, NamedAs, Snapshot, Subject, Superseded

Mutation = Callable[[Subject], Subject]

BOOT = "boot-1"
CLOCK = Clock(boot_s=10_000.0, wall_s=1796022000.0, boot_id=BOOT)
NOW_S = CLOCK.boot_s
"""It is 2026-11-30 07:00:00Z."""

WEB_ID, OLD_ID, LOST_ID, BLOG_ID = "3f2a9c1b7d4e00", "9bd01e55c0aa00", "55aa55aa55aa00", "b106b106b10600"
NEW_ID = "c4nd1da7ec4n00"
EARLIER, STARTED, LATER = "2026-11-30T05:00:00Z", "2026-11-30T06:00:00Z", "2026-11-30T06:59:50Z"
"""Start times: of the execution before the good one, of the good one, and of the one after it."""
HTTP = Port(80)
BIND = Bind(HTTP, 32768)
OLD_BIND = Bind(HTTP, 32700)
GENERATION = Generation("shop", "web", WEB_ID, 3)
SILENT = "the engine did not answer within 10 s"
DEAF = "the proxy's socket refused the connection"
REFUSED_START = Refused('500: exec: "serve": executable file not found', Fault.WORKLOAD)
REFUSED_ROUTER = Refused("the proxy still shows the server up", Fault.ROUTER)
NOT_READY = Refused("80/tcp at 32768 closed the connection at once", Fault.WORKLOAD)


def host(*subjects: Subject) -> Snapshot:
    """Return a host with these services."""
    return Snapshot(CLOCK, subjects)


def running(
    started_at: str = STARTED, host_port: int = 32768, container_id: str = WEB_ID, health: Health | None = None
) -> Container:
    """Return a container that runs, with port 80 bound on loopback."""
    ports = (PortBinding(HTTP, "127.0.0.1", host_port),)
    return Container(container_id, Status.RUNNING, started_at, health if health is not None else Health(), ports)


def strange(status: Status, started_at: str = STARTED, container_id: str = WEB_ID) -> Container:
    """Return a container that does not run."""
    return Container(container_id, status, started_at)


DECLARED = Declared(WEB_ID, 3, (HTTP,), (BIND,))
MEMORY = Memory(verified=Verified(STARTED, (BIND,), 3))
GOOD = Subject("shop", "web", running(), DECLARED, route=RouteSeen((BIND,)), memory=MEMORY)
NOBODY = Subject("shop", "web", Unread("ACTIVE names no container"))
"""A service that ACTIVE does not name."""
OLD = Superseded(OLD_ID, running(EARLIER, 32700, OLD_ID), 20.0, (OLD_BIND,), Verified(EARLIER, (OLD_BIND,), 2))
NEW = Candidate(NEW_ID, running(LATER, 32800, NEW_ID))
"""The candidate of a deploy that was interrupted: it runs under a temporary name, and stands in the journal."""

# --- deviations ----------------------------------------------------------------------------------------------------------


def made(subject: Subject, *mutations: Mutation) -> Subject:
    """Return the subject with mutations applied, the first one first."""
    for each in mutations:
        subject = each(subject)
    return subject


def good(*mutations: Mutation) -> Subject:
    """Return the good subject with mutations applied."""
    return made(GOOD, *mutations)


def seen(value: Seen) -> Mutation:
    """Let another look have been had."""
    return lambda subject: evolve(subject, seen=value)


def routed(*binds: Bind) -> Mutation:
    """Let the router show these binds."""
    return lambda subject: evolve(subject, route=RouteSeen(binds))


def with_route(route: Route) -> Mutation:
    """Let the router have been seen like that."""
    return lambda subject: evolve(subject, route=route)


def after(effect: Effect, outcome: Outcome = DONE) -> Mutation:
    """Let this have been done in this pass."""
    return lambda subject: evolve(subject, results=(*subject.results, Result(effect, outcome)))


def remembering(**changes: object) -> Mutation:
    """Let something else be remembered; `boot_id` follows."""
    return lambda subject: evolve(subject, memory=evolve(subject.memory, boot_id=BOOT, **changes))


def declaring(**changes: object) -> Mutation:
    """Let ACTIVE say something else."""

    def mutated(subject: Subject) -> Subject:
        assert subject.declared is not None
        return evolve(subject, declared=evolve(subject.declared, **changes))

    return mutated


def having(**changes: object) -> Mutation:
    """Let other fields of the subject be different."""
    return lambda subject: evolve(subject, **changes)


def results_of_health(*starts: str) -> tuple[ProbeResult, ...]:
    """Return failed results with these names."""
    return tuple(ProbeResult(each, 1, "connection refused") for each in starts)


def unhealthy(started_at: str = STARTED, *results: str) -> Container:
    """Return a running container whose health check failed with these results, one after the other."""
    return running(started_at, health=Health(HealthStatus.UNHEALTHY, len(results), results_of_health(*results)))


def probed(outcome: Outcome = DONE, started_at: str = STARTED, binds: Binds = (BIND,), wait_s: float = 30.0) -> Mutation:
    """Let it have been probed in this pass."""
    return after(Probe(GENERATION, started_at, binds, wait_s), outcome)


dark = routed()
ended_well = seen(Container(WEB_ID, Status.EXITED, STARTED, exit=Exit(0, finished_at=LATER)))
until_done = declaring(policy=Policy(exit_0_is_done=True))
withdrawn_when_sick = declaring(policy=Policy(unhealthy=WhenUnhealthy.WITHDRAW))
HOLD = Hold(NOW_S + 252, CLOCK.wall_s + 252, BOOT, "alice", "migration")
on_hold = having(hold=HOLD)
down = seen(strange(Status.EXITED))
restarted = seen(running(LATER))
gone = seen(Gone())
unreadable = seen(Unread(SILENT))
deaf = with_route(RouteUnread(DEAF))
stopped = having(intent=Intent.STOPPED)
never_verified = remembering(verified=None)
without_claims = declaring(binds=())
without_memory = having(memory=Memory())
unpublished = declaring(published=False)
superseding = having(superseded=(OLD,))
attempted_before = remembering(attempt=Attempt(EARLIER))
"""An attempt is on record, and the execution seen came of it."""
attempt_on_record = remembering(attempt=Attempt(STARTED))
"""An attempt is on record, and has not landed yet."""
struck_once = remembering(strikes=Strikes(STARTED, 1, "06:58"))
struck_out = remembering(strikes=Strikes(STARTED, 2, "06:59"))
ailing = seen(unhealthy(STARTED, "06:58"))
sick_seen = seen(unhealthy(STARTED, "06:58", "06:59"))
withdrawn_in_vain = after(Withdraw("shop", "web"), REFUSED_ROUTER)


def sick(subject: Subject) -> Subject:
    """Let it be unhealthy at the threshold."""
    return made(subject, sick_seen, struck_out)


def old_seen(value: Seen, **changes: object) -> Mutation:
    """Let the superseded container have been seen like that."""
    return lambda subject: evolve(subject, superseded=(evolve(OLD, seen=value, **changes),))


def left_behind(value: Seen | None = None, **changes: object) -> Mutation:
    """Let a deploy have left a candidate, seen like that (or running)."""
    candidate = evolve(NEW, seen=value if value is not None else NEW.seen, **changes)
    return lambda subject: evolve(subject, candidates=(candidate,))


new_down = strange(Status.EXITED, LATER, NEW_ID)
unjournalled = left_behind(journalled=False)


def blog(*mutations: Mutation) -> Subject:
    """Return another service, whose container was handed the port of the good one."""
    declared = Declared(BLOG_ID, 1, (HTTP,), (BIND,))
    return made(Subject("blog", "web", running(STARTED, container_id=BLOG_ID), declared), *mutations)


_bereft = good(down)
_bereft_in_vain = good(down, withdrawn_in_vain, having(unproven=True))
_blog_routed = blog(routed(BIND), remembering(verified=Verified(STARTED, (BIND,), 1)))

EXEMPLARS: dict[Situation, Snapshot] = {
    Situation.CLASHING: host(_bereft, blog()),
    Situation.LOCKED: host(good(having(locked="its app is locked by pid 4711"))),
    Situation.IN_FLIGHT: host(good(having(in_flight="stop it, with 10 s to stop in"))),
    Situation.SUPPLANTED: host(good(probed(), declaring(revision=4))),
    Situation.ABANDONED: host(made(NOBODY, routed(BIND))),
    Situation.LEFTOVER: host(made(NOBODY, having(orphans=(LOST_ID,)))),
    Situation.ABSENT: host(NOBODY),
    Situation.REVIVED_ROUTED: host(good(stopped)),
    Situation.REVIVED: host(good(stopped, dark)),
    Situation.LEAVING: host(good(stopped, dark, seen(strange(Status.REMOVING)))),
    Situation.SHUT_UNREAD: host(good(stopped, dark, unreadable)),
    Situation.SHUT_REMEMBERED: host(good(stopped, dark, down, remembering(failures=2, charged=STARTED, charged_at_s=9_000.0))),
    Situation.SHUT_ROUTED: host(good(stopped, down, withdrawn_in_vain, having(unproven=True))),
    Situation.SHUT: host(good(stopped, dark, down)),
    Situation.ON_HOLD: host(good(dark, down, on_hold)),
    Situation.INHIBITED_ROUTED: host(good(having(inhibited="its volume is being moved"))),
    Situation.INHIBITED: host(good(dark, down, having(inhibited="its volume is being moved"))),
    Situation.UNPROVEN: host(good(having(unproven=True))),
    Situation.UNREADABLE: host(good(unreadable)),
    Situation.MISROUTED: host(good(down)),
    Situation.GONE_UNPROVEN: host(good(gone, deaf)),
    Situation.UNRELEASED: host(good(gone, dark)),
    Situation.UNFORGOTTEN: host(good(gone, dark, without_claims)),
    Situation.GONE: host(good(gone, dark, without_claims, without_memory)),
    Situation.TRANSITIONAL: host(good(dark, seen(strange(Status.RESTARTING)))),
    Situation.PAUSED: host(good(dark, seen(strange(Status.PAUSED)))),
    Situation.UNSAFE: host(good(dark, seen(strange(Status.UNKNOWN)))),
    Situation.DONE_ROUTED: host(good(deaf, ended_well, until_done)),
    Situation.DONE_REMEMBERED: host(good(dark, ended_well, until_done, attempted_before)),
    Situation.DONE: host(good(dark, ended_well, until_done)),
    Situation.CONTESTED_ROUTED: host(_bereft_in_vain, _blog_routed),
    Situation.CONTESTED: host(_bereft_in_vain, blog()),
    Situation.CONTENDING: host(_bereft, blog()),
    Situation.UNREADY: host(good(dark, restarted, probed(NOT_READY, LATER))),
    Situation.ENDED: host(good(dark, down, attempted_before)),
    Situation.RELAPSED: host(good(sick, attempted_before)),
    Situation.REFUSED: host(good(dark, down, attempt_on_record, after(Start(GENERATION), REFUSED_START))),
    Situation.SIDELINED_ROUTED: host(good(sick, withdrawn_when_sick)),
    Situation.SIDELINED: host(good(dark, sick, withdrawn_when_sick)),
    Situation.COOLING: host(good(dark, down, remembering(failures=6, charged=STARTED, charged_at_s=NOW_S - 228))),
    Situation.UNGRANTED: host(
        good(dark, down, having(ungranted=("/srv/data does not exist any more", "/dev/fuse is not granted")))
    ),
    Situation.SPENT: host(
        good(
            dark,
            down,
            after(RecordAttempt(GENERATION, EARLIER)),
            after(Start(GENERATION)),
            after(RecordFailure(GENERATION, STARTED, Cause.ENDED)),
            remembering(failures=1, charged=STARTED, charged_at_s=NOW_S),
        )
    ),
    Situation.HELD_OFF: host(_bereft_in_vain, blog(seen(strange(Status.EXITED, container_id=BLOG_ID)))),
    Situation.EXCLUDED: host(good(dark, down, left_behind(Unread(SILENT), exclusive=True))),
    Situation.EXPOSED: host(good(sick)),
    Situation.DUE: host(good(dark, down)),
    Situation.DOWN: host(good(dark, down, attempt_on_record)),
    Situation.SICK: host(good(dark, sick, attempt_on_record)),
    Situation.UNBOUND: host(good(dark, seen(evolve(running(LATER), ports=())))),
    Situation.PORTLESS: host(
        good(
            dark,
            seen(evolve(running(LATER), ports=())),
            remembering(failures=1, charged=LATER, charged_at_s=NOW_S, verified=None),
        )
    ),
    Situation.BLIND: host(good(deaf)),
    Situation.STARTING: host(good(dark, seen(running(LATER, health=Health(HealthStatus.STARTING))))),
    Situation.STARTING_YET: host(
        good(
            dark,
            seen(running(LATER, health=Health(HealthStatus.STARTING))),
            after(AwaitHealth(GENERATION, LATER, 30.0), Unknown("its health check still says starting")),
        )
    ),
    Situation.ILL: host(good(dark, ailing, struck_once, never_verified)),
    Situation.HEALTH_UNREAD: host(good(dark, seen(running(LATER, health=Health(HealthStatus.UNREAD))))),
    Situation.NOT_READY: host(
        good(
            dark,
            restarted,
            probed(NOT_READY, LATER, wait_s=0.0),
            remembering(failures=1, charged=LATER, charged_at_s=NOW_S - 15, verified=None),
        )
    ),
    Situation.UNPROBED: host(good(dark, restarted)),
    Situation.UNSAVED: host(good(dark, restarted, probed(DONE, LATER), without_claims)),
    Situation.UNREMEMBERED: host(good(dark, restarted, probed(DONE, LATER))),
    Situation.UNROUTED: host(good(dark, probed())),
    Situation.RECOVERED: host(good(remembering(failures=2, window=Window(STARTED, NOW_S - 300, NOW_S)))),
    Situation.SERVING_HELD: host(good(on_hold)),
    Situation.WATCHED: host(good(ailing, struck_once)),
    Situation.UNCONFIRMED: host(good(seen(running(health=Health(HealthStatus.UNREAD))))),
    Situation.PROVING: host(good(remembering(failures=2, window=Window(STARTED, NOW_S - 48, NOW_S)))),
    Situation.ORPHANED: host(good(having(orphans=(LOST_ID,)))),
    Situation.SETTLED: host(GOOD),
    Situation.BLOCKED: host(good(dark, probed(), after(Publish(GENERATION, (BIND,)), REFUSED_ROUTER))),
    Situation.OLD_HELD: host(good(superseding, having(locked="its app is locked by pid 4711"))),
    Situation.RECLAIMED: host(good(having(superseded=(Superseded(WEB_ID, running()),)))),
    Situation.OLD_UNREAD: host(good(old_seen(Unread(SILENT)))),
    Situation.AWAITING: host(good(superseding, routed(OLD_BIND), restarted)),
    Situation.OLD_ROUTED: host(made(NOBODY, superseding, deaf)),
    Situation.UNCLAIMED: host(good(old_seen(Gone()))),
    Situation.FINISHED: host(good(old_seen(Gone(), binds=()))),
    Situation.OLD_ON_HOLD: host(good(superseding, on_hold)),
    Situation.RETIRED: host(good(old_seen(strange(Status.EXITED, EARLIER, OLD_ID)))),
    Situation.OLD_LEAVING: host(good(old_seen(strange(Status.REMOVING, EARLIER, OLD_ID)))),
    Situation.OUTLIVED: host(good(superseding)),
    Situation.CANDIDATE_HELD: host(good(left_behind(), having(locked="its app is locked by pid 4711"))),
    Situation.PROMOTED: host(good(left_behind(running(), container_id=WEB_ID))),
    Situation.CHOSEN: host(good(superseding, left_behind(OLD.seen, container_id=OLD_ID, journalled=False))),
    Situation.CANDIDATE_UNREAD: host(good(left_behind(Unread(SILENT)))),
    Situation.CANDIDATE_GONE: host(good(left_behind(Gone()))),
    Situation.NEVER_WAS: host(good(left_behind(Gone(), journalled=False))),
    Situation.FOREIGN: host(good(left_behind(journalled=False, owned=False))),
    Situation.CANDIDATE_ROUTED: host(good(unjournalled, routed(Bind(HTTP, 32800)))),
    Situation.UNSELECTED: host(good(gone, dark, unjournalled)),
    Situation.NAMESAKE: host(good(left_behind(journalled=False, named=NamedAs.CANONICAL))),
    Situation.CANDIDATE_ON_HOLD: host(good(left_behind(), on_hold)),
    Situation.STALE: host(good(left_behind())),
    Situation.STUBBORN: host(good(left_behind(), after(StopCandidate("shop", "web", NEW_ID, 10.0), Unknown(SILENT)))),
    Situation.LEFT_DOWN: host(good(left_behind(new_down))),
    Situation.CANDIDATE_LEAVING: host(good(left_behind(strange(Status.REMOVING, LATER, NEW_ID)))),
}
"""One reachable snapshot for each situation. Where two services are in it, the other one is what makes the situation."""


def decided(snapshot: Snapshot, situation: Situation) -> Decision:
    """Return the decision that is in this situation, of which the snapshot must have one."""
    found = [each for each in plan(snapshot).decisions if each.situation is situation]
    assert found, f"{situation.name} is not decided; but {[each.situation.name for each in plan(snapshot).decisions]}"
    return found[0]
