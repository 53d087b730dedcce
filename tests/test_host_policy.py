"""The policy file: read strictly, all faults at once, and paths with their symbolic links resolved."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import asdict

from gordon_core.grants import Grants, HostPolicy, Overrides, PathGrant, ResolvedMount, Scope, Source
from gordon_core.policy import DEFAULT_POLICY, WhenUnhealthy
from gordon_core.tuning import in_words
from gordon_shell.errors import EX_DATAERR, EX_USAGE, DocumentError, UsageError
from gordon_shell.host_policy import SETTINGS, policy_path, read_policy, resolve, standard_places
from gordon_shell.ports import Mount

ROOT = Path(__file__).parent.parent
TOP = f"known here: {', '.join(('recovery', 'grants', 'apps', *SETTINGS))}"
RECOVERY = (
    "known here: free_failures, ladder_s, stable_window_s, longest_gap_s, unhealthy_threshold, readiness_s, shortest_deadline_s, "
    "exit_0_is_done, unhealthy"
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "policy.toml"


def faults(file: Path, text: str | bytes) -> list[str]:
    """Return what is wrong with this policy, without the name of the file, which each line must begin with."""
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(DocumentError) as caught:
        read_policy(file)
    assert caught.value.exit_code == EX_DATAERR
    lines = str(caught.value).splitlines()
    assert [f"{file}: "] * len(lines) == [line[: len(f"{file}: ")] for line in lines]
    return [line.removeprefix(f"{file}: ") for line in lines]


def test_the_example_of_the_manual_says_what_the_manual_says(file: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/policy.md").read_text(), re.DOTALL)
    file.write_text(example)
    assert read_policy(file) == HostPolicy(
        (
            Scope(grants=Grants((PathGrant("/srv/public"),)), recovery=Overrides(readiness_s=45.0)),
            Scope("lab", "vm", Grants(devices=("/dev/kvm",))),
            Scope("shop", "", Grants((PathGrant("/srv/shop", read_only=False),)), Overrides(ladder_s=(60.0, 120.0, 300.0))),
            Scope("shop", "web", recovery=Overrides(readiness_s=90.0, free_failures=5)),
        )
    )


def test_the_faults_of_the_manual_are_what_is_printed(file: Path) -> None:
    (printed,) = re.findall(r"```text\n(.*?)```", (ROOT / "docs/policy.md").read_text(), re.DOTALL)
    text = '[recovery]\nreadyness_s = 1\n[apps.shop.grants]\npaths = [{path = "/srv", read_only = "no"}]'
    assert [line.removeprefix("/etc/gordon/policy.toml: ") for line in printed.splitlines()] == faults(file, text)


def test_the_defaults_of_the_manual_are_the_defaults() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `?([^|`]+?)`? \|", (ROOT / "docs/policy.md").read_text(), re.MULTILINE)
    stated = [(name, value.strip("[]")) for name, value in rows]
    assert stated == [(name, in_words(value)) for name, value in asdict(DEFAULT_POLICY).items()]


def test_an_empty_file_is_a_policy_that_grants_nothing(file: Path) -> None:
    file.touch()
    assert read_policy(file) == HostPolicy()


def test_every_constant_is_read(file: Path) -> None:
    file.write_text(
        "[recovery]\nfree_failures = 1\nladder_s = [1, 2.5]\nstable_window_s = 3\nlongest_gap_s = 4\n"
        "unhealthy_threshold = 5\nreadiness_s = 0\nshortest_deadline_s = 31622400\n"
        'exit_0_is_done = false\nunhealthy = "withdraw"'
    )
    (scope,) = read_policy(file).scopes
    withdraw = WhenUnhealthy.WITHDRAW
    assert scope.recovery == Overrides(1, (1.0, 2.5), 3.0, 4.0, 5, 0.0, 31622400.0, exit_0_is_done=False, unhealthy=withdraw)


def test_a_granted_path_has_its_links_resolved(file: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "data").symlink_to(tmp_path / "disk")
    file.write_text(f'[grants]\npaths = [{{ path = "{tmp_path}/data/shop" }}]')
    (scope,) = read_policy(file).scopes
    assert scope.grants.paths == (PathGrant(os.path.realpath(tmp_path / "disk" / "shop")),)


BROKEN = [
    ("recovery = 1", "$.recovery: must be a table, not a whole number"),
    ("grants = []", "$.grants: must be a table, not an array"),
    ("apps = true", "$.apps: must be a table of names, not a boolean"),
    ('apps.shop = "x"', "$.apps.shop: must be a table, not a string"),
    ("apps.shop.services = 1.5", "$.apps.shop.services: must be a table of names, not a number"),
    ("apps.shop.services.web = 2026-01-01", "$.apps.shop.services.web: must be a table, not a date or time"),
    ('apps."" = {}', "$.apps: has an empty name; name the app or service"),
    ("version = 1", f"$.version: is not known; {TOP}"),
    ('"a b" = 1', f'$["a b"]: is not known; {TOP}'),
    ('apps."my.app".x = 1', '$.apps["my.app"].x: is not known; known here: recovery, grants, services'),
    ("apps.shop.services.web.services = {}", "$.apps.shop.services.web.services: is not known; known here: recovery, grants"),
    ("recovery.readiness = 30", f"$.recovery.readiness: is not known; {RECOVERY}"),
    ('recovery.readiness_s = "30s"', "$.recovery.readiness_s: must be a number of seconds, not a string"),
    ("recovery.readiness_s = true", "$.recovery.readiness_s: must be a number of seconds, not a boolean"),
    ("recovery.readiness_s = -1", "$.recovery.readiness_s: must be a number of seconds from 0 to 31622400"),
    ("recovery.readiness_s = nan", "$.recovery.readiness_s: must be a number of seconds from 0 to 31622400"),
    ("recovery.stable_window_s = 0", "$.recovery.stable_window_s: must be a number of seconds above 0 to 31622400"),
    ("recovery.longest_gap_s = inf", "$.recovery.longest_gap_s: must be a number of seconds above 0 to 31622400"),
    (
        f"recovery.shortest_deadline_s = 1{'0' * 400}",
        "$.recovery.shortest_deadline_s: must be a number of seconds above 0 to 31622400",
    ),
    ("recovery.free_failures = 0", "$.recovery.free_failures: must be from 1 to 1000000"),
    ("recovery.free_failures = 3.0", "$.recovery.free_failures: must be a whole number, not a number"),
    ('recovery.exit_0_is_done = "yes"', "$.recovery.exit_0_is_done: must be true or false, not a string"),
    ('recovery.unhealthy = "stop"', "$.recovery.unhealthy: must be 'restart' or 'withdraw', not 'stop'"),
    ("recovery.unhealthy = true", "$.recovery.unhealthy: must be 'restart' or 'withdraw', not a boolean"),
    ("recovery.unhealthy_threshold = true", "$.recovery.unhealthy_threshold: must be a whole number, not a boolean"),
    ("recovery.ladder_s = 60", "$.recovery.ladder_s: must be an array, not a whole number"),
    ("recovery.ladder_s = []", "$.recovery.ladder_s: must have at least one wait; write [60]"),
    ("recovery.ladder_s = [60, 0]", "$.recovery.ladder_s[1]: must be a number of seconds above 0 to 31622400"),
    ('grants.paths = "/srv"', "$.grants.paths: must be an array, not a string"),
    ('grants.paths = ["/srv"]', "$.grants.paths[0]: must be a table, not a string"),
    ("grants.paths = [{ read_only = true }]", "$.grants.paths[0]: needs a path"),
    ("grants.paths = [{ path = 1 }]", "$.grants.paths[0].path: must be a string, not a whole number"),
    (
        'grants.paths = [{ path = "srv" }]',
        "$.grants.paths[0].path: must be an absolute path without . and .. in it, not 'srv'",
    ),
    (
        'grants.paths = [{ path = "/srv/../etc" }]',
        "$.grants.paths[0].path: must be an absolute path without . and .. in it, not '/srv/../etc'",
    ),
    (
        'grants.devices = ["/dev/\\u0000"]',
        "$.grants.devices[0]: must be an absolute path without . and .. in it, not '/dev/\\x00'",
    ),
    ('grants.paths = [{ path = "/srv", ro = true }]', "$.grants.paths[0].ro: is not known; known here: path, read_only"),
    (
        'grants.paths = [{ path = "/srv", read_only = 1 }]',
        "$.grants.paths[0].read_only: must be true or false, not a whole number",
    ),
    ("grants.devices = [1]", "$.grants.devices[0]: must be a string, not a whole number"),
    ("grants = ", "not TOML: Invalid value (at end of document)"),
    ("a = 1\na = 2", "not TOML: Cannot overwrite a value (at end of document)"),
]


@pytest.mark.parametrize(("text", "fault"), BROKEN, ids=[text[:40] for text, _ in BROKEN])
def test_a_fault_is_named_with_its_place(file: Path, text: str, fault: str) -> None:
    assert faults(file, text) == [fault]


def test_all_faults_are_named_at_once(file: Path) -> None:
    whole_tables = [each for each in BROKEN if each[0].startswith(("recovery.ladder_s = [60", "grants.devices = [1]", "version"))]
    assert sorted(faults(file, "\n".join(text for text, _ in whole_tables))) == sorted(fault for _, fault in whole_tables)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"a = '\xff'", "not UTF-8 at byte 5; write it as a UTF-8 text"),
        (b"a = " + b"[" * 100_000, "nested too deeply; a policy needs at most six levels"),
        (b"#" * (1 << 20) + b"\n", "larger than 1 MiB; that is no policy"),
    ],
    ids=["bytes", "deep", "large"],
)
def test_what_is_no_text_of_a_policy_is_refused(file: Path, content: bytes, fault: str) -> None:
    assert faults(file, content) == [fault]


def test_the_named_file_is_the_policy(file: Path) -> None:
    file.touch()
    assert policy_path(file, ()) == file


def test_a_named_file_that_is_missing_is_an_error(file: Path) -> None:
    with pytest.raises(UsageError, match=r"policy\.toml: there is no such policy file; name one that exists") as caught:
        policy_path(file, ())
    assert caught.value.exit_code == EX_USAGE


def test_the_first_standard_file_that_exists_is_the_policy(tmp_path: Path) -> None:
    of_host, of_user = tmp_path / "host.toml", tmp_path / "user.toml"
    of_user.touch()
    assert policy_path(None, (of_host, of_user)) == of_user
    of_host.touch()
    assert policy_path(None, (of_host, of_user)) == of_host


def test_without_a_standard_file_there_is_no_policy(tmp_path: Path) -> None:
    (tmp_path / "no-directory").touch()
    assert policy_path(None, (tmp_path / "a.toml", tmp_path / "no-directory" / "b.toml")) is None


def test_the_policy_of_the_host_comes_first_for_everybody() -> None:
    assert standard_places()[0] == Path("/etc/gordon/policy.toml")


def test_a_standard_file_that_leads_nowhere_is_not_taken_for_absent(file: Path, tmp_path: Path) -> None:
    file.symlink_to(tmp_path / "gone")
    found = policy_path(None, (file,))
    assert found == file
    with pytest.raises(UsageError, match=r"cannot be read \(No such file or directory\)"):
        read_policy(found)


def test_a_directory_is_not_taken_for_a_policy(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot be read \(Is a directory\); make it a file"):
        read_policy(tmp_path)


def test_a_standard_place_that_cannot_be_looked_at_is_an_error(tmp_path: Path) -> None:
    """A name that the file system refuses stands for every answer but "there is none", also where the test runs as root."""
    with pytest.raises(UsageError, match=r"cannot be read \(File name too long\)"):
        policy_path(None, (tmp_path / ("x" * 300),))


def test_links_are_resolved_and_vanished_sources_marked(tmp_path: Path) -> None:
    here = Path(os.path.realpath(tmp_path))
    (here / "disk").mkdir()
    (here / "link").symlink_to("disk")
    (here / "dangling").symlink_to("gone")
    (here / "loop").symlink_to("loop")
    (here / "file").touch()
    names = ("disk", "link", "dangling", "loop", "file/x", "x" * 300)
    expected = (
        ResolvedMount(f"{here}/disk", f"{here}/disk", read_only=True),
        ResolvedMount(f"{here}/link", f"{here}/disk", read_only=True),
        ResolvedMount(f"{here}/dangling", f"{here}/gone", read_only=True, source=Source.VANISHED),
        ResolvedMount(f"{here}/loop", f"{here}/loop", read_only=True, source=Source.VANISHED),
        ResolvedMount(f"{here}/file/x", f"{here}/file/x", read_only=True, source=Source.VANISHED),
        ResolvedMount(f"{here}/{'x' * 300}", f"{here}/{'x' * 300}", read_only=True, source=Source.UNREAD),
    )
    assert resolve(tuple(Mount(f"{here}/{name}", read_only=True) for name in names)) == expected


def test_resolving_keeps_whether_it_may_write(tmp_path: Path) -> None:
    (mount,) = resolve((Mount(str(tmp_path), read_only=False),))
    assert not mount.read_only


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user to be refused")
def test_another_user_is_refused_and_not_told_that_there_is_no_policy(tmp_path: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path; import gordon_shell.host_policy as h; os.setgid(65534); os.setuid(65534)\n"
        "print([str(each) for each in h.standard_places()])\n"
        "try: h.policy_path(None, (Path(sys.argv[1]),))\n"
        "except h.UsageError as error: print(error)"
    )
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    command = [sys.executable, "-c", program, str(closed / "policy.toml")]
    environment = {"HOME": "/home/x", "PATH": os.environ["PATH"]}
    ran = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert ran.stdout.splitlines() == [
        "['/etc/gordon/policy.toml', '/home/x/.config/gordon/policy.toml']",
        f"{closed}/policy.toml: the policy cannot be read (Permission denied); make it a file that this user may read",
    ]
