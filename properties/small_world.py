"""The small world of the exhaustive check: its state as one flat tuple, and the renamings that make it finite.

One service: the container that ACTIVE declares (D), at most one superseded one (S), two host ports, one route. Names of
executions are relative: the one that D has now (CURRENT), or one that is over for good (STALE); see docs/proof-exhaustive.md.
"""

import struct
from collections.abc import Callable

from attrs import frozen

State = tuple[int, ...]
Edge = tuple[str, State]
"""What happened, in plain words, and the state after it."""

# The fields of a state. A look sees those before DISK; the rest is behind it.
DECLARED, STATUS, STARTED, PORT, HEALTH, CHARGED, RECORD, MEMORY, UNPROVEN, ROUTE = range(10)
INTENT, INHIBITED, UNGRANTED, ORPHAN, S_MARK, S_STATUS, S_PORT, S_BINDS, S_VERIFIED, S_AT, HELD, LOG = range(10, 22)
DISK, UNPROVEN_ON_DISK, LATE, MEDDLED = range(22, 26)
FIELDS = 26

GONE, CREATED, RUNNING, PAUSED, RESTARTING, REMOVING, EXITED, UNKNOWN, ENDED_WELL = range(9)
STATUS_NAMES = (
    "gone", "created", "running", "paused", "restarting", "removing", "exited", "of unknown status", "exited with code 0",
)  # fmt: skip
DOWN = (CREATED, EXITED, ENDED_WELL)
"""What of D is down; of S nobody asks how it ended."""
NO_CHECK, STARTING, HEALTHY, SICK_NEW, SICK_COUNTED, SICK_SILENT, HEALTH_UNREAD = range(7)
HEALTH_NAMES = (
    "no check",
    "starting",
    "healthy",
    "a new failed result",
    "a counted failed result",
    "unhealthy, no result",
    "unread",
)
NEVER, CURRENT, STALE, BLANK = range(4)
"""A remembered start time: none, that of the present execution, of one that is over, or "" while the present one has a name."""
UNMARKED, MARKED, SELF = range(3)
"""No retirement marker, one of S, or one of the very container that ACTIVE declares."""

# The fields of a memory. An open budget and none are the same; more failures than MOST_FAILURES wait as long as that many.
FAILURES, CLOSED, CHARGE, ATTEMPT, STRIKES_OF, STRIKES, STRUCK_NOW, WINDOW_OF, RIPE, GAPPED, VERIFIED, AT, OUTDATED = range(13)
AGAIN = 13
BLANK_MEMORY = (0,) * 14
MOST_FAILURES, FREE_FAILURES, THRESHOLD = 4, 3, 2

WITHDRAW, PUBLISH, PROBE, START, RESTART, STOP, AWAIT, RECORD_ATTEMPT, RECORD_FAILURE, PERSIST = range(1, 11)
RECORD_VERIFIED, DROP_HISTORY, RELEASE, FORGET, FORGET_ORPHAN, RETIRE, REMOVE, RELEASE_CLAIMS, DROP_MARKER = range(11, 20)
EFFECT_NAMES = (
    "nothing", "withdraw", "publish", "probe", "start", "restart", "stop", "await health", "record the attempt", "charge",
    "persist the binds", "record as verified", "drop the history", "release the binds", "forget", "forget the orphan",
    "retire the superseded container", "remove the superseded container", "release its claims", "drop its marker",
    "ACTIVE changed",
)  # fmt: skip
SUPPLANTED: "Entry" = (20, 0, 0, 0, 0)
"""Stands in a log when ACTIVE changed since: the results beside it are of an older generation."""
TRAFFIC = frozenset({WITHDRAW, PUBLISH})
DONE, REFUSED, FAULT = range(3)
"""Done; refused for the workload's own fault; refused for another's fault, or no answer (the core is asked with both)."""

Entry = tuple[int, int, int, int, int]
"""One result of this pass: kind, outcome, and of a probe the execution, the port and whether it waited; of a charge its cause."""


@frozen
class World:
    """Which moves a world has. Each world is explored completely.

    In the middle of a pass the world may move `meddling` times; between passes, and in what becomes of looks and of
    commands, without a bound. `hands`: routes are changed by hand, and executions begin behind our back. `strays`: a
    service leaves ACTIVE, or goes back to S. `blind`: looks may leave things unread. `done`: exit code 0 is the end of D.
    `sidelines`: D is only withdrawn while it is unhealthy. `holds`: somebody may hold the service.
    """

    name: str
    meddling: int = 1
    hands: bool = True
    strays: bool = True
    blind: bool = True
    published: bool = True
    check: bool = False
    deploys: bool = False
    store_faults: bool = False
    late: bool = False
    operator: bool = False
    strange: bool = False
    grants: bool = False
    done: bool = False
    sidelines: bool = False
    holds: bool = False


class Numbered:
    """The memories, logs and late commands that occurred; a state holds their numbers."""

    def __init__(self) -> None:
        self.memories: list[State] = [BLANK_MEMORY]
        self._memory: dict[State, int] = {BLANK_MEMORY: 0}
        self.logs: list[tuple[Entry, ...]] = [()]
        self._log: dict[tuple[Entry, ...], int] = {(): 0}
        self._mapped: dict[tuple[str, int], int] = {}

    def memory(self, value: State) -> int:
        """Return the number of a memory."""
        found = self._memory.setdefault(value, len(self.memories))
        if found == len(self.memories):
            self.memories.append(value)
        return found

    def log(self, value: tuple[Entry, ...]) -> int:
        """Return the number of a log."""
        found = self._log.setdefault(value, len(self.logs))
        if found == len(self.logs):
            self.logs.append(value)
        return found

    def map_memory(self, name: str, change: Callable[[State], State], number: int) -> int:
        """Return the number of a memory after a change that is known by its name."""
        found = self._mapped.get((name, number))
        if found is None:
            found = self._mapped[name, number] = self.memory(change(self.memories[number]))
        return found

    def map_log(self, name: str, change: Callable[[tuple[Entry, ...]], tuple[Entry, ...]], number: int) -> int:
        """Return the number of a log after a change that is known by its name."""
        found = self._mapped.get((name, number))
        if found is None:
            found = self._mapped[name, number] = self.log(change(self.logs[number]))
        return found

    def first_port(self, state: State) -> int:
        """Return the first host port that a state names, in a fixed order of its places; 0 where it names none."""
        for each in (state[PORT], state[RECORD], state[ROUTE], state[S_PORT], state[S_BINDS], state[S_AT], state[LATE] & 3):
            if each:
                return each
        for number in (state[MEMORY], state[DISK]):
            if self.memories[number][AT]:
                return self.memories[number][AT]
        return next((each[3] for each in self.logs[state[LOG]] if each[0] == PROBE), 0)

    def canonical(self, state: State) -> State:
        """Return the one representative of a state and its mirror image, in which the two host ports change places."""
        if self.first_port(state) != 2:
            return state
        changed = list(state)
        for each in (PORT, RECORD, ROUTE, S_PORT, S_BINDS, S_AT):
            changed[each] = _MIRROR[state[each]]
        changed[LATE] = state[LATE] & ~3 | _MIRROR[state[LATE] & 3]
        changed[MEMORY] = self.map_memory("mirror", _mirrored_memory, state[MEMORY])
        changed[DISK] = self.map_memory("mirror", _mirrored_memory, state[DISK])
        changed[LOG] = self.map_log("mirror log", _mirrored_log, state[LOG])
        return tuple(changed)


_MIRROR = (0, 2, 1, 3)
_FORMAT = struct.Struct("<7BI13BIIBBB")
pack = _FORMAT.pack
unpack = _FORMAT.unpack


def _mirrored_memory(memory: State) -> State:
    return put(memory, AT, _MIRROR[memory[AT]])


def _mirrored_log(log: tuple[Entry, ...]) -> tuple[Entry, ...]:
    return tuple((kind, what, of, _MIRROR[at] if kind == PROBE else at, more) for kind, what, of, at, more in log)


def put(state: State, place: int, value: int) -> State:
    """Return the state with another value at one place."""
    return (*state[:place], value, *state[place + 1 :])


def puts(state: State, *changes: tuple[int, int]) -> State:
    """Return the state with other values at several places."""
    changed = list(state)
    for place, value in changes:
        changed[place] = value
    return tuple(changed)


def ended_pass(state: State) -> State:
    """Return the state after the end of a pass: its results are forgotten."""
    return puts(state, (LOG, 0), (MEDDLED, 0))


def overtaken(started: int) -> Callable[[State], State]:
    """Return how a memory reads once D has another execution: what named the present one names one that is over."""
    former = STALE if started else BLANK
    turned = (NEVER, former, STALE, BLANK)

    def change(memory: State) -> State:
        return puts(
            memory,
            (CHARGE, turned[memory[CHARGE]]),
            (ATTEMPT, turned[memory[ATTEMPT]]),
            (STRIKES_OF, turned[memory[STRIKES_OF]]),
            (STRUCK_NOW, 0),
            (WINDOW_OF, turned[memory[WINDOW_OF]]),
            (VERIFIED, turned[memory[VERIFIED]]),
        )

    return change


def overtaken_log(log: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Return how a log reads once D has another execution."""
    return tuple((kind, what, STALE if kind == PROBE else of, at, more) for kind, what, of, at, more in log)


def logged(log: tuple[Entry, ...], entry: Entry) -> tuple[Entry, ...]:
    """Return the log with one more result, in its shortest form.

    Sorted by kind; of withdrawals and publications the last one stays last. What was done twice is as used up as what failed,
    except that a failed withdrawal is asked for as such.
    """
    kind = entry[0]
    same = [each for each in log if each[0] == kind]
    others = [each for each in log if each[0] != kind]
    if same and kind not in {PROBE, START, RESTART} and (kind != WITHDRAW or entry[1] == FAULT):
        same, entry = [], (kind, FAULT, 0, max(entry[3], *(each[3] for each in same)), 0)
    if kind in TRAFFIC:
        traffic = sorted([*same, *(each for each in others if each[0] in TRAFFIC)])
        return (*traffic, entry, *(each for each in others if each[0] not in TRAFFIC))
    return tuple(sorted([*others, *same, entry], key=lambda each: 0 if each[0] in TRAFFIC else each[0]))


def is_done(world: World, state: State, memory: State) -> bool:
    """Tell whether D ended well, and nothing called for another start of it since."""
    ended = world.done and bool(state[DECLARED]) and state[STATUS] == ENDED_WELL
    return ended and not memory[AGAIN] and memory[ATTEMPT] != CURRENT


def has_history(memory: State) -> bool:
    """Tell whether there is trouble on record."""
    return bool(memory[FAILURES] or memory[ATTEMPT] or memory[STRIKES_OF])


def in_words(state: State, numbered: Numbered) -> str:
    """Return a state in plain words."""
    memory = numbered.memories[state[MEMORY]]
    words = [
        f"D {STATUS_NAMES[state[STATUS]]} at port {state[PORT]}, {HEALTH_NAMES[state[HEALTH]]}",
        f"record {state[RECORD]}, route {state[ROUTE]}{', unproven' if state[UNPROVEN] else ''}",
        "running wanted" if state[INTENT] else "stop wanted",
        f"{memory[FAILURES]} failures{', budget closed' if memory[CLOSED] else ''}",
        f"attempt {memory[ATTEMPT]}, charged {memory[CHARGE]}, strikes {memory[STRIKES]} of {memory[STRIKES_OF]}",
        f"verified {memory[VERIFIED]} at {memory[AT]}{' of an older revision' if memory[OUTDATED] else ''}",
    ]
    flags = {
        DECLARED: ("not in ACTIVE", ""), INHIBITED: ("", "inhibited"), UNGRANTED: ("", "ungranted"), ORPHAN: ("", "orphan"),
        HELD: ("", "on hold"),
    }  # fmt: skip
    words += [text for place, texts in flags.items() if (text := texts[state[place]])]
    if memory[AGAIN]:
        words.append("to be started again")
    if state[S_MARK]:
        old = f"verified {state[S_VERIFIED]} at {state[S_AT]}, claims {state[S_BINDS]}"
        words.append(
            f"S {STATUS_NAMES[state[S_STATUS]]} at port {state[S_PORT]} ({old}){' is D itself' if state[S_MARK] == SELF else ''}"
        )
    if state[LATE]:
        words.append(f"a late {EFFECT_NAMES[state[LATE] >> 2]}")
    if state[LOG]:
        words.append(
            "in this pass: "
            + ", ".join(f"{EFFECT_NAMES[each[0]]} {('done', 'refused', 'failed')[each[1]]}" for each in numbered.logs[state[LOG]])
        )
    return "; ".join(words)
