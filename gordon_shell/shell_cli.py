"""`gordon-shell`: adopts containers, keeps them alive, and tells of them. Here stand the commands with their options alone.

What they do is in `verbs`, which is imported when a command runs: `--help` and shell completion answer at once.
"""

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec

import click

from gordon_shell import cli_common, deploy_cli
from gordon_shell.acting import a_number, example, over_a_session
from gordon_shell.tune_cli import doctor, hold, release, tune

if TYPE_CHECKING:
    from gordon_shell.session import Session
    from gordon_shell.verbs import Verbs
    from gordon_shell.wishes import Said

NAME = "gordon-shell"
_CADENCE_S = 15.0
_SHORTEST_S, _LONGEST_S = 0.1, 120.0
_WATCH_S = 2.0
_METRICS_AT = "127.0.0.1:9475"
_EPILOG = """\
A first session:

\b
  gordon-shell adopt --compose shop     what Docker Compose runs, as app shop
  gordon-plan                           what would be done, and why
  gordon-shell once                     one pass: verify and publish
  gordon-shell run                      passes for ever
  gordon-shell status                   where every service is
  gordon-shell deploy shop web shop:2   replace it by another image, without downtime

Exit codes: 0 well; 1 a service failed or is held (once), a deploy failed; 64 wrong usage; 65 a bad document or policy; 69 the
engine, the store or the proxy is out of reach; 70 a fault of ours; 75 busy: somebody else holds what this needs; 130 interrupted.
"""

P = ParamSpec("P")


def _acting(command: "Callable[Concatenate[Verbs, P], int]") -> Callable[..., int]:
    """Give a command its verbs."""

    @over_a_session
    @functools.wraps(command)
    def acting(session: "Session", /, *args: P.args, **kwargs: P.kwargs) -> int:
        from gordon_shell.verbs import Verbs  # noqa: PLC0415 - not on the way to `--help`

        return command(Verbs(session), *args, **kwargs)

    return acting


class _InOrder(click.Group):
    """Lists its commands in the order in which an operator meets them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which the commands stand here."""
        del ctx
        return list(self.commands)


@click.group(NAME, cls=_InOrder, context_settings=cli_common.CONTEXT, epilog=_EPILOG)
@cli_common.version_option
def cli() -> None:
    """Keep deployed containers alive, and never route to one that was not verified."""


@cli.command(
    short_help="Take containers into care.",
    epilog=example(
        "gordon-shell adopt shop web=web-1 db=3f2a91bc44d0 --unpublished db",
        "gordon-shell adopt shop web=web-2 --http web=8080/healthz    # web-1 is retired once web-2 serves",
        "gordon-shell adopt --compose shop --except migrate",
    ),
)
@click.argument("words", nargs=-1, metavar="[APP SERVICE=CONTAINER...]")
@click.option("--compose", metavar="PROJECT", help="Adopt every service of this project of Docker Compose.")
@click.option("--app", metavar="APP", help="With --compose: the name of the app, instead of the project's.")
@click.option("--except", "left_out", multiple=True, metavar="SERVICE", help="With --compose: leave this one out, a job say.")
@click.option("--unpublished", multiple=True, metavar="SERVICE", help="Keep it alive, and never route it: a database, the proxy.")
@click.option("--published", multiple=True, metavar="SERVICE", help="Route it, although it was unpublished before.")
@click.option("--http", multiple=True, metavar="SERVICE=[PORT]/PATH", help="Ready means also: GET of this answers 2xx or 3xx.")
@click.option("--grace", multiple=True, metavar="SERVICE=SECONDS", help="Its time to stop in, instead of the container's.")
@click.option("--keep-old", is_flag=True, help="Leave a container that is replaced as it is, instead of retiring it.")
@_acting
def adopt(  # noqa: PLR0913 - one parameter for each option
    verbs: "Verbs",
    *,
    words: tuple[str, ...],
    compose: str | None,
    app: str | None,
    left_out: tuple[str, ...],
    unpublished: tuple[str, ...],
    published: tuple[str, ...],
    http: tuple[str, ...],
    grace: tuple[str, ...],
    keep_old: bool,
) -> int:
    """Take containers into care: from now on each is kept alive as a service of an app.

    A CONTAINER is a name or (the start of) an ID. Its published ports, health check and grace are read from it. A container that
    takes the place of another makes that one superseded: it is removed once its successor was seen to serve.
    """
    said = _said(published, unpublished, http, grace)
    if compose is not None:
        if words:
            message = f"--compose PROJECT names the containers already; leave {words[0]!r} out, or name the app with --app."
            raise click.UsageError(message)
        return verbs.adopt_compose(compose, app or compose, said, left_out, keep_old=keep_old)
    if app is not None or left_out:
        message = "--app and --except are for --compose PROJECT; add that, or leave them out."
        raise click.UsageError(message)
    if len(words) < 2:  # noqa: PLR2004 - the app, and one service at least
        message = "Name an app and what to adopt: gordon-shell adopt APP SERVICE=CONTAINER, or --compose PROJECT."
        raise click.UsageError(message)
    return verbs.adopt(words[0], words[1:], said, keep_old=keep_old)


cli.add_command(deploy_cli.deploy)
cli.add_command(deploy_cli.rollback)


def _said(published: tuple[str, ...], unpublished: tuple[str, ...], http: tuple[str, ...], grace: tuple[str, ...]) -> "Said":
    from gordon_shell.wishes import Said  # noqa: PLC0415 - not on the way to `--help`

    return Said(published, unpublished, http, grace)


@cli.command(epilog=example("gordon-shell once"))
@_acting
def once(verbs: "Verbs") -> int:
    """Run one pass over the host, and wait for all that it does.

    Memory is durable, so a timer that calls this is as good as `run`. Exits with 1, and a line for each, if a service failed or
    is held.
    """
    return verbs.once()


@cli.command(
    short_help="Run passes until told to end.",
    epilog=example("gordon-shell run", "gordon-shell run --cadence 5 --metrics --log-format json"),
)
@click.option(
    "--cadence",
    "cadence_s",
    callback=a_number,
    type=click.FloatRange(_SHORTEST_S, _LONGEST_S),
    default=_CADENCE_S,
    show_default=True,
    metavar="SECONDS",
    help="From the start of one pass to that of the next.",
)
@click.option("--rearm", is_flag=True, help="Drop the waits that an earlier process left; failures are kept.")
@click.option(
    "--metrics",
    is_flag=False,
    flag_value=_METRICS_AT,
    metavar="[ADDRESS]",
    help=f"Show metrics to Prometheus: at {_METRICS_AT}, at another PORT of loopback, or at IP:PORT.",
)
@click.option(
    "--log-format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Lines, or JSON lines."
)
@_acting
def run(verbs: "Verbs", *, cadence_s: float, rearm: bool, metrics: str | None, form: str) -> int:
    """Run passes until SIGTERM or SIGINT, and print what changes.

    There is one `run` for a state; `once` beside it is safe.
    """
    return verbs.run(cadence_s, rearm=rearm, metrics=metrics, form=form)


@cli.command(
    short_help="Tell where every service is.",
    epilog=example("gordon-shell status", "gordon-shell status shop --format json", "gordon-shell status --watch"),
)
@click.argument("app", default="", metavar="[APP]")
@click.option(
    "--watch",
    "every_s",
    is_flag=False,
    flag_value=_WATCH_S,
    callback=a_number,
    type=click.FloatRange(_SHORTEST_S, _LONGEST_S),
    metavar="[SECONDS]",
    help=f"Look again every {_WATCH_S:g} seconds, or as often as said, until q or Ctrl-C.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Text, or JSON.")
@click.option(
    "--detailed-exitcode", "detailed", is_flag=True, help="Exit with 3 if a service is held, else 2 if one is to be acted on."
)
@_acting
def status(verbs: "Verbs", *, app: str, every_s: float | None, form: str, detailed: bool) -> int:
    """Tell where every service is, and the one command that would help. It only reads.

    With --watch, a terminal shows it in place, in columns that fit; elsewhere it is printed again and again, with --format json
    one document a line.
    """
    if every_s is None:
        return verbs.status(app, form, detailed=detailed)
    if detailed:
        message = "--detailed-exitcode is about one look, and --watch has many; leave one of them out."
        raise click.UsageError(message)
    return verbs.watch(app, form, every_s)


@cli.command(epilog=example("gordon-shell stop shop --now"))
@click.argument("app")
@click.option("--now", is_flag=True, help="Run a pass at once, instead of leaving it to the next one.")
@_acting
def stop(verbs: "Verbs", *, app: str, now: bool) -> int:
    """Have an app withdrawn and stopped; its containers stay."""
    return verbs.stop(app, now=now)


@cli.command(epilog=example("gordon-shell start shop --now"))
@click.argument("app")
@click.option("--now", is_flag=True, help="Run a pass at once, instead of leaving it to the next one.")
@_acting
def start(verbs: "Verbs", *, app: str, now: bool) -> int:
    """Have an app run: the contrary of stop."""
    return verbs.start(app, now=now)


@cli.command(
    short_help="Withdraw a service, and never start it.",
    epilog=example('gordon-shell inhibit shop/web --reason "corrupts its data"'),
)
@click.argument("service", metavar="APP/SERVICE")
@click.option("--reason", default="", metavar="TEXT", help="Why, for whoever reads the plan.")
@_acting
def inhibit(verbs: "Verbs", *, service: str, reason: str) -> int:
    """Withdraw a service, and never start this container of it again."""
    return verbs.inhibit(service, reason)


@cli.command(epilog=example("gordon-shell allow shop/web"))
@click.argument("service", metavar="APP/SERVICE")
@_acting
def allow(verbs: "Verbs", *, service: str) -> int:
    """End the inhibition of a service."""
    return verbs.allow(service)


@cli.command(short_help="Forget what failed, and try at once.", epilog=example("gordon-shell retry shop/web"))
@click.argument("target", metavar="APP[/SERVICE]")
@_acting
def retry(verbs: "Verbs", *, target: str) -> int:
    """Forget what failed, so that the next pass tries at once; what was verified stays."""
    return verbs.retry(target)


cli.add_command(hold)
cli.add_command(release)
cli.add_command(tune)


@cli.command(short_help="Have a superseded container removed.", epilog=example("gordon-shell retire shop/web web-0 --grace 60"))
@click.argument("service", metavar="APP/SERVICE")
@click.argument("container")
@click.option(
    "--grace",
    "grace_s",
    callback=a_number,
    type=click.FloatRange(0, 86400),
    metavar="SECONDS",
    help="Its time to stop in, instead of its own.",
)
@_acting
def retire(verbs: "Verbs", *, service: str, container: str, grace_s: float | None) -> int:
    """Have a container removed that the one in care supersedes, once that serves."""
    return verbs.retire(service, container, grace_s)


@cli.command(
    short_help="Withdraw a service, prove it, and forget it.",
    epilog=example("gordon-shell forget shop/web", "gordon-shell forget shop"),
)
@click.argument("target", metavar="APP[/SERVICE]")
@_acting
def forget(verbs: "Verbs", *, target: str) -> int:
    """Withdraw a service, prove that, and forget it; its containers are left alone."""
    return verbs.forget(target)


cli.add_command(doctor)


@cli.command("test-notices", short_help="Try how notices are delivered.", epilog=example("gordon-shell test-notices"))
@_acting
def test_notices(verbs: "Verbs") -> int:
    """Send a notice that tells of nothing by the command and the webhook of the host policy, and say what became of it.

    Exits with 1 if one of them did not take it.
    """
    return verbs.test_notices()


@cli.command(
    "haproxy-config",
    short_help="Print what HAProxy's configuration needs.",
    epilog=example("gordon-shell haproxy-config > /etc/haproxy/gordon.cfg"),
)
@_acting
def haproxy_config(verbs: "Verbs") -> int:
    """Print the part of HAProxy's configuration that the adopted services need."""
    return verbs.haproxy_config()


@cli.command("export", epilog=example("gordon-shell export --output state.json"))
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Instead of standard output.")
@_acting
def export_state(verbs: "Verbs", *, output: Path | None) -> int:
    """Write the whole state as one JSON document."""
    return verbs.export(output)


@cli.command(
    "import",
    short_help="Take in what export wrote.",
    epilog=example("gordon-shell import state.json --state /var/lib/gordon/new.db"),
)
@click.argument("file", type=click.Path(allow_dash=True))
@_acting
def import_state(verbs: "Verbs", *, file: str) -> int:
    """Take such a document (- for standard input) into a state that is empty, or made for it."""
    return verbs.import_(file)


def main() -> None:
    """Run `gordon-shell` and end the process."""
    sys.exit(cli_common.run(cli, NAME))


if __name__ == "__main__":
    main()
