"""The ports that a container was created to have, which `adopt` declares while it is down."""

from gordon_core.observation import Port, PortBinding, Protocol
from gordon_shell.docker_json import details
from gordon_shell.memory.clock import MemoryClock
from gordon_shell.memory.container import Simulated
from gordon_shell.memory.engine import MemoryEngine
from gordon_shell.ports import Details

EVERYWHERE = "0.0.0.0"  # noqa: S104 - compared, never bound


def asked(host: dict[str, object], exposed: tuple[str, ...] = ()) -> tuple[PortBinding, ...]:
    return details(
        {"Id": "a", "State": {"Status": "exited"}, "Config": {"ExposedPorts": {each: {} for each in exposed}}, "HostConfig": host}
    ).asked_ports


def test_fixed_and_ephemeral_ports_are_told_with_their_addresses() -> None:
    wanted = {
        "80/tcp": [{"HostIp": "127.0.0.1", "HostPort": "8080"}, {"HostIp": "", "HostPort": ""}],
        "53/udp": [{"HostIp": "127.0.0.1"}],
    }
    assert asked({"PortBindings": wanted}) == (
        PortBinding(Port(53, Protocol.UDP), "127.0.0.1", 0),
        PortBinding(Port(80), EVERYWHERE, 0),
        PortBinding(Port(80), "127.0.0.1", 8080),
    )


def test_a_range_of_host_ports_counts_as_ephemeral() -> None:
    assert (PortBinding(Port(80), EVERYWHERE, 0),) == asked({"PortBindings": {"80/tcp": [{"HostPort": "8000-8010"}]}})


def test_all_exposed_ports_are_published_only_if_asked_for() -> None:
    wanted: dict[str, object] = {"PortBindings": {"80/tcp": [{"HostPort": "8080"}]}, "PublishAllPorts": True}
    assert (PortBinding(Port(80), EVERYWHERE, 8080), PortBinding(Port(81), EVERYWHERE, 0)) == asked(wanted, ("80/tcp", "81/tcp"))
    assert () == asked({}, ("80/tcp",))


def test_other_protocols_and_what_is_exposed_alone_are_left_out() -> None:
    assert () == asked({"PortBindings": {"80/sctp": [{"HostPort": "80"}], "81/tcp": None}})


def test_the_memory_engine_tells_them_too() -> None:
    engine = MemoryEngine(MemoryClock())
    engine.add(Simulated("a", publishes=((Port(80), 0), (Port(81), 8081))))
    found = engine.inspect("a")
    assert isinstance(found, Details)
    assert (PortBinding(Port(80), "127.0.0.1", 0), PortBinding(Port(81), "127.0.0.1", 8081)) == found.asked_ports
