"""Fixtures that many tests share."""

from tests.engine_fixtures import containers, docker_engine_host
from tests.shell_worlds import shell

__all__ = ["containers", "docker_engine_host", "shell"]
