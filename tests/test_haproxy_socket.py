"""HAProxy's silence, and answers that are none. Nothing here needs a HAProxy."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gordon_core.effects import Refused, Unknown
from gordon_core.observation import Bind, Port
from gordon_shell.errors import RouterError
from gordon_shell.haproxy_router import HaproxyRouter
from tests.haproxy import short_directory

HTTP = Port(80)
BINDS = (Bind(HTTP, 32768),)
WRONG = Bind(HTTP, 0)


def test_without_a_proxy_nothing_is_known(tmp_path: Path) -> None:
    router = HaproxyRouter(str(tmp_path / "none.sock"))
    for read in (router.read, lambda: router.sessions("shop", "web")):
        with pytest.raises(RouterError, match=r"cannot be reached at .*none.sock \(No such file or directory\); start it"):
            read()
    for outcome in (router.publish("shop", "web", BINDS), router.withdraw("shop", "web")):
        assert isinstance(outcome, Unknown)
        assert "cannot be reached" in outcome.reason


def test_a_path_too_long_for_a_socket_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(RouterError, match="AF_UNIX path too long"):
        HaproxyRouter(str(tmp_path / ("x" * 200))).read()


@contextlib.contextmanager
def speaker(answer: Callable[[str], bytes]) -> Iterator[str]:
    """Listen as HAProxy would, one command a connection."""
    over = threading.Event()
    with short_directory() as directory, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(directory / "s"))
        listener.listen()
        listener.settimeout(0.02)

        def speak() -> None:
            while not over.is_set():
                with contextlib.suppress(TimeoutError), listener.accept()[0] as connection:
                    connection.sendall(answer(connection.recv(1000).decode().strip()))

        thread = threading.Thread(target=speak)
        thread.start()
        try:
            yield str(directory / "s")
        finally:
            over.set()
            thread.join(60)


def always(reply: bytes) -> Callable[[str], bytes]:
    return lambda _command: reply


HEAD = b"1\n# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_port\n"


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (b"", "hung up in the middle of its answer"),
        (HEAD + b"1 gordon:a:b:80 1 gen1 127.0.0.1 2 4 1 8000\n", "hung up in the middle of its answer"),
        (b"2\n# something else\n\n", "is it HAProxy 2.6 or later"),
        (b"Permission denied\n\n", "is it HAProxy 2.6 or later"),
        (HEAD.replace(b" srv_uweight", b"") + b"\n", "is it HAProxy 2.6 or later"),
        (HEAD + b"1 gordon:a:b:80 1 gen1 127.0.0.1 2 x 1 8000\n\n", "is it HAProxy 2.6 or later"),
        (HEAD + b"1 gordon:a:b:80\n\n", "is it HAProxy 2.6 or later"),
    ],
)
def test_half_an_answer_or_a_strange_one_is_no_answer(reply: bytes, words: str) -> None:
    """Otherwise a route that is missing from it would pass for withdrawn."""
    with speaker(always(reply)) as path, pytest.raises(RouterError, match=words):
        HaproxyRouter(path).read()
    with speaker(always(reply)) as path:
        outcome = HaproxyRouter(path).withdraw("a", "b")
    assert isinstance(outcome, Unknown)
    assert words in outcome.reason


@pytest.mark.parametrize("reply", [b"Permission denied\n\n", b"# pxname,svname,scur\ngordon:a:b:80,gen1,many\n\n"])
def test_a_strange_answer_about_sessions_is_no_answer(reply: bytes) -> None:
    with speaker(always(reply)) as path, pytest.raises(RouterError, match="when asked for its sessions"):
        HaproxyRouter(path).sessions("a", "b")


@pytest.mark.parametrize("admin", [2, 4, 8, 16, 32, 64])
def test_only_forced_maintenance_that_has_taken_effect_is_no_route(admin: int) -> None:
    """The other bits: inherited, from the configuration, drains, and names without an address. None is ours to rely on."""
    rows = f"1 gordon:a:b:80 1 gen1 127.0.0.1 0 {admin} 1 8000\n1 gordon:a:b:80 2 gen2 127.0.0.1 0 1 1 8001\n"
    with speaker(always(HEAD + rows.encode() + b"\n")) as path:
        assert {("a", "b"): (WRONG, Bind(HTTP, 8000))} == HaproxyRouter(path).read().by_service
    with speaker(always(HEAD + b"1 gordon:a:b:80 1 gen1 127.0.0.1 2 1 1 8000\n\n")) as path:
        assert {("a", "b"): (WRONG, Bind(HTTP, 8000))} == HaproxyRouter(path).read().by_service


@pytest.mark.parametrize(
    ("operational", "admin", "never"),
    [(0, 5, "state ready"), (2, 4, "addr ")],
    ids=["an address that did not change is never made ready", "a slot that stays ready never gets another address"],
)
def test_a_step_that_was_not_read_back_is_not_followed_by_the_next(operational: int, admin: int, never: str) -> None:
    """A proxy to which nothing happens: the address that the idle slot still has may be another container's by now."""
    rows = "".join(f"1 gordon:a:b:80 {n} gen{n} 127.0.0.1 {operational} {admin} 1 {8000 + n}\n" for n in (1, 2))
    said: list[str] = []

    def answer(command: str) -> bytes:
        said.append(command)
        return HEAD + rows.encode() + b"\n" if command.startswith("show") else b"No.\n\n"

    with speaker(answer) as path:
        outcome = HaproxyRouter(path).publish("a", "b", BINDS)
    assert isinstance(outcome, Refused)
    assert "HAProxy said: No." in outcome.reason
    assert [command for command in said if never in command] == []
    assert any(command.startswith("set server gordon:a:b:80/gen1 ") for command in said)
