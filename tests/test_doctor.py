"""`gordon-shell doctor`: each thing that it finds, with what would put it right; and that it changes nothing."""

import json
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve, field, frozen

from gordon_core.observation import Clock, Port, Protocol
from gordon_core.sentences import duration
from gordon_core.snapshot import Declared
from gordon_shell import doctor, state_checkup
from gordon_shell.errors import DocumentError, EngineError, RouterError, StoreError, UsageError
from gordon_shell.findings import Finding, Severity, failure, lines
from gordon_shell.host_settings import HostSettings, NoticeSettings
from gordon_shell.memory.clock import MemoryClock
from gordon_shell.memory.container import Behaviour
from gordon_shell.ports import About, Ports
from gordon_shell.session import Session, World
from gordon_shell.sqlite_schema import connect
from gordon_shell.wiring import LiveOptions
from tests.shell_worlds import HTTP, Shell
from tests.states import contents

SKEWED = "the wall clock of this host and that of the engine differ by"
CHECKED = Behaviour(checks=(True,))
WELL = [
    "= state: {path} is whole, of version 4",
    "= host policy: there is none; containers may have what they were created with",
    "= clock: this host was booted {ago} ago",
    "= engine: version in memory, API 1.40",
    "= clock: it agrees with the engine's within 2 s",
    "= shop/web: container web-1",
    "= proxy: it answers, and routes 1 of 1 published services",
    "7 findings: all is well.",
]


@pytest.fixture
def web(shell: Shell) -> str:
    """Return the ID of the container of an adopted service shop/web, which serves, and of which nothing is to be said."""
    container_id = shell.container("web-1", HTTP, behaviour=CHECKED)
    shell.adopted(web="web-1")
    shell.clock.advance(10.0)
    shell.run("once")
    return container_id


def bad(shell: Shell) -> list[str]:
    """Return the lines that are neither fine nor about counts."""
    return [each for each in shell.run("doctor").out.splitlines()[:-1] if not each.startswith("=")]


@pytest.mark.usefixtures("web")
def test_where_all_is_well_each_check_says_so_in_one_line(shell: Shell) -> None:
    before = contents(shell.path.parent)
    said = shell.run("doctor")
    assert (0, "") == (said.code, said.err)
    expected = [each.format(path=shell.path, ago=duration(shell.clock.now().boot_s)) for each in WELL]
    assert expected == said.out.splitlines()
    assert before == contents(shell.path.parent)


def test_what_is_wrong_with_a_container_is_a_finding_each(shell: Shell) -> None:
    shell.container(
        "web-1",
        HTTP,
        host_ip="0.0.0.0",  # noqa: S104 - simulated
        restart_policy="always",
        labels=(("gordon.recovery.free_failures", "many"),),
    )
    shell.adopted(web="web-1")
    said = shell.run("doctor")
    assert 1 == said.code
    found = [each for each in said.out.splitlines() if "shop/web" in each]
    told = "Docker restarts it too (restart policy always), past every wait and hold"
    assert f"! shop/web: warning: {told}; to help: docker update --restart no 010101010101" == found[0]
    told = "it has no health check, so that nothing tells when it hangs"
    assert f"~ shop/web: hint: {told}; to help: give its image or its deploy one" == found[1]
    told = "policy label gordon.recovery.free_failures=many is not understood: it must be a whole number from 1 to 1000000"
    assert f"! shop/web: warning: {told}; it is left out; to help: put the label right, and deploy or adopt it anew" == found[2]
    told = "port 80/tcp is bound at 0.0.0.0, past the proxy"
    assert f"! shop/web: warning: {told}; to help: publish it at 127.0.0.1 alone (-p 127.0.0.1::80)" == found[3]
    assert 4 == len(found)
    assert "3 warnings, 1 hint." in said.out


def test_a_hint_alone_is_no_reason_to_fail(shell: Shell) -> None:
    shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    said = shell.run("doctor")
    assert (0, 1) == (said.code, said.out.count("~ "))


@pytest.mark.usefixtures("web")
def test_a_container_that_is_gone_is_an_error(shell: Shell, web: str) -> None:
    shell.engine.delete(web)
    assert ["! shop/web: error: its container 010101010101 is gone; to help: gordon-shell adopt shop web=CONTAINER"] == bad(shell)


@pytest.mark.usefixtures("web")
def test_an_engine_out_of_reach_hides_none_of_the_other_findings(shell: Shell) -> None:
    shell.engine.unreachable("connection refused")
    shell.router.unconfigured.add(("shop", "web"))
    said = shell.run("doctor")
    assert (1, "") == (said.code, said.err)
    (engine, proxy) = [each for each in said.out.splitlines()[:-1] if each.startswith("!")]
    assert "! engine: error: the memory engine gave no answer: connection refused; to help: make it reachable again" == engine
    assert proxy.startswith("! proxy: error: it knows nothing of shop/web at 80/tcp; to help: gordon-shell haproxy-config")


@pytest.mark.usefixtures("web")
def test_a_proxy_out_of_reach_is_an_error(shell: Shell) -> None:
    shell.router.fail_reads = "HAProxy cannot be reached at /run/h.sock (refused); start it"
    assert ["! proxy: error: HAProxy cannot be reached at /run/h.sock (refused); to help: start it"] == bad(shell)


def test_without_a_state_there_is_a_warning_and_the_rest_is_checked(shell: Shell) -> None:
    said = shell.run("doctor")
    assert 1 == said.code
    assert f"! state: warning: there is no state at {shell.path}; to help: gordon-shell adopt" in said.out
    assert "= engine: " in said.out
    assert not shell.path.exists()


@pytest.mark.usefixtures("web")
def test_a_damaged_state_is_an_error_and_the_rest_is_checked(shell: Shell) -> None:
    shell.path.write_bytes(b"no state at all" * 999)
    said = shell.run("doctor")
    assert 1 == said.code
    assert "! state: error: " in said.out
    assert "= engine: " in said.out
    assert "= proxy: it answers, and routes 1 of 0 published services" in said.out


@pytest.mark.usefixtures("web")
def test_the_same_as_a_document(shell: Shell) -> None:
    shell.engine.unreachable("connection refused")
    said = shell.run("doctor", "--format", "json")
    document = json.loads(said.out)
    assert (1, "gordon-doctor", 1) == (said.code, document["document"], document["version"])
    assert {
        "severity": "error",
        "place": "engine",
        "sentence": "the memory engine gave no answer: connection refused",
        "remedy": "make it reachable again",
    } in document["findings"]


# --- the world as a session has it -----------------------------------------------------------------------------------------


@frozen
class _Old:
    """An engine that says something else of itself."""

    real: object
    about_it: About

    def about(self) -> About:
        return self.about_it

    def inspect(self, container_id: str) -> object:
        return self.real.inspect(container_id)  # type: ignore[attr-defined]  # a memory engine


class _Backwards(MemoryClock):
    """A clock whose time since boot goes backwards."""

    def now(self) -> Clock:
        self.advance(0.0)
        self._now = evolve(self._now, boot_s=self._now.boot_s - 1.0)
        return self._now


@frozen
class Doctor:
    """Examines the world of a shell, of which some is different."""

    shell: Shell
    changes: dict[str, object] = field(factory=dict)
    policies: Callable[[], None] = field(default=lambda: None)
    haproxy: Path | None = None
    settings: Callable[[], HostSettings] = HostSettings
    policy: Path | None = None

    def ports(self, options: LiveOptions, /, *, create: bool = False, read_only: bool = False) -> Ports:
        return evolve(self.shell.ports(options, create=create, read_only=read_only), **self.changes)

    def bad(self) -> list[tuple[Severity, str, str]]:
        world = World(
            ports=self.ports,
            policies=lambda _options: self.policies,
            is_watched=False,
            settings=lambda _options: self.settings(),
        )
        options = LiveOptions(state=self.shell.path, haproxy=self.haproxy, policy=self.policy, environment={})
        found = doctor.examine(Session(options, world))
        return [(each.severity, each.place, each.sentence) for each in found if each.severity is not Severity.FINE]


@pytest.mark.usefixtures("web")
@pytest.mark.parametrize(
    ("about", "expected"),
    [
        (About("19.03", "1.39", 0.0), (Severity.ERROR, "engine", "version 19.03 speaks API 1.39, and 1.40 is needed")),
        (About("?", "", 0.0), (Severity.ERROR, "engine", "version ? speaks API , and 1.40 is needed")),
        (About("28.0", "1.48", 90.0), (Severity.WARNING, "clock", SKEWED)),
        (About("28.0", "1.48", -90.0), (Severity.WARNING, "clock", SKEWED)),
    ],
)
def test_an_old_engine_or_one_with_another_clock_is_a_finding(
    shell: Shell, about: About, expected: tuple[Severity, str, str]
) -> None:
    here = shell.clock.now().wall_s
    engine = _Old(shell.engine, evolve(about, wall_s=here + about.wall_s))
    (found,) = Doctor(shell, {"engine": engine}).bad()
    assert expected[:2] == found[:2]
    assert found[2].startswith(expected[2])


@pytest.mark.usefixtures("web")
def test_a_clock_without_a_boot_id_or_that_goes_backwards_is_a_finding(shell: Shell) -> None:
    hidden = MemoryClock(evolve(shell.clock.now(), boot_id="booted-29000000"))
    (found,) = Doctor(shell, {"clock": hidden}).bad()
    assert (Severity.WARNING, "clock") == found[:2]
    assert "ID of this boot cannot be read" in found[2]
    (found,) = Doctor(shell, {"clock": _Backwards(shell.clock.now())}).bad()
    assert (Severity.ERROR, "clock", "the clock that counts from the boot goes backwards") == found


@pytest.mark.usefixtures("web")
def test_a_policy_that_cannot_be_read_is_an_error(shell: Shell) -> None:
    def damaged() -> None:
        message = "policy.toml: not TOML"
        raise DocumentError(message)

    expected = [(Severity.ERROR, "host policy", "policy.toml: not TOML")]
    assert expected == Doctor(shell, policies=damaged).bad()

    def unread() -> HostSettings:
        damaged()
        return HostSettings()

    assert expected == Doctor(shell, policies=damaged, settings=unread).bad()
    assert expected == Doctor(shell, settings=unread).bad()


@pytest.mark.usefixtures("web")
def test_a_command_of_notices_that_cannot_be_run_is_an_error(shell: Shell, tmp_path: Path) -> None:
    command = tmp_path / "page"

    def found() -> list[tuple[Severity, str, str]]:
        return Doctor(shell, settings=lambda: HostSettings(notices=NoticeSettings((str(command), "--urgent")))).bad()

    expected = [(Severity.ERROR, "notices", f"their command {command} cannot be run")]
    assert expected == found()
    command.touch(mode=0o644)
    assert expected == found()
    command.chmod(0o755)
    assert [] == found()


@pytest.mark.usefixtures("web")
def test_a_file_that_holds_a_webhook_and_that_others_may_read_is_a_warning(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.touch(mode=0o600)
    settings = HostSettings(notices=NoticeSettings(webhook="https://hooks.example/secret"))
    assert [] == Doctor(shell, settings=lambda: settings, policy=file).bad()
    file.chmod(0o640)
    told = f"{file} is open to other users, and the address of a webhook in it is a secret"
    assert [(Severity.WARNING, "notices", told)] == Doctor(shell, settings=lambda: settings, policy=file).bad()
    assert [] == Doctor(shell, policy=file).bad()


@pytest.mark.usefixtures("web")
def test_a_socket_that_anybody_may_use_is_a_warning(shell: Shell, tmp_path: Path) -> None:
    socket = tmp_path / "admin.sock"
    socket.touch(mode=0o600)
    assert [] == Doctor(shell, haproxy=socket).bad()
    socket.chmod(0o666)
    (found,) = Doctor(shell, haproxy=socket).bad()
    assert (Severity.WARNING, "proxy", f"anybody on this host may change routes through {socket}") == found
    socket.unlink()
    assert [] == Doctor(shell, haproxy=socket).bad()


@pytest.mark.parametrize(
    ("wrong", "place"), [(EngineError("no such host; set it"), "engine"), (UsageError("two; one"), "options")]
)
def test_what_cannot_even_be_opened_is_a_finding(shell: Shell, wrong: Exception, place: str) -> None:
    def refused(_options: LiveOptions, /, *, create: bool = False, read_only: bool = False) -> Ports:
        del create, read_only
        raise wrong

    world = World(ports=refused, policies=lambda _options: lambda: None)
    session = Session(LiveOptions(state=shell.path, environment={}), world)
    last = doctor.examine(session)[-1]
    assert (Severity.ERROR, place) == (last.severity, last.place)


@pytest.mark.usefixtures("web")
def test_a_store_and_a_container_that_cannot_be_read_are_findings(shell: Shell) -> None:
    class Unreadable:
        def read(self) -> None:
            message = "its disk is gone; put it back"
            raise StoreError(message)

        def close(self) -> None:
            """Do nothing."""

    assert (Severity.ERROR, "state", "its disk is gone") in Doctor(shell, {"store": Unreadable()}).bad()

    class Deaf:
        def about(self) -> About:
            return About("28.0", "1.48", shell.clock.now().wall_s)

        def inspect(self, container_id: str) -> None:
            message = f"{container_id[:4]} gave no answer; try again"
            raise EngineError(message)

    assert [(Severity.ERROR, "shop/web", "0101 gave no answer")] == Doctor(shell, {"engine": Deaf()}).bad()


def test_what_is_named_by_nobody_in_active_or_not_published_is_no_matter_of_the_proxy(shell: Shell) -> None:
    shell.container("db-1", Port(5432), behaviour=CHECKED)
    ports = shell.ports()
    ports.store.set_unproven("lab", "gone", unproven=True)
    ports.store.activate("shop", "db", Declared("01" * 32, 1, (Port(5432), Port(53, Protocol.UDP)), published=False), 0, None)
    ports.store.close()
    shell.router.unconfigured |= {("shop", "db"), ("lab", "gone")}
    assert [] == bad(shell)


# --- the state file --------------------------------------------------------------------------------------------------------


def checked(path: Path, least_free_bytes: int = 0) -> list[str]:
    return [each.sentence for each in state_checkup.examine(path, least_free_bytes) if each.severity is not Severity.FINE]


@pytest.mark.usefixtures("web")
def test_what_is_wrong_with_a_state_file_is_a_finding_each(shell: Shell, tmp_path: Path) -> None:
    assert [] == checked(shell.path)
    shell.path.chmod(0o644)
    assert [f"{shell.path} is open to other users than its owner"] == checked(shell.path)
    shell.path.chmod(0o600)
    (found,) = checked(shell.path, 1 << 62)
    assert "MiB are free where" in found
    (found,) = checked(tmp_path / "state.db" / "below")
    assert "Not a directory" in found


@pytest.mark.usefixtures("web")
def test_a_state_that_is_not_in_wal_mode_is_a_warning(shell: Shell) -> None:
    with closing(connect(shell.path, "mode=rw")) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    assert [f"{shell.path} is not in WAL mode, so that a reader may hold up a writer"] == checked(shell.path)


@pytest.mark.usefixtures("web")
def test_a_state_of_an_older_version_is_said_with_what_brings_it_up_to_date(shell: Shell) -> None:
    with closing(connect(shell.path, "mode=rw")) as connection:
        connection.execute("PRAGMA user_version = 1")
    (found,) = [each for each in state_checkup.examine(shell.path) if each.is_bad]
    assert f"the state at {shell.path} is of the older version 1" == found.sentence
    assert "`gordon-shell once` brings it up to date" == found.remedy


@pytest.mark.usefixtures("web")
def test_a_damaged_page_is_found(shell: Shell) -> None:
    with closing(connect(shell.path, "mode=rw")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(shell.path.read_bytes())
    content[-2048:] = os.urandom(2048)
    content[-4096:-4094] = b"\xff\xff"
    shell.path.write_bytes(bytes(content))
    assert [True] == ["damaged" in each or "malformed" in each for each in checked(shell.path)[:1]]


def test_an_error_without_a_remedy_is_told_as_well() -> None:
    told = failure("engine", EngineError("nothing"))
    assert Finding(Severity.ERROR, "engine", "nothing", "see to it, and check again") == told
    assert ("! engine: error: nothing; to help: see to it, and check again", "1 finding: 1 error.") == lines((told,))
    assert RouterError("a; b").args == ("a; b",)
