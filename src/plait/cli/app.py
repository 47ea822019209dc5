"""The ``plait`` command's groups, whose commands are loaded when they are used."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from typing_extensions import override

from plait.cli.errors import OutputLost, ReaderGone, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["plait", "run"]


class LazyCommand(NamedTuple):
    """A command that is not loaded yet: the module that has it as ``command``, and its line in the help."""

    module: str
    summary: str

    def load(self) -> click.Command:
        """The command itself.

        Raises:
            Refused: An extra that it needs is not installed.
        """
        try:
            module = import_module(self.module)
        except ModuleNotFoundError:
            raise
        except ImportError as error:  # what a room raises to name its extra
            raise Refused(str(error)) from error
        command = module.command
        if not isinstance(command, click.Command):
            raise TypeError(f"{self.module}.command is a {type(command).__name__} and no command")
        return command


class LazyGroup(click.Group):
    """A group that lists its commands without loading them.

    Args:
        lazy: Its commands by name.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, LazyCommand], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lazy = lazy

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *self._lazy})

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        lazy = self._lazy.get(cmd_name)
        return super().get_command(ctx, cmd_name) if lazy is None else lazy.load()

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._summary(name)) for name in self.list_commands(ctx)])

    def _summary(self, name: str) -> str:
        lazy = self._lazy.get(name)
        return self.commands[name].get_short_help_str(80) if lazy is None else lazy.summary


def run(arguments: Sequence[str] | None = None) -> int | None:
    """Run the ``plait`` command; see ``plait.cli.main``.

    Returns:
        The exit code, ``None`` for 0.

    Raises:
        Refused: It was used wrongly.
        OutputLost: What it says of itself cannot be written.
        ReaderGone: Nobody reads that any more.
        KeyboardInterrupt: It was interrupted.
    """
    words = None if arguments is None else list(arguments)
    output = sys.stdout
    try:
        code: int | None = plait.main(args=words, prog_name="plait", standalone_mode=False)
    except click.Abort as error:
        raise KeyboardInterrupt from error
    except click.ClickException as error:
        raise Refused(_usage_line(error)) from error
    except SystemExit as error:
        if sys.stdout is output:
            raise
        raise ReaderGone from error  # click wraps the stream whose reader has gone, and would exit with 1
    except OSError as error:
        if not _is_of_echo(error):
            raise
        reason = error.strerror or type(error).__name__
        raise OutputLost(f"cannot write to standard output: {reason}; lead it to where it can be written") from error
    return code


def _usage_line(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    path = context.command_path if isinstance(context, click.Context) else "plait"
    return f"{error.format_message().rstrip('.')}; see {path} --help"


def _is_of_echo(error: OSError) -> bool:
    """Whether it was met while the command said something of itself, its help or its version."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code is not click.echo.__code__:
        trace = trace.tb_next
    return trace is not None


def _show_help(ctx: click.Context) -> None:
    """A group that was given no command says what it has."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    lazy={"star": LazyCommand("plait.cli.star", "Run and check Starlark scripts.")},
)
@click.version_option(package_name="plait", message="%(prog)s %(version)s")
@click.pass_context
def plait(ctx: click.Context) -> None:
    """Plait: fair, durable jobs of targets."""
    _show_help(ctx)


@plait.group(
    cls=LazyGroup,
    invoke_without_command=True,
    lazy={"run": LazyCommand("plait.cli.batch", "Do targets here and now, and print their results.")},
)
@click.pass_context
def batch(ctx: click.Context) -> None:
    """Run batches of targets."""
    _show_help(ctx)
