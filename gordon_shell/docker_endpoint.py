"""Where the engine is, by the Docker CLI's own rules: DOCKER_HOST, else DOCKER_CONTEXT, else the context in use, else the socket.

Beside DOCKER_HOST, DOCKER_TLS_VERIFY (any text but "" means yes), DOCKER_TLS, DOCKER_CERT_PATH, DOCKER_API_VERSION and
DOCKER_CONFIG are read as the CLI reads them. With TLS and no DOCKER_HOST the engine is at port 2376 of localhost; DOCKER_TLS
alone encrypts and verifies nobody; ca.pem must be there with either; a certificate of ours without its key is none. Unlike the
CLI, the proxies of the environment (HTTP_PROXY and the like) are not used to reach an engine, and a context's `ssh://` host needs
the `ssh` program, as does one in DOCKER_HOST.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from gordon_shell.errors import EngineError

DEFAULT_HOST = "unix:///var/run/docker.sock"
DEFAULT_TLS_HOST = "tcp://localhost:2376"
_DEFAULT_PORT = 2375
API_VERSION = "1.40"
"""Old enough for every engine of 20.10 and later that still serves it; a newer one names its own minimum."""


@frozen
class Tls:
    """Certificates as files: the authority's, and our own with its key ("" where there is none). `verify`: check the engine's."""

    verify: bool
    authority: str = ""
    certificate: str = ""
    key: str = ""


@frozen
class Endpoint:
    """The address of an engine, `unix://`, `tcp://` or `ssh://`, and how to speak with it."""

    host: str = DEFAULT_HOST
    tls: Tls | None = None
    api_version: str = API_VERSION


def endpoint(environ: Mapping[str, str]) -> Endpoint:
    """Resolve where the engine is. Raise EngineError for a context or certificates that cannot be read."""
    version = environ.get("DOCKER_API_VERSION") or API_VERSION
    settings = Path(environ.get("DOCKER_CONFIG") or Path(environ.get("HOME") or "~").expanduser() / ".docker")
    name = _context_name(environ, settings)
    if name == "default":
        tls = _tls_of_environment(environ, settings)
        host = environ.get("DOCKER_HOST", "").strip() or (DEFAULT_HOST if tls is None else DEFAULT_TLS_HOST)
        return Endpoint(_with_port(host), tls, version)
    return _endpoint_of_context(name, settings / "contexts", version)


def _with_port(host: str) -> str:
    """Return the address with the CLI's default port where a TCP address has none; with TLS too, as there."""
    scheme, separator, rest = host.partition("://")
    address = rest if separator else host
    has_port = address.rpartition("]")[2].rpartition(":")[2].isdigit()
    if scheme not in {"tcp", host} or not address or "/" in address or has_port:
        return host
    return f"tcp://{address}:{_DEFAULT_PORT}"


def _context_name(environ: Mapping[str, str], settings: Path) -> str:
    if environ.get("DOCKER_HOST"):
        return "default"
    return environ.get("DOCKER_CONTEXT") or _current_context(settings / "config.json") or "default"


def _current_context(file: Path) -> str:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        message = f"{file} cannot be read ({error}); put it right, or name the engine in DOCKER_HOST"
        raise EngineError(message) from error
    name = found.get("currentContext") if isinstance(found, dict) else None
    return name if isinstance(name, str) else ""


def _tls_of_environment(environ: Mapping[str, str], settings: Path) -> Tls | None:
    verify = bool(environ.get("DOCKER_TLS_VERIFY"))
    if not verify and not environ.get("DOCKER_TLS"):
        return None
    folder = Path(environ.get("DOCKER_CERT_PATH") or settings)
    if not (folder / "ca.pem").exists():
        message = f"{folder / 'ca.pem'} is not there; name the folder of ca.pem, cert.pem and key.pem in DOCKER_CERT_PATH"
        raise EngineError(message)
    return _tls_of(folder, verify=verify)


def _tls_of(folder: Path, *, verify: bool) -> Tls:
    authority, certificate, key = (folder / each for each in ("ca.pem", "cert.pem", "key.pem"))
    pair = (str(certificate), str(key)) if certificate.exists() and key.exists() else ("", "")
    return Tls(verify, str(authority) if authority.exists() else "", *pair)


def _endpoint_of_context(name: str, contexts: Path, version: str) -> Endpoint:
    key = hashlib.sha256(name.encode()).hexdigest()
    file = contexts / "meta" / key / "meta.json"
    try:
        engine = json.loads(file.read_text(encoding="utf-8"))["Endpoints"]["docker"]
        host, skip_verify = str(engine["Host"]), bool(engine.get("SkipTLSVerify"))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        message = f"the Docker context {name} cannot be read from {file}; choose another, or name the engine in DOCKER_HOST"
        raise EngineError(message) from error
    folder = contexts / "tls" / key / "docker"
    tls = _tls_of(folder, verify=not skip_verify) if folder.is_dir() else None
    return Endpoint(host, tls, version)
