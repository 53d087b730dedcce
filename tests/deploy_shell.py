"""`gordon-shell` over a world in memory with images to deploy."""

import pytest
from attrs import frozen

from gordon_core.blueprint import Blueprint, Made, Variable
from gordon_core.observation import Port
from gordon_shell.memory.container import Behaviour
from gordon_shell.memory.images import SimulatedImage
from tests.shell_worlds import HTTP, Said, Shell

STEADY = Behaviour()


@frozen
class Deploys:
    """A shell whose engine has the images shop:1, shop:2, shop:silent, shop:dies and work:1."""

    shell: Shell

    def image(self, name: str, behaviour: Behaviour = STEADY, *, ports: tuple[Port, ...] = (HTTP,), own: str = "") -> None:
        """Have an image; `own` is the value of a variable OWN that it brings."""
        blueprint = Blueprint("scratch", environment=(Variable("OWN", own),) if own else ())
        self.shell.engine.images.add(name, SimulatedImage(f"sha256:{name}", behaviour, blueprint, ports))

    def deploy(self, *words: str, service: str = "web", watched: bool = False) -> Said:
        """Run `gordon-shell deploy shop SERVICE ...`."""
        return self.shell.before("deploy", "shop", service, *words, is_watched=watched)

    def rollback(self, *words: str) -> Said:
        return self.shell.before("rollback", "shop", "web", *words)

    def serving(self) -> tuple[str, int]:
        """Return the image that shop/web has now, and its revision."""
        made, revision = self._made()
        return made.image_id, revision

    def environment(self) -> dict[str, str]:
        """Return the variables of the container of shop/web, beyond its image's."""
        return {each.name: each.value for each in self._made()[0].blueprint.environment}

    def _made(self) -> tuple[Made, int]:
        stored = self.shell.stored()
        assert stored is not None
        assert stored.declared is not None
        made = self.shell.engine.made(stored.declared.container_id)
        assert isinstance(made, Made)
        return made, stored.declared.revision

    def names(self) -> list[str]:
        """Return the names of all containers."""
        return sorted(each.name for each in self.shell.engine.rows())


@pytest.fixture
def deploys(shell: Shell) -> Deploys:
    """Return a shell with images, and nothing deployed."""
    return prepared(shell)


def prepared(shell: Shell) -> Deploys:
    """Have the images."""
    found = Deploys(shell)
    found.image("shop:1")
    found.image("shop:2")
    found.image("shop:silent", Behaviour(listens=False))
    found.image("shop:dies", Behaviour(exits_after_s=0.0, exit_code=3, says=("starting", "no database")))
    found.image("work:1", ports=())
    return found


__all__ = ["Deploys", "deploys"]
