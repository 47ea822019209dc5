"""The methods of strings that look for another string."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from plait.starlark.errors import EvalError
from plait.starlark.methods.searching import LONG, first, last, occurrences, slices
from plait.starlark.methods.string_arguments import FREE, Methods, bounds, method, mismatch
from plait.starlark.values import FALSE, TRUE, Bool, type_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from plait.starlark.thread import Thread

__all__ = ["SEARCHES", "count"]

SEARCHES: Final[Methods] = {}
"""The methods by their names."""


@method(SEARCHES, "startswith", "prefix", "start?", "end?")
def _startswith(thread: Thread, s: str, prefix: Any, start: Any = None, end: Any = None, /) -> Bool:
    if type(prefix) is str and start is None and end is None:
        if len(prefix) >= FREE:
            thread.charge(len(prefix) >> 4)
        return TRUE if s.startswith(prefix) else FALSE
    return _affixed(thread, "startswith", s.startswith, prefix, bounds("startswith", len(s), start, end))


@method(SEARCHES, "endswith", "suffix", "start?", "end?")
def _endswith(thread: Thread, s: str, suffix: Any, start: Any = None, end: Any = None, /) -> Bool:
    if type(suffix) is str and start is None and end is None:
        if len(suffix) >= FREE:
            thread.charge(len(suffix) >> 4)
        return TRUE if s.endswith(suffix) else FALSE
    return _affixed(thread, "endswith", s.endswith, suffix, bounds("endswith", len(s), start, end))


def _affixed(
    thread: Thread, name: str, holds: Callable[[str, int, int], bool], affix: Any, bounds: tuple[int, int]
) -> Bool:
    start, end = bounds[0], max(bounds)
    if type(affix) is str:
        thread.charge((len(affix) >> 4) + 1)
        return TRUE if holds(affix, start, end) else FALSE
    if type(affix) is not tuple:
        raise EvalError(f"{name}: got {type_name(affix)}, want string or tuple of string")
    for index, each in enumerate(affix):
        if type(each) is not str:
            raise EvalError(f"{name}: want string, got {type_name(each)}, for element {index}")
        thread.charge((len(each) >> 4) + 1)
        if holds(each, start, end):
            return TRUE
    return FALSE


def _position(thread: Thread, name: str, s: str, sub: Any, *limits: Any) -> int:
    """Return where ``sub`` occurs first, or last for the methods whose name begins with an r, or -1."""
    if type(sub) is not str:
        raise mismatch(name, 1, sub, "string")
    seek = last if name[0] == "r" else first
    if limits == (None, None):
        return seek(thread, s, sub, 0, len(s))
    low, high = bounds(name, len(s), *limits)
    return seek(thread, s, sub, low, max(low, high))


@method(SEARCHES, "find", "sub", "start?", "end?")
def _find(thread: Thread, s: str, sub: Any, start: Any = None, end: Any = None, /) -> int:
    if len(s) < LONG and type(sub) is str and start is None and end is None:
        if len(s) >= FREE:
            thread.left -= len(s) >> 4
            if thread.left < 0:
                thread.refuel()
        return s.find(sub)
    return _position(thread, "find", s, sub, start, end)


@method(SEARCHES, "rfind", "sub", "start?", "end?")
def _rfind(thread: Thread, s: str, sub: Any, start: Any = None, end: Any = None, /) -> int:
    if type(sub) is str and start is None and end is None:
        return s.rfind(sub) if len(s) < FREE else last(thread, s, sub, 0, len(s))
    return _position(thread, "rfind", s, sub, start, end)


@method(SEARCHES, "index", "sub", "start?", "end?")
def _index(thread: Thread, s: str, sub: Any, start: Any = None, end: Any = None, /) -> int:
    if type(sub) is str and start is None and end is None:
        found = _find(thread, s, sub)
    else:
        found = _position(thread, "index", s, sub, start, end)
    if found < 0:
        raise EvalError("index: substring not found")
    return found


@method(SEARCHES, "rindex", "sub", "start?", "end?")
def _rindex(thread: Thread, s: str, sub: Any, start: Any = None, end: Any = None, /) -> int:
    if type(sub) is str and start is None and end is None:
        found = _rfind(thread, s, sub)
    else:
        found = _position(thread, "rindex", s, sub, start, end)
    if found < 0:
        raise EvalError("rindex: substring not found")
    return found


@method(SEARCHES, "count", "sub", "start?", "end?")
def count(thread: Thread, s: str, sub: Any, start: Any = None, end: Any = None, /) -> int:
    """Carry out ``s.count(sub, start, end)``."""
    if len(s) < LONG and type(sub) is str and start is None and end is None:
        if len(s) >= FREE:
            thread.left -= len(s) >> 4
            if thread.left < 0:
                thread.refuel()
        return s.count(sub)
    if type(sub) is not str:
        raise mismatch("count", 1, sub, "string")
    low, high = bounds("count", len(s), start, end)
    if high <= low:
        return 0 if sub else 1
    if not sub:
        return high - low + 1
    if high - low <= LONG:
        thread.charge(((high - low) >> 4) + 1)
        return s.count(sub, low, high)
    thread.charge((high - low) >> 4)
    if len(sub) == 1:
        return sum(piece.count(sub) for piece in slices(thread, s[low:high]))
    return sum(1 for _ in occurrences(thread, s[low:high], sub))
