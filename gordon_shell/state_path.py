"""Where the state is, if nobody says."""

import os
from pathlib import Path


def default_state_path() -> Path:
    """Return /var/lib/gordon/state.db for root, and state.db in the user's own state directory for everybody else."""
    if os.geteuid() == 0:
        return Path("/var/lib/gordon/state.db")
    from platformdirs import user_state_path  # noqa: PLC0415 - not on the way to `--help`

    return user_state_path("gordon") / "state.db"


def state_path(option: str | None) -> Path:
    """Return the path that `--state` (or GORDON_STATE) gives, with ~ expanded, or the default one where it gives none."""
    return Path(option).expanduser() if option else default_state_path()
