"""An explanation as a JSON document; values that were read are as in documents of snapshots, under their paths there."""

import json
from collections.abc import Sequence

from gordon_core.document import write_plan
from gordon_core.explanation import Explanation, RowRead
from gordon_core.observation import Clock
from gordon_core.planner import Plan
from gordon_core.readings import plain
from gordon_core.sentences import line, record
from gordon_shell.explaining import Past, Told
from gordon_shell.history_document import deed_fields, dossier_fields, record_fields

NAME, VERSION = "gordon-explanation", 1


def document(told: Sequence[Told]) -> str:
    """Return what is to be told of these services."""
    found = {"document": NAME, "version": VERSION, "services": [_service(each) for each in told]}
    return json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _service(told: Told) -> dict[str, object]:
    subject = told.explanations[0].decision.subject
    return {
        "app": subject.app,
        "service": subject.service,
        "decisions": [_decision(each, told.plan.clock) for each in told.explanations],
        "forecast": [_plan(each) for each in told.forecast],
        "memory": plain(subject.memory),
        "past": _past(told.past),
    }


def _decision(explanation: Explanation, clock: Clock) -> dict[str, object]:
    return {
        "decision": plain(line(explanation.decision, clock)),
        "row": _row(explanation.row),
        "above": [_row(each) for each in explanation.above],
        "ruled_out": [
            {"rows": list(each.numbers), "situations": [one.name for one in each.situations], "asks": each.why}
            for each in explanation.ruled_out
        ],
    }


def _row(row: RowRead) -> dict[str, object]:
    return {
        "number": row.number,
        "situation": row.situation.name,
        "rule": row.rule,
        "asks": row.asks,
        "fact": row.fact,
        "holds": row.held,
        "read": [{"path": each.path, "value": plain(each.value)} for each in row.readings],
    }


def _plan(plan: Plan) -> object:
    found: object = json.loads(write_plan(record(plan)))
    return found


def _past(past: Past) -> dict[str, object]:
    return {
        "unread": past.unread,
        "records": [record_fields(each) for each in past.records],
        "dossiers": [dossier_fields(each) for each in past.dossiers],
        "deeds": [deed_fields(each) for each in past.deeds],
    }
