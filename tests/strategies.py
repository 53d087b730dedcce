"""Hypothesis strategies for every value of the core that a document can hold: arbitrary, but valid.

Names, container IDs, start times and host ports come from small pools, so that the coincidences on which rules turn (the same
execution, the same bind, another service's port) happen often. Everything else is as wild as its type allows.
"""

from collections.abc import Callable
from functools import cache
from typing import TypeVar, get_args

from attrs import fields
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

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
from gordon_core.policy import Policy
from gordon_core.record import Line, PlanRecord, Role
from gordon_core.snapshot import Declared, HttpCheck, Intent, Snapshot, Subject, Superseded

T = TypeVar("T")
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
    ends = st.none() | st.builds(Exit, st.integers(), st.booleans(), texts, started_ats)
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
    )


def policies() -> SearchStrategy[Policy]:
    """Return policies: the default one, or any."""
    wild = st.builds(
        Policy,
        free_failures=st.integers(min_value=1),
        ladder_s=_tuples(above_zero, min_size=1),
        stable_window_s=above_zero,
        longest_gap_s=above_zero,
        unhealthy_threshold=st.integers(min_value=1),
        readiness_s=seconds,
        shortest_deadline_s=above_zero,
    )
    return st.just(Policy()) | wild


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
    )


def plan_records() -> SearchStrategy[PlanRecord]:
    """Return plans as they are written down."""
    return st.builds(PlanRecord, clocks(), _tuples(lines()))
