"""What a failed call to the engine says, and whose fault it is: the one translator of foreign exceptions, and the table of blame.

docker-py costs a quarter of a second to import; nothing here imports it before there is an engine to speak with.
"""

import re
from typing import TYPE_CHECKING

from attrs import frozen

from gordon_core.effects import Fault

if TYPE_CHECKING:
    import ssl

_ABSENT = "no such container"
_NO_IMAGE = "no such image"
_SO_ALREADY = "same name as its current name"
_OPENSSL = re.compile(r"^\[[^]]*\]\s*|\s*\(_ssl\.c:\d+\)$")
_TOO_OLD = re.compile(r"client version \S+ is too old\. Minimum supported API version is ([0-9.]+)")


@frozen
class Failure:
    """A call that failed: the engine's status, 0 where it gave no answer, and the words of whoever failed."""

    status: int
    words: str

    def is_absence(self) -> bool:
        """Tell whether the engine said that there is no such container or image; any other 404 does not say so.

        400: there can be no image with a name like that.
        """
        words = self.words.lower()
        return (self.status == 404 and _ABSENT in words) or (self.status in (400, 404) and _NO_IMAGE in words)  # noqa: PLR2004

    def is_so_already(self) -> bool:
        """Tell whether a container is to be given the name that it has."""
        return _SO_ALREADY in self.words

    def oldest_version(self) -> str:
        """Return the oldest API version that the engine speaks if it refused ours as too old, or ""."""
        found = _TOO_OLD.search(self.words)
        return found[1].rstrip(".") if found else ""


@frozen
class _Blame:
    """A row of the table below: refusals with a status from `low` to `high` that contain `text`, and whose fault they are."""

    low: int
    high: int
    text: str
    fault: Fault


BLAME = (
    _Blame(404, 404, _ABSENT, Fault.CONFLICT),  # removed behind our back
    _Blame(409, 409, "", Fault.CONFLICT),  # paused, removal in progress, runs
    # the daemon's own trouble and the host's, whatever the container
    _Blame(500, 599, "shutting down", Fault.ENGINE),
    _Blame(500, 599, "context deadline exceeded", Fault.ENGINE),
    _Blame(500, 599, "context canceled", Fault.ENGINE),
    _Blame(500, 599, "error while dialing", Fault.ENGINE),  # containerd or a plugin is down
    _Blame(500, 599, "code = unavailable", Fault.ENGINE),
    _Blame(500, 599, "containerd.sock", Fault.ENGINE),
    _Blame(500, 599, "ttrpc: closed", Fault.ENGINE),
    _Blame(500, 599, "no space left on device", Fault.ENGINE),
    _Blame(500, 599, "too many open files", Fault.ENGINE),
    _Blame(500, 599, "cannot allocate memory", Fault.ENGINE),
    _Blame(500, 599, "resource temporarily unavailable", Fault.ENGINE),
    _Blame(500, 599, "iptables", Fault.ENGINE),  # somebody flushed the engine's chains
    _Blame(500, 599, "no available ip", Fault.ENGINE),  # the network's addresses are used up
    _Blame(500, 599, "did not receive an exit event", Fault.ENGINE),
    _Blame(501, 599, "", Fault.ENGINE),
    # the engine refuses what this container asks for: a taken port, a bad command, a missing mount or network
    _Blame(500, 500, "", Fault.WORKLOAD),
    _Blame(400, 400, "", Fault.WORKLOAD),
    _Blame(404, 404, "", Fault.WORKLOAD),
    # not allowed, too many requests, and what no engine says yet
    _Blame(0, 999, "", Fault.ENGINE),
)
"""Whose fault a refusal is: the first row that holds, by the engine's status and its words (compared in lower case)."""


def blame(failure: Failure) -> Fault:
    """Return whose fault a refused command is."""
    words = failure.words.lower()
    return next(each.fault for each in BLAME if each.low <= failure.status <= each.high and each.text in words)


def foreign() -> tuple[type[Exception], ...]:
    """Return the families of exceptions that `translate` is for. The first call imports docker-py."""
    from docker.errors import DockerException  # noqa: PLC0415 - see the module's docstring
    from requests.exceptions import RequestException  # noqa: PLC0415 - see the module's docstring
    from urllib3.exceptions import HTTPError  # noqa: PLC0415 - see the module's docstring

    return (DockerException, RequestException, HTTPError, OSError, ValueError)


def translate(error: Exception) -> Failure:
    """Turn an exception of docker-py, requests, urllib3 or the system into a Failure."""
    from docker.errors import APIError  # noqa: PLC0415 - see the module's docstring

    if isinstance(error, APIError) and error.response is not None:
        words = error.explanation or error.response.reason or "no reason given"
        return Failure(error.response.status_code, " ".join(str(words).split()))
    return Failure(0, _words(error))


def tls_words(error: "ssl.SSLError") -> str:
    """Return what is wrong between two that speak TLS, without OpenSSL's names for it and the lines of its source."""
    import ssl  # noqa: PLC0415 - see the module's docstring

    match error:
        case ssl.SSLCertVerificationError():
            return f"its certificate is not accepted: {error.verify_message.rstrip('.')}"
        case ssl.SSLEOFError():
            return "it broke the TLS connection off"
        case _:
            return _OPENSSL.sub("", error.strerror or str(error)).lower() or "a fault of TLS"


def _words(error: Exception) -> str:
    """Find the system's words at the root of an exception that wraps others, or say what kind of silence it is."""
    import ssl  # noqa: PLC0415 - see the module's docstring

    from requests.exceptions import Timeout  # noqa: PLC0415 - see the module's docstring
    from urllib3.exceptions import TimeoutError as PoolTimeout  # noqa: PLC0415 - see the module's docstring

    chain = list(_chain(error))
    tls = [each for each in chain if isinstance(each, ssl.SSLError)]
    if tls:
        return tls_words(tls[-1])
    system = [each.strerror for each in chain if isinstance(each, OSError) and each.strerror]
    if system:
        return system[-1].lower()
    if any(isinstance(each, Timeout | PoolTimeout | TimeoutError) for each in chain):
        return "no answer in time"
    return " ".join(str(chain[-1]).split()) or type(error).__name__


def _chain(error: BaseException) -> "list[BaseException]":
    """Return the exception and those that it wraps, the root last, each once."""
    found: list[BaseException] = []
    following: list[BaseException | None] = [error]
    while following:
        each = following.pop(0)
        if each is None or each in found:
            continue
        found.append(each)
        following += [one for one in each.args if isinstance(one, BaseException)]
        following.append(each.__cause__)  # not the context: that may be what the caller is busy with
    return found
