"""What `gordon-plan report` does: look, read the journal, and write one page. Returns its exit code."""

from collections.abc import Iterator
from contextlib import closing
from heapq import merge
from pathlib import Path
from typing import Final

from attrs import frozen

from gordon_core.looks import WHOLE_EVERY_S
from gordon_core.planner import Plan, plan
from gordon_core.shapes import nearest
from gordon_core.snapshot import Snapshot
from gordon_shell.cli_common import write
from gordon_shell.errors import EX_OK, JournalError, UsageError
from gordon_shell.inputs import STDIN, read_snapshots
from gordon_shell.journal import Deed, Dossier, Journal, Record
from gordon_shell.live_plan import demand_answers
from gordon_shell.page import Page, Told, page
from gordon_shell.past import past
from gordon_shell.replay_verbs import journal_of
from gordon_shell.road_text import roads
from gordon_shell.state_files import save
from gordon_shell.tracing import Courses, Name, Trace
from gordon_shell.wiring import LiveOptions, live_snapshot

_ROWS: Final = 6000
"""How many rows a page has about, spread evenly over its services; each has some, and none very many."""
_FEWEST, _MOST = 30, 300
_BEFORE_S: Final = WHOLE_EVERY_S + 3600.0
"""How long before the time that is told the journal is read: in a day each service is on record at least once."""


@frozen
class Wanted:
    """What is asked for: of which app or service ("": all), since when, and into which file."""

    target: str
    since: str
    output: Path

    def holds(self, app: str, service: str) -> bool:
        """Tell whether a service is to be told of."""
        return self.target in {"", app, f"{app}/{service}"}


def report_document(wanted: Wanted, name: str, options: LiveOptions) -> int:
    """Tell of the host as this document shows it."""
    (snapshot,) = read_snapshots((name,))
    _report(wanted, snapshot, options)
    return EX_OK


def report_live(wanted: Wanted, options: LiveOptions) -> int:
    """Tell of the live host. Raise EngineError or RouterError, after it, where one was out of reach."""
    snapshot = live_snapshot(options)
    _report(wanted, snapshot, options)
    demand_answers(snapshot)
    return EX_OK


def _report(wanted: Wanted, snapshot: Snapshot, options: LiveOptions) -> None:
    since_s = min(past(wanted.since, "--since", snapshot.clock.wall_s), snapshot.clock.wall_s)
    whole = plan(snapshot)
    try:
        with closing(journal_of(options)) as journal:
            made = made_page(wanted, snapshot, whole, journal, since_s)
    except JournalError as error:
        traces = Courses(since_s, wanted.holds).end(snapshot, whole)
        made = _page(wanted, snapshot, whole, traces, since_s, str(error))
    text = page(made)
    if str(wanted.output) == STDIN:
        write(text)
    else:
        save(wanted.output, text, "report")


def made_page(wanted: Wanted, snapshot: Snapshot, whole: Plan, journal: Journal, since_s: float) -> Page:
    """Return what is to be told, with what this journal says since a time. Raise JournalError, UsageError."""
    extent = journal.extent()
    begins_s = max(since_s, extent.first_s) if extent.records + extent.dossiers + extent.deeds else since_s
    courses = Courses(begins_s, wanted.holds)
    for each in _on_record(wanted, journal, since_s - _BEFORE_S):
        courses.take(each)
    return _page(wanted, snapshot, whole, courses.end(snapshot, whole), begins_s)


def _on_record(wanted: Wanted, journal: Journal, since_s: float) -> Iterator[Record | Dossier | Deed]:
    app, _, service = wanted.target.partition("/")
    records, dossiers = journal.records(app, service, since_s), journal.dossiers(app, service, since_s)
    deeds = journal.deeds(app, service, since_s)
    return merge(deeds, dossiers, records, key=lambda each: each.clock.wall_s)


def _page(  # noqa: PLR0913, PLR0917 - what is known, each by its name
    wanted: Wanted, snapshot: Snapshot, whole: Plan, traces: dict[Name, Trace], since_s: float, unread: str = ""
) -> Page:
    if not traces and wanted.target:
        _refuse(wanted.target, snapshot)
    shown = Plan(
        whole.clock,
        tuple(each for each in whole.services if wanted.holds(each.subject.app, each.subject.service)),
        tuple(each for each in whole.superseded if wanted.holds(each.subject.app, each.subject.service)),
    )
    most = min(max(_ROWS // max(len(traces), 1), _FEWEST), _MOST)
    services = [
        Told(
            f"{app}/{service}",
            trace.course(whole.clock.wall_s, most),
            tuple(each for each in shown.decisions if (each.subject.app, each.subject.service) == (app, service)),
        )
        for (app, service), trace in traces.items()
    ]
    return Page(wanted.target, shown, roads(snapshot, shown), services, since_s, unread)


def _refuse(target: str, snapshot: Snapshot) -> None:
    known = [*dict.fromkeys(each.app for each in snapshot.subjects), *(each.name for each in snapshot.subjects)]
    near = nearest(target, known)
    right = f"did you mean {near}?" if near else f"name one of: {', '.join(known)}" if known else "nor is there any other"
    message = f"there is no app or service {target!r}, neither now nor on record; {right}"
    raise UsageError(message)
