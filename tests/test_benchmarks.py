"""The runner of the benchmarks: what it finds, and the table that it writes."""

import subprocess
import sys
from pathlib import Path

from benchmarks.run import BEGIN, END, benchmarks, rows, with_rows

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")


def test_the_page_has_figures_of_every_benchmark_and_says_what_each_means() -> None:
    assert benchmarks() == sorted(rows(PAGE))
    assert [] == [each for each in benchmarks() if f"\n- `{each}`: " not in PAGE]


def test_each_benchmark_says_what_it_measures_when_it_is_asked() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "run.py", "--help"], capture_output=True, text=True, check=True, timeout=60
    )
    assert [] == [each for each in benchmarks() if each not in done.stdout]


def test_new_figures_take_the_place_of_old_ones_and_of_nothing_else() -> None:
    page = f"before\n{BEGIN}\n| `planner` | then | 5 us |\n| `startup` | then | 1.2 times<br>2 times |\n{END}\nafter\n"
    before = rows(page)
    assert {"planner": ("then", "5 us"), "startup": ("then", "1.2 times<br>2 times")} == before
    after = with_rows(page, before | {"planner": ("now", "4 us")})
    assert {"planner": ("now", "4 us"), "startup": ("then", "1.2 times<br>2 times")} == rows(after)
    assert (True, True) == (after.startswith(f"before\n{BEGIN}\n"), after.endswith(f"{END}\nafter\n"))
    assert after == with_rows(after, rows(after))


def test_one_that_is_not_there_is_refused_with_those_that_are() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "run.py", "nonesuch"], capture_output=True, text=True, check=False, timeout=60
    )
    assert 1 == done.returncode
    assert f"no benchmark is called nonesuch; there are: {', '.join(benchmarks())}" in done.stderr
