"""Documents: no input gives anything but a plan or a clean error.

Four ways of making inputs: whole documents from the shipped schemas, damage to the structure of good ones, damage to their bytes,
and inputs that were worst at some time or by design. `make fuzz` goes on where this ends, guided by coverage.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gordon_core.schema import plan_schema, snapshot_schema
from gordon_shell.errors import EX_DATAERR, EX_OK, DocumentError
from gordon_shell.sqlite_store import SqliteStore
from gordon_shell.state_document import state_from_text
from properties.damage import crossed, damaged, deep, spoiled, written
from properties.readers import in_time, plan_is_read, policy_is_read, snapshot_is_read, state_is_read
from properties.schemas import Drawer
from properties.seeds import PLANS, POLICIES, POLICY, SNAPSHOTS, STATES

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], max_examples=150)
ROOT = Path(__file__).parent.parent
Reads = Callable[[bytes], bool]
JSON: dict[str, tuple[Reads, tuple[object, ...]]] = {
    "snapshot": (snapshot_is_read, SNAPSHOTS),
    "plan": (plan_is_read, PLANS),
    "state": (state_is_read, STATES),
}
"""The JSON documents: what reads them, and good ones to damage."""
WORST: dict[str, bytes] = {
    "nothing": b"",
    "a hundred thousand lists deep": b"[" * 100_000,
    "a hundred thousand objects deep": b'{"a":' * 100_000,
    "deep inside a document": json.dumps(
        {"document": "gordon-snapshot", "version": 1, "clock": deep(500), "services": []}
    ).encode(),
    "a number of a million digits": b"1" * 1_000_000,
    "a fraction of a million digits": b"0." + b"1" * 1_000_000,
    "an exponent of a million digits": b"1e" + b"9" * 1_000_000,
    "a text of a million escapes": b'"' + b"\\ud800" * 1_000_000 + b'"',
    "a hundred thousand keys, the last one twice": b"{%s}" % b", ".join(b'"%d": 0' % min(n, 99_998) for n in range(100_000)),
    "a hundred thousand keys, each twice": b"{%s}" % b", ".join(b'"%d": 0' % (n // 2) for n in range(200_000)),
    "a hundred thousand services of nothing": b'{"document": "gordon-snapshot", "version": 1, "services": [%s]}'
    % (b"0," * 99_999 + b"0"),
    "NaN": b"NaN",
    "half a surrogate pair": '"\ud800"'.encode("utf-8", "surrogatepass"),
    "UTF-16": "{}".encode("utf-16"),
    "a mark of UTF-8": b"\xef\xbb\xbf{}",
    "white space that is none of JSON's": "\u00a0{}".encode(),
    "control characters": bytes(range(32)),
}
kinds = st.sampled_from(sorted(JSON))
chance = st.randoms(use_true_random=True)
"""By seed: what it chooses is as likely as not, where Hypothesis' own choices would crowd at the first ones."""


@UNHURRIED
@given(Drawer(snapshot_schema()).documents())
def test_what_the_schema_allows_is_planned_or_refused(document: object) -> None:
    """The schema cannot say everything; what the reader refuses beyond it, it names."""
    in_time(lambda: snapshot_is_read(json.dumps(document).encode()))


@UNHURRIED
@given(Drawer(plan_schema()).documents())
def test_every_plan_that_the_schema_allows_is_read_or_refused(document: object) -> None:
    """Of plans too."""
    in_time(lambda: plan_is_read(json.dumps(document).encode()))


@settings(UNHURRIED, max_examples=400)
@given(kinds, chance, st.integers(1, 4))
def test_damage_to_the_structure_gives_a_plan_or_a_clean_error(kind: str, random: Random, times: int) -> None:
    """Keys dropped, renamed or doubled, values of other types or from other places, numbers and texts at their worst."""
    reads, good = JSON[kind]
    data = written(damaged(random.choice(good), random, times), random)
    in_time(lambda: reads(data))


@settings(UNHURRIED, max_examples=400)
@given(kinds, chance, st.integers(1, 6), st.integers(0, 1))
def test_documents_put_together_of_others_give_a_plan_or_a_clean_error(kind: str, random: Random, times: int, worse: int) -> None:
    """Hosts that no host could be in: each part is good by itself."""
    reads, good = JSON[kind]
    document = random.choice(good)
    for _ in range(times):
        document = crossed(document, random.choice(good), random)
    data = json.dumps(damaged(document, random, worse)).encode()
    in_time(lambda: reads(data))


@settings(UNHURRIED, max_examples=300)
@given(kinds, chance, st.integers(1, 3))
def test_damage_to_the_bytes_gives_a_plan_or_a_clean_error(kind: str, random: Random, times: int) -> None:
    """Documents cut short, bits flipped, stretches lost, repeated and moved."""
    reads, good = JSON[kind]
    data = json.dumps(random.choice(good), indent=random.choice((None, 2))).encode()
    for _ in range(times):
        data = spoiled(data, random)
    in_time(lambda: reads(data))


@pytest.mark.parametrize("kind", sorted(JSON))
@pytest.mark.parametrize("name", WORST)
def test_the_worst_inputs_are_refused_in_time(kind: str, name: str) -> None:
    """Those that hang, overflow or exhaust other readers."""
    assert not in_time(lambda: JSON[kind][0](WORST[name]))


@pytest.mark.parametrize("kind", sorted(JSON))
def test_the_fuzzing_reaches_beyond_the_reader(kind: str) -> None:
    """Of documents with one thing changed, enough are read, and enough are not; else the tests above would say little."""
    random = Random(1)
    reads, good = JSON[kind]
    found = Counter(reads(json.dumps(damaged(random.choice(good), random, 1)).encode()) for _ in range(150))
    assert (True, True) == (found[True] >= 25, found[False] >= 25)


@settings(UNHURRIED, max_examples=200, suppress_health_check=list(HealthCheck))
@given(random=chance, times=st.integers(0, 4))
def test_no_host_policy_makes_reading_fail_in_any_other_way(random: Random, times: int, tmp_path: Path) -> None:
    """Damage to the bytes of good policies, and pieces of several put together."""
    data = random.choice(POLICIES)
    for _ in range(times):
        data = spoiled(data, random) if random.random() < 0.6 else data + b"\n" + random.choice(POLICIES)
    in_time(lambda: policy_is_read(data, tmp_path / "policy.toml"))


@settings(UNHURRIED, max_examples=200, suppress_health_check=list(HealthCheck))
@given(random=chance, times=st.integers(1, 4))
def test_no_value_in_a_host_policy_makes_reading_fail_in_any_other_way(random: Random, times: int, tmp_path: Path) -> None:
    """Damage to the structure of a good policy, as far as TOML can say it."""
    in_time(lambda: policy_is_read(_toml(damaged(POLICY, random, times)), tmp_path / "policy.toml"))


def _toml(value: object) -> bytes:
    lines = value.items() if isinstance(value, dict) else [("recovery", value)]
    return "\n".join(f"{_inline(key)} = {_inline(item)}" for key, item in lines).encode("utf-8", "surrogatepass")


def _inline(value: object) -> str:
    match value:
        case dict():
            return f"{{{', '.join(f'{_inline(key)} = {_inline(item)}' for key, item in value.items())}}}"
        case list():
            return f"[{', '.join(map(_inline, value))}]"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case None:
            return "2026-11-30T07:00:00Z"
        case _:
            return str(value).lower()


@settings(UNHURRIED, max_examples=40, suppress_health_check=list(HealthCheck))
@given(random=chance, times=st.integers(1, 2))
def test_a_state_document_that_is_read_is_taken_in_whole_or_refused(random: Random, times: int, tmp_path: Path) -> None:
    """Whatever the database cannot keep is refused as a fault of the document; what it keeps comes out again."""
    text = json.dumps(damaged(random.choice(STATES), random, times))
    file = tmp_path / f"{random.getrandbits(64)}-{len(list(tmp_path.iterdir()))}.db"
    with closing(SqliteStore.open(file, create=True)) as store:
        empty = store.export_state()
        refusal = _import(store, text)
        store.read()
        after = store.export_state()
        if refusal is None:
            assert set(state_from_text(text).apps) == set(state_from_text(after).apps)
        else:
            assert ("$", empty) == (refusal[:1], after)


def _import(store: SqliteStore, text: str) -> str | None:
    try:
        store.import_state(text)
    except DocumentError as error:
        return str(error)
    return None


def _commands(directory: Path) -> list[tuple[list[str], bytes]]:
    random = Random(3)
    calls: list[tuple[list[str], bytes]] = []
    for number in range(5):
        snapshot = written(damaged(random.choice(SNAPSHOTS), random, 1), random)
        form = random.choice((["--format", "json"], ["--color", "always"], ["--forecast"], ["--now", "+300"]))
        calls.append((["plan_cli", *form, "-"], snapshot if number % 2 else spoiled(snapshot, random)))
        state = written(damaged(random.choice(STATES), random, 1), random)
        calls.append((["shell_cli", "import", "--state", str(directory / f"{number}.db"), "-"], state))
    return [*calls, (["plan_cli", "-"], written(random.choice(SNAPSHOTS), random))]


def test_the_commands_end_with_0_or_65_and_never_a_traceback(tmp_path: Path) -> None:
    """`gordon-plan -` and `gordon-shell import -`, as processes of their own."""
    calls = _commands(tmp_path)
    with ThreadPoolExecutor(4) as crew:
        done = list(crew.map(_run, calls))
    wrong = [(call[0], each.stderr) for call, each in zip(calls, done, strict=True) if not _is_clean(each)]
    assert [] == wrong
    assert {EX_OK, EX_DATAERR} == {each.returncode for each in done}


def _run(call: tuple[list[str], bytes]) -> "subprocess.CompletedProcess[bytes]":
    module, *arguments = call[0]
    command = [sys.executable, "-m", f"gordon_shell.{module}", *arguments]
    return subprocess.run(command, input=call[1], cwd=ROOT, capture_output=True, timeout=60, check=False)  # noqa: S603 - our own


def _is_clean(done: "subprocess.CompletedProcess[bytes]") -> bool:
    is_told = all(line.startswith(("-: $", "and ")) for line in done.stderr.decode().splitlines())
    return done.returncode in {EX_OK, EX_DATAERR} and is_told and (done.returncode == EX_OK) == (done.stderr == b"")
