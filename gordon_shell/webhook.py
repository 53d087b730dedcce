"""An HTTP address that each notice is posted to as JSON. Such addresses are secrets: no text here shows more than the host."""

import contextlib
import http.client
import socket
import urllib.error
import urllib.request
from collections.abc import Callable
from email.message import Message
from threading import Event, Thread
from time import monotonic
from typing import IO, Final, Protocol
from urllib.parse import urlsplit

from gordon_shell.channel import DELIVERED, Answer, Verdict

_TRY_AGAIN: Final = frozenset({408, 409, 425, 429})
_BEYOND_OK, _SERVERS_FAULT = 300, 500
_LOOK_EVERY_S: Final = 0.1
_DROPPED = Answer(Verdict.LATER)


Shown = Callable[[http.client.HTTPConnection], None]


class _Maker(Protocol):
    def __call__(
        self,
        host: str,
        /,
        *,
        port: int | None = ...,
        timeout: float = ...,
        source_address: tuple[str, int] | None = ...,
        blocksize: int = ...,
    ) -> http.client.HTTPConnection: ...


class _Unmoved(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: a POST would become a GET, and a notice go to somebody unknown."""

    def redirect_request(  # noqa: PLR0913, PLR0917 - as urllib calls it
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        """Follow none."""


class _Plain(urllib.request.HTTPHandler):
    """Speaks HTTP, and shows each connection to somebody who may cut it."""

    def __init__(self, shown: Shown) -> None:
        super().__init__()
        self._shown = shown

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_showing(http.client.HTTPConnection, self._shown), req)


class _Secure(urllib.request.HTTPSHandler):
    """Speaks HTTPS, likewise."""

    def __init__(self, shown: Shown) -> None:
        super().__init__()
        self._shown = shown

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_showing(http.client.HTTPSConnection, self._shown), req)


def _showing(kind: type[http.client.HTTPConnection], shown: Shown) -> _Maker:
    def make(  # as http.client makes them
        host: str,
        /,
        *,
        port: int | None = None,
        timeout: float = 30.0,
        source_address: tuple[str, int] | None = None,
        blocksize: int = 8192,
    ) -> http.client.HTTPConnection:
        made = kind(host, port, timeout=timeout, source_address=source_address, blocksize=blocksize)
        shown(made)
        return made

    return make


class Webhook:
    """Posts each document. The proxy, if any, is that of the environment (https_proxy, no_proxy)."""

    def __init__(self, url: str, timeout_s: float) -> None:
        """Post to this http or https address; no try may take longer than so, however slowly it is answered."""
        self._url, self._timeout_s = url, timeout_s
        self._opener = urllib.request.build_opener(_Unmoved, _Plain(self._show), _Secure(self._show))
        self._connection: http.client.HTTPConnection | None = None
        self._dropped = Event()

    @property
    def name(self) -> str:
        """Return what it is called, in words."""
        return f"the webhook at {urlsplit(self._url).hostname}"

    def carry(self, document: str) -> Answer:
        """Post a document; what the server cannot help, and no answer at all, is worth another try."""
        if self._dropped.is_set():
            return _DROPPED
        until_s, over, cut = monotonic() + self._timeout_s, Event(), Event()
        Thread(target=self._watch, args=(until_s, over, cut), name="webhook", daemon=True).start()
        try:
            answer = self._posted(document)
        finally:
            over.set()
        # The beginning of an answer that was cut may look like a whole one.
        if answer.verdict is not Verdict.LATER and not cut.is_set():
            return answer
        if self._dropped.is_set():
            return _DROPPED
        return self._too_late() if monotonic() >= until_s else answer

    def drop(self) -> None:
        """End the try under way soon, and let no other begin."""
        self._dropped.set()

    def _posted(self, document: str) -> Answer:
        request = urllib.request.Request(  # noqa: S310 - the settings allow http and https alone
            self._url,
            document.encode(),
            {"Content-Type": "application/json", "User-Agent": "gordon-recovery"},
            method="POST",
        )
        try:
            with self._opener.open(request, timeout=self._timeout_s):
                return DELIVERED  # what it says beside its status is not read: that could take for ever
        except urllib.error.HTTPError as error:
            with error:
                return _answered(error.code)
        except TimeoutError:
            return self._too_late()
        except (OSError, http.client.HTTPException) as error:
            return Answer(Verdict.LATER, f"it could not be reached ({_reason(error)})")

    def _too_late(self) -> Answer:
        return Answer(Verdict.LATER, f"it did not answer within {self._timeout_s:g} s")

    def _show(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection

    def _watch(self, until_s: float, over: Event, cut: Event) -> None:
        """Cut the connection when its time is up: the timeout of a socket is for each of its words alone."""
        while not over.wait(_LOOK_EVERY_S):
            if self._dropped.is_set() or monotonic() >= until_s:
                cut.set()
                _cut(self._connection)


def _cut(connection: http.client.HTTPConnection | None) -> None:
    own = connection.sock if connection is not None else None
    if own is not None:
        with contextlib.suppress(OSError):  # it has just ended, or is being wrapped in TLS
            socket.socket.shutdown(own, socket.SHUT_RDWR)  # beneath TLS, whose own state belongs to the thread that reads


def _answered(code: int) -> Answer:
    if code in _TRY_AGAIN or code >= _SERVERS_FAULT:
        return Answer(Verdict.LATER, f"it answered {code}")
    moved = "; name the address that it leads to" if _BEYOND_OK <= code < _BEYOND_OK + 100 else ""
    return Answer(Verdict.REFUSED, f"it answered {code}, and the notice is lost{moved}")


def _reason(error: OSError | http.client.HTTPException) -> str:
    """Return the words of an error, which name no path."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, TimeoutError):
        return "no answer in time"
    words = getattr(reason, "strerror", None) or str(reason)
    return words or type(reason).__name__
