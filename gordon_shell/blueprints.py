"""Blueprints against images: what an engine makes of the two, and what of a container is not its image's. Pure.

`beyond(merged(blueprint, own), own)` is the blueprint again, in the one order in which blueprints are read from an engine.
"""

from attrs import evolve

from gordon_core.blueprint import Blueprint, HealthCheck, Publication, Variable

DEPLOY_PREFIX = "gordon."
"""What the names of the labels of deploys begin with."""
FOREIGN_PREFIXES = (DEPLOY_PREFIX, "com.docker.compose.")
"""Labels that say who made a container, and nothing about what it is."""
CLEARED = ("",)
"""An entry point that takes away the image's own."""
_DEFAULT_NETWORKS = (("bridge",), ("default",))


def merged(blueprint: Blueprint, own: Blueprint) -> Blueprint:
    """Return all that a container has: what the blueprint leaves empty is as its image (`own`) has it."""
    return evolve(
        blueprint,
        command=blueprint.command if blueprint.entrypoint else blueprint.command or own.command,
        entrypoint=tuple(each for each in blueprint.entrypoint or own.entrypoint if (each,) != CLEARED),
        environment=_united(blueprint.environment, own.environment),
        labels=tuple((dict(own.labels) | dict(blueprint.labels)).items()),
        user=blueprint.user or own.user,
        working_directory=blueprint.working_directory or own.working_directory,
        health=_united_health(blueprint.health, own.health),
    )


def beyond(whole: Blueprint, own: Blueprint) -> Blueprint:
    """Return what a container has beyond its image, in order, and without the labels that say who made it."""
    entrypoint, command = _run(whole, own)
    labels = {
        name: value for name, value in whole.labels if (name, value) not in own.labels and not name.startswith(FOREIGN_PREFIXES)
    }
    return evolve(
        whole,
        command=command,
        entrypoint=entrypoint,
        environment=tuple(each for each in whole.environment if each not in own.environment),
        labels=tuple(sorted(labels.items())),
        ports=tuple(sorted(whole.ports, key=_place)),
        networks=() if whole.networks in _DEFAULT_NETWORKS else whole.networks[:1] + tuple(sorted(whole.networks[1:])),
        user="" if whole.user == own.user else whole.user,
        working_directory="" if whole.working_directory == own.working_directory else whole.working_directory,
        health=_further_health(whole.health, own.health),
        settings=tuple(sorted(whole.settings, key=lambda each: each.name)),
    )


def _place(publication: Publication) -> tuple[int, str]:
    return publication.port.number, publication.port.protocol.value


def _run(whole: Blueprint, own: Blueprint) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the entry point and the command that make an engine run this: an entry point drops the image's command."""
    same = whole.entrypoint == own.entrypoint
    dropped = bool(own.command) and not whole.command
    if same and not dropped:
        return (), () if whole.command == own.command else whole.command
    return whole.entrypoint or CLEARED, whole.command


def _united(asked: tuple[Variable, ...], own: tuple[Variable, ...]) -> tuple[Variable, ...]:
    names = {each.name for each in asked}
    return asked + tuple(each for each in own if each.name not in names)


def _united_health(asked: HealthCheck | None, own: HealthCheck | None) -> HealthCheck | None:
    if asked is None or own is None:
        return asked or own
    return evolve(
        asked,
        interval_s=asked.interval_s or own.interval_s,
        timeout_s=asked.timeout_s or own.timeout_s,
        start_period_s=asked.start_period_s or own.start_period_s,
        retries=asked.retries or own.retries,
    )


def _further_health(whole: HealthCheck | None, own: HealthCheck | None) -> HealthCheck | None:
    if whole is None or own is None:
        return whole
    if whole == own:
        return None
    return evolve(
        whole,
        interval_s=0.0 if whole.interval_s == own.interval_s else whole.interval_s,
        timeout_s=0.0 if whole.timeout_s == own.timeout_s else whole.timeout_s,
        start_period_s=0.0 if whole.start_period_s == own.start_period_s else whole.start_period_s,
        retries=0 if whole.retries == own.retries else whole.retries,
    )
