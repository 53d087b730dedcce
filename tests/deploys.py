"""What deploys write down, for tests: a blueprint with some of all there is, and revisions made of it."""

from attrs import evolve

from gordon_core.blueprint import Blueprint, HealthCheck, Mode, Mount, Publication, Readiness, Setting, Variable
from gordon_core.observation import Port, Protocol
from gordon_core.snapshot import HttpCheck
from gordon_shell.ports import Deployed, Journalled

SECRET = "tr0ub4dor&3"  # noqa: S105 - it is to be found nowhere
BLUEPRINT = Blueprint(
    "registry.example/shop:2",
    command=("serve", "--all"),
    entrypoint=("/init",),
    environment=(Variable("PASSWORD", SECRET), Variable("EMPTY", "")),
    labels=(("team", "shop"), ("tier", "")),
    ports=(Publication(Port(80)), Publication(Port(53, Protocol.UDP), 5353)),
    mounts=(Mount("/srv/shop", "/data", read_only=True), Mount("files", "/files", exclusive=True)),
    devices=("/dev/fuse",),
    networks=("back", "front"),
    user="1000:1000",
    working_directory="/app",
    health=HealthCheck(("CMD", "true"), 1.5, 2.0, 3.0, 4),
    settings=(Setting("Memory", "1048576"),),
    stop_grace_s=2.5,
    published=False,
    downtime=True,
    readiness=Readiness(Mode.HTTP, HttpCheck(80, "/up"), 1.0, 2.0, 3.0),
)
NAMED = evolve(BLUEPRINT, environment=(Variable("PASSWORD", ""), Variable("EMPTY", "")))
"""The same as it is kept: with the names of its variables alone."""
CANDIDATE = Journalled("new", "gordon-shop-web-new", 2.5, exclusive=True)


def revision(number: int, blueprint: Blueprint = BLUEPRINT) -> Deployed:
    """Return what a revision was made of, in a container and of an image that bear its number."""
    return Deployed(number, f"c{number}", f"sha256:{number}", blueprint)


def kept(*numbers: int) -> tuple[Deployed, ...]:
    """Return these revisions as they are kept."""
    return tuple(revision(each, NAMED) for each in numbers)
