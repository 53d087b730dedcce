"""The commands that only a deploy can ask for; everything else that it does, recovery does as well, by the same effects."""

from enum import Enum

from attrs import field, frozen
from attrs.validators import ge, min_len

from gordon_core.effects import Effect, Generation, Outcome
from gordon_core.memory import Verified
from gordon_core.snapshot import Declared, Superseded


class Why(Enum):
    """Why a deploy gives up; the value completes the sentence "the deploy failed, since ..."."""

    CANCELLED = "it was cancelled"
    OVERDUE = "it took longer than it may"
    STOPPED = "the operator wants the app stopped"
    ON_HOLD = "somebody wants the service left as it is"
    ENGINE = "the engine could not be read"
    STORE = "the state could not be written"
    ROUTER = "the router could not be read, so nothing could be published"
    WITHDRAWAL = "the old container could not be withdrawn, and both must not run at once"
    CONTESTED = "the route of another service names a port of its container, and could not be withdrawn"
    DETENTION = "the old container could not be stopped, and both must not run at once"
    UNCHECKED = "readiness by health check was asked for, and there is no health check"
    UNGRANTED = "the host does not grant what it mounts or uses"
    ABSENT = "there is no such image, here or at its registry"
    UNREACHED = "its registry could not be reached"
    NAMELESS = "every name that it could have is taken"
    UNCREATED = "its container could not be created"
    UNSTARTED = "its container could not be started"
    ENDED = "its container ended before it was ready"
    UNHEALTHY = "its health check says unhealthy"
    UNBOUND = "its ports were not bound on loopback"
    UNREADY = "it was not ready in time"
    CONFLICT = "ACTIVE was changed by somebody else meanwhile"
    UNPUBLISHED = "it could not be published"
    UNSERVED = "it was named in ACTIVE, and then did not serve"
    DIED = "it ended right after it was published"


@frozen
class Pull:
    """Have the engine fetch the image, `after_s` seconds from now."""

    image: str
    after_s: float = field(default=0.0, validator=ge(0))


@frozen
class Create:
    """Create the candidate under this name, labelled with its owner, its revision and this deploy."""

    name: str = field(validator=min_len(1))
    revision: int = field(validator=ge(1))


@frozen
class Journal:
    """Write the candidate down, durably, before it starts."""

    container_id: str
    name: str


@frozen
class StartCandidate:
    """Start the candidate."""

    container_id: str


@frozen
class Unroute:
    """Withdraw another service, whose route names a port that the candidate holds, also where that one's app is locked."""

    app: str = field(validator=min_len(1))
    service: str = field(validator=min_len(1))


@frozen
class AwaitRunning:
    """Look at a candidate that fell out of running until it runs again, for at most `wait_s` seconds."""

    container_id: str
    wait_s: float


@frozen
class Delay:
    """See for `wait_s` seconds, before it is ready, whether this execution runs on; done and refused as for Watch."""

    generation: Generation
    started_at: str
    wait_s: float


@frozen
class Watch:
    """See for `wait_s` seconds, after it was published, whether this execution runs on: done if so, refused if it ended."""

    generation: Generation
    started_at: str
    wait_s: float


@frozen
class Activate:
    """Name a container in ACTIVE instead of `former`.

    One transaction with the marker of the one that it supersedes, and with the record of its execution as `verified`.
    """

    app: str
    service: str
    declared: Declared
    former: Declared | None
    superseded: Superseded | None
    verified: Verified | None = None


@frozen
class Rename:
    """Give a container another name: its canonical one, or one that is out of the way."""

    container_id: str
    name: str


@frozen
class GiveUp:
    """Put on record why, and keep what the candidate ("" for none) can still tell: its end, its health and its last lines."""

    why: Why
    container_id: str = ""
    reason: str = ""


DeployEffect = Pull | Create | Journal | StartCandidate | Unroute | AwaitRunning | Delay | Watch | Activate | Rename | GiveUp
DeployStep = Effect | DeployEffect


@frozen
class Taken:
    """One step that only deploys have, with what became of it."""

    effect: DeployEffect
    outcome: Outcome
