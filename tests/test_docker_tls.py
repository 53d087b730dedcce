"""An engine behind TLS, spoken with as the Docker CLI would: real handshakes, before a daemon of ours and a real engine."""

import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gordon_core.observation import Gone, Status
from gordon_shell.docker_engine import DockerEngine
from gordon_shell.errors import EX_UNAVAILABLE, EngineError
from gordon_shell.ports import Details
from tests.engine_fixtures import NEEDS_ENGINE, Containers
from tests.fake_daemon import Answer, fake_daemon
from tests.states import filled
from tests.tls import NEEDS_OPENSSL, Certificates, made_certificates, tls_endpoint

pytestmark = NEEDS_OPENSSL
ROOT = Path(__file__).parent.parent
OWN = "that cert.pem and key.pem in DOCKER_CERT_PATH are there and of an authority that it trusts"
ITS = "see that ca.pem in DOCKER_CERT_PATH is that of its authority, and that its certificate names the host of DOCKER_HOST"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return made_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def daemon() -> Iterator[str]:
    """Return the socket of an engine that has no containers."""
    with fake_daemon(lambda asked: Answer() if "/json?" in asked else Answer(404, {"message": "No such container: x"})) as made:
        yield made.host.removeprefix("unix://")


def environment(port: int, folder: Path, how: str = "DOCKER_TLS_VERIFY") -> dict[str, str]:
    return {"DOCKER_HOST": f"tcp://127.0.0.1:{port}", how: "1", "DOCKER_CERT_PATH": str(folder), "HOME": "/nonesuch"}


def refusal(environ: dict[str, str]) -> str:
    """Return what the error of a read says."""
    with pytest.raises(EngineError) as caught, DockerEngine.from_environment(environ) as engine:
        engine.rows()
    return str(caught.value)


@pytest.mark.parametrize("how", ["DOCKER_TLS_VERIFY", "DOCKER_TLS"])
def test_with_the_right_certificates_everything_goes_through(
    certificates: Certificates, daemon: str, tmp_path: Path, how: str
) -> None:
    with (
        tls_endpoint(certificates, daemon) as port,
        DockerEngine.from_environment(environment(port, certificates.folder(tmp_path / "mine"), how)) as engine,
    ):
        assert ((), Gone()) == (engine.rows(), engine.inspect("x"))


@pytest.mark.parametrize(
    ("name", "folder", "words", "remedy"),
    [
        ("engine", {"authority": "stranger"}, "its certificate is not accepted: ", ITS),
        ("elsewhere", {}, "its certificate is not accepted: IP address mismatch, certificate is not valid for '127.0.0.1'", ITS),
        ("engine", {"client": ""}, " alert ", f"see {OWN}"),
        ("engine", {"client": "stray"}, " alert ", f"see {OWN}"),
    ],
    ids=["an authority of somebody else", "a certificate for another host", "no certificate of ours", "one of somebody else"],
)
def test_a_handshake_that_fails_is_one_sentence_and_69(  # noqa: PLR0913, PLR0917 - fixtures beside what a case is made of
    certificates: Certificates, daemon: str, tmp_path: Path, name: str, folder: dict[str, str], words: str, remedy: str
) -> None:
    filled(tmp_path / "state.db").close()
    with tls_endpoint(certificates, daemon, name=name) as port:
        environ = environment(port, certificates.folder(tmp_path / "mine", **folder))
        host = environ["DOCKER_HOST"]
        sentence = refusal(environ)
        assert sentence.startswith(f"the engine at {host} gave no answer to the list of containers: ")
        assert (True, True) == (words in sentence, sentence.endswith(f"; {remedy}"))
        for program, *more in (("plan_cli",), ("shell_cli", "adopt", "shop", "db=x")):
            command = [sys.executable, "-m", f"gordon_shell.{program}", *more, "--state", str(tmp_path / "state.db")]
            ran = subprocess.run(
                command, check=False, capture_output=True, text=True, cwd=ROOT, env={**os.environ, **environ}, timeout=60
            )
            assert EX_UNAVAILABLE == ran.returncode
            assert 1 == len(ran.stderr.splitlines()), ran.stderr
            assert sentence.replace("the list of containers", "") in ran.stderr.replace("the list of containers", "")


def test_without_verification_whoever_answers_is_believed_and_nothing_is_said_of_it(
    certificates: Certificates, daemon: str, tmp_path: Path
) -> None:
    """DOCKER_TLS alone, as with the CLI."""
    filled(tmp_path / "state.db").close()
    with tls_endpoint(certificates, daemon, name="elsewhere") as port:
        environ = environment(port, certificates.folder(tmp_path / "mine", authority="stranger"), "DOCKER_TLS")
        command = [sys.executable, "-m", "gordon_shell.plan_cli", "--state", str(tmp_path / "state.db")]
        ran = subprocess.run(
            command, check=False, capture_output=True, text=True, cwd=ROOT, env={**os.environ, **environ}, timeout=60
        )
    assert (0, "") == (ran.returncode, ran.stderr)


def test_verification_wins_where_both_are_said(certificates: Certificates, daemon: str, tmp_path: Path) -> None:
    with tls_endpoint(certificates, daemon, name="elsewhere") as port:
        environ = environment(port, certificates.folder(tmp_path / "mine")) | {"DOCKER_TLS": "1"}
        assert "its certificate is not accepted" in refusal(environ)


def test_a_command_that_could_not_be_sent_is_unknown(certificates: Certificates, daemon: str, tmp_path: Path) -> None:
    with tls_endpoint(certificates, daemon) as port:
        environ = environment(port, certificates.folder(tmp_path / "mine", client=""))
        with DockerEngine.from_environment(environ) as engine:
            outcome = engine.start("x")
    assert "Unknown" == type(outcome).__name__
    assert " alert " in str(outcome)


@pytest.mark.parametrize("how", ["DOCKER_TLS_VERIFY", "DOCKER_TLS"])
@pytest.mark.parametrize("file", ["ca.pem", "cert.pem", "key.pem"])
def test_a_file_that_is_no_certificate_or_key_is_named(certificates: Certificates, tmp_path: Path, file: str, how: str) -> None:
    folder = certificates.folder(tmp_path / "mine")
    (folder / file).write_text("no PEM")
    sentence = refusal(environment(1, folder, how))
    assert str(folder / file) in sentence
    assert sentence.endswith("; put files in PEM form there, and a key without a password that fits")


def test_a_key_that_does_not_fit_or_wants_a_password_is_named_and_nobody_is_asked(
    certificates: Certificates, tmp_path: Path
) -> None:
    folder = certificates.folder(tmp_path / "mine")
    key = folder / "key.pem"
    key.write_bytes(certificates.key("stray").read_bytes())
    assert f"{folder}/cert.pem with {key} cannot be used: key values mismatch" in refusal(environment(1, folder))
    locked = ("openssl", "pkcs8", "-topk8", "-passout", "pass:secret", "-in", str(certificates.key("client")), "-out", str(key))
    subprocess.run(locked, check=True, capture_output=True)
    assert f"{folder}/cert.pem with {key} cannot be used: " in refusal(environment(1, folder))


def test_a_certificate_without_its_key_is_none(certificates: Certificates, daemon: str, tmp_path: Path) -> None:
    folder = certificates.folder(tmp_path / "mine")
    (folder / "key.pem").unlink()
    with tls_endpoint(certificates, daemon) as port:
        assert refusal(environment(port, folder)).endswith(OWN)


def test_an_endpoint_without_tls_is_told_from_one_that_does_not_answer(certificates: Certificates, tmp_path: Path) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Plain) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.02,))
        serving.start()
        sentence = refusal(environment(server.server_port, certificates.folder(tmp_path / "mine")))
        server.shutdown()
        serving.join()
    assert sentence.endswith(
        ": wrong version number; it speaks no TLS there; name the port where it does, or unset DOCKER_TLS_VERIFY and DOCKER_TLS"
    )


class Plain(http.server.BaseHTTPRequestHandler):
    """An HTTP server that has never heard of TLS."""

    def log_message(self, *_: object) -> None:
        pass


def test_an_endpoint_with_tls_that_is_asked_without_says_so() -> None:
    """In the words of an engine."""
    answer = Answer(400, b"Client sent an HTTP request to an HTTPS server.\n")
    with fake_daemon(lambda _: answer) as plain:
        sentence = refusal({"DOCKER_HOST": plain.host})
    assert sentence.endswith(
        "answered 400 to the list of containers: Client sent an HTTP request to an HTTPS server; "
        "it speaks TLS there; set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH"
    )


class TestTheRealEngine:
    """The same endpoint before a real engine."""

    pytestmark = NEEDS_ENGINE

    def test_it_is_listed_inspected_and_commanded(
        self, certificates: Certificates, containers: Containers, tmp_path: Path
    ) -> None:
        made = containers.create()
        environ_of = certificates.folder(tmp_path / "mine")
        with (
            tls_endpoint(certificates, containers.host.removeprefix("unix://")) as port,
            DockerEngine.from_environment(environment(port, environ_of)) as engine,
        ):
            assert made in [each.container_id for each in engine.rows()]
            assert "Done" == type(engine.start(made)).__name__
            seen = engine.inspect(made)
            assert isinstance(seen, Details)
            assert Status.RUNNING is seen.container.status
            assert "Done" == type(engine.stop(made, 0.0)).__name__

    def test_a_container_is_adopted_and_served_by_the_commands(
        self, certificates: Certificates, containers: Containers, tmp_path: Path
    ) -> None:
        web = containers.run_web("hello")
        with tls_endpoint(certificates, containers.host.removeprefix("unix://")) as port:
            environ = environment(port, certificates.folder(tmp_path / "mine"))
            for words in (["adopt", "shop", f"web={web}"], ["once"], ["status", "--detailed-exitcode"]):
                command = [sys.executable, "-m", "gordon_shell.shell_cli", *words, "--state", str(tmp_path / "state.db")]
                ran = subprocess.run(
                    command, check=False, capture_output=True, text=True, cwd=ROOT, env={**os.environ, **environ}, timeout=120
                )
                assert (0, "") == (ran.returncode, ran.stderr), words
        assert "= shop/web" in ran.stdout
