"""Constants of recovery as an operator writes them, in labels and on a command line: `ladder_s=60,120`. Strict, and pure.

What sets a constant, from the broadest to what wins: its default, what was declared for the service, a label of its container,
the host policy (of its scopes the narrowest), and the command `gordon-shell tune`.
"""

from collections.abc import Callable, Iterable, Mapping

from attrs import evolve, fields, frozen

from gordon_core.grants import SETS_NOTHING, HostPolicy, Overrides
from gordon_core.policy import DEFAULT_POLICY, Constant, Policy, WhenUnhealthy

LABEL_PREFIX = "gordon.recovery."
CONSTANTS = tuple(each.name for each in fields(Overrides))
LONGEST_S = 366 * 86400
MOST_FAILURES = 1_000_000
Value = int | float | bool | tuple[float, ...] | WhenUnhealthy


class NotUnderstoodError(ValueError):
    """A text says no value of a constant; the words say what would be one."""


@frozen
class Applied:
    """The constants of one service, what set each that is not left to its default, and which labels are not understood."""

    policy: Policy
    constants: tuple[Constant, ...] = ()
    faults: tuple[str, ...] = ()


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(MOST_FAILURES)) and 1 <= int(text) <= MOST_FAILURES):
        message = f"must be a whole number from 1 to {MOST_FAILURES}"
        raise NotUnderstoodError(message)
    return int(text)


def _seconds(text: str, *, zero: bool = False) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= LONGEST_S or not (value or zero):
        message = f"must be a number of seconds {'from 0' if zero else 'above 0'} to {LONGEST_S}"
        raise NotUnderstoodError(message)
    return value


def _seconds_or_none(text: str) -> float:
    return _seconds(text, zero=True)


def _ladder(text: str) -> tuple[float, ...]:
    try:
        return tuple(_seconds(each.strip()) for each in text.split(","))
    except NotUnderstoodError:
        message = "must be waits in seconds with commas between them, like 60,120,300"
        raise NotUnderstoodError(message) from None


def _flag(text: str) -> bool:
    if text not in {"true", "false"}:
        message = "must be true or false"
        raise NotUnderstoodError(message)
    return text == "true"


def _when_unhealthy(text: str) -> WhenUnhealthy:
    try:
        return WhenUnhealthy(text)
    except ValueError:
        message = f"must be {' or '.join(each.value for each in WhenUnhealthy)}"
        raise NotUnderstoodError(message) from None


_READERS: Mapping[str, Callable[[str], Value]] = {
    "free_failures": _count,
    "ladder_s": _ladder,
    "stable_window_s": _seconds,
    "longest_gap_s": _seconds,
    "unhealthy_threshold": _count,
    "readiness_s": _seconds_or_none,
    "shortest_deadline_s": _seconds,
    "exit_0_is_done": _flag,
    "unhealthy": _when_unhealthy,
}


def read_constant(constant: str, text: str) -> Value:
    """Return what a text sets a constant to. Raise NotUnderstoodError for an unknown constant, or no value of it."""
    if constant not in _READERS:
        message = f"is not known; known are {', '.join(CONSTANTS)}"
        raise NotUnderstoodError(message)
    return _READERS[constant](text.strip())


def changed(before: Overrides, values: Mapping[str, Value | None]) -> Overrides:
    """Return overrides in which these constants are set otherwise; None: no more."""
    return evolve(before, **values)  # type: ignore[arg-type]  # each value was read by the reader of its constant


def in_words(value: Value) -> str:
    """Return a value as it is written in a label: "60, 120", "true", "withdraw"."""
    match value:
        case bool():
            return "true" if value else "false"
        case WhenUnhealthy():
            return value.value
        case tuple():
            return ", ".join(map(in_words, value))
        case _:
            return str(int(value)) if value == int(value) else str(value)


def of_labels(labels: Mapping[str, str]) -> tuple[Overrides, tuple[str, ...]]:
    """Return what the labels of a container set, and a clause for each that is not understood, which sets nothing."""
    known: dict[str, Value] = {}
    faults: list[str] = []
    for label in sorted(each for each in labels if each.startswith(LABEL_PREFIX)):
        constant = label.removeprefix(LABEL_PREFIX)
        try:
            known[constant] = read_constant(constant, labels[label])
        except NotUnderstoodError as error:
            why = f"it {error}" if constant in _READERS else "there is no such constant"
            faults.append(f"policy label {label}={labels[label]} is not understood: {why}; it is left out")
    return changed(SETS_NOTHING, known), tuple(faults)


def applied(  # noqa: PLR0913, PLR0917 - all that may set a constant
    policy: HostPolicy | None,
    app: str,
    service: str,
    declared: Policy = DEFAULT_POLICY,
    labels: Mapping[str, str] | None = None,
    tuned: Overrides = SETS_NOTHING,
) -> Applied:
    """Return the constants that hold for a service, from everything that sets one."""
    labelled, faults = of_labels(labels) if labels else (SETS_NOTHING, ())
    scopes = policy.scopes_of(app, service) if policy is not None else ()
    sources = [
        ("label", labelled),
        *((f"[{f'{each.place}.recovery'.removeprefix('.')}] of the host policy", each.recovery) for each in scopes),
        ("gordon-shell tune", tuned),
    ]
    setting = [(origin, each) for origin, each in sources if each != SETS_NOTHING]
    constants = declared
    for _, overrides in setting:
        constants = overrides.over(constants)
    if constants == DEFAULT_POLICY and not setting:
        return Applied(constants, (), faults)
    return Applied(constants, tuple(_constants(constants, declared, setting)), faults)


def _constants(constants: Policy, declared: Policy, setting: list[tuple[str, Overrides]]) -> Iterable[Constant]:
    for each in CONSTANTS:
        origins = [origin for origin, overrides in setting if getattr(overrides, each) is not None]
        if not origins and getattr(declared, each) == getattr(DEFAULT_POLICY, each):
            continue
        origin = origins[-1] if origins else "what was declared for it"
        named = f"label {LABEL_PREFIX}{each}" if origin == "label" else origin
        yield Constant(each, in_words(getattr(constants, each)), named)
