"""Where the state is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gordon_shell.state_path import default_state_path, state_path


def test_the_option_wins_and_knows_home() -> None:
    assert Path("/srv/x.db") == state_path("/srv/x.db")
    assert Path.home() / "x.db" == state_path("~/x.db")


@pytest.mark.parametrize("option", [None, ""])
def test_without_one_it_is_the_default(option: str | None) -> None:
    assert default_state_path() == state_path(option)


def test_root_has_it_where_services_have_theirs() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root has it there")
    assert Path("/var/lib/gordon/state.db") == default_state_path()


def test_everybody_else_has_it_in_the_own_state_directory() -> None:
    if os.geteuid() != 0:
        assert default_state_path().is_relative_to(Path.home())
        return
    script = "import os, platformdirs; from gordon_shell.state_path import state_path; os.seteuid(65534); print(state_path(None))"
    environment = {"XDG_STATE_HOME": "/home/somebody/.state", "PYTHONPATH": os.pathsep.join(sys.path)}
    told = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, env=environment).stdout
    assert "/home/somebody/.state/gordon/state.db\n" == told
