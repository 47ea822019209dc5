"""Iteration, paid for by the slice: for compiled loops and for builtins."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.errors import EvalError
from plait.starlark.running.mutation import lock, unlock
from plait.starlark.values import FrozenDict, FrozenList, FrozenSet, HostValue, Set, type_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plait.starlark.thread import Thread

__all__ = [
    "collect",
    "each",
    "enumerated_parts",
    "flat",
    "is_iterable",
    "length",
    "locked_parts",
    "locked_turns",
    "parts",
    "range_parts",
    "turns",
]

_FIRST: Final = 1_024
"""Steps of a long loop's first slice; the next ones double."""
_LARGEST: Final = 8_192
"""Steps of a long loop's largest slice."""

_ABSENT: Final = object()
_MOST: Final = 1 << 62
"""Ranges within this in magnitude need no closer look."""
_AT_ONCE: Final = 262_144
"""Most elements copied between two looks at the context."""

_SEQUENCES: Final = frozenset({list, FrozenList, tuple, range})
_TABLES: Final = frozenset({dict, FrozenDict, Set, FrozenSet})
_LOCKED: Final = frozenset({list, dict, Set})


def is_iterable(value: Any) -> bool:
    """Tell whether a script may iterate over the value."""
    kind = type(value)
    return kind in _SEQUENCES or kind in _TABLES or (isinstance(value, HostValue) and hasattr(value, "__iter__"))


def length(value: Any) -> int:
    """Return how many elements a list, tuple, range, dict or set has, however many."""
    if type(value) is range:
        return max(0, (value.stop - value.start + value.step - (1 if value.step > 0 else -1)) // value.step)
    return len(value)


def parts(thread: Thread, value: Any, cost: int) -> Any:
    """Return slices of an iterable, each paid for when it is reached.

    The value must not change while the slices are used: compiled code sees to it.

    Args:
        thread: Who pays.
        value: What to iterate over.
        cost: Steps of one turn.

    Returns:
        An iterable of iterables.

    Raises:
        EvalError: The value is not iterable.
    """
    kind = type(value)
    if kind is list or kind is tuple or kind is FrozenList:
        count = len(value)
        work = count * cost
        if work > _FIRST:
            return _slices(thread, value, count, cost)
        thread.left -= work
        if thread.left < 0:
            thread.refuel()
        return (value,)
    if kind is range:
        return _range_parts(thread, value, cost)
    if kind in _TABLES:
        thread.charge(len(value))
        return parts(thread, list(value), cost)
    return _host_parts(thread, value, cost)


def _range_parts(thread: Thread, value: range, cost: int) -> Any:
    count = length(value)
    work = count * cost
    if work > _FIRST:
        return _slices(thread, value, count, cost)
    thread.left -= work
    if thread.left < 0:
        thread.refuel()
    return (value,)


def turns(thread: Thread, value: Any) -> Any:
    """Return something to iterate over whose turns the loop pays for one by one.

    The value must not change while the loop runs: compiled code sees to it.

    Args:
        thread: Who pays.
        value: What to iterate over.

    Raises:
        EvalError: The value is not iterable.
    """
    kind = type(value)
    if kind in _SEQUENCES:
        return value
    if kind in _TABLES:
        thread.charge(len(value))
        return list(value)
    return chain.from_iterable(_host_parts(thread, value, 1))


def locked_turns(thread: Thread, value: Any) -> Iterator[Any]:
    """Yield once what ``turns`` returns, and refuse changes of the value until then or until this is dropped."""
    if type(value) not in _LOCKED:
        yield turns(thread, value)
        return
    lock(thread, value)
    try:
        yield turns(thread, value[:] if type(value) is list else value)
    finally:
        unlock(thread, value)


def locked_parts(thread: Thread, value: Any, cost: int) -> Any:
    """Do as ``parts``, and refuse changes of the value until the slices are used up or dropped."""
    if type(value) not in _LOCKED:
        return parts(thread, value, cost)
    return _locked(thread, value, cost)


def range_parts(thread: Thread, cost: int, start: Any, stop: Any = _ABSENT, step: Any = 1) -> Any:
    """Do as ``parts`` for ``range(start, stop, step)``, or ``range(start)`` when there is no ``stop``."""
    if stop is _ABSENT:
        if type(start) is int and start < _MOST:
            return _counted_parts(thread, 0, start, cost)
        return _checked_range_parts(thread, cost, start)
    plain = type(start) is int and type(stop) is int and type(step) is int
    if plain and -_MOST < start < _MOST and -_MOST < stop < _MOST and -_MOST < step < _MOST:
        if step == 1:
            return _counted_parts(thread, start, stop, cost)
        if step:
            return _range_parts(thread, range(start, stop, step), cost)
    return _checked_range_parts(thread, cost, start, stop, step)


def _counted_parts(thread: Thread, start: int, stop: int, cost: int) -> Any:
    count = stop - start if stop > start else 0
    work = count * cost
    if work > _FIRST:
        return _slices(thread, range(start, stop), count, cost)
    thread.left -= work
    if thread.left < 0:
        thread.refuel()
    return (range(start, stop),)


def _checked_range_parts(thread: Thread, cost: int, *arguments: Any) -> Any:
    """Let the builtin itself look at the arguments."""
    from plait.starlark.universe.universe import UNIVERSAL  # noqa: PLC0415 - the universe is built on this module

    return parts(thread, UNIVERSAL["range"](thread, *arguments), cost)


def flat(slices: Any) -> Any:
    """Return the elements of slices: for loops nested so deeply that two blocks each would be too many."""
    return chain.from_iterable(slices)


def enumerated_parts(thread: Thread, cost: int, value: Any) -> Any:
    """Do as ``parts`` for ``enumerate(value)``."""
    return _enumerated(parts(thread, value, cost + 1))


def _enumerated(slices: Any) -> Any:
    if type(slices) is tuple:
        return (enumerate(slices[0]),)
    return _enumerated_slices(slices)


def _enumerated_slices(slices: Any) -> Iterator[Any]:
    start = 0
    for part in slices:
        yield enumerate(part, start)
        start += len(part)


def _locked(thread: Thread, value: Any, cost: int) -> Iterator[Any]:
    # The slices are of a copy: a builtin of the host may change what it was given, whatever it was told.
    lock(thread, value)
    try:
        yield from parts(thread, value[:] if type(value) is list else value, cost)
    finally:
        unlock(thread, value)


def _slices(thread: Thread, value: Any, count: int, cost: int) -> Iterator[Any]:
    size = max(1, _FIRST // cost)
    largest = max(size, _LARGEST // cost)
    at = 0
    while at < count:
        end = min(at + size, count)
        thread.left -= (end - at) * cost
        if thread.left < 0:
            thread.refuel()
        yield value[at:end]
        at = end
        size = min(size * 2, largest)


def _host_parts(thread: Thread, value: Any, cost: int) -> Iterator[Any]:
    if not is_iterable(value):
        raise EvalError(f"{type_name(value)} value is not iterable")
    return _host_elements(thread, iter(value), cost)


def _host_elements(thread: Thread, iterator: Any, cost: int) -> Iterator[Any]:
    for element in iterator:
        thread.charge(cost)
        yield (element,)


def each(thread: Thread, value: Any) -> Iterator[Any]:
    """Iterate for a builtin: one step an element, no changes of the value while it is under way.

    Args:
        thread: Who pays.
        value: Something iterable.
    """
    for part in locked_parts(thread, value, 1):
        yield from part


def collect(thread: Thread, value: Any) -> list[Any]:
    """Return a new list of the elements of something iterable, one step each, paid for before it is made.

    Args:
        thread: Who pays.
        value: Something iterable.
    """
    kind = type(value)
    if kind not in _SEQUENCES and kind not in _TABLES:
        return [element for part in _host_parts(thread, value, 1) for element in part]
    count = length(value)
    if count <= _AT_ONCE:
        thread.charge(count)
        return list(value)
    thread.afford(count)
    result: list[Any] = []
    iterator = iter(value)
    while part := list(islice(iterator, _AT_ONCE)):
        thread.charge(len(part))
        result += part
    return result
