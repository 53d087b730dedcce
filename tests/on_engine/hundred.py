"""A hundred running containers, and how old they must be for a list row to tell enough of them."""

import time

from attrs import frozen

from tests.engine_fixtures import Containers

COUNT = 100
WEB_COUNT = 10
OLD_S = 121
"""Below that the engine says "Up About a minute", which is too coarse to tell one execution from another."""


@frozen(eq=False)
class Hundred:
    """Containers without ports, and containers that serve a page at an ephemeral port."""

    containers: Containers
    plain: tuple[str, ...]
    web: tuple[str, ...]
    made_s: float

    def wait_until_old(self) -> None:
        """Wait until the youngest is old enough."""
        time.sleep(max(0.0, self.made_s + OLD_S - time.monotonic()))


def hundred(containers: Containers) -> Hundred:
    """Start them."""
    web = tuple(containers.run_web(f"{index}", stop_timeout_s=1) for index in range(WEB_COUNT))
    plain = tuple(containers.run(stop_timeout_s=1) for _ in range(COUNT - WEB_COUNT))
    return Hundred(containers, plain, web, time.monotonic())
