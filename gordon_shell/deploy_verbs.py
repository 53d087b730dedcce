"""What `gordon-shell deploy` and `gordon-shell rollback` do, and what they say; each returns its exit code."""

import os
from contextlib import nullcontext
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from attrs import frozen

from gordon_core.blueprint import Blueprint, Variable
from gordon_core.deploy_effects import Why
from gordon_core.deploy_forecast import forecast_deploy
from gordon_core.deploy_planner import DeployDecision
from gordon_core.deploy_sentences import step_in_words
from gordon_core.effects import Outcome
from gordon_core.stages import Stage
from gordon_core.verdicts import Verdict
from gordon_shell import deploy_text, deploy_wishes, ending, lineage, variables
from gordon_shell.cli_common import EX_INTERRUPTED, complain, is_coloured, printable, write
from gordon_shell.deployer import Deployer, routed
from gordon_shell.errors import EX_FAILED, EX_OK, BusyError, UsageError
from gordon_shell.observer import Policies
from gordon_shell.plan_cli import painter
from gordon_shell.ports import Ports, Service
from gordon_shell.progress import Progress
from gordon_shell.session import Session
from gordon_shell.text import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from gordon_shell.deploy_cli import Options

    Wish = Callable[[], Blueprint]


@frozen
class Manner:
    """How a deploy is gone about: how long it may take, how long it waits for the app, whether it is only told, in colour."""

    timeout_s: float
    lock_wait_s: float
    dry_run: bool = False
    color: str = "auto"


@frozen
class DeployVerbs:
    """The commands over one session."""

    session: Session

    def deploy(  # noqa: PLR0913 - what the command names, and how
        self,
        app: str,
        service: str,
        image: str,
        command: tuple[str, ...],
        options: "Options",
        *,
        fresh: bool,
        manner: Manner,
    ) -> int:
        """Replace the container of a service by one of this image."""
        deploy_wishes.check_names(app, service, image)
        asked = deploy_wishes.Asked(**options)
        given = _given(asked.env, asked.env_file)

        def wanted(ports: Ports) -> Blueprint:
            base = None if fresh else lineage.present(ports, app, service, given)
            return deploy_wishes.blueprint(image, command, asked, given, base)

        return self._go(app, service, wanted, manner, is_rollback=False)

    def rollback(  # noqa: PLR0913, PLR0917 - likewise
        self,
        app: str,
        service: str,
        revision: int | None,
        env: tuple[str, ...],
        env_file: tuple[Path, ...],
        manner: Manner,
    ) -> int:
        """Deploy again what a service was made of before."""
        deploy_wishes.check_names(app, service)
        given = _given(env, env_file)

        def wanted(ports: Ports) -> Blueprint:
            return lineage.previous(ports, app, service, revision, given)

        return self._go(app, service, wanted, manner, is_rollback=True)

    def _go(self, app: str, service: str, wanted: "Callable[[Ports], Blueprint]", manner: Manner, *, is_rollback: bool) -> int:
        with self.session.ports(create=not is_rollback, read_only=manner.dry_run) as ports:
            if manner.dry_run:
                return self._forecast(ports, app, service, lambda: wanted(ports), manner)
            return self._do(ports, (app, service), lambda: wanted(ports), manner, is_rollback=is_rollback)

    def _forecast(self, ports: Ports, app: str, service: str, wanted: "Wish", manner: Manner) -> int:
        road = forecast_deploy(Deployer(ports, self._policies()).look(app, service, wanted()))
        write(deploy_text.text(road, paint=painter() if is_coloured(manner.color, os.environ) else plain))
        return EX_FAILED if road[-1].stage is Stage.FAILED else EX_OK

    def _do(self, ports: Ports, whose: Service, wanted: "Wish", manner: Manner, *, is_rollback: bool) -> int:
        app, service = whose
        name, begun_s = f"{app}/{service}", monotonic()
        told, is_watched = _Told(), self.session.world.is_watched
        listener, deeds = told if is_watched else _tell_nobody, self.session.deeds(ports)
        deployer = Deployer(ports, self._policies(), listener=listener, deeds=deeds)
        watch = Progress(complain).watch(told.waiting) if is_watched else nullcontext()
        with ending.heeded() as signalled, watch:
            try:
                verdict = deployer.deploy(
                    app,
                    service,
                    wanted,
                    lock_wait_s=manner.lock_wait_s,
                    deadline_s=manner.timeout_s,
                    is_rollback=is_rollback,
                )
            except BusyError as error:
                if not signalled:
                    raise
                complain(f"interrupted: {error}; nothing was changed")
                return EX_INTERRUPTED
        lines = deploy_text.ending(name, verdict, routed(ports, app, service), monotonic() - begun_s)
        write("".join(f"{printable(each)}\n" for each in lines))
        return _exit_code(verdict)

    def _policies(self) -> Policies:
        return self.session.world.policies(self.session.options)


class _Told:
    """Tells of each step when it was taken, and knows the one that is being taken."""

    def __init__(self) -> None:
        self._doing: tuple[tuple[str, str], ...] = ()

    def __call__(self, decision: DeployDecision, outcome: Outcome | None) -> None:
        name, step = decision.deployment.subject.name, decision.step
        if step is not None:
            self._doing = ((name, step_in_words(step)),) if outcome is None else ()
            if outcome is not None:
                complain(deploy_text.step(name, step, outcome))

    def waiting(self) -> tuple[tuple[str, str], ...]:
        """Return what is being waited for."""
        return self._doing


def _tell_nobody(_decision: DeployDecision, _outcome: Outcome | None) -> None:
    """Say nothing."""


def _given(env: tuple[str, ...], env_file: tuple[Path, ...]) -> tuple[Variable, ...]:
    """Return the variables of the files, and then of the command line, which outweigh them. Raise UsageError, DocumentError."""
    files = [variables.of_file(str(each), _read(each), os.environ) for each in env_file]
    return variables.united(*files, variables.of_words(env, os.environ))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        message = f"{path}: it cannot be read ({error.strerror}); name another file after --env-file"
        raise UsageError(message) from None
    except UnicodeDecodeError:
        message = f"{path}: it is not UTF-8; write it in that, or name another file after --env-file"
        raise UsageError(message) from None


def _exit_code(verdict: Verdict) -> int:
    if verdict.failure is None:
        return EX_INTERRUPTED if verdict.stage is Stage.INTERRUPTED else EX_OK
    return EX_INTERRUPTED if verdict.failure.why is Why.CANCELLED else EX_FAILED


__all__ = ["DeployVerbs", "Manner"]
