"""Failures: what an exception of the host's code becomes for the script that called it."""

from __future__ import annotations

from typing import Final

from plait.context import ContextError
from plait.starlark.errors import EvalError, StarlarkError

__all__ = ["PASSING", "failure", "text_of"]

PASSING: Final = (StarlarkError, ContextError, KeyboardInterrupt)
"""What passes through host code as it is; everything else becomes an ``EvalError``."""


def failure(name: str, error: BaseException) -> EvalError:
    """Return the error of the script for an exception of the host's code.

    Args:
        name: What the script called, for the message.
        error: What it raised; none of ``PASSING``.

    Returns:
        An error that shows the exception's text and nothing else of Python; raise it from the exception.
    """
    if not isinstance(error, RecursionError | MemoryError):
        from plait.starlark.running.failing import is_of_script, translated  # noqa: PLC0415 - failing is built on this module

        if is_of_script(error):
            inner = translated(error)
            if isinstance(inner, EvalError):
                return inner
    return EvalError(f"{name}: {text_of(error)}")


def text_of(error: BaseException) -> str:
    """Return an exception's own text, or the name of its class when it has none."""
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, RecursionError):
        return "calls nested too deeply"
    try:
        # A KeyError's own text is the repr of its key.
        text = str(error.args[0] if isinstance(error, KeyError) and error.args else error)
    except Exception:  # noqa: BLE001 - an exception that cannot even say its text must not break the script's error
        text = ""
    return text or type(error).__name__
