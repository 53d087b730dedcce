"""The StateStore port as one program sees it: each call can fail, and be judged; what only a deploy tool may do is condemned."""

from collections.abc import Callable

from gordon_core.effects import Fault, Generation, Outcome
from gordon_core.grants import Overrides
from gordon_core.memory import Memory
from gordon_core.observation import Binds
from gordon_core.snapshot import Declared, Hold, Intent
from gordon_shell.errors import StoreError
from gordon_shell.ports import Marker, Stored
from properties.faults import READS, WRITES
from properties.programs import Killed, Program
from properties.story import words_of

_NO_STORE = "the state store cannot be read"


class StoreDoor:
    """The StateStore port: the world's disk, of which every call can fail."""

    def __init__(self, program: Program) -> None:
        """Lead to the disk of the program's world."""
        self._program, self._disk, self._court = program, program.world.disk, program.court

    def read(self) -> tuple[Stored, ...]:
        """Return everything. Raise StoreError."""
        self._reads("the state store")
        stored = self._disk.read()
        self._court.read(self._program.name, stored)
        return stored

    def read_service(self, app: str, service: str) -> Stored | None:
        """Return one service. Raise StoreError."""
        self._reads(f"{app}/{service} in the state store")
        stored = self._disk.read_service(app, service)
        self._court.read_one(self._program.name, (app, service), stored)
        return stored

    def _reads(self, what: str) -> None:
        self._program.step()
        if self._program.read_fails(READS, what):
            raise StoreError(_NO_STORE)

    def _writes(self, what: str, act: Callable[[], Outcome]) -> Outcome:
        return self._program.perform(what, act, WRITES, Fault.STORE)

    def persist_binds(self, generation: Generation, binds: Binds) -> Outcome:
        """Put the binds on record."""
        self._program.step()
        self._court.persists(self._program.name, generation, binds)
        before = self._disk.read_service(generation.app, generation.service)
        outcome = self._writes(f"persist {words_of(binds)} of {generation}", lambda: self._disk.persist_binds(generation, binds))
        self._court.persisted(before, generation, binds)
        return outcome

    def save_memory(self, app: str, service: str, container_id: str, memory: Memory) -> Outcome:
        """Replace what is remembered of one container."""
        self._program.step(alone=True)
        key = ((app, service), container_id)
        self._court.saves(self._program.name, key, memory)
        what = f"remember of {container_id}: {_brief(memory)}"
        try:
            outcome = self._writes(what, lambda: self._disk.save_memory(app, service, container_id, memory))
        except Killed:
            self._court.left_behind(key, memory)
            raise
        self._court.saved(self._program.name, key, memory, outcome)
        return outcome

    def set_unproven(self, app: str, service: str, *, unproven: bool) -> Outcome:
        """Set or drop the mark that a withdrawal is unproven."""
        self._program.step(alone=True)
        self._court.marks(self._program.name, (app, service))
        word = "unproven" if unproven else "proven"
        outcome = self._writes(f"mark {app}/{service} {word}", lambda: self._disk.set_unproven(app, service, unproven=unproven))
        self._court.marked(self._program.name, (app, service), outcome, unproven=unproven)
        return outcome

    def release_claims(self, app: str, service: str, container_id: str) -> Outcome:
        """Take the binds off a marker."""
        self._program.step()
        self._court.releases(self._program.name, (app, service), container_id)
        return self._writes(
            f"release the claims of {container_id}", lambda: self._disk.release_claims(app, service, container_id)
        )

    def drop_marker(self, app: str, service: str, container_id: str) -> Outcome:
        """Drop a retirement marker."""
        self._program.step()
        self._court.drops_marker(self._program.name, (app, service), container_id)
        return self._writes(f"drop the marker of {container_id}", lambda: self._disk.drop_marker(app, service, container_id))

    # What follows is the deploy tool's, and never recovery's.

    def activate(self, app: str, service: str, declared: Declared, expected_revision: int, superseded: Marker | None) -> Outcome:
        """Condemn it: recovery never changes what is deployed."""
        del declared, expected_revision, superseded
        self._court.condemn("P9", f"recovery activates {app}/{service}")

    def deactivate(self, generation: Generation) -> Outcome:
        """Condemn it."""
        self._court.condemn("P9", f"recovery deactivates {generation}")

    def set_intent(self, app: str, intent: Intent) -> Outcome:
        """Condemn it."""
        self._court.condemn("P6", f"recovery sets the intent of {app} to {intent}")

    def inhibit(self, app: str, service: str, container_id: str, reason: str) -> Outcome:
        """Condemn it."""
        del app, service, reason
        self._court.condemn("P6", f"recovery inhibits {container_id}")

    def allow(self, app: str, service: str, container_id: str) -> Outcome:
        """Condemn it."""
        del app, service
        self._court.condemn("P6", f"recovery allows {container_id}")

    def set_hold(self, app: str, service: str, hold: Hold | None) -> Outcome:
        """Condemn it."""
        self._court.condemn("T1", f"recovery sets the hold of {app}/{service} to {hold}")

    def set_tuning(self, app: str, service: str, tuning: Overrides) -> Outcome:
        """Condemn it."""
        self._court.condemn("T1", f"recovery tunes {app}/{service}: {tuning}")

    def mark(self, app: str, service: str, marker: Marker) -> Outcome:
        """Condemn it."""
        del app, service
        self._court.condemn("P5", f"recovery marks {marker.container_id} as superseded")

    def close(self) -> None:
        """Keep the disk: other programs use it."""


def _brief(memory: Memory) -> str:
    """Say what is remembered in few words."""
    parts = [f"{memory.failures} failures"] if memory.failures else []
    if memory.charged is not None:
        parts.append(f"charged {memory.charged or 'a refusal'} at {memory.charged_at_s or 0.0:.2f}")
    if memory.attempt is not None:
        parts.append(f"an attempt after {memory.attempt.before or 'none'}")
    if memory.strikes is not None:
        parts.append(f"{memory.strikes.count} strikes to {memory.strikes.result}")
    if memory.window is not None:
        parts.append(f"stable {memory.window.looked_s - memory.window.since_s:.1f} s as {memory.window.started_at}")
    if memory.again:
        parts.append("to be started again")
    if memory.verified is not None:
        parts.append(f"verified {memory.verified.started_at} of revision {memory.verified.revision}")
    return ", ".join(parts) or "nothing"
