"""Progress of a pass on a terminal: each step as it is done, and what is being waited for when nothing else is said."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from gordon_core.effects import Effect, Outcome
from gordon_core.snapshot import Subject
from gordon_shell.telling import step

PATIENCE_S = 2.0
"""How long a command may take before it is told that it is waited for."""

Waiting = Callable[[], tuple[tuple[str, str], ...]]
"""What is being waited for now: (app/service, the command in words)."""


class Progress:
    """Tells of steps, line by line; many threads may."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        """Tell it so."""
        self._tell = tell

    def step(self, subject: Subject, effect: Effect, outcome: Outcome) -> None:
        """Tell a step: the listener of a Reconciler."""
        self._tell(step(subject, effect, outcome))

    @contextmanager
    def watch(self, waiting: Waiting, patience_s: float = PATIENCE_S) -> Iterator[None]:
        """During the block, tell once of each command that takes longer than `patience_s` seconds."""
        ended = Event()
        thread = Thread(target=self._watch, args=(waiting, patience_s, ended), daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _watch(self, waiting: Waiting, patience_s: float, ended: Event) -> None:
        before: set[tuple[str, str]] = set()
        told: set[tuple[str, str]] = set()
        while not ended.wait(patience_s):
            now = set(waiting())
            for name, doing in sorted((now & before) - told):
                self._tell(f"{name}: {doing}: waiting")
            told = (told | (now & before)) & now
            before = now
