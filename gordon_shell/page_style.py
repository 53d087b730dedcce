"""How a page looks: two palettes, of which every pair that meets is readable, and the one style sheet. Pure.

What is drawn differs in its form as well as in its colour. Nothing is fetched: no font, no image.
"""

import base64
import hashlib
from collections.abc import Mapping
from typing import Final

LIGHT: Final[Mapping[str, str]] = {
    "page": "#ffffff", "raised": "#f5f7f9", "text": "#1c2128", "soft": "#57606a", "line": "#d3d9e0", "edge": "#7d8590",
    "link": "#0550ae", "focus": "#8250df", "chosen": "#fff3c4",
    "well": "#1a7f37", "waits": "#0860c4", "acts": "#8a5a00", "held": "#b3261e", "plain": "#57606a", "on": "#ffffff",
}  # fmt: skip
DARK: Final[Mapping[str, str]] = {
    "page": "#0e1116", "raised": "#171c23", "text": "#e6e9ee", "soft": "#9aa4b0", "line": "#2c343e", "edge": "#6e7783",
    "link": "#7ab7ff", "focus": "#d2a8ff", "chosen": "#3a3113",
    "well": "#4cc06a", "waits": "#6cb0ff", "acts": "#dba53a", "held": "#ff8379", "plain": "#9aa4b0", "on": "#0e1116",
}  # fmt: skip
"""By name: colours of the page, and of the four marks; `plain` is neither good nor bad, `on` is written on any of these."""

MET: Final = (
    *((each, on, 4.5) for each in ("text", "soft", "link") for on in ("page", "raised", "chosen")),
    *((each, on, 4.5) for each in ("well", "waits", "acts", "held", "plain") for on in ("page", "raised")),
    *(("on", each, 4.5) for each in ("well", "waits", "acts", "held", "plain")),
    *((each, "page", 3.0) for each in ("focus", "edge")),
    ("focus", "raised", 3.0),
)
"""(colour, what it stands on, least contrast): text 4.5 to 1, and what is drawn or outlined 3 to 1, as WCAG 2.2 asks for (AA)."""

_STYLE = """
* { box-sizing: border-box }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
body { margin: 0; background: var(--page); color: var(--text); overflow-wrap: anywhere;
  font: .94rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif }
header, main, footer { max-width: 76rem; margin: 0 auto; padding: 0 1.25rem }
header { padding-top: 1.75rem }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .35rem; letter-spacing: -.01em }
h2 { font-size: 1.2rem; line-height: 1.3; margin: 0 0 .6rem;
  display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: center }
h3 { font-size: .95rem; margin: 1.25rem 0 .4rem; color: var(--soft); font-weight: 600 }
p { margin: .25rem 0 } .soft { color: var(--soft) }
a { color: var(--link); text-underline-offset: .15em }
a:focus-visible, summary:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 3px }
code, pre { font: .9em/1.45 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace }
code { background: var(--raised); border: 1px solid var(--line); border-radius: 4px; padding: .05em .35em }
.skip { position: absolute; left: -999rem }
.skip:focus { position: static; display: inline-block; padding: .35rem .6rem }
section { margin: 1.5rem 0; padding-top: 1.5rem; border-top: 1px solid var(--line) }
main > section:first-child { border-top: 0; padding-top: 0 }
ul.plain { margin: .25rem 0; padding-left: 1.15rem }
footer { padding-bottom: 2rem; color: var(--soft); font-size: .87rem }
.mark { display: inline-block; white-space: nowrap;
  border-radius: 999px; padding: .1rem .65rem; font-size: .8rem; font-weight: 600;
  background: var(--plain); color: var(--on) }
.mark.well { background: var(--well) } .mark.waits { background: var(--waits) }
.mark.acts { background: var(--acts) } .mark.held { background: var(--held) }
table { border-collapse: collapse; width: 100%; font-size: .92rem }
caption { text-align: left; color: var(--soft); padding: .25rem 0 .5rem }
th, td { text-align: left; vertical-align: top; padding: .45rem .6rem; border-top: 1px solid var(--line) }
thead th { color: var(--soft); font-weight: 600; border-top: 0; font-size: .85rem; white-space: nowrap }
tbody th { font-weight: 600; min-width: 8.5rem } tbody th time { font-weight: 400 }
time { font-variant-numeric: tabular-nums; white-space: nowrap }
tbody tr:target > * { background: var(--chosen) }
td .i { font-weight: 600; font-size: .88em; white-space: nowrap }
details { margin-top: .25rem } summary { color: var(--link); cursor: pointer }
pre { margin: .35rem 0; padding: .6rem .75rem; background: var(--raised); border: 1px solid var(--line); border-radius: 6px;
  white-space: pre-wrap }
figure { margin: .75rem 0 0; border: 1px solid var(--line); border-radius: 8px; padding: .75rem 1rem .25rem }
figure svg { display: block; overflow: visible; position: relative; z-index: 1 }
svg text { fill: var(--soft); font-size: 12px; font-family: inherit }
svg .grid { stroke: var(--line); stroke-width: 1 } svg .base { stroke: var(--edge); stroke-width: 1; stroke-dasharray: 1 4 }
svg .label { fill: var(--on); font-weight: 600; font-size: 11px }
.i { color: var(--plain) }
.i.well { color: var(--well) } .i.waits { color: var(--waits) } .i.acts { color: var(--acts) } .i.held { color: var(--held) }
svg .b { fill: currentColor } svg .over { fill: var(--page); fill-opacity: .45 } svg .hollow .over { fill-opacity: .82 }
svg .hollow .label, svg .beside { fill: currentColor; font-weight: 600; font-size: 11px }
svg .dotted .label, svg .hatched .label { stroke: currentColor; stroke-width: 4px; paint-order: stroke; stroke-linejoin: round }
svg .cross { fill: none; stroke: currentColor; stroke-width: 2.5; stroke-linecap: round }
svg .halo { fill: none; stroke: var(--page); stroke-width: 5.5; stroke-linecap: round; stroke-linejoin: round }
svg .ring { fill: transparent; stroke: transparent; stroke-width: 3; pointer-events: all }
svg a:hover .ring { stroke: var(--edge) } svg a:focus { outline: none } svg a:focus .ring { stroke: var(--focus) }
.why, .hint { font-size: 13px; line-height: 1.35; padding: 4px 0; background: var(--page); color: var(--text) }
.hint { color: var(--soft) }
foreignObject { overflow: visible; pointer-events: none }
a foreignObject { visibility: hidden } a:hover foreignObject, a:focus foreignObject { visibility: visible }
svg:has(a:hover) a:focus:not(:hover) foreignObject { visibility: hidden }
.legend { display: flex; flex-wrap: wrap; gap: .4rem 1.25rem; list-style: none; margin: .5rem 0; padding: 0; font-size: .9rem }
.legend li { display: flex; gap: .5rem; align-items: center } .legend svg { flex: none }
.patterns { position: absolute; width: 0; height: 0 }
.narrow { display: none }
@media screen and (max-width: 47rem) {
  header, main, footer { padding-left: .9rem; padding-right: .9rem }
  header { padding-top: 1.1rem } h1 { font-size: 1.35rem }
  figure { padding: .6rem .6rem .25rem } .wide { display: none } .narrow { display: initial }
  table, tbody, tr, caption { display: block }
  thead { position: absolute; left: -999rem }
  tbody tr { border: 1px solid var(--line); border-radius: 8px; padding: .4rem .7rem; margin: .6rem 0 }
  tbody tr:target { background: var(--chosen) }
  tbody th, tbody td { display: block; border: 0; padding: .15rem 0; position: relative }
  tbody td[data-label] { padding-left: 6.5rem }
  tbody td[data-label]::before { content: attr(data-label); position: absolute; left: 0; color: var(--soft); font-size: .85rem }
  tbody td:has(details) { padding-left: 0 } tbody td:has(details)::before { position: static; display: block }
  tbody td:empty { display: none }
}
@media print {
  @page { margin: 14mm }
  html { font-size: 8.5pt } header, main, footer { max-width: none; padding: 0 }
  a { color: inherit; text-decoration: none } .skip, .screen, foreignObject { display: none }
  section { break-before: auto } figure, tr, h2, h3 { break-inside: avoid } h2, h3 { break-after: avoid }
  thead { display: table-header-group } th, td { padding: .3rem .4rem } tbody th { min-width: 0 }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact }
  details::details-content { content-visibility: visible; display: block; height: auto }
}
@media (forced-colors: active) {
  svg .i { color: CanvasText } svg .label, svg .dotted .label, svg .hatched .label { fill: Canvas; stroke: none }
  .mark { border: 1px solid CanvasText } svg a:focus .ring { stroke: Highlight }
}
"""


def _variables(palette: Mapping[str, str]) -> str:
    return "; ".join(f"--{name}: {colour}" for name, colour in palette.items())


STYLE: Final = f"""
:root {{ color-scheme: light dark; {_variables(LIGHT)} }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}
@media print {{ :root {{ color-scheme: light }} }}
{_STYLE}"""

POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}';"
    " base-uri 'none'; form-action 'none'"
)
"""The content security policy: this style sheet, and nothing else that is fetched, run or sent."""
