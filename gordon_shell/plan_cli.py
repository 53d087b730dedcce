"""`gordon-plan`: what would be done, and why. It only reads.

The core and the ports are imported where they are used: `--help` needs neither, and a document no port.
"""

import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gordon_shell import cli_common
from gordon_shell.errors import EX_BLOCKED, EX_OK, EX_WOULD_ACT, EngineError, RouterError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gordon_core.planner import Plan
    from gordon_core.snapshot import Snapshot
    from gordon_shell.counts_text import Mark

NAME = "gordon-plan"
_LIVE = ("record", "state", "policy", "haproxy", "routes")
_RARELY = 50_000  # objects made since the last look; importing the core makes some 30,000
_EPILOG = """\
Examples:

\b
  gordon-plan                                  the live host
  gordon-plan --app shop --forecast            one app, and the whole road
  gordon-plan host.json                        a recorded snapshot
  gordon-plan --now +300 host.json             the same, five minutes later
  gordon-plan --record host.json               record one, for a bug report
  gordon-plan --format json - < host.json      as a document

Before each service stands > if something would be done, ~ if it waits, ! if it is held, and = if it is as desired.

With --format json, a plan is one gordon-plan document. --forecast puts an array of plans, in order of time, where a plan stood;
several documents put an array around all that, one element each, in the order in which they were named.

Exit codes: 0 well; 64 wrong usage; 65 a bad document; 69 the engine, the store or the proxy is out of reach; 70 a fault of ours.
With --detailed-exitcode also 2 and 3. What could not be reached is told after the plan of the rest, and outweighs both.
"""


@click.command(NAME, context_settings=cli_common.CONTEXT, epilog=_EPILOG)
@click.argument("documents", nargs=-1, type=click.Path(allow_dash=True), metavar="[DOCUMENT]...")
@click.option("--app", "apps", multiple=True, metavar="APP", help="Only this app; may be given several times.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Text, or JSON.")
@click.option("--forecast", is_flag=True, help="The whole road if all goes well, and not only the next steps.")
@click.option(
    "--detailed-exitcode",
    "is_detailed",
    is_flag=True,
    help="Exit with 2 if something would be done, and with 3 (which wins) if a service is blocked, inhibited or otherwise held.",
)
@click.option("--now", metavar="TIME", help="Plan the documents at a later time: RFC 3339, or +SECONDS after each one's own.")
@click.option("--record", type=click.Path(path_type=Path), metavar="FILE", help="Write the live snapshot as a document.")
@cli_common.live_options
@cli_common.color_option
@cli_common.version_option
def plan(  # noqa: PLR0913 - one parameter for each option
    *,
    documents: tuple[str, ...],
    apps: tuple[str, ...],
    form: str,
    forecast: bool,
    is_detailed: bool,
    now: str | None,
    record: Path | None,
    state: Path | None,
    policy: Path | None,
    haproxy: Path | None,
    routes: Path | None,
    color: str,
) -> int:
    """Print what would be done to every service, and why.

    A DOCUMENT is a recorded snapshot, - is standard input; without one it is the live host. Nothing is ever done.
    """
    if documents:
        cli_common.refuse(_LIVE, "is for the live host, and documents were named; leave one of them out")
        snapshots = _recorded(documents, now)
    else:
        cli_common.refuse(("now",), "is for documents, and none was named; name one, or leave it out")
        cli_common.refuse_two_routers(haproxy, routes)
        snapshots = (_live(state, policy, haproxy, routes, record),)
    shown = _shown(snapshots, apps)
    roads = tuple(_forecast(snapshot, each) for snapshot, each in zip(snapshots, shown, strict=True)) if forecast else ()
    if form == "json":
        cli_common.write(_documents(shown, roads))
    else:
        cli_common.write(_text(snapshots, shown, roads, documents, color))
    if not documents:
        _demand_answers(snapshots[0])
    return _exit_code(shown) if is_detailed else EX_OK


def _recorded(documents: tuple[str, ...], now: str | None) -> "tuple[Snapshot, ...]":
    from gordon_shell.inputs import read_snapshots  # noqa: PLC0415 - not on the way to `--help`

    if now is None:
        return read_snapshots(documents)
    from gordon_shell.later import later, moment  # noqa: PLC0415 - likewise

    when = moment(now)
    return tuple(later(each, when, name) for each, name in zip(read_snapshots(documents), documents, strict=True))


def _live(state: Path | None, policy: Path | None, haproxy: Path | None, routes: Path | None, record: Path | None) -> "Snapshot":
    from gordon_shell.wiring import LiveOptions, live_snapshot  # noqa: PLC0415 - the ports, which no document needs

    snapshot = live_snapshot(LiveOptions(state=state, policy=policy, haproxy=haproxy, routes=routes))
    if record is not None:
        from gordon_core.document import write_snapshot  # noqa: PLC0415 - for this option alone

        _save(record, write_snapshot(snapshot))
    return snapshot


def _save(path: Path, text: str) -> None:
    """Write a recording: what it says of the host is its owner's business first."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(text.encode())
    except OSError as error:
        message = f"{path}: the snapshot cannot be written ({error.strerror}); name another file after --record"
        raise UsageError(message) from None


def _shown(snapshots: "tuple[Snapshot, ...]", apps: tuple[str, ...]) -> "tuple[Plan, ...]":
    """Return the plan of each snapshot, of these apps only, if any are named; others still count in what is decided."""
    from gordon_core.planner import plan as planned  # noqa: PLC0415 - not on the way to `--help`

    known = sorted({each.app for snapshot in snapshots for each in snapshot.subjects})
    for app in apps:
        if app not in known:
            message = (
                f"there is no app {app!r}; name one of: {', '.join(known)}"
                if known
                else f"there is no app {app!r}, nor any other"
            )
            raise UsageError(message)
    return tuple(_of(planned(each), apps) for each in snapshots)


def _of(whole: "Plan", apps: tuple[str, ...]) -> "Plan":
    from gordon_core.planner import Plan  # noqa: PLC0415 - likewise

    if not apps:
        return whole
    services, old = ([each for each in some if each.subject.app in apps] for some in (whole.services, whole.superseded))
    return Plan(whole.clock, tuple(services), tuple(old))


def _forecast(snapshot: "Snapshot", shown: "Plan") -> "tuple[Plan, ...]":
    from gordon_core.forecast import forecast  # noqa: PLC0415 - likewise
    from gordon_shell.road_text import around  # noqa: PLC0415 - likewise

    apps = tuple(each.subject.app for each in shown.services)
    return tuple(_of(each, apps) for each in forecast(around(snapshot, shown.services)))


def _documents(shown: "tuple[Plan, ...]", roads: "tuple[tuple[Plan, ...], ...]") -> str:
    from textwrap import indent  # noqa: PLC0415 - for this form alone

    from gordon_core.document import write_plan  # noqa: PLC0415 - likewise
    from gordon_core.sentences import record  # noqa: PLC0415 - likewise

    def array(texts: list[str]) -> str:
        return "[\n" + ",\n".join(indent(each.rstrip("\n"), "  ") for each in texts) + "\n]\n"

    def document(each: "Plan") -> str:
        return write_plan(record(each))

    texts = [array([document(each) for each in road]) for road in roads] or [document(each) for each in shown]
    return texts[0] if len(texts) == 1 else array(texts)


def _text(
    snapshots: "tuple[Snapshot, ...]",
    shown: "tuple[Plan, ...]",
    roads: "tuple[tuple[Plan, ...], ...]",
    documents: tuple[str, ...],
    color: str,
) -> str:
    from gordon_shell.text import plain, text  # noqa: PLC0415 - not on the way to `--help`

    paint = painter() if cli_common.is_coloured(color, os.environ) else plain
    titles = documents if len(snapshots) > 1 else ("",)
    later = roads or ((),) * len(snapshots)
    each = zip(snapshots, shown, titles, later, strict=True)
    return "\n".join(text(snapshot, one, title=title, road=road, paint=paint) for snapshot, one, title, road in each)


def painter() -> "Callable[[str, Mark], str]":
    """Return what colours words by the mark that stands before them."""
    from gordon_shell.counts_text import Mark  # noqa: PLC0415 - likewise

    colours = {Mark.ACTS: "yellow", Mark.HELD: "red", Mark.WAITS: "cyan", Mark.WELL: "green"}

    def paint(words: str, mark: "Mark") -> str:
        return click.style(words, fg=colours[mark])

    return paint


def _exit_code(shown: "tuple[Plan, ...]") -> int:
    if any(each.is_held for one in shown for each in one.decisions):
        return EX_BLOCKED
    return EX_OK if all(each.is_quiet for each in shown) else EX_WOULD_ACT


def _demand_answers(snapshot: "Snapshot") -> None:
    """Raise EngineError or RouterError where one was out of reach: the plan was printed, but is not about the host as it is."""
    from gordon_core.observation import RouteUnread, Unread  # noqa: PLC0415 - likewise

    looks = [each.seen for each in snapshot.subjects if each.declared is not None]
    unread = [each.reason for each in looks if isinstance(each, Unread)]
    if unread and len(unread) == len(looks):
        message = f"no container could be read: {unread[0]}"
        raise EngineError(message)
    for route in (each.route for each in snapshot.subjects):
        if isinstance(route, RouteUnread):
            message = f"the router could not be read: {route.reason}"
            raise RouterError(message)


def main() -> None:
    """Run `gordon-plan` and end the process."""
    # A plan is soon made: looking for garbage on the way there, and again at the end, would be a sixth of the time that it takes.
    gc.set_threshold(_RARELY)
    code = cli_common.run(plan, NAME)
    gc.freeze()
    sys.exit(code)


if __name__ == "__main__":
    main()
