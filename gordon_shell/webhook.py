"""An HTTP address that each notice is posted to as JSON. Such addresses are secrets: no text here shows more than the host."""

import http.client
import urllib.error
import urllib.request
from email.message import Message
from typing import IO, Final
from urllib.parse import urlsplit

from gordon_shell.channel import DELIVERED, Answer, Verdict

_MOST_BYTES: Final = 65536
_TRY_AGAIN: Final = frozenset({408, 409, 425, 429})
_OK, _BEYOND_OK, _SERVERS_FAULT = 200, 300, 500


class _Unmoved(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: a POST would become a GET, and a notice go to somebody unknown."""

    def redirect_request(  # noqa: PLR0913, PLR0917 - as urllib calls it
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        """Follow none."""


class Webhook:
    """Posts each document. The proxy, if any, is that of the environment (https_proxy, no_proxy)."""

    def __init__(self, url: str, timeout_s: float) -> None:
        """Post to this http or https address; no connection and no answer may take longer than so."""
        self._url, self._timeout_s = url, timeout_s
        self._opener = urllib.request.build_opener(_Unmoved)
        self._is_dropped = False

    @property
    def name(self) -> str:
        """Return what it is called, in words."""
        return f"the webhook at {urlsplit(self._url).hostname}"

    def carry(self, document: str) -> Answer:
        """Post a document; what the server cannot help, and no answer at all, is worth another try."""
        if self._is_dropped:
            return Answer(Verdict.LATER)
        request = urllib.request.Request(  # noqa: S310 - the settings allow http and https alone
            self._url,
            document.encode(),
            {"Content-Type": "application/json", "User-Agent": "gordon-recovery"},
            method="POST",
        )
        try:
            with self._opener.open(request, timeout=self._timeout_s) as response:
                response.read(_MOST_BYTES)
        except urllib.error.HTTPError as error:
            with error:
                return _answered(error.code)
        except TimeoutError:
            return Answer(Verdict.LATER, f"it did not answer within {self._timeout_s:g} s")
        except (OSError, http.client.HTTPException) as error:
            return Answer(Verdict.LATER, f"it could not be reached ({_reason(error)})")
        return DELIVERED

    def drop(self) -> None:
        """Let no other try begin; one under way comes to its own end."""
        self._is_dropped = True


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
