"""Tiny web backends for tests, and a HAProxy in front of them."""

import contextlib
import http.client
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from gordon_core.observation import Bind, Binds, Port
from gordon_shell.haproxy_config import haproxy_config
from gordon_shell.haproxy_router import HaproxyRouter
from tests.haproxy import RunningHaproxy, free_port, running_haproxy, short_directory

HTTP, TLS = Port(80), Port(443)
WEB = "gordon:shop:web:80"
SECURE = "gordon:shop:web:443"
SERVICES = (("shop", "web", (HTTP, TLS)), ("shop", "cart", (HTTP,)))


def at(host_port: int) -> Binds:
    """Return the binds of a service whose port 80 is at this host port."""
    return (Bind(HTTP, host_port),)


class World:
    """A HAProxy with a frontend that leads to shop/web, and its router."""

    def __init__(self, proxy: RunningHaproxy, frontend: int) -> None:
        self.proxy = proxy
        self.frontend = frontend
        self.router = HaproxyRouter(proxy.socket)

    def routed(self) -> Binds:
        return self.router.read().by_service.get(("shop", "web"), ())

    def say(self, *commands: str) -> None:
        for command in commands:
            self.proxy.say(command)

    def ask(self, path: str = "/") -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.frontend, timeout=10)
        with contextlib.closing(connection):
            return request(connection, path)


@contextlib.contextmanager
def running_world() -> Iterator[World]:
    port = free_port()
    frontend = f"frontend web\n    bind 127.0.0.1:{port}\n    default_backend {WEB}\n"
    config = frontend + haproxy_config(SERVICES, "/unused")
    with short_directory() as directory, running_haproxy(config, directory) as proxy:
        yield World(proxy, port)


def request(connection: http.client.HTTPConnection, path: str = "/") -> tuple[int, str]:
    connection.request("GET", path)
    response = connection.getresponse()
    return response.status, response.read().decode()


class Backend(ThreadingHTTPServer):
    """Answers every request with its name; /slow only once `release` is set."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, name: str) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.name = name
        self.release = threading.Event()
        self.arrived = threading.Event()

    @property
    def binds(self) -> Binds:
        return at(self.server_port)


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self) -> None:
        assert isinstance(self.server, Backend)
        if self.path == "/slow":
            self.server.arrived.set()
            self.server.release.wait(10)
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.name)))
        self.end_headers()
        self.wfile.write(self.server.name.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def backend(name: str) -> Iterator[Backend]:
    with Backend(name) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.release.set()
            server.shutdown()
            thread.join()
