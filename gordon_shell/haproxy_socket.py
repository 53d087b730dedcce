"""HAProxy's runtime socket: one command a connection, and what `show servers state` and `show stat` say.

HAProxy's replies carry no status, so nothing is concluded from the reply to a change: it is kept for its words, and what is so
is read back.
"""

import csv
import time

from attrs import frozen

from gordon_core.observation import Bind, Port
from gordon_shell.errors import RouterError
from gordon_shell.unix_sockets import connected

_FORCED_MAINTENANCE = 0x01
_ANY_MAINTENANCE_OR_DRAIN = 0x01 | 0x02 | 0x08 | 0x10 | 0x20 | 0x40
_STOPPED = "0"
_TAKES_REQUESTS = ("1", "2")  # starting (slow start) and running; 3 is stopping
_FORMAT = "1"
_COLUMNS = ("be_name", "srv_name", "srv_addr", "srv_op_state", "srv_admin_state", "srv_uweight", "srv_port")
LOOPBACK = "127.0.0.1"


@frozen
class Slot:
    """One server of a backend as HAProxy reports it.

    `is_in_maintenance`: provably gets no new request. `takes_requests`: new requests are balanced to it. Neither holds for one
    that drains, is down, or has weight 0.
    """

    backend: str
    name: str
    address: str
    port: int
    is_in_maintenance: bool
    takes_requests: bool

    def serves(self, host_port: int) -> bool:
        """Tell whether it takes new requests, to this port on loopback."""
        return self.takes_requests and self.is_at(host_port)

    def is_at(self, host_port: int) -> bool:
        """Tell whether its address is this port on loopback."""
        return (self.address, self.port) == (LOOPBACK, host_port)

    def binds(self, port: Port) -> tuple[Bind, ...]:
        """Return where it sends new requests of `port`: none in maintenance, one bind if it serves loopback.

        Everything else is both its bind and one at host port 0, which is no container's: a route that is wrong in every
        comparison, and so is withdrawn and published anew.
        """
        if self.is_in_maintenance:
            return ()
        here = Bind(port, self.port)
        return (here,) if self.serves(self.port) else (here, Bind(port, 0))


class RuntimeSocket:
    """Speaks to the socket at `path`; one whole exchange may take `timeout_s` seconds. Every method raises RouterError."""

    def __init__(self, path: str, timeout_s: float) -> None:
        """Remember where it is; nothing is opened between commands."""
        self._path = path
        self._timeout_s = timeout_s

    def ask(self, command: str) -> str:
        """Send one command and return the whole reply, without the empty line that ends it."""
        try:
            reply = self._exchange(command)
        except TimeoutError as error:
            message = f"HAProxy did not answer at {self._path} within {self._timeout_s:g} s; see whether it hangs, or restart it"
            raise RouterError(message) from error
        except OSError as error:
            message = f"HAProxy cannot be reached at {self._path} ({error.strerror or error}); {_remedy(error)}"
            raise RouterError(message) from error
        return self._whole(reply)

    def slots(self, backend: str = "") -> tuple[Slot, ...]:
        """Read the slots of one backend, or of every backend, in one call."""
        reply = self.ask(f"show servers state {backend}".rstrip())
        try:
            return _parse_slots(reply)
        except (IndexError, ValueError) as error:
            message = f"HAProxy at {self._path} answered {reply[:80]!r} when asked for its servers; is it HAProxy 2.6 or later?"
            raise RouterError(message) from error

    def sessions(self) -> tuple[tuple[str, int], ...]:
        """Read, for every slot of every backend, the name of the backend and the sessions that it has now."""
        reply = self.ask("show stat -1 4 -1")
        header, *rows = csv.reader(reply.removeprefix("# ").splitlines())
        try:
            name, current = header.index("pxname"), header.index("scur")
            return tuple((row[name], int(row[current])) for row in rows if row)
        except (IndexError, ValueError) as error:
            message = f"HAProxy at {self._path} answered {reply[:80]!r} when asked for its sessions; is it HAProxy 2.6 or later?"
            raise RouterError(message) from error

    def _exchange(self, command: str) -> bytes:
        until = time.monotonic() + self._timeout_s
        chunks: list[bytes] = []
        with connected(self._path, self._timeout_s) as connection:
            connection.sendall(command.encode() + b"\n")
            while chunk := connection.recv(1 << 16):
                chunks.append(chunk)
                connection.settimeout(max(until - time.monotonic(), 0.001))
        return b"".join(chunks)

    def _whole(self, reply: bytes) -> str:
        """Refuse a reply that was cut off: the routes missing from it would look withdrawn."""
        text = reply.decode("utf-8", "replace")
        if text != "\n" and not text.endswith("\n\n"):
            message = f"HAProxy at {self._path} hung up in the middle of its answer; see whether it is being restarted"
            raise RouterError(message)
        return text.removesuffix("\n")


def _remedy(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return "run this as the owner of the socket"
    return "start it with `stats socket` at that path (`gordon-shell haproxy-config` shows how), or name the socket that it has"


def _parse_slots(reply: str) -> tuple[Slot, ...]:
    version, header, *lines = reply.splitlines()
    if version != _FORMAT:
        message = f"format {version}"
        raise ValueError(message)
    names = header.removeprefix("# ").split(" ")
    columns = [names.index(each) for each in _COLUMNS]
    return tuple(_parse_slot([line.split(" ")[column] for column in columns]) for line in lines if line)


def _parse_slot(words: list[str]) -> Slot:
    backend, name, address, operational, administrative, weight, port = words
    admin = int(administrative)
    return Slot(
        backend,
        name,
        address,
        int(port),
        is_in_maintenance=bool(admin & _FORCED_MAINTENANCE) and operational == _STOPPED,
        takes_requests=not admin & _ANY_MAINTENANCE_OR_DRAIN and operational in _TAKES_REQUESTS and int(weight) > 0,
    )


__all__ = ["LOOPBACK", "RuntimeSocket", "Slot"]
