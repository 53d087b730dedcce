"""The Engine port over docker-py's low-level client: one HTTP request per call, no retry, and the engine's own words on failure.

docker-py costs a quarter of a second to import, so nothing here imports it before an engine is opened. One instance serves
many threads: the sessions are only read after they are made, and their connections come from a pool.
"""

import math
import os
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from attrs import frozen

from gordon_core.effects import Done, Outcome, Refused, Unknown
from gordon_core.observation import Gone
from gordon_shell import docker_endpoint, docker_json
from gordon_shell.docker_endpoint import Endpoint, Tls
from gordon_shell.docker_failures import Failure, blame, foreign, tls_words, translate
from gordon_shell.errors import EngineError
from gordon_shell.ports import Details, Row

if TYPE_CHECKING:
    from docker import APIClient
    from docker.tls import TLSConfig

T = TypeVar("T")
_POOL_SIZE = 32


@frozen
class Timeouts:
    """How long the engine may take to answer, in seconds: to a read, and to a command on top of the grace that it carries."""

    read_s: float = 10.0
    command_s: float = 30.0


class DockerEngine:
    """A Docker engine of 20.10 or later. Making one does not connect."""

    def __init__(self, endpoint: Endpoint, timeouts: Timeouts = Timeouts()) -> None:
        """Prepare to speak with the engine there. Raise EngineError for an address or a certificate that cannot be used."""
        self._endpoint = endpoint
        self._timeouts = timeouts
        self._foreign = foreign()
        self._clients = self._open(endpoint.api_version)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ, timeouts: Timeouts = Timeouts()) -> Self:
        """Speak with the engine that the Docker CLI would speak with (see `docker_endpoint`). Raise EngineError."""
        return cls(docker_endpoint.endpoint(environ), timeouts)

    def rows(self) -> tuple[Row, ...]:
        """List every container in one call. Raise EngineError."""
        answer = self._call(lambda clients: docker_json.rows(clients.reading.containers(all=True)))
        if isinstance(answer, Failure):
            raise self._error(answer, "the list of containers")
        return answer

    def inspect(self, container_id: str) -> Details | Gone:
        """Read one container; Gone only if the engine said that there is none. Raise EngineError."""
        answer = self._call(lambda clients: docker_json.details(clients.reading.inspect_container(container_id)))
        if not isinstance(answer, Failure):
            return answer
        if answer.is_absence():
            return Gone()
        raise self._error(answer, f"the inspection of {container_id[:12]}")

    def start(self, container_id: str) -> Outcome:
        """Start it. One that runs already is Done."""
        return self._command("start", lambda clients: clients.commanding.start(container_id))

    def restart(self, container_id: str, grace_s: float) -> Outcome:
        """Stop it within its grace, and start it."""
        return self._command("restart", lambda clients: clients.commanding.restart(container_id, math.ceil(grace_s)))

    def stop(self, container_id: str, grace_s: float) -> Outcome:
        """Stop it within its grace. One that is down already is Done."""
        return self._command("stop", lambda clients: clients.commanding.stop(container_id, math.ceil(grace_s)))

    def remove(self, container_id: str) -> Outcome:
        """Remove a container that is down, and not its volumes. One that is gone already is Done."""
        answer = self._call(lambda clients: clients.commanding.remove_container(container_id))
        if isinstance(answer, Failure) and answer.is_absence():
            return Done()
        return self._outcome("remove", answer)

    def close(self) -> None:
        """Close the connections that are idle; a later call opens new ones."""
        self._clients.close()

    def __enter__(self) -> Self:
        """Close it after a block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the connections."""
        self.close()

    def _command(self, verb: str, do: "Callable[[_Clients], None]") -> Outcome:
        return self._outcome(verb, self._call(do))

    def _outcome(self, verb: str, answer: Failure | None) -> Outcome:
        if answer is None:
            return Done()
        if answer.status == 0:
            return Unknown(f"the engine at {self._endpoint.host} did not answer the {verb}: {answer.words}")
        return Refused(f"{answer.words} (the engine answered {answer.status})", blame(answer))

    def _call(self, do: "Callable[[_Clients], T]") -> T | Failure:
        """Make one call. Only one that the engine refused to look at, for the API version, is made again in its version."""
        clients = self._clients
        answer = self._once(clients, do)
        oldest = answer.oldest_version() if isinstance(answer, Failure) else ""
        if not oldest or oldest == clients.version:
            return answer
        self._clients = self._open(oldest)
        return self._once(self._clients, do)

    def _once(self, clients: "_Clients", do: "Callable[[_Clients], T]") -> T | Failure:
        try:
            return do(clients)
        except self._foreign as error:
            return translate(error)

    def _open(self, version: str) -> "_Clients":
        try:
            return _Clients(
                version,
                _open(self._endpoint, version, self._timeouts.read_s),
                _open(self._endpoint, version, self._timeouts.command_s),
            )
        except self._foreign as error:
            words = translate(error).words.rstrip(".")
            message = (
                f"the engine address {self._endpoint.host} cannot be used: {words}; put DOCKER_HOST and DOCKER_CERT_PATH right"
            )
            raise EngineError(message) from error

    def _error(self, failure: Failure, what: str) -> EngineError:
        host, words = self._endpoint.host, failure.words.rstrip(".")
        known = next((remedy for text, remedy in _REMEDIES.items() if text in words.lower()), "")
        if self._endpoint.tls is not None and not known and any(each in words.lower() for each in _HUNG_UP):
            known = f"see that it runs, and {_OWN_CERTIFICATE}"
        if failure.status:
            return EngineError(
                f"the engine at {host} answered {failure.status} to {what}: {words}; {known or 'its own log says more'}"
            )
        remedy = known or "see that it runs, and that DOCKER_HOST or the Docker context names it"
        return EngineError(f"the engine at {host} gave no answer to {what}: {words}; {remedy}")


_OWN_CERTIFICATE = "that cert.pem and key.pem in DOCKER_CERT_PATH are there and of an authority that it trusts"
_HUNG_UP = ("broke the tls connection off", "connection reset", "broken pipe", "closed connection")
_REMEDIES = {
    "permission denied": "run this as a user who may use its socket (group docker, or root)",
    "its certificate is not accepted": (
        "see that ca.pem in DOCKER_CERT_PATH is that of its authority, and that its certificate names the host of DOCKER_HOST"
    ),
    "alert": f"see {_OWN_CERTIFICATE}",
    "wrong version number": "it speaks no TLS there; name the port where it does, or unset DOCKER_TLS_VERIFY and DOCKER_TLS",
    "http request to an https server": "it speaks TLS there; set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH",
}
"""What helps, by what the words contain, the first that does."""


@frozen
class _Clients:
    """docker-py keeps one timeout per client, so there are two."""

    version: str
    reading: "APIClient"
    commanding: "APIClient"

    def close(self) -> None:
        self.reading.close()
        self.commanding.close()


def _open(endpoint: Endpoint, version: str, timeout_s: float) -> "APIClient":
    from docker import APIClient  # noqa: PLC0415 - see the module's docstring
    from docker.utils import parse_host  # noqa: PLC0415 - likewise
    from requests.adapters import HTTPAdapter  # noqa: PLC0415 - likewise

    from gordon_shell.docker_transport import ClosingAdapter  # noqa: PLC0415 - likewise

    client = APIClient(
        base_url=endpoint.host,
        version=version,
        timeout=timeout_s,  # type: ignore[arg-type]  # it takes fractions; its stubs do not know
        tls=_tls(endpoint.tls),
        use_ssh_client=True,
        max_pool_size=_POOL_SIZE,
    )
    client.trust_env = False  # no proxy between us and the engine; and it is read anew for each request otherwise
    address = str(parse_host(endpoint.host, tls=endpoint.tls is not None))
    match address.partition("://")[0]:
        case "http+unix":
            client.mount("http+docker://", ClosingAdapter(address, timeout_s, max_pool_size=_POOL_SIZE))  # type: ignore[arg-type]
        case "http" | "https":
            client.mount(address, HTTPAdapter(pool_maxsize=_POOL_SIZE, max_retries=0))
        case _:
            pass  # ssh: docker-py has its own
    return client


def _tls(tls: Tls | None) -> "TLSConfig | bool":
    from docker.tls import TLSConfig  # noqa: PLC0415 - see the module's docstring
    from urllib3 import disable_warnings  # noqa: PLC0415 - likewise
    from urllib3.exceptions import InsecureRequestWarning  # noqa: PLC0415 - likewise

    if tls is None:
        return False
    _check(tls)
    if not tls.verify:
        # It was asked for, and would be told at each request.
        disable_warnings(InsecureRequestWarning)
    pair = (tls.certificate, tls.key) if tls.certificate else None
    return TLSConfig(client_cert=pair, ca_cert=tls.authority or None, verify=tls.verify)


def _check(tls: Tls) -> None:
    """Raise EngineError where a file cannot be used: later it would look like a fault of the engine, or ask for a password."""
    import ssl  # noqa: PLC0415 - see the module's docstring

    context = ssl.create_default_context()
    try:
        what = tls.authority
        if tls.authority:
            context.load_verify_locations(tls.authority)
        what = f"{tls.certificate} with {tls.key}"
        if tls.certificate:
            context.load_cert_chain(tls.certificate, tls.key, password=lambda: "")
    except OSError as error:
        words = tls_words(error) if isinstance(error, ssl.SSLError) else (error.strerror or str(error)).lower()
        message = f"{what} cannot be used: {words}; put files in PEM form there, and a key without a password that fits"
        raise EngineError(message) from error
