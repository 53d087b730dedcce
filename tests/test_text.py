"""The words of a plan: what was seen, the road with its branches, the counts; and that text steers no terminal."""

from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings

from gordon_core import candidates, services, superseded
from gordon_core.document import read_snapshot
from gordon_core.effects import Effect
from gordon_core.forecast import forecast
from gordon_core.observation import (
    Bind,
    Clock,
    Container,
    Exit,
    Gone,
    Health,
    HealthStatus,
    Port,
    PortBinding,
    RouteSeen,
    RouteUnread,
    Seen,
    Status,
    Unread,
)
from gordon_core.planner import plan
from gordon_core.situations import REMEDIES, Situation
from gordon_core.snapshot import Declared, Intent, Snapshot, Subject
from gordon_shell.counts_text import STANDING, VERBS, Mark
from gordon_shell.seen_text import exposures, route_in_words, seen_in_words
from gordon_shell.text import text
from tests.strategies import snapshots

EXAMPLES = Path(__file__).parent.parent / "examples"
CLOCK = Clock(5000.0, datetime(2026, 11, 30, 7, 0, 0, tzinfo=UTC).timestamp(), "boot-1")
AGO_4_S = "2026-11-30T06:59:56.000000001Z"
AGO_3_H = "2026-11-30T04:00:00Z"
WEB = Port(80)


def example(name: str) -> Snapshot:
    return read_snapshot((EXAMPLES / f"{name}.json").read_bytes())


def container(status: Status, started_at: str = AGO_3_H, health: Health | None = None, end: Exit | None = None) -> Container:
    return Container("0123456789abcdef", status, started_at, health or Health(), (), end)


def subject(seen: Seen, **changes: object) -> Subject:
    return evolve(Subject("shop", "web", seen, Declared("0123456789abcdef", 1, (WEB,))), **changes)


SEEN: list[tuple[Seen, str]] = [
    (container(Status.RUNNING), "running for 3 h"),
    (container(Status.RUNNING, health=Health(HealthStatus.HEALTHY)), "running for 3 h, healthy"),
    (container(Status.RUNNING, health=Health(HealthStatus.STARTING)), "running for 3 h, health check starting"),
    (container(Status.RUNNING, health=Health(HealthStatus.UNREAD)), "running for 3 h, health not read"),
    (container(Status.RUNNING, health=Health(HealthStatus.UNHEALTHY)), "running for 3 h, unhealthy"),
    (container(Status.RUNNING, health=Health(HealthStatus.UNHEALTHY, 1)), "running for 3 h, unhealthy (1 failed check in a row)"),
    (container(Status.RUNNING, "2026-11-30T08:00:00+01:00"), "running since just now"),
    (container(Status.RUNNING, "assumed"), "running"),
    (container(Status.PAUSED, health=Health(HealthStatus.HEALTHY)), "paused, healthy"),
    (container(Status.CREATED, ""), "created, never started"),
    (container(Status.CREATED, "", end=Exit(128, error="no such file")), 'created, never started; start error: "no such file"'),
    (container(Status.EXITED), "exited"),
    (container(Status.EXITED, end=Exit(1, finished_at=AGO_4_S)), "exited (1) 4 s ago"),
    (container(Status.EXITED, end=Exit(1, finished_at="0001-01-01T00:00:00Z")), "exited (1)"),
    (container(Status.EXITED, end=Exit(1, finished_at="2026-11-30T06:59:56")), "exited (1)"),
    (container(Status.EXITED, end=Exit(137, oom_killed=True)), "exited (137), out of memory"),
    (container(Status.EXITED, end=Exit(1, oom_killed=True, finished_at=AGO_4_S)), "exited (1) 4 s ago, out of memory"),
    (
        container(Status.EXITED, end=Exit(127, error="not found", finished_at=AGO_4_S)),
        'exited (127) 4 s ago; start error: "not found"',
    ),
    (container(Status.DEAD, end=Exit(0)), "dead (0)"),
    (container(Status.STOPPED, end=Exit(0, finished_at=AGO_4_S)), "stopped (0) 4 s ago"),
    (container(Status.RESTARTING, end=Exit(2)), "restarting (2)"),
    (container(Status.REMOVING), "being removed"),
    (container(Status.UNKNOWN), "in a state that the engine has no known word for"),
    (Gone(), "gone"),
    (Unread("timed out"), "not read"),
]


@pytest.mark.parametrize(("seen", "words"), SEEN, ids=[words for _, words in SEEN])
def test_what_was_seen(seen: Seen, words: str) -> None:
    assert words == seen_in_words(seen, CLOCK)


def test_report_32_a_kill_without_the_memory_flag_is_of_unknown_cause_and_nobody_is_said_to_have_stopped_it() -> None:
    """moby/moby issue 38352."""
    seen = container(Status.EXITED, end=Exit(137))
    assert "exited (137): killed, cause unknown, perhaps memory" == seen_in_words(seen, CLOCK)


def test_report_28_an_end_that_lies_in_the_future_has_no_negative_age() -> None:
    """kubernetes/kubernetes issue 134153: the clock was set back."""
    seen = container(Status.EXITED, end=Exit(1, finished_at="2026-11-30T07:00:40Z"))
    assert "exited (1) just now" == seen_in_words(seen, CLOCK)


def test_where_it_is_routed() -> None:
    running = container(Status.RUNNING)
    assert "not routed" == route_in_words(subject(running))
    assert "unpublished" == route_in_words(subject(running, declared=Declared("0123456789abcdef", 1)))
    assert "router not read" == route_in_words(subject(running, route=RouteUnread("refused")))
    assert "routed to 80/tcp at 32768" == route_in_words(subject(running, route=RouteSeen((Bind(WEB, 32768),))))
    assert "routed to 8000/tcp at 32761 of the superseded container" == route_in_words(
        next(each for each in example("successor").subjects if each.service == "api")
    )


def test_what_is_exposed_beyond_this_host() -> None:
    bindings = tuple(PortBinding(WEB, host_ip, 32768) for host_ip in ("127.0.0.1", "10.0.0.7", "::", ""))
    assert (
        "80/tcp is bound at 10.0.0.7:32768, which is reachable from beyond this host",
        "80/tcp is bound at [::]:32768, which is reachable from beyond this host",
        "80/tcp is bound at every address, port 32768, which is reachable from beyond this host",
    ) == exposures(subject(evolve(container(Status.RUNNING), ports=bindings)))


def test_beside_each_step_that_can_fail_stands_what_follows() -> None:
    """Hiding that branch would lie: with two failures on record, the next one opens the ladder."""
    snapshot = example("down")
    lines = text(snapshot, plan(snapshot)).splitlines()
    assert "    then:  start it (on fail: third failure, next try 07:01:00Z)" in lines


def test_a_failure_that_was_charged_already_is_not_said_to_be_another() -> None:
    snapshot = example("misrouted")
    charged = tuple(
        evolve(each, memory=evolve(each.memory, failures=1, charged=each.seen.started_at, charged_at_s=snapshot.clock.boot_s))
        if isinstance(each.seen, Container) and each.service == "api"
        else each
        for each in snapshot.subjects
    )
    changed = evolve(snapshot, subjects=charged)
    lines = text(changed, plan(changed)).splitlines()
    assert "    then:  probe 8000/tcp at 32775 once (on fail: not charged again, next try in the next pass)" in lines


def test_the_forecast_is_the_whole_road_with_its_times() -> None:
    snapshot = example("cooling")
    lines = text(snapshot, plan(snapshot), road=forecast(snapshot)).splitlines()
    assert [
        "If all goes well:",
        "  at 07:04:12Z: shop/api: put the attempt on record",
        "  at 07:04:12Z: shop/api: start it (on fail: seventh failure, next try 07:19:12Z)",
        "  at 07:04:12Z: shop/api: probe 8000/tcp at 32769 for up to 30 s (on fail: seventh failure, next try in the next pass)",
        "  at 07:04:12Z: shop/api: remember it as verified",
        "  at 07:04:12Z: shop/api: publish 8000/tcp at 32769",
        "  at 07:09:12Z: shop/api: drop its history",
        "  at 07:09:12Z: nothing is left to do or to wait for; 3 services: 3 as desired",
        "",
        "3 services: 1 waiting, 2 as desired. Nothing was done.",
    ] == lines[lines.index("If all goes well:") :]


def test_the_forecast_says_which_container_is_retired() -> None:
    snapshot = example("superseded")
    assert (
        "  at 07:00:00Z: shop/api, superseded ea2f1d3fa820: retire it: stop, with 25 s to stop in"
        in text(snapshot, plan(snapshot), road=forecast(snapshot)).splitlines()
    )


def test_a_host_without_services() -> None:
    nothing = Snapshot(CLOCK)
    assert "As seen at 2026-11-30 07:00:00Z:\n\nNo services. Nothing was done.\n" == text(nothing, plan(nothing))


def test_a_title_names_the_document() -> None:
    nothing = Snapshot(CLOCK)
    assert text(nothing, plan(nothing), title="host.json").startswith("host.json, as seen at 2026-11-30 07:00:00Z:\n")


def test_one_line_for_what_is_as_desired_and_one_for_each_step_of_the_rest() -> None:
    snapshot = Snapshot(CLOCK, (subject(Gone(), intent=Intent.STOPPED), evolve(subject(Gone()), service="api")))
    assert (
        "As seen at 2026-11-30 07:00:00Z:\n"
        "\n"
        "! shop/api (0123456789ab): gone; not routed\n"
        "    why:   gone; never rebuilt by recovery\n"
        "    now:   nothing\n"
        "    help:  gordon-shell adopt shop api=CONTAINER\n"
        "= shop/web (0123456789ab): gone; not routed; stopped, as the operator wants\n"
        "\n"
        "2 services: 1 gone, 1 as desired. Nothing was done.\n"
    ) == text(snapshot, plan(snapshot))


def test_paint_is_given_the_mark_and_the_name_alone() -> None:
    snapshot = example("superseded")
    painted: list[tuple[str, Mark]] = []

    def paint(words: str, mark: Mark) -> str:
        painted.append((words, mark))
        return f"<{words}>"

    lines = text(snapshot, plan(snapshot), paint=paint).splitlines()
    assert [
        ("= shop/api (bb033baef889)", Mark.WELL),
        ("> superseded ea2f1d3fa820", Mark.ACTS),
        ("= shop/db (ff22a372586b)", Mark.WELL),
        ("= shop/web (c1d861d01322)", Mark.WELL),
    ] == painted
    assert "    <> superseded ea2f1d3fa820>: running for 20 d" in lines


def test_what_others_wrote_cannot_steer_the_terminal() -> None:
    end = Exit(1, error="first\r\n  second \x1b[2J\u202e\tthird")
    snapshot = Snapshot(CLOCK, (subject(container(Status.EXITED, end=end)),))
    written = text(snapshot, plan(snapshot))
    assert '> shop/web (0123456789ab): exited (1); start error: "first second \\x1b[2J\\u202e\\tthird"; not routed' in written
    assert all(line.isprintable() for line in written.splitlines())


def test_every_situation_that_can_stand_without_an_effect_has_its_mark_and_word() -> None:
    rows = (*services.ROWS, *superseded.ROWS, *candidates.ROWS)
    still = {row.situation for row in rows if row.effect is None} | {Situation.BLOCKED}
    assert still == set(STANDING)


def test_nothing_that_is_held_is_counted_as_desired() -> None:
    assert set() == {each for each in REMEDIES if STANDING[each][0] is Mark.WELL}


def test_every_kind_of_effect_is_counted_as_something() -> None:
    assert sorted(each.__name__ for each in get_args(Effect)) == sorted(kind.__name__ for kind, _ in VERBS)


@pytest.mark.unmeasured
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(snapshots())
def test_every_snapshot_can_be_told(snapshot: Snapshot) -> None:
    lines = text(snapshot, plan(snapshot), road=forecast(snapshot)).splitlines()
    assert lines[-1].endswith(". Nothing was done.")
    assert all(line.isprintable() for line in lines)
    assert lines == text(snapshot, plan(snapshot), road=forecast(snapshot)).splitlines()
