"""A container of the simulated world: its nature, the mood of each of its executions, and what an inspect shows of it."""

from enum import Enum
from random import Random

from attrs import define, evolve, field, frozen

from gordon_core.observation import Container, Exit, Health, HealthStatus, Port, PortBinding, ProbeResult, Protocol, Status
from gordon_shell.memory.uptime import status_text
from gordon_shell.ports import Details, Row

CHECK_EVERY_S = 10.0
_LOG_LENGTH = 5
_ALIVE = frozenset({Status.RUNNING, Status.PAUSED})
_NO_EXEC = "OCI runtime exec failed: exec failed: no such file"
_TIMED_OUT = "Health check exceeded timeout (3s)"


class Nature(Enum):
    """How a workload behaves, start after start."""

    KIND = "runs and answers, always"
    LOOPER = "dies after every start"
    FLAKY = "runs well, dies or does not answer, from start to start"
    UNREADY = "runs, and never answers"
    SLOW = "answers only after a while"
    PORTLESS = "its ports do not appear"
    REFUSER = "the engine refuses to start it"
    ILL = "turns unhealthy in every execution"
    FLAPPER = "is healthy and unhealthy in turn"


@frozen
class Mood:
    """How one execution goes. None: never. `checks` are its health results in turn, the last one repeated."""

    dies_after_s: float | None = None
    answers_after_s: float | None = 0.0
    checks: tuple[bool | None, ...] = (True,)
    binds_ports: bool = True
    flaps: bool = False

    def check(self, index: int) -> bool | None:
        """Return one health result: passed, failed, or (None) a check that could not be run."""
        return self.checks[index % len(self.checks) if self.flaps else min(index, len(self.checks) - 1)]


def mood(nature: Nature, chance: Random) -> Mood:  # noqa: PLR0911 - one arm for each nature
    """Draw how an execution of such a workload goes."""
    late_s = chance.choice([0.0, 0.0, 0.3, 2.0])
    match nature:
        case Nature.KIND | Nature.REFUSER:
            return Mood(answers_after_s=late_s)
        case Nature.LOOPER:
            return Mood(dies_after_s=chance.choice([0.001, 0.2, 1.0, 5.0, 40.0, 100.0, 250.0, 290.0]), answers_after_s=late_s)
        case Nature.FLAKY:
            return mood(chance.choice([Nature.KIND, Nature.KIND, *_TROUBLES]), chance)
        case Nature.UNREADY:
            return Mood(answers_after_s=None)
        case Nature.SLOW:
            return Mood(answers_after_s=chance.choice([5.0, 29.0, 31.0, 60.0]), checks=(False, True))
        case Nature.PORTLESS:
            return Mood(binds_ports=chance.random() < 0.2)
        case Nature.ILL:
            return Mood(answers_after_s=late_s, checks=((True,) * chance.choice([0, 1, 3])) + (False,))
        case Nature.FLAPPER:
            return Mood(
                answers_after_s=late_s, checks=tuple(chance.choice([True, False, False, None]) for _ in range(9)), flaps=True
            )


_TROUBLES = (Nature.LOOPER, Nature.UNREADY, Nature.SLOW, Nature.PORTLESS, Nature.ILL, Nature.FLAPPER)


@define(eq=False)
class Box:
    """A container. Ports in `publishes` have a fixed host port, or 0 for one that the engine hands out.

    `lives_s` is how long each of its executions lives; None leaves that to its nature. `ends_well`: with exit code 0.
    """

    container_id: str
    nature: Nature
    publishes: tuple[tuple[Port, int], ...]
    chance: Random
    host_ip: str = "127.0.0.1"
    has_check: bool = False
    devices: tuple[str, ...] = ()
    restarts_itself: bool = False
    stops_in_s: float = 0.0
    lives_s: float | None = None
    ends_well: bool = False
    status: Status = Status.CREATED
    started_at: str = ""
    started_s: float = 0.0
    ended_s: float = 0.0
    exit_code: int = 0
    ports: tuple[PortBinding, ...] = ()
    former: set[tuple[int, Protocol]] = field(factory=set)
    mood: Mood = Mood()
    starts: int = 0
    execution: int = 0
    removed: bool = False
    shown: HealthStatus | None = None
    frozen_s: float | None = None
    _checked: int = 0
    _streak: int = 0
    _passed: bool = False
    _log: list[ProbeResult] = field(factory=list)
    _health: Health | None = None

    @property
    def is_alive(self) -> bool:
        """Return whether it runs or is paused."""
        return self.status in _ALIVE

    def set_mood(self) -> None:
        """Draw how its next execution goes."""
        drawn = mood(self.nature, self.chance)
        self.mood = drawn if self.lives_s is None else evolve(drawn, dies_after_s=self.lives_s)

    def begin(self, started_at: str, now_s: float, ports: tuple[PortBinding, ...]) -> None:
        """Begin an execution, in the mood that was drawn for it."""
        self.status, self.started_at, self.started_s, self.ports = Status.RUNNING, started_at, now_s, ports
        self.starts += 1
        self.execution += 1
        self.former.clear()
        self.shown, self.frozen_s = None, None
        self._checked, self._streak, self._passed, self._health = 0, 0, False, None

    def end(self, now_s: float, code: int) -> None:
        """End its execution; the engine keeps the start time of it."""
        self.health(now_s)
        self.status, self.ended_s, self.exit_code, self.ports = Status.EXITED, now_s, code, ()
        self.execution += 1
        self.frozen_s = now_s

    def answers(self, now_s: float) -> bool:
        """Tell whether a request to it would be answered by now."""
        after_s = self.mood.answers_after_s
        return self.status is Status.RUNNING and after_s is not None and now_s - self.started_s >= after_s

    def health(self, now_s: float) -> Health:
        """Return what the engine says of its health."""
        if not self.has_check:
            return Health()
        until_s = now_s if self.frozen_s is None else min(now_s, self.frozen_s)
        due = int((until_s - self.started_s) / CHECK_EVERY_S) if self.started_at else 0
        if self._health is None or due > self._checked:
            self._checked = max(self._checked, due - 64)  # nobody sees more than the newest; long sleeps need not be counted out
            while self._checked < due:
                self._check(self._checked)
                self._checked += 1
            self._health = Health(self._said(), self._streak, tuple(self._log))
        if self.shown is not None:
            return Health(self.shown, self._streak, tuple(self._log))
        return self._health

    def _check(self, index: int) -> None:
        result, name = self.mood.check(index), f"{self.started_at}+{index}"
        if result is None:
            self._log.append(ProbeResult(name, -1, _NO_EXEC))
            self._streak += 1
        elif result:
            self._log.append(ProbeResult(name, 0))
            self._streak, self._passed = 0, True
        else:
            code = -1 if index % 5 == 4 else 1
            self._log.append(ProbeResult(name, code, _TIMED_OUT if code == -1 else "not well"))
            self._streak += 1
        del self._log[:-_LOG_LENGTH]

    def _said(self) -> HealthStatus:
        if self._streak >= 2:
            return HealthStatus.UNHEALTHY
        return HealthStatus.HEALTHY if self._passed else HealthStatus.STARTING

    def details(self, now_s: float) -> Details:
        """Return what an inspect shows."""
        end = None if self.is_alive or not self.started_at else Exit(self.exit_code, finished_at=f"end of {self.started_at}")
        container = Container(self.container_id, self.status, self.started_at, self.health(now_s), self.ports, end)
        return Details(container, devices=self.devices)

    def row(self, now_s: float) -> Row:
        """Return its line of the engine's list."""
        health = self.health(now_s).status if self.status is Status.RUNNING else HealthStatus.UNREAD
        text = status_text(self.status, now_s - (self.started_s if self.is_alive else self.ended_s), self.exit_code, health)
        return Row(self.container_id, self.container_id, self.status, text, health, self.ports)

    def holds(self, host_port: int, protocol: Protocol = Protocol.TCP) -> bool:
        """Tell whether one of its ports leads here from this host port."""
        return any(each.host_port == host_port and each.port.protocol is protocol for each in self.ports)
