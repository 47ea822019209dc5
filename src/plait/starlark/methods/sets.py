"""Sets: their methods, and the set operators, of which dicts have the union."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.comparison.hashing import (
    LEAST,
    MOST,
    SHORT,
    SLICE,
    charge_keys,
    check_hashable,
    check_key,
    note_deletion,
    paid_slices,
    store,
    store_keys,
)
from plait.starlark.errors import EvalError
from plait.starlark.methods.dicts import update
from plait.starlark.methods.naming import check_mutable_by, named
from plait.starlark.native import native
from plait.starlark.running.iteration import collect, each, is_iterable
from plait.starlark.values import FALSE, TRUE, Bool, Set, type_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from plait.starlark.thread import Thread

__all__ = ["METHODS", "dict_union", "set_binary"]

_ABSENT: Final = object()

_COPIED_AT_ONCE: Final = 262_144
"""Elements of a set that Python copies with their hashes in a few milliseconds."""


def set_binary(thread: Thread, op: str, x: Set, y: Set) -> Set:
    """Return ``x | y``, ``x & y``, ``x - y`` or ``x ^ y`` for two sets, as a new set.

    Args:
        thread: The thread that pays a step for each element.
        op: One of the four operators.
        x: A set.
        y: A set.

    Raises:
        EvalError: Too many elements of the two share one hash.
    """
    return _BINARY[op](thread, x, collect(thread, y))


def dict_union(thread: Thread, x: dict[Any, Any], y: dict[Any, Any]) -> dict[Any, Any]:
    """Return ``x | y``: a new dict of the items of both, with the second's value where a key is in both.

    Args:
        thread: The thread that pays a step for each item.
        x: A dict.
        y: A dict.
    """
    result: dict[Any, Any] = {}
    if len(x) <= _COPIED_AT_ONCE:
        thread.charge(len(x))
        result = dict(x)
    else:
        update(thread, result, x)
    update(thread, result, y)
    return result


def _copied(thread: Thread, x: Set) -> Set:
    if len(x) <= _COPIED_AT_ONCE:
        thread.charge(len(x))
        return Set(x)
    thread.afford(len(x))
    result = Set()
    elements = iter(x)
    while part := list(islice(elements, SLICE)):
        thread.charge(len(part))
        charge_keys(thread, part)
        result.update(dict.fromkeys(part))
    return result


def _united(thread: Thread, x: Set, elements: list[Any]) -> Set:
    result = _copied(thread, x)
    store_keys(thread, result, elements)
    return result


def _intersected(thread: Thread, x: Set, elements: list[Any]) -> Set:
    result = Set()
    for part in paid_slices(thread, elements):
        for element in part:
            check_hashable(thread, element)
            if element in x:
                store(thread, result, element, None)
    return result


def _subtracted(thread: Thread, x: Set, elements: list[Any]) -> Set:
    result = Set()
    if not x:
        return result
    dropped: dict[Any, None] = {}
    store_keys(thread, dropped, elements)
    for part in paid_slices(thread, list(x)):
        charge_keys(thread, part)
        result.update(dict.fromkeys([element for element in part if element not in dropped]))
    return result


def _toggled(thread: Thread, x: Set, elements: list[Any]) -> Set:
    """Return a set with those elements of the list that it does not have, and without those that it has."""
    result = _copied(thread, x)
    for part in paid_slices(thread, elements):
        for element in part:
            check_hashable(thread, element)
            if element in result:
                del result[element]
            else:
                store(thread, result, element, None)
    return result


_BINARY: Final[Mapping[str, Callable[[Thread, Set, list[Any]], Set]]] = {
    "|": _united,
    "&": _intersected,
    "-": _subtracted,
    "^": _toggled,
}


def _check_iterable(name: str, other: Any) -> None:
    if other is _ABSENT:
        raise EvalError(f"{name}: got 0 arguments, want 1")
    if not is_iterable(other):
        raise EvalError(f"{name}: for parameter 1: got {type_name(other)}, want iterable")


def _combined(thread: Thread, name: str, op: str, receiver: Set, other: Any) -> Set:
    _check_iterable(name, other)
    elements = collect(thread, other)
    try:
        return _BINARY[op](thread, receiver, elements)
    except EvalError as error:
        raise named(name, error) from None


@native("add", "element", positional=True)
def _add(thread: Thread, receiver: Set, element: Any, /) -> None:
    if thread.guard is not None or type(receiver) is not Set:
        check_mutable_by(thread, "add", receiver, "insert into")
    kind = type(element)
    if (kind is str and len(element) < SHORT) or (kind is int and element < MOST and element > LEAST):
        receiver.setdefault(element)
        return
    check_key(thread, "add", element)
    if element not in receiver:
        store(thread, receiver, element, None)


@native("clear", positional=True)
def _clear(thread: Thread, receiver: Set, /) -> None:
    if receiver:
        check_mutable_by(thread, "clear", receiver, "clear")
        receiver.clear()


@native("difference", "other?", positional=True)
def _difference(thread: Thread, receiver: Set, other: Any = _ABSENT, /) -> Set:
    return _combined(thread, "difference", "-", receiver, other)


@native("discard", "element", positional=True)
def _discard(thread: Thread, receiver: Set, element: Any, /) -> None:
    if thread.guard is not None or type(receiver) is not Set:
        check_mutable_by(thread, "discard", receiver, "delete from")
    check_key(thread, "discard", element)
    if element in receiver:
        del receiver[element]
        note_deletion(thread, receiver)


@native("intersection", "other?", positional=True)
def _intersection(thread: Thread, receiver: Set, other: Any = _ABSENT, /) -> Set:
    return _combined(thread, "intersection", "&", receiver, other)


@native("issubset", "other?", positional=True)
def _issubset(thread: Thread, receiver: Set, other: Any = _ABSENT, /) -> Bool:
    _check_iterable("issubset", other)
    if not receiver:
        return TRUE
    found: dict[Any, None] = {}
    for element in each(thread, other):
        check_key(thread, "issubset", element)
        if element in receiver:
            found[element] = None
            if len(found) == len(receiver):
                return TRUE
    return FALSE


@native("issuperset", "other?", positional=True)
def _issuperset(thread: Thread, receiver: Set, other: Any = _ABSENT, /) -> Bool:
    _check_iterable("issuperset", other)
    for element in each(thread, other):
        check_key(thread, "issuperset", element)
        if element not in receiver:
            return FALSE
    return TRUE


@native("pop", positional=True)
def _pop(thread: Thread, receiver: Set, /) -> Any:
    if not receiver:
        raise EvalError("pop: empty set")
    if thread.guard is not None or type(receiver) is not Set:
        check_mutable_by(thread, "pop", receiver, "delete from")
    element = next(iter(receiver))
    check_key(thread, "pop", element)
    del receiver[element]
    note_deletion(thread, receiver)
    return element


@native("remove", "element", positional=True)
def _remove(thread: Thread, receiver: Set, element: Any, /) -> None:
    if thread.guard is not None or type(receiver) is not Set:
        check_mutable_by(thread, "remove", receiver, "delete from")
    if receiver:
        check_key(thread, "remove", element)
        if element in receiver:
            del receiver[element]
            note_deletion(thread, receiver)
            return
    raise EvalError("remove: missing key")


@native("symmetric_difference", "other?", positional=True)
def _symmetric_difference(thread: Thread, receiver: Set, other: Any = _ABSENT, /) -> Set:
    return _combined(thread, "symmetric_difference", "^", receiver, other)


@native("union", maximum=-1)
def _union(thread: Thread, receiver: Set, /, *others: Any, **unexpected: Any) -> Set:
    result = _copied(thread, receiver)
    _insert_all(thread, "union", result, others, unexpected)
    return result


@native("update", maximum=-1)
def _update(thread: Thread, receiver: Set, /, *others: Any, **unexpected: Any) -> None:
    _insert_all(thread, "update", receiver, others, unexpected)


def _insert_all(thread: Thread, name: str, target: Set, others: tuple[Any, ...], unexpected: dict[str, Any]) -> None:
    if unexpected:
        raise EvalError(f"{name}: does not accept keyword arguments")
    for number, other in enumerate(others, 1):
        if not is_iterable(other):
            raise EvalError(f"{name}: argument #{number} is not iterable: {type_name(other)}")
        elements = collect(thread, other)
        if not elements:
            continue
        check_mutable_by(thread, name, target, "insert into")
        if other is target:
            raise EvalError(f"{name}: cannot insert into hash table during iteration")
        try:
            store_keys(thread, target, elements)
        except EvalError as error:
            raise named(name, error) from None


METHODS: Final[dict[str, Callable[..., Any]]] = {
    "add": _add,
    "clear": _clear,
    "difference": _difference,
    "discard": _discard,
    "intersection": _intersection,
    "issubset": _issubset,
    "issuperset": _issuperset,
    "pop": _pop,
    "remove": _remove,
    "symmetric_difference": _symmetric_difference,
    "union": _union,
    "update": _update,
}
"""The methods of sets by their names."""
