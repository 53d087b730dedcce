"""What `gordon-plan history` and `replay` do: read the journal, ask the core, print. Each returns its exit code."""

import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice

from attrs import frozen

from gordon_core.document import write_plan
from gordon_core.planner import plan
from gordon_core.sentences import plural
from gordon_core.snapshot import Snapshot
from gordon_shell import replay, what_if
from gordon_shell.chronicle import events
from gordon_shell.cli_common import is_coloured, write
from gordon_shell.errors import EX_FAILED, EX_OK, JournalError, UsageError
from gordon_shell.explanation_text import event_lines
from gordon_shell.history_document import Recorded, document, read_history, recorded
from gordon_shell.journal import FOREVER_S, Journal
from gordon_shell.past import past
from gordon_shell.plan_cli import painter
from gordon_shell.text import plain, printed, text
from gordon_shell.wiring import LiveOptions, live_journal

_CHUNK = 200


def journal_of(options: LiveOptions) -> Journal:
    """Return the journal that the options name, for reading alone. Raise JournalError where none is kept."""
    journal = live_journal(options, read_only=True)
    if journal is None:
        message = "no journal is kept on this host: [journal] of the host policy says days = 0"
        raise JournalError(message)
    return journal


# --- history -----------------------------------------------------------------------------------------------------------------


def tell_history(target: str, since: str | None, options: LiveOptions, form: str) -> int:
    """Tell what a journal holds of an app, a service, or all."""
    app, _, service = target.partition("/")
    since_s = past(since, "--since", time.time()) if since is not None else 0.0
    with closing(journal_of(options)) as journal:
        records, dossiers = journal.records(app, service, since_s), journal.dossiers(app, service, since_s)
        deeds = journal.deeds(app, service, since_s)
        if form == "json":
            _write_all(document(records, dossiers, deeds))
            return EX_OK
        found = events(records, dossiers, deeds, app, service)
        first = next(found, None)
        if first is None:
            write(f"Nothing is on record{f' of {target}' if target else ''}{' since then' if since is not None else ''}.\n")
            return EX_OK
        _write_all(f"{printed(line, None, plain)}\n" for each in (first, *found) for line in event_lines(each))
    return EX_OK


def _write_all(pieces: Iterable[str]) -> None:
    """Write many pieces, some at a time."""
    left = iter(pieces)
    while chunk := "".join(islice(left, _CHUNK)):
        write(chunk)


# --- replay --------------------------------------------------------------------------------------------------------------------


@frozen
class Source:
    """Where records come from: a document, else the journal of these options; of this app or service alone, if one is named."""

    file: str | None
    options: LiveOptions
    target: str = ""

    def records(self, until_s: float = FOREVER_S, *, newest: int | None = None) -> Iterator[Recorded]:
        """Yield the records, oldest first. Raise GordonError."""
        app, _, service = self.target.partition("/")
        if self.file is not None:
            all_of_it = read_history(self.file)
            found = [each for each in all_of_it if each.snapshot.clock.wall_s <= until_s and _holds(each, app, service)]
            yield from found if newest is None else found[-newest:]
            return
        with closing(journal_of(self.options)) as journal:
            yield from map(recorded, journal.records(app, service, until_s=until_s, newest=newest))


def _holds(each: Recorded, app: str, service: str) -> bool:
    return any(app in {"", one.app} and service in {"", one.service} for one in each.snapshot.subjects)


def replay_all(source: Source, form: str) -> int:
    """Decide all records again, and print each that is decided otherwise."""
    count = 0
    found: list[replay.Otherwise] = []
    for each in source.records():
        count += 1
        otherwise = replay.replayed(each)
        if otherwise is not None:
            found.append(otherwise)
            if form == "text":
                _write_lines(replay.in_lines(otherwise))
    if form == "json":
        write(replay.document(found, count))
    else:
        were = "was" if count == 1 else "were"
        said = f"{plural(len(found), 'record')} decided otherwise" if found else "all as recorded"
        write(f"{plural(count, 'record')} {were} decided again: {said}.\n" if count else "Nothing is on record.\n")
    return EX_FAILED if found else EX_OK


def _write_lines(lines: Iterable[str]) -> None:
    write("".join(f"{printed(each, None, plain)}\n" for each in lines))


def _end_of_its_second(at_s: float) -> float:
    """Return the end of the second that a time in whole seconds names: so does `history` name whatever was in that second."""
    return at_s + 0.999999 if at_s.is_integer() else at_s


def replay_at(source: Source, at: str, suppositions: tuple[str, ...], form: str, color: str) -> int:
    """Print the plan of the latest record at a time, and what would follow if something were otherwise."""
    until_s = _end_of_its_second(past(at, "--at", time.time()))
    one = next(source.records(until_s, newest=1), None)
    if one is None:
        whose = f" of {source.target}" if source.target else ""
        message = f"nothing is on record{whose} at {at} or before; name a later time, or another place with --history"
        raise UsageError(message)
    otherwise = replay.replayed(one)
    name = f"record {one.number}"
    shown = [each.name for each in one.snapshot.subjects]
    supposed = what_if.supposed(one.snapshot, suppositions, shown, name) if suppositions else None
    if form == "json":
        write(_record_document(one, otherwise, supposed))
    else:
        paint = painter() if is_coloured(color, os.environ) else plain
        write(text(one.snapshot, plan(one.snapshot), title=name.capitalize(), paint=paint))
        _write_lines(replay.in_lines(otherwise) if otherwise is not None else ("It was decided so.",))
        if supposed is not None:
            title = f"{name.capitalize()} with {', '.join(suppositions)}"
            write(f"\n{text(supposed, plan(supposed), title=title, paint=paint)}")
    return EX_FAILED if otherwise is not None else EX_OK


def _record_document(one: Recorded, otherwise: replay.Otherwise | None, supposed: Snapshot | None) -> str:
    plans = {"plan": one.snapshot, **({"what_if": supposed} if supposed is not None else {})}
    said = {key: json.loads(write_plan(replay.decided(each))) for key, each in plans.items()}
    return replay.document([otherwise] if otherwise is not None else [], 1, {"number": one.number, **said})
