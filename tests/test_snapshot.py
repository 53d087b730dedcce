"""The input of the planner: what it refuses to be, how it is ordered, and what it tells from its parts."""

from collections.abc import Callable

import pytest
from attrs import evolve

from gordon_core.observation import Bind, Clock, Container, Port, PortBinding, Protocol, RouteSeen, SeenAs, Status
from gordon_core.snapshot import Clash, Declared, HttpCheck, Snapshot, Subject, Superseded
from tests.core_examples import (
    BIND,
    CLOCK,
    DECLARED,
    GENERATION,
    GOOD,
    HTTP,
    NOBODY,
    OLD,
    gone,
    good,
    having,
    host,
    routed,
    running,
    seen,
)

HTTPS = Port(443)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"container_id": ""}, "container_id"),
        ({"revision": 0}, "revision"),
        ({"ports": (HTTP, HTTP)}, "each port once; repeated: 80/tcp"),
        ({"binds": (BIND, BIND)}, "each port with a bind once; repeated: 80/tcp"),
        ({"binds": (Bind(HTTPS, 1),)}, "each bind must be for a declared port; not declared: 443/tcp"),
        ({"stop_grace_s": -1}, "stop_grace_s"),
        ({"http": HttpCheck(443)}, "its port must be one of the declared TCP ports; 443/tcp is not declared"),
    ],
)
def test_what_active_cannot_say(changes: dict[str, object], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        evolve(DECLARED, **changes)


def test_a_udp_port_carries_no_http() -> None:
    with pytest.raises(ValueError, match="53/tcp is not declared"):
        Declared("c1", 1, (Port(53, Protocol.UDP),), http=HttpCheck(53))


@pytest.mark.parametrize("path", ["", "up", "/a b", "/caf\u00e9"])
def test_a_path_that_no_request_line_could_carry_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="path"):
        HttpCheck(80, path)


def test_what_was_seen_must_be_the_declared_container() -> None:
    with pytest.raises(ValueError, match="what was seen must be the declared container 3f2a9c1b7d4e00"):
        good(seen(Container("c2", Status.RUNNING)))
    assert SeenAs.RUNNING is evolve(NOBODY, seen=running()).seen_as


def test_a_superseded_container_and_a_service_come_once() -> None:
    with pytest.raises(ValueError, match="each superseded container once; repeated: 9bd01e55c0aa00"):
        good(having(superseded=(OLD, OLD)))
    with pytest.raises(ValueError, match="each service once; repeated: shop/web"):
        host(GOOD, good(gone))


def test_a_protocol_is_carried_once() -> None:
    with pytest.raises(ValueError, match="each protocol once"):
        RouteSeen((), (Protocol.TCP, Protocol.TCP))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Port(0),
        lambda: Port(65536),
        lambda: Bind(HTTP, -1),
        lambda: Bind(HTTP, 65536),
        lambda: PortBinding(HTTP, "127.0.0.1", 65536),
        lambda: Container("", Status.RUNNING),
        lambda: Clock(-1.0, 0.0, "boot"),
        lambda: Clock(0.0, -1.0, "boot"),
        lambda: Clock(0.0, 253402300800.0, "boot"),
        lambda: Clock(0.0, 0.0, ""),
        lambda: Subject("", "web", running()),
        lambda: Superseded("", running()),
        lambda: Clash(0, "blog/web", mine=True, failed=False),
    ],
)
def test_impossible_values_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"must be|Length of"):
        make()


def test_the_order_in_which_services_are_given_does_not_matter() -> None:
    """D1; app first, then service."""
    given = [evolve(GOOD, app=app, service=service) for app, service in (("b", "a"), ("a", "z"), ("a-b", "a"), ("a", "a"))]
    assert ["a/a", "a/z", "a-b/a", "b/a"] == [each.name for each in host(*given).subjects]
    assert host(*given) == host(*reversed(given))


def test_a_generation_is_what_active_names() -> None:
    assert (GENERATION, None) == (GOOD.generation(), NOBODY.generation())


def test_what_is_derived_is_no_part_of_a_subjects_equality() -> None:
    clashing = good(having(clash=Clash(32768, "blog/web", mine=True, failed=False)))
    clashing.memo.append("kept")
    assert GOOD == clashing
    assert GOOD != good(routed())
    assert ((BIND,), ()) == (GOOD.binds, NOBODY.binds)
    assert Snapshot(CLOCK) == Snapshot(CLOCK, [])


def test_all_that_is_repeated_is_named() -> None:
    with pytest.raises(ValueError, match=r"^each port once; repeated: 80/tcp, 81/tcp$"):
        Declared("c1", 1, (Port(80), Port(81), Port(80), Port(81)))
