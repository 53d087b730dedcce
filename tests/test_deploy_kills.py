"""A deploy that is killed at any moment: what served goes on serving, recovery tidies up, and the next deploy goes well."""

from collections.abc import Callable, Iterable
from contextlib import suppress

import pytest

from gordon_core.blueprint import Blueprint
from gordon_core.effects import DONE, Fault, Refused
from gordon_core.observation import SeenAs, Status, seen_as
from gordon_shell.crew import InlineCrew, Job, never
from gordon_shell.errors import StoreError
from gordon_shell.memory.container import Simulated
from gordon_shell.observer import Observer
from gordon_shell.ports import Journalled
from gordon_shell.recollection import Recollection
from tests.deploy_sites import Killed, Site, exclusive
from tests.hosts import HTTP, SETTLED_S, no_policy

MOST_COMMANDS = 24


def killed_at(number: int, *, took_effect: bool, is_exclusive: bool) -> tuple[Site, bool]:
    """Return a site whose deploy was killed at this command, and whether it came so far."""
    site = Site()
    wanted = exclusive if is_exclusive else Blueprint
    site.serving(wanted=wanted("shop:1"))
    site.watch(may_be_down=is_exclusive)
    site.faults.kill_at = (number, took_effect)
    try:
        site.deploy(wanted("shop:2"))
    except Killed:
        return site, True
    return site, False


@pytest.mark.parametrize("is_exclusive", [False, True], ids=["beside", "downtime"])
@pytest.mark.parametrize("took_effect", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("number", range(1, MOST_COMMANDS))
def test_after_a_kill_at_any_command_a_verified_backend_is_routed_and_the_next_deploy_goes_well(
    number: int, *, took_effect: bool, is_exclusive: bool
) -> None:
    site, _ = killed_at(number, took_effect=took_effect, is_exclusive=is_exclusive)
    site.faults.kill_at = None
    site.restarted().run_pass()
    site.check()
    assert [] == site.troubles
    assert () == site.candidates()
    wanted = exclusive if is_exclusive else Blueprint
    verdict = site.deploy(wanted("shop:3"))
    site.check()
    assert [] == site.troubles
    assert (True, "shop:3") == (verdict.is_well, site.active())
    assert {"gordon-shop-web": "running"} == site.names()
    assert site.is_settled()


@pytest.mark.parametrize("number", range(1, MOST_COMMANDS))
def test_the_next_deploy_goes_well_without_a_pass_in_between_too(number: int) -> None:
    site, _ = killed_at(number, took_effect=True, is_exclusive=False)
    site.faults.kill_at = None
    assert site.deploy("shop:3").is_well
    site.check()
    assert ([], "shop:3", True) == (site.troubles, site.active(), site.is_settled())


@pytest.mark.parametrize("took_effect", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("number", range(1, MOST_COMMANDS))
def test_killed_on_its_way_back_at_any_command_what_served_all_along_is_not_withdrawn(number: int, *, took_effect: bool) -> None:
    """C3: it was named in ACTIVE, and could not be published; what ACTIVE then names again is verified as of that moment."""
    site = Site()
    site.serving("shop:1")
    site.watch()
    site.faults.plan("router.publish", Refused("no", Fault.ROUTER))
    site.faults.kill_at = (number, took_effect)
    with suppress(Killed):
        site.deploy("shop:2")
    site.faults.kill_at = None
    site.faults.planned.clear()
    site.restarted().run_pass()
    site.check()
    assert ([], ()) == (site.troubles, site.candidates())
    assert site.deploy("shop:3").is_well
    assert ([], "shop:3", True) == (site.troubles, site.active(), site.is_settled())


@pytest.mark.parametrize("is_exclusive", [False, True], ids=["beside", "downtime"])
def test_every_command_of_a_deploy_is_tried_here(*, is_exclusive: bool) -> None:
    site, was_killed = killed_at(MOST_COMMANDS, took_effect=True, is_exclusive=is_exclusive)
    assert not was_killed
    assert 11 <= site.faults.made < MOST_COMMANDS


# --- recovery, with nothing but a journal ---------------------------------------------------------------------------------


def interrupted(*, is_exclusive: bool) -> Site:
    """Return a site on which a candidate runs that is in the journal, beside what serves (or, if exclusive, should)."""
    site = Site()
    old = site.serving(wanted=Blueprint("shop:1"))
    site.engine.add(Simulated("new", "gordon-shop-web-new", ((HTTP, 0),)))
    entry = Journalled("new", "gordon-shop-web-new", 3.0, exclusive=is_exclusive)
    assert DONE == site.store.journal("shop", "web", entry)
    if is_exclusive:
        site.engine.stop(old, 1.0)
        site.router.withdraw("shop", "web")
    site.engine.start("new")
    site.restarted()
    return site


def test_recovery_clears_a_candidate_while_the_old_one_serves_on() -> None:
    site = interrupted(is_exclusive=False)
    site.watch()
    site.reconciler.run_pass()
    assert [] == site.troubles
    assert ["engine.stop new 3.0", "engine.remove new True"] == site.calls.commands()
    assert ({"gordon-shop-web": "running"}, ()) == (site.names(), site.candidates())


def test_an_exclusive_candidate_is_cleared_before_the_old_one_is_started() -> None:
    site = interrupted(is_exclusive=True)
    site.reconciler.run_pass()
    calls = [each.split()[0] for each in site.calls.commands()]
    assert ["engine.stop", "engine.remove", "engine.start"] == calls[:3]
    site.check()
    assert ([], ()) == (site.troubles, site.candidates())


def test_a_service_with_nothing_but_a_journal_is_cleared_and_gone() -> None:
    site = Site()
    site.engine.add(Simulated("new", "gordon-shop-web-new", ((HTTP, 0),)))
    assert DONE == site.store.journal("shop", "web", Journalled("new", "gordon-shop-web-new"))
    site.engine.start("new")
    site.reconciler.run_pass()
    assert ({}, None) == (site.names(), site.store.read_service("shop", "web"))


def test_a_candidate_that_is_gone_is_dropped_from_the_journal_alone() -> None:
    site = Site()
    site.serving("shop:1")
    assert DONE == site.store.journal("shop", "web", Journalled("gone", "gordon-shop-web-new"))
    site.restarted().run_pass()
    assert ([], ()) == (site.calls.commands(), site.candidates())


class Timekeeper(InlineCrew):
    """Notes how long the jobs may take."""

    def __init__(self) -> None:
        super().__init__()
        self.deadlines_s: list[float] = []

    def go(self, jobs: Iterable[Job], patience_s: float | None, meanwhile: Callable[[], bool] = never) -> None:
        given = tuple(jobs)
        self.deadlines_s += [each.deadline_s for each in given]
        super().go(given, patience_s, meanwhile)


def test_the_grace_of_a_candidate_counts_for_the_time_of_its_service() -> None:
    site = interrupted(is_exclusive=False)
    assert DONE == site.store.journal("shop", "web", Journalled("new", "gordon-shop-web-new", 300.0))
    crew = Timekeeper()
    site.restarted(crew=crew).run_pass()
    assert [360.0] == crew.deadlines_s


def test_a_candidate_to_which_nothing_happened_is_no_reason_to_make_its_service_anew() -> None:
    site = interrupted(is_exclusive=False)
    site.clock.advance(SETTLED_S)
    observer = Observer(site.ports, no_policy, Recollection(site.store), remember=False)
    first, second = (observer.look().subjects[0] for _ in range(2))
    assert ["new"] == [each.container_id for each in first.candidates]
    assert first is second
    site.engine.kill("new")
    third = observer.look().subjects[0]
    assert [SeenAs.DOWN] == [seen_as(each.seen) for each in third.candidates]


def test_a_candidate_that_changed_is_seen_to() -> None:
    site = interrupted(is_exclusive=False)
    site.engine.set_status("new", Status.REMOVING)
    site.settle()
    site.engine.set_status("new", Status.EXITED)
    site.reconciler.run_pass()
    assert () == site.candidates()


def test_what_a_store_that_falls_silent_leaves_of_candidates_is_not_judged() -> None:
    site = interrupted(is_exclusive=False)
    site.calls.once_before("store.read_service", lambda: site.store.fail_reads("the disk is gone"))
    with pytest.raises(StoreError):
        site.reconciler.run_pass()
    assert [] == site.calls.commands()
