"""What `run` tells systemd, Prometheus and readers of JSON lines; and what notices `once`, `run` and `test-notices` send."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from attrs import evolve

from gordon_core.effects import DONE, Fault, Refused
from gordon_core.planner import Plan, plan
from gordon_core.snapshot import Snapshot
from gordon_shell import cli_common
from gordon_shell.crew import InlineCrew
from gordon_shell.diary import as_json
from gordon_shell.host_settings import Address, HostSettings, MetricsSettings, NoticeSettings
from gordon_shell.memory.clock import MemoryClock
from gordon_shell.memory.journal import MemoryJournal
from gordon_shell.metrics import MOST_AT_ONCE, MOST_SERVICES, Metrics, MetricsServer, _Request
from gordon_shell.report import Report
from gordon_shell.sd_notify import Systemd
from gordon_shell.session import Leaving, World
from gordon_shell.shell_cli import NAME, cli
from gordon_shell.sqlite_schema import connect
from gordon_shell.telling import Entry
from tests.core_examples import CLOCK, NOW_S, REFUSED_START, dark, down, good, having, host, remembering
from tests.fake_daemon import Answer, fake_daemon
from tests.haproxy import free_port
from tests.receivers import receiver, script, until
from tests.shell_worlds import HTTP, Ending, Said, Shell

ROOT = Path(__file__).parent.parent


class Place:
    """A gordon-shell with these settings, and a journal, on a host where shop/web runs."""

    def __init__(self, tmp_path: Path, capture: pytest.CaptureFixture[bytes], clock: MemoryClock | None = None) -> None:
        self.shell = Shell(tmp_path / "state.db", capture, clock or MemoryClock())
        self.journal = MemoryJournal()
        self.settings = HostSettings()
        self.shell.container("web-1", HTTP)
        self.shell.adopted(web="web-1")

    def run(self, *words: str) -> Said:
        journal = self.journal if words[0] in {"once", "run"} else None
        world = World(
            ports=self.shell.ports,
            policies=lambda _options: lambda: None,
            crew=InlineCrew,
            is_watched=False,
            journal=lambda _options: _Unclosed(journal) if journal is not None else None,
            settings=lambda _options: self.settings,
        )
        code = cli_common.run(cli, NAME, [*words, "--state", str(self.shell.path)], obj=world)
        out, err = self.shell.capture.readouterr()
        return Said(code, out.decode(), err.decode())


class _Unclosed(MemoryJournal):
    """A journal in memory that the next process opens again."""

    def __init__(self, journal: MemoryJournal) -> None:
        self.__dict__ = journal.__dict__

    def close(self) -> None:
        """Stay."""


@pytest.fixture
def place(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Place:
    return Place(tmp_path, capfdbinary)


# --- systemd -------------------------------------------------------------------------------------------------------------


@contextmanager
def listening(address: str) -> Iterator[Callable[[], list[str]]]:
    """Be systemd at this address; what is yielded returns what was received since it was asked last."""
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as own:
        own.bind(f"\0{address[1:]}" if address.startswith("@") else address)
        own.settimeout(0)

        def received() -> list[str]:
            found: list[str] = []
            while True:
                try:
                    found.append(own.recv(4096).decode())
                except BlockingIOError:
                    return found

        yield received


@pytest.mark.parametrize("abstract", [False, True])
def test_systemd_hears_of_complete_passes_alone(tmp_path: Path, *, abstract: bool) -> None:
    address = f"@gordon-test-{os.getpid()}" if abstract else str(tmp_path / "notify")
    complaints: list[str] = []
    report = Report(plan(host(good())))
    with listening(address) as received:
        systemd = Systemd({"NOTIFY_SOCKET": address}, complaints.append)
        systemd.planned(report.plan, is_whole=True)
        systemd.ended(Report(report.plan, is_whole=False))
        assert [] == received()
        systemd.ended(report)
        assert ["READY=1\nWATCHDOG=1\nSTATUS=1 service: 1 as desired"] == received()
        systemd.ended(report)
        assert ["WATCHDOG=1\nSTATUS=1 service: 1 as desired"] == received()
        systemd.stopping()
        systemd.ended(report)
        assert ["STOPPING=1"] == received()
    assert [] == complaints


def test_where_nobody_listens_that_is_said_once_and_without_systemd_nothing_is(tmp_path: Path) -> None:
    complaints: list[str] = []
    address = str(tmp_path / "nobody")
    systemd = Systemd({"NOTIFY_SOCKET": address}, complaints.append)
    for _ in range(2):
        systemd.ended(Report(plan(host(good()))))
    assert [f"systemd cannot be told at {address} (No such file or directory); recovery goes on"] == complaints
    Systemd({}, complaints.append).stopping()
    assert 1 == len(complaints)


@pytest.mark.parametrize(
    ("microseconds", "is_said"), [("30000000", True), ("300000000", False), ("", False), ("x", False), ("²", False)]
)
def test_a_watchdog_that_no_pass_could_keep_content_is_said(microseconds: str, *, is_said: bool) -> None:
    complaints: list[str] = []
    Systemd({"NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": microseconds}, complaints.append).check(15.0)
    expected = "systemd's watchdog (30 s) leaves no time for passes every 15 s; set WatchdogSec= to five minutes"
    assert [expected] * is_said == complaints


def test_run_is_ready_when_its_first_pass_is_complete_and_says_that_it_ends(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    address = str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    with listening(address) as received:
        assert 0 == Place(tmp_path, capfdbinary, Ending(3)).run("run").code
        first, *between, last = received()
    assert ("READY=1\nWATCHDOG=1\nSTATUS=1 service: 1 as desired", "STOPPING=1") == (first, last)
    assert {"WATCHDOG=1\nSTATUS=1 service: 1 as desired"} == set(between)


def test_a_pass_that_fails_is_not_complete(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    address = str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    place = Place(tmp_path, capfdbinary, Ending(3))
    place.shell.path.write_bytes(b"no state at all")
    with listening(address) as received:
        assert 69 == place.run("run").code
        assert [] == received()


def test_a_process_of_its_own_is_ready_alive_and_gone(place: Place, tmp_path: Path) -> None:
    """All of it at once, over a real socket of systemd's, a real engine socket, and a real command."""
    place.run("once")
    address, got, port = str(tmp_path / "notify"), tmp_path / "got", free_port()
    command = script(tmp_path, f"open({str(got)!r}, 'a').write(sys.stdin.read())")
    (tmp_path / "policy.toml").write_text(f"notices.command = [{command!r}]\nmetrics.listen = '127.0.0.1:{port}'\n")

    def empty(request: str) -> Answer:
        return Answer(200, []) if "/containers/json" in request else Answer(404, {"message": "no such container"})

    with fake_daemon(empty) as daemon, listening(address) as received:
        environment = os.environ | {"NOTIFY_SOCKET": address, "DOCKER_HOST": daemon.host, "GORDON_STATE": str(place.shell.path)}
        words = ("run", "--cadence", "0.2", "--policy", str(tmp_path / "policy.toml"), "--log-format", "json")
        program = (sys.executable, "-m", "gordon_shell.shell_cli", *words)
        with subprocess.Popen(program, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as running:
            heard: list[str] = []

            def is_settled() -> bool:
                heard.extend(received())
                return len(heard) > 2 and got.exists() and got.read_text().endswith("\n")

            until(is_settled, 60.0)
            assert 'gordon_services{situation="GONE"} 1.0' in fetched(port)
            running.send_signal(signal.SIGTERM)
            out, _ = running.communicate(timeout=60)
            heard += received()
    assert 0 == running.returncode
    assert ("READY=1\nWATCHDOG=1\nSTATUS=1 service: 1 gone", "STOPPING=1") == (heard[0], heard[-1])
    assert {"WATCHDOG=1\nSTATUS=1 service: 1 gone"} == set(heard[1:-1])
    assert ("gone", "shop", "web") == tuple(json.loads(got.read_text())[each] for each in ("kind", "app", "service"))
    assert ("GONE", "warning") in {(each.get("situation"), each["level"]) for each in map(json.loads, out.splitlines())}


def test_while_its_first_pass_hangs_a_process_is_not_ready(place: Place, tmp_path: Path) -> None:
    address, hung = str(tmp_path / "notify"), threading.Event()

    def hang(_request: str) -> Answer:
        hung.set()
        return Answer(delay_s=600.0)

    with fake_daemon(hang) as daemon, listening(address) as received:
        environment = os.environ | {"NOTIFY_SOCKET": address, "DOCKER_HOST": daemon.host, "GORDON_STATE": str(place.shell.path)}
        program = (sys.executable, "-m", "gordon_shell.shell_cli", "run")
        with subprocess.Popen(program, cwd=ROOT, env=environment) as running:
            assert hung.wait(60)
            time.sleep(0.5)
            heard = received()
            running.kill()
    assert [] == heard


# --- metrics -------------------------------------------------------------------------------------------------------------


def shown(metrics: Metrics) -> dict[str, float]:
    """Return every sample but those of the process and the histogram's buckets, as `name{label=value,...}`."""
    found: dict[str, float] = {}
    for family in metrics.registry.collect():
        for each in family.samples:
            if each.name.startswith("gordon_") and not each.name.endswith(("_bucket", "_created")):
                labels = ",".join(f"{key}={value}" for key, value in each.labels.items())
                found[f"{each.name}{{{labels}}}" if labels else each.name] = each.value
    return found


def test_before_a_pass_is_complete_the_age_counts_from_the_start() -> None:
    clock = MemoryClock()
    metrics = Metrics(clock)
    clock.advance(40)
    found = shown(metrics)
    assert 40 == found["gordon_last_complete_pass_age_seconds"]
    assert "gordon_last_complete_pass_timestamp_seconds" not in found


def test_everything_that_a_pass_leaves_is_shown() -> None:
    clock = MemoryClock(CLOCK)
    metrics = Metrics(clock)
    cooling = good(having(service="api"), dark, down, remembering(failures=6, charged="x", charged_at_s=NOW_S - 228))
    now = plan(host(good(), cooling))
    starting = plan(host(good(dark, down)))
    for outcome in (DONE, DONE, REFUSED_START):
        metrics.stepped(Snapshot(CLOCK), starting.services[0], outcome, good())
    metrics.stepped(Snapshot(CLOCK), now.services[1], DONE, good())
    metrics.ended(Report(now, took_s=0.5))
    metrics.ended(Report(now, is_whole=False))
    clock.advance(12)
    assert {
        "gordon_last_complete_pass_age_seconds": 12,
        "gordon_last_complete_pass_timestamp_seconds": CLOCK.wall_s,
        "gordon_pass_duration_seconds_count": 1,
        "gordon_pass_duration_seconds_sum": 0.5,
        "gordon_passes_total{kind=whole}": 1,
        "gordon_passes_total{kind=targeted}": 1,
        "gordon_effects_total{effect=record_attempt,outcome=done}": 2,
        "gordon_effects_total{effect=record_attempt,outcome=refused}": 1,
        "gordon_services{situation=COOLING}": 1,
        "gordon_services{situation=SETTLED}": 1,
        "gordon_services_not_shown": 0,
        **{f"gordon_service_state{{app=shop,service=api,state={each}}}": each == "waiting" for each in _STATES},
        **{f"gordon_service_state{{app=shop,service=web,state={each}}}": each == "well" for each in _STATES},
        "gordon_service_serving{app=shop,service=api}": 0,
        "gordon_service_serving{app=shop,service=web}": 1,
        "gordon_service_failures{app=shop,service=api}": 6,
        "gordon_service_failures{app=shop,service=web}": 0,
        "gordon_service_next_try_seconds{app=shop,service=api}": 900 - 228 - 12 - (900 - 480),
        "gordon_service_next_try_seconds{app=shop,service=web}": 0,
    } == shown(metrics)


_STATES = ("well", "waiting", "acting", "held")


def test_however_many_services_there_are_so_many_are_shown_and_all_are_counted() -> None:
    metrics = Metrics(MemoryClock(CLOCK))
    (one,) = plan(host(good())).services
    many = tuple(evolve(one, subject=evolve(one.subject, app=f"app-{each:05}")) for each in range(MOST_SERVICES + 5))
    metrics.ended(Report(Plan(CLOCK, many)))
    found = shown(metrics)
    assert (MOST_SERVICES + 5, 5) == (found["gordon_services{situation=SETTLED}"], found["gordon_services_not_shown"])
    assert MOST_SERVICES == sum(each.startswith("gordon_service_serving{") for each in found)


def test_labels_hold_nothing_that_the_world_says() -> None:
    metrics = Metrics(MemoryClock(CLOCK))
    for number in range(50):
        metrics.stepped(
            Snapshot(CLOCK), plan(host(good(dark, down))).services[0], Refused(f"no {number}", Fault.WORKLOAD), good()
        )
    assert 1 == sum(each.startswith("gordon_effects_total") for each in shown(metrics))


def fetched(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as response:
        return str(response.read().decode())


def test_metrics_are_served_and_a_port_that_is_taken_is_told_once_and_tried_again() -> None:
    complaints: list[str] = []
    metrics, report = Metrics(MemoryClock()), Report(plan(host(good())))
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
        server = MetricsServer(metrics, Address("127.0.0.1", port), complaints.append)
        server.ended(report)
        server.ended(Report(report.plan, is_whole=False))
        server.close()
        assert [f"metrics cannot be shown at 127.0.0.1:{port} (Address already in use); recovery goes on"] == complaints
    server.ended(report)
    assert "# TYPE gordon_passes_total counter" in fetched(port)
    assert "process_resident_memory_bytes" in fetched(port)
    server.ended(report)
    server.close()
    with pytest.raises(OSError, match="refused"):
        fetched(port)


def test_clients_that_ask_nothing_take_up_no_more_than_a_few_threads_and_not_for_long(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_Request, "timeout", 2.0)
    port, before = free_port(), threading.active_count()
    server = MetricsServer(Metrics(MemoryClock()), Address("127.0.0.1", port), print)
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(MOST_AT_ONCE + 4)]
    try:
        until(lambda: threading.active_count() == before + 1 + MOST_AT_ONCE)
        until(lambda: threading.active_count() == before + 1)
        assert "gordon_last_complete_pass_age_seconds" in fetched(port)
    finally:
        for each in idle:
            each.close()
        server.close()
    assert ("", "") == capfd.readouterr()


@pytest.mark.parametrize("by_option", [True, False])
def test_run_shows_metrics_where_that_is_asked_for(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], *, by_option: bool
) -> None:
    port, found = free_port(), list[str]()
    place = Place(tmp_path, capfdbinary, Ending(3, lambda _left: found.append(fetched(port))))
    place.settings = HostSettings(metrics=MetricsSettings(None if by_option else Address("127.0.0.1", port)))
    code, _, err = place.run("run", *(("--metrics", str(port)) if by_option else ()))
    assert (0, "") == (code, err)
    assert 'gordon_service_state{app="shop",service="web",state="well"} 1.0' in found[-1]
    assert 'gordon_effects_total{effect="publish",outcome="done"} 1.0' in found[-1]


def test_an_address_for_metrics_that_is_none_is_wrong_usage(place: Place) -> None:
    ran = place.run("run", "--metrics", "everywhere")
    expected = "gordon-shell: --metrics must be a port, or an IP address and a port, like 127.0.0.1:9475; not 'everywhere'\n"
    assert (64, expected) == (ran.code, ran.err)


# --- JSON lines ----------------------------------------------------------------------------------------------------------


def test_run_prints_json_lines_where_that_is_asked_for(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    def happens(left: int) -> None:
        if left == 4:
            here.shell.engine.kill("01" * 32)
        if left == 2:
            here.shell.engine.delete("01" * 32)

    here = Place(tmp_path, capfdbinary, Ending(6, happens))
    said = here.run("run", "--log-format", "json")
    assert (0, "") == (said.code, said.err)
    lines = [json.loads(each) for each in said.out.splitlines()]
    assert {("time", "level", "app", "service", "event", "words")} == {tuple(each)[:6] for each in lines}
    told = [(each["level"], each["event"], each["app"], each["words"]) for each in lines]
    assert ("info", "step", "shop", "shop/web: start it: done") in told
    assert ("info", "watching", "", "watching 1 service: 1 as desired") in told
    situations = [(each["level"], each["situation"]) for each in lines if each["event"] == "situation"]
    assert ("info", "PROVING") in situations
    assert ("warning", "GONE") in situations
    assert all(each["time"].startswith("2026-01-01T00:0") and each["time"].endswith("Z") for each in lines)


def test_a_line_holds_nothing_that_breaks_it() -> None:
    line = as_json(Entry("step", 'a "word"\nand \x1b[2J another'), CLOCK)
    assert {
        "time": "2026-11-30T07:00:00.000Z",
        "level": "info",
        "app": "",
        "service": "",
        "event": "step",
        "words": 'a "word" and \\x1b[2J another',
    } == json.loads(line)


def test_what_goes_wrong_beside_the_passes_is_json_too(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "nobody"))
    ran = Place(tmp_path, capfdbinary, Ending(2)).run("run", "--log-format", "json")
    (said,) = map(json.loads, ran.err.splitlines())
    assert ("warning", "complaint") == (said["level"], said["event"])
    assert said["words"].startswith("systemd cannot be told at ")


# --- notices -------------------------------------------------------------------------------------------------------------


def test_once_tells_a_crash_once_over_many_processes(place: Place) -> None:
    with receiver(200) as server:
        place.settings = HostSettings(notices=NoticeSettings(webhook=server.url))
        place.run("once")
        place.shell.engine.kill("01" * 32, 3)
        for _ in range(3):
            assert "" == place.run("once").err
            place.shell.clock.advance(120)
    (said,) = [json.loads(body) for _, _, body in server.got]
    assert ("crashed", "shop", "web", 3) == (said["kind"], said["app"], said["service"], said["exit_code"])


def test_run_tells_too_and_says_what_it_could_not_deliver(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    def happens(left: int) -> None:
        if left == 3:
            here.shell.engine.kill("01" * 32)
        if left == 0:
            until(lambda: bool(server.got))

    here = Place(tmp_path, capfdbinary, Ending(6, happens))
    with receiver(503) as server:
        here.settings = HostSettings(notices=NoticeSettings(webhook=server.url))
        ran = here.run("run")
    assert 0 == ran.code
    assert [
        "notices by the webhook at 127.0.0.1: it answered 503; it is tried again",
        "1 notice could not be delivered by the webhook at 127.0.0.1 before the end; kept for the next start",
    ] == ran.err.splitlines()
    assert "crashed" in here.journal.kept("notices.webhook")


def test_notices_can_be_tried(place: Place, tmp_path: Path) -> None:
    command = script(tmp_path, f"open({str(tmp_path / 'got')!r}, 'w').write(sys.stdin.read())")
    with receiver(200, 404) as server:
        place.settings = HostSettings(notices=NoticeSettings((command,), server.url))
        assert (0, f"the command {command}: delivered\nthe webhook at 127.0.0.1: delivered\n", "") == tuple(
            place.run("test-notices")
        )
        assert "test" == json.loads((tmp_path / "got").read_text())["kind"]
        code, out, _ = place.run("test-notices")
    assert 1 == code
    assert str(out).endswith("the webhook at 127.0.0.1: it answered 404, and the notice is lost\n")


def test_where_nobody_is_told_there_is_nothing_to_try(place: Place) -> None:
    code, _, err = place.run("test-notices")
    expected = "gordon-shell: nobody is told of anything; name a command or a webhook in [notices] of the host policy\n"
    assert (64, expected) == (code, err)


def test_farewells_take_no_longer_than_is_left() -> None:
    leaving = Leaving(2.5)
    assert 2.5 == leaving.left_s
    leaving.ask()
    leaving.ask()
    assert 0.2 <= leaving.left_s <= 2.5


# --- the end -------------------------------------------------------------------------------------------------------------

HANGING = """
import sys
from pathlib import Path
from threading import Event
from gordon_shell import cli_common, ending
from gordon_shell.memory.journal import MemoryJournal
from gordon_shell.memory.ports import memory_ports
from gordon_shell.session import World
from gordon_shell.shell_cli import NAME, cli
from gordon_shell.sqlite_schema import connect

class Hanging(MemoryJournal):
    def close(self):
        Event().wait()

ending.PATIENCE_S = 1.5
world = World(lambda _options, **_: memory_ports(), lambda _options: lambda: None, journal=lambda _options: Hanging())
cli_common.run(cli, NAME, ["run"], obj=world)
"""


def test_whatever_the_end_of_run_waits_for_it_is_over_in_time() -> None:
    with subprocess.Popen((sys.executable, "-c", HANGING), cwd=ROOT, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline().endswith(b"watching no services\n")
        began_s = time.monotonic()
        running.send_signal(signal.SIGTERM)
        try:
            assert 0 == running.wait(20)
        finally:
            running.kill()
    assert time.monotonic() - began_s < 10


def test_run_ends_in_time_though_all_hangs_at_once(place: Place, tmp_path: Path) -> None:
    """A command that heeds no signal, a server that does not answer, a client that asks nothing, and a journal under lock."""
    place.run("once")
    begun, port = tmp_path / "begun", free_port()
    body = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); open({str(begun)!r}, 'w').close(); time.sleep(60)"

    def empty(request: str) -> Answer:
        return Answer(200, []) if "/containers/json" in request else Answer(404, {"message": "no such container"})

    with receiver(0) as server, fake_daemon(empty) as daemon:
        settings = f"command = [{script(tmp_path, body)!r}]\nwebhook = {server.url!r}\n"
        (tmp_path / "policy.toml").write_text(f"metrics.listen = '127.0.0.1:{port}'\n[notices]\n{settings}")
        environment = os.environ | {"DOCKER_HOST": daemon.host, "GORDON_STATE": str(place.shell.path)}
        program = (sys.executable, "-m", "gordon_shell.shell_cli", "run", "--policy", str(tmp_path / "policy.toml"))
        with subprocess.Popen(program, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as running:
            until(lambda: begun.exists() and bool(server.got), 60.0)
            with (
                closing(socket.create_connection(("127.0.0.1", port))),
                closing(connect(place.shell.path.with_name("history.db"), "mode=rw")) as lock,
            ):
                lock.execute("BEGIN IMMEDIATE")
                began_s = time.monotonic()
                running.send_signal(signal.SIGTERM)
                _, err = running.communicate(timeout=60)
                took_s = time.monotonic() - began_s
    assert 0 == running.returncode
    assert took_s < 8, err
    for name in (f"the command {tmp_path / 'hook'}", "the webhook at 127.0.0.1"):
        assert f"1 notice could not be delivered by {name} before the end; " in err
    assert "/services/secret" not in err
