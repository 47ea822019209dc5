"""What a command can end with: its errors, and the one place that maps them to a line and an exit code."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

__all__ = [
    "ALL_DONE",
    "BROKEN_PIPE",
    "BY_SIGNAL",
    "INTERNAL_ERROR",
    "REFUSED",
    "SOME_FAILED",
    "STOPPING",
    "OutputLost",
    "ReaderGone",
    "Refused",
    "end_on_signals",
    "guarded",
    "has_terminal",
    "one_line",
    "say",
]

ALL_DONE: Final = 0
"""The command did all that it was asked for."""
SOME_FAILED: Final = 1
"""The command came to its end, but some targets failed."""
REFUSED: Final = 2
"""Bad usage, bad input, a bad store or an output that cannot be written."""
INTERNAL_ERROR: Final = 70
"""A bug of Plait's."""
BY_SIGNAL: Final = 128
"""A signal ended the command: this plus its number, so 130 for Ctrl-C and 143 for SIGTERM."""
BROKEN_PIPE: Final = 141
"""Whoever read the output has gone away; 128 plus SIGPIPE's number."""

STOPPING: Final = (signal.SIGINT, signal.SIGTERM)
"""The signals by which somebody wants the command to end."""

_DEBUG: Final = "PLAIT_DEBUG"
_STANDARD_ERROR: Final = 2
_WIPE_BAR: Final = "\r\x1b[2K\x1b[?25h"  # its line goes, and the cursor that it hid is back


class Refused(Exception):
    """The command cannot do what it was asked for.

    Args:
        message: One line: what was wrong, with what, and what to do.
    """


class OutputLost(Refused):
    """The results cannot be written any further."""


class ReaderGone(Exception):
    """Whoever read the results has gone away, as ``head`` does: the end of the command, but nothing to report."""


def guarded(act: Callable[[], int | None]) -> int:
    """Run a command so that nothing but a line and an exit code comes of what goes wrong.

    Args:
        act: The command; its result is an exit code, ``None`` for ``ALL_DONE``.

    Returns:
        The exit code. ``PLAIT_DEBUG=1`` in the environment adds the traceback of an internal error.
    """
    try:
        return act() or ALL_DONE
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the last line of defence against tracebacks
        return _ended_by(error)


def _ended_by(error: Exception | KeyboardInterrupt) -> int:
    """Say what there is to say about an error, and map it to its exit code."""
    match error:
        case ReaderGone():
            _drop_output()
            return BROKEN_PIPE
        case KeyboardInterrupt():
            say("interrupted")
            return BY_SIGNAL + signal.SIGINT
        case Refused():
            say(str(error))
            if isinstance(error, OutputLost):
                _drop_output()
            return REFUSED
        case _:
            _say_internal(error)
            return INTERNAL_ERROR


def end_on_signals() -> None:
    """From now on the signals of ``STOPPING`` end the process at once, with one line and their exit code.

    It holds for the process's last moment too, when no exception would find anybody to catch it; a run, which
    has something to put in order, has handlers of its own meanwhile. A signal that was ignored, as in a shell's
    background, stays so.
    """
    line = f"{_WIPE_BAR if has_terminal() else ''}plait: interrupted\n".encode()
    # a closed standard error may since be some other file's number
    where = -1 if sys.stderr is None else _STANDARD_ERROR
    write, leave, first = os.write, os._exit, BY_SIGNAL  # the modules may be gone by then

    def end(number: int, _frame: FrameType | None) -> None:
        with suppress(OSError):
            write(where, line)
        leave(first + number)

    for number in STOPPING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)


def has_terminal() -> bool:
    """Whether standard error is a terminal that shows more than plain lines."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


def say(text: str) -> None:
    """Write one line of the command's own to standard error; where nobody can read it, it is lost."""
    if sys.stderr is None:
        return
    with suppress(OSError):
        sys.stderr.write(f"plait: {one_line(text)}\n")
        sys.stderr.flush()


def one_line(text: str) -> str:
    """``text`` with every run of blanks as one and nothing in it that could steer a terminal."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in " ".join(text.split()))


def _say_internal(error: BaseException) -> None:
    if os.environ.get(_DEBUG) == "1":
        import traceback  # noqa: PLC0415 - no command that ends well needs it

        with suppress(OSError):
            traceback.print_exception(error)
    say(f"internal error: {type(error).__qualname__}; {_DEBUG}=1 shows where: please report it with that")


def _drop_output() -> None:
    """Lead standard output to nowhere, where the interpreter's last flush of it cannot fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    finally:
        os.close(nowhere)
