"""The live host for `gordon-plan`: a look at it, kept on request; and what of it could not be reached."""

import os
from pathlib import Path

from gordon_core.document import write_snapshot
from gordon_core.observation import RouteUnread, Unread
from gordon_core.snapshot import Snapshot
from gordon_shell.errors import EngineError, RouterError, UsageError
from gordon_shell.wiring import LiveOptions, live_snapshot


def looked_at(options: LiveOptions, record: Path | None) -> Snapshot:
    """Return the live snapshot, and write it to this file, if one is named. Raise GordonError."""
    snapshot = live_snapshot(options)
    if record is not None:
        _save(record, write_snapshot(snapshot))
    return snapshot


def _save(path: Path, text: str) -> None:
    """Write a recording: what it says of the host is its owner's business first."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(text.encode())
    except OSError as error:
        message = f"{path}: the snapshot cannot be written ({error.strerror}); name another file after --record"
        raise UsageError(message) from None


def demand_answers(snapshot: Snapshot) -> None:
    """Raise EngineError or RouterError where one was out of reach: the plan was printed, but is not about the host as it is."""
    looks = [each.seen for each in snapshot.subjects if each.declared is not None]
    unread = [each.reason for each in looks if isinstance(each, Unread)]
    if unread and len(unread) == len(looks):
        message = f"no container could be read: {unread[0]}"
        raise EngineError(message)
    for route in (each.route for each in snapshot.subjects):
        if isinstance(route, RouteUnread):
            message = f"the router could not be read: {route.reason}"
            raise RouterError(message)
