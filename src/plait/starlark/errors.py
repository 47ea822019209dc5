"""The errors of the engine: one tree under ``StarlarkError``, each with its place in the script."""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "EvalError",
    "Frame",
    "FrozenError",
    "ParseError",
    "ResolveError",
    "StarlarkError",
    "StepLimitExceeded",
]

_MESSAGE_MAX = 8_000
"""Longest message in characters; a longer one is cut in the middle, so that no script can flood a log."""


class Frame(NamedTuple):
    """One line of a Starlark backtrace.

    Attributes:
        name: The function's name; ``<toplevel>`` for the body of a module.
        filename: The module's file; ``<builtin>`` for a function that is not written in Starlark.
        line: Line, from 1; 0 when the place is unknown.
        column: Column in characters, from 1; 0 when the place is unknown.
    """

    name: str
    filename: str
    line: int
    column: int


class StarlarkError(Exception):
    """What the engine raises, whatever a script does.

    The tree::

        StarlarkError
        ├── ParseError             the text is not Starlark
        ├── ResolveError           a name or a statement is not allowed where it stands; ``errors`` has all of a file
        └── EvalError              the script failed while it ran; ``backtrace()`` shows where
            ├── FrozenError        it tried to change a frozen value
            └── StepLimitExceeded  it used up its steps

    Args:
        message: What was wrong, without the place.
        filename: The script's name; empty while the place is not yet known.
        line: Line, from 1.
        column: Column in characters, from 1.
    """

    def __init__(self, message: str, filename: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.message = _shortened(message)
        self.filename = filename
        self.line = line
        self.column = column

    def __str__(self) -> str:
        """Return the message after its place: ``main.star:3:7: undefined: nope``."""
        if not self.filename:
            return self.message
        return f"{self.filename}:{self.line}:{self.column}: {self.message}"


class ParseError(StarlarkError):
    """The text is not Starlark; the place is that of the first character that does not fit."""


class ResolveError(StarlarkError):
    """A name is undefined, or a statement is not allowed where it stands; nothing of the file has run.

    Args:
        errors: One error for each place, in the order of the file; the first gives this one its place.
    """

    errors: tuple[ResolveError, ...]
    """All that is wrong with the file, this first one among them."""

    def __init__(
        self, message: str, filename: str = "", line: int = 0, column: int = 0, errors: tuple[ResolveError, ...] = ()
    ) -> None:
        super().__init__(message, filename, line, column)
        self.errors = errors or (self,)


class EvalError(StarlarkError):
    """The script failed while it ran. A builtin raises it with a message alone; the engine adds the place.

    Args:
        message: What was wrong, in the script author's terms.
    """

    def __init__(self, message: str, filename: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(message, filename, line, column)
        self.frames: tuple[Frame, ...] = ()
        """The Starlark calls under way, outermost first."""

    def backtrace(self) -> str:
        """Return the Starlark calls under way, the innermost last, and the message; nothing of Python.

        Returns:
            Several lines of text without a final newline.
        """
        lines = ["Traceback (most recent call last):"]
        lines += [
            f"  {frame.filename}:{frame.line}:{frame.column}: in {frame.name}"
            if frame.line
            else f"  {frame.filename}: in {frame.name}"
            for frame in self.frames
        ]
        return "\n".join([*lines, f"Error: {self.message}"])


class FrozenError(EvalError):
    """The script tried to change a value that is frozen."""


class StepLimitExceeded(EvalError):
    """The script used up its steps (``Thread(max_steps=…)``)."""


def _shortened(message: str) -> str:
    if len(message) <= _MESSAGE_MAX:
        return message
    half = _MESSAGE_MAX // 2
    return f"{message[:half]} … ({len(message)} characters) … {message[-half:]}"
