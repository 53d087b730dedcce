"""Hypothesis strategies for every value of the core that a document can hold: arbitrary, but valid.

Names, container IDs, start times and host ports come from small pools, so that the coincidences on which rules turn (the same
execution, the same bind, another service's port) happen often. Everything else is as wild as its type allows.
"""

from collections.abc import Callable
from functools import cache
from typing import TypeVar, get_args

from attrs import evolve, fields
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from gordon_core.blueprint import Blueprint, HealthCheck, Image, Mode, Mount, Publication, Readiness, Setting, Variable
from gordon_core.deploy_effects import (
    Activate,
    AwaitRunning,
    Create,
    Delay,
    GiveUp,
    Journal,
    Pull,
    Rename,
    StartCandidate,
    Taken,
    Unroute,
    Watch,
    Why,
)
from gordon_core.deployment import Deployment, Dossier, names
from gordon_core.effects import Cause, Done, Effect, Fault, Generation, Outcome, Refused, Result, Unknown
from gordon_core.memory import Attempt, Memory, Strikes, Verified, Window
from gordon_core.observation import (
    Bind,
    Binds,
    Clock,
    Container,
    Exit,
    Gone,
    Health,
    HealthStatus,
    Port,
    PortBinding,
    ProbeResult,
    Protocol,
    Route,
    RouteSeen,
    RouteUnread,
    Seen,
    Status,
    Unread,
)
from gordon_core.policy import Constant, Policy, WhenUnhealthy
from gordon_core.record import Line, PlanRecord, Role
from gordon_core.snapshot import Candidate, Declared, Hold, HttpCheck, Intent, NamedAs, Snapshot, Subject, Superseded

T = TypeVar("T")
MARKED_VALUE = "hunter2-swordfish"
LAST_SECOND_S = 253402300799

apps = st.sampled_from(["shop", "blog"])
services = st.sampled_from(["web", "worker", "db"])
container_ids = st.sampled_from(["c1", "c2", "c3"])
started_ats = st.sampled_from(["", "2026-11-30T07:00:00Z", "2026-11-30T07:05:00.123456789Z"])
texts = st.text(max_size=12)
revisions = st.integers(min_value=1, max_value=5) | st.integers(min_value=1)
seconds = st.floats(min_value=0, allow_infinity=False)
moments = st.floats(min_value=0, max_value=LAST_SECOND_S)
above_zero = st.floats(min_value=0, exclude_min=True, allow_infinity=False)
any_seconds = st.floats(allow_nan=False, allow_infinity=False)
counts = st.integers(min_value=0, max_value=6)


def _tuples(
    members: SearchStrategy[T], min_size: int = 0, unique_by: Callable[[T], object] | None = None
) -> SearchStrategy[tuple[T, ...]]:
    return st.lists(members, min_size=min_size, max_size=3, unique_by=unique_by).map(tuple)


def ports() -> SearchStrategy[Port]:
    """Return ports: mostly the same few, TCP and UDP."""
    numbers = st.sampled_from([80, 443]) | st.integers(min_value=1, max_value=65535)
    return st.builds(Port, numbers, st.sampled_from(Protocol))


def binds(declared: tuple[Port, ...] | None = None) -> SearchStrategy[Binds]:
    """Return binds, each port once: of these ports only, if given."""
    some = ports() if declared is None else st.sampled_from(declared) if declared else st.nothing()
    host_ports = st.sampled_from([32768, 32769]) | st.integers(min_value=0, max_value=65535)
    return _tuples(st.builds(Bind, some, host_ports), unique_by=lambda each: each.port)


def clocks() -> SearchStrategy[Clock]:
    """Return instants."""
    return st.builds(Clock, seconds, moments, st.sampled_from(["boot-1", "boot-2"]))


def containers(container_id: SearchStrategy[str] = container_ids) -> SearchStrategy[Container]:
    """Return containers as seen."""
    results = st.builds(ProbeResult, texts, st.integers(min_value=-1, max_value=3), texts)
    health = st.builds(Health, st.sampled_from(HealthStatus), counts, _tuples(results))
    bindings = st.builds(PortBinding, ports(), st.sampled_from(["127.0.0.1", "0.0.0.0", "::"]), st.integers(1, 65535))  # noqa: S104 - data
    ends = st.none() | st.builds(Exit, st.just(0) | st.integers(), st.booleans(), st.just("") | texts, started_ats)
    return st.builds(Container, container_id, st.sampled_from(Status), started_ats, health, _tuples(bindings), ends, texts)


def seen(container_id: SearchStrategy[str] = container_ids) -> SearchStrategy[Seen]:
    """Return what was seen of a container."""
    return containers(container_id) | st.builds(Gone) | st.builds(Unread, texts)


def routes() -> SearchStrategy[Route]:
    """Return what was seen of a route."""
    carries = _tuples(st.sampled_from(Protocol), unique_by=lambda each: each)
    return st.builds(RouteSeen, binds(), carries) | st.builds(RouteUnread, texts)


def verifieds() -> SearchStrategy[Verified]:
    """Return verified executions."""
    return st.builds(Verified, started_ats, binds(), revisions)


def memories() -> SearchStrategy[Memory]:
    """Return what is remembered of a generation."""
    return st.builds(
        Memory,
        failures=counts,
        charged=st.none() | started_ats,
        charged_at_s=st.none() | any_seconds,
        attempt=st.none() | st.builds(Attempt, started_ats),
        strikes=st.none() | st.builds(Strikes, started_ats, counts, texts),
        window=st.none() | st.builds(Window, started_ats, any_seconds, any_seconds),
        verified=st.none() | verifieds(),
        boot_id=st.sampled_from(["", "boot-1", "boot-2"]),
        contested_port=st.integers(min_value=0, max_value=65535),
        again=st.booleans(),
    )


def policies() -> SearchStrategy[Policy]:
    """Return policies: the default one, one that takes exit code 0 for an end or only withdraws, or any."""
    wild = st.builds(
        Policy,
        free_failures=st.integers(min_value=1),
        ladder_s=_tuples(above_zero, min_size=1),
        stable_window_s=above_zero,
        longest_gap_s=above_zero,
        unhealthy_threshold=st.integers(min_value=1),
        readiness_s=seconds,
        shortest_deadline_s=above_zero,
        exit_0_is_done=st.booleans(),
        unhealthy=st.sampled_from(WhenUnhealthy),
    )
    tuned = st.builds(Policy, exit_0_is_done=st.booleans(), unhealthy=st.sampled_from(WhenUnhealthy))
    return st.just(Policy()) | tuned | wild


def holds() -> SearchStrategy[Hold]:
    """Return holds, over or not."""
    named = texts.filter(bool)
    return st.builds(Hold, seconds, moments, st.sampled_from(["boot-1", "boot-2"]), named, named)


def constants() -> SearchStrategy[Constant]:
    """Return what set a constant."""
    return st.builds(Constant, st.sampled_from(["free_failures", "ladder_s"]), texts, texts)


def generations() -> SearchStrategy[Generation]:
    """Return generations."""
    return st.builds(Generation, apps, services, container_ids, revisions)


@cache
def effects() -> SearchStrategy[Effect]:
    """Return effects, each class as likely as the other."""
    return st.sampled_from(get_args(Effect)).flatmap(_effects_of)


def _effects_of(kind: type[Effect]) -> SearchStrategy[Effect]:
    by_name: dict[str, SearchStrategy[object]] = {
        "app": apps,
        "service": services,
        "container_id": container_ids,
        "generation": generations(),
        "before": started_ats,
        "started_at": started_ats,
        "binds": binds(),
        "grace_s": seconds,
        "wait_s": seconds,
        "contested_port": st.integers(min_value=0, max_value=65535),
        "http_port": st.integers(min_value=0, max_value=65535),
        "http_path": st.sampled_from(["", "/", "/health"]),
        "cause": st.sampled_from(Cause),
        "reason": texts,
    }
    return st.builds(kind, **{each.name: by_name[each.name] for each in fields(kind)})


def outcomes() -> SearchStrategy[Outcome]:
    """Return outcomes."""
    return st.builds(Done) | st.builds(Refused, texts, st.sampled_from(Fault)) | st.builds(Unknown, texts)


def results() -> SearchStrategy[Result]:
    """Return effects with what became of them."""
    return st.builds(Result, effects(), outcomes())


@st.composite
def declareds(draw: st.DrawFn) -> Declared:
    """Return what ACTIVE says of a service."""
    declared = draw(_tuples(ports(), unique_by=lambda each: each))
    checkable = [each.number for each in declared if each.protocol is Protocol.TCP]
    checks = (
        st.builds(HttpCheck, st.sampled_from(checkable), st.sampled_from(["/", "/health?deep=1"])) if checkable else st.none()
    )
    return Declared(
        draw(container_ids),
        draw(revisions),
        declared,
        draw(binds(declared)),
        draw(seconds),
        draw(st.booleans()),
        draw(st.none() | checks),
        draw(policies()),
    )


def supersededs() -> SearchStrategy[Superseded]:
    """Return superseded containers, also the declared one itself."""
    return st.builds(Superseded, container_ids, seen(), seconds, binds(), st.none() | verifieds())


def candidates() -> SearchStrategy[Candidate]:
    """Return candidates, also the declared container and superseded ones."""
    flags = st.booleans()
    return st.builds(Candidate, container_ids, seen(), st.sampled_from(NamedAs), flags, flags, flags, seconds)


@st.composite
def subjects(draw: st.DrawFn) -> Subject:
    """Return services; what was seen is the declared container, or any where none is declared."""
    declared = draw(st.none() | declareds())
    looked = seen() if declared is None else seen(st.just(declared.container_id))
    reasons = st.just("") | texts
    return Subject(
        draw(apps),
        draw(services),
        draw(looked),
        declared,
        draw(st.sampled_from(Intent)),
        draw(routes()),
        draw(memories()),
        draw(st.booleans()),
        draw(reasons),
        draw(_tuples(texts)),
        draw(reasons),
        draw(reasons),
        draw(_tuples(results())),
        draw(_tuples(supersededs(), unique_by=lambda each: each.container_id)),
        candidates=draw(_tuples(candidates(), unique_by=lambda each: each.container_id)),
        hold=draw(st.none() | holds()),
        policy_constants=draw(_tuples(constants())),
        policy_faults=draw(_tuples(texts)),
    )


def snapshots() -> SearchStrategy[Snapshot]:
    """Return hosts with up to three services."""
    return st.builds(Snapshot, clocks(), _tuples(subjects(), unique_by=lambda each: each.name))


def lines() -> SearchStrategy[Line]:
    """Return lines of a plan."""
    return st.builds(
        Line,
        apps,
        services,
        st.sampled_from(Role),
        st.just("") | container_ids,
        st.sampled_from(["SETTLED", "DOWN"]),
        texts,
        st.none() | effects(),
        st.none() | any_seconds,
        _tuples(texts),
    )


def plan_records() -> SearchStrategy[PlanRecord]:
    """Return plans as they are written down."""
    return st.builds(PlanRecord, clocks(), _tuples(lines()))


def variables() -> SearchStrategy[Variable]:
    """Return environment variables, the values of which are secrets that no other text holds."""
    values = st.sampled_from([MARKED_VALUE, f"{MARKED_VALUE}-2", ""])
    return st.builds(Variable, st.sampled_from(["PATH", "TOKEN", "MODE"]), values)


@st.composite
def blueprints(draw: st.DrawFn) -> Blueprint:
    """Return what a deploy can want of a container."""
    publications = st.builds(Publication, ports(), st.sampled_from([0, 0, 8080, 8443]))
    published = draw(_tuples(publications, unique_by=lambda each: each.port.number))
    fixed = [each.host_port for each in published if each.host_port]
    if len(set(fixed)) != len(fixed):
        published = published[:1]
    tcp = [each.port.number for each in published if each.port.protocol is Protocol.TCP]
    http = draw(st.none() | st.builds(HttpCheck, st.sampled_from(tcp))) if tcp else None
    modes = [Mode.AUTO, Mode.HEALTH, Mode.DELAY, *([Mode.TCP] if tcp else []), *([Mode.HTTP] if http is not None else [])]
    names_of = st.sampled_from(["data", "/srv/data"])
    mounts = st.builds(Mount, names_of, st.sampled_from(["/data", "/etc/app"]), st.booleans(), st.booleans())
    return Blueprint(
        draw(st.sampled_from(["shop:v1", "shop:v2"])),
        draw(_tuples(texts)),
        environment=draw(_tuples(variables(), unique_by=lambda each: each.name)),
        ports=published,
        mounts=draw(_tuples(mounts, unique_by=lambda each: each.target)),
        devices=draw(_tuples(st.sampled_from(["/dev/fuse", "/dev/kvm"]))),
        networks=draw(_tuples(st.sampled_from(["front", "back"]))),
        health=draw(st.none() | st.builds(HealthCheck, st.sampled_from([("NONE",), ("CMD", "true")]))),
        settings=draw(_tuples(st.builds(Setting, st.just("Memory"), st.sampled_from(["1", "2"])))),
        published=draw(st.booleans()),
        downtime=draw(st.booleans()),
        readiness=Readiness(draw(st.sampled_from(modes)), http),
    )


def takens() -> SearchStrategy[Taken]:
    """Return steps that only deploys have, with what became of them."""
    gens, ids = generations(), container_ids
    steps = st.one_of(
        st.builds(Pull, st.just("shop:v2")),
        st.builds(Create, st.just("gordon-shop-web-new"), revisions),
        st.builds(Journal, ids, texts),
        st.builds(StartCandidate, ids),
        st.builds(Unroute, apps, services),
        st.builds(AwaitRunning, ids, seconds),
        st.builds(Delay, gens, started_ats, seconds),
        st.builds(Watch, gens, started_ats, seconds),
        st.builds(
            Activate, apps, services, declareds(), st.none() | declareds(), st.none() | supersededs(), st.none() | verifieds()
        ),
        st.builds(Rename, ids, texts),
        st.builds(GiveUp, st.sampled_from(Why), ids, texts),
    )
    return st.builds(Taken, steps, outcomes())


@st.composite
def deployments(draw: st.DrawFn) -> Deployment:
    """Return deployments, as arbitrary as their types allow; where ACTIVE names the own container, both looks are the same."""
    subject, own_id = draw(subjects()), draw(st.just("") | container_ids)
    own = draw(seen(st.just(own_id))) if own_id else None
    if own is not None and subject.declared is not None and subject.declared.container_id == own_id:
        own = subject.seen
    subject = evolve(subject, candidates=tuple(each for each in subject.candidates if each.container_id != own_id))
    images = st.builds(Image, st.just("sha256:1"), st.booleans()) | st.builds(Gone) | st.builds(Unread, texts)
    called = names("shop", "web")
    all_results = draw(_tuples(results()))
    return Deployment(
        draw(clocks()),
        subject,
        draw(blueprints()),
        called,
        draw(images),
        draw(st.sampled_from([None, (), ("image",)])),
        own,
        own_id,
        draw(st.booleans()),
        draw(st.sampled_from([(), called.temporary, (called.canonical,)])),
        draw(st.just(()) | _tuples(texts)),
        draw(st.just("") | texts),
        draw(_tuples(takens())),
        all_results,
        draw(st.just("") | texts),
        draw(seconds),
        draw(seconds),
        clashes=draw(_tuples(st.tuples(apps, services))),
        dossier=draw(st.builds(Dossier, st.none() | seen(), _tuples(texts))),
        policy_on_record=draw(policies()),
    )
