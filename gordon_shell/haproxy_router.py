"""The router that sets routes in a running HAProxy, without a reload and without breaking a connection.

A service has one backend per TCP port, with two slots used in turn. The address of a slot that takes requests is never changed
(its pooled connections would go on to the old one): the idle slot, in maintenance, is given the new address, then made ready, and
only then the other one is put into maintenance. Every step counts once it was read back. What was changed by hand (a weight, a
drain, a third server) is put right on the way. HAProxy forgets all this when it restarts, and then answers 503.
"""

import threading
from collections.abc import Mapping
from typing import assert_never

from attrs import define, field

from gordon_core.effects import Done, Fault, Outcome, Refused, Unknown
from gordon_core.observation import Binds, Port, Protocol
from gordon_shell.errors import RouterError
from gordon_shell.haproxy_config import backend_name, haproxy_config, service_of
from gordon_shell.haproxy_socket import LOOPBACK, RuntimeSocket, Slot
from gordon_shell.ports import Routes, Service
from gordon_shell.routable import in_order, objection, words

DEFAULT_TIMEOUT_S = 2.0
_UNCONFIGURED = "run `gordon-shell haproxy-config`, put what it prints into HAProxy's configuration, and reload HAProxy"

_Backends = Mapping[Port, tuple[Slot, ...]]


class HaproxyRouter:
    """The Router port on HAProxy's runtime socket at `socket_path` (level admin). It carries TCP only.

    One exchange with HAProxy may take `timeout_s` seconds. Commands for one service go one at a time within this process; across
    processes the app lock sees to that.
    """

    def __init__(self, socket_path: str, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        """Remember where HAProxy is; nothing is opened before the first call."""
        self._socket = RuntimeSocket(socket_path, timeout_s)
        self._turns: dict[Service, threading.Lock] = {}

    def read(self) -> Routes:
        """Return every route in one call. Raise RouterError.

        A slot not provably in maintenance is a route, and one that does not simply serve loopback is a wrong one (`Slot.binds`).
        """
        routed = {service: _binds(backends) for service, backends in self._services().items()}
        return Routes({service: binds for service, binds in routed.items() if binds}, carries=(Protocol.TCP,))

    def publish(self, app: str, service: str, binds: Binds) -> Outcome:
        """Route exactly the TCP binds; a failure half-way withdraws what was published. Unknown if HAProxy did not answer."""
        wanted = tuple(bind for bind in binds if bind.port.protocol is Protocol.TCP)
        with self._turn(app, service):
            try:
                return self._publish(app, service, wanted)
            except RouterError as error:
                return Unknown(str(error))

    def withdraw(self, app: str, service: str) -> Outcome:
        """Put every slot of the service into maintenance, read back. Done where it has no backend; Unknown without an answer."""
        with self._turn(app, service):
            try:
                return self._withdraw(app, service)
            except RouterError as error:
                return Unknown(str(error))

    def sessions(self, app: str, service: str) -> int:
        """Return the sessions over all slots of the service now, those in maintenance too. Raise RouterError."""
        counted = ((service_of(backend), count) for backend, count in self._socket.sessions())
        return sum(count for named, count in counted if named and named[:2] == (app, service))

    def unknown(self, app: str, service: str, ports: tuple[Port, ...]) -> tuple[Port, ...]:
        """Return the TCP ports for which HAProxy has no backend. Raise RouterError."""
        backends = self._services().get((app, service), {})
        return tuple(each for each in ports if each.protocol is Protocol.TCP and each not in backends)

    def _publish(self, app: str, service: str, wanted: Binds) -> Outcome:
        backends = self._services().get((app, service), {})
        objection = _objection(app, service, wanted, backends)
        if objection:
            return Refused(objection, Fault.ROUTER)
        talk = _Talk(self._socket)
        for bind in wanted:
            talk.lead(backends[bind.port], bind.host_port)
        serving = {bind.port: bind.host_port for bind in wanted}
        for port, slots in backends.items():
            talk.silence_all_but(slots, serving.get(port))
        routed = _binds(self._services().get((app, service), {}))
        if set(routed) == set(wanted):
            return Done()
        return self._undo(app, service, f"{words(routed)} is routed instead of {words(wanted)}; {talk.words()}")

    def _undo(self, app: str, service: str, reason: str) -> Refused:
        match self._withdraw(app, service):
            case Done():
                return Refused(f"{reason}; what was published was withdrawn again", Fault.ROUTER)
            case Refused(more):
                return Refused(f"{reason}; nor could it be withdrawn: {more}", Fault.ROUTER)
            case _ as never:
                assert_never(never)

    def _withdraw(self, app: str, service: str) -> Done | Refused:
        talk = _Talk(self._socket)
        for slots in self._services().get((app, service), {}).values():
            talk.silence_all_but(slots, None)
        routed = _binds(self._services().get((app, service), {}))
        if not routed:
            return Done()
        return Refused(f"{words(routed)} is still routed; {talk.words()}", Fault.ROUTER)

    def _services(self) -> dict[Service, dict[Port, tuple[Slot, ...]]]:
        found: dict[Service, dict[Port, tuple[Slot, ...]]] = {}
        for slot in self._socket.slots():
            named = service_of(slot.backend)
            if named is not None:
                app, service, port = named
                backends = found.setdefault((app, service), {})
                backends[port] = (*backends.get(port, ()), slot)
        return found

    def _turn(self, app: str, service: str) -> threading.Lock:
        return self._turns.setdefault((app, service), threading.Lock())


@define
class _Talk:
    """The commands for one service, with what HAProxy said to them, for print. Raises RouterError where it says nothing."""

    socket: RuntimeSocket
    said: list[str] = field(factory=list)

    def lead(self, slots: tuple[Slot, ...], host_port: int) -> None:
        """Make one slot serve this port, unless one does. A slot whose new address was not read back stays in maintenance."""
        if any(slot.serves(host_port) for slot in slots):
            return
        idle = min(slots, key=lambda slot: (not slot.is_in_maintenance, slot.takes_requests))
        if not idle.is_in_maintenance:
            self._set(idle, "state maint")
        if not self._reread(idle).is_in_maintenance:
            return
        self._set(idle, f"addr {LOOPBACK} port {host_port}")
        self._set(idle, "weight 100%")
        if self._reread(idle).is_at(host_port):
            self._set(idle, "state ready")

    def silence_all_but(self, slots: tuple[Slot, ...], host_port: int | None) -> None:
        """Put every slot into maintenance but those that serve this port; all of them, where none does."""
        for slot in self.socket.slots(slots[0].backend):
            if not slot.is_in_maintenance and (host_port is None or not slot.serves(host_port)):
                self._set(slot, "state maint")

    def words(self) -> str:
        """Return what HAProxy said, in its own words."""
        return f"HAProxy said: {' / '.join(dict.fromkeys(self.said))}" if self.said else "HAProxy said nothing"

    def _set(self, slot: Slot, what: str) -> None:
        reply = self.socket.ask(f"set server {slot.backend}/{slot.name} {what}").strip()
        if reply:
            self.said.append(reply)

    def _reread(self, slot: Slot) -> Slot:
        return next((each for each in self.socket.slots(slot.backend) if each.name == slot.name), slot)


def _objection(app: str, service: str, wanted: Binds, backends: _Backends) -> str:
    """Return why this cannot be published, before anything is touched, or ""."""
    missing = [backend_name(app, service, bind.port.number) for bind in wanted if bind.port not in backends]
    return f"HAProxy has no such backend: {', '.join(missing)}; {_UNCONFIGURED}" if missing else objection(wanted)


def _binds(backends: _Backends) -> Binds:
    return in_order(tuple({bind for port, slots in backends.items() for slot in slots for bind in slot.binds(port)}))


__all__ = ["DEFAULT_TIMEOUT_S", "HaproxyRouter", "haproxy_config"]
