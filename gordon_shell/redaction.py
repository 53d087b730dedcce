"""Words of others without the values of environment variables: each is replaced by the name of its variable, in brackets."""

import json
from collections.abc import Iterable, Iterator

from attrs import evolve

from gordon_core.blueprint import Variable
from gordon_core.effects import Done, Outcome

_DISTINCT = 4
"""The length from which a value is looked for anywhere; a shorter one (a port, a 1) only where it stands behind its name."""


def redacted(words: str, environment: Iterable[Variable]) -> str:
    """Return the words with no value in them: not as it is, nor quoted, nor run together, nor one line of it."""
    forms = {form: each.name for each in environment for form in _forms(each)}
    for form in sorted(forms, key=len, reverse=True):
        words = words.replace(form, _shown(form, forms[form]))
    return words


def hidden(outcome: Outcome, environment: Iterable[Variable]) -> Outcome:
    """Return the outcome with no value in its reason."""
    return outcome if isinstance(outcome, Done) else evolve(outcome, reason=redacted(outcome.reason, environment))


def _shown(form: str, name: str) -> str:
    return f"{name}=[{name}]" if form.startswith(f"{name}=") else f"[{name}]"


def _forms(variable: Variable) -> Iterator[str]:
    value = variable.value
    for each in {
        value,
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        " ".join(value.split()),
        *value.splitlines(),
    }:
        if len(each.strip()) >= _DISTINCT:
            yield each
        elif each.strip():
            yield f"{variable.name}={each}"
