"""Dossiers of containers that end on a real engine: all that is said of the end, and nothing of the execution after it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gordon_core.effects import Refused, Start
from gordon_core.observation import Container, HealthStatus, Status
from gordon_shell.host import Host
from gordon_shell.journal import Dossier, Record
from gordon_shell.ports import Details
from gordon_shell.wiring import LiveOptions
from gordon_shell.wishes import Wish
from tests.engine_fixtures import NEEDS_ENGINE, Containers
from tests.journals import contents
from tests.on_engine.scene import eventually

pytestmark = NEEDS_ENGINE
SECRET = "tr0ub4dor&3"  # noqa: S105 - it is to be found nowhere
ENVIRONMENT = {"PASSWORD": SECRET}


@pytest.fixture
def host(docker_engine_host: str, tmp_path: Path) -> Iterator[Host]:
    assert docker_engine_host
    with Host.open(LiveOptions(tmp_path / "state.db", environment={})) as made:
        yield made


def seen(host: Host, container_id: str) -> Container:
    details = host.ports.engine.inspect(container_id)
    assert isinstance(details, Details)
    return details.container


def dossiers(host: Host) -> tuple[Dossier, ...]:
    assert host.journal is not None
    return host.journal.dossiers()


def records(host: Host) -> list[Record]:
    assert host.journal is not None
    return list(host.journal.records())


def test_a_crash_is_on_record_with_its_own_last_lines(host: Host, containers: Containers, tmp_path: Path) -> None:
    script = "echo begun with $PASSWORD; while [ ! -e /end ]; do sleep 0.05; done; rm /end; echo ended >&2; exit 7"
    container_id = containers.run("sh", "-c", script, environment=ENVIRONMENT)
    host.adopt("shop", Wish("web", container_id))
    host.recover()
    before = seen(host, container_id)
    containers.client.exec_start(containers.client.exec_create(container_id, ["touch", "/end"])["Id"])
    eventually(lambda: seen(host, container_id).status is Status.EXITED)
    host.recover()
    after = seen(host, container_id)
    assert (Status.RUNNING, True) == (after.status, before.started_at != after.started_at)
    (found,) = dossiers(host)
    assert found.end is not None
    assert (container_id, before.started_at, 7) == (found.container_id, found.started_at, found.end.code)
    assert {"begun with [PASSWORD]", "ended"} == set(found.lines)
    assert (2, ()) == (len(found.lines), found.unread)
    assert SECRET not in contents(tmp_path / "history.db")


def test_a_sick_one_is_on_record_with_its_checks_before_it_is_restarted(
    host: Host, containers: Containers, tmp_path: Path
) -> None:
    check = "echo sick of $PASSWORD; exit 1"
    container_id = containers.run(environment=ENVIRONMENT, check=check, check_every_s=0.5, stop_timeout_s=0)
    host.adopt("shop", Wish("web", container_id))
    before = seen(host, container_id)
    eventually(lambda: seen(host, container_id).health.status is HealthStatus.UNHEALTHY)

    def restarted() -> bool:
        host.recover()
        return seen(host, container_id).started_at != before.started_at

    eventually(restarted)
    found = dossiers(host)[0]
    assert (True, None, before.started_at) == (found.was_restarted, found.end, found.started_at)
    assert {"sick of [PASSWORD]\n"} == {each.output for each in found.probes}
    assert SECRET not in contents(tmp_path / "history.db")


def test_a_start_that_is_refused_quotes_no_value(host: Host, containers: Containers, tmp_path: Path) -> None:
    container_id = containers.create(SECRET, environment=ENVIRONMENT)
    host.adopt("shop", Wish("web", container_id))
    host.recover()
    (start,) = [
        each.step.result for each in records(host) if each.step is not None and isinstance(each.step.result.effect, Start)
    ]
    assert isinstance(start.outcome, Refused)
    assert "[PASSWORD]" in start.outcome.reason
    assert SECRET not in contents(tmp_path / "history.db")
