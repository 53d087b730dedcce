"""What a journal holds of a service (or of all), as events in order of time.

What was decided and done, how executions ended, and what people and deploys did.
"""

from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import chain

from attrs import frozen

from gordon_core.document import DocumentFaults, read_plan
from gordon_core.effects import Effect, RecordFailure
from gordon_core.observation import Clock, Container, Status
from gordon_core.record import Line, Role
from gordon_core.sentences import in_words, ordinal
from gordon_core.snapshot import Snapshot, Subject
from gordon_shell.journal import Deed, Dossier, Record, Step
from gordon_shell.seen_text import route_in_words, seen_in_words
from gordon_shell.telling import became

LAST_LINES = 5
Key = tuple[str, str, Role, str]


@frozen
class Event:
    """One thing that happened: when it was decided or known, about whom, what, and what more there is to tell of it.

    `is_deed`: somebody did it.
    """

    clock: Clock
    who: str
    words: str
    more: tuple[str, ...] = ()
    is_deed: bool = False


def events(
    records: Iterable[Record], dossiers: Iterable[Dossier], deeds: Iterable[Deed], app: str = "", service: str = ""
) -> Iterator[Event]:
    """Yield what these say of an app or a service, oldest first; of looks only what is another situation than before."""
    said: dict[Key, str] = {}
    told = chain.from_iterable(_of_record(each, said, app, service) for each in records)
    ended = (of_dossier(each) for each in dossiers)
    yield from merge(map(of_deed, deeds), ended, told, key=lambda each: each.clock.wall_s)


def _of_record(record: Record, said: dict[Key, str], app: str, service: str) -> Iterator[Event]:
    try:
        lines = [each for each in read_plan(record.plan).lines if app in {"", each.app} and service in {"", each.service}]
    except DocumentFaults:
        lines = []  # of another version; what was done is told all the same
    if record.step is not None:
        if app in {"", record.step.app} and service in {"", record.step.service}:
            yield _of_step(record, record.step, lines, said)
        return
    for line in lines:
        key = (line.app, line.service, line.role, line.container_id)
        if said.get(key) != line.situation:
            said[key] = line.situation
            yield Event(record.clock, _who(line), _decided(line, record.snapshot))


def _of_step(record: Record, step: Step, lines: list[Line], said: dict[Key, str]) -> Event:
    effect = step.result.effect
    line = next((each for each in lines if each.effect == effect), None)
    name = f"{step.app}/{step.service}"
    words = f"{in_words(effect)}: {became(step.result.outcome)}{_counted(effect, step.after)}"
    if line is None:
        return Event(record.clock, name, words)
    said[line.app, line.service, line.role, line.container_id] = line.situation
    return Event(record.clock, _who(line), words, (f"since {line.situation}: {line.sentence}",))


def _counted(effect: Effect, after: Subject) -> str:
    failures = after.memory.failures if isinstance(effect, RecordFailure) else 0
    return f"; it is its {ordinal(failures)}" if failures else ""


def _who(line: Line) -> str:
    other = f", {line.role.value} {line.container_id[:12]}" if line.role is not Role.SERVICE else ""
    return f"{line.app}/{line.service}{other}"


def _decided(line: Line, snapshot: Snapshot) -> str:
    words = f"{line.situation}: {line.sentence}"
    found = [each for each in snapshot.subjects if (each.app, each.service) == (line.app, line.service)]
    if line.role is not Role.SERVICE or not found or found[0].declared is None:
        return words
    return f"{words} ({seen_in_words(found[0].seen, snapshot.clock)}; {route_in_words(found[0])})"


def of_deed(deed: Deed) -> Event:
    """Return what somebody did, to a service or all of an app."""
    name = f"{deed.app}/{deed.service}" if deed.service else deed.app
    return Event(deed.clock, name, f"by {deed.who}: {deed.words}", is_deed=True)


def of_dossier(dossier: Dossier) -> Event:
    """Return how an execution ended, with what it said last."""
    if dossier.was_restarted:
        ended = "restarted for being unhealthy"
    elif dossier.end is None:
        ended = "ended"
    else:
        ended = seen_in_words(Container(dossier.container_id, Status.EXITED, exit=dossier.end), dossier.clock)
    words = f"execution of {dossier.container_id[:12]} that started at {dossier.started_at}: {ended}"
    return Event(dossier.clock, f"{dossier.app}/{dossier.service}", words, (*_probes(dossier), *_last_lines(dossier)))


def _probes(dossier: Dossier) -> Iterator[str]:
    failed = [each for each in dossier.probes if each.exit_code]
    if failed:
        yield f"its last failed health check ended with {failed[-1].exit_code}: {failed[-1].output.strip() or 'it said nothing'}"


def _last_lines(dossier: Dossier) -> Iterator[str]:
    yield from dossier.unread
    said = [each for each in dossier.lines if each.strip()]
    if len(said) > LAST_LINES:
        yield f"its last {LAST_LINES} lines, of {len(dossier.lines)} on record:"
    elif said:
        yield "its last lines:"
    yield from (f"| {each}" for each in said[-LAST_LINES:])
