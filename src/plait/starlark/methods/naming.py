"""Naming: the errors of a builtin or method begin with its name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.errors import EvalError, StepLimitExceeded
from plait.starlark.running.mutation import check_mutable

if TYPE_CHECKING:
    from plait.starlark.thread import Thread

__all__ = ["call_failure", "check_mutable_by", "named"]

_ENGINE: Final = Path(__file__).parent.parent
"""Where the code is that can call a function of the script in a way that it does not accept."""


def named(name: str, error: EvalError) -> EvalError:
    """Return an error of the same kind whose message begins with a name.

    Args:
        name: The builtin or method.
        error: What went wrong in it; that the steps are used up is nobody's in particular and returned as it is.
    """
    return error if isinstance(error, StepLimitExceeded) else type(error)(f"{name}: {error.message}")


def call_failure(error: TypeError, function: Any) -> BaseException:
    """Return what to raise for a type error that a builtin met when it called a function with one argument.

    Args:
        error: The error, with its traceback.
        function: What was called.

    Returns:
        The script's error when the function could not be called so; the very error when it arose inside.
    """
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    if innermost is None or not Path(innermost.tb_frame.f_code.co_filename).is_relative_to(_ENGINE):
        return error
    from plait.starlark.running.failing import call_error  # noqa: PLC0415 - it is built on what uses this module

    return call_error(function, 1, ())


def check_mutable_by(thread: Thread, name: str, value: Any, verb: str) -> None:
    """Refuse, in the name of a method, to change a value that is frozen, iterated over or lent.

    Args:
        thread: The thread that wants to.
        name: The method, for the message.
        value: A list, dict or set.
        verb: What it wants to do, as for ``check_mutable``.

    Raises:
        FrozenError: The value is frozen.
        EvalError: The value is being iterated over, or lent to a concurrent branch.
    """
    try:
        check_mutable(thread, value, verb)
    except EvalError as error:
        raise named(name, error) from None
