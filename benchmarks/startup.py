"""Start-up of gordon-plan, as a ratio to a bare click program: `--help` (goal 1.5), and a plan of a document (goal 3).

The three commands take turns, so that a busy machine slows all of them; each turn gives one ratio, and the median is printed.
They run as they do once installed, with their bytecode at hand, whatever PYTHONDONTWRITEBYTECODE says: it is kept in a temporary
directory, which the first turn fills.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent
PLAN = Path(sys.executable).parent / "gordon-plan"
BARE = """\
import click

@click.command()
@click.argument("document", required=False)
def main(document: str | None) -> None:
    \"\"\"Do nothing.\"\"\"

main()
"""
PLANNED = {0, 2, 3}
GOALS = {"gordon-plan --help": 1.5, "gordon-plan DOCUMENT": 3.0}


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """Return how long one run of the command took; end the benchmark with the command's own words if it fails."""
    begin = time.perf_counter()
    ran = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT, env=environment)
    took = time.perf_counter() - begin
    if ran.returncode not in PLANNED:
        sys.exit(f"startup: {' '.join(command)} ended with {ran.returncode}: {ran.stderr.strip()}")
    return took


def measure(
    bare: list[str], commands: dict[str, list[str]], turns: int, environment: dict[str, str]
) -> dict[str, list[tuple[float, float]]]:
    """Return, by command, (seconds, ratio to the bare program of the same turn) for every turn; a first turn warms up."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for turn in range(turns + 1):
        base = seconds(bare, environment)
        for name, command in commands.items():
            took = seconds(command, environment)
            if turn:
                found[name].append((took, took / base))
    return found


def with_bytecode(directory: str) -> dict[str, str]:
    """Return an environment in which Python keeps bytecode in this directory."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": directory}


def main() -> None:
    """Print the medians, and whether they are within their goals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("document", nargs="?", type=Path, help="the snapshot document to plan (the first in examples/)")
    parser.add_argument("--turns", type=int, default=21, help="measured turns (21)")
    options = parser.parse_args()
    document = options.document or next(iter(sorted((ROOT / "examples").glob("*.json"))), None)
    if document is None or not PLAN.exists():
        sys.exit("startup: needs a document in examples/, and gordon-plan beside this Python; run `make setup` first")
    commands = {"gordon-plan --help": [str(PLAN), "--help"], "gordon-plan DOCUMENT": [str(PLAN), str(document)]}
    with tempfile.TemporaryDirectory() as directory:
        bare = Path(directory) / "bare.py"
        bare.write_text(BARE)
        found = measure([sys.executable, str(bare), "--help"], commands, max(1, options.turns), with_bytecode(directory))
    for name, goal in GOALS.items():
        ratio = median(ratio for _, ratio in found[name])
        took_ms = 1000 * median(took for took, _ in found[name])
        verdict = "within" if ratio <= goal else "OVER"
        print(f"{name:22} {took_ms:6.0f} ms  {ratio:5.2f} times a bare click program  (goal {goal}: {verdict})")


if __name__ == "__main__":
    main()
