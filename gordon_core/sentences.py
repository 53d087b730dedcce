"""Why, in words: the sentence of a decision with everything filled in, made only when it is read."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import assert_never

from gordon_core import evidence
from gordon_core.effects import (
    AwaitHealth,
    Done,
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
    Refused,
    ReleaseBinds,
    ReleaseClaims,
    Remove,
    RemoveCandidate,
    Restart,
    Result,
    Retire,
    Start,
    Stop,
    StopCandidate,
    Unknown,
    Withdraw,
)
from gordon_core.observation import LATEST_WALL_S, Binds, Clock, Container, RouteUnread, Seen, Unread
from gordon_core.planner import Decision, Plan
from gordon_core.record import Line, PlanRecord
from gordon_core.situations import REMEDIES, REMEDIES_IN_THE_DARK
from gordon_core.snapshot import Hold

_LONGEST_S = float(LATEST_WALL_S)
_NEVER_S = float("inf")
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
_ORDINALS = ("no", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def duration(seconds: float) -> str:
    """Return a duration in its two largest units, rounded up to a second: "4 min 12 s", "3 h", "0 s"."""
    left = max(0, -int(-min(seconds, _LONGEST_S) // 1))
    parts: list[str] = []
    for size, unit in _UNITS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {unit}")
        elif parts:
            break
    return " ".join(parts[:2]) or "0 s"


def wall_time(clock: Clock, boot_s: float) -> str:
    """Return when an instant in seconds since boot is on the wall clock, UTC: "07:04:12Z", with its date on another day."""
    now = datetime.fromtimestamp(clock.wall_s, UTC)
    then = datetime.fromtimestamp(max(0.0, min(clock.wall_s + boot_s - clock.boot_s, _LONGEST_S)), UTC)
    return then.strftime("%H:%M:%SZ" if then.date() == now.date() else "%Y-%m-%d %H:%M:%SZ")


def ordinal(count: int) -> str:
    """Return the word for the first ten, and 11th, 22nd, 103rd after them."""
    if count < len(_ORDINALS):
        return _ORDINALS[count]
    suffix = "th" if count % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    return f"{count}{suffix}"


def plural(count: int, noun: str) -> str:
    """Return "1 failure" or "2 failures"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def binds_in_words(binds: Binds) -> str:
    """Return "80/tcp at 32768 and 443/tcp at 32769"."""
    return " and ".join(map(str, binds)) or "no port"


def hold_in_words(hold: Hold | None, clock: Clock) -> str:
    """Return "until 07:04:12Z by alice: migration", "" where there is none."""
    return f"until {wall_time(clock, hold.until_s)} by {hold.who}: {hold.reason}" if hold is not None else ""


# --- the blanks of the sentences -----------------------------------------------------------------------------------------


def _seen(decision: Decision) -> Seen:
    return decision.old.seen if decision.old is not None else decision.subject.seen


def _status(decision: Decision, _clock: Clock) -> str:
    seen = _seen(decision)
    return seen.status.value if isinstance(seen, Container) else "gone"


def _reason(decision: Decision, _clock: Clock) -> str:
    seen = _seen(decision)
    return seen.reason if isinstance(seen, Unread) else ""


def _until(decision: Decision, clock: Clock) -> str:
    return wall_time(clock, decision.until_s if decision.until_s is not None else clock.boot_s)


def _wait(decision: Decision, clock: Clock) -> str:
    return duration((decision.until_s if decision.until_s is not None else clock.boot_s) - clock.boot_s)


def _failures(decision: Decision, _clock: Clock) -> str:
    return plural(decision.subject.memory.failures, "failure")


def _history(decision: Decision, clock: Clock) -> str:
    return _failures(decision, clock) if decision.subject.memory.failures else "its latest start"


def _strikes(decision: Decision, _clock: Clock) -> str:
    declared = decision.subject.declared
    of = declared.policy.unhealthy_threshold if declared is not None else 0
    count = evidence.strikes(decision.subject)
    return f"strike {count} of {of}" if count else "no strike counted yet"


def _state(decision: Decision, _clock: Clock) -> str:
    return "down" if evidence.is_down(decision.subject) else "unhealthy"


def _verb(decision: Decision, _clock: Clock) -> str:
    return "start" if evidence.is_down(decision.subject) else "restart"


def _missing(decision: Decision, _clock: Clock) -> str:
    missing = evidence.missing_ports(decision.subject)
    return f"{' and '.join(map(str, missing))} {'is' if len(missing) == 1 else 'are'}"


def _latest(results: tuple[Result, ...]) -> str:
    outcome = results[-1].outcome if results else None
    return outcome.reason if isinstance(outcome, Refused | Unknown) else ""


def _answer(decision: Decision, _clock: Clock) -> str:
    return _latest(evidence.answers(decision.subject))


def _refusal(decision: Decision, _clock: Clock) -> str:
    return _latest(evidence.results_of(decision.subject, Start, Restart))


def _attempted(decision: Decision, clock: Clock) -> str:
    refusal, verb = _refusal(decision, clock), _verb(decision, clock)
    return f"a {verb} was tried in vain ({refusal})" if refusal else f"it was {verb}ed"


def _blocked(decision: Decision, _clock: Clock) -> str:
    in_vain = [each for each in decision.subject.results if not isinstance(each.outcome, Done)]
    if not in_vain:
        return "as much was done as one pass allows"
    match in_vain[-1].outcome:
        case Refused(reason):
            return f"could not {in_words(in_vain[-1].effect)}: {reason}"
        case Unknown(reason):
            return f"no answer to '{in_words(in_vain[-1].effect)}': {reason}"
        case Done():  # pragma: no cover - filtered out above
            return ""
        case _ as never:
            assert_never(never)


def _held(decision: Decision, _clock: Clock) -> str:
    subject = decision.subject
    if subject.locked:
        return f"skipped: {subject.locked}"
    if subject.in_flight:
        return f"an earlier command ({subject.in_flight}) has not come back yet"
    return "ACTIVE changed during this pass"


def _hold(decision: Decision, clock: Clock) -> str:
    return hold_in_words(decision.subject.hold, clock)


def _unread(decision: Decision, _clock: Clock) -> str:
    route = decision.subject.route
    return route.reason if isinstance(route, RouteUnread) else ""


def _port(decision: Decision, _clock: Clock) -> str:
    clash = decision.subject.clash
    return str(clash.host_port) if clash is not None else ""


def _other(decision: Decision, _clock: Clock) -> str:
    clash = decision.subject.clash
    return clash.other if clash is not None else ""


_BLANKS: dict[str, Callable[[Decision, Clock], str]] = {
    "answer": _answer,
    "attempted": _attempted,
    "blocked": _blocked,
    "failures": _failures,
    "held": _held,
    "history": _history,
    "hold": _hold,
    "in_flight": lambda decision, _clock: decision.subject.in_flight,
    "inhibited": lambda decision, _clock: decision.subject.inhibited,
    "locked": lambda decision, _clock: decision.subject.locked,
    "missing": _missing,
    "other": _other,
    "port": _port,
    "reason": _reason,
    "refusal": _refusal,
    "state": _state,
    "status": _status,
    "strikes": _strikes,
    "ungranted": lambda decision, _clock: "; ".join(decision.subject.ungranted),
    "unread": _unread,
    "until": _until,
    "verb": _verb,
    "wait": _wait,
    "app": lambda decision, _clock: decision.subject.app,
    "service": lambda decision, _clock: decision.subject.service,
    "name": lambda decision, _clock: decision.subject.name,
    "id": lambda decision, _clock: container_id(decision)[:12],
}


class _Blanks:
    """The words for every blank of one decision, each made when it is asked for."""

    def __init__(self, decision: Decision, clock: Clock) -> None:
        self._decision, self._clock = decision, clock

    def __getitem__(self, key: str) -> str:
        return _BLANKS[key](self._decision, self._clock)


def container_id(decision: Decision) -> str:
    """Return the whole ID of the container that a decision is about, "" where ACTIVE names none."""
    if decision.old is not None:
        return decision.old.container_id
    return decision.subject.declared.container_id if decision.subject.declared is not None else ""


def sentence(decision: Decision, clock: Clock) -> str:
    """Return why: the sentence of the situation, filled in."""
    return decision.situation.value.format_map(_Blanks(decision, clock))


def remedy(decision: Decision, clock: Clock) -> str:
    """Return the one command that would help, "" where nobody needs to do anything."""
    remedies = REMEDIES | REMEDIES_IN_THE_DARK if decision.is_in_the_dark else REMEDIES
    return remedies.get(decision.situation, "").format_map(_Blanks(decision, clock))


def in_words(effect: Effect) -> str:  # noqa: C901, PLR0911, PLR0912 - one arm for each kind of effect is the point
    """Return an effect as an imperative: "start it", "publish 80/tcp at 32768"."""
    match effect:
        case Withdraw():
            return "withdraw its route"
        case RecordAttempt():
            return "put the attempt on record"
        case Start():
            return "start it"
        case Restart():
            return f"restart it, with {duration(effect.grace_s)} to stop in"
        case Stop():
            return f"stop it, with {duration(effect.grace_s)} to stop in"
        case AwaitHealth():
            return f"wait for its health check, up to {duration(effect.wait_s)}"
        case Probe():
            how_long = f"for up to {duration(effect.wait_s)}" if effect.wait_s else "once"
            path = f" and GET {effect.http_path}" if effect.http_path else ""
            return f"probe {binds_in_words(effect.binds)}{path} {how_long}"
        case RecordFailure():
            return "charge it one failure"
        case PersistBinds():
            return f"put {binds_in_words(effect.binds)} on record"
        case RecordVerified():
            return "remember it as verified"
        case Publish():
            return f"publish {binds_in_words(effect.binds)}"
        case DropHistory():
            return "drop its history"
        case ReleaseBinds():
            return "release its port claims"
        case Forget():
            return f"forget container {effect.container_id[:12]}"
        case Retire():
            return f"retire it: stop, with {duration(effect.grace_s)} to stop in"
        case Remove():
            return "remove it, and keep its volumes"
        case ReleaseClaims():
            return "release its port claims"
        case DropMarker():
            return "drop its marker"
        case StopCandidate():
            return f"stop it, with {duration(effect.grace_s)} to stop in"
        case RemoveCandidate():
            return "remove it by force, and keep its volumes"
        case DropCandidate():
            return "take it out of the journal"
        case _ as never:
            assert_never(never)


def policy_notes(decision: Decision) -> tuple[str, ...]:
    """Return a clause for what each origin set of the constants of the service, and for each label that is not understood."""
    subject = decision.subject
    if decision.old is not None:
        return ()
    said: dict[str, list[str]] = {}
    for each in subject.policy_constants:
        said.setdefault(each.origin, []).append(f"{each.name} = {each.value}")
    return (*(f"{'; '.join(constants)}, by {origin}" for origin, constants in said.items()), *subject.policy_faults)


def line(decision: Decision, clock: Clock) -> Line:
    """Return a decision as it is written down."""
    return Line(
        app=decision.subject.app,
        service=decision.subject.service,
        role=decision.role,
        container_id=container_id(decision),
        situation=decision.situation.name,
        sentence=sentence(decision, clock),
        effect=decision.effect,
        until_s=decision.until_s if decision.until_s != _NEVER_S else None,  # a wait that no float can see the end of
        policy=policy_notes(decision),
    )


def record(plan: Plan) -> PlanRecord:
    """Return a plan as it is written down."""
    return PlanRecord(plan.clock, tuple(line(each, plan.clock) for each in plan.decisions))
