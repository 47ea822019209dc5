"""Sorting: the order of values, and stable sorts that are charged, can be cancelled and never go astray in C."""

from __future__ import annotations

import operator
from bisect import bisect_left, bisect_right
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.comparison.equality import KINDS, equal_at, includes, too_deep
from plait.starlark.comparison.hashing import (
    DEPTH_MAX,
    LEAST,
    LIGHT,
    MOST,
    SCALARS,
    SHORT,
    SIZED,
    SLICE,
    heft,
    is_light,
    paid_slices,
    weight,
)
from plait.starlark.errors import EvalError, StepLimitExceeded
from plait.starlark.methods.naming import call_failure
from plait.starlark.values import Bool, Bytes, HostValue, NaN, Set, type_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from plait.starlark.thread import Thread

    _Key = Callable[[Any], Any]

__all__ = ["ordered", "sort"]

_OPERATORS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

_ORDERS: Final[Mapping[type, str]] = {
    str: "text",
    Bytes: "bytes",
    Bool: "bool",
    int: "number",
    float: "number",
    NaN: "number",
}
"""The scalars that have an order, and among which it holds."""

_SMALL: Final = 20
"""Up to so many values that Python cannot sort natively are sorted by insertion, as go.starlark.net does."""

_SEQUENCES: Final = frozenset({list, tuple})

_FEW: Final = 8
"""Elements of the longest tuple that is compared in place."""

_CHECKED_LATE: Final = 256
"""Values so few that it does no harm to find out afterwards that they were large."""

_QUICK: Final = 16_384
"""Scalars that are sorted natively at once when comparing two of them takes no time."""

_QUICK_TUPLES: Final = 4_096
"""Tuples of a few such scalars that are sorted so."""

_MIXED: Final = LIGHT | {int, str}

_RUN: Final = 32_768
"""Light values that one native sort handles at a time: a few milliseconds."""

_HEAVIEST: Final = 512
"""Weight of a value from which it is not sorted natively."""

_LONGEST: Final = 64
"""Elements of the longest tuple or list that is sorted natively."""


def ordered(thread: Thread, op: str, x: Any, y: Any) -> bool:
    """Return whether ``x op y``.

    Args:
        thread: The thread that pays a step for each element of what is compared.
        op: ``<``, ``<=``, ``>`` or ``>=``.
        x: Any value.
        y: Any value.

    Raises:
        EvalError: There is no order between the two, or they are nested too deeply to tell.
    """
    kind = type(x)
    if (
        (kind is str and len(x) < SHORT and type(y) is str)
        or (kind is float and type(y) is float)
        or (kind is int and x < MOST and x > LEAST and type(y) is int)
    ):
        # Written out, since to look the operator's function up and call it takes longer.
        return bool(x < y if op == "<" else x > y if op == ">" else x <= y if op == "<=" else x >= y)
    if kind is tuple and len(x) <= _FEW and type(y) is tuple and is_light(x):
        thread.charge(min(len(x), len(y)))
        try:
            # Python goes no deeper than these scalars, whatever is on the other side.
            return bool(x < y if op == "<" else x > y if op == ">" else x <= y if op == "<=" else x >= y)
        except TypeError:
            pass  # Two of them have no order: what follows finds out which.
    return _ordered_by_walk(thread, op, x, y)


def _ordered_by_walk(thread: Thread, op: str, x: Any, y: Any) -> bool:
    for depth in range(DEPTH_MAX):
        kind = KINDS.get(type(x))
        if kind is not KINDS.get(type(y)) or (kind is not list and kind is not tuple):
            return _ordered_unlike_sequences(thread, op, x, y)
        difference = _first_difference(thread, x, y, depth + 1)
        if difference is None:
            return bool(_OPERATORS[op](len(x), len(y)))
        x, y = difference
    raise too_deep()


def _ordered_unlike_sequences(thread: Thread, op: str, x: Any, y: Any) -> bool:
    order = _ORDERS.get(type(x))
    if order is not None and order == _ORDERS.get(type(y)):
        if type(x) in SIZED and (extra := weight(x)):
            thread.charge(extra)
        return bool(_OPERATORS[op](x, y))
    if KINDS.get(type(x)) is Set is KINDS.get(type(y)):
        return _set_ordered(thread, op, x, y)
    if isinstance(x, HostValue) or isinstance(y, HostValue):
        try:
            return bool(_OPERATORS[op](x, y))
        except TypeError:
            pass  # Python's own way to say that neither of the two knows how.
    raise EvalError(f"{type_name(x)} {op} {type_name(y)} not implemented")


def _set_ordered(thread: Thread, op: str, x: Set, y: Set) -> bool:
    small, large = (x, y) if op[0] == "<" else (y, x)
    if len(small) > len(large) or (len(op) == 1 and len(small) == len(large)):
        return False
    return includes(thread, large, small)


def _first_difference(thread: Thread, x: Sequence[Any], y: Sequence[Any], depth: int) -> tuple[Any, Any] | None:
    """Return the first two elements at the same place that are not equal."""
    size = min(len(x), len(y))
    for start in range(0, size, SLICE):
        end = min(start + SLICE, size)
        thread.charge(end - start)
        for a, b in zip(x[start:end], y[start:end], strict=True):
            if type(a) in SCALARS and type(b) in SCALARS:
                if a is b:
                    continue
                if type(a) in SIZED and (extra := weight(a)):
                    thread.charge(extra)
                if a != b:
                    return a, b
            elif not equal_at(thread, a, b, depth):
                return a, b
    return None


def sort(thread: Thread, values: list[Any], key: Any, reverse: bool) -> list[Any]:
    """Return the values in ascending order; those that are equal stay in the order they had.

    Args:
        thread: The thread that pays n·log2(n)/4 steps, one for each value, for the size of what is compared.
        values: The values, which only the caller can reach; not changed.
        key: A callable of the script, called as ``key(thread, value)``; ``None`` compares the values themselves.
        reverse: In descending order; equal values still stay in the order they had.

    Raises:
        EvalError: There is no order between two of the values.
    """
    keys = values if key is None else _keys(thread, values, key)
    if len(keys) <= _QUICK and (quickly := _sorted_quickly(thread, values, keys, reverse=reverse)) is not None:
        return quickly
    if key is None:
        return _sorted(thread, values, None, values, reverse=reverse)
    places = _sorted(thread, list(range(len(keys))), keys.__getitem__, keys, reverse=reverse)
    return [values[place] for part in paid_slices(thread, places) for place in part]


def _keys(thread: Thread, values: list[Any], key: Any) -> list[Any]:
    try:
        if len(values) <= SLICE:
            thread.charge(len(values))
            return [key(thread, x) for x in values]
        return [key(thread, x) for part in paid_slices(thread, values) for x in part]
    except TypeError as error:
        raise call_failure(error, key) from None


def _sorted_quickly(thread: Thread, values: list[Any], keys: list[Any], *, reverse: bool) -> list[Any] | None:
    """Sort values by keys that Python compares in no time; ``None`` when these are not such, or have no order."""
    kinds = set(map(type, keys))
    # Of a few integers that are keys of their own, the ends of the result tell whether all are small.
    late = keys is values and len(keys) <= _CHECKED_LATE and len(kinds) == 1 and int in kinds
    elements = 0 if late else _elements_of_light(kinds, keys)
    if elements < 0:
        return None
    thread.left -= len(keys) + elements + _comparisons(len(keys))
    if thread.left < 0:
        thread.refuel()
    try:
        # Python asks for one key after the other, in order, and the value that it gives is not wanted.
        result = sorted(values, key=None if keys is values else partial(next, iter(keys)), reverse=reverse)
    except TypeError:
        return None
    if late and (min(result[0], result[-1]) < LEAST or max(result[0], result[-1]) > MOST):
        return None
    return result


def _comparisons(size: int) -> int:
    """Return the steps for the comparisons of a native sort: n·log2(n) of them, each a small part of a step's work."""
    return size * size.bit_length() >> 2


def _elements_of_light(kinds: set[type], keys: list[Any]) -> int:
    """Return how many elements the tuples among the keys have; -1 unless Python compares all keys in no time."""
    if tuple in kinds:
        if len(kinds) > 1 or len(keys) > _QUICK_TUPLES or max(map(len, keys)) > _FEW:
            return -1
        elements = list(chain.from_iterable(keys))
        return len(elements) if _are_light(set(map(type, elements)), elements) else -1
    return 0 if _are_light(kinds, keys) else -1


def _are_light(kinds: set[type], values: list[Any]) -> bool:
    """Do as ``is_light`` for many values, whose types are these."""
    if len(kinds) == 1:
        if int in kinds:
            return bool(max(values) < MOST and min(values) > LEAST)
        if str in kinds:
            return max(map(len, values)) < SHORT
    return kinds <= LIGHT or (kinds <= _MIXED and is_light(values))


def _sorted(thread: Thread, items: list[Any], key: _Key | None, keys: list[Any], *, reverse: bool) -> list[Any]:
    """Sort items, the one at each place by the key at the same place; ``key`` gives it for an item."""
    if len(keys) < 2:
        return items[:]
    found = _heft_of_keys(thread, keys)
    if found is not None and found[1] <= _HEAVIEST:
        thread.charge(found[0] * len(keys).bit_length())
        size = max(_LONGEST, _RUN // (1 + found[1]))
        try:
            return _in_direction(items, reverse, lambda given: _merge_sorted(thread, given, key, size))
        except TypeError:
            pass  # Two of them have no order: what follows finds out which.
    if len(keys) <= _SMALL:
        return [items[place] for place in _insertion_sorted(thread, keys, reverse=reverse)]

    def in_order(item: Any) -> _Sortable:
        return _Sortable(thread, item if key is None else key(item))

    return _in_direction(items, reverse, lambda given: sorted(given, key=in_order))


def _in_direction(items: list[Any], reverse: bool, ascend: Callable[[list[Any]], list[Any]]) -> list[Any]:
    """Sort in ascending or descending order by means of a stable sort that can only do the first."""
    # What is stable on the reversed items is stable for the descending order once it is turned round again.
    if not reverse:
        return ascend(items)
    result = ascend(items[::-1])
    result.reverse()
    return result


def _heft_of_keys(thread: Thread, keys: list[Any]) -> tuple[int, int] | None:
    """Return the sum of the keys' weights and the greatest; ``None`` when Python must not compare them natively."""
    total = heaviest = 0
    step = SLICE // _LONGEST
    for start in range(0, len(keys), step):
        part = keys[start : start + step]
        thread.charge(len(part))
        found = _heft_of_tuples(thread, part) if KINDS.get(type(part[0])) in _SEQUENCES else heft(part)
        if found is None:
            return None
        total += found[0]
        heaviest = max(heaviest, found[1])
    return total, heaviest


def _heft_of_tuples(thread: Thread, keys: list[Any]) -> tuple[int, int] | None:
    if not _SEQUENCES.issuperset(map(KINDS.get, map(type, keys))):
        return None
    longest = max(map(len, keys))
    if longest > _LONGEST:
        return None
    elements = list(chain.from_iterable(keys))
    thread.charge(len(elements))
    found = heft(elements)
    return None if found is None else (len(elements) + found[0], longest * (1 + found[1]))


def _merge_sorted(thread: Thread, items: list[Any], key: _Key | None, size: int) -> list[Any]:
    """Sort natively, not more than about ``size`` items at a time, so that the script can be stopped in between."""
    runs = []
    for start in range(0, len(items), size):
        run = items[start : start + size]
        thread.charge(_comparisons(len(run)))
        run.sort(key=key)
        runs.append(run)
    while len(runs) > 1:
        pairs = [runs[i : i + 2] for i in range(0, len(runs), 2)]
        runs = [_merged(thread, pair[0], pair[1], key, size) if len(pair) > 1 else pair[0] for pair in pairs]
    return runs[0]


def _merged(thread: Thread, left: list[Any], right: list[Any], key: _Key | None, size: int) -> list[Any]:
    """Merge two sorted runs; of equal keys those on the left come first."""
    key_of = key or _itself
    merged: list[Any] = []
    i = j = 0
    while i < len(left) and j < len(right):
        end = min(i + size, len(left))
        stop = len(right) if end == len(left) else bisect_left(right, key_of(left[end]), j, key=key)
        if stop - j > size:
            stop = j + size
            end = bisect_right(left, key_of(right[stop]), i, end, key=key)
        # Two runs in a row: Python's own sort notices, and merges them in linear time.
        part = left[i:end] + right[j:stop]
        thread.charge(len(part))
        part.sort(key=key)
        merged += part
        i, j = end, stop
    # No copy of what may be millions, which would take long with nobody to look at the context.
    merged += left[i:]
    merged += right[j:]
    return merged


def _itself(value: Any) -> Any:
    return value


def _insertion_sorted(thread: Thread, keys: list[Any], *, reverse: bool) -> list[int]:
    """Sort a few keys; of the pairs without an order, the last one met gives the error, as in go.starlark.net."""
    places = list(range(len(keys)))
    problem: EvalError | None = None
    for i in range(1, len(keys)):
        for j in range(i, 0, -1):
            earlier, later = keys[places[j - 1]], keys[places[j]]
            less = _less(thread, earlier, later) if reverse else _less(thread, later, earlier)
            if isinstance(less, EvalError):
                problem = less
                break
            if not less:
                break
            places[j - 1], places[j] = places[j], places[j - 1]
    if problem is not None:
        raise problem
    return places


def _less(thread: Thread, x: Any, y: Any) -> bool | EvalError:
    thread.charge(1)
    try:
        return ordered(thread, "<", x, y)
    except StepLimitExceeded:
        raise
    except EvalError as error:
        return error


class _Sortable:
    """A value in the clothes that Python's sort wants: compared as the language does."""

    __slots__ = ("thread", "value")

    def __init__(self, thread: Thread, value: Any) -> None:
        self.thread = thread
        self.value = value

    def __lt__(self, other: _Sortable) -> bool:
        self.thread.charge(1)
        return ordered(self.thread, "<", self.value, other.value)
