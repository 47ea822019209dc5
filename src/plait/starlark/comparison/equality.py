"""Equality: ``==`` over values of any shape, charged by size and bounded in depth."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.comparison.hashing import (
    DEPTH_MAX,
    LEAST,
    MOST,
    SCALARS,
    SHORT,
    SIZED,
    SLICE,
    charge_keys,
    check_hashable,
    heft,
    is_light,
    weight,
)
from plait.starlark.errors import EvalError
from plait.starlark.values import (
    Bool,
    FrozenDict,
    FrozenList,
    FrozenSet,
    HostValue,
    Set,
    Struct,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from plait.starlark.thread import Thread

__all__ = ["KINDS", "equal", "equal_at", "includes", "too_deep"]

KINDS: Final[Mapping[type, type]] = {
    list: list,
    FrozenList: list,
    tuple: tuple,
    dict: dict,
    FrozenDict: dict,
    Set: Set,
    FrozenSet: Set,
    Struct: Struct,
    range: range,
}
"""The types that compare part by part, frozen ones like those that may change."""

_HEAVY: Final = 100_000
"""Weight from which parts are compared one by one, so that no single native operation takes long."""

_FEW: Final = 16
"""Elements that are looked at one by one sooner than all at once."""

_ABSENT: Final = object()


def equal(thread: Thread, x: Any, y: Any) -> bool:
    """Return whether two values are equal.

    Args:
        thread: The thread that pays a step for each element of what is compared.
        x: Any value.
        y: Any value.

    Raises:
        EvalError: They are nested too deeply to tell, or contain themselves.
    """
    # Whatever one small scalar is compared with, Python is done with it in no time. What a host's `==` returns need
    # not be a bool.
    kind = type(x)
    if (
        (kind is str and len(x) < SHORT)
        or (kind is int and x < MOST and x > LEAST)
        or y is None
        or x is None
        or kind is float
    ):
        return True if x == y else False  # noqa: SIM210 - twice as fast as a call of bool
    if kind is Bool and type(y) is Bool:
        return x is y
    if (kind is tuple or kind is list) and type(y) is kind and len(x) <= _FEW and is_light(x):
        thread.left -= len(x)
        if thread.left < 0:
            thread.refuel()
        return True if x == y else False  # noqa: SIM210 - as above
    if kind in SIZED and type(y) in SCALARS:
        thread.charge(weight(x))
        return bool(x == y)
    return equal_at(thread, x, y, 0)


def equal_at(thread: Thread, x: Any, y: Any, depth: int) -> bool:
    """Return whether two values inside others are equal, whatever they are.

    Args:
        thread: The thread that pays.
        x: Any value.
        y: Any value.
        depth: Levels of nesting around them that count towards the limit.

    Raises:
        EvalError: As ``equal``.
    """
    # A walk through both side by side, depth first, that does not call itself.
    stack: list[Iterator[tuple[Any, Any]]] = [iter(((x, y),))]
    while stack:
        for a, b in stack[-1]:
            kind = type(a)
            if kind in SCALARS and type(b) in SCALARS:
                if a is b:
                    continue
                if kind in SIZED and (extra := weight(a)):
                    thread.charge(extra)
                if a != b:
                    return False
                continue
            parts = _parts(thread, a, b)
            if parts is None:
                return False
            if parts:
                if len(stack) + depth > DEPTH_MAX:
                    raise too_deep()
                stack.append(iter(parts))
                break
        else:
            stack.pop()
    return True


def too_deep() -> EvalError:
    """Return the error for values that are nested too deeply to compare."""
    return EvalError("comparison exceeded maximum recursion depth")


def _parts(thread: Thread, a: Any, b: Any) -> Iterable[tuple[Any, Any]] | None:
    """Return the pairs that must be equal for two values to be so, ``None`` when they cannot be."""
    kind = KINDS.get(type(a))
    if kind is None or kind is not KINDS.get(type(b)):
        same = a == b if isinstance(a, HostValue) or isinstance(b, HostValue) else a is b
        return () if same else None
    return _PARTS[kind](thread, a, b)


def _range_parts(_thread: Thread, a: range, b: range) -> Iterable[tuple[Any, Any]] | None:
    return () if a == b else None


def _struct_parts(thread: Thread, a: Struct, b: Struct) -> Iterable[tuple[Any, Any]] | None:
    thread.charge(len(a.fields))
    if a.kind != b.kind or a.fields.keys() != b.fields.keys():
        return None
    return zip(a.fields.values(), b.fields.values(), strict=True)


def _sequence_parts(thread: Thread, a: Sequence[Any], b: Sequence[Any]) -> Iterable[tuple[Any, Any]] | None:
    if len(a) != len(b):
        return None
    return _long_sequence_parts(thread, a, b) if len(a) > SLICE else _slice_parts(thread, a, b)


def _long_sequence_parts(thread: Thread, a: Sequence[Any], b: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    for start in range(0, len(a), SLICE):
        parts = _slice_parts(thread, a[start : start + SLICE], b[start : start + SLICE])
        if parts is None:
            yield _ABSENT, None
            return
        yield from parts


def _slice_parts(thread: Thread, a: Sequence[Any], b: Sequence[Any]) -> Iterable[tuple[Any, Any]] | None:
    thread.charge(len(a))
    # Scalars on one side are enough: Python goes no deeper than they do, whatever is on the other.
    if is_light(a) if len(a) <= _FEW else _are_plain(thread, a):  # type: ignore[arg-type]  # a list or a tuple
        return () if a == b else None
    return zip(a, b, strict=True)


def _are_plain(thread: Thread, values: Sequence[Any]) -> bool:
    """Tell whether Python may compare all of the values natively, and pay for their weight."""
    found = heft(values)
    if found is None or found[0] > _HEAVY:
        return False
    thread.charge(found[0])
    return True


def _dict_parts(thread: Thread, a: dict[Any, Any], b: dict[Any, Any]) -> Iterable[tuple[Any, Any]] | None:
    if len(a) != len(b):
        return None
    if len(a) > SLICE:
        return _value_parts(thread, a, b)
    thread.charge(len(a))
    if _are_plain(thread, list(a)) and _are_plain(thread, list(a.values())):
        return () if a == b else None
    return _value_parts(thread, a, b)


def _value_parts(thread: Thread, a: dict[Any, Any], b: dict[Any, Any]) -> Iterator[tuple[Any, Any]]:
    for number, (key, value) in enumerate(a.items()):
        if number % SLICE == 0:
            thread.charge(min(SLICE, len(a) - number))
        check_hashable(thread, key)
        yield value, b.get(key, _ABSENT)


def _set_parts(thread: Thread, a: Set, b: Set) -> Iterable[tuple[Any, Any]] | None:
    return () if len(a) == len(b) and includes(thread, b, a) else None


def includes(thread: Thread, whole: dict[Any, Any], part: dict[Any, Any]) -> bool:
    """Return whether a set has all elements of another.

    Args:
        thread: The thread that pays a step for each element of the part.
        whole: A set.
        part: A set.
    """
    keys = iter(part)
    for _start in range(0, len(part), SLICE):
        chosen = list(islice(keys, SLICE))
        thread.charge(len(chosen))
        charge_keys(thread, chosen)
        if not all(map(whole.__contains__, chosen)):
            return False
    return True


_PARTS: Final[Mapping[type, Callable[[Thread, Any, Any], Iterable[tuple[Any, Any]] | None]]] = {
    list: _sequence_parts,
    tuple: _sequence_parts,
    dict: _dict_parts,
    Set: _set_parts,
    Struct: _struct_parts,
    range: _range_parts,
}
