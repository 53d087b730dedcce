"""A container that ends at once, with a shortened policy: three starts, then the ladder, and each start is charged once."""

import contextlib
import time
from itertools import pairwise
from pathlib import Path

import pytest

from gordon_core.effects import Cause, RecordFailure
from gordon_core.policy import Policy
from gordon_core.situations import Situation
from tests.engine_fixtures import NEEDS_ENGINE, Containers
from tests.haproxy import NEEDS_HAPROXY
from tests.on_engine.scene import scene, starts

pytestmark = [*NEEDS_ENGINE, *NEEDS_HAPROXY]

LADDER_S = (1.0, 2.0, 3.0)
FAR_S = 600.0
"""The rung after those: it is not reached, however slow the machine is."""
SHORT = Policy(ladder_s=(*LADDER_S, FAR_S), readiness_s=0.3)
CADENCE_S = 0.1
SLACK_S = 20.0
"""What a pass, and the start itself, may add to a wait on a busy machine; too early is what must never be."""


@pytest.mark.parametrize("kind", ["run", "once"])
def test_a_crash_loop_gets_three_starts_and_then_the_ladder(kind: str, containers: Containers, directory: Path) -> None:
    with scene(containers, directory, "loop", "calm") as host:
        calm = containers.run_web("calm")
        host.adopt("calm", calm)
        host.converge()
        loop = containers.create("sh", "-c", "exit 3", publishes={"80/tcp": 0})
        host.adopt("loop", loop, policy=SHORT)
        begun_s = time.time()
        with host.running(CADENCE_S) if kind == "run" else contextlib.nullcontext():
            until_s = time.monotonic() + sum(LADDER_S) + 3 * SLACK_S
            while host.memory("loop").failures < 6 and time.monotonic() < until_s:
                assert (200, "calm") == host.ask("calm")
                time.sleep(CADENCE_S)
                if kind == "once":
                    host.reopen()
                    host.passes()
        host.reopen()
        times_s = starts(containers, loop, begun_s)
        assert 6 == host.memory("loop").failures
        assert 6 == len(times_s)
        waits_s = [after - before for before, after in pairwise(times_s)]
        assert [True] * 2 == [wait_s < SLACK_S for wait_s in waits_s[:2]], waits_s
        late_s = [wait_s - rung_s for wait_s, rung_s in zip(waits_s[2:], LADDER_S, strict=True)]
        assert [True] * 3 == [0 <= each < SLACK_S for each in late_s], waits_s
        charges = [each.effect for each in host.journal.of(RecordFailure) if isinstance(each.effect, RecordFailure)]
        # seen dead at once, or only after a probe that its end overtook
        assert {Cause.ENDED, Cause.UNREADY} >= {each.cause for each in charges}
        assert 6 == len({each.started_at for each in charges})
        assert not {"Publish", "Withdraw"} & set(host.journal.kinds("shop/loop"))
        assert () == host.routed("loop")
        waits = [each for each in host.passes().plan.services if each.situation is Situation.COOLING]
        assert ["shop/loop"] == [each.subject.name for each in waits]
        assert 0 == host.memory("calm").failures
