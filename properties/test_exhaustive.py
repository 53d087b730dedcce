"""The exhaustive check of the smallest world, completely; and the check itself, which must find cores broken by hand."""

import pytest
from attrs import evolve

from gordon_core.effects import Done, Effect, Outcome, RecordAttempt, RecordFailure, Withdraw
from gordon_core.folds import did, saw
from gordon_core.observation import Clock
from gordon_core.snapshot import Subject
from properties.exhaustive import CALM, TUNED, explore
from properties.small_core import Core, decided
from properties.small_passes import BrokenError
from properties.small_rendering import POLICY
from properties.small_world import World


def test_every_state_of_the_calm_world_is_safe_and_comes_to_rest() -> None:
    """P1-P7, P10, B1-B5, B7, L1-L3, L5: in every reachable state of one service, with the core asked in three renderings."""
    size = explore(CALM, ways=3)
    assert size.states > 20_000
    assert size.steps_to_rest <= 20


def test_every_state_of_the_tuned_world_is_safe_and_comes_to_rest() -> None:
    """T1-T3, and the others: of a service that may be held, done, or only withdrawn while it is unhealthy."""
    size = explore(TUNED)
    assert size.states > 50_000
    assert size.steps_to_rest <= 20


def _without_withdrawals(subject: Subject, clock: Clock) -> Effect | None:
    effect = decided(subject, clock)
    return None if isinstance(effect, Withdraw) else effect


def _without_waiting(subject: Subject, clock: Clock) -> Effect | None:
    return decided(evolve(subject, memory=evolve(subject.memory, charged_at_s=None)), clock)


def _without_results(subject: Subject, clock: Clock) -> Effect | None:
    return decided(evolve(subject, results=()), clock)


def _without_an_attempt_on_record(subject: Subject, clock: Clock) -> Effect | None:
    effect = decided(subject, clock)
    return effect if not isinstance(effect, RecordAttempt) else decided(did(subject, effect, _DONE, clock), clock)


def _without_the_mark(subject: Subject, effect: Effect, outcome: Outcome, clock: Clock) -> Subject:
    return evolve(did(subject, effect, outcome, clock), unproven=subject.unproven)


def _charging_twice(subject: Subject, effect: Effect, outcome: Outcome, clock: Clock) -> Subject:
    after = did(subject, effect, outcome, clock)
    return did(after, effect, outcome, clock) if isinstance(effect, RecordFailure) else after


def _striking_at_every_look(subject: Subject, clock: Clock) -> Subject:
    after = saw(subject, clock)
    strikes = after.memory.strikes
    if strikes is None or strikes.count >= 2:
        return after
    return evolve(after, memory=evolve(after.memory, strikes=evolve(strikes, count=strikes.count + 1)))


def _keeping_the_window(subject: Subject, clock: Clock) -> Subject:
    after = saw(subject, clock)
    former, latter = subject.memory.window, after.memory.window
    if former is None or latter is None:
        return after
    return evolve(after, memory=evolve(after.memory, window=evolve(latter, since_s=former.since_s)))


def _holding_nothing(subject: Subject, clock: Clock) -> Effect | None:
    return decided(evolve(subject, hold=None), clock)


def _with_the_default_policy(subject: Subject, clock: Clock) -> Effect | None:
    declared = subject.declared
    plain = evolve(declared, policy=POLICY) if declared is not None else None
    return decided(evolve(subject, declared=plain), clock)


def _forgetting_what_is_wanted_again(subject: Subject, clock: Clock) -> Subject:
    after = saw(subject, clock)
    return evolve(after, memory=evolve(after.memory, again=False))


_DONE = Done()
CHECKED = World("checked", meddling=0, check=True)
DONE = World("done", meddling=0, done=True, operator=True, blind=False)
SIDELINED = World("sidelined", meddling=0, sidelines=True, check=True, hands=False)


@pytest.mark.parametrize(
    ("core", "world", "words"),
    [
        pytest.param(Core(_without_withdrawals), CALM, "it is at rest, but", id="a wrong route is left"),
        pytest.param(Core(_without_waiting), CALM, "B1, B2 the budget is open", id="the budget is ignored"),
        pytest.param(Core(_without_results), CALM, "again in one pass|B3", id="the pass forgets what it did"),
        pytest.param(Core(_without_an_attempt_on_record), CALM, "the attempt is on record", id="a start before its record"),
        pytest.param(Core(did=_without_the_mark), CALM, "P3: the unproven mark", id="an unproven withdrawal is forgotten"),
        pytest.param(Core(did=_charging_twice), CALM, "B3, B4, B7: memory after charge", id="one charge counts twice"),
        pytest.param(Core(saw=_striking_at_every_look), CHECKED, "B3: more than one strike a look", id="a strike a look"),
        pytest.param(
            Core(saw=_keeping_the_window), CALM, "rule 14: the window is over too early", id="a window across executions"
        ),
        pytest.param(Core(_holding_nothing), TUNED, "T1 nobody holds it", id="a hold is ignored"),
        pytest.param(Core(_with_the_default_policy), DONE, "T2 it is not done", id="what is done goes on"),
        pytest.param(Core(_with_the_default_policy), SIDELINED, "T3 it is restarted", id="a restart, not a withdrawal"),
        pytest.param(
            Core(saw=_forgetting_what_is_wanted_again), DONE, "T2: that it is to be started again", id="a retry is lost"
        ),
    ],
)
def test_a_broken_core_is_found_with_a_story(core: Core, world: World, words: str) -> None:
    """Each is broken in one way, and the invariant that names it is told."""
    with pytest.raises(BrokenError, match=words) as found:
        explore(world, core)
    assert "   0. D " in str(found.value)
