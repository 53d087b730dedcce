"""One step of a deploy, one port call or one wait. What came of it goes back to the core as an outcome, with no secret in it."""

from collections.abc import Callable
from math import inf
from time import monotonic
from typing import assert_never

from attrs import evolve, frozen

from gordon_core import deploy_evidence as own
from gordon_core.blueprint import Image
from gordon_core.deploy_effects import (
    Activate,
    AwaitRunning,
    Create,
    Delay,
    DeployEffect,
    DeployStep,
    GiveUp,
    Journal,
    Pull,
    Rename,
    StartCandidate,
    Unroute,
    Watch,
)
from gordon_core.deployment import WATCH_S, Deployment, Dossier
from gordon_core.effects import DONE, AwaitHealth, Effect, Fault, Outcome, Probe, Refused, RemoveCandidate, StopCandidate, Unknown
from gordon_core.policy import CLEANUP_DEADLINE_S
from gordon_shell.deploy_observer import DeployObserver, Request
from gordon_shell.detached import left_after
from gordon_shell.errors import EngineError, StoreError
from gordon_shell.executor import Executor
from gordon_shell.ports import DEPLOY_LABEL, HTTP_LABEL, OWNER_LABELS, REVISION_LABEL, Deployed, Journalled, Marker, Ports
from gordon_shell.redaction import hidden, redacted
from gordon_shell.vigil import Vigil

LINES = 20
"""How many lines of a failed candidate's output are kept."""


@frozen
class Limits:
    """How long, in seconds, a clean-up may take as a whole, what of that is kept for its removal, and what a dossier may take.

    `watch_s`: for how long it is watched after it was published, before the old container goes.
    """

    cleanup_s: float = CLEANUP_DEADLINE_S
    removal_s: float = 8.0
    dossier_s: float = 5.0
    watch_s: float = WATCH_S


DEFAULT_LIMITS = Limits()


class DeployExecutor:
    """Carries out the steps of one deploy. `cancelled` tells who wants it to end, "" for nobody."""

    def __init__(  # noqa: PLR0913 - what one deploy is made of, by name
        self,
        ports: Ports,
        executor: Executor,
        observer: DeployObserver,
        request: Request,
        *,
        cancelled: Callable[[], str],
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._ports, self._executor, self._observer, self._request = ports, executor, observer, request
        self._cancelled, self._limits = cancelled, limits
        self._vigil = Vigil(ports.engine, ports.clock, cancelled)
        self._cleanup_ends_s: dict[str, float] = {}

    def execute(self, deployment: Deployment, step: DeployStep) -> Outcome:
        """Carry out one step."""
        outcome = self._do(deployment, step) if isinstance(step, DeployEffect) else self._recover(deployment, step)
        return hidden(outcome, self._observer.secrets)

    def dossier(self, deployment: Deployment, step: GiveUp) -> Dossier:
        """Return what the candidate can still tell, as far as it does within the limit."""
        if not step.container_id:
            return Dossier()
        lines = left_after(lambda: self._lines(step.container_id), self._limits.dossier_s)
        return Dossier(deployment.own, lines or ())

    def _lines(self, container_id: str) -> tuple[str, ...]:
        try:
            lines = self._ports.engine.logs(container_id, LINES)
        except EngineError:
            return ()  # that it cannot be read is no failure of the deploy
        return tuple(redacted(each, self._observer.secrets) for each in lines)

    # --- what recovery does as well ------------------------------------------------------------------------------------------

    def _recover(self, deployment: Deployment, step: Effect) -> Outcome:
        def call() -> Outcome:
            return self._executor.execute(deployment.subject, step)

        if own.has_given_up(deployment):
            return self._clean_up(step, call) if isinstance(step, StopCandidate | RemoveCandidate) else call()
        is_a_wait = isinstance(step, Probe | AwaitHealth) and not own.is_activated(deployment)
        return self._unless_over(deployment, call) if is_a_wait else call()

    def _clean_up(self, step: StopCandidate | RemoveCandidate, call: Callable[[], Outcome]) -> Outcome:
        """Carry out one half of a clean-up; what does not come back in its time is left, so that the other half gets its own."""
        limits = self._limits
        ends_s = self._cleanup_ends_s.setdefault(step.container_id, monotonic() + limits.cleanup_s)
        left_s = ends_s - monotonic()
        mine_s = left_s - limits.removal_s if isinstance(step, StopCandidate) else max(left_s, limits.removal_s)
        return left_after(call, mine_s) or Unknown(f"it did not come back within {mine_s:.0f} s")

    def _unless_over(self, deployment: Deployment, call: Callable[[], Outcome]) -> Outcome:
        """Make a call that may take long, and leave it as soon as the deploy is to end."""

        def is_over() -> bool:
            return bool(self._cancelled()) or self._ports.clock.now().boot_s - deployment.began_s > deployment.deadline_s

        outcome = None if is_over() else left_after(call, inf, is_over)
        return outcome or Unknown(self._cancelled() or "the time of the deploy is over")

    # --- what only deploys do ------------------------------------------------------------------------------------------------

    def _do(self, deployment: Deployment, step: DeployEffect) -> Outcome:  # noqa: C901, PLR0911 - an arm for each
        engine, store, (app, service) = self._ports.engine, self._ports.store, (self._request.app, self._request.service)
        match step:
            case Pull(image, after_s):
                self._vigil.pause(after_s)
                return self._unless_over(deployment, lambda: engine.pull(image))
            case Create(name, revision):
                return engine.create(name, deployment.wanted, self._labels(deployment, revision))
            case Journal(container_id, name):
                wanted = deployment.wanted
                entry = Journalled(container_id, name, wanted.stop_grace_s, exclusive=not wanted.overlaps)
                return store.journal(app, service, entry)
            case StartCandidate(container_id):
                return engine.start(container_id)
            case Unroute(other_app, other_service):
                return self._ports.router.withdraw(other_app, other_service)
            case AwaitRunning(container_id, wait_s):
                return self._vigil.until_it_runs(container_id, wait_s)
            case Delay(generation, started_at, wait_s) | Watch(generation, started_at, wait_s):
                return self._vigil.runs_on(generation.container_id, started_at, wait_s)
            case Activate():
                return self._activate(deployment, step)
            case Rename(container_id, name):
                return engine.rename(container_id, name)
            case GiveUp():
                return DONE
            case _ as never:
                assert_never(never)

    def _labels(self, deployment: Deployment, revision: int) -> dict[str, str]:
        request, http = self._request, deployment.wanted.readiness.http
        labels = dict(zip(OWNER_LABELS, (request.app, request.service), strict=True))
        labels |= {REVISION_LABEL: str(revision), DEPLOY_LABEL: request.token}
        return labels if http is None else labels | {HTTP_LABEL: f"{http.port}{http.path}"}

    def _activate(self, deployment: Deployment, step: Activate) -> Outcome:
        store, old = self._ports.store, step.superseded
        marker = Marker(old.container_id, old.stop_grace_s, old.binds, old.verified) if old is not None else None
        expected = step.former.revision if step.former is not None else 0
        try:
            deployed = self._records(deployment, step)
        except StoreError as error:
            return Refused(str(error), Fault.STORE)
        return store.activate(step.app, step.service, step.declared, expected, marker, deployed, verified=step.verified)

    def _records(self, deployment: Deployment, step: Activate) -> tuple[Deployed, ...]:
        """Return what the revision to be named is made of, and, if that is not on record, what the former one was."""
        known, declared, former = self._ports.store.deployed(step.app, step.service), step.declared, step.former
        if declared.container_id != deployment.own_id:
            again = (each for each in known if each.container_id == declared.container_id)
            return tuple(evolve(each, revision=declared.revision) for each in again)[:1]
        image_id = deployment.image.image_id if isinstance(deployment.image, Image) else ""
        new = Deployed(declared.revision, declared.container_id, image_id, deployment.wanted)
        made = self._observer.present
        if former is None or made is None or any(each.revision == former.revision for each in known):
            return (new,)
        return (Deployed(former.revision, former.container_id, made.image_id, made.blueprint), new)
