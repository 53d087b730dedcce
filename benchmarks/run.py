"""Run the benchmarks one after another: all of them, or those named (run.py startup)."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    """Run each script of this directory with this Python; the exit code is 1 if one of them failed."""
    known = sorted(each.stem for each in HERE.glob("*.py") if each != Path(__file__))
    chosen = sys.argv[1:] or known
    unknown = [each for each in chosen if each not in known]
    if unknown:
        sys.exit(f"run.py: no benchmark is called {', '.join(unknown)}; there are: {', '.join(known)}")
    failed = []
    for name in chosen:
        print(f"-- {name}", flush=True)
        if subprocess.run([sys.executable, HERE / f"{name}.py"], check=False).returncode != 0:
            failed.append(name)
    if failed:
        sys.exit(f"run.py: {', '.join(failed)} failed; the reason is above")


if __name__ == "__main__":
    main()
