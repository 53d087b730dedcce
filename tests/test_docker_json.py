"""What is read from the engine's JSON: one inspect as an engine gave it, and deviations from it."""

from copy import deepcopy

import pytest

from gordon_core.observation import (
    Container,
    Exit,
    Health,
    HealthStatus,
    Port,
    PortBinding,
    ProbeResult,
    Protocol,
    Status,
)
from gordon_shell import docker_json
from gordon_shell.docker_json import ENDLESS_GRACE_S, NEVER
from gordon_shell.ports import About, Details, Mount, Row

ID = "4f2a" * 16
EVERYWHERE = "0.0.0.0"  # noqa: S104 - read, not bound
STARTED = "2026-11-30T10:12:21.417260281Z"
ENDED = "2026-11-30T10:12:25.017260281Z"
STATE = {
    "Status": "running", "Running": True, "Paused": False, "Restarting": False, "OOMKilled": False, "Dead": False, "Pid": 4711,
    "ExitCode": 0, "Error": "", "StartedAt": STARTED, "FinishedAt": NEVER,
}  # fmt: skip
INSPECTED = {
    "Id": ID,
    "Name": "/shop-web-1",
    "State": STATE,
    "HostConfig": {"RestartPolicy": {"Name": "always", "MaximumRetryCount": 0}, "Devices": [{"PathOnHost": "/dev/null"}]},
    "Mounts": [
        {"Type": "bind", "Source": "/srv/pages", "Destination": "/www", "Mode": "ro", "RW": False},
        {"Type": "volume", "Name": "cache", "Source": "/var/lib/docker/volumes/cache/_data", "RW": True},
        {"Type": "bind", "Source": "/srv/up", "Destination": "/up", "Mode": "", "RW": True},
    ],
    "Config": {"Labels": {"app": "shop"}, "StopTimeout": 30},
    "NetworkSettings": {
        "Ports": {
            "443/tcp": None,
            "80/tcp": [{"HostIp": "127.0.0.1", "HostPort": "32768"}],
            "53/udp": [{"HostIp": EVERYWHERE, "HostPort": "5353"}, {"HostIp": "::", "HostPort": "5353"}],
            "9/sctp": [{"HostIp": EVERYWHERE, "HostPort": "9"}],
        }
    },
}
WEB = PortBinding(Port(80), "127.0.0.1", 32768)
DNS = (PortBinding(Port(53, Protocol.UDP), EVERYWHERE, 5353), PortBinding(Port(53, Protocol.UDP), "::", 5353))


def container(**state: object) -> Container:
    answer = deepcopy(INSPECTED)
    answer["State"] = {**STATE, **state}
    return docker_json.details(answer).container


def health(**fields: object) -> Health:
    return container(Health=fields).health


def result(start: str, code: int, output: str = "") -> dict[str, object]:
    return {"Start": start, "End": start, "ExitCode": code, "Output": output}


def test_an_inspect_of_a_container_that_runs() -> None:
    expected = Details(
        Container(ID, Status.RUNNING, STARTED, Health(), (*DNS, WEB), None, "shop-web-1"),
        (Mount("/srv/pages", read_only=True), Mount("/srv/up", read_only=False)),
        ("/dev/null",),
        30.0,
        {"app": "shop"},
        "always",
    )
    assert expected == docker_json.details(INSPECTED)


@pytest.mark.parametrize(
    "missing", [{}, {"State": None, "Config": None, "HostConfig": None, "NetworkSettings": None, "Mounts": None}]
)
def test_what_the_engine_leaves_out_or_null_has_its_zero_value(missing: dict[str, object]) -> None:
    assert Details(Container(ID, Status.UNKNOWN)) == docker_json.details({"Id": ID, **missing})


@pytest.mark.parametrize(("timeout", "expected"), [(None, 10.0), (0, 0.0), (1, 1.0), (-1, ENDLESS_GRACE_S)])
def test_the_stop_timeout_is_the_grace(timeout: int | None, expected: float) -> None:
    assert expected == docker_json.details({**INSPECTED, "Config": {"StopTimeout": timeout}}).stop_grace_s


@pytest.mark.parametrize("status", [each for each in Status if each is not Status.UNKNOWN])
def test_the_engines_words_for_the_status(status: Status) -> None:
    assert status is container(Status=status.value).status


@pytest.mark.parametrize("word", ["", "initialized", "Running"])
def test_any_other_word_is_unknown(word: str) -> None:
    assert Status.UNKNOWN is container(Status=word).status


def test_a_zero_time_is_no_time() -> None:
    created = container(Status="created", StartedAt=NEVER, FinishedAt=NEVER)
    assert ("", None) == (created.started_at, created.exit)


def test_an_end_is_read_with_all_that_is_said_of_it() -> None:
    ended = container(Status="exited", ExitCode=137, OOMKilled=True, FinishedAt=ENDED)
    assert Exit(137, oom_killed=True, finished_at=ENDED) == ended.exit
    assert Exit(finished_at=ENDED) == container(Status="exited", FinishedAt=ENDED).exit


def test_a_start_that_was_refused_has_an_end_without_a_time() -> None:
    refused = container(Status="created", StartedAt=NEVER, ExitCode=128, Error="port is already allocated")
    assert Exit(128, error="port is already allocated") == refused.exit


@pytest.mark.parametrize("status", ["running", "paused"])
def test_the_end_before_this_execution_is_not_its_end(status: str) -> None:
    assert container(Status=status, ExitCode=1, FinishedAt=ENDED).exit is None


def test_one_that_restarts_shows_the_end_of_its_last_execution() -> None:
    assert Exit(3, finished_at=ENDED) == container(Status="restarting", ExitCode=3, FinishedAt=ENDED).exit


def test_a_health_log_is_read_newest_last_with_the_engines_names_of_its_entries() -> None:
    log = [result("t1", 0), result("t2", 1, "no\n"), result("t3", -1, "Health check exceeded timeout (1s)")]
    seen = health(Status="unhealthy", FailingStreak=2, Log=log)
    expected = (ProbeResult("t1", 0), ProbeResult("t2", 1, "no\n"), ProbeResult("t3", -1, "Health check exceeded timeout (1s)"))
    assert Health(HealthStatus.UNHEALTHY, 2, expected) == seen
    assert expected[1:] == seen.failures()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"Status": "healthy", "FailingStreak": 0, "Log": [result("t1", 0)]}, HealthStatus.HEALTHY),
        ({"Status": "healthy", "FailingStreak": 1, "Log": [result("t1", 1)]}, HealthStatus.HEALTHY),
        ({"Status": "starting", "FailingStreak": 0, "Log": []}, HealthStatus.STARTING),
        ({"Status": "none", "FailingStreak": 0, "Log": None}, HealthStatus.NONE),
        ({"Status": "better", "FailingStreak": 0, "Log": None}, HealthStatus.UNREAD),
    ],
)
def test_the_engines_words_for_health(fields: dict[str, object], expected: HealthStatus) -> None:
    assert expected is health(**fields).status


@pytest.mark.parametrize(
    "fields",
    [
        {"Status": "", "FailingStreak": 0, "Log": None},
        {"FailingStreak": 0},
        {"Status": "unhealthy", "FailingStreak": 0, "Log": []},
        {"Status": "unhealthy", "FailingStreak": 0, "Log": None},
    ],
    ids=["empty", "no word", "unhealthy without a failure", "unhealthy, null log"],
)
def test_a_check_without_a_result_of_this_execution_is_starting(fields: dict[str, object]) -> None:
    assert HealthStatus.STARTING is health(**fields).status
    assert () == health(**fields).failures()


def test_a_container_without_a_check_has_no_health() -> None:
    assert Health() == container(Health=None).health
    assert Health() == container().health


LISTED = {
    "Id": ID,
    "Names": ["/proxy/web", "/shop-web-1"],
    "State": "running",
    "Status": "Up 3 hours (healthy)",
    "Ports": [
        {"IP": "127.0.0.1", "PrivatePort": 80, "PublicPort": 32768, "Type": "tcp"},
        {"PrivatePort": 443, "Type": "tcp"},
        {"IP": "::", "PrivatePort": 53, "PublicPort": 5353, "Type": "udp"},
        {"IP": EVERYWHERE, "PrivatePort": 53, "PublicPort": 5353, "Type": "udp"},
    ],
    "Labels": {"app": "shop"},
}


def test_a_row_says_the_same_as_an_inspect() -> None:
    row = Row(ID, "shop-web-1", Status.RUNNING, "Up 3 hours (healthy)", HealthStatus.HEALTHY, (*DNS, WEB), {"app": "shop"})
    assert (row,) == docker_json.rows([LISTED])


@pytest.mark.parametrize(
    ("text", "status", "expected"),
    [
        ("Up 3 hours (healthy)", Status.RUNNING, HealthStatus.HEALTHY),
        ("Up 2 seconds (unhealthy)", Status.RUNNING, HealthStatus.UNHEALTHY),
        ("Up Less than a second (health: starting)", Status.RUNNING, HealthStatus.STARTING),
        ("Up About an hour", Status.RUNNING, HealthStatus.NONE),
        ("Up 2 minutes (Paused)", Status.RUNNING, HealthStatus.UNREAD),
        ("Up 2 minutes (Paused)", Status.PAUSED, HealthStatus.UNREAD),
        ("Exited (0) 3 hours ago", Status.EXITED, HealthStatus.UNREAD),
        ("", Status.RUNNING, HealthStatus.UNREAD),
        ("seit 3 Stunden", Status.RUNNING, HealthStatus.UNREAD),
    ],
)
def test_health_is_read_from_a_text_that_can_be_read(text: str, status: Status, expected: HealthStatus) -> None:
    assert expected is docker_json.health_in(text, status)


@pytest.mark.parametrize(
    "answer", [None, 7, "x", {}, [], {"Id": ""}, {"Id": 5}, {"Id": ID, "State": []}, {"Id": ID, "State": {"ExitCode": "1"}}]
)
def test_what_is_no_container_is_refused(answer: object) -> None:
    with pytest.raises(ValueError, match=r" is a | must |length"):
        docker_json.details(answer)


@pytest.mark.parametrize("port", ["", "0", "65536", "x", "-1", "٣"])
def test_a_host_port_that_is_none_is_no_binding(port: str) -> None:
    ports = {"80/tcp": [{"HostIp": "127.0.0.1", "HostPort": port}]}
    assert () == docker_json.details({"Id": ID, "NetworkSettings": {"Ports": ports}}).container.ports


def test_an_engine_says_its_versions_and_its_time_with_nine_digits_and_a_zone() -> None:
    told = docker_json.about({"Version": "28.1.1", "ApiVersion": "1.49"}, {"SystemTime": "2026-11-30T09:00:00.250000001+02:00"})
    assert About("28.1.1", "1.49", 1796022000.25) == told


@pytest.mark.parametrize("info", [{}, {"SystemTime": "noon"}, []])
def test_what_is_no_description_of_an_engine_is_refused(info: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        docker_json.about({"Version": "28.1.1", "ApiVersion": "1.49"}, info)
