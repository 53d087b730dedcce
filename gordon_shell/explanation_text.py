"""An explanation as text to be read aloud: now, by which row and why by none above it; next; and how it came here."""

from collections.abc import Iterable, Iterator, Sequence

from gordon_core.explanation import Explanation, RowRead
from gordon_core.observation import Clock
from gordon_core.planner import Decision
from gordon_core.record import Role
from gordon_core.sentences import wall_time
from gordon_core.situations import Situation
from gordon_shell.chronicle import Event, events
from gordon_shell.explaining import Past, Told
from gordon_shell.memory_text import memory_in_words
from gordon_shell.reading_text import reading_in_words
from gordon_shell.road_text import timeline
from gordon_shell.text import Line, Paint, date, paragraph, plain, printed

_LAWS = {Role.SERVICE: "services", Role.SUPERSEDED: "superseded containers", Role.CANDIDATE: "candidates"}
_MOST_EVENTS = 15
_TWO = 2


def text(told: Sequence[Told], *, title: str = "", everything: bool = False, paint: Paint = plain) -> str:
    """Return what is to be told; with `everything`, all values that facts read, and the names of rows that were not asked."""
    lines: list[Line] = [(f"{title}{', as' if title else 'As'} seen at {date(told[0].plan.clock)}:", None)]
    for each in told:
        lines += [("", None), *_service(each, everything=everything)]
    return "".join(f"{printed(words, sign, paint)}\n" for words, sign in lines)


def _service(told: Told, *, everything: bool) -> Iterator[Line]:
    clock = told.plan.clock
    for explanation, road in zip(told.explanations, told.roads, strict=True):
        yield from paragraph(explanation.decision, clock, road)
        yield from ((f"  {each}", None) for each in _why(explanation, clock, everything=everything))
    yield from ((f"  {each}", None) for each in (*_next(told), *_past(told, told.past)))


# --- now -------------------------------------------------------------------------------------------------------------------


def _why(explanation: Explanation, clock: Clock, *, everything: bool) -> Iterator[str]:
    row, decision = explanation.row, explanation.decision
    asks = f", {row.asks}" if row.asks else ""
    fact = row.fact if row.readings else "no row above it holds"
    yield f"By row {row.number} of the law for {_LAWS[decision.role]}, {row.situation.name}{asks}: {fact}"
    yield from (f"  {reading_in_words(each, clock)}" for each in row.readings)
    if decision.situation is Situation.BLOCKED:
        yield "  but what it calls for was tried in vain in this pass already, or as often as one pass allows"
    if explanation.above:
        yield "Rows above it, none of which holds:"
    for each in explanation.above:
        yield from _above(each, clock, everything=everything)
    for ruled_out in explanation.ruled_out:
        names = f" ({', '.join(each.name for each in ruled_out.situations)})" if everything else ""
        verb = "asks" if len(ruled_out.numbers) == 1 else "ask"
        yield f"  {_rows(ruled_out.numbers)}{names} {verb} {ruled_out.why}"


def _above(row: RowRead, clock: Clock, *, everything: bool) -> Iterator[str]:
    question = row.fact.partition(". ")[0]
    yield f"  {row.number} {row.situation.name}: {question}? No: {reading_in_words(row.readings[-1], clock)}"
    if everything:
        yield from (f"      {reading_in_words(each, clock)}" for each in row.readings[:-1])


def _rows(numbers: Sequence[int]) -> str:
    """Return "row 7", or "rows 5 to 7, 9 and 12"."""
    runs: list[list[int]] = []
    for each in numbers:
        if runs and runs[-1][-1] == each - 1:
            runs[-1].append(each)
        else:
            runs.append([each])
    words = [each for run in runs for each in ([f"{run[0]} to {run[-1]}"] if len(run) > _TWO else map(str, run))]
    *first, last = words
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"{'row' if len(numbers) == 1 else 'rows'} {listed}"


# --- next ------------------------------------------------------------------------------------------------------------------


def _next(told: Told) -> Iterator[str]:
    steps = timeline(told.forecast)
    yield "Next, if all goes well:" if steps else "Next:"
    yield from (f"  {each}" for each in steps)
    last = told.forecast[-1]
    when = f"at {wall_time(told.plan.clock, last.clock.boot_s)}: " if steps else ""
    yield f"  {when}{_rest(last.decisions)}"


def _rest(decisions: Iterable[Decision]) -> str:
    if any(each.is_held for each in decisions):
        return "nothing follows of itself; it stays held until somebody helps"
    return "nothing is left to do or to wait for"


# --- how it came here --------------------------------------------------------------------------------------------------------


def _past(told: Told, past: Past) -> Iterator[str]:
    subject, clock = told.explanations[0].decision.subject, told.plan.clock
    yield "How it came here:"
    yield from (f"  {each}" for each in memory_in_words(subject, clock))
    found = list(events(past.records, past.dossiers, past.deeds, subject.app, subject.service))
    latest, before = found[-_MOST_EVENTS:], [each for each in found[:-_MOST_EVENTS] if each.is_deed]
    if past.unread:
        yield f"  its history is not read: {past.unread}"
    elif not found:
        yield "  nothing is on record of it"
    elif len(found) > _MOST_EVENTS:
        done = ", and what somebody did before" if before else ""
        yield f"  the last {_MOST_EVENTS} things on record{done} (gordon-plan history {subject.name} tells all):"
    for each in (*before, *latest):
        yield from (f"  {line}" for line in event_lines(each, subject.name))


def event_lines(event: Event, name: str = "") -> Iterator[str]:
    """Yield an event with what more there is of it; `name` is the service that goes without saying."""
    who = event.who.removeprefix(name).removeprefix(", ") if event.who.startswith(name) else event.who
    yield f"{date(event.clock)}: {f'{who}: ' if who else ''}{event.words}"
    yield from (f"    {each}" for each in event.more)
