"""The imperative shell: carries out what the core decides, through ports to an engine, a store, a router and a prober.

`Host` is the way in; docs/embedding.md walks through it. What stands here is stable; modules beside it are not. Each name is
imported when it is first asked for, so that a command that only prints its help imports nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gordon_shell.adoption import Adoption
    from gordon_shell.crew import InlineCrew
    from gordon_shell.deployer import Deployer
    from gordon_shell.errors import (
        BusyError,
        DocumentError,
        EngineError,
        GordonError,
        JournalError,
        NoWayBackError,
        RouterError,
        StoreError,
        UsageError,
    )
    from gordon_shell.host import Host
    from gordon_shell.journal import Deed, Dossier, Journal, Record
    from gordon_shell.memory.clock import MemoryClock
    from gordon_shell.memory.container import Behaviour, Simulated
    from gordon_shell.memory.engine import MemoryEngine
    from gordon_shell.memory.images import SimulatedImage
    from gordon_shell.memory.journal import MemoryJournal
    from gordon_shell.memory.locks import MemoryLocks
    from gordon_shell.memory.ports import memory_ports
    from gordon_shell.memory.prober import MemoryProber
    from gordon_shell.memory.router import MemoryRouter
    from gordon_shell.memory.store import MemoryStore
    from gordon_shell.notices import Notices
    from gordon_shell.operations import Forgotten
    from gordon_shell.ports import Deployed, Marker, Ports, Stored
    from gordon_shell.recovery import Recovery
    from gordon_shell.report import Report
    from gordon_shell.wiring import LiveOptions
    from gordon_shell.wishes import Wish
    from gordon_shell.witness import Witness

__all__ = [
    "Adoption",
    "Behaviour",
    "BusyError",
    "Deed",
    "Deployed",
    "Deployer",
    "DocumentError",
    "Dossier",
    "EngineError",
    "Forgotten",
    "GordonError",
    "Host",
    "InlineCrew",
    "Journal",
    "JournalError",
    "LiveOptions",
    "Marker",
    "MemoryClock",
    "MemoryEngine",
    "MemoryJournal",
    "MemoryLocks",
    "MemoryProber",
    "MemoryRouter",
    "MemoryStore",
    "NoWayBackError",
    "Notices",
    "Ports",
    "Record",
    "Recovery",
    "Report",
    "RouterError",
    "Simulated",
    "SimulatedImage",
    "StoreError",
    "Stored",
    "UsageError",
    "Wish",
    "Witness",
    "memory_ports",
]

_ROOMS = {
    "adoption": ("Adoption",),
    "crew": ("InlineCrew",),
    "deployer": ("Deployer",),
    "errors": (
        "BusyError",
        "DocumentError",
        "EngineError",
        "GordonError",
        "JournalError",
        "NoWayBackError",
        "RouterError",
        "StoreError",
        "UsageError",
    ),
    "host": ("Host",),
    "journal": ("Deed", "Dossier", "Journal", "Record"),
    "memory.clock": ("MemoryClock",),
    "memory.container": ("Behaviour", "Simulated"),
    "memory.engine": ("MemoryEngine",),
    "memory.images": ("SimulatedImage",),
    "memory.journal": ("MemoryJournal",),
    "memory.locks": ("MemoryLocks",),
    "memory.ports": ("memory_ports",),
    "memory.prober": ("MemoryProber",),
    "memory.router": ("MemoryRouter",),
    "memory.store": ("MemoryStore",),
    "notices": ("Notices",),
    "operations": ("Forgotten",),
    "ports": ("Deployed", "Marker", "Ports", "Stored"),
    "recovery": ("Recovery",),
    "report": ("Report",),
    "wiring": ("LiveOptions",),
    "wishes": ("Wish",),
    "witness": ("Witness",),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for. Raise AttributeError."""
    if name not in _ROOM_OF:
        message = f"module {__name__!r} has no attribute {name!r}; the public names are in its __all__"
        raise AttributeError(message)
    found: object = getattr(import_module(f"{__name__}.{_ROOM_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List the public names too, before they were asked for."""
    return sorted({*globals(), *__all__})
