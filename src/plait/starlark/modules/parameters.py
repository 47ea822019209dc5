"""Checks of the arguments that the modules' builtins are given."""

from __future__ import annotations

from typing import Any, Final

from plait.starlark.errors import EvalError
from plait.starlark.text.numbers import int_text
from plait.starlark.values import type_name

__all__ = ["INT64_MAX", "INT64_MIN", "int64", "string"]

INT64_MAX: Final = (1 << 63) - 1
INT64_MIN: Final = -(1 << 63)


def string(function: str, parameter: int | str, value: Any) -> str:
    """Return an argument that must be a string.

    Args:
        function: The builtin's name, for the message.
        parameter: The parameter's place, from 1, or its name.
        value: The argument.

    Returns:
        The argument.

    Raises:
        EvalError: It is not a string.
    """
    if type(value) is not str:
        raise EvalError(f"{function}: for parameter {parameter}: got {type_name(value)}, want string")
    return value


def int64(function: str, parameter: int | str, value: Any) -> int:
    """Return an argument that must be an int of at most 64 bits.

    Args:
        function: The builtin's name, for the message.
        parameter: The parameter's place, from 1, or its name.
        value: The argument.

    Returns:
        The argument.

    Raises:
        EvalError: It is not an int, or does not fit.
    """
    if type(value) is not int:
        raise EvalError(f"{function}: for parameter {parameter}: got {type_name(value)}, want int")
    if not INT64_MIN <= value <= INT64_MAX:
        shown = int_text(value) if value.bit_length() <= 1_024 else f"an int of {value.bit_length()} bits"
        raise EvalError(
            f"{function}: for parameter {parameter}: {shown} out of range (want value in signed 64-bit range)"
        )
    return value
