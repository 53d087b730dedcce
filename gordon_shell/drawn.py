"""How what was seen and decided of a service is drawn: in which form, whether that is good, why in words, and in a word. Pure."""

from typing import Final, assert_never

from attrs import frozen

from gordon_core import evidence, facts
from gordon_core.observation import Clock, Gone, HealthStatus, RouteSeen, RouteUnread, SeenAs, Unread
from gordon_core.record import Line
from gordon_core.sentences import binds_in_words, duration, ordinal
from gordon_core.situations import Situation
from gordon_core.snapshot import Subject
from gordon_shell.counts_text import STANDING, Mark
from gordon_shell.course import Form
from gordon_shell.seen_text import route_in_words, seen_in_words


@frozen
class Drawn:
    """How something is drawn; `mark` None: neither good nor bad."""

    form: Form
    mark: Mark | None
    words: str
    short: str


_FORMS: Final = {Mark.WELL: Form.SOLID, Mark.WAITS: Form.DOTTED, Mark.HELD: Form.HATCHED, Mark.ACTS: Form.HOLLOW}
_STATES: Final = {
    SeenAs.DOWN: (Form.THIN, None, "down"),
    SeenAs.GONE: (Form.THIN, Mark.HELD, "gone"),
    SeenAs.UNREAD: (Form.HOLLOW, Mark.HELD, "not read"),
    SeenAs.PAUSED: (Form.HATCHED, Mark.HELD, "paused"),
    SeenAs.RESTARTING: (Form.DOTTED, Mark.WAITS, "restarting"),
    SeenAs.REMOVING: (Form.DOTTED, Mark.WAITS, "being removed"),
    SeenAs.UNKNOWN: (Form.HOLLOW, Mark.HELD, "unknown"),
}
_HEALTH: Final = {
    HealthStatus.NONE: (Form.THIN, None, "it has no health check", "none"),
    HealthStatus.STARTING: (Form.DOTTED, Mark.WAITS, "its health check has not said anything yet", "starting"),
    HealthStatus.HEALTHY: (Form.SOLID, Mark.WELL, "healthy", "healthy"),
    HealthStatus.UNHEALTHY: (Form.HATCHED, Mark.HELD, "unhealthy", "unhealthy"),
    HealthStatus.UNREAD: (Form.HOLLOW, Mark.HELD, "its health could not be read", "not read"),
}
_HOLDS: Final = frozenset({Situation.ON_HOLD.name, Situation.SERVING_HELD.name})


def mark_of(decided: Line) -> Mark:
    """Return the sign of a decision as it is written down; one of another version waits."""
    if decided.effect is not None:
        return Mark.ACTS
    known = Situation.__members__.get(decided.situation)
    return STANDING[known][0] if known is not None and known in STANDING else Mark.WAITS


def situation_drawn(decided: Line) -> Drawn:
    """Return how a decision is drawn."""
    mark = mark_of(decided)
    known = Situation.__members__.get(decided.situation)
    short = STANDING[known][1] if known in STANDING and mark is not Mark.ACTS else decided.situation.lower().replace("_", " ")
    return Drawn(_FORMS[mark], mark, f"{decided.situation}: {decided.sentence}", short)


def state_drawn(subject: Subject, clock: Clock) -> Drawn | None:
    """Return how it is drawn that the container does not run; None where it does, or where ACTIVE names none."""
    if subject.declared is None or subject.seen_as is SeenAs.RUNNING:
        return None
    form, mark, short = _STATES[subject.seen_as]
    why = f": {subject.seen.reason}" if isinstance(subject.seen, Unread) else ""
    words = "gone" if isinstance(subject.seen, Gone) else seen_in_words(subject.seen, clock)
    return Drawn(form, mark, f"{words}{why}", short)


def health_drawn(subject: Subject) -> Drawn | None:
    """Return how its health is drawn, None where the container does not run."""
    return Drawn(*_HEALTH[evidence.health(subject)]) if evidence.runs(subject) else None


def route_drawn(subject: Subject) -> Drawn:
    """Return how its route is drawn."""
    match subject.route:
        case RouteSeen(()):
            unpublished = subject.declared is not None and not facts.is_published(subject)
            short = "unpublished" if unpublished else "not routed"
            return Drawn(Form.THIN, None if unpublished else Mark.WAITS, short, short)
        case RouteSeen(binds):
            # Where it leads is part of the short words, so that another route is another thing.
            return Drawn(Form.SOLID, Mark.WELL, route_in_words(subject), f"routed to {binds_in_words(binds)}")
        case RouteUnread(reason):
            return Drawn(Form.HOLLOW, Mark.HELD, f"the router could not be read: {reason}", "not read")
        case _ as never:
            assert_never(never)


def wait_drawn(subject: Subject, decided: Line, clock: Clock) -> Drawn | None:
    """Return how a wait is drawn, None where nothing is waited for."""
    if decided.until_s is None or decided.effect is not None or subject.declared is None:
        return None
    if decided.situation in _HOLDS:
        return Drawn(Form.HATCHED, Mark.WAITS, decided.sentence, "on hold")
    policy, failures = subject.declared.policy, subject.memory.failures
    if decided.situation == Situation.COOLING.name:
        step = min(failures - policy.free_failures, len(policy.ladder_s) - 1)
        told = f"the {ordinal(step + 1)} step of {len(policy.ladder_s)} of the ladder, {duration(policy.wait_s(failures))}"
        return Drawn(
            Form.DOTTED, Mark.WAITS, f"{told}: {decided.sentence}", f"step {step + 1}: {duration(policy.wait_s(failures))}"
        )
    left_s = decided.until_s - clock.boot_s
    return Drawn(Form.HOLLOW, Mark.WAITS, decided.sentence, f"to be stable for {duration(left_s)}")
