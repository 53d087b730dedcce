"""How DockerEngine speaks with an engine, and what it makes of every kind of answer and silence."""

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from urllib.parse import unquote

import pytest

from gordon_core.blueprint import Blueprint
from gordon_core.effects import Done, Fault, Outcome, Refused, Unknown
from gordon_core.observation import Gone
from gordon_shell.docker_endpoint import Endpoint
from gordon_shell.docker_engine import DockerEngine, Timeouts
from gordon_shell.docker_failures import Failure, blame
from gordon_shell.errors import EX_UNAVAILABLE, EngineError
from gordon_shell.events import Event, Happened
from tests.fake_daemon import Answer, Daemon, fake_daemon
from tests.haproxy import short_directory

ID = "4f2a" * 16
PATIENT = Timeouts(10.0, 10.0)
HASTY = Timeouts(0.2, 0.2, 0.2)
CALLS: dict[str, Callable[[DockerEngine], Outcome]] = {
    "start": lambda engine: engine.start(ID),
    "stop": lambda engine: engine.stop(ID, 0.0),
    "restart": lambda engine: engine.restart(ID, 0.0),
    "remove": lambda engine: engine.remove(ID),
    "rename": lambda engine: engine.rename(ID, "n"),
    "create": lambda engine: engine.create("n", Blueprint("i"), {}),
    "pull": lambda engine: engine.pull("i"),
}


def said(status: int, words: str) -> Callable[[str], Answer]:
    return lambda _: Answer(status, {"message": words})


def refusing(status: int, words: str, reading: Answer) -> Callable[[str], Answer]:
    return lambda request: reading if request.startswith("GET") else Answer(status, {"message": words})


@pytest.fixture
def opened() -> Iterator[Callable[[Daemon | str, Timeouts], DockerEngine]]:
    engines: list[DockerEngine] = []

    def open_at(where: Daemon | str, timeouts: Timeouts = PATIENT) -> DockerEngine:
        engines.append(DockerEngine(Endpoint(where if isinstance(where, str) else where.host), timeouts))
        return engines[-1]

    yield open_at
    for each in engines:
        each.close()


Opened = Callable[..., DockerEngine]


def test_the_list_is_one_request(opened: Opened) -> None:
    with fake_daemon(lambda _: Answer()) as daemon:
        assert () == opened(daemon).rows()
    assert 1 == len(daemon.requests)
    assert daemon.requests[0].startswith("GET /v1.40/containers/json?")
    assert "all=1" in daemon.requests[0]


def test_commands_name_the_exact_container_their_grace_and_no_volumes(opened: Opened) -> None:
    with fake_daemon(lambda _: Answer(204, b"")) as daemon:
        engine = opened(daemon)
        outcomes = [engine.start(ID), engine.stop(ID, 7.2), engine.restart(ID, 0.0), engine.remove(ID)]
    assert [Done()] * 4 == outcomes
    expected = [
        f"POST /v1.40/containers/{ID}/start",
        f"POST /v1.40/containers/{ID}/stop?t=8",
        f"POST /v1.40/containers/{ID}/restart?t=0",
        f"DELETE /v1.40/containers/{ID}?v=False&link=False&force=False",
    ]
    assert expected == daemon.requests


@pytest.mark.parametrize("verb", ["start", "stop"])
def test_not_modified_is_done(opened: Opened, verb: str) -> None:
    with fake_daemon(lambda _: Answer(304, b"")) as daemon:
        assert Done() == CALLS[verb](opened(daemon))


@pytest.mark.parametrize(
    ("status", "words", "fault"),
    [
        (404, "No such container: 4f2a", Fault.CONFLICT),
        (409, "cannot start a paused container, try unpause instead", Fault.CONFLICT),
        (409, "removal of container 4f2a is already in progress", Fault.CONFLICT),
        (
            500,
            "driver failed programming external connectivity: Bind for 127.0.0.1:80 failed: port is already allocated",
            Fault.WORKLOAD,
        ),
        (400, 'OCI runtime create failed: exec: "nonesuch": executable file not found in $PATH: unknown', Fault.WORKLOAD),
        (400, "invalid mount config for type bind: bind source path does not exist: /gone", Fault.WORKLOAD),
        (404, "network n1 not found", Fault.WORKLOAD),
        (500, "dockerd is shutting down", Fault.ENGINE),
        (
            500,
            'connection error: desc = "transport: Error while dialing dial unix:///run/containerd/containerd.sock"',
            Fault.ENGINE,
        ),
        (500, "mkdir /var/lib/docker/overlay2/x: no space left on device", Fault.ENGINE),
        (500, "failed to create shim task: context deadline exceeded: unknown", Fault.ENGINE),
        (500, "context canceled", Fault.ENGINE),
        (500, "driver failed: (iptables failed: iptables -t nat: No chain/target/match by that name.)", Fault.ENGINE),
        (500, "no available IPv4 addresses on this network's address pools: n1", Fault.ENGINE),
        (500, "cannot stop container: tried to kill container, but did not receive an exit event", Fault.ENGINE),
        (502, "bad gateway", Fault.ENGINE),
        (503, "service unavailable", Fault.ENGINE),
        (403, "authorization denied by plugin", Fault.ENGINE),
        (429, "too many requests", Fault.ENGINE),
    ],
)
def test_a_refusal_keeps_the_words_and_the_status_and_says_whose_fault_it_is(
    opened: Opened, status: int, words: str, fault: Fault
) -> None:
    with fake_daemon(refusing(status, words, Answer(200, {"Config": {"Env": ["PASSWORD=hunter22"]}}))) as daemon:
        assert Refused(f"{words} (the engine answered {status})", fault) == opened(daemon).start(ID)


@pytest.mark.parametrize("verb", ["start", "restart"])
def test_a_refusal_that_quotes_the_command_shows_no_value_of_the_environment(opened: Opened, verb: str) -> None:
    words = 'OCI runtime create failed: exec: "hunter22": executable file not found in $PATH: unknown'
    with fake_daemon(refusing(400, words, Answer(200, {"Config": {"Env": ["PASSWORD=hunter22"]}}))) as daemon:
        outcome = CALLS[verb](opened(daemon))
    veiled = words.replace("hunter22", "[PASSWORD]")
    assert Refused(f"{veiled} (the engine answered 400)", Fault.WORKLOAD) == outcome


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(500, {"message": "out of order"}), "the engine refused; its words are withheld, since the container"),
        (Answer(404, {"message": "No such container: 4f2a"}), 'exec: "hunter22" (the engine answered 400)'),
    ],
)
def test_words_about_a_container_that_cannot_be_read_are_withheld(opened: Opened, answer: Answer, expected: str) -> None:
    with fake_daemon(refusing(400, 'exec: "hunter22"', answer)) as daemon:
        outcome = opened(daemon).start(ID)
    assert isinstance(outcome, Refused)
    assert (Fault.WORKLOAD, True) == (outcome.fault, outcome.reason.startswith(expected))


def test_every_status_is_somebodys_fault() -> None:
    expected = {Fault.WORKLOAD, Fault.CONFLICT, Fault.ENGINE}
    assert expected == {blame(Failure(status, "whatever")) for status in range(1, 1000)}


def test_a_refusal_without_json_keeps_its_text(opened: Opened) -> None:
    with fake_daemon(lambda _: Answer(502, b"<h1>Bad\n  Gateway</h1>")) as daemon:
        assert Refused("<h1>Bad Gateway</h1> (the engine answered 502)", Fault.ENGINE) == opened(daemon).start(ID)


def test_removing_what_is_gone_is_done_and_another_404_is_not(opened: Opened) -> None:
    with fake_daemon(said(404, f"No such container: {ID}")) as daemon:
        assert Done() == opened(daemon).remove(ID)
    with fake_daemon(said(404, "page not found")) as daemon:
        assert isinstance(opened(daemon).remove(ID), Refused)


def test_only_the_engines_own_word_makes_a_container_gone(opened: Opened) -> None:
    with fake_daemon(said(404, f"No such container: {ID}")) as daemon:
        assert Gone() == opened(daemon).inspect(ID)
    for status, words in ((404, "page not found"), (500, f"No such container: {ID}")):
        with fake_daemon(said(status, words)) as daemon, pytest.raises(EngineError, match=f"answered {status} to .*{words}"):
            opened(daemon).inspect(ID)


@pytest.mark.parametrize("call", CALLS)
def test_a_command_without_an_answer_is_unknown_and_is_sent_once(opened: Opened, call: str) -> None:
    with fake_daemon(lambda _: Answer(204, b"", delay_s=120.0)) as daemon:
        before_s = time.monotonic()
        outcome = CALLS[call](opened(daemon, HASTY))
        assert 60.0 > time.monotonic() - before_s
        while not daemon.requests:  # it may be taken up later than it was given up
            time.sleep(0.01)
    assert Unknown(f"the engine at {daemon.host} did not answer the {call}: no answer in time") == outcome
    assert 1 == len(daemon.requests)


@pytest.mark.parametrize("call", ["stop", "restart"])
def test_a_command_is_given_its_grace_on_top(opened: Opened, call: str) -> None:
    with fake_daemon(lambda _: Answer(204, b"", delay_s=2.0)) as daemon:
        engine = opened(daemon, HASTY)
        patient = engine.stop if call == "stop" else engine.restart
        assert isinstance(patient(ID, 0.0), Unknown)
        assert Done() == patient(ID, 60.0)


def test_a_read_without_an_answer_is_an_error_with_a_remedy(opened: Opened) -> None:
    with fake_daemon(lambda _: Answer(delay_s=120.0)) as daemon:
        with pytest.raises(EngineError, match="no answer in time") as caught:
            opened(daemon, HASTY).rows()
        while not daemon.requests:
            time.sleep(0.01)
    expected = (
        f"the engine at {daemon.host} gave no answer to the list of containers: no answer in time; "
        "see that it runs, and that DOCKER_HOST or the Docker context names it"
    )
    assert expected == str(caught.value)
    assert EX_UNAVAILABLE == caught.value.exit_code
    assert 1 == len(daemon.requests)


@pytest.mark.parametrize(
    "body", [b"", b"not JSON", b"{}", b'[{"Id": 5}]', b"[7]", b'[{"Labels": []}, {"Ports": "80"}]', b"\xff\xfe", b"null"]
)
def test_an_answer_that_no_engine_gives_is_an_error(opened: Opened, body: bytes) -> None:
    with fake_daemon(lambda _: Answer(200, body)) as daemon, pytest.raises(EngineError):
        opened(daemon).rows()


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("unix:///nonesuch/docker.sock", "no such file or directory"),
        ("unix:///etc/hostname", "connection refused"),
        ("tcp://127.0.0.1:1", "connection refused"),
    ],
)
def test_an_engine_that_is_not_there_is_silence(opened: Opened, host: str, words: str) -> None:
    engine = opened(host)
    with pytest.raises(EngineError, match=f"the engine at {host} gave no answer to the list of containers: {words}; "):
        engine.rows()
    assert Unknown(f"the engine at {host} did not answer the start: {words}") == engine.start(ID)


@pytest.mark.parametrize("host", ["gopher://x", "tcp://", "npipe:////./pipe/docker_engine"])
def test_an_address_that_cannot_be_used_is_an_error_at_once(opened: Opened, host: str) -> None:
    with pytest.raises(EngineError, match=f"the engine address {host} cannot be used: .*; put DOCKER_HOST"):
        opened(host)


def modern(request: str) -> Answer:
    """Answer as an engine whose oldest API version is 1.44."""
    if "/v1.44/" in request:
        return Answer(200 if request.startswith("GET") else 204, [] if request.startswith("GET") else b"")
    words = "client version 1.40 is too old. Minimum supported API version is 1.44, please upgrade your client to a newer version"
    return Answer(400, {"message": words})


def test_an_engine_that_is_too_new_for_our_version_is_spoken_to_in_its_oldest_from_then_on(opened: Opened) -> None:
    with fake_daemon(modern) as daemon:
        engine = opened(daemon)
        assert Done() == engine.start(ID)
        assert () == engine.rows()
    assert ["/v1.40/", "/v1.44/", "/v1.44/"] == [each.split(" ")[1][:7] for each in daemon.requests]


def test_an_engine_that_insists_is_not_asked_for_ever(opened: Opened) -> None:
    words = "client version 1.40 is too old. Minimum supported API version is 1.44, please upgrade"
    with fake_daemon(said(400, words)) as daemon, pytest.raises(EngineError, match=words):
        opened(daemon).rows()
    assert 2 == len(daemon.requests)


def test_docker_py_is_imported_only_with_an_engine() -> None:
    code = "import sys, gordon_shell.docker_engine; print({'docker', 'requests', 'urllib3'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "set()\n" == done.stdout


# --- events --------------------------------------------------------------------------------------------------------------------


def told(action: str, container_id: str = ID, at_ns: int = 7) -> bytes:
    whole = {"Type": "container", "Action": action, "Actor": {"ID": container_id, "Attributes": {}}, "timeNano": at_ns}
    return json.dumps(whole).encode() + b"\n"


def test_events_are_asked_for_by_name_and_read_line_by_line(opened: Opened) -> None:
    said = told("die") + told("health_status: unhealthy") + b"\n" + told("start", "b" * 64, 9)
    with fake_daemon(lambda _: Answer(body=said)) as daemon, closing(opened(daemon).events()) as stream:
        assert [
            Event(ID, Happened.DIED, 7), Event(ID, Happened.HEALTH, 7), Event("b" * 64, Happened.STARTED, 9)
        ] == list(stream)  # fmt: skip
    (request,) = (unquote(each) for each in daemon.requests)
    assert request.startswith("GET /v1.40/events?filters=")
    assert {"type": ["container"], "event": sorted(each.value for each in Happened)} == json.loads(
        request.partition("filters=")[2].replace("+", " ")
    )


def test_what_was_not_asked_for_is_passed_over(opened: Opened) -> None:
    said = told("exec_create: sh -c true") + told("die", "") + told("pause")
    with fake_daemon(lambda _: Answer(body=said)) as daemon, closing(opened(daemon).events()) as stream:
        assert [Event(ID, Happened.PAUSED, 7)] == list(stream)


def test_a_stream_that_says_nothing_for_too_long_ends(opened: Opened) -> None:
    with socket.socket(socket.AF_UNIX) as listener, short_directory() as directory:
        listener.bind(f"{directory}/s")
        listener.listen()

        def speak() -> None:
            with listener.accept()[0] as client:
                client.recv(4096)
                client.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                line = told("die")
                client.sendall(f"{len(line):x}\r\n".encode() + line + b"\r\n")
                over.wait(60)

        over = threading.Event()
        speaker = threading.Thread(target=speak)
        speaker.start()
        with closing(opened(f"unix://{directory}/s", Timeouts(silence_s=0.3)).events()) as stream:
            begun_s = time.monotonic()
            assert [Event(ID, Happened.DIED, 7)] == list(stream)
            assert 0.25 < time.monotonic() - begun_s < 30.0
        over.set()
        speaker.join(60)


def test_a_stream_that_breaks_in_the_middle_says_so(opened: Opened) -> None:
    said = told("die") + b'{"Type": "cont'
    with fake_daemon(lambda _: Answer(body=said)) as daemon, closing(opened(daemon).events()) as stream:
        assert Event(ID, Happened.DIED, 7) == next(stream)
        with pytest.raises(EngineError, match=r"the engine at unix://\S+ gave no answer to the request for its events: "):
            next(stream)


def test_an_engine_that_refuses_its_events_is_told_in_its_words(opened: Opened) -> None:
    with fake_daemon(said(403, "events are not allowed here")) as daemon:
        engine = opened(daemon)
        with pytest.raises(EngineError, match=r"answered 403 to the request for its events: events are not allowed here; "):
            engine.events()


def test_events_of_an_engine_that_is_not_there_are_an_error(opened: Opened) -> None:
    engine = opened("unix:///nonesuch/docker.sock")
    with pytest.raises(EngineError, match=r"to the request for its events: no such file or directory; see that it runs"):
        engine.events()


def test_events_are_asked_for_in_the_version_that_the_engine_still_serves(opened: Opened) -> None:
    words = "client version 1.40 is too old. Minimum supported API version is 1.44, please upgrade"

    def respond(request: str) -> Answer:
        return Answer(400, {"message": words}) if "/v1.40/" in request else Answer(body=told("die"))

    with fake_daemon(respond) as daemon, closing(opened(daemon).events()) as stream:
        assert [Event(ID, Happened.DIED, 7)] == list(stream)
