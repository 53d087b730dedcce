"""Fuzzing guided by coverage: whatever bytes come, every reader of documents gives a value or a clean error.

    make fuzz                       five minutes, on a corpus that starts from the examples
    make fuzz ARGS=-runs=1000000    arguments go to libFuzzer; a file's name replays what was found

It needs `pip install atheris`, which nothing else here does. A finding is printed with the file that it was written to.
"""

import json
import sys
import tempfile
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["gordon_core", "gordon_shell", "json", "tomllib"]):
    from gordon_core import document, forecast, planner, sentences
    from gordon_shell import codec, host_policy, state_document, text
    from properties.readers import in_time, plan_is_read, policy_is_read, snapshot_is_read, state_is_read

from properties.damage import crossed, damaged, spoiled
from properties.seeds import PLANS, POLICIES, SNAPSHOTS, STATES

_JSON = (SNAPSHOTS, PLANS, STATES)
_POLICY = 3
_SCRATCH = Path(tempfile.mkdtemp(prefix="fuzz-")) / "policy.toml"
INSTRUMENTED = (codec, document, forecast, host_policy, planner, sentences, state_document, text)
"""What is to be covered. The first byte of an input, modulo four, says which reader it is for."""


def read_one(data: bytes) -> None:
    """Give one input to its reader."""
    kind, content = (data[0] % 4, data[1:]) if data else (0, data)
    match kind:
        case 0:
            in_time(lambda: snapshot_is_read(content))
        case 1:
            in_time(lambda: plan_is_read(content))
        case 2:
            in_time(lambda: state_is_read(content))
        case _:
            in_time(lambda: policy_is_read(content, _SCRATCH))


def mutated(data: bytes, largest: int, seed: int) -> bytes:
    """Change an input: by its structure where it has one, else as libFuzzer does."""
    random = Random(seed)
    kind, content = (data[0] % 4, data[1:]) if data else (0, data)
    if kind == _POLICY or random.random() < 0.25:
        changed = spoiled(content, random) if random.random() < 0.5 else atheris.Mutate(content, max(1, largest - 1))
        return (bytes([kind]) + changed)[:largest]
    try:
        value: object = json.loads(content)
    except (ValueError, RecursionError):
        value = random.choice(_JSON[kind])
    value = crossed(value, random.choice(_JSON[kind]), random) if random.random() < 0.3 else damaged(value, random, 1)
    text_ = json.dumps(value, ensure_ascii=random.random() < 0.5)
    return (bytes([kind]) + text_.encode("utf-8", "surrogatepass"))[:largest]


def _seeds() -> Path:
    directory = Path(tempfile.mkdtemp(prefix="fuzz-seeds-"))
    for kind, documents in enumerate(_JSON):
        for number, each in enumerate(documents):
            (directory / f"{kind}-{number}").write_bytes(bytes([kind]) + json.dumps(each).encode())
    for number, policy in enumerate(POLICIES):
        (directory / f"{_POLICY}-{number}").write_bytes(bytes([_POLICY]) + policy)
    return directory


def main() -> None:
    """Fuzz with the arguments of libFuzzer."""
    arguments = sys.argv[1:] or ["-max_total_time=300"]
    replays = any(not each.startswith("-") for each in arguments)
    corpus = [] if replays else [tempfile.mkdtemp(prefix="fuzz-corpus-"), str(_seeds())]
    limits = ["-max_len=65536", "-timeout=30", "-rss_limit_mb=4096", f"-artifact_prefix={tempfile.gettempdir()}/fuzz-found-"]
    atheris.Setup([sys.argv[0], *limits, *arguments, *corpus], read_one, custom_mutator=mutated)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
