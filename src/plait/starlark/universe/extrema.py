"""The universal builtins max and min."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from plait.starlark.comparison import ordered
from plait.starlark.comparison.hashing import is_light, paid_slices
from plait.starlark.errors import EvalError
from plait.starlark.methods.naming import call_failure, named
from plait.starlark.native import native
from plait.starlark.running.iteration import each, is_iterable
from plait.starlark.values import Bytes, FrozenList, is_callable, type_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plait.starlark.thread import Thread

__all__ = ["EXTREMA"]

_ABSENT: Final = object()

_FEW: Final = 16
"""Elements that are looked at in place."""

_LISTS: Final = frozenset({list, FrozenList, tuple})
_NUMBERS: Final = frozenset({int, float})
_TEXTS: Final[tuple[set[type], ...]] = ({str}, {Bytes})


@native("max", "key?", maximum=-1)
def _max(thread: Thread, /, *args: Any, key: Any = _ABSENT) -> Any:
    if key is _ABSENT:
        if len(args) == 2:
            x, y = args
            if (type(x) is int or type(x) is float) and (type(y) is int or type(y) is float):
                return y if y > x else x
        elif len(args) == 3:
            x, y, z = args
            if type(x) is int and type(y) is int and type(z) is int:
                best = y if y > x else x
                return z if z > best else best
        elif len(args) == 1 and type(args[0]) in _LISTS and 0 < len(args[0]) <= _FEW:
            values = args[0]
            for x in values:
                if type(x) is not int and type(x) is not float:
                    break
            else:
                thread.left -= len(values)
                if thread.left < 0:
                    thread.refuel()
                return max(values)
    return _extremum(thread, "max", ">", args, key)


@native("min", "key?", maximum=-1)
def _min(thread: Thread, /, *args: Any, key: Any = _ABSENT) -> Any:
    if key is _ABSENT:
        if len(args) == 2:
            x, y = args
            if (type(x) is int or type(x) is float) and (type(y) is int or type(y) is float):
                return y if y < x else x
        elif len(args) == 3:
            x, y, z = args
            if type(x) is int and type(y) is int and type(z) is int:
                best = y if y < x else x
                return z if z < best else best
        elif len(args) == 1 and type(args[0]) in _LISTS and 0 < len(args[0]) <= _FEW:
            values = args[0]
            for x in values:
                if type(x) is not int and type(x) is not float:
                    break
            else:
                thread.left -= len(values)
                if thread.left < 0:
                    thread.refuel()
                return min(values)
    return _extremum(thread, "min", "<", args, key)


def _extremum(thread: Thread, name: str, op: str, args: tuple[Any, ...], key: Any) -> Any:
    if not args:
        raise EvalError(f"{name} requires at least one positional argument")
    if key is not _ABSENT and not is_callable(key):
        raise EvalError(f'{name}: for parameter "key": got {type_name(key)}, want callable')
    values = args if len(args) > 1 else args[0]
    if not is_iterable(values):
        raise EvalError(f"{name}: {type_name(values)} value is not iterable")
    if key is _ABSENT and (type(values) in _LISTS or type(values) is range):
        return _extremum_of_slices(thread, name, op, values)
    return _extremum_by_key(thread, name, op, values, None if key is _ABSENT else key)


def _extremum_of_slices(thread: Thread, name: str, op: str, values: Any) -> Any:
    """Find the extremum slice by slice, each by Python's own function while its elements are numbers or strings."""
    best: Any = _ABSENT
    quickest: Callable[[Any], Any] = max if op == ">" else min
    if 0 < len(values) <= _FEW and type(values[0]) is str and is_light(values):
        thread.charge(len(values))
        try:
            return quickest(values)
        except TypeError:
            pass  # Two of them have no order: what follows finds out which.
    for part in paid_slices(thread, values):
        quick = _compared_quickly(thread, set(map(type, part)), part)
        for x in (quickest(part),) if quick else part:
            if best is _ABSENT or _beats(thread, name, op, x, best):
                best = x
    if best is _ABSENT:
        raise EvalError(f"{name}: argument is an empty sequence")
    return best


def _compared_quickly(thread: Thread, kinds: set[type], part: Sequence[Any]) -> bool:
    """Tell whether Python may compare these values, and charge for what is long in them."""
    if kinds <= _NUMBERS:
        return True
    if kinds not in _TEXTS:
        return False
    thread.charge(sum(map(len, part)) // 16)
    return True


def _beats(thread: Thread, name: str, op: str, x: Any, best: Any) -> bool:
    try:
        return ordered(thread, op, x, best)
    except EvalError as error:
        raise named(name, error) from None


def _extremum_by_key(thread: Thread, name: str, op: str, values: Any, key: Any) -> Any:
    best: Any = _ABSENT
    best_key: Any = None
    for x in each(thread, values):
        try:
            x_key = x if key is None else key(thread, x)
        except TypeError as error:
            raise call_failure(error, key) from None
        if best is _ABSENT:
            best, best_key = x, x_key
        elif type(x_key) is int and type(best_key) is int:
            if x_key < best_key if op == "<" else x_key > best_key:
                best, best_key = x, x_key
        elif _beats(thread, name, op, x_key, best_key):
            best, best_key = x, x_key
    if best is _ABSENT:
        raise EvalError(f"{name}: argument is an empty sequence")
    return best


EXTREMA: Final[dict[str, Any]] = {"max": _max, "min": _min}
"""These builtins by their names."""
