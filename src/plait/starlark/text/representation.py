"""Representation: what ``str`` and ``repr`` show of every value."""

from __future__ import annotations

from itertools import chain, cycle
from types import FunctionType
from typing import TYPE_CHECKING, Any

from plait.starlark.host.failures import PASSING, failure
from plait.starlark.native import info_of
from plait.starlark.text.numbers import float_text, int_text
from plait.starlark.text.quoting import decoded, escaped, quote
from plait.starlark.values import (
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
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plait.starlark.thread import Thread

__all__ = ["to_repr", "to_text"]

_SLICE = 1 << 16
"""Characters quoted, or pieces joined, between two looks at the steps."""

_SHORT = 64
"""Characters of a string, or elements of a container, that are shown without further ado."""

_SHALLOW = 4
"""Containers inside one another that are shown by Python calls inside one another."""

_LOW, _HIGH = -(1 << 63), 1 << 63
"""Integers between these are shown at no cost of their own."""

_Frame = tuple["Iterator[Any]", "Iterator[str] | None", str, int]
"""A container under way: what is left of it, the texts after each element (``None`` for commas), what closes it, and
its identity or 0."""


def to_text(thread: Thread, value: Any) -> str:  # noqa: PLR0911 - one line for each kind of value
    """Return what ``str(value)`` returns: a string itself, bytes decoded, anything else as ``to_repr`` shows it.

    Args:
        thread: The running thread, charged in proportion to the work and the text.
        value: Any value.

    Raises:
        StepLimitExceeded: The text is longer than the steps that are left can pay for.
    """
    kind = type(value)
    if kind is str:
        return value  # type: ignore[no-any-return] # the test above says that it is one
    thread.left -= 1
    if thread.left < 0:
        thread.refuel()
    if kind is int and _LOW < value < _HIGH:
        return str(value)
    if kind is float and -1e6 < value < 1e6:
        return repr(value)
    if kind is Bool:
        return str(value.name)
    if (kind is list or kind is dict) and len(value) <= _SHORT:
        return _plain(thread, value, (value,))
    if kind is Bytes:
        return "".join([_paid(thread, piece) for piece in decoded(value)])
    return _shown(thread, value, ())


def to_repr(thread: Thread, value: Any) -> str:
    """Return what ``repr(value)`` returns.

    Every value visited is charged, so that a value shared many times within another costs what its text costs. A
    list or dict inside itself is shown as ``[...]`` or ``{...}``. Nesting may be of any depth.

    Args:
        thread: The running thread, charged in proportion to the work and the text.
        value: Any value.

    Raises:
        StepLimitExceeded: The text is longer than the steps that are left can pay for.
    """
    thread.left -= 1
    if thread.left < 0:
        thread.refuel()
    kind = type(value)
    if kind is str and len(value) < _SHORT and value.isprintable() and '"' not in value and "\\" not in value:
        return f'"{value}"'
    if (kind is list or kind is dict) and len(value) <= _SHORT:
        return _plain(thread, value, (value,))
    return _shown(thread, value, ())


def _shown(thread: Thread, value: Any, around: tuple[Any, ...]) -> str:  # noqa: PLR0911 - one line for each kind of value
    """Show a value that has been charged; ``around`` are the containers that it stands in."""
    kind = type(value)
    if kind is int and _LOW < value < _HIGH:
        return str(value)
    if kind is float and -1e6 < value < 1e6:
        return repr(value)
    if kind is Bool:
        return str(value.name)
    if value is None:
        return "None"
    show = _SCALARS.get(kind)
    if show is not None:
        return show(thread, value)
    if kind not in _CONTAINERS:
        return _other(thread, value)
    if kind not in _PLAIN or len(value) > _SHORT or len(around) > _SHALLOW:
        return _walk(thread, value, {id(each) for each in around})
    for each in around:
        if each is value and kind is not tuple:  # a cycle is cut at a list or a dict
            return "{...}" if kind is dict or kind is FrozenDict else "[...]"
    return _plain(thread, value, (*around, value))


def _plain(thread: Thread, value: Any, around: tuple[Any, ...]) -> str:
    """Show a short list, tuple or dict, the last of those around."""
    thread.left -= len(value)
    if thread.left < 0:
        thread.refuel()
    kind = type(value)
    if kind is dict or kind is FrozenDict:
        return _plain_dict(thread, value, around)
    texts = []
    for each in value:
        if type(each) is str and len(each) < _SHORT and each.isprintable() and '"' not in each and "\\" not in each:
            texts.append(f'"{each}"')
        elif type(each) is int and _LOW < each < _HIGH:
            texts.append(str(each))
        else:
            texts.append(_shown(thread, each, around))
    if kind is not tuple:
        return f"[{', '.join(texts)}]"
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"


def _plain_dict(thread: Thread, value: dict[Any, Any], around: tuple[Any, ...]) -> str:
    thread.left -= len(value)
    if thread.left < 0:
        thread.refuel()
    texts = []
    for key, each in value.items():
        if type(key) is str and len(key) < _SHORT and key.isprintable() and '"' not in key and "\\" not in key:
            shown = f'"{key}"'
        else:
            shown = _shown(thread, key, around)
        if type(each) is int and _LOW < each < _HIGH:
            texts.append(f"{shown}: {each}")
        elif type(each) is str and len(each) < _SHORT and each.isprintable() and '"' not in each and "\\" not in each:
            texts.append(f'{shown}: "{each}"')
        else:
            texts.append(f"{shown}: {_shown(thread, each, around)}")
    return f"{{{', '.join(texts)}}}"


def _walk(thread: Thread, root: Any, path: set[int]) -> str:
    """Show a container that may be nested to any depth; ``path`` are the identities of those that it stands in."""
    out: list[str] = []
    append, scalars = out.append, _SCALARS
    stack: list[_Frame] = []
    _open(root, out, path, stack)
    while stack:
        items, after, closing, identity = stack[-1]
        for value in items:
            thread.left -= 1
            if thread.left < 0:
                thread.refuel()
            kind = type(value)
            if kind is int and _LOW < value < _HIGH:
                append(str(value))
            elif (show := scalars.get(kind)) is not None:
                append(show(thread, value))
            elif kind not in _CONTAINERS:
                append(_other(thread, value))
            elif _open(value, out, path, stack):
                break
            append(", " if after is None else next(after))
        else:
            out[-1] = closing  # instead of what comes after an element when there is another one
            path.discard(identity)
            stack.pop()
            if stack:
                after = stack[-1][1]
                append(", " if after is None else next(after))
    return _joined(thread, out)


def _open(value: Any, out: list[str], path: set[int], stack: list[_Frame]) -> bool:
    """Write what comes before a container's elements and push the rest; return whether there is any."""
    shape = _CONTAINERS[type(value)]
    identity = id(value) if shape in _CYCLIC else 0
    if identity in path:
        out.append("[...]" if shape is _list_shape else "{...}")
        return False
    opening, items, after, closing = shape(value)
    if items is None:
        out.append(opening + closing)
        return False
    out.append(opening)
    if identity:
        path.add(identity)
    stack.append((items, after, closing, identity))
    return True


def _joined(thread: Thread, out: list[str]) -> str:
    """Join the pieces, which have been charged one by one, in slices."""
    if len(out) <= _SLICE:
        return "".join(out)
    slices = []
    for i in range(0, len(out), _SLICE):
        thread.charge(1)
        slices.append("".join(out[i : i + _SLICE]))
    return "".join(slices)


_Shape = tuple[str, "Iterator[Any] | None", "Iterator[str] | None", str]
"""What opens a container, its elements (``None`` for an empty one), the texts after each, and what closes it."""


def _list_shape(value: list[Any]) -> _Shape:
    return "[", iter(value) if value else None, None, "]"


def _tuple_shape(value: tuple[Any, ...]) -> _Shape:
    return "(", iter(value) if value else None, None, ",)" if len(value) == 1 else ")"


def _dict_shape(value: dict[Any, Any]) -> _Shape:
    return "{", chain.from_iterable(value.items()) if value else None, cycle((": ", ", ")), "}"


def _set_shape(value: Set) -> _Shape:
    return "set([", iter(value) if value else None, None, "])"


def _struct_shape(value: Struct) -> _Shape:
    names, values = list(value.fields), value.fields.values()
    after = chain((f", {name} = " for name in names[1:]), ("",))
    first = f"({names[0]} = " if names else "("
    if isinstance(value.kind, str):
        return value.kind + first, iter(values) if names else None, after, ")"
    # The constructor is a value, shown as one.
    return "", chain((value.kind,), values), chain((first,), after), ")" if names else "()"


_CONTAINERS: dict[type, Callable[[Any], _Shape]] = {
    list: _list_shape,
    FrozenList: _list_shape,
    tuple: _tuple_shape,
    dict: _dict_shape,
    FrozenDict: _dict_shape,
    Set: _set_shape,
    FrozenSet: _set_shape,
    Struct: _struct_shape,
}

_PLAIN = frozenset({list, FrozenList, tuple, dict, FrozenDict})

_CYCLIC = frozenset({_list_shape, _dict_shape})
"""What a value can be inside itself through: the only containers that change after they are made and hold anything."""


def _show_int(thread: Thread, value: int) -> str:
    if _LOW < value < _HIGH:
        return str(value)
    thread.charge(value.bit_length() >> 6)
    return int_text(value)


def _show_string(thread: Thread, value: str) -> str:
    if len(value) <= _SLICE:
        thread.left -= len(value) >> 3
        if thread.left < 0:
            thread.refuel()
        return quote(value)
    pieces = ['"']
    for i in range(0, len(value), _SLICE):
        thread.charge(_SLICE >> 3)
        pieces.append(escaped(value[i : i + _SLICE]))
    pieces.append('"')
    return "".join(pieces)


def _show_bytes(thread: Thread, value: bytes) -> str:
    pieces = [escaped(_paid(thread, piece), raw_bytes=True) for piece in decoded(value, raw_bytes=True)]
    return f'b"{"".join(pieces)}"'


def _paid(thread: Thread, text: str) -> str:
    """Charge for making a text and looking at it, and return it."""
    thread.charge(len(text) >> 3)
    return text


def _show_range(_thread: Thread, value: range) -> str:
    if value.step != 1:
        return f"range({value.start}, {value.stop}, {value.step})"
    if value.start != 0:
        return f"range({value.start}, {value.stop})"
    return f"range({value.stop})"


_SCALARS: dict[type, Callable[[Thread, Any], str]] = {
    type(None): lambda _thread, _value: "None",
    Bool: lambda _thread, value: str(value.name),
    int: _show_int,
    float: lambda _thread, value: float_text(value),
    NaN: lambda _thread, _value: "nan",
    str: _show_string,
    Bytes: _show_bytes,
    range: _show_range,
}


def _other(thread: Thread, value: Any) -> str:
    """Show a value that holds no values, as far as this text shows."""
    if isinstance(value, HostValue):
        text = _host_text(value)
    elif isinstance(value, FunctionType):
        text = _function_text(value)
    elif isinstance(value, BoundMethod):
        text = f"<built-in method {value.name} of {type_name(value.receiver)} value>"
    elif isinstance(value, Module):
        text = f"<module {quote(value.name)}>"
    else:
        text = f"<{type_name(value)}>"
    return _paid(thread, text)


def _host_text(value: HostValue) -> str:
    try:
        return value.text()
    except PASSING:
        raise
    except Exception as error:
        raise failure(f"text of {value.type_name}", error) from error


def _function_text(function: FunctionType) -> str:
    info = info_of(function)
    if info is not None:
        return f"<built-in function {info.name}>"
    name = function.__name__
    return f"<function {'lambda' if name == '<lambda>' else name}>"
