"""The values of number and string literals."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.text.numbers import parse_digits

if TYPE_CHECKING:
    from plait.starlark.syntax.source import Source

__all__ = ["decode_string", "number_value"]

_DIGITS_MAX: Final = 20_000
"""Most digits of an integer literal."""

_INT: Final = re.compile(
    r"(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[oO](?P<oct>[0-7]+)|0[bB](?P<bin>[01]+)|(?P<dec>0|[1-9][0-9]*))\Z", re.A
)
_FLOAT: Final = re.compile(r"(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?\Z", re.A)
_BASES: Final = {"hex": 16, "oct": 8, "bin": 2, "dec": 10}

_ESCAPE: Final = re.compile(r"\\(\n|[0-7]{1,3}|x[0-9a-fA-F]{0,2}|u[0-9a-fA-F]{0,4}|U[0-9a-fA-F]{0,8}|.)", re.DOTALL)
_SIMPLE: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", "'": "'", '"': '"',
    "\n": "",
}  # fmt: skip


def number_value(source: Source, text: str, offset: int) -> tuple[str, int | float]:
    """Return a number literal's kind, ``int`` or ``float``, and value.

    Args:
        source: The file.
        text: The literal.
        offset: Where it starts.

    Raises:
        ParseError: It is not a number, or too large.
    """
    if found := _INT.match(text):
        group = found.lastgroup or "dec"
        digits = found[group]
        if len(digits) > _DIGITS_MAX:
            raise source.error(f"integer literal of {len(digits)} digits is too long (at most {_DIGITS_MAX})", offset)
        return "int", int(text) if len(text) < 600 and group == "dec" else parse_digits(digits, _BASES[group])
    if _FLOAT.match(text):
        value = float(text)
        if value in (float("inf"), float("-inf")):
            raise source.error("floating-point literal too large", offset)
        return "float", value
    if text.isdecimal() and text.isascii():
        stripped = text.lstrip("0")
        if not stripped:
            return "int", 0
        raise source.error(f"obsolete form of octal literal; use 0o{stripped[:40]}", offset)
    raise source.error(f"invalid number {text[:40]}", offset)


def decode_string(source: Source, text: str, offset: int, *, raw: bool, is_bytes: bool) -> Any:
    """Return the value of a string or bytes literal.

    Args:
        source: The file.
        text: What stands between the quotes.
        offset: Where that starts.
        raw: The literal has the prefix ``r``: backslashes stand for themselves.
        is_bytes: The literal has the prefix ``b``.

    Returns:
        A string, or bytes.

    Raises:
        ParseError: An escape is not one of the language's.
    """
    if raw or "\\" not in text:
        return text.encode() if is_bytes else text
    parts: list[Any] = []
    at = 0
    for found in _ESCAPE.finditer(text):
        parts.append(text[at : found.start()])
        at = found.end()
        parts.append(_escape(source, found[1], offset + found.start(), is_bytes=is_bytes))
    parts.append(text[at:])
    if is_bytes:
        return b"".join(part if isinstance(part, bytes) else part.encode() for part in parts)
    return "".join(parts)


def _escape(source: Source, escape: str, offset: int, *, is_bytes: bool) -> str | bytes:
    simple = _SIMPLE.get(escape)
    if simple is not None:
        return simple
    first = escape[0]
    if first in "01234567":
        return _byte(source, int(escape, 8), f"octal escape \\{escape}", offset, is_bytes=is_bytes)
    if first == "x":
        if len(escape) != 3:
            raise source.error(f"invalid escape sequence \\{escape}: \\x takes two hexadecimal digits", offset)
        return _byte(source, int(escape[1:], 16), f"hex escape \\{escape}", offset, is_bytes=is_bytes)
    if first in "uU":
        return _code_point(source, escape, offset)
    raise source.error(f"invalid escape sequence \\{escape}", offset)


def _byte(source: Source, value: int, what: str, offset: int, *, is_bytes: bool) -> str | bytes:
    if is_bytes:
        if value > 255:
            raise source.error(f"invalid {what}: a byte is at most \\377", offset)
        return bytes((value,))
    if value > 127:
        raise source.error(f"non-ASCII {what} (use \\u{value:04X} for the UTF-8 encoding of U+{value:04X})", offset)
    return chr(value)


def _code_point(source: Source, escape: str, offset: int) -> str:
    want = 4 if escape[0] == "u" else 8
    if len(escape) != want + 1:
        raise source.error(f"invalid escape sequence \\{escape}: \\{escape[0]} takes {want} hexadecimal digits", offset)
    value = int(escape[1:], 16)
    if value > 0x10FFFF:
        raise source.error(f"code point out of range: \\{escape} (max \\U0010FFFF)", offset)
    if 0xD800 <= value <= 0xDFFF:
        raise source.error(f"invalid Unicode code point U+{value:04X}", offset)
    return chr(value)
