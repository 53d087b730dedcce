"""The systemd units of examples/: their commands exist, and they say what recovery needs of them."""

import os
import re
import subprocess
import sys
import tomllib
from configparser import ConfigParser
from pathlib import Path

import pytest

from gordon_core.policy import DEFAULT_POLICY, TIMER_CADENCE_S
from gordon_shell.errors import EX_DATAERR, EX_TEMPFAIL, EX_USAGE
from gordon_shell.sd_notify import Systemd
from gordon_shell.shell_cli import _LONGEST_S as LONGEST_CADENCE_S
from gordon_shell.state_path import default_state_path

ROOT = Path(__file__).parent.parent
UNITS = ROOT / "examples" / "systemd"
SERVICES = ("gordon-shell.service", "gordon-once.service")


def unit(name: str) -> ConfigParser:
    """Read a unit strictly: a key twice in a section is an error here, though systemd allows it for lists."""
    parser = ConfigParser(interpolation=None, strict=True, delimiters=("=",), comment_prefixes=("#",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # keys of units are case-sensitive
    parser.read_string((UNITS / name).read_text())
    return parser


def test_these_are_the_units() -> None:
    assert sorted(each.name for each in UNITS.iterdir()) == sorted((*SERVICES, "gordon-once.timer"))


@pytest.mark.parametrize(("name", "arguments"), [("gordon-shell.service", ["run"]), ("gordon-once.service", ["once"])])
def test_the_command_of_a_unit_is_one_of_ours(name: str, arguments: list[str]) -> None:
    program, *rest = unit(name)["Service"]["ExecStart"].split()
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert Path(program).is_absolute()
    assert Path(program).name in scripts
    assert arguments == rest


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.skipif(not (ROOT / "gordon_shell" / "shell_cli.py").exists(), reason="gordon-shell is not written yet")
def test_the_command_of_a_unit_is_understood(name: str) -> None:
    _, *arguments = unit(name)["Service"]["ExecStart"].split()
    program = "from gordon_shell.shell_cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments, "--help"], check=False, capture_output=True, text=True, cwd=ROOT
    )
    assert (0, "") == (ran.returncode, ran.stderr)


def test_run_is_started_again_unless_that_cannot_help() -> None:
    service = unit("gordon-shell.service")["Service"]
    assert service["Restart"] == "on-failure"
    assert service["RestartPreventExitStatus"] == f"{EX_USAGE} {EX_DATAERR} {EX_TEMPFAIL}"
    assert unit("gordon-shell.service")["Unit"]["StartLimitIntervalSec"] == "0"


def test_run_is_ready_and_alive_by_complete_passes() -> None:
    """`run` says so itself (gordon_shell/sd_notify.py); the watchdog leaves time for several passes, and for one that is slow."""
    service = unit("gordon-shell.service")["Service"]
    assert service["Type"] == "notify"
    assert "NotifyAccess" not in service
    (minutes,) = re.fullmatch(r"(\d+)min", service["WatchdogSec"]).groups()  # type: ignore[union-attr]  # None fails the test
    complaints: list[str] = []
    told = {"NOTIFY_SOCKET": "/run/systemd/notify", "WATCHDOG_USEC": str(int(minutes) * 60_000_000)}
    Systemd(told, complaints.append).check(LONGEST_CADENCE_S)
    assert [] == complaints
    assert service["TimeoutStartSec"] == service["WatchdogSec"]
    assert service["WatchdogSignal"] == "SIGKILL"


def test_run_has_the_time_that_it_takes_to_end() -> None:
    """It ends within 10 seconds."""
    assert unit("gordon-shell.service")["Service"]["KillSignal"] == "SIGTERM"
    assert float(unit("gordon-shell.service")["Service"]["TimeoutStopSec"]) > 10


def test_a_pass_is_started_by_the_timer_alone() -> None:
    service = unit("gordon-once.service")
    assert service["Service"]["Type"] == "oneshot"
    assert "Restart" not in service["Service"]
    assert not service.has_section("Install")


def test_the_timer_keeps_the_stable_window_whole() -> None:
    timer = unit("gordon-once.timer")["Timer"]
    (minutes,) = re.fullmatch(r"\*:0/(\d+)", timer["OnCalendar"]).groups()  # type: ignore[union-attr]  # None fails the test
    (accuracy,) = re.fullmatch(r"(\d+)s", timer["AccuracySec"]).groups()  # type: ignore[union-attr]  # None fails the test
    assert int(minutes) * 60 == TIMER_CADENCE_S
    assert int(minutes) * 60 + int(accuracy) < DEFAULT_POLICY.longest_gap_s
    assert timer["Persistent"] == "true"
    assert timer["Unit"] == "gordon-once.service"


@pytest.mark.parametrize("name", SERVICES)
def test_neither_engine_nor_proxy_takes_recovery_down_with_it(name: str) -> None:
    section = unit(name)["Unit"]
    assert section["After"] == "docker.service haproxy.service"
    assert not {"Requires", "BindsTo", "PartOf", "Requisite"} & set(section)


@pytest.mark.parametrize("name", SERVICES)
def test_state_is_readable_by_its_owner_only(name: str) -> None:
    service = unit(name)["Service"]
    assert (service["StateDirectory"], service["StateDirectoryMode"], service["UMask"]) == ("gordon", "0700", "0077")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has its state where the units keep it")
@pytest.mark.parametrize("name", SERVICES)
def test_state_is_where_the_commands_of_root_look_for_it(name: str) -> None:
    assert default_state_path().parent == Path("/var/lib") / unit(name)["Service"]["StateDirectory"]


@pytest.mark.parametrize("name", SERVICES)
def test_hardening_hides_no_path_that_a_container_may_mount(name: str) -> None:
    service = unit(name)["Service"]
    assert service["ProtectSystem"] == "strict"
    assert service["ProtectHome"] == "read-only"
    assert service["NoNewPrivileges"] == "yes"
    assert not {"PrivateTmp", "PrivateDevices", "InaccessiblePaths", "TemporaryFileSystem", "ProcSubset"} & set(service)


def test_both_services_are_hardened_alike() -> None:
    run, once = (dict(unit(name)["Service"]) for name in SERVICES)
    own = {"Type", "ExecStart", "Restart", "RestartSec", "RestartPreventExitStatus", "OOMScoreAdjust", "TimeoutStartSec"}
    own |= {"WatchdogSec", "WatchdogSignal"}
    assert {key: run[key] for key in run.keys() - own} == {key: once[key] for key in once.keys() - own}


def test_the_services_talk_to_the_sockets_they_need() -> None:
    for name in SERVICES:
        assert unit(name)["Service"]["RestrictAddressFamilies"].split() == ["AF_UNIX", "AF_INET", "AF_INET6"]
