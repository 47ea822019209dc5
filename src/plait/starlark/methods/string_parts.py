"""The methods of strings that take strings apart and put them together."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.errors import EvalError
from plait.starlark.methods.searching import LONG, WHITE_SPACE, first, last, slices
from plait.starlark.methods.string_arguments import FREE, Methods, int64, method, mismatch
from plait.starlark.methods.string_searches import count as count_in
from plait.starlark.running.iteration import collect, is_iterable
from plait.starlark.values import FALSE, Bool, FrozenList, type_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plait.starlark.thread import Thread

__all__ = ["PARTS"]

_WORD = re.compile(f"[^{WHITE_SPACE}]+")

_ALL: Final = -1
"""How often to split or replace when nothing is said: a small integer, of which there is one object."""

_DEFAULT: Final = ""
"""The cutset when none is given."""

_ASCII_SPACE: Final = " \t\n\v\f\r"

_FREE_PARTS = 8
"""So many parts of a short text cost no steps of their own."""

_FEW = 64
"""So many elements are counted before they are charged."""

_SHORT_CUTSET = 32
"""Stripping compares each end character with each of the cutset; a longer cutset is made a set."""

_SMALL_RESULT = 4_096
"""Characters that ``replace`` may make before it counts what it will make."""

PARTS: Final[Methods] = {}
"""The methods by their names."""


@method(PARTS, "split", "sep?", "maxsplit?")
def _split(thread: Thread, s: str, sep: Any = None, maxsplit: Any = -1, /) -> list[str]:
    size = len(s)
    if size >= FREE:
        if size > LONG:
            return _split_long(thread, s, sep, int64("split", 2, maxsplit))
        thread.left -= size >> 4
        if thread.left < 0:
            thread.refuel()
    if maxsplit is not _ALL and not (type(maxsplit) is int and 0 <= maxsplit < LONG):
        int64("split", 2, maxsplit)
    if type(sep) is str and sep:
        parts = s.split(sep, maxsplit)
    elif sep is None:
        parts = s.split(None, maxsplit) if s.isprintable() or _plain_spaces(s) else _words(thread, s, maxsplit)
    else:
        raise _bad_separator(sep)
    if len(parts) > _FREE_PARTS:
        thread.left -= len(parts)
        if thread.left < 0:
            thread.refuel()
    return parts


@method(PARTS, "rsplit", "sep?", "maxsplit?")
def _rsplit(thread: Thread, s: str, sep: Any = None, maxsplit: Any = -1, /) -> list[str]:
    if len(s) < FREE and type(sep) is str and len(sep) == 1 and type(maxsplit) is int and -1 <= maxsplit < LONG:
        parts = s.rsplit(sep, maxsplit)
        if len(parts) > _FREE_PARTS:
            thread.charge(len(parts))
        return parts
    most = int64("rsplit", 2, maxsplit)
    if sep is None:
        if len(s) > LONG or not (s.isprintable() or _plain_spaces(s)):
            return _last_words(thread, s, most)
        thread.charge((len(s) >> 4) + 1)
        parts = s.rsplit(None, most)
        thread.charge(len(parts))
        return parts
    # The separators are sought from the left here too: where they overlap, that is not what CPython does.
    parts = _split(thread, s, sep)
    excess = len(parts) - most
    if most < 0 or excess <= 1:
        return parts
    head_parts = parts[:excess]
    thread.charge((len(s) >> 4) + 1)
    return [sep.join(head_parts), *parts[excess:]]


def _bad_separator(sep: Any) -> EvalError:
    if type(sep) is not str:
        return EvalError(f"split: got {type_name(sep)} for separator, want string")
    return EvalError("split: empty separator")


def _plain_spaces(s: str) -> bool:
    """Tell whether CPython's white space is the language's as far as this text goes."""
    return not ("\x1c" in s or "\x1d" in s or "\x1e" in s or "\x1f" in s)


def _split_long(thread: Thread, s: str, sep: Any, most: int) -> list[str]:
    if sep is None:
        return _words(thread, s, most)
    if type(sep) is not str or not sep:
        raise _bad_separator(sep)
    parts: list[str] = []
    start, step = 0, LONG >> 2
    while len(s) - start > step and len(parts) != most:
        thread.charge(step >> 4)
        found = s[start : start + step].split(sep, most - len(parts) if most > 0 else -1)
        # What comes after the last separator goes on in the next slice.
        start = min(start + step, len(s)) - len(found.pop())
        if not found:
            end = first(thread, s, sep, start, len(s))
            if end < 0:
                break
            found, start = [s[start:end]], end + len(sep)
        thread.charge(len(found))
        parts += found
    thread.charge((len(s) - start) >> 4)
    return parts + (
        s[start:].split(sep, most - len(parts) if most >= 0 else -1) if len(s) - start <= step else [s[start:]]
    )


def _words(thread: Thread, s: str, most: int) -> list[str]:
    """Split at white space, at most so many times when the number is not negative."""
    parts: list[str] = []
    for match in _WORD.finditer(s):
        start, end = match.span()
        if len(parts) == most:
            end = len(s)
        thread.charge(((end - start) >> 4) + 1)
        parts.append(s[start:end])
        if len(parts) == most + 1 > 0:
            break
    return parts


def _last_words(thread: Thread, s: str, most: int) -> list[str]:
    """Split at white space from the right, at most so many times when the number is not negative."""
    thread.charge((len(s) >> 3) + 1)
    parts = [word[::-1] for word in _words(thread, s[::-1], most)]
    parts.reverse()
    return parts


@method(PARTS, "splitlines", "keepends?")
def _splitlines(thread: Thread, s: str, keepends: Any = FALSE, /) -> list[str]:
    if type(keepends) is not Bool:
        raise mismatch("splitlines", 1, keepends, "bool")
    if keepends is FALSE and len(s) < FREE:
        lines = s.split("\n")
        thread.left -= len(lines)
        if thread.left < 0:
            thread.refuel()
        if not lines[-1]:
            lines.pop()
        return lines
    lines = _split(thread, s, "\n")
    if keepends is FALSE:
        if not lines[-1]:
            lines.pop()
        return lines
    rest = lines.pop()
    thread.charge(len(s) >> 4)
    for i in range(0, len(lines), LONG):
        thread.charge(len(lines[i : i + LONG]))
        lines[i : i + LONG] = [line + "\n" for line in lines[i : i + LONG]]
    if rest:
        lines.append(rest)
    return lines


@method(PARTS, "partition", "sep")
def _partition(thread: Thread, s: str, sep: Any, /) -> tuple[str, str, str]:
    size = len(s)
    if size < LONG and type(sep) is str and sep:
        if size >= FREE:
            thread.left -= size >> 3
            if thread.left < 0:
                thread.refuel()
        return s.partition(sep)
    found = _parting("partition", thread, s, sep)
    return (s[:found], sep, s[found + len(sep) :]) if found >= 0 else (s, "", "")


@method(PARTS, "rpartition", "sep")
def _rpartition(thread: Thread, s: str, sep: Any, /) -> tuple[str, str, str]:
    if len(s) < FREE and type(sep) is str and sep:
        return s.rpartition(sep)
    found = _parting("rpartition", thread, s, sep)
    return (s[:found], sep, s[found + len(sep) :]) if found >= 0 else ("", "", s)


def _parting(name: str, thread: Thread, s: str, sep: Any) -> int:
    if type(sep) is not str:
        raise mismatch(name, 1, sep, "string")
    if not sep:
        raise EvalError(f"{name}: empty separator")
    thread.charge(len(s) >> 4)
    return (first if name == "partition" else last)(thread, s, sep, 0, len(s))


@method(PARTS, "join", "iterable")
def _join(thread: Thread, s: str, iterable: Any, /) -> str:
    kind = type(iterable)
    if kind is list or kind is tuple or kind is FrozenList:
        parts = iterable
    elif is_iterable(iterable):
        parts = collect(thread, iterable)
    else:
        raise mismatch("join", 1, iterable, "iterable")
    count = len(parts)
    if count > _FEW:
        thread.charge(count)
        if count > LONG:
            return _join_long(thread, s, parts)
    try:
        size = sum(map(len, parts))
    except Exception:  # noqa: BLE001 - what a value of the host does to say its length; it is not a string anyway
        raise _not_strings(parts) from None
    thread.left -= ((size + len(s) * count) >> 4) + 1
    if thread.left < 0:
        thread.refuel()
    try:
        return s.join(parts)
    except TypeError:
        raise _not_strings(parts) from None


def _join_long(thread: Thread, s: str, parts: list[Any]) -> str:
    step = LONG >> 2
    return s.join([_join(thread, s, parts[i : i + step]) for i in range(0, len(parts), step)])


def _not_strings(parts: Iterable[Any]) -> EvalError:
    wrong = next(part for part in parts if type(part) is not str)
    return EvalError(f"join: in list, want string, got {type_name(wrong)}")


@method(PARTS, "replace", "old", "new", "count?")
def _replace(thread: Thread, s: str, old: Any, new: Any, count: Any = -1, /) -> str:
    if len(s) < FREE and type(old) is str and type(new) is str and len(new) < FREE and count is _ALL:
        result = s.replace(old, new)
        if len(result) >= FREE:
            thread.charge(len(result) >> 4)
        return result
    if type(old) is not str:
        raise mismatch("replace", 1, old, "string")
    if type(new) is not str:
        raise mismatch("replace", 2, new, "string")
    most = count if count is _ALL else int64("replace", 3, count)
    size = len(s)
    thread.left -= (size >> 4) + 1
    if thread.left < 0:
        thread.refuel()
    growth = len(new) - len(old)
    if growth > 0 and growth * (size + 1) > _SMALL_RESULT:
        found = count_in(thread, s, old)
        thread.charge((growth * (found if most < 0 else min(found, most)) >> 4) + (found >> 3))
    if size <= LONG:
        return s.replace(old, new, most)
    return _replace_long(thread, s, old, new, most)


def _replace_long(thread: Thread, s: str, old: str, new: str, most: int) -> str:
    if not old:
        return _interspersed(thread, s, new, most)
    return new.join(_split_long(thread, s, old, most))


def _interspersed(thread: Thread, s: str, new: str, most: int) -> str:
    """Put ``new`` before every character and at the end, at most so many times when the number is not negative."""
    pieces = []
    left = len(s) + 1 if most < 0 else min(most, len(s) + 1)
    for piece in slices(thread, s):
        now = min(left, len(piece))
        pieces.append(piece.replace("", new, now))
        left -= now
    if left:
        pieces.append(new)
    return "".join(pieces)


@method(PARTS, "removeprefix", "prefix")
def _removeprefix(thread: Thread, s: str, prefix: Any, /) -> str:
    if type(prefix) is not str:
        raise mismatch("removeprefix", 1, prefix, "string")
    if len(s) >= FREE:
        thread.charge(len(s) >> 4)
    return s.removeprefix(prefix)


@method(PARTS, "removesuffix", "suffix")
def _removesuffix(thread: Thread, s: str, suffix: Any, /) -> str:
    if type(suffix) is not str:
        raise mismatch("removesuffix", 1, suffix, "string")
    if len(s) >= FREE:
        thread.charge(len(s) >> 4)
    return s.removesuffix(suffix)


@method(PARTS, "strip", "cutset?")
def _strip(thread: Thread, s: str, cutset: Any = _DEFAULT, /) -> str:
    if len(s) >= FREE:
        if len(s) > LONG:
            return _stripped(thread, "strip", s, cutset)
        thread.left -= len(s) >> 4
        if thread.left < 0:
            thread.refuel()
    if cutset is _DEFAULT:
        return s.strip(_ASCII_SPACE) if s.isascii() else s.strip(WHITE_SPACE)
    if type(cutset) is str and len(cutset) <= _SHORT_CUTSET:
        return s.strip(cutset or WHITE_SPACE)
    return _stripped(thread, "strip", s, cutset)


@method(PARTS, "lstrip", "cutset?")
def _lstrip(thread: Thread, s: str, cutset: Any = _DEFAULT, /) -> str:
    if len(s) >= FREE:
        if len(s) > LONG:
            return _stripped(thread, "lstrip", s, cutset)
        thread.left -= len(s) >> 4
        if thread.left < 0:
            thread.refuel()
    if cutset is _DEFAULT:
        return s.lstrip(_ASCII_SPACE) if s.isascii() else s.lstrip(WHITE_SPACE)
    if type(cutset) is str and len(cutset) <= _SHORT_CUTSET:
        return s.lstrip(cutset or WHITE_SPACE)
    return _stripped(thread, "lstrip", s, cutset)


@method(PARTS, "rstrip", "cutset?")
def _rstrip(thread: Thread, s: str, cutset: Any = _DEFAULT, /) -> str:
    if len(s) >= FREE:
        if len(s) > LONG:
            return _stripped(thread, "rstrip", s, cutset)
        thread.left -= len(s) >> 4
        if thread.left < 0:
            thread.refuel()
    if cutset is _DEFAULT:
        return s.rstrip(_ASCII_SPACE) if s.isascii() else s.rstrip(WHITE_SPACE)
    if type(cutset) is str and len(cutset) <= _SHORT_CUTSET:
        return s.rstrip(cutset or WHITE_SPACE)
    return _stripped(thread, "rstrip", s, cutset)


def _stripped(thread: Thread, name: str, s: str, cutset: Any) -> str:
    """Strip with a long cutset or a long text, a character at a time."""
    if type(cutset) is not str:
        raise mismatch(name, 1, cutset, "string")
    thread.charge(len(cutset))
    cut = set(cutset or WHITE_SPACE)
    start, end = 0, len(s)
    if name != "rstrip":
        while start < end and s[start] in cut:
            thread.charge(1)
            start += 1
    if name != "lstrip":
        while start < end and s[end - 1] in cut:
            thread.charge(1)
            end -= 1
    thread.charge(((end - start) >> 4) + 1)
    return s[start:end]
