"""Whether a subject is calm, as most are most of the time: told at once, without a walk over the law."""

from gordon_core.evidence import present_binds, runs
from gordon_core.facts import carried
from gordon_core.observation import Container, HealthStatus, RouteSeen
from gordon_core.snapshot import Intent, Subject


def is_calm(subject: Subject) -> bool:
    """It is as desired in every respect, which is told at once: only the last row of the law holds."""
    seen, declared, route, memory = subject.seen, subject.declared, subject.route, subject.memory
    if not (isinstance(seen, Container) and runs(subject) and isinstance(route, RouteSeen) and _is_unmarked(subject)):
        return False
    verified, health_seen = memory.verified, seen.health.status
    if declared is None or verified is None or not (health_seen is HealthStatus.NONE or health_seen is HealthStatus.HEALTHY):
        return False
    binds = present_binds(subject)
    return (
        verified.started_at == seen.started_at
        and verified.revision == declared.revision
        and len(binds) == len(declared.ports)
        and declared.binds == binds
        and verified.binds == binds
        and route.binds == (carried(binds, route.carries) if declared.published else ())
    )


def _is_unmarked(subject: Subject) -> bool:
    """Nothing is to be said of it but what was seen, and it is to run."""
    return subject.intent is Intent.RUNNING and not (
        subject.results
        or subject.superseded
        or subject.orphans
        or subject.candidates
        or subject.locked
        or subject.in_flight
        or subject.inhibited
        or subject.ungranted
        or subject.unproven
        or subject.clash
        or subject.hold is not None
        or subject.memory.has_history()
    )
