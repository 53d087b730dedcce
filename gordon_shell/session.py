"""One command's way to the world: opens the ports that its options name, and runs passes with them."""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from time import monotonic
from typing import Protocol

from attrs import field, frozen

from gordon_core.effects import Done, Effect, Outcome
from gordon_core.sentences import wall_time
from gordon_core.snapshot import Subject
from gordon_shell import cli_common, ending, loop
from gordon_shell.crew import Crew, ThreadCrew
from gordon_shell.errors import EX_FAILED, EX_OK, EX_SOFTWARE, GordonError
from gordon_shell.observer import Policies
from gordon_shell.ports import Ports, TimeSource
from gordon_shell.progress import Progress
from gordon_shell.reconciler import CONCURRENCY, Reconciler, Report
from gordon_shell.telling import Changes, failures, faults, step, summary, touches
from gordon_shell.wiring import LiveOptions, live_policies, live_ports


class PortsOpener(Protocol):
    """Opens the six doors; see `wiring.live_ports`."""

    def __call__(self, options: LiveOptions, /, *, create: bool = False, read_only: bool = False) -> Ports:
        """Return the ports. Raise GordonError."""


class PoliciesReader(Protocol):
    """Reads the host policy; see `wiring.live_policies`."""

    def __call__(self, options: LiveOptions, /) -> Policies:
        """Return a reader of the policy. Raise GordonError."""


class CrewMaker(Protocol):
    """Makes the crew of a reconciler."""

    def __call__(self) -> Crew:
        """Return a new crew."""


def _threads() -> Crew:
    return ThreadCrew(CONCURRENCY)


def _is_watched() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


@frozen
class World:
    """How commands reach the world: the real one by default, another in tests and where this program is embedded.

    `is_watched`: somebody looks at standard error, a terminal.
    """

    ports: PortsOpener = live_ports
    policies: PoliciesReader = live_policies
    crew: CrewMaker = _threads
    is_watched: bool = field(factory=_is_watched)


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

    def once(self, app: str = "") -> int:
        """Run one pass over the host and tell what did not go well (of one app, if given); return the exit code."""
        begun_s = monotonic()
        progress = Progress(cli_common.complain)
        with self.ports() as ports:
            reconciler = Reconciler(
                ports,
                self.world.policies(self.options),
                crew=self.world.crew(),
                listener=progress.step if self.world.is_watched else _tell_nobody,
            )
            watch = progress.watch(lambda: reconciler.under_way) if self.world.is_watched else nullcontext()
            with ending.ended_by_signals(reconciler.stop, cli_common.EX_INTERRUPTED) as asked, watch:
                report = reconciler.run_pass()
        if asked.is_set():
            cli_common.complain("interrupted: this pass is not complete; the next one reads what became of it")
            return cli_common.EX_INTERRUPTED
        return _told(report, monotonic() - begun_s, app)

    def run(self, cadence_s: float, *, rearm: bool) -> int:
        """Run passes until a signal ends this, and print what changes. Raise GordonError: BusyError where one runs already."""
        ports = self.world.ports(self.options)
        diary = _Diary(ports.clock)
        reconciler = Reconciler(
            ports, self.world.policies(self.options), crew=self.world.crew(), rearm=rearm, listener=diary.step
        )
        with ending.ended_by_signals(reconciler.stop, EX_OK):
            try:
                loop.run(ports, reconciler, diary.tell, cli_common.complain, cadence_s=cadence_s)
            finally:
                ports.store.close()
        return EX_OK


class _Diary:
    """What `run` prints: steps that touch the world as they are taken, and what is otherwise after a pass."""

    def __init__(self, clock: TimeSource) -> None:
        self._clock = clock
        self._changes = Changes()

    def step(self, subject: Subject, effect: Effect, outcome: Outcome) -> None:
        if touches(effect) or not isinstance(outcome, Done):
            self._print(step(subject, effect, outcome))

    def tell(self, report: Report) -> None:
        _trace(report)
        for each in self._changes.lines(report):
            self._print(each)

    def _print(self, line: str) -> None:
        """Print a line with its time. An output that cannot be written ends no recovery."""
        now = self._clock.now()
        try:
            cli_common.write(f"{wall_time(now, now.boot_s)} {cli_common.printable(line)}\n")
        except GordonError as error:
            cli_common.complain(str(error))


def _tell_nobody(_subject: Subject, _effect: Effect, _outcome: Outcome) -> None:
    """Say nothing."""


def _told(report: Report, took_s: float, app: str) -> int:
    failed = failures(report, app)
    cli_common.write("".join(f"{cli_common.printable(each)}\n" for each in (*failed, summary(report, took_s, app))))
    _trace(report)
    for each in faults(report):
        cli_common.complain(each)
    if report.faults:
        return EX_SOFTWARE
    return EX_FAILED if failed else EX_OK


def _trace(report: Report) -> None:
    """Print where a fault of ours came from, where that is asked for."""
    if os.environ.get("GORDON_DEBUG") == "1":
        for each in report.faults:
            cli_common.complain("".join(traceback.format_exception(each)).rstrip())
