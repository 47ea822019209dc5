"""Hashing: which values may be keys, what looking at a scalar costs, and keys that collide on purpose."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, TypeVar

from plait.starlark.comparison.collisions import FORGEABLE_BITS, check_collisions, note_hash
from plait.starlark.errors import EvalError, StepLimitExceeded
from plait.starlark.values import (
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
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from plait.starlark.thread import Thread

__all__ = [
    "DEPTH_MAX",
    "LEAST",
    "LIGHT",
    "MOST",
    "SCALARS",
    "SHORT",
    "SIZED",
    "SLICE",
    "SMALL_TABLE",
    "charge_keys",
    "check_hashable",
    "check_key",
    "heft",
    "is_light",
    "note_deletion",
    "note_key",
    "paid_slices",
    "store",
    "store_keys",
    "unhashable",
    "weight",
]

_S = TypeVar("_S")

SCALARS: Final = frozenset({type(None), Bool, int, float, NaN, str, Bytes})
"""Types of the values that hold no others: Python may compare and hash them by itself."""

SIZED: Final = frozenset({int, str, Bytes})
"""Scalar types whose values can be so large that comparing two of them is work."""

SLICE: Final = 65_536
"""Elements that one native operation handles at a time: a few milliseconds."""

DEPTH_MAX: Final = 200
"""Levels of nesting that comparing and hashing go into; Python's own recursion stays far from its end."""

_LIST_TYPES: Final = frozenset({list, FrozenList})
_DICT_TYPES: Final = frozenset({dict, FrozenDict})
_SET_TYPES: Final = frozenset({Set, FrozenSet})

_UNFORGEABLE: Final = frozenset({type(None), Bool, float, NaN, str, Bytes})
"""Types of keys of which no script can find many that share a hash."""

SHORT: Final = 64
"""Characters or bytes from which looking at a whole string costs more than a step."""

LIGHT: Final = frozenset({type(None), Bool, float, NaN})
"""Scalar types whose values are all small, and of which no script can find many that share a hash."""

# A digit of CPython's integers: it compares those of one digit, either sign, in no time.
MOST: Final = (1 << 30) - 1
LEAST: Final = -MOST

_LATEST: Final[list[Any]] = [None]
"""The last tuple of which all elements were found to be light; most keys are looked up and stored in one go."""

_FEW: Final = 8
"""Elements of the longest tuple that is looked at in place."""

_HEAVY: Final = 64
"""Weight from which values are handled one by one, so that no single native operation takes long."""

_CROWD: Final = 64
"""Size from which a table's new keys are tried for collisions."""

_DELETIONS: Final = object()
"""Key in ``Thread.locals``: the deletions from each table, by its id, since it was last rebuilt."""

_TABLES_MAX: Final = 1_024
"""Tables whose deletions are counted at a time."""

SMALL_TABLE: Final = 16_384
"""Bytes that a table takes up to which nobody minds its deleted keys: there are at most some hundreds of them."""


def weight(scalar: Any) -> int:
    """Return the steps, beyond one, that it costs to look at a whole scalar.

    Args:
        scalar: A value of one of the ``SCALARS``.

    Returns:
        One step for every 64 characters or bytes, and for every 512 bits of an integer.
    """
    kind = type(scalar)
    if kind is str or kind is Bytes:
        return len(scalar) >> 6
    return scalar.bit_length() >> 9 if kind is int else 0


def heft(values: Collection[Any]) -> tuple[int, int] | None:
    """Return what ``weight`` says of many values at once.

    Args:
        values: At most a ``SLICE`` of them.

    Returns:
        The sum of their weights and the greatest one; ``None`` when some of them are not scalars.
    """
    kinds = set(map(type, values))
    if not kinds <= SCALARS:
        return None
    if kinds.isdisjoint(SIZED):
        return 0, 0
    if len(kinds) > 1:
        weights = list(map(weight, values))
        return sum(weights), max(weights)
    measure, shift = (int.bit_length, 9) if int in kinds else (len, 6)
    sizes = list(map(measure, values))
    heaviest = max(sizes) >> shift
    return (sum(sizes) >> shift, heaviest) if heaviest else (0, 0)


def is_light(values: tuple[Any, ...] | list[Any]) -> bool:
    """Tell whether a few values are all scalars that Python compares and hashes in no time, whatever they are.

    Args:
        values: A tuple or list, which had better be short.
    """
    for value in values:
        kind = type(value)
        if kind is int:
            if value < MOST and value > LEAST:
                continue
        elif kind is str:
            if len(value) < SHORT:
                continue
        elif kind in LIGHT:
            continue
        return False
    return True


def check_hashable(thread: Thread, x: Any) -> None:
    """Refuse a value that cannot be a key, and charge what hashing it costs.

    Args:
        thread: The thread that pays a step for each value inside a tuple or struct.
        x: The value.

    Raises:
        EvalError: It is, or has inside, a list, a dict or another value without a hash, or is nested too deeply.
    """
    kind = type(x)
    if (kind is str and len(x) < SHORT) or (kind is int and x < MOST and x > LEAST):
        return
    problem = unhashable(thread, x)
    if problem is not None:
        raise EvalError(problem)


def check_key(thread: Thread, name: str, key: Any) -> None:
    """Refuse, in the name of a method, a value that cannot be a key.

    Args:
        thread: The thread that pays.
        name: The method, for the message.
        key: The value.

    Raises:
        EvalError: As ``check_hashable``, after the method's name.
    """
    problem = unhashable(thread, key)
    if problem is not None:
        raise EvalError(f"{name}: {problem}")


def unhashable(thread: Thread, x: Any) -> str | None:
    """Return why a value cannot be a key, ``None`` when it can, and charge what hashing it costs.

    Args:
        thread: The thread that pays a step for each value inside a tuple or struct.
        x: The value.

    Returns:
        The message of the error, without a method's name.
    """
    kind = type(x)
    if kind is tuple:
        size = len(x)
        if x is _LATEST[0]:
            light = True
        elif size == 2:
            # What `is_light` does, in place: most tuples that are keys have two elements.
            first, second = x
            light = (
                (first < MOST and first > LEAST)
                if (part := type(first)) is int
                else len(first) < SHORT
                if part is str
                else part in LIGHT
            ) and (
                (second < MOST and second > LEAST)
                if (part := type(second)) is int
                else len(second) < SHORT
                if part is str
                else part in LIGHT
            )
        else:
            light = size <= _FEW and is_light(x)
        if light:
            _LATEST[0] = x
            thread.left -= size
            if thread.left < 0:
                thread.refuel()
            return None
    elif kind in SCALARS:
        if kind in SIZED and (extra := weight(x)):
            thread.charge(extra)
        return None
    if kind is tuple and len(x) <= SLICE and (found := heft(x)) is not None:
        thread.charge(len(x) + found[0])
        return None
    return _unhashable_inside(thread, x)


def _unhashable_inside(thread: Thread, x: Any) -> str | None:
    """Walk through a value depth first, as hashing it would, without calling itself."""
    stack: list[Iterator[Any]] = [iter((x,))]
    while stack:
        for value in stack[-1]:
            kind = type(value)
            if kind is tuple:
                inside = _doubtful(thread, value)
            elif kind is Struct:
                inside = _doubtful(thread, tuple(value.fields.values()))
            elif kind in SCALARS or (problem := _refusal(value)) is None:
                continue
            else:
                return problem
            if len(stack) > DEPTH_MAX:
                return f"unhashable: {type_name(x)} nested more than {DEPTH_MAX} deep"
            stack.append(inside)
            break
        else:
            stack.pop()
    return None


def _doubtful(thread: Thread, values: tuple[Any, ...]) -> Iterator[Any]:
    """Yield those of the values that are not scalars, and pay for all."""
    for part in paid_slices(thread, values):
        found = heft(part)
        if found is not None:
            thread.charge(found[0])
            continue
        scalars = [value for value in part if type(value) in SCALARS]
        thread.charge((heft(scalars) or (0, 0))[0])
        yield from [value for value in part if type(value) not in SCALARS]


def _refusal(value: Any) -> str | None:
    """Return why a value that is neither a scalar nor a tuple nor a struct cannot be a key."""
    kind = type(value)
    if kind in _LIST_TYPES or kind in _DICT_TYPES or kind in _SET_TYPES:
        return f"unhashable type: {type_name(value)}"
    if kind is range or kind is Module:
        return f"unhashable: {type_name(value)}"
    if isinstance(value, HostValue):
        try:
            hash(value)
        except StepLimitExceeded:
            raise
        except EvalError as error:
            return error.message
        except TypeError:
            return f"unhashable: {type_name(value)}"
    return None


def paid_slices(thread: Thread, values: Sequence[_S]) -> Iterator[Sequence[_S]]:
    """Yield parts of a sequence that one native operation can handle, each when its steps are paid for.

    Args:
        thread: The thread that pays a step for each element.
        values: The sequence, which does not change meanwhile.
    """
    for start in range(0, len(values), SLICE):
        part = values[start : start + SLICE]
        thread.charge(len(part))
        yield part


def charge_keys(thread: Thread, keys: Sequence[Any]) -> None:
    """Charge what it costs, beyond a step each, to look keys up again that are in a dict or set already.

    Args:
        thread: The thread that pays.
        keys: At most a ``SLICE`` of them.
    """
    found = heft(keys)
    if found is not None:
        thread.charge(found[0])
        return
    for key in keys:
        check_hashable(thread, key)


def store(thread: Thread, table: dict[Any, Any], key: Any, value: Any) -> None:
    """Put a key that a script chose into a dict or set.

    Args:
        thread: The thread that pays for hashing the key.
        table: The dict or set; the caller has seen to it that it may change.
        key: The key.
        value: Its value; ``None`` for a set.

    Raises:
        EvalError: The key is unhashable, or shares its hash with too many others of this table.
    """
    kind = type(key)
    if (kind is str and len(key) < SHORT) or (kind is int and key < MOST and key > LEAST):
        table[key] = value
        return
    if kind is tuple and key is _LATEST[0]:
        thread.left -= len(key)
        if thread.left < 0:
            thread.refuel()
    elif (problem := unhashable(thread, key)) is not None:
        raise EvalError(problem)
    size = len(table)
    table[key] = value
    if size >= _CROWD and len(table) != size and kind not in _UNFORGEABLE:
        try:
            check_collisions(table, key)
        except EvalError:
            del table[key]
            raise


def note_key(thread: Thread, key: Any) -> Any:
    """Check a key that goes into a table which is out of reach: that of a dict comprehension.

    Args:
        thread: The thread that pays for hashing the key, and remembers the keys whose hashes a script could choose.
        key: The key.

    Returns:
        The key.

    Raises:
        EvalError: The key is unhashable, or too many different keys had its hash.
    """
    kind = type(key)
    if (kind is str and len(key) < SHORT) or (kind is int and key < MOST and key > LEAST):
        return key
    problem = unhashable(thread, key)
    if problem is not None:
        raise EvalError(problem)
    if kind not in _UNFORGEABLE:
        note_hash(thread, key)
    return key


def store_keys(
    thread: Thread, table: dict[Any, Any], keys: Sequence[Any], value_of: Callable[[Any], Any] | None = None
) -> None:
    """Put many keys that a script chose into a dict or set, as ``store`` does one after the other.

    Args:
        thread: The thread that pays a step for each key.
        table: The dict or set; the caller has seen to it that it may change.
        keys: The keys in order.
        value_of: Gives each key's value, without calling a script; ``None`` for a set.

    Raises:
        EvalError: As ``store``; the keys before the one that it stands for are in the table then.
    """
    for part in paid_slices(thread, keys):
        if _are_tame(thread, part):
            table.update(dict.fromkeys(part) if value_of is None else zip(part, map(value_of, part), strict=True))
        else:
            for key in part:
                store(thread, table, key, None if value_of is None else value_of(key))


def _are_tame(thread: Thread, keys: Sequence[Any]) -> bool:
    """Tell whether Python can store all keys at once: scalars, none huge and none with a hash made to collide."""
    found = heft(keys)
    if found is None or found[1] > _HEAVY:
        return False
    thread.charge(found[0])
    whole = [key for key in keys if type(key) is int]
    return not whole or max(map(int.bit_length, whole)) <= FORGEABLE_BITS


def note_deletion(thread: Thread, table: dict[Any, Any]) -> None:
    """Rebuild a dict or set, which nobody can see, after many keys were deleted from it.

    A Python dict keeps the places of deleted keys until it grows, and whatever looks for its first key walks over
    them: taking the keys out one by one from the front would take time in the square of their number.

    Args:
        thread: The thread, which remembers the number of deletions and pays for its share of rebuilding.
        table: The dict or set from which one key was just deleted.
    """
    if len(table) >= _TABLES_MAX:
        thread.charge(math.isqrt(len(table)) >> 6)
    if table.__sizeof__() <= SMALL_TABLE:
        return
    counts: dict[int, int] = thread.locals.setdefault(_DELETIONS, {})
    count = counts.get(id(table), 0) + 1
    if count < 64 or count * count < 256 * len(table):
        if len(counts) >= _TABLES_MAX:
            counts.clear()
        # The id may be another table's that is gone: the rebuilding then only comes early.
        counts[id(table)] = count
        return
    del counts[id(table)]
    # Hashes are kept and not computed again, and the way back is a copy of memory.
    compact: dict[Any, Any] = {}
    compact.update(table)
    table.clear()
    table.update(compact)
