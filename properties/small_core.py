"""The real core, asked about a small state: subjects made from it in several renderings, and its answers as plain numbers.

The core must answer alike in every rendering; so each reduction is checked where it is used.
"""

from collections.abc import Callable
from typing import TypeVar

from attrs import define, field, frozen

from gordon_core import effects as fx
from gordon_core.folds import did, saw
from gordon_core.memory import Memory
from gordon_core.observation import Clock, Unread
from gordon_core.planner import decide, decide_superseded
from gordon_core.snapshot import Intent, Subject
from properties import small_world as w
from properties.small_rendering import (
    D_UNREAD,
    HOLD,
    NOW_S,
    POLICY,
    RENDERINGS,
    REVISION,
    ROUTER_UNREAD,
    SILENCE,
    UNREAD_ROUTE,
    Rendering,
    declared_by,
    memory_of,
    namer,
    remembered,
    route,
    seen_d,
    superseded,
)
from properties.small_world import Entry, Numbered, State, World

_CLOCK = Clock(NOW_S, NOW_S, "boot")
CAUSES = (fx.Cause.ENDED, fx.Cause.RELAPSED, fx.Cause.REFUSED, fx.Cause.UNBOUND, fx.Cause.UNREADY)
ENDED, RELAPSED, REFUSED, UNBOUND, UNREADY = range(5)

_T = TypeVar("_T")
Asked = tuple[int, int, int]
"""The effect called for: its kind, then its port or cause, then whether a probe waits or a charge names the present execution."""
NOTHING_ASKED: Asked = (0, 0, 0)


def decided(subject: Subject, clock: Clock) -> fx.Effect | None:
    """Return the effect that the core calls for: of the service first, then of its superseded containers."""
    effect = decide(subject, clock.boot_s).effect
    if effect is not None:
        return effect
    old = (decide_superseded(each, subject, clock.boot_s).effect for each in subject.superseded)
    return next((each for each in old if each is not None), None)


@frozen
class Core:
    """The three doors of the core. Tests of the check itself put broken ones here."""

    decided: Callable[[Subject, Clock], fx.Effect | None] = decided
    saw: Callable[[Subject, Clock], Subject] = saw
    did: Callable[[Subject, fx.Effect, fx.Outcome, Clock], Subject] = did


@frozen
class Look:
    """What one look does: the memory and the mark after it, and what is called for."""

    memory: int
    unproven: int
    asked: Asked


@define(eq=False)
class Asker:
    """Asks the core. `renderings` are how many ways a question is put."""

    world: World
    numbered: Numbered
    core: Core = Core()
    renderings: tuple[Rendering, ...] = RENDERINGS
    questions: int = 0
    _logs: dict[tuple[object, ...], tuple[fx.Result, ...]] = field(init=False, factory=dict)

    def look(self, state: State, unread: int) -> Look:
        """Return what one look at a state does, of which some things could not be read."""
        self.questions += 1
        return _alike([self._look(state, unread, each) for each in self.renderings])

    def deed(self, state: State, asked: Asked, outcome: int) -> tuple[int, int]:
        """Return the memory and the mark after an effect with an outcome."""
        self.questions += 1
        return _alike([self._deed(state, asked, outcome, each) for each in self.renderings])

    def _look(self, state: State, unread: int, rendering: Rendering) -> Look:
        before = self.subject(state, unread, rendering)
        after = self.core.saw(before, _CLOCK)
        effect = self.core.decided(after, _CLOCK)
        memory = self._memory_number(after.memory, state, rendering)
        return Look(memory, int(after.unproven), _asked(effect, state, rendering))

    def _deed(self, state: State, asked: Asked, outcome: int, rendering: Rendering) -> tuple[int, int]:
        subject = self.subject(w.put(state, w.LOG, 0), 0, rendering)
        after = self.core.did(subject, self._effect(state, asked, rendering), _outcome(outcome, rendering), _CLOCK)
        return self._memory_number(after.memory, state, rendering), int(after.unproven)

    # --- from a state to a subject ---------------------------------------------------------------------------------------

    def subject(self, state: State, unread: int, rendering: Rendering) -> Subject:
        """Return the subject that shows a state."""
        declared = state[w.DECLARED]
        return Subject(
            app="shop",
            service="web",
            seen=seen_d(state, rendering) if declared and not unread & D_UNREAD else Unread(SILENCE),
            declared=declared_by(self.world, rendering, state[w.RECORD]) if declared else None,
            intent=Intent.RUNNING if state[w.INTENT] else Intent.STOPPED,
            route=UNREAD_ROUTE if unread & ROUTER_UNREAD else route(rendering, state[w.ROUTE]),
            memory=memory_of(self.numbered.memories[state[w.MEMORY]], rendering, state[w.STARTED]),
            unproven=bool(state[w.UNPROVEN]),
            inhibited="by hand" if state[w.INHIBITED] else "",
            ungranted=("/data is not granted",) if state[w.UNGRANTED] else (),
            results=self._results(state, rendering),
            superseded=superseded(state, unread, rendering),
            orphans=("o",) if state[w.ORPHAN] else (),
            hold=HOLD if state[w.HELD] else None,
        )

    def _results(self, state: State, rendering: Rendering) -> tuple[fx.Result, ...]:
        key = (state[w.LOG], rendering, state[w.STARTED], state[w.S_MARK])
        found = self._logs.get(key)
        if found is None:
            found = self._logs[key] = self._rendered(state, rendering)
        return found

    def _rendered(self, state: State, rendering: Rendering) -> tuple[fx.Result, ...]:
        log = self.numbered.logs[state[w.LOG]]
        if rendering.reverse:
            # Unlike results change places; those of one kind, and withdrawals and publications, keep their order.
            kinds = sorted({_family(each) for each in log}, reverse=True)
            log = tuple(each for kind in kinds for each in log if _family(each) == kind)
        older = int(w.SUPPLANTED in log)
        return tuple(self._result(state, each, rendering, older) for each in log if each != w.SUPPLANTED)

    def _result(self, state: State, entry: Entry, rendering: Rendering, older: int) -> fx.Result:
        kind, outcome, of, at, more = entry
        return fx.Result(self._effect(state, (kind, at, more), rendering, of, older), _outcome(outcome, rendering))

    def _effect(  # noqa: C901, PLR0911, PLR0912 - an arm for each
        self, state: State, asked: Asked, rendering: Rendering, of: int = w.CURRENT, older: int = 0
    ) -> fx.Effect:
        kind, at, more = asked
        generation = fx.Generation("shop", "web", "d", REVISION - older)
        start = namer(state[w.STARTED], rendering)(of, 0)
        binds = rendering.binds(at) if kind != w.RECORD_FAILURE else ()
        match kind:
            case w.WITHDRAW:
                return fx.Withdraw("shop", "web")
            case w.PUBLISH:
                return fx.Publish(generation, binds)
            case w.PROBE:
                return fx.Probe(generation, start, binds, POLICY.readiness_s if more else 0.0)
            case w.AWAIT:
                return fx.AwaitHealth(generation, start, POLICY.readiness_s)
            case w.RECORD_ATTEMPT:
                return fx.RecordAttempt(generation, start)
            case w.RECORD_FAILURE:
                return fx.RecordFailure(generation, start if more else "", CAUSES[at])
            case w.RECORD_VERIFIED:
                return fx.RecordVerified(generation, start, binds)
            case w.PERSIST:
                return fx.PersistBinds(generation, binds)
            case w.RESTART | w.STOP:
                return _GRACEFUL[kind](generation, 10.0)
            case w.START | w.DROP_HISTORY | w.RELEASE:
                return _PLAIN[kind](generation)
            case w.FORGET | w.FORGET_ORPHAN:
                return fx.Forget("shop", "web", "d" if kind == w.FORGET else "o")
            case w.RETIRE:
                return fx.Retire("shop", "web", _old(state), 10.0)
            case _:
                return _OLD[kind]("shop", "web", _old(state))

    def _memory_number(self, memory: Memory, state: State, rendering: Rendering) -> int:
        return self.numbered.memory(remembered(memory, rendering, started=bool(state[w.STARTED])))


def _alike(answers: list[_T]) -> _T:
    if any(each != answers[0] for each in answers):
        message = f"a reduction does not hold: the core told renderings of one state apart: {answers}"
        raise AssertionError(message)
    return answers[0]


_PLAIN: dict[int, type[fx.Start | fx.DropHistory | fx.ReleaseBinds]] = {
    w.START: fx.Start, w.DROP_HISTORY: fx.DropHistory, w.RELEASE: fx.ReleaseBinds,
}  # fmt: skip
_GRACEFUL: dict[int, type[fx.Restart | fx.Stop]] = {w.RESTART: fx.Restart, w.STOP: fx.Stop}
_OLD: dict[int, type[fx.Remove | fx.ReleaseClaims | fx.DropMarker]] = {
    w.REMOVE: fx.Remove, w.RELEASE_CLAIMS: fx.ReleaseClaims, w.DROP_MARKER: fx.DropMarker,
}  # fmt: skip
_KINDS: dict[type[fx.Effect], int] = {
    fx.Withdraw: w.WITHDRAW, fx.Publish: w.PUBLISH, fx.Probe: w.PROBE, fx.Start: w.START, fx.Restart: w.RESTART, fx.Stop: w.STOP,
    fx.AwaitHealth: w.AWAIT, fx.RecordAttempt: w.RECORD_ATTEMPT, fx.RecordFailure: w.RECORD_FAILURE, fx.PersistBinds: w.PERSIST,
    fx.RecordVerified: w.RECORD_VERIFIED, fx.DropHistory: w.DROP_HISTORY, fx.ReleaseBinds: w.RELEASE, fx.Forget: w.FORGET,
    fx.Retire: w.RETIRE, fx.Remove: w.REMOVE, fx.ReleaseClaims: w.RELEASE_CLAIMS, fx.DropMarker: w.DROP_MARKER,
}  # fmt: skip


def _family(entry: Entry) -> int:
    return w.PUBLISH if entry[0] == w.WITHDRAW else entry[0]


def _old(state: State) -> str:
    return "d" if state[w.S_MARK] == w.SELF else "s"


def _outcome(outcome: int, rendering: Rendering) -> fx.Outcome:
    return (fx.DONE, fx.Refused("it cannot", fx.Fault.WORKLOAD), rendering.fault)[outcome]


def _asked(effect: fx.Effect | None, state: State, rendering: Rendering) -> Asked:  # noqa: C901 - an arm for each
    """Return an effect as numbers, and see that it is for the declared container (or the superseded one) and its execution."""
    if effect is None:
        return NOTHING_ASKED
    kind = _KINDS[type(effect)]
    name = rendering.current if state[w.STARTED] else ""
    match effect:
        case fx.Probe(generation, start, binds, wait_s):
            fits, asked = start == name, (kind, rendering.port(binds), int(wait_s > 0))
        case fx.RecordFailure(generation, start, cause):
            fits, asked = start in {name, ""}, (kind, CAUSES.index(cause), int(bool(start)))
        case fx.RecordVerified(generation, start, binds):
            fits, asked = start == name, (kind, rendering.port(binds), 0)
        case fx.PersistBinds(generation, binds) | fx.Publish(generation, binds):
            fits, asked = True, (kind, rendering.port(binds), 0)
        case fx.RecordAttempt(generation, before) | fx.AwaitHealth(generation, before):
            fits, asked = before == name, (kind, 0, 0)
        case fx.Start(generation) | fx.Restart(generation) | fx.Stop(generation) | fx.DropHistory(generation):
            fits, asked = True, (kind, 0, 0)
        case fx.ReleaseBinds(generation):
            fits, asked = True, (kind, 0, 0)
        case fx.Forget("shop", "web", container_id):
            generation, fits = _GENERATION, container_id in {"d", "o"}
            asked = (w.FORGET_ORPHAN if container_id == "o" else w.FORGET, 0, 0)
        case fx.Withdraw("shop", "web"):
            generation, fits, asked = _GENERATION, True, (kind, 0, 0)
        case _:
            generation, fits, asked = _GENERATION, getattr(effect, "container_id", "") == _old(state), (kind, 0, 0)
    if not fits or generation != _GENERATION:
        message = f"the planner asks for {effect}, which is not for what was seen"
        raise AssertionError(message)
    return asked


_GENERATION = fx.Generation("shop", "web", "d", REVISION)
