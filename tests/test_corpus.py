"""What people report about systems that do this job: one test for each row that the core decides, named by its number.

Rows 21 to 24, 26 and 27 belong to deploys and to the event stream; 31 is the shell's bound on what runs at once.
"""

import pytest
from attrs import evolve

from gordon_core.effects import (
    Fault,
    PersistBinds,
    Probe,
    Publish,
    RecordFailure,
    Refused,
    Restart,
    Retire,
    Start,
    Unknown,
    Withdraw,
)
from gordon_core.folds import saw
from gordon_core.observation import (
    Bind,
    Container,
    Exit,
    Gone,
    Health,
    HealthStatus,
    ProbeResult,
    Status,
)
from gordon_core.planner import Decision, decide, plan
from gordon_core.policy import Constant, Policy
from gordon_core.sentences import duration, policy_notes, sentence
from gordon_core.situations import Situation
from gordon_core.snapshot import Intent, Subject
from gordon_shell.seen_text import seen_in_words
from tests.core_examples import (
    CLOCK,
    GENERATION,
    GOOD,
    HTTP,
    LATER,
    NOW_S,
    OLD_BIND,
    SILENT,
    STARTED,
    WEB_ID,
    after,
    attempt_on_record,
    attempted_before,
    dark,
    declaring,
    down,
    good,
    having,
    host,
    remembering,
    routed,
    running,
    seen,
    sick,
    stopped,
    strange,
    struck_once,
    struck_out,
    superseding,
    unhealthy,
)
from tests.pure_world import Body, World

DAY_S, HOUR_S = 86_400.0, 3_600.0


def crash_loop(lifetime_s: float, until_s: float) -> World:
    """Let a container that ends so long after each of its starts be recovered, beside one that is well."""
    world = World(boot_s=0.0)
    world.deploy("web", Body("c1", lifetime_s=lifetime_s, binds_ports=False), running=False, ports=())
    world.deploy("well", Body("c2"))
    world.run(until_s, 15.0)
    return world


def gaps(world: World) -> list[float]:
    """Return the waits between each charge and the start that follows it."""
    starts, charges = world.times(Start), world.times(RecordFailure)
    return [start - charge for charge, start in zip(charges, starts[1:], strict=False)]


def decided(subject: Subject) -> Decision:
    """Return what is decided about it after a look."""
    return decide(saw(subject, CLOCK), NOW_S)


def held(subject: Subject) -> tuple[Situation, bool]:
    """Return the situation after a look, and whether it is held without an effect."""
    decision = decided(subject)
    return decision.situation, decision.effect is None


def test_1_eleven_seconds_of_life_never_reset_the_budget() -> None:
    """moby/moby pull 7414."""
    assert [0, 0, 60, 120, 240, 480, 900, 900] == gaps(crash_loop(11.0, 2 * HOUR_S))[:8]


def test_2_the_wait_is_fifteen_minutes_whatever_the_counter_says() -> None:
    """moby/moby issue 30503."""
    decision = decided(good(dark, down, remembering(failures=50, charged=STARTED, charged_at_s=NOW_S)))
    assert (Situation.COOLING, NOW_S + 900) == (decision.situation, decision.until_s)


def test_3_two_seconds_of_life_are_a_hundred_starts_a_day() -> None:
    """eltmon/overdeck issue 257."""
    assert 100 == pytest.approx(len(crash_loop(2.0, DAY_S).times(Start)), abs=3)


def test_4_a_crash_loop_of_four_hours_costs_twenty_starts_and_no_other_container_anything() -> None:
    """FootprintAI/Containarium pull 1233."""
    world = crash_loop(2.0, 4 * HOUR_S)
    assert 20 == pytest.approx(len(world.times(Start)), abs=2)
    others = [
        effect for time, effect, _ in world.done if time > 0 and getattr(effect, "generation", GENERATION).service == "well"
    ]
    assert [] == others


def test_5_one_service_may_wait_less_and_it_is_said_why() -> None:
    """kubernetes/kubernetes issue 57291."""
    patience = declaring(policy=Policy(ladder_s=(5.0, 10.0)))
    said = Constant("ladder_s", "5, 10", "[apps.shop.services.web.recovery] of the host policy")
    subject = good(dark, down, patience, having(policy_constants=(said,)), remembering(failures=9, charged_at_s=NOW_S))
    decision = decided(subject)
    assert (NOW_S + 10, (str(said),)) == (decision.until_s, policy_notes(decision))


def test_6_unhealthy_after_a_restart_is_charged_and_restarted_again() -> None:
    """hashicorp/nomad issue 9176."""
    world = ailing_world()
    assert ["Withdraw", "RecordAttempt", "Restart"] == sicken(world)[:3]
    strikes = world.subjects["web"].memory.strikes
    assert None is strikes
    assert ["RecordFailure", "Withdraw", "RecordAttempt", "Restart"] == sicken(world)[:4]
    assert 1 == world.subjects["web"].memory.failures


def test_7_restarts_for_unhealthiness_and_for_deaths_have_one_budget() -> None:
    """hashicorp/nomad issue 19875."""
    world = ailing_world()
    for _ in range(4):
        sicken(world)
    assert (3, 3, "COOLING") == (len(world.times(Restart)), world.subjects["web"].memory.failures, world.situation("web"))
    charged_at_s = world.times(RecordFailure)[-1]
    world.run(world.boot_s + 70, 15.0)
    assert 60 <= world.times(Restart)[-1] - charged_at_s <= 75
    assert 4 == len(world.times(Restart))


def ailing_world() -> World:
    """Return a world with a service that is as desired and has a health check."""
    world = World()
    world.deploy("web", Body("c1", health=HealthStatus.HEALTHY))
    world.run_pass()
    return world


def sicken(world: World) -> list[str]:
    """Let the check fail in two looks; return what the second look called for."""
    world.advance(15)
    world.fail_check("web")
    world.run_pass()
    world.advance(15)
    world.fail_check("web")
    return world.kinds(world.run_pass())


def test_8_what_ended_with_the_daemon_is_started_and_not_charged() -> None:
    """moby/moby issue 30308."""
    world = World()
    for number in range(20):
        world.deploy(f"s{number}", Body(f"c{number}"))
    world.run_pass()
    for body in world.bodies.values():
        body.status = Status.EXITED
    world.run_pass()
    assert (20, []) == (len(world.times(Start)), world.times(RecordFailure))
    assert 20 == len(world.routes)


def test_9_a_pause_is_neither_sickness_nor_stability() -> None:
    """willfarrell/docker-autoheal issue 98."""
    failed = tuple(ProbeResult(str(number), 1) for number in range(9))
    paused = seen(evolve(running(), status=Status.PAUSED, health=Health(HealthStatus.UNHEALTHY, 9, failed)))
    assert Withdraw("shop", "web") == decided(good(paused, struck_once)).effect
    assert (Situation.PAUSED, True) == held(good(paused, struck_once, dark))
    after_look = saw(good(paused, struck_once, dark), CLOCK).memory
    assert (good(struck_once).memory.strikes, None) == (after_look.strikes, after_look.window)


def test_10_restarting_has_ended() -> None:
    """willfarrell/docker-autoheal issue 53."""
    restarting = seen(evolve(strange(Status.RESTARTING), health=Health(HealthStatus.UNHEALTHY, 1, (ProbeResult("a", 1),))))
    assert Withdraw("shop", "web") == decided(good(restarting)).effect
    assert (Situation.TRANSITIONAL, True) == held(good(restarting, dark))


def test_11_unhealthy_without_a_result_is_no_strike() -> None:
    """traefik/traefik issue 7377."""
    looked = saw(good(seen(unhealthy(STARTED))), CLOCK)
    assert GOOD.memory == looked.memory
    assert (Situation.WATCHED, True) == held(looked)


def test_12_two_failed_results_are_a_restart_and_all_that_follows() -> None:
    """moby/moby issue 28400."""
    world = ailing_world()
    assert [
        "Withdraw", "RecordAttempt", "Restart", "AwaitHealth", "Probe", "PersistBinds", "RecordVerified", "Publish",
    ] == sicken(world)  # fmt: skip


def test_13_nothing_is_routed_before_its_health_check_spoke() -> None:
    """caprover/caprover issue 844."""
    world = World()
    world.deploy("web", Body("c1", ready=False, health=HealthStatus.STARTING))
    world.run(world.boot_s + 285, 15.0)
    assert ([], [], {}) == (world.times(Publish), world.times(RecordFailure), world.routes)
    assert "STARTING_YET" == world.situation("web")
    world.bodies["c1"].ready = True
    world.run_pass()
    assert [("shop", "web")] == list(world.routes)


def test_14_a_port_that_a_restart_changed_is_probed_and_put_on_record_before_it_is_published() -> None:
    """moby/moby issue 31926."""
    world = World()
    world.deploy("web", Body("c1", host_port=61285, health=HealthStatus.HEALTHY))
    world.run_pass()
    world.bodies["c1"].host_port = 61323
    first = len(world.done)
    sicken(world)
    new = (Bind(HTTP, 61323),)
    effects = [effect for _, effect, _ in world.done[first:]]
    assert Withdraw("shop", "web") == effects[0]
    assert [new] * 4 == [each.binds for each in effects if hasattr(each, "binds")]
    assert [Probe, PersistBinds, Publish] == [type(each) for each in effects if isinstance(each, Probe | PersistBinds | Publish)]


def test_15_a_container_without_its_port_is_never_published_and_charged_once() -> None:
    """moby/moby issue 51758."""
    world = World()
    world.deploy("web", Body("c1", binds_ports=False))
    world.run(world.boot_s + 300, 15.0)
    assert (1, [], "PORTLESS") == (len(world.times(RecordFailure)), world.times(Publish), world.situation("web"))


def test_16_a_route_to_an_address_of_before_the_reboot_is_withdrawn_and_the_container_left_alone() -> None:
    """dokku/dokku issue 2400."""
    world = World()
    world.deploy("web", Body("c1"))
    world.run_pass()
    world.start(world.bodies["c1"])
    assert ["Withdraw", "Probe", "PersistBinds", "RecordVerified", "Publish"] == world.kinds(world.run_pass())
    assert [] == world.times(Start, Restart)


@pytest.mark.parametrize("outcome", [Refused("still up", Fault.ROUTER), Unknown(SILENT)])
def test_17_nothing_is_stopped_before_its_withdrawal_was_acknowledged(outcome: Refused | Unknown) -> None:
    """coollabsio/coolify issue 8627: the old container still gets requests after its SIGTERM."""
    unacknowledged = good(superseding, routed(OLD_BIND), stopped, after(Withdraw("shop", "web"), outcome), having(unproven=True))
    assert [] == [each for each in plan(host(unacknowledged)).effects if isinstance(each, Retire)]
    acknowledged = good(superseding, stopped, dark, after(Withdraw("shop", "web")))
    assert Retire in {type(each) for each in plan(host(acknowledged)).effects}


def test_18_a_service_that_flaps_changes_its_own_route_alone() -> None:
    """lucaslorentz/caddy-docker-proxy issue 800."""
    world = World(boot_s=0.0)
    world.deploy("a", Body("ca", lifetime_s=3.0))
    world.deploy("b", Body("cb"))
    world.run_pass()
    route_of_b = world.routes["shop", "b"]
    first = len(world.done)
    world.run(600.0, 3.0)
    assert route_of_b == world.routes["shop", "b"]
    assert {"a"} == {getattr(effect, "service", None) or effect.generation.service for _, effect, _ in world.done[first:]}


def test_19_endpoint_removal_and_sigterm_never_race() -> None:
    """kubernetes/kubernetes issue 43576."""
    assert Withdraw("shop", "web") == decided(good(sick)).effect
    in_vain = good(sick, attempt_on_record, after(Withdraw("shop", "web"), Unknown(SILENT)), having(unproven=True))
    assert (Situation.BLOCKED, True) == held(in_vain)


def test_20_a_restored_route_is_not_trusted() -> None:
    """basecamp/kamal-proxy, state restored: after a reboot the state file names a target that is gone."""
    for look in (Gone(), strange(Status.EXITED), running(LATER, 32999)):
        assert Withdraw("shop", "web") == decided(good(seen(look))).effect


def test_25_what_the_operator_stopped_is_stopped_again() -> None:
    """moby/moby issue 47846."""
    world = World()
    world.deploy("web", Body("c1"))
    world.run_pass()
    world.change("web", intent=Intent.STOPPED)
    world.run_pass()
    world.start(world.bodies["c1"])
    assert ["Stop"] == world.kinds(world.run_pass())
    assert (Status.EXITED, []) == (world.bodies["c1"].status, world.times(Start))


@pytest.mark.parametrize("step_s", [-40.0, -1e9, 1e9])
def test_28_a_step_of_the_wall_clock_starts_nothing_sooner_or_later(step_s: float) -> None:
    """kubernetes/kubernetes issue 134153."""
    world = World(boot_s=0.0)
    world.deploy("web", Body("c1", lifetime_s=0.0), running=False)
    world.run_pass()
    world.wall_s += step_s
    world.advance(10)
    world.run(79.0, 10.0)
    assert [0, 10, 20] == world.times(Start)
    world.run(80.0, 10.0)
    assert [0, 10, 20, 80] == world.times(Start)
    assert "0 s" == duration(step_s if step_s < 0 else -step_s)


def test_29_two_hours_of_suspend_are_neither_stability_nor_failure() -> None:
    """systemd/systemd issue 20284: boot time includes suspend."""
    world = World()
    world.deploy("web", Body("c1"), running=False)
    world.run_pass()
    world.advance(2 * HOUR_S)
    assert [] == world.run_pass()
    memory, window = world.subjects["web"].memory, world.subjects["web"].memory.window
    assert window is not None
    assert (0, world.boot_s, "PROVING") == (memory.failures, window.since_s, world.situation("web"))


def test_30_a_stop_that_hangs_holds_up_nothing_else() -> None:
    """moby/moby issue 41579."""
    hanging = good(stopped, having(in_flight="stop it, with 10 s to stop in"))
    other = evolve(good(dark, down), service="api")
    found = plan(host(hanging, other))
    assert [Situation.DUE, Situation.IN_FLIGHT] == [each.situation for each in found.services]
    assert "an earlier command (stop it, with 10 s to stop in) has not come back yet; nothing else until it does" == sentence(
        found.services[1], CLOCK
    )


def test_32_a_kill_that_nobody_saw_is_told_as_that() -> None:
    """moby/moby issue 38352."""
    killed = Container(WEB_ID, Status.EXITED, STARTED, exit=Exit(137, finished_at="2026-11-30T06:59:56Z"))
    assert "exited (137) 4 s ago: killed, cause unknown, perhaps memory" == seen_in_words(killed, CLOCK)
    assert "down, and free to start" == sentence(decided(good(dark, seen(killed))), CLOCK)


@pytest.mark.parametrize(
    ("mutation", "effect"),
    [
        (down, Start(GENERATION)),
        (lambda each: struck_out(seen(unhealthy(STARTED, "06:58", "06:59"))(each)), Restart(GENERATION, 10.0)),
    ],
)
def test_33_a_failure_carries_the_engines_own_words(mutation: object, effect: Start | Restart) -> None:
    """willfarrell/docker-autoheal issue 111."""
    words = "409: container is marked for removal and cannot be started"
    decision = decided(good(dark, mutation, attempt_on_record, after(effect, Refused(words, Fault.WORKLOAD))))
    assert (Situation.REFUSED, words) == (decision.situation, decision.effect.reason)
    assert f"the engine refused to start it: {words}" == sentence(decision, CLOCK)


def test_33_a_failure_has_the_words_about_itself_and_of_nobody_else() -> None:
    """A proxy's refusal of the same pass does not explain why a workload ended."""
    unrelated = after(Withdraw("shop", "web"), Refused("still up", Fault.ROUTER))
    assert "" == decided(good(dark, down, attempted_before, unrelated)).effect.reason
