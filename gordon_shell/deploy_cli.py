"""`gordon-shell deploy` and `gordon-shell rollback`: the commands with their options alone; what they do is in `deploy_verbs`."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypedDict, TypeVar, Unpack

import click

from gordon_shell import cli_common
from gordon_shell.acting import a_number, example, over_a_session

if TYPE_CHECKING:
    from gordon_shell.deploy_verbs import DeployVerbs, Manner
    from gordon_shell.session import Session

DEADLINE_S = 900.0
LOCK_WAIT_S = 30.0
_LONGEST_S = 86400.0
_MODES = ("auto", "health", "http", "tcp", "delay")
_DASHED = "gordon_shell.dashed"

P = ParamSpec("P")
C = TypeVar("C", bound=Callable[..., object])


class Options(TypedDict):
    """The options that say what a container is to be made of, as they were written; None or (): not given."""

    env: tuple[str, ...]
    env_file: tuple[Path, ...]
    unset_env: tuple[str, ...]
    port: tuple[str, ...]
    mount: tuple[str, ...]
    network: tuple[str, ...]
    device: tuple[str, ...]
    label: tuple[str, ...]
    user: str | None
    memory: str | None
    health_cmd: str | None
    health_interval_s: float | None
    health_timeout_s: float | None
    health_start_period_s: float | None
    health_retries: int | None
    no_health: bool
    ready: str | None
    http: str | None
    ready_timeout_s: float | None
    delay_s: float | None
    forgive_s: float | None
    grace_s: float | None
    published: bool | None
    downtime: bool | None


class Handling(TypedDict):
    """The options that say how to go about it."""

    timeout_s: float
    lock_wait_s: float
    dry_run: bool
    color: str


def _acting(command: "Callable[Concatenate[DeployVerbs, P], int]") -> Callable[..., int]:
    """Give a command its verbs."""

    @over_a_session
    @functools.wraps(command)
    def acting(session: "Session", /, *args: P.args, **kwargs: P.kwargs) -> int:
        from gordon_shell.deploy_verbs import DeployVerbs  # noqa: PLC0415 - not on the way to `--help`

        return command(DeployVerbs(session), *args, **kwargs)

    return acting


def _seconds(name: str, text: str, *, default: float | None = None) -> Callable[[C], C]:
    """Return an option for a number of seconds."""
    return click.option(
        f"--{name}",
        f"{name.replace('-', '_')}_s",
        callback=a_number,
        type=click.FloatRange(0, _LONGEST_S),
        metavar="SECONDS",
        default=default,
        show_default=default is not None,
        help=text,
    )


def _several(*names: str, metavar: str, text: str) -> Callable[[C], C]:
    """Return an option that may be given several times."""
    return click.option(*names, multiple=True, metavar=metavar, help=text)


def _together(*options: Callable[[C], C]) -> Callable[[C], C]:
    """Return a decorator that adds options, to be listed in this order."""

    def add(function: C) -> C:
        for option in reversed(options):
            function = option(function)
        return function

    return add


_SECRETS = _together(
    _several(
        "-e",
        "--env",
        metavar="NAME[=VALUE]",
        text="An environment variable. Without =VALUE it is taken from the environment of this command, so that a secret stands "
        "neither in the history of a shell nor in the list of processes.",
    ),
    click.option(
        "--env-file",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Environment variables, NAME[=VALUE] a line; --env outweighs it.",
    ),
)
_CONTENTS = _together(
    _several("--unset-env", metavar="NAME", text="Leave out a variable that the present container has."),
    _several("-p", "--port", metavar="[HOSTPORT:]PORT[/udp]", text="A port, at any host port on loopback or at this one."),
    _several(
        "--mount",
        metavar="SOURCE:TARGET[:ro][:exclusive]",
        text="A host path or a volume; exclusive: never by two containers at once, which costs a downtime.",
    ),
    _several("--network", metavar="NAME", text="A network; the container is created in the first."),
    _several("--device", metavar="PATH[:PATH[:rwm]]", text="A device of the host."),
    _several("--label", metavar="NAME[=VALUE]", text="A label."),
    click.option("--user", metavar="USER[:GROUP]", help='Who it runs as; "" for whom the image says.'),
    click.option("--memory", metavar="SIZE", help="Its memory limit, such as 512m or 2g; none for no limit."),
)
_HEALTH = _together(
    click.option("--health-cmd", metavar="COMMAND", help="Its health check, a line for the shell in the container."),
    _seconds("health-interval", "Between two of its health checks."),
    _seconds("health-timeout", "After which one of them has failed."),
    _seconds("health-start-period", "During which a failed one does not count."),
    click.option("--health-retries", type=click.IntRange(1, 100), metavar="N", help="So many failures in a row are unhealthy."),
    click.option("--no-health", is_flag=True, help="No health check, not even that of the image."),
)
_READINESS = _together(
    click.option(
        "--ready",
        type=click.Choice(_MODES),
        help="What it must have to be told ready by: auto takes whatever there is of a health check, an HTTP path and TCP ports, "
        "else a delay.",
    ),
    click.option(
        "--http", metavar="[PORT]/PATH", help="Ready means also: GET of this answers 2xx or 3xx; none for no such path."
    ),
    _seconds("ready-timeout", "How long its ports and its HTTP path may take to answer."),
    _seconds("delay", "How long it has to run where nothing else tells that it is ready."),
    _seconds("forgive", "A fall out of running is forgiven if it runs again within this."),
    _seconds("grace", "Its time to stop in."),
    click.option("--published/--unpublished", default=None, help="Route it, or never: a database, a worker, the proxy itself."),
    click.option("--downtime/--no-downtime", default=None, help="Two of it must not run at once: the old one stops first."),
)
_HANDLING = _together(
    _seconds("timeout", "How long the whole deploy may take until it is switched.", default=DEADLINE_S),
    _seconds("lock-wait", "How long to wait for another deploy of the app.", default=LOCK_WAIT_S),
    click.option("--dry-run", is_flag=True, help="Print every step, and what follows where one fails. Nothing is done."),
    cli_common.color_option,
)


class _Discreet(click.Command):
    """Notes whether a command for the container was set off by --, and repeats no word that it has no place for.

    Such a word may be the NAME=VALUE of somebody who forgot -e.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does."""
        ctx.meta[_DASHED] = "--" in args
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if "=" not in error.message:
                raise
        message = "There is a word too many, with = in it; put -e before each NAME=VALUE."
        raise click.UsageError(message, ctx)


@click.command(
    "deploy",
    cls=_Discreet,
    short_help="Replace a service without downtime.",
    epilog=example(
        "gordon-shell deploy shop web registry.example/shop:2 --dry-run",
        "gordon-shell deploy shop web registry.example/shop:2 -e MODE=live -e PASSWORD",
        "gordon-shell deploy shop web shop:1 -p 8080 --http /healthz --memory 512m",
        "gordon-shell deploy shop db postgres:17 --mount data:/var/lib/postgresql/data:exclusive --unpublished",
        "gordon-shell deploy shop worker shop:2 -- python -m shop.worker",
    ),
)
@click.argument("app")
@click.argument("service")
@click.argument("image")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@_SECRETS
@_CONTENTS
@_HEALTH
@_READINESS
@click.option("--fresh", is_flag=True, help="From the image and these options alone, whatever the present container has.")
@_HANDLING
@_acting
def deploy(  # noqa: PLR0913 - what is handed on one by one
    verbs: "DeployVerbs",
    *,
    app: str,
    service: str,
    image: str,
    command: tuple[str, ...],
    fresh: bool,
    timeout_s: float,
    lock_wait_s: float,
    dry_run: bool,
    color: str,
    **options: Unpack[Options],
) -> int:
    """Replace the container of a service by one of IMAGE: started beside it, verified, switched to; then the old one goes.

    What is not given stays as it is with the present container. Variables are added by name; of ports, mounts, networks, devices
    and labels, those that are given are all that there are (none: there are none). A deploy that fails leaves what served before
    serving, and says why. No value of an environment variable is ever printed or stored.
    """
    if command and not click.get_current_context().meta[_DASHED]:
        message = "There are words after IMAGE; put -- before the command of the container, or leave them out."
        raise click.UsageError(message)
    manner = _manner(timeout_s=timeout_s, lock_wait_s=lock_wait_s, dry_run=dry_run, color=color)
    return verbs.deploy(app, service, image, command, options, fresh=fresh, manner=manner)


@click.command(
    "rollback",
    cls=_Discreet,
    short_help="Go back to what a service was before.",
    epilog=example("gordon-shell rollback shop web --dry-run", "gordon-shell rollback shop web --to 3 -e PASSWORD"),
)
@click.argument("app")
@click.argument("service")
@click.option(
    "--to", "revision", type=click.IntRange(1), metavar="REVISION", help="The revision to go back to, instead of the last one."
)
@_SECRETS
@_HANDLING
@_acting
def rollback(  # noqa: PLR0913 - what is handed on one by one
    verbs: "DeployVerbs",
    *,
    app: str,
    service: str,
    revision: int | None,
    env: tuple[str, ...],
    env_file: tuple[Path, ...],
    **handling: Unpack[Handling],
) -> int:
    """Deploy again what a service was made of before: the same image, by its ID, and its options.

    Values of environment variables are not stored: they are those of the present container, and those given here.
    """
    return verbs.rollback(app, service, revision, env, env_file, manner=_manner(**handling))


def _manner(**handling: Unpack[Handling]) -> "Manner":
    from gordon_shell.deploy_verbs import Manner  # noqa: PLC0415 - not on the way to `--help`

    return Manner(**handling)
