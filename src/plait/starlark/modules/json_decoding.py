"""Decoding JSON: the standard library's scanner for ordinary text, and a parser of our own for all the rest.

The standard scanner is an order of magnitude faster. What it accepts is what the language accepts, but for what is
checked afterwards; what it refuses is parsed again, since the language is laxer in places and says its own errors.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from json import JSONDecoder
from math import isinf
from typing import TYPE_CHECKING, Any, Final, NoReturn

from plait.starlark.errors import EvalError
from plait.starlark.modules.json_grammar import MalformedError, blank_end, paired, shown, unquoted
from plait.starlark.text.numbers import INT_BITS_MAX, parse_digits
from plait.starlark.values import FALSE, TRUE, type_name

if TYPE_CHECKING:
    from plait.starlark.thread import Thread

__all__ = ["DEPTH", "UndecodableError", "decoded"]

DEPTH: Final = 400
"""How many arrays and objects may stand inside one another."""

_SLICE: Final = 1 << 20
_NATIVE_CHARACTERS: Final = 1 << 20
_NATIVE_PARTS: Final = 150_000
_FEW_PARTS: Final = 25_000
"""So many floats at most are read in milliseconds, whatever their digits."""

_NATIVE_ESCAPES: Final = 50_000
_INT_DIGITS: Final = 4_300
"""Digits of an integer up to which Python converts it by itself, unless the host chose another limit."""

_MOST_DIGITS: Final = 78_914
"""Digits of the largest integer of the language."""

_BLANKS: Final = frozenset(" \t\n\r")
_NUMBER: Final = re.compile("[0-9+.eE-]*")
_WORDS: Final = (("null", None), ("true", TRUE), ("false", FALSE))
_NO_KEY: Final = object()


_Scan = Callable[[str, int], tuple[Any, int]]


class UndecodableError(Exception):
    """A text is not JSON.

    Args:
        message: Why.
        offset: Where, in characters from 0.
    """

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


class _UnusualError(Exception):
    """The standard scanner's result is not the language's."""


def decoded(thread: Thread, text: str) -> Any:
    """Return the value that a JSON text stands for.

    Args:
        thread: Charged for the length of the text and for each value, before any is made.
        text: The JSON text.

    Returns:
        A new value that may be changed.

    Raises:
        UndecodableError: It is not JSON, nested more than ``DEPTH`` deep, or has a number out of range.
        EvalError: The steps do not suffice.
    """
    thread.charge((len(text) >> 4) + 1)
    parts = 0
    for start in range(0, len(text), _SLICE):
        part = text[start : start + _SLICE]
        found = part.count(",") + part.count(":") + part.count("[") + 2 * part.count("{")
        thread.charge(found)
        parts += found
    if len(text) <= _NATIVE_CHARACTERS and parts <= _NATIVE_PARTS and text.count("\\") <= _NATIVE_ESCAPES:
        try:
            return _native(text, _SCANNER if parts <= _FEW_PARTS else _watched_scanner(thread))
        except (ValueError, StopIteration, RecursionError, _UnusualError):
            pass
    return _Parser(thread, text).document()


# By the standard scanner.


def _native(text: str, scan: _Scan) -> Any:
    """Decode by the standard scanner, or raise one of several errors when it cannot do it as the language wants it."""
    source = paired(text) if "\\u" in text else text
    if not 0 < sys.get_int_max_str_digits() <= _INT_DIGITS:
        scan = _CAREFUL_SCANNER
    value, end = scan(source, blank_end(source, 0) if source[:1] in _BLANKS else 0)
    if end != len(source) and blank_end(source, end) != len(source):
        raise _UnusualError
    kind = type(value)
    if kind is str or kind is int:
        return value
    adopted = [value]
    _adopt(adopted)
    return adopted[0]


def _refuse(literal: str) -> NoReturn:
    raise _UnusualError(literal)


def _short_int(literal: str) -> int:
    if len(literal) > _INT_DIGITS:
        raise _UnusualError
    return int(literal)


def _scanner(**hooks: Any) -> _Scan:
    scan: _Scan = vars(JSONDecoder(parse_constant=_refuse, **hooks))["scan_once"]
    return scan


def _watched_scanner(thread: Thread) -> _Scan:
    """Return a scanner that looks at the thread's context now and then when there are very many floats."""
    seen = 0

    def parse_float(literal: str) -> float:
        nonlocal seen
        seen += 1
        if not seen & 0x3FF:
            thread.refuel()
        return float(literal)

    return _scanner(parse_float=parse_float)


_SCANNER: Final = _scanner()
_CAREFUL_SCANNER: Final = _scanner(parse_int=_short_int)


def _adopt(root: list[Any]) -> None:
    """Put the language's bools in place of Python's, level by level; refuse infinite floats and too many levels."""
    level: list[Any] = [root]
    for _ in range(DEPTH + 1):
        deeper: list[Any] = []
        for container in level:
            if type(container) is dict:
                _adopt_items(container, container.items(), deeper)
            elif len(container) <= _FEW or not set(map(type, container)) <= _PLAIN:
                _adopt_items(container, enumerate(container), deeper)
        if not deeper:
            return
        level = deeper
    raise _UnusualError


_FEW: Final = 8
"""Elements that are looked at one by one without a look at all."""

_PLAIN: Final = frozenset({str, int, type(None)})


def _adopt_items(container: Any, items: Any, deeper: list[Any]) -> None:
    for place, value in items:
        kind = type(value)
        if kind is str or kind is int:
            continue
        if kind is dict or kind is list:
            deeper.append(value)
        elif kind is bool:
            # The keys stay as they are, so that a dict may be changed under its own iterator.
            container[place] = TRUE if value else FALSE
        elif kind is float and isinf(value):
            raise _UnusualError


# By hand.


class _Parser:
    """Parses by hand, on a stack of its own.

    Args:
        thread: Its context is looked at now and then.
        text: The JSON text.
    """

    def __init__(self, thread: Thread, text: str) -> None:
        self.thread = thread
        self.text = text
        self.at = 0
        self.open: list[list[Any] | dict[str, Any]] = []
        self.keys: list[Any] = []
        self.seen = 0

    def document(self) -> Any:
        """Return the value of the whole text."""
        try:
            value = self._value()
            self._end()
        except MalformedError as error:
            raise UndecodableError(str(error), self.at) from None
        return value

    def _end(self) -> None:
        self.at = blank_end(self.text, self.at)
        if self.at < len(self.text):
            raise MalformedError(f"unexpected character {shown(self.text[self.at])} after value")

    def _next(self) -> str:
        """Skip white space and return the character after it."""
        self.at = blank_end(self.text, self.at)
        if self.at >= len(self.text):
            raise MalformedError("unexpected end of file")
        return self.text[self.at]

    def _value(self) -> Any:
        while True:
            self._look_up()
            char = self._next()
            if char in "[{":
                if self._opened(char):
                    continue
                value = self._closed()
            else:
                value = self._scalar(char)
            while self.open:
                if self._placed(value):
                    break
                value = self._closed()
            if not self.open:
                return value

    def _look_up(self) -> None:
        self.seen += 1
        if not self.seen & 0x3FF:
            self.thread.refuel()

    def _opened(self, char: str) -> bool:
        """Open an array or object; tell whether there is anything in it."""
        if len(self.open) >= DEPTH:
            raise MalformedError(f"nested too deeply (more than {DEPTH} arrays and objects inside one another)")
        self.at += 1
        self.open.append([] if char == "[" else {})
        self.keys.append(_NO_KEY)
        return self._next() != ("]" if char == "[" else "}")

    def _closed(self) -> Any:
        self.at += 1
        self.keys.pop()
        return self.open.pop()

    def _placed(self, value: Any) -> bool:
        """Put a value into the innermost array or object; tell whether another is to come there."""
        top = self.open[-1]
        if isinstance(top, list):
            top.append(value)
            char = self._next()
            if char not in ",]":
                raise MalformedError(f"got {shown(char)}, want ',' or ']'")
        elif self.keys[-1] is _NO_KEY:
            return self._keyed(value)
        else:
            top[self.keys[-1]] = value
            self.keys[-1] = _NO_KEY
            char = self._next()
            if char not in ",}":
                raise MalformedError(f"in object, got {shown(char)}, want ',' or '}}'")
        if char == ",":
            self.at += 1
        return char == ","

    def _keyed(self, key: Any) -> bool:
        if type(key) is not str:
            raise MalformedError(f"got {type_name(key)} for object key, want string")
        char = self._next()
        if char != ":":
            raise MalformedError(f"after object key, got {shown(char)}, want ':' ")
        self.at += 1
        self.keys[-1] = key
        return True

    def _scalar(self, char: str) -> Any:
        if char == '"':
            return self._string()
        if char == "-" or char in "0123456789":
            return self._number()
        for word, value in _WORDS:
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return value
        raise MalformedError(f"unexpected character {shown(char)}")

    def _string(self) -> str:
        literal = self.text[self.at : self._string_end()]
        self.at += len(literal)
        body = literal[1:-1]
        # Control characters are refused only where there is something to unquote.
        return body if body.isascii() and "\\" not in body else unquoted(self.thread, literal)

    def _string_end(self) -> int:
        start = self.at + 1
        while (end := self.text.find('"', start)) >= 0:
            inside = self.text[start:end]
            if (len(inside) - len(inside.rstrip("\\"))) % 2 == 0:
                return end + 1
            self._look_up()
            start = end + 1
        raise MalformedError("unclosed string literal")

    def _number(self) -> int | float:
        match = _NUMBER.match(self.text, self.at + 1)
        literal = self.text[self.at : match.end() if match else self.at + 1]
        self.at += len(literal)
        digits = literal.removeprefix("-")
        if not digits or (digits[0] == "0" and digits[1:2].isdecimal()):
            raise MalformedError(f"invalid number: {literal}")
        return self._int(literal, digits) if digits.isdecimal() else _float(literal)

    def _int(self, literal: str, digits: str) -> int:
        if len(digits) > _INT_DIGITS:
            if len(digits) > _MOST_DIGITS:
                raise MalformedError(f"integer of {len(digits)} digits is too long (the limit is {INT_BITS_MAX} bits)")
            # Its cost grows with the square of the length; the standard scanner never gets so far.
            self.thread.charge((len(digits) // 500) ** 2)
        try:
            value = parse_digits(digits, 10)
        except EvalError as error:
            raise MalformedError(error.message) from None
        self.thread.weigh(value.bit_length())
        return -value if literal[0] == "-" else value


def _float(literal: str) -> float:
    try:
        value = float(literal)
    except ValueError:
        raise MalformedError(f"invalid number: {literal}") from None
    if isinf(value):
        raise MalformedError(f"invalid number: {literal}")
    return value
