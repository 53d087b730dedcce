"""A real HAProxy for tests: a child process in the foreground, on a directory whose path is short enough for a Unix socket."""

import contextlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

_MISSING = "there is no haproxy on the path (Debian: apt-get install haproxy)"
NEEDS_HAPROXY = [pytest.mark.proxy, pytest.mark.skipif(shutil.which("haproxy") is None, reason=_MISSING)]

_HEAD = """\
global
    stats socket {socket} mode 600 level admin
    hard-stop-after 2s
defaults
    mode http
    timeout connect 2s
    timeout client 30s
    timeout server 30s
"""
_UP_S = 10.0


class RunningHaproxy:
    """One HAProxy whose runtime socket is at `socket`."""

    def __init__(self, config: str, directory: Path) -> None:
        """Write its configuration, before which global and defaults are put."""
        self.socket = str(directory / "haproxy.sock")
        self._config = directory / "haproxy.cfg"
        self._log = directory / "haproxy.log"
        self._config.write_text(_HEAD.format(socket=self.socket) + config)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Run it for a block."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.kill()

    def start(self) -> None:
        """Start it, and wait until its runtime socket answers."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(["haproxy", "-db", "-f", str(self._config)], stdout=log, stderr=log)
        until = time.monotonic() + _UP_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                self.kill()
                pytest.fail(f"haproxy did not start: {self._log.read_text()}")
            time.sleep(0.01)

    def kill(self) -> None:
        """End it with SIGKILL; the socket's file stays behind, as it does after a crash."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def restart(self) -> None:
        """Kill it and start it again: what was set at run time is lost."""
        self.kill()
        self.start()

    def pause(self) -> contextlib.AbstractContextManager[None]:
        """Return a block in which it is stopped by SIGSTOP, and answers nothing."""
        return _stopped(self._process)

    def say(self, command: str) -> str:
        """Do something by hand at the runtime socket, and return what HAProxy says."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_UP_S)
            connection.connect(self.socket)
            connection.sendall(f"{command}\n".encode())
            return b"".join(iter(lambda: connection.recv(1 << 16), b"")).decode().strip()

    def _answers(self) -> bool:
        try:
            return bool(self.say("show version"))
        except OSError:
            return False


def running_haproxy(config_text: str, directory: Path) -> RunningHaproxy:
    """Return a context manager that runs HAProxy with this configuration (global and defaults are added) in this directory."""
    return RunningHaproxy(config_text, directory)


@contextlib.contextmanager
def short_directory() -> Iterator[Path]:
    """Give a directory directly under /tmp: a path to a Unix socket may have 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="gordon-", dir="/tmp") as name:
        yield Path(name)


def free_port() -> int:
    """Return a TCP port of loopback that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def _stopped(process: subprocess.Popen[bytes] | None) -> Iterator[None]:
    assert process is not None
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)
