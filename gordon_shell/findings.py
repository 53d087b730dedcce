"""What `gordon-shell doctor` finds, as values, and how it is told: read aloud, or as JSON. Pure."""

import json
from collections import Counter
from enum import Enum

from attrs import frozen

from gordon_core.sentences import plural
from gordon_shell.errors import GordonError

VERSION = 1


class Severity(Enum):
    """How bad it is. A hint is no fault; a warning will cost something one day; an error does so now."""

    FINE = "fine"
    HINT = "hint"
    WARNING = "warning"
    ERROR = "error"


_SIGNS = {Severity.FINE: "=", Severity.HINT: "~", Severity.WARNING: "!", Severity.ERROR: "!"}


@frozen
class Finding:
    """One thing that was checked: where, what there is to say of it in one sentence, and what would put it right, if anything."""

    severity: Severity
    place: str
    sentence: str
    remedy: str = ""

    @property
    def is_bad(self) -> bool:
        """Return whether it is a warning or an error."""
        return self.severity in {Severity.WARNING, Severity.ERROR}


def fine(place: str, sentence: str) -> Finding:
    """Return that all is well there."""
    return Finding(Severity.FINE, place, sentence)


def hint(place: str, sentence: str, remedy: str) -> Finding:
    """Return what may be better."""
    return Finding(Severity.HINT, place, sentence, remedy)


def warning(place: str, sentence: str, remedy: str) -> Finding:
    """Return what will cost something one day."""
    return Finding(Severity.WARNING, place, sentence, remedy)


def error(place: str, sentence: str, remedy: str) -> Finding:
    """Return what costs something now."""
    return Finding(Severity.ERROR, place, sentence, remedy)


def failure(place: str, wrong: GordonError) -> Finding:
    """Return what could not be reached or read; the text of an error ends with its remedy."""
    sentence, _, remedy = str(wrong).replace("\n", "; ").rpartition("; ")
    return error(place, sentence or remedy, remedy if sentence else "see to it, and check again")


def lines(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """Return one line for each finding, and one of counts."""
    told = (f"{_SIGNS[each.severity]} {each.place}: {_words(each)}" for each in findings)
    counted = Counter(each.severity for each in findings)
    parts = [plural(counted[each], each.value) for each in (Severity.ERROR, Severity.WARNING, Severity.HINT) if counted[each]]
    return (*told, f"{plural(len(findings), 'finding')}: {', '.join(parts) or 'all is well'}.")


def _words(finding: Finding) -> str:
    what = f"{finding.severity.value}: {finding.sentence}" if finding.severity is not Severity.FINE else finding.sentence
    return f"{what}; to help: {finding.remedy}" if finding.remedy else what


def document(findings: tuple[Finding, ...]) -> str:
    """Return the same as a JSON document."""
    told = [
        {"severity": each.severity.value, "place": each.place, "sentence": each.sentence, "remedy": each.remedy}
        for each in findings
    ]
    return json.dumps({"document": "gordon-doctor", "version": VERSION, "findings": told}, indent=2) + "\n"
