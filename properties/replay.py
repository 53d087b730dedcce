"""Plans every golden snapshot anew, and prints the digests of the results as sha256sum would: D2, with nothing but the core.

    python -m properties.replay | sha256sum --check     are the plans the recorded ones, byte for byte?
    python -m properties.replay --write                 record them anew, after a change of law or words; then read the diff

It needs attrs and click, of any Python from 3.11, and runs from the root of the repository. The snapshots are those of
examples/, and in properties/golden/ (`--write` makes those too): situations.json has one for each situation, from the exemplars,
and odd.json numbers and texts on which Pythons could differ.
"""

import json
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from attrs import evolve

from gordon_core.document import read_snapshot, write_plan, write_snapshot
from gordon_core.forecast import forecast
from gordon_core.planner import plan
from gordon_core.sentences import record
from gordon_core.situations import Situation
from gordon_core.snapshot import Snapshot
from gordon_shell.text import text

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "properties" / "golden"
SITUATIONS = GOLDEN / "situations.json"
ODD = GOLDEN / "odd.json"
EXAMPLES = ROOT / "examples"


def replayed() -> Iterator[tuple[Path, str]]:
    """Yield what comes of the golden snapshots, by the file that it is compared with: themselves, plans, forecasts, texts."""
    for path in sorted(EXAMPLES.glob("*.json")):
        snapshot = read_snapshot(path.read_bytes())
        yield path, write_snapshot(snapshot)
        yield path.with_suffix(".txt"), text(snapshot, plan(snapshot))
        yield from _roads(path.stem, (snapshot,))
    snapshots = tuple(read_snapshot(json.dumps(each)) for each in json.loads(SITUATIONS.read_bytes()))
    yield SITUATIONS, _array(write_snapshot(each) for each in snapshots)
    yield from _roads("situations", snapshots)
    odd = read_snapshot(ODD.read_bytes())
    yield ODD, write_snapshot(odd)
    yield GOLDEN / "odd.plan.json", _array(write_plan(record(each)) for each in forecast(odd))
    yield GOLDEN / "odd.txt", text(odd, plan(odd))


def _roads(name: str, snapshots: tuple[Snapshot, ...]) -> Iterator[tuple[Path, str]]:
    roads = [(each, plan(each), forecast(each)) for each in snapshots]
    yield GOLDEN / f"{name}.plan.json", _array(write_plan(record(now)) for _, now, _ in roads)
    yield GOLDEN / f"{name}.forecast.json", _array(write_plan(record(each)) for _, _, road in roads for each in road)
    yield GOLDEN / f"{name}.forecast.txt", "\n".join(text(snapshot, now, road=road) for snapshot, now, road in roads)


def _array(documents: Iterator[str]) -> str:
    return "[\n" + ",\n".join(each.removesuffix("\n") for each in documents) + "\n]\n"


def digests() -> dict[str, str]:
    """Return the SHA-256 of everything that is replayed, by the file that it is compared with, relative to the root."""
    return {path.relative_to(ROOT).as_posix(): sha256(content.encode()).hexdigest() for path, content in replayed()}


def write() -> None:
    """Record everything anew, but for examples/, whose files are written by hand of gordon-plan, and read by people."""
    from tests.core_examples import EXEMPLARS  # noqa: PLC0415 - for this option alone

    GOLDEN.mkdir(exist_ok=True)
    for stale in GOLDEN.iterdir():
        stale.unlink()
    SITUATIONS.write_bytes(_array(write_snapshot(each) for each in EXEMPLARS.values()).encode())
    ODD.write_bytes(write_snapshot(_odd(EXEMPLARS[Situation.COOLING])).encode())
    for path, content in replayed():
        if path.parent == GOLDEN:
            path.write_bytes(content.encode())


def _odd(cooling: Snapshot) -> Snapshot:
    """Return it with numbers that are printed in many ways, and texts that are newer than some Pythons' tables of Unicode."""
    (subject,) = cooling.subjects
    assert subject.declared is not None
    policy = evolve(subject.declared.policy, ladder_s=(5e-324, 0.1 + 0.2, 1e22, 123456789.123456789))
    return Snapshot(
        evolve(cooling.clock, boot_s=10_000.1, wall_s=1796022000.1),
        (
            evolve(subject, declared=evolve(subject.declared, policy=policy), memory=evolve(subject.memory, charged_at_s=1e-7)),
            evolve(subject, service="odd", inhibited="\U0001fae8 \u31ef \u202e \x1b[31m e\u0301 {until} %s \U0010ffff"),
        ),
    )


def main() -> None:
    """Print the digests, or with `--write` record what they are of."""
    if sys.argv[1:] == ["--write"]:
        write()
    else:
        sys.stdout.write("".join(f"{digest}  {path}\n" for path, digest in digests().items()))


if __name__ == "__main__":
    main()
