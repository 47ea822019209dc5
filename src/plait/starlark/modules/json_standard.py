"""Encoding JSON by the standard encoder, where its text is the language's."""

from __future__ import annotations

import re
from json import JSONEncoder
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.values import FALSE, TRUE, Bool, FrozenDict, FrozenList

if TYPE_CHECKING:
    from plait.starlark.thread import Thread

__all__ = ["standard_text"]

_DEPTH: Final = 30
"""How many containers may stand inside one another; what is deeper, or contains itself, is for others to write."""

_WEIGHT: Final = 1 << 18
"""Characters that are written in one go, each element counted as sixteen: milliseconds."""

_ELEMENT: Final = 16
_BATCH: Final = 256
"""Elements of a long list that are written in one go."""

_FEW: Final = 64
"""Keys that are sorted at no cost of their own."""

_LOW, _HIGH = -(1 << 64), 1 << 64
"""Integers between these are written at no cost of their own."""

_LISTS: Final = frozenset({list, FrozenList, tuple})
_DICTS: Final = frozenset({dict, FrozenDict})
_BOOLS: Final = {TRUE: True, FALSE: False}

_ENCODER: Final = JSONEncoder(
    ensure_ascii=False,
    check_circular=False,
    allow_nan=False,
    sort_keys=True,
    separators=(",", ":"),
    default=_BOOLS.__getitem__,
)
_LITERAL: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
_HTML: Final = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


class _UnusualError(Exception):
    """There is something in a value that the standard encoder writes otherwise, or does not know."""


def standard_text(thread: Thread, value: Any) -> str | None:
    """Return a list, tuple or dict as JSON if the standard encoder can write it as the language does.

    Args:
        thread: Charged for what is looked at, and for the text before it is written.
        value: Any value of a script.

    Returns:
        The text on one line, keys sorted; ``None`` when the value must be written in another way.
    """
    kind = type(value)
    try:
        if kind in _LISTS and len(value) > _BATCH:
            return _batches(thread, value)
        return _text(thread, value) if kind in _LISTS or kind in _DICTS else None
    except _UnusualError:
        return None


def _batches(thread: Thread, values: Any) -> str:
    pieces = [_text(thread, values[start : start + _BATCH])[1:-1] for start in range(0, len(values), _BATCH)]
    return f"[{','.join(pieces)}]"


def _text(thread: Thread, value: Any) -> str:
    thread.left -= _weight(thread, value, _DEPTH) >> 4
    if thread.left < 0:
        thread.refuel()
    text = _ENCODER.encode(value)
    return text if text.isascii() and "\\" not in text and "\x7f" not in text else _escaped(text)


def _weight(thread: Thread, container: Any, depth: int) -> int:  # noqa: C901, PLR0912 - a call for each value costs time
    """Look through a container, and return what it weighs.

    Raises:
        _UnusualError: It weighs too much, or there is something unusual in it.
    """
    size = len(container)
    weight = _ELEMENT * (size + 1)
    if weight > _WEIGHT or not depth:
        raise _UnusualError
    thread.left -= size + 1
    if thread.left < 0:
        thread.refuel()
    if type(container) in _DICTS:
        weight += _keys_weight(thread, container)
        container = container.values()
    for value in container:
        kind = type(value)
        if kind is str:
            weight += len(value)
        elif kind is int:
            if not _LOW < value < _HIGH:
                raise _UnusualError
        elif kind is float:
            if not -1e6 < value < 1e6:
                raise _UnusualError
        elif kind is dict or kind is list or kind in _LISTS or kind is FrozenDict:
            weight += _weight(thread, value, depth - 1)
            if weight > _WEIGHT:
                raise _UnusualError
        elif kind is not Bool and value is not None:
            raise _UnusualError
    if weight > _WEIGHT:
        raise _UnusualError
    return weight


def _keys_weight(thread: Thread, container: dict[Any, Any]) -> int:
    size = len(container)
    thread.left -= size << 1
    if thread.left < 0:
        thread.refuel()
    if size > _FEW:
        thread.charge(size * size.bit_length())
    weight = 0
    for key in container:
        if type(key) is not str:
            raise _UnusualError
        weight += len(key)
    return weight


def _escaped(text: str) -> str:
    """Escape in a JSON text what the language escapes beside unprintable or wide characters of the same string."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    if any(chr(code) in text for code in _HTML):
        return _LITERAL.sub(_escaped_literal, text)
    return text


def _escaped_literal(match: re.Match[str]) -> str:
    literal = match[0]
    printable = literal.isascii() and literal.isprintable()
    if printable and "\\" not in literal.replace("\\\\", "").replace('\\"', ""):
        return literal
    return literal.translate(_HTML)
