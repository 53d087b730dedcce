"""What a deploy wants, completed by what its image says; and what exists, completed by what only ACTIVE knows. Pure."""

from attrs import evolve

from gordon_core.blueprint import Blueprint, Image, Made, Publication, differences
from gordon_core.observation import Port
from gordon_core.snapshot import Declared
from gordon_shell.blueprints import beyond, merged
from gordon_shell.http_checks import http_check
from gordon_shell.ports import HTTP_LABEL


def completed(wanted: Blueprint, image: Image) -> Blueprint:
    """Return the blueprint with the ports that its image exposes, if it is to be published and names none, and with the HTTP
    check of the label gordon.http, its own before its image's, if it names none.

    Raise UsageError where such a label is no HTTP check.
    """
    if wanted.published and not wanted.ports:
        wanted = evolve(wanted, ports=tuple(Publication(each) for each in image.ports))
    own = dict(wanted.labels).get(HTTP_LABEL)
    label = own if own is not None else dict(image.labels).get(HTTP_LABEL)
    if wanted.readiness.http is not None or not label or not wanted.ports:
        return wanted
    whose = "the container" if own is not None else f"image {wanted.image}"
    http = http_check(f"{whose}, in its label {HTTP_LABEL},", label, wanted.declared_ports)
    return evolve(wanted, readiness=evolve(wanted.readiness, http=http))


def as_declared(made: Made, declared: Declared) -> Made:
    """Return what the container in ACTIVE was made from, with what the engine does not know: how it is served."""
    http = declared.http if declared.http is not None and _has_port(made, declared.http.port) else None
    readiness = evolve(made.blueprint.readiness, http=http)
    published = declared.published or not declared.ports
    return evolve(made, blueprint=evolve(made.blueprint, published=published, readiness=readiness))


def changes(wanted: Blueprint, image: Image, present: Made) -> tuple[str, ...]:
    """Return in which respects a container (see `as_declared`) is not as wanted; labels that say who made one do not count.

    What is wanted as the image has it anyway makes no difference, as little as whether it would be published where there is no
    port.
    """
    published = wanted.published if wanted.ports else present.blueprint.published
    further = beyond(merged(wanted, image.own), image.own)
    return differences(evolve(further, published=published), image.image_id, present)


def _has_port(made: Made, number: int) -> bool:
    return Port(number) in made.blueprint.declared_ports
