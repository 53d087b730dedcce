"""The Engine port over docker-py's low-level client: one HTTP request per call, few where Docker has no single one, no retry,
and the engine's own words on failure.

docker-py costs a quarter of a second to import, so nothing here imports it before an engine is opened. One instance serves
many threads: the sessions are only read after they are made, and their connections come from a pool.
"""

import math
import os
from collections.abc import Callable, Mapping
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

from attrs import evolve

from gordon_core.blueprint import Blueprint, Image, Made, Variable
from gordon_core.effects import Done, Fault, Outcome, Refused, Unknown
from gordon_core.observation import TIMED_OUT, Gone, ProbeResult
from gordon_shell import docker_endpoint, docker_json, docker_made
from gordon_shell.docker_clients import DEFAULT_TIMEOUTS, Clients, Timeouts, open_client, open_clients
from gordon_shell.docker_create import creation
from gordon_shell.docker_endpoint import Endpoint
from gordon_shell.docker_events import DockerEventStream
from gordon_shell.docker_failures import Failure, blame, foreign, translate
from gordon_shell.docker_fields import Table, expect, table_at, text_at
from gordon_shell.docker_pull import pull, pull_blame
from gordon_shell.errors import EngineError
from gordon_shell.ports import About, Details, Row
from gordon_shell.redaction import hidden, redacted

T = TypeVar("T")


class DockerEngine:
    """A Docker engine of 20.10 or later. Making one does not connect."""

    def __init__(self, endpoint: Endpoint, timeouts: Timeouts = DEFAULT_TIMEOUTS) -> None:
        """Prepare to speak with the engine there. Raise EngineError for an address or a certificate that cannot be used."""
        self._endpoint = endpoint
        self._timeouts = timeouts
        self._foreign = foreign()
        self._clients = self._open(endpoint.api_version)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ, timeouts: Timeouts = DEFAULT_TIMEOUTS) -> Self:
        """Speak with the engine that the Docker CLI would speak with (see `docker_endpoint`). Raise EngineError."""
        return cls(docker_endpoint.endpoint(environ), timeouts)

    def rows(self) -> tuple[Row, ...]:
        """List every container in one call. Raise EngineError."""
        answer = self._call(lambda clients: docker_json.rows(clients.reading.containers(all=True)))
        return self._had(answer, "the list of containers")

    def inspect(self, container_id: str) -> Details | Gone:
        """Read one container; Gone only if the engine said that there is none. Raise EngineError."""
        answer = self._call(lambda clients: _details(clients.reading.inspect_container(container_id)))
        return self._sought(answer, f"the inspection of {container_id[:12]}")

    def start(self, container_id: str) -> Outcome:
        """Start it. One that runs already is Done."""
        return self._veiled(container_id, self._command("start", lambda clients: clients.commanding.start(container_id)))

    def restart(self, container_id: str, grace_s: float) -> Outcome:
        """Stop it within its grace, and start it."""
        outcome = self._command("restart", lambda clients: clients.commanding.restart(container_id, math.ceil(grace_s)))
        return self._veiled(container_id, outcome)

    def stop(self, container_id: str, grace_s: float) -> Outcome:
        """Stop it within its grace. One that is down already is Done."""
        return self._command("stop", lambda clients: clients.commanding.stop(container_id, math.ceil(grace_s)))

    def remove(self, container_id: str, *, force: bool = False) -> Outcome:
        """Remove a container that is down, or by force one that runs, and not its volumes. One that is gone already is Done."""
        answer = self._call(lambda clients: clients.commanding.remove_container(container_id, force=force))
        if isinstance(answer, Failure) and answer.is_absence():
            return Done()
        return self._outcome("remove", answer)

    def image(self, reference: str) -> Image | Gone:
        """Read an image by name or ID; Gone only if the engine said that it has none, or can have none. Raise EngineError."""
        answer = self._call(lambda clients: docker_made.image(clients.inspect_image(reference)))
        return self._sought(answer, f"the inspection of the image {reference}")

    def pull(self, reference: str) -> Outcome:
        """Have the engine fetch an image, with the credentials of the Docker CLI."""
        answer = self._call(lambda clients: pull(clients.commanding, reference, self._timeouts.pull_s))
        outcome = self._outcome("pull", answer)
        if isinstance(answer, Failure) and isinstance(outcome, Refused):
            return Refused(answer.words, pull_blame(answer, reference))
        return outcome

    def create(self, name: str, blueprint: Blueprint, labels: Mapping[str, str]) -> Outcome:
        """Create a container and connect it to its networks; if that fails, it is removed again."""
        try:
            wanted = creation(blueprint, labels)
        except ValueError as error:
            return hidden(Refused(str(error), Fault.WORKLOAD), blueprint.environment)
        made = self._call(lambda clients: _id(clients.create(wanted.body, name)))
        if isinstance(made, Failure):
            return hidden(self._outcome("create", made), blueprint.environment)
        for network, aliases in wanted.further:
            connected = self._connect(made, network, aliases)
            if connected != Done():
                return hidden(self._undone(made, connected), blueprint.environment)
        return Done()

    def rename(self, container_id: str, name: str) -> Outcome:
        """Give a container another name. One that bears it already is Done."""
        answer = self._call(lambda clients: clients.commanding.rename(container_id, name))
        if isinstance(answer, Failure) and answer.is_so_already():
            return Done()
        return self._outcome("rename", answer)

    def logs(self, container_id: str, lines: int, until_s: float | None = None) -> tuple[str, ...]:
        """Return its last lines of output, oldest first; for a value of its environment stands its name. Raise EngineError."""
        what = f"the output of {container_id[:12]}"
        environment = self._had(self._call(lambda clients: _environment(clients.reading.inspect_container(container_id))), what)
        for reach in (1,) if until_s is None else _REACHES:
            output = self._had(self._call(partial(_output, container_id, max(0, lines) * reach, until_s)), what)
            if output.count(b"\n") >= lines:
                break
        text = redacted(output.decode("utf-8", "replace"), environment).removesuffix("\n")
        return tuple(each.rstrip("\r") for each in text.split("\n"))[-lines:] if text and lines > 0 else ()

    def made(self, container_id: str) -> Made | Gone:
        """Read what a container was made from, beyond its image and the engine's defaults. Raise EngineError."""
        what = f"the inspection of {container_id[:12]}"
        whole = self._sought(self._call(lambda clients: clients.reading.inspect_container(container_id)), what)
        if isinstance(whole, Gone):
            return whole
        image = self._sought(self._call(lambda clients: _image_config(clients, whole)), f"{what}'s image")
        own = {} if isinstance(image, Gone) else image  # removed by force: then nothing is known to be the image's
        return self._had(self._call(lambda clients: docker_made.made(whole, own, clients.reading.info())), what)

    def about(self) -> About:
        """Read what it says of itself: one call for its versions, one for its clock. Raise EngineError."""
        answer = self._call(lambda clients: docker_json.about(clients.reading.version(), clients.reading.info()))
        return self._had(answer, "the description of the engine")

    def events(self) -> DockerEventStream:
        """Begin to listen, on a connection of its own; it ends after a minute of silence. Raise EngineError."""
        answer = self._call(lambda clients: self._listening(clients.version))
        return self._had(answer, "the request for its events")

    def close(self) -> None:
        """Close the connections that are idle; a later call opens new ones."""
        self._clients.close()

    def __enter__(self) -> Self:
        """Close it after a block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the connections."""
        self.close()

    def _listening(self, version: str) -> DockerEventStream:
        client = open_client(self._endpoint, version, self._timeouts.silence_s)
        try:
            return DockerEventStream(client, lambda failure: self._error(failure, "the request for its events"))
        except self._foreign:
            client.close()
            raise

    def _connect(self, container_id: str, network: str, aliases: tuple[str, ...]) -> Outcome:
        return self._command(
            "connect",
            lambda clients: clients.commanding.connect_container_to_network(container_id, network, aliases=list(aliases)),
        )

    def _undone(self, container_id: str, outcome: Outcome) -> Outcome:
        """Remove what was made by half, and return why it was; it never ran, so its own volumes hold nothing."""
        answer = self._call(lambda clients: clients.commanding.remove_container(container_id, v=True, force=True))
        if answer is None or answer.is_absence() or isinstance(outcome, Done):
            return outcome
        left = f"{outcome.reason}; and {container_id[:12]}, made for this, could not be removed again: {answer.words}"
        return evolve(outcome, reason=left)

    def _command(self, verb: str, do: Callable[[Clients], None]) -> Outcome:
        return self._outcome(verb, self._call(do))

    def _veiled(self, container_id: str, outcome: Outcome) -> Outcome:
        """Return what came of a start with no value of the environment in it: the engine quotes the command that fails."""
        if not isinstance(outcome, Refused):
            return outcome
        environment = self._call(lambda clients: _environment(clients.reading.inspect_container(container_id)))
        if not isinstance(environment, Failure):
            return hidden(outcome, environment)
        quotes = outcome.fault is Fault.WORKLOAD and not environment.is_absence()
        return evolve(outcome, reason=_WITHHELD) if quotes else outcome

    def _outcome(self, verb: str, answer: Failure | None) -> Outcome:
        if answer is None:
            return Done()
        if answer.status == 0:
            return Unknown(f"the engine at {self._endpoint.host} did not answer the {verb}: {answer.words}")
        return Refused(f"{answer.words} (the engine answered {answer.status})", blame(answer))

    def _sought(self, answer: T | Failure, what: str) -> T | Gone:
        return Gone() if isinstance(answer, Failure) and answer.is_absence() else self._had(answer, what)

    def _had(self, answer: T | Failure, what: str) -> T:
        if isinstance(answer, Failure):
            raise self._error(answer, what)
        return answer

    def _call(self, do: Callable[[Clients], T]) -> T | Failure:
        """Make one call. Only one that the engine refused to look at, for the API version, is made again in its version."""
        clients = self._clients
        answer = self._once(clients, do)
        oldest = answer.oldest_version() if isinstance(answer, Failure) else ""
        if not oldest or oldest == clients.version:
            return answer
        self._clients = self._open(oldest)
        return self._once(self._clients, do)

    def _once(self, clients: Clients, do: Callable[[Clients], T]) -> T | Failure:
        try:
            return do(clients)
        except self._foreign as error:
            return translate(error)

    def _open(self, version: str) -> Clients:
        try:
            return open_clients(self._endpoint, version, self._timeouts)
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


_REACHES = (1, 20, 400)
"""How many times as many lines are asked for: the engine takes the last ones first, and leaves those after a time out of them."""
_WITHHELD = "the engine refused; its words are withheld, since the container that they may quote could not be read"
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


def _id(answer: object) -> str:
    return expect(expect(answer, dict, "the container").get("Id"), str, "its ID")


def _output(container_id: str, lines: int, until_s: float | None, clients: Clients) -> bytes:
    output: bytes = clients.reading.logs(container_id, tail=lines, until=until_s)
    return output


def _environment(answer: object) -> tuple[Variable, ...]:
    return docker_made.variables(table_at(expect(answer, dict, "the container"), "Config"))


def _details(answer: object) -> Details:
    """Read an inspection; for a value of its environment stands its name, whatever its health checks and its end say."""
    details = docker_json.details(answer)
    container = details.container
    results, end = container.health.results, container.exit
    if not any(each.output for each in results) and (end is None or not end.error):
        return details
    environment = _environment(answer)
    health = evolve(container.health, results=tuple(_without_values(each, environment) for each in results))
    end = evolve(end, error=redacted(end.error, environment)) if end is not None else None
    return evolve(details, container=evolve(container, health=health, exit=end))


def _without_values(result: ProbeResult, environment: tuple[Variable, ...]) -> ProbeResult:
    own = TIMED_OUT if result.output.startswith(TIMED_OUT) else ""  # the engine's word, and evidence
    return evolve(result, output=own + redacted(result.output.removeprefix(own), environment))


def _image_config(clients: Clients, container: Table) -> Table:
    return docker_made.config_of(clients.inspect_image(text_at(container, "Image")))


__all__ = ["DockerEngine", "Timeouts"]
