"""What the latest revisions of a service were made of: how much of that is kept, and what of it never is."""

from typing import Final

from attrs import evolve

from gordon_shell.ports import Deployed

KEPT: Final = 10
"""How many revisions of a service are kept."""


def without_values(deployed: Deployed) -> Deployed:
    """Return it with the mere names of its environment variables: their values are secrets."""
    blueprint = deployed.blueprint
    names = tuple(evolve(each, value="") for each in blueprint.environment)
    return evolve(deployed, blueprint=evolve(blueprint, environment=names))


def latest(*deployed: Deployed) -> tuple[Deployed, ...]:
    """Return those that are kept, the newest first and without values; of two of one revision, the one that is given last."""
    by_revision = {each.revision: without_values(each) for each in deployed}
    return tuple(by_revision[each] for each in sorted(by_revision, reverse=True)[:KEPT])
