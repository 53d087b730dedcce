"""Fixtures that many tests share."""

from tests.deploy_shell import deploys
from tests.engine_fixtures import containers, docker_engine_host
from tests.shell_worlds import shell

__all__ = ["containers", "deploys", "docker_engine_host", "shell"]
