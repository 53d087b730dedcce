"""The library's front door: one host, with everything that a deploy tool does with it. Each method is thin over its module.

Threads may share a Host. Its methods raise GordonError and nothing else: UsageError, BusyError (an app stays locked), StoreError,
EngineError, RouterError, DocumentError (the host policy). A deploy that fails is no error, but a Verdict.
"""

from collections.abc import Callable
from contextlib import nullcontext
from threading import Event
from types import TracebackType
from typing import Self

from attrs import field, frozen

from gordon_core.blueprint import Blueprint, Variable
from gordon_core.deploy_forecast import forecast_deploy
from gordon_core.deploy_planner import DeployDecision
from gordon_core.deployment import DEPLOY_DEADLINE_S
from gordon_core.effects import Outcome
from gordon_core.grants import Overrides
from gordon_core.memory import Memory
from gordon_core.planner import Plan, plan
from gordon_core.snapshot import Declared, Intent, Snapshot
from gordon_core.verdicts import Verdict
from gordon_shell import lineage, operations
from gordon_shell.adoption import Adoption
from gordon_shell.crew import Crew
from gordon_shell.deeds import Deeds, Operator, login
from gordon_shell.deployer import Deployer, Listener, Wanted
from gordon_shell.errors import BusyError
from gordon_shell.holds import held_for
from gordon_shell.journal import Journal
from gordon_shell.observer import Observer, Policies
from gordon_shell.operations import LOCK_WAIT_S, Forgotten
from gordon_shell.ports import Marker, Ports, Stored
from gordon_shell.recollection import Recollection
from gordon_shell.reconciler import Reconciler, Report
from gordon_shell.recorder import recording
from gordon_shell.recovery import Recovery
from gordon_shell.wiring import LiveOptions, live_journal, live_policies, live_ports
from gordon_shell.wishes import Wish
from gordon_shell.witness import SILENT, Witness, Witnesses

ABANDONED = "its caller was cancelled"
_SPELL_S = 0.1


def _no_policy() -> None:
    """Grant everything, and change no constant."""


def _unheard(_complaint: str) -> None:
    """Tell nobody."""


def _untold(_report: Report) -> None:
    """Tell nobody."""


def _silent(_decision: DeployDecision, _outcome: Outcome | None) -> None:
    """Tell nobody."""


@frozen(eq=False)
class Host:
    """One host: its six ports, and its policy. `Host.open` gives the real one, `Host(memory_ports())` one in memory.

    `crew` None: a pass works on services side by side, in threads. `journal` None: what passes decide, and what is done with this
    host by `who`, is not recorded; what goes wrong with it ends nothing, and is told to `complain`. `witness` hears of every pass
    as well: `Notices(print)`, say.
    """

    ports: Ports
    policies: Policies = field(default=_no_policy)
    crew: Crew | None = None
    journal: Journal | None = None
    complain: Callable[[str], None] = _unheard
    witness: Witness = SILENT
    who: str = field(factory=login)

    @classmethod
    def open(cls, options: LiveOptions | None = None, *, create: bool = True) -> Self:
        """Open the real host, with an empty state where there is none and `create`; to be used as a context, or closed."""
        where = options if options is not None else LiveOptions()
        policies = live_policies(where)
        journal = live_journal(where)
        return cls(live_ports(where, create=create), policies, journal=journal)

    def __enter__(self) -> Self:
        """Use it for a block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Let go of the state and of every connection; no other call may follow."""
        for each in (self.ports.engine, self.ports.prober, self.ports.clock, self.ports.store, self.journal):
            getattr(each, "close", _no_policy)()

    # --- looking -----------------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Look at every service, and change nothing."""
        return Observer(self.ports, self.policies, Recollection(self.ports.store), remember=False).look()

    def plan(self) -> Plan:
        """Return what recovery would do now for every service, and why; nothing is done."""
        return plan(self.snapshot())

    def services(self) -> tuple[Stored, ...]:
        """Return what the state holds of every service, sorted by app and service."""
        return self.ports.store.read()

    def is_inhibited(self, app: str, service: str) -> bool:
        """Tell whether the container of a service must never be started."""
        return bool(operations.service_of(self.ports, app, service).inhibited)

    # --- deploys -----------------------------------------------------------------------------------------------------------

    def present(self, app: str, service: str) -> Blueprint | None:
        """Return what a service is made of now, to be evolved into what is wanted; None where there is no such service.

        It holds the values of its environment: do not print them.
        """
        return lineage.present(self.ports, app, service)

    def previous(
        self, app: str, service: str, revision: int | None = None, *, environment: tuple[Variable, ...] = ()
    ) -> Blueprint:
        """Return what a service was made of before (or at a revision), with the values that its variables have now.

        `environment` gives those that the present container has not. Raise NoWayBackError, UsageError.
        """
        return lineage.previous(self.ports, app, service, revision, environment)

    def plan_deploy(self, app: str, service: str, wanted: Blueprint) -> tuple[DeployDecision, ...]:
        """Return every decision of a deploy if all goes well, the present one first; nothing is done."""
        return forecast_deploy(Deployer(self.ports, self.policies).look(app, service, wanted))

    def deployer(self, listener: Listener = _silent) -> Deployer:
        """Return what deploys and can be told to end it, from any thread: `deploy` as here, and `cancel(reason)`."""
        deeds = self._deeds() if self.journal is not None else None
        return Deployer(self.ports, self.policies, listener=listener, deeds=deeds)

    def deploy(  # noqa: PLR0913 - what, and how
        self,
        app: str,
        service: str,
        wanted: Wanted,
        *,
        listener: Listener = _silent,
        lock_wait_s: float = LOCK_WAIT_S,
        deadline_s: float = DEPLOY_DEADLINE_S,
    ) -> Verdict:
        """Make a service what is wanted, without downtime where that can be, and return how it ended.

        `wanted` may be a function, which is asked once nobody else can change the app. `listener` is told each decision before
        its step is taken (None), and again with what came of it. Whatever ends this call early, SIGINT and SIGTERM included,
        cancels the deploy, and goes on when that has cleaned up.
        """
        return self.deployer(listener).deploy(app, service, wanted, lock_wait_s=lock_wait_s, deadline_s=deadline_s)

    async def deploy_async(  # noqa: PLR0913 - likewise
        self,
        app: str,
        service: str,
        wanted: Wanted,
        *,
        listener: Listener = _silent,
        lock_wait_s: float = LOCK_WAIT_S,
        deadline_s: float = DEPLOY_DEADLINE_S,
    ) -> Verdict:
        """Do as `deploy`, in a thread; a task that awaits this and is cancelled ends when the deploy has cleaned up."""
        import asyncio  # noqa: PLC0415 - for those who have a loop already

        deployer, abandoned = self.deployer(listener), Event()

        def deploy() -> Verdict:
            if abandoned.is_set():
                raise BusyError(ABANDONED)
            return deployer.deploy(app, service, wanted, lock_wait_s=lock_wait_s, deadline_s=deadline_s)

        work = asyncio.create_task(asyncio.to_thread(deploy))
        hit: asyncio.CancelledError | None = None
        while not work.done():
            try:
                await asyncio.wait([work], timeout=None if hit is None else _SPELL_S)
            except asyncio.CancelledError as error:
                hit = hit or error
            if hit is not None:
                # Again and again: it may have looked at the event, and not begun yet.
                abandoned.set()
                deployer.cancel(ABANDONED)
        if hit is None:
            return work.result()
        # What came of it is nobody's any more; a failure is looked at, so that the loop does not complain of it.
        work.exception()
        raise hit

    def rollback(
        self,
        app: str,
        service: str,
        revision: int | None = None,
        *,
        environment: tuple[Variable, ...] = (),
        listener: Listener = _silent,
    ) -> Verdict:
        """Deploy what `previous` returns."""

        def wanted() -> Blueprint:
            return self.previous(app, service, revision, environment=environment)

        return self.deployer(listener).deploy(app, service, wanted, is_rollback=True)

    # --- recovery, and the operator's wishes -----------------------------------------------------------------------------------

    def recover(self) -> Report:
        """Run one pass over the host, and wait for all that it does: `held`, `trouble` and `faults` say what is not well."""
        with recording(self.journal, self.ports, self.complain) as recorder:
            witness = Witnesses(recorder, self.witness)
            return Reconciler(self.ports, self.policies, crew=self.crew, witness=witness).run_pass()

    def recovery(self, tell: Callable[[Report], None] = _untold) -> Recovery:
        """Return what recovers until it is told to stop, from any thread: `run` as `gordon-shell run` does, and `stop`.

        `tell` hears of each pass, and of each targeted one (`is_whole` is False) that came to something.
        """
        return Recovery(self.ports, self.policies, self.crew, self.journal, self.witness, tell, self.complain)

    def _deeds(self) -> Deeds:
        return Deeds(lambda: nullcontext(self.journal), self.ports.clock.now, self.who, self.complain)

    def _operator(self) -> Operator:
        return Operator(self.ports, self._deeds())

    def adopt(self, app: str, *wishes: Wish, keep_old: bool = False) -> tuple[Adoption, ...]:
        """Put containers that exist under care."""
        return self._operator().adopt(app, wishes, keep_old=keep_old)

    def stop(self, app: str) -> None:
        """Have an app withdrawn and stopped, by the next pass."""
        self._operator().set_intent(app, Intent.STOPPED)

    def start(self, app: str) -> None:
        """Have an app run again, by the next pass."""
        self._operator().set_intent(app, Intent.RUNNING)

    def inhibit(self, app: str, service: str, reason: str = "") -> Declared:
        """Never start the present container of a service again; the next pass withdraws it."""
        return self._operator().inhibit(app, service, reason)

    def allow(self, app: str, service: str) -> None:
        """End an inhibition."""
        self._operator().allow(app, service)

    def retry(self, app: str, service: str = "") -> tuple[tuple[Stored, Memory], ...]:
        """Forget what failed of a service, or of all services of an app, and return that."""
        return self._operator().retry(app, service)

    def hold(self, app: str, service: str = "", *, seconds: float, who: str, reason: str) -> None:
        """Have a service, or all services of an app, left as they are for so long: none is started, stopped or retired."""
        self._operator().hold(app, service, held_for(self.ports.clock.now(), seconds, who, reason))

    def release(self, app: str, service: str = "") -> None:
        """End a hold."""
        self._operator().release(app, service)

    def tune(self, app: str, service: str, tuning: Overrides) -> None:
        """Set constants of recovery for a service, in place of all that were set so before; they outweigh the host policy."""
        self._operator().tune(app, service, lambda _before: tuning)

    def retire(self, app: str, service: str, container: str, grace_s: float | None = None) -> Marker:
        """Have a container stopped and removed once the present one of the service was seen to serve."""
        return self._operator().retire(app, service, container, grace_s)

    def forget(self, app: str, service: str = "") -> tuple[Forgotten, ...]:
        """Withdraw a service, or all of an app, prove that, and forget it; its containers are left alone."""
        return self._operator().forget(app, service)
