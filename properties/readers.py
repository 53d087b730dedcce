"""What each reader of documents owes: a value that everything after it can work with, or a clean refusal, and soon.

One function for each kind of document. They return whether it was read; whatever else is raised is a fault, as is what
breaks their assertions. `properties/test_fuzz.py` and `properties/fuzz_atheris.py` call them.
"""

import json
from collections.abc import Callable
from pathlib import Path
from time import process_time

from gordon_core.document import DocumentFaults, read_plan, read_snapshot, write_plan, write_snapshot
from gordon_core.forecast import MOST_STEPS, forecast
from gordon_core.grants import missing
from gordon_core.planner import plan
from gordon_core.sentences import record, remedy
from gordon_core.snapshot import Snapshot
from gordon_core.tuning import applied
from gordon_shell.cli_common import printable
from gordon_shell.codec import plain
from gordon_shell.errors import DocumentError
from gordon_shell.host_policy import read_policy
from gordon_shell.state_document import state_from_text
from gordon_shell.text import text

LONGEST_S = 5.0
"""Of processor time, for any document of these tests; most take milliseconds."""


def in_time(reads: Callable[[], bool]) -> bool:
    """Return what it returns, which must not take long."""
    start_s = process_time()
    answer = reads()
    assert process_time() - start_s < LONGEST_S
    return answer


def snapshot_is_read(data: bytes) -> bool:
    """Read a snapshot, and plan, forecast and print whatever was read."""
    try:
        snapshot = read_snapshot(data)
    except DocumentFaults as faults:
        _judge_lines(str(faults).split("\n"))
        return False
    assert snapshot == read_snapshot(write_snapshot(snapshot))
    _judge_answers(snapshot)
    return True


def _judge_answers(snapshot: Snapshot) -> None:
    now, road = plan(snapshot), forecast(snapshot)
    assert len(snapshot.subjects) == len(now.services)
    assert (record(now), True) == (record(road[0]), len(road) <= MOST_STEPS + 1)
    for each in (now, road[-1]):
        recorded = record(each)
        assert recorded == read_plan(write_plan(recorded))
    for decision in now.decisions:
        assert remedy(decision, snapshot.clock) or not decision.is_held
    printed = text(snapshot, now, road=road)
    assert [] == [each for each in printed.split("\n") if not each.isprintable()]
    assert printed.endswith(" Nothing was done.\n")


def plan_is_read(data: bytes) -> bool:
    """Read a plan, and write whatever was read to the same effect."""
    try:
        found = read_plan(data)
    except DocumentFaults as faults:
        _judge_lines(str(faults).split("\n"))
        return False
    assert found == read_plan(write_plan(found))
    return True


def state_is_read(data: bytes) -> bool:
    """Read a state document, and write whatever was read to the same effect."""
    try:
        found = state_from_text(data.decode())
    except UnicodeDecodeError:  # told by the command, before there is a text
        return False
    except DocumentError as error:
        _judge_lines(printable(str(error)).split("; $"))
        return False
    assert found == state_from_text(json.dumps(plain(found), allow_nan=False))
    return True


def policy_is_read(data: bytes, file: Path) -> bool:
    """Read a host policy by way of this file, and apply whatever was read to every service that it names."""
    file.write_bytes(data)
    try:
        policy = read_policy(file)
    except DocumentError as error:
        _judge_lines([printable(line).removeprefix(f"{file}: ") for line in str(error).split("\n")])
        return False
    for app, service in {(each.app, each.service) for each in policy.scopes} | {("shop", "web")}:
        assert applied(policy, app, service).policy.wait_s(10**7) > 0
        assert () == missing(policy, app, service, (), ())
    return True


def _judge_lines(lines: list[str]) -> None:
    assert lines
    assert [] == [each for each in lines if not (each and each.isprintable())]
    assert lines[0].startswith(("$", "not "))
