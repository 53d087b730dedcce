"""`gordon-shell run` and signals: a line for each change, an end when one is asked for, and a fault of ours as one sentence."""

from pathlib import Path

import pytest
from attrs import evolve

from gordon_core.effects import Done
from gordon_shell import cli_common
from gordon_shell.crew import InlineCrew
from gordon_shell.memory.container import Behaviour
from gordon_shell.memory.prober import MemoryProber
from gordon_shell.ports import Ports, StateStore
from gordon_shell.session import World
from gordon_shell.shell_cli import NAME, cli
from gordon_shell.wiring import LiveOptions
from tests.shell_worlds import HTTP, Ending, Shell

# --- run, and signals --------------------------------------------------------------------------------------------------


def test_run_prints_a_line_for_each_change_and_none_for_a_pass(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    def happens(left: int) -> None:
        if left == 3:
            shell.engine.kill("01" * 32)

    shell = Shell(tmp_path / "state.db", capfdbinary, Ending(8, happens))
    shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    code, out, err = shell.run("run")
    assert (0, "") == (code, err)
    assert [line.partition(" ")[2] for line in out.splitlines()] == [
        "shop/web: publish 80/tcp at 32768: done",
        "watching 1 service: 1 as desired",
        "shop/web: withdraw its route: done",
        "shop/web: start it: done",
        "shop/web: publish 80/tcp at 32768: done",
        "shop/web: serving again; its latest start forgotten at 00:06:15Z, in 5 min, if it stays stable",
    ]
    assert all(line[:8] < "00:02:00" and line[8] == "Z" for line in out.splitlines())


def test_run_goes_on_when_the_state_cannot_be_read_for_a_while(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    def happens(left: int) -> None:
        if left == 3:
            stores[-1].close()

    stores: list[StateStore] = []
    shell = Shell(tmp_path / "state.db", capfdbinary, Ending(4, happens))
    shell.container("web-1", HTTP)
    shell.adopted(web="web-1")

    def ports(*arguments: LiveOptions, **options: bool) -> Ports:
        made = shell.ports(*arguments, **options)
        stores.append(made.store)
        return made

    world = World(ports=ports, policies=lambda _options: lambda: None, crew=InlineCrew, is_watched=False)
    assert cli_common.run(cli, NAME, ["run", "--state", str(shell.path)], obj=world) == 0
    assert b"is closed; open it again" in capfdbinary.readouterr().err


def test_once_that_is_interrupted_says_so(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    shell = Shell(tmp_path / "state.db", capfdbinary, Ending(3))
    shell.container("web-1", HTTP, behaviour=Behaviour(listens=False))
    shell.adopted(web="web-1")
    code, out, err = shell.run("once")
    assert (130, "", "interrupted: this pass is not complete; the next one reads what became of it\n") == (code, out, err)


def test_a_fault_of_ours_in_a_job_is_70_and_one_sentence(shell: Shell) -> None:
    class Broken(MemoryProber):
        def probe(self, *_: object) -> Done:
            raise KeyError(self)

    shell.container("web-1", HTTP)
    shell.adopted(web="web-1")
    world = World(
        ports=lambda *arguments, **options: evolve(shell.ports(*arguments, **options), prober=Broken(shell.engine)),
        policies=lambda _options: lambda: None,
        crew=InlineCrew,
        is_watched=False,
    )
    assert cli_common.run(cli, NAME, ["once", "--state", str(shell.path)], obj=world) == 70
    said = shell.capture.readouterr()
    assert said.err.startswith(b"a fault of ours: KeyError: ")
    assert said.err.endswith(b"; please report it with what `gordon-plan --record FILE` writes\n")
    assert 1 == said.err.count(b"\n")
