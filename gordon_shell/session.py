"""One command's way to the world: opens the ports that its options name, and runs passes with them."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from math import inf
from time import monotonic
from typing import Protocol

from attrs import field, frozen

from gordon_core.effects import Effect, Outcome
from gordon_core.snapshot import Subject
from gordon_shell import cli_common, ending, loop
from gordon_shell.crew import Crew
from gordon_shell.deeds import Deeds, Operator, login
from gordon_shell.diary import FORMS, Diary, trace
from gordon_shell.errors import EX_FAILED, EX_OK, EX_SOFTWARE
from gordon_shell.host_settings import HostSettings, read_address
from gordon_shell.journal import Journal
from gordon_shell.observer import Policies
from gordon_shell.ports import Ports
from gordon_shell.progress import Progress
from gordon_shell.reconciler import Reconciler, Report
from gordon_shell.recorder import PATIENCE_S, recording
from gordon_shell.sd_notify import Systemd
from gordon_shell.telling import failures, faults, summary
from gordon_shell.wiring import LiveOptions, live_journal, live_policies, live_ports, live_settings
from gordon_shell.witness import Witness, Witnesses

Complain = Callable[[str], None]


class PortsOpener(Protocol):
    """Opens the six doors; see `wiring.live_ports`."""

    def __call__(self, options: LiveOptions, /, *, create: bool = False, read_only: bool = False) -> Ports:
        """Return the ports. Raise GordonError."""


class PoliciesReader(Protocol):
    """Reads the host policy; see `wiring.live_policies`."""

    def __call__(self, options: LiveOptions, /) -> Policies:
        """Return a reader of the policy. Raise GordonError."""


class JournalOpener(Protocol):
    """Opens the journal; see `wiring.live_journal`."""

    def __call__(self, options: LiveOptions, /) -> Journal | None:
        """Return the journal, None where none is kept. Raise GordonError."""


class SettingsReader(Protocol):
    """Reads how this program works on a host; see `wiring.live_settings`."""

    def __call__(self, options: LiveOptions, /) -> HostSettings:
        """Return the settings. Raise GordonError."""


class CrewMaker(Protocol):
    """Makes the crew of a reconciler."""

    def __call__(self) -> Crew | None:
        """Return a new crew; None: threads, as many as a reconciler thinks fit."""


def _threads() -> None:
    """Let the reconciler have its own."""


def _no_journal(_options: LiveOptions) -> None:
    """Keep none."""


def _no_settings(_options: LiveOptions) -> HostSettings:
    """Leave everything as it is by default."""
    return HostSettings()


_ONCE_S, _RUN_S, _LEAST_S = 10.0, 2.5, 0.2
"""How long the end of `once`, and of `run`, waits for notices under way, and how long it does in any case."""
_WITHIN_S = 5.0
"""How long after it was asked to end `run` still waits for them: it is to be over within ten seconds."""


def _is_watched() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


@frozen
class World:
    """How commands reach the world: the real one by default, another in tests and where this program is embedded.

    `is_watched`: somebody looks at standard error, a terminal. A world with other ports keeps no journal, and heeds no
    settings, unless it names them.
    """

    ports: PortsOpener = live_ports
    policies: PoliciesReader = live_policies
    crew: CrewMaker = _threads
    is_watched: bool = field(factory=_is_watched)
    journal: JournalOpener = field()
    settings: SettingsReader = field()

    @journal.default
    def _journal(self) -> JournalOpener:
        return live_journal if self.ports is live_ports else _no_journal

    @settings.default
    def _settings(self) -> SettingsReader:
        return live_settings if self.ports is live_ports else _no_settings


class Leaving:
    """How long farewells may take at the end of a program: no longer than is left since it was asked to end."""

    def __init__(self, longest_s: float) -> None:
        """Be in no hurry yet."""
        self._longest_s, self._asked_s = longest_s, inf

    def ask(self) -> None:
        """Take down that it was asked to end, if it was not asked before."""
        self._asked_s = min(self._asked_s, monotonic())

    @property
    def left_s(self) -> float:
        """Return what may still be waited for."""
        return max(_LEAST_S, min(self._longest_s, self._asked_s + _WITHIN_S - monotonic()))


@frozen
class Session:
    """The world of one command, and where in it its options lead."""

    options: LiveOptions
    world: World = field(factory=World)

    @contextmanager
    def ports(self, *, create: bool = False, read_only: bool = False) -> Iterator[Ports]:
        """Open the ports for a block. Raise GordonError."""
        ports = self.world.ports(self.options, create=create, read_only=read_only)
        try:
            yield ports
        finally:
            ports.store.close()

    def deeds(self, ports: Ports) -> Deeds:
        """Return what takes down in the journal what is done with these ports; it is opened when there is something."""
        return Deeds(self._journal, ports.clock.now, login(), cli_common.complain)

    def operator(self, ports: Ports) -> Operator:
        """Return what changes things with these ports, and takes that down."""
        return Operator(ports, self.deeds(ports))

    @contextmanager
    def _journal(self) -> Iterator[Journal | None]:
        journal = self.world.journal(self.options)
        try:
            yield journal
        finally:
            if journal is not None:
                journal.close()

    @contextmanager
    def witness(
        self, ports: Ports, *more: Witness, leaving: Leaving, complain: Complain = cli_common.complain
    ) -> Iterator[Witness]:
        """Have the passes of a block witnessed. Raise GordonError, before it begins, where the settings are impossible."""
        settings = self.world.settings(self.options).notices
        with ExitStack() as stack:
            journal = self.world.journal(self.options)
            if journal is not None:
                stack.callback(journal.close)
            found = [stack.enter_context(recording(journal, ports, complain, lambda: min(PATIENCE_S, leaving.left_s)))]
            if settings.are_on:
                from gordon_shell.teller import Teller  # noqa: PLC0415 - only where somebody is told

                teller = Teller(settings, journal, complain, ports.locks.try_tell)
                stack.callback(lambda: teller.end(leaving.left_s))
                found.append(teller)
            yield Witnesses(*found, *more)

    @contextmanager
    def _metrics(self, listen: str | None, ports: Ports, complain: Complain) -> Iterator[tuple[Witness, ...]]:
        """Show metrics where the option, or else the settings, say so. Raise UsageError."""
        address = self.world.settings(self.options).metrics.listen if listen is None else read_address(listen, "--metrics ")
        if address is None:
            yield ()
            return
        from gordon_shell.metrics import Metrics, MetricsServer  # noqa: PLC0415 - only where they are on

        metrics = Metrics(ports.clock)
        server = MetricsServer(metrics, address, complain)
        try:
            yield metrics, server
        finally:
            server.close()

    def once(self, app: str = "") -> int:
        """Run one pass over the host and tell what did not go well (of one app, if given); return the exit code."""
        begun_s = monotonic()
        progress, leaving = Progress(cli_common.complain), Leaving(_ONCE_S)
        with self.ports() as ports, self.witness(ports, leaving=leaving) as witness:
            reconciler = Reconciler(
                ports,
                self.world.policies(self.options),
                crew=self.world.crew(),
                listener=progress.step if self.world.is_watched else _tell_nobody,
                witness=witness,
            )
            watch = progress.watch(lambda: reconciler.under_way) if self.world.is_watched else nullcontext()

            def stop() -> None:
                leaving.ask()
                reconciler.stop()

            with ending.ended_by_signals(stop, cli_common.EX_INTERRUPTED) as asked, watch:
                report = reconciler.run_pass()
        if asked.is_set():
            cli_common.complain("interrupted: this pass is not complete; the next one reads what became of it")
            return cli_common.EX_INTERRUPTED
        return _told(report, monotonic() - begun_s, app)

    def run(self, cadence_s: float, *, rearm: bool, metrics: str | None = None, form: str = "text") -> int:
        """Run passes until a signal ends this, and print what changes; `form` is text or json, `metrics` where to show them.

        Raise GordonError: BusyError where one runs already.
        """
        leaving, parting = Leaving(_RUN_S), list[Callable[[], None]]()

        def stop() -> None:
            leaving.ask()
            for each in tuple(parting):
                each()

        # Around all else: whatever the end waits for, notices, the journal, the state, it is over in time.
        with ending.ended_by_signals(stop, EX_OK) as asked, self.ports() as ports:
            diary = Diary(ports.clock, FORMS[form])
            systemd = Systemd(self.options.environment, diary.complain)
            systemd.check(cadence_s)
            with (
                self._metrics(metrics, ports, diary.complain) as shown,
                self.witness(ports, *shown, systemd, leaving=leaving, complain=diary.complain) as witness,
            ):
                policies, crew = self.world.policies(self.options), self.world.crew()
                reconciler = Reconciler(ports, policies, crew=crew, rearm=rearm, listener=diary.step, witness=witness)
                parting += [systemd.stopping, reconciler.stop]
                if asked.is_set():  # before there was one to stop
                    reconciler.stop()
                loop.run(ports, reconciler, diary.tell, diary.complain, cadence_s=cadence_s)
        return EX_OK


def _tell_nobody(_subject: Subject, _effect: Effect, _outcome: Outcome) -> None:
    """Say nothing."""


def _told(report: Report, took_s: float, app: str) -> int:
    failed = failures(report, app)
    cli_common.write("".join(f"{cli_common.printable(each)}\n" for each in (*failed, summary(report, took_s, app))))
    trace(report, cli_common.complain)
    for each in faults(report):
        cli_common.complain(each)
    if report.faults:
        return EX_SOFTWARE
    return EX_FAILED if failed else EX_OK
