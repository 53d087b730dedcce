"""The rules for one service, from top to bottom, as the naive model reads them; see `naive`."""

from collections.abc import Iterable

from attrs import define, evolve

from gordon_core.effects import Done, Fault, Outcome, Refused
from gordon_core.memory import Attempt, Memory, Verified
from gordon_core.observation import Bind, Binds, Container, Gone, HealthStatus, HostPort, Status, Unread
from gordon_core.snapshot import Intent
from properties.naive_eyes import NOTHING, Eyes, leave
from properties.naive_view import View

HOLDS_PORTS = frozenset({Status.RUNNING, Status.PAUSED})
_LOOK_AT_HEALTH_EVERY_S = 0.5


@define(eq=False)
class Rules(Eyes):
    """What is done to one service."""

    def serve(self, view: View) -> None:  # noqa: C901, PLR0912 - the rules one after the other, on purpose
        """Follow the rules, in their order."""
        stored = view.stored
        if stored.declared is None:  # rule 1
            if view.route:
                self.withdraw_or_leave(view)
            self.forget_orphans(view)
            leave("ACTIVE names no container")
        self.forget_orphans(view)
        if stored.intent is Intent.STOPPED:
            self.stop(view)
        if stored.inhibited:  # rule 2
            if view.route or view.unproven:
                self.withdraw_or_leave(view)
            leave("inhibited")
        if view.unproven:  # rule 3
            self.withdraw_or_leave(view)
            view = self.views[view.key]
        if isinstance(view.seen, Unread):  # rule 4
            leave("it cannot be read")
        if isinstance(view.seen, Gone):  # rule 5
            self.bury(view)
            leave("gone")
        if view.route_is_wrong():  # rule 6
            self.withdraw_or_leave(view)
            view = self.views[view.key]
        if view.is_done:
            self.settle(view)
        if self.is_held(view) and view.is_down:
            leave("held")
        if self.contested(view):
            self.give_way(view)
        if view.is_down:  # rule 9
            view = self.start(view)
        if not view.runs:  # rules 7 and 8, and what came of a start
            leave("it neither runs nor is down")
        self.go_on_running(view)

    def settle(self, view: View) -> None:
        """It is done: nothing is routed to it, and no trouble of it is remembered."""
        view = self.withdraw_if_needed(view)
        if view.memory.has_history():
            self.about_to(view, "drop history")
            self.remember(view, without_history(view.memory))
        leave("done")

    def forget_orphans(self, view: View) -> None:
        """Drop what is remembered of containers that nothing names any more."""
        for each in view.stored.orphans:
            self.about_to(view, "forget")
            self.went(view, "forget", self.ports.store.save_memory(*view.key, each, NOTHING))

    def stop(self, view: View) -> None:
        """Do what stopped intent asks for. Its history goes once it is seen down: the product reads the rule so."""
        if view.is_down and view.memory != without_history(view.memory):
            self.about_to(view, "drop history")
            self.remember(view, without_history(view.memory))
        unknown = view.routes is None and view.published and view.key not in self.withdrawn
        if (view.route or view.unproven or unknown) and ("withdraw", view.key) not in self.failed:
            self.withdraw(view)
            self.look_again(view)
            view = self.views[view.key]
        if isinstance(view.seen, Container) and not view.is_down and view.seen.status is not Status.REMOVING:
            if self.is_held(view):
                leave("held")
            self.about_to(view, "stop")
            outcome = self.ports.engine.stop(view.declared.container_id, view.declared.stop_grace_s)
            self.went(view, "stop", outcome)
        if isinstance(view.seen, Gone):
            self.bury(view)
        leave("it is to be stopped")

    def bury(self, view: View) -> None:
        """Rule 5: withdraw, then release the port claims, then forget."""
        view = self.withdraw_if_needed(view)
        if view.declared.binds:
            self.about_to(view, "release")
            outcome = self.ports.store.persist_binds(view.generation, ())
            self.went(view, "release", outcome)
            if not isinstance(outcome, Done):
                leave("its claims could not be released")
        if view.memory != NOTHING:
            self.about_to(view, "forget")
            self.remember(view, NOTHING)

    def give_way(self, view: View) -> None:
        """The port that it holds is named by another service's route, which could not be withdrawn."""
        port = self.contested(view)
        if view.route:
            self.withdraw_or_leave(view)
        if self.is_held(view):
            leave("held")
        self.about_to(view, "stop")
        outcome = self.ports.engine.stop(view.declared.container_id, view.declared.stop_grace_s)
        self.went(view, "stop", outcome)
        self.remember(view, evolve(view.memory, attempt=None, contested_port=port))
        leave(f"another service's route names its port {port}")

    def held_by(self, view: View) -> set[HostPort]:
        """Return the host ports that the containers of a service hold."""
        everything = [view.seen, *view.olds.values()]
        alive = [each for each in everything if isinstance(each, Container) and each.status in HOLDS_PORTS]
        return {(port.host_port, port.port.protocol) for each in alive for port in each.ports}

    def contested(self, view: View) -> int:
        """Return a port of the container that another service's route names, although that was to be withdrawn; or 0."""
        held, routes = self.held_by(evolve(view, olds={})), view.routes
        others = {key: binds for key, binds in routes.by_service.items() if key != view.key} if routes is not None else {}
        found = {port: key for key, binds in others.items() for port in held & set(host_ports(binds))}
        if found and not any(("withdraw", key) in self.failed for key in found.values()):
            leave("its port is named by another service's route, which is to be withdrawn first")
        return min((port for port, _ in found), default=0)

    # --- rule 9, and what it shares with rule 10 -----------------------------------------------------------------------

    def start(self, view: View) -> View:
        """Bring it up, if that may be done now; return what is known after it."""
        if view.is_pending:
            self.charge(view, view.started_at)
            self.look_again(view)
            view = self.views[view.key]
        self.wait_for_budget(view)
        strangers = (each for each in self.views.values() if each.key != view.key)
        others = {port for each in strangers for port in set(host_ports(each.route)) - self.held_by(each)}
        if set(host_ports(view.declared.binds)) & others or view.memory.contested_port in {port for port, _ in others}:
            leave("it waits for a port that another service's route names")
        return self.attempt(view, restart=False)

    def attempt(self, view: View, *, restart: bool) -> View:
        """Start or restart it: nothing routes to it, the attempt is on record, and afterwards it is read again."""
        named = view.declared.container_id
        if named in self.attempted:
            leave("it was attempted in this pass")
        view = self.withdraw_if_needed(view)
        self.about_to(view, "start")
        before = view.started_at
        self.remember(view, evolve(view.memory, attempt=Attempt(before)))
        self.attempted.add(named)
        engine = self.ports.engine
        outcome = engine.restart(named, view.declared.stop_grace_s) if restart else engine.start(named)
        self.went(view, "start", outcome)
        self.look_again(view)
        view = self.views[view.key]
        if isinstance(view.seen, Gone):
            self.bury(view)
        if view.started_at != before:
            self.remember(view, evolve(view.memory, strikes=None))
        if view.started_at == before and isinstance(view.seen, Container) and is_refusal(outcome):
            self.charge(view, "")
        if view.is_done or (view.is_down and self.is_held(view)):
            leave("done, or held")
        if view.is_down and view.is_pending:
            self.charge(view, view.started_at)
        if not view.runs or view.started_at == before:
            leave("it did not come up")
        if self.contested(view):
            self.give_way(view)
        if view.memory.contested_port:
            self.remember(view, evolve(view.memory, contested_port=0))
        return view

    # --- rules 10 to 14 --------------------------------------------------------------------------------------------------

    def go_on_running(self, view: View) -> None:
        """It runs."""
        strikes = view.memory.strikes
        if (
            view.health is HealthStatus.UNHEALTHY
            and strikes is not None
            and strikes.started_at == view.started_at
            and strikes.count >= view.declared.policy.unhealthy_threshold
        ):
            if self.is_held(view) and not view.is_only_withdrawn:
                leave("held")
            if view.is_pending:
                self.charge(view, view.started_at)
                self.look_again(view)
                view = self.views[view.key]
            if view.is_only_withdrawn:
                self.withdraw_if_needed(view)
                leave("unhealthy, and left running")
            self.wait_for_budget(view)
            view = self.attempt(view, restart=True)
        if not view.is_verified or (view.published and view.routes is not None and not view.is_routed):
            view = self.verify(view)
        window = view.memory.window
        if (
            window is not None
            and view.is_stable
            and self.ports.clock.now().boot_s - window.since_s >= view.declared.policy.stable_window_s
        ):
            self.about_to(view, "drop history")
            self.remember(view, without_history(view.memory))

    def verify(self, view: View) -> View:
        """Rules 11 to 13: readiness, the record, and only then the traffic."""
        if len(view.binds) < len(view.declared.ports):
            if view.health is HealthStatus.STARTING:
                leave("its ports are missing, but nothing is charged while it is starting")
            self.charge_unverified(view, view.started_at)
        if view.published and view.routes is None:
            leave("the router cannot be read, so that nothing could be published")
        view = self.wait_for_health(view)
        execution, binds = view.started_at, view.binds
        if len(binds) < len(view.declared.ports):
            leave("it changed")
        if binds:
            view = self.ask(view, execution, binds)
        if set(view.declared.binds) != set(binds):
            self.about_to(view, "persist")
            outcome = self.ports.store.persist_binds(view.generation, binds)
            self.went(view, "persist", outcome)
            self.look_again(view)
            view = self.views[view.key]
            if set(view.declared.binds) != set(binds) or not isinstance(outcome, Done):
                leave("its binds are not on record")
        if (view.started_at, view.binds, view.runs) != (execution, binds, True):
            leave("it changed")
        if not view.is_verified:
            self.about_to(view, "remember")
            self.remember(view, evolve(view.memory, verified=Verified(execution, binds, view.declared.revision)))
        return self.publish(view, binds)

    def wait_for_health(self, view: View) -> View:
        """Ready includes healthy: wait for a check that is starting, once a pass."""
        if view.health is HealthStatus.STARTING and view.key not in self.awaited:
            self.about_to(view, "await health")
            self.awaited.add(view.key)
            start, execution = self.ports.clock.now().boot_s, view.started_at
            while self.ports.clock.now().boot_s - start < view.declared.policy.readiness_s:
                seen = self.inspect(view.declared.container_id, listed=True)
                if not isinstance(seen, Container) or (seen.started_at, seen.health.status) != (execution, HealthStatus.STARTING):
                    break
                self.ports.clock.sleep(_LOOK_AT_HEALTH_EVERY_S)
            self.look_again(view)
            view = self.views[view.key]
        if not view.runs or view.health not in {HealthStatus.NONE, HealthStatus.HEALTHY}:
            leave("it is not healthy")
        return view

    def ask(self, view: View, execution: str, binds: Binds) -> View:
        """Ask for readiness, and read it again."""
        self.about_to(view, f"probe {execution}")
        wait_s = 0.0 if view.memory.charged == execution else view.declared.policy.readiness_s
        http = view.declared.http
        outcome = self.ports.prober.probe(
            binds,
            wait_s,
            http.port if http is not None else 0,
            http.path if http is not None else "",
            lambda: self.still_runs(view, execution),
        )
        self.went(view, f"probe {execution}", outcome)
        self.look_again(view)
        view = self.views[view.key]
        ended = view.is_down and view.started_at == execution
        same = ended or (view.runs and view.started_at == execution)
        if ended and (view.is_done or self.is_held(view)):
            leave("done, or held")
        if (ended and view.is_pending) or (is_refusal(outcome) and same):
            self.charge_unverified(view, execution)
        if not isinstance(outcome, Done) or (view.started_at, view.binds, view.runs) != (execution, binds, True):
            leave("it is not known to be ready")
        if view.health not in {HealthStatus.NONE, HealthStatus.HEALTHY}:
            leave("it is not healthy")
        return view

    def still_runs(self, view: View, execution: str) -> bool:
        """Tell whether an execution runs, as far as can be read."""
        seen = self.inspect(view.declared.container_id, listed=True)
        if isinstance(seen, Container):
            return seen.status is Status.RUNNING and seen.started_at == execution
        return isinstance(seen, Unread)

    def charge_unverified(self, view: View, execution: str) -> None:
        """Charge what could not be verified, and forget that it once was."""
        self.charge(view, execution)
        self.remember(view, evolve(view.memory, verified=None))
        leave("it is not ready")

    def publish(self, view: View, binds: Binds) -> View:
        """Route exactly these binds, if it is to be routed and is not."""
        if not view.published or view.routes is None or view.is_routed or not view.carried(binds):
            return view
        self.about_to(view, "publish")
        carried = view.carried(binds)
        outcome = self.ports.router.publish(*view.key, tuple(each for each in binds if each in carried))
        self.went(view, "publish", outcome)
        self.look_again(view)
        return self.views[view.key]


def without_history(memory: Memory) -> Memory:
    """Return what stays: the verified execution, and the execution charged last, which is not charged again."""
    return Memory(charged=memory.charged, verified=memory.verified, boot_id=memory.boot_id, again=memory.again)


def host_ports(binds: Iterable[Bind]) -> Iterable[HostPort]:
    """Return the host ports of binds."""
    return ((each.host_port, each.port.protocol) for each in binds)


def is_refusal(outcome: Outcome) -> bool:
    """Tell whether it was refused for the fault of the workload."""
    return isinstance(outcome, Refused) and outcome.fault is Fault.WORKLOAD
