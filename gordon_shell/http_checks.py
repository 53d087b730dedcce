"""HTTP checks as operators, containers and images write them: [PORT]/PATH."""

import re

from gordon_core.observation import Port, Protocol
from gordon_core.snapshot import HttpCheck
from gordon_shell.errors import UsageError

_HTTP = re.compile(r"([0-9]{1,5})?(/[!-~]*)")


def http_check(name: str, text: str, ports: tuple[Port, ...]) -> HttpCheck:
    """Return the HTTP check that is written for `name`, which publishes these ports. Raise UsageError where it is none."""
    tcp = tcp_numbers(ports)
    found = _HTTP.fullmatch(text)
    if found is None:
        message = f"{text!r} is no HTTP check for {name}; write it as [PORT]/PATH, such as 8080/healthz"
        raise UsageError(message)
    if not found[1] and len(tcp) != 1:
        which = f"one of {', '.join(map(str, tcp))}" if tcp else "none, since it publishes no TCP port"
        message = f"the HTTP check {text!r} for {name} names no port, and could mean {which}; write it as [PORT]/PATH"
        raise UsageError(message)
    port = int(found[1]) if found[1] else tcp[0]
    if port not in tcp:
        message = f"{name} publishes no port {port}/tcp for the HTTP check {text!r}; it publishes {_listed(ports)}"
        raise UsageError(message)
    return HttpCheck(port, found[2])


def tcp_numbers(ports: tuple[Port, ...]) -> list[int]:
    """Return the numbers of the TCP ports, in order."""
    return [each.number for each in ports if each.protocol is Protocol.TCP]


def _listed(ports: tuple[Port, ...]) -> str:
    return ", ".join(map(str, ports)) or "none at all"
