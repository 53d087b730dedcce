"""Deploys: the loop of looks and steps for one service, done to its end whatever becomes of the one who asked for it."""

from collections.abc import Callable
from time import monotonic
from typing import Final
from uuid import uuid4

from attrs import evolve

from gordon_core.blueprint import Blueprint, Variable
from gordon_core.deploy_effects import Activate, DeployEffect, GiveUp
from gordon_core.deploy_planner import MOST_STEPS, DeployDecision, decide_deploy, took
from gordon_core.deployment import DEPLOY_DEADLINE_S, Deployment
from gordon_core.effects import Done, Outcome
from gordon_core.observation import Binds
from gordon_core.verdicts import Verdict, verdict
from gordon_shell.deeds import Deeds
from gordon_shell.deploy_executor import DEFAULT_LIMITS, DeployExecutor, Limits
from gordon_shell.deploy_observer import DeployObserver, Request
from gordon_shell.deploy_text import deed
from gordon_shell.detached import outlive
from gordon_shell.errors import BusyError, GordonError, RouterError
from gordon_shell.executor import Executor
from gordon_shell.observer import Policies
from gordon_shell.operations import LOCK_WAIT_S
from gordon_shell.ports import Lock, Ports
from gordon_shell.recollection import Recollection
from gordon_shell.redaction import redacted

_SPELL_S: Final = 0.2
"""How long a lock is waited for until somebody may want the deploy to end."""

Wanted = Blueprint | Callable[[], Blueprint]
"""What is wanted, or what says so once nobody else can change the app any more; it may raise GordonError."""

Listener = Callable[[DeployDecision, Outcome | None], None]
"""Told each decision before its step is taken (None), and again with what came of it; in the thread of the deploy."""


def _silent(_decision: DeployDecision, _outcome: Outcome | None) -> None:
    """Tell nobody."""


def routed(ports: Ports, app: str, service: str) -> Binds | None:
    """Return where a service is routed, None where that cannot be read."""
    try:
        return ports.router.read().by_service.get((app, service), ())
    except RouterError:
        return None


class Deployer:
    """Replaces services without downtime. Many threads may use one; deploys of one app are done one after the other.

    How each ended is taken down in `deeds`, if there are any.
    """

    def __init__(
        self,
        ports: Ports,
        policies: Policies,
        *,
        listener: Listener = _silent,
        limits: Limits = DEFAULT_LIMITS,
        deeds: Deeds | None = None,
    ) -> None:
        self._ports, self._policies, self._listener, self._limits = ports, policies, listener, limits
        self._deeds = deeds
        self._under_way: dict[str, _Deploy] = {}

    def look(self, app: str, service: str, wanted: Blueprint) -> Deployment:
        """Return what a deploy would begin with, to be forecast; only reads, and takes no lock.

        Raise StoreError, and UsageError where the label gordon.http of the container or its image is no HTTP check.
        """
        recollection = Recollection(self._ports.store)
        request = Request(app, service, wanted, _token())
        return DeployObserver(self._ports, self._policies, recollection, request, remember=False).look()

    def deploy(  # noqa: PLR0913 - what, and how
        self,
        app: str,
        service: str,
        wanted: Wanted,
        *,
        lock_wait_s: float = LOCK_WAIT_S,
        deadline_s: float = DEPLOY_DEADLINE_S,
        is_rollback: bool = False,
    ) -> Verdict:
        """Make the service what is wanted, and return how that ended; a failure is a verdict, and leaves what served serving.

        `is_rollback` is for the record alone: it is what it was before. `deadline_s` is for the time until ACTIVE is changed. The
        deploy is done in a thread of its own. Whatever ends this call early (KeyboardInterrupt, another exception raised in this
        thread, and in the main thread SIGINT and SIGTERM) cancels the deploy, and goes on when that has cleaned up. Raise
        BusyError (the app stays locked), StoreError, and UsageError where the label gordon.http says nothing: what serves was not
        touched then. Of an image that was not here that is known once it was fetched, and what interrupted deploys left was
        cleared by then.
        """
        this = _Deploy(self._ports, self._policies, (app, service, wanted), self._listener, self._limits, self._deeds)
        self._under_way[this.token] = this
        try:
            return outlive(
                lambda: this.run(lock_wait_s, deadline_s, is_rollback=is_rollback), this.cancel, f"deploy {app}/{service}"
            )
        finally:
            self._under_way.pop(this.token, None)

    def cancel(self, reason: str) -> None:
        """End the deploys under way, from any thread: soon, and cleaned up. One that was switched already is left to serve."""
        for each in tuple(self._under_way.values()):
            each.cancel(reason)


def _token() -> str:
    return uuid4().hex


class _Deploy:
    """One deploy."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a deployer has, and what is asked of it
        self,
        ports: Ports,
        policies: Policies,
        asked: tuple[str, str, Wanted],
        listener: Listener,
        limits: Limits,
        deeds: Deeds | None,
    ) -> None:
        self._ports, self._policies, self._listener, self._limits, self._deeds = ports, policies, listener, limits, deeds
        self._app, self._service, self._wanted = asked
        self.name, self.token = f"{self._app}/{self._service}", _token()
        self._cancelled = ""
        self._listener_fault: Exception | None = None
        self._recollection = Recollection(ports.store)
        self._executor = Executor(ports, self._recollection)

    def cancel(self, reason: str) -> None:
        self._cancelled = self._cancelled or reason or "cancelled"

    def run(self, lock_wait_s: float, deadline_s: float, *, is_rollback: bool) -> Verdict:
        with self._locked(lock_wait_s):
            wanted = self._wanted if isinstance(self._wanted, Blueprint) else self._wanted()
            request = Request(self._app, self._service, wanted, self.token)
            observer = DeployObserver(self._ports, self._policies, self._recollection, request)
            try:
                decision = self._follow(observer, self._executor_of(observer, request), observer.look(deadline_s))
            except GordonError as error:
                self._note(f"the deploy of image {wanted.image} broke off: {redacted(str(error), observer.secrets)}")
                raise
            finally:
                self._recollection.write_held((self._app,))
        said = _without_secrets(verdict(decision), observer.secrets)
        if self._deeds is not None:
            where = routed(self._ports, self._app, self._service)
            self._note(deed(wanted.image, said, where, is_rollback=is_rollback))
        if self._listener_fault is not None:
            raise self._listener_fault
        return said

    def _note(self, words: str) -> None:
        if self._deeds is not None and words:
            self._deeds.note(self._app, (self._service, words))

    def _executor_of(self, observer: DeployObserver, request: Request) -> DeployExecutor:
        return DeployExecutor(
            self._ports, self._executor, observer, request, cancelled=lambda: self._cancelled, limits=self._limits
        )

    def _locked(self, wait_s: float) -> Lock:
        """Wait for the lock of the app; not on, when the deploy is to end."""
        until_s = monotonic() + wait_s
        while True:
            try:
                return self._ports.locks.wait_app(self._app, max(0.0, min(_SPELL_S, until_s - monotonic())))
            except BusyError as error:
                if self._cancelled:
                    message = f"the deploy of {self.name} was cancelled ({self._cancelled}) while it waited: {error}"
                    raise BusyError(message) from error
                if monotonic() >= until_s:
                    raise

    def _follow(self, observer: DeployObserver, executor: DeployExecutor, deployment: Deployment) -> DeployDecision:
        """Take step after step until the law has no other."""
        deployment = evolve(deployment, cancelled=self._cancelled, watch_s=self._limits.watch_s)
        for _step in range(MOST_STEPS):
            decision = decide_deploy(deployment)
            if decision.is_over:
                return decision
            deployment = observer.look_again(self._take(executor, decision), self._cancelled)
        message = (
            f"the deploy of {self.name} came to no end in {MOST_STEPS} steps; run `gordon-shell once`, and report this as a fault"
        )
        raise GordonError(message)

    def _take(self, executor: DeployExecutor, decision: DeployDecision) -> Deployment:
        deployment, step = decision.deployment, decision.step
        if step is None:
            return deployment
        self._tell(decision, None)
        outcome = executor.execute(deployment, step)
        if isinstance(step, GiveUp):
            deployment = evolve(deployment, dossier=executor.dossier(deployment, step))
        if isinstance(step, Activate) and step.verified is not None and isinstance(outcome, Done):
            self._recollection.learn(step.app, step.service, step.declared.container_id, step.verified)
        if not isinstance(step, DeployEffect):
            self._executor.absorb(deployment.subject, step, outcome)
        self._tell(decision, outcome)
        return took(deployment, step, outcome)

    def _tell(self, decision: DeployDecision, outcome: Outcome | None) -> None:
        """Tell the listener. A fault of it (a closed pipe) ends the deploy as its caller would, and is raised after that."""
        if self._listener_fault is None:
            try:
                self._listener(decision, outcome)
            except Exception as fault:  # noqa: BLE001 - it is anybody's, and is raised again
                self._listener_fault = fault
                self.cancel(f"its listener failed: {type(fault).__name__}")


def _without_secrets(said: Verdict, secrets: tuple[Variable, ...]) -> Verdict:
    failure = said.failure
    return said if failure is None else evolve(said, failure=evolve(failure, reason=redacted(failure.reason, secrets)))
