"""docker-py's connections over a Unix socket, mended: one that fails to connect is closed, not left to the garbage collector,
and one that finds others waiting waits in line.

Import this only where docker-py is needed anyway; it costs a quarter of a second.
"""

from docker.transport import UnixHTTPAdapter
from docker.transport.unixconn import UnixHTTPConnection, UnixHTTPConnectionPool

from gordon_shell.unix_sockets import connected


class ClosingConnection(UnixHTTPConnection):
    """A connection that leaves nothing open when it cannot be made."""

    def connect(self) -> None:
        """Connect, or raise OSError."""
        self.sock = connected(self.unix_socket, self.timeout)


class ClosingPool(UnixHTTPConnectionPool):
    """A pool of such connections."""

    def _new_conn(self) -> ClosingConnection:  # type: ignore[override]  # as docker-py's own
        return ClosingConnection(self.base_url, self.socket_path, self.timeout)  # type: ignore[arg-type]  # it is a number


class ClosingAdapter(UnixHTTPAdapter):
    """An adapter of requests with such a pool; it never retries."""

    def get_connection(self, url: bytes | str, proxies: object = None) -> UnixHTTPConnectionPool:
        """Return the pool for a URL."""
        del proxies  # none on the way to a Unix socket
        with self.pools.lock:
            if url not in self.pools:
                self.pools[url] = ClosingPool(str(url), self.socket_path, self.timeout, maxsize=self.max_pool_size)
            pool: UnixHTTPConnectionPool = self.pools[url]
        return pool
