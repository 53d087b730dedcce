"""The judge of the budget (B1 to B7): what every write of memory and every start owes to what happened in the world.

It counts by itself: starts that took effect, executions that were charged, health results that were strikes, and looks that were
stable. A store that refused a write leaves a program with memory that no other sees; such a generation is muddled, and judged
only by what its own program knows, until its history is dropped.
"""

from collections import Counter

from attrs import define, evolve, field

from gordon_core.effects import Fault, Outcome, Refused
from gordon_core.memory import Memory
from gordon_core.observation import Container, Gone, HealthStatus, Status
from gordon_core.policy import DEFAULT_POLICY, Policy
from gordon_core.snapshot import Intent
from gordon_shell.ports import Details, Row, Service, Stored
from properties.notes import DOWN, Key, Notes, binds_of, is_published
from properties.story import Violated
from properties.tuned import is_done
from properties.world import World

_LADDER_S = (60.0, 120.0, 240.0, 480.0, 900.0)
_SAME = 1e-6


def ladder_s(failures: int, policy: Policy) -> float:
    """Return the wait after so many failures: the third opens the ladder, whose last step is for ever."""
    steps = policy.ladder_s or _LADDER_S
    return 0.0 if failures < policy.free_failures else steps[min(failures - policy.free_failures, len(steps) - 1)]


def _agrees(row: Row, container: Container) -> bool:
    """Tell whether a line of the engine's list says nothing new."""
    said = (container.status, container.health.status, container.ports)
    return (row.status, row.health, row.ports) == said


@define(eq=False)
class Account:
    """What the ledger knows of one generation. `stable_s` is since when every look at one execution was a stable one."""

    landed: int = 0
    landed_at_s: float = 0.0
    waived: bool = False
    charged: set[str] = field(factory=set)
    struck: set[str] = field(factory=set)
    muddled: bool = False
    troubled: bool = False
    stopped: bool = False
    unsure: bool = False
    execution: str = ""
    stable_s: float | None = None
    looked_s: float = 0.0

    def clear(self) -> None:
        """Begin anew: the history was dropped."""
        self.landed, self.waived, self.muddled, self.troubled, self.unsure = 0, False, False, False, False
        self.charged.clear()
        self.struck.clear()


@define(eq=False)
class Ledger:
    """The accounts of all generations."""

    world: World
    judged: Counter[str]
    accounts: dict[Key, Account] = field(factory=dict)
    keys: dict[str, Key] = field(factory=dict)
    results: dict[str, tuple[str, set[str]]] = field(factory=dict)

    def account(self, key: Key) -> Account:
        """Return the account of a generation."""
        self.keys[key[1]] = key
        return self.accounts.setdefault(key, Account())

    def demand(self, invariant: str, holds: object, wrong: str) -> None:
        """Count a judgement, and end the run where it is a bad one."""
        self.judged[invariant] += 1
        if not holds:
            raise Violated(invariant, wrong)

    # --- what was seen -----------------------------------------------------------------------------------------------

    def looked(self, notes: Notes, container_id: str) -> None:
        """Count distinct failed results, and whether the look was a stable one."""
        look = notes.looks[container_id].shown
        named = notes.named(container_id)
        if isinstance(look, Details):
            self._count_results(look.container)
        if named is None:
            return
        account = self.account((named[0], container_id))
        if not isinstance(look, Details) or self._is_trouble(notes.stored[named[0]], look):
            account.stable_s = None if self._is_ours(notes, named[0]) else account.stable_s
            account.troubled = account.troubled or isinstance(look, Details | Gone)
            return
        self._note_stable(notes, named[0], account, look.container)

    def listed(self, notes: Notes) -> None:
        """A row that agrees with the last inspect is a look as well; one that does not will be inspected."""
        for name, row in (notes.rows or {}).items():
            named, known = notes.named(name), notes.looks.get(name)
            shown = known.shown if known is not None else None
            if named is not None and isinstance(shown, Details) and _agrees(row, shown.container):
                self._note_stable(notes, named[0], self.account((named[0], name)), shown.container)

    def saw_routes(self, notes: Notes) -> None:
        """A read of the router ends the stable time of whatever is not routed as it should be."""
        for service, stored in notes.stored.items():
            if stored.declared is None or not is_published(stored.declared) or not notes.reads_for(service):
                continue
            account = self.account((service, stored.declared.container_id))
            look = notes.looks.get(stored.declared.container_id)
            shown = look.shown if look is not None else None
            if not self._is_ours(notes, service) or not isinstance(shown, Details):
                continue
            if notes.routes is None or not self._is_routed(notes, service, stored, shown.container):
                account.stable_s = None

    def _is_ours(self, notes: Notes, service: Service) -> bool:
        """Tell whether the program has the app's lock: what is locked by another is not looked at for memory's sake."""
        return self.world.locks.get(service[0]) == notes.name

    def _is_routed(self, notes: Notes, service: Service, stored: Stored, container: Container) -> bool:
        assert stored.declared is not None
        carried = {each for each in binds_of(stored.declared, container.ports) if each.port.protocol in notes.carries}
        return set((notes.routes or {}).get(service, ())) == carried

    def _note_stable(self, notes: Notes, service: Service, account: Account, container: Container) -> None:
        if not self._is_ours(notes, service):
            return
        now_s, stored = self.world.boot_s, notes.stored[service]
        stable = container.status is Status.RUNNING and container.health.status in {HealthStatus.NONE, HealthStatus.HEALTHY}
        if stored.declared is not None and is_published(stored.declared):
            stable = stable and notes.routes is not None and self._is_routed(notes, service, stored, container)
        policy = stored.declared.policy if stored.declared is not None else DEFAULT_POLICY
        # What was earned by an earlier look of this pass stays earned, however long the next read takes.
        earned = account.stable_s is not None and account.looked_s - account.stable_s >= policy.stable_window_s
        late = now_s - account.looked_s > policy.longest_gap_s and not earned
        if not stable:
            account.stable_s = None
        elif late or account.execution != container.started_at or account.stable_s is None:
            account.stable_s = now_s
        account.execution, account.looked_s = container.started_at, now_s

    def _is_trouble(self, stored: Stored, look: Details) -> bool:
        container = look.container
        unbound = stored.declared is not None and len(binds_of(stored.declared, container.ports)) < len(stored.declared.ports)
        return container.status is not Status.RUNNING or container.health.status is HealthStatus.UNHEALTHY or unbound

    def _count_results(self, container: Container) -> None:
        execution, found = self.results.get(container.container_id, ("", set()))
        if execution != container.started_at:
            found = set()
        if container.health.status is HealthStatus.UNHEALTHY and container.status is Status.RUNNING:
            found = found | {each.started_at for each in container.health.failures()[-1:]}
        self.results[container.container_id] = (container.started_at, found)

    def is_sick(self, container: Container) -> bool:
        """Tell whether two distinct failed results of this execution were seen, and it is unhealthy still."""
        execution, found = self.results.get(container.container_id, ("", set()))
        return container.health.status is HealthStatus.UNHEALTHY and execution == container.started_at and len(found) >= 2

    def troubled(self, container_id: str) -> None:
        """Something was wrong with a container that no look shows: its probe failed, or its start was refused."""
        if container_id in self.keys:
            self.accounts[self.keys[container_id]].troubled = True

    # --- starts ------------------------------------------------------------------------------------------------------

    def attempts(self, notes: Notes, service: Service, container_id: str, stored: Stored) -> None:
        """Judge the time of a start or restart."""
        assert stored.declared is not None
        key, policy, now_s = (service, container_id), stored.declared.policy, self.world.boot_s
        account = self.account(key)
        account.troubled = True
        memory = notes.memories.get(key, Memory())
        if memory.charged_at_s is not None and memory.boot_id == self.world.clock().boot_id:
            due_s = memory.charged_at_s + ladder_s(memory.failures, policy)
            self.demand(
                "B2", now_s >= due_s - _SAME, f"an attempt at {container_id} {due_s - now_s:.1f} s before the time on record"
            )
        if not account.waived and not account.muddled:
            due_s = account.landed_at_s + ladder_s(account.landed, policy)
            wrong = f"start {account.landed + 1} of {container_id} comes {due_s - now_s:.1f} s too early"
            self.demand("B1", account.landed == 0 or now_s >= due_s - _SAME, wrong)
        self.demand("B1", memory.attempt is not None, f"{container_id} is started without an attempt on record")

    def attempted(self, notes: Notes, container_id: str, outcome: Outcome, *, landed: bool) -> None:
        """Count a start that took effect."""
        del notes, outcome
        account = self.accounts[self.keys[container_id]]
        if landed:
            account.landed += 1
            account.landed_at_s, account.waived, account.stopped = self.world.boot_s, False, False

    def stopped(self, key: Key) -> None:
        """It was stopped by recovery: an attempt that was pending is none any more."""
        self.account(key).clear()
        self.account(key).troubled = self.account(key).stopped = True

    # --- memory ------------------------------------------------------------------------------------------------------

    def judge(self, notes: Notes, key: Key, memory: Memory) -> None:
        """Judge one write of memory against what was known before it."""
        before, account = notes.memories.get(key, Memory()), self.account(key)
        added = memory.failures - before.failures
        self.demand("B3", added <= 1, f"{added} failures of {key[1]} are charged at once")
        if added == 1:
            self._judge_charge(notes, key, before, memory)
        if memory.attempt is not None and before.attempt is None:
            self._judge_done(notes, key, before, "an attempt is recorded of")
        if memory.strikes is not None and memory.strikes != before.strikes:
            self._judge_strike(key, before, memory)
        if added < 0 or (before.attempt is not None and memory.attempt is None and added == 0):
            self._judge_drop(notes, key, before, memory)
        if memory.has_history():
            self.demand("B5", account.troubled or before.has_history(), f"{key[1]} had no trouble, and gets a history")

    def _judge_done(self, notes: Notes, key: Key, before: Memory, what: str) -> None:
        stored, look = notes.stored.get(key[0]), notes.look(key[1])
        done = stored is not None and isinstance(look, Details) and is_done(stored, look.container, before)
        self.demand("T2", not done, f"{what} {key[1]}, which is done")

    def _judge_charge(self, notes: Notes, key: Key, before: Memory, after: Memory) -> None:
        container_id, account = key[1], self.account(key)
        self._judge_done(notes, key, before, "a failure is charged to")
        answer = notes.attempts.get(container_id)
        refused = isinstance(answer, Refused) and answer.fault is Fault.WORKLOAD
        look = notes.look(container_id)
        if refused and after.charged in {before.charged, ""}:
            self.judged["B7"] += 1
            return
        reason = self._own_failure(notes, key, look, before)
        self.demand("B7", reason, f"{container_id} is charged, and nothing that was seen of it is its own failure ({look})")
        assert isinstance(look, Details)
        self.demand("B3", after.charged == look.container.started_at, f"{container_id} is charged for an execution not seen")
        again = after.charged in account.charged and not account.muddled
        self.demand("B3", not again, f"execution {after.charged} of {container_id} is charged twice")

    def _own_failure(self, notes: Notes, key: Key, look: Details | Gone | None, before: Memory) -> str:
        if not isinstance(look, Details):
            return ""
        container, stored = look.container, notes.stored[key[0]]
        unready = [
            each
            for each in notes.probes
            if (each.container_id, each.started_at) == (key[1], container.started_at)
            and isinstance(each.outcome, Refused)
            and each.outcome.fault is Fault.WORKLOAD
        ]
        pending = before.attempt is not None and before.attempt.before != container.started_at
        unbound = stored.declared is not None and len(binds_of(stored.declared, container.ports)) < len(stored.declared.ports)
        if unready:
            return "its probe failed"
        if container.status in DOWN and pending:
            return "it ended with an attempt pending"
        if container.status is Status.RUNNING and pending and self.is_sick(container):
            return "it relapsed"
        return "its ports are missing" if container.status is Status.RUNNING and unbound else ""

    def _judge_strike(self, key: Key, before: Memory, after: Memory) -> None:
        assert after.strikes is not None
        had = before.strikes.count if before.strikes is not None and before.strikes.started_at == after.strikes.started_at else 0
        if after.strikes.count <= had:
            return  # a restart clears them, and a healthy result
        self.demand("B3", after.strikes.count == had + 1, f"{after.strikes.count - had} strikes of {key[1]} in one look")
        counted = after.strikes.result in self.account(key).struck and not self.account(key).muddled
        self.demand("B3", not counted, f"result {after.strikes.result} of {key[1]} is a strike twice")

    def _judge_drop(self, notes: Notes, key: Key, before: Memory, memory: Memory) -> None:
        stored, account = notes.stored.get(key[0]), self.account(key)
        if stored is None or stored.declared is None or stored.declared.container_id != key[1] or stored.intent is Intent.STOPPED:
            return
        look = notes.look(key[1])
        if isinstance(look, Gone) or (before.failures == 0 and account.landed == 0):
            return
        if isinstance(look, Details) and is_done(stored, look.container, before):
            return
        if before.attempt is not None and memory.failures == before.failures and (account.muddled or account.stopped):
            return
        if account.muddled or account.unsure:
            return
        window_s = stored.declared.policy.stable_window_s
        stable_s = self.world.boot_s - account.stable_s if account.stable_s is not None else 0.0
        self.demand("B4", stable_s >= window_s - _SAME, f"the history of {key[1]} is dropped after {stable_s:.1f} stable seconds")

    def saved(self, notes: Notes, key: Key, before: Memory, memory: Memory) -> None:
        """Note what is remembered now. Where no history was dropped, trouble that the present look shows stays trouble."""
        account, stored, look = self.account(key), notes.stored.get(key[0]), notes.look(key[1])
        shows_trouble = stored is not None and isinstance(look, Details) and self._is_trouble(stored, look)
        if memory.charged:
            account.charged.add(memory.charged)
        if memory.strikes is not None:
            account.struck.add(memory.strikes.result)
        if not memory.has_history():
            was_troubled = account.troubled
            account.clear()
            # Strikes of an execution that is over are no history that was dropped.
            account.troubled = was_troubled and shows_trouble and not evolve(before, strikes=None).has_history()

    def muddles(self, key: Key) -> None:
        """The store refused a write: from here on two programs may know different things."""
        self.account(key).muddled = True

    def loses(self, key: Key) -> None:
        """What a program held is lost with it."""
        self.account(key).muddled = True
        self.account(key).landed = 0

    def interrupts(self) -> None:
        """A program is killed: what it saw last, and had not written yet, never broke a window."""
        for account in self.accounts.values():
            account.unsure = True

    def waives(self, key: Key | None = None) -> None:
        """A new boot or the operator drops waits: the next attempt may come at once."""
        for each, account in self.accounts.items():
            if key is None or each == key:
                account.waived = True

    def forgives(self, key: Key) -> None:
        """The operator, or a deploy, dropped the history."""
        self.account(key).clear()
