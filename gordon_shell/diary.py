"""What `run` prints: steps that touch the world as they are taken, and what is otherwise after a pass; as text, or as JSON.

JSON is one object a line, with time, level, app, service, event and words (the line that the text would be), and the name of the
situation where there is one. What goes wrong beside the passes is printed in the same form on standard error.
"""

import json
import os
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

from gordon_core.effects import Done, Effect, Outcome
from gordon_core.observation import Clock
from gordon_core.sentences import wall_time
from gordon_core.snapshot import Subject
from gordon_shell import cli_common
from gordon_shell.errors import GordonError
from gordon_shell.ports import TimeSource
from gordon_shell.report import Report
from gordon_shell.telling import Changes, Entry, step_taken, touches


class Form(Protocol):
    """How an entry is written."""

    def __call__(self, entry: Entry, now: Clock, /) -> str:
        """Return one line without its end."""


def as_text(entry: Entry, now: Clock) -> str:
    """Return a line for people."""
    return f"{wall_time(now, now.boot_s)} {cli_common.printable(entry.words)}"


def as_json(entry: Entry, now: Clock) -> str:
    """Return a line for machines."""
    moment = datetime.fromtimestamp(now.wall_s, UTC)
    fields = {
        "time": f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z",
        "level": entry.level,
        "app": entry.app,
        "service": entry.service,
        "event": entry.event,
        "words": cli_common.printable(entry.words),
    }
    return json.dumps(fields | ({"situation": entry.situation} if entry.situation else {}))


FORMS: dict[str, Form] = {"text": as_text, "json": as_json}


class Diary:
    """Prints what happens."""

    def __init__(self, clock: TimeSource, form: Form = as_text) -> None:
        """Write it like that."""
        self._clock, self._form = clock, form
        self._changes = Changes()

    def step(self, subject: Subject, effect: Effect, outcome: Outcome) -> None:
        """Tell a step that touches the world, or was in vain."""
        if touches(effect) or not isinstance(outcome, Done):
            self._print(step_taken(subject, effect, outcome))

    def tell(self, report: Report) -> None:
        """Tell what a pass found otherwise than the one before."""
        trace(report, self.complain)
        for each in self._changes.entries(report):
            self._print(each)

    def complain(self, words: str) -> None:
        """Tell, on standard error, what goes wrong beside the passes."""
        if self._form is as_text:
            cli_common.complain(words)
        else:
            cli_common.complain(self._form(Entry("complaint", words, level="warning"), self._clock.now()))

    def _print(self, entry: Entry) -> None:
        """Print a line. An output that cannot be written ends no recovery."""
        try:
            cli_common.write(f"{self._form(entry, self._clock.now())}\n")
        except GordonError as error:
            self.complain(str(error))


def trace(report: Report, complain: Callable[[str], None]) -> None:
    """Print where a fault of ours came from, where that is asked for."""
    if os.environ.get("GORDON_DEBUG") == "1":
        for each in report.faults:
            complain("".join(traceback.format_exception(each)).rstrip())
