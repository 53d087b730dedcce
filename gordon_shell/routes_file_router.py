"""The router that needs no proxy: a JSON file that says where each service is routed, for whatever reads it.

    {
      "routes": [
        {"app": "shop", "binds": [{"host_port": 32768, "port": 80, "protocol": "tcp"}], "service": "web"}
      ],
      "version": 1
    }

A reader sees the old file or the new one, never a half: it is written beside, synced, and renamed. Equal routes are equal bytes.
"""

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from gordon_core.effects import Done, Fault, Outcome, Refused
from gordon_core.observation import Bind, Binds, Port, Protocol
from gordon_shell.errors import RouterError
from gordon_shell.ports import Routes, Service
from gordon_shell.routable import in_order, objection

VERSION = 1
DEFAULT_WAIT_S = 5.0
_MODE = 0o644
_POLL_S = 0.01

_All = dict[Service, Binds]


class RoutesFileRouter:
    """The Router port on the file at `path`, TCP and UDP. Its directory is made when the first route is written.

    Commands are serialised across threads and processes by a lock on `path`.lock, for which each waits at most `wait_s` seconds.
    A command that cannot be carried out is refused with the operating system's words, and leaves the file as it was.
    """

    def __init__(self, path: Path, wait_s: float = DEFAULT_WAIT_S) -> None:
        """Remember the place, with symbolic links resolved; nothing is opened before the first call."""
        self._path = Path(os.path.realpath(path))
        self._wait_s = wait_s

    def read(self) -> Routes:
        """Return what the file says; no file is no routes. Raise RouterError for one that is damaged or cannot be read."""
        return Routes(_parse(self._path, self._bytes()))

    def publish(self, app: str, service: str, binds: Binds) -> Outcome:
        """Route exactly these binds, on disk before this returns."""
        reason = objection(binds)
        if reason:
            return Refused(reason, Fault.ROUTER)
        return self._change(lambda routes: routes | {(app, service): in_order(binds)})

    def withdraw(self, app: str, service: str) -> Outcome:
        """Take the service out of the file, on disk before this returns. Done where it is not in there."""
        return self._change(lambda routes: {named: binds for named, binds in routes.items() if named != (app, service)})

    def sessions(self, app: str, service: str) -> int:  # noqa: ARG002 - the same for every service
        """Return 0: a file knows of no sessions."""
        return 0

    def unknown(self, app: str, service: str, ports: tuple[Port, ...]) -> tuple[Port, ...]:  # noqa: ARG002 - likewise
        """Return nothing: a file needs no configuration."""
        return ()

    def _change(self, change: Callable[[_All], _All]) -> Outcome:
        try:
            before, after = self._changed(change)
            if before == after:
                return Done()
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._locked():
                return self._replace(*self._changed(change))
        except RouterError as error:
            return Refused(str(error), Fault.ROUTER)
        except OSError as error:
            reason = f"{self._path} cannot be written ({error.strerror or error}); make its directory writable, with space left"
            return Refused(reason, Fault.ROUTER)

    def _changed(self, change: Callable[[_All], _All]) -> tuple[bytes, bytes]:
        before = self._bytes()
        return before, _print(change(_parse(self._path, before)))

    def _replace(self, before: bytes, after: bytes) -> Outcome:
        if before != after:
            _write(self._path, after)
        if self._bytes() != after:
            return Refused(f"{self._path} reads otherwise than it was written; see what else writes it", Fault.ROUTER)
        return Done()

    def _bytes(self) -> bytes:
        try:
            return self._path.read_bytes()
        except FileNotFoundError:
            return _print({})
        except OSError as error:
            message = f"{self._path} cannot be read ({error.strerror or error}); make it a file that this user can read"
            raise RouterError(message) from error

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        lock = os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            until = time.monotonic() + self._wait_s
            while not _try_lock(lock):
                if time.monotonic() >= until:
                    message = f"another process has held {self._path}.lock for {self._wait_s:g} s; see which, and end it"
                    raise RouterError(message)
                time.sleep(_POLL_S)
            yield
        finally:
            os.close(lock)


def _try_lock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write(path: Path, content: bytes) -> None:
    """Replace the file in one step. Only the holder of the lock is here, so a `.tmp` left by a crash is simply written over."""
    beside = path.with_name(f"{path.name}.tmp")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, _MODE), "wb") as file:  # noqa: PTH123 - of a descriptor
            os.fchmod(file.fileno(), _MODE)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _print(routes: _All) -> bytes:
    rows = [
        {"app": app, "service": service, "binds": [_print_bind(bind) for bind in binds]}
        for (app, service), binds in sorted(routes.items())
        if binds
    ]
    return (json.dumps({"version": VERSION, "routes": rows}, indent=2, sort_keys=True) + "\n").encode()


def _print_bind(bind: Bind) -> dict[str, object]:
    return {"port": bind.port.number, "protocol": bind.port.protocol.value, "host_port": bind.host_port}


def _parse(path: Path, content: bytes) -> _All:
    """Read strictly: whoever else writes into this file is to be told, not guessed at."""
    try:
        return _routes(json.loads(content, object_pairs_hook=_each_key_once))
    except (ValueError, TypeError, RecursionError) as error:
        message = f"{path} is damaged ({error}); remove it, and the next pass writes it anew"
        raise RouterError(message) from error


def _each_key_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        message = f"a key stands twice among {', '.join(key for key, _ in pairs)}"
        raise ValueError(message)
    return found


def _routes(document: object) -> _All:
    version, rows = _fields(document, "$", "version", "routes")
    if type(version) is not int or version != VERSION:
        message = f"$.version: expected {VERSION}, found {version!r}"
        raise ValueError(message)
    found: _All = {}
    for place, row in _items(rows, "$.routes"):
        app, service, binds = _fields(row, place, "app", "service", "binds")
        key = (_text(app, f"{place}.app"), _text(service, f"{place}.service"))
        if key in found:
            message = f"{place}: {key[0]}/{key[1]} stands twice"
            raise ValueError(message)
        found[key] = tuple(_bind(bind, each) for each, bind in _items(binds, f"{place}.binds"))
    return found


def _bind(value: object, place: str) -> Bind:
    port, protocol, host_port = _fields(value, place, "port", "protocol", "host_port")
    try:
        return Bind(Port(_number(port), Protocol(protocol)), _number(host_port))
    except ValueError as error:
        message = f"{place}: {error.args[0]}"
        raise ValueError(message) from error


def _number(value: object) -> int:
    if type(value) is not int or value == 0:
        message = f"expected a port from 1 to 65535, found {value!r}"
        raise ValueError(message)
    return value


def _text(value: object, place: str) -> str:
    if not isinstance(value, str) or not value:
        message = f"{place}: expected a name, found {value!r}"
        raise ValueError(message)
    return value


def _fields(value: object, place: str, *names: str) -> tuple[object, ...]:
    if not isinstance(value, dict) or set(value) != set(names):
        message = f"{place}: expected an object with exactly {', '.join(names)}"
        raise ValueError(message)
    return tuple(value[name] for name in names)


def _items(value: object, place: str) -> Iterator[tuple[str, object]]:
    if not isinstance(value, list):
        message = f"{place}: expected a list"
        raise ValueError(message)  # noqa: TRY004 - one kind of error for every fault of the file
    return ((f"{place}[{index}]", item) for index, item in enumerate(value))


__all__ = ["DEFAULT_WAIT_S", "VERSION", "RoutesFileRouter"]
