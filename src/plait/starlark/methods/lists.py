"""Lists: their methods, and ``extend`` for the operator ``+=``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from plait.starlark.comparison.hashing import LEAST, MOST, SHORT
from plait.starlark.comparison.membership import position
from plait.starlark.errors import EvalError
from plait.starlark.methods.naming import check_mutable_by, named
from plait.starlark.native import native
from plait.starlark.running.iteration import collect, is_iterable
from plait.starlark.text.numbers import int_text
from plait.starlark.values import type_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from plait.starlark.thread import Thread

__all__ = ["METHODS", "extend"]

_ABSENT: Final = object()

_INT32: Final = 1 << 31
_INT64: Final = 1 << 63

_FEW: Final = 511
"""Elements up to which moving them all costs no step."""

_SLICE: Final = 65_536
"""Elements that are copied at once."""

_MOVED: Final = 9
"""Moving 2**9 elements one place on costs one step."""


def extend(thread: Thread, receiver: list[Any], iterable: Any) -> None:
    """Append all elements of something iterable to a list, which may be the very same.

    Args:
        thread: The thread that pays a step for each element.
        receiver: The list; the caller has seen to it that it may change.
        iterable: Something iterable.
    """
    receiver.extend(collect(thread, iterable))


def _int64(name: str, number: int, value: Any) -> int:
    """Return an argument that must be an integer of 64 bits."""
    if type(value) is not int:
        raise EvalError(f"{name}: for parameter {number}: got {type_name(value)}, want int")
    if not -_INT64 <= value < _INT64:
        raise EvalError(
            f"{name}: for parameter {number}: {int_text(value)} out of range (want value in signed 64-bit range)"
        )
    return value


def _bound(name: str, what: str, value: Any, size: int, default: int) -> int:
    """Return a ``start`` or ``end`` argument as an index from 0 to the size; ``None`` is as if it were absent."""
    if value is None:
        return default
    if type(value) is not int:
        raise EvalError(f"{name}: invalid {what} index: got {type_name(value)}, want int")
    if not -_INT32 <= value < _INT32:
        raise EvalError(f"{name}: invalid {what} index: {int_text(value)} out of range")
    return min(max(value + size if value < 0 else value, 0), size)


def _find(thread: Thread, name: str, receiver: list[Any], value: Any, bounds: tuple[int, int]) -> int:
    try:
        return position(thread, receiver, value, *bounds)
    except EvalError as error:
        raise named(name, error) from None


@native("append", "object", positional=True)
def _append(thread: Thread, receiver: list[Any], item: Any, /) -> None:
    if thread.guard is not None or type(receiver) is not list:
        check_mutable_by(thread, "append", receiver, "append to")
    receiver.append(item)


@native("clear", positional=True)
def _clear(thread: Thread, receiver: list[Any], /) -> None:
    check_mutable_by(thread, "clear", receiver, "clear")
    receiver.clear()


@native("extend", "iterable", positional=True)
def _extend(thread: Thread, receiver: list[Any], iterable: Any, /) -> None:
    kind = type(iterable)
    if (kind is list or kind is tuple) and thread.guard is None and type(receiver) is list and len(iterable) <= _SLICE:
        thread.left -= len(iterable)
        if thread.left < 0:
            thread.refuel()
        receiver.extend(iterable)
        return
    if not is_iterable(iterable):
        raise EvalError(f"extend: for parameter 1: got {type_name(iterable)}, want iterable")
    check_mutable_by(thread, "extend", receiver, "extend")
    extend(thread, receiver, iterable)


@native("index", "value", "start?", "end?", positional=True)
def _index(thread: Thread, receiver: list[Any], value: Any, start: Any = None, end: Any = None, /) -> int:
    size = len(receiver)
    kind = type(value)
    if (
        ((kind is str and len(value) < SHORT) or (kind is int and value < MOST and value > LEAST))
        and start is None
        and end is None
        and size <= _SLICE
    ):
        thread.left -= size
        if thread.left < 0:
            thread.refuel()
        try:
            return receiver.index(value)
        except ValueError:
            raise EvalError("index: value not in list") from None
        except EvalError as error:
            raise named("index", error) from None
    first = 0 if start is None else _bound("index", "start", start, size, 0)
    last = size if end is None else _bound("index", "end", end, size, size)
    place = _find(thread, "index", receiver, value, (first, last))
    if place < 0:
        raise EvalError("index: value not in list")
    return place


@native("insert", "index", "object", positional=True)
def _insert(thread: Thread, receiver: list[Any], index: Any, item: Any, /) -> None:
    place = index if type(index) is int and index < _INT32 and index > -_INT32 else _int64("insert", 1, index)
    if thread.guard is not None or type(receiver) is not list:
        check_mutable_by(thread, "insert", receiver, "insert into")
    size = len(receiver)
    if size > _FEW:
        place = max(place + size, 0) if place < 0 else min(place, size)
        thread.charge((size - place) >> _MOVED)
    receiver.insert(place, item)


@native("pop", "index?", positional=True)
def _pop(thread: Thread, receiver: list[Any], index: Any = _ABSENT, /) -> Any:
    size = len(receiver)
    if size and thread.guard is None and type(receiver) is list:
        if index is _ABSENT:
            return receiver.pop()
        if size <= _FEW and type(index) is int and index < size and index >= -size:
            return receiver.pop(index)
    asked = size - 1 if index is _ABSENT else _int64("pop", 1, index)
    place = asked + size if asked < 0 else asked
    if size == 0:
        raise EvalError(f"pop: index {asked} out of range: empty list")
    if not 0 <= place < size:
        raise EvalError(f"pop: list index {asked} out of range [{-size}:{size - 1}]")
    check_mutable_by(thread, "pop", receiver, "pop from")
    thread.charge((size - place) >> _MOVED)
    return receiver.pop(place)


@native("remove", "value", positional=True)
def _remove(thread: Thread, receiver: list[Any], value: Any, /) -> None:
    if thread.guard is not None or type(receiver) is not list:
        check_mutable_by(thread, "remove", receiver, "remove from")
    kind, size = type(value), len(receiver)
    if ((kind is str and len(value) < SHORT) or (kind is int and value < MOST and value > LEAST)) and size <= _SLICE:
        thread.left -= size
        if thread.left < 0:
            thread.refuel()
        try:
            receiver.remove(value)
        except ValueError:
            raise EvalError("remove: element not found") from None
        except EvalError as error:
            raise named("remove", error) from None
        return
    place = _find(thread, "remove", receiver, value, (0, len(receiver)))
    if place < 0:
        raise EvalError("remove: element not found")
    del receiver[place]


METHODS: Final[dict[str, Callable[..., Any]]] = {
    "append": _append,
    "clear": _clear,
    "extend": _extend,
    "index": _index,
    "insert": _insert,
    "pop": _pop,
    "remove": _remove,
}
"""The methods of lists by their names."""
