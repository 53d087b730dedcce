"""The course of a service as a timeline: inline SVG that has the width of whatever it stands in, and needs no script. Pure.

Each thing that is drawn is a link to the row that tells of it; its reason is its title, and stands beneath the lanes while it has
the pointer or the focus.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from attrs import frozen

from gordon_core.sentences import duration
from gordon_shell.course import Course, Lane, Point, Sign, Span
from gordon_shell.markup import Markup, joined, line, tag, text
from gordon_shell.page_shapes import BAR, MARKS, SHAPES, bar

_SIGNS: Final = {
    Sign.DEED: "Deeds: what people and deploys did",
    Sign.ATTEMPT: "Starts",
    Sign.CHARGE: "Charges, by number of failures",
    Sign.STRIKE: "Strikes of the health check",
}
_PITCH, _SIGN_PITCH, _LABEL = 43, 36, 14
_WHY = 58
_LEAST = 0.35
_STEPS_S: Final = (
    1,
    2,
    5,
    10,
    15,
    30,
    60,
    120,
    300,
    600,
    900,
    1800,
    3600,
    7200,
    10800,
    21600,
    43200,
    86400,
    172800,
    604800,
    2592000,
)
_MOST_TICKS = 9
_DAY_S = 86400
_HINT = "Point at, touch or tab to what is drawn to read its reason; follow it to its row in the table."


@frozen
class _Scale:
    """Where times are, in percent of the width."""

    since_s: float
    until_s: float

    def at(self, time_s: float) -> float:
        part = (time_s - self.since_s) / max(self.until_s - self.since_s, 1.0)
        return min(max(part, 0.0), 1.0) * 100

    def clock(self, time_s: float) -> str:
        """Return a time with its date, where the whole is not of one day."""
        is_of_a_day = int(self.since_s // _DAY_S) == int(self.until_s // _DAY_S)
        return f"{datetime.fromtimestamp(time_s, UTC):{'%H:%M:%SZ' if is_of_a_day else '%Y-%m-%d %H:%M:%SZ'}}"


def figure(course: Course, name: str, key: str) -> Markup:
    """Return the timeline of a service; `key` begins the IDs of its elements."""
    scale = _Scale(course.since_s, course.until_s)
    lanes = [each for each in Lane if any(span.lane is each for span in course.spans)]
    signs = [each for each in _SIGNS if any(point.sign is each for point in course.points)]
    axis = len(lanes) * _PITCH + len(signs) * _SIGN_PITCH
    why = axis + 22
    parts: list[Markup] = [*_axis(scale, axis)]
    for number, lane in enumerate(lanes):
        parts.append(_lane(lane, course, scale, number * _PITCH, why, key))
    for number, sign in enumerate(signs):
        parts.append(_sign_lane(sign, course, scale, len(lanes) * _PITCH + number * _SIGN_PITCH, why, key))
    hint = tag("foreignObject", tag("div", text(_HINT), class_="hint"), x="0", y=why, width="100%", height=_WHY)
    svg = tag(
        "svg",
        line(
            "title",
            text(f"Timeline of {name}, {scale.clock(course.since_s)} to {scale.clock(course.until_s)}"),
            id=f"{key}-title",
        ),
        line("desc", text(_described(lanes, signs)), id=f"{key}-desc"),
        hint,
        *parts,
        role="group",
        aria_labelledby=f"{key}-title",
        aria_describedby=f"{key}-desc",
        width="100%",
        height=why + _WHY,
    )
    return tag("figure", svg)


def _described(lanes: list[Lane], signs: list[Sign]) -> str:
    drawn = ", ".join([*(each.value for each in lanes), *(_SIGNS[each] for each in signs)])
    return f"Lanes, each from left to right in time: {drawn}. The table below tells the same."


# --- the time ----------------------------------------------------------------------------------------------------------------


def _axis(scale: _Scale, bottom: int) -> Iterator[Markup]:
    length_s = max(scale.until_s - scale.since_s, 1.0)
    step_s = next((each for each in _STEPS_S if length_s / each <= _MOST_TICKS), _STEPS_S[-1])
    first = int(-(-scale.since_s // step_s))
    for number in range(first, int(scale.until_s // step_s) + 1):
        x = _percent(scale.at(number * step_s))
        yield line("line", x1=x, x2=x, y1=0, y2=bottom, class_="grid")
        is_at_the_edge = not 3 < scale.at(number * step_s) < 97  # noqa: PLR2004 - percent, half a label
        if not is_at_the_edge:
            shown = "wide" if number % 2 else None
            yield line("text", text(_tick(number * step_s, step_s)), x=x, y=bottom + 14, text_anchor="middle", class_=shown)


def _tick(time_s: float, step_s: int) -> str:
    moment = datetime.fromtimestamp(time_s, UTC)
    if time_s % _DAY_S == 0:
        return f"{moment:%m-%d}"
    return f"{moment:%H:%M:%S}" if step_s < 60 else f"{moment:%H:%M}"  # noqa: PLR2004 - a minute


def _percent(value: float) -> str:
    return f"{value:.3f}%"


# --- lanes -------------------------------------------------------------------------------------------------------------------


def _lane(lane: Lane, course: Course, scale: _Scale, top: int, why: int, key: str) -> Markup:  # noqa: PLR0913, PLR0917 - geometry
    spans = sorted((each for each in course.spans if each.lane is lane), key=lambda each: (each.from_s, each.until_s))
    ends = [each for each in course.points if lane is Lane.EXECUTION and each.sign not in _SIGNS]
    y = top + _LABEL + 3
    return tag(
        "g",
        line("text", text(lane.value), x="0", y=top + 11),
        line("line", x1="0", x2="100%", y1=y + BAR // 2, y2=y + BAR // 2, class_="base"),
        *(_span(each, scale, y, why, key) for each in spans),
        *(_point(each, scale, y + BAR // 2, why, key) for each in ends),
    )


def _sign_lane(sign: Sign, course: Course, scale: _Scale, top: int, why: int, key: str) -> Markup:  # noqa: PLR0913, PLR0917 - geometry
    middle = top + _LABEL + 10
    return tag(
        "g",
        line("text", text(_SIGNS[sign]), x="0", y=top + 11),
        *(_point(each, scale, middle, why, key) for each in course.points if each.sign is sign),
    )


def _span(span: Span, scale: _Scale, y: int, why: int, key: str) -> Markup:
    x = scale.at(span.from_s)
    width = max(scale.at(span.until_s) - x, _LEAST)
    x = min(x, 100 - width)
    lasted = f"{scale.clock(span.from_s)} to {scale.clock(span.until_s)} ({duration(span.until_s - span.from_s)})"
    many = f", {span.count} drawn as one" if span.count > 1 else ""
    box = {"x": _percent(x), "width": _percent(width)}
    return _item(
        f"{lasted}, {span.lane.value.lower()}{many}: {span.words}",
        (MARKS[span.mark], span.form.value),
        f"#{key}-r{span.row}" if span.row else f"#{key}-rows",
        why,
        tag("svg", *bar(span, width), y=y, height=BAR, **box),
        tag("rect", y=y - 3, height=BAR + 6, rx=4, class_="ring", **box),
    )


def _point(point: Point, scale: _Scale, y: int, why: int, key: str) -> Markup:
    path, style, mark = SHAPES[point.sign]
    x = _percent(scale.at(point.at_s))
    beside = [tag("text", text(point.short), x=10, y=4, class_="beside")] if point.short else []
    return _item(
        f"{scale.clock(point.at_s)}: {point.words}",
        (MARKS[mark],),
        f"#{key}-r{point.row}" if point.row else f"#{key}-rows",
        why,
        tag("svg", tag("path", d=path, class_="halo"), tag("path", d=path, class_=style), *beside, x=x, y=y, overflow="visible"),
        tag("circle", cx=x, cy=y, r=11, class_="ring"),
    )


def _item(words: str, classes: Iterable[str], to: str, why: int, *shapes: Markup) -> Markup:
    reason = tag("foreignObject", tag("div", text(words), class_="why"), x="0", y=why, width="100%", height=_WHY)
    return line("a", tag("title", text(words)), joined(shapes), reason, href=to, class_=" ".join(["i", *classes]))
