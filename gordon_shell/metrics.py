"""What Prometheus may ask of `run`: where every service is, what passes do, and how old the last complete one is.

Labels are names of adopted services, of situations, of kinds of effects and of outcomes: what the world says is in none of them.
This room is imported only where metrics are on.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from socket import AF_INET6, socket
from socketserver import ThreadingMixIn
from threading import BoundedSemaphore, Lock, Thread
from typing import Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, Histogram, ProcessCollector, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from gordon_core import evidence, facts
from gordon_core.effects import Outcome
from gordon_core.planner import Decision, Plan
from gordon_core.snapshot import Snapshot, Subject
from gordon_shell.counts_text import Mark, mark
from gordon_shell.host_settings import Address
from gordon_shell.ports import TimeSource
from gordon_shell.report import Report
from gordon_shell.witness import Silent

MOST_AT_ONCE: Final = 8
"""How many requests are answered at once."""
MOST_SERVICES: Final = 1000
"""Of how many services each one is shown by itself; the counts are of all."""
_STATES: Final = {Mark.WELL: "well", Mark.WAITS: "waiting", Mark.ACTS: "acting", Mark.HELD: "held"}
_BUCKETS_S: Final = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
_WORD = re.compile(r"(?<!^)(?=[A-Z])")


class Metrics(Silent):
    """Counts what it witnesses, and shows it to whoever asks, which no pass waits for."""

    def __init__(self, clock: TimeSource) -> None:
        """Begin with nothing seen."""
        self._clock = clock
        self._gate = Lock()
        self._begun_s = clock.now().boot_s
        self._complete_s: float | None = None
        self._complete_wall_s = 0.0
        self._plan: Plan | None = None
        self._passes: Counter[str] = Counter()
        self._effects: Counter[tuple[str, str]] = Counter()
        self.registry = CollectorRegistry()
        self._took = Histogram(
            "gordon_pass_duration_seconds",
            "How long passes over everything took.",
            buckets=_BUCKETS_S,
            registry=self.registry,
        )
        ProcessCollector(registry=self.registry)
        self.registry.register(self)

    def stepped(self, decided: Snapshot, decision: Decision, outcome: Outcome, after: Subject) -> None:
        """Count an effect; see Witness."""
        del decided, after
        if decision.effect is not None:
            with self._gate:
                self._effects[_snake(decision.effect), _snake(outcome)] += 1

    def ended(self, report: Report) -> None:
        """Take down how a pass left everything; see Witness."""
        now = self._clock.now()
        with self._gate:
            self._plan = report.plan
            self._passes["whole" if report.is_whole else "targeted"] += 1
            if report.is_whole:
                self._complete_s, self._complete_wall_s = now.boot_s, now.wall_s
        if report.is_whole:
            self._took.observe(report.took_s)

    def collect(self) -> Iterator[Metric]:
        """Yield what is known now; the registry asks."""
        now_s = self._clock.now().boot_s
        with self._gate:
            plan, passes, effects = self._plan, dict(self._passes), dict(self._effects)
            complete_s, complete_wall_s = self._complete_s, self._complete_wall_s
        age_s = now_s - (complete_s if complete_s is not None else self._begun_s)
        yield _gauge("last_complete_pass_age_seconds", "Seconds since the last complete pass, or the start.", age_s)
        if complete_s is not None:
            yield _gauge("last_complete_pass_timestamp_seconds", "When the last pass was complete.", complete_wall_s)
        yield _counter("passes", "Passes that are over.", ("kind",), {(kind,): count for kind, count in passes.items()})
        yield _counter("effects", "Effects that were carried out, by what came of them.", ("effect", "outcome"), effects)
        yield from _of_services(plan.services if plan is not None else (), now_s)


def _of_services(decisions: tuple[Decision, ...], now_s: float) -> Iterator[Metric]:
    situations = Counter(each.situation for each in decisions)
    yield _gauges(
        "services", "Services in each situation.", ("situation",), [((each.name,), situations[each]) for each in situations]
    )
    shown = decisions[:MOST_SERVICES]
    yield _gauge("services_not_shown", "Services of which only the counts are shown.", len(decisions) - len(shown))
    names = ("app", "service")
    states = [
        ((each.subject.app, each.subject.service, state), float(mark(each) is found))
        for each in shown
        for found, state in _STATES.items()
    ]
    yield _gauges("service_state", "1 for the state that a service is in.", (*names, "state"), states)
    per_service: tuple[tuple[str, str, Callable[[Subject], float]], ...] = (
        ("service_serving", "Whether a service runs, verified, and routed unless unpublished.", _serves),
        ("service_failures", "Failures on record, which five stable minutes drop.", _failures),
        ("service_next_try_seconds", "Seconds until its budget allows the next start, 0 where it does.", _waits(now_s)),
    )
    for name, words, value in per_service:
        rows = [((each.subject.app, each.subject.service), value(each.subject)) for each in shown]
        yield _gauges(name, words, names, rows)


def _serves(subject: Subject) -> float:
    return float(facts.serves(subject))


def _failures(subject: Subject) -> float:
    return subject.memory.failures


def _waits(now_s: float) -> Callable[[Subject], float]:
    return lambda subject: max(0.0, evidence.retry_at_s(subject) - now_s)


def _gauge(name: str, words: str, value: float) -> Metric:
    return GaugeMetricFamily(f"gordon_{name}", words, value=value)


def _gauges(name: str, words: str, labels: tuple[str, ...], rows: Iterable[tuple[tuple[str, ...], float]]) -> Metric:
    family = GaugeMetricFamily(f"gordon_{name}", words, labels=labels)
    for values, value in rows:
        family.add_metric(values, value)
    return family


def _counter(
    name: str, words: str, labels: tuple[str, ...], rows: Mapping[tuple[str, str], int] | Mapping[tuple[str], int]
) -> Metric:
    family = CounterMetricFamily(f"gordon_{name}", words, labels=labels)
    for values, value in rows.items():
        family.add_metric(values, value)
    return family


def _snake(value: object) -> str:
    return _WORD.sub("_", type(value).__name__).lower()


class _Request(WSGIRequestHandler):
    """One request, which is not logged. Who says nothing for so long is hung up on."""

    timeout = 5.0

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as http.server calls it
        """Say nothing."""


class _Server(ThreadingMixIn, WSGIServer):
    """Answers so many at once, each in a thread; whoever comes on top of that is hung up on."""

    daemon_threads = True
    request_queue_size = 2 * MOST_AT_ONCE

    def server_bind(self) -> None:
        self._places = BoundedSemaphore(MOST_AT_ONCE)
        super().server_bind()

    def process_request(self, request: socket, client_address: object) -> None:  # type: ignore[override]
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: socket, client_address: object) -> None:  # type: ignore[override]
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that went away is no trouble of this program."""


class _Server6(_Server):
    address_family = AF_INET6


class MetricsServer(Silent):
    """Shows metrics at an address. Where that cannot be had it says so once, and tries again after every pass."""

    def __init__(self, metrics: Metrics, address: Address, complain: Callable[[str], None]) -> None:
        """Listen there."""
        self._metrics, self._address, self._complain = metrics, address, complain
        self._running: tuple[WSGIServer, Thread] | None = None
        self._complaint = ""
        self._listen()

    def ended(self, report: Report) -> None:
        """Try again where it was in vain."""
        if report.is_whole and self._running is None:
            self._listen()

    def close(self) -> None:
        """Listen no more."""
        if self._running is not None:
            server, thread = self._running
            server.shutdown()
            server.server_close()
            thread.join()

    def _listen(self) -> None:
        try:
            server = make_server(
                self._address.host,
                self._address.port,
                make_wsgi_app(self._metrics.registry),
                _Server6 if ":" in self._address.host else _Server,
                _Request,
            )
        except OSError as error:
            complaint = f"metrics cannot be shown at {self._address} ({error.strerror or error}); recovery goes on"
            if complaint != self._complaint:
                self._complaint = complaint
                self._complain(complaint)
            return
        thread = Thread(target=server.serve_forever, name="metrics", daemon=True)
        thread.start()
        self._running = server, thread
