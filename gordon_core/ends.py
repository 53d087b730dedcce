"""Which executions ended, as a pass sees it: those of containers that are down and are to run, and those that it restarts."""

from attrs import frozen

from gordon_core import evidence
from gordon_core.effects import Effect, Restart
from gordon_core.observation import Container, Exit, ProbeResult, SeenAs
from gordon_core.snapshot import Intent, Subject


@frozen
class End:
    """The end of one execution: its container and start time, how it ended as far as it was seen, its last health results.

    `was_restarted`: it ran, and was restarted for being sick; how that went is not seen any more.
    """

    app: str
    service: str
    container_id: str
    started_at: str
    was_restarted: bool = False
    end: Exit | None = None
    probes: tuple[ProbeResult, ...] = ()


def seen_ended(subject: Subject) -> End | None:
    """Return the end of the execution that a look shows, None where it shows none, or one that the operator wants."""
    seen = subject.seen
    is_wanted = subject.declared is None or subject.intent is Intent.STOPPED or evidence.is_done(subject)
    if is_wanted or not isinstance(seen, Container) or subject.seen_as is not SeenAs.DOWN or not seen.started_at:
        return None
    return End(subject.app, subject.service, seen.container_id, seen.started_at, end=seen.exit, probes=seen.health.results)


def ended_by(subject: Subject, effect: Effect) -> End | None:
    """Return the end that an effect puts to the execution of this subject for being sick."""
    seen = subject.seen
    if not isinstance(effect, Restart) or not isinstance(seen, Container) or not evidence.runs(subject):
        return None
    return End(subject.app, subject.service, seen.container_id, seen.started_at, was_restarted=True, probes=seen.health.results)
