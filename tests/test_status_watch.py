"""`gordon-shell status --watch`: looks again and again, and shows it as the place where it is shown wants it."""

import errno
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gordon_core.observation import Port, Unread
from gordon_core.planner import plan
from gordon_core.snapshot import Snapshot
from gordon_shell.memory.clock import MemoryClock
from gordon_shell.sqlite_store import SqliteStore
from gordon_shell.status_table import Size, table
from gordon_shell.text import plain
from tests.core_examples import CLOCK, blog, dark, down, good, having, seen, superseding
from tests.fake_daemon import fake_daemon
from tests.shell_worlds import HTTP, Shell
from tests.test_explain_cli import engine_with_one_that_is_gone, state

__all__ = ["state"]
ROOT = Path(__file__).parent.parent
DEADLINE_S = 60.0

# --- columns -----------------------------------------------------------------------------------------------------------------

MANY = Snapshot(
    CLOCK,
    (
        good(superseding),
        blog(),
        good(having(app="a"), dark, down),
        good(having(app="z", service="漢字" * 9), seen(Unread("no\x1b[2J answer" * 9))),
    ),
)


def width(line: str) -> int:
    return sum(2 if ord(each) > 0x2FFF else 1 for each in line)


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    lines = table(plan(MANY), Size(columns, 40), plain)
    assert 7 == len(lines)
    assert [] == [each for each in lines if width(each) > columns or "\x1b" in each]


def test_there_are_as_many_columns_as_there_is_room_for() -> None:
    heads = [table(plan(MANY), Size(columns, 40), plain)[1].split() for columns in (40, 80, 120)]
    assert [["SERVICE", "WHY"], ["SERVICE", "SEEN", "WHY"], ["SERVICE", "SEEN", "ROUTE", "WHY"]] == heads


def test_a_line_says_what_is_and_what_helps() -> None:
    title, _heads, line = table(plan(Snapshot(CLOCK, (good(),))), Size(100, 24), plain)
    assert "1 service: 1 as desired. As seen at 2026-11-30 07:00:00Z; q ends this." == title
    assert "= shop/web  running for 1 h  routed to 80/tcp at…  as desired" == line
    (_, _, line) = table(plan(Snapshot(CLOCK, (good(seen(Unread("no answer"))),))), Size(200, 24), plain)
    assert line.endswith("it could not be read (no answer); nothing is concluded; to help: docker inspect 3f2a9c1b7d4e")


def test_where_there_is_no_room_for_all_what_needs_a_person_comes_first() -> None:
    lines = table(plan(MANY), Size(80, 5), plain)
    assert 5 == len(lines)
    assert [["!", "a/web"], ["!", "blog/web"]] == [each.split()[:2] for each in lines[2:4]]
    assert "  and 3 more, for which this window is too low; name an APP" == lines[4]
    assert 1 == len(table(plan(MANY), Size(80, 1), plain))


# --- where there is no terminal ------------------------------------------------------------------------------------------------


class Watched(MemoryClock):
    """Time in which somebody presses Ctrl-C in the last of so many sleeps, and something may happen in each."""

    def __init__(self, sleeps: int) -> None:
        super().__init__()
        self.left = sleeps
        self.happens: dict[int, object] = {}

    def sleep(self, seconds: float) -> None:
        self.left -= 1
        deed = self.happens.get(self.left)
        if callable(deed):
            deed()
        if self.left == 0:
            raise KeyboardInterrupt
        super().sleep(seconds)


def watched(tmp_path: Path, capture: pytest.CaptureFixture[bytes], sleeps: int = 3) -> tuple[Shell, Watched]:
    clock = Watched(sleeps)
    shell = Shell(tmp_path / "state.db", capture, clock)
    shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    return shell, clock


def test_it_is_printed_again_and_again_each_with_its_time(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    shell, clock = watched(tmp_path, capfdbinary)
    clock.happens[1] = lambda: shell.engine.kill("01" * 32)
    code, out, _ = shell.run("status", "shop", "--watch", "5")
    assert 130 == code
    parts = str(out).split("\n\n")
    assert ["As seen at 2026-01-01 00:00:00Z:", "As seen at 2026-01-01 00:00:05Z:", "As seen at 2026-01-01 00:00:10Z:"] == [
        each.splitlines()[0] for each in parts
    ]
    assert ["running since just now", "running for 5 s", "exited (137) 5 s ago"] == [
        re.findall(r"(running[^;]*|exited[^:;]*)[:;]", each)[0] for each in parts
    ]


def test_with_json_it_is_one_document_a_line(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    shell, _ = watched(tmp_path, capfdbinary)
    code, out, _ = shell.run("status", "--format", "json", "--watch")
    assert 130 == code
    found = [json.loads(each) for each in str(out).splitlines()]
    assert ["2026-01-01T00:00:00Z", "2026-01-01T00:00:02Z", "2026-01-01T00:00:04Z"] == [each["at"] for each in found]
    assert {"gordon-status"} == {each["document"] for each in found}


def test_a_look_that_fails_is_told_and_the_next_one_goes_on(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    shell, clock = watched(tmp_path, capfdbinary, 4)
    away = tmp_path / "away.db"
    clock.happens[3] = lambda: shell.path.rename(away)
    clock.happens[2] = lambda: away.rename(shell.path)
    code, out, err = shell.run("status", "--watch")
    assert 130 == code
    assert ["2026-01-01 00:00:00Z", "2026-01-01 00:00:04Z", "2026-01-01 00:00:06Z"] == re.findall(r"As seen at (.*):", str(out))
    told = f"there is no state at {shell.path}, so nothing is touched; `gordon-shell adopt` makes one"
    assert f"gordon-shell: {told}; trying again" == str(err).strip()


def test_the_first_look_has_to_succeed(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    shell, _ = watched(tmp_path, capfdbinary)
    assert (64, "", "gordon-shell: there is no app 'shep'; adopted: shop\n") == tuple(shell.run("status", "shep", "--watch"))


def test_it_only_reads_and_lists_the_containers_once_for_each_look(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    shell, _ = watched(tmp_path, capfdbinary, 5)
    lists: list[int] = []
    rows = shell.engine.rows
    object.__setattr__(shell.engine, "rows", lambda: (lists.append(1), rows())[1])
    before = (shell.stored(), shell.router.read())
    shell.run("status", "--watch")
    assert 5 == len(lists)
    assert before == (shell.stored(), shell.router.read())


def test_what_makes_no_sense_is_refused(shell: Shell) -> None:
    shell.container("web-1", Port(80))
    shell.adopted(web="web-1")
    for words, said in (
        (
            ("--watch", "--detailed-exitcode"),
            "--detailed-exitcode is about one look, and --watch has many; leave one of them out.",
        ),
        (("--watch", "0"), "0.0 is not in the range 0.1<=x<=120.0."),
        (("--watch", "nan"), "'nan' is not a number of seconds."),
    ):
        ran = shell.run("status", *words)
        assert (64, "") == (ran.code, ran.out)
        assert said in ran.err


def test_a_reader_that_went_away_ends_it(state: Path) -> None:
    with fake_daemon(engine_with_one_that_is_gone) as daemon:
        command = f'"{sys.executable}" -m gordon_shell.shell_cli status --watch 0.1 --state "{state}"'
        line = f'{command} | head -n 1; echo "${{PIPESTATUS[0]}}"'
        ran = subprocess.run(
            ["/bin/bash", "-c", line], capture_output=True, check=False, cwd=ROOT, text=True, timeout=DEADLINE_S,
            env=os.environ | {"DOCKER_HOST": daemon.host},
        )  # fmt: skip
    first, code = ran.stdout.splitlines()
    assert (True, "0") == (first.startswith("As seen at "), code)


# --- on a terminal -------------------------------------------------------------------------------------------------------------


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, keyboard: int, process: "subprocess.Popen[bytes]", before: list[object]) -> None:
        self.keyboard, self.process, self.before = keyboard, process, before
        self.shown = b""

    def until(self, words: bytes) -> bytes:
        """Read until this was shown since the last time, and return all of that."""
        deadline_s, begun = time.monotonic() + DEADLINE_S, len(self.shown)
        while words not in self.shown[begun:]:
            assert time.monotonic() < deadline_s, self.shown
            ready, _, _ = select.select([self.keyboard], [], [], 1)
            if ready:
                self.shown += self._read()
        return self.shown[begun:]

    def ended(self) -> int:
        deadline_s = time.monotonic() + DEADLINE_S
        while self.process.poll() is None:
            assert time.monotonic() < deadline_s, self.shown
            if select.select([self.keyboard], [], [], 0.2)[0]:
                self.shown += self._read()
        while select.select([self.keyboard], [], [], 0.2)[0] and (left := self._read()):
            self.shown += left
        return self.process.returncode

    def _read(self) -> bytes:
        try:
            return os.read(self.keyboard, 65536)
        except OSError as error:
            if error.errno != errno.EIO:  # nobody is at the other end any more
                raise
            return b""


def resize(terminal: int, lines: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


@contextmanager
def on_terminal(state: Path, *words: str, term: str = "xterm") -> Iterator[Terminal]:
    keyboard, inner = pty.openpty()
    resize(inner, 24, 80)
    before = termios.tcgetattr(inner)
    with fake_daemon(engine_with_one_that_is_gone) as daemon:
        process = subprocess.Popen(
            [sys.executable, "-m", "gordon_shell.shell_cli", "status", "--watch", "0.2", "--state", str(state), *words],
            stdin=inner, stdout=inner, stderr=inner, cwd=ROOT, start_new_session=True,
            env=os.environ | {"DOCKER_HOST": daemon.host, "TERM": term, "NO_COLOR": "1"},
        )  # fmt: skip
        try:
            terminal = Terminal(keyboard, process, before)
            yield terminal
            assert before == termios.tcgetattr(inner), "the terminal is as it was"
        finally:
            process.kill()
            process.wait()
            os.close(inner)
            os.close(keyboard)


def test_a_terminal_is_drawn_in_place_fits_and_ends_with_q(state: Path) -> None:
    with on_terminal(state) as terminal:
        drawn = terminal.until(b"\x1b[J")
        assert b"\x1b[?1049h" in drawn
        assert b"! shop/web  gone  gone; never rebuilt by recovery; to help: gordon-shell adopt\xe2\x80\xa6\x1b[K\x1b[J" in drawn
        terminal.until(b"\x1b[H")
        resize(terminal.keyboard, 10, 40)
        terminal.until(b"! shop/web  gone; never rebuilt by reco\xe2\x80\xa6\x1b[K")
        os.write(terminal.keyboard, b"q")
        assert 0 == terminal.ended()
        assert terminal.shown.endswith(b"\x1b[?7h\x1b[?25h\x1b[?1049l")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_the_terminal_is_as_it_was(state: Path, number: signal.Signals) -> None:
    with on_terminal(state) as terminal:
        terminal.until(b"\x1b[J")
        terminal.process.send_signal(number)
        assert 130 == terminal.ended()
        assert b"\x1b[?7h\x1b[?25h\x1b[?1049l" in terminal.shown


def test_trouble_stands_above_what_was_seen_last(state: Path) -> None:
    with on_terminal(state) as terminal:
        terminal.until(b"\x1b[J")
        store = SqliteStore.open(state, create=False)
        store.close()
        state.write_bytes(b"no database")
        shown = terminal.until(b"\x1b[Hthe state")
        shown += terminal.until(b"\x1b[J")
        assert b"! shop/web  gone" in shown
        os.write(terminal.keyboard, b"q")
        assert 0 == terminal.ended()


def test_a_dumb_terminal_gets_lines(state: Path) -> None:
    with on_terminal(state, term="dumb") as terminal:
        assert b"\x1b" not in terminal.until(b"As seen at ")
        terminal.process.send_signal(signal.SIGINT)
        assert 130 == terminal.ended()
