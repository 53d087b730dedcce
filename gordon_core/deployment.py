"""The input of the deploy planner: one service that is to be replaced, at one instant, with what this deploy did so far."""

from attrs import field, frozen
from attrs.validators import ge, min_len

from gordon_core.blueprint import Blueprint, Image
from gordon_core.deploy_effects import Taken
from gordon_core.effects import Result
from gordon_core.observation import Clock, Container, Gone, Seen, Unread
from gordon_core.policy import DEFAULT_POLICY, Policy
from gordon_core.snapshot import Subject

WATCH_S = 2.0
DEPLOY_DEADLINE_S = 900.0
PULL_ATTEMPTS = 3


@frozen
class Names:
    """The names that a service's containers have: the canonical one, and two for candidates while another bears that."""

    canonical: str = field(validator=min_len(1))

    @property
    def temporary(self) -> tuple[str, str]:
        """Return the two temporary names, in the order in which they are tried."""
        return f"{self.canonical}-new", f"{self.canonical}-next"


def names(app: str, service: str) -> Names:
    """Return the names for the containers of a service."""
    return Names(f"gordon-{app}-{service}")


@frozen
class Dossier:
    """What a candidate that failed could still tell: how it was seen last, its last lines of output, oldest first."""

    seen: Seen | None = None
    lines: tuple[str, ...] = ()


@frozen(eq=False)
class Deployment:
    """One deploy as looked at.

    `subject` is the service as recovery sees it, with those results of this deploy that are about the generation in ACTIVE; all
    of them are in `results`, and in `steps` those of what only deploys do. The candidates of the subject are all containers but
    the own one that stand in the journal, or bear one of its names and are named neither in ACTIVE nor by a marker. `own` is the
    container that this deploy made, None before that, and `journalled` tells whether it stands in the journal. `image` is Gone
    where the engine has none of it. `changed` are the respects in which the container in ACTIVE differs from what is wanted, None
    where there is none to compare.
    `clashes` are the other services (app, service) whose routes name a port that the candidate holds: engines hand freed ports to
    the next container.
    `taken_names` are those of its names that some container bears; `unlisted` is "" or why the containers could not be listed.
    `ungranted` names the grants that the candidate would lack. `cancelled` is "" or who asked for that; `began_s` (seconds since
    boot) and `deadline_s` say when it is overdue. `policy_on_record` are the recovery constants that ACTIVE has; those of the
    subject are the same under what the host policy sets, which is never made a part of ACTIVE.
    """

    clock: Clock
    subject: Subject
    wanted: Blueprint
    names: Names
    image: Image | Gone | Unread
    changed: tuple[str, ...] | None = None
    own: Container | Gone | Unread | None = None
    own_id: str = ""
    journalled: bool = False
    taken_names: tuple[str, ...] = ()
    ungranted: tuple[str, ...] = ()
    unlisted: str = ""
    steps: tuple[Taken, ...] = ()
    results: tuple[Result, ...] = ()
    cancelled: str = ""
    began_s: float = field(default=0.0, validator=ge(0))
    deadline_s: float = field(default=DEPLOY_DEADLINE_S, validator=ge(0))
    watch_s: float = field(default=WATCH_S, validator=ge(0))
    clashes: tuple[tuple[str, str], ...] = ()
    dossier: Dossier = Dossier()
    policy_on_record: Policy = DEFAULT_POLICY
