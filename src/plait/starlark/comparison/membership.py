"""Membership: the ``in`` operator for every type that has one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.comparison.equality import equal_at
from plait.starlark.comparison.hashing import (
    LEAST,
    LIGHT,
    MOST,
    SCALARS,
    SHORT,
    SLICE,
    check_hashable,
    heft,
    unhashable,
    weight,
)
from plait.starlark.errors import EvalError
from plait.starlark.text.numbers import int_text
from plait.starlark.values import (
    Bytes,
    FrozenDict,
    FrozenList,
    FrozenSet,
    HostValue,
    Set,
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from plait.starlark.thread import Thread

__all__ = ["contains", "position"]

_WINDOW: Final = 4_000_000
"""Characters or bytes that one native search goes through: a few milliseconds."""

_SEQUENCES: Final = frozenset({list, FrozenList, tuple})

_TABLES: Final = frozenset({dict, FrozenDict, Set, FrozenSet})

_SHORT_TEXT: Final = 65_536
"""Characters that a native search for a short string goes through in no time."""

_HEAVY: Final = 64
"""Weight of what is looked for from which it is compared element by element."""


def contains(thread: Thread, container: Any, x: Any) -> bool:
    """Return whether ``x in container``.

    Args:
        thread: The thread that pays a step for each element looked at, and one for every 16 characters.
        container: Any value.
        x: Any value.

    Raises:
        EvalError: The container has no ``in``, or none for such a value.
    """
    kind, wanted = type(container), type(x)
    if (wanted is str and len(x) < SHORT) or (wanted is int and x < MOST and x > LEAST) or wanted in LIGHT:
        if kind is dict or kind is FrozenDict or kind is Set or kind is FrozenSet:
            return x in container
        if (kind is list or kind is tuple or kind is FrozenList) and len(container) <= SLICE:
            thread.left -= len(container)
            if thread.left < 0:
                thread.refuel()
            return x in container
        if kind is wanted is str and len(container) < _SHORT_TEXT:
            thread.left -= (len(container) >> 4) + 1
            if thread.left < 0:
                thread.refuel()
            return x in container
    elif wanted is tuple and kind in _TABLES:
        problem = unhashable(thread, x)
        if problem is None:
            return x in container
    test = _TESTS.get(kind)
    if test is not None:
        return test(thread, container, x)
    knows = isinstance(container, HostValue) and hasattr(type(container), "__contains__")
    if knows:
        return bool(x in container)
    raise EvalError(f"unknown binary op: {type_name(x)} in {type_name(container)}")


def position(thread: Thread, values: Sequence[Any], x: Any, start: int, end: int) -> int:
    """Return where a value first stands in a list or tuple.

    Args:
        thread: The thread that pays a step for each element looked at.
        values: The list or tuple.
        x: What to look for.
        start: Index of the first element to look at.
        end: Index after the last one; at most the number of elements.

    Returns:
        An index, -1 when it is not there.

    Raises:
        EvalError: An element is nested too deeply to compare.
    """
    kind = type(x)
    if (kind is str and len(x) < SHORT) or (kind is int and x < MOST and x > LEAST) or kind in LIGHT:
        burden: int | None = 0
        if end - start <= SLICE:
            return _position_at_once(thread, values, x, start, end)
    else:
        burden = _burden(thread, x)
    if burden is None:
        return _position_one_by_one(thread, values, x, start, end)
    for first in range(start, end, SLICE):
        last = min(first + SLICE, end)
        thread.charge((last - first) * (1 + burden))
        try:
            return values.index(x, first, last)
        except ValueError:
            continue
    return -1


def _position_at_once(thread: Thread, values: Sequence[Any], x: Any, start: int, end: int) -> int:
    thread.left -= max(end - start, 0)
    if thread.left < 0:
        thread.refuel()
    try:
        return values.index(x, start, end)
    except ValueError:
        return -1


def _burden(thread: Thread, x: Any) -> int | None:
    """Return what a native comparison with the value costs beyond one step, ``None`` when it must not be native."""
    kind = type(x)
    if kind in SCALARS:
        extra = weight(x)
    elif kind in _SEQUENCES and len(x) <= _HEAVY:
        # Whatever it is compared with, Python goes no deeper than these scalars.
        thread.charge(len(x))
        found = heft(x)
        if found is None:
            return None
        extra = len(x) + found[0]
    else:
        return None
    return extra if extra <= _HEAVY else None


def _position_one_by_one(thread: Thread, values: Sequence[Any], x: Any, start: int, end: int) -> int:
    for index in range(start, end):
        thread.charge(1)
        # Looked at again each time: a host's `==` may change a list.
        if index >= len(values):
            break
        if equal_at(thread, values[index], x, 0):
            return index
    return -1


def _in_sequence(thread: Thread, container: Any, x: Any) -> bool:
    return position(thread, container, x, 0, len(container)) >= 0


def _in_dict(thread: Thread, container: Any, x: Any) -> bool:
    return unhashable(thread, x) is None and x in container


def _in_set(thread: Thread, container: Any, x: Any) -> bool:
    check_hashable(thread, x)
    return x in container


def _in_string(thread: Thread, container: Any, x: Any) -> bool:
    if type(x) is not str:
        raise EvalError(f"'in <string>' requires string as left operand, not {type_name(x)}")
    return _is_within(thread, container, x)


def _in_bytes(thread: Thread, container: Any, x: Any) -> bool:
    if type(x) is Bytes:
        return _is_within(thread, container, x)
    if type(x) is not int:
        raise EvalError(f"'in bytes' requires bytes or int as left operand, not {type_name(x)}")
    if not 0 <= x <= 255:
        raise EvalError(f"int in bytes: {int_text(x)} out of range (want value in unsigned 8-bit range)")
    return _is_within(thread, container, bytes((x,)))


def _is_within(thread: Thread, text: Any, part: Any) -> bool:
    size = len(part)
    if size > len(text):
        return False
    window = max(_WINDOW, size)
    for start in range(0, len(text) - size + 1, window):
        end = min(start + window + size - 1, len(text))
        thread.charge(((end - start) >> 4) + 1)
        if text.find(part, start, end) >= 0:
            return True
    return False


def _in_range(_thread: Thread, container: Any, x: Any) -> bool:
    kind = type(x)
    if kind is float and math.isfinite(x):
        return int(x) in container
    if kind is int:
        return x in container
    raise EvalError(f"'in <range>' requires integer as left operand, not {type_name(x)}")


_TESTS: Final[Mapping[type, Callable[[Thread, Any, Any], bool]]] = {
    list: _in_sequence,
    FrozenList: _in_sequence,
    tuple: _in_sequence,
    dict: _in_dict,
    FrozenDict: _in_dict,
    Set: _in_set,
    FrozenSet: _in_set,
    str: _in_string,
    Bytes: _in_bytes,
    range: _in_range,
}
