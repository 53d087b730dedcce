"""The JSON Schemas (2020-12) of the documents, generated from the types. They are shipped in `schemas/`, and a test compares.

What a schema cannot say (each port once, say) the validators of the types do when a document is read.
"""

from collections.abc import Mapping
from enum import Enum
from typing import get_args, get_origin

from attrs import NOTHING

from gordon_core.encoding import writer
from gordon_core.observation import Port
from gordon_core.record import PlanRecord
from gordon_core.shapes import HEADS, Moment, Slot, is_union, limits, members, slots
from gordon_core.snapshot import Snapshot

Schema = dict[str, object]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NUMBER = "([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
_SCALARS: Mapping[object, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    Moment: {
        "type": "string",
        "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z$",
        "description": "A time in UTC (RFC 3339), with as many digits of a second as make it exact.",
    },
}


def snapshot_schema() -> Schema:
    """Return the JSON Schema of snapshot documents."""
    return _document(Snapshot)


def plan_schema() -> Schema:
    """Return the JSON Schema of plan documents."""
    return _document(PlanRecord)


def _document(kind: type) -> Schema:
    shared: Schema = {}
    root = _class(kind, shared)
    return {"$schema": _DIALECT, "title": HEADS[kind]["document"], **root, "$defs": dict(sorted(shared.items()))}


def _class(kind: type, shared: Schema) -> Schema:
    head: Schema = {key: {"const": value} for key, value in HEADS.get(kind, {}).items()}
    return {
        "description": _description(kind),
        "type": "object",
        "properties": {**head, **{each.key: _slot(each, shared) for each in slots(kind)}},
        "required": [*head, *(each.key for each in slots(kind) if each.default is NOTHING)],
        "additionalProperties": False,
    }


def _slot(slot: Slot, shared: Schema) -> Schema:
    schema = _merged(kind_schema(slot.kind, shared), limits(slot.attribute.validator, slot.kind))
    if slot.default is NOTHING:
        return schema
    return {**schema, "default": writer(slot.kind)(slot.default)}


def _merged(schema: Schema, limit: Schema) -> Schema:
    match schema.get("items"), limit.get("items"):
        case dict(items), dict(more):
            return {**schema, **limit, "items": {**items, **more}}
        case _:
            return {**schema, **limit}


def kind_schema(kind: object, shared: Schema) -> Schema:
    """Return the schema of one type, and add the named ones that it refers to to `shared`. Raise TypeError for any other type."""
    match kind:
        case _ if kind in _SCALARS:
            return _SCALARS[kind]
        case _ if get_origin(kind) is tuple:
            return {"type": "array", "items": kind_schema(get_args(kind)[0], shared)}
        case _ if is_union(kind):
            return _union(kind, shared)
        case type():
            return _reference(kind, shared)
        case _:
            message = f"a document cannot hold {kind}"
            raise TypeError(message)


def _union(kind: object, shared: Schema) -> Schema:
    some = [kind_schema(each, shared) for each in members(kind)]
    null: list[Schema] = [{"type": "null"}] if len(some) < len(get_args(kind)) else []
    return {"oneOf": [*some, *null]}


def _reference(kind: type, shared: Schema) -> Schema:
    if kind.__name__ not in shared:
        shared[kind.__name__] = {}
        shared[kind.__name__] = _named(kind, shared)
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _named(kind: type, shared: Schema) -> Schema:
    if kind is Port:
        return {"description": _description(kind), "type": "string", "pattern": f"^{_NUMBER}/(tcp|udp)$"}
    if issubclass(kind, Enum):
        return {"description": _description(kind), "enum": [each.value for each in kind]}
    return _class(kind, shared)


def _description(kind: type) -> str:
    return " ".join(str(kind.__doc__).split())
