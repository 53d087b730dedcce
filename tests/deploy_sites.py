"""A simulated host on which deploys are done by the shell: faults on cue, and a check of every moment in between."""

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from attrs import define, evolve, field

from gordon_core.blueprint import Blueprint, HealthCheck, Publication
from gordon_core.effects import DONE, Outcome
from gordon_core.observation import Port, Status
from gordon_core.verdicts import Verdict
from gordon_shell.deploy_executor import DEFAULT_LIMITS, Limits
from gordon_shell.deployer import Deployer, Listener
from gordon_shell.memory.container import Behaviour
from gordon_shell.memory.images import SimulatedImage
from tests.hosts import HTTP, Host, no_policy

if TYPE_CHECKING:
    from gordon_shell.ports import Engine, Prober, Router, StateStore

COMMANDS = (
    "engine.create", "engine.pull", "engine.start", "engine.stop", "engine.remove", "engine.rename", "prober.probe",
    "router.publish", "router.withdraw", "store.activate", "store.journal", "store.drop_candidate", "store.save_memory",
    "store.release_claims", "store.drop_marker", "store.persist_binds",
)  # fmt: skip
CHECK = HealthCheck(("CMD", "true"))
CHECKED = Behaviour(checks=(True,), check_every_s=2.0)


class Killed(BaseException):
    """What stands for SIGKILL: nothing handles it."""


@define
class _Fault:
    call: str
    outcome: Outcome | BaseException
    left: int
    took_effect: bool


@define
class Faults:
    """What becomes of calls, instead of what the port says."""

    planned: list[_Fault] = field(factory=list)
    made: int = 0
    kill_at: tuple[int, bool] | None = None

    def plan(self, call: str, outcome: Outcome | BaseException, *, times: int = 1, took_effect: bool = False) -> None:
        """Let the next calls that begin so come to this, whether they took effect or not."""
        self.planned.append(_Fault(call, outcome, times, took_effect))

    def answer(self, call: str, whole: Callable[[], object]) -> object:
        """Make a call, or have it come to what is planned. `kill_at` is the number of a command, and whether it took effect."""
        if call in COMMANDS:
            self.made += 1
            if self.kill_at is not None and self.kill_at[0] == self.made:
                if self.kill_at[1]:
                    whole()
                raise Killed(call)
        due = next((each for each in self.planned if each.left and call.startswith(each.call)), None)
        if due is None:
            return whole()
        due.left -= 1
        if due.took_effect:
            whole()
        if isinstance(due.outcome, BaseException):
            raise due.outcome
        return due.outcome


class Faulty:
    """A port whose calls may come to something else."""

    def __init__(self, name: str, port: object, faults: Faults) -> None:
        self._name, self._port, self._faults = name, port, faults

    def __getattr__(self, method: str) -> Callable[..., object]:
        whole = getattr(self._port, method)
        return lambda *args, **named: self._faults.answer(f"{self._name}.{method}", lambda: whole(*args, **named))


class Site(Host):
    """A host with images shop:1 to shop:4, and a service shop/web to be deployed."""

    def __init__(self, behaviour: Behaviour | None = None, ports: tuple[Port, ...] = (HTTP,)) -> None:
        super().__init__()
        self.faults = Faults()
        self.troubles: list[str] = []
        self.ports = evolve(
            self.ports,
            engine=cast("Engine", Faulty("engine", self.ports.engine, self.faults)),
            store=cast("StateStore", Faulty("store", self.ports.store, self.faults)),
            router=cast("Router", Faulty("router", self.ports.router, self.faults)),
            prober=cast("Prober", Faulty("prober", self.ports.prober, self.faults)),
        )
        self.restarted()
        for each in "1234":
            self.image(f"shop:{each}", behaviour, ports)

    def image(self, name: str, behaviour: Behaviour | None = None, ports: tuple[Port, ...] = (HTTP,)) -> None:
        """Have the engine have an image."""
        self.engine.images.add(name, SimulatedImage(f"sha256:{name}", behaviour or Behaviour(), ports=ports))

    def deployer(self, listener: Listener | None = None, limits: Limits = DEFAULT_LIMITS) -> Deployer:
        return Deployer(self.ports, no_policy, limits=limits, **({"listener": listener} if listener is not None else {}))

    def deploy(self, wanted: str | Blueprint) -> Verdict:
        return self.deployer().deploy("shop", "web", Blueprint(wanted) if isinstance(wanted, str) else wanted)

    def serving(self, image: str = "shop:1", wanted: Blueprint | None = None) -> str:
        """Deploy for the first time, watch over every moment from here on, and return what serves."""
        verdict = self.deploy(wanted or Blueprint(image))
        assert verdict.is_well, verdict
        self.calls.clear()
        self.faults.made = 0
        return verdict.container_id

    def watch(self, *, may_be_down: bool = False) -> None:
        """Before every call from here on: what is routed runs, listens and is of the service, and (unless it may be down)
        something is."""
        self.calls.before("", lambda: self.check(may_be_down=may_be_down))

    def check(self, *, may_be_down: bool = False) -> None:
        binds = self.all_routes().get(("shop", "web"), ())
        if not binds and not may_be_down:
            self.troubles.append("nothing is routed")
        for bind in binds:
            one = self.engine.holder(bind.host_port)
            if one is None or one.status is not Status.RUNNING or not one.listens(self.clock.now()):
                self.troubles.append(f"{bind} leads to nothing that serves")

    def names(self) -> dict[str, str]:
        """Return the containers by name, with their status."""
        return {each.name: each.status.value for each in self.engine.rows()}

    def candidates(self) -> tuple[str, ...]:
        found = self.store.read_service("shop", "web")
        return tuple(each.name for each in found.candidates) if found is not None else ()

    def active(self) -> str:
        """Return the image of the container in ACTIVE."""
        made = self.engine.made(self.declared("web").container_id)
        return getattr(made, "image_id", "").removeprefix("sha256:")

    def is_settled(self) -> bool:
        """Tell whether one container serves, and nothing is left of any deploy."""
        stored = self.stored("web")
        return len(self.engine.rows()) == 1 and not (stored.candidates or stored.markers) and bool(stored.memory.verified)


def exclusive(image: str) -> Blueprint:
    """Return a blueprint of which two containers must not run at once."""
    return Blueprint(image, ports=(Publication(HTTP, 8080),))


def done(call: Callable[[], Outcome]) -> None:
    assert DONE == call()
