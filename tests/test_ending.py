"""A program that is asked to end does so: soon, and in any case."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from gordon_shell.ending import SIGNALS, ended_by_signals, heeded

HANGING = """
import time
from gordon_shell import ending
ending.PATIENCE_S = 0.3
with ending.ended_by_signals(lambda: print("asked", flush=True), 7):
    print("ready", flush=True)
    while True:
        time.sleep(60)
"""


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_asks_once_and_the_handlers_are_put_back(number: signal.Signals) -> None:
    before = [signal.getsignal(each) for each in SIGNALS]
    asked_to = threading.Event()
    with ended_by_signals(asked_to.set, 0) as asked:
        os.kill(os.getpid(), number)
        assert asked.wait(30)
        assert asked_to.wait(30)
    assert before == [signal.getsignal(each) for each in SIGNALS]


IN_A_WAIT = """
import os, signal, threading, time
from gordon_shell import ending
# As where the signal comes in the moment before the wait begins: nothing interrupts the wait of the main thread.
def tell():
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ending.SIGNALS)
    os.kill(os.getpid(), signal.SIGTERM)
signal.pthread_sigmask(signal.SIG_BLOCK, ending.SIGNALS)
with ending.ended_by_signals(lambda: (print("asked", flush=True), os._exit(5)), 7):
    threading.Timer(0.2, tell).start()
    time.sleep(60)
"""


def test_a_signal_that_does_not_interrupt_the_main_thread_is_heeded_at_once() -> None:
    with subprocess.Popen([sys.executable, "-c", IN_A_WAIT], stdout=subprocess.PIPE, text=True) as program:
        try:
            assert 5 == program.wait(20)
        finally:
            program.kill()


def hanging() -> "subprocess.Popen[str]":
    program = subprocess.Popen([sys.executable, "-c", HANGING], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    assert program.stdout.readline() == "ready\n"
    return program


def test_what_hangs_is_ended_when_the_patience_is_over() -> None:
    with hanging() as program:
        program.terminate()
        assert program.wait(60) == 7
        assert program.stdout is not None
        assert program.stdout.read() == "asked\n"


def test_a_second_signal_ends_it_at_once() -> None:
    source = HANGING.replace("0.3", "600")
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        program.terminate()
        assert program.stdout.readline() == "asked\n"
        program.terminate()
        assert program.wait(60) == 7


def test_a_signal_that_is_heeded_is_known_at_once_and_does_nothing_else() -> None:
    """At once: a deploy that was cancelled asks right after, whether a signal did it (or it ends with 75, not 130)."""
    before = signal.getsignal(signal.SIGTERM)
    with heeded() as signalled:
        assert not signalled
        signal.raise_signal(signal.SIGTERM)
        assert [signal.SIGTERM] == signalled
        signal.raise_signal(signal.SIGINT)
        assert [signal.SIGTERM, signal.SIGINT] == signalled
    assert before is signal.getsignal(signal.SIGTERM)
