"""What every command of `gordon-shell` is made of: its verbs over the world, an example in its help, seconds that are numbers.

Nothing of the core is imported before a command runs: `--help` and shell completion answer at once.
"""

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec

import click

from gordon_shell import cli_common

if TYPE_CHECKING:
    from gordon_shell.session import Session

P = ParamSpec("P")


def example(*lines: str) -> str:
    """Return the end of a command's help: how it is typed."""
    listed = "\n".join(f"  {each}" for each in lines)
    return f"\b\nExample{'s' if len(lines) > 1 else ''}:\n{listed}"


def over_a_session(command: "Callable[Concatenate[Session, P], int]") -> Callable[..., int]:
    """Give a command the world that its options name, or that click's context object is."""

    @cli_common.live_options
    @cli_common.history_option
    @click.pass_context
    @functools.wraps(command)
    def acting(  # noqa: PLR0913, PLR0917 - one parameter for each option
        context: click.Context,
        /,
        state: Path | None,
        policy: Path | None,
        haproxy: Path | None,
        routes: Path | None,
        history: Path | None,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> int:
        from gordon_shell.session import Session, World  # noqa: PLC0415 - not on the way to `--help`
        from gordon_shell.wiring import LiveOptions  # noqa: PLC0415 - likewise

        world = context.obj if isinstance(context.obj, World) else World()
        options = LiveOptions(state, policy, haproxy, routes, history)
        return command(Session(options, world), *args, **kwargs)

    return acting


def a_number(_context: click.Context, _parameter: click.Parameter, value: float | None) -> float | None:
    """Refuse "nan", which is within any bounds."""
    if value is not None and math.isnan(value):
        message = "'nan' is not a number of seconds."
        raise click.BadParameter(message)
    return value
