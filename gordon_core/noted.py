"""What is told to operators, and what is kept in mind of that from plan to plan: values; the fold over them is in `notices`."""

from enum import Enum

from attrs import field, frozen

from gordon_core.observation import Clock, Container
from gordon_core.planner import Decision
from gordon_core.sentences import container_id, remedy
from gordon_core.situations import Situation
from gordon_core.snapshot import Subject

_NEVER_S = float("inf")


class NoticeKind(Enum):
    """What a notice tells. TEST is what an operator sends to try how notices are delivered; no plan leads to it."""

    CRASHED = "crashed"
    LOOPING = "looping"
    TOP_STEP = "top_step"
    GONE = "gone"
    INHIBITED = "inhibited"
    STUCK = "stuck"
    RECOVERED = "recovered"
    TEST = "test"


@frozen
class Notice:
    """One thing to tell of one service; `clock` is when it was decided.

    `remedy` is the command that would help, "" where nothing needs to be done. `exit_code` is that of the execution that ended,
    None where none is known; `next_try_s` (seconds since boot) is when the next start is due, None where nothing waits.
    """

    kind: NoticeKind
    app: str
    service: str
    container_id: str
    clock: Clock
    sentence: str
    remedy: str = ""
    situation: str = ""
    failures: int = 0
    exit_code: int | None = None
    next_try_s: float | None = None


@frozen
class Noted:
    """What was told of one service, and what was seen that is not to be told again. Times are seconds since boot.

    `execution` is the one that ended last (container ID and start time), `failures` what was on record then; `top_failures`
    those at the last step of the ladder that was taken; `gone` and `inhibited` name the container that this was told of.
    `unserved_since_s`: since when it serves nobody although it is to run. `after_boot`: a boot ended what ran, and it
    was not seen since.
    """

    app: str
    service: str
    execution: str = ""
    failures: int = 0
    crashed_at_s: float | None = None
    looping: bool = False
    top_failures: int = 0
    top_at_s: float | None = None
    gone: str = ""
    inhibited: str = ""
    unserved_since_s: float | None = None
    stuck: bool = False
    after_boot: bool = False


@frozen
class Told:
    """What was told so far, of those services of which something is to be kept in mind; its times are of this boot."""

    boot_id: str = ""
    services: tuple[Noted, ...] = field(default=())


@frozen
class Look:
    """One look at one service: its decision, and when."""

    decision: Decision
    clock: Clock

    @property
    def subject(self) -> Subject:
        """Return the service as it was seen."""
        return self.decision.subject

    def is_within(self, seconds: float, since_s: float | None) -> bool:
        """Tell whether something was less than so long ago; what never was, was not."""
        return since_s is not None and 0 <= self.clock.boot_s - since_s < seconds

    def notice(self, kind: NoticeKind, words: str, helps: str | None = None) -> Notice:
        """Return a notice; `helps` None: what helps in this situation."""
        subject, seen = self.subject, self.subject.seen
        waits = self.decision.situation is Situation.COOLING and self.decision.until_s not in {None, _NEVER_S}
        return Notice(
            kind,
            subject.app,
            subject.service,
            container_id(self.decision),
            self.clock,
            words,
            remedy(self.decision, self.clock) if helps is None else helps.format(id=container_id(self.decision)[:12]),
            self.decision.situation.name,
            subject.memory.failures,
            seen.exit.code if isinstance(seen, Container) and seen.exit is not None else None,
            self.decision.until_s if waits else None,
        )
