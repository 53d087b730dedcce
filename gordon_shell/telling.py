"""What `once` and `run` say: one line for each step, each thing that did not go well, each change. Written to be read aloud."""

from collections.abc import Iterable, Iterator
from typing import assert_never

from attrs import frozen

from gordon_core.effects import (
    Done,
    Effect,
    Outcome,
    Publish,
    RecordFailure,
    Refused,
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
from gordon_core.memory import Memory
from gordon_core.observation import Clock
from gordon_core.planner import Decision
from gordon_core.sentences import container_id, duration, in_words, plural, remedy, sentence
from gordon_core.situations import Situation
from gordon_core.snapshot import Subject
from gordon_shell.counts_text import counts, counts_of_others
from gordon_shell.reconciler import Report

_TOUCHING = (Withdraw, Start, Restart, Stop, Publish, RecordFailure, Retire, Remove, StopCandidate, RemoveCandidate)
_QUIET = frozenset({Situation.SETTLED, Situation.SHUT, Situation.ABSENT})
_IN_FLIGHT = frozenset({Situation.IN_FLIGHT, Situation.OLD_HELD, Situation.CANDIDATE_HELD})
LATE_S = 10.0
"""How long a command may be waited for before that is told: most of those that a look comes upon are back a moment later."""
Key = tuple[str, str]
"""(app/service, ID of the superseded container or "")"""


@frozen
class Entry:
    """One thing to say: its kind, the line, of whom it is ("" where of none), how grave it is, and the name of the situation."""

    event: str
    words: str
    app: str = ""
    service: str = ""
    level: str = "info"
    situation: str = ""


def step_taken(subject: Subject, effect: Effect, outcome: Outcome) -> Entry:
    """Return what to say of a step that was taken."""
    level = "info" if isinstance(outcome, Done) else "warning"
    return Entry("step", step(subject, effect, outcome), subject.app, subject.service, level)


def step(subject: Subject, effect: Effect, outcome: Outcome) -> str:
    """Return a step that was taken with what became of it: "shop/web: start it: done"."""
    return f"{subject.name}: {in_words(effect)}: {became(outcome)}"


def touches(effect: Effect) -> bool:
    """Tell whether a step changes the workload, its route or its budget: what `run` tells even where it went well."""
    return isinstance(effect, _TOUCHING)


def became(outcome: Outcome) -> str:
    """Return what became of a step: "done", or why not."""
    match outcome:
        case Done():
            return "done"
        case Refused(reason):
            return f"refused: {reason}"
        case Unknown(reason):
            return f"no answer: {reason}"
        case _ as never:
            assert_never(never)


def what(decision: Decision) -> str:
    """Return whom a decision is about: "shop/web", or "shop/web, superseded 3f2a91bc44d0"."""
    old = f", {decision.role.value} {container_id(decision)[:12]}" if decision.old is not None else ""
    return decision.subject.name + old


def situation(decision: Decision, clock: Clock) -> str:
    """Return one line: who, in which situation, and the one command that would help, if any."""
    help_with = remedy(decision, clock)
    return f"{what(decision)}: {sentence(decision, clock)}{f'; to help: {help_with}' if help_with else ''}"


def failures(report: Report, app: str = "") -> tuple[str, ...]:
    """Return one line for each service (of an app, if given) that is held or was not finished, and for each trouble.

    What this pass passed over is none of its failures: a deploy that holds the lock is at work on it.
    """
    stuck = (each for each in _of(report, app) if each.is_held and not each.is_in_the_dark)
    held = (situation(each, report.plan.clock) for each in stuck)
    left = (f"{what(each)}: {_unfinished(each)}" for each in _of(report, app) if each.effect is not None)
    return (*held, *left, *report.trouble)


def _unfinished(decision: Decision) -> str:
    return f"not finished in this pass, still to {in_words(decision.effect)}; the next one goes on" if decision.effect else ""


def faults(report: Report) -> tuple[str, ...]:
    """Return one line for each fault of this program."""
    return tuple(
        f"a fault of ours: {type(each).__name__}: {each}; please report it with what `gordon-plan --record FILE` writes"
        for each in report.faults
    )


def summary(report: Report, took_s: float, app: str = "") -> str:
    """Return the last line of a pass: "2 services: 1 waiting, 1 as desired; 3 steps taken in 2 s."."""
    chosen = _of(report, app)
    parts = [counts("service", ((each, ()) for each in chosen if each.old is None))]
    parts += counts_of_others((each, ()) for each in chosen)
    taken = sum(len(results) for (named, _service), results in report.results.items() if app in ("", named))
    parts.append(f"{plural(taken, 'step')} taken in {duration(took_s)}" if taken else "nothing needed to be done")
    return f"{'; '.join(parts)}."


def _of(report: Report, app: str) -> list[Decision]:
    return [each for each in report.plan.decisions if app in ("", each.subject.app)]


def forgotten(memory: Memory) -> str:
    """Return what `retry` forgot: "4 failures, an attempt on record and 1 strike"."""
    parts = [plural(memory.failures, "failure")] if memory.failures else []
    if memory.attempt is not None:
        parts.append("an attempt on record")
    if memory.strikes is not None and memory.strikes.count:
        parts.append(plural(memory.strikes.count, "strike"))
    return joined(parts) or "what was charged last"


def joined(words: Iterable[str]) -> str:
    """Return "a, b and c"."""
    *first, last = [*words] or [""]
    return f"{', '.join(first)} and {last}" if first else last


class Changes:
    """What `run` has to say after a pass: what is otherwise than after the one before. The first pass is told in one line."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._said: dict[Key, object] | None = None
        self._waited_for: dict[tuple[Key, object], float] = {}
        self._trouble: frozenset[str] = frozenset()

    def lines(self, report: Report) -> tuple[str, ...]:
        """Return the lines for this pass, mostly none."""
        return tuple(each.words for each in self.entries(report))

    def entries(self, report: Report) -> tuple[Entry, ...]:
        """Return what to say after this pass, mostly nothing."""
        wrong = (Entry("fault", each, level="error") for each in faults(report))
        return (*self._first(report), *self._situations(report), *self._troubles(report), *wrong)

    def _first(self, report: Report) -> Iterator[Entry]:
        if self._said is None:
            yield Entry("watching", f"watching {counts('service', ((each, ()) for each in report.plan.services))}")

    def _situations(self, report: Report) -> Iterator[Entry]:
        clock, before = report.plan.clock, self._said
        now = {_key(each): (each, _gist(each, clock)) for each in report.plan.decisions}
        fresh = self._not_late(now, clock)
        self._said = {key: gist for key, (_, gist) in now.items() if key not in fresh}
        self._said |= {key: before[key] for key in fresh if before and key in before}
        for key, (decision, gist) in now.items():
            if key in fresh:
                continue
            is_news = before is not None or decision.situation not in _QUIET
            if is_news and (before is None or before.get(key) != gist):
                yield _entry(decision, clock)
        for key in (before or {}).keys() - now:
            app, _, service = key[0].partition("/")
            words = f"{', superseded '.join(filter(None, key))}: nothing is known of it any more"
            yield Entry("forgotten", words, app, service)

    def _not_late(self, now: dict[Key, tuple[Decision, object]], clock: Clock) -> frozenset[Key]:
        """Return what waits for a command that may well come back before the next look: of that, what was said before holds."""
        before = self._waited_for
        self._waited_for = {
            (key, gist): before.get((key, gist), clock.boot_s)
            for key, (decision, gist) in now.items()
            if decision.subject.in_flight and decision.situation in _IN_FLIGHT
        }
        return frozenset(key for (key, _), since_s in self._waited_for.items() if clock.boot_s - since_s < LATE_S)

    def _troubles(self, report: Report) -> Iterator[Entry]:
        before, self._trouble = self._trouble, frozenset(report.trouble)
        yield from (Entry("trouble", each, level="warning") for each in sorted(self._trouble - before))
        if before and not self._trouble:
            yield Entry("well_again", "what was told of the state, the policy or late commands is well again")


def _entry(decision: Decision, clock: Clock) -> Entry:
    subject, level = decision.subject, "warning" if decision.is_held else "info"
    return Entry("situation", situation(decision, clock), subject.app, subject.service, level, decision.situation.name)


def _key(decision: Decision) -> Key:
    return decision.subject.name, container_id(decision)[:12] if decision.old is not None else ""


def _gist(decision: Decision, clock: Clock) -> object:
    """Return what makes a line new: a wait is told once, although the time that is left changes with every pass."""
    words = sentence(decision, clock) if decision.until_s is None else round(decision.until_s)
    return decision.situation, container_id(decision), words
