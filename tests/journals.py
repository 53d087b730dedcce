"""Records and dossiers for tests of the journal: really decided ones, of the good subject and of some deviations."""

import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

from attrs import evolve

from gordon_core.document import write_plan
from gordon_core.effects import DONE, Outcome, Result
from gordon_core.observation import Clock, Exit, ProbeResult
from gordon_core.planner import plan
from gordon_core.sentences import record
from gordon_core.snapshot import Snapshot, Subject
from gordon_shell.journal import Deed, Dossier, Kind, Record, Step
from tests.core_examples import CLOCK, STARTED, WEB_ID, down, good, having, remembering

SHOP = good()
CRASHED = good(down, remembering(failures=2, charged="", charged_at_s=9_000.5))
BLOG = good(having(app="blog"))
FULL = Dossier(
    app="shop",
    service="web",
    container_id=WEB_ID,
    started_at=STARTED,
    clock=CLOCK,
    end=Exit(137, oom_killed=True, error="no such file", finished_at="2026-11-30T06:59:00.5Z"),
    probes=(ProbeResult("06:58", 1, "connection refused"), ProbeResult("06:59", -1, "\0\u2028")),
    lines=("starting", "out of memory", ""),
    unread=("its last lines could not be read",),
)
WALL_S = CLOCK.wall_s
DEPLOYED = Deed("shop", "web", CLOCK, "alice", "deployed container 3f2a9c1b7d4e, revision 3 \0\u2028")
STOPPED = Deed("shop", "", CLOCK, "bob", "is to be stopped")


def at(seconds: float) -> Clock:
    """Return the instant so long after the usual one."""
    return evolve(CLOCK, boot_s=CLOCK.boot_s + seconds, wall_s=CLOCK.wall_s + seconds)


def look(*subjects: Subject, clock: Clock = CLOCK, is_whole: bool = False) -> Record:
    """Return the record of a look at these."""
    snapshot = Snapshot(clock, subjects)
    return Record(Kind.LOOK, snapshot, write_plan(record(plan(snapshot))), is_whole=is_whole)


def step(subject: Subject, *beside: Subject, clock: Clock = CLOCK, outcome: Outcome = DONE) -> Record:
    """Return the record of the first effect that is called for."""
    snapshot = Snapshot(clock, (subject, *beside))
    effect = plan(snapshot).effects[0]
    result = Result(effect, outcome)
    after = evolve(subject, results=(*subject.results, result))
    text = write_plan(record(plan(snapshot)))
    return Record(Kind.STEP, snapshot, text, Step(subject.app, subject.service, result, after))


def numbered(*records: Record, first: int = 1, pass_number: int = 1) -> list[Record]:
    """Return records as one pass wrote them."""
    return [evolve(each, number=number, pass_number=pass_number) for number, each in enumerate(records, first)]


_PACKED = {"content", "plan"}


def contents(path: Path) -> str:
    """Return all that a journal's file says, as text; what is compressed, as what it says."""
    said = []
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            rows = connection.execute(f"SELECT * FROM {table}")  # noqa: S608 - of tables
            columns = [each for each, *_ in rows.description]
            for row in rows:
                said += [_text(column, value) for column, value in zip(columns, row, strict=True)]
    return "\n".join(said)


def _text(column: str, value: object) -> str:
    """By the name of its column: a digest may begin as compressed bytes do."""
    return zlib.decompress(value).decode() if column in _PACKED and isinstance(value, bytes) else str(value)
