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
from gordon_shell.errors import EX_BLOCKED, EX_OK, EX_WOULD_ACT, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.shell_completion import CompletionItem

    from gordon_core.planner import Plan
    from gordon_core.snapshot import Snapshot
    from gordon_shell.counts_text import Mark

NAME = "gordon-plan"
_LIVE = ("record", "state", "policy", "haproxy", "routes")
COMMANDS = {
    "explain": "Say why a service is as it is, and what comes next.",
    "history": "Tell what was decided and done, and what came of it.",
    "replay": "Decide what is on record again, and report differences.",
    "report": "Write a page about services, with their timelines.",
}
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
  gordon-plan --what-if free_failures=5        what would be done if that were so
  gordon-plan explain shop/web                 why, what next, and how it came there
  gordon-plan report -o night.html             the same of all, to look at in a browser

Before each service stands > if something would be done, ~ if it waits, ! if it is held, and = if it is as desired.

With --format json, a plan is one gordon-plan document. --forecast puts an array of plans, in order of time, where a plan stood;
several documents put an array around all that, one element each, in the order in which they were named.

Exit codes: 0 well; 64 wrong usage; 65 a bad document; 69 the engine, the store or the proxy is out of reach; 70 a fault of ours.
With --detailed-exitcode also 2 and 3. What could not be reached is told after the plan of the rest, and outweighs both.
"""


class _Plans(click.Group):
    """Plans what its words name; unless the first of them names another command, which is imported then, and not before."""

    allow_interspersed_args = True

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the other commands."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one of the other commands."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        from gordon_shell import explain_cli  # noqa: PLC0415 - not on the way to a plan, nor to `--help`

        return explain_cli.COMMANDS[cmd_name]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Leave everything to the command that the first word names, or take all of it as of a plan."""
        if args[:1] and args[0] in COMMANDS:
            ctx.args = args
            return args
        return click.Command.parse_args(self, ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command that was named, or plan."""
        if not ctx.args:
            return click.Command.invoke(self, ctx)
        name, command, args = self.resolve_command(ctx, ctx.args)
        assert command is not None  # noqa: S101 - its name was seen before it was left to it
        # Its usage has nothing to do with the arguments of a plan, so it is not told of them.
        with command.make_context(f"{ctx.info_name} {name}", args, obj=ctx.obj) as context:
            return command.invoke(context)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the other commands, without importing them."""
        del ctx
        with formatter.section("Commands (a document of such a name is given as ./NAME)"):
            formatter.write_dl(list(COMMANDS.items()))

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return what can be typed."""
        return [*click.Command.collect_usage_pieces(self, ctx), "|", "COMMAND [ARGS]..."]


def _first_word(context: click.Context, _parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Complete documents, and before any is named the commands too."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - for completion alone

    names = [] if context.params.get("documents") else [each for each in COMMANDS if each.startswith(incomplete)]
    return [*map(CompletionItem, names), CompletionItem(incomplete, type="file")]


@click.command(NAME, cls=_Plans, invoke_without_command=True, context_settings=cli_common.CONTEXT, epilog=_EPILOG)
@click.argument("documents", nargs=-1, type=click.Path(allow_dash=True), metavar="[DOCUMENT]...", shell_complete=_first_word)
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
@cli_common.what_if_option
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
    what_if: tuple[str, ...],
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
        found = _recorded(documents, now)
    else:
        cli_common.refuse(("now",), "is for documents, and none was named; name one, or leave it out")
        cli_common.refuse_two_routers(haproxy, routes)
        found = (_live(state, policy, haproxy, routes, record),)
    snapshots = found
    if what_if:
        from gordon_shell.what_if import supposed_of_all  # noqa: PLC0415 - for this option alone

        snapshots = supposed_of_all(found, what_if, apps, documents or ("the live host",))
    shown = _shown(snapshots, apps)
    roads = tuple(_forecast(snapshot, each) for snapshot, each in zip(snapshots, shown, strict=True)) if forecast else ()
    if form == "json":
        from gordon_shell.plan_documents import documents as written  # noqa: PLC0415 - for this form alone

        cli_common.write(written(shown, roads))
    else:
        cli_common.write(_text(snapshots, shown, roads, _titles(documents, what_if), color))
    if not documents:
        _demand_answers(found[0])
    return _exit_code(shown) if is_detailed else EX_OK


def _recorded(documents: tuple[str, ...], now: str | None) -> "tuple[Snapshot, ...]":
    from gordon_shell.inputs import read_snapshots  # noqa: PLC0415 - not on the way to `--help`

    if now is None:
        return read_snapshots(documents)
    from gordon_shell.later import later, moment  # noqa: PLC0415 - likewise

    when = moment(now)
    return tuple(later(each, when, name) for each, name in zip(read_snapshots(documents), documents, strict=True))


def _live(state: Path | None, policy: Path | None, haproxy: Path | None, routes: Path | None, record: Path | None) -> "Snapshot":
    from gordon_shell.live_plan import looked_at  # noqa: PLC0415 - the ports, which no document needs
    from gordon_shell.wiring import LiveOptions  # noqa: PLC0415 - likewise

    return looked_at(LiveOptions(state=state, policy=policy, haproxy=haproxy, routes=routes), record)


def _demand_answers(snapshot: "Snapshot") -> None:
    from gordon_shell.live_plan import demand_answers  # noqa: PLC0415 - likewise

    demand_answers(snapshot)


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


def _titles(documents: tuple[str, ...], what_if: tuple[str, ...]) -> tuple[str, ...]:
    """Return what stands above each plan: its document, where there are several, and what is supposed."""
    names = documents if len(documents) > 1 else ("",)
    return tuple(f"{each or 'This host'}, with {', '.join(what_if)}" for each in names) if what_if else names


def _text(
    snapshots: "tuple[Snapshot, ...]",
    shown: "tuple[Plan, ...]",
    roads: "tuple[tuple[Plan, ...], ...]",
    titles: tuple[str, ...],
    color: str,
) -> str:
    from gordon_shell.text import plain, text  # noqa: PLC0415 - not on the way to `--help`

    paint = painter() if cli_common.is_coloured(color, os.environ) else plain
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


def main() -> None:
    """Run `gordon-plan` and end the process."""
    # A plan is soon made: looking for garbage on the way there, and again at the end, would be a sixth of the time that it takes.
    gc.set_threshold(_RARELY)
    code = cli_common.run(plan, NAME)
    gc.freeze()
    sys.exit(code)


if __name__ == "__main__":
    main()
