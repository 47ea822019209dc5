"""Arguments of string methods: what they must be, and the mark that makes a function a method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from plait.starlark.errors import EvalError
from plait.starlark.native import native
from plait.starlark.text.numbers import int_text
from plait.starlark.values import type_name

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FREE", "Methods", "bounds", "int64", "method", "mismatch"]

FREE: Final = 64
"""Work on a text of fewer characters costs no steps of its own: those of the call cover it."""

_INT32 = 1 << 31
_INT64 = 1 << 63

_F = TypeVar("_F", bound="Callable[..., Any]")

Methods = dict[str, "Callable[..., Any]"]
"""Methods by their names."""


def method(methods: Methods, name: str, *parameters: str) -> Callable[[_F], _F]:
    """Make a Python function a method that takes positional arguments only.

    Args:
        methods: Where it is entered.
        name: What scripts call it.
        parameters: Names in order, without the thread and the receiver; an optional one ends with ``?``.

    Returns:
        A decorator that returns the very function it is given.
    """

    def register(function: _F) -> _F:
        methods[name] = native(name, *parameters, positional=True)(function)
        return function

    return register


def mismatch(name: str, position: int, value: Any, wanted: str) -> EvalError:
    """Return the error for an argument of the wrong type.

    Args:
        name: The method.
        position: The argument's place, from 1.
        value: The argument.
        wanted: The type that it should have.
    """
    return EvalError(f"{name}: for parameter {position}: got {type_name(value)}, want {wanted}")


def int64(name: str, position: int, value: Any) -> int:
    """Return an argument that must be an integer of 64 bits.

    Raises:
        EvalError: It is something else.
    """
    if type(value) is not int:
        raise mismatch(name, position, value, "int")
    if not -_INT64 <= value < _INT64:
        wanted = "(want value in signed 64-bit range)"
        raise EvalError(f"{name}: for parameter {position}: {int_text(value)} out of range {wanted}")
    return value


def bounds(name: str, size: int, start: Any, end: Any) -> tuple[int, int]:
    """Return the part of a text that two optional indices mean, as two indices from 0 to the text's length.

    Args:
        name: The method, for the message.
        size: The text's length in characters.
        start: An index, negative from the end, or ``None`` for the start.
        end: An index, negative from the end, or ``None`` for the end; it may lie before the start.

    Raises:
        EvalError: An index is not an integer, or one of more than 32 bits.
    """
    return _bound(name, "start", size, start, 0), _bound(name, "end", size, end, size)


def _bound(name: str, which: str, size: int, index: Any, default: int) -> int:
    if index is None:
        return default
    if type(index) is not int:
        raise EvalError(f"{name}: invalid {which} index: got {type_name(index)}, want int")
    if not -_INT32 <= index < _INT32:
        raise EvalError(f"{name}: invalid {which} index: {int_text(index)} out of range")
    place: int = index + size if index < 0 else index
    return min(max(place, 0), size)
