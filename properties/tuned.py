"""What the judges know of holds, of what is done, and of what is only withdrawn; and what is drawn of them.

T1 While somebody holds a service, none of its containers is started, restarted, stopped or removed.
T2 What is done is neither started again nor charged.
T3 What is only to be withdrawn while unhealthy is not restarted for that, nor routed after a pass without faults.
"""

from random import Random

from attrs import evolve

from gordon_core.grants import SETS_NOTHING, Overrides
from gordon_core.memory import Memory
from gordon_core.observation import Clock, Container
from gordon_core.policy import DEFAULT_POLICY, Policy, WhenUnhealthy
from gordon_shell.ports import Stored
from properties.notes import DOWN

UNTIL_DONE = Policy(exit_0_is_done=True)
ONLY_WITHDRAWN = Policy(unhealthy=WhenUnhealthy.WITHDRAW)
POLICIES = (DEFAULT_POLICY, UNTIL_DONE, ONLY_WITHDRAWN, Policy(exit_0_is_done=True, unhealthy=WhenUnhealthy.WITHDRAW))


def is_tuned(seed: int) -> bool:
    """Tell whether a course has holds, and services with other policies: one in four, and none of those known for something."""
    return seed % 20 in {3, 6, 12, 15, 19}


def policy_drawn(service: str, seed: int) -> Policy:
    """Return the policy of a service, of which only these two constants differ."""
    return Random(f"policy of {service} {seed}").choice(POLICIES)


def tuning_drawn(chance: Random) -> Overrides:
    """Return what an operator tunes of a service."""
    flags, ways = (None, None, True, False), (None, None, *WhenUnhealthy)
    return chance.choice([SETS_NOTHING, Overrides(exit_0_is_done=chance.choice(flags), unhealthy=chance.choice(ways))])


def policy_of(stored: Stored) -> Policy:
    """Return the policy that holds for a service here, where no label and no file of the host sets any of it."""
    declared = stored.declared.policy if stored.declared is not None else DEFAULT_POLICY
    tuned = {"exit_0_is_done": stored.tuning.exit_0_is_done, "unhealthy": stored.tuning.unhealthy}
    return evolve(declared, **{name: value for name, value in tuned.items() if value is not None})  # type: ignore[arg-type]


def is_held(stored: Stored, clock: Clock) -> bool:
    """Tell whether somebody holds a service; a hold of another boot is judged by nobody, since the wall clock steps here."""
    return stored.hold is not None and stored.hold.boot_id == clock.boot_id and clock.boot_s < stored.hold.until_s


def may_be_held(stored: Stored, clock: Clock) -> bool:
    """Tell whether somebody holds a service; of a hold of another boot, the wall clock tells."""
    hold = stored.hold
    if hold is None or hold.boot_id == clock.boot_id:
        return is_held(stored, clock)
    return clock.wall_s < hold.until_wall_s


def is_done(stored: Stored, seen: Container, memory: Memory) -> bool:
    """Tell whether a container that was seen like that is done."""
    is_starting = memory.attempt is not None and memory.attempt.before == seen.started_at
    called_for = memory.again or memory.contested_port > 0 or is_starting
    ended = seen.status in DOWN and bool(seen.started_at) and seen.exit is not None and seen.exit.code == 0
    return policy_of(stored).exit_0_is_done and ended and not called_for
