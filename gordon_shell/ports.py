"""The six doors to the world, as Protocols. The memory versions in `memory` and the real ones pass the same contract suites.

A command never raises for what the world answered: it returns an Outcome (done, refused with the other side's words, unknown
when there was no answer). A read raises its family of GordonError when nothing could be read; that is silence, not evidence.
No port retries: retrying is a decision, and decisions are the core's.
"""

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Protocol as Interface
from typing import Self

from attrs import field, frozen

from gordon_core.blueprint import Blueprint, Image, Made
from gordon_core.effects import Generation, Outcome
from gordon_core.grants import SETS_NOTHING, Overrides
from gordon_core.memory import Memory, Verified
from gordon_core.observation import Binds, Clock, Container, Gone, HealthStatus, Port, PortBinding, Protocol, Status
from gordon_core.policy import DEFAULT_STOP_GRACE_S
from gordon_core.snapshot import Declared, Hold, Intent
from gordon_shell.events import NO_EVENTS, Events

Service = tuple[str, str]
"""(app, service)"""


@frozen
class Row:
    """One line of the engine's list: what is known of a container without inspecting it.

    `uptime` is the engine's own text ("Up 3 hours (healthy)"). `health` is UNREAD where the text hides it ("Up 2 minutes
    (Paused)") or where it may be NONE or not.
    """

    container_id: str
    name: str
    status: Status
    uptime: str
    health: HealthStatus = HealthStatus.UNREAD
    ports: tuple[PortBinding, ...] = ()
    labels: Mapping[str, str] = field(factory=dict)


@frozen
class Mount:
    """A host path that a container mounts, as it was asked for (symbolic links not resolved)."""

    source: str
    read_only: bool


@frozen
class Details:
    """What an inspect says of one container: what the planner needs, and what `adopt` and the grants need.

    `asked_ports` are the ports as they were asked for when it was created, host port 0 for an ephemeral one: known also while it
    is down.
    """

    container: Container
    mounts: tuple[Mount, ...] = ()
    devices: tuple[str, ...] = ()
    stop_grace_s: float = DEFAULT_STOP_GRACE_S
    labels: Mapping[str, str] = field(factory=dict)
    restart_policy: str = ""
    asked_ports: tuple[PortBinding, ...] = ()


OWNER_LABELS = ("gordon.app", "gordon.service")
"""The labels with which a deploy marks a container as one of its app and its service."""
REVISION_LABEL = "gordon.revision"
DEPLOY_LABEL = "gordon.deploy"
"""The label that names the one deploy that made a container."""
HTTP_LABEL = "gordon.http"
"""The label of a container or an image that names its HTTP check: [PORT]/PATH."""


@frozen
class About:
    """What an engine says of itself: its version, the version of its API, and what its wall clock shows (seconds since 1970)."""

    version: str
    api_version: str
    wall_s: float


class Engine(Interface):
    """A Docker engine. Every call is bounded in time; a stop or restart is given its grace on top of that."""

    def rows(self) -> tuple[Row, ...]:
        """List every container, also those that do not run, in one call. Raise EngineError."""

    def inspect(self, container_id: str) -> Details | Gone:
        """Read one container; Gone only if the engine said that there is none. Raise EngineError."""

    def start(self, container_id: str) -> Outcome:
        """Start it. One that runs already is Done. No reason that a start or restart returns shows the value of a variable."""

    def restart(self, container_id: str, grace_s: float) -> Outcome:
        """Stop it within its grace, and start it."""

    def stop(self, container_id: str, grace_s: float) -> Outcome:
        """Stop it within its grace. One that is down already is Done."""

    def remove(self, container_id: str, *, force: bool = False) -> Outcome:
        """Remove a container that is down (by `force` one that runs, too), and not its volumes. One that is gone is Done."""

    def image(self, reference: str) -> Image | Gone:
        """Read an image by name or ID; Gone only if the engine said that it has none. Raise EngineError."""

    def pull(self, reference: str) -> Outcome:
        """Have the engine fetch an image, within minutes. Refused by REGISTRY: it could not be reached, and may be yet."""

    def create(self, name: str, blueprint: Blueprint, labels: Mapping[str, str]) -> Outcome:
        """Create a container that Docker itself never restarts, its ports bound on loopback; `labels` are added to its own.

        No reason that this returns shows the value of an environment variable. CONFLICT: the name is taken.
        """

    def rename(self, container_id: str, name: str) -> Outcome:
        """Give a container another name. One that bears it already is Done. CONFLICT: the name is taken."""

    def logs(self, container_id: str, lines: int, until_s: float | None = None) -> tuple[str, ...]:
        """Return its last lines of output (before a time, in seconds since 1970), oldest first, with names for the values of its
        environment. Raise EngineError."""

    def made(self, container_id: str) -> Made | Gone:
        """Read what a container was made from; what is as its image has it, or the engine's default, is left out, and so are
        the labels of deploys (OWNER_LABELS and the like). Raise EngineError."""

    def about(self) -> About:
        """Read what it says of itself. Raise EngineError."""


@frozen
class Marker:
    """A superseded container to be retired: its grace, the host ports claimed for it, and its verified execution."""

    container_id: str
    stop_grace_s: float = DEFAULT_STOP_GRACE_S
    binds: Binds = ()
    verified: Verified | None = None


@frozen
class Journalled:
    """A candidate in the journal: written down before it starts, taken out when ACTIVE names it or it is gone."""

    container_id: str
    name: str
    stop_grace_s: float = DEFAULT_STOP_GRACE_S
    exclusive: bool = False


@frozen
class Deployed:
    """What one revision of a service was made of, for a way back. No value of an environment variable is ever stored."""

    revision: int
    container_id: str
    image_id: str
    blueprint: Blueprint


@frozen
class Stored:
    """All that the store holds of one (app, service). `declared` is None for what left ACTIVE but is not yet forgotten.

    `memory` is that of the declared container; `orphans` are container IDs with memory that neither ACTIVE nor a marker names.
    `inhibited` is "" or the reason why the declared container must never be started. `hold` is as it was stored, over or not.
    """

    app: str
    service: str
    intent: Intent
    declared: Declared | None = None
    inhibited: str = ""
    memory: Memory = field(factory=Memory)
    unproven: bool = False
    markers: tuple[Marker, ...] = ()
    orphans: tuple[str, ...] = ()
    candidates: tuple[Journalled, ...] = ()
    hold: Hold | None = None
    tuning: Overrides = SETS_NOTHING


class StateStore(Interface):
    """ACTIVE, intent, markers and memory, durably. Every write of ACTIVE is a compare-and-set on the generation."""

    def read(self) -> tuple[Stored, ...]:
        """Return everything, sorted by (app, service); what did not change since the last read is the same object.

        Raise StoreError.
        """

    def read_service(self, app: str, service: str) -> Stored | None:
        """Return one service as it is now, or None where the store holds nothing of it. Raise StoreError."""

    def activate(  # noqa: PLR0913, PLR0917 - all that has to be of one transaction
        self,
        app: str,
        service: str,
        declared: Declared,
        expected_revision: int,
        superseded: Marker | None,
        deployed: tuple[Deployed, ...] = (),
        *,
        verified: Verified | None = None,
    ) -> Outcome:
        """Name a container in ACTIVE, if ACTIVE still has `expected_revision` (0: has no such service).

        One transaction with the marker of the container that it supersedes, with what this and the former revision were made of,
        with the end of its own marker and journal entry, and with what was `verified` of it (None: nothing is said of it), which
        leaves the rest of its memory as it is. The new revision must be larger, and no other service may name either container,
        in ACTIVE or as superseded; else it is refused (CONFLICT).
        """

    def journal(self, app: str, service: str, candidate: Journalled) -> Outcome:
        """Write a candidate down before it starts."""

    def drop_candidate(self, app: str, service: str, container_id: str) -> Outcome:
        """Take a candidate out of the journal."""

    def deployed(self, app: str, service: str) -> tuple[Deployed, ...]:
        """Return what the latest revisions were made of (ten at most), the newest first. Raise StoreError."""

    def deactivate(self, generation: Generation) -> Outcome:
        """Take a service out of ACTIVE, if ACTIVE still names this generation, with what its revisions were made of.

        Its unproven mark and its journal stay.
        """

    def persist_binds(self, generation: Generation, binds: Binds) -> Outcome:
        """Put the binds on record, if ACTIVE still names this generation (else Refused with CONFLICT). () releases the claims."""

    def save_memory(self, app: str, service: str, container_id: str, memory: Memory) -> Outcome:
        """Replace what is remembered of one container; an empty memory deletes it."""

    def set_unproven(self, app: str, service: str, *, unproven: bool) -> Outcome:
        """Set or drop the mark that a withdrawal is unproven."""

    def set_intent(self, app: str, intent: Intent) -> Outcome:
        """Record the operator's wish for an app."""

    def inhibit(self, app: str, service: str, container_id: str, reason: str) -> Outcome:
        """Never start this exact container until it is allowed again."""

    def allow(self, app: str, service: str, container_id: str) -> Outcome:
        """Drop the inhibition."""

    def set_hold(self, app: str, service: str, hold: Hold | None) -> Outcome:
        """Record who wants a service left as it is, and until when; None ends that."""

    def set_tuning(self, app: str, service: str, tuning: Overrides) -> Outcome:
        """Replace what is tuned of a service; what sets nothing is deleted."""

    def mark(self, app: str, service: str, marker: Marker) -> Outcome:
        """Add or replace the marker of a superseded container; one that another service names is refused (CONFLICT)."""

    def release_claims(self, app: str, service: str, container_id: str) -> Outcome:
        """Take the binds off a marker."""

    def drop_marker(self, app: str, service: str, container_id: str) -> Outcome:
        """Drop a retirement marker, and what is remembered of its container unless ACTIVE names it."""

    def close(self) -> None:
        """Let go of the file; every later call raises StoreError."""


@frozen
class Routes:
    """Everything that is routed, by service, and which protocols this router can carry."""

    by_service: Mapping[Service, Binds]
    carries: tuple[Protocol, ...] = (Protocol.TCP, Protocol.UDP)


class Router(Interface):
    """Sends new requests to backends. Publish and withdraw are synchronous: Done means that it was read back."""

    def read(self) -> Routes:
        """Return all routes in one call. A service with no route is absent. Raise RouterError."""

    def publish(self, app: str, service: str, binds: Binds) -> Outcome:
        """Send new requests of exactly this service to exactly these binds (those whose protocol it carries) and no others."""

    def withdraw(self, app: str, service: str) -> Outcome:
        """Let no new request reach any backend of this service. One that is not known to the router is Done."""

    def sessions(self, app: str, service: str) -> int:
        """Return how many sessions still run over routes of this service, 0 where that cannot be told. Raise RouterError."""

    def unknown(self, app: str, service: str, ports: tuple[Port, ...]) -> tuple[Port, ...]:
        """Return which of these ports of a service it could not route, since nobody configured it to. Raise RouterError."""


class Prober(Interface):
    """Asks backends whether they are ready."""

    def probe(self, binds: Binds, wait_s: float, http_port: int, http_path: str, still_runs: Callable[[], bool]) -> Outcome:
        """Try until every TCP bind at 127.0.0.1 keeps a connection (250 ms), and the HTTP path (if not "") at the bind of
        container port `http_port` answers 2xx or 3xx, or `wait_s` is over (0: one try). UDP is not probed. Not ready is Refused
        by the WORKLOAD, with what was seen; a fault of the prober itself, or a drop, is Unknown.

        Between tries it is asked whether the execution `still_runs`, about once a second: one that ended is not waited for.
        """

    def drop(self) -> None:
        """End every probe under way, now, and refuse to begin another: the program is going down."""


class TimeSource(Interface):
    """Time: boot time to decide, wall clock to print."""

    def now(self) -> Clock:
        """Return the present instant."""

    def sleep(self, seconds: float) -> None:
        """Let that much time pass; `wake` ends it early."""

    def rest(self, seconds: float) -> None:
        """Let that much time pass between two passes; `wake` ends it early, and so does `nudge`. One thread at a time rests."""

    def nudge(self) -> None:
        """End the rest that is under way, or else the next one. Any thread may call it."""

    def wake(self) -> None:
        """End every sleep and every rest, now and from now on."""


class Lock(Interface):
    """A lock that is held until it is released, or its holder dies."""

    def release(self) -> None:
        """Let it go; a second release does nothing."""

    def __enter__(self) -> Self:
        """Hold it for a block."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Let it go."""


class Locks(Interface):
    """One lock per app, one for `run` and one for notices, held across processes and freed by the death of the holder."""

    def try_app(self, app: str) -> Lock | str:
        """Take the app's lock without waiting, or say who holds it ("pid 4711"). Raise StoreError."""

    def wait_app(self, app: str, wait_s: float) -> Lock:
        """Wait for the app's lock. Raise BusyError, naming the holder, when that takes longer than `wait_s`; StoreError."""

    def try_run(self) -> Lock | str:
        """Take the lock of the one `run` per state, or say who holds it. Raise StoreError."""

    def try_tell(self) -> Lock | str:
        """Take the lock of the one that sends notices of this state, or say who holds it. Raise StoreError."""


@frozen(eq=False)
class Ports:
    """The six doors together, and the window: without `events`, what happens is found by the next pass."""

    engine: Engine
    store: StateStore
    router: Router
    prober: Prober
    clock: TimeSource
    locks: Locks
    events: Events = NO_EVENTS
