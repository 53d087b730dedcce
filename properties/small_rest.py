"""Liveness in the small world: what must be so when it is at rest, and at the end of every pass without faults."""

from properties import small_world as w
from properties.small_world import State, World

_STUCK = (w.PAUSED, w.UNKNOWN)
_DOWN = w.DOWN
_UNHEALTHY = (w.SICK_NEW, w.SICK_COUNTED, w.SICK_SILENT)
_WELL = (w.NO_CHECK, w.HEALTHY)


def rest_fault(world: World, state: State, memories: list[State]) -> str:
    """Return how a world at rest is not as the operator wants it; "" if it is, or if only a person can help."""
    memory = memories[state[w.MEMORY]]
    faults = _faults_of_d(world, state, memory) | {
        "a withdrawal is unproven": bool(state[w.UNPROVEN]),
        "it is routed to where nothing verified runs": misrouted(state, memory),
        "a superseded container is left": bool(state[w.S_MARK])
        and not (_keeps_s(state) or _is_done_routed(world, state, memory)),
        "an orphan is remembered": bool(state[w.ORPHAN]) and (not state[w.DECLARED] or _is_settled(world, state, memory)),
    }
    return ", ".join(words for words, holds in faults.items() if holds)


def _is_settled(world: World, state: State, memory: State) -> bool:
    if not state[w.INTENT]:
        return state[w.STATUS] in (*_DOWN, w.GONE)
    return not state[w.INHIBITED] and (state[w.STATUS] == w.RUNNING or w.is_done(world, state, memory))


def _is_done_routed(world: World, state: State, memory: State) -> bool:
    """Tell whether S stays since its successor, which was to be routed, is done: nobody can tell whether that was meant."""
    return world.published and bool(state[w.INTENT]) and w.is_done(world, state, memory)


def _keeps_s(state: State) -> bool:
    """Tell whether S may stay: its successor is to run, and a person keeps it from that."""
    stuck = state[w.STATUS] in (*_STUCK, w.GONE) or (state[w.STATUS] in _DOWN and state[w.UNGRANTED])
    return bool(state[w.DECLARED] and state[w.INTENT] and (state[w.INHIBITED] or stuck))


def _faults_of_d(world: World, state: State, memory: State) -> dict[str, bool]:  # noqa: PLR0911 - one for each way to be at rest
    status = state[w.STATUS]
    if not state[w.DECLARED]:
        return {"it is routed": bool(state[w.ROUTE])}
    if not state[w.INTENT]:
        return {
            "L3: it runs although it is to be stopped": status not in (*_DOWN, w.GONE),
            "L3: it is routed although it is to be stopped": bool(state[w.ROUTE]),
            "it has a history although it is stopped": w.has_history(memory),
        }
    if state[w.INHIBITED]:
        return {}
    if status == w.GONE:
        return {"gone, its port claims remain": bool(state[w.RECORD]), "gone, it is remembered": memory != w.BLANK_MEMORY}
    if status in _STUCK:
        return {}
    if w.is_done(world, state, memory):
        return {"T2: it is done, and has a history": w.has_history(memory)}
    if status in _DOWN:
        return {"L1: it is down": not state[w.UNGRANTED]}
    return {
        "L1: it does not run": status != w.RUNNING,
        "L2: it is not verified": not verified(state, memory),
        "L2: it is not routed": world.published and state[w.ROUTE] != state[w.PORT],
        "its binds are not on record": state[w.RECORD] != state[w.PORT],
        "its history is kept": w.has_history(memory),
    }


def verified(state: State, memory: State) -> bool:
    """Tell whether D runs as its verified execution, at the port verified."""
    same = memory[w.VERIFIED] == w.CURRENT and not memory[w.OUTDATED] and memory[w.AT] == state[w.PORT]
    return state[w.STATUS] == w.RUNNING and same


def misrouted(state: State, memory: State) -> bool:
    """Tell whether the route leads to neither D verified and running, nor S verified and running."""
    route = state[w.ROUTE]
    to_d = verified(state, memory) and route == state[w.PORT]
    serves = state[w.S_MARK] == w.MARKED and state[w.S_STATUS] == w.RUNNING and state[w.S_VERIFIED] == w.CURRENT
    to_s = serves and route == state[w.S_AT] == state[w.S_PORT]
    return bool(route) and not to_d and not to_s


def pass_fault(world: World, begin: State, end: State, memories: list[State]) -> str:
    """Return what the end of one pass without faults lacks, of which it began at `begin`; "" if nothing."""
    memory = memories[end[w.MEMORY]]
    serves = verified(end, memory) and (not world.published or end[w.ROUTE] == end[w.PORT]) and end[w.HEALTH] in _WELL
    runs = begin[w.STATUS] == w.RUNNING and bool(begin[w.PORT]) and begin[w.HEALTH] in _WELL
    wanted = bool(begin[w.DECLARED] and begin[w.INTENT] and not begin[w.INHIBITED])
    stopped = bool(begin[w.DECLARED] and not begin[w.INTENT]) and begin[w.STATUS] != w.REMOVING and not begin[w.HELD]
    struck = memory[w.STRIKES_OF] == w.CURRENT and memory[w.STRIKES] >= w.THRESHOLD and end[w.STATUS] == w.RUNNING
    sick = wanted and struck and end[w.HEALTH] in _UNHEALTHY
    faults = {
        "P1, P10: it is routed to where nothing verified runs": misrouted(end, memory),
        "L2: it ran, ready, and is not routed": wanted and runs and not serves,
        "L3: it is to be stopped, and is not": stopped and (end[w.STATUS] not in (*_DOWN, w.GONE) or bool(end[w.ROUTE])),
        "L4: its superseded container is left": begin[w.S_MARK] == w.MARKED
        and begin[w.S_STATUS] != w.REMOVING
        and not begin[w.HELD]
        and wanted
        and serves
        and bool(end[w.S_MARK]),
        "P3: a withdrawal is unproven": bool(end[w.UNPROVEN]),
        "T3: it is unhealthy, and routed still": world.sidelines and sick and end[w.ROUTE] == end[w.PORT] != 0,
    }
    return ", ".join(words for words, holds in faults.items() if holds)
