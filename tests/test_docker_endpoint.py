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


def test_a_cert_path_alone_switches_nothing_on(tmp_path: Path) -> None:
    assert Endpoint(HOST) == endpoint({"DOCKER_HOST": HOST, "DOCKER_CERT_PATH": str(tmp_path), "DOCKER_TLS_VERIFY": ""})


def test_tls_without_an_authority_says_what_is_missing_and_where(tmp_path: Path) -> None:
    environ = {"DOCKER_HOST": HOST, "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": str(tmp_path)}
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
