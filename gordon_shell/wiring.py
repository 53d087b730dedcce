"""Puts the real ports together, from what a command or an embedding tool says. Only here are real ports named."""

import os
from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from gordon_core.grants import HostPolicy
from gordon_core.snapshot import Snapshot
from gordon_shell.docker_engine import DockerEngine
from gordon_shell.errors import UsageError
from gordon_shell.file_locks import FileLocks
from gordon_shell.haproxy_router import HaproxyRouter
from gordon_shell.host_policy import policy_path, read_policy
from gordon_shell.host_settings import HostSettings, read_settings
from gordon_shell.journal import Journal
from gordon_shell.memory.store import MemoryStore
from gordon_shell.observer import Observer, Policies
from gordon_shell.ports import Ports, Router, StateStore
from gordon_shell.prober import SocketProber
from gordon_shell.recollection import Recollection
from gordon_shell.routes_file_router import RoutesFileRouter
from gordon_shell.sqlite_store import SqliteStore
from gordon_shell.state_path import state_path
from gordon_shell.system_clock import SystemClock


@frozen
class LiveOptions:
    """Where the state, the journal, the host policy and the router are. Docker is found as its CLI finds it.

    None: what the environment says in GORDON_STATE, GORDON_HISTORY, GORDON_POLICY, GORDON_HAPROXY or GORDON_ROUTES, else the
    standard place. `haproxy` is the runtime socket of a HAProxy; without it the routes file is the router, beside the state
    unless it is named. `history` is the journal, also beside the state.
    """

    state: Path | None = None
    policy: Path | None = None
    haproxy: Path | None = None
    routes: Path | None = None
    history: Path | None = None
    environment: Mapping[str, str] = field(factory=lambda: os.environ, repr=False)

    def state_file(self) -> Path:
        """Return the path of the state."""
        return state_path(str(self.state) if self.state is not None else self.environment.get("GORDON_STATE"))

    def policy_file(self) -> Path | None:
        """Return the path of the host policy, None for the standard place."""
        return self.policy or self._path("GORDON_POLICY")

    def haproxy_socket(self) -> Path | None:
        """Return the runtime socket of HAProxy, None where the router is a routes file. Raise UsageError where both are named."""
        if self.haproxy is not None and self.routes is not None:
            message = "both a HAProxy and a routes file are named; leave --haproxy or --routes out"
            raise UsageError(message)
        return self.haproxy or (None if self.routes is not None else self._path("GORDON_HAPROXY"))

    def routes_file(self) -> Path:
        """Return the path of the routes file."""
        return self.routes or self._path("GORDON_ROUTES") or self.state_file().with_name("routes.json")

    def history_file(self) -> Path:
        """Return the path of the journal: history.db beside state.db, NAME.history.db beside a NAME.db."""
        state = self.state_file()
        beside = "history.db" if state.stem == "state" else f"{state.stem}.history.db"
        return self.history or self._path("GORDON_HISTORY") or state.with_name(beside)

    def _path(self, name: str) -> Path | None:
        value = self.environment.get(name)
        return Path(value).expanduser() if value else None


def router(options: LiveOptions) -> Router:
    """Return the router that the options name. Raise UsageError where they name two."""
    socket = options.haproxy_socket()
    return HaproxyRouter(str(socket)) if socket is not None else RoutesFileRouter(options.routes_file())


def opened(state: Path, *, create: bool, read_only: bool) -> StateStore:
    """Open the state at this path. Raise StoreError. With `create` and `read_only`, one that is not there counts as empty."""
    if create and read_only and not state.exists():
        return MemoryStore()
    return SqliteStore.open(state, create=create, read_only=read_only)


def live_ports(options: LiveOptions, *, create: bool = False, read_only: bool = False) -> Ports:
    """Return the real ports. Raise StoreError (no state, and not `create`), EngineError (impossible DOCKER_HOST)."""
    state, engine = options.state_file(), DockerEngine.from_environment()
    return Ports(
        engine=engine,
        store=opened(state, create=create, read_only=read_only),
        router=router(options),
        prober=SocketProber(),
        clock=SystemClock(),
        locks=FileLocks.beside(state),
        events=engine,
    )


def live_journal(options: LiveOptions, *, read_only: bool = False) -> Journal | None:
    """Return the journal, None where the host policy turns it off. Nothing is opened before it is needed.

    Raise DocumentError where its settings say something impossible.
    """
    from gordon_shell.sqlite_journal import SqliteJournal  # noqa: PLC0415 - not for those who only look

    settings = live_settings(options).journal
    if settings.days <= 0 and not read_only:
        return None
    return SqliteJournal(options.history_file(), settings, read_only=read_only)


def live_settings(options: LiveOptions) -> HostSettings:
    """Return how this program works on this host. Raise GordonError where the file says something impossible."""
    return read_settings(policy_path(options.policy_file()))


def live_policies(options: LiveOptions) -> Policies:
    """Return a reader of the host policy, which reads the file again when it changed. Raise GordonError if it is damaged now."""
    read = _PolicyFile(options.policy_file())
    read()
    return read


class _PolicyFile:
    """The host policy, read anew when its file is another one than before."""

    def __init__(self, option: Path | None) -> None:
        self._option = option
        self._stamp: tuple[object, ...] | None = None
        self._policy: HostPolicy | None = None

    def __call__(self) -> HostPolicy | None:
        path = policy_path(self._option)
        if path is None:
            return None
        stamp = _stamp(path)
        if stamp != self._stamp:
            self._policy = read_policy(path)
            self._stamp = stamp
        return self._policy


def _stamp(path: Path) -> tuple[object, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return (path, found.st_mtime_ns, found.st_size, found.st_ino)


def live_snapshot(options: LiveOptions) -> Snapshot:
    """Look at the host once, and change nothing. Raise GordonError: no state, engine out of reach, damaged policy."""
    ports = live_ports(options, read_only=True)
    try:
        return Observer(ports, live_policies(options), Recollection(ports.store), remember=False).look()
    finally:
        ports.store.close()
