"""Plans as JSON documents, for `gordon-plan --format json`: one, or arrays of them where there are several, or a forecast."""

from textwrap import indent

from gordon_core.document import write_plan
from gordon_core.planner import Plan
from gordon_core.sentences import record


def documents(shown: tuple[Plan, ...], roads: tuple[tuple[Plan, ...], ...]) -> str:
    """Return these plans; with roads (one for each), an array of plans in order of time in place of each."""
    texts = [_array([_document(each) for each in road]) for road in roads] or [_document(each) for each in shown]
    return texts[0] if len(texts) == 1 else _array(texts)


def _array(texts: list[str]) -> str:
    return "[\n" + ",\n".join(indent(each.rstrip("\n"), "  ") for each in texts) + "\n]\n"


def _document(plan: Plan) -> str:
    return write_plan(record(plan))
