"""A real HAProxy: what it forgets, what is done to it by hand, and what it refuses."""

import time
from collections.abc import Iterator

import pytest

from gordon_core.effects import Done, Fault, Refused, Unknown
from gordon_core.observation import Bind, Binds, Port
from gordon_shell.errors import RouterError
from gordon_shell.haproxy_config import haproxy_config
from gordon_shell.haproxy_router import HaproxyRouter
from tests.haproxy import NEEDS_HAPROXY, running_haproxy, short_directory
from tests.web import HTTP, SECURE, SERVICES, TLS, WEB, World, at, backend, running_world

pytestmark = NEEDS_HAPROXY
WRONG = Bind(HTTP, 0)
"""What a slot adds that neither is in maintenance nor simply serves loopback."""


@pytest.fixture
def world() -> Iterator[World]:
    with running_world() as running:
        yield running


def refused(outcome: object) -> str:
    assert isinstance(outcome, Refused), outcome
    assert Fault.ROUTER is outcome.fault
    return outcome.reason


def test_a_proxy_that_hangs_is_silent_and_bounded(world: World) -> None:
    router = HaproxyRouter(world.proxy.socket, timeout_s=0.2)
    router.publish("shop", "web", at(32768))
    before = time.monotonic()
    with world.proxy.pause():
        with pytest.raises(RouterError, match=r"did not answer at .* within 0.2 s"):
            router.read()
        outcomes = (router.withdraw("shop", "web"), router.publish("shop", "web", at(32769)))
        assert [Unknown, Unknown] == [type(each) for each in outcomes]
    assert time.monotonic() - before < 30
    assert at(32768) == world.routed()


def test_a_proxy_that_was_killed_is_silent_although_its_socket_is_there(world: World) -> None:
    world.proxy.kill()
    with pytest.raises(RouterError, match="Connection refused"):
        world.router.read()
    assert isinstance(world.router.withdraw("shop", "web"), Unknown)


def test_a_restart_forgets_and_publishing_again_puts_that_right(world: World) -> None:
    with backend("new") as new:
        assert Done() == world.router.publish("shop", "web", new.binds)
        world.proxy.restart()
        assert () == world.routed()
        assert 503 == world.ask()[0]
        assert Done() == world.router.publish("shop", "web", new.binds)
        assert (200, "new") == world.ask()


def test_a_service_that_is_not_configured_is_refused_with_the_remedy(world: World) -> None:
    reason = refused(world.router.publish("shop", "search", at(32768)))
    assert "HAProxy has no such backend: gordon:shop:search:80; run `gordon-shell haproxy-config`" in reason
    assert Done() == world.router.withdraw("shop", "search")


def test_a_port_that_is_not_configured_is_refused_before_anything_is_touched(world: World) -> None:
    world.router.publish("shop", "web", at(32768))
    both = (Bind(HTTP, 32769), Bind(Port(8443), 32770))
    assert "gordon:shop:web:8443" in refused(world.router.publish("shop", "web", both))
    assert at(32768) == world.routed()


def test_a_socket_that_may_only_look_is_refused_in_haproxy_s_words() -> None:
    with short_directory() as directory:
        path = str(directory / "looks.sock")
        config = f"global\n    stats socket {path} mode 600 level operator\n" + haproxy_config(SERVICES, path)
        with running_haproxy(config, directory) as proxy:
            router = HaproxyRouter(path)
            reason = refused(router.publish("shop", "web", at(32768)))
            assert "nothing is routed instead of 80/tcp at 32768; HAProxy said: Permission denied" in reason
            assert Done() == HaproxyRouter(proxy.socket).publish("shop", "web", at(32768))
            assert "80/tcp at 32768 is still routed; HAProxy said: Permission denied" in refused(router.withdraw("shop", "web"))
            both = refused(router.publish("shop", "web", at(32769)))
            assert "nor could it be withdrawn" in both


def test_a_failure_at_the_second_port_withdraws_the_first() -> None:
    """A slot whose weight is 0 in the configuration never takes a request, whatever is said to it."""
    whole = haproxy_config(SERVICES, "/unused")
    head, tail = whole.split(f"backend {SECURE}\n")
    config = f"{head}backend {SECURE}\n{tail.replace('pool-max-conn 0', 'pool-max-conn 0 weight 0', 1)}"
    with short_directory() as directory, running_haproxy(config, directory) as proxy:
        router = HaproxyRouter(proxy.socket)
        reason = refused(router.publish("shop", "web", (Bind(HTTP, 32768), Bind(TLS, 32769))))
        assert reason.startswith("80/tcp at 32768 is routed instead of 80/tcp at 32768, 443/tcp at 32769; HAProxy said: ")
        assert reason.endswith("; what was published was withdrawn again")
        assert router.read().by_service == {}


@pytest.mark.parametrize(
    ("by_hand", "seen"),
    [
        (("addr 127.0.0.1 port 40000",), at(40000)),
        (("addr 127.0.0.2 port 32768",), (WRONG, *at(32768))),
        (("addr ::1 port 32768",), (WRONG, *at(32768))),
        (("state drain",), (WRONG, *at(32768))),
        (("health down",), (WRONG, *at(32768))),
        (("health stopping",), (WRONG, *at(32768))),
        (("weight 0",), (WRONG, *at(32768))),
        (("state maint", "weight 0"), ()),
        (("state maint", "addr 10.0.0.1 port 1"), ()),
    ],
)
def test_a_slot_changed_by_hand_is_seen_and_put_right(world: World, by_hand: tuple[str, ...], seen: Binds) -> None:
    with backend("new") as new:
        assert Done() == world.router.publish("shop", "web", at(32768))
        world.say(*(f"set server {WEB}/gen1 {change}" for change in by_hand))
        assert seen == world.routed()
        for _ in range(3):
            assert Done() == world.router.publish("shop", "web", new.binds)
            assert (new.binds, (200, "new")) == (world.routed(), world.ask())
            assert Done() == world.router.withdraw("shop", "web")
            assert ((), 503) == (world.routed(), world.ask()[0])


def test_a_slot_changed_by_hand_is_put_right_by_publishing_what_it_had(world: World) -> None:
    with backend("new") as new:
        world.router.publish("shop", "web", new.binds)
        world.say(f"set server {WEB}/gen1 weight 0")
        assert 503 == world.ask()[0]
        assert Done() == world.router.publish("shop", "web", new.binds)
        assert (new.binds, (200, "new")) == (world.routed(), world.ask())


def test_two_slots_ready_by_hand_are_two_routes_and_put_right(world: World) -> None:
    for slot, host_port in (("gen1", 40001), ("gen2", 40002)):
        world.say(f"set server {WEB}/{slot} addr 127.0.0.1 port {host_port}", f"set server {WEB}/{slot} state ready")
    assert (*at(40001), *at(40002)) == world.routed()
    with backend("new") as new:
        assert Done() == world.router.publish("shop", "web", new.binds)
        assert (new.binds, (200, "new")) == (world.routed(), world.ask())


def test_of_two_slots_ready_by_hand_the_right_one_is_kept(world: World) -> None:
    for slot, host_port in (("gen1", 40001), ("gen2", 40002)):
        world.say(f"set server {WEB}/{slot} addr 127.0.0.1 port {host_port}", f"set server {WEB}/{slot} state ready")
    assert Done() == world.router.publish("shop", "web", at(40002))
    assert at(40002) == world.routed()
    assert f"{WEB} 2 gen2 127.0.0.1 2 4" in world.proxy.say(f"show servers state {WEB}")


def test_a_third_server_by_hand_is_seen_and_withdrawn(world: World) -> None:
    world.say(f"add server {WEB}/mine 127.0.0.1:40003", f"enable server {WEB}/mine")
    assert at(40003) == world.routed()
    assert Done() == world.router.withdraw("shop", "web")
    assert () == world.routed()


def test_a_backend_of_somebody_else_is_neither_read_nor_touched() -> None:
    with short_directory() as directory:
        config = haproxy_config(SERVICES, "/unused") + "\nbackend theirs\n    server one 127.0.0.1:9\n"
        with running_haproxy(config, directory) as proxy:
            router = HaproxyRouter(proxy.socket)
            before = proxy.say("show servers state theirs").split()[:30]
            router.publish("shop", "web", at(32768))
            router.withdraw("shop", "web")
            assert {} == router.read().by_service
            assert before == proxy.say("show servers state theirs").split()[:30]


def test_the_address_of_a_slot_that_takes_requests_is_never_changed(world: World) -> None:
    """The two take turns: after each publication one is at the new place, and the other, in maintenance, still at the old."""
    for host_port in range(32768, 32778):
        world.router.publish("shop", "web", at(host_port))
        rows = [row.split() for row in world.proxy.say(f"show servers state {WEB}").splitlines()[2:]]
        places = {(row[18], int(row[6]) & 1) for row in rows}
        assert {(str(host_port), 0), (str(host_port - 1) if host_port > 32768 else "1", 1)} == places
