"""Source: the text of a file, and the line and column of a place in it."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

from plait.starlark.errors import ParseError

__all__ = ["SOURCE_MAX", "Source"]

SOURCE_MAX: Final = 200_000
"""Longest source in characters; comments and blank lines count."""


class Source:
    """The text of a file, with every kind of line end made a newline.

    Args:
        text: What the file says.
        filename: Its name in errors.

    Raises:
        ParseError: The text is too long, or holds a character that no file may hold.
    """

    __slots__ = ("_starts", "filename", "text")

    def __init__(self, text: str, filename: str) -> None:
        self.filename = filename
        self._starts: list[int] | None = None
        text = text.removeprefix("\ufeff")
        self.text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
        if len(text) > SOURCE_MAX:
            raise ParseError(f"source is too long: {len(text)} characters, at most {SOURCE_MAX}", filename, 1, 1)
        if not text.isascii():
            self._refuse_surrogates()

    def _refuse_surrogates(self) -> None:
        try:
            self.text.encode()
        except UnicodeEncodeError as error:
            raise self.error("the source holds half of a surrogate pair, which is no character", error.start) from None

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line and the column, both from 1, of the character at the offset."""
        if self._starts is None:
            starts, at = [0], self.text.find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = self.text.find("\n", at + 1)
            self._starts = starts
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def error(self, message: str, offset: int) -> ParseError:
        """Return the error of something wrong at the offset."""
        return ParseError(message, self.filename, *self.place(offset))
