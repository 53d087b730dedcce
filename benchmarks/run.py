"""Run the benchmarks one after another: all of them, or those named.

    run.py                                all
    run.py startup planner                these
    run.py --write docs/performance.md    all, and put what they print into the table there, where each has its rows

What cannot be measured here (no private engine, no haproxy) is said at the end, and keeps the rows that it has in the table.
"""

import argparse
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).parent
_NO_BENCHMARKS = {"run", "simulated"}
_NOT_MEASURED = "not measured"
_NO_FIGURES = ("waiting ",)
BEGIN, END = "<!-- begin: benchmarks/run.py writes this -->", "<!-- end -->"
_HEAD = ("| benchmark | last run | figures |", "| --- | --- | --- |")


def benchmarks() -> list[str]:
    """Return the names of all benchmarks."""
    return sorted(each.stem for each in HERE.glob("*.py") if each.stem not in _NO_BENCHMARKS)


def measured(name: str) -> list[str] | None:
    """Run one, print what it prints, and return its lines; None where it failed."""
    print(f"-- {name}", flush=True)
    lines = []
    with subprocess.Popen([sys.executable, HERE / f"{name}.py"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line.rstrip())
    return lines if process.returncode == 0 else None


def rows(page: str) -> dict[str, tuple[str, str]]:
    """Return what the table of a page has, by benchmark: the day, and the figures."""
    table = page.partition(BEGIN)[2].partition(END)[0]
    cells = [[each.strip() for each in line.strip("|").split(" | ")] for line in table.splitlines() if line.startswith("| `")]
    return {name.strip("`"): (day, figures) for name, day, figures in cells}


def with_rows(page: str, found: dict[str, tuple[str, str]]) -> str:
    """Return the page with these rows in its table."""
    before, _, rest = page.partition(BEGIN)
    lines = (f"| `{name}` | {day} | {figures} |" for name, (day, figures) in sorted(found.items()))
    return "\n".join([before + BEGIN, *_HEAD, *lines, END]) + rest.partition(END)[2]


def main() -> None:
    """Run them; the exit code is 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(benchmarks())} (all)")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="the page whose table gets the figures")
    options = parser.parse_args()
    unknown = [each for each in options.names if each not in benchmarks()]
    if unknown:
        sys.exit(f"run.py: no benchmark is called {', '.join(unknown)}; there are: {', '.join(benchmarks())}")
    found = {name: measured(name) for name in options.names or benchmarks()}
    unmeasured = {name: lines[-1] for name, lines in found.items() if lines and lines[-1].startswith(_NOT_MEASURED)}
    for name, why in unmeasured.items():
        print(f"{name}: {why}")
    if options.write is not None:
        load = os.getloadavg()[1]
        day = f"{datetime.now(UTC):%Y-%m-%d}, load {load:.0f} on {os.cpu_count()} cores"
        new = {
            name: (day, "<br>".join(each.replace("|", "/") for each in lines if not each.startswith(_NO_FIGURES)))
            for name, lines in found.items()
            if lines and name not in unmeasured
        }
        page = options.write.read_text(encoding="utf-8")
        options.write.write_text(with_rows(page, rows(page) | new), encoding="utf-8")
    failed = [name for name, lines in found.items() if lines is None]
    if failed:
        sys.exit(f"run.py: {', '.join(failed)} failed; the reason is above")


if __name__ == "__main__":
    main()
