"""Effects from a subject: one small function for each effect that a row of the law for services can call for."""

from collections.abc import Callable

from gordon_core import evidence, facts
from gordon_core.effects import (
    AwaitHealth,
    Cause,
    DropHistory,
    Forget,
    Generation,
    PersistBinds,
    Probe,
    Publish,
    RecordAttempt,
    RecordFailure,
    RecordVerified,
    Refused,
    ReleaseBinds,
    Restart,
    ServiceEffect,
    Start,
    Stop,
    Withdraw,
)
from gordon_core.observation import RouteSeen
from gordon_core.snapshot import Declared, Subject

Command = Callable[[Subject], ServiceEffect]


def _named(subject: Subject) -> tuple[Generation, Declared]:
    generation, declared = subject.generation(), subject.declared
    assert generation is not None  # noqa: S101 - rows with these commands have no ABSENT scope
    assert declared is not None  # noqa: S101
    return generation, declared


def withdraw(subject: Subject) -> Withdraw:
    """Take its route away."""
    return Withdraw(subject.app, subject.service)


def start(subject: Subject) -> Start:
    """Start the exact container."""
    return Start(_named(subject)[0])


def restart(subject: Subject) -> Restart:
    """Restart it, with its grace."""
    generation, declared = _named(subject)
    return Restart(generation, declared.stop_grace_s)


def stop(subject: Subject) -> Stop:
    """Stop it, with its grace."""
    generation, declared = _named(subject)
    return Stop(generation, declared.stop_grace_s)


def yield_port(subject: Subject) -> Stop:
    """Stop it, with its grace, and keep it down for as long as a foreign route names its port."""
    generation, declared = _named(subject)
    return Stop(generation, declared.stop_grace_s, subject.clash.host_port if subject.clash is not None else 0)


def record_attempt(subject: Subject) -> RecordAttempt:
    """Put an attempt on record, with the start time seen before it."""
    return RecordAttempt(_named(subject)[0], evidence.started_at(subject))


def charge(cause: Cause) -> Command:
    """Return the command that charges the execution seen for this cause (a refused start has none)."""

    def charged(subject: Subject) -> RecordFailure:
        """Charge the generation one failure."""
        start = "" if cause is Cause.REFUSED else evidence.started_at(subject)
        return RecordFailure(_named(subject)[0], start, cause, _words(subject, cause))

    return charged


_ASKED: dict[Cause, tuple[type[ServiceEffect], ...]] = {
    Cause.ENDED: (),
    Cause.RELAPSED: (),
    Cause.REFUSED: (Start, Restart),
    Cause.UNBOUND: (),
    Cause.UNREADY: (Probe,),
}


def _words(subject: Subject, cause: Cause) -> str:
    """Return the words with which the workload, or the engine for it, said no in this pass; "" where nobody was asked."""
    outcomes = (each.outcome for each in evidence.results_of(subject, *_ASKED[cause]))
    refused = [each.reason for each in outcomes if isinstance(each, Refused)]
    return refused[-1] if refused else ""


def await_health(subject: Subject) -> AwaitHealth:
    """Wait for its health check, no longer than for readiness."""
    generation, declared = _named(subject)
    return AwaitHealth(generation, evidence.started_at(subject), declared.policy.readiness_s)


def probe(subject: Subject) -> Probe:
    """Ask for readiness: the first probe of an execution waits, one that was charged is asked once a pass."""
    generation, declared = _named(subject)
    wait_s = 0.0 if evidence.is_charged(subject) else declared.policy.readiness_s
    http = declared.http
    return Probe(
        generation,
        evidence.started_at(subject),
        evidence.present_binds(subject),
        wait_s,
        http.port if http is not None else 0,
        http.path if http is not None else "",
    )


def persist_binds(subject: Subject) -> PersistBinds:
    """Put the binds that it has on record."""
    return PersistBinds(_named(subject)[0], evidence.present_binds(subject))


def record_verified(subject: Subject) -> RecordVerified:
    """Remember the execution seen at the binds that it has."""
    return RecordVerified(_named(subject)[0], evidence.started_at(subject), evidence.present_binds(subject))


def publish(subject: Subject) -> Publish:
    """Route it to the binds that it has, as far as the router carries them."""
    carries = subject.route.carries if isinstance(subject.route, RouteSeen) else ()
    return Publish(_named(subject)[0], facts.carried(evidence.present_binds(subject), carries))


def drop_history(subject: Subject) -> DropHistory:
    """Drop its history."""
    return DropHistory(_named(subject)[0])


def release_binds(subject: Subject) -> ReleaseBinds:
    """Take its binds off the record."""
    return ReleaseBinds(_named(subject)[0])


def forget(subject: Subject) -> Forget:
    """Forget its container."""
    return Forget(subject.app, subject.service, _named(subject)[1].container_id)


def forget_orphan(subject: Subject) -> Forget:
    """Forget the first container that nothing names any more."""
    return Forget(subject.app, subject.service, subject.orphans[0])
