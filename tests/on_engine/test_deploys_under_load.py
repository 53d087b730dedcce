"""Deploys in a row, and at once, of a service that is asked all the while: not one request fails, or gets an older version."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from gordon_shell.deploy_executor import DEFAULT_LIMITS, Limits
from tests.engine_fixtures import NEEDS_ENGINE
from tests.haproxy import NEEDS_HAPROXY
from tests.on_engine.deploy_scene import SLOW, Shop, shop, until_answered
from tests.on_engine.scene import eventually

pytestmark = [*NEEDS_ENGINE, *NEEDS_HAPROXY]
DEPLOYS = 50
BRIEF = Limits(watch_s=0.2)
AS_BY_DEFAULT = {10, 25, 50}
"""Deploys with the watch that a deploy has by default."""


def test_fifty_deploys_in_a_row_under_load_lose_no_request_and_misroute_none(docker_engine_host: str, directory: Path) -> None:
    with shop(docker_engine_host, directory, colours=3) as site:
        site.serve(0)
        with site.polled() as clients:
            for version in range(1, DEPLOYS + 1):
                site.serve(version, limits=DEFAULT_LIMITS if version in AS_BY_DEFAULT else BRIEF)
                until_answered(clients, version)
        kept, fresh = clients
        assert (1, fresh.answers) == (kept.connections, fresh.connections)
        site.assert_settled(DEPLOYS)


def test_a_request_under_way_is_answered_by_the_old_container_which_ends_after_that(
    docker_engine_host: str, directory: Path
) -> None:
    with shop(docker_engine_host, directory) as site:
        old = site.serve(1, stop_grace_s=60.0)
        with ThreadPoolExecutor() as pool:
            slow = pool.submit(ask_slowly, site)
            eventually(lambda: site.host.ports.router.sessions(site.app, "web") > 0, within_s=60)
            with site.polled():
                site.serve(2, stop_grace_s=60.0)
            assert (200, site.page(1)) == slow.result(60)
        assert None is site.seen(old)
        site.assert_settled(2)


def ask_slowly(site: Shop) -> tuple[int, str]:
    with closing(site.connection()) as connection:
        connection.request("GET", SLOW)
        response = connection.getresponse()
        return response.status, response.read().decode()
