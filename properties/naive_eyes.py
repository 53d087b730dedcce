"""How the naive model looks, remembers and notes what it did; see `naive`."""

from typing import NoReturn

from attrs import define, evolve, field

from gordon_core.effects import Done, Outcome
from gordon_core.memory import Memory, Strikes, Window
from gordon_core.observation import Container, Gone, HealthStatus, Unread
from gordon_core.snapshot import Intent
from gordon_shell.errors import EngineError, RouterError, StoreError
from gordon_shell.ports import Lock, Ports, Routes, Service, Stored
from properties.naive_view import Seen, View

NOTHING = Memory()


class Leave(Exception):  # noqa: N818 - it ends the procedure of one service, and is no error
    """Nothing more is to be done to this service now; the text says why."""


def leave(why: str) -> NoReturn:
    """Do nothing more to this service now."""
    raise Leave(why)


class Stale(Exception):  # noqa: N818 - likewise
    """Something is to be done, and what is known of the service is from the beginning of the pass: look again first."""


@define(eq=False)
class Eyes:
    """What a pass of the naive model knows, writes and has tried."""

    ports: Ports
    held_memory: dict[tuple[str, str, str], Memory] = field(factory=dict)
    held_marks: dict[Service, bool] = field(factory=dict)
    views: dict[Service, View] = field(factory=dict)
    mine: dict[str, Lock] = field(factory=dict)
    commands: int = 0
    attempted: set[str] = field(factory=set)
    awaited: set[Service] = field(factory=set)
    failed: set[tuple[str, Service]] = field(factory=set)
    withdrawn: set[Service] = field(factory=set)
    supplanted: set[Service] = field(factory=set)

    # --- looking -----------------------------------------------------------------------------------------------------

    def lock(self, app: str) -> None:
        """Take the lock of an app, if nobody else has it."""
        try:
            lock = self.ports.locks.try_app(app) if app not in self.mine else self.mine[app]
        except StoreError:
            return
        if not isinstance(lock, str):
            self.mine[app] = lock

    def in_order(self) -> list[View]:
        """Return the services by name."""
        return [self.views[each] for each in sorted(self.views)]

    def look_at_all(self) -> None:
        """Look at the whole host."""
        routes, stored = self.read_routes(), self.ports.store.read()
        listed = self.is_listed()
        self.views = {
            (each.app, each.service): self.view(each, routes, listed=listed, fresh=False)
            for each in stored
            if each.app in self.mine or listed
        }
        for app, service in (routes.by_service if routes is not None else {}).keys() - self.views.keys():
            self.lock(app)
            self.views[app, service] = self.view(Stored(app, service, Intent.RUNNING), routes, listed=listed, fresh=False)
        for view in self.in_order():
            self.count(view)

    def look_again(self, view: View) -> None:
        """Look at one service anew."""
        try:
            stored = self.ports.store.read_service(*view.key)
        except StoreError as error:
            leave(str(error))
        fresh = self.view(
            stored if stored is not None else Stored(view.app, view.service, Intent.RUNNING),
            self.read_routes(),
            listed=True,
            fresh=True,
        )
        before, self.views[view.key] = view.stored.declared, fresh
        self.count(fresh)
        now = fresh.stored.declared
        if view.fresh and (before and (before.container_id, before.revision)) != (now and (now.container_id, now.revision)):
            self.supplanted.add(view.key)
            leave("ACTIVE names another generation now")

    def view(self, stored: Stored, routes: Routes | None, *, listed: bool, fresh: bool) -> View:
        """Put together what is known of a service."""
        declared, key = stored.declared, (stored.app, stored.service)
        seen = self.inspect(declared.container_id, listed=listed) if declared is not None else Gone()
        olds = {each.container_id: self.inspect(each.container_id, listed=listed) for each in stored.markers}
        unproven = self.held_marks.get(key, stored.unproven)
        return View(stored.app, stored.service, stored, seen, olds, routes, self.memory_of(stored), unproven, fresh)

    def memory_of(self, stored: Stored) -> Memory:
        """Return what is remembered, as it means under this boot: waits and windows of another boot mean nothing."""
        named = stored.declared.container_id if stored.declared is not None else ""
        memory = self.held_memory.get((stored.app, stored.service, named), stored.memory)
        if memory.boot_id != self.ports.clock.now().boot_id:
            return evolve(memory, charged_at_s=None, window=None)
        return memory

    def is_listed(self) -> bool:
        """Tell whether the engine answers."""
        try:
            self.ports.engine.rows()
        except EngineError:
            return False
        return True

    def inspect(self, container_id: str, *, listed: bool) -> Seen:
        """Read one container."""
        if not listed:
            return Unread("the engine does not answer")
        try:
            details = self.ports.engine.inspect(container_id)
        except EngineError as error:
            return Unread(str(error))
        return details if isinstance(details, Gone) else details.container

    def read_routes(self) -> Routes | None:
        """Read the router."""
        try:
            return self.ports.router.read()
        except RouterError:
            return None

    def count(self, view: View) -> None:
        """Count what a look adds: a strike, a stable look; and take note where it proves a withdrawal."""
        if view.app not in self.mine:
            return
        self.prove(view)
        if view.stored.declared is None:
            return
        if view.stored.intent is Intent.STOPPED:
            if view.is_down and view.policy.exit_0_is_done:
                self.remember(view, evolve(view.memory, again=True))
            return
        now, memory = self.ports.clock.now(), evolve(view.memory, again=view.memory.again and not view.runs)
        other = memory.strikes is not None and isinstance(view.seen, Container) and memory.strikes.started_at != view.started_at
        if other or (view.runs and view.health in {HealthStatus.NONE, HealthStatus.HEALTHY}):
            memory = evolve(memory, strikes=None)
        if view.runs and view.health is HealthStatus.UNHEALTHY:
            memory = evolve(memory, strikes=_struck(view))
        window = memory.window
        if not view.is_stable or not memory.has_history():
            window = None
        elif (
            window is None
            or window.started_at != view.started_at
            or now.boot_s - window.looked_s > view.declared.policy.longest_gap_s
        ):
            window = Window(view.started_at, now.boot_s, now.boot_s)
        else:
            window = evolve(window, looked_s=now.boot_s)
        self.remember(view, evolve(memory, window=window))

    def is_held(self, view: View) -> bool:
        """Tell whether somebody wants it left as it is."""
        hold, now = view.stored.hold, self.ports.clock.now()
        if hold is None:
            return False
        return now.boot_s < hold.until_s if hold.boot_id == now.boot_id else now.wall_s < hold.until_wall_s

    def prove(self, view: View) -> None:
        """Take a read that shows no route as the proof of a withdrawal."""
        if view.app in self.mine and view.unproven and view.routes is not None and not view.route:
            self.mark(view, unproven=False)

    # --- writing -----------------------------------------------------------------------------------------------------

    def remember(self, view: View, memory: Memory) -> None:
        """Write what is remembered; hold it where the store cannot be written."""
        is_known = memory.contested_port or memory.again or (memory.charged, memory.verified) != (None, None)
        is_anything = memory.has_history() or is_known
        memory = evolve(memory, boot_id=self.ports.clock.now().boot_id) if is_anything else NOTHING
        if evolve(memory, boot_id="") == evolve(view.memory, boot_id=""):
            return
        view.memory = memory
        self.write((*view.key, view.declared.container_id), memory)

    def write(self, key: tuple[str, str, str], memory: Memory) -> None:
        """Write one memory, or hold it."""
        self.held_memory[key] = memory
        if isinstance(self.ports.store.save_memory(*key, memory), Done):
            del self.held_memory[key]

    def mark(self, view: View, *, unproven: bool) -> None:
        """Write whether a withdrawal is unproven, or hold it."""
        if view.unproven != unproven:
            view.unproven = unproven
            self.write_mark(view.key, unproven=unproven)

    def write_mark(self, key: Service, *, unproven: bool) -> None:
        """Write one mark, or hold it."""
        self.held_marks[key] = unproven
        if isinstance(self.ports.store.set_unproven(*key, unproven=unproven), Done):
            del self.held_marks[key]

    def write_held(self) -> None:
        """Try again to write what is held."""
        for key, memory in list(self.held_memory.items()):
            view = self.views.get(key[:2])
            named = view.stored.declared.container_id if view is not None and view.stored.declared is not None else ""
            if key[2] not in {named, *(view.olds if view is not None else ())}:
                del self.held_memory[key]
            elif key[0] in self.mine:
                self.write(key, memory)
        for service, unproven in list(self.held_marks.items()):
            if service[0] in self.mine:
                self.write_mark(service, unproven=unproven)

    # --- commands ----------------------------------------------------------------------------------------------------

    def about_to(self, view: View, verb: str) -> None:
        """Be about to do something: not on old knowledge, and not what failed in this pass already."""
        if (verb, view.key) in self.failed:
            leave(f"{verb} failed in this pass")
        if not view.fresh:
            raise Stale
        self.commands += 1

    def went(self, view: View, verb: str, outcome: Outcome) -> None:
        """Note what failed."""
        if not isinstance(outcome, Done):
            self.failed.add((verb, view.key))

    def withdraw(self, view: View) -> None:
        """Withdraw. What was verified stays so, but rule 11 asks again before it is routed."""
        self.about_to(view, "withdraw")
        outcome = self.ports.router.withdraw(*view.key)
        self.went(view, "withdraw", outcome)
        if isinstance(outcome, Done):
            self.withdrawn.add(view.key)
        self.mark(view, unproven=not isinstance(outcome, Done))

    def withdraw_or_leave(self, view: View) -> None:
        """Withdraw, look again, and go on only if the withdrawal is proven."""
        self.withdraw(view)
        self.look_again(view)
        if self.views[view.key].unproven:
            leave("the withdrawal is unproven")

    def withdraw_if_needed(self, view: View) -> View:
        """Make sure, before the workload is touched, that nothing routes to it; return what is known then."""
        unknown = view.routes is None and view.published and view.key not in self.withdrawn
        if unknown or (view.route and not view.old_serves()):
            self.withdraw_or_leave(view)
        return self.views[view.key]

    def charge(self, view: View, execution: str) -> None:
        """Charge one execution once ("" for a refused start). A charge that the disk refused is the last one of this pass."""
        memory = view.memory
        if execution and memory.charged == execution:
            leave("this execution was charged already")
        self.about_to(view, "charge")
        now = self.ports.clock.now()
        failures = memory.failures + 1
        self.remember(
            view, evolve(memory, failures=failures, charged=execution, charged_at_s=now.boot_s, attempt=None, window=None)
        )
        if (*view.key, view.declared.container_id) in self.held_memory:
            self.failed.add(("charge", view.key))

    def wait_for_budget(self, view: View) -> None:
        """Leave while the budget is closed."""
        memory = view.memory
        if memory.charged_at_s is not None:
            open_s = memory.charged_at_s + view.declared.policy.wait_s(memory.failures)
            if self.ports.clock.now().boot_s < open_s:
                leave(f"its budget is closed until {open_s}")


def _struck(view: View) -> Strikes | None:
    """Return the strikes after a look at an unhealthy container: one more, if there is a result not yet counted."""
    assert isinstance(view.seen, Container)
    before, failures = view.memory.strikes, [each.started_at for each in view.seen.health.failures()]
    counted, newest = (before.count, before.result) if before is not None and before.started_at == view.started_at else (0, "")
    fresh = failures[failures.index(newest) + 1 :] if newest in failures else failures
    return Strikes(view.started_at, counted + 1, fresh[-1]) if fresh else before
