"""A step of a pass in the small world: a look, what the core calls for, and each thing that can become of it.

It mirrors the shell's loop: look with evidence, remember, decide, do one effect, look again. The first edge is the clean one: all
was read, the command was done, and the workload is well.
"""

from collections.abc import Callable, Iterator

from attrs import field, frozen

from properties import small_world as w
from properties.small_core import NOTHING_ASKED, REFUSED, Asked, Asker, Look
from properties.small_judge import judge_deed, judge_look
from properties.small_rendering import D_UNREAD, ROUTER_UNREAD, S_UNREAD
from properties.small_world import Edge, State, World, ended_pass, put, puts

_HOLDS_PORTS = (w.RUNNING, w.PAUSED)
_UNREAD_WORDS = ("", "D", "the router", "D and the router", "S", "D and S", "the router and S", "D, the router and S")
_NO_S = tuple((each, 0) for each in range(w.S_MARK, w.LOG))
_RECORDS = (w.RECORD_ATTEMPT, w.RECORD_FAILURE, w.RECORD_VERIFIED, w.DROP_HISTORY, w.FORGET)


class BrokenError(AssertionError):
    """An invariant is broken; the text says which, and by what."""


@frozen(eq=False)
class Passes:
    """The steps of a pass in one world."""

    asker: Asker
    _looks: dict[tuple[State, int], Look] = field(init=False, factory=dict)
    _deeds: dict[tuple[int, ...], tuple[int, int]] = field(init=False, factory=dict)
    _logs: dict[tuple[int, ...], int] = field(init=False, factory=dict)

    @property
    def world(self) -> World:
        """Return what moves there are."""
        return self.asker.world

    def steps(self, state: State) -> Iterator[Edge]:
        """Yield every step of a pass from a state, the clean one first. Raise BrokenError."""
        for unread in self._blindnesses(state):
            yield from self.looks(state, unread)

    # --- a step of a pass --------------------------------------------------------------------------------------------------

    def _blindnesses(self, state: State) -> Iterator[int]:
        marked = state[w.S_MARK] == w.MARKED
        for each in range(8 if self.world.blind else 1):
            if (state[w.DECLARED] or not each & D_UNREAD) and (marked or not each & S_UNREAD):
                yield each

    def _look(self, state: State, unread: int) -> Look:
        key = (_visible(state, unread), unread)
        found = self._looks.get(key)
        if found is None:
            state = (*key[0], 0, 0, 0, 0)
            found = self._looks[key] = self.asker.look(state, unread)
            broken = judge_look(self.world, state, self.asker.numbered, unread, found)
            if broken:
                raise BrokenError(broken)
        return found

    def looks(self, state: State, unread: int) -> Iterator[Edge]:
        """Yield every step that begins with a look of which some things could not be read."""
        look = self._look(state, unread)
        prefix = f"a look ({_UNREAD_WORDS[unread]} unread)" if unread else "a look"
        for wrote, seen in self._seen(state, look):
            if look.asked == NOTHING_ASKED:
                yield from self._quiet(f"{prefix}{wrote}: nothing is called for", state, seen)
                continue
            for words, after in self._outcomes(seen, look.asked):
                yield f"{prefix}{wrote}: {w.EFFECT_NAMES[look.asked[0]]}, {words}", after
            if seen != state:
                yield f"{prefix}{wrote}; the pass is cut short before the command", ended_pass(seen)

    def _seen(self, state: State, look: Look) -> Iterator[tuple[str, State]]:
        if look.memory == state[w.MEMORY] and look.unproven == state[w.UNPROVEN]:
            yield "", state
            return
        seen = puts(state, (w.MEMORY, look.memory), (w.UNPROVEN, look.unproven))
        if seen[w.HEALTH] == w.SICK_NEW and self.asker.numbered.memories[look.memory][w.STRUCK_NOW]:
            seen = put(seen, w.HEALTH, w.SICK_COUNTED)
        yield from self._written(state, seen)

    def _written(self, before: State, after: State) -> Iterator[tuple[str, State]]:
        """Yield what is on disk after a change of memory: what is held now; and, where the store may refuse, what was."""
        changes = []
        if after[w.MEMORY] != before[w.MEMORY]:
            changes.append((w.DISK, after[w.MEMORY]))
        if after[w.UNPROVEN] != before[w.UNPROVEN]:
            changes.append((w.UNPROVEN_ON_DISK, after[w.UNPROVEN]))
        yield "", puts(after, *changes) if changes else after
        if changes and self.world.store_faults:
            yield " (the store refuses what it adds to memory)", after

    def _quiet(self, words: str, state: State, seen: State) -> Iterator[Edge]:
        ended = ended_pass(seen)
        yield f"{words}; the pass ends", puts(ended, (w.DISK, ended[w.MEMORY]), (w.UNPROVEN_ON_DISK, ended[w.UNPROVEN]))
        if self.world.store_faults:
            yield f"{words}; the pass ends, and the store still refuses", ended
        if state[w.LOG] and seen != state:
            yield f"{words}; the next round begins", seen

    def _deed(self, state: State, asked: Asked, outcome: int) -> State:
        """Return the state after the core was told an outcome; nothing is written, and the world has not changed yet."""
        key = (state[w.MEMORY], state[w.STARTED], state[w.UNPROVEN], *asked, outcome)
        numbered = self.asker.numbered
        found = self._deeds.get(key)
        if found is None:
            found = self._deeds[key] = self.asker.deed(state, asked, outcome)
            broken = judge_deed(state, numbered.memories[found[0]], (asked, outcome, found[1]), numbered)
            if broken:
                raise BrokenError(broken)
        return puts(state, (w.MEMORY, found[0]), (w.UNPROVEN, found[1]), (w.LOG, self._logged(state[w.LOG], asked, outcome)))

    def _logged(self, log: int, asked: Asked, outcome: int) -> int:
        key = (log, *asked, outcome)
        found = self._logs.get(key)
        if found is None:
            kind, at, more = asked
            entry = (kind, outcome, 0, 0, 0)
            if kind == w.PROBE:
                entry = (kind, outcome, w.CURRENT, at, more)
            elif kind == w.RECORD_FAILURE:
                entry = (kind, outcome, 0, int(at == REFUSED), 0)
            numbered = self.asker.numbered
            found = self._logs[key] = numbered.log(w.logged(numbered.logs[log], entry))
        return found

    def _told(self, state: State, asked: Asked, outcome: int) -> Iterator[tuple[str, State]]:
        yield from self._written(state, self._deed(state, asked, outcome))

    def _outcomes(self, state: State, asked: Asked) -> Iterator[Edge]:
        kind = asked[0]
        if kind in _RECORDS:
            yield from self._recorded(state, asked)
        elif kind == w.PROBE:
            for outcome, words in enumerate(("done", "refused", "no answer")):
                yield from ((f"{words}{wrote}", after) for wrote, after in self._told(state, asked, outcome))
        elif kind == w.AWAIT:
            yield from self._awaited(state, asked)
        elif kind in (w.PERSIST, w.RELEASE, w.RELEASE_CLAIMS, w.DROP_MARKER, w.FORGET_ORPHAN):
            yield from (("done", self._changed(after, asked)) for _, after in self._told(state, asked, w.DONE))
            yield from (("refused by the store", after) for _, after in self._told(state, asked, w.FAULT))
        else:
            yield from self._commanded(state, asked)

    def _recorded(self, state: State, asked: Asked) -> Iterator[Edge]:
        charged = asked[0] == w.RECORD_FAILURE and asked[1] != REFUSED
        before = put(state, w.CHARGED, 1) if charged else state
        done = self._deed(before, asked, w.DONE)
        yield "done", put(done, w.DISK, done[w.MEMORY])
        if self.world.store_faults:
            yield "held, since the store refuses it", self._deed(before, asked, w.FAULT)

    def _awaited(self, state: State, asked: Asked) -> Iterator[Edge]:
        for _, after in self._told(state, asked, w.DONE):
            for health in (w.HEALTHY, w.SICK_NEW, w.HEALTH_UNREAD):
                yield f"it says {w.HEALTH_NAMES[health]}", self.with_health(after, health)
        for _, after in self._told(state, asked, w.FAULT):
            yield "in vain", after

    def _commanded(self, state: State, asked: Asked) -> Iterator[Edge]:
        kind = asked[0]
        for wrote, told in self._told(state, asked, w.DONE):
            yield from ((f"done{how}{wrote}", after) for how, after in self._effects(told, asked))
        if kind in (w.START, w.RESTART):
            for wrote, told in self._told(state, asked, w.REFUSED):
                yield f"refused{wrote}", told
                if kind == w.RESTART:
                    yield from ((f"refused{wrote}, but it was stopped{how}", after) for how, after in self.stopped(told))
        for wrote, told in self._told(state, asked, w.FAULT):
            yield f"failed{wrote}, without effect", told
            yield from ((f"no answer{wrote}, but it took effect{how}", after) for how, after in self._effects(told, asked))
            if kind == w.RESTART:
                yield from ((f"no answer{wrote}, but it was stopped{how}", after) for how, after in self.stopped(told))
            if self.world.late and not told[w.LATE]:
                yield f"no answer{wrote}, and it is still under way", put(told, w.LATE, kind << 2 | asked[1])
        for how, after in self._effects(state, asked):
            yield f"it takes effect{how}, but the pass is cut short before the answer", ended_pass(after)

    def _effects(self, state: State, asked: Asked) -> Iterator[Edge]:
        """Yield what a command to the engine or the router can do."""
        if asked[0] in (w.START, w.RESTART):
            for port in self.free_ports(state):
                yield f" at port {port}", self.fresh(state, port)
        elif asked[0] == w.STOP:
            yield from self.stopped(state)
        else:
            yield "", self._changed(state, asked)

    def _changed(self, state: State, asked: Asked) -> State:
        kind, at, _ = asked
        if kind == w.DROP_MARKER:
            return puts(state, *_NO_S)
        changes: dict[int, tuple[tuple[int, int], ...]] = {
            w.WITHDRAW: ((w.ROUTE, 0),),
            w.PUBLISH: ((w.ROUTE, at),),
            w.RETIRE: ((w.S_STATUS, w.EXITED), (w.S_PORT, 0)),
            w.REMOVE: ((w.S_STATUS, w.GONE), (w.S_PORT, 0)),
            w.PERSIST: ((w.RECORD, at),),
            w.RELEASE: ((w.RECORD, 0),),
            w.RELEASE_CLAIMS: ((w.S_BINDS, 0),),
            w.FORGET_ORPHAN: ((w.ORPHAN, 0),),
        }
        return puts(state, *changes[kind])

    # --- what executions do -----------------------------------------------------------------------------------------------

    def free_ports(self, state: State) -> list[int]:
        """Return the ports that D may be given, best first; 0: none appears."""
        held = state[w.S_PORT] if state[w.S_STATUS] in _HOLDS_PORTS else 0
        return [each for each in (1, 2, 0) if not each or each != held]

    def fresh(self, state: State, port: int) -> State:
        """Return the state in which D has another execution."""
        numbered, started = self.asker.numbered, state[w.STARTED]
        name, change = f"overtaken {started}", w.overtaken(started)
        return puts(
            state,
            (w.STATUS, w.RUNNING),
            (w.STARTED, 1),
            (w.PORT, port),
            (w.HEALTH, w.STARTING if self.world.check else w.NO_CHECK),
            (w.CHARGED, 0),
            (w.MEMORY, numbered.map_memory(name, change, state[w.MEMORY])),
            (w.DISK, numbered.map_memory(name, change, state[w.DISK])),
            (w.LOG, numbered.map_log("overtaken", w.overtaken_log, state[w.LOG])),
        )

    def with_health(self, state: State, health: int) -> State:
        """Return the state with other health; the failed result that was counted last is then an older one."""
        changed = put(state, w.HEALTH, health)
        if state[w.HEALTH] != w.SICK_COUNTED:
            return changed
        return self.in_memory(changed, "older result", lambda memory: put(memory, w.STRUCK_NOW, 0))

    def ended(self, state: State, status: int = w.EXITED) -> State:
        """Return the state in which the execution of D is over."""
        return puts(self.with_health(state, w.NO_CHECK), (w.STATUS, status), (w.PORT, 0))

    def stopped(self, state: State) -> Iterator[tuple[str, State]]:
        """Yield how the execution of D can end."""
        yield "", self.ended(state)
        if self.world.done:
            yield " with exit code 0", self.ended(state, w.ENDED_WELL)

    def in_memory(self, state: State, name: str, change: Callable[[State], State]) -> State:
        """Return the state after the same change of what is held and of what is on disk."""
        numbered = self.asker.numbered
        memory = numbered.map_memory(name, change, state[w.MEMORY])
        return puts(state, (w.MEMORY, memory), (w.DISK, numbered.map_memory(name, change, state[w.DISK])))


def _visible(state: State, unread: int) -> State:
    """Return what of a state a look depends on: nothing of what was not read."""
    if unread & D_UNREAD:
        state = puts(state, (w.STATUS, w.RUNNING), (w.PORT, 0), (w.HEALTH, 0), (w.CHARGED, 0))
    if unread & ROUTER_UNREAD:
        state = put(state, w.ROUTE, 0)
    if unread & S_UNREAD:
        state = puts(state, (w.S_STATUS, w.RUNNING), (w.S_PORT, 0))
    return state[: w.DISK]
