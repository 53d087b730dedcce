"""What is remembered of a service, in words: how it came to be where it is, as far as recovery itself must know."""

from collections.abc import Iterator

from gordon_core import evidence
from gordon_core.memory import Memory
from gordon_core.observation import Clock
from gordon_core.sentences import binds_in_words, duration, plural, wall_time
from gordon_core.snapshot import Subject

NOTHING = "nothing is remembered of it"


def memory_in_words(subject: Subject, clock: Clock) -> tuple[str, ...]:
    """Return one clause for each thing that is remembered of the container in ACTIVE."""
    return tuple(_clauses(subject, subject.memory, clock)) or (NOTHING,)


def _clauses(subject: Subject, memory: Memory, clock: Clock) -> Iterator[str]:
    if memory.failures or memory.charged is not None:
        yield _failures(memory, clock)
    retry_at_s = evidence.retry_at_s(subject)
    if retry_at_s > clock.boot_s:
        yield f"its budget opens again at {wall_time(clock, retry_at_s)}, in {duration(retry_at_s - clock.boot_s)}"
    if memory.attempt is not None:
        became = "took effect" if evidence.has_landed(subject) else "has not taken effect yet"
        yield f"an attempt is on record, {_execution(memory.attempt.before, 'made before it ever started')}, and it {became}"
    if memory.strikes is not None:
        yield _strikes(subject, memory.strikes.count)
    if memory.window is not None:
        yield _window(subject, clock)
    if memory.verified is not None:
        whose = (
            "this execution" if evidence.is_verified(subject) else f"the execution that started at {memory.verified.started_at}"
        )
        yield f"{whose} was verified, of revision {memory.verified.revision}, at {binds_in_words(memory.verified.binds)}"
    if memory.contested_port:
        yield f"it was stopped for port {memory.contested_port}, which the route of another service names"
    if memory.again:
        yield "it is to be started again, although it is done"


def _execution(started_at: str, never: str) -> str:
    return f"made after the execution that started at {started_at}" if started_at else never


def _failures(memory: Memory, clock: Clock) -> str:
    which = f", for the execution that started at {memory.charged}" if memory.charged else ", for a start that was refused"
    when = ""
    if memory.charged_at_s is not None:
        when = f" at {wall_time(clock, memory.charged_at_s)}, {duration(clock.boot_s - memory.charged_at_s)} ago"
    count = plural(memory.failures, "failure") if memory.failures else "no failure"
    return f"{count} counted; the latest charge was{when or ' before this boot'}{which if memory.charged is not None else ''}"


def _strikes(subject: Subject, count: int) -> str:
    of = f" of {subject.declared.policy.unhealthy_threshold}" if subject.declared is not None else ""
    counts = plural(count, "strike")
    return f"{counts}{of} counted" + ("" if evidence.strikes(subject) == count else ", for an earlier execution")


def _window(subject: Subject, clock: Clock) -> str:
    window, stable_at_s = subject.memory.window, evidence.stable_at_s(subject)
    since = f"stable since {wall_time(clock, window.since_s)}" if window is not None else ""
    if stable_at_s is None:
        return f"{since}, in an earlier execution"
    return f"{since}; what it has failed is forgotten at {wall_time(clock, stable_at_s)}, if it stays so"
