"""A notice as a JSON document, which hooks read, and what was told so far as it is kept."""

import json
import socket
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Final

from attrs import frozen

from gordon_core.noted import Notice, Told
from gordon_core.observation import LATEST_WALL_S, Clock
from gordon_core.printing import escaped
from gordon_shell.codec import from_json, to_json

DOCUMENT: Final = "gordon-notice"
VERSION: Final = 1
MOST_WORDS: Final = 2000
_DIGEST_BYTES: Final = 12


def document(notice: Notice, host: str = "") -> str:
    """Return a notice as one line of JSON; docs/operating.md says what each key means. `host` "": the name of this one."""
    clock = notice.clock
    fields = {
        "document": DOCUMENT,
        "version": VERSION,
        "id": _id(notice),
        "kind": notice.kind.value,
        "at": _moment(clock, clock.boot_s),
        "host": host or socket.gethostname(),
        "app": notice.app,
        "service": notice.service,
        "container_id": notice.container_id,
        "sentence": _cut(notice.sentence),
        "remedy": _cut(notice.remedy),
        "situation": notice.situation,
        "failures": notice.failures,
        "exit_code": notice.exit_code,
        "next_try": _moment(clock, notice.next_try_s) if notice.next_try_s is not None else None,
    }
    return json.dumps(fields)


def _id(notice: Notice) -> str:
    """Return what tells a notice from every other: the same when it is delivered again, after a crash of this program say."""
    clock = notice.clock
    said = f"{notice.kind.value} {notice.app} {notice.service} {notice.container_id} {clock.boot_id} {clock.boot_s!r}"
    return blake2b(said.encode(errors="replace"), digest_size=_DIGEST_BYTES).hexdigest()


def _moment(clock: Clock, boot_s: float) -> str:
    wall_s = max(0.0, min(clock.wall_s + boot_s - clock.boot_s, float(LATEST_WALL_S)))
    return f"{datetime.fromtimestamp(wall_s, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _cut(words: str) -> str:
    """Return words of which some may be an engine's: in one line, without controls, and not longer than a hook can take."""
    shown = escaped(words)
    return shown if len(shown) <= MOST_WORDS else f"{shown[: MOST_WORDS - 1]}…"


_NOTHING: Final = Told()


@frozen
class Memo:
    """What is kept of notices: what was told so far, and what of that may not have been handed on yet."""

    told: Told = _NOTHING
    handing: tuple[Notice, ...] = ()


def memo_in_json(memo: Memo) -> str:
    """Return it as it is kept."""
    return to_json(memo)


def memo_of_json(text: str) -> Memo:
    """Return it as it was kept, "" for nothing. Raise DocumentError."""
    return from_json(Memo, text) if text else Memo()
