"""Checks the host: engine, clock, state, proxy, host policy, and every container in care. It only reads.

What cannot be reached is a finding like another, and hides none of the others.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from attrs import evolve

from gordon_core.evidence import exposed_bindings
from gordon_core.observation import Gone, HealthStatus
from gordon_core.sentences import duration
from gordon_core.snapshot import Declared, Subject
from gordon_core.tuning import of_labels
from gordon_shell import state_checkup
from gordon_shell.errors import EngineError, GordonError, RouterError, StoreError
from gordon_shell.findings import Finding, document, error, failure, fine, hint, lines, warning
from gordon_shell.host_policy import policy_path
from gordon_shell.host_settings import NoticeSettings
from gordon_shell.ports import Details, Engine, Ports, Router, Stored, TimeSource
from gordon_shell.session import Session

OLDEST_API = (1, 40)
MOST_SKEW_S = 2.0
_ANYBODY = 0o006
_OTHERS = 0o077
_HIDDEN_BOOT = "booted-"


def examine(session: Session) -> tuple[Finding, ...]:
    """Check everything."""
    return tuple(_findings(session))


def _findings(session: Session) -> Iterator[Finding]:
    yield from state_checkup.examine(session.options.state_file())
    yield from _of_policy(session)
    try:
        ports = _ports(session)
    except GordonError as wrong:
        yield failure("engine" if isinstance(wrong, EngineError) else "options", wrong)
        return
    try:
        yield from _of_ports(session, ports)
    finally:
        ports.store.close()


def _ports(session: Session) -> Ports:
    """Open the doors; where the state cannot be opened, which was told, those to an empty one."""
    opened, options = session.world.ports, session.options
    try:
        return opened(options, create=True, read_only=True)
    except StoreError:
        elsewhere = options.state_file().with_name(".no-such-state")
        return opened(evolve(options, state=elsewhere), create=True, read_only=True)


def _of_ports(session: Session, ports: Ports) -> Iterator[Finding]:
    try:
        stored = ports.store.read()
    except StoreError as wrong:
        yield failure("state", wrong)
        stored = ()
    yield from _of_clock(ports.clock)
    try:
        yield from _of_engine(ports.engine, ports.clock)
    except EngineError as wrong:
        yield failure("engine", wrong)
    else:
        for each in stored:
            yield from _of_service(each, ports.engine)
    yield from _of_router(ports.router, stored)
    yield from _of_socket(session)


def _of_policy(session: Session) -> Iterator[Finding]:
    said = ""
    try:
        policy = session.world.policies(session.options)()
    except GordonError as wrong:
        said = str(wrong)
        yield failure("host policy", wrong)
    else:
        none = "there is none; containers may have what they were created with"
        yield fine("host policy", none if policy is None else "it is read")
    try:
        settings = session.world.settings(session.options)
    except GordonError as wrong:
        if str(wrong) != said:
            yield error("host policy", str(wrong).replace("\n", "; "), "put that right; `run` and `once` end over it at once")
    else:
        yield from _of_notices(session, settings.notices)


def _of_notices(session: Session, settings: NoticeSettings) -> Iterator[Finding]:
    program = settings.command[0] if settings.command else ""
    if program and not (Path(program).is_file() and os.access(program, os.X_OK)):
        yield error("notices", f"their command {program} cannot be run", "name a program that this user may run")
    try:
        file = policy_path(session.options.policy_file())
        mode = file.stat().st_mode if file is not None else 0
    except (GordonError, OSError):
        return  # told already, by what could not be read
    if settings.webhook and mode & _OTHERS:
        yield warning(
            "notices", f"{file} is open to other users, and the address of a webhook in it is a secret", f"chmod 600 {file}"
        )


def _of_clock(clock: TimeSource) -> Iterator[Finding]:
    first, then = clock.now(), clock.now()
    if then.boot_s < first.boot_s:
        yield error("clock", "the clock that counts from the boot goes backwards", "see to the kernel of this host")
    elif first.boot_id.startswith(_HIDDEN_BOOT):
        yield warning(
            "clock",
            "the kernel's ID of this boot cannot be read, so that a step of the wall clock ends waits early",
            "let this user read /proc/sys/kernel/random/boot_id",
        )
    else:
        yield fine("clock", f"this host was booted {duration(first.boot_s)} ago")


def _of_engine(engine: Engine, clock: TimeSource) -> Iterator[Finding]:
    before = clock.now().wall_s
    about = engine.about()
    after = clock.now().wall_s
    numbers = tuple(int(each) for each in about.api_version.split(".") if each.isdigit())
    if numbers < OLDEST_API:
        spoken = f"version {about.version} speaks API {about.api_version}, and 1.40 is needed"
        yield error("engine", spoken, "install Docker 20.10 or later")
    else:
        yield fine("engine", f"version {about.version}, API {about.api_version}")
    skew_s = max(before - about.wall_s, about.wall_s - after, 0.0)
    if skew_s > MOST_SKEW_S:
        yield warning(
            "clock", f"the wall clock of this host and that of the engine differ by {skew_s:.0f} s", "have both set by NTP"
        )
    else:
        yield fine("clock", f"it agrees with the engine's within {MOST_SKEW_S:.0f} s")


def _of_service(stored: Stored, engine: Engine) -> Iterator[Finding]:
    name, declared = f"{stored.app}/{stored.service}", stored.declared
    if declared is None:
        return
    try:
        details = engine.inspect(declared.container_id)
    except EngineError as wrong:
        yield failure(name, wrong)
        return
    if isinstance(details, Gone):
        yield error(
            name,
            f"its container {declared.container_id[:12]} is gone",
            f"gordon-shell adopt {stored.app} {stored.service}=CONTAINER",
        )
        return
    found = (*_of_container(name, details), *_of_ports_bound(stored, declared, details))
    yield from found or (fine(name, f"container {details.container.name or declared.container_id[:12]}"),)


def _of_container(name: str, details: Details) -> Iterator[Finding]:
    container_id = details.container.container_id[:12]
    if details.restart_policy not in {"", "no"}:
        yield warning(
            name,
            f"Docker restarts it too (restart policy {details.restart_policy}), past every wait and hold",
            f"docker update --restart no {container_id}",
        )
    if details.container.health.status is HealthStatus.NONE:
        yield hint(name, "it has no health check, so that nothing tells when it hangs", "give its image or its deploy one")
    for each in of_labels(details.labels)[1]:
        yield warning(name, each, "put the label right, and deploy or adopt it anew")


def _of_ports_bound(stored: Stored, declared: Declared, details: Details) -> Iterator[Finding]:
    subject = Subject(stored.app, stored.service, details.container, declared)
    for each in exposed_bindings(subject):
        yield warning(
            subject.name,
            f"port {each.port} is bound at {each.host_ip or 'every address'}, past the proxy",
            f"publish it at 127.0.0.1 alone (-p 127.0.0.1::{each.port.number})",
        )


def _of_router(router: Router, stored: tuple[Stored, ...]) -> Iterator[Finding]:
    try:
        routed = router.read().by_service
        unknown = {f"{each.app}/{each.service}": _unknown(router, each) for each in stored}
    except RouterError as wrong:
        yield failure("proxy", wrong)
        return
    for name, ports in unknown.items():
        if ports:
            yield error(
                "proxy",
                f"it knows nothing of {name} at {', '.join(map(str, ports))}",
                "gordon-shell haproxy-config > /etc/haproxy/gordon.cfg, and reload HAProxy",
            )
    yield fine("proxy", f"it answers, and routes {len(routed)} of {sum(map(_is_published, stored))} published services")


def _unknown(router: Router, stored: Stored) -> tuple[object, ...]:
    declared = stored.declared
    return router.unknown(stored.app, stored.service, declared.ports) if declared is not None and _is_published(stored) else ()


def _is_published(stored: Stored) -> bool:
    return stored.declared is not None and stored.declared.published and bool(stored.declared.ports)


def _of_socket(session: Session) -> Iterator[Finding]:
    try:
        socket = session.options.haproxy_socket()
        mode = Path(socket).stat().st_mode if socket is not None else 0
    except (GordonError, OSError):
        return  # told already, by what could not be reached
    if mode & _ANYBODY:
        yield warning("proxy", f"anybody on this host may change routes through {socket}", "stats socket ... mode 600")


__all__ = ["document", "examine", "lines"]
