"""How a deploy ended, as a value; and why it failed: what, the likely cause, and a hint, each in words. Pure."""

from collections.abc import Callable

from attrs import evolve, frozen

from gordon_core import deploy_evidence as own
from gordon_core.deploy_effects import Activate, GiveUp, Why
from gordon_core.deploy_planner import DeployDecision
from gordon_core.deployment import Deployment
from gordon_core.effects import Done, Publish
from gordon_core.observation import Container, Gone
from gordon_core.stages import Stage


@frozen
class Failure:
    """Why a deploy failed, as far as it can be told: what, the likely cause and a hint in words; then what the container said.

    `switched_back`: it was published already. `left` names what could not be cleared; recovery goes on with that.
    """

    why: Why
    reason: str = ""
    cause: str = ""
    hint: str = ""
    container_id: str = ""
    container_name: str = ""
    exit_code: int | None = None
    oom_killed: bool = False
    lines: tuple[str, ...] = ()
    switched_back: bool = False
    left: str = ""


@frozen
class Verdict:
    """How a deploy ended: DEPLOYED, UNALTERED, INTERRUPTED (it serves, and recovery does the rest) or FAILED, with the failure.

    `container_id` and `revision` are what ACTIVE names at the end, "" and 0 for nothing; `steps` how many steps it took.
    """

    stage: Stage
    container_id: str
    revision: int
    steps: int
    failure: Failure | None = None

    @property
    def is_well(self) -> bool:
        """Return whether what is wanted serves."""
        return self.failure is None


@frozen
class _Row:
    """One line of the table of causes: for which reasons it can hold, the question, and what it says."""

    whys: tuple[Why, ...]
    holds: Callable[[Failure], bool]
    cause: str
    hint: str


def _always(_failure: Failure) -> bool:
    return True


def _exit(*codes: int) -> Callable[[Failure], bool]:
    return lambda failure: failure.exit_code in codes


def _says(*words: str) -> Callable[[Failure], bool]:
    return lambda failure: any(each in failure.reason.lower() for each in words)


_ENDS = (Why.ENDED, Why.DIED, Why.UNSERVED, Why.UNREADY)

CAUSES: tuple[_Row, ...] = (
    _Row(_ENDS, lambda failure: failure.oom_killed, "it needs more memory than it may have", "raise its memory limit"),
    _Row(_ENDS, _exit(127), "its command is not in the image", "check the command, and the PATH of the image"),
    _Row(_ENDS, _exit(126), "its command cannot be executed", "check its permissions, and the architecture of the image"),
    _Row(
        (Why.ENDED, Why.DIED),
        _exit(0),
        "its command came to its end",
        "have it run in the foreground; a job that ends is no service",
    ),
    _Row(_ENDS, _exit(137, 143), "somebody stopped or killed it", "see who did, and deploy again"),
    _Row((Why.ENDED, Why.DIED), _always, "its program ended with an error", "its last lines say more"),
    _Row((Why.UNSERVED,), _always, "it fails after it was ready", "its last lines say more"),
    _Row(
        (Why.UNREADY,),
        _always,
        "nothing answers at its ports yet, or it listens on another port, or inside the container on 127.0.0.1 alone",
        "have it listen on 0.0.0.0 at the declared port, or give it more time to become ready",
    ),
    _Row(
        (Why.UNHEALTHY,), _always, "its health check fails", "try the check in a container of the image; its last lines say more"
    ),
    _Row(
        (Why.UNSTARTED,),
        _says("port is already allocated", "address already in use"),
        "another container or program holds its host port",
        "choose another host port, or end what holds it",
    ),
    _Row(
        (Why.UNSTARTED, Why.UNCREATED),
        _says("executable file not found", "no such file or directory"),
        "its command, or a path that it mounts, does not exist",
        "check the command and the mounts",
    ),
    _Row((Why.UNSTARTED,), _always, "the engine refuses what it asks for", "the engine's words say what"),
    _Row((Why.UNCREATED,), _always, "the engine refuses what it asks for", "the engine's words say what"),
    _Row((Why.UNBOUND,), _always, "the engine did not bind its ports on 127.0.0.1", "see that nothing else decides its networks"),
    _Row(
        (Why.UNCHECKED,),
        _always,
        "neither the image nor the options have a health check",
        "add a health check or choose another readiness mode",
    ),
    _Row((Why.ABSENT,), _always, "its name is wrong, or it needs a login", "check the name, or `docker login` to its registry"),
    _Row((Why.UNREACHED,), _always, "the registry is down, or the network is", "try again when it can be reached"),
    _Row(
        (Why.UNGRANTED,),
        _says("does not exist any more"),
        "a host path that it mounts is not there",
        "create the path, or deploy without the mount",
    ),
    _Row((Why.UNGRANTED,), _always, "the host policy does not list it", "grant it in the host policy, or deploy without it"),
    _Row(
        (Why.NAMELESS,),
        _always,
        "containers that no deploy of this service made bear its names",
        "rename or remove them: docker rename, docker rm",
    ),
    _Row(
        (Why.ON_HOLD,), _always, "that wish outweighs a deploy", "wait for its end, or end it: gordon-shell release APP/SERVICE"
    ),
    _Row((Why.STOPPED,), _always, "the app was stopped", "start it first: gordon-shell start APP"),
    _Row((Why.CONFLICT,), _always, "another tool changed this service at the same time", "deploy again"),
    _Row((Why.ENGINE,), _always, "the engine is down or overloaded", "see that it runs, and deploy again"),
    _Row((Why.STORE,), _always, "its disk is full, or it may not be written", "put that right, and deploy again"),
    _Row(
        (Why.ROUTER, Why.UNPUBLISHED),
        _always,
        "the proxy is down, or does not know the service",
        "see to the proxy: gordon-shell status",
    ),
    _Row(
        (Why.WITHDRAWAL, Why.CONTESTED),
        _always,
        "the proxy did not take the withdrawal",
        "see to the proxy: gordon-shell status",
    ),
    _Row((Why.DETENTION,), _always, "it does not stop within its grace, or the engine hangs", "see to it: docker stop"),
    _Row((Why.CANCELLED,), _always, "somebody ended it", "deploy again"),
    _Row(
        (Why.OVERDUE,),
        _always,
        "its health check stays at starting, or the engine is slow",
        "give it more time, or see to its health check",
    ),
)
"""What probably lies behind a failure, and what would help: the first row that holds."""


def failure(deployment: Deployment) -> Failure | None:
    """Return why a deployment failed, or None if it did not."""
    found = own.taken(deployment, GiveUp)
    if not found:
        return None
    step, seen = found[0][0], deployment.dossier.seen
    end = seen.exit if isinstance(seen, Container) else None
    told = Failure(
        step.why,
        step.reason,
        container_id=step.container_id,
        container_name=seen.name if isinstance(seen, Container) else "",
        exit_code=end.code if end is not None else None,
        oom_killed=end is not None and end.oom_killed,
        lines=deployment.dossier.lines,
        switched_back=_was_published(deployment) and not own.is_activated(deployment),
        left=_left(deployment),
    )
    row = next(each for each in CAUSES if told.why in each.whys and each.holds(told))
    return evolve(told, cause=row.cause, hint=row.hint)


def _was_published(deployment: Deployment) -> bool:
    activated = [effect.declared.container_id for effect, _ in own.taken(deployment, Activate)[:1]]
    return any(
        isinstance(each.effect, Publish) and isinstance(each.outcome, Done) and each.effect.generation.container_id in activated
        for each in deployment.results
    )


def _left(deployment: Deployment) -> str:
    is_left = bool(deployment.own_id) and not isinstance(deployment.own, Gone) and not own.is_activated(deployment)
    return deployment.own_id if is_left else ""


def verdict(decision: DeployDecision) -> Verdict:
    """Return how a deploy ended, from its last decision."""
    deployment = decision.deployment
    declared = deployment.subject.declared
    return Verdict(
        decision.stage,
        declared.container_id if declared is not None else "",
        declared.revision if declared is not None else 0,
        len(deployment.steps) + len(deployment.results),
        failure(deployment),
    )
