"""What an operator, or a deploy tool that embeds this, does is on record once it is done: by whom, and what, in one sentence.

An Operator does as `operations` does, and takes each down; deploys take down their own (`deployer`). A journal that cannot be
written is complained of, and changes nothing of what was done.
"""

import getpass
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from attrs import frozen

from gordon_core.grants import Overrides
from gordon_core.memory import Memory
from gordon_core.observation import Clock
from gordon_core.sentences import duration, wall_time
from gordon_core.snapshot import Declared, Hold, Intent
from gordon_core.tuning import CONSTANTS, in_words
from gordon_shell import operations
from gordon_shell.adoption import Adoption
from gordon_shell.errors import GordonError, UnprunedError
from gordon_shell.journal import Deed, Journal
from gordon_shell.operations import Forgotten
from gordon_shell.ports import Marker, Ports, Stored
from gordon_shell.telling import forgotten, joined
from gordon_shell.wishes import Wish

_INTENDED = {Intent.STOPPED: "is to be stopped", Intent.RUNNING: "is to run"}


def login() -> str:
    """Return who is behind this, also where sudo is between."""
    user = os.environ.get("SUDO_USER")
    try:
        return user or getpass.getuser()
    except (OSError, KeyError):
        return f"user {os.getuid()}"


@frozen(eq=False)
class Deeds:
    """Takes down what is done: in the journal that is `opened` for a block (None: nowhere), by `who` unless another is named."""

    opened: Callable[[], AbstractContextManager[Journal | None]]
    now: Callable[[], Clock]
    who: str
    complain: Callable[[str], None]

    def note(self, app: str, *done: tuple[str, str], who: str = "") -> None:
        """Take down what was done just now: to which services of an app ("": to all of it), and what, each in one sentence."""
        if not done:
            return
        clock = self.now()
        try:
            with self.opened() as journal:
                if journal is not None:
                    journal.write((), (), [Deed(app, service, clock, who or self.who, words) for service, words in done])
        except UnprunedError as error:
            self.complain(str(error))
        except GordonError as error:
            said = "; ".join(str(error).splitlines())
            self.complain(f"{said}; what was done is done, and is not on record")


@frozen(eq=False)
class Operator:
    """Somebody who changes what is cared for, and how: `operations`, each taken down once it is done, if it changed anything."""

    ports: Ports
    deeds: Deeds

    def adopt(self, app: str, wishes: tuple[Wish, ...], *, keep_old: bool = False) -> tuple[Adoption, ...]:
        """Name a container in ACTIVE for each wish; see operations."""
        found = operations.adopt(self.ports, app, wishes, keep_old=keep_old)
        self.deeds.note(app, *((each.service, _adopted(each)) for each in found if not each.is_unchanged))
        return found

    def set_intent(self, app: str, intent: Intent) -> tuple[Stored, ...]:
        """Record whether the app is to run or to be stopped; see operations."""
        before = operations.set_intent(self.ports, app, intent)
        if any(each.intent is not intent for each in before):
            self.deeds.note(app, ("", _INTENDED[intent]))
        return before

    def inhibit(self, app: str, service: str, reason: str) -> Declared:
        """Never start the container of this service until that is allowed again; see operations."""
        declared = operations.inhibit(self.ports, app, service, reason)
        self.deeds.note(app, (service, f"inhibited container {declared.container_id[:12]}{f': {reason}' if reason else ''}"))
        return declared

    def allow(self, app: str, service: str) -> Stored:
        """Drop the inhibition of the container of this service; see operations."""
        before = operations.allow(self.ports, app, service)
        if before.inhibited:
            self.deeds.note(app, (service, f"allowed again (it was inhibited: {before.inhibited})"))
        return before

    def retry(self, app: str, service: str = "") -> tuple[tuple[Stored, Memory], ...]:
        """Forget the history of a service, or of all services of an app; see operations."""
        found = operations.retry(self.ports, app, service)
        nothing = (service, "retried: no failure was on record, and what is done is started again")
        forgot = [(each.service, f"retried: forgot {forgotten(memory)}") for each, memory in found]
        self.deeds.note(app, *(forgot or [nothing]))
        return found

    def hold(self, app: str, service: str, wish: Hold) -> tuple[Stored, ...]:
        """Have a service, or all services of an app, left as they are until a time; see operations."""
        before = operations.hold(self.ports, app, service, wish)
        words = f"held until {wall_time(self.deeds.now(), wish.until_s)}: {wish.reason}"
        self.deeds.note(app, (service, words), who=wish.who)
        return before

    def release(self, app: str, service: str = "") -> tuple[Stored, ...]:
        """End the hold of a service, or of all services of an app; see operations."""
        before = operations.release(self.ports, app, service)
        held = ((each.service, each.hold) for each in before if each.hold is not None)
        self.deeds.note(app, *((name, f"released (it was held by {each.who}: {each.reason})") for name, each in held))
        return before

    def tune(self, app: str, service: str, change: Callable[[Overrides], Overrides]) -> Stored:
        """Change which constants of a service are set by command; see operations."""
        before = operations.tune(self.ports, app, service, change)
        words = joined(_tuned(before.tuning, change(before.tuning)))
        if words:
            self.deeds.note(app, (service, f"tuned: {words}"))
        return before

    def retire(self, app: str, service: str, container: str, grace_s: float | None = None) -> Marker:
        """Mark a container as superseded by that of the service; see operations."""
        marker = operations.retire(self.ports, app, service, container, grace_s)
        grace = duration(marker.stop_grace_s)
        self.deeds.note(app, (service, f"marked container {marker.container_id[:12]} as superseded, with {grace} to stop in"))
        return marker

    def forget(self, app: str, service: str = "") -> tuple[Forgotten, ...]:
        """Withdraw a service, or all of an app, prove that, and then forget it; see operations."""
        found = operations.forget(self.ports, app, service)
        self.deeds.note(app, *((each.service, _forgot(each)) for each in found))
        return found


def _adopted(adoption: Adoption) -> str:
    former = adoption.former
    is_another = former is not None and former.container_id != adoption.declared.container_id
    of_the_former = f"; {adoption.notes[0]}" if is_another else ""
    return adoption.in_words().removeprefix(f"{adoption.name}: ") + of_the_former


def _tuned(before: Overrides, after: Overrides) -> Iterator[str]:
    for each in CONSTANTS:
        value = getattr(after, each)
        if value != getattr(before, each):
            yield f"{each} = {in_words(value)}" if value is not None else f"{each} not set any more"


def _forgot(each: Forgotten) -> str:
    left = [one[:12] for one in (each.container_id, *each.superseded) if one]
    return f"withdrawn and forgotten{f'; left alone: {joined(left)}' if left else ''}"
