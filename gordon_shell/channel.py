"""One way by which notices leave this host: a queue with a thread of its own, which tries again with growing pauses.

What is not delivered yet is kept (by a journal), so that the next process goes on with it: each is delivered at least once.
"""

import json
import time
from collections import deque
from enum import Enum
from threading import Condition, Event, Lock, Thread
from typing import Final, Protocol

from attrs import frozen

from gordon_core.sentences import plural
from gordon_shell.errors import JournalError
from gordon_shell.notices import Complain, Keeper

MOST_WAITING: Final = 200
"""How many notices may wait; beyond that the oldest go."""
FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 300.0


class Verdict(Enum):
    """What became of a try: delivered, to be tried again, or never to be."""

    DELIVERED = "delivered"
    LATER = "later"
    REFUSED = "refused"


@frozen
class Answer:
    """What became of a try, and why it was in vain."""

    verdict: Verdict
    why: str = ""


DELIVERED = Answer(Verdict.DELIVERED)


class Carrier(Protocol):
    """Takes documents to where they are to go; one thread uses it, and another may drop it."""

    @property
    def name(self) -> str:
        """Return what it is called, in words."""

    def carry(self, document: str) -> Answer:
        """Deliver one document, within its time limit."""

    def drop(self) -> None:
        """End the try under way, if that can be, and let no other begin."""


class Channel:
    """Delivers documents by one carrier, in order."""

    def __init__(
        self, key: str, carrier: Carrier, keeper: Keeper | None, complain: Complain, *, first_pause_s: float = FIRST_PAUSE_S
    ) -> None:
        """Deliver nothing before `begin`."""
        self._key, self._carrier, self._keeper, self._complain = key, carrier, keeper, complain
        self._first_pause_s = first_pause_s
        self._waiting: deque[str] = deque()
        self._done: deque[str] = deque(maxlen=MOST_WAITING)
        self._changed = Condition()
        self._until_s: float | None = None
        self._complaint = ""
        self._is_full = False
        self._keeping, self._resumed = Lock(), Event()
        self._kept = ""
        self._thread = Thread(target=self._work, name=f"notices by {key}", daemon=True)
        self._has_begun = False

    def begin(self) -> None:
        """Begin, with what an earlier process left, if this has not begun yet."""
        if not self._has_begun:
            self._has_begun = True
            self._thread.start()

    def put(self, document: str) -> None:
        """Have a document delivered soon, unless it is waiting or was delivered already, when an earlier process had put it, too.

        It is kept when this returns, if that can be.
        """
        if self._has_begun:
            self._resumed.wait()
        with self._changed:
            if document in self._waiting or document in self._done:
                return
            self._waiting.append(document)
            self._shorten()
            self._changed.notify_all()
        if self._has_begun:
            self._keep()

    def end(self, patience_s: float) -> None:
        """Deliver what is waiting within so long, without a second try; say and keep what is left."""
        if not self._has_begun:
            return
        with self._changed:
            self._until_s = time.monotonic() + patience_s
            self._changed.notify_all()
        self._thread.join(patience_s)
        if self._thread.is_alive():
            self._carrier.drop()
            self._thread.join(1.0)
        with self._changed:
            left = len(self._waiting)
        if left:
            kept = "kept for the next start" if self._keep() else "lost"
            self._complain(f"{plural(left, 'notice')} could not be delivered by {self._carrier.name} before the end; {kept}")

    def _work(self) -> None:
        try:
            self._resume()
        finally:
            self._resumed.set()
        pause_s = self._first_pause_s
        while (document := self._next()) is not None:
            self._keep()
            answer = self._carried(document)
            if answer.verdict is not Verdict.LATER:
                with self._changed:
                    if self._waiting and self._waiting[0] is document:
                        self._done.append(self._waiting.popleft())
                self._keep()
            self._tell(answer)
            if answer.verdict is Verdict.LATER and not self._paused(pause_s):
                return
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S) if answer.verdict is Verdict.LATER else self._first_pause_s

    def _next(self) -> str | None:
        """Return what is to be delivered next, as soon as there is something; None at the end."""
        with self._changed:
            while not self._waiting and self._until_s is None:
                self._changed.wait()
            is_over = self._until_s is not None and time.monotonic() >= self._until_s
            return self._waiting[0] if self._waiting and not is_over else None

    def _paused(self, pause_s: float) -> bool:
        """Let so much time pass, and tell whether to go on; at the end nothing is tried twice."""
        with self._changed:
            self._changed.wait_for(lambda: self._until_s is not None, pause_s)
            return self._until_s is None

    def _carried(self, document: str) -> Answer:
        try:
            return self._carrier.carry(document)
        except Exception as fault:  # noqa: BLE001 - the boundary of a thread: what is raised here would be lost
            return Answer(Verdict.REFUSED, f"a fault of ours: {type(fault).__name__}: {fault}; please report it")

    def _tell(self, answer: Answer) -> None:
        """Say what went wrong, once while it goes wrong in the same way, and that it is well again."""
        if answer.why == self._complaint:
            return
        before, self._complaint = self._complaint, answer.why
        if answer.why:
            later = "; it is tried again" if answer.verdict is Verdict.LATER else ""
            self._complain(f"notices by {self._carrier.name}: {answer.why}{later}")
        elif before:
            self._complain(f"notices by {self._carrier.name}: delivered again")

    def _shorten(self) -> None:
        was_full, self._is_full = self._is_full, len(self._waiting) > MOST_WAITING
        if not self._is_full:
            return
        # The first one is perhaps being delivered now.
        del self._waiting[1]
        if not was_full:
            self._complain(f"notices by {self._carrier.name}: more than {MOST_WAITING} are waiting, and the oldest are lost")

    # --- what waits, over the end of a process ------------------------------------------------------------------------------

    def _resume(self) -> None:
        try:
            text = self._keeper.kept(self._key) if self._keeper is not None else ""
            left = json.loads(text) if text else []
            if not isinstance(left, list) or not all(isinstance(each, str) for each in left):
                raise ValueError("no list of texts")  # noqa: EM101, TRY003, TRY301 - read two lines below
        except JournalError as error:
            self._complain(f"{error}; notices that an earlier process left are not delivered")
            return
        except ValueError as error:
            self._complain(f"the notices that an earlier process left are damaged, and are not delivered ({error})")
            return
        with self._changed:
            self._waiting.extendleft(reversed(left))
        self._kept = text

    def _keep(self) -> bool:
        """Keep what is waiting, unless that is kept already; return whether it is."""
        if self._keeper is None:
            return False
        with self._keeping:  # so that no older value is kept over a newer one
            with self._changed:
                text = json.dumps(list(self._waiting)) if self._waiting else ""
            if text != self._kept:
                try:
                    self._keeper.keep(self._key, text)
                except JournalError:
                    return False  # the journal's own complaint was made by whoever keeps what was told
                self._kept = text
        return True


def ended(channels: tuple[Channel, ...], patience_s: float) -> None:
    """End several channels, side by side, within so long."""
    until_s = time.monotonic() + patience_s
    ends = [Thread(target=each.end, args=(patience_s,), daemon=True) for each in channels]
    for each in ends:
        each.start()
    for each in ends:
        each.join(max(0.0, until_s + 2.0 - time.monotonic()))
