"""What the commands share: exit codes, errors in one sentence, colour, output as bytes, and the options of the live host.

Nothing of the core and nothing of the world is imported here: `--help` and shell completion answer at once.
"""

import contextlib
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, TypeVar

import click
from click.core import ParameterSource

from gordon_shell.errors import EX_OK, EX_SOFTWARE, EX_UNAVAILABLE, EX_USAGE, DocumentError, GordonError

EX_INTERRUPTED = 130
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
STATE_VARIABLE = "GORDON_STATE"
DISTRIBUTION = "gordon-recovery"
_LINE_ENDS = re.compile(r"\s*[\r\n]\s*")
C = TypeVar("C", bound=Callable[..., object])


class OutputError(GordonError):
    """Standard output cannot be written."""

    exit_code = EX_UNAVAILABLE

    def __init__(self, why: str | None = None) -> None:
        """Keep the system's words."""
        super().__init__(f"standard output cannot be written ({why or 'it is closed'}); write it to another place")


def run(command: click.Command, name: str, arguments: Sequence[str] | None = None, obj: object = None) -> int:
    """Run a command whose callback returns its exit code, and return the code that the process is to end with.

    Whatever goes wrong is told in one sentence on standard error. Only what no family of errors covers is a fault of ours; its
    traceback is printed under GORDON_DEBUG=1 alone. `obj` is handed to the callbacks as click's context object.
    """
    try:
        result = command.main(arguments, prog_name=name, standalone_mode=False, obj=obj)
    except click.ClickException as error:
        return _usage(error)
    except click.Abort:
        return EX_INTERRUPTED
    except GordonError as error:
        return _told(name, error)
    except OSError as error:
        return _unwritten(name, error)
    except Exception as error:  # noqa: BLE001 - the last boundary: a fault of ours is told in one sentence, never as a traceback
        return _fault_of_ours(name, error)
    return result if isinstance(result, int) else EX_OK


def _usage(error: click.ClickException) -> int:
    error.show()
    return EX_USAGE


def _told(name: str, error: GordonError) -> int:
    """Print the error; one about a document begins with its file, and not with the command."""
    complain(str(error) if isinstance(error, DocumentError) else f"{name}: {error}")
    return error.exit_code


def _unwritten(name: str, error: OSError) -> int:
    """Tell that click could not print what it prints itself (help); any other such error should have been translated."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or not str(last.tb_frame.f_globals.get("__name__")).startswith("click."):
        return _fault_of_ours(name, error)
    return _told(name, OutputError(error.strerror))


def _fault_of_ours(name: str, error: Exception) -> int:
    if os.environ.get("GORDON_DEBUG") == "1":
        import traceback  # noqa: PLC0415 - only where it is asked for

        complain("".join(traceback.format_exception(error)).rstrip())
    said = printable(f"{type(error).__name__}: {error}")
    complain(f"{name}: a fault of ours: {said}; please report it with what the same command prints under GORDON_DEBUG=1")
    return EX_SOFTWARE


def printable(text: str) -> str:
    """Return text in one line that cannot steer a terminal: line ends become spaces, other controls their escapes."""
    from gordon_core.printing import escaped  # noqa: PLC0415 - not on the way to `--help`

    return escaped(_LINE_ENDS.sub(" ", text))


def complain(text: str) -> None:
    """Print diagnostics on standard error, where there is one, line by line."""
    data = "".join(f"{printable(line)}\n" for line in text.split("\n")).encode()
    if sys.stderr is None:
        return
    # Where nobody reads what goes wrong, the exit code still tells it.
    with contextlib.suppress(OSError):
        _write_all(sys.stderr.buffer, data)


def write(text: str) -> bool:
    """Write text to standard output: the same bytes whatever the terminal, the locale and the environment are.

    Raise OutputError where that cannot be; a reader that went away is no error. Return whether it is still there.
    """
    if sys.stdout is None:
        raise OutputError
    stream = sys.stdout.buffer
    try:
        _write_all(stream, text.encode())
    except BrokenPipeError:
        _discard(stream)
        return False
    except OSError as error:
        _discard(stream)
        raise OutputError(error.strerror) from None
    return True


def _write_all(stream: BinaryIO, data: bytes) -> None:
    """Write all of it: under PYTHONUNBUFFERED the stream is a bare file, which may take only a part at a time."""
    left = memoryview(data)
    while left:
        left = left[stream.write(left) or 0 :]
    stream.flush()


def _discard(stream: BinaryIO) -> None:
    """Send what is still buffered nowhere, so that the interpreter does not fail over it at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def is_coloured(choice: str, environment: Mapping[str, str]) -> bool:
    """Say whether to colour: `always`, `never`, or `auto`: on a terminal that is not dumb, unless NO_COLOR is set.

    A flag given by hand outweighs the environment.
    """
    if choice != "auto":
        return choice == "always"
    plain = bool(environment.get("NO_COLOR")) or environment.get("TERM") == "dumb"
    return not plain and sys.stdout is not None and sys.stdout.isatty()


def _print_version(context: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click calls it so
    if not value or context.resilient_parsing:
        return
    from importlib import metadata  # noqa: PLC0415 - slow, and for this option alone

    try:
        version = metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        version = "of an unknown version (not installed)"
    write(f"{context.find_root().info_name} {version}\n")
    context.exit()


def version_option(function: C) -> C:
    """Add --version."""
    return click.option(
        "--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help="Print the version and exit."
    )(function)


def color_option(function: C) -> C:
    """Add --color; `is_coloured` says what its value means."""
    choices = click.Choice(["auto", "always", "never"])
    help_text = "Colour the output: on a terminal only (auto; heeds NO_COLOR and TERM=dumb), always or never."
    return click.option("--color", type=choices, default="auto", show_default=True, help=help_text)(function)


def state_option(function: C) -> C:
    """Add what says where the state is: `state`, Path or None."""
    return click.option(
        "--state",
        type=click.Path(path_type=Path),
        metavar="FILE",
        envvar=STATE_VARIABLE,
        help=f"The state database (${STATE_VARIABLE}, or the standard place).",
    )(function)


def policy_option(function: C) -> C:
    """Add what says where the host policy is: `policy`, Path or None."""
    help_text = "The host policy ($GORDON_POLICY, or the standard place)."
    return click.option("--policy", type=click.Path(path_type=Path), metavar="FILE", help=help_text)(function)


def live_options(function: C) -> C:
    """Add what says where the live host's state, policy and router are: `state`, `policy`, `haproxy`, `routes`, Path or None."""
    path = click.Path(path_type=Path)
    options = (
        state_option,
        policy_option,
        click.option(
            "--haproxy", type=path, metavar="SOCKET", help="Route through the HAProxy with this runtime socket ($GORDON_HAPROXY)."
        ),
        click.option(
            "--routes", type=path, metavar="FILE", help="Route through this routes file, the default router ($GORDON_ROUTES)."
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def what_if_option(function: C) -> C:
    """Add what is supposed: `what_if`, a tuple of KEY=VALUE."""
    help_text = "Suppose a constant of recovery (unhealthy_threshold=3) or a fact (shop/web:memory.failures=0); repeatable."
    return click.option("--what-if", multiple=True, metavar="KEY=VALUE", help=help_text)(function)


def history_option(function: C) -> C:
    """Add what says where the journal is: `history`, Path or None."""
    help_text = "The journal ($GORDON_HISTORY, or beside the state)."
    return click.option("--history", type=click.Path(path_type=Path), metavar="FILE", help=help_text)(function)


def refuse(parameters: Sequence[str], why: str) -> None:
    """Raise a usage error for the first of these parameters of the present command that was given on its command line."""
    context = click.get_current_context()
    for each in context.command.params:
        if each.name in parameters and context.get_parameter_source(each.name) is ParameterSource.COMMANDLINE:
            message = f"{each.opts[0]} {why}."
            raise click.UsageError(message, context)


def refuse_two_routers(haproxy: Path | None, routes: Path | None) -> None:
    """Raise a usage error where both options that name a router were given."""
    if haproxy is not None and routes is not None:
        message = "--haproxy and --routes name two routers, and there is one; leave one of them out."
        raise click.UsageError(message, click.get_current_context())
