"""The commands ``plait star run`` and ``plait star check``: Starlark scripts, run and checked with no service."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import click

from plait import starlark
from plait.cli.errors import ALL_DONE, REFUSED, SOME_FAILED, OutputLost, ReaderGone, Refused, one_line, say
from plait.context import Context, DeadlineExceeded
from plait.starlark.universe.universe import UNIVERSAL
from plait.starlark.values import is_callable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["command"]

_PREDECLARED: Final[Mapping[str, Any]] = {
    "json": starlark.json,
    "math": starlark.math,
    "struct": starlark.struct,
    "time": starlark.time,
}
_MAX_STEPS: Final = 1_000_000
_MOST_STEPS: Final = 1_000_000_000_000
_SECONDS: Final = 60.0
_SHORTEST_SECONDS: Final = 0.001
_LONGEST_SECONDS: Final = 1_000_000.0
_MAX_BYTES: Final = 1024 * 1024  # the language itself takes less
_MAX_DEPTH: Final = 50  # modules that load one another; each is some calls of Python deep
_SHOWN_NAMES: Final = 20


class _StandardOutput:
    """Standard output as scripts write to it: UTF-8, line by line, whatever the locale.

    What goes wrong is kept, and stops the script: an exception of the stream's would be taken for an error of its own.

    Args:
        context: Cancelled when nothing can be written any more.

    Raises:
        Refused: It is closed.
    """

    def __init__(self, context: Context) -> None:
        if sys.stdout is None:
            raise Refused("standard output is closed; lead it to where it can be written")
        self._stream: BinaryIO = sys.stdout.buffer
        self._context = context
        self._error: OSError | None = None

    def line(self, text: str) -> None:
        """Write a line, or begin to stop the script."""
        if self._error is not None:
            return
        try:
            self._stream.write(_line(text))
            self._stream.flush()
        except OSError as error:
            self._error = error
            self._context.cancel("the output is lost")

    def check(self) -> None:
        """Be sure that everything was written.

        Raises:
            ReaderGone: Nobody reads it any more.
            OutputLost: It could not be written.
        """
        if isinstance(self._error, BrokenPipeError):
            raise ReaderGone from self._error
        if self._error is not None:
            reason = self._error.strerror or type(self._error).__name__
            raise OutputLost(f"cannot write to standard output: {reason}; lead it to where it can be written")


class _Loader:
    """Serves ``load`` from the folder of the script that is run, and from nowhere else.

    A module is run once, with the steps and the time that the script has left.

    Args:
        script: The file that is run.
    """

    def __init__(self, script: Path) -> None:
        self._folder = script.parent
        self._root = self._folder.resolve()
        self._modules: dict[Path, Any] = {}
        self._loading: list[Path] = [script.resolve()]

    def __call__(self, thread: starlark.Thread, name: str) -> Any:
        """Return the module of that name.

        Raises:
            StarlarkError: There is none, it may not be loaded, or it failed; the language says which module it is.
        """
        file = self._file(name)
        if file not in self._modules:
            self._check_order(file)
            self._loading.append(file)
            try:
                self._modules[file] = self._module(thread, name, file)
            finally:
                self._loading.pop()
        return self._modules[file]

    def _file(self, name: str) -> Path:
        try:
            file = (self._folder / name).resolve()
            inside = file.is_relative_to(self._root)
            found = inside and file.is_file()
            circle = file.is_symlink()  # Python 3.13 leaves a circle of links as it is
        except (OSError, ValueError, RuntimeError) as error:  # too long, with a NUL, links in a circle
            raise starlark.EvalError("no file can have this name") from error
        if circle:
            raise starlark.EvalError("no file can have this name")
        if not inside:
            raise starlark.EvalError("it is outside the script's folder")
        if not found:
            raise starlark.EvalError("there is no such file in the script's folder")
        return file

    def _check_order(self, file: Path) -> None:
        if file in self._loading:
            raise starlark.EvalError("cycle in load graph")
        if len(self._loading) > _MAX_DEPTH:
            raise starlark.EvalError(f"more than {_MAX_DEPTH} modules load one another")

    def _module(self, thread: starlark.Thread, name: str, file: Path) -> Any:
        left = None if thread.max_steps is None else max(thread.max_steps - thread.steps, 0)
        own = starlark.Thread(name, max_steps=left, context=thread.context, print=thread.print, load=self)
        try:
            return _compiled(_read(file), str(self._folder / name)).run(own, predeclared=_PREDECLARED)
        except Refused as error:
            raise starlark.EvalError(str(error)) from error
        finally:
            thread.charge(own.steps)


def _seconds(ctx: click.Context, param: click.Parameter, value: float) -> float:
    if not _SHORTEST_SECONDS <= value <= _LONGEST_SECONDS:
        fault = f"{value} is not a number of seconds from {_SHORTEST_SECONDS} to {_LONGEST_SECONDS:.0f}"
        raise click.BadParameter(fault, ctx, param)
    return value


@click.group("star", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Run and check Starlark scripts."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@command.command("run", epilog="Exit codes: 0 done, 1 the script failed, 2 refused, 130 interrupted.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("function", "--call", metavar="NAME", help="Call this function of the script and print what it returns.")
@click.option(
    "arguments",
    "--args",
    metavar="JSON",
    help="With --call: an array of positional arguments, or an object of keyword arguments.",
)
@click.option(
    "--max-steps",
    type=click.IntRange(min=1, max=_MOST_STEPS),
    metavar="N",
    default=_MAX_STEPS,
    show_default=True,
    help="Stop the script after so many steps.",
)
@click.option(
    "--timeout",
    type=float,
    metavar="SECONDS",
    default=_SECONDS,
    show_default=True,
    callback=_seconds,
    help="Stop the script after this long.",
)
def run(*, file: Path, function: str | None, arguments: str | None, max_steps: int, timeout: float) -> int:
    """Run a Starlark script.

    The script may use json, math, struct and time, and load other files of its folder; it can reach nothing else.
    What it prints goes to standard output. With --call, standard output is for the function's result alone, as
    JSON where that is possible and as Starlark text where it is not, and what the script prints goes to standard
    error.
    """
    if arguments is not None and function is None:
        raise Refused("--args needs --call: name the function that the arguments are for")
    source = _read(file)
    context = Context(timeout=timeout)
    output = _StandardOutput(context)
    show = output.line if function is None else _show_beside
    thread = starlark.Thread(
        file.name,
        max_steps=max_steps,
        context=context,
        print=lambda _thread, text: show(text),
        load=_Loader(file),
    )
    try:
        positional, keywords = _arguments(arguments, thread)
        module = _compiled(source, str(file)).run(thread, predeclared=_PREDECLARED)
        if function is not None:
            called = _function(module, function, file)
            output.line(_text(thread, starlark.call(thread, called, args=positional, kwargs=keywords)))
    except starlark.StarlarkError as error:
        _report(error)
        return SOME_FAILED
    except DeadlineExceeded:
        say(f"{file} was stopped after {timeout:g} seconds; --timeout gives it longer")
        return SOME_FAILED
    finally:
        output.check()
    return ALL_DONE


@command.command("check", epilog="Exit codes: 0 all are Starlark, 1 some have errors, 2 some cannot be read.")
@click.argument("files", metavar="FILE...", type=click.Path(path_type=Path), nargs=-1, required=True)
def check(*, files: Sequence[Path]) -> int:
    """Find the errors of Starlark scripts without running them.

    Each error is a line on standard output, FILE:LINE:COLUMN: MESSAGE. Files that the scripts load are not looked
    at: name them too.
    """
    output = _StandardOutput(Context())
    wrong = unread = errors = 0
    for file in files:
        try:
            found = _faults(file)
        except Refused as error:
            say(str(error))
            unread += 1
            continue
        for fault in found:
            output.line(one_line(str(fault)))
        output.check()
        wrong += bool(found)
        errors += len(found)
    say(_summary(len(files) - unread, errors, wrong, unread))
    if unread:
        return REFUSED
    return SOME_FAILED if wrong else ALL_DONE


def _faults(file: Path) -> tuple[starlark.StarlarkError, ...]:
    """All errors of a file.

    Raises:
        Refused: It cannot be read.
    """
    try:
        _compiled(_read(file), str(file))
    except starlark.ResolveError as error:
        return error.errors
    except starlark.StarlarkError as error:
        return (error,)
    return ()


def _summary(checked: int, errors: int, wrong: int, unread: int) -> str:
    files = f"{checked} file{'' if checked == 1 else 's'}"
    faults = f"{errors or 'no'} error{'' if errors == 1 else 's'} in {f'{wrong} of ' if errors else ''}{files}"
    return f"{faults}; {unread} more could not be read" if unread else faults


def _compiled(source: str, shown: str) -> starlark.Program:
    return starlark.compile(source, filename=shown, predeclared=_PREDECLARED.keys())


def _read(file: Path) -> str:
    """A script's source.

    Raises:
        Refused: The file cannot be read.
    """
    try:
        with file.open("rb") as stream:
            content = stream.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise Refused(f"cannot read {file}: {reason}; name a file with a Starlark script") from error
    if len(content) > _MAX_BYTES:
        raise Refused(f"{file} has more than {_MAX_BYTES} bytes; split the script into modules")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Refused(f"{file}:{line}: this is not UTF-8 text; save the script as UTF-8") from error


def _arguments(text: str | None, thread: starlark.Thread) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The positional and the keyword arguments that ``--args`` stands for."""
    if text is None:
        return (), {}
    try:
        value = starlark.call(thread, starlark.json["decode"], args=(text,))
    except starlark.EvalError as error:
        raise Refused(f"--args is not JSON: {error.message}") from error
    if isinstance(value, list):
        return tuple(value), {}
    if isinstance(value, dict):
        return (), value
    raise Refused("--args is neither an array nor an object; write '[1, \"two\"]' or '{\"name\": 1}'")


def _function(module: Any, name: str, file: Path) -> Any:
    if name in module and is_callable(module[name]):
        return module[name]
    names = sorted(each for each in module if is_callable(module[each]))
    there = ", ".join(names[:_SHOWN_NAMES]) + (", …" if len(names) > _SHOWN_NAMES else "")
    raise Refused(f"{file} has no function {name}; it has {there or 'none at all'}")


def _text(thread: starlark.Thread, value: Any) -> str:
    """A value as JSON, or as Starlark text when there is no JSON for it."""
    try:
        text = starlark.call(thread, starlark.json["encode"], args=(value,))
    except starlark.StepLimitExceeded:
        raise
    except starlark.EvalError:
        text = starlark.call(thread, UNIVERSAL["repr"], args=(value,))
    return str(text)


def _report(error: starlark.StarlarkError) -> None:
    """Say where the calls under way were, those in modules that were being loaded among them, and what is wrong."""
    chain = [error]
    while isinstance(cause := chain[-1].__cause__, starlark.StarlarkError):
        chain.append(cause)
    frames = [frame for each in chain if isinstance(each, starlark.EvalError) for frame in each.frames]
    if frames:
        _show_beside("Traceback (most recent call last):")
    for frame in frames:
        place = f"{frame.filename}:{frame.line}:{frame.column}" if frame.line else frame.filename
        _show_beside(f"  {one_line(place)}: in {one_line(frame.name)}")
    advice = "; --max-steps gives it more" if isinstance(error, starlark.StepLimitExceeded) else ""
    for each in chain[-1].errors if isinstance(chain[-1], starlark.ResolveError) else (error,):
        say(f"{each}{advice}")


def _show_beside(text: str) -> None:
    """Write a line to standard error; where nobody can read it, it is lost."""
    if sys.stderr is None:
        return
    with suppress(OSError):
        sys.stderr.buffer.write(_line(text))
        sys.stderr.buffer.flush()


def _line(text: str) -> bytes:
    return text.encode(errors="replace") + b"\n"
