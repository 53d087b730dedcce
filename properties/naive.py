"""The rules once more, as naively as can be: one procedure, read from top to bottom, for each service of each pass.

Written from the rules of the specification and the list of deliberate decisions, and from nothing in the core that decides: no
table, no facts, no folds, no effects. It knows the values (what was seen, memory) and the ports, and asks the ports anew after
whatever it did. It is slow, does one service after the other, and is the other opinion in `test_differential`.

Not modelled, since the simulated worlds have none: grants, host policies, deadlines of single commands, `--rearm`.
"""

from contextlib import suppress

from attrs import define

from gordon_core.effects import Done
from gordon_core.observation import Container, Gone, HealthStatus, Unread
from gordon_core.snapshot import Intent
from gordon_shell.ports import Marker, Service
from properties.naive_eyes import Leave, Stale
from properties.naive_rules import Rules, host_ports
from properties.naive_view import DOWN, View

MOST_SWEEPS = 4
MOST_TURNS = 6


@define(eq=False)
class Naive(Rules):
    """The other opinion. `run_pass` may raise StoreError, like the product's."""

    # --- one pass ----------------------------------------------------------------------------------------------------

    def run_pass(self) -> None:
        """Look at everything, withdraw what is wrong, go through the services, then through superseded containers."""
        for each in (self.attempted, self.awaited, self.failed, self.withdrawn, self.supplanted):
            each.clear()
        try:
            for app in sorted({each.app for each in self.ports.store.read()}):
                self.lock(app)
            for _sweep in range(MOST_SWEEPS):
                before = self.commands
                self.sweep()
                if self.commands == before:
                    break
            self.write_held()
        finally:
            for lock in self.mine.values():
                lock.release()
            self.mine.clear()

    def sweep(self) -> None:
        """Go through everything once."""
        self.look_at_all()
        for view in self.in_order():
            self.withdraw_first(view)
        routes = self.read_routes()
        for view in self.in_order():
            view.routes = routes
            self.prove(view)
        for view in self.in_order():
            self.go_through(view, superseded=False)
        for view in self.in_order():
            self.go_through(view, superseded=True)

    def go_through(self, view: View, *, superseded: bool) -> None:
        """Do what there is to do for one service; look again before the first command, since the others may have taken long."""
        if view.app not in self.mine or view.key in self.supplanted:
            return
        for _turn in range(MOST_TURNS):
            before = self.commands
            with suppress(Leave):
                try:
                    self.go_through_once(view.key, superseded=superseded)
                except Stale:
                    self.look_again(view)
                    self.go_through_once(view.key, superseded=superseded)
            if self.commands == before or view.key in self.supplanted:
                return
            with suppress(Leave):
                self.look_again(self.views[view.key])

    def go_through_once(self, key: Service, *, superseded: bool) -> None:
        """Do what there is to do, from what is known now."""
        if superseded:
            self.retire(self.views[key])
        else:
            self.serve(self.views[key])

    # --- wrong routes, before the first start ------------------------------------------------------------------------

    def withdraw_first(self, view: View) -> None:
        """Withdraw what is wrong on the whole host; a port that another service's container holds, under any lock."""
        clash = any(set(host_ports(view.route)) & self.held_by(each) for each in self.views.values() if each.key != view.key)
        if not clash and view.app not in self.mine:
            return
        stored = view.stored
        unwanted = stored.declared is None or stored.intent is Intent.STOPPED or bool(stored.inhibited)
        wrong = bool(view.route) if unwanted else view.route_is_wrong()
        if not (clash or wrong or view.unproven):
            return
        if ("withdraw", view.key) in self.failed:
            return
        outcome = self.ports.router.withdraw(*view.key)
        self.commands += 1
        self.went(view, "withdraw", outcome)
        if isinstance(outcome, Done):
            self.withdrawn.add(view.key)
        self.mark(view, unproven=not isinstance(outcome, Done))

    # --- superseded containers ---------------------------------------------------------------------------------------------

    def retire(self, view: View) -> None:
        """Do what the markers of a service ask for."""
        for marker in view.stored.markers:
            view = self.views[view.key]
            declared = view.stored.declared
            if declared is not None and declared.container_id == marker.container_id:
                self.about_to(view, "drop marker")
                self.went(view, "drop marker", self.ports.store.drop_marker(*view.key, marker.container_id))
                continue
            if self.is_needed(view):
                continue
            self.end(view, marker)

    def is_needed(self, view: View) -> bool:
        """Tell whether its successor was not seen to serve, although it should."""
        if view.stored.declared is None or view.stored.intent is Intent.STOPPED:
            return False
        if view.is_done and not view.published:
            return False
        serves = view.is_verified and view.health is not HealthStatus.UNHEALTHY
        return not serves or (view.published and not view.is_routed)

    def end(self, view: View, marker: Marker) -> None:
        """Retire one superseded container: withdraw, stop, remove, release its claims, drop its marker."""
        named = marker.container_id
        claims = marker.binds + (marker.verified.binds if marker.verified is not None else ())
        own = set(view.binds) if view.stored.declared is not None and view.is_verified else set()
        if view.routes is None or (view.route & set(claims)) - own or view.unproven:
            self.withdraw_or_leave(view)
            view = self.views[view.key]
        if isinstance(view.olds[named], Unread) or (self.is_held(view) and not isinstance(view.olds[named], Gone)):
            return
        old = view.olds[named]
        if isinstance(old, Container) and old.status not in DOWN:
            self.about_to(view, f"stop {named}")
            self.went(view, f"stop {named}", self.ports.engine.stop(named, marker.stop_grace_s))
            self.look_again(view)
            view = self.views[view.key]
            old = view.olds[named]
        if isinstance(old, Container) and old.status in DOWN and not self.is_needed(view):
            self.about_to(view, f"remove {named}")
            self.went(view, f"remove {named}", self.ports.engine.remove(named))
            self.look_again(view)
            view = self.views[view.key]
        if not isinstance(view.olds[named], Gone):
            return
        if marker.binds:
            self.about_to(view, f"release {named}")
            outcome = self.ports.store.release_claims(*view.key, named)
            self.went(view, f"release {named}", outcome)
            if not isinstance(outcome, Done):
                return
        self.about_to(view, f"drop {named}")
        self.went(view, f"drop {named}", self.ports.store.drop_marker(*view.key, named))
