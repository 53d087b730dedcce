"""`gordon-shell` as its own process on a real engine: a container of its own, real ports, a real routes file, real signals."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import frozen

from tests.engine_fixtures import NEEDS_ENGINE, Containers

pytestmark = NEEDS_ENGINE
ROOT = Path(__file__).parent.parent
PROGRAM = (sys.executable, "-m", "gordon_shell.shell_cli")


@frozen
class Host:
    """A state of its own on the private engine."""

    containers: Containers
    directory: Path

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "GORDON_STATE": str(self.directory / "state.db"), "DOCKER_HOST": self.containers.host}

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*PROGRAM, *words], check=False, capture_output=True, text=True, cwd=ROOT, env=self.environment, timeout=120
        )

    def started(self, *words: str) -> "subprocess.Popen[str]":
        return subprocess.Popen([*PROGRAM, *words], stdout=subprocess.PIPE, text=True, cwd=ROOT, env=self.environment)

    def holder(self) -> str:
        """Return who holds the lock of the one `run`, which it takes once signals are heeded."""
        try:
            return (self.directory / "state.db.locks" / "run.lock").read_text().strip()
        except FileNotFoundError:
            return ""

    def port(self) -> int:
        """Return the host port that the routes file sends shop/web to, 0 for nowhere."""
        try:
            routes = json.loads((self.directory / "routes.json").read_text())["routes"]
        except FileNotFoundError:
            return 0
        return next((int(each["binds"][0]["host_port"]) for each in routes if each["service"] == "web"), 0)

    def page(self) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port()}/", timeout=5) as answer:
            return str(answer.read().decode())

    def kill(self, container_id: str) -> None:
        self.containers.client.kill(container_id)
        eventually(lambda: not self.containers.client.inspect_container(container_id)["State"]["Running"])


def eventually(holds: Callable[[], bool], within_s: float = 60.0) -> None:
    until = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.fixture
def host(containers: Containers, tmp_path: Path) -> Host:
    return Host(containers, tmp_path)


def test_a_killed_container_comes_back_at_another_port_and_is_routed_there(host: Host) -> None:
    web = host.containers.run_web("hello")
    adopted = host.run("adopt", "shop", f"web={host.containers.prefix}-0")
    assert (0, "") == (adopted.returncode, adopted.stderr)
    assert f"shop/web: adopted container {host.containers.prefix}-0 ({web[:12]}), revision 1, publishes 80/tcp" in adopted.stdout
    once = host.run("once")
    assert (0, "") == (once.returncode, once.stderr)
    first = host.port()
    assert host.page() == "hello"
    host.kill(web)
    with_the_port = host.containers.run_web("another")  # takes the port that was freed, or the next one
    again = host.run("once")
    assert (0, "") == (again.returncode, again.stderr)
    assert host.page() == "hello"
    bindings = host.containers.client.inspect_container(web)["NetworkSettings"]["Ports"]["80/tcp"]
    assert [str(host.port())] == [each["HostPort"] for each in bindings]
    assert first != host.port()
    assert with_the_port != web
    assert host.run("once").stdout == "1 service: 1 serving; nothing needed to be done.\n"


def test_run_keeps_it_alive_ends_on_sigterm_and_is_one_beside_which_once_is_safe(host: Host) -> None:
    web = host.containers.run_web("hello")
    assert host.run("adopt", "shop", f"web={web}").returncode == 0
    with host.started("run", "--cadence", "0.5") as running:
        eventually(lambda: host.port() > 0)
        second = host.run("run")
        assert (75, "") == (second.returncode, second.stdout)
        assert f"gordon-shell: pid {running.pid} runs already on this state" in second.stderr
        host.kill(web)
        beside = [host.run("once") for _ in range(3)]
        assert {0} == {each.returncode for each in beside}
        eventually(lambda: host.containers.client.inspect_container(web)["State"]["Running"] and host.port() > 0)
        eventually(lambda: host.run("status", "--detailed-exitcode").returncode == 0)
        assert host.page() == "hello"
        begun = time.monotonic()
        running.terminate()
        assert running.wait(60) == 0
        assert time.monotonic() - begun < 10
        assert running.stdout is not None
        told = running.stdout.read()
    assert "watching 1 service" in told
    assert host.run("once").stdout.endswith("nothing needed to be done.\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_run_ends_within_ten_seconds_although_a_probe_and_a_stop_are_under_way(host: Host, number: signal.Signals) -> None:
    silent = host.containers.run(publishes={"80/tcp": 0})
    stubborn = host.containers.run("sh", "-c", "trap '' TERM; sleep 1000", stop_timeout_s=60)
    assert host.run("adopt", "shop", f"web={silent}").returncode == 0
    assert host.run("adopt", "blog", f"web={stubborn}").returncode == 0
    assert host.run("stop", "blog").returncode == 0
    with host.started("run") as running:
        eventually(lambda: host.holder() == f"pid {running.pid}")
        time.sleep(3)  # the probe and the stop are under way by then, or it is told before; both are to end
        assert running.poll() is None
        begun = time.monotonic()
        running.send_signal(number)
        assert running.wait(60) == 0
        assert time.monotonic() - begun < 10
    host.containers.client.kill(stubborn)


def test_forget_takes_the_route_away_and_leaves_the_container_as_it_is(host: Host) -> None:
    web = host.containers.run_web("hello")
    host.run("adopt", "shop", f"web={web}")
    host.run("once")
    before = host.containers.client.inspect_container(web)["State"]
    forgotten = host.run("forget", "shop")
    assert (0, f"shop/web: withdrawn and forgotten; left alone: {web[:12]}\n") == (forgotten.returncode, forgotten.stdout)
    assert host.port() == 0
    assert before == host.containers.client.inspect_container(web)["State"]
    assert host.run("once").stdout == "no services; nothing needed to be done.\n"


def test_what_docker_compose_labelled_is_adopted_with_ports_grace_and_health_and_also_while_it_is_down(host: Host) -> None:
    def labels(service: str) -> dict[str, str]:
        return {"com.docker.compose.project": host.containers.prefix, "com.docker.compose.service": service}

    host.containers.run_web("hello", labels=labels("web"), check="true", stop_timeout_s=33)
    down = host.containers.create(*("sleep", "1000"), publishes={"53/udp": 0}, labels=labels("dns"), stop_timeout_s=1)
    adopted = host.run("adopt", "--compose", host.containers.prefix, "--app", "shop")
    assert (0, "") == (adopted.returncode, adopted.stderr)
    dns, note, web, _ = adopted.stdout.splitlines()
    assert dns.endswith(f"({down[:12]}), revision 1, publishes 53/udp, 1 s to stop in")
    assert note.startswith("    note: it is down (created), and will be started")
    assert web.endswith("revision 1, publishes 80/tcp, with its health check, 33 s to stop in")
    once = host.run("once")
    assert (0, "2 services: ") == (once.returncode, once.stdout[:12])
    assert host.page() == "hello"


def test_a_successor_takes_over_and_the_former_container_is_removed(host: Host) -> None:
    old = host.containers.run_web("old", stop_timeout_s=1)
    host.run("adopt", "shop", f"web={old}")
    host.run("once")
    new = host.containers.run_web("new")
    host.run("adopt", "shop", f"web={new}")
    assert host.page() == "old"
    assert host.run("once").returncode == 0
    assert host.page() == "new"
    assert old not in [each["Id"] for each in host.containers.client.containers(all=True)]


def test_steps_are_told_on_a_terminal(host: Host) -> None:
    parent, child = os.openpty()
    web = host.containers.run_web("hello")
    host.run("adopt", "shop", f"web={web}")
    ran = subprocess.run([*PROGRAM, "once"], check=False, stdout=subprocess.PIPE, stderr=child, cwd=ROOT, env=host.environment)
    told = os.read(parent, 4096).decode()
    os.close(parent)
    os.close(child)
    assert ran.returncode == 0
    assert "shop/web: publish 80/tcp at " in told
    assert "\x1b" not in told
