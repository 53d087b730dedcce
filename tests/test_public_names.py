"""The public names of the core, in a Python that may be one of a mutant: `test_library` says the rest."""

import pytest

import gordon_core
from gordon_core.planner import plan


def test_every_public_name_is_listed_and_there() -> None:
    assert sorted(dir(gordon_core)) == dir(gordon_core)
    assert set() == {*gordon_core.__all__, "__all__", "__name__"} - {*dir(gordon_core)}
    assert [] == [each for each in gordon_core.__all__ if getattr(gordon_core, each, None) is None]
    assert plan is gordon_core.plan


def test_what_is_no_public_name_is_refused() -> None:
    with pytest.raises(AttributeError) as refused:
        _ = gordon_core.plam
    assert "module 'gordon_core' has no attribute 'plam'; the public names are in its __all__" == str(refused.value)
