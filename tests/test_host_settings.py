"""How this program works on a host: tables of the host policy's file, as strict as it."""

from pathlib import Path

import pytest

from gordon_core.noted import NoticeKind
from gordon_shell.errors import DocumentError, UsageError
from gordon_shell.host_policy import read_policy
from gordon_shell.host_settings import (
    METRICS_AT,
    Address,
    HostSettings,
    JournalSettings,
    MetricsSettings,
    NoticeSettings,
    read_address,
    read_settings,
)
from gordon_shell.shell_cli import _METRICS_AT


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "policy.toml"


def faults(file: Path, text: str) -> list[str]:
    file.write_text(text)
    with pytest.raises(DocumentError) as caught:
        read_settings(file)
    lines = str(caught.value).split("\n")
    assert all(each.startswith(f"{file}: ") for each in lines)
    return [each.removeprefix(f"{file}: ") for each in lines]


def test_the_address_that_the_command_line_names_is_that_of_the_settings() -> None:
    assert str(METRICS_AT) == _METRICS_AT
    assert None is MetricsSettings().listen


def test_without_a_file_or_a_table_all_is_as_by_default(file: Path) -> None:
    assert HostSettings(JournalSettings(days=30, megabytes=256)) == read_settings(None)
    file.write_text("[recovery]\nfree_failures = 4\n")
    assert HostSettings() == read_settings(file)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("days = 7.5\nmegabytes = 64", JournalSettings(7.5, 64)),
        ("days = 0", JournalSettings(0, 256)),
        ("megabytes = 1", JournalSettings(30, 1)),
    ],
)
def test_the_journal_is_as_the_file_says(file: Path, text: str, expected: JournalSettings) -> None:
    file.write_text(f"[journal]\n{text}\n")
    assert expected == read_settings(file).journal
    assert () == read_policy(file).scopes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("journal = 1", "$.journal: must be a table, not a whole number"),
        ("journal.hours = 1", "$.journal.hours: is not known; known here: days, megabytes"),
        ("journal.days = true", "$.journal.days: must be a number, not a boolean"),
        ("journal.days = '7'", "$.journal.days: must be a number, not a string"),
        ("journal.days = -1", "$.journal.days: must be from 0 to 3650"),
        ("journal.days = nan", "$.journal.days: must be from 0 to 3650"),
        ("journal.megabytes = 0", "$.journal.megabytes: must be from 1 to 1000000"),
        ("journal.megabytes = 1.5", "$.journal.megabytes: must be a whole number, not a number"),
        ("journal.megabytes = 1e9", "$.journal.megabytes: must be a whole number, not a number"),
    ],
)
def test_a_fault_is_named_with_its_place(file: Path, text: str, expected: str) -> None:
    assert [expected] == faults(file, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", NoticeSettings()),
        ('command = ["/opt/page", "--urgent", ""]', NoticeSettings(("/opt/page", "--urgent", ""))),
        ('webhook = "https://hooks.example:8443/x?y=1"', NoticeSettings(webhook="https://hooks.example:8443/x?y=1")),
        (
            'kinds = ["gone", "recovered"]\ntimeout_s = 5',
            NoticeSettings(kinds=(NoticeKind.GONE, NoticeKind.RECOVERED), timeout_s=5),
        ),
    ],
)
def test_notices_are_as_the_file_says(file: Path, text: str, expected: NoticeSettings) -> None:
    file.write_text(f"[notices]\n{text}\n")
    assert expected == read_settings(file).notices
    assert bool(expected.command or expected.webhook) == expected.are_on
    assert "hooks.example" not in repr(read_settings(file))
    assert () == read_policy(file).scopes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("notices = []", "$.notices: must be a table, not an array"),
        ("notices.hook = 1", "$.notices.hook: is not known; known here: command, webhook, kinds, timeout_s"),
        ("notices.command = '/opt/page'", "$.notices.command: must be an array, not a string"),
        (
            "notices.command = []",
            '$.notices.command: must name a program, and then its arguments: ["/usr/local/bin/page", "--urgent"]',
        ),
        ("notices.command = ['page']", "$.notices.command[0]: must be the absolute path of a program, not 'page'"),
        ("notices.command = ['/opt/page', 7]", "$.notices.command[1]: must be a text without a zero byte, not a whole number"),
        ("notices.webhook = 7", "$.notices.webhook: must be a text, not a whole number"),
        *(
            (
                f"notices.webhook = '{each}'",
                "$.notices.webhook: must be an address like https://hooks.example/gordon, without a user name in it",
            )
            for each in (
                "hooks.example",
                "ftp://x/y",
                "https://",
                "https://me:pw@x/",
                "https://x:y/",
                "https://x/a b",
                "http://x:0/",
            )
        ),
        (
            "notices.kinds = ['test']",
            "$.notices.kinds[0]: must be one of crashed, looping, top_step, gone, inhibited, stuck, recovered, not 'test'",
        ),
        ("notices.kinds = []", "$.notices.kinds: must name one kind at least; leave it out to be told of all"),
        ("notices.timeout_s = 0", "$.notices.timeout_s: must be from 1 to 600"),
        ("metrics.port = 1", "$.metrics.port: is not known; known here: listen"),
        ("metrics.listen = 9475", "$.metrics.listen: must be a text like '127.0.0.1:9475', not a whole number"),
        (
            "metrics.listen = ':9475'",
            "$.metrics.listen: must be a port, or an IP address and a port, like 127.0.0.1:9475; not ':9475'",
        ),
    ],
)
def test_a_fault_of_notices_or_metrics_is_named_with_its_place(file: Path, text: str, expected: str) -> None:
    assert [expected] == faults(file, text)


@pytest.mark.parametrize(
    ("text", "expected", "printed"),
    [
        ("9475", Address("127.0.0.1", 9475), "127.0.0.1:9475"),
        ("127.0.0.1:1", Address("127.0.0.1", 1), "127.0.0.1:1"),
        ("[::1]:65535", Address("::1", 65535), "[::1]:65535"),
        ("0.0.0.0:9475", Address("0.0.0.0", 9475), "0.0.0.0:9475"),  # noqa: S104 - said in full
    ],
)
def test_an_address_is_read_and_printed(file: Path, text: str, expected: Address, printed: str) -> None:
    assert expected == read_address(text)
    assert printed == str(expected)
    file.write_text(f"[metrics]\nlisten = '{text}'\n")
    assert expected == read_settings(file).metrics.listen


@pytest.mark.parametrize(
    "text",
    ["", ":", ":9475", "localhost:9475", "0", "65536", "127.0.0.1", "127.0.0.1:", "::1:9475", "[127.0.0.1]:1", "1.2.3:4", "²"],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="must be a port, or an IP address and a port"):
        read_address(text)


def test_all_faults_are_named_at_once(file: Path) -> None:
    assert 3 == len(faults(file, "journal = {days = 'x', megabytes = 'y', luck = 7}"))


def test_what_is_no_policy_is_said_as_for_a_policy(file: Path, tmp_path: Path) -> None:
    assert faults(file, "[journal")[0].startswith("not TOML: ")
    with pytest.raises(UsageError, match="cannot be read"):
        read_settings(tmp_path)
