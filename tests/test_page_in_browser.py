"""The page of a report as a browser draws it: at every width, in both colour schemes, for the keyboard, and on paper."""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from gordon_shell.page_style import DARK as DARK_PALETTE
from gordon_shell.page_style import LIGHT as LIGHT_PALETTE
from tests.browser import DARK, LIGHT, framed, pixels, run
from tests.pages import night

WIDTHS = (320, 390, 768, 1280)
LOOK = """
addEventListener("load", () => {
  const found = [...document.querySelectorAll("iframe")].map(frame => {
    const page = frame.contentDocument, root = page.documentElement, style = each => frame.contentWindow.getComputedStyle(each)
    const drawn = [...page.querySelectorAll("figure a")], one = drawn[2]
    const hidden = style(one.querySelector("foreignObject")).visibility
    frame.focus(); one.focus()
    return { width: root.clientWidth, scrolled: root.scrollWidth, scripts: page.scripts.length, drawn: drawn.length, hidden,
      background: style(page.body).backgroundColor, focused: page.activeElement === one,
      shown: style(one.querySelector("foreignObject")).visibility, ring: style(one.querySelector(".ring")).stroke,
      cards: style(page.querySelector("tbody td")).display, head: style(page.querySelector("thead")).position,
      bars: [...page.querySelectorAll("figure rect.b")].filter(each => each.getBoundingClientRect().width > 0).length,
      reach: drawn.every(each => each.tabIndex === 0) }
  })
  const said = document.createElement("pre")
  said.id = "said"
  said.textContent = JSON.stringify(found)
  document.body.replaceChildren(said)
})
"""


@cache
def looked() -> list[dict[str, object]]:
    dump = run(framed(night().html("shop/web"), WIDTHS, LOOK), "--dump-dom", "--window-size=1400,900", LIGHT)
    (said,) = re.findall(r'<pre id="said">(.*?)</pre>', dump, re.DOTALL)
    found: list[dict[str, object]] = json.loads(said)
    assert len(WIDTHS) == len(found)
    return found


def rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def in_css(colour: str) -> str:
    return f"rgb({', '.join(map(str, rgb(colour)))})"


def test_no_page_scrolls_sideways() -> None:
    assert [each["width"] for each in looked()] == [each["scrolled"] for each in looked()]
    # A scroll bar at the side takes some of the width.
    assert [] == [
        width for width, each in zip(WIDTHS, looked(), strict=True) if not width - 20 <= int(str(each["width"])) <= width
    ]


def test_the_policy_lets_the_style_sheet_in_and_there_is_no_script() -> None:
    assert {in_css(LIGHT_PALETTE["page"])} == {each["background"] for each in looked()}
    assert {0} == {each["scripts"] for each in looked()}


def test_rows_are_cards_on_a_phone_and_a_table_on_a_desk() -> None:
    assert ["block", "block", "table-cell", "table-cell"] == [each["cards"] for each in looked()]
    assert ["absolute", "absolute", "static", "static"] == [each["head"] for each in looked()]


def test_whatever_is_drawn_can_be_reached_and_then_shows_its_reason_and_that_it_has_the_focus() -> None:
    for each in looked():
        assert (True, True) == (each["reach"], each["focused"])
        assert ("hidden", "visible") == (each["hidden"], each["shown"])
        assert in_css(LIGHT_PALETTE["focus"]) == each["ring"]
        assert int(str(each["drawn"])) > 60
        assert int(str(each["bars"])) > 60


@pytest.mark.parametrize(("scheme", "palette"), [(LIGHT, LIGHT_PALETTE), (DARK, DARK_PALETTE)], ids=["light", "dark"])
def test_it_is_drawn_in_the_colours_that_the_reader_prefers(scheme: str, palette: dict[str, str], tmp_path: Path) -> None:
    picture = tmp_path / "page.png"
    run(night().html("shop/web"), f"--screenshot={picture}", "--window-size=480,1000", scheme)
    width, height, drawn = pixels(picture.read_bytes())
    assert (480, 1000) == (width, height)
    colours = Counter(zip(drawn[0::3], drawn[1::3], drawn[2::3], strict=True))
    assert rgb(palette["page"]) == colours.most_common(1)[0][0]
    # Each of these is a bar, a badge or a sign by now.
    assert [] == [each for each in ("well", "waits", "held", "plain") if colours[rgb(palette[each])] < 50]
    assert len(colours) > 100


def test_it_can_be_printed(tmp_path: Path) -> None:
    paper = tmp_path / "page.pdf"
    run(night().html("shop/web"), f"--print-to-pdf={paper}", "--no-pdf-header-footer", DARK)
    content = paper.read_bytes()
    assert content.startswith(b"%PDF-")
    assert 1 < len(re.findall(rb"/Type\s*/Page\b", content)) < 20
