"""The input of the deploy planner: names, and that no text of it holds a secret."""

import pytest
from hypothesis import given, settings

from gordon_core.deploy_planner import decide_deploy
from gordon_core.deploy_sentences import step_in_words
from gordon_core.deployment import Deployment, names
from gordon_core.verdicts import verdict
from tests.strategies import MARKED_VALUE, deployments


def test_a_service_has_one_canonical_name_and_two_temporary_ones() -> None:
    assert "gordon-shop-web" == names("shop", "web").canonical
    assert ("gordon-shop-web-new", "gordon-shop-web-next") == names("shop", "web").temporary


@pytest.mark.unmeasured
@settings(deadline=None)
@given(deployments())
def test_no_text_of_a_deploy_holds_the_value_of_a_variable(deployment: Deployment) -> None:
    decision = decide_deploy(deployment)
    told = [repr(deployment), str(deployment), repr(decision.step), repr(verdict(decision)), decision.stage.value]
    told += [step_in_words(decision.step)] if decision.step is not None else []
    assert MARKED_VALUE not in " ".join(told)
