"""The universal builtins over collections, from all and any to tuple and zip."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.comparison import sort, store
from plait.starlark.comparison.hashing import LEAST, MOST, SHORT, unhashable
from plait.starlark.errors import EvalError, StepLimitExceeded
from plait.starlark.host.failures import PASSING, failure
from plait.starlark.native import native
from plait.starlark.running.iteration import collect, each, is_iterable
from plait.starlark.running.mutation import lock, unlock
from plait.starlark.universe.extrema import EXTREMA
from plait.starlark.universe.numbers import int64
from plait.starlark.values import (
    FALSE,
    TRUE,
    Bool,
    Bytes,
    FrozenDict,
    FrozenList,
    FrozenSet,
    HostValue,
    Set,
    is_callable,
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from plait.starlark.thread import Thread

__all__ = ["SEQUENCES"]

_ABSENT: Final = object()

_SLICE: Final = 1 << 15
"""Elements that are worked on between two charges."""

_SHORT: Final = 256
"""Elements that are charged in one go."""

_FEW: Final = 16
"""Elements that are looked at in place."""

_LISTS: Final = frozenset({list, FrozenList, tuple})
_DICTS: Final = frozenset({dict, FrozenDict})
_SIZED: Final = frozenset({str, Bytes, range, tuple, list, FrozenList, dict, FrozenDict, Set, FrozenSet})
_LOCKABLE: Final = frozenset({list, dict, Set})

_HASHED_QUICKLY: Final = frozenset({str, Bytes, type(None), Bool, float})
_SMALL: Final = 1 << 60


def _length(x: Any) -> int | None:
    """Return what ``len(x)`` is, ``None`` when the value has no length.

    Raises:
        EvalError: A host's value failed to say it.
    """
    if type(x) in _SIZED:
        return len(x)
    if not isinstance(x, HostValue) or not hasattr(x, "__len__"):
        return None
    try:
        return len(x)
    except PASSING:
        raise
    except BaseException as error:
        raise failure(type_name(x), error) from error


def _check_iterable(name: str, parameter: int | str, x: Any) -> None:
    if not is_iterable(x):
        raise EvalError(f"{name}: for parameter {parameter}: got {type_name(x)}, want iterable")


def _elements(thread: Thread, x: Any) -> Any:
    """Return the elements for Python code that calls nothing of the script: the value itself where that will do."""
    return x if type(x) in _LISTS or type(x) is range else collect(thread, x)


def _walk(thread: Thread, name: str, x: Any) -> Iterable[Any]:
    """Return what gives the elements, each charged, to code that calls nothing of the script meanwhile."""
    if type(x) in _LISTS and len(x) <= _SHORT:
        thread.left -= len(x)
        if thread.left < 0:
            thread.refuel()
        return x  # type: ignore[no-any-return]  # one of three types of the language
    _check_iterable(name, 1, x)
    return each(thread, x)


def _slices(thread: Thread, x: Any, cost: int = 1) -> Iterator[list[Any]]:
    """Give the elements by the slice, each charged before it is made.

    Args:
        thread: The running thread.
        x: A list, tuple or range.
        cost: Steps for an element.
    """
    elements = iter(x)
    left = len(x)
    while left > 0:
        taken = min(left, _SLICE)
        thread.charge(taken * cost)
        yield list(islice(elements, taken))
        left -= taken


def _named(name: str, error: EvalError) -> EvalError:
    """Put a builtin's name before a message; the end of the steps keeps its own."""
    return error if isinstance(error, StepLimitExceeded) else EvalError(f"{name}: {error.message}")


@native("all", "iterable", positional=True)
def _all(thread: Thread, iterable: Any, /) -> Bool:
    for x in _walk(thread, "all", iterable):
        if x is FALSE or (x is not TRUE and not x):
            return FALSE
    return TRUE


@native("any", "iterable", positional=True)
def _any(thread: Thread, iterable: Any, /) -> Bool:
    for x in _walk(thread, "any", iterable):
        if x is TRUE or (x is not FALSE and x):
            return TRUE
    return FALSE


@native("dict", "pairs?", maximum=1)
def _dict(thread: Thread, pairs: Any = _ABSENT, /, *more: Any, **keywords: Any) -> dict[Any, Any]:
    thread.left -= len(keywords)
    if thread.left < 0:
        thread.refuel()
    if pairs is _ABSENT:
        return keywords
    if more:
        raise EvalError(f"dict: got {1 + len(more)} arguments, want at most 1")
    if type(pairs) in _DICTS:
        result = _copied(thread, pairs)
    else:
        result = {}
        _add_pairs(thread, result, pairs)
    if keywords:
        result.update(keywords)
    return result


def _copied(thread: Thread, x: dict[Any, Any]) -> dict[Any, Any]:
    if len(x) <= _SLICE:
        thread.left -= len(x)
        if thread.left < 0:
            thread.refuel()
        return dict(x)
    result: dict[Any, Any] = {}
    for items in _slices_of_dict(thread, x):
        result.update(items)
    return result


def _slices_of_dict(thread: Thread, x: dict[Any, Any]) -> Iterator[list[tuple[Any, Any]]]:
    """Give the items of a dict by the slice; their keys are in a dict already and so are known to be good."""
    items = iter(x.items())
    left = len(x)
    while left > 0:
        taken = min(left, _SLICE)
        thread.charge(taken)
        yield list(islice(items, taken))
        left -= taken


def _add_pairs(thread: Thread, result: dict[Any, Any], pairs: Any) -> None:
    if not is_iterable(pairs):
        raise EvalError(f"dict: got {type_name(pairs)}, want iterable")
    for index, pair in enumerate(_walk(thread, "dict", pairs)):
        key, value = pair if type(pair) is tuple and len(pair) == 2 else _pair(thread, index, pair)
        if type(key) is str or (type(key) is int and -_SMALL < key < _SMALL):
            result[key] = value
            continue
        try:
            store(thread, result, key, value)
        except EvalError as error:
            raise _named("dict", error) from None


def _pair(thread: Thread, index: int, pair: Any) -> Any:
    """Return the key and the value of a pair that is no tuple of two."""
    if not is_iterable(pair):
        raise EvalError(f"dict: dictionary update sequence element #{index} is not iterable ({type_name(pair)})")
    size = _length(pair)
    if size is None:
        raise EvalError(f"dict: dictionary update sequence element #{index} has unknown length ({type_name(pair)})")
    if size != 2:
        raise EvalError(f"dict: dictionary update sequence element #{index} has length {size}, want 2")
    found = collect(thread, pair)
    if len(found) != 2:  # a host's value that said otherwise
        raise EvalError(f"dict: dictionary update sequence element #{index} has length {len(found)}, want 2")
    return found


@native("enumerate", "iterable", "start?", positional=True)
def _enumerate(thread: Thread, iterable: Any, start: Any = 0, /) -> list[Any]:
    if start == 0 and type(iterable) in _LISTS and len(iterable) <= _SHORT:
        thread.left -= len(iterable)
        if thread.left < 0:
            thread.refuel()
        return list(enumerate(iterable))
    _check_iterable("enumerate", 1, iterable)
    first = int64(thread, "enumerate", 2, start)
    elements = _elements(thread, iterable)
    if len(elements) <= _SHORT:
        thread.charge(len(elements))
        return list(enumerate(elements, first))
    result: list[Any] = []
    for part in _slices(thread, elements):
        result += enumerate(part, first + len(result))
    return result


@native("len", "x", positional=True)
def _len(_thread: Thread, x: Any, /) -> int:
    if type(x) in _SIZED:
        return len(x)
    size = _length(x)
    if size is None:
        raise EvalError(f"len: value of type {type_name(x)} has no len")
    return size


@native("list", "iterable?", positional=True)
def _list(thread: Thread, iterable: Any = (), /) -> list[Any]:
    kind = type(iterable)
    if (kind is list or kind is tuple or kind is FrozenList) and len(iterable) <= _SLICE:
        thread.left -= len(iterable)
        if thread.left < 0:
            thread.refuel()
        return list(iterable)
    _check_iterable("list", 1, iterable)
    return collect(thread, iterable)


@native("reversed", "iterable", positional=True)
def _reversed(thread: Thread, iterable: Any, /) -> list[Any]:
    if type(iterable) in _LISTS and len(iterable) <= _SHORT:
        thread.left -= len(iterable)
        if thread.left < 0:
            thread.refuel()
        return list(iterable[::-1])
    _check_iterable("reversed", 1, iterable)
    values = collect(thread, iterable)
    values.reverse()
    return values


@native("set", "iterable?", positional=True)
def _set(thread: Thread, iterable: Any = (), /) -> Set:
    if type(iterable) in _LISTS and len(iterable) <= _FEW:
        thread.charge(len(iterable))
        return _few_as_set(thread, iterable)
    _check_iterable("set", 1, iterable)
    elements = _elements(thread, iterable)
    result = Set()
    if len(elements) <= _SHORT:
        thread.charge(len(elements))
        _add(thread, result, elements)
        return result
    for part in _slices(thread, elements):
        _add(thread, result, part)
    return result


def _few_as_set(thread: Thread, elements: Any) -> Set:
    """Return a set of so few elements that none of their hashes matters."""
    result = Set()
    for x in elements:
        kind = type(x)
        if (kind is not str or len(x) >= SHORT) and (kind is not int or x > MOST or x < LEAST):
            problem = unhashable(thread, x)
            if problem is not None:
                raise EvalError(f"set: {problem}")
        result[x] = None
    return result


def _add(thread: Thread, result: Set, elements: Any) -> None:
    if _hashed_quickly(elements):
        result.update(dict.fromkeys(elements))
        return
    try:
        for x in elements:
            store(thread, result, x, None)
    except EvalError as error:
        raise _named("set", error) from None


def _hashed_quickly(part: Any) -> bool:
    """Tell whether Python may make keys of these values: none needs a look inside, and their hashes differ."""
    kinds = set(map(type, part))
    if kinds == {int}:
        return bool(min(part) > -_SMALL and max(part) < _SMALL)
    return kinds <= _HASHED_QUICKLY


@native("sorted", "iterable", "key?", "reverse?")
def _sorted(thread: Thread, /, iterable: Any, *more: Any, key: Any = _ABSENT, reverse: Any = FALSE) -> list[Any]:
    if more:
        key, reverse = _sorted_options(more, key, reverse)
    if key is _ABSENT and type(iterable) in _LISTS and len(iterable) <= _SHORT and type(reverse) is Bool:
        size = len(iterable)
        thread.left -= size if size < 2 else size * (size.bit_length() >> 1)
        if thread.left < 0:
            thread.refuel()
        kinds = set(map(type, iterable))
        if len(kinds) == 1 and (int in kinds or (str in kinds and max(map(len, iterable)) < _SHORT)):
            return sorted(iterable, reverse=reverse is TRUE)
        return sort(thread, list(iterable), None, reverse is TRUE)
    _check_iterable("sorted", "iterable", iterable)
    if key is not _ABSENT and not is_callable(key):
        raise EvalError(f'sorted: for parameter "key": got {type_name(key)}, want callable')
    if type(reverse) is not Bool:
        raise EvalError(f'sorted: for parameter "reverse": got {type_name(reverse)}, want bool')
    values = collect(thread, iterable)
    if key is _ABSENT:
        return sort(thread, values, None, reverse is TRUE)
    locked = type(iterable) in _LOCKABLE
    if locked:
        lock(thread, iterable)
    try:
        return sort(thread, values, key, reverse is TRUE)
    finally:
        if locked:
            unlock(thread, iterable)


def _sorted_options(more: tuple[Any, ...], key: Any, reverse: Any) -> tuple[Any, Any]:
    """Return what ``sorted`` was given by position after its iterable: messages quote names that the script wrote."""
    if len(more) > 2:
        raise EvalError(f"sorted: got {1 + len(more)} arguments, want at most 3")
    if not is_callable(more[0]):
        raise EvalError(f"sorted: for parameter key: got {type_name(more[0])}, want callable")
    if len(more) == 2 and type(more[1]) is not Bool:
        raise EvalError(f"sorted: for parameter reverse: got {type_name(more[1])}, want bool")
    if key is not _ABSENT:
        raise EvalError('sorted: got multiple values for keyword argument "key"')
    if len(more) == 2 and reverse is not FALSE:
        raise EvalError('sorted: got multiple values for keyword argument "reverse"')
    return more[0], more[1] if len(more) == 2 else reverse


@native("tuple", "iterable?", positional=True)
def _tuple(thread: Thread, iterable: Any = (), /) -> tuple[Any, ...]:
    if type(iterable) is tuple:
        return iterable
    if type(iterable) in _LISTS and len(iterable) <= _SLICE:
        thread.left -= len(iterable)
        if thread.left < 0:
            thread.refuel()
        return tuple(iterable)
    _check_iterable("tuple", 1, iterable)
    return tuple(collect(thread, iterable))


@native("zip", positional=True, maximum=-1, no_keywords="zip does not accept keyword arguments")
def _zip(thread: Thread, /, *args: Any) -> list[Any]:
    for position, x in enumerate(args, 1):
        if not is_iterable(x):
            raise EvalError(f"zip: argument #{position} is not iterable: {type_name(x)}")
    if len(args) == 2:
        x, y = args
        if type(x) in _LISTS and type(y) in _LISTS and len(x) <= _SHORT and len(y) <= _SHORT:
            thread.charge(min(len(x), len(y)) * 3)
            return list(zip(x, y, strict=False))
    sizes = [len(x) for x in args if type(x) in _SIZED]
    if len(sizes) == len(args) and args and min(sizes) * len(args) <= _SHORT:
        thread.charge(min(sizes) * (1 + len(args)))
        return list(zip(*args, strict=False))
    rows = zip(*(iter(x) if type(x) in _SIZED else each(thread, x) for x in args), strict=False)
    if not args or not sizes:
        return _zip_of_unknown_length(thread, rows) if args else []
    left = min(sizes)
    most = max(1, _SLICE // len(args))
    result: list[Any] = []
    while left > 0:
        taken = min(left, most)
        thread.charge(taken * (1 + len(args)))
        part = list(islice(rows, taken))
        result += part
        left -= taken if len(part) == taken else left
    return result


def _zip_of_unknown_length(thread: Thread, rows: Iterator[Any]) -> list[Any]:
    """Collect rows of elements that are charged as they come."""
    result = []
    for row in rows:
        thread.charge(1)
        result.append(row)
    return result


SEQUENCES: Final[dict[str, Any]] = {
    "all": _all,
    "any": _any,
    "dict": _dict,
    "enumerate": _enumerate,
    "len": _len,
    "list": _list,
    **EXTREMA,
    "reversed": _reversed,
    "set": _set,
    "sorted": _sorted,
    "tuple": _tuple,
    "zip": _zip,
}
"""These builtins by their names."""
