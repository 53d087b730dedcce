"""What timelines are drawn with: bars and signs that can be told apart without their colours, and what each means. Pure."""

from collections.abc import Iterator
from typing import Final

from gordon_shell.counts_text import Mark
from gordon_shell.course import Form, Lane, Sign, Span
from gordon_shell.markup import Markup, line, tag, text

MARKS: Final = {Mark.WELL: "well", Mark.WAITS: "waits", Mark.ACTS: "acts", Mark.HELD: "held", None: "plain"}
"""The class of each mark in the style sheet."""
_PATTERNED: Final = {Form.HATCHED, Form.DOTTED, Form.DENSE}
SHAPES: Final = {
    Sign.DEED: ("M-6 -6 H6 V6 H-6 Z", "b", None),
    Sign.ATTEMPT: ("M0 -7 L7 6 L-7 6 Z", "b", Mark.WAITS),
    Sign.CHARGE: ("M0 -7 A7 7 0 1 1 0 7 A7 7 0 1 1 0 -7 Z", "b", Mark.HELD),
    Sign.STRIKE: ("M0 -7 L7 0 L0 7 L-7 0 Z", "b", Mark.ACTS),
    Sign.FAILED_END: ("M-5 -5 L5 5 M5 -5 L-5 5", "cross", Mark.HELD),
    Sign.END: ("M0 -9 L0 9", "cross", None),
}
BAR: Final = 18
"""How high a bar is."""


def bar(span: Span, width: float) -> Iterator[Markup]:
    """Yield the shapes of something that lasts, which has this width in percent, and what is written on it."""
    thick = 4 if span.form is Form.THIN else BAR
    yield tag("rect", width="100%", y=(BAR - thick) // 2, height=thick, rx=2, class_="b")
    if span.form is Form.HOLLOW:
        yield tag("rect", width="100%", y=2, height=BAR - 4, class_="over")
    if span.form in _PATTERNED:
        yield tag("rect", width="100%", height=BAR, fill=f"url(#{span.form.value})")
    # A letter takes some 7 pixels: of 330 on a phone, of 1000 on a desk.
    for short in (span.short, span.short.partition(" to ")[0]):
        room = len(short) * 7 + 16
        if span.form is not Form.THIN and short and width * 10 >= room:
            yield tag("text", text(short), x=12, y=13, class_="label" if width * 3.3 >= room else "label wide")
            return


def patterns() -> Markup:
    """Return the patterns that tell forms apart; they stand once in a page."""
    shapes = {
        Form.HATCHED: tag("path", d="M-2 10 L10 -2 M2 14 L14 2", stroke="var(--page)", stroke_width=2.5, stroke_opacity=".75"),
        Form.DOTTED: tag("circle", cx=3, cy=3, r="1.4", fill="var(--page)", fill_opacity=".8"),
        Form.DENSE: tag("rect", width=2, height=12, fill="var(--page)"),
    }
    sizes = {Form.HATCHED: 12, Form.DOTTED: 6, Form.DENSE: 5}
    made = (
        line("pattern", shape, id=form.value, width=sizes[form], height=sizes[form], patternUnits="userSpaceOnUse")
        for form, shape in shapes.items()
    )
    return tag("svg", tag("defs", *made), class_="patterns", aria_hidden="true", focusable="false")


def legend() -> Markup:
    """Return what each form means."""
    bars = (
        (Form.SOLID, Mark.WELL, "= as desired, healthy, routed"),
        (Form.DOTTED, Mark.WAITS, "~ waiting or starting"),
        (Form.HOLLOW, Mark.ACTS, "> being put right, or not known"),
        (Form.HATCHED, Mark.HELD, "! held or unhealthy"),
        (Form.THIN, None, "down, not routed, none"),
        (Form.DENSE, None, "several, too near to be drawn alone"),
    )
    spans = (
        tag(
            "svg",
            *bar(Span(Lane.WAIT, form, mark, 0, 0, "", ""), 100),
            width=30,
            height=BAR,
            class_=f"i {MARKS[mark]} {form.value}",
        )
        for form, mark, _ in bars
    )
    signs = (
        (Sign.FAILED_END, "it failed"),
        (Sign.END, "it ended"),
        (Sign.DEED, "somebody did something, or a deploy"),
        (Sign.ATTEMPT, "start"),
        (Sign.CHARGE, "charge"),
        (Sign.STRIKE, "strike"),
    )
    shown = [
        *(_explained(span, words) for span, (_, _, words) in zip(spans, bars, strict=True)),
        *(_explained(_drawn_alone(sign), words) for sign, words in signs),
    ]
    return tag("ul", *shown, class_="legend")


def _drawn_alone(sign: Sign) -> Markup:
    path, style, mark = SHAPES[sign]
    classes = f"i {MARKS[mark]}"
    return tag("svg", tag("path", d=path, class_=style), width=18, height=20, viewBox="-9 -10 18 20", class_=classes)


def _explained(drawn: Markup, words: str) -> Markup:
    return line("li", tag("span", drawn, aria_hidden="true"), text(words))
