"""What the program holds in memory for each 1,000 services: the reconciler with all it remembers, journal and notices listening.

The host is simulated, and not counted. The figure is what Python allocated since the reconciler was made and still holds when all
is quiet again after a pass in which one service in ten had died; per 1,000 services it is the same at every size.
"""

import argparse
import gc
import sys
import tempfile
import tracemalloc
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.simulated import complain, host
from gordon_core.noted import Notice
from gordon_shell.notices import Notices
from gordon_shell.recorder import Recorder
from gordon_shell.scribe import Scribe
from gordon_shell.sqlite_journal import SqliteJournal
from gordon_shell.witness import Witnesses

SIZES = (250, 1_000)
MB = 1_000_000


def ignored(_notice: Notice) -> None:
    """Tell nobody."""


def measure(services: int) -> tuple[float, float]:
    """Return megabytes held after all is quiet, and held at most meanwhile."""
    made = host(services)
    with tempfile.TemporaryDirectory(prefix="gordon-") as name, closing(SqliteJournal(Path(name) / "history.db")) as journal:
        gc.collect()
        tracemalloc.start()
        recorder = Recorder(Scribe(journal, made.engine, complain), made.clock.now)
        made.begin(Witnesses(recorder, Notices(ignored, journal, complain)))
        made.kill(services // 10)
        for _ in range(2):
            made.run_pass()
            made.clock.advance(150)
        recorder.close()
        gc.collect()
        held, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return held / MB, most / MB


def main() -> None:
    """Print one line a size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, help="how many services (250 1000)")
    for size in parser.parse_args().sizes or SIZES:
        held, most = measure(size)
        per = size / 1000
        print(f"{size:,} services: {held / per:.1f} MB per 1,000 held, {most / per:.1f} MB at most", flush=True)


if __name__ == "__main__":
    main()
