"""Profiles: dev (seconds), ci (minutes), nightly (hours); HYPOTHESIS_PROFILE chooses, else CI does, else dev it is.

The worlds of a session are sailed once, with all judges at every command; each named test then asks for its own invariant.
"""

import os

import pytest
from hypothesis import HealthCheck, Phase, settings

from properties.fleet import Fleet

_COMMON = settings(
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
settings.register_profile("dev", _COMMON, max_examples=25, stateful_step_count=15)
settings.register_profile("ci", _COMMON, max_examples=100, stateful_step_count=25, print_blob=True)
settings.register_profile("nightly", _COMMON, max_examples=20_000, stateful_step_count=60, print_blob=True)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev")
settings.load_profile(PROFILE)

SEEDS = {"dev": 100, "ci": 350, "nightly": 200_000}


@pytest.fixture(scope="session")
def fleet() -> Fleet:
    """Return the worlds of this session, all sailed; SEEDS_FROM sets the first seed, and SEEDS how many."""
    first, many = int(os.environ.get("SEEDS_FROM", "0")), int(os.environ.get("SEEDS", "0")) or SEEDS[PROFILE]
    return Fleet().sail(range(first, first + many))
