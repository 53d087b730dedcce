"""A host under chaos: thirty containers in a private engine, a real HAProxy, and `gordon-shell run` as a process of its own."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from attrs import define, field, frozen

from gordon_core.observation import Port
from gordon_shell.haproxy_config import backend_name, haproxy_config
from gordon_shell.ports import Stored
from gordon_shell.sqlite_store import SqliteStore
from gordon_shell.wiring import LiveOptions
from tests.chaos.growth import Watch
from tests.chaos.judge import Deploying, Span
from tests.engine_fixtures import IMAGE, Containers, PrivateEngine
from tests.haproxy import RunningHaproxy
from tests.on_engine.scene import frontends

APP = "chaos"
CADENCE_S = 5.0
LADDER_S = (2.0, 4.0, 8.0, 15.0)
STABLE_S, READINESS_S = 20.0, 5.0
BOUND_S = 60.0
"""Within which all is well once chaos stops: the last step of the ladder, two passes, readiness, and a spread of thirty starts
come to some 40 s; the rest is for a busy machine."""
PATIENCE_S = 120.0
_POLICY = """\
[recovery]
ladder_s = {ladder}
stable_window_s = {stable}
longest_gap_s = 15
readiness_s = {readiness}
shortest_deadline_s = 20

[grants]
paths = [{{ path = "{begun}", read_only = false }}]
"""
_TELL = "echo $HOSTNAME $(cut -d' ' -f1 /proc/uptime) >>/begun"
_SERVE = "rm -f /tmp/ill; mkdir -p /www; printf %s '{name}' >/www/index.html; exec httpd -f -p 80 -h /www"
_SERVE_BRIEFLY = "mkdir -p /www; printf %s '{name}' >/www/index.html; httpd -p 80 -h /www; sleep 3; exit 3"
_CHECK = "test ! -e /tmp/ill"


@frozen
class Kind:
    """What sort of workload a service is: its command after it told of its start; whether it is routed, checked, and lasts; and
    the constant of recovery that is set for it by command."""

    command: str
    is_routed: bool = True
    is_checked: bool = False
    lasts: bool = True
    tuned: str = ""


WEB, CHECKED = Kind(_SERVE), Kind(_SERVE, is_checked=True)
LOOPER, BRIEF = Kind(_SERVE_BRIEFLY, lasts=False), Kind("exit 3", lasts=False)
WORKER = Kind("exec sleep 100000", is_routed=False)
JOB = Kind("sleep 9", is_routed=False, lasts=False, tuned="exit_0_is_done=true")
SIDELINED = Kind(_SERVE, is_checked=True, tuned="unhealthy=withdraw")


def services(count: int) -> dict[str, Kind]:
    """Return so many services by name: of every ten five plain ones, two with a health check (one of them is only withdrawn for
    that), one that loops, a worker, and a job that is done some time."""
    kinds = [("web", WEB)] * 4 + [
        ("ill", CHECKED),
        ("work", WORKER),
        ("loop", LOOPER),
        ("web", WEB),
        ("job", JOB),
        ("aside", SIDELINED),
    ]
    named = [kinds[index % len(kinds)] for index in range(count)]
    return {f"{name}{index}": BRIEF if kind is LOOPER and index > 10 else kind for index, (name, kind) in enumerate(named)}


@define(eq=False)
class Host:
    """Everything that runs. `kills` are the times, in seconds since boot, at which the program was killed."""

    containers: Containers
    engine: PrivateEngine
    proxy: RunningHaproxy
    room: Path
    services: dict[str, Kind]
    watch: Watch
    process: "subprocess.Popen[bytes] | None" = None
    kills: list[float] = field(factory=list)
    deploys: list[Deploying] = field(factory=list)
    away: list[Span] = field(factory=list)

    @property
    def options(self) -> LiveOptions:
        """Return where everything is, as the program is told."""
        return LiveOptions(self.room / "state.db", self.room / "policy.toml", Path(self.proxy.socket), environment={})

    @property
    def ports(self) -> dict[str, int]:
        """Return the frontend of each service that has one."""
        return {name: port for name, port in frontends(tuple(self.services)).items() if self.services[name].is_routed}

    def create(self, name: str) -> str:
        """Create a container of a service, start it, and return its ID."""
        kind, begun = self.services[name], self.room / "begun" / name
        begun.parent.mkdir(exist_ok=True)
        begun.touch()
        return self.containers.run(
            *("sh", "-c", f"{_TELL}; {kind.command.format(name=name)}"),
            publishes={"80/tcp": 0} if kind.is_routed else {},
            binds=(f"{begun}:/begun",),
            check=_CHECK if kind.is_checked else "",
            check_every_s=3.0,
            stop_timeout_s=1,
        )

    def adopt_all(self) -> None:
        """Write the policy, and put every service into care."""
        policy = _POLICY.format(ladder=list(LADDER_S), stable=STABLE_S, readiness=READINESS_S, begun=self.room / "begun")
        (self.room / "policy.toml").write_text(policy)
        made = [f"{name}={self.create(name)}" for name in self.services]
        unpublished = [each for name, kind in self.services.items() if not kind.is_routed for each in ("--unpublished", name)]
        done = self.shell("adopt", APP, *made, *unpublished)
        tuned = {f"{APP}/{name}": kind.tuned for name, kind in self.services.items() if kind.tuned}
        for each in (done, *(self.shell("tune", name, constant) for name, constant in tuned.items())):
            if each.returncode:
                sys.exit(f"chaos: {each.args} ended with {each.returncode}: {each.stdout}{each.stderr}")

    def shell(self, *words: str, program: str = "gordon-shell") -> "subprocess.CompletedProcess[str]":
        """Run one command of the product to its end."""
        command = [Path(sys.executable).with_name(program), *words]
        return subprocess.run(command, env=self._environment, check=False, capture_output=True, text=True, timeout=600)

    def begun_shell(self, *words: str) -> "subprocess.Popen[bytes]":
        """Begin one command of the product, and leave it; what it prints goes nowhere."""
        command = [Path(sys.executable).with_name("gordon-shell"), *words]
        return subprocess.Popen(command, env=self._environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @property
    def _environment(self) -> dict[str, str]:
        return os.environ | {
            "GORDON_STATE": str(self.room / "state.db"),
            "GORDON_POLICY": str(self.room / "policy.toml"),
            "GORDON_HAPROXY": self.proxy.socket,
        }

    def start(self) -> None:
        """Let `gordon-shell run` begin."""
        command = [Path(sys.executable).with_name("gordon-shell"), "run", "--cadence", str(CADENCE_S)]
        files = ["--state", self.room / "state.db", "--policy", self.room / "policy.toml", "--haproxy", self.proxy.socket]
        with (self.room / "run.log").open("ab") as log:
            self.process = subprocess.Popen([*command, *files], stdout=log, stderr=log)
        self.watch.on(self.process.pid)

    def kill(self) -> None:
        """End it with SIGKILL."""
        assert self.process is not None
        self.watch.on(0)
        self.process.kill()
        self.process.wait()
        self.kills.append(boot_s())
        (self.room / "kills").write_text(" ".join(map(str, self.kills)))

    def stop(self) -> int:
        """End it as systemd does, and return its exit code."""
        assert self.process is not None
        self.watch.on(0)
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_S)

    def stored(self) -> dict[str, Stored]:
        """Return the state by service."""
        store = SqliteStore.open(self.room / "state.db", create=False, read_only=True)
        with contextlib.closing(store):
            return {each.service: each for each in store.read()}

    def container(self, name: str) -> str:
        """Return the ID of the container that ACTIVE names."""
        declared = self.stored()[name].declared
        assert declared is not None
        return declared.container_id

    def begun(self) -> Iterator[tuple[str, float]]:
        """Yield every start of a workload, as it told of it itself: the beginning of its ID, and seconds since boot."""
        for name in self.services:
            for line in (self.room / "begun" / name).read_text().splitlines():
                container_id, at_s = line.split()
                yield container_id, float(at_s)


def proxy_config(kinds: dict[str, Kind]) -> str:
    """Return the configuration of a HAProxy with a frontend for each service that has one."""
    ports = frontends(tuple(kinds))
    routed = [name for name, kind in kinds.items() if kind.is_routed]
    faces = (
        f"frontend {name}\n    bind 127.0.0.1:{ports[name]}\n    default_backend {backend_name(APP, name, 80)}\n"
        for name in routed
    )
    return "".join(faces) + haproxy_config([(APP, name, (Port(80),)) for name in routed], "/unused")


def boot_s() -> float:
    """Return the seconds since boot, as the product and the workloads count them."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


__all__ = [
    "APP", "BOUND_S", "CADENCE_S", "IMAGE", "JOB", "SIDELINED", "Host", "Kind", "boot_s", "proxy_config", "services",
]  # fmt: skip
