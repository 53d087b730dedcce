"""One list call tells of most containers that nothing happened to them; only the others are inspected.

A row is trusted only as far as it can be: its status, health and ports must be those known, its uptime text must not look young,
and it must have been looked at within the last minute (the text is coarse past that). A full look every five minutes, and
whenever evidence is needed, repairs what this could miss.
"""

from attrs import define, frozen

from gordon_core.observation import Clock, Gone, HealthStatus, Status, Unread
from gordon_core.policy import FULL_LOOK_S
from gordon_shell.errors import EngineError
from gordon_shell.ports import Details, Engine, Row

COARSE_S = 60.0
_YOUNG = ("second", "About a minute")
_PLAIN = frozenset({Status.RUNNING, Status.EXITED, Status.CREATED, Status.DEAD})
_TELLING = frozenset({HealthStatus.NONE, HealthStatus.HEALTHY})

Look = Details | Gone | Unread


@define
class _Glance:
    row: Row
    details: Details
    inspected_s: float
    glanced_s: float


@frozen
class Listing:
    """The rows of one list call by container ID, or why there are none."""

    rows: dict[str, Row]
    silence: str = ""


class Glances:
    """What is known of each container from its last inspect, for as long as its rows agree with it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: dict[str, _Glance] = {}

    def rows(self) -> Listing:
        """Make the one list call of a pass."""
        try:
            return Listing({each.container_id: each for each in self._engine.rows()})
        except EngineError as error:
            return Listing({}, str(error))

    def look(self, container_id: str, listing: Listing, clock: Clock) -> Look:
        """Return what is known of one container: without a call where its row agrees, else from an inspect."""
        if listing.silence:
            return Unread(listing.silence)
        row, known = listing.rows.get(container_id), self._known.get(container_id)
        if row is not None and known is not None and _agrees(row, known, clock.boot_s):
            known.glanced_s = clock.boot_s
            return known.details
        return self.inspect(container_id, row, clock)

    def inspect(self, container_id: str, row: Row | None, clock: Clock) -> Look:
        """Read one container; with the row of the same look, later rows are compared to it."""
        self._known.pop(container_id, None)
        try:
            details = self._engine.inspect(container_id)
        except EngineError as error:
            return Unread(str(error))
        if row is not None and isinstance(details, Details) and details.container.status is row.status:
            self._known[container_id] = _Glance(row, details, clock.boot_s, clock.boot_s)
        return details

    def keep_only(self, container_ids: set[str]) -> None:
        """Forget containers that nobody asks for any more."""
        for each in self._known.keys() - container_ids:
            self._known.pop(each, None)  # a job of an earlier pass may have been quicker


def _agrees(row: Row, known: _Glance, now_s: float) -> bool:
    return (
        row.status is known.row.status
        and row.status in _PLAIN
        and (row.status is not Status.RUNNING or _tells_the_same_health(row, known))
        and row.ports == known.row.ports
        and not any(word in row.uptime for word in _YOUNG)
        and 0 <= now_s - known.glanced_s < COARSE_S
        and now_s - known.inspected_s < FULL_LOOK_S
    )


def _tells_the_same_health(row: Row, known: _Glance) -> bool:
    return row.health in _TELLING and row.health is known.details.container.health.status
