"""HTML from values: what comes from outside is escaped, since only these functions make markup. Pure.

Equal values give equal bytes: attributes stand in the order in which they are given.
"""

from collections.abc import Iterable
from html import escape
from typing import Final, NewType

from gordon_shell.cli_common import printable

Markup = NewType("Markup", str)
"""Text in which nothing is left to escape."""
Attribute = str | float | bool | None

NONE: Final = Markup("")
_VOID: Final = frozenset({"meta", "br"})
_BLOCKS: Final = frozenset({
    "html", "head", "body", "main", "header", "footer", "section", "table", "thead", "tbody", "tr", "ul", "figure", "svg", "g",
})  # fmt: skip


def text(words: str) -> Markup:
    """Return words as they are to be read: whatever could mislead or break out is escaped, line ends are spaces."""
    return Markup(escape(printable(words)))


def joined(parts: Iterable[Markup], between: Markup = NONE) -> Markup:
    """Return several as one, with this between them."""
    return Markup(between.join(parts))


def tag(name: str, /, *children: Markup, **attributes: Attribute) -> Markup:
    """Return an element. Of attributes, None and False are left out, and True stands without a value.

    Their names lose a `_` at the end, and have `-` for one within: `class_`, `aria_label`.
    """
    opened = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    if name in _VOID:
        return Markup(opened)
    inner = "".join(children)
    if name in _BLOCKS:
        # One element a line: what changed between two reports can be seen.
        return Markup(f"{opened}\n{inner}</{name}>\n")
    return Markup(f"{opened}{inner}</{name}>")


def line(name: str, /, *children: Markup, **attributes: Attribute) -> Markup:
    """Return an element that has a line to itself."""
    return Markup(f"{tag(name, *children, **attributes)}\n")


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text(str(value))}"'
