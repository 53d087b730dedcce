"""docker-py's low-level clients for one engine, with their timeouts.

docker-py costs a quarter of a second to import, so nothing here imports it before an engine is opened.
"""

from typing import TYPE_CHECKING

from attrs import frozen

from gordon_shell.docker_endpoint import Endpoint, Tls
from gordon_shell.docker_failures import tls_words
from gordon_shell.errors import EngineError

if TYPE_CHECKING:
    from docker import APIClient
    from docker.tls import TLSConfig

_POOL_SIZE = 32


@frozen
class Timeouts:
    """How long the engine may take to answer, in seconds: to a read, to a command on top of the grace that it carries, and to
    fetch an image; and how long its events may be silent before they are asked for anew."""

    read_s: float = 10.0
    command_s: float = 30.0
    pull_s: float = 600.0
    silence_s: float = 60.0


DEFAULT_TIMEOUTS = Timeouts()


@frozen
class Clients:
    """docker-py keeps one timeout per client, so there are two. They speak one version of the API."""

    version: str
    reading: "APIClient"
    commanding: "APIClient"

    def inspect_image(self, reference: str) -> object:
        """Read an image."""
        return self.reading.inspect_image(reference)  # type: ignore[no-untyped-call]  # the stubs leave it out

    def create(self, body: object, name: str) -> object:
        """Create a container as the engine's own JSON asks for it."""
        return self.commanding.create_container_from_config(body, name)  # type: ignore[no-untyped-call]  # likewise

    def close(self) -> None:
        """Close the connections that are idle."""
        self.reading.close()
        self.commanding.close()


def open_clients(endpoint: Endpoint, version: str, timeouts: Timeouts) -> Clients:
    """Prepare to speak with an engine in a version of its API; raise docker-py's own errors."""
    return Clients(version, open_client(endpoint, version, timeouts.read_s), open_client(endpoint, version, timeouts.command_s))


def open_client(endpoint: Endpoint, version: str, timeout_s: float) -> "APIClient":
    """Prepare to speak with an engine, which has so long to answer; raise docker-py's own errors."""
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
