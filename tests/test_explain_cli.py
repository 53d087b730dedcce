"""`gordon-plan explain`, `history` and `replay`, and `--what-if`: from documents and journals to text, JSON and exit codes."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from attrs import evolve

from gordon_core.document import read_plan, read_snapshot, write_plan
from gordon_core.effects import Done
from gordon_core.explanation import explain
from gordon_core.observation import Port, Status
from gordon_core.planner import plan
from gordon_core.record import Role
from gordon_core.services import ROWS
from gordon_core.snapshot import Declared
from gordon_shell import plan_cli
from gordon_shell.chronicle import events
from gordon_shell.errors import JournalError
from gordon_shell.explaining import Past, told
from gordon_shell.explanation_text import event_lines, text
from gordon_shell.history_document import Recorded, document, recorded
from gordon_shell.journal import Deed, Dossier, Record
from gordon_shell.replay import in_lines, replayed
from gordon_shell.sqlite_journal import SqliteJournal
from gordon_shell.sqlite_store import SqliteStore
from tests.core_examples import (
    NEW_ID,
    NOT_READY,
    STARTED,
    blog,
    dark,
    down,
    good,
    left_behind,
    probed,
    remembering,
    restarted,
    strange,
    superseding,
)
from tests.fake_daemon import Answer, fake_daemon
from tests.journals import CRASHED, DEPLOYED, FULL, SHOP, STOPPED, at, look, step
from tests.test_plan_cli import EXAMPLES, Ran, file, imported, process, run

ID = "0123456789abcdef" * 4
SAMPLE = read_snapshot((EXAMPLES / "sample.json").read_bytes())


FOR_ALL_THAT_ARE_DOWN_OR_RUN = "for a service that is to run and for a container that is down or runs"
CLOSED = "it is down or sick, and its budget is closed until a time not yet reached"
FOR_IT = "for the execution that started at 2026-11-30T06:56:10.418307265Z"


def nothing_past(_app: str, _service: str) -> Past:
    return Past()


# --- explain -------------------------------------------------------------------------------------------------------------------


def lines(*arguments: str) -> list[str]:
    ran = run("explain", *arguments)
    assert (0, "") == (ran.code, ran.err)
    return ran.out.splitlines()


def test_now_next_and_how_it_came_here() -> None:
    found = lines("shop/worker", file("sample.json"))
    number = 1 + [each.situation.name for each in ROWS].index("COOLING")
    assert [
        "As seen at 2026-11-30 07:00:00Z:",
        "",
        "~ shop/worker (7d1f0c9a55e2): exited (1) 3 min 48 s ago; unpublished",
        "    why:   down, waiting out its budget until 07:04:12Z, in 4 min 12 s, after 6 failures",
        "    now:   nothing",
        "    help:  gordon-shell retry shop/worker",
        f"  By row {number} of the law for services, COOLING, {FOR_ALL_THAT_ARE_DOWN_OR_RUN}: {CLOSED}",
        "    seen.started_at = 2026-11-30T06:56:10.418307265Z",
        "    seen.status = exited",
        "    memory.charged_at_s = 1036584.25 (06:56:12Z)",
        "    memory.failures = 6",
        "    declared.policy.free_failures = 3",
        "    declared.policy.ladder_s[3] = 480",
        "    clock.boot_s = 1036812.25 (07:00:00Z)",
        "  Rows above it, none of which holds:",
        "    1 CLASHING: its route names a port that another service's container holds? No: clash = nothing",
    ] == found[:16]
    after = found[found.index("  Next, if all goes well:") :]
    assert [
        "  Next, if all goes well:",
        "    at 07:04:12Z: shop/worker: put the attempt on record",
        "    at 07:04:12Z: shop/worker: start it (on fail: seventh failure, next try 07:19:12Z)",
        "    at 07:04:12Z: shop/worker: remember it as verified",
        "    at 07:09:12Z: shop/worker: drop its history",
        "    at 07:09:12Z: nothing is left to do or to wait for",
        "  How it came here:",
        f"    6 failures counted; the latest charge was at 06:56:12Z, 3 min 48 s ago, {FOR_IT}",
        "    its budget opens again at 07:04:12Z, in 4 min 12 s",
        "    its history is not read: a document has none; name the journal beside it with --history",
    ] == after


def test_rows_that_ask_for_something_else_are_one_line_each_kind() -> None:
    kinds = [each for each in lines("shop/worker", file("sample.json")) if " ask for " in each or " asks for " in each]
    assert "    rows 5 to 7 ask for a service that ACTIVE does not name; it is to run" == kinds[0]
    assert any(each.endswith(" asks for a container that is paused; it is down") for each in kinds)


def test_all_names_every_row_and_every_value() -> None:
    found = lines("shop/worker", file("sample.json"), "--all")
    assert "    rows 5 to 7 (ABANDONED, LEFTOVER, ABSENT) ask for a service that ACTIVE does not name; it is to run" in found
    place = next(index for index, each in enumerate(found) if " SUPPLANTED: " in each)
    assert ["        app = shop", "        service = worker"] == found[place + 1 : place + 3]


def test_an_app_is_all_of_its_services_with_their_other_containers() -> None:
    found = lines("shop", file("superseded.json"))
    assert [
        "= shop/api (bb033baef889)",
        "> superseded ea2f1d3fa820",
        "= shop/db (ff22a372586b)",
        "= shop/web (c1d861d01322)",
    ] == [each.partition(":")[0] for each in found if each[:2] in {"= ", "> "}]
    assert "  By row 11 of the law for superseded containers, OUTLIVED: no row above it holds" in found


def test_what_is_held_stays_so() -> None:
    found = lines("shop/db", file("sample.json"))
    assert "    nothing follows of itself; it stays held until somebody helps" == found[found.index("  Next:") + 1]


def test_a_blocked_service_says_that_it_was_tried_in_vain() -> None:
    blocked = plan(read_snapshot((EXAMPLES / "blocked.json").read_bytes())).services
    name = next(each.subject.name for each in blocked if each.situation.name == "BLOCKED")
    found = lines(name, file("blocked.json"))
    assert "    but what it calls for was tried in vain in this pass already, or as often as one pass allows" in found


def test_a_candidate_is_read_under_its_place() -> None:
    found = lines("shop/api", file("interrupted.json"))
    assert any("FOREIGN" in each and each.endswith("No: candidates[0].journalled = true") for each in found)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("shop/wep", "did you mean shop/web?"),
        ("shap", "did you mean shop?"),
        ("elsewhere", "name one of: shop/api, shop/db, shop/web, shop/worker"),
    ],
)
def test_a_name_that_is_none_is_wrong_usage(target: str, said: str) -> None:
    assert Ran(64, "", f"gordon-plan: there is no app or service {target!r}; {said}\n") == run(
        "explain", target, file("sample.json")
    )


def test_options_of_the_live_host_are_refused_beside_a_document() -> None:
    ran = run("explain", "shop", file("sample.json"), "--state", "x")
    assert 64 == ran.code
    assert "--state is for the live host, and a document was named; leave one of them out." in ran.err
    assert ran.err.startswith("Usage: gordon-plan explain [OPTIONS] APP[/SERVICE] [DOCUMENT]\n")


def test_as_json_it_is_one_document_whose_values_are_those_that_decided() -> None:
    found = json.loads(run("explain", "shop/worker", file("sample.json"), "--format", "json").out)
    assert ("gordon-explanation", 1) == (found["document"], found["version"])
    (service,) = found["services"]
    (decision,) = service["decisions"]
    assert "COOLING" == decision["decision"]["situation"] == decision["row"]["situation"]
    assert {"path": "memory.failures", "value": 6} in decision["row"]["read"]
    assert {"path": "seen.status", "value": "exited"} in decision["row"]["read"]
    assert {False} == {each["holds"] for each in decision["above"]}
    assert all(each["read"] for each in decision["above"])
    assert [7, "ABSENT"] == [decision["ruled_out"][0]["rows"][-1], decision["ruled_out"][0]["situations"][-1]]
    assert 6 == service["memory"]["failures"]
    assert "gordon-plan" == service["forecast"][0]["document"]
    assert {"records": [], "dossiers": [], "deeds": []}.items() <= service["past"].items()


def test_every_example_can_be_explained_in_lines_that_print() -> None:
    for each in sorted(EXAMPLES.glob("*.json")):
        snapshot = read_snapshot(each.read_bytes())
        for app in {subject.app for subject in snapshot.subjects}:
            found = text(told(snapshot, app, nothing_past), everything=True)
            assert all(line.isprintable() for line in found.splitlines())


def engine_with_one_that_is_gone(request: str) -> Answer:
    if "/containers/json" in request:
        return Answer(200, [])
    return Answer(404, {"message": f"No such container: {ID}"})


@pytest.fixture
def state(tmp_path: Path) -> Path:
    path = tmp_path / "state.db"
    store = SqliteStore.open(path, create=True)
    assert Done() == store.activate("shop", "web", Declared(ID, 1, (Port(80),)), 0, None)
    store.close()
    return path


def test_the_live_host_without_a_journal_says_so_in_one_line(state: Path) -> None:
    with fake_daemon(engine_with_one_that_is_gone) as daemon:
        ran = run("explain", "shop/web", "--state", str(state), DOCKER_HOST=daemon.host)
    assert (0, "") == (ran.code, ran.err)
    assert "! shop/web (0123456789ab): gone; not routed\n" in ran.out
    assert f"    its history is not read: there is no journal at {state.with_name('history.db')}; " in ran.out


def test_the_live_host_with_its_journal(state: Path, tmp_path: Path) -> None:
    write(tmp_path / "history.db", [look(SHOP)])
    with fake_daemon(engine_with_one_that_is_gone) as daemon:
        ran = run("explain", "shop/web", "--state", str(state), DOCKER_HOST=daemon.host)
    assert (0, "") == (ran.code, ran.err)
    assert ran.out.endswith("    2026-11-30 07:00:00Z: SETTLED: as desired (running for 1 h; routed to 80/tcp at 32768)\n")


def test_an_engine_out_of_reach_is_told_after_the_explanation(state: Path, tmp_path: Path) -> None:
    ran = run("explain", "shop/web", "--state", str(state), DOCKER_HOST=f"unix://{tmp_path}/none.sock")
    assert 69 == ran.code
    assert "UNREADABLE" in ran.out
    assert ran.err.startswith("gordon-plan: no container could be read: ")


# --- history -------------------------------------------------------------------------------------------------------------------


def write(path: Path, records: list[Record], dossiers: tuple[Dossier, ...] = (), deeds: tuple[Deed, ...] = ()) -> str:
    journal = SqliteJournal(path)
    journal.write([], [], deeds)
    for each in records:
        journal.write([each])
    journal.write([], dossiers)
    journal.close()
    return str(path)


READY = good(dark, restarted)
UNREADY = good(dark, restarted, probed(NOT_READY, "2026-11-30T06:59:50Z"))


def charged(record: Record) -> Record:
    """Return the record of a charge with what is remembered after it."""
    assert record.step is not None
    return evolve(record, step=evolve(record.step, after=remembering(failures=1)(record.step.after)))


STORY = [
    look(SHOP, is_whole=True),
    look(good(down), clock=at(60)),
    step(good(dark, down), clock=at(60)),
    step(READY, clock=at(61), outcome=NOT_READY),
    charged(step(UNREADY, clock=at(62))),
    look(CRASHED, clock=at(63)),
    look(CRASHED, clock=at(64)),
]


@pytest.fixture
def journal(tmp_path: Path) -> str:
    return write(tmp_path / "night.db", STORY, (evolve(FULL, clock=at(59)),))


DIED = (
    "execution of 3f2a9c1b7d4e that started at 2026-11-30T06:00:00Z: exited (137) 1 min 59 s ago, out of memory;"
    ' start error: "no such file"'
)
ASTRAY = "MISROUTED: its route does not lead to a verified execution that runs (exited; routed to 80/tcp at 32768)"
CLOSED_AT_ONCE = "80/tcp at 32768 closed the connection at once"


def test_the_history_is_what_was_decided_and_done_and_how_executions_ended_oldest_first(journal: str) -> None:
    ran = run("history", "shop/web", "--history", journal)
    assert (0, "") == (ran.code, ran.err)
    assert [
        "2026-11-30 07:00:00Z: shop/web: SETTLED: as desired (running for 1 h; routed to 80/tcp at 32768)",
        f"2026-11-30 07:00:59Z: shop/web: {DIED}",
        "    its last failed health check ended with -1: \\x00",
        "    its last lines could not be read",
        "    its last lines:",
        "    | starting",
        "    | out of memory",
        f"2026-11-30 07:01:00Z: shop/web: {ASTRAY}",
        "2026-11-30 07:01:00Z: shop/web: put the attempt on record: done",
        "    since DUE: down, and free to start",
        f"2026-11-30 07:01:01Z: shop/web: probe 80/tcp at 32768 for up to 30 s: refused: {CLOSED_AT_ONCE}",
        "    since UNPROBED: running, but this execution has not answered its readiness check at these binds",
        "2026-11-30 07:01:02Z: shop/web: charge it one failure: done; it is its first",
        f"    since UNREADY: not ready: {CLOSED_AT_ONCE}",
        f"2026-11-30 07:01:03Z: shop/web: {ASTRAY}",
    ] == ran.out.splitlines()


def test_the_history_since_a_time(journal: str) -> None:
    ran = run("history", "--history", journal, "--since", "2026-11-30T07:01:03Z")
    assert 1 == len(ran.out.splitlines())
    assert Ran(0, "Nothing is on record of blog since then.\n", "") == run(
        "history", "blog", "--history", journal, "--since", "2026-11-30T07:01:03Z"
    )
    assert Ran(0, "Nothing is on record of blog/web.\n", "") == run("history", "blog/web", "--history", journal)
    assert run("history", "--history", journal) == run("history", "shop", "--history", journal, "--since", "-9999d")


def test_a_time_that_is_none_is_wrong_usage(journal: str) -> None:
    ran = run("history", "--history", journal, "--since", "soon")
    assert 64 == ran.code
    assert ran.err.startswith("gordon-plan: --since must be a duration before now like 2h30m, ")


def test_no_journal_is_told(tmp_path: Path) -> None:
    for command in ("history", "replay"):
        ran = run(command, "--history", str(tmp_path / "none.db"))
        assert 69 == ran.code
        assert ran.err.startswith(f"gordon-plan: there is no journal at {tmp_path}/none.db; ")
    assert [] == list(tmp_path.iterdir())


DONE_AT_60 = evolve(DEPLOYED, clock=at(60), words="deployed container 3f2a9c1b7d4e")
DONE_AT_62 = evolve(STOPPED, clock=at(62.5))


def test_what_somebody_did_stands_between_what_was_decided(tmp_path: Path) -> None:
    path = write(tmp_path / "j.db", STORY, deeds=(DONE_AT_60, DONE_AT_62, evolve(DEPLOYED, app="blog", clock=at(60))))
    found = run("history", "shop/web", "--history", path).out.splitlines()
    assert [
        "2026-11-30 07:01:00Z: shop/web: by alice: deployed container 3f2a9c1b7d4e",
        "2026-11-30 07:01:02Z: shop: by bob: is to be stopped",
    ] == [each for each in found if ": by " in each]
    assert found[0].startswith("2026-11-30 07:00:00Z: shop/web: SETTLED: ")
    assert found[1].endswith(": by alice: deployed container 3f2a9c1b7d4e")
    assert [] == [each for each in run("history", "--since", at_(70), "--history", path).out.splitlines() if ": by " in each]


def at_(seconds: float) -> str:
    """Return a time so long after the usual one as an operator writes it."""
    return f"{datetime.fromtimestamp(at(seconds).wall_s, UTC):%Y-%m-%dT%H:%M:%SZ}"


def test_as_json_what_somebody_did_is_listed_beside_the_records_and_read_as_strictly(tmp_path: Path) -> None:
    path = write(tmp_path / "j.db", STORY, deeds=(DONE_AT_60, DONE_AT_62))
    written = run("history", "--history", path, "--format", "json").out
    clock = {"boot_s": 10060.0, "wall": "2026-11-30T07:01:00Z", "boot_id": "boot-1"}
    said = {"app": "shop", "service": "web", "clock": clock, "who": "alice", "words": "deployed container 3f2a9c1b7d4e"}
    assert [said, "bob"] == [json.loads(written)["deeds"][0], json.loads(written)["deeds"][1]["who"]]
    assert Ran(0, "7 records were decided again: all as recorded.\n", "") == run("replay", "-", given=written.encode())
    damaged = written.replace('"who": "bob"', '"whom": "bob"')
    assert [
        "-: $.deeds[1].who: is missing, and required",
        '-: $.deeds[1].whom: is not known here; did you mean "who"?',
    ] == run("replay", "-", given=damaged.encode()).err.splitlines()


def test_other_containers_are_named_with_what_they_are() -> None:
    records = [look(good(superseding, left_behind(strange(Status.EXITED, STARTED, NEW_ID)))), step(good(superseding))]
    who = [each.who for each in events(records, (), ())]
    assert [
        "shop/web",
        "shop/web, superseded 9bd01e55c0aa",
        "shop/web, candidate c4nd1da7ec4n",
        "shop/web, superseded 9bd01e55c0aa",
    ] == who
    assert ["2026-11-30 07:00:00Z: superseded 9bd01e55c0aa: retire it: stop, with 20 s to stop in: done"] == list(
        event_lines(list(events(records, (), ()))[-1], "shop/web")
    )[:1]


def test_only_what_is_about_the_service_is_told() -> None:
    records = [look(SHOP, blog(), clock=at(0)), step(good(dark, down), blog(), clock=at(1))]
    assert {"blog/web"} == {each.who for each in events(records, (), (), "blog")}
    assert [] == list(events(records[1:], (), (), "blog", "web"))


def test_a_step_whose_plan_is_of_another_version_is_told_without_its_reason() -> None:
    (event,) = events([evolve(step(good(dark, down)), plan="{}")], (), ())
    assert ("shop/web", "put the attempt on record: done", ()) == (event.who, event.words, event.more)
    assert [] == list(events([evolve(look(SHOP), plan="{}")], (), ()))


@pytest.mark.parametrize(
    ("dossier", "words"),
    [
        (evolve(FULL, end=None, probes=(), lines=(), unread=()), "ended"),
        (evolve(FULL, was_restarted=True, end=None, probes=(), lines=(), unread=()), "restarted for being unhealthy"),
    ],
)
def test_an_end_that_nobody_saw(dossier: Dossier, words: str) -> None:
    (event,) = events((), (dossier,), ())
    assert f"execution of 3f2a9c1b7d4e that started at {STARTED}: {words}" == event.words
    assert () == event.more


def test_of_many_last_lines_the_last_are_told() -> None:
    (event,) = events((), (evolve(FULL, probes=(), unread=(), lines=tuple(map(str, range(50)))),), ())
    assert ("its last 5 lines, of 50 on record:", "| 45", "| 46", "| 47", "| 48", "| 49") == event.more


def test_the_last_things_on_record_are_part_of_an_explanation() -> None:
    many = [record for number in range(20) for record in (look(SHOP, clock=at(number)), look(CRASHED, clock=at(number + 0.5)))]
    past = Past(tuple(many), (FULL,))
    found = text(told(evolve(SAMPLE, subjects=(SHOP,)), "shop", lambda _app, _service: past)).splitlines()
    start = found.index("    the last 15 things on record (gordon-plan history shop/web tells all):")
    assert 15 == len(found) - start - 1
    assert found[-1].startswith("    2026-11-30 07:00:19Z: MISROUTED: ")


def test_what_somebody_did_last_is_told_however_long_ago() -> None:
    many = [record for number in range(20) for record in (look(SHOP, clock=at(number)), look(CRASHED, clock=at(number + 0.5)))]
    past = Past(tuple(many), (), (evolve(STOPPED, clock=at(-9)), evolve(DEPLOYED, clock=at(19.2), words="deployed it")))
    found = text(told(evolve(SAMPLE, subjects=(SHOP,)), "shop", lambda _app, _service: past)).splitlines()
    head = "    the last 15 things on record, and what somebody did before (gordon-plan history shop/web tells all):"
    start = found.index(head)
    assert "    2026-11-30 06:59:51Z: shop: by bob: is to be stopped" == found[start + 1]
    assert 16 == len(found) - start - 1
    assert "    2026-11-30 07:00:19Z: by alice: deployed it" == found[-2]


def test_an_explanation_as_json_tells_what_somebody_did(tmp_path: Path) -> None:
    path = write(tmp_path / "j.db", [], deeds=(*(evolve(DEPLOYED, clock=at(number)) for number in range(9)), STOPPED))
    found = json.loads(run("explain", "shop/web", file("sample.json"), "--history", path, "--format", "json").out)
    deeds = found["services"][0]["past"]["deeds"]
    assert ["alice", "alice", "alice", "alice", "bob"] == [each["who"] for each in deeds]


def test_nothing_on_record_is_said() -> None:
    assert text(told(SAMPLE, "shop/web", nothing_past)).endswith("    nothing is on record of it\n")


def test_a_journal_that_cannot_be_read_is_one_line() -> None:
    def damaged(_app: str, _service: str) -> Past:
        message = "the journal is damaged; move it away"
        raise JournalError(message)

    assert text(told(SAMPLE, "shop/web", damaged)).endswith("    its history is not read: the journal is damaged; move it away\n")


def test_a_document_with_the_journal_beside_it(journal: str) -> None:
    found = lines("shop/web", file("sample.json"), "--history", journal)
    assert any(each.startswith("    2026-11-30 07:01:00Z: MISROUTED: ") for each in found)


# --- replay --------------------------------------------------------------------------------------------------------------------


def test_all_that_is_on_record_is_decided_as_it_was(journal: str) -> None:
    assert Ran(0, "7 records were decided again: all as recorded.\n", "") == run("replay", "--history", journal)
    assert 5 == json.loads(run("replay", "--of", "shop/web", "--history", journal, "--format", "json").out)["records"] - 2


def test_an_empty_journal_has_nothing_to_decide(tmp_path: Path) -> None:
    assert Ran(0, "Nothing is on record.\n", "") == run("replay", "--history", write(tmp_path / "j.db", []))


def otherwise(record: Record, before: str, after: str) -> Record:
    assert before in record.plan
    return evolve(record, plan=record.plan.replace(before, after))


def test_a_difference_is_told_with_what_was_and_what_is_now(tmp_path: Path) -> None:
    path = write(tmp_path / "j.db", [look(SHOP), otherwise(look(good(dark, down), clock=at(1)), "DUE", "DOWN")])
    ran = run("replay", "--history", path)
    assert (1, "") == (ran.code, ran.err)
    assert [
        "Record 2, of 2026-11-30 07:00:01Z:",
        "    shop/web:",
        "        was: DOWN, down, and free to start; put the attempt on record",
        "        now: DUE, down, and free to start; put the attempt on record",
        "2 records were decided again: 1 record decided otherwise.",
    ] == ran.out.splitlines()
    (said,) = json.loads(run("replay", "--history", path, "--format", "json").out)["otherwise"]
    assert (2, "2026-11-30T07:00:01Z") == (said["number"], said["at"])
    assert ["DOWN", "DUE"] == [said["differences"][0][each]["situation"] for each in ("was", "now")]


def of(record: Record) -> list[str]:
    found = replayed(recorded(record))
    assert found is not None
    return list(in_lines(found))[1:]


def test_a_wait_that_ends_at_another_time_is_a_difference() -> None:
    cooling = look(good(dark, down, remembering(failures=6, charged=STARTED, charged_at_s=9_772.0)))
    found = of(otherwise(cooling, '"until_s": 10252.0', '"until_s": 10300.0'))
    assert found[1].endswith("; nothing is done; until 07:05:00Z")
    assert found[2].endswith("; nothing is done; until 07:04:12Z")


def test_a_line_that_is_missing_is_a_difference() -> None:
    record = look(SHOP, blog())
    (first, _second) = read_plan(record.plan).lines
    assert Role.SERVICE is first.role
    shorter = evolve(record, plan=write_plan(evolve(read_plan(record.plan), lines=(first,))))
    assert ["    shop/web:", "        was: nothing is said of it", "        now: SETTLED, as desired; nothing is done"] == of(
        shorter
    )[-3:]


def test_another_container_that_differs_is_named() -> None:
    assert "    shop/web, superseded 9bd01e55c0aa:" in of(otherwise(look(good(superseding)), "OUTLIVED", "RETIRED"))


def test_a_plan_that_cannot_be_read_or_is_written_in_another_way_is_a_difference() -> None:
    assert ["    its plan: $.version: version 2 is newer than this program's 1; update it"] == of(
        otherwise(look(SHOP), '"version": 1', '"version": 2')
    )
    assert ["    its plan: it is written in another way, though it says the same"] == of(
        evolve(look(SHOP), plan=look(SHOP).plan + "\n")
    )


def test_what_history_writes_is_what_replay_reads(journal: str, tmp_path: Path) -> None:
    written = run("history", "--history", journal, "--format", "json")
    found = json.loads(written.out)
    assert [{"app": "shop", "service": "web", "effect": {"effect": "record_attempt"}, "outcome": {"outcome": "done"}}] == [
        {**each["step"], "effect": {"effect": each["step"]["effect"]["effect"]}} for each in found["records"][2:3]
    ]
    assert [True, "look", "step"] == [found["records"][0]["is_whole"], found["records"][0]["kind"], found["records"][3]["kind"]]
    assert ["starting", "out of memory", ""] == found["dossiers"][0]["lines"]
    saved = tmp_path / "night.json"
    saved.write_text(written.out)
    assert Ran(0, "7 records were decided again: all as recorded.\n", "") == run("replay", str(saved))
    assert run("replay", str(saved)) == run("replay", "-", given=saved.read_bytes())
    assert Ran(0, "Nothing is on record.\n", "") == run("replay", "--of", "blog", str(saved))
    assert Ran(0, '{"document": "gordon-history", "version": 1,\n"dossiers": [],\n"deeds": [],\n"records": []}\n', "") == run(
        "history", "blog", "--history", journal, "--format", "json"
    )


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ("{", "$: is not JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1)); name what "),
        (
            "[]",
            '$: must be an object that begins with "document": "gordon-history", as `gordon-plan history --format json` writes',
        ),
        ('{"document": "gordon-snapshot"}', '$: must be an object that begins with "document": "gordon-history"'),
        ('{"document": "gordon-history", "version": 2}', "$.version: must be 1; use the program that wrote it"),
        ('{"document": "gordon-history", "version": 1}', "$.records: must be a list"),
        ('{"document": "gordon-history", "version": 1, "records": [1]}', "$.records[0]: must be an object"),
        (
            '{"document": "gordon-history", "version": 1, "dedes": [], "records": []}',
            "$.dedes: is not known here; did you mean deeds?",
        ),
        ('{"document": "gordon-history", "version": 1, "dossiers": 7, "records": []}', "$.dossiers: must be a list"),
        (
            '{"document": "gordon-history", "version": 1, "dossiers": [{}], "records": []}',
            "$.dossiers[0].app: is missing, and required",
        ),
        (
            '{"document": "gordon-history", "version": 1, "records": [{"plan": {}}]}',
            "$.records[0]: must have a number, a snapshot and a plan",
        ),
        (
            '{"document": "gordon-history", "version": 1, "records": [{"pln": {}}]}',
            "$.records[0].pln: is not known here; did you mean plan?",
        ),
        (
            '{"document": "gordon-history", "version": 1, "records": [{"plan": {}, "zzzzzz": 1, "snapshot": {}}]}',
            "$.records[0].zzzzzz: is not known here; leave it out",
        ),
    ],
)
def test_what_is_no_history_is_refused_with_its_place(said: str, fault: str) -> None:
    ran = run("replay", "-", given=said.encode())
    assert 65 == ran.code
    assert ran.err.startswith(f"-: {fault}")


def test_faults_of_a_snapshot_in_a_history_have_their_whole_path() -> None:
    record = recorded(look(SHOP))
    found = "".join(document([look(SHOP)], (), ())).replace('"app": "shop"', '"app": ""', 1)
    assert isinstance(record, Recorded)
    ran = run("replay", "-", given=found.encode())
    assert Ran(65, "", '-: $.records[0].snapshot.services[0].app: must not be empty; found ""\n') == ran


def test_a_history_that_is_too_large_is_not_read() -> None:
    ran = run("replay", "/dev/zero")
    assert (
        Ran(
            65,
            "",
            "/dev/zero: $: is larger than 32 MiB, and nothing larger is read; write less with --since, or replay the journal\n",
        )
        == ran
    )


def test_the_record_at_a_time_and_what_would_follow_if_something_were_otherwise(journal: str) -> None:
    time = "2026-11-30T07:01:00Z"
    ran = run("replay", "--at", time, "--history", journal, "--what-if", "shop/web:intent=stopped")
    assert (0, "") == (ran.code, ran.err)
    assert [
        "Record 3, as seen at 2026-11-30 07:01:00Z:",
        "",
        "> shop/web (3f2a9c1b7d4e): exited; not routed",
    ] == ran.out.splitlines()[:3]
    assert "\nIt was decided so.\n\nRecord 3 with shop/web:intent=stopped, as seen at 2026-11-30 07:01:00Z:\n" in ran.out
    assert ran.out.endswith("\n1 service: 1 as desired. Nothing was done.\n")
    found = json.loads(
        run("replay", "--at", time, "--history", journal, "--what-if", "shop/web:intent=stopped", "--format", "json").out
    )
    assert (3, []) == (found["number"], found["otherwise"])
    assert ["DUE", "SHUT"] == [found[each]["lines"][0]["situation"] for each in ("plan", "what_if")]


def test_a_time_in_whole_seconds_names_what_history_shows_of_that_second(tmp_path: Path) -> None:
    path = write(tmp_path / "j.db", [look(good(dark, down)), look(good(), clock=at(60.7))])
    shown = run("history", "--history", path).out.splitlines()[-1]
    assert shown.startswith("2026-11-30 07:01:00Z: ")
    time = shown[:20]
    for named, number in ((time, 2), ("2026-11-30T07:01:00.5Z", 1), ("2026-11-30T07:00:59Z", 1)):
        assert run("replay", "--at", named, "--history", path).out.startswith(f"Record {number}, ")


def test_a_record_that_is_decided_otherwise_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "j.db", [otherwise(look(good(dark, down)), "DUE", "DOWN")])
    ran = run("replay", "--at", "2026-11-30T08:00:00Z", "--history", path)
    assert 1 == ran.code
    assert "Record 1, of 2026-11-30 07:00:00Z:\n    shop/web:\n        was: DOWN, " in ran.out


def test_the_record_at_a_time_of_a_document(journal: str, tmp_path: Path) -> None:
    saved = tmp_path / "night.json"
    saved.write_text(run("history", "--history", journal, "--format", "json").out)
    arguments = ("--at", "2026-11-30T07:01:00Z", "--what-if", "unhealthy_threshold=3")
    assert run("replay", *arguments, "--history", journal) == run("replay", *arguments, str(saved))


def test_replay_refuses_what_makes_no_sense(journal: str) -> None:
    assert "--what-if is about one record; name its time with --at." in run("replay", "--what-if", "free_failures=1").err
    assert (
        "--history is for the journal, and a file was named; leave one of them out." in run("replay", "x", "--history", "y").err
    )
    ran = run("replay", "--at", "2026-11-30T06:00:00Z", "--of", "shop/web", "--history", journal)
    assert 64 == ran.code
    assert ran.err.startswith("gordon-plan: nothing is on record of shop/web at 2026-11-30T06:00:00Z or before; ")
    ran = run("replay", "--at", "2026-11-30T08:00:00Z", "--history", journal, "--what-if", "blog/web:intent=stopped")
    assert (
        Ran(
            64, "", "gordon-plan: --what-if blog/web:intent=stopped: there is no service 'blog/web' here; name one of: shop/web\n"
        )
        == ran
    )


# --- --what-if of a plan --------------------------------------------------------------------------------------------------


def test_what_if_changes_a_document_and_says_so_above() -> None:
    ran = run("--what-if", "shop/worker:memory.failures=3", "--what-if", "free_failures=9", file("sample.json"))
    assert (0, "") == (ran.code, ran.err)
    assert ran.out.startswith(
        "This host, with shop/worker:memory.failures=3, free_failures=9, as seen at 2026-11-30 07:00:00Z:\n"
    )
    assert "> shop/worker (7d1f0c9a55e2): exited (1) 3 min 48 s ago; unpublished\n    why:   down, and free to start\n" in ran.out
    assert 4 == ran.out.count("    note:  free_failures = 9, by --what-if\n")


def test_what_if_heeds_the_apps_that_are_shown_and_names_each_document() -> None:
    ran = run("--app", "blog", "--what-if", "free_failures=9", file("left-active.json"), file("left-active.json"))
    assert 2 == ran.out.count(f"{file('left-active.json')}, with free_failures=9, as seen at ")
    assert 0 == ran.code


def test_what_if_of_the_live_host(state: Path, tmp_path: Path) -> None:
    record = tmp_path / "host.json"
    with fake_daemon(engine_with_one_that_is_gone) as daemon:
        ran = run(
            "--state", str(state), "--record", str(record), "--what-if", "shop/web:intent=stopped", "--detailed-exitcode",
            DOCKER_HOST=daemon.host,
        )  # fmt: skip
    assert (0, "") == (ran.code, ran.err)
    assert "= shop/web (0123456789ab): gone; not routed; stopped, as the operator wants\n" in ran.out
    assert "running" == read_snapshot(record.read_bytes()).subjects[0].intent.value


def test_what_cannot_be_is_a_bad_document() -> None:
    said = "$.services[2].memory.failures: must be at least 0; found -1"
    ran = run("--what-if", "shop/web:memory.failures=-1", file("sample.json"))
    assert Ran(65, "", f"{file('sample.json')}: with shop/web:memory.failures=-1: {said}\n") == ran
    ran = run("--what-if", "free_failure=1", file("sample.json"))
    assert Ran(64, "", "gordon-plan: --what-if free_failure=1: 'free_failure' is not known; did you mean free_failures?\n") == ran


# --- commands beside documents ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["explain", "history", "replay", "report"])
def test_each_command_has_an_example_in_its_help(command: str) -> None:
    ran = run(command, "--help")
    assert 0 == ran.code
    assert ran.out.startswith(f"Usage: gordon-plan {command} ")
    assert f"\n    gordon-plan {command}" in ran.out
    assert f"  {command} " in run("--help").out


def test_the_list_of_commands_is_that_of_the_commands() -> None:
    from gordon_shell.explain_cli import COMMANDS  # noqa: PLC0415 - as the group does

    assert list(plan_cli.COMMANDS) == list(COMMANDS)


def test_a_document_with_the_name_of_a_command_is_named_with_its_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "explain").write_bytes((EXAMPLES / "settled.json").read_bytes())
    monkeypatch.chdir(tmp_path)
    assert run(file("settled.json")) == run("./explain")
    assert run(file("settled.json")) == run("--color", "never", "explain")
    assert "Missing argument 'APP[/SERVICE]'." in run("explain").err


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("gordon-plan ", ["plain,explain", "plain,history", "plain,replay", "plain,report", "file,"]),
        ("gordon-plan re", ["plain,replay", "plain,report", "file,re"]),
        ("gordon-plan x.json re", ["file,re"]),
        ("gordon-plan explain --a", ["plain,--all"]),
        ("gordon-plan replay --w", ["plain,--what-if"]),
    ],
)
def test_commands_and_documents_complete(words: str, completed: list[str]) -> None:
    ran = process(_GORDON_PLAN_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(words.count(" ")))
    assert completed == ran.out.splitlines()


def test_neither_help_nor_a_plan_imports_the_commands() -> None:
    rooms = {"explain_cli", "explain_verbs", "replay_verbs", "what_if", "explaining", "live_plan", "plan_documents"}
    for arguments in (("--help",), (file("down.json"),)):
        assert set() == {each for each in imported(*arguments) if each.rpartition(".")[2] in rooms}


def test_an_explanation_of_a_document_needs_no_port() -> None:
    world = {"docker", "sqlite3", "gordon_shell.wiring", "gordon_shell.sqlite_journal"}
    assert set() == world & imported("explain", "shop", file("down.json"))


def test_the_number_of_a_row_is_that_of_its_table() -> None:
    (worker,) = [each for each in plan(SAMPLE).services if each.subject.service == "worker"]
    row = explain(worker, SAMPLE.clock.boot_s).row
    assert row.situation is ROWS[row.number - 1].situation
