"""`gordon-plan explain`, `history`, `replay` and `report`: the commands with their options alone.

What they do is in `explain_verbs`, `replay_verbs` and `page_verbs`.
"""

from collections.abc import Callable
from pathlib import Path

import click

from gordon_shell import cli_common
from gordon_shell.acting import example

_FORM = click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Text, or JSON."
)
_LIVE = ("state", "policy", "haproxy", "routes")
_PATH = click.Path(path_type=Path)


def _of_journal(command: Callable[..., int]) -> Callable[..., int]:
    """Add what says where the journal is."""
    return cli_common.state_option(cli_common.policy_option(cli_common.history_option(command)))


@click.command(
    "explain",
    context_settings=cli_common.CONTEXT,
    epilog=example(
        "gordon-plan explain shop/web",
        "gordon-plan explain shop/web --all             each value that was read, and every row",
        "gordon-plan explain shop host.json             of a recorded snapshot",
    ),
)
@click.argument("target", metavar="APP[/SERVICE]")
@click.argument("document", required=False, type=click.Path(allow_dash=True))
@click.option("--all", "everything", is_flag=True, help="All values that were read, and the names of rows that ask for others.")
@_FORM
@cli_common.live_options
@cli_common.history_option
@cli_common.color_option
def explain(  # noqa: PLR0913 - one parameter for each option
    *,
    target: str,
    document: str | None,
    everything: bool,
    form: str,
    state: Path | None,
    policy: Path | None,
    haproxy: Path | None,
    routes: Path | None,
    history: Path | None,
    color: str,
) -> int:
    """Say why a service is where it is, what comes next and when, and how it came there.

    Now: the row of the law that holds, and each above it that does not, with the value that settled it. Next: what follows if all
    goes well. How it came here: what is remembered, and the last things on record in the journal.

    Without a DOCUMENT it is about the live host; beside one, a journal is read only if --history names it.
    """
    from gordon_shell import explain_verbs  # noqa: PLC0415 - not on the way to `--help`

    printed = explain_verbs.Form(form, everything, color)
    if document is not None:
        cli_common.refuse(_LIVE, "is for the live host, and a document was named; leave one of them out")
        return explain_verbs.explain_document(target, document, history, printed)
    cli_common.refuse_two_routers(haproxy, routes)
    from gordon_shell.wiring import LiveOptions  # noqa: PLC0415 - the ports, which no document needs

    return explain_verbs.explain_live(target, LiveOptions(state, policy, haproxy, routes, history), printed)


@click.command(
    "history",
    context_settings=cli_common.CONTEXT,
    epilog=example(
        "gordon-plan history shop/web",
        "gordon-plan history shop --since 2h30m",
        "gordon-plan history --since 2026-11-30T07:00:00Z --format json > night.json",
    ),
)
@click.argument("target", default="", metavar="[APP[/SERVICE]]")
@click.option("--since", metavar="TIME", help="A duration before now (90m, 2h30m), a time of day, or one with its zone.")
@_FORM
@_of_journal
def history(  # noqa: PLR0913 - one parameter for each option
    *, target: str, since: str | None, form: str, state: Path | None, policy: Path | None, history: Path | None
) -> int:
    """Tell what was decided and done, oldest first, with reasons and outcomes, and how executions ended.

    It is read from the journal. With --format json it is what `replay FILE` reads.
    """
    from gordon_shell import replay_verbs  # noqa: PLC0415 - not on the way to `--help`
    from gordon_shell.wiring import LiveOptions  # noqa: PLC0415 - likewise

    return replay_verbs.tell_history(target, since, LiveOptions(state, policy, history=history), form)


@click.command(
    "replay",
    context_settings=cli_common.CONTEXT,
    epilog=example(
        "gordon-plan replay                                  all of the journal",
        "gordon-plan replay night.json                       what history wrote",
        "gordon-plan replay --at 03:10 --of shop/web",
        "gordon-plan replay --at 03:10 --of shop/web --what-if unhealthy_threshold=3",
    ),
)
@click.argument("file", required=False, type=click.Path(allow_dash=True))
@click.option(
    "--at",
    metavar="TIME",
    help="Only the latest record at this time: a duration before now (2h30m), a time of day, or one with its zone.",
)
@click.option("--of", "target", default="", metavar="APP[/SERVICE]", help="Only records that hold this.")
@cli_common.what_if_option
@_FORM
@_of_journal
@cli_common.color_option
def replay(  # noqa: PLR0913 - one parameter for each option
    *,
    file: str | None,
    at: str | None,
    target: str,
    what_if: tuple[str, ...],
    form: str,
    state: Path | None,
    policy: Path | None,
    history: Path | None,
    color: str,
) -> int:
    """Decide recorded snapshots again, and report every difference; exit with 1 if there is one.

    With --at, the plan of that record is printed, and with --what-if the one that would follow if something were otherwise.
    """
    from gordon_shell import replay_verbs  # noqa: PLC0415 - not on the way to `--help`
    from gordon_shell.wiring import LiveOptions  # noqa: PLC0415 - likewise

    if file is not None:
        cli_common.refuse(("state", "policy", "history"), "is for the journal, and a file was named; leave one of them out")
    source = replay_verbs.Source(file, LiveOptions(state, policy, history=history), target)
    if at is not None:
        return replay_verbs.replay_at(source, at, what_if, form, color)
    if what_if:
        message = "--what-if is about one record; name its time with --at."
        raise click.UsageError(message, click.get_current_context())
    return replay_verbs.replay_all(source, form)


@click.command(
    "report",
    context_settings=cli_common.CONTEXT,
    epilog=example(
        "gordon-plan report -o night.html                     all services, the last 24 hours",
        "gordon-plan report shop/web --since 7d -o web.html",
        "gordon-plan report --document host.json --history copy.db -o host.html",
    ),
)
@click.argument("target", default="", metavar="[APP[/SERVICE]]")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Where to; - for standard output.",
)
@click.option(
    "--since",
    default="-24h",
    show_default=True,
    metavar="TIME",
    help="-DURATION (-90m, -7d), a time of day, or a time with its zone.",
)
@click.option("--document", metavar="FILE", help="Tell of the host as this document shows it, and not of the live one.")
@cli_common.live_options
@cli_common.history_option
def report(  # noqa: PLR0913 - one parameter for each option
    *,
    target: str,
    output: Path,
    since: str,
    document: str | None,
    state: Path | None,
    policy: Path | None,
    haproxy: Path | None,
    routes: Path | None,
    history: Path | None,
) -> int:
    """Write one HTML page about services: how each is, and how it came there, as a timeline and as a table.

    The page fetches nothing and runs no script. Only its owner can read it: last lines of output are in it.
    """
    from gordon_shell import page_verbs  # noqa: PLC0415 - not on the way to `--help`
    from gordon_shell.wiring import LiveOptions  # noqa: PLC0415 - likewise

    wanted = page_verbs.Wanted(target, since, output)
    if document is not None:
        cli_common.refuse(("haproxy", "routes"), "is for the live host, and a document was named; leave one of them out")
        return page_verbs.report_document(wanted, document, LiveOptions(state, policy, history=history))
    cli_common.refuse_two_routers(haproxy, routes)
    return page_verbs.report_live(wanted, LiveOptions(state, policy, haproxy, routes, history))


COMMANDS: dict[str, click.Command] = {"explain": explain, "history": history, "replay": replay, "report": report}
