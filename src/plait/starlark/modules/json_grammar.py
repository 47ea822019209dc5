"""The smallest parts of JSON text: its characters in messages, its strings and their escapes."""

from __future__ import annotations

import re
from json import decoder
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from plait.starlark.thread import Thread

__all__ = ["MalformedError", "blank_end", "paired", "shown", "sound_end", "string_problem", "unquoted"]

_scan_string: Final[Callable[[str, int, bool], tuple[str, int]]] = decoder.scanstring  # type: ignore[attr-defined] # typeshed leaves it out
_BLANK: Final = re.compile(r"[ \t\n\r]*+")
_HEX: Final = re.compile("[0-9a-fA-F]*")
_LONG: Final = 1 << 18
"""Characters of a string literal that are unquoted in one go."""

_PIECE: Final = re.compile(
    r'(?:[^"\\\x00-\x1f]{1,4096}+|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}'
    r'|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})){1,64}+'
)
"""A sound piece of the inside of a string literal; it splits neither an escape nor two that belong together."""

_ESCAPE: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<alone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_NAMED: Final = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}


class MalformedError(Exception):
    """A text is not JSON; its message says why, without the place."""


def blank_end(text: str, start: int) -> int:
    """Return where the white space that starts at an index ends."""
    match = _BLANK.match(text, start)
    return match.end() if match else start


def shown(char: str) -> str:
    """Return a character in single quotes, as messages show it."""
    if char in {"'", "\\"}:
        return f"'\\{char}'"
    if char.isprintable():
        return f"'{char}'"
    code = ord(char)
    if char in _NAMED:
        return f"'{_NAMED[char]}'"
    if code < 0x20 or code == 0x7F:
        return f"'\\x{code:02x}'"
    return f"'\\u{code:04x}'" if code < 0x10000 else f"'\\U{code:08x}'"


def sound_end(thread: Thread, text: str, start: int) -> int:
    """Return where the sound part of a string literal ends: at its closing quotation mark, if nothing is wrong.

    Args:
        thread: Its context is looked at now and then.
        text: The JSON text.
        start: Index after the opening quotation mark.
    """
    pieces = 0
    while (match := _PIECE.match(text, start)) is not None:
        start = match.end()
        pieces += 1
        if not pieces & 0xF:
            thread.refuel()
    return start


def string_problem(text: str, at: int) -> str:
    """Say what is wrong with a string literal.

    Args:
        text: The JSON text.
        at: Where the sound part of the literal ends.

    Returns:
        The message. At its end a text is taken to go on with a space.
    """
    if at >= len(text):
        return "unexpected end of JSON input"
    if text[at] != "\\":
        return f"invalid character {shown(text[at])} in string literal"
    escape = text[at + 1 : at + 2] or " "
    if escape != "u":
        return f"invalid character {shown(escape)} in string escape code"
    digits = _HEX.match(text, at + 2, at + 6)
    at = digits.end() if digits else at + 2
    return f"invalid character {shown(text[at : at + 1] or ' ')} in \\u hexadecimal character escape"


def unquoted(thread: Thread, literal: str) -> str:
    r"""Return the string that a literal stands for.

    Args:
        thread: Its context is looked at now and then.
        literal: From one quotation mark to the other. Half of a surrogate pair (``\ud800``) stands for U+FFFD.

    Raises:
        MalformedError: It has an unknown escape or a control character.
    """
    if len(literal) <= _LONG:
        try:
            return _scan_string(paired(literal), 1, True)[0]
        except ValueError:
            raise MalformedError(string_problem(literal, sound_end(thread, literal, 1))) from None
    parts = []
    at = 1
    while (match := _PIECE.match(literal, at)) is not None:
        thread.refuel()
        parts.append(_scan_string(paired(f'{match[0]}"'), 0, True)[0])
        at = match.end()
    if at != len(literal) - 1:
        raise MalformedError(string_problem(literal, at))
    return "".join(parts)


def paired(text: str) -> str:
    r"""Return JSON text with ``\ufffd`` for each escape that is half of a surrogate pair without the other."""
    if "\\ud" not in text and "\\uD" not in text:
        return text
    return _ESCAPE.sub(_paired_escape, text)


def _paired_escape(match: re.Match[str]) -> str:
    return "\\ufffd" if match["alone"] else match[0]
