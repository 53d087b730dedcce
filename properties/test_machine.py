"""A stateful machine over the same world: Hypothesis chooses what happens, call by call, and shrinks what fails to a story."""

from collections.abc import Sequence
from random import Random

from attrs import define, field
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from gordon_core.snapshot import Intent
from properties.boxes import Nature
from properties.calm import Calm
from properties.faults import Dice, Fate, Mischief, Weather
from properties.story import Violated
from properties.voyage import SERVICES, Course, Voyage, explain

NAMES = (
    "kill", "pause", "unpause", "delete", "removing", "restart_by_hand", "engine_restarts", "engine_is_away", "proxy_forgets",
    "proxy_by_hand", "port_is_taken", "step_wall", "suspend", "health_lies", "health_freezes", "deploy", "remove", "inhibit",
    "allow", "retry", "stranger", "finish", "second", "ports_move", "proxy_is_out_of_order", "power_fails", "grants_change",
)  # fmt: skip
CALLS = st.integers(0, 60)


@define(eq=False)
class Script(Dice):
    """Dice that fall as they are told: at which call of a pass, and how."""

    faults: dict[int, int] = field(factory=dict)
    happenings: dict[int, tuple[str, int]] = field(factory=dict)
    called: int = 0

    def fate(self, fates: Sequence[Fate]) -> Fate:
        """Return what is told for this call."""
        self.called += 1
        chosen = None if self.fair else self.faults.pop(self.called, None)
        return Fate.WELL if chosen is None else fates[chosen % len(fates)]

    def mischief(self, choices: Sequence[Mischief]) -> None:
        """Let happen what is told for this call."""
        told = None if self.fair else self.happenings.pop(self.called, None)
        if told is not None:
            name, seed = told
            next(each for each in choices if getattr(each, "__name__", "") == name)(Random(seed))


class Machine(RuleBasedStateMachine):
    """One world, in which the rules happen in any order; it ends with faults over, and liveness judged."""

    def __init__(self) -> None:
        """Begin with no world; the first rule makes it."""
        super().__init__()
        self.voyage: Voyage | None = None
        self.script = Script(0, Weather(0.0, 0.0))

    @initialize(natures=st.lists(st.sampled_from(Nature), min_size=1, max_size=3), seed=st.integers(0, 5), second=st.booleans())
    def begin(self, natures: list[Nature], seed: int, *, second: bool) -> None:
        """Adopt services of these natures."""
        voyage = Voyage(Course(seed, weather=Weather(0.0, 0.0), has_second=second, services=SERVICES[: len(natures)], hints=True))
        self.script = voyage.dice = Script(seed, Weather(0.0, 0.0))
        for program in (voyage.program, voyage.mischiefs.beside):
            if program is not None:
                program.dice = self.script
        for service, nature in zip(SERVICES, natures, strict=False):
            stored = voyage.world.disk.read_service(*service)
            assert stored is not None
            assert stored.declared is not None
            voyage.world.boxes[stored.declared.container_id].nature = nature
        self.voyage = voyage

    def _told(self, violated: Violated) -> AssertionError:
        assert self.voyage is not None
        return AssertionError(explain(self.voyage, violated))

    @rule(seconds=st.sampled_from([1.0, 15.0, 61.0, 200.0, 301.0]))
    def rest(self, seconds: float) -> None:
        """Time passes."""
        assert self.voyage is not None
        self.voyage.rest(seconds)

    @rule(name=st.sampled_from(NAMES), seed=st.integers(0, 20))
    def happen(self, name: str, seed: int) -> None:
        """Something happens between two passes."""
        assert self.voyage is not None
        try:
            getattr(self.voyage.mischiefs, name)(Random(seed))
        except Violated as violated:
            raise self._told(violated) from None

    @precondition(lambda self: self.voyage is not None and self.voyage.program.alive)
    @rule(which=st.integers(0, 10), whole=st.booleans())
    def hear(self, which: int, *, whole: bool) -> None:
        """The program hears of a container, and makes a targeted pass at once."""
        assert self.voyage is not None
        reconciler, names = self.voyage.program.reconciler, sorted(self.voyage.world.boxes)
        assert reconciler is not None
        if names:
            reconciler.hints.put(names[which % len(names)])
        if whole:
            reconciler.hints.ask_whole()
        self.script.called = 0
        try:
            self.voyage.program.answer()
        except Violated as violated:
            raise self._told(violated) from None

    @rule(app=st.sampled_from(["shop", "blog"]), intent=st.sampled_from(Intent))
    def intend(self, app: str, intent: Intent) -> None:
        """The operator wishes."""
        assert self.voyage is not None
        self.voyage.tool.intend(app, intent)

    @precondition(lambda self: self.voyage is not None and self.voyage.program.alive)
    @rule()
    def reboot(self) -> None:
        """The host reboots."""
        assert self.voyage is not None
        self.voyage.reboot()

    @rule(
        faults=st.dictionaries(CALLS, st.integers(0, 8), max_size=3),
        happenings=st.dictionaries(CALLS, st.tuples(st.sampled_from(NAMES), st.integers(0, 20)), max_size=3),
        patience_s=st.sampled_from([None, 15.0]),
    )
    def run(self, faults: dict[int, int], happenings: dict[int, tuple[str, int]], patience_s: float | None) -> None:
        """Run a pass, with these faults at these calls, and these things beside them."""
        assert self.voyage is not None
        self.script.faults, self.script.happenings, self.script.called = faults, happenings, 0
        try:
            self.voyage.rest(0.1)
            self.voyage.rough_pass(patience_s)
        except Violated as violated:
            raise self._told(violated) from None

    def teardown(self) -> None:
        """Faults stop, and all is judged that must hold then."""
        if self.voyage is None:
            return
        try:
            self.voyage.calm_down()
            Calm(self.voyage).check()
        except Violated as violated:
            raise self._told(violated) from None


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=settings().max_examples * 5)
