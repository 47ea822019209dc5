"""Conversion: a host's Python values as values of a script, and back."""

from __future__ import annotations

import math
from itertools import chain
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from plait.starlark.errors import EvalError, StarlarkError
from plait.starlark.text.numbers import INT_BITS_MAX
from plait.starlark.values import (
    FALSE,
    NAN,
    TRUE,
    Bool,
    BoundMethod,
    Bytes,
    FrozenDict,
    FrozenList,
    FrozenSet,
    HostValue,
    Module,
    NaN,
    Set,
    Struct,
    is_builtin,
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

__all__ = ["from_python", "script_value", "to_python"]

_DEPTH: Final = 400
"""How many containers may stand inside one another."""

_INT_QUICK: Final = 1 << 64

_CONTAINER: Final = object()
"""What a leaf function answers for a value that has others inside."""


def from_python(o: Any) -> Any:
    """Return the value of a script that stands for a Python value.

    Lists, tuples, dicts and sets are copied, with all that is in them; what is in two places stays one value. Values
    that scripts know already pass as they are: functions, builtins, structs, modules, frozen values, a host's values.
    A surrogate in a string, which is half a character, becomes U+FFFD.

    Args:
        o: ``None``, a bool, int, float, string, bytes, range, list, tuple, dict, set, or a value of a script.

    Raises:
        StarlarkError: There is no such value in Starlark: another type, a key that is not hashable, an integer of
            more than 262,144 bits, something that contains itself or is nested more than 400 deep.
    """
    leaf = _import_leaf(o)
    return _rebuilt(o, _import_leaf, _import_plan) if leaf is _CONTAINER else leaf


def to_python(v: Any) -> Any:
    """Return a script's value as plain Python: a copy that shares nothing with the script.

    A bool becomes Python's, a NaN a plain ``float``, a frozen list a ``list``, a struct or module a ``dict``, a set a
    ``set`` (a ``list`` when Python cannot hash or tell apart its elements). A range stays one, and so does a value of
    the host. What is in two places is one object in the copy too.

    Args:
        v: A value of a script.

    Raises:
        StarlarkError: It is a function or has one inside, contains itself, is nested more than 400 deep, or is a dict
            whose keys Python cannot hash or tell apart, such as ``{1: 0, True: 0}``.
    """
    leaf = _export_leaf(v)
    return _rebuilt(v, _export_leaf, _export_plan) if leaf is _CONTAINER else leaf


def script_value(name: str, o: Any) -> Any:
    """Return what a host's value hands out as a value of a script, without copying lists and dicts.

    Args:
        name: What handed it out, for the message.
        o: A value of a script; Python's bools and NaNs are taken for the script's.

    Raises:
        EvalError: It is no value of a script.
    """
    if type(o) in _HANDED_ON:
        return o
    try:
        leaf = _import_leaf(o)
    except StarlarkError as error:
        raise EvalError(f"{name}: {error.message}") from None
    if leaf is _CONTAINER:
        raise EvalError(f"{name}: a Python {type(o).__name__} is no Starlark value")
    return leaf


class _Plan(NamedTuple):
    """How a container is rebuilt.

    Attributes:
        parts: Gives what is in it.
        build: Makes the new container of the new parts.
    """

    parts: Callable[[Any], Iterable[Any]]
    build: Callable[[list[Any]], Any]


class _Open(NamedTuple):
    """A container that is being rebuilt: the original, what is still to come of it, and the new parts so far."""

    original: Any
    rest: Iterator[Any]
    done: list[Any]
    build: Callable[[list[Any]], Any]


def _rebuilt(root: Any, leaf: Callable[[Any], Any], plan: Callable[[Any], _Plan]) -> Any:
    """Rebuild a container from the inside out, on a stack of its own.

    Each container is rebuilt once, however often it is met, so that a value of shared parts costs no more than it is
    large. The originals are held meanwhile, so that an ``id`` stands for one object only.
    """
    made: dict[int, tuple[Any, Any]] = {}
    inside = {id(root)}
    stack = [_opened(root, plan(root))]
    while True:
        top = stack[-1]
        child = _next_container(top, leaf, made)
        if child is None:
            result = top.build(top.done)
            made[id(top.original)] = (top.original, result)
            inside.discard(id(top.original))
            stack.pop()
            if not stack:
                return result
            stack[-1].done.append(result)
            continue
        if id(child) in inside:
            raise StarlarkError(f"cannot convert a {_noun(child)} that contains itself")
        if len(stack) >= _DEPTH:
            raise StarlarkError(f"cannot convert a value that is nested more than {_DEPTH} deep")
        inside.add(id(child))
        stack.append(_opened(child, plan(child)))


def _opened(o: Any, plan: _Plan) -> _Open:
    return _Open(o, iter(plan.parts(o)), [], plan.build)


def _next_container(top: _Open, leaf: Callable[[Any], Any], made: Mapping[int, tuple[Any, Any]]) -> Any:
    """Take what needs no rebuilding, up to and without the next container that does; ``None`` at the end."""
    append = top.done.append
    for child in top.rest:
        value = leaf(child)
        if value is not _CONTAINER:
            append(value)
        elif (known := made.get(id(child))) is not None:
            append(known[1])
        else:
            return child
    return None


def _noun(o: Any) -> str:
    return type_name(o) if type(o) in _PLANS or type(o) in _EXPORT_PLANS else type(o).__name__


def _paired(o: dict[Any, Any]) -> Iterator[Any]:
    return chain.from_iterable(o.items())


# From Python.


def _import_leaf(o: Any) -> Any:
    kind = type(o)
    if kind in _AS_THEY_ARE:
        return o
    if kind is str:
        return o if o.isascii() else _whole(o)
    if kind is int:
        return o if -_INT_QUICK < o < _INT_QUICK else _bounded(o)
    if kind in _PLANS:
        return _CONTAINER
    return _other_leaf(o)


def _other_leaf(o: Any) -> Any:  # noqa: PLR0911 - one line for each kind of value
    """Convert what is none of the exact types: bools, floats, functions, a host's values, and subclasses."""
    if isinstance(o, bool):
        return TRUE if o else FALSE
    if isinstance(o, float):
        return float.__float__(o) if o == o else NAN  # noqa: PLR0124 - that is how a NaN shows
    if isinstance(o, HostValue):
        return o
    if isinstance(o, FunctionType):
        return _function(o)
    if isinstance(o, list | tuple | dict | set | frozenset):
        return _CONTAINER
    if isinstance(o, str):
        return _whole(str.__str__(o))
    if isinstance(o, int):
        return _bounded(int.__int__(o))
    if isinstance(o, bytes | bytearray):
        return Bytes(memoryview(o))
    raise StarlarkError(f"a Python {type(o).__name__} is no Starlark value")


def _function(o: FunctionType) -> FunctionType:
    """Let pass what takes the running thread first: builtins, and functions that are written in Starlark."""
    if is_builtin(o) or o.__code__.co_posonlyargcount:
        return o
    raise StarlarkError(f"the Python function {o.__name__} is no Starlark value: make it one with @starlark.builtin")


def _bounded(o: int) -> int:
    if o.bit_length() > INT_BITS_MAX:
        raise StarlarkError(f"an integer of {o.bit_length()} bits is too large for Starlark (at most {INT_BITS_MAX})")
    return o


def _whole(o: str) -> str:
    """Return the text with U+FFFD for each surrogate that has no partner."""
    try:
        o.encode()
    except UnicodeEncodeError:
        return o.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return o


def _import_plan(o: Any) -> _Plan:
    plan = _PLANS.get(type(o))
    if plan is not None:
        return plan
    return next(_PLANS[kind] for kind in (list, tuple, dict, set, frozenset) if isinstance(o, kind))


def _hashable(o: Any) -> Any:
    """Return a key that a dict or set of a script may have."""
    if type(o) is tuple:
        for element in o:
            _hashable(element)
    elif type(o) in _UNHASHABLE:
        raise StarlarkError(f"unhashable type: {type_name(o)}")
    return o


def _build_dict(parts: list[Any]) -> dict[Any, Any]:
    return dict(zip(map(_hashable, parts[::2]), parts[1::2], strict=True))


def _build_set(parts: list[Any]) -> Set:
    return Set(dict.fromkeys(map(_hashable, parts)))


_AS_THEY_ARE: Final[frozenset[type]] = frozenset(
    {type(None), Bool, NaN, Bytes, range, FrozenList, FrozenDict, FrozenSet, Struct, Module, BoundMethod}
)
"""Types whose values are those of a script already, with all that is in them."""

_HANDED_ON: Final[frozenset[type]] = frozenset({list, tuple, dict, Set})

_UNHASHABLE: Final[frozenset[type]] = frozenset({list, FrozenList, dict, FrozenDict, Set, FrozenSet, range, Module})

_PLANS: Final[dict[type, _Plan]] = {
    list: _Plan(iter, list),
    tuple: _Plan(iter, tuple),
    dict: _Plan(_paired, _build_dict),
    Set: _Plan(iter, _build_set),
    set: _Plan(iter, _build_set),
    frozenset: _Plan(iter, _build_set),
}


# To Python.


def _export_leaf(v: Any) -> Any:
    kind = type(v)
    if kind in _PLAIN:
        return v
    if kind in _EXPORT_PLANS:
        return _CONTAINER
    if kind is Bool:
        return v is TRUE
    if kind is Bytes:
        return bytes(v)
    if kind is NaN:
        return math.nan
    if isinstance(v, HostValue):
        return v
    raise StarlarkError(f"a Starlark {type_name(v)} has no Python value")


def _export_plan(v: Any) -> _Plan:
    return _EXPORT_PLANS[type(v)]


def _export_dict(parts: list[Any]) -> dict[Any, Any]:
    try:
        result = dict(zip(parts[::2], parts[1::2], strict=True))
    except TypeError:
        raise StarlarkError("a dict has a key that Python cannot hash") from None
    if len(result) * 2 < len(parts):
        raise StarlarkError("a dict has two keys that Python cannot tell apart, such as 1 and True")
    return result


def _export_set(parts: list[Any]) -> set[Any] | list[Any]:
    try:
        result = set(parts)
    except TypeError:
        return parts
    return result if len(result) == len(parts) else parts


def _fields(v: Struct) -> Iterator[Any]:
    return _paired(v.fields)


def _members(v: Module) -> Iterator[Any]:
    return _paired(v.members)


_PLAIN: Final[frozenset[type]] = frozenset({type(None), int, float, str, range})

_EXPORT_PLANS: Final[dict[type, _Plan]] = {
    list: _Plan(iter, list),
    FrozenList: _Plan(iter, list),
    tuple: _Plan(iter, tuple),
    dict: _Plan(_paired, _export_dict),
    FrozenDict: _Plan(_paired, _export_dict),
    Set: _Plan(iter, _export_set),
    FrozenSet: _Plan(iter, _export_set),
    Struct: _Plan(_fields, _export_dict),
    Module: _Plan(_members, _export_dict),
}
