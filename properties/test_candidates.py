"""C1 to C3, each a named test, in worlds in which the real Deployer and the real Reconciler meet everything that can go wrong."""

import os
from pathlib import Path

import pytest

from gordon_core.stages import Stage
from gordon_shell.sqlite_store import SqliteStore
from properties.deploy_fleet import DeployFleet
from properties.deploy_voyage import DeployVoyage, deploy_course, failure_of

PROFILE = os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev")
SEEDS = {"dev": 60, "ci": 150, "nightly": 100_000}
NEVER = {Stage.UNCHECKED, Stage.UNGRANTED, Stage.NAMELESS, Stage.FRESH}
"""No deploy of these worlds asks for what these are about, and none may come to NAMELESS."""
RARE = {
    Stage.UNPUBLISHED, Stage.TIDYING, Stage.CROWDED, Stage.IMAGELESS, Stage.OLD_ROUTED_IN_VAIN, Stage.STARTING_IN_VAIN,
    Stage.OUTRUN, Stage.UNCREATED_IN_VAIN, Stage.UNJOURNALLED_IN_VAIN, Stage.IMAGE_UNREAD, Stage.OLD_UP_IN_VAIN, Stage.CONTESTED,
    Stage.CONTESTED_IN_VAIN, Stage.NAMES_UNREAD,
}  # fmt: skip
"""What needs more luck than a few worlds have; the tests of the core hold each of them."""


@pytest.fixture(scope="module")
def deploys() -> DeployFleet:
    """Return worlds with deploys, all sailed; SEEDS_FROM sets the first seed, and SEEDS how many."""
    first, many = int(os.environ.get("SEEDS_FROM", "0")), int(os.environ.get("SEEDS", "0"))
    return DeployFleet().sail(range(first, first + (many or SEEDS[PROFILE])))


def test_c1_a_candidate_that_failed_is_gone(deploys: DeployFleet) -> None:
    """C1 A candidate that failed is gone within 30 seconds, whatever became of the caller."""
    deploys.demand("C1", 300)


def test_c2_what_serves_is_no_leftover(deploys: DeployFleet) -> None:
    """C2 A container that is routed, selected and alive, or named by ACTIVE is never removed as a leftover."""
    deploys.demand("C2", 200)


def test_c3_the_old_one_serves_until_the_new_one_does(deploys: DeployFleet) -> None:
    """C3 After any interruption at any point of a deploy, the old generation serves until the new one does, and the next deploy
    of the same app succeeds without help."""
    deploys.demand("C3", 800)


@pytest.mark.parametrize("invariant", ["P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10"])
def test_deploys_publish_by_the_same_rules(deploys: DeployFleet, invariant: str) -> None:
    """P1 to P10 hold for every command of a deploy, as they do for those of a pass; a deploy counts as one."""
    deploys.demand(invariant, 100)


def test_what_must_not_overlap_never_does(deploys: DeployFleet) -> None:
    """F5 Of a service whose containers must not overlap, none is started while another was seen to run."""
    deploys.demand("F5", 30)


def test_t1_what_is_on_hold_is_left_as_it_is(deploys: DeployFleet) -> None:
    """T1 While somebody holds a service, no deploy of it starts, stops or removes a container, nor is one retired or cleared."""
    deploys.demand("T1", 300)


def test_deploys_have_no_fault_of_ours(deploys: DeployFleet) -> None:
    """Nothing that the world does makes a deploy raise what it should not, and none goes on for ever."""
    assert {} == {name: seeds for name, seeds in deploys.broken.items() if name == "a fault of ours"}


def test_deploys_go_through_every_stage(deploys: DeployFleet) -> None:
    """The worlds put every stage to the proof, but for those that nobody asks for in them."""
    assert set() == set(Stage) - set(deploys.stages) - NEVER - RARE
    assert Stage.NAMELESS not in deploys.stages


def test_a_world_with_deploys_is_told_again_alike() -> None:
    """A seed tells the same story twice, although a deploy is done in a thread of its own."""
    first, second = (DeployVoyage(deploy_course(5)) for _ in range(2))
    for voyage in (first, second):
        assert failure_of(voyage) is None
    assert first.world.story.last(10_000) == second.world.story.last(10_000)


@pytest.mark.parametrize("seed", range(400, 403))
def test_deploys_hold_on_a_real_disk(seed: int, tmp_path: Path) -> None:
    """All judges, with SQLite in the place of the store in memory."""
    store = SqliteStore.open(tmp_path / "state.db", create=True)
    assert failure_of(DeployVoyage(deploy_course(seed), disk=store)) is None
