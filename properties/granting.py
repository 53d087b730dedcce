"""The host policy of the simulated world: which devices it grants, and whether its file can be read."""

from gordon_core.grants import Grants, HostPolicy, Scope
from gordon_shell.errors import DocumentError
from properties.faults import READS
from properties.programs import Program


class PolicyDoor:
    """What reads the host policy for a program, and tells the judges what it read."""

    def __init__(self, program: Program) -> None:
        """Lead to the policy of the program's world."""
        self._program = program

    def read(self) -> HostPolicy | None:
        """Return the policy, or None where there is none. Raise DocumentError."""
        world, notes = self._program.world, self._program.court.notes(self._program.name)
        notes.granted = ()
        if world.policy_is_broken or self._program.read_fails(READS, "the host policy"):
            message = "the host policy is no TOML"
            raise DocumentError(message)
        notes.granted = world.granted
        return None if world.granted is None else HostPolicy((Scope(grants=Grants(devices=world.granted)),))
