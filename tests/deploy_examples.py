"""One good deploy, at its beginning; named deviations from it; and one reachable deployment for each stage.

The good one replaces the good service of core_examples, whose two containers may overlap; its image is here, and nothing is in
its way.
"""

from collections.abc import Callable, Iterator

from attrs import evolve

from gordon_core.blueprint import Blueprint, Image, Mode, Publication, Readiness
from gordon_core.deploy_effects import (
    DeployStep,
)
from gordon_core.deploy_forecast import assume_deploy
from gordon_core.deploy_planner import DeployDecision, decide_deploy, took
from gordon_core.deployment import Deployment, names
from gordon_core.effects import (
    DONE,
    Fault,
    Outcome,
    Refused,
    Unknown,
)
from gordon_core.observation import Container, Gone, Health, HealthStatus, RouteUnread, Seen, Status, Unread
from gordon_core.snapshot import Intent
from gordon_core.stages import Stage
from tests.core_examples import CLOCK, DEAF, GOOD, HOLD, HTTP, NOBODY, OLD, SILENT, left_behind, new_down

Change = Callable[[Deployment], Deployment]
MOST_STEPS = 60
"""No deploy of a test takes so many; one that goes round and round fails here, and does not hang."""

CANONICAL, NEW_NAME, NEXT_NAME = "gordon-shop-web", "gordon-shop-web-new", "gordon-shop-web-next"
PORTS = (Publication(HTTP),)
WANTED = Blueprint("shop:v2", ports=PORTS)
FIXED = Blueprint("shop:v2", ports=(Publication(HTTP, 8080),))
"""Its host port is fixed, so that an old and a new container of it cannot run side by side."""
WORKER = Blueprint("shop:v2")
"""It has no port: only time tells whether it is ready."""
IMAGE = Image("sha256:5a9e")
CHECKED = Image("sha256:5a9e", has_health_check=True)
BROKEN = Refused("it broke", Fault.WORKLOAD)
STORELESS = Refused("the disk is full", Fault.STORE)
BEATEN = Refused("ACTIVE names revision 4", Fault.CONFLICT)
REGISTRYLESS = Refused("connection refused", Fault.REGISTRY)
MUTE = Unknown(SILENT)

_SERVING = evolve(GOOD, seen=evolve(GOOD.seen, name=CANONICAL))
GOOD_DEPLOY = Deployment(
    CLOCK, _SERVING, WANTED, names("shop", "web"), IMAGE, changed=("image",), taken_names=(CANONICAL,), began_s=CLOCK.boot_s
)


def made(deployment: Deployment, *changes: Change) -> Deployment:
    """Return the deployment with changes applied, the first one first."""
    for each in changes:
        deployment = each(deployment)
    return deployment


def deploying(*changes: Change) -> Deployment:
    """Return the good deployment with changes applied."""
    return made(GOOD_DEPLOY, *changes)


def wanting(blueprint: Blueprint) -> Change:
    """Let something else be wanted."""
    return lambda deployment: evolve(deployment, wanted=blueprint)


def but(**changes: object) -> Change:
    """Let other fields of the deployment be different."""
    return lambda deployment: evolve(deployment, **changes)


def serving(**changes: object) -> Change:
    """Let other fields of its service be different."""
    return lambda deployment: evolve(deployment, subject=evolve(deployment.subject, **changes))


def own(value: Seen | None = None, **changes: object) -> Change:
    """Let the candidate have been seen like that, or otherwise; also where ACTIVE names it."""

    def changed(deployment: Deployment) -> Deployment:
        assert isinstance(deployment.own, Container)
        seen = value if value is not None else evolve(deployment.own, **changes)
        subject = deployment.subject
        is_named = subject.declared is not None and subject.declared.container_id == deployment.own_id
        return evolve(deployment, own=seen, subject=evolve(subject, seen=seen) if is_named else subject)

    return changed


def old(**changes: object) -> Change:
    """Let the old container, which is superseded, have been seen otherwise."""

    def changed(deployment: Deployment) -> Deployment:
        (superseded,) = deployment.subject.superseded
        assert isinstance(superseded.seen, Container)
        return serving(superseded=(evolve(superseded, seen=evolve(superseded.seen, **changes)),))(deployment)

    return changed


def then(step: DeployStep, outcome: Outcome = DONE) -> Change:
    """Let this step have been taken, and nothing have come of it that a look would show."""
    return lambda deployment: took(deployment, step, outcome)


def course(deployment: Deployment, change: Change) -> Iterator[DeployDecision]:
    """Yield each decision while a deployment changes after each, with the one by which it is over; too many steps fail."""
    for _ in range(MOST_STEPS):
        decision = decide_deploy(deployment)
        yield decision
        if decision.is_over:
            return
        deployment = change(deployment)
    message = f"it goes on after {MOST_STEPS} steps: {decision.stage.name}, {decision.step}"
    raise AssertionError(message)


def until(stage: Stage) -> Change:
    """Let all have gone well until the deploy is in a stage."""

    def went(deployment: Deployment) -> Deployment:
        stages = []
        for decision in course(deployment, going):
            if decision.stage is stage:
                return decision.deployment
            stages.append(decision.stage.name)
        message = f"{stage.name} was not reached, but {', '.join(stages)}"
        raise AssertionError(message)

    return went


def failing(outcome: Outcome = BROKEN) -> Change:
    """Let the step that is due fail."""

    def failed(deployment: Deployment) -> Deployment:
        step = decide_deploy(deployment).step
        assert step is not None
        return took(deployment, step, outcome)

    return failed


def going(deployment: Deployment) -> Deployment:
    """Let the step that is due be done, by a kind world."""
    step = decide_deploy(deployment).step
    assert step is not None
    return assume_deploy(deployment, step)


dead = own(status=Status.EXITED, ports=())
deaf = serving(route=RouteUnread(DEAF))
shut = serving(intent=Intent.STOPPED)
held = serving(hold=HOLD)
first = but(subject=NOBODY, changed=None, taken_names=())
"""There was no such service before."""


def crowded(deployment: Deployment) -> Deployment:
    """Let what ACTIVE names and a superseded container bear both temporary names, and nothing the canonical one."""
    subject = deployment.subject
    assert isinstance(subject.seen, Container)
    old = evolve(OLD, seen=evolve(OLD.seen, name=NEW_NAME))
    named = evolve(subject, seen=evolve(subject.seen, name=NEXT_NAME), superseded=(old,))
    return evolve(deployment, subject=named, taken_names=(NEW_NAME, NEXT_NAME))


unread = serving(superseded=(evolve(OLD, seen=Unread(SILENT)),))
contested = but(clashes=(("blog", "web"),))
"""Another service is still routed to a port that the candidate was given."""
uncertain = own(health=Health(HealthStatus.UNREAD))


def _at(stage: Stage, *changes: Change, wanted: Blueprint = WANTED) -> Deployment:
    """Return the good deployment that went well until a stage, with changes applied."""
    return deploying(wanting(wanted), until(stage), *changes)


_ACTIVE = _at(Stage.UNWATCHED)
_DIED = made(_ACTIVE, dead, going)

EXEMPLARS: dict[Stage, Deployment] = {
    Stage.DISOWNING: _DIED,
    Stage.BACKING_OUT: made(_DIED, going),
    Stage.EVICTING: _at(Stage.UNPROBED, failing(), going, wanted=FIXED),
    Stage.RESTORING: _at(Stage.UNPROBED, failing(), going, going, going, going, wanted=FIXED),
    Stage.CLEARING: _at(Stage.UNPROBED, failing(), going),
    Stage.FAILED: deploying(but(cancelled="by hand"), going),
    Stage.CANCELLED: deploying(but(cancelled="by hand")),
    Stage.OVERDUE: deploying(but(deadline_s=60.0, began_s=CLOCK.boot_s - 61)),
    Stage.UNLISTED: deploying(but(unlisted=SILENT)),
    Stage.SHUT: deploying(shut),
    Stage.ON_HOLD: deploying(held),
    Stage.BLIND: deploying(deaf),
    Stage.CONTESTED_IN_VAIN: _at(Stage.UNPROBED, contested, failing()),
    Stage.CONTESTED: _at(Stage.UNPROBED, contested),
    Stage.DIED: made(_ACTIVE, dead),
    Stage.UNPUBLISHED: _at(Stage.FINISHING, failing()),
    Stage.FINISHING: _at(Stage.FINISHING),
    Stage.UNSERVED: made(_ACTIVE, own(health=Health(HealthStatus.UNHEALTHY))),
    Stage.UNWATCHED: _ACTIVE,
    Stage.INTERRUPTED: made(_ACTIVE, but(cancelled="by hand")),
    Stage.RETIRING: _at(Stage.RETIRING),
    Stage.TIDYING: deploying(but(changed=()), serving(candidates=left_behind()(GOOD).candidates)),
    Stage.MISNAMED: _at(Stage.MISNAMED),
    Stage.UNALTERED: deploying(but(changed=())),
    Stage.DEPLOYED: _at(Stage.DEPLOYED),
    Stage.LEFTOVER: deploying(serving(candidates=left_behind(new_down)(GOOD).candidates)),
    Stage.IMAGE_UNREAD: deploying(but(image=Unread(SILENT))),
    Stage.IMAGELESS: deploying(but(image=Gone()), failing()),
    Stage.UNFETCHED: deploying(but(image=Gone())),
    Stage.UNCHECKED: deploying(wanting(evolve(WANTED, readiness=Readiness(Mode.HEALTH)))),
    Stage.UNGRANTED: deploying(but(ungranted=("/dev/fuse is not granted",))),
    Stage.CROWDED: deploying(crowded),
    Stage.NAMES_UNREAD: deploying(unread, but(taken_names=(CANONICAL, NEW_NAME, NEXT_NAME))),
    Stage.NAMELESS: deploying(but(taken_names=(CANONICAL, NEW_NAME, NEXT_NAME))),
    Stage.UNCREATED_IN_VAIN: deploying(failing()),
    Stage.UNCREATED: GOOD_DEPLOY,
    Stage.UNJOURNALLED_IN_VAIN: _at(Stage.UNJOURNALLED, failing(STORELESS)),
    Stage.UNJOURNALLED: _at(Stage.UNJOURNALLED),
    Stage.OLD_ROUTED_IN_VAIN: _at(Stage.OLD_ROUTED, failing(), wanted=FIXED),
    Stage.OLD_ROUTED: _at(Stage.OLD_ROUTED, wanted=FIXED),
    Stage.OLD_UP_IN_VAIN: _at(Stage.OLD_UP, failing(), wanted=FIXED),
    Stage.OLD_UP: _at(Stage.OLD_UP, wanted=FIXED),
    Stage.UNSTARTED_IN_VAIN: _at(Stage.UNSTARTED, failing()),
    Stage.UNSTARTED: _at(Stage.UNSTARTED),
    Stage.ENDED: _at(Stage.UNPROBED, dead, failing()),
    Stage.FALLEN: _at(Stage.UNPROBED, dead),
    Stage.STARTING_IN_VAIN: _at(Stage.UNPROBED, uncertain, failing(MUTE), failing(MUTE)),
    Stage.STARTING: _at(Stage.UNPROBED, own(health=Health(HealthStatus.STARTING))),
    Stage.ILL: _at(Stage.UNPROBED, own(health=Health(HealthStatus.UNHEALTHY))),
    Stage.UNBOUND: _at(Stage.UNPROBED, own(ports=())),
    Stage.UNREADY: _at(Stage.UNPROBED, failing()),
    Stage.FRESH: _at(Stage.FRESH, wanted=WORKER),
    Stage.UNPROBED: _at(Stage.UNPROBED),
    Stage.OUTRUN: _at(Stage.READY, failing(BEATEN)),
    Stage.READY: _at(Stage.READY),
}
"""One reachable deployment for each stage."""
