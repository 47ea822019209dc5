"""Attributes: what ``x.name`` means for each type, from tables and never from Python's own attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from plait.starlark.errors import EvalError
from plait.starlark.host.conversion import script_value
from plait.starlark.host.failures import PASSING, failure
from plait.starlark.methods.bytestrings import METHODS as BYTES_METHODS
from plait.starlark.methods.dicts import METHODS as DICT_METHODS
from plait.starlark.methods.lists import METHODS as LIST_METHODS
from plait.starlark.methods.sets import METHODS as SET_METHODS
from plait.starlark.methods.strings import METHODS as STRING_METHODS
from plait.starlark.spelling import nearest
from plait.starlark.values import (
    BoundMethod,
    Bytes,
    FrozenDict,
    FrozenList,
    FrozenSet,
    HostValue,
    Module,
    Set,
    Struct,
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from plait.starlark.thread import Thread

__all__ = ["METHODS_OF", "MISSING", "absence", "find", "get", "names", "set_field"]

METHODS_OF: Final[Mapping[type, dict[str, Callable[..., Any]]]] = {
    str: STRING_METHODS,
    Bytes: BYTES_METHODS,
    list: LIST_METHODS,
    FrozenList: LIST_METHODS,
    dict: DICT_METHODS,
    FrozenDict: DICT_METHODS,
    Set: SET_METHODS,
    FrozenSet: SET_METHODS,
}
"""The methods of each type that has any, by their names."""

MISSING: Final = object()
"""What ``find`` returns for an attribute that is not there; never a value of a script."""


def get(thread: Thread, x: Any, name: str) -> Any:
    """Carry out ``x.name``.

    Args:
        thread: The running thread.
        x: Any value.
        name: The attribute's name.

    Returns:
        A field, or a method bound to the value.

    Raises:
        EvalError: There is no such attribute; the message names the one that was probably meant.
    """
    kind = type(x)
    try:
        if kind is Struct:
            return x.fields[name]
        if kind is Module:
            return x.members[name]
        if kind in METHODS_OF:
            return BoundMethod(name, x, METHODS_OF[kind][name])
    except KeyError:
        raise EvalError(absence(x, name) + _hint(thread, x, name)) from None
    value = _find_in_host(x, name) if isinstance(x, HostValue) else MISSING
    if value is not MISSING:
        return value
    raise EvalError(absence(x, name) + _hint(thread, x, name))


def find(x: Any, name: str) -> Any:
    """Return the value of ``x.name``, or ``MISSING``.

    Raises:
        EvalError: A host's value failed to compute it.
    """
    methods = METHODS_OF.get(type(x))
    if methods is not None:
        method = methods.get(name)
        return MISSING if method is None else BoundMethod(name, x, method)
    if type(x) is Struct:
        return x.fields.get(name, MISSING)
    if type(x) is Module:
        return x.members.get(name, MISSING)
    return _find_in_host(x, name) if isinstance(x, HostValue) else MISSING


def names(x: Any) -> list[str]:
    """Return the names of all attributes, sorted: what ``dir(x)`` shows."""
    if isinstance(x, HostValue):
        return _names_in_host(x)
    if type(x) is Struct:
        return sorted(x.fields)
    return sorted(x.members if type(x) is Module else METHODS_OF.get(type(x), ()))


def absence(x: Any, name: str) -> str:
    """Return the sentence that says that a value has no such attribute."""
    if type(x) is Struct:
        return f"{_constructor(x.kind)}struct has no .{name} attribute"
    return f"{type_name(x)} has no .{name} field or method"


def set_field(thread: Thread, x: Any, name: str, value: Any) -> None:
    """Carry out ``x.name = value``, which only values of the host know.

    Args:
        thread: The running thread.
        x: Any value.
        name: The field's name.
        value: What it shall be.

    Raises:
        EvalError: The value has no such field, or none that can be set.
    """
    if not isinstance(x, HostValue) or type(x).set_attribute is HostValue.set_attribute:
        raise EvalError(f"can't assign to .{name} field of {type_name(x)}")
    try:
        x.set_attribute(name, value)
    except LookupError:
        raise EvalError(absence(x, name) + _hint(thread, x, name)) from None
    except PASSING:
        raise
    except BaseException as error:
        raise failure(type_name(x), error) from error


def _hint(thread: Thread, x: Any, name: str) -> str:
    meant = nearest(name, _compared(thread, names(x), len(name)))
    return f" (did you mean .{meant}?)" if meant else ""


def _compared(thread: Thread, candidates: list[str], length: int) -> Iterator[str]:
    """Charge for the comparison of each candidate with a name of this length, which takes every pair of letters."""
    for candidate in candidates:
        thread.charge(length * len(candidate) // 16 + 1)
        yield candidate


def _constructor(kind: Any) -> str:
    """Return what stands before the word ``struct``: nothing when the plain ``struct`` made it."""
    if isinstance(kind, str):
        return "" if kind == "struct" else f"{kind} "
    return f"{kind.text()} " if isinstance(kind, HostValue) else ""


def _find_in_host(x: HostValue, name: str) -> Any:
    try:
        return script_value(type_name(x), x.attribute(name))
    except LookupError:
        return MISSING
    except PASSING:
        raise
    except BaseException as error:
        raise failure(type_name(x), error) from error


def _names_in_host(x: HostValue) -> list[str]:
    try:
        return sorted(map(str, x.attribute_names()))
    except PASSING:
        raise
    except BaseException as error:
        raise failure(type_name(x), error) from error
