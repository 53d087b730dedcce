"""The last line of a plan: how many services would be started, wait, or are as desired; and that nothing was done."""

from collections import Counter
from collections.abc import Iterable
from enum import Enum

from gordon_core.effects import (
    AwaitHealth,
    DropCandidate,
    DropHistory,
    DropMarker,
    Effect,
    Forget,
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
    Withdraw,
)
from gordon_core.planner import Decision
from gordon_core.record import Role
from gordon_core.sentences import plural
from gordon_core.situations import Situation


class Mark(Enum):
    """The sign before a service: its meaning stands in the words behind it as well."""

    ACTS = ">"
    HELD = "!"
    WAITS = "~"
    WELL = "="


VERBS: tuple[tuple[type[Effect], str], ...] = (
    (Restart, "restarted"),
    (Start, "started"),
    (Stop, "stopped"),
    (Retire, "retired"),
    (Remove, "removed"),
    (StopCandidate, "removed"),
    (RemoveCandidate, "removed"),
    (Publish, "published"),
    (Withdraw, "withdrawn"),
    (AwaitHealth, "verified"),
    (Probe, "verified"),
    (RecordVerified, "verified"),
    (RecordFailure, "charged"),
    (RecordAttempt, "tidied up"),
    (PersistBinds, "tidied up"),
    (DropHistory, "tidied up"),
    (ReleaseBinds, "tidied up"),
    (Forget, "tidied up"),
    (ReleaseClaims, "tidied up"),
    (DropMarker, "tidied up"),
    (DropCandidate, "tidied up"),
)
"""What each kind of effect is counted as; of all that would be done to a service, the first kind here tells most."""

STANDING: dict[Situation, tuple[Mark, str]] = {
    Situation.LOCKED: (Mark.WAITS, "skipped"),
    Situation.IN_FLIGHT: (Mark.WAITS, "waiting"),
    Situation.SUPPLANTED: (Mark.WAITS, "skipped"),
    Situation.ABSENT: (Mark.WELL, "left alone"),
    Situation.LEAVING: (Mark.WAITS, "waiting"),
    Situation.SHUT_UNREAD: (Mark.HELD, "held"),
    Situation.SHUT_ROUTED: (Mark.HELD, "held"),
    Situation.SHUT: (Mark.WELL, "as desired"),
    Situation.ON_HOLD: (Mark.WAITS, "on hold"),
    Situation.INHIBITED: (Mark.HELD, "inhibited"),
    Situation.UNREADABLE: (Mark.HELD, "held"),
    Situation.GONE: (Mark.HELD, "gone"),
    Situation.TRANSITIONAL: (Mark.HELD, "held"),
    Situation.PAUSED: (Mark.HELD, "held"),
    Situation.UNSAFE: (Mark.HELD, "held"),
    Situation.DONE: (Mark.WELL, "done"),
    Situation.CONTENDING: (Mark.HELD, "held"),
    Situation.SIDELINED: (Mark.HELD, "held"),
    Situation.COOLING: (Mark.WAITS, "waiting"),
    Situation.UNGRANTED: (Mark.HELD, "held"),
    Situation.SPENT: (Mark.HELD, "held"),
    Situation.HELD_OFF: (Mark.HELD, "held"),
    Situation.EXCLUDED: (Mark.HELD, "held"),
    Situation.PORTLESS: (Mark.HELD, "held"),
    Situation.BLIND: (Mark.HELD, "held"),
    Situation.STARTING_YET: (Mark.HELD, "held"),
    Situation.ILL: (Mark.HELD, "held"),
    Situation.HEALTH_UNREAD: (Mark.HELD, "held"),
    Situation.NOT_READY: (Mark.HELD, "held"),
    Situation.SERVING_HELD: (Mark.WAITS, "on hold"),
    Situation.WATCHED: (Mark.WAITS, "serving"),
    Situation.UNCONFIRMED: (Mark.WAITS, "serving"),
    Situation.PROVING: (Mark.WAITS, "serving"),
    Situation.SETTLED: (Mark.WELL, "as desired"),
    Situation.BLOCKED: (Mark.HELD, "held"),
    Situation.OLD_HELD: (Mark.WAITS, "skipped"),
    Situation.OLD_UNREAD: (Mark.HELD, "held"),
    Situation.AWAITING: (Mark.WAITS, "kept"),
    Situation.OLD_ROUTED: (Mark.HELD, "held"),
    Situation.OLD_ON_HOLD: (Mark.WAITS, "on hold"),
    Situation.OLD_LEAVING: (Mark.WAITS, "waiting"),
    Situation.CANDIDATE_HELD: (Mark.WAITS, "skipped"),
    Situation.CHOSEN: (Mark.WELL, "kept"),
    Situation.CANDIDATE_UNREAD: (Mark.HELD, "held"),
    Situation.NEVER_WAS: (Mark.WELL, "gone"),
    Situation.FOREIGN: (Mark.WAITS, "left alone"),
    Situation.CANDIDATE_ROUTED: (Mark.WAITS, "kept"),
    Situation.UNSELECTED: (Mark.WAITS, "kept"),
    Situation.NAMESAKE: (Mark.WAITS, "kept"),
    Situation.CANDIDATE_ON_HOLD: (Mark.WAITS, "on hold"),
    Situation.CANDIDATE_LEAVING: (Mark.WAITS, "waiting"),
}
"""How a situation without an effect is marked and counted."""

_STANDING_ORDER = (
    "inhibited", "gone", "held", "on hold", "waiting", "skipped", "kept", "left alone", "serving", "done", "as desired",
)  # fmt: skip
_ORDER = (*dict.fromkeys(f"would be {verb}" for _, verb in VERBS), *_STANDING_ORDER)


def mark(decision: Decision) -> Mark:
    """Return the sign of a decision."""
    return Mark.ACTS if decision.effect is not None else STANDING[decision.situation][0]


def in_short(decision: Decision) -> str:
    """Return how a decision is counted: "would be started", "waiting", "as desired"."""
    return _counted(decision, ())


def _counted(decision: Decision, effects: Iterable[Effect]) -> str:
    if decision.effect is None:
        return STANDING[decision.situation][1]
    kinds = {type(decision.effect), *map(type, effects)}
    return f"would be {next(verb for kind, verb in VERBS if kind in kinds)}"


def counts_of_others(decisions: Iterable[tuple[Decision, tuple[Effect, ...]]]) -> tuple[str, ...]:
    """Return the counts of superseded containers and of candidates, as far as there are any."""
    found = tuple(decisions)
    by_noun = {noun: [each for each in found if each[0].role is role] for role, noun in _NOUNS.items()}
    return tuple(counts(noun, those) for noun, those in by_noun.items() if those)


_NOUNS = {Role.SUPERSEDED: "superseded container", Role.CANDIDATE: "candidate"}


def counts(noun: str, decisions: Iterable[tuple[Decision, tuple[Effect, ...]]]) -> str:
    """Return "3 services: 1 would be started, 2 as desired" of decisions, each with the effects that would follow from it."""
    found = Counter(_counted(decision, effects) for decision, effects in decisions)
    parts = ", ".join(f"{found[each]} {each}" for each in _ORDER if found[each])
    total = plural(found.total(), noun) if found else f"no {noun}s"
    return f"{total}: {parts}" if parts else total
