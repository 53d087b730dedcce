"""`--what-if KEY=VALUE`: a snapshot in which one thing is otherwise. It is changed as a document, and read again as strictly.

A KEY is a constant of the policy (`unhealthy_threshold`, of all services shown), the same of one service
(`shop/web:unhealthy_threshold`), or a fact by its path in the document (`shop/web:memory.failures`, `shop/web:seen.status`,
`shop/web:superseded[0].seen`). A VALUE is JSON, or a bare text; of several a member may name itself alone (`shop/web:seen=gone`).
"""

import json
import re
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import cast, get_args, get_origin

from attrs import NOTHING, evolve, fields, frozen, has

from gordon_core.document import DocumentFaults, read_snapshot, write_snapshot
from gordon_core.observation import Port
from gordon_core.policy import Constant, Policy
from gordon_core.readings import plain
from gordon_core.shapes import HEADS, Moment, Slot, is_union, members, nearest, slots, tag
from gordon_core.snapshot import Snapshot, Subject
from gordon_shell.errors import DocumentError, UsageError

ORIGIN = "--what-if"
CONSTANTS = tuple(each.name for each in fields(Policy))
_POLICY = ("declared", "policy")
_STEP = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)((?:\[\d+\])*)")
_TEXTS = (str, Port, Moment)
_NOTHING = {"null", "none", "nothing"}
Step = str | int
"""One step of a path: a key, or an index."""


@frozen
class Supposition:
    """One thing that is supposed: of a service ("" for all that are shown), its path, and the value as it was written."""

    text: str
    service: str
    path: tuple[Step, ...]
    value: str

    @property
    def constant(self) -> str:
        """Return which constant of the policy it sets, "" for a fact."""
        is_of_policy = len(self.path) == len(_POLICY) + 1 and self.path[:2] == _POLICY
        return str(self.path[-1]) if is_of_policy else ""


def supposed_of_all(
    snapshots: tuple[Snapshot, ...], texts: Sequence[str], apps: Sequence[str], names: Sequence[str]
) -> tuple[Snapshot, ...]:
    """Return snapshots with all that was supposed, bare constants of the services of these apps ((): all)."""
    return tuple(
        supposed(each, texts, [one.name for one in each.subjects if not apps or one.app in apps], name)
        for each, name in zip(snapshots, names, strict=True)
    )


def supposed(snapshot: Snapshot, texts: Sequence[str], shown: Sequence[str], name: str) -> Snapshot:
    """Return the snapshot with all that was supposed. `shown` are the services (app/service) that a bare constant is set for.

    Raise UsageError for a key that names nothing, and DocumentError for a value that cannot be; these call it by this name.
    """
    known = [each.name for each in snapshot.subjects]
    suppositions = [_supposition(each, known) for each in texts]
    document = cast("dict[str, object]", json.loads(write_snapshot(snapshot)))
    tables = dict(zip(known, cast("list[object]", document.get("services", [])), strict=True))
    for each in suppositions:
        for service in [each.service] if each.service else shown:
            subject = next(subject for subject in snapshot.subjects if subject.name == service)
            if each.service or subject.declared is not None:
                _put(tables[service], each)
    try:
        changed = read_snapshot(json.dumps(document))
    except DocumentFaults as faults:
        lines = "\n".join(f"{name}: with {', '.join(texts)}: {line}" for line in str(faults).split("\n"))
        raise DocumentError(lines) from None
    return evolve(changed, subjects=[_noted(each, suppositions, shown) for each in changed.subjects])


def _noted(subject: Subject, suppositions: list[Supposition], shown: Sequence[str]) -> Subject:
    """Have the plan say of each constant that it is only supposed."""
    said = {
        each.constant: Constant(each.constant, each.value, ORIGIN)
        for each in suppositions
        if each.constant and subject.declared is not None and subject.name in ([each.service] if each.service else shown)
    }
    others = tuple(each for each in subject.policy_constants if each.name not in said)
    return evolve(subject, policy_constants=(*others, *said.values())) if said else subject


# --- what is meant ---------------------------------------------------------------------------------------------------------


def _supposition(text: str, known: Sequence[str]) -> Supposition:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        message = f"{ORIGIN} must be KEY=VALUE, like unhealthy_threshold=3 or shop/web:memory.failures=0; found {text!r}"
        raise UsageError(message)
    service, colon, rest = key.strip().rpartition(":")
    if not colon:
        return Supposition(text, "", (*_POLICY, _named(rest, CONSTANTS, text, _HINT)), value.strip())
    if service not in known:
        near = nearest(service, known)
        right = f"did you mean {near}?" if near else f"name one of: {', '.join(known) or 'none, there is no service'}"
        message = f"{ORIGIN} {text}: there is no service {service!r} here; {right}"
        raise UsageError(message)
    path = _path(rest, text)
    if len(path) == 1 and path[0] in CONSTANTS:
        return Supposition(text, service, (*_POLICY, *path), value.strip())
    _named(str(path[0]), (*(each.key for each in slots(Subject)), *CONSTANTS), text, "")
    return Supposition(text, service, path, value.strip())


_HINT = "a fact is named with its service, like shop/web:memory.failures=0"


def _named(word: str, words: Sequence[str], text: str, hint: str) -> str:
    """Return the word, if it is one of these. Raise UsageError with the nearest."""
    if word in words:
        return word
    near = nearest(word, words)
    right = f"did you mean {near}?" if near else f"known are {', '.join(words)}{f'; {hint}' if hint else ''}"
    message = f"{ORIGIN} {text}: {word!r} is not known; {right}"
    raise UsageError(message)


def _path(text: str, whole: str) -> tuple[Step, ...]:
    steps: list[Step] = []
    for piece in text.split("."):
        found = _STEP.fullmatch(piece)
        if found is None:
            message = f"{ORIGIN} {whole}: {text!r} is no path; one is like memory.failures or superseded[0].seen"
            raise UsageError(message)
        steps += [found[1], *(int(each) for each in re.findall(r"\d+", found[2]))]
    return tuple(steps)


# --- and how it stands in the document ---------------------------------------------------------------------------------------


def _put(place: object, supposition: Supposition) -> None:
    """Set the value at its path; what stands on the way there as by default, and so not in the document, is made first."""
    kinds: tuple[object, ...] = (Subject,)
    for step, following in zip(supposition.path[:-1], supposition.path[1:], strict=True):
        found = _slots(kinds, step)
        kinds = tuple(each.kind for each in found) if isinstance(step, str) else _members(kinds)
        place = _step(place, step, found, supposition, is_list=isinstance(following, int))
    last = supposition.path[-1]
    kinds = tuple(each.kind for each in _slots(kinds, last)) if isinstance(last, str) else _members(kinds)
    value = _value(supposition.value, kinds)
    is_there = isinstance(place, list) and isinstance(last, int) and last < len(place)
    if not is_there and not (isinstance(place, dict) and isinstance(last, str)):
        raise _lost(supposition)
    cast("dict[Step, object]", place)[last] = value


def _step(place: object, step: Step, found: list[Slot], supposition: Supposition, *, is_list: bool) -> object:
    if isinstance(place, list) and isinstance(step, int) and step < len(place):
        return place[step]
    if not isinstance(place, dict) or isinstance(step, int):
        raise _lost(supposition)
    if place.get(step) is None:
        defaults = [each.default for each in found if each.default not in {NOTHING, None}]
        made: object = [] if is_list else {}
        place[step] = plain(defaults[0]) if defaults else made
    return place[step]


def _lost(supposition: Supposition) -> UsageError:
    return UsageError(f"{ORIGIN} {supposition.text}: nothing is there in the snapshot; `gordon-plan --record FILE` shows what is")


def _slots(kinds: tuple[object, ...], key: Step) -> list[Slot]:
    """Return which fields of values of these kinds, or of the members of a union among them, a key can be."""
    classes = [each for each in _alternatives(kinds) if isinstance(each, type) and has(each)]
    return [slot for each in classes for slot in slots(each) if slot.key == key]


def _alternatives(kinds: tuple[object, ...]) -> Iterator[object]:
    for each in kinds:
        yield from members(each) if is_union(each) else (each,)


def _members(kinds: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(get_args(each)[0] for each in kinds if get_origin(each) is tuple)


def _value(text: str, kinds: tuple[object, ...]) -> object:
    """Return a value as JSON data: as what it can be there it is read; the reader of documents has the last word."""
    if text in _NOTHING and any(type(None) in get_args(each) for each in kinds):
        return None
    alternatives = tuple(_alternatives(kinds))
    named = [each for each in alternatives if isinstance(each, type) and text in HEADS.get(each, {}).values()]
    if named:
        return {tag(named[0]): text}
    if any(each in _TEXTS or (isinstance(each, type) and issubclass(each, Enum)) for each in alternatives):
        return text
    lists = _members(alternatives)
    if lists and not text.startswith("["):
        return [_value(each.strip(), lists) for each in text.split(",") if each.strip()]
    try:
        return cast("object", json.loads(text))
    except ValueError:
        return text
