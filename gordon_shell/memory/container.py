"""One simulated container: how it was told to behave, and what can be seen of it at a time. Pure."""

from datetime import UTC, datetime

from attrs import evolve, field, frozen
from attrs.validators import ge, gt

from gordon_core.blueprint import Made
from gordon_core.observation import (
    Clock,
    Container,
    Exit,
    Health,
    HealthStatus,
    Port,
    PortBinding,
    ProbeResult,
    Status,
)
from gordon_core.policy import DEFAULT_STOP_GRACE_S
from gordon_shell.ports import Mount

ALIVE = frozenset({Status.RUNNING, Status.PAUSED})
NOT_ENDED = Exit()
_LOG_LENGTH = 5
_KILLED = 137
_TERMINATED = 143


@frozen
class Behaviour:
    """How a simulated workload behaves, counted from each start of it. Durations are seconds.

    `checks` are the results of its health check, one every `check_every_s`, of which the last is repeated; () means that it has
    no health check. It is unhealthy after `check_retries` failures in a row. `answers` is the status of every HTTP path.
    `exits_after_s` None: it runs until it is stopped, for which it takes `stops_in_s`. `says` are the lines that it prints at
    each start.
    """

    exits_after_s: float | None = None
    exit_code: int = 1
    listens: bool = True
    listens_after_s: float = 0.0
    answers: int = 200
    checks: tuple[bool, ...] = ()
    check_every_s: float = field(default=5.0, validator=gt(0))
    check_retries: int = field(default=1, validator=ge(1))
    stops_in_s: float = field(default=0.0, validator=ge(0))
    says: tuple[str, ...] = ()


@frozen
class Simulated:
    """A container of the memory engine, created and not started unless told otherwise.

    `publishes` pairs its ports with fixed host ports, or with 0 for an ephemeral one. A restart policy is shown, not followed.
    `lines` is what it printed, each with its time (seconds since 1970); `made` what it was made from, None for one that was put
    into the engine ready-made.
    """

    container_id: str
    name: str = ""
    publishes: tuple[tuple[Port, int], ...] = ()
    host_ip: str = "127.0.0.1"
    behaviour: Behaviour = Behaviour()
    labels: tuple[tuple[str, str], ...] = ()
    mounts: tuple[Mount, ...] = ()
    devices: tuple[str, ...] = ()
    stop_grace_s: float = DEFAULT_STOP_GRACE_S
    restart_policy: str = "no"
    status: Status = Status.CREATED
    started_at: str = ""
    started_s: float = 0.0
    ended_s: float = 0.0
    ports: tuple[PortBinding, ...] = ()
    exit: Exit = NOT_ENDED
    lines: tuple[tuple[float, str], ...] = ()
    made: Made | None = None

    def is_alive(self) -> bool:
        """Tell whether it runs or is paused."""
        return self.status in ALIVE

    def started(self, clock: Clock, ports: tuple[PortBinding, ...], serial: int) -> "Simulated":
        """Return it as it is right after a start; `serial` keeps the names of two executions of one instant apart."""
        at = timestamp(clock.wall_s, serial)
        lines = self.lines + tuple((clock.wall_s, each) for each in self.behaviour.says)
        return evolve(
            self, status=Status.RUNNING, started_at=at, started_s=clock.boot_s, ports=ports, exit=NOT_ENDED, lines=lines
        )

    def ended(self, clock: Clock, code: int) -> "Simulated":
        """Return it as it is after it ended with that exit code."""
        seen = Exit(code, finished_at=timestamp(clock.wall_s, 999))
        return evolve(self, status=Status.EXITED, ended_s=clock.boot_s, ports=(), exit=seen)

    def stopped(self, clock: Clock, grace_s: float) -> "Simulated":
        """Return it as it is after a stop: killed if it takes longer than its grace."""
        return self.ended(clock, _TERMINATED if self.behaviour.stops_in_s <= grace_s else _KILLED)

    def at(self, clock: Clock) -> "Simulated":
        """Return it as it is by now: ended, if its time has come."""
        after_s = self.behaviour.exits_after_s
        if after_s is None or self.status is not Status.RUNNING or clock.boot_s - self.started_s < after_s:
            return self
        late_s = clock.boot_s - self.started_s - after_s
        end = evolve(clock, boot_s=clock.boot_s - late_s, wall_s=clock.wall_s - late_s)
        return self.ended(end, self.behaviour.exit_code)

    def listens(self, clock: Clock) -> bool:
        """Tell whether something in it answers at its ports by now."""
        return self.behaviour.listens and clock.boot_s - self.started_s >= self.behaviour.listens_after_s

    def seen(self, clock: Clock) -> Container:
        """Return what an inspect shows."""
        end = None if self.is_alive() or self.exit == NOT_ENDED else self.exit
        health = self.health(clock) if self.started_at else self._health_of(0)
        return Container(self.container_id, self.status, self.started_at, health, self.ports, end, self.name)

    def health(self, clock: Clock) -> Health:
        """Return its health by now."""
        return self._health_of(int((clock.boot_s - self.started_s) / self.behaviour.check_every_s))

    def _health_of(self, checked: int) -> Health:
        checks = self.behaviour.checks
        if not checks:
            return Health()
        results = [checks[min(each, len(checks) - 1)] for each in range(checked)]
        streak = next((back for back, good in enumerate(reversed(results)) if good), len(results))
        first = max(0, checked - _LOG_LENGTH)
        log = tuple(self._result(each, good=results[each]) for each in range(first, checked))
        return Health(_status_of(results, streak, self.behaviour.check_retries), streak, log)

    def _result(self, index: int, *, good: bool) -> ProbeResult:
        return ProbeResult(f"{self.started_at}+{index}", 0 if good else 1, "" if good else "not well")


def timestamp(wall_s: float, serial: int) -> str:
    """Write a time as the engine does, with the serial number in place of the nanoseconds that the float does not have."""
    return f"{datetime.fromtimestamp(wall_s, UTC):%Y-%m-%dT%H:%M:%S.%f}{serial % 1000:03}Z"


def _status_of(results: list[bool], streak: int, retries: int) -> HealthStatus:
    if streak >= retries:
        return HealthStatus.UNHEALTHY
    return HealthStatus.HEALTHY if any(results) else HealthStatus.STARTING
