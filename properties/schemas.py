"""Documents drawn from a JSON Schema as it is shipped: of the right shape all over, and as wild as the shape allows.

Texts come from small pools by their key, so that the coincidences happen without which most documents mean nothing: what was seen
is the declared container, a bind is for a declared port. The schema is followed as far as ours go, and no further.
"""

from collections.abc import Mapping
from functools import cache
from typing import cast

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from properties.damage import TEXTS, Json

Schema = Mapping[str, object]

_POOLS: Mapping[str, tuple[str, ...]] = {
    "app": ("shop", "blog"),
    "service": ("web", "db"),
    "container_id": ("c1",),
    "boot_id": ("boot-1", "boot-2"),
    "started_at": ("", "2026-11-30T07:00:00Z", "2026-11-30T07:05:00.123456789Z"),
    "finished_at": ("", "0001-01-01T00:00:00Z", "2026-11-30T07:05:00Z"),
    "before": ("", "2026-11-30T07:00:00Z"),
    "charged": ("", "2026-11-30T07:00:00Z"),
    "host_ip": ("127.0.0.1", "0.0.0.0", "::", ""),  # noqa: S104 - data
    "path": ("/", "/up?deep=1"),
}
_PORTS = ("80/tcp", "443/tcp", "53/udp")
_MOMENTS = ("2026-11-30T07:00:00Z", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-11-30T07:00:00.1Z")
_texts = st.sampled_from([each for each in TEXTS if each.isascii()]) | st.text(max_size=6)


class Drawer:
    """Makes strategies for the parts of one schema."""

    def __init__(self, schema: Schema) -> None:
        """Draw from this schema."""
        self._schema = schema
        self._named = cast("Mapping[str, Schema]", schema["$defs"])

    def documents(self) -> SearchStrategy[Json]:
        """Return whole documents."""
        return self._of(self._schema, "")

    def _of(self, schema: Schema, key: str) -> SearchStrategy[Json]:
        match schema:
            case {"$ref": str(reference)}:
                return self._reference(reference.rpartition("/")[2])
            case {"oneOf": list(some)}:
                return st.one_of([self._of(each, key) for each in some])
            case {"enum": list(values)} | {"const": values}:
                return st.sampled_from(values if isinstance(values, list) else [cast("Json", values)])
            case {"type": "object"}:
                return self._object(schema)
            case {"type": "array", "items": dict(items)}:
                least = cast("int", schema.get("minItems", 0))
                return cast("SearchStrategy[Json]", st.lists(self._of(items, key), min_size=least, max_size=2))
            case _:
                return _scalar(schema, key)

    @cache  # noqa: B019 - as long-lived as the tests
    def _reference(self, name: str) -> SearchStrategy[Json]:
        return st.deferred(lambda: self._of(self._named[name], name))

    def _object(self, schema: Schema) -> SearchStrategy[Json]:
        of = {key: self._of(each, key) for key, each in cast("Mapping[str, Schema]", schema["properties"]).items()}
        needed = set(cast("list[str]", schema["required"]))
        optional = {key: each for key, each in of.items() if key not in needed}
        drawn = st.fixed_dictionaries({key: each for key, each in of.items() if key in needed}, optional=optional)
        return cast("SearchStrategy[Json]", drawn)


def _scalar(schema: Schema, key: str) -> SearchStrategy[Json]:
    least, most, above = (cast("float | None", schema.get(each)) for each in ("minimum", "maximum", "exclusiveMinimum"))
    match schema["type"]:
        case "integer":
            near = st.integers(int(least or 0), int(least or 0) + 3)
            wide = st.integers(None if least is None else int(least), None if most is None else int(most))
            return near | wide
        case "number":
            low = least if above is None else above
            floats = st.floats(low, most, exclude_min=above is not None, allow_nan=False, allow_infinity=False)
            return floats | st.sampled_from([1, 2.5, 1e9])
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case _:
            return _text(schema, key)


def _text(schema: Schema, key: str) -> SearchStrategy[Json]:
    pattern = str(schema.get("pattern", ""))
    if "T" in pattern:
        return st.sampled_from(_MOMENTS)
    if "tcp" in pattern:
        return st.sampled_from(_PORTS)
    some = st.sampled_from(_POOLS[key]) if key in _POOLS else _texts
    return some.filter(lambda each: len(each) >= cast("int", schema.get("minLength", 0)))
