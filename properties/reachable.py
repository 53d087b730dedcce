"""Snapshots that can be reached: a settled host, then spoiled; and any host at all, for what must hold of both."""

from collections import Counter
from functools import cache
from random import Random

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from gordon_core.forecast import forecast
from gordon_core.situations import Situation
from gordon_core.snapshot import Snapshot
from properties.boxes import Nature
from properties.faults import Weather
from properties.spoils import spoil
from properties.voyage import SERVICES, Course, Voyage, look_at
from tests.strategies import snapshots

_STILL = Weather(0.0, 0.0)


def settled(seed: int, nature: Nature | None = Nature.KIND) -> Voyage:
    """Return a world in which every service was adopted and, where it can, serves."""
    voyage = Voyage(Course(seed, weather=_STILL, has_second=False, services=()))
    for service in SERVICES[: 1 + seed % len(SERVICES)]:
        voyage.tool.adopt(service, Random(f"{seed} {service}"), nature)
    voyage.mischiefs.services = SERVICES[: 1 + seed % len(SERVICES)]
    for _pass in range(2):
        voyage.world.pass_time(20.0)
        voyage.rough_pass()
    return voyage


def spoiled(seed: int, times: int, passes: int) -> Snapshot:
    """Return a settled world in which so many things happened, with passes in between."""
    voyage, chance = settled(seed, None), Random(f"spoil {seed}")
    for done in range(times):
        chance.choice(voyage.mischiefs.choices)(chance)
        if done < passes:
            voyage.world.pass_time(15.0)
            voyage.rough_pass()
    voyage.world.pass_time(1.0)
    return look_at(voyage)


@cache
def settled_snapshot(seed: int) -> Snapshot:
    """Return a settled host as it is seen."""
    return look_at(settled(seed))


def dented(seed: int, times: int) -> Snapshot:
    """Return a settled host of which so many values were spoiled."""
    chance = Random(f"dent {seed}")
    return spoil(settled_snapshot(chance.randrange(12)), chance, times)


@cache
def situations_drawn(hosts: int) -> Counter[Situation]:
    """Count the situations of every decision that follows from so many spoiled hosts."""
    found: Counter[Situation] = Counter()
    for seed in range(hosts):
        for each in forecast(dented(seed, Random(seed).randrange(7))):
            found.update(decision.situation for decision in each.decisions)
    return found


def reachable() -> SearchStrategy[Snapshot]:
    """Return snapshots of settled and then spoiled hosts."""
    worlds = st.builds(spoiled, st.integers(0, 10_000), st.integers(0, 4), st.integers(0, 3))
    return worlds | st.builds(dented, st.integers(0, 1_000_000), st.integers(0, 6))


def any_snapshots() -> SearchStrategy[Snapshot]:
    """Return hosts, arbitrary or reachable."""
    return snapshots() | reachable()
