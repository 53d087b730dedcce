"""Which executions ended, as a pass sees it."""

import pytest
from attrs import evolve

from gordon_core.effects import Restart, Start
from gordon_core.ends import End, ended_by, seen_ended
from gordon_core.observation import Container, Exit, Health, HealthStatus, Status
from gordon_core.snapshot import Subject
from tests.core_examples import (
    GENERATION,
    LATER,
    NOBODY,
    STARTED,
    WEB_ID,
    down,
    ended_well,
    gone,
    good,
    results_of_health,
    seen,
    sick_seen,
    stopped,
    strange,
    unreadable,
    until_done,
    without_memory,
)

KILLED = Exit(137, oom_killed=True, finished_at=LATER)
CHECKS = results_of_health("06:58", "06:59")


def test_what_is_down_and_is_to_run_has_ended_with_all_that_was_seen_of_it() -> None:
    crashed = Container(WEB_ID, Status.EXITED, STARTED, Health(HealthStatus.UNHEALTHY, 2, CHECKS), exit=KILLED)
    assert End("shop", "web", WEB_ID, STARTED, end=KILLED, probes=CHECKS) == seen_ended(good(seen(crashed)))


@pytest.mark.parametrize("status", [Status.EXITED, Status.DEAD])
def test_an_end_of_which_the_engine_says_nothing_is_one(status: Status) -> None:
    assert End("shop", "web", WEB_ID, STARTED) == seen_ended(good(seen(strange(status))))


@pytest.mark.parametrize(
    "subject",
    [
        good(),
        good(gone),
        good(unreadable),
        good(down, stopped),
        good(ended_well, until_done, without_memory),
        good(seen(strange(Status.CREATED, ""))),
        good(seen(strange(Status.PAUSED))),
        good(seen(strange(Status.RESTARTING))),
        NOBODY,
        evolve(NOBODY, seen=strange(Status.EXITED)),
    ],
)
def test_nothing_else_has_ended(subject: Subject) -> None:
    assert seen_ended(subject) is None


def test_a_restart_ends_the_execution_that_runs() -> None:
    restart = Restart(GENERATION, 10.0)
    expected = End("shop", "web", WEB_ID, STARTED, was_restarted=True, probes=CHECKS)
    assert expected == ended_by(good(sick_seen), restart)
    assert ended_by(good(down), restart) is None
    assert ended_by(good(gone), restart) is None
    assert ended_by(good(sick_seen), Start(GENERATION)) is None
