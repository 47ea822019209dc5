"""Quoting: string and bytes values as literals of the language, and bytes decoded as text."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["decoded", "escaped", "quote", "quote_bytes"]

_SLICE = 1 << 16
"""Characters that are quoted in one go."""

_NAMED = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r"}

_INVALID = re.compile("[\udc80-\udcff]")
"""How the surrogateescape error handler shows a byte that is not part of valid UTF-8."""


def quote(s: str) -> str:
    r"""Return the literal of a string, in double quotes.

    Printable characters stand for themselves; the rest are escapes such as ``\n``, ``\x7f``, ``\u2028``.
    """
    if len(s) <= _SLICE:
        return f'"{escaped(s)}"'
    return '"' + "".join([escaped(s[i : i + _SLICE]) for i in range(0, len(s), _SLICE)]) + '"'


def quote_bytes(b: bytes) -> str:
    r"""Return the literal of a bytes value: its UTF-8 text quoted, with ``\xff`` for bytes that are not text."""
    pieces = [escaped(piece, raw_bytes=True) for piece in decoded(b, raw_bytes=True)]
    return f'b"{"".join(pieces)}"'


def escaped(s: str, *, raw_bytes: bool = False) -> str:
    """Return what stands between the quotes of the literal of a string.

    Args:
        s: The string; tens of thousands of characters at most, for it is done in one go.
        raw_bytes: The surrogates U+DC80 to U+DCFF stand for single bytes.
    """
    if "\\" in s:
        s = s.replace("\\", "\\\\")
    if '"' in s:
        s = s.replace('"', '\\"')
    if s.isprintable():
        return s
    s = s.replace("\n", "\\n")
    if s.isprintable():
        return s
    return s.translate({ord(c): _escape(ord(c), raw_bytes) for c in set(s) if not c.isprintable()})


def _escape(code: int, raw_bytes: bool) -> str:
    if code in _NAMED:
        return _NAMED[code]
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    if raw_bytes and 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def decoded(b: bytes, *, raw_bytes: bool = False) -> Iterator[str]:
    """Yield the UTF-8 text of bytes, in pieces of at most tens of thousands of characters.

    Args:
        b: The bytes.
        raw_bytes: A byte that is not part of valid text becomes one of the surrogates U+DC80 to U+DCFF rather than
            U+FFFD.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    for i in range(0, len(b), _SLICE):
        piece = decoder.decode(b[i : i + _SLICE], i + _SLICE >= len(b))
        yield piece if raw_bytes else _INVALID.sub("\ufffd", piece)
