"""A length of time, as an operator writes it: `2h30m`, or with a sign, `-2h30m` for ago and `+2h30m` for from now. Pure."""

import re

_UNITS_S = {"d": 86400.0, "h": 3600.0, "m": 60.0, "min": 60.0, "s": 1.0, "": 1.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(d|h|min|m|s|)")
_SIGNED = re.compile(rf"(?:{_PART.pattern})+")
_BARE = re.compile(r"(?:\d+(?:\.\d+)?(?:d|h|min|m|s))+")
"""Without a sign each number needs its unit: a bare one may be meant as a year, or as a time of day."""


def seconds(text: str, sign: str) -> float | None:
    """Return how many seconds a text says, with or without this sign; None where it says no length of time."""
    kind, length = (_SIGNED, text.removeprefix(sign)) if text.startswith(sign) else (_BARE, text)
    if kind.fullmatch(length) is None:
        return None
    return sum(float(count) * _UNITS_S[unit] for count, unit in _PART.findall(length))
