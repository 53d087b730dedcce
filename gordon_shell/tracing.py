"""From records, dossiers and deeds, oldest first, to the courses of services: what lasted, what happened, and why. Pure.

What was seen lasts until something else was seen: between two looks on record nothing else was decided.
"""

from collections.abc import Callable, Iterable, Iterator

from attrs import define, evolve, field

from gordon_core import evidence
from gordon_core.document import DocumentFaults, read_plan
from gordon_core.effects import Done, Effect, Publish, RecordFailure, Restart, Start, Withdraw
from gordon_core.observation import Clock, Container
from gordon_core.planner import Plan
from gordon_core.record import Line, Role
from gordon_core.sentences import binds_in_words, in_words, line, ordinal
from gordon_core.snapshot import Snapshot, Subject
from gordon_shell.counts_text import Mark
from gordon_shell.course import Course, Form, Lane, Point, Row, Sign, Span, within
from gordon_shell.drawn import Drawn, health_drawn, mark_of, route_drawn, situation_drawn, state_drawn, wait_drawn
from gordon_shell.executions import Executions, dossier_in_words
from gordon_shell.journal import Deed, Dossier, Record, Step
from gordon_shell.seen_text import route_in_words, seen_in_words
from gordon_shell.telling import became

Name = tuple[str, str]
"""App and service."""


@define(eq=False)
class Trace:
    """What is known of one service so far; `since_s` (seconds since 1970) is when its course begins."""

    since_s: float
    is_known: bool = True
    _spans: list[Span] = field(factory=list)
    _points: list[Point] = field(factory=list)
    _rows: list[Row] = field(factory=list)
    _executions: Executions = field(factory=Executions)
    _open: dict[Lane, tuple[Drawn, object, float, int]] = field(factory=dict)
    _said: dict[str, object] = field(factory=dict)
    _strikes: tuple[str, int] = ("", 0)
    _latest_s: float = 0.0
    _number: int = 0

    def recorded(self, record: Record, subject: Subject, lines: Iterable[Line]) -> None:
        """Take in a record that holds the service."""
        step = record.step
        if step is None:
            self.looked(record.clock, subject, lines)
        elif (step.app, step.service) == (subject.app, subject.service):
            self._stepped(record.clock, subject, step, lines)

    def looked(self, clock: Clock, subject: Subject, lines: Iterable[Line]) -> None:
        """Take in a look with what was decided."""
        at_s = self._forward(clock)
        for each in lines:
            key = each.container_id if each.role is not Role.SERVICE else ""
            news = (each.situation, each.effect, _seen(subject) if not key else None)
            if self._said.get(key) != news:
                self._said[key] = news
                is_told = not key and subject.declared is not None
                seen = f"seen: {seen_in_words(subject.seen, clock)}; {route_in_words(subject)}" if is_told else "seen"
                self._row(at_s, each, done=seen)
            if not key:
                self._enter(Lane.SITUATION, at_s, situation_drawn(each), each.situation)
                self._enter(Lane.WAIT, at_s, wait_drawn(subject, each, clock), (each.situation, each.until_s))
        self._observe(clock, subject)

    def ended(self, dossier: Dossier) -> None:
        """Take in how an execution ended."""
        at_s = self._forward(dossier.clock)
        done = f"execution {dossier.container_id[:12]}, started {dossier.started_at}"
        self._row(at_s, None, done=done, outcome=dossier_in_words(dossier), dossier=dossier)
        self._executions.dossier(dossier, at_s, self._number)

    def did(self, deed: Deed) -> None:
        """Take in what somebody did."""
        at_s = self._forward(deed.clock)
        self._row(at_s, None, done=deed.words, outcome=f"by {deed.who}")
        self._points.append(Point(Sign.DEED, at_s, f"by {deed.who}: {deed.words}", "", self._number))

    def course(self, until_s: float, most_rows: int) -> Course:
        """Return it as it is at the end of the time, with so many rows at most."""
        until_s = max(until_s, self._latest_s)
        for lane in Lane:
            self._leave(lane, until_s if self.is_known else self._latest_s)
        rows, left_out, left_out_s = within(self._rows, most_rows)
        first = rows[0].number if rows else self._number + 1
        drawn = tuple(self._executions.drawn(until_s, is_known=self.is_known))
        spans = [each for each in (*self._spans, *(span for span, _ in drawn)) if each.until_s >= self.since_s]
        points = [each for each in (*self._points, *(end for _, end in drawn)) if each is not None and each.at_s >= self.since_s]
        return Course(
            self.since_s,
            until_s,
            tuple(evolve(each, from_s=max(each.from_s, self.since_s), row=_row(each, first)) for each in spans),
            tuple(evolve(each, row=_row(each, first)) for each in points),
            rows,
            left_out,
            left_out_s,
        )

    # --- what is seen ------------------------------------------------------------------------------------------------------

    def _observe(self, clock: Clock, subject: Subject) -> None:
        at_s = self._forward(clock)
        self._executions.seen(subject.seen, at_s, self._number)
        state, health, route = state_drawn(subject, clock), health_drawn(subject), route_drawn(subject)
        self._enter(Lane.EXECUTION, at_s, state, state.short if state is not None else "")
        self._enter(Lane.HEALTH, at_s, health, (evidence.started_at(subject), health))
        self._enter(Lane.ROUTE, at_s, route, route.short)
        started_at, count = evidence.started_at(subject), evidence.strikes(subject)
        before = self._strikes[1] if self._strikes[0] == started_at else 0
        if count > before and subject.declared is not None:
            words = f"strike {count} of {subject.declared.policy.unhealthy_threshold}: its health check failed once more"
            self._points.append(Point(Sign.STRIKE, at_s, words, str(count), self._number))
        self._strikes = (started_at, count)

    # --- what is done ------------------------------------------------------------------------------------------------------

    def _stepped(self, clock: Clock, subject: Subject, step: Step, lines: Iterable[Line]) -> None:
        at_s, effect, outcome = self._forward(clock), step.result.effect, step.result.outcome
        decided = next((each for each in lines if each.effect == effect), None)
        failures = step.after.memory.failures
        is_charge = isinstance(effect, RecordFailure) and failures > 0
        result = became(outcome) + (f"; it is its {ordinal(failures)} failure" if is_charge else "")
        self._row(at_s, decided, done=in_words(effect), outcome=result)
        self._observe(clock, subject)
        why = f"; since {decided.sentence}" if decided is not None else ""
        if isinstance(effect, Start | Restart):
            self._points.append(Point(Sign.ATTEMPT, at_s, f"{in_words(effect)}: {result}{why}", "", self._number))
        elif isinstance(effect, RecordFailure) and isinstance(outcome, Done):
            words = f"charged, since it {effect.cause.value}; {result}"
            self._points.append(Point(Sign.CHARGE, at_s, words, str(failures), self._number))
        elif isinstance(outcome, Done):
            self._routed(at_s, effect, why)

    def _routed(self, at_s: float, effect: Effect, why: str) -> None:
        match effect:
            case Publish(binds=binds):
                short = f"routed to {binds_in_words(binds)}"
                self._enter(Lane.ROUTE, at_s, Drawn(Form.SOLID, Mark.WELL, f"published: {short}{why}", short), short)
            case Withdraw():
                drawn = Drawn(Form.THIN, Mark.WAITS, f"withdrawn: not routed{why}", "not routed")
                self._enter(Lane.ROUTE, at_s, drawn, "not routed")
            case _:
                pass

    # --- taking down -------------------------------------------------------------------------------------------------------

    def _forward(self, clock: Clock) -> float:
        """Return the time of something: a wall clock that was put back stands still meanwhile."""
        self._latest_s = max(self._latest_s, clock.wall_s)
        return self._latest_s

    def _row(self, at_s: float, decided: Line | None, *, done: str, outcome: str = "", dossier: Dossier | None = None) -> None:
        self._number += 1
        row = Row(self._number, at_s, done=done, outcome=outcome, dossier=dossier)
        if decided is not None:
            other = f"{decided.role.value} {decided.container_id[:12]}" if decided.role is not Role.SERVICE else ""
            row = evolve(row, situation=decided.situation, mark=mark_of(decided), why=decided.sentence, other=other)
        if at_s >= self.since_s:
            self._rows.append(row)

    def _enter(self, lane: Lane, at_s: float, drawn: Drawn | None, key: object) -> None:
        """Begin something in a lane, unless it is what goes on there (of the same key); None ends it."""
        now = self._open.get(lane)
        if drawn is None or now is None or now[1] != key:
            self._leave(lane, at_s)
            if drawn is not None:
                self._open[lane] = (drawn, key, at_s, self._number)

    def _leave(self, lane: Lane, at_s: float) -> None:
        left = self._open.pop(lane, None)
        if left is not None:
            drawn, _key, from_s, row = left
            self._spans.append(Span(lane, drawn.form, drawn.mark, from_s, at_s, drawn.words, drawn.short, row))


class Courses:
    """The courses of all services that are `wanted`, by app and service, since a time (seconds since 1970)."""

    def __init__(self, since_s: float, wanted: Callable[[str, str], bool]) -> None:
        """Begin with nothing known."""
        self._since_s, self._wanted = since_s, wanted
        self._traces: dict[Name, Trace] = {}

    def take(self, what: Record | Dossier | Deed) -> None:
        """Take in what comes next; what was before the time says how it began."""
        if isinstance(what, Dossier):
            if self._wanted(what.app, what.service):
                self._trace((what.app, what.service)).ended(what)
            return
        if isinstance(what, Deed):
            for trace in self._concerned(what):
                trace.did(what)
            return
        lines = _lines(what)
        for each in self._of(what.snapshot):
            self._trace((each.app, each.service)).recorded(what, each, _about(lines, each))

    def end(self, snapshot: Snapshot, plan: Plan) -> dict[Name, Trace]:
        """Take in how it is at the end, and return what there is of each service, in order of their names."""
        for trace in self._traces.values():
            trace.is_known = False
        lines = [line(each, plan.clock) for each in plan.decisions]
        for each in self._of(snapshot):
            trace = self._trace((each.app, each.service))
            trace.is_known = True
            trace.looked(plan.clock, each, _about(lines, each))
        return dict(sorted(self._traces.items()))

    def _of(self, snapshot: Snapshot) -> Iterator[Subject]:
        return (each for each in snapshot.subjects if self._wanted(each.app, each.service))

    def _concerned(self, deed: Deed) -> list[Trace]:
        """Return whom a deed is about: one service, or those of its app that are known by then."""
        if deed.service:
            return [self._trace((deed.app, deed.service))] if self._wanted(deed.app, deed.service) else []
        return [trace for (app, _service), trace in self._traces.items() if app == deed.app]

    def _trace(self, name: Name) -> Trace:
        return self._traces.setdefault(name, Trace(self._since_s))


def _lines(record: Record) -> tuple[Line, ...]:
    try:
        return read_plan(record.plan).lines
    except DocumentFaults:
        return ()  # of another version; what was seen and done is told all the same


def _about(lines: Iterable[Line], subject: Subject) -> list[Line]:
    return [each for each in lines if (each.app, each.service) == (subject.app, subject.service)]


def _seen(subject: Subject) -> object:
    """Return what makes another row of a look, beside what was decided."""
    seen = subject.seen
    looks = (seen.container_id, seen.started_at, seen.status, seen.health.status) if isinstance(seen, Container) else seen
    return looks, subject.route, evidence.strikes(subject), subject.memory.failures


def _row(each: Span | Point, first: int) -> int:
    """Return the row that tells of it, 0 where that is not among those from the first on."""
    return each.row if each.row >= first else 0
