"""`gordon-plan`: documents in, plans out, exit codes, diagnostics, and that it neither writes nor imports what it need not."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import frozen
from click.testing import CliRunner

from gordon_core.document import read_plan, read_snapshot
from gordon_core.effects import Done
from gordon_core.observation import Gone, Port
from gordon_core.snapshot import Declared
from gordon_shell import cli_common
from gordon_shell.plan_cli import NAME, plan
from gordon_shell.sqlite_store import SqliteStore
from tests.fake_daemon import Answer, fake_daemon

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
COMMAND = [sys.executable, "-m", "gordon_shell.plan_cli"]
ID = "0123456789abcdef" * 4


@frozen
class Ran:
    code: int
    out: str
    err: str


def run(*arguments: str, given: bytes = b"", **environment: str) -> Ran:
    """Run the command in this process."""
    with CliRunner(env=environment).isolation(given) as (out, err, _both):
        code = cli_common.run(plan, NAME, arguments)
        return Ran(code, out.getvalue().decode(), err.getvalue().decode())


def process(*arguments: str, given: bytes = b"", **environment: str) -> Ran:
    """Run the command as a process of its own."""
    ran = subprocess.run(
        [*COMMAND, *arguments], input=given, capture_output=True, check=False, cwd=ROOT, env=os.environ | environment, timeout=60
    )
    return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())


def shell(line: str) -> Ran:
    """Run a line of shell in which `plan` is the command."""
    script = f'plan() {{ "{sys.executable}" -m gordon_shell.plan_cli "$@"; }}\n{line}'
    ran = subprocess.run(["/bin/bash", "-c", script], capture_output=True, check=False, cwd=ROOT, timeout=60)
    return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())


def file(name: str) -> str:
    return str(EXAMPLES / name)


def imported(*arguments: str) -> set[str]:
    """Return the modules that the command imported."""
    script = (
        "import sys; from gordon_shell import cli_common; from gordon_shell.plan_cli import NAME, plan;"
        f"code = cli_common.run(plan, NAME, {list(arguments)!r}); print('\\n'.join(sys.modules), file=sys.stderr); sys.exit(code)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, cwd=ROOT, text=True, timeout=60)
    return set(ran.stderr.splitlines())


# --- documents ---------------------------------------------------------------------------------------------------------------


def test_a_document_gives_the_text_that_lies_beside_it() -> None:
    assert Ran(0, (EXAMPLES / "cooling.txt").read_text(), "") == run(file("cooling.json"))


def test_a_file_and_a_pipe_and_every_environment_give_equal_bytes() -> None:
    expected = run(file("swapped.json"))
    given = (EXAMPLES / "swapped.json").read_bytes()
    assert expected == run("-", given=given)
    assert expected == process("-", given=given, LC_ALL="C", PYTHONIOENCODING="ascii", COLUMNS="20", PYTHONHASHSEED="1")
    assert expected == process(file("swapped.json"), LC_ALL="C.UTF-8", COLUMNS="200", PYTHONHASHSEED="2", GORDON_STATE="/nowhere")


def test_several_documents_are_named_each() -> None:
    ran = run(file("down.json"), file("settled.json"))
    assert 0 == ran.code
    assert [
        f"{file('down.json')}, as seen at 2026-11-30 07:00:00Z:",
        f"{file('settled.json')}, as seen at 2026-11-30 07:00:00Z:",
    ] == [line for line in ran.out.splitlines() if "as seen" in line]


def test_only_the_apps_that_are_named() -> None:
    ran = run("--app", "blog", "--forecast", file("left-active.json"))
    assert (
        "As seen at 2026-11-30 07:00:00Z:\n"
        "\n"
        "> blog/web (no container): routed to 80/tcp at 32790\n"
        "    why:   not in ACTIVE, but still routed or perhaps routed; the route must go\n"
        "    now:   withdraw its route\n"
        "    then:  forget container 638aca2c8a91\n"
        "    after: not in ACTIVE; its workload is left alone\n"
        "\n"
        "If all goes well:\n"
        "  at 07:00:00Z: blog/web: withdraw its route\n"
        "  at 07:00:00Z: blog/web: forget container 638aca2c8a91\n"
        "  at 07:00:00Z: nothing is left to do or to wait for; 1 service: 1 left alone\n"
        "\n"
        "1 service: 1 would be withdrawn. Nothing was done.\n"
    ) == ran.out
    assert run(file("left-active.json")) == run("--app", "shop", "--app", "blog", file("left-active.json"))


def test_an_app_that_is_nowhere_is_wrong_usage() -> None:
    assert Ran(64, "", "gordon-plan: there is no app 'shoe'; name one of: blog, shop\n") == run(
        "--app", "shoe", file("left-active.json")
    )


# --- json --------------------------------------------------------------------------------------------------------------------


def test_one_plan_as_json_is_a_plan_document() -> None:
    record = read_plan(run("--format", "json", file("down.json")).out)
    assert ["DUE", "SETTLED", "SETTLED"] == [each.situation for each in record.lines]


def test_a_forecast_as_json_is_an_array_of_plans_in_order_of_time() -> None:
    plans = json.loads(run("--format", "json", "--forecast", file("cooling.json")).out)
    assert "2026-11-30T07:00:00Z" == plans[0]["clock"]["wall"]
    assert "2026-11-30T07:09:12Z" == plans[-1]["clock"]["wall"]
    assert {"gordon-plan"} == {each["document"] for each in plans}


def test_several_documents_as_json_are_an_array_in_the_order_in_which_they_were_named() -> None:
    names = ("settled.json", "down.json")
    one_by_one = [json.loads(run("--format", "json", "--forecast", file(each)).out) for each in names]
    assert one_by_one == json.loads(run("--format", "json", "--forecast", *map(file, names)).out)


# --- exit codes --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (("settled.json",), 0),
        (("proving.json",), 0),
        (("down.json",), 2),
        (("superseded.json",), 2),
        (("paused.json",), 3),
        (("cooling.json",), 3),
        (("inhibited.json",), 3),
        (("locked.json",), 3),
        (("down.json", "settled.json"), 2),
        (("settled.json", "paused.json", "down.json"), 3),
    ],
)
def test_the_detailed_exit_code(names: tuple[str, ...], code: int) -> None:
    assert code == run("--detailed-exitcode", *map(file, names)).code
    assert 0 == run(*map(file, names)).code


def test_the_detailed_exit_code_is_about_the_apps_that_are_shown() -> None:
    assert 2 == run("--detailed-exitcode", "--app", "blog", file("left-active.json")).code
    assert 0 == run("--detailed-exitcode", "--app", "shop", file("left-active.json")).code


# --- --now -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("now", ["+252", "2026-11-30T07:04:12Z", "2026-11-30T08:04:12+01:00"])
def test_a_later_time_ends_the_wait(now: str) -> None:
    ran = run("--now", now, "--detailed-exitcode", file("cooling.json"))
    assert 2 == ran.code
    assert ran.out.startswith("As seen at 2026-11-30 07:04:12Z:\n\n> shop/api (bb033baef889): exited (1) 8 min ago; not routed\n")


def test_the_time_of_the_snapshot_itself_changes_nothing() -> None:
    assert run(file("cooling.json")) == run("--now", "2026-11-30T07:00:00Z", file("cooling.json"))


def test_a_time_before_the_snapshot_is_refused() -> None:
    past = f"gordon-plan: {file('down.json')}: --now lies 1 min before this snapshot, and a plan is never made for the past;"
    ran = run("--now", "2026-11-30T06:59:00Z", file("down.json"))
    assert Ran(64, "", f"{past} give a time from 2026-11-30T07:00:00Z on, or +SECONDS\n") == ran


def test_a_time_beyond_all_calendars_is_refused() -> None:
    said = f"gordon-plan: {file('down.json')}: --now leads beyond the year 9999; give an earlier time\n"
    assert Ran(64, "", said) == run("--now", "+1e12", file("down.json"))


@pytest.mark.parametrize("now", ["2026-11-30T07:00:00", "soon", "+", "+inf", "+1h", ""])
def test_what_is_no_time_is_refused(now: str) -> None:
    right = "--now must be a time with its zone like 2026-11-30T07:00:00Z, or seconds to add like +90"
    assert Ran(64, "", f"gordon-plan: {right}; found {now!r}\n") == run("--now", now, file("down.json"))


# --- wrong input -------------------------------------------------------------------------------------------------------------


def test_every_fault_of_every_document_is_told_with_its_file_and_path(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"document": "gordon-snapshot", "version": 1, "clock": 3, "speed": 1}')
    latin = tmp_path / "latin.json"
    latin.write_bytes(b'{"document": "caf\xe9"}')
    ran = run(str(bad), file("settled.json"), str(latin), "-", given=b"[]")
    assert 65 == ran.code
    assert "" == ran.out
    assert [
        f"{bad}: $.clock: must be an object; found 3",
        f"{bad}: $.speed: is not known here; leave it out",
        f"{latin}: $: is not UTF-8 at byte 18; save it as UTF-8, or check that it is the right file",
        '-: $: must be an object that begins with "document": "gordon-snapshot"; found a list',
    ] == ran.err.splitlines()


def test_files_that_cannot_be_read_are_wrong_usage(tmp_path: Path) -> None:
    ran = run(str(tmp_path / "none.json"), str(tmp_path), "-", given=b"[]")
    assert 64 == ran.code
    assert [
        f"{tmp_path}/none.json: cannot be read (No such file or directory); name a snapshot document",
        f"{tmp_path}: cannot be read (Is a directory); name a snapshot document",
        '-: $: must be an object that begins with "document": "gordon-snapshot"; found a list',
    ] == ran.err.splitlines()


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("shop/web", "; of a service tells: gordon-plan explain shop/web"),
        ("shop/web-2.eu", "; of a service tells: gordon-plan explain shop/web-2.eu"),
        ("dumps/host.json", ""),
        ("./shop/web", ""),
        ("shop", ""),
        ("shop/web/1", ""),
    ],
)
def test_a_service_in_place_of_a_document_is_told_what_would_be_right(name: str, right: str) -> None:
    said = f"{name}: cannot be read (No such file or directory); name a snapshot document{right}\n"
    assert Ran(64, "", said) == run(name)


def test_standard_input_can_be_named_once_and_must_be_open() -> None:
    assert Ran(64, "", 'gordon-plan: standard input ("-") can be read only once; name it once\n') == run("-", "-")
    closed = "-: cannot be read (standard input is closed); pipe a document into it, or name a file\n"
    assert Ran(64, "", closed) == shell("plan - <&-")


def test_an_endless_file_is_not_read_to_its_end() -> None:
    ran = run("/dev/zero")
    assert 65 == ran.code
    assert "/dev/zero: $: is larger than 32 MiB, and nothing larger is read; check that it is the right file\n" == ran.err


def test_diagnostics_cannot_steer_the_terminal() -> None:
    ran = run("\x1b[2Jfile.json")
    assert "\\x1b[2Jfile.json: cannot be read (No such file or directory); name a snapshot document\n" == ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--bogus",), "No such option '--bogus'."),
        (("--format", "yaml", file("down.json")), "Invalid value for '--format': 'yaml' is not one of 'text', 'json'."),
        (("--state", "x", file("down.json")), "--state is for the live host, and documents were named; leave one of them out."),
        (("--record", "x", file("down.json")), "--record is for the live host, and documents were named; leave one of them out."),
        (("--now", "+1"), "--now is for documents, and none was named; name one, or leave it out."),
        (
            ("--haproxy", "x", "--routes", "y"),
            "--haproxy and --routes name two routers, and there is one; leave one of them out.",
        ),
    ],
)
def test_wrong_usage_exits_with_64(arguments: tuple[str, ...], said: str) -> None:
    ran = run(*arguments)
    assert 64 == ran.code
    assert ran.err.startswith("Usage: gordon-plan ")
    assert said in ran.err


# --- help, version, completion, imports --------------------------------------------------------------------------------------


def test_help_has_examples() -> None:
    ran = run("--help")
    assert 0 == ran.code
    assert "  gordon-plan --record host.json               record one, for a bug report\n" in ran.out


def test_the_version() -> None:
    assert Ran(0, "gordon-plan 0.1.0\n", "") == run("--version")


def test_shell_completion_works() -> None:
    source = process(_GORDON_PLAN_COMPLETE="bash_source")
    assert 0 == source.code
    assert "_gordon_plan_completion()" in source.out
    options = process(_GORDON_PLAN_COMPLETE="bash_complete", COMP_WORDS="gordon-plan --f", COMP_CWORD="1")
    assert ["plain,--format", "plain,--forecast"] == options.out.splitlines()


WORLD = {"docker", "requests", "urllib3", "sqlite3", "platformdirs", "socket", "gordon_shell.wiring", "gordon_shell.ports"}


def test_help_imports_neither_the_core_nor_the_world() -> None:
    unwanted = WORLD | {"attrs", "attr", "gordon_core"}
    assert set() == imported("--help") & unwanted
    assert "click" in imported("--help")


def test_a_document_needs_no_port() -> None:
    modules = imported("--forecast", file("down.json"))
    assert set() == modules & WORLD
    assert "gordon_core.planner" in modules


MOST_ROOMS, MOST_CLASSES = 36, 67
TOO_MUCH = (
    "a plan of a document loads more than it did, and each module, and each class of attrs, costs it some 0.3 ms. Import what "
    "not every such plan needs where it is used; or raise the bound, if benchmarks/startup.py shows that its goal is far off"
)
NEEDLESS = {
    "asyncio", "concurrent.futures", "dataclasses", "decimal", "difflib", "email", "http", "logging", "multiprocessing", "pprint",
    "random", "socket", "sqlite3", "ssl", "statistics", "subprocess", "tempfile", "tomllib", "unittest", "urllib.request",
}  # fmt: skip


@frozen
class Loaded:
    """What a plan of a document loads beyond click: modules, and how many classes of attrs are ours."""

    modules: frozenset[str]
    classes: int

    def of(self, *packages: str) -> set[str]:
        return {each for each in self.modules if each.partition(".")[0] in packages}


@pytest.fixture(scope="module")
def loaded() -> Loaded:
    """Return what a plan that has to do with everything loads: with commands, roads, a superseded container, and candidates."""
    script = (
        "import sys, click; before = set(sys.modules);"
        "from gordon_shell import cli_common; from gordon_shell.plan_cli import NAME, plan;"
        f"cli_common.run(plan, NAME, {[file('superseded.json'), file('interrupted.json'), file('down.json')]!r});"
        "new = sorted(set(sys.modules) - before);"
        "ours = [value for each in new if each.startswith('gordon_') for value in vars(sys.modules[each]).values()"
        "        if isinstance(value, type) and value.__module__ == each and '__attrs_attrs__' in vars(value)];"
        "print(len(ours), *new, file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, cwd=ROOT, text=True, timeout=60)
    classes, *modules = ran.stderr.split()
    return Loaded(frozenset(modules), int(classes))


def test_a_plan_of_a_document_loads_no_package_but_click_and_attrs(loaded: Loaded) -> None:
    assert set() == loaded.modules - loaded.of("attr", "attrs", "gordon_core", "gordon_shell", *sys.stdlib_module_names)


def test_a_plan_of_a_document_loads_no_part_of_the_standard_library_that_is_slow_to_load(loaded: Loaded) -> None:
    assert set() == loaded.modules & NEEDLESS


def test_a_plan_of_a_document_loads_no_room_that_it_has_no_use_for(loaded: Loaded) -> None:
    rooms = {"blueprint", "grants", "schema", "stages", "verdicts"}
    assert set() == {each for each in loaded.of("gordon_core") if each.split(".")[-1] in rooms or "deploy" in each}


def test_a_plan_of_a_document_loads_no_more_of_ours_than_it_did(loaded: Loaded) -> None:
    assert len(loaded.of("gordon_core", "gordon_shell")) <= MOST_ROOMS, TOO_MUCH
    assert loaded.classes <= MOST_CLASSES, TOO_MUCH


# --- the live host -----------------------------------------------------------------------------------------------------------


def engine_without_containers(request: str) -> Answer:
    if "/containers/json" in request:
        return Answer(200, [])
    return Answer(404, {"message": f"No such container: {ID}"})


def test_without_a_state_nothing_is_done_and_none_is_made(tmp_path: Path) -> None:
    state = tmp_path / "sub" / "state.db"
    ran = run("--state", str(state))
    assert 69 == ran.code
    assert "gordon-shell adopt" in ran.err
    assert ran == run(GORDON_STATE=str(state))
    assert [] == list(tmp_path.iterdir())


def adopted(directory: Path) -> Path:
    state = directory / "state.db"
    store = SqliteStore.open(state, create=True)
    assert Done() == store.activate("shop", "web", Declared(ID, 1, (Port(80),)), 0, None)
    store.close()
    return state


def test_the_live_host_is_looked_at_and_recorded(tmp_path: Path) -> None:
    state, record = adopted(tmp_path), tmp_path / "host.json"
    record.write_text("x" * 100000)
    with fake_daemon(engine_without_containers) as daemon:
        ran = run("--state", str(state), "--record", str(record), "--detailed-exitcode", DOCKER_HOST=daemon.host)
    assert (3, "") == (ran.code, ran.err)
    assert "! shop/web (0123456789ab): gone; not routed\n    why:   gone; never rebuilt by recovery\n" in ran.out
    assert [Gone()] == [each.seen for each in read_snapshot(record.read_bytes()).subjects]
    assert ran.out == run(str(record)).out


def test_a_recording_is_its_owners_and_one_that_cannot_be_written_is_wrong_usage(tmp_path: Path) -> None:
    state, record = adopted(tmp_path), tmp_path / "host.json"
    with fake_daemon(engine_without_containers) as daemon:
        assert 0 == run("--state", str(state), "--record", str(record), DOCKER_HOST=daemon.host).code
        ran = run("--state", str(state), "--record", str(tmp_path), DOCKER_HOST=daemon.host)
    assert 0o600 == stat.S_IMODE(record.stat().st_mode)
    said = f"gordon-plan: {tmp_path}: the snapshot cannot be written (Is a directory); name another file after --record\n"
    assert Ran(64, "", said) == ran


def test_an_engine_out_of_reach_is_told_after_the_plan(tmp_path: Path) -> None:
    ran = run("--state", str(adopted(tmp_path)), "--detailed-exitcode", DOCKER_HOST=f"unix://{tmp_path}/none.sock")
    assert 69 == ran.code
    assert ran.out.endswith("\n1 service: 1 held. Nothing was done.\n")
    assert ran.err.startswith(
        f"gordon-plan: no container could be read: the engine at unix://{tmp_path}/none.sock gave no answer"
    )
    assert 1 == ran.err.count("\n")


def test_a_router_out_of_reach_is_told_after_the_plan(tmp_path: Path) -> None:
    with fake_daemon(engine_without_containers) as daemon:
        ran = run("--state", str(adopted(tmp_path)), "--haproxy", str(tmp_path / "none.sock"), DOCKER_HOST=daemon.host)
    assert 69 == ran.code
    assert ran.err.startswith("gordon-plan: the router could not be read: ")
    assert 1 == ran.err.count("\n")
