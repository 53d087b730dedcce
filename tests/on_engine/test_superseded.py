"""A successor and the container that it supersedes: the old one goes, with its grace, only after the new one was verified."""

import time
from pathlib import Path

from gordon_core.effects import Done, Publish, RecordVerified, Remove, Retire
from gordon_core.observation import Gone
from gordon_core.policy import Policy
from gordon_core.situations import Situation
from gordon_core.snapshot import Declared
from gordon_shell.ports import Marker
from tests.engine_fixtures import NEEDS_ENGINE, WEB, Containers, web
from tests.haproxy import NEEDS_HAPROXY
from tests.on_engine.scene import APP, HTTP, PATIENT, Scene, events, polled, scene, told

pytestmark = [*NEEDS_ENGINE, *NEEDS_HAPROXY]
GRACE_S = 5.0
PUBLISHED = {"80/tcp": 0}
LEAVES_SLOWLY = (
    "sh", "-c",
    "mkdir -p /www && printf old >/www/index.html; trap 'kill $!; sleep 1; exit 7' TERM; " + " ".join(WEB) + " & wait",
)  # fmt: skip
LATE_S = 2


def supersede(host: Scene, old: str, new: str, policy: Policy = PATIENT) -> None:
    """Deploy: ACTIVE names the new container, and the old one is marked, in one transaction."""
    before = host.stored("web")
    assert before.declared is not None
    marker = Marker(old, GRACE_S, before.declared.binds, before.memory.verified)
    declared = Declared(new, 2, ports=(HTTP,), stop_grace_s=GRACE_S, policy=policy)
    assert Done() == host.ports.store.activate(APP, "web", declared, 1, marker)


def test_the_old_one_serves_until_the_new_one_is_verified_and_is_then_retired_with_its_grace(
    containers: Containers, directory: Path
) -> None:
    with scene(containers, directory, "web") as host:
        old = containers.run(*LEAVES_SLOWLY, publishes=PUBLISHED)
        host.adopt("web", old)
        host.converge()
        shell, flag, script = web("new")
        new = containers.create(shell, flag, f"sleep {LATE_S}; {script}", publishes=PUBLISHED)
        before, begun_s = len(host.journal.entries), time.time()
        with polled(host, "web") as answers:
            supersede(host, old, new)
            host.converge()
            assert (200, "new") == host.ask("web")
        answers["web"].assert_none_was_wrong("old", "new")
        assert ({(200, "old"), (200, "new")}, 0) == (set(answers["web"].complete), answers["web"].broken)
        done = [type(each.effect) for each in host.journal.entries[before:]]
        turning = [RecordVerified, Publish, Retire, Remove]
        assert turning == [each for each in done if each in turning]
        assert Gone() == host.ports.engine.inspect(old)
        assert () == host.stored("web").markers
        (died,) = events(containers, old, begun_s, "die")
        assert "'exitCode': '7'" in str(died["Actor"])  # it was let end by itself
        assert 0 == host.memory("web").failures
        before = len(host.journal.entries)
        host.reopen()
        assert host.passes().is_well
        assert [] == host.journal.kinds()[before:]


def test_a_successor_that_does_not_serve_never_costs_the_old_one(containers: Containers, directory: Path) -> None:
    with scene(containers, directory, "web") as host:
        old = containers.run_web("old", stop_timeout_s=1)
        host.adopt("web", old)
        host.converge()
        new = containers.create("sh", "-c", "exit 1", publishes=PUBLISHED)
        with polled(host, "web") as answers:
            supersede(host, old, new, Policy(readiness_s=0.5))
            for _ in range(5):
                report = host.passes()
                assert [Situation.AWAITING] == [each.situation for each in report.plan.superseded], told(report)
        assert ({(200, "old")}, 0) == (set(answers["web"].complete), answers["web"].broken)
        assert 3 == host.memory("web").failures
        assert [] == host.journal.of(Retire, Remove)
