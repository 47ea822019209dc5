"""Indenting JSON text: the text as it is, but for its white space; a text that is not JSON is refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NoReturn

from plait.starlark.modules.json_grammar import MalformedError, blank_end, shown, sound_end, string_problem

if TYPE_CHECKING:
    from plait.starlark.thread import Thread

__all__ = ["indented"]

_DEPTH: Final = 10_000
"""How many arrays and objects may stand inside one another."""

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_WORDS: Final = {"t": "true", "f": "false", "n": "null"}

# What may come next, and how a message says that it did not.
_VALUE: Final = "looking for beginning of value"
_FIRST_VALUE: Final = "looking for beginning of value "  # or the array's end
_FIRST_KEY: Final = "looking for beginning of object key string "  # or the object's end
_KEY: Final = "looking for beginning of object key string"
_COLON: Final = "after object key"
_AFTER_PAIR: Final = "after object key:value pair"
_AFTER_ELEMENT: Final = "after array element"
_END: Final = "after top-level value"


def indented(thread: Thread, text: str, prefix: str, indent: str) -> str:
    """Return JSON text with each element and each member on a line of its own.

    Args:
        thread: Charged for the text and for each new line, before it is written.
        text: The JSON text. White space at its end stays.
        prefix: What each line but the first starts with.
        indent: What follows the prefix, once for each level.

    Returns:
        The new text.

    Raises:
        MalformedError: The text is not JSON.
    """
    thread.charge(len(text) // 8 + 1)
    return _Indenter(thread, text, prefix, indent).text()


class _Indenter:
    """Goes through a text token by token, and knows what may come next."""

    def __init__(self, thread: Thread, source: str, prefix: str, indent: str) -> None:
        self.thread = thread
        self.source = source
        self.prefix = prefix
        self.indent = indent
        self.at = 0
        self.expected = _VALUE
        self.closings: list[str] = []
        self.parts: list[str] = []

    def text(self) -> str:
        source = self.source
        while True:
            start = self.at
            self.at = blank_end(source, start)
            if self.at >= len(source):
                if self.expected is not _END:
                    raise MalformedError("unexpected end of JSON input")
                self.parts.append(source[start:])
                return "".join(self.parts)
            self._token(source[self.at])

    def _token(self, char: str) -> None:
        if self.closings and char == self.closings[-1] and self.expected not in {_VALUE, _KEY, _COLON}:
            self._close(char)
        elif self.expected in {_AFTER_PAIR, _AFTER_ELEMENT}:
            self._comma(char)
        elif self.expected is _COLON:
            self._colon(char)
        elif self.expected in {_KEY, _FIRST_KEY}:
            self._key(char)
        elif self.expected is _END:
            self._refuse(char)
        else:
            self._value(char)

    def _refuse(self, char: str) -> NoReturn:
        raise MalformedError(f"invalid character {shown(char)} {self.expected.rstrip()}")

    def _line(self) -> None:
        depth = len(self.closings)
        self.thread.charge((len(self.prefix) + depth * len(self.indent)) // 16 + 1)
        self.parts.append(f"\n{self.prefix}{self.indent * depth}")

    def _close(self, char: str) -> None:
        self.closings.pop()
        if self.expected in {_AFTER_PAIR, _AFTER_ELEMENT}:
            self._line()
        self.parts.append(char)
        self.at += 1
        self._after_value()

    def _after_value(self) -> None:
        if not self.closings:
            self.expected = _END
        else:
            self.expected = _AFTER_ELEMENT if self.closings[-1] == "]" else _AFTER_PAIR

    def _comma(self, char: str) -> None:
        if char != ",":
            self._refuse(char)
        self.parts.append(char)
        self._line()
        self.at += 1
        self.expected = _VALUE if self.expected is _AFTER_ELEMENT else _KEY

    def _colon(self, char: str) -> None:
        if char != ":":
            self._refuse(char)
        self.parts.append(": ")
        self.at += 1
        self.expected = _VALUE

    def _key(self, char: str) -> None:
        if char != '"':
            self._refuse(char)
        if self.expected is _FIRST_KEY:
            self._line()
        self._string()
        self.expected = _COLON

    def _value(self, char: str) -> None:
        if char not in '"-0123456789tfn[{':
            self._refuse(char)
        if self.expected is _FIRST_VALUE:
            self._line()
        if char in "[{":
            self._open(char)
            return
        if char == '"':
            self._string()
        elif char in _WORDS:
            self._word(_WORDS[char])
        else:
            self._number()
        self._after_value()

    def _open(self, char: str) -> None:
        if len(self.closings) >= _DEPTH:
            raise MalformedError(f"invalid character {shown(char)} exceeded max depth")
        self.parts.append(char)
        self.at += 1
        self.closings.append("]" if char == "[" else "}")
        self.expected = _FIRST_VALUE if char == "[" else _FIRST_KEY

    def _string(self) -> None:
        end = sound_end(self.thread, self.source, self.at + 1)
        if self.source[end : end + 1] != '"':
            raise MalformedError(string_problem(self.source, end))
        self.parts.append(self.source[self.at : end + 1])
        self.at = end + 1

    def _word(self, word: str) -> None:
        for place, letter in enumerate(word):
            # At its end a text is taken to go on with a space.
            char = self.source[self.at + place : self.at + place + 1] or " "
            if char != letter:
                raise MalformedError(f"invalid character {shown(char)} in literal {word} (expecting {shown(letter)})")
        self.parts.append(word)
        self.at += len(word)

    def _number(self) -> None:
        match = _NUMBER.match(self.source, self.at)
        end = match.end() if match else self.at + 1
        after = self.source[end : end + 1]
        if match is None:
            self._number_problem(end, "in numeric literal")
        if after == "." and "." not in match[0] and "e" not in match[0].lower():
            self._number_problem(end + 1, "after decimal point in numeric literal")
        if after in {"e", "E"} and "e" not in match[0].lower():
            signed = self.source[end + 1 : end + 2] in {"+", "-"}
            self._number_problem(end + 1 + signed, "in exponent of numeric literal")
        self.parts.append(match[0])
        self.at = end

    def _number_problem(self, at: int, place: str) -> NoReturn:
        raise MalformedError(f"invalid character {shown(self.source[at : at + 1] or ' ')} {place}")
