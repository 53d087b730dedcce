"""What every Router holds to: one suite for the memory router, the routes file, and a real HAProxy."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gordon_core.effects import Done, Fault, Refused
from gordon_core.observation import Bind, Binds, Port, Protocol, RouteSeen
from gordon_shell.haproxy_router import HaproxyRouter, haproxy_config
from gordon_shell.memory.router import MemoryRouter
from gordon_shell.ports import Router
from gordon_shell.routes_file_router import RoutesFileRouter
from tests.haproxy import NEEDS_HAPROXY, running_haproxy, short_directory

HTTP, TLS, DNS = Port(80), Port(443), Port(53, Protocol.UDP)
ODD = ("Ünï/cödé app:1", "x.y\n_z-")
MANY = tuple(("many", f"service-{number}") for number in range(8))
SERVICES = (
    ("shop", "web", (HTTP, TLS, DNS)),
    ("shop", "cart", (HTTP,)),
    ("Shop", "web", (HTTP,)),
    ("shop:web", "80", (HTTP,)),
    (*ODD, (HTTP,)),
    *((app, service, (HTTP,)) for app, service in MANY),
)


@pytest.fixture(params=["memory", "file", pytest.param("haproxy", marks=NEEDS_HAPROXY)])
def router(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Router]:
    makers: dict[str, Callable[[], Router]] = {
        "memory": MemoryRouter,
        "file": lambda: RoutesFileRouter(tmp_path / "made" / "routes.json"),
    }
    if request.param in makers:
        yield makers[request.param]()
    else:
        with short_directory() as directory, running_haproxy(haproxy_config(SERVICES, "/unused"), directory) as proxy:
            yield HaproxyRouter(proxy.socket)


def binds(*pairs: tuple[Port, int]) -> Binds:
    return tuple(Bind(port, host_port) for port, host_port in pairs)


def test_at_first_nothing_is_routed(router: Router) -> None:
    assert {} == router.read().by_service


def test_what_was_published_is_read_back_exactly(router: Router) -> None:
    assert Done() == router.publish("shop", "web", binds((TLS, 32769), (HTTP, 32768)))
    assert {("shop", "web"): binds((HTTP, 32768), (TLS, 32769))} == router.read().by_service


def test_a_protocol_is_routed_if_and_only_if_the_router_says_that_it_carries_it(router: Router) -> None:
    assert Done() == router.publish("shop", "web", binds((DNS, 32770), (HTTP, 32768)))
    routes = router.read()
    expected = tuple(bind for bind in binds((DNS, 32770), (HTTP, 32768)) if bind.port.protocol in routes.carries)
    assert {("shop", "web"): expected} == routes.by_service
    assert Protocol.TCP in routes.carries


def test_the_core_takes_what_was_read(router: Router) -> None:
    router.publish("shop", "web", binds((HTTP, 32768)))
    routes = router.read()
    assert routes.carries == RouteSeen(routes.by_service["shop", "web"], routes.carries).carries


def test_publishing_elsewhere_leaves_nothing_of_the_route_before(router: Router) -> None:
    for host_port in range(32768, 32798):
        assert Done() == router.publish("shop", "web", binds((HTTP, host_port), (TLS, host_port + 100)))
        assert {("shop", "web"): binds((HTTP, host_port), (TLS, host_port + 100))} == router.read().by_service


def test_publishing_the_same_again_is_done(router: Router) -> None:
    router.publish("shop", "web", binds((HTTP, 32768)))
    assert Done() == router.publish("shop", "web", binds((HTTP, 32768)))
    assert {("shop", "web"): binds((HTTP, 32768))} == router.read().by_service


def test_a_port_that_is_no_longer_published_is_no_longer_routed(router: Router) -> None:
    router.publish("shop", "web", binds((HTTP, 32768), (TLS, 32769)))
    assert Done() == router.publish("shop", "web", binds((TLS, 32769)))
    assert {("shop", "web"): binds((TLS, 32769))} == router.read().by_service


def test_publishing_no_binds_routes_nothing(router: Router) -> None:
    router.publish("shop", "web", binds((HTTP, 32768)))
    assert Done() == router.publish("shop", "web", ())
    assert {} == router.read().by_service


def test_publishing_and_withdrawing_one_service_leaves_every_other_alone(router: Router) -> None:
    """P8, with neighbours whose names differ in a letter's case, a separator, and what no proxy takes as a name."""
    others = [("shop", "cart"), ("Shop", "web"), ("shop:web", "80"), ODD]
    for number, (app, service) in enumerate(others):
        assert Done() == router.publish(app, service, binds((HTTP, 33000 + number)))
    expected = {other: binds((HTTP, 33000 + number)) for number, other in enumerate(others)}
    assert Done() == router.publish("shop", "web", binds((HTTP, 32768)))
    assert expected | {("shop", "web"): binds((HTTP, 32768))} == router.read().by_service
    assert Done() == router.withdraw("shop", "web")
    assert expected == router.read().by_service


def test_what_was_withdrawn_is_not_routed_and_can_be_withdrawn_again(router: Router) -> None:
    router.publish("shop", "web", binds((HTTP, 32768), (TLS, 32769)))
    assert Done() == router.withdraw("shop", "web")
    assert {} == router.read().by_service
    assert Done() == router.withdraw("shop", "web")


def test_what_was_withdrawn_can_be_published_again(router: Router) -> None:
    router.publish("shop", "web", binds((HTTP, 32768)))
    router.withdraw("shop", "web")
    assert Done() == router.publish("shop", "web", binds((HTTP, 32768)))
    assert {("shop", "web"): binds((HTTP, 32768))} == router.read().by_service


def test_withdrawing_an_unknown_service_is_done(router: Router) -> None:
    assert Done() == router.withdraw("nobody", "knows")


@pytest.mark.parametrize("wrong", [binds((HTTP, 0)), binds((HTTP, 32769), (HTTP, 32770))], ids=["no host port", "two"])
def test_binds_that_cannot_be_routed_are_refused_and_change_nothing(router: Router, wrong: Binds) -> None:
    router.publish("shop", "web", binds((HTTP, 32768)))
    outcome = router.publish("shop", "web", wrong)
    assert isinstance(outcome, Refused)
    assert Fault.ROUTER is outcome.fault
    assert "give one host port above 0 for each port" in outcome.reason
    assert {("shop", "web"): binds((HTTP, 32768))} == router.read().by_service


def test_services_can_be_published_side_by_side(router: Router) -> None:
    with ThreadPoolExecutor(len(MANY)) as threads:
        for turn in range(5):
            wanted = {each: binds((HTTP, 34000 + 10 * turn + number)) for number, each in enumerate(MANY)}
            begun = [threads.submit(router.publish, app, service, place) for (app, service), place in wanted.items()]
            assert [Done()] * len(MANY) == [each.result() for each in begun]
            assert wanted == router.read().by_service


def test_one_service_published_side_by_side_leads_to_one_of_the_places(router: Router) -> None:
    places = [binds((HTTP, 35000 + number)) for number in range(8)]
    with ThreadPoolExecutor(len(places)) as threads:
        outcomes = list(threads.map(lambda place: router.publish("shop", "web", place), places))
    assert [Done()] * len(places) == outcomes
    assert router.read().by_service["shop", "web"] in places


def test_without_traffic_no_session_runs(router: Router) -> None:
    router.publish("shop", "web", binds((HTTP, 32768)))
    assert (0, 0) == (router.sessions("shop", "web"), router.sessions("nobody", "knows"))


def test_what_a_router_was_not_configured_for_is_told_and_what_it_cannot_carry_is_not_asked_for(router: Router) -> None:
    assert () == router.unknown("shop", "web", (HTTP, TLS, DNS))
    found = router.unknown("shop", "new", (HTTP, DNS))
    assert ((HTTP,) if isinstance(router, HaproxyRouter) else ()) == found
