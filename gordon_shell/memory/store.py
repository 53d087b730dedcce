"""The StateStore in memory: same promises, but for what a disk gives. Its faults are switches."""

from threading import RLock
from typing import TypeVar

from attrs import evolve

from gordon_core.effects import Done, Fault, Generation, Outcome, Refused
from gordon_core.grants import SETS_NOTHING, Overrides
from gordon_core.memory import NOTHING, Memory, Verified
from gordon_core.observation import Binds
from gordon_core.snapshot import Declared, Hold, Intent
from gordon_shell.errors import StoreError
from gordon_shell.generations import refuse_activation, refuse_named, refuse_outdated
from gordon_shell.history import latest
from gordon_shell.ports import Deployed, Journalled, Marker, Service, Stored

_V = TypeVar("_V")


class MemoryStore:
    """ACTIVE, intent, markers and memory of a process. Thread-safe.

    `fail_writes` and `fail_reads` play a disk that is full or gone: nothing changes while they hold.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self._gate = RLock()
        self._closed = False
        self._no_writes: str | None = None
        self._no_reads: str | None = None
        self._active: dict[Service, Declared] = {}
        self._intents: dict[str, Intent] = {}
        self._unproven: set[Service] = set()
        self._inhibitions: dict[Service, dict[str, str]] = {}
        self._markers: dict[Service, dict[str, Marker]] = {}
        self._memories: dict[Service, dict[str, Memory]] = {}
        self._candidates: dict[Service, dict[str, Journalled]] = {}
        self._deployed: dict[Service, tuple[Deployed, ...]] = {}
        self._holds: dict[Service, Hold] = {}
        self._tunings: dict[Service, Overrides] = {}
        self._stored: dict[Service, Stored] = {}
        self._all: tuple[Stored, ...] | None = ()

    def fail_writes(self, reason: str | None) -> None:
        """Refuse every write for this reason (Fault.STORE), and change nothing; None ends that."""
        self._no_writes = reason

    def fail_reads(self, reason: str | None) -> None:
        """Raise StoreError with this text from every read; None ends that."""
        self._no_reads = reason

    def read(self) -> tuple[Stored, ...]:
        """Return everything, sorted; see StateStore."""
        with self._gate:
            self._check_readable()
            if self._all is None:
                self._all = tuple(self._stored[key] for key in sorted(self._stored))
            return self._all

    def read_service(self, app: str, service: str) -> Stored | None:
        """Return one service as it is now; see StateStore."""
        with self._gate:
            self._check_readable()
            return self._stored.get((app, service))

    def activate(  # noqa: PLR0913, PLR0917 - all that has to be of one transaction
        self,
        app: str,
        service: str,
        declared: Declared,
        expected_revision: int,
        superseded: Marker | None,
        deployed: tuple[Deployed, ...] = (),
        *,
        verified: Verified | None = None,
    ) -> Outcome:
        """Name a container in ACTIVE, together with the marker of the one before and all the rest; see StateStore."""
        with self._gate:
            present = self._active.get((app, service))
            held = present.revision if present else 0
            refusal = self._refuse_write() or refuse_activation(
                app, service, held=held, expected=expected_revision, proposed=declared.revision
            )
            named = (declared.container_id, *([superseded.container_id] if superseded is not None else []))
            refusal = refusal or self._refuse_named(app, service, *named)
            if refusal is not None:
                return refusal
            self._active[app, service] = declared
            if superseded is not None:
                _put(self._markers, (app, service), superseded.container_id, superseded)
            self._settle((app, service), declared.container_id, deployed)
            if verified is not None:
                known = self._memories.get((app, service), {}).get(declared.container_id, NOTHING)
                _put(self._memories, (app, service), declared.container_id, evolve(known, verified=verified))
            return self._done(app, service)

    def journal(self, app: str, service: str, candidate: Journalled) -> Outcome:
        """Write a candidate down; see StateStore."""
        return self._put(self._candidates, app, service, candidate.container_id, candidate)

    def drop_candidate(self, app: str, service: str, container_id: str) -> Outcome:
        """Take a candidate out of the journal; see StateStore."""
        return self._put(self._candidates, app, service, container_id, None)

    def deployed(self, app: str, service: str) -> tuple[Deployed, ...]:
        """Return what the latest revisions were made of; see StateStore."""
        with self._gate:
            self._check_readable()
            return self._deployed.get((app, service), ())

    def deactivate(self, generation: Generation) -> Outcome:
        """Take a service out of ACTIVE; see StateStore."""
        with self._gate:
            refusal = self._refuse_write() or self._refuse_outdated(generation)
            if refusal is not None:
                return refusal
            del self._active[generation.app, generation.service]
            self._deployed.pop((generation.app, generation.service), None)
            return self._done(generation.app, generation.service)

    def persist_binds(self, generation: Generation, binds: Binds) -> Outcome:
        """Put the binds on record; see StateStore."""
        key = (generation.app, generation.service)
        with self._gate:
            refusal = self._refuse_write() or self._refuse_outdated(generation)
            if refusal is not None:
                return refusal
            self._active[key] = evolve(self._active[key], binds=binds)
            return self._done(*key)

    def save_memory(self, app: str, service: str, container_id: str, memory: Memory) -> Outcome:
        """Replace what is remembered of one container; see StateStore."""
        kept = None if evolve(memory, boot_id="") == NOTHING else memory
        return self._put(self._memories, app, service, container_id, kept)

    def set_unproven(self, app: str, service: str, *, unproven: bool) -> Outcome:
        """Set or drop the mark that a withdrawal is unproven; see StateStore."""
        with self._gate:
            refusal = self._refuse_write()
            if refusal is not None:
                return refusal
            change = self._unproven.add if unproven else self._unproven.discard
            change((app, service))
            return self._done(app, service)

    def set_intent(self, app: str, intent: Intent) -> Outcome:
        """Record the operator's wish for an app; see StateStore."""
        with self._gate:
            refusal = self._refuse_write()
            if refusal is not None:
                return refusal
            self._intents[app] = intent
            for key in [key for key in self._stored if key[0] == app]:
                self._done(*key)
            return Done()

    def inhibit(self, app: str, service: str, container_id: str, reason: str) -> Outcome:
        """Never start this exact container; see StateStore."""
        return self._put(self._inhibitions, app, service, container_id, reason or "no reason given")

    def allow(self, app: str, service: str, container_id: str) -> Outcome:
        """Drop the inhibition; see StateStore."""
        return self._put(self._inhibitions, app, service, container_id, None)

    def set_hold(self, app: str, service: str, hold: Hold | None) -> Outcome:
        """Record a hold, or its end; see StateStore."""
        return self._wish(self._holds, app, service, hold)

    def set_tuning(self, app: str, service: str, tuning: Overrides) -> Outcome:
        """Replace what is tuned; see StateStore."""
        return self._wish(self._tunings, app, service, tuning if tuning != SETS_NOTHING else None)

    def mark(self, app: str, service: str, marker: Marker) -> Outcome:
        """Add or replace the retirement marker of a superseded container; see StateStore."""
        with self._gate:
            refusal = self._refuse_write() or self._refuse_named(app, service, marker.container_id)
            return refusal or self._put(self._markers, app, service, marker.container_id, marker)

    def release_claims(self, app: str, service: str, container_id: str) -> Outcome:
        """Take the binds off a marker; see StateStore."""
        with self._gate:
            marker = self._markers.get((app, service), {}).get(container_id)
            released = None if marker is None else evolve(marker, binds=())
            return self._put(self._markers, app, service, container_id, released)

    def drop_marker(self, app: str, service: str, container_id: str) -> Outcome:
        """Drop a retirement marker with the memory of its container; see StateStore."""
        with self._gate:
            outcome = self._put(self._markers, app, service, container_id, None)
            active = self._active.get((app, service))
            if outcome != Done() or (active is not None and active.container_id == container_id):
                return outcome
            return self._put(self._memories, app, service, container_id, None)

    def close(self) -> None:
        """Let go; every later call raises StoreError."""
        with self._gate:
            self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            message = "the state in memory is closed; make another"
            raise StoreError(message)

    def _check_readable(self) -> None:
        self._check_open()
        if self._no_reads is not None:
            raise StoreError(self._no_reads)

    def _refuse_write(self) -> Refused | None:
        self._check_open()
        return None if self._no_writes is None else Refused(self._no_writes, Fault.STORE)

    def _refuse_outdated(self, generation: Generation) -> Refused | None:
        present = self._active.get((generation.app, generation.service))
        if present is None or (present.container_id, present.revision) != (generation.container_id, generation.revision):
            return refuse_outdated(generation)
        return None

    def _settle(self, key: Service, container_id: str, deployed: tuple[Deployed, ...]) -> None:
        _put(self._markers, key, container_id, None)
        _put(self._candidates, key, container_id, None)
        self._deployed[key] = latest(*self._deployed.get(key, ()), *deployed)

    def _refuse_named(self, app: str, service: str, *container_ids: str) -> Refused | None:
        for each in container_ids:
            namers = [key for key, declared in self._active.items() if declared.container_id == each]
            namers += [key for key, markers in self._markers.items() if each in markers]
            namer = next((key for key in namers if key != (app, service)), None)
            if namer is not None:
                return refuse_named(app, service, each, namer)
        return None

    def _put(self, place: dict[Service, dict[str, _V]], app: str, service: str, container_id: str, value: _V | None) -> Outcome:
        with self._gate:
            refusal = self._refuse_write()
            if refusal is not None:
                return refusal
            _put(place, (app, service), container_id, value)
            return self._done(app, service)

    def _wish(self, place: dict[Service, _V], app: str, service: str, value: _V | None) -> Outcome:
        with self._gate:
            refusal = self._refuse_write()
            if refusal is not None:
                return refusal
            if value is not None:
                place[app, service] = value
            else:
                place.pop((app, service), None)
            return self._done(app, service)

    def _done(self, app: str, service: str) -> Done:
        """Note what the service is now; one that came out equal stays the same object."""
        present = self._compose((app, service))
        if present is None:
            self._stored.pop((app, service), None)
        elif present != self._stored.get((app, service)):
            self._stored[app, service] = present
        self._all = None
        return Done()

    def _compose(self, key: Service) -> Stored | None:
        declared, markers, memories = self._active.get(key), self._markers.get(key, {}), self._memories.get(key, {})
        candidates = self._candidates.get(key, {})
        if declared is None and not (markers or memories or candidates or key in self._unproven):
            return None
        named = declared.container_id if declared else ""
        return Stored(
            *key,
            self._intents.get(key[0], Intent.RUNNING),
            declared,
            self._inhibitions.get(key, {}).get(named, ""),
            memories.get(named, NOTHING),
            key in self._unproven,
            tuple(markers[each] for each in sorted(markers)),
            tuple(sorted(memories.keys() - markers.keys() - {named})),
            tuple(candidates[each] for each in sorted(candidates)),
            self._holds.get(key),
            self._tunings.get(key, SETS_NOTHING),
        )


def _put(place: dict[Service, dict[str, _V]], key: Service, container_id: str, value: _V | None) -> None:
    if value is not None:
        place.setdefault(key, {})[container_id] = value
    else:
        place.get(key, {}).pop(container_id, None)
