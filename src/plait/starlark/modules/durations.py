"""Durations: the values of type time.duration, in whole nanoseconds of 64 bits."""

# `typing.override` is newer than Python 3.11, and typing_extensions is not in the standard library.
# mypy: disable-error-code="explicit-override"

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, Final

from plait.starlark.errors import EvalError
from plait.starlark.modules.parameters import INT64_MAX, INT64_MIN
from plait.starlark.values import HostValue, NaN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["HOUR", "MICROSECOND", "MILLISECOND", "MINUTE", "SECOND", "Duration", "parse_duration", "quote", "wrapped"]

MICROSECOND: Final = 1_000
MILLISECOND: Final = 1_000_000
SECOND: Final = 1_000_000_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE

_UNITS: Final = {
    "ns": 1,
    "us": MICROSECOND,
    "\u00b5s": MICROSECOND,  # the micro sign
    "\u03bcs": MICROSECOND,  # the Greek letter
    "ms": MILLISECOND,
    "s": SECOND,
    "m": MINUTE,
    "h": HOUR,
}
_LENGTH: Final = 10_000
"""Characters of the longest text that is read as a duration."""

_PIECE: Final = re.compile(r"(?P<whole>[0-9]*)(?P<point>\.)?(?P<fraction>[0-9]*)(?P<unit>[^.0-9]*)")


def wrapped(value: int) -> int:
    """Return a whole number as 64 bits hold it, beginning again from the other end when it is too large."""
    return (value - INT64_MIN) % (1 << 64) + INT64_MIN


def quote(text: str) -> str:
    """Return a text in quotation marks, its bytes escaped where they are not printable ASCII."""
    shown = [
        f"\\{char}"
        if char in {'"', "\\"}
        else char
        if " " <= char < "\x80"
        else "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "replace"))
        for char in text
    ]
    return f'"{"".join(shown)}"'


class Duration(HostValue):
    """The time between two moments: a value of type ``time.duration``.

    Args:
        nanoseconds: How long; wrapped to 64 bits.
    """

    __slots__ = ("nanoseconds",)

    type_name: ClassVar[str] = "time.duration"

    def __init__(self, nanoseconds: int) -> None:
        self.nanoseconds: Final = wrapped(nanoseconds)

    def text(self) -> str:
        """Return it as hours, minutes and seconds: ``1h0m1.5s``; less than a second in its own unit: ``15ms``."""
        size = abs(self.nanoseconds)
        sign = "-" if self.nanoseconds < 0 else ""
        if size < SECOND:
            for unit, symbol in ((MILLISECOND, "ms"), (MICROSECOND, "\u00b5s"), (1, "ns")):
                if size >= unit:
                    return f"{sign}{_decimal(size, unit)}{symbol}"
            return "0s"
        minutes, rest = divmod(size, MINUTE)
        hours, minutes = divmod(minutes, 60)
        seconds = f"{_decimal(rest, SECOND)}s"
        if hours:
            return f"{sign}{hours}h{minutes}m{seconds}"
        return f"{sign}{minutes}m{seconds}" if minutes else f"{sign}{seconds}"

    def attribute(self, name: str) -> Any:
        """Return the duration in a unit: hours, minutes, seconds as floats, the smaller ones as whole numbers."""
        return _ATTRIBUTES[name](self.nanoseconds)

    def attribute_names(self) -> Iterable[str]:
        """Return the names of the units."""
        return tuple(_ATTRIBUTES)

    def __bool__(self) -> bool:
        return self.nanoseconds != 0

    def __hash__(self) -> int:
        return hash(self.nanoseconds)

    def __eq__(self, other: object) -> bool:
        return self.nanoseconds == other.nanoseconds if isinstance(other, Duration) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self.nanoseconds < other.nanoseconds if isinstance(other, Duration) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self.nanoseconds <= other.nanoseconds if isinstance(other, Duration) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self.nanoseconds > other.nanoseconds if isinstance(other, Duration) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self.nanoseconds >= other.nanoseconds if isinstance(other, Duration) else NotImplemented

    def __add__(self, other: object) -> Any:
        return Duration(self.nanoseconds + other.nanoseconds) if isinstance(other, Duration) else NotImplemented

    def __sub__(self, other: object) -> Any:
        return Duration(self.nanoseconds - other.nanoseconds) if isinstance(other, Duration) else NotImplemented

    def __mul__(self, other: object) -> Any:
        return Duration(self.nanoseconds * _factor(other)) if type(other) is int else NotImplemented

    def __rmul__(self, other: object) -> Any:
        return self * other

    def __truediv__(self, other: object) -> Any:
        if isinstance(other, Duration):
            return self.nanoseconds / _divisor(other.nanoseconds)
        if type(other) is int:
            return Duration(_truncated(self.nanoseconds, _divisor(_factor(other))))
        if type(other) is float or type(other) is NaN:
            return Duration(_nearest(float(self.nanoseconds) / _divisor(other)))
        return NotImplemented

    def __rtruediv__(self, other: object) -> Any:
        if type(other) in {int, float, NaN}:
            raise EvalError("unsupported operation")
        return NotImplemented

    def __floordiv__(self, other: object) -> Any:
        if isinstance(other, Duration):
            return wrapped(_truncated(self.nanoseconds, _divisor(other.nanoseconds)))
        return NotImplemented


def _divisor(value: Any) -> Any:
    if value == 0:
        raise EvalError("time.duration division by zero")
    return value


def _factor(value: Any) -> int:
    if not INT64_MIN <= value <= INT64_MAX:
        raise EvalError("int value out of range (want signed 64-bit value)")
    return int(value)


def _truncated(value: int, by: int) -> int:
    """Divide towards zero."""
    whole = abs(value) // abs(by)
    return whole if (value < 0) == (by < 0) else -whole


def _nearest(value: float) -> int:
    """Return the whole part of a float, and the smallest number when 64 bits do not hold it."""
    return int(value) if -(2.0**63) <= value < 2.0**63 else INT64_MIN


def _parts(nanoseconds: int, unit: int) -> float:
    whole = _truncated(nanoseconds, unit)
    return float(whole) + float(nanoseconds - whole * unit) / unit


def _decimal(value: int, unit: int) -> str:
    whole, rest = divmod(value, unit)
    digits = f"{rest:0{len(str(unit)) - 1}d}".rstrip("0") if rest else ""
    return f"{whole}.{digits}" if digits else str(whole)


_ATTRIBUTES: Final[dict[str, Callable[[int], int | float]]] = {
    "hours": lambda nanoseconds: _parts(nanoseconds, HOUR),
    "minutes": lambda nanoseconds: _parts(nanoseconds, MINUTE),
    "seconds": lambda nanoseconds: _parts(nanoseconds, SECOND),
    "milliseconds": lambda nanoseconds: _truncated(nanoseconds, MILLISECOND),
    "microseconds": lambda nanoseconds: _truncated(nanoseconds, MICROSECOND),
    "nanoseconds": lambda nanoseconds: nanoseconds,
}


def parse_duration(text: str) -> Duration:
    """Return the duration that a text such as ``-1h15m30.918s`` says.

    Args:
        text: A sign, then one or more numbers, each with a unit: ns, us, ms, s, m, h.

    Returns:
        The duration; what is less than a nanosecond is cut off.

    Raises:
        EvalError: It is no such text, or longer than 64 bits of nanoseconds.
    """
    if len(text) > _LENGTH:
        raise EvalError(f"time: invalid duration of {len(text)} characters")
    at = 1 if text[:1] in {"-", "+"} else 0
    if text[at:] == "0":
        return Duration(0)
    if at == len(text):
        raise _invalid(text)
    total = 0
    while at < len(text):
        match = _PIECE.match(text, at)
        if match is None or not (match["whole"] or match["fraction"]):
            raise _invalid(text)
        total += _piece(text, match)
        if total > 1 << 63:
            raise _invalid(text)
        at = match.end()
    if text[0] == "-":
        return Duration(-total)
    if total > INT64_MAX:
        raise _invalid(text)
    return Duration(total)


def _invalid(text: str) -> EvalError:
    return EvalError(f"time: invalid duration {quote(text)}")


def _piece(text: str, match: re.Match[str]) -> int:
    if len(match["whole"].lstrip("0")) > 19 or (match["whole"] and int(match["whole"][-19:]) > 1 << 63):
        raise _invalid(text)
    if not match["unit"]:
        raise EvalError(f"time: missing unit in duration {quote(text)}")
    unit = _UNITS.get(match["unit"])
    if unit is None:
        raise EvalError(f"time: unknown unit {quote(match['unit'])} in duration {quote(text)}")
    digits = match["fraction"][:18]
    fraction = int(float(int(digits)) * (float(unit) / 10.0 ** len(digits))) if digits else 0
    return int(match["whole"].lstrip("0") or "0") * unit + fraction
