"""Fixtures that many tests share."""

import signal

from hypothesis import HealthCheck, Phase, settings

from tests.deploy_shell import deploys
from tests.engine_fixtures import containers, docker_engine_host
from tests.shell_worlds import shell

__all__ = ["containers", "deploys", "docker_engine_host", "shell"]

# For `make mutants`: what a mutant breaks need not be told in its shortest form, nor found in a hurry, but each time alike.
settings.register_profile(
    "mutants",
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell's background job ignores SIGINT, and so would every program that a test starts there, to be sent one.
    signal.signal(signal.SIGINT, signal.default_int_handler)
