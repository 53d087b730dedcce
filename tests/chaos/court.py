"""All judges over one journal, with what the driver of chaos knows. `python -m tests.chaos.court DIRECTORY` judges a kept one."""

import json
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

from attrs import astuple, frozen

from gordon_shell.journal import Record
from gordon_shell.sqlite_journal import SqliteJournal
from tests.chaos.course import Course
from tests.chaos.judge import Deploying, Judge, Span
from tests.chaos.liveness import Liveness
from tests.chaos.plans import Plans
from tests.chaos.verdict import Verdict

SPANS = "spans.json"
_MANY = {"P": 10, "B": 7, "L": 6, "D": 4, "C": 3, "T": 3, "F": 4}
INVARIANTS = frozenset(f"{kind}{number}" for kind, many in _MANY.items() for number in range(1, many + 1))


@frozen
class Spans:
    """What the journal cannot know, in seconds since boot; see Judge and Liveness."""

    blind: tuple[Span, ...] = ()
    deploys: tuple[Deploying, ...] = ()
    away: tuple[Span, ...] = ()

    def written(self) -> str:
        """Return it as a text."""
        return json.dumps({"blind": self.blind, "deploys": [astuple(each) for each in self.deploys], "away": self.away})

    @classmethod
    def read(cls, text: str) -> "Spans":
        """Return what a text says."""
        said = json.loads(text)
        deploys = tuple(Deploying(*each) for each in said["deploys"])
        return cls(tuple(map(tuple, said["blind"])), deploys, tuple(map(tuple, said["away"])))


def judged_by_all(records: list[Record], spans: Spans) -> tuple[Judge, ...]:
    """Have every judge judge, oldest record first."""
    blind, deploys = spans.blind, spans.deploys
    return (
        Verdict(blind=blind, deploys=deploys).over(records),
        Course(blind=blind, deploys=deploys).over(records),
        Plans().over(records),
        Liveness(blind=blind, deploys=deploys, away=spans.away).over(records),
    )


def in_words(judges: tuple[Judge, ...]) -> list[str]:
    """Return what was judged how often, what never came up, how long things lasted, and the first sentences against it."""
    times = sum((each.judged for each in judges), Counter[str]())
    longest = {name: lasted_s for each in judges if isinstance(each, Liveness) for name, lasted_s in each.longest.items()}
    return [
        f"judged: {', '.join(f'{name} {many:,}' for name, many in sorted(times.items()))}",
        f"did not come up: {', '.join(sorted(INVARIANTS - set(times))) or 'none'}",
        f"longest: {', '.join(f'{name} {lasted_s:.1f} s' for name, lasted_s in sorted(longest.items()))}",
        *[words for each in judges for words in each.wrong][:20],
    ]


def main(room: Path) -> int:
    """Judge what was kept there; return 1 if anything is wrong."""
    with closing(SqliteJournal(room / "history.db", read_only=True)) as journal:
        judges = judged_by_all(list(journal.records()), Spans.read((room / SPANS).read_text()))
    wrong = sum(len(each.wrong) for each in judges)
    sys.stdout.write("".join(f"{each}\n" for each in (*in_words(judges), f"{wrong} wrong")))
    return min(1, wrong)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
