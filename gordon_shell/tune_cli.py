"""`gordon-shell hold`, `release`, `tune` and `doctor`: the commands with their options alone; what they do is in `tune_verbs`."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Concatenate, ParamSpec

import click

from gordon_shell.acting import example, over_a_session

if TYPE_CHECKING:
    from gordon_shell.session import Session
    from gordon_shell.tune_verbs import TuneVerbs

P = ParamSpec("P")


def _acting(command: "Callable[Concatenate[TuneVerbs, P], int]") -> Callable[..., int]:
    @over_a_session
    @functools.wraps(command)
    def acting(session: "Session", /, *args: P.args, **kwargs: P.kwargs) -> int:
        from gordon_shell.tune_verbs import TuneVerbs  # noqa: PLC0415 - not on the way to `--help`

        return command(TuneVerbs(session), *args, **kwargs)

    return acting


@click.command(
    short_help="Have a service left as it is, until a time.",
    epilog=example(
        "gordon-shell hold shop/db --until 2h --reason migration",
        'gordon-shell hold shop --until 07:00 --reason "moving the volumes" --who alice',
    ),
)
@click.argument("target", metavar="APP[/SERVICE]")
@click.option("--until", required=True, metavar="TIME", help="A duration (90m, 2h30m), a time of day, or a time with its zone.")
@click.option("--reason", required=True, metavar="TEXT", help="Why, for whoever reads the plan.")
@click.option("--who", metavar="NAME", help="Whose wish it is, instead of your login name.")
@_acting
def hold(verbs: "TuneVerbs", *, target: str, until: str, reason: str, who: str | None) -> int:
    """Have a service, or all services of an app, left as they are until a time.

    Until then none is started, restarted, stopped or retired, and a deploy is refused. What is routed wrongly is withdrawn all
    the same, and what runs and was verified is published.
    """
    return verbs.hold(target, until, reason, who)


@click.command(short_help="End a hold.", epilog=example("gordon-shell release shop/db"))
@click.argument("target", metavar="APP[/SERVICE]")
@_acting
def release(verbs: "TuneVerbs", *, target: str) -> int:
    """End the hold of a service, or of all services of an app."""
    return verbs.release(target)


@click.command(
    short_help="Set constants of recovery for a service.",
    epilog=example(
        "gordon-shell tune shop/web",
        "gordon-shell tune shop/web free_failures=5 ladder_s=60,120",
        "gordon-shell tune shop/web --unset ladder_s",
    ),
)
@click.argument("service", metavar="APP/SERVICE")
@click.argument("words", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--unset", multiple=True, metavar="KEY", help="Leave this one to labels, the host policy and the default again.")
@_acting
def tune(verbs: "TuneVerbs", *, service: str, words: tuple[str, ...], unset: tuple[str, ...]) -> int:
    """Set constants of recovery for a service; they outweigh labels and the host policy. Then print all that hold."""
    return verbs.tune(service, words, unset)


@click.command(
    short_help="Check the host, and say what would put it right.",
    epilog=example("gordon-shell doctor", "gordon-shell doctor --format json"),
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Text, or JSON.")
@_acting
def doctor(verbs: "TuneVerbs", *, form: str) -> int:
    """Check the engine, the clock, the state, the proxy, the host policy and every container in care. It only reads.

    Exits with 1 if there is a warning or an error; what cannot be reached is one.
    """
    return verbs.doctor(form)
