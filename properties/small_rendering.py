"""Small states as the values of the core, and back, in several renderings.

Whatever the reductions hold to be the same (names that are over, the two ports, words for down, the order of unlike results, a
fault and no answer) has another name in each rendering.
"""

from collections.abc import Callable
from functools import cache

from attrs import evolve, frozen

from gordon_core import effects as fx
from gordon_core.memory import Attempt, Memory, Strikes, Verified, Window
from gordon_core.observation import (
    Bind,
    Binds,
    Container,
    Exit,
    Gone,
    Health,
    HealthStatus,
    Port,
    PortBinding,
    ProbeResult,
    RouteSeen,
    RouteUnread,
    Seen,
    Status,
    Unread,
)
from gordon_core.policy import Policy, WhenUnhealthy
from gordon_core.snapshot import Declared, Hold, Superseded
from properties import small_world as w
from properties.small_world import State, World

D_UNREAD, ROUTER_UNREAD, S_UNREAD = 1, 2, 4
"""What a look could not read, as bits."""

POLICY = Policy(free_failures=w.FREE_FAILURES, ladder_s=(60.0, 120.0), unhealthy_threshold=w.THRESHOLD)
NOW_S = 100_000.0
REVISION = 5
SILENCE = "no answer"
_WEB = Port(80)
HOLD = Hold(NOW_S + 60.0, NOW_S + 60.0, "boot", "alice", "migration")


@frozen(eq=False)
class Rendering:
    """One way to give names to what the reductions hold to be the same."""

    current: str
    stale: tuple[str, ...]
    ports: tuple[int, ...]
    fault: fx.Outcome
    down: Status
    reverse: bool

    def name(self, of: int, slot: int) -> str:
        """Return a start time; `slot` says who remembers it."""
        return (self.current, self.current, self.stale[slot % len(self.stale)], "")[of]

    def binds(self, port: int) -> Binds:
        """Return the binds at one of the two host ports, none for 0."""
        return (Bind(_WEB, self.ports[port]),) if port else ()

    def port(self, binds: Binds) -> int:
        """Return which of the two host ports some binds name; 0 where they are none, -1 where they are anything else."""
        if not binds:
            return 0
        return self.ports.index(binds[0].host_port) if len(binds) == 1 and binds[0].port == _WEB else -1

    def relative(self, name: str, *, started: bool) -> int:
        """Return which execution a start time names."""
        if started and not name:
            return w.BLANK
        return w.CURRENT if name == (self.current if started else "") else w.STALE


RENDERINGS = (
    Rendering("e9", ("e1",), (0, 32768, 32769), fx.Refused("no", fx.Fault.ENGINE), Status.EXITED, reverse=False),
    Rendering("e2", ("e3", "e4", "e5", "e6", "e7"), (0, 40002, 40001), fx.Unknown("no answer"), Status.DEAD, reverse=True),
    Rendering(
        "e0", ("e7", "e7", "e8", "e7", "e8"), (0, 9000, 80), fx.Refused("no", fx.Fault.CONFLICT), Status.STOPPED, reverse=False
    ),
)


_STATUSES = {
    w.CREATED: Status.CREATED, w.RUNNING: Status.RUNNING, w.PAUSED: Status.PAUSED, w.RESTARTING: Status.RESTARTING,
    w.REMOVING: Status.REMOVING, w.UNKNOWN: Status.UNKNOWN,
}  # fmt: skip
_FAILED = {
    w.SICK_NEW: (ProbeResult("r2", 1),), w.SICK_COUNTED: (ProbeResult("r1", 1),), w.SICK_SILENT: (ProbeResult("r3", -1),),
}  # fmt: skip
_HEALTHS = {
    w.NO_CHECK: Health(),
    w.STARTING: Health(HealthStatus.STARTING),
    w.HEALTHY: Health(HealthStatus.HEALTHY, 0, (ProbeResult("r0", 0),)),
    w.HEALTH_UNREAD: Health(HealthStatus.UNREAD),
    **{health: Health(HealthStatus.UNHEALTHY, 1, results) for health, results in _FAILED.items()},
}
_RESULTS = ("r0", "r1")


def namer(started: int, rendering: Rendering) -> Callable[[int, int], str]:
    """Return how start times are named: by which execution, and by who remembers it."""
    return lambda of, slot: "" if of == w.CURRENT and not started else rendering.name(of, slot)


@cache
def _container(  # noqa: PLR0913, PLR0917 - what a container is, and the key of the cache
    name: str, status: int, start: str, port: int, rendering: Rendering, health: int = w.NO_CHECK
) -> Seen:
    if status == w.GONE:
        return Gone()
    ports = (PortBinding(_WEB, "127.0.0.1", rendering.ports[port]),) if port else ()
    end = {w.EXITED: Exit(1), w.ENDED_WELL: Exit(finished_at="then")}.get(status)
    return Container(name, _STATUSES.get(status, rendering.down), start, _HEALTHS[health], ports, end)


def seen_d(state: State, rendering: Rendering) -> Seen:
    """Return D as it is seen."""
    start = rendering.current if state[w.STARTED] else ""
    return _container("d", state[w.STATUS], start, state[w.PORT], rendering, state[w.HEALTH])


def superseded(state: State, unread: int, rendering: Rendering) -> tuple[Superseded, ...]:
    """Return S, if it has a marker, with what was seen of it."""
    if not state[w.S_MARK]:
        return ()
    binds = rendering.binds(state[w.S_BINDS])
    if state[w.S_MARK] == w.SELF:
        seen = Unread(SILENCE) if unread & D_UNREAD else seen_d(state, rendering)
        return (Superseded("d", seen, 10.0, binds),)
    seen = _container("s", state[w.S_STATUS], "s1", state[w.S_PORT], rendering)
    verified = Verified("s1" if state[w.S_VERIFIED] == w.CURRENT else "s0", rendering.binds(state[w.S_AT]), REVISION - 1)
    known = verified if state[w.S_VERIFIED] else None
    return (Superseded("s", Unread(SILENCE) if unread & S_UNREAD else seen, 10.0, binds, known),)


@cache
def declared_by(world: World, rendering: Rendering, record: int) -> Declared:
    """Return what ACTIVE says."""
    unhealthy = WhenUnhealthy.WITHDRAW if world.sidelines else WhenUnhealthy.RESTART
    policy = evolve(POLICY, exit_0_is_done=world.done, unhealthy=unhealthy)
    return Declared("d", REVISION, (_WEB,), rendering.binds(record), published=world.published, policy=policy)


@cache
def route(rendering: Rendering, port: int) -> RouteSeen:
    """Return a route that was read."""
    return RouteSeen(rendering.binds(port))


UNREAD_ROUTE = RouteUnread(SILENCE)


@cache
def memory_of(memory: State, rendering: Rendering, started: int) -> Memory:
    """Return a memory; those that only differ in times that decide nothing are one."""
    name = namer(started, rendering)
    failures, closed, charge, attempt, of, count, now, window, ripe, gapped, verified, at, outdated, again = memory
    looked_s = NOW_S - (200.0 if gapped else 1.0)
    return Memory(
        failures=failures,
        charged=name(charge, 1) if charge else None,
        charged_at_s=(NOW_S - 1.0 if closed else NOW_S - 9000.0) if failures else None,
        attempt=Attempt(name(attempt, 0)) if attempt else None,
        strikes=Strikes(name(of, 2), count, _RESULTS[now]) if of else None,
        window=Window(name(window, 3), looked_s - (400.0 if ripe else 1.0), looked_s) if window else None,
        verified=Verified(name(verified, 4), rendering.binds(at), REVISION - outdated) if verified else None,
        boot_id="boot" if failures or attempt or of else "",
        again=bool(again),
    )


def remembered(memory: Memory, rendering: Rendering, *, started: bool) -> State:
    """Return a memory as a small one."""

    def of(name: str) -> int:
        return rendering.relative(name, started=started)

    strikes, window, verified, charged_s = memory.strikes, memory.window, memory.verified, memory.charged_at_s
    return (
        min(memory.failures, w.MOST_FAILURES),
        int(memory.failures >= w.FREE_FAILURES and charged_s is not None and NOW_S - charged_s < 60.0),
        0 if memory.charged is None else of(memory.charged),
        0 if memory.attempt is None else of(memory.attempt.before),
        0 if strikes is None else of(strikes.started_at),
        0 if strikes is None else min(strikes.count, w.THRESHOLD),
        0 if strikes is None else int(strikes.result != "r0"),
        0 if window is None else of(window.started_at),
        0 if window is None else int(NOW_S - window.since_s >= POLICY.stable_window_s),
        0 if window is None else int(NOW_S - window.looked_s > POLICY.longest_gap_s),
        0 if verified is None else of(verified.started_at),
        0 if verified is None else rendering.port(verified.binds),
        0 if verified is None else int(verified.revision != REVISION),
        int(memory.again),
    )
