"""What a deploy begins with: what the present container was made of, or what an earlier revision was. Pure.

The engine knows the one but for what only ACTIVE and the record of its deploy say; of the other the record knows all but the
values of its environment, which are never stored.
"""

from collections.abc import Iterable

from attrs import evolve, frozen

from gordon_core.blueprint import Blueprint, Made, Mode, Variable
from gordon_core.snapshot import Declared
from gordon_shell.completion import as_declared
from gordon_shell.errors import NoWayBackError, UsageError
from gordon_shell.ports import Deployed
from gordon_shell.variables import united


@frozen
class Service:
    """One service as a deploy finds it: its name, what ACTIVE declares, and its revisions on record, the newest first."""

    name: str
    declared: Declared
    deployed: tuple[Deployed, ...] = ()

    def of_the_present(self) -> Deployed | None:
        """Return the record of the container in ACTIVE, None where no deploy made it."""
        return next((each for each in self.deployed if each.container_id == self.declared.container_id), None)

    def before(self) -> tuple[Deployed, ...]:
        """Return the revisions that served before the container in ACTIVE did, the newest first.

        What lies between two revisions of one container is a deploy that failed after it was switched: it was switched back.
        """
        served: list[Deployed] = []
        present = self.declared.container_id
        for each in sorted(self.deployed, key=lambda each: each.revision):
            again = [index for index, one in enumerate(served) if one.container_id == each.container_id]
            served = [*served[: again[0]], each] if again else [*served, each]
        first = next((index for index, each in enumerate(served) if each.container_id == present), len(served))
        return tuple(reversed(served[:first]))


def present(service: Service, made: Made) -> Blueprint:
    """Return what the container in ACTIVE was made of."""
    own, declared = service.of_the_present(), service.declared
    record = own or next(iter(service.deployed), None)
    blueprint = evolve(as_declared(made, declared).blueprint, stop_grace_s=declared.stop_grace_s)
    if own is not None and not declared.ports:
        blueprint = evolve(blueprint, published=own.blueprint.published)
    if record is None:
        return blueprint
    exclusive = {(each.source, each.target) for each in record.blueprint.mounts if each.exclusive}
    kept, http = record.blueprint.readiness, blueprint.readiness.http
    return evolve(
        blueprint,
        mounts=tuple(evolve(each, exclusive=(each.source, each.target) in exclusive) for each in blueprint.mounts),
        downtime=record.blueprint.downtime,
        readiness=evolve(kept, mode=Mode.AUTO if kept.mode is Mode.HTTP and http is None else kept.mode, http=http),
    )


def chosen(service: Service, revision: int | None) -> Deployed:
    """Return the revision to go back to: the one that served last before the present, or the one named.

    Raise NoWayBackError where there is none, UsageError where the one named is not on record or serves at present.
    """
    before = service.before()
    if revision is None:
        if not before:
            message = f"nothing is on record of what {service.name} was before; deploy the image that it had: gordon-shell deploy"
            raise NoWayBackError(message)
        return before[0]
    found = next((each for each in service.deployed if each.revision == revision), None)
    if found is None or found.container_id == service.declared.container_id:
        known = ", ".join(str(each.revision) for each in before)
        why = "is what it is at present" if revision == service.declared.revision or found is not None else "is not on record"
        message = f"revision {revision} of {service.name} {why}; {f'there are {known}' if known else 'there is no other'}"
        raise UsageError(message)
    return found


def again(service: Service, chosen: Deployed, image: str, present: Iterable[Variable], given: Iterable[Variable]) -> Blueprint:
    """Return what an earlier revision was made of, of this image, with the values that its variables have now.

    `present` are the variables of the container in ACTIVE; `given` outweigh them, and may add others. Raise UsageError: values
    are missing.
    """
    known = {each.name: each for each in (*present, *given)}
    names = [each.name for each in chosen.blueprint.environment]
    missing = [each for each in names if each not in known]
    if missing:
        asked = " ".join(f"--env {each}" for each in missing)
        message = (
            f"revision {chosen.revision} of {service.name} had {', '.join(missing)}, which the present container has not, and "
            f"values are never stored; give {'it' if len(missing) == 1 else 'them'}: {asked}"
        )
        raise UsageError(message)
    environment = united((known[each] for each in names), given)
    return evolve(chosen.blueprint, image=image, environment=environment)
