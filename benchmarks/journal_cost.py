"""What the journal costs a pass over 100 services in CPU, quiet and busy, as a ratio to the same pass without one (goal 1.1).

Both hosts are simulated, so that a pass is the program's own work and nothing else: on a real engine it takes some ten times as
long, for waiting. In a busy pass ten services have died. The pass hands on what it decided, and a thread of its own writes that
into SQLite: what the pass waits for and what the thread does then are measured apart. The passes take turns, and medians are
printed.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))

from attrs import define, field

from benchmarks.simulated import SimulatedHost, complain, host
from gordon_shell.heard import Heard
from gordon_shell.recorder import Recorder
from gordon_shell.scribe import Scribe
from gordon_shell.sqlite_journal import SqliteJournal

SERVICES, DYING = 100, 10
GOAL = 1.1


@define(eq=False)
class Held:
    """A writer that only takes what is to be written."""

    waiting: list[list[Heard]] = field(factory=list)

    def write(self, heard: list[Heard]) -> None:
        """Take it."""
        self.waiting.append(heard)

    def end(self) -> None:
        """Do nothing."""


def seconds(work: Callable[[], object]) -> float:
    """Return how much CPU it took."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


@define(eq=False)
class Pair:
    """A host without a journal, and one whose passes are heard of by a recorder."""

    bare: SimulatedHost
    recorded: SimulatedHost
    held: Held
    scribe: Scribe
    bare_is_first: bool = False

    def turn(self, dying: int) -> tuple[float, float, float]:
        """Return the seconds of a pass without a journal, of one with it, and of what is then written."""
        for each in (self.bare, self.recorded):
            each.kill(dying)
        took_s = {each: seconds(each.run_pass) for each in self._in_turn()}
        heard, self.held.waiting = self.held.waiting, []
        written_s = seconds(lambda: [self.scribe.write(each) for each in heard])
        for each in (self.bare, self.recorded):
            each.run_pass()
        self.held.waiting.clear()
        return took_s[self.bare], took_s[self.recorded], written_s

    def _in_turn(self) -> tuple[SimulatedHost, SimulatedHost]:
        """Return who goes first: the other one each time."""
        self.bare_is_first = not self.bare_is_first
        return (self.bare, self.recorded) if self.bare_is_first else (self.recorded, self.bare)


def main() -> None:
    """Print both kinds of passes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=41, help="measured turns (41)")
    turns = max(3, parser.parse_args().turns)
    bare, recorded, held = host(SERVICES), host(SERVICES), Held()
    with tempfile.TemporaryDirectory(prefix="gordon-") as name, closing(SqliteJournal(Path(name) / "history.db")) as journal:
        bare.begin()
        recorded.begin(Recorder(held, recorded.clock.now))
        scribe = Scribe(journal, recorded.engine, complain)
        scribe.write([each for heard in held.waiting for each in heard])
        held.waiting.clear()
        pair = Pair(bare, recorded, held, scribe)
        for kind, dying in (("quiet", 0), ("busy", DYING)):
            before = journal.extent()
            found = [pair.turn(dying) for _ in range(turns)][1:]
            after = journal.extent()
            bare_ms, pass_ms, written_ms = (1000 * median(each) for each in zip(*found, strict=True))
            ratio = median(pass_s / bare_s for bare_s, pass_s, _ in found)
            verdict = "within" if ratio <= GOAL else "OVER"
            print(f"a {kind} pass: {bare_ms:.2f} ms, with a journal {pass_ms:.2f} ms, {ratio:.2f} times (goal {GOAL}: {verdict})")
            records = after.records - before.records
            if records:
                size = (after.size_bytes - before.size_bytes) / records
                print(
                    f"then its thread writes {records / turns:.0f} records of it within {written_ms:.1f} ms,"
                    f" {size:.0f} bytes of disk each"
                )
            else:
                print(f"then its thread has nothing to write ({written_ms:.2f} ms)")


if __name__ == "__main__":
    main()
