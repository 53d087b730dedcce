"""Progress on a terminal: each step, and what takes long."""

import threading

from gordon_core.effects import DONE, Withdraw
from gordon_core.observation import Gone
from gordon_core.snapshot import Subject
from gordon_shell.progress import Progress


def test_a_step_is_told_as_it_is_done() -> None:
    told: list[str] = []
    Progress(told.append).step(Subject("shop", "web", Gone()), Withdraw("shop", "web"), DONE)
    assert ["shop/web: withdraw its route: done"] == told


def test_what_takes_long_is_told_once_and_again_only_after_something_else() -> None:
    looks = iter([(("a/b", "start it"),)] * 4 + [()] * 2 + [(("a/b", "start it"),)] * 3)
    told: list[str] = []
    over = threading.Event()

    def waiting() -> tuple[tuple[str, str], ...]:
        try:
            return next(looks)
        except StopIteration:
            over.set()
            return ()

    with Progress(told.append).watch(waiting, 0.002):
        assert over.wait(60)
    assert ["a/b: start it: waiting"] * 2 == told


def test_what_is_quick_is_not_told() -> None:
    told: list[str] = []
    with Progress(told.append).watch(lambda: (("a/b", "start it"),), 60.0):
        pass
    assert [] == told
