"""The judge of the exhaustive check: what each command and each change of memory needs, written from the invariants.

It sees the true world, this pass's log, and what a look could read; it never asks a fact, a row or a fold of the core. A verdict
is "" or the invariant that was broken, in words.
"""

from collections.abc import Callable

from attrs import frozen

from properties import small_world as w
from properties.small_core import ENDED, REFUSED, RELAPSED, UNBOUND, UNREADY, Asked, Look
from properties.small_rendering import D_UNREAD, ROUTER_UNREAD, S_UNREAD
from properties.small_world import Entry, Numbered, State, World

_ALIVE = (w.RUNNING, w.PAUSED, w.RESTARTING, w.UNKNOWN)
_DOWN = w.DOWN
_UNHEALTHY = (w.SICK_NEW, w.SICK_COUNTED, w.SICK_SILENT)
_WELL = (w.NO_CHECK, w.HEALTHY)


@frozen(eq=False)
class Case:
    """One look with all that the judge may use: the state, its memory before and after the look, the log, and the command."""

    world: World
    state: State
    before: State
    memory: State
    log: tuple[Entry, ...]
    unread: int
    unproven: bool
    asked: Asked

    def at(self, place: int) -> int:
        """Return one field of the state."""
        return self.state[place]

    @property
    def sees_d(self) -> bool:
        """D was read."""
        return not self.unread & D_UNREAD

    @property
    def sees_route(self) -> bool:
        """The router was read."""
        return not self.unread & ROUTER_UNREAD

    @property
    def sees_running(self) -> bool:
        """D was read, and runs."""
        return self.sees_d and self.at(w.STATUS) == w.RUNNING

    @property
    def wanted(self) -> bool:
        """It is to run: ACTIVE names it, the operator wants it, and it is not inhibited."""
        return bool(self.at(w.DECLARED) and self.at(w.INTENT) and not self.at(w.INHIBITED))

    @property
    def verified(self) -> bool:
        """D was read to run as the execution verified, at the port at which that was."""
        memory = self.memory
        same = memory[w.VERIFIED] == w.CURRENT and memory[w.AT] == self.at(w.PORT) and not memory[w.OUTDATED]
        return self.sees_running and same

    @property
    def answered(self) -> bool:
        """The present execution answered in this pass that it is ready, at the port that it has; the latest answer counts."""
        found = [each for each in self.log if each[0] == w.PROBE and each[2:4] == (w.CURRENT, self.at(w.PORT))]
        answers = [each for each in found if each[1] != w.FAULT]
        return bool(answers) and answers[-1][1] == w.DONE

    @property
    def s_serves(self) -> bool:
        """S runs as the execution that was verified, as far as it could be read."""
        runs_on = self.at(w.S_STATUS) == w.RUNNING and self.at(w.S_VERIFIED) == w.CURRENT
        unread = bool(self.unread & S_UNREAD and self.at(w.S_VERIFIED))
        holds_it = self.sees_running and self.at(w.PORT) == self.at(w.S_AT)
        taken_over = holds_it or self.at(w.RECORD) == self.at(w.S_AT) != 0  # on record only since D held it
        return self.at(w.S_MARK) == w.MARKED and (runs_on or unread) and not taken_over

    @property
    def withdrawn(self) -> bool:
        """A read shows no route; or there was none, but a withdrawal was read back in this pass and nothing published since."""
        if self.unproven:
            return False
        if self.sees_route:
            return not self.at(w.ROUTE)
        traffic = [each for each in self.log if each[0] in w.TRAFFIC]
        return bool(traffic) and traffic[-1][:2] == (w.WITHDRAW, w.DONE)

    @property
    def clear_of_d(self) -> bool:
        """D may be touched: withdrawn; or what is routed is S, which serves; or it is unpublished and the router is silent."""
        if self.withdrawn:
            return True
        if self.unproven:
            return False
        if not self.sees_route:
            return not self.world.published
        return self.s_serves and self.at(w.ROUTE) == self.at(w.S_AT)

    @property
    def closed(self) -> bool:
        """The budget is closed."""
        return bool(self.memory[w.CLOSED])

    @property
    def sick(self) -> bool:
        """D was read to run unhealthy, with as many strikes as it takes."""
        struck = self.memory[w.STRIKES_OF] == w.CURRENT and self.memory[w.STRIKES] >= w.THRESHOLD
        return self.sees_running and self.at(w.HEALTH) in _UNHEALTHY and struck

    @property
    def down(self) -> bool:
        """D was read to be down."""
        return self.sees_d and self.at(w.STATUS) in _DOWN

    @property
    def stable(self) -> bool:
        """The look counts towards the stable minutes."""
        routed = not self.world.published or (self.sees_route and self.at(w.ROUTE) == self.at(w.PORT) != 0)
        return self.verified and routed and self.at(w.HEALTH) in _WELL and not self.unproven

    @property
    def done(self) -> bool:
        """D was read, and is done."""
        return self.sees_d and w.is_done(self.world, self.state, self.before)

    def tried(self, *kinds: int) -> tuple[Entry, ...]:
        """Return what was tried of some kinds in this pass."""
        return tuple(each for each in self.log if each[0] in kinds)


Rule = tuple[str, Callable[[Case], bool]]

_READ: Rule = ("P7 D was read", lambda c: c.sees_d)
_WANTED: Rule = ("P6 it is to run: running intent, not inhibited, named by ACTIVE", lambda c: c.wanted)
_RUNNING: Rule = ("P1 D was read to run, at that port", lambda c: c.sees_running and c.at(w.PORT) == c.asked[1] != 0)
_ANSWERED: Rule = ("P1 this execution answered its readiness in this pass, at this port", lambda c: c.answered)
_WELL_NOW: Rule = ("P1 its health check does not speak against it", lambda c: c.at(w.HEALTH) in _WELL)
_OPEN: Rule = ("B1, B2 the budget is open", lambda c: not c.closed)
_GRANTED: Rule = ("grants: the host grants what it uses", lambda c: not c.at(w.UNGRANTED))
_ONCE: Rule = ("one start or restart a pass", lambda c: not c.tried(w.START, w.RESTART))
_PROVEN: Rule = ("P3 no withdrawal is unproven", lambda c: not c.unproven)
_CLEAR: Rule = ("P2 what routes to D is provably withdrawn", lambda c: c.clear_of_d)
_FREE: Rule = ("T1 nobody holds it", lambda c: not c.at(w.HELD))
_WANTS_MORE: Rule = ("T2 it is not done", lambda c: not c.done)
_MAY_RESTART: Rule = ("T3 it is restarted for its health, where its policy says so", lambda c: not (c.sick and c.world.sidelines))
_ON_RECORD: Rule = ("writes before effects: the attempt is on record", lambda c: c.memory[w.ATTEMPT] == w.CURRENT)


def _may_withdraw(c: Case) -> bool:
    if not c.wanted or c.at(w.UNPROVEN):
        return True
    if not c.sees_d:
        return False
    if c.sees_route and c.at(w.ROUTE):
        right = c.world.published and c.verified and c.at(w.ROUTE) == c.at(w.PORT)
        serves = c.s_serves and c.at(w.ROUTE) == c.at(w.S_AT)
        return (not right and not serves) or (right and c.sick)
    return not c.sees_route and (c.at(w.STATUS) in (*_DOWN, w.GONE) or c.sick)


def _may_stop_although_routed(c: Case) -> bool:
    return c.clear_of_d or any(each[1] != w.DONE for each in c.tried(w.WITHDRAW))


def _may_charge(c: Case) -> bool:
    cause, names_it = c.asked[1], c.asked[2]
    probes = [each for each in c.tried(w.PROBE) if each[2] == w.CURRENT]
    refused = [each for each in c.tried(w.START, w.RESTART) if each[1] == w.REFUSED]
    landed = c.memory[w.ATTEMPT] in (w.STALE, w.BLANK)
    return {
        ENDED: c.down and landed,
        RELAPSED: c.sick and landed,
        REFUSED: bool(refused) and not names_it and not landed,
        UNBOUND: c.sees_running and not c.at(w.PORT),
        UNREADY: bool(probes) and probes[-1][1] == w.REFUSED and c.sees_d,
    }[cause]


def _charges_once(c: Case) -> bool:
    if c.asked[1] == REFUSED:
        return not any(each[3] for each in c.tried(w.RECORD_FAILURE))
    return not c.at(w.CHARGED)


def _may_drop(c: Case) -> bool:
    window = c.memory[w.WINDOW_OF] == w.CURRENT and c.memory[w.RIPE] and not c.memory[w.GAPPED]
    return c.done or (not c.at(w.INTENT) and c.down) or bool(window and c.stable)


def _claims_are_free(c: Case, place: int) -> bool:
    if c.unproven:
        return False
    if not c.sees_route:
        return c.withdrawn or not c.world.published
    # A route that names the port may lead to D, which was given it after S.
    return c.at(w.ROUTE) != c.at(place) or (c.verified and c.at(w.ROUTE) == c.at(w.PORT))


def _s_is_clear(c: Case) -> bool:
    if c.unproven:
        return False
    if not c.sees_route:
        # Without claims it was never published; what is unpublished, or left ACTIVE, does not wait for the router.
        return c.withdrawn or (not (c.world.published and c.at(w.DECLARED)) and not c.at(w.S_BINDS))
    return not c.at(w.ROUTE) or (c.verified and c.at(w.ROUTE) == c.at(w.PORT))


def _successor_serves(c: Case) -> bool:
    if not (c.at(w.DECLARED) and c.at(w.INTENT)):
        return True
    if c.done and not c.world.published:
        return True
    routed = not c.world.published or (c.sees_route and c.at(w.ROUTE) == c.at(w.PORT))
    return c.verified and routed and c.at(w.HEALTH) not in _UNHEALTHY


_OLD_RULES: tuple[Rule, ...] = (
    ("P5 its successor was seen in this pass to run, verified and routed", _successor_serves),
    ("P2 what routes to S is provably withdrawn", _s_is_clear),
    ("P7 S was read, and ACTIVE does not name it", lambda c: not c.unread & S_UNREAD and c.at(w.S_MARK) == w.MARKED),
)
_SERVING_RULES: tuple[Rule, ...] = (_READ, _WANTED, _PROVEN, _RUNNING, _ANSWERED, _WELL_NOW)
_ATTEMPT_RULES: tuple[Rule, ...] = (
    _READ, _WANTED, _PROVEN, _OPEN, _GRANTED, _ONCE, _CLEAR, _FREE, _WANTS_MORE, _MAY_RESTART,
)  # fmt: skip

RULES: dict[int, tuple[Rule, ...]] = {
    0: (),
    w.WITHDRAW: (("P7, rule 6: it is not right, or may not be routed; and silence is no evidence", _may_withdraw),),
    w.PUBLISH: (
        *_SERVING_RULES,
        ("it is declared to be published", lambda c: c.world.published),
        ("P7 the router was read", lambda c: c.sees_route),
        ("P4 its binds are on record", lambda c: c.at(w.RECORD) == c.asked[1]),
        ("P1 it is remembered as verified", lambda c: c.verified),
    ),
    w.PROBE: (_READ, _WANTED, _PROVEN, _RUNNING),
    w.AWAIT: (_READ, _WANTED, ("it is starting", lambda c: c.sees_running and c.at(w.HEALTH) == w.STARTING)),
    w.RECORD_ATTEMPT: (*_ATTEMPT_RULES, ("it is down or sick", lambda c: c.down or c.sick)),
    w.START: (*_ATTEMPT_RULES, _ON_RECORD, ("it is down", lambda c: c.down)),
    w.RESTART: (*_ATTEMPT_RULES, _ON_RECORD, ("it is sick", lambda c: c.sick)),
    w.STOP: (
        _READ,
        _FREE,
        ("P6 it is to be stopped", lambda c: bool(c.at(w.DECLARED)) and not c.at(w.INTENT)),
        ("it lives", lambda c: c.at(w.STATUS) in _ALIVE),
        ("P2 withdrawn, or that was tried in vain", _may_stop_although_routed),
    ),
    w.RECORD_FAILURE: (
        _READ,
        _WANTED,
        _WANTS_MORE,
        ("B7 the workload itself failed", _may_charge),
        ("B3 charged once", _charges_once),
    ),
    w.PERSIST: _SERVING_RULES,
    w.RECORD_VERIFIED: (*_SERVING_RULES, ("P4 its binds are on record", lambda c: c.at(w.RECORD) == c.asked[1])),
    w.DROP_HISTORY: (("B4 five continuous stable minutes are over, or it was stopped", _may_drop),),
    w.RELEASE: (
        _READ,
        ("it is gone", lambda c: c.at(w.STATUS) == w.GONE),
        ("P10 no route may name the port", lambda c: _claims_are_free(c, w.RECORD)),
    ),
    w.FORGET: (_READ, ("it is gone", lambda c: c.at(w.STATUS) == w.GONE)),
    w.FORGET_ORPHAN: (("there is an orphan", lambda c: bool(c.at(w.ORPHAN))),),
    w.RETIRE: (*_OLD_RULES, _FREE, ("S lives", lambda c: c.at(w.S_STATUS) in _ALIVE)),
    w.REMOVE: (*_OLD_RULES, _FREE, ("S was seen stopped", lambda c: c.at(w.S_STATUS) == w.EXITED)),
    w.RELEASE_CLAIMS: (
        *_OLD_RULES,
        ("S is gone", lambda c: c.at(w.S_STATUS) == w.GONE),
        ("P10 no route may name the port", lambda c: _claims_are_free(c, w.S_BINDS)),
    ),
    w.DROP_MARKER: (
        (
            "S is gone and its claims are released, or ACTIVE names it",
            lambda c: (
                c.at(w.S_MARK) == w.SELF or (c.at(w.S_STATUS) == w.GONE and not c.unread & S_UNREAD and not c.at(w.S_BINDS))
            ),
        ),
    ),
}
"""What must be so when a command of each kind is issued."""


def judge_look(world: World, state: State, numbered: Numbered, unread: int, look: Look) -> str:
    """Return the invariant that is broken by what a look did to memory, or by the command that it led to; "" if none is."""
    memories, log = numbered.memories, numbered.logs[state[w.LOG]]
    case = Case(world, state, memories[state[w.MEMORY]], memories[look.memory], log, unread, bool(look.unproven), look.asked)
    if w.SUPPLANTED in log and look.asked[0]:
        return "rule 11: a command although ACTIVE changed during this pass"
    tried = case.tried(look.asked[0])
    if len(tried) >= 2 or (look.asked[0] != w.PROBE and any(each[1] != w.DONE for each in tried)):
        return f"L5: {w.EFFECT_NAMES[look.asked[0]]} again in one pass, after it failed or was done twice"
    broken = [words for words, holds in RULES[look.asked[0]] if not holds(case)]
    if not (broken or _look_faults(case)):
        return ""
    what = ", ".join(words for bit, words in ((D_UNREAD, "D"), (ROUTER_UNREAD, "router"), (S_UNREAD, "S")) if unread & bit)
    return f"look (unread: {what or 'nothing'}): " + "; ".join(
        [*(f"{w.EFFECT_NAMES[look.asked[0]]} although not so: {each}" for each in broken), *_look_faults(case)]
    )


def _look_faults(c: Case) -> list[str]:
    """Say what is wrong with what the look did to memory."""
    before, after = c.before, c.memory
    kept = (w.FAILURES, w.CLOSED, w.CHARGE, w.ATTEMPT, w.VERIFIED, w.AT, w.OUTDATED)
    struck = after[w.STRIKES_OF] == w.CURRENT and after[w.STRIKES] > (
        before[w.STRIKES] if before[w.STRIKES_OF] == w.CURRENT else 0
    )
    no_strikes = not after[w.STRIKES_OF] or before[w.STRIKES_OF] == after[w.STRIKES_OF]
    counts = c.sees_running and c.at(w.HEALTH) == w.SICK_NEW
    proof = c.sees_route and not c.at(w.ROUTE)
    window_is_sound = not after[w.WINDOW_OF] or (after[w.WINDOW_OF] == w.CURRENT and c.stable and w.has_history(after))
    stopping = bool(c.at(w.DECLARED)) and not c.at(w.INTENT)
    again = before[w.AGAIN] or (c.world.done and c.down) if stopping else before[w.AGAIN] and not c.sees_running
    unbroken = before[w.WINDOW_OF] == w.CURRENT and before[w.RIPE] and not before[w.GAPPED]
    faults = {
        "B4: a look changes charges, attempt or verification": any(before[each] != after[each] for each in kept),
        "B3: a strike for no result, or for one already counted": (struck and not counts) or not (struck or no_strikes),
        "B3: more than one strike a look": struck and after[w.STRIKES] > before[w.STRIKES] + 1,
        "rule 10: healthy does not clear the strikes": bool(after[w.STRIKES_OF]) and c.sees_running and c.at(w.HEALTH) in _WELL,
        "P3: the unproven mark is dropped without proof": bool(c.at(w.UNPROVEN)) and not c.unproven and not proof,
        "rule 14: the stable window grows at an unstable look": not window_is_sound,
        "rule 14: the window is over too early": bool(after[w.RIPE]) and not unbroken,
        "rule 14: a gap was kept": bool(after[w.GAPPED]),
        "T2: that it is to be started again": bool(after[w.AGAIN]) != bool(again),
        "B5: a look makes a history where there was no trouble": w.has_history(after)
        and not w.has_history(before)
        and not struck,
    }
    return [words for words, holds in faults.items() if holds]


def judge_deed(state: State, after: State, deed: tuple[Asked, int, int], numbered: Numbered) -> str:
    """Return the rule that is broken by what a deed (an effect, its outcome, the mark after it) did to memory; "" if none is."""
    asked, outcome, unproven = deed
    kind, before = asked[0], numbered.memories[state[w.MEMORY]]
    if unproven != (int(outcome != w.DONE) if kind == w.WITHDRAW else state[w.UNPROVEN]):
        return "P3: the unproven mark is not what the withdrawal showed"
    expected = _expected(before, asked, outcome, started=bool(state[w.STARTED]))
    if expected != after:
        return f"B3, B4, B7: memory after {w.EFFECT_NAMES[kind]} is {after}, not {expected}"
    return ""


def _expected(before: State, asked: Asked, outcome: int, *, started: bool) -> State:  # noqa: PLR0911 - one for each kind
    kind, cause, names_it = asked
    no_window = ((w.WINDOW_OF, 0), (w.RIPE, 0), (w.GAPPED, 0))
    no_verified = ((w.VERIFIED, 0), (w.AT, 0), (w.OUTDATED, 0))
    if kind == w.RECORD_ATTEMPT:
        return w.put(before, w.ATTEMPT, w.CURRENT)
    if kind == w.RECORD_FAILURE:
        failures = min(before[w.FAILURES] + 1, w.MOST_FAILURES)
        names = w.CURRENT if names_it or not (started or before[w.CHARGE]) else before[w.CHARGE] or w.BLANK
        changes = ((w.FAILURES, failures), (w.CLOSED, int(failures >= w.FREE_FAILURES)), (w.CHARGE, names), (w.ATTEMPT, 0))
        contradicted = no_verified if cause in (UNBOUND, UNREADY) else ()
        return w.puts(before, *changes, *no_window, *contradicted)
    if kind == w.RESTART:
        return w.put(before, w.STRIKES, 0) if outcome != w.FAULT else before
    if kind == w.STOP:
        return w.puts(before, (w.ATTEMPT, 0), *no_window)
    if kind == w.RECORD_VERIFIED:
        return w.puts(before, (w.VERIFIED, w.CURRENT), (w.AT, cause), (w.OUTDATED, 0))
    if kind == w.DROP_HISTORY:
        return w.puts(w.BLANK_MEMORY, *((each, before[each]) for each in (w.CHARGE, w.VERIFIED, w.AT, w.OUTDATED, w.AGAIN)))
    return w.BLANK_MEMORY if kind == w.FORGET else before
