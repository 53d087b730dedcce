"""What every router asks of the binds that it is given, and the order in which it gives them back."""

from gordon_core.observation import Binds


def objection(binds: Binds) -> str:
    """Return why these binds cannot be routed, in a sentence with the remedy, or ""."""
    if all(bind.host_port > 0 for bind in binds) and len({bind.port for bind in binds}) == len(binds):
        return ""
    return f"{words(binds)} cannot be routed; give one host port above 0 for each port"


def words(binds: Binds) -> str:
    """Return the binds for print."""
    return ", ".join(str(bind) for bind in binds) or "nothing"


def in_order(binds: Binds) -> Binds:
    """Return the binds by port, protocol and host port."""
    return tuple(sorted(binds, key=lambda bind: (bind.port.number, bind.port.protocol.value, bind.host_port)))


__all__ = ["in_order", "objection", "words"]
