"""Clients that ask every service through HAProxy all the while, and know what each must answer."""

import contextlib
import http.client
import threading
from collections import Counter
from collections.abc import Iterator, Mapping

from attrs import define, field

from tests.on_engine.scene import request

TIMEOUT_S = 3.0
_REFUSALS = {502, 503, 504}


@define(eq=False)
class Answers:
    """What came of all requests: right ones, refusals of the proxy, broken ones; and every complete answer that is wrong."""

    right: int = 0
    refused: int = 0
    broken: int = 0
    wrong: list[str] = field(factory=list)
    right_of: Counter[str] = field(factory=Counter)
    gate: threading.Lock = field(factory=threading.Lock)

    def take(self, service: str, status: int, page: str) -> None:
        """Take down one complete answer."""
        with self.gate:
            if (status, page) == (200, service):
                self.right += 1
                self.right_of[service] += 1
            elif status in _REFUSALS:
                self.refused += 1
            else:
                self.wrong.append(f"{service} answered {status} with {page[:80]!r}")

    def broke(self) -> None:
        """Take down one that has no complete answer."""
        with self.gate:
            self.broken += 1


@contextlib.contextmanager
def asking(frontends: Mapping[str, int], every_s: float) -> Iterator[Answers]:
    """Ask every service so often, by a client with a kept connection and by one with fresh ones, until the block ends."""
    answers, over = Answers(), threading.Event()
    threads = [
        threading.Thread(target=_client, args=(answers, over, (name, port), every_s), kwargs={"kept": kept})
        for name, port in frontends.items()
        for kept in (True, False)
    ]
    for each in threads:
        each.start()
    try:
        yield answers
    finally:
        over.set()
        for each in threads:
            each.join(60)


def ask(port: int) -> tuple[int, str]:
    """Ask once, over a fresh connection; (0, "") where there is no answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    with contextlib.closing(connection):
        try:
            return request(connection)
        except (OSError, http.client.HTTPException, UnicodeDecodeError):
            return 0, ""


def _client(answers: Answers, over: threading.Event, face: tuple[str, int], every_s: float, *, kept: bool) -> None:
    service, port = face
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    while not over.wait(every_s):
        try:
            answers.take(service, *request(connection))
        except (OSError, http.client.HTTPException):
            answers.broke()
            connection.close()
        if not kept:
            connection.close()
    connection.close()
