"""The page of a report: what it tells, that it is sound HTML, that nothing breaks out of it, and that anybody can read it."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import Final

import pytest
from attrs import evolve

from gordon_core.effects import Result, Start
from gordon_core.observation import Gone, Health, HealthStatus, Port, RouteUnread, SeenAs, Status, Unread
from gordon_core.record import Line, Role
from gordon_core.snapshot import Declared, Hold, Snapshot, Subject
from gordon_shell.counts_text import Mark
from gordon_shell.course import Course, Form, Lane, Point, Sign, Span, thinned
from gordon_shell.drawn import health_drawn, mark_of, route_drawn, situation_drawn, state_drawn, wait_drawn
from gordon_shell.executions import dossier_in_words, is_failure
from gordon_shell.journal import Journal, Record
from gordon_shell.markup import tag, text
from gordon_shell.memory.journal import MemoryJournal
from gordon_shell.page import Told, page
from gordon_shell.page_style import DARK, LIGHT, MET, STYLE
from gordon_shell.page_timeline import figure
from tests.core_examples import (
    BOOT,
    CLOCK,
    GENERATION,
    NOW_S,
    REFUSED_START,
    STARTED,
    WEB_ID,
    dark,
    down,
    good,
    having,
    host,
    left_behind,
    remembering,
    routed,
    running,
    seen,
    strange,
    superseding,
    with_route,
)
from tests.journals import CRASHED, DEPLOYED, FULL, SHOP, STOPPED, at, look, step
from tests.pages import GOLDEN, WORDS, Night, night

VOID: Final = {"meta"}
HOSTILE: Final = "</script><img src=x onerror=alert(1)>\"'&\x1b[2J\u202e\nnext"


class Read(HTMLParser):
    """A page as a browser reads it; what is wrong with it is in `wrong`."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.named: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.attributes: list[tuple[str, str, str]] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        self.wrong += [f"{each} is never closed" for each in self._open]
        self.wrong += [f"the ID {each} is there twice" for each, after in pairwise(sorted(self.ids)) if each == after]
        self.wrong += [f"nothing has the ID {each}" for each in self.named if each not in self.ids]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        names = [name for name, _ in attrs]
        if len(set(names)) != len(names):
            self.wrong.append(f"{tag} has an attribute twice")
        for name, value in attrs:
            self.attributes.append((tag, name, value or ""))
            if name == "id":
                self.ids.append(value or "")
            if name in {"aria-labelledby", "aria-describedby"}:
                self.named += (value or "").split()
            if name == "href":
                self.named.append((value or "").removeprefix("#"))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.wrong.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts.setdefault(self._open[-1], []).append(data)

    def values(self, name: str) -> list[str]:
        return [value for _, named, value in self.attributes if named == name]


# --- what it tells -----------------------------------------------------------------------------------------------------------


def test_the_page_of_a_recorded_night() -> None:
    """`python -m tests.pages` writes it anew."""
    assert GOLDEN.read_text(encoding="utf-8") == night().html("shop/web")


def test_equal_input_gives_equal_bytes() -> None:
    assert night().html() == night().html()


def test_what_needs_a_person_comes_first_with_the_command_that_helps() -> None:
    html = night().html()
    now = html[html.index('id="now"') : html.index('id="reading"')]
    names = re.findall(r'<a href="#s\d">([^<]+)</a>', now)
    assert ["shop/db", "shop/api", "shop/web"] == names
    assert f"to help: <code>docker unpause {'b' * 12}</code>" in now
    assert '<span class="mark held">! held</span>' in now


def test_each_lane_is_drawn_and_says_why() -> None:
    html = night().html("shop/web")
    titles = re.findall(r"<a href[^>]*><title>([^<]*)</title>", html)
    for words in (
        "situation: COOLING: down, waiting out its budget until ",
        "executions: execution cccccccccccc, 20 s: exited (1)",
        "route: published: routed to 80/tcp at ",
        "waits: the first step of 5 of the ladder, 1 min: down, waiting out its budget",
        "start it: done; since down, its attempt on record",
        "charged, since it ended with an attempt pending; done; it is its third failure",
    ):
        assert [each for each in titles if words in each], words
    assert "strike 2 of 2: its health check failed once more" in night().html("shop/api")


def test_each_drawn_thing_leads_to_its_row_and_has_its_reason_beneath_it() -> None:
    html = night().html("shop/web")
    drawn = re.findall(
        r'<a href="#(s1-\w+)" class="i[^>]*><title>([^<]*)</title>.*?<div class="why">([^<]*)</div>', html, re.DOTALL
    )
    assert len(drawn) > 40
    assert [] == [to for to, title, beneath in drawn if title != beneath or f'id="{to}"' not in html]


def test_the_last_words_of_an_execution_are_in_its_row() -> None:
    html = night().html("shop/web")
    assert "<pre>reading &lt;config&gt;\nKeyError: &#x27;DATABASE_URL&#x27; &amp; more</pre>" in html
    assert WORDS == ("reading <config>", "KeyError: 'DATABASE_URL' & more")


def test_without_a_journal_it_tells_how_it_is_and_why_there_is_no_more() -> None:
    html = page(evolve(night().page(), unread="there is no journal <here>"))
    assert "Its history is not read: there is no journal &lt;here&gt;" in html
    assert "<figure" not in html
    assert [] == Read(html).wrong


def test_a_service_that_nothing_names_any_more_is_told_from_the_journal() -> None:
    left = evolve(night().page(), services=[Told("shop/web", night().page("shop/web").services[0].course)])
    html = page(left)
    assert "not known here any more" in html
    assert "Nothing names it any more" in html
    assert [] == Read(html).wrong


def test_what_somebody_did_is_drawn_and_has_its_row_with_each_service_of_the_app() -> None:
    journal = MemoryJournal()
    api = having(service="api")(good())
    journal.write([look(SHOP, api, clock=at(0))], [], [evolve(DEPLOYED, clock=at(60)), evolve(STOPPED, clock=at(90))])
    shown = Night(journal, Snapshot(at(600), (SHOP, api))).page()
    marks = {each.name: [point.words for point in each.course.points if point.sign is Sign.DEED] for each in shown.services}
    assert {"shop/api": ["by bob: is to be stopped"], "shop/web": [f"by alice: {DEPLOYED.words}", marks["shop/api"][0]]} == marks
    rows = [(row.done, row.outcome) for row in shown.services[1].course.rows if row.outcome.startswith("by ")]
    assert [(DEPLOYED.words, "by alice"), ("is to be stopped", "by bob")] == rows
    assert "Deeds: what people and deploys did" in page(shown)
    assert ["shop/web"] == [each.name for each in Night(journal, Snapshot(at(600), (SHOP, api))).page("shop/web").services]


def test_a_journal_of_deeds_alone_has_its_beginning() -> None:
    journal = MemoryJournal()
    journal.write([], [], [evolve(DEPLOYED, clock=at(60)), evolve(DEPLOYED, app="blog", clock=at(70))])
    shown = Night(journal, Snapshot(at(600), (SHOP,))).page("shop")
    assert (at(60).wall_s, ["shop/web"]) == (shown.since_s, [each.name for each in shown.services])


def test_other_containers_of_a_service_are_told_of() -> None:
    for subject, words in ((good(superseding), "superseded 9bd01e55c0aa"), (good(left_behind()), "candidate c4nd1da7ec4n")):
        html = one(subject)
        assert f"<h3>{words} <span" in html
        assert [] == Read(html).wrong


# --- sound, and safe ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["", "shop/web", "shop/db"])
def test_it_is_sound_html(target: str) -> None:
    read = Read(night().html(target))
    assert [] == read.wrong
    assert ["html", "head", "meta"] == read.tags[:3]
    assert {"main", "header", "footer", "h1", "h2", "h3", "table", "caption", "figure", "svg", "title", "desc"} <= set(read.tags)
    assert 1 == read.tags.count("h1") == read.tags.count("main")
    assert {"col", "row"} == set(read.values("scope"))
    assert ["en"] == read.values("lang")


def test_nothing_is_fetched_run_or_sent() -> None:
    read = Read(night().html())
    assert set() == {"script", "link", "img", "iframe", "form", "object", "embed", "base"} & set(read.tags)
    assert [] == [name for _, name, _ in read.attributes if name.startswith("on") or name in {"style", "src", "srcset"}]
    assert [] == [each for each in read.values("href") if not each.startswith("#")]
    assert [] == re.findall(r"https?:|@import|url\((?!#)", night().html())


def test_the_policy_allows_this_style_sheet_and_nothing_else() -> None:
    html = night().html()
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert [policy.replace("'", "&#x27;")] == re.findall(r'Content-Security-Policy" content="([^"]*)"', html)


def one(*subjects: Subject, journal: Journal | None = None) -> str:
    return Night(journal if journal is not None else MemoryJournal(), host(*subjects)).html()


def test_nothing_breaks_out_of_the_page() -> None:
    journal = MemoryJournal()
    hostile = good(having(service=HOSTILE, app=HOSTILE), dark, down, having(inhibited=HOSTILE, ungranted=(HOSTILE,)))
    dossier = evolve(FULL, app=HOSTILE, service=HOSTILE, lines=(HOSTILE,), unread=(HOSTILE,), container_id=HOSTILE)
    deed = evolve(DEPLOYED, app=HOSTILE, service=HOSTILE, who=HOSTILE, words=HOSTILE)
    journal.write([look(hostile), look(evolve(hostile, route=RouteUnread(HOSTILE)), clock=at(5))], [dossier], [deed])
    html = one(evolve(hostile, seen=Unread(HOSTILE)), journal=journal)
    read = Read(html)
    assert [] == read.wrong
    assert set(Read(night().html()).tags) >= set(read.tags)
    assert [] == [name for _, name, _ in read.attributes if name.startswith("on")]
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert "\\x1b[2J\\u202e next" in html


def test_markup_is_made_of_values() -> None:
    assert '<a href="&quot;&gt;&lt;b&gt;" hidden>1 &lt; 2</a>' == tag("a", text("1 < 2"), href='"><b>', hidden=True, id=None)
    assert '<meta charset="utf-8">' == tag("meta", charset="utf-8")
    assert "a b" == text("a\n  b")


# --- readable by anybody -----------------------------------------------------------------------------------------------------


def luminance(colour: str) -> float:
    parts = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one_colour: str, other: str) -> float:
    lighter, darker = sorted((luminance(one_colour), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_the_palettes_have_the_contrast_that_wcag_asks_for(palette: dict[str, str]) -> None:
    found = ((one_, on, contrast(palette[one_], palette[on]), least) for one_, on, least in MET)
    assert [] == [each for each in found if each[2] < each[3]]
    assert 21.0 == round(contrast("#ffffff", "#000000"), 1)


def test_every_colour_of_the_style_sheet_is_one_of_the_palette() -> None:
    assert set(LIGHT) == set(DARK)
    assert set(re.findall(r"var\(--(\w+)\)", STYLE)) <= set(LIGHT)
    assert set(re.findall(r"#[0-9a-f]{6}", STYLE)) == {*LIGHT.values(), *DARK.values()}


def test_no_meaning_is_in_colour_alone() -> None:
    """What has another mark has another form, or words beside it."""
    forms = {(mark_of(each), situation_drawn(each).form) for each in (a_line("SETTLED"), a_line("COOLING"), a_line("PAUSED"))}
    assert {(Mark.WELL, Form.SOLID), (Mark.WAITS, Form.DOTTED), (Mark.HELD, Form.HATCHED)} == forms
    html = night().html()
    words = re.findall(r'class="mark \w+">([^<]+)</span>', html)
    assert [] == [each for each in words if not re.fullmatch(r"[=~>!] [a-z ]+", each)]


# --- bounded -----------------------------------------------------------------------------------------------------------------


def test_a_long_history_is_thinned_and_says_so() -> None:
    course = Course(
        0.0,
        864_000.0,
        tuple(Span(Lane.ROUTE, Form.SOLID, Mark.WELL, each * 60.0, each * 60.0 + 50, "w", "routed") for each in range(14_400)),
        tuple(Point(Sign.CHARGE, each * 60.0, "charged", str(each)) for each in range(14_400)),
    )
    few = thinned(course)
    assert len(few.spans) <= 400
    assert len(few.points) <= 200
    assert 28_800 == few.drawn_as_one == len(course.spans) + len(course.points)
    assert few.spans[0].words.startswith("routed ")
    assert few.points[0].words.endswith("; the last: charged")
    assert len(figure(few, "shop/web", "s1")) < 700_000


def test_what_is_long_is_drawn_alone_beside_what_is_not() -> None:
    spans = [
        Span(Lane.WAIT, Form.DOTTED, Mark.WAITS, 0.0, 1.0, "a", "step 1"),
        Span(Lane.WAIT, Form.HATCHED, Mark.HELD, 1.0, 2.0, "b", "on hold"),
        Span(Lane.WAIT, Form.DOTTED, Mark.WAITS, 2.0, 900.0, "c", "step 5"),
    ]
    few = thinned(Course(0.0, 1000.0, tuple(spans))).spans
    assert [("step 1 once, on hold once", Form.DENSE, Mark.HELD, 2), ("c", Form.DOTTED, Mark.WAITS, 1)] == [
        (each.words, each.form, each.mark, each.count) for each in few
    ]


def test_rows_are_bounded_and_what_is_left_out_is_said() -> None:
    journal = MemoryJournal()
    both = [good(dark, down), good()]
    journal.write([look(both[number % 2], clock=at(number)) for number in range(500)])
    html = Night(journal, Snapshot(at(600), (good(),))).html()
    assert "300 things on record of shop/web, oldest first. 200 earlier ones left out, the latest of them at <time" in html
    assert "; gordon-plan history shop/web tells all." in html
    assert 300 == len(re.findall(r'<tr id="s1-r', html))


def test_long_output_is_cut_and_says_so() -> None:
    journal = MemoryJournal()
    journal.write([], [evolve(FULL, lines=(*map(str, range(49)), "x" * 2000))])
    html = one(good(), journal=journal)
    assert "Its last 20 lines, of 50 on record:" in html
    assert f"{'x' * 400}... (1600 more characters)</pre>" in html
    assert "Exit code 137; out of memory; start error: no such file." in html


# --- courses -----------------------------------------------------------------------------------------------------------------


def course(*records: Record, until: Subject | None = None, since_s: float = 0.0) -> Course:
    journal = MemoryJournal()
    journal.write(records)
    shown = Night(journal, Snapshot(at(100), (until if until is not None else good(),)))
    return shown.page(since_s=since_s or CLOCK.wall_s - 86_400).services[0].course


def drawn(of: Course, lane: Lane) -> list[tuple[float, float, str]]:
    return [(each.from_s - CLOCK.wall_s, each.until_s - CLOCK.wall_s, each.short) for each in of.spans if each.lane is lane]


def test_what_was_seen_lasts_until_something_else_was() -> None:
    found = course(look(SHOP), look(good(dark, down), clock=at(40)), look(SHOP, clock=at(60)))
    there = "routed to 80/tcp at 32768"
    assert [(0, 40, there), (40, 60, "not routed"), (60, 100, there)] == drawn(found, Lane.ROUTE)
    assert [(40, 60, "down"), (0, 40, "running")] == drawn(found, Lane.EXECUTION)[:2]


def test_all_that_is_drawn_is_within_the_width() -> None:
    assert [] == [each for each in re.findall(r'(?:x|width)="([\d.-]+)%"', night().html()) if not 0 <= float(each) <= 100]


def test_what_was_before_the_time_says_how_it_began() -> None:
    found = course(look(SHOP), look(good(dark, down), clock=at(40)), since_s=CLOCK.wall_s + 20)
    assert (20, 40, "as desired") == drawn(found, Lane.SITUATION)[0]
    assert [each.at_s >= CLOCK.wall_s + 20 for each in found.rows] == [True] * len(found.rows)


def test_a_refused_start_is_a_start_that_says_so() -> None:
    due = good(dark, down, remembering(attempt=None))
    record = step(due, outcome=REFUSED_START)
    assert record.step is not None
    start = evolve(record, step=evolve(record.step, result=Result(Start(GENERATION), REFUSED_START)))
    (point,) = [each for each in course(start).points if each.sign is Sign.ATTEMPT]
    assert "start it: refused: 500: exec:" in point.words


def test_a_wall_clock_that_was_put_back_stands_still() -> None:
    found = course(look(SHOP, clock=at(50)), look(CRASHED, clock=at(10)), look(SHOP, clock=at(60)))
    assert [] == [each for each in found.spans if each.until_s < each.from_s]
    assert sorted(each.at_s for each in found.rows) == [each.at_s for each in found.rows]


def test_a_plan_of_another_version_leaves_what_was_seen() -> None:
    record = look(good(dark, down))
    found = course(evolve(record, plan=record.plan.replace('"version": 1', '"version": 9')))
    assert [(100.0, 100.0, "as desired")] == drawn(found, Lane.SITUATION)
    assert (0.0, 100.0, "down") in drawn(found, Lane.EXECUTION)


def test_an_execution_whose_end_nobody_saw_ends_where_it_was_seen_last() -> None:
    found = course(look(SHOP), look(good(seen(Gone()), routed()), clock=at(40)), until=good(seen(Gone()), routed()))
    (span,) = [each for each in found.spans if each.short == "running"]
    assert span.words.endswith("how it ended is not on record")
    assert CLOCK.wall_s == span.until_s


def test_how_an_execution_ended_in_a_word() -> None:
    restarted, unknown = evolve(FULL, was_restarted=True), evolve(FULL, end=None)
    assert ("restarted for being unhealthy", True) == (dossier_in_words(restarted), is_failure(restarted))
    assert ("ended; how is not on record", False) == (dossier_in_words(unknown), is_failure(unknown))


def a_line(situation: str, until_s: float | None = None) -> Line:
    return Line("shop", "web", Role.SERVICE, WEB_ID, situation, "a sentence", None, until_s)


def test_a_situation_of_another_version_waits() -> None:
    assert Mark.WAITS is mark_of(a_line("NEVER_HEARD_OF"))
    assert "never heard of" == situation_drawn(a_line("NEVER_HEARD_OF")).short


@pytest.mark.parametrize(
    ("subject", "short"),
    [
        (good(seen(strange(Status.PAUSED))), "paused"),
        (good(seen(strange(Status.RESTARTING))), "restarting"),
        (good(seen(strange(Status.REMOVING))), "being removed"),
        (good(seen(strange(Status.UNKNOWN))), "unknown"),
        (good(seen(Unread("no answer"))), "not read"),
        (good(seen(Gone())), "gone"),
        (good(down), "down"),
    ],
)
def test_each_state_of_a_container_is_drawn(subject: Subject, short: str) -> None:
    found = state_drawn(subject, CLOCK)
    assert found is not None
    assert short == found.short
    assert subject.seen_as is not SeenAs.RUNNING
    assert "; " not in found.short


def test_what_runs_draws_its_health_and_what_is_not_there_nothing() -> None:
    assert state_drawn(good(), CLOCK) is None
    assert health_drawn(good(down)) is None
    found = health_drawn(good(seen(running(health=Health(HealthStatus.UNREAD)))))
    assert found is not None
    assert "not read" == found.short


def test_a_route_that_could_not_be_read_and_one_that_there_never_is() -> None:
    unread = route_drawn(good(with_route(RouteUnread("deaf"))))
    assert ("not read", Form.HOLLOW) == (unread.short, unread.form)
    unpublished = good(routed(), having(declared=Declared(WEB_ID, 3, (Port(80),), published=False)))
    assert "unpublished" == route_drawn(unpublished).short


def test_each_kind_of_wait_is_drawn() -> None:
    cooling = good(dark, down, remembering(failures=9, charged=STARTED, charged_at_s=NOW_S))
    held = good(having(hold=Hold(NOW_S + 60, CLOCK.wall_s + 60, BOOT, "alice", "migration")))
    assert "step 5: 15 min" == waits(cooling, a_line("COOLING", NOW_S + 900))
    assert "on hold" == waits(held, a_line("SERVING_HELD", NOW_S + 60))
    assert "to be stable for 5 min" == waits(good(), a_line("PROVING", NOW_S + 300))
    assert wait_drawn(good(), a_line("SETTLED"), CLOCK) is None


def waits(subject: Subject, line: Line) -> str:
    found = wait_drawn(subject, line, CLOCK)
    assert found is not None
    return found.short


def test_the_time_axis_suits_the_time() -> None:
    labels = {
        20.0: ["07:00:05", "07:00:10"],
        3600.0: ["07:10", "07:20"],
        86_400.0 * 7: ["12-01", "12-02"],
    }
    for length_s, expected in labels.items():
        drawn_ = str(figure(Course(CLOCK.wall_s, CLOCK.wall_s + length_s), "shop/web", "s1"))
        assert set(expected) <= set(re.findall(r">([\d:-]+)</text>", drawn_)), length_s


def test_a_course_of_no_time_is_drawn() -> None:
    span = Span(Lane.ROUTE, Form.SOLID, Mark.WELL, CLOCK.wall_s, CLOCK.wall_s, "why", "routed")
    drawn_ = str(figure(Course(CLOCK.wall_s, CLOCK.wall_s, (span,)), "shop/web", "s1"))
    assert 1 == drawn_.count('href="#s1-rows"')
    assert [] == [each for each in re.findall(r'(?:x|width)="([\d.-]+)%"', drawn_) if not 0 <= float(each) <= 100]
