"""Shops in which deploying processes are killed, and the roads that such processes take, to success and to failure."""

import contextlib
from collections import Counter
from collections.abc import Iterator

from attrs import define, frozen

from tests.on_engine.deploy_scene import Shop
from tests.on_engine.killed_processes import Processes, commands

CREATE, JOURNAL, ACTIVATE = "engine.create", "store.journal", "store.activate"
PUBLISH, WITHDRAW = "router.publish", "router.withdraw"
START, STOP, REMOVE, PROBE = "engine.start", "engine.stop", "engine.remove", "prober.probe"
REMEMBER, DROP_CANDIDATE = "store.save_memory", "store.drop_candidate"
PACE_S = 0.04
SLOW = {START, STOP, REMOVE}
NEVER_READY = ("--ready-timeout", "0.1", "--", "sh", "-c", "trap 'exit 0' TERM; sleep 1000 & wait")


@frozen
class Road:
    """A way that a deploy goes, by its commands.

    `is_lit`: something serves all along. `overlaps`: so it would, if all went well. `words` have the deploy fail, or `death`:
    right after this call its container is killed. The process itself is killed after `since` (how it gets there is another road)
    and before `until` (what comes then, too): after each command, and on `both_sides` of it where that is worth the time, since
    before a command is after the one that comes before it.
    """

    commands: tuple[str, ...]
    is_lit: bool = True
    overlaps: bool = True
    words: tuple[str, ...] = ()
    death: str = ""
    since: str = ""
    until: str = ""
    both_sides: bool = True
    code: int = 0

    def places(self) -> list[str]:
        """Name every place to kill a process at: beside each command, and while the engine is at a slow one."""
        numbered = list(_numbered(self.commands))
        sides = [f"{when} {each}" for each in numbered for when in ("before", "after")]
        first = sides.index(f"after {self.since}") if self.since else 0
        chosen = sides[first : sides.index(f"before {self.until}") if self.until else None]
        slow = [each for each in numbered if each.split()[0] in SLOW and f"before {each}" in chosen]
        return [each for each in chosen if self.both_sides or each.startswith("after")] + [f"during {each}" for each in slow]

    def made(self, command: str, place: str) -> int:
        """Tell how often a process that was killed at this place has made a command, where it was not at it."""
        when, here = place.split(maxsplit=1)
        so_far = list(_numbered(self.commands)).index(here) + (when == "after")
        return self.commands[:so_far].count(command)


def _numbered(calls: tuple[str, ...]) -> Iterator[str]:
    """Name each with its number among those of its kind."""
    made: Counter[str] = Counter()
    for each in calls:
        made[each] += 1
        yield f"{each} {made[each]}"


_BEGINNING = (CREATE, JOURNAL)
_UP = (START, PROBE, ACTIVATE)
_YIELDING = (WITHDRAW, STOP)
_ENDING = (STOP, REMOVE, "store.release_claims", "store.drop_marker", "engine.rename")
_BACK = (JOURNAL, ACTIVATE)
_CLEARED = (REMOVE, DROP_CANDIDATE)
# Its attempt is put on record, then its verification, then since when it has run.
_UP_AGAIN = (REMEMBER, START, PROBE, REMEMBER, PUBLISH, REMEMBER)

ROADS = {
    "beside": Road((*_BEGINNING, *_UP, PUBLISH, *_ENDING)),
    "downtime": Road((*_BEGINNING, *_YIELDING, *_UP, PUBLISH, *_ENDING[1:]), is_lit=False, overlaps=False),
    "never-ready": Road(
        (*_BEGINNING, START, PROBE, STOP, *_CLEARED), words=NEVER_READY, since=f"{START} 1", both_sides=False, code=1
    ),
    "dies-unpublished": Road(
        (*_BEGINNING, *_UP, *_BACK, REMEMBER, *_CLEARED), death=f"{ACTIVATE} 1", since=f"{ACTIVATE} 1", both_sides=False, code=1
    ),
    "dies-published": Road(
        (*_BEGINNING, *_UP, PUBLISH, *_BACK, WITHDRAW, PROBE, PUBLISH, REMEMBER, *_CLEARED),
        is_lit=False,
        death=f"{PUBLISH} 1",
        since=f"{PUBLISH} 1",
        code=1,
    ),
    "never-ready-in-downtime": Road(
        (*_BEGINNING, *_YIELDING, START, PROBE, STOP, *_CLEARED, *_UP_AGAIN),
        is_lit=False,
        overlaps=False,
        words=NEVER_READY,
        since=f"{START} 1",
        both_sides=False,
        code=1,
    ),
    "dies-in-downtime": Road(
        (*_BEGINNING, *_YIELDING, *_UP, PUBLISH, *_BACK, *_CLEARED, WITHDRAW, *_UP_AGAIN),
        is_lit=False,
        overlaps=False,
        death=f"{PUBLISH} 1",
        since=f"{PUBLISH} 1",
        until=f"{REMEMBER} 1",
        both_sides=False,
        code=1,
    ),
}


@define(eq=False)
class Site:
    """A shop, and processes that work on it."""

    shop: Shop
    processes: Processes

    @property
    def words(self) -> str:
        """Return all that its processes have printed."""
        return (self.shop.directory / "told").read_text()

    @property
    def commands(self) -> list[str]:
        """Return the commands of the last process."""
        return commands(self.shop.directory / "commands")

    def begin(self, command: str, *words: str, at: str = "", death: str = "") -> int:
        """Begin a process, which is killed at this place; return its ID."""
        options = ("--state", str(self.shop.directory / "state.db"), "--haproxy", self.shop.proxy.socket)
        log, told = self.shop.directory / "commands", self.shop.directory / "told"
        log.unlink(missing_ok=True)
        return self.processes.start(told, command, *options, *words, log=log, kill=at, death=death)

    def deploy(self, version: int, *words: str, at: str = "", death: str = "") -> int:
        """Deploy a version in a process of its own, whose container is killed after `death`; return its exit code."""
        self.shop.switches.begun = version
        dies = f"{death} {self.shop.name}-new" if death else ""
        asked = ("-e", f"VERSION={version}", self.shop.app, "web", self.shop.image(version), *words)
        self.begin("deploy", *asked, at=at, death=dies)
        return self.processes.end()

    def once(self) -> int:
        """Run a pass in a process of its own; return its exit code."""
        self.begin("once")
        return self.processes.end()

    @contextlib.contextmanager
    def lit(self, *, wanted: bool) -> Iterator[None]:
        """Where that is wanted, let clients ask, of whom none may be without the right answer."""
        with self.shop.polled(pace_s=PACE_S) if wanted else contextlib.nullcontext():
            yield
