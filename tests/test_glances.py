"""When a row of the engine's list is trusted, and when its container is inspected."""

import pytest

from gordon_core.effects import Done
from gordon_core.observation import Gone, HealthStatus, Port, PortBinding, Status, Unread
from gordon_core.policy import FULL_LOOK_S
from gordon_shell.errors import EngineError
from gordon_shell.glances import COARSE_S, Glances, Listing, Look
from gordon_shell.memory.clock import MemoryClock
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.memory.engine import MemoryEngine
from gordon_shell.ports import Details, Row
from tests.hosts import HTTP, SETTLED_S, Calls, Watched

WEB = Simulated("web", publishes=((HTTP, 8080),))


class Sight:
    """Glances at a memory engine whose calls are written down."""

    def __init__(self, *containers: Simulated) -> None:
        self.clock = MemoryClock()
        self.engine = MemoryEngine(self.clock)
        self.engine.add(*(containers or (WEB,)))
        self.calls = Calls()
        self.glances = Glances(Watched("engine", self.engine, self.calls))  # type: ignore[arg-type] # it has what it watches

    def started(self) -> "Sight":
        """Start everything, and let it grow old; look at it once."""
        for each in self.engine.rows():
            assert Done() == self.engine.start(each.container_id)
        return self.old()

    def old(self) -> "Sight":
        self.clock.advance(SETTLED_S)
        self.look()
        self.calls.clear()
        return self

    def look(self, container_id: str = "web") -> Look:
        return self.glances.look(container_id, self.glances.rows(), self.clock.now())

    def calls_of_a_look(self, after_s: float = 15.0) -> list[str]:
        self.clock.advance(after_s)
        self.calls.clear()
        self.look()
        return list(self.calls.made)


LISTED = ["engine.rows"]
INSPECTED = ["engine.rows", "engine.inspect web"]


def test_a_container_is_inspected_at_first_sight() -> None:
    assert INSPECTED == Sight().calls_of_a_look()


@pytest.mark.parametrize("status", [Status.CREATED, Status.RUNNING, Status.EXITED, Status.DEAD])
def test_a_row_in_which_nothing_changed_is_trusted_also_of_what_is_down(status: Status) -> None:
    sight = Sight().started()
    if status is not Status.RUNNING:
        sight.engine.kill("web")
        sight.engine.set_status("web", status)
        sight.old()
    assert LISTED == sight.calls_of_a_look()


def test_what_is_known_is_handed_on_as_the_same_object() -> None:
    sight = Sight().started()
    assert sight.look() is sight.look()


@pytest.mark.parametrize("status", [Status.PAUSED, Status.RESTARTING, Status.REMOVING, Status.UNKNOWN])
def test_a_status_that_hides_something_is_never_trusted(status: Status) -> None:
    sight = Sight().started()
    sight.engine.set_status("web", status)
    sight.old()
    assert INSPECTED == sight.calls_of_a_look()


@pytest.mark.parametrize(
    ("checks", "calls"),
    [((True,), LISTED), ((False,), INSPECTED), ((), LISTED)],
    ids=["healthy", "unhealthy: results to be counted", "without a health check"],
)
def test_health_is_trusted_where_the_row_tells_all(checks: tuple[bool, ...], calls: list[str]) -> None:
    assert calls == Sight(Simulated("web", behaviour=Behaviour(checks=checks))).started().calls_of_a_look()


def test_a_health_check_that_is_starting_is_looked_at_each_time() -> None:
    slow = Simulated("web", behaviour=Behaviour(checks=(True,), check_every_s=10_000))
    assert INSPECTED == Sight(slow).started().calls_of_a_look()


def test_another_health_than_the_one_known_is_looked_at() -> None:
    sight = Sight(Simulated("web", behaviour=Behaviour(checks=(True,)))).started()
    sight.engine.behave("web", Behaviour())
    assert INSPECTED == sight.calls_of_a_look()


def test_a_restart_is_seen_though_status_and_ports_are_the_same() -> None:
    sight = Sight().started()
    before = sight.look()
    sight.engine.restart("web", 1.0)
    assert INSPECTED == sight.calls_of_a_look(50.0)
    after = sight.look()
    assert isinstance(before, Details)
    assert isinstance(after, Details)
    assert before.container.started_at != after.container.started_at


def test_other_ports_are_looked_at() -> None:
    sight = Sight(WEB).started()
    (one,) = (each for each in sight.engine.rows() if each.container_id == "web")
    row = Row(one.container_id, one.name, one.status, one.uptime, one.health, (PortBinding(Port(80), "127.0.0.1", 9),))
    sight.glances.look("web", Listing({"web": row}), sight.clock.now())
    assert ["engine.inspect web"] == sight.calls.of("engine.inspect")


def test_a_container_that_ended_is_looked_at() -> None:
    sight = Sight().started()
    sight.engine.kill("web")
    assert INSPECTED == sight.calls_of_a_look()


def test_a_young_container_is_looked_at_until_its_uptime_is_counted_in_minutes() -> None:
    sight = Sight()
    sight.engine.start("web")
    looks = [(sight.calls_of_a_look(10.0), sight.clock.now().boot_s - 1000.0) for _ in range(20)]
    assert [10.0 * each for each in range(1, 12)] == [at for calls, at in looks if calls == INSPECTED and at < 120]
    assert [] == [at for calls, at in looks if calls == INSPECTED and at > 120]


def test_a_row_after_a_gap_is_too_coarse_to_be_trusted() -> None:
    assert LISTED == Sight().started().calls_of_a_look(COARSE_S - 1)
    assert INSPECTED == Sight().started().calls_of_a_look(COARSE_S)


def test_everything_is_looked_at_every_five_minutes() -> None:
    sight = Sight().started()
    looks = [sight.calls_of_a_look(15.0) for _ in range(41)]
    assert [FULL_LOOK_S, 2 * FULL_LOOK_S] == [15.0 * (index + 1) for index, calls in enumerate(looks) if calls == INSPECTED]


def test_the_silence_of_the_list_is_no_evidence_about_anything() -> None:
    sight = Sight().started()
    sight.engine.unreachable("it hangs")
    seen = sight.look()
    assert isinstance(seen, Unread)
    assert "it hangs" in seen.reason
    assert LISTED == sight.calls_of_a_look()
    sight.engine.unreachable("")
    assert isinstance(sight.look(), Details)


def test_an_inspect_without_an_answer_is_silence_and_forgets_what_was_known() -> None:
    sight = Sight().started()

    def fail() -> None:
        message = "no answer in time"
        raise EngineError(message)

    sight.calls.once_before("engine.inspect", fail)
    assert Unread("no answer in time") == sight.glances.inspect("web", None, sight.clock.now())
    assert INSPECTED == sight.calls_of_a_look()


def test_a_container_that_is_not_in_the_list_is_gone_only_if_the_engine_says_so() -> None:
    sight = Sight().started()
    assert isinstance(sight.glances.look("web", Listing({}), sight.clock.now()), Details)
    sight.engine.delete("web")
    assert Gone() == sight.look()


def test_evidence_from_an_inspect_alone_is_not_what_later_rows_are_compared_to() -> None:
    sight = Sight().started()
    sight.glances.inspect("web", None, sight.clock.now())
    assert INSPECTED == sight.calls_of_a_look()
    assert LISTED == sight.calls_of_a_look()


def test_a_row_older_than_its_inspect_is_not_remembered() -> None:
    sight = Sight().started()
    listing = sight.glances.rows()
    sight.engine.kill("web")
    sight.glances.inspect("web", listing.rows["web"], sight.clock.now())
    sight.clock.advance(15.0)
    sight.calls.clear()
    sight.glances.look("web", listing, sight.clock.now())
    assert ["engine.inspect web"] == sight.calls.made


def test_what_nobody_asks_for_any_more_is_forgotten() -> None:
    sight = Sight().started()
    sight.glances.keep_only({"web"})
    assert LISTED == sight.calls_of_a_look()
    sight.glances.keep_only(set())
    assert INSPECTED == sight.calls_of_a_look()


def test_health_that_a_row_cannot_tell_is_inspected() -> None:
    sight = Sight().started()
    (row,) = sight.engine.rows()
    blind = Row(row.container_id, row.name, row.status, row.uptime, HealthStatus.UNREAD, row.ports)
    sight.glances.look("web", Listing({"web": blind}), sight.clock.now())
    assert ["engine.inspect web"] == sight.calls.made
