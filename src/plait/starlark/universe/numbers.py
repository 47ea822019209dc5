"""The universal builtins that make numbers and characters: abs, bool, bytes, chr, float, hash, int, ord and range."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final

from plait.starlark.errors import EvalError
from plait.starlark.native import native
from plait.starlark.running.iteration import each, is_iterable
from plait.starlark.text.numbers import INT_BITS_MAX, int_text, parse_digits
from plait.starlark.values import FALSE, NAN, TRUE, Bool, Bytes, NaN, truth, type_name

if TYPE_CHECKING:
    from plait.starlark.thread import Thread

__all__ = ["NUMBERS", "int64", "out_of_range"]

_ABSENT: Final = object()

_SLICE: Final = 1 << 18
"""Characters that are worked on between two charges."""

_TEXT_MAX: Final = 1 << 20
"""Longest text of a number in characters; Python's functions that look at it cannot be interrupted."""

_SHORT: Final = 18
"""Digits that Python reads as they are."""

_INT32: Final = 1 << 31
_INT64: Final = 1 << 63
_LEAST: Final = -_INT64

# A digit of CPython's integers: it compares those of one digit, either sign, in no time.
_NEAR: Final = (1 << 30) - 1
_FAR: Final = -_NEAR

# Possessive, so that a long text that is no number takes linear time.
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_HEXADECIMAL: Final = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]++(?:\.[0-9a-fA-F]*+)?+|\.[0-9a-fA-F]++)[pP][+-]?[0-9]++")
_STRAY: Final = re.compile(r"(?<![0-9])_|_(?![0-9])")
_STRAY_IN_HEXADECIMAL: Final = re.compile(r"(?<![0-9a-fA-FxX])_|_(?![0-9a-fA-F])")
_NAMED: Final[dict[str, float]] = {
    **dict.fromkeys(["inf", "+inf", "infinity", "+infinity"], math.inf),
    **dict.fromkeys(["-inf", "-infinity"], -math.inf),
    **dict.fromkeys(["nan", "+nan", "-nan"], NAN),
}

_PREFIXES: Final = {"0b": 2, "0o": 8, "0x": 16}
_ALPHABET: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


def out_of_range(thread: Thread, x: int, want: str = "") -> str:
    """Return the sentence that says that an integer does not fit.

    Args:
        thread: Pays for the digits.
        x: An integer of any size.
        want: What would fit, such as ``signed 64-bit``.
    """
    thread.charge(x.bit_length() // 8 + 1)
    return f"{int_text(x)} out of range" + (f" (want value in {want} range)" if want else "")


def int64(thread: Thread, name: str, position: int, x: Any) -> int:
    """Return an argument that must be an integer of 64 bits.

    Args:
        thread: The running thread.
        name: The builtin.
        position: The argument's place, from 1.
        x: The argument.

    Raises:
        EvalError: It is no integer, or too large.
    """
    if type(x) is not int:
        raise EvalError(f"{name}: for parameter {position}: got {type_name(x)}, want int")
    if not -_INT64 <= x < _INT64:
        raise EvalError(f"{name}: for parameter {position}: {out_of_range(thread, x, 'signed 64-bit')}")
    return x


def _int32(thread: Thread, x: Any) -> int:
    if type(x) is not int:
        raise EvalError(f"got {type_name(x)}, want int")
    if not -_INT32 <= x < _INT32:
        raise EvalError(out_of_range(thread, x))
    return x


@native("abs", "x", positional=True)
def _abs(thread: Thread, x: Any, /) -> Any:
    kind = type(x)
    if kind is int:
        if x >= 0:
            return x
        if x < _LEAST:
            thread.charge(x.bit_length() // 1_024)
        return -x
    if kind is float:
        return abs(x)
    if kind is NaN:
        return x
    raise EvalError(f"got {type_name(x)}, want int or float")


@native("bool", "x?", positional=True)
def _bool(_thread: Thread, x: Any = FALSE, /) -> Bool:
    return TRUE if truth(x) else FALSE


@native(
    "bytes",
    "x",
    positional=True,
    no_keywords="bytes does not accept keyword arguments",
    count="bytes: got {} arguments, want exactly 1",
)
def _bytes(thread: Thread, x: Any, /) -> Any:
    kind = type(x)
    if kind is Bytes:
        return x
    if kind is str:
        return _encoded(thread, x)
    if not is_iterable(x):
        raise EvalError(f"bytes: got {type_name(x)}, want string, bytes, or iterable of ints")
    result = bytearray()
    for index, element in enumerate(each(thread, x)):
        if type(element) is not int:
            raise EvalError(f"bytes: at index {index}, got {type_name(element)}, want int")
        if not 0 <= element <= 255:
            raise EvalError(f"bytes: at index {index}, {out_of_range(thread, element, 'unsigned 8-bit')}")
        result.append(element)
    return Bytes(result)


def _encoded(thread: Thread, text: str) -> Bytes:
    """Return the text in UTF-8, made slice by slice so that a long one can be interrupted."""
    parts = []
    for start in range(0, len(text), _SLICE):
        part = text[start : start + _SLICE]
        thread.charge(len(part) // 16 + 1)
        parts.append(part.encode("utf-8", "replace"))
    return Bytes(b"".join(parts))


@native("chr", "i", positional=True, no_keywords="chr does not accept keyword arguments")
def _chr(thread: Thread, i: Any, /) -> str:
    if type(i) is int and 0 <= i < 0xD800:
        return chr(i)
    try:
        point = _int32(thread, i)
    except EvalError as error:
        raise EvalError(f"chr: {error.message}") from None
    if point < 0:
        raise EvalError(f"chr: Unicode code point {point} out of range (<0)")
    if point > 0x10FFFF:
        raise EvalError(f"chr: Unicode code point U+{point:X} out of range (>0x10FFFF)")
    return "\ufffd" if 0xD800 <= point < 0xE000 else chr(point)


@native(
    "float",
    "x?",
    positional=True,
    no_keywords="float does not accept keyword arguments",
    count="float got {} arguments, wants 1",
)
def _float(thread: Thread, x: Any = 0.0, /) -> Any:
    kind = type(x)
    if kind is float or kind is NaN:
        return x
    if kind is int:
        try:
            return float(x)
        except OverflowError:
            raise EvalError("int too large to convert to float") from None
    if kind is Bool:
        return 1.0 if x is TRUE else 0.0
    if kind is str:
        return _parse_float(thread, x)
    raise EvalError(f"float got {type_name(x)}, want number or string")


def _parse_float(thread: Thread, text: str) -> float:
    if len(text) <= _SHORT and _DECIMAL.fullmatch(text) and -1e300 < (short := float(text)) < 1e300:
        return short
    if not text:
        raise EvalError("float: empty string")
    _check_length(thread, "float", text)
    if len(text) <= len("-infinity") and text.isascii() and (named := _NAMED.get(text.lower())) is not None:
        return named
    result = _read_float(text)
    if result is None:
        raise EvalError(f"invalid float literal: {text}")
    if math.isinf(result):
        raise EvalError("floating-point number too large")
    return result


def _read_float(text: str) -> float | None:
    """Return the number that a literal of Go stands for: infinity for a large one, ``None`` when it is no literal."""
    hexadecimal = text.lstrip("+-")[:2] in {"0x", "0X"}
    if "_" in text:
        if (_STRAY_IN_HEXADECIMAL if hexadecimal else _STRAY).search(text):
            return None
        text = text.replace("_", "")
    if not (_HEXADECIMAL if hexadecimal else _DECIMAL).fullmatch(text):
        return None
    try:
        return float.fromhex(text) if hexadecimal else float(text)
    except OverflowError:
        return math.inf


@native("hash", "x", positional=True)
def _hash(thread: Thread, x: Any, /) -> int:
    if type(x) is str:
        return _java_hash(thread, x)
    if type(x) is Bytes:
        return _fnv_hash(thread, x)
    raise EvalError(f"hash: got {type_name(x)}, want string or bytes")


def _java_hash(thread: Thread, text: str) -> int:
    """Hash as go.starlark.net does: Java's function, over whole code points."""
    result = 0
    for start in range(0, len(text), 1_024):
        part = text[start : start + 1_024]
        thread.charge(len(part) // 4 + 1)
        for character in part:
            result = (31 * result + ord(character)) & 0xFFFFFFFF
    return result - (result >> 31 << 32)


def _fnv_hash(thread: Thread, data: Bytes) -> int:
    """Hash with the 32-bit function FNV-1a."""
    result = 0x811C9DC5
    for start in range(0, len(data), 1_024):
        part = data[start : start + 1_024]
        thread.charge(len(part) // 4 + 1)
        for byte in memoryview(part):
            result = ((result ^ byte) * 0x01000193) & 0xFFFFFFFF
    return result


@native("int", "x", "base?")
def _int(thread: Thread, /, x: Any, base: Any = _ABSENT) -> Any:
    kind = type(x)
    if kind is str:
        if base is _ABSENT and len(x) <= _SHORT and x.isascii() and x.isdecimal():
            return int(x)
        return _parse_int(thread, x, 10 if base is _ABSENT else _base(base))
    if base is not _ABSENT:
        raise EvalError("int: can't convert non-string with explicit base")
    if kind is int:
        return x
    if kind is Bool:
        return 1 if x is TRUE else 0
    if kind is NaN:
        raise EvalError("int: cannot convert float NaN to integer")
    if kind is not float:
        raise EvalError(f"int: cannot convert {type_name(x)} to int")
    if math.isinf(x):
        raise EvalError("int: cannot convert float infinity to integer")
    return int(x)


def _base(base: Any) -> int:
    if type(base) is not int or not -_INT32 <= base < _INT32:
        raise EvalError(f"int: for base, got {type_name(base)}, want int")
    if base != 0 and not 2 <= base <= 36:
        raise EvalError("int: base must be an integer >= 2 && <= 36")
    return base


def _parse_int(thread: Thread, text: str, base: int) -> int:
    _check_length(thread, "int", text)
    negative = text.startswith("-")
    digits, radix = _without_prefix(text[1:] if text.startswith(("+", "-")) else text, base)
    if digits is None or not _are_digits(digits, radix):
        raise EvalError(f"int: invalid literal with base {base}: {text}")
    # Long numbers take more than linear time, up to the longest that there may be.
    thread.charge(min(len(digits), INT_BITS_MAX) // 2)
    try:
        value = parse_digits(digits, radix)
    except EvalError as error:
        raise EvalError(f"int: {error.message}") from None
    thread.weigh(value.bit_length())
    return -value if negative else value


def _check_length(thread: Thread, name: str, text: str) -> None:
    thread.charge(len(text) // 16 + 1)
    if len(text) > _TEXT_MAX:
        raise EvalError(f"{name}: a text of {len(text)} characters is too long (at most {_TEXT_MAX})")


def _without_prefix(digits: str, base: int) -> tuple[str | None, int]:
    """Take off ``0b``, ``0o`` or ``0x`` where it goes with the base.

    Returns:
        The digits and their base; no digits when base 0 does not allow the zero they begin with.
    """
    prefixed = _PREFIXES.get(digits[:2].lower()) if len(digits) > 2 else None
    if prefixed is not None:
        return (digits[2:], prefixed) if base in {0, prefixed} else (digits, base)
    if base == 0 and len(digits) > 1 and digits[0] == "0" and digits.strip("0"):
        return None, 10
    return digits, base or 10


def _are_digits(digits: str, base: int) -> bool:
    """Tell whether all are digits of the base: ASCII, and no underscores."""
    if not digits or not digits.isascii():
        return False
    allowed = _ALPHABET[:base]
    # Deletes what is allowed, which takes linear time whatever the text.
    return not digits.translate(dict.fromkeys(map(ord, allowed + allowed.upper())))


@native("ord", "c", positional=True, no_keywords="ord does not accept keyword arguments")
def _ord(_thread: Thread, c: Any, /) -> int:
    if type(c) is str:
        if len(c) != 1:
            raise EvalError(f"ord: string encodes {len(c)} Unicode code points, want 1")
        return ord(c)
    if type(c) is Bytes:
        if len(c) != 1:
            raise EvalError(f"ord: bytes has length {len(c)}, want 1")
        return ord(c)
    raise EvalError(f"ord: got {type_name(c)}, want string or bytes")


@native("range", "start_or_stop", "stop?", "step?", positional=True)
def _range(thread: Thread, start: Any, stop: Any = _ABSENT, step: Any = 1, /) -> range:
    if type(start) is int and start < _NEAR and start > _FAR:
        if stop is _ABSENT:
            return range(start)
        if type(stop) is int and stop < _NEAR and stop > _FAR and type(step) is int and step:
            return range(start, stop, step if -_INT64 <= step < _INT64 else int64(thread, "range", 3, step))
    first = int64(thread, "range", 1, start)
    last = first if stop is _ABSENT else int64(thread, "range", 2, stop)
    if stop is _ABSENT:
        first = 0
    if int64(thread, "range", 3, step) == 0:
        raise EvalError("range: step argument must not be zero")
    result = range(first, last, step)
    # Nobody can count further than that; of a range of 64-bit numbers only one from far below zero is so long.
    if (last - first) // step >= _INT64:
        raise EvalError("range: too many elements (want at most 9223372036854775807)")
    return result


NUMBERS: Final[dict[str, Any]] = {
    "abs": _abs,
    "bool": _bool,
    "bytes": _bytes,
    "chr": _chr,
    "float": _float,
    "hash": _hash,
    "int": _int,
    "ord": _ord,
    "range": _range,
}
"""These builtins by their names."""
