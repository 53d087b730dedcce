"""L1 to L6, each a named test: judged at the quiet end of every voyage."""

from threading import Event

from gordon_core.effects import Done, Outcome
from gordon_core.observation import Bind, Port
from gordon_core.snapshot import Declared
from gordon_shell.crew import ThreadCrew
from gordon_shell.memory.clock import MemoryClock
from gordon_shell.memory.container import Simulated
from gordon_shell.memory.engine import MemoryEngine
from gordon_shell.memory.locks import MemoryLocks
from gordon_shell.memory.prober import MemoryProber
from gordon_shell.memory.router import MemoryRouter
from gordon_shell.memory.store import MemoryStore
from gordon_shell.ports import Ports
from gordon_shell.reconciler import Reconciler
from properties.boxes import Nature
from properties.fleet import Fleet
from properties.reachable import settled


def test_l1_down_is_attempted_again_for_ever(fleet: Fleet) -> None:
    """L1 A workload that is down under running intent is attempted again, for ever, never later than 15 minutes plus one
    cadence."""
    fleet.demand("L1", 200)


def test_l2_ready_is_routed_at_once(fleet: Fleet) -> None:
    """L2 A running, ready, published service is routed by the end of the first pass without faults, whatever happened before."""
    fleet.demand("L2", 1_000)


def test_l3_stopped_is_stopped_at_once(fleet: Fleet) -> None:
    """L3 A stopped app is stopped and withdrawn by the end of the first pass without faults."""
    fleet.demand("L3", 200)


def test_l4_superseded_is_gone_at_once(fleet: Fleet) -> None:
    """L4 A superseded container is gone by the end of the first pass without faults in which its successor serves."""
    fleet.demand("L4", 20)


def test_l5_converged_is_left_alone(fleet: Fleet) -> None:
    """L5 A converged world gets no effects, also right after this program was killed and started again. Every plan reaches
    quiet within a bound known in advance."""
    fleet.demand("L5", 1_000)


def test_l5_a_settled_world_gets_no_effect_after_a_restart_of_the_program() -> None:
    """L5, finding R18: nothing is withdrawn in order to verify it again."""
    voyage = settled(3, Nature.KIND)
    for _restart in range(3):
        voyage.program.die()
        voyage.program = voyage.give_birth()
        voyage.world.pass_time(15.0)
        voyage.rough_pass()
        assert [] == voyage.court.notes(voyage.program.name).commands


class _HangingEngine(MemoryEngine):
    """An engine whose start of one container does not return before it is told to."""

    def __init__(self, clock: MemoryClock, hanging: str) -> None:
        super().__init__(clock)
        self._hanging, self.released = hanging, Event()

    def start(self, container_id: str) -> Outcome:
        """Start it, or hang."""
        if container_id == self._hanging:
            self.released.wait(20.0)
        return super().start(container_id)


def test_l6_one_services_trouble_delays_no_other() -> None:
    """L6 No service's trouble delays another service by more than the concurrency bound allows. Here: one start hangs, with
    threads and real time; the other services are served within the pass, whose patience is half a second."""
    clock = MemoryClock()
    engine, store, router = _HangingEngine(clock, "c0"), MemoryStore(), MemoryRouter()
    for index in range(4):
        engine.add(Simulated(f"c{index}", publishes=((Port(80), 9000 + index),)))
        assert Done() == store.activate("shop", f"s{index}", Declared(f"c{index}", 1, (Port(80),)), 0, None)
    ports = Ports(engine, store, router, MemoryProber(engine), clock, MemoryLocks())
    reconciler = Reconciler(ports, lambda: None, crew=ThreadCrew(4))
    try:
        reconciler.run_pass(patience_s=0.5)
        assert {("shop", f"s{index}"): (Bind(Port(80), 9000 + index),) for index in (1, 2, 3)} == dict(router.read().by_service)
    finally:
        engine.released.set()
        reconciler.stop()
