"""How DockerEngine makes, names and fetches, against answers that no engine gives on demand."""

import json
import time
from collections.abc import Callable, Iterator

import pytest

from gordon_core.blueprint import Blueprint, Setting, Variable
from gordon_core.effects import Done, Fault, Refused, Unknown
from gordon_core.observation import Gone
from gordon_shell.docker_endpoint import Endpoint
from gordon_shell.docker_engine import DockerEngine, Timeouts
from gordon_shell.docker_failures import Failure
from gordon_shell.docker_pull import pull_blame
from gordon_shell.errors import EngineError
from gordon_shell.ports import Details
from tests.fake_daemon import Answer, Daemon, fake_daemon

ID = "4f2a" * 16
IMAGE = "shop/web:2"
SECRET = Variable("TOKEN", "hunter2")
ENDED = {"status": "Status: Downloaded newer image for shop/web:2"}
PATIENT = Timeouts(10.0, 10.0, 10.0)
Opened = Callable[..., DockerEngine]


@pytest.fixture
def opened() -> Iterator[Opened]:
    engines: list[DockerEngine] = []

    def open_at(daemon: Daemon, timeouts: Timeouts = PATIENT) -> DockerEngine:
        engines.append(DockerEngine(Endpoint(daemon.host), timeouts))
        return engines[-1]

    yield open_at
    for each in engines:
        each.close()


def said(status: int, words: str) -> Answer:
    return Answer(status, {"message": words})


def told(*lines: object) -> Answer:
    return Answer(200, "".join(f"{json.dumps(each)}\r\n" for each in lines).encode())


@pytest.mark.parametrize(
    ("reference", "query"),
    [
        ("shop/web", "fromImage=shop%2Fweb&tag=latest"),
        ("shop/web:2", "fromImage=shop%2Fweb&tag=2"),
        ("host:5000/web", "fromImage=host%3A5000%2Fweb&tag=latest"),
        (f"web@sha256:{ID}", f"fromImage=web&tag=sha256%3A{ID}"),
    ],
)
def test_a_pull_asks_for_one_tag_and_never_for_all(opened: Opened, reference: str, query: str) -> None:
    with fake_daemon(lambda _: told({"status": "Pulling from shop/web"}, {}, ENDED)) as daemon:
        assert Done() == opened(daemon).pull(reference)
    assert [f"POST /v1.40/images/create?{query}"] == daemon.requests


def test_an_error_in_the_middle_of_a_good_answer_is_found(opened: Opened) -> None:
    words = "failed to register layer: write /x: no space left on device"
    with fake_daemon(lambda _: told({"status": "Pulling"}, {"errorDetail": {"message": words}, "error": words}, ENDED)) as daemon:
        assert Refused(words, Fault.ENGINE) == opened(daemon).pull(IMAGE)
    with fake_daemon(lambda _: told({"errorDetail": {"message": "manifest unknown"}})) as daemon:
        assert Refused("manifest unknown", Fault.WORKLOAD) == opened(daemon).pull(IMAGE)


@pytest.mark.parametrize("body", [b"", b'{"status":"Pulling"}\r\n', b'{"status":"Status: Down', b"[]\r\n"])
def test_an_answer_that_breaks_off_says_nothing(opened: Opened, body: bytes) -> None:
    with fake_daemon(lambda _: Answer(200, body)) as daemon:
        outcome = opened(daemon).pull(IMAGE)
    assert isinstance(outcome, Unknown)
    assert outcome.reason.startswith(f"the engine at {daemon.host} did not answer the pull: ")


def test_a_pull_has_its_own_patience(opened: Opened) -> None:
    def slow(_: str) -> Answer:
        return Answer(200, json.dumps(ENDED).encode(), delay_s=0.6)

    with fake_daemon(slow) as daemon:
        assert Done() == opened(daemon, Timeouts(0.1, 0.1, 10.0)).pull(IMAGE)
        before_s = time.monotonic()
        outcome = opened(daemon, Timeouts(10.0, 10.0, 0.2)).pull(IMAGE)
    assert Unknown(f"the engine at {daemon.host} did not answer the pull: no answer in time") == outcome
    assert 5.0 > time.monotonic() - before_s


@pytest.mark.parametrize(
    ("status", "words", "fault"),
    [
        (500, 'Get "http://127.0.0.1:5999/v2/": dial tcp 127.0.0.1:5999: connect: connection refused', Fault.REGISTRY),
        (500, 'Get "https://r.example/v2/": dial tcp: lookup r.example: no such host', Fault.REGISTRY),
        (500, 'Get "https://r.example/v2/": dial tcp: lookup r.example on 192.0.2.1:53: server misbehaving', Fault.REGISTRY),
        (500, 'Get "https://r.example/v2/": net/http: TLS handshake timeout', Fault.REGISTRY),
        (500, 'Get "https://r.example/v2/": context deadline exceeded (Client.Timeout exceeded)', Fault.REGISTRY),
        (500, 'Get "https://r.example/v2/": dial tcp 192.0.2.1:443: i/o timeout', Fault.REGISTRY),
        (500, "dial tcp 192.0.2.1:443: connect: no route to host", Fault.REGISTRY),
        (500, 'Get "https://r.example/v2/": EOF', Fault.REGISTRY),
        (500, "received unexpected HTTP status: 503 Service Unavailable", Fault.REGISTRY),
        (500, "toomanyrequests: You have reached your pull rate limit.", Fault.REGISTRY),
        (
            200,
            'failed to do request: Head "https://r.example/v2/x": dial tcp 192.0.2.1:443: connect: connection refused',
            Fault.REGISTRY,
        ),
        (404, "manifest for shop/web:2 not found: manifest unknown: manifest unknown", Fault.WORKLOAD),
        (404, "pull access denied for shop/web, repository does not exist or may require 'docker login'", Fault.WORKLOAD),
        (500, "unauthorized: authentication required", Fault.WORKLOAD),
        (500, 'Head "https://r.example/v2/x": no basic auth credentials', Fault.WORKLOAD),
        (200, "no matching manifest for linux/arm64/v8 in the manifest list entries", Fault.WORKLOAD),
        (400, "invalid reference format", Fault.WORKLOAD),
        (404, "whatever", Fault.WORKLOAD),
        (200, "failed to register layer: no space left on device", Fault.ENGINE),
        (500, 'connection error: desc = "transport: Error while dialing: connection refused"', Fault.ENGINE),
        (500, 'Get "https://r.example/v2/": http: server gave HTTP response to HTTPS client', Fault.ENGINE),
        (500, "whatever", Fault.ENGINE),
    ],
)
def test_a_refused_pull_says_whose_fault_it_is(status: int, words: str, fault: Fault) -> None:
    assert fault is pull_blame(Failure(status, words), IMAGE)


def test_the_name_of_the_image_is_no_evidence() -> None:
    assert Fault.ENGINE is pull_blame(Failure(500, "cannot fetch shop/timeout-unknown:1"), "shop/timeout-unknown:1")


@pytest.mark.parametrize("reference", ["http://r.example/web", "-bad.example/web"])
def test_a_name_that_cannot_be_one_is_refused_without_an_engine(opened: Opened, reference: str) -> None:
    with fake_daemon(lambda _: told(ENDED)) as daemon:
        outcome = opened(daemon).pull(reference)
    assert ([], Fault.WORKLOAD) == (daemon.requests, outcome.fault) if isinstance(outcome, Refused) else pytest.fail(str(outcome))


def test_what_an_engine_says_of_a_variable_does_not_show_its_value(opened: Opened) -> None:
    blueprint = Blueprint(IMAGE, environment=(SECRET,))
    with fake_daemon(lambda _: said(400, "invalid environment variable: TOKEN=hunter2")) as daemon:
        expected = Refused("invalid environment variable: TOKEN=[TOKEN] (the engine answered 400)", Fault.WORKLOAD)
        assert expected == opened(daemon).create("n", blueprint, {})


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (Setting("Memory", "{"), "the setting Memory is no JSON (.*); write it as the engine has it"),
        (
            Setting("RestartPolicy", '{"Name":"always"}'),
            "the setting RestartPolicy is not one that a deploy can carry; leave it out",
        ),
        (Setting("Aliases", "[]"), "the setting Aliases is a list, not a dict"),
    ],
)
def test_a_setting_that_cannot_be_carried_is_refused_and_nothing_is_sent(opened: Opened, setting: Setting, words: str) -> None:
    with fake_daemon(lambda _: Answer(201, {"Id": ID})) as daemon:
        outcome = opened(daemon).create("n", Blueprint(IMAGE, settings=(setting,)), {})
    assert [] == daemon.requests
    with pytest.raises(ValueError, match=words):
        raise ValueError(outcome.reason if isinstance(outcome, Refused) and outcome.fault is Fault.WORKLOAD else str(outcome))


def half_made(removal: Answer) -> Callable[[str], Answer]:
    """Answer as an engine that makes a container and cannot connect it to its second network."""

    def respond(request: str) -> Answer:
        if request.startswith("DELETE"):
            return removal
        return said(404, "network n2 not found") if "/connect" in request else Answer(201, {"Id": ID})

    return respond


def test_a_container_that_cannot_be_connected_is_removed_again(opened: Opened) -> None:
    blueprint = Blueprint(IMAGE, networks=("n1", "n2"))
    with fake_daemon(half_made(Answer(204, b""))) as daemon:
        expected = Refused("network n2 not found (the engine answered 404)", Fault.WORKLOAD)
        assert expected == opened(daemon).create("n", blueprint, {})
    requests = [
        "POST /v1.40/containers/create?name=n",
        "POST /v1.40/networks/n2/connect",
        f"DELETE /v1.40/containers/{ID}?v=True&link=False&force=True",
    ]
    assert requests == daemon.requests


def test_one_that_cannot_be_removed_again_is_named(opened: Opened) -> None:
    with fake_daemon(half_made(said(500, "device or resource busy"))) as daemon:
        outcome = opened(daemon).create("n", Blueprint(IMAGE, networks=("n1", "n2")), {})
    assert isinstance(outcome, Refused)
    assert outcome.reason.endswith("; and 4f2a4f2a4f2a, made for this, could not be removed again: device or resource busy")


def test_a_creation_without_an_answer_is_unknown(opened: Opened) -> None:
    with fake_daemon(lambda _: Answer(201, {})) as daemon:
        assert isinstance(opened(daemon).create("n", Blueprint(IMAGE), {}), Unknown)


def test_the_own_name_is_given_already_and_another_400_is_not(opened: Opened) -> None:
    with fake_daemon(lambda _: said(400, "Renaming a container with the same name as its current name")) as daemon:
        assert Done() == opened(daemon).rename(ID, "n")
    with fake_daemon(lambda _: said(400, "Invalid container name (!)")) as daemon:
        expected = Refused("Invalid container name (!) (the engine answered 400)", Fault.WORKLOAD)
        assert expected == opened(daemon).rename(ID, "!")


def test_force_is_said_to_the_engine_and_volumes_stay(opened: Opened) -> None:
    with fake_daemon(lambda _: Answer(204, b"")) as daemon:
        assert Done() == opened(daemon).remove(ID, force=True)
    assert [f"DELETE /v1.40/containers/{ID}?v=False&link=False&force=True"] == daemon.requests


@pytest.mark.parametrize(
    ("status", "words"), [(404, "no such image: x: No such image: x:latest"), (400, "no such image: X: invalid reference format")]
)
def test_an_image_is_gone_only_by_the_engines_own_word(opened: Opened, status: int, words: str) -> None:
    with fake_daemon(lambda _: said(status, words)) as daemon:
        assert Gone() == opened(daemon).image("x")
    for other in ((404, "page not found"), (500, words)):
        with fake_daemon(lambda _, answer=other: said(*answer)) as daemon, pytest.raises(EngineError, match="of the image x"):
            opened(daemon).image("x")


def test_a_container_whose_image_was_taken_away_tells_all_that_it_has(opened: Opened) -> None:
    config = {"Image": IMAGE, "Cmd": ["serve"], "Env": ["A=1"]}

    def respond(request: str) -> Answer:
        if "/images/" in request:
            return said(404, "No such image: sha256:1")
        return Answer(200, {"Id": ID, "Image": "sha256:1", "Config": config} if "/containers/" in request else {})

    with fake_daemon(respond) as daemon:
        found = opened(daemon).made(ID)
    assert not isinstance(found, Gone)
    assert ("sha256:1", ("serve",), (Variable("A", "1"),)) == (
        found.image_id,
        found.blueprint.command,
        found.blueprint.environment,
    )


def test_an_inspection_shows_no_value_of_a_variable_in_what_a_health_check_or_an_end_says() -> None:
    log = [
        {"Start": "1", "ExitCode": 1, "Output": "hunter2 is wrong"},
        {"Start": "2", "ExitCode": -1, "Output": "Health check exceeded timeout (3s): hunter2"},
        {"Start": "3", "ExitCode": 0, "Output": ""},
    ]
    health = {"Status": "unhealthy", "FailingStreak": 2, "Log": log}
    state = {"Status": "exited", "ExitCode": 1, "Error": "cannot run hunter2", "Health": health}
    whole = {"Id": ID, "State": state, "Config": {"Env": ["TOKEN=hunter2", "CHECK=Health"]}}
    with fake_daemon(lambda _: Answer(200, whole)) as daemon:
        engine = DockerEngine(Endpoint(daemon.host), PATIENT)
        found = engine.inspect(ID)
        engine.close()
    assert isinstance(found, Details)
    container = found.container
    said = ["[TOKEN] is wrong", "Health check exceeded timeout (3s): [TOKEN]", ""]
    assert said == [each.output for each in container.health.results]
    assert [True, True, True] == [each.is_evidence() for each in container.health.results]
    assert "cannot run [TOKEN]" == (container.exit.error if container.exit is not None else "")
