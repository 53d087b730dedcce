"""The memory router's switches."""

import pytest

from gordon_core.effects import Done, Fault, Refused
from gordon_core.observation import Bind, Port, Protocol
from gordon_shell.errors import RouterError
from gordon_shell.memory.router import MemoryRouter

BINDS = (Bind(Port(80), 32768),)


def test_a_read_can_be_made_to_fail() -> None:
    router = MemoryRouter()
    router.fail_reads = "the proxy is away"
    with pytest.raises(RouterError, match="the proxy is away"):
        router.read()
    with pytest.raises(RouterError, match="the proxy is away"):
        router.sessions("shop", "web")


def test_commands_can_be_made_to_fail_and_then_change_nothing() -> None:
    router = MemoryRouter()
    router.fail_publish = "no room"
    assert Refused("no room", Fault.ROUTER) == router.publish("shop", "web", BINDS)
    assert router.read().by_service == {}
    router.fail_publish, router.fail_withdraw = "", "stuck"
    assert Done() == router.publish("shop", "web", BINDS)
    assert Refused("stuck", Fault.ROUTER) == router.withdraw("shop", "web")
    assert router.read().by_service == {("shop", "web"): BINDS}


def test_it_can_forget_as_a_proxy_does_that_restarts() -> None:
    router = MemoryRouter()
    router.publish("shop", "web", BINDS)
    router.forget()
    assert router.read().by_service == {}


def test_a_route_by_hand_can_be_anything_and_is_replaced_by_a_publication() -> None:
    router = MemoryRouter(carries=(Protocol.TCP,))
    router.route_by_hand("shop", "web", (Bind(Port(80), 40001), Bind(Port(80), 40000)))
    assert router.read().by_service == {("shop", "web"): (Bind(Port(80), 40000), Bind(Port(80), 40001))}
    assert Done() == router.publish("shop", "web", BINDS)
    assert router.read().by_service == {("shop", "web"): BINDS}


def test_it_tells_of_the_sessions_that_it_was_told_of() -> None:
    router = MemoryRouter()
    router.running["shop", "web"] = 3
    assert (router.sessions("shop", "web"), router.sessions("shop", "cart")) == (3, 0)
