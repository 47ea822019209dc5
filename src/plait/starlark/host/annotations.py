"""Annotations: what the types in a builtin's signature accept from a script, and what the host gets for it."""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from plait.starlark.text import to_repr
from plait.starlark.values import (
    TRUE,
    Bool,
    Bytes,
    FrozenDict,
    FrozenList,
    FrozenSet,
    HostValue,
    Module,
    NaN,
    Set,
    Struct,
    is_callable,
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from plait.starlark.thread import Thread

__all__ = ["ANYTHING", "Check", "Refused", "check_for"]


class Refused(Exception):
    """A value does not fit; the text says why: ``got int, want string``."""


class Check(NamedTuple):
    """What one annotation accepts.

    Attributes:
        wanted: What it accepts, for messages.
        unchanged: The exact types whose values pass as they are; all that ``accept`` would do with them is return them.
        accept: Called with the running thread and any value; returns what the host gets, or raises ``Refused``.
        exact: It accepts nothing but values of these types.
    """

    wanted: str
    unchanged: frozenset[type]
    accept: Callable[[Thread, Any], Any]
    exact: bool = False


def check_for(annotation: Any) -> Check:  # noqa: PLR0911 - one line for each kind of annotation
    """Return the check for a resolved annotation.

    Raises:
        TypeError: Nothing is known about such an annotation.
    """
    if annotation is Any or annotation is object:
        return ANYTHING
    if annotation is None:
        return _SIMPLE[type(None)]
    origin = typing.get_origin(annotation) or annotation
    if origin is typing.Union or origin is types.UnionType:
        return _union([check_for(option) for option in typing.get_args(annotation)])
    if origin is Callable:
        return _CALLABLE
    if origin in _GENERIC and typing.get_args(annotation):
        return _GENERIC[origin](typing.get_args(annotation))
    if origin in _SIMPLE:
        return _SIMPLE[origin]
    if isinstance(annotation, type) and issubclass(annotation, HostValue):
        return _host(annotation)
    said = annotation.__name__ if isinstance(annotation, type) else annotation
    raise TypeError(
        f"{said} says nothing about a script's value; use str, int, float, bool, bytes, list, dict, tuple, set, None, "
        "Callable, a subclass of HostValue, a union of these, or Any"
    )


def _refusal(value: Any, wanted: str) -> Refused:
    return Refused(f"got {type_name(value)}, want {wanted}")


def _exact(wanted: str, *kinds: type) -> Check:
    unchanged = frozenset(kinds)

    def accept(_thread: Thread, value: Any) -> Any:
        if type(value) in unchanged:
            return value
        raise _refusal(value, wanted)

    return Check(wanted, unchanged, accept, exact=True)


def _anything(_thread: Thread, value: Any) -> Any:
    return value


def _callable(_thread: Thread, value: Any) -> Any:
    if is_callable(value):
        return value
    raise _refusal(value, "callable")


def _bool(_thread: Thread, value: Any) -> bool:
    if type(value) is Bool:
        return value is TRUE
    raise _refusal(value, "bool")


def _float(_thread: Thread, value: Any) -> float:
    if type(value) is float:
        return value
    if type(value) is NaN:
        return math.nan
    if type(value) is not int:
        raise _refusal(value, "float or int")
    try:
        return float(value)
    except OverflowError:
        raise Refused("int too large to convert to float") from None


def _bytes(thread: Thread, value: Any) -> bytes:
    if type(value) is not Bytes:
        raise _refusal(value, "bytes")
    thread.charge(len(value) >> 4)
    return bytes(value)


def _list(thread: Thread, value: Any) -> list[Any]:
    if type(value) is list and (thread.guard is None or id(value) not in thread.guard):
        return value
    if type(value) is not FrozenList and type(value) is not list:
        raise _refusal(value, "list")
    thread.charge(len(value))
    return list(value)


def _dict(thread: Thread, value: Any) -> dict[Any, Any]:
    if type(value) is dict and (thread.guard is None or id(value) not in thread.guard):
        return value
    if type(value) is not FrozenDict and type(value) is not dict:
        raise _refusal(value, "dict")
    thread.charge(len(value))
    return dict(value)


def _set(thread: Thread, value: Any) -> set[Any]:
    if type(value) is not Set and type(value) is not FrozenSet:
        raise _refusal(value, "set")
    thread.charge(len(value))
    return set(value)


def _host(annotation: type[HostValue]) -> Check:
    wanted = annotation.type_name

    def accept(_thread: Thread, value: Any) -> Any:
        if isinstance(value, annotation):
            return value
        raise _refusal(value, wanted)

    return Check(wanted, frozenset({annotation}), accept)


def _pass(check: Check, values: Iterable[Any]) -> bool:
    """Tell whether all elements pass as they are."""
    if check is not ANYTHING:
        unchanged = check.unchanged
        for value in values:
            if type(value) not in unchanged:
                return False
    return True


def _accepted(thread: Thread, check: Check, values: Iterable[Any]) -> list[Any]:
    accepted = []
    for index, value in enumerate(values):
        try:
            accepted.append(check.accept(thread, value))
        except Refused as refused:
            raise Refused(f"at index {index}, {refused}") from None
    return accepted


def _list_of(arguments: tuple[Any, ...]) -> Check:
    element = check_for(arguments[0])

    def accept(thread: Thread, value: Any) -> list[Any]:
        if type(value) is not list and type(value) is not FrozenList:
            raise _refusal(value, "list")
        thread.charge(len(value))
        if _pass(element, value):
            is_free = type(value) is list and (thread.guard is None or id(value) not in thread.guard)
            return value if is_free else list(value)
        return _accepted(thread, element, value)

    return Check("list", frozenset(), accept)


def _set_of(arguments: tuple[Any, ...]) -> Check:
    element = check_for(arguments[0])

    def accept(thread: Thread, value: Any) -> set[Any]:
        found = _set(thread, value)
        return found if _pass(element, value) else set(_accepted(thread, element, value))

    return Check("set", frozenset(), accept)


def _tuple_of(arguments: tuple[Any, ...]) -> Check:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return _tuple_of_any_length(check_for(arguments[0]))
    checks = [check_for(argument) for argument in arguments if argument != ()]

    def accept(thread: Thread, value: Any) -> tuple[Any, ...]:
        if type(value) is not tuple:
            raise _refusal(value, "tuple")
        if len(value) != len(checks):
            raise Refused(f"got a tuple of length {len(value)}, want length {len(checks)}")
        parts = []
        for index, (check, part) in enumerate(zip(checks, value, strict=True)):
            try:
                parts.append(check.accept(thread, part))
            except Refused as refused:
                raise Refused(f"at index {index}, {refused}") from None
        return tuple(parts)

    return Check("tuple", frozenset(), accept)


def _tuple_of_any_length(element: Check) -> Check:
    def accept(thread: Thread, value: Any) -> tuple[Any, ...]:
        if type(value) is not tuple:
            raise _refusal(value, "tuple")
        thread.charge(len(value))
        return value if _pass(element, value) else tuple(_accepted(thread, element, value))

    return Check("tuple", frozenset(), accept)


def _dict_of(arguments: tuple[Any, ...]) -> Check:
    key_check, value_check = map(check_for, arguments)

    def accept(thread: Thread, value: Any) -> dict[Any, Any]:
        if type(value) is not dict and type(value) is not FrozenDict:
            raise _refusal(value, "dict")
        thread.charge(len(value))
        if _pass(key_check, value) and _pass(value_check, value.values()):
            return value if type(value) is dict else dict(value)
        return dict(_entry(thread, key_check, value_check, *item) for item in value.items())

    return Check("dict", frozenset(), accept)


def _entry(thread: Thread, key_check: Check, value_check: Check, key: Any, value: Any) -> tuple[Any, Any]:
    try:
        host_key = key_check.accept(thread, key)
    except Refused as refused:
        raise Refused(f"key {to_repr(thread, key)}: {refused}") from None
    try:
        return host_key, value_check.accept(thread, value)
    except Refused as refused:
        raise Refused(f"value of key {to_repr(thread, key)}: {refused}") from None


def _union(options: list[Check]) -> Check:
    if ANYTHING in options:
        return ANYTHING
    wanted = " or ".join(dict.fromkeys(option.wanted for option in options))
    unchanged: frozenset[type] = frozenset().union(*(option.unchanged for option in options))
    converting = [option for option in options if not option.exact]

    def accept(thread: Thread, value: Any) -> Any:
        if type(value) in unchanged:
            return value
        reason = None
        for option in converting:
            try:
                return option.accept(thread, value)
            except Refused as refused:
                # The telling reason is that of a container whose elements did not fit.
                if option.wanted == type_name(value):
                    reason = refused
        raise reason or _refusal(value, wanted)

    return Check(wanted, unchanged, accept)


ANYTHING: Final = Check("any value", frozenset(), _anything)
"""The check of ``Any`` and of a parameter without annotation: the script's value as it is."""

_CALLABLE: Final = Check("callable", frozenset(), _callable)

_SIMPLE: Final[Mapping[Any, Check]] = {
    type(None): _exact("None", type(None)),
    str: _exact("string", str),
    int: _exact("int", int),
    bytes: Check("bytes", frozenset(), _bytes),
    tuple: _exact("tuple", tuple),
    range: _exact("range", range),
    Struct: _exact("struct", Struct),
    Module: _exact("module", Module),
    Set: _exact("set", Set, FrozenSet),
    bool: Check("bool", frozenset(), _bool),
    float: Check("float or int", frozenset({float}), _float),
    list: Check("list", frozenset(), _list),
    dict: Check("dict", frozenset(), _dict),
    set: Check("set", frozenset(), _set),
}

_GENERIC: Final[Mapping[Any, Callable[[tuple[Any, ...]], Check]]] = {
    list: _list_of,
    dict: _dict_of,
    set: _set_of,
    tuple: _tuple_of,
}
