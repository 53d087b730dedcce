"""One service that is deployed again and again behind a real HAProxy, and clients that judge each answer that they get.

Each deploy is of a version of its own. The page of a container is the name of its image and its version ("red 7"), so that a
client sees which container answered, and what it was made of.
"""

import contextlib
import http.client
import io
import itertools
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from attrs import define, evolve, field

from gordon_core.blueprint import Blueprint, Publication, Readiness, Variable
from gordon_core.deploy_planner import DeployDecision
from gordon_core.effects import Done, Outcome, Publish
from gordon_core.observation import Container, Port
from gordon_core.snapshot import HttpCheck
from gordon_core.verdicts import Verdict
from gordon_shell.deploy_executor import Limits
from gordon_shell.deployer import Deployer, Listener
from gordon_shell.haproxy_config import backend_name, haproxy_config
from gordon_shell.host import Host
from gordon_shell.ports import Details, Row, Stored
from gordon_shell.wiring import LiveOptions
from tests.engine_fixtures import IMAGE, SILENT, Containers
from tests.haproxy import RunningHaproxy, running_haproxy
from tests.on_engine.scene import eventually, request

HTTP = Port(80)
COLOURS = ("red", "green", "blue")
UNWATCHED = Limits(watch_s=0.0)
PACE_S = 0.01
GRACE_S = 5.0
_PATIENT = Readiness(http=HttpCheck(80, "/"), deadline_s=60.0)
SLOW = "/cgi-bin/slow"
"""A page that is given no sooner than its container was told to stop."""
# Told to stop, it ends when nobody is being answered any more, as a server should.
_SERVE = """\
mkdir -p /run/www/cgi-bin
printf '%s %s' "$(cat /colour)" "$VERSION" >/run/www/index.html
cat >/run/www/cgi-bin/slow <<'END'
#!/bin/sh
until [ -e /run/told ]; do usleep 10000; done
printf 'Content-Type: text/plain\r\n\r\n'
cat /run/www/index.html
END
chmod +x /run/www/cgi-bin/slow
trap 'touch /run/told; while [ $(pidof httpd | wc -w) -gt 1 ]; do usleep 10000; done; exit 0' TERM
httpd -f -p 80 -h /run/www &
wait
"""
_fronts = itertools.count(18500)
_apps = itertools.count(1)


def import_image(containers: Containers, colour: str) -> str:
    """Make an image whose container serves its version, and return its name."""
    made = str(containers.client.create_container(IMAGE, list(SILENT))["Id"])
    name = f"{containers.prefix}-{colour}"
    containers.client.put_archive(made, "/", _tar({"colour": colour, "serve": _SERVE}))
    containers.client.commit(made, name, "1", conf={"Cmd": ["sh", "/serve"]})
    containers.client.remove_container(made, force=True)
    containers.forget_image(f"{name}:1")
    return f"{name}:1"


def _tar(files: dict[str, str]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
    return made.getvalue()


@define
class Switches:
    """Which versions may answer: those from the one that was last reported to be published, to the one that was last begun."""

    published: int = 0
    begun: int = 0


@define
class Client:
    """Asks again and again, over a connection that it keeps or over fresh ones, and notes each answer that is not right."""

    right: Callable[[int, str], bool]
    connect: Callable[[], http.client.HTTPConnection]
    switches: Switches
    kept: bool
    is_down_at_times: bool = False
    pace_s: float = PACE_S
    answers: int = 0
    latest: int = 0
    connections: int = 0
    wrong: list[str] = field(factory=list)
    over: threading.Event = field(factory=threading.Event)

    def run(self) -> None:
        connection = self.connect()
        while not self.over.wait(self.pace_s):
            if connection.sock is None:
                self.connections += 1
            if not self._ask(connection) or not self.kept:
                connection.close()
        connection.close()

    def _ask(self, connection: http.client.HTTPConnection) -> bool:
        oldest = self.switches.published
        try:
            status, page = request(connection)
        except (OSError, http.client.HTTPException) as error:
            self.wrong.append(f"{error!r} while {self.switches}")
            return False
        if status in {502, 503} and self.is_down_at_times:
            return True
        version = int(page.split()[-1]) if status == 200 else -1
        if oldest <= version <= self.switches.begun and self.right(version, page):
            self.answers, self.latest = self.answers + 1, version
        else:
            self.wrong.append(f"{status} {page!r} where {oldest} was published and {self.switches.begun} begun")
        return True


@define(eq=False)
class Shop:
    """A service "web" of an app of its own, in the engine of DOCKER_HOST and behind a HAProxy of its own."""

    app: str
    front: int
    directory: Path
    containers: Containers
    proxy: RunningHaproxy
    images: tuple[str, ...]
    host: Host
    host_port: int = 0
    switches: Switches = field(factory=Switches)

    @property
    def name(self) -> str:
        return f"gordon-{self.app}-web"

    @property
    def options(self) -> LiveOptions:
        return LiveOptions(state=self.directory / "state.db", haproxy=Path(self.proxy.socket), environment={})

    def image(self, version: int) -> str:
        return self.images[version % len(self.images)]

    def page(self, version: int) -> str:
        return f"{COLOURS[version % len(self.images)]} {version}"

    def wanted(self, version: int, **more: object) -> Blueprint:
        """Return what a version is made of; it answers "COLOUR VERSION" unless told otherwise."""
        made = Blueprint(
            self.image(version),
            environment=(Variable("VERSION", str(version)),),
            ports=(Publication(HTTP, self.host_port),),
            stop_grace_s=GRACE_S,
            readiness=_PATIENT,
        )
        return evolve(made, **more)  # type: ignore[arg-type]

    def deploy(self, wanted: Blueprint, *, limits: Limits = UNWATCHED, listener: Listener | None = None) -> Verdict:
        told = {} if listener is None else {"listener": listener}
        return Deployer(self.host.ports, self.host.policies, limits=limits, **told).deploy(self.app, "web", wanted)

    def serve(self, version: int, *, limits: Limits = UNWATCHED, **more: object) -> str:
        """Deploy a version, and return the container that serves it."""
        self.switches.begun = version

        def listen(decision: DeployDecision, outcome: Outcome | None) -> None:
            if isinstance(decision.step, Publish) and isinstance(outcome, Done):
                self.switches.published = version

        verdict = self.deploy(self.wanted(version, **more), limits=limits, listener=listen)
        assert verdict.failure is None, verdict
        self.switches.published = version
        return verdict.container_id

    def other(self) -> Host:
        """Open what another process would have."""
        return Host.open(self.options)

    # --- what is there -------------------------------------------------------------------------------------------------------

    def rows(self) -> tuple[Row, ...]:
        """Return the containers that bear one of its names, or a label that says that they are its own."""
        found = self.host.ports.engine.rows()
        return tuple(each for each in found if each.labels.get("gordon.app") == self.app or self.name in each.name)

    def names(self) -> dict[str, str]:
        """Return the containers by name, with their status."""
        return {each.name: each.status.value for each in self.rows()}

    def stored(self) -> Stored:
        found = self.host.ports.store.read_service(self.app, "web")
        assert found is not None
        return found

    def active(self) -> str:
        """Return the container in ACTIVE."""
        declared = self.stored().declared
        return declared.container_id if declared is not None else ""

    def seen(self, container_id: str) -> Container | None:
        details = self.host.ports.engine.inspect(container_id)
        return details.container if isinstance(details, Details) else None

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.front, timeout=30)

    def ask(self) -> tuple[int, str]:
        connection = self.connection()
        with contextlib.closing(connection):
            return request(connection)

    def assert_settled(self, version: int) -> None:
        """One container is left, it serves this version, and a pass of another process finds nothing to do."""
        assert {self.name: "running"} == self.names()
        stored = self.stored()
        assert ((), (), True) == (stored.candidates, stored.markers, stored.memory.verified is not None)
        assert (200, self.page(version)) == self.ask()
        with self.other() as host:
            report = host.recover()
        assert report.is_well, (report.trouble, report.faults, report.held)
        assert {} == {key: each for key, each in report.results.items() if each}

    def _is_right(self, version: int, page: str) -> bool:
        return page == self.page(version)

    @contextlib.contextmanager
    def polled(self, *, is_down_at_times: bool = False, pace_s: float = PACE_S) -> Iterator[tuple[Client, Client]]:
        """Let a client ask that keeps its connection, and one that does not; at the end no answer to them was wrong."""
        clients = tuple(
            Client(self._is_right, self.connection, self.switches, kept, is_down_at_times, pace_s) for kept in (True, False)
        )
        threads = [threading.Thread(target=each.run) for each in clients]
        for each in threads:
            each.start()
        try:
            yield clients[0], clients[1]
        finally:
            for client in clients:
                client.over.set()
            for each in threads:
                each.join(60)
        assert [[], []] == [client.wrong for client in clients]
        assert all(client.answers for client in clients)


def until_answered(clients: tuple[Client, ...], version: int) -> None:
    """Wait until each client was answered by a version."""
    eventually(lambda: all(each.latest == version or each.wrong for each in clients), within_s=60.0)


@contextlib.contextmanager
def shop(docker_engine_host: str, directory: Path, *, colours: int = 2, host_port: int = 0) -> Iterator[Shop]:
    """Give a shop that nothing was deployed to. Its directory is made where it is not there."""
    directory.mkdir(exist_ok=True)
    front, app = next(_fronts), f"d{next(_apps)}-{time.monotonic_ns():x}"
    config = f"frontend web\n    bind 127.0.0.1:{front}\n    default_backend {backend_name(app, 'web', 80)}\n"
    config += haproxy_config([(app, "web", (HTTP,))], "/unused")
    with Containers(docker_engine_host) as containers, running_haproxy(config, directory) as proxy:
        images = tuple(import_image(containers, each) for each in COLOURS[:colours])
        options = LiveOptions(state=directory / "state.db", haproxy=Path(proxy.socket), environment={})
        with Host.open(options) as host:
            made = Shop(app, front, directory, containers, proxy, images, host, host_port)
            try:
                yield made
            finally:
                for each in made.rows():
                    containers.adopt(each.container_id)
