"""What a probe says to one port, as generators that wait for a socket: run side by side in one thread, each bounded in time.

docker-proxy accepts on behalf of a container that listens on nothing, and then closes: so a connection proves something only
once it was kept for a moment, or carried data.
"""

import errno
import os
import re
import selectors
import socket
import time
from collections.abc import Generator, Sequence
from enum import Enum

from attrs import frozen

from gordon_core.observation import Bind

KEPT_S = 0.25
"""How long a connection must be kept to count."""

OUR_FAULTS = frozenset(
    {
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOBUFS,
        errno.ENOMEM,
        errno.EADDRNOTAVAIL,  # our own ports are used up
        errno.EPERM,  # we may not open a connection
        errno.EACCES,
        errno.ENETUNREACH,  # no loopback here
        errno.EAFNOSUPPORT,
    }
)
"""System errors that say nothing of the backend."""

_HEADERS = ("User-Agent: gordon-shell", "Accept: */*", "Connection: close", "", "")
_HEAD_LIMIT = 65536
_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-5]\d\d)(?:\s|$)")
_INFORMATION = range(100, 200)
_READY = range(200, 400)


class Ready(Enum):
    """The backend is ready."""

    READY = "ready"


@frozen
class NotReady:
    """What the backend did instead of being ready."""

    reason: str


@frozen
class Inconclusive:
    """Something ended or failed on our side; nothing is known of the backend."""

    reason: str


Verdict = Ready | NotReady | Inconclusive
DROPPED = Inconclusive("dropped: the program is going down")


@frozen
class Wait:
    """Until the socket is ready for `events` (answered by True), or until `until_s` on the monotonic clock (False)."""

    socket: socket.socket
    events: int
    until_s: float


Conversation = Generator[Wait, bool | None, Verdict]


def keep(bind: Bind, until_s: float) -> Conversation:
    """Connect, and see whether the connection is kept for a moment or carries data."""
    try:
        with socket.socket() as connection:
            yield from _connect(connection, bind.host_port, until_s)
            if not (yield Wait(connection, selectors.EVENT_READ, time.monotonic() + KEPT_S)) or connection.recv(1):
                return Ready.READY
            return NotReady(f"{bind}: closed within {KEPT_S * 1000:.0f} ms: nothing listens in the container")
    except OSError as error:
        return _judge(str(bind), error)


def get(bind: Bind, path: str, until_s: float) -> Conversation:
    """Ask for the path, and read no more of the answer than its status."""
    asked = f"GET {path} at {bind.host_port}"
    head = f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{bind.host_port}", *_HEADERS
    try:
        with socket.socket() as connection:
            yield from _connect(connection, bind.host_port, until_s)
            connection.sendall("\r\n".join(head).encode("ascii"))  # fits the buffer of a fresh socket
            status = yield from _status(connection, until_s)
    except OSError as error:
        return _judge(asked, error)
    return Ready.READY if status in _READY else NotReady(f"{asked} {_ANSWERS.get(status, f'answered {status}')}")


_CLOSED, _NOT_HTTP = 0, -1
_ANSWERS = {_CLOSED: "was closed without an answer", _NOT_HTTP: "was answered in something that is not HTTP"}


def _status(connection: socket.socket, until_s: float) -> Generator[Wait, bool | None, int]:
    """Read until the final status is there; an interim answer (103 and the like) is skipped."""
    answer = b""
    while len(answer) < _HEAD_LIMIT:
        line, end, _ = answer.partition(b"\n")
        found = _STATUS_LINE.match(line)
        if end and found is None:
            return _NOT_HTTP
        if end and found is not None and int(found[1]) not in _INFORMATION:
            return int(found[1])
        interim, end, rest = answer.partition(b"\r\n\r\n")
        if end:
            answer = rest
            continue
        yield from _wait(connection, selectors.EVENT_READ, until_s)
        received = connection.recv(4096)
        if not received:
            return _CLOSED
        answer = interim + received
    return _NOT_HTTP


def _connect(connection: socket.socket, host_port: int, until_s: float) -> Generator[Wait, bool | None, None]:
    connection.settimeout(0)
    _check(connection.connect_ex(("127.0.0.1", host_port)), errno.EINPROGRESS)
    yield from _wait(connection, selectors.EVENT_WRITE, until_s)
    _check(connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
    if connection.getsockname() == connection.getpeername():
        # Linux takes our own port from the range that the engine publishes at: we may have met nobody but ourselves
        _check(errno.ECONNREFUSED)


def _wait(connection: socket.socket, events: int, until_s: float) -> Generator[Wait, bool | None, None]:
    if not (yield Wait(connection, events, until_s)):
        raise TimeoutError(errno.ETIMEDOUT, "no answer in time")


def _check(error: int, *expected: int) -> None:
    if error and error not in expected:
        raise OSError(error, os.strerror(error))


def _judge(what: str, error: OSError) -> Verdict:
    words = (error.strerror or str(error)).lower()
    return Inconclusive(f"{what}: {words}, on our side") if error.errno in OUR_FAULTS else NotReady(f"{what}: {words}")


def side_by_side(conversations: Sequence[Conversation], dropped: int) -> Verdict:
    """Run them all to their ends, and join their verdicts; DROPPED as soon as the file descriptor `dropped` can be read."""
    try:
        with selectors.PollSelector() as selector:
            selector.register(dropped, selectors.EVENT_READ)
            return _run(conversations, selector)
    finally:
        for each in conversations:
            each.close()


def _run(conversations: Sequence[Conversation], selector: selectors.PollSelector) -> Verdict:
    verdicts: list[Verdict] = []
    waiting: dict[Conversation, Wait] = {}
    resumed: list[tuple[Conversation, bool | None]] = [(each, None) for each in conversations]
    while resumed or waiting:
        for conversation, answer in resumed:
            match _resume(conversation, answer=answer):
                case Wait() as wait:
                    waiting[conversation] = wait
                    selector.register(wait.socket, wait.events, conversation)
                case verdict:
                    verdicts.append(verdict)
        resumed = []
        if waiting:
            earliest_s = min(each.until_s for each in waiting.values())
            ready = {key.data for key, _ in selector.select(max(0.0, earliest_s - time.monotonic()))}
            if None in ready:
                return DROPPED
            now_s = time.monotonic()
            resumed = [(each, each in ready) for each, wait in waiting.items() if each in ready or wait.until_s <= now_s]
        for conversation, _ in resumed:
            selector.unregister(waiting.pop(conversation).socket)
    return _join(verdicts)


def _resume(conversation: Conversation, *, answer: bool | None) -> Wait | Verdict:
    try:
        return conversation.send(answer)
    except StopIteration as end:
        verdict: Verdict = end.value
        return verdict


def _join(verdicts: Sequence[Verdict]) -> Verdict:
    """Ready if all are; a fault of ours outweighs what the others saw."""
    for each in verdicts:
        if isinstance(each, Inconclusive):
            return each
    reasons = [each.reason for each in verdicts if isinstance(each, NotReady)]
    return NotReady("; ".join(reasons)) if reasons else Ready.READY
