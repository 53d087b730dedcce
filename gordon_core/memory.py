"""What is remembered of a generation from pass to pass, durably: its history and its verified execution.

Values only. The folds that make the next memory are in `folds`, since what they count are facts about a subject. Times are
seconds since boot, and mean nothing under another `boot_id`.
"""

from attrs import field, frozen
from attrs.validators import ge, le

from gordon_core.observation import Binds


@frozen
class Attempt:
    """A start or restart on record. It is pending once the container shows another start time than `before`."""

    before: str


@frozen
class Strikes:
    """Distinct failed health results of one execution; `result` names the newest one counted."""

    started_at: str
    count: int = field(validator=ge(0))
    result: str


@frozen
class Window:
    """An unbroken row of stable looks at one execution."""

    started_at: str
    since_s: float
    looked_s: float


@frozen
class Verified:
    """The execution of this revision that answered its readiness, and the binds at which it did."""

    started_at: str
    binds: Binds
    revision: int = field(validator=ge(1))


@frozen
class Memory:
    """All that is remembered of (app, service, container ID).

    The history is everything but the verified execution. `charged` names the execution charged last ("" for a refused start);
    the wait is derived from `charged_at_s`, which a new boot and `--rearm` drop. `contested_port` is the host port for which it
    was stopped, and for which its next start waits, 0 where there is none. `again`: it is to be started although it is done. An
    empty memory is never stored.
    """

    failures: int = field(default=0, validator=ge(0))
    charged: str | None = None
    charged_at_s: float | None = None
    attempt: Attempt | None = None
    strikes: Strikes | None = None
    window: Window | None = None
    verified: Verified | None = None
    boot_id: str = ""
    contested_port: int = field(default=0, validator=(ge(0), le(65535)))
    again: bool = False

    def has_history(self) -> bool:
        """Tell whether there is trouble on record that five stable minutes would drop."""
        return self.failures > 0 or self.attempt is not None or self.strikes is not None


NOTHING = Memory()
