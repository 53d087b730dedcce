"""What the memory engine simulates beyond the contract: the faults of an engine, ports that change hands, and time."""

import pytest

from gordon_core.effects import Done, Fault, Refused, Unknown
from gordon_core.observation import Health, HealthStatus, Port, Status
from gordon_shell import docker_json
from gordon_shell.errors import EngineError
from gordon_shell.memory.clock import MemoryClock
from gordon_shell.memory.container import Behaviour, Simulated
from gordon_shell.memory.engine import FIRST_EPHEMERAL, MemoryEngine
from gordon_shell.memory.prober import MemoryProber
from gordon_shell.memory.uptime import human, status_text
from gordon_shell.ports import Details

HTTP = Port(80)
STEADY = Behaviour()
MINUTE, HOUR, DAY = 60, 3600, 86400


@pytest.fixture
def clock() -> MemoryClock:
    return MemoryClock()


@pytest.fixture
def engine(clock: MemoryClock) -> MemoryEngine:
    return MemoryEngine(clock)


def web(container_id: str, behaviour: Behaviour = STEADY) -> Simulated:
    return Simulated(container_id, publishes=((HTTP, 0),), behaviour=behaviour)


def host_port(engine: MemoryEngine, container_id: str) -> int:
    seen = engine.inspect(container_id)
    assert isinstance(seen, Details)
    return seen.container.ports[0].host_port


def status(engine: MemoryEngine, container_id: str) -> Status:
    seen = engine.inspect(container_id)
    assert isinstance(seen, Details)
    return seen.container.status


def health(engine: MemoryEngine, container_id: str) -> Health:
    seen = engine.inspect(container_id)
    assert isinstance(seen, Details)
    return seen.container.health


def test_a_freed_port_goes_to_the_next_container(engine: MemoryEngine) -> None:
    engine.add(web("a"), web("b"), web("c"))
    assert [Done(), Done()] == [engine.start("a"), engine.start("b")]
    assert [FIRST_EPHEMERAL, FIRST_EPHEMERAL + 1] == [host_port(engine, "a"), host_port(engine, "b")]
    engine.kill("a")
    engine.start("c")
    engine.start("a")
    assert [FIRST_EPHEMERAL + 2, FIRST_EPHEMERAL] == [host_port(engine, "a"), host_port(engine, "c")]


def test_an_engine_that_starts_again_hands_the_ports_out_anew(engine: MemoryEngine) -> None:
    engine.add(web("a"), web("b"))
    engine.start("a")
    engine.start("b")
    engine.unreachable("killed")
    engine.start_again()
    engine.start("b")
    engine.start("a")
    assert [FIRST_EPHEMERAL + 1, FIRST_EPHEMERAL] == [host_port(engine, "a"), host_port(engine, "b")]


def test_one_that_dies_while_the_engine_is_down_reads_137_under_live_restore(engine: MemoryEngine, clock: MemoryClock) -> None:
    engine.add(web("a", Behaviour(exits_after_s=5.0, exit_code=3)), web("b"))
    engine.start("a")
    engine.start("b")
    engine.unreachable("killed")
    clock.advance(10.0)
    engine.start_again(live_restore=True)
    seen = engine.inspect("a")
    assert isinstance(seen, Details)
    assert seen.container.exit is not None
    assert (Status.EXITED, 137) == (seen.container.status, seen.container.exit.code)
    assert Status.RUNNING is status(engine, "b")


def test_an_end_has_its_own_time_not_that_of_the_look(engine: MemoryEngine, clock: MemoryClock) -> None:
    engine.add(web("a", Behaviour(exits_after_s=5.0)))
    engine.start("a")
    clock.advance(65.0)
    seen = engine.inspect("a")
    assert isinstance(seen, Details)
    assert seen.container.exit is not None
    assert "2026-01-01T00:00:05.000000999Z" == seen.container.exit.finished_at
    assert "Exited (1) About a minute ago" == engine.rows()[0].uptime


def test_a_start_is_refused_until_that_ends(engine: MemoryEngine) -> None:
    engine.add(web("a"))
    engine.refuse_start("a", "dockerd is shutting down", Fault.ENGINE)
    assert Refused("dockerd is shutting down", Fault.ENGINE) == engine.start("a")
    engine.refuse_start("a", "")
    assert Done() == engine.start("a")


def test_a_hanging_command_takes_its_time_has_no_effect_and_no_answer(engine: MemoryEngine, clock: MemoryClock) -> None:
    engine.add(web("a"), web("b"))
    engine.hang("a", 30.0)
    before_s = clock.now().boot_s
    assert isinstance(engine.start("a"), Unknown)
    assert 30.0 == clock.now().boot_s - before_s
    assert Status.CREATED is status(engine, "a")
    assert Done() == engine.start("b")
    engine.hang("a", 0.0)
    assert Done() == engine.start("a")


def test_an_unreachable_engine_says_why_and_its_containers_live_on(engine: MemoryEngine) -> None:
    engine.add(web("a"))
    engine.start("a")
    engine.unreachable("connection refused")
    with pytest.raises(EngineError, match="connection refused"):
        engine.rows()
    assert [Unknown] * 2 == [type(engine.stop("a", 1.0)), type(engine.remove("nonesuch"))]
    assert Done() == MemoryProber(engine).probe(web_binds(engine), 0.0, 80, "/", lambda: True)
    engine.unreachable("")
    assert Status.RUNNING is status(engine, "a")


def web_binds(engine: MemoryEngine) -> tuple[docker_json.PortBinding, ...]:
    holder = engine.holder(FIRST_EPHEMERAL)
    assert holder is not None
    return holder.ports


def test_a_stop_takes_its_time_within_the_grace(engine: MemoryEngine, clock: MemoryClock) -> None:
    engine.add(web("a", Behaviour(stops_in_s=5.0)))
    codes = []
    for grace_s in (10.0, 2.0):
        engine.start("a")
        before_s = clock.now().boot_s
        engine.stop("a", grace_s)
        assert min(5.0, grace_s) == clock.now().boot_s - before_s
        seen = engine.inspect("a")
        assert isinstance(seen, Details)
        codes.append(seen.container.exit and seen.container.exit.code)
    assert [143, 137] == codes


def test_a_health_script_is_followed_and_its_last_result_repeated(engine: MemoryEngine, clock: MemoryClock) -> None:
    engine.add(web("a", Behaviour(checks=(True, False, False, True), check_every_s=5.0, check_retries=2)))
    engine.start("a")
    looks = []
    for _ in range(8):
        seen = health(engine, "a")
        looks.append((seen.status, seen.streak, len(seen.results)))
        clock.advance(5.0)
    healthy = HealthStatus.HEALTHY
    again = [(healthy, 0, each) for each in (4, 5, 5, 5)]
    expected = [(HealthStatus.STARTING, 0, 0), (healthy, 0, 1), (healthy, 1, 2), (HealthStatus.UNHEALTHY, 2, 3), *again]
    assert expected == looks


def test_a_changed_behaviour_holds_from_now_on(engine: MemoryEngine) -> None:
    engine.add(web("a"))
    engine.start("a")
    engine.behave("a", Behaviour(answers=503))
    refused = MemoryProber(engine).probe(web_binds(engine), 0.0, 80, "/ready", lambda: True)
    assert Refused(f"GET /ready at {FIRST_EPHEMERAL} answered 503", Fault.WORKLOAD) == refused


def test_any_status_can_be_shown(engine: MemoryEngine) -> None:
    engine.add(web("a"))
    for each in Status:
        engine.set_status("a", each)
        assert each is status(engine, "a")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.9, "Less than a second"), (1, "1 second"), (59.9, "59 seconds"), (MINUTE, "About a minute"), (119, "About a minute"),
        (120, "2 minutes"), (HOUR - 1, "59 minutes"), (HOUR, "About an hour"), (1.4 * HOUR, "About an hour"),
        (1.5 * HOUR, "2 hours"),
        (47.4 * HOUR, "47 hours"), (2 * DAY, "2 days"), (13 * DAY, "13 days"), (14 * DAY, "2 weeks"), (59 * DAY, "8 weeks"),
        (60 * DAY, "2 months"), (729 * DAY, "24 months"), (731 * DAY, "2 years"),
    ],
)  # fmt: skip
def test_durations_are_worded_as_the_engine_words_them(seconds: float, words: str) -> None:
    assert words == human(seconds)


@pytest.mark.parametrize("each", [HealthStatus.NONE, HealthStatus.STARTING, HealthStatus.HEALTHY, HealthStatus.UNHEALTHY])
def test_the_status_text_is_one_that_the_real_port_reads(each: HealthStatus) -> None:
    assert each is docker_json.health_in(status_text(Status.RUNNING, 7200.0, 0, each), Status.RUNNING)
