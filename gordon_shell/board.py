"""What the jobs of a pass must know of one another: which routes name ports that no container of their own service holds."""

from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from threading import Lock

from attrs import evolve

from gordon_core.observation import RouteSeen, Unread
from gordon_core.planner import is_at_odds, names_foreign_ports
from gordon_core.snapshot import Snapshot, Subject
from gordon_shell.observer import stray
from gordon_shell.ports import Routes, Service

NEVER_LOOKED_AT = Unread("nobody looked at it yet")


class Board:
    """The latest value of each subject, shared by the jobs of a pass, since one's route may name another's port."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._mutex = Lock()
        self._subjects = {(each.app, each.service): each for each in snapshot.subjects}
        self._suspects = {key for key, each in self._subjects.items() if names_foreign_ports(each)}

    def put(self, subject: Subject) -> None:
        """Put up the latest value of a subject."""
        key, is_suspect = (subject.app, subject.service), names_foreign_ports(subject)
        with self._mutex:
            self._subjects[key] = subject
            (self._suspects.add if is_suspect else self._suspects.discard)(key)

    def get(self, app: str, service: str) -> Subject:
        """Return the latest value of a subject; one that was never put up is a stray that nothing is known of."""
        with self._mutex:
            return self._subjects.get((app, service)) or Subject(app, service, NEVER_LOOKED_AT)

    def is_at_odds(self, subject: Subject, routes: Routes | None) -> bool:
        """Tell whether another service was seen to hold what this one holds now, and is routed there: it must be looked at."""
        if routes is None:
            return False
        with self._mutex:
            others = self._subjects
            return any(
                is_at_odds(subject, others[key], binds)
                for key, binds in routes.by_service.items()
                if key in others and key != (subject.app, subject.service)
            )

    def others(
        self, subject: Subject, routes: Routes | None, looked_at: Collection[Service] | None = None
    ) -> tuple[Subject, ...]:
        """Return the suspects besides this subject, as the read of the router that came with it, or a later one, shows them.

        It may show routes that could not be read, or were not there, when their own services were looked at. Where the router was
        silent to this subject, the others stand as they were put up. `looked_at` are the services of a targeted pass: what was
        done to others, it did not do.
        """
        found = self._others(subject, routes)
        if looked_at is None:
            return found
        return tuple(
            evolve(each, results=()) if each.results and (each.app, each.service) not in looked_at else each for each in found
        )

    def _others(self, subject: Subject, routes: Routes | None) -> tuple[Subject, ...]:
        mine = (subject.app, subject.service)
        with self._mutex:
            others, suspects = dict(self._subjects), self._suspects - {mine}
        others.pop(mine, None)
        if routes is None or not isinstance(subject.route, RouteSeen):
            return tuple(others[key] for key in sorted(suspects))
        strays = (stray(key, routes) for key in sorted(routes.by_service.keys() - others.keys() - {mine}))
        return tuple(each for each in (*_refreshed(others, suspects, routes), *strays) if names_foreign_ports(each))


def _refreshed(others: Mapping[Service, Subject], suspects: AbstractSet[Service], routes: Routes) -> Iterator[Subject]:
    """Yield the suspects, and whatever a read shows otherwise than it was seen."""
    for key, each in others.items():
        binds = routes.by_service.get(key, ())
        if key in suspects or not isinstance(each.route, RouteSeen) or each.route.binds != binds:
            yield evolve(each, route=RouteSeen(binds, routes.carries))
