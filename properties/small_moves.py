"""What the small world does between two steps of a pass: containers, the proxy, time, the operator, deploys, and kills.

And how it comes to rest once all faults have stopped, which is one move at a time as well.
"""

from collections.abc import Iterator

from attrs import frozen

from properties import small_world as w
from properties.small_passes import Passes
from properties.small_world import Edge, State, ended_pass, put, puts

_ALIVE = (w.RUNNING, w.PAUSED, w.RESTARTING, w.UNKNOWN)
_FROZEN = (w.PAUSED, w.UNKNOWN)
_SUPERSEDABLE = (w.GONE, w.RUNNING, w.PAUSED, w.REMOVING, w.EXITED, w.ENDED_WELL)
_LATER_HEALTH = (w.HEALTHY, w.SICK_NEW, w.SICK_SILENT, w.HEALTH_UNREAD)
_NAMES_ITS_GENERATION = frozenset(range(w.WITHDRAW + 1, w.RETIRE)) - {w.FORGET, w.FORGET_ORPHAN}
_NO_D = tuple((each, 0) for each in (w.STATUS, w.STARTED, w.PORT, w.HEALTH, w.CHARGED, w.RECORD, w.INHIBITED, w.UNGRANTED))


@frozen(eq=False)
class Moves(Passes):
    """All moves of one world."""

    def initial(self) -> tuple[State, ...]:
        """Return where every history begins: settled, and created but never started."""
        numbered, world = self.asker.numbered, self.world
        verified = numbered.memory(puts(w.BLANK_MEMORY, (w.VERIFIED, w.CURRENT), (w.AT, 1)))
        created = puts((0,) * w.FIELDS, (w.DECLARED, 1), (w.STATUS, w.CREATED), (w.INTENT, 1))
        settled = puts(
            created,
            (w.STATUS, w.RUNNING),
            (w.STARTED, 1),
            (w.PORT, 1),
            (w.HEALTH, w.HEALTHY if world.check else w.NO_CHECK),
            (w.RECORD, 1),
            (w.ROUTE, int(world.published)),
            (w.MEMORY, verified),
            (w.DISK, verified),
        )
        return settled, created

    def edges(self, state: State) -> Iterator[Edge]:
        """Yield every move from a state, the clean one first. Raise BrokenError."""
        yield self.clean(state)
        yield from self.steps(state)
        yield from self._program(state)
        if not state[w.LOG]:
            yield from self._meanwhile(state)
            if state[w.DECLARED]:
                yield from self._restarted(state)
        elif state[w.MEDDLED] < self.world.meddling:
            meddled = put(state, w.MEDDLED, state[w.MEDDLED] + 1)
            yield from self._meanwhile(meddled)

    def _meanwhile(self, state: State) -> Iterator[Edge]:
        yield from self._time(state)
        yield from self._proxy(state)
        yield from self._container(state)
        yield from self._superseded(state)
        yield from self._operator(state)
        if self.world.deploys:
            yield from self._deploys(state)

    def clean(self, state: State) -> Edge:
        """Return what happens next once faults have stopped; a state that stays as it is has come to rest."""
        words, after = next(iter(self.looks(state, 0)))
        if after != state or state[w.LOG]:
            return words, after
        return next(self._rest(state), (words, after))

    def _rest(self, state: State) -> Iterator[Edge]:
        """Yield how a world in which nothing is called for comes to rest, the first thing first."""
        if state[w.LATE]:
            yield "the late command is lost", put(state, w.LATE, 0)
        if state[w.HELD]:
            yield "the hold is over", put(state, w.HELD, 0)
        if self._remembers(state, w.CLOSED):
            yield from self._time(state)
        if state[w.STATUS] == w.RESTARTING:
            yield "its restart comes to nothing", self.ended(state)
        if state[w.STATUS] == w.REMOVING:
            yield "the engine has removed it", self.ended(state, w.GONE)
        if state[w.STATUS] == w.RUNNING and state[w.HEALTH] not in (w.NO_CHECK, w.HEALTHY):
            yield "it is healthy", self.with_health(state, w.HEALTHY)
        if state[w.STATUS] == w.RUNNING and not state[w.PORT]:
            yield "its port appears", put(state, w.PORT, self.free_ports(state)[0])
        if state[w.S_STATUS] == w.REMOVING:
            yield "the engine has removed S", put(state, w.S_STATUS, w.GONE)
        if self._remembers(state, w.WINDOW_OF) and not self._remembers(state, w.RIPE):
            yield from self._time(state)

    # --- time -------------------------------------------------------------------------------------------------------------

    def _remembers(self, state: State, place: int) -> int:
        return self.asker.numbered.memories[state[w.MEMORY]][place]

    def _time(self, state: State) -> Iterator[Edge]:
        if state[w.HELD]:
            yield "the hold is over", put(state, w.HELD, 0)
        held = [self.asker.numbered.memories[state[each]] for each in (w.MEMORY, w.DISK)]
        if any(each[w.CLOSED] for each in held):
            yield "the wait is over", self.in_memory(state, "open", lambda memory: put(memory, w.CLOSED, 0))
        if any(each[w.WINDOW_OF] and not each[w.RIPE] for each in held):
            yield "five minutes pass, looked at often enough", self.in_memory(state, "ripe", _ripened)
        if any(each[w.WINDOW_OF] and not each[w.GAPPED] for each in held):
            yield "nobody looks for more than three minutes", self.in_memory(state, "gap", _gapped)

    # --- the proxy, and commands that come late -----------------------------------------------------------------------------

    def _proxy(self, state: State) -> Iterator[Edge]:
        if state[w.ROUTE]:
            yield "the proxy forgets", put(state, w.ROUTE, 0)
        if self.world.published and self.world.hands:
            for port in (1, 2):
                if state[w.ROUTE] != port:
                    yield f"somebody routes it to port {port} by hand", put(state, w.ROUTE, port)
        if state[w.LATE]:
            yield "the late command is lost", put(state, w.LATE, 0)
            yield from self._lands(put(state, w.LATE, 0), state[w.LATE] >> 2, state[w.LATE] & 3)

    def _lands(self, state: State, kind: int, port: int) -> Iterator[Edge]:
        words, status = f"the late {w.EFFECT_NAMES[kind]} takes effect", state[w.STATUS]
        if kind in (w.START, w.RESTART):
            if status in w.DOWN or (kind == w.RESTART and status == w.RUNNING):
                yield from ((f"{words} at port {each}", self.fresh(state, each)) for each in self.free_ports(state))
        elif kind == w.STOP:
            if status in _ALIVE:
                yield from ((f"{words}{how}", after) for how, after in self.stopped(state))
        elif kind in (w.RETIRE, w.REMOVE):
            if state[w.S_MARK] == w.MARKED and state[w.S_STATUS] != w.GONE:
                yield words, self._changed(state, (kind, port, 0))
        else:
            yield words, self._changed(state, (kind, port, 0))

    # --- containers -------------------------------------------------------------------------------------------------------

    def _container(self, state: State) -> Iterator[Edge]:
        if not state[w.DECLARED]:
            return
        status = state[w.STATUS]
        if status in _ALIVE:
            yield from ((f"D ends{how}", after) for how, after in self.stopped(state))
        if self.world.hands and status in (w.RUNNING, w.EXITED, w.ENDED_WELL, w.RESTARTING):
            for port in self.free_ports(state):
                yield f"D is started behind our back, at port {port}", self.fresh(state, port)
        if status != w.GONE:
            yield "D is removed", self.ended(state, w.GONE)
        if status == w.RUNNING:
            yield from self._running(state)
        if self.world.strange:
            yield from self._strange(state)
        if self.world.grants:
            yield "the grant is given or taken", put(state, w.UNGRANTED, 1 - state[w.UNGRANTED])

    def _running(self, state: State) -> Iterator[Edge]:
        if not state[w.PORT]:
            for port in self.free_ports(state)[:-1]:
                yield f"its port {port} appears", put(state, w.PORT, port)
        if self.world.check:
            for health in _LATER_HEALTH:
                if health != state[w.HEALTH]:
                    yield f"its health check says {w.HEALTH_NAMES[health]}", self.with_health(state, health)

    def _strange(self, state: State) -> Iterator[Edge]:
        status = state[w.STATUS]
        if status == w.RUNNING:
            yield "D is paused", put(state, w.STATUS, w.PAUSED)
            yield "the status of D is unknown", put(state, w.STATUS, w.UNKNOWN)
            yield "D ends, and its engine will restart it", self.ended(state, w.RESTARTING)
        if status in _FROZEN:
            yield "D runs on", put(state, w.STATUS, w.RUNNING)
        if status in (*_ALIVE, *w.DOWN):
            yield "D is being removed", self.ended(state, w.REMOVING)

    def _superseded(self, state: State) -> Iterator[Edge]:
        if state[w.S_MARK] != w.MARKED:
            return
        status = state[w.S_STATUS]
        if status in (w.RUNNING, w.PAUSED):
            yield "S ends", puts(state, (w.S_STATUS, w.EXITED), (w.S_PORT, 0))
        if status != w.GONE:
            yield "S is removed", puts(state, (w.S_STATUS, w.GONE), (w.S_PORT, 0))
        if self.world.hands and status in (w.RUNNING, w.EXITED):
            stale = w.STALE if state[w.S_VERIFIED] else 0
            for port in self._ports_beside_d(state):
                yield (
                    f"S is started, at port {port}",
                    puts(state, (w.S_STATUS, w.RUNNING), (w.S_PORT, port), (w.S_VERIFIED, stale)),
                )
        if self.world.strange and status == w.RUNNING:
            yield "S is paused", put(state, w.S_STATUS, w.PAUSED)
        if self.world.strange and status == w.PAUSED:
            yield "S runs on", put(state, w.S_STATUS, w.RUNNING)

    def _ports_beside_d(self, state: State) -> list[int]:
        held = state[w.PORT] if state[w.STATUS] in (w.RUNNING, w.PAUSED, w.UNKNOWN) else 0
        return [each for each in (1, 2) if each != held]

    # --- this program, the operator, and the deploy tool ----------------------------------------------------------------------

    def _program(self, state: State) -> Iterator[Edge]:
        if state[w.LOG]:
            yield "the pass is cut short", ended_pass(state)
        yield "this program is killed and started again", self._killed(state)

    def _restarted(self, state: State) -> Iterator[Edge]:
        """Yield how a deploy tool, which has the lock, restarts D and records the execution that it verified."""
        if state[w.STATUS] not in (w.RUNNING, w.EXITED, w.ENDED_WELL):
            return
        for port in self.free_ports(state)[:-1]:
            new = self.fresh(state, port)
            known = ((w.VERIFIED, w.CURRENT), (w.AT, port), (w.OUTDATED, 0))
            recorded = self.in_memory(new, f"verified at {port}", lambda memory, known=known: puts(memory, *known))  # type: ignore[misc]
            health = w.HEALTHY if self.world.check else w.NO_CHECK
            yield (
                f"a deploy tool restarts D at port {port}, and verifies it",
                puts(recorded, (w.RECORD, port), (w.HEALTH, health)),
            )

    def _killed(self, state: State) -> State:
        disk = self.asker.numbered.memories[state[w.DISK]]
        changes = [(w.MEMORY, state[w.DISK]), (w.UNPROVEN, state[w.UNPROVEN_ON_DISK]), (w.LOG, 0), (w.MEDDLED, 0)]
        changes.append((w.CHARGED, int(disk[w.CHARGE] == w.CURRENT and bool(state[w.STARTED]))))
        if state[w.HEALTH] == w.SICK_COUNTED and not disk[w.STRUCK_NOW]:
            changes.append((w.HEALTH, w.SICK_NEW))  # what was counted is lost with what was not written
        return puts(state, *changes)

    def _operator(self, state: State) -> Iterator[Edge]:
        if self.world.holds and not state[w.LOG] and not state[w.HELD]:
            yield "somebody holds it", put(state, w.HELD, 1)
        if not self.world.operator or state[w.LOG]:
            return
        yield "the operator stops or starts the app", put(state, w.INTENT, 1 - state[w.INTENT])
        if state[w.DECLARED]:
            yield "the operator inhibits or allows it", put(state, w.INHIBITED, 1 - state[w.INHIBITED])
            kept = self.in_memory(state, "retry", _without_history)
            if self.world.done:  # without that, it decides nothing whether it is to be started again
                kept = self.in_memory(kept, "again", lambda memory: put(memory, w.AGAIN, 1))
            health = w.SICK_NEW if state[w.HEALTH] == w.SICK_COUNTED else state[w.HEALTH]
            yield "the operator forgets its history", puts(kept, (w.CHARGED, 0), (w.HEALTH, health))

    def _deploys(self, state: State) -> Iterator[Edge]:
        if state[w.S_MARK] == w.UNMARKED and (not state[w.DECLARED] or state[w.STATUS] in _SUPERSEDABLE):
            yield from self._succeeded(state)
        if not state[w.DECLARED]:
            return
        revised = self.in_memory(state, "revised", lambda memory: put(memory, w.OUTDATED, int(memory[w.VERIFIED] > 0)))
        yield "a deploy gives the same container a new revision", self._supplanted(revised)
        if state[w.LOG] or not self.world.strays:
            return
        if state[w.S_MARK] == w.MARKED and state[w.S_STATUS] == w.RUNNING and state[w.S_PORT]:
            yield "a deploy goes back to S, whose marker stays", self._gone_back(state)
        if state[w.S_MARK] != w.SELF:
            orphan = int(state[w.MEMORY] > 0 or state[w.DISK] > 0 or state[w.ORPHAN])
            changes = ((w.DECLARED, 0), (w.ORPHAN, orphan), (w.MEMORY, 0), (w.DISK, 0), *_NO_D)
            yield "it leaves ACTIVE", puts(state, *changes)

    def _supplanted(self, state: State) -> State:
        """Return the state in which ACTIVE changed, in the middle of a pass too: a deploy tool that does not know the lock."""
        numbered = self.asker.numbered
        log = numbered.logs[state[w.LOG]]
        if w.SUPPLANTED in log or not any(each[0] in _NAMES_ITS_GENERATION for each in log):
            return state
        return put(state, w.LOG, numbered.log(w.logged(log, w.SUPPLANTED)))

    def _succeeded(self, state: State) -> Iterator[Edge]:
        numbered = self.asker.numbered
        memory = numbered.memories[state[w.MEMORY]]
        if state[w.DECLARED]:
            verified = min(memory[w.VERIFIED], w.STALE)
            status = w.EXITED if state[w.STATUS] == w.ENDED_WELL else state[w.STATUS]
            old = [(w.S_MARK, w.MARKED), (w.S_STATUS, status), (w.S_PORT, state[w.PORT])]
            old += [(w.S_BINDS, state[w.RECORD]), (w.S_VERIFIED, verified), (w.S_AT, memory[w.AT])]
            state = puts(state, *old)
        for port in [each for each in (1, 2) if each != state[w.S_PORT]]:
            for verified in (1, 0):
                known = numbered.memory(puts(w.BLANK_MEMORY, (w.VERIFIED, verified), (w.AT, port * verified)))
                words = f"a deploy puts another container at port {port}, {'verified' if verified else 'not yet verified'}"
                yield words, self._named(state, port, known, port * verified)

    def _gone_back(self, state: State) -> State:
        verified = int(state[w.S_VERIFIED] == w.CURRENT and state[w.S_AT] == state[w.S_PORT])
        known = puts(w.BLANK_MEMORY, (w.VERIFIED, verified), (w.AT, state[w.S_PORT] * verified))
        named = self._named(state, state[w.S_PORT], self.asker.numbered.memory(known), state[w.S_BINDS])
        changes = [(w.ORPHAN, 1), (w.S_MARK, w.SELF)]
        changes += [(each, 0) for each in (w.S_STATUS, w.S_PORT, w.S_VERIFIED, w.S_AT)]
        return puts(named, *changes)

    def _named(self, state: State, port: int, memory: int, record: int) -> State:
        named = puts(
            self._supplanted(state),
            *_NO_D,
            (w.DECLARED, 1),
            (w.STATUS, w.RUNNING),
            (w.STARTED, 1),
            (w.PORT, port),
            (w.HEALTH, w.HEALTHY if self.world.check else w.NO_CHECK),
            (w.RECORD, record),
            (w.MEMORY, memory),
            (w.DISK, memory),
        )
        late = state[w.LATE] if state[w.LATE] >> 2 in (w.WITHDRAW, w.PUBLISH) else 0
        return put(named, w.LATE, late)


def _ripened(memory: State) -> State:
    return put(memory, w.RIPE, 1) if memory[w.WINDOW_OF] else memory


def _gapped(memory: State) -> State:
    return put(memory, w.GAPPED, 1) if memory[w.WINDOW_OF] else memory


def _without_history(memory: State) -> State:
    return puts(w.BLANK_MEMORY, *((each, memory[each]) for each in (w.VERIFIED, w.AT, w.OUTDATED)))
