"""What an operator, or a deploy tool that embeds this, may change: each under the lock of the app, for which it waits.

Every function may raise UsageError (no such app or service), BusyError (the app stays locked; it names the holder) and
StoreError; those that ask the engine or the router, EngineError and RouterError as well.
"""

from collections.abc import Callable
from typing import assert_never

from attrs import evolve, frozen

from gordon_core.effects import Done, Fault, Generation, Outcome, Refused, Unknown
from gordon_core.grants import SETS_NOTHING, Overrides
from gordon_core.memory import NOTHING, Memory
from gordon_core.observation import Gone
from gordon_core.snapshot import Declared, Hold, Intent
from gordon_shell.adoption import Adoption, adoption, refuse_claimed
from gordon_shell.errors import BusyError, EngineError, GordonError, RouterError, StoreError, UsageError
from gordon_shell.ports import Details, Lock, Marker, Ports, Row, Service, Stored
from gordon_shell.wishes import Wish, resolve

LOCK_WAIT_S = 30.0
_FAMILIES: dict[Fault, type[GordonError]] = {
    Fault.WORKLOAD: EngineError,
    Fault.ENGINE: EngineError,
    Fault.STORE: StoreError,
    Fault.ROUTER: RouterError,
    Fault.CONFLICT: BusyError,
}


@frozen
class Forgotten:
    """What was forgotten of a service: the container ("" for none), the superseded ones, and how many sessions still run."""

    app: str
    service: str
    container_id: str
    superseded: tuple[str, ...] = ()
    sessions: int = 0


def adopt(ports: Ports, app: str, wishes: tuple[Wish, ...], *, keep_old: bool = False) -> tuple[Adoption, ...]:
    """Name a container in ACTIVE for each wish. All are checked first; a container that is replaced is marked as superseded."""
    rows = ports.engine.rows()
    chosen = tuple((each, resolve(rows, each.container)) for each in wishes)
    with _locked(ports, app):
        known = ports.store.read()
        adoptions = tuple(adoption(app, wish, _details(ports, row), known, keep_old=keep_old) for wish, row in chosen)
        _refuse_twins(adoptions)
        for each in adoptions:
            if not each.is_unchanged:
                _activate(ports, each)
    return adoptions


def _activate(ports: Ports, each: Adoption) -> None:
    revision = each.former.revision if each.former is not None else 0
    outcome = ports.store.activate(each.app, each.service, each.declared, revision, each.superseded)
    if outcome != Done():
        # Another app, under another lock, may have taken the container since it was checked: said as if it had been before.
        refuse_claimed(each.app, each.service, each.container, ports.store.read())
    _must(outcome)


def set_intent(ports: Ports, app: str, intent: Intent) -> tuple[Stored, ...]:
    """Record whether the app is to run or to be stopped; return its services as they were before."""
    services_of(ports, app)
    with _locked(ports, app):
        before = services_of(ports, app)
        if any(each.intent is not intent for each in before):
            _must(ports.store.set_intent(app, intent))
    return before


def inhibit(ports: Ports, app: str, service: str, reason: str) -> Declared:
    """Never start the container of this service until that is allowed again; return what ACTIVE declares."""
    with _locked(ports, app):
        declared = _declared(service_of(ports, app, service))
        _must(ports.store.inhibit(app, service, declared.container_id, reason))
    return declared


def allow(ports: Ports, app: str, service: str) -> Stored:
    """Drop the inhibition of the container of this service; return the service as it was before."""
    with _locked(ports, app):
        stored = service_of(ports, app, service)
        if stored.inhibited:
            _must(ports.store.allow(app, service, _declared(stored).container_id))
    return stored


def retry(ports: Ports, app: str, service: str = "") -> tuple[tuple[Stored, Memory], ...]:
    """Forget the history of a service, or of all services of an app, but not what was verified; return what was forgotten.

    What is done is started again.
    """
    with _locked(ports, app):
        chosen = [each for each in _chosen(ports, app, service) if each.declared is not None]
        for stored in chosen:
            left = Memory(verified=stored.memory.verified, again=True)
            _must(ports.store.save_memory(app, stored.service, _declared(stored).container_id, left))
    return tuple((each, each.memory) for each in chosen if has_trouble(each.memory))


def hold(ports: Ports, app: str, service: str, wish: Hold) -> tuple[Stored, ...]:
    """Have a service, or all services of an app, left as they are until a time; return them as they were before."""
    return _wished(ports, app, service, lambda each: ports.store.set_hold(app, each.service, wish))


def release(ports: Ports, app: str, service: str = "") -> tuple[Stored, ...]:
    """End the hold of a service, or of all services of an app; return them as they were before."""
    return _wished(ports, app, service, lambda each: ports.store.set_hold(app, each.service, None) if each.hold else Done())


def tune(ports: Ports, app: str, service: str, change: Callable[[Overrides], Overrides]) -> Stored:
    """Change which constants of a service are set by command; return it as it was before."""
    (before,) = _wished(ports, app, service, lambda each: ports.store.set_tuning(app, service, change(each.tuning)))
    return before


def _wished(ports: Ports, app: str, service: str, write: Callable[[Stored], Outcome]) -> tuple[Stored, ...]:
    with _locked(ports, app):
        chosen = _chosen(ports, app, service)
        for each in chosen:
            _must(write(each))
    return chosen


def _chosen(ports: Ports, app: str, service: str) -> tuple[Stored, ...]:
    return (service_of(ports, app, service),) if service else services_of(ports, app)


def has_trouble(memory: Memory) -> bool:
    """Tell whether `retry` has something to forget."""
    return memory.has_history() or memory.charged is not None or memory.charged_at_s is not None


def retire(ports: Ports, app: str, service: str, container: str, grace_s: float | None = None) -> Marker:
    """Mark a container as superseded by that of the service: once that serves, it is stopped with its grace, and removed.

    `grace_s` None: the grace that the container was created with.
    """
    with _locked(ports, app):
        _declared(service_of(ports, app, service))
        row = resolve(ports.engine.rows(), container)
        _refuse_named(row, ports.store.read(), (app, service))
        details = _details(ports, row)
        marker = Marker(row.container_id, details.stop_grace_s if grace_s is None else grace_s)
        kept = next((each for each in service_of(ports, app, service).markers if each.container_id == row.container_id), None)
        if kept is not None:
            marker = kept if grace_s is None else evolve(kept, stop_grace_s=grace_s)
        if marker != kept:
            outcome = ports.store.mark(app, service, marker)
            if outcome != Done():
                _refuse_named(row, ports.store.read(), (app, service))
            _must(outcome)
    return marker


def forget(ports: Ports, app: str, service: str = "") -> tuple[Forgotten, ...]:
    """Withdraw a service, or all of an app, prove that, and then forget it; its containers are left alone.

    But for candidates: they stay in the journal, so that recovery removes what an interrupted deploy left, and forgets them then.
    Raise RouterError without a proof: then nothing is forgotten.
    """
    with _locked(ports, app):
        every, chosen = services_of(ports, app), _chosen(ports, app, service)
        _withdraw(ports, chosen)
        sessions = [ports.router.sessions(each.app, each.service) for each in chosen]
        forgotten = tuple(_forget(ports, each, left) for each, left in zip(chosen, sessions, strict=True))
        if len(chosen) == len(every):
            _must(ports.store.set_intent(app, Intent.RUNNING))
    return forgotten


def services_of(ports: Ports, app: str) -> tuple[Stored, ...]:
    """Return what the store holds of an app, one service at least."""
    every = ports.store.read()
    found = tuple(each for each in every if each.app == app)
    if not found:
        message = f"there is no app {app!r}; {_known('adopted', sorted({each.app for each in every}))}"
        raise UsageError(message)
    return found


def service_of(ports: Ports, app: str, service: str) -> Stored:
    """Return what the store holds of a service."""
    every = services_of(ports, app)
    found = next((each for each in every if each.service == service), None)
    if found is None:
        names = [each.service for each in every]
        message = f"app {app!r} has no service {service!r}; {_known('it has', names)}"
        raise UsageError(message)
    return found


def _known(what: str, names: list[str]) -> str:
    return f"{what}: {', '.join(names)}" if names else "nothing was adopted yet: gordon-shell adopt APP SERVICE=CONTAINER"


def _locked(ports: Ports, app: str) -> Lock:
    return ports.locks.wait_app(app, LOCK_WAIT_S)


def _declared(stored: Stored) -> Declared:
    if stored.declared is None:
        name = f"{stored.app}/{stored.service}"
        message = f"ACTIVE names no container for {name}; adopt one: gordon-shell adopt {stored.app} {stored.service}=CONTAINER"
        raise UsageError(message)
    return stored.declared


def _details(ports: Ports, row: Row) -> Details:
    found = ports.engine.inspect(row.container_id)
    if isinstance(found, Gone):
        message = f"container {row.name} ({row.container_id[:12]}) was removed just now; name another"
        raise UsageError(message)
    return found


def _refuse_twins(adoptions: tuple[Adoption, ...]) -> None:
    seen: dict[str, str] = {}
    for each in adoptions:
        other = seen.setdefault(each.declared.container_id, each.name)
        if other != each.name:
            message = f"container {each.container.name} is named for {other} and for {each.name}; a container is one service"
            raise UsageError(message)


def _refuse_named(row: Row, known: tuple[Stored, ...], own: Service) -> None:
    for each in known:
        name = f"{each.app}/{each.service}"
        if each.declared is not None and each.declared.container_id == row.container_id:
            message = f"container {row.name} is the one that ACTIVE names for {name}; adopt its successor, or forget it"
            raise UsageError(message)
        if (each.app, each.service) != own and any(marker.container_id == row.container_id for marker in each.markers):
            message = f"container {row.name} is to be retired as one of {name} already; nothing more is needed"
            raise UsageError(message)


def _withdraw(ports: Ports, services: tuple[Stored, ...]) -> None:
    """Withdraw all of them, and prove it by a read; leave the mark of an unproven withdrawal on each that lacks the proof."""
    outcomes = {(each.app, each.service): ports.router.withdraw(each.app, each.service) for each in services}
    try:
        routed, silence = ports.router.read().by_service, ""
    except RouterError as error:
        routed, silence = dict.fromkeys(outcomes, ()), str(error)
    unproven = {key: outcome for key, outcome in outcomes.items() if key in routed}
    for (app, service), outcome in unproven.items():
        if not isinstance(outcome, Done):
            _must(ports.store.set_unproven(app, service, unproven=True))
    if unproven:
        (app, service), outcome = next(iter(unproven.items()))
        reason = silence or _reason(outcome) or "it is still routed"
        message = f"the withdrawal of {app}/{service} is not proven, so nothing was forgotten: {reason}; try again when it is"
        raise RouterError(message)


def _reason(outcome: Outcome) -> str:
    match outcome:
        case Done():
            return ""
        case Refused(reason) | Unknown(reason):
            return reason
        case _ as never:
            assert_never(never)


def _forget(ports: Ports, stored: Stored, sessions: int) -> Forgotten:
    """Forget a withdrawn service. Its markers go first: with the service gone from ACTIVE they would have containers removed."""
    app, service, declared = stored.app, stored.service, stored.declared
    for each in stored.markers:
        _must(ports.store.drop_marker(app, service, each.container_id))
    if declared is not None:
        _must(ports.store.allow(app, service, declared.container_id))
        _must(ports.store.deactivate(Generation(app, service, declared.container_id, declared.revision)))
    _must(ports.store.set_hold(app, service, None))
    _must(ports.store.set_tuning(app, service, SETS_NOTHING))
    named = (declared.container_id,) if declared is not None else ()
    for container_id in (*named, *stored.orphans):
        _must(ports.store.save_memory(app, service, container_id, NOTHING))
    _must(ports.store.set_unproven(app, service, unproven=False))
    return Forgotten(app, service, *(named or ("",)), tuple(each.container_id for each in stored.markers), sessions)


def _must(outcome: Outcome) -> None:
    """Raise what became of a write, unless it was done."""
    match outcome:
        case Done():
            return
        case Refused(reason, fault):
            raise _FAMILIES[fault](reason)
        case Unknown(reason):
            raise StoreError(reason)
        case _ as never:
            assert_never(never)
