"""Connections to Unix sockets, for everything here that makes one: HAProxy's, the engine's."""

import socket
import time

_IN_LINE_S = 0.01


def connected(path: str, timeout_s: float | None) -> socket.socket:
    """Return a connection to the socket at `path`, with `timeout_s` seconds for this and for each later call (None: no end).

    Where as many wait already as the listener lets, it waits in line: the kernel refuses a socket with a timeout there at once,
    and does not let it wait. Raise OSError, TimeoutError where the time is over; nothing is left open then.
    """
    until_s = time.monotonic() + timeout_s if timeout_s is not None else float("inf")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout_s)
        while True:
            try:
                connection.connect(path)
            except BlockingIOError:
                if time.monotonic() >= until_s:
                    raise TimeoutError from None
                time.sleep(_IN_LINE_S)
            else:
                return connection
    except BaseException:
        connection.close()
        raise
