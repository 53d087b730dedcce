"""Memory between the store and the core: read as it means now, and held in this process where the store cannot be written.

A store that cannot be written keeps no workload down: the process goes on with what it holds, says so, and writes it later.
"""

from collections.abc import Collection
from threading import RLock

from attrs import evolve

from gordon_core.effects import DONE, Done, Outcome
from gordon_core.folds import rearmed, recalled
from gordon_core.memory import NOTHING, Memory, Verified
from gordon_core.snapshot import Subject
from gordon_shell.ports import Service, StateStore, Stored

Container = tuple[str, str, str]
"""(app, service, container ID)"""


class Recollection:
    """What is remembered of each service. With `rearm`, waits that an earlier process left are dropped once, failures kept."""

    def __init__(self, store: StateStore, *, rearm: bool = False) -> None:
        self._store = store
        self._rearm = rearm
        self._rearmed: set[Container] = set()
        self._memories: dict[Container, Memory] = {}
        self._unproven: dict[Service, bool] = {}
        self._doubts: set[Service] = set()
        self._lock = RLock()

    def memory(self, stored: Stored, boot_id: str, *, ours: bool = True) -> Memory:
        """Return what is remembered of the declared container, as it means under this boot; `ours`: its app is not locked."""
        if stored.declared is None:
            return stored.memory
        key = (stored.app, stored.service, stored.declared.container_id)
        with self._lock:
            if key in self._memories:
                return self._memories[key]
            if ours and self._rearm and key not in self._rearmed:
                self._rearmed.add(key)
                self._memories[key] = rearmed(stored.memory, boot_id)
                return self._memories[key]
        return recalled(stored.memory, boot_id)

    def unproven(self, stored: Stored) -> bool:
        """Return whether a withdrawal of the service is unproven."""
        key = (stored.app, stored.service)
        with self._lock:
            return key in self._doubts or self._unproven.get(key, stored.unproven)

    def doubt(self, app: str, service: str) -> None:
        """Hold a withdrawal that is about to be tried for unproven, in this process alone: it may never come back."""
        key = (app, service)
        with self._lock:
            if key in self._doubts:  # one that never came back: a mark like any other by now, to be written
                self._unproven[key] = True
            self._doubts.add(key)

    def settle(self, before: Subject, after: Subject) -> Outcome:
        """Write what came of a withdrawal that came back, which is in doubt no more; see keep."""
        with self._lock:
            self._doubts.discard((after.app, after.service))
        return self.keep(before, after)

    def keep(self, before: Subject, after: Subject) -> Outcome:
        """Write what changed between two values of one subject. What the store refuses is held; the refusal is returned."""
        outcomes = [DONE, self._keep_memory(before, after), self._keep_unproven(before, after)]
        return next((each for each in outcomes if not isinstance(each, Done)), DONE)

    def learn(self, app: str, service: str, container_id: str, verified: Verified) -> None:
        """Hold what the store took as verified of a container, where it refused something else of it that is still held."""
        key = (app, service, container_id)
        with self._lock:
            if key in self._memories:
                self._memories[key] = evolve(self._memories[key], verified=verified)

    def forget(self, app: str, service: str, container_id: str) -> Outcome:
        """Drop what is remembered of one container, also what was held of it."""
        return self._save_memory((app, service, container_id), NOTHING)

    def write_held(self, apps: Collection[str]) -> tuple[str, ...]:
        """Try again to write what is held of apps whose locks we have, and doubts that nothing has settled by now.

        Return what the store says against it.
        """
        with self._lock:
            doubts = {each for each in self._doubts if each[0] in apps}
            self._unproven |= dict.fromkeys(doubts, True)
            self._doubts -= doubts
            said = [self._save_memory(key, memory) for key, memory in tuple(self._memories.items()) if key[0] in apps]
            said += [self._save_unproven(key, mark=mark) for key, mark in tuple(self._unproven.items()) if key[0] in apps]
        return tuple(sorted({each.reason for each in said if not isinstance(each, Done)}))

    def _keep_memory(self, before: Subject, after: Subject) -> Outcome:
        declared = after.declared
        if declared is None or after.memory == before.memory:
            return DONE
        return self._save_memory((after.app, after.service, declared.container_id), after.memory)

    def _keep_unproven(self, before: Subject, after: Subject) -> Outcome:
        if after.unproven == before.unproven:
            return DONE
        with self._lock:
            self._doubts.discard((after.app, after.service))
            return self._save_unproven((after.app, after.service), mark=after.unproven)

    def _save_memory(self, key: Container, memory: Memory) -> Outcome:
        # Under the lock, so that no older value is written over a newer one.
        with self._lock:
            outcome = self._store.save_memory(*key, memory)
            if isinstance(outcome, Done):
                self._memories.pop(key, None)
            else:
                self._memories[key] = memory
        return outcome

    def _save_unproven(self, key: Service, *, mark: bool) -> Outcome:
        with self._lock:
            outcome = self._store.set_unproven(*key, unproven=mark)
            if isinstance(outcome, Done):
                self._unproven.pop(key, None)
            else:
                self._unproven[key] = mark
        return outcome
