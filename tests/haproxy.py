"""A real HAProxy for tests: a child process in the foreground, on a directory whose path is short enough for a Unix socket."""

import contextlib
import os
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
_UP_S = 30.0


class RunningHaproxy:
    """One HAProxy whose runtime socket is at `socket`."""

    def __init__(self, config: str, directory: Path, *, master: bool = False) -> None:
        """Write its configuration, before which global and defaults are put. `master`: a master process, with a worker."""
        self.socket = str(directory / "haproxy.sock")
        self._master = master
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
        self._process = self._begun(*(["-W"] if self._master else []))
        self._wait_for_another_than(0)

    def _begun(self, *flags: str) -> "subprocess.Popen[bytes]":
        with self._log.open("ab") as log:
            return subprocess.Popen(["haproxy", "-db", *flags, "-f", str(self._config)], stdout=log, stderr=log)

    def _wait_for_another_than(self, pid: int) -> None:
        """Wait until the runtime socket is answered by another process than that one."""
        until = time.monotonic() + _UP_S
        while self._answering() in {0, pid}:
            if self._process is None or self._process.poll() is not None or time.monotonic() > until:
                self.kill()
                pytest.fail(f"haproxy did not start: {self._log.read_text()}")
            time.sleep(0.01)

    def reload(self) -> None:
        """Have it read its configuration anew, as an operator does, and wait until the process before has run out."""
        before, process = self._answering(), self._process
        assert process is not None
        if self._master:
            process.send_signal(signal.SIGUSR2)
        else:
            self._process = self._begun("-sf", str(process.pid))
        self._wait_for_another_than(before)
        if not self._master:
            process.wait(_UP_S)
        until = time.monotonic() + _UP_S
        while Path(f"/proc/{before}").exists() and time.monotonic() < until:
            time.sleep(0.01)

    def kill(self) -> None:
        """End it with SIGKILL; the socket's file stays behind, as it does after a crash."""
        if self._process is not None:
            workers: list[str] = []
            with contextlib.suppress(FileNotFoundError):  # where it has ended by itself
                workers = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
            self._process.kill()
            self._process.wait()
            self._process = None
            for each in workers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(each), signal.SIGKILL)

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

    def _answering(self) -> int:
        """Return which process answers at the runtime socket, 0 for none."""
        try:
            told = dict(line.split(": ", 1) for line in self.say("show info").splitlines() if ": " in line)
        except OSError:
            return 0
        return int(told.get("Pid", 0))


def running_haproxy(config_text: str, directory: Path, *, master: bool = False) -> RunningHaproxy:
    """Return a context manager that runs HAProxy with this configuration (global and defaults are added) in this directory."""
    return RunningHaproxy(config_text, directory, master=master)


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
