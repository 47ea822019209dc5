"""Searching: where one string occurs in another, in linear time, with looks at the steps when the text is long."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plait.starlark.thread import Thread

__all__ = ["LONG", "WHITE_SPACE", "characters", "first", "last", "occurrences", "slices"]

LONG = 1 << 20
"""Texts of up to so many characters are searched or mapped in one go, in milliseconds; longer ones in slices."""

_FEW = 1 << 14
"""Characters that Python code handles in milliseconds."""

WHITE_SPACE = (
    " \t\n\v\f\r\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""White space as in Go. CPython also counts the four separators U+001C to U+001F."""

_SHORT_NEEDLE = 16
"""CPython searches backwards in time proportional to both lengths; a longer needle is sought forwards in a mirror."""


def first(thread: Thread, text: str, sub: str, start: int, end: int) -> int:
    """Return where ``sub`` first occurs in ``text[start:end]``, counted from the start of the text, or -1.

    Args:
        thread: Charged for the characters looked at.
        text: Where to look.
        sub: What to look for.
        start: From 0 to ``end``.
        end: Up to the text's length.
    """
    while end - start > LONG:
        found = text.find(sub, start, min(end, start + LONG + len(sub)))
        thread.charge((((found if found >= 0 else start + LONG) - start) >> 4) + 1)
        if found >= 0:
            return found
        start += LONG
    thread.left -= ((end - start) >> 4) + 1
    if thread.left < 0:
        thread.refuel()
    return text.find(sub, start, end)


def last(thread: Thread, text: str, sub: str, start: int, end: int) -> int:
    """Return where ``sub`` last occurs in ``text[start:end]``, counted from the start of the text, or -1.

    Args:
        thread: Charged for the characters looked at.
        text: Where to look.
        sub: What to look for.
        start: From 0 to ``end``.
        end: Up to the text's length.
    """
    if len(sub) <= _SHORT_NEEDLE and end - start <= LONG:
        thread.left -= ((end - start) >> 4) + 1
        if thread.left < 0:
            thread.refuel()
        return text.rfind(sub, start, end)
    thread.charge(((end - start) >> 3) + 1)
    mirror = text[start:end][::-1]
    found = first(thread, mirror, sub[::-1], 0, len(mirror))
    return end - found - len(sub) if found >= 0 else -1


def occurrences(thread: Thread, text: str, sub: str) -> Iterator[int]:
    """Yield where ``sub``, which is not empty, occurs in the text, from the left, none overlapping the one before."""
    position = 0
    while (found := first(thread, text, sub, position, len(text))) >= 0:
        yield found
        position = found + len(sub)


def slices(thread: Thread, text: str) -> Iterator[str]:
    """Yield the text in pieces that C code handles in milliseconds, each charged before it is looked at."""
    if len(text) <= LONG:
        thread.charge((len(text) >> 4) + 1)
        yield text
        return
    for i in range(0, len(text), LONG):
        thread.charge(LONG >> 4)
        yield text[i : i + LONG]


def characters(thread: Thread, text: str) -> Iterator[str]:
    """Yield the text in pieces that can be handled in milliseconds, for work that takes Python code beyond ASCII.

    Such a piece is charged by the character, one of ASCII as in ``slices``.
    """
    if text.isascii():
        yield from slices(thread, text)
        return
    for i in range(0, len(text), _FEW):
        piece = text[i : i + _FEW]
        thread.charge(len(piece))
        yield piece
