"""The witness that tells operators: folds plans to notices, hands each on, and keeps what was told over restarts."""

from collections.abc import Callable, Iterable
from queue import SimpleQueue
from threading import Thread
from typing import Final, Protocol

from gordon_core.noted import Notice, NoticeKind, Told
from gordon_core.notices import notice
from gordon_core.planner import Plan
from gordon_shell.errors import DocumentError, JournalError
from gordon_shell.notice_text import Memo, memo_in_json, memo_of_json
from gordon_shell.report import Report
from gordon_shell.witness import Silent, Witness

TOLD: Final = "notices"
"""The key under which the journal keeps what was told."""
MOST_WAITING: Final = 200
"""How many plans may wait to be looked at; what comes on top of that is not, and the next one says the same again."""

Complain = Callable[[str], None]


class Keeper(Protocol):
    """Keeps small texts durably, as a Journal does."""

    def keep(self, key: str, text: str) -> None:
        """Keep a text under a key. Raise JournalError."""

    def kept(self, key: str) -> str:
        """Return what is kept, "" where nothing is. Raise JournalError."""


def _unheard(_complaint: str) -> None:
    """Tell nobody."""


class Notices(Silent):
    """Hands every notice of the passes that it witnesses to `deliver`, in their thread; `deliver` should be quick.

    With a keeper (a journal) nothing is told again by the next process: what is to be told is kept before it is handed on, and
    handed on by the next process if this one dies between the two. What cannot be kept, or was damaged, is complained of once.
    Only notices of these kinds are handed on. One of these at a time may use a keeper.
    """

    def __init__(
        self,
        deliver: Callable[[Notice], None],
        keeper: Keeper | None = None,
        complain: Complain = _unheard,
        kinds: Iterable[NoticeKind] = NoticeKind,
    ) -> None:
        """Begin with what the keeper has, which is read when the first plan comes."""
        self._deliver, self._keeper, self._complain, self._kinds = deliver, keeper, complain, frozenset(kinds)
        self._told: Told | None = None
        self._kept: Memo | None = None
        self._complaint = ""

    def planned(self, plan: Plan, *, is_whole: bool) -> None:
        """Tell what a look shows; see Witness."""
        told = self._told if self._told is not None else self._begin()
        self._told, found = notice(told, plan, is_whole=is_whole)
        new = tuple(each for each in found if each.kind in self._kinds)
        if new:
            self._keep(Memo(self._told, new))
        for each in new:
            self._hand_on(each)

    def ended(self, report: Report) -> None:
        """Tell how a pass left everything, and keep what was told."""
        self.planned(report.plan, is_whole=report.is_whole)
        if self._told is not None:
            self._keep(Memo(self._told))

    def _keep(self, memo: Memo) -> None:
        if self._keeper is None or memo == self._kept:
            return
        try:
            self._keeper.keep(TOLD, memo_in_json(memo))
            self._kept, self._complaint = memo, ""
        except JournalError as error:
            self._tell(f"{error}; what was told of services may be told again")

    def _hand_on(self, new: Notice) -> None:
        try:
            self._deliver(new)
        except Exception as fault:  # noqa: BLE001 - whatever an embedding tool does with a notice, it ends no pass
            self._tell(f"a notice of {new.app}/{new.service} could not be handed on: {type(fault).__name__}: {fault}")

    def _begin(self) -> Told:
        try:
            memo = memo_of_json(self._keeper.kept(TOLD)) if self._keeper is not None else Memo()
        except JournalError as error:
            self._tell(f"{error}; what was told of services may be told again")
            return Told()
        except DocumentError as error:
            self._tell(f"what was told of services is damaged, and may be told again ({error})")
            return Told()
        self._kept = memo
        for each in memo.handing:
            self._hand_on(each)
        return memo.told

    def _tell(self, complaint: str) -> None:
        if complaint != self._complaint:
            self._complaint = complaint
            self._complain(complaint)


class Aside(Silent):
    """Hands plans to another witness in a thread of its own, so that no pass waits for what that does."""

    def __init__(self, other: Witness, complain: Complain) -> None:
        """Tell this one; the thread begins with the first plan."""
        self._other, self._complain = other, complain
        self._waiting: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: Thread | None = None

    def planned(self, plan: Plan, *, is_whole: bool) -> None:
        """Have it told soon."""
        self._put(lambda: self._other.planned(plan, is_whole=is_whole))

    def ended(self, report: Report) -> None:
        """Have it told soon."""
        self._put(lambda: self._other.ended(report))

    def end(self, patience_s: float) -> None:
        """Wait until it was told everything, so long at most."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join(patience_s)

    def _put(self, do: Callable[[], None]) -> None:
        if self._waiting.qsize() >= MOST_WAITING:
            return
        self._waiting.put(do)
        if self._thread is None:
            self._thread = Thread(target=self._work, name="notices", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while (do := self._waiting.get()) is not None:
            try:
                do()
            except Exception as fault:  # noqa: BLE001 - the boundary of a thread: what is raised here would be lost
                self._complain(f"a fault of ours in the notices: {type(fault).__name__}: {fault}; please report it")
