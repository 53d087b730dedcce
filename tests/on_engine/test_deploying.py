"""Deploys as a user does them, in processes of their own, on a real engine: the command, the way back, the example, a signal."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import field, frozen
from docker import APIClient

from tests.engine_fixtures import IMAGE, NEEDS_ENGINE, web

pytestmark = NEEDS_ENGINE
ROOT = Path(__file__).parent.parent.parent
PROGRAM = (sys.executable, "-m", "gordon_shell.shell_cli")
TOOL = (sys.executable, str(ROOT / "examples" / "deploy_tool.py"))
SECRET = "tr0ub4dor&3"  # noqa: S105 - it is to be found nowhere


@frozen
class Host:
    """A state of its own on the private engine, and an app that no other test has."""

    directory: Path
    client: APIClient
    app: str
    environment: dict[str, str] = field(factory=dict)

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(words, check=False, capture_output=True, text=True, cwd=ROOT, env=self._environment(), timeout=120)

    def deploy(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return self.run(*PROGRAM, "deploy", self.app, "web", *words)

    def started(self, *words: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=self._environment()
        )

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "GORDON_STATE": str(self.directory / "state.db"), "PASSWORD": SECRET, **self.environment}

    def page(self) -> str:
        routes = json.loads((self.directory / "routes.json").read_text())["routes"]
        port = next(each["binds"][0]["host_port"] for each in routes if each["service"] == "web")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as answer:
            return str(answer.read().decode())

    def containers(self) -> list[str]:
        """Return the names of the containers of the app."""
        found = self.client.containers(all=True, filters={"label": f"gordon.app={self.app}"})
        return sorted(each["Names"][0].removeprefix("/") for each in found)


@pytest.fixture
def host(docker_engine_host: str, tmp_path: Path) -> Iterator[Host]:
    client = APIClient(base_url=docker_engine_host, version="1.41", timeout=60)
    made = Host(tmp_path, client, f"d{time.monotonic_ns()}")
    yield made
    for each in client.containers(all=True, filters={"label": f"gordon.app={made.app}"}):
        client.remove_container(each["Id"], force=True, v=True)
    client.close()


def test_deploy_replace_fail_and_go_back(host: Host) -> None:
    first = host.deploy(IMAGE, "-p", "80", "-e", "PASSWORD", "--grace", "1", "--", *web("one"))
    assert (0, "") == (first.returncode, first.stderr)
    assert "one" == host.page()
    same = host.deploy(IMAGE)
    assert (0, True) == (same.returncode, ": nothing to do: " in same.stdout)
    second = host.deploy(IMAGE, "--", *web("two"))
    assert (0, "") == (second.returncode, second.stderr)
    assert "two" == host.page()
    dies = host.deploy(IMAGE, "--forgive", "0", "--", "sh", "-c", "echo with $PASSWORD; exit 3")
    assert 1 == dies.returncode
    assert "exit code 3" in dies.stdout
    assert "      | with [PASSWORD]\n" in dies.stdout
    assert "two" == host.page()
    assert [f"gordon-{host.app}-web"] == host.containers()
    back = host.run(*PROGRAM, "rollback", host.app, "web")
    assert (0, "") == (back.returncode, back.stderr)
    assert "one" == host.page()
    assert "1 service: 1 as desired; nothing needed to be done.\n" == host.run(*PROGRAM, "once").stdout
    told = "".join(each.stdout + each.stderr for each in (first, same, second, dies, back))
    assert SECRET not in told + "".join(each.read_text(errors="replace") for each in host.directory.iterdir() if each.is_file())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cancels_a_deploy_which_clears_what_it_made(host: Host, number: signal.Signals) -> None:
    assert 0 == host.deploy(IMAGE, "-p", "80", "--grace", "1", "--", *web("one")).returncode
    with host.started(*PROGRAM, "deploy", host.app, "web", IMAGE, "--", "sleep", "1000") as running:
        until = time.monotonic() + 20
        while f"gordon-{host.app}-web-new" not in host.containers():
            assert time.monotonic() < until
            time.sleep(0.1)
        time.sleep(1)
        running.send_signal(number)
        out, err = running.communicate(timeout=60)
    assert (130, "") == (running.returncode, err)
    assert f"was cancelled: its caller was sent {number.name}\n" in out
    assert [f"gordon-{host.app}-web"] == host.containers()
    assert "one" == host.page()


def test_the_example_deploys_twice_and_finds_nothing_to_do_the_second_time(host: Host) -> None:
    file = host.directory / "app.toml"
    command = json.dumps(list(web("hello")))
    file.write_text(
        f'app = "{host.app}"\n[services.web]\nimage = "{IMAGE}"\ncommand = {command}\nports = [80]\nhttp = "/"\n'
        'environment = ["PASSWORD"]\nstop_grace_s = 1\n'
    )
    first = host.run(*TOOL, str(file))
    assert (0, "") == (first.returncode, first.stderr)
    assert "hello" == host.page()
    second = host.run(*TOOL, str(file))
    assert (0, "") == (second.returncode, second.stderr)
    assert second.stdout.startswith(f"{host.app}/web: nothing to do; ")
    assert 1 == len(second.stdout.splitlines())
    assert SECRET not in first.stdout + second.stdout
