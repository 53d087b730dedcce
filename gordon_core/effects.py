"""The closed union of commands that a plan can ask for, and the three outcomes that a command can have.

Every effect carries the exact generation (or container) that it is for. One that fails comes back, as its outcome, in the next
snapshot: refusals are data.
"""

from enum import Enum

from attrs import field, frozen
from attrs.validators import ge, le, min_len

from gordon_core.observation import Binds


@frozen(order=True)
class Generation:
    """The only thing that recovery acts on: what ACTIVE names for a service. `revision` grows with every deploy."""

    app: str = field(validator=min_len(1))
    service: str = field(validator=min_len(1))
    container_id: str = field(validator=min_len(1))
    revision: int = field(validator=ge(1))


class Cause(Enum):
    """Why the workload is charged; the value completes the sentence "charged because it ..."."""

    ENDED = "ended with an attempt pending"
    RELAPSED = "turned unhealthy with an attempt pending"
    REFUSED = "could not be started"
    UNBOUND = "did not bind its declared ports"
    UNREADY = "was not ready in time"


@frozen
class Withdraw:
    """Take every route of the service away, and read back that it is gone."""

    app: str
    service: str


@frozen
class RecordAttempt:
    """Write down, before the call, that recovery is about to start or restart; `before` is the start time seen until now."""

    generation: Generation
    before: str


@frozen
class Start:
    """Start the exact container."""

    generation: Generation


@frozen
class Restart:
    """Restart the exact container, with `grace_s` seconds to stop in."""

    generation: Generation
    grace_s: float


@frozen
class Stop:
    """Stop the exact container, with `grace_s` seconds to stop in; it stays, and so do its volumes.

    `contested_port` is the host port for which it must not answer there, 0 where it is stopped for the operator.
    """

    generation: Generation
    grace_s: float
    contested_port: int = field(default=0, validator=(ge(0), le(65535)))


@frozen
class AwaitHealth:
    """Look at a starting health check until it says something, for at most `wait_s` seconds."""

    generation: Generation
    started_at: str
    wait_s: float


@frozen
class Probe:
    """Ask for readiness: every TCP bind keeps a connection, and the HTTP path, where there is one, answers 2xx or 3xx.

    It goes on for `wait_s` seconds; 0 means one try. Done means ready, refused by the workload not ready.
    """

    generation: Generation
    started_at: str
    binds: Binds
    wait_s: float
    http_port: int = 0
    http_path: str = ""


@frozen
class RecordFailure:
    """Charge the generation once for this execution; `started_at` is "" where a refused start left none."""

    generation: Generation
    started_at: str
    cause: Cause
    reason: str = ""


@frozen
class PersistBinds:
    """Put the binds on record in ACTIVE: a compare-and-set on the generation."""

    generation: Generation
    binds: Binds


@frozen
class RecordVerified:
    """Remember that this execution answered its readiness at these binds."""

    generation: Generation
    started_at: str
    binds: Binds


@frozen
class Publish:
    """Route new requests of exactly this service to exactly these binds."""

    generation: Generation
    binds: Binds


@frozen
class DropHistory:
    """Forget failures, waits, strikes and the stable window of a generation; the verified execution stays."""

    generation: Generation


@frozen
class ReleaseBinds:
    """Take the binds of a container that is gone off the record, so that its ports can be claimed again."""

    generation: Generation


@frozen
class Forget:
    """Drop what is remembered of a container that is gone, or that ACTIVE no longer names."""

    app: str
    service: str
    container_id: str


@frozen
class Retire:
    """Stop a superseded container with its recorded grace in seconds."""

    app: str
    service: str
    container_id: str
    grace_s: float


@frozen
class Remove:
    """Remove a superseded container that was seen stopped; its volumes stay."""

    app: str
    service: str
    container_id: str


@frozen
class ReleaseClaims:
    """Take the binds of a superseded container that is gone off its marker."""

    app: str
    service: str
    container_id: str


@frozen
class DropMarker:
    """Drop the retirement marker of a container."""

    app: str
    service: str
    container_id: str


@frozen
class StopCandidate:
    """Stop a candidate, or a container that an interrupted deploy left, with `grace_s` seconds to stop in."""

    app: str
    service: str
    container_id: str
    grace_s: float


@frozen
class RemoveCandidate:
    """Remove a candidate or a leftover, by force where it does not stop; its volumes stay."""

    app: str
    service: str
    container_id: str


@frozen
class DropCandidate:
    """Take a candidate out of the journal of deploys under way."""

    app: str
    service: str
    container_id: str


ServiceEffect = (
    Withdraw | RecordAttempt | Start | Restart | Stop | AwaitHealth | Probe | RecordFailure | PersistBinds | RecordVerified
    | Publish | DropHistory | ReleaseBinds | Forget
)  # fmt: skip
SupersededEffect = Retire | Remove | ReleaseClaims | DropMarker
CandidateEffect = StopCandidate | RemoveCandidate | DropCandidate
Effect = ServiceEffect | SupersededEffect | CandidateEffect


class Fault(Enum):
    """Whose fault a refusal is. Only the workload's own are ever charged."""

    WORKLOAD = "workload"
    ENGINE = "engine"
    STORE = "store"
    ROUTER = "router"
    CONFLICT = "conflict"
    REGISTRY = "registry"


@frozen
class Done:
    """It took effect, and that was seen."""


DONE = Done()


@frozen
class Refused:
    """It was answered with a no. `reason` keeps the words of whoever refused."""

    reason: str
    fault: Fault


@frozen
class Unknown:
    """No answer: it may have taken effect, or may yet. Never a failure; the truth is read again."""

    reason: str


Outcome = Done | Refused | Unknown


@frozen
class Result:
    """One effect of this pass with what became of it."""

    effect: Effect
    outcome: Outcome
