"""Records decided again: whether the same comes of them, and if not, what."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

from attrs import frozen

from gordon_core.document import DocumentFaults, read_plan, write_plan
from gordon_core.observation import Clock
from gordon_core.planner import plan
from gordon_core.readings import plain
from gordon_core.record import Line, PlanRecord, Role
from gordon_core.sentences import in_words, record, wall_time
from gordon_core.snapshot import Snapshot
from gordon_shell.history_document import Recorded

Key = tuple[str, str, Role, str]


@frozen
class Difference:
    """What was recorded of one service (or one other container of it), and what is decided now; None where that has no line."""

    key: Key
    before: Line | None
    now: Line | None

    @property
    def who(self) -> str:
        """Return whom it is about."""
        app, service, role, container_id = self.key
        return f"{app}/{service}" + (f", {role.value} {container_id[:12]}" if role is not Role.SERVICE else "")


@frozen
class Otherwise:
    """A record of which another plan is made than was recorded. `unread` says why the two cannot be compared, "" if they can."""

    recorded: Recorded
    differences: tuple[Difference, ...] = ()
    unread: str = ""


def replayed(recorded: Recorded) -> Otherwise | None:
    """Return what is decided otherwise than it was, None where the very same comes of it."""
    again = decided(recorded.snapshot)
    if write_plan(again) == recorded.plan:
        return None
    try:
        before = read_plan(recorded.plan)
    except DocumentFaults as error:
        return Otherwise(recorded, unread=str(error).split("\n")[0])
    found = tuple(_differences(before, again))
    return Otherwise(recorded, found, "" if found else "it is written in another way, though it says the same")


def decided(snapshot: Snapshot) -> PlanRecord:
    """Return the plan of a snapshot as it is written down."""
    return record(plan(snapshot))


def _differences(before: PlanRecord, now: PlanRecord) -> Iterator[Difference]:
    old, new = _by_key(before), _by_key(now)
    for key in dict.fromkeys((*old, *new)):
        if old.get(key) != new.get(key):
            yield Difference(key, old.get(key), new.get(key))


def _by_key(plan: PlanRecord) -> dict[Key, Line]:
    return {(each.app, each.service, each.role, each.container_id): each for each in plan.lines}


def in_lines(otherwise: Otherwise) -> Iterator[str]:
    """Yield what is otherwise, in words."""
    clock = otherwise.recorded.snapshot.clock
    yield f"Record {otherwise.recorded.number}, of {_day(otherwise.recorded.snapshot)}:"
    if otherwise.unread:
        yield f"    its plan: {otherwise.unread}"
    for each in otherwise.differences:
        yield f"    {each.who}:"
        yield f"        was: {_words(each.before)}{_until(each.before, each.now, clock)}"
        yield f"        now: {_words(each.now)}{_until(each.now, each.before, clock)}"


def _words(line: Line | None) -> str:
    if line is None:
        return "nothing is said of it"
    return f"{line.situation}, {line.sentence}; {in_words(line.effect) if line.effect is not None else 'nothing is done'}"


def _until(line: Line | None, other: Line | None, clock: Clock) -> str:
    """Return until when it waits, where the two differ in that."""
    if line is None or line.until_s is None or (other is not None and other.until_s == line.until_s):
        return ""
    return f"; until {wall_time(clock, line.until_s)}"


def _day(snapshot: Snapshot) -> str:
    return f"{datetime.fromtimestamp(snapshot.clock.wall_s, UTC):%Y-%m-%d %H:%M:%SZ}"


def document(otherwise: Iterable[Otherwise], count: int, more: Mapping[str, object] | None = None) -> str:
    """Return the same as a JSON document: of how many records, which differ, and what more there is to say."""
    found = [_fields(each) for each in otherwise]
    said = {"document": "gordon-replay", "version": 1, "records": count, "otherwise": found, **(more or {})}
    return json.dumps(said, indent=2, ensure_ascii=False) + "\n"


def _fields(otherwise: Otherwise) -> dict[str, object]:
    return {
        "number": otherwise.recorded.number,
        "at": f"{datetime.fromtimestamp(otherwise.recorded.snapshot.clock.wall_s, UTC):%Y-%m-%dT%H:%M:%SZ}",
        "unread": otherwise.unread,
        "differences": [{"was": plain(each.before), "now": plain(each.now)} for each in otherwise.differences],
    }
