"""Casing: upper, lower and title case, one character for one as in the language, and the questions about them."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["has_cased", "is_title", "lower", "title", "upper"]

_NO_LETTER = re.compile("[^A-Za-z]*")

# CPython maps some characters to several ("ß" to "SS"); the language maps each character to exactly one, by the
# simple mappings of the Unicode database. Those follow from CPython's own where these are one character long.


def upper(s: str) -> str:
    """Return the text with every character in upper case; as long as it was."""
    result = s.upper()
    # A character of several in upper case makes the text longer, and none makes it shorter.
    return result if len(result) == len(s) else "".join(map(_upper, s))


def _upper(c: str) -> str:
    whole = c.upper()
    # Greek letters with a iota below are the case for the second: their title case is their simple upper case.
    return whole if len(whole) == 1 else _title(c)


def lower(s: str) -> str:
    """Return the text with every character in lower case; as long as it was."""
    if s.isascii():
        return s.lower()
    # CPython writes a sigma differently at the end of a word, and the dotted capital i as two characters.
    return s.replace("\u03a3", "\u03c3").replace("\u0130", "i").lower()


def _title(c: str) -> str:
    whole = c.title()
    return whole if len(whole) == 1 else c


def title(s: str) -> str:
    """Return the text with each first letter after an uncased character in title case, the others in lower case."""
    if s.isascii():
        return s.title()
    result = []
    previous_cased = False
    for c in s:
        mapped = lower(c) if previous_cased else _title(c)
        previous_cased = _cased(mapped)
        result.append(mapped)
    return "".join(result)


def _cased(c: str) -> bool:
    """Tell whether a character has another case to which it folds."""
    if c.isascii():
        return c.isalpha()
    if c in "\u0130\u0131":
        return False
    return c == "\u00df" or _upper(c) != c or lower(c) != c


def has_cased(s: str) -> bool:
    """Tell whether any character has another case."""
    return s.swapcase() != s if s.isascii() else any(map(_cased, s))


def is_title(pieces: Iterable[str]) -> bool:
    """Tell whether capitals follow uncased characters only and small letters cased ones only.

    As in go.starlark.net, a capital beyond ASCII that is not a title case letter makes the answer no.

    Args:
        pieces: The text in pieces.
    """
    cased = previous = False
    for piece in pieces:
        if piece.isascii():
            # What came before stands for itself by a letter of its kind; the capital after a blank counts as no word.
            if not f"{'A' if previous else 'A '}{piece}".istitle():
                return False
            cased = cased or not _NO_LETTER.fullmatch(piece)
            previous = piece[-1:].isalpha()
            continue
        for c in piece:
            kind = _title_kind(c)
            if kind == "Lu" or (kind == "Lt" and previous) or (kind == "Ll" and not previous):
                return False
            previous = kind in {"Lt", "Ll"}
            cased = cased or previous
    return cased


def _title_kind(c: str) -> str:
    return "Lt" if "A" <= c <= "Z" else unicodedata.category(c)
