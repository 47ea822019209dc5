"""The methods of strings; those that search and those that take apart come from modules of their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from plait.starlark.methods.elements import StringCodepoints, StringElements
from plait.starlark.methods.searching import LONG, WHITE_SPACE, characters, slices
from plait.starlark.methods.string_arguments import FREE, Methods, method
from plait.starlark.methods.string_parts import PARTS
from plait.starlark.methods.string_searches import SEARCHES
from plait.starlark.native import native
from plait.starlark.text import casing
from plait.starlark.text.formatting import format_text
from plait.starlark.values import FALSE, TRUE, Bool

if TYPE_CHECKING:
    from collections.abc import Callable

    from plait.starlark.thread import Thread

__all__ = ["METHODS"]

_DIGITS = re.compile(r"\d+")

METHODS: Final[Methods] = {**PARTS, **SEARCHES}
"""The methods by their names."""


METHODS["format"] = native("format", maximum=-1)(format_text)


@method(METHODS, "elems")
def _elems(_thread: Thread, s: str, /) -> StringElements:
    return StringElements(s)


@method(METHODS, "elem_ords")
def _elem_ords(_thread: Thread, s: str, /) -> StringElements:
    return StringElements(s, ordinals=True)


@method(METHODS, "codepoints")
def _codepoints(_thread: Thread, s: str, /) -> StringCodepoints:
    return StringCodepoints(s)


@method(METHODS, "codepoint_ords")
def _codepoint_ords(_thread: Thread, s: str, /) -> StringCodepoints:
    return StringCodepoints(s, ordinals=True)


@method(METHODS, "upper")
def _upper(thread: Thread, s: str, /) -> str:
    size = len(s)
    if size <= LONG:
        if size >= FREE:
            thread.left -= size >> 4
            if thread.left < 0:
                thread.refuel()
        result = s.upper()
        if len(result) == size:
            # A character that CPython maps to several would have made it longer.
            return result
    return "".join([casing.upper(piece) for piece in characters(thread, s)])


@method(METHODS, "lower")
def _lower(thread: Thread, s: str, /) -> str:
    if len(s) <= LONG:
        if len(s) >= FREE:
            thread.left -= len(s) >> 4
            if thread.left < 0:
                thread.refuel()
        return s.lower() if s.isascii() else casing.lower(s)
    return "".join([casing.lower(piece) for piece in slices(thread, s)])


def _paid(thread: Thread, s: str) -> str:
    """Charge for a look at all of a text, and return it."""
    if len(s) >= FREE:
        thread.charge(len(s) >> 4)
    return s


@method(METHODS, "title")
def _title(thread: Thread, s: str, /) -> str:
    if len(s) <= LONG and s.isascii():
        return _paid(thread, s).title()
    pieces = []
    before = ""
    for piece in characters(thread, s):
        pieces.append(casing.title(before + piece)[len(before) :])
        before = piece[-1:]
    return "".join(pieces)


@method(METHODS, "capitalize")
def _capitalize(thread: Thread, s: str, /) -> str:
    if len(s) <= LONG and s.isascii():
        return _paid(thread, s).capitalize()
    return casing.title(s[:1]) + _lower(thread, s[1:])


def _answer(thread: Thread, s: str, holds: Callable[[str], bool]) -> Bool:
    """Tell whether something holds of a text and so of each piece of it; it never does of an empty one."""
    if len(s) <= LONG:
        thread.charge(len(s) >> 4)
        return TRUE if holds(s) else FALSE
    return TRUE if all(holds(piece) for piece in slices(thread, s)) else FALSE


def _is_alnum(s: str) -> bool:
    # CPython also counts numbers that are neither letters nor decimal digits.
    return s.isalnum() and (s.isascii() or s.isdecimal() or _DIGITS.sub("", s).isalpha())


def _is_space(s: str) -> bool:
    return s.isspace() and not s.strip(WHITE_SPACE)


@method(METHODS, "isalnum")
def _isalnum(thread: Thread, s: str, /) -> Bool:
    if len(s) < FREE:
        return TRUE if s.isalnum() and (s.isascii() or _is_alnum(s)) else FALSE
    return _answer(thread, s, _is_alnum)


@method(METHODS, "isalpha")
def _isalpha(thread: Thread, s: str, /) -> Bool:
    if len(s) < FREE:
        return TRUE if s.isalpha() else FALSE
    return _answer(thread, s, str.isalpha)


@method(METHODS, "isdigit")
def _isdigit(thread: Thread, s: str, /) -> Bool:
    if len(s) < FREE:
        return TRUE if s.isdecimal() else FALSE
    return _answer(thread, s, str.isdecimal)


@method(METHODS, "isspace")
def _isspace(thread: Thread, s: str, /) -> Bool:
    if len(s) < FREE:
        return TRUE if s.isspace() and not s.strip(WHITE_SPACE) else FALSE
    return _answer(thread, s, _is_space)


def _has_cased(thread: Thread, s: str) -> bool:
    return any(casing.has_cased(piece) for piece in characters(thread, s))


@method(METHODS, "islower")
def _islower(thread: Thread, s: str, /) -> Bool:
    if len(s) <= LONG and s.isascii():
        return TRUE if _paid(thread, s).islower() else FALSE
    return TRUE if _lower(thread, s) == s and _has_cased(thread, s) else FALSE


@method(METHODS, "isupper")
def _isupper(thread: Thread, s: str, /) -> Bool:
    if len(s) <= LONG and s.isascii():
        return TRUE if _paid(thread, s).isupper() else FALSE
    return TRUE if _upper(thread, s) == s and _has_cased(thread, s) else FALSE


@method(METHODS, "istitle")
def _istitle(thread: Thread, s: str, /) -> Bool:
    if len(s) <= LONG and s.isascii():
        return TRUE if _paid(thread, s).istitle() else FALSE
    return TRUE if casing.is_title(characters(thread, s)) else FALSE
