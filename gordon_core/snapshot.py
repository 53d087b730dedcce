"""The input of the planner: every service of the host, at one instant, with what happened to it so far in this pass."""

from collections import Counter
from collections.abc import Iterable
from enum import Enum

from attrs import Attribute, evolve, field, frozen
from attrs.validators import ge, gt, instance_of, le, matches_re, min_len, optional

from gordon_core.effects import Generation, Result
from gordon_core.memory import NOTHING, Memory, Verified
from gordon_core.observation import (
    LATEST_WALL_S,
    Binds,
    Clock,
    Container,
    Port,
    Route,
    RouteSeen,
    Seen,
    SeenAs,
    reachable,
    seen_as,
)
from gordon_core.policy import DEFAULT_POLICY, DEFAULT_STOP_GRACE_S, Constant, Policy


class Intent(Enum):
    """The durable wish of the operator for an app."""

    RUNNING = "running"
    STOPPED = "stopped"


@frozen
class Hold:
    """The durable wish that a service is left as it is until a time, and whose wish it is, and why.

    `until_s` counts as the clock's `boot_s` does, under `boot_id`; `until_wall_s` is the same time on the wall clock as it was
    when the hold began, which is all that a later boot has to go by.
    """

    until_s: float = field(validator=ge(0))
    until_wall_s: float = field(validator=(ge(0), le(LATEST_WALL_S)))
    boot_id: str = field(validator=min_len(1))
    who: str = field(validator=min_len(1))
    reason: str = field(validator=min_len(1))

    def in_force(self, clock: Clock) -> "Hold | None":
        """Return it in the time of this boot, or None where it is over."""
        if self.boot_id == clock.boot_id:
            return self if clock.boot_s < self.until_s else None
        left_s = self.until_wall_s - clock.wall_s
        return evolve(self, until_s=clock.boot_s + left_s, boot_id=clock.boot_id) if left_s > 0 else None


@frozen
class HttpCheck:
    """An HTTP path that must answer 2xx or 3xx at the bind of one declared TCP port."""

    port: int = field(validator=(instance_of(int), ge(1), le(65535)))
    path: str = field(default="/", validator=matches_re(r"/[!-~]*"))


@frozen
class Declared:
    """What ACTIVE says of a service: its exact container, revision, ports, binds on record, grace, and how it is served."""

    container_id: str = field(validator=min_len(1))
    revision: int = field(validator=ge(1))
    ports: tuple[Port, ...] = field(default=())
    binds: Binds = field(default=())
    stop_grace_s: float = field(default=DEFAULT_STOP_GRACE_S, validator=ge(0))
    published: bool = True
    http: HttpCheck | None = field(default=None)
    policy: Policy = DEFAULT_POLICY

    @ports.validator
    def _ports_once(self, _attribute: "Attribute[tuple[Port, ...]]", value: tuple[Port, ...]) -> None:
        _refuse_repeats("port", value)

    @binds.validator
    def _binds_once(self, _attribute: "Attribute[Binds]", value: Binds) -> None:
        _refuse_repeats("port with a bind", (each.port for each in value))
        undeclared = [str(each.port) for each in value if each.port not in self.ports]
        if undeclared:
            message = f"each bind must be for a declared port; not declared: {', '.join(undeclared)}"
            raise ValueError(message)

    @http.validator
    def _http_declared(self, _attribute: "Attribute[HttpCheck | None]", value: HttpCheck | None) -> None:
        if value is not None and Port(value.port) not in self.ports:
            message = f"its port must be one of the declared TCP ports; {value.port}/tcp is not declared"
            raise ValueError(message)


@frozen
class Superseded:
    """A container with a retirement marker: its recorded grace, the claims on its marker, and what was seen of it."""

    container_id: str = field(validator=min_len(1))
    seen: Seen = field()
    stop_grace_s: float = field(default=DEFAULT_STOP_GRACE_S, validator=ge(0))
    binds: Binds = field(default=())
    verified: Verified | None = None


class NamedAs(Enum):
    """Which of the names that a deploy gives a container bears: the canonical one, a temporary one, or another."""

    CANONICAL = "canonical"
    TEMPORARY = "temporary"
    OTHER = "other"


@frozen
class Candidate:
    """A container of a deploy that was interrupted, or that merely bears a name which deploys give; and what was seen of it.

    `journalled`: a deploy wrote it down before it started it, and ACTIVE has not named it since. `owned`: its labels say that a
    deploy of this very service made it. `exclusive`: nothing of its service may run beside it.
    """

    container_id: str = field(validator=min_len(1))
    seen: Seen = field()
    named: NamedAs = NamedAs.TEMPORARY
    owned: bool = True
    journalled: bool = True
    exclusive: bool = False
    stop_grace_s: float = field(default=DEFAULT_STOP_GRACE_S, validator=ge(0))


@frozen
class Clash:
    """Derived by the planner: a host port that one service's route names while another service's container holds it.

    `mine`: this subject's route names it, and `other` holds it; else the other way round. `failed`: the route could not be
    withdrawn.
    """

    host_port: int = field(validator=(gt(0), le(65535)))
    other: str
    mine: bool
    failed: bool


@frozen
class Subject:
    """One service: what ACTIVE declares, what was seen, where it is routed, what is remembered, and this pass's results.

    `declared` is None for a service that ACTIVE does not (or no longer) name. `unproven`: a withdrawal failed and no read has
    shown more. `inhibited` and `locked` are "" or the reason. `ungranted` names the grants that are missing. `in_flight` is ""
    or the command that this process still waits for. `orphans` are containers that are remembered although nothing names them.
    `candidates` are what interrupted deploys left of it. `hold` is who wants it left as it is, until when. `policy_constants` say
    what set each constant of `declared.policy` that is not left to its default, `policy_faults` which labels say nothing that
    can be understood. `clash` is filled in by the planner.
    """

    app: str = field(validator=min_len(1))
    service: str = field(validator=min_len(1))
    seen: Seen = field()
    declared: Declared | None = None
    intent: Intent = Intent.RUNNING
    route: Route = RouteSeen()
    memory: Memory = NOTHING
    unproven: bool = False
    inhibited: str = ""
    ungranted: tuple[str, ...] = ()
    locked: str = ""
    in_flight: str = ""
    results: tuple[Result, ...] = ()
    superseded: tuple[Superseded, ...] = field(default=())
    orphans: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = field(default=())
    hold: Hold | None = None
    policy_constants: tuple[Constant, ...] = ()
    policy_faults: tuple[str, ...] = ()
    clash: Clash | None = field(default=None, eq=False, validator=optional(instance_of(Clash)))
    seen_as: SeenAs = field(init=False, eq=False, repr=False)
    binds: Binds = field(init=False, eq=False, repr=False)
    memo: list[object] = field(init=False, eq=False, repr=False, factory=list)

    @seen_as.default
    def _seen_as(self) -> SeenAs:
        return seen_as(self.seen)

    @binds.default
    def _binds(self) -> Binds:
        if self.declared is None or not isinstance(self.seen, Container):
            return ()
        bindings = self.seen.ports
        return tuple(bind for port in self.declared.ports if (bind := reachable(bindings, port)) is not None)

    @seen.validator
    def _seen_is_declared(self, _attribute: "Attribute[Seen]", value: Seen) -> None:
        declared = self.declared
        if declared is not None and isinstance(value, Container) and value.container_id != declared.container_id:
            message = f"what was seen must be the declared container {declared.container_id}"
            raise ValueError(message)

    @superseded.validator
    def _superseded_once(self, _attribute: "Attribute[tuple[Superseded, ...]]", value: tuple[Superseded, ...]) -> None:
        _refuse_repeats("superseded container", (each.container_id for each in value))

    @candidates.validator
    def _candidates_once(self, _attribute: "Attribute[tuple[Candidate, ...]]", value: tuple[Candidate, ...]) -> None:
        _refuse_repeats("candidate", (each.container_id for each in value))

    @property
    def name(self) -> str:
        """Return app/service, which names the subject in a snapshot."""
        return f"{self.app}/{self.service}"

    def generation(self) -> Generation | None:
        """Return the generation that effects carry, or None where ACTIVE names no container."""
        if self.declared is None:
            return None
        return Generation(self.app, self.service, self.declared.container_id, self.declared.revision)


def _in_order(subjects: Iterable[Subject]) -> tuple[Subject, ...]:
    return tuple(sorted(subjects, key=lambda each: (each.app, each.service)))


@frozen
class Snapshot:
    """The host at one instant. The order in which subjects are given does not matter."""

    clock: Clock
    subjects: tuple[Subject, ...] = field(default=(), converter=_in_order)

    @subjects.validator
    def _subjects_once(self, _attribute: "Attribute[tuple[Subject, ...]]", value: tuple[Subject, ...]) -> None:
        _refuse_repeats("service", (each.name for each in value))


def _refuse_repeats(what: str, values: Iterable[object]) -> None:
    repeated = [str(value) for value, times in Counter(values).items() if times > 1]
    if repeated:
        message = f"each {what} once; repeated: {', '.join(repeated)}"
        raise ValueError(message)


__all__ = [
    "Candidate", "Clash", "Declared", "Hold", "HttpCheck", "Intent", "NamedAs", "Snapshot", "Subject", "Superseded",
]  # fmt: skip
