"""How services are named in HAProxy, and the one generated fragment of its configuration.

Each declared TCP port of a service has a backend `gordon:APP:SERVICE:PORT` with two slots. In a name, letters, digits, `_` and
`-` stand for themselves, and every other byte of its UTF-8 is written `.xx` (two lower-case hexadecimal digits): so no two
services share a name, and nothing in a name can be read as configuration or as a second command.
"""

import re
from collections.abc import Iterable

from gordon_core.observation import Port, Protocol
from gordon_shell.errors import UsageError

SLOTS = 2

_PREFIX = "gordon"
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_ESCAPED = re.compile(rb"\.([0-9a-f]{2})")
_NAME = re.compile(rf"{_PREFIX}:([^:]+):([^:]+):([1-9][0-9]{{0,4}})")
_BARE_PATH = re.compile(r"[\w/.,:@%+=-]+")

_HEAD = """\
# Made by `gordon-shell haproxy-config`. Do not edit it: make it again when a service or one of its TCP ports is new, and reload.
#
# Load it after your own configuration, from which it takes `mode` and the timeouts (the last `defaults` section):
#
#     haproxy -f /etc/haproxy/haproxy.cfg -f /etc/haproxy/gordon.cfg
#     (Debian: EXTRAOPTS="-f /etc/haproxy/gordon.cfg" in /etc/default/haproxy)
#
# Your own configuration needs, once, the socket through which routes are set:
#
#     global
#         stats socket {socket} mode 600 level admin
#         hard-stop-after 30s    # after a reload the old process ends soon, and with it the routes that it had
#
# and a frontend that uses the backends below, such as:
#
#     frontend web
#         mode http
#         bind 127.0.0.1:8080
#         use_backend {example} if {{ hdr(host) -i www.example.org }}
#
# Every slot starts in maintenance (HAProxy answers 503) until its service was verified, after a reload too: a state of servers
# that your configuration keeps in a file would bring back the routes of another day. A refused connection is not tried again,
# since by then its port may be another container's.
"""


def backend_name(app: str, service: str, port: int) -> str:
    """Return the name of the backend of one TCP port of a service; `service_of` is its inverse."""
    return f"{_PREFIX}:{_escape(app)}:{_escape(service)}:{port}"


def service_of(backend: str) -> tuple[str, str, Port] | None:
    """Return (app, service, port) of a backend, or None for a name that `backend_name` never gives."""
    found = _NAME.fullmatch(backend)
    if found is None:
        return None
    try:
        app, service, port = _unescape(found[1]), _unescape(found[2]), Port(int(found[3]))
    except ValueError:
        return None
    return (app, service, port) if backend_name(app, service, port.number) == backend else None


def haproxy_config(services: Iterable[tuple[str, str, tuple[Port, ...]]], socket_path: str) -> str:
    """Return the fragment for these (app, service, ports): the same text for the same services in any order.

    UDP ports are left out. Raise UsageError for a socket path that cannot be written into a configuration.
    """
    ports = {(app, service, port.number) for app, service, all_ports in services for port in all_ports if _is_tcp(port)}
    names = [backend_name(*each) for each in sorted(ports)]
    head = _HEAD.format(socket=_quoted(socket_path), example=names[0] if names else backend_name("APP", "SERVICE", 80))
    return head + "".join(_backend(name) for name in names)


_BACKEND = """
backend {name}
    retries 0
    load-server-state-from-file none
    server-template gen {slots} 127.0.0.1:1 disabled pool-max-conn 0
"""


def _backend(name: str) -> str:
    return _BACKEND.format(name=name, slots=SLOTS)


def _is_tcp(port: Port) -> bool:
    return port.protocol is Protocol.TCP


def _escape(text: str) -> str:
    return "".join(chr(byte) if byte in _PLAIN else f".{byte:02x}" for byte in text.encode("utf-8", "surrogatepass"))


def _unescape(text: str) -> str:
    raw = _ESCAPED.sub(lambda found: bytes.fromhex(found[1].decode()), text.encode())
    return raw.decode("utf-8", "surrogatepass")


def _quoted(path: str) -> str:
    if _BARE_PATH.fullmatch(path):
        return path
    if not path or "'" in path or not path.isprintable():
        message = f"the socket path {path!r} cannot be written into a HAProxy configuration; choose one of plain characters"
        raise UsageError(message)
    return f"'{path}'"


__all__ = ["SLOTS", "backend_name", "haproxy_config", "service_of"]
