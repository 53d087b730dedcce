"""Takes the dossier of an execution that ended: its last lines of output are read, all else was seen."""

from typing import Final, Protocol

from attrs import evolve

from gordon_core.ends import End
from gordon_core.observation import Clock
from gordon_shell.errors import EngineError
from gordon_shell.journal import Dossier

LINES: Final = 50
LONGEST_LINE: Final = 2000


class Output(Protocol):
    """What of an engine is asked here."""

    def logs(self, container_id: str, lines: int, until_s: float | None = None) -> tuple[str, ...]:
        """Return the last lines of output of a container; see Engine."""


def taken(engine: Output, end: End, clock: Clock) -> Dossier:
    """Return the dossier of an execution that had ended by then; what it printed later is another's. What fails is said in it."""
    unread = []
    lines: tuple[str, ...] = ()
    try:
        lines = tuple(_text(each)[:LONGEST_LINE] for each in engine.logs(end.container_id, LINES, clock.wall_s))
    except EngineError as error:
        unread.append(f"its last lines could not be read: {error}")
    if end.was_restarted:
        unread.append("how it ended is not seen: it was restarted")
    elif end.end is None:
        unread.append("the engine does not say how it ended")
    return Dossier(
        app=end.app,
        service=end.service,
        container_id=end.container_id,
        started_at=end.started_at,
        clock=clock,
        was_restarted=end.was_restarted,
        end=evolve(end.end, error=_text(end.end.error)) if end.end is not None else None,
        probes=tuple(evolve(each, output=_text(each.output)) for each in end.probes),
        lines=lines,
        unread=tuple(unread),
    )


def _text(words: str) -> str:
    """Return words that a document can say, whatever came from outside."""
    return words.encode(errors="replace").decode()
