"""Every example is read, canonical and schema-valid, shows its kind of situation, and prints what lies beside it.

After a change of words: `for each in examples/*.json; do gordon-plan "$each" > "${each%.json}.txt"; done`, and read each one.
"""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from gordon_core.document import read_plan, read_snapshot, write_plan, write_snapshot
from gordon_core.planner import plan
from gordon_core.sentences import record
from gordon_shell.text import text

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
NAMES = sorted(each.stem for each in EXAMPLES.glob("*.json"))
SHOWS = {
    "blocked": {"shop/web": "BLOCKED", "shop/db": "UNREADABLE"},
    "cooling": {"shop/api": "COOLING"},
    "down": {"shop/api": "DUE"},
    "done": {"shop/migrate": "DONE", "shop/seed": "DONE_REMEMBERED"},
    "first-start": {"shop/web": "DUE", "shop/api": "UNPROBED", "shop/db": "UNPROBED"},
    "gone": {"shop/web": "MISROUTED", "shop/api": "GONE"},
    "grant-missing": {"shop/web": "UNGRANTED"},
    "held": {"shop/api": "SERVING_HELD", "shop/db": "ON_HOLD"},
    "inhibited": {"shop/web": "INHIBITED_ROUTED", "shop/db": "INHIBITED"},
    "interrupted": {"candidate of shop/api": "STALE"},
    "killed": {"shop/web": "DUE", "shop/api": "DUE", "shop/db": "DUE"},
    "left-active": {"blog/web": "ABANDONED"},
    "locked": {"shop/web": "LOCKED", "shop/api": "LOCKED", "shop/db": "LOCKED"},
    "misrouted": {"shop/api": "MISROUTED"},
    "paused": {"shop/db": "PAUSED"},
    "proving": {"shop/api": "PROVING"},
    "refused": {"shop/api": "REFUSED"},
    "sample": {"shop/api": "DUE", "shop/db": "PAUSED", "shop/worker": "COOLING"},
    "router-unread": {"shop/web": "BLIND", "shop/api": "EXPOSED", "shop/db": "DUE"},
    "settled": {},
    "sidelined": {"shop/web": "SIDELINED"},
    "stopped": {"shop/web": "REVIVED_ROUTED", "shop/api": "SHUT", "shop/db": "SHUT"},
    "successor": {"shop/api": "UNPROBED", "superseded of shop/api": "AWAITING"},
    "superseded": {"superseded of shop/api": "OUTLIVED"},
    "swapped": {"shop/web": "CLASHING", "shop/api": "CLASHING"},
    "unhealthy": {"shop/web": "EXPOSED"},
}
"""The situations that each example shows; every other service in it is settled."""


def document(name: str) -> str:
    return (EXAMPLES / f"{name}.json").read_text(encoding="utf-8")


def schema(kind: str) -> Draft202012Validator:
    return Draft202012Validator(
        json.loads((ROOT / "gordon_core" / "schemas" / f"{kind}.schema.json").read_text(encoding="utf-8"))
    )


def test_there_is_one_per_kind_of_situation() -> None:
    assert sorted(SHOWS) == NAMES
    assert sorted(each.stem for each in EXAMPLES.glob("*.txt")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_is_written_as_it_is_read(name: str) -> None:
    assert document(name) == write_snapshot(read_snapshot(document(name)))


@pytest.mark.parametrize("name", NAMES)
def test_is_valid_by_the_shipped_schema(name: str) -> None:
    schema("snapshot").validate(json.loads(document(name)))


@pytest.mark.parametrize("name", NAMES)
def test_shows_its_situations(name: str) -> None:
    decisions = plan(read_snapshot(document(name))).decisions
    found = {
        f"{f'{each.role.value} of ' if each.old is not None else ''}{each.subject.name}": each.situation.name
        for each in decisions
        if each.situation.name != "SETTLED"
    }
    assert SHOWS[name] == found


@pytest.mark.parametrize("name", NAMES)
def test_prints_what_lies_beside_it(name: str) -> None:
    snapshot = read_snapshot(document(name))
    assert (EXAMPLES / f"{name}.txt").read_text(encoding="utf-8") == text(snapshot, plan(snapshot))


@pytest.mark.parametrize("name", NAMES)
def test_its_plan_is_a_valid_document(name: str) -> None:
    written = write_plan(record(plan(read_snapshot(document(name)))))
    schema("plan").validate(json.loads(written))
    assert written == write_plan(read_plan(written))
