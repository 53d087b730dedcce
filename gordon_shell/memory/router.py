"""A router in memory: a proxy without a proxy, which can be made to fail, to forget, and to be changed behind one's back."""

import threading

from gordon_core.effects import Done, Fault, Outcome, Refused
from gordon_core.observation import Binds, Port, Protocol
from gordon_shell.errors import RouterError
from gordon_shell.ports import Routes, Service
from gordon_shell.routable import in_order, objection


class MemoryRouter:
    """The Router port in memory; safe for threads.

    `fail_reads`, `fail_publish` and `fail_withdraw` are "" or the reason with which such calls fail from now on. `running` is how
    many sessions `sessions` tells of. `unconfigured` are services whose ports it knows nothing of.
    """

    def __init__(self, carries: tuple[Protocol, ...] = (Protocol.TCP, Protocol.UDP)) -> None:
        """Begin with no routes."""
        self.fail_reads = ""
        self.fail_publish = ""
        self.fail_withdraw = ""
        self.running: dict[Service, int] = {}
        self.unconfigured: set[Service] = set()
        self._carries = carries
        self._routes: dict[Service, Binds] = {}
        self._turn = threading.Lock()

    def read(self) -> Routes:
        """Return all routes. Raise RouterError with `fail_reads`."""
        self._refuse_to_read()
        with self._turn:
            return Routes({service: binds for service, binds in self._routes.items() if binds}, self._carries)

    def publish(self, app: str, service: str, binds: Binds) -> Outcome:
        """Route exactly those binds whose protocol it carries."""
        carried = tuple(bind for bind in binds if bind.port.protocol in self._carries)
        if self.fail_publish:
            return Refused(self.fail_publish, Fault.ROUTER)
        reason = objection(carried)
        if reason:
            return Refused(reason, Fault.ROUTER)
        self.route_by_hand(app, service, carried)
        return Done()

    def withdraw(self, app: str, service: str) -> Outcome:
        """Take every route of the service away."""
        if self.fail_withdraw:
            return Refused(self.fail_withdraw, Fault.ROUTER)
        with self._turn:
            self._routes.pop((app, service), None)
        return Done()

    def sessions(self, app: str, service: str) -> int:
        """Return what `running` says, or 0. Raise RouterError with `fail_reads`."""
        self._refuse_to_read()
        return self.running.get((app, service), 0)

    def unknown(self, app: str, service: str, ports: tuple[Port, ...]) -> tuple[Port, ...]:
        """Return all of the ports of what is unconfigured. Raise RouterError with `fail_reads`."""
        self._refuse_to_read()
        return ports if (app, service) in self.unconfigured else ()

    def forget(self) -> None:
        """Lose every route, as a proxy does that was killed and started again."""
        with self._turn:
            self._routes.clear()

    def route_by_hand(self, app: str, service: str, binds: Binds) -> None:
        """Route anything at all, as somebody at the proxy's own console would; nothing is checked and nothing fails."""
        with self._turn:
            self._routes[app, service] = in_order(binds)

    def _refuse_to_read(self) -> None:
        if self.fail_reads:
            raise RouterError(self.fail_reads)


__all__ = ["MemoryRouter"]
