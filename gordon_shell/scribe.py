"""Turns what was heard of passes into records and dossiers, and writes them; what cannot be written is told once."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from gordon_core.document import write_plan
from gordon_core.effects import Done, Result
from gordon_core.ends import End, ended_by, seen_ended
from gordon_core.looks import Looked, look
from gordon_core.observation import Clock
from gordon_core.planner import plan
from gordon_core.sentences import record
from gordon_core.snapshot import Snapshot, Subject
from gordon_shell.dossiers import Output, taken
from gordon_shell.errors import JournalError, UnprunedError
from gordon_shell.heard import Heard, Looking, Take
from gordon_shell.journal import Dossier, Journal, Kind, Record, Step
from gordon_shell.journal_rows import text_of

LOOKED: Final = "looked"
"""The key under which the journal keeps what the last look of a process that ended well was: the next goes on from there."""
MOST_UNWRITTEN: Final = 1000
MOST_TAKEN: Final = 1000
"""Of how many containers it is kept in mind whose dossier was taken; beyond that, the journal is asked."""


class Scribe:
    """Writes one process's part of a journal. For one thread at a time."""

    def __init__(self, journal: Journal, output: Output, complain: Callable[[str], None]) -> None:
        """Write there, read last lines there, and tell so what goes wrong."""
        self._journal, self._output, self._complain = journal, output, complain
        self._complaint = ""
        self._looked: Looked | None = None
        self._is_kept = False
        self._records: list[Record] = []
        self._dossiers: list[Dossier] = []
        self._taken: dict[str, str] = {}
        self._is_within = False

    def begun(self, take: Take) -> None:
        """Leave it: what is written at once is written when the pass is over."""

    def write(self, heard: Sequence[Heard], *, is_over: bool = True) -> None:
        """Write what was heard of one pass (so far, unless it `is_over`), with what could not be written before."""
        looked = self._looked if self._looked is not None else self._begin()
        for each in heard:
            looked = self._take_down(each, looked)
        self._looked = looked
        for clock, end in _ends(heard):
            self._take(end, clock)
        try:
            self._flush()
            self._complaint = ""
        except JournalError as error:
            self._tell(str(error))
        self._is_within = self._is_within and not is_over

    def end(self) -> None:
        """Write what is left, and keep what was looked at last, for the next process."""
        try:
            self._flush()
            if self._looked is not None and not self._is_kept:
                said = {"marks": dict(self._looked.marks), "whole_at_s": self._looked.whole_at_s}
                self._journal.keep(LOOKED, json.dumps(said, separators=(",", ":")))
        except JournalError as error:
            self._tell(str(error))

    def _begin(self) -> Looked:
        """Return what the process before looked at last, if it ended well and nobody wrote since."""
        try:
            kept = self._journal.kept(LOOKED)
            said = json.loads(kept) if kept else {"marks": {}, "whole_at_s": None}
            looked = Looked(said["marks"], said["whole_at_s"])
        except JournalError as error:
            self._tell(str(error))
            return Looked()
        except (ValueError, KeyError, TypeError):  # nobody's words but ours, of another version
            return Looked()
        self._is_kept = bool(kept)
        return looked

    def _take_down(self, heard: Heard, looked: Looked) -> Looked:
        if isinstance(heard, Looking):
            after, news = look(looked, heard.plan, is_whole=heard.is_whole)
            if news is not None:
                self._put(Kind.LOOK, news.snapshot, is_whole=news.is_whole)
            return after
        step = Step(heard.subject.app, heard.subject.service, Result(heard.effect, heard.outcome), heard.after)
        self._put(Kind.STEP, heard.decided, step)
        return looked

    def _put(self, kind: Kind, snapshot: Snapshot, step: Step | None = None, *, is_whole: bool = False) -> None:
        try:
            text = write_plan(record(plan(snapshot)))
            # What no document can say could not be read again.
            for each in (*snapshot.subjects, *([step.after] if step is not None else [])):
                text_of(each, Subject).encode()
        except ValueError as error:
            names = ", ".join(each.name for each in snapshot.subjects)
            self._tell(f"what was decided of {names} cannot be put in the journal: {error}; see where such a text comes from")
            return
        self._records.append(Record(kind, snapshot, text, step, is_whole))

    def _take(self, end: End, clock: Clock) -> None:
        """Take the dossier of an execution, once."""
        if self._taken.get(end.container_id) != end.started_at:
            if not self._has_dossier(end):
                self._dossiers.append(taken(self._output, end, clock))
            if len(self._taken) >= MOST_TAKEN:
                self._taken.clear()
            self._taken[end.container_id] = end.started_at

    def _has_dossier(self, end: End) -> bool:
        try:
            return self._journal.has_dossier(end.container_id, end.started_at)
        except JournalError:
            return False  # told when it is written; where there is one already, it stays

    def _flush(self) -> None:
        if not (self._records or self._dossiers):
            return
        if self._is_kept:
            # From now on it is not the last look any more, however this process ends.
            self._journal.keep(LOOKED, "")
            self._is_kept = False
        del self._records[:-MOST_UNWRITTEN], self._dossiers[:-MOST_UNWRITTEN]
        try:
            self._journal.write(self._records, self._dossiers, goes_on=self._is_within)
        except UnprunedError:
            self._forget_written()  # they are in it, and would be in it twice
            raise
        self._forget_written()

    def _forget_written(self) -> None:
        self._is_within = self._is_within or bool(self._records)
        self._records.clear()
        self._dossiers.clear()

    def _tell(self, complaint: str) -> None:
        if complaint != self._complaint:
            self._complaint = complaint
            self._complain(f"{complaint}; recovery goes on without it")


def _ends(heard: Sequence[Heard]) -> Iterator[tuple[Clock, End]]:
    """Yield which executions ended, and when that was known. A step may have started another since; a look has not."""
    for each in heard:
        if isinstance(each, Looking):
            subjects = [decision.subject for decision in each.plan.services]
            yield from ((each.clock, end) for subject in subjects if (end := seen_ended(subject)) is not None)
        else:
            found = seen_ended(each.subject)
            if isinstance(each.outcome, Done):
                found = found or ended_by(each.subject, each.effect)
            if found is not None:
                yield each.decided.clock, found
