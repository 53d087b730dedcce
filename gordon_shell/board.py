"""What the jobs of a pass must know of one another: which routes name ports that no container of their own service holds."""

from threading import Lock

from gordon_core.planner import names_foreign_ports
from gordon_core.snapshot import Snapshot, Subject


class Board:
    """The latest value of each suspect subject, shared by the jobs of a pass, since one's route may name another's port."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._mutex = Lock()
        self._suspects = {(each.app, each.service): each for each in snapshot.subjects if names_foreign_ports(each)}

    def put(self, subject: Subject) -> None:
        """Put up the latest value of a subject."""
        with self._mutex:
            self._suspects.pop((subject.app, subject.service), None)
            if names_foreign_ports(subject):
                self._suspects[subject.app, subject.service] = subject

    def others(self, subject: Subject) -> tuple[Subject, ...]:
        """Return the suspects besides this subject."""
        with self._mutex:
            return tuple(each for key, each in self._suspects.items() if key != (subject.app, subject.service))
