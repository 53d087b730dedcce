"""A plan as it is written down: plain lines with their sentences filled in, for print and for documents."""

from enum import Enum

from attrs import frozen

from gordon_core.effects import Effect
from gordon_core.observation import Clock


class Role(Enum):
    """What a line is about: a service, a superseded container of one, or the candidate of an interrupted deploy."""

    SERVICE = "service"
    SUPERSEDED = "superseded"
    CANDIDATE = "candidate"


@frozen
class Line:
    """One service, superseded container or candidate: its situation by name, why in words, and the one effect, if any.

    `until_s` (seconds since boot) is when a wait ends, or None; `container_id` is "" where ACTIVE names none. `policy` says which
    constants of recovery are not left to their defaults, what set each, and what is not understood.
    """

    app: str
    service: str
    role: Role
    container_id: str
    situation: str
    sentence: str
    effect: Effect | None = None
    until_s: float | None = None
    policy: tuple[str, ...] = ()


@frozen
class PlanRecord:
    """One plan with the clock of the snapshot that it was made from."""

    clock: Clock
    lines: tuple[Line, ...] = ()
