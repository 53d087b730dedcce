"""A host as an operator has it: containers in a real engine, a real HAProxy in front, a state, and passes over the real ports.

Each service has a frontend of its own, so that a client knows whom it asked: a page is right if it is the service's name.
"""

import contextlib
import http.client
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

from attrs import define, evolve, field, frozen

from gordon_core.effects import Done, Effect, Outcome
from gordon_core.memory import Memory
from gordon_core.observation import Binds, Container, Port
from gordon_core.policy import Policy
from gordon_core.snapshot import Declared, Subject
from gordon_shell.crew import Crew
from gordon_shell.haproxy_config import backend_name, haproxy_config
from gordon_shell.loop import run
from gordon_shell.ports import Details, Ports, Stored
from gordon_shell.reconciler import Reconciler, Report
from gordon_shell.wiring import LiveOptions, live_policies, live_ports
from tests.engine_fixtures import NANOSECONDS, Containers
from tests.haproxy import RunningHaproxy, running_haproxy

APP = "shop"
HTTP = Port(80)
FIRST_FRONTEND = 18080
PATIENT = Policy(free_failures=1000)
"""A policy under which nothing waits, for tests that end what they started within its stable window."""


@frozen
class Entry:
    """One effect with its outcome, of `app/service`."""

    name: str
    effect: Effect
    outcome: Outcome


@define
class Journal:
    """Every effect that a reconciler carried out, in order."""

    entries: list[Entry] = field(factory=list)

    def __call__(self, subject: Subject, effect: Effect, outcome: Outcome) -> None:
        self.entries.append(Entry(subject.name, effect, outcome))

    def kinds(self, name: str = "") -> list[str]:
        """Return the kinds of effects, of one service or of all."""
        return [type(each.effect).__name__ for each in self.entries if name in ("", each.name)]

    def of(self, *kinds: type[Effect]) -> list[Entry]:
        return [each for each in self.entries if isinstance(each.effect, kinds)]


class Scene:
    """One app whose services are served through HAProxy. `services` fixes their order, and so their frontends."""

    def __init__(self, containers: Containers, proxy: RunningHaproxy, state: Path, services: tuple[str, ...]) -> None:
        self.containers, self.proxy, self.state = containers, proxy, state
        self._frontends = frontends(services)
        self.options = LiveOptions(state=state, haproxy=Path(proxy.socket), environment={})
        self.journal = Journal()
        self.ports = self._open()
        self._reconciler: Reconciler | None = None

    def _open(self) -> Ports:
        return live_ports(self.options, create=True)

    def reopen(self) -> None:
        """Be another process: everything that the last one held in memory is lost."""
        close(self.ports)
        self.ports = self._open()
        self._reconciler = None

    def reconciler(self, crew: Crew | None = None) -> Reconciler:
        """Return the reconciler of this process, made once."""
        if self._reconciler is None or crew is not None:
            self._reconciler = Reconciler(self.ports, live_policies(self.options), crew=crew, listener=self.journal)
        return self._reconciler

    def adopt(self, service: str, container_id: str, *, revision: int = 1, policy: Policy = PATIENT, **more: object) -> Declared:
        """Name a container in ACTIVE."""
        declared = Declared(container_id, revision, ports=(HTTP,), stop_grace_s=2.0, policy=policy)
        declared = evolve(declared, **more)  # type: ignore[arg-type]
        assert Done() == self.ports.store.activate(APP, service, declared, revision - 1, None)
        return declared

    def passes(self) -> Report:
        """Run one pass."""
        return self.reconciler().run_pass()

    def converge(self, *, within_s: float = 60.0) -> Report:
        """Run passes until one finds all well and does nothing."""
        until_s = time.monotonic() + within_s
        while True:
            before = len(self.journal.entries)
            report = self.passes()
            if report.is_well and len(self.journal.entries) == before:
                return report
            assert time.monotonic() < until_s, told(report)
            time.sleep(0.1)

    def assert_converged(self, *services: str) -> None:
        """Every service answers rightly, nothing is charged, and neither this process nor a new one finds anything to do."""
        self.converge()
        assert {each: (200, each) for each in services} == {each: self.ask(each) for each in services}
        assert dict.fromkeys(services, 0) == {each: self.memory(each).failures for each in services}
        before = len(self.journal.entries)
        self.reopen()
        report = self.passes()
        assert [] == self.journal.kinds()[before:], told(report)
        assert report.is_well, told(report)

    def stored(self, service: str) -> Stored:
        found = self.ports.store.read_service(APP, service)
        assert found is not None
        return found

    def memory(self, service: str) -> Memory:
        return self.stored(service).memory

    def routed(self, service: str) -> Binds:
        return self.ports.router.read().by_service.get((APP, service), ())

    def seen(self, service: str) -> Container:
        declared = self.stored(service).declared
        assert declared is not None
        details = self.ports.engine.inspect(declared.container_id)
        assert isinstance(details, Details)
        return details.container

    def ask(self, service: str) -> tuple[int, str]:
        """Ask for the page of a service, through HAProxy, over a fresh connection."""
        connection = self.connection(service)
        with contextlib.closing(connection):
            return request(connection)

    def connection(self, service: str) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self._frontends[service], timeout=10)

    @contextlib.contextmanager
    def running(self, cadence_s: float = 0.25) -> Iterator[list[Report]]:
        """Let `run` go on in a thread, and give its reports as they come."""
        faults: list[BaseException] = []
        reports: list[Report] = []
        complaints: list[str] = []
        reconciler = self.reconciler()

        def tell(report: Report) -> None:
            faults.extend(report.faults)
            reports.append(report)

        thread = threading.Thread(
            target=run, args=(self.ports, reconciler, tell, complaints.append), kwargs={"cadence_s": cadence_s}
        )
        thread.start()
        try:
            yield reports
        finally:
            reconciler.stop()
            thread.join(60)
        assert not thread.is_alive()
        assert [] == faults
        assert [] == complaints

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        close(self.ports)


def close(ports: Ports) -> None:
    """Let go of everything that a process would let go of at its end."""
    for each in (ports.engine, ports.store, ports.prober, ports.clock):
        each.close()  # type: ignore[union-attr]  # every real one has it


def frontends(services: tuple[str, ...]) -> dict[str, int]:
    return {each: FIRST_FRONTEND + index for index, each in enumerate(services)}


@contextlib.contextmanager
def scene(
    containers: Containers,
    directory: Path,
    *services: str,
    state: Path | None = None,
    master: bool = False,
    settings: str = "",
) -> Iterator[Scene]:
    """Run a HAProxy with a frontend for each service, and give a scene in the engine of DOCKER_HOST, with nothing adopted.

    `settings` come first in the configuration of HAProxy, and it has a `master` process if that is wanted.
    """
    config = settings + "".join(
        f"frontend {each}\n    bind 127.0.0.1:{port}\n    default_backend {backend_name(APP, each, 80)}\n"
        for each, port in frontends(services).items()
    )
    config += haproxy_config([(APP, each, (HTTP,)) for each in services], "/unused")
    with (
        running_haproxy(config, directory, master=master) as proxy,
        Scene(containers, proxy, state or directory / "state.db", services) as made,
    ):
        yield made


def request(connection: http.client.HTTPConnection) -> tuple[int, str]:
    connection.request("GET", "/")
    response = connection.getresponse()
    return response.status, response.read().decode()


def told(report: Report) -> str:
    """Return a report for print, when a test fails."""
    lines = [f"{each.subject.name}: {each.situation.name} {each.effect}" for each in report.plan.decisions]
    results = [f"  {key}: {each}" for key, all_of in report.results.items() for each in all_of]
    return "\n".join([*lines, *report.trouble, *map(repr, report.faults), *results])


def eventually(holds: Callable[[], bool], *, within_s: float = 60.0) -> None:
    """Wait until something holds."""
    until_s = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < until_s, "it did not come to hold"
        time.sleep(0.02)


def events(containers: Containers, container_id: str, since_s: float, *kinds: str) -> list[dict[str, object]]:
    """Return what the engine itself says happened to one container since a time of the wall clock, oldest first."""
    found = containers.client.events(
        since=int(since_s) - 1, until=int(time.time()) + 1, filters={"container": container_id}, decode=True
    )
    with contextlib.closing(found):
        return [each for each in found if each["Action"] in kinds and each["timeNano"] >= since_s * NANOSECONDS]


def starts(containers: Containers, container_id: str, since_s: float) -> list[float]:
    """Return when the engine started one container, in seconds of the wall clock."""
    return [float(str(each["timeNano"])) / NANOSECONDS for each in events(containers, container_id, since_s, "start")]


@define
class Answers:
    """What the clients of one service saw: complete answers by (status, page), how many connections broke, and what was wrong."""

    service: str
    complete: dict[tuple[int, str], int] = field(factory=dict)
    broken: int = 0
    over: threading.Event = field(factory=threading.Event)

    def count(self, status: int, page: str) -> None:
        key = (status, page if status == 200 else "")
        self.complete[key] = self.complete.get(key, 0) + 1

    def assert_none_was_wrong(self, *right: str) -> None:
        """Every complete answer is right, or HAProxy's 502 or 503; some were right."""
        pages = right or (self.service,)
        allowed = {(200, each) for each in pages} | {(502, ""), (503, "")}
        assert set() == self.complete.keys() - allowed, self.complete
        assert [] == [each for each in pages if not self.complete.get((200, each))], self.complete

    def assert_undisturbed(self) -> None:
        """Every request was answered, and rightly."""
        assert ({(200, self.service)}, 0) == (set(self.complete), self.broken), self.complete


@contextlib.contextmanager
def polled(scene: Scene, *services: str) -> Iterator[dict[str, Answers]]:
    """Ask each service all the while, over a kept connection and over fresh ones."""
    # Not one tally for both clients of a service: they would write it at the same time.
    tallies = [(each, Answers(each), kept) for each in services for kept in (True, False)]
    clients = [threading.Thread(target=_client, args=(scene, tally), kwargs={"kept": kept}) for _, tally, kept in tallies]
    joined = {each: Answers(each) for each in services}
    for client in clients:
        client.start()
    try:
        yield joined
    finally:
        for _, tally, _ in tallies:
            tally.over.set()
        for client in clients:
            client.join(60)
        for service, tally, _ in tallies:
            into = joined[service]
            into.broken += tally.broken
            for key, count in tally.complete.items():
                into.complete[key] = into.complete.get(key, 0) + count


def _client(scene: Scene, tally: Answers, *, kept: bool) -> None:
    connection = scene.connection(tally.service)
    while not tally.over.wait(0.01):
        try:
            tally.count(*request(connection))
        except (OSError, http.client.HTTPException):
            tally.broken += 1
            connection.close()
        if not kept:
            connection.close()
    connection.close()
