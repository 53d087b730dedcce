"""All six ports in memory at once, for tests of programs that embed this, and for rehearsals."""

from gordon_shell.memory.clock import MemoryClock
from gordon_shell.memory.engine import MemoryEngine
from gordon_shell.memory.locks import MemoryLocks
from gordon_shell.memory.prober import MemoryProber
from gordon_shell.memory.router import MemoryRouter
from gordon_shell.memory.store import MemoryStore
from gordon_shell.ports import Ports


def memory_ports(engine: MemoryEngine | None = None) -> Ports:
    """Return ports around a memory engine (None: an empty one), in its time, with an empty state and no routes."""
    where = engine if engine is not None else MemoryEngine(MemoryClock())
    return Ports(where, MemoryStore(), MemoryRouter(), MemoryProber(where), where.time, MemoryLocks(), where)
