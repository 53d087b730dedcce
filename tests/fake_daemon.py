"""An HTTP server on a Unix socket that answers as a Docker engine was seen to: for answers that no engine gives on demand."""

import contextlib
import http.server
import json
import socketserver
import tempfile
import threading
from collections.abc import Callable, Iterator

from attrs import field, frozen


@frozen
class Answer:
    """One answer: a status and a JSON value, or bytes as they are; `delay_s` before it, or () for a closed connection."""

    status: int = 200
    body: object = field(factory=list)
    delay_s: float = 0.0


@frozen
class Daemon:
    """Where it is, and the requests that it got, as "METHOD /path?query"."""

    host: str
    requests: list[str] = field(factory=list)


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


@contextlib.contextmanager
def fake_daemon(respond: Callable[[str], Answer]) -> Iterator[Daemon]:
    """Run it for a block; `respond` gets each request's line."""
    # a short path, for its socket
    with tempfile.TemporaryDirectory(prefix="g-", dir="/tmp") as directory:
        daemon = Daemon(f"unix://{directory}/docker.sock")
        released = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            def address_string(self) -> str:
                return "test"

            def log_message(self, *_: object) -> None:
                pass

            def answer(self) -> None:
                request = f"{self.command} {self.path}"
                daemon.requests.append(request)
                given = respond(request)
                released.wait(given.delay_s)
                body = given.body if isinstance(given.body, bytes) else json.dumps(given.body).encode()
                with contextlib.suppress(OSError):
                    self.send_response(given.status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            do_GET = do_POST = do_DELETE = answer  # noqa: N815 - the server's own names

        with _Server(f"{directory}/docker.sock", Handler) as server:
            serving = threading.Thread(target=server.serve_forever, args=(0.02,))
            serving.start()
            try:
                yield daemon
            finally:
                released.set()
                server.shutdown()
                serving.join()
