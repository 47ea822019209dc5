"""Dicts: their methods, and what ``|=`` and ``dict(…)`` store."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.comparison.hashing import (
    LEAST,
    MOST,
    SHORT,
    SLICE,
    SMALL_TABLE,
    check_key,
    note_deletion,
    store,
    store_keys,
    unhashable,
)
from plait.starlark.errors import EvalError
from plait.starlark.methods.naming import check_mutable_by, named
from plait.starlark.native import native
from plait.starlark.running.iteration import collect, each, is_iterable
from plait.starlark.running.mutation import check_mutable
from plait.starlark.values import FrozenDict, HostValue, type_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from plait.starlark.thread import Thread

__all__ = ["METHODS", "store_updates", "update"]

_ABSENT: Final = object()

_FEW: Final = 16
"""Items whose keys are looked at in place."""

_DICTS: Final = frozenset({dict, FrozenDict})


def update(thread: Thread, target: dict[Any, Any], source: dict[Any, Any]) -> None:
    """Store all items of a dict in another one, which may be the very same.

    Args:
        thread: The thread that pays a step for each item.
        target: The dict to change; the caller has seen to it that it may change.
        source: A dict.

    Raises:
        EvalError: Too many keys of the two share one hash.
    """
    if source is target:
        return
    if not target and type(target) is dict and len(source) <= SLICE:
        # Keys that are together in a table already: no more of them than it allows share a hash.
        thread.charge(len(source))
        target.update(source)
    elif len(source) > _FEW or not _stored_in_place(thread, target, source):
        store_keys(thread, target, list(source), source.__getitem__)


def _stored_in_place(thread: Thread, target: dict[Any, Any], source: dict[Any, Any]) -> bool:
    """Store a few items, unless there are keys among them that must be looked at."""
    thread.charge(len(source))
    for key in source:
        kind = type(key)
        if (kind is not str or len(key) >= SHORT) and (kind is not int or key > MOST or key < LEAST):
            return False
    target.update(source)
    return True


def store_updates(thread: Thread, name: str, target: dict[Any, Any], updates: Any) -> None:
    """Store what a script gave to ``dict(…)`` or ``d.update(…)``: a dict, or something iterable of pairs.

    Args:
        thread: The thread that pays a step for each item.
        name: The builtin or method, for messages.
        target: The dict to change.
        updates: Any value.

    Raises:
        EvalError: It is neither, a key is unhashable, or the dict must not change now.
    """
    try:
        if type(updates) in _DICTS:
            if updates and (thread.guard is not None or type(target) is not dict):
                check_mutable(thread, target, "insert into")
            update(thread, target, updates)
        else:
            _store_pairs(thread, target, updates)
    except EvalError as error:
        raise named(name, error) from None


def _store_pairs(thread: Thread, target: dict[Any, Any], pairs: Any) -> None:
    if not is_iterable(pairs):
        raise EvalError(f"got {type_name(pairs)}, want iterable")
    for number, pair in enumerate(each(thread, pairs)):
        key, value = pair if type(pair) is tuple and len(pair) == 2 else _unpacked(thread, number, pair)
        if thread.guard is not None or type(target) is not dict:
            check_mutable(thread, target, "insert into")
        if pair is target:
            raise EvalError("cannot insert into hash table during iteration")
        store(thread, target, key, value)


def _unpacked(thread: Thread, number: int, pair: Any) -> list[Any]:
    """Return the key and the value of a pair that is no tuple of two."""
    if not is_iterable(pair):
        raise EvalError(f"dictionary update sequence element #{number} is not iterable ({type_name(pair)})")
    if isinstance(pair, HostValue) and not hasattr(type(pair), "__len__"):
        raise EvalError(f"dictionary update sequence element #{number} has unknown length ({type_name(pair)})")
    size = len(pair)
    elements = collect(thread, pair) if size == 2 else []
    if len(elements) != 2:
        raise EvalError(f"dictionary update sequence element #{number} has length {size}, want 2")
    return elements


def _listed(thread: Thread, view: Collection[Any]) -> list[Any]:
    """Return a new list of a dict's keys, values or items, a slice at a time."""
    if len(view) <= SLICE:
        thread.left -= len(view)
        if thread.left < 0:
            thread.refuel()
        return list(view)
    result: list[Any] = []
    elements = iter(view)
    for start in range(0, len(view), SLICE):
        thread.charge(min(SLICE, len(view) - start))
        result.extend(islice(elements, SLICE))
    return result


@native("clear", positional=True)
def _clear(thread: Thread, receiver: dict[Any, Any], /) -> None:
    check_mutable(thread, receiver, "clear")
    receiver.clear()


@native("get", "key", "default?", positional=True)
def _get(thread: Thread, receiver: dict[Any, Any], key: Any, default: Any = None, /) -> Any:
    kind = type(key)
    if (kind is not str or len(key) >= SHORT) and (kind is not int or key > MOST or key < LEAST):
        problem = unhashable(thread, key)
        if problem is not None:
            raise EvalError(f"get: {problem}")
    return receiver.get(key, default)


@native("items", positional=True)
def _items(thread: Thread, receiver: dict[Any, Any], /) -> list[Any]:
    return _listed(thread, receiver.items())


@native("keys", positional=True)
def _keys(thread: Thread, receiver: dict[Any, Any], /) -> list[Any]:
    return _listed(thread, receiver.keys())


@native("pop", "key", "default?", positional=True)
def _pop(thread: Thread, receiver: dict[Any, Any], key: Any, default: Any = _ABSENT, /) -> Any:
    if thread.guard is not None or type(receiver) is not dict:
        check_mutable_by(thread, "pop", receiver, "delete from")
    if receiver:
        kind = type(key)
        if (kind is not str or len(key) >= SHORT) and (kind is not int or key > MOST or key < LEAST):
            check_key(thread, "pop", key)
        value = receiver.pop(key, _ABSENT)
        if value is not _ABSENT:
            if receiver.__sizeof__() > SMALL_TABLE:
                note_deletion(thread, receiver)
            return value
    if default is _ABSENT:
        raise EvalError("pop: missing key")
    return default


@native("popitem", positional=True)
def _popitem(thread: Thread, receiver: dict[Any, Any], /) -> tuple[Any, Any]:
    if not receiver:
        raise EvalError("popitem: empty dict")
    if thread.guard is not None or type(receiver) is not dict:
        check_mutable_by(thread, "popitem", receiver, "delete from")
    key = next(iter(receiver))
    check_key(thread, "popitem", key)
    value = receiver.pop(key)
    note_deletion(thread, receiver)
    return key, value


@native("setdefault", "key", "default?", positional=True)
def _setdefault(thread: Thread, receiver: dict[Any, Any], key: Any, default: Any = None, /) -> Any:
    kind = type(key)
    light = (kind is str and len(key) < SHORT) or (kind is int and key < MOST and key > LEAST)
    if not light:
        check_key(thread, "setdefault", key)
    value = receiver.get(key, _ABSENT)
    if value is not _ABSENT:
        return value
    if thread.guard is not None or type(receiver) is not dict:
        check_mutable_by(thread, "setdefault", receiver, "insert into")
    if light:
        receiver[key] = default
    else:
        store(thread, receiver, key, default)
    return default


@native("update", "pairs?")
def _update(thread: Thread, receiver: dict[Any, Any], updates: Any = _ABSENT, /, **items: Any) -> None:
    if updates is not _ABSENT:
        store_updates(thread, "update", receiver, updates)
    if items:
        store_updates(thread, "update", receiver, items)


@native("values", positional=True)
def _values(thread: Thread, receiver: dict[Any, Any], /) -> list[Any]:
    return _listed(thread, receiver.values())


METHODS: Final[dict[str, Callable[..., Any]]] = {
    "clear": _clear,
    "get": _get,
    "items": _items,
    "keys": _keys,
    "pop": _pop,
    "popitem": _popitem,
    "setdefault": _setdefault,
    "update": _update,
    "values": _values,
}
"""The methods of dicts by their names."""
