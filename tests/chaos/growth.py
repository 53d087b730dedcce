"""How much a process holds: resident memory, open files, threads; and whether that grows."""

import threading
from pathlib import Path
from statistics import linear_regression, median
from typing import Self

from attrs import define, field, frozen

EVERY_S = 2.0
SHORTEST_S = 600.0
"""Less than that, after the warm-up, tells nothing of how a process grows."""


@frozen
class Sample:
    """One look at a process: seconds since it was first looked at, megabytes, open files and threads."""

    at_s: float
    megabytes: float
    files: int
    threads: int


def sample(pid: int, at_s: float) -> Sample | None:
    """Look at a process; None where there is none of this ID any more."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    except OSError:
        return None
    told = dict(line.split(":", 1) for line in lines if ":" in line)
    if "VmRSS" not in told:
        return None
    return Sample(at_s, int(told["VmRSS"].split()[0]) / 1024, files, int(told["Threads"]))


@define(eq=False)
class Watch:
    """Looks at whichever process is the present one, all the while, from a thread of its own."""

    samples: dict[int, list[Sample]] = field(factory=dict)
    _pid: int = 0
    _over: threading.Event = field(factory=threading.Event)
    _thread: threading.Thread | None = None

    def on(self, pid: int) -> None:
        """Look at this one from now on."""
        self._pid = pid

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._look, name="growth")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(EVERY_S):
            pid = self._pid
            life = self.samples.setdefault(pid, [])
            seen = sample(pid, len(life) * EVERY_S) if pid else None
            if seen is not None:
                life.append(seen)


@frozen
class Growth:
    """Of the longest life, without its warm-up: how long it was watched, and from what to what its medians went."""

    minutes: float
    before: Sample
    after: Sample
    megabytes_an_hour: float

    @property
    def in_words(self) -> str:
        """Return it as one sentence."""
        return (
            f"{self.minutes:.0f} minutes of one process after its warm-up: {self.before.megabytes:.1f} MB, then"
            f" {self.after.megabytes:.1f} MB ({self.megabytes_an_hour:+.2f} MB an hour), open files {self.before.files} and then"
            f" {self.after.files}, threads {self.before.threads} and then {self.after.threads}"
        )


def growth(lives: dict[int, list[Sample]], warm_up: float) -> Growth | None:
    """Return how the longest life went on after this share of it, None where that is too short to tell."""
    life = max(lives.values(), key=len, default=[])
    rest = life[int(len(life) * warm_up) :]
    fourth = len(rest) // 4
    if len(rest) * EVERY_S < SHORTEST_S:
        return None
    slope, _ = linear_regression([each.at_s for each in rest], [each.megabytes for each in rest])
    return Growth(len(rest) * EVERY_S / 60, _middle(rest[:fourth]), _middle(rest[-fourth:]), slope * 3600)


def _middle(samples: list[Sample]) -> Sample:
    return Sample(
        median(each.at_s for each in samples),
        median(each.megabytes for each in samples),
        int(median(each.files for each in samples)),
        int(median(each.threads for each in samples)),
    )
