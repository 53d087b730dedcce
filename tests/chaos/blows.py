"""What befalls the host, drawn by a seed: containers, the engine, the proxy and the program are killed, paused, replaced."""

import contextlib
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from random import Random

import pytest
from attrs import define, field
from docker.errors import APIError, DockerException
from requests.exceptions import RequestException

from tests.chaos.host import APP, CADENCE_S, IMAGE, JOB, SIDELINED, Host, boot_s
from tests.chaos.judge import Deploying

_RESTLESS_S = 20.0
"""For so long after the engine came back nobody creates anything by hand: the routes of what ended with it still stand then, and
their ports are free for whoever asks first."""
_TRIES, _PATIENCE_S = 60, 900.0
_PATIENCE_OF_A_DEPLOY_S = 120.0
"""Within which a deploy must do its work, although its service may be on hold, and all the rest goes on."""
_DAMAGED = "id already in use"
"""What the engine answers to each start of a container that it was killed over: only another container helps, by a deploy."""
FAILED = pytest.fail.Exception
_BUSY = 75


@define(eq=False)
class Chaos:
    """Blows, one after another. `counts` says how many of each there were; with `spares_program` it is killed no more."""

    host: Host
    chance: Random
    pool: ThreadPoolExecutor
    counts: Counter[str] = field(factory=Counter)
    spares_program: bool = False
    engine_back_s: float = 0.0
    paused: dict[str, float] = field(factory=dict)
    held: dict[str, float] = field(factory=dict)
    ill: dict[str, float] = field(factory=dict)
    deploying: "Future[None] | None" = None
    failures: list[str] = field(factory=list)
    deployed: int = 0

    def strike(self) -> None:
        """Let one thing happen."""
        self._unpause(boot_s())
        self._heal(boot_s())
        blows: tuple[tuple[Callable[[], object], int], ...] = (
            (self.kill, 30), (self.pause, 12), (self.sicken, 10), (self.replace, 8), (self.deploy, 6), (self.stop, 4),
            (self.restart_proxy, 3), (self.restart_program, 3), (self.restart_engine, 2), (self.hold, 4), (self.run_again, 4),
            (self.kill_deploy, 3), (self.stop_app, 1),
        )  # fmt: skip
        blow = self.chance.choices([each for each, _ in blows], [weight for _, weight in blows])[0]
        with contextlib.suppress(APIError, DockerException, RequestException):
            if blow() is not None:
                self.counts[blow.__name__] += 1

    def end(self) -> None:
        """Let nothing happen any more, and put back what was taken away."""
        self._unpause(float("inf"))
        if self.deploying is not None:
            self.deploying.result(600)
        self._heal(float("inf"))
        for name in [each for each, until_s in self.held.items() if until_s > boot_s()]:
            self._command("release", f"{APP}/{name}")
        for name in [each for each in self.host.services if self._is_damaged(each)]:
            self._timed(self._deploy, name)
            self.counts["damaged_by_the_engine"] += 1

    def _is_damaged(self, name: str) -> bool:
        """Tell whether the engine can never start this container again: it was killed over a start of it (moby, as of 20.10)."""
        with contextlib.suppress(APIError, DockerException, RequestException):
            state = self.host.containers.client.inspect_container(self.host.container(name))["State"]
            return not state["Running"] and _DAMAGED in state["Error"]
        return False

    def _any(self) -> str:
        return self.chance.choice(list(self.host.services))

    def _running(self) -> Iterator[str]:
        container_id = self.host.container(self._any())
        if self.host.containers.client.inspect_container(container_id)["State"]["Status"] == "running":
            yield container_id

    def kill(self) -> object:
        """Kill a container."""
        for each in self._running():
            self.host.containers.client.kill(each)
            return each
        return None

    def stop(self) -> object:
        """Stop a container by hand."""
        for each in self._running():
            self.host.containers.client.stop(each, timeout=1)
            return each
        return None

    def pause(self) -> object:
        """Pause a container for some seconds."""
        for each in self._running():
            self.host.containers.client.pause(each)
            self.paused[each] = boot_s() + self.chance.uniform(1, 12)
            return each
        return None

    def _unpause(self, now_s: float) -> None:
        for each in [name for name, until_s in self.paused.items() if until_s <= now_s]:
            with contextlib.suppress(APIError, DockerException, RequestException):
                del self.paused[each]
                self.host.containers.client.unpause(each)

    def sicken(self) -> object:
        """Let a container fail its health check, until it is restarted."""
        checked = [name for name, kind in self.host.services.items() if kind.is_checked]
        if not checked:
            return None
        name = self.chance.choice(checked)
        container_id = self.host.container(name)
        self._does(container_id, "touch", "/tmp/ill")  # noqa: S108 - inside the container
        if self.host.services[name] is SIDELINED:
            self.ill[container_id] = boot_s() + self.chance.uniform(10, 30)
        return checked

    def _heal(self, now_s: float) -> None:
        """Let those be well again that nobody restarts for their health."""
        for each in [name for name, until_s in self.ill.items() if until_s <= now_s]:
            with contextlib.suppress(APIError, DockerException, RequestException):
                self._does(each, "rm", "-f", "/tmp/ill")  # noqa: S108 - likewise
                del self.ill[each]

    def _does(self, container_id: str, *command: str) -> None:
        client = self.host.containers.client
        client.exec_start(client.exec_create(container_id, list(command))["Id"])

    # --- an operator's wishes ----------------------------------------------------------------------------------------

    def hold(self) -> object:
        """Hold a service for a while."""
        name, for_s = self._any(), self.chance.randint(10, 40)
        self.held[name] = boot_s() + for_s
        return self._command("hold", f"{APP}/{name}", "--until", f"+{for_s}s", "--reason", "chaos")

    def run_again(self) -> object:
        """Have a job that may be done run again."""
        jobs = [name for name, kind in self.host.services.items() if kind is JOB]
        return self._replacing(self._run_again, self.chance.choice(jobs)) if jobs else None

    def _run_again(self, name: str) -> None:
        self._command("retry", f"{APP}/{name}")

    def stop_app(self) -> object:
        """Stop all of the app, and let it run again."""
        return self._replacing(self._stop_app, "")

    def _stop_app(self, _name: str) -> None:
        self._command("stop", APP)
        time.sleep(self.chance.uniform(3, 15))
        self._command("start", APP)

    def _command(self, *words: str) -> object:
        """Give a command, again and again where somebody else holds what it needs."""
        for _ in range(_TRIES):
            done = self.host.shell(*words)
            if done.returncode != _BUSY:
                break
            time.sleep(1)
        if done.returncode:
            self.failures.append(f"{' '.join(words)} ended with {done.returncode}: {done.stderr}")
        return done

    # --- replacements, which take a while, beside other blows --------------------------------------------------------

    def replace(self) -> object:
        """Remove a container by force, and adopt another one of the service."""
        return self._replacing(self._replace, self._any())

    def deploy(self) -> object:
        """Deploy a service anew."""
        return self._replacing(
            self._deploy, self.chance.choice([name for name, kind in self.host.services.items() if kind.lasts])
        )

    def kill_deploy(self) -> object:
        """Deploy a service anew, kill that with SIGKILL before it is done, and deploy it without any other help."""
        return self._replacing(
            self._kill_deploy, self.chance.choice([name for name, kind in self.host.services.items() if kind.lasts])
        )

    def _replacing(self, act: Callable[[str], None], name: str) -> object:
        is_busy = self.deploying is not None and not self.deploying.done()
        if is_busy or boot_s() < self.engine_back_s + _RESTLESS_S:
            return None
        self.deploying = self.pool.submit(self._timed, act, name)
        return self.deploying

    def _timed(self, act: Callable[[str], None], name: str) -> None:
        begun_s = boot_s()
        with contextlib.suppress(APIError, DockerException, RequestException):
            act(name)
        self.host.deploys.append(Deploying(name, begun_s, boot_s() + _RESTLESS_S))

    def _replace(self, name: str) -> None:
        self.host.containers.client.remove_container(self.host.container(name), force=True, v=True)
        time.sleep(self.chance.uniform(0, 3))
        unpublished = () if self.host.services[name].is_routed else ("--unpublished", name)
        new = self.host.create(name)
        for _ in range(_TRIES):
            done = self.host.shell("adopt", APP, f"{name}={new}", *unpublished)
            if done.returncode == 0:
                return
            time.sleep(1)
        self.failures.append(f"adopt of {name} ended with {done.returncode}: {done.stderr}")

    def _deploy(self, name: str) -> None:
        self.deployed += 1
        done = self.host.shell("deploy", APP, name, IMAGE, "-e", f"ROUND={self.deployed}")
        if done.returncode not in {0, 1, 69, _BUSY}:
            self.failures.append(f"deploy of {name} ended with {done.returncode}: {done.stderr}")

    def _kill_deploy(self, name: str) -> None:
        self.deployed += 1
        with self.host.begun_shell("deploy", APP, name, IMAGE, "-e", f"ROUND={self.deployed}") as deploy:
            time.sleep(self.chance.uniform(0.3, 4))
            deploy.kill()
        begun_s, code = boot_s(), 1
        while code and boot_s() < begun_s + _PATIENCE_OF_A_DEPLOY_S:
            code = self.host.shell("deploy", APP, name, IMAGE, "-e", f"ROUND={self.deployed}").returncode
            time.sleep(1)
        if code:
            self.failures.append(f"C3: a deploy of {name} was killed, and for {_PATIENCE_OF_A_DEPLOY_S:.0f} s none did its work")

    # --- the engine, the proxy, the program --------------------------------------------------------------------------

    def restart_engine(self) -> object:
        """Kill the engine, and start it again: with live-restore, or without, which ends every container."""
        if boot_s() < self.engine_back_s + 2 * _RESTLESS_S or (self.deploying is not None and not self.deploying.done()):
            return None
        begun_s = boot_s()
        self.host.engine.kill()
        time.sleep(self.chance.uniform(0, 8))
        self.engine_returns("--live-restore" if self.chance.random() < 0.4 else "")
        self.host.away.append((begun_s, boot_s() + _RESTLESS_S))
        return True

    def engine_returns(self, flags: str) -> None:
        """Start the engine; on a busy machine it may take minutes to tidy up after thirty containers."""
        try:
            self.host.engine.again(flags)
        except (FAILED, subprocess.TimeoutExpired):
            until_s = boot_s() + _PATIENCE_S
            while not self._answers():
                if boot_s() > until_s:
                    raise
                time.sleep(1)
        self.engine_back_s = boot_s()

    def _answers(self) -> bool:
        with contextlib.suppress(APIError, DockerException, RequestException):
            return bool(self.host.containers.client.ping())
        return False

    def restart_proxy(self) -> object:
        """Kill the proxy, and start it again, with no route."""
        begun_s = boot_s()
        self.host.proxy.kill()
        time.sleep(self.chance.uniform(0, 4))
        self.host.proxy.start()
        self.host.away.append((begun_s, boot_s() + CADENCE_S))
        return True

    def restart_program(self) -> object:
        """Kill the program, and start it again."""
        if self.spares_program:
            return None
        begun_s = boot_s()
        self.host.kill()
        time.sleep(self.chance.uniform(0, 4))
        self.host.start()
        self.host.away.append((begun_s, boot_s() + CADENCE_S))
        return True
