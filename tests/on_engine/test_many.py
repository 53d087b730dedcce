"""A hundred containers: a steady pass makes one call to the engine and no more, as counted on the wire."""

from pathlib import Path

import pytest

from gordon_core.effects import Done
from gordon_core.snapshot import Declared
from gordon_shell.ports import Ports
from gordon_shell.reconciler import Reconciler
from gordon_shell.wiring import LiveOptions, live_policies, live_ports
from tests.engine_fixtures import NEEDS_ENGINE
from tests.on_engine.counting import CountingSocket, counted
from tests.on_engine.hundred import Hundred
from tests.on_engine.scene import HTTP, Journal, close, told

pytestmark = NEEDS_ENGINE
LIST = "GET /v1.40/containers/json?limit=-1&all=1&size=0&trunc_cmd=0"


def test_a_steady_pass_over_a_hundred_makes_one_call(hundred: Hundred, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with counted(hundred.containers.host.removeprefix("unix://"), directory / "counted.sock") as socket:
        monkeypatch.setenv("DOCKER_HOST", f"unix://{socket.path}")
        options = LiveOptions(state=directory / "state.db", environment={})
        ports, journal = live_ports(options, create=True), Journal()
        try:
            adopt(ports, hundred)
            reconciler = Reconciler(ports, live_policies(options), listener=journal)
            hundred.wait_until_old()
            assert reconciler.run_pass().is_well
            assert len(hundred.web) == len(ports.router.read().by_service)
            reconciler.run_pass()
            done = len(journal.entries)
            for _ in range(3):
                assert [LIST] == calls_of_a_pass(reconciler, socket)
            victim = hundred.plain[0]
            hundred.containers.client.kill(victim)
            assert f"GET /v1.40/containers/{victim}/json" in calls_of_a_pass(reconciler, socket)
            assert {"shop/plain0"} == {each.name for each in journal.entries[done:]}
        finally:
            close(ports)


def calls_of_a_pass(reconciler: Reconciler, socket: CountingSocket) -> list[str]:
    socket.requests.clear()
    report = reconciler.run_pass()
    assert report.is_well, told(report)
    return list(socket.requests)


def adopt(ports: Ports, hundred: Hundred) -> None:
    for index, each in enumerate(hundred.plain):
        assert Done() == ports.store.activate("shop", f"plain{index}", Declared(each, 1, published=False), 0, None)
    for index, each in enumerate(hundred.web):
        assert Done() == ports.store.activate("shop", f"web{index}", Declared(each, 1, ports=(HTTP,)), 0, None)
