"""Where the engine is looked for, as the Docker CLI does."""

import hashlib
import json
from pathlib import Path

import pytest

from gordon_shell.docker_endpoint import API_VERSION, DEFAULT_HOST, Endpoint, Tls, endpoint
from gordon_shell.errors import EngineError

HOST = "tcp://10.0.0.7:2376"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / ".docker").mkdir()
    return tmp_path


def add_context(home: Path, name: str, *, host: str = "unix:///run/other.sock", certificates: tuple[str, ...] = ()) -> Path:
    key = hashlib.sha256(name.encode()).hexdigest()
    file = home / ".docker/contexts/meta" / key / "meta.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"Name": name, "Endpoints": {"docker": {"Host": host, "SkipTLSVerify": False}}}))
    folder = home / ".docker/contexts/tls" / key / "docker"
    for each in certificates:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / each).write_text("")
    return folder


def use_context(home: Path, name: str) -> None:
    (home / ".docker/config.json").write_text(json.dumps({"currentContext": name}))


def test_with_nothing_said_it_is_the_socket(home: Path) -> None:
    assert Endpoint(DEFAULT_HOST, None, API_VERSION) == endpoint({"HOME": str(home)})


def test_docker_host_wins_over_every_context(home: Path) -> None:
    use_context(home, "other")
    assert Endpoint(HOST) == endpoint({"HOME": str(home), "DOCKER_HOST": HOST, "DOCKER_CONTEXT": "other"})


def test_an_empty_docker_host_is_none(home: Path) -> None:
    assert Endpoint() == endpoint({"HOME": str(home), "DOCKER_HOST": ""})


def test_the_context_in_use_is_spoken_to(home: Path) -> None:
    add_context(home, "other")
    use_context(home, "other")
    assert Endpoint("unix:///run/other.sock") == endpoint({"HOME": str(home)})


def test_docker_context_wins_over_the_context_in_use_and_may_be_the_default(home: Path) -> None:
    add_context(home, "third", host="unix:///run/third.sock")
    use_context(home, "other")
    assert Endpoint("unix:///run/third.sock") == endpoint({"HOME": str(home), "DOCKER_CONTEXT": "third"})
    assert Endpoint() == endpoint({"HOME": str(home), "DOCKER_CONTEXT": "default"})


def test_docker_config_names_another_directory(home: Path) -> None:
    add_context(home, "other")
    use_context(home, "other")
    assert Endpoint("unix:///run/other.sock") == endpoint({"HOME": "/nonesuch", "DOCKER_CONFIG": str(home / ".docker")})


def test_a_context_has_its_own_certificates(home: Path) -> None:
    folder = add_context(home, "other", host=HOST, certificates=("ca.pem", "cert.pem", "key.pem"))
    expected = Tls(True, str(folder / "ca.pem"), str(folder / "cert.pem"), str(folder / "key.pem"))  # noqa: FBT003
    assert Endpoint(HOST, expected) == endpoint({"HOME": str(home), "DOCKER_CONTEXT": "other"})


def test_tls_is_verified_with_the_certificates_of_the_cert_path(tmp_path: Path) -> None:
    for each in ("ca.pem", "cert.pem", "key.pem"):
        (tmp_path / each).write_text("")
    environ = {"DOCKER_HOST": HOST, "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": str(tmp_path)}
    expected = Tls(True, str(tmp_path / "ca.pem"), str(tmp_path / "cert.pem"), str(tmp_path / "key.pem"))  # noqa: FBT003
    assert Endpoint(HOST, expected) == endpoint(environ)


@pytest.mark.parametrize("text", ["0", "no", "false"])
def test_any_text_at_all_switches_verification_on(home: Path, text: str) -> None:
    (home / ".docker/ca.pem").write_text("")
    tls = endpoint({"HOME": str(home), "DOCKER_HOST": HOST, "DOCKER_TLS_VERIFY": text}).tls
    assert Tls(True, str(home / ".docker/ca.pem")) == tls  # noqa: FBT003


@pytest.mark.parametrize(
    ("files", "own"), [((), False), (("cert.pem",), False), (("key.pem",), False), (("cert.pem", "key.pem"), True)]
)
def test_docker_tls_alone_verifies_nobody_and_a_certificate_without_its_key_is_none(
    tmp_path: Path,
    files: tuple[str, ...],
    own: bool,  # noqa: FBT001 - a case
) -> None:
    for each in ("ca.pem", *files):
        (tmp_path / each).write_text("")
    pair = (str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")) if own else ("", "")
    tls = endpoint({"DOCKER_HOST": HOST, "DOCKER_TLS": "1", "DOCKER_CERT_PATH": str(tmp_path)}).tls
    assert Tls(False, str(tmp_path / "ca.pem"), *pair) == tls  # noqa: FBT003


@pytest.mark.parametrize("how", ["DOCKER_TLS", "DOCKER_TLS_VERIFY"])
def test_with_tls_and_no_docker_host_the_engine_is_at_the_tls_port_of_this_host(tmp_path: Path, how: str) -> None:
    (tmp_path / "ca.pem").write_text("")
    found = endpoint({how: "1", "DOCKER_CERT_PATH": str(tmp_path), "HOME": str(tmp_path)})
    assert ("tcp://localhost:2376", True) == (found.host, found.tls is not None)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("tcp://10.0.0.7", "tcp://10.0.0.7:2375"),
        ("tcp://[fd00::7]", "tcp://[fd00::7]:2375"),
        ("10.0.0.7", "tcp://10.0.0.7:2375"),
        (" tcp://10.0.0.7:2376 ", "tcp://10.0.0.7:2376"),
        ("tcp://[fd00::7]:2376", "tcp://[fd00::7]:2376"),
        ("10.0.0.7:2376", "10.0.0.7:2376"),
        ("unix:///run/docker.sock", "unix:///run/docker.sock"),
        ("ssh://me@there", "ssh://me@there"),
        ("tcp://there/under", "tcp://there/under"),
    ],
)
def test_an_address_without_a_port_means_the_cli_s_own(said: str, meant: str) -> None:
    assert meant == endpoint({"DOCKER_HOST": said}).host


def test_a_cert_path_alone_switches_nothing_on(tmp_path: Path) -> None:
    assert Endpoint(HOST) == endpoint({"DOCKER_HOST": HOST, "DOCKER_CERT_PATH": str(tmp_path), "DOCKER_TLS_VERIFY": ""})


@pytest.mark.parametrize("how", ["DOCKER_TLS", "DOCKER_TLS_VERIFY"])
def test_tls_without_an_authority_says_what_is_missing_and_where(tmp_path: Path, how: str) -> None:
    environ = {"DOCKER_HOST": HOST, how: "1", "DOCKER_CERT_PATH": str(tmp_path)}
    with pytest.raises(EngineError, match=f"{tmp_path}/ca.pem is not there; .*DOCKER_CERT_PATH"):
        endpoint(environ)


def test_an_api_version_may_be_set(home: Path) -> None:
    assert "1.44" == endpoint({"HOME": str(home), "DOCKER_API_VERSION": "1.44"}).api_version


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"Endpoints": {"docker": {}}}', '{"Endpoints": {"docker": 5}}'])
def test_a_context_that_cannot_be_read_is_an_error_that_names_it(home: Path, content: str) -> None:
    add_context(home, "other")
    next((home / ".docker/contexts/meta").iterdir()).joinpath("meta.json").write_text(content)
    with pytest.raises(EngineError, match=r"the Docker context other cannot be read from .*meta\.json; choose another"):
        endpoint({"HOME": str(home), "DOCKER_CONTEXT": "other"})


def test_a_config_file_that_cannot_be_read_is_an_error_that_names_it(home: Path) -> None:
    (home / ".docker/config.json").write_text("{")
    with pytest.raises(EngineError, match=r"config\.json cannot be read .*; put it right, or name the engine in DOCKER_HOST"):
        endpoint({"HOME": str(home)})
