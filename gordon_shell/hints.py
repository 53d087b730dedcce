"""What the engine's events point at: which services to look at before the next pass. A hint says where to look, never what is so.

Whoever reads the events only drops names in here, and so is never late for the next one. A thousand hints at one container are
one; those that are not ours cost one look at the state in a second, however many there are.
"""

from collections.abc import Callable, Collection, Container, Iterable, Mapping
from math import inf
from threading import Lock
from time import monotonic

from attrs import define, field

from gordon_shell.ports import Service

SPACING_S = 1.0
"""How long after one targeted pass over a service its next one may come. The first comes at once."""
MOST_NAMES = 10_000
"""How many containers may be named between two looks; beyond that, all are looked at."""


def _nobody() -> None:
    """Call nobody."""


class Hints:
    """What was said since somebody asked. Any thread may add to it; none waits for another.

    `ours` are the containers that are known to be ours; news of others rings once in a second.
    """

    def __init__(self, ring: Callable[[], None] = _nobody) -> None:
        """Begin with nothing said; `ring` is called, in the thread that adds something, whenever there is news."""
        self.ours: Container[str] = ()
        self._ring = ring
        self._rang_s = -inf
        self._mutex = Lock()
        self._names: set[str] = set()
        self._whole = False

    def put(self, container_id: str) -> None:
        """Point at one container."""
        with self._mutex:
            is_news = container_id not in self._names
            self._names.add(container_id)
            if len(self._names) > MOST_NAMES:
                self._names.clear()
                self._whole = True
        if is_news and (container_id in self.ours or self._may_ring()):
            self._ring()

    def _may_ring(self) -> bool:
        """Tell whether nobody was told of a stranger for a second; whoever is told comes again after one more."""
        now_s = monotonic()
        may = now_s - self._rang_s >= SPACING_S
        self._rang_s = now_s if may else self._rang_s
        return may

    def ask_whole(self) -> None:
        """Ask for a look at everything: something may have happened that nobody told of."""
        with self._mutex:
            self._whole = True
        self._ring()

    @property
    def wants_whole(self) -> bool:
        """Tell whether a look at everything is asked for."""
        return self._whole

    def take_whole(self) -> None:
        """Begin a look at everything: it answers whatever was said until now."""
        with self._mutex:
            self._whole = False
            self._names.clear()

    def take(self) -> frozenset[str]:
        """Return the containers that were pointed at since the last time."""
        if not self._names:
            return frozenset()
        with self._mutex:
            names, self._names = frozenset(self._names), set()
        return names


@define(eq=False)
class Agenda:
    """Which services are to be looked at, and from when on; for one thread. `told` is when a service was pointed at last."""

    told: dict[Service, float] = field(factory=dict)
    looked_s: dict[Service, float] = field(factory=dict)
    strangers: set[str] = field(factory=set)
    met_s: float = -SPACING_S

    def add(self, names: Iterable[str], owners: Mapping[str, Service], now_s: float) -> None:
        """Put down whom these containers belong to; those that belong to nobody, as far as is known, are strangers."""
        for each in names:
            if each in owners:
                self.told[owners[each]] = now_s
            else:
                self.strangers.add(each)

    def is_to_meet(self, now_s: float) -> bool:
        """Tell whether it is time to see whose the strangers are."""
        return bool(self.strangers) and self.met_s + SPACING_S <= now_s

    def meet(self, owners: Mapping[str, Service], now_s: float) -> None:
        """Put down whom the strangers belong to by now; the others are none of ours."""
        self.told |= {owners[each]: now_s for each in self.strangers if each in owners}
        self.strangers.clear()
        self.met_s = now_s

    def again(self, services: Iterable[Service]) -> None:
        """Put services down once more: what may be called for could not be done now."""
        for each in services:
            self.told.setdefault(each, -inf)

    def answered(self, service: Service, looked_s: float) -> None:
        """Take a service off if it was pointed at before that look at it began."""
        if self.told.get(service, inf) < looked_s:
            del self.told[service]

    def clear(self, now_s: float, busy: Collection[Service]) -> None:
        """Begin anew: everything is looked at, but what is busy."""
        self.told = {each: told_s for each, told_s in self.told.items() if each in busy}
        self.strangers.clear()
        self.looked_s = {each: at_s for each, at_s in self.looked_s.items() if at_s + SPACING_S > now_s}

    def due(self, now_s: float, busy: Collection[Service]) -> tuple[Service, ...]:
        """Return the services to be looked at now, in order: none that is busy, and none that was looked at just now."""
        return tuple(sorted(each for each in self.told if each not in busy and self._from_s(each) <= now_s))

    def due_in_s(self, now_s: float, busy: Collection[Service]) -> float:
        """Return how long nothing will be due, as far as time alone decides; infinite where it does not."""
        times = [self._from_s(each) for each in self.told if each not in busy]
        times += [self.met_s + SPACING_S] if self.strangers or now_s < self.met_s + SPACING_S else []
        return max(0.0, min(times, default=inf) - now_s)

    def begin(self, services: Iterable[Service], now_s: float) -> None:
        """Take services off: they are being looked at."""
        for each in services:
            self.told.pop(each, None)
            self.looked_s[each] = now_s

    def _from_s(self, service: Service) -> float:
        return self.looked_s.get(service, -SPACING_S) + SPACING_S
