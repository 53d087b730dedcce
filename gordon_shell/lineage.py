"""Reads what a deploy begins with: what a service is made of at present, and what it was before."""

from gordon_core.blueprint import Blueprint, Image, Made, Variable
from gordon_core.observation import Gone
from gordon_shell import inheritance
from gordon_shell.errors import NoWayBackError, UsageError
from gordon_shell.ports import Deployed, Ports


def present(ports: Ports, app: str, service: str, given: tuple[Variable, ...] = ()) -> Blueprint | None:
    """Return what the container in ACTIVE was made of, None where ACTIVE names none.

    Of one that is gone only the record of its deploy is left, without values: those of `given`. Raise UsageError where values
    are missing or nothing is on record; EngineError, StoreError.
    """
    found = _service(ports, app, service)
    if found is None:
        return None
    made = ports.engine.made(found.declared.container_id)
    if isinstance(made, Made):
        return inheritance.present(found, made)
    record = found.of_the_present()
    if record is None:
        message = (
            f"the container of {found.name} is gone, and nothing on record says what it was made of; say all of it, with --fresh"
        )
        raise UsageError(message)
    return inheritance.again(found, record, record.blueprint.image, (), given)


def previous(ports: Ports, app: str, service: str, revision: int | None = None, given: tuple[Variable, ...] = ()) -> Blueprint:
    """Return what a service was made of before, or at a revision, of the image that it had then.

    Its variables have the values of the present container, and of `given`. Raise NoWayBackError: that is not on record, or its
    image is gone; UsageError: no such service or revision, or values are missing; EngineError, StoreError.
    """
    found = _service(ports, app, service)
    if found is None:
        message = f"ACTIVE names no container for {app}/{service}, so there is nothing to go back from; deploy one"
        raise UsageError(message)
    chosen = inheritance.chosen(found, revision)
    made = ports.engine.made(found.declared.container_id)
    now = () if isinstance(made, Gone) else made.blueprint.environment
    return inheritance.again(found, chosen, _image(ports, found.name, chosen), now, given)


def _image(ports: Ports, name: str, chosen: Deployed) -> str:
    """Return the name of the image where that is still the same image, else its ID."""
    named, exact = chosen.blueprint.image, chosen.image_id
    at_the_name = ports.engine.image(named)
    if isinstance(at_the_name, Image) and at_the_name.image_id == exact:
        return named
    if isinstance(ports.engine.image(exact), Gone):
        message = (
            f"the image of revision {chosen.revision} of {name} ({named}, {exact}) is not there any more; fetch or build it "
            "again, and deploy it: gordon-shell deploy"
        )
        raise NoWayBackError(message)
    return exact


def _service(ports: Ports, app: str, service: str) -> inheritance.Service | None:
    stored = ports.store.read_service(app, service)
    if stored is None or stored.declared is None:
        return None
    return inheritance.Service(f"{app}/{service}", stored.declared, ports.store.deployed(app, service))
