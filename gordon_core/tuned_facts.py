"""Facts about what an operator tunes: holds, workloads that are done, and those that are only withdrawn while unhealthy."""

from gordon_core.evidence import is_done, is_sidelined, needs_attempt
from gordon_core.facts import has_history, has_orphans, is_clear, is_contested_for_good, is_published, serves
from gordon_core.snapshot import Subject

# --- holds ---------------------------------------------------------------------------------------------------------------


def is_on_hold(subject: Subject, now_s: float) -> bool:
    """Somebody wants it left as it is, until a time not yet reached."""
    return subject.hold is not None and now_s < subject.hold.until_s


def is_held_from_touch(subject: Subject, now_s: float) -> bool:
    """It is on hold, and down, sick, or contested for good."""
    return is_on_hold(subject, now_s) and (needs_attempt(subject) or is_contested_for_good(subject))


# --- what is done --------------------------------------------------------------------------------------------------------


def is_done_and_exposed(subject: Subject) -> bool:
    """It is done, and a route to it is not provably gone."""
    return is_done(subject) and not is_clear(subject)


def is_done_with_history(subject: Subject) -> bool:
    """It is done, and there is trouble on record."""
    return is_done(subject) and has_history(subject)


def is_done_with_orphans(subject: Subject) -> bool:
    """It is done, and a container is remembered that nothing names any more."""
    return is_done(subject) and has_orphans(subject)


def has_taken_over(subject: Subject) -> bool:
    """It serves; or it is done, and nothing was ever to be routed to it."""
    return serves(subject) or (is_done(subject) and not is_published(subject))


# --- what is only withdrawn ------------------------------------------------------------------------------------------------


def is_sidelined_and_exposed(subject: Subject) -> bool:
    """It is unhealthy at the threshold, to be withdrawn for that, and a route to it is not provably gone."""
    return is_sidelined(subject) and not is_clear(subject)
