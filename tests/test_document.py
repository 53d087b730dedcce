"""Documents: what is written is read back exactly; what cannot be meant is refused, every fault with its place and remedy."""

import json
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import get_args

import pytest
from attrs import NOTHING, evolve, fields
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gordon_core.decoding import reader
from gordon_core.document import (
    LARGEST_BYTES,
    MOST_PRINTED,
    DocumentFault,
    DocumentFaults,
    read_plan,
    read_snapshot,
    write_plan,
    write_snapshot,
)
from gordon_core.effects import (
    Cause,
    Effect,
    Fault,
    Generation,
    Probe,
    RecordFailure,
    Refused,
    Restart,
    Result,
    Start,
    Unknown,
)
from gordon_core.encoding import writer
from gordon_core.memory import Attempt, Memory, Strikes, Verified, Window
from gordon_core.observation import (
    Bind,
    Clock,
    Container,
    Exit,
    Gone,
    Health,
    HealthStatus,
    Port,
    PortBinding,
    ProbeResult,
    Protocol,
    RouteSeen,
    RouteUnread,
    Status,
    Unread,
)
from gordon_core.policy import Policy
from gordon_core.record import Line, PlanRecord, Role
from gordon_core.schema import kind_schema, plan_schema, snapshot_schema
from gordon_core.shapes import HEADS, slots
from gordon_core.snapshot import Clash, Declared, HttpCheck, Intent, Snapshot, Subject, Superseded
from tests.strategies import LAST_SECOND_S, plan_records, snapshots

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
DOCUMENTS = Path(__file__).parent / "documents"
SCHEMAS = Path(__file__).parent.parent / "gordon_core" / "schemas"
WEB = Port(80)
DNS = Port(53, Protocol.UDP)
BINDS = (Bind(WEB, 32768), Bind(DNS, 32769))
GENERATION = Generation("shop", "web", "c1", 3)
CLOCK = Clock(812.5, 1796022000.25, "boot-1")
SUBJECT = Subject(
    "shop",
    "web",
    Container(
        "c1",
        Status.EXITED,
        "2026-11-30T06:59:00.5Z",
        Health(HealthStatus.UNHEALTHY, 1, (ProbeResult("2026-11-30T06:59:30Z", 1, "503"),)),
        (PortBinding(WEB, "127.0.0.1", 32768),),
        Exit(137, oom_killed=True, finished_at="2026-11-30T06:59:56Z"),
        "shop-web-1",
    ),
    Declared("c1", 3, (WEB, DNS), BINDS, 12.0, http=HttpCheck(80, "/health"), policy=Policy(ladder_s=(1.0, 2.5))),
    route=RouteSeen(BINDS, (Protocol.TCP,)),
    memory=Memory(
        2,
        "2026-11-30T06:50:00Z",
        700.0,
        Attempt("2026-11-30T06:50:00Z"),
        Strikes("2026-11-30T06:59:00.5Z", 1, "2026-11-30T06:59:30Z"),
        Window("2026-11-30T06:59:00.5Z", 780.0, 810.0),
        Verified("2026-11-30T06:50:00Z", BINDS, 3),
        "boot-1",
    ),
    results=(
        Result(Start(GENERATION), Refused("no such image", Fault.ENGINE)),
        Result(Restart(GENERATION, 12.0), Unknown("timed out")),
        Result(RecordFailure(GENERATION, "", Cause.REFUSED), Refused("disk full", Fault.STORE)),
    ),
    superseded=(Superseded("c0", Unread("timed out"), binds=(Bind(WEB, 32770),)),),
)
IDLE = Subject("blog", "worker", Gone(), intent=Intent.STOPPED, route=RouteUnread("no answer"), unproven=True, locked="pid 7")
SNAPSHOT = Snapshot(CLOCK, (SUBJECT, IDLE))
PLAN = PlanRecord(
    CLOCK,
    (
        Line("shop", "web", Role.SERVICE, "c1", "UNPROBED", "not asked yet", Probe(GENERATION, "s", BINDS, 30.0, 80, "/health")),
        Line("shop", "web", Role.SUPERSEDED, "c0", "WAITING", "waiting", until_s=900.0),
    ),
)
GOOD = (DOCUMENTS / "snapshot.json").read_text(encoding="utf-8")
GOOD_PLAN = (DOCUMENTS / "plan.json").read_text(encoding="utf-8")


def test_a_snapshot_is_written_as_the_golden_text() -> None:
    assert write_snapshot(SNAPSHOT) == GOOD


def test_a_plan_is_written_as_the_golden_text() -> None:
    assert write_plan(PLAN) == GOOD_PLAN


def test_the_golden_texts_are_read_as_text_and_as_bytes() -> None:
    assert (SNAPSHOT, SNAPSHOT) == (read_snapshot(GOOD), read_snapshot(GOOD.encode()))
    assert (PLAN, PLAN) == (read_plan(GOOD_PLAN), read_plan(GOOD_PLAN.encode()))


@pytest.mark.unmeasured
@UNHURRIED
@given(snapshots())
def test_every_snapshot_comes_back_and_is_what_the_schema_says(snapshot: Snapshot) -> None:
    text = write_snapshot(snapshot)
    assert snapshot == read_snapshot(text)
    assert text == write_snapshot(read_snapshot(text))
    assert [] == [each.message for each in _SNAPSHOT_SCHEMA.iter_errors(json.loads(text))]


@UNHURRIED
@given(plan_records())
def test_every_plan_comes_back_and_is_what_the_schema_says(record: PlanRecord) -> None:
    text = write_plan(record)
    assert record == read_plan(text)
    assert text == write_plan(read_plan(text))
    assert [] == [each.message for each in _PLAN_SCHEMA.iter_errors(json.loads(text))]


_SNAPSHOT_SCHEMA = Draft202012Validator(snapshot_schema())
_PLAN_SCHEMA = Draft202012Validator(plan_schema())


@UNHURRIED
@given(st.floats(min_value=0, max_value=LAST_SECOND_S))
def test_every_instant_comes_back_to_the_last_bit(wall_s: float) -> None:
    assert wall_s == read_snapshot(write_snapshot(Snapshot(Clock(0.0, wall_s, "boot")))).clock.wall_s


@pytest.mark.parametrize(
    ("wall_s", "text"),
    [
        (0.0, "1970-01-01T00:00:00Z"),
        (1796022000.0, "2026-11-30T07:00:00Z"),
        (1796022000.1234567, "2026-11-30T07:00:00.1234567Z"),
        (5e-05, "1970-01-01T00:00:00.00005Z"),
        (253402300799.0, "9999-12-31T23:59:59Z"),
    ],
)
def test_an_instant_is_written_with_as_many_digits_as_it_needs(wall_s: float, text: str) -> None:
    assert text == json.loads(write_snapshot(Snapshot(Clock(0.0, wall_s, "boot"))))["clock"]["wall"]


def test_whole_numbers_of_seconds_are_read_as_floats_and_written_as_such() -> None:
    """A value that was made with an int is written like the float that it equals, so that the text stays canonical."""
    text = write_snapshot(Snapshot(Clock(812, 1796022000, "boot-1"), (evolve(IDLE, memory=Memory(charged_at_s=7)),)))
    assert text == write_snapshot(read_snapshot(text.replace("812.0", "812").replace("7.0", "7")))
    assert ("812.0", float) == (repr(read_snapshot(text).clock.boot_s), type(read_snapshot(text).clock.boot_s))


def test_defaults_may_be_written_out_and_keys_come_in_any_order() -> None:
    table = json.loads(GOOD)
    table["services"].reverse()
    table["services"][1]["memory"] = {}
    table["services"][1]["declared"] = None
    table = {key: table[key] for key in reversed(table)}
    idle, whole = evolve(IDLE, memory=Memory(), declared=None), SUBJECT
    assert Snapshot(CLOCK, (whole, idle)) == read_snapshot(json.dumps(table))


def test_what_is_derived_is_not_written() -> None:
    clashing = evolve(SUBJECT, clash=Clash(32768, "blog/worker", mine=True, failed=False))
    assert GOOD == write_snapshot(Snapshot(CLOCK, (clashing, IDLE)))


def test_an_infinite_number_is_not_written() -> None:
    with pytest.raises(ValueError, match="Out of range float values"):
        write_snapshot(Snapshot(Clock(float("inf"), 0.0, "boot")))


def test_half_a_surrogate_pair_is_not_written() -> None:
    with pytest.raises(ValueError, match="surrogates not allowed"):
        write_plan(PlanRecord(Clock(0.0, 0.0, "\ud800")))


def _set(*path: str | int, to: object) -> str:
    """Return the golden snapshot with one value replaced, or added."""
    table = json.loads(GOOD)
    place = table
    for each in path[:-1]:
        place = place[each]
    place[path[-1]] = to
    return json.dumps(table)


def _without(*path: str | int) -> str:
    table = json.loads(GOOD)
    place = table
    for each in path[:-1]:
        place = place[each]
    del place[path[-1]]
    return json.dumps(table)


def _raw(old: str, new: str) -> str:
    """Return the golden snapshot with a piece of its text replaced, for what only a text can say."""
    assert old in GOOD
    return GOOD.replace(old, new, 1)


STATUSES = '"created", "running", "paused", "restarting", "removing", "exited", "dead", "stopped", "unknown"'
WEB_AT = ("services", 1)
SHAPE = {
    "number as text": (
        _set(*WEB_AT, "declared", "revision", to="3"),
        ['$.services[1].declared.revision: must be a whole number; found "3"'],
    ),
    "flag as number": (_set("services", 0, "unproven", to=1), ["$.services[0].unproven: must be true or false; found 1"]),
    "number as flag": (
        _set(*WEB_AT, "memory", "failures", to=True),
        ["$.services[1].memory.failures: must be a whole number; found true"],
    ),
    "seconds as flag": (
        _set(*WEB_AT, "declared", "stop_grace_s", to=False),
        ["$.services[1].declared.stop_grace_s: must be a number; found false"],
    ),
    "seconds with a unit": (
        _set(*WEB_AT, "declared", "stop_grace_s", to="10s"),
        ['$.services[1].declared.stop_grace_s: must be a number; found "10s"'],
    ),
    "fraction of a revision": (
        _set(*WEB_AT, "declared", "revision", to=1.5),
        ["$.services[1].declared.revision: must be a whole number; found 1.5"],
    ),
    "text as list": (_set(*WEB_AT, "app", to=["shop"]), ["$.services[1].app: must be a text; found a list"]),
    "list as text": (_set(*WEB_AT, "ungranted", to="/srv"), ['$.services[1].ungranted: must be a list; found "/srv"']),
    "object as list": (_set("clock", to=[]), ["$.clock: must be an object; found a list"]),
    "list as object": (_set("services", to={}), ["$.services: must be a list; found an object"]),
    "null for a text": (_set(*WEB_AT, "inhibited", to=None), ["$.services[1].inhibited: must be a text; found null"]),
    "unknown status": (
        _set(*WEB_AT, "seen", "status", to="Up 3 hours"),
        [f'$.services[1].seen.status: must be one of {STATUSES}; found "Up 3 hours"'],
    ),
    "status of the wrong type": (
        _set(*WEB_AT, "intent", to={}),
        ['$.services[1].intent: must be one of "running", "stopped"; found an object'],
    ),
    "port without protocol": (
        _set(*WEB_AT, "declared", "ports", 0, to="80"),
        ['$.services[1].declared.ports[0]: must be a port like "80/tcp", from 1 to 65535 and tcp or udp; found "80"'],
    ),
    "port as number": (
        _set(*WEB_AT, "seen", "ports", 0, "port", to=80),
        ['$.services[1].seen.ports[0].port: must be a port like "80/tcp", from 1 to 65535 and tcp or udp; found 80'],
    ),
    "port out of range": (
        _set(*WEB_AT, "route", "binds", 1, "port", to="65536/udp"),
        ['$.services[1].route.binds[1].port: must be a port like "80/tcp", from 1 to 65535 and tcp or udp; found "65536/udp"'],
    ),
    "port with a leading zero": (
        _set(*WEB_AT, "declared", "ports", 1, to="053/udp"),
        ['$.services[1].declared.ports[1]: must be a port like "80/tcp", from 1 to 65535 and tcp or udp; found "053/udp"'],
    ),
    "host port out of range": (
        _set(*WEB_AT, "declared", "binds", 0, "host_port", to=70000),
        ["$.services[1].declared.binds[0].host_port: must be at most 65535; found 70000"],
    ),
    "negative clock": (_set("clock", "boot_s", to=-1), ["$.clock.boot_s: must be at least 0; found -1.0"]),
    "wall clock in local time": (
        _set("clock", "wall", to="2026-11-30T07:00:00+01:00"),
        ['$.clock.wall: must be a time in UTC like "2026-11-30T07:00:00Z"; found "2026-11-30T07:00:00+01:00"'],
    ),
    "wall clock as number": (
        _set("clock", "wall", to=1796022000),
        ['$.clock.wall: must be a time in UTC like "2026-11-30T07:00:00Z"; found 1796022000'],
    ),
    "revision zero": (
        _set(*WEB_AT, "declared", "revision", to=0),
        ["$.services[1].declared.revision: must be at least 1; found 0"],
    ),
    "empty name": (_set(*WEB_AT, "service", to=""), ['$.services[1].service: must not be empty; found ""']),
    "path that is none": (
        _set(*WEB_AT, "declared", "http", "path", to="health"),
        ['$.services[1].declared.http.path: must match ^/[!-~]*$; found "health"'],
    ),
    "empty ladder": (
        _set(*WEB_AT, "declared", "policy", "ladder_s", to=[]),
        ["$.services[1].declared.policy.ladder_s: must not be empty; found a list"],
    ),
    "wait of no time in the ladder": (
        _set(*WEB_AT, "declared", "policy", "ladder_s", to=[60, 0, -1]),
        [
            "$.services[1].declared.policy.ladder_s[1]: must be above 0; found 0.0",
            "$.services[1].declared.policy.ladder_s[2]: must be above 0; found -1.0",
        ],
    ),
    "missing keys": (
        _set("services", to=[{"seen": {"seen": "unread"}}]),
        [
            "$.services[0].app: is missing, and required",
            "$.services[0].service: is missing, and required",
            "$.services[0].seen.reason: is missing, and required",
        ],
    ),
    "misspelt key": (
        _set(*WEB_AT, "declared", "stop_grace", to=10),
        ['$.services[1].declared.stop_grace: is not known here; did you mean "stop_grace_s"?'],
    ),
    "derived keys": (
        _raw('"app": "shop"', '"clash": null, "seen_as": "down", "memo": [], "app": "shop"'),
        [
            "$.services[1].clash: is not known here; leave it out",
            "$.services[1].seen_as: is not known here; leave it out",
            '$.services[1].memo: is not known here; did you mean "memory"?',
        ],
    ),
    "key that does not print": (
        _set("clock", "boot\x1b[2J", to=1),
        ['$.clock["boot\\x1b[2J"]: is not known here; leave it out'],
    ),
    "endless key": (
        _set("clock", "k" * 1_000_000, to=1),
        [f'$.clock["{"k" * 60}..."]: is not known here; leave it out'],
    ),
    "unknown kind of look": (
        _set(*WEB_AT, "seen", to={"seen": "lost"}),
        ['$.services[1].seen.seen: must be one of "container", "gone", "unread"; found "lost"'],
    ),
    "kind of look of the wrong type": (
        _set(*WEB_AT, "seen", to={"seen": ["gone"]}),
        ['$.services[1].seen.seen: must be one of "container", "gone", "unread"; found a list'],
    ),
    "no kind of route": (
        _set(*WEB_AT, "route", to={}),
        ['$.services[1].route.route: is missing; it must be one of "seen", "unread"'],
    ),
    "look that is no object": (_set(*WEB_AT, "seen", to="gone"), ['$.services[1].seen: must be an object; found "gone"']),
    "status of what is gone": (
        _set("services", 0, "seen", "status", to="exited"),
        ["$.services[0].seen.status: is not known here; leave it out"],
    ),
    "null effect": (
        _set(*WEB_AT, "results", 0, "effect", to=None),
        ["$.services[1].results[0].effect: must be an object; found null"],
    ),
}
IMPOSSIBLE = {
    "port declared twice": (
        _set(*WEB_AT, "declared", "ports", to=["80/tcp", "53/udp", "80/tcp"]),
        ["$.services[1].declared.ports: each port once; repeated: 80/tcp"],
    ),
    "port bound twice": (
        _set(*WEB_AT, "declared", "binds", 1, "port", to="80/tcp"),
        ["$.services[1].declared.binds: each port with a bind once; repeated: 80/tcp"],
    ),
    "bind for a port that is not declared": (
        _set(*WEB_AT, "declared", "ports", to=["80/tcp"]),
        ["$.services[1].declared.binds: each bind must be for a declared port; not declared: 53/udp"],
    ),
    "check of a port that is not declared": (
        _set(*WEB_AT, "declared", "http", "port", to=53),
        ["$.services[1].declared.http: its port must be one of the declared TCP ports; 53/tcp is not declared"],
    ),
    "another container than the declared one": (
        _set(*WEB_AT, "seen", "container_id", to="c9"),
        ["$.services[1].seen: what was seen must be the declared container c1"],
    ),
    "protocol carried twice": (
        _set(*WEB_AT, "route", "carries", to=["tcp", "tcp"]),
        ["$.services[1].route.carries: each protocol once"],
    ),
    "service twice": (
        _set("services", 0, to={"app": "shop", "service": "web", "seen": {"seen": "gone"}}),
        ["$.services: each service once; repeated: shop/web"],
    ),
    "superseded container twice": (
        _set(*WEB_AT, "superseded", to=[{"container_id": "c0", "seen": {"seen": "gone"}}] * 2),
        ["$.services[1].superseded: each superseded container once; repeated: c0"],
    ),
    "name that does not print, twice": (
        _set("services", to=[{"app": "a\n", "service": "b", "seen": {"seen": "gone"}}] * 2),
        ["$.services: each service once; repeated: a\\n/b"],
    ),
    "the ports at fault are not held against the check": (
        _set(*WEB_AT, "declared", "ports", to=["http"]),
        ['$.services[1].declared.ports[0]: must be a port like "80/tcp", from 1 to 65535 and tcp or udp; found "http"'],
    ),
    "ports left out are": (
        _without(*WEB_AT, "declared", "ports"),
        [
            "$.services[1].declared.binds: each bind must be for a declared port; not declared: 80/tcp, 53/udp",
            "$.services[1].declared.http: its port must be one of the declared TCP ports; 80/tcp is not declared",
        ],
    ),
    "the unreadable and the impossible together": (
        _raw('"revision": 3', '"revision": 0, "published": "no"').replace('"80/tcp",\n          "53/udp"', '"80/tcp", "80/tcp"'),
        [
            '$.services[1].declared.published: must be true or false; found "no"',
            "$.services[1].declared.revision: must be at least 1; found 0",
            "$.services[1].declared.ports: each port once; repeated: 80/tcp",
            "$.services[1].declared.binds: each bind must be for a declared port; not declared: 53/udp",
        ],
    ),
}
TEXT = {
    "not a number": (_raw("812.5", "NaN"), ["$.clock.boot_s: must be a finite number; found nan"]),
    "infinity": (_raw("812.5", "-Infinity"), ["$.clock.boot_s: must be a finite number; found -inf"]),
    "overflow": (_raw("812.5", "1e999"), ["$.clock.boot_s: must be a finite number; found inf"]),
    "whole number beyond every float": (
        _raw("812.5", "1" + "0" * 400),
        [f"$.clock.boot_s: must be a finite number; found 1{'0' * 59}..."],
    ),
    "huge whole number": (
        _raw('"revision": 3', '"revision": -' + "9" * 5000),
        ["$.services[1].declared.revision: must be a whole number; found a number of 5000 digits"],
    ),
    "key twice": (
        _raw('"app": "shop"', '"app": "shop", "app": "blog", "app": "shop"'),
        ["$.services[1].app: comes more than once; keep one"],
    ),
    "document twice": (_raw('"version": 1', '"version": 1, "version": 1'), ["$.version: comes more than once; keep one"]),
    "half a surrogate pair": (
        _raw('"shop-web-1"', r'"\ud83d"'),
        [r'$.services[1].seen.name: must be Unicode text, without half a surrogate pair; found "\ud83d"'],
    ),
    "half a surrogate pair as it is": (
        _raw('"shop-web-1"', '"\ud83d"'),
        ["$: must be Unicode text, without half a surrogate pair"],
    ),
    "NUL": (
        _raw("shop-web-1", "shop\0web"),
        ["$: holds a NUL byte at line 55, column 22; check that it is the right file"],
    ),
    "nothing": ("", ["$: is empty; a document is a JSON object"]),
    "white space": (b" \n\t", ["$: is empty; a document is a JSON object"]),
    "byte order mark": ("\ufeff" + GOOD, ["$: begins with a byte order mark; save it as UTF-8 without one"]),
    "UTF-16": (GOOD.encode("utf-16"), ["$: is not UTF-8 at byte 1; save it as UTF-8, or check that it is the right file"]),
    "Latin-1": (
        b'{"document": "\xe4"}',
        ["$: is not UTF-8 at byte 15; save it as UTF-8, or check that it is the right file"],
    ),
    "cut off": (GOOD[:40], ["$: is not JSON at line 3, column 3; the parser says: Unterminated string starting at"]),
    "YAML": ("document: gordon-snapshot\n", ["$: is not JSON at line 1, column 1; the parser says: Expecting value"]),
    "two documents": (GOOD + GOOD, ["$: is not JSON at line 205, column 1; the parser says: Extra data"]),
    "deep lists": ("[" * 100_000, ["$: is nested too deeply; no part of a document is more than a dozen levels deep"]),
    "deep objects": ('{"a":' * 100_000, ["$: is nested too deeply; no part of a document is more than a dozen levels deep"]),
    "deep, but closed": (
        _raw('"shop-web-1"', "[" * 200 + "]" * 200),
        ["$.services[1].seen.name: must be a text; found a list"],
    ),
    "50 MB": (
        b'{"document": "gordon-snapshot", "services": [' + b" " * 50_000_000 + b"]}",
        ["$: is larger than 32 MiB, and nothing larger is read; check that it is the right file"],
    ),
    "larger in bytes than in letters": (
        "\N{SNOWMAN}" * (LARGEST_BYTES // 2),
        ["$: is larger than 32 MiB, and nothing larger is read; check that it is the right file"],
    ),
    "a list": ("[]", ['$: must be an object that begins with "document": "gordon-snapshot"; found a list']),
    "a text": ('"x"', ['$: must be an object that begins with "document": "gordon-snapshot"; found "x"']),
    "no kind": (_without("document"), ['$.document: is missing; it must be "gordon-snapshot"']),
    "another kind": (GOOD_PLAN, ['$.document: must be "gordon-snapshot"; found "gordon-plan"']),
    "no version": (_without("version"), ["$.version: is missing; it must be 1"]),
    "newer version, alone": (
        _raw('"version": 1', '"version": 2, "hosts": []'),
        ["$.version: version 2 is newer than this program's 1; update it"],
    ),
    "version zero": (_set("version", to=0), ["$.version: must be 1; found 0"]),
    "version as text": (_set("version", to="1"), ['$.version: must be 1; found "1"']),
    "version as flag": (_set("version", to=True), ["$.version: must be 1; found true"]),
    "version as fraction": (_set("version", to=1.0), ["$.version: must be 1; found 1.0"]),
}
DAMAGED = {**SHAPE, **IMPOSSIBLE, **TEXT}


def _faults(read: Callable[[str | bytes], object], text: str | bytes) -> DocumentFaults:
    with pytest.raises(DocumentFaults) as caught:
        read(text)
    return caught.value


@pytest.mark.parametrize(("text", "lines"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_document_is_told_everything_that_is_wrong_with_it(text: str | bytes, lines: list[str]) -> None:
    assert lines == str(_faults(read_snapshot, text)).split("\n")


@pytest.mark.parametrize("text", [each[0] for each in SHAPE.values()], ids=SHAPE)
def test_the_schema_refuses_what_has_the_wrong_shape(text: str) -> None:
    assert not _SNAPSHOT_SCHEMA.is_valid(json.loads(text))


def test_an_unknown_effect_of_a_plan_names_every_effect() -> None:
    fault = _faults(read_plan, GOOD_PLAN.replace('"effect": "probe"', '"effect": "prune"')).faults[0]
    names = ", ".join(f'"{HEADS[each]["effect"]}"' for each in get_args(Effect))
    assert DocumentFault("$.lines[0].effect.effect", f'must be one of {names}; found "prune"') == fault
    assert ('"record_attempt"', '"drop_candidate"') == (names.split(", ")[1], names.split(", ")[-1])


def test_a_plan_with_a_snapshot_inside_is_told_so_alone() -> None:
    assert '$.document: must be "gordon-plan"; found "gordon-snapshot"' == str(_faults(read_plan, GOOD))


def test_fifty_megabytes_are_refused_without_being_read() -> None:
    text = b"[" + b"0," * 25_000_000
    start = process_time()
    assert "larger than 32 MiB" in str(_faults(read_snapshot, text))
    assert process_time() - start < 0.3


def test_a_hundred_faults_are_printed_and_the_rest_counted() -> None:
    faults = _faults(read_snapshot, _set("services", to=[0] * 123))
    lines = str(faults).split("\n")
    assert (123, MOST_PRINTED + 1, "and 23 more") == (len(faults.faults), len(lines), lines[-1])


@pytest.mark.parametrize(
    "text",
    [
        _set("services", to=[0] * 5000),
        _set("clock", to={f"key {n}": n for n in range(5000)}),
        _set(*WEB_AT, "declared", "policy", "ladder_s", to=[0] * 5000),
        _raw('"app": "shop"', '"app": "shop", ' + ", ".join(f'"{n}": 0, "{n}": 0' for n in range(5000))),
    ],
    ids=["items", "unknown keys", "impossible items", "repeated keys"],
)
def test_looking_stops_after_a_thousand_faults_in_one_place(text: str) -> None:
    faults = _faults(read_snapshot, text)
    assert 1000 <= len(faults.faults) <= 2010
    assert str(faults).split("\n")[-1] == f"and at least {len(faults.faults) - MOST_PRINTED} more"


def test_a_fault_with_long_words_is_cut_short() -> None:
    services = [{"app": "a", "service": f"{n:0100}", "seen": {"seen": "gone"}} for n in range(4)] * 2
    wrong = _faults(read_snapshot, _set("services", to=services)).faults[0].wrong
    assert (303, "...") == (len(wrong), wrong[-3:])


@UNHURRIED
@given(st.text() | st.binary())
def test_no_text_makes_reading_fail_in_any_other_way(text: str | bytes) -> None:
    assert _faults(read_snapshot, text).faults


WILD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def _places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    return [path, *(place for key, item in inner for place in _places(item, (*path, key)))]


@pytest.mark.unmeasured
@settings(UNHURRIED, max_examples=300)
@given(st.sampled_from(_places(json.loads(GOOD))[1:]), WILD)
def test_whatever_stands_anywhere_is_read_or_refused_in_lines(place: tuple[str | int, ...], value: object) -> None:
    """And what is read is what the schema accepts."""
    text = _set(*place, to=value)
    lines = _lines(text)
    assert [] == [line for line in lines if not (line.startswith(("$", "and ")) and line.isprintable())]
    assert lines or _SNAPSHOT_SCHEMA.is_valid(json.loads(text))


def _lines(text: str) -> list[str]:
    try:
        read_snapshot(text)
    except DocumentFaults as faults:
        return str(faults).split("\n")
    return []


@pytest.mark.parametrize(("name", "schema"), [("snapshot", snapshot_schema()), ("plan", plan_schema())])
def test_the_shipped_schemas_are_those_of_the_types(name: str, schema: dict[str, object]) -> None:
    """On a difference: write the left side to the file."""
    Draft202012Validator.check_schema(schema)
    assert json.dumps(schema, indent=2, ensure_ascii=False) + "\n" == (SCHEMAS / f"{name}.schema.json").read_text(
        encoding="utf-8"
    )


def test_the_schema_says_kinds_limits_defaults_and_meanings() -> None:
    shared = snapshot_schema()["$defs"]
    assert isinstance(shared, dict)
    assert {"type": "integer", "minimum": 0, "maximum": 65535} == shared["Bind"]["properties"]["host_port"]
    assert {"type": "string", "minLength": 1} == shared["Container"]["properties"]["container_id"]
    assert {
        "type": "array",
        "items": {"type": "number", "exclusiveMinimum": 0},
        "minItems": 1,
        "default": [60.0, 120.0, 240.0, 480.0, 900.0],
    } == shared["Policy"]["properties"]["ladder_s"]
    assert {"oneOf": [{"$ref": "#/$defs/Declared"}, {"type": "null"}], "default": None} == shared["Subject"]["properties"][
        "declared"
    ]
    assert {"const": "gone"} == shared["Gone"]["properties"]["seen"]
    assert ["running", "stopped"] == shared["Intent"]["enum"]
    assert "The engine answered that the container does not exist." == shared["Gone"]["description"]


def test_a_type_that_no_document_can_hold_has_no_schema() -> None:
    with pytest.raises(TypeError, match="a document cannot hold list"):
        kind_schema(list[int], {})


@pytest.mark.parametrize("made", [reader, writer])
@pytest.mark.parametrize("kind", [list[int], dict, tuple[bytes, ...]])
def test_a_type_that_no_document_can_hold_is_neither_read_nor_written(made: Callable[[object], object], kind: object) -> None:
    with pytest.raises(TypeError, match=r"a document cannot hold .*(list|dict|bytes)"):
        made(kind)


def test_every_class_of_a_document_can_be_told_apart_and_left_out() -> None:
    """A tag must not hide a field, and a default that is made anew each time could not be compared."""
    for kind, head in HEADS.items():
        assert set() == {each.key for each in slots(kind)} & set(head)
    for kind in (Snapshot, Subject, Declared, Superseded, Memory, Line, PlanRecord, Container, *HEADS):
        assert [] == [each.name for each in slots(kind) if type(each.default).__name__ == "Factory"]
    assert ["clash", "seen_as", "binds", "memo"] == [each.name for each in fields(Subject) if not each.eq]
    assert NOTHING is slots(Subject)[0].default


def test_a_place_is_counted_from_the_first_line_and_column_and_names_the_first_nul() -> None:
    assert "$: holds a NUL byte at line 1, column 1; check that it is the right file" == str(_faults(read_snapshot, "\0 \0"))
    assert "$: holds a NUL byte at line 2, column 1; check that it is the right file" == str(_faults(read_snapshot, "\n\0"))


@pytest.mark.parametrize(("count", "last"), [(100, "$: wrong"), (101, "and 1 more"), (102, "and 2 more")])
def test_a_hundred_faults_are_printed_and_the_others_counted(count: int, last: str) -> None:
    faults = DocumentFaults((DocumentFault("$", "wrong"),) * count)
    assert last == str(faults).split("\n")[-1]
    assert ((DocumentFault("$", "wrong"),) * count,) == faults.args


@pytest.mark.parametrize("fraction", [".Z", ".1_0Z", ".5e3Z", ".5"])
def test_what_follows_the_seconds_is_a_dot_and_digits(fraction: str) -> None:
    text = f"2026-11-30T07:00:00{fraction}"
    wrong = f'$.clock.wall: must be a time in UTC like "2026-11-30T07:00:00Z"; found "{text}"'
    assert wrong == str(_faults(read_snapshot, _set("clock", "wall", to=text)))
