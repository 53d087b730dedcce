"""The exhaustive check: every state that a small world can reach, breadth first, with the real core deciding in each.

Safety is judged at every look, command and change of memory; liveness by following, from every state, the one clean edge until
the world is at rest. `python -m properties.exhaustive` explores all worlds; names choose among them.
"""

import sys
from array import array
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from os import cpu_count
from time import perf_counter, process_time

from attrs import field, frozen, validators

from properties import small_world as w
from properties.small_core import Asker, Core
from properties.small_moves import Moves
from properties.small_passes import BrokenError
from properties.small_rendering import RENDERINGS
from properties.small_rest import pass_fault, rest_fault
from properties.small_world import Numbered, State, World

MOST_STEPS = 80
"""So many clean steps, of passes and of time and the world coming to rest, lead from anywhere to rest."""
_NO_STATE = 0xFFFFFFFF


@frozen
class Size:
    """How far an exploration went."""

    world: str
    states: int
    transitions: int
    depth: int
    questions: int
    steps_to_rest: int
    seconds: float

    def __str__(self) -> str:
        """Print one line."""
        return (
            f"{self.world}: {self.states:,} states, {self.transitions:,} transitions, depth {self.depth}, {self.questions:,} "
            f"questions to the core, at rest after at most {self.steps_to_rest} clean steps, {self.seconds:.0f} s of CPU"
        )


@frozen(eq=False)
class Exploration:
    """One world with the states that were found in it, in the order of their distance, and the edge that first led to each."""

    moves: Moves
    keys: dict[bytes, int] = field(init=False, factory=dict)
    order: list[bytes] = field(init=False, factory=list)
    parents: "array[int]" = field(init=False, factory=lambda: array("I"))
    clean: "array[int]" = field(init=False, factory=lambda: array("I"))

    @property
    def numbered(self) -> Numbered:
        """Return the numbers of memories and logs."""
        return self.moves.asker.numbered

    def run(self, most_states: int) -> Size:
        """Explore it completely. Raise BrokenError, with the shortest story, where an invariant is broken."""
        began_s, transitions, depth, layer_ends = process_time(), 0, 0, 0
        for each in self.moves.initial():
            self._arrive(each, _NO_STATE)
        layer_ends, here = len(self.order), 0
        while here < len(self.order):
            if here == layer_ends:
                depth, layer_ends = depth + 1, len(self.order)
            transitions += self._leave(here)
            here += 1
            if here % 50_000 == 0:
                told = f"{self.moves.world.name}: {here:,} of {len(self.order):,} states so far, depth {depth}"
                sys.stderr.write(f"{told}, {process_time() - began_s:.0f} s\n")
            if here > most_states:
                message = f"more than {most_states:,} states"
                raise OverflowError(message)
        steps = self._come_to_rest()
        seconds = process_time() - began_s
        return Size(self.moves.world.name, here, transitions, depth, self.moves.asker.questions, steps, seconds)

    def _arrive(self, state: State, parent: int) -> int:
        key = w.pack(*self.numbered.canonical(state))
        found = self.keys.setdefault(key, len(self.order))
        if found == len(self.order):
            self.order.append(key)
            self.parents.append(parent)
        return found

    def _leave(self, here: int) -> int:
        state = w.unpack(self.order[here])
        targets: set[State] = set()
        try:
            for _, after in self.moves.edges(state):
                if not targets:
                    self.clean.append(self._arrive(after, here))
                targets.add(after)
        except (BrokenError, AssertionError) as error:
            raise BrokenError(self.story(here, str(error))) from error
        for after in targets:
            self._arrive(after, here)
        return len(targets)

    def _come_to_rest(self) -> int:
        """Follow the clean edges of every state; return the most steps that it took. Raise BrokenError."""
        steps, ends = array("I", [_NO_STATE]) * len(self.order), array("I", [_NO_STATE]) * len(self.order)
        for begin in range(len(self.order)):
            path: list[int] = []
            here = begin
            while steps[here] == _NO_STATE and self.clean[here] != here:
                if len(path) > MOST_STEPS:
                    raise BrokenError(self.story(begin, "L5: the clean world does not come to rest", MOST_STEPS))
                path.append(here)
                here = self.clean[here]
            if self.clean[here] == here:
                self._judge_rest(here)
                steps[here], ends[here] = 0, here
            for each in reversed(path):
                after = self.clean[each]
                steps[each] = steps[after] + 1
                ends[each] = ends[after] if self._state(after)[w.LOG] else after
        for begin in range(len(self.order)):
            self._judge_pass(begin, ends[begin])
        return max(steps)

    def _judge_rest(self, here: int) -> None:
        fault = rest_fault(self.moves.world, self._state(here), self.numbered.memories)
        if fault:
            raise BrokenError(self.story(here, f"it is at rest, but {fault}"))

    def _judge_pass(self, begin: int, end: int) -> None:
        state = self._state(begin)
        if state[w.LOG] or state[w.LATE]:
            return
        fault = pass_fault(self.moves.world, state, self._state(end), self.numbered.memories)
        if fault:
            raise BrokenError(self.story(begin, f"{fault}, after one clean pass", 20))

    def _state(self, here: int) -> State:
        return w.unpack(self.order[here])

    # --- stories ----------------------------------------------------------------------------------------------------------

    def story(self, here: int, fault: str, clean_steps: int = 0) -> str:
        """Return the shortest way to a state in plain words, what is wrong with it, and the clean steps that follow."""
        way = [here]
        while self.parents[way[-1]] != _NO_STATE:
            way.append(self.parents[way[-1]])
        way.reverse()
        lines = [f"{fault} (world {self.moves.world.name})", f"   0. {w.in_words(self._state(way[0]), self.numbered)}"]
        lines += [self._told(number, before, after) for number, (before, after) in enumerate(pairwise(way), 1)]
        at = here
        for number in range(len(way), len(way) + clean_steps):
            after = self.clean[at] if at < len(self.clean) else at
            if after == at:
                break
            lines.append(self._told(number, at, after))
            at = after
        return "\n".join(lines)

    def _told(self, number: int, before: int, after: int) -> str:
        target, words = self.order[after], "?"
        for each, state in self.moves.edges(self._state(before)):
            if w.pack(*self.numbered.canonical(state)) == target:
                words = each
                break
        return f"{number:4}. {words}\n      -> {w.in_words(self._state(after), self.numbered)}"


CALM = World("calm", meddling=0)
TUNED = World("tuned", meddling=0, hands=False, blind=False, done=True, holds=True, check=True, sidelines=True)
WORLDS = (
    World("bare"),
    World("checked", meddling=0, check=True),
    World("deployed", meddling=0, deploys=True, hands=False, strays=False),
    World("strayed", meddling=0, deploys=True, hands=False, blind=False),
    World("operated", meddling=0, operator=True, grants=True),
    World("unpublished", meddling=0, published=False, operator=True),
    World("strange", meddling=0, strange=True),
    World("late", meddling=0, late=True),
    World("full-disk", meddling=0, store_faults=True, hands=False),
    World("done", meddling=0, done=True, operator=True, blind=False),
    World("job", meddling=0, done=True, published=False, deploys=True, hands=False, strays=False, blind=False),
    World("sidelined", meddling=0, sidelines=True, check=True, hands=False),
    World("held", meddling=0, holds=True, operator=True, strange=True, blind=False),
    World("held-checked", meddling=0, holds=True, check=True, hands=False, blind=False),
    World("held-deployed", meddling=0, holds=True, deploys=True, hands=False, strays=False, blind=False),
)
"""What `make check` explores. No world has every move: together they have each, and each world is explored to its end."""
OTHER_WORLDS = (
    CALM,
    TUNED,
    World("by-hand", meddling=0, deploys=True),
    World("meddled", check=True, late=True),
)
"""The smallest, which every test run explores; and some that take long."""


def explore(world: World, core: Core | None = None, ways: int = 1, most_states: int = 20_000_000) -> Size:
    """Explore one world completely, each question put to the core in so many ways.

    Raise BrokenError with a story, or OverflowError beyond `most_states`.
    """
    asker = Asker(world, Numbered(), core if core is not None else Core(), RENDERINGS[:ways])
    with validators.disabled():  # states are valid by construction; checking each subject would take half the time
        return Exploration(Moves(asker)).run(most_states)


def main(names: Iterable[str]) -> int:
    """Explore the worlds named (none: all), side by side on all cores, print their sizes, and return an exit code."""
    chosen, began_s = set(names), perf_counter()
    worlds = [each for each in WORLDS + OTHER_WORLDS if each.name in chosen or (not chosen and each in WORLDS)]
    sizes: list[Size] = []
    with ProcessPoolExecutor(cpu_count()) as pool:
        try:
            for size in pool.map(explore, worlds):
                sizes.append(size)
                sys.stdout.write(f"{size}\n")
                sys.stdout.flush()
        except BrokenError as broken:
            pool.shutdown(wait=False, cancel_futures=True)
            sys.stdout.write(f"{broken}\n")
            return 1
    states, transitions = sum(each.states for each in sizes), sum(each.transitions for each in sizes)
    sys.stdout.write(f"in all: {states:,} states, {transitions:,} transitions, {perf_counter() - began_s:.0f} s by the clock\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
