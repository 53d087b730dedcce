"""Which executions there were of one service, each from its start until its end, as far as both were seen. Pure."""

from collections.abc import Iterator
from typing import Final

from attrs import evolve, frozen

from gordon_core.observation import Clock, Container, Exit, Seen, Status
from gordon_core.sentences import duration
from gordon_shell.course import Form, Lane, Point, Sign, Span
from gordon_shell.journal import Dossier
from gordon_shell.seen_text import engine_time_s, seen_in_words

_ALIVE: Final = frozenset({Status.RUNNING, Status.PAUSED, Status.RESTARTING, Status.REMOVING})
_NO_TIME: Final = Clock(0.0, 0.0, "none")


@frozen
class _Execution:
    """One execution: when it began and was seen running last (seconds since 1970); when and how it ended, if it did."""

    container_id: str
    from_s: float
    seen_s: float
    row: int
    until_s: float | None = None
    ended: str = "how it ended is not on record"
    is_failure: bool = False


class Executions:
    """The executions of a service, by container ID and start time."""

    def __init__(self) -> None:
        """Know of none."""
        self._found: dict[tuple[str, str], _Execution] = {}
        self._running: tuple[str, str] | None = None

    def seen(self, seen: Seen, at_s: float, row: int) -> None:
        """Take in what was seen of the container at a time; `row` tells of it."""
        self._running = None
        if not isinstance(seen, Container) or not seen.started_at:
            return
        key = (seen.container_id, seen.started_at)
        known = self._known(key, at_s, row)
        if seen.status in _ALIVE:
            self._running = key
            self._found[key] = evolve(known, seen_s=max(known.seen_s, at_s))
        elif known.until_s is None:
            self._found[key] = _ended(known, seen.exit, at_s)

    def dossier(self, dossier: Dossier, at_s: float, row: int) -> None:
        """Take in how one of them ended."""
        key = (dossier.container_id, dossier.started_at)
        ended = _ended(self._known(key, at_s, row), dossier.end, at_s)
        self._found[key] = evolve(ended, ended=dossier_in_words(dossier), is_failure=is_failure(dossier), row=row)

    def drawn(self, now_s: float, *, is_known: bool) -> Iterator[tuple[Span, Point | None]]:
        """Yield each with its end, if it had one; what runs does until now, as far as it `is_known`."""
        for key, each in self._found.items():
            is_running = is_known and key == self._running and each.until_s is None
            until_s = now_s if is_running else each.seen_s if each.until_s is None else each.until_s
            ended = "still running" if is_running else each.ended
            words = f"execution {each.container_id[:12]}, {duration(until_s - each.from_s)}: {ended}"
            span = Span(Lane.EXECUTION, Form.SOLID, None, each.from_s, until_s, words, "running", each.row)
            sign = Sign.FAILED_END if each.is_failure else Sign.END
            yield span, Point(sign, until_s, words, row=each.row) if each.until_s is not None else None

    def _known(self, key: tuple[str, str], at_s: float, row: int) -> _Execution:
        began_s = engine_time_s(key[1])
        from_s = at_s if began_s is None else min(began_s, at_s)
        return self._found.setdefault(key, _Execution(key[0], from_s, from_s, row))


def dossier_in_words(dossier: Dossier) -> str:
    """Return how an execution ended: "exited (1)"."""
    return "restarted for being unhealthy" if dossier.was_restarted else _exit_in_words(dossier.end)


def is_failure(dossier: Dossier) -> bool:
    """Tell whether an execution ended otherwise than with exit code 0."""
    return dossier.was_restarted or _is_failure(dossier.end)


def _exit_in_words(end: Exit | None) -> str:
    if end is None:
        return "ended; how is not on record"
    # How long ago that was is not of interest here.
    return seen_in_words(Container("-", Status.EXITED, exit=evolve(end, finished_at="")), _NO_TIME)


def _is_failure(end: Exit | None) -> bool:
    return end is not None and (end.code != 0 or end.oom_killed or bool(end.error))


def _ended(known: _Execution, end: Exit | None, at_s: float) -> _Execution:
    ended_s = engine_time_s(end.finished_at) if end is not None else None
    until_s = at_s if ended_s is None else min(max(ended_s, known.from_s), at_s)
    return evolve(known, until_s=until_s, ended=_exit_in_words(end), is_failure=_is_failure(end))
