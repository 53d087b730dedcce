"""The compare-and-set of ACTIVE, in words: why a write for another generation than the present one is refused."""

from gordon_core.effects import Fault, Generation, Refused
from gordon_shell.ports import Service


def refuse_activation(app: str, service: str, *, held: int, expected: int, proposed: int) -> Refused | None:
    """Return why revision `proposed` cannot follow, or None if it can; `held` is that of ACTIVE, 0 for no such service."""
    if held != expected:
        reason = f"ACTIVE has {app}/{service} at revision {held}, not {expected}; read it again before writing"
        return Refused(reason, Fault.CONFLICT)
    if proposed <= held:
        reason = f"revision {proposed} of {app}/{service} must be larger than {held}, which ACTIVE has; take the next one"
        return Refused(reason, Fault.CONFLICT)
    return None


def refuse_outdated(generation: Generation) -> Refused:
    """Return the refusal of a write for a generation that ACTIVE does not, or no longer, name."""
    name = f"{generation.app}/{generation.service}"
    reason = (
        f"ACTIVE does not name container {generation.container_id} at revision {generation.revision} for {name}; "
        "read it again before writing"
    )
    return Refused(reason, Fault.CONFLICT)


def refuse_named(app: str, service: str, container_id: str, namer: Service) -> Refused:
    """Return the refusal of a container that another service names, in ACTIVE or as superseded: it is one service's."""
    other = "/".join(namer)
    reason = (
        f"container {container_id} is one of {other} already, and cannot be one of {app}/{service} as well; "
        f"forget that first: gordon-shell forget {other}"
    )
    return Refused(reason, Fault.CONFLICT)
