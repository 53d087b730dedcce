"""Puts together who is told of services, from the settings of a host: what decides that aside of every pass, and the channels."""

from collections.abc import Callable
from time import monotonic
from typing import Final

from gordon_core.noted import Notice, NoticeKind
from gordon_core.observation import Clock
from gordon_core.planner import Plan
from gordon_shell.channel import Carrier, Channel, ended
from gordon_shell.errors import StoreError
from gordon_shell.hook import Hook
from gordon_shell.host_settings import NoticeSettings
from gordon_shell.notice_text import document
from gordon_shell.notices import Aside, Complain, Keeper, Notices
from gordon_shell.ports import Lock
from gordon_shell.report import Report
from gordon_shell.webhook import Webhook
from gordon_shell.witness import Silent

Claim = Callable[[], Lock | str]
"""Takes a lock, or says who holds it. Raises StoreError."""
_DECIDING_S: Final = 1.0
"""How much of the patience at the end goes to plans that were not looked at yet."""
_LEAST_S: Final = 0.2
"""How much of it there is in any case for what is to be delivered."""


def carriers(settings: NoticeSettings) -> dict[str, Carrier]:
    """Return the ways by which notices leave this host, by the keys under which what waits for them is kept."""
    found: dict[str, Carrier] = {}
    if settings.command:
        found["notices.command"] = Hook(settings.command, settings.timeout_s)
    if settings.webhook:
        found["notices.webhook"] = Webhook(settings.webhook, settings.timeout_s)
    return found


class Teller(Silent):
    """Tells operators what is worth telling of the passes that it witnesses, in threads of its own.

    One process at a time tells of a state: beside another that does, nothing is told here.
    """

    def __init__(self, settings: NoticeSettings, keeper: Keeper | None, complain: Complain, claim: Claim) -> None:
        """Begin with the first plan, also with what an earlier process left; `claim` takes the lock of the one that tells."""
        self._claim = claim
        self._lock: Lock | None = None
        ways = carriers(settings)
        self._channels = tuple(Channel(key, each, keeper, complain) for key, each in ways.items())
        self._aside = Aside(Notices(self._deliver, keeper, complain, settings.kinds), complain)

    def planned(self, plan: Plan, *, is_whole: bool) -> None:
        """Hear of a look; see Witness."""
        if self._is_ours():
            self._aside.planned(plan, is_whole=is_whole)

    def ended(self, report: Report) -> None:
        """Hear that a pass is over; see Witness."""
        if self._is_ours():
            self._aside.ended(report)

    def end(self, patience_s: float) -> None:
        """Deliver what is left within so long; what is not delivered then is said, and kept."""
        until_s = monotonic() + patience_s
        self._aside.end(min(_DECIDING_S, patience_s))
        ended(self._channels, max(_LEAST_S, until_s - monotonic()))
        if self._lock is not None:
            self._lock.release()

    def _is_ours(self) -> bool:
        """Tell whether nobody else tells of this state; asked anew until that is so, and then it stays so."""
        if self._lock is None:
            try:
                found = self._claim()
            except StoreError:
                found = None  # better told twice than not at all
            if isinstance(found, str):
                return False
            self._lock = found
            for each in self._channels:
                each.begin()
        return True

    def _deliver(self, notice: Notice) -> None:
        text = document(notice)
        for each in self._channels:
            each.put(text)


def trial(clock: Clock) -> Notice:
    """Return a notice that tells of nothing."""
    words = "a test of how notices are delivered; nothing happened, and nothing needs to be done"
    return Notice(NoticeKind.TEST, "", "", "", clock, words)
