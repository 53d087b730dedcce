"""A night on record, for tests of reports: a crash loop that was mended, a sick service, a paused one; simulated, in fast time.

`python -m tests.pages` writes the page of it anew.
"""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from gordon_core.observation import Clock
from gordon_core.planner import plan
from gordon_core.snapshot import Snapshot
from gordon_shell.crew import InlineCrew
from gordon_shell.host import Host
from gordon_shell.journal import Journal
from gordon_shell.memory.clock import MemoryClock
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.memory.engine import MemoryEngine
from gordon_shell.memory.journal import MemoryJournal
from gordon_shell.memory.ports import memory_ports
from gordon_shell.observer import Observer
from gordon_shell.page import Page, page
from gordon_shell.page_verbs import Wanted, made_page
from gordon_shell.recollection import Recollection
from gordon_shell.wishes import Wish
from tests.core_examples import CLOCK
from tests.hosts import HTTP

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN = Path(__file__).parent / "documents" / "report.html"
IDS = {"api": "a" * 64, "db": "b" * 64, "web": "c" * 64}
WORDS = ("reading <config>", "KeyError: 'DATABASE_URL' & more")
LENGTH_S = 2700.0


@frozen(eq=False)
class Night:
    """What is on record, and how it is at its end, 45 minutes after 2026-11-30 07:00:00Z."""

    journal: Journal
    snapshot: Snapshot

    def page(self, target: str = "", since_s: float = CLOCK.wall_s - 86400) -> Page:
        wanted = Wanted(target, "-24h", Path("unused"))
        return made_page(wanted, self.snapshot, plan(self.snapshot), self.journal, since_s)

    def html(self, target: str = "") -> str:
        return page(self.page(target))


def passed(journal: Journal) -> Snapshot:
    """Let the night go by, with passes every 15 seconds, on record there; return how it is then."""
    clock = MemoryClock(Clock(100_000.0, CLOCK.wall_s, "boot-1"))
    engine = MemoryEngine(clock)
    ports = memory_ports(engine)
    host = Host(ports, crew=InlineCrew(), journal=journal, complain=_refuse, who="alice")
    checks = Behaviour(checks=(*(True,) * 40, *(False,) * 4), check_every_s=30.0, check_retries=2)
    engine.add(Simulated(IDS["api"], "shop-api-1", ((HTTP, 0),), behaviour=checks))
    engine.add(Simulated(IDS["db"], "shop-db-1"))
    engine.add(Simulated(IDS["web"], "shop-web-1", ((HTTP, 0),)))
    for each in IDS.values():
        engine.start(each)
    host.adopt("shop", *(Wish(service, f"shop-{service}-1") for service in IDS))

    def crash() -> None:
        engine.kill(IDS["web"])
        engine.behave(IDS["web"], Behaviour(exits_after_s=20.0, says=WORDS))

    events: dict[float, Callable[[], None]] = {
        300.0: crash,
        1200.0: lambda: engine.behave(IDS["web"], Behaviour()),
        1500.0: lambda: engine.behave(IDS["api"], Behaviour(checks=(True,))),
        2400.0: lambda: engine.pause(IDS["db"]),
    }
    for number in range(int(LENGTH_S / 15)):
        events.get(number * 15.0, _nothing)()
        host.recover()
        clock.advance(15)
    return Observer(ports, lambda: None, Recollection(ports.store), remember=False).look()


@cache
def night() -> Night:
    """Return the night, in memory."""
    journal = MemoryJournal()
    return Night(journal, passed(journal))


def _nothing() -> None:
    """Let it be."""


def _refuse(complaint: str) -> None:
    raise AssertionError(complaint)


if __name__ == "__main__":
    GOLDEN.write_text(night().html("shop/web"), encoding="utf-8")
