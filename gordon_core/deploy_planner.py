"""From one deployment to the one step that it calls for. Pure and total, as the planner of recovery is."""

from attrs import evolve, frozen

from gordon_core import deploy_evidence as own
from gordon_core import deploys
from gordon_core.deploy_effects import DeployEffect, DeployStep, Taken
from gordon_core.deployment import Deployment
from gordon_core.effects import Outcome, Result
from gordon_core.snapshot import Subject
from gordon_core.stages import Stage

MOST_STEPS = 200
"""No deploy takes so many steps by the law; it bounds the shell's loop and the forecast, whatever the world does."""


@frozen(eq=False)
class DeployDecision:
    """The stage that a deployment is in, and the one step that this calls for; None where the deploy is over."""

    deployment: Deployment
    stage: Stage
    step: DeployStep | None

    @property
    def is_over(self) -> bool:
        """Return whether nothing is left to do."""
        return self.step is None


def decide_deploy(deployment: Deployment) -> DeployDecision:
    """Return the decision for one deployment: the first row of the law that holds."""
    row = next(each for each in deploys.ROWS if each.holds(deployment))
    return DeployDecision(deployment, row.stage, row.command(deployment) if row.command is not None else None)


def took(deployment: Deployment, step: DeployStep, outcome: Outcome) -> Deployment:
    """Return the deployment with a step of it and its outcome; what recovery remembers of it is `folds.did`'s."""
    if isinstance(step, DeployEffect):
        return evolve(deployment, steps=(*deployment.steps, Taken(step, outcome)))
    return with_results(evolve(deployment, results=(*deployment.results, Result(step, outcome))), deployment.subject)


def with_results(deployment: Deployment, subject: Subject) -> Deployment:
    """Return the deployment with this look at its service, and with those results in it that are about what ACTIVE names now."""
    return evolve(deployment, subject=evolve(subject, results=own.about(deployment.results, subject.generation())))
