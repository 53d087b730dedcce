"""One effect, one port call. What came of it goes back to the core as an outcome; nothing is decided here."""

from typing import assert_never

from gordon_core.effects import (
    DONE,
    AwaitHealth,
    DropCandidate,
    DropHistory,
    DropMarker,
    Effect,
    Forget,
    Outcome,
    PersistBinds,
    Probe,
    Publish,
    RecordAttempt,
    RecordFailure,
    RecordVerified,
    ReleaseBinds,
    ReleaseClaims,
    Remove,
    RemoveCandidate,
    Restart,
    Retire,
    Start,
    Stop,
    StopCandidate,
    Unknown,
    Withdraw,
)
from gordon_core.folds import did
from gordon_core.observation import Clock, HealthStatus, Status
from gordon_core.snapshot import Subject
from gordon_shell.errors import EngineError
from gordon_shell.ports import Details, Ports
from gordon_shell.recollection import Recollection

_HEALTH_CADENCE_S = 0.5
_Written = RecordAttempt | RecordFailure | RecordVerified | DropHistory | Forget
"""Effects that are nothing but a write of memory: what they change is kept by the time they are done."""


class Executor:
    """Carries out effects, and keeps what they change in memory."""

    def __init__(self, ports: Ports, recollection: Recollection) -> None:
        self._ports, self._recollection = ports, recollection
        self._dropped = False

    def drop(self) -> None:
        """End every wait under way, and begin no other: the program is going down."""
        self._dropped = True

    def absorb(self, subject: Subject, effect: Effect, outcome: Outcome) -> Subject:
        """Return the subject with a result in its memory, which is kept."""
        after = did(subject, effect, outcome, self._ports.clock.now())
        if isinstance(effect, Withdraw):
            self._recollection.settle(subject, after)
        elif not isinstance(effect, _Written):
            self._recollection.keep(subject, after)
        return after

    def execute(self, subject: Subject, effect: Effect) -> Outcome:  # noqa: C901, PLR0911, PLR0912 - an arm for each
        """Carry out one effect for a subject, by one port call."""
        ports = self._ports
        match effect:
            case Withdraw(app, service):
                self._recollection.doubt(app, service)
                return ports.router.withdraw(app, service)
            case Start(generation):
                return ports.engine.start(generation.container_id)
            case Restart(generation, grace_s):
                return ports.engine.restart(generation.container_id, grace_s)
            case Stop(generation, grace_s):
                return ports.engine.stop(generation.container_id, grace_s)
            case AwaitHealth():
                return self._await_health(effect)
            case Probe(_, _, binds, wait_s, http_port, http_path) as probe:
                return ports.prober.probe(binds, wait_s, http_port, http_path, lambda: self._still_runs(probe))
            case PersistBinds(generation, binds):
                return ports.store.persist_binds(generation, binds)
            case Publish(generation, binds):
                return ports.router.publish(generation.app, generation.service, binds)
            case ReleaseBinds(generation):
                return ports.store.persist_binds(generation, ())
            case Forget(app, service, container_id):
                return self._recollection.forget(app, service, container_id)
            case Retire(_, _, container_id, grace_s):
                return ports.engine.stop(container_id, grace_s)
            case Remove(_, _, container_id):
                return ports.engine.remove(container_id)
            case ReleaseClaims(app, service, container_id):
                return ports.store.release_claims(app, service, container_id)
            case DropMarker(app, service, container_id):
                return ports.store.drop_marker(app, service, container_id)
            case StopCandidate(_, _, container_id, grace_s):
                return ports.engine.stop(container_id, grace_s)
            case RemoveCandidate(_, _, container_id):
                return ports.engine.remove(container_id, force=True)
            case DropCandidate(app, service, container_id):
                return ports.store.drop_candidate(app, service, container_id)
            case RecordAttempt() | RecordFailure() | RecordVerified() | DropHistory():
                return self._recollection.keep(subject, did(subject, effect, DONE, ports.clock.now()))
            case _ as never:
                assert_never(never)

    def _still_runs(self, effect: Probe) -> bool:
        """Look whether the execution runs; where nothing can be seen, nothing is concluded."""
        try:
            details = self._ports.engine.inspect(effect.generation.container_id)
        except EngineError:
            return True
        return (
            isinstance(details, Details)
            and details.container.status is Status.RUNNING
            and details.container.started_at == effect.started_at
        )

    def _await_health(self, effect: AwaitHealth) -> Outcome:
        """Look until the health check of this execution says something else than starting, or the time is over."""
        start = self._ports.clock.now()
        while not self._dropped and _elapsed_s(start, self._ports.clock.now()) < effect.wait_s:
            try:
                details = self._ports.engine.inspect(effect.generation.container_id)
            except EngineError as error:
                return Unknown(str(error))
            if not (
                isinstance(details, Details)
                and details.container.started_at == effect.started_at
                and details.container.health.status is HealthStatus.STARTING
            ):
                return DONE
            self._ports.clock.sleep(_HEALTH_CADENCE_S)
        return Unknown("dropped: the program is going down" if self._dropped else "its health check still says starting")


def _elapsed_s(start: Clock, now: Clock) -> float:
    return now.boot_s - start.boot_s
