"""How this program works on a host, beside what the policy allows: tables of the host policy's file, read as strictly.

[journal]
days = 30          # 0: no journal is written
megabytes = 256

[notices]          # by default nobody is told
command = ["/usr/local/bin/page", "--urgent"]
webhook = "https://hooks.example/gordon"
kinds = ["looping", "gone", "recovered"]    # all, unless this says which
timeout_s = 30

[metrics]          # by default there are none
listen = "127.0.0.1:9475"
"""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from attrs import define, field, frozen

from gordon_core.noted import NoticeKind
from gordon_shell.errors import DocumentError, UsageError
from gordon_shell.toml_reader import TomlReader, kind, read_toml

DAY_S: Final = 86400.0
_MOST_DAYS: Final = 3650
_LEAST_MEGABYTES, _MOST_MEGABYTES = 1, 1_000_000
_MOST_TIMEOUT_S: Final = 600
_LAST_PORT: Final = 65535


@frozen
class JournalSettings:
    """How long the journal keeps what it has, and how large it may grow (a megabyte is 1,000,000 bytes). 0 days: it is off."""

    days: float = 30.0
    megabytes: int = 256


KINDS: Final = tuple(each for each in NoticeKind if each is not NoticeKind.TEST)


@frozen
class NoticeSettings:
    """Who is told of services: a command with its arguments, a webhook, both or (by default) nobody; of what; for how long a try
    may take. The address of a webhook is a secret."""

    command: tuple[str, ...] = ()
    webhook: str = field(default="", repr=False)
    kinds: tuple[NoticeKind, ...] = KINDS
    timeout_s: float = 30.0

    @property
    def are_on(self) -> bool:
        """Return whether anybody is told."""
        return bool(self.command or self.webhook)


@frozen
class Address:
    """Where to listen: the IP address of an interface, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        """Print as it is written: 127.0.0.1:9475, [::1]:9475."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


METRICS_AT: Final = Address("127.0.0.1", 9475)


@frozen
class MetricsSettings:
    """Where metrics are shown; None: nowhere."""

    listen: Address | None = None


@frozen
class HostSettings:
    """All settings; what a file does not say is as here."""

    journal: JournalSettings = JournalSettings()
    notices: NoticeSettings = NoticeSettings()
    metrics: MetricsSettings = MetricsSettings()


def read_settings(path: Path | None) -> HostSettings:
    """Return what the host policy's file says of this program, the defaults where there is none.

    Raise UsageError if it cannot be read, and DocumentError, with one line for every fault of these tables.
    """
    if path is None:
        return HostSettings()
    document = read_toml(path)
    reader = _Reader(path)
    settings = HostSettings(
        reader.journal(document.get("journal", {})),
        reader.notices(document.get("notices", {})),
        reader.metrics(document.get("metrics", {})),
    )
    if reader.faults:
        raise DocumentError("\n".join(reader.faults))
    return settings


def read_address(text: str, named: str = "") -> Address:
    """Return where to listen: "9475" on loopback, "127.0.0.1:9475", "[::1]:9475", "0.0.0.0:9475" for everybody.

    Raise UsageError, which begins with what it is `named`. An address beyond loopback is never a default: it is said in full.
    """
    host, _, number = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    try:
        found = ip_address(bare) if host or ":" in text else IPv4Address(METRICS_AT.host)
        port = int(number) if number.isascii() and number.isdigit() else 0
    except ValueError:
        found, port = IPv4Address(0), 0
    is_bracketed = (host, bare) == (f"[{bare}]", bare)
    if not 1 <= port <= _LAST_PORT or (host and is_bracketed != isinstance(found, IPv6Address)):
        message = f"{named}must be a port, or an IP address and a port, like {METRICS_AT}; not {text!r}"
        raise UsageError(message)
    return Address(str(found), port)


@define
class _Reader(TomlReader):
    """Turns what TOML says into settings, and keeps every fault with its place."""

    def journal(self, value: object) -> JournalSettings:
        table, default = self.table(value, "$.journal", ("days", "megabytes")), JournalSettings()
        days = self.number(table, "$.journal", "days", default.days, (0, _MOST_DAYS))
        megabytes = self.whole(table, "$.journal", "megabytes", default.megabytes, (_LEAST_MEGABYTES, _MOST_MEGABYTES))
        return JournalSettings(days, megabytes)

    def notices(self, value: object) -> NoticeSettings:
        place, default = "$.notices", NoticeSettings()
        table = self.table(value, place, ("command", "webhook", "kinds", "timeout_s"))
        return NoticeSettings(
            self.command(table, place),
            self.webhook(table, place),
            self.kinds(table, place),
            self.number(table, place, "timeout_s", default.timeout_s, (1, _MOST_TIMEOUT_S)),
        )

    def command(self, table: Mapping[str, object], place: str) -> tuple[str, ...]:
        if "command" not in table:
            return ()
        place = f"{place}.command"
        words = self.array(table["command"], place)
        if table["command"] == []:
            self.wrong(place, 'must name a program, and then its arguments: ["/usr/local/bin/page", "--urgent"]')
        for index, (at, each) in enumerate(words):
            if not isinstance(each, str) or "\0" in each:
                self.wrong(at, f"must be a text without a zero byte, not {kind(each)}")
            elif index == 0 and not each.startswith("/"):
                self.wrong(at, f"must be the absolute path of a program, not {each!r}")
        return tuple(each for _, each in words if isinstance(each, str))

    def webhook(self, table: Mapping[str, object], place: str) -> str:
        value = table.get("webhook")
        if value is None:
            return ""
        if not isinstance(value, str):
            self.wrong(f"{place}.webhook", f"must be a text, not {kind(value)}")
            return ""
        if not _is_url(value):
            # Not shown: such an address is a secret.
            self.wrong(f"{place}.webhook", "must be an address like https://hooks.example/gordon, without a user name in it")
            return ""
        return value

    def kinds(self, table: Mapping[str, object], place: str) -> tuple[NoticeKind, ...]:
        if "kinds" not in table:
            return KINDS
        known: dict[object, NoticeKind] = {each.value: each for each in KINDS}
        found: list[NoticeKind] = []
        for at, each in self.array(table["kinds"], f"{place}.kinds"):
            if isinstance(each, str) and each in known:
                found.append(known[each])
            else:
                self.wrong(at, f"must be one of {', '.join(map(str, known))}, not {each!r}")
        if table["kinds"] == []:
            self.wrong(f"{place}.kinds", "must name one kind at least; leave it out to be told of all")
        return tuple(found)

    def metrics(self, value: object) -> MetricsSettings:
        table = self.table(value, "$.metrics", ("listen",))
        listen = table.get("listen")
        if listen is None:
            return MetricsSettings()
        if not isinstance(listen, str):
            self.wrong("$.metrics.listen", f"must be a text like {str(METRICS_AT)!r}, not {kind(listen)}")
            return MetricsSettings()
        try:
            return MetricsSettings(read_address(listen))
        except UsageError as error:
            self.wrong("$.metrics.listen", str(error))
            return MetricsSettings()

    def number(self, table: Mapping[str, object], place: str, key: str, default: float, bounds: tuple[int, int]) -> float:
        """Return a number within these bounds, the default where there is none."""
        value = table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.wrong(f"{place}.{key}", f"must be a number, not {kind(value)}")
        elif not bounds[0] <= value <= bounds[1]:
            self.wrong(f"{place}.{key}", f"must be from {bounds[0]} to {bounds[1]}")
        else:
            return float(value)
        return default

    def whole(self, table: Mapping[str, object], place: str, key: str, default: int, bounds: tuple[int, int]) -> int:
        """Return a whole number within these bounds, the default where there is none."""
        value = table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            self.wrong(f"{place}.{key}", f"must be a whole number, not {kind(value)}")
            return default
        return int(self.number(table, place, key, default, bounds))


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    is_plain = text.isascii() and text.isprintable() and " " not in text and "#" not in text
    return is_plain and parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc and port != 0
