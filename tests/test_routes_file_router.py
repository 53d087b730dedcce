"""The routes file on a disk that is full, read-only or damaged, and between processes."""

import contextlib
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gordon_core.effects import Done, Fault, Refused
from gordon_core.observation import Bind, Port, Protocol
from gordon_shell.errors import RouterError
from gordon_shell.routes_file_router import RoutesFileRouter

BINDS = (Bind(Port(80), 32768), Bind(Port(53, Protocol.UDP), 32769))
WRITTEN = """\
{
  "routes": [
    {
      "app": "shop",
      "binds": [
        {
          "host_port": 32769,
          "port": 53,
          "protocol": "udp"
        },
        {
          "host_port": 32768,
          "port": 80,
          "protocol": "tcp"
        }
      ],
      "service": "web"
    }
  ],
  "version": 1
}
"""
BIND = '{"host_port": 1, "port": 1, "protocol": "tcp"}'


def one_row(row: str) -> str:
    return f'{{"version": 1, "routes": [{row}]}}'


def one_bind(bind: str) -> str:
    return one_row(f'{{"app": "a", "service": "b", "binds": [{bind}]}}')


DAMAGED = {
    "empty": ("", "Expecting value"),
    "cut off": (WRITTEN[:40], "Unterminated string"),
    "not text": ("\x00\x01", "Expecting value"),
    "not an object": ("[]", "$: expected an object with exactly version, routes"),
    "newer": ('{"version": 2, "routes": []}', "$.version: expected 1, found 2"),
    "version true": ('{"version": true, "routes": []}', "$.version: expected 1, found True"),
    "unknown key": ('{"version": 1, "routes": [], "extra": 1}', "$: expected an object with exactly version, routes"),
    "key twice": ('{"version": 1, "version": 1, "routes": []}', "a key stands twice among version, version, routes"),
    "no list": ('{"version": 1, "routes": {}}', "$.routes: expected a list"),
    "no name": (one_row('{"app": "", "service": "b", "binds": []}'), "$.routes[0].app: expected a name, found ''"),
    "service twice": (one_row(", ".join(['{"app": "a", "service": "b", "binds": []}'] * 2)), "$.routes[1]: a/b stands twice"),
    "port as text": (one_bind(BIND.replace('port": 1', 'port": "1"')), "$.routes[0].binds[0]: expected a port from 1 to 65535"),
    "port 0": (one_bind(BIND.replace('"host_port": 1', '"host_port": 0')), "$.routes[0].binds[0]: expected a port from 1 to"),
    "port too large": (one_bind(BIND.replace('"port": 1', '"port": 65536')), "$.routes[0].binds[0]: "),
    "unknown protocol": (one_bind(BIND.replace("tcp", "sctp")), "$.routes[0].binds[0]: 'sctp' is not a valid Protocol"),
    "deep": ("[" * 100_000, "recursion"),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "routes.json"


def refused(outcome: object) -> str:
    assert isinstance(outcome, Refused)
    assert Fault.ROUTER is outcome.fault
    return outcome.reason


def test_the_file_is_stable_bytes_readable_by_all(path: Path) -> None:
    RoutesFileRouter(path).publish("shop", "web", BINDS)
    assert WRITTEN == path.read_text()
    assert 0o644 == path.stat().st_mode & 0o777


def test_a_narrow_umask_does_not_hide_the_file_from_the_proxy(path: Path) -> None:
    before = os.umask(0o077)
    try:
        RoutesFileRouter(path).publish("shop", "web", BINDS)
    finally:
        os.umask(before)
    assert 0o644 == path.stat().st_mode & 0o777


def test_the_order_of_publications_does_not_show(path: Path) -> None:
    router = RoutesFileRouter(path)
    seen = []
    for names in (("a", "b"), ("b", "a")):
        for name in names:
            router.publish(name, "web", BINDS)
        seen.append(path.read_bytes())
        for name in names:
            router.withdraw(name, "web")
    assert seen[0] == seen[1]


def test_nothing_is_written_where_nothing_changes(path: Path) -> None:
    router = RoutesFileRouter(path)
    router.publish("shop", "web", BINDS)
    before = path.stat()
    router.publish("shop", "web", tuple(reversed(BINDS)))
    router.withdraw("nobody", "knows")
    assert (before.st_ino, before.st_mtime_ns) == (path.stat().st_ino, path.stat().st_mtime_ns)


def test_withdrawing_where_there_is_no_file_makes_none(tmp_path: Path) -> None:
    assert Done() == RoutesFileRouter(tmp_path / "none" / "routes.json").withdraw("shop", "web")
    assert [] == list(tmp_path.iterdir())


def test_a_reader_of_the_old_file_keeps_the_old_file(path: Path) -> None:
    """It is replaced, and never written into."""
    router = RoutesFileRouter(path)
    router.publish("shop", "web", BINDS)
    with path.open() as reader:
        router.withdraw("shop", "web")
        assert WRITTEN == reader.read()


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "routes.json")
    assert Done() == RoutesFileRouter(link).publish("shop", "web", BINDS)
    assert link.is_symlink()
    assert WRITTEN == (tmp_path / "routes.json").read_text()


def test_what_a_crash_left_beside_the_file_is_written_over(path: Path) -> None:
    path.with_name("routes.json.tmp").write_text("half of it" * 1000)
    assert Done() == RoutesFileRouter(path).publish("shop", "web", BINDS)
    assert path.read_text() == WRITTEN
    assert sorted(each.name for each in path.parent.iterdir()) == ["routes.json", "routes.json.lock"]


@pytest.mark.parametrize(("content", "words"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_named_and_never_written_over(path: Path, content: str, words: str) -> None:
    path.write_text(content)
    router = RoutesFileRouter(path)
    with pytest.raises(RouterError) as caught:
        router.read()
    assert str(caught.value).startswith(f"{path} is damaged (")
    assert words in str(caught.value)
    assert str(caught.value).endswith("remove it, and the next pass writes it anew")
    assert str(caught.value) == refused(router.publish("shop", "web", BINDS))
    assert str(caught.value) == refused(router.withdraw("shop", "web"))
    assert content == path.read_text()


def test_what_is_not_utf8_is_damaged(path: Path) -> None:
    path.write_bytes(b'{"version": 1, "routes": "\xff"}')
    with pytest.raises(RouterError, match="is damaged"):
        RoutesFileRouter(path).read()


def test_a_directory_in_its_place_is_named(path: Path) -> None:
    path.mkdir()
    with pytest.raises(RouterError, match=r"routes\.json cannot be read \(Is a directory\)"):
        RoutesFileRouter(path).read()
    assert "cannot be read (Is a directory)" in refused(RoutesFileRouter(path).publish("shop", "web", BINDS))


def test_a_file_where_its_directory_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    router = RoutesFileRouter(tmp_path / "file" / "routes.json")
    with pytest.raises(RouterError, match="Not a directory"):
        router.read()
    assert "Not a directory" in refused(router.publish("shop", "web", BINDS))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Give a file system of 64 KiB, which only root can mount."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill(place: Path) -> None:
    with (place / "ballast").open("wb", buffering=0) as ballast, contextlib.suppress(OSError):
        while True:
            ballast.write(bytes(4096))


def test_a_full_disk_refuses_and_loses_nothing(small_disk: Path) -> None:
    router = RoutesFileRouter(small_disk / "routes.json")
    assert Done() == router.publish("shop", "web", BINDS)
    fill(small_disk)
    assert "routes.json cannot be written (No space left on device)" in refused(router.publish("blog", "web", BINDS))
    assert "routes.json cannot be written (No space left on device)" in refused(router.withdraw("shop", "web"))
    assert WRITTEN == (small_disk / "routes.json").read_text()
    (small_disk / "ballast").unlink()
    assert Done() == router.withdraw("shop", "web")
    assert ["routes.json", "routes.json.lock"] == sorted(each.name for each in small_disk.iterdir())


def test_a_read_only_disk_refuses_what_would_change_it(small_disk: Path) -> None:
    router = RoutesFileRouter(small_disk / "routes.json")
    assert Done() == router.publish("shop", "web", BINDS)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert "cannot be written (Read-only file system)" in refused(router.withdraw("shop", "web"))
    assert (Done(), Done()) == (router.publish("shop", "web", BINDS), router.withdraw("nobody", "knows"))
    assert {("shop", "web"): BINDS[::-1]} == router.read().by_service


def test_whoever_holds_the_lock_for_too_long_is_told_of(path: Path) -> None:
    router = RoutesFileRouter(path, wait_s=0.1)
    with path.with_name("routes.json.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert f"another process has held {path}.lock for 0.1 s" in refused(router.publish("shop", "web", BINDS))
    assert Done() == router.publish("shop", "web", BINDS)


def test_processes_lose_nothing_of_each_other(path: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from gordon_core.observation import Bind, Port; from gordon_shell.routes_file_router import RoutesFileRouter\n"
        "router = RoutesFileRouter(Path(sys.argv[1]), wait_s=60)\n"
        "for each in range(20): print(router.publish(sys.argv[2], str(each), (Bind(Port(80), 40000 + each),)))\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    running = [subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True) for name in "abc"]
    said = [process.communicate(timeout=60)[0] for process in running]
    assert ["Done()\n" * 20] * 3 == said
    assert 60 == len(json.loads(path.read_text())["routes"])
