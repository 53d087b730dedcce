"""Having the engine fetch an image: the request, the stream that answers it, and whose fault a refusal is.

The engine answers 200 and says in the stream what went wrong; a stream that breaks off says nothing at all.
"""

import json
import time
from typing import TYPE_CHECKING

from attrs import field, frozen

from gordon_core.effects import Fault
from gordon_shell.docker_failures import Failure
from gordon_shell.docker_fields import expect, table_at, text_at

if TYPE_CHECKING:
    from docker import APIClient
    from requests import Response

_QUIET_S = 120.0
"""How long the engine may say nothing while it fetches; it reports its progress several times a second."""
_LATEST = "latest"
_END = "Status: "
_BROKEN_OFF = Failure(0, "the answer broke off")


@frozen
class _PullBlame:
    """A row of the table below: refusals that contain `text`, and whose fault they are."""

    text: str
    fault: Fault


PULL_BLAME = (
    # the engine's own trouble
    _PullBlame("error while dialing", Fault.ENGINE),
    _PullBlame("containerd.sock", Fault.ENGINE),
    _PullBlame("no space left on device", Fault.ENGINE),
    _PullBlame("too many open files", Fault.ENGINE),
    _PullBlame("cannot allocate memory", Fault.ENGINE),
    _PullBlame("shutting down", Fault.ENGINE),
    _PullBlame("context canceled", Fault.ENGINE),
    # the way to the registry, or the registry itself: it may be there in a moment
    _PullBlame("connection refused", Fault.REGISTRY),
    _PullBlame("connection reset", Fault.REGISTRY),
    _PullBlame("broken pipe", Fault.REGISTRY),
    _PullBlame("no such host", Fault.REGISTRY),
    _PullBlame("server misbehaving", Fault.REGISTRY),
    _PullBlame("name resolution", Fault.REGISTRY),
    _PullBlame("no route to host", Fault.REGISTRY),
    _PullBlame("host is unreachable", Fault.REGISTRY),
    _PullBlame("network is unreachable", Fault.REGISTRY),
    _PullBlame("timeout", Fault.REGISTRY),
    _PullBlame("timed out", Fault.REGISTRY),
    _PullBlame("deadline exceeded", Fault.REGISTRY),
    _PullBlame("request canceled", Fault.REGISTRY),
    _PullBlame("too many requests", Fault.REGISTRY),
    _PullBlame("toomanyrequests", Fault.REGISTRY),
    _PullBlame("internal server error", Fault.REGISTRY),
    _PullBlame("bad gateway", Fault.REGISTRY),
    _PullBlame("service unavailable", Fault.REGISTRY),
    _PullBlame("received unexpected http status: 5", Fault.REGISTRY),
    # the registry answered: what is asked for is not there, or not for us
    _PullBlame("not found", Fault.WORKLOAD),
    _PullBlame("unknown", Fault.WORKLOAD),  # manifest unknown, name unknown
    _PullBlame("does not exist", Fault.WORKLOAD),
    _PullBlame("no matching manifest", Fault.WORKLOAD),
    _PullBlame("invalid reference format", Fault.WORKLOAD),
    _PullBlame("denied", Fault.WORKLOAD),
    _PullBlame("unauthorized", Fault.WORKLOAD),
    _PullBlame("authorization failed", Fault.WORKLOAD),
    _PullBlame("authentication required", Fault.WORKLOAD),
    _PullBlame("no basic auth credentials", Fault.WORKLOAD),
    _PullBlame("incorrect username or password", Fault.WORKLOAD),
    _PullBlame("forbidden", Fault.WORKLOAD),
    _PullBlame("eof", Fault.REGISTRY),  # it hung up; below the others, since they quote names that may contain this
)
"""Whose fault a refused pull is: the first row whose text is among the words (compared in lower case)."""
_BAD_REQUEST, _UNAUTHORISED = 400, 401
_BY_STATUS = {_BAD_REQUEST: Fault.WORKLOAD, _UNAUTHORISED: Fault.WORKLOAD, 403: Fault.WORKLOAD, 404: Fault.WORKLOAD}


def pull_blame(failure: Failure, reference: str) -> Fault:
    """Return whose fault a refused pull is; the name of the image is no evidence."""
    words = failure.words.lower().replace(reference.lower(), "")
    known = next((each.fault for each in PULL_BLAME if each.text in words), None)
    return known or _BY_STATUS.get(failure.status, Fault.ENGINE)


def pull(client: "APIClient", reference: str, within_s: float) -> Failure | None:
    """Fetch an image, with the credentials of the Docker command line, and return what the engine said against it.

    A reference without a tag means `latest`. Raise docker-py's own errors, and those of requests.
    """
    until_s = time.monotonic() + within_s
    asked = _asked(client, reference)
    if isinstance(asked, Failure):
        return asked
    with client.post(
        f"{client.base_url}/v{client.api_version}/images/create",
        params={"fromImage": asked.name, "tag": asked.tag},
        headers=asked.headers,
        stream=True,
        timeout=min(within_s, _QUIET_S),
    ) as answer:
        _raise_for_status(answer)
        return _last_word(answer, until_s)


@frozen
class _Asked:
    """What to ask for, and with which credentials."""

    name: str
    tag: str
    headers: dict[str, str | bytes] = field(repr=False)


def _asked(client: "APIClient", reference: str) -> _Asked | Failure:
    from docker.auth import get_config_header, resolve_repository_name  # noqa: PLC0415 - docker-py comes with an engine only
    from docker.errors import DockerException, InvalidRepository  # noqa: PLC0415 - likewise
    from docker.utils import parse_repository_tag  # noqa: PLC0415 - likewise

    try:
        name, tag = parse_repository_tag(reference)
        client.reload_config()  # somebody may have logged in since
        header = get_config_header(client, resolve_repository_name(name)[0])
    except InvalidRepository as error:
        return Failure(_BAD_REQUEST, str(error))
    except (DockerException, OSError, ValueError) as error:
        words = f"the credentials for {reference} cannot be read ({error}); log in again with docker login"
        return Failure(_UNAUTHORISED, words)
    return _Asked(name, tag or _LATEST, {"X-Registry-Auth": header} if header else {})


def _raise_for_status(answer: "Response") -> None:
    from docker.errors import create_api_error_from_http_exception  # noqa: PLC0415 - likewise
    from requests.exceptions import HTTPError  # noqa: PLC0415 - likewise

    try:
        answer.raise_for_status()
    except HTTPError as error:
        create_api_error_from_http_exception(error)


def _last_word(answer: "Response", until_s: float) -> Failure | None:
    """Read the stream to its end, which is an error or a word of success."""
    ended = False
    for line in answer.iter_lines():
        if time.monotonic() > until_s:
            return Failure(0, "no answer in time")
        said = expect(json.loads(line), dict, "a line of progress") if line else {}
        if text_at(said, "error") or said.get("errorDetail"):
            words = text_at(said, "error") or text_at(table_at(said, "errorDetail"), "message")
            return Failure(answer.status_code, " ".join(words.split()))
        ended = ended or text_at(said, "status").startswith(_END)
    return None if ended else _BROKEN_OFF
