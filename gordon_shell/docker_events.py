"""What a Docker engine says without being asked, on a connection of its own: the EventStream port over docker-py.

The engine itself picks the events that count, so that the health checks of a host (an exec each) cost nothing here. A stream that
says nothing for too long is ended: an engine that hangs is silent as well, and to listen anew costs one request.
"""

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Self

from gordon_shell.docker_failures import Failure, foreign, translate
from gordon_shell.docker_fields import expect, number_at, table_at, text_at
from gordon_shell.errors import EngineError
from gordon_shell.events import Event, Happened

if TYPE_CHECKING:
    from docker import APIClient
    from requests import Response

_OF = {each.value: each for each in Happened}
_FILTERS = json.dumps({"type": ["container"], "event": sorted(_OF)})
_SILENT = "no answer in time"


class DockerEventStream:
    """The events of one connection, which `client` is there for alone. It ends with the engine, or when nothing comes for too
    long."""

    def __init__(self, client: "APIClient", error: Callable[[Failure], EngineError]) -> None:
        """Ask the engine for its events; `client` gives it so long to say something. Raise docker-py's own errors.

        `error` puts a failure into words.
        """
        from docker.types import CancellableStream  # noqa: PLC0415 - docker-py costs a quarter of a second to import

        self._client, self._error = client, error
        self._foreign: tuple[type[Exception], ...] = (*foreign(), AttributeError)  # the last: a connection taken away beneath us
        self._closed = False
        response = _asked(client)
        self._events = _events(response)
        self._connection = CancellableStream(iter(()), response)

    def __iter__(self) -> Self:
        """Return itself."""
        return self

    def __next__(self) -> Event:
        """Wait for the next event; see EventStream."""
        try:
            return next(self._events)
        except self._foreign as error:
            failure = translate(error)
            if self._closed or failure.words == _SILENT:
                raise StopIteration from error
            raise self._error(failure) from error

    def close(self) -> None:
        """Shut the connection down, which ends the wait of whoever reads it."""
        self._closed = True
        # It may have ended already; and one through `ssh` cannot be shut down, but ends with its program.
        with contextlib.suppress(*self._foreign):
            self._connection.close()
        self._client.close()


def _asked(client: "APIClient") -> "Response":
    """Ask as docker-py would, but with the client's own limit on silence, which docker-py lifts for events."""
    url = f"{client.base_url}/v{client.api_version}/events"
    response = client.get(url, params={"filters": _FILTERS}, stream=True, timeout=client.timeout)
    client._raise_for_status(response)  # type: ignore[attr-defined]  # noqa: SLF001 - it makes docker-py's own error of a refusal
    return response


def _events(response: "Response") -> Iterator[Event]:
    for line in response.iter_lines(chunk_size=None):
        event = _event(expect(json.loads(line), dict, "an event")) if line.strip() else None
        if event is not None:
            yield event


def _event(answer: dict[str, object]) -> Event | None:
    """Read one; None for what was not asked for."""
    happened = _OF.get(text_at(answer, "Action").partition(":")[0])
    container_id = text_at(table_at(answer, "Actor"), "ID")
    return Event(container_id, happened, number_at(answer, "timeNano")) if happened is not None and container_id else None
