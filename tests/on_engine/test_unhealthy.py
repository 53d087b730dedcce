"""A container that turns unhealthy: two distinct probe results, then withdrawn, then restarted, and well again."""

import time
from pathlib import Path

from gordon_core.effects import Publish, RecordAttempt, Restart, Start, Withdraw
from gordon_core.situations import Situation
from tests.engine_fixtures import NEEDS_ENGINE, WEB, Containers
from tests.haproxy import NEEDS_HAPROXY
from tests.on_engine.scene import polled, scene

pytestmark = [*NEEDS_ENGINE, *NEEDS_HAPROXY]

PAGE = "mkdir -p /www && printf web >/www/index.html && touch /tmp/well"
SERVER = ("sh", "-c", f"{PAGE} && exec {' '.join(WEB)}")
CHECK = "test -e /tmp/well"


def test_two_distinct_results_withdraw_and_restart_it(containers: Containers, directory: Path) -> None:
    with scene(containers, directory, "web") as host:
        container_id = containers.run(*SERVER, publishes={"80/tcp": 0}, check=CHECK, check_every_s=0.8, stop_timeout_s=1)
        host.adopt("web", container_id)
        host.converge()
        first = host.seen("web").started_at
        before = len(host.journal.entries)
        with polled(host, "web") as answers:
            fall_ill(containers, container_id)
            counted: dict[int, set[str]] = {}
            while not host.journal.of(Restart):
                report = host.passes()
                strikes = host.memory("web").strikes
                if strikes is not None:
                    counted.setdefault(strikes.count, set()).add(strikes.result)
                    assert Situation.WATCHED is report.plan.services[0].situation
                    assert 1 == strikes.count
                    assert (200, "web") == host.ask("web")
                time.sleep(0.1)
            host.assert_converged("web")
        answers["web"].assert_none_was_wrong()
        assert [1] == [len(results) for results in counted.values()]
        acts = [each.effect for each in host.journal.entries[before:]]
        kinds = [Withdraw, RecordAttempt, Restart, Publish]
        assert kinds == [type(each) for each in acts if type(each) in {*kinds, Start}]
        assert first != host.seen("web").started_at
        assert host.memory("web").strikes is None


def fall_ill(containers: Containers, container_id: str) -> None:
    made = containers.client.exec_create(container_id, ["rm", "/tmp/well"])  # noqa: S108 - inside the container
    containers.client.exec_start(made["Id"])
