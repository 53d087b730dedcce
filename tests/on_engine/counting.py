"""A Unix socket in front of the engine's own, that counts the HTTP requests that pass."""

import contextlib
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from attrs import define, field

_REQUEST = re.compile(rb"^((?:GET|POST|DELETE|HEAD|PUT) \S+) HTTP/1\.1\r\n", re.MULTILINE)


@define(eq=False)
class CountingSocket:
    """What passed through the socket at `path`: method and target of each request, in order of arrival.

    `noted_s` is when those whose target ends with `noted` arrived, by the performance counter.
    """

    path: Path
    target: str
    noted: str = ""
    requests: list[str] = field(factory=list)
    noted_s: list[float] = field(factory=list)

    def serve(self, listener: socket.socket) -> None:
        """Take connections until the listener is shut down."""
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=self._carry, args=(client,), daemon=True).start()

    def _carry(self, client: socket.socket) -> None:
        engine = socket.socket(socket.AF_UNIX)
        engine.connect(self.target)
        back = threading.Thread(target=_copy, args=(engine, client), daemon=True)
        back.start()
        with client, engine, contextlib.suppress(OSError):
            while chunk := client.recv(1 << 16):
                now_s = time.perf_counter()
                engine.sendall(chunk)
                found = [each.decode() for each in _REQUEST.findall(chunk)]
                self.requests += found
                self.noted_s += [now_s for each in found if self.noted and each.endswith(self.noted)]
            engine.shutdown(socket.SHUT_RDWR)
            back.join()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while chunk := source.recv(1 << 16):
            sink.sendall(chunk)
        sink.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def counted(target: str, path: Path, noted: str = "") -> Iterator[CountingSocket]:
    """Give such a socket at `path` in front of the one at `target`."""
    made = CountingSocket(path, target, noted)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(0)  # so few may wait that any crowd has to stand in line
        server = threading.Thread(target=made.serve, args=(listener,))
        server.start()
        try:
            yield made
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            server.join()
