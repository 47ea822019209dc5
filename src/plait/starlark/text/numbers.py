"""Numbers as text and back: floats as the language shows them, integers of any size."""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, Inexact

from plait.starlark.errors import EvalError

__all__ = ["FLOAT_VERBS", "FREE_BITS", "INT_BITS_MAX", "float_text", "format_float", "int_text", "parse_digits"]

INT_BITS_MAX = 262_144
"""Longest integer of the language in bits."""

FREE_BITS = 1_024
"""Most bits of an integer that costs nothing beside the step of the operation that made it."""

FLOAT_VERBS = "eEfFgG"
"""The conversions that ``format_float`` knows."""

_SHORT_BITS = 1_990
"""Integers of up to so many bits have fewer digits than CPython's process-wide limit can ever be set to (640)."""

_SHORT_DIGITS = 600
"""The same in digits."""

_BASE_CODES = {2: "b", 8: "o", 10: "d", 16: "x"}


def float_text(x: float) -> str:
    """Return a float as ``str(x)`` shows it: the shortest digits that denote it, an exponent from 1e6 on.

    Args:
        x: Any float, also an infinity or a NaN.

    Returns:
        Text with a point or an exponent, or ``+inf``, ``-inf``, ``nan``.
    """
    if -1e6 < x < 1e6:
        return repr(x)
    if not math.isfinite(x):
        return _special_text(x)
    shortest = repr(x)
    if "e" in shortest:
        return shortest
    sign, digits = ("-", shortest[1:-2]) if x < 0 else ("", shortest[:-2])
    if not shortest.endswith(".0"):
        whole, _, fraction = shortest.lstrip("-").partition(".")
        return f"{sign}{whole[0]}.{whole[1:]}{fraction}e+{len(whole) - 1:02d}"
    mantissa = digits.rstrip("0")
    point = "." if len(mantissa) > 1 else ""
    return f"{sign}{mantissa[0]}{point}{mantissa[1:]}e+{len(digits) - 1:02d}"


def _special_text(x: float) -> str:
    if math.isnan(x):
        return "nan"
    return "+inf" if x > 0 else "-inf"


def format_float(x: float, verb: str) -> str:
    """Return a float as the ``%`` operator shows it.

    Args:
        x: Any float, also an infinity or a NaN.
        verb: One of ``FLOAT_VERBS``: ``e`` and ``f`` show six digits after the point, ``g`` is the text of ``str``.
    """
    if not math.isfinite(x):
        return _special_text(x)
    if verb == "g":
        return float_text(x)
    if verb == "G":
        return float_text(x).upper()
    return format(x, f".6{verb}")


def int_text(n: int, base: int = 10) -> str:
    """Return an integer's digits, whatever its size.

    CPython's own conversion takes quadratic time and refuses long integers; this one does neither.

    Args:
        n: The integer.
        base: 2, 8, 10 or 16; digits past nine are small letters, and there is no prefix.
    """
    if base != 10:
        return format(n, _BASE_CODES[base])
    bits = n.bit_length()
    if bits <= _SHORT_BITS:
        return str(n)
    digits = str(_Decimals().of(abs(n), bits))
    return "-" + digits if n < 0 else digits


class _Decimals:
    """Integers as exact decimals, by halves: the decimal library multiplies long numbers fast."""

    def __init__(self) -> None:
        self._context = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact])
        self._powers: dict[int, Decimal] = {}

    def of(self, n: int, bits: int) -> Decimal:
        """Return ``n`` >= 0 of at most so many bits."""
        if bits <= _SHORT_BITS:
            return Decimal(n)
        half = bits >> 1
        high, low = n >> half, n & ((1 << half) - 1)
        shifted = self._context.multiply(self.of(high, bits - half), self._power(half))
        return self._context.add(shifted, self.of(low, half))

    def _power(self, exponent: int) -> Decimal:
        """Return 2 to the exponent."""
        known = self._powers.get(exponent)
        if known is None:
            if exponent <= _SHORT_BITS:
                known = Decimal(1 << exponent)
            else:
                half = exponent >> 1
                known = self._context.multiply(self._power(half), self._power(exponent - half))
            self._powers[exponent] = known
        return known


def parse_digits(digits: str, base: int) -> int:
    """Return the integer that the digits denote.

    Args:
        digits: ASCII digits and letters alone: no sign, no prefix, no space, no underscore.
        base: From 2 to 36.

    Returns:
        An integer >= 0.

    Raises:
        ValueError: The text is empty or holds something that is not a digit of the base.
        EvalError: The integer would be longer than the language allows.
    """
    if not (digits.isascii() and digits.isalnum()):
        raise ValueError(f"not an integer with base {base}")
    if len(digits) <= _SHORT_DIGITS:
        return int(digits, base)
    significant = digits.lstrip("0")
    if len(significant) > INT_BITS_MAX / math.log2(base) + 1:
        raise EvalError(f"integer of {len(significant)} digits is too long (the limit is {INT_BITS_MAX} bits)")
    value = _by_halves(significant or "0", base, {})
    if value.bit_length() > INT_BITS_MAX:
        raise EvalError(f"integer of {value.bit_length()} bits is too long (the limit is {INT_BITS_MAX})")
    return value


def _by_halves(digits: str, base: int, powers: dict[int, int]) -> int:
    if len(digits) <= _SHORT_DIGITS:
        return int(digits, base)
    half = len(digits) >> 1
    if half not in powers:
        powers[half] = base**half
    return _by_halves(digits[:-half], base, powers) * powers[half] + _by_halves(digits[-half:], base, powers)
