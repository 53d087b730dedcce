"""A simulated host of many published services, for benchmarks that need no engine: memory ports, the real everything else."""

from attrs import define

from gordon_core.effects import Done
from gordon_core.observation import Port
from gordon_core.policy import Policy
from gordon_core.snapshot import Declared
from gordon_shell.crew import InlineCrew
from gordon_shell.memory.clock import MemoryClock
from gordon_shell.memory.container import Simulated
from gordon_shell.memory.engine import MemoryEngine
from gordon_shell.memory.ports import memory_ports
from gordon_shell.ports import Ports
from gordon_shell.reconciler import Reconciler
from gordon_shell.witness import SILENT, Witness

CADENCE_S, OLD_S = 15.0, 150.0
HTTP = Port(80)
_PER_APP = 10
_PATIENT = Policy(free_failures=1_000_000)


@define(eq=False)
class SimulatedHost:
    """The host, and the reconciler that looks after it once `begin` was called."""

    engine: MemoryEngine
    clock: MemoryClock
    ports: Ports
    containers: tuple[str, ...]
    reconciler: Reconciler | None = None

    def begin(self, witness: Witness = SILENT) -> "SimulatedHost":
        """Run passes until nothing is left to do, and all containers are so old that the list tells enough of them."""
        self.reconciler = Reconciler(self.ports, _no_policy, crew=InlineCrew(), witness=witness)
        for _ in range(3):
            self.clock.advance(OLD_S)
            self.run_pass()
        return self

    def run_pass(self) -> None:
        """Run a pass; end the benchmark if not all is well then."""
        if self.reconciler is None or not self.reconciler.run_pass().is_well:
            message = "a simulated host is not well after a pass; see what `make demo` says"
            raise SystemExit(message)

    def kill(self, count: int) -> None:
        """Kill the first containers, and let the cadence pass."""
        for each in self.containers[:count]:
            self.engine.kill(each)
        self.clock.advance(CADENCE_S)


def host(services: int) -> SimulatedHost:
    """Return a host whose services all run, and are named in ACTIVE."""
    clock = MemoryClock()
    engine = MemoryEngine(clock)
    ports = memory_ports(engine)
    names = tuple(f"{index:064x}" for index in range(1, services + 1))
    for index, name in enumerate(names):
        # fixed ports: the memory engine looks for a free one among all that are held
        engine.add(Simulated(name, f"container{index}", ((HTTP, 10_000 + index),)))
        engine.start(name)
        declared = Declared(name, 1, (HTTP,), policy=_PATIENT)
        outcome = ports.store.activate(f"app{index // _PER_APP:05d}", f"service{index % _PER_APP}", declared, 0, None)
        if outcome != Done():
            message = f"a simulated host cannot be made: {outcome}"
            raise SystemExit(message)
    return SimulatedHost(engine, clock, ports, names)


def _no_policy() -> None:
    """Return no host policy."""


def complain(complaint: str) -> None:
    """End the benchmark: nothing is to be complained of."""
    raise SystemExit(complaint)
