"""What `gordon-plan explain` does: read, ask the core, print. Each returns its exit code."""

import os
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from gordon_core.snapshot import Snapshot
from gordon_shell.cli_common import is_coloured, write
from gordon_shell.errors import EX_OK
from gordon_shell.explaining import Past, ReadPast, past_of, told
from gordon_shell.explanation_document import document
from gordon_shell.explanation_text import text
from gordon_shell.inputs import read_snapshots
from gordon_shell.plan_cli import painter
from gordon_shell.text import plain

if TYPE_CHECKING:
    from gordon_shell.wiring import LiveOptions

NO_PAST = "a document has none; name the journal beside it with --history"


@frozen
class Form:
    """How it is printed: as text or JSON, with all that there is, and in colour (auto, always, never)."""

    form: str
    everything: bool
    color: str


def explain_document(target: str, name: str, history: Path | None, form: Form) -> int:
    """Explain services of a snapshot document; their past is what the journal of this name holds."""
    (snapshot,) = read_snapshots((name,))
    if history is None:
        return _explain(snapshot, target, _no_past, form)
    from gordon_shell.sqlite_journal import SqliteJournal  # noqa: PLC0415 - no document needs a journal

    with closing(SqliteJournal(history, read_only=True)) as journal:
        return _explain(snapshot, target, partial(past_of, journal), form)


def explain_live(target: str, options: "LiveOptions", form: Form) -> int:
    """Explain services of the live host. Raise EngineError or RouterError, after it, where one was out of reach."""
    from gordon_shell.live_plan import demand_answers  # noqa: PLC0415 - the ports, which no document needs
    from gordon_shell.replay_verbs import journal_of  # noqa: PLC0415 - likewise
    from gordon_shell.wiring import live_snapshot  # noqa: PLC0415 - likewise

    snapshot = live_snapshot(options)
    with closing(journal_of(options)) as journal:
        _explain(snapshot, target, partial(past_of, journal), form)
    demand_answers(snapshot)
    return EX_OK


def _no_past(_app: str, _service: str) -> Past:
    return Past(unread=NO_PAST)


def _explain(snapshot: Snapshot, target: str, read_past: ReadPast, form: Form) -> int:
    found = told(snapshot, target, read_past)
    paint = painter() if is_coloured(form.color, os.environ) else plain
    write(document(found) if form.form == "json" else text(found, everything=form.everything, paint=paint))
    return EX_OK
