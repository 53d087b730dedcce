"""A command that is run for each notice, with the notice as JSON on its standard input."""

import os
import selectors
import shlex
import signal
import subprocess
from threading import Lock
from time import monotonic
from typing import Final

from gordon_shell.channel import DELIVERED, Answer, Verdict

_MOST_WORDS: Final = 300
_LOOK_EVERY_S: Final = 0.1
_OURS: Final = frozenset({"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID"})
"""What systemd told this program, and nobody that it runs."""
_TOLD_TO_END: Final = (signal.SIGTERM, signal.SIGINT)
_DROPPED = Answer(Verdict.LATER)


class Hook:
    """Runs a command for each document. One that fails is not run again for it: what it did so far is not known."""

    def __init__(self, command: tuple[str, ...], timeout_s: float) -> None:
        """Run this program with these arguments, for so long at most."""
        self._command, self._timeout_s = command, timeout_s
        self._gate = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_dropped = False

    @property
    def name(self) -> str:
        """Return what it is called, in words; arguments may hold secrets."""
        return f"the command {shlex.quote(self._command[0])}"

    def carry(self, document: str) -> Answer:
        """Run the command, and wait for its end; its standard error is shown where it fails."""
        try:
            process = self._begun()
        except OSError as error:
            return Answer(Verdict.REFUSED, f"it could not be started ({error.strerror})")
        if process is None:
            return _DROPPED
        try:
            said = _talked(process, f"{document}\n".encode(), self._timeout_s)
        except subprocess.TimeoutExpired:
            _kill(process)
            return Answer(Verdict.REFUSED, f"it was not done within {self._timeout_s:g} s, and was killed")
        finally:
            _close(process)
        if self._is_dropped:
            return _DROPPED
        if process.returncode == 0:
            return DELIVERED
        # Systemd tells every process of a unit to end, also this one: the notice is for the next start then.
        verdict = Verdict.LATER if -process.returncode in _TOLD_TO_END else Verdict.REFUSED
        return Answer(verdict, _ended(process.returncode, said))

    def drop(self) -> None:
        """Kill the command that runs, and let no other begin."""
        with self._gate:
            self._is_dropped = True
            if self._process is not None and self._process.poll() is None:
                _kill(self._process)

    def _begun(self) -> "subprocess.Popen[bytes] | None":
        environment = {key: value for key, value in os.environ.items() if key not in _OURS}
        with self._gate:
            if self._is_dropped:
                return None
            self._process = subprocess.Popen(  # noqa: S603 - the command of this host's operator, without a shell
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd="/",
                env=environment,
                start_new_session=True,
            )
            return self._process


def _talked(process: subprocess.Popen[bytes], document: bytes, timeout_s: float) -> bytes:
    """Give a command its input, and return the end of what it said when it has ended; more than that is never held.

    What it left running may go on to hold its standard error: that is not waited for. Raise TimeoutExpired.
    """
    until_s, said, left = monotonic() + timeout_s, b"", memoryview(document)
    with selectors.DefaultSelector() as waiting:
        for pipe, what in ((process.stdin, selectors.EVENT_WRITE), (process.stderr, selectors.EVENT_READ)):
            assert pipe is not None  # noqa: S101 - both were asked for
            os.set_blocking(pipe.fileno(), False)
            waiting.register(pipe, what)
        while waiting.get_map() and monotonic() < until_s:
            ready = waiting.select(min(_LOOK_EVERY_S, max(0.0, until_s - monotonic())))
            if not ready and process.poll() is not None:
                break
            for key, _ in ready:
                if key.events == selectors.EVENT_READ:
                    words = os.read(key.fd, 65536)
                    said = (said + words)[-4 * _MOST_WORDS :]
                    is_over = not words
                else:
                    left = left[_written(key.fd, left) :]
                    is_over = not left
                if is_over:
                    waiting.unregister(key.fileobj)
                if is_over and process.stdin is key.fileobj:
                    process.stdin.close()
    process.wait(max(0.0, until_s - monotonic()))
    return said


def _written(descriptor: int, left: memoryview) -> int:
    """Write what fits, and return how much did; all of it where nobody reads any more."""
    try:
        return os.write(descriptor, left)
    except BrokenPipeError:
        return len(left)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill it with all that it began, which is of its own process group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return  # it has just ended


def _close(process: subprocess.Popen[bytes]) -> None:
    """Take the end of a process, and let go of its pipes, which somebody that it left behind may still hold."""
    process.wait()
    for each in (process.stdin, process.stderr):
        if each is not None and not each.closed:
            each.close()


def _ended(code: int, said: bytes) -> str:
    words = " ".join(said.decode(errors="replace").split())[-_MOST_WORDS:]
    how = f"signal {-code} ended it" if code < 0 else f"it ended with exit status {code}"
    return f"{how}: {words}" if words else f"{how}, and said nothing on standard error"
